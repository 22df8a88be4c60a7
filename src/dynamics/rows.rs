use crate::algebra::{Scalar, Twist, Vec3, Wrench, norm};
use crate::system::joint::{dual, part};

/// Constraint and motion wrenches of a joint, about the body's origin, in the axes in which its
/// columns `H` are given.
///
/// With the acceleration `A` of the body relative to its carrier, less velocity terms, `q̈ = Vᵀ A`
/// and `0 = Wᵀ A`. Rotational and translational rows are separate. The five rows of a revolute
/// joint are Kłak and Jarzębowska's (5) and (6), where the three rows of (6), of rank two, are
/// reduced to the two directions across the axis.
#[derive(Clone, Debug)]
pub struct JointRows<S: Scalar> {
    /// `V`, the wrench of a unit generalised force on each rate: `VᵀH = 1`.
    pub moved: Vec<Wrench<S>>,
    /// `W`, an orthonormal basis of the constraint wrenches: `WᵀH = 0`.
    pub held: Vec<Wrench<S>>,
    /// True if a drive prescribes the derivatives of the rates; `V` are then constraint rows as
    /// well.
    pub(super) driven: bool,
}

impl<S: Scalar> JointRows<S> {
    /// Allocates for a joint with `nv` rates that is not driven.
    pub(super) fn new(nv: usize) -> Self {
        Self {
            moved: vec![Wrench::zero(); nv],
            held: vec![Wrench::zero(); 6 - nv],
            driven: false,
        }
    }

    /// Returns the rows of a joint with the columns `H`.
    pub fn of(H: &[Twist<S>]) -> Self {
        let mut rows = Self::new(H.len());
        rows.update(H);
        rows
    }

    /// Returns the constraint rows, which have multipliers: `W`, for a driven joint also `V`.
    pub fn constraints(&self) -> impl Iterator<Item = &Wrench<S>> {
        let moved = if self.driven { self.moved.as_slice() } else { &[] };
        self.held.iter().chain(moved)
    }

    /// Returns the index and the `V` of each rate on which generalised forces act; none for a
    /// driven joint.
    pub fn loaded(&self) -> impl Iterator<Item = (usize, &Wrench<S>)> {
        let moved = if self.driven { &[] } else { self.moved.as_slice() };
        moved.iter().enumerate()
    }

    /// Computes `V` and `W` from the columns of `H`.
    pub(super) fn update(&mut self, H: &[Twist<S>]) {
        match H.len() {
            2 => self.moved.copy_from_slice(&dual(part::<_, 2>(H, 0))),
            _ => self.moved.iter_mut().zip(H).for_each(|(V, H)| *V = dual(&[*H])[0]),
        }
        let mut held = self.held.iter_mut();
        if let [screw] = H
            && screw.w != Vec3::zeros()
            && screw.v != Vec3::zeros()
            && let Some(W) = held.next()
        {
            // Rotation and translation along a screw's axis are constrained together.
            let (ww, vv) = (screw.w.dot(&screw.w), screw.v.dot(&screw.v));
            let row = Wrench::new(screw.w * vv, screw.v * -ww);
            *W = row * (S::one() / (ww * vv * (ww + vv)).sqrt());
        }
        let turns = complement(H.iter().map(|H| H.w), |t| Wrench::new(t, Vec3::zeros()));
        let slides = complement(H.iter().map(|H| H.v), |f| Wrench::new(Vec3::zeros(), f));
        for row in turns.into_iter().chain(slides).flatten() {
            if let Some(W) = held.next() {
                *W = row;
            }
        }
    }
}

/// Returns an orthonormal basis of the orthogonal complement of `directions`, which are linearly
/// independent or zero, each vector converted by `row`.
fn complement<S: Scalar>(
    directions: impl Iterator<Item = Vec3<S>>,
    row: impl Fn(Vec3<S>) -> Wrench<S>,
) -> [Option<Wrench<S>>; 3] {
    let mut given = directions.filter(|v| v.dot(v).value() > 0.0);
    let unit = |i: usize| Vec3::from_fn(|j, _| if i == j { S::one() } else { S::zero() });
    match (given.next(), given.next(), given.next()) {
        (None, ..) => [0, 1, 2].map(|i| Some(row(unit(i)))),
        (Some(a), None, _) => {
            let b = a.cross(&unit(a.map(|x| x.value().abs()).imin()));
            let b = b / norm(&b);
            let c = a.cross(&b);
            [Some(row(b)), Some(row(c / norm(&c))), None]
        }
        (Some(a), Some(b), None) => {
            let c = a.cross(&b);
            [Some(row(c / norm(&c))), None, None]
        }
        _ => [None; 3],
    }
}
