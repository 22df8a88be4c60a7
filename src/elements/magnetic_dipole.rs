use super::{Compiler, Cursor, Element, Instant, Outputs, Reads, View};
use crate::algebra::{Scalar, Vec3, Wrench};
use crate::dynamics::Applied;
use crate::spec::Spec;
use crate::system::{FrameRef, InputKind, Quantity, System, Unit};

/// Magnetic dipole with its moment as input, in the field of the central body.
#[derive(Clone, Debug)]
pub(crate) struct MagneticDipole {
    name: String,
    at: FrameRef,
    /// Index of the first of three inputs, A·m², frame axes.
    input: usize,
}

impl Element for MagneticDipole {
    fn compile(from: &mut Compiler) -> Vec<Self> {
        let mut dipoles = Vec::new();
        for (name, written) in &from.spec.magnetic_dipole {
            let Some(at) = from.frame(["magnetic_dipole", name, "frame"], &written.frame) else {
                continue;
            };
            let input = from.declare.inputs.len();
            let what = format!("magnetic moment on {}, its axes", written.frame);
            for quantity in Quantity::vector(&format!("{name}.m"), Unit::AmpereMetre2, &what) {
                from.declare.input(quantity, 0.0, InputKind::Continuous);
            }
            dipoles.push(Self {
                name: name.clone(),
                at,
                input,
            });
        }
        dipoles
    }

    fn outputs(&self, _: &Spec, _: &System, to: &mut Outputs) {
        let name = &self.name;
        let what = format!("magnetic flux density at {name}, axes of its frame");
        let field = Quantity::vector(&format!("{name}.B"), Unit::Tesla, &what);
        to.continuous(field.map(|quantity| Quantity {
            nominal: 1e-5,
            ..quantity
        }));
    }

    fn observe<S: Scalar>(&self, view: &View<S>, y: &mut Cursor<S>) {
        let now = &view.now;
        let R_WF = now.kinematics.arm(now.system, now.derived, self.at).R;
        y.vector(&R_WF.tr_mul(&self.field(now)));
    }

    fn reads(&self) -> Reads {
        Reads::MOTION
    }

    fn works_on_bodies(&self) -> bool {
        true
    }

    /// Adds the torque `m × B`.
    fn add_active<S: Scalar>(&self, now: &Instant<S>, applied: &mut Applied<S>) {
        let (system, kinematics) = (now.system, now.kinematics);
        let R_WF = kinematics.arm(system, now.derived, self.at).R;
        let u = &now.inputs[self.input..];
        let m = R_WF * Vec3::new(u[0], u[1], u[2]);
        let torque = Wrench::new(m.cross(&self.field(now)), Vec3::zeros());
        applied.push(system, kinematics, system.carrier(self.at), torque);
    }
}

impl MagneticDipole {
    /// Returns the magnetic flux density at the frame's origin, T, world axes.
    fn field<S: Scalar>(&self, now: &Instant<S>) -> Vec3<S> {
        let orbit = now.orbit.and_then(|orbit| Some((orbit, orbit.sky.as_ref()?)));
        let Some((orbit, sky)) = orbit else {
            return Vec3::zeros();
        };
        sky.magnetic_field(&(orbit.R + now.configuration().pose(self.at).p))
    }
}
