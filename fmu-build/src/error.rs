//! Errors of the library's functions.

use crate::problems::Problems;

/// Result of a library function.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Cause of an error, of any type.
pub type Cause = Box<dyn std::error::Error + Send + Sync>;

/// Error of a library function. The causes of an error are its [`source`](std::error::Error::source)
/// and the sources of that.
#[derive(Debug, thiserror::Error, miette::Diagnostic)]
#[non_exhaustive]
pub enum Error {
    /// Errors in the text of a spec, a study or a URDF file, each with its position.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Problems(#[from] Problems),
    /// The model has no result: a start that cannot be assembled, no equilibrium, a failed
    /// integration, invalid values of parameters.
    #[error(transparent)]
    Model(#[from] grapple::Error),
    /// An argument, or the content of a file, is not valid for this model: an unknown name, a value
    /// out of range, an output file that is an input file, an FMU that cannot be used.
    #[error("{0}")]
    Invalid(String),
    /// Message of an FMU about a failed call.
    #[error("{0}")]
    Fmu(String),
    /// The eigenvalues or singular values of a matrix do not converge.
    #[error("{0}")]
    Numerics(String),
    /// An operation failed for another reason.
    #[error("{what}")]
    Failed {
        /// The operation, e.g. "cannot read arm.toml".
        what: String,
        /// The reason.
        #[source]
        cause: Cause,
    },
    /// An error of the system or of a file format, without further context.
    #[error(transparent)]
    Other(Cause),
    /// The work was [cancelled](crate::Control::cancel); the text reports how much of it is done.
    #[error("interrupted {0}")]
    Interrupted(String),
}

impl Error {
    /// Returns the error and its causes.
    pub fn chain(&self) -> impl Iterator<Item = &dyn std::error::Error> {
        std::iter::successors(Some(self as &dyn std::error::Error), |error| error.source())
    }

    /// Returns the error and its causes in one line.
    pub fn in_line(&self) -> String {
        let causes = self.chain().map(|error| error.to_string().replace('\n', "; "));
        causes.collect::<Vec<_>>().join(": ")
    }
}

/// Creates an [`Error::Invalid`] from a format and its arguments.
macro_rules! invalid {
    ($($text:tt)*) => {
        $crate::Error::Invalid(format!($($text)*))
    };
}
pub(crate) use invalid;

/// Conversion of errors of other crates.
pub(crate) trait Context<T> {
    /// Converts the error to [`Error::Other`], without context.
    fn other(self) -> Result<T>;
    /// Converts the error to [`Error::Failed`]; `what` is the operation that failed.
    fn context<S: Into<String>>(self, what: impl FnOnce() -> S) -> Result<T>;
}

impl<T, E: Into<Cause>> Context<T> for std::result::Result<T, E> {
    fn other(self) -> Result<T> {
        self.map_err(|error| Error::Other(error.into()))
    }

    fn context<S: Into<String>>(self, what: impl FnOnce() -> S) -> Result<T> {
        self.map_err(|cause| Error::Failed {
            what: what().into(),
            cause: cause.into(),
        })
    }
}
