//! Outputs of beams with modes.

use super::{Compiler, Cursor, Element, Invariance, Outputs, View};
use crate::algebra::{Quaternion, Scalar, Vec3, lift3, lift33, log};
use crate::spec::{JointType, Spec};
use crate::system::{Elastic, Quantity, System, Unit};

/// Beam with modes: deflection of its tip, load at its root, strain energy.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Beam {
    /// Index of its first segment.
    body: usize,
}

impl Element for Beam {
    fn compile(from: &mut Compiler) -> Vec<Self> {
        let bodies = from.system.bodies.iter().enumerate();
        let first = bodies.filter(|(_, body)| body.beam.is_some() && body.segment == 0);
        first.map(|(body, _)| Self { body }).collect()
    }

    fn outputs(&self, _: &Spec, system: &System, to: &mut Outputs) {
        let body = &system.bodies[self.body];
        let name = &body.name;
        let mut vector = |field: &str, unit, what: String| {
            to.invariant(
                Invariance::Galilean,
                Quantity::vector(&format!("{name}.{field}"), unit, &what),
            );
        };
        let what = format!("deflection of {name}'s tip, body axes");
        vector("tip_deflection", Unit::Metre, what);
        let what = format!("slopes and twist of {name}'s tip, body axes");
        vector("tip_slope", Unit::Radian, what);
        if body.joint.kind != JointType::Free {
            let what = format!("force on {name} through its joint, beam axes: axial force, shear forces");
            vector("root_force", Unit::Newton, what);
            let what =
                format!("moment on {name} through its joint, about the beam's root, beam axes: torsion, bending");
            vector("root_moment", Unit::NewtonMetre, what);
        }
        let what = format!("strain energy of {name}");
        to.continuous([Quantity::new(format!("{name}.elastic_energy"), Unit::Joule, what)]);
    }

    fn observe<S: Scalar>(&self, view: &View<S>, y: &mut Cursor<S>) {
        let now = &view.now;
        let (system, constants) = (now.system, &now.derived.bodies[self.body]);
        let Some(elastic) = &constants.elastic else { return };
        let segments = system.segments(self.body);
        let modal = || {
            segments
                .clone()
                .filter_map(|i| Some((i, system.bodies[i].modes.as_ref()?)))
        };
        let tips = || {
            modal().filter_map(|(i, modes)| Some((i, &now.derived.stations[modes.tip?], &now.q[modes.coordinates()])))
        };
        match (tips().next(), tips().next_back()) {
            (Some((_, tip, eta)), _) if segments.len() == 1 => {
                y.vector(&(tip.place(eta) - lift3::<S>(&tip.written)));
                y.vector(&tip.turn(eta));
            }
            (_, Some((last, tip, eta))) => {
                let r = now.kinematics.bodies[last].R_WB * tip.place(eta);
                y.vector(&displacement(view, last, r, &lift3(&tip.written)));
                let turns = tips().map(|(_, tip, eta)| tip.attitude(eta));
                y.vector(&log(turns.fold(Quaternion::identity(), |q, turn| q * turn)));
            }
            _ => {}
        }
        write_root_load(view, self.body, elastic, y);
        y.number(modal().fold(S::zero(), |sum, (i, modes)| {
            let elastic = now.derived.bodies[i].elastic.as_ref();
            sum + elastic.map_or_else(S::zero, |elastic| elastic.strain_energy(&now.q[modes.coordinates()]))
        }));
    }
}

/// Writes force and moment of the joint on a flexible body, about its root, in the root's axes;
/// nothing for a free body.
pub(super) fn write_root_load<S: Scalar>(
    view: &View<S>,
    body: usize,
    elastic: &Elastic<S::Constant>,
    y: &mut Cursor<S>,
) {
    if view.is_free(body) {
        return;
    }
    let R_WB = &view.now.kinematics.bodies[body].R_WB;
    let F = view.transmitted(body);
    let (t, f) = (R_WB.tr_mul(&F.t), R_WB.tr_mul(&F.f));
    let (r, R_BR) = (lift3::<S>(&elastic.root), lift33::<S>(&elastic.axes));
    y.vector(&R_BR.tr_mul(&f));
    y.vector(&R_BR.tr_mul(&(t - r.cross(&f))));
}

/// Returns the displacement (m) of a point from its undeformed position, in axes of the body of the
/// spec.
///
/// `r` (m, world axes) points from the origin of `body`, which may be a segment, to the displaced
/// point; `rest` (m, axes of the body of the spec) from the origin of that body to the undeformed
/// position.
pub(super) fn displacement<S: Scalar>(view: &View<S>, mut body: usize, mut r: Vec3<S>, rest: &Vec3<S>) -> Vec3<S> {
    let (system, kinematics) = (view.now.system, view.now.kinematics);
    while let (1.., Some(inner), Some(parent)) = (
        system.bodies[body].segment,
        system.bodies[body].station,
        system.bodies[body].parent,
    ) {
        r += kinematics.stations[inner].r_PB_W;
        body = parent;
    }
    kinematics.bodies[body].R_WB.tr_mul(&r) - rest
}
