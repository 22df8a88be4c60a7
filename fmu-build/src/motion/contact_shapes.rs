//! The shapes of contacts as data of the page, on the bodies whose frames have them.

use super::Line;
use super::shapes::{Drawn, on_line};
use grapple::algebra::{ConvexHull, HullFace, Quaternion, Vec3};
use grapple::elements::wall_width;
use grapple::spec::{ContactShape, ContactShapeType, MOST_HULL_VERTICES, Spec, rotation};
use std::f64::consts::FRAC_PI_2;

/// Colour of shapes of contacts: transparent, since they may cover or be inside those of bodies.
const COLOUR: &str = "#d9822b80";
/// Number of edges of the meridian of a hemisphere.
const DOME: u32 = 8;

/// Returns the shapes of contacts on a body, each once; of a beam with modes, whose axis is `line`,
/// in axes of the beam. A plane has no bounds and is not drawn; of a mesh, its convex hull is.
pub fn of_body(spec: &Spec, body: &str, line: Option<&Line>) -> Vec<Drawn> {
    let sides = spec.contact.values();
    let sides = sides.flat_map(|contact| [(&contact.a, &contact.shape_a), (&contact.b, &contact.shape_b)]);
    let mut placed: Vec<(&String, &ContactShape)> = Vec::new();
    for (frame, shape) in sides {
        let Some(shape) = shape else { continue };
        if !placed.contains(&(frame, shape)) {
            placed.push((frame, shape));
        }
    }
    let drawn = |(name, shape): (&String, &ContactShape)| {
        let (origin, attitude) = match spec.frame.get(name) {
            Some(frame) if frame.body == body => (frame.origin, rotation(frame.orientation, frame.rpy_deg)),
            None if name == body => ([0.0; 3], Quaternion::identity()),
            _ => return None,
        };
        let mut drawn = Drawn {
            r: origin,
            q: attitude.to_array(),
            ..of_shape(shape)?
        };
        if let Some(line) = line {
            on_line(&mut drawn, attitude, line);
        }
        Some(drawn)
    };
    placed.into_iter().filter_map(drawn).collect()
}

/// Returns a shape at the origin; `None` for a plane.
fn of_shape(shape: &ContactShape) -> Option<Drawn> {
    let [radius, end, length] = [shape.radius, shape.end_radius, shape.length].map(Option::unwrap_or_default);
    let [low, high] = [-0.5 * length, 0.5 * length];
    let mut facets = Vec::new();
    let (kind, size, meridian) = match shape.kind {
        ContactShapeType::Plane => return None,
        ContactShapeType::Mesh => {
            facets = facets_of(shape)?;
            let reach = |i: usize| facets.iter().flatten().fold(0.0, |most: f64, p| most.max(p[i].abs()));
            ("hull", [0, 1, 2].map(|i| 2.0 * reach(i)), Vec::new())
        }
        ContactShapeType::Sphere => ("sphere", [2.0 * radius; 3], Vec::new()),
        ContactShapeType::Box => ("box", shape.size.unwrap_or_default(), Vec::new()),
        ContactShapeType::Cylinder => ("cylinder", [2.0 * radius, 2.0 * radius, length], Vec::new()),
        ContactShapeType::Disc => (
            "lathe",
            [2.0 * radius, 2.0 * radius, 0.0],
            vec![[0.0, 0.0], [radius, 0.0]],
        ),
        ContactShapeType::Capsule => {
            let arc = |from: f64, z: f64| {
                (0..=DOME).map(move |k| {
                    let (sine, cosine) = (from + FRAC_PI_2 * f64::from(k) / f64::from(DOME)).sin_cos();
                    [radius * cosine, z + radius * sine]
                })
            };
            let meridian = arc(-FRAC_PI_2, low).chain(arc(0.0, high)).collect();
            ("lathe", [2.0 * radius, 2.0 * radius, length + 2.0 * radius], meridian)
        }
        ContactShapeType::Cone => {
            let meridian = vec![[0.0, low], [radius, low], [end, high], [0.0, high]];
            ("lathe", [2.0 * radius, 2.0 * radius, length], meridian)
        }
        ContactShapeType::Funnel => {
            let w = wall_width(shape.thickness.unwrap_or_default(), radius - end, high);
            let meridian = vec![
                [end, low],
                [end + w, low],
                [radius + w, high],
                [radius, high],
                [end, low],
            ];
            ("lathe", [2.0 * (radius + w), 2.0 * (radius + w), length], meridian)
        }
    };
    Some(Drawn {
        kind,
        size,
        r: [0.0; 3],
        q: Quaternion::identity().to_array(),
        colour: Some(COLOUR.to_owned()),
        mesh: None,
        meridian,
        facets,
        stand_in: false,
    })
}

/// Returns the triangles of the convex hull of a mesh, m; `None` for vertices without a hull.
fn facets_of(shape: &ContactShape) -> Option<Vec<[[f64; 3]; 3]>> {
    let vertices = shape.vertices.iter().flatten().map(|p| Vec3::from(*p));
    let hull = ConvexHull::of(&vertices.collect::<Vec<_>>(), MOST_HULL_VERTICES).ok()?;
    let corners = |face: &HullFace| face.vertices.map(|k| hull.vertices[k].into());
    Some(hull.faces.iter().map(corners).collect())
}

#[cfg(feature = "inside")]
pub(super) mod tests {
    use super::*;

    unit_tests![hull_of_a_mesh_is_drawn, shapes_are_drawn_once_at_their_frames,];

    /// A mesh is drawn as its convex hull: the four faces of a tetrahedron with a point inside.
    fn hull_of_a_mesh_is_drawn() {
        let text = r#"
            name = "drawn"
            [body.a]
            mass = 1.0
            inertia = [1.0, 1.0, 1.0]
            [contact.floor]
            a = "a"
            b = "world"
            shape_a = { type = "mesh", vertices = [[0, 0, 0], [2, 0, 0], [0, 3, 0], [0, 0, -4], [0.1, 0.1, -0.1]] }
            shape_b = { type = "plane" }
            e = 0.5
        "#;
        let spec = grapple::spec::read(text, std::path::Path::new(".")).expect("a spec");
        let [drawn] = &of_body(&spec, "a", None)[..] else {
            panic!("one shape")
        };
        assert_eq!((drawn.kind, drawn.facets.len()), ("hull", 4));
        assert_eq!(drawn.size, [4.0, 6.0, 8.0]);
    }

    fn shapes_are_drawn_once_at_their_frames() {
        let text = r#"
            name = "drawn"
            [body.a]
            mass = 1.0
            inertia = [1.0, 1.0, 1.0]
            [body.b]
            mass = 1.0
            inertia = [1.0, 1.0, 1.0]
            start = { position = [9.0, 0.0, 0.0] }
            [frame.port]
            body = "b"
            origin = [0.5, 0.0, 0.0]
            [contact.one]
            a = "a"
            b = "port"
            shape_a = { type = "sphere", radius = 0.1 }
            shape_b = { type = "funnel", radius = 0.3, end_radius = 0.1, length = 0.4, thickness = 0.02 }
            e = 0.5
            [contact.floor]
            a = "a"
            b = "world"
            shape_a = { type = "sphere", radius = 0.1 }
            shape_b = { type = "plane" }
            e = 0.5
        "#;
        let spec = grapple::spec::read(text, std::path::Path::new(".")).expect("a spec");
        let [a, b] = ["a", "b"].map(|body| of_body(&spec, body, None));
        assert!(a.len() == 1 && a[0].kind == "sphere" && a[0].r == [0.0; 3]);
        assert!(b.len() == 1 && b[0].kind == "lathe" && b[0].r == [0.5, 0.0, 0.0]);
        // The wall is 0.02 m thick, perpendicular to itself: its slope is 1/2.
        let [inner, outer] = [b[0].meridian[0], b[0].meridian[1]];
        assert!((outer[0] - inner[0] - 0.02 * 1.25f64.sqrt()).abs() < 1e-15);
        assert!(of_body(&spec, "world", None).is_empty());
    }
}
