//! Steps that the equations know themselves: a residual for the mean rates of a step, and what the state is at its end.
//!
//! ```text
//!     R(t, h, x₀; u) = 0,   x₁ = x₀ + h X(x₀, u)                                             (1)
//! ```
//!
//! The simplified Newton iteration keeps its Jacobian `∂R/∂u` over many steps, as long as it converges fast. What (1) conserves is conserved to round-off only if it is solved to round-off,
//! whatever the tolerance.

use super::dense::{Dense, hermite};
use super::equations::{Equations, Failure, check_finite};
use super::landing::Trial;
use super::lanes::max_norm;
use super::lu::Lu;
use super::memory::{Age, Memory};
use super::newton::{Origin, same_step};
use super::work::{Attempt, OneStep};
use super::{Ode, Settings, Span};

/// The last correction, as a part of a rate's magnitude or of one unit of it if that is more.
const SOLVED: f64 = 4.0 * f64::EPSILON;

/// Corrections that do not fall any more are round-off up to here: a place of 100 m and a step of 10 ms leave a rate of 1e-12 m/s open.
const ROUND_OFF: f64 = 1e6 * f64::EPSILON;

/// Corrections in a step, and no more.
const MOST: u32 = 25;

/// A Jacobian that takes more corrections than this is not used in the next step.
const FEW: u32 = 10;

/// The workspace of conserving steps.
#[derive(Clone, Debug)]
pub(super) struct Conserving {
    x0: Vec<f64>,
    x1: Vec<f64>,
    /// Mean rates, their corrections, their scales.
    u: Vec<f64>,
    du: Vec<f64>,
    scale: Vec<f64>,
    matrix: Lu<f64>,
    origin: Origin,
    /// Derivatives at both ends, and the polynomial, for the dense output.
    f0: Vec<f64>,
    f1: Vec<f64>,
    rows: Vec<f64>,
    /// Start, end, length and whether the rows are written, of the last step.
    last: Option<(f64, f64, f64, bool)>,
}

impl Conserving {
    /// For `n` states and as many mean rates.
    pub fn new(n: usize, rates: usize) -> Self {
        Self {
            x0: vec![0.0; n],
            x1: vec![0.0; n],
            u: vec![0.0; rates],
            du: vec![0.0; rates],
            scale: vec![0.0; rates],
            matrix: Lu::new(rates),
            origin: Origin::new(rates),
            f0: vec![0.0; n],
            f1: vec![0.0; n],
            rows: vec![0.0; 3 * n],
            last: None,
        }
    }

    /// Solves (1) for `u`, from the rates at the start; gives the number of corrections.
    fn solve<O: Ode + ?Sized>(
        &mut self,
        equations: &mut Equations<O>,
        t: f64,
        h: f64,
        memory: &mut Memory,
    ) -> Result<u32, Failure<O::Error>> {
        let span = Span { t, h };
        let own = equations.own_step(0)?;
        own.begin(span, &self.x0, &mut self.u).map_err(Failure::Derivative)?;
        for (scale, u) in self.scale.iter_mut().zip(&self.u) {
            *scale = u.abs().max(1.0);
        }
        if memory.newton.jacobian == Age::None || !same_step(h, memory.newton.matrix_step) {
            let own = equations.own_step(self.u.len() as u64)?;
            own.jacobian(span, &self.u, &mut memory.jacobian)
                .map_err(Failure::Derivative)?;
            check_finite(&memory.jacobian)?;
            (memory.newton.jacobian, memory.newton.matrix_step) = (Age::Fresh, h);
        }
        if !self.origin.is(memory) {
            self.origin.forget();
            self.matrix
                .factor(0.0, 1.0, &memory.jacobian)
                .map_err(|_| Failure::NoConvergence)?;
            self.origin.set(memory);
        }
        let mut last = f64::INFINITY;
        for corrections in 1..=MOST {
            let own = equations.own_step(1)?;
            own.residual(span, &self.u, &mut self.du).map_err(Failure::Derivative)?;
            self.matrix.solve(&mut self.du);
            for (u, du) in self.u.iter_mut().zip(&self.du) {
                *u -= du;
            }
            let correction = max_norm(&self.du, &self.scale);
            let falls = correction < 0.9 * last;
            if correction <= SOLVED || (correction <= ROUND_OFF && !falls) {
                return Ok(corrections);
            }
            if !falls {
                break;
            }
            last = correction;
        }
        Err(Failure::NoConvergence)
    }
}

impl OneStep for Conserving {
    fn evaluations_per_step(&self) -> u64 {
        2 * u64::from(MOST) + self.u.len() as u64 + 2
    }

    fn start<O: Ode + ?Sized>(&mut self, _: &mut Equations<O>, _: f64, x: &[f64]) -> Result<(), Failure<O::Error>> {
        self.last = None;
        self.x0.copy_from_slice(x);
        Ok(())
    }

    fn attempt<O: Ode + ?Sized>(
        &mut self,
        equations: &mut Equations<O>,
        t: f64,
        trial: Trial,
        _: &Settings,
        memory: &mut Memory,
    ) -> Result<Attempt, Failure<O::Error>> {
        let corrections = match self.solve(equations, t, trial.h, memory) {
            Err(Failure::NoConvergence) if memory.newton.jacobian == Age::Old => {
                memory.newton.jacobian = Age::None;
                self.solve(equations, t, trial.h, memory)
            }
            solved => solved,
        }?;
        let span = Span { t, h: trial.h };
        equations.own_step(0)?.end(span, &self.x0, &self.u, &mut self.x1);
        check_finite(&self.x1)?;
        memory.newton.jacobian = if corrections > FEW { Age::None } else { Age::Old };
        self.last = Some((t, trial.t1, trial.h, false));
        Ok(Attempt {
            norm: 0.0,
            caution: 1.0,
        })
    }

    fn x1(&self) -> &[f64] {
        &self.x1
    }

    fn last_step(&self) -> Option<(f64, f64)> {
        self.last.map(|(t0, _, h, _)| (t0, h))
    }

    /// The cubic Hermite interpolant of both ends.
    fn dense<O: Ode + ?Sized>(&mut self, equations: &mut Equations<O>) -> Result<Option<Dense<'_>>, Failure<O::Error>> {
        let Some((t0, t1, h, written)) = self.last else {
            return Ok(None);
        };
        if !written {
            equations.derivative(t0, &self.x0, &mut self.f0)?;
            equations.derivative(t1, &self.x1, &mut self.f1)?;
            hermite(h, (&self.x0, &self.f0), (&self.x1, &self.f1), &mut self.rows);
            self.last = Some((t0, t1, h, true));
        }
        Ok(Some(Dense {
            t0,
            t1,
            x0: &self.x0,
            x1: &self.x1,
            rows: &self.rows,
        }))
    }

    fn invalidate(&mut self) {
        self.last = None;
    }
}
