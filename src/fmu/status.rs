//! Status of a call, common to the versions of the standard.

/// Outcome of a call; the C interfaces convert it to `fmi2Status` and `fmi3Status`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Status {
    /// Success.
    Ok,
    /// A smaller step could succeed, or the requested information does not exist.
    Discard,
    /// The call had no effect.
    Error,
    /// The instance is lost.
    Fatal,
}
