use std::error::Error;
use std::fmt;

use super::Kind;

/// Error of a beam: invalid sections, or a requested mode that does not exist.
#[derive(Clone, Debug, PartialEq)]
pub enum BeamError {
    /// There are fewer than two stations, or the first one is not at the root.
    Ends {
        /// Number of stations.
        stations: usize,
        /// Position of the first one, m.
        first: f64,
    },
    /// A station is not finite or lies before its predecessor, or it is the third at its position,
    /// or the second at an end of the beam.
    Order {
        /// The station's index, from zero.
        station: usize,
        /// The station's position, m.
        x: f64,
    },
    /// Two stations are too close to each other without coinciding.
    Close {
        /// Index of the first of the two, from zero.
        station: usize,
        /// Position of the first of the two, m.
        x: f64,
        /// Their distance, m.
        apart: f64,
        /// Minimum distance, m.
        least: f64,
    },
    /// A station is too close to an end of a part of the beam, such as a segment, without
    /// coinciding.
    Cut {
        /// Position of the station, m.
        section: f64,
        /// Position of the end of the part, m.
        cut: f64,
        /// Minimum distance, m.
        least: f64,
    },
    /// A value is negative or not finite.
    Value {
        /// The name of the quantity.
        name: &'static str,
        /// Position along the beam, m.
        x: f64,
        /// The value.
        value: f64,
    },
    /// The stiffness for this type of motion is zero.
    NoStiffness {
        /// The type of motion.
        kind: Kind,
        /// Position along the beam, m.
        x: f64,
    },
    /// The inertia of this type of motion has fewer modes than requested.
    TooFewModes {
        /// The type of motion.
        kind: Kind,
        /// Number of modes of this type that exist.
        found: usize,
        /// Number of requested modes.
        requested: usize,
    },
}

impl BeamError {
    /// Returns the error of a part that begins at `a` (m), with the position relative to the whole
    /// beam.
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
                "a beam needs at least two sections, the first at x = 0 m: it has {stations}, the first at x = {first} m"
            ),
            Self::Order { station, x } => write!(
                f,
                "section {} at x = {x} m: positions must ascend; only between the ends of the beam may two sections share a \
                 position",
                station + 1
            ),
            Self::Close {
                station,
                x,
                apart,
                least,
            } => write!(
                f,
                "sections {} and {} at x = {x} m are {apart} m apart, less than the minimum of {least} m; write a jump as two \
                sections at the same x",
                station + 1,
                station + 2
            ),
            Self::Cut { section, cut, least } => write!(
                f,
                "the section at x = {section} m is too close to the end of a segment at x = {cut} m: move it there or at least \
                {least} m away, or change `segments`"
            ),
            Self::Value { name, x, value } => {
                write!(f, "{name} at x = {x} m is {value}: it must be finite and not negative")
            }
            Self::NoStiffness { kind, x } => {
                let field = match kind {
                    Kind::BendingY => "EI_z",
                    Kind::BendingZ => "EI_y",
                    Kind::Torsion => "GJ",
                    Kind::Axial => "EA",
                };
                write!(
                    f,
                    "the stiffness in {kind}, `{field}`, is zero at x = {x} m: it must be positive"
                )
            }
            Self::TooFewModes { kind, found, requested } => write!(
                f,
                "{requested} modes in {kind} are requested, but the distribution of inertia has only {found}"
            ),
        }
    }
}

impl Error for BeamError {}
