//! The list of variables: a value reference is an index into it.
//!
//! XML, getters and setters use this list and are therefore consistent. Names, units and start
//! values are declared by the model; the list maps each variable to a [`Slot`] of the model.

use super::lifecycle::Standard;
use crate::plant::{Model, OutputKind};
use crate::spec::mangled;
use crate::system::{InputKind, Parameter, Quantity, Unit};
use crate::{Error, Problem};
use model_description::{Causality, Initial, Variability};
use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

/// Incremented whenever the order or the meaning of the variables of a given model changes: an
/// FMU's XML and library then no longer match. Counts from the first release.
pub const REGISTRY_VERSION: u32 = 2;

/// How variables are named (§2.2.9).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Naming {
    /// `base.r[1]`, `der(elbow.qd)`.
    #[default]
    Structured,
    /// `base_r_1_`, `der_elbow_qd_`: the identifier that OpenModelica derives from the structured
    /// name (rule O1).
    Flat,
}

/// Kind of a variable, and its index in the model's list of that kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Slot {
    /// A parameter of the model or, at the index after the model's last, of the solver.
    Parameter(usize),
    /// An input.
    Input(usize),
    /// A continuous-time state.
    State(usize),
    /// The derivative of a state.
    Derivative(usize),
    /// An output.
    Output(usize),
    /// The time, the independent variable; FMI 3.0 only.
    Time,
    /// An event indicator; FMI 3.0 only.
    Indicator(usize),
}

/// Type of a variable's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueType {
    /// `Real`, `Float64` in FMI 3.0.
    Real,
    /// `Integer`, `Int32` in FMI 3.0.
    Integer,
    /// `Boolean`.
    Boolean,
}

impl ValueType {
    /// Returns the name of the type in a version of the standard.
    pub fn name(self, standard: Standard) -> &'static str {
        match (self, standard) {
            (Self::Real, Standard::Fmi2) => "Real",
            (Self::Real, Standard::Fmi3) => "Float64",
            (Self::Integer, Standard::Fmi2) => "Integer",
            (Self::Integer, Standard::Fmi3) => "Int32",
            (Self::Boolean, _) => "Boolean",
        }
    }
}

/// Attributes of a variable in FMI (§2.2.7).
#[derive(Clone, Debug)]
pub struct Variable<'a> {
    /// Handle of the variable in the C functions; its index in the XML is one more.
    pub value_reference: u32,
    /// Kind, and index in the model.
    pub slot: Slot,
    /// Type of the values.
    pub value_type: ValueType,
    /// Name in the registry's naming.
    pub name: Cow<'a, str>,
    /// Unit, nominal, description.
    pub quantity: &'a Quantity,
    /// FMI causality.
    pub causality: Causality,
    /// FMI variability.
    pub variability: Variability,
    /// FMI initial attribute; `None` for inputs.
    pub initial: Option<Initial>,
    /// Start value in its unit, if the importer may set one.
    pub start: Option<f64>,
}

/// The variables of a model.
#[derive(Clone, Debug)]
pub struct Registry {
    model: Arc<Model>,
    standard: Standard,
    naming: Naming,
    /// The solver's only parameter, `solver.work_limit`; it is listed after those of the model.
    work_limit: Parameter,
    slots: Vec<Slot>,
    time: Quantity,
    /// None in FMI 2.0.
    indicators: Vec<Quantity>,
}

impl Registry {
    /// Lists the variables of FMI 2.0: inputs, states, derivatives, parameters, outputs. The lists of
    /// dependencies, which name inputs and states, are shortest if these have the lowest indices.
    pub fn new(model: Arc<Model>, naming: Naming) -> Self {
        Self::of(Standard::Fmi2, model, naming)
    }

    /// Lists the variables of a version of the standard. Those of FMI 2.0 come first; FMI 3.0 requires
    /// the time and the event indicators as variables.
    pub fn of(standard: Standard, model: Arc<Model>, naming: Naming) -> Self {
        let indicators = match standard {
            Standard::Fmi2 => Vec::new(),
            Standard::Fmi3 => indicators(&model),
        };
        let of_fmi3 = std::iter::once(Slot::Time).chain((0..indicators.len()).map(Slot::Indicator));
        let slots = (0..model.inputs.len())
            .map(Slot::Input)
            .chain((0..model.states.len()).map(Slot::State))
            .chain((0..model.states.len()).map(Slot::Derivative))
            .chain((0..=model.parameters.len()).map(Slot::Parameter))
            .chain((0..model.outputs.len()).map(Slot::Output))
            .chain(of_fmi3.filter(|_| standard == Standard::Fmi3))
            .collect();
        Self {
            work_limit: work_limit(&model),
            model,
            standard,
            naming,
            slots,
            time: Quantity::new("time", Unit::Second, "time"),
            indicators,
        }
    }

    /// Returns the model.
    pub fn model(&self) -> &Arc<Model> {
        &self.model
    }

    /// Returns the naming.
    pub fn naming(&self) -> Naming {
        self.naming
    }

    /// Returns the number of variables.
    pub fn len(&self) -> usize {
        self.slots.len()
    }

    /// Returns true if the list is empty.
    pub fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// Returns the slot of a value reference, if it exists.
    #[inline]
    pub fn slot(&self, value_reference: u32) -> Option<Slot> {
        self.slots.get(usize::try_from(value_reference).ok()?).copied()
    }

    /// Returns the value reference of a slot.
    pub fn reference(&self, slot: Slot) -> u32 {
        let model = &self.model;
        let derivatives = model.inputs.len() + model.states.len();
        let parameters = derivatives + model.states.len();
        let place = match slot {
            Slot::Input(i) => i,
            Slot::State(i) => model.inputs.len() + i,
            Slot::Derivative(i) => derivatives + i,
            Slot::Parameter(i) => parameters + i,
            Slot::Output(i) => parameters + model.parameters.len() + 1 + i,
            Slot::Time => parameters + model.parameters.len() + 1 + model.outputs.len(),
            Slot::Indicator(i) => parameters + model.parameters.len() + 1 + model.outputs.len() + 1 + i,
        };
        u32::try_from(place).unwrap_or(u32::MAX)
    }

    /// Returns the type of a variable's values. In FMI 2.0 inputs are real numbers, since few
    /// importers connect other types; so are outputs, except flags.
    #[inline]
    pub fn value_type(&self, slot: Slot) -> ValueType {
        let is_typed = self.standard == Standard::Fmi3;
        match slot {
            Slot::Input(i) => match self.model.inputs[i].kind {
                InputKind::Mode if is_typed => ValueType::Integer,
                InputKind::Switch if is_typed => ValueType::Boolean,
                _ => ValueType::Real,
            },
            Slot::Output(i) => match self.model.outputs[i].kind {
                OutputKind::Flag => ValueType::Boolean,
                OutputKind::Count if is_typed => ValueType::Integer,
                OutputKind::Switch if is_typed => ValueType::Boolean,
                _ => ValueType::Real,
            },
            _ => ValueType::Real,
        }
    }

    /// Returns the name of the type of a variable's values.
    pub fn type_name(&self, slot: Slot) -> &'static str {
        self.value_type(slot).name(self.standard)
    }

    /// Returns true if a variable can be read during a step: in FMI 3.0 continuous states, their
    /// derivatives and continuous outputs.
    pub fn is_intermediate(&self, slot: Slot) -> bool {
        match slot {
            Slot::State(_) | Slot::Derivative(_) => true,
            Slot::Output(i) => self.model.outputs[i].kind.is_continuous(),
            Slot::Input(_) | Slot::Parameter(_) | Slot::Time | Slot::Indicator(_) => false,
        }
    }

    /// Returns the parameter with the index `i` in [`Slot::Parameter`].
    pub fn parameter(&self, i: usize) -> &Parameter {
        self.model.parameters.get(i).unwrap_or(&self.work_limit)
    }

    /// Returns the start values of all parameters, the solver's last.
    pub fn parameter_starts(&self) -> Vec<f64> {
        let all = self.model.parameters.iter().chain([&self.work_limit]);
        all.map(|p| p.start).collect()
    }

    /// Returns name, unit, nominal and description of a slot.
    pub fn quantity(&self, slot: Slot) -> &Quantity {
        let model = &self.model;
        match slot {
            Slot::Parameter(i) => &self.parameter(i).quantity,
            Slot::Input(i) => &model.inputs[i].quantity,
            Slot::State(i) => &model.states[i],
            Slot::Derivative(i) => &model.derivatives[i],
            Slot::Output(i) => &model.outputs[i].quantity,
            Slot::Time => &self.time,
            Slot::Indicator(i) => &self.indicators[i],
        }
    }

    /// Returns the name of a slot in the registry's naming.
    pub fn name(&self, slot: Slot) -> Cow<'_, str> {
        let name = &self.quantity(slot).name;
        match self.naming {
            Naming::Structured => Cow::Borrowed(name),
            Naming::Flat => Cow::Owned(mangled(name)),
        }
    }

    /// Returns the attributes of all variables in the order of the value references.
    pub fn variables(&self) -> impl ExactSizeIterator<Item = Variable<'_>> {
        self.slots.iter().map(|&slot| self.variable(slot))
    }

    /// Returns the variable with this name, by a linear search.
    pub fn find(&self, name: &str) -> Option<Variable<'_>> {
        let slot = self.slots.iter().find(|&&slot| self.name(slot) == name);
        slot.map(|&slot| self.variable(slot))
    }

    fn variable(&self, slot: Slot) -> Variable<'_> {
        // States and their derivatives are also outputs: importers read them like any other
        // variable.
        let (causality, variability, initial, start) = match slot {
            Slot::Parameter(i) => {
                let parameter = self.parameter(i);
                let variability = if parameter.tunable {
                    Variability::Tunable
                } else {
                    Variability::Fixed
                };
                (
                    Causality::Parameter,
                    variability,
                    Some(Initial::Exact),
                    Some(parameter.start),
                )
            }
            Slot::Input(i) => {
                let input = &self.model.inputs[i];
                let variability = if input.is_discrete() {
                    Variability::Discrete
                } else {
                    Variability::Continuous
                };
                (Causality::Input, variability, None, Some(input.start))
            }
            Slot::State(_) | Slot::Derivative(_) | Slot::Output(_) => {
                let is_continuous = match slot {
                    Slot::Output(i) => self.model.outputs[i].kind.is_continuous(),
                    _ => true,
                };
                let variability = if is_continuous {
                    Variability::Continuous
                } else {
                    Variability::Discrete
                };
                (Causality::Output, variability, Some(Initial::Calculated), None)
            }
            Slot::Time => (Causality::Independent, Variability::Continuous, None, None),
            Slot::Indicator(_) => (
                Causality::Local,
                Variability::Continuous,
                Some(Initial::Calculated),
                None,
            ),
        };
        Variable {
            value_reference: self.reference(slot),
            slot,
            value_type: self.value_type(slot),
            name: self.name(slot),
            quantity: self.quantity(slot),
            causality,
            variability,
            initial,
            start,
        }
    }

    /// Checks that names differ, also after an importer has converted them to identifiers (rule
    /// O1).
    ///
    /// # Errors
    /// [`Error::Spec`] with both names of every conflict.
    pub fn check_names(&self) -> Result<(), Error> {
        let mut owners: HashMap<String, &str> = HashMap::with_capacity(self.len());
        let mut problems = Vec::new();
        for &slot in &self.slots {
            let name = self.quantity(slot).name.as_str();
            let identifier = mangled(name);
            let Some(other) = owners.get(&identifier) else {
                owners.insert(identifier, name);
                continue;
            };
            let at = match slot {
                Slot::Parameter(i) => self.parameter(i).at.clone(),
                _ => Vec::new(),
            };
            let what = if *other == name {
                format!("two variables are called \"{name}\"")
            } else {
                format!(
                    "the variables \"{other}\" and \"{name}\" would both be called \"{identifier}\" in OpenModelica; \
                     rename one of their owners"
                )
            };
            problems.push(Problem { at, what });
        }
        if problems.is_empty() {
            Ok(())
        } else {
            Err(Error::Spec(problems))
        }
    }

    /// Returns the limit of evaluations of the dynamics within one `fmi2DoStep`, from the values of
    /// all parameters.
    ///
    /// # Errors
    /// [`Error::Spec`] if the value is invalid.
    pub fn work_limit(&self, parameters: &[f64]) -> Result<f64, Error> {
        let value = parameters.get(self.model.parameters.len()).copied().unwrap_or(f64::NAN);
        if value.is_finite() && value >= 1.0 {
            return Ok(value);
        }
        let Parameter { at, quantity, .. } = &self.work_limit;
        Err(Error::Spec(vec![Problem {
            at: at.clone(),
            what: format!("{} = {value} is not at least 1", quantity.name),
        }]))
    }
}

/// Returns the event indicators as variables.
fn indicators(model: &Model) -> Vec<Quantity> {
    let count = model.indicator_count();
    let quantity = |i: usize| {
        let what = match model.has_commands() && i + 1 == count {
            true => "event indicator of commands: negative while a changed command waits for an event",
            false => "event indicator: positive while the discrete state is valid",
        };
        Quantity::new(format!("event_indicator[{}]", i + 1), Unit::One, what)
    };
    (0..count).map(quantity).collect()
}

fn work_limit(model: &Model) -> Parameter {
    Parameter {
        quantity: Quantity {
            nominal: 1e6,
            ..Quantity::new(
                "solver.work_limit",
                Unit::One,
                "most evaluations of the dynamics within one communication step (Co-Simulation)",
            )
        },
        start: model.work_limit(),
        tunable: false,
        at: vec!["solver".to_owned(), "work_limit".to_owned()],
    }
}

#[cfg(feature = "inside")]
pub(super) mod tests {
    use super::*;
    use crate::fmu::testing::{Outcome, two_link};
    use crate::messages;

    unit_tests![
        value_references_are_indices_into_the_list,
        names_of_every_kind_are_found,
        names_that_an_importer_would_merge_are_refused_with_both,
    ];

    fn value_references_are_indices_into_the_list() -> Outcome {
        let model = two_link()?;
        let registry = Registry::new(model, Naming::Structured);
        for (i, variable) in registry.variables().enumerate() {
            assert_eq!(variable.value_reference as usize, i);
            assert_eq!(registry.slot(variable.value_reference), Some(variable.slot));
        }
        assert_eq!(registry.slot(u32::try_from(registry.len())?), None);
        assert_eq!(registry.slot(u32::MAX), None);
        Ok(())
    }

    fn names_of_every_kind_are_found() -> Outcome {
        let model = two_link()?;
        let registry = Registry::new(Arc::clone(&model), Naming::Structured);
        for (name, causality, variability) in [
            ("base.mass", Causality::Parameter, Variability::Fixed),
            ("elbow.q_start", Causality::Parameter, Variability::Fixed),
            ("solver.work_limit", Causality::Parameter, Variability::Fixed),
            ("shoulder.tau", Causality::Input, Variability::Continuous),
            ("elbow.q", Causality::Output, Variability::Continuous),
            ("der(elbow.qd)", Causality::Output, Variability::Continuous),
            ("elbow.out_of_range", Causality::Output, Variability::Discrete),
        ] {
            let found = registry.find(name).ok_or(name)?;
            assert_eq!((found.causality, found.variability), (causality, variability), "{name}");
        }
        let flat = Registry::new(model, Naming::Flat);
        assert_eq!(
            flat.find("der_elbow_qd_").map(|v| v.value_reference),
            registry.find("der(elbow.qd)").map(|v| v.value_reference)
        );
        Ok(())
    }

    fn names_that_an_importer_would_merge_are_refused_with_both() -> Outcome {
        let _section = messages::of_this_test();
        let mut model = Model::clone(&*two_link()?);
        model.inputs[0].quantity.name = "base_mass".to_owned();
        let refused = Registry::new(Arc::new(model), Naming::Structured).check_names();
        let Err(Error::Spec(problems)) = refused else {
            return Err("accepted".into());
        };
        assert_eq!(problems.len(), 1);
        messages::record(&problems[0]);
        let what = &problems[0].what;
        assert!(
            what.contains("\"base.mass\"") && what.contains("\"base_mass\""),
            "{what}"
        );
        Ok(())
    }
}
