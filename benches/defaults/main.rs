//! Integration methods on every example, the templates and a servicer of common size: time of a run
//! and error.
//!
//! `cargo bench --bench defaults` runs each spacecraft with each method and tolerance (or fixed
//! step, s) in the same rounds. It prints the least elapsed time, times real time, evaluations and
//! steps, and the largest errors at communication points, against `radau5` or `dop853` at a
//! tolerance of 1e-11: of coordinates (m or rad, without wheels), and of modal amplitudes as
//! fractions of the largest amplitude of their body.
//!
//! The servicer's joints are driven by a controller outside, with torques held for 10 ms. An
//! argument selects the spacecraft whose names contain it.

use grapple::event::{Event, Occurrence};
use grapple::plant::{Model, Plant};
use grapple::simulation::Simulation;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Instant;

const ROUNDS: usize = 3;

/// Longest run, s.
const LONGEST: f64 = 30.0;

/// Spacecraft whose reference is `radau5`; `dop853` would be limited by stability.
const STIFF: [&str; 4] = ["assembly", "beam_in_grasp", "servicer_orbit", "ssrms_flexible"];

/// Integration method and its setting.
#[derive(Clone, Copy)]
struct Case {
    method: &'static str,
    setting: Setting,
}

#[derive(Clone, Copy)]
enum Setting {
    /// Those of a spec without `[solver]` and without `tolerance`.
    Default,
    /// Relative tolerance.
    Tolerance(f64),
    /// Fixed step, s.
    Step(f64),
}

const CASES: [Case; 21] = [
    Case {
        method: "default",
        setting: Setting::Default,
    },
    adaptive("dopri5", 1e-8),
    adaptive("dopri5", 1e-6),
    adaptive("dopri5", 1e-5),
    adaptive("dopri5", 1e-4),
    adaptive("dopri5", 1e-3),
    adaptive("radau5", 1e-6),
    adaptive("radau5", 1e-5),
    adaptive("radau5", 1e-4),
    adaptive("radau5", 1e-3),
    adaptive("auto", 1e-4),
    fixed("linearly_implicit", 0.01),
    fixed("linearly_implicit", 0.005),
    fixed("linearly_implicit", 0.002),
    adaptive("rosenbrock", 1e-2),
    adaptive("rosenbrock", 5e-3),
    adaptive("rosenbrock", 2e-3),
    adaptive("rosenbrock", 1e-3),
    adaptive("rosenbrock", 1e-4),
    adaptive("rosenbrock", 1e-5),
    adaptive("rosenbrock", 1e-6),
];

const fn adaptive(method: &'static str, tolerance: f64) -> Case {
    let setting = Setting::Tolerance(tolerance);
    Case { method, setting }
}

const fn fixed(method: &'static str, step: f64) -> Case {
    let setting = Setting::Step(step);
    Case { method, setting }
}

/// Joints of the servicer with the gains of the controller outside, N·m/rad and N·m·s/rad.
const CONTROLLED: [(&str, f64, f64); 7] = [
    ("shoulder_roll", 40.0, 40.0),
    ("shoulder_yaw", 40.0, 40.0),
    ("shoulder_pitch", 30.0, 30.0),
    ("elbow_pitch", 10.0, 10.0),
    ("wrist_pitch", 2.0, 2.0),
    ("wrist_yaw", 2.0, 2.0),
    ("wrist_roll", 1.0, 1.0),
];

fn main() {
    let filter = std::env::args().skip(1).find(|argument| !argument.starts_with('-'));
    for path in spacecraft() {
        let name = path.file_stem().and_then(|name| name.to_str()).expect("a name");
        if filter.as_ref().is_some_and(|filter| !name.contains(filter.as_str())) {
            continue;
        }
        let method = if STIFF.contains(&name) { "radau5" } else { "dop853" };
        let reference = match Run::new(&path, adaptive(method, 1e-11)) {
            Ok(reference) => reference,
            Err(error) => {
                println!("\n{name}: {error}");
                continue;
            }
        };
        println!(
            "\n{name}: {} states, {} s; reference {method}, {:.0} ms",
            reference.path[0].len(),
            reference.end,
            1e3 * reference.seconds
        );
        let heads = ["ms", "× real time", "evaluations", "steps", "coordinates", "amplitudes"];
        let [ms, speed, evaluations, steps, coordinates, amplitudes] = heads;
        println!(
            "{:27} {ms:>8} {speed:>12} {evaluations:>12} {steps:>8} {coordinates:>12} {amplitudes:>11}",
            ""
        );
        let mut runs: [Result<Run, String>; CASES.len()] = CASES.map(|case| Run::new(&path, case));
        for _ in 1..ROUNDS {
            for (best, case) in runs.iter_mut().zip(CASES) {
                if let Ok(best) = best
                    && best.seconds < 1.0
                    && let Ok(run) = Run::new(&path, case)
                {
                    best.seconds = best.seconds.min(run.seconds);
                }
            }
        }
        for (Case { method, setting }, run) in CASES.iter().zip(&runs) {
            match setting {
                Setting::Default => print!("{method:27} "),
                Setting::Tolerance(number) | Setting::Step(number) => print!("{method:18} {number:8.0e} "),
            }
            match run {
                Ok(run) => println!(
                    "{:8.2} {:12.1} {:12} {:8} {:12.1e} {:11.1e}{}",
                    1e3 * run.seconds,
                    run.end / run.seconds,
                    run.evaluations,
                    run.steps,
                    run.error_of_coordinates(&reference),
                    run.error_of_amplitudes(&reference),
                    run.changes
                ),
                Err(error) => println!("{}", error.lines().next().unwrap_or_default()),
            }
        }
        let errors = |run: &Run| {
            [
                run.error_of_coordinates(&reference),
                run.error_of_amplitudes(&reference),
            ]
        };
        if let Ok(default) = &runs[0] {
            // Equal errors differ by round-off.
            let allowed = errors(default).map(|error| 1.05 * error + 1e-12);
            let as_accurate = runs.iter().flatten().filter(|run| {
                let errors = errors(run);
                errors[0] <= allowed[0] && errors[1] <= allowed[1]
            });
            let best = as_accurate.fold(f64::INFINITY, |best, run| best.min(run.seconds));
            println!(
                "default / least time with errors as small: {:.2}",
                default.seconds / best
            );
        }
    }
}

/// Returns the specs of the servicer, the examples and the templates.
fn spacecraft() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let specs = |folder: &str| {
        let entries = std::fs::read_dir(root.join(folder)).expect("a folder");
        let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
        paths.retain(|path| {
            let is_spec = path.extension().is_some_and(|extension| extension == "toml");
            // Not a controller, a study or an identification.
            is_spec && std::fs::read_to_string(path).expect("a file").contains("\n[body.")
        });
        paths.sort();
        paths
    };
    ["benches/defaults", "examples", "fmu-build/templates"]
        .into_iter()
        .flat_map(specs)
        .collect()
}

struct Run {
    /// End of the run, s.
    end: f64,
    seconds: f64,
    evaluations: u64,
    steps: u64,
    /// Changes of the method, as text.
    changes: String,
    /// States at every communication point.
    path: Vec<Vec<f64>>,
    /// Indices of coordinates whose error is reported.
    coordinates: Vec<usize>,
    /// Indices of modal amplitudes, by body.
    amplitudes: BTreeMap<String, Vec<usize>>,
}

impl Run {
    fn new(path: &Path, Case { method, setting }: Case) -> Result<Self, String> {
        let text = std::fs::read_to_string(path).expect("a spec");
        let mut spec: toml::Table = text.parse().expect("TOML");
        spec.remove("solver");
        if let Some(toml::Value::Table(signals)) = spec.get_mut("signal") {
            for signal in signals.iter_mut().filter_map(|(_, signal)| signal.as_table_mut()) {
                signal.insert("from_importer".to_owned(), false.into());
            }
        }
        let (solver, tolerance) = match setting {
            Setting::Default => {
                if let Some(toml::Value::Table(experiment)) = spec.get_mut("experiment") {
                    experiment.remove("tolerance");
                }
                (toml::Table::new(), None)
            }
            Setting::Tolerance(tolerance) => (toml::toml! { method = method }, Some(tolerance)),
            Setting::Step(step) => (
                toml::toml! {
                    method = method
                    step = step
                },
                None,
            ),
        };
        spec.insert("solver".to_owned(), solver.into());
        let folder = path.parent().expect("a folder");
        let model = Model::read(&spec.to_string(), folder).map_err(|error| error.to_string())?;
        let (mut coordinates, mut amplitudes) = (Vec::new(), BTreeMap::<_, Vec<usize>>::new());
        for (i, state) in model.states[..model.rates().start].iter().enumerate() {
            let owner = state.name.split('.').next().expect("a name");
            if state.name.contains(".eta[") {
                amplitudes.entry(owner.to_owned()).or_default().push(i);
            } else if !model.spec.wheel.contains_key(owner) {
                coordinates.push(i);
            }
        }
        let (step, end) = (model.spec.experiment.step, model.spec.experiment.stop_time.min(LONGEST));
        let mut simulation = Simulation::new(Plant::new(model.into()).expect("derives")).expect("starts");
        simulation.initialise(0.0, tolerance, 1e9).expect("a tolerance");
        let controller = Controller::new(&simulation);
        let (mut seconds, mut path, mut events) = (0.0, Vec::new(), Vec::new());
        for i in 1..=(end / step).round() as u32 {
            controller.sample(&mut simulation);
            let start = Instant::now();
            let advanced = simulation.advance(step * f64::from(i), &mut events);
            seconds += start.elapsed().as_secs_f64();
            advanced.map_err(|error| error.to_string())?;
            path.push(simulation.state.x.clone());
        }
        let statistics = simulation.statistics();
        let changed = |event: &Event| match &event.what {
            Occurrence::MethodChanged { method } => Some(format!("; {method} from {:.2} s", event.t)),
            _ => None,
        };
        let changes = events.iter().filter_map(changed).collect();
        Ok(Self {
            end,
            seconds,
            evaluations: statistics.evaluations,
            steps: statistics.steps,
            changes,
            path,
            coordinates,
            amplitudes,
        })
    }

    /// Returns the largest deviation of these states, over the run.
    fn error(&self, reference: &Run, states: &[usize]) -> f64 {
        let points = self.path.iter().zip(&reference.path);
        let off = points.flat_map(|(x, exact)| states.iter().map(move |&i| (x[i] - exact[i]).abs()));
        off.fold(0.0, f64::max)
    }

    fn error_of_coordinates(&self, reference: &Run) -> f64 {
        self.error(reference, &self.coordinates)
    }

    fn error_of_amplitudes(&self, reference: &Run) -> f64 {
        let of_body = |states: &Vec<usize>| {
            let all = reference
                .path
                .iter()
                .flat_map(|x| states.iter().map(move |&i| x[i].abs()));
            self.error(reference, states) / all.fold(0.0, f64::max)
        };
        self.amplitudes.values().map(of_body).fold(0.0, f64::max)
    }
}

/// The controller outside the servicer: torques of a proportional-derivative law.
struct Controller {
    /// Index of the torque among the inputs, of angle and rate among the states, start angle,
    /// gains.
    joints: Vec<([usize; 3], f64, [f64; 2])>,
}

impl Controller {
    fn new(simulation: &Simulation) -> Self {
        let model = simulation.plant.model();
        let controlled: &[_] = if model.spec.name == "servicer" {
            &CONTROLLED
        } else {
            &[]
        };
        let of = |&(joint, kp, kd): &(&str, f64, f64)| {
            let input = model
                .inputs
                .iter()
                .position(|input| input.quantity.name == format!("{joint}.tau"))?;
            let state = |field: &str| {
                let name = format!("{joint}.{field}");
                model.states.iter().position(|state| state.name == name)
            };
            let (q, qd) = (state("q")?, state("qd")?);
            Some(([input, q, qd], simulation.state.x[q], [kp, kd]))
        };
        Self {
            joints: controlled.iter().filter_map(of).collect(),
        }
    }

    /// Sets the torques, which follow a slow motion of all joints.
    fn sample(&self, simulation: &mut Simulation) {
        let moved = 0.3 * (1.0 - (0.4 * simulation.state.t).cos());
        for (n, ([input, q, qd], start, [kp, kd])) in self.joints.iter().enumerate() {
            let reference = start + moved * (1.0 - 0.2 * n as f64);
            let x = &simulation.state.x;
            simulation.state.u[*input] = kp * (reference - x[*q]) - kd * x[*qd];
        }
        if !self.joints.is_empty() {
            simulation.invalidate();
        }
    }
}
