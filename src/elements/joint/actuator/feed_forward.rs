//! Feed-forward of servos: the joints that have it. The torques are computed by
//! `plant::feed_forward`.

use crate::algebra::Scalar;
use crate::elements::{Elements, Instant};
use crate::spec::JointMotion;
use std::ops::Range;

/// Joint whose servo has a feed-forward torque: the inverse dynamics of the rigid spacecraft along
/// the reference.
#[derive(Clone, Debug)]
pub(crate) struct Fed {
    /// Index of the joint's child body.
    pub body: usize,
    /// Index of the first coordinate.
    pub coordinate: usize,
    /// Index of the first rate.
    pub rate: usize,
    /// Number of axes.
    pub axes: usize,
    /// Index of the first input of the reference positions; rates and accelerations below.
    pub q_ref: usize,
    pub qd_ref: usize,
    pub qdd_ref: usize,
    /// Index of the input that switches the servo.
    pub switch: usize,
    /// Index of the first torque input, if the joint has torque inputs.
    pub tau: Option<usize>,
    /// Indices of the joint's motors, if it has motors.
    pub motors: Option<Range<usize>>,
    /// Index of the joint's drive, if its motion can be prescribed or locked.
    pub drive: Option<usize>,
}

impl Fed {
    /// Returns true if the servo acts: it is on, and the joint is neither locked nor prescribed.
    pub fn is_on<S: Scalar>(&self, loads: &Elements, now: &Instant<S>) -> bool {
        let motion = self.drive.map(|drive| loads.drives[drive].motion_now(now.motions));
        now.inputs[self.switch].value() > 0.5 && motion.is_none_or(|motion| motion == JointMotion::Loads)
    }
}
