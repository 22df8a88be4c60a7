//! Integrator for the spec's solver settings; conversion of its errors, with the names of states.

use crate::Error;
use crate::event::{Event, Occurrence};
use crate::integrate::{Alternatives, IntegrateError, Method, Settings, SettingsError, Stepper};
use crate::plant::{MOST_DENSE, Model};
use crate::spec::{self, Capability};

/// Smallest tolerance at which the Rosenbrock-W method, of order 3, is considered by the automatic
/// selection.
const LEAST_OF_ROSENBROCK: f64 = 1e-7;

/// Largest number of states at which RADAU5 is considered by the automatic selection: its matrices
/// then occupy 8 MB.
const MOST_OF_RADAU5: usize = 500;

/// Returns the relative tolerance (without `tolerance` the spec's) and the limit of evaluations in
/// one call, each replaced by the nearest supported value.
pub(super) fn supported_limits(model: &Model, tolerance: Option<f64>, work_limit: f64) -> (f64, u64) {
    let tolerance = tolerance.unwrap_or(model.spec.experiment.tolerance);
    // Limits up to 1e18 can be added without overflow; a run needs at least one evaluation.
    let limit = work_limit.clamp(1.0, 1e18) as u64;
    let taken = tolerance.clamp(Settings::MIN_RELATIVE_TOLERANCE, Settings::MAX_RELATIVE_TOLERANCE);
    (taken, limit)
}

/// Builds an integrator for these [`supported_limits`].
///
/// # Errors
/// [`Error::Solver`] if a setting is invalid, such as a tolerance that is not a number.
pub(super) fn stepper(model: &Model, (tolerance, limit): (f64, u64)) -> Result<Stepper, Error> {
    let solver = &model.spec.solver;
    let fixed = |step: Option<f64>| step.unwrap_or(model.spec.experiment.step);
    let method = match (solver.method, solver.step) {
        (spec::Method::Dopri5, _) => Method::Dopri5,
        (spec::Method::BogackiShampine, _) => Method::BogackiShampine,
        (spec::Method::Dop853, _) => Method::Dop853,
        (spec::Method::Rk4, step) => Method::Rk4 { step: fixed(step) },
        (spec::Method::Radau5, _) => Method::Radau5,
        (spec::Method::Rosenbrock, _) => Method::Rosenbrock,
        (spec::Method::ImplicitMidpoint, step) => Method::ImplicitMidpoint { step: fixed(step) },
        (spec::Method::LinearlyImplicit, step) => Method::LinearlyImplicit { step: fixed(step) },
        (spec::Method::Conserving, step) => Method::Conserving {
            step: fixed(step),
            rates: model.system().nv,
        },
        (spec::Method::Auto, _) => chosen(model, tolerance),
    };
    let longest = solver.step.unwrap_or(f64::INFINITY);
    let settings = Settings::new(method, tolerance, &model.scales)
        .and_then(|settings| settings.with_h_max(longest))
        .map_err(|error| Error::Solver(refused(error, model)))?;
    Ok(Stepper::new(settings.with_max_evaluations(limit)))
}

/// Returns true if the model's method is RADAU5, or may select it.
pub(crate) fn uses_radau5(model: &Model) -> bool {
    match model.spec.solver.method {
        spec::Method::Radau5 => true,
        spec::Method::Auto => chosen(model, model.spec.experiment.tolerance).needs_jacobian(),
        _ => false,
    }
}

/// Returns the method for `auto` and a spec without a method.
fn chosen(model: &Model, tolerance: f64) -> Method {
    let n = model.states.len();
    // Axial vibrations of nonlinear beams limit all other methods to very short steps.
    if model.spec.has_nonlinear_beams() && n <= MOST_DENSE {
        return Method::Radau5;
    }
    Method::Auto(Alternatives {
        rosenbrock: model.spec.formulation.has(Capability::LinearlyImplicit) && tolerance >= LEAST_OF_ROSENBROCK,
        vibrates: model.system().bodies.iter().any(|body| body.modes.is_some()),
        radau5: n <= MOST_OF_RADAU5,
    })
}

/// Builds an integrator without states, which allocates nothing. Does not fail.
pub(super) fn none() -> Result<Stepper, Error> {
    let settings = Settings::new(Method::Rk4 { step: 1.0 }, Settings::MAX_RELATIVE_TOLERANCE, &[]);
    settings
        .map(Stepper::new)
        .map_err(|error| Error::Solver(error.to_string()))
}

/// Returns the event of a change of the integration method at the time `t` (s).
pub(super) fn changed_to(method: Method, t: f64) -> Event {
    let what = Occurrence::MethodChanged {
        method: method.name().to_owned(),
    };
    Event { t, what }
}

/// Returns the message for invalid settings, with the name of the state.
fn refused(error: SettingsError, model: &Model) -> String {
    match error {
        SettingsError::Nominal { component, value } => {
            let name = &model.states[component].name;
            format!("nominal value {value:e} of {name} gives no usable absolute tolerance")
        }
        error => error.to_string(),
    }
}

/// Converts an integrator's error: state indices become names of the model. `limit` is the limit of
/// evaluations in one call.
pub(super) fn named(error: IntegrateError<Error>, model: &Model, limit: u64) -> Error {
    let name = |component: usize| model.states[component].name.as_str();
    let (t, what) = match error {
        IntegrateError::WorkLimit { t_reached: t, .. } => return Error::WorkLimit { t, limit },
        IntegrateError::StateNotFinite { t, component } => {
            let variable = name(component).to_owned();
            return Error::NotFinite { variable, t };
        }
        // Zero `h`: the derivative failed at the start of the step, at any step length.
        IntegrateError::Derivative { t, h: 0.0, source } => (t, source.to_string()),
        IntegrateError::Derivative { t, h, source } => (
            t,
            format!("the derivative cannot be evaluated within a step of {h:e} s: {source}"),
        ),
        IntegrateError::NotFinite { t, h: 0.0, component } => {
            (t, format!("the derivative of {} is not finite", name(component)))
        }
        IntegrateError::NotFinite { t, h, component } => (
            t,
            format!(
                "{} or its derivative is not finite within a step of {h:e} s",
                name(component)
            ),
        ),
        IntegrateError::StepTooSmall {
            t,
            h,
            component,
            error_norm,
        } => (
            t,
            format!(
                "the step of {h:e} s is too small to continue, and the error of {} is {error_norm:.3} times its tolerance",
                name(component)
            ),
        ),
        IntegrateError::NoConvergence { t, h } => (
            t,
            format!(
                "Newton's iteration does not converge in a step of {h:e} s: the step is too long, or the derivative has a jump there or is nearly singular"
            ),
        ),
        IntegrateError::LimitNotAhead { t, t_limit } => {
            (t, format!("the end of the step, t = {t_limit} s, is not later"))
        }
        // Excluded here: lengths are those of the model, dense output follows an accepted step.
        IntegrateError::WrongLength { .. } | IntegrateError::WrongMemory { .. } | IntegrateError::NoStep => {
            (0.0, error.to_string())
        }
    };
    Error::Integration { t, what }
}

#[cfg(feature = "inside")]
pub(super) mod tests {
    use super::*;
    use crate::messages;
    use crate::plant::Plant;
    use crate::simulation::Simulation;
    use std::path::Path;

    unit_tests![
        integrator_errors_use_the_names_of_the_model,
        messages_on_settings_and_limits_name_the_remedy,
    ];

    const ARM: &str = r#"
name = "swings"
[body.arm]
mass = 1.0
inertia = [0.1, 0.1, 0.1]
[joint.root]
type = "revolute"
parent = "world"
child = "arm"
damping = 1e6
start = { rate = 1.0 }
[solver]
method = "dopri5"
work_limit = 1000
"#;

    fn simulation() -> Simulation {
        let model = Model::read(ARM, Path::new(".")).expect("a valid spec");
        Simulation::new(Plant::new(model.into()).expect("regular")).expect("starts")
    }

    /// A message contains the time once and names states, not their indices.
    fn integrator_errors_use_the_names_of_the_model() {
        let _section = messages::of_this_test();
        let simulation = simulation();
        let model = simulation.plant.model();
        let component = model.states.iter().position(|state| state.name == "root.qd");
        let component = component.expect("a state that is a rate");
        let (t, h) = (1.5, 1e-9);
        let singular = Error::Singular {
            what: "joint \"root\", axis 1".to_owned(),
        };
        let not_finite = |h| IntegrateError::NotFinite { t, h, component };
        let step_too_small = IntegrateError::StepTooSmall {
            t,
            h,
            component,
            error_norm: 2.0,
        };
        let derivative = IntegrateError::Derivative {
            t,
            h: 0.0,
            source: singular,
        };
        for (error, name) in [
            (not_finite(h), "root.qd"),
            (not_finite(0.0), "root.qd"),
            (step_too_small, "root.qd"),
            (derivative, "joint \"root\", axis 1"),
        ] {
            let error = named(error, model, 7);
            messages::record(&error);
            assert!(
                matches!(&error, Error::Integration { t: 1.5, what } if what.contains(name)),
                "{error:?}"
            );
        }
        let error = named(IntegrateError::StateNotFinite { t, component }, model, 7);
        messages::record(&error);
        let variable = "root.qd".to_owned();
        assert_eq!(error, Error::NotFinite { variable, t });
    }

    fn messages_on_settings_and_limits_name_the_remedy() {
        let _section = messages::of_this_test();
        let mut simulation = simulation();
        let refused = simulation.set_solver(Some(f64::NAN), 1e6).expect_err("no number");
        assert!(matches!(refused, Error::Solver(_)), "{refused:?}");
        messages::record(&refused);
        let limited = simulation.advance(10.0, &mut Vec::new()).expect_err("stiff");
        assert!(matches!(limited, Error::WorkLimit { limit: 1000, .. }), "{limited:?}");
        messages::record(messages::without_decimals(&limited));
    }
}
