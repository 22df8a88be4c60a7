//! Events of a run as data, and the texts of their messages.

use crate::error::instant;
use crate::spec::JointMotion;
use crate::system::Unit;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Something that happened at an instant of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Event {
    /// Time, s.
    pub t: f64,
    /// Kind of the event, with its values.
    #[serde(flatten)]
    pub what: Occurrence,
}

/// A value in its unit.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Amount {
    /// The value.
    pub value: f64,
    /// Its unit.
    pub unit: Unit,
}

/// Names of a contact and its two frames.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pairing {
    /// The contact.
    pub contact: String,
    /// Frames a and b.
    pub frames: [String; 2],
    /// True for a contact that captures, false for one with impacts.
    pub captures: bool,
}

/// The kinds of events.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Occurrence {
    /// A joint coordinate left its range.
    RangeLeft {
        /// The joint.
        joint: String,
        /// The coordinate.
        coordinate: String,
        /// Its value.
        value: Amount,
        /// The limit that it passed.
        limit: Amount,
        /// True for the upper limit.
        is_above: bool,
    },
    /// The deflection of a beam's tip exceeded the limit of linear bending.
    LinearLimitExceeded {
        /// The body.
        body: String,
        /// Deflection of its tip, m.
        deflection: f64,
        /// The limit, m.
        limit: f64,
        /// The limit, relative to the beam's length.
        part: f64,
    },
    /// A joint's rate reached the last hundredth below its motor's rate limit, or passed the limit.
    RateLimitReached {
        /// Name of the rate.
        rate: String,
        /// The limit.
        limit: Amount,
    },
    /// An impact or a capture occurred: its impulse was applied.
    Impact {
        /// The contact.
        #[serde(flatten)]
        pairing: Pairing,
        /// Magnitude of the impulse, N·s.
        impulse: f64,
        /// Work of the impulse, J.
        work: f64,
        /// Least and largest admissible `r_E`, if the written one was clamped to them.
        clamped: Option<[f64; 2]>,
        /// Restitution above 1, and the energy (J) that the motion along the normal gained.
        gain: Option<[f64; 2]>,
    },
    /// An impact or a capture was commanded or detected, but no impulse was applied.
    ImpactRefused {
        /// The contact.
        #[serde(flatten)]
        pairing: Pairing,
        /// The reason.
        reason: Refused,
    },
    /// A capture was released.
    Released {
        /// The contact.
        contact: String,
    },
    /// The external impulse of a port was commanded.
    ImpulseApplied {
        /// The port.
        port: String,
        /// Magnitude of the impulse, N·s; `None` if it is not finite and was not applied.
        impulse: Option<f64>,
    },
    /// The motion of a joint was switched.
    MotionSwitched {
        /// The joint.
        joint: String,
        /// Its motion from here on.
        motion: JointMotion,
        /// Its rates immediately before.
        rates: Vec<Amount>,
    },
    /// A joint was commanded to a motion that it does not have; its present motion continues.
    CommandRefused {
        /// The joint.
        joint: String,
        /// Value of the command.
        command: f64,
        /// The motions that the joint has.
        motions: Vec<JointMotion>,
    },
    /// The automatic solver changed its method.
    MethodChanged {
        /// The method from here on, as in the spec.
        method: String,
    },
    /// A tank ran empty: its thrusters exert no force from here on.
    TankEmpty {
        /// The tank.
        tank: String,
        /// Mass of the propellant that remains.
        mass: Amount,
        /// The thrusters that draw from it.
        thrusters: Vec<String>,
    },
}

/// Reasons for which a contact has no impulse.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "reason", rename_all = "snake_case")]
pub enum Refused {
    /// The frames are farther apart than the contact's reach.
    OutOfReach {
        /// Their distance, m.
        distance: f64,
        /// The reach, m.
        reach: f64,
    },
    /// The directions of two ANCF beams differ too much for a grasp.
    Inclined {
        /// Angle between them, rad.
        angle: f64,
        /// Largest angle at which a grasp lines them up, rad.
        most: f64,
    },
    /// The surfaces separate.
    Separating {
        /// Relative velocity along the normal, m/s; positive if the surfaces separate.
        speed: f64,
    },
    /// No impulse has this energy loss together with this tangential impulse.
    Inconsistent {
        /// Energy loss relative to that of a plastic, sticking impact.
        r_E: f64,
        /// Tangential impulse relative to that of a plastic, sticking impact.
        r_f: f64,
        /// Least and greatest energy loss `r_E` for which an impulse with this `r_f` exists.
        bounds: [f64; 2],
    },
    /// The impulse would have to pull the surfaces together.
    Adhesive,
    /// The contact is coupled to simultaneous ones, and one of them has friction.
    Coupled,
    /// The contact does not respond to an impulse along its normal, the impact law has no solution,
    /// or no impulse ends the relative motion of a capture.
    Unsolved,
}

impl Event {
    /// Returns true if the event belongs to the integration, not to the spacecraft.
    pub fn is_of_solver(&self) -> bool {
        matches!(self.what, Occurrence::MethodChanged { .. })
    }

    /// Returns the name of the contact that the event concerns, `None` for other events.
    pub fn contact(&self) -> Option<&str> {
        match &self.what {
            Occurrence::Impact { pairing, .. } | Occurrence::ImpactRefused { pairing, .. } => Some(&pairing.contact),
            Occurrence::Released { contact } => Some(contact),
            _ => None,
        }
    }

    /// Returns true if the impulse of an impact or a capture was applied.
    pub fn is_impact(&self) -> bool {
        matches!(self.what, Occurrence::Impact { .. })
    }
}

impl fmt::Display for Amount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.unit.of(self.value))
    }
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "t = {} s: {}", instant(self.t), self.what)
    }
}

impl Pairing {
    /// Returns the text of the action with both frames, such as `impacts, "tip" on "pad"`; if
    /// `acts` is false, that of an action that was refused.
    fn action(&self, acts: bool) -> String {
        let [a, b] = &self.frames;
        let (verb, on) = if self.captures {
            ("capture", "with")
        } else {
            ("impact", "on")
        };
        match acts {
            true => format!("{verb}s, \"{a}\" {on} \"{b}\""),
            false => format!("does not {verb}, \"{a}\" {on} \"{b}\""),
        }
    }
}

impl Occurrence {
    /// Returns the text of the event without the contact's name and the numbers of its impulse, for
    /// tables that have columns for these.
    pub fn action(&self) -> String {
        match self {
            Self::Impact {
                pairing, clamped, gain, ..
            } => pairing.action(true) + &remark(clamped, gain),
            Self::ImpactRefused { pairing, reason } => format!("{}: {reason}", pairing.action(false)),
            Self::Released { .. } => "releases".to_owned(),
            other => other.to_string(),
        }
    }
}

/// Returns the remark on the `bounds` to which `r_E` was clamped, or on a restitution above 1 with
/// the energy that it gained; empty without either.
fn remark(bounds: &Option<[f64; 2]>, gain: &Option<[f64; 2]>) -> String {
    if let Some([low, high]) = bounds.map(|bounds| bounds.map(|ratio| Unit::One.about(ratio))) {
        return format!("; r_E was clamped to the admissible range {low} to {high}");
    }
    gain.map_or_else(String::new, |[e, energy]| {
        let (e, energy) = (Unit::One.about(e), Unit::Joule.about(energy));
        format!(
            "; e = {e}: the motion along the normal gained {energy}, and friction dissipated more than the impact lost"
        )
    })
}

impl fmt::Display for Occurrence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::RangeLeft {
                joint,
                coordinate,
                value,
                limit,
                is_above,
            } => {
                let side = if *is_above { "above" } else { "below" };
                write!(
                    f,
                    "joint \"{joint}\" left its range: {coordinate} = {value} is {side} {limit}"
                )
            }
            Self::LinearLimitExceeded {
                body,
                deflection,
                limit,
                part,
            } => write!(
                f,
                "body \"{body}\" bends beyond its linear limit: its tip is deflected by {}, more than \
                 {limit} m ({part} of its length); the results from here on are a rough approximation",
                Unit::Metre.about(*deflection)
            ),
            Self::TankEmpty { tank, mass, thrusters } => {
                let names: Vec<String> = thrusters.iter().map(|name| format!("\"{name}\"")).collect();
                write!(
                    f,
                    "tank \"{tank}\" is empty ({} of propellant remain): no thrust of {} from here on",
                    mass.unit.about(mass.value),
                    names.join(", ")
                )
            }
            Self::RateLimitReached { rate, limit } => write!(f, "{rate} reached its motor's limit of {limit}"),
            Self::Impact {
                pairing,
                impulse,
                work,
                clamped,
                gain,
            } => {
                let (contact, action) = (&pairing.contact, pairing.action(true));
                let (p, work) = (Unit::NewtonSecond.about(*impulse), Unit::Joule.about(*work));
                write!(
                    f,
                    "contact \"{contact}\" {action}: {p}, work {work}{}",
                    remark(clamped, gain)
                )
            }
            Self::ImpactRefused { pairing, .. } => write!(f, "contact \"{}\" {}", pairing.contact, self.action()),
            Self::Released { contact } => write!(f, "contact \"{contact}\" releases"),
            Self::ImpulseApplied { port, impulse } => match impulse {
                Some(impulse) => write!(
                    f,
                    "an impulse of {} acts at port \"{port}\"",
                    Unit::NewtonSecond.about(*impulse)
                ),
                None => write!(f, "no impulse acts at port \"{port}\": it is not finite"),
            },
            Self::MotionSwitched { joint, motion, rates } => {
                let how = match motion {
                    JointMotion::Loads => "moves under its loads",
                    JointMotion::Prescribed => "has its prescribed acceleration",
                    JointMotion::Locked => {
                        let rates: Vec<String> = rates.iter().map(Amount::to_string).collect();
                        return write!(f, "joint \"{joint}\" is locked; its rate was {}", rates.join(", "));
                    }
                };
                write!(f, "joint \"{joint}\" {how}")
            }
            Self::CommandRefused {
                joint,
                command,
                motions,
            } => {
                let names: Vec<&str> = motions.iter().map(|motion| motion.name()).collect();
                write!(
                    f,
                    "{joint}.motion = {command} is none of the joint's motions ({}); its motion is unchanged",
                    names.join(", ")
                )
            }
            Self::MethodChanged { method } => write!(f, "the integration continues with {method}, at lower cost"),
        }
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OutOfReach { distance, reach } => {
                let [distance, reach] = [distance, reach].map(|length| Unit::Metre.about(*length));
                write!(f, "the frames are {distance} apart, and the reach is {reach}")
            }
            Self::Inclined { angle, most } => {
                let [angle, most] = [angle, most].map(|angle| angle.to_degrees());
                write!(
                    f,
                    "the directions of the two ANCF beams are {angle:.1}° apart, and a grasp lines up at most {most:.0}°"
                )
            }
            Self::Separating { speed } => write!(f, "the frames separate at {}", Unit::MetrePerSecond.about(*speed)),
            Self::Inconsistent { r_E, r_f, bounds } => {
                let [low, high] = bounds.map(|ratio| Unit::One.about(ratio));
                write!(
                    f,
                    "no impact has r_E = {r_E} with r_f = {r_f}; r_E must lie between {low} and {high} here"
                )
            }
            Self::Adhesive => f.write_str("the normal impulse would be adhesive"),
            Self::Coupled => f.write_str(
                "contacts with friction are coupled; only frictionless ones can be solved together (mu = 0)",
            ),
            Self::Unsolved => f.write_str(
                "the contact does not respond to an impulse, the impact law has no solution, or no \
                impulse ends the relative motion of a capture",
            ),
        }
    }
}

#[cfg(feature = "inside")]
pub(super) mod tests {
    use super::*;

    unit_tests![texts_of_events_have_no_round_off];

    fn texts_of_events_have_no_round_off() {
        let text = |what| Event { t: 0.1 + 0.05, what }.to_string();
        let contact = "berth".to_owned();
        assert_eq!(
            text(Occurrence::Released { contact }),
            "t = 0.15 s: contact \"berth\" releases"
        );
        let amount = |value| Amount {
            value,
            unit: Unit::Metre,
        };
        let left = Occurrence::RangeLeft {
            joint: "slide".to_owned(),
            coordinate: "slide.q".to_owned(),
            value: amount(0.1 + 0.2),
            limit: amount(0.25),
            is_above: true,
        };
        assert!(text(left).ends_with("slide.q = 0.3 m is above 0.25 m"));
    }
}
