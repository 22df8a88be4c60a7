//! Location of the first zero of an event indicator within a step.

use super::motion::Motion;
use super::solver::named;
use super::state::{self, State};
use super::{Simulation, Workspace};
use crate::Error;
use crate::integrate::root;
use crate::plant::{Discrete, OperatingPoint, Plant};

/// Number of equal parts of a step at whose ends the event indicators are sampled, to find surfaces
/// that touch and separate again within one step.
pub(super) const PARTS: usize = 8;

/// Factor of the rates of an indicator at both ends of a step that is not exceeded within the step.
const CHANGE: f64 = 2.0;

impl Simulation {
    /// Returns true if an event indicator falls to zero within the last step; time and state are
    /// then those at the first such crossing.
    pub(super) fn go_back_to_first_crossing(&mut self, t_start: f64, t_before: f64) -> Result<bool, Error> {
        let State {
            t,
            x,
            u,
            u_derivatives,
            discrete,
            memory,
            ..
        } = &mut self.state;
        let Workspace {
            u: u_inside,
            x: x_inside,
            z_before,
            z_after,
            z,
            z_inside,
            rates,
            ..
        } = &mut self.workspace;
        let mut motion = Motion {
            plant: &mut self.plant,
            t_start,
            inputs: (u, u_derivatives),
            discrete,
            u: u_inside,
            state_jacobian: self.state_jacobian.as_mut(),
            own_step: self.own_step.as_deref_mut(),
            ahead: None,
        };
        let steps_to_events = self.stepper.settings().method().steps_to_events();
        let limit = self.stepper.settings().max_evaluations();
        let dense = self.stepper.dense(&mut motion);
        let dense = dense.map_err(|error| named(error, motion.plant.model(), limit))?;
        let Motion { plant, u: u_inside, .. } = &mut motion;
        let t_end = *t;
        let discrete: &Discrete = discrete;
        let is_bounded = plant.needs_rate_bounds();
        let mut evaluate = |at: f64, of: fn(&mut Plant, OperatingPoint, &mut [f64]), z: &mut [f64]| {
            dense.interpolate(at, x_inside);
            state::inputs_after(at - t_start, u, u_derivatives, u_inside);
            of(plant, OperatingPoint::new(at, x_inside, u_inside, discrete), z);
        };
        rates.fill(0.0);
        for &at in [t_before, t_end].iter().filter(|_| is_bounded) {
            evaluate(at, Plant::bound_rates, z);
            for (most, rate) in rates.iter_mut().zip(&*z) {
                *most = most.max(*rate);
            }
        }
        let times: [f64; PARTS + 1] =
            std::array::from_fn(|k| t_before + (t_end - t_before) * (k as f64 / PARTS as f64));
        z_inside[0].copy_from_slice(z_before);
        z_inside[PARTS].copy_from_slice(z_after);
        for (z, &at) in z_inside[1..PARTS].iter_mut().zip(&times[1..PARTS]) {
            evaluate(at, Plant::indicators, z);
        }
        let mut first = None;
        for i in 0..z_before.len() {
            let mut indicator = |at: f64| {
                evaluate(at, Plant::indicators, z);
                z[i]
            };
            let samples = std::array::from_fn(|k| (times[k], z_inside[k][i]));
            if let Some(crossing) = first_zero(&samples, rates[i], &mut indicator) {
                first = Some(first.unwrap_or(t_end).min(crossing));
            }
        }
        if let Some(first) = first.filter(|first| *first < t_end) {
            if steps_to_events {
                dense.interpolate(t_before, x);
                *t = t_before;
                let step = self.stepper.step(&mut motion, t_before, first, x, memory);
                step.map_err(|error| named(error, self.plant.model(), limit))?;
            } else {
                dense.interpolate(first, x);
            }
            *t = first;
        }
        Ok(first.is_some())
    }
}

/// Returns the time (s) of the first zero of an indicator with the given samples; `rate` is the larger
/// bound of its rate at both ends of the step, or zero if it has one minimum at most.
fn first_zero(samples: &[(f64, f64); PARTS + 1], rate: f64, indicator: &mut impl FnMut(f64) -> f64) -> Option<f64> {
    if rate > 0.0 {
        root::first_crossing_by_rate(samples, CHANGE * rate, indicator)
    } else {
        root::first_crossing(samples, indicator)
    }
}
