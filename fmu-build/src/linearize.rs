//! Linear models: matrices with exact derivatives, and their modes.

use crate::control::Control;
use crate::error::{Error, Result, invalid};
use crate::modes::{Mode, Modes, Perturbations};
use crate::point::Point;
use crate::summaries::unknown;
use crate::text::{aligned, count, number};
use crate::zeros;
use grapple::Event;
use grapple::plant::{Linearisation, Model};
use grapple::system::Quantity;
use nalgebra::DMatrix;
use std::fmt;
use std::sync::Arc;

/// Relative change of an eigenvalue by round-off above which it is reported.
const UNCERTAIN: f64 = 0.01;

/// Number of round-off samples. With four normally distributed samples, the root mean square is
/// below a seventh of the true value in only one case of a thousand.
const SAMPLES: usize = 4;

/// Options of a linearisation; by default it is at the start, with all inputs but switches and
/// commands, and all outputs.
#[derive(Clone, Debug, Default)]
pub struct LinearizeOptions {
    /// Time of the spec's own run, s; not negative.
    pub at: f64,
    /// Inputs, the columns of B and D: names, or `push.f` for `push.f[1..3]`.
    pub inputs: Vec<String>,
    /// Outputs or states, the rows of C and D.
    pub outputs: Vec<String>,
}

/// A linearised model.
pub struct Linearized {
    /// The model, compiled with all signals outside, so that all driven inputs are inputs of it.
    pub model: Arc<Model>,
    /// Time, s.
    pub t: f64,
    /// The matrices, in SI units.
    pub linear: Linearisation,
    /// Values of the inputs at that time, one for each column of B.
    pub u: Vec<f64>,
    /// The modes.
    pub modes: Modes,
    /// Events of commands that are applied at that time.
    pub events: Vec<Event>,
}

/// Linearises a model about a point of the spec's own run.
///
/// # Errors
/// An unknown input or output; a run that fails or is cancelled; a formulation that cannot be
/// linearised; eigenvalues that do not converge.
pub fn linearize(model: &Model, options: &LinearizeOptions, control: &Control) -> Result<Linearized> {
    if !(options.at >= 0.0 && options.at.is_finite()) {
        return Err(invalid!("the time {} s is negative or not finite", options.at));
    }
    let mut spec = model.spec.clone();
    // Signals run outside this model, so that the inputs that they drive are columns of B and D.
    spec.signal.values_mut().for_each(|signal| signal.from_importer = true);
    let model = Arc::new(Model::compile(&spec)?);
    let (mut point, events) = Point::of_run(&model, options.at, control)?;
    let mut linear = point.linearised()?;
    let perturbations = Perturbations {
        round_off: round_off(&linear, &mut point)?,
        gains: gains(&model, &linear, &mut point)?,
    };
    let u = choose(&mut linear, &model, options, &point.u)?;
    Ok(Linearized {
        modes: Modes::of(&linear, &perturbations)?,
        model,
        t: point.t,
        linear,
        u,
        events,
    })
}

/// Returns samples of the round-off of `A`: changes of `A` when the states change by some units of
/// round-off, plus random changes of its entries by their own rounding.
fn round_off(linear: &Linearisation, point: &mut Point) -> Result<Vec<DMatrix<f64>>> {
    let sample = |seed: usize| {
        // Each state changes by one to four units of round-off, with either sign.
        let units = |i: usize| f64::from([3, -1, 2, -4, 1, -3, 4, -2][(i * (2 * seed + 1) + seed) % 8]);
        let moved: Vec<f64> = (point.x.iter().enumerate())
            .map(|(i, x)| x + x.abs().max(1.0) * f64::EPSILON * units(i))
            .collect();
        let moved = point.linearised_at(&moved)?;
        Ok(moved.A - &linear.A + zeros::round_off(&linear.A.abs(), seed))
    };
    (0..SAMPLES).map(sample).collect()
}

/// Returns the parts of `A` that come from the stabilisation gains α and β of captures, loops,
/// couplings and joints with multipliers; empty for a spacecraft without such constraints.
pub(crate) fn gains(model: &Model, linear: &Linearisation, point: &mut Point) -> Result<Vec<DMatrix<f64>>> {
    let spec = &model.spec;
    let captures = spec.contact.iter().filter(|(_, contact)| contact.law.captures());
    let owners = captures.map(|(name, _)| name).chain(spec.closed_loop.keys());
    let owners = owners.chain(spec.coupling.keys());
    let owners: Vec<&str> = owners.map(String::as_str).chain(["constraints"]).collect();
    let mut parts = Vec::new();
    for gain in ["alpha", "beta"] {
        let names: Vec<String> = owners.iter().map(|owner| format!("{owner}.{gain}")).collect();
        let without = point.linearised_without(&names)?;
        parts.extend(without.map(|without| &linear.A - without.A));
    }
    Ok(parts)
}

/// Keeps the requested inputs and outputs, in the requested order; returns the inputs' values.
pub(crate) fn choose(
    linear: &mut Linearisation,
    model: &Model,
    options: &LinearizeOptions,
    u: &[f64],
) -> Result<Vec<f64>> {
    let columns = if options.inputs.is_empty() {
        (0..u.len()).filter(|&i| !model.inputs[i].is_discrete()).collect()
    } else {
        find("input", &options.inputs, &linear.inputs)?
    };
    linear.B = linear.B.select_columns(&columns);
    linear.D = linear.D.select_columns(&columns);
    linear.inputs = columns.iter().map(|&i| linear.inputs[i].clone()).collect();
    if !options.outputs.is_empty() {
        // States may be requested as outputs too, since the FMU lists them among its outputs.
        let of_states = linear.C.clone().insert_rows(0, model.states.len(), 0.0);
        linear.C = of_states;
        linear.C.rows_mut(0, model.states.len()).copy_from(&linear.T);
        linear.D = linear.D.clone().insert_rows(0, model.states.len(), 0.0);
        linear.outputs = model.states.iter().chain(&linear.outputs).cloned().collect();
        let rows = find("output", &options.outputs, &linear.outputs)?;
        linear.C = linear.C.select_rows(&rows);
        linear.D = linear.D.select_rows(&rows);
        linear.outputs = rows.iter().map(|&i| linear.outputs[i].clone()).collect();
    }
    Ok(columns.iter().map(|&i| u[i]).collect())
}

/// Returns the indices of the quantities with these names; `push.f` means all components
/// `push.f[1]`, `push.f[2]` and so on.
fn find(what: &str, names: &[String], quantities: &[Quantity]) -> Result<Vec<usize>> {
    let mut found = Vec::new();
    for name in names {
        let is = |q: &Quantity| q.name == *name || q.name.split_once('[').is_some_and(|(vector, _)| vector == name);
        let before = found.len();
        found.extend((0..quantities.len()).filter(|&i| is(&quantities[i])));
        if found.len() == before {
            let names = quantities.iter().map(|q| q.name.as_str());
            return Err(Error::Invalid(unknown(what, name, names)));
        }
    }
    Ok(found)
}

/// Prints a table with one line for each mode.
impl fmt::Display for Linearized {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { linear, modes, .. } = self;
        let participants: Vec<Quantity> = linear.participants().cloned().collect();
        let title = ["mode", "Hz", "damping ratio", "", "participation", "driven by"].map(str::to_owned);
        let row = |(i, mode): (usize, &Mode)| {
            [
                (i + 1).to_string(),
                number(mode.frequency(), 6),
                number(mode.damping() + 0.0, 4),
                if mode.closes_gaps {
                    "constraint stabilisation"
                } else {
                    mode.stability()
                }
                .to_owned(),
                greatest(&participants, &mode.participation, |part| {
                    format!(" {:.0} %", 100.0 * part)
                }),
                greatest(&linear.inputs, &mode.inputs, |_| String::new()),
            ]
        };
        let rows: Vec<[String; 6]> = std::iter::once(title)
            .chain(modes.modes.iter().enumerate().map(row))
            .collect();
        let zeros = count(modes.zeros, "zero eigenvalue");
        writeln!(f, "{zeros} (rigid-body modes; rates of locked joints)")?;
        if !modes.modes.is_empty() {
            f.write_str(&aligned(&rows))?;
        }
        notes(modes).iter().try_for_each(|note| writeln!(f, "note: {note}"))
    }
}

/// Returns notes on modes and eigenvalues that round-off may hide or change.
fn notes(modes: &Modes) -> Vec<String> {
    let mut notes = Vec::new();
    if modes.numerical_zeros > 0 {
        notes.push(format!(
            "{} to round-off only: a mode slower than about {} Hz would be counted among them",
            match modes.numerical_zeros {
                1 => "1 of the eigenvalues is zero".to_owned(),
                several => format!("{several} of the eigenvalues are zero"),
            },
            number(modes.resolution, 1)
        ));
    }
    let uncertain = modes.modes.iter().enumerate();
    notes.extend(
        uncertain
            .filter(|(_, mode)| mode.round_off > UNCERTAIN)
            .map(|(i, mode)| {
                format!(
                    "mode {}: round-off of the matrix changes its eigenvalue by about {} %",
                    i + 1,
                    number(100.0 * mode.round_off, 1)
                )
            }),
    );
    notes
}

/// Returns the names of the largest parts, up to three of at least 5 %, each with its formatted
/// value.
fn greatest(names: &[Quantity], parts: &[f64], format: impl Fn(f64) -> String) -> String {
    let mut order: Vec<usize> = (0..parts.len()).filter(|&i| parts[i] >= 0.05).collect();
    order.sort_by(|&a, &b| parts[b].total_cmp(&parts[a]));
    let parts_with_names = order
        .iter()
        .take(3)
        .map(|&i| format!("{}{}", names[i].name, format(parts[i])));
    parts_with_names.collect::<Vec<_>>().join(", ")
}
