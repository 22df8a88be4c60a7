use std::fmt;

/// A fault of a spec or of a parameter value: its position in the spec, and a description.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Path of the field in the spec, e.g. `["joint", "elbow", "axis"]`; or one entry
    /// `"@<start>-<end>"` with the byte range of a TOML error.
    pub at: Vec<String>,
    /// Description of the fault, with the faulty value.
    pub what: String,
}

impl Problem {
    /// Returns true if the path begins with `section` and `name`.
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

/// Returns true if the second key of the section is a name that the user chooses.
fn is_named(section: &str) -> bool {
    matches!(
        section,
        "body" | "ancf_beam" | "joint" | "frame" | "wheel" | "loop" | "signal" | "mount" | "contact_group"
    ) || crate::spec::ELEMENT_SECTIONS.contains(&section)
}

/// Error of the library below the FMI module.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Error {
    /// The spec or the parameter values are invalid; all problems are listed.
    #[error("{}", list(.0))]
    Spec(Vec<Problem>),
    /// The equations of motion have no solution: a degree of freedom has zero inertia.
    #[error(
        "{what}: its inertia is singular, so its acceleration is undefined: check for a massless tip or a beam that is \
        bent too far"
    )]
    Singular {
        /// The joint and its axis, or the body and its mode, counted from one.
        what: String,
    },
    /// The damped inverse of a task's Jacobian is singular to round-off.
    #[error(
        "task \"{task}\": its Jacobian is singular, and the damping too small for an inverse: raise {task}.damping"
    )]
    SingularTask {
        /// Name of the task.
        task: String,
    },
    /// Constraint rows of a loop or a capture have become linearly dependent, or redundant rows
    /// independent, since their rank was determined.
    #[error(
        "{closure}: the mechanism is in a singular position (stretched or folded?), where its motion is not determined"
    )]
    SingularLoop {
        /// Kind and name of the loop or of the contact that captures.
        closure: String,
    },
    /// The run has reached or passed a singular position: several continuations of the motion
    /// satisfy the equations.
    #[error(
        "{closure}: at t = {} s the mechanism passes a singular position (stretched or folded?), where several continuations \
        satisfy the constraints and its motion is not determined ({configuration})", instant(*.t)
    )]
    SingularPosition {
        /// Kind and name of the loop or of the contact that captures.
        closure: String,
        /// Time, s.
        t: f64,
        /// Coordinates of the joints, as text.
        configuration: String,
    },
    /// The constraint violation of a loop or a capture exceeds `monitor.constraint_violation`.
    #[error(
        "{closure}: at t = {} s its constraint violation is {offset:.3e} m and {angle:.3e} rad, and the limit is {limit} m or \
        rad: use a smaller tolerance or step, or raise monitor.constraint_violation", instant(*.t)
    )]
    Violation {
        /// Kind and name of the loop or of the contact that captures.
        closure: String,
        /// Time, s.
        t: f64,
        /// Violation in translation, m.
        offset: f64,
        /// Violation in rotation, rad.
        angle: f64,
        /// The limit, m or rad.
        limit: f64,
    },
    /// The error of the energy balance exceeds `monitor.energy_balance`.
    #[error(
        "at t = {} s {}; the limit is {limit} of the largest kinetic energy and work so far: use a smaller tolerance or step, \
        or raise monitor.energy_balance", instant(*.t), balance_error(*.off, *.part)
    )]
    Balance {
        /// Time, s.
        t: f64,
        /// Change since the start of the energy less the work of loads without potential, J.
        off: f64,
        /// That error, relative to the largest kinetic energy plus work so far.
        part: f64,
        /// The limit of `part`.
        limit: f64,
    },
    /// No start near the one in the spec closes all loops.
    #[error("loop \"{closure}\": {what}")]
    Assembly {
        /// Name of the loop.
        closure: String,
        /// The reason, and the change that the user can make.
        what: String,
    },
    /// The search for a static equilibrium near the start has failed.
    #[error(
        "no static equilibrium was found near the start: der({rate}) = {residual:.3e} (SI units) remains. A part that floats or \
        turns freely under a load has no equilibrium; otherwise use a start nearer to the equilibrium"
    )]
    NoEquilibrium {
        /// Name of the rate with the largest remaining acceleration.
        rate: String,
        /// That acceleration, rad/s² or m/s².
        residual: f64,
    },
    /// A capture that is commanded at the start did not take place, for a contact without surfaces.
    #[error(
        "contact \"{contact}\": \"{}\" cannot capture \"{}\" at the start: they are out of reach, two beams are inclined, or no \
        impulse ends their relative motion; correct the start values, or use a [loop], whose start is assembled", .frames[0], .frames[1]
    )]
    NotCaptured {
        /// Name of the contact.
        contact: String,
        /// Names of its frames.
        frames: [String; 2],
    },
    /// The formulation with this name cannot be linearised: it has no tangent coordinates.
    #[error(
        "the formulation \"{0}\" cannot be linearised: it has no tangent coordinates; use formulation = \"recursive\", which \
        has the same dynamics"
    )]
    NotLinearised(&'static str),
    /// Two surfaces had too many impacts without separation: impulses cannot model resting contact.
    #[error(
        "contact \"{contact}\" chatters at t = {} s: {impacts} impacts of \"{}\" on \"{}\" without separation; impulses cannot \
        model resting contact: use rest = 0.01 (m/s), law = \"compliant\", or a capture", instant(*.t), .frames[0], .frames[1]
    )]
    Chatter {
        /// Name of the contact.
        contact: String,
        /// Names of its frames.
        frames: [String; 2],
        /// Number of impacts since the surfaces were last separated.
        impacts: i32,
        /// Time, s.
        t: f64,
    },
    /// The friction of a contact that slides presses it into the surface: Painlevé's paradox.
    #[error(
        "contact \"{contact}\" jams at t = {} s: the friction of \"{}\" sliding on \"{}\" presses the point into the surface \
        more than the normal force lifts it (Painlevé's paradox), and rigid bodies have no contact force: reduce `mu`, or use \
        law = \"compliant\"", instant(*.t), .frames[0], .frames[1]
    )]
    Jammed {
        /// Name of the contact.
        contact: String,
        /// Names of its frames.
        frames: [String; 2],
        /// Time, s.
        t: f64,
    },
    /// No forces of the points of resting contacts were found.
    #[error(
        "contact \"{contact}\" at t = {} s: no forces between \"{}\" and \"{}\" and the points in contact with them were \
        found that satisfy Coulomb's law: reduce `mu`, or use law = \"compliant\"", instant(*.t), .frames[0], .frames[1]
    )]
    NoContactForce {
        /// Name of the contact with the largest residual.
        contact: String,
        /// Names of its frames.
        frames: [String; 2],
        /// Time, s.
        t: f64,
    },
    /// A state or an acceleration is no longer a finite number.
    #[error("{variable} is not finite at t = {} s", instant(*.t))]
    NotFinite {
        /// Name of the variable.
        variable: String,
        /// Time, s.
        t: f64,
    },
    /// The solver's settings are invalid.
    #[error("the solver: {0}")]
    Solver(String),
    /// The integrator cannot continue the run.
    #[error("integration stopped at t = {} s: {what}", instant(*.t))]
    Integration {
        /// Time reached, s.
        t: f64,
        /// The reason, with the name of the failing state if there is one.
        what: String,
    },
    /// The work limit was reached before the end of the communication step.
    #[error(
        "work limit of {limit} evaluations reached at t = {} s: raise `solver.work_limit`, use longer fixed steps, or \
        method = \"radau5\" or \"auto\" if the model is stiff", instant(*.t)
    )]
    WorkLimit {
        /// Time reached, s.
        t: f64,
        /// Largest number of evaluations of the dynamics in one communication step.
        limit: u64,
    },
    /// The caller has ended the integration.
    #[error("interrupted at t = {} s", instant(*.t))]
    Interrupted {
        /// Time reached, s.
        t: f64,
    },
    /// A model file of the FMU cannot be written, or cannot be read as a model.
    #[error("{0}")]
    Format(String),
}

impl Error {
    /// Returns true if the monitoring has found the results up to this time unreliable; a smaller
    /// communication step from there cannot correct them.
    pub fn invalidates_results(&self) -> bool {
        matches!(
            self,
            Self::SingularPosition { .. } | Self::Violation { .. } | Self::Balance { .. }
        )
    }
}

/// Returns a time for a message, s, without the round-off of a sum of steps.
pub(crate) fn instant(t: f64) -> f64 {
    rounded(t, 12)
}

/// Rounds a value to `digits` significant digits, for a message.
pub(crate) fn rounded(value: f64, digits: usize) -> f64 {
    // Adding zero removes the sign of a negative zero.
    format!("{value:.*e}", digits - 1).parse().unwrap_or(value) + 0.0
}

/// Returns the size of an error of the energy balance as text: `off` in J, and relative (`part`) if
/// it is finite.
fn balance_error(off: f64, part: f64) -> String {
    match (off.is_finite(), part.is_finite()) {
        (true, true) => format!("the error of the energy balance is {off:.3e} J, a fraction of {part:.3e}"),
        (true, false) => format!("the error of the energy balance is {off:.3e} J"),
        (false, _) => "the error of the energy balance is not finite".to_owned(),
    }
}

fn list(problems: &[Problem]) -> String {
    problems.iter().map(Problem::to_string).collect::<Vec<_>>().join("\n")
}
