use crate::algebra::{Scalar, Wrench};
use crate::spec::JointMotion;
use crate::system::{Carrier, Kinematics, System};

/// Loads and prescribed motions of a system at one instant.
#[derive(Clone, Debug)]
pub struct Applied<S: Scalar> {
    /// Wrench on each body, about its origin, world axes.
    pub wrench: Vec<Wrench<S>>,
    /// Generalised force on each rate: torque, N·m, or force, N.
    pub tau: Vec<S>,
    /// Inertia added to each rate, kg·m² or kg, which acts as the load `−inertia q̈`: linearly
    /// implicit methods thereby include stiffness and damping. Used by the recursive formulation
    /// only, and not for free joints.
    pub inertia: Vec<f64>,
    /// For each body, true if a drive prescribes the motion of its joint.
    pub driven: Vec<bool>,
    /// Prescribed derivative of each rate of a driven joint, rad/s² or m/s².
    pub qdd: Vec<S>,
}

impl<S: Scalar> Applied<S> {
    /// Creates an instance without loads, sized for `system`.
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

    /// Adds the wrench `F` on the carrier `on`, about the carrier's origin, world axes. On a
    /// station of a flexible body it also loads the modes, on a point of an ANCF beam the nodes
    /// only.
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

    /// Returns the power of the wrenches on the bodies, W. Their power on modes is part of
    /// [`power_on_rates`](Self::power_on_rates).
    #[inline]
    pub fn power_on_bodies(&self, kinematics: &Kinematics<S>) -> S {
        let bodies = self.wrench.iter().zip(&kinematics.bodies);
        bodies.fold(S::zero(), |power, (F, at)| power + F.power(&at.V_WB))
    }

    /// Returns the power of the generalised forces on the rates `qd`, W.
    #[inline]
    pub fn power_on_rates(&self, qd: &[S]) -> S {
        let rates = self.tau.iter().zip(qd);
        rates.fold(S::zero(), |power, (tau, rate)| power + *tau * *rate)
    }

    /// Copies all values from `other`, which has the same dimensions.
    pub fn copy_from(&mut self, other: &Self) {
        self.wrench.copy_from_slice(&other.wrench);
        self.tau.copy_from_slice(&other.tau);
        self.inertia.copy_from_slice(&other.inertia);
        self.driven.copy_from_slice(&other.driven);
        self.qdd.copy_from_slice(&other.qdd);
    }

    /// Sets all loads to zero; keeps prescribed motions and added inertia.
    pub fn clear(&mut self) {
        self.wrench.fill(Wrench::zero());
        self.tau.fill(S::zero());
    }
}
