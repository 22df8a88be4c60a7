use super::{Compiler, Element, Instant};
use crate::algebra::Scalar;
use crate::dynamics::Applied;
use crate::system::{InputKind, Quantity, Unit};

/// Curvature of a beam by a temperature difference across its section.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ThermalBending {
    /// Index of the first segment of the body named in the spec.
    body: usize,
    /// Index of the first of two inputs, rad/m: curvature along y and along z.
    input: usize,
}

impl Element for ThermalBending {
    fn compile(from: &mut Compiler) -> Vec<Self> {
        let mut bent = Vec::new();
        for (name, written) in &from.spec.thermal_bending {
            let is_beam = |body: &crate::system::Body| body.name == written.body && body.beam.is_some();
            let Some(body) = from.system.bodies.iter().position(is_beam) else {
                continue; // reported by the check of the spec
            };
            let input = from.declare.inputs.len();
            for (i, axis) in ["y", "z"].into_iter().enumerate() {
                let what = format!("thermal curvature of {}, unloaded, along its {axis} axis", written.body);
                let quantity = Quantity::new(format!("{name}.curvature[{}]", i + 1), Unit::RadianPerMetre, what);
                let nominal = 1e-3;
                from.declare
                    .input(Quantity { nominal, ..quantity }, 0.0, InputKind::Continuous);
            }
            bent.push(Self { body, input });
        }
        bent
    }

    /// Adds the forces on the modes: the thermal moment `EI κ` does the virtual work
    /// `∫ EI κ δv″ dx` on the deflection `v`, so that the unloaded beam has the curvature `κ`.
    fn add_active<S: Scalar>(&self, now: &Instant<S>, applied: &mut Applied<S>) {
        let curvature = &now.inputs[self.input..self.input + 2];
        for i in now.system.segments(self.body) {
            let (Some(modes), Some(elastic)) = (&now.system.bodies[i].modes, &now.derived.bodies[i].elastic) else {
                continue;
            };
            for (tau, mode) in applied.tau[modes.rates()].iter_mut().zip(&elastic.modes) {
                for (&curvature, of) in curvature.iter().zip(mode.of_curvature) {
                    *tau += curvature * S::lift(of);
                }
            }
        }
    }
}
