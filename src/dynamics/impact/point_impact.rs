use super::NO_RESPONSE;
use crate::algebra::{Scalar, square};
use crate::spec::Tangential;
use nalgebra::{Matrix2, Matrix3, Matrix3x2, Vector2, Vector3};

/// Slip, relative to the relative velocity, below which it is round-off.
const NO_SLIP: f64 = 1e-12;

/// Contact of two bodies at a point: the velocity `u` of the first relative to the second, and its
/// response to an impulse `p` on the first (and `−p` on the second):
///
/// ```text
///     u⁺ = u + W p
/// ```
///
/// All vectors are in the same, arbitrary axes. The unit normal `n` points from the second body to
/// the first: the bodies approach if `n·u < 0`. Two impulses that end the approach are `p_I`
/// without friction and `p_II` with sticking, with losses of kinetic energy `E_n` and `E_pl`:
///
/// ```text
///     p_I  = −(u_n / W_nn) n          E_n  = ½ u_n² / W_nn
///     p_II = −W⁻¹ u                   E_pl = ½ u·W⁻¹ u = E_n + ½ d·W d,  d = p_II − p_I
/// ```
///
/// with `n·W d = 0`. `d` is computed in the contact plane with the Schur complement of `W_nn`; if
/// that is singular, `d` is the solution with the least tangential part.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PointImpact {
    pub(super) W: Matrix3<f64>,
    pub(super) u: Vector3<f64>,
    pub(super) n: Vector3<f64>,
    /// Tangential unit vectors that diagonalise the tangential block of `W`.
    pub(super) T: Matrix3x2<f64>,
    pub(super) p_I: Vector3<f64>,
    pub(super) d: Vector3<f64>,
}

impl PointImpact {
    /// Creates the contact from `W` (1/kg; its symmetric part is used), `u` (m/s) and the normal
    /// `n` (of any length).
    ///
    /// Returns `None` if a value is not finite, `n` is zero, `W` is not positive semidefinite, or
    /// the response along `n` is zero; the last two to `1e-11` of the trace of `W`.
    pub fn new(W: Matrix3<f64>, u: Vector3<f64>, n: Vector3<f64>) -> Option<Self> {
        let W = 0.5 * (W + W.transpose());
        let n = n.try_normalize(0.0)?;
        let least = NO_RESPONSE * W.trace();
        let W_nn = n.dot(&(W * n));
        if !(least.is_finite() && W_nn > least) {
            return None;
        }
        let any = across(&n);
        let T = any * principal(&(any.transpose() * W * any)).1;
        let W_Tn = T.transpose() * W * n;
        let S = T.transpose() * W * T - W_Tn * W_Tn.transpose() / W_nn;
        let u_n = n.dot(&u);
        let mut p_T = Vector2::zeros();
        let (values, axes) = principal(&S);
        for i in 0..2 {
            let axis = axes.column(i);
            if values[i] > least {
                p_T -= axis * (axis.dot(&(T.transpose() * u - W_Tn * (u_n / W_nn))) / values[i]);
            } else if values[i] < -least {
                return None;
            }
        }
        let p_I = n * (-u_n / W_nn);
        let d = T * p_T - n * (W_Tn.dot(&p_T) / W_nn);
        let finite = W.iter().chain(&u).chain(&p_I).chain(&d).all(|x| x.is_finite());
        finite.then_some(Self { W, u, n, T, p_I, d })
    }

    /// Returns the relative velocity after the impulse `p` (N·s) on the first body, m/s.
    pub fn after(&self, p: &Vector3<f64>) -> Vector3<f64> {
        self.u + self.W * p
    }

    /// Returns the loss of kinetic energy due to the impulse `p`, J: `−½ p·(u + u⁺)`.
    ///
    /// In a difference of two energies, all digits would cancel for spacecraft at orbital velocity.
    pub fn loss(&self, p: &Vector3<f64>) -> f64 {
        -0.5 * p.dot(&(self.u + self.after(p)))
    }

    /// Returns `E_pl`, the loss of the sticking impact, J: the maximum over all impulses.
    pub fn plastic_loss(&self) -> f64 {
        self.normal_loss() + self.frictional_loss()
    }

    /// Returns `E_n`, the loss of the frictionless impact, J.
    fn normal_loss(&self) -> f64 {
        0.5 * self.virtual_mass() * square(self.n.dot(&self.u))
    }

    /// Returns `½ d·W d`, the part of the plastic loss by friction, J.
    fn frictional_loss(&self) -> f64 {
        (0.5 * self.d.dot(&(self.W * self.d))).max(0.0)
    }

    /// Returns `κ = 1 − E_n / E_pl`, the part of the plastic loss that only friction can dissipate;
    /// zero if there is no such loss.
    pub fn kappa(&self) -> f64 {
        let (normal, frictional) = (self.normal_loss(), self.frictional_loss());
        if frictional > 0.0 {
            frictional / (normal + frictional)
        } else {
            0.0
        }
    }

    /// Returns `1 − κ` without cancellation.
    pub(super) fn normal_share(&self) -> f64 {
        let (normal, frictional) = (self.normal_loss(), self.frictional_loss());
        if frictional > 0.0 {
            normal / (normal + frictional)
        } else {
            1.0
        }
    }

    /// Returns the frictionless impulse that ends the approach, N·s.
    pub fn p_I(&self) -> Vector3<f64> {
        self.p_I
    }

    /// Returns the impulse that ends all relative motion, N·s.
    pub fn p_II(&self) -> Vector3<f64> {
        self.p_I + self.d
    }

    /// Returns the effective mass along the normal, kg: `1 / W_nn`.
    pub fn virtual_mass(&self) -> f64 {
        1.0 / self.n.dot(&(self.W * self.n))
    }

    /// Returns true if the bodies approach: `n·u < 0`.
    pub fn approaches(&self) -> bool {
        self.n.dot(&self.u) < 0.0
    }

    /// Returns the admissible band, the least and the largest `r_E` for this `r_f` in
    /// [`Law::EnergyFriction`](super::Law::EnergyFriction); their restitution is 1 and 0.
    ///
    /// ```text
    ///     κ r_f (2 − r_f)  ≤  r_E  ≤  1 − κ (1 − r_f)²
    /// ```
    ///
    /// For [`Tangential::Slip`], with the impulse `d` of that component,
    ///
    /// ```text
    ///     −(r_f d·u + ½ r_f² d·W d) / E_pl  ≤  r_E  ≤  the same + 1 − κ
    /// ```
    pub fn admissible(&self, r_f: f64, tangential: Tangential) -> [f64; 2] {
        if tangential == Tangential::Plastic {
            let kappa = self.kappa();
            return [kappa * r_f * (2.0 - r_f), 1.0 - kappa * square(1.0 - r_f)];
        }
        let d = self.scaled(tangential) * r_f;
        let low = self.loss(&d) / self.plastic_loss();
        [low, low + self.normal_share()]
    }

    /// Returns the impulse that `r_f` of [`Law::EnergyFriction`](super::Law::EnergyFriction)
    /// scales, N·s: `d`, or the part of it whose tangential component is along the slip, completed
    /// in the normal direction so that `n·W d = 0`. Without slip it is `d`.
    pub(super) fn scaled(&self, tangential: Tangential) -> Vector3<f64> {
        let slip = self.T * (self.T.transpose() * self.u);
        match (tangential, slip.try_normalize(NO_SLIP * self.u.norm())) {
            (Tangential::Slip, Some(slip)) => {
                let along = slip * slip.dot(&self.d);
                along - self.n * (self.n.dot(&(self.W * along)) * self.virtual_mass())
            }
            _ => self.d,
        }
    }

    /// Returns Newton's coefficient of restitution that corresponds to the impulse `p`,
    /// `e_N = −u_n⁺ / u_n`; zero if `u_n` is zero.
    pub fn restitution_of(&self, p: &Vector3<f64>) -> f64 {
        let u_n = self.n.dot(&self.u);
        if u_n == 0.0 {
            0.0
        } else {
            -self.n.dot(&self.after(p)) / u_n
        }
    }

    /// Returns `p` with its normal part replaced by `p_n`.
    pub(super) fn with_normal(&self, p: &Vector3<f64>, p_n: f64) -> Vector3<f64> {
        p + self.n * (p_n - self.n.dot(p))
    }
}

/// Returns two unit vectors that are orthogonal to `n` and to each other.
fn across(n: &Vector3<f64>) -> Matrix3x2<f64> {
    let mut axis = Vector3::zeros();
    axis[n.iamin()] = 1.0;
    let first = n.cross(&axis).normalize();
    Matrix3x2::from_columns(&[first, n.cross(&first)])
}

/// Returns eigenvalues and eigenvectors (columns) of a symmetric matrix, by a Jacobi rotation.
fn principal(A: &Matrix2<f64>) -> ([f64; 2], Matrix2<f64>) {
    let (sin, cos) = Scalar::sin_cos(0.5 * Scalar::atan2(2.0 * A[(0, 1)], A[(0, 0)] - A[(1, 1)]));
    let axes = Matrix2::new(cos, -sin, sin, cos);
    let along = |i: usize| axes.column(i).dot(&(A * axes.column(i)));
    ([along(0), along(1)], axes)
}
