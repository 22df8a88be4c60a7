use std::fmt;

/// Something wrong with a spec or with the value of a parameter: where, and what, with the value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The field's place in the spec, e.g. `["joint", "elbow", "axis"]`.
    pub at: Vec<String>,
    /// What is wrong, with the value, in the user's words.
    pub what: String,
}

impl Problem {
    /// Whether this is about the thing `name` in `section`.
    pub(crate) fn concerns(&self, section: &str, name: &str) -> bool {
        matches!(self.at.as_slice(), [s, n, ..] if s == section && n == name)
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.at.as_slice() {
            [] => write!(f, "{}", self.what),
            [place] if place.starts_with('@') => write!(f, "{}", self.what),
            [section, name, field @ ..] if is_named(section) => {
                write!(f, "{section} \"{name}\"")?;
                if !field.is_empty() {
                    write!(f, ", {}", field.join("."))?;
                }
                write!(f, ": {}", self.what)
            }
            path => write!(f, "{}: {}", path.join("."), self.what),
        }
    }
}

/// Sections whose second key is the user's own name.
fn is_named(section: &str) -> bool {
    matches!(
        section,
        "body" | "ancf_beam" | "joint" | "frame" | "wheel" | "loop" | "signal"
    ) || crate::spec::ELEMENT_SECTIONS.contains(&section)
}

/// Everything that can go wrong below the FMI.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Error {
    /// The spec, or the values of the parameters, make no model. All problems at once.
    #[error("{}", list(.0))]
    Spec(Vec<Problem>),
    /// The equations of motion have no solution here.
    #[error("{what}: the inertia that it moves is singular (a massless tip, or a beam that is bent too far?)")]
    Singular {
        /// The joint and its axis, or the body and its mode, counted from one.
        what: String,
    },
    /// The constraints of a loop or a capture, independent where the rank was determined, depend on each other here.
    #[error(
        "{closure}: the mechanism is in a singular position (stretched or folded?), where its motion is not determined"
    )]
    SingularLoop {
        /// Kind and name of the loop or of the contact that captures.
        closure: String,
    },
    /// A run has come to a singular position, or passed one: how it goes on is not determined.
    #[error(
        "{closure}: at t = {t} s the mechanism passes a singular position (stretched or folded?), where it can go on in more than one way and its motion is not \
         determined ({configuration})"
    )]
    SingularPosition {
        /// Kind and name of the loop or of the contact that captures.
        closure: String,
        /// Time, s.
        t: f64,
        /// Coordinates of the joints.
        configuration: String,
    },
    /// The constraint violation of a loop or a capture is beyond its limit.
    #[error(
        "{closure}: at t = {t} s its constraint violation is {offset:.3e} m and {angle:.3e} rad, and the limit is {limit} m or rad: take a smaller tolerance or \
         step, or change monitor.constraint_violation"
    )]
    Violation {
        /// Kind and name of the loop or of the contact that captures.
        closure: String,
        /// Time, s.
        t: f64,
        /// Violation of offsets, m.
        offset: f64,
        /// Violation of angles, rad.
        angle: f64,
        /// The limit, m or rad.
        limit: f64,
    },
    /// The energy balance is off by more than its limit.
    #[error(
        "at t = {t} s the energy balance is off by {off:.3e} J, {part:.3e} of the largest kinetic energy and work so far, and the limit is {limit}: take a \
         smaller tolerance or step, or change monitor.energy_balance"
    )]
    Balance {
        /// Time, s.
        t: f64,
        /// Error of the balance, J.
        off: f64,
        /// That error as a part of the largest kinetic energy and work.
        part: f64,
        /// The limit.
        limit: f64,
    },
    /// The start cannot be made to close a loop.
    #[error("loop \"{closure}\": {what}")]
    Assembly {
        /// Name of the loop.
        closure: String,
        /// Why, and what to change.
        what: String,
    },
    /// No static equilibrium was found near the start.
    #[error(
        "no static equilibrium near the start: der({rate}) = {residual:.3e} (SI units) is left; a part that floats or turns freely under a load has none, \
         and a start that is far from one may have to be nearer"
    )]
    NoEquilibrium {
        /// Name of the rate with the largest acceleration.
        rate: String,
        /// That acceleration, rad/s² or m/s².
        residual: f64,
    },
    /// A capture that is commanded at the start failed.
    #[error(
        "contact \"{contact}\": \"{}\" is to be captured with \"{}\" at the start and is not, for no impulse ends their relative motion or they are out of reach: \
         the numbers of the start do not fit; a [loop] closes by itself", .frames[0], .frames[1]
    )]
    NotCaptured {
        /// Name of the contact.
        contact: String,
        /// Names of its frames.
        frames: [String; 2],
    },
    /// The formulation, whose name this is, cannot be linearised.
    #[error(
        "the formulation \"{0}\" is not linearised, for it has no tangent coordinates; formulation = \"recursive\" is the same craft"
    )]
    NotLinearised(&'static str),
    /// Two surfaces strike each other again and again, and do not come apart.
    #[error(
        "contact \"{contact}\" chatters at t = {t} s: \"{}\" has struck \"{}\" {strikes} times and does not come off it; what rests on something needs \
         law = \"compliant\", or a capture", .frames[0], .frames[1]
    )]
    Chatter {
        /// Name of the contact.
        contact: String,
        /// Names of its frames.
        frames: [String; 2],
        /// How often they have.
        strikes: i32,
        /// Time, s.
        t: f64,
    },
    /// A state or an acceleration is no longer a finite number.
    #[error("{variable} is not finite at t = {t} s")]
    NotFinite {
        /// Name of the variable.
        variable: String,
        /// Time, s.
        t: f64,
    },
    /// The solver's settings make no integrator.
    #[error("the solver: {0}")]
    Solver(String),
    /// The integrator gave up.
    #[error("integration stopped at t = {t} s: {what}")]
    Integration {
        /// Time reached, s.
        t: f64,
        /// Why, with the name of the state to blame.
        what: String,
    },
    /// The work limit was reached before the end of the step.
    #[error(
        "work limit of {limit} evaluations reached at t = {t} s: raise `solver.work_limit`, or take method = \"radau5\" or \"auto\" if the craft is stiff"
    )]
    WorkLimit {
        /// Time reached, s.
        t: f64,
        /// The limit.
        limit: u64,
    },
    /// Bytes that are not a compiled model, or a state of another model.
    #[error("{0}")]
    Format(String),
}

impl Error {
    /// Returns whether the results so far are wrong, so that no smaller step from there helps.
    pub fn is_untrue(&self) -> bool {
        matches!(
            self,
            Self::SingularPosition { .. } | Self::Violation { .. } | Self::Balance { .. }
        )
    }
}

fn list(problems: &[Problem]) -> String {
    problems.iter().map(Problem::to_string).collect::<Vec<_>>().join("\n")
}
