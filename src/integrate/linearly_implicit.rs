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

use super::dense::{Dense, Ends};
use super::equations::{Equations, Failure, check_finite};
use super::landing::Trial;
use super::memory::Memory;
use super::work::{Attempt, OneStep};
use super::{Ode, Settings};

/// Corrections of a step.
const CORRECTIONS: u32 = 2;

/// Corrections of a step that has none before it, from `g = 0`.
const AT_START: u32 = CORRECTIONS + 1;

/// The workspace of the linearly implicit midpoint rule.
#[derive(Clone, Debug)]
pub(super) struct LinearlyImplicit {
    ends: Ends,
    g: Vec<f64>,
    middle: Vec<f64>,
}

impl LinearlyImplicit {
    pub fn new(n: usize) -> LinearlyImplicit {
        LinearlyImplicit {
            ends: Ends::new(n),
            g: vec![0.0; n],
            middle: vec![0.0; n],
        }
    }
}

impl OneStep for LinearlyImplicit {
    fn evaluations_per_step(&self) -> u64 {
        // The corrections, and both ends for the dense output.
        u64::from(AT_START) + 2
    }

    fn start<O: Ode + ?Sized>(&mut self, _: &mut Equations<O>, _: f64, x: &[f64]) -> Result<(), Failure<O::Error>> {
        self.ends.start(x);
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
        let corrections = if memory.newton.h > 0.0 { CORRECTIONS } else { AT_START };
        self.g.copy_from_slice(&memory.rows);
        let half = 0.5 * trial.h;
        for _ in 0..corrections {
            equations.correct((t + half, half), &self.ends.x0, &mut self.g, &mut self.middle)?;
        }
        for ((x1, x0), g) in self.ends.x1.iter_mut().zip(&self.ends.x0).zip(&self.g) {
            *x1 = x0 + trial.h * g;
        }
        check_finite(&self.ends.x1)?;
        memory.rows.copy_from_slice(&self.g);
        (memory.newton.t0, memory.newton.h) = (t, trial.h);
        self.ends.finish(t, trial.t1, trial.h);
        Ok(Attempt {
            norm: 0.0,
            caution: 1.0,
        })
    }

    fn x1(&self) -> &[f64] {
        &self.ends.x1
    }

    fn last_step(&self) -> Option<(f64, f64)> {
        self.ends.last_step()
    }

    fn dense<O: Ode + ?Sized>(&mut self, equations: &mut Equations<O>) -> Result<Option<Dense<'_>>, Failure<O::Error>> {
        self.ends.dense(equations)
    }

    fn invalidate(&mut self) {
        self.ends.forget();
    }
}
