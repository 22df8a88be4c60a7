use super::Measured;
use crate::algebra::Scalar;
use crate::spec::{AngleUnit, Controller, References};
use crate::system::{Declarations, InputKind, Quantity, Unit};

/// Reference input of a joint's axis.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reference {
    input: usize,
    /// Number of rad (rad/s) in one unit of the input; `None` if the unit is SI.
    factor: Option<f64>,
}

impl Reference {
    /// Declares the reference with this quantity, in the unit of the controller's references.
    pub fn declare(written: &Controller, mut quantity: Quantity, declare: &mut Declarations) -> Self {
        quantity.unit = match (written.reference_unit, quantity.unit) {
            (AngleUnit::Deg, Unit::Radian) => Unit::Degree,
            (AngleUnit::Deg, Unit::RadianPerSecond) => Unit::DegreePerSecond,
            (_, unit) => unit,
        };
        let factor = quantity.unit.factor();
        Self {
            input: declare.input(quantity, 0.0, InputKind::Continuous),
            factor: (factor != 1.0).then_some(factor),
        }
    }

    /// Returns its value, rad or m, or per second.
    pub fn value<S: Scalar>(self, now: Measured<S>) -> S {
        let value = now.inputs[self.input];
        self.factor.map_or(value, |factor| value * S::lift(factor))
    }
}

/// Declares the vectors `q_ref` and `qd_ref` of all axes, if the references are vectors; `axes` has
/// the positions and rates of all axes as quantities. Returns the pair of references of each axis.
pub(super) fn declare_vectors(
    written: &Controller,
    axes: &[[Quantity; 2]],
    declare: &mut Declarations,
) -> Option<Vec<[Reference; 2]>> {
    if written.references != References::Vector {
        return None;
    }
    let mut vector = |field: usize, name: &str| -> Vec<Reference> {
        let named = axes.iter().enumerate().map(|(i, axis)| Quantity {
            name: format!("{name}[{}]", i + 1),
            ..axis[field].clone()
        });
        named.map(|axis| Reference::declare(written, axis, declare)).collect()
    };
    let (positions, rates) = (vector(0, "q_ref"), vector(1, "qd_ref"));
    Some(positions.into_iter().zip(rates).map(|(q, qd)| [q, qd]).collect())
}
