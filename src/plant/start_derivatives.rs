use super::context::{Constants, OperatingPoint};
use super::tangent::Direction;
use super::{Evaluation, Plant, Tangent};
use crate::Error;
use crate::algebra::{Dual, Scalar, square};
use crate::system::{Parameter, Unit};

/// First and longest step of the difference quotients, relative to the parameter's [`size`].
const STEP: f64 = 0.02;
/// Number of steps from which the derivative is extrapolated, each half as long as the one before.
const ROUNDS: usize = 7;
/// Largest number of steps that may be skipped because the evaluation fails with them: they are too
/// long.
const HALVINGS: usize = 14;

/// Changes of initial states, derivatives and outputs along one direction of parameters and inputs.
pub struct StartAlong<'a> {
    /// Changes of the initial states.
    pub delta_x: &'a mut [f64],
    /// Changes of their derivatives.
    pub delta_dx: &'a mut [f64],
    /// Changes of the outputs at the start.
    pub delta_y: &'a mut [f64],
}

impl Tangent<1> {
    /// Computes `δx`, `δẋ` and `δy` for `δp` and `δu` at the start of a run, where the initial
    /// states depend on parameters. The initial states `x` must belong to the plant's parameters.
    ///
    /// Derivatives along inputs, and along parameters that are initial states (names ending in
    /// `_start`), are exact. Other parameters enter the equations through eigenvalue problems;
    /// their derivatives are extrapolated central differences, one for each parameter that changes,
    /// with about ten digits. These allocate.
    ///
    /// # Errors
    /// Those of [`Plant::derivative`], of values and of partial derivatives.
    pub fn start_along(
        &mut self,
        plant: &Plant,
        at: OperatingPoint,
        direction: Direction,
        along: StartAlong,
    ) -> Result<(), Error> {
        let Constants { model, derived, .. } = plant.constants();
        let (t, delta_p) = (at.t, direction.x);
        let StartAlong {
            delta_x,
            delta_dx,
            delta_y,
        } = along;
        let is_start = model.is_start();
        let values = plant.base.parameters.iter().zip(delta_p).zip(&is_start);
        // Parameters that are not initial states are covered by the differences below.
        let p: Vec<Dual<1>> = values
            .map(|((&p, &delta), &exact)| Dual::new(p, [if exact { delta } else { 0.0 }]))
            .collect();
        let mut x = vec![Dual::<1>::lift(0.0); at.x.len()];
        model.start(derived, t, &p, &mut x)?;
        for (delta, x) in delta_x.iter_mut().zip(&x) {
            *delta = x.eps[0];
        }
        let along = Direction {
            x: delta_x,
            u: direction.u,
        };
        self.evaluate_along(plant, at, along, delta_dx, delta_y)?;

        let moved = (0..delta_p.len()).filter(|&j| delta_p[j] != 0.0 && !is_start[j]);
        let mut differences = Differences::new(plant);
        for j in moved {
            let slope = differences.slope(plant, at, j)?;
            let along = delta_x.iter_mut().chain(&mut *delta_dx).chain(&mut *delta_y);
            for (delta, slope) in along.zip(slope) {
                *delta += slope * delta_p[j];
            }
        }
        Ok(())
    }
}

/// Derivatives during a run.
impl Plant {
    /// Adds to `δẋ` and `δy` their changes for changes `δp` of the parameters at an operating point,
    /// with states and inputs constant. They are extrapolated central differences, one for each
    /// parameter that changes, with about ten digits. These allocate.
    ///
    /// # Errors
    /// Those of [`Plant::derivative`]; [`Error::NotFinite`].
    pub fn add_along_parameters(
        &self,
        at: OperatingPoint,
        delta_p: &[f64],
        delta_dx: &mut [f64],
        delta_y: &mut [f64],
    ) -> Result<(), Error> {
        let mut differences = None;
        for (j, delta) in delta_p.iter().enumerate().filter(|(_, delta)| **delta != 0.0) {
            let of = differences.get_or_insert_with(|| Differences {
                keeps_states: true,
                ..Differences::new(self)
            });
            let slope = of.slope(self, at, j)?.iter().skip(at.x.len());
            for (sum, slope) in delta_dx.iter_mut().chain(&mut *delta_y).zip(slope) {
                *sum += slope * delta;
            }
        }
        Ok(())
    }
}

/// Difference quotients of initial states, derivatives and outputs with respect to one parameter.
struct Differences {
    /// True if the states are kept; else those of the start follow the parameter.
    keeps_states: bool,
    evaluation: Evaluation<f64>,
    /// Initial states, derivatives and outputs at the two ends.
    ends: [Vec<f64>; 2],
    /// Present row of the extrapolation's tableau, and the row before it.
    rows: [Vec<Vec<f64>>; 2],
    slope: Vec<f64>,
}

impl Differences {
    fn new(plant: &Plant) -> Self {
        let n = 2 * plant.base.model.states.len() + plant.base.model.outputs.len();
        Self {
            keeps_states: false,
            evaluation: Evaluation::new(&plant.base.model),
            ends: [(); 2].map(|()| vec![0.0; n]),
            rows: [(); 2].map(|()| vec![vec![0.0; n]; ROUNDS]),
            slope: vec![0.0; n],
        }
    }

    /// Computes central differences at decreasing steps, extrapolated to the step zero:
    ///
    /// ```text
    ///     Dᵢ₀ = (f(p + hᵢ) − f(p − hᵢ)) / 2hᵢ,   hᵢ₊₁ = hᵢ / 2
    ///     Dᵢⱼ = (2ʲ Dᵢ,ⱼ₋₁ − Dᵢ₋₁,ⱼ₋₁) / (2ʲ − 1)
    /// ```
    ///
    /// Odd powers of h are eliminated too; they occur if a second derivative jumps, such as for a
    /// joint at a beam's very end. The entry that changes least is returned (Ridders 1982; Press et
    /// al., *Numerical Recipes*, §5.7). Steps at which the evaluation fails are too long and are
    /// skipped, such as for a beam nearly as heavy as its body.
    fn slope(&mut self, plant: &Plant, at: OperatingPoint, j: usize) -> Result<&[f64], Error> {
        let model = &*plant.base.model;
        let size = size(&model.parameters, &plant.base.parameters, j);
        let mut least = f64::INFINITY;
        let (mut known, mut failure) = (0, None);
        for round in 0..HALVINGS + ROUNDS {
            if known == ROUNDS {
                break;
            }
            let h = STEP * size / f64::from(1 << round);
            if let Err(error) = self.ends(plant, at, j, h) {
                (known, failure) = (0, Some(error));
                continue;
            }
            self.rows.swap(0, 1);
            let [row, before] = &mut self.rows;
            for (k, d) in row[0].iter_mut().enumerate() {
                *d = (self.ends[1][k] - self.ends[0][k]) / (2.0 * h);
            }
            if known == 0 {
                self.slope.copy_from_slice(&row[0]);
                least = f64::INFINITY;
            }
            for order in 1..=known {
                let (lower, higher) = row.split_at_mut(order);
                let factor = f64::from(1 << order);
                let mut change: f64 = 0.0;
                for (k, d) in higher[0].iter_mut().enumerate() {
                    let (finer, coarser) = (lower[order - 1][k], before[order - 1][k]);
                    *d = (factor * finer - coarser) / (factor - 1.0);
                    change += square(*d - finer).max(square(*d - coarser));
                }
                if change < least {
                    least = change;
                    self.slope.copy_from_slice(&higher[0]);
                }
            }
            known += 1;
        }
        match (least.is_finite(), failure) {
            (true, _) => Ok(&self.slope),
            (false, Some(error)) => Err(error),
            (false, None) => {
                let name = &model.parameters[j].quantity.name;
                let variable = format!("the partial derivative with respect to {name}");
                Err(Error::NotFinite { variable, t: at.t })
            }
        }
    }

    /// Evaluates initial states, derivatives and outputs with parameter `j` decreased and increased
    /// by `h`.
    fn ends(&mut self, plant: &Plant, at: OperatingPoint, j: usize, h: f64) -> Result<(), Error> {
        let model = &*plant.base.model;
        let t = at.t;
        let mut parameters = plant.base.parameters.clone();
        // If the loops cannot be closed with slightly different parameters, as in a mechanism with
        // redundant constraints, the initial states are kept.
        let stays = self.keeps_states
            || model.is_assembled()
                && [-h, h].into_iter().any(|step| {
                    parameters[j] = plant.base.parameters[j] + step;
                    let before = (plant.base.parameters.as_slice(), &plant.base.derived);
                    let derived = model.validate(&parameters, Some(before), &mut Vec::new());
                    model.solved_start(&derived, t, &parameters).is_err()
                });
        for (step, values) in [-h, h].into_iter().zip(&mut self.ends) {
            parameters[j] = plant.base.parameters[j] + step;
            // Values slightly beyond their bounds (such as a negative damping) are accepted for a
            // difference.
            let before = (plant.base.parameters.as_slice(), &plant.base.derived);
            let derived = model.validate(&parameters, Some(before), &mut Vec::new());
            let (x, rest) = values.split_at_mut(model.states.len());
            let (dx, y) = rest.split_at_mut(model.states.len());
            // The states `at.x` may differ from the computed start; the difference is kept.
            if stays {
                x.copy_from_slice(at.x);
            } else {
                model.start(&plant.base.derived, t, &plant.base.parameters, dx)?;
                model.start(&derived, t, &parameters, x)?;
                for (x, (&here, start)) in x.iter_mut().zip(at.x.iter().zip(&*dx)) {
                    *x += here - start;
                }
            }
            let of = Constants {
                model,
                derived: &derived,
                parameters: &parameters,
            };
            self.evaluation.derivative(of, OperatingPoint { x, ..at }, dx)?;
            self.evaluation.outputs(of, x, at.discrete, y);
        }
        Ok(())
    }
}

/// Returns the size of a parameter: its magnitude, but at least 1e-4 of the largest among the
/// numbers of the same field of the spec; for zero, the geometric mean of the least and the largest
/// non-zero magnitude in the field, or the nominal value if all numbers of the field are zero. A date
/// has no size: the positions of Earth, Sun and Moon are smooth over minutes.
fn size(declared: &[Parameter], values: &[f64], j: usize) -> f64 {
    if declared[j].quantity.unit == Unit::Day {
        return 0.05;
    }
    let together = declared.iter().zip(values).filter(|(p, _)| p.at == declared[j].at);
    let sizes = together.map(|(_, value)| value.abs()).filter(|&size| size > 0.0);
    let (least, largest) = sizes.fold((f64::INFINITY, 0.0), |(least, largest), size| {
        (size.min(least), size.max(largest))
    });
    match values[j].abs() {
        _ if largest == 0.0 => declared[j].quantity.nominal,
        0.0 => (least * largest).sqrt(),
        own => own.max(1e-4 * largest),
    }
}
