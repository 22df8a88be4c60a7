//! Terminals of an FMU of FMI 3.0 (FMI 3.0, §2.4.9): groups of inputs and outputs that importers connect
//! together, with their icons.
//!
//! | terminal | members | rule | kind |
//! |---|---|---|---|
//! | joint or wheel | `q`, `qd`, `tau` | `plug`; `bus` without `tau` | `_grapple_joint` |
//! | `<joint>.reference` | inputs `q_ref`, `qd_ref`, `tau_ff` | `bus` | `_grapple_reference` |
//! | port, interface | pose and motion `r`, `q`, `v`, `w`, wrench `f`, `t` | `plug` | `_grapple_port`, `_grapple_port_world` |
//! | frame, body | `r`, `q`, `v`, `w` | `bus` | `_grapple_frame` |
//! | measure | `r`, `q`, `v`, `w` | `bus` | `_grapple_measure` |
//! | sensor | all its outputs | `bus` | `_grapple_sensor` |
//! | other owners of inputs | all their inputs and outputs | `bus` | `_grapple_element` |
//! | `<owner>.commands` | the owner's inputs that no other terminal has | `bus` | `_grapple_commands` |
//!
//! The terminals of a spacecraft and of its controller, and of a port and an interface, have equal
//! members. A port with wrenches in world axes has a kind of its own, since interfaces give them in the
//! frame's.

use crate::archive::Content;
use crate::error::{Context, Result, invalid};
use crate::picture::{self, TerminalIcon};
use grapple::fmu::arrays;
use grapple::fmu::lifecycle::Standard;
use grapple::fmu::registry::{Naming, Registry};
use grapple::plant::Model;
use grapple::spec::{PortAxes, Spec};
use indexmap::IndexMap;
use model_description::{
    Causality, CoordinateSystem, Extent, GraphicalRepresentation, Member, ModelDescription, Terminal,
    TerminalGraphicalRepresentation, Terminals, TerminalsAndIcons,
};
use std::collections::HashSet;
use std::sync::Arc;

/// Path of the file in an FMU.
pub const FILE: &str = "terminalsAndIcons/terminalsAndIcons.xml";

/// Half the width of the icon, in units of its coordinate system; the standard's default.
const HALF: f64 = 100.0;
/// Millimetres per unit; the standard's default.
const MILLIMETRES: f64 = 0.1;
/// Largest half width of a terminal.
const TERMINAL: f64 = 5.0;

/// Members that terminals have.
const MOTION: [&str; 4] = ["r", "q", "v", "w"];
const WRENCH: [&str; 2] = ["f", "t"];
const AXIS: [&str; 3] = ["q", "qd", "tau"];
const REFERENCE: [&str; 3] = ["q_ref", "qd_ref", "tau_ff"];

/// An input or output: name in its owner (`q[1]`), name in the FMU, and true for an input.
struct Variable {
    member: String,
    name: String,
    is_input: bool,
}

impl Variable {
    /// Returns the name without the index.
    fn field(&self) -> &str {
        self.member.split('[').next().unwrap_or_default()
    }
}

/// Inputs and outputs by their owners.
type Owners = IndexMap<String, Vec<Variable>>;

/// Returns the files in `terminalsAndIcons/` except the icon of the FMU, whose size is `icon`
/// (width and height in any unit) if there is one.
///
/// # Errors
/// None for a description of this program: its terminals are those that the standard allows.
pub fn files(
    model: &Arc<Model>,
    description: &ModelDescription,
    icon: Option<[f64; 2]>,
) -> Result<Vec<Content<'static>>> {
    let mut groups = groups(&model.spec, &owners(model, description));
    // Members of a law's joints would have other directions than those of the spacecraft's.
    if model.spec.has_law() || groups.is_empty() && icon.is_none() {
        return Ok(Vec::new());
    }
    let [width, height] = icon.unwrap_or([1.0, 1.0]);
    let top = HALF * height / width;
    place(&mut groups, top);
    let kinds: Vec<TerminalIcon> = TerminalIcon::ALL
        .into_iter()
        .filter(|icon| groups.iter().any(|group| group.icon == *icon))
        .collect();
    let [x1, y1, x2, y2] = [-HALF, -top, HALF, top];
    let file = TerminalsAndIcons {
        fmi_version: description.fmi_version,
        graphical_representation: Some(GraphicalRepresentation {
            coordinate_system: Some(CoordinateSystem {
                x1,
                y1,
                x2,
                y2,
                suggested_scaling_factor_to_mm: MILLIMETRES,
            }),
            icon: icon.map(|_| Extent { x1, y1, x2, y2 }),
        }),
        terminals: Terminals {
            items: groups.into_iter().map(|group| group.terminal).collect(),
        },
    };
    if let Some(problem) = file.check(description).first() {
        return Err(invalid!("{problem}"));
    }
    let mut files = vec![Content::new(FILE, file.to_xml().other()?.into_bytes())];
    for icon in kinds {
        let png = picture::terminal(icon).to_png()?;
        files.push(Content::new(format!("terminalsAndIcons/{}.png", icon.name()), png));
    }
    Ok(files)
}

/// Returns the inputs and outputs of all owners, without derivatives. Owners are the part of the
/// structured name before its last dot, in the order of the FMU's variables.
fn owners(model: &Arc<Model>, description: &ModelDescription) -> Owners {
    let structured = Registry::of(Standard::Fmi3, Arc::clone(model), Naming::Structured);
    let mut owners = Owners::new();
    for variable in &description.model_variables {
        if !matches!(variable.causality, Causality::Input | Causality::Output) {
            continue;
        }
        let Some(slot) = structured.slot(variable.value_reference) else {
            continue;
        };
        let mut name = structured.name(slot).into_owned();
        if !variable.dimensions.is_empty()
            && let Some((array, _)) = arrays::element(&name)
        {
            name = array;
        }
        if name.starts_with("der(") {
            continue;
        }
        if let Some((owner, member)) = name.rsplit_once('.') {
            owners.entry(owner.to_owned()).or_default().push(Variable {
                member: member.to_owned(),
                name: variable.name.clone(),
                is_input: variable.causality == Causality::Input,
            });
        }
    }
    owners
}

/// Rule by which an importer connects two terminals.
#[derive(Clone, Copy)]
enum Rule {
    /// All members have to be present.
    Plug,
    /// Some members have to be present.
    Bus,
}

impl Rule {
    /// Returns the rule of a terminal that has all members of its kind, or not.
    fn of(has_all: bool) -> Self {
        if has_all { Self::Plug } else { Self::Bus }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Plug => "plug",
            Self::Bus => "bus",
        }
    }
}

/// A terminal before it has a position.
struct Group {
    terminal: Terminal,
    icon: TerminalIcon,
    has_inputs: bool,
}

/// Returns the terminals of a spec, those of joints first.
fn groups(spec: &Spec, owners: &Owners) -> Vec<Group> {
    let mut groups = Vec::new();
    let controller = spec.controller.iter();
    let controlled = controller.clone().flat_map(|controller| controller.joint.keys());
    let wheels = controller.flat_map(|c| c.attitude.values().flat_map(|attitude| attitude.wheel.keys()));
    let joints: Vec<&String> = spec
        .joint
        .keys()
        .chain(spec.wheel.keys())
        .chain(controlled)
        .chain(wheels)
        .collect();
    for (name, variables) in owners {
        if joints.contains(&name) {
            groups.extend(joint(name, variables));
            groups.extend(reference(name, variables));
        }
    }
    for (name, own) in owners {
        // The ports of a controller's spacecraft are terminals of the spacecraft's FMU.
        let port = spec.port.get(name).filter(|_| spec.controller.is_none());
        if port.is_none() && !spec.interface.contains_key(name) {
            continue;
        }
        let mut members = select(own, &MOTION);
        members.extend(
            port.and_then(|port| owners.get(&port.frame))
                .map_or(Vec::new(), |of| select(of, &MOTION)),
        );
        members.extend(select(own, &WRENCH));
        let kind = match port {
            Some(port) if port.axes == PortAxes::World => "_grapple_port_world",
            _ => "_grapple_port",
        };
        let has_motion = MOTION.iter().all(|field| members.iter().any(|v| v.field() == *field));
        let rule = Rule::of(has_motion);
        let text = match port {
            Some(port) => format!("port {name}: motion of {}, and the wrench on it", port.frame),
            None => format!("interface {name}: motion of the carrier, and the wrench on it"),
        };
        groups.extend(group(name, rule, kind, TerminalIcon::Port, &text, &members));
    }
    for (name, variables) in owners {
        if spec.sensor.contains_key(name) {
            let members: Vec<&Variable> = variables.iter().collect();
            let (kind, text) = ("_grapple_sensor", format!("sensor {name}: measured values"));
            groups.extend(group(name, Rule::Bus, kind, TerminalIcon::Frame, &text, &members));
            continue;
        }
        let is_measure = spec.measure.contains_key(name);
        let members = select(variables, &MOTION);
        let has_pose = members.iter().any(|v| v.field() == "r") || members.iter().any(|v| v.field() == "w");
        if joints.contains(&name) || spec.interface.contains_key(name) || spec.port.contains_key(name) || !has_pose {
            continue;
        }
        let (kind, text) = match is_measure {
            true => ("_grapple_measure", format!("measure {name}: relative pose and motion")),
            false => ("_grapple_frame", format!("frame {name}: pose and motion")),
        };
        groups.extend(group(name, Rule::Bus, kind, TerminalIcon::Frame, &text, &members));
    }
    let known: Vec<String> = groups.iter().map(|group| group.terminal.name.clone()).collect();
    for (name, variables) in owners {
        if !known.contains(name) && variables.iter().any(|v| v.is_input) {
            let members: Vec<&Variable> = variables.iter().collect();
            let (kind, text) = ("_grapple_element", format!("inputs and outputs of {name}"));
            groups.extend(group(name, Rule::Bus, kind, TerminalIcon::Element, &text, &members));
        }
    }
    let further = further_inputs(&groups, owners);
    groups.extend(further);
    groups
}

/// Returns the terminals of inputs that are in none of `groups`, one for each owner: switches of
/// servos, states of motions, references of attitudes.
fn further_inputs(groups: &[Group], owners: &Owners) -> Vec<Group> {
    let members = groups.iter().flat_map(|group| &group.terminal.members);
    let listed: HashSet<&str> = members.map(|member| member.variable_name.as_str()).collect();
    let mut further = Vec::new();
    for (name, variables) in owners {
        let is_further = |v: &&Variable| v.is_input && !listed.contains(v.name.as_str());
        let members: Vec<&Variable> = variables.iter().filter(is_further).collect();
        let (kind, text) = ("_grapple_commands", format!("further inputs of {name}"));
        let terminal = format!("{name}.commands");
        further.extend(group(
            &terminal,
            Rule::Bus,
            kind,
            TerminalIcon::Element,
            &text,
            &members,
        ));
    }
    further
}

/// Returns the terminal of a joint: coordinates, rates, and torques or forces.
fn joint(name: &str, variables: &[Variable]) -> Option<Group> {
    let members = select(variables, &AXIS);
    let has_all = AXIS.iter().all(|field| members.iter().any(|v| v.field() == *field));
    let rule = Rule::of(has_all);
    let text = format!("joint {name}: coordinates, rates, torques or forces");
    group(name, rule, "_grapple_joint", TerminalIcon::Joint, &text, &members)
}

/// Returns the terminal of a joint's references.
fn reference(name: &str, variables: &[Variable]) -> Option<Group> {
    let members: Vec<&Variable> = select(variables, &REFERENCE)
        .into_iter()
        .filter(|v| v.is_input)
        .collect();
    let text = format!("references of joint {name}");
    let (terminal, kind) = (format!("{name}.reference"), "_grapple_reference");
    group(&terminal, Rule::Bus, kind, TerminalIcon::Joint, &text, &members)
}

/// Returns the variables with one of these names, in the order of the names.
fn select<'a>(variables: &'a [Variable], fields: &[&str]) -> Vec<&'a Variable> {
    let mut selected = Vec::new();
    for &field in fields {
        selected.extend(variables.iter().filter(|v| v.field() == field));
    }
    selected
}

/// Returns a terminal; none without members.
fn group(name: &str, rule: Rule, kind: &str, icon: TerminalIcon, text: &str, members: &[&Variable]) -> Option<Group> {
    let has_inputs = members.iter().any(|v| v.is_input);
    (!members.is_empty()).then(|| Group {
        terminal: Terminal {
            name: name.to_owned(),
            matching_rule: rule.name().to_owned(),
            terminal_kind: Some(kind.to_owned()),
            description: Some(text.to_owned()),
            members: members
                .iter()
                .map(|v| Member {
                    variable_name: v.name.clone(),
                    member_name: Some(v.member.clone()),
                    variable_kind: "signal".to_owned(),
                })
                .collect(),
            terminals: Vec::new(),
            graphical_representation: None,
        },
        icon,
        has_inputs,
    })
}

/// Places the terminals with inputs along the left edge, others along the right edge, from top to
/// bottom.
fn place(groups: &mut [Group], top: f64) {
    for side in [true, false] {
        let count = groups.iter().filter(|group| group.has_inputs == side).count() as f64;
        let x = if side { -HALF } else { HALF };
        let members = groups.iter_mut().filter(|group| group.has_inputs == side);
        for (i, group) in members.enumerate() {
            let spacing = 2.0 * top / count;
            let y = top - spacing * (i as f64 + 0.5);
            let half = TERMINAL.min(0.4 * spacing);
            group.terminal.graphical_representation = Some(TerminalGraphicalRepresentation {
                x1: x - half,
                y1: y - half,
                x2: x + half,
                y2: y + half,
                icon_base_name: group.icon.name().to_owned(),
            });
        }
    }
}
