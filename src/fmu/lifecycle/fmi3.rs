//! The table of FMI 3.0.2 (§2.3, §3.2, §4.2). Functions of Configuration Mode, clocks and Scheduled
//! Execution exist, since a library must export them, but this FMU has none of these.
//!
//! The lists of §2.3, §3.2 and §4.2 are incomplete: they have neither the getters of the state
//! Instantiated, which its table of equations has, nor the functions for dependencies, which §2.2.10
//! allows before and after the initialisation. The modes of fmi3SetClock, intervals and shifts are those
//! of the table of clock types in §2.2.9. Setting variables during an intermediate update is left out, since no
//! input has `intermediateUpdate`.

use super::{C, E, I, L, N, S, Standard, T, U};

const ME: u16 = I | N | E | C | T;
const CS: u16 = I | N | E | S | T;

table! { "fmi3", Standard::Fmi3,
    SetDebugLogging,                ME,             CS,             0,          "";
    FreeInstance,                   ME,             CS,             L,          "importers free the memory of a lost instance";
    EnterInitializationMode,        I,              I,              0,          "";
    ExitInitializationMode,         N,              N,              0,          "";
    EnterEventMode,                 C,              S,              E,          "O4: importers enter it while already in it";
    Terminate,                      E | C,          E | S,          I | N | T,  "O10: importers call it in any mode";
    Reset,                          ME,             CS,             0,          "";
    GetFloat32,                     ME,             CS | U,         0,          "";
    GetFloat64,                     ME,             CS | U,         0,          "";
    GetInt8,                        ME,             CS | U,         0,          "";
    GetUInt8,                       ME,             CS | U,         0,          "";
    GetInt16,                       ME,             CS | U,         0,          "";
    GetUInt16,                      ME,             CS | U,         0,          "";
    GetInt32,                       ME,             CS | U,         0,          "";
    GetUInt32,                      ME,             CS | U,         0,          "";
    GetInt64,                       ME,             CS | U,         0,          "";
    GetUInt64,                      ME,             CS | U,         0,          "";
    GetBoolean,                     ME,             CS | U,         0,          "";
    GetString,                      ME,             CS | U,         0,          "";
    GetBinary,                      ME,             CS | U,         0,          "";
    GetClock,                       ME,             CS | U,         0,          "";
    SetFloat32,                     I | N | E,      I | N | E | S,  C,          "no variable of this type can be set";
    SetFloat64,                     I | N | E | C,  I | N | E | S,  0,          "";
    SetInt8,                        I | N | E,      I | N | E | S,  C,          "no variable of this type can be set";
    SetUInt8,                       I | N | E,      I | N | E | S,  C,          "no variable of this type can be set";
    SetInt16,                       I | N | E,      I | N | E | S,  C,          "no variable of this type can be set";
    SetUInt16,                      I | N | E,      I | N | E | S,  C,          "no variable of this type can be set";
    SetInt32,                       I | N | E,      I | N | E | S,  C,          "importers set all inputs alike";
    SetUInt32,                      I | N | E,      I | N | E | S,  C,          "no variable of this type can be set";
    SetInt64,                       I | N | E,      I | N | E | S,  C,          "no variable of this type can be set";
    SetUInt64,                      I | N | E,      I | N | E | S,  C,          "no variable of this type can be set";
    SetBoolean,                     I | N | E,      I | N | E | S,  C,          "importers set all inputs alike";
    SetString,                      I | N | E,      I | N | E | S,  C,          "no variable of this type can be set";
    SetBinary,                      I | N | E,      I | N | E | S,  C,          "no variable of this type can be set";
    SetClock,                       E,              E,              0,          "";
    GetNumberOfVariableDependencies, ME,             CS | U,         0,          "", never "dependencies of elements of arrays are not provided (providesPerElementDependencies is false)";
    GetVariableDependencies,        ME,             CS | U,         0,          "", never "dependencies of elements of arrays are not provided (providesPerElementDependencies is false)";
    GetFMUState,                    ME,             CS,             0,          "";
    SetFMUState,                    ME,             CS,             0,          "";
    FreeFMUState,                   ME,             CS,             L,          "importers free the memory of a lost instance";
    SerializedFMUStateSize,         ME,             CS,             0,          "";
    SerializeFMUState,              ME,             CS,             0,          "";
    DeserializeFMUState,            ME,             CS,             0,          "";
    GetDirectionalDerivative,       N | E | C | T,  N | E | S | T,  0,          "";
    GetAdjointDerivative,           N | E | C | T,  N | E | S | T,  0,          "";
    EnterConfigurationMode,         I | E,          I | S,          0,          "", never "there are no structural parameters, so there is no Configuration Mode";
    ExitConfigurationMode,          0,              0,              0,          "", never "there are no structural parameters, so there is no Configuration Mode";
    GetIntervalDecimal,             N | E,          N | E,          0,          "", never "there are no clocks";
    GetIntervalFraction,            N | E,          N | E,          0,          "", never "there are no clocks";
    GetShiftDecimal,                N,              N,              0,          "", never "there are no clocks";
    GetShiftFraction,               N,              N,              0,          "", never "there are no clocks";
    SetIntervalDecimal,             N | E,          N | E,          0,          "", never "there are no clocks";
    SetIntervalFraction,            N | E,          N | E,          0,          "", never "there are no clocks";
    SetShiftDecimal,                N,              N,              0,          "", never "there are no clocks";
    SetShiftFraction,               N,              N,              0,          "", never "there are no clocks";
    EvaluateDiscreteStates,         E,              E,              0,          "", never "it is not provided (providesEvaluateDiscreteStates is false); fmi3UpdateDiscreteStates reaches the fixed point in one call";
    UpdateDiscreteStates,           E,              E,              0,          "";
    EnterContinuousTimeMode,        E,              0,              0,          "";
    CompletedIntegratorStep,        C,              0,              E,          "O7: importers call it at every evaluation; it has no side effect";
    SetTime,                        C,              0,              E,          "O4: importers set time and states before the first fmi3UpdateDiscreteStates";
    SetContinuousStates,            C,              0,              E,          "O4: importers set time and states before the first fmi3UpdateDiscreteStates";
    GetContinuousStateDerivatives,  N | E | C | T,  0,              0,          "";
    GetEventIndicators,             N | E | C | T,  0,              0,          "";
    GetContinuousStates,            N | E | C | T,  0,              0,          "";
    GetNominalsOfContinuousStates,  N | E | C | T,  0,              I,          "the nominal values are constant";
    GetNumberOfEventIndicators,     I | E,          0,              N | C | T,  "the number is constant";
    GetNumberOfContinuousStates,    I | E,          0,              N | C | T,  "the number is constant";
    EnterStepMode,                  0,              E,              0,          "";
    GetOutputDerivatives,           0,              S | U | T,      N,          "importers read them before the first step";
    DoStep,                         0,              S,              0,          "";
    ActivateModelPartition,         0,              0,              0,          "", never "this FMU does not offer Scheduled Execution";
}
