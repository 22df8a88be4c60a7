//! Checks of an FMU.

use crate::error::{Context, Result, invalid};
use crate::fmu::Fmu;
use crate::package::Package;
use crate::reference::{self, Comparison};
use crate::slave::FmuLibrary;
use crate::summaries::interfaces;
use crate::text::count;
use crate::{archive, terminals};
use model_description::{ModelDescription, TerminalsAndIcons};
use std::path::Path;
use tempfile::TempDir;

/// Findings about an FMU.
pub struct FmuCheck {
    /// Model description of the FMU.
    pub description: ModelDescription,
    /// Platforms on which it runs, by the names of their folders.
    pub platforms: Vec<String>,
    /// Violations of the standard in its model description and in its terminals.
    pub violations: Vec<String>,
    /// Number of terminals; none without their file.
    pub terminals: Option<usize>,
    /// Success if an instance was created here; else the reason for which it was not.
    pub instance: Result<(), String>,
    /// Comparisons with its reference results.
    pub comparisons: Vec<Comparison>,
    /// True if grapple built the FMU.
    pub is_own: bool,
}

/// Checks an FMU of any tool: its model description, its terminals, and whether its library can be
/// loaded. An FMU built by grapple is run against its reference results.
///
/// # Errors
/// An archive or an XML that cannot be read; reference results that cannot be compared. An FMU that cannot
/// be run here is no error.
pub fn check_fmu(path: &Path) -> Result<FmuCheck> {
    let description = archive::description(path)?;
    let folder = TempDir::with_prefix("grapple-").context(|| "cannot make a temporary folder")?;
    let is_own = archive::is_own(path)?;
    let mut violations: Vec<String> = description.check().iter().map(ToString::to_string).collect();
    let mut comparisons = Vec::new();
    let instance = match is_own {
        true => Fmu::unpack(&Package::Fmu(path.to_owned()), folder.path()).and_then(|fmu| {
            fmu.library.instantiate()?;
            Ok(Some(fmu))
        }),
        false => archive::unpack(path, folder.path(), archive::ALL_LIMIT)
            .and_then(|()| FmuLibrary::new(folder.path(), &description))
            .and_then(|library| library.instantiate().map(|_| None)),
    };
    let instance = match instance {
        Ok(own) => {
            if let Some(fmu) = own {
                comparisons = reference::compare(&fmu, folder.path()).context(|| path.display().to_string())?;
            }
            Ok(())
        }
        Err(error) => Err(error.in_line()),
    };
    let terminals = terminals_of(folder.path(), &description, &mut violations)?;
    Ok(FmuCheck {
        platforms: archive::platforms(path)?,
        description,
        violations,
        terminals,
        instance,
        comparisons,
        is_own,
    })
}

/// Reads and checks the terminals of an unpacked FMU of FMI 3.0.
fn terminals_of(folder: &Path, description: &ModelDescription, violations: &mut Vec<String>) -> Result<Option<usize>> {
    let file = folder.join(terminals::FILE);
    if !file.is_file() {
        return Ok(None);
    }
    let text = std::fs::read_to_string(&file).context(|| terminals::FILE)?;
    let terminals = TerminalsAndIcons::from_xml(&text).context(|| terminals::FILE)?;
    violations.extend(terminals.check(description).iter().map(ToString::to_string));
    for terminal in &terminals.terminals.items {
        if let Some(picture) = &terminal.graphical_representation {
            let icon = format!("terminalsAndIcons/{}.png", picture.icon_base_name);
            if !folder.join(&icon).is_file() {
                violations.push(format!("terminal {:?}: there is no icon {icon}", terminal.name));
            }
        }
    }
    Ok(Some(terminals.terminals.items.len()))
}

impl FmuCheck {
    /// Returns the findings, one a line.
    pub fn lines(&self) -> Vec<String> {
        let description = &self.description;
        let mut lines = vec![format!(
            "{} {}, {}",
            description.fmi_version.name(),
            interfaces(description),
            count(description.model_variables.len(), "variable")
        )];
        if let Some(terminals) = self.terminals {
            lines.push(count(terminals, "terminal"));
        }
        lines.push(match &self.instance {
            Ok(()) => format!("platforms: {}; runs here", self.platforms.join(", ")),
            Err(why) => format!("platforms: {}; cannot be run here: {why}", self.platforms.join(", ")),
        });
        if self.comparisons.is_empty() && self.is_own {
            lines.push("no reference results; `grapple build --reference` includes them".to_owned());
        }
        for of in &self.comparisons {
            let (times, variables) = of.size;
            let outcome = match of.deviations.first() {
                None => "all bits equal".to_owned(),
                Some(largest) => format!("largest deviation {largest}"),
            };
            let (times, variables) = (count(times, "time"), count(variables, "variable"));
            lines.push(format!("reference {:?}, {times}, {variables}: {outcome}", of.name));
        }
        lines
    }

    /// Returns an error with all violations and deviations, if there is one.
    ///
    /// # Errors
    /// The violations of the standard, and the deviations above the limit.
    pub fn outcome(&self) -> Result<()> {
        /// Largest number of variables that are listed.
        const MOST: usize = 10;
        let mut failures = self.violations.clone();
        for of in &self.comparisons {
            let missing = of.missing.iter();
            failures.extend(missing.map(|name| format!("reference {:?}: the FMU has no variable {name:?}", of.name)));
            let all: Vec<String> = of
                .failures()
                .map(|deviation| format!("reference {:?}: {deviation}", of.name))
                .collect();
            failures.extend(all.iter().take(MOST).cloned());
            if all.len() > MOST {
                failures.push(format!(
                    "reference {:?}: {} more variables deviate",
                    of.name,
                    all.len() - MOST
                ));
            }
        }
        match failures.is_empty() {
            true => Ok(()),
            false => Err(invalid!(
                "{} of the FMU:\n  {}",
                count(failures.len(), "problem"),
                failures.join("\n  ")
            )),
        }
    }
}
