//! The implicit midpoint rule: one step, and what it leaves for dense output.
//!
//! ```text
//!     z = h/2 f(t + h/2, x₀ + z),   x₁ = x₀ + 2z                                       (1)
//! ```
//!
//! It is the Gauss method with one stage: of order 2, symmetric, symplectic, and it keeps every quadratic invariant of
//! the equations. E. Hairer, C. Lubich, G. Wanner, *Geometric Numerical Integration*, 2nd edition, Springer 2006,
//! doi:10.1007/3-540-30666-8, sections II.1.3, IV.2.1 (Theorem 2.1) and VI.4; section VIII.6 on the iteration. It does so to round-off
//! only if (1) is solved to round-off, whatever the tolerance.
//!
//! The simplified Newton iteration `(1 − h/2 J) Δz = h/2 f(t + h/2, x₀ + z) − z` keeps its Jacobian as long as it converges fast:
//! what is converged to round-off does not depend on it otherwise.

use super::dense::{Dense, Ends, polynomial};
use super::equations::{Equations, Failure, check_finite};
use super::landing::Trial;
use super::lanes::max_norm;
use super::lu::Lu;
use super::memory::{Age, Memory};
use super::newton::{Convergence, Limits, Origin, Progress, linearise, with_good_jacobian};
use super::work::{Attempt, OneStep};
use super::{Ode, Settings};

/// When (1) is solved: the errors are parts of a state's magnitude, or of its nominal value if that is larger. The same small
/// part of a bit is lost in every step: with half a bit a hundred thousand steps would show it. What does not fall any more is round-off: a stiff beam at a place of 100 m leaves
/// 1e-11 of a rate of one open.
const LIMITS: Limits = Limits {
    target: f64::EPSILON / 16.0,
    round_off: 1e6 * f64::EPSILON,
    iterations: 20,
};

/// A Jacobian that takes more corrections than this is not used in the next step. With a new one it would be about 4; what
/// is saved pays for a Jacobian and its factors in some twenty steps.
const FEW: u32 = 8;

/// The workspace of the implicit midpoint rule.
#[derive(Clone, Debug)]
pub(super) struct ImplicitMidpoint {
    ends: Ends,
    z: Vec<f64>,
    dz: Vec<f64>,
    argument: Vec<f64>,
    scale: Vec<f64>,
    matrix: Lu<f64>,
    origin: Origin,
}

impl ImplicitMidpoint {
    pub fn new(n: usize) -> ImplicitMidpoint {
        let zeros = || vec![0.0; n];
        ImplicitMidpoint {
            ends: Ends::new(n),
            z: zeros(),
            dz: zeros(),
            argument: zeros(),
            scale: zeros(),
            matrix: Lu::new(n),
            origin: Origin::new(n),
        }
    }

    /// Solves (1) for `z`.
    fn solve<O: Ode + ?Sized>(
        &mut self,
        equations: &mut Equations<O>,
        t: f64,
        trial: Trial,
        settings: &Settings,
        memory: &mut Memory,
    ) -> Result<Convergence, Failure<O::Error>> {
        if memory.newton.jacobian == Age::None {
            self.ends.evaluate_start(equations, t)?;
        }
        linearise(
            equations,
            t,
            self.ends.at_start(),
            trial.h,
            settings,
            &mut self.argument,
            memory,
        )?;
        if !self.origin.is(memory) {
            self.origin.forget();
            let half = -0.5 * memory.newton.matrix_step;
            let factored = self.matrix.factor(1.0, half, &memory.jacobian);
            factored.map_err(|_| Failure::NoConvergence)?;
            self.origin.set(memory);
        }
        self.predict(trial.h, memory);
        let mut convergence = Convergence::of_fixed_step(LIMITS, memory.newton.jacobian);
        loop {
            let half = 0.5 * trial.h;
            self.middle();
            equations.derivative(t + half, &self.argument, &mut self.dz)?;
            for (dz, z) in self.dz.iter_mut().zip(&self.z) {
                *dz = half * *dz - z;
            }
            self.matrix.solve(&mut self.dz);
            for (z, dz) in self.z.iter_mut().zip(&self.dz) {
                *z += dz;
            }
            match convergence.observe(max_norm(&self.dz, &self.scale)) {
                Progress::GoOn => {}
                Progress::Converged => return Ok(convergence),
                Progress::Hopeless => return Err(Failure::NoConvergence),
            }
        }
    }

    /// Starts the iteration on the last step's straight line, or with `z = 0` where there is none.
    fn predict(&mut self, h: f64, memory: &Memory) {
        self.z.fill(0.0);
        if memory.newton.h > 0.0 {
            let theta = 0.5 * h / memory.newton.h;
            polynomial(&memory.rows, self.ends.x0.len(), theta, &mut self.z);
        }
    }

    /// `x₀ + z`.
    fn middle(&mut self) {
        for ((argument, x0), z) in self.argument.iter_mut().zip(&self.ends.x0).zip(&self.z) {
            *argument = x0 + z;
        }
    }
}

impl OneStep for ImplicitMidpoint {
    fn evaluations_per_step(&self) -> u64 {
        // The iteration with an old Jacobian, then with a new one; both ends for the dense output.
        2 * u64::from(LIMITS.iterations) + 1 + self.ends.x0.len() as u64 + 2
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
        settings: &Settings,
        memory: &mut Memory,
    ) -> Result<Attempt, Failure<O::Error>> {
        for (i, (scale, x0)) in self.scale.iter_mut().zip(&self.ends.x0).enumerate() {
            *scale = x0.abs().max(settings.nominal(i));
        }
        let convergence = with_good_jacobian(memory, |memory| self.solve(equations, t, trial, settings, memory))?;
        for i in 0..self.ends.x0.len() {
            let change = 2.0 * self.z[i];
            self.ends.x1[i] = self.ends.x0[i] + change;
            memory.rows[i] = change;
        }
        check_finite(&self.ends.x1)?;
        (memory.newton.t0, memory.newton.h) = (t, trial.h);
        memory.newton.jacobian = if convergence.iterations > FEW {
            Age::None
        } else {
            Age::Old
        };
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
