use super::{
    Compiler, Copied, Cursor, Element, Outputs, Shaped, Task, Values, View, Wave, copies, report, update_segments,
};
use crate::Problem;
use crate::algebra::Scalar;
use crate::spec::{self, Signal, Spec, Waveform, at, derivative_of, empty_window};
use crate::system::{Bound, Declarations, Input, ParamId, Parameter, Quantity, System, Unit};
use std::ops::Range;

/// Largest permitted deviation of a trajectory's start from its joint's start, rad or m; relative
/// if the start exceeds 1. It allows for angles written in degrees with few digits.
const START: f64 = 1e-6;

/// Signal that is evaluated inside the FMU and sets one of its inputs.
#[derive(Clone, Debug)]
pub struct SignalSource {
    /// Index of the input among all inputs.
    pub input: usize,
    /// Index of the input that its rate sets.
    pub rate_input: Option<usize>,
    /// Index of the input that its second derivative sets.
    pub acceleration_input: Option<usize>,
    /// The inputs that it and its derivatives set, with their quantities.
    set: Vec<(usize, Quantity)>,
    signal: Signal,
    copies: Vec<Copied>,
    /// Indices of the copies' segments among those of all signals.
    segments: Range<usize>,
    amplitude: ParamId,
    offset: ParamId,
    frequency: Option<ParamId>,
    phase: Option<ParamId>,
    from: Option<ParamId>,
    until: Option<ParamId>,
}

impl SignalSource {
    /// Declares the signal's values as parameters `signal.<input>.<field>`.
    fn declare(signal: &Signal, input: usize, declare: &mut Declarations) -> Self {
        let name = declare.inputs[input].quantity.name.clone();
        let along = |reference: &str| {
            let derivative = derivative_of(&name, reference).filter(|_| signal.with_rate)?;
            let mut inputs = declare.inputs.iter();
            inputs.position(|input| input.quantity.name == derivative)
        };
        let derivatives = [along("qd_ref"), along("qdd_ref")];
        Self::with_derivatives(signal, input, derivatives, declare)
    }

    /// Declares the signal as [`declare`](Self::declare); its rate and its second derivative set
    /// the inputs `derivatives`.
    fn with_derivatives(
        signal: &Signal,
        input: usize,
        [rate_input, acceleration_input]: [Option<usize>; 2],
        declare: &mut Declarations,
    ) -> Self {
        let Quantity { name, unit, .. } = declare.inputs[input].quantity.clone();
        let amplitude_unit = if signal.waveform == Waveform::Table {
            Unit::One
        } else {
            unit
        };
        let set = [Some(input), rate_input, acceleration_input].into_iter().flatten();
        let set = set
            .map(|input| (input, declare.inputs[input].quantity.clone()))
            .collect();
        let mut number = |field: &str, value: f64, unit: Unit, bound: Bound, what: &str| {
            declare.parameter(
                Quantity::new(
                    format!("signal.{name}.{field}"),
                    unit,
                    format!("{what} of the signal on {name}"),
                )
                .bounded(bound),
                value,
                true,
                &at("signal", &name, field),
            )
        };
        Self {
            input,
            rate_input,
            acceleration_input,
            set,
            signal: signal.clone(),
            copies: copies(&signal.shaper),
            segments: 0..0,
            amplitude: number("amplitude", signal.amplitude, amplitude_unit, Bound::None, "amplitude"),
            offset: number("offset", signal.offset, unit, Bound::None, "offset"),
            frequency: signal
                .frequency
                .map(|f| number("frequency", f, Unit::Hertz, Bound::NotNegative, "frequency")),
            phase: signal
                .phase
                .map(|p| number("phase", p, Unit::Radian, Bound::None, "phase")),
            from: signal
                .from
                .map(|t| number("from", t, Unit::Second, Bound::None, "begin")),
            until: signal
                .until
                .map(|t| number("until", t, Unit::Second, Bound::None, "end")),
        }
    }

    /// Returns the indices of its parameters.
    pub fn parameters(&self) -> impl Iterator<Item = usize> {
        let optional = [self.frequency, self.phase, self.from, self.until];
        let all = [self.amplitude, self.offset]
            .into_iter()
            .chain(optional.into_iter().flatten());
        all.map(|id| id.0)
    }

    /// Returns the indices of its segments among those of all signals.
    pub fn segments(&self) -> Range<usize> {
        self.segments.clone()
    }

    /// Returns the signal with the values of the parameters; `segments` are those of all signals.
    #[inline]
    pub fn shaped<'a, C: Scalar>(&'a self, parameters: &[C], segments: &'a [i32]) -> Shaped<'a, C> {
        Shaped {
            wave: self.wave(parameters),
            copies: &self.copies,
            segments: &segments[self.segments.clone()],
        }
    }

    /// Returns the signal without shapers with the values of the parameters.
    #[inline]
    fn wave<C: Scalar>(&self, parameters: &[C]) -> Wave<'_, C> {
        let mut wave = Wave::new(&self.signal);
        wave.amplitude = self.amplitude.of(parameters);
        wave.offset = self.offset.of(parameters);
        for (id, field) in [
            (self.frequency, &mut wave.frequency),
            (self.phase, &mut wave.phase),
            (self.from, &mut wave.from),
            (self.until, &mut wave.until),
        ] {
            if let Some(id) = id {
                *field = id.of(parameters);
            }
        }
        wave
    }

    /// Returns the first end of one of its segments, s; `None` if none has an end.
    pub fn end(&self, parameters: &[f64], segments: &[i32]) -> Option<f64> {
        let has_ends = self.signal.waveform == Waveform::Table || self.from.is_some() || self.until.is_some();
        has_ends.then(|| self.shaped(parameters, segments).end()).flatten()
    }

    /// Updates the indices of its segments, among those of all signals, to the time `t` (s). Returns
    /// true if one changed.
    pub fn update_segments(&self, t: f64, parameters: &[f64], segments: &mut [i32]) -> bool {
        let segments = &mut segments[self.segments.clone()];
        update_segments(&self.wave(parameters), &self.copies, t, segments)
    }

    /// Reports a trajectory whose initial value differs from the parameter `start`, the axis's
    /// initial position.
    pub fn validate_start(&self, start: ParamId, declared: &[Parameter], values: &[f64], problems: &mut Vec<Problem>) {
        let mut segments = vec![0; self.segments.end];
        self.update_segments(0.0, values, &mut segments);
        let (found, expected) = (self.shaped(values, &segments).value(0.0), start.of(values));
        if (found - expected).abs() > START * expected.abs().max(1.0) {
            let Quantity { name, unit, .. } = &declared[start.0].quantity;
            let [found, expected] = [found, expected].map(|value| unit.of(value));
            let what =
                format!("the trajectory starts at {found}, and {name} is {expected}: set its `offset` to that value");
            report(declared, self.offset, problems, what);
        }
    }
}

/// Returns the reason why signals on an input cannot be shaped, `None` if they can.
fn objection_to_shaper(input: &Input) -> Option<&'static str> {
    let Quantity { name, unit, .. } = &input.quantity;
    let is_quaternion = *unit == Unit::One && [".q_ref[", ".q["].iter().any(|field| name.contains(field));
    if input.is_discrete() {
        Some("the input is discrete: a shaped signal has values between those of the signal")
    } else if is_quaternion {
        Some("a quaternion cannot be shaped by components: its norm would change, and its rate is another input")
    } else {
        None
    }
}

impl Element for SignalSource {
    /// Creates the signals that run inside the model, those of tasks' waypoints last; reports
    /// signals whose name is not that of an input.
    fn compile(from: &mut Compiler) -> Vec<Self> {
        let mut signals = Vec::new();
        for (input, signal) in &from.spec.signal {
            let names = from.declare.inputs.iter().map(|input| &input.quantity.name);
            match names.clone().position(|name| name == input) {
                None => from.problems.push(Problem {
                    at: at("signal", input, ""),
                    what: spec::unknown("input", input, names),
                }),
                Some(slot) => {
                    let objection =
                        objection_to_shaper(&from.declare.inputs[slot]).filter(|_| !signal.shaper.is_empty());
                    from.problems.extend(objection.map(|what| Problem {
                        at: at("signal", input, "shaper"),
                        what: what.to_owned(),
                    }));
                    if !signal.from_importer {
                        signals.push(Self::declare(signal, slot, from.declare));
                    }
                }
            }
        }
        for (task, written) in &from.spec.task {
            let inputs = ["s", "s_rate", "s_acceleration"].map(|field| {
                let name = format!("{task}.{field}");
                from.declare.inputs.iter().position(|input| input.quantity.name == name)
            });
            if let (Some(signal), [Some(s), rate, acceleration]) = (Task::timing(written), inputs) {
                signals.push(Self::with_derivatives(&signal, s, [rate, acceleration], from.declare));
            }
        }
        let mut first = 0;
        for signal in &mut signals {
            signal.segments = first..first + signal.copies.len();
            first = signal.segments.end;
        }
        signals
    }

    fn validate(&self, of: Values, problems: &mut Vec<Problem>) {
        if let (Some(from), Some(until)) = (self.from, self.until)
            && let Some(what) = empty_window(from.of(of.values), until.of(of.values))
        {
            report(of.declared, until, problems, what);
        }
    }

    /// Declares the inputs that it sets.
    fn outputs(&self, _: &Spec, _: &System, to: &mut Outputs) {
        to.continuous(self.set.iter().map(|(_, quantity)| quantity.clone()));
    }

    fn observe<S: Scalar>(&self, view: &View<S>, y: &mut Cursor<S>) {
        self.set.iter().for_each(|(input, _)| y.number(view.now.inputs[*input]));
    }
}
