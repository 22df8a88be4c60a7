//! Results of the last evaluation of a plant with contact detection. The event indicators at the end
//! of a step are also those before the next one; with contacts that may rest each evaluation of them
//! solves the contact forces, which the integrator has found at the end of the step.

use super::{Discrete, Model, OperatingPoint};
use crate::elements::PointForce;

/// Operating point, in values of its own.
#[derive(Clone, Debug)]
struct Key {
    /// False if the results are not those of this operating point.
    is_valid: bool,
    t: f64,
    x: Vec<f64>,
    u: Vec<f64>,
    discrete: Discrete,
}

/// Results of the last evaluation of each kind, with their operating points.
#[derive(Clone, Debug)]
pub(super) struct Memo {
    at_points: Key,
    points: Vec<PointForce<f64>>,
    at_indicators: Key,
    indicators: Vec<f64>,
}

impl Key {
    fn new(model: &Model) -> Self {
        Self {
            is_valid: false,
            t: 0.0,
            x: vec![0.0; model.states.len()],
            u: vec![0.0; model.inputs.len()],
            discrete: model.discrete(),
        }
    }

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
        // Bits are compared, so that a run does not depend on it: zeros have signs.
        let equal = |own: &[f64], other: &[f64]| {
            own.len() == other.len() && own.iter().zip(other).all(|(a, b)| a.to_bits() == b.to_bits())
        };
        self.is_valid
            && self.t.to_bits() == at.t.to_bits()
            && equal(&self.x, at.x)
            && equal(&self.u, at.u)
            && self.discrete == *at.discrete
    }
}

impl Memo {
    /// Allocates it for a model; `None` without contact detection.
    pub fn new(model: &Model) -> Option<Box<Self>> {
        let points = model.elements.rest_points();
        model.elements.with_detection().next().map(|_| {
            Box::new(Self {
                at_points: Key::new(model),
                points: vec![PointForce::none(); points],
                at_indicators: Key::new(model),
                indicators: vec![0.0; model.elements.indicator_count()],
            })
        })
    }

    /// Discards all results, since parameters change.
    pub fn clear(&mut self) {
        self.at_points.is_valid = false;
        self.at_indicators.is_valid = false;
    }

    /// Stores the forces of all points that may rest.
    pub fn set_points(&mut self, at: OperatingPoint, points: &[PointForce<f64>]) {
        if !points.is_empty() {
            self.at_points.set(at);
            self.points.copy_from_slice(points);
        }
    }

    /// Returns the forces of all points that may rest, `None` if the operating point is another one.
    pub fn points(&self, at: OperatingPoint) -> Option<&[PointForce<f64>]> {
        self.at_points.is(at).then_some(&self.points)
    }

    /// Stores the event indicators.
    pub fn set_indicators(&mut self, at: OperatingPoint, z: &[f64]) {
        self.at_indicators.set(at);
        self.indicators.copy_from_slice(z);
    }

    /// Returns the event indicators, `None` if the operating point is another one.
    pub fn indicators(&self, at: OperatingPoint) -> Option<&[f64]> {
        self.at_indicators.is(at).then_some(&self.indicators)
    }
}
