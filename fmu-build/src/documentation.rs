//! Documentation inside an FMU (§2.3): the page `documentation/index.html`, the icon, the terminals of
//! FMI 3.0, the licences.

use crate::archive::Content;
use crate::error::Result;
use crate::html::{escaped, filled};
use crate::picture;
use crate::platform::Platform;
use crate::shapes::Meshes;
use crate::summaries::{bodies_and_mass, controlled, interfaces, joints, method, sorted, start};
use crate::terminals;
use crate::text::{count, number, typeset};
use grapple::plant::{Model, Plant};
use grapple::spec::{AngleUnit, Controller, Kind, References, Spec};
use model_description::{FmiVersion, ModelDescription, NamingConvention, ScalarVariable};
use std::fmt::Write;
use std::sync::Arc;

/// Returns the files of the documentation, for the archive of an FMU.
///
/// # Errors
/// None for a compiled model.
pub fn documentation(
    model: &Arc<Model>,
    meshes: &Meshes,
    description: &ModelDescription,
    platforms: &[Platform],
) -> Result<Vec<Content<'static>>> {
    let spec = &model.spec;
    let mut contents = Vec::new();
    let mut figure = String::new();
    let mut size = None;
    if spec.kind == Kind::Spacecraft {
        let picture = picture::draw(model, meshes)?;
        let icon = match description.fmi_version {
            FmiVersion::V2_0 => "model.png",
            FmiVersion::V3_0 => "terminalsAndIcons/icon.png",
        };
        size = Some(picture.size());
        contents.push(Content::new(icon, picture.to_png()?));
        let parts = [("picture", &*picture.to_svg(&spec.name))];
        figure = filled(include_str!("../assets/spacecraft_figure.html"), &parts);
    }
    if description.fmi_version == FmiVersion::V3_0 {
        contents.extend(terminals::files(model, description, size)?);
    }
    let plant = Plant::new(Arc::clone(model))?;
    let mass = plant.derived().mass();
    let page = page(model, description, facts(spec, mass, description, platforms), &figure);
    let licence =
        |name: &str, text: &'static str| Content::new(format!("documentation/licenses/{name}"), text.as_bytes());
    contents.extend([
        Content::new("documentation/index.html", page.into_bytes()),
        licence("license.txt", LICENCE),
        licence("LICENSE-APACHE", include_str!("../../LICENSE-APACHE")),
        licence("LICENSE-MIT", include_str!("../../LICENSE-MIT")),
        licence("THIRD-PARTY-LICENSES", include_str!("../assets/THIRD-PARTY-LICENSES")),
    ]);
    Ok(contents)
}

const LICENCE: &str = "\
The library in binaries/ is grapple's, licensed under MIT or Apache-2.0, at your choice:
SPDX-License-Identifier: MIT OR Apache-2.0

The texts are in LICENSE-MIT and LICENSE-APACHE beside this file; those of the software that the library contains are in
THIRD-PARTY-LICENSES. The model in resources/ belongs to its author.
";

/// Returns the page.
fn page(model: &Model, description: &ModelDescription, facts: Facts, figure: &str) -> String {
    let parts = [
        ("name", &*escaped(&description.model_name)),
        ("css", include_str!("../assets/documentation.css")),
        (
            "description",
            &escaped(description.description.as_deref().unwrap_or_default()),
        ),
        ("facts", &definitions(&facts)),
        ("figure", figure),
        ("flat", flat_note(description)),
        ("conventions", &conventions(&model.spec)),
        ("solver", &definitions(&solver(model, description))),
        ("variables", &variables(description)),
        (
            "made_by",
            &escaped(description.generation_tool.as_deref().unwrap_or("grapple")),
        ),
        ("standard", description.fmi_version.name()),
        ("guid", &escaped(&description.guid)),
    ];
    filled(include_str!("../assets/documentation.html"), &parts)
}

/// Returns the section on signs, axes and units.
fn conventions(spec: &Spec) -> String {
    if let Some(controller) = &spec.controller {
        let samples = if controller.sample_time.is_some() { SAMPLES } else { "" };
        return filled(
            include_str!("../assets/controller_conventions.html"),
            &[
                ("joints", &*joint_law(controller)),
                ("attitudes", if controller.attitude.is_empty() { "" } else { ATTITUDES }),
                ("tasks", if spec.has_law() { TASKS } else { "" }),
                ("samples", samples),
            ],
        );
    }
    let parts = [
        ("gravity", &*gravity(spec)),
        ("measures", if spec.measure.is_empty() { "" } else { MEASURES }),
        ("ports", if spec.port.is_empty() { "" } else { PORTS }),
        ("diagnostics", if spec.output.diagnostics { DIAGNOSTICS } else { "" }),
    ];
    filled(include_str!("../assets/spacecraft_conventions.html"), &parts)
}

/// Returns the law of a controller's joints; nothing if it has no joint.
fn joint_law(controller: &Controller) -> String {
    let references = match (controller.references, controller.reference_unit) {
        _ if controller.joint.is_empty() => return String::new(),
        (References::Joints, AngleUnit::Rad) => "",
        (References::Joints, AngleUnit::Deg) => " Angular references are in degrees.",
        (References::Vector, AngleUnit::Rad) => REFERENCE_VECTORS,
        (References::Vector, AngleUnit::Deg) => &format!("{REFERENCE_VECTORS} Angular references are in degrees."),
    };
    format!("{JOINTS}{references}</dd>")
}

type Facts = Vec<(&'static str, String)>;

fn facts(spec: &Spec, mass: f64, description: &ModelDescription, platforms: &[Platform]) -> Facts {
    let platforms: Vec<&str> = platforms.iter().map(|platform| platform.name()).collect();
    vec![
        (description.fmi_version.name(), interfaces(description).to_owned()),
        ("Runs on", platforms.join(", ")),
        match &spec.controller {
            Some(controller) => ("Controller", controlled(controller)),
            None => ("Spacecraft", bodies_and_mass(spec, mass)),
        },
        ("Joints", joints(spec)),
        ("States", description.model_structure.derivatives.len().to_string()),
    ]
}

fn solver(model: &Model, description: &ModelDescription) -> Facts {
    let spec = &model.spec;
    let solver = &spec.solver;
    let seconds = |time: f64| format!("{} s", number(time, 6));
    let mut facts = Vec::new();
    if description.co_simulation.is_some() {
        facts.push(("Co-Simulation", method(solver.method).to_owned()));
        if let Some(step) = solver.step {
            let fixed = solver.method.has_fixed_step();
            facts.push((if fixed { "Sub-step" } else { "Longest step" }, seconds(step)));
        }
        facts.push((
            "Work limit",
            format!("{} evaluations in a communication step", number(model.work_limit(), 6)),
        ));
    }
    if description.model_exchange.is_some() {
        let indicators = description.number_of_event_indicators.unwrap_or(0) as usize;
        facts.push((
            "Model Exchange",
            format!("the importer integrates; {}", count(indicators, "event indicator")),
        ));
    }
    let run = &spec.experiment;
    facts.push(("Default stop time", seconds(run.stop_time)));
    facts.push(("Default step", seconds(run.step)));
    facts.push(("Default relative tolerance", number(run.tolerance, 3)));
    facts
}

fn definitions(facts: &Facts) -> String {
    facts.iter().fold(String::new(), |mut html, (term, text)| {
        let _ = write!(html, "<div><dt>{term}</dt><dd>{}</dd></div>", escaped(text));
        html
    })
}

fn flat_note(description: &ModelDescription) -> &'static str {
    match description.variable_naming_convention {
        NamingConvention::Flat => {
            "<p class=\"note\">This FMU has flat names: where a name below has a dot, a bracket or a parenthesis, \
             the variable has an underscore (<code>base_r_1_</code> for <code>base.r[1]</code>).</p>"
        }
        NamingConvention::Structured => "",
    }
}

fn gravity(spec: &Spec) -> String {
    match (spec.environment.gravity, &spec.environment.orbit) {
        (None, None) => "There is no gravity.".to_owned(),
        (None, Some(orbit)) => {
            let km = |length: f64| number(length / 1000.0, 6);
            format!(
                "The world's origin moves on a reference orbit (semi-major axis {} km, eccentricity {}) in free fall, and its \
                axes do not rotate: positions and velocities are relative to it. \
                 Gravity is the difference from that at the origin, with its gradient over each body.",
                km(orbit.semi_major_axis),
                number(orbit.eccentricity, 6)
            )
        }
        (Some(g), _) => {
            let g = g.map(|component| number(component, 6)).join(", ");
            format!("Gravity is uniform, ({g}) m/s² in inertial axes.")
        }
    }
}

const JOINTS: &str = "\
<dt>Law</dt><dd>For each axis of a joint, <code>tau</code> = <code>tau_ff</code> + <code>kp</code> (<code>q_ref</code> −
<code>q</code>) + <code>kd</code> (<code>qd_ref</code> − <code>qd</code>), up to its <code>torque_limit</code> if it has one;
<code>servo_error</code> = <code>q_ref</code> − <code>q</code>. Names are those of a spacecraft's FMU: connect its <code>q</code> and
<code>qd</code> to the inputs here, and <code>tau</code> back to it.";

const REFERENCE_VECTORS: &str =
    " The references are the vectors <code>q_ref</code> and <code>qd_ref</code> of all axes of all
joints; the descriptions of their elements name the joints.";

const ATTITUDES: &str = "\
<dt>Attitude</dt><dd>The moment on a body, in its axes, is <code>servo_torque</code> = <code>kp</code>
<code>attitude_error</code> + <code>kd</code> (<code>w_ref</code> − <code>w</code>), with the rotation vector
<code>attitude_error</code> from the attitude <code>q</code> to its reference <code>q_ref</code> (unit quaternions, scalar first).
Wheels exert it by the torques <code>tau</code> of least norm on their rotors, or a port by its torque <code>t</code>.</dd>";

const TASKS: &str = "\
<dt>Tasks</dt><dd>The outputs move a frame along its reference, by the inverse dynamics of the rigid spacecraft that the
controller contains, at the measured states. Names are those of a spacecraft's FMU: connect its states <code>q</code>,
<code>qd</code>, <code>r</code>, <code>w</code> and <code>v</code> to the inputs here, and the commands <code>tau</code>,
<code>qdd</code> or <code>q_ref</code>, <code>qd_ref</code>, <code>qdd_ref</code> back to it. Free bodies: attitude (unit quaternion,
scalar first) and position in inertial axes, angular velocity in body axes, velocity in inertial axes.</dd>";

const SAMPLES: &str = "\
<dt>Samples</dt><dd>The controller samples its inputs when the run begins and then every <code>controller.sample_time</code>;
in between its outputs keep their values (zero-order hold). In Co-Simulation a sample that is scheduled at the end of a step
is taken at the start of the next step, with the inputs set there.</dd>";

const MEASURES: &str = "\
<dt>Measures</dt><dd>Pose and motion of one frame relative to another: position, velocity and angular velocity are relative to the
measuring frame and in its axes.</dd>";

const PORTS: &str = "\
<dt>Ports</dt><dd>A force <code>f</code> and a torque <code>t</code> act at the origin of the port's frame;
the descriptions of these inputs name their axes.</dd>";

const DIAGNOSTICS: &str = "\
<dt>Reliability of a run</dt><dd><code>system.energy</code> − <code>system.work</code> is constant
under all loads; <code>system.momentum</code> and <code>system.angular_momentum</code> are constant without external
loads. Their drift is the integration error.</dd>";

/// Returns the tables of all variables.
fn variables(description: &ModelDescription) -> String {
    let sorted = sorted(description);
    [
        ("inputs", "Inputs", sorted.inputs),
        ("states", "States", sorted.states),
        ("outputs", "Outputs", [sorted.outputs, sorted.locals].concat()),
        ("derivatives", "Derivatives of the states", sorted.derivatives),
        ("parameters", "Parameters", sorted.parameters),
    ]
    .map(|(id, title, members)| table(description, id, title, &members))
    .concat()
}

fn table(description: &ModelDescription, id: &str, title: &str, members: &[&ScalarVariable]) -> String {
    let mut html = format!("<h3 id=\"{id}\">{title} <small>{}</small></h3>\n", members.len());
    if members.is_empty() {
        return html + "<p class=\"note\">None.</p>\n";
    }
    html += "<div class=\"scroll\"><table>\n<thead><tr><th>Name<th>Unit<th>Causality<th>Variability<th>Start\
             <th>Description</tr></thead>\n<tbody>\n";
    for variable in members {
        let _ = writeln!(
            html,
            "<tr><td><code>{}</code><td>{}<td>{}<td>{}<td class=\"number\">{}<td>{}</tr>",
            escaped(&variable.name),
            typeset(description.unit_of(variable).unwrap_or_default()),
            variable.causality,
            variable.variability,
            start(variable).unwrap_or_default(),
            escaped(variable.description.as_deref().unwrap_or_default()),
        );
    }
    html + "</tbody>\n</table></div>\n"
}
