/// A variable's name as OpenModelica's import rewrites it: `.`, `[`, `]`, `,`, `(`, `)` and blanks become `_`.
pub fn mangled(name: &str) -> String {
    name.chars()
        .map(|c| if ".[], ()".contains(c) { '_' } else { c })
        .collect()
}

/// Most characters of a name. Files are called by it (`binaries/linux64/<name>.so`, `<name>.fmu`), and a file's name has at
/// most 255 bytes, a path on Windows 260 characters with the folder into which an importer unpacks the FMU.
pub const LONGEST_NAME: usize = 128;

/// Why a name cannot be used, if it cannot.
///
/// A name must survive every importer: OpenModelica makes a Modelica identifier of each part, and
/// its wrapper model owns some names itself.
pub fn objection(name: &str) -> Option<String> {
    let mut letters = name.chars();
    let legal = letters.next().is_some_and(|c| c.is_ascii_alphabetic())
        && letters.all(|c| c.is_ascii_alphanumeric() || c == '_');
    if !legal {
        return Some(format!(
            "\"{name}\" is not a legal name: a letter, then letters, digits and underscores"
        ));
    }
    // Of ASCII alone, so bytes are characters.
    if name.len() > LONGEST_NAME {
        return Some(format!(
            "a name of {} characters, and {LONGEST_NAME} are the most: importers make the names of files and identifiers of it",
            name.len()
        ));
    }
    if MODELICA_KEYWORDS.contains(&name) {
        return Some(format!(
            "\"{name}\" is a keyword of Modelica, so OpenModelica could not import it"
        ));
    }
    if OWN.contains(&name) {
        return Some(format!("\"{name}\" is reserved: grapple gives it a meaning of its own"));
    }
    if OMC_WRAPPER.contains(&name) {
        return Some(format!("\"{name}\" is reserved by OpenModelica's import"));
    }
    None
}

const OWN: [&str; 7] = [
    super::WORLD,
    "system",
    "environment",
    "signal",
    "solver",
    "orbit",
    "monitor",
];

/// What the Modelica wrapper around an imported FMU declares itself.
const OMC_WRAPPER: [&str; 9] = [
    "time",
    "fmi_x",
    "fmi_z",
    "fmi2me",
    "flowTime",
    "nextEventTime",
    "logLevel",
    "debugLogging",
    "fmuWorkingDir",
];

/// Modelica Language Specification 3.6, section 2.3.3.
const MODELICA_KEYWORDS: [&str; 60] = [
    "algorithm",
    "and",
    "annotation",
    "assert",
    "block",
    "break",
    "class",
    "connect",
    "connector",
    "constant",
    "constrainedby",
    "der",
    "discrete",
    "each",
    "else",
    "elseif",
    "elsewhen",
    "encapsulated",
    "end",
    "enumeration",
    "equation",
    "expandable",
    "extends",
    "external",
    "false",
    "final",
    "flow",
    "for",
    "function",
    "if",
    "import",
    "impure",
    "in",
    "initial",
    "inner",
    "input",
    "loop",
    "model",
    "not",
    "operator",
    "or",
    "outer",
    "output",
    "package",
    "parameter",
    "partial",
    "protected",
    "public",
    "pure",
    "record",
    "redeclare",
    "replaceable",
    "return",
    "stream",
    "then",
    "true",
    "type",
    "when",
    "while",
    "within",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_an_importer_would_break_are_refused() {
        for bad in [
            "", "2nd", "arm-1", "a.b", "päd", "model", "time", "fmi_x", "world", "system", "a b", "within",
        ] {
            assert!(objection(bad).is_some(), "{bad}");
        }
        let longest = "x".repeat(LONGEST_NAME);
        for good in ["base", "Link_2", "x", "timer", longest.as_str()] {
            assert_eq!(objection(good), None);
        }
        assert!(objection(&(longest + "x")).is_some());
    }

    #[test]
    fn mangling_is_what_omc_does() {
        assert_eq!(mangled("der(base.v[1])"), "der_base_v_1__");
    }
}
