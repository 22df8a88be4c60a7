//! Causality × variability × initial, and start values (§2.2.7).

use model_description::*;

use super::{append, list_initial_unknowns, problems, provokes, real, variable};
use Causality::*;
use Initial::*;
use Variability::*;

const CAUSALITIES: [Causality; 6] = [Parameter, CalculatedParameter, Input, Output, Local, Independent];
const VARIABILITIES: [Variability; 5] = [Constant, Fixed, Tunable, Discrete, Continuous];

/// The two tables of §2.2.7 as printed there.
const TABLE: [&str; 5] = ["---AA-", "AB--B-", "AB--B-", "--DCC-", "--DCCE"];

#[test]
fn the_table_is_that_of_the_standard() {
    for (variability, row) in VARIABILITIES.into_iter().zip(TABLE) {
        for (causality, letter) in CAUSALITIES.into_iter().zip(row.chars()) {
            let (default, possible): (_, &[Initial]) = match letter {
                'A' => (Some(Exact), &[Exact]),
                'B' => (Some(Calculated), &[Approx, Calculated]),
                'C' => (Some(Calculated), &[Exact, Approx, Calculated]),
                _ => (None, &[]),
            };
            let legal = legal_initials(causality, variability);
            assert_eq!(legal.is_some(), letter != '-', "{causality} {variability}");
            let legal = legal.unwrap_or_default();
            assert_eq!(legal.first().copied(), default, "{causality} {variability}");
            for initial in [Exact, Approx, Calculated] {
                assert_eq!(legal.contains(&initial), possible.contains(&initial));
            }
        }
    }
}

/// All 6 × 5 × 4 × 2 combinations of causality, variability, `initial` and start value, each alone
/// in a model, are valid exactly if the table and the rule of the start value allow them.
#[test]
fn check_accepts_a_variable_exactly_if_the_table_does() {
    for causality in CAUSALITIES {
        for variability in VARIABILITIES {
            for initial in [None, Some(Exact), Some(Approx), Some(Calculated)] {
                for start in [None, Some(1.0)] {
                    let variable = ScalarVariable {
                        name: "x".into(),
                        causality,
                        variability,
                        initial,
                        kind: Kind::Real(Real {
                            start,
                            ..Real::default()
                        }),
                        ..ScalarVariable::default()
                    };
                    let legal = legal_initials(causality, variability).is_some_and(|legal| {
                        let effective = initial.or(legal.first().copied());
                        let wants_start = causality == Input || matches!(effective, Some(Exact | Approx));
                        initial.is_none_or(|i| legal.contains(&i)) && wants_start == start.is_some()
                    });
                    assert_eq!(alone(variable.clone()).check().is_empty(), legal, "{variable:?}");
                }
            }
        }
    }
}

/// Returns a model of one variable, with the entries of `ModelStructure` that it requires.
fn alone(variable: ScalarVariable) -> ModelDescription {
    let exchange = ModelExchange {
        model_identifier: "x".into(),
        ..ModelExchange::default()
    };
    let mut model = ModelDescription {
        model_name: "x".into(),
        guid: "x".into(),
        model_exchange: Some(exchange),
        model_variables: vec![variable],
        ..ModelDescription::default()
    };
    if model.model_variables[0].causality == Output {
        model.model_structure.outputs = vec![Unknown::of(1)];
    }
    list_initial_unknowns(&mut model);
    model
}

#[test]
fn illegal_combination_is_reported_by_name() {
    provokes(
        |m| append(m, "x", Parameter, Continuous),
        &["variable \"x\": causality=\"parameter\" with variability=\"continuous\" is not allowed"],
    );
    provokes(
        |m| variable(m, 9).initial = Some(Exact),
        &["variable \"sun.power\": initial=\"exact\" is not allowed for \
           causality=\"input\" with variability=\"continuous\""],
    );
    provokes(
        |m| variable(m, 15).variability = Continuous,
        &[
            "variable \"controller.layout\": a variable of type Integer cannot be continuous",
            "variable \"controller.layout\": initial=\"calculated\" forbids a start value",
        ],
    );
}

#[test]
fn start_values_are_present_exactly_if_required() {
    provokes(
        |m| real(m, 9).start = None,
        &["variable \"sun.power\": causality=\"input\" needs a start value"],
    );
    provokes(
        |m| real(m, 6).start = None,
        &["variable \"room.C\": initial=\"exact\" needs a start value"],
    );
    provokes(
        |m| real(m, 8).start = Some(1.0),
        &["variable \"room.tau\": initial=\"calculated\" forbids a start value"],
    );
    provokes(
        |m| real(m, 17).start = Some(0.0),
        &["variable \"clock\": causality=\"independent\" forbids a start value"],
    );
}

#[test]
fn independent_variable_is_unique_and_real() {
    provokes(
        |m| append(m, "t2", Independent, Continuous),
        &["variable \"t2\": there is another independent variable"],
    );
    let found = problems(|m| variable(m, 17).kind = Kind::Boolean(Boolean::default()));
    assert_eq!(found[0], "variable \"clock\": the independent variable must be Real");
}
