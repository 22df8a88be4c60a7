//! Loads that are recorded for adjoint derivatives.

use super::gravity::Attracted;
use super::{Elements, Port};
use crate::system::System;

impl Elements {
    /// Returns a copy without the loads that [`add_beam_adjoint`](super::add_beam_adjoint),
    /// [`GravityAdjoint`](super::GravityAdjoint) and [`FrameAdjoint`](super::FrameAdjoint)
    /// differentiate; `None` if there are no such loads.
    pub(crate) fn recorded(&self, system: &System) -> Option<Self> {
        let is_on_body = |port: &Port| !port.is_on_beam(system);
        let is_any = !self.gravity.is_empty()
            || !self.ancf_beams.is_empty()
            || !self.interfaces.is_empty()
            || self.ports.iter().any(is_on_body);
        is_any.then(|| {
            let mut recorded = Self {
                interfaces: Vec::new(),
                ..self.without_forces_of_beams(Attracted::None)
            };
            recorded.ports.retain(|port| !is_on_body(port));
            recorded.classify();
            recorded
        })
    }
}
