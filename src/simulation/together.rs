//! Runs of one model that advance together: the evaluations of their next steps are made in the lanes
//! of one scalar.
//!
//! Each run remains a [`Simulation`] with its own time, step size, method, events and errors. Before
//! each of its steps, the evaluations of the step's attempt are made together with those of other
//! runs, as far as their methods and discrete states permit; the run then takes its step as if it were
//! alone, with these results ([`Ahead`]). All its bits are those of the run alone.

use super::advance::Call;
use super::{Simulation, State, Unobserved, state};
use crate::Error;
use crate::algebra::Lanes;
use crate::event::Event;
use crate::integrate::{Ahead, AtEnd, LaneAttempt, LaneOde, LaneStage, Next, Start};
use crate::plant::{LaneDiscrete, LaneEvaluation, LanePoint, NoLanes, Plant};
use num_traits::Zero;
use std::ops::ControlFlow;

/// Workspace for up to `N` runs that advance together.
#[derive(Clone, Debug)]
pub struct LaneRuns<const N: usize> {
    evaluation: LaneEvaluation<N>,
    attempt: LaneAttempt<N>,
    u: Vec<Lanes<N>>,
    /// Inputs of one run.
    u_of_run: Vec<f64>,
}

/// A run with the time to which it advances, and the outcome.
#[derive(Debug)]
pub struct Run<'a> {
    simulation: &'a mut Simulation,
    /// `None` if the run stays where it is.
    t_end: Option<f64>,
    events: &'a mut Vec<Event>,
    call: Option<Call>,
    /// Outcome of [`Simulation::advance`].
    pub outcome: Result<(), Error>,
}

impl<'a> Run<'a> {
    /// Creates a run that advances to `t_end` (s), or stays where it is without one, and appends its events
    /// to `events`.
    pub fn new(simulation: &'a mut Simulation, t_end: Option<f64>, events: &'a mut Vec<Event>) -> Self {
        Self {
            simulation,
            t_end,
            events,
            call: None,
            outcome: Ok(()),
        }
    }

    fn begin(&mut self) {
        let Some(t_end) = self.t_end else { return };
        match self.simulation.begin_call(t_end) {
            Ok(call) => {
                let goes_on = self.simulation.handle_events_at_start(&call, self.events);
                self.go_on(call, goes_on);
            }
            Err(error) => self.outcome = Err(error),
        }
    }

    /// Takes the next step; does nothing at the end of the call.
    fn proceed(&mut self) {
        if let Some(mut call) = self.call.take() {
            let mut flow = || ControlFlow::Continue(());
            let goes_on = self
                .simulation
                .proceed(&mut call, self.events, &mut Unobserved(&mut flow));
            self.go_on(call, goes_on);
        }
    }

    fn go_on(&mut self, call: Call, goes_on: Result<bool, Error>) {
        if let Some(ahead) = &mut self.simulation.ahead {
            ahead.clear();
        }
        match goes_on {
            Ok(true) => self.call = Some(call),
            Ok(false) => self.outcome = self.simulation.end_call(&call, Ok(())),
            Err(error) => self.outcome = self.simulation.end_call(&call, Err(error)),
        }
    }

    /// Returns the attempt that is made next.
    fn next(&self) -> Option<Next> {
        self.simulation.next(self.call.as_ref()?)
    }
}

/// Number of runs from which on an evaluation in all lanes takes less time than one after the other:
/// with two numbers in a vector, lanes are at most 1.5 times as fast.
const FEWEST: usize = if cfg!(target_feature = "avx") { 2 } else { 3 };

impl<const N: usize> LaneRuns<N> {
    /// Allocates for one to `N` runs.
    ///
    /// # Errors
    /// [`NoLanes`] if the plants do not share one model that runs in lanes.
    ///
    /// # Panics
    /// Without a plant, or with more than `N`.
    pub fn new(plants: &[&Plant]) -> Result<Self, NoLanes> {
        assert!((1..=N).contains(&plants.len()));
        let model = plants[0].model();
        Ok(Self {
            evaluation: LaneEvaluation::new(filled(plants))?,
            attempt: LaneAttempt::new(model.states.len(), model.outputs.len()),
            u: vec![Lanes::zero(); model.inputs.len()],
            u_of_run: vec![0.0; model.inputs.len()],
        })
    }

    /// Advances each run to its end, as [`Simulation::advance`], with the same bits. The runs are those
    /// of [`new`](Self::new), in their order. If parameters were changed such that the runs differ in
    /// more than values, each advances alone.
    pub fn advance(&mut self, runs: &mut [Run]) {
        let plants: [&Plant; N] = std::array::from_fn(|k| &runs[lane_of(k, runs.len())].simulation.plant);
        let mut are_alike = self.evaluation.has_parameters(plants.map(Plant::parameters));
        if !are_alike && let Ok(evaluation) = LaneEvaluation::new(plants) {
            (self.evaluation, are_alike) = (evaluation, true);
        }
        runs.iter_mut().for_each(Run::begin);
        while runs.iter().any(|run| run.call.is_some()) {
            if are_alike {
                self.evaluate_ahead(runs);
            }
            runs.iter_mut().for_each(Run::proceed);
        }
    }

    /// Evaluates the next attempts of all runs that have enough others like them.
    fn evaluate_ahead(&mut self, runs: &mut [Run]) {
        let mut waiting: [Option<Next>; N] = std::array::from_fn(|k| runs.get(k)?.next());
        while let Some(first) = waiting.iter().position(Option::is_some) {
            let loads = &runs[first].simulation.state.discrete;
            let of_first = waiting[first];
            let group: [Option<Next>; N] = std::array::from_fn(|k| {
                let next = waiting[k].filter(|next| of_first.is_some_and(|first| next.is_like(&first)))?;
                (k == first || runs[k].simulation.state.discrete.loads_as(loads)).then_some(next)
            });
            for (waits, member) in waiting.iter_mut().zip(&group) {
                *waits = waits.filter(|_| member.is_none());
            }
            if group.iter().flatten().count() >= FEWEST {
                self.evaluate_group(runs, first, group);
            }
        }
    }

    /// Evaluates the next attempts of a group in all lanes; those of other runs have no use.
    fn evaluate_group(&mut self, runs: &mut [Run], first: usize, group: [Option<Next>; N]) {
        let Some(of_first) = group[first] else { return };
        let mut ahead: [Option<Box<Ahead>>; N] = std::array::from_fn(|k| {
            group[k]?;
            Some(runs[k].simulation.ahead.take().unwrap_or_default())
        });
        let starts: [Start; N] = std::array::from_fn(|k| {
            let simulation = &*runs[lane_of(k, runs.len())].simulation;
            // Lanes outside the group repeat the attempt of the first run of the group, at states that
            // suit their own parameters; the results are not used.
            match group[k] {
                Some(next) => simulation.start(next),
                None => Start {
                    x: &simulation.state.x,
                    ..runs[first].simulation.start(of_first)
                },
            }
        });
        let group = group.map(|member| member.is_some());
        let run_of = |k: usize| &runs[if group[k] { k } else { first }];
        let members = || (0..N).filter(|&k| group[k]);
        let land = members().filter(|&k| starts[k].next.lands()).count();
        let observed = &runs[first].simulation.state.discrete;
        let show_alike = || members().all(|k| runs[k].simulation.state.discrete.shows_as(observed));
        // At a communication point the outputs need an evaluation at the end of the step.
        let end = AtEnd {
            derivative: land < members().count(),
            outputs: land >= FEWEST && self.evaluation.observes() && show_alike(),
            energies: members().filter(|&k| runs[k].simulation.is_balance_due()).count() >= FEWEST,
        };
        let discrete = LaneDiscrete::alike(std::array::from_fn(|k| &run_of(k).simulation.state.discrete));
        let mut motion = LaneMotion {
            evaluation: &mut self.evaluation,
            states: std::array::from_fn(|k| &run_of(k).simulation.state),
            discrete,
            t_start: std::array::from_fn(|k| {
                let run = run_of(k);
                run.call.map_or(run.simulation.state.t, |call| call.t_start)
            }),
            u: &mut self.u,
            u_of_run: &mut self.u_of_run,
            inputs_move: members().any(|k| runs[k].simulation.state.inputs_move()),
        };
        motion.extrapolate(std::array::from_fn(|k| starts[k].next.time()));
        let places = ahead.each_mut().map(Option::as_deref_mut);
        self.attempt.evaluate(&starts, end, &mut motion, places);
        for (run, ahead) in runs.iter_mut().zip(ahead) {
            run.simulation.ahead = ahead.or(run.simulation.ahead.take());
        }
    }
}

/// Returns the index of the run of a lane: lanes without a run have the first.
fn lane_of(lane: usize, runs: usize) -> usize {
    if lane < runs { lane } else { 0 }
}

fn filled<T: Copy, const N: usize>(of: &[T]) -> [T; N] {
    std::array::from_fn(|k| of[lane_of(k, of.len())])
}

/// Runs with their inputs, as equations for the integrator.
struct LaneMotion<'a, const N: usize> {
    evaluation: &'a mut LaneEvaluation<N>,
    states: [&'a State; N],
    discrete: LaneDiscrete<'a, N>,
    /// Times at which the inputs have the values in the states, s.
    t_start: [f64; N],
    u: &'a mut [Lanes<N>],
    u_of_run: &'a mut [f64],
    /// True if an input has a derivative that is not zero.
    inputs_move: bool,
}

impl<const N: usize> LaneMotion<'_, N> {
    /// Extrapolates the inputs of each run to its time, into the workspace `u`.
    fn extrapolate(&mut self, t: [f64; N]) {
        for (lane, of) in self.states.iter().enumerate() {
            state::inputs_after(t[lane] - self.t_start[lane], &of.u, &of.u_derivatives, self.u_of_run);
            self.u
                .iter_mut()
                .zip(&*self.u_of_run)
                .for_each(|(to, u)| to.0[lane] = *u);
        }
    }

    /// Returns the evaluation, and the point of the states `x` with the inputs at these times.
    fn at<'a>(&'a mut self, t: [f64; N], x: &'a [Lanes<N>]) -> (&'a mut LaneEvaluation<N>, LanePoint<'a, N>) {
        if self.inputs_move {
            self.extrapolate(t);
        }
        let (u, discrete) = (&*self.u, self.discrete);
        (self.evaluation, LanePoint { t, x, u, discrete })
    }
}

impl<const N: usize> LaneOde<N> for LaneMotion<'_, N> {
    fn derivative(&mut self, t: [f64; N], x: &[Lanes<N>], dx: &mut [Lanes<N>]) -> Option<()> {
        let (evaluation, at) = self.at(t, x);
        evaluation.derivative(at, dx).ok()
    }

    fn stage(&mut self, stage: LaneStage<N>, x: &[Lanes<N>], p: &[Lanes<N>], k: &mut [Lanes<N>]) -> Option<()> {
        let (evaluation, at) = self.at(stage.t, x);
        evaluation.stage(at, stage, p, k).ok()
    }

    fn correct(
        &mut self,
        stage: LaneStage<N>,
        x0: &[Lanes<N>],
        g: &mut [Lanes<N>],
        midpoint: &mut [Lanes<N>],
    ) -> Option<()> {
        let (evaluation, at) = self.at(stage.t, x0);
        evaluation.correct(at, stage.theta, g, midpoint).ok()
    }

    fn outputs(&mut self, x: &[Lanes<N>], y: &mut [Lanes<N>]) {
        self.evaluation.outputs(x, &self.states[0].discrete, y);
    }

    fn energies(&mut self, x: &[Lanes<N>]) -> [Lanes<N>; 3] {
        self.evaluation.energies(x, &self.states[0].discrete)
    }
}
