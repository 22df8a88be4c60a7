//! The spec's solver as an integrator, and what the integrator says in the model's names.

use crate::Error;
use crate::integrate::{IntegrateError, Method, Settings, SettingsError, Stepper};
use crate::plant::Model;
use crate::spec;

/// The relative tolerance and the evaluations in one call that an integrator is asked for: of a tolerance that none takes, the nearest.
pub(super) fn demands(model: &Model, tolerance: Option<f64>, work_limit: f64) -> (f64, u64) {
    let tolerance = tolerance.unwrap_or(model.spec.experiment.tolerance);
    // A limit above 2⁶⁴ is none; below one evaluation nothing could be done.
    let limit = work_limit.clamp(1.0, 1e18) as u64;
    let taken = tolerance.clamp(Settings::MIN_RELATIVE_TOLERANCE, Settings::MAX_RELATIVE_TOLERANCE);
    (taken, limit)
}

/// An integrator that keeps to these [`demands`].
///
/// # Errors
/// [`Error::Integration`] if they are refused.
pub(super) fn stepper(model: &Model, (tolerance, limit): (f64, u64)) -> Result<Stepper, Error> {
    let solver = &model.spec.solver;
    let fixed = |step: Option<f64>| step.unwrap_or(model.spec.experiment.step);
    let method = match (solver.method, solver.step) {
        (spec::Method::Dopri5, _) => Method::Dopri5,
        (spec::Method::Dop853, _) => Method::Dop853,
        (spec::Method::Rk4, step) => Method::Rk4 { step: fixed(step) },
        (spec::Method::Radau5, _) => Method::Radau5,
        (spec::Method::ImplicitMidpoint, step) => Method::ImplicitMidpoint { step: fixed(step) },
        (spec::Method::LinearlyImplicit, step) => Method::LinearlyImplicit { step: fixed(step) },
        (spec::Method::Conserving, step) => Method::Conserving {
            step: fixed(step),
            rates: model.system().nv,
        },
        (spec::Method::Auto, _) => Method::Auto,
    };
    let nominal: Vec<f64> = model.states.iter().map(|state| state.nominal).collect();
    let longest = solver.step.unwrap_or(f64::INFINITY);
    let settings = Settings::new(method, tolerance, &nominal)
        .and_then(|settings| settings.with_h_max(longest))
        .map_err(|e| refused(&e))?;
    Ok(Stepper::new(settings.with_max_evaluations(limit)))
}

fn refused(error: &SettingsError) -> Error {
    Error::Integration {
        t: 0.0,
        what: error.to_string(),
    }
}

/// An integrator of no states, which takes no room and has no memory.
///
/// # Errors
/// None.
pub(super) fn none() -> Result<Stepper, Error> {
    let settings = Settings::new(Method::Rk4 { step: 1.0 }, Settings::MAX_RELATIVE_TOLERANCE, &[]);
    settings.map(Stepper::new).map_err(|e| refused(&e))
}

/// What to tell the user when the integrator has changed its method at `t` (s).
pub(super) fn changed_to(method: Method, t: f64) -> String {
    let stiff = if method == Method::Radau5 {
        "stiff"
    } else {
        "not stiff any more"
    };
    format!(
        "t = {t} s: the equations are {stiff}; the integration goes on with {}",
        method.name()
    )
}

/// An integrator's error with the names of the model.
pub(super) fn named(error: IntegrateError<Error>, model: &Model, stepper: &Stepper) -> Error {
    if let IntegrateError::WorkLimit { t_reached, .. } = error {
        return Error::WorkLimit {
            t: t_reached,
            limit: stepper.settings().max_evaluations(),
        };
    }
    let component = error.component();
    let t = match &error {
        IntegrateError::Derivative { t, .. }
        | IntegrateError::NotFinite { t, .. }
        | IntegrateError::StepTooSmall { t, .. }
        | IntegrateError::NoConvergence { t, .. }
        | IntegrateError::StateNotFinite { t, .. }
        | IntegrateError::LimitNotAhead { t, .. } => *t,
        _ => 0.0,
    };
    let state = component
        .and_then(|i| model.states.get(i))
        .map(|state| format!(" (state {})", state.name))
        .unwrap_or_default();
    Error::Integration {
        t,
        what: format!("{error}{state}"),
    }
}
