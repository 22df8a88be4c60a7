//! Evaluation of several runs in the lanes of one scalar: the bits of each run.

use crate::every_load::{every_load, every_load_in_orbit};
use crate::everything::EVERYTHING;
use crate::example_files::all_example_files;
use grapple::algebra::{Lanes, Scalar, Vec3, angle_per_sine, exp, log, norm, sinc};
use grapple::plant::{Discrete, LaneDiscrete, LaneEvaluation, LanePoint, Model, NoLanes, OperatingPoint, Plant};
use grapple::spec::{self, Spec};
use grapple::{Error, Problem};
use num_traits::{One, Zero};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::f64::consts::FRAC_PI_2;
use std::sync::Arc;

/// One run: a plant with its own parameters, states and inputs.
struct Lane {
    plant: Plant,
    x: Vec<f64>,
    u: Vec<f64>,
}

/// Returns a plant with parameters that differ from the spec's by up to a hundredth, except those
/// with which the values would be invalid.
pub fn varied(model: &Arc<Model>, rng: &mut ChaCha8Rng) -> Plant {
    let mut plant = Plant::new(model.clone()).expect("valid");
    let starts = plant.parameters().to_vec();
    let mut values: Vec<f64> = starts
        .iter()
        .map(|x| x * (1.0 + rng.random_range(-1e-2..1e-2)))
        .collect();
    for _ in 0..20 {
        let Err(Error::Spec(problems)) = plant.set_parameters(&values) else {
            return plant;
        };
        let is_of = |problem: &Problem, at: &[String]| {
            let n = problem.at.len().min(at.len()).min(2);
            problem.at[..n] == at[..n]
        };
        for (i, parameter) in model.parameters.iter().enumerate() {
            if problems.iter().any(|problem| is_of(problem, &parameter.at)) {
                values[i] = starts[i];
            }
        }
    }
    panic!("{}: no valid parameters", model.spec.name);
}

/// Returns `N` runs near the start of the model, which switch some inputs, and the discrete state of
/// the start.
fn lanes<const N: usize>(model: &Arc<Model>, rng: &mut ChaCha8Rng) -> ([Lane; N], Discrete) {
    let (mut start, mut discrete) = (vec![0.0; model.states.len()], model.discrete());
    let mut plant = Plant::new(model.clone()).expect("valid");
    plant.start(0.0, &mut start, &mut discrete).expect("a start");
    let lane = |_| {
        let states = start.iter().zip(&model.states);
        Lane {
            plant: varied(model, rng),
            x: states
                .map(|(x, state)| x + 0.2 * state.nominal * rng.random_range(-1.0..1.0))
                .collect(),
            u: model
                .inputs
                .iter()
                .map(|input| input.start + input.quantity.nominal * rng.random_range(-1.0..1.0))
                .collect(),
        }
    };
    (std::array::from_fn(lane), discrete)
}

fn in_lanes<const N: usize>(of: impl Fn(usize) -> f64) -> Lanes<N> {
    Lanes(std::array::from_fn(of))
}

/// Compares the derivatives in `N` lanes with those of each run; returns the number of values.
fn compare<const N: usize>(model: &Arc<Model>) -> usize {
    let mut rng = ChaCha8Rng::seed_from_u64(N as u64);
    let (mut lanes, discrete) = lanes::<N>(model, &mut rng);
    let mut evaluation = LaneEvaluation::new(lanes.each_ref().map(|lane| &lane.plant)).expect("one model");
    let x: Vec<Lanes<N>> = (0..model.states.len()).map(|i| in_lanes(|k| lanes[k].x[i])).collect();
    let u: Vec<Lanes<N>> = (0..model.inputs.len()).map(|i| in_lanes(|k| lanes[k].u[i])).collect();
    let mut dx = vec![Lanes([f64::NAN; N]); x.len()];
    let mut y = vec![Lanes([f64::NAN; N]); model.outputs.len()];
    let (mut expected, mut expected_y) = (vec![f64::NAN; x.len()], vec![f64::NAN; y.len()]);
    for start in [0.0, 0.7] {
        let t = std::array::from_fn(|k| start + 0.3 * k as f64);
        let (x, u) = (&x, &u);
        let of = &discrete;
        let discrete = LaneDiscrete::new([of; N]).expect("one discrete state");
        evaluation
            .derivative(LanePoint { t, x, u, discrete }, &mut dx)
            .expect("regular");
        if evaluation.observes() {
            evaluation.outputs(x, of, &mut y);
        }
        for (k, lane) in lanes.iter_mut().enumerate() {
            let at = OperatingPoint::new(t[k], lane.x.as_slice(), &lane.u, of);
            lane.plant
                .evaluate(at, &mut expected, &mut expected_y)
                .expect("regular");
            let outputs = y.iter().zip(&expected_y).zip(&model.outputs);
            for ((y, expected), output) in outputs.filter(|_| evaluation.observes()) {
                let name = (&model.spec.name, &output.quantity.name);
                assert_eq!(
                    y.0[k].to_bits(),
                    expected.to_bits(),
                    "{name:?}, lane {k}: {} {expected}",
                    y.0[k]
                );
            }
            for ((dx, expected), state) in dx.iter().zip(&expected).zip(&model.states) {
                let name = (&model.spec.name, &state.name);
                assert_eq!(
                    dx.0[k].to_bits(),
                    expected.to_bits(),
                    "{name:?}, lane {k}: {} {expected}",
                    dx.0[k]
                );
            }
        }
    }
    2 * N * (x.len() + y.len())
}

fn compiled(spec: &Spec) -> Arc<Model> {
    Model::compile(spec).unwrap_or_else(|e| panic!("{e}")).into()
}

fn model(text: &str) -> Arc<Model> {
    compiled(&spec::from_toml(text).unwrap_or_else(|e| panic!("{e}")))
}

fn refusal(model: &Model) -> String {
    model
        .runs_in_lanes()
        .err()
        .map_or(String::new(), |reason| reason.to_string())
}

#[test]
fn derivatives_of_examples_have_in_each_lane_the_bits_of_the_run() {
    let (mut compared, mut values, mut refused) = (Vec::new(), 0, Vec::new());
    for path in all_example_files() {
        let text = std::fs::read_to_string(&path).expect("an example");
        // Some files are parts of others, or no specs.
        let spec = spec::read(&text, path.parent().expect("a folder"));
        let Some(Ok(model)) = spec.ok().map(|spec| Model::compile(&spec)) else {
            continue;
        };
        let model = Arc::new(model);
        match model.runs_in_lanes() {
            Ok(()) => {
                values += compare::<4>(&model) + compare::<8>(&model);
                compared.push(model.spec.name.clone());
            }
            Err(reason) => refused.push(format!("{}: {reason}", model.spec.name)),
        }
    }
    println!("{} compared, {values} values: {compared:?}", compared.len());
    println!("refused:\n{}", refused.join("\n"));
    assert!(compared.len() >= 12 && !refused.is_empty());
}

/// Loads beyond those of [`every_load`]: on a free body, between bodies, and from signals.
const MORE: &str = r#"
[body.tug]
mass = 3.0
inertia = [0.4, 0.5, 0.6]
attitude_servo = { kp = [2.0, 3.0, 4.0], kd = 1.0 }
start = { position = [3.0, 1.0, 0.5], angular_velocity = [0.1, -0.2, 0.3] }
[body.hand]
mass = 0.5
inertia = [0.1, 0.1, 0.1]
[joint.hinge]
type = "revolute"
parent = "tug"
child = "hand"
servo = { kp = 3.0, kd = 0.4 }
motor = { torque_limit = 2.0, rate_limit = 3.0 }
friction = { coulomb = 0.1, slip = 0.2 }
[joint.hinge.drive_train]
ratio = 50.0
rotor_mass = 0.1
rotor_inertia = 1e-4
stiffness = 30.0
damping = 0.2
backlash = 0.01
[thruster.switched]
frame = "tug"
direction = [0.3, -0.2, 0.9]
thrust = 3.0
[thruster.throttled]
frame = "grip"
direction = [1.0, 0.0, 0.1]
thrust = 2.0
throttle = "level"
[spring.line]
a = "grip"
b = "tug"
stiffness = 3.0
damping = 0.4
rest_length = 2.0
tension_only = true
[spring.strut]
a = "hold"
b = "tug"
stiffness = 1.0
damping = 0.3
rest_length = 1.0
[signal."hinge.q_ref"]
type = "quintic"
amplitude = 1.0
from = 0.1
until = 2.0
[signal."push.f[1]"]
type = "sine"
amplitude = 2.0
frequency = 0.4
from_importer = false
"#;

/// All joint types, flexible bodies and loads that run in lanes.
#[test]
fn derivatives_with_every_load_have_in_each_lane_the_bits_of_the_run() {
    let model = model(&(every_load([1.0, 0.0, 2.0]) + MORE));
    println!("{} values", compare::<4>(&model) + compare::<8>(&model));
}

#[test]
fn models_that_do_not_run_in_lanes_are_refused_by_name() {
    assert_eq!(
        refusal(&model(&every_load_in_orbit())),
        "the orbit is not evaluated in lanes"
    );
    println!("{}", refusal(&model(EVERYTHING)));
    let spec = every_load([1.0, 0.0, 2.0]);
    let refused = |more: &str| refusal(&model(&format!("{spec}{more}")));
    let sensor = "[sensor.gyro]\ntype = \"gyro\"\nframe = \"grip\"\n";
    assert_eq!(refused(sensor), "sensor \"gyro\" is not evaluated in lanes");
    let touch = "[contact.touch]\na = \"grip\"\nb = \"hold\"\nlaw = \"capture_pin\"\n";
    assert_eq!(refused(touch), "contact \"touch\" is not evaluated in lanes");
    for formulation in ["quaternion", "natural", "dual_quaternion"] {
        let two_link = include_str!("../../examples/two_link.toml");
        let text = format!("formulation = \"{formulation}\"\n{two_link}");
        let found = refusal(&model(&text));
        assert!(found.starts_with(&format!("formulation \"{formulation}\"")), "{found}");
    }
}

#[test]
fn lanes_of_another_model_are_refused() {
    let text = include_str!("../../examples/two_link.toml");
    let other = text.replace("two_link", "another");
    let [a, b] = [model(text), model(&other)].map(|model| Plant::new(model).expect("valid"));
    let refused = LaneEvaluation::new([&a, &a, &b, &a]).expect_err("another model");
    assert_eq!(refused, NoLanes::Model(3));
}

/// Functions with series near zero: lanes on both sides of the limit.
#[test]
fn functions_that_branch_have_in_each_lane_the_bits_of_the_number() {
    let sizes = [0.0, 1e-9, 0.03, 0.0316, 0.0317, 0.9, 1.1, 3.0];
    let x = Lanes::<8>(sizes);
    let vector = |x: f64| Vec3::new(0.6 * x, -0.8 * x, 0.0);
    let v = Vec3::new(x * 0.6, x * -0.8, Lanes::zero());
    let turned = exp(v);
    for (k, &size) in sizes.iter().enumerate() {
        let alone = exp(vector(size));
        let pairs = [
            (sinc(x).0[k], sinc(size)),
            (norm(&v).0[k], norm(&vector(size))),
            (turned.w.0[k], alone.w),
            (turned.y.0[k], alone.y),
            (log(turned).y.0[k], log(alone).y),
            (
                angle_per_sine(x * x, Lanes::one()).0[k],
                angle_per_sine(size * size, 1.0),
            ),
        ];
        for (i, (found, expected)) in pairs.into_iter().enumerate() {
            assert_eq!(
                found.to_bits(),
                expected.to_bits(),
                "function {i} at {size}: {found} {expected}"
            );
        }
    }
}

/// Returns an argument of the sine: next to a multiple of π/2, of any size, or not finite.
fn argument(rng: &mut ChaCha8Rng) -> f64 {
    let sign = if rng.random_bool(0.5) { 1.0 } else { -1.0 };
    match rng.random_range(0..6) {
        0 => rng.random_range(-8.0..8.0),
        1 if rng.random_bool(0.5) => sign * 10f64.powf(rng.random_range(0.5..7.0)),
        1 => {
            let multiple = f64::from(rng.random_range(-24i32..24)) * (0.5 * FRAC_PI_2);
            let multiple = multiple * 10f64.powi(rng.random_range(0..6));
            multiple * (1.0 + sign * 10f64.powf(rng.random_range(-17.0..-2.0)))
        }
        // The neighbours of a multiple of π/4 in its last digits.
        2 => {
            let multiple = f64::from(rng.random_range(1i32..24)) * (0.5 * FRAC_PI_2);
            sign * f64::from_bits(multiple.to_bits().wrapping_add_signed(rng.random_range(-40..40)))
        }
        3 => sign * 10f64.powf(rng.random_range(-320.0..308.0)),
        4 => {
            let special = [0.0, f64::MIN_POSITIVE, 5e-324, f64::MAX, f64::INFINITY, f64::NAN];
            sign * special[rng.random_range(0..special.len())]
        }
        // Any bits of the high word at the limits between multiples.
        _ => {
            let limits = [
                0x3e46_a09e_u64,
                0x3fe9_21fb,
                0x3ff9_21fb,
                0x4002_d97c,
                0x400f_6a7a,
                0x4015_fdbc,
                0x401c_463b,
                0x4139_21fb,
            ];
            let high = limits[rng.random_range(0..limits.len())].wrapping_add_signed(rng.random_range(-1..2));
            sign * f64::from_bits((high << 32) | rng.random_range(0..1 << 32))
        }
    }
}

fn sines<const N: usize>(rounds: usize) {
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    for _ in 0..rounds {
        let x = Lanes::<N>(std::array::from_fn(|_| argument(&mut rng)));
        let (sine, cosine) = x.sin_cos();
        for (k, &x) in x.0.iter().enumerate() {
            let (s, c) = Scalar::sin_cos(x);
            let found = [sine.0[k], cosine.0[k]].map(f64::to_bits);
            assert_eq!(
                found,
                [s, c].map(f64::to_bits),
                "{x:e}: {sine:?} {cosine:?}, {s:e} {c:e}"
            );
        }
    }
}

#[test]
fn sine_and_cosine_in_lanes_have_the_bits_of_libm() {
    sines::<4>(100_000);
    sines::<8>(100_000);
}

#[test]
fn operations_in_lanes_have_the_bits_of_those_on_numbers() {
    let mut rng = ChaCha8Rng::seed_from_u64(5);
    for _ in 0..10_000 {
        let [a, b] = [(); 2].map(|()| Lanes::<8>(std::array::from_fn(|_| argument(&mut rng))));
        let all = |k: usize| {
            let (x, y) = (a.0[k], b.0[k]);
            [
                ((a + b).0[k], x + y),
                ((a - b).0[k], x - y),
                ((a * b).0[k], x * y),
                ((a / b).0[k], x / y),
                ((-a).0[k], -x),
                ((a * 0.7).0[k], x * 0.7),
                (a.sqrt().0[k], Scalar::sqrt(x)),
                (a.atan2(b).0[k], Scalar::atan2(x, y)),
                (a.tanh().0[k], Scalar::tanh(x)),
                (Scalar::exp(a).0[k], Scalar::exp(x)),
                (Scalar::round(a).0[k], Scalar::round(x)),
                (Lanes::select(a.exceeds(0.5), a, b).0[k], f64::select(x > 0.5, x, y)),
            ]
        };
        for (i, (found, expected)) in (0..8).flat_map(all).enumerate() {
            let is_equal = found.to_bits() == expected.to_bits() || (found.is_nan() && expected.is_nan());
            assert!(is_equal, "operation {}: {found:e} {expected:e} of {a:?} {b:?}", i % 12);
        }
    }
}

/// Such code has to be converted, or to be refused by [`Model::runs_in_lanes`].
#[test]
fn values_and_comparisons_of_lanes_that_differ_panic() {
    let (equal, differs) = (Lanes([2.0; 4]), Lanes([2.0, 2.0, 3.0, 2.0]));
    assert!(equal.value() == 2.0 && equal > Lanes::one() && differs > Lanes::one() && equal == equal);
    let panics = |of: fn(Lanes<4>) -> bool| std::panic::catch_unwind(move || of(differs)).is_err();
    assert!(panics(|x| x.value() == 2.0));
    assert!(panics(|x| x < Lanes([2.5; 4])));
    assert!(panics(|x| x == Lanes([2.0; 4])));
    assert!(panics(|x| Lanes::<4>::numbers(&[x]).is_empty()));
}
