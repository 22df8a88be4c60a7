//! The table of FMI 2.0.4 (§3.2.3, §4.2.4).

use super::{C, E, F, I, Interface, L, Mode, N, S, Standard, T};

const ME: u16 = I | N | E | C | T;
const CS: u16 = I | N | S | F | T;

table! { "fmi2", Standard::Fmi2,
    SetDebugLogging,              ME,            CS,            0,         "";
    FreeInstance,                 ME,            CS,            L,         "importers free the memory of a lost instance";
    SetupExperiment,              I,             I,             0,         "";
    EnterInitializationMode,      I,             I,             0,         "";
    ExitInitializationMode,       N,             N,             0,         "";
    Terminate,                    E | C,         S | F,         I | N | T, "O10: importers call it in any mode";
    Reset,                        ME,            CS,            0,         "";
    GetReal,                      N | E | C | T, N | S | F | T, I,         "importers show start values before a run";
    GetInteger,                   N | E | C | T, N | S | F | T, I,         "importers show start values before a run";
    GetBoolean,                   N | E | C | T, N | S | F | T, I,         "importers show start values before a run";
    GetString,                    N | E | C | T, N | S | F | T, I,         "importers show start values before a run";
    SetReal,                      I | N | E | C, I | N | S,     F,         "a run continues from the time that a discarded step has reached";
    SetInteger,                   I | N | E,     I | N | S,     C | F,     "no variable of this type can be set";
    SetBoolean,                   I | N | E,     I | N | S,     C | F,     "no variable of this type can be set";
    SetString,                    I | N | E,     I | N | S,     C | F,     "no variable of this type can be set";
    GetFMUstate,                  ME,            CS,            0,         "";
    SetFMUstate,                  ME,            CS,            0,         "";
    FreeFMUstate,                 ME,            CS,            L,         "importers free the memory of a lost instance";
    SerializedFMUstateSize,       ME,            CS,            0,         "";
    SerializeFMUstate,            ME,            CS,            0,         "";
    DeSerializeFMUstate,          ME,            CS,            0,         "";
    GetDirectionalDerivative,     N | E | C | T, N | S | F | T, 0,         "";
    EnterEventMode,               E | C,         0,             0,         "";
    NewDiscreteStates,            E,             0,             0,         "";
    EnterContinuousTimeMode,      E,             0,             0,         "";
    CompletedIntegratorStep,      C,             0,             E,         "O7: importers call it at every evaluation; it has no side effect";
    SetTime,                      C,             0,             E,         "O4: importers set time and states before the first fmi2NewDiscreteStates";
    SetContinuousStates,          C,             0,             E,         "O4: importers set time and states before the first fmi2NewDiscreteStates";
    GetEventIndicators,           N | E | C | T, 0,             0,         "";
    GetContinuousStates,          N | E | C | T, 0,             0,         "";
    GetDerivatives,               N | E | C | T, 0,             0,         "";
    GetNominalsOfContinuousStates,ME,            0,             0,         "";
    SetRealInputDerivatives,      0,             I | N | S,     F,         "a run continues from the time that a discarded step has reached";
    GetRealOutputDerivatives,     0,             S | F | T,     N,         "importers read them before the first step";
    DoStep,                       0,             S,             F,         "a run continues from the time that a discarded step has reached";
    CancelStep,                   0,             CS,            0,         "", never "no step is in progress: every step is done when fmi2DoStep returns";
    GetStatus,                    0,             S | F | T,     I | N,     "the status is defined in these modes";
    GetRealStatus,                0,             S | F | T,     I | N,     "the status is defined in these modes";
    GetIntegerStatus,             0,             S | F | T,     I | N,     "the status is defined in these modes";
    GetBooleanStatus,             0,             S | F | T,     I | N,     "the status is defined in these modes";
    GetStringStatus,              0,             S | F | T,     I | N,     "the status is defined in these modes";
}

/// Returns true if a call is legal: by the standard, or as an exception for importers that need it.
pub fn is_legal(call: Call, interface: Interface, mode: Mode) -> bool {
    call.rule().is_legal(interface, mode)
}
