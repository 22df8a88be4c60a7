//! The Rosenbrock-W method of a plant: its implicit terms, stability on the examples, and runs
//! compared with other methods.

use crate::duals::{Point, start};
use crate::every_load::{FAR, every_load};
use crate::example_files::example_files;
use crate::linearly_implicit::{ARM, stiff_arm};
use crate::numbers::{Larger, distance};
use crate::random_tree::random_tree;
use crate::run::Run;
use grapple::integrate::{Memory, Method, Ode, Settings, Stage, Stepper};
use grapple::plant::{Jacobians, LANES, Model, OperatingPoint, Plant, Tangent};
use grapple::spec::Formulation;
use nalgebra::{DMatrix, DVector};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Returns `k` of the first stage of a step: `(1 − θ W) k = f + W p`.
fn stage(plant: &mut Plant, point: &Point, p: &DVector<f64>, theta: f64) -> DVector<f64> {
    let at = OperatingPoint::new(point.t, &point.x, &point.u, &point.discrete);
    let stage = Stage {
        t: point.t,
        theta,
        is_first: true,
    };
    let mut k = DVector::from_element(p.len(), f64::NAN);
    let solved = plant.stage(at, stage, p.as_slice(), k.as_mut_slice());
    solved.expect("regular");
    k
}

/// Returns the matrix `W` at a point, column by column from stages with `θ = 0`.
fn implicit_terms(plant: &mut Plant, point: &Point) -> DMatrix<f64> {
    let n = point.x.len();
    let f = stage(plant, point, &DVector::zeros(n), 0.0);
    let unit = |j: usize| DVector::from_fn(n, |i, _| f64::from(u8::from(i == j)));
    let columns: Vec<_> = (0..n).map(|j| stage(plant, point, &unit(j), 0.0) - &f).collect();
    DMatrix::from_columns(&columns)
}

/// Returns the states' Jacobian by dual numbers.
fn jacobian(plant: &Plant, point: &Point) -> DMatrix<f64> {
    let mut jacobians = Jacobians::new(plant.model());
    let at = OperatingPoint::new(point.t, point.x.as_slice(), point.u.as_slice(), &point.discrete);
    let result = Tangent::<LANES>::new(plant.model()).jacobians(plant, at, &mut jacobians);
    result.expect("regular");
    jacobians.A
}

/// A hinge and a ball joint with springs and dampers, a motor, and a beam, at rest.
const SPRINGS: &str = r#"
name = "springs"
[body.arm]
mass = 1.0
mass_centre = [0.3, 0.1, 0.0]
inertia = [0.1, 0.2, 0.3]
[body.ball]
mass = 2.0
mass_centre = [0.1, 0.0, 0.2]
inertia = [0.1, 0.2, 0.3]
[body.boom.beam]
length = 1.2
mass_per_length = 0.8
EI = 40.0
GJ = 20.0
polar_inertia_per_length = 0.1
bending = 2
torsion = 1
damping_ratio = 0.02
[joint.hinge]
type = "revolute"
parent = "world"
child = "arm"
spring = { stiffness = 50.0 }
damping = 0.3
dc_motor = { resistance = 0.8, torque_constant = 0.6, inductance = 0.02 }
[joint.socket]
type = "spherical"
parent = "arm"
child = "ball"
origin = [0.5, 0.0, 0.0]
spring = { stiffness = 30.0 }
damping = [0.2, 0.3, 0.4]
[joint.root]
type = "prismatic"
parent = "ball"
child = "boom"
spring = { stiffness = 400.0 }
"#;

/// Without gravity, rates and loads at the start, `M`'s derivatives have no effect.
#[test]
fn for_springs_dampers_and_modes_at_rest_the_implicit_terms_are_the_jacobian() {
    let mut plant = crate::plant(SPRINGS);
    let point = start(&mut plant);
    let (W, A) = (implicit_terms(&mut plant, &point), jacobian(&plant, &point));
    // The norm of the quaternion returns to one, which W does not contain; work is quadratic.
    let quaternion = plant
        .model()
        .states
        .iter()
        .position(|state| state.name == "socket.q[1]");
    let mut off = &W - &A;
    off.row_mut(quaternion.expect("a state")).fill(0.0);
    println!("{:.1e} of {:.1e}", off.amax(), A.amax());
    assert!(off.amax() < 1e-12 * A.amax());
}

/// A stage satisfies `(1 − θ W) k = f + W p` with one matrix `W`, here with every joint and load.
/// Accelerations of light bodies are 1e3 times the slowest, so round-off is 1e-12 of the largest.
#[test]
fn a_stage_solves_its_linear_equations() {
    let mut rng = ChaCha8Rng::seed_from_u64(5);
    let (mut worst, theta) = (0.0_f64, 0.02);
    let random = (0..20).map(|seed| random_tree(seed, 1 + seed as usize % 10, 1.0).plant);
    for mut plant in random.chain([crate::plant(&every_load(FAR)), crate::plant(SPRINGS)]) {
        let mut point = start(&mut plant);
        let rates = plant.model().rates();
        for x in &mut point.x[rates] {
            *x += rng.random_range(-0.1..0.1);
        }
        let W = implicit_terms(&mut plant, &point);
        let n = point.x.len();
        let p = DVector::from_fn(n, |_, _| rng.random_range(-1e-2..1e-2));
        let f = stage(&mut plant, &point, &DVector::zeros(n), 0.0);
        let k = stage(&mut plant, &point, &p, theta);
        let (left, right) = (&k - &W * &k * theta, f + &W * p);
        let off = (left - &right).amax() / right.amax().max(k.amax());
        worst = worst.larger(off);
        assert!(off < 1e-9, "{}: {off:e}", plant.model().spec.name);
    }
    println!("{worst:.1e}");
}

/// The equations `ẋ = A x` with the matrix `W` in place of the Jacobian `A`.
struct Linear {
    A: DMatrix<f64>,
    W: DMatrix<f64>,
}

impl Ode for Linear {
    type Error = std::convert::Infallible;

    fn derivative(&mut self, _: f64, x: &[f64], dx: &mut [f64]) -> Result<(), Self::Error> {
        dx.copy_from_slice((&self.A * DVector::from_column_slice(x)).as_slice());
        Ok(())
    }

    fn stage(&mut self, stage: Stage, x: &[f64], p: &[f64], k: &mut [f64]) -> Result<(), Self::Error> {
        let right = &self.A * DVector::from_column_slice(x) + &self.W * DVector::from_column_slice(p);
        let n = right.len();
        let solved = (DMatrix::identity(n, n) - &self.W * stage.theta).lu().solve(&right);
        k.copy_from_slice(solved.expect("regular").as_slice());
        Ok(())
    }
}

/// Returns the spectral radius of a step of length `h`, as the growth of a step over a million
/// steps (`‖Rᵐ‖^(1/m)`): within 1e-4, since drift grows with the number of steps.
fn spectral_radius(ode: &mut Linear, h: f64) -> f64 {
    let n = ode.A.ncols();
    let settings = Settings::new(Method::Rosenbrock, 0.1, &vec![1e100; n]).expect("valid");
    let mut stepper = Stepper::new(settings.with_initial_step(h).expect("a step"));
    let mut step = |j: usize| {
        let mut x = vec![0.0; n];
        x[j] = 1.0;
        let mut memory = Memory::new(stepper.settings());
        let step = stepper.step(ode, 0.0, h, &mut x, &mut memory).expect("linear");
        assert_eq!(step.t, h);
        DVector::from_vec(x)
    };
    let columns: Vec<_> = (0..n).map(&mut step).collect();
    let mut power = DMatrix::from_columns(&columns);
    let (mut logarithm, mut steps) = (0.0, 1.0);
    for _ in 0..20 {
        let norm = power.norm();
        logarithm += norm.ln() / steps;
        power /= norm;
        power = &power * &power;
        steps *= 2.0;
    }
    (logarithm + power.norm().ln() / steps).exp()
}

/// Steps, s.
const STEPS: [f64; 5] = [1e-3, 3e-3, 0.01, 0.03, 0.1];

/// The spectral radius at the start of each example, with the true Jacobian and the method's own
/// matrix, is one up to the growth of the motion itself (in berthing of 5 % in a second). In
/// beam_in_grasp an ANCF beam and a grasp have stiffness that is explicit. Without the implicit
/// terms the flexible spacecraft are unstable in steps of 0.1 s.
#[test]
fn steps_longer_than_vibrations_are_stable_on_the_examples() {
    let mut unstable_without = 0;
    for path in example_files() {
        let text = std::fs::read_to_string(&path).expect("a file");
        let folder = path.parent().expect("a folder");
        let model = Model::read(&text, folder).expect("an example");
        if model.spec.formulation != Formulation::Recursive || model.states.is_empty() {
            continue;
        }
        let name = model.spec.name.clone();
        let mut plant = Plant::new(model.into()).expect("an example");
        let point = start(&mut plant);
        let (A, W) = (jacobian(&plant, &point), implicit_terms(&mut plant, &point));
        let explicit = DMatrix::zeros(A.nrows(), A.ncols());
        let [with, without] = [W, explicit].map(|W| {
            let mut ode = Linear { A: A.clone(), W };
            STEPS.map(|h| spectral_radius(&mut ode, h) - 1.0)
        });
        println!("{name}: {with:?}, without implicit terms {without:?}");
        if name != "beam_in_grasp" {
            for (h, radius) in STEPS.iter().zip(&with) {
                assert!(*radius <= 2e-5 + 0.06 * h, "{name}, step {h} s: {with:?}");
            }
        }
        unstable_without += u32::from(without[4] > 0.2);
    }
    assert!(unstable_without >= 6, "{unstable_without}");
}

/// Returns the tip position after `t`, s, in m, and the number of steps.
fn tip(arm: &str, t: f64, method: &str, tolerance: f64) -> ([f64; 3], u64) {
    let mut run = Run::new(&format!("{arm}[solver]\nmethod = \"{method}\"\n"), tolerance);
    run.go(t);
    let steps = run.simulation.statistics().steps;
    ([1, 2, 3].map(|i| run.value(&format!("tip.r[{i}]"))), steps)
}

/// Returns the distances of the tip from the reference after `t`, s, in m, and the numbers of
/// steps, for several tolerances.
fn errors<const N: usize>(arm: &str, t: f64, reference: [f64; 3], tolerances: [f64; N]) -> [(f64, u64); N] {
    let errors = tolerances.map(|tolerance| {
        let (tip, steps) = tip(arm, t, "rosenbrock", tolerance);
        (distance(tip, reference), steps)
    });
    println!("errors in m, steps: {errors:?}");
    errors
}

#[test]
fn error_on_a_flexible_arm_is_proportional_to_the_tolerance() {
    let (reference, _) = tip(ARM, 10.0, "dop853", 1e-11);
    let errors = errors(ARM, 10.0, reference, [1e-3, 1e-4, 1e-5, 1e-6]);
    // The tip moves by metres.
    for (k, (error, _)) in errors.iter().enumerate() {
        assert!(*error < 2e-6 * 0.1_f64.powi(k as i32), "{error:e}");
    }
}

/// Stiff servo, friction and spring do not limit the step.
#[test]
fn stiff_joints_do_not_limit_the_step() {
    let arm = stiff_arm();
    let (reference, _) = tip(&arm, 5.0, "radau5", 1e-9);
    let errors = errors(&arm, 5.0, reference, [3e-4, 3e-5, 3e-6]);
    // With the time constant of the servo, 1 ms, and the slip rate of friction, explicit methods
    // need more than 10 000 steps.
    assert!(errors[0].0 < 1e-4 && errors[1].0 < 1e-5 && errors[2].0 < 2e-6 && errors[0].1 < 3000);
}

/// The arm of the comparison with Exudyn, whose second modes vibrate with 12 to 60 Hz: explicit trials
/// of the default method excite no vibrations, so that it is as accurate as `rosenbrock` alone, and
/// costs little more. Errors are the largest of 40 instants of 20 s.
#[test]
fn trials_excite_no_vibrations_at_loose_tolerances() {
    let read = std::fs::read_to_string("benches/exudyn/arm.toml").expect("a spec");
    let arm = read.replace("bending = 1", "bending = 2");
    let run = |method: &str, tolerance: f64| {
        let mut run = Run::new(&format!("{arm}[solver]\nmethod = \"{method}\"\n"), tolerance);
        let path: Vec<[f64; 3]> = (1..=40)
            .map(|k| {
                run.go(0.5 * f64::from(k));
                [1, 2, 3].map(|i| run.value(&format!("tip.r[{i}]")))
            })
            .collect();
        (path, run.simulation.statistics().evaluations)
    };
    let (reference, _) = run("dop853", 1e-7);
    for tolerance in [0.1, 0.01] {
        let [auto, alone] = ["auto", "rosenbrock"].map(|method| {
            let (path, evaluations) = run(method, tolerance);
            let off = path.iter().zip(&reference).map(|(tip, exact)| distance(*tip, *exact));
            (off.fold(0.0, f64::larger), evaluations)
        });
        println!("{tolerance}: error in m, evaluations: auto {auto:?}, rosenbrock {alone:?}");
        assert!(
            auto.0 < 2.0 * alone.0 && 2 * auto.1 < 3 * alone.1,
            "{auto:?}, {alone:?}"
        );
    }
}
