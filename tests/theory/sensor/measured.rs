//! Closed forms of the measured quantities.

use super::{STAND, run};
use crate::numbers::Larger;
use crate::run::Run;
use grapple::algebra::{Vec3, log};
use grapple::plant::{Jacobians, LANES, OperatingPoint, Tangent};
use grapple::spec::{Capability, Formulation, rotation};
use std::path::Path;

/// A free body in uniform gravity turns and is pushed by a port: the specific force at an
/// off-centre frame is `F/m + α × r + ω × (ω × r)`, in the frame's axes, without gravity.
#[test]
fn imu_on_a_spinning_and_accelerating_body_has_the_closed_form_in_every_formulation() {
    let (mass, J) = (2.0, Vec3::new(0.4, 0.6, 0.8));
    let text = "name = \"hub\"\n[environment]\ngravity = [0.3, 0.0, -9.8]\n[body.hub]\nmass = 2.0\n\
        inertia = [0.4, 0.6, 0.8]\nstart = { rpy_deg = [30.0, 10.0, -70.0], angular_velocity = [0.3, -0.7, 1.1] }\n\
        [port.push]\nframe = \"hub\"\naxes = \"frame\"\n[frame.mount]\nbody = \"hub\"\norigin = [0.4, -0.2, 0.3]\n\
        rpy_deg = [20.0, -30.0, 50.0]\n[sensor.imu]\ntype = \"imu\"\nframe = \"mount\"\n\
        [sensor.rate]\ntype = \"gyro\"\nframe = \"mount\"\n[sensor.force]\ntype = \"accelerometer\"\nframe = \"mount\"\n";
    let (F, t, r) = (
        Vec3::new(1.2, -0.5, 0.7),
        Vec3::new(0.2, 0.1, -0.3),
        Vec3::new(0.4, -0.2, 0.3),
    );
    let R = rotation(None, Some([20.0, -30.0, 50.0])).rotation();
    for formulation in Formulation::ALL {
        let mut run = Run::of(crate::plant_in(formulation, text, Path::new(".")), 1e-10);
        for i in 0..3 {
            run.set(&format!("push.f[{}]", i + 1), F[i]);
            run.set(&format!("push.t[{}]", i + 1), t[i]);
        }
        run.go(0.7);
        let w = run.vector("hub.w");
        let wd = (t - w.cross(&J.component_mul(&w))).component_div(&J);
        let expected = R.tr_mul(&(F / mass + wd.cross(&r) + w.cross(&w.cross(&r))));
        let off = (run.vector("imu.f") - expected).norm();
        let off_rate = (run.vector("imu.w") - R.tr_mul(&w)).norm();
        println!(
            "{formulation:?}: {off:.1e} m/s² of {:.2}, {off_rate:.1e} rad/s (1e-12)",
            expected.norm()
        );
        assert!(off < 1e-12 && off_rate < 1e-12, "{formulation:?}: {off:e} {off_rate:e}");
        assert_eq!(run.vector("imu.f"), run.vector("force.f"));
        assert_eq!(run.vector("imu.w"), run.vector("rate.w"));
    }
}

/// At rest on the ground an accelerometer measures the reaction to gravity, upwards.
#[test]
fn accelerometer_on_a_stand_measures_minus_gravity() {
    let run = run(&format!(
        "{STAND}[sensor.a]\ntype = \"accelerometer\"\nframe = \"cube\"\n"
    ));
    assert_eq!(run.vector("a.f"), Vec3::new(0.0, 0.0, 9.8));
}

/// A body without gravity-gradient moments that turns with the LVLH frame of a circular orbit with
/// the rate n: a point at the height x has the acceleration −n² x and the gravity 2 n² x relative
/// to the mass centre, so that an accelerometer measures −3 n² x. Tolerance: x over the orbit's
/// radius, and the round-off of forces of 8 m/s² relative to 1e-6 m/s².
#[test]
fn accelerometer_above_the_mass_centre_in_orbit_measures_the_tide() {
    let (mu, a, x) = (3.986_004_418e14, 6.778e6, 0.7);
    let text = format!(
        "name = \"orbiter\"\n[environment.orbit]\nsemi_major_axis = {a:?}\nmu = {mu:?}\n[body.bus]\nmass = 10.0\n\
         inertia = [1.0, 1.0, 1.0]\nstart = {{ axes = \"lvlh\" }}\n[frame.top]\nbody = \"bus\"\norigin = [{x:?}, 0.0, 0.0]\n\
         [sensor.a]\ntype = \"accelerometer\"\nframe = \"top\"\n"
    );
    let mut run = run(&text);
    let expected = -3.0 * mu / (a * a * a) * x;
    for t in [0.0, 100.0] {
        if t > 0.0 {
            run.go(t);
        }
        let off = (run.vector("a.f") - Vec3::new(expected, 0.0, 0.0)).norm() / expected.abs();
        println!("{t} s: {expected:.3e} m/s², off by {off:.1e} of it (1e-6)");
        assert!(off < 1e-6, "{off:e}");
    }
}

/// Returns a spacecraft that tumbles and vibrates, with a frame at the tip of a flexible mast.
fn mast(sensors: &str) -> String {
    format!(
        "name = \"mast\"\n[environment]\ngravity = [0.0, 0.5, -1.0]\n[body.bus]\nmass = 30.0\ninertia = [3.0, 4.0, 5.0]\n\
         start = {{ angular_velocity = [0.1, 0.2, -0.3] }}\n[body.mast.beam]\nlength = 3.0\nmass_per_length = 0.5\n\
         first_frequency = 0.8\npolar_inertia_per_length = 0.01\nGJ = 20.0\nbending = 2\ntorsion = 1\n\
         [joint.root]\ntype = \"revolute\"\nparent = \"bus\"\nchild = \"mast\"\norigin = [0.5, 0.0, 0.0]\nstart = {{ rate = 0.4 }}\n\
         [port.push]\nframe = \"bus\"\n[signal.\"push.f[3]\"]\ntype = \"sine\"\namplitude = 40.0\nfrequency = 0.7\n\
         [signal.\"root.tau\"]\ntype = \"sine\"\namplitude = 3.0\nfrequency = 0.9\n\
         [frame.tip]\nbody = \"mast\"\norigin = [3.0, 0.1, -0.05]\nrpy_deg = [10.0, 20.0, 30.0]\n{sensors}"
    )
}

/// The specific force on a flexible mast equals the derivative of the frame's velocity along the
/// run, by central differences of the fourth order over 2.5e-4 s, less gravity. Tolerance: errors of
/// the integration (1e-13 relative) over the interval, and differences of the fifth derivative.
#[test]
fn imu_on_a_vibrating_mast_agrees_with_differentiated_velocities() {
    let text = mast("[sensor.imu]\ntype = \"imu\"\nframe = \"tip\"\n");
    for formulation in Formulation::ALL.into_iter().filter(|of| of.has(Capability::Flexible)) {
        let mut run = Run::of(crate::plant_in(formulation, &text, Path::new(".")), 1e-13);
        let h = 2.5e-4;
        let mut velocity = [Vec3::zeros(); 5];
        let mut measured = Vec3::zeros();
        let mut R = None;
        for k in 0..5 {
            run.go(1.3 + h * k as f64);
            velocity[k] = run.vector("tip.v");
            if k == 2 {
                measured = run.vector("imu.f");
                R = Some(run.attitude("tip").rotation());
                assert!((run.vector("imu.w") - run.vector("tip.w")).norm() == 0.0);
            }
        }
        let [a, b, _, d, e] = velocity;
        let acceleration = (a - b * 8.0 + d * 8.0 - e) / (12.0 * h);
        let R = R.expect("the middle");
        let expected = R.tr_mul(&(acceleration - Vec3::new(0.0, 0.5, -1.0)));
        let off = (measured - expected).norm();
        println!("{formulation:?}: {off:.1e} m/s² of {:.2} (1e-7)", expected.norm());
        assert!(off < 1e-7, "{formulation:?}: {off:e}");
    }
}

/// The exact derivatives of a continuous IMU agree with central differences.
#[test]
fn derivatives_of_a_continuous_imu_agree_with_differences() {
    let text = mast(
        "[sensor.imu]\ntype = \"imu\"\nframe = \"tip\"\naccelerometer = { scale_factor = 0.01, misalignment = [0.01, -0.02, 0.03] }\n",
    );
    let mut run = run(&text);
    run.go(0.9);
    let (model, mut simulation) = (run.model(), run.simulation.clone());
    let state = simulation.state.clone();
    let (plant, mut jacobians) = (&mut simulation.plant, Jacobians::new(&model));
    let mut tangent = Tangent::<LANES>::new(&model);
    tangent
        .jacobians(plant, state.point(), &mut jacobians)
        .expect("regular");
    let first = model
        .outputs
        .iter()
        .position(|y| y.quantity.name == "imu.f[1]")
        .expect("an output");
    let mut values = |x: &[f64]| {
        let (mut dx, mut y) = (vec![0.0; model.states.len()], vec![0.0; model.outputs.len()]);
        let at = OperatingPoint::new(state.t, x, &state.u, &state.discrete);
        plant.evaluate(at, &mut dx, &mut y).expect("finite");
        y[first..first + 6].to_vec()
    };
    let mut off = 0.0f64;
    for k in 0..model.states.len() {
        let moved = |h: f64| {
            let mut x = state.x.clone();
            x[k] += h;
            x
        };
        let h = 1e-5;
        let (ahead, behind) = (values(&moved(h)), values(&moved(-h)));
        for i in 0..6 {
            let difference = (ahead[i] - behind[i]) / (2.0 * h);
            let scale = difference.abs().max(1.0);
            off = off.larger((jacobians.C[(first + i, k)] - difference).abs() / scale);
        }
    }
    println!("off by {off:.1e} (1e-6, that of differences)");
    assert!(off < 1e-6, "{off:e}");
}

/// Force–torque sensor, star tracker, encoder, camera and range without errors have the values of
/// the outputs of reactions, frames, joints and measures.
#[test]
fn sensors_without_errors_measure_the_true_values() {
    let sensors = "[output]\nreactions = true\n[body.target]\nmass = 3.0\ninertia = [1.0, 1.2, 1.4]\n\
        start = { position = [3.0, 0.2, 8.0], rpy_deg = [10.0, 0.0, 40.0], angular_velocity = [0.1, 0.0, 0.2] }\n\
        [measure.truth]\nfrom = \"tip\"\nto = \"target\"\n[sensor.ft]\ntype = \"force_torque\"\njoint = \"root\"\n\
        [sensor.tracker]\ntype = \"star_tracker\"\nframe = \"tip\"\n[sensor.angle]\ntype = \"encoder\"\njoint = \"root\"\n\
        [sensor.phase]\ntype = \"resolver\"\njoint = \"root\"\npole_pairs = 3\n\
        [sensor.eye]\ntype = \"camera\"\nframe = \"tip\"\ntarget = \"target\"\nfield_of_view_deg = 180.0\nsample_time = 0.1\n\
        [sensor.lidar]\ntype = \"range\"\nframe = \"tip\"\ntarget = \"target\"\n";
    let mut run = run(&mast(sensors));
    run.go(0.8);
    assert_eq!(run.vector("ft.f"), run.vector("root.reaction_force"));
    assert_eq!(run.vector("ft.t"), run.vector("root.reaction_moment"));
    assert_eq!(run.attitude("tracker"), run.attitude("tip"));
    assert_eq!(run.value("angle.q"), run.value("root.q"));
    let (sine, cosine) = (3.0 * run.value("root.q")).sin_cos();
    assert!((run.value("phase.sin") - sine).abs() < 1e-15 && (run.value("phase.cos") - cosine).abs() < 1e-15);
    assert_eq!(run.value("eye.visible"), 1.0);
    assert!((run.vector("eye.r") - run.vector("truth.r")).norm() < 1e-14);
    assert!(log(run.attitude("eye").conjugate() * run.attitude("truth")).norm() < 1e-14);
    assert_eq!(run.value("lidar.distance"), run.value("truth.distance"));
}

/// A force–torque sensor computes the reaction of its joint without `output.reactions`.
#[test]
fn force_torque_sensor_needs_no_other_reactions() {
    let text = format!("{STAND}[sensor.ft]\ntype = \"force_torque\"\njoint = \"bolt\"\n");
    let run = run(&text);
    assert!((run.vector("ft.f") - Vec3::new(0.0, 0.0, 9.8)).norm() < 1e-14);
    assert_eq!(run.vector("ft.t"), Vec3::zeros());
}

/// Bias, scale factor, misalignment, saturation and quantisation of 9.8 m/s² along z, in this
/// order: a rotation about x by 0.1 rad, a scale factor of 1 %, a bias, limits of 9.5 m/s² and
/// steps of 0.25 m/s².
#[test]
fn errors_act_in_the_documented_order() {
    let sensor = |errors: &str, more: &str| {
        let text =
            format!("{STAND}[sensor.a]\ntype = \"accelerometer\"\nframe = \"cube\"\n{more}error = {{ {errors} }}\n");
        run(&text).vector("a.f")
    };
    let turned = "misalignment = [0.1, 0.0, 0.0], scale_factor = 0.01, bias = [0.5, -0.25, 0.0]";
    let (s, c) = 0.1f64.sin_cos();
    let expected = Vec3::new(0.5, 9.8 * s * 1.01 - 0.25, 9.8 * c * 1.01);
    assert!((sensor(turned, "") - expected).norm() < 1e-14);
    let all = format!("{turned}, saturation = 9.6, quantisation = 0.25");
    let found = sensor(&all, "sample_time = 0.1\n");
    assert_eq!(found, Vec3::new(0.5, 0.75, 9.5));
    let below = "scale_factor = -2.0, saturation = 9.6, quantisation = [0.1, 0.1, 0.5]";
    assert_eq!(sensor(below, "sample_time = 0.1\n").z, -9.5);
}
