//! Linearly implicit midpoint rule: one step, and the data of its dense output.
//!
//! ```text
//!     g = f(t + θ, x₀ + θ g),   θ = h/2,   x₁ = x₀ + h g                                       (1)
//! ```
//!
//! is the implicit midpoint rule. (1) is not solved; the `g` of the last step is corrected twice,
//! by a Newton iteration with a matrix `W` in place of the Jacobian:
//!
//! ```text
//!     g ← g + (1 − θ W)⁻¹ (f(t + θ, x₀ + θ g) − g)                                             (2)
//! ```
//!
//! The equations solve (2) with their own `W` ([`Ode::correct`]). The error of the last step's `g`
//! is O(h) (larger after an event), and each correction gains one order: one correction gives order
//! 2 for any `W`, as for the W-methods of HW (see [`super::radau5`]) section IV.7. A fast undamped
//! vibration contained in `W`, however, changes its part of `g` completely from step to step; only
//! the second correction evaluates a midpoint without that error. If the equations are linear and
//! `W` is their Jacobian, (1) is satisfied exactly, which implies A-stability.

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
    g: Vec<f64>,
    middle: Vec<f64>,
}

impl LinearlyImplicit {
    pub fn new(n: usize) -> LinearlyImplicit {
        LinearlyImplicit {
            g: vec![0.0; n],
            middle: vec![0.0; n],
        }
    }
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
        let corrections = if memory.newton.h > 0.0 { CORRECTIONS } else { AT_START };
        self.g.copy_from_slice(&memory.rows);
        let half = 0.5 * trial.h;
        for _ in 0..corrections {
            equations.correct((t + half, half), &ends.x0, &mut self.g, &mut self.middle)?;
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
