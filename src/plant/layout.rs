use crate::elements::{Controller, Elements, Motor};

/// Counts of a model's event indicators, in their order.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    /// Number of the system's own indicators: of joint ranges, linear limits, surfaces, motors.
    pub with_limits: usize,
    /// Number of the surfaces' indicators, which are among the system's own.
    pub surfaces: usize,
    /// Number of all indicators: the system's own, those of a controller, and one for commands if
    /// there are any.
    pub indicators: usize,
}

impl Layout {
    pub fn new(elements: &Elements) -> Self {
        let surfaces = elements.with_detection().count();
        let with_limits = elements.ranges.len()
            + elements.deflection_limits.len()
            + surfaces
            + elements.motors.len() * Motor::INDICATORS;
        let controlled = elements
            .controllers
            .iter()
            .map(Controller::indicator_count)
            .sum::<usize>();
        Self {
            with_limits,
            surfaces,
            indicators: with_limits + controlled + usize::from(elements.are_commanded()),
        }
    }
}
