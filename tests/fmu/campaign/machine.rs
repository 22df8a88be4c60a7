//! Legal calls in each mode, transcribed independently from the tables of FMI 2.0.4 (§3.2.3,
//! §4.2.4).

use crate::driver::{DISCARD, ME, OK};
use grapple::fmu::fmi2::{fmi2Status, fmi2Type};
use grapple::fmu::lifecycle::Call;

/// Mode of an instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    Instantiated,
    Initialization,
    Event,
    ContinuousTime,
    StepComplete,
    StepFailed,
    Terminated,
}

impl Mode {
    pub const ALL: [Self; 7] = [
        Self::Instantiated,
        Self::Initialization,
        Self::Event,
        Self::ContinuousTime,
        Self::StepComplete,
        Self::StepFailed,
        Self::Terminated,
    ];

    /// Returns whether an instance of this kind can be in the mode.
    pub fn belongs_to(self, kind: fmi2Type) -> bool {
        match self {
            Self::Instantiated | Self::Initialization | Self::Terminated => true,
            Self::Event | Self::ContinuousTime => kind == ME,
            Self::StepComplete | Self::StepFailed => kind != ME,
        }
    }

    fn letter(self) -> char {
        match self {
            Self::Instantiated => 'i',
            Self::Initialization => 'n',
            Self::Event => 'e',
            Self::ContinuousTime => 'c',
            Self::StepComplete => 's',
            Self::StepFailed => 'f',
            Self::Terminated => 't',
        }
    }
}

/// Returns the modes in which a call is allowed, in Model Exchange and in Co-Simulation, by their
/// letters ([`Mode::letter`]). Upper case: the standard forbids the call in this mode, but this FMU
/// accepts it, since some importers make it (docs/hosts.md).
fn modes(call: Call) -> [&'static str; 2] {
    match call {
        Call::SetDebugLogging | Call::FreeInstance | Call::Reset => ["inect", "insft"],
        Call::GetFMUstate | Call::SetFMUstate | Call::FreeFMUstate => ["inect", "insft"],
        Call::SerializedFMUstateSize | Call::SerializeFMUstate | Call::DeSerializeFMUstate => ["inect", "insft"],
        Call::SetupExperiment | Call::EnterInitializationMode => ["i", "i"],
        Call::ExitInitializationMode => ["n", "n"],
        Call::Terminate => ["INecT", "INsfT"],
        Call::GetReal | Call::GetInteger | Call::GetBoolean | Call::GetString => ["Inect", "Insft"],
        Call::SetReal => ["inec", "insF"],
        Call::SetInteger | Call::SetBoolean | Call::SetString => ["ineC", "insF"],
        Call::GetDirectionalDerivative => ["nect", "nsft"],
        Call::EnterEventMode => ["ec", ""],
        Call::NewDiscreteStates | Call::EnterContinuousTimeMode => ["e", ""],
        Call::CompletedIntegratorStep | Call::SetTime | Call::SetContinuousStates => ["Ec", ""],
        Call::GetEventIndicators | Call::GetContinuousStates | Call::GetDerivatives => ["nect", ""],
        Call::GetNominalsOfContinuousStates => ["inect", ""],
        Call::SetRealInputDerivatives => ["", "insF"],
        Call::GetRealOutputDerivatives => ["", "Nsft"],
        Call::DoStep => ["", "sF"],
        Call::CancelStep => ["", ""],
        Call::GetStatus
        | Call::GetRealStatus
        | Call::GetIntegerStatus
        | Call::GetBooleanStatus
        | Call::GetStringStatus => ["", "INsft"],
    }
}

/// Returns whether a call is allowed in this mode.
pub fn allows(call: Call, kind: fmi2Type, mode: Mode) -> bool {
    let [model_exchange, co_simulation] = modes(call);
    let modes = if kind == ME { model_exchange } else { co_simulation };
    modes.contains([mode.letter(), mode.letter().to_ascii_uppercase()])
}

/// Returns the mode after an allowed call that returned `status`; `fmi2SetFMUstate` leads to the
/// saved mode.
pub fn after(call: Call, kind: fmi2Type, mode: Mode, status: fmi2Status) -> Mode {
    match (call, status) {
        (Call::DoStep, DISCARD) => Mode::StepFailed,
        (_, status) if status != OK => mode,
        (Call::EnterInitializationMode, _) => Mode::Initialization,
        (Call::ExitInitializationMode, _) if kind == ME => Mode::Event,
        (Call::ExitInitializationMode | Call::DoStep, _) => Mode::StepComplete,
        (Call::EnterEventMode, _) => Mode::Event,
        (Call::EnterContinuousTimeMode, _) => Mode::ContinuousTime,
        (Call::Terminate, _) => Mode::Terminated,
        (Call::Reset, _) => Mode::Instantiated,
        _ => mode,
    }
}
