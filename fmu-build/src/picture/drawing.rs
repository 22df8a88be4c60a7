use super::names::{self, Wanted};
use super::scene::Scene;
use super::solid::Solid;
use super::view::View;
use super::{Ink, Picture, Point, Shape, Text, TextStyle};
use crate::error::Result;
use crate::shapes::Meshes;
use crate::text::number;
use grapple::algebra::{Mat3, Vec3};
use grapple::plant::Model;
use grapple::spec::JointType;
use std::f64::consts::TAU;
use std::sync::Arc;

const LINK: Ink = Ink::line([0x2f, 0x3b, 0x4e], 3.2);
const SLIDE: Ink = Ink::line([0x2f, 0x3b, 0x4e], 1.6).dashed([6.0, 5.0]);
const ARM: Ink = Ink::line([0x2f, 0x3b, 0x4e], 1.4);
const CENTRE: Ink = Ink::line([0x2f, 0x3b, 0x4e], 1.0).filled([0x2f, 0x3b, 0x4e], 1.0);
const JOINT: Ink = Ink::line([0xb4, 0x5a, 0x0a], 2.0).filled([0xff, 0xff, 0xff], 1.0);
const RIGID: Ink = Ink::line([0xb4, 0x5a, 0x0a], 2.0).filled([0xb4, 0x5a, 0x0a], 1.0);
const ROTARY: Ink = Ink::line([0xb4, 0x5a, 0x0a], 1.4).dashed([9.0, 4.0]);
const LINEAR: Ink = Ink::line([0xb4, 0x5a, 0x0a], 1.8);
const AXES: [Ink; 3] = [
    Ink::line([0xd0, 0x34, 0x3c], 1.8),
    Ink::line([0x1f, 0x96, 0x52], 1.8),
    Ink::line([0x2b, 0x63, 0xd0], 1.8),
];

/// Draws a model at its start.
///
/// A body is drawn with its shapes; one without shapes as the box or cylinder of uniform density with
/// its mass and inertia. Links run from a body's origin to the joints and frames on it; red, green
/// and blue are the axes x, y and z.
///
/// # Errors
/// Invalid parameters; none for those of a compiled model.
pub fn draw(model: &Arc<Model>, meshes: &Meshes) -> Result<Picture> {
    let scene = Scene::of(model, meshes)?;
    let view = View::of(&scene.places(), &scene.extent());
    let mut sheet = Sheet {
        view,
        shapes: Vec::new(),
        captions: Vec::new(),
        texts: Vec::new(),
        wanted: Vec::new(),
        marks: Vec::new(),
    };
    sheet.bodies(&scene);
    sheet.links(&scene);
    sheet.ancf_beams(&scene);
    sheet.joints(&scene);
    sheet.frames(&scene);
    sheet.key();
    Ok(sheet.finished())
}

/// The sheet during drawing.
struct Sheet {
    view: View,
    shapes: Vec<Shape>,
    captions: Vec<Shape>,
    texts: Vec<Text>,
    wanted: Vec<Wanted>,
    /// Points that text should not cover.
    marks: Vec<Point>,
}

impl Sheet {
    fn line(&mut self, ink: Ink, points: Vec<Point>) {
        self.shapes.push(Shape {
            points,
            closed: false,
            ink,
        });
    }

    fn area(&mut self, ink: Ink, points: Vec<Point>) {
        self.shapes.push(Shape {
            points,
            closed: true,
            ink,
        });
    }

    fn between(&mut self, ink: Ink, from: &Vec3<f64>, to: &Vec3<f64>) {
        let points = vec![self.view.point(from), self.view.point(to)];
        self.line(ink, points);
    }

    fn name(&mut self, text: &str, place: &Vec3<f64>, style: TextStyle) {
        self.wanted.push(Wanted {
            text: text.to_owned(),
            near: self.view.point(place),
            style,
        });
    }

    /// Draws the shapes of bodies, the farthest first.
    fn bodies(&mut self, scene: &Scene) {
        let solids = scene.bodies.iter().flat_map(|body| &body.solids);
        let eye = self.view.eye;
        let mut order: Vec<(f64, &Solid)> = solids.map(|solid| (solid.centre().dot(&eye), solid)).collect();
        order.sort_by(|(a, _), (b, _)| a.total_cmp(b));
        for (_, solid) in order {
            self.solid(solid);
        }
        for (body, placed) in scene.each() {
            let centre = placed.centre;
            let at = self.view.point(&centre);
            self.area(CENTRE, circle(at, 1.8));
            self.marks.push(at);
            self.name(&body.name, &centre, TextStyle::Body);
        }
    }

    /// Draws ANCF beams, from root to tip.
    fn ancf_beams(&mut self, scene: &Scene) {
        for (beam, [root, tip]) in scene.model.system().nodal.iter().zip(&scene.beams) {
            self.between(LINK, root, tip);
            self.name(&beam.name, &((root + tip) * 0.5), TextStyle::Body);
        }
    }

    /// Draws a shape: the outline of its convex hull, and the edges of the faces towards the viewer.
    fn solid(&mut self, solid: &Solid) {
        let part = |part: f32| (255.0 * part).round() as u8;
        let (area, alpha) = match solid.colour {
            Some([r, g, b, alpha]) => ([r, g, b].map(part), f64::from(alpha)),
            None => ([0xa9, 0xc4, 0xe6], 1.0),
        };
        let opacity = alpha * if solid.is_faint { 0.34 } else { 0.6 };
        let dark = area.map(|part| (0.65 * f64::from(part)) as u8);
        let flat = |points: &[Vec3<f64>]| points.iter().map(|point| self.view.point(point)).collect();
        let outline = hull(flat(&solid.points));
        let eye = self.view.eye;
        let towards = |face: &&Vec<Vec3<f64>>| (face[1] - face[0]).cross(&(face[2] - face[1])).dot(&eye) > 0.0;
        let faces: Vec<Vec<Point>> = solid.faces.iter().filter(towards).map(|face| flat(face)).collect();
        self.area(Ink::line(dark, 1.2).filled(area, opacity), outline);
        for face in faces {
            self.shapes.push(Shape {
                points: face,
                closed: true,
                ink: Ink::line(dark, 0.8),
            });
        }
    }

    /// Draws lines from each body's origin to its mass centre, and to the joints and frames on it.
    fn links(&mut self, scene: &Scene) {
        for placed in &scene.bodies {
            self.between(ARM, &placed.origin, &placed.centre);
        }
        for (body, placed) in scene.each() {
            let Some(joint) = placed.joint else { continue };
            if let Some(parent) = body.parent {
                self.link(&scene.bodies[parent].origin, &joint);
            }
            if (joint - placed.origin).norm() > self.view.metres(0.5) {
                self.between(SLIDE, &joint, &placed.origin);
            }
        }
        for (frame, (origin, _)) in scene.model.system().frames.iter().zip(&scene.frames) {
            self.link(&scene.bodies[frame.body].origin, origin);
        }
    }

    fn link(&mut self, from: &Vec3<f64>, to: &Vec3<f64>) {
        let (a, b) = (self.view.point(from), self.view.point(to));
        let steps = (((b[0] - a[0]).hypot(b[1] - a[1]) / 12.0).ceil() as u32).max(1);
        for k in 0..=steps {
            let part = f64::from(k) / f64::from(steps);
            self.marks.push([0, 1].map(|i| a[i] + part * (b[i] - a[i])));
        }
        self.line(LINK, vec![a, b]);
    }

    /// Draws the axes of motion of each joint, and a mark at its position.
    fn joints(&mut self, scene: &Scene) {
        for (body, placed) in scene.each() {
            let Some(place) = placed.joint else { continue };
            let joint = &body.joint;
            if !matches!(joint.kind, JointType::Spherical | JointType::Free) {
                for (w, v) in &scene.motions[joint.v..joint.v + joint.nv] {
                    if w.norm() > 0.5 {
                        self.axis(ROTARY, &placed.origin, &w.normalize(), 34.0);
                    } else if v.norm() > 0.5 {
                        self.axis(LINEAR, &place, &v.normalize(), 26.0);
                    }
                }
            }
            let at = self.view.point(&place);
            match joint.kind {
                JointType::Fixed => self.area(RIGID, square(at, 4.0)),
                JointType::Prismatic | JointType::Rectangular | JointType::Cartesian => {
                    self.area(JOINT, square(at, 5.5))
                }
                JointType::Spherical => {
                    self.area(JOINT, circle(at, 7.5));
                    self.area(RIGID, circle(at, 3.0));
                }
                _ => self.area(JOINT, circle(at, 5.5)),
            }
            self.marks.push(at);
            self.name(&joint.name, &place, TextStyle::Joint);
        }
    }

    fn axis(&mut self, ink: Ink, place: &Vec3<f64>, direction: &Vec3<f64>, length: f64) {
        let half = direction * self.view.metres(length);
        self.between(ink, &(place - half), &(place + half));
    }

    /// Draws the axes of bodies and of named frames.
    fn frames(&mut self, scene: &Scene) {
        for placed in &scene.bodies {
            self.triad(&placed.origin, &placed.axes, 20.0);
        }
        for (frame, (origin, axes)) in scene.model.system().frames.iter().zip(&scene.frames) {
            self.triad(origin, axes, 26.0);
            self.marks.push(self.view.point(origin));
            self.name(&frame.name, origin, TextStyle::Frame);
        }
    }

    fn triad(&mut self, origin: &Vec3<f64>, axes: &Mat3<f64>, length: f64) {
        for (i, ink) in AXES.into_iter().enumerate() {
            let tip = origin + axes.column(i) * self.view.metres(length);
            self.between(ink, origin, &tip);
        }
    }

    /// Draws the inertial axes with their letters, and a scale.
    fn key(&mut self) {
        let size = self.view.size;
        let corner = [48.0, size[1] - 46.0];
        for (i, ink) in AXES.into_iter().enumerate() {
            let mut axis = Vec3::zeros();
            axis[i] = 1.0;
            let [dx, dy] = self.view.direction(&axis);
            self.line(ink, vec![corner, [corner[0] + 30.0 * dx, corner[1] + 30.0 * dy]]);
            self.texts.push(Text {
                text: ["x", "y", "z"][i].to_owned(),
                at: [corner[0] + 39.0 * dx, corner[1] + 39.0 * dy],
                style: TextStyle::Small,
            });
        }
        self.texts.push(Text {
            text: "inertial".to_owned(),
            at: [corner[0], size[1] - 14.0],
            style: TextStyle::Small,
        });

        let metres = round_length(self.view.metres(140.0));
        let length = metres * self.view.scale;
        let [right, y] = [size[0] - 24.0, size[1] - 22.0];
        let left = right - length;
        let bar = [[left, y - 5.0], [left, y], [right, y], [right, y - 5.0]];
        self.captions.push(Shape {
            points: bar.to_vec(),
            closed: false,
            ink: ARM,
        });
        self.texts.push(Text {
            text: format!("{} m", number(metres, 3)),
            at: [0.5 * (left + right), y - 12.0],
            style: TextStyle::Small,
        });
    }

    fn finished(mut self) -> Picture {
        let (size, captions) = (self.view.size, &mut self.captions);
        names::place(self.wanted, &self.marks, size, &mut self.texts, captions);
        Picture {
            size,
            shapes: self.shapes,
            captions: self.captions,
            texts: self.texts,
        }
    }
}

/// Returns the corners of the convex hull of points, by Andrew's monotone chain.
fn hull(mut points: Vec<Point>) -> Vec<Point> {
    points.sort_by(|a, b| a[0].total_cmp(&b[0]).then(a[1].total_cmp(&b[1])));
    let chain = |points: &mut dyn Iterator<Item = Point>| {
        let mut corners: Vec<Point> = Vec::new();
        for c in points {
            while let [.., a, b] = corners[..]
                && (b[0] - a[0]) * (c[1] - a[1]) <= (b[1] - a[1]) * (c[0] - a[0])
            {
                corners.pop();
            }
            corners.push(c);
        }
        corners.pop();
        corners
    };
    let below = chain(&mut points.iter().copied());
    let above = chain(&mut points.iter().rev().copied());
    below.into_iter().chain(above).collect()
}

/// Returns the largest number 1, 2 or 5 times a power of ten that does not exceed a length.
fn round_length(length: f64) -> f64 {
    let decade = 10_f64.powf(length.log10().floor());
    let digits = [5.0, 2.0, 1.0].into_iter().find(|digit| digit * decade <= length);
    digits.unwrap_or(1.0) * decade
}

/// Returns `n + 1` equidistant angles between two angles.
fn angles(from: f64, to: f64, n: u32) -> impl Iterator<Item = f64> {
    (0..=n).map(move |k| from + (to - from) * f64::from(k) / f64::from(n))
}

fn circle([x, y]: Point, radius: f64) -> Vec<Point> {
    let points = angles(0.0, TAU, 20).map(|t| [x + radius * t.cos(), y + radius * t.sin()]);
    points.collect()
}

fn square([x, y]: Point, half: f64) -> Vec<Point> {
    [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)]
        .map(|(i, j)| [x + half * i, y + half * j])
        .to_vec()
}

#[cfg(feature = "inside")]
pub(super) mod tests {
    use super::*;

    unit_tests![
        hull_has_the_corners_of_a_square_and_the_ends_of_a_line,
        a_scale_is_a_round_number_that_fits,
    ];

    fn hull_has_the_corners_of_a_square_and_the_ends_of_a_line() {
        let square = [[0.0, 0.0], [2.0, 0.0], [2.0, 2.0], [0.0, 2.0]];
        let inside = [[1.0, 1.0], [2.0, 1.0], [0.5, 0.0]];
        assert_eq!(hull([&inside[..], &square].concat()), square);
        assert_eq!(hull(vec![[1.0, 1.0], [0.0, 0.0], [2.0, 2.0]]), [[0.0, 0.0], [2.0, 2.0]]);
    }

    fn a_scale_is_a_round_number_that_fits() {
        for (length, round) in [
            (1.0, 1.0),
            (1.9, 1.0),
            (4.99, 2.0),
            (7.3, 5.0),
            (0.26, 0.2),
            (1234.0, 1000.0),
        ] {
            assert!((round_length(length) / round - 1.0).abs() < 1e-12, "{length}");
        }
    }
}
