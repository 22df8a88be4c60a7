use crate::compiled_spec::CompiledSpec;
use crate::files::{self, Target};
use crate::matrices::Linear;
use crate::modes::{Mode, Modes, Perturbations};
use crate::signals::DrivenInputs;
use crate::summaries::unknown;
use crate::text::{aligned, count, number, print};
use crate::zeros;
use grapple::plant::OperatingPoint;
use grapple::plant::{Linearisation, Model, Plant};
use grapple::simulation::{Simulation, State};
use grapple::system::Quantity;
use miette::{IntoDiagnostic, Result, bail};
use nalgebra::DMatrix;
use std::path::PathBuf;
use std::sync::Arc;

/// Relative change of an eigenvalue by round-off above which it is reported.
const UNCERTAIN: f64 = 0.01;

/// Number of round-off samples. The root mean square of four normal numbers is below a seventh of
/// the true value in one case of a thousand.
const SAMPLES: usize = 4;

/// Linearize a model: matrices A, B, C, D, natural frequencies and damping.
///
///   grapple linearize my_arm.toml            at the start; into my_arm_linear
///   grapple linearize my_arm.toml --at 2.5   at 2.5 s of the spec's own run
///   grapple linearize my_arm.toml --inputs shoulder.tau --outputs tip.r -o a.npz
///
/// The derivatives are exact. The coordinates are those of small motions: attitudes
/// of free bodies and spherical joints are three small rotations about the body's own
/// axes (base.theta[1..3], rad) instead of a quaternion; the work is omitted. The
/// matrix T in the files maps them to the FMU's states.
///
/// Files: linear.json (everything), A.csv … D.csv, modes.txt (the printed text), and
/// linear.npz:
///
///   z = numpy.load("linear.npz"); z["A"]; z["coordinates"].astype(str)
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Arguments {
    /// A spec
    spec: PathBuf,
    /// Time, s, of the spec's own run; by default its start
    #[arg(long, value_name = "T", default_value_t = 0.0, value_parser = not_negative)]
    at: f64,
    /// Inputs, the columns of B and D: names, or `push.f` for push.f[1..3]; by default all but
    /// switches
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    inputs: Vec<String>,
    /// Outputs, the rows of C and D: outputs or states; by default all outputs
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    outputs: Vec<String>,
    /// A folder for all files, or one file that ends in .json or .npz
    #[arg(long, short, value_name = "PATH")]
    output: Option<PathBuf>,
}

pub fn run(arguments: &Arguments) -> Result<()> {
    let compiled = CompiledSpec::read(&arguments.spec)?;
    let mut spec = compiled.model.spec.clone();
    // An input driven by a signal is an input all the same, also if the signal runs inside the FMU.
    spec.signal.values_mut().for_each(|signal| signal.from_importer = true);
    let model = Arc::new(Model::compile(&spec).into_diagnostic()?);
    let Simulation { mut plant, state, .. } = simulate_to(&model, arguments.at)?;
    let at = OperatingPoint::new(state.t, state.x.as_slice(), state.u.as_slice(), &state.discrete);
    let mut linear = Linearisation::new(&mut plant, at).into_diagnostic()?;
    let perturbations = Perturbations {
        round_off: round_off(&linear, &mut plant, &state)?,
        gains: gains(&linear, &mut plant, &state)?,
    };
    let u = choose(&mut linear, &model, arguments, &state.u)?;
    let modes = Modes::of(&linear, &perturbations)?;

    print(&format!(
        "{} at {} s: {}, {}, {}",
        model.spec.name,
        number(state.t, 6),
        count(linear.coordinates.len(), "coordinate"),
        count(linear.inputs.len(), "input"),
        count(linear.outputs.len(), "output")
    ))?;
    if let Some((rate, change)) = linear.fastest().filter(|(_, change)| change.abs() > 1e-9) {
        print(&format!(
            "not an equilibrium: der({rate}) = {}; the modes are those of the motion at this instant",
            number(change, 3)
        ))?;
    }
    print(table(&linear, &modes).trim_end())?;
    let files = Linear {
        model: &model,
        t: state.t,
        linear: &linear,
        u: &u,
        modes: &modes,
    };
    let default = || PathBuf::from(format!("{}_linear", model.spec.name));
    let output = arguments.output.clone().unwrap_or_else(default);
    let write = |path: PathBuf, bytes: &[u8]| Target::new(path, &compiled.reads)?.write(bytes);
    match output.extension().and_then(|e| e.to_str()) {
        Some("json") => write(output.clone(), files.json().as_bytes())?,
        Some("npz") => write(output.clone(), &files.npz()?)?,
        _ => {
            files::folder(&output)?;
            write(output.join("linear.json"), files.json().as_bytes())?;
            write(output.join("linear.npz"), &files.npz()?)?;
            for (letter, text) in files.csv() {
                write(output.join(format!("{letter}.csv")), text.as_bytes())?;
            }
            write(output.join("modes.txt"), table(&linear, &modes).as_bytes())?;
        }
    }
    print(&format!("{}: A, B, C, D", output.display()))
}

/// Returns samples of the round-off of `A`: its changes when the states change by some units of
/// round-off, and the rounding of its own entries.
fn round_off(linear: &Linearisation, plant: &mut Plant, state: &State) -> Result<Vec<DMatrix<f64>>> {
    let sample = |seed: usize| {
        // One to four units, with either sign.
        let units = |i: usize| f64::from([3, -1, 2, -4, 1, -3, 4, -2][(i * (2 * seed + 1) + seed) % 8]);
        let moved: Vec<f64> = (state.x.iter().enumerate())
            .map(|(i, x)| x + x.abs().max(1.0) * f64::EPSILON * units(i))
            .collect();
        let at = OperatingPoint::new(state.t, moved.as_slice(), state.u.as_slice(), &state.discrete);
        let moved = Linearisation::new(plant, at).into_diagnostic()?;
        Ok(moved.A - &linear.A + zeros::round_off(&linear.A.abs(), seed))
    };
    (0..SAMPLES).map(sample).collect()
}

/// Returns the parts of `A` that come from the stabilisation gains α and β of captures and of
/// joints with multipliers; empty for a spacecraft without such constraints.
fn gains(linear: &Linearisation, plant: &mut Plant, state: &State) -> Result<Vec<DMatrix<f64>>> {
    let model = Arc::clone(plant.model());
    let captures = model.spec.contact.iter().filter(|(_, contact)| contact.law.captures());
    let owners: Vec<&str> = captures.map(|(name, _)| name.as_str()).chain(["constraints"]).collect();
    let written = plant.parameters().to_vec();
    let mut parts = Vec::new();
    for gain in ["alpha", "beta"] {
        let names: Vec<String> = owners.iter().map(|owner| format!("{owner}.{gain}")).collect();
        let mut without = written.clone();
        for (value, parameter) in without.iter_mut().zip(&model.parameters) {
            if names.contains(&parameter.quantity.name) {
                *value = 0.0;
            }
        }
        if without != written {
            plant.set_parameters(&without).into_diagnostic()?;
            let at = OperatingPoint::new(state.t, state.x.as_slice(), state.u.as_slice(), &state.discrete);
            let without = Linearisation::new(plant, at).into_diagnostic()?;
            parts.push(&linear.A - without.A);
        }
    }
    plant.set_parameters(&written).into_diagnostic()?;
    Ok(parts)
}

/// Runs the spec's experiment, with its signals at the inputs, up to the time `t` (s).
fn simulate_to(model: &Arc<Model>, t: f64) -> Result<Simulation> {
    let spec = &model.spec;
    let feed = DrivenInputs::of(spec.signal.iter(), |name| {
        let place = model.inputs.iter().position(|input| input.quantity.name == name)?;
        Some((place as u32, model.inputs[place].discrete))
    });
    let inputs: Vec<usize> = feed.references.iter().map(|&input| input as usize).collect();
    let mut simulation = Simulation::new(Plant::new(Arc::clone(model)).into_diagnostic()?).into_diagnostic()?;
    simulation.initialise(0.0, None, 1e18).into_diagnostic()?;
    let set = |values: Vec<f64>, to: &mut [f64]| inputs.iter().zip(values).for_each(|(&i, value)| to[i] = value);
    let (mut now, mut steps) = (0.0, 1.0);
    while now < t {
        let stop = feed.next_stop(now, (steps * spec.experiment.step).min(t));
        set(feed.values(now), &mut simulation.state.u);
        for (order, values) in simulation
            .state
            .u_derivatives
            .iter_mut()
            .zip(feed.derivatives(now, stop - now))
        {
            set(values, order);
        }
        simulation.invalidate();
        simulation.advance(stop, &mut Vec::new()).into_diagnostic()?;
        if stop >= steps * spec.experiment.step {
            steps += 1.0;
        }
        now = stop;
    }
    set(feed.values(now), &mut simulation.state.u);
    // Applies the commands that are pending now.
    let State { t, x, u, discrete, .. } = &mut simulation.state;
    let mut messages = Vec::new();
    simulation
        .plant
        .update(*t, x, u, discrete, &mut messages)
        .into_diagnostic()?;
    messages.iter().try_for_each(|message| print(&message.to_string()))?;
    Ok(simulation)
}

/// Keeps the requested inputs and outputs in their order; returns the inputs' values.
fn choose(linear: &mut Linearisation, model: &Model, arguments: &Arguments, u: &[f64]) -> Result<Vec<f64>> {
    let columns = if arguments.inputs.is_empty() {
        (0..u.len()).filter(|&i| !model.inputs[i].discrete).collect()
    } else {
        find("input", &arguments.inputs, &linear.inputs)?
    };
    linear.B = linear.B.select_columns(&columns);
    linear.D = linear.D.select_columns(&columns);
    linear.inputs = columns.iter().map(|&i| linear.inputs[i].clone()).collect();
    if !arguments.outputs.is_empty() {
        // States may be requested too: the FMU lists them among its outputs.
        let of_states = linear.C.clone().insert_rows(0, model.states.len(), 0.0);
        linear.C = of_states;
        linear.C.rows_mut(0, model.states.len()).copy_from(&linear.T);
        linear.D = linear.D.clone().insert_rows(0, model.states.len(), 0.0);
        linear.outputs = model.states.iter().chain(&linear.outputs).cloned().collect();
        let rows = find("output", &arguments.outputs, &linear.outputs)?;
        linear.C = linear.C.select_rows(&rows);
        linear.D = linear.D.select_rows(&rows);
        linear.outputs = rows.iter().map(|&i| linear.outputs[i].clone()).collect();
    }
    Ok(columns.iter().map(|&i| u[i]).collect())
}

/// Returns the indices of the quantities with these names; `push.f` stands for `push.f[1]` and all
/// that follow.
fn find(what: &str, names: &[String], quantities: &[Quantity]) -> Result<Vec<usize>> {
    let mut found = Vec::new();
    for name in names {
        let is = |q: &Quantity| q.name == *name || q.name.split_once('[').is_some_and(|(vector, _)| vector == name);
        let before = found.len();
        found.extend((0..quantities.len()).filter(|&i| is(&quantities[i])));
        if found.len() == before {
            bail!(unknown(what, name, quantities.iter().map(|q| q.name.as_str())));
        }
    }
    Ok(found)
}

/// Returns one line for each mode.
fn table(linear: &Linearisation, modes: &Modes) -> String {
    let pairs = &linear.coordinates[..linear.coordinates.len() / 2];
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
            greatest(pairs, &mode.participation, |part| format!(" {:.0} %", 100.0 * part)),
            greatest(&linear.inputs, &mode.inputs, |_| String::new()),
        ]
    };
    let rows: Vec<[String; 6]> = std::iter::once(title)
        .chain(modes.modes.iter().enumerate().map(row))
        .collect();
    let mut text = format!(
        "{} (rigid-body modes; rates of locked joints)\n",
        count(modes.zeros, "zero eigenvalue")
    );
    if !modes.modes.is_empty() {
        text += &aligned(&rows);
    }
    notes(modes).iter().for_each(|note| text += &format!("note: {note}\n"));
    text
}

/// Returns notes on frequencies and eigenvalues that are hidden by round-off.
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

/// Returns up to three of the largest parts above a twentieth, with their names.
fn greatest(names: &[Quantity], parts: &[f64], format: impl Fn(f64) -> String) -> String {
    let mut order: Vec<usize> = (0..parts.len()).filter(|&i| parts[i] >= 0.05).collect();
    order.sort_by(|&a, &b| parts[b].total_cmp(&parts[a]));
    let parts_with_names = order
        .iter()
        .take(3)
        .map(|&i| format!("{}{}", names[i].name, format(parts[i])));
    parts_with_names.collect::<Vec<_>>().join(", ")
}

fn not_negative(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if value >= 0.0 && value.is_finite() => Ok(value),
        _ => Err("expected a time that is not negative".to_owned()),
    }
}
