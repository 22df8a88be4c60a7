//! Errors of the library as exceptions of Python.

use fmu_build::Error;
use grapple::fmu::component::Fault;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;

/// A problem: message, file, line and column, which count from one.
pub type Problem = (String, Option<String>, Option<usize>, Option<usize>);

static GRAPPLE_ERROR: PyOnceLock<Py<PyAny>> = PyOnceLock::new();

/// Creates a `GrappleError` with a message and problems.
fn exception(py: Python<'_>, message: String, problems: Vec<Problem>) -> PyErr {
    let class = GRAPPLE_ERROR.get_or_try_init(py, || {
        let module = py.import("grapple_fmu._errors")?;
        module.getattr("GrappleError").map(Bound::unbind)
    });
    match class.and_then(|class| class.call1(py, (message, problems))) {
        Ok(error) => PyErr::from_value(error.into_bound(py)),
        Err(error) => error,
    }
}

/// Creates a `GrappleError` with a message that is also its only problem.
pub fn error(py: Python<'_>, message: impl Into<String>) -> PyErr {
    let message = message.into();
    exception(py, message.clone(), vec![(message, None, None, None)])
}

/// Returns the problems of an error, each with its position.
pub fn problems(error: &Error) -> Vec<Problem> {
    match error {
        Error::Problems(problems) => {
            let located = problems.located();
            let located = located.map(|(what, file, position)| {
                let (line, column) = position.unzip();
                (what.to_owned(), Some(file.to_owned()), line, column)
            });
            located.collect()
        }
        Error::Model(grapple::Error::Spec(problems)) => {
            let problems = problems.iter().map(|problem| (problem.to_string(), None, None, None));
            problems.collect()
        }
        other => vec![(other.in_line(), None, None, None)],
    }
}

/// Converts an error of the library.
pub fn of_library(py: Python<'_>, error: &Error) -> PyErr {
    let problems = problems(error);
    let message = match error {
        Error::Problems(summary) => {
            let lines = problems.iter().map(|(what, file, line, column)| {
                let at = match (file, line, column) {
                    (Some(file), Some(line), Some(column)) => format!("{file}:{line}:{column}: "),
                    (Some(file), ..) => format!("{file}: "),
                    _ => String::new(),
                };
                format!("\n  {at}{what}")
            });
            format!("{summary}{}", lines.collect::<String>())
        }
        other => other.in_line(),
    };
    exception(py, message, problems)
}

/// Converts an error of the model.
pub fn of_model(py: Python<'_>, error: grapple::Error) -> PyErr {
    of_library(py, &Error::Model(error))
}

/// Converts a failed call of an FMU's instance.
pub fn of_fault(py: Python<'_>, fault: Fault) -> PyErr {
    error(py, fault.what)
}
