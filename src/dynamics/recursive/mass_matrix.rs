use super::inertia_and_bias;
use super::modal::Modal;
use crate::algebra::{ArticulatedInertia, Scalar, Twist, Wrench};
use crate::system::{Derived, Kinematics, System};
use nalgebra::DMatrix;

/// Returns the mass matrix `M` of the rates, `T = ½ q̇ᵀ M q̇`, including rotor inertias, by the
/// composite-rigid-body algorithm (Featherstone 2008, table 6.2). Entries of ANCF beams are zero.
pub fn mass_matrix<S: Scalar>(system: &System, derived: &Derived, kinematics: &Kinematics<S>) -> DMatrix<S> {
    let mut M = DMatrix::zeros(system.nv, system.nv);
    let mut composite: Vec<ArticulatedInertia<S>> = (0..system.bodies.len())
        .map(|i| inertia_and_bias(system, derived, kinematics, i).0)
        .collect();
    let mut modal = Modal::of(system);
    for (modal, bent) in modal.iter_mut().zip(&kinematics.deflections) {
        modal.begin(bent, &Twist::zero());
    }
    for (i, body) in system.bodies.iter().enumerate().rev() {
        let own = body.joint.v..body.joint.v + body.joint.nv;
        // Writes the entries of the rate `v` of this body: the wrench `F` for its unit
        // acceleration, propagated to all ancestors.
        let mut carry = |v: usize, mut F: Wrench<S>| {
            for u in own.clone() {
                let element = F.power(&kinematics.H[u]);
                (M[(u, v)], M[(v, u)]) = (element, element);
            }
            let mut inboard = i;
            while let Some(parent) = system.bodies[inboard].parent {
                F = F.shift(&kinematics.bodies[inboard].r_PB_W);
                let station = system.bodies[inboard].station;
                inboard = parent;
                if let (Some(s), Some(modes)) = (station, &system.bodies[parent].modes) {
                    for (u, T) in modes.rates().zip(&kinematics.T[system.stations[s].first..]) {
                        let element = F.power(T);
                        (M[(u, v)], M[(v, u)]) = (element, element);
                    }
                    F = F.shift(&kinematics.stations[s].r_PB_W);
                }
                let joint = &system.bodies[inboard].joint;
                for u in joint.v..joint.v + joint.nv {
                    let element = F.power(&kinematics.H[u]);
                    (M[(u, v)], M[(v, u)]) = (element, element);
                }
            }
        };
        for v in own.clone() {
            carry(v, composite[i].times(&kinematics.H[v]));
        }
        if let Some(modes) = &body.modes {
            let modal = &modal[modes.index];
            for (v, L) in modes.rates().zip(&modal.L) {
                carry(v, *L);
            }
            for (k, u) in modes.rates().enumerate() {
                for (l, v) in modes.rates().enumerate().take(k + 1) {
                    let element = modal.M[k * modes.n + l];
                    (M[(u, v)], M[(v, u)]) = (element, element);
                }
            }
        }
        for v in own.clone() {
            M[(v, v)] += S::lift(derived.rotor_inertia[v]);
        }
        if let Some(parent) = body.parent {
            let mut I = composite[i].shift(&kinematics.bodies[i].r_PB_W);
            if let (Some(s), Some(modes)) = (body.station, &system.bodies[parent].modes) {
                let modal = &mut modal[modes.index];
                (I, _) = modal.attach(system, kinematics, s, &I, &Wrench::zero());
            }
            composite[parent] += &I;
        }
    }
    M
}
