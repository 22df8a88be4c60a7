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
        "body"
            | "nodal_beam"
            | "joint"
            | "frame"
            | "measure"
            | "port"
            | "wheel"
            | "thruster"
            | "line_load"
            | "contact"
            | "grasp"
            | "signal"
    )
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
    /// What captures hold together does not say how it moves here: their rows, which bore apart where it was captured, say the same.
    #[error(
        "contact \"{contact}\": the loop that it closes is in a singular position (stretched or folded?), where what bears it cannot be told"
    )]
    SingularLoop {
        /// Name of a contact in the loop.
        contact: String,
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

fn list(problems: &[Problem]) -> String {
    problems.iter().map(Problem::to_string).collect::<Vec<_>>().join("\n")
}
