//! The writer compared with a handwritten file, and the reverse.

use model_description::*;

use crate::GOLDEN;
use crate::model::{text, thermostat};

#[test]
fn text_is_byte_identical_to_the_golden_file() {
    let text = thermostat().to_xml().unwrap();
    for (number, (ours, golden)) in text.lines().zip(GOLDEN.lines()).enumerate() {
        assert_eq!(ours, golden, "line {}", number + 1);
    }
    assert_eq!(text, GOLDEN);
}

#[test]
fn golden_file_reads_as_the_model() {
    assert_eq!(ModelDescription::from_xml(GOLDEN).unwrap(), thermostat());
}

#[test]
fn golden_model_is_valid() {
    assert_eq!(thermostat().check(), []);
}

#[test]
fn empty_and_absent_dependencies_are_distinguished() {
    let mut model = thermostat();
    model.model_structure.outputs = vec![Unknown::depending_on(13, []), Unknown::of(14)];
    let text = model.to_xml().unwrap();
    assert!(text.contains("<Unknown index=\"13\" dependencies=\"\"/>"));
    assert!(text.contains("<Unknown index=\"14\"/>"));
    let outputs = ModelDescription::from_xml(&text).unwrap().model_structure.outputs;
    assert_eq!(outputs[0].dependencies, Some(vec![]));
    assert_eq!(outputs[1].dependencies, None);
}

#[test]
fn absent_optional_attributes_are_not_written() {
    let empty = ModelDescription::default();
    assert_eq!(
        empty.to_xml().unwrap(),
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
         <fmiModelDescription fmiVersion=\"2.0\" modelName=\"\" guid=\"\" variableNamingConvention=\"flat\">\n\
         \x20 <ModelVariables/>\n\
         \x20 <ModelStructure/>\n\
         </fmiModelDescription>\n"
    );
    assert_eq!(ModelDescription::from_xml(&empty.to_xml().unwrap()).unwrap(), empty);
}

#[test]
fn non_finite_number_is_rejected_with_its_variable() {
    for (value, name) in [(f64::NAN, "NaN"), (f64::INFINITY, "inf"), (-f64::INFINITY, "-inf")] {
        let mut model = thermostat();
        if let Kind::Real(real) = &mut model.model_variables[3].kind {
            real.start = Some(value);
        }
        let error = model.to_xml().unwrap_err().to_string();
        let expected = format!("variable \"room.T_wall\": start is {name}, not a finite number");
        assert!(error.ends_with(&expected), "{error}");
    }
}

#[test]
fn illegal_character_is_rejected_with_its_line() {
    let mut model = thermostat();
    model.model_variables[1].description = text("bell \u{7}");
    let error = model.to_xml().unwrap_err().to_string();
    assert!(error.contains(r"'\u{7}'") && error.contains("der(room.T)"), "{error}");
}

#[test]
fn annotation_key_must_be_an_xml_name() {
    let mut model = thermostat();
    model.vendor_annotations[0]
        .annotation
        .insert("two words".into(), "x".into());
    assert!(matches!(model.to_xml(), Err(Error::Write(_))));
}

#[test]
fn characters_survive_the_round_trip() {
    let mut model = thermostat();
    let all = "\t tab, \r\n, <tag a='b' c=\"d\">, ]]>, &amp; &, 漢字 \u{10FFFF}\u{85}\u{2028}  end ";
    model.description = text(all);
    let read = ModelDescription::from_xml(&model.to_xml().unwrap()).unwrap();
    assert_eq!(read.description.as_deref(), Some(all));
}
