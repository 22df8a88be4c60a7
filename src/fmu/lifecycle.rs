//! Legal calls in each mode: the tables of FMI 2.0.4 (§3.2.3, §4.2.4) as data.
//!
//! A call out of the standard's order is refused if it would give wrong numbers. It is accepted if
//! importers make it and its meaning is unambiguous: the last column of [`RULES`] gives the reason.

/// Interface of an instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interface {
    /// The importer integrates.
    ModelExchange,
    /// The FMU integrates.
    CoSimulation,
}

impl Interface {
    /// Returns the standard's name.
    pub fn name(self) -> &'static str {
        match self {
            Self::ModelExchange => "Model Exchange",
            Self::CoSimulation => "Co-Simulation",
        }
    }
}

/// Mode of an instance. The standard's Co-Simulation modes `stepInProgress` and `stepCanceled` do
/// not occur: every step is done when `fmi2DoStep` returns. After `fmi2Error` an instance stays in
/// its mode, since a refused call has no effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Mode {
    /// Created; not yet initialised.
    Instantiated,
    /// Between `fmi2EnterInitializationMode` and `fmi2ExitInitializationMode`.
    Initialization,
    /// Model Exchange, at an event.
    Event,
    /// Model Exchange, between events.
    ContinuousTime,
    /// Co-Simulation, at a communication point.
    StepComplete,
    /// Co-Simulation, at the time reached by a discarded step.
    StepFailed,
    /// After `fmi2Terminate`.
    Terminated,
    /// After `fmi2Fatal`: the instance can only be freed.
    Lost,
}

impl Mode {
    /// All modes.
    pub const ALL: [Self; 8] = [
        Self::Instantiated,
        Self::Initialization,
        Self::Event,
        Self::ContinuousTime,
        Self::StepComplete,
        Self::StepFailed,
        Self::Terminated,
        Self::Lost,
    ];

    /// Returns the standard's name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Instantiated => "instantiated",
            Self::Initialization => "Initialization Mode",
            Self::Event => "Event Mode",
            Self::ContinuousTime => "Continuous-Time Mode",
            Self::StepComplete => "step complete",
            Self::StepFailed => "step failed",
            Self::Terminated => "terminated",
            Self::Lost => "lost",
        }
    }

    /// Returns true if an instance with this interface can be in this mode and be saved in it.
    pub fn belongs_to(self, interface: Interface) -> bool {
        match self {
            Self::Instantiated | Self::Initialization | Self::Terminated => true,
            Self::Event | Self::ContinuousTime => interface == Interface::ModelExchange,
            Self::StepComplete | Self::StepFailed => interface == Interface::CoSimulation,
            Self::Lost => false,
        }
    }
}

/// The functions that act on an instance, in the order of [`RULES`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)] // each is the function of that name
pub enum Call {
    SetDebugLogging,
    FreeInstance,
    SetupExperiment,
    EnterInitializationMode,
    ExitInitializationMode,
    Terminate,
    Reset,
    GetReal,
    GetInteger,
    GetBoolean,
    GetString,
    SetReal,
    SetInteger,
    SetBoolean,
    SetString,
    GetFMUstate,
    SetFMUstate,
    FreeFMUstate,
    SerializedFMUstateSize,
    SerializeFMUstate,
    DeSerializeFMUstate,
    GetDirectionalDerivative,
    EnterEventMode,
    NewDiscreteStates,
    EnterContinuousTimeMode,
    CompletedIntegratorStep,
    SetTime,
    SetContinuousStates,
    GetEventIndicators,
    GetContinuousStates,
    GetDerivatives,
    GetNominalsOfContinuousStates,
    SetRealInputDerivatives,
    GetRealOutputDerivatives,
    DoStep,
    CancelStep,
    GetStatus,
    GetRealStatus,
    GetIntegerStatus,
    GetBooleanStatus,
    GetStringStatus,
}

/// A row of the table: one function.
#[derive(Clone, Copy, Debug)]
pub struct Rule {
    /// The function.
    pub call: Call,
    /// Name in C.
    pub name: &'static str,
    /// Modes in which the standard allows the call in Model Exchange; a bit set.
    model_exchange: u8,
    /// Modes in which the standard allows the call in Co-Simulation.
    co_simulation: u8,
    /// Modes in which this FMU allows the call beyond the standard.
    beyond: u8,
    /// Reason for the modes beyond the standard; empty if there are none.
    pub why: &'static str,
}

const I: u8 = 1 << Mode::Instantiated as u8;
const N: u8 = 1 << Mode::Initialization as u8;
const E: u8 = 1 << Mode::Event as u8;
const C: u8 = 1 << Mode::ContinuousTime as u8;
const S: u8 = 1 << Mode::StepComplete as u8;
const F: u8 = 1 << Mode::StepFailed as u8;
const T: u8 = 1 << Mode::Terminated as u8;
const L: u8 = 1 << Mode::Lost as u8;
const ME: u8 = I | N | E | C | T;
const CS: u8 = I | N | S | F | T;

const fn rule(
    call: Call,
    name: &'static str,
    model_exchange: u8,
    co_simulation: u8,
    beyond: u8,
    why: &'static str,
) -> Rule {
    Rule {
        call,
        name,
        model_exchange,
        co_simulation,
        beyond,
        why,
    }
}

/// Legal modes of each function. Letters are modes: I instantiated, N initialization, E event, C
/// continuous-time, S step complete, F step failed, T terminated, L lost.
#[rustfmt::skip]
pub const RULES: [Rule; 41] = [
    rule(Call::SetDebugLogging,          "fmi2SetDebugLogging",          ME,            CS,          0,     ""),
    rule(Call::FreeInstance,             "fmi2FreeInstance",             ME,            CS,          L,     "importers free the memory of a lost instance"),
    rule(Call::SetupExperiment,          "fmi2SetupExperiment",          I,             I,           0,     ""),
    rule(Call::EnterInitializationMode,  "fmi2EnterInitializationMode",  I,             I,           0,     ""),
    rule(Call::ExitInitializationMode,   "fmi2ExitInitializationMode",   N,             N,           0,     ""),
    rule(Call::Terminate,                "fmi2Terminate",                E | C,         S | F,       I | N | T, "O10: importers call it in any mode"),
    rule(Call::Reset,                    "fmi2Reset",                    ME,            CS,          0,     ""),
    rule(Call::GetReal,                  "fmi2GetReal",                  N | E | C | T, N | S | F | T, I,   "importers show start values before a run"),
    rule(Call::GetInteger,               "fmi2GetInteger",               N | E | C | T, N | S | F | T, I,   "importers show start values before a run"),
    rule(Call::GetBoolean,               "fmi2GetBoolean",               N | E | C | T, N | S | F | T, I,   "importers show start values before a run"),
    rule(Call::GetString,                "fmi2GetString",                N | E | C | T, N | S | F | T, I,   "importers show start values before a run"),
    rule(Call::SetReal,                  "fmi2SetReal",                  I | N | E | C, I | N | S,   F,     "a run continues from the time that a discarded step has reached"),
    rule(Call::SetInteger,               "fmi2SetInteger",               I | N | E,     I | N | S,   C | F, "no variable of this type can be set"),
    rule(Call::SetBoolean,               "fmi2SetBoolean",               I | N | E,     I | N | S,   C | F, "no variable of this type can be set"),
    rule(Call::SetString,                "fmi2SetString",                I | N | E,     I | N | S,   C | F, "no variable of this type can be set"),
    rule(Call::GetFMUstate,              "fmi2GetFMUstate",              ME,            CS,          0,     ""),
    rule(Call::SetFMUstate,              "fmi2SetFMUstate",              ME,            CS,          0,     ""),
    rule(Call::FreeFMUstate,             "fmi2FreeFMUstate",             ME,            CS,          L,     "importers free the memory of a lost instance"),
    rule(Call::SerializedFMUstateSize,   "fmi2SerializedFMUstateSize",   ME,            CS,          0,     ""),
    rule(Call::SerializeFMUstate,        "fmi2SerializeFMUstate",        ME,            CS,          0,     ""),
    rule(Call::DeSerializeFMUstate,      "fmi2DeSerializeFMUstate",      ME,            CS,          0,     ""),
    rule(Call::GetDirectionalDerivative, "fmi2GetDirectionalDerivative", N | E | C | T, N | S | F | T, 0,   ""),
    rule(Call::EnterEventMode,           "fmi2EnterEventMode",           E | C,         0,           0,     ""),
    rule(Call::NewDiscreteStates,        "fmi2NewDiscreteStates",        E,             0,           0,     ""),
    rule(Call::EnterContinuousTimeMode,  "fmi2EnterContinuousTimeMode",  E,             0,           0,     ""),
    rule(Call::CompletedIntegratorStep,  "fmi2CompletedIntegratorStep",  C,             0,           E,     "O7: importers call it at every evaluation; it has no side effect"),
    rule(Call::SetTime,                  "fmi2SetTime",                  C,             0,           E,     "O4: importers set time and states before the first fmi2NewDiscreteStates"),
    rule(Call::SetContinuousStates,      "fmi2SetContinuousStates",      C,             0,           E,     "O4: importers set time and states before the first fmi2NewDiscreteStates"),
    rule(Call::GetEventIndicators,       "fmi2GetEventIndicators",       N | E | C | T, 0,           0,     ""),
    rule(Call::GetContinuousStates,      "fmi2GetContinuousStates",      N | E | C | T, 0,           0,     ""),
    rule(Call::GetDerivatives,           "fmi2GetDerivatives",           N | E | C | T, 0,           0,     ""),
    rule(Call::GetNominalsOfContinuousStates, "fmi2GetNominalsOfContinuousStates", ME,  0,           0,     ""),
    rule(Call::SetRealInputDerivatives,  "fmi2SetRealInputDerivatives",  0,             I | N | S,   F,     "a run continues from the time that a discarded step has reached"),
    rule(Call::GetRealOutputDerivatives, "fmi2GetRealOutputDerivatives", 0,             S | F | T,   N,     "importers read them before the first step"),
    rule(Call::DoStep,                   "fmi2DoStep",                   0,             S,           F,     "a run continues from the time that a discarded step has reached"),
    rule(Call::CancelStep,               "fmi2CancelStep",               0,             0,           0,     ""),
    rule(Call::GetStatus,                "fmi2GetStatus",                0,             S | F | T,   I | N, "the status is defined in these modes"),
    rule(Call::GetRealStatus,            "fmi2GetRealStatus",            0,             S | F | T,   I | N, "the status is defined in these modes"),
    rule(Call::GetIntegerStatus,         "fmi2GetIntegerStatus",         0,             S | F | T,   I | N, "the status is defined in these modes"),
    rule(Call::GetBooleanStatus,         "fmi2GetBooleanStatus",         0,             S | F | T,   I | N, "the status is defined in these modes"),
    rule(Call::GetStringStatus,          "fmi2GetStringStatus",          0,             S | F | T,   I | N, "the status is defined in these modes"),
];

impl Call {
    /// Returns the function's row.
    pub fn rule(self) -> &'static Rule {
        &RULES[self as usize]
    }

    /// Returns the name in C.
    pub fn name(self) -> &'static str {
        self.rule().name
    }
}

impl Rule {
    /// Returns true if the standard's table allows the call.
    pub fn is_standard(&self, interface: Interface, mode: Mode) -> bool {
        self.standard(interface) & (1 << mode as u8) != 0
    }

    /// Returns true if the interface has this function. `fmi2CancelStep` belongs to Co-Simulation,
    /// though this FMU allows it in no mode.
    pub fn belongs_to(&self, interface: Interface) -> bool {
        self.standard(interface) != 0 || (self.call == Call::CancelStep && interface == Interface::CoSimulation)
    }

    fn standard(&self, interface: Interface) -> u8 {
        match interface {
            Interface::ModelExchange => self.model_exchange,
            Interface::CoSimulation => self.co_simulation,
        }
    }
}

/// Returns true if a call is legal: by the standard, or as an exception for importers that need it.
pub fn is_legal(call: Call, interface: Interface, mode: Mode) -> bool {
    let rule = call.rule();
    rule.is_standard(interface, mode) || (rule.belongs_to(interface) && rule.beyond & (1 << mode as u8) != 0)
}

/// Checks that a call is legal.
///
/// # Errors
/// The reason why it is not, as a message.
pub fn permit(call: Call, interface: Interface, mode: Mode) -> Result<(), String> {
    if is_legal(call, interface, mode) {
        return Ok(());
    }
    Err(match (mode, interface) {
        (Mode::Lost, _) => "the instance is lost after an internal error; it can only be freed".to_owned(),
        (_, Interface::ModelExchange) if !call.rule().belongs_to(interface) => {
            "this is a function of Co-Simulation; the instance was made for Model Exchange".to_owned()
        }
        (_, Interface::CoSimulation) if !call.rule().belongs_to(interface) => {
            "this is a function of Model Exchange; the instance was made for Co-Simulation".to_owned()
        }
        _ if call == Call::CancelStep => {
            "no step is in progress: every step is done when fmi2DoStep returns".to_owned()
        }
        _ => format!("not allowed now; the instance is in mode \"{}\"", mode.name()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::messages;

    const BOTH: [Interface; 2] = [Interface::ModelExchange, Interface::CoSimulation];

    #[test]
    fn rows_are_in_the_order_of_the_calls() {
        for (i, rule) in RULES.iter().enumerate() {
            assert_eq!(rule.call as usize, i, "{}", rule.name);
            assert_eq!(rule.name, format!("fmi2{:?}", rule.call));
        }
    }

    #[test]
    fn every_call_except_cancel_is_legal_in_some_mode() {
        for rule in &RULES {
            let legal = BOTH.iter().any(|&i| Mode::ALL.iter().any(|&m| rule.is_standard(i, m)));
            assert_eq!(legal, rule.call != Call::CancelStep, "{}", rule.name);
        }
    }

    #[test]
    fn tolerated_calls_have_a_reason_and_are_not_standard() {
        for rule in &RULES {
            assert_eq!(rule.beyond == 0, rule.why.is_empty(), "{}", rule.name);
            for mode in Mode::ALL
                .into_iter()
                .filter(|&mode| rule.beyond & (1 << mode as u8) != 0)
            {
                let has = |&i: &Interface| rule.belongs_to(i) && (mode.belongs_to(i) || mode == Mode::Lost);
                let adds = BOTH.into_iter().filter(has).any(|i| !rule.is_standard(i, mode));
                assert!(adds, "{} {mode:?}", rule.name);
            }
        }
    }

    #[test]
    fn a_lost_instance_can_only_be_freed() {
        for rule in &RULES {
            let freeing = matches!(rule.call, Call::FreeInstance | Call::FreeFMUstate);
            for interface in BOTH {
                assert_eq!(is_legal(rule.call, interface, Mode::Lost), freeing, "{}", rule.name);
            }
        }
    }

    #[test]
    fn a_call_of_the_other_interface_is_refused_by_name() {
        let _section = messages::of_this_test();
        let refusal = |call, interface, mode| {
            let why = permit(call, interface, mode).expect_err("illegal");
            messages::record(&why);
            why
        };
        let why = refusal(Call::DoStep, Interface::ModelExchange, Mode::Event);
        assert!(why.contains("Co-Simulation"), "{why}");
        let why = refusal(Call::SetTime, Interface::CoSimulation, Mode::StepComplete);
        assert!(why.contains("Model Exchange"), "{why}");
        refusal(Call::CancelStep, Interface::CoSimulation, Mode::StepComplete);
    }
}
