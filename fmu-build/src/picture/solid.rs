use crate::motion::shapes::Drawn;
use crate::shapes::{Meshes, colour};
use grapple::algebra::{Quaternion, Vec3};
use std::f64::consts::TAU;

/// A shape in space, drawn by the outline of its convex hull and the edges of its flat faces.
pub struct Solid {
    /// Points whose convex hull is drawn.
    pub points: Vec<Vec3<f64>>,
    /// Flat faces, their corners counterclockwise as seen from outside.
    pub faces: Vec<Vec<Vec3<f64>>>,
    /// Red, green, blue and opacity, 0 to 1, if the shape has a colour.
    pub colour: Option<[f32; 4]>,
    /// Set for a shape computed from mass and inertia, and for a truss.
    pub is_faint: bool,
}

/// Colour of a panel without a colour of its own, as on the page of a run.
const PANEL: [f32; 4] = [0.153, 0.275, 0.561, 1.0];

impl Solid {
    /// Returns a shape; `placed` converts points in axes of its body to the scene.
    pub fn of(drawn: &Drawn, meshes: &Meshes, placed: impl Fn(Vec3<f64>) -> Vec3<f64>) -> Self {
        let [x, y, z] = drawn.size;
        let mesh = drawn.mesh.and_then(|index| meshes.all().nth(index));
        let own = mesh.and_then(|mesh| mesh.parts.iter().find_map(|part| part.colour));
        let (points, faces) = match drawn.kind {
            "cylinder" => turned(&[(-0.5 * z, 0.5 * x), (0.5 * z, 0.5 * x)]),
            "cone" => turned(&[(-0.5 * z, 0.5 * x), (0.5 * z, 0.0)]),
            "lathe" => {
                let circles: Vec<(f64, f64)> = drawn.meridian.iter().map(|&[rho, z]| (z, rho)).collect();
                turned(&circles)
            }
            "hull" => {
                let facets = drawn.facets.iter().map(|facet| facet.map(Vec3::from).to_vec());
                (
                    drawn.facets.iter().flatten().copied().map(Vec3::from).collect(),
                    facets.collect(),
                )
            }
            "sphere" => turned(&std::array::from_fn::<_, 17, _>(|k| {
                let (s, c) = (TAU * k as f64 / 32.0).sin_cos();
                (-0.5 * x * c, 0.5 * x * s)
            })),
            "tube" => {
                let (mut points, mut faces) = turned(&[(-0.5 * x, 0.5 * y), (0.5 * x, 0.5 * y)]);
                for point in points.iter_mut().chain(faces.iter_mut().flatten()) {
                    *point = point.zxy();
                }
                (points, faces)
            }
            "mesh" => {
                let vertices = mesh.iter().flat_map(|mesh| &mesh.parts).flat_map(|part| &part.vertices);
                let scaled = |v: &[f32; 3]| {
                    let [a, b, c] = v.map(f64::from);
                    Vec3::new(a * x, b * y, c * z)
                };
                (vertices.map(scaled).collect(), Vec::new())
            }
            kind => box_of(&drawn.size, kind),
        };
        let [w, i, j, k] = drawn.q;
        let q = Quaternion::new(w, i, j, k);
        let place = |point: Vec3<f64>| placed(Vec3::from(drawn.r) + q.rotate(point));
        Self {
            points: points.into_iter().map(place).collect(),
            faces: faces
                .into_iter()
                .map(|face| face.into_iter().map(place).collect())
                .collect(),
            colour: (drawn.colour.as_deref().and_then(colour))
                .or(own)
                .or((drawn.kind == "panel").then_some(PANEL)),
            is_faint: drawn.stand_in || drawn.kind == "truss",
        }
    }

    /// Returns the mean of the points.
    pub fn centre(&self) -> Vec3<f64> {
        self.points.iter().sum::<Vec3<f64>>() / self.points.len().max(1) as f64
    }
}

type Faceted = (Vec<Vec3<f64>>, Vec<Vec<Vec3<f64>>>);

/// Returns a solid of revolution about z, of circles with the given heights and radii from below;
/// circles at its ends are faces. Of a wall, whose last circle is the first, all circles are: their
/// edges are drawn, and its ends are open.
fn turned(circles: &[(f64, f64)]) -> Faceted {
    let circle = |&(z, radius): &(f64, f64)| -> Vec<Vec3<f64>> {
        let corner = |k: i32| {
            let (s, c) = (TAU * f64::from(k) / 36.0).sin_cos();
            Vec3::new(radius * c, radius * s, z)
        };
        (0..36).map(corner).collect()
    };
    let is_wall = circles.len() > 1 && circles.first() == circles.last();
    let ends: Vec<&(f64, f64)> = match is_wall {
        true => circles.iter().skip(1).collect(),
        false => circles.first().into_iter().chain(circles.last()).collect(),
    };
    let bottom = circles.first().map(|(z, _)| *z);
    let faces = ends.into_iter().filter(|(_, radius)| *radius > 0.0).map(|end| {
        let mut face = circle(end);
        if std::ptr::eq(end, &circles[0]) || (is_wall && Some(end.0) == bottom) {
            face.reverse();
        }
        face
    });
    (circles.iter().flat_map(circle).collect(), faces.collect())
}

/// Returns a box; the largest faces of a panel are divided into cells, the long ones of a truss into
/// bays with diagonals.
fn box_of(size: &[f64; 3], kind: &str) -> Faceted {
    let corner = |p: [f64; 3]| Vec3::new(p[0] * size[0], p[1] * size[1], p[2] * size[2]);
    let signs = [-0.5, 0.5];
    let points = signs
        .iter()
        .flat_map(|&x| signs.map(|y| signs.map(|z| corner([x, y, z]))))
        .flatten();
    let mut faces = Vec::new();
    for (normal, side) in (0..3).flat_map(|normal| signs.map(|side| (normal, side))) {
        let (u, v) = ((normal + 1) % 3, (normal + 2) % 3);
        let divided = |along: usize, across: usize| match kind {
            "panel" if size[normal] <= size[u].min(size[v]) => {
                (2.0 * size[along] / size[u].min(size[v])).round().clamp(1.0, 24.0) as usize
            }
            "truss" if size[along] > size[across] => (size[along] / size[across]).round().clamp(1.0, 24.0) as usize,
            _ => 1,
        };
        let (n, m) = (divided(u, v), divided(v, u));
        for (i, k) in (0..n).flat_map(|i| (0..m).map(move |k| (i, k))) {
            let at = |i: usize, k: usize| {
                let mut p = [side; 3];
                (p[u], p[v]) = (i as f64 / n as f64 - 0.5, k as f64 / m as f64 - 0.5);
                corner(p)
            };
            let mut face = vec![at(i, k), at(i + 1, k), at(i + 1, k + 1), at(i, k + 1)];
            if side < 0.0 {
                face.reverse();
            }
            if kind == "truss" {
                faces.push(vec![face[0], face[1], face[2]]);
            }
            faces.push(face);
        }
    }
    (points.collect(), faces)
}

#[cfg(feature = "inside")]
pub(super) mod tests {
    use super::*;

    unit_tests![
        faces_of_boxes_and_panels_enclose_their_volume,
        wall_of_a_funnel_has_its_four_rims,
        end_faces_of_a_cylinder_point_outwards,
    ];

    /// Returns the volume of a closed surface by the divergence theorem.
    fn volume(faces: &[Vec<Vec3<f64>>]) -> f64 {
        let fan = |face: &Vec<Vec3<f64>>| {
            let triangles = face.windows(2).skip(1);
            triangles.map(|pair| face[0].dot(&pair[0].cross(&pair[1]))).sum::<f64>()
        };
        faces.iter().map(fan).sum::<f64>() / 6.0
    }

    fn faces_of_boxes_and_panels_enclose_their_volume() {
        for kind in ["box", "panel"] {
            let (points, faces) = box_of(&[4.0, 1.5, 0.03], kind);
            assert_eq!(points.len(), 8);
            assert!((volume(&faces) - 0.18).abs() < 1e-14, "{kind}");
        }
    }

    fn wall_of_a_funnel_has_its_four_rims() {
        let wall = [(-0.4, 0.1), (-0.4, 0.12), (0.4, 0.32), (0.4, 0.3), (-0.4, 0.1)];
        let (_, faces) = turned(&wall);
        let mut rims: Vec<(f64, f64)> = faces
            .iter()
            .map(|face| {
                let up = (face[1] - face[0]).cross(&(face[2] - face[1])).z;
                assert_eq!(up > 0.0, face[0].z > 0.0);
                (face[0].z, face[0].x.hypot(face[0].y))
            })
            .collect();
        rims.sort_by(|a, b| a.partial_cmp(b).expect("numbers"));
        let expected = [(-0.4, 0.1), (-0.4, 0.12), (0.4, 0.3), (0.4, 0.32)];
        assert!(
            rims.iter()
                .zip(expected)
                .all(|(rim, (z, radius))| rim.0 == z && (rim.1 - radius).abs() < 1e-15)
        );
        assert_eq!(rims.len(), 4);
    }

    fn end_faces_of_a_cylinder_point_outwards() {
        let (_, faces) = turned(&[(-1.0, 0.5), (1.0, 0.5)]);
        // A cone from the origin to each end has the height 1.
        let area = 36.0 * 0.5 * 0.25 * (TAU / 36.0).sin();
        assert!((volume(&faces) - 2.0 * area / 3.0).abs() < 1e-14);
    }
}
