use super::{Evaluation, Plant, Tangent};
use crate::Error;
use crate::algebra::{Dual, Scalar};
use crate::system::Parameter;

/// Step of the differences over parameters, as a part of their size: the formula's error is its sixth power, times the
/// seventh derivative over 140, and round-off grows by its inverse; of `1/m` either is below 1e-13.
const STEP: f64 = 3e-3;

/// How initial states, derivatives and outputs change along one direction of parameters and inputs.
pub struct StartAlong<'a> {
    /// Of the initial states.
    pub delta_x: &'a mut [f64],
    /// Of their derivatives.
    pub delta_dx: &'a mut [f64],
    /// Of the outputs at the start.
    pub delta_y: &'a mut [f64],
}

impl Tangent<1> {
    /// The same at the start of a run, where the initial states follow from parameters: `δx`, `δẋ` and `δy` for `δp` and
    /// `δu`, at the initial states `x` that belong to the plant's parameters.
    ///
    /// Along inputs, and along the parameters that are initial states (their names end in `_start`), it is exact. Along the others,
    /// which pass through eigenvalue problems on their way into the equations, it is a sum of central differences of sixth
    /// order, one for each parameter that moves, with about ten digits. Memory is taken for those.
    ///
    /// # Errors
    /// Those of [`Plant::derivative`], of values and of partial derivatives.
    pub fn start_along(
        &mut self,
        plant: &Plant,
        t: f64,
        at: (&[f64], &[f64], &[i32]),
        (delta_p, delta_u): (&[f64], &[f64]),
        along: StartAlong,
    ) -> Result<(), Error> {
        let model = &*plant.model;
        let StartAlong {
            delta_x,
            delta_dx,
            delta_y,
        } = along;
        let values = plant.parameters.iter().zip(delta_p);
        let p: Vec<Dual<1>> = values.map(|(&p, &delta)| Dual::new(p, [delta])).collect();
        let mut x = vec![Dual::<1>::lift(0.0); at.0.len()];
        let (q, rest) = x.split_at_mut(model.system.nq);
        model.start(&p, q, &mut rest[..model.system.nv]);
        for (delta, x) in delta_x.iter_mut().zip(&x) {
            *delta = x.eps[0];
        }
        self.evaluate_along(plant, t, at, (delta_x, delta_u), (delta_dx, delta_y))?;

        let is_start = model.is_start();
        let moved = (0..delta_p.len()).filter(|&j| delta_p[j] != 0.0 && !is_start[j]);
        let mut differences = Differences::new(plant);
        for j in moved {
            let slope = differences.slope(plant, t, at, j)?;
            for (delta, slope) in delta_dx.iter_mut().chain(&mut *delta_y).zip(slope) {
                *delta += slope * delta_p[j];
            }
        }
        Ok(())
    }
}

/// Differences of derivatives and outputs over one parameter.
struct Differences {
    evaluation: Evaluation<f64>,
    values: Vec<f64>,
    slope: Vec<f64>,
}

impl Differences {
    fn new(plant: &Plant) -> Self {
        let rows = plant.model.states.len() + plant.model.outputs.len();
        Self {
            evaluation: Evaluation::new(&plant.model),
            values: vec![0.0; rows],
            slope: vec![0.0; rows],
        }
    }

    /// `f′ ≈ (45 (f₁ − f₋₁) − 9 (f₂ − f₋₂) + f₃ − f₋₃) / 60h`.
    fn slope(&mut self, plant: &Plant, t: f64, at: (&[f64], &[f64], &[i32]), j: usize) -> Result<&[f64], Error> {
        let model = &*plant.model;
        let h = STEP * size(&model.parameters, &plant.parameters, j);
        let mut parameters = plant.parameters.clone();
        self.slope.fill(0.0);
        for (steps, weight) in [
            (1.0, 45.0),
            (-1.0, -45.0),
            (2.0, -9.0),
            (-2.0, 9.0),
            (3.0, 1.0),
            (-3.0, -1.0),
        ] {
            parameters[j] = plant.parameters[j] + steps * h;
            // Numbers a little beyond their bounds (a damping below zero) are no craft's, but the law goes on there.
            let before = (plant.parameters.as_slice(), &plant.derived);
            let derived = model.judge(&parameters, Some(before), &mut Vec::new());
            let (dx, y) = self.values.split_at_mut(model.states.len());
            let numbers = (&derived, parameters.as_slice());
            self.evaluation.derivative(model, numbers, t, at, dx)?;
            self.evaluation.outputs(model, numbers, (at.0, at.2), y);
            for (slope, value) in self.slope.iter_mut().zip(&self.values) {
                *slope += weight / (60.0 * h) * value;
            }
        }
        match self.slope.iter().position(|slope| !slope.is_finite()) {
            None => Ok(&self.slope),
            Some(row) => {
                let names = model
                    .derivatives
                    .iter()
                    .chain(model.outputs.iter().map(|y| &y.quantity));
                let of = names
                    .map(|quantity| &quantity.name)
                    .nth(row)
                    .cloned()
                    .unwrap_or_default();
                let with = &model.parameters[j].quantity.name;
                let variable = format!("the partial derivative of {of} with respect to {with}");
                Err(Error::NotFinite { variable, t })
            }
        }
    }
}

/// The size of a parameter: the largest of the numbers that stand with it in the spec; its nominal if they are all zero.
fn size(declared: &[Parameter], values: &[f64], j: usize) -> f64 {
    let together = declared.iter().zip(values).filter(|(p, _)| p.at == declared[j].at);
    match together.fold(0.0, |largest: f64, (_, value)| largest.max(value.abs())) {
        0.0 => declared[j].quantity.nominal,
        largest => largest,
    }
}
