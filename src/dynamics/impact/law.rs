use super::{PointImpact, stronge};
use crate::spec::{Inconsistent, Tangential};
use nalgebra::Vector3;
use std::error::Error;
use std::fmt;

/// Impact law: determines the impulse at a contact point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Law {
    /// Newton's restitution with a friction cone. A solution always exists, and the energy never
    /// increases. With the symbols of [`PointImpact`]:
    ///
    /// ```text
    ///     p = (1 + e) p_I + f d,   f = 1 + e_t,   or the largest f below it with |p_T| ≤ mu p_n
    ///     u_n⁺ = −e u_n,             loss = E_pl (κ f (2 − f) + (1 − κ)(1 − e²))
    /// ```
    ///
    /// A. Chatterjee and A. Ruina, *A new algebraic rigid-body collision law based on impulse space
    /// considerations*, J. Appl. Mech. 65 (1998) 939–951. With an infinite `mu` only `p_n ≥ 0`
    /// limits `f`.
    Restitution {
        /// Normal restitution, 0 to 1.
        e: f64,
        /// Tangential restitution: −1 without friction, 0 sticking, up to 1.
        e_t: f64,
        /// Coefficient of friction; may be infinite.
        mu: f64,
    },
    /// Prescribed energy loss and tangential impulse, both relative to the sticking impact.
    ///
    /// ```text
    ///     loss = r_E E_pl,     p_T = r_f T p_II,     u_n⁺ ≥ 0
    /// ```
    ///
    /// X. Cyril, S.-W. Kim, M. Ingham, A. Misra and G. Jaar, *Post-impact dynamics of two
    /// multi-body systems attempting docking/berthing*, Acta Astronautica (1998); their solution is
    /// the larger root of a quadratic. With [`Tangential::Plastic`] the whole tangential impulse is
    /// scaled, so that `r_E = r_f = 1` sticks in three dimensions, and the law equals
    /// [`Law::Restitution`] without a cone:
    ///
    /// ```text
    ///     e² = (1 − r_E − κ (1 − r_f)²) / (1 − κ),     f = r_f
    /// ```
    ///
    /// With [`Tangential::Slip`], as in the paper, only its component along the slip is scaled.
    EnergyFriction {
        /// Energy loss relative to the plastic loss, 0 to 1.
        r_E: f64,
        /// Tangential impulse relative to that of sticking.
        r_f: f64,
        /// Tangential impulse that `r_f` scales.
        tangential: Tangential,
        /// Treatment of an `r_E` outside the admissible band: no `e` from 0 to 1 leads to it. An
        /// empty band is always refused.
        on_inconsistent: Inconsistent,
    },
    /// Coulomb friction throughout the impact, with Stronge's energetic restitution: the work of
    /// the normal impulse during restitution is `e²` times that of compression.
    ///
    /// ```text
    ///     du = W (n dp_n + dp_T),   dp_T = −mu (u_T/|u_T|) dp_n sliding,  |dp_T| ≤ mu dp_n sticking
    /// ```
    ///
    /// E. J. Routh, *Dynamics of a System of Rigid Bodies*, part I; J. B. Keller, *Impact with
    /// friction*, J. Appl. Mech. 53 (1986) 1–4; W. J. Stronge, *Rigid body collisions with
    /// friction*, Proc. R. Soc. Lond. A 431 (1990) 169–181.
    Stronge {
        /// Energetic restitution, 0 to 1.
        e: f64,
        /// Coefficient of friction; may be infinite.
        mu: f64,
    },
}

/// The result of an impact law.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outcome {
    /// Impulse on the first body, N·s; the second gets `−p`.
    pub p: Vector3<f64>,
    /// True if `r_E` of [`Law::EnergyFriction`] was moved into the admissible band.
    pub clamped: bool,
}

/// Reason for which an impact law gives no impulse.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Refusal {
    /// The bodies do not approach.
    Separating,
    /// A parameter of the law is not a number or out of range.
    Parameter,
    /// No normal restitution from 0 to 1 leads to this energy loss.
    Inconsistent {
        /// Requested energy loss relative to the plastic loss.
        r_E: f64,
        /// Admissible band, from [`PointImpact::admissible`].
        band: [f64; 2],
    },
    /// The normal impulse would be tensile: `p_n < 0`.
    Adhesive,
    /// The impact does not end, because the approach velocity has no response to the impulse; or
    /// the impulse is not finite.
    NoEnd,
}

impl PointImpact {
    /// Returns the impulse on the first body by `law`.
    ///
    /// # Errors
    ///
    /// See [`Refusal`].
    pub fn impulse(&self, law: &Law) -> Result<Outcome, Refusal> {
        if !self.approaches() {
            return Err(Refusal::Separating);
        }
        if !law.is_valid() {
            return Err(Refusal::Parameter);
        }
        // Velocities are scaled to about one, so that squares neither overflow nor underflow;
        // scaling by a power of two is exact.
        let speed = libm::exp2(libm::log2(self.u.amax()).floor());
        let unit = Self {
            u: self.u / speed,
            p_I: self.p_I / speed,
            d: self.d / speed,
            ..*self
        };
        let plain = |p| Outcome { p, clamped: false };
        let Outcome { p, clamped } = match *law {
            Law::Restitution { e, e_t, mu } => plain(unit.restitution(e, e_t, mu)),
            Law::EnergyFriction {
                r_E,
                r_f,
                tangential,
                on_inconsistent,
            } => unit.energy_friction([r_E, r_f], tangential, on_inconsistent)?,
            Law::Stronge { e, mu } => plain(stronge::impulse(&unit, e, mu).ok_or(Refusal::NoEnd)?),
        };
        let p = p * speed;
        if p.iter().all(|p| p.is_finite()) {
            Ok(Outcome { p, clamped })
        } else {
            Err(Refusal::NoEnd)
        }
    }

    /// Returns the impulse by [`Law::Restitution`].
    fn restitution(&self, e: f64, e_t: f64, mu: f64) -> Vector3<f64> {
        let p = self.p_I() * (1.0 + e);
        let (p_n, d_n, d_T) = (
            self.n.dot(&p),
            self.n.dot(&self.d),
            (self.T.transpose() * self.d).norm(),
        );
        // The cone |f d_T| ≤ mu (p_n + f d_n) is equivalent to f slope ≤ p_n. Without friction the
        // slope is infinite (or 0/0 for d = 0, where any f is admissible).
        let slope = d_T / mu - d_n;
        let wanted = 1.0 + e_t;
        let f = if wanted * slope > p_n { p_n / slope } else { wanted };
        self.with_normal(&(p + self.d * f), (p_n + f * d_n).max(0.0))
    }

    /// Returns the impulse by [`Law::EnergyFriction`]. `e²` is computed from the distance of `r_E`
    /// to the nearer end of the band: if `E_n` is a small part of `E_pl`, the division by that part
    /// magnifies round-off.
    fn energy_friction(
        &self,
        [r_E, r_f]: [f64; 2],
        tangential: Tangential,
        on_inconsistent: Inconsistent,
    ) -> Result<Outcome, Refusal> {
        let band = self.admissible(r_f, tangential);
        let (low, high) = (band[0].max(0.0), band[1]);
        let round_off = 8.0 * f64::EPSILON * (1.0 + band[0].abs() + band[1].abs());
        let (is_below, is_above) = (r_E < low - round_off, r_E > high + round_off);
        let is_refused = match on_inconsistent {
            Inconsistent::Reject => is_below || is_above,
            Inconsistent::Clamp => low > high + round_off,
            Inconsistent::Accept => is_above,
        };
        if is_refused {
            return Err(Refusal::Inconsistent { r_E, band });
        }
        let clamped = (is_below || is_above) && on_inconsistent == Inconsistent::Clamp;
        let (r_E, most) = match on_inconsistent {
            Inconsistent::Accept => (r_E.min(high), f64::INFINITY),
            _ => (r_E.max(low).min(high), 1.0),
        };
        let d = self.scaled(tangential);
        let share = self.normal_share();
        let e_squared = if share == 0.0 {
            0.0
        } else if high - r_E < r_E - band[0] {
            (high - r_E) / share
        } else {
            1.0 - (r_E - band[0]) / share
        };
        let p = self.p_I() * (1.0 + e_squared.clamp(0.0, most).sqrt()) + d * r_f;
        let p_n = self.n.dot(&p);
        if p_n < -8.0 * f64::EPSILON * (self.p_I().norm() + r_f.abs() * d.norm()) {
            return Err(Refusal::Adhesive);
        }
        Ok(Outcome {
            p: self.with_normal(&p, p_n.max(0.0)),
            clamped,
        })
    }
}

impl Law {
    /// Returns the normal restitution of a frictionless law; `None` with friction.
    pub fn smooth(&self) -> Option<f64> {
        match *self {
            Law::Restitution { e, e_t, mu } => (mu == 0.0 || e_t == -1.0).then_some(e),
            Law::Stronge { e, mu } => (mu == 0.0).then_some(e),
            Law::EnergyFriction { .. } => None,
        }
    }

    /// Returns true if all parameters are within their ranges.
    fn is_valid(&self) -> bool {
        let unit = 0.0..=1.0;
        match *self {
            Law::Restitution { e, e_t, mu } => unit.contains(&e) && (-1.0..=1.0).contains(&e_t) && mu >= 0.0,
            Law::EnergyFriction { r_E, r_f, .. } => unit.contains(&r_E) && r_f.is_finite(),
            Law::Stronge { e, mu } => unit.contains(&e) && mu >= 0.0,
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::Separating => write!(f, "the bodies do not approach"),
            Refusal::Parameter => write!(f, "a parameter of the law is out of its range"),
            Refusal::Inconsistent { r_E, band: [low, high] } => {
                write!(
                    f,
                    "r_E = {r_E} is not between {low} and {high}: no restitution from 0 to 1 has this energy loss"
                )
            }
            Refusal::Adhesive => write!(f, "the normal impulse would be adhesive"),
            Refusal::NoEnd => write!(
                f,
                "the impact does not end: the contact does not respond to the impulse along its normal"
            ),
        }
    }
}

impl Error for Refusal {}
