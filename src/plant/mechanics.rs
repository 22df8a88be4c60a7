//! The mechanics in rates: mass matrix, momentum, Jacobians, inverse dynamics.

use super::evaluation::joint_coordinates;
use super::{Model, OperatingPoint, Plant};
use crate::Error;
use crate::algebra::{Pose, Twist};
use crate::dynamics::Applied;
use crate::dynamics::invariants::Invariants;
use crate::dynamics::recursive::{CompositeBodies, InverseDynamics, frame_columns};
use crate::spec::JointType;
use crate::system::{FrameRef, Quantity};
use nalgebra::{Matrix6, Vector6};

/// Matrices and forces of the equations of motion `M(q) v̇ + c(q, v) = τ` of the trees, in the
/// rates `v` of joints and modes ([`Model::joint_rates`]).
///
/// Forces of closed loops, captures, drives and brakes are outside these equations. Matrices are
/// row-major. Motions and wrenches are angular first, in world axes. The workspace is allocated
/// once, here; an evaluation does not allocate.
#[derive(Clone, Debug)]
pub struct Mechanics {
    composite: CompositeBodies<f64>,
    inverse: InverseDynamics<f64>,
    unloaded: Applied<f64>,
    columns: Vec<Twist<f64>>,
    matrix: Vec<f64>,
}

/// Pose and motion of a frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FrameMotion {
    /// Pose in the world.
    pub X_WF: Pose<f64>,
    /// Angular velocity and velocity of the origin, world axes.
    pub V_WF: Twist<f64>,
}

impl Model {
    /// Returns the rates of joints and modes. They are states, except in maximal
    /// coordinates.
    pub fn joint_rates(&self) -> Vec<Quantity> {
        self.system.states().split_off(self.system.nq)
    }
}

impl Mechanics {
    /// Allocates the workspace for a model; `None` for a model with ANCF beams, whose coordinates
    /// are not in the trees.
    pub fn new(model: &Model) -> Option<Self> {
        let system = &model.system;
        system.nodal.is_empty().then(|| Self {
            composite: CompositeBodies::new(system),
            inverse: InverseDynamics::new(system),
            unloaded: Applied::none(system),
            columns: vec![Twist::zero(); system.nv],
            matrix: vec![0.0; system.nv * system.nv],
        })
    }

    /// Computes the mass matrix `M` (`nv × nv`), rotor inertias included, at the states `x`.
    pub fn mass_matrix(&mut self, plant: &mut Plant, x: &[f64], M: &mut [f64]) {
        let of = plant.base.constants();
        plant.evaluation.update_kinematics(of, x);
        let kinematics = &plant.evaluation.kinematics;
        self.composite.solve(&of.model.system, of.derived, kinematics, M);
    }

    /// Computes the centroidal momentum matrix `A` (`6 × nv`) at the states `x`: `A v` is the
    /// angular momentum about the mass centre of the whole system, kg·m²/s, and the linear
    /// momentum, kg·m/s. Rotor inertias are not included.
    pub fn momentum_matrix(&mut self, plant: &mut Plant, x: &[f64], A: &mut [f64]) {
        let centre = plant.invariants(x).mass_centre;
        self.update_momenta(plant);
        let (system, bodies) = (&plant.base.model.system, &plant.evaluation.kinematics.bodies);
        let CompositeBodies { roots, momenta, .. } = &self.composite;
        for (v, (&root, momentum)) in roots.iter().zip(momenta).enumerate() {
            let r = bodies[root].p_WB - centre;
            write_column(A, system.nv, v, &momentum.shift(&r).to_array());
        }
    }

    /// Returns the pose and the motion of a frame at the states `x`.
    pub fn frame(&self, plant: &mut Plant, x: &[f64], frame: FrameRef) -> FrameMotion {
        plant.evaluation.update_kinematics(plant.base.constants(), x);
        let (of, kinematics) = (plant.base.constants(), &plant.evaluation.kinematics);
        let carrier = kinematics.carrier(of.model.system.carrier(frame));
        let at = of.at(kinematics);
        FrameMotion {
            X_WF: at.pose(frame),
            V_WF: carrier.V_WB.shift(&at.arm(frame).p),
        }
    }

    /// Computes the Jacobian `J` (`6 × nv`) of a frame at the states `x`: its motion is `V = J v`.
    pub fn frame_jacobian(&mut self, plant: &mut Plant, x: &[f64], frame: FrameRef, J: &mut [f64]) {
        plant.evaluation.update_kinematics(plant.base.constants(), x);
        self.update_columns(plant, frame);
        for (v, column) in self.columns.iter().enumerate() {
            write_column(J, self.columns.len(), v, &column.to_array());
        }
    }

    /// Computes the generalised Jacobian `J*` (`6 × (nv − 6)`) of a frame of a free-floating tree
    /// at the states `x`: `V = J* v_m` if the momentum of the tree is zero, for the rates `v_m`
    /// without the six of the root's free joint (Y. Umetani and K. Yoshida, *IEEE Trans. Robotics
    /// and Automation* 5 (1989) 303–314),
    ///
    /// ```text
    ///     J* = J_m − J_b A_b⁻¹ A_m
    /// ```
    ///
    /// with the columns of the base and of the others of `J` and of the momentum matrix `A`.
    /// Returns the index of the first rate of the base; `None` if the tree of the frame does not
    /// float freely.
    pub fn generalised_jacobian(
        &mut self,
        plant: &mut Plant,
        x: &[f64],
        frame: FrameRef,
        J: &mut [f64],
    ) -> Option<usize> {
        let base = plant.free_base(frame)?;
        plant.evaluation.update_kinematics(plant.base.constants(), x);
        self.update_columns(plant, frame);
        self.update_momenta(plant);
        let of_base = |k: usize| base + k;
        let A_b = Matrix6::from_fn(|row, k| self.composite.momenta[of_base(k)].to_array()[row]);
        let J_b = Matrix6::from_fn(|row, k| self.columns[of_base(k)].to_array()[row]);
        let A_b = A_b.lu();
        let system = &plant.base.model.system;
        for v in (0..system.nv).filter(|v| !(base..base + 6).contains(v)) {
            let to = if v < base { v } else { v - 6 };
            let mut column = [0.0; 6];
            if system.bodies[self.composite.roots[v]].joint.v == base {
                let momentum = Vector6::from(self.composite.momenta[v].to_array());
                let reaction = A_b.solve(&momentum).unwrap_or_else(|| Vector6::repeat(f64::NAN));
                column = (Vector6::from(self.columns[v].to_array()) - J_b * reaction).into();
            }
            write_column(J, system.nv - 6, to, &column);
        }
        Some(base)
    }

    /// Computes the generalised forces `tau` (`nv`, N·m or N) that lead to the derivatives
    /// `v_dot` of the rates, in addition to all loads at an operating point: `M v̇ + c − τ_loads`.
    ///
    /// # Errors
    /// Those of a feed-forward.
    pub fn inverse_dynamics(
        &mut self,
        plant: &mut Plant,
        at: OperatingPoint,
        v_dot: &[f64],
        tau: &mut [f64],
    ) -> Result<(), Error> {
        let of = plant.base.constants();
        plant.evaluation.read_inputs(of, at.t, at.u, at.x, at.discrete);
        plant.evaluation.load_at(of, at.x, at.discrete)?;
        let (kinematics, applied) = (&plant.evaluation.kinematics, &plant.evaluation.applied);
        self.inverse.solve(of.at(kinematics), applied, v_dot, tau);
        tau.iter_mut().zip(&applied.tau).for_each(|(tau, load)| *tau -= load);
        Ok(())
    }

    /// Computes the gyroscopic, Coriolis and centrifugal forces `c` (`nv`, N·m or N) at the states
    /// `x`: the generalised forces that constant rates require without loads.
    pub fn gyroscopic_forces(&mut self, plant: &mut Plant, x: &[f64], c: &mut [f64]) {
        let of = plant.base.constants();
        plant.evaluation.update_kinematics(of, x);
        let at = of.at(&plant.evaluation.kinematics);
        let (at_rest, _) = self.matrix.split_at_mut(c.len());
        at_rest.fill(0.0);
        self.inverse.solve(at, &self.unloaded, at_rest, c);
    }

    /// Updates the momenta of the unit rates at the present kinematics.
    fn update_momenta(&mut self, plant: &Plant) {
        let of = plant.base.constants();
        let kinematics = &plant.evaluation.kinematics;
        self.composite.update(&of.model.system, of.derived, kinematics);
    }

    /// Updates the motions of a frame for the unit rates at the present kinematics.
    fn update_columns(&mut self, plant: &Plant, frame: FrameRef) {
        let at = plant.base.constants().at(&plant.evaluation.kinematics);
        frame_columns(at, frame, &mut self.columns);
    }
}

impl Plant {
    /// Returns momenta, mass centre and kinetic energy at the states `x`.
    pub fn invariants(&mut self, x: &[f64]) -> Invariants<f64> {
        let of = self.base.constants();
        let evaluation = &mut self.evaluation;
        evaluation.update_kinematics(of, x);
        let recovered = evaluation.recovered.as_deref();
        let directors = recovered.and_then(|recovered| recovered.directors_rates.as_deref());
        let joints = joint_coordinates(recovered, &of.model.split(x));
        Invariants::new(of.at(&evaluation.kinematics), joints, directors)
    }

    /// Returns the potential energy at an operating point, J: of springs, stops, compliant
    /// contacts, uniform gravity and elastic deflections.
    pub fn potential_energy(&mut self, at: OperatingPoint) -> f64 {
        let of = self.base.constants();
        let evaluation = &mut self.evaluation;
        evaluation.read_inputs(of, at.t, at.u, at.x, at.discrete);
        evaluation.update_kinematics(of, at.x);
        let joints = joint_coordinates(evaluation.recovered.as_deref(), &of.model.split(at.x));
        let now = evaluation.instant(of, joints, at.discrete);
        of.model.elements.potential_energy(&now)
    }

    /// Returns the index of the first rate of the free joint at the root of a frame's tree; `None`
    /// if the tree is attached to the world otherwise, and for the world.
    pub fn free_base(&self, frame: FrameRef) -> Option<usize> {
        let system = &self.base.model.system;
        let joint = &system.bodies[system.root(system.carrying_body(frame)?)].joint;
        (joint.kind == JointType::Free).then_some(joint.v)
    }
}

/// Writes column `v` of a matrix with six rows and `n` columns.
fn write_column(to: &mut [f64], n: usize, v: usize, column: &[f64; 6]) {
    for (row, value) in column.iter().enumerate() {
        to[row * n + v] = *value;
    }
}
