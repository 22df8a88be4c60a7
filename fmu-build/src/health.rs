//! The verdict on a run: what physics conserves, and what it cost.

use crate::page::{Tile, Verdict};
use crate::results::Results;
use crate::run::Run;
use crate::text::{count, number, typeset};
use grapple::spec::{Body, Grasp, JointType, Kind, Spec, WORLD};
use std::time::Duration;

/// What is known of a run when it is over.
pub struct Health {
    /// None of what does not move.
    momentum: Option<Momentum>,
    energy: Option<Ratio>,
    /// Communication steps.
    steps: usize,
    /// The FMU's own words on its solver.
    solver: Option<String>,
    simulated: f64,
    wall: Duration,
    /// Up to here an error of the integration is what the tolerance promises.
    bound: f64,
}

enum Momentum {
    /// Greatest change since the start of the linear and of the angular momentum.
    Conserved { linear: Ratio, angular: Ratio },
    /// It is not conserved, or not known, and why.
    Not(String),
}

/// An error and the magnitude it is to be seen against.
struct Ratio {
    error: f64,
    scale: f64,
}

impl Ratio {
    /// The relative error; of nothing, nothing.
    fn value(&self) -> f64 {
        if self.scale > 0.0 {
            self.error / self.scale
        } else {
            self.error
        }
    }
}

impl Health {
    /// Judges a run.
    pub fn of(spec: &Spec, run: &Run, tolerance: f64) -> Self {
        let results = &run.results;
        Self {
            momentum: (spec.kind == Kind::Craft).then(|| momentum(spec, results)),
            energy: energy(results),
            steps: run.effort.steps,
            solver: run.solver.clone(),
            simulated: results.time.last().unwrap_or(&0.0) - results.time.first().unwrap_or(&0.0),
            wall: run.effort.wall,
            bound: (100.0 * tolerance).max(1e-6),
        }
    }

    /// Simulated time over computing time.
    fn real_time_factor(&self) -> f64 {
        self.simulated / self.wall.as_secs_f64().max(1e-9)
    }

    /// All of it in one line.
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
            "health: {physics}{solver}; {} times real time",
            number(self.real_time_factor(), 3)
        )
    }

    /// The same for the page.
    pub fn tiles(&self) -> Vec<Tile> {
        let mut tiles = Vec::new();
        let mut tile = |label: &str, value: String, detail: String, verdict| {
            tiles.push(Tile {
                label: label.to_owned(),
                value,
                detail,
                verdict,
            });
        };
        match &self.momentum {
            Some(Momentum::Conserved { linear, angular }) => {
                for (label, ratio, scale, unit) in [
                    ("Linear momentum drift", linear, "Σ|m v|", "kg.m/s"),
                    ("Angular momentum drift", angular, "Σ|h|", "kg.m2/s"),
                ] {
                    let detail = format!("of the largest {scale}, {} {}", number(ratio.scale, 4), typeset(unit));
                    tile(label, number(ratio.value(), 2), detail, self.verdict(ratio));
                }
            }
            Some(Momentum::Not(why)) => tile("Momentum", "–".to_owned(), why.clone(), Verdict::Note),
            None => {}
        }
        if let Some(balance) = &self.energy {
            let peak = number(balance.scale, 4);
            let detail = format!("energy − start − work, of the peak kinetic energy {peak} J");
            tile(
                "Energy balance",
                number(balance.value(), 2),
                detail,
                self.verdict(balance),
            );
        }
        let detail = self.solver.clone().unwrap_or_default();
        tile("Communication steps", self.steps.to_string(), detail, Verdict::Note);
        let factor = self.real_time_factor();
        let detail = format!("times real time: computed in {}", duration(self.wall));
        let verdict = if factor < 1.0 { Verdict::Warn } else { Verdict::Note };
        tile("Speed", number(factor, 3), detail, verdict);
        tiles
    }

    fn verdict(&self, ratio: &Ratio) -> Verdict {
        if ratio.value() <= self.bound {
            Verdict::Good
        } else {
            Verdict::Warn
        }
    }
}

/// A time for people.
fn duration(wall: Duration) -> String {
    match wall.as_secs_f64() {
        s if s < 1.0 => format!("{} ms", number(1e3 * s, 3)),
        s => format!("{} s", number(s, 3)),
    }
}

/// The relative change of a momentum since the start, at every time.
pub fn drift(results: &Results, name: &str) -> Option<Vec<f64>> {
    let p: [&[f64]; 3] = results.get_vector(&format!("system.{name}"))?;
    let scale = peak(results.get(&format!("system.{name}_scale"))?);
    let change = |i: usize| p.map(|p| (p[i] - p[0]).powi(2)).iter().sum::<f64>().sqrt();
    let relative = |i| {
        Ratio {
            error: change(i),
            scale,
        }
        .value()
    };
    Some((0..results.time.len()).map(relative).collect())
}

/// Energy minus its start minus the work done since, over the peak kinetic energy, at every time.
pub fn imbalance(results: &Results) -> Option<Vec<f64>> {
    let (energy, work) = (results.get("system.energy")?, results.get("system.work")?);
    let scale = peak(results.get("system.kinetic_energy")?);
    let gap = |(e, w): (&f64, &f64)| (e - energy[0]) - (w - work[0]);
    let relative = |pair| {
        Ratio {
            error: gap(pair),
            scale,
        }
        .value()
    };
    Some(energy.iter().zip(work).map(relative).collect())
}

fn momentum(spec: &Spec, results: &Results) -> Momentum {
    if let Some(why) = external(spec, results) {
        return Momentum::Not(format!("not conserved: {why}"));
    }
    let ratio = |name: &str| {
        let scale = peak(results.get(&format!("system.{name}_scale"))?);
        let relative = peak(&drift(results, name)?);
        let error = if scale > 0.0 { relative * scale } else { relative };
        Some(Ratio { error, scale })
    };
    match (ratio("momentum"), ratio("angular_momentum")) {
        (Some(linear), Some(angular)) => Momentum::Conserved { linear, angular },
        _ => Momentum::Not("not among the outputs".to_owned()),
    }
}

fn energy(results: &Results) -> Option<Ratio> {
    let scale = peak(results.get("system.kinetic_energy")?);
    let relative = peak(&imbalance(results)?);
    let error = if scale > 0.0 { relative * scale } else { relative };
    Some(Ratio { error, scale })
}

/// What acts on the system from outside, if something does.
pub fn external(spec: &Spec, results: &Results) -> Option<String> {
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
        return Some(format!("joint {name} holds the craft to the world"));
    }
    let steered = |name: &&String| {
        let moment = results.get_vector::<3>(&format!("{name}.servo_torque"));
        moment.into_iter().flatten().any(|values| peak(values) > 0.0)
    };
    let from_outside = |body: &Body| {
        body.attitude_servo
            .as_ref()
            .is_some_and(|servo| servo.wheels.is_empty())
    };
    let with_servo = spec.body.iter().filter(|(_, body)| from_outside(body));
    if let Some(name) = with_servo.map(|(name, _)| name).find(steered) {
        return Some(format!("{name}'s attitude servo acts"));
    }
    let fires = |name: &&String| {
        results
            .get(&format!("{name}.force"))
            .is_some_and(|force| peak(force) > 0.0)
    };
    if let Some(name) = spec.thruster.keys().find(fires) {
        return Some(format!("thruster {name} fires"));
    }
    let holds = |(name, grasp): &(&String, &Grasp)| {
        let force = results.get_vector::<3>(&format!("{name}.force"));
        let acts = force.into_iter().flatten().any(|values| peak(values) > 0.0);
        acts && [&grasp.a, &grasp.b].into_iter().any(|frame| frame == WORLD)
    };
    if let Some((name, _)) = spec.grasp.iter().find(holds) {
        return Some(format!("grasp {name} holds on to the world"));
    }
    let driven = |port: &&String| {
        let wrench = ["f", "t"].map(|part| results.get_vector::<3>(&format!("{port}.{part}")));
        wrench.into_iter().flatten().flatten().any(|values| peak(values) > 0.0)
    };
    spec.port
        .keys()
        .chain(spec.line_load.keys())
        .find(driven)
        .map(|port| format!("{port} is driven"))
}

fn peak(values: &[f64]) -> f64 {
    values.iter().fold(0.0, |peak, value| value.abs().max(peak))
}
