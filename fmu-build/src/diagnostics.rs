//! Run diagnostics: conserved quantities, and the effort of the run.

use crate::results::Results;
use crate::run::Run;
use crate::text::{count, number};
use grapple::algebra::square;
use grapple::event::Occurrence;
use grapple::spec::{Body, JointType, Kind, Spec, WORLD};
use serde::Serialize;
use std::time::Duration;

/// Diagnostics of a finished run.
pub struct Diagnostics {
    /// Drift of the momentum; none for a model without bodies.
    pub momentum: Option<Momentum>,
    /// Error of the energy balance, if it is among the outputs.
    pub energy: Option<Ratio>,
    /// Number of communication steps.
    pub steps: usize,
    /// The FMU's log message with the solver's statistics.
    pub solver: Option<String>,
    /// Time spent in the FMU's steps.
    pub wall: Duration,
    simulated: f64,
    /// Largest relative error that is rated as good: 100 times the tolerance, at least 1e-6.
    bound: f64,
}

/// Momentum of the whole system.
pub enum Momentum {
    /// Conserved up to the error of the integration.
    Conserved {
        /// Largest change of the linear momentum since the start, kg·m/s.
        linear: Ratio,
        /// Largest change of the angular momentum since the start, kg·m²/s.
        angular: Ratio,
    },
    /// Not conserved, or not available, with the reason.
    Not(String),
}

/// Rating of a diagnostic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// The error is not larger than expected for the tolerance.
    Good,
    /// The error is larger than expected.
    Warn,
    /// The diagnostic is not rated.
    Note,
}

/// An error with its reference magnitude.
pub struct Ratio {
    /// The error.
    pub error: f64,
    /// The reference magnitude.
    pub scale: f64,
}

impl Ratio {
    /// Returns the ratio with the relative error `relative` and the reference `scale`. If the
    /// reference is zero, `relative` is the absolute error.
    fn new(relative: f64, scale: f64) -> Self {
        let error = if scale > 0.0 { relative * scale } else { relative };
        Self { error, scale }
    }

    /// Returns the relative error; the absolute one if the reference is zero.
    pub fn value(&self) -> f64 {
        relative(self.error, self.scale)
    }
}

/// Returns an error relative to a reference; the error itself if the reference is zero.
fn relative(error: f64, scale: f64) -> f64 {
    if scale > 0.0 { error / scale } else { error }
}

impl Diagnostics {
    /// Computes the diagnostics of a run.
    pub fn of(spec: &Spec, run: &Run) -> Self {
        let results = &run.results;
        Self {
            momentum: (spec.kind == Kind::Spacecraft).then(|| momentum(spec, run)),
            energy: energy(results),
            steps: run.effort.steps,
            solver: run.solver.clone(),
            simulated: results.time.last().unwrap_or(&0.0) - results.time.first().unwrap_or(&0.0),
            wall: run.effort.wall,
            bound: (100.0 * run.times.tolerance).max(1e-6),
        }
    }

    /// Returns true if no external load acts, so that momentum is conserved, and momentum is among
    /// the outputs.
    pub fn is_free(&self) -> bool {
        matches!(self.momentum, Some(Momentum::Conserved { .. }))
    }

    /// Returns simulated time divided by computing time.
    pub fn real_time_factor(&self) -> f64 {
        self.simulated / self.wall.as_secs_f64().max(1e-9)
    }

    /// Returns the diagnostics as one line.
    pub fn line(&self) -> String {
        let energy = match &self.energy {
            Some(balance) => format!("energy balance {}", number(balance.value(), 2)),
            None => "energy: not among the outputs".to_owned(),
        };
        let physics = match &self.momentum {
            Some(Momentum::Conserved { linear, angular }) => format!(
                "momentum drift {} linear, {} angular; {energy}; ",
                number(linear.value(), 2),
                number(angular.value(), 2)
            ),
            Some(Momentum::Not(why)) => format!("momentum: {why}; {energy}; "),
            None => String::new(),
        };
        let steps = count(self.steps, "communication step");
        let solver = self.solver.as_ref().unwrap_or(&steps);
        format!(
            "run diagnostics: {physics}{solver}; {} times real time",
            number(self.real_time_factor(), 3)
        )
    }

    /// Returns the rating of an error.
    pub fn verdict(&self, ratio: &Ratio) -> Verdict {
        if ratio.value() <= self.bound {
            Verdict::Good
        } else {
            Verdict::Warn
        }
    }
}

/// Returns the relative change of a momentum since the start, at every time.
pub fn drift(results: &Results, name: &str) -> Option<Vec<f64>> {
    let p: [&[f64]; 3] = results.get_vector(&format!("system.{name}"))?;
    let scale = peak(results.get(&format!("system.{name}_scale"))?);
    let change = |i: usize| p.map(|p| square(p[i] - p[0])).iter().sum::<f64>().sqrt();
    Some((0..results.time.len()).map(|i| relative(change(i), scale)).collect())
}

/// Returns the error of the energy balance at every time: the change of energy since the start,
/// minus the work done, divided by the peak kinetic energy (or by 1e-9 of the peak energy, if that
/// is larger).
pub fn imbalance(results: &Results) -> Option<Vec<f64>> {
    let (energy, work) = (results.get("system.energy")?, results.get("system.work")?);
    // At rest the kinetic energy is zero, and the balance is the round-off of the stored energy.
    let scale = peak(results.get("system.kinetic_energy")?).max(1e-9 * peak(energy));
    let gap = |(e, w): (&f64, &f64)| (e - energy[0]) - (w - work[0]);
    Some(energy.iter().zip(work).map(|pair| relative(gap(pair), scale)).collect())
}

fn momentum(spec: &Spec, run: &Run) -> Momentum {
    if let Some(why) = external(spec, run) {
        return Momentum::Not(format!("not conserved: {why}"));
    }
    let results = &run.results;
    let ratio = |name: &str| {
        let scale = peak(results.get(&format!("system.{name}_scale"))?);
        Some(Ratio::new(peak(&drift(results, name)?), scale))
    };
    match (ratio("momentum"), ratio("angular_momentum")) {
        (Some(linear), Some(angular)) => Momentum::Conserved { linear, angular },
        _ => Momentum::Not("not among the outputs".to_owned()),
    }
}

fn energy(results: &Results) -> Option<Ratio> {
    let scale = peak(results.get("system.kinetic_energy")?);
    Some(Ratio::new(peak(&imbalance(results)?), scale))
}

/// Returns the external load that acts on the system, if there is one.
fn external(spec: &Spec, run: &Run) -> Option<String> {
    let results = &run.results;
    let acts = |force: &str| {
        let parts = results.get_vector::<3>(force).into_iter().flatten();
        parts.into_iter().any(|values| peak(values) > 0.0)
    };
    let gravity = |i| results.parameter(&format!("environment.gravity[{i}]")).unwrap_or(0.0);
    if (1..=3).any(|i| gravity(i) != 0.0) {
        return Some("gravity acts".to_owned());
    }
    if spec.environment.orbit.is_some() {
        return Some("gravity in orbit acts".to_owned());
    }
    let held = spec
        .joint
        .iter()
        .find(|(_, j)| j.parent == WORLD && j.kind != JointType::Free);
    if let Some((name, _)) = held {
        return Some(format!("joint {name} attaches the spacecraft to the world"));
    }
    let from_outside = |body: &Body| {
        let servo = body.attitude_servo.as_ref();
        servo.is_some_and(|servo| servo.wheels.is_empty())
    };
    let mut with_servo = spec.body.iter().filter(|(_, body)| from_outside(body));
    if let Some((name, _)) = with_servo.find(|(name, _)| acts(&format!("{name}.servo_torque"))) {
        return Some(format!("{name}'s attitude servo acts"));
    }
    let fires = |name: &&String| {
        let force = results.get(&format!("{name}.force"));
        force.is_some_and(|force| peak(force) > 0.0)
    };
    if let Some(name) = spec.thruster.keys().find(fires) {
        return Some(format!("thruster {name} fires"));
    }
    if let Some((name, _)) = spec.closed_loop.iter().find(|(_, closed)| closed.b == WORLD) {
        return Some(format!("loop {name} is closed on the world"));
    }
    // Contacts with impacts are recognised by their count, other elements by their force.
    let meets = |(_, name): &(&str, &str)| {
        let number = |field: &str| results.get(&format!("{name}.{field}")).is_some_and(|of| peak(of) > 0.0);
        number("count") || number("force") || acts(&format!("{name}.force"))
    };
    if let Some((section, name)) = spec.elements_on_world().into_iter().find(meets) {
        return Some(format!("{section} {name} acts on the world"));
    }
    let mut pushed = run.events.iter().filter_map(|event| match &event.what {
        Occurrence::ImpulseApplied { port, impulse: Some(_) } => Some(port),
        _ => None,
    });
    if let Some(port) = pushed.next() {
        return Some(format!("an impulse acts at {port}"));
    }
    let driven = |port: &&String| ["f", "t"].iter().any(|part| acts(&format!("{port}.{part}")));
    let mut ports = spec
        .port
        .keys()
        .chain(spec.line_load.keys())
        .chain(spec.interface.keys());
    ports.find(driven).map(|port| format!("{port} is driven"))
}

fn peak(values: &[f64]) -> f64 {
    values.iter().fold(0.0, |peak, value| value.abs().max(peak))
}
