//! Legal calls in each mode: the tables of the standards as data, one for each version.
//!
//! A call out of the standard's order is refused if it would give wrong numbers. It is accepted if
//! importers make it and its meaning is unambiguous: the last column of the tables gives the reason.

/// Defines the functions of a version of the standard that act on an instance, and their rules. A row
/// has the name without prefix; the modes in which the standard allows the call in Model Exchange and
/// in Co-Simulation, and those in which this FMU allows it beyond the standard, with the reason.
/// Letters are modes: I instantiated, N initialization, E event, C continuous-time, S step complete,
/// F step failed, U intermediate update, T terminated, L lost. A function that is never legal has the reason after `never`.
macro_rules! table {
    ($prefix:literal, $standard:expr,
     $($call:ident, $model_exchange:expr, $co_simulation:expr, $beyond:expr, $why:literal
       $(, never $never:literal)?;)*) => {
        /// The functions that act on an instance.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[allow(missing_docs)] // each is the function of that name
        pub enum Call {
            $($call,)*
        }

        static RULES: &[$crate::fmu::lifecycle::Rule] = &[$($crate::fmu::lifecycle::Rule {
            name: concat!($prefix, stringify!($call)),
            standard: $standard,
            model_exchange: $model_exchange,
            co_simulation: $co_simulation,
            beyond: $beyond,
            why: $why,
            never: concat!($($never)?),
        },)*];

        impl Call {
            /// All functions.
            pub const ALL: &[Self] = &[$(Self::$call,)*];

            /// Returns the function's row.
            pub fn rule(self) -> &'static $crate::fmu::lifecycle::Rule {
                &RULES[self as usize]
            }

            /// Returns the name in C.
            pub fn name(self) -> &'static str {
                self.rule().name
            }
        }

        impl From<Call> for &'static $crate::fmu::lifecycle::Rule {
            fn from(call: Call) -> Self {
                call.rule()
            }
        }
    };
}

mod fmi2;
pub mod fmi3;

pub use fmi2::{Call, is_legal};

/// Version of the standard whose functions an importer calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Standard {
    /// FMI 2.0.
    #[default]
    Fmi2,
    /// FMI 3.0.
    Fmi3,
}

impl Standard {
    /// Returns the standard's name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Fmi2 => "FMI 2.0",
            Self::Fmi3 => "FMI 3.0",
        }
    }

    /// Returns the name of the type of real variables.
    pub fn real(self) -> &'static str {
        match self {
            Self::Fmi2 => "Real",
            Self::Fmi3 => "Float64",
        }
    }

    /// Returns the name of the fingerprint that matches an XML with its model.
    pub fn token(self) -> &'static str {
        match self {
            Self::Fmi2 => "GUID",
            Self::Fmi3 => "instantiation token",
        }
    }

    /// Returns the function that sets start time, stop time and tolerance.
    pub fn setup(self) -> &'static str {
        match self {
            Self::Fmi2 => "fmi2SetupExperiment",
            Self::Fmi3 => "fmi3EnterInitializationMode",
        }
    }
}

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

/// Mode of an instance. The modes `stepInProgress` and `stepCanceled` of FMI 2.0 do not occur: every
/// step is done when `fmi2DoStep` returns. After an error an instance stays in its mode, since a
/// refused call has no effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Mode {
    /// Created; not yet initialised.
    Instantiated,
    /// Between `fmi2EnterInitializationMode` and `fmi2ExitInitializationMode`.
    Initialization,
    /// At an event; in Co-Simulation in FMI 3.0 only, if the importer uses Event Mode.
    Event,
    /// Model Exchange, between events.
    ContinuousTime,
    /// Co-Simulation, at a communication point; FMI 3.0 calls it Step Mode.
    StepComplete,
    /// Co-Simulation in FMI 2.0, at the time reached by a discarded step.
    StepFailed,
    /// After `fmi2Terminate`.
    Terminated,
    /// After `fmi2Fatal`: the instance can only be freed.
    Lost,
    /// Co-Simulation in FMI 3.0, in the importer's callback during a step.
    IntermediateUpdate,
}

impl Mode {
    /// All modes.
    pub const ALL: [Self; 9] = [
        Self::Instantiated,
        Self::Initialization,
        Self::Event,
        Self::ContinuousTime,
        Self::StepComplete,
        Self::StepFailed,
        Self::Terminated,
        Self::Lost,
        Self::IntermediateUpdate,
    ];

    /// Returns the standard's name.
    pub fn name(self, standard: Standard) -> &'static str {
        match self {
            Self::Instantiated => "instantiated",
            Self::Initialization => "Initialization Mode",
            Self::Event => "Event Mode",
            Self::ContinuousTime => "Continuous-Time Mode",
            Self::StepComplete => match standard {
                Standard::Fmi2 => "step complete",
                Standard::Fmi3 => "Step Mode",
            },
            Self::StepFailed => "step failed",
            Self::Terminated => "terminated",
            Self::Lost => "lost",
            Self::IntermediateUpdate => "Intermediate Update Mode",
        }
    }

    /// Returns true if an instance with this interface can be in this mode and be saved in it.
    pub fn belongs_to(self, interface: Interface) -> bool {
        match self {
            Self::Instantiated | Self::Initialization | Self::Event | Self::Terminated => true,
            Self::ContinuousTime => interface == Interface::ModelExchange,
            Self::StepComplete | Self::StepFailed => interface == Interface::CoSimulation,
            Self::Lost | Self::IntermediateUpdate => false,
        }
    }
}

/// A row of a table: one function.
#[derive(Clone, Copy, Debug)]
pub struct Rule {
    /// Name in C.
    pub name: &'static str,
    /// Standard to which the function belongs.
    pub standard: Standard,
    /// Modes in which the standard allows the call in Model Exchange; a bit set.
    model_exchange: u16,
    /// Modes in which the standard allows the call in Co-Simulation.
    co_simulation: u16,
    /// Modes in which this FMU allows the call beyond the standard.
    beyond: u16,
    /// Reason for the modes beyond the standard; empty if there are none.
    pub why: &'static str,
    /// Reason for which this FMU allows the call in no mode; empty if it allows it.
    pub never: &'static str,
}

// Bits of the modes.
const I: u16 = 1 << Mode::Instantiated as u8;
const N: u16 = 1 << Mode::Initialization as u8;
const E: u16 = 1 << Mode::Event as u8;
const C: u16 = 1 << Mode::ContinuousTime as u8;
const S: u16 = 1 << Mode::StepComplete as u8;
const F: u16 = 1 << Mode::StepFailed as u8;
const T: u16 = 1 << Mode::Terminated as u8;
const L: u16 = 1 << Mode::Lost as u8;
const U: u16 = 1 << Mode::IntermediateUpdate as u8;

impl Rule {
    /// Returns true if the standard's table allows the call.
    pub fn is_standard(&self, interface: Interface, mode: Mode) -> bool {
        self.never.is_empty() && self.modes(interface) & (1 << mode as u8) != 0
    }

    /// Returns true if the interface has this function.
    pub fn belongs_to(&self, interface: Interface) -> bool {
        self.modes(interface) != 0
    }

    /// Returns true if the call is legal: by the standard, or as an exception for importers that
    /// need it.
    pub fn is_legal(&self, interface: Interface, mode: Mode) -> bool {
        self.is_standard(interface, mode) || (self.belongs_to(interface) && self.beyond & (1 << mode as u8) != 0)
    }

    /// Checks that the call is legal for an instance that was made by a function of `standard`.
    ///
    /// # Errors
    /// The reason why it is not, as a message.
    pub fn permit(&self, standard: Standard, interface: Interface, mode: Mode) -> Result<(), String> {
        if standard != self.standard {
            let own = standard.name();
            return Err(format!(
                "this is a function of {}; the instance was made by a function of {own}",
                self.standard.name()
            ));
        }
        if self.is_legal(interface, mode) {
            return Ok(());
        }
        Err(match (mode, interface) {
            (Mode::Lost, _) => "the instance is lost after an internal error; it can only be freed".to_owned(),
            _ if !self.never.is_empty() && self.model_exchange | self.co_simulation == 0 => self.never.to_owned(),
            (_, Interface::ModelExchange) if !self.belongs_to(interface) => {
                "this is a function of Co-Simulation; the instance was made for Model Exchange".to_owned()
            }
            (_, Interface::CoSimulation) if !self.belongs_to(interface) => {
                "this is a function of Model Exchange; the instance was made for Co-Simulation".to_owned()
            }
            _ if !self.never.is_empty() => self.never.to_owned(),
            _ => format!("not allowed now; the instance is in mode \"{}\"", mode.name(standard)),
        })
    }

    fn modes(&self, interface: Interface) -> u16 {
        match interface {
            Interface::ModelExchange => self.model_exchange,
            Interface::CoSimulation => self.co_simulation,
        }
    }
}

#[cfg(feature = "inside")]
pub(super) mod tests;
