//! Names (§2.2.9).

use model_description::*;

use super::{provokes, variable};

#[test]
fn names_are_unique() {
    provokes(
        |m| variable(m, 6).name = "room.T".into(),
        &["variable \"room.T\": the name is not unique"],
    );
}

#[test]
fn names_are_not_empty_and_single_line() {
    for name in ["", "a\tb", "a\nb"] {
        let expected = format!("variable {name:?}: the name is empty or has a tab or line break");
        provokes(|m| variable(m, 6).name = name.into(), &[&expected]);
    }
}

#[test]
fn structured_names_follow_the_grammar() {
    let rename = |m: &mut ModelDescription| variable(m, 6).name = "room C".into();
    provokes(
        rename,
        &["variable \"room C\": the name does not follow variableNamingConvention=\"structured\""],
    );
    let flat = |m: &mut ModelDescription| {
        rename(m);
        m.variable_naming_convention = NamingConvention::Flat;
    };
    provokes(flat, &[]);
}
