//! Line of sight from a frame to a target.

use super::blocker::Blocker;
use crate::Problem;
use crate::algebra::{Scalar, Vec3, norm};
use crate::elements::{Compiler, Values, View, report};
use crate::spec;
use crate::system::{Bound, FrameRef, ParamId, Quantity, Unit};
use std::f64::consts::PI;

/// Condition under which a target is seen.
#[derive(Clone, Debug)]
pub(super) struct Sight {
    /// Angle of the cone of view about the frame's z axis, from edge to edge.
    field_of_view: Option<ParamId>,
    max_distance: Option<ParamId>,
    /// Solids that block the line of sight.
    blockers: Vec<Blocker>,
}

impl Sight {
    /// Declares the parameters of a sensor's sight.
    pub fn declare(name: &str, written: &spec::Sensor, from: &mut Compiler) -> Self {
        let place = |field: &str| spec::at("sensor", name, field);
        let field_of_view = written.field_of_view_deg.map(|angle| {
            let what = format!("angle of the cone of view of sensor {name}, from edge to edge");
            let quantity = Quantity::new(format!("{name}.field_of_view"), Unit::Radian, what);
            let quantity = quantity.bounded(Bound::Positive);
            from.declare
                .parameter(quantity, angle.to_radians(), true, &place("field_of_view_deg"))
        });
        let max_distance = written.max_distance.map(|distance| {
            let what = format!("largest distance at which sensor {name} sees its target");
            let quantity = Quantity::new(format!("{name}.max_distance"), Unit::Metre, what);
            from.declare.parameter(
                quantity.bounded(Bound::Positive),
                distance,
                true,
                &place("max_distance"),
            )
        });
        Self {
            field_of_view,
            max_distance,
            blockers: Blocker::declare(name, written, from),
        }
    }

    /// Reports an angle of more than 180 degrees.
    pub fn validate(&self, of: Values, problems: &mut Vec<Problem>) {
        if let Some(id) = self.field_of_view
            && id.of(of.values) > PI
        {
            let angle = of.declared[id.0].quantity.unit.of(id.of(of.values));
            let what = format!("a field of view of {angle} is more than 180 deg, a half-space");
            report(of.declared, id, problems, what);
        }
    }

    /// Returns 1 if the target is seen from the frame, else 0. Without a target, that is the ray along
    /// the frame's z axis.
    pub fn of<S: Scalar>(&self, view: &View<S>, frame: FrameRef, target: Option<FrameRef>) -> S {
        let now = &view.now;
        let at = now.configuration();
        let from = at.pose(frame);
        let (one, zero) = (S::one(), S::zero());
        let axis: Vec3<S> = from.R.column(2).into();
        let mut seen = one;
        let r = target.map_or(axis, |to| at.pose(to).p - from.p);
        let distance = norm(&r);
        if let Some(id) = self.field_of_view {
            let cosine = S::lift(libm::cos(0.5 * id.of(S::numbers(now.parameters))));
            let inside = axis.dot(&r) - distance * cosine;
            seen *= S::select(inside.exceeds(0.0), one, zero);
        }
        if let Some(id) = self.max_distance {
            seen *= S::select(distance.exceeds(id.of(S::numbers(now.parameters))), zero, one);
        }
        for blocker in &self.blockers {
            seen *= blocker.passed(view, &from.p, &r, target.is_some());
        }
        seen
    }
}
