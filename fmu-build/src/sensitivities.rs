//! Derivatives of a run with respect to parameters, start values and constant inputs.
//!
//! Each derivative is a difference of runs with neighbouring values that take the steps of the run
//! itself (`grapple::simulation`, module `step_source`): it is that of the computed run, events,
//! impacts, captures and sampled controllers included, for every parameter. Section data of beams,
//! which pass through eigenproblems, are no exception. Where a neighbouring run cannot take these
//! steps, or has other events up to a row, the result says so.

use crate::control::Control;
use crate::error::{Context, Error, Result, invalid};
use crate::fmu::{Fmu, is_real, names, recorded};
use crate::instance::Instance;
use crate::results::{Column, Results, called};
use crate::run::Plan;
use crate::simulate::{SimulateOptions, settings};
use crate::summaries::unknown;
use crate::text::number;
use grapple::fmu::component::Component;
use grapple::fmu::description::Interfaces;
use grapple::fmu::guid::Guid;
use grapple::fmu::lifecycle::Interface;
use grapple::fmu::registry::Naming;
use grapple::spec::{ImpactLaw, Joint, Spec, Stop};
use model_description::{Causality, Kind, ScalarVariable, Variability};
use std::sync::Arc;
use std::thread;

/// Step of the differences, relative to the size of the value: truncation error and round-off are
/// then both small for values that act over 1e2 periods of a vibration.
const RELATIVE_STEP: f64 = 1e-5;

/// Size of a value that is zero, relative to its nominal value.
const LEAST_SIZE: f64 = 0.1;

/// Least size of a value with limits, relative to the larger of its first value and of the size of
/// zero: a step of the differences is then not lost in round-off near a limit.
const NEAR_A_LIMIT: f64 = 1e-3;

/// Derivatives below this part of a column's largest value, over the size of the parameter, are
/// round-off.
const ROUND_OFF: f64 = 1e-9;

/// Number of steps, summed up over communication steps, that are recorded before the neighbouring
/// runs take them: the recorded Jacobians of an implicit method would fill the memory.
const RECORDED_STEPS: usize = 256;

/// Accuracy of the differences.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Two runs per value; the error is of the second order.
    Second,
    /// Four runs per value; the error is of the fourth order, and is estimated.
    Fourth,
}

/// A run with its derivatives.
pub struct Sensitivities {
    /// Times (s) and outputs of the run.
    pub results: Results,
    /// Name, unit and value of each parameter, start value or input.
    pub parameters: Vec<(String, String, f64)>,
    /// The derivative of column `j` of the results with respect to parameter `i` at row `k` is
    /// `derivatives[i][j][k]`, in the unit of the column over that of the parameter.
    pub derivatives: Vec<Vec<Vec<f64>>>,
    /// Largest estimated error of the differences with respect to each parameter, relative to the
    /// largest derivative of the same column, without the error of the run itself; zero with
    /// [`Order::Second`], which has no estimate.
    pub errors: Vec<f64>,
    /// Parameters for which a neighbouring run has another number of events up to a row, or other
    /// steps: derivatives do not exist at an event, and are less accurate with other steps.
    pub differing: Vec<String>,
    /// True for rows up to which a neighbouring run has another number of events.
    pub is_at_event: Vec<bool>,
    /// Compliant contacts, and joints with compliant stops: their forces switch inside steps, and
    /// derivatives across a switch are not accurate.
    pub switching: Vec<String>,
}

/// Computes a run and its derivatives.
///
/// # Errors
/// Those of [`simulate`](crate::simulate::simulate); an unknown output or one that is not real; a
/// parameter that cannot be varied; a run that ends early.
pub fn sensitivities(
    fmu: &Fmu,
    options: &SimulateOptions,
    with_respect_to: &[String],
    outputs: &[String],
    mut control: Control,
) -> Result<Sensitivities> {
    let plan = Plan::new(fmu, &options.experiment, &options.inputs)?;
    let set = settings(fmu, &plan, &options.set)?;
    let outputs = match outputs {
        [] => reals(fmu),
        names => names.iter().map(|name| output(fmu, name)).collect::<Result<_>>()?,
    };
    let varied = with_respect_to.iter().map(|name| Varied::new(fmu, &plan, name, &set));
    let varied = varied.collect::<Result<Vec<_>>>()?;
    plan.check_size(outputs.len() * (4 * varied.len() + 1))?;
    let points = plan.times.points().collect();
    let around = Neighbourhood::new(fmu, plan, set, &outputs, varied, points)?;
    let values: Vec<f64> = around.varied.iter().map(|varied| varied.value).collect();
    around.sensitivities(&values, Order::Fourth, &mut control)
}

/// Returns the Reals of a run's table.
fn reals(fmu: &Fmu) -> Vec<&ScalarVariable> {
    let is_recorded = recorded(&fmu.description);
    fmu.variables(|v| is_recorded(v) && is_real(v))
}

/// Returns a variable of a run's table that is real.
pub(crate) fn output<'a>(fmu: &'a Fmu, name: &str) -> Result<&'a ScalarVariable> {
    let known = reals(fmu);
    let found = known.iter().find(|v| v.name == name);
    found
        .copied()
        .ok_or_else(|| Error::Invalid(unknown("real output, state or input", name, names(&known))))
}

/// A parameter, start value or constant input that neighbouring runs vary.
pub(crate) struct Varied<'a> {
    /// The variable.
    pub variable: &'a ScalarVariable,
    /// Its value.
    pub value: f64,
    limits: [Option<f64>; 2],
    nominal: f64,
}

impl<'a> Varied<'a> {
    /// Finds the variable; its value is that of the settings `set`, or of the model.
    ///
    /// # Errors
    /// An unknown name; an input that changes at events only or is driven by a signal.
    pub fn new(fmu: &'a Fmu, plan: &Plan, name: &str, set: &[(u32, f64)]) -> Result<Self> {
        let variable = fmu.settable(name)?;
        if plan.drives(variable) {
            return Err(invalid!(
                "{name} is driven by a signal: only a constant input has a derivative"
            ));
        }
        if variable.causality == Causality::Input && variable.variability == Variability::Discrete {
            return Err(invalid!(
                "{name} is a switch or a command: there is no derivative with respect to it"
            ));
        }
        let Kind::Real(real) = &variable.kind else {
            return Err(invalid!("{name} is not a real number"));
        };
        let mut parameters = fmu.model.parameters.iter();
        let declared = parameters.find(|parameter| called(&parameter.quantity.name)(&variable.name));
        let own = set
            .iter()
            .rev()
            .find(|(reference, _)| *reference == variable.value_reference);
        Ok(Self {
            variable,
            value: own.map_or(real.start.unwrap_or(0.0), |(_, value)| *value),
            limits: declared.map_or([None; 2], |parameter| parameter.quantity.bound.limits()),
            nominal: real.nominal.unwrap_or(1.0).abs(),
        })
    }

    /// Returns the size of a value: its magnitude, at least a part of the nominal value, and less of
    /// that for variables with limits, whose values may be smaller by far.
    pub fn size(&self, value: f64) -> f64 {
        let least = LEAST_SIZE * self.nominal;
        match self.limits {
            [None, None] => value.abs().max(least),
            _ if value == 0.0 => least,
            _ => value.abs().max(NEAR_A_LIMIT * self.value.abs().max(least)),
        }
    }

    /// Returns the value, or the declared limit that it exceeds.
    pub fn within(&self, value: f64) -> f64 {
        let [min, max] = self.limits;
        value
            .max(min.unwrap_or(f64::NEG_INFINITY))
            .min(max.unwrap_or(f64::INFINITY))
    }

    /// Returns true if the value is at a declared limit, as near as the size of its steps.
    pub fn is_at_limit(&self, value: f64) -> bool {
        let near = |limit: &Option<f64>| limit.is_some_and(|limit| (value - limit).abs() < 1e-2 * self.size(value));
        self.limits.iter().any(near)
    }

    /// Returns true if the value is within the declared limits.
    pub fn admits(&self, value: f64) -> bool {
        let [min, max] = self.limits;
        min.is_none_or(|min| value >= min) && max.is_none_or(|max| value <= max)
    }

    /// Returns the possible differences at a value: central, and to both sides.
    fn differences(&self, value: f64) -> [Differences; 3] {
        let step = RELATIVE_STEP * self.size(value);
        let all = [(step, &CENTRAL), (step, &FORWARD), (-step, &FORWARD)];
        all.map(|(step, formula)| Differences { step, formula })
    }
}

/// Weights of a first derivative, of the second and of the fourth order: offsets in steps, with the
/// weights, over a step, of the differences to the value itself. The first offsets are those of the
/// second order.
struct Formula {
    offsets: [f64; 4],
    second: [f64; 2],
    fourth: [f64; 4],
}

const CENTRAL: Formula = Formula {
    offsets: [-1.0, 1.0, -2.0, 2.0],
    second: [-0.5, 0.5],
    fourth: [-2.0 / 3.0, 2.0 / 3.0, 1.0 / 12.0, -1.0 / 12.0],
};

const FORWARD: Formula = Formula {
    offsets: [1.0, 2.0, 3.0, 4.0],
    second: [2.0, -0.5],
    fourth: [4.0, -3.0, 4.0 / 3.0, -0.25],
};

struct Differences {
    step: f64,
    formula: &'static Formula,
}

impl Differences {
    fn offsets(&self, order: Order) -> impl Iterator<Item = f64> {
        let n = if order == Order::Second { 2 } else { 4 };
        self.formula.offsets[..n].iter().map(|offset| offset * self.step)
    }

    /// Returns the derivative from the value and those at the offsets, with an estimate of its error.
    fn derivative(&self, here: f64, there: &[f64]) -> (f64, f64) {
        let sum = |weights: &[f64]| {
            let parts = weights.iter().zip(there).map(|(weight, there)| weight * (there - here));
            parts.sum::<f64>() / self.step
        };
        let Formula { second, fourth, .. } = self.formula;
        let of_second = sum(second);
        match there.len() {
            4 => {
                let of_fourth = sum(fourth);
                (of_fourth, (of_fourth - of_second).abs())
            }
            _ => (of_second, 0.0),
        }
    }
}

/// Runs of a model with neighbouring values of its parameters.
pub(crate) struct Neighbourhood<'a> {
    /// The values that are varied.
    pub varied: Vec<Varied<'a>>,
    fmu: &'a Fmu,
    plan: Plan<'a>,
    set: Vec<(u32, f64)>,
    outputs: Vec<&'a ScalarVariable>,
    references: Vec<u32>,
    /// Communication points after the start, s.
    points: Vec<f64>,
    instance: Component,
}

/// A run in this process, with the rows that it has recorded.
struct Follower {
    instance: Component,
    rows: Vec<Vec<f64>>,
    /// Number of events up to each row.
    events: Vec<u64>,
    /// Name and value that differ from those of the run that it follows.
    differs: (String, f64),
}

impl<'a> Neighbourhood<'a> {
    /// Prepares runs over these communication points (s), that record these outputs.
    ///
    /// # Errors
    /// The model's numbers are invalid.
    pub fn new(
        fmu: &'a Fmu,
        plan: Plan<'a>,
        set: Vec<(u32, f64)>,
        outputs: &[&'a ScalarVariable],
        varied: Vec<Varied<'a>>,
        points: Vec<f64>,
    ) -> Result<Self> {
        let model = Arc::new(fmu.model.clone());
        let guid = Guid::new(&model.to_bytes()?, Naming::Structured, Interfaces::Both);
        let (interface, naming) = (Interface::CoSimulation, Naming::Structured);
        Ok(Self {
            instance: Component::new(interface, model, naming, guid, false)?,
            references: outputs.iter().map(|output| output.value_reference).collect(),
            outputs: outputs.to_vec(),
            fmu,
            plan,
            set,
            varied,
            points,
        })
    }

    /// Starts a run with these values of the varied parameters.
    fn start(&self, values: &[f64], differs: (String, f64)) -> Result<Follower> {
        let mut instance = self.instance.clone();
        let varied = self.varied.iter().zip(values);
        let varied = varied.map(|(of, value)| (of.variable.value_reference, *value));
        let set: Vec<(u32, f64)> = self.set.iter().copied().chain(varied).collect();
        self.plan.initialize(&mut instance, &set)?;
        let rows = vec![instance.reals(&self.references)?];
        Ok(Follower {
            events: vec![instance.events()],
            instance,
            rows,
            differs,
        })
    }

    /// Advances a run between two communication points, s.
    fn advance(&self, run: &mut Follower, span: (f64, f64)) -> Result<()> {
        self.plan.advance_to(&mut run.instance, span)?;
        run.rows.push(run.instance.reals(&self.references)?);
        run.events.push(run.instance.events());
        Ok(())
    }

    /// Makes a run with these values; one row for the start and each communication point.
    ///
    /// # Errors
    /// Invalid values; a run that ends early; a cancellation.
    pub fn run(&self, values: &[f64], control: &mut Control) -> Result<Vec<Vec<f64>>> {
        let mut run = self.start(values, (String::new(), 0.0))?;
        for span in self.spans() {
            interrupted(control, span.0)?;
            self.advance(&mut run, span)?;
        }
        Ok(run.rows)
    }

    /// Returns the intervals between communication points, s.
    fn spans(&self) -> impl Iterator<Item = (f64, f64)> {
        let starts = std::iter::once(0.0).chain(self.points.iter().copied());
        starts.zip(self.points.iter().copied())
    }

    /// Makes a run with these values and those of the neighbouring runs, and returns the derivatives.
    ///
    /// # Errors
    /// Those of [`run`](Self::run).
    pub fn sensitivities(&self, values: &[f64], order: Order, control: &mut Control) -> Result<Sensitivities> {
        let mut run = self.start(values, (String::new(), 0.0))?;
        let (mut others, mut differences) = (Vec::new(), Vec::new());
        for i in 0..values.len() {
            let (of, started) = self.start_around(i, values, order)?;
            differences.push(of);
            others.extend(started);
        }
        self.run_all(&mut run, &mut others, control)?;
        Ok(self.derivatives(values, &differences, &run, &others))
    }

    /// Starts the runs for the derivative with respect to parameter `i`: to the side that the model
    /// accepts where a value is at a limit, as the inertia of a thin rod is.
    fn start_around(&self, i: usize, values: &[f64], order: Order) -> Result<(Differences, Vec<Follower>)> {
        let mut refused = None;
        for of in self.varied[i].differences(values[i]) {
            let start = |offset: f64| {
                let mut values = values.to_vec();
                values[i] += offset;
                let name = self.varied[i].variable.name.clone();
                let with = || format!("with {name} = {}", number(values[i], 17));
                self.start(&values, (name.clone(), values[i])).context(with)
            };
            match of.offsets(order).map(start).collect() {
                Ok(started) => return Ok((of, started)),
                Err(error) => refused = refused.or(Some(error)),
            }
        }
        Err(refused.unwrap_or_else(|| invalid!("there is no difference")))
    }

    /// Makes a run and others that take its steps.
    fn run_all(&self, run: &mut Follower, others: &mut [Follower], control: &mut Control) -> Result<()> {
        let spans: Vec<(f64, f64)> = self.spans().collect();
        let threads = thread::available_parallelism().map_or(1, usize::from);
        run.instance.record_steps();
        let (mut done, mut recorded) = (0, Vec::new());
        while done < spans.len() {
            let mut count = 0;
            while count < RECORDED_STEPS && done + recorded.len() < spans.len() {
                let span = spans[done + recorded.len()];
                interrupted(control, span.0)?;
                self.advance(run, span)?;
                let steps = run.instance.take_steps();
                count += steps.count().max(1);
                recorded.push((span, Arc::new(steps)));
            }
            let share = others.len().div_ceil(threads).max(1);
            let cancel = control.cancel;
            let follow = |other: &mut Follower| -> Result<()> {
                for (span, steps) in &recorded {
                    interrupted(&Control { cancel, progress: None }, span.0)?;
                    other.instance.follow_steps(Arc::clone(steps));
                    let (name, value) = &other.differs;
                    let with = format!("with {name} = {}", number(*value, 17));
                    self.advance(other, *span).context(|| with)?;
                }
                Ok(())
            };
            thread::scope(|scope| {
                let parts = others.chunks_mut(share);
                let parts: Vec<_> = parts
                    .map(|part| scope.spawn(|| part.iter_mut().try_for_each(follow)))
                    .collect();
                parts.into_iter().try_for_each(|part| match part.join() {
                    Ok(outcome) => outcome,
                    Err(panic) => std::panic::resume_unwind(panic),
                })
            })?;
            done += recorded.len();
            recorded.clear();
            control.report(spans[done - 1].1, self.plan.times.stop);
        }
        Ok(())
    }

    fn derivatives(
        &self,
        values: &[f64],
        differences: &[Differences],
        run: &Follower,
        others: &[Follower],
    ) -> Sensitivities {
        let each = others.len().checked_div(differences.len()).unwrap_or(0);
        let mut sensitivities = Sensitivities {
            results: self.results(&run.rows),
            parameters: Vec::new(),
            derivatives: Vec::new(),
            errors: Vec::new(),
            differing: Vec::new(),
            is_at_event: vec![false; run.rows.len()],
            switching: switching(&self.fmu.model.spec),
        };
        let mut there = vec![0.0; each];
        for (i, of) in differences.iter().enumerate() {
            let others = &others[i * each..][..each];
            let variable = self.varied[i].variable;
            let unit = self.fmu.unit(variable).to_owned();
            sensitivities.parameters.push((variable.name.clone(), unit, values[i]));
            let (mut columns, mut error) = (Vec::new(), 0.0_f64);
            for j in 0..self.outputs.len() {
                let (mut column, mut largest, mut of_column) = (Vec::new(), 0.0_f64, 0.0_f64);
                for (k, row) in run.rows.iter().enumerate() {
                    let rows = others.iter().map(|other| other.rows[k][j]);
                    there.iter_mut().zip(rows).for_each(|(there, row)| *there = row);
                    let (derivative, error) = of.derivative(row[j], &there);
                    column.push(derivative);
                    (largest, of_column) = (largest.max(derivative.abs()), of_column.max(error));
                }
                // Derivatives that are round-off of their column do not enter the estimate.
                let rows = run.rows.iter().map(|row| row[j].abs());
                let least = ROUND_OFF * rows.fold(0.0, f64::max) / self.varied[i].size(values[i]);
                if largest > least {
                    error = error.max(of_column / largest);
                }
                columns.push(column);
            }
            sensitivities.derivatives.push(columns);
            sensitivities.errors.push(error);
            let mut differs = others.iter().any(|other| other.instance.departures() > 0);
            for (k, is_at_event) in sensitivities.is_at_event.iter_mut().enumerate() {
                let is_other = others.iter().any(|other| other.events[k] != run.events[k]);
                *is_at_event |= is_other;
                differs |= is_other;
            }
            if differs {
                sensitivities.differing.push(variable.name.clone());
            }
        }
        sensitivities
    }

    /// Returns the accuracy of the values of an output whose largest magnitude is `largest`: that of
    /// the integration.
    pub fn accuracy(&self, output: usize, largest: f64) -> f64 {
        let nominal = match &self.outputs[output].kind {
            Kind::Real(real) => real.nominal.unwrap_or(1.0).abs(),
            _ => 1.0,
        };
        self.plan.times.tolerance * largest.max(nominal)
    }

    /// Returns rows as a table.
    pub fn results(&self, rows: &[Vec<f64>]) -> Results {
        let column = |(j, variable): (usize, &&ScalarVariable)| Column {
            name: variable.name.clone(),
            unit: self.fmu.unit(variable).to_owned(),
            values: rows.iter().map(|row| row[j]).collect(),
        };
        Results {
            time: std::iter::once(0.0).chain(self.points.iter().copied()).collect(),
            columns: self.outputs.iter().enumerate().map(column).collect(),
            parameters: Vec::new(),
        }
    }
}

/// Returns the compliant contacts, and the joints with compliant stops.
fn switching(spec: &Spec) -> Vec<String> {
    let contacts = spec
        .contact
        .iter()
        .filter(|(_, contact)| contact.law == ImpactLaw::Compliant);
    let is_stopped = |joint: &Joint| joint.range.as_ref().is_some_and(|range| range.stop == Stop::Compliant);
    let joints = spec.joint.iter().filter(|(_, joint)| is_stopped(joint));
    let names = contacts.map(|(name, _)| name).chain(joints.map(|(name, _)| name));
    names.cloned().collect()
}

/// Returns an error if the work is cancelled at the time `t` (s).
fn interrupted(control: &Control, t: f64) -> Result<()> {
    match control.flow().is_break() {
        true => Err(Error::Interrupted(format!("at t = {} s", number(t, 9)))),
        false => Ok(()),
    }
}
