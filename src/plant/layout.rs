use super::controller::Controller;
use super::report::Report;
use crate::loads::{Loads, Motor};

/// Numbers of one capture: where the origin of a is in b, and how a is turned there.
pub(super) const POSE: usize = 12;

/// Where each kind begins among the modes, the discrete numbers and the event indicators of a model.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    // Modes: pieces of signals come first.
    /// Sides of ranges.
    pub ranges: usize,
    /// Sides of linear limits.
    pub limits: usize,
    /// Touches.
    pub touches: usize,
    /// Sides of motors.
    pub motors: usize,
    /// Motions of joints that are switched.
    pub motions: usize,
    /// Commands that have risen.
    pub commands: usize,
    /// Whether each capture holds.
    pub captures: usize,
    /// The rank of the rows of captures and loops, if there are any.
    pub rank: usize,
    /// Sides of a controller's torques.
    pub controlled: usize,
    /// How many there are.
    pub modes: usize,

    // Numbers: reports of contacts come first.
    /// Poses of captures, [`POSE`] each.
    pub poses: usize,
    /// Floors of touches.
    pub floors: usize,
    /// What a controller holds.
    pub samples: usize,
    /// Commands that were refused.
    pub refused: usize,
    /// How many there are.
    pub numbers: usize,

    /// Event indicators of what a mode watches in the craft: ranges, linear limits, touches, limits of motors. Those of a controller follow.
    pub watched: usize,
    /// Event indicators, with one that tells of commands if there are any.
    pub indicators: usize,
}

impl Layout {
    pub fn new(signals: usize, loads: &Loads, limits: usize, controller: Option<&Controller>) -> Self {
        let (touching, capturing) = (loads.touching().count(), loads.captures().count());
        let of_controller = |count: fn(&Controller) -> usize| controller.map_or(0, count);

        let first_limit = signals + loads.ranges.len();
        let touches = first_limit + limits;
        let motors = touches + touching;
        let motions = motors + loads.motors.len() * Motor::SIDES;
        let commands = motions + loads.switched();
        let captures = commands + loads.strikes.len();
        let rank = captures + capturing;
        let controlled = rank + usize::from(loads.closures() > 0);

        let poses = loads.contacts.len() * Report::COUNT;
        let floors = poses + capturing * POSE;
        let samples = floors + touching;
        let refused = samples + of_controller(Controller::number_count);

        let watched = motions - signals;
        let told = usize::from(loads.are_commanded());
        Self {
            ranges: signals,
            limits: first_limit,
            touches,
            motors,
            motions,
            commands,
            captures,
            rank,
            controlled,
            modes: controlled + of_controller(|controller| controller.axes.len()),
            poses,
            floors,
            samples,
            refused,
            numbers: refused + loads.drives.len(),
            watched,
            indicators: watched + of_controller(Controller::indicator_count) + told,
        }
    }
}
