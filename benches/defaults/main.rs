//! Integration methods on examples and a servicer of common size: time of a run and error.
//!
//! `cargo bench --bench defaults` runs each spacecraft with each method and tolerance (or fixed
//! step, s) in the same rounds. It prints the least elapsed time, times real time, evaluations and
//! steps, and the largest errors at communication points, against `dop853` or `radau5` at a
//! tolerance of 1e-11: of coordinates (m or rad, without wheels), and of modal amplitudes as
//! fractions of the largest amplitude of their body.
//!
//! The servicer's joints are driven by a controller outside, with torques held for 10 ms. An
//! argument selects the spacecraft whose names contain it.

use grapple::plant::{Model, Plant};
use grapple::simulation::Simulation;
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Instant;

const ROUNDS: usize = 3;

/// Spacecraft with the method of the reference and the end of the run, s.
const SPACECRAFT: [(&str, &str, &str, f64); 5] = [
    ("servicer", include_str!("servicer.toml"), "dop853", 5.0),
    (
        "ssrms_flexible",
        include_str!("../../examples/ssrms_flexible.toml"),
        "radau5",
        20.0,
    ),
    (
        "servicer_orbit",
        include_str!("../../examples/servicer_orbit.toml"),
        "radau5",
        30.0,
    ),
    (
        "klak_2020",
        include_str!("../../examples/klak_2020.toml"),
        "radau5",
        30.0,
    ),
    (
        "solar_arrays",
        include_str!("../../examples/solar_arrays.toml"),
        "radau5",
        30.0,
    ),
];

/// Integration method and its setting.
#[derive(Clone, Copy)]
struct Case {
    method: &'static str,
    setting: Setting,
}

#[derive(Clone, Copy)]
enum Setting {
    /// Relative tolerance.
    Tolerance(f64),
    /// Fixed step, s.
    Step(f64),
}

const CASES: [Case; 11] = [
    adaptive("dopri5", 1e-8),
    adaptive("dopri5", 1e-4),
    adaptive("dopri5", 1e-3),
    adaptive("radau5", 1e-4),
    adaptive("auto", 1e-4),
    fixed("linearly_implicit", 0.01),
    fixed("linearly_implicit", 0.005),
    adaptive("rosenbrock", 1e-2),
    adaptive("rosenbrock", 1e-3),
    adaptive("rosenbrock", 1e-4),
    adaptive("rosenbrock", 1e-5),
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
    for (name, text, reference, end) in SPACECRAFT {
        if filter.as_ref().is_some_and(|filter| !name.contains(filter.as_str())) {
            continue;
        }
        let reference = Run::new(text, adaptive(reference, 1e-11), end).expect("the reference runs");
        println!("\n{name}: {} states, {end} s", reference.path[0].len());
        let heads = ["ms", "× real time", "evaluations", "steps", "coordinates", "amplitudes"];
        let [ms, speed, evaluations, steps, coordinates, amplitudes] = heads;
        println!(
            "{:27} {ms:>8} {speed:>12} {evaluations:>12} {steps:>8} {coordinates:>12} {amplitudes:>11}",
            ""
        );
        let mut runs: [Result<Run, String>; CASES.len()] = CASES.map(|case| Run::new(text, case, end));
        for _ in 1..ROUNDS {
            for (best, case) in runs.iter_mut().zip(CASES) {
                if let (Ok(best), Ok(run)) = (best, Run::new(text, case, end)) {
                    best.seconds = best.seconds.min(run.seconds);
                }
            }
        }
        for (Case { method, setting }, run) in CASES.iter().zip(&runs) {
            let (Setting::Tolerance(number) | Setting::Step(number)) = setting;
            print!("{method:18} {number:8.0e} ");
            match run {
                Ok(run) => println!(
                    "{:8.2} {:12.1} {:12} {:8} {:12.1e} {:11.1e}",
                    1e3 * run.seconds,
                    end / run.seconds,
                    run.evaluations,
                    run.steps,
                    run.error_of_coordinates(&reference),
                    run.error_of_amplitudes(&reference),
                ),
                Err(error) => println!("{error}"),
            }
        }
    }
}

struct Run {
    seconds: f64,
    evaluations: u64,
    steps: u64,
    /// States at every communication point.
    path: Vec<Vec<f64>>,
    /// Indices of coordinates whose error is reported.
    coordinates: Vec<usize>,
    /// Indices of modal amplitudes, by body.
    amplitudes: BTreeMap<String, Vec<usize>>,
}

impl Run {
    fn new(text: &str, Case { method, setting }: Case, end: f64) -> Result<Self, String> {
        let text = text.split("[solver]").next().expect("a spec");
        let (tolerance, step) = match setting {
            Setting::Tolerance(tolerance) => (Some(tolerance), String::new()),
            Setting::Step(step) => (None, format!("step = {step}\n")),
        };
        let text = format!("{text}\n[solver]\nmethod = {method:?}\n{step}");
        let model = Model::read(&text, Path::new(".")).map_err(|error| error.to_string())?;
        let (mut coordinates, mut amplitudes) = (Vec::new(), BTreeMap::<_, Vec<usize>>::new());
        for (i, state) in model.states[..model.rates().start].iter().enumerate() {
            let owner = state.name.split('.').next().expect("a name");
            if state.name.contains(".eta[") {
                amplitudes.entry(owner.to_owned()).or_default().push(i);
            } else if !model.spec.wheel.contains_key(owner) {
                coordinates.push(i);
            }
        }
        let step = model.spec.experiment.step;
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
        Ok(Self {
            seconds,
            evaluations: statistics.evaluations,
            steps: statistics.steps,
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
