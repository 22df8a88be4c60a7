//! Linearly implicit midpoint rule.
//!
//! ```text
//!     g = f(t + θ, x₀ + θ g),   θ = h/2,   x₁ = x₀ + h g                                       (1)
//! ```
//!
//! is the implicit midpoint rule. In place of a solution of (1), the `g` of the last step is
//! corrected twice, by Newton's iteration with a matrix `W` in place of the Jacobian:
//!
//! ```text
//!     g ← g + (1 − θ W)⁻¹ (f(t + θ, x₀ + θ g) − g)                                             (2)
//! ```
//!
//! The equations apply (2) with a `W` of their own ([`Ode::correct`]). The error of the last step's
//! `g` is O(h) (larger after an event), and each correction raises its order by one: one correction
//! gives a method of order 2 for any `W`, as for the W-methods of HW (see [`super::radau5`])
//! section IV.7. A fast undamped vibration contained in `W`, however, changes `g` completely from
//! step to step: the first correction still evaluates the midpoint with that error, the second does
//! not. If the equations are linear and `W` is their Jacobian, the result satisfies (1) exactly,
//! which implies A-stability.

use super::ends::{Ends, Rule};
use super::equations::{Equations, Failure};
use super::landing::Trial;
use super::memory::Memory;
use super::{Ode, Settings};

/// Number of corrections in a step.
const CORRECTIONS: u32 = 2;

/// Number of corrections in the first step, from `g = 0`.
const AT_START: u32 = CORRECTIONS + 1;

/// The workspace of the linearly implicit midpoint rule.
#[derive(Clone, Debug)]
pub(super) struct LinearlyImplicit {
    /// Midpoint derivative.
    g: Vec<f64>,
    /// Midpoint state.
    midpoint: Vec<f64>,
}

impl LinearlyImplicit {
    pub fn new(n: usize) -> LinearlyImplicit {
        LinearlyImplicit {
            g: vec![0.0; n],
            midpoint: vec![0.0; n],
        }
    }
}

/// Returns the number of corrections in the next step.
pub(super) fn corrections(memory: &Memory) -> u32 {
    if memory.newton.h > 0.0 { CORRECTIONS } else { AT_START }
}

impl Rule for LinearlyImplicit {
    fn evaluations_per_step(&self) -> u64 {
        u64::from(AT_START)
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
        let corrections = corrections(memory);
        self.g.copy_from_slice(&memory.rows);
        let ahead = equations.ode.ahead();
        if let Some(step) = ahead.and_then(|ahead| ahead.linearly_implicit(corrections, t, trial, &ends.x0, &self.g)) {
            self.g.copy_from_slice(step.k);
            ends.x1.copy_from_slice(step.x1);
            *equations.evaluations += u64::from(corrections);
            return Ok(());
        }
        let half = 0.5 * trial.h;
        for _ in 0..corrections {
            equations.correct((t + half, half), &ends.x0, &mut self.g, &mut self.midpoint)?;
        }
        for ((x1, x0), g) in ends.x1.iter_mut().zip(&ends.x0).zip(&self.g) {
            *x1 = x0 + trial.h * g;
        }
        Ok(())
    }

    fn remember(&self, memory: &mut Memory) {
        memory.rows.copy_from_slice(&self.g);
    }
}
