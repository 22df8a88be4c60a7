//! Allocation of a moment to reaction wheels, by least norm.

use crate::algebra::{Mat3, Scalar, Vec3, lift3};

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
