use super::{Component, Fault};
use crate::Error;
use crate::fmu::lifecycle::{Mode, Standard};
use crate::fmu::registry::{Slot, ValueType};
use crate::plant::{Direction, Model, OperatingPoint, Plant, StartAlong, Tangent};

/// Workspace of directional derivatives and of time derivatives: seeds of the knowns, and results
/// for the unknowns.
#[derive(Clone, Debug)]
pub(super) struct Directions {
    pub tangent: Tangent<1>,
    /// Seeds of the model's parameters, states and inputs. In Initialization Mode states have no
    /// seeds; `x` then receives their directional derivatives.
    p: Vec<f64>,
    x: Vec<f64>,
    u: Vec<f64>,
    /// Directional or time derivatives of the state derivatives and of the outputs.
    pub dx: Vec<f64>,
    pub y: Vec<f64>,
    /// Partial derivatives of the same with respect to the time, after the first request for them.
    partial: Option<PartialInTime>,
}

/// Partial derivatives of the state derivatives and of the outputs with respect to the time.
#[derive(Clone, Debug)]
struct PartialInTime {
    /// Rates of the states: zero.
    rest: Vec<f64>,
    dx: Vec<f64>,
    y: Vec<f64>,
}

impl Directions {
    fn new(model: &Model) -> Self {
        let (nx, ny) = (model.states.len(), model.outputs.len());
        Self {
            tangent: Tangent::new(model),
            p: vec![0.0; model.parameters.len()],
            x: vec![0.0; nx],
            u: vec![0.0; model.inputs.len()],
            dx: vec![0.0; nx],
            y: vec![0.0; ny],
            partial: None,
        }
    }
}

/// Partial derivatives (§2.1.9).
impl Component {
    /// Computes `Σ ∂(unknown)/∂(known) · seed`, each in its unit, for any number of unknowns and
    /// knowns: `fmi2GetDirectionalDerivative`.
    ///
    /// | mode | knowns | unknowns |
    /// |---|---|---|
    /// | Initialization Mode | parameters, inputs | states, their derivatives, real outputs |
    /// | Event and Continuous-Time Mode, communication points, after termination | states, inputs | states' derivatives, real outputs |
    ///
    /// The pairs are those of the dependencies in §2.2.8 (FMI 3.0: §2.4.8, in which the time is a
    /// known in all modes, and tunable parameters are knowns in those of the second row). All
    /// derivatives are exact, except those with respect to a parameter that is not an initial state:
    /// these are central differences with about ten correct digits. Signal segments and limit states
    /// are kept constant; derivatives with respect to a switch are zero. Seeds of a repeated known
    /// are added. The instance is not changed.
    ///
    /// # Errors
    /// `fmi2Error` with the name of a variable that is not an unknown or not a known in this mode,
    /// or of a seed that is not finite. Where the derivative does not exist: `fmi2Discard` in
    /// Continuous-Time Mode, else `fmi2Error`.
    pub fn get_directional_derivative(
        &mut self,
        unknowns: &[u32],
        knowns: &[u32],
        seeds: &[f64],
        values: &mut [f64],
    ) -> Result<(), Fault> {
        for &unknown in unknowns {
            self.check_unknown(self.slot_of(unknown, ValueType::Real)?)?;
        }
        for (&known, &seed) in knowns.iter().zip(seeds) {
            let slot = self.slot_of(known, ValueType::Real)?;
            self.check_known(slot)?;
            self.check_seed(slot, seed)?;
        }
        self.catch_up()?;
        let mut directions = self.take_directions();
        let outcome = self.differentiate(&mut directions, unknowns, knowns, seeds, values);
        self.directions = Some(directions);
        outcome
    }

    /// Moves the workspace out of the instance; the caller moves it back.
    pub(super) fn take_directions(&mut self) -> Box<Directions> {
        let taken = self.directions.take();
        taken.unwrap_or_else(|| Box::new(Directions::new(self.model())))
    }

    pub(super) fn differentiate(
        &self,
        directions: &mut Directions,
        unknowns: &[u32],
        knowns: &[u32],
        seeds: &[f64],
        values: &mut [f64],
    ) -> Result<(), Fault> {
        let Directions {
            tangent,
            p,
            x,
            u,
            dx,
            y,
            partial,
        } = directions;
        let mut t = 0.0;
        for seeds in [&mut *p, x, u] {
            seeds.fill(0.0);
        }
        for (&known, seed) in knowns.iter().zip(seeds) {
            match self.slot(known)? {
                // The solver's own parameters come after the model's and have no influence on the
                // unknowns.
                Slot::Parameter(i) => {
                    if let Some(p) = p.get_mut(i) {
                        *p += seed;
                    }
                }
                Slot::State(i) => x[i] += seed,
                Slot::Input(i) => u[i] += seed,
                Slot::Time => t += seed,
                _ => {}
            }
        }
        let slots = || unknowns.iter().filter_map(|&unknown| self.registry.slot(unknown));
        let outputs = slots().any(|slot| matches!(slot, Slot::Output(_)));
        let derivatives = outputs || slots().any(|slot| matches!(slot, Slot::Derivative(_)));
        let (plant, state) = (&self.simulation.plant, &self.simulation.state);
        let at = state.point();
        let starting = self.mode == Mode::Initialization;
        let outcome = if starting {
            let along = StartAlong {
                delta_x: x,
                delta_dx: dx,
                delta_y: y,
            };
            tangent.start_along(plant, at, Direction { x: p, u }, along)
        } else if outputs {
            tangent.evaluate_along(plant, at, Direction { x, u }, dx, y)
        } else if derivatives {
            tangent.derivative_along(plant, at, Direction { x, u }, dx)
        } else {
            Ok(())
        };
        outcome.map_err(|error| self.overreached(error.to_string()))?;
        if derivatives && !starting && p.iter().any(|&seed| seed != 0.0) {
            let outcome = plant.add_along_parameters(at, p, dx, y);
            outcome.map_err(|error| self.overreached(error.to_string()))?;
        }
        if derivatives && t != 0.0 {
            let outcome = add_along_time(tangent, plant, at, t, partial, [dx, y]);
            outcome.map_err(|error| self.overreached(error.to_string()))?;
        }
        for (slot, value) in slots().zip(values) {
            *value = match slot {
                Slot::State(i) => x[i],
                Slot::Derivative(i) => dx[i],
                Slot::Output(i) => y[i],
                Slot::Parameter(_) | Slot::Input(_) | Slot::Time | Slot::Indicator(_) => 0.0,
            };
            if !value.is_finite() {
                let (variable, t) = (format!("a partial derivative of {}", self.registry.name(slot)), state.t);
                return Err(self.overreached(Error::NotFinite { variable, t }.to_string()));
            }
        }
        Ok(())
    }

    pub(super) fn check_seed(&self, slot: Slot, seed: f64) -> Result<(), Fault> {
        if seed.is_finite() {
            return Ok(());
        }
        let name = self.registry.name(slot);
        Err(Fault::error(format!("the seed of {name} = {seed} is not finite")))
    }

    pub(super) fn check_unknown(&self, slot: Slot) -> Result<(), Fault> {
        match slot {
            Slot::State(_) | Slot::Derivative(_) | Slot::Output(_) => Ok(()),
            Slot::Parameter(_) | Slot::Input(_) | Slot::Time => Err(Fault::error(format!(
                "{} is set, not computed: it is not an unknown",
                self.registry.name(slot)
            ))),
            Slot::Indicator(_) => Err(Fault::error(format!(
                "{} is an event indicator, which has no partial derivatives",
                self.registry.name(slot)
            ))),
        }
    }

    pub(super) fn check_known(&self, slot: Slot) -> Result<(), Fault> {
        let name = || self.registry.name(slot);
        let starting = self.mode == Mode::Initialization;
        let is_known = |i: usize| starting || self.standard == Standard::Fmi3 && self.registry.parameter(i).tunable;
        Err(Fault::error(match slot {
            Slot::Input(_) => return Ok(()),
            Slot::Parameter(i) if is_known(i) => return Ok(()),
            Slot::Time if !(starting && self.model().starts_depend_on_time()) => return Ok(()),
            Slot::Time => "the initial states depend on the start time by the orbit: derivatives with respect to it \
                           are not provided in Initialization Mode"
                .to_owned(),
            Slot::State(_) if !starting => return Ok(()),
            Slot::Parameter(_) => format!(
                "{} is a parameter: it is a known in Initialization Mode only; in the present mode the knowns are {}",
                name(),
                match self.standard {
                    Standard::Fmi2 => "states and inputs",
                    Standard::Fmi3 => "states, inputs, tunable parameters and the time",
                }
            ),
            Slot::State(_) => format!(
                "{} is a state and is computed from the parameters whose names end in _start; in Initialization Mode those are \
                 the knowns",
                name()
            ),
            Slot::Derivative(_) | Slot::Output(_) | Slot::Indicator(_) => {
                format!("{} is computed: it is not a known", name())
            }
        }))
    }
}

/// Adds to `δẋ` and `δy` their changes for a change `δt` of the time, with states and inputs constant.
fn add_along_time(
    tangent: &mut Tangent<1>,
    plant: &Plant,
    at: OperatingPoint,
    delta_t: f64,
    partial: &mut Option<PartialInTime>,
    [dx, y]: [&mut [f64]; 2],
) -> Result<(), Error> {
    let partial = partial.get_or_insert_with(|| PartialInTime {
        rest: vec![0.0; dx.len()],
        dx: vec![0.0; dx.len()],
        y: vec![0.0; y.len()],
    });
    tangent.evaluate_along_motion(plant, at, &partial.rest, &mut partial.dx, &mut partial.y)?;
    for (sum, slope) in dx.iter_mut().chain(y).zip(partial.dx.iter().chain(&partial.y)) {
        *sum += slope * delta_t;
    }
    Ok(())
}
