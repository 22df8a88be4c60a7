//! Lines of sight that solids block, against the minimum of a convex function along the line.

use crate::run::Run;
use grapple::algebra::{Quaternion, Vec3};
use grapple::plant::{Model, OperatingPoint, Plant};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::path::Path;

/// Function of a point in axes of a solid: negative inside, convex.
type Depth = fn(&Vec3<f64>) -> f64;

/// Pose of the solid in its frame, as written below.
const PLACE: [f64; 3] = [0.1, -0.2, 0.15];
const TURN: [f64; 4] = [0.5, 0.5, -0.5, 0.5];

fn sphere(p: &Vec3<f64>) -> f64 {
    p.norm() - 0.4
}

fn block(p: &Vec3<f64>) -> f64 {
    (p.x.abs() - 0.3).max(p.y.abs() - 0.5).max(p.z.abs() - 0.2)
}

fn cylinder(p: &Vec3<f64>) -> f64 {
    (p.xy().norm() - 0.35).max(p.z.abs() - 0.45)
}

fn scene(solid: &str) -> String {
    let body = |name: &str| format!("[body.{name}]\nmass = 1.0\ninertia = [1.0, 1.0, 1.0]\n");
    let place = format!("origin = {PLACE:?}, orientation = {TURN:?}");
    let blocked = format!("sample_time = 0.1\nblocked_by = [{{ frame = \"wall\", {solid}, {place} }}]\n");
    format!(
        "name = \"scene\"\n{}{}{}[sensor.ranger]\ntype = \"range\"\nframe = \"eye\"\ntarget = \"goal\"\n{blocked}\
         [sensor.tracker]\ntype = \"star_tracker\"\nframe = \"eye\"\n{blocked}",
        body("eye"),
        body("goal"),
        body("wall")
    )
}

/// Returns the least value of a convex function on 0 … 1.
fn least(f: impl Fn(f64) -> f64) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..200 {
        let [a, b] = [low + (high - low) / 3.0, high - (high - low) / 3.0];
        if f(a) < f(b) { high = b } else { low = a }
    }
    f(0.5 * (low + high)).min(f(0.0)).min(f(1.0))
}

/// Places eye, goal and wall at random 2000 times, and compares the flags of a range sensor and of a
/// star tracker with the signs of the least depths on the segment and on the ray. Lines that pass the
/// surface at less than 1e-6 m are left out.
fn compare(solid: &str, depth: Depth, seed: u64) {
    let mut plant = crate::plant(&scene(solid));
    let model = plant.model().clone();
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let at = |name: &str| {
        let is_first = |state: &grapple::system::Quantity| state.name == format!("{name}.q[1]");
        model.states.iter().position(is_first).expect("a free body")
    };
    let [eye, goal, wall] = ["eye", "goal", "wall"].map(at);
    let flag = |sensor: &str, y: &[f64]| {
        let name = format!("{sensor}.visible");
        y[model
            .outputs
            .iter()
            .position(|output| output.quantity.name == name)
            .expect("a flag")]
    };
    let (mut seen, mut blocked, mut alike) = ([0; 2], [0; 2], 0);
    for round in 0..2000 {
        let mut x = vec![0.0; model.states.len()];
        for body in [eye, goal, wall] {
            let q = Quaternion::from_slice(&[0; 4].map(|_: i32| rng.random_range(-1.0..1.0))).normalised();
            x[body..body + 4].copy_from_slice(&q.to_array());
            let reach = if body == wall { 0.2 } else { 1.2 };
            (0..3).for_each(|k| x[body + 4 + k] = rng.random_range(-reach..reach));
        }
        // Lines along the axes of the solid have zero components.
        let q_WS = Quaternion::from_slice(&x[wall..]) * Quaternion::from_slice(&TURN);
        let R_WS = q_WS.rotation();
        let (e, w) = (
            Vec3::from_row_slice(&x[eye + 4..eye + 7]),
            Vec3::from_row_slice(&x[wall + 4..wall + 7]),
        );
        if round % 4 == 0 {
            let along = R_WS.column(round / 4 % 3) * rng.random_range(0.2..2.0);
            (0..3).for_each(|k| x[goal + 4 + k] = e[k] + along[k]);
        }
        let g = Vec3::from_row_slice(&x[goal + 4..goal + 7]);
        let centre = w + Quaternion::from_slice(&x[wall..]).rotation() * Vec3::from(PLACE);
        let look: Vec3<f64> = Quaternion::from_slice(&x[eye..]).rotation().column(2).into_owned();
        let on = |to: Vec3<f64>| least(|s| depth(&R_WS.tr_mul(&(e + to * s - centre))));
        let expected = [on(g - e), on(look * 10.0)];
        let (mut dx, mut y) = (vec![0.0; x.len()], vec![0.0; model.outputs.len()]);
        let discrete = model.discrete();
        plant
            .evaluate(OperatingPoint::new(0.0, &x, &[], &discrete), &mut dx, &mut y)
            .expect("finite");
        for (k, sensor) in ["ranger", "tracker"].into_iter().enumerate() {
            if expected[k].abs() < 1e-6 {
                alike += 1;
                continue;
            }
            let is_seen = flag(sensor, &y) == 1.0;
            assert_eq!(
                is_seen,
                expected[k] > 0.0,
                "{solid}, {round}, {sensor}: depth {}",
                expected[k]
            );
            *(if is_seen { &mut seen[k] } else { &mut blocked[k] }) += 1;
        }
    }
    println!("{solid}: {seen:?} seen, {blocked:?} blocked, {alike} left out");
    assert!(seen.iter().chain(&blocked).all(|n| *n > 30) && alike < 20);
}

#[test]
fn solids_block_the_lines_that_pass_through_them() {
    compare("radius = 0.4", sphere, 1);
    compare("type = \"box\", size = [0.6, 1.0, 0.4]", block, 2);
    compare("type = \"cylinder\", radius = 0.35, length = 0.9", cylinder, 3);
}

/// Returns a satellite with a box as its shape, a camera mount at a position on it, and an inspector at
/// 5 m on the z axis.
fn satellite(more: &str, z: f64) -> String {
    format!(
        "name = \"docking\"\n[body.bus]\nmass = 10.0\ninertia = [1.0, 1.0, 1.0]\n\
         shape.hull = {{ type = \"box\", size = [1.0, 1.0, 2.0] }}\n\
         shape.mast = {{ type = \"cylinder\", radius = 0.1, length = 1.0, origin = [2.0, 0.0, 0.0] }}\n{more}\
         [body.inspector]\nmass = 1.0\ninertia = [1.0, 1.0, 1.0]\nstart = {{ position = [0.0, 0.0, 5.0], rpy_deg = [180.0, 0.0, 0.0] }}\n\
         [frame.fixture]\nbody = \"bus\"\norigin = [0.0, 0.0, {z:?}]\n\
         [sensor.cam]\ntype = \"camera\"\nframe = \"inspector\"\ntarget = \"fixture\"\nfield_of_view_deg = 40.0\nsample_time = 0.1\n\
         blocked_by = [{{ frame = \"bus\", shapes = true }}]\n"
    )
}

/// A target on the surface of its body is seen from the outside, and not through the body. The solids
/// become parameters, and part of the FMU's model, which has no shapes.
#[test]
fn shapes_of_the_target_block_its_far_side_only() {
    for (z, seen) in [(1.0, 1.0), (-1.0, 0.0)] {
        let text = satellite("", z);
        let mut run = Run::new(&text, 1e-9);
        run.look();
        assert_eq!(run.value("cam.visible"), seen, "{z}");
        let model = run.model();
        let again = Model::from_bytes(&model.to_bytes().expect("text")).expect("the same model");
        let names =
            |model: &Model| -> Vec<String> { model.parameters.iter().map(|of| of.quantity.name.clone()).collect() };
        assert_eq!(names(&again), names(&model));
        assert!(names(&again).contains(&"cam.blocker_size[3]".to_owned()));
        let mut run = Run::of(Plant::new(again.into()).expect("its values"), 1e-9);
        run.look();
        assert_eq!(run.value("cam.visible"), seen, "{z}");
    }
}

/// Solids that always block a sensor, and shapes and fields that are not possible.
#[test]
fn errors_name_the_solid() {
    let _recording = crate::messages::of_this_test();
    let shapes = "blocked_by = [{ frame = \"bus\", shapes = true }]";
    for (from, to) in [
        ("origin = [0.0, 0.0, 1.0]", "origin = [0.0, 0.0, 0.9]"),
        (shapes, "blocked_by = [{ frame = \"fixture\", radius = 0.1 }]"),
        (
            shapes,
            "blocked_by = [{ frame = \"inspector\", type = \"box\", size = [0.1, 0.1, 0.1] }]",
        ),
        (shapes, "blocked_by = [{ frame = \"bsu\", radius = 0.1 }]"),
        (shapes, "blocked_by = [{ frame = \"fixture\", shapes = true }]"),
        (shapes, "blocked_by = [{ frame = \"inspector\", shapes = true }]"),
        (
            shapes,
            "blocked_by = [{ frame = \"bus\", shapes = true, radius = 1.0 }]",
        ),
        (
            shapes,
            "blocked_by = [{ frame = \"bus\", type = \"box\", radius = 1.0 }]",
        ),
        (
            shapes,
            "blocked_by = [{ frame = \"bus\", type = \"cylinder\", radius = 0.1, length = -1.0 }]",
        ),
        (
            shapes,
            "blocked_by = [{ frame = \"bus\", radius = 0.1, orientation = [1.0, 1.0, 0.0, 0.0] }]",
        ),
        ("shape.mast = { type = \"cylinder\"", "shape.mast = { type = \"cone\""),
    ] {
        let text = satellite("", 1.0);
        assert!(text.contains(from), "{from}");
        match Model::read(&text.replace(from, to), Path::new(".")) {
            Err(grapple::Error::Spec(problems)) => {
                for problem in &problems {
                    assert_eq!(problem.at.join("."), "sensor.cam.blocked_by", "{to}");
                    crate::messages::record(problem);
                }
            }
            other => panic!("{to}: {:?}", other.map(|model| model.spec.name)),
        }
    }
}
