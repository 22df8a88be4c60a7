//! What servos ask for beforehand: the torques that the rigid craft would take to follow their references.

use super::model::Model;
use crate::Error;
use crate::algebra::Scalar;
use crate::dynamics::recursive::ForwardDynamics;
use crate::dynamics::{Applied, driven};
use crate::loads::{Fed, Instant, Loads, MotorState};
use crate::system::Kinematics;
use std::sync::Arc;

/// Inverse dynamics of the craft with nothing bent: joints whose servos feed forward move by their references, all else as it is and as its loads move it.
///
/// A base that floats gives way, one that is held by its servo or its wheels is held. Contacts and captures are not known to it.
#[derive(Clone, Debug)]
pub(super) struct FeedForward<S: Scalar> {
    /// All loads but contacts.
    loads: Arc<Loads>,
    kinematics: Kinematics<S>,
    applied: Applied<S>,
    dynamics: ForwardDynamics<S>,
    q: Vec<S>,
    qd: Vec<S>,
    qdd: Vec<S>,
    inputs: Vec<S>,
    motors: Vec<MotorState>,
    /// One for each rate, N·m or N; zero where nothing is fed forward.
    pub torques: Vec<S>,
}

impl<S: Scalar> FeedForward<S> {
    /// Room, if a servo of the model feeds forward.
    pub fn new(model: &Model) -> Option<Box<Self>> {
        let system = &model.system;
        model.loads.fed().next()?;
        Some(Box::new(Self {
            loads: Arc::new(model.loads.without_contacts()),
            kinematics: Kinematics::new(system),
            applied: Applied::none(system),
            dynamics: ForwardDynamics::rigid(system),
            q: vec![S::zero(); system.nq],
            qd: vec![S::zero(); system.nv],
            qdd: vec![S::zero(); system.nv],
            inputs: vec![S::zero(); model.sources.len()],
            motors: vec![MotorState::default(); model.loads.motors.len()],
            torques: vec![S::zero(); system.nv],
        }))
    }

    /// Finds the torques at one instant of the craft.
    ///
    /// # Errors
    /// [`Error::Singular`] if something moves no inertia.
    pub fn update(&mut self, model: &Model, now: &Instant<S>) -> Result<(), Error> {
        let system = &model.system;
        self.q.copy_from_slice(now.q);
        self.qd.copy_from_slice(now.qd);
        self.inputs.copy_from_slice(now.inputs);
        self.motors.copy_from_slice(now.motors);
        for modes in system.flexible() {
            self.q[modes.coordinates()].fill(S::zero());
            self.qd[modes.rates()].fill(S::zero());
        }
        let is_on = |fed: &&Fed| fed.is_on(&model.loads, now);
        for fed in model.loads.fed().filter(is_on) {
            for i in 0..fed.axes {
                self.q[fed.coordinate + i] = now.inputs[fed.q_ref + i];
                self.qd[fed.rate + i] = now.inputs[fed.qd_ref + i];
            }
            // Its servo, its torque input and its motor are what the torque is for.
            self.inputs[fed.switch] = S::zero();
            if let Some(tau) = fed.tau {
                self.inputs[tau..tau + fed.axes].fill(S::zero());
            }
            if let Some(motors) = fed.motors.clone() {
                self.motors[motors].fill(MotorState::default());
            }
        }
        // Without a drive of its own, nobody else says that a joint is not driven any more.
        for fed in model.loads.fed().filter(|fed| fed.drive.is_none()) {
            self.applied.driven[fed.body] = false;
        }
        self.kinematics.update(system, now.derived, &self.q, &self.qd);
        let twin = Instant {
            kinematics: &self.kinematics,
            q: &self.q,
            qd: &self.qd,
            inputs: &self.inputs,
            motors: &self.motors,
            feed_forward: &[],
            ..*now
        };
        self.loads.evaluate(&twin, &mut self.applied);
        for fed in model.loads.fed().filter(is_on) {
            self.applied.driven[fed.body] = true;
            let rates = fed.rate..fed.rate + fed.axes;
            let qdd = &now.inputs[fed.qdd_ref..fed.qdd_ref + fed.axes];
            self.applied.qdd[rates].copy_from_slice(qdd);
        }
        let (at, applied) = (twin.configuration(), &self.applied);
        self.dynamics
            .solve(at, applied, &mut self.qdd)
            .map_err(|singular| model.named(singular))?;
        self.torques.fill(S::zero());
        for fed in model.loads.fed().filter(is_on) {
            if let Some(F) = self.dynamics.transmitted(system, fed.body) {
                for v in fed.rate..fed.rate + fed.axes {
                    self.torques[v] = driven(at, applied, &F, v, self.qdd[v]);
                }
            }
        }
        Ok(())
    }
}
