//! Stress-free shape of a geometrically exact beam.

use super::{Bound, Declarations, ParamId, Quantity, Unit};
use crate::algebra::{Vec3, direction};
use crate::nodal::{Curve, Spline};
use crate::spec::{self, at};
use std::f64::consts::TAU;

/// Largest component along x of the unit vector from the root to the centre of an arc.
const MOST_ALONG: f64 = 1e-9;

/// Stress-free shape, by the indices of its parameters.
#[derive(Clone, Copy, Debug)]
pub(super) enum Shape {
    /// A straight line.
    Straight { length: ParamId },
    /// A circular arc.
    Arc {
        radius: ParamId,
        angle: ParamId,
        toward: Option<ParamId>,
    },
    /// A spline through points, whose coordinates follow each other.
    Points { first: ParamId, count: usize },
}

impl Shape {
    /// Declares the parameters of the shape of the beam `name`.
    pub(super) fn declare(name: &str, written: &spec::GeometricallyExactBeam, declare: &mut Declarations) -> Self {
        let place = |field: &str| at("body", name, &format!("geometrically_exact_beam.{field}"));
        let named = |field: &str, unit, what: &str| {
            let quantity = Quantity::new(format!("{name}.{field}"), unit, format!("{what} of {name}"));
            quantity.bounded(Bound::Positive)
        };
        let Some(shape) = &written.shape else {
            let quantity = named("length", Unit::Metre, "length");
            return Self::Straight {
                length: declare.parameter(quantity, written.length.unwrap_or(0.0), false, &place("length")),
            };
        };
        let points = shape.points.iter().enumerate().map(|(i, point)| {
            let what = format!("point {} of the stress-free axis of {name}, body axes", i + 1);
            let quantities = Quantity::vector(&format!("{name}.point[{}].r", i + 1), Unit::Metre, &what);
            declare.parameters(quantities, point, false, &place("shape.points"))
        });
        if let Some(first) = points.reduce(|first, _| first) {
            let count = shape.points.len();
            return Self::Points { first, count };
        }
        let (angle, field) = match shape.angle_deg {
            Some(degrees) => (degrees.to_radians(), "shape.angle_deg"),
            None => (shape.angle.unwrap_or(0.0), "shape.angle"),
        };
        let radius = named("radius", Unit::Metre, "radius of the stress-free arc");
        Self::Arc {
            radius: declare.parameter(radius, shape.radius.unwrap_or(0.0), false, &place("shape.radius")),
            angle: declare.parameter(
                named("angle", Unit::Radian, "angle of the stress-free arc"),
                angle,
                false,
                &place(field),
            ),
            toward: shape.toward.map(|toward| {
                let what = format!("direction from the root to the centre of the stress-free arc of {name}, body axes");
                let quantities = Quantity::vector(&format!("{name}.toward"), Unit::One, &what);
                declare.parameters(quantities, &toward, false, &place("shape.toward"))
            }),
        }
    }

    /// Returns the first of its parameters.
    pub(super) fn first(&self) -> ParamId {
        match self {
            Self::Straight { length } => *length,
            Self::Arc { radius, .. } => *radius,
            Self::Points { first, .. } => *first,
        }
    }

    /// Returns the curve of a beam that is not straight.
    ///
    /// # Errors
    /// The parameter with an inadmissible value, and the reason; empty if the value violates its
    /// bound, which is reported separately.
    pub(super) fn curve(&self, values: &[f64]) -> Result<Option<Curve>, (ParamId, String)> {
        match *self {
            Self::Straight { .. } => Ok(None),
            Self::Arc { radius, angle, toward } => {
                for id in [radius, angle] {
                    if !(id.of(values) > 0.0 && id.of(values).is_finite()) {
                        return Err((id, String::new()));
                    }
                }
                if angle.of(values) > TAU * (1.0 + 1e-12) {
                    let what = format!(
                        "the arc has {:.1}°, more than a full circle",
                        angle.of(values).to_degrees()
                    );
                    return Err((angle, what));
                }
                Ok(Some(Curve::Arc {
                    radius: radius.of(values),
                    angle: angle.of(values),
                    toward: toward.map_or(Ok(Vec3::y()), |id| across(id, values))?,
                }))
            }
            Self::Points { first, count } => {
                let points: Vec<Vec3<f64>> = (0..count).map(|i| first.nth(3 * i).vector(values)).collect();
                if !points.iter().flatten().all(|part| part.is_finite()) {
                    return Err((first, String::new()));
                }
                let without_tangent = |i: usize| {
                    let what = format!(
                        "the axis has no tangent before point {}: it coincides with the one before (the first with the body's \
                         origin), or the axis turns back there",
                        i + 1
                    );
                    (first.nth(3 * i), what)
                };
                let spline = Spline::new(&points).map_err(without_tangent)?;
                Ok(Some(Curve::Spline(spline)))
            }
        }
    }
}

/// Returns the unit vector along the three parameters from `id` on, which is normal to x.
fn across(id: ParamId, values: &[f64]) -> Result<Vec3<f64>, (ParamId, String)> {
    let written = id.vector(values);
    let [x, y, z] = written.into();
    let what = match direction(&written) {
        Some(unit) if unit.x.abs() <= MOST_ALONG => return Ok(Vec3::new(0.0, unit.y, unit.z).normalize()),
        Some(_) => format!("[{x}, {y}, {z}] is not normal to x, along which the beam starts"),
        None => format!("the direction [{x}, {y}, {z}] has zero length"),
    };
    Err((id, what))
}
