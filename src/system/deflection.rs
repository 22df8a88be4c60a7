mod adjoint;

pub use adjoint::{FieldChange, ModalAdjoints, ModalMotion, MomentumWeights, ReferenceMotion, along_modes};

use super::elastic::{Amplitude, Elastic, MassTerm, Modes, StationConstants};
use super::{BodyKinematics, JointState, Kinematics, Mechanism, System};
use crate::algebra::{
    Lift, Mat3, Quaternion, Scalar, Sym3, TurnedFrame, Twist, Vec3, Wrench, exp, lift3, lift33, one33, zero3,
};

/// Inertia and bias terms of a flexible body in its current deformation and motion, about the
/// body's origin, world axes.
#[derive(Clone, Debug)]
pub struct Deflection<S: Scalar> {
    /// First moment of mass `h = Σ m p`, kg·m.
    pub h: Vec3<S>,
    /// Rate of `h` as seen from the body, kg·m/s: the linear momentum of the deformation.
    pub h_dot: Vec3<S>,
    /// Inertia about the origin, kg·m².
    pub J: Sym3<S>,
    /// Angular momentum of the deformation about the origin, kg·m²/s.
    pub b_dot: Vec3<S>,
    /// Bias wrench due to the rates, without the part due to the body's `A_bias`.
    pub bias: Wrench<S>,
    /// For each mode, the derivative of the body's momentum (about its origin) with respect to the
    /// mode's rate: angular in m·√kg, linear in √kg.
    pub L: Vec<Wrench<S>>,
    /// Modal mass, row-major; dimensionless.
    pub M: Vec<S>,
    /// Bias force on each mode due to the rates, without the part due to the body's `A_bias`,
    /// N/√kg.
    pub modal_bias: Vec<S>,
    /// The monomials of the amplitudes, in the order of [`MassTerm`].
    powers: Vec<S>,
    /// Amplitude `z` of each field, its rate `ż`, and `z̄`, the part of `z̈` due to the modes'
    /// rates.
    z: Vec<[S; 3]>,
    /// Dependence of each field on the modes.
    fields: Vec<FieldMotion<S>>,
    /// Zero amplitudes, for terms of the undeformed body.
    rest: Vec<S>,
}

/// Returns the largest number of fields of a body with `n` modes: a beam has at most one per mode
/// and one per pair of modes; modal data have three per mode.
pub(super) fn most_fields(n: usize) -> usize {
    (n * (n + 3) / 2).max(3 * n)
}

/// Dependence of a field on the modes.
#[derive(Clone, Copy, Debug)]
struct FieldMotion<S: Scalar> {
    /// `∫ p f dm`, beam axes.
    Y: Vec3<S>,
    /// Pairs of a mode's index and `∂z/∂η` of this mode.
    dz: [(usize, S); 2],
    /// Number of modes on which the field depends, one or two.
    of: usize,
}

impl<S: Scalar> FieldMotion<S> {
    fn none() -> Self {
        Self {
            Y: zero3(),
            dz: [(0, S::zero()); 2],
            of: 0,
        }
    }

    /// Returns `z`, `ż` and `z̄` (the part of `z̈` due to the modes' rates), and the dependence on
    /// the modes with `Y = 0`.
    fn new(amplitude: Amplitude, eta: &[S], eta_dot: &[S]) -> ([S; 3], Self) {
        let (z, dz, of) = match amplitude {
            Amplitude::Mode(k) => ([eta[k], eta_dot[k], S::zero()], [(k, S::one()); 2], 1),
            Amplitude::Pair(k, l) if k == l => {
                let (x, v) = (eta[k], eta_dot[k]);
                ([x * x * S::lift(0.5), x * v, v * v], [(k, x); 2], 1)
            }
            Amplitude::Pair(k, l) => {
                let (x, y, vx, vy) = (eta[k], eta[l], eta_dot[k], eta_dot[l]);
                let bias = vx * vy * S::lift(2.0);
                ([x * y, vx * y + x * vy, bias], [(k, y), (l, x)], 2)
            }
        };
        let Y = zero3();
        (z, Self { Y, dz, of })
    }

    fn dz(&self) -> &[(usize, S)] {
        &self.dz[..self.of]
    }
}

/// Returns the sums of `z` and of `ż` over the fields with the weights `by`.
#[inline(always)]
fn sums<S: Scalar>(z: &[[S; 3]], by: &[S::Constant]) -> [S; 2] {
    z.iter()
        .zip(by)
        .fold([S::zero(); 2], |[sum, rate], (&[z, z_dot, _], &by)| {
            let by = S::lift(by);
            [sum + z * by, rate + z_dot * by]
        })
}

/// Sums over the fields, beam axes: the quantities of [`Deflection`] with the same names, and terms
/// of `J` and of the bias wrench.
struct Integrals<S: Scalar> {
    h: Vec3<S>,
    h_dot: Vec3<S>,
    /// `Σ a_i e_i z̄_i`.
    h_bias: Vec3<S>,
    b_dot: Vec3<S>,
    /// `Σ Y_i × e_i z̄_i`.
    b_bias: Vec3<S>,
    /// `Σ (Y_i + Y_i at rest) e_iᵀ z_i`, column-major.
    W: [Vec3<S>; 3],
    /// `Σ Y_i·e_i ż_i`.
    trace: S,
    /// `Σ Y_i·ω e_i ż_i`.
    turned: Vec3<S>,
}

impl<S: Scalar> Integrals<S> {
    fn at_rest(elastic: &Elastic<S::Constant>) -> Self {
        Self {
            h: lift3(&elastic.h),
            h_dot: zero3(),
            h_bias: zero3(),
            b_dot: zero3(),
            b_bias: zero3(),
            W: [zero3(); 3],
            trace: S::zero(),
            turned: zero3(),
        }
    }
}

impl<S: Scalar> Deflection<S> {
    /// Allocates for a body with `n` modes.
    pub fn new(n: usize) -> Self {
        let most_fields = most_fields(n);
        Self {
            h: zero3(),
            h_dot: zero3(),
            J: Sym3::zero(),
            b_dot: zero3(),
            bias: Wrench::zero(),
            L: vec![Wrench::zero(); n],
            M: vec![S::zero(); n * n],
            modal_bias: vec![S::zero(); n],
            powers: vec![S::zero(); n * (n + 3) / 2],
            z: vec![[S::zero(); 3]; most_fields],
            fields: vec![FieldMotion::none(); most_fields],
            rest: vec![S::zero(); n],
        }
    }

    /// Computes all terms for the body motion `at`, the amplitudes `eta` and their rates.
    ///
    /// From Lagrange's equations for the kinetic energy of [`Elastic`], with the ordinary
    /// acceleration `a` of the body's origin and `Y_i = ∫ p f_i dm`, `V_i = ∫ ṗ f_i dm`,
    /// `z̈_i = ∂z_i/∂η·η̈ + z̄_i`:
    ///
    /// ```text
    ///     f   = m a + α × h + ω × (ω × h + 2 ḣ) + Σ a_i e_i z̈_i
    ///     t   = h × a + J α + ω × (J ω + Σ b_k η̇_k) + 2 Σ (Y_i·e_i ω − Y_i·ω e_i) ż_i
    ///           + Σ Y_i × e_i z̈_i + Σ b_k η̈_k
    ///     Q_i = e_i·(a_i a + α × Y_i + ω × (ω × Y_i + 2 V_i)) + Σ A_ij e_i·e_j z̈_j
    ///     Q_k = Σ ∂z_i/∂η_k Q_i + b_k·α + Σ I_kl η̈_l
    /// ```
    pub(super) fn update(&mut self, elastic: &Elastic<S::Constant>, at: &BodyKinematics<S>, eta: &[S], eta_dot: &[S]) {
        let R = at.R_WB * lift33::<S>(&elastic.axes);
        let w = R.tr_mul(&at.V_WB.w);
        for ((field, z), motion) in elastic.fields.iter().zip(&mut self.z).zip(&mut self.fields) {
            (*z, *motion) = FieldMotion::new(field.amplitude, eta, eta_dot);
        }
        for (M, &at_rest) in self.M.iter_mut().zip(&elastic.mass) {
            *M = S::lift(at_rest);
        }
        let mut all = Integrals::at_rest(elastic);
        for (k, mode) in elastic.modes.iter().enumerate() {
            let b = lift3::<S>(&mode.b);
            self.L[k] = Wrench::new(b, zero3());
            self.modal_bias[k] = S::zero();
            all.b_dot += b * eta_dot[k];
        }
        let spin = w.cross(&all.b_dot);
        self.add_mass(&elastic.mass_terms, eta);
        self.add_along::<0>(elastic, &w, &mut all);
        self.add_along::<1>(elastic, &w, &mut all);
        self.add_along::<2>(elastic, &w, &mut all);

        let (h, h_dot, W) = (all.h, all.h_dot, Mat3::from_columns(&all.W));
        // ∫ p pᵀ dm increases by the symmetric part of W.
        let J = elastic.J.lift::<S>() + Sym3::from_upper(&(one33() * W.trace() - (W + W.transpose()) * S::lift(0.5)));
        let f = w.cross(&(w.cross(&h) + h_dot + h_dot)) + all.h_bias;
        let t = w.cross(&J.times(&w)) + spin + (w * all.trace - all.turned) * S::lift(2.0) + all.b_bias;
        for L in &mut self.L {
            *L = Wrench::new(R * L.t, R * L.f);
        }
        (self.h, self.h_dot) = (R * h, R * h_dot);
        (self.J, self.b_dot) = (J.express(&R), R * all.b_dot);
        self.bias = Wrench::new(R * t, R * f);
    }

    /// Adds the dependence of the modal mass on the amplitudes.
    #[inline(always)]
    fn add_mass(&mut self, terms: &[MassTerm<S::Constant>], eta: &[S]) {
        if terms.is_empty() {
            return;
        }
        let (M, powers) = (self.M.as_mut_slice(), self.powers.as_mut_slice());
        let (amplitudes, products) = powers.split_at_mut(eta.len());
        amplitudes.copy_from_slice(eta);
        let mut products = products.iter_mut();
        for (k, x) in eta.iter().enumerate() {
            let row = eta[..=k].iter().zip(products.by_ref());
            row.for_each(|(y, product)| *product = *x * *y);
        }
        for term in terms {
            M[term.entry] += powers[term.power] * S::lift(term.factor);
        }
        let n = eta.len();
        for k in 1..n {
            for l in 0..k {
                M[l * n + k] = M[k * n + l];
            }
        }
    }

    /// Adds the contribution of the fields along the axis `X` (0, 1, 2).
    #[inline(always)]
    fn add_along<const X: usize>(&mut self, elastic: &Elastic<S::Constant>, w: &Vec3<S>, all: &mut Integrals<S>) {
        // A and B are the axes after X in cyclic order: v × e_X has the component v[B] along A and
        // −v[A] along B.
        let (A, B) = ((X + 1) % 3, (X + 2) % 3);
        let n = elastic.fields.len();
        let z: [&[[S; 3]]; 3] = [0, 1, 2].map(|axis: usize| &self.z[elastic.along[axis].clone()]);
        let (range, ww) = (elastic.along[X].clone(), w.dot(w));
        let fields = elastic.fields[range.clone()]
            .iter()
            .zip(&mut self.fields[range.clone()]);
        let rows = elastic.products[range.start * n..range.end * n].chunks_exact(n.max(1));
        for (((field, motion), products), &[z_X, z_dot, z_bias]) in fields.zip(rows).zip(z[X]) {
            let (by_x, rest) = products.split_at(z[0].len());
            let (by_y, by_z) = rest.split_at(z[1].len());
            let by = [by_x, by_y, by_z];
            let [x, y, z_] = [sums(z[0], by[0]), sums(z[1], by[1]), sums(z[2], by[2])];
            let Y_0 = lift3::<S>(&field.Y);
            let (Y, V) = (Y_0 + Vec3::new(x[0], y[0], z_[0]), Vec3::new(x[1], y[1], z_[1]));
            motion.Y = Y;
            let coupled = z[X].iter().zip(by[X]);
            let coupled = coupled.fold(S::zero(), |sum, ([.., bias], &product)| sum + *bias * S::lift(product));
            let a = S::lift(field.a);
            all.h[X] += a * z_X;
            all.h_dot[X] += a * z_dot;
            all.h_bias[X] += a * z_bias;
            all.b_dot[A] += Y[B] * z_dot;
            all.b_dot[B] -= Y[A] * z_dot;
            all.b_bias[A] += Y[B] * z_bias;
            all.b_bias[B] -= Y[A] * z_bias;
            all.W[X] += (Y_0 + Y) * z_X;
            all.trace += Y[X] * z_dot;
            let w_Y = w.dot(&Y);
            all.turned[X] += z_dot * w_Y;
            let coriolis = w[A] * V[B] - w[B] * V[A];
            let force = coupled + w[X] * w_Y - Y[X] * ww + coriolis + coriolis;
            for &(k, dz) in motion.dz() {
                let L = &mut self.L[k];
                L.t[A] += Y[B] * dz;
                L.t[B] -= Y[A] * dz;
                L.f[X] += a * dz;
                self.modal_bias[k] += force * dz;
            }
        }
    }

    /// Computes all terms by equations (13)–(16) of Kłak and Jarzębowska (the source is named in
    /// `src/dynamics/quaternion`): rigid-body terms of the undeformed body, and modes that are
    /// coupled only with the accelerations of its mass centre,
    ///
    /// ```text
    ///     f   = m a + α × h + ω × (ω × h) + Σ L_k η̈_k
    ///     Q_k = L_k·(α, a_c) + Σ M_kl η̈_l,      a_c = a + α × c + ω × (ω × c)
    /// ```
    ///
    /// with the mass `m` (kg), and in the second equation `L_k` about the mass centre. Terms of
    /// first order in the amplitudes that contain the rates are neglected.
    fn update_linearly(
        &mut self,
        elastic: &Elastic<S::Constant>,
        m: S::Constant,
        at: &BodyKinematics<S>,
        eta_dot: &[S],
    ) {
        let rest = std::mem::take(&mut self.rest);
        self.update(elastic, at, &rest, &rest);
        self.rest = rest;
        let w = &at.V_WB.w;
        let centripetal = w.cross(&w.cross(&self.h)) / S::lift(m);
        for ((L, bias), &rate) in self.L.iter().zip(&mut self.modal_bias).zip(eta_dot) {
            *bias = L.f.dot(&centripetal);
            self.h_dot += L.f * rate;
            self.b_dot += L.t * rate;
        }
    }

    /// Returns the wrench about the body's origin of a force `f` (N/m, world axes) distributed
    /// uniformly along the beam; adds the forces on the modes to `tau`.
    pub fn spread(
        &self,
        elastic: &Elastic<S::Constant>,
        at: &BodyKinematics<S>,
        f: &Vec3<S>,
        tau: &mut [S],
    ) -> Wrench<S> {
        let R = at.R_WB * lift33::<S>(&elastic.axes);
        let f_R = R.tr_mul(f);
        let mut moment = lift3::<S>(&elastic.line);
        for ((field, motion), [z, ..]) in elastic.fields.iter().zip(&self.fields).zip(&self.z) {
            let l = S::lift(field.l);
            let force = f_R[field.axis] * l;
            moment[field.axis] += *z * l;
            for &(k, dz) in motion.dz() {
                tau[k] += force * dz;
            }
        }
        Wrench::new(R * moment.cross(&f_R), f * S::lift(elastic.length))
    }

    /// Adds to `tau` (one value per mode) the modal forces of the acceleration field `g + G p`
    /// (m/s², world axes) at `p` from the body's origin: `Q_k = Σ ∂z_i/∂η_k e_i·(a_i g + G Y_i)`.
    /// Moments of the field on the sections are neglected.
    pub fn add_field(
        &self,
        elastic: &Elastic<S::Constant>,
        at: &BodyKinematics<S>,
        g: &Vec3<S>,
        G: &Mat3<S>,
        tau: &mut [S],
    ) {
        let R = at.R_WB * lift33::<S>(&elastic.axes);
        let (g, G) = (R.tr_mul(g), R.tr_mul(&(G * R)));
        for (field, motion) in elastic.fields.iter().zip(&self.fields) {
            let pull = g * S::lift(field.a) + G * motion.Y;
            let force = pull[field.axis];
            for &(k, dz) in motion.dz() {
                tau[k] += force * dz;
            }
        }
    }
}

impl<S: Scalar> Kinematics<S> {
    /// Computes the deflection of the flexible body `i` from its attitude and angular velocity.
    #[inline(always)]
    pub(super) fn deflect(&mut self, of: Mechanism<'_, S::Constant>, i: usize, modes: &Modes, joints: JointState<S>) {
        let constants = &of.derived.bodies[i];
        let (eta, eta_dot) = (&joints.q[modes.coordinates()], &joints.qd[modes.rates()]);
        let at = self.bodies[i];
        if let Some(elastic) = &constants.elastic {
            let deflection = &mut self.deflections[modes.index];
            match of.system.couples_linearly {
                false => deflection.update(elastic, &at, eta, eta_dot),
                true => deflection.update_linearly(elastic, constants.m, &at, eta_dot),
            }
        }
    }

    /// Returns the mass centre of body `i` from its origin (m) and its velocity relative to that of
    /// the origin (m/s), world axes.
    pub fn mass_centre(&self, of: Mechanism<'_, S::Constant>, i: usize) -> (Vec3<S>, Vec3<S>) {
        let (constants, at) = (&of.derived.bodies[i], &self.bodies[i]);
        let w = &at.V_WB.w;
        let Some(modes) = &of.system.bodies[i].modes else {
            let c = at.R_WB * lift3::<S>(&constants.p_BoBcm);
            return (c, w.cross(&c));
        };
        let (bent, m) = (&self.deflections[modes.index], S::lift(constants.m));
        let c = bent.h / m;
        (c, w.cross(&c) + bent.h_dot / m)
    }

    /// Returns the acceleration of the mass centre of body `i`, m/s², world axes, from the `motion`
    /// of its origin (angular and linear acceleration) and the derivatives `qdd` of all rates. Not
    /// for the linear coupling.
    pub fn acceleration_of_mass_centre(
        &self,
        of: Mechanism<'_, S::Constant>,
        i: usize,
        motion: &Twist<S>,
        qdd: &[S],
    ) -> Vec3<S> {
        let (c, _) = self.mass_centre(of, i);
        let carried = motion.v + motion.w.cross(&c);
        let Some(modes) = &of.system.bodies[i].modes else {
            let w = &self.bodies[i].V_WB.w;
            return carried + w.cross(&w.cross(&c));
        };
        let bent = &self.deflections[modes.index];
        let of_modes = bent.L.iter().zip(&qdd[modes.rates()]);
        let f = of_modes.fold(bent.bias.f, |f, (L, &rate)| f + L.f * rate);
        carried + f / S::lift(of.derived.bodies[i].m)
    }

    /// Computes the deflection and the stations of the flexible body `i`.
    #[inline(never)]
    pub(crate) fn bend(
        &mut self,
        mechanism: Mechanism<'_, S::Constant>,
        i: usize,
        modes: &Modes,
        joints: JointState<S>,
    ) {
        self.deflect(mechanism, i, modes, joints);
        let Mechanism { system, derived } = mechanism;
        let (eta, eta_dot) = (&joints.q[modes.coordinates()], &joints.qd[modes.rates()]);
        let at = self.bodies[i];
        for s in modes.stations.clone() {
            let first = system.stations[s].first;
            let T = &mut self.T[first..first + modes.n];
            self.stations[s] = station(&derived.stations[s], &at, eta, eta_dot, T);
        }
    }
}

impl<S: Scalar> Kinematics<S> {
    /// Computes the deflections of all flexible bodies and the motions of their stations.
    pub(crate) fn bend_all(&mut self, mechanism: Mechanism<'_, S::Constant>, joints: JointState<S>) {
        for (i, body) in mechanism.system.bodies.iter().enumerate() {
            if let Some(modes) = &body.modes {
                self.bend(mechanism, i, modes, joints);
            }
        }
    }

    /// Returns the acceleration of station `s` beyond its `A_bias`, from the acceleration `A` of
    /// its body's origin beyond `A_bias` and the second derivatives `η̈` of the modal amplitudes.
    #[inline(always)]
    pub fn beyond_bias(&self, system: &System, modes: &Modes, s: usize, A: &Twist<S>, eta_ddot: &[S]) -> Twist<S> {
        let first = system.stations[s].first;
        let T = &self.T[first..first + modes.n];
        let carried = A.shift(&self.stations[s].r_PB_W);
        T.iter().zip(eta_ddot).fold(carried, |A, (T, &rate)| A + *T * rate)
    }
}

impl<C: Scalar> StationConstants<C> {
    /// Returns the position from the body's origin for the amplitudes `eta`, m, body axes.
    pub fn place<S: Scalar>(&self, eta: &[S]) -> Vec3<S>
    where
        C: Lift<S>,
    {
        let first = self.shape.iter().zip(eta);
        let p = first.fold(lift3(&self.p), |p, (shape, &eta)| p + self.lift(shape) * eta);
        self.pairs.iter().fold(p, |p, (k, l, G)| {
            let share = if k == l { 0.5 } else { 1.0 };
            p + self.lift(G) * (eta[*k] * eta[*l] * S::lift(share))
        })
    }

    /// Returns the rotation vector relative to the body for the amplitudes `eta`, rad, body axes.
    pub fn turn<S: Scalar>(&self, eta: &[S]) -> Vec3<S>
    where
        C: Lift<S>,
    {
        let slopes = self.slope.iter().zip(eta);
        slopes.fold(zero3(), |theta, (slope, &eta)| theta + self.lift(slope) * eta)
    }

    /// Returns a shape with zeros that no parameter changes, which reduces the dependencies.
    fn lift<S: Scalar>(&self, shape: &Vec3<C>) -> Vec3<S>
    where
        C: Lift<S>,
    {
        shape.map(|x| match self.is_aligned && x == C::zero() {
            true => S::zero(),
            false => S::lift(x),
        })
    }

    /// Returns [`turn`](Self::turn) as a quaternion.
    pub fn attitude<S: Scalar>(&self, eta: &[S]) -> Quaternion<S>
    where
        C: Lift<S>,
    {
        exp(self.turn(eta))
    }
}

/// Returns position and motion of a station, the carrier of bodies and frames; writes its motion
/// for each mode to `T`.
///
/// The sum of the slopes, `θ = Σ ψ_k η_k`, is used as its rotation vector: for bending in one plane
/// by a moment, the tip then rotates like that of an elastica.
fn station<S: Scalar>(
    constants: &StationConstants<S::Constant>,
    at: &BodyKinematics<S>,
    eta: &[S],
    eta_dot: &[S],
    T: &mut [Twist<S>],
) -> BodyKinematics<S> {
    let half = S::lift(0.5);
    let mut p = lift3::<S>(&constants.p);
    let (mut theta, mut theta_dot) = (zero3(), zero3());
    for (k, (shape, slope)) in constants.shape.iter().zip(&constants.slope).enumerate() {
        T[k] = Twist::new(lift3(slope), lift3(shape));
        p += T[k].v * eta[k];
        theta += T[k].w * eta[k];
        theta_dot += T[k].w * eta_dot[k];
    }
    let mut a = zero3();
    for (k, l, G) in &constants.pairs {
        let G = lift3::<S>(G);
        if k == l {
            T[*k].v += G * eta[*k];
            p += G * (eta[*k] * eta[*k] * half);
            a += G * (eta_dot[*k] * eta_dot[*k]);
        } else {
            T[*k].v += G * eta[*l];
            T[*l].v += G * eta[*k];
            p += G * (eta[*k] * eta[*l]);
            a += G * (eta_dot[*k] * eta_dot[*l] * S::lift(2.0));
        }
    }
    let turned = TurnedFrame::new(theta);
    let R_WB = &at.R_WB;
    let turning = R_WB * turned.velocity();
    let mut v = zero3();
    for (T, &rate) in T.iter_mut().zip(eta_dot) {
        *T = Twist::new(turning * T.w, R_WB * T.v);
        v += T.v * rate;
    }
    let w = turning * theta_dot;
    let alpha = R_WB * turned.angular_bias(&theta_dot);

    let r = R_WB * p;
    let w_B = &at.V_WB.w;
    let w_x_r = w_B.cross(&r);
    let mut A_bias = at.A_bias.shift(&r);
    A_bias.w += w_B.cross(&w) + alpha;
    A_bias.v += w_B.cross(&(w_x_r + v + v)) + R_WB * a;
    BodyKinematics {
        R_WB: R_WB * turned.rotation(),
        p_WB: at.p_WB + r,
        r_PB_W: r,
        V_WB: Twist::new(w_B + w, at.V_WB.v + w_x_r + v),
        A_bias,
    }
}
