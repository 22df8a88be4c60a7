//! The description in `golden/thermostat.xml`: it uses every struct and attribute of the crate.

mod variables;

use model_description::DependencyKind::{Constant, Dependent, Discrete, Fixed, Tunable};
use model_description::*;

pub fn thermostat() -> ModelDescription {
    ModelDescription {
        fmi_version: FmiVersion::V2_0,
        model_name: "House.Thermostat".into(),
        guid: "{6f1c2a04-5b7e-4d0b-9c55-0d6a7e3f1b28}".into(),
        description: text("A room with a heater & a \"two-point\" controller"),
        author: text("A. Reader"),
        version: text("1.4.1"),
        copyright: text("© 2026 the authors"),
        license: text("MIT OR Apache-2.0"),
        generation_tool: text("by hand"),
        generation_date_and_time: text("2026-01-31T23:59:59Z"),
        variable_naming_convention: NamingConvention::Structured,
        number_of_event_indicators: Some(2),
        model_exchange: Some(ModelExchange {
            model_identifier: "thermostat".into(),
            needs_execution_tool: true,
            completed_integrator_step_not_needed: true,
            can_be_instantiated_only_once_per_process: true,
            can_not_use_memory_management_functions: true,
            can_get_and_set_fmu_state: true,
            can_serialize_fmu_state: true,
            provides_directional_derivative: true,
            ..ModelExchange::default()
        }),
        co_simulation: Some(CoSimulation {
            model_identifier: "thermostat".into(),
            needs_execution_tool: true,
            can_handle_variable_communication_step_size: true,
            can_interpolate_inputs: true,
            max_output_derivative_order: 1,
            can_run_asynchronuously: true,
            can_be_instantiated_only_once_per_process: true,
            can_not_use_memory_management_functions: true,
            can_get_and_set_fmu_state: true,
            can_serialize_fmu_state: true,
            provides_directional_derivative: true,
            ..CoSimulation::default()
        }),
        unit_definitions: units(),
        type_definitions: types(),
        log_categories: vec![
            Category {
                name: "logEvents".into(),
                description: text("Switching of the heater"),
            },
            Category {
                name: "logStatusError".into(),
                description: None,
            },
        ],
        default_experiment: Some(DefaultExperiment {
            start_time: Some(0.0),
            stop_time: Some(86_400.0),
            tolerance: Some(1e-6),
            step_size: Some(0.5),
        }),
        vendor_annotations: vec![
            Tool {
                name: "grapple".into(),
                annotation: [("solver", "dopri5 < radau5"), ("formulation", "none")]
                    .map(|(key, value)| (key.into(), value.into()))
                    .into(),
            },
            Tool {
                name: "silent".into(),
                ..Tool::default()
            },
        ],
        model_variables: variables::all(),
        model_structure: structure(),
    }
}

fn units() -> Vec<Unit> {
    let si = BaseUnit::default();
    let unit = |name: &str, base_unit| Unit {
        name: name.into(),
        base_unit: Some(base_unit),
        display_units: vec![],
    };
    let mut kelvin = unit("K", BaseUnit { k: 1, ..si.clone() });
    kelvin.display_units = vec![
        DisplayUnit {
            name: "degC".into(),
            factor: 1.0,
            offset: -273.15,
        },
        DisplayUnit {
            name: "degF".into(),
            factor: 1.8,
            offset: -459.67,
        },
    ];
    let watt = BaseUnit {
        kg: 1,
        m: 2,
        s: -3,
        ..si.clone()
    };
    let joule_per_kelvin = BaseUnit {
        kg: 1,
        m: 2,
        s: -2,
        k: -1,
        ..si.clone()
    };
    vec![
        kelvin,
        unit(
            "K/s",
            BaseUnit {
                s: -1,
                k: 1,
                ..si.clone()
            },
        ),
        unit("W", watt.clone()),
        unit("W/K", BaseUnit { k: -1, ..watt }),
        unit(
            "kWh/K",
            BaseUnit {
                factor: 3.6e6,
                ..joule_per_kelvin
            },
        ),
        unit(
            "h",
            BaseUnit {
                s: 1,
                factor: 3600.0,
                ..si.clone()
            },
        ),
        unit("s", BaseUnit { s: 1, ..si }),
        unit(
            "everything",
            BaseUnit {
                kg: 1,
                m: -2,
                s: 3,
                a: -4,
                k: 5,
                mol: -6,
                cd: 7,
                rad: -8,
                factor: 1e-9,
                offset: 0.5,
            },
        ),
        Unit {
            name: "heads".into(),
            ..Unit::default()
        },
    ]
}

fn types() -> Vec<SimpleType> {
    let simple = |name: &str, kind| SimpleType {
        name: name.into(),
        description: None,
        kind,
    };
    let mut temperature = simple(
        "Temperature",
        TypeKind::Real(RealType {
            quantity: text("ThermodynamicTemperature"),
            unit: text("K"),
            display_unit: text("degC"),
            relative_quantity: false,
            min: Some(0.0),
            max: Some(1e10),
            nominal: Some(300.0),
            unbounded: true,
        }),
    );
    temperature.description = text("Absolute temperature");
    let difference = RealType {
        unit: text("K"),
        relative_quantity: true,
        ..RealType::default()
    };
    let count = IntegerType {
        quantity: text("Number"),
        min: Some(0),
        max: Some(1_000_000),
    };
    let mode = EnumerationType {
        quantity: text("ControlMode"),
        items: vec![
            Item {
                name: "off".into(),
                value: -1,
                description: None,
            },
            Item {
                name: "heating".into(),
                value: 1,
                description: text("Full power"),
            },
        ],
    };
    vec![
        temperature,
        simple("TemperatureDifference", TypeKind::Real(difference)),
        simple("Count", TypeKind::Integer(count)),
        simple("Flag", TypeKind::Boolean),
        simple("Label", TypeKind::String),
        simple("Mode", TypeKind::Enumeration(mode)),
    ]
}

fn structure() -> ModelStructure {
    let with = |unknown: Unknown, kinds: &[DependencyKind]| Unknown {
        dependencies_kind: Some(kinds.to_vec()),
        ..unknown
    };
    ModelStructure {
        outputs: vec![
            with(Unknown::depending_on(3, [1]), &[Constant]),
            Unknown::depending_on(13, []),
            Unknown::of(14),
        ],
        derivatives: vec![with(
            Unknown::depending_on(2, [1, 9, 10, 17]),
            &[Tunable, Fixed, Discrete, Dependent],
        )],
        initial_unknowns: vec![
            with(Unknown::depending_on(1, [5]), &[Constant]),
            Unknown::depending_on(2, [9, 7, 5, 6, 5]),
            Unknown::depending_on(3, [5]),
            with(Unknown::depending_on(8, [6, 7]), &[Constant, Dependent]),
            Unknown::depending_on(14, []),
        ],
        event_indicators: Vec::new(),
    }
}

pub fn text(value: &str) -> Option<String> {
    Some(value.to_owned())
}
