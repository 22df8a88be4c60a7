//! The coefficients of the Rosenbrock-W method, and its order with an arbitrary matrix.

use super::super::rosenbrock::{A, B, C, DENSE, ERROR, G, GAMMA, OF_TIME, STAGES};
use super::super::tableau::Row;
use super::super::{Memory, Method, Ode, Settings, Stage, Stepper};
use super::problems::{distance, slope, smooth, smooth_solution};
use crate::larger::Larger;
use nalgebra::{Complex, ComplexField, Matrix2, Matrix4, Vector2, Vector4};

unit_tests![
    coefficients_satisfy_the_conditions_of_order_three_for_any_matrix,
    the_method_is_l_stable_and_estimates_an_unresolved_vibration_by_its_amplitude,
    quasi_static_vibrations_are_accurate_at_every_frequency,
    the_order_is_three_with_any_matrix_that_varies_slowly,
    a_slow_load_excites_no_vibration,
    a_slow_motion_excites_no_vibration,
    without_matrix_the_method_is_stable_as_explicit_ones_are,
    a_stiff_vibration_that_follows_a_motion_keeps_the_order,
    restored_and_following_runs_have_the_same_stages,
];

fn vector(row: Row) -> Vector4<f64> {
    let mut vector = Vector4::zeros();
    row.iter().for_each(|&(j, a)| vector[j] += a);
    vector
}

fn matrix(rows: [Row; STAGES]) -> Matrix4<f64> {
    Matrix4::from_rows(&rows.map(|row| vector(row).transpose()))
}

/// Returns `αᵢⱼ`, `γᵢⱼ` with the diagonal, and the sums `αᵢ` and `γᵢ` of their rows.
fn coefficients() -> (Matrix4<f64>, Matrix4<f64>, Vector4<f64>, Vector4<f64>) {
    let (a, g) = (matrix(A), matrix(G) + Matrix4::identity() * GAMMA);
    let one = Vector4::repeat(1.0);
    (a, g, a * one, g * one)
}

/// Conditions (3) and (4) of [`super::super::rosenbrock`], those of the embedded solution and of the
/// dense output. Coefficients are below 3, so that round-off is some 1e-15.
fn coefficients_satisfy_the_conditions_of_order_three_for_any_matrix() {
    let (a, g, alpha, gamma) = coefficients();
    let b = vector(B);
    let squares = alpha.component_mul(&alpha);
    let conditions = [
        (b.sum(), 1.0),
        (b.dot(&alpha), 1.0 / 2.0),
        (b.dot(&gamma), 0.0),
        (b.dot(&squares), 1.0 / 3.0),
        (b.dot(&(a * alpha)), 1.0 / 6.0),
        (b.dot(&(a * gamma)), 0.0),
        (b.dot(&(g * alpha)), 0.0),
        (b.dot(&(g * gamma)), 0.0),
        (b.dot(&alpha.component_mul(&gamma)), 0.0),
        ((a * (alpha + gamma))[3], 1.0 / 2.0),
    ];
    let error = vector(ERROR);
    let embedded = [(error.sum(), 0.0), (error.dot(&alpha), 0.0), (error.dot(&gamma), 0.0)];
    let stiffly_accurate = (0..STAGES).map(|j| ((a + g)[(3, j)], b[j]));
    let nodes = (0..STAGES).flat_map(|i| [(alpha[i], C[i]), (gamma[i], OF_TIME[i])]);
    let all = conditions
        .into_iter()
        .chain(embedded)
        .chain(stiffly_accurate)
        .chain(nodes);
    let mut worst = all.fold(0.0, |worst: f64, (found, exact)| worst.larger((found - exact).abs()));
    for theta in [0.1, 0.5, 0.8, 1.0] {
        // The nested form of `Dense`, with `r₁ = b`.
        let inside = (b + (vector(DENSE[0]) + vector(DENSE[1]) * theta) * (1.0 - theta)) * theta;
        let conditions = [
            (inside.sum(), theta),
            (inside.dot(&alpha), theta * theta / 2.0),
            (inside.dot(&gamma), 0.0),
            (inside.dot(&squares), theta * theta * theta / 3.0),
        ];
        worst = conditions
            .iter()
            .fold(worst, |worst, (found, exact)| worst.larger((found - exact).abs()));
    }
    println!("{worst:.1e}");
    assert!(worst < 5e-15, "{worst:e}");
}

/// Returns the eigenvalues `z = iy` of vibrations with up to 1e5 radians in a step.
fn vibrations() -> impl Iterator<Item = Complex<f64>> {
    (0..2000).map(|k| Complex::new(0.0, 10.0_f64.powf(-3.0 + 8.0 * f64::from(k) / 2000.0)))
}

/// Returns `bᵀ(1 − z B)⁻¹ v` and `eᵀ(1 − z B)⁻¹ v`, with the weights `e` of the error estimate.
fn weighted(z: Complex<f64>, v: Vector4<Complex<f64>>) -> [Complex<f64>; 2] {
    let (a, g, ..) = coefficients();
    let stages = (Matrix4::identity() - (a + g).map(Complex::from) * z).lu().solve(&v);
    let stages = stages.expect("regular on the imaginary axis");
    [B, ERROR].map(|row| vector(row).map(Complex::from).dot(&stages))
}

/// Without poles in the left half plane, the imaginary axis decides A-stability.
fn the_method_is_l_stable_and_estimates_an_unresolved_vibration_by_its_amplitude() {
    let (mut largest, mut last) = (0.0_f64, [0.0_f64; 2]);
    for z in vibrations() {
        let [growth, error] = weighted(z, Vector4::repeat(z));
        largest = largest.larger((growth + 1.0).modulus());
        last = [(growth + 1.0).modulus(), error.modulus()];
    }
    let radian = Complex::new(0.0, 1.0);
    let [growth, _] = weighted(radian, Vector4::repeat(radian));
    let off = (growth + 1.0 - radian.exp()).modulus();
    println!(
        "after a radian {off:.2e}; largest |R| {largest}, at infinity |R| = {:.1e}, estimate {}",
        last[0], last[1]
    );
    // At 1e5 radians |R| is about 1e-4.
    assert!(off < 1.2e-3 && largest < 1.0 + 1e-14 && last[0] < 2e-4 && (last[1] - 1.0).abs() < 1e-6);
}

/// Errors of a vibration that follows a slow load: of `ẏ = λ (y − φ) + φ̇`, `y(0) = 0`, after a
/// step of length 1, for `φ = t`, which is exact, `t²/2` and `t³/6`. The limits are those reached.
fn quasi_static_vibrations_are_accurate_at_every_frequency() {
    let (_, _, alpha, gamma) = coefficients();
    let power = |t: f64, n: i32| match n {
        0.. => Complex::from(t.powi(n) / (1..=n).product::<i32>() as f64),
        _ => Complex::from(0.0),
    };
    let mut worst = [0.0_f64; 3];
    for z in vibrations() {
        for (worst, n) in worst.iter_mut().zip(1..) {
            let load = |t: f64, n: i32| power(t, n - 1) - power(t, n) * z;
            let of_time = gamma.map(|gamma| load(0.0, n - 1) * gamma);
            let [end, _] = weighted(z, alpha.map(|t| load(t, n)) + of_time);
            *worst = worst.larger((end - power(1.0, n)).modulus());
        }
    }
    println!("{worst:?}");
    assert!(worst[0] < 1e-14 && worst[1] < 3.6e-2 && worst[2] < 9.2e-3, "{worst:?}");
}

/// Returns the growth of a step of `ẋ = λ x` with `W = 0`, `z = h λ`, with or without the term `d`.
fn growth_without_matrix(z: Complex<f64>, has_drift: bool) -> Complex<f64> {
    let (a, _, _, gamma) = coefficients();
    let mut k = Vector4::repeat(Complex::from(0.0));
    for i in 0..STAGES {
        let x = (a.row(i).map(Complex::from) * k)[0] + 1.0;
        k[i] = z * x;
        if has_drift {
            k[i] += z * z * gamma[i];
        }
    }
    vector(B).map(Complex::from).dot(&k) + 1.0
}

/// Explicit terms: without the matrix a decay is stable up to `h|λ|` of 3.2 (2.4 in steps without the
/// term `d`), a vibration up to 2.6 (1.7). Explicit methods of order 3 with three stages: 2.5 and 1.7.
fn without_matrix_the_method_is_stable_as_explicit_ones_are() {
    for (has_drift, [decay, vibration]) in [(true, [3.2, 2.6]), (false, [2.4, 1.7])] {
        for (end, direction) in [(decay, Complex::new(-1.0, 0.0)), (vibration, Complex::new(0.0, 1.0))] {
            let radii = (1..1000).map(|k| end * f64::from(k) / 1000.0);
            let growths = radii.map(|radius| growth_without_matrix(direction * radius, has_drift).modulus());
            let largest = growths.fold(0.0, f64::max);
            println!("{has_drift}, up to {end} {direction}: {largest}");
            assert!(largest < 1.0, "{largest}");
        }
    }
}

/// The smooth problem with the matrix `W(t) = W₀ + t W₁`, which is not its Jacobian.
pub struct WithMatrix;

impl Ode for WithMatrix {
    type Error = std::convert::Infallible;

    fn derivative(&mut self, t: f64, x: &[f64], dx: &mut [f64]) -> Result<(), Self::Error> {
        smooth().derivative(t, x, dx)
    }

    fn stage(&mut self, stage: Stage, x: &[f64], p: &[f64], k: &mut [f64]) -> Result<(), Self::Error> {
        self.derivative(stage.t, x, k)?;
        let W = Matrix2::new(-0.7, 1.3, -2.1, 0.4) + Matrix2::new(0.5, -0.8, 1.1, 0.9) * stage.t;
        let right = Vector2::from_column_slice(k) + W * Vector2::from_column_slice(p);
        let solved = (Matrix2::identity() - W * stage.theta).lu().solve(&right);
        k.copy_from_slice(solved.expect("regular").as_slice());
        Ok(())
    }
}

fn the_order_is_three_with_any_matrix_that_varies_slowly() {
    let points = [32, 64, 128, 256].map(|count| {
        let h = 2.0 / f64::from(count);
        let settings = Settings::new(Method::Rosenbrock, 0.1, &[1e6; 2]).unwrap();
        let settings = settings.with_h_max(h).unwrap().with_initial_step(h).unwrap();
        let (mut t, mut x) = (-0.7, smooth_solution(-0.7));
        let mut stepper = Stepper::new(settings);
        let mut memory = Memory::new(stepper.settings());
        while t < 1.3 {
            t = stepper.step(&mut WithMatrix, t, 1.3, &mut x, &mut memory).unwrap().t;
        }
        (h, distance(&x, &smooth_solution(1.3)))
    });
    let slope = slope(&points);
    println!("slope {slope:.3}, errors {points:?}");
    assert!((slope - 3.0).abs() < 0.2, "{slope}");
}

/// A vibration `ẍ = ω² (sin t − x)`, with its Jacobian.
struct Driven {
    frequency: f64,
}

impl Ode for Driven {
    type Error = std::convert::Infallible;

    fn derivative(&mut self, t: f64, x: &[f64], dx: &mut [f64]) -> Result<(), Self::Error> {
        dx.copy_from_slice(&[x[1], self.frequency.powi(2) * (t.sin() - x[0])]);
        Ok(())
    }

    fn stage(&mut self, stage: Stage, x: &[f64], p: &[f64], k: &mut [f64]) -> Result<(), Self::Error> {
        self.derivative(stage.t, x, k)?;
        solve_vibration(self.frequency, stage.theta, p, k);
        Ok(())
    }
}

/// Solves the last terms of a vibration's stage, with the vibration's own Jacobian.
fn solve_vibration(frequency: f64, theta: f64, p: &[f64], k: &mut [f64]) {
    let W = Matrix2::new(0.0, 1.0, -frequency.powi(2), 0.0);
    let right = Vector2::from_column_slice(k) + W * Vector2::from_column_slice(p);
    let solved = (Matrix2::identity() - W * theta).lu().solve(&right);
    k.copy_from_slice(solved.expect("regular").as_slice());
}

/// A vibration that follows a slow one, `ẍ = ω² (y − x)`, `ÿ = −y`, with a matrix that lacks the
/// derivative with respect to `y` and the slow vibration.
struct Following {
    frequency: f64,
}

impl Ode for Following {
    type Error = std::convert::Infallible;

    fn derivative(&mut self, _: f64, x: &[f64], dx: &mut [f64]) -> Result<(), Self::Error> {
        dx.copy_from_slice(&[x[1], self.frequency.powi(2) * (x[2] - x[0]), x[3], -x[2]]);
        Ok(())
    }

    fn stage(&mut self, stage: Stage, x: &[f64], p: &[f64], k: &mut [f64]) -> Result<(), Self::Error> {
        self.derivative(stage.t, x, k)?;
        solve_vibration(self.frequency, stage.theta, &p[..2], &mut k[..2]);
        Ok(())
    }

    fn varies_in_time(&self, _: f64) -> bool {
        false
    }
}

/// Returns the largest errors of displacement and velocity of a vibration that follows `sin t`, over
/// three periods in steps of `h`, from the start `[0, a]` of the slow solution `a sin t`. `others`
/// are the states after these two.
fn errors_of<O: Ode<Error = std::convert::Infallible>>(
    ode: &mut O,
    frequency: f64,
    h: f64,
    others: &[f64],
) -> [f64; 2] {
    let amplitude = frequency.powi(2) / (frequency.powi(2) - 1.0);
    let (mut t, mut x) = (0.0, [&[0.0, amplitude], others].concat());
    let settings = Settings::new(Method::Rosenbrock, 0.1, &vec![1e6; x.len()]).unwrap();
    let settings = settings.with_h_max(h).unwrap().with_initial_step(h).unwrap();
    let mut stepper = Stepper::new(settings);
    let mut memory = Memory::new(stepper.settings());
    let mut worst = [0.0_f64; 2];
    while t < 18.0 {
        t = stepper.step(ode, t, 18.0, &mut x, &mut memory).unwrap().t;
        worst[0] = worst[0].larger((x[0] - amplitude * t.sin()).abs());
        worst[1] = worst[1].larger((x[1] - amplitude * t.cos()).abs());
    }
    worst
}

/// Returns the largest of these errors in steps of 0.05, with several frequencies.
fn largest_errors<O: Ode<Error = std::convert::Infallible>>(of: impl Fn(f64) -> O, others: &[f64]) -> [f64; 2] {
    let h = 0.05;
    let mut worst = [0.0_f64; 2];
    for radians in [1.0, 2.0, 5.0, 10.0, 30.0, 100.0, 1000.0] {
        let errors = errors_of(&mut of(radians / h), radians / h, h, others);
        println!("{radians} radians in a step: {errors:?}");
        worst = [worst[0].larger(errors[0]), worst[1].larger(errors[1])];
    }
    println!("{worst:?}");
    worst
}

/// A load that varies in time does not excite vibrations, however stiff. Without `∂f/∂t` the errors
/// are 0.018 and 3.8. The limits are twice the values reached.
fn a_slow_load_excites_no_vibration() {
    let worst = largest_errors(|frequency| Driven { frequency }, &[]);
    assert!(worst[0] < 2e-4 && worst[1] < 2e-2, "{worst:?}");
}

/// A load that varies with slow states does not either, although the matrix lacks its derivative.
fn a_slow_motion_excites_no_vibration() {
    let worst = largest_errors(|frequency| Following { frequency }, &[0.0, 1.0]);
    assert!(worst[0] < 2e-4 && worst[1] < 2e-2, "{worst:?}");
}

/// Order with a stiff vibration and a matrix that lacks its coupling: errors of displacement in steps
/// of 0.2 to 0.025 s, with 4000 to 500 radians in a step.
fn a_stiff_vibration_that_follows_a_motion_keeps_the_order() {
    let points = [0.2, 0.1, 0.05, 0.025].map(|h| {
        let [displacement, _] = errors_of(&mut Following { frequency: 2e4 }, 2e4, h, &[0.0, 1.0]);
        (h, displacement)
    });
    let slope = slope(&points);
    println!("slope {slope:.3}, errors {points:?}");
    assert!((slope - 3.0).abs() < 0.1, "{slope}");
}

/// Short and long communication steps: the term `d` is left out in some, not in others. A run whose
/// memory is restored before each step, and one that follows another, have the same bits.
fn restored_and_following_runs_have_the_same_stages() {
    let settings = Settings::new(Method::Rosenbrock, 1e-3, &[1.0; 4]).unwrap();
    let ode = || Following { frequency: 40.0 };
    let start = [0.0, 1.0, 0.0, 1.0];
    let limit = |k: u32| f64::from(k) * if k < 40 { 0.004 } else { 0.3 };
    let (mut x, mut restored, mut followed) = (start, start, start);
    let (mut stepper, mut other) = (
        Stepper::new(settings.clone()),
        Stepper::new(settings.clone().following()),
    );
    let memories = || Memory::new(&settings);
    let (mut memory, mut memory_of_other) = (memories(), memories());
    let (mut t, mut counts) = (0.0, [0_u32; 2]);
    for limit in (1..50).map(limit) {
        while t < limit {
            let before = memory.before_step();
            let mut again = memories();
            again.restore(&memory.numbers().collect::<Vec<_>>()).unwrap();
            let step = stepper.step(&mut ode(), t, limit, &mut x, &mut memory).unwrap();
            let repeated = Stepper::new(settings.clone()).step(&mut ode(), t, limit, &mut restored, &mut again);
            assert_eq!(repeated, Ok(step));
            memory_of_other.follow(&before, step.h, step.natural);
            let taken = other.step(&mut ode(), t, limit, &mut followed, &mut memory_of_other);
            assert_eq!(taken.unwrap().h, step.h);
            assert_eq!((x, x), (restored, followed), "at {t}");
            counts[usize::from(step.rejections == 0 && step.evaluations == 5)] += 1;
            t = step.t;
        }
    }
    println!("{counts:?} steps without and with the term");
    assert!(counts[0] > 20 && counts[1] > 20);
}
