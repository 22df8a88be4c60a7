//! The reader with documents of other tools, and with invalid ones.

use model_description::*;

use crate::GOLDEN;
use crate::model::thermostat;

#[test]
fn unknown_attributes_and_elements_are_skipped() {
    let foreign = GOLDEN
        .replace("<fmiModelDescription ", "<!-- made --><fmiModelDescription xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" xsi:noNamespaceSchemaLocation=\"fmi2.xsd\" vendor=\"x\" ")
        .replace("<CoSimulation ", "<Implementation><Deep><Deeper/></Deep></Implementation><CoSimulation ")
        .replace("<Real ", "<Annotations><Tool name=\"x\"><y>text</y></Tool></Annotations><Real colour=\"red\" ")
        .replace("</ScalarVariable>", "<Annotations><Tool name=\"x\"/></Annotations></ScalarVariable>")
        .replace("</SimpleType>", "<More/></SimpleType>")
        .replace("<Unknown index=\"14\"/>", "<?pi?><Odd/><Unknown index=\"14\"/><Odd>text</Odd>")
        .replace("<Unit name=\"W\">", "<Odd/><Unit name=\"W\">")
        .replace("formulation=\"none\"", "formulation=\"none\" ")
        .replace("<Tool name=\"silent\"/>", "<Tool name=\"silent\"><Other a=\"b\"><c/></Other></Tool>");
    assert_eq!(ModelDescription::from_xml(&foreign).unwrap(), thermostat());
}

#[test]
fn source_files_are_skipped() {
    let text = GOLDEN.replace(
        "<ModelExchange modelIdentifier=\"thermostat\" needsExecutionTool=\"true\"",
        "<ModelExchange modelIdentifier=\"thermostat\" needsExecutionTool=\"1\"",
    );
    let (head, tail) = text.split_once("providesDirectionalDerivative=\"true\"/>").unwrap();
    let files = "<SourceFiles><File name=\"a.c\"/><File name=\"b.c\"/></SourceFiles>";
    let text = format!("{head}providesDirectionalDerivative=\" true \">{files}</ModelExchange>{tail}");
    assert_eq!(ModelDescription::from_xml(&text).unwrap(), thermostat());
}

#[test]
fn the_lexical_forms_of_the_schema_are_read() {
    let text = |min: &str, max: &str, start: &str, dependencies: &str| {
        format!(
            "\u{feff}<?xml version='1.0'?>\r\n<fmiModelDescription guid='' modelName='' fmiVersion='2.0'>\
             <ModelVariables><ScalarVariable name='x' valueReference=' 7 '>\
             <Real min='{min}' max='{max}' start='{start}' unbounded='0' reinit='1'/></ScalarVariable></ModelVariables>\
             <ModelStructure><Outputs><Unknown index='1' dependencies='{dependencies}'/></Outputs></ModelStructure>\
             </fmiModelDescription>"
        )
    };
    let model = ModelDescription::from_xml(&text("-INF", "+1.5E+3", " .5 ", " 1  2\n3 ")).unwrap();
    let variable = &model.model_variables[0];
    assert_eq!((variable.causality, variable.variability), Default::default());
    assert_eq!(variable.value_reference, 7);
    let expected = Real {
        min: Some(f64::NEG_INFINITY),
        max: Some(1500.0),
        start: Some(0.5),
        reinit: true,
        ..Real::default()
    };
    assert_eq!(variable.kind, Kind::Real(expected));
    assert_eq!(model.model_structure.outputs, [Unknown::depending_on(1, [1, 2, 3])]);
}

#[test]
fn documents_of_other_kinds_are_rejected_with_the_reason() {
    for (text, expected) in [
        ("", "the root element is missing"),
        ("plain text", "the root element is missing"),
        ("<fmiModel/>", "the root element is \"fmiModel\""),
        ("<fmiModelDescription/>", "fmiVersion is missing"),
        (
            "<fmiModelDescription instantiationToken='' fmiVersion='1.0'/>",
            "fmiVersion is \"1.0\"",
        ),
        ("<fmiModelDescription fmiVersion='3.0'/>", "modelName"),
        ("<fmiModelDescription fmiVersion='2.0'/>", "modelName"),
        ("<fmiModelDescription fmiVersion='2.0", "line 1"),
        ("<fmiModelDescription fmiVersion='2.0' a='1' a='2'/>", "line 1"),
    ] {
        let error = ModelDescription::from_xml(text).unwrap_err().to_string();
        assert!(error.contains(expected), "{text}: {error}");
    }
}

#[test]
fn syntax_error_is_reported_with_its_line() {
    for (right, wrong, expected) in [
        ("<Real unit=\"h\"/>", "<Real unit=\"h\" start=\"much\"/>", "\"much\""),
        ("<Real unit=\"h\"/>", "<Odd/>", "no base type"),
        ("<Real unit=\"h\"/>", "<Real/><Boolean/>", "more than one base type"),
        ("valueReference=\"6\"", "", "valueReference"),
        ("\"calculatedParameter\"", "\"computed\"", "computed"),
        ("<Unknown index=\"14\"/>", "<Unknown index=\"-14\"/>", "-14"),
        ("</TypeDefinitions>", "</TypeDefinition>", "TypeDefinition"),
    ] {
        assert_eq!(GOLDEN.matches(right).count(), 1, "{right}");
        let line = 1 + GOLDEN[..GOLDEN.find(right).unwrap()].matches('\n').count();
        let text = GOLDEN.replace(right, wrong);
        let Err(Error::Read { line: reported, source }) = ModelDescription::from_xml(&text) else {
            panic!("{wrong} was read");
        };
        // The reader may have advanced to the next variable.
        assert!(
            (line..=line + 3).contains(&reported),
            "{wrong}: line {line}, not {reported}"
        );
        assert!(source.to_string().contains(expected), "{wrong}: {source}");
    }
}

#[test]
fn invalid_documents_are_errors_without_panic() {
    let places: Vec<usize> = GOLDEN.char_indices().map(|(place, _)| place).collect();
    for &end in places.iter().step_by(13) {
        assert!(ModelDescription::from_xml(&GOLDEN[..end]).is_err());
    }
    // A part is removed or duplicated, at positions from a linear congruential generator with a
    // fixed seed.
    let mut seed: u64 = 7;
    let mut place = || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        places[(seed >> 33) as usize % places.len()]
    };
    for _ in 0..500 {
        let text = format!("{}{}", &GOLDEN[..place()], &GOLDEN[place()..]);
        if let Ok(model) = ModelDescription::from_xml(&text) {
            model.check();
        }
    }
    let deep = "<a>".repeat(100_000);
    let deep = GOLDEN.replace("<ModelStructure>", &format!("<ModelStructure>{deep}"));
    assert!(ModelDescription::from_xml(&deep).is_err());
}
