//! Steps defined by the equations: a residual for the midpoint rates, and the state at the end.
//!
//! ```text
//!     R(t, h, x₀; u) = 0,   x₁ = x₀ + h X(x₀, u)                                             (1)
//! ```
//!
//! The simplified Newton iteration keeps its Jacobian `∂R/∂u` over many steps while it converges
//! fast. Otherwise, as in steps with a stop or a contact, the Jacobian is evaluated at the current
//! iterate. The invariants are conserved to round-off only if (1) is solved to round-off,
//! regardless of the tolerance.

use super::ends::{Ends, Rule};
use super::equations::{Equations, Failure};
use super::landing::Trial;
use super::lanes::{first_not_finite, max_norm};
use super::lu::Lu;
use super::memory::{Age, Memory, Newton};
use super::newton::{Convergence, Limits, Origin, Progress, same_step, with_good_jacobian};
use super::{Ode, Settings, Span};

/// Stopping criterion for (1): corrections relative to a rate's magnitude, or to one unit if that
/// is larger. Stagnating corrections count as round-off: the round-off of a position of 100 m,
/// divided by a step of 10 ms, is 1e-12 m/s.
const LIMITS: Limits = Limits {
    target: f64::EPSILON,
    round_off: Newton::HIGHEST_FLOOR,
    iterations: 25,
};

/// Fraction of the round-off floor (the correction at which an iteration stagnated) to which later
/// steps iterate. A remaining error of the floor's size would add up: unlike round-off, it has the
/// same sign in every step.
const FLOOR: f64 = 1.0 / 16.0;

/// Ratio of a step's length to the last one above which starting values are not extrapolated.
const LONGER: f64 = 4.0;

/// Number of corrections, since the last new Jacobian of a step, above which the next step evaluates
/// the Jacobian anew.
const FEW: u32 = 6;

/// Contraction rate above which the Jacobian is evaluated anew within a step.
const SLOW: f64 = 0.1;
/// Maximum number of such evaluations in one iteration.
const RENEWALS: u32 = 3;

/// The workspace of conserving steps.
#[derive(Clone, Debug)]
pub(super) struct Conserving {
    /// Midpoint rates, their corrections, and the scales of these.
    u: Vec<f64>,
    du: Vec<f64>,
    scale: Vec<f64>,
    matrix: Lu<f64>,
    origin: Origin,
    /// Number of corrections of the last step, after its last new Jacobian.
    corrections: u32,
}

impl Conserving {
    /// Allocates for `rates` midpoint rates.
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

    /// Solves (1) for `u` by Newton's iteration; returns the number of corrections, counted anew
    /// after each new Jacobian within the step.
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
                // If the derivative at the start is not finite either, its error names a state.
                ends.evaluate_start(equations, t)?;
                return Err(Failure::NoConvergence);
            }
            self.matrix.solve(&mut self.du);
            for (u, du) in self.u.iter_mut().zip(&self.du) {
                *u -= du;
            }
            let progress = convergence.observe(max_norm(&self.du, &self.scale));
            // After divergence with an old Jacobian the iterate is too far from the solution for a
            // useful new Jacobian.
            let has_diverged = convergence.theta >= 1.0 && memory.newton.jacobian == Age::Old;
            let is_renewed = match progress {
                Progress::GoOn => convergence.theta > SLOW,
                // A stagnation is confirmed with a new Jacobian: corrections with an alternating
                // contraction rate also stagnate for one correction.
                Progress::Converged => convergence.floor.is_some() && !at_floor,
                Progress::WillNotConverge => !has_diverged,
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
                Progress::WillNotConverge => return Err(Failure::NoConvergence),
            }
        }
    }

    /// Evaluates the Jacobian at the current iterate into the memory.
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
            // Values that are not finite must not be stored: a saved state would be rejected.
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

    /// Factors the memory's Jacobian, unless its factors are stored.
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

    /// Sets the starting value: extrapolates linearly from the midpoint rates of the last step and
    /// the initial rates in `u` to the midpoint. After a much shorter step or without a last step,
    /// `u` stays unchanged.
    fn predict(&mut self, Span { t, h }: Span, memory: &Memory) {
        let Newton { t0, h: last, .. } = memory.newton;
        if last > 0.0 && t > t0 && h < LONGER * last {
            for (u, before) in self.u.iter_mut().zip(&memory.rows) {
                *u += (*u - before) * (h / last);
            }
        }
    }
}

/// Returns the stopping criterion with `left` remaining corrections.
fn limits(left: u32, memory: &Memory) -> Limits {
    Limits {
        target: LIMITS.target.max(FLOOR * memory.newton.floor),
        iterations: left,
        ..LIMITS
    }
}

impl Rule for Conserving {
    fn evaluations_per_step(&self) -> u64 {
        // Corrections, of which at least one follows each new Jacobian, and Jacobians; all twice,
        // for the repetition after an old Jacobian.
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
