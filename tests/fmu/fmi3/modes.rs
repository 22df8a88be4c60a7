//! Every function in every mode, against a table transcribed independently from FMI 3.0.2 (§2.3, §3.2,
//! §4.2).

use super::instance::Arguments;
use super::{Instance, Log, OK};
use crate::driver::Fmu;
use grapple::fmu::c_abi::*;
use grapple::fmu::fmi3::*;
use grapple::fmu::lifecycle::fmi3::Call;
use std::ptr::{null, null_mut};

/// Modes by their letters: instantiated, initialization (n), event, continuous-time, step, terminated.
const MODES_OF_ME: &str = "inect";
const MODES_OF_CS: &str = "inst";
const MODES_WITH_EVENTS: &str = "inest";

/// Returns the modes in which a call is allowed, in Model Exchange and in Co-Simulation. Upper case:
/// the standard forbids the call in this mode, but this FMU accepts it, since some importers make it
/// (docs/hosts.md).
pub fn modes(call: Call) -> [&'static str; 2] {
    match call {
        Call::SetDebugLogging | Call::FreeInstance | Call::Reset => ["inect", "inest"],
        Call::GetFMUState | Call::SetFMUState | Call::FreeFMUState => ["inect", "inest"],
        Call::SerializedFMUStateSize | Call::SerializeFMUState | Call::DeserializeFMUState => ["inect", "inest"],
        Call::EnterInitializationMode => ["i", "i"],
        Call::ExitInitializationMode => ["n", "n"],
        Call::EnterEventMode => ["Ec", "Es"],
        Call::Terminate => ["INecT", "INesT"],
        Call::SetFloat64 => ["inec", "ines"],
        Call::GetDirectionalDerivative | Call::GetAdjointDerivative => ["nect", "nest"],
        Call::UpdateDiscreteStates | Call::SetClock => ["e", "e"],
        Call::EnterContinuousTimeMode => ["e", ""],
        Call::CompletedIntegratorStep | Call::SetTime | Call::SetContinuousStates => ["Ec", ""],
        Call::GetContinuousStateDerivatives | Call::GetEventIndicators | Call::GetContinuousStates => ["nect", ""],
        Call::GetNominalsOfContinuousStates => ["Inect", ""],
        Call::GetNumberOfEventIndicators | Call::GetNumberOfContinuousStates => ["iNeCT", ""],
        Call::EnterStepMode => ["", "e"],
        Call::GetOutputDerivatives => ["", "Nst"],
        Call::DoStep => ["", "s"],
        Call::GetNumberOfVariableDependencies
        | Call::GetVariableDependencies
        | Call::EnterConfigurationMode
        | Call::ExitConfigurationMode
        | Call::GetIntervalDecimal
        | Call::GetIntervalFraction
        | Call::GetShiftDecimal
        | Call::GetShiftFraction
        | Call::SetIntervalDecimal
        | Call::SetIntervalFraction
        | Call::SetShiftDecimal
        | Call::SetShiftFraction
        | Call::EvaluateDiscreteStates
        | Call::ActivateModelPartition => ["", ""],
        get if get.name().starts_with("fmi3Get") => ["inect", "inest"],
        _ => ["ineC", "ines"],
    }
}

/// Kind of an instance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Of {
    ModelExchange,
    CoSimulation,
    CoSimulationWithEvents,
}

/// Returns an instance in a mode.
fn instance<'a>(fmu: &'a Fmu, log: &Log, of: Of, mode: char) -> Instance<'a> {
    let mut arguments = Arguments::of(fmu);
    arguments.event_mode_used = of == Of::CoSimulationWithEvents;
    let c = match of {
        Of::ModelExchange => arguments.model_exchange(Some(log)),
        _ => arguments.co_simulation(Some(log)),
    };
    let instance = Instance::of(fmu, c);
    if mode == 'i' {
        return instance;
    }
    assert_eq!(instance.enter_initialization(None, 0.0, None), OK);
    // SAFETY: a live handle.
    unsafe {
        if mode != 'n' {
            assert_eq!(fmi3ExitInitializationMode(c), OK);
        }
        if mode == 'c' {
            assert_eq!(fmi3EnterContinuousTimeMode(c), OK);
        }
        if mode == 's' && of == Of::CoSimulationWithEvents {
            assert_eq!(fmi3EnterStepMode(c), OK);
        }
        if mode == 't' {
            assert_eq!(fmi3Terminate(c), OK);
        }
    }
    instance
}

/// Makes a call with valid arguments: arrays of length zero where these are legal.
fn make(call: Call, of: &Instance) -> fmi3Status {
    let c = of.c;
    let mut numbers = vec![0.1; of.fmu.state_count()];
    let (mut count, mut state) = (0, null_mut());
    let mut bytes = of.bytes();
    // SAFETY: a live handle and its states; arrays as long as required.
    unsafe {
        let needs_state = matches!(
            call,
            Call::SetFMUState | Call::FreeFMUState | Call::SerializedFMUStateSize | Call::SerializeFMUState
        );
        if needs_state {
            assert_eq!(fmi3GetFMUState(c, &mut state), OK);
        }
        let status = match call {
            // The instance is freed when it is dropped.
            Call::FreeInstance => OK,
            Call::GetFMUState => fmi3GetFMUState(c, &mut state),
            Call::SetFMUState => fmi3SetFMUState(c, state),
            Call::FreeFMUState => fmi3FreeFMUState(c, &mut state),
            Call::SerializedFMUStateSize => fmi3SerializedFMUStateSize(c, state, &mut count),
            Call::SerializeFMUState => fmi3SerializeFMUState(c, state, bytes.as_mut_ptr(), bytes.len()),
            Call::DeserializeFMUState => fmi3DeserializeFMUState(c, bytes.as_ptr(), bytes.len(), &mut state),
            Call::GetEventIndicators => {
                numbers.resize(of.fmu.indicator_count(), 0.0);
                fmi3GetEventIndicators(c, numbers.as_mut_ptr(), numbers.len())
            }
            call => make_on(call, c, &mut numbers),
        };
        assert_eq!(fmi3FreeFMUState(c, &mut state), OK);
        status
    }
}

/// Makes a call on any pointer, with arrays of length zero where these are legal, else with `x`, and
/// without a saved state.
///
/// # Safety
/// As the C functions.
pub unsafe fn make_on(call: Call, c: fmi3Instance, x: &mut [f64]) -> fmi3Status {
    let n = x.len();
    let (mut flags, mut time, mut count, mut state) = ([0; 6], 0.0, 0, null_mut());
    // SAFETY: guaranteed by the caller.
    unsafe {
        match call {
            Call::SetDebugLogging => fmi3SetDebugLogging(c, 1, 0, null()),
            Call::FreeInstance => {
                fmi3FreeInstance(c);
                OK
            }
            Call::EnterInitializationMode => fmi3EnterInitializationMode(c, 0, 0.0, 0.0, 0, 0.0),
            Call::ExitInitializationMode => fmi3ExitInitializationMode(c),
            Call::EnterEventMode => fmi3EnterEventMode(c),
            Call::Terminate => fmi3Terminate(c),
            Call::Reset => fmi3Reset(c),
            Call::GetFloat32 => fmi3GetFloat32(c, null(), 0, null_mut(), 0),
            Call::GetFloat64 => fmi3GetFloat64(c, null(), 0, null_mut(), 0),
            Call::GetInt8 => fmi3GetInt8(c, null(), 0, null_mut(), 0),
            Call::GetUInt8 => fmi3GetUInt8(c, null(), 0, null_mut(), 0),
            Call::GetInt16 => fmi3GetInt16(c, null(), 0, null_mut(), 0),
            Call::GetUInt16 => fmi3GetUInt16(c, null(), 0, null_mut(), 0),
            Call::GetInt32 => fmi3GetInt32(c, null(), 0, null_mut(), 0),
            Call::GetUInt32 => fmi3GetUInt32(c, null(), 0, null_mut(), 0),
            Call::GetInt64 => fmi3GetInt64(c, null(), 0, null_mut(), 0),
            Call::GetUInt64 => fmi3GetUInt64(c, null(), 0, null_mut(), 0),
            Call::GetBoolean => fmi3GetBoolean(c, null(), 0, null_mut(), 0),
            Call::GetString => fmi3GetString(c, null(), 0, null_mut(), 0),
            Call::GetBinary => fmi3GetBinary(c, null(), 0, null_mut(), null_mut(), 0),
            Call::GetClock => fmi3GetClock(c, null(), 0, null_mut()),
            Call::SetFloat32 => fmi3SetFloat32(c, null(), 0, null(), 0),
            Call::SetFloat64 => fmi3SetFloat64(c, null(), 0, null(), 0),
            Call::SetInt8 => fmi3SetInt8(c, null(), 0, null(), 0),
            Call::SetUInt8 => fmi3SetUInt8(c, null(), 0, null(), 0),
            Call::SetInt16 => fmi3SetInt16(c, null(), 0, null(), 0),
            Call::SetUInt16 => fmi3SetUInt16(c, null(), 0, null(), 0),
            Call::SetInt32 => fmi3SetInt32(c, null(), 0, null(), 0),
            Call::SetUInt32 => fmi3SetUInt32(c, null(), 0, null(), 0),
            Call::SetInt64 => fmi3SetInt64(c, null(), 0, null(), 0),
            Call::SetUInt64 => fmi3SetUInt64(c, null(), 0, null(), 0),
            Call::SetBoolean => fmi3SetBoolean(c, null(), 0, null(), 0),
            Call::SetString => fmi3SetString(c, null(), 0, null(), 0),
            Call::SetBinary => fmi3SetBinary(c, null(), 0, null(), null(), 0),
            Call::SetClock => fmi3SetClock(c, null(), 0, null()),
            Call::GetNumberOfVariableDependencies => fmi3GetNumberOfVariableDependencies(c, 0, &mut count),
            Call::GetVariableDependencies => {
                fmi3GetVariableDependencies(c, 0, null_mut(), null_mut(), null_mut(), null_mut(), 0)
            }
            Call::GetFMUState => fmi3GetFMUState(c, &mut state),
            Call::SetFMUState => fmi3SetFMUState(c, state),
            Call::FreeFMUState => fmi3FreeFMUState(c, &mut state),
            Call::SerializedFMUStateSize => fmi3SerializedFMUStateSize(c, state, &mut count),
            Call::SerializeFMUState => fmi3SerializeFMUState(c, state, null_mut(), 0),
            Call::DeserializeFMUState => fmi3DeserializeFMUState(c, null(), 0, &mut state),
            Call::GetDirectionalDerivative => {
                fmi3GetDirectionalDerivative(c, null(), 0, null(), 0, null(), 0, null_mut(), 0)
            }
            Call::GetAdjointDerivative => fmi3GetAdjointDerivative(c, null(), 0, null(), 0, null(), 0, null_mut(), 0),
            Call::EnterConfigurationMode => fmi3EnterConfigurationMode(c),
            Call::ExitConfigurationMode => fmi3ExitConfigurationMode(c),
            Call::GetIntervalDecimal => fmi3GetIntervalDecimal(c, null(), 0, null_mut(), null_mut()),
            Call::GetIntervalFraction => fmi3GetIntervalFraction(c, null(), 0, null_mut(), null_mut(), null_mut()),
            Call::GetShiftDecimal => fmi3GetShiftDecimal(c, null(), 0, null_mut()),
            Call::GetShiftFraction => fmi3GetShiftFraction(c, null(), 0, null_mut(), null_mut()),
            Call::SetIntervalDecimal => fmi3SetIntervalDecimal(c, null(), 0, null()),
            Call::SetIntervalFraction => fmi3SetIntervalFraction(c, null(), 0, null(), null()),
            Call::SetShiftDecimal => fmi3SetShiftDecimal(c, null(), 0, null()),
            Call::SetShiftFraction => fmi3SetShiftFraction(c, null(), 0, null(), null()),
            Call::EvaluateDiscreteStates => fmi3EvaluateDiscreteStates(c),
            Call::UpdateDiscreteStates => {
                let [a, b, d, e, f, _] = &mut flags;
                fmi3UpdateDiscreteStates(c, a, b, d, e, f, &mut time)
            }
            Call::EnterContinuousTimeMode => fmi3EnterContinuousTimeMode(c),
            Call::CompletedIntegratorStep => {
                let [a, b, ..] = &mut flags;
                fmi3CompletedIntegratorStep(c, 1, a, b)
            }
            Call::SetTime => fmi3SetTime(c, 0.0),
            Call::SetContinuousStates => fmi3SetContinuousStates(c, x.as_ptr(), n),
            Call::GetContinuousStateDerivatives => fmi3GetContinuousStateDerivatives(c, x.as_mut_ptr(), n),
            Call::GetEventIndicators => fmi3GetEventIndicators(c, x.as_mut_ptr(), n),
            Call::GetContinuousStates => fmi3GetContinuousStates(c, x.as_mut_ptr(), n),
            Call::GetNominalsOfContinuousStates => fmi3GetNominalsOfContinuousStates(c, x.as_mut_ptr(), n),
            Call::GetNumberOfEventIndicators => fmi3GetNumberOfEventIndicators(c, &mut count),
            Call::GetNumberOfContinuousStates => fmi3GetNumberOfContinuousStates(c, &mut count),
            Call::EnterStepMode => fmi3EnterStepMode(c),
            Call::GetOutputDerivatives => fmi3GetOutputDerivatives(c, null(), 0, null(), null_mut(), 0),
            Call::DoStep => {
                let [a, b, d, ..] = &mut flags;
                fmi3DoStep(c, 0.0, 0.01, 1, a, b, d, &mut time)
            }
            Call::ActivateModelPartition => fmi3ActivateModelPartition(c, 0, 0.0),
        }
    }
}

#[test]
fn status_of_every_call_in_every_mode_agrees_with_the_standard() {
    let (fmu, log) = (Fmu::new(), Log::default());
    let all = [
        (Of::ModelExchange, MODES_OF_ME),
        (Of::CoSimulation, MODES_OF_CS),
        (Of::CoSimulationWithEvents, MODES_WITH_EVENTS),
    ];
    for (of, all) in all {
        for mode in all.chars() {
            for &call in Call::ALL {
                let instance = instance(&fmu, &log, of, mode);
                log.take();
                let status = make(call, &instance);
                let [of_me, of_cs] = modes(call);
                let allowed = if of == Of::ModelExchange { of_me } else { of_cs };
                let mut expected = allowed.contains([mode, mode.to_ascii_uppercase()]);
                // An importer that does not use Event Mode cannot enter it.
                expected &= (call, of) != (Call::EnterEventMode, Of::CoSimulation);
                let what = format!("{} in {mode:?}, {of:?}", call.name());
                assert_eq!(status == OK, expected, "{what}: {:?}", log.take());
                let messages = log.take().into_iter().filter(|(of, ..)| *of != OK).count();
                assert_eq!(messages, usize::from(!expected), "{what}");
            }
        }
    }
}
