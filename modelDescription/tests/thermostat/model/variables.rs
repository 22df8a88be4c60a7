//! The variables of the thermostat, in the order of their indexes.

use model_description::*;

use super::text;

pub fn all() -> Vec<ScalarVariable> {
    use model_description::Causality::*;
    use model_description::Initial::*;
    use model_description::Variability::*;

    let variable = |name: &str, value_reference, causality, variability, initial, kind| ScalarVariable {
        name: name.into(),
        value_reference,
        causality,
        variability,
        initial,
        kind,
        ..ScalarVariable::default()
    };
    let temperature = || Real {
        declared_type: text("Temperature"),
        ..Real::default()
    };
    let real = |unit: &str, start| Real {
        unit: text(unit),
        start,
        ..Real::default()
    };

    let state = Real {
        reinit: true,
        ..temperature()
    };
    let mut state = variable("room.T", 0, Local, Continuous, Some(Calculated), Kind::Real(state));
    state.description = text("Temperature of the air");

    let derivative = Real {
        nominal: Some(1e-4),
        derivative: Some(1),
        ..real("K/s", None)
    };
    let measured = Real {
        quantity: text("ThermodynamicTemperature"),
        unit: text("K"),
        display_unit: text("degF"),
        min: Some(1e-5),
        max: Some(2e300),
        nominal: Some(293.15),
        ..Real::default()
    };
    let wall = Real {
        display_unit: text("degC"),
        unbounded: true,
        start: Some(288.15),
        ..temperature()
    };
    let capacity = Real {
        min: Some(0.0),
        ..real("kWh/K", Some(0.1 + 0.2))
    };

    let sun = Kind::Real(real("W", Some(0.0)));
    let mut sun = variable("sun.power", 7, Input, Continuous, None, sun);
    sun.description = text("Heat through the window");
    sun.can_handle_multiple_set_per_time_instant = Some(true);

    let request = Kind::Real(Real {
        start: Some(-1e-12),
        ..Real::default()
    });
    let mut request = variable("controller.request", 8, Input, Variability::Discrete, None, request);
    request.can_handle_multiple_set_per_time_instant = Some(false);

    let difference = Real {
        declared_type: text("TemperatureDifference"),
        relative_quantity: true,
        start: Some(0.5),
        ..Real::default()
    };
    let on = Boolean {
        declared_type: text("Flag"),
        start: Some(false),
    };
    let mode = Enumeration {
        declared_type: "Mode".into(),
        quantity: text("ControlMode"),
        min: Some(-1),
        max: Some(1),
        start: Some(-1),
    };
    let switches = Integer {
        declared_type: text("Count"),
        quantity: text("Number"),
        min: Some(0),
        max: Some(999),
        start: None,
    };
    let layout = Integer {
        start: Some(-7),
        ..Integer::default()
    };
    let label = Text {
        declared_type: text("Label"),
        start: text("a < b\nKüche"),
    };

    vec![
        state,
        variable("der(room.T)", 1, Local, Continuous, None, Kind::Real(derivative)),
        variable(
            "room.T_measured",
            0,
            Output,
            Continuous,
            Some(Calculated),
            Kind::Real(measured),
        ),
        variable("room.T_wall", 2, Local, Continuous, Some(Approx), Kind::Real(wall)),
        variable(
            "room.T_start",
            3,
            Parameter,
            Variability::Fixed,
            Some(Exact),
            Kind::Real(Real {
                start: Some(293.15),
                ..temperature()
            }),
        ),
        variable("room.C", 4, Parameter, Variability::Fixed, None, Kind::Real(capacity)),
        variable(
            "room.G[1]",
            5,
            Parameter,
            Variability::Tunable,
            None,
            Kind::Real(real("W/K", Some(85.5))),
        ),
        variable(
            "room.tau",
            6,
            CalculatedParameter,
            Variability::Tunable,
            None,
            Kind::Real(real("h", None)),
        ),
        sun,
        request,
        variable(
            "controller.dT",
            9,
            Parameter,
            Variability::Fixed,
            None,
            Kind::Real(difference),
        ),
        variable(
            "controller.on",
            0,
            Local,
            Variability::Discrete,
            Some(Exact),
            Kind::Boolean(on),
        ),
        variable(
            "controller.mode",
            0,
            Output,
            Variability::Discrete,
            Some(Exact),
            Kind::Enumeration(mode),
        ),
        variable(
            "controller.switches",
            1,
            Output,
            Variability::Discrete,
            None,
            Kind::Integer(switches),
        ),
        variable(
            "controller.layout",
            2,
            Local,
            Variability::Constant,
            None,
            Kind::Integer(layout),
        ),
        variable(
            "room.label",
            0,
            Parameter,
            Variability::Fixed,
            None,
            Kind::String(label),
        ),
        variable("clock", 10, Independent, Continuous, None, Kind::Real(real("s", None))),
    ]
}
