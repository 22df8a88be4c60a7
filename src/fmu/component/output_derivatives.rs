use super::{Component, Fault, Known};
use crate::Error;
use crate::fmu::registry::Slot;

/// Half the interval of the difference quotient, s. With states and outputs of order one it leaves about
/// 1e-11 of round-off, and a relative error of (ω·1e-5)²/6 at angular frequency ω (rad/s).
const HALF_INTERVAL: f64 = 1e-5;

/// Room for output derivatives.
#[derive(Clone, Debug)]
pub(super) struct Slopes {
    x: Vec<f64>,
    /// Derivatives and outputs a little later, and then the slopes.
    dx: Vec<f64>,
    y: Vec<f64>,
    /// A little earlier.
    dx_before: Vec<f64>,
    y_before: Vec<f64>,
}

impl Slopes {
    pub(super) fn new(nx: usize, ny: usize) -> Self {
        Self {
            x: vec![0.0; nx],
            dx: vec![0.0; nx],
            y: vec![0.0; ny],
            dx_before: vec![0.0; nx],
            y_before: vec![0.0; ny],
        }
    }
}

/// Output derivatives (§4.2.1).
impl Component {
    /// Time derivatives of outputs at the communication point, in their unit per second to the order's
    /// power: `fmi2GetRealOutputDerivatives`.
    ///
    /// A state's is exact. Another output's is the central difference along the motion,
    ///
    /// ```text
    ///     ẏ ≈ (y(t + δ, x + δẋ, u) − y(t − δ, x − δẋ, u)) / 2δ,   δ = 1e-5 s
    /// ```
    ///
    /// with the inputs held, since nobody knows yet where the host will move them. Orders above one are
    /// zero, as the standard has it for what is not available.
    ///
    /// # Errors
    /// `fmi2Error` for what is no real output or an order below one; what an evaluation says.
    pub fn get_real_output_derivatives(
        &mut self,
        references: &[u32],
        orders: &[i32],
        values: &mut [f64],
    ) -> Result<(), Fault> {
        let mut differences = false;
        for (&reference, &order) in references.iter().zip(orders) {
            let slot = self.slot(reference)?;
            match slot {
                Slot::State(_) => {}
                Slot::Derivative(_) | Slot::Output(_) => differences |= order == 1,
                Slot::Parameter(_) | Slot::Input(_) | Slot::Flag(_) => {
                    let name = self.registry.name(slot);
                    return Err(Fault::error(format!(
                        "{name} is no real output, so it has no output derivative"
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
        self.know(Known::Derivatives)?;
        if differences {
            self.difference()?;
        }
        for ((&reference, &order), value) in references.iter().zip(orders).zip(values) {
            let slopes = self.slopes.as_ref();
            let slope = match self.slot(reference)? {
                Slot::State(i) => Some(self.dx[i]),
                Slot::Derivative(i) => slopes.map(|s| s.dx[i]),
                Slot::Output(i) => slopes.map(|s| s.y[i]),
                Slot::Parameter(_) | Slot::Input(_) | Slot::Flag(_) => None,
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

    fn difference(&mut self) -> Result<(), Fault> {
        let Some(slopes) = self.slopes.as_mut() else {
            return Err(Fault::error("output derivatives belong to Co-Simulation"));
        };
        let state = &self.simulation.state;
        let plant = &mut self.simulation.plant;
        let Slopes {
            x,
            dx,
            y,
            dx_before,
            y_before,
        } = slopes;
        for (delta, dx, y) in [
            (-HALF_INTERVAL, dx_before, y_before),
            (HALF_INTERVAL, &mut *dx, &mut *y),
        ] {
            for ((x, &x_now), &dx_now) in x.iter_mut().zip(&state.x).zip(&self.dx) {
                *x = x_now + delta * dx_now;
            }
            plant.evaluate(state.t + delta, (x, &state.u, &state.discrete), dx, y)?;
        }
        for (later, before) in slopes.dx.iter_mut().zip(&slopes.dx_before) {
            *later = (*later - before) / (2.0 * HALF_INTERVAL);
        }
        for (later, before) in slopes.y.iter_mut().zip(&slopes.y_before) {
            *later = (*later - before) / (2.0 * HALF_INTERVAL);
        }
        Ok(())
    }
}
