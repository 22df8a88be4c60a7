/// Returns a variable's name as OpenModelica's import rewrites it: `.`, `[`, `]`, `,`, `(`, `)` and
/// blanks become `_`.
pub fn mangled(name: &str) -> String {
    name.chars()
        .map(|c| if ".[], ()".contains(c) { '_' } else { c })
        .collect()
}

/// Largest number of characters of a name. It is part of file names (`binaries/linux64/<name>.so`,
/// `<name>.fmu`); a file name has at most 255 bytes, and a path on Windows at most 260 characters,
/// including the directory into which an importer unpacks the FMU.
pub const LONGEST_NAME: usize = 128;

/// Returns the reason for which a name is invalid, `None` if it is valid.
///
/// A name has to be valid in every importer: OpenModelica converts each part to a Modelica
/// identifier, and its wrapper model declares some names itself.
pub fn objection(name: &str) -> Option<String> {
    let mut letters = name.chars();
    let legal = letters.next().is_some_and(|c| c.is_ascii_alphabetic())
        && letters.all(|c| c.is_ascii_alphanumeric() || c == '_');
    if !legal {
        return Some(format!(
            "\"{name}\" is not a legal name: a letter, then letters, digits and underscores"
        ));
    }
    if let Some(what) = objection_to_length(name) {
        return Some(what);
    }
    if MODELICA_KEYWORDS.contains(&name) {
        return Some(format!(
            "\"{name}\" is a keyword of Modelica, so OpenModelica could not import it"
        ));
    }
    if OWN.contains(&name) {
        return Some(format!("\"{name}\" is reserved by grapple"));
    }
    if OMC_WRAPPER.contains(&name) {
        return Some(format!("\"{name}\" is reserved by OpenModelica's import"));
    }
    None
}

/// Returns the reason for which the name of a part of a model is invalid: as [`objection`], but the
/// name may have several parts with points between them, `left.shoulder` of the mount `left`.
pub fn objection_to_parts(name: &str) -> Option<String> {
    name.split('.')
        .find_map(objection)
        .or_else(|| objection_to_length(name))
}

/// Returns the objection to a name that is too long. Legal names are ASCII, so that bytes are
/// characters.
fn objection_to_length(name: &str) -> Option<String> {
    (name.len() > LONGEST_NAME).then(|| {
        format!(
            "a name of {} characters, the maximum is {LONGEST_NAME}: importers derive file names and identifiers from it",
            name.len()
        )
    })
}

/// Names that grapple reserves.
const OWN: [&str; 7] = [
    super::WORLD,
    "system",
    "environment",
    "signal",
    "solver",
    "orbit",
    "monitor",
];

/// Names that the Modelica wrapper of an imported FMU declares.
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

/// Keywords of Modelica: Modelica Language Specification 3.6, section 2.3.3.
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

#[cfg(feature = "inside")]
pub(super) mod tests {
    use super::*;

    unit_tests![
        names_that_are_invalid_in_an_importer_are_rejected,
        mangled_names_equal_those_of_openmodelica,
    ];

    fn names_that_are_invalid_in_an_importer_are_rejected() {
        for bad in [
            "", "2nd", "arm-1", "a.b", "päd", "model", "time", "fmi_x", "world", "system", "a b", "within",
        ] {
            assert!(objection(bad).is_some(), "{bad}");
        }
        let longest = "x".repeat(LONGEST_NAME);
        for good in ["base", "Link_2", "x", "timer", longest.as_str()] {
            assert_eq!(objection(good), None);
        }
        assert!(objection(&(longest.clone() + "x")).is_some());
        // Names of mounted parts have points.
        for bad in ["a..b", ".a", "a.", "a.2nd", "a.system", &format!("a.{longest}")] {
            assert!(objection_to_parts(bad).is_some(), "{bad}");
        }
        assert_eq!(objection_to_parts("left.tool.claw_1"), None);
    }

    fn mangled_names_equal_those_of_openmodelica() {
        assert_eq!(mangled("der(base.v[1])"), "der_base_v_1__");
    }
}
