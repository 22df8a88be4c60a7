//! Rates of free-floating bases without the vibrations of their spacecraft.

use crate::algebra::{Scalar, Twist, Wrench};
use crate::dynamics::recursive::CompositeBodies;
use crate::spec::JointType;
use crate::system::{Configuration, System};

/// Workspace for the rates of free-floating bases with which the spacecraft with undeformed bodies
/// has the momentum of the flexible one. They are those of the base without its reaction to
/// vibrations.
#[derive(Clone, Debug)]
pub(super) struct BaseRates<S: Scalar> {
    /// Free roots of trees with flexible bodies and without other free joints, and the momenta of
    /// these trees about the bases' origins.
    bases: Vec<(usize, Wrench<S>)>,
    composite: CompositeBodies<S>,
}

impl<S: Scalar> BaseRates<S> {
    /// Allocates the workspace; `None` if no spacecraft on a free-floating base is flexible.
    pub fn new(system: &System) -> Option<Self> {
        let composite = CompositeBodies::new(system);
        let bodies = &system.bodies;
        let is_of = |base: usize, rate: usize| composite.roots[rate] == base;
        let bases = (0..bodies.len()).filter(|&base| {
            let mut modes = bodies.iter().filter_map(|body| body.modes.as_ref());
            let is_flexible = modes.any(|modes| is_of(base, modes.rates().start));
            let free = bodies.iter().filter(|body| body.joint.kind == JointType::Free);
            let mut free = free.filter(|body| is_of(base, body.joint.v));
            is_flexible && free.next().is_some_and(|body| body.parent.is_none()) && free.next().is_none()
        });
        let bases: Vec<_> = bases.map(|base| (base, Wrench::zero())).collect();
        (!bases.is_empty()).then_some(Self { bases, composite })
    }

    /// Corrects the bases' rates `qd` of the spacecraft `rigid` with undeformed bodies, which are
    /// those of the `flexible` spacecraft at first: `I⁻¹ (h − h_rigid)` with the composite inertia
    /// `I` and the momenta `h`.
    pub fn correct(&mut self, flexible: (Configuration<S>, &[S]), rigid: Configuration<S>, qd: &mut [S]) {
        let (at, rates) = flexible;
        self.composite.update(at.system, at.derived, at.kinematics);
        for (base, momentum) in &mut self.bases {
            *momentum = momentum_of(&self.composite, *base, rates);
        }
        self.composite.update(rigid.system, rigid.derived, rigid.kinematics);
        for (base, momentum) in &self.bases {
            let off = *momentum - momentum_of(&self.composite, *base, qd);
            // The dynamics report a spacecraft without inertia.
            let Ok(inertia) = self.composite.inertia(*base).factor() else {
                continue;
            };
            let change = inertia.solve(&off);
            let v = rigid.system.bodies[*base].joint.v;
            for (H, rate) in rigid.kinematics.H[v..v + 6].iter().zip(&mut qd[v..v + 6]) {
                *rate += H.w.dot(&change.w) + H.v.dot(&change.v);
            }
        }
    }

    /// Returns the bodies of the bases.
    pub fn bases(&self) -> impl Iterator<Item = usize> {
        self.bases.iter().map(|(base, _)| *base)
    }
}

impl BaseRates<f64> {
    /// Returns the adjoint of the difference of the momenta of base number `k`, a twist, from that of
    /// its rates after [`correct`](Self::correct).
    pub fn momentum_bar(&self, k: usize, H: &[Twist<f64>], rates_bar: [f64; 6]) -> Twist<f64> {
        let columns = H.iter().zip(rates_bar);
        let F = columns.fold(Wrench::zero(), |F, (H, bar)| F + Wrench::new(H.w, H.v) * bar);
        let inertia = self.composite.inertia(self.bases[k].0).factor();
        inertia.map_or_else(|_| Twist::zero(), |inertia| inertia.solve(&F))
    }
}

/// Returns the momentum of the tree of a base about the origin of the base, world axes.
fn momentum_of<S: Scalar>(composite: &CompositeBodies<S>, base: usize, rates: &[S]) -> Wrench<S> {
    let own = composite.roots.iter().zip(&composite.momenta).zip(rates);
    let own = own.filter(|((root, _), _)| **root == base);
    own.fold(Wrench::zero(), |sum, ((_, momentum), &rate)| sum + *momentum * rate)
}
