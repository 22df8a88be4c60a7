use super::elastic::{Amplitude, Elastic, Field, Modes, StationConstants};
use super::{BodyKinematics, Derived, Kinematics, System};
use crate::algebra::{Mat3, Quaternion, Scalar, Sym3, TurnedFrame, Twist, Vec3, Wrench, exp, lift3, lift33};

/// What the dynamics asks of a flexible body's mass as it is bent and moves, about the body's origin, world axes.
#[derive(Clone, Debug)]
pub struct Deflection<S: Scalar> {
    /// First moment of mass `h = Σ m p`, kg·m.
    pub h: Vec3<S>,
    /// Its rate in the body, kg·m/s: the linear momentum of the deformation.
    pub h_dot: Vec3<S>,
    /// Inertia about the origin, kg·m².
    pub J: Sym3<S>,
    /// Angular momentum of the deformation about the origin, kg·m²/s.
    pub b_dot: Vec3<S>,
    /// The wrench that the rates alone ask for, less that of `A_bias`.
    pub bias: Wrench<S>,
    /// What each mode's rate adds to the momentum.
    pub L: Vec<Wrench<S>>,
    /// Modal mass, row by row.
    pub M: Vec<S>,
    /// The force on each mode that the rates alone ask for, less that of `A_bias`.
    pub modal_bias: Vec<S>,
    /// One for each field.
    fields: Vec<FieldMotion<S>>,
    /// The amplitudes at rest: zeros.
    rest: Vec<S>,
}

/// The displacement of a field.
#[derive(Clone, Copy, Debug)]
struct FieldMotion<S: Scalar> {
    /// `e z`, along the field.
    d: Vec3<S>,
    /// `e ż`.
    d_dot: Vec3<S>,
    z: S,
    z_dot: S,
    /// What the modes' rates alone give of `z̈`.
    z_bias: S,
    /// `∫ p f dm`, beam axes.
    Y: Vec3<S>,
    /// `∂z/∂η`, by the modes of its amplitude.
    dz: [(usize, S); 2],
    /// How many modes there are in it.
    of: usize,
    /// The force on it that the rates alone ask for, of the fields that are drawn in.
    force: S,
}

impl<S: Scalar> FieldMotion<S> {
    fn new(field: &Field, eta: &[S], eta_dot: &[S]) -> Self {
        let (zero, one) = (S::zero(), S::one());
        let (z, z_dot, z_bias, dz, of) = match field.amplitude {
            Amplitude::Mode(k) => (eta[k], eta_dot[k], zero, [(k, one); 2], 1),
            Amplitude::Pair(k, l) if k == l => {
                let (x, v) = (eta[k], eta_dot[k]);
                (x * x * S::lift(0.5), x * v, v * v, [(k, x); 2], 1)
            }
            Amplitude::Pair(k, l) => {
                let (x, y, vx, vy) = (eta[k], eta[l], eta_dot[k], eta_dot[l]);
                let z_bias = vx * vy * S::lift(2.0);
                (x * y, vx * y + x * vy, z_bias, [(k, y), (l, x)], 2)
            }
        };
        let e = lift3::<S>(&field.e);
        Self {
            d: e * z,
            d_dot: e * z_dot,
            z,
            z_dot,
            z_bias,
            Y: Vec3::zeros(),
            dz,
            of,
            force: zero,
        }
    }

    fn dz(&self) -> &[(usize, S)] {
        &self.dz[..self.of]
    }
}

impl<S: Scalar> Deflection<S> {
    /// Room for a body with `n` modes.
    pub fn new(n: usize) -> Self {
        Self {
            h: Vec3::zeros(),
            h_dot: Vec3::zeros(),
            J: Sym3::zero(),
            b_dot: Vec3::zeros(),
            bias: Wrench::zero(),
            L: vec![Wrench::zero(); n],
            M: vec![S::zero(); n * n],
            modal_bias: vec![S::zero(); n],
            fields: Vec::with_capacity(n * (n + 3) / 2),
            rest: vec![S::zero(); n],
        }
    }

    /// Fills everything for a body `at` its place, with the amplitudes `eta` and their rates.
    ///
    /// From Lagrange's equations of the kinetic energy in [`Elastic`], with the ordinary acceleration `a` of the body's origin
    /// and with `Y_i = ∫ p f_i dm`, `V_i = ∫ ṗ f_i dm`, `z̈_i = ∂z_i/∂η·η̈ + z̄_i`:
    ///
    /// ```text
    ///     f   = m a + α × h + ω × (ω × h + 2 ḣ) + Σ a_i e_i z̈_i
    ///     t   = h × a + J α + ω × (J ω + Σ b_k η̇_k) + 2 Σ (Y_i·e_i ω − Y_i·ω e_i) ż_i + Σ Y_i × e_i z̈_i + Σ b_k η̈_k
    ///     Q_i = e_i·(a_i a + α × Y_i + ω × (ω × Y_i + 2 V_i)) + Σ A_ij e_i·e_j z̈_j
    ///     Q_k = Σ ∂z_i/∂η_k Q_i + b_k·α + Σ I_kl η̈_l
    /// ```
    pub(super) fn update(&mut self, elastic: &Elastic, at: &BodyKinematics<S>, eta: &[S], eta_dot: &[S]) {
        let R = at.R_WB * lift33::<S>(&elastic.axes);
        let w = R.tr_mul(&at.V_WB.w);
        self.fields.clear();
        let motion = |field: &Field| FieldMotion::new(field, eta, eta_dot);
        self.fields.extend(elastic.fields.iter().map(motion));

        let (mut h, mut h_dot, mut h_bias) = (lift3::<S>(&elastic.h), Vec3::zeros(), Vec3::zeros());
        let (mut b_dot, mut b_bias) = (Vec3::zeros(), Vec3::zeros());
        for (M, &at_rest) in self.M.iter_mut().zip(&elastic.mass) {
            *M = S::lift(at_rest);
        }
        for (k, mode) in elastic.modes.iter().enumerate() {
            let b = lift3::<S>(&mode.b);
            self.L[k] = Wrench::new(b, Vec3::zeros());
            self.modal_bias[k] = S::zero();
            b_dot += b * eta_dot[k];
        }
        let spin = w.cross(&b_dot);
        for &(i, j, A) in &elastic.couplings {
            self.couple(i, j, S::lift(A));
        }
        let (mut trace, mut turned) = (S::zero(), Vec3::zeros());
        let mut W = Mat3::zeros();
        let n = elastic.fields.len();
        for (i, field) in elastic.fields.iter().enumerate() {
            let (e, Y_0) = (lift3::<S>(&field.e), lift3::<S>(&field.Y));
            let (mut Y, mut V) = (Y_0, Vec3::zeros());
            for (other, &A) in self.fields.iter().zip(&elastic.products[i * n..]) {
                Y += other.d * S::lift(A);
                V += other.d_dot * S::lift(A);
            }
            let Self {
                fields, L, modal_bias, ..
            } = &mut *self;
            let motion = &mut fields[i];
            motion.Y = Y;
            let (ae, b) = (e * S::lift(field.a), Y.cross(&e));
            h += ae * motion.z;
            h_dot += ae * motion.z_dot;
            h_bias += ae * motion.z_bias;
            b_dot += b * motion.z_dot;
            b_bias += b * motion.z_bias;
            W += (Y_0 + Y) * motion.d.transpose();
            trace += Y.dot(&motion.d_dot);
            turned += motion.d_dot * Y.dot(&w);
            let force = motion.force + e.dot(&w.cross(&(w.cross(&Y) + V + V)));
            for &(k, dz) in motion.dz() {
                L[k] = L[k] + Wrench::new(b * dz, ae * dz);
                modal_bias[k] += force * dz;
            }
        }
        // ∫ p pᵀ dm has grown by the symmetric part of W.
        let J = elastic.J.lift::<S>()
            + Sym3::from_upper(&(Mat3::identity() * W.trace() - (W + W.transpose()) * S::lift(0.5)));
        let f = w.cross(&(w.cross(&h) + h_dot + h_dot)) + h_bias;
        let t = w.cross(&J.times(&w)) + spin + (w * trace - turned) * S::lift(2.0) + b_bias;
        for L in &mut self.L {
            *L = Wrench::new(R * L.t, R * L.f);
        }
        (self.h, self.h_dot) = (R * h, R * h_dot);
        (self.J, self.b_dot) = (J.express(&R), R * b_dot);
        self.bias = Wrench::new(R * t, R * f);
    }

    /// Fills everything as Kłak and Jarzębowska's (13)–(16) have it: the body's mass where it is at rest, and the modes coupled with the
    /// accelerations of its mass centre alone,
    ///
    /// ```text
    ///     f = m a + α × h + ω × (ω × h) + Σ L_k η̈_k,      Q_k = L_k·(α, a_c) + Σ M_kl η̈_l,   a_c = a + α × c + ω × (ω × c)
    /// ```
    ///
    /// with the mass `m` (kg). What is of first order in the amplitudes with the rates is left out.
    fn update_linearly(&mut self, elastic: &Elastic, m: f64, at: &BodyKinematics<S>, eta_dot: &[S]) {
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

    /// A force `f` (N/m, world axes) spread evenly along the beam: its wrench about the body's origin.
    /// Adds the forces on the modes to `tau`.
    pub fn spread(&self, elastic: &Elastic, at: &BodyKinematics<S>, f: &Vec3<S>, tau: &mut [S]) -> Wrench<S> {
        let R = at.R_WB * lift33::<S>(&elastic.axes);
        let f_R = R.tr_mul(f);
        let mut moment = lift3::<S>(&elastic.line);
        for (field, motion) in elastic.fields.iter().zip(&self.fields) {
            let l = S::lift(field.l);
            let force = lift3::<S>(&field.e).dot(&f_R) * l;
            moment += motion.d * l;
            for &(k, dz) in motion.dz() {
                tau[k] += force * dz;
            }
        }
        Wrench::new(R * moment.cross(&f_R), f * S::lift(elastic.length))
    }

    /// Adds to `tau` (one number for each mode) the forces on the modes by a field of accelerations that is `g + G p` (m/s², world axes) at `p` from the body's origin:
    /// `Q_k = Σ ∂z_i/∂η_k e_i·(a_i g + G Y_i)`. What sections that turn feel by themselves is left out, as their spin is beyond order zero.
    pub fn add_field(&self, elastic: &Elastic, at: &BodyKinematics<S>, (g, G): (&Vec3<S>, &Mat3<S>), tau: &mut [S]) {
        let R = at.R_WB * lift33::<S>(&elastic.axes);
        let (g, G) = (R.tr_mul(g), R.tr_mul(&(G * R)));
        for (field, motion) in elastic.fields.iter().zip(&self.fields) {
            let force = lift3::<S>(&field.e).dot(&(g * S::lift(field.a) + G * motion.Y));
            for &(k, dz) in motion.dz() {
                tau[k] += force * dz;
            }
        }
    }

    /// Adds what the fields `i ≤ j` have in common, of which one is drawn in, to the modal mass and to the fields' forces.
    fn couple(&mut self, i: usize, j: usize, A: S) {
        let (n, Self { fields, M, .. }) = (self.L.len(), self);
        let (bias_a, bias_b) = (fields[i].z_bias, fields[j].z_bias);
        fields[i].force += A * bias_b;
        if i != j {
            fields[j].force += A * bias_a;
        }
        for &(k, dz_a) in fields[i].dz() {
            for &(l, dz_b) in fields[j].dz() {
                let share = A * dz_a * dz_b;
                M[k * n + l] += share;
                if i != j {
                    M[l * n + k] += share;
                }
            }
        }
    }
}

impl<S: Scalar> Kinematics<S> {
    /// Fills what bends with body `i`: its deflection and its stations.
    #[inline(never)]
    pub(crate) fn bend(&mut self, system: &System, derived: &Derived, (i, modes): (usize, &Modes), q: &[S], qd: &[S]) {
        let constants = &derived.bodies[i];
        let (eta, eta_dot) = (&q[modes.coordinates()], &qd[modes.rates()]);
        let at = self.bodies[i];
        if let Some(elastic) = &constants.elastic {
            let deflection = &mut self.deflections[modes.index];
            match system.couples_linearly {
                false => deflection.update(elastic, &at, eta, eta_dot),
                true => deflection.update_linearly(elastic, constants.m, &at, eta_dot),
            }
        }
        for s in modes.stations.clone() {
            let first = system.stations[s].first;
            let T = &mut self.T[first..first + modes.n];
            self.stations[s] = station(&derived.stations[s], &at, eta, eta_dot, T);
        }
    }
}

impl<S: Scalar> Kinematics<S> {
    /// The acceleration of station `s` beyond its `A_bias`, for that of its body's origin and the modes' `η̈`.
    #[inline(always)]
    pub fn beyond_bias(&self, system: &System, modes: &Modes, s: usize, A: &Twist<S>, eta_ddot: &[S]) -> Twist<S> {
        let first = system.stations[s].first;
        let T = &self.T[first..first + modes.n];
        let carried = A.shift(&self.stations[s].r_PB_W);
        T.iter().zip(eta_ddot).fold(carried, |A, (T, &rate)| A + *T * rate)
    }
}

impl StationConstants {
    /// Where it is, m, body axes, for the amplitudes `eta`.
    pub fn place<S: Scalar>(&self, eta: &[S]) -> Vec3<S> {
        let first = self.shape.iter().zip(eta);
        let p = first.fold(lift3(&self.p), |p, (shape, &eta)| p + lift3::<S>(shape) * eta);
        self.pairs.iter().fold(p, |p, (k, l, G)| {
            let share = if k == l { 0.5 } else { 1.0 };
            p + lift3::<S>(G) * (eta[*k] * eta[*l] * S::lift(share))
        })
    }

    /// How it is turned in its body, for the amplitudes `eta`: a rotation vector, rad, body axes.
    pub fn turn<S: Scalar>(&self, eta: &[S]) -> Vec3<S> {
        let slopes = self.slope.iter().zip(eta);
        slopes.fold(Vec3::zeros(), |theta, (slope, &eta)| theta + lift3::<S>(slope) * eta)
    }

    /// The same as a quaternion.
    pub fn attitude<S: Scalar>(&self, eta: &[S]) -> Quaternion<S> {
        exp(self.turn(eta))
    }
}

/// A bent place as something that carries bodies and frames, with its motion `T` for each mode.
///
/// The slopes `θ = Σ ψ_k η_k` are its rotation vector: in one plane the tip then turns as a moment there turns an elastica.
fn station<S: Scalar>(
    constants: &StationConstants,
    at: &BodyKinematics<S>,
    eta: &[S],
    eta_dot: &[S],
    T: &mut [Twist<S>],
) -> BodyKinematics<S> {
    let half = S::lift(0.5);
    let mut p = lift3::<S>(&constants.p);
    let (mut theta, mut theta_dot) = (Vec3::zeros(), Vec3::zeros());
    for (k, (shape, slope)) in constants.shape.iter().zip(&constants.slope).enumerate() {
        T[k] = Twist::new(lift3(slope), lift3(shape));
        p += T[k].v * eta[k];
        theta += T[k].w * eta[k];
        theta_dot += T[k].w * eta_dot[k];
    }
    let mut a = Vec3::zeros();
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
    let mut v = Vec3::zeros();
    for (T, &rate) in T.iter_mut().zip(eta_dot) {
        *T = Twist::new(R_WB * turned.angular_velocity(&T.w), R_WB * T.v);
        v += T.v * rate;
    }
    let w = R_WB * turned.angular_velocity(&theta_dot);
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
