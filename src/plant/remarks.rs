use super::{Model, Plant};
use crate::Error;
use crate::spec::{Experiment, Method};
use crate::system::{Derived, Elastic, ModalData, System};
use std::sync::Arc;

/// Stability limit `ω h` of the fourth-order Runge–Kutta method for an undamped oscillation: 2√2.
const RK4_LIMIT: f64 = 2.828;

/// Distance of a joint or frame from its beam, relative to the beam's length, above which it is
/// reported: its position is probably written in wrong axes.
const LEVER: f64 = 0.1;

/// Distance of a joint or frame from the nearest node of modal data, relative to the body's size,
/// above which it is reported.
const BESIDE: f64 = 1e-6;

/// Frequency, relative to the body's highest one, below which a mode is reported: it is probably a
/// rigid-body motion.
const RIGID: f64 = 1e-4;

/// Remarks on a valid model: frequencies of flexible bodies and implausible values.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Remarks {
    /// One line for each flexible body.
    pub flexible: Vec<String>,
    /// Warnings of implausible values.
    pub warnings: Vec<String>,
}

impl Remarks {
    /// Collects the remarks on a model at the spec's own values.
    ///
    /// # Errors
    /// Those of [`Plant::new`].
    pub fn on(model: &Arc<Model>) -> Result<Self, Error> {
        let plant = Plant::new(Arc::clone(model))?;
        let mut remarks = Self {
            flexible: Vec::new(),
            warnings: on_steps(model),
        };
        for (i, (body, constants)) in model.system.bodies.iter().zip(&plant.derived().bodies).enumerate() {
            let Some(elastic) = &constants.elastic else { continue };
            let name = &body.name;
            let frequencies: Vec<f64> = elastic.modes.iter().map(|mode| hertz(mode.stiffness.sqrt())).collect();
            match &body.modal {
                Some(data) => remarks.on_modal_data(&plant, i, data, &frequencies),
                None => remarks.on_beam(&plant, i, elastic, &frequencies),
            }
            let solver = &model.spec.solver;
            let fastest = frequencies.iter().copied().fold(0.0, f64::max);
            if let (Method::Rk4, Some(step)) = (solver.method, solver.step)
                && std::f64::consts::TAU * fastest * step > RK4_LIMIT
            {
                remarks.warnings.push(format!(
                    "{name}: rk4 is unstable for its mode of {fastest:.3} Hz with steps of {step} s; use steps below {:.3e} s, and \
                     shorter ones if the arm raises its frequency",
                    RK4_LIMIT / (std::f64::consts::TAU * fastest)
                ));
            }
        }
        Ok(remarks)
    }

    fn on_beam(&mut self, plant: &Plant, i: usize, elastic: &Elastic, frequencies: &[f64]) {
        let name = &plant.base.model.system.bodies[i].name;
        let omitted = elastic.omitted.iter().copied().map(hertz);
        let first_omitted = omitted.fold(f64::INFINITY, f64::min);
        self.flexible.push(format!(
            "{name}: modes of the beam alone at {} Hz; the first omitted mode has {first_omitted:.3} Hz",
            listed(frequencies)
        ));
        if let Some(bandwidth) = plant.base.model.spec.experiment.bandwidth
            && first_omitted < bandwidth
        {
            self.warnings.push(format!(
                "{name}: an omitted mode has {first_omitted:.3} Hz, below the experiment's bandwidth of {bandwidth} Hz: \
                increase the beam's number of modes"
            ));
        }
        for (what, _, lever) in attached_levers(&plant.base.model.system, &plant.base.derived, i) {
            if lever > LEVER * elastic.length {
                self.warnings.push(format!(
                    "{what} is {lever} m away from the beam of {name}: it moves as if rigidly attached to the beam's nearest point"
                ));
            }
        }
    }

    fn on_modal_data(&mut self, plant: &Plant, i: usize, data: &ModalData, frequencies: &[f64]) {
        let (body, constants) = (&plant.base.model.system.bodies[i], &plant.base.derived.bodies[i]);
        let name = &body.name;
        let (mass, inertia) = data.effective();
        let part = |of: f64, whole: f64| format!("{:.1}", 100.0 * of / whole);
        let masses = [0, 1, 2].map(|axis| part(mass[axis], constants.m)).join(", ");
        let inertias = [0, 1, 2]
            .map(|axis| part(inertia[axis], constants.J_Bo.d[axis]))
            .join(", ");
        self.flexible.push(format!(
            "{name}: modes of the body clamped at its origin at {} Hz; their effective masses along x, y, z are {masses} % of its \
             mass, their effective inertias about its origin {inertias} % of its own",
            listed(frequencies)
        ));
        let highest = frequencies.iter().copied().fold(0.0, f64::max);
        if let Some(bandwidth) = plant.base.model.spec.experiment.bandwidth
            && highest < bandwidth
        {
            self.warnings.push(format!(
                "{name}: its highest mode has {highest:.3} Hz, below the experiment's bandwidth of {bandwidth} Hz: add more modes"
            ));
        }
        if let Some(k) = frequencies.iter().position(|f| *f < RIGID * highest) {
            self.warnings.push(format!(
                "{name}: mode {} has {:.1e} Hz, which is probably a rigid-body motion: the modes must be those of the body \
                clamped at its origin",
                k + 1,
                frequencies[k]
            ));
        }
        for (what, station, lever) in attached_levers(&plant.base.model.system, &plant.base.derived, i) {
            if lever > BESIDE * data.size() {
                let (node, _) = data.nearest(&plant.base.derived.stations[station].p);
                let node = match &node.name {
                    Some(node) => format!("node \"{node}\""),
                    None => "origin".to_owned(),
                };
                self.warnings.push(format!(
                    "{what} is {lever:.4} m away from the nearest point of {name} with modal data, its {node}: it moves as if \
                    rigidly attached there"
                ));
            }
        }
    }
}

/// Returns warnings if the lengths of the run, of the communication step and of the integrator's
/// step do not fit together.
fn on_steps(model: &Model) -> Vec<String> {
    let Experiment { stop_time, step, .. } = model.spec.experiment;
    let mut warnings = Vec::new();
    if step > stop_time {
        warnings.push(format!(
            "experiment.step of {step} s is longer than the run of {stop_time} s: the results have two rows"
        ));
    }
    if let Some(own) = model.spec.solver.step {
        // Equal steps may be written with different round-off.
        if own > step * (1.0 + 1e-9) {
            warnings.push(format!(
                "solver.step of {own:?} s has no effect: a step ends at the next communication point at the latest, and \
                 experiment.step is {step} s"
            ));
        }
        let method = model.spec.solver.method;
        let evaluations = (step / own).ceil() * f64::from(method.least_evaluations());
        let limit = model.work_limit();
        if method.has_fixed_step() && evaluations > limit {
            warnings.push(format!(
                "solver.step of {own:?} s takes {evaluations:e} evaluations in a communication step of {step} s, above the work \
                 limit of {limit}: runs will end there"
            ));
        }
    }
    warnings
}

/// Returns the joints and frames that are attached to the flexible body `i`: text, index of the
/// station to which it attaches, and distance from it, m.
fn attached_levers(system: &System, derived: &Derived, i: usize) -> Vec<(String, usize, f64)> {
    let joints = system.bodies.iter().zip(&derived.bodies);
    let joints = joints.filter(|(body, _)| body.parent == Some(i));
    let joints =
        joints.filter_map(|(body, at)| Some((format!("joint {}", body.joint.name), body.station?, at.p_PF.norm())));
    let frames = system.frames.iter().zip(&derived.frames);
    let frames = frames.filter(|(frame, _)| frame.body == i);
    let frames =
        frames.filter_map(|(frame, at)| Some((format!("frame {}", frame.name), frame.station?, at.X_BF.p.norm())));
    joints.chain(frames).collect()
}

fn listed(frequencies: &[f64]) -> String {
    let listed: Vec<String> = frequencies.iter().map(|f| format!("{f:.3}")).collect();
    listed.join(", ")
}

fn hertz(omega: f64) -> f64 {
    omega / std::f64::consts::TAU
}
