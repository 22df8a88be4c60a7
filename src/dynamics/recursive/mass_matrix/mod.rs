mod adjoint;

pub use adjoint::CompositeAdjoint;

use super::inertia_and_bias;
use super::modal::Modal;
use crate::algebra::{ArticulatedInertia, Scalar, Twist, Wrench};
use crate::system::{Derived, Kinematics, System};
use nalgebra::DMatrix;

/// Composite-rigid-body algorithm (Featherstone 2008, table 6.2) with flexible bodies: the mass
/// matrix, and the momentum due to each rate.
#[derive(Clone, Debug)]
pub struct CompositeBodies<S: Scalar> {
    /// Momentum due to each unit rate, about the origin of the root body of its tree, world axes.
    pub momenta: Vec<Wrench<S>>,
    /// Root body of the tree of each rate.
    pub roots: Vec<usize>,
    composite: Vec<ArticulatedInertia<S>>,
    modal: Vec<Modal<S>>,
}

impl<S: Scalar> CompositeBodies<S> {
    /// Allocates for `system`.
    pub fn new(system: &System) -> Self {
        Self {
            momenta: vec![Wrench::zero(); system.nv],
            roots: system.rate_roots(),
            composite: vec![ArticulatedInertia::zero(); system.bodies.len()],
            modal: Modal::of(system),
        }
    }

    /// Computes [`momenta`](Self::momenta), and the mass matrix `M` of the rates (`nv × nv`),
    /// `T = ½ q̇ᵀ M q̇`. `M` includes rotor inertias, the momenta do not. Entries of ANCF beams are
    /// zero.
    pub fn solve(&mut self, system: &System, derived: &Derived<S::Constant>, kinematics: &Kinematics<S>, M: &mut [S]) {
        let nv = system.nv;
        M.fill(S::zero());
        self.passes(system, derived, kinematics, |u, v, element| {
            (M[u * nv + v], M[v * nv + u]) = (element, element);
        });
        for (v, &inertia) in derived.rotor_inertia.iter().enumerate() {
            M[v * nv + v] += S::lift(inertia);
        }
    }

    /// Computes [`momenta`](Self::momenta) and [`inertia`](Self::inertia) alone.
    pub fn update(&mut self, system: &System, derived: &Derived<S::Constant>, kinematics: &Kinematics<S>) {
        self.passes(system, derived, kinematics, |_, _, _| {});
    }

    /// Returns the inertia of a body with its outboard part about its origin, world axes.
    pub fn inertia(&self, body: usize) -> &ArticulatedInertia<S> {
        &self.composite[body]
    }

    /// Computes momenta and inertias, and passes the elements of the mass matrix to `set`.
    fn passes(
        &mut self,
        system: &System,
        derived: &Derived<S::Constant>,
        kinematics: &Kinematics<S>,
        mut set: impl FnMut(usize, usize, S),
    ) {
        let composite = &mut self.composite;
        for (i, composite) in composite.iter_mut().enumerate() {
            *composite = inertia_and_bias(system, derived, kinematics, i).0;
        }
        for (modal, bent) in self.modal.iter_mut().zip(&kinematics.deflections) {
            modal.begin(bent, &Twist::zero());
        }
        for (i, body) in system.bodies.iter().enumerate().rev() {
            let own = body.joint.v..body.joint.v + body.joint.nv;
            for v in own.clone() {
                let F = composite[i].times(&kinematics.H[v]);
                self.momenta[v] = carry(system, kinematics, i, F, |u, element| set(u, v, element));
            }
            if let Some(modes) = &body.modes {
                let modal = &self.modal[modes.index];
                for (v, L) in modes.rates().zip(&modal.L) {
                    self.momenta[v] = carry(system, kinematics, i, *L, |u, element| set(u, v, element));
                }
                for (k, u) in modes.rates().enumerate() {
                    for (l, v) in modes.rates().enumerate().take(k + 1) {
                        set(u, v, modal.M[k * modes.n + l]);
                    }
                }
            }
            if let Some(parent) = body.parent {
                let mut I = composite[i].shift(&kinematics.bodies[i].r_PB_W);
                if let (Some(s), Some(modes)) = (body.station, &system.bodies[parent].modes) {
                    let modal = &mut self.modal[modes.index];
                    (I, _) = modal.attach(system, kinematics, s, &I, &Wrench::zero());
                }
                composite[parent] += &I;
            }
        }
    }
}

/// Propagates the wrench `F` on body `i` to its root; calls `set` with each rate on the way, the
/// body's own included, and the power of the wrench there on that unit rate. Returns the wrench
/// about the root's origin.
fn carry<S: Scalar>(
    system: &System,
    kinematics: &Kinematics<S>,
    i: usize,
    mut F: Wrench<S>,
    mut set: impl FnMut(usize, S),
) -> Wrench<S> {
    let mut inboard = i;
    loop {
        let body = &system.bodies[inboard];
        for u in body.joint.v..body.joint.v + body.joint.nv {
            set(u, F.power(&kinematics.H[u]));
        }
        let Some(parent) = body.parent else { return F };
        F = F.shift(&kinematics.bodies[inboard].r_PB_W);
        if let (Some(s), Some(modes)) = (body.station, &system.bodies[parent].modes) {
            for (u, T) in modes.rates().zip(&kinematics.T[system.stations[s].first..]) {
                set(u, F.power(T));
            }
            F = F.shift(&kinematics.stations[s].r_PB_W);
        }
        inboard = parent;
    }
}

/// Returns the mass matrix of [`CompositeBodies::solve`].
pub fn mass_matrix<S: Scalar>(
    system: &System,
    derived: &Derived<S::Constant>,
    kinematics: &Kinematics<S>,
) -> DMatrix<S> {
    let mut M = DMatrix::zeros(system.nv, system.nv);
    CompositeBodies::new(system).solve(system, derived, kinematics, M.as_mut_slice());
    M
}
