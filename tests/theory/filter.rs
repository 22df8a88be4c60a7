//! Filters of sampled controllers: frequency response in closed form, and the vibration of an
//! appendage that they keep stable.

use crate::numbers::Larger;
use crate::run::Run;
use nalgebra::{Complex, ComplexField, DMatrix, DVector};
use std::f64::consts::{FRAC_1_SQRT_2, TAU};

/// Returns a controller of the joints `a` and `b` with `tau = filter(q_ref − q)`.
fn controller(sample_time: f64, filters: &str) -> String {
    let joint = |name: &str| format!("[controller.joint.{name}]\nkp = 1.0\nkd = 0.0\nfilter = [{filters}]\n");
    format!(
        "name = \"control\"\nkind = \"controller\"\n[controller]\nsample_time = {sample_time:?}\n{}{}",
        joint("a"),
        joint("b")
    )
}

/// Returns the response to `e^{iωt}` at the frequency `f` (Hz) after `n` samples, from those to its
/// real and its imaginary part.
fn response(sample_time: f64, filters: &str, f: f64, n: u32) -> Complex<f64> {
    let mut run = Run::new(&controller(sample_time, filters), 1e-9);
    let phase = |k: u32| TAU * f * sample_time * f64::from(k);
    for k in 0..=n {
        let (sin, cos) = phase(k).sin_cos();
        run.set("a.q_ref", cos);
        run.set("b.q_ref", sin);
        run.go(sample_time * f64::from(k + 1));
    }
    let [re, im] = run.values(["a.tau", "b.tau"]);
    Complex::new(re, im) * Complex::new(0.0, -phase(n)).exp()
}

/// Filters, with the frequency (Hz) and the transfer function of `s/ω`.
type Case = (String, f64, fn(Complex<f64>) -> Complex<f64>);

fn cases() -> [Case; 4] {
    [
        ("{ type = \"first_order\", frequency = 2.0 }".to_owned(), 2.0, |s| {
            1.0 / (s + 1.0)
        }),
        ("{ type = \"second_order\", frequency = 3.0 }".to_owned(), 3.0, |s| {
            1.0 / (s * s + s * (2.0 * FRAC_1_SQRT_2) + 1.0)
        }),
        ("{ type = \"notch\", frequency = 1.5 }".to_owned(), 1.5, |s| {
            (s * s + 1.0) / (s * s + s + 1.0)
        }),
        (
            "{ type = \"notch\", frequency = 4.0, damping_ratio = 0.2, depth = 0.25 }".to_owned(),
            4.0,
            |s| (s * s + s * 0.1 + 1.0) / (s * s + s * 0.4 + 1.0),
        ),
    ]
}

/// Gain and phase are those of the continuous filter at the frequency that Tustin's method with
/// prewarping maps, `ω₀/tan(ω₀T/2) tan(ωT/2)`: at the filter's own frequency at that frequency.
/// Tolerance: round-off of 4000 samples.
#[test]
fn frequency_response_has_the_closed_form() {
    let T = 0.01;
    for (filter, own, transfer) in cases() {
        for f in [0.3, own, 7.0, 31.0] {
            let warped = (0.5 * TAU * f * T).tan() / (0.5 * TAU * own * T).tan();
            let expected = transfer(Complex::new(0.0, warped));
            if f == own {
                assert_eq!(warped, 1.0);
            }
            let off = (response(T, &filter, f, 4000) - expected).modulus();
            println!(
                "{filter}: {f} Hz, gain {:.6}, phase {:.4}, off by {off:.1e}",
                expected.modulus(),
                expected.argument()
            );
            assert!(off < 1e-12, "{filter}, {f} Hz: {off:e}");
        }
    }
    let [(a, f_a, h_a), _, (b, f_b, h_b), _] = cases();
    let at = |f: f64, own: f64| Complex::new(0.0, (0.5 * TAU * f * T).tan() / (0.5 * TAU * own * T).tan());
    let both = response(T, &format!("{a}, {b}"), 1.1, 4000);
    assert!((both - h_a(at(1.1, f_a)) * h_b(at(1.1, f_b))).modulus() < 1e-12);
}

/// A filter starts as if the first command had lasted for ever, so that a constant command passes
/// from the first sample on. Tolerance: round-off.
#[test]
fn constant_command_passes_from_the_first_sample() {
    for (filter, ..) in cases() {
        let mut run = Run::new(&controller(0.02, &filter), 1e-9);
        run.set("a.q_ref", 0.7);
        for k in 1..=50 {
            run.go(0.02 * f64::from(k));
            let off = (run.value("a.tau") - 0.7).abs();
            assert!(off < 1e-14, "{filter}, sample {k}: {off:e}");
        }
    }
}

/// Time between samples of the attitude controller, s, and its gains.
const SAMPLE_TIME: f64 = 0.1;
const GAINS: [f64; 2] = [59.0, 132.0];
/// Inertia of the bus and of its appendage about their common axis, kg·m²; frequency of the
/// vibration, Hz, and its damping ratio.
const INERTIA: [f64; 2] = [100.0, 50.0];
const MODE: f64 = 0.8;
const DAMPING: f64 = 0.002;
const LOW_PASS: &str = "{ type = \"second_order\", frequency = 0.6 }";
const NOTCH: &str = "{ type = \"notch\", frequency = 0.8 }";
/// Attitude at the start, rad.
const START: f64 = 0.01;

/// Returns stiffness and damping of the hinge: the reduced inertia vibrates with the mode.
fn hinge() -> [f64; 2] {
    let [J, panel] = INERTIA;
    let (reduced, w) = (J * panel / (J + panel), TAU * MODE);
    [reduced * w * w, 2.0 * DAMPING * reduced * w]
}

/// Runs a bus with an appendage on a spring and its sampled attitude controller with filters;
/// returns attitude (rad) and angle of the hinge (rad) at each sample.
fn coupled(filters: &str, samples: u32) -> Vec<[f64; 2]> {
    let [J, panel] = INERTIA;
    let [stiffness, damping] = hinge();
    let (sin, cos) = (0.5 * START).sin_cos();
    let spacecraft = format!(
        "name = \"bus\"\n[body.bus]\nmass = 300.0\ninertia = [{J:?}, {J:?}, {J:?}]\nstart = {{ attitude = [{cos:?}, 0.0, 0.0, {sin:?}] }}\n\
         [body.panel]\nmass = 20.0\ninertia = [30.0, 30.0, {panel:?}]\n[joint.hinge]\ntype = \"revolute\"\nparent = \"bus\"\nchild = \"panel\"\n\
         axis = [0.0, 0.0, 1.0]\nspring = {{ stiffness = {stiffness:?} }}\ndamping = {damping:?}\n\
         [port.wheels]\nframe = \"bus\"\naxes = \"frame\"\n[solver]\nmethod = \"dop853\"\n"
    );
    let [kp, kd] = GAINS;
    let controller = format!(
        "name = \"pilot\"\nkind = \"controller\"\n[controller]\nsample_time = {SAMPLE_TIME:?}\n[controller.attitude.bus]\n\
         kp = {kp:?}\nkd = {kd:?}\nport = \"wheels\"\nfilter = [{filters}]\n"
    );
    let mut bus = Run::new(&spacecraft, 1e-13);
    let mut pilot = Run::new(&controller, 1e-9);
    bus.look();
    let mut motion = Vec::new();
    for k in 0..samples {
        let angle = 2.0 * bus.value("bus.q[4]").atan2(bus.value("bus.q[1]"));
        motion.push([angle, bus.value("hinge.q")]);
        for name in (1..=4)
            .map(|i| format!("bus.q[{i}]"))
            .chain((1..=3).map(|i| format!("bus.w[{i}]")))
        {
            let value = bus.value(&name);
            pilot.set(&name, value);
        }
        let next = SAMPLE_TIME * f64::from(k + 1);
        pilot.go(next);
        bus.set("wheels.t[3]", pilot.value("wheels.t[3]"));
        bus.go(next);
    }
    motion
}

/// Returns the coefficients `b` and `a` of `N(s/ω)/D(s/ω)` by Tustin's method with prewarping.
fn tustin(n: [f64; 3], d: [f64; 3], frequency: f64) -> [[f64; 3]; 2] {
    let t = (0.5 * TAU * frequency * SAMPLE_TIME).tan();
    let of = |p: [f64; 3]| {
        // p₀ (1 + z⁻¹)² t² + p₁ (1 − z⁻²) t + p₂ (1 − z⁻¹)²
        [
            p[0] * t * t + p[1] * t + p[2],
            2.0 * (p[0] * t * t - p[2]),
            p[0] * t * t - p[1] * t + p[2],
        ]
    };
    let (n, d) = (of(n), of(d));
    [n.map(|x| x / d[0]), d.map(|x| x / d[0])]
}

/// Returns the matrix of one sample of the linear system: an exact step with a constant moment, and
/// the difference equations of the filters. The state is attitude, its rate, angle of the hinge, its
/// rate, and of each filter the last two commands and results.
fn transition(filters: &[[[f64; 3]; 2]]) -> DMatrix<f64> {
    let [J, panel] = INERTIA;
    let [k, c] = hinge();
    let mut A = DMatrix::zeros(5, 5);
    // Attitude, its rate, angle of the hinge, its rate, moment.
    A[(0, 1)] = 1.0;
    A[(2, 3)] = 1.0;
    let bus = [k / J, c / J, 1.0 / J];
    for (column, value) in [2, 3, 4].into_iter().zip(bus) {
        A[(1, column)] = value;
        A[(3, column)] = -value;
    }
    A[(3, 2)] -= k / panel;
    A[(3, 3)] -= c / panel;
    let (mut step, mut term) = (DMatrix::identity(5, 5), DMatrix::identity(5, 5));
    for k in 1..40 {
        term = term * &A * (SAMPLE_TIME / f64::from(k));
        step += &term;
    }
    let n = 4 + 4 * filters.len();
    let mut P = DMatrix::zeros(n, n);
    for column in 0..n {
        let mut x = DVector::<f64>::zeros(n);
        x[column] = 1.0;
        let mut u = -GAINS[0] * x[0] - GAINS[1] * x[1];
        for (i, [b, a]) in filters.iter().enumerate() {
            let at = 4 + 4 * i;
            let y = b[0] * u + b[1] * x[at] + b[2] * x[at + 1] - a[1] * x[at + 2] - a[2] * x[at + 3];
            for (row, value) in [u, x[at], y, x[at + 2]].into_iter().enumerate() {
                P[(at + row, column)] = value;
            }
            u = y;
        }
        let next = &step * DVector::from_column_slice(&[x[0], x[1], x[2], x[3], u]);
        for (row, value) in next.iter().take(4).enumerate() {
            P[(row, column)] = *value;
        }
    }
    P
}

/// Returns the motion of [`coupled`] by the recurrence of the linear system.
fn recurrence(P: &DMatrix<f64>, samples: u32) -> Vec<[f64; 2]> {
    // The filters have the memory of a constant command.
    let mut x = DVector::from_element(P.nrows(), -GAINS[0] * START);
    for (row, value) in [START, 0.0, 0.0, 0.0].into_iter().enumerate() {
        x[row] = value;
    }
    let mut motion = Vec::new();
    for _ in 0..samples {
        motion.push([x[0], x[2]]);
        x = P * x;
    }
    motion
}

/// Returns the growth of a vibration `Re(c λᵏ)` at its last samples, 1/s:
/// `x²ₖ₊₁ − xₖ xₖ₊₂ = |c|² sin²(arg λ) |λ|²ᵏ⁺²`.
fn growth(motion: &[[f64; 2]]) -> f64 {
    let last = &motion[motion.len() - 4..];
    let square = |k: usize| last[k + 1][1] * last[k + 1][1] - last[k][1] * last[k + 2][1];
    (square(1) / square(0)).ln() / (2.0 * SAMPLE_TIME)
}

/// A low-pass delays the moment by more than a quarter of the period of the vibration, which then
/// grows. A notch at its frequency in addition removes the instability: attitude and vibration come
/// to rest. Both motions are those of the linear recurrence, since all turn about one axis, and their
/// growth is that of its largest eigenvalue.
/// Tolerance: that of the integration; the growth has the error of four samples, each 1e-9, over the
/// time between them.
#[test]
fn notch_keeps_the_vibration_of_an_appendage_stable() {
    let low_pass = tustin([1.0, 0.0, 0.0], [1.0, 2.0 * FRAC_1_SQRT_2, 1.0], 0.6);
    let notch = tustin([1.0, 0.0, 1.0], [1.0, 1.0, 1.0], MODE);
    let both = format!("{LOW_PASS}, {NOTCH}");
    for (filters, list, samples, is_stable) in [
        (LOW_PASS, vec![low_pass], 1000, false),
        (&both, vec![low_pass, notch], 4000, true),
    ] {
        let P = transition(&list);
        let (found, expected) = (coupled(filters, samples), recurrence(&P, samples));
        let pairs = found.iter().zip(&expected);
        let off = pairs.map(|(a, b)| (a[0] - b[0]).abs().larger((a[1] - b[1]).abs()));
        let off = off.fold(0.0, f64::larger);
        let most = |part: &[[f64; 2]]| part.iter().map(|x| x[1].abs()).fold(0.0, f64::larger);
        let (early, late) = (most(&found[..200]), most(&found[found.len() - 200..]));
        let spectrum = P.complex_eigenvalues();
        let rate = spectrum.iter().map(|z| z.norm_sqr().sqrt()).fold(0.0, f64::larger).ln() / SAMPLE_TIME;
        let growth = growth(&found);
        println!("{filters}: hinge {early:.1e} rad, then {late:.1e} rad, by {growth:.4} 1/s; off by {off:.1e} rad");
        assert!((growth - rate).abs() < 1e-6, "{growth} 1/s, the eigenvalue's {rate}");
        assert!(if is_stable {
            late < 0.1 * early
        } else {
            late > 20.0 * early
        });
        let scale = late.larger(early);
        assert!(off < 1e-9 * scale.larger(0.01), "{off:e} of {scale:e}");
    }
}
