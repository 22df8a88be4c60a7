use nalgebra::{DMatrix, DVector};

use super::Modes;
use super::basis::Gauss;
use super::mode::Values;
use crate::algebra::{Mat3, Vec3};

/// A frame on the beam: how its origin and its axes move with the modes.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    /// Displacement per amplitude, 1/√kg.
    pub Phi: DVector<Vec3<f64>>,
    /// Rotation per amplitude, rad/(√kg·m).
    pub Psi: DVector<Vec3<f64>>,
    /// Displacement of second order, 1/(kg·m): foreshortening `−e_x ∫₀ˣ φ_k′ φ_l′ ds` of modes of one bending plane.
    pub G: DMatrix<Vec3<f64>>,
}

impl Modes {
    /// The section at `x` (m) in beam axes; beyond an end that end's.
    pub fn at(&self, x: f64) -> Point {
        let n = self.list().len();
        let x = x.clamp(0.0, self.length());
        let values: Vec<Values> = self.list().iter().map(|mode| mode.at(x)).collect();
        let kind = |k: usize| self.list()[k].kind;
        Point {
            Phi: DVector::from_fn(n, |k, _| kind(k).displacement() * values[k].value),
            Psi: DVector::from_fn(n, |k, _| kind(k).rotation(values[k].value, values[k].slope)),
            G: self.foreshortening(x),
        }
    }

    fn foreshortening(&self, x: f64) -> DMatrix<Vec3<f64>> {
        let n = self.list().len();
        let mut G = DMatrix::from_element(n, n, Vec3::zeros());
        let degree = self.list().iter().map(|mode| mode.shape.degree).fold(1, usize::max);
        let gauss = Gauss::of(degree);
        for (e, element) in self.elements.iter().enumerate().take_while(|(_, e)| e.a.x < x) {
            for (s, ds) in gauss.on(element.a.x, element.b.x.min(x)) {
                let slope = |k: usize| self.list()[k].shape.on(e, element.local(s)).slope;
                let slopes: Vec<f64> = (0..n).map(slope).collect();
                for k in 0..n {
                    for l in 0..n {
                        if self.list()[k].kind.foreshortens_with(self.list()[l].kind) {
                            G[(k, l)].x -= slopes[k] * slopes[l] * ds;
                        }
                    }
                }
            }
        }
        G
    }
}

impl Point {
    /// The same in a body's axes, for a beam whose axes have the attitude `R_BR` in the body.
    pub fn express(&self, R_BR: &Mat3<f64>) -> Self {
        Self {
            Phi: self.Phi.map(|v| R_BR * v),
            Psi: self.Psi.map(|v| R_BR * v),
            G: self.G.map(|v| R_BR * v),
        }
    }
}
