//! Steps that the equations know themselves: a residual for the mean rates of a step, and what the state is at its end.
//!
//! ```text
//!     R(t, h, x₀; u) = 0,   x₁ = x₀ + h X(x₀, u)                                             (1)
//! ```
//!
//! The simplified Newton iteration keeps its Jacobian `∂R/∂u` over many steps, as long as it converges fast; where it does not, as in steps that come to a stop or a contact, the Jacobian
//! is made anew where the iteration is. What (1) conserves is conserved to round-off only if it is solved to round-off, whatever the tolerance.

use super::ends::{Ends, Rule};
use super::equations::{Equations, Failure};
use super::landing::Trial;
use super::lanes::{first_not_finite, max_norm};
use super::lu::Lu;
use super::memory::{Age, Memory, Newton};
use super::newton::{Convergence, Limits, Origin, Progress, same_step, with_good_jacobian};
use super::{Ode, Settings, Span};

/// When (1) is solved: the errors are parts of a rate's magnitude, or of one unit of it if that is more. Corrections that do not fall any more are round-off: a place of 100 m and a
/// step of 10 ms leave a rate of 1e-12 m/s open.
const LIMITS: Limits = Limits {
    target: f64::EPSILON,
    round_off: Newton::HIGHEST_FLOOR,
    iterations: 25,
};

/// Once a correction has shown the round-off floor, later steps iterate until what is left is this part of it: what is left keeps its sign from step to step, round-off does not.
const FLOOR: f64 = 1.0 / 16.0;

/// A step so many times as long as the last is not predicted from it.
const LONGER: f64 = 4.0;

/// A Jacobian that takes more corrections than this is not used in the next step.
const FEW: u32 = 6;

/// A Jacobian by which an error falls by less than this in a correction is made anew within a step, so many times.
const SLOW: f64 = 0.1;
const RENEWALS: u32 = 3;

/// The workspace of conserving steps.
#[derive(Clone, Debug)]
pub(super) struct Conserving {
    /// Mean rates, their corrections, their scales.
    u: Vec<f64>,
    du: Vec<f64>,
    scale: Vec<f64>,
    matrix: Lu<f64>,
    origin: Origin,
    /// Of the last step.
    corrections: u32,
}

impl Conserving {
    /// For so many mean rates.
    pub fn new(rates: usize) -> Self {
        Self {
            u: vec![0.0; rates],
            du: vec![0.0; rates],
            scale: vec![0.0; rates],
            matrix: Lu::new(rates),
            origin: Origin::new(rates),
            corrections: 0,
        }
    }

    /// Solves (1) for `u`, from the rates at the start; gives the number of corrections.
    fn iterate<O: Ode + ?Sized>(
        &mut self,
        equations: &mut Equations<O>,
        span: Span,
        ends: &mut Ends,
        memory: &mut Memory,
    ) -> Result<u32, Failure<O::Error>> {
        let Span { t, h } = span;
        let own = equations.own_step(0)?;
        own.begin(span, &ends.x0, &mut self.u).map_err(Failure::Derivative)?;
        for (scale, u) in self.scale.iter_mut().zip(&self.u) {
            *scale = u.abs().max(1.0);
        }
        if memory.newton.jacobian == Age::None || !same_step(h, memory.newton.matrix_step) {
            self.linearise(equations, span, ends, memory)?;
        }
        self.factor(memory)?;
        self.predict(span, memory);
        let (mut renewals, mut at_floor) = (0, false);
        let mut left = LIMITS.iterations;
        let mut convergence = Convergence::of_fixed_step(limits(left, memory), memory.newton.jacobian);
        loop {
            let own = equations.own_step(1)?;
            own.residual(span, &self.u, &mut self.du).map_err(Failure::Derivative)?;
            if first_not_finite(&self.du).is_some() {
                // Where that is seen in the derivative, it has a state's name.
                ends.evaluate_start(equations, t)?;
                return Err(Failure::NoConvergence);
            }
            self.matrix.solve(&mut self.du);
            for (u, du) in self.u.iter_mut().zip(&self.du) {
                *u -= du;
            }
            let progress = convergence.observe(max_norm(&self.du, &self.scale));
            // From where an old Jacobian leads astray, a new one would hardly find back.
            let is_astray = convergence.theta >= 1.0 && memory.newton.jacobian == Age::Old;
            let is_renewed = match progress {
                Progress::GoOn => convergence.theta > SLOW,
                // Corrections that fall by turns, now much and now not at all, are not round-off yet.
                Progress::Converged => convergence.floor.is_some() && !at_floor,
                Progress::Hopeless => !is_astray,
            };
            if is_renewed && renewals < RENEWALS {
                at_floor = progress == Progress::Converged;
                (renewals, left) = (renewals + 1, left.saturating_sub(convergence.iterations));
                self.linearise(equations, span, ends, memory)?;
                self.factor(memory)?;
                convergence = Convergence::of_fixed_step(limits(left, memory), memory.newton.jacobian);
                continue;
            }
            match progress {
                Progress::GoOn => {}
                Progress::Converged => {
                    if let Some(floor) = convergence.floor {
                        memory.newton.floor = floor;
                    }
                    return Ok(convergence.iterations);
                }
                Progress::Hopeless => return Err(Failure::NoConvergence),
            }
        }
    }

    /// Makes the Jacobian anew, where the iteration is.
    fn linearise<O: Ode + ?Sized>(
        &mut self,
        equations: &mut Equations<O>,
        span: Span,
        ends: &mut Ends,
        memory: &mut Memory,
    ) -> Result<(), Failure<O::Error>> {
        let own = equations.own_step(self.u.len() as u64)?;
        let outcome = own.jacobian(span, &self.u, &mut memory.jacobian);
        let is_finite = first_not_finite(&memory.jacobian).is_none();
        if outcome.is_err() || !is_finite {
            // What is not finite must not be remembered: a saved state would be refused.
            memory.newton.jacobian = Age::None;
            memory.jacobian.fill(0.0);
        }
        outcome.map_err(Failure::Derivative)?;
        if !is_finite {
            ends.evaluate_start(equations, span.t)?;
            return Err(Failure::NoConvergence);
        }
        (memory.newton.jacobian, memory.newton.matrix_step, memory.newton.floor) = (Age::Fresh, span.h, 0.0);
        Ok(())
    }

    /// Factors the memory's Jacobian, if that is not done.
    fn factor<E>(&mut self, memory: &Memory) -> Result<(), Failure<E>> {
        if !self.origin.is(memory) {
            self.origin.forget();
            self.matrix
                .factor(0.0, 1.0, &memory.jacobian)
                .map_err(|_| Failure::NoConvergence)?;
            self.origin.set(memory);
        }
        Ok(())
    }

    /// From the rates at the start to those in the middle, on a straight line from the middle of the last step; not of a much shorter one, which would lead anywhere.
    fn predict(&mut self, Span { t, h }: Span, memory: &Memory) {
        let Newton { t0, h: last, .. } = memory.newton;
        if last > 0.0 && t > t0 && h < LONGER * last {
            for (u, before) in self.u.iter_mut().zip(&memory.rows) {
                *u += (*u - before) * (h / last);
            }
        }
    }
}

/// With so many corrections left.
fn limits(left: u32, memory: &Memory) -> Limits {
    Limits {
        target: LIMITS.target.max(FLOOR * memory.newton.floor),
        iterations: left,
        ..LIMITS
    }
}

impl Rule for Conserving {
    fn evaluations_per_step(&self) -> u64 {
        // Corrections, with one after each renewal at least, and Jacobians; twice, if the first is of an old one.
        let (corrections, jacobian) = (u64::from(LIMITS.iterations + RENEWALS), self.u.len() as u64);
        2 * (corrections + u64::from(RENEWALS) * jacobian) + jacobian
    }

    fn solve<O: Ode + ?Sized>(
        &mut self,
        equations: &mut Equations<O>,
        t: f64,
        trial: Trial,
        _: &Settings,
        ends: &mut Ends,
        memory: &mut Memory,
    ) -> Result<(), Failure<O::Error>> {
        let span = Span { t, h: trial.h };
        self.corrections = with_good_jacobian(memory, |memory| self.iterate(equations, span, ends, memory))?;
        let own = equations.own_step(0)?;
        own.end(span, &ends.x0, &self.u, &mut ends.x1)
            .map_err(Failure::Derivative)
    }

    fn remember(&self, memory: &mut Memory) {
        memory.rows.copy_from_slice(&self.u);
        memory.newton.jacobian = if self.corrections > FEW { Age::None } else { Age::Old };
    }
}
