//! Numbers (§2.2.7).

use model_description::*;

use super::{provokes, real, variable};

#[test]
fn numbers_are_finite() {
    let change = |m: &mut ModelDescription| {
        m.unit_definitions[7].base_unit.as_mut().unwrap().offset = f64::NAN;
        m.default_experiment.as_mut().unwrap().stop_time = Some(f64::INFINITY);
        real(m, 2).nominal = Some(f64::INFINITY);
    };
    provokes(
        change,
        &[
            "unit \"everything\": offset is NaN, not a finite number",
            "DefaultExperiment: stopTime is inf, not a finite number",
            "variable \"der(room.T)\": nominal is inf, not a finite number",
        ],
    );
}

#[test]
fn limits_are_in_order_and_starts_within() {
    provokes(
        |m| real(m, 3).min = Some(3e300),
        &[&format!(
            "variable \"room.T_measured\": min {} is above max {}",
            3e300, 2e300
        )],
    );
    provokes(
        |m| real(m, 6).start = Some(-1.0),
        &["variable \"room.C\": start -1 is below min 0"],
    );
    // The limit of the declared type applies only if the variable has no limit of its own.
    provokes(
        |m| real(m, 4).start = Some(-1.0),
        &["variable \"room.T_wall\": start -1 is below min 0"],
    );
    provokes(
        |m| {
            real(m, 4).start = Some(-1.0);
            real(m, 4).min = Some(-2.0);
        },
        &[],
    );
    let change = |m: &mut ModelDescription| match &mut m.type_definitions[2].kind {
        TypeKind::Integer(count) => count.min = Some(2_000_000),
        _ => panic!("Count is Integer"),
    };
    provokes(change, &["type \"Count\": min 2000000 is above max 1000000"]);
}

#[test]
fn nominal_values_are_above_zero() {
    provokes(
        |m| real(m, 2).nominal = Some(0.0),
        &["variable \"der(room.T)\": nominal 0 is not above zero"],
    );
}

#[test]
fn value_references_survive_a_cast_to_int() {
    provokes(
        |m| variable(m, 6).value_reference = 1 << 31,
        &["variable \"room.C\": value reference 2147483648 is not below 2³¹"],
    );
}
