use crate::algebra::{Pose, Scalar, Vec3, norm};
use crate::spec;
use crate::system::ParamId;

/// Surfaces of two frames with contact detection: a sphere about the origin of a, or the origin as
/// a point, and a surface of b.
#[derive(Clone, Copy, Debug)]
pub struct Surface {
    pub(super) of_b: spec::Surface,
    /// Radius of the sphere about a, m; `None` for a point.
    pub(super) radius_a: Option<ParamId>,
    /// Radius of the surface of b, m; `None` for a plane.
    pub(super) radius_b: Option<ParamId>,
}

/// Nearest points of two surfaces.
#[derive(Clone, Copy, Debug)]
pub struct Nearest<S: Scalar> {
    /// Signed distance between the surfaces, m; negative is penetration. For a disc the distance of
    /// the surface of a from the disc's plane.
    pub gap: S,
    /// Unit normal from b towards a, world axes.
    pub n: Vec3<S>,
    /// Vector from the origin of a to the point halfway between the surfaces, m, world axes.
    pub from_a: Vec3<S>,
    /// True if the surface of b is a disc and the origin of a projects outside its radius.
    pub is_beside: bool,
}

impl Surface {
    pub(super) fn is_disc(&self) -> bool {
        self.of_b == spec::Surface::Disc
    }

    /// Returns the gaps at both ends of a step (m), and the ratio of their difference to the
    /// midpoint displacement of a relative to b along the midpoint normal `n`.
    ///
    /// The arguments are, in world axes, the midpoint position of a relative to b (m), half its
    /// change over the step (m) and half the rotation of b over the step (rad). The gap of a plane
    /// is a quadratic function of positions and axes, as is the squared distance of two centres.
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

    /// Returns the nearest points for frames at the poses `A` and `B`; `normal` is the unit normal
    /// of b in world axes.
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
                    // Coincident centres define no direction: the normal of b is used.
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
