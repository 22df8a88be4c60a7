//! The evaluation of a plant, shared by all that need results at the same operating point: the end of
//! a step is evaluated by the integrator, and the event indicators, the outputs at a communication
//! point and the monitoring of the next step use this evaluation.

use super::context::Constants;
use super::evaluation::Evaluation;
use super::{Discrete, Model, OperatingPoint};
use crate::elements::{EventContext, Hold};
use crate::integrate::Results;
use std::ops::{Deref, DerefMut};

/// Evaluation with the operating point of its contents.
///
/// Mutable access ends the validity of the contents, except by [`keep`](Self::keep).
#[derive(Clone, Debug)]
pub(super) struct SharedEvaluation {
    /// Boxed, so that a plant is small on the stacks of importers.
    evaluation: Box<Evaluation<f64>>,
    at: Key,
    /// True if the evaluation contains the results of the derivatives at this operating point.
    is_current: bool,
    /// Derivatives of the states at this operating point, valid with the contents.
    dx: Vec<f64>,
    /// True if derivatives and outputs at this operating point are known while the evaluation has
    /// other contents.
    has_results: bool,
    /// Outputs at this operating point, if they are known so.
    y: Vec<f64>,
    /// [Energies](Evaluation::energies) at this operating point, if they are known so.
    energies: Option<[f64; 3]>,
    /// Event indicators at this operating point.
    indicators: Vec<f64>,
    has_indicators: bool,
    /// False if no result is used again.
    pub is_shared: bool,
}

/// Operating point, in values of its own.
#[derive(Clone, Debug)]
struct Key {
    /// False before the first operating point, and after a change of parameters.
    is_valid: bool,
    t: f64,
    x: Vec<f64>,
    u: Vec<f64>,
    discrete: Discrete,
}

impl Key {
    fn set(&mut self, at: OperatingPoint) {
        self.is_valid = self.x.len() == at.x.len() && self.u.len() == at.u.len();
        if self.is_valid {
            self.t = at.t;
            self.x.copy_from_slice(at.x);
            self.u.copy_from_slice(at.u);
            self.discrete.clone_from(at.discrete);
        }
    }

    fn is(&self, at: OperatingPoint) -> bool {
        self.is_valid
            && self.t.to_bits() == at.t.to_bits()
            && have_equal_bits(&self.x, at.x)
            && have_equal_bits(&self.u, at.u)
            && self.discrete == *at.discrete
    }
}

/// Compares bits, since results distinguish 0 from −0. Numbers of the discrete state are compared by
/// value, since only events write them.
fn have_equal_bits(a: &[f64], b: &[f64]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.to_bits() == b.to_bits())
}

impl SharedEvaluation {
    /// Allocates it for a model.
    pub fn new(model: &Model) -> Self {
        Self {
            evaluation: Box::new(Evaluation::new(model)),
            at: Key {
                is_valid: false,
                t: 0.0,
                x: vec![0.0; model.states.len()],
                u: vec![0.0; model.inputs.len()],
                discrete: model.discrete(),
            },
            is_current: false,
            dx: vec![0.0; model.states.len()],
            has_results: false,
            y: Vec::new(),
            energies: None,
            indicators: vec![0.0; model.elements.indicator_count()],
            has_indicators: false,
            is_shared: true,
        }
    }

    /// Discards all results, since parameters change.
    pub fn clear(&mut self) {
        self.is_current = false;
        self.has_results = false;
        self.at.is_valid = false;
    }

    /// Records that the evaluation contains the results of the derivatives `dx` at an operating point.
    pub fn set(&mut self, at: OperatingPoint, dx: &[f64]) {
        self.dx.copy_from_slice(dx);
        self.set_point(at);
    }

    /// Records results at an operating point, which were evaluated elsewhere.
    pub fn set_results(&mut self, at: OperatingPoint, results: Results) {
        self.set(at, results.dx);
        self.is_current = false;
        self.has_results = self.at.is_valid;
        self.y.clear();
        self.y.extend_from_slice(results.y);
        self.energies = results.energies;
    }

    fn set_point(&mut self, at: OperatingPoint) {
        self.has_indicators &= self.at.is(at);
        self.at.set(at);
        self.at.is_valid &= self.is_shared;
        self.is_current = self.at.is_valid;
        self.has_results = false;
    }

    /// Returns true if the evaluation contains the results of the derivatives at an operating point.
    pub fn is_at(&self, at: OperatingPoint) -> bool {
        self.is_current && self.at.is(at)
    }

    /// Returns true if the evaluation contains the kinematics at the states `x`.
    pub fn is_at_states(&self, x: &[f64]) -> bool {
        self.is_current && self.at.is_valid && have_equal_bits(&self.at.x, x)
    }

    /// Returns true if the evaluation contains the constraint rows at the states `x` in a discrete
    /// state.
    pub fn has_rows_at(&self, x: &[f64], discrete: &Discrete) -> bool {
        self.is_at_states(x) && self.at.discrete == *discrete
    }

    /// Returns the derivatives of the states; `None` if the contents are of another operating point.
    pub fn known_derivative(&self, at: OperatingPoint) -> Option<&[f64]> {
        self.is_at(at).then_some(&self.dx)
    }

    /// Returns the results that were [evaluated elsewhere](Self::set_results) at this operating point.
    pub fn known_results(&self, at: OperatingPoint) -> Option<Results<'_>> {
        (self.has_results && self.at.is(at)).then_some(Results {
            dx: &self.dx,
            y: &self.y,
            energies: self.energies,
        })
    }

    /// Returns the data on which event indicators and limit states depend at the time `t` (s), states
    /// `x` and the importer's inputs `u`: see [`Evaluation::event_context`].
    pub fn event_context<'a>(
        &'a mut self,
        of: Constants<'a>,
        t: f64,
        x: &'a [f64],
        u: &[f64],
        discrete: &Discrete,
    ) -> EventContext<'a> {
        let at = OperatingPoint::new(t, x, u, discrete);
        let mut is_solved = self.is_at(at);
        if !is_solved && needs_solution(of, discrete) {
            self.has_results = false;
            let mut dx = std::mem::take(&mut self.dx);
            // A failure here is ignored: the evaluation of the derivatives reports it.
            is_solved = self.derivative(of, at, &mut dx).is_ok();
            self.dx = dx;
            if is_solved && self.dx.iter().all(|d| d.is_finite()) {
                self.set_point(at);
            }
        }
        let evaluation = match is_solved {
            true => self.keep(),
            false => &mut **self,
        };
        evaluation.event_context(of, at.t, x, u, discrete, is_solved)
    }

    /// Returns the evaluation for a use that keeps its contents valid.
    pub fn keep(&mut self) -> &mut Evaluation<f64> {
        &mut self.evaluation
    }

    /// Returns the event indicators; `None` if they are not known at an operating point.
    pub fn known_indicators(&self, at: OperatingPoint) -> Option<&[f64]> {
        (self.has_indicators && self.at.is(at)).then_some(&self.indicators)
    }

    /// Stores the event indicators at the operating point of the contents, if it is this one.
    pub fn set_indicators(&mut self, at: OperatingPoint, z: &[f64]) {
        if self.is_at(at) {
            self.has_indicators = true;
            self.indicators.copy_from_slice(z);
        }
    }
}

/// Returns true if event indicators depend on a solution of the dynamics: on forces of joints that
/// stick and of points that rest.
pub(super) fn needs_solution(of: Constants, discrete: &Discrete) -> bool {
    let elements = &of.model.elements;
    let watched = elements.watches();
    watched.holds && elements.sticking.iter().any(|friction| friction.holds(discrete))
        || watched.points && discrete.rests.iter().any(|state| state.hold != Hold::Free)
}

impl Deref for SharedEvaluation {
    type Target = Evaluation<f64>;

    fn deref(&self) -> &Evaluation<f64> {
        &self.evaluation
    }
}

impl DerefMut for SharedEvaluation {
    fn deref_mut(&mut self) -> &mut Evaluation<f64> {
        self.is_current = false;
        &mut self.evaluation
    }
}
