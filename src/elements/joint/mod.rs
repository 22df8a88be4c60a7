//! Elements of a joint: friction, spring, actuator, drive train and range.

mod actuator;
mod drive_train;
mod friction;
mod range;
mod spring;
mod sticking;

pub(crate) use actuator::{AxisServo, BallServo, Circuit, DcMotor, Fed, Gains, Torque};
pub use actuator::{Drive, JointServo, Motor, MotorState};
pub(crate) use drive_train::DriveTrain;
pub(crate) use friction::{Damper, Friction};
pub use range::Range;
pub(crate) use spring::{BallSpring, Spring};
pub use sticking::{Sliding, StickingFriction};

use super::Elements;
use crate::spec::{self, PerAxis, at};
use crate::system::{Bound, CoordinateUnits, Declarations, Joint, ParamId, Quantity, System, Unit};

/// Table `[joint.<name>]` of the spec, with the joint that it describes.
#[derive(Clone, Copy)]
pub(super) struct JointTable<'a> {
    /// Index of the joint's child body.
    pub body: usize,
    pub joint: &'a Joint,
    pub written: &'a spec::Joint,
    /// True if a task sets the references of the joint, to its present state.
    pub in_task: bool,
}

/// Field of a joint's table, whose numbers are parameters.
#[derive(Clone, Copy)]
struct Field<'a> {
    /// End of the parameters' names.
    name: &'a str,
    /// Location of the field in the table.
    place: &'a str,
    unit: UnitOf,
    bound: Bound,
    /// Start of the parameters' descriptions, which end with the joint's name.
    what: &'a str,
}

/// Selects one of the units of a joint coordinate.
type UnitOf = fn(CoordinateUnits) -> Unit;

/// Creates the elements of a joint and declares their parameters and inputs.
pub(super) fn declare(of: JointTable, system: &System, to: &mut Elements, declare: &mut Declarations) {
    friction::declare(of, to, declare);
    spring::declare(of, to, declare);
    let joint = &of.joint.as_actuated();
    actuator::declare(JointTable { joint, ..of }, to, declare);
    drive_train::declare(of, system, to, declare);
    range::declare(of, to, declare);
}

impl JointTable<'_> {
    /// Declares one parameter for each axis and returns the first.
    fn parameters(self, field: Field, values: &PerAxis, declare: &mut Declarations) -> ParamId {
        let first = ParamId(declare.parameters.len());
        for i in 0..self.joint.nv {
            self.parameter(field, i, values.get(i), declare);
        }
        first
    }

    /// Declares the parameter of axis `i`.
    fn parameter(self, field: Field, i: usize, value: f64, declare: &mut Declarations) -> ParamId {
        let joint = self.joint;
        let what = format!("{} of joint {}", field.what, joint.name);
        let quantity = quantity(joint, i, field.name, field.unit, what).bounded(field.bound);
        declare.parameter(quantity, value, true, &at("joint", &joint.name, field.place))
    }
}

/// Returns the quantity of axis `i` of a joint, named `<joint>.<field>`, with an index if there are
/// several axes.
fn quantity(joint: &Joint, i: usize, field: &str, unit: UnitOf, what: impl Into<String>) -> Quantity {
    let unit = unit(Unit::coordinate(joint.kind.is_angular(i)));
    Quantity::new(joint.quantity_name(field, i), unit, what)
}

/// Returns one quantity for each axis of a joint, all with the description `what`.
fn quantities(joint: &Joint, field: &str, unit: UnitOf, what: &str) -> impl Iterator<Item = Quantity> {
    (0..joint.nv).map(move |i| quantity(joint, i, field, unit, what))
}
