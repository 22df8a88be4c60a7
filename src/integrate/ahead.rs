//! Evaluations of the next attempted step of several runs at once, in the lanes of one scalar.
//!
//! A run's own step follows: if it makes the attempt that was evaluated ahead, from the same state, bit
//! by bit, it takes the stored results ([`Ahead`]). Results that the step does not need, for instance
//! after an event, therefore cost time and change nothing.

use super::auto::is_short;
use super::equations::{same_bits, same_point};
use super::landing::Trial;
use super::linearly_implicit::corrections;
use super::memory::Memory;
use super::method_selection::Candidate;
use super::rosenbrock::{A, B, BACK, C, G, GAMMA, OF_TIME, SHIFT, STAGES, THERE, has_drift};
use super::tableau::{Row, Tableau};
use super::{Method, Settings, adaptive, bogacki_shampine, dopri5, fixed, rk4};
use crate::algebra::{Lanes, Scalar};
use num_traits::Zero;
use std::ops::Range;

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

/// A [`Stage`](super::Stage) of each lane.
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

impl By {
    /// Returns the tableau of an explicit method.
    fn tableau(self) -> Option<&'static Tableau> {
        match self {
            Self::Rk4 => Some(&rk4::TABLEAU),
            Self::BogackiShampine => Some(&bogacki_shampine::TABLEAU),
            Self::Dopri5 => Some(&dopri5::TABLEAU),
            Self::Rosenbrock { .. } | Self::LinearlyImplicit { .. } => None,
        }
    }
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

    /// Returns the time at its start, s.
    pub fn time(&self) -> f64 {
        self.t
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

/// Results of an attempt that were computed ahead.
#[derive(Clone, Debug, Default)]
pub struct Ahead {
    /// Number of states.
    n: usize,
    /// The attempt; `None` without results.
    attempt: Option<Next>,
    /// State at its start.
    x0: Vec<f64>,
    /// Derivative there; empty if the run knows it.
    dx0: Vec<f64>,
    /// Midpoint derivative of the last step, for [`Method::LinearlyImplicit`], else empty.
    g: Vec<f64>,
    /// The numbers of [`Stages`], consecutively. Empty if the attempt has failed.
    stages: Vec<f64>,
    /// Time of the end of the step, s; `None` without [results](Results) there.
    end: Option<f64>,
    /// State, derivative and outputs at the end of the step, consecutively.
    at_end: Vec<f64>,
    /// Energies at the end of the step, as in [`Results`].
    energies: Option<[f64; 3]>,
}

/// Stages of an attempt that were computed ahead.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stages<'a> {
    /// Derivatives of the stages, consecutively. Explicit methods: of all but the first if error estimate
    /// or dense output use them, else of the end of the step, if it was evaluated. [`Method::Rosenbrock`]:
    /// of all. [`Method::LinearlyImplicit`]: the midpoint derivative.
    pub k: &'a [f64],
    /// State at the end of the step.
    pub x1: &'a [f64],
}

impl Ahead {
    /// Discards all results.
    pub fn clear(&mut self) {
        (self.attempt, self.end) = (None, None);
    }

    /// Begins an attempt, without results.
    fn begin(&mut self, start: &Start) {
        let g = match start.next.by {
            By::LinearlyImplicit { .. } => start.g,
            _ => &[],
        };
        (self.n, self.attempt, self.end) = (start.x.len(), Some(start.next), None);
        self.dx0.clear();
        self.stages.clear();
        for (own, given) in [(&mut self.x0, start.x), (&mut self.g, g)] {
            own.clear();
            own.extend_from_slice(given);
        }
    }

    /// Returns the results at the end of the step, if it is `(t, x)`.
    pub fn end(&self, t: f64, x: &[f64]) -> Option<Results<'_>> {
        self.end.filter(|end| end.to_bits() == t.to_bits())?;
        let (own, results) = self.at_end.split_at(self.n);
        let (dx, y) = results.split_at(self.n);
        let energies = self.energies;
        same_bits(own, x).then_some(Results { dx, y, energies })
    }

    /// Returns the derivative at `(t, x)`, if the attempt starts there.
    pub(super) fn derivative(&self, t: f64, x: &[f64]) -> Option<&[f64]> {
        let attempt = self.attempt?;
        let is_it = !self.dx0.is_empty() && same_point(t, x, attempt.t, &self.x0);
        is_it.then_some(&self.dx0)
    }

    /// Returns the stages of an attempt of an explicit method from `(t, x0)`.
    pub(super) fn explicit(&self, tableau: &'static Tableau, t: f64, trial: Trial, x0: &[f64]) -> Option<Stages<'_>> {
        let is_of = |by: By| by.tableau().is_some_and(|own| std::ptr::eq(own, tableau));
        self.stages(is_of, t, trial, x0)
    }

    /// Returns the stages of an attempt of [`Method::Rosenbrock`] from `(t, x0)`.
    pub(super) fn rosenbrock(&self, has_drift: bool, t: f64, trial: Trial, x0: &[f64]) -> Option<Stages<'_>> {
        self.stages(|by| by == By::Rosenbrock { has_drift }, t, trial, x0)
    }

    /// Returns the midpoint derivative of a step of [`Method::LinearlyImplicit`] from `(t, x0)`, in place
    /// of the stages; `g` is that of the last step.
    pub(super) fn linearly_implicit(
        &self,
        corrections: u32,
        t: f64,
        trial: Trial,
        x0: &[f64],
        g: &[f64],
    ) -> Option<Stages<'_>> {
        let is_of = |by| by == By::LinearlyImplicit { corrections };
        self.stages(is_of, t, trial, x0).filter(|_| same_bits(g, &self.g))
    }

    fn stages(&self, is_of: impl Fn(By) -> bool, t: f64, trial: Trial, x0: &[f64]) -> Option<Stages<'_>> {
        let Next { by, t: own, trial: to } = self.attempt.filter(|_| !self.stages.is_empty())?;
        let is_it = is_of(by)
            && [trial.t1, trial.h].map(f64::to_bits) == [to.t1, to.h].map(f64::to_bits)
            && same_point(t, x0, own, &self.x0);
        let (k, x1) = self.stages.split_at(self.stages.len() - self.n);
        is_it.then_some(Stages { k, x1 })
    }
}

/// Writes the numbers of a lane.
fn set_lane<const N: usize>(to: &mut Vec<f64>, lane: usize, parts: &[&[Lanes<N>]]) {
    to.clear();
    for part in parts {
        to.extend(part.iter().map(|number| number.0[lane]));
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
    /// State at the end.
    x1: Vec<Lanes<N>>,
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
            x1: zeros(),
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
        starts: &[Start; N],
        end: AtEnd,
        ode: &mut impl LaneOde<N>,
        mut to: [Option<&mut Ahead>; N],
    ) {
        for (i, x0) in self.x0.iter_mut().enumerate() {
            *x0 = Lanes(std::array::from_fn(|lane| starts[lane].x[i]));
        }
        for (ahead, start) in to.iter_mut().zip(starts) {
            if let Some(ahead) = ahead {
                ahead.begin(start);
            }
        }
        // The results are in `to` as far as they could be evaluated.
        let by = starts[0].next.by;
        let _ = match by {
            By::Rk4 | By::BogackiShampine | By::Dopri5 => by
                .tableau()
                .and_then(|tableau| self.explicit(tableau, starts, end, ode, &mut to)),
            By::Rosenbrock { has_drift } => self
                .rosenbrock(starts, has_drift, ode, &mut to)
                .and_then(|()| self.end(starts, end, ode, &mut to)),
            By::LinearlyImplicit { corrections } => self
                .linearly_implicit(starts, corrections, ode, &mut to)
                .and_then(|()| self.end(starts, end, ode, &mut to)),
        };
    }

    /// Stores for each lane the derivatives of the stages `used` and the state at the end, if these and the
    /// derivatives of all stages `made` are finite.
    fn store(&self, made: Range<usize>, used: Range<usize>, to: &mut [Option<&mut Ahead>; N]) {
        let stages = |of: Range<usize>| &self.k[of.start * self.x1.len()..of.end * self.x1.len()];
        let are_finite = [finite(stages(made)), finite(&self.x1)];
        for (lane, ahead) in to.iter_mut().enumerate() {
            if let Some(ahead) = ahead
                && are_finite.iter().all(|finite| finite[lane])
            {
                set_lane(&mut ahead.stages, lane, &[stages(used.clone()), &self.x1]);
            }
        }
    }

    /// Evaluates the results `end` at the ends of the attempts, for a method that does not use the
    /// derivatives there.
    fn end(
        &mut self,
        starts: &[Start; N],
        end: AtEnd,
        ode: &mut impl LaneOde<N>,
        to: &mut [Option<&mut Ahead>; N],
    ) -> Option<()> {
        if end.outputs || end.energies {
            ode.derivative(
                starts.each_ref().map(|start| start.next.trial.t1),
                &self.x1,
                &mut self.p,
            )?;
            self.store_end(starts, end, ode, to);
        }
        Some(())
    }

    /// Stores the results `end` at the ends of the attempts, with the derivatives in `p`.
    fn store_end(
        &mut self,
        starts: &[Start; N],
        end: AtEnd,
        ode: &mut impl LaneOde<N>,
        to: &mut [Option<&mut Ahead>; N],
    ) {
        let is_finite = finite(&self.p);
        if end.outputs {
            ode.outputs(&self.x1, &mut self.y);
        }
        let energies = end.energies.then(|| ode.energies(&self.x1));
        for (lane, place) in to.iter_mut().enumerate() {
            let next = starts[lane].next;
            let shows = end.outputs && next.lands();
            let Some(ahead) = place.as_mut().filter(|_| is_finite[lane] && (shows || end.energies)) else {
                continue;
            };
            ahead.end = Some(next.trial.t1);
            ahead.energies = energies.map(|all| all.map(|energy| energy.0[lane]));
            let y = if shows { self.y.as_slice() } else { &[] };
            set_lane(&mut ahead.at_end, lane, &[&self.x1, &self.p, y]);
        }
    }

    fn explicit(
        &mut self,
        tableau: &'static Tableau,
        starts: &[Start; N],
        end: AtEnd,
        ode: &mut impl LaneOde<N>,
        to: &mut [Option<&mut Ahead>; N],
    ) -> Option<()> {
        let n = self.x0.len();
        let h = Lanes(starts.each_ref().map(|start| start.next.trial.h));
        if starts.iter().any(|start| start.dx.is_none()) {
            let first = &mut self.k[..n];
            ode.derivative(starts.each_ref().map(|start| start.next.t), &self.x0, first)?;
            let is_finite = finite(first);
            for (lane, ahead) in to.iter_mut().enumerate() {
                if let Some(ahead) = ahead
                    && is_finite[lane]
                    && starts[lane].dx.is_none()
                {
                    set_lane(&mut ahead.dx0, lane, &[first]);
                }
            }
        }
        for (lane, start) in starts.iter().enumerate() {
            if let Some(known) = start.dx {
                self.k.iter_mut().zip(known).for_each(|(k, dx)| k.0[lane] = *dx);
            }
        }
        for i in 1..tableau.end {
            advance(&mut self.argument, &self.x0, h, tableau.a[i], &self.k);
            let t = starts.each_ref().map(|start| time(start.next, tableau.c[i]));
            ode.derivative(t, &self.argument, &mut self.k[i * n..][..n])?;
        }
        advance(&mut self.x1, &self.x0, h, tableau.a[tableau.end], &self.k);
        let has_results = end.outputs || end.energies;
        let mut stages = tableau.end;
        if has_results || end.derivative {
            let t = starts.each_ref().map(|start| start.next.trial.t1);
            ode.derivative(t, &self.x1, &mut self.k[stages * n..][..n])?;
            stages += 1;
        }
        let used = if tableau.uses_stages() { 1 } else { tableau.end };
        self.store(1..stages, used..stages, to);
        if has_results {
            self.p.copy_from_slice(&self.k[tableau.end * n..][..n]);
            self.store_end(starts, end, ode, to);
        }
        Some(())
    }

    fn rosenbrock(
        &mut self,
        starts: &[Start; N],
        has_drift: bool,
        ode: &mut impl LaneOde<N>,
        to: &mut [Option<&mut Ahead>; N],
    ) -> Option<()> {
        let n = self.x0.len();
        let h = Lanes(starts.each_ref().map(|start| start.next.trial.h));
        let theta = Lanes(h.0.map(|h| GAMMA * h));
        for i in 0..STAGES {
            advance(&mut self.argument, &self.x0, h, A[i], &self.k);
            advance(&mut self.p, &self.zeros, h, G[i], &self.k);
            let t = starts.each_ref().map(|start| time(start.next, C[i]));
            let stage = LaneStage {
                t,
                theta,
                is_first: i == 0,
            };
            ode.stage(stage, &self.argument, &self.p, &mut self.k[i * n..][..n])?;
            if has_drift {
                if i == 0 {
                    self.drift(starts, ode)?;
                }
                for (k, drift) in self.k[i * n..][..n].iter_mut().zip(&self.drift) {
                    *k += Lanes::lift(OF_TIME[i]) * *drift;
                }
            }
        }
        advance(&mut self.x1, &self.x0, h, B, &self.k);
        self.store(0..STAGES, 0..STAGES, to);
        Some(())
    }

    /// Computes the drift after the first stage, as the method itself.
    fn drift(&mut self, starts: &[Start; N], ode: &mut impl LaneOde<N>) -> Option<()> {
        let first = &self.k[..self.x0.len()];
        let h = Lanes(starts.each_ref().map(|start| start.next.trial.h));
        let theta = Lanes(h.0.map(|h| GAMMA * h));
        advance(&mut self.argument, &self.x0, h, THERE, first);
        advance(&mut self.p, &self.zeros, h, BACK, first);
        let t = starts.each_ref().map(|start| start.next.t + SHIFT * start.next.trial.h);
        let stage = LaneStage {
            t,
            theta,
            is_first: false,
        };
        ode.stage(stage, &self.argument, &self.p, &mut self.drift)?;
        for (drift, first) in self.drift.iter_mut().zip(first) {
            *drift = (*drift - *first) / Lanes::lift(SHIFT);
        }
        Some(())
    }

    fn linearly_implicit(
        &mut self,
        starts: &[Start; N],
        corrections: u32,
        ode: &mut impl LaneOde<N>,
        to: &mut [Option<&mut Ahead>; N],
    ) -> Option<()> {
        let n = self.x0.len();
        let g = &mut self.k[..n];
        for (i, g) in g.iter_mut().enumerate() {
            *g = Lanes(std::array::from_fn(|lane| starts[lane].g[i]));
        }
        let h = Lanes(starts.each_ref().map(|start| start.next.trial.h));
        let theta = Lanes(h.0.map(|h| 0.5 * h));
        let t = std::array::from_fn(|lane| starts[lane].next.t + theta.0[lane]);
        for _ in 0..corrections {
            let is_first = true;
            ode.correct(LaneStage { t, theta, is_first }, &self.x0, g, &mut self.argument)?;
        }
        for ((x1, x0), g) in self.x1.iter_mut().zip(&self.x0).zip(g) {
            *x1 = *x0 + h * *g;
        }
        self.store(0..1, 0..1, to);
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
