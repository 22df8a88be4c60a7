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

use super::dense::{Dense, hermite, polynomial};
use super::equations::{Equations, Failure, check_finite};
use super::landing::Trial;
use super::lanes::max_norm;
use super::lu::Lu;
use super::memory::{Age, Memory};
use super::newton::{Convergence, Limits, Origin, Progress, linearise};
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
    x0: Vec<f64>,
    x1: Vec<f64>,
    z: Vec<f64>,
    dz: Vec<f64>,
    argument: Vec<f64>,
    scale: Vec<f64>,
    /// Derivatives at both ends, for the Jacobian and the dense output.
    f0: Vec<f64>,
    f1: Vec<f64>,
    matrix: Lu<f64>,
    origin: Origin,
    rows: Vec<f64>,
    /// Start, end, length and whether the rows are written, of the last step.
    last: Option<(f64, f64, f64, bool)>,
}

impl ImplicitMidpoint {
    pub fn new(n: usize) -> ImplicitMidpoint {
        let zeros = || vec![0.0; n];
        ImplicitMidpoint {
            x0: zeros(),
            x1: zeros(),
            z: zeros(),
            dz: zeros(),
            argument: zeros(),
            scale: zeros(),
            f0: zeros(),
            f1: zeros(),
            matrix: Lu::new(n),
            origin: Origin::new(n),
            rows: vec![0.0; 3 * n],
            last: None,
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
            equations.derivative(t, &self.x0, &mut self.f0)?;
        }
        let start = (&self.x0[..], &self.f0[..]);
        linearise(equations, t, start, trial.h, settings, &mut self.argument, memory)?;
        if !self.origin.is(memory) {
            self.origin.forget();
            let half = -0.5 * memory.newton.matrix_step;
            let factored = self.matrix.factor(1.0, half, &memory.jacobian);
            factored.map_err(|_| Failure::NoConvergence)?;
            self.origin.set(memory);
        }
        self.predict(trial.h, memory);
        let mut convergence = Convergence::new(LIMITS, 1.0);
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
            polynomial(&memory.rows, self.x0.len(), theta, &mut self.z);
        }
    }

    /// `x₀ + z`.
    fn middle(&mut self) {
        for ((argument, x0), z) in self.argument.iter_mut().zip(&self.x0).zip(&self.z) {
            *argument = x0 + z;
        }
    }
}

impl OneStep for ImplicitMidpoint {
    fn evaluations_per_step(&self) -> u64 {
        // The iteration with an old Jacobian, then with a new one; both ends for the dense output.
        2 * u64::from(LIMITS.iterations) + 1 + self.x0.len() as u64 + 2
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
        settings: &Settings,
        memory: &mut Memory,
    ) -> Result<Attempt, Failure<O::Error>> {
        for (i, (scale, x0)) in self.scale.iter_mut().zip(&self.x0).enumerate() {
            *scale = x0.abs().max(settings.nominal(i));
        }
        let convergence = match self.solve(equations, t, trial, settings, memory) {
            Err(Failure::NoConvergence) if memory.newton.jacobian == Age::Old => {
                memory.newton.jacobian = Age::None;
                self.solve(equations, t, trial, settings, memory)
            }
            solved => solved,
        }?;
        for i in 0..self.x0.len() {
            let change = 2.0 * self.z[i];
            self.x1[i] = self.x0[i] + change;
            memory.rows[i] = change;
        }
        check_finite(&self.x1)?;
        (memory.newton.t0, memory.newton.h) = (t, trial.h);
        memory.newton.jacobian = if convergence.iterations > FEW {
            Age::None
        } else {
            Age::Old
        };
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
