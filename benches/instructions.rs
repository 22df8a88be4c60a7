//! Instructions per call of the kernels of a run: identical in every run with the same compiler,
//! whatever the load of the machine.
//!
//! `cargo bench --bench instructions` runs each kernel in Valgrind's callgrind. It fails if a count
//! deviates by more than 5 % from `benches/instructions.csv`, upwards or downwards (too high a
//! record would hide a later increase), or if that file is from another compiler. `cargo bench
//! --bench instructions -- --record` rewrites the file.

mod chain;
mod spacecraft;

use chain::{chain, with_payload};
use grapple::plant::{Direction, Discrete, Model, OperatingPoint, Plant, StateJacobian, Tangent};
use grapple::simulation::Simulation;
use spacecraft::{STATES, Spacecraft, read};
use std::hint::black_box;
use std::path::Path;
use std::process::{Command, ExitCode};

/// Largest relative deviation of a kernel's count from the record.
const SCATTER: f64 = 0.05;
const RECORD: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/instructions.csv");

const TWO_LINK: &str = include_str!("../examples/two_link.toml");
const SSRMS_FLEXIBLE: &str = include_str!("../examples/ssrms_flexible.toml");

/// A kernel: its name, the number of calls in one run of it, and its constructor.
type Kernel = (&'static str, usize, fn() -> Box<dyn FnMut()>);

const KERNELS: [Kernel; 14] = [
    ("derivative of two_link", STATES, || derivative(TWO_LINK)),
    ("derivative of ssrms_type", STATES, || {
        derivative(include_str!("../examples/ssrms_type.toml"))
    }),
    ("derivative of ssrms_flexible", STATES, || derivative(SSRMS_FLEXIBLE)),
    ("derivative of a chain of 50", STATES, || derivative(&chain(50))),
    ("derivative of an arm with a captured payload", STATES, || {
        derivative(&with_payload(Some("capture_grasp")))
    }),
    ("derivative of servicer_orbit", STATES, || {
        derivative(include_str!("../examples/servicer_orbit.toml"))
    }),
    ("derivative of tasks/reach", STATES, || {
        derivative(include_str!("../examples/tasks/reach.toml"))
    }),
    ("derivative of beam_in_grasp", STATES, || {
        derivative(include_str!("../examples/beam_in_grasp.toml"))
    }),
    ("derivative of klak_2020_quaternion", STATES, || {
        derivative(include_str!("../examples/klak_2020_quaternion.toml"))
    }),
    ("derivative of valverde_2018", STATES, || {
        derivative(include_str!("../examples/valverde_2018.toml"))
    }),
    ("one direction of ssrms_flexible", 1, along),
    ("state Jacobian of a chain of 12", 1, state_jacobian),
    ("conserving step of two_link", 1, || {
        step(&format!(
            "formulation = \"natural\"\n{TWO_LINK}\n[solver]\nmethod = \"conserving\"\nstep = 0.01\n"
        ))
    }),
    ("linearly implicit step of ssrms_flexible", 1, || {
        step(&format!(
            "{SSRMS_FLEXIBLE}\n[solver]\nmethod = \"linearly_implicit\"\nstep = 0.01\n"
        ))
    }),
];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let Some(name) = arguments
        .iter()
        .position(|word| word == "--kernel")
        .and_then(|at| arguments.get(at + 1))
    {
        let (.., make) = KERNELS
            .iter()
            .find(|(of, ..)| of == name)
            .expect("a kernel of that name");
        let mut kernel = make();
        // The first call is not counted: it includes one-time work.
        kernel();
        counted(&mut *kernel);
        return ExitCode::SUCCESS;
    }
    match compare(arguments.iter().any(|word| word == "--record")) {
        Ok(all_well) => ExitCode::from(u8::from(!all_well)),
        Err(problem) => {
            eprintln!("{problem}");
            ExitCode::FAILURE
        }
    }
}

/// The function that callgrind counts.
#[inline(never)]
fn counted(kernel: &mut dyn FnMut()) {
    kernel();
}

/// Counts all kernels and prints them; returns whether all are within the allowed deviation.
fn compare(record: bool) -> Result<bool, String> {
    let compiler = Command::new("rustc")
        .arg("--version")
        .output()
        .map_err(|e| format!("rustc: {e}"))?;
    let compiler = String::from_utf8_lossy(&compiler.stdout).trim().to_owned();
    let written = std::fs::read_to_string(RECORD).unwrap_or_default();
    let (heading, rows) = written.split_once('\n').unwrap_or_default();
    let same_compiler = heading == format!("kernel,instructions with {compiler}");
    let mut new = format!("kernel,instructions with {compiler}\n");
    let mut all_well = true;
    println!("{:48} {:>12} {:>12}", "instructions per call", "now", "recorded");
    for (name, calls, _) in KERNELS {
        let now = count(name)? / calls as u64;
        let before = rows
            .lines()
            .find_map(|row| row.strip_prefix(name)?.strip_prefix(',')?.parse::<u64>().ok());
        let change = before.map(|before| now as f64 / before as f64 - 1.0);
        let text = change.map_or("not recorded".to_owned(), |change| format!("{:+.1} %", 100.0 * change));
        println!("{name:48} {now:12} {:>12} {text}", before.unwrap_or(0));
        all_well &= change.is_some_and(|change| change.abs() <= SCATTER);
        new += &format!("{name},{now}\n");
    }
    if record {
        std::fs::write(RECORD, new).map_err(|e| format!("{RECORD}: {e}"))?;
        return Ok(true);
    }
    if !same_compiler {
        println!("{RECORD} was recorded with another compiler than {compiler}: compare by hand, and record again.");
    } else if !all_well {
        println!(
            "More than {} % from the record, or not recorded: find the cause, and record justified changes.",
            100.0 * SCATTER
        );
    }
    Ok(all_well && same_compiler)
}

/// Returns the instructions of one run of a kernel.
fn count(kernel: &str) -> Result<u64, String> {
    let this = std::env::current_exe().map_err(|e| e.to_string())?;
    let run = Command::new("valgrind")
        .args([
            "--tool=callgrind",
            "--callgrind-out-file=/dev/null",
            "--collect-atstart=no",
            "--toggle-collect=*counted*",
        ])
        .arg(this)
        .args(["--kernel", kernel])
        .output()
        .map_err(|e| format!("valgrind: {e}; Debian's package is called valgrind"))?;
    let text = String::from_utf8_lossy(&run.stderr);
    let collected = text
        .lines()
        .find_map(|line| line.split_once("Collected :")?.1.trim().parse().ok());
    collected
        .filter(|&collected| run.status.success() && collected > 0)
        .ok_or_else(|| format!("{kernel}:\n{text}"))
}

fn derivative(text: &str) -> Box<dyn FnMut()> {
    let mut spacecraft = Spacecraft::new(&read(text));
    Box::new(move || spacecraft.sweep())
}

/// Returns a plant at its start: states, inputs, discrete state.
fn at_start(text: &str) -> (Plant, Vec<f64>, Vec<f64>, Discrete) {
    let model = Model::read(text, Path::new(".")).unwrap_or_else(|e| panic!("{e}"));
    let (mut x, u) = (vec![0.0; model.states.len()], vec![0.3; model.inputs.len()]);
    let mut discrete = model.discrete();
    let mut plant = Plant::new(model.into()).unwrap_or_else(|e| panic!("{e}"));
    plant.start(0.0, &mut x, &mut discrete).expect("closed");
    (plant, x, u, discrete)
}

fn along() -> Box<dyn FnMut()> {
    let (plant, x, u, discrete) = at_start(include_str!("../examples/ssrms_flexible.toml"));
    let mut tangent = Tangent::<1>::new(plant.model());
    let seeds = (vec![1.0; x.len()], vec![1.0; u.len()]);
    let (mut dx, mut y) = (vec![0.0; x.len()], vec![0.0; plant.model().outputs.len()]);
    Box::new(move || {
        let at = OperatingPoint::new(0.0, x.as_slice(), u.as_slice(), &discrete);
        let along = Direction {
            x: &seeds.0,
            u: &seeds.1,
        };
        let done = tangent.evaluate_along(&plant, black_box(at), along, &mut dx, &mut y);
        done.expect("regular");
    })
}

fn state_jacobian() -> Box<dyn FnMut()> {
    let (plant, x, u, discrete) = at_start(&chain(12));
    let (mut tree, mut jacobian) = (StateJacobian::new(plant.model()), vec![0.0; x.len() * x.len()]);
    Box::new(move || {
        let at = OperatingPoint::new(0.0, x.as_slice(), u.as_slice(), &discrete);
        tree.evaluate(&plant, black_box(at), &mut jacobian).expect("regular");
    })
}

/// Returns a kernel whose call is one step of 10 ms; the first call, which is not counted, computes
/// the Jacobian that the method needs.
fn step(text: &str) -> Box<dyn FnMut()> {
    let model = Model::read(text, Path::new(".")).unwrap_or_else(|e| panic!("{e}"));
    let plant = Plant::new(model.into()).unwrap_or_else(|e| panic!("{e}"));
    let mut simulation = Simulation::new(plant).unwrap_or_else(|e| panic!("{e}"));
    Box::new(move || {
        let end = simulation.state.t + 0.01;
        simulation.advance(end, &mut Vec::new()).expect("it moves");
    })
}
