//! Stability margins of sampled control loops.
//!
//! A controller samples outputs `y` of a spacecraft every `H` seconds, and its inputs `u` to the
//! spacecraft are constant between (zero-order hold). They act after a delay `δ ≤ H`: none if a
//! master steps the spacecraft before the controller in each communication step, else one
//! communication step. Linearised about a motion,
//!
//! ```text
//!     ẋ = A x + B u,   y = C x,   u_k = K y(t_k)
//!     x_{k+1} = (Φ(H) + Γ(H−δ) K C) x_k + Φ(H−δ) Γ(δ) u_{k−1}                  (1)
//!     Φ(h) = e^{A h},  Γ(h) = ∫₀ʰ e^{A s} ds B
//! ```
//!
//! and the loop is stable if all eigenvalues `z` of (1), with `u_{k−1}` as further states, lie in
//! the unit circle (K. J. Åström & B. Wittenmark, *Computer-Controlled Systems*, 3rd ed., 1997,
//! ch. 3; G. F. Franklin, J. D. Powell & M. Workman, *Digital Control of Dynamic Systems*, 3rd ed.,
//! 1998, ch. 4). The margins of one loop are those of its gain, a factor on one row of `K`, and of
//! its phase, a factor `e^{−jφ}`, while the other loops are closed.

use crate::compiled_spec::CompiledSpec;
use crate::error::{Result, invalid};
use crate::linearize::{LinearizeOptions, choose};
use crate::point::Point;
use crate::text::{aligned, count, number};
use crate::zeros::not_found;
use faer::{Mat, c64};
use grapple::plant::{Linearisation, Model};
use grapple::spec::Spec;
use nalgebra::DMatrix;
use std::f64::consts::{PI, TAU};
use std::fmt;
use std::sync::Arc;

/// Ratio of one sample time that is examined to the one before.
const GRID: f64 = 1.02;

/// The longest and the shortest sample time that are examined, as multiples of the given one.
const RANGE: f64 = 100.0;

/// Largest factor on the gain of a loop that is examined; its inverse is the smallest.
const GAIN: f64 = 1e3;

/// Excess of `|z|` over the unit circle above which a mode grows. Round-off is below it.
const GROWTH: f64 = 1e-8;

/// Distance of `z` from 1 below which a mode is a rigid-body motion that no loop controls. Round-off
/// moves double eigenvalues by about its square root.
const RIGID: f64 = 1e-6;

/// Point of linearisation, and the timing.
#[derive(Clone, Debug, Default)]
pub struct MarginOptions {
    /// Time of the spacecraft's own run, with the spec's signals at its inputs, s; not negative. By
    /// default it is the start, with the start values of the inputs, which a controller's FMU meets.
    pub at: Option<f64>,
    /// Bytes of a saved state of the spacecraft's FMU, in place of `at`.
    pub state: Option<Vec<u8>>,
    /// Sample time, s; by default that of the controller, or the communication step if it has none.
    pub sample: Option<f64>,
    /// Communication step, s; by default the shorter `step` of the two specs.
    pub step: Option<f64>,
}

/// Margins of all loops of a controller.
#[derive(Clone, Debug)]
pub struct Margins {
    /// Time of the linearisation, s.
    pub t: f64,
    /// Sample time, s.
    pub sample: f64,
    /// Largest growth rate with the continuous control law, 1/s; zero if it is stable. About a motion
    /// a slow mode often grows, of the relative rotation for instance.
    pub continuous: f64,
    /// Margins without delay, and with a delay of one communication step.
    pub delays: [Delayed; 2],
}

/// Margins for one delay from the samples to their effect.
#[derive(Clone, Debug)]
pub struct Delayed {
    /// Delay `δ` from a sample to its effect, s.
    pub delay: f64,
    /// Longest stable sample time of all loops together.
    pub longest: Longest,
    /// Growth rate at the given sample time, 1/s, with the frequency of that mode, Hz; `None` if
    /// the loops are stable.
    pub growth: Option<(f64, f64)>,
    /// The loops, each with the other loops closed.
    pub loops: Vec<Loop>,
}

/// Margins of one loop. They are `None` if the loops are unstable already.
#[derive(Clone, Debug)]
pub struct Loop {
    /// Input of the spacecraft.
    pub input: String,
    /// Longest stable sample time if the control law of the other loops is continuous.
    pub longest: Longest,
    /// Factors on the gain, below and above one, at which the loop becomes unstable; zero and
    /// infinity if it is stable down to 0.001 or up to 1000.
    pub gain: Option<[f64; 2]>,
    /// Phase margin, rad; π if it is stable for every phase.
    pub phase: Option<f64>,
}

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

/// Linearised loops.
struct Loops {
    A: DMatrix<f64>,
    B: DMatrix<f64>,
    /// `K C`: the control law as a function of `x`.
    law: DMatrix<f64>,
    /// Growth rate with the continuous control law, 1/s.
    continuous: f64,
}

/// Computes the margins of a controller's loops through a spacecraft, linearised about a point of
/// the spacecraft's own run or a saved state. The control law is linear: torque limits, which only
/// reduce gains, are left out.
///
/// # Errors
/// A second model that is not a controller; nothing to connect; times that are not positive; a
/// saved state of another FMU; those of [`linearize`](crate::linearize::linearize).
pub fn margins(spacecraft: &CompiledSpec, controller: &CompiledSpec, options: &MarginOptions) -> Result<Margins> {
    let law = ControlLaw::of(controller)?;
    let model = &spacecraft.model;
    let steps = [spacecraft, controller].map(|of| of.model.spec.experiment.step);
    let step = options.step.unwrap_or(steps[0].min(steps[1]));
    let sample = options.sample.or(law.sample_time).unwrap_or(step);
    for (what, time) in [("sample time", sample), ("communication step", step)] {
        if !(time > 0.0 && time.is_finite()) {
            return Err(invalid!("the {what} {time} s is not positive and finite"));
        }
    }
    let mut point = match (&options.state, options.at) {
        (Some(bytes), _) => Point::saved(model, bytes).map_err(|what| invalid!("{}: {what}", spacecraft.file))?,
        (None, None) => Point::start(model)?,
        (None, Some(t)) if t >= 0.0 && t.is_finite() => Point::of_run(model, t)?.0,
        (None, Some(t)) => return Err(invalid!("the time {t} s is negative or not finite")),
    };
    let (inputs, loops) = law.close(point.linearised()?, model, controller)?;
    let of_delay = |delay: f64| loops.margins(&inputs, sample, delay);
    Ok(Margins {
        t: point.t,
        sample,
        continuous: loops.continuous,
        delays: [of_delay(0.0)?, of_delay(step.min(sample))?],
    })
}

/// Linear control law `u = K y`.
struct ControlLaw {
    /// Names of `y`.
    inputs: Vec<String>,
    /// Names of `u`.
    outputs: Vec<String>,
    K: DMatrix<f64>,
    sample_time: Option<f64>,
}

impl ControlLaw {
    /// Returns the linear law of a controller, without limits.
    fn of(controller: &CompiledSpec) -> Result<Self> {
        let mut spec: Spec = controller.model.spec.clone();
        let Some(written) = &mut spec.controller else {
            return Err(invalid!(
                "{} is not a controller: its spec has no kind = \"controller\"",
                controller.file
            ));
        };
        // The outputs of a sampled controller do not depend on its inputs between samples.
        let sample_time = written.sample_time.take();
        spec.signal.values_mut().for_each(|signal| signal.from_importer = true);
        let model = Arc::new(Model::compile(&spec)?);
        let linear = Point::start(&model)?.linearised()?;
        let names = |quantities: &[grapple::system::Quantity]| quantities.iter().map(|q| q.name.clone()).collect();
        Ok(Self {
            inputs: names(&linear.inputs),
            outputs: names(&linear.outputs),
            K: linear.D,
            sample_time,
        })
    }

    /// Connects the law to a linearised spacecraft by the names of its variables. Returns the names
    /// of the spacecraft's inputs, and the loops.
    fn close(&self, mut linear: Linearisation, model: &Model, of: &CompiledSpec) -> Result<(Vec<String>, Loops)> {
        let has = |name: &String, lists: &[&[grapple::system::Quantity]]| {
            lists.iter().any(|list| list.iter().any(|q| q.name == *name))
        };
        let (states, outputs) = (&model.states[..], &linear.outputs[..]);
        let rows: Vec<usize> = (0..self.outputs.len())
            .filter(|&i| has(&self.outputs[i], &[&linear.inputs]))
            .collect();
        let columns: Vec<usize> = (0..self.inputs.len())
            .filter(|&i| has(&self.inputs[i], &[states, outputs]))
            .collect();
        let named = |of: &[String], indices: &[usize]| indices.iter().map(|&i| of[i].clone()).collect::<Vec<_>>();
        let options = LinearizeOptions {
            at: 0.0,
            inputs: named(&self.outputs, &rows),
            outputs: named(&self.inputs, &columns),
        };
        if rows.is_empty() || columns.is_empty() {
            return Err(invalid!(
                "{} closes no loop through {}: it has the inputs {} and the outputs {}, of which the spacecraft has {}",
                of.file,
                model.spec.name,
                self.inputs.join(", "),
                self.outputs.join(", "),
                if rows.is_empty() {
                    "no such input"
                } else {
                    "no such output"
                }
            ));
        }
        let u = vec![0.0; linear.inputs.len()];
        choose(&mut linear, model, &options, &u)?;
        if linear.D.iter().any(|&d| d != 0.0) {
            return Err(invalid!(
                "an output that {} reads depends on its torques without delay: sample or filter it",
                of.file
            ));
        }
        let K = self.K.select_rows(&rows).select_columns(&columns);
        let loops = Loops::new(linear.A, linear.B, K * linear.C)?;
        Ok((options.inputs, loops))
    }
}

impl Loops {
    fn new(A: DMatrix<f64>, B: DMatrix<f64>, law: DMatrix<f64>) -> Result<Self> {
        let (A, B, law) = observable(A, B, law);
        let closed = &A + &B * &law;
        let values = Mat::from_fn(closed.nrows(), closed.ncols(), |i, k| closed[(i, k)])
            .eigenvalues()
            .map_err(|error| not_found("eigenvalues", error))?;
        let continuous = values.iter().fold(0.0, |most: f64, value: &c64| most.max(value.re));
        // Double zeros by round-off.
        let fastest = values.iter().fold(0.0, |most: f64, value: &c64| most.max(value.norm()));
        let continuous = if continuous > RIGID * fastest { continuous } else { 0.0 };
        Ok(Self { A, B, law, continuous })
    }

    /// Returns these loops with the continuous control law in all but one.
    fn alone(&self, of: usize) -> Self {
        let mut others = self.law.clone();
        others.row_mut(of).fill(0.0);
        Self {
            A: &self.A + &self.B * others,
            B: self.B.columns(of, 1).into_owned(),
            law: self.law.rows(of, 1).into_owned(),
            continuous: self.continuous,
        }
    }

    fn margins(&self, inputs: &[String], sample: f64, delay: f64) -> Result<Delayed> {
        let sampled = Sampled::new(self, sample, delay);
        let growth = sampled.growth(&sampled.unchanged())?;
        let is_stable = growth.is_none();
        let share = delay / sample;
        let of_loop = |(i, input): (usize, &String)| {
            Ok(Loop {
                input: input.clone(),
                longest: self.alone(i).longest(sample, share)?,
                gain: is_stable.then(|| sampled.gain(i)).transpose()?,
                phase: is_stable.then(|| sampled.phase(i)).transpose()?,
            })
        };
        Ok(Delayed {
            delay,
            longest: self.longest(sample, share)?,
            growth,
            loops: inputs.iter().enumerate().map(of_loop).collect::<Result<_>>()?,
        })
    }

    /// Returns the longest stable sample time; the delay is a share of it. Loops that are unstable
    /// at one sample time may be stable again at a longer one: the first that is unstable counts.
    fn longest(&self, sample: f64, share: f64) -> Result<Longest> {
        let is_stable = |h: f64| -> Result<bool> {
            let sampled = Sampled::new(self, h, share * h);
            Ok(sampled.growth(&sampled.unchanged())?.is_none())
        };
        let shortest = sample / RANGE;
        if !is_stable(shortest)? {
            return Ok(Longest::Below(shortest));
        }
        let Some(unstable) = first(geometric(shortest, sample * RANGE, GRID), |h| Ok(!is_stable(h)?))? else {
            return Ok(Longest::Above(sample * RANGE));
        };
        Ok(Longest::At(bisected([unstable / GRID, unstable], |h| {
            Ok(!is_stable(h)?)
        })?))
    }
}

/// The loops at one sample time.
struct Sampled<'a> {
    loops: &'a Loops,
    sample: f64,
    /// `Φ(H)`.
    free: DMatrix<f64>,
    /// `Γ(H−δ)`.
    present: DMatrix<f64>,
    /// `Φ(H−δ) Γ(δ)`; none without delay.
    before: Option<DMatrix<f64>>,
}

impl<'a> Sampled<'a> {
    fn new(loops: &'a Loops, sample: f64, delay: f64) -> Self {
        let (free, held) = transition(&loops.A, &loops.B, sample);
        if delay == 0.0 {
            return Self {
                loops,
                sample,
                free,
                present: held,
                before: None,
            };
        }
        let (after, present) = transition(&loops.A, &loops.B, sample - delay);
        let before = after * transition(&loops.A, &loops.B, delay).1;
        Self {
            loops,
            sample,
            free,
            present,
            before: Some(before),
        }
    }

    /// Returns factors of one on all loops.
    fn unchanged(&self) -> Vec<c64> {
        vec![c64::new(1.0, 0.0); self.loops.law.nrows()]
    }

    /// Returns the growth rate (1/s) and the frequency (Hz) of the fastest growing mode with these
    /// factors on the control law; none if the loops are stable.
    fn growth(&self, factors: &[c64]) -> Result<Option<(f64, f64)>> {
        let (n, m) = (self.free.nrows(), factors.len());
        let law = |i: usize, k: usize| factors[i] * self.loops.law[(i, k)];
        let held = |i: usize, k: usize| -> c64 { (0..m).map(|l| law(l, k) * self.present[(i, l)]).sum() };
        let size = if self.before.is_some() { n + m } else { n };
        let matrix = Mat::from_fn(size, size, |i, k| match (i < n, k < n, &self.before) {
            (true, true, _) => held(i, k) + self.free[(i, k)],
            (true, false, Some(before)) => c64::new(before[(i, k - n)], 0.0),
            (false, true, _) => law(i - n, k),
            _ => c64::new(0.0, 0.0),
        });
        let values = matrix.eigenvalues().map_err(|error| not_found("eigenvalues", error))?;
        let permitted = (self.loops.continuous * self.sample).exp() * (1.0 + GROWTH);
        let growing = values
            .iter()
            .filter(|z| z.norm() > permitted && (*z - 1.0).norm() > RIGID);
        let fastest = growing.max_by(|a, b| a.norm().total_cmp(&b.norm()));
        Ok(fastest.map(|z| (z.norm().ln() / self.sample, z.arg().abs() / (TAU * self.sample))))
    }

    /// Returns true if the loops are unstable with this factor on one of them.
    fn is_unstable(&self, i: usize, factor: c64) -> Result<bool> {
        let mut factors = self.unchanged();
        factors[i] = factor;
        Ok(self.growth(&factors)?.is_some())
    }

    /// Returns the gain margins of a loop, below and above one.
    fn gain(&self, i: usize) -> Result<[f64; 2]> {
        let of = |gain: f64| self.is_unstable(i, c64::new(gain, 0.0));
        let up = first(geometric(1.0, GAIN, 1.1), of)?;
        let up = up.map_or(Ok(f64::INFINITY), |up| bisected([up / 1.1, up], of))?;
        let down = first(geometric(1.0, GAIN, 1.1).map(f64::recip), of)?;
        let down = down.map_or(Ok(0.0), |down| bisected([down * 1.1, down], of))?;
        Ok([down, up])
    }

    /// Returns the phase margin of a loop, rad.
    fn phase(&self, i: usize) -> Result<f64> {
        let of = |phase: f64| self.is_unstable(i, c64::from_polar(1.0, -phase));
        let step = PI / 90.0;
        let unstable = first((1..90).map(|k| f64::from(k) * step), of)?;
        unstable.map_or(Ok(PI), |phase| bisected([phase - step, phase], of))
    }
}

/// Returns `Φ(h)` and `Γ(h)`, by the exponential of `[A B; 0 0] h` (C. F. Van Loan, *IEEE Trans.
/// Automat. Contr.* 23 (1978), DOI 10.1109/TAC.1978.1101743).
fn transition(A: &DMatrix<f64>, B: &DMatrix<f64>, h: f64) -> (DMatrix<f64>, DMatrix<f64>) {
    let (n, m) = B.shape();
    let mut whole = DMatrix::zeros(n + m, n + m);
    whole.view_mut((0, 0), (n, n)).copy_from(&(A * h));
    whole.view_mut((0, n), (n, m)).copy_from(&(B * h));
    let whole = exponential(&whole);
    (
        whole.view((0, 0), (n, n)).into_owned(),
        whole.view((0, n), (n, m)).into_owned(),
    )
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
        let scale = |matrix: &DMatrix<f64>, k: usize| {
            let rows = (0..matrix.nrows()).filter(|&i| matrix.nrows() != n || i != k);
            let of_row = |i: usize| matrix[(i, k)].abs() / matrix.row(i).amax().max(f64::MIN_POSITIVE);
            rows.map(of_row).fold(0.0, f64::max)
        };
        let is_integral = |k: usize| A[(k, k)] == 0.0 && scale(&A, k) < 1e-13 && scale(&law, k) == 0.0;
        let kept: Vec<usize> = (0..n).filter(|&k| !is_integral(k)).collect();
        if kept.len() == n || kept.is_empty() {
            return (A, B, law);
        }
        A = A.select_rows(&kept).select_columns(&kept);
        B = B.select_rows(&kept);
        law = law.select_columns(&kept);
    }
}

/// Returns the values from `from` to `to` with this ratio.
fn geometric(from: f64, to: f64, ratio: f64) -> impl Iterator<Item = f64> {
    std::iter::successors(Some(from * ratio), move |x| Some(x * ratio)).take_while(move |&x| x <= to * ratio)
}

/// Returns the first value for which `is` is true.
fn first(values: impl Iterator<Item = f64>, mut is: impl FnMut(f64) -> Result<bool>) -> Result<Option<f64>> {
    for value in values {
        if is(value)? {
            return Ok(Some(value));
        }
    }
    Ok(None)
}

/// Returns the limit of the values without the property between one without and one with it.
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

/// Prints the limits for both delays, and a table with a line for each loop.
impl fmt::Display for Margins {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.continuous > 0.0 {
            writeln!(
                f,
                "a mode grows at {} 1/s with the continuous control law already; only faster growth counts below",
                number(self.continuous, 3)
            )?;
        }
        for delayed in &self.delays {
            let delay = match delayed.delay {
                0.0 => "no delay (the spacecraft is stepped before the controller)".to_owned(),
                delay => format!("delay of one communication step, {} s", number(delay, 6)),
            };
            writeln!(f, "{delay}: stable {}", delayed.longest)?;
            if let Some((rate, frequency)) = delayed.growth {
                let (sample, rate, frequency) = (number(self.sample, 6), number(rate, 3), number(frequency, 4));
                writeln!(
                    f,
                    "  unstable at {sample} s: a mode of {frequency} Hz grows at {rate} 1/s"
                )?;
            }
        }
        let title = ["loop", "delay, s", "gain margin", "phase margin", "alone stable"].map(str::to_owned);
        let row = |delayed: &Delayed, of: &Loop| {
            [
                of.input.clone(),
                number(delayed.delay, 6),
                of.gain.map_or_else(|| "-".to_owned(), gain),
                of.phase.map_or_else(|| "-".to_owned(), phase),
                of.longest.to_string(),
            ]
        };
        let delays = self.delays.iter();
        let rows = delays.flat_map(|delayed| delayed.loops.iter().map(move |of| row(delayed, of)));
        let rows: Vec<[String; 5]> = std::iter::once(title).chain(rows).collect();
        f.write_str(&aligned(&rows))
    }
}

/// Returns the gain margins, as factors.
fn gain([down, up]: [f64; 2]) -> String {
    let up = match up.is_finite() {
        true => format!("×{}", number(up, 3)),
        false => format!("over ×{}", number(GAIN, 3)),
    };
    match down > 0.0 {
        true => format!("×{} … {up}", number(down, 3)),
        false => up,
    }
}

/// Returns the phase margin in degrees.
fn phase(margin: f64) -> String {
    match margin < PI {
        true => format!("{}°", number(margin.to_degrees(), 3)),
        false => "any phase".to_owned(),
    }
}

impl fmt::Display for Longest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Below(shortest) => write!(f, "at no sample time from {} s on", number(*shortest, 3)),
            Self::At(limit) => write!(f, "up to {} s", number(*limit, 4)),
            Self::Above(longest) => write!(f, "up to {} s and more", number(*longest, 3)),
        }
    }
}

impl Margins {
    /// Returns the first of both delays with which the loops are unstable at the given sample time,
    /// if there is one.
    pub fn unstable(&self) -> Option<&Delayed> {
        self.delays.iter().find(|delayed| delayed.growth.is_some())
    }

    /// Returns the number of loops in words.
    pub fn loops(&self) -> String {
        count(self.delays[0].loops.len(), "loop")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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

    fn limit(loops: &Loops, share: f64) -> f64 {
        match loops.longest(0.05, share).expect("converges") {
            Longest::At(limit) => limit,
            other => panic!("{other:?}"),
        }
    }

    /// By Jury's criterion on `z² − (2 − kd h − kp h²/2) z + 1 − kd h + kp h²/2`: the loop is stable
    /// for `h < min(2/kd, 2 kd/kp)`.
    #[test]
    fn sampled_double_integrator_is_stable_up_to_jurys_limit() {
        for (kp, kd) in [(4.0, 90.0), (400.0, 20.0), (400.0, 3.0), (1.0, 1.4)] {
            let exact = f64::min(2.0 / kd, 2.0 * kd / kp);
            let found = limit(&integrators(kp, kd, 2), 0.0);
            println!("kp {kp} kd {kd}: {found}, exact {exact}");
            // The bisection ends at 1e-5; the growth that is accepted adds 1e-8 / (h |dz/dh|).
            assert!((found / exact - 1.0).abs() < 3e-5, "{found} {exact}");
        }
    }

    /// With a delay of one sample the characteristic polynomial is
    /// `z³ − 2 z² + (1 + kd h + kp h²/2) z + kp h²/2 − kd h`. Jury's criterion of third order:
    /// `1 + a₂ + a₁ + a₀ > 0`, `1 − a₂ + a₁ − a₀ > 0`, `|a₀| < 1`, `|a₀² − 1| > |a₀ a₂ − a₁|`.
    #[test]
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
            let found = limit(&integrators(kp, kd, 1), 1.0);
            println!("kp {kp} kd {kd}: {found}, exact {stable}");
            assert!((found / stable - 1.0).abs() < 3e-5, "{found} {stable}");
        }
    }

    /// Margins of one of two loops against the frequency response `L(z)` of its double integrator,
    /// `L = (kp h²/2 (z + 1) + kd h (z − 1)) / (z − 1)²`.
    #[test]
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
            sampled.phase(1).expect("converges"),
            sampled.gain(1).expect("converges"),
        );
        println!("{found:?}; exact {phase} and {gain}");
        assert!((found.0 / phase - 1.0).abs() < 3e-5);
        assert!((found.1[1] / gain - 1.0).abs() < 3e-5 && found.1[0] == 0.0);
    }
}
