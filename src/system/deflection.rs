use super::elastic::{Elastic, Modes, StationConstants};
use super::{BodyKinematics, Derived, Kinematics, System};
use crate::algebra::{Mat3, Quaternion, Scalar, Sym3, Twist, Vec3, Wrench, cross_matrix, lift3};

/// A flexible body's mass integrals as it is bent and moves, about its origin, world axes.
#[derive(Clone, Copy, Debug)]
pub struct Deflection<S: Scalar> {
    /// First moment of mass `h = ∫p dm`, kg·m.
    pub h: Vec3<S>,
    /// Its rate in the body, kg·m/s: the linear momentum of the deformation.
    pub h_dot: Vec3<S>,
    /// Inertia about the origin, kg·m².
    pub J: Sym3<S>,
    /// Angular momentum of the deformation about the origin, `Σ b_k η̇_k`, kg·m²/s.
    pub b_dot: Vec3<S>,
    /// The wrench that the rates alone ask for, less that of `A_bias`.
    pub bias: Wrench<S>,
}

impl<S: Scalar> Deflection<S> {
    /// Of no mass.
    pub fn none() -> Self {
        Self {
            h: Vec3::zeros(),
            h_dot: Vec3::zeros(),
            J: Sym3::zero(),
            b_dot: Vec3::zeros(),
            bias: Wrench::zero(),
        }
    }
}

impl<S: Scalar> Kinematics<S> {
    /// Fills what bends with body `i`: its deflection and its stations.
    #[inline(never)]
    pub(super) fn bend(&mut self, system: &System, derived: &Derived, (i, modes): (usize, &Modes), q: &[S], qd: &[S]) {
        let constants = &derived.bodies[i];
        let (eta, eta_dot) = (&q[modes.coordinates()], &qd[modes.rates()]);
        let at = self.bodies[i];
        if let Some(elastic) = &constants.elastic {
            let own = (lift3(&constants.h), constants.J_Bo.lift());
            let (L, beta) = (&mut self.L[modes.rates()], &mut self.modal_bias[modes.rates()]);
            self.deflections[modes.index] = deflect(elastic, own, &at, eta, eta_dot, L, beta);
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

/// The mass integrals of a bent body whose first moment and inertia at rest are `(h, J)`, body axes.
///
/// From Lagrange's equations of the kinetic energy in [`Elastic`], with the ordinary acceleration `a` of the
/// body's origin:
///
/// ```text
///     f = m a + α × h + ω × (ω × h) + 2 ω × ḣ + Σ h_kl η̇_k η̇_l + Σ h_k η̈_k
///     t = h × a + J α + ω × (J ω + Σ b_k η̇_k) + J̇ ω + Σ b_kl η̇_k η̇_l + Σ b_k η̈_k
///     Q_k = h_k·a + b_k·α + Σ M_kl η̈_l + 2 ω·Σ c_kl η̇_l − ½ ω·(∂J/∂η_k) ω
/// ```
fn deflect<S: Scalar>(
    elastic: &Elastic,
    (mut h, mut J): (Vec3<S>, Sym3<S>),
    at: &BodyKinematics<S>,
    eta: &[S],
    eta_dot: &[S],
    L: &mut [Wrench<S>],
    beta: &mut [S],
) -> Deflection<S> {
    let half = S::lift(0.5);
    let w = at.R_WB.tr_mul(&at.V_WB.w);
    // The angular part of the modal force is gathered as the power of ω on it.
    let spin = |J: &Sym3<S>| w.dot(&J.times(&w)) * half;
    let (mut h_dot, mut b_dot) = (Vec3::zeros(), Vec3::zeros());
    let (mut h_bias, mut b_bias, mut Jdot_w) = (Vec3::zeros(), Vec3::zeros(), Vec3::zeros());
    for (k, mode) in elastic.modes.iter().enumerate() {
        L[k] = Wrench::new(lift3(&mode.b), lift3(&mode.h));
        let J_k = mode.J.lift::<S>();
        let J_k_w = J_k.times(&w);
        beta[k] = -w.dot(&J_k_w) * half;
        h += L[k].f * eta[k];
        J = J + J_k * eta[k];
        Jdot_w += J_k_w * eta_dot[k];
    }
    for pair in &elastic.pairs {
        let (k, l) = (pair.k, pair.l);
        let (h_kl, b_kl, c) = (lift3::<S>(&pair.h), lift3::<S>(&pair.b), lift3::<S>(&pair.coriolis));
        let J_kl = pair.J.lift::<S>();
        let spin = spin(&J_kl) + spin(&J_kl);
        let J_kl_w = J_kl.times(&w);
        if k == l {
            let (x, v) = (eta[k], eta_dot[k]);
            L[k].f += h_kl * x;
            L[k].t += b_kl * x;
            beta[k] -= spin * x * half;
            h += h_kl * (x * x * half);
            J = J + J_kl * (x * x * half);
            Jdot_w += J_kl_w * (x * v);
            h_bias += h_kl * (v * v);
            b_bias += b_kl * (v * v);
        } else {
            let (x, y, vx, vy) = (eta[k], eta[l], eta_dot[k], eta_dot[l]);
            L[k].f += h_kl * y;
            L[l].f += h_kl * x;
            L[k].t += (b_kl + c) * y;
            L[l].t += (b_kl - c) * x;
            let coriolis = w.dot(&c);
            let coriolis = coriolis + coriolis;
            beta[k] += coriolis * vy - spin * y * half;
            beta[l] -= coriolis * vx + spin * x * half;
            h += h_kl * (x * y);
            J = J + J_kl * (x * y);
            Jdot_w += J_kl_w * (vx * y + x * vy);
            h_bias += h_kl * (vx * vy + vx * vy);
            b_bias += b_kl * (vx * vy + vx * vy);
        }
    }
    for (L, &v) in L.iter_mut().zip(eta_dot) {
        h_dot += L.f * v;
        b_dot += L.t * v;
        *L = Wrench::new(at.R_WB * L.t, at.R_WB * L.f);
    }
    let f = w.cross(&(w.cross(&h) + h_dot + h_dot)) + h_bias;
    let t = w.cross(&(J.times(&w) + b_dot)) + Jdot_w + b_bias;
    Deflection {
        h: at.R_WB * h,
        h_dot: at.R_WB * h_dot,
        J: J.express(&at.R_WB),
        b_dot: at.R_WB * b_dot,
        bias: Wrench::new(at.R_WB * t, at.R_WB * f),
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

    /// How a bent place is turned in its body, for the amplitudes `eta`.
    pub fn attitude<S: Scalar>(&self, eta: &[S]) -> Quaternion<S> {
        let half = S::lift(0.5);
        let g = self
            .slope
            .iter()
            .zip(eta)
            .fold(Vec3::zeros(), |g, (slope, &eta)| g + lift3::<S>(slope) * (eta * half));
        Quaternion::new(S::one(), g.x, g.y, g.z).normalised()
    }
}

/// A bent place as something that carries bodies and frames, with its motion `T` for each mode.
///
/// The slopes `ψ = Σ ψ_k η_k` turn it by the rotation with Gibbs's vector `g = ψ/2`: an exact rotation, by the angle `|ψ|` up to
/// `|ψ|³/12`, which is beyond linear bending; its angular velocity is `2 (ġ + g × ġ)/(1 + g·g)`.
fn station<S: Scalar>(
    constants: &StationConstants,
    at: &BodyKinematics<S>,
    eta: &[S],
    eta_dot: &[S],
    T: &mut [Twist<S>],
) -> BodyKinematics<S> {
    let half = S::lift(0.5);
    let mut p = lift3::<S>(&constants.p);
    let (mut g, mut g_dot) = (Vec3::zeros(), Vec3::zeros());
    for (k, (shape, slope)) in constants.shape.iter().zip(&constants.slope).enumerate() {
        T[k] = Twist::new(lift3::<S>(slope) * half, lift3(shape));
        p += T[k].v * eta[k];
        g += T[k].w * eta[k];
        g_dot += T[k].w * eta_dot[k];
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
    let s = S::lift(2.0) / (S::one() + g.dot(&g));
    let R_WB = &at.R_WB;
    let (mut w, mut v) = (Vec3::zeros(), Vec3::zeros());
    for (T, &rate) in T.iter_mut().zip(eta_dot) {
        *T = Twist::new(R_WB * (T.w + g.cross(&T.w)) * s, R_WB * T.v);
        w += T.w * rate;
        v += T.v * rate;
    }
    let alpha = -w * (s * g.dot(&g_dot));
    let turn = cross_matrix(&g);
    let R_BS = Mat3::identity() + (turn + turn * turn) * s;

    let r = R_WB * p;
    let w_B = &at.V_WB.w;
    let w_x_r = w_B.cross(&r);
    let mut A_bias = at.A_bias.shift(&r);
    A_bias.w += w_B.cross(&w) + alpha;
    A_bias.v += w_B.cross(&(w_x_r + v + v)) + R_WB * a;
    BodyKinematics {
        R_WB: R_WB * R_BS,
        p_WB: at.p_WB + r,
        r_PB_W: r,
        V_WB: Twist::new(w_B + w, at.V_WB.v + w_x_r + v),
        A_bias,
    }
}
