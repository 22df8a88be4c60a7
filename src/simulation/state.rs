use crate::integrate::{Memory, Settings};
use crate::plant::{Discrete, Model, OperatingPoint};

/// Highest order of the input derivatives that an importer can set.
pub const INPUT_ORDER: usize = 3;

/// The complete state of a run without the parameters; a saved FMU state contains it.
#[derive(Debug, PartialEq)]
pub struct State {
    /// Time, s.
    pub t: f64,
    /// Continuous states: coordinates, rates, work integral.
    pub x: Vec<f64>,
    /// Inputs at `t`; during a call of `advance` those at its beginning.
    pub u: Vec<f64>,
    /// Time derivatives of the inputs, orders 1 to 3, at the time of `u`; order `k` per sᵏ.
    pub u_derivatives: [Vec<f64>; INPUT_ORDER],
    /// Discrete state: changes at events only.
    pub discrete: Discrete,
    /// Reference values of the run's monitoring.
    pub monitored: Monitored,
    /// Memory of the integrator.
    pub memory: Memory,
    /// Knowledge of events at the present time, for [`EventHandling::AtEvents`] and
    /// [`EventHandling::AtEnd`].
    ///
    /// [`EventHandling::AtEvents`]: super::EventHandling::AtEvents
    /// [`EventHandling::AtEnd`]: super::EventHandling::AtEnd
    pub due: DueEvent,
}

/// Knowledge of events at the present time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum DueEvent {
    /// Not known: events are looked for when the next step begins.
    #[default]
    Unknown,
    /// An event was found that has not been handled.
    Pending,
    /// All events have been handled.
    Handled,
}

/// Reference values of a run's monitoring.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Monitored {
    /// Energy less work, `E − W`, at the start of the run or after the last change of parameters,
    /// J.
    pub balance: f64,
    /// Largest kinetic energy plus work, `T + |W|`, of all checks since then, J.
    pub energy: f64,
    /// Number of accepted steps since the last check of the balance; [`BEFORE`](Self::BEFORE) if
    /// the run has not begun, [`ANEW`](Self::ANEW) if the balance starts anew at the next check.
    pub steps: f64,
    /// Largest value since the last event of the sine of the smallest angle between one constraint
    /// row of captures and loops and the others.
    pub sine: f64,
}

impl Monitored {
    /// Value of `steps` before the run begins.
    pub const BEFORE: f64 = -1.0;
    /// Value of `steps` after a change of parameters, which makes the stored balance invalid.
    pub const ANEW: f64 = -2.0;

    /// Values before a run.
    pub const NOTHING: Self = Self {
        balance: 0.0,
        energy: 0.0,
        steps: Self::BEFORE,
        sine: 0.0,
    };

    /// Returns all values, to save them.
    pub fn numbers(&self) -> [f64; 4] {
        [self.balance, self.energy, self.steps, self.sine]
    }

    /// Returns references to all values in the order of [`numbers`](Self::numbers), to restore
    /// them.
    pub fn numbers_mut(&mut self) -> [&mut f64; 4] {
        [&mut self.balance, &mut self.energy, &mut self.steps, &mut self.sine]
    }
}

impl Clone for State {
    fn clone(&self) -> Self {
        Self {
            t: self.t,
            x: self.x.clone(),
            u: self.u.clone(),
            u_derivatives: self.u_derivatives.clone(),
            discrete: self.discrete.clone(),
            monitored: self.monitored,
            memory: self.memory.clone(),
            due: self.due,
        }
    }

    /// Copies without allocation between states of the same model and integrator.
    fn clone_from(&mut self, source: &Self) {
        let Self {
            t,
            x,
            u,
            u_derivatives,
            discrete,
            monitored,
            memory,
            due,
        } = self;
        *t = source.t;
        x.clone_from(&source.x);
        u.clone_from(&source.u);
        u_derivatives.clone_from(&source.u_derivatives);
        discrete.clone_from(&source.discrete);
        *monitored = source.monitored;
        memory.clone_from(&source.memory);
        *due = source.due;
    }
}

impl State {
    /// Returns the operating point at `t`, with the inputs extrapolated from `t_start` (s), the
    /// time of their values, into `u`.
    pub fn extrapolated<'a>(&'a self, t_start: f64, u: &'a mut [f64]) -> OperatingPoint<'a> {
        inputs_after(self.t - t_start, &self.u, &self.u_derivatives, u);
        OperatingPoint { u, ..self.point() }
    }

    /// Copies time, states, discrete state and the inputs, extrapolated from `t_start` (s), to
    /// another state of the same model.
    pub fn copy_point(&self, t_start: f64, to: &mut Self) {
        to.t = self.t;
        to.x.copy_from_slice(&self.x);
        inputs_after(self.t - t_start, &self.u, &self.u_derivatives, &mut to.u);
        to.discrete.clone_from(&self.discrete);
    }

    /// Returns true if an input has a derivative that is not zero.
    pub fn inputs_move(&self) -> bool {
        self.u_derivatives.iter().flatten().any(|d| *d != 0.0)
    }

    /// Returns the operating point, with the stored inputs.
    pub fn point(&self) -> OperatingPoint<'_> {
        OperatingPoint {
            t: self.t,
            x: &self.x,
            u: &self.u,
            discrete: &self.discrete,
        }
    }

    /// Creates the state for a model and its integrator, with inputs at their start values.
    pub fn new(model: &Model, settings: &Settings) -> Self {
        Self {
            t: 0.0,
            x: vec![0.0; model.states.len()],
            u: model.inputs.iter().map(|input| input.start).collect(),
            u_derivatives: std::array::from_fn(|_| vec![0.0; model.inputs.len()]),
            discrete: model.discrete(),
            monitored: Monitored::NOTHING,
            memory: Memory::new(settings),
            due: DueEvent::Unknown,
        }
    }

    /// Replaces the values and derivatives of the inputs by those `dt` (s) later (Taylor shift).
    pub(super) fn shift_inputs(&mut self, dt: f64) {
        for i in 0..self.u.len() {
            let [d1, d2, d3] = [0, 1, 2].map(|k| self.u_derivatives[k][i]);
            self.u[i] = taylor(self.u[i], [d1, d2, d3], dt);
            self.u_derivatives[0][i] = taylor(d1, [d2, d3, 0.0], dt);
            self.u_derivatives[1][i] = taylor(d2, [d3, 0.0, 0.0], dt);
        }
    }

    /// Returns the index of the first input whose value or derivative overflows when extrapolated
    /// by `dt` (s).
    pub(super) fn first_overflow(&self, dt: f64) -> Option<usize> {
        (0..self.u.len()).find(|&i| {
            let [d1, d2, d3] = [0, 1, 2].map(|k| self.u_derivatives[k][i]);
            let after = [
                taylor(self.u[i], [d1, d2, d3], dt),
                taylor(d1, [d2, d3, 0.0], dt),
                taylor(d2, [d3, 0.0, 0.0], dt),
            ];
            !after.iter().all(|number| number.is_finite())
        })
    }

    /// Sets the input derivatives to zero.
    pub(super) fn clear_input_derivatives(&mut self) {
        for order in &mut self.u_derivatives {
            order.fill(0.0);
        }
    }
}

/// Computes the inputs `dt` (s) after the time at which they have the values `u` and these
/// derivatives.
#[inline]
pub(super) fn inputs_after(dt: f64, u: &[f64], derivatives: &[Vec<f64>; INPUT_ORDER], out: &mut [f64]) {
    for (i, out) in out.iter_mut().enumerate() {
        *out = taylor(u[i], [derivatives[0][i], derivatives[1][i], derivatives[2][i]], dt);
    }
}

/// Returns `u + u′ s + u″ s²/2 + u‴ s³/6`.
#[inline]
fn taylor(u: f64, [d1, d2, d3]: [f64; 3], s: f64) -> f64 {
    u + s * (d1 + s * (d2 / 2.0 + s * (d3 / 6.0)))
}
