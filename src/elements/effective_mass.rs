use super::{Compiler, Element, Invariance, Outputs};
use crate::spec::{Spec, problem};
use crate::system::{Carrier, FrameRef, Quantity, System, Unit};

/// Effective mass and inertia of the frame of an interface or a port along the frame's axes, as
/// outputs.
///
/// The plant computes the values after the outputs of all other elements, since responses to unit
/// wrenches overwrite the solution of the dynamics. The list of these elements is therefore the
/// last one.
#[derive(Clone, Debug)]
pub(crate) struct EffectiveMass {
    section: &'static str,
    name: String,
    /// Frame that accelerates.
    pub frame: FrameRef,
}

impl EffectiveMass {
    /// Number of outputs: three masses, three inertias.
    pub const OUTPUTS: usize = 6;
}

impl Element for EffectiveMass {
    fn compile(from: &mut Compiler) -> Vec<Self> {
        let Spec { interface, port, .. } = from.spec;
        let interfaces = interface.iter().filter(|(_, of)| of.effective_mass);
        let ports = port.iter().filter(|(_, of)| of.effective_mass);
        let written = (interfaces.map(|(name, of)| ("interface", name, &of.frame)))
            .chain(ports.map(|(name, of)| ("port", name, &of.frame)));
        let mut found = Vec::new();
        for (section, name, frame) in written {
            // The interface or the port itself reports a frame that does not exist.
            let Some(at) = from.system.frame(frame) else {
                continue;
            };
            if from.system.rigid_carrier(at) == Carrier::World {
                let what = format!("\"{frame}\" is fixed to the world: it has no effective mass");
                from.problems.push(problem(section, name, "effective_mass", what));
            }
            found.push(Self {
                section,
                name: name.clone(),
                frame: at,
            });
        }
        found
    }

    fn outputs(&self, spec: &Spec, _: &System, to: &mut Outputs) {
        let Self { section, name, .. } = self;
        // Captures and loops may connect a free body with the world.
        let invariance = Invariance::Objective.when(spec.contact.is_empty() && spec.closed_loop.is_empty());
        let mut vector = |field: &str, unit, what: &str| {
            let what = format!("effective {what} of the frame of {section} {name}, its axes");
            to.invariant(invariance, Quantity::vector(&format!("{name}.{field}"), unit, &what));
        };
        vector("effective_mass", Unit::Kilogram, "mass");
        vector("effective_inertia", Unit::KilogramMetre2, "inertia");
    }
}
