//! Electric parts of motors: voltage, current, torque.

use crate::messages;
use crate::numbers::{Larger, orders};
use crate::run::Run;
use grapple::plant::{Jacobians, LANES, Linearisation, Model, OperatingPoint, Plant, Tangent};
use grapple::spec::{Capability, Formulation};
use nalgebra::{DMatrix, Matrix3};
use std::path::Path;

/// Resistance, Ohm; torque constant, N·m/A; inductance, H; voltage, V.
const R: f64 = 0.8;
const TORQUE: f64 = 0.05;
const L: f64 = 0.02;
const U: f64 = 2.0;

/// A motor on a joint of the world, without other loads.
struct Machine {
    text: String,
    /// Name of the joint that the motor moves.
    joint: &'static str,
    /// Inertia (kg·m²) and torque per unit of current (N·m/A) at its coordinate.
    inertia: f64,
    constant: f64,
}

impl Machine {
    /// The motor turns a body; `joint` has further fields of the joint.
    fn direct(joint: &str, motor: &str) -> Self {
        let inertia = 2e-3;
        let text = format!(
            "name = \"direct\"\n[body.arm]\nmass = 1.0\ninertia = [{inertia}, {inertia}, {inertia}]\n\
             [joint.hinge]\ntype = \"revolute\"\nparent = \"world\"\nchild = \"arm\"\n{joint}\n\
             [joint.hinge.dc_motor]\nresistance = {R}\ntorque_constant = {TORQUE}\n{motor}\n"
        );
        Self {
            text,
            joint: "hinge",
            inertia,
            constant: TORQUE,
        }
    }

    /// The motor turns the rotor of a drive train that reverses the sense, and almost without
    /// stiffness: the child rests.
    fn geared(joint: &str, motor: &str) -> Self {
        let (rotor, ratio) = (1e-4, -50.0);
        let train = format!(
            "[joint.hinge.drive_train]\nratio = {ratio:?}\nrotor_mass = 0.1\nrotor_inertia = {rotor}\nstiffness = 1e-12\n"
        );
        Self {
            text: Self::direct(joint, motor).text + &train,
            joint: "hinge_motor",
            inertia: ratio * ratio * rotor,
            constant: ratio * TORQUE,
        }
    }

    /// Returns rate (rad/s) and current (A) at the time `t` (s) after a step of the voltage to `U`.
    fn step(&self, inductance: Option<f64>, t: f64) -> [f64; 2] {
        let no_load = U / self.constant;
        let Some(inductance) = inductance else {
            let left = (-t * self.constant * self.constant / (self.inertia * R)).exp();
            return [no_load * (1.0 - left), U / R * left];
        };
        // The poles are `−a ± √d`.
        let a = 0.5 * R / inductance;
        let product = self.constant * self.constant / (self.inertia * inductance);
        let d = a * a - product;
        let root = d.abs().sqrt();
        let [even, odd] = if d > 0.0 {
            let [slow, fast] = [product / (a + root), a + root].map(|pole| (-pole * t).exp());
            [0.5 * (slow + fast), 0.5 * (slow - fast) / root]
        } else {
            [(root * t).cos(), (root * t).sin() / root].map(|part| (-a * t).exp() * part)
        };
        let rate = no_load * (1.0 - even - a * odd);
        [rate, self.inertia / self.constant * no_load * product * odd]
    }
}

/// Returns both machines, the poles of whose currents and rates are real for the first and complex for
/// the second.
fn machines(joint: &str, motor: &str) -> [Machine; 2] {
    [Machine::direct(joint, motor), Machine::geared(joint, motor)]
}

/// Returns the field of an inductance.
fn field(inductance: Option<f64>) -> String {
    inductance.map_or_else(String::new, |henry| format!("inductance = {henry}\n"))
}

#[test]
fn run_up_after_a_step_of_the_voltage_has_the_poles_of_the_closed_form() {
    for formulation in Formulation::ALL {
        let mut off = 0.0f64;
        for inductance in [None, Some(L)] {
            for machine in machines("", &field(inductance)) {
                let mut run = Run::of(crate::plant_in(formulation, &machine.text, Path::new(".")), 1e-11);
                run.set("hinge.voltage", U);
                for t in [0.01, 0.05, 0.2, 0.7] {
                    run.go(t);
                    let [rate, current] = machine.step(inductance, t);
                    let i = run.value("hinge.current");
                    off = off.larger(
                        (run.value(&format!("{}.qd", machine.joint)) * machine.constant / U
                            - rate * machine.constant / U)
                            .abs(),
                    );
                    off = off.larger((i - current).abs() / (U / R));
                    let [torque, power, loss] =
                        run.values(["hinge.motor_torque", "hinge.electric_power", "hinge.copper_loss"]);
                    let outputs = [torque - machine.constant * i, power - U * i, loss - R * i * i];
                    assert!(outputs.iter().all(|off| off.abs() < 1e-14), "{outputs:?}");
                }
            }
        }
        println!("{formulation:?}: rates and currents off by {off:.1e} of the largest (1e-8, the integrator's error)");
        assert!(off < 1e-8, "{formulation:?}: {off:e}");
    }
}

#[test]
fn motor_reaches_its_no_load_speed_and_exerts_its_stall_torque() {
    for inductance in [None, Some(L)] {
        for machine in machines("", &field(inductance)) {
            let mut run = Run::new(&machine.text, 1e-11);
            run.set("hinge.voltage", U);
            run.go(25.0);
            let off = run.value(&format!("{}.qd", machine.joint)) * machine.constant / U - 1.0;
            println!("no-load speed off by {off:.1e} (1e-9, the integrator's error)");
            assert!(off.abs() < 1e-9, "{off:e}");
        }
        let brake = "motion = \"locked\"\nmotions = [\"loads\", \"locked\"]";
        for machine in machines(brake, &field(inductance)) {
            let mut run = Run::new(&machine.text, 1e-11);
            run.set("hinge.voltage", U);
            run.go(1.0);
            let stall = machine.constant * U / R;
            let off = (run.value("hinge.motor_torque") - stall).abs();
            let off = off.larger((run.value("hinge.drive") + stall).abs()) / stall.abs();
            println!("stall torque and brake off by {off:.1e} (1e-9, the integrator's error)");
            assert!(off < 1e-9, "{off:e}");
        }
    }
}

/// Returns a tumbling spacecraft with an arm on a motor with drive train and an oscillating voltage.
pub fn tumbling(inductance: Option<f64>) -> String {
    format!(
        "name = \"tumbling\"\n[body.hub]\nmass = 8.0\nmass_centre = [0.1, 0.0, 0.05]\ninertia = [3.0, 4.0, 5.0]\n\
         start = {{ angular_velocity = [0.4, 0.6, -0.3] }}\n\
         [body.arm]\nmass = 2.0\nmass_centre = [0.4, 0.0, 0.1]\ninertia = [0.2, 0.5, 0.6]\n\
         [joint.shoulder]\ntype = \"revolute\"\nparent = \"hub\"\nchild = \"arm\"\norigin = [0.3, 0.1, 0.0]\n\
         axis = [0.0, 1.0, 0.2]\nstart = {{ rate = 0.1 }}\n\
         [joint.shoulder.drive_train]\nratio = 60.0\nrotor_mass = 0.3\nrotor_inertia = 2e-4\nstiffness = 90.0\n\
         [joint.shoulder.dc_motor]\nresistance = {R}\ntorque_constant = {TORQUE}\n{}\
         [signal.\"shoulder.voltage\"]\ntype = \"sine\"\namplitude = 6.0\nfrequency = 1.5\nfrom_importer = false\n",
        field(inductance)
    )
}

/// The energy from the supply is the copper loss, the energy of the inductance and the work on the
/// mechanism, which is the change of its energy.
#[test]
fn energy_from_the_supply_is_loss_magnetic_energy_and_mechanical_work() {
    // Nodes and weights of Gauss's rule with three points on [0, 1].
    let node = 0.5 * 0.6f64.sqrt();
    let gauss = [(0.5 - node, 5.0 / 18.0), (0.5, 4.0 / 9.0), (0.5 + node, 5.0 / 18.0)];
    for formulation in Formulation::ALL {
        for inductance in [None, Some(L)] {
            let plant = crate::plant_in(formulation, &tumbling(inductance), Path::new("."));
            let mut run = Run::of(plant, 1e-11);
            run.look();
            let before = run.value("system.energy");
            let (h, mut supplied, mut lost) = (0.01, 0.0, 0.0);
            for step in 0..100 {
                for (node, weight) in gauss {
                    run.go(h * (f64::from(step) + node));
                    supplied += h * weight * run.value("shoulder.electric_power");
                    lost += h * weight * run.value("shoulder.copper_loss");
                }
            }
            run.go(1.0);
            let i = run.value("shoulder.current");
            let magnetic = 0.5 * inductance.unwrap_or(0.0) * i * i;
            let gained = run.value("system.energy") - before;
            let off = (supplied - lost - magnetic - gained).abs();
            let work = (run.value("system.work") - gained).abs();
            println!(
                "{formulation:?}: {supplied:.2} J supplied, {lost:.2} J lost, off by {off:.1e} J (1e-7, quadrature), work {work:.1e} J"
            );
            assert!(
                off < 1e-7 && work < 1e-8 && gained.abs() > 0.1,
                "{formulation:?}: {off:e} {work:e} {gained}"
            );
        }
    }
}

/// The voltage rises with 2 V/s to its limit of 5 V.
#[test]
fn voltage_is_limited() {
    let (limit, slope) = (5.0, 2.0);
    let machine = Machine::direct(
        "",
        "voltage_limit = 5.0\n[signal.\"hinge.voltage\"]\ntype = \"table\"\ntimes = [0.0, 4.0, 8.0]\nvalues = [0.0, 8.0, 0.0]\nfrom_importer = false",
    );
    let T = machine.inertia * R / (TORQUE * TORQUE);
    let rise = |t: f64| slope / TORQUE * (t - T + T * (-t / T).exp());
    let [full, end] = [limit / slope, 8.0 - limit / slope];
    for formulation in Formulation::ALL {
        let mut run = Run::of(crate::plant_in(formulation, &machine.text, Path::new(".")), 1e-11);
        let mut off = 0.0f64;
        for k in 1..=22 {
            let t = 0.25 * f64::from(k);
            run.go(t);
            let approach = |t: f64| limit / TORQUE + (rise(full) - limit / TORQUE) * (-(t - full) / T).exp();
            let rate = if t < full { rise(t) } else { approach(t) };
            let voltage = limit.min(slope * t);
            let power = voltage * (voltage - TORQUE * rate) / R;
            off = off.larger((run.value("hinge.qd") - rate).abs() * TORQUE / limit);
            off = off.larger((run.value("hinge.electric_power") - power).abs() / (limit * limit / R));
            assert!(t <= end);
        }
        run.go(8.0);
        let i = run.value("hinge.current");
        let back = (-TORQUE * run.value("hinge.qd") / R - i).abs();
        println!("{formulation:?}: off by {off:.1e} (1e-8, the integrator's error), at the end {back:.1e} A");
        assert!(off < 1e-8 && back < 1e-9, "{formulation:?}: {off:e} {back:e}");
    }
}

/// A current that settles within a fraction of a microsecond does not limit the step. By the midpoint
/// rule it alternates, with a factor of −2/3 for a step of ten time constants.
#[test]
fn fast_current_does_not_limit_the_step_of_implicit_methods() {
    for (solver, inductance, most) in [
        ("\"auto\"", 1e-7, 1e-5),
        ("\"rosenbrock\"", 1e-7, 1e-5),
        ("\"radau5\"", 1e-7, 1e-5),
        ("\"linearly_implicit\"\nstep = 2e-3", 1.6e-4, 1e-3),
    ] {
        for machine in machines("", &field(Some(inductance))) {
            let mut run = Run::new(&format!("{}[solver]\nmethod = {solver}\n", machine.text), 1e-6);
            run.set("hinge.voltage", U);
            let mut off = 0.0f64;
            for t in [0.05, 0.3] {
                run.go(t);
                let [rate, current] = machine.step(Some(inductance), t);
                off =
                    off.larger((run.value(&format!("{}.qd", machine.joint)) - rate).abs() * machine.constant.abs() / U);
                off = off.larger((run.value("hinge.current") - current).abs() * R / U);
            }
            let steps = run.simulation.statistics().steps;
            println!("{solver}: off by {off:.1e} ({most:e}) after {steps} steps");
            assert!(off < most && steps < 1000, "{solver}: {off:e} {steps}");
        }
    }
}

#[test]
fn linearly_implicit_steps_converge_with_order_two() {
    for machine in machines("", &field(Some(L))) {
        let errors = [8e-3, 4e-3, 2e-3].map(|step| {
            let solver = format!("[solver]\nmethod = \"linearly_implicit\"\nstep = {step}\n");
            let mut run = Run::new(&format!("{}{solver}", machine.text), 1e-6);
            run.set("hinge.voltage", U);
            run.go(0.08);
            let [rate, current] = machine.step(Some(L), 0.08);
            let of_rate = (run.value(&format!("{}.qd", machine.joint)) - rate) * machine.constant / U;
            let of_current = (run.value("hinge.current") - current) * R / U;
            of_rate.hypot(of_current)
        });
        let orders = orders(&errors);
        println!("{errors:?}, orders {orders:?}");
        assert!(
            orders.iter().all(|order| (order - 2.0).abs() < 0.3),
            "{errors:?} {orders:?}"
        );
    }
}

#[test]
fn derivatives_are_those_of_the_motor() {
    let machine = Machine::direct("", &field(Some(L)));
    let (J, k) = (machine.inertia, machine.constant);
    let exact = Matrix3::new(0.0, 1.0, 0.0, 0.0, 0.0, k / J, 0.0, -k / L, -R / L);
    let mut run = Run::new(&machine.text, 1e-9);
    run.set("hinge.voltage", U);
    run.go(0.1);
    let (model, state) = (run.model(), run.simulation.state.clone());
    let at = OperatingPoint::new(state.t, &state.x, &state.u, &state.discrete);
    let names: Vec<&str> = model.states.iter().map(|state| state.name.as_str()).collect();
    assert_eq!(names, ["hinge.q", "hinge.qd", "hinge.current", "system.work"]);
    let plant = &mut run.simulation.plant;
    let mut jacobians = Jacobians::new(&model);
    let found = Tangent::<LANES>::new(&model).jacobians(plant, at, &mut jacobians);
    found.expect("regular");
    let off = (jacobians.A.fixed_view::<3, 3>(0, 0) - exact).amax();
    let inputs: Vec<f64> = jacobians.B.column(0).iter().copied().collect();
    let linear = Linearisation::new(plant, at).expect("regular");
    let participants: Vec<&str> = linear.participants().map(|of| of.name.as_str()).collect();
    println!(
        "Jacobian off by {off:.1e}, linearised {:.1e} (1e-13)",
        (&linear.A - exact).amax()
    );
    assert!(off < 1e-13 && (&linear.A - exact).amax() < 1e-13);
    assert_eq!(inputs, [0.0, 0.0, 1.0 / L, 0.0]);
    assert_eq!((linear.pairs, participants), (1, vec!["hinge.q", "hinge.current"]));
}

#[test]
fn currents_are_coordinates_of_the_linearisation_in_every_formulation() {
    for formulation in Formulation::ALL
        .into_iter()
        .filter(|of| of.has(Capability::Linearisation))
    {
        let mut plant = crate::plant_in(formulation, &tumbling(Some(L)), Path::new("."));
        let point = crate::duals::start(&mut plant);
        let at = OperatingPoint::new(point.t, &point.x, &point.u, &point.discrete);
        let linear = Linearisation::new(&mut plant, at).expect("regular");
        let n = linear.coordinates.len();
        assert_eq!(
            (n, linear.coordinates[n - 1].name.as_str()),
            (2 * linear.pairs + 1, "shoulder.current")
        );
        let off = (&linear.S * &linear.T - DMatrix::identity(n, n)).amax();
        let own = linear.A[(n - 1, n - 1)] + R / L;
        assert!(off < 1e-12 && own.abs() < 1e-12, "{formulation:?}: {off:e} {own:e}");
    }
}

/// A motor in an arm does not prevent feed-forward of another joint, and back-EMF counts there.
#[test]
fn joint_with_a_motor_moves_under_the_feed_forward_of_another() {
    let text = tumbling(Some(L)).replace("[signal", "[body.hand]\nmass = 0.5\nmass_centre = [0.2, 0.0, 0.0]\ninertia = [0.01, 0.02, 0.02]\n\
        [joint.wrist]\ntype = \"revolute\"\nparent = \"arm\"\nchild = \"hand\"\norigin = [0.8, 0.0, 0.0]\naxis = [0.0, 1.0, 0.0]\n\
        servo = { kp = 0.0, kd = 0.0, feed_forward = \"rigid\" }\n\
        [signal.\"wrist.q_ref\"]\ntype = \"quintic\"\nfrom = 0.0\nuntil = 1.0\namplitude = 0.6\nfrom_importer = false\nwith_rate = true\n[signal");
    let mut run = Run::new(&text, 1e-10);
    run.go(1.0);
    let off = run.value("wrist.q") - 0.6;
    println!("wrist off by {off:.1e} rad (1e-7, the integrator's error)");
    assert!(off.abs() < 1e-7, "{off:e}");
}

#[test]
fn restored_state_continues_with_the_same_bits() {
    let mut run = Run::new(&tumbling(Some(L)), 1e-8);
    run.go(0.3);
    let saved = run.simulation.state.clone();
    run.go(0.6);
    let end = run.simulation.state.x.clone();
    run.simulation.state = saved;
    run.go(0.6);
    assert_eq!(run.simulation.state.x, end);
}

#[test]
fn fields_that_do_not_fit_a_dc_motor_are_reported() {
    let _section = messages::of_this_test();
    let refused = |text: &str, place: &str| {
        let message = Model::read(text, Path::new(".")).expect_err("not valid").to_string();
        assert!(message.contains(place), "{place} is not in: {message}");
        messages::record(message);
    };
    for (joint, motor, place) in [
        ("servo = { kp = 1.0, kd = 1.0 }", "", "\"hinge\", servo"),
        ("motor = { torque_limit = 1.0 }", "", "\"hinge\", motor"),
        ("input = false", "", "\"hinge\", input"),
        ("motion = \"locked\"", "", "\"hinge\", dc_motor"),
        ("motions = [\"loads\", \"prescribed\"]", "", "\"hinge\", dc_motor"),
        ("", "inductance = 0.0", "\"hinge\", dc_motor.inductance"),
        ("", "voltage_limit = -1.0", "\"hinge\", dc_motor.voltage_limit"),
        (
            "",
            "inductance = 0.1\n[signal.\"hinge.tau\"]\ntype = \"constant\"",
            "hinge.tau",
        ),
    ] {
        refused(&Machine::direct(joint, motor).text, place);
    }
    let text = Machine::direct("", "").text;
    refused(
        &text.replace("resistance = 0.8", "resistance = 0.0"),
        "\"hinge\", dc_motor.resistance",
    );
    refused(
        &text.replace("torque_constant = 0.05", "torque_constant = -1.0"),
        "\"hinge\", dc_motor.torque_constant",
    );
    refused(&text.replace("\"revolute\"", "\"prismatic\""), "\"hinge\", dc_motor");
    let text = Machine::direct("", &field(Some(L))).text;
    refused(
        &(text.clone() + "[assembly]\nequilibrium = true\n"),
        "\"hinge\", dc_motor.inductance",
    );
    let conserving = "formulation = \"natural\"\n[solver]\nmethod = \"conserving\"\nstep = 0.01\n";
    let natural = text.replace("name = \"direct\"\n", &format!("name = \"direct\"\n{conserving}"));
    refused(&natural, "\"hinge\", dc_motor.inductance");
}

/// Without inductance the motor is a load like any other for the conserving method.
#[test]
fn conserving_method_has_motors_without_inductance() {
    let machine = Machine::direct("", "");
    let conserving = "formulation = \"natural\"\n[solver]\nmethod = \"conserving\"\nstep = 2e-3\n";
    let text = machine
        .text
        .replace("name = \"direct\"\n", &format!("name = \"direct\"\n{conserving}"));
    let plant = Plant::new(Model::read(&text, Path::new(".")).expect("valid").into()).expect("derives");
    let mut run = Run::of(plant, 1e-6);
    run.set("hinge.voltage", U);
    run.go(0.5);
    let drift = run.value("system.energy") - run.value("system.work");
    let [rate, _] = machine.step(None, 0.5);
    let off = (run.value("hinge.qd") - rate) * TORQUE / U;
    println!("off by {off:.1e} (1e-5, the step), energy less work by {drift:.1e} J");
    assert!(off.abs() < 1e-5 && drift.abs() < 1e-12, "{off:e} {drift:e}");
}
