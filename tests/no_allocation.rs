//! After construction neither the integrators nor the evaluation of a model allocate memory.

#![allow(unsafe_code)] // A counting allocator is an unsafe trait.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

#[path = "everything/mod.rs"]
mod everything;

use everything::{COUPLED, EVERYTHING, IN_GRASP, WITH_DIRECTORS, WITH_LIQUIDS, WITH_TETHER, rigid};
use grapple::integrate::root::find_change;
use grapple::integrate::{Alternatives, IntegrateError, Memory, Method, Ode, Settings, Stepper};
use grapple::plant::{
    Adjoint, Direction, Jacobians, LANES, Model, OperatingPoint, Plant, Seeds, StateJacobian, Tangent,
};
use grapple::simulation::Simulation;

struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

// SAFETY: every call is passed to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.with(|count| count.set(count.get() + 1));
        // SAFETY: guaranteed by the caller.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// A ring of oscillators whose derivative fails between 100 and 101 s.
struct Ring;

impl Ode for Ring {
    type Error = &'static str;
    fn derivative(&mut self, t: f64, x: &[f64], dx: &mut [f64]) -> Result<(), Self::Error> {
        let (q, v) = x.split_at(x.len() / 2);
        for i in 0..q.len() {
            dx[i] = v[i];
            dx[q.len() + i] = -q[i] + 0.1 * t.sin() * q[(i + 1) % q.len()];
        }
        if 100.0 < t && t < 101.0 {
            Err("out of order")
        } else {
            Ok(())
        }
    }
}

const AUTO: Method = Method::Auto(Alternatives {
    rosenbrock: true,
    vibrates: false,
    radau5: true,
});

#[test]
fn an_integrator_allocates_nothing_after_construction() {
    for method in [
        Method::Dopri5,
        Method::BogackiShampine,
        Method::Dop853,
        Method::Rk4 { step: 0.01 },
        Method::Radau5,
        Method::Rosenbrock,
        Method::ImplicitMidpoint { step: 0.01 },
        Method::LinearlyImplicit { step: 0.01 },
        AUTO,
    ] {
        let settings = Settings::new(method, 1e-6, &[1.0; 20]).unwrap();
        let mut stepper = Stepper::new(settings.with_max_evaluations(500));
        let mut rest = [0.0; 20];
        rest[..10].fill(0.9);
        let (mut t, mut x, mut memory) = (0.0, rest, Memory::new(stepper.settings()));
        let mut inside = [0.0; 20];
        let (mut events, mut limits, mut failures) = (0, 0, 0);
        let before = ALLOCATIONS.with(Cell::get);
        while t < 300.0 {
            let start = x[1];
            match stepper.step(&mut Ring, t, 300.0, &mut x, &mut memory) {
                Ok(step) => {
                    if (start > 0.0) != (x[1] > 0.0) {
                        let dense = stepper.dense(&mut Ring).unwrap();
                        let found = find_change([(t, start), (step.t, x[1])], |t| {
                            dense.interpolate(t, &mut inside);
                            inside[1]
                        });
                        events += u32::from(found.is_ok());
                    }
                    t = step.t;
                }
                Err(IntegrateError::WorkLimit { .. }) => {
                    limits += 1;
                    stepper.begin_call();
                }
                Err(_) => {
                    failures += 1;
                    (t, x) = (101.0, rest);
                    stepper.invalidate();
                }
            }
        }
        let allocations = ALLOCATIONS.with(Cell::get) - before;
        println!(
            "{}: {events} events, {limits} limits, {failures} failures",
            method.name()
        );
        assert_eq!(allocations, 0, "{}", method.name());
        assert!(events > 10 && limits > 0 && failures > 0);
    }
}

/// A relaxation that is stiff between 2 and 6 s.
struct Relaxation;

impl Ode for Relaxation {
    type Error = std::convert::Infallible;
    fn derivative(&mut self, t: f64, x: &[f64], dx: &mut [f64]) -> Result<(), Self::Error> {
        let rate = if (2.0..6.0).contains(&t) { 1e5 } else { 1.0 };
        dx[0] = -rate * (x[0] - t.cos());
        Ok(())
    }
}

#[test]
fn a_change_of_the_method_allocates_nothing() {
    let mut stepper = Stepper::new(Settings::new(AUTO, 1e-8, &[1.0]).unwrap());
    let (mut t, mut x, mut memory) = (0.0, [1.0], Memory::new(stepper.settings()));
    let mut changes = 0;
    let before = ALLOCATIONS.with(Cell::get);
    while t < 20.0 {
        let step = stepper.step(&mut Relaxation, t, 20.0, &mut x, &mut memory).unwrap();
        changes += u32::from(step.changed_to.is_some());
        t = step.t;
    }
    assert!(ALLOCATIONS.with(Cell::get) == before && changes > 0);
}

/// A prescribed joint that moves under its loads for a while.
const SWITCHING: &str = r#"
[signal."root.motion"]
type = "table"
interpolation = "hold"
times = [0.0, 0.7, 1.2]
values = [2.0, 0.0, 2.0]
from_importer = false
"#;

#[test]
fn a_simulation_allocates_nothing_between_events() {
    for solver in [
        "method = \"dopri5\"",
        "method = \"radau5\"",
        "method = \"implicit_midpoint\"\nstep = 0.002",
        "method = \"auto\"",
    ] {
        // In maximal coordinates Newton's iteration of the midpoint rule converges at this step
        // only for a beam with less axial stiffness.
        let soft = IN_GRASP.replace("EA = 2e3", "EA = 200.0");
        for craft in [
            EVERYTHING.to_owned(),
            format!("{EVERYTHING}{IN_GRASP}"),
            format!("{EVERYTHING}{WITH_DIRECTORS}"),
            format!("formulation = \"natural\"\n{EVERYTHING}{WITH_DIRECTORS}"),
            format!("formulation = \"quaternion\"\nquaternion = {{ momentum_rows = true }}\n{EVERYTHING}"),
            format!("formulation = \"dual_quaternion\"\n{}", rigid()),
            format!("formulation = \"natural\"\n{EVERYTHING}{soft}"),
        ] {
            allocates_nothing_between_events(&craft, solver);
        }
    }
    allocates_nothing_between_events(EVERYTHING, "method = \"rosenbrock\"");
    allocates_nothing_between_events(&format!("{EVERYTHING}{WITH_LIQUIDS}"), "method = \"dopri5\"");
    allocates_nothing_between_events(&format!("{EVERYTHING}{WITH_TETHER}"), "method = \"dopri5\"");
    // At events the rank of the coupling's row is determined, which allocates: its joints slide on
    // regularised friction.
    let coupled = format!("{EVERYTHING}{COUPLED}")
        .replace(
            "coulomb = 0.02, breakaway = 0.03, stribeck = 0.1",
            "coulomb = 0.02, slip = 0.1",
        )
        .replace("coulomb = 0.05 }", "coulomb = 0.05, slip = 0.1 }");
    allocates_nothing_between_events(&coupled, "method = \"dopri5\"");
    allocates_nothing_between_events(EVERYTHING, "method = \"linearly_implicit\"\nstep = 0.002");
    let solver = "method = \"conserving\"\nstep = 0.002";
    for beams in [IN_GRASP, WITH_DIRECTORS] {
        allocates_nothing_between_events(&format!("formulation = \"natural\"\n{}{beams}", rigid()), solver);
    }
}

fn allocates_nothing_between_events(craft: &str, solver: &str) {
    // Not with implicit methods: their first trial step after a jump may bend the beam too far, and
    // the error that rejects it has an allocated text.
    let switching = match solver.contains("dopri5") {
        true => SWITCHING,
        false => "",
    };
    let spec = format!("{craft}\n{switching}[solver]\n{solver}\n");
    let model = Model::read(&spec, std::path::Path::new(".")).expect("a good spec");
    let mut simulation = Simulation::new(Plant::new(model.into()).expect("derives")).expect("starts");
    let model = simulation.plant.model().clone();
    let (mut dx, mut y) = (vec![0.0; model.states.len()], vec![0.0; model.outputs.len()]);
    // Allocated in advance for the messages about the joint's range, which come at events.
    let mut messages = Vec::with_capacity(100);
    let mut quiet = 0;
    for step in 1..=200 {
        let (said, events) = (messages.len(), simulation.statistics().events);
        let before = ALLOCATIONS.with(Cell::get);
        simulation.advance(f64::from(step) * 0.01, &mut messages).expect("runs");
        let state = &simulation.state;
        simulation
            .plant
            .evaluate(
                OperatingPoint::new(state.t, &state.x, &state.u, &state.discrete),
                &mut dx,
                &mut y,
            )
            .expect("regular");
        let allocations = ALLOCATIONS.with(Cell::get) - before;
        if messages.len() == said {
            assert_eq!(allocations, 0, "step {step}, {events} events before");
            quiet += 1;
        }
    }
    let (plant, state) = (&simulation.plant, &simulation.state);
    let at = OperatingPoint::new(state.t, state.x.as_slice(), state.u.as_slice(), &state.discrete);
    let (mut single, mut several) = (Tangent::<1>::new(&model), Tangent::<LANES>::new(&model));
    let mut jacobians = Jacobians::new(&model);
    let (mut tree, mut A) = (StateJacobian::new(&model), vec![0.0; at.x.len().pow(2)]);
    let mut adjoint = Adjoint::new(&model);
    let (ones_dx, ones_y) = (vec![1.0; at.x.len()], vec![1.0; y.len()]);
    let (mut x_bar, mut u_bar) = (vec![0.0; at.x.len()], vec![0.0; at.u.len()]);
    let mut accumulate = || {
        let seeds = Seeds {
            dx: &ones_dx,
            y: &ones_y,
        };
        adjoint
            .evaluate(plant, at, seeds, &mut x_bar, &mut u_bar)
            .expect("regular");
    };
    // The first evaluation allocates the tape.
    accumulate();
    let before = ALLOCATIONS.with(Cell::get);
    tree.evaluate(plant, at, &mut A).expect("regular");
    single
        .evaluate_along(plant, at, Direction { x: at.x, u: at.u }, &mut dx, &mut y)
        .expect("regular");
    several.jacobians(plant, at, &mut jacobians).expect("regular");
    accumulate();
    assert_eq!(ALLOCATIONS.with(Cell::get) - before, 0, "exact derivatives");
    let statistics = simulation.statistics();
    println!("{solver}: {quiet} of 200 steps without a message, {statistics:?}, {messages:?}");
    assert!(statistics.events >= 5 && !messages.is_empty());
}

/// Events without a message allocate nothing, the first one included: here the starts and ends of
/// signals.
#[test]
fn events_without_messages_allocate_nothing() {
    // `auto` would report each change of its method.
    let servicer = include_str!("../examples/servicer_orbit.toml").replace("\"auto\"", "\"dopri5\"");
    let task = |text: &str| format!("{text}[solver]\nmethod = \"dopri5\"\n");
    let reach = task(include_str!("../examples/tasks/reach.toml"));
    // Samples of the law are events too.
    let touch = task(include_str!("../examples/tasks/touch.toml"));
    let guidance =
        include_str!("../examples/tasks/outside/guidance.toml").replace("servicer.toml", "outside/servicer.toml");
    for (spec, until) in [(servicer, 120.0), (reach, 12.0), (touch, 12.0), (guidance, 12.0)] {
        let model = Model::read(&spec, std::path::Path::new("examples/tasks")).expect("a good spec");
        let mut simulation = Simulation::new(Plant::new(model.into()).expect("derives")).expect("starts");
        let model = simulation.plant.model().clone();
        let (mut tangent, mut jacobians) = (Tangent::<LANES>::new(&model), Jacobians::new(&model));
        let mut messages = Vec::new();
        let before = ALLOCATIONS.with(Cell::get);
        simulation.advance(until, &mut messages).expect("runs");
        let state = &simulation.state;
        let at = OperatingPoint::new(state.t, state.x.as_slice(), state.u.as_slice(), &state.discrete);
        tangent
            .jacobians(&simulation.plant, at, &mut jacobians)
            .expect("regular");
        let allocations = ALLOCATIONS.with(Cell::get) - before;
        let events = simulation.statistics().events;
        assert_eq!((allocations, events > 0, messages), (0, true, vec![]));
    }
}

/// Adjoint derivatives by recursion over the tree, after the first: of a chain, with a loop and its
/// redundant rows, with changing masses, with a task and feed-forward, with effective masses.
#[test]
fn adjoint_derivatives_allocate_nothing_after_the_first() {
    for text in [
        include_str!("../examples/ssrms_type.toml"),
        include_str!("../examples/bricard.toml"),
        include_str!("../examples/tanks/kick_stage.toml"),
        include_str!("../examples/tasks/reach.toml"),
        include_str!("../examples/tasks/ets_vii.toml"),
        include_str!("../examples/beam_in_grasp.toml"),
        concat!(
            include_str!("../examples/ssrms_type.toml"),
            "[port.push]\nframe = \"tip\"\neffective_mass = true\n"
        ),
    ] {
        let model = Model::read(text, std::path::Path::new("examples")).expect("a good spec");
        let mut plant = Plant::new(model.into()).expect("derives");
        let model = plant.model().clone();
        let (mut x, mut discrete) = (vec![0.0; model.states.len()], model.discrete());
        plant.start(0.0, &mut x, &mut discrete).expect("closed");
        let (u, y) = (vec![0.2; model.inputs.len()], vec![1.0; model.outputs.len()]);
        let at = OperatingPoint::new(0.0, x.as_slice(), u.as_slice(), &discrete);
        let (mut x_bar, mut u_bar, dx) = (x.clone(), u.clone(), vec![0.1; x.len()]);
        let mut adjoint = Adjoint::new(&model);
        let mut allocations = [0; 2];
        for count in &mut allocations {
            let before = ALLOCATIONS.with(Cell::get);
            let seeds = Seeds { dx: &dx, y: &y };
            adjoint
                .evaluate(&plant, at, seeds, &mut x_bar, &mut u_bar)
                .expect("regular");
            *count = ALLOCATIONS.with(Cell::get) - before;
        }
        assert!(allocations[0] > 0 && allocations[1] == 0, "{allocations:?}");
    }
}

const CAUGHT: &str = r#"
name = "caught"
[body.base]
mass = 6.0
inertia = [0.8, 0.9, 1.0]
start = { angular_velocity = [0.1, -0.2, 0.15] }
[body.arm]
mass = 1.5
mass_centre = [0.5, 0.1, 0.0]
inertia = [0.1, 0.2, 0.25]
[body.payload]
mass = 3.0
inertia = [0.4, 0.5, 0.6]
start = { position = [1.5, 0.0, 0.0], velocity = [0.0, 0.1, 0.0] }
[joint.shoulder]
type = "revolute"
parent = "base"
child = "arm"
origin = [0.5, 0.0, 0.0]
[frame.hand]
body = "arm"
origin = [1.0, 0.0, 0.0]
[contact.grip]
a = "hand"
b = "payload"
law = "capture_grasp"
[contact.floor]
a = "base"
b = "world"
e = 0.5
[interface.mount]
frame = "hand"
stiffness = 10.0
damping = 1.0
effective_mass = true
[signal."grip.capture"]
type = "constant"
from_importer = false
[signal."floor.impact"]
type = "constant"
from_importer = false
"#;

/// Derivatives, outputs and exact derivatives during a capture, with the commands on.
#[test]
fn captured_spacecraft_allocates_nothing() {
    for formulation in ["recursive", "quaternion", "dual_quaternion", "natural"] {
        let spec = format!("formulation = \"{formulation}\"\n{CAUGHT}");
        let model = Model::read(&spec, std::path::Path::new(".")).expect("a good spec");
        let mut simulation = Simulation::new(Plant::new(model.into()).expect("derives")).expect("starts");
        let model = simulation.plant.model().clone();
        let mut messages = Vec::new();
        simulation.advance(0.01, &mut messages).expect("runs");
        assert_eq!(messages.len(), 2, "{messages:?}");
        let (mut single, mut dx, mut y) = (
            Tangent::<1>::new(&model),
            vec![0.0; model.states.len()],
            vec![0.0; model.outputs.len()],
        );
        let before = ALLOCATIONS.with(Cell::get);
        for step in 2..=20 {
            simulation.advance(f64::from(step) * 0.01, &mut messages).expect("runs");
        }
        let (plant, state) = (&simulation.plant, &simulation.state);
        let at = OperatingPoint::new(state.t, state.x.as_slice(), state.u.as_slice(), &state.discrete);
        single
            .evaluate_along(plant, at, Direction { x: at.x, u: at.u }, &mut dx, &mut y)
            .expect("regular");
        assert_eq!(ALLOCATIONS.with(Cell::get) - before, 0, "{formulation}");
        let captured = model
            .outputs
            .iter()
            .position(|output| output.quantity.name == "grip.captured");
        let mut values = vec![0.0; model.outputs.len()];
        let state = simulation.state.clone();
        simulation
            .plant
            .evaluate(
                OperatingPoint::new(state.t, &state.x, &state.u, &state.discrete),
                &mut dx,
                &mut values,
            )
            .expect("regular");
        assert_eq!(captured.map(|i| values[i]), Some(1.0));
    }
}

/// A box slides over the floor, stops and rests: the steps between events allocate nothing, nor do
/// derivatives.
#[test]
fn resting_body_allocates_nothing_between_events() {
    let text = "name = \"slab\"\n[environment]\ngravity = [0.0, 0.0, -9.81]\n[body.slab]\nmass = 2.0\n\
        inertia = [0.02, 0.03, 0.04]\nstart = { position = [0.0, 0.0, 0.1], velocity = [1.0, 0.2, 0.0] }\n\
        [contact.feet]\na = \"slab\"\nb = \"world\"\nshape_a = { type = \"box\", size = [0.4, 0.3, 0.2] }\n\
        shape_b = { type = \"plane\" }\ne = 0.0\nmu = 0.3\nrest = 0.01\n";
    for method in ["dopri5", "radau5"] {
        let spec = format!("{text}[solver]\nmethod = \"{method}\"\n");
        let model = Model::read(&spec, std::path::Path::new(".")).expect("a good spec");
        let mut simulation = Simulation::new(Plant::new(model.into()).expect("derives")).expect("starts");
        let model = simulation.plant.model().clone();
        let (mut tangent, mut jacobians) = (Tangent::<LANES>::new(&model), Jacobians::new(&model));
        let (mut messages, mut quiet) = (Vec::new(), 0);
        for step in 1..=100 {
            let events = simulation.statistics().events;
            let before = ALLOCATIONS.with(Cell::get);
            simulation.advance(f64::from(step) * 0.01, &mut messages).expect("runs");
            let state = &simulation.state;
            let at = OperatingPoint::new(state.t, state.x.as_slice(), state.u.as_slice(), &state.discrete);
            tangent
                .jacobians(&simulation.plant, at, &mut jacobians)
                .expect("regular");
            let allocations = ALLOCATIONS.with(Cell::get) - before;
            // Which points rest and slide is decided at events, with matrices of their own.
            if simulation.statistics().events == events {
                assert_eq!(allocations, 0, "{method}, step {step}");
                quiet += 1;
            }
        }
        println!("{method}: {quiet} of 100 steps without an event");
        assert!(quiet > 90 && simulation.statistics().events > 0);
    }
}
