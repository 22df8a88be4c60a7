//! Instructions per call of the kernels of a run, in the FMU's library: identical in every run with
//! the same compiler, whatever the load of the machine.
//!
//! `scripts/instructions` compiles the library and runs this program, which runs each kernel in
//! Valgrind's callgrind. It fails if a count deviates by more than 5 % from
//! `benches/instructions.csv`, upwards or downwards (too high a record would hide a later increase),
//! or if that file is from another compiler. With `-- --record` it rewrites the file.
//!
//! The library is that in the environment variable `GRAPPLE_LIBRARY`, or the one that `scripts/libraries
//! linux64` has left. This program itself is not measured, so the profile of the tests suffices.

#![allow(unsafe_code)] // the C functions

mod chain;
mod shared_library;

use chain::{chain, with_payload};
use grapple::fmu::fmi2::fmi2Type;
use grapple::fmu::registry::Slot;
use grapple::plant::Model;
use model_description::Variability;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use shared_library::{Instance, library};
use std::path::Path;
use std::process::{Command, ExitCode};

/// Largest relative deviation of a kernel's count from the record.
const SCATTER: f64 = 0.05;
const RECORD: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/instructions.csv");
/// Number of states at which a derivative is evaluated.
const STATES: usize = 16;

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
    ("first step of radau5 for a chain of 12", 1, || {
        first_step(&format!("{}\n[solver]\nmethod = \"radau5\"\n", chain(12)))
    }),
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
    if let Err(problem) = library() {
        eprintln!("{problem}");
        return ExitCode::FAILURE;
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

/// Returns a kernel that sets the continuous states and gets their derivatives, at states within a
/// tenth of each state's nominal value around the start.
fn derivative(text: &str) -> Box<dyn FnMut()> {
    let instance = Instance::new(read(text), fmi2Type::MODEL_EXCHANGE);
    let start = instance.states();
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let mut around = || {
        let nominals = instance.registry.model().states.iter().map(|state| state.nominal);
        let moved = start.iter().zip(nominals);
        moved
            .map(|(x, nominal)| x + 0.1 * nominal * rng.random_range(-1.0..1.0))
            .collect()
    };
    let states: Vec<Vec<f64>> = (0..STATES).map(|_| around()).collect();
    let mut dx = vec![0.0; start.len()];
    Box::new(move || {
        for x in &states {
            instance.set_states(x);
            instance.derivatives(&mut dx);
        }
    })
}

/// Returns a kernel that gets the directional derivatives of all derivatives of states and
/// continuous outputs along all states and inputs.
fn along() -> Box<dyn FnMut()> {
    let instance = Instance::new(read(SSRMS_FLEXIBLE), fmi2Type::MODEL_EXCHANGE);
    let references = |pass: fn(Slot) -> bool| -> Vec<u32> {
        let variables = instance.registry.variables();
        let continuous = variables.filter(|v| v.variability == Variability::Continuous && pass(v.slot));
        continuous.map(|v| v.value_reference).collect()
    };
    let inputs = references(|slot| matches!(slot, Slot::Input(_)));
    instance.set(&inputs, &vec![0.3; inputs.len()]);
    let knowns = references(|slot| matches!(slot, Slot::Input(_) | Slot::State(_)));
    let unknowns = references(|slot| matches!(slot, Slot::Derivative(_) | Slot::Output(_)));
    let (seeds, mut found) = (vec![1.0; knowns.len()], vec![0.0; unknowns.len()]);
    Box::new(move || instance.along(&unknowns, &knowns, &seeds, &mut found))
}

/// Returns a kernel whose call is one step of 10 ms; the first call, which is not counted, computes
/// the Jacobian that the method needs.
fn step(text: &str) -> Box<dyn FnMut()> {
    let (instance, mut t) = (Instance::new(read(text), fmi2Type::CO_SIMULATION), 0.0);
    Box::new(move || {
        instance.step(t, 0.01);
        t += 0.01;
    })
}

/// Returns a kernel whose call is the first step of an instance, 10 ms.
fn first_step(text: &str) -> Box<dyn FnMut()> {
    let mut instances = [(); 2]
        .map(|()| Instance::new(read(text), fmi2Type::CO_SIMULATION))
        .into_iter();
    Box::new(move || instances.next().expect("a kernel is called twice").step(0.0, 0.01))
}

fn read(text: &str) -> Model {
    Model::read(text, Path::new(".")).unwrap_or_else(|e| panic!("{e}"))
}
