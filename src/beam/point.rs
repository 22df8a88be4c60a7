use nalgebra::{DMatrix, DVector};

use super::{Modes, mesh};
use crate::algebra::{Mat3, Vec3};

/// A frame fixed to a section of the beam: motion of its origin and axes with the modes.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    /// Displacement per amplitude, 1/√kg.
    pub Phi: DVector<Vec3<f64>>,
    /// Rotation per amplitude, rad/(√kg·m).
    pub Psi: DVector<Vec3<f64>>,
    /// Second-order displacement, 1/(kg·m): foreshortening `−e_x ∫₀ˣ φ_k′ φ_l′ ds` of modes of one
    /// bending plane.
    pub G: DMatrix<Vec3<f64>>,
}

impl Modes {
    /// Returns the frame of the section at `x` (m), beam axes; `x` is clamped to the beam.
    pub fn at(&self, x: f64) -> Point {
        let x = x.clamp(0.0, self.length());
        self.point(mesh::find(&self.elements, x), x, self.foreshortening(x))
    }

    /// Returns the frame of the section at `x` (m) on the element `e`, with its foreshortening `G`.
    pub(super) fn point(&self, e: usize, x: f64, G: DMatrix<Vec3<f64>>) -> Point {
        let list = self.list();
        let at = self.elements[e].local(x);
        let values = self.on(e, at);
        Point {
            Phi: DVector::from_fn(list.len(), |k, _| list[k].kind.displacement() * values[k].value),
            Psi: DVector::from_fn(list.len(), |k, _| {
                list[k].kind.rotation(values[k].value, values[k].slope)
            }),
            G,
        }
    }

    fn foreshortening(&self, x: f64) -> DMatrix<Vec3<f64>> {
        let mut G = self.no_foreshortening();
        for (e, element) in self.elements.iter().enumerate().take_while(|(_, e)| e.a.x < x) {
            self.add_foreshortening(&mut G, e, element.a.x, element.b.x.min(x));
        }
        G
    }

    pub(super) fn no_foreshortening(&self) -> DMatrix<Vec3<f64>> {
        let n = self.list().len();
        DMatrix::from_element(n, n, Vec3::zeros())
    }

    /// Adds to `G` the foreshortening of the interval from `a` to `b` (m) of the element `e`.
    pub(super) fn add_foreshortening(&self, G: &mut DMatrix<Vec3<f64>>, e: usize, a: f64, b: f64) {
        let list = self.list();
        for (s, ds) in self.gauss.on(a, b) {
            let values = self.bending_on(e, self.elements[e].local(s));
            for k in 0..values.len() {
                for l in 0..values.len() {
                    if list[k].foreshortens_with(&list[l]) {
                        G[(k, l)].x -= values[k].slope * values[l].slope * ds;
                    }
                }
            }
        }
    }
}

impl Point {
    /// Returns the motion of the frame in body axes; `R_BR` is the attitude of the beam's axes in
    /// the body.
    pub fn express(&self, R_BR: &Mat3<f64>) -> Self {
        Self {
            Phi: self.Phi.map(|v| R_BR * v),
            Psi: self.Psi.map(|v| R_BR * v),
            G: self.G.map(|v| R_BR * v),
        }
    }
}
