//! Shapes of a contact with the parameters of their dimensions.

use super::{Polyhedron, Solid, nearest, rate_bound};
use crate::Problem;
use crate::algebra::{ConvexHull, Facet, Pose, Scalar, Twist, Vec3};
use crate::elements::contact::Nearest;
use crate::elements::{Values, report};
use crate::spec::{ContactShape, ContactShapeType, at};
use crate::system::{Bound, Declarations, ParamId, Quantity, Unit};
use std::sync::Arc;

/// Angle of the axes of two capsules, rad, below which they may come to lie side by side.
const NEARLY_PARALLEL: f64 = 0.02;

/// Shapes of both frames.
#[derive(Clone, Debug)]
pub(in crate::elements::contact) struct Shapes {
    /// Shape of a; `None` for a point.
    a: Option<Shape>,
    b: Shape,
}

/// Shape of a frame.
#[derive(Clone, Debug)]
struct Shape {
    kind: ContactShapeType,
    /// First of the parameters with the dimensions, in the order of the fields of
    /// [`ContactShape`]; those that the type does not have are left out.
    first: ParamId,
    /// Hull of a mesh.
    hull: Option<Arc<ConvexHull>>,
    /// Faces of a box or a mesh.
    facets: Option<Arc<[Facet]>>,
}

impl Shapes {
    /// Declares the dimensions of the shapes of the contact `name`; `None` for a is a point.
    pub fn declare(
        name: &str,
        a: Option<&ContactShape>,
        b: &ContactShape,
        frames: [&str; 2],
        declare: &mut Declarations,
    ) -> Self {
        let mut shape =
            |side: &'static str, shape: &ContactShape, frame: &str| Shape::declare([name, side, frame], shape, declare);
        Self {
            a: a.map(|a| shape("a", a, frames[0])),
            b: shape("b", b, frames[1]),
        }
    }

    /// Returns the solids a and b.
    pub fn solids(&self, parameters: &[f64]) -> [Solid<'_>; 2] {
        let a = self.a.as_ref();
        let a = a.map_or(Solid::Sphere { radius: 0.0 }, |a| a.solid(parameters));
        [a, self.b.solid(parameters)]
    }

    /// Returns the faces of both shapes, if both are polyhedra.
    pub fn facets(&self) -> Option<[&[Facet]; 2]> {
        Some([self.a.as_ref()?.facets.as_deref()?, self.b.facets.as_deref()?])
    }

    /// Returns both shapes with the parameters' values, if both are polyhedra.
    pub fn polyhedra(&self, parameters: &[f64]) -> Option<[Polyhedron<'_>; 2]> {
        let ([of_a, of_b], [a, b]) = (self.facets()?, self.solids(parameters));
        Some([(a, of_a), (b, of_b)].map(|(solid, facets)| Polyhedron { solid, facets }))
    }

    /// Returns the words of the spec for both shapes.
    pub fn names(&self) -> [&'static str; 2] {
        [self.a.as_ref().map_or("point", |a| a.kind.name()), self.b.kind.name()]
    }

    /// Returns the nearest points for frames at the poses `A` and `B`.
    pub fn nearest<S: Scalar>(&self, parameters: &[f64], poses: [&Pose<S>; 2]) -> Nearest<S> {
        let [a, b] = self.solids(parameters);
        nearest([&a, &b], poses).unwrap_or(Nearest {
            // Pairs without a distance are rejected when a spec is read.
            gap: S::lift(f64::NAN),
            n: Vec3::zeros(),
            from_a: Vec3::zeros(),
            is_beside: false,
        })
    }

    /// Returns true if the gap may have several minima within a step: if one of the shapes is not
    /// convex, or if edges may turn past each other.
    pub fn need_rate_bound(&self) -> bool {
        use ContactShapeType::{Capsule, Funnel, Plane, Sphere};
        let [a, b] = [self.a.as_ref().map_or(Sphere, |a| a.kind), self.b.kind];
        let turn = ![a, b].iter().any(|kind| matches!(kind, Sphere | Plane)) && [a, b] != [Capsule; 2];
        [a, b].contains(&Funnel) || turn
    }

    /// Returns the sum of the radii of spheres about both origins that contain the shapes, m; `None`
    /// with a plane.
    pub fn reach(&self, parameters: &[f64]) -> Option<f64> {
        let [a, b] = self.solids(parameters).map(|solid| solid.extent());
        Some(a? + b?)
    }

    /// Returns [`rate_bound`] with the parameters' values.
    pub fn rate_bound(&self, parameters: &[f64], relative: &Twist<f64>, d: Vec3<f64>) -> f64 {
        let [a, b] = self.solids(parameters);
        rate_bound([&a, &b], relative, d)
    }

    /// Returns the description of shapes of the frames `names` that may touch along a line or a
    /// circle when they are pressed together, with frames at the poses `A` and `B` for capsules;
    /// `None` for other shapes.
    pub fn touching_along_a_line(
        &self,
        parameters: &[f64],
        [A, B]: &[Pose<f64>; 2],
        names: &[String; 2],
    ) -> Option<String> {
        let [a, b] = names;
        match self.solids(parameters) {
            [Solid::Sphere { radius }, Solid::Funnel { end, .. }]
            | [Solid::Funnel { end, .. }, Solid::Sphere { radius }]
                if radius >= end =>
            {
                let [radius, end] = [radius, end].map(|length| Unit::Metre.about(length));
                Some(format!(
                    "the sphere of radius {radius} does not pass through the narrow end of the funnel, of radius {end}: \"{a}\" and \
                     \"{b}\" pressed together along the axis touch along a circle"
                ))
            }
            [Solid::Capsule { .. }, Solid::Capsule { .. }] => {
                let [u, v] = [A, B].map(|pose| pose.R.column(2).into_owned());
                let is_parallel = u.cross(&v).norm() < NEARLY_PARALLEL;
                is_parallel.then(|| {
                    format!(
                        "the capsules of \"{a}\" and \"{b}\" start nearly parallel: pressed together side by side they touch \
                         along a line"
                    )
                })
            }
            _ => None,
        }
    }

    /// Reports narrow ends of cones and funnels that are not narrower than the other end.
    pub fn validate(&self, of: &Values, problems: &mut Vec<Problem>) {
        for shape in self.a.iter().chain([&self.b]) {
            let (radius, end) = match shape.solid(of.values) {
                Solid::Cone { radius, end, .. } | Solid::Funnel { radius, end, .. } => (radius, end),
                _ => continue,
            };
            if end >= radius {
                let what = format!(
                    "{} is not smaller than the radius {} of the other end of the {}",
                    Unit::Metre.about(end),
                    Unit::Metre.about(radius),
                    shape.kind.name()
                );
                report(of.declared, shape.first.nth(1), problems, what);
            }
        }
    }
}

impl Shape {
    /// Declares the dimensions of the shape of a side ("a" or "b") of a contact, on a frame.
    fn declare([contact, side, frame]: [&str; 3], written: &ContactShape, declare: &mut Declarations) -> Self {
        let kind = written.kind;
        let first = declare.next_parameter();
        let place = |field: &str| at("contact", contact, &format!("shape_{side}.{field}"));
        let text = |what: &str| format!("{what} of the {} of {frame}, contact {contact}", kind.name());
        if let Some(size) = written.size {
            let quantities = Quantity::vector(&format!("{contact}.{side}.size"), Unit::Metre, &text("size"));
            let quantities = quantities.map(|quantity| quantity.bounded(Bound::Positive));
            declare.parameters(quantities, &size, true, &place("size"));
        }
        let tapers = matches!(kind, ContactShapeType::Cone | ContactShapeType::Funnel);
        let end_radius = tapers.then(|| written.end_radius.unwrap_or(0.0));
        for (field, value, bound, what) in [
            ("radius", written.radius, Bound::Positive, "radius"),
            ("end_radius", end_radius, Bound::NotNegative, "radius at the narrow end"),
            ("length", written.length, Bound::Positive, "length"),
            ("thickness", written.thickness, Bound::Positive, "thickness of the wall"),
        ] {
            let Some(value) = value else { continue };
            let quantity = Quantity::new(format!("{contact}.{side}.{field}"), Unit::Metre, text(what)).bounded(bound);
            declare.parameter(quantity, value, true, &place(field));
        }
        Self {
            kind,
            first,
            // A mesh without a hull is reported when a spec is read.
            hull: written.hull().ok().map(Arc::new),
            facets: written.facets().map(Arc::from),
        }
    }

    /// Returns the solid with the parameters' values.
    fn solid(&self, parameters: &[f64]) -> Solid<'_> {
        let number = |i: usize| self.first.nth(i).of(parameters);
        match self.kind {
            ContactShapeType::Plane => Solid::Plane,
            ContactShapeType::Mesh => match &self.hull {
                Some(hull) => Solid::Hull(hull),
                None => Solid::Sphere { radius: f64::NAN },
            },
            ContactShapeType::Sphere => Solid::Sphere { radius: number(0) },
            ContactShapeType::Disc => Solid::Disc { radius: number(0) },
            ContactShapeType::Capsule => Solid::Capsule {
                radius: number(0),
                half: 0.5 * number(1),
            },
            ContactShapeType::Box => Solid::Box {
                half: [0, 1, 2].map(|i| 0.5 * number(i)),
            },
            ContactShapeType::Cylinder => Solid::Cylinder {
                radius: number(0),
                half: 0.5 * number(1),
            },
            ContactShapeType::Cone => Solid::Cone {
                radius: number(0),
                end: number(1),
                half: 0.5 * number(2),
            },
            ContactShapeType::Funnel => Solid::Funnel {
                radius: number(0),
                end: number(1),
                half: 0.5 * number(2),
                thickness: number(3),
            },
        }
    }
}
