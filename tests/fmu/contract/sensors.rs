//! Samples of sensors through the C interface.

use crate::driver::*;

/// A spacecraft with a flexible mast and sampled sensors with all kinds of errors.
pub const SENSORS: &str = "name = \"sensed\"\n[body.bus]\nmass = 30.0\ninertia = [3.0, 4.0, 5.0]\n\
    start = { angular_velocity = [0.1, 0.2, -0.3] }\n[body.mast.beam]\nlength = 3.0\nmass_per_length = 0.5\n\
    first_frequency = 0.8\npolar_inertia_per_length = 0.01\nGJ = 20.0\nbending = 1\n\
    [joint.root]\ntype = \"revolute\"\nparent = \"bus\"\nchild = \"mast\"\nstart = { rate = 0.4 }\n\
    [frame.tip]\nbody = \"mast\"\norigin = [3.0, 0.0, 0.0]\n[sensor.imu]\ntype = \"imu\"\nframe = \"tip\"\n\
    sample_time = 0.02\ndelay = 2\naccelerometer = { noise_density = 0.001, bias_walk = 0.01 }\n\
    gyro = { noise = 0.01, quantisation = 0.001, saturation = 1.0 }\n\
    [sensor.angle]\ntype = \"encoder\"\njoint = \"root\"\nsample_time = 0.03\nerror = { quantisation = 0.001 }\n\
    [sensor.eye]\ntype = \"camera\"\nframe = \"tip\"\ntarget = \"bus\"\nfield_of_view_deg = 180.0\nsample_time = 0.05\n\
    position = { noise = 0.01 }\n[experiment]\ntolerance = 1e-9\n";

const NAMES: [&str; 9] = [
    "imu.f[1]", "imu.f[2]", "imu.f[3]", "imu.w[1]", "imu.w[2]", "imu.w[3]", "angle.q", "eye.r[1]", "eye.q[1]",
];

fn bits(of: &Instance) -> [u64; 9] {
    NAMES.map(|name| of.get(name).to_bits())
}

/// A saved state continues with the same samples bit by bit, in this instance and in another.
#[test]
fn samples_continue_bit_by_bit_from_a_saved_state() {
    let fmu = Fmu::of(SENSORS);
    let [a, b] = [(); 2].map(|()| fmu.instance(CS));
    a.initialise(None);
    ok(a.step(0.0, 0.333));
    let state = a.save();
    let bytes = a.serialize(state);
    let go = |of: &Instance| {
        let mut all = Vec::new();
        let mut t = 0.333;
        for h in [0.01, 0.02, 0.4, 0.05] {
            ok(of.step(t, h));
            t += h;
            all.push((bits(of), of.flag("eye.visible")));
        }
        all
    };
    let first = go(&a);
    a.restore(state);
    assert_eq!(go(&a), first);
    let (status, restored) = b.deserialize(&bytes);
    ok(status);
    b.restore(restored);
    assert_eq!(go(&b), first);
    b.free_state(restored);
    a.free_state(state);
    assert!(first.windows(2).all(|pair| pair[0].0[0] != pair[1].0[0]));
}

/// A reset instance repeats its samples.
#[test]
fn reset_instance_repeats_its_samples() {
    let fmu = Fmu::of(SENSORS);
    let a = fmu.instance(CS);
    let run = || {
        a.initialise(None);
        ok(a.step(0.0, 0.5));
        bits(&a)
    };
    let first = run();
    ok(a.reset());
    assert_eq!(run(), first);
}

/// In Model Exchange the samples are taken at time events: rates of the mast are those of
/// Co-Simulation to the tolerance, and noise and rounding the same.
#[test]
fn samples_of_model_exchange_agree_with_co_simulation() {
    let fmu = Fmu::of(SENSORS);
    let (cs, me) = (fmu.instance(CS), fmu.instance(ME));
    cs.initialise(None);
    me.initialise(None);
    let mut info = me.new_discrete_states();
    me.enter_continuous_time_mode();
    let (mut t, mut counted) = (0.0, 0);
    let derivatives = |t: f64, x: &[f64]| {
        me.set_time(t);
        me.set_states(x);
        me.derivatives()
    };
    while t < 0.3 {
        let next = next_event(&info);
        let (h, mut x) = ((next - t) / 8.0, me.states());
        for k in 0..8 {
            let t = t + h * f64::from(k);
            let along =
                |x: &[f64], d: &[f64], h: f64| -> Vec<f64> { x.iter().zip(d).map(|(x, d)| x + h * d).collect() };
            let k1 = derivatives(t, &x);
            let k2 = derivatives(t + 0.5 * h, &along(&x, &k1, 0.5 * h));
            let k3 = derivatives(t + 0.5 * h, &along(&x, &k2, 0.5 * h));
            let k4 = derivatives(t + h, &along(&x, &k3, h));
            for (i, x) in x.iter_mut().enumerate() {
                *x += h / 6.0 * (k1[i] + 2.0 * k2[i] + 2.0 * k3[i] + k4[i]);
            }
        }
        me.set_time(next);
        me.set_states(&x);
        info = me.event();
        ok(cs.step(t, next - t));
        t = next;
        for name in NAMES {
            let off = (me.get(name) - cs.get(name)).abs();
            // One step of the rounding of the gyro may differ.
            let most = if name.starts_with("imu.w") { 1.1e-3 } else { 1e-6 };
            assert!(off < most, "{name} at {t} s: {off:e}");
        }
        counted += 1;
    }
    assert!(counted > 15, "{counted} events");
}
