//! Units and types (§2.2.2, §2.2.3).

use model_description::*;

use super::{provokes, real, variable};
use crate::model::text;

#[test]
fn unit_1_is_rejected() {
    provokes(
        |m| {
            m.unit_definitions.push(Unit {
                name: "1".into(),
                ..Unit::default()
            })
        },
        &["unit \"1\": omit the unit of a dimensionless variable"],
    );
}

#[test]
fn units_are_unique_and_their_factors_nonzero() {
    let change = |m: &mut ModelDescription| {
        let units = &mut m.unit_definitions;
        units.push(units[8].clone());
        units[1].base_unit.as_mut().unwrap().factor = 0.0;
        units[0].display_units[0].factor = 0.0;
        let again = units[0].display_units[1].clone();
        units[0].display_units.push(again);
    };
    provokes(
        change,
        &[
            "unit \"heads\": the name is not unique",
            "unit \"K\", display unit \"degF\": the name is not unique",
            "unit \"K\", display unit \"degC\": the factor is zero",
            "unit \"K/s\": the factor to the base unit is zero",
        ],
    );
}

#[test]
fn referenced_units_are_defined() {
    provokes(
        |m| real(m, 9).unit = text("hp"),
        &["variable \"sun.power\": unit \"hp\" is not defined"],
    );
    provokes(
        |m| drop(m.unit_definitions.remove(2)),
        &["variable \"sun.power\": unit \"W\" is not defined"],
    );
}

#[test]
fn display_units_belong_to_their_unit() {
    provokes(
        |m| real(m, 9).display_unit = text("degC"),
        &["variable \"sun.power\": displayUnit \"degC\" is not defined in unit \"W\""],
    );
    provokes(
        |m| real(m, 10).display_unit = text("degC"),
        &["variable \"controller.request\": displayUnit \"degC\" without a unit"],
    );
    let change = |m: &mut ModelDescription| match &mut m.type_definitions[0].kind {
        TypeKind::Real(real) => real.display_unit = text("R"),
        _ => panic!("Temperature is Real"),
    };
    provokes(
        change,
        &["type \"Temperature\": displayUnit \"R\" is not defined in unit \"K\""],
    );
}

#[test]
fn names_of_types_differ_from_each_other_and_from_variables() {
    let change = |m: &mut ModelDescription| {
        m.type_definitions.push(m.type_definitions[3].clone());
        m.type_definitions.push(SimpleType {
            name: "room.C".into(),
            ..SimpleType::default()
        });
    };
    provokes(
        change,
        &[
            "type \"Flag\": the name is not unique",
            "type \"room.C\": a variable has the same name",
        ],
    );
}

#[test]
fn enumerations_map_one_to_one() {
    let change = |m: &mut ModelDescription| {
        if let TypeKind::Enumeration(mode) = &mut m.type_definitions[5].kind {
            mode.items.push(Item {
                value: 1,
                ..mode.items[0].clone()
            });
        }
        let nothing = TypeKind::Enumeration(EnumerationType::default());
        m.type_definitions.push(SimpleType {
            name: "Nothing".into(),
            description: None,
            kind: nothing,
        });
    };
    provokes(
        change,
        &[
            "type \"Mode\", item \"off\": the name is not unique",
            "type \"Mode\": item \"off\" has a value already used: 1",
            "type \"Nothing\": the enumeration has no item",
        ],
    );
}

#[test]
fn declared_types_exist_and_have_the_base_type() {
    provokes(
        |m| real(m, 4).declared_type = text("Heat"),
        &[
            "variable \"room.T_wall\": displayUnit \"degC\" without a unit",
            "variable \"room.T_wall\": declaredType \"Heat\" is not defined",
        ],
    );
    provokes(
        |m| real(m, 10).declared_type = text("Count"),
        &["variable \"controller.request\": declaredType \"Count\" is of type Integer, not Real"],
    );
    let change = |m: &mut ModelDescription| match &mut variable(m, 13).kind {
        Kind::Enumeration(mode) => mode.start = Some(0),
        _ => panic!("controller.mode is an enumeration"),
    };
    provokes(
        change,
        &["variable \"controller.mode\": start 0 is not an item of \"Mode\""],
    );
}
