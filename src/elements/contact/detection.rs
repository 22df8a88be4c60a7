//! Detection for one pair of surfaces: event indicator and transition, from gap and contact state.

use super::manifold::SlotKind;
use super::rest::NO_EVENT;
use super::touching::RestingFrames;
use super::{Contact, Nearest};
use crate::algebra::{Pose, Vec3};
use crate::elements::{Discrete, Pair, Stored};
use crate::system::Configuration;

/// Contact state of two surfaces.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) enum ContactState {
    /// The surfaces are separated.
    #[default]
    Apart,
    /// The surfaces overlap without contact: a is behind a disc, or deeper than a capture detects
    /// it.
    Behind,
    /// The surfaces have touched, or penetrated to the last `floor`, `touches` times without
    /// separation (with an impact or without); the next time is detected at the gap `floor` (m).
    Touching { touches: i32, floor: f64 },
}

impl ContactState {
    /// Surfaces in contact, without detection of further impacts: the state of compliant contacts.
    pub const LASTING: Self = Self::Touching {
        touches: 1,
        floor: BOTTOMLESS,
    };
}

impl Stored for ContactState {
    fn write(&self, to: &mut impl FnMut(f64)) {
        let (state, floor) = match *self {
            Self::Apart => (0, BOTTOMLESS),
            Self::Behind => (-1, BOTTOMLESS),
            Self::Touching { touches, floor } => (touches, floor),
        };
        state.write(to);
        floor.write(to);
    }

    fn read(next: &mut impl FnMut() -> f64) -> Option<Self> {
        let (state, floor) = (i32::read(next)?, f64::read(next)?);
        match state {
            0 => Some(Self::Apart),
            -1 => Some(Self::Behind),
            1..=MOST_IMPACTS => Some(Self::Touching { touches: state, floor }),
            _ => None,
        }
    }
}

/// Largest number of impacts of two surfaces without separation; one more ends the run with an
/// error.
pub(crate) const MOST_IMPACTS: i32 = 100;
/// Separation at which a contact ends, m: a constant, and a factor of the frames' distances from
/// the world's origin, for round-off.
const MARGIN: [f64; 2] = [1e-9, 16.0 * f64::EPSILON];
/// Gap `floor` (m) of surfaces without detection of further impacts.
pub(crate) const BOTTOMLESS: f64 = f64::MIN;

/// Geometry and velocity of two surfaces at one instant.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Detected {
    /// Gap, m. Of shapes that are far from each other a lower bound, which is positive.
    pub gap: f64,
    /// Relative velocity along the normal at the contact point, m/s; positive if the surfaces
    /// separate.
    pub speed: f64,
    /// Upper bound of the gap's rate at the present velocities, m/s.
    pub fastest: f64,
    /// Separation at which a contact ends, m.
    pub margin: f64,
    /// True if a is outside the disc's radius.
    is_beside: bool,
}

/// Transition of a contact state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Transition {
    /// The state stays valid.
    Stays,
    /// The surfaces separate.
    Separates,
    /// The plane of a disc is crossed outside the disc's radius: the surfaces overlap without
    /// contact.
    Ignored,
    /// The surfaces touch, or penetrate to the gap `floor`.
    Touches,
}

impl Contact {
    /// Returns the distance of spheres about two shapes as their gap, which it does not exceed, for
    /// the vector `d` between the origins (m, world axes); `None` if it is less than the sum of the
    /// spheres' radii, and for pairs without a search for the nearest points.
    fn bounded_gap(&self, parameters: &[f64], d: Vec3<f64>) -> Option<Nearest<f64>> {
        let shapes = self.shapes().filter(|shapes| shapes.need_rate_bound())?;
        let (reach, distance) = (shapes.reach(parameters)?, d.norm());
        let gap = distance - reach;
        (gap > reach && gap.is_finite()).then(|| Nearest {
            gap,
            n: d / distance,
            from_a: d * -0.5,
            is_beside: false,
        })
    }

    /// Detects gap and velocities of the surfaces, at one of the points of a contact that may rest.
    pub(crate) fn detect(
        &self,
        point: usize,
        parameters: &[f64],
        discrete: &Discrete,
        at: Configuration<f64>,
    ) -> Detected {
        match self.rest {
            Some(_) => self.frames_at(parameters, at).detect(point, parameters, discrete),
            None => self.detect_surfaces(parameters, at),
        }
    }

    /// Detects gap and velocities at all points, but those of which `skips` returns true; calls `to`
    /// with each point.
    pub(crate) fn detect_points(
        &self,
        parameters: &[f64],
        discrete: &Discrete,
        at: Configuration<f64>,
        skips: impl Fn(usize) -> bool,
        mut to: impl FnMut(usize, Option<Detected>),
    ) {
        let frames = self.rest.map(|_| self.frames_at(parameters, at));
        for point in 0..self.point_count() {
            let seen = (!skips(point)).then(|| match &frames {
                Some(frames) => frames.detect(point, parameters, discrete),
                None => self.detect_surfaces(parameters, at),
            });
            to(point, seen);
        }
    }

    /// Detects gap and velocities of the surfaces of a contact that does not rest.
    fn detect_surfaces(&self, parameters: &[f64], at: Configuration<f64>) -> Detected {
        let kinematics = at.kinematics;
        let [A, B] = self.poses(at);
        let nearest = (self.bounded_gap(parameters, A.p - B.p)).unwrap_or_else(|| self.nearest(parameters, [&A, &B]));
        let frames = [self.a, self.b];
        let pair = Pair::at(at, frames, nearest.from_a);
        let u = pair.relative(|on| kinematics.carrier(on).V_WB);
        let w_B = kinematics.carrier(pair.carriers()[1]).V_WB.w;
        let origins = Pair::at_a(at, frames).relative(|on| kinematics.carrier(on).V_WB);
        Detected {
            gap: nearest.gap,
            speed: nearest.n.dot(&u.v),
            fastest: match self.shapes() {
                None => origins.v.norm() + w_B.norm() * (A.p - B.p).norm(),
                Some(shapes) => shapes.rate_bound(parameters, &origins, A.p - B.p),
            },
            margin: margin(&[A, B]),
            is_beside: nearest.is_beside,
        }
    }
}

impl RestingFrames<'_, f64> {
    /// Detects gap and velocities at a point.
    fn detect(&self, point: usize, parameters: &[f64], discrete: &Discrete) -> Detected {
        if let Some(manifold) = self.contact.rest.and_then(|rest| rest.manifold)
            && discrete.slot(manifold, point).kind == SlotKind::Empty
        {
            return self.detect_empty(point, parameters, discrete.face_pair(manifold).is_active);
        }
        let touching = self.touching(point, parameters, discrete);
        let origins = self.relative();
        let [A, B] = &self.poses;
        Detected {
            gap: touching.gap,
            speed: touching.rate,
            // Of a plane the nearest point may be far from its origin.
            fastest: origins.v.norm() + origins.w.norm() * (A.p - B.p + touching.from_a).norm(),
            margin: margin(&self.poses),
            is_beside: false,
        }
    }
}

impl RestingFrames<'_, f64> {
    /// Detects gap and velocities of two polyhedra without a pair of faces, at the first point; the
    /// others, and empty ones of a pair that is active, have a constant gap.
    fn detect_empty(&self, point: usize, parameters: &[f64], is_active: bool) -> Detected {
        let [A, B] = &self.poses;
        let none = Detected {
            gap: NO_EVENT,
            speed: 0.0,
            fastest: 0.0,
            margin: margin(&self.poses),
            is_beside: false,
        };
        if is_active || point > 0 {
            return none;
        }
        let contact = self.contact;
        let nearest =
            (contact.bounded_gap(parameters, A.p - B.p)).unwrap_or_else(|| contact.nearest(parameters, [A, B]));
        let origins = self.relative();
        let bound = contact
            .shapes()
            .map(|shapes| shapes.rate_bound(parameters, &origins, A.p - B.p));
        Detected {
            gap: nearest.gap,
            speed: nearest.n.dot(&origins.shift(&nearest.from_a).v),
            fastest: bound.unwrap_or_default(),
            ..none
        }
    }
}

/// Returns the separation at which a contact ends, m, for the poses of its frames.
pub(super) fn margin([A, B]: &[Pose<f64>; 2]) -> f64 {
    MARGIN[0] + MARGIN[1] * (A.p.norm() + B.p.norm())
}

impl Detected {
    /// Returns the event indicator (m) of a contact state. It is positive as long as the state is
    /// valid. Contact ends at a gap of `margin`; the next impact is detected at `floor`.
    pub fn indicator(&self, state: ContactState) -> f64 {
        match state {
            ContactState::Apart => self.gap,
            ContactState::Behind => self.margin - self.gap,
            ContactState::Touching { floor, .. } => (self.margin - self.gap).min(self.gap - floor),
        }
    }

    /// Returns the gap (m) at which the next impact is detected after one at the present gap.
    pub fn floor(&self) -> f64 {
        (self.gap - self.margin).max(BOTTOMLESS)
    }

    /// Returns the state of surfaces that begin to touch at the present gap.
    pub fn in_contact(&self) -> ContactState {
        ContactState::Touching {
            touches: 1,
            floor: self.floor(),
        }
    }

    /// Returns the transition from a contact state. An importer stops slightly before or after the
    /// indicator's zero, so a quarter of the margin is tolerated.
    pub fn next(&self, state: ContactState) -> Transition {
        let there = 0.25 * self.margin;
        if state != ContactState::Apart && self.gap >= self.margin - there {
            return Transition::Separates;
        }
        let touches = match state {
            ContactState::Apart => self.gap <= there,
            ContactState::Behind => false,
            ContactState::Touching { floor, .. } => self.gap <= floor + there,
        };
        match (touches, state == ContactState::Apart && self.is_beside) {
            (true, true) => Transition::Ignored,
            (true, false) => Transition::Touches,
            (false, _) => Transition::Stays,
        }
    }
}

#[cfg(feature = "inside")]
pub(super) mod tests {
    use super::{BOTTOMLESS, Detected};

    unit_tests![floor_is_finite_at_any_penetration];

    fn floor_is_finite_at_any_penetration() {
        let detected = |gap, margin| Detected {
            gap,
            speed: 0.0,
            fastest: 0.0,
            margin,
            is_beside: false,
        };
        assert_eq!(detected(-1e308, 1e308).floor(), BOTTOMLESS);
        assert_eq!(detected(f64::NEG_INFINITY, 1.0).floor(), BOTTOMLESS);
        assert_eq!(detected(-3.0, 1.0).floor(), -4.0);
    }
}
