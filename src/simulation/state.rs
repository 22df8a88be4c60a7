use crate::integrate::{Memory, Settings};
use crate::plant::{Discrete, Model};

/// Highest derivative of an input that a host can give.
pub const INPUT_ORDER: usize = 3;

/// Everything besides the parameters that decides how a run goes on: exactly what a saved FMU state holds.
#[derive(Debug, PartialEq)]
pub struct State {
    /// Time, s.
    pub t: f64,
    /// Coordinates, rates, work.
    pub x: Vec<f64>,
    /// The host's inputs at `t`.
    pub u: Vec<f64>,
    /// Their derivatives of order 1, 2, … at `t`, per sᵏ.
    pub u_derivatives: [Vec<f64>; INPUT_ORDER],
    /// What changes at events only.
    pub discrete: Discrete,
    /// References of the run's monitoring.
    pub monitored: Monitored,
    /// The integrator's.
    pub memory: Memory,
}

/// References of a run's monitoring.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Monitored {
    /// `E − W` at the start, J.
    pub balance: f64,
    /// Largest `T + |W|` so far, J.
    pub energy: f64,
    /// Accepted steps since the balance was compared last; [`BEFORE`](Self::BEFORE) the start of the run,
    /// [`ANEW`](Self::ANEW) where the balance starts anew.
    pub steps: f64,
    /// Largest sine, since the last event, of the least angle between a row of captures and loops and the others.
    pub sine: f64,
}

impl Monitored {
    /// The run has not begun.
    pub const BEFORE: f64 = -1.0;
    /// Parameters have changed, and with them the balance.
    pub const ANEW: f64 = -2.0;

    /// Nothing is known yet.
    pub const NOTHING: Self = Self {
        balance: 0.0,
        energy: 0.0,
        steps: Self::BEFORE,
        sine: 0.0,
    };

    /// All of it.
    pub fn numbers(&self) -> [f64; 4] {
        [self.balance, self.energy, self.steps, self.sine]
    }

    /// All of it, mutable.
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
        }
    }

    /// Copies without taking memory, between states of the same model and integrator.
    fn clone_from(&mut self, source: &Self) {
        let Self {
            t,
            x,
            u,
            u_derivatives,
            discrete,
            monitored,
            memory,
        } = self;
        *t = source.t;
        x.clone_from(&source.x);
        u.clone_from(&source.u);
        u_derivatives.clone_from(&source.u_derivatives);
        discrete.clone_from(&source.discrete);
        *monitored = source.monitored;
        memory.clone_from(&source.memory);
    }
}

impl State {
    /// Room for a model and its integrator, inputs at their starts.
    pub fn new(model: &Model, settings: &Settings) -> Self {
        Self {
            t: 0.0,
            x: vec![0.0; model.states.len()],
            u: model.inputs.iter().map(|input| input.start).collect(),
            u_derivatives: std::array::from_fn(|_| vec![0.0; model.inputs.len()]),
            discrete: Discrete::new(model),
            monitored: Monitored::NOTHING,
            memory: Memory::new(settings),
        }
    }

    /// Moves the point around which the inputs are expanded by `way` (s): Taylor's shift.
    pub(super) fn shift_inputs(&mut self, way: f64) {
        for i in 0..self.u.len() {
            let [d1, d2, d3] = [0, 1, 2].map(|k| self.u_derivatives[k][i]);
            self.u[i] = taylor(self.u[i], [d1, d2, d3], way);
            self.u_derivatives[0][i] = taylor(d1, [d2, d3, 0.0], way);
            self.u_derivatives[1][i] = taylor(d2, [d3, 0.0, 0.0], way);
        }
    }

    /// The first input that, `way` (s) from here, is beyond all numbers, or has a derivative that is.
    pub(super) fn first_overflow(&self, way: f64) -> Option<usize> {
        (0..self.u.len()).find(|&i| {
            let [d1, d2, d3] = [0, 1, 2].map(|k| self.u_derivatives[k][i]);
            let after = [
                taylor(self.u[i], [d1, d2, d3], way),
                taylor(d1, [d2, d3, 0.0], way),
                taylor(d2, [d3, 0.0, 0.0], way),
            ];
            !after.iter().all(|number| number.is_finite())
        })
    }

    /// From now on the inputs are constant.
    pub(super) fn clear_input_derivatives(&mut self) {
        for order in &mut self.u_derivatives {
            order.fill(0.0);
        }
    }
}

/// The inputs `way` (s) after the point at which they have the value `u` and the derivatives.
#[inline]
pub(super) fn inputs_after(way: f64, u: &[f64], derivatives: &[Vec<f64>; INPUT_ORDER], out: &mut [f64]) {
    for (i, out) in out.iter_mut().enumerate() {
        *out = taylor(u[i], [derivatives[0][i], derivatives[1][i], derivatives[2][i]], way);
    }
}

/// `u + u′ s + u″ s²/2 + u‴ s³/6`.
#[inline]
fn taylor(u: f64, [d1, d2, d3]: [f64; 3], s: f64) -> f64 {
    u + s * (d1 + s * (d2 / 2.0 + s * (d3 / 6.0)))
}
