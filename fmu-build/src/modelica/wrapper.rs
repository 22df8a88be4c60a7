//! The Modelica model that wraps one imported FMU.

use crate::fmu::start;
use crate::html::escaped;
use crate::text::count;
use grapple::spec::{Port, PortAxes, Spec, mangled};
use model_description::{Causality, Kind, ModelDescription, ScalarVariable};
use std::fmt::Write;

/// A model that wraps one imported FMU.
#[derive(Default)]
pub struct Wrapper {
    /// Name: that of the spec.
    pub name: String,
    /// Names of flanges and frames, numbers of commands and sensors.
    pub summary: String,
    /// Ports without a frame, each with the reason.
    pub remarks: Vec<String>,
    /// True if it runs without connections; a controller's flanges need those of a spacecraft.
    pub runs_alone: bool,
    /// The model.
    pub text: String,
    connectors: Vec<Connector>,
    adaptors: String,
    initial: String,
    equations: String,
    /// Names of the inputs that connectors drive.
    driven: Vec<String>,
}

/// A flange or a frame.
struct Connector {
    class: String,
    name: String,
    what: String,
    /// Abscissa in the icon.
    x: f64,
}

impl Wrapper {
    /// Returns the wrapper of the FMU that is built from the spec and has this description.
    pub fn new(spec: &Spec, description: &ModelDescription) -> Self {
        let mut wrapper = Self {
            name: spec.name.clone(),
            runs_alone: spec.controller.is_none(),
            ..Self::default()
        };
        for variable in &description.model_variables {
            wrapper.add_flange(variable, description);
        }
        for (name, port) in spec.port.iter().filter(|_| spec.controller.is_none()) {
            if let Err(missing) = wrapper.add_frame(name, port, description) {
                wrapper.remarks.push(format!(
                    "port {name} has no frame, its inputs are commands: the FMU has no {missing}"
                ));
            }
        }
        let (mut commands, mut sensors) = (Vec::new(), Vec::new());
        for variable in &description.model_variables {
            let name = mangled(&variable.name);
            let what = quoted(variable.description.as_deref().unwrap_or_default());
            let unit = description.unit_of(variable);
            let unit = unit.map_or_else(String::new, |unit| format!("(unit = \"{unit}\")"));
            let field = format!("      {} {name}{unit}", variable.kind.base_type());
            match (variable.causality, &variable.kind) {
                (Causality::Input, kind) if !wrapper.driven.contains(&variable.name) => {
                    let start = match kind {
                        Kind::Integer(integer) => integer.start.unwrap_or_default().to_string(),
                        Kind::Boolean(boolean) => boolean.start.unwrap_or_default().to_string(),
                        _ => format!("{:?}", start(variable).unwrap_or_default()),
                    };
                    commands.push(format!("{field} = {start} {what} annotation(Dialog);\n"));
                    wrapper.equation(&format!("fmu.{name} = commands.{name}"));
                }
                (Causality::Output, _) => {
                    sensors.push(format!("{field} {what};\n"));
                    wrapper.equation(&format!("connect(fmu.{name}, sensors.{name})"));
                }
                _ => {}
            }
        }
        let mut summary: Vec<String> = wrapper
            .connectors
            .iter()
            .map(|connector| connector.name.clone())
            .collect();
        summary.extend([count(commands.len(), "command"), count(sensors.len(), "sensor")]);
        wrapper.summary = summary.join(", ");
        wrapper.text = wrapper.model(&spec.description, &commands.concat(), &sensors.concat(), description);
        wrapper
    }

    /// Adds the flange of a joint's axis if the variable is its torque: an input with an angle and a
    /// rate as outputs (a spacecraft), or an output with them as inputs (a controller). The attitude
    /// of a spherical joint is no angle.
    fn add_flange(&mut self, tau: &ScalarVariable, description: &ModelDescription) -> Option<()> {
        let (joint, index) = tau.name.rsplit_once(".tau")?;
        let (is_spacecraft, other) = match tau.causality {
            Causality::Input => (true, Causality::Output),
            Causality::Output => (false, Causality::Input),
            _ => return None,
        };
        let find = |name: String| find(description, &name, other);
        let [q, qd] = [find(format!("{joint}.q{index}"))?, find(format!("{joint}.qd{index}"))?];
        let (library, position, force, adaptors) = match description.unit_of(q)? {
            "rad" => ("Rotational", "angle", "torque", ["AngleToTorque", "TorqueToAngle"]),
            "m" => (
                "Translational",
                "position",
                "force",
                ["PositionToForce", "ForceToPosition"],
            ),
            _ => return None,
        };
        let number = index.replace('[', "_").replace(']', "");
        let [connector, adaptor] = ["flange", "axis"].map(|kind| format!("{}_{kind}{number}", mangled(joint)));
        self.driven.extend([q, qd, tau].map(|variable| variable.name.clone()));
        let [q, qd, tau] = [q, qd, tau].map(|variable| format!("fmu.{}", mangled(&variable.name)));

        self.equation(&format!("connect({adaptor}.flange, {connector})"));
        self.equation(&format!("connect({q}, {adaptor}.p)"));
        self.equation(&format!("connect({qd}, {adaptor}.pder)"));
        let qdd = find(format!("der({joint}.qd{index})")).filter(|_| is_spacecraft);
        let options = match qdd {
            Some(qdd) => {
                self.equation(&format!("connect(fmu.{}, {adaptor}.pder2)", mangled(&qdd.name)));
                ""
            }
            None => "(use_pder2 = false)",
        };
        // The adaptors' torque f acts on what is connected to the flange, or on the adaptor itself.
        let what = if is_spacecraft {
            self.equation(&format!("lag*der({tau}) + {tau} = -{adaptor}.f"));
            let _ = writeln!(self.initial, "    {tau} = 0;");
            format!("{position} of the child relative to the parent, and the {force} on the child")
        } else {
            self.equation(&format!("{adaptor}.f = -{tau}"));
            format!("measured {position}, and the controller's {force}")
        };
        let (class, side) = match is_spacecraft {
            true => (adaptors[0], "a"),
            false => (adaptors[1], "b"),
        };
        let library = format!("Modelica.Mechanics.{library}");
        let _ = writeln!(
            self.adaptors,
            "    {library}.Components.General{class}Adaptor {adaptor}{options};"
        );
        self.connectors.push(Connector {
            class: format!("{library}.Interfaces.Flange_{side}"),
            name: connector,
            what: format!("Joint {joint}{}: {what}", number.replace('_', ", axis ")),
            x: -100.0,
        });
        Some(())
    }

    /// Adds the frame of a port; the error is the first variable that is missing: a component of the
    /// wrench that a signal inside the FMU sets, or the attitude of a point of an ANCF beam.
    fn add_frame(&mut self, name: &str, port: &Port, description: &ModelDescription) -> Result<(), String> {
        let list = |owner: &str, field: &str, n, causality| {
            let names = (1..=n).map(
                |i| match find(description, &format!("{owner}.{field}[{i}]"), causality) {
                    Some(variable) => Ok(variable.name.clone()),
                    None => Err(format!("{causality} {owner}.{field}[{i}]")),
                },
            );
            names.collect::<Result<Vec<String>, String>>()
        };
        let vector = |names: &[String]| {
            let names: Vec<String> = names.iter().map(|name| format!("fmu.{}", mangled(name))).collect();
            format!("{{{}}}", names.join(", "))
        };
        let own = mangled(name);
        let (mut equations, mut driven) = (Vec::new(), Vec::new());
        for field in ["f", "t"] {
            let inputs = list(name, field, 3, Causality::Input)?;
            equations.push(format!("{} = {own}_port.{field}", vector(&inputs)));
            driven.extend(inputs);
        }
        for (field, n) in [("r", 3), ("q", 4), ("v", 3), ("w", 3)] {
            let outputs = list(&port.frame, field, n, Causality::Output)?;
            equations.push(format!("{own}_port.{field} = {}", vector(&outputs)));
        }
        equations.push(format!("connect({own}_port.frame, {own}_frame)"));
        equations.iter().for_each(|equation| self.equation(equation));
        self.driven.extend(driven);
        let world = port.axes == PortAxes::World;
        let _ = writeln!(self.adaptors, "    Port {own}_port(lag = lag, worldAxes = {world});");
        self.connectors.push(Connector {
            class: "Modelica.Mechanics.MultiBody.Interfaces.Frame_a".to_owned(),
            name: format!("{own}_frame"),
            what: format!("Port {name}: pose of {}, and the force and torque on it", port.frame),
            x: 100.0,
        });
        Ok(())
    }

    fn equation(&mut self, equation: &str) {
        let _ = writeln!(self.equations, "    {equation};");
    }

    /// Returns the text of the model.
    fn model(&self, what: &str, commands: &str, sensors: &str, description: &ModelDescription) -> String {
        let (name, n) = (&self.name, self.connectors.len() as f64);
        let mut text = format!("  model {name} {}\n    extends Wrapper;\n", quoted(what));
        if !commands.is_empty() {
            let _ = write!(
                text,
                "    record Commands \"Inputs, with their start values as defaults\"\n{commands}    end Commands;\n    \
                 Commands commands \"Inputs\" annotation(Dialog(group = \"Commands\"));\n"
            );
        }
        let _ = write!(
            text,
            "    expandable connector Sensors \"Outputs\"\n{sensors}    end Sensors;\n    Sensors sensors \"Outputs\" {};\n    \
             .{name}_me_FMU fmu \"The model that importFMU makes of {name}.fmu\";\n",
            placement(0.0, -100.0)
        );
        // Without a state between the FMU's outputs and inputs, omc finds an algebraic loop.
        if self.runs_alone && n > 0.0 {
            let what = "Time constant of the forces and torques of the connectors, positive";
            let _ = writeln!(text, "    parameter Real lag(unit = \"s\") = 1e-3 \"{what}\";");
        }
        let mut rows = String::new();
        for (i, Connector { class, name, what, x }) in self.connectors.iter().enumerate() {
            let place = placement(*x, 100.0 - 200.0 * (i as f64 + 1.0) / (n + 1.0));
            let _ = writeln!(text, "    {class} {name} {} {place};", quoted(what));
            let _ = writeln!(rows, "<tr><td>{name}</td><td>{}</td></tr>", escaped(what));
        }
        for (section, lines) in [
            ("protected", &self.adaptors),
            ("initial equation", &self.initial),
            ("equation", &self.equations),
        ] {
            if !lines.is_empty() {
                let _ = write!(text, "  {section}\n{lines}");
            }
        }
        let remarks: Vec<String> = self
            .remarks
            .iter()
            .map(|remark| format!("<p>{}.</p>\n", escaped(remark)))
            .collect();
        let page = format!(
            "<html>\n<p>{}</p>\n<table>\n{rows}</table>\n{}</html>",
            escaped(what),
            remarks.concat()
        );
        let experiment = description.default_experiment.clone().unwrap_or_default();
        let experiment = [
            ("StopTime", experiment.stop_time),
            ("Interval", experiment.step_size),
            ("Tolerance", experiment.tolerance),
        ];
        let experiment = experiment
            .iter()
            .filter_map(|(name, value)| Some(format!("{name} = {:?}", (*value)?)));
        let experiment = experiment.collect::<Vec<_>>().join(", ");
        let _ = writeln!(
            text,
            "    annotation(experiment({experiment}), Documentation(info = {}));\n  end {name};",
            quoted(&page)
        );
        text
    }
}

fn find<'a>(description: &'a ModelDescription, name: &str, causality: Causality) -> Option<&'a ScalarVariable> {
    let mut variables = description.model_variables.iter();
    variables.find(|variable| variable.name == name && variable.causality == causality)
}

/// Returns the annotation of a connector's place in icon and diagram.
fn placement(x: f64, y: f64) -> String {
    let [left, right, low, high] = [x - 10.0, x + 10.0, y - 10.0, y + 10.0].map(f64::round);
    format!("annotation(Placement(transformation(extent = {{{{{left},{low}}},{{{right},{high}}}}})))")
}

/// Returns text as a string of Modelica.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}
