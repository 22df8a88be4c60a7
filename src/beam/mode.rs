use std::fmt;

use super::Section;
use super::basis::{Basis, Field};
use super::mesh::{self, Element};
use crate::algebra::Vec3;

/// Type of motion of a mode.
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
    /// All types, in the order in which [`Modes`](super::Modes) lists its modes.
    pub const ALL: [Self; 4] = [Self::BendingY, Self::BendingZ, Self::Torsion, Self::Axial];

    pub(super) fn field(self) -> Field {
        match self {
            Self::BendingY | Self::BendingZ => Field::Bending,
            Self::Torsion | Self::Axial => Field::Rod,
        }
    }

    /// Returns the section's stiffness for this motion.
    pub(super) fn stiffness(self, section: &Section) -> f64 {
        match self {
            Self::BendingY => section.EI_z,
            Self::BendingZ => section.EI_y,
            Self::Torsion => section.GJ,
            Self::Axial => section.EA,
        }
    }

    /// Returns the section's inertia per length for this motion.
    pub(super) fn inertia(self, section: &Section) -> f64 {
        match self {
            Self::Torsion => section.polar_inertia_per_length,
            _ => section.mass_per_length,
        }
    }

    /// Returns the displacement per unit of the shape's value, beam axes.
    pub(super) fn displacement(self) -> Vec3<f64> {
        self.axis().map_or_else(Vec3::zeros, |axis| Vec3::ith(axis, 1.0))
    }

    /// Returns the beam axis (0, 1, 2) of the displacement; `None` for torsion.
    pub fn axis(self) -> Option<usize> {
        match self {
            Self::Axial => Some(0),
            Self::BendingY => Some(1),
            Self::BendingZ => Some(2),
            Self::Torsion => None,
        }
    }

    /// Returns the rotation vector of a section for a value and a slope of the shape, beam axes.
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

/// A shape function and its derivatives with respect to `x` at one position.
///
/// A bending or axial shape is in 1/√kg, a torsion angle in 1/(√kg·m): times an amplitude in √kg·m
/// they are m and rad.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Values {
    /// `φ`.
    pub value: f64,
    /// `φ′`, per m.
    pub slope: f64,
    /// `φ″`, per m². At a jump of the stiffness, the value on the outer side.
    pub curvature: f64,
}

/// A natural mode `φ(x) cos ωt`.
///
/// Mass-normalised, `∫φ² dm = 1` (torsion: `∫ρI_p ψ² dx = 1`), including the tip load of a loaded
/// boundary. The value at the tip is positive; if it is zero, the first extremum from the root is.
#[derive(Clone, Debug, PartialEq)]
pub struct Mode {
    /// Type of motion.
    pub kind: Kind,
    /// Natural frequency, rad/s.
    pub omega: f64,
    pub(super) shape: Shape,
}

impl Mode {
    /// Returns true if the product of the two modes' amplitudes causes foreshortening: they bend in
    /// the same plane, because `½ (v′² + w′²)` has no mixed term.
    pub fn foreshortens_with(&self, other: &Self) -> bool {
        self.kind == other.kind && self.kind.field() == Field::Bending
    }

    /// Returns the shape at `x` (m), clamped to the beam.
    pub fn at(&self, x: f64) -> Values {
        let elements = &self.shape.elements;
        let x = x.clamp(0.0, elements[elements.len() - 1].b.x);
        let e = mesh::find(elements, x);
        self.shape.on(e, elements[e].local(x))
    }
}

/// A function along the beam, polynomial on every element.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Shape {
    pub field: Field,
    pub degree: usize,
    pub elements: std::sync::Arc<[Element]>,
    /// Coefficients of the basis functions, element by element.
    pub coefficients: Vec<f64>,
}

impl Shape {
    /// Returns the shape on an element at the local coordinate `s ∈ [−1, 1]`.
    pub fn on(&self, element: usize, s: f64) -> Values {
        self.combine(element, &self.basis().at(s, self.elements[element].length()))
    }

    /// Returns the functions of an element.
    pub fn basis(&self) -> Basis {
        Basis {
            field: self.field,
            degree: self.degree,
        }
    }

    /// Returns the shape on an element where its [basis](Self::basis) has the values `N`.
    pub fn combine(&self, element: usize, N: &[[f64; 3]]) -> Values {
        let functions = self.basis().len();
        let c = &self.coefficients[element * functions..][..functions];
        let [value, slope, curvature] = [0, 1, 2].map(|d| N.iter().zip(c).map(|(n, c)| n[d] * c).sum());
        Values {
            value,
            slope,
            curvature,
        }
    }
}
