//! Terminals and icons of FMI 3.0 (FMI 3.0, §2.4.9): `terminalsAndIcons/terminalsAndIcons.xml` as
//! plain data.

use serde::{Deserialize, Serialize};

use crate::xml::number;
use crate::{Error, FmiVersion, ModelDescription, Problem};

/// `fmiTerminalsAndIcons`: groups of variables that are connected together, and pictures of them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename = "fmiTerminalsAndIcons")]
pub struct TerminalsAndIcons {
    /// Version of the standard, that of the model description.
    #[serde(rename = "@fmiVersion")]
    pub fmi_version: FmiVersion,
    /// Position of the icon.
    #[serde(rename = "GraphicalRepresentation", skip_serializing_if = "Option::is_none")]
    pub graphical_representation: Option<GraphicalRepresentation>,
    /// The terminals.
    #[serde(rename = "Terminals", default, skip_serializing_if = "Terminals::is_empty")]
    pub terminals: Terminals,
}

/// Positions of the icon `icon.png`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GraphicalRepresentation {
    /// Extent of the whole icon.
    #[serde(rename = "CoordinateSystem", skip_serializing_if = "Option::is_none")]
    pub coordinate_system: Option<CoordinateSystem>,
    /// Extent of the picture.
    #[serde(rename = "Icon", skip_serializing_if = "Option::is_none")]
    pub icon: Option<Extent>,
}

/// Rectangle from the lower left to the upper right corner; x points to the right, y upwards.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CoordinateSystem {
    /// Abscissa of the lower left corner.
    #[serde(rename = "@x1", serialize_with = "number::plain")]
    pub x1: f64,
    /// Ordinate of the lower left corner.
    #[serde(rename = "@y1", serialize_with = "number::plain")]
    pub y1: f64,
    /// Abscissa of the upper right corner.
    #[serde(rename = "@x2", serialize_with = "number::plain")]
    pub x2: f64,
    /// Ordinate of the upper right corner.
    #[serde(rename = "@y2", serialize_with = "number::plain")]
    pub y2: f64,
    /// Millimetres per unit.
    #[serde(rename = "@suggestedScalingFactorTo_mm", serialize_with = "number::plain")]
    pub suggested_scaling_factor_to_mm: f64,
}

/// Rectangle of a picture in the coordinate system.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Extent {
    /// Abscissa of the picture's lower left corner.
    #[serde(rename = "@x1", serialize_with = "number::plain")]
    pub x1: f64,
    /// Ordinate of the picture's lower left corner.
    #[serde(rename = "@y1", serialize_with = "number::plain")]
    pub y1: f64,
    /// Abscissa of the picture's upper right corner.
    #[serde(rename = "@x2", serialize_with = "number::plain")]
    pub x2: f64,
    /// Ordinate of the picture's upper right corner.
    #[serde(rename = "@y2", serialize_with = "number::plain")]
    pub y2: f64,
}

/// List of terminals.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Terminals {
    /// The terminals in the order of the file.
    #[serde(rename = "Terminal", default)]
    pub items: Vec<Terminal>,
}

impl Terminals {
    /// Returns true if there is none.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }
}

/// A group of variables that are connected together.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Terminal {
    /// Name, unique among its siblings.
    #[serde(rename = "@name")]
    pub name: String,
    /// Rule by which the variables of two connected terminals are matched.
    #[serde(rename = "@matchingRule")]
    pub matching_rule: String,
    /// Kind of terminal.
    #[serde(rename = "@terminalKind", skip_serializing_if = "Option::is_none")]
    pub terminal_kind: Option<String>,
    /// Description.
    #[serde(rename = "@description", skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The variables.
    #[serde(rename = "TerminalMemberVariable", default, skip_serializing_if = "Vec::is_empty")]
    pub members: Vec<Member>,
    /// Terminals inside this one.
    #[serde(rename = "Terminal", default, skip_serializing_if = "Vec::is_empty")]
    pub terminals: Vec<Terminal>,
    /// Position and picture.
    #[serde(rename = "TerminalGraphicalRepresentation", skip_serializing_if = "Option::is_none")]
    pub graphical_representation: Option<TerminalGraphicalRepresentation>,
}

/// A variable of a terminal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Member {
    /// Name of the variable.
    #[serde(rename = "@variableName")]
    pub variable_name: String,
    /// Name by which the rules `plug` and `bus` match it.
    #[serde(rename = "@memberName", skip_serializing_if = "Option::is_none")]
    pub member_name: Option<String>,
    /// Kind: `signal`, `inflow`, `outflow`, or one of another standard.
    #[serde(rename = "@variableKind")]
    pub variable_kind: String,
}

/// Position and picture of a terminal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TerminalGraphicalRepresentation {
    /// Abscissa of the lower left corner.
    #[serde(rename = "@x1", serialize_with = "number::plain")]
    pub x1: f64,
    /// Ordinate of the lower left corner.
    #[serde(rename = "@y1", serialize_with = "number::plain")]
    pub y1: f64,
    /// Abscissa of the upper right corner.
    #[serde(rename = "@x2", serialize_with = "number::plain")]
    pub x2: f64,
    /// Ordinate of the upper right corner.
    #[serde(rename = "@y2", serialize_with = "number::plain")]
    pub y2: f64,
    /// Name of the picture `terminalsAndIcons/<name>.png`, without the extension.
    #[serde(rename = "@iconBaseName")]
    pub icon_base_name: String,
}

impl TerminalsAndIcons {
    /// Returns the text of the XML; equal values give identical bytes.
    ///
    /// # Errors
    /// A number that is not finite; a character that XML does not allow.
    pub fn to_xml(&self) -> Result<String, Error> {
        crate::xml::document(self, "fmiTerminalsAndIcons")
    }

    /// Reads the text of an XML written by any tool; unsupported elements are skipped.
    ///
    /// # Errors
    /// Text that is not XML, or has a part that is missing or of the wrong type.
    pub fn from_xml(text: &str) -> Result<Self, Error> {
        crate::xml::element(text)
    }

    /// Returns all violations of the standard (those that VDMCheck reports, and members without the
    /// name that their rule requires) together with the FMU's description; empty if there is none.
    pub fn check(&self, description: &ModelDescription) -> Vec<Problem> {
        let mut problems = Vec::new();
        let mut report = |place: &str, message: &str| {
            problems.push(Problem {
                place: format!("terminalsAndIcons.xml, {place}"),
                message: message.to_owned(),
            });
        };
        if self.fmi_version != description.fmi_version {
            report("fmiVersion", "it is not that of the model description");
        }
        if let Some(graphics) = &self.graphical_representation {
            if let Some(CoordinateSystem { x1, y1, x2, y2, .. }) = &graphics.coordinate_system
                && !(x1 < x2 && y1 < y2)
            {
                report(
                    "CoordinateSystem",
                    "the first corner is not below and left of the second",
                );
            }
            if let Some(Extent { x1, y1, x2, y2 }) = &graphics.icon
                && (x1 == x2 || y1 == y2)
            {
                report("Icon", "its area is zero");
            }
        }
        siblings("", &self.terminals.items, description, &mut report);
        problems
    }
}

/// Checks terminals of one parent, whose path is `parent`.
fn siblings(parent: &str, terminals: &[Terminal], description: &ModelDescription, report: &mut impl FnMut(&str, &str)) {
    let mut names = std::collections::HashSet::new();
    for terminal in terminals {
        let path = format!("{parent}{}", terminal.name);
        let place = format!("terminal {path:?}");
        if !names.insert(&terminal.name) {
            report(&place, "the name is not unique");
        }
        let by_name = matches!(terminal.matching_rule.as_str(), "plug" | "bus");
        let is_reverse_domain = terminal.matching_rule.contains('.');
        if !by_name && !is_reverse_domain && !matches!(terminal.matching_rule.as_str(), "sequence" | "none") {
            report(
                &place,
                &format!("the matching rule {:?} does not exist", terminal.matching_rule),
            );
        }
        let mut members = std::collections::HashSet::new();
        for member in &terminal.members {
            let variables = &mut description.model_variables.iter();
            if !variables.any(|v| v.name == member.variable_name) {
                report(&place, &format!("there is no variable {:?}", member.variable_name));
            }
            match &member.member_name {
                Some(name) if !members.insert(name) => report(&place, &format!("two members are called {name:?}")),
                None if by_name => report(&place, &format!("{:?} has no memberName", member.variable_name)),
                _ => {}
            }
        }
        if let Some(TerminalGraphicalRepresentation { x1, y1, x2, y2, .. }) = &terminal.graphical_representation
            && (x1 == x2 || y1 == y2)
        {
            report(&place, "its area is zero");
        }
        siblings(&format!("{path}."), &terminal.terminals, description, report);
    }
}
