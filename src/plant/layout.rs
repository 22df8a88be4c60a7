use super::controller::Controller;
use crate::elements::{Elements, Motor};

/// Counts of a model's event indicators, in their order.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    /// Number for limit states of the system: joint ranges, linear limits, surfaces, motors.
    pub watched: usize,
    /// Number for surfaces among them.
    pub surfaces: usize,
    /// Number of all: with those of a controller, and one for commands if there are any.
    pub indicators: usize,
}

impl Layout {
    pub fn new(loads: &Elements, limits: usize, controller: Option<&Controller>) -> Self {
        let surfaces = loads.touching().count();
        let watched = loads.ranges.len() + limits + surfaces + loads.motors.len() * Motor::INDICATORS;
        let controlled = controller.map_or(0, Controller::indicator_count);
        Self {
            watched,
            surfaces,
            indicators: watched + controlled + usize::from(loads.are_commanded()),
        }
    }
}
