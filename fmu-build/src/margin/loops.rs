//! Linearised control loops, sampled and held: equation (1) of the module above.

use crate::error::Result;
use crate::text::number;
use crate::zeros::not_found;
use faer::{Mat, c64};
use nalgebra::DMatrix;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::f64::consts::{PI, TAU};
use std::fmt;
use std::iter::Sum;
use std::ops::{Add, Mul};

/// Number of sample times that are examined from one to its double.
const GRID: u32 = 35;

/// Number of factors on a gain that are examined from one to its double.
const GAIN_GRID: u32 = 7;

/// The longest and the shortest sample time that are examined, as multiples of the given one.
const RANGE: f64 = 10.0;

/// Largest factor on the gain of a loop that is examined; its inverse is the smallest.
pub const GAIN: f64 = 1e3;

/// Excess of `|z|` over the unit circle above which a mode grows. Round-off is below it.
const GROWTH: f64 = 1e-8;

/// Distance of `z` from 1 below which a mode is a rigid-body motion that no loop controls. Round-off
/// moves double eigenvalues by about its square root.
pub const RIGID: f64 = 1e-6;

/// Longest stable sample time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Longest {
    /// Unstable at this sample time, s, the shortest examined one.
    Below(f64),
    /// Stable up to this sample time, s.
    At(f64),
    /// Stable up to this sample time, s, the longest examined one.
    Above(f64),
}

impl fmt::Display for Longest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Below(shortest) => write!(f, "only below {} s, if at all", number(*shortest, 3)),
            Self::At(limit) => write!(f, "up to {} s", number(*limit, 4)),
            Self::Above(longest) => write!(f, "up to {} s and more", number(*longest, 3)),
        }
    }
}

/// Linearised loops.
pub struct Loops {
    A: DMatrix<f64>,
    B: DMatrix<f64>,
    /// `K C`: the control law as a function of `x`.
    law: DMatrix<f64>,
    transitions: Transitions,
    /// Growth rate with the continuous control law, 1/s; zero if it is stable.
    pub continuous: f64,
    /// Rate of the motions that grow with the continuous control law too, but so slowly that
    /// [`continuous`](Self::continuous) counts them as round-off, 1/s: motions along an orbit.
    slow: f64,
}

impl Loops {
    /// Connects a spacecraft to the law `u = law · x`, and removes coordinates without effect.
    ///
    /// # Errors
    /// The eigenvalues do not converge.
    pub fn new(A: DMatrix<f64>, B: DMatrix<f64>, law: DMatrix<f64>) -> Result<Self> {
        let (A, B, law) = observable(A, B, law);
        let values = eigenvalues(&(&A + &B * &law))?;
        let continuous = values.iter().fold(0.0, |most: f64, value: &c64| most.max(value.re));
        // Double zeros by round-off.
        let fastest = values.iter().fold(0.0, |most: f64, value: &c64| most.max(value.norm()));
        let least = RIGID * fastest;
        let continuous = if continuous > least { continuous } else { 0.0 };
        let grows_slowly = |value: &&c64| value.re > 0.0 && value.norm() <= least;
        let slow = values
            .iter()
            .filter(grows_slowly)
            .fold(0.0, |most: f64, value| most.max(value.norm()));
        Ok(Self {
            transitions: Transitions::held(&A, &B),
            A,
            B,
            law,
            continuous,
            slow,
        })
    }

    /// Returns these loops with the continuous control law in all but one.
    pub fn alone(&self, of: usize) -> Self {
        let mut others = self.law.clone();
        others.row_mut(of).fill(0.0);
        let (A, B) = (&self.A + &self.B * others, self.B.columns(of, 1).into_owned());
        Self {
            transitions: Transitions::held(&A, &B),
            A,
            B,
            law: self.law.rows(of, 1).into_owned(),
            continuous: self.continuous,
            slow: self.slow,
        }
    }

    /// Returns `Φ(h)` and `Γ(h)`.
    fn transition(&self, h: f64) -> (DMatrix<f64>, DMatrix<f64>) {
        let (n, m) = self.B.shape();
        let whole = self.transitions.over(h);
        let part = |at: usize, width: usize| whole.view((0, at), (n, width)).into_owned();
        (part(0, n), part(n, m))
    }

    /// Returns the longest stable sample time; the delay is a share of it. Loops that are unstable
    /// at one sample time may be stable again at a longer one: the first that is unstable counts.
    ///
    /// # Errors
    /// The eigenvalues do not converge.
    pub fn longest(&self, sample: f64, share: f64) -> Result<Longest> {
        let is_unstable = |h: f64| Ok(Sampled::new(self, h, share * h).growth()?.is_some());
        longest_stable([sample / RANGE, sample * RANGE], GRID, is_unstable)
    }
}

/// The loops at one sample time.
pub struct Sampled<'a> {
    loops: &'a Loops,
    sample: f64,
    /// `Φ(H)`.
    free: DMatrix<f64>,
    /// `Γ(H−δ)`: effect of the inputs of this sample.
    present: DMatrix<f64>,
    /// `Φ(H−δ) Γ(δ)`: effect of the inputs of the sample before; none without delay.
    before: Option<DMatrix<f64>>,
}

impl<'a> Sampled<'a> {
    /// Samples loops every `sample` s, with a delay of at most that, s.
    pub fn new(loops: &'a Loops, sample: f64, delay: f64) -> Self {
        let (free, held) = loops.transition(sample);
        let (present, before) = if delay == 0.0 {
            (held, None)
        } else if delay == sample {
            (DMatrix::zeros(held.nrows(), held.ncols()), Some(held))
        } else {
            let (after, present) = loops.transition(sample - delay);
            (present, Some(after * loops.transition(delay).1))
        };
        Self {
            loops,
            sample,
            free,
            present,
            before,
        }
    }

    /// Returns the growth rate (1/s) and the frequency (Hz) of the fastest growing mode; none if the
    /// loops are stable.
    ///
    /// # Errors
    /// The eigenvalues do not converge.
    pub fn growth(&self) -> Result<Option<(f64, f64)>> {
        let values = self.map(|_, entry| entry).eigenvalues();
        let values = values.map_err(|error| not_found("eigenvalues", error))?;
        let growing = values.iter().filter(|z| self.grows(z));
        let fastest = growing.max_by(|a, b| a.norm().total_cmp(&b.norm()));
        Ok(fastest.map(|z| (z.norm().ln() / self.sample, z.arg().abs() / (TAU * self.sample))))
    }

    /// Returns true if the loops are unstable with a factor on the law of one of them.
    fn is_unstable(&self, of: usize, factor: c64) -> Result<bool> {
        let changed = |i: usize, entry: f64| if i == of { factor * entry } else { c64::from(entry) };
        let values = self.map(changed).eigenvalues();
        let values = values.map_err(|error| not_found("eigenvalues", error))?;
        Ok(values.iter().any(|z| self.grows(z)))
    }

    /// Returns true for a mode that grows faster than with the continuous control law.
    fn grows(&self, z: &c64) -> bool {
        let permitted = (self.loops.continuous * self.sample).exp() * (1.0 + GROWTH);
        z.norm() > permitted && (z - 1.0).norm() > (2.0 * self.loops.slow * self.sample).max(RIGID)
    }

    /// Returns the matrix of (1); `changed` returns an entry of the law of loop `i` with a factor.
    fn map<T>(&self, changed: impl Fn(usize, f64) -> T) -> Mat<T>
    where
        T: Copy + From<f64> + Add<Output = T> + Mul<f64, Output = T> + Sum,
    {
        let (n, m) = self.present.shape();
        let law = |i: usize, k: usize| changed(i, self.loops.law[(i, k)]);
        let held = |i: usize, k: usize| -> T { (0..m).map(|l| law(l, k) * self.present[(i, l)]).sum() };
        let size = if self.before.is_some() { n + m } else { n };
        Mat::from_fn(size, size, |i, k| match (i < n, k < n, &self.before) {
            (true, true, _) => held(i, k) + T::from(self.free[(i, k)]),
            (true, false, Some(before)) => T::from(before[(i, k - n)]),
            (false, true, _) => law(i - n, k),
            _ => T::from(0.0),
        })
    }

    /// Returns the factors on the gain of a loop, below and above one, at which it becomes unstable;
    /// zero and infinity if it is stable for all that are examined.
    ///
    /// # Errors
    /// The eigenvalues do not converge.
    pub fn gain(&self, of: usize) -> Result<[f64; 2]> {
        let is_unstable = |gain: f64| self.is_unstable(of, c64::from(gain));
        let up = match first(geometric(1.0, GAIN, GAIN_GRID), is_unstable)? {
            Some(up) => bisected([up / ratio(GAIN_GRID), up], is_unstable)?,
            None => f64::INFINITY,
        };
        let down = match first(geometric(1.0, GAIN, GAIN_GRID).map(f64::recip), is_unstable)? {
            Some(down) => bisected([down * ratio(GAIN_GRID), down], is_unstable)?,
            None => 0.0,
        };
        Ok([down, up])
    }

    /// Returns the phase margin of a loop, rad; none if it is stable for every phase.
    ///
    /// # Errors
    /// The eigenvalues do not converge.
    pub fn phase(&self, of: usize) -> Result<Option<f64>> {
        let is_unstable = |phase: f64| self.is_unstable(of, c64::from_polar(1.0, -phase));
        let step = PI / 90.0;
        let unstable = first((1..=90).map(|k| f64::from(k) * step), is_unstable)?;
        let limit = unstable.map(|phase| bisected([phase - step, phase], is_unstable));
        limit.transpose()
    }
}

/// Returns the longest stable sample time between two, s: that before the first unstable one of a
/// geometric series with `grid` values in an octave.
///
/// # Errors
/// Those of `is_unstable`.
pub fn longest_stable(
    [shortest, longest]: [f64; 2],
    grid: u32,
    is_unstable: impl Fn(f64) -> Result<bool>,
) -> Result<Longest> {
    if is_unstable(shortest)? {
        return Ok(Longest::Below(shortest));
    }
    match first(geometric(shortest, longest, grid), &is_unstable)? {
        Some(unstable) => bisected([unstable / ratio(grid), unstable], &is_unstable).map(Longest::At),
        None => Ok(Longest::Above(longest)),
    }
}

/// Returns the eigenvalues of a matrix.
///
/// # Errors
/// They do not converge.
pub fn eigenvalues(of: &DMatrix<f64>) -> Result<Vec<c64>> {
    let values = Mat::from_fn(of.nrows(), of.ncols(), |i, k| of[(i, k)]).eigenvalues();
    values.map_err(|error| not_found("eigenvalues", error))
}

/// Exponentials `e^{M h}` of a matrix. Those over double steps are squares, as in the algorithm of
/// [`exponential`], with the same bits: a series of steps takes one product each from its second
/// octave on.
pub struct Transitions {
    matrix: DMatrix<f64>,
    /// The last steps, s, with their exponentials, at most [`KEPT`](Self::KEPT).
    last: RefCell<VecDeque<(f64, DMatrix<f64>)>>,
}

impl Transitions {
    /// For an octave of the finest grid, with three exponentials for each sample time.
    const KEPT: usize = 3 * GRID as usize;

    /// For the exponential of a matrix.
    pub fn new(matrix: DMatrix<f64>) -> Self {
        let last = RefCell::new(VecDeque::with_capacity(Self::KEPT));
        Self { matrix, last }
    }

    /// For `Φ(h)` and `Γ(h)`, in the first rows of the exponential of `[A B; 0 0] h` (C. F. Van Loan,
    /// *IEEE Trans. Automat. Contr.* 23 (1978), DOI 10.1109/TAC.1978.1101743).
    fn held(A: &DMatrix<f64>, B: &DMatrix<f64>) -> Self {
        let (n, m) = B.shape();
        let mut whole = DMatrix::zeros(n + m, n + m);
        whole.view_mut((0, 0), (n, n)).copy_from(A);
        whole.view_mut((0, n), (n, m)).copy_from(B);
        Self::new(whole)
    }

    /// Returns the exponential over `h` s.
    pub fn over(&self, h: f64) -> DMatrix<f64> {
        let mut last = self.last.borrow_mut();
        let whole = match last.iter().find(|(half, _)| 2.0 * half == h) {
            Some((_, half)) => half * half,
            None => exponential(&(&self.matrix * h)),
        };
        if last.len() == Self::KEPT {
            last.pop_front();
        }
        last.push_back((h, whole.clone()));
        whole
    }
}

/// Returns the exponential of a matrix, by the diagonal Padé approximation of sixth order of a matrix
/// scaled to a norm of at most ½, whose error is 3e-16, and repeated squaring (G. H. Golub & C. F.
/// Van Loan, *Matrix Computations*, 4th ed., 2013, algorithm 9.3.1).
fn exponential(matrix: &DMatrix<f64>) -> DMatrix<f64> {
    const ORDER: i32 = 6;
    let norm = matrix.row_iter().map(|row| row.lp_norm(1)).fold(0.0, f64::max);
    let squarings = (0..1100).take_while(|&k| norm > 0.5 * 2.0_f64.powi(k)).count() as i32;
    let scaled = matrix / 2.0_f64.powi(squarings);
    let mut power = DMatrix::identity(matrix.nrows(), matrix.ncols());
    let (mut numerator, mut denominator) = (power.clone(), power.clone());
    let mut coefficient = 1.0;
    for k in 1..=ORDER {
        coefficient *= f64::from(ORDER - k + 1) / f64::from(k * (2 * ORDER - k + 1));
        power = &scaled * power;
        numerator += &power * coefficient;
        denominator += &power * if k % 2 == 0 { coefficient } else { -coefficient };
    }
    let solution = denominator.lu().solve(&numerator);
    let mut exponential = solution.expect("the denominator is regular for a norm up to 1/2");
    for _ in 0..squarings {
        exponential = &exponential * &exponential;
    }
    exponential
}

/// Removes coordinates on which neither the law nor the other coordinates depend, like the position
/// of a free spacecraft: they are integrals, and with a rate that no loop controls they would be
/// double eigenvalues.
fn observable(
    mut A: DMatrix<f64>,
    mut B: DMatrix<f64>,
    mut law: DMatrix<f64>,
) -> (DMatrix<f64>, DMatrix<f64>, DMatrix<f64>) {
    loop {
        let n = A.nrows();
        // Largest entry of a column, each relative to the largest entry of its row.
        let weight = |matrix: &DMatrix<f64>, k: usize| {
            let of_row = |i: usize| matrix[(i, k)].abs() / matrix.row(i).amax().max(f64::MIN_POSITIVE);
            (0..matrix.nrows()).map(of_row).fold(0.0, f64::max)
        };
        let is_integral = |k: usize| weight(&A, k) < 1e-13 && weight(&law, k) == 0.0;
        let kept: Vec<usize> = (0..n).filter(|&k| !is_integral(k)).collect();
        if kept.len() == n || kept.is_empty() {
            return (A, B, law);
        }
        A = A.select_rows(&kept).select_columns(&kept);
        B = B.select_rows(&kept);
        law = law.select_columns(&kept);
    }
}

/// Returns the ratio of a value to the one before with `grid` values in an octave.
fn ratio(grid: u32) -> f64 {
    libm::exp2(1.0 / f64::from(grid))
}

/// Returns the values after `from` up to `to`, `grid` in each octave. A value is exactly the double of
/// that an octave before.
fn geometric(from: f64, to: f64, grid: u32) -> impl Iterator<Item = f64> {
    let octave = move |k: u32| libm::ldexp(from, (k / grid) as i32);
    (1..)
        .map(move |k| octave(k) * libm::exp2(f64::from(k % grid) / f64::from(grid)))
        .take_while(move |&x| x <= to * ratio(grid))
}

/// Returns the first value for which `is` is true.
fn first(values: impl Iterator<Item = f64>, is: impl Fn(f64) -> Result<bool>) -> Result<Option<f64>> {
    for value in values {
        if is(value)? {
            return Ok(Some(value));
        }
    }
    Ok(None)
}

/// Returns the value between `without` and `with` at which `is` becomes true, by bisection.
fn bisected([mut without, mut with]: [f64; 2], is: impl Fn(f64) -> Result<bool>) -> Result<f64> {
    while (with - without).abs() > 1e-5 * with.abs() {
        let middle = 0.5 * (with + without);
        match is(middle)? {
            true => with = middle,
            false => without = middle,
        }
    }
    Ok(without)
}

#[cfg(feature = "inside")]
pub(super) mod tests {
    use super::*;

    unit_tests![
        sampled_double_integrator_is_stable_up_to_jurys_limit,
        slow_motions_are_no_effect_of_sampling,
        slow_loops_are_judged_too,
        sampled_integrators_are_stable_up_to_two_time_constants,
        delay_of_one_sample_shortens_the_limit_as_jurys_criterion_says,
        gain_and_phase_margins_are_those_of_the_frequency_response,
    ];

    /// Returns loops of proportional-derivative control of double integrators.
    fn integrators(kp: f64, kd: f64, number: usize) -> Loops {
        let n = number;
        let mut A = DMatrix::zeros(2 * n, 2 * n);
        A.view_mut((0, n), (n, n)).fill_with_identity();
        let mut B = DMatrix::zeros(2 * n, n);
        B.view_mut((n, 0), (n, n)).fill_with_identity();
        let mut law = DMatrix::zeros(n, 2 * n);
        law.view_mut((0, 0), (n, n)).fill_diagonal(-kp);
        law.view_mut((0, n), (n, n)).fill_diagonal(-kd);
        Loops::new(A, B, law).expect("converges")
    }

    /// Returns the longest stable sample time, about `near`, s.
    fn limit(loops: &Loops, near: f64, share: f64) -> f64 {
        match loops.longest(0.4 * near, share).expect("converges") {
            Longest::At(limit) => limit,
            other => panic!("{other:?}"),
        }
    }

    /// By Jury's criterion on `z² − (2 − kd h − kp h²/2) z + 1 − kd h + kp h²/2`: the loop is stable
    /// for `h < min(2/kd, 2 kd/kp)`.
    fn sampled_double_integrator_is_stable_up_to_jurys_limit() {
        for (kp, kd) in [(4.0, 90.0), (400.0, 20.0), (400.0, 3.0), (1.0, 1.4)] {
            let exact = f64::min(2.0 / kd, 2.0 * kd / kp);
            let found = limit(&integrators(kp, kd, 2), exact, 0.0);
            println!("kp {kp} kd {kd}: {found}, exact {exact}");
            // The bisection ends at 1e-5; the growth that is accepted adds 1e-8 / (h |dz/dh|).
            assert!((found / exact - 1.0).abs() < 3e-5, "{found} {exact}");
        }
    }

    /// A motion along an orbit that grows slowly by itself, in a system with fast modes: the limit is
    /// that of the loop.
    fn slow_motions_are_no_effect_of_sampling() {
        let (kp, kd) = (400.0, 20.0);
        let mut A = DMatrix::zeros(5, 5);
        (A[(0, 1)], A[(2, 2)]) = (1.0, -1e5);
        (A[(3, 4)], A[(4, 3)]) = (1.0, 2e-6);
        let mut B = DMatrix::zeros(5, 1);
        (B[(1, 0)], B[(4, 0)]) = (1.0, 1.0);
        let law = DMatrix::from_row_slice(1, 5, &[-kp, -kd, 0.0, 0.0, 0.0]);
        let loops = Loops::new(A, B, law).expect("converges");
        let exact = f64::min(2.0 / kd, 2.0 * kd / kp);
        assert!((limit(&loops, exact, 0.0) / exact - 1.0).abs() < 3e-5);
    }

    /// A slow loop in a system with a fast mode, unstable from `2 kd/kp` on.
    fn slow_loops_are_judged_too() {
        let (kp, kd) = (2.5e-3, 0.01);
        let mut A = DMatrix::zeros(3, 3);
        (A[(0, 1)], A[(2, 2)]) = (1.0, -1e5);
        let B = DMatrix::from_column_slice(3, 1, &[0.0, 1.0, 0.0]);
        let loops = Loops::new(A, B, DMatrix::from_row_slice(1, 3, &[-kp, -kd, 0.0])).expect("converges");
        let exact = 2.0 * kd / kp;
        let found = limit(&loops, exact, 0.0);
        assert!((found / exact - 1.0).abs() < 3e-4, "{found} {exact}");
    }

    /// As many states as loops: `ẋ = u`, `u = −k x` is stable for `h < 2/k`.
    fn sampled_integrators_are_stable_up_to_two_time_constants() {
        let law = DMatrix::from_diagonal_element(2, 2, -4.0);
        let loops = Loops::new(DMatrix::zeros(2, 2), DMatrix::identity(2, 2), law).expect("converges");
        assert!((limit(&loops, 0.5, 0.0) / 0.5 - 1.0).abs() < 3e-5);
    }

    /// With a delay of one sample the characteristic polynomial is
    /// `z³ − 2 z² + (1 + kd h + kp h²/2) z + kp h²/2 − kd h`. Jury's criterion of third order:
    /// `1 + a₂ + a₁ + a₀ > 0`, `1 − a₂ + a₁ − a₀ > 0`, `|a₀| < 1`, `|a₀² − 1| > |a₀ a₂ − a₁|`.
    fn delay_of_one_sample_shortens_the_limit_as_jurys_criterion_says() {
        let is_stable = |kp: f64, kd: f64, h: f64| {
            let (a2, a1, a0) = (-2.0, 1.0 + kd * h + kp * h * h / 2.0, kp * h * h / 2.0 - kd * h);
            let sums = 1.0 + a2 + a1 + a0 > 0.0 && 1.0 - a2 + a1 - a0 > 0.0;
            sums && a0.abs() < 1.0 && (a0 * a0 - 1.0).abs() > (a0 * a2 - a1).abs()
        };
        for (kp, kd) in [(4.0, 90.0), (400.0, 20.0), (1.0, 1.4)] {
            let (mut stable, mut unstable) = (1e-6, 1e2);
            while unstable - stable > 1e-9 * stable {
                let middle = 0.5 * (stable + unstable);
                match is_stable(kp, kd, middle) {
                    true => stable = middle,
                    false => unstable = middle,
                }
            }
            let found = limit(&integrators(kp, kd, 1), stable, 1.0);
            println!("kp {kp} kd {kd}: {found}, exact {stable}");
            assert!((found / stable - 1.0).abs() < 3e-5, "{found} {stable}");
        }
    }

    /// Margins of one of two loops against the frequency response `L(z)` of its double integrator,
    /// `L = (kp h²/2 (z + 1) + kd h (z − 1)) / (z − 1)²`.
    fn gain_and_phase_margins_are_those_of_the_frequency_response() {
        let (kp, kd, h) = (40.0, 9.0, 0.05);
        let response = |w: f64| {
            let z = c64::from_polar(1.0, w * h);
            ((z + 1.0) * (kp * h * h / 2.0) + (z - 1.0) * (kd * h)) / ((z - 1.0) * (z - 1.0))
        };
        let (mut low, mut high) = (1e-3, PI / h);
        while high - low > 1e-12 * high {
            let middle = 0.5 * (low + high);
            match response(middle).norm() > 1.0 {
                true => low = middle,
                false => high = middle,
            }
        }
        let phase = PI + response(low).arg();
        // On the negative real axis at z = −1 only.
        let gain = 1.0 / response(PI / h).norm();
        let loops = integrators(kp, kd, 2);
        let sampled = Sampled::new(&loops, h, 0.0);
        let found = (
            sampled.phase(1).expect("converges").expect("a limit"),
            sampled.gain(1).expect("converges"),
        );
        println!("{found:?}; exact {phase} and {gain}");
        assert!((found.0 / phase - 1.0).abs() < 3e-5);
        assert!((found.1[1] / gain - 1.0).abs() < 3e-5 && found.1[0] == 0.0);
    }
}
