//! Calls of FMI 3.0.

use super::{Log, Made, Outcome, functions};
use grapple::fmu::fmi3::{
    fmi3Boolean, fmi3False, fmi3Float64, fmi3Instance, fmi3InstanceEnvironment, fmi3Int32,
    fmi3IntermediateUpdateCallback, fmi3LogMessageCallback, fmi3Status, fmi3String, fmi3True, fmi3ValueReference,
};
use model_description::{Kind, ScalarVariable};
use std::collections::BTreeSet;
use std::ptr::null;

/// Type of `fmi3InstantiateCoSimulation`.
type Instantiate = unsafe extern "C" fn(
    fmi3String,
    fmi3String,
    fmi3String,
    fmi3Boolean,
    fmi3Boolean,
    fmi3Boolean,
    fmi3Boolean,
    *const fmi3ValueReference,
    usize,
    fmi3InstanceEnvironment,
    Option<fmi3LogMessageCallback>,
    Option<fmi3IntermediateUpdateCallback>,
) -> fmi3Instance;
type Free = unsafe extern "C" fn(fmi3Instance);
type SetDebugLogging = unsafe extern "C" fn(fmi3Instance, fmi3Boolean, usize, *const fmi3String) -> fmi3Status;
type EnterInitialization =
    unsafe extern "C" fn(fmi3Instance, fmi3Boolean, fmi3Float64, fmi3Float64, fmi3Boolean, fmi3Float64) -> fmi3Status;
/// Type of functions that take the instance alone.
type Plain = unsafe extern "C" fn(fmi3Instance) -> fmi3Status;
/// Getters of a type `T`.
type Get<T> = unsafe extern "C" fn(fmi3Instance, *const fmi3ValueReference, usize, *mut T, usize) -> fmi3Status;
/// Setters of a type `T`.
type Set<T> = unsafe extern "C" fn(fmi3Instance, *const fmi3ValueReference, usize, *const T, usize) -> fmi3Status;
type DoStep = unsafe extern "C" fn(
    fmi3Instance,
    fmi3Float64,
    fmi3Float64,
    fmi3Boolean,
    *mut fmi3Boolean,
    *mut fmi3Boolean,
    *mut fmi3Boolean,
    *mut fmi3Float64,
) -> fmi3Status;

functions! {
    fmi3InstantiateCoSimulation: Instantiate,
    fmi3FreeInstance: Free,
    fmi3SetDebugLogging: SetDebugLogging,
    fmi3EnterInitializationMode: EnterInitialization,
    fmi3ExitInitializationMode: Plain,
    fmi3Terminate: Plain,
    fmi3Reset: Plain,
    fmi3GetFloat64: Get<fmi3Float64>,
    fmi3GetInt32: Get<fmi3Int32>,
    fmi3GetBoolean: Get<fmi3Boolean>,
    fmi3SetFloat64: Set<fmi3Float64>,
    fmi3SetInt32: Set<fmi3Int32>,
    fmi3SetBoolean: Set<fmi3Boolean>,
    fmi3DoStep: DoStep,
}

/// Variables that are not of the type `Float64`, by value reference.
#[derive(Default)]
pub struct Types {
    integers: BTreeSet<u32>,
    booleans: BTreeSet<u32>,
}

impl Types {
    pub fn of(variables: &[ScalarVariable]) -> Self {
        let of_kind = |wanted: fn(&Kind) -> bool| {
            let found = variables.iter().filter(|v| wanted(&v.kind));
            found.map(|v| v.value_reference).collect()
        };
        Self {
            integers: of_kind(|kind| matches!(kind, Kind::Integer(_))),
            booleans: of_kind(|kind| matches!(kind, Kind::Boolean(_))),
        }
    }

    /// Returns the places in the list of those of type `Float64`, of type `Int32`, and of type
    /// `Boolean`.
    fn places(&self, references: &[u32]) -> [Vec<usize>; 3] {
        let mut places = [const { Vec::new() }; 3];
        for (place, reference) in references.iter().enumerate() {
            let is = [self.integers.contains(reference), self.booleans.contains(reference)];
            places[match is {
                [true, _] => 1,
                [_, true] => 2,
                _ => 0,
            }]
            .push(place);
        }
        places
    }
}

/// An instance, without Event Mode and early return. Its slices of references and values have equal
/// lengths.
pub struct Slave<'l> {
    functions: &'l Functions,
    types: &'l Types,
    pub(super) instance: fmi3Instance,
    /// Start time and stop time, s, and relative tolerance, for the initialisation.
    experiment: [f64; 3],
}

impl Functions {
    /// Creates an instance that writes to `log`, which must outlive it; none if the FMU refuses.
    /// Logging is on, since nothing is logged otherwise, failures included.
    pub fn instantiate<'l>(&'l self, made: &'l Made, log: &Log) -> Option<Slave<'l>> {
        // SAFETY: all pointers are to live, terminated strings; there are no intermediate variables.
        let instance = unsafe {
            (self.fmi3InstantiateCoSimulation)(
                made.name.as_ptr(),
                made.token.as_ptr(),
                made.resources.as_ptr(),
                fmi3False,
                fmi3True,
                fmi3False,
                fmi3False,
                null(),
                0,
                std::ptr::from_ref::<Log>(log).cast_mut().cast(),
                Some(write_log),
                None,
            )
        };
        (!instance.is_null()).then_some(Slave {
            functions: self,
            types: &made.types,
            instance,
            experiment: [0.0, 0.0, 0.0],
        })
    }
}

impl Slave<'_> {
    pub fn listen(&self, categories: &[fmi3String]) -> Outcome {
        let set = |on: fmi3Boolean, categories: &[fmi3String]| {
            // SAFETY: the strings are live and end with a zero.
            let status = unsafe {
                (self.functions.fmi3SetDebugLogging)(self.instance, on, categories.len(), categories.as_ptr())
            };
            outcome("fmi3SetDebugLogging", status)
        };
        match set(fmi3False, &[]) {
            Outcome(_, None) => set(fmi3True, categories),
            failed => failed,
        }
    }

    /// Keeps the experiment for the initialisation.
    pub fn set_up(&mut self, start: f64, stop: f64, tolerance: f64) {
        self.experiment = [start, stop, tolerance];
    }

    pub fn enter_initialization(&self) -> Outcome {
        let [start, stop, tolerance] = self.experiment;
        let enter = self.functions.fmi3EnterInitializationMode;
        // SAFETY: the instance lives.
        let status = unsafe { enter(self.instance, fmi3True, tolerance, start, fmi3True, stop) };
        outcome("fmi3EnterInitializationMode", status)
    }

    pub fn exit_initialization(&self) -> Outcome {
        // SAFETY: the instance lives.
        let status = unsafe { (self.functions.fmi3ExitInitializationMode)(self.instance) };
        outcome("fmi3ExitInitializationMode", status)
    }

    pub fn terminate(&self) -> Outcome {
        // SAFETY: the instance lives.
        let status = unsafe { (self.functions.fmi3Terminate)(self.instance) };
        outcome("fmi3Terminate", status)
    }

    pub fn reset(&self) -> Outcome {
        // SAFETY: the instance lives.
        let status = unsafe { (self.functions.fmi3Reset)(self.instance) };
        outcome("fmi3Reset", status)
    }

    /// Sets variables of any type from numbers.
    pub fn set_numbers(&self, references: &[u32], values: &[f64]) -> Outcome {
        let [reals, integers, booleans] = self.types.places(references);
        let Functions {
            fmi3SetFloat64,
            fmi3SetInt32,
            fmi3SetBoolean,
            ..
        } = self.functions;
        let of = |places: &[usize]| -> Vec<u32> { places.iter().map(|&k| references[k]).collect() };
        let numbers: Vec<f64> = reals.iter().map(|&k| values[k]).collect();
        let rounded: Vec<i32> = integers.iter().map(|&k| values[k].round() as i32).collect();
        let flags = booleans
            .iter()
            .map(|&k| if values[k] > 0.5 { fmi3True } else { fmi3False });
        let flags: Vec<fmi3Boolean> = flags.collect();
        [
            self.set(*fmi3SetFloat64, "fmi3SetFloat64", &of(&reals), &numbers),
            self.set(*fmi3SetInt32, "fmi3SetInt32", &of(&integers), &rounded),
            self.set(*fmi3SetBoolean, "fmi3SetBoolean", &of(&booleans), &flags),
        ]
        .into_iter()
        .reduce(first_failure)
        .unwrap_or(Outcome("fmi3SetFloat64", None))
    }

    fn set<T>(&self, set: Set<T>, name: &'static str, references: &[u32], values: &[T]) -> Outcome {
        if references.is_empty() {
            return Outcome(name, None);
        }
        // SAFETY: both slices have the passed lengths.
        let status = unsafe {
            set(
                self.instance,
                references.as_ptr(),
                references.len(),
                values.as_ptr(),
                values.len(),
            )
        };
        outcome(name, status)
    }

    pub fn step(&self, t: f64, h: f64) -> Outcome {
        let [mut needs_event, mut terminates, mut is_early] = [fmi3False; 3];
        let mut reached = t;
        // SAFETY: the instance lives; the four places are writable.
        let status = unsafe {
            (self.functions.fmi3DoStep)(
                self.instance,
                t,
                h,
                fmi3True,
                &raw mut needs_event,
                &raw mut terminates,
                &raw mut is_early,
                &raw mut reached,
            )
        };
        match outcome("fmi3DoStep", status) {
            Outcome(function, None) if terminates != fmi3False => {
                Outcome(function, Some("terminateSimulation is true: the FMU ends the run"))
            }
            Outcome(function, None) if is_early != fmi3False => {
                Outcome(function, Some("earlyReturn is true, which was not allowed"))
            }
            outcome => outcome,
        }
    }

    /// Gets variables of any type as numbers; `true` is 1.
    pub fn numbers(&self, references: &[u32], values: &mut [f64]) -> Outcome {
        let [reals, integers, booleans] = self.types.places(references);
        let Functions {
            fmi3GetFloat64,
            fmi3GetInt32,
            fmi3GetBoolean,
            ..
        } = self.functions;
        let of = |places: &[usize]| -> Vec<u32> { places.iter().map(|&k| references[k]).collect() };
        let (numbers, of_reals) = self.get(*fmi3GetFloat64, "fmi3GetFloat64", &of(&reals), 0.0);
        let (counts, of_integers) = self.get(*fmi3GetInt32, "fmi3GetInt32", &of(&integers), 0);
        let (flags, of_booleans) = self.get(*fmi3GetBoolean, "fmi3GetBoolean", &of(&booleans), fmi3False);
        let numbers = numbers.into_iter().chain(counts.into_iter().map(f64::from));
        let numbers = numbers.chain(flags.into_iter().map(|flag| f64::from(u8::from(flag != fmi3False))));
        for (&place, number) in reals.iter().chain(&integers).chain(&booleans).zip(numbers) {
            values[place] = number;
        }
        first_failure(first_failure(of_reals, of_integers), of_booleans)
    }

    fn get<T: Copy>(&self, get: Get<T>, name: &'static str, references: &[u32], blank: T) -> (Vec<T>, Outcome) {
        let mut values = vec![blank; references.len()];
        if references.is_empty() {
            return (values, Outcome(name, None));
        }
        // SAFETY: the buffer has one value for each reference.
        let status = unsafe {
            get(
                self.instance,
                references.as_ptr(),
                references.len(),
                values.as_mut_ptr(),
                values.len(),
            )
        };
        (values, outcome(name, status))
    }
}

fn first_failure(first: Outcome, second: Outcome) -> Outcome {
    if first.1.is_some() { first } else { second }
}

impl Drop for Slave<'_> {
    fn drop(&mut self) {
        // SAFETY: the instance lives and is not used after this.
        unsafe { (self.functions.fmi3FreeInstance)(self.instance) };
    }
}

pub(super) fn outcome(function: &'static str, status: fmi3Status) -> Outcome {
    Outcome(
        function,
        match status {
            fmi3Status::OK | fmi3Status::WARNING => None,
            fmi3Status::DISCARD => Some("fmi3Discard"),
            fmi3Status::ERROR => Some("fmi3Error"),
            fmi3Status::FATAL => Some("fmi3Fatal"),
            _ => Some("an unknown status"),
        },
    )
}

unsafe extern "C" fn write_log(
    environment: fmi3InstanceEnvironment,
    status: fmi3Status,
    category: fmi3String,
    message: fmi3String,
) {
    // SAFETY: the environment is the log of the calling instance.
    if let Some(log) = unsafe { environment.cast::<Log>().as_ref() } {
        let is_failure = !matches!(status, fmi3Status::OK | fmi3Status::WARNING);
        // In FMI "##" stands for "#".
        super::record(log, is_failure, category, |text| text.replace("##", "#"), message);
    }
}
