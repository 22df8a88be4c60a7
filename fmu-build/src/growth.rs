//! Vibrations that the law of a task makes grow.

use crate::modes::{Mode, Modes};
use crate::solver_advice::owner;
use crate::text::number;
use grapple::Problem;
use grapple::plant::{Linearisation, Model};
use grapple::spec::JointType;
use grapple::system::System;
use std::f64::consts::TAU;

/// Exponent of the growth within the run above which a vibration is reported.
const GROWTH: f64 = 0.1;

/// Returns the vibration of each spacecraft with a task that grows fastest at the start, as a
/// problem of the task's gains. Vibrations with less than a period within the run are left out, and
/// motions mainly of free bodies: a body that tumbles has growing modes without any control.
pub fn of_tasks(model: &Model, linear: &Linearisation, modes: &Modes) -> Vec<Problem> {
    let (spec, system) = (&model.spec, model.system());
    let run = spec.experiment.stop_time;
    let grows = |mode: &&Mode| {
        let is_resolved = mode.real > mode.round_off * TAU * mode.frequency();
        let has_period = mode.imaginary * run >= TAU;
        mode.real * run > GROWTH && has_period && is_resolved && !mode.closes_gaps
    };
    let growing: Vec<(&Mode, usize)> = (modes.modes.iter().filter(grows))
        .filter_map(|mode| Some((mode, root(system, body_of(system, linear, mode)?))))
        .collect();
    let of_task = |(name, task): (&String, &grapple::spec::Task)| {
        let joint = system
            .bodies
            .iter()
            .position(|body| task.joints.contains(&body.joint.name))?;
        let own = growing.iter().filter(|(_, root)| *root == self::root(system, joint));
        let (mode, _) = own.max_by(|a, b| a.0.real.total_cmp(&b.0.real))?;
        let bandwidth = (task.kp * task.kd).sqrt();
        let what = format!(
            "at the start a vibration of {} Hz ({} rad/s, {}) grows as exp({} t), t in s, and the run takes {} s: √(kp kd) is \
             {} rad/s; choose it below a tenth of the arm's lowest frequency, or more damping of the arm",
            number(mode.frequency(), 4),
            number(TAU * mode.frequency(), 3),
            owner(model, linear, mode),
            number(mode.real, 2),
            number(run, 4),
            number(bandwidth, 3),
        );
        let at = ["task", name, "kp"].map(str::to_owned).to_vec();
        Some(Problem { at, what })
    };
    spec.task.iter().filter_map(of_task).collect()
}

/// Returns the body whose coordinate has the largest part in a mode; `None` if it is a free one.
fn body_of(system: &System, linear: &Linearisation, mode: &Mode) -> Option<usize> {
    let parts = mode.participation.iter().zip(linear.participants());
    let (_, coordinate) = parts.max_by(|(a, _), (b, _)| a.total_cmp(b))?;
    let (name, field) = coordinate.name.rsplit_once('.')?;
    let body = system
        .bodies
        .iter()
        .position(|body| body.name == name || body.joint.name == name)?;
    let is_elastic = field.starts_with("eta[");
    (is_elastic || system.bodies[body].joint.kind != JointType::Free).then_some(body)
}

/// Returns the root of a body's tree.
fn root(system: &System, body: usize) -> usize {
    std::iter::successors(Some(body), |&body| system.bodies[body].parent)
        .last()
        .unwrap_or(body)
}
