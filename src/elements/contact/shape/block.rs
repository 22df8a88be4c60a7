use super::{FromSolid, from_point};
use crate::algebra::{Scalar, Vec3};

/// Returns the signed distance of the point `c` (m) from a box with the half sides `half` (m),
/// centred at the origin.
pub(super) fn from_box<S: Scalar>(c: Vec3<S>, half: [f64; 3]) -> FromSolid<S> {
    let side = c.map(|x| if x.value() < 0.0 { -1.0 } else { 1.0 });
    // Distances from the faces next to the point.
    let beyond = Vec3::from_fn(|i, _| c[i] * S::lift(side[i]) - S::lift(half[i]));
    let is_beyond = beyond.map(|beyond| beyond.value() > 0.0);
    if is_beyond.iter().filter(|beyond| **beyond).count() > 1 {
        // An edge or a vertex.
        let d = Vec3::from_fn(|i, _| {
            if is_beyond[i] {
                beyond[i] * S::lift(side[i])
            } else {
                S::zero()
            }
        });
        return from_point(d);
    }
    let mut face = 0;
    for i in 1..3 {
        if beyond[i].value() > beyond[face].value() {
            face = i;
        }
    }
    (beyond[face], Vec3::ith(face, S::lift(side[face])))
}
