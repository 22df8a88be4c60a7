//! Implicit midpoint rule.
//!
//! ```text
//!     z = h/2 f(t + h/2, x₀ + z),   x₁ = x₀ + 2z                                       (1)
//! ```
//!
//! The Gauss method with one stage: of order 2, symmetric, symplectic; it conserves every quadratic
//! invariant of the equations. E. Hairer, C. Lubich, G. Wanner, *Geometric Numerical Integration*,
//! 2nd edition, Springer 2006, doi:10.1007/3-540-30666-8, sections II.1.3, IV.2.1 (Theorem 2.1) and
//! VI.4; section VIII.6 on the iteration. The invariants are conserved to round-off only if (1) is
//! solved to round-off, regardless of the tolerance.
//!
//! The simplified Newton iteration `(1 − h/2 J) Δz = h/2 f(t + h/2, x₀ + z) − z` keeps its Jacobian
//! while it converges fast: a solution to round-off does not depend on the Jacobian.

use super::dense::polynomial;
use super::ends::{Ends, Rule};
use super::equations::{Equations, Failure};
use super::landing::Trial;
use super::lanes::max_norm;
use super::lu::Lu;
use super::memory::{Age, Memory};
use super::newton::{Convergence, Limits, Origin, Progress, linearise, with_good_jacobian};
use super::{Ode, Settings};

/// Stopping criterion for (1): a remaining error below `ε/16` of each state's magnitude, or of its
/// nominal value if that is larger. The remaining error has the same sign in every step: `ε/2`
/// would cause a visible drift of invariants after 1e5 steps. If the round-off of `f` is larger
/// (1e-11 of a rate of one for a stiff beam 100 m from the origin), a stagnating iteration counts
/// as converged.
const LIMITS: Limits = Limits {
    target: f64::EPSILON / 16.0,
    round_off: 1e6 * f64::EPSILON,
    iterations: 20,
};

/// Number of corrections above which a Jacobian is not reused in the next step. With a new Jacobian
/// about 4 suffice; the corrections saved make up for its cost after some twenty steps.
const FEW: u32 = 8;

/// The workspace of the implicit midpoint rule.
#[derive(Clone, Debug)]
pub(super) struct ImplicitMidpoint {
    z: Vec<f64>,
    dz: Vec<f64>,
    argument: Vec<f64>,
    scale: Vec<f64>,
    matrix: Lu<f64>,
    origin: Origin,
    /// Number of corrections of the last step.
    corrections: u32,
}

impl ImplicitMidpoint {
    pub fn new(n: usize) -> ImplicitMidpoint {
        let zeros = || vec![0.0; n];
        ImplicitMidpoint {
            z: zeros(),
            dz: zeros(),
            argument: zeros(),
            scale: zeros(),
            matrix: Lu::new(n),
            origin: Origin::new(n),
            corrections: 0,
        }
    }

    /// Solves (1) for `z`; returns the number of corrections.
    fn iterate<O: Ode + ?Sized>(
        &mut self,
        equations: &mut Equations<O>,
        t: f64,
        h: f64,
        settings: &Settings,
        ends: &mut Ends,
        memory: &mut Memory,
    ) -> Result<u32, Failure<O::Error>> {
        if memory.newton.jacobian == Age::None {
            ends.evaluate_start(equations, t)?;
        }
        let start = ends.at_start();
        linearise(equations, t, start, h, settings, &mut self.argument, memory)?;
        if !self.origin.is(memory) {
            self.origin.forget();
            let half = -0.5 * memory.newton.matrix_step;
            let factored = self.matrix.factor(1.0, half, &memory.jacobian);
            factored.map_err(|_| Failure::NoConvergence)?;
            self.origin.set(memory);
        }
        self.predict(h, memory);
        let mut convergence = Convergence::of_fixed_step(LIMITS, memory.newton.jacobian);
        let half = 0.5 * h;
        loop {
            for ((argument, x0), z) in self.argument.iter_mut().zip(&ends.x0).zip(&self.z) {
                *argument = x0 + z;
            }
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
                Progress::Converged => return Ok(convergence.iterations),
                Progress::WillNotConverge => return Err(Failure::NoConvergence),
            }
        }
    }

    /// Sets the starting value of `z`: by linear extrapolation of the last step, or zero without
    /// one.
    fn predict(&mut self, h: f64, memory: &Memory) {
        self.z.fill(0.0);
        if memory.newton.h > 0.0 {
            let theta = 0.5 * h / memory.newton.h;
            polynomial(&memory.rows, self.z.len(), theta, &mut self.z);
        }
    }
}

impl Rule for ImplicitMidpoint {
    fn evaluations_per_step(&self) -> u64 {
        // Corrections with an old and then with a new Jacobian; derivative at the start; Jacobian.
        2 * u64::from(LIMITS.iterations) + 1 + self.z.len() as u64
    }

    fn solve<O: Ode + ?Sized>(
        &mut self,
        equations: &mut Equations<O>,
        t: f64,
        trial: Trial,
        settings: &Settings,
        ends: &mut Ends,
        memory: &mut Memory,
    ) -> Result<(), Failure<O::Error>> {
        for (i, (scale, x0)) in self.scale.iter_mut().zip(&ends.x0).enumerate() {
            *scale = x0.abs().max(settings.nominal(i));
        }
        self.corrections = with_good_jacobian(memory, |memory| {
            self.iterate(equations, t, trial.h, settings, ends, memory)
        })?;
        for ((x1, x0), z) in ends.x1.iter_mut().zip(&ends.x0).zip(&self.z) {
            *x1 = x0 + 2.0 * z;
        }
        Ok(())
    }

    fn remember(&self, memory: &mut Memory) {
        for (row, z) in memory.rows.iter_mut().zip(&self.z) {
            *row = 2.0 * z;
        }
        memory.newton.jacobian = if self.corrections > FEW { Age::None } else { Age::Old };
    }
}
