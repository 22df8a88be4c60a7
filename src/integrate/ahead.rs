//! Evaluations of the next attempted step of several runs at once, in the lanes of one scalar.
//!
//! A run's own step follows: where it needs an evaluation at a point that was evaluated ahead, bit by
//! bit, it takes the stored result ([`Ahead`]). An evaluation ahead that the step does not need, for
//! instance after an event, therefore costs time and changes nothing.

use super::auto::is_short;
use super::equations::same_bits;
use super::landing::Trial;
use super::linearly_implicit::corrections;
use super::memory::Memory;
use super::method_selection::Candidate;
use super::rosenbrock::{A, B, BACK, C, G, GAMMA, OF_TIME, SHIFT, STAGES, THERE, has_drift};
use super::tableau::{Row, Tableau};
use super::{Method, Settings, Stage, adaptive, bogacki_shampine, dopri5, fixed, rk4};
use crate::algebra::{Lanes, Scalar};
use num_traits::Zero;

/// Equations of `N` runs at once; each has its own time. All functions return `None` if the results
/// are not valid in all lanes.
pub trait LaneOde<const N: usize> {
    /// Computes the derivatives, as [`Ode::derivative`](super::Ode::derivative).
    fn derivative(&mut self, t: [f64; N], x: &[Lanes<N>], dx: &mut [Lanes<N>]) -> Option<()>;

    /// Computes the derivatives of a stage, as [`Ode::stage`](super::Ode::stage).
    fn stage(&mut self, stage: LaneStage<N>, x: &[Lanes<N>], p: &[Lanes<N>], k: &mut [Lanes<N>]) -> Option<()>;

    /// Corrects midpoint derivatives, as [`Ode::correct`](super::Ode::correct); `stage` has the times
    /// of the midpoints and halves of the steps.
    fn correct(
        &mut self,
        stage: LaneStage<N>,
        x0: &[Lanes<N>],
        g: &mut [Lanes<N>],
        midpoint: &mut [Lanes<N>],
    ) -> Option<()>;

    /// Computes the outputs `y` at the states `x`, after [`derivative`](Self::derivative) there.
    fn outputs(&mut self, x: &[Lanes<N>], y: &mut [Lanes<N>]);

    /// Returns kinetic and potential energy and the scale of the former, J, at the states `x`, after
    /// [`derivative`](Self::derivative) there.
    fn energies(&mut self, x: &[Lanes<N>]) -> [Lanes<N>; 3];
}

/// Results at the end of a step that are computed ahead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AtEnd {
    /// True for the derivative, if the method uses it.
    pub derivative: bool,
    /// True for the outputs of runs that land, with the derivative.
    pub outputs: bool,
    /// True for the energies, with the derivative.
    pub energies: bool,
}

/// Results of one run at the end of a step, which were computed together with those of other runs.
#[derive(Clone, Copy, Debug)]
pub struct Results<'a> {
    /// Derivatives of the states.
    pub dx: &'a [f64],
    /// Outputs; empty if they were not computed.
    pub y: &'a [f64],
    /// Kinetic and potential energy and the scale of the former, J; `None` if they were not computed.
    pub energies: Option<[f64; 3]>,
}

/// A [`Stage`] of each lane.
#[derive(Clone, Copy, Debug)]
pub struct LaneStage<const N: usize> {
    /// Times of the stage.
    pub t: [f64; N],
    /// Coefficients `θ` of `W`.
    pub theta: Lanes<N>,
    /// True for the first stage of an attempted step.
    pub is_first: bool,
}

/// An attempt that a stepper would make next.
#[derive(Clone, Copy, Debug)]
pub struct Next {
    by: By,
    t: f64,
    trial: Trial,
}

/// The evaluations of an attempt.
#[derive(Clone, Copy, Debug, PartialEq)]
enum By {
    Rk4,
    BogackiShampine,
    Dopri5,
    Rosenbrock { has_drift: bool },
    LinearlyImplicit { corrections: u32 },
}

impl Next {
    /// Returns the next attempt from the time `t`; `None` for methods that are not evaluated ahead, and
    /// before the length of the first step is known. `varies` returns true if the equations [vary in
    /// time](super::Ode::varies_in_time).
    pub(super) fn of(
        settings: &Settings,
        t: f64,
        t_limit: f64,
        memory: &Memory,
        varies: impl FnOnce() -> bool,
    ) -> Option<Self> {
        let usual = match settings.method.fixed_step() {
            Some(h) => Some(fixed::trial(settings, h, t, t_limit)),
            None if memory.step_history.h_next > 0.0 => Some(adaptive::trial(settings, memory, t, t_limit)),
            None => None,
        };
        let rosenbrock = |trial| By::Rosenbrock {
            has_drift: has_drift(settings, memory, trial, varies()),
        };
        let by = match settings.method {
            Method::Rk4 { .. } => By::Rk4,
            Method::BogackiShampine => By::BogackiShampine,
            Method::Dopri5 => By::Dopri5,
            Method::Rosenbrock => rosenbrock(usual?),
            Method::LinearlyImplicit { .. } => By::LinearlyImplicit {
                corrections: corrections(memory),
            },
            Method::Auto(alternatives) if memory.method_selection.is_among(alternatives) => {
                match memory.method_selection.method {
                    Candidate::Dopri5 if is_short(settings, memory, t, t_limit) => {
                        let trial = adaptive::longest(settings, t, t_limit);
                        let by = By::BogackiShampine;
                        return Some(Self { by, t, trial });
                    }
                    Candidate::Dopri5 => By::Dopri5,
                    Candidate::Rosenbrock => rosenbrock(usual?),
                    Candidate::Radau5 => return None,
                }
            }
            _ => return None,
        };
        let trial = usual?;
        Some(Self { by, t, trial })
    }

    /// Returns true for the pair of order 3(2), which takes short steps in place of DOPRI5.
    pub(super) fn is_short(&self) -> bool {
        self.by == By::BogackiShampine
    }

    /// Returns true if both attempts have the same evaluations, at points of their own.
    pub fn is_like(&self, other: &Self) -> bool {
        self.by == other.by
    }

    /// Returns true if the attempt ends at the limit of the step.
    pub fn lands(&self) -> bool {
        self.trial.lands
    }
}

/// Start of an attempt of one run.
#[derive(Clone, Copy, Debug)]
pub struct Start<'a> {
    /// The attempt.
    pub next: Next,
    /// State at its start.
    pub x: &'a [f64],
    /// Derivative at its start, if it is known.
    pub dx: Option<&'a [f64]>,
    /// Midpoint derivative of the last step, for [`Method::LinearlyImplicit`].
    pub g: &'a [f64],
}

/// Results of evaluations that were made ahead, in the order in which a step needs them.
#[derive(Clone, Debug, Default)]
pub struct Ahead {
    /// Number of states.
    n: usize,
    /// Times and kinds.
    made: Vec<(f64, Kind)>,
    /// For each evaluation its arguments and its result, consecutively.
    numbers: Vec<f64>,
    /// Index of the next one, and of its first number.
    next: usize,
    next_number: usize,
    /// Time of the end of the step, s; `None` without [results](Results) there.
    end: Option<f64>,
    /// State, derivative and outputs at the end of the step, consecutively.
    at_end: Vec<f64>,
    /// Energies at the end of the step, as in [`Results`].
    energies: Option<[f64; 3]>,
}

/// Kind of an evaluation, with its coefficients.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Derivative,
    Stage { theta: f64, is_first: bool },
    Correction { theta: f64 },
}

impl Kind {
    /// Returns the number of arguments besides time and coefficients.
    fn arguments(self) -> usize {
        if self == Self::Derivative { 1 } else { 2 }
    }
}

impl Ahead {
    /// Discards all results.
    pub fn clear(&mut self) {
        self.made.clear();
        self.numbers.clear();
        (self.next, self.next_number) = (0, 0);
        self.end = None;
    }

    /// Returns the results at the end of the step, if it is `(t, x)`.
    pub fn end(&self, t: f64, x: &[f64]) -> Option<Results<'_>> {
        self.end.filter(|end| end.to_bits() == t.to_bits())?;
        let (own, results) = self.at_end.split_at(self.n);
        let (dx, y) = results.split_at(self.n);
        let energies = self.energies;
        same_bits(own, x).then_some(Results { dx, y, energies })
    }

    /// Copies the derivative at `(t, x)` to `dx` and returns true, if it is the next result.
    pub fn derivative(&mut self, t: f64, x: &[f64], dx: &mut [f64]) -> bool {
        self.take(t, Kind::Derivative, x, None, dx)
    }

    /// Copies the derivative `k` of a stage and returns true, if it is the next result.
    pub fn stage(&mut self, stage: Stage, x: &[f64], p: &[f64], k: &mut [f64]) -> bool {
        let Stage { t, theta, is_first } = stage;
        self.take(t, Kind::Stage { theta, is_first }, x, Some(p), k)
    }

    /// Corrects the midpoint derivative `g` at the time `t`, with half a step `theta`, and returns true,
    /// if that is the next result.
    pub fn correct(&mut self, t: f64, theta: f64, x0: &[f64], g: &mut [f64]) -> bool {
        self.take(t, Kind::Correction { theta }, x0, None, g)
    }

    /// Copies the next result to `to`, if it has these arguments; the second argument is `to` itself
    /// without one. A result with other arguments ends the use of all that follow.
    fn take(&mut self, t: f64, kind: Kind, x: &[f64], p: Option<&[f64]>, to: &mut [f64]) -> bool {
        let Some(made) = self.made.get(self.next) else {
            return false;
        };
        let (n, arguments) = (self.n, made.1.arguments());
        let stored = &self.numbers[self.next_number..][..(arguments + 1) * n];
        let is_it = t.to_bits() == made.0.to_bits()
            && kind == made.1
            && same_bits(x, &stored[..n])
            && (arguments == 1 || same_bits(p.unwrap_or(&*to), &stored[n..2 * n]));
        if is_it {
            to.copy_from_slice(&stored[arguments * n..]);
            self.next += 1;
            self.next_number += stored.len();
        } else {
            self.clear();
        }
        is_it
    }
}

/// Arguments and result of an evaluation in lanes.
struct Evaluated<'a, const N: usize> {
    t: [f64; N],
    kind: [Kind; N],
    x: &'a [Lanes<N>],
    p: &'a [Lanes<N>],
    result: &'a [Lanes<N>],
}

/// Stores an evaluation for the lanes of `to`, up to the first result that is not finite.
fn store<const N: usize>(to: &mut [Option<&mut Ahead>; N], of: Evaluated<N>) {
    let is_finite = finite(of.result);
    for (lane, place) in to.iter_mut().enumerate() {
        let Some(ahead) = place else { continue };
        if !is_finite[lane] {
            // The run's own evaluation reports it. Stages of one step are evaluated by one plant.
            if matches!(of.kind[lane], Kind::Stage { .. }) {
                ahead.clear();
            }
            *place = None;
            continue;
        }
        ahead.n = of.x.len();
        ahead.made.push((of.t[lane], of.kind[lane]));
        let arguments = [of.x, of.p];
        for part in arguments[..of.kind[lane].arguments()].iter().chain([&of.result]) {
            ahead.numbers.extend(part.iter().map(|number| number.0[lane]));
        }
    }
}

/// Returns for each lane true if its numbers are finite.
fn finite<const N: usize>(numbers: &[Lanes<N>]) -> [bool; N] {
    let zero_or_nan = numbers.iter().fold(Lanes::zero(), |sum, &x| sum + x * 0.0);
    zero_or_nan.0.map(|sum| sum == 0.0)
}

/// Workspace for attempts of `N` runs.
#[derive(Clone, Debug)]
pub struct LaneAttempt<const N: usize> {
    x0: Vec<Lanes<N>>,
    argument: Vec<Lanes<N>>,
    p: Vec<Lanes<N>>,
    drift: Vec<Lanes<N>>,
    zeros: Vec<Lanes<N>>,
    k: Vec<Lanes<N>>,
    /// Outputs.
    y: Vec<Lanes<N>>,
}

/// Largest number of stages.
const MOST_STAGES: usize = 7;

impl<const N: usize> LaneAttempt<N> {
    /// Allocates for `n` states and this number of outputs.
    pub fn new(n: usize, outputs: usize) -> Self {
        let zeros = || vec![Lanes::zero(); n];
        Self {
            x0: zeros(),
            argument: zeros(),
            p: zeros(),
            drift: zeros(),
            zeros: zeros(),
            k: vec![Lanes::zero(); MOST_STAGES * n],
            y: vec![Lanes::zero(); outputs],
        }
    }

    /// Evaluates the attempts, which are [alike](Next::is_like), and stores the results of the lanes in
    /// `to`, with those at the end of the steps.
    pub fn evaluate(
        &mut self,
        starts: [Start; N],
        end: AtEnd,
        ode: &mut impl LaneOde<N>,
        mut to: [Option<&mut Ahead>; N],
    ) {
        for (i, x0) in self.x0.iter_mut().enumerate() {
            *x0 = Lanes(starts.map(|start| start.x[i]));
        }
        to.iter_mut().flatten().for_each(|ahead| ahead.clear());
        // The result is in `to` as far as it could be evaluated.
        let _ = match starts[0].next.by {
            By::Rk4 => self.explicit(&rk4::TABLEAU, starts, end, ode, to),
            By::BogackiShampine => self.explicit(&bogacki_shampine::TABLEAU, starts, end, ode, to),
            By::Dopri5 => self.explicit(&dopri5::TABLEAU, starts, end, ode, to),
            By::Rosenbrock { has_drift } => {
                let done = self.rosenbrock(starts, has_drift, ode, &mut to);
                // A stage uses the `W` of the first one: a run evaluates all stages, or none.
                if done.is_none() {
                    to.iter_mut().flatten().for_each(|ahead| ahead.clear());
                }
                done.and_then(|()| self.end(starts, B, end, ode, &mut to))
            }
            By::LinearlyImplicit { corrections } => {
                let done = self.linearly_implicit(starts, corrections, ode, &mut to);
                done.and_then(|()| self.end(starts, &[(0, 1.0)], end, ode, &mut to))
            }
        };
    }

    /// Evaluates the results `end` at `x₁ = x₀ + h Σ bⱼ kⱼ`, for a method that does not use the
    /// derivative there.
    fn end(
        &mut self,
        starts: [Start; N],
        b: Row,
        end: AtEnd,
        ode: &mut impl LaneOde<N>,
        to: &mut [Option<&mut Ahead>; N],
    ) -> Option<()> {
        if end.outputs || end.energies {
            let (t, h) = (
                starts.map(|start| start.next.trial.t1),
                starts.map(|start| start.next.trial.h),
            );
            advance(&mut self.argument, &self.x0, Lanes(h), b, &self.k);
            ode.derivative(t, &self.argument, &mut self.p)?;
            self.store_end(starts, end, ode, to);
        }
        Some(())
    }

    /// Stores the results `end` at the ends of the attempts, at the states in `argument` with the
    /// derivatives in `p`.
    fn store_end(
        &mut self,
        starts: [Start; N],
        end: AtEnd,
        ode: &mut impl LaneOde<N>,
        to: &mut [Option<&mut Ahead>; N],
    ) {
        let is_finite = finite(&self.p);
        if end.outputs {
            ode.outputs(&self.argument, &mut self.y);
        }
        let energies = end.energies.then(|| ode.energies(&self.argument));
        for (lane, place) in to.iter_mut().enumerate() {
            let next = starts[lane].next;
            let shows = end.outputs && next.lands();
            let Some(ahead) = place.as_mut().filter(|_| is_finite[lane] && (shows || end.energies)) else {
                continue;
            };
            ahead.n = self.argument.len();
            ahead.end = Some(next.trial.t1);
            ahead.energies = energies.map(|all| all.map(|energy| energy.0[lane]));
            ahead.at_end.clear();
            let y = if shows { self.y.as_slice() } else { &[] };
            for part in [&self.argument, &self.p, y] {
                ahead.at_end.extend(part.iter().map(|number| number.0[lane]));
            }
        }
    }

    fn explicit(
        &mut self,
        tableau: &'static Tableau,
        starts: [Start; N],
        end: AtEnd,
        ode: &mut impl LaneOde<N>,
        mut to: [Option<&mut Ahead>; N],
    ) -> Option<()> {
        let n = self.x0.len();
        let h = Lanes(starts.map(|start| start.next.trial.h));
        let kind = [Kind::Derivative; N];
        if starts.iter().any(|start| start.dx.is_none()) {
            let (t, x) = (starts.map(|start| start.next.t), &self.x0);
            ode.derivative(t, x, &mut self.k[..n])?;
            let mut unknown = [const { None }; N];
            for (lane, ahead) in to.iter_mut().enumerate() {
                unknown[lane] = ahead.as_deref_mut().filter(|_| starts[lane].dx.is_none());
            }
            let (p, result) = (x, &self.k[..n]);
            store(&mut unknown, Evaluated { t, kind, x, p, result });
        }
        for (lane, start) in starts.iter().enumerate() {
            if let Some(known) = start.dx {
                self.k.iter_mut().zip(known).for_each(|(k, dx)| k.0[lane] = *dx);
            }
        }
        let has_results = end.outputs || end.energies;
        let last = if has_results || end.derivative {
            tableau.end
        } else {
            tableau.end - 1
        };
        for i in 1..=last {
            advance(&mut self.argument, &self.x0, h, tableau.a[i], &self.k);
            let t = starts.map(|start| time(start.next, tableau.c[i]));
            let (x, result) = (&self.argument, &mut self.k[i * n..][..n]);
            ode.derivative(t, x, result)?;
            let (p, result) = (x, &*result);
            store(&mut to, Evaluated { t, kind, x, p, result });
        }
        if has_results {
            self.p.copy_from_slice(&self.k[tableau.end * n..][..n]);
            self.store_end(starts, end, ode, &mut to);
        }
        Some(())
    }

    fn rosenbrock(
        &mut self,
        starts: [Start; N],
        has_drift: bool,
        ode: &mut impl LaneOde<N>,
        to: &mut [Option<&mut Ahead>; N],
    ) -> Option<()> {
        let n = self.x0.len();
        let h = Lanes(starts.map(|start| start.next.trial.h));
        let theta = Lanes(h.0.map(|h| GAMMA * h));
        for i in 0..STAGES {
            advance(&mut self.argument, &self.x0, h, A[i], &self.k);
            advance(&mut self.p, &self.zeros, h, G[i], &self.k);
            let t = starts.map(|start| time(start.next, C[i]));
            let (x, p, is_first) = (&self.argument, &self.p, i == 0);
            let k = &mut self.k[i * n..][..n];
            ode.stage(LaneStage { t, theta, is_first }, x, p, k)?;
            let (kind, result) = (theta.0.map(|theta| Kind::Stage { theta, is_first }), &*k);
            store(to, Evaluated { t, kind, x, p, result });
            if has_drift {
                if i == 0 {
                    self.drift(starts, ode, to)?;
                }
                for (k, drift) in self.k[i * n..][..n].iter_mut().zip(&self.drift) {
                    *k += Lanes::lift(OF_TIME[i]) * *drift;
                }
            }
        }
        Some(())
    }

    /// Computes the drift after the first stage, as the method itself.
    fn drift(&mut self, starts: [Start; N], ode: &mut impl LaneOde<N>, to: &mut [Option<&mut Ahead>; N]) -> Option<()> {
        let first = &self.k[..self.x0.len()];
        let h = Lanes(starts.map(|start| start.next.trial.h));
        let theta = Lanes(h.0.map(|h| GAMMA * h));
        advance(&mut self.argument, &self.x0, h, THERE, first);
        advance(&mut self.p, &self.zeros, h, BACK, first);
        let t = starts.map(|start| start.next.t + SHIFT * start.next.trial.h);
        let (x, p, is_first) = (&self.argument, &self.p, false);
        ode.stage(LaneStage { t, theta, is_first }, x, p, &mut self.drift)?;
        let (kind, result) = (theta.0.map(|theta| Kind::Stage { theta, is_first }), &self.drift);
        store(to, Evaluated { t, kind, x, p, result });
        for (drift, first) in self.drift.iter_mut().zip(first) {
            *drift = (*drift - *first) / Lanes::lift(SHIFT);
        }
        Some(())
    }

    fn linearly_implicit(
        &mut self,
        starts: [Start; N],
        corrections: u32,
        ode: &mut impl LaneOde<N>,
        to: &mut [Option<&mut Ahead>; N],
    ) -> Option<()> {
        let n = self.x0.len();
        let g = &mut self.k[..n];
        for (i, g) in g.iter_mut().enumerate() {
            *g = Lanes(starts.map(|start| start.g[i]));
        }
        let theta = Lanes(starts.map(|start| 0.5 * start.next.trial.h));
        let t = std::array::from_fn(|lane| starts[lane].next.t + theta.0[lane]);
        let kind = theta.0.map(|theta| Kind::Correction { theta });
        for _ in 0..corrections {
            self.p.copy_from_slice(g);
            let is_first = true;
            ode.correct(LaneStage { t, theta, is_first }, &self.x0, g, &mut self.argument)?;
            let (x, p, result) = (&self.x0, &self.p, &*g);
            store(to, Evaluated { t, kind, x, p, result });
        }
        Some(())
    }
}

/// Returns the time of a stage with the node `c`.
fn time(Next { t, trial, .. }: Next, c: f64) -> f64 {
    if c == 1.0 { trial.t1 } else { t + c * trial.h }
}

/// Computes `out = x0 + h Σ aⱼ kⱼ`, in each lane as [`super::lanes::advance`].
fn advance<const N: usize>(out: &mut [Lanes<N>], x0: &[Lanes<N>], h: Lanes<N>, row: Row, k: &[Lanes<N>]) {
    let n = out.len();
    for (i, (out, x0)) in out.iter_mut().zip(x0).enumerate() {
        let sum = row
            .iter()
            .fold(Lanes::zero(), |sum, &(j, a)| sum + Lanes::lift(a) * k[j * n + i]);
        *out = *x0 + h * sum;
    }
}
