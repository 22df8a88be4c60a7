use super::directional::Directions;
use super::{Component, Fault};
use crate::Error;
use crate::fmu::lifecycle::Mode;
use crate::fmu::registry::{Slot, ValueType};
use crate::plant::{Adjoint, Model, Seeds};

/// Workspace of adjoint derivatives: seeds of the unknowns, adjoints of the knowns.
#[derive(Clone, Debug)]
pub(super) struct Adjoints {
    adjoint: Adjoint,
    seed_dx: Vec<f64>,
    seed_y: Vec<f64>,
    x: Vec<f64>,
    u: Vec<f64>,
    /// Derivatives of the unknowns with respect to one known.
    column: Vec<f64>,
}

impl Adjoints {
    fn new(model: &Model) -> Self {
        let (nx, nu) = (model.states.len(), model.inputs.len());
        Self {
            adjoint: Adjoint::new(model),
            seed_dx: vec![0.0; nx],
            seed_y: vec![0.0; model.outputs.len()],
            x: vec![0.0; nx],
            u: vec![0.0; nu],
            column: Vec::new(),
        }
    }
}

/// Adjoint derivatives (FMI 3.0, §2.2.11).
impl Component {
    /// Computes `Σ seed · ∂(unknown)/∂(known)` for each known, for any number of unknowns and
    /// knowns: `fmi3GetAdjointDerivative`.
    ///
    /// Unknowns, knowns and exactness are those of
    /// [`get_directional_derivative`](Self::get_directional_derivative). Those with respect to
    /// states and inputs are computed together by reverse accumulation, those with respect to
    /// parameters and the time, and all in Initialization Mode, one by one. Seeds of a repeated
    /// unknown are added. The instance is not changed.
    ///
    /// # Errors
    /// As [`get_directional_derivative`](Self::get_directional_derivative).
    pub fn get_adjoint_derivative(
        &mut self,
        unknowns: &[u32],
        knowns: &[u32],
        seeds: &[f64],
        values: &mut [f64],
    ) -> Result<(), Fault> {
        for (&unknown, &seed) in unknowns.iter().zip(seeds) {
            let slot = self.slot_of(unknown, ValueType::Real)?;
            self.check_unknown(slot)?;
            self.check_seed(slot, seed)?;
        }
        for &known in knowns {
            self.check_known(self.slot_of(known, ValueType::Real)?)?;
        }
        self.catch_up()?;
        let mut directions = self.take_directions();
        let taken = self.adjoints.take();
        let mut adjoints = taken.unwrap_or_else(|| Box::new(Adjoints::new(self.model())));
        let outcome = self.accumulate(&mut adjoints, &mut directions, unknowns, knowns, seeds, values);
        (self.adjoints, self.directions) = (Some(adjoints), Some(directions));
        outcome
    }

    fn accumulate(
        &self,
        adjoints: &mut Adjoints,
        directions: &mut Directions,
        unknowns: &[u32],
        knowns: &[u32],
        seeds: &[f64],
        values: &mut [f64],
    ) -> Result<(), Fault> {
        let starting = self.mode == Mode::Initialization;
        let together = |slot: Slot| !starting && matches!(slot, Slot::State(_) | Slot::Input(_));
        let slots = || knowns.iter().filter_map(|&known| self.registry.slot(known));
        if slots().any(together) {
            self.sweep(adjoints, unknowns, seeds)?;
        }
        for ((slot, &known), value) in slots().zip(knowns).zip(&mut *values) {
            *value = match slot {
                Slot::State(i) if together(slot) => adjoints.x[i],
                Slot::Input(i) if together(slot) => adjoints.u[i],
                _ => {
                    let column = &mut adjoints.column;
                    column.resize(unknowns.len(), 0.0);
                    self.differentiate(directions, unknowns, &[known], &[1.0], column)?;
                    column
                        .iter()
                        .zip(seeds)
                        .fold(0.0, |sum, (column, seed)| sum + column * seed)
                }
            };
            if !value.is_finite() {
                let variable = format!("a partial derivative with respect to {}", self.registry.name(slot));
                let t = self.simulation.state.t;
                return Err(self.overreached(Error::NotFinite { variable, t }.to_string()));
            }
        }
        Ok(())
    }

    /// Computes the adjoints of all states and inputs.
    fn sweep(&self, adjoints: &mut Adjoints, unknowns: &[u32], seeds: &[f64]) -> Result<(), Fault> {
        let Adjoints {
            adjoint,
            seed_dx,
            seed_y,
            x,
            u,
            ..
        } = adjoints;
        seed_dx.fill(0.0);
        seed_y.fill(0.0);
        let slots = || unknowns.iter().filter_map(|&unknown| self.registry.slot(unknown));
        for (slot, seed) in slots().zip(seeds) {
            match slot {
                Slot::Derivative(i) => seed_dx[i] += seed,
                Slot::Output(i) => seed_y[i] += seed,
                _ => {}
            }
        }
        let (plant, at) = (&self.simulation.plant, self.simulation.state.point());
        let seeds_of = Seeds { dx: seed_dx, y: seed_y };
        let outcome = adjoint.evaluate(plant, at, seeds_of, x, u);
        outcome.map_err(|error| self.overreached(error.to_string()))?;
        // A state as an unknown is the known itself.
        for (slot, seed) in slots().zip(seeds) {
            if let Slot::State(i) = slot {
                x[i] += seed;
            }
        }
        Ok(())
    }
}
