//! Short texts about a spec and a model description.

use crate::text::{count, number};
use grapple::plant::Model;
use grapple::spec::{Controller, Method, Spec, renamed};
use model_description::{Causality, Kind, ModelDescription, ScalarVariable};
use std::collections::BTreeMap;

/// Returns a message like `there is no output "tip.r"; did you mean "tip.r[1]"?`. The hint is the
/// present name of a variable that was renamed in version 0.2, or the most similar name, if at most
/// a third of its letters differ.
pub fn unknown<'a>(what: &str, name: &str, known: impl Iterator<Item = &'a str>) -> String {
    let known: Vec<&str> = known.collect();
    let hint = match renamed(name).find(|new| known.contains(&new.as_str())) {
        Some(new) => format!("it is called {new:?} since version 0.2"),
        None => {
            // Variables of the joint or body with this name.
            let is_own = |known: &&&str| known.strip_prefix(name).is_some_and(|rest| rest.starts_with('.'));
            let of_owner = known.iter().find(is_own).copied();
            let nearest = known
                .into_iter()
                .map(|known| (strsim::osa_distance(known, name), known));
            match nearest.min() {
                Some((distance, nearest)) if distance <= nearest.len().max(3) / 3 => {
                    format!("did you mean {nearest:?}?")
                }
                _ => match of_owner {
                    Some(first) => format!("did you mean {first:?}?"),
                    None => "`grapple describe` lists them".to_owned(),
                },
            }
        }
    };
    format!("there is no {what} {name:?}; {hint}")
}

/// Returns "2 bodies, 1 ANCF beam".
pub fn bodies(spec: &Spec) -> String {
    let bodies = count(spec.body.len(), "body");
    match spec.ancf_beam.len() {
        0 => bodies,
        n => format!("{bodies}, {}", count(n, "ANCF beam")),
    }
}

/// Returns "1 attitude, 2 joints", "1 task".
fn axes(spec: &Spec, controller: &Controller) -> String {
    if spec.has_law() {
        return count(spec.task.len(), "task");
    }
    let (attitudes, joints) = (controller.attitude.len(), controller.joint.len());
    match (attitudes, joints) {
        (0, _) => count(joints, "joint"),
        (_, 0) => count(attitudes, "attitude"),
        _ => format!("{}, {}", count(attitudes, "attitude"), count(joints, "joint")),
    }
}

/// Returns "no problems: 3 bodies, 2 joints, 18 states, 2 inputs, 58 outputs".
pub fn contents(model: &Model) -> String {
    let spec = &model.spec;
    let of = match &spec.controller {
        Some(controller) => format!("a controller of {}", axes(spec, controller)),
        None => format!("{}, {}", bodies(spec), count(spec.joint.len(), "joint")),
    };
    format!(
        "no problems: {of}, {}, {}, {}",
        count(model.states.len(), "state"),
        count(model.inputs.len(), "input"),
        count(model.outputs.len(), "output"),
    )
}

/// Returns "3 bodies, 6 kg".
pub fn bodies_and_mass(spec: &Spec, mass: f64) -> String {
    format!("{}, {} kg", bodies(spec), number(mass, 6))
}

/// Returns "7 revolute", "1 fixed, 2 revolute".
pub fn joints(spec: &Spec) -> String {
    let mut kinds = BTreeMap::new();
    let controlled = spec.controller.iter().flat_map(|controller| controller.joint.values());
    let all = spec.joint.values().map(|joint| joint.kind);
    for kind in all.chain(controlled.map(|joint| joint.kind)) {
        *kinds.entry(kind.name()).or_insert(0) += 1;
    }
    let parts: Vec<String> = kinds.iter().map(|(kind, n)| format!("{n} {kind}")).collect();
    if parts.is_empty() {
        "none".to_owned()
    } else {
        parts.join(", ")
    }
}

/// Returns "sampled every 0.01 s".
pub fn controlled(controller: &Controller) -> String {
    match controller.sample_time {
        Some(time) => format!("sampled every {} s", number(time, 6)),
        None => "continuous, without a sample time".to_owned(),
    }
}

/// Returns the usual name of an integration method.
pub fn method(method: Method) -> &'static str {
    match method {
        Method::Dopri5 => "Dormand–Prince 5(4)",
        Method::BogackiShampine => "Bogacki–Shampine 3(2)",
        Method::Dop853 => "Dormand–Prince 8(5,3)",
        Method::Rk4 => "Runge–Kutta 4, fixed step",
        Method::Radau5 => "Radau IIA 5",
        Method::ImplicitMidpoint => "implicit midpoint, fixed step",
        Method::LinearlyImplicit => "linearly implicit midpoint, fixed step",
        Method::Rosenbrock => "Rosenbrock-W 3(2)",
        Method::Conserving => "conserving midpoint rule, fixed step",
        Method::Auto => "Dormand–Prince 5(4) or Radau IIA 5",
    }
}

/// Returns "Model Exchange and Co-Simulation".
pub fn interfaces(description: &ModelDescription) -> &'static str {
    match (&description.model_exchange, &description.co_simulation) {
        (Some(_), Some(_)) => "Model Exchange and Co-Simulation",
        (Some(_), None) => "Model Exchange",
        (None, Some(_)) => "Co-Simulation",
        (None, None) => "without interface",
    }
}

/// The variables of a model description by kind.
#[derive(Default)]
pub struct Sorted<'a> {
    /// Continuous states.
    pub states: Vec<&'a ScalarVariable>,
    /// Variables that an importer sets during a run.
    pub inputs: Vec<&'a ScalarVariable>,
    /// Outputs that are neither states nor derivatives.
    pub outputs: Vec<&'a ScalarVariable>,
    /// Derivatives of the states.
    pub derivatives: Vec<&'a ScalarVariable>,
    /// Variables that an importer sets before a run.
    pub parameters: Vec<&'a ScalarVariable>,
    /// All other variables.
    pub locals: Vec<&'a ScalarVariable>,
}

/// Sorts the variables by kind.
pub fn sorted(description: &ModelDescription) -> Sorted<'_> {
    let states: Vec<u32> = description.continuous_states().collect();
    let mut sorted = Sorted::default();
    for (index, variable) in description.indexed_variables() {
        let group = match variable.causality {
            _ if states.contains(&index) => &mut sorted.states,
            _ if variable.derivative().is_some() => &mut sorted.derivatives,
            Causality::Input => &mut sorted.inputs,
            Causality::Output => &mut sorted.outputs,
            Causality::Parameter => &mut sorted.parameters,
            _ => &mut sorted.locals,
        };
        group.push(variable);
    }
    sorted
}

/// Returns the start value as text.
pub fn start(variable: &ScalarVariable) -> Option<String> {
    match &variable.kind {
        Kind::Real(real) => real.start.map(|value| number(value, 7)),
        Kind::Integer(integer) => integer.start.map(|value| value.to_string()),
        Kind::Boolean(boolean) => boolean.start.map(|value| value.to_string()),
        Kind::String(string) => string.start.clone(),
        Kind::Enumeration(item) => item.start.map(|value| value.to_string()),
    }
}
