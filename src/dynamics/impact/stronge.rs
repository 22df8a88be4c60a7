//! Impact with Coulomb friction and Stronge's restitution: integration over the normal impulse.
//!
//! In contact axes (two tangents without coupling, and the normal), with `λ = W_TT` diagonal and
//! `b = W_Tn`:
//!
//! ```text
//!     sliding     du = W q dσ,  q = (−β û, α),  α = 1/(1 + mu),  β = mu α,  û = u_T/|u_T|       (1)
//!     sticking    du = W q dp_n,  q = (φ, 1),  φ = −λ⁻¹ b,  if |φ| ≤ mu                      (2)
//!     slip onset  du = W q dp_n,  q = (−mu d, 1),  b − mu λ d = c d,  |d| = 1,  c > 0, else  (3)
//! ```
//!
//! As a function of `σ` with `dp_n = α dσ`, (1) stays finite for any `mu`, also if friction
//! increases the approach velocity. If the slip direction is constant, the solution is a straight
//! line. Otherwise (1) is integrated over a time `τ` with `dσ = |u_T| dτ`, in which a vanishing
//! slip decays exponentially and the equation is smooth:
//!
//! ```text
//!     u_T' = α |u_T| b − β λ u_T                                                              (4)
//! ```
//!
//! Method: Taylor series (À. Jorba and M. Zou, *A software package for the numerical integration of
//! ODEs by means of high-order Taylor methods*, Exp. Math. 14 (2005) 99–117), whose polynomials
//! also locate the events.
//!
//! After the slip has stopped, (2) or (3) holds to the end: both are straight lines, and under (3)
//! the slip grows. The direction `d` of (3) is unique: in `d = (c + mu λ)⁻¹ b` every component
//! decreases with `c`, from `|d| = |φ|/mu > 1` at `c = 0`. Both increase the normal velocity: (2)
//! by a Schur complement of `W`, (3) by `q·W q + mu c`.
//!
//! The work of the normal impulse determines the end of the impact. A renewed approach before the
//! end counts as compression: the work of restitution is `e²` times that of all compression phases.

use super::{NO_RESPONSE, PointImpact};
use nalgebra::{Matrix3, Vector2, Vector3};

/// Slip velocity, relative to the initial relative velocity, that counts as zero.
const NO_SLIP: f64 = 1e-14;

/// Order of the Taylor series. With steps of `e⁻²` times the radius of convergence, the truncation
/// error is below round-off.
const ORDER: usize = 20;

/// Maximum number of steps, which take 0.1 s of computing time. Fifteen are typical; a few thousand
/// occur if slip and slip direction hardly change: in one of 1e5 contacts whose `W` has a condition
/// number of 1e9.
const STEPS: usize = 40_000;

/// Returns the impulse on the first body by [`Law::Stronge`](super::Law::Stronge), N·s; `None` if
/// the impact does not end.
pub(super) fn impulse(point: &PointImpact, e: f64, mu: f64) -> Option<Vector3<f64>> {
    let axes = Matrix3::from_columns(&[point.T.column(0).into(), point.T.column(1).into(), point.n]);
    let (response, speed) = (point.W.trace(), point.u.norm());
    let W = axes.transpose() * (point.W / response) * axes;
    let mut impact = Impact::new(W, axes.transpose() * (point.u / speed), e, mu.min(f64::MAX));
    impact.run()?;
    let p = axes * impact.p;
    Some(point.with_normal(&p, impact.p.z) * (speed / response))
}

/// The state during the impact, in contact axes. Velocities are divided by the initial relative
/// speed, `W` by its trace.
struct Impact {
    W_nn: f64,
    b: Vector2<f64>,
    lambda: Vector2<f64>,
    mu: f64,
    e_squared: f64,
    u: Vector3<f64>,
    p: Vector3<f64>,
    compressing: bool,
    /// Work of restitution that remains until the end, `∫ u_n dp_n`; while (1) holds `∫ u_n dσ`,
    /// which is `1/α` times as much.
    remaining_work: f64,
}

/// The end of a phase of the impact.
#[derive(PartialEq)]
enum PhaseEnd {
    /// The impact is over.
    Over,
    /// The slip has stopped.
    Stopped,
}

impl Impact {
    fn new(W: Matrix3<f64>, u: Vector3<f64>, e: f64, mu: f64) -> Self {
        let responds = [0, 1].map(|i| W[(i, i)] > NO_RESPONSE);
        let only = |i: usize, x: f64| if responds[i] { x } else { 0.0 };
        Self {
            W_nn: W[(2, 2)],
            b: Vector2::new(only(0, W[(0, 2)]), only(1, W[(1, 2)])),
            lambda: Vector2::new(only(0, W[(0, 0)]), only(1, W[(1, 1)])),
            mu,
            e_squared: e * e,
            u,
            p: Vector3::zeros(),
            compressing: true,
            remaining_work: 0.0,
        }
    }

    fn run(&mut self) -> Option<()> {
        let alpha = 1.0 / (1.0 + self.mu);
        if self.mu > f64::EPSILON {
            if self.slide(alpha, self.mu * alpha)? == PhaseEnd::Over {
                return Some(());
            }
            self.u.fixed_rows_mut::<2>(0).fill(0.0);
            self.remaining_work *= alpha;
        }
        let q = self.stick().unwrap_or_else(|| self.leave());
        if self.rate(&q).z <= NO_RESPONSE {
            return (self.u.z.abs() <= NO_RESPONSE).then_some(()); // wedged: `q` does not change u_n
        }
        self.straight(&q, f64::INFINITY).map(|_| ())
    }

    /// Returns `W q`.
    fn rate(&self, q: &Vector3<f64>) -> Vector3<f64> {
        let q_T = q.xy();
        let rate_T = self.lambda.component_mul(&q_T) + self.b * q.z;
        Vector3::new(rate_T.x, rate_T.y, self.b.dot(&q_T) + self.W_nn * q.z)
    }

    /// Returns `q` of (2); `None` if the contact does not stick.
    fn stick(&self) -> Option<Vector3<f64>> {
        let phi = -divide(&self.b, &self.lambda);
        (phi.norm() <= self.mu * (1.0 + 4.0 * f64::EPSILON)).then(|| phi.push(1.0))
    }

    /// Returns `q` of (3), by Newton's method for `c` in `1/|d| = 1`. `1/|d|` is concave in `c`, so
    /// that iterates that start below the solution stay below it.
    fn leave(&self) -> Vector3<f64> {
        let mut c = (self.b.norm() - self.mu * self.lambda.max()).max(0.0);
        let mut d = Vector2::zeros();
        for _ in 0..64 {
            let stiffness = self.lambda * self.mu + Vector2::repeat(c);
            d = divide(&self.b, &stiffness);
            let size = d.norm();
            let step = (size - 1.0) * size * size / d.dot(&divide(&d, &stiffness));
            if step.is_nan() || step <= f64::EPSILON * c {
                break;
            }
            c += step;
        }
        (d.normalize() * -self.mu).push(1.0)
    }

    /// Integrates (1) until the slip stops or the impact ends.
    fn slide(&mut self, alpha: f64, beta: f64) -> Option<PhaseEnd> {
        let scale = alpha * self.b.norm() + beta * self.lambda.max();
        for _ in 0..STEPS {
            let slip = self.u.xy().norm();
            if slip <= NO_SLIP {
                return Some(PhaseEnd::Stopped);
            }
            let direction = self.u.xy() / slip;
            let q = (direction * -beta).push(alpha);
            let rate = self.rate(&q).xy();
            if direction.perp(&rate).abs() <= 8.0 * f64::EPSILON * scale {
                let slowing = -direction.dot(&rate);
                return self.straight(&q, if slowing > 0.0 { slip / slowing } else { f64::INFINITY });
            }
            if self.turn(&Series::new(self, alpha, beta, scale)) {
                return Some(PhaseEnd::Over);
            }
        }
        None
    }

    /// Advances along the constant `q` by the length `most`, or to the end of the impact if that
    /// comes first. `None` if neither is finite.
    fn straight(&mut self, q: &Vector3<f64>, mut most: f64) -> Option<PhaseEnd> {
        let rate = self.rate(q);
        // The normal velocity changes its sign at most once.
        for _ in 0..3 {
            let u_n = self.u.z;
            if u_n == 0.0 {
                self.compressing = rate.z < 0.0;
            }
            let to_zero = if u_n * rate.z < 0.0 {
                -u_n / rate.z
            } else {
                f64::INFINITY
            };
            let to_end = if self.compressing {
                f64::INFINITY
            } else {
                self.to_end(rate.z)
            };
            let length = to_zero.min(to_end).min(most);
            if !length.is_finite() {
                return None;
            }
            self.add_work(length * (u_n + 0.5 * rate.z * length));
            self.p += q * length;
            self.u += rate * length;
            if length == to_end {
                return Some(PhaseEnd::Over);
            } else if length == most {
                return Some(PhaseEnd::Stopped);
            }
            most -= length;
            self.u.z = 0.0;
        }
        None
    }

    /// Returns the length to the end of restitution, for a constant rate `rate` of the normal
    /// velocity; infinite if the end is not reached.
    fn to_end(&self, rate: f64) -> f64 {
        let u_n = self.u.z;
        let square = u_n * u_n + 2.0 * rate * self.remaining_work;
        if self.remaining_work <= 0.0 {
            0.0
        } else if square >= 0.0 && u_n + square.sqrt() > 0.0 {
            2.0 * self.remaining_work / (u_n + square.sqrt())
        } else {
            f64::INFINITY
        }
    }

    /// Adds normal work to `remaining_work`: compression adds `e²` times its work, restitution
    /// reduces it.
    fn add_work(&mut self, work: f64) {
        self.remaining_work -= if self.compressing { self.e_squared * work } else { work };
    }

    /// Advances to the end of the series or to the first event: a zero or an extremum of the normal
    /// velocity, or the end of the impact. Returns true at the end of the impact.
    fn turn(&mut self, series: &Series) -> bool {
        let mut end = series.end;
        let climb = |tau: f64| derivative(&series.u_n, tau);
        if self.u.z == 0.0 {
            self.compressing = climb(0.0) < 0.0;
        }
        if climb(0.0) * climb(end) < 0.0 {
            let extremum = change(climb(0.0), end, climb);
            // An extremum at the very start is that at which the previous step has ended.
            end = if extremum > 1e-6 * end { extremum } else { end };
        }
        let side = if self.compressing { -1.0 } else { 1.0 };
        let u_n = |tau: f64| value(&series.u_n, tau);
        let parts = u_n(end) * side < 0.0;
        if parts {
            end = change(side, end, u_n);
        }
        let left = |tau: f64| self.remaining_work - value(&series.work, tau);
        let over = !self.compressing && left(end) <= 0.0;
        if over {
            end = change(1.0, end, left);
        }
        self.u.z = if parts && !over { 0.0 } else { u_n(end) };
        self.add_work(value(&series.work, end));
        for i in 0..2 {
            self.u[i] = value(&series.u_T[i], end);
            self.p[i] += value(&series.p_T[i], end);
        }
        self.p.z += value(&series.p_n, end);
        over
    }
}

/// Coefficients of a Taylor series.
type Terms = [f64; ORDER + 1];

/// Taylor series of a step with changing slip direction, in the time `τ` divided by `scale`.
/// Impulses and work are counted from the start of the step.
struct Series {
    u_T: [Terms; 2],
    u_n: Terms,
    p_T: [Terms; 2],
    p_n: Terms,
    work: Terms,
    /// End of the step: the largest time at which the series is accurate.
    end: f64,
}

impl Series {
    /// Expands (4); the terms of `s = |u_T|` follow from `s² = u_T·u_T`.
    fn new(at: &Impact, alpha: f64, beta: f64, scale: f64) -> Self {
        let (alpha, beta) = (alpha / scale, beta / scale);
        let zero = [0.0; ORDER + 1];
        let mut s = zero;
        let mut series = Series {
            u_T: [zero; 2],
            u_n: zero,
            p_T: [zero; 2],
            p_n: zero,
            work: zero,
            end: 0.0,
        };
        for i in 0..2 {
            series.u_T[i][0] = at.u[i];
        }
        series.u_n[0] = at.u.z;
        let slip = at.u.xy().norm();
        s[0] = slip;
        for k in 0..ORDER {
            if k > 0 {
                let square: f64 = series.u_T.iter().map(|u| product(u, u, k, 0)).sum();
                s[k] = (square - product(&s, &s, k, 1)) / (2.0 * slip);
            }
            let per = 1.0 / (k + 1) as f64;
            series.p_n[k + 1] = alpha * s[k] * per;
            series.u_n[k + 1] = at.W_nn * series.p_n[k + 1];
            for i in 0..2 {
                let p = -beta * series.u_T[i][k] * per;
                series.p_T[i][k + 1] = p;
                series.u_T[i][k + 1] = at.lambda[i] * p + at.b[i] * series.p_n[k + 1];
                series.u_n[k + 1] += at.b[i] * p;
            }
            series.work[k + 1] = product(&series.u_n, &s, k, 0) / scale * per;
        }
        // The series of |u_T| may converge in a smaller radius than that of u_T, which without
        // coupling is infinite.
        let term = |k: usize| Vector3::new(series.u_T[0][k], series.u_T[1][k], s[k]).norm();
        let radius = |k: usize| libm::pow(slip / term(k), 1.0 / k as f64);
        series.end = libm::exp(-2.0) * radius(ORDER - 2).min(radius(ORDER - 1)).min(32.0);
        series
    }
}

/// Returns term `k` of the product of two series, without the first and the last `skip` summands.
fn product(a: &Terms, b: &Terms, k: usize, skip: usize) -> f64 {
    (skip..=k - skip).map(|j| a[j] * b[k - j]).sum()
}

fn value(terms: &Terms, tau: f64) -> f64 {
    terms.iter().rev().fold(0.0, |sum, term| sum * tau + term)
}

fn derivative(terms: &Terms, tau: f64) -> f64 {
    (1..=ORDER).rev().fold(0.0, |sum, k| sum * tau + terms[k] * k as f64)
}

/// Returns the point between 0 and `end` at which `f` changes its sign from that of `before`, by
/// bisection down to adjacent floating-point numbers.
fn change(before: f64, end: f64, f: impl Fn(f64) -> f64) -> f64 {
    let (mut low, mut high) = (0.0, end);
    // With little friction a series reaches far beyond the end of the impact: about 55 halvings
    // lead near the root, and as many again to full precision.
    for _ in 0..200 {
        let middle = f64::midpoint(low, high);
        if middle <= low || middle >= high {
            break;
        }
        if f(middle) * before > 0.0 {
            low = middle;
        } else {
            high = middle;
        }
    }
    high
}

/// Returns the quotient by components; a component whose divisor is not positive is zero.
fn divide(a: &Vector2<f64>, by: &Vector2<f64>) -> Vector2<f64> {
    a.zip_map(by, |a, by| if by > 0.0 { a / by } else { 0.0 })
}
