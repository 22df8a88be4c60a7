//! Icons of terminals.

use super::{Ink, Picture, Point, Shape};

/// Kind of an icon.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TerminalIcon {
    /// Joint or wheel: a circle.
    Joint,
    /// Port or interface: a square with an arrow.
    Port,
    /// Frame, body, measure or sensor: two axes.
    Frame,
    /// Another element: a triangle.
    Element,
}

impl TerminalIcon {
    /// All kinds.
    pub const ALL: [Self; 4] = [Self::Joint, Self::Port, Self::Frame, Self::Element];

    /// Returns the name of the file without its extension.
    pub fn name(self) -> &'static str {
        match self {
            Self::Joint => "joint",
            Self::Port => "port",
            Self::Frame => "frame",
            Self::Element => "element",
        }
    }
}

/// Size of an icon, units of the drawing.
const SIZE: f64 = 60.0;
/// Colours of joints, of frames, and of other terminals: those of the names in a drawing.
const JOINT: [u8; 3] = [0x9a, 0x4a, 0x06];
const FRAME: [u8; 3] = [0x5b, 0x3f, 0xb7];
const OTHER: [u8; 3] = [0x1b, 0x22, 0x30];

/// Draws the icon of a terminal.
pub fn terminal(icon: TerminalIcon) -> Picture {
    let shapes = match icon {
        TerminalIcon::Joint => vec![closed(circle(24.0), JOINT)],
        TerminalIcon::Port => vec![
            closed(vec![[6.0, 6.0], [54.0, 6.0], [54.0, 54.0], [6.0, 54.0]], OTHER),
            line(
                vec![[14.0, 30.0], [46.0, 30.0], [34.0, 18.0], [46.0, 30.0], [34.0, 42.0]],
                OTHER,
            ),
        ],
        TerminalIcon::Frame => vec![
            line(vec![[12.0, 8.0], [12.0, 48.0], [52.0, 48.0]], FRAME),
            line(vec![[6.0, 16.0], [12.0, 8.0], [18.0, 16.0]], FRAME),
            line(vec![[44.0, 42.0], [52.0, 48.0], [44.0, 54.0]], FRAME),
        ],
        TerminalIcon::Element => vec![closed(vec![[8.0, 6.0], [54.0, 30.0], [8.0, 54.0]], OTHER)],
    };
    Picture {
        size: [SIZE; 2],
        shapes,
        captions: Vec::new(),
        texts: Vec::new(),
    }
}

fn closed(points: Vec<Point>, colour: [u8; 3]) -> Shape {
    Shape {
        points,
        closed: true,
        ink: Ink::line(colour, 4.0).filled(colour, 0.2),
    }
}

fn line(points: Vec<Point>, colour: [u8; 3]) -> Shape {
    Shape {
        points,
        closed: false,
        ink: Ink::line(colour, 4.0),
    }
}

/// Returns a polygon of 24 sides around the centre of the icon.
fn circle(radius: f64) -> Vec<Point> {
    let corner = |k: u32| {
        let (sin, cos) = (std::f64::consts::TAU * f64::from(k) / 24.0).sin_cos();
        [0.5 * SIZE + radius * cos, 0.5 * SIZE + radius * sin]
    };
    (0..24).map(corner).collect()
}
