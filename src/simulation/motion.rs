//! The plant as an ODE for the integrator.

use super::state::{self, INPUT_ORDER};
use crate::Error;
use crate::integrate::{Ahead, Ode, OwnStep, Span, Stage};
use crate::plant::{ConservingStep, Discrete, MeanRates, OperatingPoint, Plant, StateJacobian};

/// A plant with its inputs and a constant discrete state, as an [`Ode`].
pub(super) struct Motion<'a> {
    pub plant: &'a mut Plant,
    /// Time at which the inputs have the values in `inputs`, s.
    pub t_start: f64,
    /// Values of the inputs and of their time derivatives.
    pub inputs: (&'a [f64], &'a [Vec<f64>; INPUT_ORDER]),
    pub discrete: &'a Discrete,
    /// Workspace for extrapolated inputs.
    pub u: &'a mut [f64],
    pub state_jacobian: Option<&'a mut StateJacobian>,
    pub own_step: Option<&'a mut ConservingStep>,
    /// Results of the next attempt that were computed ahead; `None` if there are none for what is
    /// computed.
    pub ahead: Option<&'a Ahead>,
}

impl Ode for Motion<'_> {
    type Error = Error;

    fn derivative(&mut self, t: f64, x: &[f64], dx: &mut [f64]) -> Result<(), Error> {
        let (u, derivatives) = self.inputs;
        state::inputs_after(t - self.t_start, u, derivatives, self.u);
        let (u, discrete) = (&*self.u, self.discrete);
        self.plant.derivative(OperatingPoint { t, x, u, discrete }, dx)
    }

    fn derivative_at_end(&mut self, t: f64, x: &[f64], dx: &mut [f64]) -> Result<(), Error> {
        let (u, derivatives) = self.inputs;
        state::inputs_after(t - self.t_start, u, derivatives, self.u);
        let (u, discrete) = (&*self.u, self.discrete);
        self.plant.derivative_to_share(OperatingPoint { t, x, u, discrete }, dx)
    }

    fn jacobian(&mut self, t: f64, x: &[f64], jacobian: &mut [f64]) -> Result<bool, Error> {
        let Some(state_jacobian) = &mut self.state_jacobian else {
            return Ok(false);
        };
        let (u, derivatives) = self.inputs;
        state::inputs_after(t - self.t_start, u, derivatives, self.u);
        let (u, discrete) = (&*self.u, self.discrete);
        state_jacobian.evaluate(self.plant, OperatingPoint { t, x, u, discrete }, jacobian)?;
        Ok(true)
    }

    fn correct(
        &mut self,
        (t, theta): (f64, f64),
        x0: &[f64],
        g: &mut [f64],
        midpoint: &mut [f64],
    ) -> Result<(), Error> {
        let (u, derivatives) = self.inputs;
        state::inputs_after(t - self.t_start, u, derivatives, self.u);
        let at = OperatingPoint {
            t,
            x: x0,
            u: &*self.u,
            discrete: self.discrete,
        };
        self.plant.correct(at, theta, g, midpoint)
    }

    fn stage(&mut self, stage: Stage, x: &[f64], p: &[f64], k: &mut [f64]) -> Result<(), Error> {
        let (u, derivatives) = self.inputs;
        state::inputs_after(stage.t - self.t_start, u, derivatives, self.u);
        let at = OperatingPoint {
            t: stage.t,
            x,
            u: &*self.u,
            discrete: self.discrete,
        };
        self.plant.stage(at, stage, p, k)
    }

    /// By signals and extrapolated inputs. The reference orbit, which is slow, does not count.
    fn varies_in_time(&self, t: f64) -> bool {
        let (_, derivatives) = self.inputs;
        self.plant.signals_vary(t, self.discrete) || derivatives.iter().flatten().any(|d| *d != 0.0)
    }

    fn ahead(&self) -> Option<&Ahead> {
        self.ahead
    }

    fn own_step(&mut self) -> Option<&mut dyn OwnStep<Error = Error>> {
        self.own_step.is_some().then_some(self)
    }
}

impl Motion<'_> {
    /// Extrapolates the inputs to the midpoint of a step, into the workspace `u`.
    fn inputs_at_midpoint(&mut self, Span { t, h }: Span) {
        let (u, derivatives) = self.inputs;
        state::inputs_after(t + 0.5 * h - self.t_start, u, derivatives, self.u);
    }
}

impl OwnStep for Motion<'_> {
    type Error = Error;

    fn begin(&mut self, Span { t, .. }: Span, x: &[f64], u: &mut [f64]) -> Result<(), Error> {
        let step = self.own_step.as_deref_mut().ok_or_else(|| no_own_step(t))?;
        step.begin(self.plant, x, self.discrete, u);
        Ok(())
    }

    fn residual(&mut self, span: Span, u: &[f64], residual: &mut [f64]) -> Result<(), Error> {
        self.inputs_at_midpoint(span);
        let step = self.own_step.as_deref_mut().ok_or_else(|| no_own_step(span.t))?;
        let (inputs, discrete) = (&*self.u, self.discrete);
        step.residual(self.plant, span, MeanRates { u, inputs, discrete }, residual)
    }

    fn jacobian(&mut self, span: Span, u: &[f64], jacobian: &mut [f64]) -> Result<(), Error> {
        self.inputs_at_midpoint(span);
        let step = self.own_step.as_deref_mut().ok_or_else(|| no_own_step(span.t))?;
        let (inputs, discrete) = (&*self.u, self.discrete);
        step.jacobian(self.plant, span, MeanRates { u, inputs, discrete }, jacobian)
    }

    fn end(&mut self, span: Span, x0: &[f64], u: &[f64], x1: &mut [f64]) -> Result<(), Error> {
        let step = self.own_step.as_deref_mut().ok_or_else(|| no_own_step(span.t))?;
        step.end(self.plant, span, x0, u, x1);
        Ok(())
    }
}

/// Returns the error of a model without its own step.
fn no_own_step(t: f64) -> Error {
    let what = "the conserving step is for natural coordinates".to_owned();
    Error::Integration { t, what }
}
