//! A Rosenbrock-W method of order 3(2) with four stages: linearly implicit, without Newton
//! iteration, and with an approximation `W` of the Jacobian.
//!
//! ```text
//!     (1 − γ h Wᵢ) kᵢ = f(t + αᵢ h, x₀ + h Σ_{j<i} αᵢⱼ kⱼ) + h Wᵢ Σ_{j<i} γᵢⱼ kⱼ + γᵢ h d
//!     x₁ = x₀ + h Σ bᵢ kᵢ                                                                  (1)
//!     d = ∂f/∂t + (J − W) k                                                                (2)
//! ```
//!
//! The equations solve (1) without the last term ([`Ode::stage`]). `k` is the first stage without
//! that term. With the Jacobian `J` in place of `W`, a stage would contain `h J Σ_{j≤i} γᵢⱼ kⱼ`, of
//! which (1) without `d` lacks `h (J − W) Σ_{j≤i} γᵢⱼ kⱼ = γᵢ h (J − W) k + O(h²)`, and the column
//! of `J` for the time as a state. Without `d` a load on a stiff vibration that varies in time, or
//! with slow states, excites the vibration. `d` is computed from the difference of two stages: the
//! first, and one at `t + δ`, `x₀ + δ k` with the change `−δ k` for `W`. It is left out in steps
//! that a limit makes shorter than half, which are more accurate than the tolerance requires, unless
//! the equations [vary in time](Ode::varies_in_time).
//!
//! With `γᵢᵢ = γ`, `αᵢ = Σ αᵢⱼ`, `γᵢ = Σ γᵢⱼ` and `βᵢⱼ = αᵢⱼ + γᵢⱼ`, the conditions of order 3 for
//! any constant `W` and any `d` are the first eight of the following (HW section IV.7; see
//! [`super::radau5`]). With the ninth, `W` may be a smooth function of the stages' times and
//! arguments:
//!
//! ```text
//!     Σ bᵢ = 1,   Σ bᵢ αᵢ = 1/2,   Σ bᵢ γᵢ = 0,   Σ bᵢ αᵢ² = 1/3,   Σ bᵢ αᵢⱼ αⱼ = 1/6,
//!     Σ bᵢ αᵢⱼ γⱼ = Σ bᵢ γᵢⱼ αⱼ = Σ bᵢ γᵢⱼ γⱼ = 0,   Σ bᵢ αᵢ γᵢ = 0                        (3)
//! ```
//!
//! The coefficients below are ours. They satisfy (3), and `bᵢ = β₄ᵢ`, `α₄ = 1` (stiffly accurate),
//! and the slow states in the last argument are of second order with `d`, so that a stiff vibration
//! follows them:
//!
//! ```text
//!     Σ α₄ⱼ (αⱼ + γⱼ) = 1/2                                                                (4)
//! ```
//!
//! Two numbers remain free, `γ` among them. They minimise errors for eigenvalues `λ` on the
//! imaginary axis, which are those of vibrations: `|R(iy) − e^{iy}|` of the stability function up
//! to `y = 3`, and for all `y` the errors of a vibration that follows a slow motion `φ`, `ẏ = λ (y
//! − φ) + φ̇` with `φ = t²/2` and `t³/6`, in (1) without `d` (A. Prothero, A. Robinson, *On the
//! stability and accuracy of one-step methods for solving stiff systems of ordinary differential
//! equations*, Math. Comp. 28 (1974) 145–162, doi:10.1090/S0025-5718-1974-0331793-2).
//!
//! With the exact Jacobian the method is L-stable. A vibration with more than about five radians in
//! a step is damped; up to four radians the damping is below 0.3 % per step. The embedded solution
//! is of order 2 for any `W`. Its distance from the other is scaled so that a vibration with `h|λ|
//! → ∞` is estimated by its amplitude. Dense output is the cubic polynomial in `θ` whose weights
//! satisfy the conditions of order 2 and `Σ bᵢ(θ) αᵢ² = θ³/3`.

use super::control::{Control, History};
use super::dense::Dense;
use super::equations::{Equations, Failure, StateAndDerivative, check_finite};
use super::initial::{Workspace, initial_step};
use super::landing::Trial;
use super::lanes::{advance, max_norm, worst};
use super::memory::Memory;
use super::one_step::{Adaptive, Attempt, OneStep};
use super::tableau::Row;
use super::{Ode, Settings, Stage};

/// Order of the solution at the end of a step.
pub(super) const ORDER: u32 = 3;

/// Order of the dense output.
pub(super) const DENSE_ORDER: u32 = 2;

/// Number of stages.
pub(super) const STAGES: usize = 4;

/// `γ`, near the smallest value for which a method of order 3 with four stages is L-stable, 0.22365
/// (HW Table IV.6.4).
pub(super) const GAMMA: f64 = 0.2237;

/// Nodes `αᵢ`.
pub(super) const C: [f64; STAGES] = [0.0, 0.37081169557577826, 0.39022529379321463, 1.0];

/// Coefficients `αᵢⱼ` of the stages' arguments.
pub(super) const A: [Row; STAGES] = [
    &[],
    &[(0, 0.37081169557577826)],
    &[(0, 0.39487028602499824), (1, -0.004644992231783619)],
    &[
        (0, -0.8936828403154174),
        (1, -0.6891075619715344),
        (2, 2.582790402286952),
    ],
];

/// Coefficients `γᵢⱼ` for `j < i`.
pub(super) const G: [Row; STAGES] = [
    &[],
    &[(0, 1.21776625780447)],
    &[(0, 0.15585077614271675), (1, -0.015254413156647646)],
    &[
        (0, 0.9744671851881702),
        (1, 0.43710898420165817),
        (2, -1.6352761693898283),
    ],
];

/// Weights `bᵢ`.
pub(super) const B: Row = &[
    (0, 0.08078434487275267),
    (1, -0.2519985777698762),
    (2, 0.9475142328971236),
    (3, 0.2237),
];

/// Weights of the error estimate, before multiplication by `h`.
pub(super) const ERROR: Row = &[
    (0, 0.05151658790033084),
    (1, 0.018068405648765835),
    (2, -0.10312828127180704),
    (3, 0.03354328772271034),
];

/// Weights of the rows `r₂` and `r₃` of the dense output, before multiplication by `h`.
pub(super) const DENSE: [Row; 2] = [
    &[
        (0, 0.92571564454453),
        (1, 0.04434405845721279),
        (2, -0.7439082055704078),
        (3, -0.226151497431335),
    ],
    &[
        (0, -0.8449312996717775),
        (1, -0.2963426362270891),
        (2, 1.6914224384675316),
        (3, -0.550148502568665),
    ],
];

/// `γᵢ`, the weights of `h d`; `γ₄` is zero, as `α₄` is 1.
pub(super) const OF_TIME: [f64; STAGES] = [GAMMA, 1.44146625780447, 0.36429636298606916, 0.0];

/// Distance `δ` of the two stages whose difference gives `h d`, in steps. Any value of `d` preserves
/// the order; the error here is `h²/2048` times the second derivative, and round-off of some 1e-13
/// of the stage.
pub(super) const SHIFT: f64 = 1.0 / 1024.0;

/// `δ k` and `−δ k`.
pub(super) const THERE: Row = &[(0, SHIFT)];
pub(super) const BACK: Row = &[(0, -SHIFT)];

/// Constants of the step size controller, for the estimate of order 2.
static CONTROL: Control = Control {
    exponent: 1.0 / 3.0,
    history: History::None,
    safety: 0.9,
    shrink: 0.2,
    grow: 5.0,
    hold: 1.0,
    min_error: 1e-4,
};

/// The workspace of the Rosenbrock-W method.
#[derive(Clone, Debug)]
pub(super) struct Rosenbrock {
    /// State at the start of the step.
    x0: Vec<f64>,
    /// State at the end of the last attempt.
    x1: Vec<f64>,
    /// Argument of a stage.
    argument: Vec<f64>,
    /// `h Σ γᵢⱼ kⱼ` of a stage.
    p: Vec<f64>,
    /// `(1 − γ h W)⁻¹ h d`.
    drift: Vec<f64>,
    error: Vec<f64>,
    /// A zero state.
    zeros: Vec<f64>,
    /// Tolerance of each state during this step.
    scale: Vec<f64>,
    /// Derivatives of the stages, consecutively.
    k: Vec<f64>,
    /// The rows of the dense output.
    rows: Vec<f64>,
    /// Start, end and length of the last accepted step.
    last: Option<(f64, f64, f64)>,
}

impl Rosenbrock {
    /// Allocates for `n` states.
    pub fn new(n: usize) -> Rosenbrock {
        let zeros = || vec![0.0; n];
        Rosenbrock {
            x0: zeros(),
            x1: zeros(),
            argument: zeros(),
            p: zeros(),
            drift: zeros(),
            error: zeros(),
            zeros: zeros(),
            scale: zeros(),
            k: vec![0.0; STAGES * n],
            rows: vec![0.0; 3 * n],
            last: None,
        }
    }

    /// Computes the derivatives of all stages.
    fn stages<O: Ode + ?Sized>(
        &mut self,
        equations: &mut Equations<O>,
        t: f64,
        trial: Trial,
        has_drift: bool,
    ) -> Result<(), Failure<O::Error>> {
        let (h, n) = (trial.h, self.x0.len());
        let theta = GAMMA * h;
        for i in 0..STAGES {
            advance(&mut self.argument, &self.x0, h, A[i], &self.k);
            advance(&mut self.p, &self.zeros, h, G[i], &self.k);
            let stage = Stage {
                t: if C[i] == 1.0 { trial.t1 } else { t + C[i] * h },
                theta,
                is_first: i == 0,
            };
            equations.stage(stage, &self.argument, &self.p, &mut self.k[i * n..][..n])?;
            if has_drift {
                if i == 0 {
                    self.drift(equations, t, h)?;
                }
                for (k, drift) in self.k[i * n..][..n].iter_mut().zip(&self.drift) {
                    *k += OF_TIME[i] * drift;
                }
            }
        }
        Ok(())
    }

    /// Computes `(1 − γ h W)⁻¹ h d` after the first stage, with `d` of (2).
    fn drift<O: Ode + ?Sized>(
        &mut self,
        equations: &mut Equations<O>,
        t: f64,
        h: f64,
    ) -> Result<(), Failure<O::Error>> {
        let first = &self.k[..self.x0.len()];
        advance(&mut self.argument, &self.x0, h, THERE, first);
        advance(&mut self.p, &self.zeros, h, BACK, first);
        let later = Stage {
            t: t + SHIFT * h,
            theta: GAMMA * h,
            is_first: false,
        };
        equations.stage(later, &self.argument, &self.p, &mut self.drift)?;
        for (drift, first) in self.drift.iter_mut().zip(first) {
            *drift = (*drift - first) / SHIFT;
        }
        Ok(())
    }
}

/// Returns true if a step contains the term `d`.
pub(super) fn has_drift(settings: &Settings, memory: &Memory, trial: Trial, varies_in_time: bool) -> bool {
    let natural = memory.step_history.natural().min(settings.h_max);
    varies_in_time || 2.0 * trial.h >= natural
}

impl OneStep for Rosenbrock {
    /// With the stage for `d`.
    fn evaluations_per_step(&self) -> u64 {
        STAGES as u64 + 1
    }

    /// The first stage depends on the length of the step, so that no derivative is stored.
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
        let h = trial.h;
        let has_drift = has_drift(settings, memory, trial, equations.ode.varies_in_time(t));
        let ahead = equations.ode.ahead();
        match ahead.and_then(|ahead| ahead.rosenbrock(has_drift, t, trial, &self.x0)) {
            Some(stages) => {
                self.k.copy_from_slice(stages.k);
                self.x1.copy_from_slice(stages.x1);
                *equations.evaluations += STAGES as u64 + u64::from(has_drift);
            }
            None => {
                self.stages(equations, t, trial, has_drift)?;
                advance(&mut self.x1, &self.x0, h, B, &self.k);
                check_finite(&self.x1)?;
            }
        }
        settings.scale(&self.x0, &self.x1, &mut self.scale);
        advance(&mut self.error, &self.zeros, h, ERROR, &self.k);
        let norm = max_norm(&self.error, &self.scale);
        if settings.accepts(norm) {
            self.last = Some((t, trial.t1, h));
        }
        Ok(Attempt {
            norm,
            newton_safety: 1.0,
        })
    }

    fn x1(&self) -> &[f64] {
        &self.x1
    }

    fn last_step(&self) -> Option<(f64, f64)> {
        self.last.map(|(t0, _, h)| (t0, h))
    }

    fn dense<O: Ode + ?Sized>(&mut self, _: &mut Equations<O>) -> Result<Option<Dense<'_>>, Failure<O::Error>> {
        let Some((t0, t1, h)) = self.last else {
            return Ok(None);
        };
        let n = self.x0.len();
        let (change, others) = self.rows.split_at_mut(n);
        for ((change, x1), x0) in change.iter_mut().zip(&self.x1).zip(&self.x0) {
            *change = x1 - x0;
        }
        for (row, weights) in others.chunks_exact_mut(n.max(1)).zip(DENSE) {
            advance(row, &self.zeros, h, weights, &self.k);
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

impl Adaptive for Rosenbrock {
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
        let n = self.x0.len();
        let (first, second) = self.k.split_at_mut(n);
        equations.derivative(t, &self.x0, first)?;
        let start = StateAndDerivative::new(&self.x0, first);
        let workspace = Workspace {
            scale: &mut self.scale,
            argument: &mut self.argument,
            derivative: &mut second[..n],
        };
        let of_estimate = ORDER - 1;
        Ok(initial_step(
            equations,
            t,
            t_limit,
            start,
            of_estimate,
            settings,
            workspace,
        ))
    }

    fn worst(&self) -> usize {
        worst(&self.error, &self.scale)
    }
}
