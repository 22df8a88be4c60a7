use crate::algebra::{Pose, Scalar, Vec3, norm};
use crate::spec;
use crate::system::ParamId;

/// The surfaces of two frames that touch by themselves: a sphere about the origin of a, or its origin alone, and a surface of b.
#[derive(Clone, Copy, Debug)]
pub struct Surface {
    pub(super) of_b: spec::Surface,
    /// None of a point.
    pub(super) radius_a: Option<ParamId>,
    /// None of a plane.
    pub(super) radius_b: Option<ParamId>,
}

/// Two surfaces where they are nearest to each other.
#[derive(Clone, Copy, Debug)]
pub struct Nearest<S: Scalar> {
    /// How far they are apart, m; below zero, how deep they are in each other. Of a disc: how far a is above its plane.
    pub gap: S,
    /// Unit normal from b towards a, world axes.
    pub n: Vec3<S>,
    /// From the origin of a to the point halfway between them, m, world axes.
    pub from_a: Vec3<S>,
    /// Whether it is a disc beside which a is.
    pub is_beside: bool,
}

impl Surface {
    pub(super) fn is_disc(&self) -> bool {
        self.of_b == spec::Surface::Disc
    }

    /// The gaps at both ends of a step, and how far they are apart for a unit that the middle's motion along its normal `n` goes from one to the other: the gap of a plane is a quadratic function of
    /// places and axes, the square of the distance of two centres too. Of b the mean place of a, half the way of it, and half the turn of b.
    pub(super) fn ends_of_step<S: Scalar>(
        &self,
        parameters: &[f64],
        n: Vec3<S>,
        [d, way, turn]: [Vec3<S>; 3],
    ) -> ([S; 2], S) {
        let radius = |id: Option<ParamId>| S::lift(id.map_or(0.0, |id| id.of(parameters)));
        let off = radius(self.radius_a);
        match self.of_b {
            spec::Surface::Plane | spec::Surface::Disc => {
                let across = turn.cross(&n);
                let mean = n.dot(&d) + across.dot(&way) - off;
                let half = n.dot(&way) + across.dot(&d);
                ([mean - half, mean + half], S::one())
            }
            spec::Surface::Sphere => {
                let [before, after] = [norm(&(d - way)), norm(&(d + way))];
                let off = off + radius(self.radius_b);
                let pace = norm(&d) * S::lift(2.0) / (before + after);
                ([before - off, after - off], pace)
            }
        }
    }

    /// Of frames that stand at `A` and `B`; `normal` is that of b, a unit vector in world axes.
    pub fn nearest<S: Scalar>(&self, parameters: &[f64], [A, B]: [&Pose<S>; 2], normal: Vec3<S>) -> Nearest<S> {
        let radius = |id: Option<ParamId>| id.map_or(0.0, |id| id.of(parameters));
        let (radius_a, radius_b) = (radius(self.radius_a), radius(self.radius_b));
        let d = A.p - B.p;
        let (n, distance) = match self.of_b {
            spec::Surface::Plane | spec::Surface::Disc => (normal, normal.dot(&d)),
            spec::Surface::Sphere => {
                let square = d.dot(&d);
                let (n, length) = if square.value() > 0.0 {
                    let length = square.sqrt();
                    (d / length, length)
                } else {
                    // Where both centres are one, any direction is as good.
                    (normal, normal.dot(&d))
                };
                (n, length - S::lift(radius_b))
            }
        };
        let gap = distance - S::lift(radius_a);
        let is_beside = self.is_disc() && (d - n * distance).map(S::value).norm() > radius_b;
        Nearest {
            gap,
            n,
            from_a: -n * (S::lift(radius_a) + gap * S::lift(0.5)),
            is_beside,
        }
    }
}
