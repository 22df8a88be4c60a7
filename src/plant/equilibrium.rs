//! Static equilibrium under all loads.

use super::context::{Constants, OperatingPoint};
use super::evaluation::Evaluation;
use super::{Discrete, Model};
use crate::Error;
use crate::dynamics::invariants::Invariants;
use crate::elements::Tether;
use crate::system::{Derived, JointState, Kinematics, Mechanism};
use nalgebra::{DMatrix, DVector};

/// Largest number of steps of the search.
const MOST_ROUNDS: usize = 500;
/// Largest acceleration at the equilibrium, relative to the largest one at the start of the search
/// or to `LEAST` (rad/s² or m/s²), whichever is greater.
const AT_REST: f64 = 1e-10;
const LEAST: f64 = 1e-2;
/// Displacement of a coordinate for difference quotients, rad, m or the mode's unit.
const MOVE: f64 = 1e-6;

/// Static equilibrium: positions at which all accelerations are zero, with zero rates and the
/// inputs at their start values.
#[derive(Clone, Debug, PartialEq)]
pub struct Equilibrium {
    /// Coordinates of joints, modes and nodes.
    pub q: Vec<f64>,
    /// Largest remaining acceleration, rad/s² or m/s².
    pub residual: f64,
    /// Number of steps of the search.
    pub rounds: usize,
}

/// Accelerations at zero rates, with their workspace.
struct AtRest<'a> {
    of: Constants<'a>,
    evaluation: Evaluation<f64>,
    discrete: Discrete,
    t: f64,
    u: Vec<f64>,
    x: Vec<f64>,
    dx: Vec<f64>,
    kinematics: Kinematics<f64>,
}

impl Model {
    /// Returns true if a run starts in equilibrium.
    pub(super) fn seeks_equilibrium(&self) -> bool {
        self.spec.assembly.as_ref().is_some_and(|assembly| assembly.equilibrium)
    }

    /// Computes the static equilibrium from the assembled start, with closed loops.
    ///
    /// # Errors
    /// [`Error::Assembly`], [`Error::NoEquilibrium`]; [`Error::Spec`] for a model whose start cannot
    /// be in equilibrium.
    pub fn equilibrium(&self, derived: &Derived, t: f64, parameters: &[f64]) -> Result<Equilibrium, Error> {
        let mut spec = self.spec.clone();
        spec.assembly.get_or_insert_default().equilibrium = true;
        crate::spec::check(&spec)?;
        let q = self.assembly(derived, t, parameters)?.q;
        let of = Constants {
            model: self,
            derived,
            parameters,
        };
        Equilibrium::of(of, t, &q)
    }
}

impl Equilibrium {
    /// Computes the equilibrium from the coordinates `q` by steps of
    ///
    /// ```text
    ///     (μ − ∂q̈/∂q) Δq = q̈
    /// ```
    ///
    /// For a large `μ` they are steps along the loads, in the metric of the mass matrix; for
    /// `μ → 0` they are Newton's. A step is accepted if the loads do positive work on it, so that
    /// the equilibrium found is stable along the path to it.
    ///
    /// # Errors
    /// [`Error::NoEquilibrium`] with the coordinate of the largest acceleration.
    pub(super) fn of(of: Constants, t: f64, q: &[f64]) -> Result<Self, Error> {
        let model = of.model;
        let mut at_rest = AtRest::new(of, t);
        let mut q = q.to_vec();
        let mut qdd = at_rest.accelerations(&q)?;
        let size = |qdd: &DVector<f64>| qdd.amax();
        let scale = size(&qdd).max(LEAST);
        let mut mu = 1.0;
        let mut rounds = 0;
        while rounds < MOST_ROUNDS && size(&qdd) > AT_REST * scale {
            rounds += 1;
            let A = at_rest.slopes(&q, &qdd)?;
            let stiffest = A.diagonal().amax().max(f64::MIN_POSITIVE);
            let shifted = DMatrix::from_diagonal_element(A.nrows(), A.nrows(), mu * stiffest) - &A;
            let Some(mut step) = shifted.lu().solve(&qdd) else {
                mu = (10.0 * mu).max(1e-12);
                continue;
            };
            // The largest component of a step is limited to 0.5.
            step *= (0.5 / step.amax()).min(1.0);
            let before = at_rest.work(&q, &qdd, &step);
            let mut next = q.clone();
            model.retract(of.derived, &mut next, step.as_slice(), 1.0);
            let after = at_rest.accelerations(&next);
            match after.map(|after| (at_rest.work(&next, &after, &step), after)) {
                // The loads do positive work along the step, and at its end do not oppose it much.
                Ok((left, after)) if before > 0.0 && left > -0.5 * before => {
                    mu *= if left.abs() < 0.3 * before { 0.1 } else { 0.5 };
                    mu = mu.max(1e-14);
                    (q, qdd) = (next, after);
                }
                // Near the end the sign of the work is round-off.
                Ok((_, after)) if size(&after) < 1e-6 * scale && size(&after) < size(&qdd) => (q, qdd) = (next, after),
                _ => mu *= 4.0,
            }
            if mu > 1e12 {
                break;
            }
        }
        let residual = size(&qdd);
        if residual > AT_REST * scale {
            let names = model.system.states();
            let most = qdd.iamax();
            return Err(Error::NoEquilibrium {
                rate: names[model.system.nq + most].name.clone(),
                residual,
            });
        }
        Ok(Self { q, residual, rounds })
    }
}

impl<'a> AtRest<'a> {
    fn new(of: Constants<'a>, t: f64) -> Self {
        let model = of.model;
        let mut discrete = model.discrete();
        for signal in &model.elements.signals {
            signal.update_segments(t, of.parameters, &mut discrete.segments);
        }
        let u: Vec<f64> = model.inputs.iter().map(|input| input.start).collect();
        let mut inputs = vec![0.0; model.inputs_of_loads()];
        model.inputs_at(of.parameters, t, &u, &discrete, &mut inputs);
        for (unwound, start) in model.elements.tethers.iter().filter_map(Tether::unwound_start) {
            inputs[unwound] = start.of(of.parameters);
        }
        for motor in &model.elements.dc_motors {
            motor.update_limit(of.parameters, &inputs, &mut discrete.voltages);
        }
        Self {
            of,
            evaluation: Evaluation::new(model),
            discrete,
            t,
            u,
            x: vec![0.0; model.states.len()],
            dx: vec![0.0; model.states.len()],
            kinematics: Kinematics::new(&model.system),
        }
    }

    /// Returns the work of the loads on a small step, `q̈ᵀ M Δq`, computed from kinetic energies as
    /// `½ T(q̈ + Δq) − ½ T(q̈ − Δq)`.
    fn work(&mut self, q: &[f64], qdd: &DVector<f64>, step: &DVector<f64>) -> f64 {
        let (system, derived) = (&self.of.model.system, self.of.derived);
        // Both are scaled to the same size: if one were much smaller, the two kinetic energies below
        // would be almost equal and their difference would lose digits.
        let sizes = [qdd, step].map(|of| of.amax().max(f64::MIN_POSITIVE));
        let (qdd, step) = (qdd / sizes[0], step / sizes[1]);
        let [more, less] = [&qdd + &step, &qdd - &step].map(|rates| {
            self.kinematics.update(system, derived, q, rates.as_slice());
            let qd = rates.as_slice();
            Invariants::new(self.of.at(&self.kinematics), JointState { q, qd }, None).kinetic_energy
        });
        0.5 * (more - less) * sizes[0] * sizes[1]
    }

    /// Computes the accelerations of joints, modes and nodes at the coordinates `q` and zero rates.
    fn accelerations(&mut self, q: &[f64]) -> Result<DVector<f64>, Error> {
        let Constants { model, derived, .. } = self.of;
        let qd = vec![0.0; model.system.nv];
        let (system, joints) = (&model.system, JointState { q, qd: &qd });
        let to = model.split_mut(&mut self.x);
        model.coordinates.write(Mechanism { system, derived }, joints, to);
        self.evaluation.determine_rank(self.of, &self.x, &mut self.discrete);
        let at = OperatingPoint {
            t: self.t,
            x: &self.x,
            u: &self.u,
            discrete: &self.discrete,
        };
        self.evaluation.derivative(self.of, at, &mut self.dx)?;
        let rates = match model.coordinates {
            super::coordinates::Coordinates::Minimal => model.split(&self.dx).rates,
            _ => &self.evaluation.qdd,
        };
        Ok(DVector::from_column_slice(rates))
    }

    /// Computes `∂q̈/∂q` by central differences.
    fn slopes(&mut self, q: &[f64], qdd: &DVector<f64>) -> Result<DMatrix<f64>, Error> {
        let n = qdd.len();
        let mut A = DMatrix::zeros(n, n);
        let mut step = vec![0.0; n];
        for k in 0..n {
            step[k] = 1.0;
            let mut ends = [-MOVE, MOVE].into_iter().map(|by| {
                let mut moved = q.to_vec();
                self.of.model.retract(self.of.derived, &mut moved, &step, by);
                self.accelerations(&moved)
            });
            if let (Some(before), Some(after)) = (ends.next(), ends.next()) {
                A.set_column(k, &((after? - before?) / (2.0 * MOVE)));
            }
            step[k] = 0.0;
        }
        Ok(A)
    }
}
