//! Dependencies of FMI's ModelStructure, by tracing the evaluation itself.

use super::context::Constants;
use super::evaluation::{Balance, joint_coordinates};
use super::model::{Model, Source};
use super::{Discrete, Evaluation, OutputKind};
use crate::algebra::{Quaternion, Scalar, Traced, Twist, Vec3, Wrench};
use crate::elements::{Limit, MotorState};
use crate::spec::JointMotion;
use crate::system::{BodyKinematics, Derived, JointState, Kinematics, Point};
use num_traits::Zero;
use std::collections::{BTreeMap, BTreeSet};

/// Known variables on which each computed one depends.
///
/// States and inputs are [traced](Traced) through the evaluation at one random state in every
/// regime, independent of the values of parameters. Constants are not traced: an unknown depends on
/// the parameters of all bodies and joints between the world and those whose states or inputs it
/// depends on, or whose positions, motions or loads it reads.
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
    /// Element on which frames of ANCF beams lie, as their parameters may change it.
    element: usize,
}

impl Regime {
    /// Returns the regimes of a model: each pair of switched joints in each pair of motions, within
    /// limits and at them, with and without captures, frames of ANCF beams on each element.
    fn all(model: &Model, elements: usize, at_start: bool) -> Vec<Self> {
        let drives: Vec<_> = (model.elements.drives.iter())
            .filter(|drive| drive.mode().is_some())
            .collect();
        let motion = |k: usize, level: usize| match drives[k].motions() {
            motions if !at_start => motions[level % motions.len()],
            _ => drives[k].motion(),
        };
        let fed = drives.len()..drives.len() + model.elements.fed().count();
        let has_limits = !model.elements.motors.is_empty() || model.controller().is_some();
        let captures = !at_start && model.elements.captures().next().is_some();
        let both = |is_possible: bool| [false, true].into_iter().take(1 + usize::from(is_possible));
        let mut regimes = Vec::new();
        for levels in pairs(fed.end, JointMotion::ALL.len()) {
            let rest = both(has_limits).flat_map(|limited| both(captures).map(move |captured| (limited, captured)));
            for ((limited, captured), element) in rest.flat_map(|rest| (0..elements).map(move |i| (rest, i))) {
                let regime = Self {
                    motions: (0..drives.len()).map(|k| motion(k, levels[k])).collect(),
                    fed: fed.clone().map(|k| levels[k] % 2 == 0).collect(),
                    limited,
                    captured,
                    element,
                };
                if !regimes.contains(&regime) {
                    regimes.push(regime);
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
        let trace = |tracer: &mut Tracer, regimes: &[Regime], read: Read| {
            let mut found = vec![Traced::lift(0.0); rows];
            for regime in regimes {
                let now = (0..ATTEMPTS).find_map(|_| tracer.trace(regime, read))?;
                for (found, now) in found.iter_mut().zip(now) {
                    *found = found.reading(now);
                }
            }
            // Bodies count only where they are asked for; they may add states that cancel.
            let first = if read == Read::Variables {
                0
            } else {
                n + model.sources.len()
            };
            let variables = found
                .into_iter()
                .map(|found| found.variables().into_iter().filter(|&k| k >= first).collect());
            Some(variables.collect::<Vec<Vec<usize>>>())
        };
        let beams = tracer.derived.nodal.iter().map(|beam| beam.elements.len());
        let has_frames = model.system.points.iter().any(Point::is_frame);
        let elements = beams.max().filter(|_| has_frames).unwrap_or(1);
        let mut running = trace(&mut tracer, &Regime::all(model, elements, false), Read::Variables)?;
        let at_start = Regime::all(model, elements, true);
        let mut initial = trace(&mut tracer, &at_start, Read::Variables)?;
        let positions = trace(&mut tracer, &at_start, Read::Positions)?;
        let bodies = trace(&mut tracer, &at_start, Read::Bodies)?;
        let discrete = discrete_outputs(model);
        for (row, discrete) in discrete.iter().enumerate() {
            running[row].extend(discrete);
            running[row].sort_unstable();
            running[row].dedup();
            initial[row].extend(discrete.iter().filter(|&&known| known < n).chain(&bodies[row]));
        }
        // An attitude is computed from joints; it reads the same bodies as the element's position.
        let mut read: BTreeMap<&str, BTreeSet<usize>> = BTreeMap::new();
        let elements = model.outputs.iter().map(|output| owner(&output.quantity.name));
        for (element, positions) in elements.clone().zip(&positions[n..]) {
            read.entry(element).or_default().extend(positions);
        }
        for (element, initial) in elements.zip(&mut initial[n..]) {
            initial.extend(&read[element]);
        }
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
        let initial = |row: usize| owners.initial(model, &starts, row, &initial[row]);
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

/// Returns the name of the element to which a variable belongs: up to the last point.
fn owner(name: &str) -> &str {
    name.rsplit_once('.').map_or(name, |(owner, _)| owner)
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
    for (output, coordinate) in model.flags.iter().copied() {
        known[n + output].extend(model.states_of(coordinate));
    }
    for (output, declared) in model.outputs.iter().enumerate() {
        if declared.kind == OutputKind::Discrete {
            known[n + output].extend((0..n).chain(model.elements.command_inputs().map(|input| n + input)));
        }
    }
    known
}

/// Variables to be traced.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Read {
    /// States and inputs.
    Variables,
    /// States, inputs, and bodies whose positions or motions the outputs read themselves.
    Positions,
    /// States, inputs, and bodies whose positions, motions or loads are read.
    Bodies,
}

/// Evaluation with traced numbers. The variables are the states, the inputs of the loads, the
/// positions of the bodies and the loads on them.
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
        Traced::reset(model.states.len() + model.sources.len() + 2 * model.system.bodies.len());
        let parameters = model.parameter_starts();
        let derived = model.validate(&parameters, None, &mut Vec::new());
        let mut start = vec![0.0; model.states.len()];
        if model.start(&derived, 0.0, &parameters, &mut start).is_err() {
            start.fill(0.0);
        }
        Self {
            values: Evaluation::new(&model),
            evaluation: Evaluation::new(&model),
            discrete: model.discrete(),
            random: Random(0),
            model,
            derived,
            parameters,
            start,
        }
    }

    /// Returns derivatives and outputs at a random state; `None` if the equations are singular.
    fn trace(&mut self, regime: &Regime, read: Read) -> Option<Vec<Traced>> {
        let random = &mut self.random;
        let model = &self.model;
        let n = model.states.len();
        let states = model.states.iter().zip(&self.start);
        let x: Vec<f64> = states
            .map(|(state, start)| start + state.nominal * random.unit())
            .collect();
        let mut u: Vec<f64> = model.sources.iter().map(|_| 0.75 + 0.25 * random.unit()).collect();
        for (fed, &is_on) in model.elements.fed().zip(&regime.fed) {
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
        for (motor, state) in model.elements.motors.iter().zip(&mut self.discrete.motors) {
            let [with_rate, without] = [limit, Limit::Within].map(|rate| MotorState {
                torque: limit,
                rate,
                is_beyond: false,
            });
            *state = if motor.can_have(&with_rate) { with_rate } else { without };
        }
        self.discrete.controlled.fill(limit);
        for (site, point) in (self.derived.sites.iter_mut().zip(&model.system.points)).filter(|(_, of)| of.is_frame()) {
            let elements = self.derived.nodal[point.beam].elements.len();
            site.element = regime.element.min(elements - 1);
        }
        let of = Constants {
            model,
            derived: &self.derived,
            parameters: &self.parameters,
        };
        self.values.determine_rank(of, &x, &mut self.discrete);

        let variable = |first: usize| move |(k, &value): (usize, &f64)| Traced::variable(value, first + k);
        let x: Vec<Traced> = x.iter().enumerate().map(variable(0)).collect();
        let mut u: Vec<Traced> = u.iter().enumerate().map(variable(n)).collect();
        let bodies = model.system.bodies.len();
        let position = |i: usize| Traced::variable(0.0, n + model.sources.len() + i);
        let load = |i: usize| Traced::variable(0.0, n + model.sources.len() + bodies + i);
        for fed in model.elements.fed().filter(|_| read == Read::Bodies) {
            // Feed-forward has dynamics of its own, which read its reference acceleration.
            let all = (0..bodies).map(load).fold(Traced::zero(), |sum, load| sum + load);
            let qdd_ref = &mut u[fed.qdd_ref..fed.qdd_ref + fed.axes];
            qdd_ref.iter_mut().for_each(|u| *u = u.reading(all));
        }
        let (evaluation, discrete) = (&mut self.evaluation, &self.discrete);
        let mut now = vec![Traced::lift(0.0); n + model.outputs.len()];
        let (dx, y) = now.split_at_mut(n);
        evaluation.read_inputs(of, 0.0, &u, discrete);
        evaluation.update_kinematics(of, &x);
        if read != Read::Variables {
            let Kinematics { bodies, stations, .. } = &mut evaluation.kinematics;
            bodies
                .iter_mut()
                .enumerate()
                .for_each(|(i, at)| *at = reading(at, position(i)));
            let of_stations = model.system.stations.iter().zip(stations);
            of_stations.for_each(|(station, at)| *at = reading(at, position(station.body)));
        }
        if read == Read::Positions {
            evaluation.outputs(of, &x, discrete, y);
            return Some(now);
        }
        let joints = joint_coordinates(evaluation.recovered.as_deref(), &model.split(&x));
        let (q, qd) = (joints.q.to_vec(), joints.qd.to_vec());
        let power = evaluation.load(of, JointState { q: &q, qd: &qd }, discrete).ok()?;
        for (i, of) in model.system.bodies.iter().enumerate().filter(|_| read == Read::Bodies) {
            let applied = &mut evaluation.applied;
            let reads = |number: Traced| number.reading(load(i));
            let Wrench { t, f } = applied.wrench[i];
            applied.wrench[i] = Wrench::new(t.map(reads), f.map(reads));
            let modes = of.modes.as_ref().map_or(0..0, |modes| modes.rates());
            for v in (of.joint.v..of.joint.v + of.joint.nv).chain(modes) {
                applied.tau[v] = reads(applied.tau[v]);
            }
        }
        evaluation.accelerate(of, &x, discrete, Balance::of(power), dx).ok()?;
        evaluation.outputs(of, &x, discrete, y);
        Some(now)
    }
}

/// Returns kinematics that depend on `body` too.
fn reading(at: &BodyKinematics<Traced>, body: Traced) -> BodyKinematics<Traced> {
    let read = |v: Vec3<Traced>| v.map(|x| x.reading(body));
    let twist = |V: Twist<Traced>| Twist::new(read(V.w), read(V.v));
    BodyKinematics {
        R_WB: at.R_WB.map(|x| x.reading(body)),
        p_WB: read(at.p_WB),
        r_PB_W: read(at.r_PB_W),
        V_WB: twist(at.V_WB),
        A_bias: twist(at.A_bias),
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
        let derived = model.validate(&values, None, &mut Vec::new());
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
    /// True for the mass, mass centre and inertia of a rigid body.
    is_mass: Vec<bool>,
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
        let of_variable = |name: &str| named(owner(name));
        let of_state = |name: &str| match of_variable(name) {
            // A state of anything else counts as one of every body.
            none if none.is_empty() => (0..system.bodies.len()).collect(),
            bodies => bodies,
        };
        let of_slot = |source: &Source| match *source {
            Source::Host(input) => of_variable(&model.inputs[input].quantity.name),
            Source::Signal(k) | Source::Rate(k) | Source::Acceleration(k) => {
                let first = model.elements.signals[k].parameters().next();
                first.map_or_else(Vec::new, |first| of_variable(&model.parameters[first].at[1]))
            }
        };
        // A servo distributes its torque among all wheels, so that their parameters are no body's.
        let of_parameter = |at: &[String]| match at {
            [section, name, ..] if ["body", "joint"].contains(&section.as_str()) => {
                let bodies = named(name);
                Some(bodies).filter(|bodies| !bodies.is_empty() && !model.spec.wheel.contains_key(name))
            }
            _ => None,
        };
        let is_mass = |at: &[String]| match at {
            [section, name, field]
                if section == "body" && ["mass", "mass_centre", "inertia"].contains(&field.as_str()) =>
            {
                let is_rigid = |&i: &usize| system.bodies[i].modes.is_none() && system.bodies[i].director.is_none();
                named(name).iter().all(is_rigid)
            }
            _ => false,
        };
        Self {
            is_mass: model
                .parameters
                .iter()
                .map(|parameter| is_mass(&parameter.at))
                .collect(),
            states: model.states.iter().map(|state| of_state(&state.name)).collect(),
            slots: model.sources.iter().map(of_slot).collect(),
            parameters: model
                .parameters
                .iter()
                .map(|parameter| of_parameter(&parameter.at))
                .collect(),
        }
    }

    /// Marks the bodies between the world and the marked ones.
    fn close(model: &Model, marked: &mut [bool]) {
        for (i, body) in model.system.bodies.iter().enumerate().rev() {
            if let (true, Some(parent)) = (marked[i], body.parent) {
                marked[parent] = true;
            }
        }
    }

    /// Returns the parameters of marked bodies and their joints and of everything else in the
    /// model, apart from those that only start states or only belong to signals or solvers, and
    /// without `masses` from the masses.
    fn parameters_of(
        &self,
        model: &Model,
        starts: &Starts,
        marked: &[bool],
        masses: bool,
    ) -> impl Iterator<Item = usize> {
        (0..model.parameters.len()).filter(move |&p| {
            !starts.is_start[p]
                && (masses || !self.is_mass[p])
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
            parameters.extend(self.parameters_of(model, starts, &marked, false));
        }
        Knowns::at_start(parameters, Vec::new())
    }

    /// Returns the knowns at the start of a derivative or an output that depends on these states,
    /// inputs and bodies.
    fn initial(&self, model: &Model, starts: &Starts, row: usize, known: &[usize]) -> Knowns {
        let n = model.states.len();
        let mut marked = vec![false; model.system.bodies.len()];
        let (mut parameters, mut inputs) = (Vec::new(), Vec::new());
        // Outputs of positions and velocities alone do not depend on masses.
        let output = row
            .checked_sub(n)
            .map(|output| owner(&model.outputs[output].quantity.name));
        let mut masses = output.is_none_or(|element| element == "system");
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
                            parameters.extend(model.elements.signals[k].parameters());
                        }
                    }
                }
                (_, Some(body)) => {
                    masses |= body >= marked.len();
                    let bodies = marked.len();
                    marked[body % bodies] = true;
                }
            }
        }
        // The derivative of a joint's coordinate depends on that joint alone.
        if !(starts.is_exact && row < model.rates().start) {
            Self::close(model, &mut marked);
        }
        parameters.extend(self.parameters_of(model, starts, &marked, masses));
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
mod tests;
