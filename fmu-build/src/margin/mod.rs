//! Stability margins of sampled control loops.
//!
//! A controller samples outputs `y` of a spacecraft every `H` seconds, and its inputs `u` to the
//! spacecraft are constant between (zero-order hold). They act after a delay `δ ≤ H`: none if a
//! master steps the controller before the spacecraft in each communication step, one communication
//! step in the Jacobi algorithm. Linearised about a motion,
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

pub mod interface;
mod loops;

#[cfg(feature = "inside")]
test_modules![loops::tests];

use crate::Control;
use crate::compiled_spec::CompiledSpec;
use crate::error::{Error, Result, invalid};
use crate::linearize::{LinearizeOptions, choose};
use crate::point::Point;
use crate::text::{aligned, number};
use grapple::plant::{Linearisation, Model};
use grapple::spec::ControlledAttitude;
use grapple::system::Quantity;
pub use loops::Longest;
use loops::{GAIN, Loops, Sampled};
use std::fmt;
use std::sync::Arc;

/// Point of linearisation, and the timing.
#[derive(Clone, Debug, Default)]
pub struct MarginOptions {
    /// Time of the spacecraft's run without the controller, with the spec's signals at its inputs,
    /// s; not negative. By default it is the start, with the start values of the inputs.
    pub at: Option<f64>,
    /// Bytes of a saved state of the spacecraft's FMU, in place of `at`.
    pub state: Option<Vec<u8>>,
    /// Sample time, s; by default that of the controller, or the communication step if it has none.
    pub sample: Option<f64>,
    /// Communication step, s; by default the shorter `step` of the two specs.
    pub step: Option<f64>,
}

/// A controller's loops through a spacecraft, linearised, with their timing.
pub struct SampledLoops {
    /// Time of the linearisation, s.
    pub t: f64,
    /// Sample time, s.
    pub sample: f64,
    /// Inputs of the spacecraft, one for each loop.
    pub inputs: Vec<String>,
    /// The delays that are examined, s: none, and one communication step.
    delays: [f64; 2],
    loops: Loops,
}

/// Margins of all loops of a controller.
#[derive(Clone, Debug)]
pub struct Margins {
    /// Sample time, s.
    pub sample: f64,
    /// Largest growth rate with the continuous control law, 1/s; zero if it is stable. If
    /// the loops are linearised about a motion, a slow mode often grows, for example one of the
    /// relative rotation.
    pub continuous: f64,
    /// Margins for each delay.
    pub delays: Vec<Delayed>,
}

/// Margins for one delay from the samples to their effect.
#[derive(Clone, Debug)]
pub struct Delayed {
    /// Delay `δ` from a sample to its effect, s.
    pub delay: f64,
    /// Longest stable sample time of all loops together; the communication step changes with it.
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
    /// Phase margin, rad; the inner `None` if it is stable for every phase.
    pub phase: Option<Option<f64>>,
}

impl SampledLoops {
    /// Linearises a controller's loops through a spacecraft about a point of the spacecraft's own run
    /// or a saved state. The control law is linear: torque limits, which only reduce gains, are left
    /// out.
    ///
    /// # Errors
    /// A second model that is not a controller; nothing to connect; times that are not positive; a
    /// saved state of another FMU; those of [`linearize`](crate::linearize::linearize).
    pub fn of(spacecraft: &CompiledSpec, controller: &CompiledSpec, options: &MarginOptions) -> Result<Self> {
        let mut law = ControlLaw::of(controller)?;
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
            (None, Some(t)) if t >= 0.0 && t.is_finite() => Point::of_run(model, t, &Control::default())?.0,
            (None, Some(t)) => return Err(invalid!("the time {t} s is negative or not finite")),
        };
        law.track(model, &mut point)?;
        let (inputs, loops) = law.close(point.linearised()?, model, controller)?;
        Ok(Self {
            t: point.t,
            sample,
            inputs,
            delays: [0.0, step.min(sample)],
            loops,
        })
    }

    /// Returns the first delay with which the loops are unstable, s, and the longest stable sample
    /// time with it.
    ///
    /// # Errors
    /// The eigenvalues do not converge.
    pub fn unstable(&self) -> Result<Option<(f64, Longest)>> {
        for delay in self.delays {
            if Sampled::new(&self.loops, self.sample, delay).growth()?.is_some() {
                let longest = self.loops.longest(self.sample, delay / self.sample)?;
                return Ok(Some((delay, longest)));
            }
        }
        Ok(None)
    }

    /// Computes the margins of all loops. The progress is reported in loops.
    ///
    /// # Errors
    /// [`Error::Interrupted`]; the eigenvalues do not converge.
    pub fn margins(&self, mut control: Control) -> Result<Margins> {
        let whole = self.delays.len() * self.inputs.len();
        let mut delays = Vec::new();
        for delay in self.delays {
            let sampled = Sampled::new(&self.loops, self.sample, delay);
            let growth = sampled.growth()?;
            let is_stable = growth.is_none();
            let share = delay / self.sample;
            let mut loops = Vec::new();
            for (i, input) in self.inputs.iter().enumerate() {
                let done = delays.len() * self.inputs.len() + i;
                control.report(done as f64, whole as f64);
                if control.flow().is_break() {
                    return Err(Error::Interrupted(format!("after {done} of {whole} loops")));
                }
                loops.push(Loop {
                    input: input.clone(),
                    longest: self.loops.alone(i).longest(self.sample, share)?,
                    gain: is_stable.then(|| sampled.gain(i)).transpose()?,
                    phase: is_stable.then(|| sampled.phase(i)).transpose()?,
                });
            }
            delays.push(Delayed {
                delay,
                longest: self.loops.longest(self.sample, share)?,
                growth,
                loops,
            });
        }
        Ok(Margins {
            sample: self.sample,
            continuous: self.loops.continuous,
            delays,
        })
    }
}

/// Linear control law `u = K y`.
struct ControlLaw {
    model: Arc<Model>,
    /// Operating point of the law, without samples and limits.
    point: Point,
    sample_time: Option<f64>,
}

impl ControlLaw {
    /// Returns the law of a controller, without limits and desaturation.
    fn of(controller: &CompiledSpec) -> Result<Self> {
        let mut spec = controller.model.spec.clone();
        let Some(written) = &mut spec.controller else {
            return Err(invalid!(
                "{} is not a controller: its spec has no kind = \"controller\"",
                controller.file
            ));
        };
        let mut filters = written.joint.values().map(|joint| &joint.filter);
        let mut of_attitudes = written.attitude.values().map(|attitude| &attitude.filter);
        if !filters.all(Vec::is_empty) || !of_attitudes.all(Vec::is_empty) {
            return Err(invalid!(
                "{} has a `filter`: margins are those of laws without filters; leave it out, or run the coupled system",
                controller.file
            ));
        }
        // The outputs of a sampled controller do not depend on its inputs between samples.
        let sample_time = written.sample_time.take();
        written
            .attitude
            .values_mut()
            .for_each(ControlledAttitude::remove_desaturation);
        spec.signal.values_mut().for_each(|signal| signal.from_importer = true);
        let model = Arc::new(Model::compile(&spec)?);
        Ok(Self {
            point: Point::start(&model)?,
            model,
            sample_time,
        })
    }

    /// Sets measured and reference attitudes to those of the spacecraft at `point`, and all
    /// measured states of the law of a task. The law of joints is linear and needs no point.
    fn track(&mut self, spacecraft: &Model, point: &mut Point) -> Result<()> {
        let bodies = self.model.spec.controller.iter().flat_map(|of| of.attitude.keys());
        let bodies: Vec<&String> = bodies.collect();
        if bodies.is_empty() && !self.model.spec.has_law() {
            return Ok(());
        }
        let outputs = point.outputs()?;
        let value = |name: &str| {
            let states = spacecraft.states.iter().zip(&point.x);
            let computed = spacecraft.outputs.iter().map(|output| &output.quantity).zip(&outputs);
            let mut all = states.chain(computed);
            all.find(|(quantity, _)| quantity.name == name).map(|(_, &value)| value)
        };
        if self.model.spec.has_law() {
            for (u, input) in self.point.u.iter_mut().zip(&self.model.inputs) {
                *u = value(&input.quantity.name).unwrap_or(*u);
            }
        }
        for (i, body) in (1..=4).flat_map(|i| bodies.iter().map(move |body| (i, body))) {
            let Some(q) = value(&format!("{body}.q[{i}]")) else {
                continue;
            };
            let names = ["q", "q_ref"].map(|field| format!("{body}.{field}[{i}]"));
            let inputs = self.point.u.iter_mut().zip(&self.model.inputs);
            let own = inputs.filter(|(_, input)| names.contains(&input.quantity.name));
            own.for_each(|(u, _)| *u = q);
        }
        Ok(())
    }

    /// Connects the law to a linearised spacecraft by the names of its variables. Returns the names
    /// of the spacecraft's inputs, and the loops.
    fn close(&mut self, mut linear: Linearisation, model: &Model, of: &CompiledSpec) -> Result<(Vec<String>, Loops)> {
        let law = self.point.linearised()?;
        let names = |quantities: &[Quantity]| quantities.iter().map(|q| q.name.clone()).collect::<Vec<_>>();
        let (law_inputs, law_outputs) = (names(&law.inputs), names(&law.outputs));
        let has = |name: &String, lists: &[&[Quantity]]| lists.iter().any(|list| list.iter().any(|q| q.name == *name));
        let (states, outputs) = (&model.states[..], &linear.outputs[..]);
        let rows: Vec<usize> = (0..law_outputs.len())
            .filter(|&i| has(&law_outputs[i], &[&linear.inputs]))
            .collect();
        let columns: Vec<usize> = (0..law_inputs.len())
            .filter(|&i| has(&law_inputs[i], &[states, outputs]))
            .collect();
        let named = |of: &[String], indices: &[usize]| indices.iter().map(|&i| of[i].clone()).collect::<Vec<_>>();
        let options = LinearizeOptions {
            at: 0.0,
            inputs: named(&law_outputs, &rows),
            outputs: named(&law_inputs, &columns),
        };
        if rows.is_empty() || columns.is_empty() {
            return Err(invalid!(
                "{} closes no loop through {}: it has the inputs {} and the outputs {}, of which the spacecraft has {}",
                of.file,
                model.spec.name,
                law_inputs.join(", "),
                law_outputs.join(", "),
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
        let K = law.D.select_rows(&rows).select_columns(&columns);
        let loops = Loops::new(linear.A, linear.B, K * linear.C)?;
        Ok((options.inputs, loops))
    }
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
                0.0 => "no delay (the controller is stepped before the spacecraft)".to_owned(),
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
fn phase(margin: Option<f64>) -> String {
    margin.map_or_else(
        || "any phase".to_owned(),
        |margin| format!("{}°", number(margin.to_degrees(), 3)),
    )
}
