use super::table::Table;
use crate::Problem;
use crate::algebra::{Quaternion, Vec3};
use crate::elements::{Limit, MotorState};
use crate::plant::context::{Constants, OperatingPoint};
use crate::plant::model::{Model, Source};
use crate::plant::{Discrete, Evaluation, Jacobians, LANES, Tangent};
use crate::spec::JointMotion;
use crate::system::{Derived, Parameter};
use std::collections::HashMap;

/// What of a partial derivative is round-off is another number when the state moves by this part of its size.
const HAIR: f64 = 1e-13;
/// A true derivative stays the same to this relative accuracy.
const STAYS: f64 = 1e-3;
/// How often it has to, where it tells of something new. Round-off of what cancels is a few units in the last place, and so the same again by chance, at times twice.
const ECHOES: usize = 8;

/// The model with its signals taken out, so that each input can be changed by itself.
pub(super) struct Probe {
    model: Model,
    evaluation: Evaluation<f64>,
    tangent: Tangent<LANES>,
    slopes: [Jacobians; 2],
    discrete: Discrete,
    /// By which numbers states are moved to see what is round-off.
    echo: u64,
    /// Where motors and a controller's torques are to their limits.
    limits: Limits,
    /// The rank of the loops' rows where they are closed, if there are loops.
    closed_rank: Option<usize>,
}

/// Where motors and a controller's torques are to their limits: at random states nearly all are beyond.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Limits {
    /// All are within them.
    Within,
    /// All are at them: of a rate, over the last part of it.
    At,
    /// Each is where it is asked to be.
    Own,
}

/// Motions of joints, and whether captures hold.
#[derive(Clone, Debug)]
pub(super) struct Way {
    motions: Vec<JointMotion>,
    is_captured: bool,
}

impl Probe {
    pub fn new(model: &Model, echo: u64) -> Self {
        let mut model = model.clone();
        model.sources = (0..model.sources.len()).map(Source::Host).collect();
        // Trajectories too: their joints start where random craft have them.
        model
            .elements
            .signals
            .iter_mut()
            .for_each(|signal| signal.rate_input = None);
        model.elements.press_always();
        let mut discrete = model.discrete();
        // Where frames happen to be captured in each other hides nothing either.
        let mut random = Random::new(0);
        for capture in &mut discrete.captures {
            capture.p = Vec3::from_fn(|_, _| random.unit());
            capture.R = Quaternion::from_slice(&random.vector(4)).normalised().rotation();
        }
        let values = model.parameter_starts();
        let derived = model.validate(&values, None, &mut Vec::new());
        let has_loops = !model.elements.closed_loops.is_empty();
        let closed_rank = has_loops.then(|| model.assembly(&derived, 0.0, &values).map_or(0, |closed| closed.rank));
        Self {
            closed_rank,
            evaluation: Evaluation::new(&model),
            tangent: Tangent::with_inputs(&model, model.sources.len()),
            slopes: [(); 2].map(|()| Jacobians::with_inputs(&model, model.sources.len())),
            discrete,
            echo,
            limits: Limits::Own,
            model,
        }
    }

    /// Ways in which the joints may move whose motion is switched: as they start, all alike, and one otherwise than the others; with captures, each of them without
    /// and with all that can be captured.
    pub fn motions(&self) -> Vec<Way> {
        let drives: Vec<_> = self
            .model
            .elements
            .drives
            .iter()
            .filter(|drive| drive.mode().is_some())
            .collect();
        let start: Vec<JointMotion> = drives.iter().map(|drive| drive.motion()).collect();
        let may = |k: usize, motion: &JointMotion| drives[k].motions().contains(motion);
        let mut bases = vec![start.clone()];
        bases.extend(JointMotion::ALL.iter().map(|motion| {
            let all = (0..drives.len()).map(|k| if may(k, motion) { *motion } else { start[k] });
            all.collect()
        }));
        let mut ways = bases.clone();
        for (base, k) in bases.iter().flat_map(|base| (0..drives.len()).map(move |k| (base, k))) {
            for motion in JointMotion::ALL.iter().filter(|motion| may(k, motion)) {
                let mut way = base.clone();
                way[k] = *motion;
                ways.push(way);
            }
        }
        let mut seen = std::collections::HashSet::new();
        ways.retain(|way| seen.insert(way.iter().map(|motion| motion.number()).collect::<Vec<_>>()));
        let with = |motions: &Vec<JointMotion>, is_captured| Way {
            motions: motions.clone(),
            is_captured,
        };
        let captures = self.model.elements.captures().next().is_some();
        let both = ways.iter().flat_map(|way| [with(way, false), with(way, true)]);
        both.filter(|way| captures || !way.is_captured).collect()
    }

    /// Lets the joints move in one of these ways, and captures hold or not.
    pub fn switch(&mut self, way: &Way) {
        self.discrete.motions.clone_from(&way.motions);
        for capture in &mut self.discrete.captures {
            capture.holds = way.is_captured;
        }
    }

    /// Whether anything has limits at which it can be held.
    pub fn has_limits(&self) -> bool {
        !self.model.elements.motors.is_empty() || self.model.controller().is_some()
    }

    /// Holds motors and a controller's torques there.
    pub fn hold(&mut self, limits: Limits) {
        self.limits = limits;
    }

    /// The craft that is written.
    pub fn written(&self) -> Option<(Vec<f64>, Derived)> {
        let written = self.model.parameter_starts();
        let derived = self.derive(&written, None, &mut Vec::new())?;
        Some((written, derived))
    }

    /// The constants of a craft, if its numbers make one.
    fn derive(
        &self,
        parameters: &[f64],
        before: Option<(&[f64], &Derived)>,
        problems: &mut Vec<Problem>,
    ) -> Option<Derived> {
        let derived = self.model.validate(parameters, before, problems);
        self.model.validate_start(parameters, problems);
        problems.is_empty().then_some(derived)
    }

    /// A random craft: every group of numbers of the spec made about one in size, and shaken.
    pub fn craft(&self, random: &mut Random) -> Option<(Vec<f64>, Derived)> {
        let declared = &self.model.parameters;
        let mut largest: HashMap<&[String], f64> = HashMap::new();
        for parameter in declared {
            let largest = largest.entry(&parameter.at).or_default();
            *largest = largest.max(parameter.start.abs());
        }
        // What has a size of its own, such as an orbit, keeps it.
        let is_sized = |parameter: &Parameter| !(1.0..=1.0).contains(&parameter.quantity.nominal);
        let scaled = |parameter: &Parameter| match largest[parameter.at.as_slice()] {
            _ if is_sized(parameter) => parameter.start,
            0.0 => 0.0,
            largest => parameter.start / largest,
        };
        let written = self.model.parameter_starts();
        let scaled: Vec<f64> = declared.iter().map(scaled).collect();
        let shaken = scaled.iter().zip(declared);
        let shaken: Vec<f64> = shaken
            .map(|(value, parameter)| {
                let size = if is_sized(parameter) { 0.03 } else { 0.1 };
                value + size * parameter.quantity.nominal * random.unit()
            })
            .collect();
        let mut parameters = shaken;
        if let Some(orbit) = &self.model.system.orbit {
            orbit.hasten(&mut parameters);
        }
        // What makes no physics when shaken is taken as it is, scaled or as written.
        for calmer in [&scaled, &written] {
            let mut problems = Vec::new();
            if let Some(derived) = self.derive(&parameters, None, &mut problems) {
                return Some((parameters, derived));
            }
            for (i, parameter) in declared.iter().enumerate() {
                if problems.iter().any(|problem| problem.at == parameter.at) {
                    parameters[i] = calmer[i];
                }
            }
        }
        // Where a table does not go with the numbers, which are no parameters' own fault, those of its body are hardly shaken.
        for size in [1e-3, 1e-4, 1e-5] {
            let mut problems = Vec::new();
            if let Some(derived) = self.derive(&parameters, None, &mut problems) {
                return Some((parameters, derived));
            }
            problems.retain(|problem| declared.iter().all(|parameter| parameter.at != problem.at));
            for (i, parameter) in declared.iter().enumerate() {
                let of_its_owner = |problem: &Problem| problem.at.get(..2) == parameter.at.get(..2);
                if parameter.at.len() == 3 && problems.iter().any(of_its_owner) {
                    parameters[i] = written[i] + size * parameter.quantity.nominal * random.unit();
                }
            }
        }
        for parameters in [parameters, written] {
            if let Some(derived) = self.derive(&parameters, None, &mut Vec::new()) {
                return Some((parameters, derived));
            }
        }
        None
    }

    /// The same craft with one number changed, both ways where it may be: a place on a beam is none beyond the beam's tip.
    pub fn neighbours(
        &self,
        (parameters, derived): (&[f64], &Derived),
        j: usize,
        random: &mut Random,
    ) -> impl Iterator<Item = (Vec<f64>, Derived)> {
        let change = self.model.parameters[j].quantity.nominal * random.unit();
        [change, -change].into_iter().filter_map(move |change| {
            [0.3, 0.1, 1e-2, 1e-3, 1e-4, 1e-5].into_iter().find_map(|size| {
                let mut changed = parameters.to_vec();
                changed[j] += size * change;
                let derived = self.derive(&changed, Some((parameters, derived)), &mut Vec::new())?;
                Some((changed, derived))
            })
        })
    }

    pub fn start(&self, parameters: &[f64], derived: &Derived) -> Option<Vec<f64>> {
        let mut x = vec![0.0; self.model.states.len()];
        self.model.start(derived, 0.0, parameters, &mut x).ok()?;
        Some(x)
    }

    /// Derivatives and outputs, where there are some.
    pub fn values(&mut self, parameters: &[f64], derived: &Derived, x: &[f64], slots: &[f64]) -> Option<Vec<f64>> {
        let model = &self.model;
        let n = model.states.len();
        let mut values = vec![0.0; n + model.outputs.len()];
        let (dx, y) = values.split_at_mut(n);
        let of = Constants {
            model,
            derived,
            parameters,
        };
        let (evaluation, discrete) = (&mut self.evaluation, &mut self.discrete);
        evaluation.update_sides(of, 0.0, x, slots, discrete, &mut Vec::new());
        evaluation.choose_controlled_sides(of, 0.0, slots, discrete);
        if self.limits != Limits::Own {
            let limit = Limit::passed(self.limits == Limits::At, false);
            for (motor, state) in model.elements.motors.iter().zip(&mut discrete.motors) {
                let at_both = MotorState {
                    torque: limit,
                    rate: limit,
                    is_beyond: false,
                };
                let at_torque = MotorState {
                    rate: Limit::Within,
                    ..at_both
                };
                *state = if motor.can_have(&at_both) { at_both } else { at_torque };
            }
            discrete.controlled.fill(limit);
        }
        self.evaluation.determine_rank(of, x, &mut self.discrete);
        // Open loops of random craft are independent where closed ones are not, and would leave nothing that moves by its loads.
        if let Some(rank) = self.closed_rank {
            let captured = 6 * model.elements.captures().count();
            self.discrete.rank = self.discrete.rank.min(rank + captured);
        }
        let at = OperatingPoint {
            t: 0.0,
            x,
            u: slots,
            discrete: &self.discrete,
        };
        self.evaluation.derivative(of, at, dx).ok()?;
        self.evaluation.outputs(of, x, &self.discrete, y);
        Some(values)
    }

    /// Partial derivatives of derivatives and outputs, where there are some, in the modes of the last [`values`](Self::values).
    /// What is round-off is zero, or tells of what `found` has already.
    pub fn slopes(
        &mut self,
        numbers: (&[f64], &Derived),
        x: &[f64],
        slots: &[f64],
        found: &Table,
    ) -> Option<&Jacobians> {
        // By numbers of its own: what is round-off does not say where else to look.
        let mut random = Random::new(self.echo);
        let model = &self.model;
        let of = Constants {
            model,
            derived: numbers.1,
            parameters: numbers.0,
        };
        let at = OperatingPoint {
            t: 0.0,
            x,
            u: slots,
            discrete: &self.discrete,
        };
        let [slopes, echo] = &mut self.slopes;
        self.tangent.jacobians_of(of, at, slopes, |_| true).ok()?;
        for _ in 0..ECHOES {
            let news = found.news(slopes, model);
            if !news.contains(&true) {
                break;
            }
            let beside = x.iter().zip(&model.states);
            let beside = beside.map(|(x, state)| x + HAIR * state.nominal.max(x.abs()) * random.unit());
            let beside: Vec<f64> = beside.collect();
            let at = OperatingPoint { x: &beside, ..at };
            self.tangent.jacobians_of(of, at, echo, |column| news[column]).ok()?;
            let (of_states, of_inputs) = news.split_at(x.len());
            let both = [
                (&mut slopes.A, &echo.A, of_states),
                (&mut slopes.B, &echo.B, of_inputs),
                (&mut slopes.C, &echo.C, of_states),
                (&mut slopes.D, &echo.D, of_inputs),
            ];
            for (slopes, echo, news) in both {
                for column in (0..news.len()).filter(|&column| news[column]) {
                    for (slope, echo) in slopes.column_mut(column).iter_mut().zip(&echo.column(column)) {
                        if (*slope - echo).abs() > STAYS * echo.abs() {
                            *slope = 0.0;
                        }
                    }
                }
            }
        }
        Some(slopes)
    }

    /// Initial states, their derivatives, outputs at the start.
    pub fn initial(&mut self, parameters: &[f64], derived: &Derived, slots: &[f64]) -> Option<Vec<f64>> {
        let mut values = self.start(parameters, derived)?;
        let rest = self.values(parameters, derived, &values, slots)?;
        values.extend(rest);
        Some(values)
    }
}

/// The generator SplitMix64 (Steele, Lea, Flood 2014): the same craft on every platform.
pub(super) struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Uniform between −1 and 1, and away from zero.
    pub fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^= z >> 31;
        let size = 0.2 + 0.8 * (z >> 11) as f64 / (1u64 << 53) as f64;
        if z & 1 == 0 { size } else { -size }
    }

    pub fn vector(&mut self, n: usize) -> Vec<f64> {
        (0..n).map(|_| self.unit()).collect()
    }
}
