use std::fmt;

use super::Section;
use super::basis::{Basis, Field};
use super::mesh::{self, Element};
use crate::algebra::Vec3;

/// The motion of a mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Deflection along y.
    BendingY,
    /// Deflection along z.
    BendingZ,
    /// Rotation about x.
    Torsion,
    /// Displacement along x.
    Axial,
}

impl Kind {
    /// All of them, in the order in which [`Modes`](super::Modes) lists its modes.
    pub const ALL: [Self; 4] = [Self::BendingY, Self::BendingZ, Self::Torsion, Self::Axial];

    pub(super) fn field(self) -> Field {
        match self {
            Self::BendingY | Self::BendingZ => Field::Bending,
            Self::Torsion | Self::Axial => Field::Rod,
        }
    }

    /// Stiffness of the section against it.
    pub(super) fn stiffness(self, section: &Section) -> f64 {
        match self {
            Self::BendingY => section.EI_z,
            Self::BendingZ => section.EI_y,
            Self::Torsion => section.GJ,
            Self::Axial => section.EA,
        }
    }

    /// Inertia per length that it moves.
    pub(super) fn inertia(self, section: &Section) -> f64 {
        match self {
            Self::Torsion => section.polar_inertia_per_length,
            _ => section.mass_per_length,
        }
    }

    /// Displacement per unit of the shape's value.
    pub(super) fn displacement(self) -> Vec3<f64> {
        self.axis().map_or_else(Vec3::zeros, |axis| Vec3::ith(axis, 1.0))
    }

    /// The axis of the beam (0, 1, 2) along which it displaces, if it does.
    pub fn axis(self) -> Option<usize> {
        match self {
            Self::Axial => Some(0),
            Self::BendingY => Some(1),
            Self::BendingZ => Some(2),
            Self::Torsion => None,
        }
    }

    /// Rotation of a section whose shape has this value and slope.
    pub(super) fn rotation(self, value: f64, slope: f64) -> Vec3<f64> {
        match self {
            Self::BendingY => Vec3::z() * slope,
            Self::BendingZ => Vec3::y() * -slope,
            Self::Torsion => Vec3::x() * value,
            Self::Axial => Vec3::zeros(),
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::BendingY => "bending along y",
            Self::BendingZ => "bending along z",
            Self::Torsion => "torsion",
            Self::Axial => "stretch",
        })
    }
}

/// A shape and its derivatives by `x` at one place.
///
/// A bending or axial shape is in 1/√kg, an angle of torsion in 1/(√kg·m): times an amplitude in √kg·m they are m and
/// rad.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Values {
    /// `φ`.
    pub value: f64,
    /// `φ′`, per m.
    pub slope: f64,
    /// `φ″`, per m². At a jump of the stiffness that of the outer side.
    pub curvature: f64,
}

/// A natural mode: `φ(x)` moves as `cos ωt`.
///
/// Mass-normalised, `∫φ² dm = 1` (torsion: `∫ρI_p ψ² dx = 1`), where a loaded boundary's tip counts too. The tip's
/// value is positive; where the tip rests, the first extremum.
#[derive(Clone, Debug, PartialEq)]
pub struct Mode {
    /// What moves.
    pub kind: Kind,
    /// Natural frequency, rad/s.
    pub omega: f64,
    pub(super) shape: Shape,
}

impl Mode {
    /// Whether the slopes of the two modes shorten the beam together: `½ (v′² + w′²)` has no mixed term.
    pub fn draws_in_with(&self, other: &Self) -> bool {
        self.kind == other.kind && self.kind.field() == Field::Bending
    }

    /// The shape at `x` (m); beyond an end that end's.
    pub fn at(&self, x: f64) -> Values {
        let elements = &self.shape.elements;
        let x = x.clamp(0.0, elements[elements.len() - 1].b.x);
        let e = mesh::find(elements, x);
        self.shape.on(e, elements[e].local(x))
    }
}

/// A function along the beam: a polynomial on every element.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Shape {
    pub field: Field,
    pub degree: usize,
    pub elements: std::sync::Arc<[Element]>,
    /// Coefficients of the basis, element after element.
    pub coefficients: Vec<f64>,
}

impl Shape {
    /// On an element at its local coordinate.
    pub fn on(&self, element: usize, s: f64) -> Values {
        let basis = Basis {
            field: self.field,
            degree: self.degree,
        };
        let h = self.elements[element].length();
        let c = &self.coefficients[element * basis.len()..][..basis.len()];
        let [value, slope, curvature] = basis.at(s, h).map(|N| N.iter().zip(c).map(|(n, c)| n * c).sum());
        Values {
            value,
            slope,
            curvature,
        }
    }
}
