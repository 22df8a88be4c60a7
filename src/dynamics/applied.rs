use crate::algebra::{Scalar, Wrench};
use crate::spec::JointMotion;
use crate::system::{Carrier, Kinematics, System};

/// All loads at one instant.
#[derive(Clone, Debug)]
pub struct Applied<S: Scalar> {
    /// On each body, about its origin, world axes.
    pub wrench: Vec<Wrench<S>>,
    /// On each rate: torque, N·m, or force, N.
    pub tau: Vec<S>,
    /// Inertia added to each rate, kg·m² or kg: acts as a load `−inertia q̈`. Read by the recursive formulation only; ignored on free joints.
    pub inertia: Vec<f64>,
    /// Whether a drive prescribes the motion of the joint that carries each body.
    pub driven: Vec<bool>,
    /// Derivative of each rate whose joint is driven, rad/s² or m/s².
    pub qdd: Vec<S>,
}

impl<S: Scalar> Applied<S> {
    /// No loads, for a system.
    pub fn none(system: &System) -> Self {
        Self {
            wrench: vec![Wrench::zero(); system.bodies.len()],
            tau: vec![S::zero(); system.nv],
            inertia: vec![0.0; system.nv],
            driven: system
                .bodies
                .iter()
                .map(|body| body.joint.motion != JointMotion::Loads)
                .collect(),
            qdd: vec![S::zero(); system.nv],
        }
    }

    /// Adds a wrench on what carries a frame, about its origin, world axes: on a body, or on a bent place of one and so on its modes.
    #[inline]
    pub fn push(&mut self, system: &System, kinematics: &Kinematics<S>, on: Carrier, F: Wrench<S>) {
        match on {
            Carrier::World => {}
            Carrier::Body(body) => self.wrench[body] = self.wrench[body] + F,
            Carrier::Point(point) => {
                let beam = &system.nodal[system.points[point].beam];
                kinematics.points[point].push(beam, &F, &mut self.tau);
            }
            Carrier::Station(s) => {
                let station = &system.stations[s];
                if let Some(modes) = &system.bodies[station.body].modes {
                    let T = &kinematics.T[station.first..];
                    for (v, T) in modes.rates().zip(T) {
                        self.tau[v] += F.power(T);
                    }
                }
                let F = F.shift(&kinematics.stations[s].r_PB_W);
                self.wrench[station.body] = self.wrench[station.body] + F;
            }
        }
    }

    /// The power of the wrenches on the bodies, W. What moves a body by its own modes is among the rates.
    #[inline]
    pub fn power_on_bodies(&self, kinematics: &Kinematics<S>) -> S {
        let bodies = self.wrench.iter().zip(&kinematics.bodies);
        bodies.fold(S::zero(), |power, (F, at)| power + F.power(&at.V_WB))
    }

    /// The power of the torques and forces on the rates `qd`, W.
    #[inline]
    pub fn power_on_rates(&self, qd: &[S]) -> S {
        let rates = self.tau.iter().zip(qd);
        rates.fold(S::zero(), |power, (tau, rate)| power + *tau * *rate)
    }

    /// Takes all of another's numbers, of the same system.
    pub fn copy_from(&mut self, other: &Self) {
        self.wrench.copy_from_slice(&other.wrench);
        self.tau.copy_from_slice(&other.tau);
        self.inertia.copy_from_slice(&other.inertia);
        self.driven.copy_from_slice(&other.driven);
        self.qdd.copy_from_slice(&other.qdd);
    }

    /// Removes all loads; prescribed motions stay until they are set anew, and so does added inertia.
    pub fn clear(&mut self) {
        self.wrench.fill(Wrench::zero());
        self.tau.fill(S::zero());
    }
}
