use super::{Compiler, Cursor, Element, Invariance, Outputs, View};
use crate::algebra::{Scalar, Vec3, Wrench, lift3};
use crate::spec::Spec;
use crate::system::{Quantity, System, Unit};

/// Sloshing liquid of a tank: its wrench on the body that carries it and its mass centre, as outputs.
/// Its point masses are bodies, and what restores and damps them are loads of their joints.
#[derive(Clone, Debug)]
pub(crate) struct Tank {
    /// Name in the spec.
    name: String,
    /// Index of the body that carries it.
    carrier: usize,
    /// Position of its origin, m, from the carrier's origin in the carrier's axes.
    position: Vec3<f64>,
    /// Indices of the bodies of the liquid.
    bodies: Vec<usize>,
}

impl Element for Tank {
    fn compile(from: &mut Compiler) -> Vec<Self> {
        let system = from.system;
        let tank = |(name, written): (&String, &crate::spec::Tank)| {
            let parts = written.parts(name);
            let is_part = |body: &usize| parts.iter().any(|[part, _]| *part == system.bodies[*body].name);
            Some(Self {
                name: name.clone(),
                carrier: system.bodies.iter().position(|body| body.name == written.body)?,
                position: written.position.into(),
                bodies: (0..system.bodies.len()).filter(is_part).collect(),
            })
        };
        from.spec.tank.iter().filter_map(tank).collect()
    }

    fn outputs(&self, spec: &Spec, _: &System, to: &mut Outputs) {
        let (name, carrier) = (&self.name, &spec.tank[&self.name].body);
        let mut vector = |field: &str, unit, invariance, what: String| {
            let what = format!("{what}, axes of {carrier}");
            to.invariant(invariance, Quantity::vector(&format!("{name}.{field}"), unit, &what));
        };
        let force = format!("force of the liquid of tank {name} on {carrier}");
        vector("force", Unit::Newton, Invariance::Galilean, force);
        let moment = format!("moment of the liquid of tank {name} on {carrier}, about the tank's origin");
        vector("moment", Unit::NewtonMetre, Invariance::Galilean, moment);
        let centre = format!("mass centre of the liquid of tank {name}, from the tank's origin");
        vector("mass_centre", Unit::Metre, Invariance::Objective, centre);
    }

    fn observe<S: Scalar>(&self, view: &View<S>, y: &mut Cursor<S>) {
        let now = &view.now;
        let R_WP = now.kinematics.bodies[self.carrier].R_WB;
        let (mut F, mut moment, mut mass) = (Wrench::zero(), Vec3::zeros(), 0.0);
        for &body in &self.bodies {
            let (at, constants) = (&now.kinematics.bodies[body], &now.derived.bodies[body]);
            let r = at.r_PB_W - R_WP * lift3::<S>(&self.position);
            F = F - view.transmitted(body).shift(&r);
            moment += r * S::lift(constants.m) + at.R_WB * lift3::<S>(&constants.h);
            mass += constants.m;
        }
        y.wrench(&F.express(&R_WP.transpose()));
        y.vector(&(R_WP.tr_mul(&moment) * S::lift(1.0 / mass)));
    }
}
