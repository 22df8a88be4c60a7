//! Impacts: effect of impulses on the whole spacecraft, in every formulation.

use crate::numbers::Larger;
use crate::random_tree::random_craft;
use crate::run::Run;
use grapple::Error;
use grapple::algebra::{Twist, Vec3};
use grapple::dynamics::recursive::{jacobian, mass_matrix};
use grapple::event::{Event, Occurrence, Pairing, Refused};
use grapple::plant::Model;
use grapple::spec::{Capability, Formulation, JointMotion};
use grapple::system::{Carrier, Kinematics};
use nalgebra::DVector;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::path::Path;

/// Total momentum, angular momentum and energy of both bodies of an impact.
#[derive(Clone, Debug)]
pub struct Balance {
    pub p: Vec3<f64>,
    pub h: Vec3<f64>,
    pub energy: f64,
    /// Sums of the magnitudes of the bodies' momenta and angular momenta.
    scales: [f64; 2],
}

impl Balance {
    pub fn of(run: &Run) -> Self {
        let p = run.vector("system.momentum");
        let centre = run.vector("system.mass_centre");
        Self {
            p,
            h: run.vector("system.angular_momentum") + centre.cross(&p),
            energy: run.value("system.energy"),
            scales: [
                run.value("system.momentum_scale"),
                run.value("system.angular_momentum_scale") + run.value("system.momentum_scale") * centre.norm(),
            ],
        }
    }

    /// Returns the largest difference of momenta, relative to the sums of the bodies' magnitudes.
    pub fn off(&self, other: &Self) -> f64 {
        let [p, h] = [0, 1].map(|i| self.scales[i].larger(other.scales[i]));
        ((self.p - other.p).norm() / p).larger((self.h - other.h).norm() / h)
    }
}

/// Returns true if an impulse was refused for a reason that satisfies `reason`.
fn is_refused(event: &Event, reason: impl Fn(&Refused) -> bool) -> bool {
    matches!(&event.what, Occurrence::ImpactRefused { reason: of, .. } if reason(of))
}

/// Raises a command and executes it at the current state; returns the events.
pub fn command(run: &mut Run, input: &str) -> Vec<Event> {
    run.set(input, 1.0);
    execute_commands(run)
}

/// Executes the pending commands at the current state; returns the events.
pub fn execute_commands(run: &mut Run) -> Vec<Event> {
    let mut events = Vec::new();
    let state = &mut run.simulation.state;
    run.simulation
        .plant
        .update(state.t, &mut state.x, &state.u, &mut state.discrete, &mut events)
        .expect("regular");
    run.simulation.invalidate();
    run.look();
    events
}

/// Returns two random spacecraft with a contact between them of the law `law`: a free arm with a
/// tip on its last body, and a passing payload.
fn pair(seed: u64, law: &str) -> String {
    let mut rng = ChaCha8Rng::seed_from_u64(seed ^ 0x5eed);
    let mut vector = |size: f64| -> [f64; 3] { std::array::from_fn(|_| rng.random_range(-size..size)) };
    let (axes, normal, at) = (vector(180.0), vector(1.0), vector(1.0));
    let arm = random_craft(seed, 4, 1e3);
    let run = Run::new(&format!("{arm}[frame.tip]\nbody = \"b4\"\norigin = {at:?}\n"), 1e-6);
    let tip = {
        let mut run = run;
        run.look();
        run.vector("tip.r")
    };
    let tip = [tip.x, tip.y, tip.z];
    let (v, w) = (vector(1.0), vector(1.0));
    format!(
        "{arm}[frame.tip]\nbody = \"b4\"\norigin = {at:?}\n\
         [body.payload]\nmass = 3.0\nmass_centre = [0.2, -0.4, 0.3]\ninertia = [0.4, 0.5, 0.6, 0.02, -0.03, 0.01]\n\
         start = {{ position = {tip:?}, rpy_deg = {axes:?}, velocity = {v:?}, angular_velocity = {w:?} }}\n\
         [contact.touch]\na = \"tip\"\nb = \"payload\"\nnormal = {normal:?}\nreach = 1e-9\n{law}"
    )
}

/// Returns [`pair`] with the normal on the side from which the bodies approach.
fn approaching(seed: u64) -> String {
    let text = pair(seed, LAWS[seed as usize % LAWS.len()]);
    let mut run = Run::new(&text, 1e-9);
    command(&mut run, "touch.impact");
    if run.value("touch.status") != 3.0 {
        return text;
    }
    let normal = run.simulation.plant.model().spec.contact["touch"].normal;
    text.replace(&format!("{normal:?}"), &format!("{:?}", normal.map(|n| -n)))
}

const LAWS: [&str; 4] = [
    "e = 0.6\ne_t = 0.2\nmu = 0.4\n",
    "law = \"energy_friction\"\nr_E = 0.6\nr_f = 0.5\non_inconsistent = \"clamp\"\n",
    "law = \"energy_friction\"\nr_E = 1.0\nr_f = 1.0\n",
    "law = \"stronge\"\ne = 0.5\nmu = 0.3\n",
];

/// Impacts of random spacecraft, including flexible ones and locked joints. Momenta are conserved
/// to 1e-12 of the sums of the bodies' magnitudes. The energy change equals the reported one and
/// the one computed from the velocities before and after; `system.work` includes it. All
/// formulations agree.
#[test]
fn impacts_conserve_momentum_and_lose_the_reported_energy() {
    let (mut worst, mut impacts) = ([0.0f64; 4], 0);
    for seed in 0..40 {
        let text = approaching(seed);
        let mut impulses: Vec<Vec3<f64>> = Vec::new();
        for formulation in Formulation::ALL {
            if !formulation.has(Capability::Flexible) && text.contains(".beam]") | text.contains(".modal]") {
                continue;
            }
            let mut run = Run::of(crate::plant_in(formulation, &text, Path::new(".")), 1e-9);
            run.look();
            let before = Balance::of(&run);
            let work = run.value("system.work");
            let messages = command(&mut run, "touch.impact");
            let after = Balance::of(&run);
            assert_eq!(messages.len(), 1, "{messages:?}");
            let (p, u, u_after) = (
                run.vector("touch.impulse"),
                run.vector("touch.velocity_before"),
                run.vector("touch.velocity_after"),
            );
            impulses.push(p);
            if run.value("touch.status") > 2.0 {
                assert_eq!(p, Vec3::zeros(), "{messages:?}");
                continue;
            }
            impacts += 1;
            let change = run.value("touch.energy_change");
            let of_velocities = 0.5 * p.dot(&(u + u_after));
            let scale = before.energy.abs().max(after.energy.abs()).max(1.0);
            worst[0] = worst[0].larger(before.off(&after));
            worst[1] = worst[1].larger((after.energy - before.energy - change).abs() / scale);
            worst[2] = worst[2].larger((change - of_velocities).abs() / scale);
            worst[2] = worst[2].larger((run.value("system.work") - work - change).abs() / scale);
            assert!(change <= 1e-12, "{text}: {change} J");
        }
        for other in &impulses[1..] {
            worst[3] = worst[3].larger((other - impulses[0]).norm() / impulses[0].norm().max(1e-3));
        }
    }
    println!(
        "{impacts} impacts: momenta {:.1e}, energy {:.1e}, work {:.1e}, formulations {:.1e}",
        worst[0], worst[1], worst[2], worst[3]
    );
    assert!(impacts > 40, "{impacts}");
    assert!(worst[0] < 1e-12 && worst[1] < 1e-12 && worst[2] < 1e-12, "{worst:?}");
    // The formulations differ by round-off times condition numbers of 1e3 and more.
    assert!(worst[3] < 1e-10, "{worst:?}");
}

/// The effective mass of a normal impulse is `1 / (n·J M⁻¹ Jᵀ n)`, with mass matrix and Jacobians
/// of the trees; for rigid arms, whose Jacobian is available.
#[test]
fn virtual_mass_equals_that_of_mass_matrix_and_jacobians() {
    let mut worst: f64 = 0.0;
    for seed in (0..20).step_by(2) {
        let text = approaching(seed);
        let mut run = Run::new(&text, 1e-9);
        command(&mut run, "touch.impact");
        let plant = &run.simulation.plant;
        let (model, derived) = (plant.model(), plant.derived());
        let system = model.system();
        let (mut q, mut qd) = (vec![0.0; system.nq], vec![0.0; system.nv]);
        model.start_coordinates(&model.parameter_starts(), &mut q, &mut qd);
        let mut kinematics = Kinematics::new(system);
        kinematics.update(system, derived, &q, &qd);
        let contact = &model.spec.contact["touch"];
        let frame = |name: &str| {
            let frame = system.frame(name).expect("a frame");
            (system.carrier(frame), kinematics.pose(system, derived, frame))
        };
        let (a, b) = (frame(&contact.a), frame(&contact.b));
        let n = (b.1.R * Vec3::from(contact.normal)).normalize();
        let point = (a.1.p + b.1.p) * 0.5;
        let mut rows = DVector::zeros(system.nv);
        for (side, (on, _)) in [(1.0, a), (-1.0, b)] {
            let Carrier::Body(body) = on else {
                panic!("a rigid body")
            };
            let mut columns = vec![Twist::zero(); system.nv];
            jacobian(
                system,
                &kinematics,
                body,
                &(point - kinematics.bodies[body].p_WB),
                &mut columns,
            );
            rows += DVector::from_iterator(system.nv, columns.iter().map(|column| side * n.dot(&column.v)));
        }
        let M = mass_matrix(system, derived, &kinematics);
        let response = rows.dot(&M.cholesky().expect("positive").solve(&rows));
        worst = worst.larger((run.value("touch.virtual_mass") * response - 1.0).abs());
    }
    println!("virtual masses: {worst:.1e}");
    assert!(worst < 1e-12, "{worst}");
}

/// The reported velocity after an impact is that of the frames.
#[test]
fn velocity_after_the_impact_is_that_of_the_frames() {
    let (mut worst, mut impacts): (f64, u32) = (0.0, 0);
    for seed in 0..12 {
        let text = approaching(seed);
        let measured = format!("{text}[frame.target]\nbody = \"payload\"\n");
        let mut run = Run::of(crate::plant_in(Formulation::Recursive, &measured, Path::new(".")), 1e-9);
        command(&mut run, "touch.impact");
        let seen = run.vector("tip.v") - run.vector("target.v");
        let reported = run.vector("touch.velocity_after");
        if run.value("touch.status") <= 2.0 {
            impacts += 1;
            worst = worst.larger((seen - reported).norm() / run.vector("touch.velocity_before").norm());
        }
    }
    println!("velocities after {impacts} impacts: {worst:.1e} (1e-12)");
    assert!(worst < 1e-12 && impacts > 6);
}

/// Runs the berthing example in one of the paper's cases.
fn berthing(change: impl Fn(&mut grapple::spec::Spec)) -> Run {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/berthing.toml");
    let text = std::fs::read_to_string(path).expect("an example");
    let mut spec = Model::read(&text, Path::new(".")).expect("sound").spec.clone();
    spec.signal.clear();
    change(&mut spec);
    let model = Model::compile(&spec).unwrap_or_else(|e| panic!("{e}"));
    let mut run = Run::of(grapple::plant::Plant::new(model.into()).expect("sound"), 1e-9);
    run.look();
    run
}

fn ratios(spec: &mut grapple::spec::Spec, r_E: f64, r_f: f64) {
    let contact = spec.contact.get_mut("berth").expect("the contact");
    (contact.r_E, contact.r_f) = (Some(r_E), Some(r_f));
}

/// Replaces the hand's joint by a fixed one.
fn locked(spec: &mut grapple::spec::Spec) {
    let hand = spec.joint.get_mut("wrist").expect("the hand's joint");
    hand.kind = grapple::spec::JointType::Fixed;
    (hand.axis, hand.start) = (None, None);
}

/// Impulses of Cyril et al. (1998) from an independent planar program (tables 1 and 2): hand
/// locked, flexible links with two modes each. The references have seven decimals, 1e-7 N·s; for
/// rigid links six.
#[test]
fn berthing_gives_the_impulses_of_the_planar_case() {
    let cases = [
        ((1.0, 1.0), (0.4185007, -1.5107245), Some(-0.0604642)),
        ((0.0, 0.0), (0.0, -1.7776519), Some(0.0)),
        ((0.5, 0.5), (0.2092504, -1.8817413), Some(-0.0302321)),
    ];
    for ((r_E, r_f), (x, y), change) in cases {
        let mut run = berthing(|spec| {
            ratios(spec, r_E, r_f);
            locked(spec);
        });
        let messages = command(&mut run, "berth.impact");
        let p = run.vector("berth.impulse");
        println!(
            "r_E = {r_E}, r_f = {r_f}: {p:?}, {} J",
            run.value("berth.energy_change")
        );
        assert!((p - Vec3::new(x, y, 0.0)).norm() < 1e-7, "{p:?}, {messages:?}");
        if let Some(change) = change {
            assert!((run.value("berth.energy_change") - change).abs() < 1e-7);
        }
    }
    // A capturing pin receives the plastic impulse.
    let mut run = berthing(|spec| {
        locked(spec);
        let contact = spec.contact.get_mut("berth").expect("the contact");
        contact.law = grapple::spec::ImpactLaw::CapturePin;
        (contact.r_E, contact.r_f) = (None, None);
    });
    let messages = command(&mut run, "berth.capture");
    let p = run.vector("berth.impulse");
    assert!(
        (p - Vec3::new(0.418_500_7, -1.510_724_5, 0.0)).norm() < 1e-7,
        "{p:?}, {messages:?}"
    );
    // (1, 0) is inconsistent and reported; the state is unchanged.
    let mut run = berthing(|spec| {
        ratios(spec, 1.0, 0.0);
        locked(spec);
    });
    let x = run.simulation.state.x.clone();
    let messages = command(&mut run, "berth.impact");
    assert!(
        messages[0].contact() == Some("berth")
            && is_refused(&messages[0], |of| matches!(of, Refused::Inconsistent { .. })),
        "{messages:?}"
    );
    assert!(
        (run.value("berth.r_E_max") - 0.738122).abs() < 1e-6,
        "{}",
        run.value("berth.r_E_max")
    );
    assert_eq!((run.value("berth.status"), run.value("berth.count")), (5.0, 0.0));
    assert_eq!(x, run.simulation.state.x);
    // The brake stops the hand before the impact.
    let mut run = berthing(|spec| {
        ratios(spec, 1.0, 1.0);
        let hand = spec.joint.get_mut("wrist").expect("the hand's joint");
        hand.motions = vec![grapple::spec::JointMotion::Loads, grapple::spec::JointMotion::Locked];
    });
    command(&mut run, "wrist.motion");
    command(&mut run, "berth.impact");
    let p = run.vector("berth.impulse");
    println!("braked: {p:?}");
    assert!((p - Vec3::new(0.418_780_2, -1.510_602_9, 0.0)).norm() < 1e-7, "{p:?}");
    // Rigid links.
    for formulation in Formulation::ALL {
        let mut run = berthing(|spec| {
            ratios(spec, 1.0, 1.0);
            locked(spec);
            crate::stiffen(spec);
            for link in ["link1", "link2"] {
                let body = spec.body.get_mut(link).expect("a link");
                let L: f64 = 8.13;
                body.mass = Some(20.0);
                body.mass_centre = [L / 2.0, 0.0, 0.0];
                let I = 20.0 * L * L / 12.0;
                body.inertia = Some(grapple::spec::Inertia::Diagonal([1.0, I, I]));
            }
            spec.formulation = formulation;
        });
        command(&mut run, "berth.impact");
        let p = run.vector("berth.impulse");
        println!("rigid, {}: {p:?}", formulation.name());
        assert!((p - Vec3::new(0.361_998, -2.138_570, 0.0)).norm() < 1e-6, "{p:?}");
    }
}

/// A common velocity, as in orbit, changes no impulse by more than 1e-9; exchanging the two frames
/// has no effect.
#[test]
fn impulses_are_invariant_under_a_common_velocity_and_exchange_of_sides() {
    let (mut worst, mut impacts) = ([0.0f64; 2], 0);
    for seed in 0..16 {
        let text = approaching(seed);
        let impulse = |change: &dyn Fn(&mut Run), text: &str| {
            let mut run = Run::of(crate::plant_in(Formulation::Recursive, text, Path::new(".")), 1e-9);
            change(&mut run);
            command(&mut run, "touch.impact");
            run.vector("touch.impulse")
        };
        let p = impulse(&|_| {}, &text);
        let size = p.norm().max(1e-3);
        impacts += u32::from(p.norm() > 0.0);
        let fast = impulse(
            &|run| {
                let states = &run.simulation.plant.model().states;
                let bases: Vec<usize> = (0..states.len()).filter(|&i| states[i].name.contains(".v[")).collect();
                let orbit = [4600.0, -5200.0, 3100.0];
                for (k, i) in bases.into_iter().enumerate() {
                    run.simulation.state.x[i] += orbit[k % 3];
                }
            },
            &text,
        );
        worst[0] = worst[0].larger((fast - p).norm() / size);
        // The normal is given in the payload's axes; after the exchange it is expressed in those of
        // the tip.
        let mut run = Run::of(crate::plant_in(Formulation::Recursive, &text, Path::new(".")), 1e-9);
        run.look();
        let spec = run.simulation.plant.model().spec.clone();
        let n = run.attitude("payload").rotation() * Vec3::from(spec.contact["touch"].normal);
        let n = -(run.attitude("tip").rotation().transpose() * n);
        let mut swapped = spec;
        let touch = swapped.contact.get_mut("touch").expect("the contact");
        (touch.a, touch.b, touch.normal) = (touch.b.clone(), touch.a.clone(), [n.x, n.y, n.z]);
        let model = Model::compile(&swapped).expect("sound");
        let mut run = Run::of(grapple::plant::Plant::new(model.into()).expect("sound"), 1e-9);
        command(&mut run, "touch.impact");
        worst[1] = worst[1].larger((run.vector("touch.impulse") + p).norm() / size);
    }
    println!(
        "{impacts} impacts: a common velocity {:.1e} (1e-9), the sides exchanged {:.1e} (1e-11)",
        worst[0], worst[1]
    );
    assert!(worst[0] < 1e-9 && worst[1] < 1e-11 && impacts > 8, "{worst:?}");
}

/// An external impulse changes momentum, angular momentum and work once for each rising edge of its
/// command.
#[test]
fn an_impulse_input_acts_once_for_each_rise() {
    for formulation in Formulation::ALL {
        let text = format!(
            "{}[frame.tip]\nbody = \"b3\"\norigin = [0.3, -0.2, 0.5]\n[port.kick]\nframe = \"tip\"\naxes = \"frame\"\nimpulse = true\n",
            random_craft(4, 5, 1.0)
        );
        let mut run = Run::of(crate::plant_in(formulation, &text, Path::new(".")), 1e-12);
        run.look();
        let before = Balance::of(&run);
        let p = Vec3::new(0.7, -1.2, 0.4);
        for i in 0..3 {
            run.set(&format!("kick.impulse[{}]", i + 1), p[i]);
        }
        let p = run.attitude("tip").rotation() * p;
        let r = run.vector("tip.r");
        let messages = command(&mut run, "kick.impact");
        assert_eq!(messages.len(), 1);
        let after = Balance::of(&run);
        let off = Balance {
            p: after.p - p,
            h: after.h - r.cross(&p),
            ..after.clone()
        };
        let work = run.value("system.work");
        println!(
            "{}: {:.1e}, energy {:.1e}",
            formulation.name(),
            before.off(&off),
            after.energy - before.energy - work
        );
        assert!(before.off(&off) < 1e-12);
        assert!((after.energy - before.energy - work).abs() < 1e-12 * after.energy.abs().max(1.0));
        // A command that stays on has no further effect; after it falls it may rise again.
        run.go(0.01);
        let off = (run.vector("system.momentum") - after.p).norm();
        assert!(off < 1e-9, "{off}");
        run.set("kick.impact", 0.0);
        run.go(0.02);
        run.set("kick.impact", 1.0);
        run.go(0.03);
        let twice = (run.vector("system.momentum") - before.p).norm() / p.norm();
        assert!(twice > 1.5, "{twice}");
    }
}

/// A prescribed joint keeps its rate through an impact, and the drive's work is in the balance.
#[test]
fn driven_joint_keeps_its_rate_through_an_impact() {
    let text = "name = \"driven\"\n[body.base]\nmass = 6.0\ninertia = [0.8, 0.9, 1.0]\nstart = { angular_velocity = [0.1, -0.2, 0.3] }\n\
        [body.arm]\nmass = 1.5\nmass_centre = [0.5, 0.1, 0.0]\ninertia = [0.1, 0.2, 0.25]\n\
        [body.ball]\nmass = 2.0\ninertia = [0.1, 0.1, 0.1]\nstart = { position = [1.2, 0.9, 0.0], velocity = [0.3, -1.0, 0.2] }\n\
        [joint.yaw]\ntype = \"revolute\"\nparent = \"base\"\nchild = \"arm\"\norigin = [0.2, 0.9, 0.0]\naxis = [0.1, 0.0, 1.0]\n\
        motion = \"prescribed\"\nstart = { rate = 0.7 }\n[frame.tip]\nbody = \"arm\"\norigin = [1.0, 0.0, 0.0]\n\
        [contact.hit]\na = \"tip\"\nb = \"ball\"\nnormal = [0.0, -1.0, 0.0]\ne = 0.5\nmu = 0.2\n";
    for formulation in Formulation::ALL {
        let mut run = Run::of(crate::plant_in(formulation, text, Path::new(".")), 1e-9);
        run.look();
        let before = Balance::of(&run);
        let messages = command(&mut run, "hit.impact");
        assert_eq!(run.value("hit.status"), 1.0, "{messages:?}");
        let after = Balance::of(&run);
        let (change, work) = (after.energy - before.energy, run.value("system.work"));
        let of_drive = work - run.value("hit.energy_change");
        println!(
            "{}: {:.1e}, {change} J of which the drive {of_drive}",
            formulation.name(),
            before.off(&after)
        );
        assert!(before.off(&after) < 1e-12 && (change - work).abs() < 1e-12 && of_drive.abs() > 1e-3);
        assert!((run.value("yaw.qd") - 0.7).abs() < 1e-13, "{}", run.value("yaw.qd"));
    }
}

/// A ball in a corner hits wall and floor simultaneously. Without friction each contact has its
/// restitution; with friction both are refused by name. An uncoupled contact of another ball with
/// friction is solved separately, and a contact out of reach is reported separately.
#[test]
fn simultaneous_contacts_are_solved_together() {
    let text = |friction: &str| {
        format!(
            "name = \"corner\"\n[body.ball]\nmass = 2.0\ninertia = [1.0, 1.0, 1.0]\nstart = {{ velocity = [-1.0, -2.0, 0.0] }}\n\
             [body.other]\nmass = 1.0\ninertia = [1.0, 1.0, 1.0]\nstart = {{ position = [0.0, 0.0, 0.3], velocity = [0.1, 0.0, -1.0] }}\n\
             [frame.left]\nbody = \"ball\"\norigin = [-0.5, 0.2, 0.0]\n[frame.low]\nbody = \"ball\"\norigin = [0.2, -0.5, 0.0]\n\
             [contact.wall]\na = \"left\"\nb = \"world\"\nnormal = [1.0, 0.0, 0.0]\nreach = 1.0\ne = 0.5\n\
             [contact.floor]\na = \"low\"\nb = \"world\"\nnormal = [0.0, 1.0, 0.0]\nreach = 1.0\ne = 0.25\n{friction}\
             [contact.apart]\na = \"other\"\nb = \"world\"\nreach = 1.0\ne = 0.5\nmu = 0.3\n\
             [contact.far]\na = \"other\"\nb = \"world\"\nreach = 0.1\ne = 0.5\n"
        )
    };
    let all = ["wall", "apart", "far"];
    let impacts_of = |text: &str| {
        let mut run = Run::new(text, 1e-9);
        all.iter()
            .for_each(|contact| run.set(&format!("{contact}.impact"), 1.0));
        let messages = command(&mut run, "floor.impact");
        assert_eq!(messages.len(), 4, "{messages:?}");
        assert_eq!(
            (run.value("apart.status"), run.value("far.status")),
            (1.0, 4.0),
            "{messages:?}"
        );
        assert!((run.vector("other.v").z - 0.5).abs() < 1e-14);
        (run, messages)
    };
    let (run, _) = impacts_of(&text(""));
    for (contact, axis, e) in [("wall", 0, 0.5), ("floor", 1, 0.25)] {
        let (before, after) = (
            run.vector(&format!("{contact}.velocity_before"))[axis],
            run.vector(&format!("{contact}.velocity_after"))[axis],
        );
        assert!((after + e * before).abs() < 1e-14, "{contact}: {before} to {after}");
        assert!((run.value(&format!("{contact}.restitution")) - e).abs() < 1e-14);
        assert_eq!(run.value(&format!("{contact}.count")), 1.0);
    }
    let (run, messages) = impacts_of(&text("mu = 0.3\n"));
    assert_eq!(
        messages
            .iter()
            .filter(|event| is_refused(event, |of| *of == Refused::Coupled))
            .count(),
        2,
        "{messages:?}"
    );
    assert_eq!(run.vector("ball.v"), Vec3::new(-1.0, -2.0, 0.0));
    assert_eq!((run.value("wall.status"), run.value("floor.status")), (8.0, 8.0));
}

/// Of two coupled contacts, one that separates receives no tensile impulse: it stays in contact,
/// which is reported.
#[test]
fn separating_contact_receives_no_tensile_impulse() {
    // A rotating bar: its left end hits the floor, its right end leaves slowly; the impulse on the
    // left end alone would push the right end through the floor.
    let text = "name = \"bar\"\n[body.bar]\nmass = 1.0\ninertia = [0.01, 0.01, 0.01]\n\
        start = { velocity = [0.0, 0.0, -0.45], angular_velocity = [0.0, -1.1, 0.0] }\n\
        [frame.left]\nbody = \"bar\"\norigin = [-1.0, 0.0, 0.0]\n[frame.right]\nbody = \"bar\"\norigin = [1.0, 0.0, 0.0]\n\
        [contact.hit]\na = \"left\"\nb = \"world\"\nreach = 2.0\ne = 1.0\n[contact.leave]\na = \"right\"\nb = \"world\"\nreach = 2.0\ne = 1.0\n";
    let mut run = Run::new(text, 1e-9);
    run.set("hit.impact", 1.0);
    command(&mut run, "leave.impact");
    let [hit, leave] = ["hit", "leave"].map(|name| run.vector(&format!("{name}.velocity_after")).z);
    let before = run.vector("leave.velocity_before").z;
    assert!((hit - 1.0).abs() < 1e-13 && before > 0.0, "{hit}, {before}");
    assert!(leave.abs() < 1e-13, "{leave}");
}

/// An impact at the instant at which a brake closes acts on the free joint; a command that is on
/// initially acts once at the start; coefficients may change between impacts; an impulse that
/// overflows is not applied.
#[test]
fn commands_are_executed_in_order_with_current_parameters() {
    let text = "name = \"pendulum\"\n[body.arm]\nmass = 1.0\nmass_centre = [0.5, 0.0, 0.0]\ninertia = [0.1, 0.1, 0.1]\n\
        [joint.hinge]\ntype = \"revolute\"\nparent = \"world\"\nchild = \"arm\"\nmotions = [\"loads\", \"locked\"]\nstart = { rate = -1.0 }\n\
        [frame.tip]\nbody = \"arm\"\norigin = [1.0, 0.0, 0.0]\n[contact.stop]\na = \"tip\"\nb = \"world\"\nnormal = [0.0, 1.0, 0.0]\nreach = 2.0\ne = 0.5\n\
        [port.kick]\nframe = \"tip\"\nimpulse = true\n";
    let mut run = Run::new(text, 1e-9);
    run.set("stop.impact", 1.0);
    let messages = command(&mut run, "hinge.motion");
    assert!(
        messages[0].is_impact()
            && matches!(&messages[1].what, Occurrence::MotionSwitched { motion: JointMotion::Locked, rates, .. } if rates[0].value > 0.0),
        "{messages:?}"
    );
    let mut run = Run::new(text, 1e-9);
    run.set("stop.impact", 1.0);
    run.go(0.1);
    assert_eq!(run.value("stop.count"), 1.0);
    assert!((run.value("hinge.qd") - 0.5).abs() < 1e-12);
    run.set("stop.impact", 0.0);
    run.go(0.2);
    let mut parameters = run.simulation.plant.parameters().to_vec();
    let e = run
        .simulation
        .plant
        .model()
        .parameters
        .iter()
        .position(|p| p.quantity.name == "stop.e")
        .expect("e");
    let normal = run
        .simulation
        .plant
        .model()
        .parameters
        .iter()
        .position(|p| p.quantity.name == "stop.normal[2]")
        .expect("normal");
    (parameters[e], parameters[normal]) = (1.0, -1.0);
    run.simulation.plant.set_parameters(&parameters).expect("sound");
    run.set("stop.impact", 1.0);
    run.go(0.3);
    assert_eq!(run.value("stop.count"), 2.0);
    assert!((run.value("stop.restitution") - 1.0).abs() < 1e-12);
    let x = run.simulation.state.x.clone();
    run.set("kick.impulse[2]", 1e200);
    run.set("kick.impulse[1]", 1e200);
    run.set("kick.impact", 1.0);
    let (state, mut messages) = (&mut run.simulation.state, Vec::new());
    let (discrete, t) = (state.discrete.clone(), state.t);
    let after = (&mut state.x, &mut state.discrete);
    let failed = run
        .simulation
        .plant
        .update(t, after.0, &state.u, after.1, &mut messages);
    let failed = failed.expect_err("no number");
    assert!(
        matches!(&failed, Error::NotFinite { variable, .. } if variable == "system.work"),
        "{failed:?}"
    );
    assert!(x == state.x && discrete == state.discrete && messages.is_empty());
}

/// An impossible impact is reported with its names, and changes only the report.
#[test]
fn impossible_impact_is_reported() {
    let text = |start: &str, more: &str| {
        format!(
            "name = \"away\"\n[body.ball]\nmass = 2.0\ninertia = [1.0, 1.0, 1.0]\nstart = {{ {start} }}\n\
             [contact.wall]\na = \"ball\"\nb = \"world\"\n{more}e = 0.5\n"
        )
    };
    let cases = [
        (
            text("velocity = [0.0, 0.0, 1.0]", ""),
            3.0,
            Refused::Separating { speed: 1.0 },
        ),
        (
            text("position = [0.0, 0.0, 0.5], velocity = [0.0, 0.0, -1.0]", ""),
            4.0,
            Refused::OutOfReach {
                distance: 0.5,
                reach: 0.01,
            },
        ),
    ];
    for (text, status, reason) in cases {
        let mut run = Run::new(&text, 1e-9);
        let x = run.simulation.state.x.clone();
        let pairing = Pairing {
            contact: "wall".to_owned(),
            frames: ["ball", "world"].map(str::to_owned),
            captures: false,
        };
        let what = Occurrence::ImpactRefused { pairing, reason };
        assert_eq!(command(&mut run, "wall.impact"), [Event { t: 0.0, what }]);
        assert_eq!(run.value("wall.status"), status);
        assert_eq!(x, run.simulation.state.x);
    }
}
