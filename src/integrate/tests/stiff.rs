//! RADAU5 on stiff problems.

use super::super::equations::Equations;
use super::super::landing::Trial;
use super::super::memory::Age;
use super::super::one_step::OneStep;
use super::super::radau::Radau5;
use super::super::{Memory, Method, Ode, Settings};
use super::problems::{distance, hires, ode, robertson, run, slope, smooth, smooth_solution, van_der_pol};
use crate::larger::Larger;

unit_tests![
    nonstiff_error_has_order_five,
    old_jacobian_must_prove_itself,
    stiff_error_has_the_stage_order,
    robertsons_reaction_reaches_its_reference,
    van_der_pols_oscillator_reaches_its_reference,
    hires_reaches_its_reference,
];

/// Takes `count` equal steps without error control, each with a new Jacobian.
fn equal_steps<O: Ode>(ode: &mut O, times: (f64, f64), count: i32, x: &mut [f64]) {
    steps(ode, times, count, x, 1e-12, true);
}

/// Takes `count` equal steps without error control; each one `renews` the Jacobian, or uses it
/// again.
fn steps<O: Ode>(ode: &mut O, (t0, t_end): (f64, f64), count: i32, x: &mut [f64], tolerance: f64, renews: bool) {
    let settings = Settings::new(Method::Radau5, tolerance, &vec![1.0; x.len()]).unwrap();
    let mut memory = Memory::new(&settings);
    let mut radau5 = Radau5::new(&settings);
    let mut equations = Equations {
        ode,
        evaluations: &mut 0,
        call_start: 0,
        limit: u64::MAX,
    };
    for k in 0..count {
        let time = |k: i32| t0 + (t_end - t0) * f64::from(k) / f64::from(count);
        let trial = Trial::towards(time(k), f64::INFINITY, time(k + 1));
        if renews {
            memory.newton.jacobian = Age::None;
        }
        assert!(radau5.start(&mut equations, time(k), x).is_ok());
        let attempt = radau5.attempt(&mut equations, time(k), trial, &settings, &mut memory);
        assert!(attempt.is_ok());
        x.copy_from_slice(radau5.x1());
    }
}

fn nonstiff_error_has_order_five() {
    let points = [16, 24, 36, 54].map(|count| {
        let mut x = smooth_solution(-0.7);
        equal_steps(&mut smooth(), (-0.7, 1.3), count, &mut x);
        (2.0 / f64::from(count), distance(&x, &smooth_solution(1.3)))
    });
    let slope = slope(&points);
    println!("radau5: slope {slope:.3}, errors {points:?}");
    assert!((slope - 5.0).abs() < 0.35, "{slope}");
}

/// The contraction rate with a new Jacobian, here round-off, does not count for the next step, in
/// which the rate of decay is another one.
fn old_jacobian_must_prove_itself() {
    let h = 0.1;
    let rate = move |t| if t <= h { 1.0 } else { 2.0 };
    let mut problem = ode(move |t, x, dx| dx[0] = rate(t) * (1.0 - x[0]));
    let mut x = [0.0];
    steps(&mut problem, (0.0, 2.0 * h), 2, &mut x, 1e-6, false);
    let off = (1.0 - x[0] - (-3.0 * h).exp()).abs();
    println!("off by {off:.1e}");
    assert!(off < 1e-6, "{off:e}");
}

/// Returns the slope of the error over the step size for Prothero and Robinson's problem
/// `ẋ = λ(x − sin t) + cos t`, which starts on its smooth solution `sin t`.
fn prothero_robinson(lambda: f64) -> f64 {
    let points = [8, 16, 32, 64].map(|count| {
        let mut x = [0.0];
        let mut problem = ode(move |t, x, dx| dx[0] = lambda * (x[0] - t.sin()) + t.cos());
        equal_steps(&mut problem, (0.0, 2.0), count, &mut x);
        (2.0 / f64::from(count), (x[0] - 2.0_f64.sin()).abs())
    });
    println!("λ = {lambda:e}: errors {points:?}");
    slope(&points)
}

fn stiff_error_has_the_stage_order() {
    // HW IV.15: the error of Radau IIA with s stages is hˢ/|λ| for large h|λ|.
    let (mild, stiff) = (prothero_robinson(-1.0), prothero_robinson(-1e5));
    println!("slopes {mild:.3} and {stiff:.3}");
    assert!((mild - 5.0).abs() < 0.35 && (stiff - 3.0).abs() < 0.35);
}

/// Runs to `t_end`; returns the largest relative error of a state, and prints the work.
fn at_end<O: Ode<Error: std::fmt::Debug>>(
    name: &str,
    settings: Settings,
    ode: &mut O,
    t_end: f64,
    x: &mut [f64],
    reference: &[f64],
) -> f64 {
    let tolerance = settings.relative_tolerance();
    // The end time increases tenfold from run to run, because the smallest admissible step is
    // proportional to the interval.
    let mut steps = Vec::new();
    let mut t = 0.0;
    while t < t_end {
        let next = (10.0 * t).max(1.0).min(t_end);
        steps.extend(run(settings.clone(), ode, t, next, x));
        t = next;
    }
    let rejections: u32 = steps.iter().map(|step| step.rejections).sum();
    let error = x
        .iter()
        .zip(reference)
        .map(|(x, r)| ((x - r) / r).abs())
        .fold(0.0, f64::larger);
    println!(
        "{name}: tolerance {tolerance:.0e}, error {error:.1e}, {} steps, {rejections} rejections",
        steps.len()
    );
    // The limit is on the number of steps; an explicit method needs millions for these problems.
    assert!(steps.len() < 3000);
    error
}

/// Admissible ratio of the global error to the tolerance. The tolerance bounds the error of one
/// step only.
///
/// Reference solutions: F. Mazzia, C. Magherini, *Test Set for Initial Value Problem Solvers*,
/// release 2.4, 2008, computed with tolerances of 1e-18. Errors are relative in each component.
const GROWTH: f64 = 10.0;

fn robertsons_reaction_reaches_its_reference() {
    let reference = [
        0.208_334_014_970_125_5e-7,
        0.833_336_077_033_471_3e-13,
        0.999_999_979_166_505,
    ];
    for tolerance in [1e-4, 1e-6, 1e-8] {
        let settings = Settings::new(Method::Radau5, tolerance, &[1e-8, 1e-13, 1.0]).unwrap();
        let mut x = [1.0, 0.0, 0.0];
        let error = at_end("Robertson", settings, &mut robertson(), 1e11, &mut x, &reference);
        assert!(error < GROWTH * tolerance, "{error:e}");
    }
}

fn van_der_pols_oscillator_reaches_its_reference() {
    let reference = [0.170_616_773_217_048_3e1, -0.892_809_701_024_797_5];
    for tolerance in [1e-4, 1e-6, 1e-8, 1e-10] {
        let settings = Settings::new(Method::Radau5, tolerance, &[1.0, 1.0]).unwrap();
        let error = at_end(
            "van der Pol",
            settings,
            &mut van_der_pol(),
            2.0,
            &mut [2.0, 0.0],
            &reference,
        );
        assert!(error < GROWTH * tolerance, "{error:e}");
    }
}

fn hires_reaches_its_reference() {
    let reference = [
        0.737_131_257_332_566_8e-3,
        0.144_248_572_631_618_5e-3,
        0.588_872_974_096_757_5e-4,
        0.117_565_134_328_314_9e-2,
        0.238_635_619_883_133_1e-2,
        0.623_896_825_274_279_6e-2,
        0.284_999_839_518_576_9e-2,
        0.285_000_160_481_423_1e-2,
    ];
    for tolerance in [1e-4, 1e-6, 1e-8, 1e-10] {
        let settings = Settings::new(Method::Radau5, tolerance, &[1e-4; 8]).unwrap();
        let mut x = [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0057];
        let error = at_end("HIRES", settings, &mut hires(), 321.8122, &mut x, &reference);
        assert!(error < GROWTH * tolerance, "{error:e}");
    }
}
