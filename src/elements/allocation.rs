//! Allocation of a moment to reaction wheels, by least norm, and to thrusters, by nonnegative least
//! squares.

use crate::algebra::{Mat3, Scalar, Vec3, lift3, spd};
use crate::system::ParamId;

/// Message for wheels of which [`are_in_a_plane`] is true.
pub(super) const IN_A_PLANE: &str = "the wheels' axes lie in a plane: they exert no torque along its normal";

/// Returns `A Aᵀ`, with the wheels' unit axes as the columns of `A`.
pub(super) fn spread(axes: impl Iterator<Item = Vec3<f64>>) -> Mat3<f64> {
    axes.map(|a| a * a.transpose()).sum()
}

/// Returns true if the axes of wheels with this [`spread`] do not span all three directions.
pub(super) fn are_in_a_plane(spread: &Mat3<f64>) -> bool {
    spread.determinant() < 1e-6
}

/// Returns the torque of a wheel's motor on its rotor, N·m: the wheel's component of the least-norm
/// solution `τ = −Aᵀ (A Aᵀ)⁻¹ M`, with the wheels' [`spread`] `A Aᵀ`, the unit axis of the wheel and
/// the moment `M` on the body (N·m, body axes). Zero if `A Aᵀ` is singular.
pub(super) fn wheel_torque<S: Scalar>(spread: &Mat3<f64>, axis: &Vec3<f64>, moment: &Vec3<S>) -> S {
    let shares = spread.try_inverse().map(|inverse| inverse * axis);
    shares.map_or_else(S::zero, |shares| -lift3::<S>(&shares).dot(moment))
}

/// Regularisation `ε²` of the levels of thrusters. It makes them unique and continuous, and changes
/// the moment by `ε²` relative to the weakest direction of the thrusters.
const REGULARISATION: f64 = 1e-8;

/// Relative residual above which thrusters do not exert a moment.
const RESIDUAL: f64 = 1e-2;

/// Largest number of Newton steps; ten are rarely needed.
const MOST_STEPS: usize = 64;

/// Thrusters that exert a moment together, with levels `x` that are not negative.
///
/// With the thrusters' torques `aᵢ` at full thrust, relative to the largest, and the moment `b` in the
/// same unit, the levels minimise `|Σ aᵢ xᵢ − b|² + ε² |x|²`: nonnegative least squares. They are
/// `xᵢ = max(0, aᵢ·y)`, where the multiplier `y` minimises the strictly convex, piecewise quadratic
///
/// ```text
///     φ(y) = ½ Σ max(0, aᵢ·y)² + ½ ε² |y|² − b·y
/// ```
///
/// by Newton's method with exact line search, which ends after finitely many steps. The equations
/// have three unknowns for any number of thrusters.
#[derive(Clone, Copy)]
pub(super) struct Thrusters<'a> {
    parameters: &'a [f64],
    /// First of three parameters of the first thruster; those of the others follow.
    torques: ParamId,
    count: usize,
    /// Largest component of a torque, N·m.
    scale: f64,
}

impl<'a> Thrusters<'a> {
    pub fn new(parameters: &'a [f64], torques: ParamId, count: usize) -> Self {
        let sizes = (0..count).map(|i| torques.nth(3 * i).vector(parameters).amax());
        let scale = sizes.fold(0.0, f64::max);
        Self {
            parameters,
            torques,
            count,
            scale: if scale > 0.0 { scale } else { 1.0 },
        }
    }

    /// Returns the torque of a thruster at full thrust, N·m, body axes.
    pub fn torque(&self, i: usize) -> Vec3<f64> {
        self.torques.nth(3 * i).vector(self.parameters)
    }

    fn relative(&self, i: usize) -> Vec3<f64> {
        self.torque(i) / self.scale
    }

    fn each(&self) -> impl Iterator<Item = Vec3<f64>> {
        let all = *self;
        (0..self.count).map(move |i| all.relative(i))
    }

    /// Returns the level of a thruster for a [multiplier](Self::multiplier), without the limit 1.
    pub fn level<S: Scalar>(&self, i: usize, y: &Vec3<S>) -> S {
        let level = lift3::<S>(&self.relative(i)).dot(y);
        S::select(level.exceeds(0.0), level, S::zero())
    }

    /// Returns the multiplier `y` of a moment (N·m, body axes).
    pub fn multiplier<S: Scalar>(&self, moment: &Vec3<S>) -> Vec3<S> {
        let b = moment.map(S::value) / self.scale;
        let mut y = b;
        for _ in 0..MOST_STEPS {
            let next = self.solved(&y, &b);
            let mut active = self.each().map(|a| (a.dot(&y) > 0.0) == (a.dot(&next) > 0.0));
            if active.all(|is_same| is_same) {
                break;
            }
            let along = next - y;
            let Some(s) = self.line_minimum(&y, &along, &b) else {
                break;
            };
            y += along * s;
        }
        self.solved(&y, &moment.map(|part| part * S::lift(1.0 / self.scale)))
    }

    /// Returns the Newton iterate `(Σ a aᵀ + ε²)⁻¹ b`, with the sum over the thrusters that are on at
    /// `y`.
    fn solved<S: Scalar>(&self, y: &Vec3<f64>, b: &Vec3<S>) -> Vec3<S> {
        let on = self.each().filter(|a| a.dot(y) > 0.0).map(|a| a * a.transpose());
        let matrix = on.fold(Mat3::identity() * REGULARISATION, |sum, part| sum + part);
        let mut factors = [0.0; 9];
        factors.copy_from_slice(matrix.as_slice());
        // The pivots are at least ε².
        if spd::factor(&mut factors, 3).is_err() {
            return Vec3::zeros();
        }
        let mut solution = [b.x, b.y, b.z];
        spd::solve(&factors.map(S::lift), &mut solution);
        Vec3::from(solution)
    }

    /// Returns the step `s` along the direction `d` from `y` that minimises `φ`; `None` without
    /// descent.
    fn line_minimum(&self, y: &Vec3<f64>, d: &Vec3<f64>, b: &Vec3<f64>) -> Option<f64> {
        // The derivative of φ along d: increasing, and linear between the steps at which a thruster
        // is switched on or off.
        let slope = |s: f64| {
            let at = y + d * s;
            let on = self.each().map(|a| a.dot(&at).max(0.0) * a.dot(d));
            on.sum::<f64>() + REGULARISATION * at.dot(d) - b.dot(d)
        };
        if slope(0.0) >= 0.0 {
            return None;
        }
        let (mut low, mut high) = (0.0, f64::INFINITY);
        for a in self.each() {
            let s = -a.dot(y) / a.dot(d);
            if s > low && s < high {
                if slope(s) < 0.0 { low = s } else { high = s }
            }
        }
        let other = if high.is_finite() { high } else { low + 1.0 };
        let (below, above) = (slope(low), slope(other));
        let s = low - below * (other - low) / (above - below);
        s.is_finite().then_some(s)
    }

    /// Returns a direction of the body axes along which the thrusters exert no moment, if there is
    /// one.
    pub fn missing_direction(&self) -> Option<Vec3<f64>> {
        let axes = [Vec3::x(), Vec3::y(), Vec3::z()];
        let mut directions = axes.into_iter().flat_map(|axis| [axis, -axis]);
        directions.find(|direction| {
            let y = self.multiplier(&(direction * self.scale));
            // The residual is b − Σ aᵢ xᵢ = ε² y.
            let residual = REGULARISATION * y.norm();
            residual.is_nan() || residual >= RESIDUAL
        })
    }
}
