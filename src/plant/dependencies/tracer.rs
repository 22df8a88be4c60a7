//! Evaluation with traced numbers.

use super::regime::Regime;
use crate::algebra::{Quaternion, Scalar, Traced, Twist, Vec3, Wrench};
use crate::elements::{Invariance, Limit, MotorState, Sliding, Task};
use crate::plant::context::Constants;
use crate::plant::coordinates::Coordinates;
use crate::plant::evaluation::{Balance, joint_coordinates};
use crate::plant::model::{Model, Source};
use crate::plant::{Discrete, Evaluation};
use crate::random::{INCREMENT, mix};
use crate::system::{BodyKinematics, Derived, Joint, JointState, Kinematics, Point};
use num_traits::{One, Zero};

/// Number of random states that are tried in a regime where the equations are singular.
const ATTEMPTS: usize = 8;

/// Variables to be traced.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Read {
    /// States and inputs.
    Variables,
    /// States and inputs, as seen from a free body: see [`see_from`]. A row that depends on loads
    /// has variables of bodies too.
    From(usize, Invariance),
    /// States, inputs, and bodies whose positions or motions the outputs read directly, not through
    /// loads and accelerations.
    Positions,
    /// States, inputs, and bodies whose positions, motions or loads are read.
    Bodies,
}

/// Variables on which a derivative or an output depends, ascending.
#[derive(Clone, Debug)]
pub(super) struct Found {
    pub variables: Vec<usize>,
    /// Those whose factors (partial derivatives) are constant.
    pub constant: Vec<usize>,
}

impl Found {
    /// Adds variables whose factors are not constant.
    pub fn add(&mut self, variables: &[usize]) {
        self.variables.extend(variables);
        self.variables.sort_unstable();
        self.variables.dedup();
        self.constant.retain(|known| !variables.contains(known));
    }

    /// Removes variables that are not in `other`, the dependencies of an equal function.
    pub fn meet(&mut self, other: &Self) {
        self.variables.retain(|known| other.variables.contains(known));
        self.constant.extend(&other.constant);
        self.constant.sort_unstable();
        self.constant.dedup();
        self.constant.retain(|known| self.variables.contains(known));
    }
}

/// Evaluation with traced numbers. The variables are the states, the inputs of the loads and the
/// bodies.
pub(super) struct Tracer {
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
    pub fn new(model: &Model) -> Self {
        let mut model = model.clone();
        model.sources = (0..model.sources.len()).map(Source::Importer).collect();
        Traced::reset(model.states.len() + model.sources.len() + model.system.bodies.len());
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

    /// Returns, for each derivative and each output, the variables on which it depends in any of
    /// the regimes; a factor is constant if it is so in all of them. `None` if the equations are
    /// singular at all states tried.
    pub fn read(&mut self, regimes: &[Regime], read: Read) -> Option<Vec<Found>> {
        let model = &self.model;
        let mut constant: Vec<Option<Vec<usize>>> = vec![None; model.states.len() + model.outputs.len()];
        let mut found = vec![Traced::lift(0.0); model.states.len() + model.outputs.len()];
        // If bodies are traced, only bodies are returned: marking them can add states whose effects
        // cancel.
        let first = match read {
            Read::Variables | Read::From(..) => 0,
            Read::Positions | Read::Bodies => model.states.len() + model.sources.len(),
        };
        for regime in regimes {
            let now = (0..ATTEMPTS).find_map(|_| self.trace(regime, read))?;
            for ((found, constant), now) in found.iter_mut().zip(&mut constant).zip(now) {
                *found = found.reading(now);
                let mut here = now.with_constant_factors();
                if let Some(before) = constant {
                    here.retain(|known| before.binary_search(known).is_ok());
                }
                *constant = Some(here);
            }
        }
        let all = found.into_iter().zip(constant).map(|(found, constant)| Found {
            variables: found.variables().into_iter().filter(|&known| known >= first).collect(),
            constant: constant.unwrap_or_default(),
        });
        Some(all.collect())
    }

    /// Returns the number of ANCF elements on which a frame may lie.
    pub fn elements_with_frames(&self) -> usize {
        let beams = self.derived.nodal.iter().map(|beam| beam.elements.len());
        let has_frames = self.model.system.points.iter().any(Point::is_frame);
        beams.max().filter(|_| has_frames).unwrap_or(1)
    }

    /// Sets the discrete state to a regime; returns random states and inputs.
    fn enter(&mut self, regime: &Regime) -> (Vec<f64>, Vec<f64>) {
        let random = &mut self.random;
        let model = &self.model;
        let states = model.states.iter().zip(&self.start);
        let x: Vec<f64> = states
            .map(|(state, start)| start + state.nominal * random.unit())
            .collect();
        let mut u: Vec<f64> = model.sources.iter().map(|_| 0.75 + 0.25 * random.unit()).collect();
        for ((switch, _), &is_on) in model.servos().fed_inputs().zip(&regime.fed) {
            u[switch] = f64::from(u8::from(is_on));
        }
        self.discrete.motions.clone_from(&regime.motions);
        for (state, &slides) in self.discrete.sliding.iter_mut().zip(&regime.slides) {
            *state = if slides { Sliding::Forward } else { Sliding::Stuck };
        }
        for capture in &mut self.discrete.captures {
            capture.holds = regime.captured;
            capture.p = Vec3::from_fn(|_, _| random.unit());
            capture.R = Quaternion::from_slice(&[(); 4].map(|()| random.unit()))
                .normalised()
                .rotation();
        }
        for rest in &mut self.discrete.rests {
            rest.hold = regime.rests;
            rest.direction = Vec3::from_fn(|_, _| random.unit());
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
        let sensors = model.elements.sensors.iter();
        for (sensor, samples) in sensors.zip(&mut self.discrete.samples[model.elements.first_sensor()..]) {
            match sensor.sample_time.is_some() && regime.measured {
                true => samples.mark_taken(),
                false => samples.discard(),
            }
        }
        self.discrete.voltages.fill(limit);
        self.discrete.controlled.fill(limit);
        // Torques within their limits depend on more variables while wheels are desaturated.
        self.discrete.desaturating.fill(!regime.limited);
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
        (x, u)
    }

    /// Returns derivatives and outputs at a random state; `None` if the equations are singular.
    fn trace(&mut self, regime: &Regime, read: Read) -> Option<Vec<Traced>> {
        let (x, u) = self.enter(regime);
        let model = &self.model;
        let n = model.states.len();
        let of = Constants {
            model,
            derived: &self.derived,
            parameters: &self.parameters,
        };
        let variable = |first: usize| move |(k, &value): (usize, &f64)| Traced::variable(value, first + k);
        let mut x: Vec<Traced> = x.iter().enumerate().map(variable(0)).collect();
        if let Read::From(root, motions) = read {
            see_from(model, root, motions, &mut x);
        }
        let mut u: Vec<Traced> = u.iter().enumerate().map(variable(n)).collect();
        let body = |i: usize| Traced::variable(0.0, n + model.sources.len() + i);
        // Feed-forward and tasks solve dynamics of their own, which depend on all bodies; the
        // reference accelerations of the one and the references of the other carry these
        // dependencies.
        let accelerations = model.elements.fed_inputs().flat_map(|(_, accelerations)| accelerations);
        let references = model.elements.tasks.iter().flat_map(Task::inputs);
        for input in accelerations.chain(references).filter(|_| read == Read::Bodies) {
            let all = (0..model.system.bodies.len())
                .map(body)
                .fold(Traced::zero(), |sum, body| sum + body);
            u[input] = u[input].reading(all);
        }
        let (evaluation, discrete) = (&mut self.evaluation, &self.discrete);
        let mut now = vec![Traced::lift(0.0); n + model.outputs.len()];
        let (dx, y) = now.split_at_mut(n);
        evaluation.read_inputs(of, 0.0, &u, &x, discrete);
        evaluation.update_kinematics(of, &x);
        if matches!(read, Read::Positions | Read::Bodies) {
            let Kinematics { bodies, stations, .. } = &mut evaluation.kinematics;
            bodies
                .iter_mut()
                .enumerate()
                .for_each(|(i, at)| *at = reading(at, body(i)));
            let of_stations = model.system.stations.iter().zip(stations);
            of_stations.for_each(|(station, at)| *at = reading(at, body(station.body)));
        }
        if read == Read::Positions {
            evaluation.outputs(of, &x, discrete, y);
            return Some(now);
        }
        let joints = joint_coordinates(evaluation.recovered.as_deref(), &model.split(&x));
        let (q, qd) = (joints.q.to_vec(), joints.qd.to_vec());
        let power = evaluation.load(of, JointState { q: &q, qd: &qd }, discrete).ok()?;
        let power = match read {
            Read::From(..) => power.reading(body(0)),
            _ => power,
        };
        let marks = read != Read::Variables;
        for (i, of) in model.system.bodies.iter().enumerate().filter(|_| marks) {
            let applied = &mut evaluation.applied;
            let reads = |number: Traced| number.reading(body(i));
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

/// Returns the kinematics with a dependency on `body` added to each number.
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

/// Returns the free bodies from which rows are traced, and the superposed motions for each.
///
/// A function `f` of the states that is invariant under a group of motions has equal values at `x`
/// and at `x` after a motion `g`, `g x`. Let `g(x)` move one free body to the world's origin. The
/// states of that body that `g(x)` makes constant then enter `f(g(x) x)` only through the states of
/// other trees, which become relative to that body; coordinates of joints do not change. Traced
/// dependencies of `f(g(x) x)` contain all true ones of `f`, as those of `f(x)` do, and so does the
/// intersection.
pub(super) fn views(model: &Model) -> impl Iterator<Item = (usize, Invariance)> {
    let motions: &[Invariance] = match model.coordinates {
        Coordinates::Minimal => &[Invariance::Shift, Invariance::Galilean, Invariance::Objective],
        // The velocities of all bodies are states, in body axes.
        Coordinates::Velocities(_) => &[Invariance::Shift, Invariance::Pose],
        Coordinates::Maximal(_) => &[],
    };
    let roots = (0..model.system.bodies.len()).filter(|&body| model.system.is_root(body));
    roots.flat_map(|root| motions.iter().map(move |&motions| (root, motions)))
}

/// Returns the invariance of each derivative and each output.
///
/// Coordinates and rates of joints and modes are invariant, as are angular velocities in body axes,
/// and so are their derivatives (if the loads are); the linear velocities of free bodies and
/// everything of ANCF beams are in world axes.
pub(super) fn invariances(model: &Model) -> Vec<Invariance> {
    let (n, rates, system) = (model.states.len(), model.rates(), &model.system);
    let mut of = vec![Invariance::None; n];
    if !model.elements.tasks.is_empty() {
        // Joints track references in the world, so that no state or output is invariant.
        of.resize(n + model.outputs.len(), Invariance::None);
        return of;
    }
    let has_joint_rates = model.coordinates.are_of_joints();
    of[..rates.end].fill(Invariance::Galilean);
    for joint in roots(model) {
        of[joint.q..joint.q + 7].fill(Invariance::None);
        if has_joint_rates {
            of[rates.start + joint.v + 3..rates.start + joint.v + 6].fill(Invariance::None);
        }
    }
    for beam in &system.nodal {
        of[beam.coordinates()].fill(Invariance::None);
        of[rates.start..][beam.rates()].fill(Invariance::None);
    }
    // The power of loads on moving bodies.
    of[rates.end..].fill(Invariance::Pose);
    of.extend(model.outputs.iter().map(|output| output.invariance));
    of
}

/// Returns true if a row that `seen` from a free body has these dependencies is invariant under
/// `motions`, given its `invariance`.
///
/// A row that depends on loads contains accelerations, which change under rotations at a rate, and
/// under all motions if a load reads the world.
pub(super) fn holds(model: &Model, seen: &Found, invariance: Invariance, motions: Invariance) -> bool {
    let reads_loads = seen.variables.last() >= Some(&(model.states.len() + model.sources.len()));
    let applies = !reads_loads || (motions != Invariance::Objective && !model.elements.read_world(&model.system));
    applies && invariance.includes(motions)
}

/// Returns the joints of free bodies.
fn roots(model: &Model) -> impl Iterator<Item = &Joint> {
    let system = &model.system;
    let bodies = system.bodies.iter().enumerate();
    bodies.filter(|&(i, _)| system.is_root(i)).map(|(_, body)| &body.joint)
}

/// Superposes on all free bodies and ANCF beams those `motions` that move the body `root` to the
/// world's origin, with the world's attitude, at rest, as far as they can. Values, which select
/// branches and pivots, remain those before the motion; only dependencies change.
fn see_from(model: &Model, root: usize, motions: Invariance, x: &mut [Traced]) {
    let rates = model.rates().start;
    let joint = &model.system.bodies[root].joint;
    let (q, v) = (joint.q, rates + joint.v);
    let mut constant: Vec<usize> = (q + 4..q + 7).collect();
    if motions != Invariance::Shift {
        constant.extend(q..q + 4);
    }
    let has_joint_rates = model.coordinates.are_of_joints();
    if has_joint_rates && motions != Invariance::Pose {
        constant.extend(v + 3..v + 6);
    }
    if has_joint_rates && motions == Invariance::Objective {
        constant.extend(v..v + 3);
    }
    let motion = constant.iter().fold(Traced::zero(), |sum, &k| sum.reading(x[k]));
    let others = roots(model).filter(|other| other.q != q).map(|other| {
        let rates = rates + other.v..rates + other.v + 6;
        (other.q..other.q + 7, rates)
    });
    let beams = model.system.nodal.iter().map(|beam| {
        let rates = rates + beam.v..rates + beam.v + beam.n;
        (beam.coordinates(), rates)
    });
    for (coordinates, rates) in others.chain(beams) {
        let moved = coordinates.chain(rates.filter(|_| has_joint_rates));
        let all = moved.clone().fold(motion, |sum, k| sum.reading(x[k]));
        moved.for_each(|k| x[k] = x[k].reading(all));
    }
    for k in constant {
        x[k] = x[k].like(if k == q { Traced::one() } else { Traced::zero() });
    }
}

/// The generator SplitMix64 (Steele, Lea, Flood 2014): the same numbers on every platform.
pub(super) struct Random(pub u64);

impl Random {
    /// Returns a number between −1 and 1, at least 0.2 in magnitude.
    pub fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(INCREMENT);
        let z = mix(self.0);
        let size = 0.2 + 0.8 * (z >> 11) as f64 / (1u64 << 53) as f64;
        if z & 1 == 0 { size } else { -size }
    }
}
