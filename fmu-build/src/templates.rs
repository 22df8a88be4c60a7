//! Commented specs and studies to start from.

use crate::error::{Result, invalid};
use std::path::Path;

/// A template: an example that runs, with comments that explain the format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Template {
    /// Name of the template.
    pub name: &'static str,
    /// One-line description of the template's model.
    pub description: &'static str,
    /// Kind of the files that it gives.
    pub kind: TemplateKind,
    text: &'static str,
}

/// Kind of the files that a template gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TemplateKind {
    /// A spacecraft that moves by itself.
    Moving,
    /// A spacecraft that waits for inputs, or for further sections.
    AtRest,
    /// A controller.
    Controller,
    /// A spacecraft, and its controller in a second file.
    Pair,
    /// A study.
    Study,
}

/// All templates, the default first.
pub const TEMPLATES: [Template; 11] = [
    Template {
        name: "arm",
        description: "A satellite with a two-joint arm, whose torques are inputs",
        kind: TemplateKind::AtRest,
        text: include_str!("../templates/arm.toml"),
    },
    Template {
        name: "controller",
        description: "A controller of the joints of the template arm",
        kind: TemplateKind::Controller,
        text: include_str!("../templates/controller.toml"),
    },
    Template {
        name: "pair",
        description: "Both: NAME.toml is the arm, NAME_control.toml its controller",
        kind: TemplateKind::Pair,
        text: include_str!("../templates/arm.toml"),
    },
    Template {
        name: "study",
        description: "A Monte Carlo study of the arm, for `grapple campaign`",
        kind: TemplateKind::Study,
        text: include_str!("../templates/study.toml"),
    },
    Template {
        name: "two_link",
        description: "Two links on a free-floating base, driven by sine torques",
        kind: TemplateKind::Moving,
        text: include_str!("../../examples/two_link.toml"),
    },
    Template {
        name: "ssrms_type",
        description: "A seven-joint arm like the space station's on a free base",
        kind: TemplateKind::Moving,
        text: include_str!("../../examples/ssrms_type.toml"),
    },
    Template {
        name: "dual_arm",
        description: "Two arms of five joints each, of all kinds: servos, springs, a brake, a drive",
        kind: TemplateKind::Moving,
        text: include_str!("../../examples/dual_arm.toml"),
    },
    Template {
        name: "berthing",
        description: "A flexible arm whose end effector hits a spinning payload",
        kind: TemplateKind::Moving,
        text: include_str!("../../examples/berthing.toml"),
    },
    Template {
        name: "assembly",
        description: "Two beams of 100 m in orbit, joined by a two-armed robot that grasps them",
        kind: TemplateKind::Moving,
        text: include_str!("../templates/assembly.toml"),
    },
    Template {
        name: "servicer_orbit",
        description: "A flexible servicer in low Earth orbit: reaction wheels, solar arrays, an arm on a trajectory",
        kind: TemplateKind::Moving,
        text: include_str!("../../examples/servicer_orbit.toml"),
    },
    Template {
        name: "blank",
        description: "One body, and every section of the format explained",
        kind: TemplateKind::AtRest,
        text: include_str!("../templates/blank.toml"),
    },
];

impl Template {
    /// Returns the template called `name`.
    pub fn of(name: &str) -> Option<Self> {
        TEMPLATES.into_iter().find(|template| template.name == name)
    }

    /// Returns the names, without extension, and the texts of the files that the template gives for
    /// `name`. `model` is the file of the model of a study.
    ///
    /// # Errors
    /// The name is not valid.
    pub fn files(&self, name: &str, model: &str) -> Result<Vec<(String, String)>> {
        let own = |text: String| vec![(name.to_owned(), text)];
        let control = format!("{name}_control");
        Ok(match (self.kind, Self::of("controller")) {
            (TemplateKind::Study, _) => own(self.text.replace("my_study", name).replace("my_arm.toml", model)),
            (TemplateKind::Pair, Some(controller)) => vec![
                (name.to_owned(), self.spec(name)?.replace("my_control", &control)),
                (control.clone(), controller.spec(&control)?.replace("my_arm", name)),
            ],
            _ => own(self.spec(name)?),
        })
    }

    /// Returns the name of the model in the text.
    fn name_in_text(&self) -> &'static str {
        let mut named = self.text.lines().filter_map(|line| line.strip_prefix("name = \""));
        named
            .next()
            .and_then(|rest| rest.split('"').next())
            .unwrap_or(self.name)
    }

    /// Returns the text of the spec for a model called `name`.
    ///
    /// # Errors
    /// The name is not valid; the template is a study.
    pub fn spec(&self, name: &str) -> Result<String> {
        if self.kind == TemplateKind::Study {
            return Err(invalid!("the template {:?} is a study, no spec", self.name));
        }
        let [own, new] = [self.name_in_text(), name].map(|name| format!("{name}.toml"));
        let rename = |line: &str| match line.starts_with("name = ") {
            true => format!("name = {name:?}\n"),
            false => format!("{}\n", line.replace(&own, &new)),
        };
        let text: String = self.text.lines().map(rename).collect();
        match grapple::spec::read(&text, Path::new("")) {
            Ok(_) => Ok(text),
            Err(error) => Err(invalid!("{error}")),
        }
    }
}
