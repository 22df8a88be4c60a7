use super::{Cached, Component, Fault, pass_parameters};
use crate::fmu::lifecycle::{Interface, Mode, Standard};
use crate::fmu::registry::{Slot, ValueType};
use crate::simulation::INPUT_ORDER;

/// Variables (§2.1.7). Once parameters are applied, getting values and setting inputs or states
/// neither allocates nor looks up a name, unless the call is refused.
impl Component {
    /// Returns values of real variables, each in its unit: `fmi2GetReal`.
    ///
    /// # Errors
    /// `fmi2Error` for an unknown reference or a variable of another type; those of an evaluation.
    pub fn get_real(&mut self, references: &[u32], values: &mut [f64]) -> Result<(), Fault> {
        let mut needed = Cached::Nothing;
        let (mut states, mut indicators) = (false, false);
        for &reference in references {
            match self.slot_of(reference, ValueType::Real)? {
                Slot::Parameter(_) | Slot::Input(_) => {}
                Slot::State(_) | Slot::Time => states = true,
                Slot::Indicator(_) => indicators = true,
                Slot::Derivative(_) => needed = needed.max(Cached::Derivatives),
                Slot::Output(_) => needed = Cached::Everything,
            }
        }
        if needed > Cached::Nothing {
            self.evaluate_up_to(needed)?;
        } else if states {
            self.catch_up()?;
        }
        if indicators {
            let mut z = std::mem::take(&mut self.z);
            let outcome = self.get_event_indicators(&mut z);
            self.z = z;
            outcome?;
        }
        for (&reference, value) in references.iter().zip(values) {
            *value = match self.slot(reference)? {
                Slot::Parameter(i) => self.parameters[i],
                Slot::Input(i) => self.simulation.state.u[i],
                Slot::State(i) => self.simulation.state.x[i],
                Slot::Derivative(i) => self.dx[i],
                Slot::Output(i) => self.y[i],
                Slot::Time => self.simulation.state.t,
                Slot::Indicator(i) => self.z[i],
            };
        }
        Ok(())
    }

    /// Returns values of Boolean variables: `fmi2GetBoolean`.
    ///
    /// # Errors
    /// As [`get_real`](Self::get_real).
    pub fn get_boolean<B: From<bool>>(&mut self, references: &[u32], values: &mut [B]) -> Result<(), Fault> {
        self.get_discrete(references, ValueType::Boolean, values, |value| B::from(value > 0.5))
    }

    /// Returns values of integer variables: `fmi2GetInteger`.
    ///
    /// # Errors
    /// As [`get_real`](Self::get_real).
    pub fn get_integer(&mut self, references: &[u32], values: &mut [i32]) -> Result<(), Fault> {
        self.get_discrete(references, ValueType::Integer, values, |value| value.round() as i32)
    }

    /// Returns values of inputs and outputs of a type, converted from numbers.
    fn get_discrete<T>(
        &mut self,
        references: &[u32],
        of: ValueType,
        values: &mut [T],
        converted: impl Fn(f64) -> T,
    ) -> Result<(), Fault> {
        let mut is_computed = false;
        for &reference in references {
            is_computed |= matches!(self.slot_of(reference, of)?, Slot::Output(_));
        }
        if is_computed {
            self.evaluate_up_to(Cached::Everything)?;
        }
        for (&reference, value) in references.iter().zip(values) {
            *value = converted(match self.slot(reference)? {
                Slot::Input(i) => self.simulation.state.u[i],
                Slot::Output(i) => self.y[i],
                _ => continue,
            });
        }
        Ok(())
    }

    /// Sets real variables, each in its unit, all of them or none: `fmi2SetReal`.
    ///
    /// Accepts inputs in every mode; parameters until the first step (rule O3), tunable ones at
    /// every event or communication point; continuous states from a Model Exchange importer.
    ///
    /// # Errors
    /// `fmi2Error` with the variable's name; `fmi2Discard` for a state that is not finite in
    /// Continuous-Time Mode.
    pub fn set_real(&mut self, references: &[u32], values: &[f64]) -> Result<(), Fault> {
        for (&reference, &value) in references.iter().zip(values) {
            let slot = self.slot_of(reference, ValueType::Real)?;
            self.settable(slot)?;
            if !value.is_finite() {
                let what = format!("{} = {value} is not finite", self.registry.name(slot));
                return Err(match slot {
                    Slot::State(_) => self.overreached(what),
                    _ => Fault::error(what),
                });
            }
        }
        let set_states = references.iter().any(|&r| matches!(self.slot(r), Ok(Slot::State(_))));
        if set_states {
            // Buffered parameters are applied first, since a start would overwrite the states.
            self.catch_up()?;
        }
        // Parameters are set before inputs and states, since they may be refused.
        self.set_parameters(references, values, self.is_started() || set_states)?;
        for (&reference, &value) in references.iter().zip(values) {
            self.place(self.registry.slot(reference), value);
        }
        Ok(())
    }

    /// Sets an input or a state; other variables are not changed.
    fn place(&mut self, slot: Option<Slot>, value: f64) {
        let place = match slot {
            Some(Slot::Input(i)) => &mut self.simulation.state.u[i],
            Some(Slot::State(i)) => &mut self.simulation.state.x[i],
            _ => return,
        };
        // An unchanged value, which importers often set again, costs no evaluation.
        if place.to_bits() != value.to_bits() {
            *place = value;
            self.look_for_events();
            self.invalidate();
        }
    }

    /// Sets Boolean inputs, all of them or none: `fmi2SetBoolean`. The default of `B` is false.
    ///
    /// # Errors
    /// `fmi2Error` with the name of a variable that is not a Boolean input.
    pub fn set_boolean<B: Copy + Default + PartialEq>(
        &mut self,
        references: &[u32],
        values: &[B],
    ) -> Result<(), Fault> {
        self.set_discrete(references, ValueType::Boolean, values, |value| {
            f64::from(value != B::default())
        })
    }

    /// Sets integer inputs, all of them or none: `fmi2SetInteger`.
    ///
    /// # Errors
    /// `fmi2Error` with the name of a variable that is not an integer input.
    pub fn set_integer(&mut self, references: &[u32], values: &[i32]) -> Result<(), Fault> {
        self.set_discrete(references, ValueType::Integer, values, f64::from)
    }

    /// Sets inputs of a type, converted to numbers.
    fn set_discrete<T: Copy>(
        &mut self,
        references: &[u32],
        of: ValueType,
        values: &[T],
        converted: impl Fn(T) -> f64,
    ) -> Result<(), Fault> {
        for &reference in references {
            let slot = self.slot_of(reference, of)?;
            self.settable(slot)?;
        }
        for (&reference, &value) in references.iter().zip(values) {
            self.place(self.registry.slot(reference), converted(value));
        }
        Ok(())
    }

    /// Sets the parameters among the references. They are buffered, or applied `at_once`: during a
    /// run, and together with states, which a later start would overwrite.
    fn set_parameters(&mut self, references: &[u32], values: &[f64], at_once: bool) -> Result<(), Fault> {
        let mut changed = false;
        for (&reference, &value) in references.iter().zip(values) {
            if let Some(Slot::Parameter(i)) = self.registry.slot(reference) {
                changed |= self.parameters[i].to_bits() != value.to_bits();
                self.parameters[i] = value;
            }
        }
        if !changed {
            return Ok(());
        }
        let limit_states_stale = self.limit_states_stale;
        self.parameters_pending = true;
        self.invalidate();
        if !at_once {
            return Ok(());
        }
        let outcome = self.catch_up();
        if outcome.is_err() {
            // With `at_once` no parameter was pending before, so these are the previous values.
            self.parameters.copy_from_slice(&self.accepted);
            self.parameters_pending = pass_parameters(&self.accepted, &mut self.simulation.plant).is_err();
            // The limit states belong to the accepted values.
            self.limit_states_stale = limit_states_stale;
        } else {
            self.look_for_events();
        }
        outcome
    }

    /// Sets time derivatives of inputs for the step that begins now: `fmi2SetRealInputDerivatives`
    /// (§4.2.1).
    ///
    /// # Errors
    /// `fmi2Error` for a variable that is not a continuous input, an order that is not 1 to 3, or a
    /// value that is not finite.
    pub fn set_real_input_derivatives(
        &mut self,
        references: &[u32],
        orders: &[i32],
        values: &[f64],
    ) -> Result<(), Fault> {
        for ((&reference, &order), &value) in references.iter().zip(orders).zip(values) {
            let slot = self.slot(reference)?;
            let name = self.registry.name(slot);
            match slot {
                Slot::Input(i) if !self.model().inputs[i].is_discrete() => {}
                _ => {
                    return Err(Fault::error(format!(
                        "{name} is not a continuous input, so it has no input derivative"
                    )));
                }
            }
            if order_index(order).is_none() {
                return Err(Fault::error(format!(
                    "derivative of order {order} of {name}: orders 1 to {INPUT_ORDER} are supported"
                )));
            }
            if !value.is_finite() {
                return Err(Fault::error(format!(
                    "derivative of order {order} of {name} = {value} is not finite"
                )));
            }
        }
        for ((&reference, &order), &value) in references.iter().zip(orders).zip(values) {
            if let (Some(Slot::Input(i)), Some(k)) = (self.registry.slot(reference), order_index(order)) {
                self.simulation.state.u_derivatives[k][i] = value;
            }
        }
        self.stepper_stale = true;
        Ok(())
    }

    pub(super) fn slot(&self, reference: u32) -> Result<Slot, Fault> {
        self.registry.slot(reference).ok_or_else(|| {
            Fault::error(format!(
                "unknown value reference {reference}; there are {} variables",
                self.registry.len()
            ))
        })
    }

    /// Returns the slot of a variable whose values have the type `wanted`.
    pub(super) fn slot_of(&self, reference: u32, wanted: ValueType) -> Result<Slot, Fault> {
        let slot = self.slot(reference)?;
        match self.registry.value_type(slot) == wanted {
            true => Ok(slot),
            false => Err(self.wrong_type(slot, wanted.name(self.standard))),
        }
    }

    pub(super) fn wrong_type(&self, slot: Slot, requested: &str) -> Fault {
        let (name, is) = (self.registry.name(slot), self.registry.type_name(slot));
        Fault::error(format!("{name} has the type {is}, not {requested}"))
    }

    fn settable(&self, slot: Slot) -> Result<(), Fault> {
        let name = || self.registry.name(slot);
        match slot {
            Slot::Input(_) => Ok(()),
            Slot::Parameter(i) => {
                if self.mode == Mode::ContinuousTime {
                    Err(Fault::error(format!(
                        "the parameter {} can be set at events only",
                        name()
                    )))
                } else if self.is_started() && !self.registry.parameter(i).tunable {
                    Err(Fault::error(format!(
                        "the parameter {} is fixed {}; reset the instance to set it",
                        name(),
                        match self.standard {
                            Standard::Fmi2 => "once the first step is taken",
                            Standard::Fmi3 => "after the initialisation",
                        }
                    )))
                } else {
                    Ok(())
                }
            }
            Slot::State(_)
                if self.interface == Interface::ModelExchange
                    && matches!(self.mode, Mode::ContinuousTime | Mode::Event) =>
            {
                Ok(())
            }
            Slot::State(_) => Err(Fault::error(format!(
                "{} is a state and is computed from the parameters whose names end in _start; set those",
                name()
            ))),
            Slot::Time => Err(Fault::error("the time is set by the functions that advance it")),
            Slot::Derivative(_) | Slot::Output(_) | Slot::Indicator(_) => {
                Err(Fault::error(format!("{} is computed and cannot be set", name())))
            }
        }
    }

    /// Refuses every reference: there are no variables of this type (`fmi2GetString` and so on).
    ///
    /// # Errors
    /// `fmi2Error` for any reference.
    pub fn no_such_type(&self, references: &[u32], requested: &str) -> Result<(), Fault> {
        let Some(&reference) = references.first() else {
            return Ok(());
        };
        Err(self.wrong_type(self.slot(reference)?, requested))
    }
}

fn order_index(order: i32) -> Option<usize> {
    let k = usize::try_from(order).ok()?.checked_sub(1)?;
    (k < INPUT_ORDER).then_some(k)
}
