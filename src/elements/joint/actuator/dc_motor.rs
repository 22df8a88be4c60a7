//! Electric parts of motors: voltage, current and torque.

use crate::algebra::Scalar;
use crate::dynamics::Applied;
use crate::elements::band::{Band, Limit};
use crate::elements::joint::JointTable;
use crate::elements::{
    Cursor, Discrete, Element, Elements, EventContext, Instant, Outputs, Reads, Resistance, View, Watched, replace,
};
use crate::event::Event;
use crate::spec::{Spec, at};
use crate::system::{Bound, Declarations, InputKind, ParamId, Quantity, System, Unit};

/// Electric part of the motor of a joint with one axis.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DcMotor {
    /// Index of the joint's child body, or of the rotor of its drive train.
    body: usize,
    /// Index of the rate of the joint or the rotor.
    rate: usize,
    /// Index of the voltage among the inputs.
    voltage: usize,
    resistance: ParamId,
    constant: ParamId,
    /// Ratio of the drive train.
    ratio: Option<ParamId>,
    inductance: Option<Inductance>,
    limit: Option<VoltageLimit>,
}

/// Inductance of a motor, whose current is a state.
#[derive(Clone, Copy, Debug)]
struct Inductance {
    henry: ParamId,
    /// Index of the current among the inputs of the loads.
    current: usize,
}

/// Largest magnitude of a voltage.
#[derive(Clone, Copy, Debug)]
struct VoltageLimit {
    volt: ParamId,
    /// Index among the limit states of voltages.
    number: usize,
}

/// Circuit of a motor whose current is a state, `L di/dt = u − R i − k v` with the rate `v` of the
/// joint or the rotor; its torque is `k i`.
pub(crate) struct Circuit<S: Scalar> {
    /// Index of the body whose joint the motor moves.
    body: usize,
    /// Index of the joint's rate.
    pub rate: usize,
    voltage: S,
    resistance: S::Constant,
    inductance: S::Constant,
    constant: S::Constant,
}

impl<S: Scalar> Circuit<S> {
    /// Returns the derivative `g` of the current, A/s, that satisfies `L g = u − R (i + θ g) − k v` for
    /// a coefficient `theta` (s).
    pub fn current_rate(&self, i: S, v: S, theta: S::Constant) -> S {
        let driving = self.voltage - i * S::lift(self.resistance) - v * S::lift(self.constant);
        driving / S::lift(self.inductance + self.resistance * theta)
    }
}

impl<S: Scalar<Constant = S>> Circuit<S> {
    /// Eliminates the current in a linearly implicit method with the coefficient `theta` (s): adds
    /// the torque of a `change` of the current (A), which the rate reduces as an inertia does. The
    /// motion of a driven joint does not change.
    pub fn eliminate(&self, applied: &mut Applied<S>, change: S, theta: S) {
        if !applied.driven[self.body] {
            let by_rate = theta * self.constant;
            applied.tau[self.rate] += self.constant * change;
            applied.inertia[self.rate] += by_rate * by_rate / (self.inductance + theta * self.resistance);
        }
    }
}

/// Creates the electric part of a joint's motor and declares its parameters and its voltage.
pub(super) fn declare(of: JointTable, to: &mut Elements, declare: &mut Declarations) {
    let (joint, name, Some(written)) = (of.joint, &of.joint.name, &of.written.dc_motor) else {
        return;
    };
    let what = format!("voltage of the motor of joint {name}");
    let voltage = declare.input(
        Quantity::new(format!("{name}.voltage"), Unit::Volt, what),
        0.0,
        InputKind::Continuous,
    );
    let mut parameter = |field: &str, unit: Unit, value: f64, what: &str| {
        let quantity = Quantity::new(
            format!("{name}.{field}"),
            unit,
            format!("{what} of the motor of joint {name}"),
        );
        let place = at("joint", name, &format!("dc_motor.{field}"));
        declare.parameter(quantity.bounded(Bound::Positive), value, true, &place)
    };
    let numbered = |is_counted: fn(&DcMotor) -> bool| to.dc_motors.iter().filter(|motor| is_counted(motor)).count();
    let motor = DcMotor {
        body: of.body,
        rate: joint.v,
        voltage,
        resistance: parameter("resistance", Unit::Ohm, written.resistance, "resistance"),
        constant: parameter(
            "torque_constant",
            Unit::NewtonMetrePerAmpere,
            written.torque_constant,
            "torque constant",
        ),
        ratio: joint.ratio,
        inductance: written.inductance.map(|value| Inductance {
            henry: parameter("inductance", Unit::Henry, value, "inductance"),
            current: numbered(DcMotor::has_state),
        }),
        limit: written.voltage_limit.map(|value| VoltageLimit {
            volt: parameter("voltage_limit", Unit::Volt, value, "largest voltage"),
            number: numbered(DcMotor::is_limited),
        }),
    };
    to.dc_motors.push(motor);
}

impl DcMotor {
    /// Returns true if the current is a state.
    pub fn has_state(&self) -> bool {
        self.inductance.is_some()
    }

    /// Returns true if the voltage is limited.
    pub fn is_limited(&self) -> bool {
        self.limit.is_some()
    }

    /// Sets the index of the current among the inputs of the loads; those of all currents begin at
    /// `first`.
    pub(in crate::elements) fn link(&mut self, first: usize) {
        if let Some(inductance) = &mut self.inductance {
            inductance.current += first;
        }
    }

    /// Returns the quantity of the current.
    pub fn current_quantity(&self, system: &System) -> Quantity {
        let name = system.bodies[self.body].joint.as_actuated().name;
        let what = format!("current of the motor of joint {name}");
        Quantity::new(format!("{name}.current"), Unit::Ampere, what)
    }

    /// Returns the voltage within its limits, V.
    fn voltage<S: Scalar>(&self, parameters: &[S::Constant], inputs: &[S], states: &[Limit]) -> S {
        match self.limit.map(|limit| (limit.volt, states[limit.number])) {
            None | Some((_, Limit::Within)) => inputs[self.voltage],
            Some((most, side)) => S::lift(most.of(parameters) * side.sign()),
        }
    }

    /// Returns the torque at the child per unit of current, and the back-EMF per unit of the rate of
    /// the joint or the rotor's coordinate, N·m/A and V·s/rad.
    fn constant<C: Scalar>(&self, parameters: &[C]) -> C {
        self.ratio.map_or(C::one(), |id| id.of(parameters)) * self.constant.of(parameters)
    }

    /// Returns the current, A.
    fn current<S: Scalar>(&self, now: &Instant<S>) -> S {
        match self.inductance {
            Some(inductance) => now.inputs[inductance.current],
            None => {
                let back_emf = now.qd[self.rate] * S::lift(self.constant(now.parameters));
                let voltage = self.voltage(now.parameters, now.inputs, now.voltages);
                (voltage - back_emf) / S::lift(self.resistance.of(now.parameters))
            }
        }
    }

    /// Updates the limit state of the voltage among `states`. Returns true if it changes.
    pub fn update_limit(&self, parameters: &[f64], inputs: &[f64], states: &mut [Limit]) -> bool {
        self.limit.is_some_and(|limit| {
            let state = &mut states[limit.number];
            let band = Band::within(limit.volt.of(parameters));
            replace(state, band.next(inputs[self.voltage], *state))
        })
    }

    /// Returns the torque at the child, N·m.
    fn torque<S: Scalar>(&self, now: &Instant<S>) -> S {
        self.current(now) * S::lift(self.constant(now.parameters))
    }

    /// Returns the circuit for `states`, the limit states of all voltages; `None` if the current is not
    /// a state.
    pub fn circuit<S: Scalar>(&self, parameters: &[S::Constant], inputs: &[S], states: &[Limit]) -> Option<Circuit<S>> {
        Some(Circuit {
            body: self.body,
            rate: self.rate,
            inductance: self.inductance?.henry.of(parameters),
            voltage: self.voltage(parameters, inputs, states),
            resistance: self.resistance.of(parameters),
            constant: self.constant(parameters),
        })
    }
}

impl Element for DcMotor {
    fn outputs(&self, _: &Spec, system: &System, to: &mut Outputs) {
        let name = system.bodies[self.body].joint.as_actuated().name;
        let output = |field: &str, unit: Unit, what: &str| {
            Quantity::new(
                format!("{name}.{field}"),
                unit,
                format!("{what} of the motor of joint {name}"),
            )
        };
        if !self.has_state() {
            to.continuous([self.current_quantity(system)]);
        }
        to.continuous([
            output("motor_torque", Unit::NewtonMetre, "torque at the child"),
            output("electric_power", Unit::Watt, "electric power"),
            output("copper_loss", Unit::Watt, "copper loss"),
        ]);
    }

    fn observe<S: Scalar>(&self, view: &View<S>, y: &mut Cursor<S>) {
        let now = &view.now;
        let i = self.current(now);
        if !self.has_state() {
            y.number(i);
        }
        y.number(self.torque(now));
        y.number(self.voltage(now.parameters, now.inputs, now.voltages) * i);
        y.number(i * i * S::lift(self.resistance.of(now.parameters)));
    }

    fn reads(&self) -> Reads {
        Reads::JOINT.when(!self.has_state())
    }

    fn add_active<S: Scalar>(&self, now: &Instant<S>, applied: &mut Applied<S>) {
        applied.tau[self.rate] += self.torque(now);
    }

    /// Passes the damping by the back-EMF. A current that is a state is eliminated by the methods
    /// themselves ([`Circuit`]).
    fn resist<S: Scalar<Constant = S>>(&self, now: &Instant<S>, on: &mut impl FnMut(usize, Resistance<S>)) {
        if !self.has_state() {
            let constant = self.constant(now.parameters);
            let damping = constant * constant / self.resistance.of(now.parameters);
            on(self.rate, Resistance::of(S::zero(), damping));
        }
    }

    fn indicator_count(&self) -> usize {
        usize::from(self.is_limited())
    }

    fn watches(&self) -> Watched {
        Watched {
            inputs: self.is_limited(),
            ..Watched::default()
        }
    }

    fn indicate(&self, now: &EventContext, discrete: &Discrete, z: &mut Cursor<f64>) {
        if let Some(limit) = self.limit {
            let band = Band::within(limit.volt.of(now.sensed.parameters));
            z.number(band.indicator(now.sensed.inputs[self.voltage], discrete.voltages[limit.number]));
        }
    }

    fn update(&self, now: &EventContext, discrete: &mut Discrete, _: &mut Vec<Event>) -> bool {
        self.update_limit(now.sensed.parameters, now.sensed.inputs, &mut discrete.voltages)
    }
}
