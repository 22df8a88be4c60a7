//! Input shaping (Singer and Seering 1990): vibration that is left after a shaped signal.

use crate::numbers::Larger;
use crate::run::Run;
use nalgebra::{Complex, ComplexField};
use std::f64::consts::{PI, TAU};

/// Frequency of the mode for which the signals are shaped, Hz.
const MODELLED: f64 = 0.5;
/// Begin of the signals, s.
const BEGIN: f64 = 0.7;
/// Time at which the vibration is compared, s: all copies have ended.
const AFTER: f64 = 8.0;

/// Signals of a force, N, all with a begin and with different ends.
const SIGNALS: [&str; 4] = [
    "type = \"step\"\nfrom = 0.7\namplitude = 3.0",
    "type = \"quintic\"\nfrom = 0.7\nuntil = 1.9\namplitude = 3.0",
    "type = \"constant\"\nfrom = 0.7\nuntil = 1.2\namplitude = 3.0",
    "type = \"table\"\ntimes = [0.7, 1.0, 2.1]\nvalues = [0.0, 2.0, 1.0]",
];

/// Returns the phasor of the vibration at [`AFTER`], m: a mass on a spring with a frequency (Hz)
/// and a damping ratio, after a signal with these fields.
fn vibration(frequency: f64, ratio: f64, signal: &str) -> Complex<f64> {
    let (w, mass) = (TAU * frequency, 2.0);
    let text = format!(
        "name = \"oscillator\"\n[body.bob]\nmass = {mass:?}\ninertia = [0.1, 0.1, 0.1]\n[joint.slide]\ntype = \"prismatic\"\n\
         parent = \"world\"\nchild = \"bob\"\naxis = [1.0, 0.0, 0.0]\nspring = {{ stiffness = {:?} }}\ndamping = {:?}\n\
         [signal.\"slide.tau\"]\nfrom_importer = false\n{signal}\n[solver]\nmethod = \"dop853\"\n",
        mass * w * w,
        2.0 * ratio * w * mass
    );
    let mut run = Run::new(&text, 1e-12);
    run.go(AFTER);
    let [q, qd, force] = run.values(["slide.q", "slide.qd", "slide.tau"]);
    let (y, decay, w_d) = (q - force / (mass * w * w), ratio * w, w * (1.0 - ratio * ratio).sqrt());
    Complex::new(y, -(qd + decay * y) / w_d)
}

fn shaper(kind: &str, ratio: f64) -> String {
    format!("{{ type = \"{kind}\", frequency = {MODELLED:?}, damping_ratio = {ratio:?} }}")
}

/// The vibration after a shaped signal is that after the signal itself times `(1 + K z)/(1 + K)`
/// (ZV), or its square (ZVD): `K = exp(−πζ/√(1 − ζ²))`, and `z = exp(−λ h)` with the eigenvalue
/// `λ = −ζω + i ω_d` of the mass on its spring and half a period `h` of the modelled mode. At the
/// modelled frequency it is zero. Tolerance: that of the integration, of vibrations of 0.1 m and of
/// up to 1.2 m/s.
#[test]
fn vibration_after_a_shaped_signal_has_the_closed_form() {
    for ratio in [0.0, 0.1] {
        let modelled = (1.0f64 - ratio * ratio).sqrt();
        let (K, half) = ((-PI * ratio / modelled).exp(), 0.5 / (MODELLED * modelled));
        for error in [-0.1, 0.0, 0.1] {
            let w = TAU * MODELLED * (1.0 + error);
            let z = (Complex::new(ratio * w, -w * modelled) * half).exp();
            let zv = (z * K + 1.0) / (1.0 + K);
            for signal in SIGNALS {
                let frequency = MODELLED * (1.0 + error);
                let unshaped = vibration(frequency, ratio, signal);
                assert!(unshaped.modulus() > 1e-3, "{signal}: {unshaped}");
                for (kind, factor) in [("zv", zv), ("zvd", zv * zv)] {
                    let shaped = format!("{signal}\nshaper = [{}]", shaper(kind, ratio));
                    let found = vibration(frequency, ratio, &shaped);
                    let off = (found - unshaped * factor).modulus();
                    let part = found.modulus() / unshaped.modulus();
                    println!("ζ = {ratio}, {error:+}: {kind} {part:.4}, off by {off:.1e} m");
                    assert!(off < 1e-10, "{kind}, {error}, {signal}: {off:e}");
                    assert!(error != 0.0 || found.modulus() < 1e-10, "{found}");
                }
            }
        }
        // The parts that are left at ±10 %, without damping: cos(1.1 π/2) and its square.
        if ratio == 0.0 {
            let left = [1.1, 0.9].map(|r: f64| (0.5 * PI * r).cos().abs());
            println!("ZV {left:.4?}, ZVD {:.4?}", left.map(|part| part * part));
        }
    }
}

/// Shapers of two modes leave neither vibrating, whatever their order. Tolerance as above.
#[test]
fn signals_shaped_for_several_modes_leave_each_at_rest() {
    let other = "{ type = \"zv\", frequency = 1.3, damping_ratio = 0.02 }";
    let mut most = 0.0f64;
    for list in [
        [shaper("zvd", 0.1), other.to_owned()],
        [other.to_owned(), shaper("zvd", 0.1)],
    ] {
        let signal = format!("{}\nshaper = [{}]", SIGNALS[0], list.join(", "));
        let left = [vibration(MODELLED, 0.1, &signal), vibration(1.3, 0.02, &signal)];
        most = most.larger(left[0].modulus()).larger(left[1].modulus());
    }
    println!("{most:.1e} m");
    assert!(most < 1e-10, "{most:e}");
}

/// A shaped trajectory sets the reference and its two derivatives: a joint with an ideal servo of
/// the rigid spacecraft, whose feed-forward needs all three, is on it to the tolerance of the
/// integration, and reaches the end of the trajectory half a period later.
#[test]
fn shaped_trajectory_sets_consistent_derivatives() {
    let text = format!(
        "name = \"servo\"\n[body.base]\nmass = 20.0\ninertia = [3.0, 3.0, 3.0]\n[body.arm]\nmass = 2.0\n\
         mass_centre = [0.5, 0.0, 0.0]\ninertia = [0.1, 0.2, 0.2]\n[joint.elbow]\ntype = \"revolute\"\nparent = \"base\"\n\
         child = \"arm\"\naxis = [0.0, 0.0, 1.0]\nservo = {{ kp = 1.0, kd = 1.0, feed_forward = \"rigid\" }}\n\
         [signal.\"elbow.q_ref\"]\ntype = \"quintic\"\nfrom = {BEGIN:?}\nuntil = 1.9\namplitude = 0.8\nfrom_importer = false\n\
         with_rate = true\nshaper = [{}]\n[solver]\nmethod = \"dop853\"\n",
        shaper("zv", 0.0)
    );
    let mut run = Run::new(&text, 1e-12);
    let mut worst = 0.0f64;
    for k in 1..=40 {
        worst = worst.larger(run.go(0.1 * f64::from(k)).value("elbow.servo_error").abs());
        if k == 28 {
            assert!(run.value("elbow.qd") > 1e-6);
        }
    }
    println!("servo error {worst:.1e} rad");
    assert!(worst < 1e-12, "{worst:e}");
    assert!((run.value("elbow.q") - 0.8).abs() < 1e-12);
}
