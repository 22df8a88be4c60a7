use super::NO_RESPONSE;
use crate::algebra::Scalar;
use nalgebra::{Matrix2, Matrix3, Matrix3x2, Vector2, Vector3};

/// Two bodies at a point of contact: how fast the first moves, seen from the second, and how an impulse on the first, with its
/// reaction on the second, changes that.
///
/// ```text
///     u⁺ = u + W p
/// ```
///
/// All vectors are in the same axes, whichever. The unit normal `n` points from the second body to the first: they approach if
/// `n·u < 0`. The two impulses that matter, without friction and sticking, both end the approach:
///
/// ```text
///     p_I  = −(u_n / W_nn) n          E_n  = ½ u_n² / W_nn
///     p_II = −W⁻¹ u                   E_pl = ½ u·W⁻¹ u = E_n + ½ d·W d,     d = p_II − p_I,     n·W d = 0
/// ```
///
/// `E_n` and `E_pl` are the kinetic energies they take away. `d` is found in the contact plane, with the Schur complement of `W_nn`.
/// Where that is singular, it has the least tangential part.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Meeting {
    pub(super) W: Matrix3<f64>,
    pub(super) u: Vector3<f64>,
    pub(super) n: Vector3<f64>,
    /// Unit vectors across the normal, along which `W` has no cross term.
    pub(super) T: Matrix3x2<f64>,
    pub(super) p_I: Vector3<f64>,
    pub(super) d: Vector3<f64>,
}

impl Meeting {
    /// From `W` (1/kg; its symmetric part is taken), `u` (m/s) and the normal `n` (its length does not matter).
    ///
    /// Returns `None` if a number is not finite, `n` is zero, `W` is not positive semidefinite, or does not answer along `n`, each to
    /// `1e-11` of its trace.
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

    /// The relative velocity after the impulse `p` (N·s) on the first body, m/s.
    pub fn after(&self, p: &Vector3<f64>) -> Vector3<f64> {
        self.u + self.W * p
    }

    /// The kinetic energy that the impulse `p` takes away, J: `−½ p·(u + u⁺)`.
    ///
    /// Never found as a difference of two energies: those of two spacecraft in orbit leave no digits.
    pub fn loss(&self, p: &Vector3<f64>) -> f64 {
        -0.5 * p.dot(&(self.u + self.after(p)))
    }

    /// `E_pl`, what sticking takes away, J: the most that any impulse can.
    pub fn plastic_loss(&self) -> f64 {
        self.normal_loss() + self.frictional_loss()
    }

    /// `E_n`, what the impulse without friction takes away, J.
    fn normal_loss(&self) -> f64 {
        0.5 * self.virtual_mass() * self.n.dot(&self.u).powi(2)
    }

    /// `½ d·W d`, J.
    fn frictional_loss(&self) -> f64 {
        (0.5 * self.d.dot(&(self.W * self.d))).max(0.0)
    }

    /// `κ = 1 − E_n / E_pl`, the part of the plastic loss that only friction can take; zero if there is no such loss.
    pub fn kappa(&self) -> f64 {
        let (normal, frictional) = (self.normal_loss(), self.frictional_loss());
        if frictional > 0.0 {
            frictional / (normal + frictional)
        } else {
            0.0
        }
    }

    /// `1 − κ`, with all its digits.
    pub(super) fn normal_share(&self) -> f64 {
        let (normal, frictional) = (self.normal_loss(), self.frictional_loss());
        if frictional > 0.0 {
            normal / (normal + frictional)
        } else {
            1.0
        }
    }

    /// The impulse that ends the approach without friction, N·s.
    pub fn p_I(&self) -> Vector3<f64> {
        self.p_I
    }

    /// The impulse that ends all relative motion, N·s.
    pub fn p_II(&self) -> Vector3<f64> {
        self.p_I + self.d
    }

    /// The mass that the normal impulse meets, kg: `1 / W_nn`.
    pub fn virtual_mass(&self) -> f64 {
        1.0 / self.n.dot(&(self.W * self.n))
    }

    /// Whether the bodies approach: `n·u < 0`.
    pub fn approaches(&self) -> bool {
        self.n.dot(&self.u) < 0.0
    }

    /// The least and the largest `r_E` that go with `r_f` in [`Law::EnergyFriction`](super::Law::EnergyFriction): from `e_N = 1`
    /// to `e_N = 0`.
    ///
    /// ```text
    ///     κ r_f (2 − r_f)  ≤  r_E  ≤  1 − κ (1 − r_f)²
    /// ```
    pub fn admissible(&self, r_f: f64) -> [f64; 2] {
        let kappa = self.kappa();
        [kappa * r_f * (2.0 - r_f), 1.0 - kappa * (1.0 - r_f).powi(2)]
    }

    /// Newton's coefficient of restitution to which the impulse `p` amounts: `e_N = −u_n⁺ / u_n`; zero if `u_n` is.
    pub fn restitution_of(&self, p: &Vector3<f64>) -> f64 {
        let u_n = self.n.dot(&self.u);
        if u_n == 0.0 {
            0.0
        } else {
            -self.n.dot(&self.after(p)) / u_n
        }
    }

    /// `p` with the tangential part it has, and the normal part `p_n`.
    pub(super) fn with_normal(&self, p: &Vector3<f64>, p_n: f64) -> Vector3<f64> {
        p + self.n * (p_n - self.n.dot(p))
    }
}

/// Two unit vectors across `n` and each other.
fn across(n: &Vector3<f64>) -> Matrix3x2<f64> {
    let mut axis = Vector3::zeros();
    axis[n.iamin()] = 1.0;
    let first = n.cross(&axis).normalize();
    Matrix3x2::from_columns(&[first, n.cross(&first)])
}

/// Eigenvalues of a symmetric matrix, and its axes as columns: Jacobi's rotation.
fn principal(A: &Matrix2<f64>) -> ([f64; 2], Matrix2<f64>) {
    let (sin, cos) = Scalar::sin_cos(0.5 * Scalar::atan2(2.0 * A[(0, 1)], A[(0, 0)] - A[(1, 1)]));
    let axes = Matrix2::new(cos, -sin, sin, cos);
    let along = |i: usize| axes.column(i).dot(&(A * axes.column(i)));
    ([along(0), along(1)], axes)
}
