use super::filter::{Filters, Memory};
use super::limited::Limited;
use super::references::{Reference, declare_vectors};
use super::{LimitStates, Measured};
use crate::Problem;
use crate::algebra::Scalar;
use crate::elements::{Cursor, Gains, Limit, Values};
use crate::spec::{self, ControlledJoint, PerAxis, References};
use crate::system::{Bound, Declarations, InputKind, ParamId, Quantity, Unit, axis_name};

/// Axis of a joint.
#[derive(Clone, Debug)]
pub(super) struct Axis {
    /// Outputs: torque, and reference less measured position.
    outputs: [Quantity; 2],
    q: usize,
    qd: usize,
    /// References of position and rate.
    references: [Reference; 2],
    tau_ff: usize,
    gains: Gains,
    filters: Filters,
    limit: Limited,
}

/// Names and units of one joint's variables.
struct Joint<'a> {
    name: &'a str,
    written: &'a ControlledJoint,
    /// Number of its axes.
    n: usize,
}

impl<'a> Joint<'a> {
    fn new(name: &'a str, written: &'a ControlledJoint) -> Self {
        let n = written.kind.rates();
        Self { name, written, n }
    }

    fn quantity(&self, field: &str, i: usize, unit: Unit, what: &str) -> Quantity {
        let what = format!("{what} of joint {}", self.name);
        Quantity::new(axis_name(self.name, self.n, field, i), unit, what)
    }

    /// Returns the reference position and the reference rate of axis `i`.
    fn references(&self, i: usize) -> [Quantity; 2] {
        let units = Unit::coordinate(self.written.kind.is_angular(i));
        [
            self.quantity("q_ref", i, units.position, "reference position"),
            self.quantity("qd_ref", i, units.rate, "reference rate"),
        ]
    }
}

impl Axis {
    /// Declares the axes of all joints.
    pub fn declare_all(
        written: &spec::Controller,
        sample_time: Option<ParamId>,
        declare: &mut Declarations,
    ) -> Vec<Self> {
        let joints = || written.joint.iter().map(|(name, joint)| Joint::new(name, joint));
        let all = |joint: Joint| (0..joint.n).map(move |i| joint.references(i)).collect::<Vec<_>>();
        let quantities: Vec<[Quantity; 2]> = joints().flat_map(all).collect();
        let vectors = declare_vectors(written, &quantities, declare);
        let mut vectors = vectors.map(Vec::into_iter);
        let mut axes: Vec<Self> = Vec::new();
        let mut first = 0;
        for joint in joints() {
            let vectors = vectors.as_mut().map(|vectors| vectors.take(joint.n).collect());
            let place = ["controller", "joint", joint.name, "filter"].map(str::to_owned);
            let of = (joint.name, &place[..]);
            let filters = Filters::declare(of, &joint.written.filter, sample_time, [joint.n, first], declare);
            first += filters.iter().map(Filters::count).sum::<usize>();
            axes.extend(Self::declare(written, &joint, vectors, filters, declare));
        }
        assert!(written.references == References::Joints || quantities.len() == axes.len());
        axes
    }

    /// Declares the axes of a joint, with its references if they are part of a vector.
    fn declare(
        controller: &spec::Controller,
        joint: &Joint,
        vectors: Option<Vec<[Reference; 2]>>,
        filters: Vec<Filters>,
        declare: &mut Declarations,
    ) -> Vec<Self> {
        let Joint { name, written, n } = *joint;
        let units = |i| Unit::coordinate(written.kind.is_angular(i));
        let mut numbers = |field: &str, value: &PerAxis, unit: &dyn Fn(usize) -> Unit, bound, what: &str| {
            let quantities = (0..n).map(|i| joint.quantity(field, i, unit(i), what).bounded(bound));
            let values: Vec<f64> = (0..n).map(|i| value.get(i)).collect();
            let place = ["controller", "joint", name, field].map(str::to_owned);
            declare.parameters(quantities, &values, true, &place)
        };
        let stiffness = |i| units(i).stiffness;
        let kp = numbers("kp", &written.kp, &stiffness, Bound::NotNegative, "proportional gain");
        let damping = |i| units(i).damping;
        let kd = numbers("kd", &written.kd, &damping, Bound::NotNegative, "derivative gain");
        let force = |i| units(i).force;
        let limit = written.torque_limit.as_ref().map(|limit| {
            let what = "largest torque (force) for the motor";
            numbers("torque_limit", limit, &force, Bound::Positive, what)
        });
        let inputs = |field: &str, unit: &dyn Fn(usize) -> Unit, what: &str, declare: &mut Declarations| {
            let first = declare.inputs.len();
            for i in 0..n {
                declare.input(joint.quantity(field, i, unit(i), what), 0.0, InputKind::Continuous);
            }
            first
        };
        let (position, rate) = (|i| units(i).position, |i| units(i).rate);
        let q = inputs("q", &position, "measured position", declare);
        let qd = inputs("qd", &rate, "measured rate", declare);
        let references = vectors.unwrap_or_else(|| {
            let mut own = |field: usize| -> Vec<Reference> {
                let quantities = (0..n).map(|i| joint.references(i)[field].clone());
                quantities
                    .map(|quantity| Reference::declare(controller, quantity, declare))
                    .collect()
            };
            let (q, qd) = (own(0), own(1));
            q.into_iter().zip(qd).map(|(q, qd)| [q, qd]).collect()
        });
        let tau_ff = inputs("tau_ff", &force, "feed-forward torque (force)", declare);
        let axis = |(i, (references, filters)): (usize, ([Reference; 2], Filters))| Self {
            outputs: [
                joint.quantity("tau", i, force(i), "commanded torque (force)"),
                joint.quantity("servo_error", i, position(i), "reference minus measured position"),
            ],
            q: q + i,
            qd: qd + i,
            references,
            tau_ff: tau_ff + i,
            gains: Gains {
                kp: kp.nth(i),
                kd: kd.nth(i),
            },
            filters,
            limit: Limited(limit.map(|first| first.nth(i))),
        };
        references.into_iter().zip(filters).enumerate().map(axis).collect()
    }

    pub fn quantities(&self) -> impl Iterator<Item = Quantity> {
        self.outputs.clone().into_iter()
    }

    pub fn is_limited(&self) -> bool {
        self.limit.0.is_some()
    }

    fn error<S: Scalar>(&self, now: Measured<S>) -> S {
        self.references[0].value(now) - now.inputs[self.q]
    }

    /// Returns the number of its filters.
    pub fn filter_count(&self) -> usize {
        self.filters.count()
    }

    pub fn validate(&self, of: Values, problems: &mut Vec<Problem>) {
        self.filters.validate(of, problems);
    }

    /// Updates the memories of its filters.
    pub fn advance_filter(&self, now: Measured<f64>, memories: &mut [Memory]) {
        self.filters.advance(now.parameters, self.feedback(now), memories);
    }

    /// Returns the torque by the gains before filters, N·m or N.
    fn feedback<S: Scalar>(&self, now: Measured<S>) -> S {
        let rate_error = self.references[1].value(now) - now.inputs[self.qd];
        self.gains.torque(now.parameters, self.error(now), rate_error)
    }

    /// Returns the commanded torque before its limit, N·m or N.
    fn commanded<S: Scalar>(&self, now: Measured<S>) -> S {
        now.inputs[self.tau_ff] + self.filters.output(now, self.feedback(now))
    }

    /// Returns the limit state of the commanded torque at these inputs, if it was `state` before.
    pub fn next(&self, now: Measured<f64>, state: Limit) -> Limit {
        self.limit.next(now.parameters, self.commanded(now), state)
    }

    /// Writes the event indicator, if the torque is limited.
    pub fn indicate(&self, now: Measured<f64>, state: Limit, z: &mut Cursor<f64>) {
        self.limit.indicate(now.parameters, self.commanded(now), state, z);
    }

    /// Passes the outputs to `to`: torque (N·m or N) and position error (rad or m).
    pub fn evaluate<S: Scalar>(&self, now: Measured<S>, state: Limit, states: LimitStates, to: &mut impl FnMut(S)) {
        to(self.limit.torque(now, self.commanded(now), state, states));
        to(self.error(now));
    }
}
