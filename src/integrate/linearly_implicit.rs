//! A linearly implicit midpoint rule: one step, and what it leaves for dense output.
//!
//! ```text
//!     g = f(t + θ, x₀ + θ g),   θ = h/2,   x₁ = x₀ + h g                                       (1)
//! ```
//!
//! is the implicit midpoint rule. Here (1) is not solved. The last step's `g` is corrected twice, as Newton's iteration would with a
//! matrix `W` instead of the Jacobian:
//!
//! ```text
//!     g ← g + (1 − θ W)⁻¹ (f(t + θ, x₀ + θ g) − g)                                             (2)
//! ```
//!
//! The equations solve (2) themselves, with a `W` of which they know how ([`Ode::correct`]). The last step's `g` is off by O(h) (after an event by more, and there are few of those), and each correction
//! gains an order: the first would do for order 2 whatever `W` is, as with the W-methods of HW (see [`super::radau5`]) section IV.7. But a
//! vibration that is fast and in `W` is not damped, and from one step to the next its part of `g` changes altogether. Only the
//! second correction sees a middle without that. Where the equations are linear and `W` is their Jacobian, (1)
//! holds exactly, and with it A-stability.

use super::ends::{Ends, Rule};
use super::equations::{Equations, Failure};
use super::landing::Trial;
use super::memory::Memory;
use super::{Ode, Settings};

/// Corrections of a step.
const CORRECTIONS: u32 = 2;

/// Corrections of a step that has none before it, from `g = 0`.
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
