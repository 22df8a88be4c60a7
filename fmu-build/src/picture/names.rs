use super::{Ink, Point, Shape, Text, TextStyle};

/// A name to be placed near its object.
pub struct Wanted {
    pub text: String,
    pub near: Point,
    pub style: TextStyle,
}

/// An axis-aligned rectangle: centre and half sides.
#[derive(Clone, Copy)]
struct Area {
    middle: Point,
    half: [f64; 2],
}

impl Area {
    fn overlap(&self, other: &Self) -> f64 {
        let side = |i: usize| (self.half[i] + other.half[i] - (self.middle[i] - other.middle[i]).abs()).max(0.0);
        side(0) * side(1)
    }

    fn around(point: Point, half: f64) -> Self {
        Self {
            middle: point,
            half: [half; 2],
        }
    }
}

/// Places the names one after the other at the best free position. `marks` are points that must not
/// be covered, `texts` the texts placed so far. A name at a distance gets a thin line to its
/// object.
pub fn place(wanted: Vec<Wanted>, marks: &[Point], size: [f64; 2], texts: &mut Vec<Text>, shapes: &mut Vec<Shape>) {
    let mut taken: Vec<Area> = texts.iter().map(|text| area(&text.text, text.style, text.at)).collect();
    taken.extend(marks.iter().map(|&mark| Area::around(mark, 7.0)));
    for name in wanted {
        let mut best = (f64::INFINITY, name.near);
        for distance in [16.0, 30.0, 46.0, 64.0, 86.0] {
            for eighth in 0..16 {
                let (s, c) = (f64::from(eighth) * std::f64::consts::PI / 8.0).sin_cos();
                let here = area(&name.text, name.style, name.near);
                // The distance is measured to the text's nearest edge, not to its centre.
                let at = [
                    name.near[0] + c * (distance + here.half[0]),
                    name.near[1] - s * (distance + here.half[1]),
                ];
                let here = Area { middle: at, ..here };
                let outside = (0..2).any(|i| at[i] < here.half[i] + 4.0 || at[i] > size[i] - here.half[i] - 4.0);
                if outside {
                    continue;
                }
                let covered: f64 = taken.iter().map(|other| here.overlap(other)).sum();
                let cost = 4.0 * covered + distance;
                if cost < best.0 - 1e-6 {
                    best = (cost, at);
                }
            }
        }
        let at = best.1;
        let here = area(&name.text, name.style, at);
        taken.push(here);
        leader(&name, &here, shapes);
        texts.push(Text {
            text: name.text,
            at,
            style: name.style,
        });
    }
}

/// Returns the area of a text; letters are about half as wide as high.
fn area(text: &str, style: TextStyle, middle: Point) -> Area {
    let size = style.size();
    Area {
        middle,
        half: [0.29 * size * text.chars().count() as f64 + 2.0, 0.6 * size],
    }
}

fn leader(name: &Wanted, area: &Area, shapes: &mut Vec<Shape>) {
    let edge = [0, 1].map(|i| name.near[i].clamp(area.middle[i] - area.half[i], area.middle[i] + area.half[i]));
    let gap = (edge[0] - name.near[0]).hypot(edge[1] - name.near[1]);
    if gap > 20.0 {
        shapes.push(Shape {
            points: vec![name.near, edge],
            closed: false,
            ink: Ink::line([0xb4, 0xbb, 0xc6], 1.0),
        });
    }
}
