//! Line of sight from a frame to a target.

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
    /// Centres and radii of spheres that block the line of sight.
    blockers: Vec<(FrameRef, ParamId)>,
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
        let mut blockers = Vec::new();
        for (i, of) in written.blocked_by.iter().enumerate() {
            let what = format!(
                "radius of the sphere at {} that blocks the sight of sensor {name}",
                of.frame
            );
            let quantity = Quantity::new(format!("{name}.blocker_radius[{}]", i + 1), Unit::Metre, what);
            let quantity = quantity.bounded(Bound::Positive);
            let radius = from.declare.parameter(quantity, of.radius, true, &place("blocked_by"));
            let frame = from.frame(["sensor", name, "blocked_by"], &of.frame);
            blockers.extend(frame.map(|frame| (frame, radius)));
        }
        Self {
            field_of_view,
            max_distance,
            blockers,
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

    /// Returns 1 if the second frame is seen from the first, else 0.
    pub fn of<S: Scalar>(&self, view: &View<S>, frames: [FrameRef; 2]) -> S {
        let now = &view.now;
        let at = now.configuration();
        let [from, to] = frames.map(|frame| at.pose(frame));
        let r = to.p - from.p;
        let (one, zero) = (S::one(), S::zero());
        let (mut seen, distance) = (one, norm(&r));
        if let Some(id) = self.field_of_view {
            let cosine = S::lift(libm::cos(0.5 * id.of(now.parameters)));
            let inside = from.R.column(2).dot(&r) - distance * cosine;
            seen *= S::select(inside.exceeds(0.0), one, zero);
        }
        if let Some(id) = self.max_distance {
            seen *= S::select(distance.exceeds(id.of(now.parameters)), zero, one);
        }
        for (frame, radius) in &self.blockers {
            let radius = radius.of(now.parameters);
            let c = at.pose(*frame).p - from.p;
            let off: Vec3<S> = c - r * nearest(c.dot(&r) / r.dot(&r));
            seen *= S::select(off.dot(&off).exceeds(radius * radius), one, zero);
        }
        seen
    }
}

/// Returns the nearest number in 0 … 1.
fn nearest<S: Scalar>(s: S) -> S {
    let s = S::select((-s).exceeds(0.0), S::zero(), s);
    S::select(s.exceeds(1.0), S::one(), s)
}
