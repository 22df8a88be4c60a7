use super::model::{Model, Source};
use super::{Evaluation, Jacobians, LANES, Tangent};
use crate::Problem;
use crate::system::{Derived, Parameter};
use std::collections::HashMap;
use std::ops::Range;

/// Which known numbers each computed one depends on, as the model's structure gives it.
///
/// It is found on the craft that is written and on random craft of the same structure: what has a partial derivative, at random
/// states, depends. Parameters and switches, which have none, are changed one by one, and what then changes depends on them.
/// Special values of the spec (a mass centre on the axis, a start at rest) hide nothing, for the states are random, and
/// the parameters too.
#[derive(Clone, Debug)]
pub struct Influence {
    /// Of states and inputs on the states' derivatives.
    pub derivatives: Vec<Knowns>,
    /// Of states and inputs on the outputs.
    pub outputs: Vec<Knowns>,
    /// Of parameters and inputs on the initial states.
    pub initial_states: Vec<Knowns>,
    /// Of parameters and inputs on the derivatives of the initial states.
    pub initial_derivatives: Vec<Knowns>,
    /// Of parameters and inputs on the outputs at the start.
    pub initial_outputs: Vec<Knowns>,
}

/// The known numbers that one computed number depends on, ascending.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Knowns {
    /// Indices of parameters.
    pub parameters: Vec<usize>,
    /// Indices of states.
    pub states: Vec<usize>,
    /// Indices of the host's inputs.
    pub inputs: Vec<usize>,
    /// Those of the states that enter with a factor that no craft of this structure changes.
    pub constant_states: Vec<usize>,
    /// Those of the inputs.
    pub constant_inputs: Vec<usize>,
}

/// How many random craft are looked at, beside the one that is written.
const CRAFT: u64 = 4;
/// A change beyond this part of the greatest that any known causes is no round-off, which stays below 1e-12.
const THRESHOLD: f64 = 1e-9;
/// A partial derivative below this part of the greatest of its row, each times its state's size, is round-off.
const FLOOR: f64 = 1e-12;
/// What of a partial derivative is round-off is another number when the state moves by this part of its size.
const HAIR: f64 = 1e-13;
/// What is none stays the same, to this part of itself.
const STAYS: f64 = 1e-3;
/// Factors closer than this part of their size are the same.
const SAME: f64 = 1e-9;
/// How far states are taken from their start, in nominal values: a joint's range is small beside the second.
const SPREAD: [f64; 2] = [1.0, 20.0];

impl Influence {
    /// Finds what depends on what; none if no random craft could be evaluated, so that nothing is known.
    pub fn of(model: &Model) -> Option<Self> {
        let mut probe = Probe::new(model);
        let (n, p, u) = (model.states.len(), model.parameters.len(), model.sources.len());
        let rows = n + model.outputs.len();
        let mut running = Table::new(rows, n + u);
        let mut initial = Table::new(n + rows, p + u);
        // Beams are bent a little only, as their amplitudes' nominal says: their equations hold no further.
        let bends: Vec<bool> = probe.amplitudes().collect();
        let mut seen = false;
        for seed in 0..=CRAFT {
            let mut random = Random::new(seed);
            let craft = match seed {
                CRAFT => probe.written(),
                _ => probe.craft(&mut random),
            };
            let Some((parameters, derived)) = craft else {
                continue;
            };
            // Every switch is on: what is switched acts.
            let slots: Vec<f64> = random.vector(u).iter().map(|unit| 0.5 + 0.5 * unit.abs()).collect();
            let start = probe.start(&parameters);
            for spread in SPREAD {
                let slots: Vec<f64> = slots.iter().map(|slot| spread * slot).collect();
                let x = model
                    .states
                    .iter()
                    .zip(&start)
                    .zip(&bends)
                    .map(|((state, start), &bends)| {
                        let spread = if bends { 1.0 } else { spread };
                        start + spread * state.nominal * random.unit()
                    });
                let x: Vec<f64> = x.collect();
                let Some(now) = probe.values(&parameters, &derived, &x, &slots) else {
                    continue;
                };
                let Some(slopes) = probe.slopes((&parameters, &derived), &x, &slots, &mut random) else {
                    continue;
                };
                seen = true;
                running.enter_slopes(slopes, model);
                let mut changes = Changes::new(&now);
                for j in 0..u {
                    let mut slots = slots.clone();
                    slots[j] = spread - slots[j];
                    changes.record(n + j, probe.values(&parameters, &derived, &x, &slots));
                }
                changes.enter(&mut running);
            }

            // On the written craft, which may be stiff, a difference has too much round-off.
            if seed == CRAFT {
                continue;
            }
            let Some(first) = probe.initial(&parameters, &derived, &slots) else {
                continue;
            };
            let mut changes = Changes::new(&first);
            for j in 0..p {
                if let Some((parameters, derived)) = probe.neighbour((&parameters, &derived), j, &mut random) {
                    changes.record(j, probe.initial(&parameters, &derived, &slots));
                }
            }
            for j in 0..u {
                let mut slots = slots.clone();
                slots[j] = 1.0 - slots[j];
                changes.record(p + j, probe.initial(&parameters, &derived, &slots));
            }
            changes.enter(&mut initial);
        }
        if !seen {
            return None;
        }
        // A flag changes at events, and has no derivative.
        for (row, coordinate) in model.output_groups.flags() {
            running.mark(n + row, coordinate);
        }
        // What depends on a state depends at the start on the parameters that the state starts from.
        let is_start = model.is_start();
        for p in (0..p).filter(|&p| is_start[p]) {
            for row in 0..rows {
                if (0..n).any(|k| initial.depends(k, p) && running.depends(row, k)) {
                    initial.mark(n + row, p);
                }
            }
        }
        let running = |rows: Range<usize>| rows.map(|row| running.knowns(row, model, false)).collect();
        let initial = |rows: Range<usize>| rows.map(|row| initial.knowns(row, model, true)).collect();
        Some(Self {
            derivatives: running(0..n),
            outputs: running(n..rows),
            initial_states: initial(0..n),
            initial_derivatives: initial(n..2 * n),
            initial_outputs: initial(2 * n..n + rows),
        })
    }
}

/// The model with its signals taken out, so that each input can be changed by itself.
struct Probe {
    model: Model,
    evaluation: Evaluation<f64>,
    tangent: Tangent<LANES>,
    slopes: [Jacobians; 2],
    modes: Vec<i32>,
}

impl Probe {
    fn new(model: &Model) -> Self {
        let mut model = model.clone();
        model.sources = (0..model.sources.len()).map(Source::Host).collect();
        Self {
            evaluation: Evaluation::new(&model),
            tangent: Tangent::with_inputs(&model, model.sources.len()),
            slopes: [(); 2].map(|()| Jacobians::with_inputs(&model, model.sources.len())),
            modes: vec![0; model.mode_count()],
            model,
        }
    }

    /// Whether each state is a mode's amplitude or its rate.
    fn amplitudes(&self) -> impl Iterator<Item = bool> {
        let system = &self.model.system;
        let mut bends = vec![false; self.model.states.len()];
        for modes in system.flexible() {
            bends[modes.coordinates()].fill(true);
            let rates = modes.rates();
            bends[system.nq + rates.start..system.nq + rates.end].fill(true);
        }
        bends.into_iter()
    }

    /// The craft that is written.
    fn written(&self) -> Option<(Vec<f64>, Derived)> {
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
        let derived = self.model.judge(parameters, before, problems);
        problems.is_empty().then_some(derived)
    }

    /// A random craft: every group of numbers of the spec made about one in size, and shaken.
    fn craft(&self, random: &mut Random) -> Option<(Vec<f64>, Derived)> {
        let declared = &self.model.parameters;
        let mut largest: HashMap<&[String], f64> = HashMap::new();
        for parameter in declared {
            let largest = largest.entry(&parameter.at).or_default();
            *largest = largest.max(parameter.start.abs());
        }
        let scaled = |parameter: &Parameter| match largest[parameter.at.as_slice()] {
            0.0 => 0.0,
            largest => parameter.start / largest,
        };
        let written = self.model.parameter_starts();
        let scaled: Vec<f64> = declared.iter().map(scaled).collect();
        let shaken = scaled.iter().zip(declared);
        let shaken: Vec<f64> = shaken
            .map(|(value, parameter)| value + 0.1 * parameter.quantity.nominal * random.unit())
            .collect();
        let mut parameters = shaken;
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

    /// The same craft with one number changed.
    fn neighbour(
        &self,
        (parameters, derived): (&[f64], &Derived),
        j: usize,
        random: &mut Random,
    ) -> Option<(Vec<f64>, Derived)> {
        [0.3, 0.1, 1e-2, 1e-3, 1e-4, 1e-5].into_iter().find_map(|size| {
            let mut changed = parameters.to_vec();
            changed[j] += size * self.model.parameters[j].quantity.nominal * random.unit();
            let derived = self.derive(&changed, Some((parameters, derived)), &mut Vec::new())?;
            Some((changed, derived))
        })
    }

    fn start(&self, parameters: &[f64]) -> Vec<f64> {
        let mut x = vec![0.0; self.model.states.len()];
        let (q, rest) = x.split_at_mut(self.model.system.nq);
        self.model.start(parameters, q, &mut rest[..self.model.system.nv]);
        x
    }

    /// Derivatives and outputs, where there are some.
    fn values(&mut self, parameters: &[f64], derived: &Derived, x: &[f64], slots: &[f64]) -> Option<Vec<f64>> {
        let model = &self.model;
        let n = model.states.len();
        let mut values = vec![0.0; n + model.outputs.len()];
        let (dx, y) = values.split_at_mut(n);
        let (sides, beyond) = self.modes[model.signals.len()..].split_at_mut(model.loads.ranges.len());
        for (range, side) in model.loads.ranges.iter().zip(sides) {
            *side = range.next_mode(parameters, x, *side);
        }
        for (limit, mode) in model.limits.iter().zip(beyond) {
            *mode = limit.next_mode(parameters, derived, x, *mode);
        }
        let at = (x, slots, self.modes.as_slice());
        let numbers = (derived, parameters);
        self.evaluation.derivative(model, numbers, 0.0, at, dx).ok()?;
        self.evaluation.outputs(model, numbers, (x, &self.modes), y);
        Some(values)
    }

    /// Partial derivatives of derivatives and outputs, where there are some, in the modes of the last [`values`](Self::values).
    /// What is round-off is zero.
    fn slopes(
        &mut self,
        numbers: (&[f64], &Derived),
        x: &[f64],
        slots: &[f64],
        random: &mut Random,
    ) -> Option<&Jacobians> {
        let (model, numbers) = (&self.model, (numbers.1, numbers.0));
        let [slopes, echo] = &mut self.slopes;
        self.tangent
            .jacobians_of(model, numbers, 0.0, (x, slots, &self.modes), slopes)
            .ok()?;
        for _ in 0..2 {
            let beside = x.iter().zip(&model.states);
            let beside = beside.map(|(x, state)| x + HAIR * state.nominal.max(x.abs()) * random.unit());
            let beside: Vec<f64> = beside.collect();
            self.tangent
                .jacobians_of(model, numbers, 0.0, (&beside, slots, &self.modes), echo)
                .ok()?;
            let both = [
                (&mut slopes.A, &echo.A),
                (&mut slopes.B, &echo.B),
                (&mut slopes.C, &echo.C),
                (&mut slopes.D, &echo.D),
            ];
            for (slopes, echo) in both {
                for (slope, echo) in slopes.iter_mut().zip(echo) {
                    if (*slope - echo).abs() > STAYS * echo.abs() {
                        *slope = 0.0;
                    }
                }
            }
        }
        Some(slopes)
    }

    /// Initial states, their derivatives, outputs at the start.
    fn initial(&mut self, parameters: &[f64], derived: &Derived, slots: &[f64]) -> Option<Vec<f64>> {
        let mut values = self.start(parameters);
        let rest = self.values(parameters, derived, &values, slots)?;
        values.extend(rest);
        Some(values)
    }
}

/// By how much each known changes each computed number.
struct Changes<'a> {
    now: &'a [f64],
    largest: Vec<f64>,
    recorded: Vec<(usize, Vec<f64>)>,
}

impl<'a> Changes<'a> {
    fn new(now: &'a [f64]) -> Self {
        Self {
            now,
            largest: now.iter().map(|value| value.abs()).collect(),
            recorded: Vec::new(),
        }
    }

    /// What a change gave; one that led to where nothing can be evaluated shows nothing.
    fn record(&mut self, known: usize, then: Option<Vec<f64>>) {
        let Some(then) = then else { return };
        let by: Vec<f64> = then
            .iter()
            .zip(self.now)
            .map(|(then, now)| (then - now).abs())
            .collect();
        for (largest, by) in self.largest.iter_mut().zip(&by) {
            *largest = largest.max(*by);
        }
        self.recorded.push((known, by));
    }

    fn enter(self, table: &mut Table) {
        for (known, by) in self.recorded {
            for (row, (by, largest)) in by.iter().zip(&self.largest).enumerate() {
                if *by > THRESHOLD * largest {
                    table.mark(row, known);
                }
            }
        }
    }
}

/// Computed numbers by rows, knowns by columns.
struct Table {
    columns: usize,
    marked: Vec<bool>,
    /// The partial derivative, once one has been seen; NaN if another has been seen since.
    slope: Vec<Option<f64>>,
}

impl Table {
    fn new(rows: usize, columns: usize) -> Self {
        Self {
            columns,
            marked: vec![false; rows * columns],
            slope: vec![None; rows * columns],
        }
    }

    fn mark(&mut self, row: usize, known: usize) {
        self.marked[row * self.columns + known] = true;
    }

    fn depends(&self, row: usize, known: usize) -> bool {
        self.marked[row * self.columns + known]
    }

    /// Takes in partial derivatives: what is not zero depends.
    fn enter_slopes(&mut self, slopes: &Jacobians, model: &Model) {
        let Jacobians { A, B, C, D } = slopes;
        let nx = A.nrows();
        for row in 0..nx + C.nrows() {
            let (of_x, of_u) = match row.checked_sub(nx) {
                None => (A.row(row), B.row(row)),
                Some(output) => (C.row(output), D.row(output)),
            };
            let sizes = model.states.iter().map(|state| state.nominal);
            let sizes = sizes.chain(std::iter::repeat(1.0));
            let slopes = of_x.iter().chain(&of_u).zip(sizes).map(|(d, size)| d * size);
            let largest = slopes.clone().fold(0.0f64, |largest, d| largest.max(d.abs()));
            for (known, mut d) in slopes.enumerate() {
                if d.abs() > FLOOR * largest {
                    self.mark(row, known);
                } else {
                    d = 0.0;
                }
                let seen = self.slope[row * self.columns + known].get_or_insert(d);
                if (*seen - d).abs() > SAME * d.abs() {
                    *seen = f64::NAN;
                }
            }
        }
    }

    /// Whether what depends does so with a factor that is always the same.
    fn is_constant(&self, row: usize, known: usize) -> bool {
        let slope = self.slope[row * self.columns + known];
        slope.is_some_and(|slope| slope.is_finite() && slope != 0.0)
    }

    /// The knowns of a row; its columns are the parameters (at the start) or the states, then the inputs.
    fn knowns(&self, row: usize, model: &Model, at_start: bool) -> Knowns {
        let others = self.columns - model.sources.len();
        let first: Vec<usize> = (0..others).filter(|&i| self.depends(row, i)).collect();
        let mut knowns = Knowns::default();
        if at_start {
            knowns.parameters = first;
        } else {
            knowns.constant_states = first.iter().copied().filter(|&i| self.is_constant(row, i)).collect();
            knowns.states = first;
        }
        for (slot, source) in model.sources.iter().enumerate() {
            let column = others + slot;
            if !self.depends(row, column) {
                continue;
            }
            match *source {
                Source::Host(input) => {
                    knowns.inputs.push(input);
                    knowns
                        .constant_inputs
                        .extend(self.is_constant(row, column).then_some(input));
                }
                // What a signal drives depends on the signal's own parameters when the run begins.
                Source::Signal(signal) if at_start => {
                    knowns.parameters.extend(model.signals[signal].parameters());
                }
                Source::Signal(_) => {}
            }
        }
        knowns.parameters.sort_unstable();
        knowns
    }
}

/// The generator SplitMix64 (Steele, Lea, Flood 2014): the same craft on every platform.
struct Random(u64);

impl Random {
    fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Uniform between −1 and 1, and away from zero.
    fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^= z >> 31;
        let size = 0.2 + 0.8 * (z >> 11) as f64 / (1u64 << 53) as f64;
        if z & 1 == 0 { size } else { -size }
    }

    fn vector(&mut self, n: usize) -> Vec<f64> {
        (0..n).map(|_| self.unit()).collect()
    }
}
