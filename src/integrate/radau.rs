//! Radau IIA method of order 5, with dense output.
//!
//! The stages `x₀ + zᵢ` and the end state `x₁` satisfy (HW IV.8, *Reformulation of the Nonlinear
//! System*; see [`super::radau5`])
//!
//! ```text
//!     zᵢ = h Σⱼ aᵢⱼ f(t + cⱼ h, x₀ + zⱼ),   x₁ = x₀ + z₃                               (1)
//! ```
//!
//! With `w = T⁻¹z` the simplified Newton iteration decouples into a real and a complex system of
//! `n` unknowns each; `F` are the derivatives at the stages (*The Linear System*):
//!
//! ```text
//!     (γ/h − J) Δw₁ = (T⁻¹F)₁ − γ/h w₁                                                 (2)
//!     ((α+iβ)/h − J) (Δw₂ + iΔw₃) = (T⁻¹F)₂ + i(T⁻¹F)₃ − (α+iβ)/h (w₂ + iw₃)           (3)
//! ```
//!
//! The error estimate is an embedded formula of order 3 with stiff components filtered out (*Step
//! Size Selection*):
//!
//! ```text
//!     err = (γ/h − J)⁻¹ (f(t, x₀) + γ/h Σ eᵢ zᵢ)                                       (4)
//! ```
//!
//! If the error exceeds the tolerance in the first step or after a rejection, it is estimated again
//! with `f(t, x₀ + err)` in place of `f(t, x₀)`.

use super::control::Control;
use super::dense::{Dense, polynomial};
use super::equations::{Equations, Failure, StateAndDerivative, check_finite};
use super::initial::{Workspace, initial_step};
use super::known::{StepData, Taken};
use super::landing::Trial;
use super::lanes::{max_norm, worst};
use super::lu::Lu;
use super::memory::{Age, Memory};
use super::newton::{Convergence, Limits, Origin, Progress, linearise, with_good_jacobian};
use super::one_step::{Adaptive, Attempt, OneStep};
use super::radau5::{ALPHA, BETA, C, CONTROL, ERROR, GAMMA, T, T_INVERSE};
use super::{Ode, Settings};
use nalgebra::Complex;

/// Maximum number of corrections of one attempt with one Jacobian: `NIT` of `radau5.f`.
const ITERATIONS: u32 = 7;

/// Contraction rate up to which the next step reuses the Jacobian: `THET` of `radau5.f`. After one
/// or two corrections the Jacobian is reused at any rate.
const GOOD_RATE: f64 = 1e-3;

/// `η` for the first step with an old Jacobian: the contraction rate of the new one says nothing
/// about it, so that one correction suffices only if it is itself within the tolerance.
const UNKNOWN: f64 = 1.0;

/// Growth of the step at which an old Jacobian must prove itself by a second correction. If the
/// equations are no longer stiff, the first correction with a stiff Jacobian is small, but wrong.
const LONGER: f64 = 1.5;

/// The workspace of the Radau IIA method of order 5.
#[derive(Clone, Debug)]
pub(super) struct Radau5 {
    x0: Vec<f64>,
    f0: Vec<f64>,
    x1: Vec<f64>,
    f1: Vec<f64>,
    /// Argument of a stage.
    argument: Vec<f64>,
    /// Error estimate.
    error: Vec<f64>,
    /// Tolerance of each state: an error of this size has norm 1.
    scale: Vec<f64>,
    /// `z`, `w` and `F`, three consecutive vectors each.
    z: Vec<f64>,
    w: Vec<f64>,
    f: Vec<f64>,
    /// Corrections of (2) and (3).
    dw1: Vec<f64>,
    dw23: Vec<Complex<f64>>,
    /// Factored matrices of (2) and (3).
    real: Lu<f64>,
    complex: Lu<Complex<f64>>,
    origin: Origin,
    /// The rows of the dense output.
    rows: Vec<f64>,
    /// Ratio of the tolerance with which the error estimate is compared to the user's tolerance.
    loosening: f64,
    limits: Limits,
    /// Reuse of the derivatives at both ends of a step.
    known: StepData,
}

impl Radau5 {
    pub fn new(settings: &Settings) -> Radau5 {
        let n = settings.n_states();
        let zeros = || vec![0.0; n];
        let rtol = settings.relative_tolerance;
        // The estimate is of order 3, the method of order 5: `radau5.f` compares the estimate with
        // 0.1 rtol^(2/3), so that the error of the method follows rtol.
        let loosened = 0.1 * libm::pow(rtol, 2.0 / 3.0);
        Radau5 {
            x0: zeros(),
            f0: zeros(),
            x1: zeros(),
            f1: zeros(),
            argument: zeros(),
            error: zeros(),
            scale: zeros(),
            z: vec![0.0; 3 * n],
            w: vec![0.0; 3 * n],
            f: vec![0.0; 3 * n],
            dw1: zeros(),
            dw23: vec![Complex::new(0.0, 0.0); n],
            real: Lu::new(n),
            complex: Lu::new(n),
            origin: Origin::new(n),
            rows: vec![0.0; 3 * n],
            loosening: loosened / rtol,
            limits: match settings.follows {
                // `κ` of HW IV.8, *Stopping Criterion*, which recommends 1e-1 to 1e-2; as in
                // `radau5.f`, less with small tolerances, but not below round-off.
                false => Limits {
                    target: (10.0 * f64::EPSILON / loosened).max(loosened.sqrt().min(0.03)),
                    round_off: 0.0,
                    iterations: ITERATIONS,
                },
                true => Limits {
                    target: 10.0 * f64::EPSILON / loosened,
                    round_off: (1e6 * f64::EPSILON / loosened).min(0.03),
                    iterations: 4 * ITERATIONS,
                },
            },
            known: StepData::NOTHING,
        }
    }

    /// Solves (1) for the stages, by Newton's iteration.
    fn solve<O: Ode + ?Sized>(
        &mut self,
        equations: &mut Equations<O>,
        t: f64,
        trial: Trial,
        settings: &Settings,
        memory: &mut Memory,
    ) -> Result<Convergence, Failure<O::Error>> {
        let usual = memory.newton.h.max(memory.step_history.last_step);
        let is_longer = memory.newton.jacobian == Age::Old && trial.h > LONGER * usual;
        let start = StateAndDerivative::new(&self.x0, &self.f0);
        linearise(equations, t, start, trial.h, settings, &mut self.argument, memory)?;
        self.factor(memory).map_err(|_| Failure::NoConvergence)?;
        self.predict(t, trial, memory);
        let eta = if is_longer { f64::INFINITY } else { memory.newton.eta };
        let mut convergence = Convergence::new(self.limits, eta);
        loop {
            for i in 0..3 {
                self.stage(equations, i, t, trial)?;
            }
            match convergence.observe(self.correct(trial.h)) {
                Progress::GoOn => {}
                Progress::Converged => return Ok(convergence),
                Progress::WillNotConverge => return Err(Failure::NoConvergence),
            }
        }
    }

    /// Factors the matrices of (2) and (3), unless their factors are up to date.
    fn factor(&mut self, memory: &Memory) -> Result<(), super::lu::SingularMatrix> {
        if self.origin.is(memory) {
            return Ok(());
        }
        self.origin.forget();
        let h = memory.newton.matrix_step;
        self.real.factor(GAMMA / h, -1.0, &memory.jacobian)?;
        self.complex
            .factor(Complex::new(ALPHA, BETA) / h, -1.0, &memory.jacobian)?;
        self.origin.set(memory);
        Ok(())
    }

    /// Sets the starting values of `z` and `w`: by extrapolation of the last step's polynomial, or
    /// zero without one.
    fn predict(&mut self, t: f64, trial: Trial, memory: &Memory) {
        let n = self.x0.len();
        let last = &memory.newton;
        self.z.fill(0.0);
        if last.h > 0.0 {
            let theta = |time: f64| (time - last.t0) / last.h;
            polynomial(&memory.rows, n, theta(t), &mut self.argument);
            for (z, c) in self.z.chunks_exact_mut(n.max(1)).zip(C) {
                polynomial(&memory.rows, n, theta(t + c * trial.h), z);
                for (z, at_start) in z.iter_mut().zip(&self.argument) {
                    *z -= at_start;
                }
            }
        }
        combine(&T_INVERSE, &self.z, &mut self.w);
    }

    /// Evaluates the derivative at stage `i`.
    fn stage<O: Ode + ?Sized>(
        &mut self,
        equations: &mut Equations<O>,
        i: usize,
        t: f64,
        trial: Trial,
    ) -> Result<(), Failure<O::Error>> {
        let n = self.x0.len();
        let stage = i * n..(i + 1) * n;
        for ((argument, x0), z) in self.argument.iter_mut().zip(&self.x0).zip(&self.z[stage.clone()]) {
            *argument = x0 + z;
        }
        let time = if i == 2 { trial.t1 } else { t + C[i] * trial.h };
        equations.derivative(time, &self.argument, &mut self.f[stage])
    }

    /// Corrects `w` by (2) and (3) and computes `z` from it; returns the largest correction
    /// relative to the tolerance.
    fn correct(&mut self, h: f64) -> f64 {
        let n = self.x0.len();
        let (gamma, mu) = (GAMMA / h, Complex::new(ALPHA, BETA) / h);
        for l in 0..n {
            let f = T_INVERSE.map(|row| row[0] * self.f[l] + row[1] * self.f[n + l] + row[2] * self.f[2 * n + l]);
            let w23 = Complex::new(self.w[n + l], self.w[2 * n + l]);
            self.dw1[l] = f[0] - gamma * self.w[l];
            self.dw23[l] = Complex::new(f[1], f[2]) - mu * w23;
        }
        self.real.solve(&mut self.dw1);
        self.complex.solve(&mut self.dw23);
        for l in 0..n {
            let (re, im) = (self.dw23[l].re, self.dw23[l].im);
            self.w[l] += self.dw1[l];
            self.w[n + l] += re;
            self.w[2 * n + l] += im;
            self.argument[l] = re.abs().max(im.abs());
        }
        combine(&T, &self.w, &mut self.z);
        max_norm(&self.dw1, &self.scale).max(max_norm(&self.argument, &self.scale))
    }

    /// Returns the error (4) relative to the tolerance; never NaN.
    fn error_norm<O: Ode + ?Sized>(
        &mut self,
        equations: &mut Equations<O>,
        t: f64,
        trial: Trial,
        settings: &Settings,
        memory: &Memory,
    ) -> Result<f64, Failure<O::Error>> {
        settings.scale(&self.x0, &self.x1, &mut self.scale);
        self.scale.iter_mut().for_each(|scale| *scale *= self.loosening);
        let norm = self.estimate(trial.h);
        let first = memory.step_history.last_step == 0.0;
        if settings.accepts(norm) || !(first || memory.step_history.rejected) {
            return Ok(norm);
        }
        for ((argument, x0), error) in self.argument.iter_mut().zip(&self.x0).zip(&self.error) {
            *argument = x0 + error;
        }
        // `f1` serves as buffer: it is evaluated only after the acceptance of the step.
        equations.derivative(t, &self.argument, &mut self.f1)?;
        std::mem::swap(&mut self.f0, &mut self.f1);
        let norm = self.estimate(trial.h);
        std::mem::swap(&mut self.f0, &mut self.f1);
        Ok(norm)
    }

    /// Computes the rows of the collocation polynomial, of degree 3 through `x₀` and the stages, in
    /// the form of [`Dense`]: with `r₁ = z₃` and `gᵢ = (zᵢ/cᵢ − z₃)/(1 − cᵢ) = r₂ + cᵢ r₃` for the
    /// two inner stages.
    fn write_rows(&mut self) {
        let n = self.x0.len();
        let [c1, c2, _] = C;
        for l in 0..n {
            let [z1, z2, z3] = [self.z[l], self.z[n + l], self.z[2 * n + l]];
            let (g1, g2) = ((z1 / c1 - z3) / (1.0 - c1), (z2 / c2 - z3) / (1.0 - c2));
            let r3 = (g2 - g1) / (c2 - c1);
            self.rows[l] = z3;
            self.rows[n + l] = g1 - c1 * r3;
            self.rows[2 * n + l] = r3;
        }
    }

    /// Computes (4) with `f0`; returns its norm.
    fn estimate(&mut self, h: f64) -> f64 {
        let n = self.x0.len();
        for l in 0..n {
            let sum = ERROR[0] * self.z[l] + ERROR[1] * self.z[n + l] + ERROR[2] * self.z[2 * n + l];
            self.error[l] = self.f0[l] + sum / h;
        }
        self.real.solve(&mut self.error);
        max_norm(&self.error, &self.scale)
    }
}

impl OneStep for Radau5 {
    fn evaluations_per_step(&self) -> u64 {
        // Stages with an old and then with a new Jacobian; Jacobian; second error estimate;
        // derivative at the end.
        2 * 3 * u64::from(self.limits.iterations) + self.x0.len() as u64 + 2
    }

    fn start<O: Ode + ?Sized>(
        &mut self,
        equations: &mut Equations<O>,
        t: f64,
        x: &[f64],
    ) -> Result<(), Failure<O::Error>> {
        let end = StateAndDerivative::new(&self.x1, &self.f1);
        self.known.start(equations, t, x, &mut self.x0, &mut self.f0, end)
    }

    fn attempt<O: Ode + ?Sized>(
        &mut self,
        equations: &mut Equations<O>,
        t: f64,
        trial: Trial,
        settings: &Settings,
        memory: &mut Memory,
    ) -> Result<Attempt, Failure<O::Error>> {
        settings.scale(&self.x0, &self.x0, &mut self.scale);
        self.scale.iter_mut().for_each(|scale| *scale *= self.loosening);
        let convergence = with_good_jacobian(memory, |memory| self.solve(equations, t, trial, settings, memory))?;
        memory.newton.eta = convergence.eta;
        let z3 = self.z.chunks_exact(self.x0.len().max(1)).nth(2).unwrap_or_default();
        for ((x1, x0), z3) in self.x1.iter_mut().zip(&self.x0).zip(z3) {
            *x1 = x0 + z3;
        }
        check_finite(&self.x1)?;
        let norm = self.error_norm(equations, t, trial, settings, memory)?;
        if settings.accepts(norm) {
            equations.derivative_at_end(trial.t1, &self.x1, &mut self.f1)?;
            self.write_rows();
            memory.rows.copy_from_slice(&self.rows);
            (memory.newton.t0, memory.newton.h) = (t, trial.h);
            let slow = convergence.iterations > 2 && convergence.theta > GOOD_RATE;
            if memory.newton.jacobian == Age::Fresh && !slow {
                memory.newton.eta = UNKNOWN;
            }
            memory.newton.jacobian = if slow { Age::None } else { Age::Old };
            let step = Taken {
                t0: t,
                t1: trial.t1,
                h: trial.h,
            };
            self.known.take(step, *equations.evaluations);
        }
        // The safety factor of HW IV.8, *Step Size Selection*, relative to that of the controller.
        let (all, used) = (f64::from(2 * ITERATIONS), f64::from(convergence.iterations));
        Ok(Attempt {
            norm,
            newton_safety: (all + 1.0) / (all + used),
        })
    }

    fn x1(&self) -> &[f64] {
        &self.x1
    }

    fn last_step(&self) -> Option<(f64, f64)> {
        self.known.step().map(|step| (step.t0, step.h))
    }

    fn dense<O: Ode + ?Sized>(&mut self, _: &mut Equations<O>) -> Result<Option<Dense<'_>>, Failure<O::Error>> {
        let Some(Taken { t0, t1, .. }) = self.known.step() else {
            return Ok(None);
        };
        Ok(Some(Dense {
            t0,
            t1,
            x0: &self.x0,
            x1: &self.x1,
            rows: &self.rows,
        }))
    }

    fn invalidate(&mut self) {
        self.known.forget();
    }
}

impl Adaptive for Radau5 {
    fn control(&self) -> &'static Control {
        &CONTROL
    }

    fn initial_step<O: Ode + ?Sized>(
        &mut self,
        equations: &mut Equations<O>,
        t: f64,
        t_limit: f64,
        settings: &Settings,
    ) -> Result<f64, Failure<O::Error>> {
        let workspace = Workspace {
            scale: &mut self.scale,
            argument: &mut self.argument,
            derivative: &mut self.error,
        };
        let start = StateAndDerivative::new(&self.x0, &self.f0);
        Ok(initial_step(equations, t, t_limit, start, 3, settings, workspace))
    }

    fn worst(&self) -> usize {
        worst(&self.error, &self.scale)
    }
}

/// Computes `out = M v` for each state, from three consecutive vectors.
fn combine(matrix: &[[f64; 3]; 3], v: &[f64], out: &mut [f64]) {
    let n = v.len() / 3;
    for l in 0..n {
        let v = [v[l], v[n + l], v[2 * n + l]];
        for (i, row) in matrix.iter().enumerate() {
            out[i * n + l] = row[0] * v[0] + row[1] * v[1] + row[2] * v[2];
        }
    }
}
