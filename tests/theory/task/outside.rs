//! Tasks of controllers: the law at the states that a spacecraft in another model measures.

use super::flexible::beams;
use super::lvlh::keeping;
use super::{DRIVEN, FED, angle, arm, error, joints, reaching, run_in, wheels};
use crate::numbers::Larger;
use crate::run::Run;
use grapple::plant::{Adjoint, Dependencies, Direction, Jacobians, LANES, OperatingPoint, Seeds, Tangent};
use grapple::spec::Formulation;
use nalgebra::DVector;

/// Joints that torques move, against friction: those of [`FED`] without the servo.
const FREE: &str = "friction = { coulomb = 0.3, slip = 0.05 }\nmotor = { torque_limit = 200.0 }";

/// Joints that torques move, without friction, whose change within a sample is not of first order.
const SMOOTH: &str = "motor = { torque_limit = 200.0 }";

/// Spacecraft and controller, connected by the names of their variables.
struct Outside {
    craft: Run,
    law: Run,
}

/// Returns a spec as that of a controller, which samples if `samples` has a period (s).
fn controller(text: &str, samples: Option<f64>) -> String {
    let samples = samples.map_or_else(String::new, |period| format!("sample_time = {period:?}\n"));
    let text = text.replacen("name = \"arm\"\n", "name = \"law\"\nkind = \"controller\"\n", 1);
    format!("{text}[controller]\n{samples}")
}

/// Returns the text without its tasks, which are the last tables.
fn without_task(text: &str) -> &str {
    text.split("[task.").next().expect("a text")
}

impl Outside {
    fn new(craft: Run, law: &str) -> Self {
        let law = Run::new(law, 1e-9);
        assert!(law.model().states.is_empty());
        Self { craft, law }
    }

    /// Sets the measured states of the controller, and returns their number.
    fn measure(&mut self) -> usize {
        let model = self.craft.model();
        let states = model.states.iter().map(|state| &state.name);
        let known: Vec<&String> = states
            .chain(model.outputs.iter().map(|output| &output.quantity.name))
            .collect();
        let inputs = self.law.model();
        let measured = inputs.inputs.iter().map(|input| &input.quantity.name);
        let measured: Vec<&String> = measured.filter(|name| known.contains(name)).collect();
        measured
            .iter()
            .for_each(|name| self.law.set(name, self.craft.value(name)));
        measured.len()
    }

    /// Sets the inputs of the spacecraft that are outputs of the controller, and returns their
    /// number.
    fn command(&mut self) -> usize {
        self.law.look();
        let inputs = self.craft.model();
        let commands = inputs.inputs.iter().map(|input| input.quantity.name.clone());
        let law = self.law.model();
        let commands = commands.filter(|name| law.outputs.iter().any(|output| output.quantity.name == *name));
        let commands: Vec<String> = commands.collect();
        commands
            .iter()
            .for_each(|name| self.craft.set(name, self.law.value(name)));
        commands.len()
    }

    /// Sets the states of the spacecraft to those of another run, with the controller at its time.
    fn copy(&mut self, inside: &Run) {
        self.law.go(inside.simulation.state.t);
        self.craft.simulation.state.t = inside.simulation.state.t;
        for state in &self.craft.model().states {
            self.craft.set_state(&state.name, inside.value(&state.name));
        }
        self.craft.look();
    }

    /// Makes `steps` of length `period` (s), in each the controller first. Calls `then` after each.
    fn sample(&mut self, period: f64, steps: u32, mut then: impl FnMut(&Self)) {
        self.craft.look();
        for k in 1..=steps {
            self.measure();
            let t = f64::from(k) * period;
            self.law.go(t);
            self.command();
            self.craft.go(t);
            then(self);
        }
    }
}

/// Largest difference of the derivatives of all states but the work, and of the errors and singular
/// values of the task, relative to the largest derivative.
fn difference(inside: &Run, outside: &Outside) -> f64 {
    let states = &inside.model().states;
    let states = states.iter().filter(|state| state.name != "system.work");
    let (mut off, mut scale) = (0.0f64, 0.0f64);
    for name in states.map(|state| &state.name) {
        let [expected, found] = [inside, &outside.craft].map(|run| run.derivative(name));
        (off, scale) = (off.larger((found - expected).abs()), scale.larger(expected.abs()));
    }
    let results = outside.law.model();
    let results = results.outputs.iter().map(|output| &output.quantity.name);
    let of_task = results.filter(|name| name.starts_with("reach.error") || name.ends_with("lar_value"));
    of_task.fold(off, |off, name| {
        off.larger((outside.law.value(name) - inside.value(name)).abs())
    }) / scale
}

/// A controller with the spacecraft's own model has the right side of the law inside the spacecraft
/// along a line in the world and in orbit: with drives to the bit, because they have the same
/// accelerations, and with motors to round-off. A servo with feed-forward has the references of the
/// law.
#[test]
fn controller_has_the_right_side_of_the_law_inside() {
    let orbiting = keeping(0.3).0;
    for (actuator, free, text, tolerance) in [
        (DRIVEN, DRIVEN, reaching(DRIVEN, ""), 0.0),
        (DRIVEN, DRIVEN, orbiting, 0.0),
        (FED, FED, reaching(FED, ""), 0.0),
        (FED, FREE, reaching(FED, ""), 1e-13),
    ] {
        let mut inside = run_in(Formulation::Recursive, &text, 1e-9);
        let of_craft = text.replace(actuator, free);
        let craft = Run::new(without_task(&of_craft), 1e-9);
        let mut outside = Outside::new(craft, &controller(&of_craft, None));
        let mut worst = 0.0f64;
        for k in 0..14 {
            inside.go(0.5 * f64::from(k));
            outside.copy(&inside);
            assert_eq!(outside.measure(), 13 + 2 * 7);
            assert_eq!(outside.command(), if free == FED { 21 } else { 7 });
            outside.craft.look();
            worst = worst.larger(difference(&inside, &outside));
        }
        println!("relative difference {worst:.1e} (tolerance {tolerance:.0e})");
        assert!(worst <= tolerance, "{worst:e}");
    }
}

/// The sampled controller of drives and the sampled law inside have the same motion, to the
/// tolerance of the integration: both hold accelerations that are computed at the same states.
#[test]
fn sampled_controller_of_drives_has_the_motion_of_the_sampled_law_inside() {
    let (period, text) = (0.02, reaching(DRIVEN, ""));
    let sampled = text.replace("[task.reach]", &format!("[task.reach]\nsample_time = {period:?}"));
    let mut inside = run_in(Formulation::Recursive, &sampled, 1e-12);
    let craft = Run::new(without_task(&text), 1e-12);
    let start = craft.attitude("base");
    let mut outside = Outside::new(craft, &controller(&text, Some(period)));
    let (mut off, mut worst) = (0.0f64, 0.0f64);
    outside.sample(period, 350, |now| {
        inside.go(now.craft.simulation.state.t);
        for state in &now.craft.model().states {
            off = off.larger((now.craft.value(&state.name) - inside.value(&state.name)).abs());
        }
        worst = worst.larger(error(&now.law));
    });
    let turned = angle(start, outside.craft.attitude("base"));
    println!("states off by {off:.1e}, error of the tool {worst:.2e} m and rad, base turned by {turned:.2} rad");
    assert!(off < 1e-11 && worst < 1e-4 && turned > 0.3, "{off:e}");
}

/// The error of the tool that a sampled controller moves by torques is proportional to the time
/// between samples, as with the law inside; the base turns as the momentum demands.
#[test]
fn error_of_a_sampled_controller_of_torques_is_of_first_order() {
    let text = reaching(FED, "").replace(FED, SMOOTH);
    let [long, short] = [(0.02, 350), (0.01, 700)].map(|(period, steps)| {
        let craft = Run::new(without_task(&text), 1e-10);
        let start = craft.attitude("base");
        let mut outside = Outside::new(craft, &controller(&text, Some(period)));
        let mut worst = 0.0f64;
        outside.sample(period, steps, |now| worst = worst.larger(error(&now.law)));
        let momentum = outside.craft.vector("system.angular_momentum").norm();
        let turned = angle(start, outside.craft.attitude("base"));
        println!("{period} s: error {worst:.2e} m and rad, base {turned:.2} rad, momentum {momentum:.1e} N·m·s");
        assert!(turned > 0.3 && momentum < 1e-9);
        worst
    });
    assert!(long < 1e-3 && (long / short - 2.0).abs() < 0.2, "{}", long / short);
}

/// A slide of mass `m` that a controller with the mass `m'` moves by forces has `m'/m` times the
/// commanded acceleration, `kp kd (d − x) − (kp + kd) v`.
#[test]
fn wrong_mass_in_the_controller_scales_the_acceleration() {
    let slide = |mass: f64| {
        format!(
            "name = \"arm\"\n[body.slide]\nmass = {mass:?}\ninertia = [0.1, 0.1, 0.1]\n[joint.rail]\n\
             type = \"prismatic\"\nparent = \"world\"\nchild = \"slide\"\naxis = [1.0, 0.0, 0.0]\nstart = {{ position = 0.3, rate = -0.4 }}\n"
        )
    };
    let task = "[task.reach]\nframe = \"slide\"\njoints = [\"rail\"]\ncomponents = [\"x\"]\nkp = 2.0\nkd = 10.0\n\
                [[task.reach.waypoint]]\ntime = 0.0\nposition = [0.5, 0.0, 0.0]\n";
    for wrong in [2.0, 2.6] {
        let mut outside = Outside::new(Run::new(&slide(2.0), 1e-9), &controller(&(slide(wrong) + task), None));
        outside.craft.look();
        assert_eq!([outside.measure(), outside.command()], [2, 1]);
        outside.craft.look();
        let expected = wrong / 2.0 * (2.0 * 10.0 * (0.5 - 0.3) + 12.0 * 0.4);
        let found = outside.craft.derivative("rail.qd");
        println!("{wrong} kg: {found} m/s², off by {:.1e}", found - expected);
        assert!((found - expected).abs() < 1e-13);
    }
}

/// With a wrong mass of a link in the controller the tool of the free-floating arm leaves its line,
/// and the feedback bounds that: the controller computes with its own model.
#[test]
fn wrong_mass_of_a_link_moves_the_tool_off_its_line() {
    let text = reaching(FED, "").replace(FED, SMOOTH);
    let heavy = text.replacen("[body.link_7]\nmass = 4.0", "[body.link_7]\nmass = 6.0", 1);
    let [right, wrong] = [&text, &heavy].map(|law| {
        let craft = Run::new(without_task(&text), 1e-9);
        let mut outside = Outside::new(craft, &controller(law, Some(0.01)));
        let (mut worst, mut last) = (0.0f64, 0.0f64);
        outside.sample(0.01, 700, |now| {
            last = error(&now.law);
            worst = worst.larger(last);
        });
        println!("error {worst:.2e} m and rad, at the end {last:.1e}");
        worst
    });
    assert!(wrong > 10.0 * right && wrong < 0.05, "{wrong:e}");
}

/// A controller commands a flexible spacecraft as if it were rigid: its modes are no inputs, and
/// without deflection the law is that inside.
#[test]
fn modes_of_a_flexible_spacecraft_are_not_measured() {
    let text = reaching(DRIVEN, "") + &beams(4e4);
    let mut inside = run_in(Formulation::Recursive, &text.replace("dop853", "radau5"), 1e-9);
    inside.look();
    let law = controller(&text, None);
    let craft = Run::new(&(without_task(&text).to_owned() + &beams(4e4)), 1e-9);
    let mut outside = Outside::new(craft, &law);
    outside.copy(&inside);
    assert_eq!(outside.measure(), 13 + 2 * 7);
    outside.command();
    outside.craft.look();
    let off = difference(&inside, &outside);
    println!("relative difference {off:.1e}");
    assert!(off < 1e-13);
}

/// A base that wheels hold with feed-forward, and a tumbling target: their states are measured too,
/// and the law is that inside.
#[test]
fn states_of_wheels_and_of_a_target_are_measured() {
    let more = "[body.base.attitude_servo]\nkp = 60.0\nkd = 80.0\nfeed_forward = \"rigid\"\n\
                wheels = [\"wheel_x\", \"wheel_y\", \"wheel_z\"]\n\
                [measure.pose]\nfrom = \"target\"\nto = \"tip\"\n\
                [body.target]\nmass = 20.0\ninertia = [2.0, 3.0, 4.0]\n\
                start = { position = [1.5, 1.0, 1.0], angular_velocity = [0.02, -0.05, 0.03] }\n\
                [input]\n\"base.q_ref[1]\" = 0.8\n\"base.q_ref[2]\" = 0.361\n\"base.q_ref[3]\" = -0.48\n";
    let start = run_in(Formulation::Recursive, &(arm(DRIVEN) + &wheels() + more), 1e-9);
    let task = format!("[task.reach]\nframe = \"tip\"\nrelative_to = \"target\"\n{}", joints());
    // The reference is near the pose of the start, so that no motor reaches its limit.
    let pose = ["r[1]", "r[2]", "r[3]", "q[1]", "q[2]", "q[3]", "q[4]"].map(|part| {
        let reference = part.replace('[', "_ref[");
        format!(
            "\"reach.{reference}\" = {:?}\n",
            start.value(&format!("pose.{part}")) + 1e-3
        )
    });
    for (free, commands) in [(FED, 21), (FREE, 7)] {
        let craft = |actuator: &str| arm(actuator) + &wheels() + more;
        let text = |actuator: &str| craft(actuator) + &pose.concat() + &task;
        let mut inside = run_in(Formulation::Recursive, &text(FED), 1e-9);
        for (state, value) in [
            ("wheel_x.qd", 3.0),
            ("joint_3.qd", 0.2),
            ("base.w[1]", 0.02),
            ("base.v[2]", -0.1),
        ] {
            inside.set_state(state, value);
        }
        inside.look();
        let mut outside = Outside::new(Run::new(&craft(free), 1e-9), &controller(&text(free), None));
        outside.copy(&inside);
        assert_eq!(outside.measure(), 2 * 13 + 2 * 7 + 2 * 3);
        assert_eq!(outside.command(), commands);
        outside.craft.look();
        let off = difference(&inside, &outside);
        println!("relative difference {off:.1e}");
        assert!(off < 1e-13, "{off:e}");
    }
}

/// Start values of the measured states are those of the controller's own model.
#[test]
fn measured_states_start_as_those_of_the_model() {
    let text = reaching(DRIVEN, "");
    let law = Run::new(&controller(&text, None), 1e-9);
    let start = run_in(Formulation::Recursive, without_task(&text), 1e-9);
    for input in &law.model().inputs {
        assert_eq!(
            input.start,
            start.value(&input.quantity.name),
            "{}",
            input.quantity.name
        );
    }
}

/// Every input on which an output depends is among its dependencies; directional and adjoint
/// derivatives are difference quotients and rows of the Jacobian.
#[test]
fn dependencies_and_derivatives_of_a_controller_are_complete() {
    let text = reaching(FED, "").replace(FED, FREE);
    let mut law = Run::new(&controller(&text, None), 1e-9);
    law.go(3.0);
    law.set("base.w[2]", 0.03);
    let model = law.model();
    let dependencies = Dependencies::of(&model).expect("a regular law");
    let mut jacobians = Jacobians::new(&model);
    let state = law.simulation.state.clone();
    let at = OperatingPoint::new(3.0, &state.x, &state.u, &state.discrete);
    let plant = &mut law.simulation.plant;
    Tangent::<LANES>::new(&model)
        .jacobians(plant, at, &mut jacobians)
        .expect("regular");
    for (row, known) in dependencies.outputs.iter().enumerate() {
        for column in (0..model.inputs.len()).filter(|column| jacobians.D[(row, *column)] != 0.0) {
            let names = [&model.outputs[row].quantity.name, &model.inputs[column].quantity.name];
            assert!(known.inputs.contains(&column), "{names:?}");
        }
    }
    let seeds: Vec<f64> = (0..model.outputs.len()).map(|i| (i as f64).cos()).collect();
    let mut adjoint = vec![0.0; model.inputs.len()];
    let of_outputs = Seeds { dx: &[], y: &seeds };
    let mut by = Adjoint::new(&model);
    by.evaluate(plant, at, of_outputs, &mut [], &mut adjoint)
        .expect("regular");
    let expected = jacobians.D.tr_mul(&DVector::from_column_slice(&seeds));
    let off = (DVector::from_vec(adjoint) - &expected).amax() / expected.amax();
    println!("adjoint derivatives off by {off:.1e}");
    assert!(off < 1e-12, "{off:e}");
    let along: Vec<f64> = (0..model.inputs.len()).map(|i| (i as f64).sin()).collect();
    let direction = Direction { x: &[], u: &along };
    let mut of_outputs = vec![0.0; model.outputs.len()];
    let mut tangent = Tangent::<1>::new(&model);
    tangent
        .evaluate_along(plant, at, direction, &mut [], &mut of_outputs)
        .expect("regular");
    let h = 1e-6;
    let mut y = [-h, h].map(|h| {
        let u: Vec<f64> = state.u.iter().zip(&along).map(|(u, along)| u + h * along).collect();
        let mut y = vec![0.0; model.outputs.len()];
        plant
            .evaluate(OperatingPoint { u: &u, ..at }, &mut [], &mut y)
            .expect("regular");
        y
    });
    let [before, after] = &mut y;
    let scale = of_outputs.iter().copied().map(f64::abs).fold(0.0, f64::larger);
    for (k, exact) in of_outputs.iter().enumerate() {
        let quotient = (after[k] - before[k]) / (2.0 * h);
        assert!(
            (quotient - exact).abs() < 1e-7 * scale,
            "{}",
            model.outputs[k].quantity.name
        );
    }
}

/// Impedance with a measured wrench as inputs, and rates in the null space, are inputs of the
/// controller as of the spacecraft.
#[test]
fn measured_wrench_and_null_rates_are_inputs_of_the_controller() {
    let (M, f) = (20.0, 3.0);
    let task = format!(
        "[task.reach]\nframe = \"tip\"\n{}mass = {M:?}\nnull_rates = true\ncomponents = [\"x\", \"y\", \"z\"]\n",
        joints()
    );
    let text = arm(DRIVEN) + &task;
    let mut inside = run_in(Formulation::Recursive, &text, 1e-9);
    let tip = inside.vector("tip.r");
    let craft = Run::new(&arm(DRIVEN), 1e-9);
    let mut outside = Outside::new(craft, &controller(&text, None));
    outside.copy(&inside);
    outside.measure();
    for run in [&mut inside, &mut outside.law] {
        (0..3).for_each(|i| run.set(&format!("reach.r_ref[{}]", i + 1), tip[i] + 0.1));
        run.set("reach.f[1]", f);
        run.set("reach.null_rate[2]", 0.2);
    }
    outside.command();
    inside.look();
    outside.craft.look();
    let off = difference(&inside, &outside);
    println!("relative difference {off:.1e}");
    assert_eq!(off, 0.0);
    assert!((outside.law.value("reach.error[1]") - 0.1).abs() < 1e-12);
}
