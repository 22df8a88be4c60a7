use std::error::Error;
use std::fmt;

use super::Kind;

/// Why sections make no beam, or a beam has no such modes.
#[derive(Clone, Debug, PartialEq)]
pub enum BeamError {
    /// Fewer than two stations, or the first one is not at the root.
    Ends {
        /// How many stations there are.
        stations: usize,
        /// Where the first one is, m.
        first: f64,
    },
    /// A station lies before its predecessor; or it is the third at its place, or a second one at an end.
    Order {
        /// Which one, counted from zero.
        station: usize,
        /// Where it is, m.
        x: f64,
    },
    /// Two stations that are hardly apart, and not at one place.
    Close {
        /// Which one is the first, counted from zero.
        station: usize,
        /// Where it is, m.
        x: f64,
        /// How far apart they are, m.
        apart: f64,
        /// How far apart they have to be, m.
        least: f64,
    },
    /// A station that is hardly beside the end of a part.
    Cut {
        /// Where it is, m.
        section: f64,
        /// Where the part ends, m.
        cut: f64,
        /// How far apart they have to be, m.
        least: f64,
    },
    /// A number that is negative or not finite.
    Value {
        /// Its name.
        name: &'static str,
        /// Where along the beam, m.
        x: f64,
        /// The number.
        value: f64,
    },
    /// No stiffness against this kind of motion.
    NoStiffness {
        /// The motion.
        kind: Kind,
        /// Where along the beam, m.
        x: f64,
    },
    /// The inertia that the motion moves gives fewer modes than are asked for.
    TooFewModes {
        /// The motion.
        kind: Kind,
        /// How many there are.
        found: usize,
        /// How many are asked for.
        asked: usize,
    },
}

impl BeamError {
    /// The same of a part of the beam that begins at `a` (m).
    pub(crate) fn beyond(self, a: f64) -> Self {
        match self {
            Self::NoStiffness { kind, x } => Self::NoStiffness { kind, x: a + x },
            other => other,
        }
    }
}

impl fmt::Display for BeamError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ends { stations, first } => write!(
                f,
                "a beam needs two sections or more, the first at x = 0 m: {stations} given, the first at x = {first} m"
            ),
            Self::Order { station, x } => write!(
                f,
                "section {} at x = {x} m: sections go outwards; two may share a place between the ends",
                station + 1
            ),
            Self::Close {
                station,
                x,
                apart,
                least,
            } => write!(
                f,
                "sections {} and {} at x = {x} m are {apart} m apart, too close to compute with: {least} m is the least; \
                 a jump is two sections at the same x",
                station + 1,
                station + 2
            ),
            Self::Cut { section, cut, least } => write!(
                f,
                "the section at x = {section} m is too close to the end of a segment at x = {cut} m: put it there, or {least} m \
                 away, or write another number of `segments`"
            ),
            Self::Value { name, x, value } => {
                write!(f, "{name} is {value} at x = {x} m: not a number from zero upwards")
            }
            Self::NoStiffness { kind, x } => {
                let field = match kind {
                    Kind::BendingY => "EI_z",
                    Kind::BendingZ => "EI_y",
                    Kind::Torsion => "GJ",
                    Kind::Axial => "EA",
                };
                write!(f, "the beam has no stiffness in {kind}, `{field}`, at x = {x} m")
            }
            Self::TooFewModes { kind, found, asked } => write!(
                f,
                "{asked} modes in {kind} are asked for, but there is inertia for {found} only"
            ),
        }
    }
}

impl Error for BeamError {}
