//! Basis of the rows of contact points between two bodies that all stick, in closed form
//! (`docs/theory/resting-contact.md`, equation (6)).

use crate::algebra::{Scalar, Vec3, Wrench};
use nalgebra::Vector6;

/// Least pivot of the factors of `G`, relative to its trace: points nearer to a line are left to the
/// Gram–Schmidt process, since the round-off of `G`, relative to the product of the pivots, makes the
/// basis oblique: by less than 1e-12 above this bound.
const LEAST_PIVOT: f64 = 1e-2;

/// Basis `Q` and factor `R` of the rows of points with three perpendicular directions each.
pub(super) struct StickingBasis<S: Scalar> {
    /// Mean of the points, m.
    centre: Vec3<S>,
    /// Lower triangle of the factor of `G = L Lᵀ`, by columns, m.
    L: [Vec3<S>; 3],
    /// Square root of the number of points.
    root: f64,
}

impl<S: Scalar> StickingBasis<S> {
    /// Returns the basis for points (m, relative to the point of reference); `None` if they are nearly
    /// on a line.
    pub fn new(points: impl Iterator<Item = Vec3<S>> + Clone) -> Option<Self> {
        let count = points.clone().count() as f64;
        let sum = points.clone().fold(Vec3::zeros(), |sum, point| sum + point);
        let centre = sum * S::lift(1.0 / count);
        let (mut squares, mut mixed) = (Vec3::zeros(), Vec3::zeros());
        for r in points.map(|point| point - centre) {
            squares += r.component_mul(&r);
            mixed -= Vec3::new(r.x * r.y, r.x * r.z, r.y * r.z);
        }
        let [xx, yy, zz] = [squares.y + squares.z, squares.x + squares.z, squares.x + squares.y];
        let least = LEAST_PIVOT * (xx + yy + zz).value();
        let is_regular = |pivot: S| pivot.value() > least;
        if !is_regular(xx) {
            return None;
        }
        let first = Vec3::new(xx, mixed.x, mixed.y) / xx.sqrt();
        let (y, yz) = (yy - first.y * first.y, mixed.z - first.y * first.z);
        if !is_regular(y) {
            return None;
        }
        let second = Vec3::new(S::zero(), y, yz) / y.sqrt();
        let z = zz - first.z * first.z - second.z * second.z;
        is_regular(z).then(|| Self {
            centre,
            L: [first, second, Vec3::new(S::zero(), S::zero(), z.sqrt())],
            root: count.sqrt(),
        })
    }

    /// Returns the components of the row of a point (m) along a unit vector: its row of `Q`.
    pub fn components(&self, point: &Vec3<S>, along: &Vec3<S>) -> Vector6<S> {
        let m = (point - self.centre).cross(along);
        let [first, second, third] = &self.L;
        let x = m.x / first.x;
        let y = (m.y - first.y * x) / second.y;
        let z = (m.z - first.z * x - second.z * y) / third.z;
        let f = along * S::lift(1.0 / self.root);
        Vector6::new(x, y, z, f.x, f.y, f.z)
    }

    /// Returns the unit wrenches of the combinations about the point of reference: the rows of `R`.
    pub fn units(&self) -> [Wrench<S>; 6] {
        std::array::from_fn(|i| match i {
            0..3 => Wrench::new(self.L[i], Vec3::zeros()),
            _ => {
                let f = Vec3::ith(i - 3, S::lift(self.root));
                Wrench::new(self.centre.cross(&f), f)
            }
        })
    }
}

#[cfg(feature = "inside")]
pub(super) mod tests {
    use super::*;
    use crate::algebra::{Dual, Mat3};
    use crate::larger::Larger;

    unit_tests![basis_is_orthonormal_and_its_product_with_the_factor_are_the_rows];

    /// `Q` has orthonormal columns, and `Q R` are the rows, with the derivatives for points and
    /// directions that turn; points on a line have no such basis.
    fn basis_is_orthonormal_and_its_product_with_the_factor_are_the_rows() {
        let turn = |angle: f64| {
            let (sine, cosine) = Dual::<1>::new(angle, [1.0]).sin_cos();
            let (zero, one) = (Dual::lift(0.0), Dual::lift(1.0));
            Mat3::new(one, zero, zero, zero, cosine, -sine, zero, sine, cosine)
        };
        let corners = [(0.4, 0.3), (-0.4, 0.3), (0.4, -0.2), (-0.1, -0.3)];
        let [mut product, mut basis, mut basis_of_narrow] = [0.0; 3];
        // The last two faces are narrow: the pivots are near their bound.
        for (angle, width) in [(0.0, 1.0), (0.7, 1.0), (2.0, 1.0), (0.7, 0.3), (2.0, 0.3)] {
            let axes = turn(angle);
            let points = corners.map(|(x, y)| axes * Vec3::new(x, width * y, 0.25).map(Dual::lift));
            let found = StickingBasis::new(points.iter().copied()).expect("a face");
            let units = found.units();
            let mut gram = nalgebra::Matrix6::zeros();
            for point in &points {
                for k in 0..3 {
                    let e = axes.column(k).into_owned();
                    let row = found.components(point, &e);
                    let expected = Wrench::new(point.cross(&e), e).to_array();
                    for column in 0..6 {
                        let sum = (0..6).fold(Dual::lift(0.0), |sum, i| sum + row[i] * units[i].to_array()[column]);
                        let off = sum - expected[column];
                        product = f64::larger(product, off.re.abs().max(off.eps[0].abs()));
                    }
                    let row = row.map(|entry| entry.re);
                    gram += row * row.transpose();
                }
            }
            let off = if width < 1.0 { &mut basis_of_narrow } else { &mut basis };
            *off = f64::larger(*off, (gram - nalgebra::Matrix6::identity()).amax());
        }
        println!("rows {product:.1e}, basis {basis:.1e}, of narrow faces {basis_of_narrow:.1e}");
        // Round-off of numbers up to one; in the basis relative to the pivots, 0.1 and 0.01.
        assert!(product < 2e-15 && basis < 2e-15 && basis_of_narrow < 1e-13);
        let line = [-1.0, 0.0, 2.0].map(|x| Vec3::new(x, 0.5 * x, 0.1));
        assert!(StickingBasis::new(line.into_iter()).is_none());
    }
}
