//! Rules of VDMCheck for FMI 3.0 (`github.com/INTO-CPS-Association/FMI-VDM-Model`, `fmi3/rule-model`):
//! each is violated once, and `check` reports it.
//!
//! Rules without a test cannot be violated by this crate's descriptions: those of clocks, `previous`,
//! aliases, structural parameters, Scheduled Execution and build descriptions, `validVariableTypes` of
//! absent types, `validStartAndVRef`, `validInverseAndOffset`. `validStepSize` is not a rule of the
//! standard; `grapple check` warns of such a step.

use crate::fmi3::thermostat_fmi3;
use model_description::*;

/// A rule, a change that violates it, and a part of the report.
type Violation = (&'static str, fn(&mut ModelDescription), &'static str);

fn real(model: &mut ModelDescription, index: usize) -> &mut Real {
    match &mut model.model_variables[index - 1].kind {
        Kind::Real(real) => real,
        other => panic!("variable {index} is {}", other.base_type()),
    }
}

const VIOLATIONS: &[Violation] = &[
    (
        "validModelTypes",
        |m| (m.model_exchange, m.co_simulation) = (None, None),
        "neither ModelExchange nor CoSimulation",
    ),
    (
        "validGenerationDateAndTime",
        |m| m.generation_date_and_time = Some("today".into()),
        "is not of the form",
    ),
    (
        "validTypeUnits",
        |m| m.unit_definitions.retain(|unit| unit.name != "K"),
        "unit \"K\" is not defined",
    ),
    (
        "validVariableTypes",
        |m| real(m, 4).declared_type = Some("Heat".into()),
        "declaredType \"Heat\" is not defined",
    ),
    (
        "validTypeNames",
        |m| m.type_definitions[0].name = "room.T".into(),
        "a variable has the same name",
    ),
    (
        "validTypeDefinitionNames",
        |m| m.type_definitions[1].name = "Temperature".into(),
        "type \"Temperature\": the name is not unique",
    ),
    (
        "validVariableNames",
        |m| m.model_variables[0].name = "room T".into(),
        "does not follow variableNamingConvention",
    ),
    (
        "validVariableNames, derivatives",
        |m| m.model_variables[11].name = "der(room.on)".into(),
        "must be Real",
    ),
    (
        "validStart",
        |m| real(m, 6).start = Some(-1.0),
        "start -1 is below min 0",
    ),
    (
        "validStart, arrays",
        |m| {
            m.model_variables[5].dimensions = vec![2];
            real(m, 6).starts = vec![0.3, -1.0];
        },
        "start -1 is below min 0",
    ),
    ("validMinMax", |m| real(m, 3).max = Some(0.0), "is above max 0"),
    (
        "validMultipleSets",
        |m| m.model_variables[0].can_handle_multiple_set_per_time_instant = Some(true),
        "is only for an input",
    ),
    (
        "validReinits",
        |m| real(m, 3).reinit = true,
        "reinit is only for a continuous-time state",
    ),
    (
        "validOutput",
        |m| drop(m.model_structure.outputs.remove(0)),
        "the output is missing in Outputs",
    ),
    (
        "validOutputReferences",
        |m| m.model_structure.outputs[0].index = 1,
        "its causality is not output",
    ),
    (
        "validStateDerivatives",
        |m| real(m, 2).derivative = None,
        "must have the attribute derivative",
    ),
    (
        "validInitialUnknowns",
        |m| m.model_structure.initial_unknowns.insert(0, Unknown::of(1)),
        "it is listed more than once",
    ),
    (
        "validInitialUnknowns, knowns",
        |m| m.model_structure.initial_unknowns[1].dependencies = Some(vec![1]),
        "is not a known",
    ),
    (
        "validEventIndicators",
        |m| m.model_structure.event_indicators[0].index = 99,
        "there is no variable with index 99",
    ),
    (
        "validUnknownDependencies",
        |m| m.model_structure.outputs[0].dependencies = Some(vec![99]),
        "dependency 99: there is no such variable",
    ),
    (
        "validDependencyKinds",
        |m| m.model_structure.outputs[1].dependencies_kind = Some(vec![DependencyKind::Dependent]),
        "dependenciesKind is not as long as dependencies",
    ),
    (
        "validValueReferences",
        |m| m.model_variables[5].value_reference = 20,
        "in FMI 3.0 it must be unique",
    ),
    (
        "validAliasNames",
        |m| m.model_variables[5].name = "room.T".into(),
        "variable \"room.T\": the name is not unique",
    ),
    (
        "validIndependentVariable",
        |m| {
            let mut second = m.model_variables[16].clone();
            (second.name, second.value_reference) = ("second".into(), 90);
            m.model_variables.push(second);
        },
        "there is another independent variable",
    ),
    (
        "validVariableDimensions",
        |m| m.model_variables[16].dimensions = vec![2],
        "the independent variable must be a scalar",
    ),
    (
        "validVariableAttributes",
        |m| m.model_variables[5].variability = Variability::Continuous,
        "is not allowed",
    ),
    (
        "validVariableAttributes, start",
        |m| real(m, 9).start = None,
        "needs a start value",
    ),
    (
        "validCSModelIdentifier",
        |m| m.co_simulation.as_mut().unwrap().model_identifier = "a b".into(),
        "is not an identifier of C",
    ),
    (
        "validMEModelIdentifier",
        |m| m.model_exchange.as_mut().unwrap().model_identifier = "1".into(),
        "is not an identifier of C",
    ),
    (
        "validTypeMinMax",
        |m| {
            if let TypeKind::Real(real) = &mut m.type_definitions[0].kind {
                real.max = Some(-1.0);
            }
        },
        "is above max -1",
    ),
    (
        "validTypeDisplayUnit",
        |m| {
            if let TypeKind::Real(real) = &mut m.type_definitions[0].kind {
                real.unit = None;
            }
        },
        "without a unit",
    ),
    (
        "validEnumerationTypeBijection",
        |m| {
            if let TypeKind::Enumeration(kind) = &mut m.type_definitions[5].kind {
                kind.items[1].value = -1;
            }
        },
        "has a value already used",
    ),
    (
        "validUnitNames",
        |m| m.unit_definitions[1].name = "K".into(),
        "unit \"K\": the name is not unique",
    ),
    (
        "validDisplayUnitNames",
        |m| m.unit_definitions[0].display_units[1].name = "degC".into(),
        "display unit \"degC\": the name is not unique",
    ),
    (
        "validTolerance",
        |m| m.default_experiment.as_mut().unwrap().tolerance = Some(-1.0),
        "is not above zero",
    ),
    (
        "validStartStopTime",
        |m| m.default_experiment.as_mut().unwrap().stop_time = Some(-1.0),
        "is before startTime",
    ),
    (
        "validLogCategories",
        |m| m.log_categories[1].name = "logEvents".into(),
        "log category \"logEvents\": the name is not unique",
    ),
];

#[test]
fn every_rule_of_vdmcheck_for_fmi_3_is_checked() {
    for (rule, violate, expected) in VIOLATIONS {
        let mut model = thermostat_fmi3();
        violate(&mut model);
        let problems: Vec<String> = model.check().iter().map(ToString::to_string).collect();
        let found = problems.iter().any(|problem| problem.contains(expected));
        assert!(found, "{rule}: {expected:?} is not in {problems:#?}");
    }
}

/// Returns terminals of the thermostat.
fn terminals() -> TerminalsAndIcons {
    let square = Extent {
        x1: 0.0,
        y1: 0.0,
        x2: 1.0,
        y2: 1.0,
    };
    TerminalsAndIcons {
        fmi_version: FmiVersion::V3_0,
        graphical_representation: Some(GraphicalRepresentation {
            coordinate_system: Some(CoordinateSystem {
                x1: -100.0,
                y1: -50.0,
                x2: 100.0,
                y2: 50.0,
                suggested_scaling_factor_to_mm: 0.1,
            }),
            icon: Some(square),
        }),
        terminals: Terminals {
            items: vec![Terminal {
                name: "room".into(),
                matching_rule: "plug".into(),
                terminal_kind: Some("_house_room".into()),
                description: Some("Heat & temperature".into()),
                members: ["room.T_measured", "sun.power"]
                    .map(|name| Member {
                        variable_name: name.into(),
                        member_name: Some(name.replace('.', "_")),
                        variable_kind: "signal".into(),
                    })
                    .into(),
                terminals: Vec::new(),
                graphical_representation: Some(TerminalGraphicalRepresentation {
                    x1: -5.0,
                    y1: -5.0,
                    x2: 5.0,
                    y2: 5.0,
                    icon_base_name: "room".into(),
                }),
            }],
        },
    }
}

#[test]
fn terminals_are_read_back() {
    let text = terminals().to_xml().unwrap();
    assert_eq!(TerminalsAndIcons::from_xml(&text).unwrap(), terminals());
    for version in ["3.0.1", "3.0.2"] {
        let other = text.replace("fmiVersion=\"3.0\"", &format!("fmiVersion=\"{version}\""));
        assert_ne!(other, text);
        assert_eq!(TerminalsAndIcons::from_xml(&other).unwrap(), terminals());
    }
    assert_eq!(terminals().check(&thermostat_fmi3()), []);
}

#[test]
fn every_rule_of_terminals_is_checked() {
    type Change = fn(&mut TerminalsAndIcons);
    let rules: [(Change, &str); 8] = [
        (
            |t| {
                let graphics = t.graphical_representation.as_mut().unwrap();
                graphics.coordinate_system.as_mut().unwrap().x2 = -100.0;
            },
            "CoordinateSystem",
        ),
        (
            |t| t.graphical_representation.as_mut().unwrap().icon.as_mut().unwrap().x2 = 0.0,
            "Icon: its area is zero",
        ),
        (
            |t| t.terminals.items[0].members[0].variable_name = "room.p".into(),
            "there is no variable \"room.p\"",
        ),
        (
            |t| t.terminals.items[0].graphical_representation.as_mut().unwrap().x2 = -5.0,
            "terminal \"room\": its area is zero",
        ),
        (
            |t| t.terminals.items[0].members[1].member_name = None,
            "has no memberName",
        ),
        (
            |t| t.terminals.items[0].members[1].member_name = Some("room_T_measured".into()),
            "two members are called",
        ),
        (
            |t| {
                let copy = t.terminals.items[0].clone();
                t.terminals.items.push(copy);
            },
            "the name is not unique",
        ),
        (
            |t| t.terminals.items[0].matching_rule = "socket".into(),
            "does not exist",
        ),
    ];
    for (violate, expected) in rules {
        let mut changed = terminals();
        violate(&mut changed);
        let problems: Vec<String> = changed
            .check(&thermostat_fmi3())
            .iter()
            .map(ToString::to_string)
            .collect();
        assert!(
            problems.iter().any(|problem| problem.contains(expected)),
            "{expected}: {problems:?}"
        );
    }
}
