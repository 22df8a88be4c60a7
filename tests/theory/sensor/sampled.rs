//! Samples: times, delays, sight, interfaces, dependencies.

use super::{STAND, run, samples};
use crate::run::Run;
use grapple::algebra::Vec3;
use grapple::plant::{Dependencies, Jacobians, LANES, Plant, Tangent};
use grapple::simulation::Simulation;

const GYRO: &str = "[sensor.gyro]\ntype = \"gyro\"\nframe = \"hub\"\nsample_time = 0.02\n";
const RATE: [&str; 3] = ["gyro.w[1]", "gyro.w[2]", "gyro.w[3]"];

/// Returns a body that turns at a constant rate, whose derivative is zero exactly, with an
/// oscillator.
fn spinner(errors: &str) -> String {
    format!(
        "name = \"spinner\"\n[body.hub]\nmass = 2.0\ninertia = [1.0, 1.0, 1.0]\n\
         start = {{ angular_velocity = [0.25, -0.5, 0.75] }}\n{GYRO}{errors}"
    )
}

const NOISY: &str = "error = { noise = 0.1, bias_walk = 0.3, bias = [0.0, 1.0, 2.0] }\n";

/// A delayed sensor has the outputs of the sensor without delay, some samples later; before, those
/// of the first sample.
#[test]
fn delay_shifts_the_samples_by_a_whole_number() {
    let all = samples(&spinner(NOISY), 0.02, 40, RATE);
    for delay in [1, 3] {
        let delayed = samples(&spinner(&format!("delay = {delay}\n{NOISY}")), 0.02, 40, RATE);
        for (k, value) in delayed.iter().enumerate() {
            assert_eq!(*value, all[k.saturating_sub(delay)], "sample {k}, delay {delay}");
        }
    }
}

/// Communication steps of any length have the same samples, bit by bit: the value at a
/// communication point is that of the last sample, one at that point included.
#[test]
fn samples_do_not_depend_on_communication_points() {
    let all = samples(&spinner(NOISY), 0.02, 101, RATE);
    for step in [0.005, 0.02, 0.05, 0.37] {
        let mut run = run(&spinner(NOISY));
        for k in 1.. {
            let t = step * f64::from(k);
            if t > 2.0 {
                break;
            }
            run.go(t);
            let sample = ((t + 1e-9) / 0.02).floor() as usize;
            assert_eq!(run.values(RATE), all[sample], "{step} s: {t} s");
        }
    }
}

/// Model Exchange: an importer that stops at the time events has the samples of Co-Simulation.
#[test]
fn samples_of_model_exchange_are_those_of_co_simulation() {
    let all = samples(&spinner(NOISY), 0.02, 101, RATE);
    let mut run = run(&spinner(NOISY));
    let mut simulation = run.simulation.clone();
    let (mut plant, mut state) = (simulation.plant, simulation.state);
    let mut t = 0.0;
    for (k, expected) in all.iter().enumerate() {
        plant
            .update(t, &mut state.x, &state.u, &mut state.discrete, &mut Vec::new())
            .expect("an event");
        assert!(
            plant
                .sample(t, &state.x, &state.u, &mut state.discrete)
                .expect("a sample")
        );
        assert!(
            !plant
                .sample(t, &state.x, &state.u, &mut state.discrete)
                .expect("no second sample")
        );
        state.t = t;
        run.simulation.state = state.clone();
        run.look();
        assert_eq!(run.values(RATE), *expected, "sample {k}");
        t = plant.next_time_event(&state.discrete).expect("a next sample");
        assert!((t - 0.02 * (k + 1) as f64).abs() < 1e-12);
    }
    simulation = Simulation::without_integrator(Plant::new(run.model()).expect("valid")).expect("starts");
    assert!(
        simulation
            .plant
            .next_time_event(&simulation.state.discrete)
            .expect("first")
            < 0.0
    );
}

/// The first sample has the value that the outputs have before it.
#[test]
fn outputs_before_the_first_sample_are_those_of_the_first_sample() {
    let mut run = run(&spinner(NOISY));
    let before = run.values(RATE);
    run.go(0.01);
    assert_eq!(run.values(RATE), before);
    run.go(0.02);
    assert_ne!(run.values(RATE), before);
}

/// Samples hold: their derivatives are zero, and their dependencies in a run are empty. At the
/// start they depend on what they measure, and outputs without samples do so always.
#[test]
fn samples_depend_on_nothing_between_events() {
    let sensors = format!("{NOISY}[sensor.free]\ntype = \"gyro\"\nframe = \"hub\"\n");
    let mut run = run(&spinner(&sensors));
    run.go(0.05);
    let model = run.model();
    let mut jacobians = Jacobians::new(&model);
    let state = run.simulation.state.clone();
    let mut tangent = Tangent::<LANES>::new(&model);
    let plant = &mut run.simulation.plant;
    tangent
        .jacobians(plant, state.point(), &mut jacobians)
        .expect("regular");
    let found = Dependencies::of(&model).expect("regular");
    let mut counted = 0;
    for (i, output) in model.outputs.iter().enumerate() {
        let name = &output.quantity.name;
        if name.starts_with("gyro.") {
            assert!(jacobians.C.row(i).iter().all(|&entry| entry == 0.0));
            assert_eq!(
                (found.outputs[i].states.len(), found.outputs[i].inputs.len()),
                (0, 0),
                "{name}"
            );
            assert!(!found.initial_outputs[i].parameters.is_empty());
            counted += 1;
        } else if name.starts_with("free.") {
            assert_eq!(found.outputs[i].states.len(), 1, "{name}");
            assert!(jacobians.C.row(i).iter().any(|&entry| entry == 1.0));
            counted += 1;
        }
    }
    assert_eq!(counted, 6);
}

/// Seeds and names select the noise; the numbers are those of the formula in docs/sensors.md.
#[test]
fn noise_is_the_documented_function_of_seed_name_channel_and_sample() {
    let sensor = |name: &str, more: &str| {
        let table = format!(
            "[sensor.{name}]\ntype = \"gyro\"\nframe = \"cube\"\nsample_time = 0.1\n{more}error = {{ noise = 1.0 }}\n"
        );
        let names = [1, 2, 3].map(|i| format!("{name}.w[{i}]"));
        let names = names.each_ref().map(String::as_str);
        samples(&format!("{STAND}{table}"), 0.1, 2, names)
    };
    let mix = |z: u64| {
        let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    };
    let g = 0x9e37_79b9_7f4a_7c15_u64;
    // The hash of "a" is published with the algorithm FNV-1a.
    let name = mix(0xaf63_dc4c_8601_ec8c_u64.wrapping_add(g.wrapping_mul(5)));
    for (index, sample) in sensor("a", "seed = 5\n").iter().enumerate() {
        for (axis, value) in sample.iter().enumerate() {
            let channel = mix(name.wrapping_add(g.wrapping_mul(2 * axis as u64)));
            let n = mix(channel.wrapping_add(g.wrapping_mul(index as u64 + 1))) >> 12;
            let u = (n as f64 + 0.5) / (1_u64 << 52) as f64;
            // The distribution function of the sample is the uniform number.
            let found = 0.5 * libm::erfc(-value / std::f64::consts::SQRT_2);
            assert!((found - u).abs() < 1e-15, "{found} is not {u}");
        }
    }
    let all = [
        sensor("a", ""),
        sensor("b", ""),
        sensor("a", "seed = 1\n"),
        sensor("a", "seed = 2\n"),
    ];
    for (i, one) in all.iter().enumerate() {
        assert!(all[..i].iter().all(|other| other[0] != one[0] && other[1] != one[1]));
    }
    assert_eq!(sensor("a", "seed = 0\n"), sensor("a", ""));
}

/// A target passes a camera along x at a distance of 2 m: it is seen within the cone of 90° and the
/// largest distance, and not behind a sphere. Outside the last position seen is held.
#[test]
fn camera_sees_its_target_within_cone_and_distance_and_not_behind_a_sphere() {
    let scene = |more: &str| {
        let text = format!(
            "name = \"pass\"\n[body.eye]\nmass = 1.0\ninertia = [1.0, 1.0, 1.0]\n\
             [body.target]\nmass = 1.0\ninertia = [1.0, 1.0, 1.0]\nstart = {{ position = [-3.05, 0.0, 2.0], velocity = [1.0, 0.0, 0.0] }}\n\
             [frame.ball]\nbody = \"eye\"\norigin = [0.0, 0.0, 1.0]\n[sensor.cam]\ntype = \"camera\"\nframe = \"eye\"\ntarget = \"target\"\n\
             field_of_view_deg = 90.0\nsample_time = 0.1\n{more}"
        );
        let mut run = Run::new(&text, 1e-10);
        run.look();
        let mut seen = Vec::new();
        let mut last = Vec3::zeros();
        for k in 0..61 {
            if k > 0 {
                run.go(0.1 * f64::from(k));
            }
            let x = -3.05 + 0.1 * f64::from(k);
            if run.value("cam.visible") == 1.0 {
                last = Vec3::new(x, 0.0, 2.0);
                seen.push(k);
            }
            assert!((run.vector("cam.r") - last).norm() < 1e-9, "{k}");
        }
        seen
    };
    // Positions −1.95 … 1.95 m are within ±45°.
    let cone: Vec<i32> = (11..=50).collect();
    assert_eq!(scene(""), cone);
    // A distance of 2.2 m: |x| < 0.9165 m.
    let near: Vec<i32> = (22..=39).collect();
    assert_eq!(scene("max_distance = 2.2\n"), near);
    // A sphere of 0.3 m at 1 m: the line to (x, 2) passes its centre at |x|/√(x² + 4) < 0.3, |x| <
    // 0.629 m.
    let open: Vec<i32> = cone.iter().copied().filter(|k| !(25..=36).contains(k)).collect();
    assert_eq!(scene("blocked_by = [{ frame = \"ball\", radius = 0.3 }]\n"), open);
}

/// The example: samples agree with the true values to six standard deviations of the noise, and half a
/// step of the rounding, at the time of the sample.
#[test]
fn example_measures_the_motion_of_its_satellite() {
    let mut run = run(include_str!("../../../examples/sensors/satellite.toml"));
    let mut late = [Vec3::zeros(); 3];
    for k in 1..=400 {
        run.go(0.01 * f64::from(k));
        late = [run.vector("imu_mount.w"), late[0], late[1]];
        let step = 9.587379924285257e-5;
        let off = run.value("hinge_encoder.q") - run.value("hinge.q");
        assert!(off.abs() < 0.500_001 * step, "{k}: {off:e}");
        if k > 3 {
            // Density, scale factor, misalignment and random walk of the gyro.
            let off = (run.vector("imu.w") - late[2]).amax();
            assert!(off < 6.0 * 3e-5 + 1.5e-3 * late[2].norm() + 1e-6, "{k}: {off:e}");
        }
        if k % 20 == 0 {
            let turn = run.attitude("tracker_head").conjugate() * run.attitude("tracker");
            let angle = grapple::algebra::log(turn);
            assert!(
                angle.xy().amax() < 6.0 * 2e-5 && angle.z.abs() < 6.0 * 1.5e-4,
                "{angle}"
            );
        }
        let f = run.vector("imu.f");
        assert!(f.iter().all(|f| (f / 1e-5 - (f / 1e-5).round()).abs() < 1e-6));
    }
}
