//! Variables with one value reference (§2.2.7).

use model_description::*;

use super::{problems, provokes, real, variable};
use crate::model::text;

#[test]
fn two_variables_with_start_values_are_no_aliases() {
    provokes(
        |m| variable(m, 9).value_reference = 8,
        &[
            "variable \"controller.request\": it shares value reference 8 with variable \"sun.power\", \
           but each has a value of its own (a start value, or it is the independent variable)",
        ],
    );
    provokes(
        |m| variable(m, 17).value_reference = 8,
        &[
            "variable \"clock\": it shares value reference 8 with variable \"controller.request\", \
           but each has a value of its own (a start value, or it is the independent variable)",
        ],
    );
}

#[test]
fn aliases_have_one_unit() {
    let change = |m: &mut ModelDescription| {
        real(m, 3).unit = text("W");
        real(m, 3).display_unit = None;
    };
    provokes(
        change,
        &[
            "variable \"room.T_measured\": it shares value reference 0 with variable \"room.T\", \
           but their units differ",
        ],
    );
}

#[test]
fn a_constant_is_an_alias_of_equal_constants_only() {
    provokes(
        |m| variable(m, 15).value_reference = 1,
        &[
            "variable \"controller.layout\": it shares value reference 1 with variable \
           \"controller.switches\", but only one of them is constant",
        ],
    );
    let twin = |start| {
        move |m: &mut ModelDescription| {
            let mut twin = variable(m, 15).clone();
            twin.name = "twin".into();
            twin.kind = Kind::Integer(Integer {
                start: Some(start),
                ..Integer::default()
            });
            m.model_variables.push(twin);
        }
    };
    provokes(twin(-7), &[]);
    provokes(
        twin(8),
        &[
            "variable \"twin\": it shares value reference 2 with variable \"controller.layout\", \
           but they are constants with different values",
        ],
    );
}

#[test]
fn enumerations_and_integers_share_their_references() {
    let found = problems(|m| variable(m, 15).value_reference = 0);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].contains("\"controller.mode\""));
}
