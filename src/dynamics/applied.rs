use crate::algebra::{Scalar, Wrench};
use crate::spec::JointMotion;
use crate::system::{Carrier, Kinematics, System};
use num_traits::Zero;

/// Loads and prescribed motions of a system at one instant.
#[derive(Clone, Debug)]
pub struct Applied<S: Scalar> {
    /// Wrench on each body, about its origin, world axes.
    pub wrench: Vec<Wrench<S>>,
    /// Wrench on each station of flexible bodies, about its origin, world axes, if these are kept
    /// apart ([`Applied::apart`]). Else empty: the wrench on a station is part of those on its body
    /// and of the generalised forces on the modes.
    pub stations: Vec<Wrench<S>>,
    /// Generalised force on each rate: torque, N·m, or force, N.
    pub tau: Vec<S>,
    /// Inertia added to each rate, kg·m² or kg, which acts as the load `−inertia q̈`: linearly
    /// implicit methods thereby include stiffness and damping. Used by the recursive formulation
    /// only, and not for free joints.
    pub inertia: Vec<S::Constant>,
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
            stations: Vec::new(),
            tau: vec![S::zero(); system.nv],
            inertia: vec![S::Constant::zero(); system.nv],
            driven: system
                .bodies
                .iter()
                .map(|body| body.joint.motion != JointMotion::Loads)
                .collect(),
            qdd: vec![S::zero(); system.nv],
        }
    }

    /// Creates an instance without loads that keeps wrenches on stations apart.
    pub fn apart(system: &System) -> Self {
        Self {
            stations: vec![Wrench::zero(); system.stations.len()],
            ..Self::none(system)
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
            Carrier::Station(s) => match self.stations.get_mut(s) {
                Some(apart) => *apart = *apart + F,
                None => self.push_on_body(system, kinematics, s, F),
            },
        }
    }

    /// Adds the wrench `F` on station `s` to those on its body and its modes.
    #[inline]
    fn push_on_body(&mut self, system: &System, kinematics: &Kinematics<S>, s: usize, F: Wrench<S>) {
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

    /// Moves the wrenches on stations, kept apart, to their bodies and modes.
    pub fn join_stations(&mut self, system: &System, kinematics: &Kinematics<S>) {
        for s in 0..self.stations.len() {
            let F = std::mem::replace(&mut self.stations[s], Wrench::zero());
            self.push_on_body(system, kinematics, s, F);
        }
    }

    /// Returns the power of the wrenches on bodies, and on stations if these are kept apart, W. Else
    /// their power on modes is part of [`power_on_rates`](Self::power_on_rates).
    #[inline]
    pub fn power_on_bodies(&self, kinematics: &Kinematics<S>) -> S {
        let bodies = self.wrench.iter().zip(&kinematics.bodies);
        let power = bodies.fold(S::zero(), |power, (F, at)| power + F.power(&at.V_WB));
        let stations = self.stations.iter().zip(&kinematics.stations);
        stations.fold(power, |power, (F, at)| power + F.power(&at.V_WB))
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
        self.stations.copy_from_slice(&other.stations);
        self.tau.copy_from_slice(&other.tau);
        self.inertia.copy_from_slice(&other.inertia);
        self.driven.copy_from_slice(&other.driven);
        self.qdd.copy_from_slice(&other.qdd);
    }

    /// Sets all loads to zero; keeps prescribed motions and added inertia.
    pub fn clear(&mut self) {
        self.wrench.fill(Wrench::zero());
        self.stations.fill(Wrench::zero());
        self.tau.fill(S::zero());
    }
}
