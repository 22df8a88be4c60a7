//! Points on the rims of solids of revolution that may rest on a plane
//! (`docs/theory/resting-contact.md#rims`).

use super::shape::Solid;
use crate::algebra::{Scalar, Vec3, lift3, root};
use crate::elements::Stored;

/// Number of points on a rim, a quarter turn apart.
pub(crate) const QUARTERS: usize = 4;

/// Sine of the tilt above which the points of a solid that was flat are those of its lowest points.
const TILTED: f64 = 1e-5;

/// Sine of the tilt below which a solid is flat from the next event on.
const FLAT: f64 = 1e-6;

/// Sine of the tilt above which the direction to the lowest point may have any angle.
const STEEP: f64 = 0.3;

/// Sine of the tilt below which the lowest point is that near the direction of the last event.
const SHALLOW: f64 = 0.1;

/// Cosine of the largest angle between the direction to the lowest point and that of the last event,
/// below the tilt [`STEEP`].
const NEAR: f64 = 0.95;

/// Sine of the tilt below which the direction to the lowest point tends to that of the last event: it
/// is undefined without tilt.
const REGULAR: f64 = 1e-9;

/// State of the points on the rims of a solid.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct RimState {
    /// True while the faces are parallel to the plane: the points are then fixed in the solid. Else the
    /// first of each rim is its lowest point.
    pub is_flat: bool,
    /// Direction from the axis to the first point of each rim, at the last event; unit vector, axes of
    /// the solid.
    pub direction: Vec3<f64>,
}

impl Default for RimState {
    fn default() -> Self {
        Self {
            is_flat: false,
            direction: Vec3::x(),
        }
    }
}

impl Stored for RimState {
    fn write(&self, to: &mut impl FnMut(f64)) {
        let Self { is_flat, direction } = self;
        is_flat.write(to);
        direction.write(to);
    }

    fn read(next: &mut impl FnMut() -> f64) -> Option<Self> {
        Some(Self {
            is_flat: bool::read(next)?,
            direction: Vec3::read(next)?,
        })
    }
}

impl RimState {
    /// Returns the direction from the axis to a point of a rim and its derivative, axes of the solid,
    /// for the direction `down` into the plane (unit vector, axes of the solid) and its derivative.
    pub fn towards<S: Scalar>(&self, quarter: usize, down: Vec3<S>, down_dot: Vec3<S>) -> [Vec3<S>; 2] {
        let first = match self.is_flat {
            true => [lift3(&self.direction), Vec3::zeros()],
            false => self.lowest(down, down_dot),
        };
        first.map(|v| match quarter {
            0 => v,
            1 => Vec3::new(-v.y, v.x, v.z),
            2 => Vec3::new(-v.x, -v.y, v.z),
            _ => Vec3::new(v.y, -v.x, v.z),
        })
    }

    /// Returns the direction to the lowest point and its derivative. Of the two ends of the diameter
    /// that has the slope of the plane it is the one near the direction of the last event, so that it
    /// does not jump while the tilt changes its sign within a step.
    fn lowest<S: Scalar>(&self, down: Vec3<S>, down_dot: Vec3<S>) -> [Vec3<S>; 2] {
        let (mut m, mut m_dot) = (across(down), across(down_dot));
        let values = m.map(S::value);
        if values.norm() < SHALLOW {
            let sign = S::lift(if values.dot(&self.direction) < 0.0 { -1.0 } else { 1.0 });
            m = m * sign + lift3::<S>(&self.direction) * S::lift(REGULAR);
            m_dot *= sign;
        }
        let length = root(m.dot(&m));
        let e = m / length;
        [e, (m_dot - e * e.dot(&m_dot)) / length]
    }

    /// Returns the event indicator of the state, for the direction `down` into the plane. It is positive
    /// as long as the state is valid.
    pub fn indicator(&self, down: Vec3<f64>) -> f64 {
        let m = across(down);
        let tilt = m.norm();
        match self.is_flat {
            true => TILTED - tilt,
            false => (m.dot(&self.direction) - NEAR * tilt).max(tilt - STEEP),
        }
    }

    /// Returns the state that follows at an event, `None` if this one stays valid. An importer stops
    /// slightly before or after an indicator's zero.
    pub fn next(&self, down: Vec3<f64>) -> Option<Self> {
        let m = across(down);
        let tilt = m.norm();
        match self.is_flat {
            true if tilt < 0.9 * TILTED => None,
            false if tilt < FLAT => Some(Self {
                is_flat: true,
                direction: self.lowest(down, Vec3::zeros())[0],
            }),
            false if tilt > 1.1 * STEEP || m.dot(&self.direction) > (NEAR + 0.01) * tilt => None,
            _ => Some(Self {
                is_flat: false,
                direction: m / tilt,
            }),
        }
    }

    /// Returns the state at the start of a run.
    pub fn start(down: Vec3<f64>) -> Self {
        let m = across(down);
        let tilt = m.norm();
        match tilt < FLAT {
            true => Self {
                is_flat: true,
                ..Self::default()
            },
            false => Self {
                is_flat: false,
                direction: m / tilt,
            },
        }
    }

    /// Returns the state with the direction nearest to the present one at which one of the points lies
    /// in the direction `to` (axes of the solid); `None` if one does so.
    pub fn turned(&self, to: Vec3<f64>) -> Option<Self> {
        let length = across(to).norm();
        let to = across(to) / length;
        let quarters = [to, Vec3::new(-to.y, to.x, 0.0), -to, Vec3::new(to.y, -to.x, 0.0)];
        let nearest = quarters
            .into_iter()
            .max_by(|a, b| a.dot(&self.direction).total_cmp(&b.dot(&self.direction)))?;
        let angle = (nearest - self.direction).norm();
        (angle.is_finite() && angle > 1e-9).then_some(Self {
            is_flat: true,
            direction: nearest,
        })
    }
}

/// Returns the part of a vector perpendicular to the axis.
fn across<S: Scalar>(v: Vec3<S>) -> Vec3<S> {
    Vec3::new(v.x, v.y, S::zero())
}

/// Returns radius and place on the axis of each rim of a solid, m; `None` for a solid without rims.
pub(super) fn rims_of(solid: &Solid) -> Option<[[f64; 2]; 2]> {
    match *solid {
        Solid::Disc { radius } => Some([[radius, 0.0]; 2]),
        Solid::Cylinder { radius, half } => Some([[radius, -half], [radius, half]]),
        Solid::Cone { radius, end, half } => Some([[radius, -half], [end, half]]),
        _ => None,
    }
}
