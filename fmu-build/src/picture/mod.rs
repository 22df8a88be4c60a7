//! Drawing of the spacecraft at its start: lines and areas in a plane, written as SVG with names
//! and as PNG without.
//!
//! | module | contents |
//! |---|---|
//! | `scene` | the spacecraft in space: bodies with their shapes, joints, frames |
//! | `solid` | points and faces of a shape |
//! | `drawing` | the lines, areas and texts that show the spacecraft |
//! | `view` | direction and scale of the projection |
//! | `names` | placement of names without overlap |
//! | `terminal` | icons of the terminals of an FMU |
//! | `svg`, `png` | the two output formats |

mod drawing;
mod names;
mod png;
mod scene;
mod solid;
mod svg;
mod terminal;
mod view;

#[cfg(feature = "inside")]
test_modules![drawing::tests, solid::tests];

pub use drawing::draw;
pub use terminal::{TerminalIcon, terminal};

/// A point on the sheet: right and down from its upper left corner, in units of the drawing.
type Point = [f64; 2];

/// A drawing.
pub struct Picture {
    /// Size of the sheet.
    size: [f64; 2],
    /// Lines and areas; later ones cover earlier ones.
    shapes: Vec<Shape>,
    /// Lines that belong to texts, and are omitted where texts are: from names to their objects,
    /// and the scale.
    captions: Vec<Shape>,
    /// Texts on the sheet.
    texts: Vec<Text>,
}

impl Picture {
    /// Returns width and height of the sheet, units of the drawing.
    pub fn size(&self) -> [f64; 2] {
        self.size
    }
}

/// A line, or an area with its edge.
struct Shape {
    points: Vec<Point>,
    closed: bool,
    ink: Ink,
}

/// Style of a shape.
#[derive(Clone, Copy)]
struct Ink {
    /// Colour of the line, and its width.
    line: ([u8; 3], f64),
    /// Colour of the area, and its opacity.
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

/// Text on the sheet.
struct Text {
    text: String,
    /// Centre of the text.
    at: Point,
    style: TextStyle,
}

/// Kind of text.
#[derive(Clone, Copy, PartialEq, Eq)]
enum TextStyle {
    Body,
    Joint,
    Frame,
    /// Letters of axes, and the scale.
    Small,
}

impl TextStyle {
    /// Returns the height of the letters.
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

/// Colour of the paper, the same in light and dark surroundings.
const PAPER: [u8; 3] = [0xff, 0xff, 0xff];
