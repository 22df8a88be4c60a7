//! Checks and runs a spec in a browser, as a program of WebAssembly with WASI: the page gives it a
//! file system in memory, and reads JSON from its standard output, one object a line.
//!
//! ```text
//! playground check SPEC                       one object: Checked
//! playground run SPEC LIMIT PAGE [TABLE]      Checked, Progress …, Ended; files PAGE and TABLE
//! ```
//!
//! LIMIT is the computing time in s after which a run ends at its next communication point.

use fmu_build::check::remarks;
use fmu_build::diagnostics::Diagnostics;
use fmu_build::fmu::Fmu;
use fmu_build::simulate::{SimulateOptions, simulate};
use fmu_build::summaries::contents;
use fmu_build::{CompiledSpec, Control, Error, report};
use serde::Serialize;
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Time between two reports of the progress.
const REPORTS: Duration = Duration::from_millis(50);

/// Result of the validation of a spec.
#[derive(Default, Serialize)]
struct Checked {
    /// Errors; none for a valid spec.
    problems: Vec<Located>,
    /// Warnings, each with its position at its end, as `grapple check` prints them.
    warnings: Vec<String>,
    /// Numbers of bodies, joints, states, inputs and outputs of a valid spec.
    summary: String,
}

/// An error with its position.
#[derive(Serialize)]
struct Located {
    text: String,
    /// Name of the file: the spec, or one that it includes.
    file: String,
    /// Line and column, both from one.
    position: Option<(usize, usize)>,
}

/// Progress of a run, s.
#[derive(Serialize)]
struct Progress {
    time: f64,
    stop: f64,
}

/// End of a run.
#[derive(Default, Serialize)]
struct Ended {
    /// Run diagnostics in one line.
    diagnostics: String,
    /// Number of rows of the results.
    rows: usize,
    /// Events and messages, each in one line.
    messages: Vec<String>,
    /// Reason why the run could not start, or ended early.
    failure: Option<String>,
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        ["check", spec] => {
            print(&checked(&CompiledSpec::read(Path::new(spec))));
            ExitCode::SUCCESS
        }
        ["run", spec, limit, page, ref table @ ..] if table.len() <= 1 => {
            let compiled = CompiledSpec::read(Path::new(spec));
            print(&checked(&compiled));
            if let Ok(compiled) = compiled {
                let limit = Duration::from_secs_f64(limit.parse().unwrap_or(f64::MAX).clamp(0.0, 1e9));
                print(
                    &run(&compiled, limit, page, table.first()).unwrap_or_else(|error| Ended {
                        failure: Some(error.in_line()),
                        ..Ended::default()
                    }),
                );
            }
            ExitCode::SUCCESS
        }
        _ => {
            eprintln!("playground check SPEC, or playground run SPEC LIMIT PAGE [TABLE]");
            ExitCode::from(2)
        }
    }
}

/// Prints an object as one line.
fn print(object: &impl Serialize) {
    let line = serde_json::to_string(object).unwrap_or_default();
    // The reader may have ended; then nobody needs the line.
    let _ = writeln!(std::io::stdout(), "{line}");
}

/// Returns the errors of a spec, or the warnings about a valid one.
fn checked(compiled: &Result<CompiledSpec, Error>) -> Checked {
    match compiled {
        Err(Error::Problems(problems)) => Checked {
            problems: problems
                .located()
                .map(|(text, file, position)| Located::new(text, file, position))
                .collect(),
            ..Checked::default()
        },
        Err(error) => Checked {
            problems: vec![Located::new(&error.in_line(), "", None)],
            ..Checked::default()
        },
        Ok(compiled) => Checked {
            warnings: (remarks(compiled)
                .map(|remarks| remarks.warnings)
                .unwrap_or_default()
                .into_iter())
            .chain(compiled.unused.iter().cloned())
            .collect(),
            summary: contents(&compiled.model),
            ..Checked::default()
        },
    }
}

impl Located {
    fn new(text: &str, file: &str, position: Option<(usize, usize)>) -> Self {
        Self {
            text: text.to_owned(),
            file: file.to_owned(),
            position,
        }
    }
}

/// Runs a spec as its FMU runs in Co-Simulation, and writes the page and the table.
///
/// # Errors
/// Too many steps or values; a file that cannot be written.
fn run(compiled: &CompiledSpec, limit: Duration, page: &str, table: Option<&&str>) -> Result<Ended, Error> {
    let fmu = Fmu::in_process(compiled)?;
    let (begun, is_over) = (Instant::now(), AtomicBool::new(false));
    let mut reported = Duration::ZERO;
    let mut progress = |time, stop| {
        let elapsed = begun.elapsed();
        is_over.store(elapsed > limit, Ordering::Relaxed);
        if elapsed >= reported + REPORTS {
            reported = elapsed;
            print(&Progress { time, stop });
        }
    };
    let control = Control {
        progress: Some(&mut progress),
        cancel: Some(&is_over),
    };
    let run = simulate(&fmu, &SimulateOptions::default(), control)?;
    write(page, report::page(&fmu, &run).as_bytes())?;
    if let Some(table) = table {
        let mut bytes = Vec::new();
        let written = run.results.table().write_csv(&mut bytes);
        written.map_err(|error| Error::Other(error.into()))?;
        write(table, &bytes)?;
    }
    let events = run.events.iter().map(ToString::to_string);
    Ok(Ended {
        diagnostics: Diagnostics::of(&fmu.model.spec, &run).line(),
        rows: run.results.time.len(),
        messages: events.chain(run.messages.iter().cloned()).collect(),
        failure: run.failure.map(|failure| match failure {
            Error::Interrupted(at) => format!(
                "ended {at}, after {} s of computing, the limit here; the program grapple has none",
                limit.as_secs_f64()
            ),
            other => other.in_line(),
        }),
    })
}

fn write(file: &str, bytes: &[u8]) -> Result<(), Error> {
    std::fs::write(file, bytes).map_err(|error| Error::Failed {
        what: format!("cannot write {file}"),
        cause: error.into(),
    })
}
