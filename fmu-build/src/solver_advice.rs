//! Advice on the integration method: fastest modes, speed on this machine, fixed steps.

use crate::modes::{Mode, Modes};
use crate::text::{count, number};
use grapple::Error;
use grapple::event::{Event, Occurrence};
use grapple::plant::{Linearisation, Model, Plant};
use grapple::simulation::Simulation;
use grapple::spec::{self, Capability};
use std::time::{Duration, Instant};

/// Number of modes that are printed.
const FASTEST: usize = 3;

/// Limit of `h|λ|` for the classical Runge–Kutta method: 2.785 for a real eigenvalue, 2.83 for an
/// undamped vibration.
const RK4_LIMIT: f64 = 2.78;

/// Limit of `h ω` for a vibration that `linearly_implicit` treats explicitly: its spectral radius,
/// with two corrections, is below one up to 1.5.
const EXPLICIT_LIMIT: f64 = 1.5;

/// Number of evaluations after which the time of the measurement is looked at.
const WORK_LIMIT: f64 = 5_000.0;

/// Longest measurement of the speed.
const MEASURED: Duration = Duration::from_secs(1);

/// Returns the fastest modes at the start, with their bodies and planes or joints, and the longest
/// stable step of `rk4`; `None` without vibrations.
pub fn of_modes(model: &Model, linear: &Linearisation, modes: &Modes) -> Option<String> {
    let own = modes.modes.iter().filter(|mode| !mode.closes_gaps);
    let mut fastest: Vec<&Mode> = own.rev().take(FASTEST).collect();
    fastest.retain(|mode| mode.frequency() > 0.0);
    let listed: Vec<String> = fastest
        .iter()
        .map(|mode| format!("{} Hz ({})", number(mode.frequency(), 4), owner(model, linear, mode)))
        .collect();
    let radius = modes.modes.iter().map(Mode::frequency).fold(0.0, f64::max) * std::f64::consts::TAU;
    (!listed.is_empty()).then(|| {
        format!(
            "fastest modes at the start: {}; fixed steps: rk4 is stable up to {} ms{}",
            listed.join(", "),
            number(1e3 * RK4_LIMIT / radius, 3),
            linearly_implicit(model, radius)
        )
    })
}

/// Returns the limit of the steps of `linearly_implicit`, if the model has this method; `radius` is
/// the largest angular frequency, rad/s.
fn linearly_implicit(model: &Model, radius: f64) -> String {
    let has_method = model.spec.formulation.has(Capability::LinearlyImplicit) && !model.spec.has_nonlinear_beams();
    let has_gears = model.spec.joint.values().any(|joint| joint.drive_train.is_some());
    match (has_method, has_gears) {
        (false, _) => String::new(),
        (true, false) => ", linearly_implicit is not limited by modes and joints".to_owned(),
        (true, true) => {
            let longest = number(1e3 * EXPLICIT_LIMIT / radius, 3);
            format!(", linearly_implicit up to {longest} ms: it treats gears explicitly")
        }
    }
}

/// Returns the coordinate with the largest part in a mode: "boom1, bending_z 2" for a beam,
/// otherwise its name.
pub fn owner(model: &Model, linear: &Linearisation, mode: &Mode) -> String {
    let parts = mode.participation.iter().zip(linear.participants());
    let Some((_, coordinate)) = parts.max_by(|(a, _), (b, _)| a.total_cmp(b)) else {
        return String::new();
    };
    let name = &coordinate.name;
    of_beam(model, name).unwrap_or_else(|| name.clone())
}

/// Returns "boom1, bending_z 2" for the amplitude `boom1.eta[4]`; `None` for a coordinate that is
/// no amplitude of a beam.
fn of_beam(model: &Model, coordinate: &str) -> Option<String> {
    let (segment, field) = coordinate.rsplit_once('.')?;
    let index: usize = field.strip_prefix("eta[")?.strip_suffix(']')?.parse().ok()?;
    let body = segment.split('[').next()?;
    let counts = model.spec.body.get(body)?.beam.as_ref()?.counts();
    let mut before = 0;
    for (plane, n) in ["bending_y", "bending_z", "torsion", "axial"].into_iter().zip(counts) {
        if index <= before + n {
            return Some(format!("{segment}, {plane} {}", index - before));
        }
        before += n;
    }
    None
}

/// Runs a model from its start, with its signals, for about a second of computing time at most.
/// Returns its method and speed, or the error that ends the run.
///
/// # Errors
/// The simulation cannot be started.
pub fn of_run(model: &Model) -> Result<String, Error> {
    let spec::Experiment { stop_time, step, .. } = model.spec.experiment;
    let mut spec = model.spec.clone();
    spec.signal.values_mut().for_each(|signal| signal.from_importer = false);
    let mut simulation = Simulation::new(Plant::new(Model::compile(&spec)?.into())?)?;
    simulation.initialise(0.0, None, WORK_LIMIT)?;
    let (mut events, begun, mut steps) = (Vec::new(), Instant::now(), 1.0);
    let mut failed = None;
    while simulation.state.t < stop_time && begun.elapsed() < MEASURED {
        match simulation.advance((steps * step).min(stop_time), &mut events) {
            Ok(()) => steps += 1.0,
            Err(Error::WorkLimit { .. }) => {}
            Err(error) => {
                failed = Some(error);
                break;
            }
        }
    }
    let (seconds, t) = (begun.elapsed().as_secs_f64(), simulation.state.t);
    let solver = &model.spec.solver;
    let setting = match solver.step.filter(|_| solver.method.has_fixed_step()) {
        Some(step) => format!("steps of {} ms", number(1e3 * step, 3)),
        None => format!("tolerance {:e}", model.spec.experiment.tolerance),
    };
    let changed = |event: &Event| match &event.what {
        Occurrence::MethodChanged { method } => Some(format!("; {method} from {} s", number(event.t, 3))),
        _ => None,
    };
    let changes: String = events.iter().filter_map(changed).collect();
    Ok(match failed {
        Some(error) => format!(
            "Co-Simulation with {}, {setting}: the run ends. {error}",
            solver.method.name()
        ),
        None => format!(
            "Co-Simulation with {}, {setting}: {} times real time on this machine ({} s in {} s, {}{changes})",
            solver.method.name(),
            number(t / seconds, 2),
            number(t, 3),
            number(seconds, 2),
            count(simulation.statistics().steps as usize, "step"),
        ),
    })
}
