//! The craft drawn as it starts: lines and areas in a plane, written as SVG with names and as PNG without.
//!
//! | room | holds |
//! |---|---|
//! | [`scene`] | the craft in space: bodies with their ellipsoids of inertia, joints, frames |
//! | [`craft`] | what is drawn of it, and how |
//! | [`view`] | from where it is seen, and how large |
//! | [`names`] | where the names stand so that they do not cover one another |
//! | [`svg`], [`png`] | the two ways to write it |

mod craft;
mod names;
mod png;
mod scene;
mod svg;
mod view;

pub use craft::draw;

/// A place on the sheet: right and down from its upper left corner, in units of the drawing.
type Point = [f64; 2];

/// A drawing.
pub struct Picture {
    /// Size of the sheet.
    size: [f64; 2],
    /// Lines and areas; later ones cover earlier ones.
    shapes: Vec<Shape>,
    /// Lines that mean something beside words only: from names to what they name, the scale.
    captions: Vec<Shape>,
    /// What is written on it.
    texts: Vec<Text>,
}

/// A line, or an area with its edge.
struct Shape {
    points: Vec<Point>,
    closed: bool,
    ink: Ink,
}

/// How a shape is drawn.
#[derive(Clone, Copy)]
struct Ink {
    /// Colour of the line, and its width.
    line: ([u8; 3], f64),
    /// Colour of the area, and how much it covers.
    area: Option<([u8; 3], f64)>,
    /// Lengths of dash and gap.
    dash: Option<[f64; 2]>,
}

impl Ink {
    const fn line(colour: [u8; 3], width: f64) -> Self {
        Self {
            line: (colour, width),
            area: None,
            dash: None,
        }
    }

    const fn dashed(mut self, dash: [f64; 2]) -> Self {
        self.dash = Some(dash);
        self
    }

    const fn filled(mut self, colour: [u8; 3], opacity: f64) -> Self {
        self.area = Some((colour, opacity));
        self
    }
}

/// Words on the sheet.
struct Text {
    words: String,
    /// The middle of the words.
    at: Point,
    style: TextStyle,
}

/// What is named.
#[derive(Clone, Copy, PartialEq, Eq)]
enum TextStyle {
    Body,
    Joint,
    Frame,
    /// Axes' letters and the scale.
    Small,
}

impl TextStyle {
    /// Height of the letters.
    fn size(self) -> f64 {
        match self {
            Self::Body => 15.0,
            Self::Joint | Self::Frame => 13.0,
            Self::Small => 12.0,
        }
    }

    fn colour(self) -> [u8; 3] {
        match self {
            Self::Body => [0x1b, 0x22, 0x30],
            Self::Joint => [0x9a, 0x4a, 0x06],
            Self::Frame => [0x5b, 0x3f, 0xb7],
            Self::Small => [0x5d, 0x67, 0x78],
        }
    }
}

/// The paper, in light and dark surroundings alike.
const PAPER: [u8; 3] = [0xff, 0xff, 0xff];
