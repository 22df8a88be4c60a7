//! Calls on an instance, with arguments that a [`Fuzz`] may make invalid.

use crate::campaign::fuzzing::{Fuzz, SENTINEL, buffer, shown};
use crate::campaign::journal::Function;
use crate::campaign::machine::{Mode, allows};
use crate::campaign::subject::{Expect, Saved, Subject};
use crate::driver::{DISCARD, ERROR, ME, OK};
use grapple::fmu::c_abi::*;
use grapple::fmu::fmi2::*;
use grapple::fmu::lifecycle::Call;
use std::ffi::{CStr, c_void};
use std::ptr::null_mut;

/// Functions whose only argument is the instance.
type Plain = unsafe extern "C" fn(fmi2Component) -> fmi2Status;

// SAFETY of this block: the handle lives as long as `self`. Every pointer comes from a slice that
// lives through the call and has at least as many elements as its count, or is one that the library
// must detect: null, misaligned, or with an impossible count.
impl Subject<'_> {
    pub fn plain(&mut self, call: Call, expect: Expect) -> fmi2Status {
        let function: Plain = match call {
            Call::EnterInitializationMode => fmi2EnterInitializationMode,
            Call::ExitInitializationMode => fmi2ExitInitializationMode,
            Call::Terminate => fmi2Terminate,
            Call::Reset => fmi2Reset,
            Call::EnterEventMode => fmi2EnterEventMode,
            Call::EnterContinuousTimeMode => fmi2EnterContinuousTimeMode,
            _ => fmi2CancelStep,
        };
        let status = self.call(call, expect, String::new(), |c| unsafe { function(c) });
        if status == OK && call == Call::Reset {
            self.t = 0.0;
        }
        status
    }

    pub fn setup(&mut self, [tolerance, start, stop]: [Option<f64>; 3], fuzz: &mut Fuzz) -> fmi2Status {
        fuzz.wrong = false;
        let [tolerance, start, stop] = [tolerance, start, stop].map(|x| x.map(|x| fuzz.number(x)));
        let from = start.unwrap_or(0.0);
        let wrong = !from.is_finite()
            || tolerance.is_some_and(|x| !(x.is_finite() && x > 0.0))
            || stop.is_some_and(|x| x.is_nan() || x < from);
        let on = |x: Option<f64>| fmi2Boolean::from(x.is_some());
        let undefined = f64::NAN;
        let text = format!("({tolerance:?}, {from:e}, {stop:?})");
        let status = self.call(Call::SetupExperiment, Expect::good_unless(wrong), text, |c| unsafe {
            let [t, s] = [tolerance, stop].map(|x| x.unwrap_or(undefined));
            fmi2SetupExperiment(c, on(tolerance), t, from, on(stop), s)
        });
        if status == OK {
            self.t = from;
        }
        status
    }

    /// `fmi2SetDebugLogging`.
    pub fn logging(&mut self, fuzz: &mut Fuzz) {
        fuzz.wrong = false;
        const NAMES: [&CStr; 8] = [
            c"logStatusError",
            c"logStatusDiscard",
            c"logAll",
            c"logEvents",
            c"logSolver",
            c"",
            c"100% n\xf6ise",
            c"logStatusWarnings",
        ];
        let known = if fuzz.chance(fuzz.level) { NAMES.len() } else { 5 };
        let names: Vec<&CStr> = (0..fuzz.integer(0..3).clamp(0, 5))
            .filter_map(|_| fuzz.any(&NAMES[..known]))
            .collect();
        let mut pointers: Vec<fmi2String> = names.iter().map(|name| name.as_ptr()).collect();
        if fuzz.chance(0.1 * fuzz.level) {
            pointers.push(std::ptr::null());
        }
        // Mostly on, so that most refusals are logged.
        let on = fuzz.chance(0.8);
        let given = pointers.len();
        let count = fuzz.count(given);
        let pointer = fuzz.pointer(&mut pointers, count);
        let wrong = fuzz.wrong || names.iter().any(|name| NAMES[5..].contains(name));
        let taken = !fuzz.wrong && allows(Call::SetDebugLogging, self.kind, self.mode);
        // A call that is refused for an unknown name has already applied the new setting to its own
        // message.
        if taken && given == 0 {
            self.logs_failures = [on; 2];
        }
        for name in names.iter().filter(|_| taken) {
            match NAMES.iter().position(|known| known == name) {
                Some(2) => self.logs_failures = [on; 2],
                Some(k @ 0..2) => self.logs_failures[k] = on,
                _ => {}
            }
        }
        let text = format!("({on}, {names:?})");
        self.call(Call::SetDebugLogging, Expect::good_unless(wrong), text, |c| unsafe {
            fmi2SetDebugLogging(c, fmi2Boolean::from(on), count, pointer)
        });
    }

    /// Calls `fmi2GetReal`; returns the status and the values, none unless it succeeded.
    pub fn get_real(&mut self, references: &[u32], fuzz: &mut Fuzz) -> (fmi2Status, Vec<f64>) {
        fuzz.wrong = false;
        let n = references.len();
        let (mut vr, mut values) = (references.to_vec(), buffer(n));
        let count = fuzz.count(n);
        let (vr, value) = (fuzz.pointer(&mut vr, count), fuzz.pointer(&mut values, count));
        let wrong = fuzz.wrong || references.iter().any(|vr| self.target.reals.binary_search(vr).is_err());
        let text = format!(" {}", shown(references));
        let status = self.call(Call::GetReal, Expect::unless(wrong), text, |c| unsafe {
            fmi2GetReal(c, vr, count, value)
        });
        self.written(Call::GetReal, status, &values);
        values.truncate(n);
        (status, values)
    }

    pub fn set_real(&mut self, references: &[u32], values: &[f64], fuzz: &mut Fuzz) -> fmi2Status {
        fuzz.wrong = false;
        let n = references.len();
        let (mut vr, mut given) = (references.to_vec(), values.to_vec());
        let count = fuzz.count(n);
        let (vr, value) = (fuzz.pointer(&mut vr, count), fuzz.pointer(&mut given, count));
        let target = self.target;
        let settable = |vr: &u32| {
            let is = |of: &[u32]| of.binary_search(vr).is_ok();
            is(&target.inputs) || is(&target.parameters) || (self.kind == ME && is(&target.states))
        };
        let wrong = fuzz.wrong || !references.iter().all(settable) || values.iter().any(|x| !x.is_finite());
        let text = format!(" {} = {}", shown(references), shown(values));
        self.call(Call::SetReal, Expect::unless(wrong), text, |c| unsafe {
            fmi2SetReal(c, vr, count, value)
        })
    }

    /// Calls `fmi2GetBoolean`; returns the status and the values, none unless it succeeded.
    pub fn get_boolean(&mut self, references: &[u32], fuzz: &mut Fuzz) -> (fmi2Status, Vec<fmi2Boolean>) {
        fuzz.wrong = false;
        let n = references.len();
        let (mut vr, mut values) = (references.to_vec(), vec![77; n + 1]);
        let count = fuzz.count(n);
        let (vr, value) = (fuzz.pointer(&mut vr, count), fuzz.pointer(&mut values, count));
        let wrong = fuzz.wrong || references.iter().any(|vr| self.target.flags.binary_search(vr).is_err());
        let text = format!(" {}", shown(references));
        let status = self.call(Call::GetBoolean, Expect::unless(wrong), text, |c| unsafe {
            fmi2GetBoolean(c, vr, count, value)
        });
        assert_eq!(values.pop(), Some(77), "fmi2GetBoolean wrote behind its values");
        assert!(
            status != OK || values.iter().all(|b| [fmi2False, fmi2True].contains(b)),
            "{values:?}"
        );
        (status, values)
    }

    /// Calls getters and setters of types that have no variables, or no settable ones: refused
    /// unless the list is empty.
    pub fn no_such(&mut self, call: Call, references: &[u32], fuzz: &mut Fuzz) {
        fuzz.wrong = false;
        let n = references.len();
        let (mut vr, mut integers, mut texts) = (references.to_vec(), vec![3; n + 1], vec![c"x".as_ptr(); n + 1]);
        let vr = fuzz.pointer(&mut vr, n);
        let integer = fuzz.pointer(&mut integers, 0);
        let string = fuzz.pointer(&mut texts, 0);
        let text = format!(" {}", shown(references));
        self.call(call, Expect::good_unless(n > 0), text, |c| unsafe {
            match call {
                Call::GetInteger => fmi2GetInteger(c, vr, n, integer),
                Call::SetInteger => fmi2SetInteger(c, vr, n, integer),
                Call::SetBoolean => fmi2SetBoolean(c, vr, n, integer),
                Call::GetString => fmi2GetString(c, vr, n, string),
                _ => fmi2SetString(c, vr, n, string),
            }
        });
    }

    /// Calls `fmi2GetFMUstate` into a new saved state, or into the existing one with index `into`.
    pub fn save(&mut self, into: Option<usize>, fuzz: &mut Fuzz) -> fmi2Status {
        fuzz.wrong = false;
        let mut state = into.map_or(null_mut(), |i| self.saved[i].state);
        let before = state;
        let mut places = [state];
        let place = fuzz.pointer(&mut places, 1);
        let text = format!(" into {into:?}");
        let status = self.call(Call::GetFMUstate, Expect::good_unless(fuzz.wrong), text, |c| unsafe {
            fmi2GetFMUstate(c, place)
        });
        state = places[0];
        if status != OK {
            assert_eq!(state, before, "a refused fmi2GetFMUstate has changed its place");
            return status;
        }
        assert!(!state.is_null() && (before.is_null() || before == state));
        let (mode, t) = (self.mode, self.t);
        let saved = Saved { state, mode, t };
        match into {
            Some(i) => self.saved[i] = saved,
            None => self.saved.push(saved),
        }
        status
    }

    /// Calls `fmi2SetFMUstate` with one of this instance's saved states, or with null.
    pub fn restore(&mut self, which: Option<usize>) -> fmi2Status {
        let (state, expect) = match which {
            Some(i) => (self.saved[i].state, Expect::Good),
            None => (null_mut(), Expect::Wrong),
        };
        let text = format!(" {which:?}");
        let status = self.call(Call::SetFMUstate, expect, text, |c| unsafe {
            fmi2SetFMUstate(c, state)
        });
        if let (OK, Some(i)) = (status, which) {
            (self.mode, self.t) = (self.saved[i].mode, self.saved[i].t);
        }
        status
    }

    /// Passes a foreign object as a state: the state of another FMU, or an instance.
    pub fn mistake(&mut self, stranger: *mut c_void, is_state: bool) {
        let text = || " of a stranger".to_owned();
        self.call(Call::SetFMUstate, Expect::Wrong, text(), |c| unsafe {
            fmi2SetFMUstate(c, stranger)
        });
        if is_state {
            return;
        }
        let (mut size, mut place) = (0, stranger);
        self.call(Call::SerializedFMUstateSize, Expect::Wrong, text(), |c| unsafe {
            fmi2SerializedFMUstateSize(c, stranger, &mut size)
        });
        self.call(Call::GetFMUstate, Expect::Wrong, text(), |c| unsafe {
            fmi2GetFMUstate(c, &mut place)
        });
        self.call(Call::FreeFMUstate, Expect::Wrong, text(), |c| unsafe {
            fmi2FreeFMUstate(c, &mut place)
        });
        assert_eq!(place, stranger);
    }

    /// Calls a function on a pointer that is not an instance: null, or a saved state.
    pub fn elsewhere(&mut self, call: Call, c: fmi2Component) {
        use Call::*;
        let mut reals = buffer(1);
        let (real, mut integer, mut text) = (reals.as_mut_ptr(), 77, std::ptr::null());
        let (mut state, mut size, mut status, mut info) = (null_mut(), 0, fmi2Status(77), fmi2EventInfo::default());
        let (vr, order, kind, mut end) = (0, 1, fmi2StatusKind::LAST_SUCCESSFUL_TIME, 77);
        let mut byte = 0;
        let answer = self.journal.call(
            Function::On(call),
            " on a pointer that is no instance".to_owned(),
            || unsafe {
                match call {
                    SetDebugLogging => fmi2SetDebugLogging(c, fmi2True, 0, std::ptr::null()),
                    FreeInstance => {
                        fmi2FreeInstance(c);
                        ERROR
                    }
                    SetupExperiment => fmi2SetupExperiment(c, fmi2False, 0.0, 0.0, fmi2False, 0.0),
                    EnterInitializationMode => fmi2EnterInitializationMode(c),
                    ExitInitializationMode => fmi2ExitInitializationMode(c),
                    Terminate => fmi2Terminate(c),
                    Reset => fmi2Reset(c),
                    GetReal => fmi2GetReal(c, &vr, 1, real),
                    GetInteger => fmi2GetInteger(c, &vr, 0, &mut integer),
                    GetBoolean => fmi2GetBoolean(c, &vr, 0, &mut integer),
                    GetString => fmi2GetString(c, &vr, 0, &mut text),
                    SetReal => fmi2SetReal(c, &vr, 1, real),
                    SetInteger => fmi2SetInteger(c, &vr, 0, &integer),
                    SetBoolean => fmi2SetBoolean(c, &vr, 0, &integer),
                    SetString => fmi2SetString(c, &vr, 0, &text),
                    GetFMUstate => fmi2GetFMUstate(c, &mut state),
                    SetFMUstate => fmi2SetFMUstate(c, state),
                    FreeFMUstate => fmi2FreeFMUstate(c, &mut state),
                    SerializedFMUstateSize => fmi2SerializedFMUstateSize(c, state, &mut size),
                    SerializeFMUstate => fmi2SerializeFMUstate(c, state, &mut byte, 1),
                    DeSerializeFMUstate => fmi2DeSerializeFMUstate(c, &byte, 1, &mut state),
                    GetDirectionalDerivative => fmi2GetDirectionalDerivative(c, &vr, 1, &vr, 1, real, real),
                    EnterEventMode => fmi2EnterEventMode(c),
                    NewDiscreteStates => fmi2NewDiscreteStates(c, &mut info),
                    EnterContinuousTimeMode => fmi2EnterContinuousTimeMode(c),
                    CompletedIntegratorStep => fmi2CompletedIntegratorStep(c, fmi2True, &mut integer, &mut end),
                    SetTime => fmi2SetTime(c, 0.0),
                    SetContinuousStates => fmi2SetContinuousStates(c, real, 1),
                    GetEventIndicators => fmi2GetEventIndicators(c, real, 1),
                    GetContinuousStates => fmi2GetContinuousStates(c, real, 1),
                    GetDerivatives => fmi2GetDerivatives(c, real, 1),
                    GetNominalsOfContinuousStates => fmi2GetNominalsOfContinuousStates(c, real, 1),
                    SetRealInputDerivatives => fmi2SetRealInputDerivatives(c, &vr, 1, &order, real),
                    GetRealOutputDerivatives => fmi2GetRealOutputDerivatives(c, &vr, 1, &order, real),
                    DoStep => fmi2DoStep(c, 0.0, 0.01, fmi2True),
                    CancelStep => fmi2CancelStep(c),
                    GetStatus => fmi2GetStatus(c, kind, &mut status),
                    GetRealStatus => fmi2GetRealStatus(c, kind, real),
                    GetIntegerStatus => fmi2GetIntegerStatus(c, kind, &mut integer),
                    GetBooleanStatus => fmi2GetBooleanStatus(c, kind, &mut integer),
                    GetStringStatus => fmi2GetStringStatus(c, kind, &mut text),
                }
            },
        );
        assert_eq!(answer, ERROR, "{} on a pointer that is no instance", call.name());
        assert!(state.is_null() && reals.iter().all(|x| x.to_bits() == SENTINEL));
    }

    /// Calls `fmi2FreeFMUstate` on a saved state, or on null.
    pub fn free_state(&mut self, which: Option<usize>) {
        let mut state = which.map_or(null_mut(), |i| self.saved.swap_remove(i).state);
        let text = format!(" {which:?}");
        self.call(Call::FreeFMUstate, Expect::Good, text, |c| unsafe {
            fmi2FreeFMUstate(c, &mut state)
        });
        assert!(state.is_null());
    }

    /// Serialises a saved state; returns the bytes if the call succeeded.
    pub fn serialize(&mut self, which: usize, fuzz: &mut Fuzz) -> Option<Vec<u8>> {
        fuzz.wrong = false;
        let state = self.saved[which].state;
        let mut sizes = [usize::MAX];
        let place = fuzz.pointer(&mut sizes, 1);
        let expect = Expect::good_unless(fuzz.wrong);
        let status = self.call(Call::SerializedFMUstateSize, expect, format!(" {which}"), |c| unsafe {
            fmi2SerializedFMUstateSize(c, state, place)
        });
        if status != OK {
            return None;
        }
        let right = sizes[0];
        let size = match fuzz.chance(fuzz.level) {
            true => fuzz.any(&[0, 1, right - 1]).unwrap_or(0),
            false => right,
        };
        let mut bytes = vec![0xa5_u8; right + 1];
        let pointer = fuzz.pointer(&mut bytes, size);
        let expect = Expect::good_unless(fuzz.wrong || size != right);
        let status = self.call(
            Call::SerializeFMUstate,
            expect,
            format!(" {which}, {size}"),
            |c| unsafe { fmi2SerializeFMUstate(c, state, pointer.cast(), size) },
        );
        assert_eq!(bytes.pop(), Some(0xa5), "fmi2SerializeFMUstate wrote behind its bytes");
        (status == OK).then_some(bytes)
    }

    /// Deserialises a state that was saved in `mode` at `t`; some of the bytes may be damaged.
    pub fn deserialize(&mut self, bytes: &[u8], (mode, t): (Mode, f64), fuzz: &mut Fuzz) -> fmi2Status {
        fuzz.wrong = false;
        let mut bytes = bytes.to_vec();
        let mut damaged = false;
        if fuzz.chance(fuzz.level) {
            damaged = true;
            let at = fuzz.integer(0..bytes.len() as i32).clamp(0, bytes.len() as i32 - 1) as usize;
            match fuzz.chance(0.5) {
                true => bytes.truncate(at),
                false => bytes[at] ^= 0x10,
            }
        }
        let (n, mut places) = (bytes.len(), [null_mut()]);
        let pointer = fuzz.pointer(&mut bytes, n);
        let place = fuzz.pointer(&mut places, 1);
        let expect = Expect::good_unless(fuzz.wrong || damaged);
        let status = self.call(Call::DeSerializeFMUstate, expect, format!(" {n} bytes"), |c| unsafe {
            fmi2DeSerializeFMUstate(c, pointer.cast(), n, place)
        });
        let state = places[0];
        assert_eq!(state.is_null(), status != OK);
        if status == OK {
            self.saved.push(Saved { state, mode, t });
        }
        status
    }

    pub fn directional(
        &mut self,
        unknowns: &[u32],
        knowns: &[u32],
        seeds: &[f64],
        fuzz: &mut Fuzz,
    ) -> (fmi2Status, Vec<f64>) {
        fuzz.wrong = false;
        let (n, m) = (unknowns.len(), knowns.len());
        let (mut us, mut ks, mut dv, mut values) = (unknowns.to_vec(), knowns.to_vec(), seeds.to_vec(), buffer(n));
        let (nu, nk) = (fuzz.count(n), fuzz.count(m));
        let (u, k) = (fuzz.pointer(&mut us, nu), fuzz.pointer(&mut ks, nk));
        let (seed, value) = (fuzz.pointer(&mut dv, nk), fuzz.pointer(&mut values, nu));
        let target = self.target;
        let is_unknown = |vr: &u32| target.unknowns.binary_search(vr).is_ok();
        let wrong = fuzz.wrong || !unknowns.iter().all(is_unknown) || seeds.iter().any(|x| !x.is_finite());
        let text = format!(" {} by {} along {}", shown(unknowns), shown(knowns), shown(seeds));
        let status = self.call(
            Call::GetDirectionalDerivative,
            Expect::unless(wrong),
            text,
            |c| unsafe { fmi2GetDirectionalDerivative(c, u, nu, k, nk, seed, value) },
        );
        self.written(Call::GetDirectionalDerivative, status, &values);
        values.truncate(n);
        (status, values)
    }

    /// Calls `fmi2NewDiscreteStates`; returns the event info if it succeeded.
    pub fn new_discrete_states(&mut self, fuzz: &mut Fuzz) -> Option<fmi2EventInfo> {
        fuzz.wrong = false;
        let mut infos = [fmi2EventInfo {
            newDiscreteStatesNeeded: 77,
            terminateSimulation: 77,
            nominalsOfContinuousStatesChanged: 77,
            valuesOfContinuousStatesChanged: 77,
            nextEventTimeDefined: 77,
            nextEventTime: f64::NAN,
        }];
        let place = fuzz.pointer(&mut infos, 1);
        let before = (self.mode == Mode::Event).then(|| self.states()).flatten();
        let status = self.call(
            Call::NewDiscreteStates,
            Expect::unless(fuzz.wrong),
            String::new(),
            |c| unsafe { fmi2NewDiscreteStates(c, place) },
        );
        let [info] = infos;
        if status != OK {
            return None;
        }
        let flags = [
            info.newDiscreteStatesNeeded,
            info.terminateSimulation,
            info.nominalsOfContinuousStatesChanged,
            info.valuesOfContinuousStatesChanged,
            info.nextEventTimeDefined,
        ];
        assert!(
            flags.iter().all(|b| [fmi2False, fmi2True].contains(b)) && info.nextEventTime.is_finite(),
            "{info:?}"
        );
        for (i, (before, after)) in before.into_iter().flatten().zip(self.states()?).enumerate() {
            let is_declared = info.valuesOfContinuousStatesChanged == fmi2True && self.target.jumps[i];
            assert!(
                is_declared || before.to_bits() == after.to_bits(),
                "state {i} jumps: {before} {after}"
            );
        }
        Some(info)
    }

    pub fn completed_step(&mut self, fuzz: &mut Fuzz) -> fmi2Status {
        fuzz.wrong = false;
        let (mut enters, mut ends) = ([77], [77]);
        let (enter, end) = (fuzz.pointer(&mut enters, 1), fuzz.pointer(&mut ends, 1));
        let no_set = fuzz.integer(0..2);
        let expect = Expect::unless(fuzz.wrong);
        let status = self.call(Call::CompletedIntegratorStep, expect, String::new(), |c| unsafe {
            fmi2CompletedIntegratorStep(c, no_set, enter, end)
        });
        assert!(status != OK || [enters, ends].iter().all(|[b]| [fmi2False, fmi2True].contains(b)));
        status
    }

    pub fn set_time(&mut self, t: f64) -> fmi2Status {
        let expect = Expect::unless(!t.is_finite());
        let status = self.call(Call::SetTime, expect, format!(" {t:e}"), |c| unsafe {
            fmi2SetTime(c, t)
        });
        if status == OK {
            self.t = t;
        }
        status
    }

    pub fn set_states(&mut self, x: &[f64], fuzz: &mut Fuzz) -> fmi2Status {
        fuzz.wrong = false;
        let mut given = x.to_vec();
        let count = fuzz.count(x.len());
        let pointer = fuzz.pointer(&mut given, count);
        let wrong = fuzz.wrong || x.len() != self.target.states.len() || x.iter().any(|x| !x.is_finite());
        self.call(
            Call::SetContinuousStates,
            Expect::unless(wrong),
            format!(" {}", shown(x)),
            |c| unsafe { fmi2SetContinuousStates(c, pointer, count) },
        )
    }

    /// Calls `fmi2GetDerivatives` or a similar function with `n` elements; returns the status and
    /// the values.
    pub fn vector(&mut self, call: Call, n: usize, fuzz: &mut Fuzz) -> (fmi2Status, Vec<f64>) {
        fuzz.wrong = false;
        let right = match call {
            Call::GetEventIndicators => self.target.fmu.indicator_count(),
            _ => self.target.states.len(),
        };
        let mut values = buffer(n);
        let count = fuzz.count(n);
        let pointer = fuzz.pointer(&mut values, count);
        let expect = Expect::unless(fuzz.wrong || n != right);
        let status = self.call(call, expect, format!(" of {n}"), |c| unsafe {
            match call {
                Call::GetEventIndicators => fmi2GetEventIndicators(c, pointer, count),
                Call::GetContinuousStates => fmi2GetContinuousStates(c, pointer, count),
                Call::GetDerivatives => fmi2GetDerivatives(c, pointer, count),
                _ => fmi2GetNominalsOfContinuousStates(c, pointer, count),
            }
        });
        self.written(call, status, &values);
        values.truncate(n);
        (status, values)
    }

    pub fn set_input_derivatives(&mut self, references: &[u32], values: &[f64], fuzz: &mut Fuzz) -> fmi2Status {
        fuzz.wrong = false;
        let n = references.len();
        let (mut vr, mut given) = (references.to_vec(), values.to_vec());
        let mut orders: Vec<i32> = (0..n).map(|_| fuzz.integer(1..4)).collect();
        let text = format!(" {} order {} = {}", shown(references), shown(&orders), shown(values));
        let unknown = |vr: &u32| self.target.inputs.binary_search(vr).is_err();
        let wrong = values.iter().any(|x| !x.is_finite())
            || orders.iter().any(|order| !(1..4).contains(order))
            || references.iter().any(unknown);
        let count = fuzz.count(n);
        let (vr, order) = (fuzz.pointer(&mut vr, count), fuzz.pointer(&mut orders, count));
        let value = fuzz.pointer(&mut given, count);
        let expect = Expect::unless(wrong || fuzz.wrong);
        self.call(Call::SetRealInputDerivatives, expect, text, |c| unsafe {
            fmi2SetRealInputDerivatives(c, vr, count, order, value)
        })
    }

    pub fn output_derivatives(&mut self, references: &[u32], fuzz: &mut Fuzz) -> (fmi2Status, Vec<f64>) {
        fuzz.wrong = false;
        let n = references.len();
        let (mut vr, mut values) = (references.to_vec(), buffer(n));
        let mut orders: Vec<i32> = (0..n).map(|_| fuzz.integer(1..3)).collect();
        let text = format!(" {} order {}", shown(references), shown(&orders));
        let wrong = orders.iter().any(|order| *order < 1);
        let count = fuzz.count(n);
        let (vr, order) = (fuzz.pointer(&mut vr, count), fuzz.pointer(&mut orders, count));
        let value = fuzz.pointer(&mut values, count);
        let expect = Expect::unless(wrong || fuzz.wrong);
        let status = self.call(Call::GetRealOutputDerivatives, expect, text, |c| unsafe {
            fmi2GetRealOutputDerivatives(c, vr, count, order, value)
        });
        self.written(Call::GetRealOutputDerivatives, status, &values);
        values.truncate(n);
        (status, values)
    }

    pub fn do_step(&mut self, t: f64, h: f64) -> fmi2Status {
        let expect = Expect::unless(!(t.is_finite() && h.is_finite() && h >= 0.0));
        let status = self.call(Call::DoStep, expect, format!(" from {t:e} by {h:e}"), |c| unsafe {
            fmi2DoStep(c, t, h, fmi2True)
        });
        if status == OK || status == DISCARD {
            self.t = self.last_time();
            let there = status == DISCARD || (self.t - (t + h)).abs() <= 1e-9 * (t.abs() + h).max(1.0);
            assert!(there, "a step from {t} s by {h} s went to {} s", self.t);
        }
        status
    }

    /// Returns `fmi2LastSuccessfulTime`.
    pub fn last_time(&mut self) -> f64 {
        let mut t = f64::NAN;
        let kind = fmi2StatusKind::LAST_SUCCESSFUL_TIME;
        self.call(Call::GetRealStatus, Expect::Good, String::new(), |c| unsafe {
            fmi2GetRealStatus(c, kind, &mut t)
        });
        assert!(t.is_finite(), "the time reached is {t}");
        t
    }

    /// Calls `fmi2GetStatus` or a similar function; each has one valid kind, except those of
    /// strings and integers, which have none.
    pub fn status(&mut self, call: Call, fuzz: &mut Fuzz) {
        fuzz.wrong = false;
        let kind = fmi2StatusKind(fuzz.integer(0..4));
        let exists = match call {
            Call::GetStatus => kind == fmi2StatusKind::DO_STEP_STATUS,
            Call::GetRealStatus => kind == fmi2StatusKind::LAST_SUCCESSFUL_TIME,
            Call::GetBooleanStatus => kind == fmi2StatusKind::TERMINATED,
            _ => false,
        };
        let (mut statuses, mut reals, mut booleans) = ([fmi2Status(77)], buffer(1), [77]);
        let status = fuzz.pointer(&mut statuses, 1);
        let expect = Expect::good_unless(!exists || fuzz.wrong);
        let null = status.is_null();
        let (real, boolean) = match null {
            true => (null_mut(), null_mut()),
            false => (reals.as_mut_ptr(), booleans.as_mut_ptr()),
        };
        // Only `status` may be misaligned; the pointers of the other functions are valid or null.
        let expect = match call {
            Call::GetStatus => expect,
            _ if fuzz.wrong && !null => Expect::good_unless(!exists),
            _ => expect,
        };
        let answer = self.call(call, expect, format!(" {}", kind.0), |c| unsafe {
            match call {
                Call::GetStatus => fmi2GetStatus(c, kind, status),
                Call::GetRealStatus => fmi2GetRealStatus(c, kind, real),
                Call::GetIntegerStatus => fmi2GetIntegerStatus(c, kind, boolean),
                Call::GetBooleanStatus => fmi2GetBooleanStatus(c, kind, boolean),
                _ => fmi2GetStringStatus(c, kind, null_mut()),
            }
        });
        if answer == OK {
            match call {
                Call::GetStatus => {
                    let failed = self.mode == Mode::StepFailed;
                    assert_eq!(statuses[0], if failed { DISCARD } else { OK });
                }
                Call::GetRealStatus => self.written(call, answer, &reals),
                _ => assert_eq!(booleans[0], fmi2False),
            }
        }
    }
}
