use super::{Model, Plant};
use crate::Error;
use crate::spec::Method;
use crate::system::{Derived, System};
use std::sync::Arc;

/// The largest `ω h` that the fourth-order Runge–Kutta method holds for an undamped oscillation: 2√2.
const RK4_LIMIT: f64 = 2.828;

/// A bracket on a beam is shorter than this part of its length; what is farther off is likely written in other axes.
const LEVER: f64 = 0.1;

/// What a user should know of a model that is not wrong: the beams' frequencies, and numbers that do not go together.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Remarks {
    /// One line for each flexible body.
    pub beams: Vec<String>,
    /// What is likely not meant.
    pub warnings: Vec<String>,
}

impl Remarks {
    /// On a model, at the spec's own values.
    ///
    /// # Errors
    /// Those of [`Plant::new`].
    pub fn on(model: &Arc<Model>) -> Result<Self, Error> {
        let plant = Plant::new(Arc::clone(model))?;
        let mut remarks = Self::default();
        for (i, (body, constants)) in model.system.bodies.iter().zip(&plant.derived().bodies).enumerate() {
            let Some(elastic) = &constants.elastic else { continue };
            let name = &body.name;
            let frequencies: Vec<f64> = elastic.modes.iter().map(|mode| hertz(mode.stiffness.sqrt())).collect();
            let listed: Vec<String> = frequencies.iter().map(|f| format!("{f:.3}")).collect();
            let first_left_out = elastic
                .left_out
                .iter()
                .copied()
                .map(hertz)
                .fold(f64::INFINITY, f64::min);
            remarks.beams.push(format!(
                "{name}: modes of the beam alone at {} Hz; the first left out has {first_left_out:.3} Hz",
                listed.join(", ")
            ));
            if let Some(bandwidth) = model.spec.experiment.bandwidth
                && first_left_out < bandwidth
            {
                remarks.warnings.push(format!(
                    "{name}: a mode of {first_left_out:.3} Hz is left out, below the experiment's bandwidth of {bandwidth} Hz: \
                     give the beam more modes"
                ));
            }
            let reach = LEVER * elastic.length;
            for (what, lever) in offsets(&model.system, plant.derived(), i) {
                if lever > reach {
                    remarks.warnings.push(format!(
                        "{what} stands {lever} m off the beam of {name}: it moves as if it were held rigidly at the beam's nearest place"
                    ));
                }
            }
            let solver = &model.spec.solver;
            let fastest = frequencies.iter().copied().fold(0.0, f64::max);
            if let (Method::Rk4, Some(step)) = (solver.method, solver.step)
                && std::f64::consts::TAU * fastest * step > RK4_LIMIT
            {
                remarks.warnings.push(format!(
                    "{name}: rk4 cannot follow its mode of {fastest:.3} Hz in steps of {step} s; it needs steps below {:.3e} s, and \
                     shorter ones where the arm makes it faster",
                    RK4_LIMIT / (std::f64::consts::TAU * fastest)
                ));
            }
        }
        Ok(remarks)
    }
}

/// What stands on body `i`, and how far it is from its station on the beam, m.
fn offsets(system: &System, derived: &Derived, i: usize) -> Vec<(String, f64)> {
    let joints = system.bodies.iter().zip(&derived.bodies);
    let joints = joints.filter(|(body, _)| body.parent == Some(i));
    let joints = joints.map(|(body, constants)| (format!("joint {}", body.joint.name), constants.p_PF.norm()));
    let frames = system
        .frames
        .iter()
        .zip(&derived.frames)
        .filter(|(frame, _)| frame.body == i);
    let frames = frames.map(|(frame, constants)| (format!("frame {}", frame.name), constants.X_BF.p.norm()));
    joints.chain(frames).collect()
}

fn hertz(omega: f64) -> f64 {
    omega / std::f64::consts::TAU
}
