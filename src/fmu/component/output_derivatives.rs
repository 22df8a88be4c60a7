use super::directional::Directions;
use super::{Cached, Component, Fault};
use crate::Error;
use crate::fmu::registry::{Slot, ValueType};

/// Derivatives of outputs with respect to time (§4.2.1).
impl Component {
    /// Returns time derivatives of outputs at the communication point, in the output's unit per
    /// second to the power of the order: `fmi2GetRealOutputDerivatives`.
    ///
    /// They are exact (dual numbers along the motion), with the importer's inputs constant, since
    /// their future values are unknown:
    ///
    /// ```text
    ///     ẏ = ∂y/∂t + ∂y/∂x ẋ
    /// ```
    ///
    /// Orders above one are zero, as the standard prescribes for orders that are not available.
    ///
    /// # Errors
    /// `fmi2Error` for a variable that is not a real output or an order below one; those of an
    /// evaluation.
    pub fn get_real_output_derivatives(
        &mut self,
        references: &[u32],
        orders: &[i32],
        values: &mut [f64],
    ) -> Result<(), Fault> {
        let mut beyond_states = false;
        for (&reference, &order) in references.iter().zip(orders) {
            let slot = self.slot(reference)?;
            let is_real = self.registry.value_type(slot) == ValueType::Real;
            match slot {
                Slot::State(_) => {}
                Slot::Derivative(_) => beyond_states |= order == 1,
                Slot::Output(_) if is_real => beyond_states |= order == 1,
                Slot::Parameter(_) | Slot::Input(_) | Slot::Output(_) | Slot::Time | Slot::Indicator(_) => {
                    let name = self.registry.name(slot);
                    return Err(Fault::error(format!(
                        "{name} is not a real output, so it has no output derivative"
                    )));
                }
            }
            if order < 1 {
                let name = self.registry.name(slot);
                return Err(Fault::error(format!(
                    "derivative of order {order} of {name}: orders start at 1"
                )));
            }
        }
        self.evaluate_up_to(Cached::Derivatives)?;
        if beyond_states {
            self.differentiate_in_time()?;
        }
        for ((&reference, &order), value) in references.iter().zip(orders).zip(values) {
            let slopes = self.directions.as_ref();
            let slope = match self.slot(reference)? {
                Slot::State(i) => Some(self.dx[i]),
                Slot::Derivative(i) => slopes.map(|s| s.dx[i]),
                Slot::Output(i) => slopes.map(|s| s.y[i]),
                Slot::Parameter(_) | Slot::Input(_) | Slot::Time | Slot::Indicator(_) => None,
            };
            *value = slope.filter(|_| order == 1).unwrap_or(0.0);
            if !value.is_finite() {
                let name = self.registry.name(self.slot(reference)?);
                let (variable, t) = (format!("the time derivative of {name}"), self.simulation.state.t);
                return Err(Error::NotFinite { variable, t }.into());
            }
        }
        Ok(())
    }

    /// Computes the second time derivatives of the states and the first of the outputs into the
    /// workspace.
    fn differentiate_in_time(&mut self) -> Result<(), Fault> {
        let mut directions = self.take_directions();
        let Directions { tangent, dx, y, .. } = &mut *directions;
        let (plant, state) = (&self.simulation.plant, &self.simulation.state);
        let outcome = tangent.evaluate_along_motion(plant, state.point(), &self.dx, dx, y);
        self.directions = Some(directions);
        Ok(outcome?)
    }
}
