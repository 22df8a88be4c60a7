use super::rigid_body;
use crate::algebra::{ArticulatedInertia, Scalar};
use crate::system::{Derived, Kinematics, System};
use nalgebra::DMatrix;

/// The mass matrix over the rates, `T = ½ q̇ᵀ M q̇`, rotor inertias included: the composite-rigid-body
/// algorithm (Featherstone 2008, table 6.2).
pub fn mass_matrix<S: Scalar>(system: &System, derived: &Derived, kinematics: &Kinematics<S>) -> DMatrix<S> {
    let mut M = DMatrix::zeros(system.nv, system.nv);
    let mut composite: Vec<ArticulatedInertia<S>> = derived
        .bodies
        .iter()
        .zip(&kinematics.bodies)
        .map(|(body, at)| rigid_body(body, at).0)
        .collect();
    for (i, body) in system.bodies.iter().enumerate().rev() {
        let own = body.joint.v..body.joint.v + body.joint.nv;
        for v in own.clone() {
            // The wrench that moves everything outboard along rate v, carried inwards.
            let mut F = composite[i].times(&kinematics.H[v]);
            for u in own.clone() {
                M[(u, v)] = F.power(&kinematics.H[u]);
            }
            M[(v, v)] += S::lift(derived.rotor_inertia[v]);
            let mut inboard = i;
            while let Some(parent) = system.bodies[inboard].parent {
                F = F.shift(&kinematics.bodies[inboard].r_PB_W);
                inboard = parent;
                let joint = &system.bodies[inboard].joint;
                for u in joint.v..joint.v + joint.nv {
                    let element = F.power(&kinematics.H[u]);
                    M[(u, v)] = element;
                    M[(v, u)] = element;
                }
            }
        }
        if let Some(parent) = body.parent {
            composite[parent] = composite[parent] + composite[i].shift(&kinematics.bodies[i].r_PB_W);
        }
    }
    M
}
