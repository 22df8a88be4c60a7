//! Adjoints of the spacecraft with undeformed bodies, for feed-forward
//! (`docs/theory/adjoint.md`, *Feed-forward and tasks*).

use super::carriers::{Carriers, vector_of};
use super::loads::seed_stations;
use super::recording::seed;
use crate::algebra::{Recorded, Scalar, Tape, Vec3, Wrench};
use crate::dynamics::Applied;
use crate::dynamics::recursive::{Gradient, HeldAttitude, JointAdjoints, Partials, TreeAdjoint};
use crate::elements::{GravityAdjoint, GravitySeeds, Instant};
use crate::plant::Model;
use crate::plant::feed_forward::{self, At, FeedForward};
use crate::system::{Configuration, JointState};

/// Adjoint of one solution of the rigid model. Its coordinates, rates and loads are recorded; the
/// motions of its bodies, the results of the solution, are further variables of the same record.
#[derive(Clone, Debug)]
pub(super) struct RigidSolution {
    place: At,
    variables: Carriers,
    /// Corrected rates of free-floating bases, six numbers each.
    rates: usize,
    /// Torques, one number for each rate.
    torques: usize,
    /// Number of operations before and after the loads.
    loads: [usize; 2],
    pub q: Vec<Recorded>,
    pub qd: Vec<Recorded>,
    applied: Applied<Recorded>,
    /// Masses relative to their starts.
    pub fills: Vec<Recorded>,
    pub attitudes: Vec<Attitude>,
    joints: Vec<FedJoint>,
    held: Vec<HeldAttitude>,
    gravity: GravityAdjoint,
    tree: TreeAdjoint,
    gradients: Vec<Gradient>,
    columns: Vec<Wrench<f64>>,
    direct: Vec<f64>,
    qdd: Vec<f64>,
    pub q_bar: Vec<f64>,
    pub qd_bar: Vec<f64>,
}

/// Attitude with feed-forward.
#[derive(Clone, Copy, Debug)]
pub(super) struct Attitude {
    pub body: usize,
    pub rate: usize,
    /// Angular acceleration of the reference, axes of the body.
    wd: Vec3<Recorded>,
    /// Moment on the body, world axes.
    moment: Vec3<f64>,
}

/// Joint with feed-forward.
#[derive(Clone, Copy, Debug)]
struct FedJoint {
    body: usize,
    rate: usize,
    axes: usize,
    /// Reaction of the joint.
    F: Wrench<f64>,
}

impl RigidSolution {
    /// Allocates for a model, with the variables from number `first` on.
    pub fn new(model: &Model, place: At, first: usize) -> Self {
        let system = &model.system;
        let variables = Carriers::new(system, first);
        let zeros = |n: usize| vec![Recorded::lift(0.0); n];
        let (joints, attitudes) = (model.elements.fed().count(), model.elements.fed_attitudes().count());
        Self {
            place,
            variables,
            rates: variables.end,
            torques: variables.end + 6 * system.bodies.len(),
            loads: [0; 2],
            q: zeros(system.nq),
            qd: zeros(system.nv),
            applied: Applied::apart(system),
            fills: zeros(system.propellant.len()),
            attitudes: Vec::with_capacity(attitudes),
            joints: Vec::with_capacity(joints),
            held: Vec::with_capacity(attitudes),
            gravity: GravityAdjoint::new(system),
            tree: TreeAdjoint::new(system),
            gradients: vec![Gradient::zero(); system.bodies.len() + system.stations.len()],
            columns: vec![Wrench::zero(); system.nv],
            direct: vec![0.0; system.nv],
            qdd: vec![0.0; system.nv],
            q_bar: vec![0.0; system.nq],
            qd_bar: vec![0.0; system.nv],
        }
    }

    /// Returns the index after the last variable.
    pub fn end(&self) -> usize {
        self.torques + self.direct.len()
    }

    /// Records coordinates, rates and loads of the `recorded` model at the instant `now`, with the
    /// motions of the solution `values`.
    pub fn record(
        &mut self,
        model: &Model,
        now: &Instant<Recorded>,
        values: &mut FeedForward<f64>,
        recorded: &mut FeedForward<Recorded>,
    ) {
        let (system, derived) = (&model.system, feed_forward::constants(now));
        recorded.begin(model, now, self.place);
        if let (At::Present, Some(base_rates)) = (self.place, &values.base_rates) {
            for (k, base) in base_rates.bases().enumerate() {
                let v = system.bodies[base].joint.v;
                for (i, rate) in (v..v + 6).enumerate() {
                    recorded.qd[rate] = Recorded::variable(values.qd[rate], self.rates + 6 * k + i);
                }
            }
        }
        self.q.copy_from_slice(&recorded.q);
        self.qd.copy_from_slice(&recorded.qd);
        self.fills.copy_from_slice(&recorded.kinematics.fills);
        self.keep_reactions(model, now, values);
        let at = Configuration {
            system,
            derived,
            kinematics: &values.kinematics,
        };
        self.direct.fill(0.0);
        self.qdd.copy_from_slice(&values.qdd);
        let A = &values.dynamics.A;
        self.tree.begin(at, &values.applied, A, &values.qdd, &self.direct);
        self.variables
            .set(&values.kinematics, &self.tree, &mut recorded.kinematics);
        let before = Tape::position();
        let joints = JointState {
            q: &recorded.q,
            qd: &recorded.qd,
        };
        if recorded.reads_deflections() {
            recorded.kinematics.bend_all(at.mechanism(), joints);
            // Stations are operands.
            self.variables
                .set_stations(&values.kinematics, &self.tree, &mut recorded.kinematics);
        }
        recorded.load(model, now);
        self.loads = [before, Tape::position()];
        self.applied.copy_from(&recorded.applied);
    }

    /// Sets the recorded torques to variables with the values of the solution, after
    /// [`record`](Self::record).
    pub fn give_torques(&self, values: &FeedForward<f64>, recorded: &mut FeedForward<Recorded>) {
        recorded.torques.fill(Recorded::lift(0.0));
        let joints = self.joints.iter().map(|joint| joint.rate..joint.rate + joint.axes);
        let attitudes = self.attitudes.iter().map(|of| of.rate..of.rate + 3);
        for v in joints.chain(attitudes).flatten() {
            recorded.torques[v] = Recorded::variable(values.torques[v], self.torques + v);
        }
    }

    /// Stores the reactions of joints and attitudes with feed-forward; adds the moments of
    /// attitudes to the loads of the solution.
    fn keep_reactions(&mut self, model: &Model, now: &Instant<Recorded>, values: &mut FeedForward<f64>) {
        self.attitudes.clear();
        for servo in feed_forward::attitudes(model, now) {
            let (.., wd) = servo.reference(&now.sensed());
            self.attitudes.push(Attitude {
                body: servo.body,
                rate: servo.rate,
                wd,
                moment: add_moment(values, servo.body, servo.rate),
            });
        }
        self.joints.clear();
        for fed in feed_forward::fed(model, now) {
            if let Some(F) = values.dynamics.transmitted(&model.system, fed.body) {
                self.joints.push(FedJoint {
                    body: fed.body,
                    rate: fed.rate,
                    axes: fed.axes,
                    F,
                });
            }
        }
    }

    /// Propagates the adjoints of the solution to coordinates, rates and loads: sweeps the
    /// operations that follow the loads, those of the loads, and computes the adjoints
    /// [`q_bar`](Self::q_bar), [`qd_bar`](Self::qd_bar). Overwrites accelerations of `values`.
    /// `now` is the instant of the spacecraft.
    pub fn sweep(&mut self, model: &Model, now: &Instant<f64>, values: &mut FeedForward<f64>, tape: &mut Tape) {
        let (system, derived) = (&model.system, feed_forward::constants(now));
        let FeedForward {
            kinematics,
            dynamics,
            q,
            qd,
            ..
        } = values;
        let at = Configuration {
            system,
            derived,
            kinematics,
        };
        tape.sweep(self.loads[1]);
        self.read(at, tape);
        self.held.clear();
        for of in &self.attitudes {
            self.held.push(HeldAttitude {
                body: of.body,
                moment_bar: self.moment_bar(at, of, tape),
                sigma: Vec3::zeros(),
            });
        }
        self.tree.accelerations(at, &self.gradients, &self.direct);
        self.tree
            .respond_with_held(at, dynamics, &mut self.held, &mut self.gradients);
        self.seed_loads(at, tape);
        tape.sweep(self.loads[0]);
        self.read(at, tape);
        for (of, held) in self.attitudes.iter().zip(&self.held) {
            let R_WB = &at.kinematics.bodies[of.body].R_WB;
            seed(tape, of.wd.as_slice(), R_WB.tr_mul(&held.sigma).as_slice());
            let gradient = &mut self.gradients[of.body];
            gradient.acceleration.t -= held.sigma;
            let wd = R_WB * of.wd.map(Recorded::value);
            gradient.pose.t += wd.cross(&held.sigma) + held.moment_bar.cross(&of.moment);
        }
        self.q_bar.fill(0.0);
        self.qd_bar.fill(0.0);
        let mut bars = JointAdjoints {
            q: &mut self.q_bar,
            qd: &mut self.qd_bar,
        };
        let rigid = Instant {
            kinematics,
            q,
            qd,
            derived,
            ..*now
        };
        for gravity in &model.elements.gravity {
            let seeds = GravitySeeds {
                of_wrench: |body: usize| self.tree.of_wrench(body),
                lambda: self.tree.lambda(),
                of_power: 0.0,
                of_energy: 0.0,
            };
            self.gravity.add(gravity, &rigid, seeds, &mut self.gradients, &mut bars);
        }
        let partials = Partials {
            bodies: &self.gradients,
            columns: &self.columns,
        };
        let joints = JointState { q, qd };
        self.tree.coordinates(at, partials, joints, &self.qdd, &mut bars);
        self.variables
            .add_points(at.mechanism(), kinematics, tape, joints, &mut bars);
        for (k, (&body, fill)) in system.propellant.iter().zip(&self.fills).enumerate() {
            tape.seed(*fill, self.tree.of_fill(at, body) + self.gravity.of_fill(k));
        }
    }

    /// Adds the adjoints of coordinates and rates to those of the record, after
    /// [`sweep`](Self::sweep).
    pub fn seed_state(&self, tape: &mut Tape) {
        seed(tape, &self.q, &self.q_bar);
        seed(tape, &self.qd, &self.qd_bar);
    }

    /// Returns the adjoint of the corrected rates of a free-floating base, after
    /// [`sweep`](Self::sweep).
    pub fn rates_bar(&self, number: usize, v: usize, tape: &Tape) -> [f64; 6] {
        [0, 1, 2, 3, 4, 5].map(|i| self.qd_bar[v + i] + tape.adjoint(self.rates + 6 * number + i))
    }

    /// Returns the adjoint of the moment of an attitude servo, world axes.
    fn moment_bar(&self, at: Configuration<f64>, of: &Attitude, tape: &Tape) -> Vec3<f64> {
        at.kinematics.bodies[of.body].R_WB * vector_of(tape, self.torques + of.rate)
    }

    /// Reads the derivatives with respect to bodies and columns; adds those of the torques of
    /// joints.
    fn read(&mut self, at: Configuration<f64>, tape: &Tape) {
        self.variables
            .read(at.system, at.kinematics, tape, &mut self.gradients, &mut self.columns);
        self.direct.fill(0.0);
        for joint in &self.joints {
            for v in joint.rate..joint.rate + joint.axes {
                let (bar, H) = (tape.adjoint(self.torques + v), &at.kinematics.H[v]);
                let reaction = &mut self.gradients[joint.body].reaction;
                *reaction = *reaction + *H * bar;
                self.columns[v] = self.columns[v] + joint.F * bar;
                self.direct[v] = at.derived.rotor_inertia[v] * bar;
            }
        }
    }

    /// Seeds the recorded loads and prescribed motions with their adjoints.
    fn seed_loads(&mut self, at: Configuration<f64>, tape: &mut Tape) {
        let Applied {
            wrench,
            stations,
            tau,
            driven,
            qdd,
            ..
        } = &self.applied;
        for (i, F) in wrench.iter().enumerate() {
            seed(tape, &F.to_array(), &self.tree.of_wrench(i).to_array());
        }
        seed_stations(tape, &mut self.tree, at, stations);
        seed(tape, tau, self.tree.lambda());
        for joint in &self.joints {
            for v in joint.rate..joint.rate + joint.axes {
                let bar = tape.adjoint(self.torques + v);
                tape.seed(tau[v], -bar);
            }
        }
        for (i, body) in at.system.bodies.iter().enumerate().filter(|(i, _)| driven[*i]) {
            for v in body.joint.v..body.joint.v + body.joint.nv {
                tape.seed(qdd[v], self.tree.of_driven(at.kinematics, i, v));
            }
        }
    }
}

/// Adds the moment of the attitude servo of a body to the loads of the solution, and returns it in
/// world axes.
pub(super) fn add_moment(values: &mut FeedForward<f64>, body: usize, rate: usize) -> Vec3<f64> {
    let torque = Vec3::from_column_slice(&values.torques[rate..rate + 3]);
    let moment = values.kinematics.bodies[body].R_WB * torque;
    values.applied.wrench[body].t += moment;
    moment
}
