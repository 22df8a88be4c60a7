//! Effective masses of frames.

use super::context::ConstantsOf;
use super::evaluation::Evaluation;
use super::{Discrete, Model};
use crate::algebra::{Scalar, Vec3, Wrench};
use crate::elements::EffectiveMass;
use crate::system::{Carrier, Configuration, FrameRef};

/// Effective mass of a frame that cannot move along an axis, kg or kg·m².
const IMMOVABLE: f64 = 1e15;

/// Response relative to the largest along the three axes below which it is round-off.
const LEAST_RESPONSE: f64 = 1e-12;

impl Model {
    /// Returns the index of the first effective mass among the outputs; they are the last ones.
    pub(super) fn first_effective_mass(&self) -> usize {
        self.outputs.len() - EffectiveMass::OUTPUTS * self.elements.effective_masses.len()
    }
}

impl<S: Scalar> Evaluation<S> {
    /// Writes the effective masses and inertias of frames into `y`, after the
    /// [derivatives](Self::derivative) at the same states and discrete state. Overwrites loads and
    /// accelerations.
    ///
    /// The effective mass `m` along an axis is the reciprocal of the response to a unit force there
    /// (a unit moment about the axis), with all other accelerations free:
    ///
    /// ```text
    ///     1/m = F·A − rᵀ W⁻¹ r,   r = J A                                             (1)
    /// ```
    ///
    /// `A` is the response of the frame, or of all bodies, to the unit wrench `F` without reactions
    /// of captures and loops, `J` and `W` are those of [`Closure`](super::closure::Closure).
    pub(super) fn effective_masses(&mut self, of: ConstantsOf<S>, discrete: &Discrete, y: &mut [S]) {
        let Self {
            kinematics,
            applied,
            dynamics,
            closure,
            qdd,
            ..
        } = self;
        let (system, at) = (&of.model.system, of.at(kinematics));
        let frames = of.model.elements.effective_masses.iter().map(|mass| mass.frame);
        for (frame, y) in frames.zip(y.chunks_exact_mut(EffectiveMass::OUTPUTS)) {
            for (i, y) in y.iter_mut().enumerate() {
                let (on, F) = unit_wrench(at, frame, i);
                applied.clear();
                applied.push(system, kinematics, on, F);
                dynamics.respond(at, applied, qdd);
                let A = dynamics.A();
                *y = F.power(&kinematics.beyond_bias_of(system, on, A, qdd));
                if let Some(closure) = closure {
                    *y -= closure.reduction(of, discrete, kinematics, A, qdd);
                }
            }
            y.chunks_exact_mut(3).for_each(invert);
        }
    }
}

/// Returns the carrier of a frame, and the unit force along the frame's axis `i` (below 3) or the
/// unit moment about axis `i − 3`, about the carrier's origin.
pub(super) fn unit_wrench<S: Scalar>(at: Configuration<S>, frame: FrameRef, i: usize) -> (Carrier, Wrench<S>) {
    let X_WF = at.arm(frame);
    let axis = X_WF.R.column(i % 3).into_owned();
    let F = match i {
        0..3 => Wrench::new(Vec3::zeros(), axis),
        _ => Wrench::new(axis, Vec3::zeros()),
    };
    (at.system.carrier(frame), F.shift(&X_WF.p))
}

/// Returns the response of three axes below which a frame cannot move along one.
pub(super) fn least_response<S: Scalar>(responses: &[S]) -> f64 {
    let largest = responses.iter().map(|response| response.value()).fold(0.0, f64::max);
    (LEAST_RESPONSE * largest).max(IMMOVABLE.recip())
}

/// Replaces the responses along three axes by the effective masses.
fn invert<S: Scalar>(responses: &mut [S]) {
    let least = least_response(responses);
    for response in responses {
        let mass = S::one() / *response;
        *response = S::select(response.exceeds(least), mass, S::lift(IMMOVABLE));
    }
}
