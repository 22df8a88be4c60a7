use super::manifolds::start_points;
use super::rest::RestsBefore;
use super::{Discrete, Model, Plant};
use crate::algebra::{Quaternion, Scalar};
use crate::elements::Tether;
use crate::event::Event;
use crate::spec::{JointMotion, JointType};
use crate::system::{Configuration, Derived, JointState, Kinematics, Mechanism, ParamId};
use crate::{Error, Problem};

/// Initial states.
impl Model {
    /// Computes the initial states at the time `t` (s).
    ///
    /// # Errors
    /// [`Error::Assembly`] if a loop cannot be closed, [`Error::NoEquilibrium`].
    pub(super) fn start<S: Scalar<Constant = f64>>(
        &self,
        derived: &Derived,
        t: f64,
        values: &[S],
        x: &mut [S],
    ) -> Result<(), Error> {
        let (q, qd) = match self.is_assembled() {
            true => {
                let values: Vec<f64> = values.iter().map(|value| value.value()).collect();
                let (q, qd) = self.solved_start(derived, t, &values)?;
                let lift = |numbers: Vec<f64>| numbers.into_iter().map(S::lift).collect();
                (lift(q), lift(qd))
            }
            false => self.start_at(derived, t, values),
        };
        let parts = self.split_mut(x);
        parts.currents.fill(S::zero());
        let reels = self.elements.tethers.iter().filter_map(Tether::unwound_start);
        for (to, (_, start)) in parts.unwound.iter_mut().zip(reels) {
            *to = values[start.0];
        }
        parts.work.fill(S::zero());
        let propellants = self
            .system
            .propellant
            .iter()
            .map(|&body| &self.system.bodies[body].mass);
        for (to, mass) in parts.masses.iter_mut().zip(propellants) {
            *to = mass.as_ref().map_or_else(S::one, |mass| values[mass.m.0]);
        }
        let system = &self.system;
        let joints = JointState { q: &q, qd: &qd };
        self.coordinates.write(Mechanism { system, derived }, joints, parts);
        Ok(())
    }

    /// Returns the initial coordinates and rates of joints and modes as written, at the time `t`
    /// (s); loops may be open.
    pub fn start_at<S: Scalar>(&self, derived: &Derived<S::Constant>, t: f64, values: &[S]) -> (Vec<S>, Vec<S>) {
        let (mut q, mut qd) = (vec![S::zero(); self.system.nq], vec![S::zero(); self.system.nv]);
        self.start_coordinates(values, &mut q, &mut qd);
        if let Some(orbit) = &derived.orbit {
            self.system.start_in_orbit(&orbit.at(t), &mut q, &mut qd);
        }
        self.place_tethers(derived, values, &mut q, &mut qd);
        (q, qd)
    }

    /// Writes the initial positions and velocities of the masses of tethers, which follow from those of
    /// the tethers' ends.
    pub(super) fn place_tethers<S: Scalar>(
        &self,
        derived: &Derived<S::Constant>,
        values: &[S],
        q: &mut [S],
        qd: &mut [S],
    ) {
        let system = &self.system;
        if self.elements.tethers.is_empty() {
            return;
        }
        let mut kinematics = Kinematics::new(system);
        kinematics.update(system, derived, q, qd);
        let at = Configuration {
            system,
            derived,
            kinematics: &kinematics,
        };
        for tether in &self.elements.tethers {
            tether.start(at, values, q, qd);
        }
    }

    /// Writes the initial coordinates and rates of joints and modes; those of free bodies in the
    /// axes to which the spec refers them (world or LVLH).
    pub fn start_coordinates<S: Scalar>(&self, values: &[S], q: &mut [S], qd: &mut [S]) {
        for beam in &self.system.nodal {
            beam.start(values, q, qd);
        }
        for body in &self.system.bodies {
            if let (Some(modes), Some((eta, eta_dot))) = (&body.modes, body.modal_start()) {
                q[modes.coordinates()].copy_from_slice(&values[eta.0..eta.0 + modes.n]);
                qd[modes.rates()].copy_from_slice(&values[eta_dot.0..eta_dot.0 + modes.n]);
            }
            let joint = &body.joint;
            if body.joint.kind == JointType::Free {
                // A node of a beam starts undeformed and has no start parameters.
                q[joint.q] = S::one();
            }
            if let (Some(q_start), Some(v_start)) = (joint.q_start, joint.v_start) {
                q[joint.q..joint.q + joint.nq].copy_from_slice(&values[q_start.0..q_start.0 + joint.nq]);
                qd[joint.v..joint.v + joint.nv].copy_from_slice(&values[v_start.0..v_start.0 + joint.nv]);
                if matches!(joint.kind, JointType::Free | JointType::Spherical) {
                    let unit = Quaternion::from_slice(&q[joint.q..]).normalised();
                    q[joint.q..joint.q + 4].copy_from_slice(&unit.to_array());
                }
            }
        }
        self.elements.couplings.iter().for_each(|of| of.start(values, q, qd));
        self.elements.drive_trains.iter().for_each(|of| of.start(q, qd));
    }

    /// Marks each parameter that is an initial state and nothing else; none if the start is
    /// computed from all parameters together.
    pub(super) fn is_start(&self) -> Vec<bool> {
        let mut is_start = vec![false; self.parameters.len()];
        if self.is_assembled() || !self.elements.couplings.is_empty() {
            return is_start;
        }
        let mut mark = |id: ParamId, n: usize| is_start[id.0..id.0 + n].fill(true);
        for beam in &self.system.nodal {
            // The attitude is left out: it is also the reference of the points' axes.
            mark(ParamId(beam.q_start.0 + 4), 3);
            mark(beam.v_start, 6);
            mark(beam.off_straight, beam.n);
        }
        for body in &self.system.bodies {
            if let (Some(modes), Some((eta, eta_dot))) = (&body.modes, body.modal_start()) {
                mark(eta, modes.n);
                mark(eta_dot, modes.n);
            }
            let joint = &body.joint;
            if let (Some(q_start), Some(v_start)) = (joint.q_start, joint.v_start) {
                mark(q_start, joint.nq);
                mark(v_start, joint.nv);
            }
        }
        is_start
    }
}

/// Square of the norm of a quaternion below which it has no direction.
const ZERO_NORM: f64 = 1e-12;
/// Rate of a locked joint that counts as zero, rad/s or m/s: joints' rates are computed from those of
/// bodies in maximal coordinates.
const AT_REST: f64 = 1e-9;

impl Plant {
    /// Adapts the discrete state at the time `t` (s) to states `x` that replace those of a run, and
    /// normalises their quaternions. Captures, motions of joints and contact states stay; limit
    /// states, signal segments and friction that sticks are updated. Appends the events of limits that
    /// are now exceeded to `events`.
    ///
    /// # Errors
    /// [`Error::Spec`] for a quaternion of zero norm, a negative mass of propellant, and a locked
    /// joint that is not at rest; those of the dynamics.
    pub fn replace_states(
        &mut self,
        t: f64,
        x: &mut [f64],
        u: &[f64],
        discrete: &mut Discrete,
        events: &mut Vec<Event>,
    ) -> Result<(), Error> {
        let of = self.base.constants();
        let mut problems = Vec::new();
        for (at, owner) in of.model.coordinates.quaternions(&of.model.system) {
            let quaternion = Quaternion::from_slice(&x[at..]);
            if quaternion.norm_squared() < ZERO_NORM {
                let what = format!("{owner}: the quaternion {:?} has zero norm", quaternion.to_array());
                problems.push(Problem { at: Vec::new(), what });
                continue;
            }
            x[at..at + 4].copy_from_slice(&quaternion.normalised().to_array());
        }
        for (mass, quantity) in of
            .model
            .split(x)
            .masses
            .iter()
            .zip(&of.model.states[of.model.unwound.end..])
        {
            if *mass < 0.0 {
                let what = format!("{}: the mass {mass} kg is negative", quantity.name);
                problems.push(Problem { at: Vec::new(), what });
            }
        }
        let qd = self.evaluation.coordinates(of, x).qd;
        for drive in &of.model.elements.drives {
            let is_locked = drive.motion_now(&discrete.motions) == JointMotion::Locked;
            let joint = &of.model.system.bodies[drive.body].joint;
            let rates = &qd[joint.v..joint.v + joint.nv];
            if let Some(rate) = rates.iter().find(|rate| is_locked && rate.abs() > AT_REST) {
                let what = format!("joint {:?} is locked, but its rate is {rate}", joint.name);
                problems.push(Problem { at: Vec::new(), what });
            }
        }
        if !problems.is_empty() {
            return Err(Error::Spec(problems));
        }
        self.update_limits(t, x, u, discrete, events);
        if discrete.rank > 0 {
            self.evaluation.determine_rank(self.base.constants(), x, discrete);
        }
        self.update_sticking(t, x, discrete, true)?;
        let before = discrete.rests.clone();
        self.update_stictions(t, x, discrete, &before, true)?;
        self.evaluation.update_kinematics(self.base.constants(), x);
        start_points(self.base.constants(), &self.evaluation, discrete);
        let before = RestsBefore::elsewhere(discrete);
        self.update_rests(t, x, u, discrete, before, events)?;
        self.release(t, x, u, discrete, events)?;
        Ok(())
    }
}
