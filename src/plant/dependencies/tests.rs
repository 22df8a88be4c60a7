use super::regime::pairs;
use super::tracer::Random;
use super::*;
use crate::algebra::{Quaternion, Vec3};
use crate::elements::{Hold, Invariance, Limit, MotorState, Sliding};
use crate::plant::context::Constants;
use crate::plant::{Discrete, Evaluation, Jacobians, LANES, OperatingPoint, Tangent};
use crate::system::Derived;
use everything::{COUPLED, EVERYTHING, IN_GRASP, WITH_DIRECTORS, rigid};
use example_files::example_files;
use models::{CAUGHT, FED, GRASPED, MOORED, MOUNTED, RUBS, SLIDES, TASKED, TETHERED};
use std::path::Path;

unit_tests![
    examples_have_all_exact_dependencies_and_no_input_without_effect,
    every_load_in_every_formulation_has_all_exact_dependencies,
    initial_accelerations_depend_on_all_parameters_of_their_tree,
    effective_mass_depends_on_joints_and_masses_of_its_tree,
    each_pair_of_factors_takes_each_pair_of_levels,
];

#[path = "../../../tests/everything/mod.rs"]
mod everything;
#[path = "../../../tests/example_files/mod.rs"]
mod example_files;
mod models;

/// Largest numbers of listed pairs of a derivative or continuous output and a state without effect
/// in the experiments; zero for models that are not in the list.
///
/// Some have an effect that the experiments do not detect: a frame on an ANCF beam may move to
/// another element (`beam_in_grasp`), gravity varies little over the distance from the orbit
/// (`servicer_orbit`), contacts may be open (`fed`, `rubs`). Others cancel: full turns of
/// an angle in its sine (`klak_2020_quaternion`), rotations inside a tree if velocities of bodies
/// are states (`dual_arm`, `valverde_2018`) or if the tree is fixed or tied to the world
/// (`bricard`, `tethered 8`), rotations inside a captured system (`tethered 14`, `tethered 15`),
/// and those of rotors whose inertia is equal about all axes (`geared_arm`, `everything`).
const SURPLUS: &[(&str, usize)] = &[
    ("beam_in_grasp", 789),
    ("bricard", 21),
    ("dual_arm", 328),
    ("geared_arm", 15),
    ("klak_2020_quaternion", 132),
    ("servicer_orbit", 159),
    ("valverde_2018", 76),
    ("everything 0", 763),
    ("everything 1", 302),
    ("everything 2", 4199),
    ("everything 3", 250),
    ("everything 4", 354),
    ("fed 5", 687),
    ("slides 6", 12),
    ("tethered 8", 53),
    ("tethered 9", 86),
    ("tethered 10", 328),
    ("tethered 11", 87),
    ("tethered 14", 193),
    ("tethered 15", 87),
    ("tasked 16", 95),
    ("rubs 17", 12),
];

/// A model at random parameter values, states, inputs and discrete states.
struct Experiment<'a> {
    model: &'a Model,
    parameters: Vec<f64>,
    derived: Derived,
    start: Vec<f64>,
    values: Evaluation<f64>,
    random: Random,
}

impl<'a> Experiment<'a> {
    fn new(model: &'a Model, seed: u64) -> Self {
        let mut random = Random(seed);
        let mut parameters = model.parameter_starts();
        let mut derived = model.validate(&parameters, None, &mut Vec::new());
        for (j, parameter) in model.parameters.iter().enumerate() {
            let mut changed = parameters.clone();
            changed[j] += 0.1 * random.unit() * changed[j].abs().max(0.3 * parameter.quantity.nominal);
            let mut problems = Vec::new();
            let after = model.validate(&changed, Some((&parameters, &derived)), &mut problems);
            if problems.is_empty() {
                (parameters, derived) = (changed, after);
            }
        }
        let mut start = vec![0.0; model.states.len()];
        if model.start(&derived, 0.0, &parameters, &mut start).is_err() {
            parameters = model.parameter_starts();
            derived = model.validate(&parameters, None, &mut Vec::new());
            model.start(&derived, 0.0, &parameters, &mut start).expect("a start");
        }
        Self {
            model,
            parameters,
            derived,
            start,
            values: Evaluation::new(model),
            random,
        }
    }

    fn of(&self) -> Constants<'_> {
        Constants {
            model: self.model,
            derived: &self.derived,
            parameters: &self.parameters,
        }
    }

    fn choose<T: Copy>(random: &mut Random, from: &[T]) -> T {
        from[((random.unit() + 1.0) * 1e6) as usize % from.len()]
    }

    fn point(&mut self, spread: f64) -> (Vec<f64>, Vec<f64>, Discrete) {
        let (model, random) = (self.model, &mut self.random);
        let states = model.states.iter().zip(&self.start);
        let x: Vec<f64> = states
            .map(|(state, start)| start + spread * state.nominal * random.unit())
            .collect();
        let inputs = model.inputs.iter().map(|input| match input.is_discrete() {
            true => Self::choose(random, &[0.0, 1.0, 1.0]),
            false => 0.5 + 0.6 * random.unit(),
        });
        let u: Vec<f64> = inputs.collect();
        let mut discrete = model.discrete();
        let drives = model.elements.drives.iter().filter(|drive| drive.mode().is_some());
        for (motion, drive) in discrete.motions.iter_mut().zip(drives) {
            *motion = Self::choose(random, drive.motions());
        }
        let sliding = [Sliding::Stuck, Sliding::Forward, Sliding::Backward];
        let states = discrete.sliding.iter_mut();
        states.for_each(|state| *state = Self::choose(random, &sliding));
        let mut limit = || Self::choose(random, &[Limit::Below, Limit::Within, Limit::Within, Limit::Above]);
        for (state, motor) in discrete.motors.iter_mut().zip(&model.elements.motors) {
            let next = MotorState {
                torque: limit(),
                rate: limit(),
                is_beyond: false,
            };
            *state = if motor.can_have(&next) {
                next
            } else {
                MotorState::default()
            };
        }
        let voltages = discrete.voltages.iter_mut();
        voltages
            .chain(&mut discrete.controlled)
            .for_each(|state| *state = limit());
        let desaturating = discrete.desaturating.iter_mut();
        desaturating.for_each(|is_on| *is_on = Self::choose(random, &[false, true]));
        for state in &mut discrete.rests[model.elements.resting_points()..] {
            state.hold = Self::choose(random, &[Hold::Free, Hold::Sticking, Hold::Sliding]);
            state.direction = Vec3::from_fn(|_, _| random.unit());
        }
        for capture in &mut discrete.captures {
            capture.holds = random.unit() > 0.0;
            capture.R = Quaternion::from_slice(&[(); 4].map(|()| random.unit()))
                .normalised()
                .rotation();
        }
        let of = Constants {
            model,
            derived: &self.derived,
            parameters: &self.parameters,
        };
        self.values.determine_rank(of, &x, &mut discrete);
        (x, u, discrete)
    }

    fn values(&mut self, at: OperatingPoint) -> Option<Vec<f64>> {
        let of = Constants {
            model: self.model,
            derived: &self.derived,
            parameters: &self.parameters,
        };
        let n = at.x.len();
        let mut all = vec![0.0; n + self.model.outputs.len()];
        let (dx, y) = all.split_at_mut(n);
        self.values.derivative(of, at, dx).ok()?;
        self.values.outputs(of, at.x, at.discrete, y);
        Some(all)
    }
}

/// Asserts that initial states, derivatives and outputs that change with a parameter depend on it.
fn check_parameters(name: &str, model: &Model, found: &Dependencies, seed: u64) {
    let mut experiment = Experiment::new(model, seed);
    let rows = [
        &found.initial_states,
        &found.initial_derivatives,
        &found.initial_outputs,
    ];
    let rows: Vec<&Knowns> = rows.into_iter().flatten().collect();
    let u: Vec<f64> = model.inputs.iter().map(|_| 1.0).collect();
    let discrete = model.discrete();
    let (parameters, derived) = (experiment.parameters.clone(), experiment.derived.clone());
    let mut initial = |parameters: Vec<f64>, derived: Derived| {
        let mut x = vec![0.0; model.states.len()];
        model.start(&derived, 0.0, &parameters, &mut x).ok()?;
        (experiment.parameters, experiment.derived) = (parameters, derived);
        let mut discrete = discrete.clone();
        let of = Constants {
            model,
            derived: &experiment.derived,
            parameters: &experiment.parameters,
        };
        experiment.values.determine_rank(of, &x, &mut discrete);
        let values = experiment.values(OperatingPoint::new(0.0, &x, &u, &discrete))?;
        Some([x, values].concat())
    };
    let Some(before) = initial(parameters.clone(), derived.clone()) else {
        return;
    };
    for (j, parameter) in model.parameters.iter().enumerate() {
        let mut changed = parameters.clone();
        changed[j] += 0.01 * changed[j].abs().max(0.1 * parameter.quantity.nominal);
        let mut problems = Vec::new();
        let after = model.validate(&changed, Some((&parameters, &derived)), &mut problems);
        let Some(after) = Some(changed)
            .filter(|_| problems.is_empty())
            .and_then(|changed| initial(changed, after))
        else {
            continue;
        };
        for (row, knowns) in rows.iter().enumerate() {
            let has_changed = (after[row] - before[row]).abs() > 1e-8 * before[row].abs().max(1e-2);
            let is_known = knowns.parameters.binary_search(&j).is_ok();
            let n = model.states.len();
            let row = match (row.checked_sub(n), row.checked_sub(2 * n)) {
                (None, _) => format!("initial {}", model.states[row].name),
                (Some(derivative), None) => model.derivatives[derivative].name.clone(),
                (_, Some(output)) => model.outputs[output].quantity.name.clone(),
            };
            assert!(!has_changed || is_known, "{name}: {row} of {}", parameter.quantity.name);
        }
    }
}

/// Returns true for the reaction moment of a joint and a torque input of the same joint. In a
/// spherical joint the moment does not depend on torques about other axes, but the equations are in
/// world axes, and tracing does not detect that the rotations cancel.
fn is_own_moment(output: &str, input: &str) -> bool {
    let joint = |name: &str, field: &str| name.split_once(field).map(|(joint, _)| joint.to_owned());
    let joints = [joint(output, ".reaction_moment["), joint(input, ".tau[")];
    joints[0].is_some() && joints[0] == joints[1]
}

/// Asserts that all dependencies are found; returns the pairs of an output and an input whose
/// dependency has no effect in any experiment.
fn check(name: &str, model: &Model, seeds: u64) -> Vec<String> {
    let clock = std::time::Instant::now();
    let found = Dependencies::of(model).expect("regular equations");
    let time = clock.elapsed();
    let (n, nu, ny) = (model.states.len(), model.inputs.len(), model.outputs.len());
    let rows: Vec<&Knowns> = found.derivatives.iter().chain(&found.outputs).collect();
    let row_name = |row: usize| match row.checked_sub(n) {
        None => &model.derivatives[row].name,
        Some(output) => &model.outputs[output].quantity.name,
    };
    let mut acts = vec![false; ny * nu];
    let invariances = invariances(model);
    let mut counted = 0;
    let mut true_states = vec![false; (n + ny) * n];
    for seed in 0..seeds {
        check_parameters(name, model, &found, seed);
        let mut experiment = Experiment::new(model, seed);
        let mut tangent = Tangent::<LANES>::new(model);
        let mut jacobians = Jacobians::new(model);
        for spread in [0.0, 1e-3, 0.3, 1.0, 1.0, 20.0] {
            let (x, u, discrete) = experiment.point(spread);
            let at = OperatingPoint {
                t: 0.0,
                x: &x,
                u: &u,
                discrete: &discrete,
            };
            if tangent
                .jacobians_of(experiment.of(), at, &mut jacobians, |_| true)
                .is_err()
            {
                continue;
            }
            counted += 1;
            let Jacobians { A, B, C, D } = &jacobians;
            for (row, knowns) in rows.iter().enumerate() {
                let (of_x, of_u) = match row.checked_sub(n) {
                    None => (A.row(row), B.row(row)),
                    Some(output) => (C.row(output), D.row(output)),
                };
                let largest = of_x.iter().chain(&of_u).fold(0.0_f64, |most, d| most.max(d.abs()));
                for (k, &d) in of_x.iter().enumerate() {
                    true_states[row * n + k] |= d.abs() > 1e-9 * largest;
                    // Invariant quantities depend on free bodies' positions by round-off only.
                    let is_invariant = invariances[row] != Invariance::None
                        && (!model.rates().contains(&row) || !model.elements.read_world(&model.system));
                    let round_off = if is_invariant { 1e-12 * largest.max(1.0) } else { 0.0 };
                    assert!(
                        d.abs() <= round_off || knowns.states.contains(&k),
                        "{name}: {} of {}: {d}",
                        row_name(row),
                        model.states[k].name
                    );
                }
                for (k, &d) in of_u.iter().enumerate() {
                    assert!(
                        d == 0.0 || knowns.inputs.contains(&k),
                        "{name}: {} of {}: {d}",
                        row_name(row),
                        model.inputs[k].quantity.name
                    );
                    if row >= n && d.abs() > 1e-9 * largest {
                        acts[(row - n) * nu + k] = true;
                    }
                }
            }
            // Switches and unwrapped angles have no derivatives.
            let Some(before) = experiment.values(OperatingPoint::new(0.0, &x, &u, &discrete)) else {
                continue;
            };
            for k in 0..nu {
                let mut u = u.clone();
                u[k] = 1.0 - u[k].round();
                let Some(after) = experiment.values(OperatingPoint::new(0.0, &x, &u, &discrete)) else {
                    continue;
                };
                for (row, knowns) in rows.iter().enumerate() {
                    let has_changed = (after[row] - before[row]).abs() > 1e-9 * before[row].abs().max(1e-3);
                    if has_changed && row >= n {
                        acts[(row - n) * nu + k] = true;
                    }
                    assert!(
                        !has_changed || knowns.inputs.contains(&k),
                        "{name}: {} of {}",
                        row_name(row),
                        model.inputs[k].quantity.name
                    );
                }
            }
            let unwrapped = model.rates().end..n - usize::from(model.spec.has_diagnostics());
            for k in unwrapped {
                let mut x = x.clone();
                x[k] += std::f64::consts::TAU;
                let Some(after) = experiment.values(OperatingPoint::new(0.0, &x, &u, &discrete)) else {
                    continue;
                };
                for (row, knowns) in rows.iter().enumerate() {
                    let has_changed = (after[row] - before[row]).abs() > 1e-6 * before[row].abs().max(1.0);
                    true_states[row * n + k] |= has_changed;
                    assert!(
                        !has_changed || knowns.states.contains(&k),
                        "{name}: {} of {}",
                        row_name(row),
                        model.states[k].name
                    );
                }
            }
        }
    }
    assert!(counted >= 8, "{name}: {counted} experiments");
    // Outputs that change at events only have no derivatives.
    let mut listed = Vec::new();
    for (row, knowns) in rows.iter().enumerate() {
        let is_continuous = |output: usize| model.outputs[output].kind.is_continuous();
        if row.checked_sub(n).is_none_or(is_continuous) {
            listed.extend(knowns.states.iter().map(|k| row * n + k));
        }
    }
    let surplus = listed.iter().filter(|&&pair| !true_states[pair]).count();
    let known = SURPLUS.iter().find(|(of, _)| *of == name);
    assert!(
        surplus <= known.map_or(0, |&(_, most)| most),
        "{name}: {surplus} states without effect"
    );
    let mut idle = Vec::new();
    let mut pairs = 0;
    for (output, knowns) in found.outputs.iter().enumerate() {
        for &input in &knowns.inputs {
            pairs += 1;
            let kind = model.outputs[output].kind;
            let is_event = !kind.is_continuous() && kind != OutputKind::Flag;
            let [of, on] = [&model.outputs[output].quantity.name, &model.inputs[input].quantity.name];
            if !acts[output * nu + input] && !is_event && !is_own_moment(of, on) {
                idle.push(format!("{of} of {on}"));
            }
        }
    }
    println!(
        "{name}: {time:?}; {counted} experiments; {} states listed, {surplus} without effect; {pairs} outputs × inputs, {} without effect",
        listed.len(),
        idle.len()
    );
    idle
}

/// Tests all models together and returns the pairs of an output and an input without effect.
fn check_all(models: impl IntoIterator<Item = (String, Model)>, seeds: u64) -> Vec<String> {
    let idle = models.into_iter().flat_map(|(name, model)| {
        // A joint that friction holds in few experiments is rarely moved by another one.
        let seeds = if model.elements.sticking.is_empty() {
            seeds
        } else {
            seeds.max(24)
        };
        let idle = check(&name, &model, seeds);
        idle.into_iter().map(move |pair| format!("{name}: {pair}"))
    });
    idle.collect()
}

fn examples_have_all_exact_dependencies_and_no_input_without_effect() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    let models = example_files().into_iter().map(|file| {
        let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let text = std::fs::read_to_string(file).expect("a text");
        (name, Model::read(&text, &folder).expect("valid"))
    });
    assert_eq!(check_all(models, 6), [""; 0]);
}

fn every_load_in_every_formulation_has_all_exact_dependencies() {
    let texts = [
        format!("{EVERYTHING}{COUPLED}{IN_GRASP}"),
        format!("{EVERYTHING}{WITH_DIRECTORS}"),
        format!("formulation = \"natural\"\n{EVERYTHING}{IN_GRASP}{WITH_DIRECTORS}"),
        format!("formulation = \"quaternion\"\nquaternion = {{ momentum_rows = true }}\n{EVERYTHING}{COUPLED}"),
        format!("formulation = \"dual_quaternion\"\n{}", rigid()),
        FED.to_owned(),
        SLIDES.to_owned(),
        format!("{TETHERED}{GRASPED}"),
        format!("{TETHERED}{MOORED}"),
        format!("formulation = \"dual_quaternion\"\n{TETHERED}{GRASPED}"),
        format!("formulation = \"dual_quaternion\"\n{TETHERED}{MOORED}"),
        format!(
            "formulation = \"dual_quaternion\"\n{}",
            TETHERED.replace("\"frame\"", "\"world\"")
        ),
        format!("{TETHERED}{MOUNTED}"),
        format!("{TETHERED}{MOUNTED}{CAUGHT}"),
        format!("formulation = \"natural\"\n{TETHERED}{MOUNTED}{CAUGHT}"),
        format!("formulation = \"dual_quaternion\"\n{TETHERED}{MOUNTED}{CAUGHT}"),
        TASKED.to_owned(),
        RUBS.to_owned(),
    ];
    let models = texts.iter().enumerate().map(|(i, text)| {
        let model = Model::read(text, Path::new(".")).expect("valid");
        (format!("{} {i}", model.spec.name), model)
    });
    assert_eq!(check_all(models, 16), [""; 0]);
}

/// A joint's acceleration depends on the masses of its tree, although on none of its states.
fn initial_accelerations_depend_on_all_parameters_of_their_tree() {
    let model = Model::read(SLIDES, Path::new(".")).expect("valid");
    let found = Dependencies::of(&model).expect("regular equations");
    let state = model
        .states
        .iter()
        .position(|state| state.name == "x.qd")
        .expect("a state");
    assert_eq!(found.derivatives[state].states, [0; 0]);
    let names = found.initial_derivatives[state].parameters.iter();
    let names: Vec<&str> = names.map(|&p| model.parameters[p].quantity.name.as_str()).collect();
    for name in ["one.mass", "two.mass", "x.axis[1]", "y.axis[3]", "y.origin[1]"] {
        assert!(names.contains(&name), "{name} in {names:?}");
    }
    assert!(
        !names.contains(&"x.q_start") && !names.contains(&"solver.work_limit"),
        "{names:?}"
    );
}

/// The effective mass of an arm's hand depends on the joints of its tree and on the masses there;
/// with a capture also on the pose of the other body.
fn effective_mass_depends_on_joints_and_masses_of_its_tree() {
    for (text, others) in [
        (format!("{TETHERED}{MOUNTED}"), false),
        (format!("{TETHERED}{MOUNTED}{CAUGHT}"), true),
    ] {
        let model = Model::read(&text, Path::new(".")).expect("valid");
        let found = Dependencies::of(&model).expect("regular equations");
        let output = |name: &str| model.outputs.iter().position(|output| output.quantity.name == name);
        for name in ["mount.effective_mass[2]", "mount.effective_inertia[3]"] {
            let output = output(name).expect("an output");
            let states = found.outputs[output].states.iter();
            let states: Vec<&str> = states.map(|&state| model.states[state].name.as_str()).collect();
            assert!(states.contains(&"shoulder.q"), "{states:?}");
            assert_eq!(states.contains(&"target.q[2]"), others, "{states:?}");
            assert!(others || states.len() == 1, "{states:?}");
            assert!(
                states
                    .iter()
                    .all(|state| !state.contains(".qd") && !state.contains(".w[")),
                "{states:?}"
            );
            assert_eq!(found.outputs[output].inputs, [0; 0]);
            let parameters = found.initial_outputs[output].parameters.iter();
            let parameters: Vec<&str> = parameters
                .map(|&p| model.parameters[p].quantity.name.as_str())
                .collect();
            for name in ["chaser.mass", "arm.mass", "hand.origin[1]"] {
                assert!(parameters.contains(&name), "{name} in {parameters:?}");
            }
        }
    }
}

fn each_pair_of_factors_takes_each_pair_of_levels() {
    for (n, levels) in [(0, 3), (1, 3), (2, 2), (5, 3), (17, 2)] {
        let rows = pairs(n, levels);
        assert!(!rows.is_empty());
        for (j, k) in (0..n).flat_map(|j| (0..j).map(move |k| (j, k))) {
            for pair in (0..levels).flat_map(|a| (0..levels).map(move |b| (a, b))) {
                assert!(rows.iter().any(|row| (row[j], row[k]) == pair), "{j} {k} {pair:?}");
            }
        }
    }
}
