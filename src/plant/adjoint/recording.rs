use super::Seeds;
use crate::Error;
use crate::algebra::{Recorded, Scalar, Tape};
use crate::plant::context::Constants;
use crate::plant::{Evaluation, Model, OperatingPoint};

/// Adjoint derivatives by a record of the whole evaluation. The variables are the states, then the
/// inputs.
#[derive(Clone, Debug)]
pub(super) struct Recording {
    evaluation: Evaluation<Recorded>,
    x: Vec<Recorded>,
    u: Vec<Recorded>,
    dx: Vec<Recorded>,
    y: Vec<Recorded>,
    tape: Tape,
}

impl Recording {
    pub fn new(model: &Model) -> Self {
        let buffer = |n: usize| vec![Recorded::lift(0.0); n];
        Self {
            evaluation: Evaluation::new(model),
            x: buffer(model.states.len()),
            u: buffer(model.inputs.len()),
            dx: buffer(model.states.len()),
            y: buffer(model.outputs.len()),
            tape: Tape::default(),
        }
    }

    /// Computes the adjoints of states and inputs.
    ///
    /// # Errors
    /// Those of the evaluation, and values that are not finite.
    pub fn evaluate(
        &mut self,
        of: Constants,
        at: OperatingPoint,
        seeds: Seeds,
        x_bar: &mut [f64],
        u_bar: &mut [f64],
    ) -> Result<(), Error> {
        let Self {
            evaluation,
            x,
            u,
            dx,
            y,
            tape,
        } = self;
        let variables = x.len() + u.len();
        set_variables(x, at.x, 0);
        set_variables(u, at.u, x.len());
        tape.record(variables, || -> Result<(), Error> {
            let recorded = OperatingPoint {
                t: at.t,
                x: x.as_slice(),
                u: u.as_slice(),
                discrete: at.discrete,
            };
            evaluation.derivative(of, recorded, dx)?;
            if seeds.has_outputs() {
                evaluation.outputs(of, x, at.discrete, y);
            }
            Ok(())
        })?;
        check(dx, at.t, |i| &of.model.derivatives[i].name)?;
        seed(tape, dx, seeds.dx);
        if seeds.has_outputs() {
            check(y, at.t, |i| &of.model.outputs[i].quantity.name)?;
            seed(tape, y, seeds.y);
        }
        tape.sweep(0);
        for (k, to) in x_bar.iter_mut().chain(u_bar).enumerate() {
            *to = tape.adjoint(k);
        }
        Ok(())
    }
}

/// Sets numbers to the variables from number `first` on.
pub(super) fn set_variables(variables: &mut [Recorded], values: &[f64], first: usize) {
    for (k, (variable, &value)) in variables.iter_mut().zip(values).enumerate() {
        *variable = Recorded::variable(value, first + k);
    }
}

/// Adds seeds to the adjoints of numbers.
pub(super) fn seed(tape: &mut Tape, numbers: &[Recorded], seeds: &[f64]) {
    numbers
        .iter()
        .zip(seeds)
        .for_each(|(number, &seed)| tape.seed(*number, seed));
}

/// Validates that the values of numbers are finite.
///
/// # Errors
/// [`Error::NotFinite`] with the name of the first one that is not.
pub(super) fn check<'a>(numbers: &[Recorded], t: f64, name: impl Fn(usize) -> &'a String) -> Result<(), Error> {
    match numbers.iter().position(|number| !number.value().is_finite()) {
        Some(i) => Err(Error::NotFinite {
            variable: name(i).clone(),
            t,
        }),
        None => Ok(()),
    }
}
