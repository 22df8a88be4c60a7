//! Dependencies of FMI's ModelStructure, by tracing the evaluation itself.

use super::context::Constants;
use super::evaluation::Balance;
use super::model::{Model, OutputKind, Source};
use super::{Discrete, Evaluation};
use crate::algebra::{Quaternion, Scalar, Traced, Vec3, Wrench};
use crate::loads::{Limit, MotorState};
use crate::spec::JointMotion;
use crate::system::{Derived, JointState};

/// Known variables on which each computed one depends.
///
/// States and inputs are [traced](Traced) through the evaluation at one random state in every
/// regime, independent of the values of parameters. Constants are not traced: an unknown depends on
/// the parameters of all bodies and joints between the world and those whose states or inputs it
/// depends on, and on those of a whole tree if it depends on the tree's loads.
#[derive(Clone, Debug, PartialEq)]
pub struct Dependencies {
    /// Derivatives of the states, on states and inputs.
    pub derivatives: Vec<Knowns>,
    /// Outputs, on states and inputs.
    pub outputs: Vec<Knowns>,
    /// Initial states, on parameters and inputs.
    pub initial_states: Vec<Knowns>,
    /// Derivatives of the initial states, on parameters and inputs.
    pub initial_derivatives: Vec<Knowns>,
    /// Outputs at the start, on parameters and inputs.
    pub initial_outputs: Vec<Knowns>,
}

/// Known variables on which one computed variable depends, ascending.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Knowns {
    /// Indices of parameters.
    pub parameters: Vec<usize>,
    /// Indices of states.
    pub states: Vec<usize>,
    /// Indices of the importer's inputs.
    pub inputs: Vec<usize>,
}

/// Number of random states that are tried in a regime where the equations are singular.
const ATTEMPTS: usize = 8;

/// Parts of the discrete state, and switches, that determine which equations are evaluated.
#[derive(Clone, Debug, PartialEq)]
struct Regime {
    motions: Vec<JointMotion>,
    /// For each servo with feed-forward, true if it is on.
    fed: Vec<bool>,
    /// True if all motors and torques of a controller are at their limits.
    limited: bool,
    captured: bool,
}

impl Regime {
    /// Returns the regimes of a model: each pair of switched joints in each pair of motions, within
    /// limits and at them, with and without captures.
    fn all(model: &Model, at_start: bool) -> Vec<Self> {
        let drives: Vec<_> = (model.loads.drives.iter())
            .filter(|drive| drive.mode().is_some())
            .collect();
        let motion = |k: usize, level: usize| match drives[k].motions() {
            motions if !at_start => motions[level % motions.len()],
            _ => drives[k].motion(),
        };
        let fed = drives.len()..drives.len() + model.loads.fed().count();
        let has_limits = !model.loads.motors.is_empty() || model.controller.is_some();
        let captures = !at_start && model.loads.captures().next().is_some();
        let mut regimes = Vec::new();
        for levels in pairs(fed.end, JointMotion::ALL.len()) {
            for limited in [false, true].into_iter().take(1 + usize::from(has_limits)) {
                for captured in [false, true].into_iter().take(1 + usize::from(captures)) {
                    let regime = Self {
                        motions: (0..drives.len()).map(|k| motion(k, levels[k])).collect(),
                        fed: fed.clone().map(|k| levels[k] % 2 == 0).collect(),
                        limited,
                        captured,
                    };
                    if !regimes.contains(&regime) {
                        regimes.push(regime);
                    }
                }
            }
        }
        regimes
    }
}

/// Returns levels of `n` factors such that each pair of factors takes each pair of `levels` at
/// least once: the two factors differ in a binary digit of their numbers.
fn pairs(n: usize, levels: usize) -> Vec<Vec<usize>> {
    let digits = usize::BITS - n.saturating_sub(1).leading_zeros();
    let each = (0..digits.max(1)).flat_map(|digit| (0..levels * levels).map(move |pair| (digit, pair)));
    each.map(|(digit, pair)| {
        let level = |k: usize| {
            if k >> digit & 1 == 0 {
                pair / levels
            } else {
                pair % levels
            }
        };
        (0..n).map(level).collect()
    })
    .collect()
}

impl Dependencies {
    /// Determines the dependencies; `None` if the equations of some regime are singular at all
    /// random states, so that some are unknown.
    pub fn of(model: &Model) -> Option<Self> {
        let starts = Starts::of(model);
        let mut tracer = Tracer::new(model);
        let (n, rows) = (model.states.len(), model.states.len() + model.outputs.len());
        let mut running = vec![Traced::lift(0.0); rows];
        for regime in Regime::all(model, false) {
            tracer.unite(&regime, false, &mut running)?;
        }
        let mut initial = vec![Traced::lift(0.0); rows];
        for regime in Regime::all(model, true) {
            tracer.unite(&regime, false, &mut initial)?;
            tracer.unite(&regime, true, &mut initial)?;
        }
        let discrete = discrete_outputs(model);
        let running = (0..rows).map(|row| {
            let mut known = running[row].variables();
            known.extend(&discrete[row]);
            known.sort_unstable();
            known.dedup();
            known
        });
        let running: Vec<Vec<usize>> = running.collect();
        let knowns = |row: usize| {
            let (states, slots) = running[row].split_at(running[row].partition_point(|&known| known < n));
            let slots = slots.iter().map(|slot| model.sources[slot - n]);
            Knowns {
                states: states.to_vec(),
                inputs: slots.filter_map(|source| host_input(&source)).collect(),
                ..Knowns::default()
            }
        };
        let owners = Owners::new(model);
        let initial = |row: usize| {
            let mut known = initial[row].variables();
            known.extend(discrete[row].iter().filter(|&&known| known < n));
            owners.initial(model, &starts, row, &known)
        };
        Some(Self {
            derivatives: (0..n).map(knowns).collect(),
            outputs: (n..rows).map(knowns).collect(),
            initial_states: (0..n)
                .map(|state| owners.initial_state(model, &starts, state))
                .collect(),
            initial_derivatives: (0..n).map(initial).collect(),
            initial_outputs: (n..rows).map(initial).collect(),
        })
    }
}

fn host_input(source: &Source) -> Option<usize> {
    match *source {
        Source::Host(input) => Some(input),
        _ => None,
    }
}

/// Returns the dependencies of derivatives and outputs that change at events only: flags depend on
/// the states that are compared with a limit, results of impacts on all states and on commands.
fn discrete_outputs(model: &Model) -> Vec<Vec<usize>> {
    let n = model.states.len();
    let mut known = vec![Vec::new(); n + model.outputs.len()];
    for (output, coordinate) in model.output_groups.flags() {
        known[n + output].extend(model.states_of(coordinate));
    }
    for (output, declared) in model.outputs.iter().enumerate() {
        if declared.kind == OutputKind::Discrete {
            known[n + output].extend((0..n).chain(model.loads.strike_inputs().map(|input| n + input)));
        }
    }
    known
}

/// Evaluation with traced numbers. The variables are the states, the inputs of the loads, and for
/// each body that is a tree's root the loads of that tree.
struct Tracer {
    model: Model,
    derived: Derived,
    parameters: Vec<f64>,
    start: Vec<f64>,
    values: Evaluation<f64>,
    evaluation: Evaluation<Traced>,
    discrete: Discrete,
    random: Random,
}

impl Tracer {
    /// Sets up the evaluation at the spec's parameter values; each signal's input is a variable of
    /// its own.
    fn new(model: &Model) -> Self {
        let mut model = model.clone();
        model.sources = (0..model.sources.len()).map(Source::Host).collect();
        Traced::reset(model.states.len() + model.sources.len() + model.system.bodies.len());
        let parameters = model.parameter_starts();
        let derived = model.judge(&parameters, None, &mut Vec::new());
        let mut start = vec![0.0; model.states.len()];
        if model.start(&derived, 0.0, &parameters, &mut start).is_err() {
            start.fill(0.0);
        }
        Self {
            values: Evaluation::new(&model),
            evaluation: Evaluation::new(&model),
            discrete: Discrete::new(&model),
            random: Random(0),
            model,
            derived,
            parameters,
            start,
        }
    }

    /// Unites the dependencies of derivatives and outputs in a regime with `found`; with `loads`
    /// those on the trees' loads too.
    fn unite(&mut self, regime: &Regime, loads: bool, found: &mut [Traced]) -> Option<()> {
        let now = (0..ATTEMPTS).find_map(|_| self.trace(regime, loads))?;
        for (found, now) in found.iter_mut().zip(now) {
            *found = found.reading(now);
        }
        Some(())
    }

    fn trace(&mut self, regime: &Regime, loads: bool) -> Option<Vec<Traced>> {
        let random = &mut self.random;
        let model = &self.model;
        let n = model.states.len();
        let states = model.states.iter().zip(&self.start);
        let x: Vec<f64> = states
            .map(|(state, start)| start + state.nominal * random.unit())
            .collect();
        let mut u: Vec<f64> = model.sources.iter().map(|_| 0.75 + 0.25 * random.unit()).collect();
        for (fed, &is_on) in model.loads.fed().zip(&regime.fed) {
            u[fed.switch] = f64::from(u8::from(is_on));
        }
        self.discrete.motions.clone_from(&regime.motions);
        for capture in &mut self.discrete.captures {
            capture.holds = regime.captured;
            capture.p = Vec3::from_fn(|_, _| random.unit());
            capture.R = Quaternion::from_slice(&[(); 4].map(|()| random.unit()))
                .normalised()
                .rotation();
        }
        let limit = Limit::passed(regime.limited, false);
        for (motor, state) in model.loads.motors.iter().zip(&mut self.discrete.motors) {
            let [with_rate, without] = [limit, Limit::Within].map(|rate| MotorState {
                torque: limit,
                rate,
                is_beyond: false,
            });
            *state = if motor.can_have(&with_rate) { with_rate } else { without };
        }
        self.discrete.controlled.fill(limit);
        let of = Constants {
            model,
            derived: &self.derived,
            parameters: &self.parameters,
        };
        self.values.determine_rank(of, &x, &mut self.discrete);

        let variable = |first: usize| move |(k, &value): (usize, &f64)| Traced::variable(value, first + k);
        let x: Vec<Traced> = x.iter().enumerate().map(variable(0)).collect();
        let mut u: Vec<Traced> = u.iter().enumerate().map(variable(n)).collect();
        let root = |body: usize| {
            let parent = |&body: &usize| model.system.bodies[body].parent;
            let root = std::iter::successors(Some(body), parent).last().unwrap_or(body);
            Traced::variable(0.0, n + model.sources.len() + root)
        };
        if loads {
            // Feed-forward reads the loads of its tree where it reads its reference acceleration.
            for fed in model.loads.fed() {
                u[fed.qdd_ref..fed.qdd_ref + fed.axes]
                    .iter_mut()
                    .for_each(|u| *u = u.reading(root(fed.body)));
            }
        }
        let (evaluation, discrete) = (&mut self.evaluation, &self.discrete);
        let mut now = vec![Traced::lift(0.0); n + model.outputs.len()];
        let (dx, y) = now.split_at_mut(n);
        evaluation.read_inputs(of, 0.0, &u, discrete);
        evaluation.update_kinematics(of, &x);
        let JointState { q, qd } = evaluation.coordinates(of, &x);
        let (q, qd) = (q.to_vec(), qd.to_vec());
        let power = evaluation.load(of, JointState { q: &q, qd: &qd }, discrete).ok()?;
        for (i, body) in model.system.bodies.iter().enumerate().filter(|_| loads) {
            let applied = &mut evaluation.applied;
            let read = |number: Traced| number.reading(root(i));
            let Wrench { t, f } = applied.wrench[i];
            applied.wrench[i] = Wrench::new(t.map(read), f.map(read));
            let modes = body.modes.as_ref().map_or(0..0, |modes| modes.rates());
            for v in (body.joint.v..body.joint.v + body.joint.nv).chain(modes) {
                applied.tau[v] = read(applied.tau[v]);
            }
        }
        evaluation.accelerate(of, &x, discrete, Balance::of(power), dx).ok()?;
        evaluation.outputs(of, &x, discrete, y);
        Some(now)
    }
}

/// Parameters from which each state starts.
struct Starts {
    of_states: Vec<Vec<usize>>,
    /// True for a parameter that is an initial state and nothing else.
    is_start: Vec<bool>,
    /// True if initial states depend on no other parameters.
    is_exact: bool,
}

impl Starts {
    fn of(model: &Model) -> Self {
        let values = model.parameter_starts();
        let derived = model.judge(&values, None, &mut Vec::new());
        Traced::reset(values.len());
        let traced: Vec<Traced> = (values.iter().enumerate())
            .map(|(k, &value)| Traced::variable(value, k))
            .collect();
        let mut x = vec![Traced::lift(0.0); model.states.len()];
        // The positions of closed loops, or of an equilibrium, depend on all parameters together.
        let of_states = match model.is_assembled() {
            false if model.start(&derived, 0.0, &traced, &mut x).is_ok() => {
                x.into_iter().map(Traced::variables).collect()
            }
            _ => vec![(0..values.len()).collect(); x.len()],
        };
        Self {
            of_states,
            is_start: model.is_start(),
            is_exact: model.coordinates.are_of_joints()
                && model.system.orbit.is_none()
                && model.system.nodal.is_empty(),
        }
    }
}

/// Bodies to which states, inputs and parameters belong, by their names.
struct Owners {
    states: Vec<Vec<usize>>,
    slots: Vec<Vec<usize>>,
    /// `None` for the parameters of anything but bodies and joints.
    parameters: Vec<Option<Vec<usize>>>,
}

impl Owners {
    fn new(model: &Model) -> Self {
        let system = &model.system;
        let named = |name: &str| -> Vec<usize> {
            let is_named = |&i: &usize| {
                let body = &system.bodies[i];
                [&body.name, &body.joint.name, &system.bodies[system.whole(i)].name].contains(&&name.to_owned())
            };
            (0..system.bodies.len()).filter(is_named).collect()
        };
        let of_variable = |name: &str| named(name.rsplit_once('.').map_or(name, |(owner, _)| owner));
        let of_state = |name: &str| match of_variable(name) {
            // A state of anything else counts as one of every body.
            none if none.is_empty() => (0..system.bodies.len()).collect(),
            bodies => bodies,
        };
        let of_slot = |source: &Source| match *source {
            Source::Host(input) => of_variable(&model.inputs[input].quantity.name),
            Source::Signal(k) | Source::Rate(k) | Source::Acceleration(k) => {
                let first = model.signals[k].parameters().next();
                first.map_or_else(Vec::new, |first| of_variable(&model.parameters[first].at[1]))
            }
        };
        let of_parameter = |at: &[String]| match at {
            [section, name, ..] if ["body", "joint", "wheel"].contains(&section.as_str()) => {
                Some(named(name)).filter(|bodies| !bodies.is_empty())
            }
            _ => None,
        };
        Self {
            states: model.states.iter().map(|state| of_state(&state.name)).collect(),
            slots: model.sources.iter().map(of_slot).collect(),
            parameters: model
                .parameters
                .iter()
                .map(|parameter| of_parameter(&parameter.at))
                .collect(),
        }
    }

    /// Marks the bodies between the world and the marked ones, and bodies without motion of their
    /// own on these and on the world.
    fn close(model: &Model, marked: &mut [bool]) {
        let bodies = &model.system.bodies;
        for (i, body) in bodies.iter().enumerate().rev() {
            if let (true, Some(parent)) = (marked[i], body.parent) {
                marked[parent] = true;
            }
        }
        for (i, body) in bodies.iter().enumerate() {
            let is_fixed = body.joint.nv == 0 && body.modes.is_none();
            marked[i] |= is_fixed && body.parent.is_none_or(|parent| marked[parent]);
        }
    }

    /// Returns the parameters of marked bodies and their joints and of everything else in the
    /// model, apart from those that only start states or only belong to signals or solvers.
    fn parameters_of(&self, model: &Model, starts: &Starts, marked: &[bool]) -> impl Iterator<Item = usize> {
        (0..model.parameters.len()).filter(|&p| {
            !starts.is_start[p]
                && match &self.parameters[p] {
                    Some(bodies) => bodies.iter().any(|&body| marked[body]),
                    None => !["signal", "solver", "monitor"].contains(&model.parameters[p].at[0].as_str()),
                }
        })
    }

    /// Returns the knowns of an initial state.
    fn initial_state(&self, model: &Model, starts: &Starts, state: usize) -> Knowns {
        let mut parameters = starts.of_states[state].clone();
        if !starts.is_exact {
            let mut marked = vec![false; model.system.bodies.len()];
            self.states[state].iter().for_each(|&body| marked[body] = true);
            Self::close(model, &mut marked);
            parameters.extend(self.parameters_of(model, starts, &marked));
        }
        Knowns::at_start(parameters, Vec::new())
    }

    /// Returns the knowns at the start of a derivative or an output that depends on these states,
    /// inputs and loads.
    fn initial(&self, model: &Model, starts: &Starts, row: usize, known: &[usize]) -> Knowns {
        let n = model.states.len();
        let mut marked = vec![false; model.system.bodies.len()];
        let (mut parameters, mut inputs) = (Vec::new(), Vec::new());
        for &k in known {
            match (k.checked_sub(n), k.checked_sub(n + model.sources.len())) {
                (None, _) => {
                    parameters.extend(&starts.of_states[k]);
                    self.states[k].iter().for_each(|&body| marked[body] = true);
                }
                (Some(slot), None) => {
                    self.slots[slot].iter().for_each(|&body| marked[body] = true);
                    match model.sources[slot] {
                        Source::Host(input) => inputs.push(input),
                        Source::Signal(k) | Source::Rate(k) | Source::Acceleration(k) => {
                            parameters.extend(model.signals[k].parameters());
                        }
                    }
                }
                (_, Some(root)) => marked[root] = true,
            }
        }
        let has_loads = known.last().is_some_and(|&k| k >= n + model.sources.len());
        for (i, body) in model.system.bodies.iter().enumerate().filter(|_| has_loads) {
            let root = |root: &usize| known.contains(&(n + model.sources.len() + root));
            marked[i] |= body.parent.map_or(root(&i), |parent| marked[parent]);
        }
        // The derivative of a joint's coordinate depends on that joint alone.
        if !(starts.is_exact && row < model.rates().start) {
            Self::close(model, &mut marked);
        }
        parameters.extend(self.parameters_of(model, starts, &marked));
        Knowns::at_start(parameters, inputs)
    }
}

impl Knowns {
    fn at_start(mut parameters: Vec<usize>, mut inputs: Vec<usize>) -> Self {
        for of in [&mut parameters, &mut inputs] {
            of.sort_unstable();
            of.dedup();
        }
        Self {
            parameters,
            inputs,
            states: Vec::new(),
        }
    }
}

/// The generator SplitMix64 (Steele, Lea, Flood 2014): the same numbers on every platform.
struct Random(u64);

impl Random {
    /// Returns a number between −1 and 1, at least 0.2 in magnitude.
    fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^= z >> 31;
        let size = 0.2 + 0.8 * (z >> 11) as f64 / (1u64 << 53) as f64;
        if z & 1 == 0 { size } else { -size }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plant::{Jacobians, LANES, OperatingPoint, Tangent};
    use std::path::Path;

    /// A model at random parameter values, states, inputs and discrete states.
    struct Experiment<'a> {
        model: &'a Model,
        parameters: Vec<f64>,
        derived: Derived,
        start: Vec<f64>,
        values: Evaluation<f64>,
        random: Random,
    }

    impl<'a> Experiment<'a> {
        fn new(model: &'a Model, seed: u64) -> Self {
            let mut random = Random(seed);
            let mut parameters = model.parameter_starts();
            let mut derived = model.judge(&parameters, None, &mut Vec::new());
            for (j, parameter) in model.parameters.iter().enumerate() {
                let mut changed = parameters.clone();
                changed[j] += 0.1 * random.unit() * changed[j].abs().max(0.3 * parameter.quantity.nominal);
                let mut problems = Vec::new();
                let after = model.judge(&changed, Some((&parameters, &derived)), &mut problems);
                if problems.is_empty() {
                    (parameters, derived) = (changed, after);
                }
            }
            let mut start = vec![0.0; model.states.len()];
            if model.start(&derived, 0.0, &parameters, &mut start).is_err() {
                parameters = model.parameter_starts();
                derived = model.judge(&parameters, None, &mut Vec::new());
                model.start(&derived, 0.0, &parameters, &mut start).expect("a start");
            }
            Self {
                model,
                parameters,
                derived,
                start,
                values: Evaluation::new(model),
                random,
            }
        }

        fn of(&self) -> Constants<'_> {
            Constants {
                model: self.model,
                derived: &self.derived,
                parameters: &self.parameters,
            }
        }

        fn choose<T: Copy>(random: &mut Random, from: &[T]) -> T {
            from[((random.unit() + 1.0) * 1e6) as usize % from.len()]
        }

        fn point(&mut self, spread: f64) -> (Vec<f64>, Vec<f64>, Discrete) {
            let (model, random) = (self.model, &mut self.random);
            let states = model.states.iter().zip(&self.start);
            let x: Vec<f64> = states
                .map(|(state, start)| start + spread * state.nominal * random.unit())
                .collect();
            let inputs = model.inputs.iter().map(|input| match input.discrete {
                true => Self::choose(random, &[0.0, 1.0, 1.0]),
                false => 0.5 + 0.6 * random.unit(),
            });
            let u: Vec<f64> = inputs.collect();
            let mut discrete = Discrete::new(model);
            let drives = model.loads.drives.iter().filter(|drive| drive.mode().is_some());
            for (motion, drive) in discrete.motions.iter_mut().zip(drives) {
                *motion = Self::choose(random, drive.motions());
            }
            let mut limit = || Self::choose(random, &[Limit::Below, Limit::Within, Limit::Within, Limit::Above]);
            for (state, motor) in discrete.motors.iter_mut().zip(&model.loads.motors) {
                let next = MotorState {
                    torque: limit(),
                    rate: limit(),
                    is_beyond: false,
                };
                *state = if motor.can_have(&next) {
                    next
                } else {
                    MotorState::default()
                };
            }
            discrete.controlled.iter_mut().for_each(|state| *state = limit());
            for capture in &mut discrete.captures {
                capture.holds = random.unit() > 0.0;
                capture.R = Quaternion::from_slice(&[(); 4].map(|()| random.unit()))
                    .normalised()
                    .rotation();
            }
            let of = Constants {
                model,
                derived: &self.derived,
                parameters: &self.parameters,
            };
            self.values.determine_rank(of, &x, &mut discrete);
            (x, u, discrete)
        }

        fn values(&mut self, (x, u, discrete): (&[f64], &[f64], &Discrete)) -> Option<Vec<f64>> {
            let of = Constants {
                model: self.model,
                derived: &self.derived,
                parameters: &self.parameters,
            };
            let n = x.len();
            let mut all = vec![0.0; n + self.model.outputs.len()];
            let (dx, y) = all.split_at_mut(n);
            let at = OperatingPoint { t: 0.0, x, u, discrete };
            self.values.derivative(of, at, dx).ok()?;
            self.values.outputs(of, x, discrete, y);
            Some(all)
        }
    }

    /// Returns the pairs of an output and an input whose dependency has no effect in any experiment.
    fn check(name: &str, model: &Model) -> Vec<String> {
        let clock = std::time::Instant::now();
        let found = Dependencies::of(model).expect("regular equations");
        let time = clock.elapsed();
        let (n, nu, ny) = (model.states.len(), model.inputs.len(), model.outputs.len());
        let rows: Vec<&Knowns> = found.derivatives.iter().chain(&found.outputs).collect();
        let row_name = |row: usize| match row.checked_sub(n) {
            None => &model.derivatives[row].name,
            Some(output) => &model.outputs[output].quantity.name,
        };
        let mut acts = vec![false; ny * nu];
        let mut counted = 0;
        let mut true_states = vec![false; (n + ny) * n];
        for seed in 0..6 {
            let mut experiment = Experiment::new(model, seed);
            let mut tangent = Tangent::<LANES>::new(model);
            let mut jacobians = Jacobians::new(model);
            for spread in [0.0, 1e-3, 0.3, 1.0, 1.0, 20.0] {
                let (x, u, discrete) = experiment.point(spread);
                let at = OperatingPoint {
                    t: 0.0,
                    x: &x,
                    u: &u,
                    discrete: &discrete,
                };
                if tangent
                    .jacobians_of(experiment.of(), at, &mut jacobians, |_| true)
                    .is_err()
                {
                    continue;
                }
                counted += 1;
                let Jacobians { A, B, C, D } = &jacobians;
                for (row, knowns) in rows.iter().enumerate() {
                    let (of_x, of_u) = match row.checked_sub(n) {
                        None => (A.row(row), B.row(row)),
                        Some(output) => (C.row(output), D.row(output)),
                    };
                    let largest = of_x.iter().chain(&of_u).fold(0.0_f64, |most, d| most.max(d.abs()));
                    for (k, &d) in of_x.iter().enumerate() {
                        true_states[row * n + k] |= d.abs() > 1e-9 * largest;
                        assert!(
                            d == 0.0 || knowns.states.contains(&k),
                            "{name}: {} of {}: {d}",
                            row_name(row),
                            model.states[k].name
                        );
                    }
                    for (k, &d) in of_u.iter().enumerate() {
                        assert!(
                            d == 0.0 || knowns.inputs.contains(&k),
                            "{name}: {} of {}: {d}",
                            row_name(row),
                            model.inputs[k].quantity.name
                        );
                        if row >= n && d.abs() > 1e-9 * largest {
                            acts[(row - n) * nu + k] = true;
                        }
                    }
                }
                // Switches have no derivatives.
                let Some(before) = experiment.values((&x, &u, &discrete)) else {
                    continue;
                };
                for k in 0..nu {
                    let mut u = u.clone();
                    u[k] = 1.0 - u[k].round();
                    let Some(after) = experiment.values((&x, &u, &discrete)) else {
                        continue;
                    };
                    for (row, knowns) in rows.iter().enumerate() {
                        let has_changed = (after[row] - before[row]).abs() > 1e-9 * before[row].abs().max(1e-3);
                        if has_changed && row >= n {
                            acts[(row - n) * nu + k] = true;
                        }
                        assert!(
                            !has_changed || knowns.inputs.contains(&k),
                            "{name}: {} of {}",
                            row_name(row),
                            model.inputs[k].quantity.name
                        );
                    }
                }
                for k in 0..n {
                    let mut x = x.clone();
                    x[k] += std::f64::consts::TAU;
                    let Some(after) = experiment.values((&x, &u, &discrete)) else {
                        continue;
                    };
                    for (row, knowns) in rows.iter().enumerate() {
                        let has_changed = (after[row] - before[row]).abs() > 1e-6 * before[row].abs().max(1.0);
                        assert!(
                            !has_changed || knowns.states.contains(&k),
                            "{name}: {} of {}",
                            row_name(row),
                            model.states[k].name
                        );
                    }
                }
            }
        }
        assert!(counted >= 8, "{name}: {counted} experiments");
        let traced: usize = rows.iter().map(|row| row.states.len()).sum();
        let exact = true_states.iter().filter(|&&is| is).count();
        let mut idle = Vec::new();
        let mut pairs = 0;
        for (output, knowns) in found.outputs.iter().enumerate() {
            for &input in &knowns.inputs {
                pairs += 1;
                let is_event = model.outputs[output].kind == OutputKind::Discrete;
                if !acts[output * nu + input] && !is_event {
                    idle.push(format!(
                        "{} of {}",
                        model.outputs[output].quantity.name, model.inputs[input].quantity.name
                    ));
                }
            }
        }
        println!(
            "{name}: {time:?}; {counted} experiments; states {traced} traced, {exact} exact; {pairs} outputs × inputs, {} without effect",
            idle.len()
        );
        idle
    }

    #[test]
    fn traced_dependencies_contain_all_exact_ones_and_no_input_without_effect() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
        let mut files: Vec<_> = std::fs::read_dir(&folder)
            .expect("a folder")
            .map(|file| file.expect("a file").path())
            .collect();
        files.retain(|file| file.extension().is_some_and(|extension| extension == "toml"));
        files.sort();
        assert!(files.len() > 10);
        let mut all = Vec::new();
        for file in files {
            let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            let text = std::fs::read_to_string(&file).expect("a text");
            let model = Model::read(&text, &folder).expect("valid");
            let idle = check(&name, &model);
            println!("    {:?}", &idle[..idle.len().min(30)]);
            all.extend(idle);
        }
        assert_eq!(all, [""; 0]);
    }

    #[test]
    fn each_pair_of_factors_takes_each_pair_of_levels() {
        for (n, levels) in [(0, 3), (1, 3), (2, 2), (5, 3), (17, 2)] {
            let rows = pairs(n, levels);
            assert!(!rows.is_empty());
            for (j, k) in (0..n).flat_map(|j| (0..j).map(move |k| (j, k))) {
                for pair in (0..levels).flat_map(|a| (0..levels).map(move |b| (a, b))) {
                    assert!(rows.iter().any(|row| (row[j], row[k]) == pair), "{j} {k} {pair:?}");
                }
            }
        }
    }
}
