//! Calls of FMI 3.0 with arguments that a [`Fuzz`] may make invalid.

use super::subject::{Saved, Subject};
use crate::campaign::OK;
use crate::campaign::fuzzing::{Fuzz, SENTINEL, buffer, shown};
use crate::campaign::subject::Expect;
use crate::fmi3::modes::{Of, make_on};
use grapple::fmu::c_abi::*;
use grapple::fmu::fmi2::fmi2Status;
use grapple::fmu::fmi3::*;
use grapple::fmu::lifecycle::fmi3::Call;
use rand::RngExt;
use std::ffi::CStr;
use std::ptr::null_mut;

/// Result of a step.
#[derive(Clone, Copy, Debug)]
pub struct StepEnd {
    pub event: bool,
    pub early: bool,
    pub t: f64,
}

type Getter<T> = unsafe extern "C" fn(fmi3Instance, *const u32, usize, *mut T, usize) -> fmi3Status;
type Setter<T> = unsafe extern "C" fn(fmi3Instance, *const u32, usize, *const T, usize) -> fmi3Status;

impl StepEnd {
    pub fn bits(self) -> Vec<u64> {
        vec![u64::from(self.event), u64::from(self.early), self.t.to_bits()]
    }
}

/// Checks the numbers in a [`buffer`].
fn written(call: Call, status: fmi2Status, values: &[f64]) {
    let Some((behind, values)) = values.split_last() else {
        return;
    };
    assert_eq!(behind.to_bits(), SENTINEL, "{} wrote behind its values", call.name());
    let right = status != OK || values.iter().all(|value| value.is_finite());
    assert!(right, "{} succeeded with {values:?}", call.name());
}

// SAFETY of this block: the handle lives as long as `self`. Every pointer comes from a slice that
// lives through the call and has at least as many elements as its count, or is one that the library
// must detect: null, misaligned, or with an impossible count.
impl Subject<'_> {
    /// Calls a function whose only argument is the instance.
    pub fn plain(&mut self, call: Call) -> fmi2Status {
        let expect = match call {
            Call::ExitInitializationMode | Call::EnterContinuousTimeMode => Expect::Open,
            _ => Expect::Good,
        };
        let status = self.call(call, expect, String::new(), |c| unsafe {
            match call {
                Call::ExitInitializationMode => fmi3ExitInitializationMode(c),
                Call::Terminate => fmi3Terminate(c),
                Call::Reset => fmi3Reset(c),
                Call::EnterEventMode => fmi3EnterEventMode(c),
                Call::EnterContinuousTimeMode => fmi3EnterContinuousTimeMode(c),
                _ => fmi3EnterStepMode(c),
            }
        });
        if status == OK && call == Call::Reset {
            self.t = 0.0;
        }
        status
    }

    pub fn initialise(&mut self, [tolerance, start, stop]: [Option<f64>; 3], fuzz: &mut Fuzz) -> fmi2Status {
        let [tolerance, start, stop] = [tolerance, start, stop].map(|x| x.map(|x| fuzz.number(x)));
        let from = start.unwrap_or(0.0);
        let wrong = !from.is_finite()
            || tolerance.is_some_and(|x| !(x.is_finite() && x > 0.0))
            || stop.is_some_and(|x| x.is_nan() || x < from);
        let [has_tolerance, has_stop] = [tolerance, stop].map(|x| fmi3Boolean::from(x.is_some()));
        let [with, to] = [tolerance, stop].map(|x| x.unwrap_or(f64::NAN));
        let text = format!("({tolerance:?}, {from:e}, {stop:?})");
        let expect = Expect::good_unless(wrong);
        let status = self.call(Call::EnterInitializationMode, expect, text, |c| unsafe {
            fmi3EnterInitializationMode(c, has_tolerance, with, from, has_stop, to)
        });
        if status == OK {
            self.t = from;
        }
        status
    }

    /// `fmi3SetDebugLogging`: switches all categories, or one that has no failures.
    pub fn logging(&mut self, fuzz: &mut Fuzz) {
        let on = fuzz.chance(0.8);
        let names: &[&CStr] = match fuzz.random.random_range(0..3) {
            0 => &[],
            1 => &[c"logEvents"],
            _ => &[c"n\xf6ise"],
        };
        let pointers: Vec<fmi3String> = names.iter().map(|name| name.as_ptr()).collect();
        let wrong = names == [c"n\xf6ise"];
        if names.is_empty() && self.allows(Call::SetDebugLogging) {
            self.logs_failures = on;
        }
        let expect = Expect::good_unless(wrong);
        self.call(
            Call::SetDebugLogging,
            expect,
            format!("({on}, {names:?})"),
            |c| unsafe { fmi3SetDebugLogging(c, fmi3Boolean::from(on), pointers.len(), pointers.as_ptr()) },
        );
    }

    /// Returns the number of elements of the given variables; `count` if that is not their number.
    fn size(&self, references: &[u32], count: usize) -> usize {
        match count == references.len() {
            true => self.target.size(references),
            false => count,
        }
    }

    /// Returns the number of values for `n` elements, mostly the right one.
    fn values_for(n: usize, fuzz: &mut Fuzz) -> usize {
        match fuzz.chance(0.3 * fuzz.level) {
            true => {
                fuzz.wrong = true;
                fuzz.any(&[n.wrapping_add(1), n.wrapping_sub(1), usize::MAX])
                    .unwrap_or(n.wrapping_add(1))
            }
            false => n,
        }
    }

    pub fn get_floats(&mut self, references: &[u32], fuzz: &mut Fuzz) -> (fmi2Status, Vec<f64>) {
        fuzz.wrong = false;
        let (mut vr, mut values) = (references.to_vec(), buffer(self.target.size(references)));
        let count = fuzz.count(references.len());
        let size = self.size(references, count);
        let n_values = Self::values_for(size, fuzz);
        let (vr, value) = (fuzz.pointer(&mut vr, count), fuzz.pointer(&mut values, size));
        let readable = &self.target.three.floats;
        let wrong = fuzz.wrong || references.iter().any(|vr| readable.binary_search(vr).is_err());
        let text = format!(" {}", shown(references));
        let status = self.call(Call::GetFloat64, Expect::unless(wrong), text, |c| unsafe {
            fmi3GetFloat64(c, vr, count, value, n_values)
        });
        written(Call::GetFloat64, status, &values);
        values.pop();
        (status, values)
    }

    pub fn set_floats(&mut self, references: &[u32], values: &[f64], fuzz: &mut Fuzz) -> fmi2Status {
        fuzz.wrong = false;
        let (mut vr, mut given) = (references.to_vec(), values.to_vec());
        let count = fuzz.count(references.len());
        let size = self.size(references, count);
        let n_values = Self::values_for(size, fuzz);
        let (vr, value) = (fuzz.pointer(&mut vr, count), fuzz.pointer(&mut given, size));
        let (target, is_me) = (self.target, self.kind.of == Of::ModelExchange);
        let is_run = !matches!(self.mode, 'i' | 'n');
        let is = |of: &[u32], vr: &u32| of.binary_search(vr).is_ok();
        let settable = |vr: &u32| {
            let parameters = if is_run { &target.tunable } else { &target.parameters };
            is(&target.three.float_inputs, vr)
                || (self.mode != 'c' && is(parameters, vr))
                || (is_me && is_run && is(&target.states, vr))
        };
        let wrong = fuzz.wrong || !references.iter().all(settable) || values.iter().any(|x| !x.is_finite());
        let text = format!(" {} = {}", shown(references), shown(values));
        self.call(Call::SetFloat64, Expect::unless(wrong), text, |c| unsafe {
            fmi3SetFloat64(c, vr, count, value, n_values)
        })
    }

    pub fn get_booleans(&mut self, references: &[u32], fuzz: &mut Fuzz) -> (fmi2Status, Vec<fmi3Boolean>) {
        let readable = &self.target.three.booleans;
        let got = self.get_discrete(Call::GetBoolean, references, readable, 77, fuzz, fmi3GetBoolean);
        assert!(got.0 != OK || got.1.iter().all(|value| *value <= 1), "{:?}", got.1);
        got
    }

    pub fn get_integers(&mut self, references: &[u32], fuzz: &mut Fuzz) -> (fmi2Status, Vec<i32>) {
        let readable = &self.target.three.integers;
        self.get_discrete(Call::GetInt32, references, readable, -77, fuzz, fmi3GetInt32)
    }

    /// Calls a getter; `readable` are the references of all variables of its type.
    fn get_discrete<T: Copy + PartialEq>(
        &mut self,
        call: Call,
        references: &[u32],
        readable: &[u32],
        blank: T,
        fuzz: &mut Fuzz,
        get: Getter<T>,
    ) -> (fmi2Status, Vec<T>) {
        fuzz.wrong = false;
        let (mut vr, mut values) = (references.to_vec(), vec![blank; self.target.size(references) + 1]);
        let count = fuzz.count(references.len());
        let size = self.size(references, count);
        let n_values = Self::values_for(size, fuzz);
        let (vr, value) = (fuzz.pointer(&mut vr, count), fuzz.pointer(&mut values, size));
        let wrong = fuzz.wrong || references.iter().any(|vr| readable.binary_search(vr).is_err());
        let text = format!(" {}", shown(references));
        let status = self.call(call, Expect::unless(wrong), text, |c| unsafe {
            get(c, vr, count, value, n_values)
        });
        assert!(values.pop() == Some(blank), "{} wrote behind its values", call.name());
        (status, values)
    }

    pub fn set_booleans(&mut self, references: &[u32], fuzz: &mut Fuzz) {
        let settable = &self.target.three.boolean_inputs;
        self.set_discrete(Call::SetBoolean, references, settable, &[0, 1, 2], fuzz, fmi3SetBoolean);
    }

    pub fn set_integers(&mut self, references: &[u32], fuzz: &mut Fuzz) {
        let settable = &self.target.three.integer_inputs;
        let values = &[0, 1, 2, 3, -1, i32::MAX, i32::MIN];
        self.set_discrete(Call::SetInt32, references, settable, values, fuzz, fmi3SetInt32);
    }

    /// Calls a setter with some of the `values`; `settable` are the references of all inputs of its
    /// type.
    fn set_discrete<T: Copy + std::fmt::Debug>(
        &mut self,
        call: Call,
        references: &[u32],
        settable: &[u32],
        values: &[T],
        fuzz: &mut Fuzz,
        set: Setter<T>,
    ) {
        fuzz.wrong = false;
        let given = (0..self.target.size(references)).map(|_| fuzz.any(values).unwrap_or(values[0]));
        let (mut vr, mut given) = (references.to_vec(), given.collect::<Vec<T>>());
        let text = format!(" {} = {given:?}", shown(references));
        let count = fuzz.count(references.len());
        let size = self.size(references, count);
        let n_values = Self::values_for(size, fuzz);
        let (vr, value) = (fuzz.pointer(&mut vr, count), fuzz.pointer(&mut given, size));
        let wrong = fuzz.wrong || references.iter().any(|vr| settable.binary_search(vr).is_err());
        self.call(call, Expect::unless(wrong), text, |c| unsafe {
            set(c, vr, count, value, n_values)
        });
    }

    /// Makes a call without variables or of a part that is absent, with valid arguments.
    pub fn empty(&mut self, call: Call) {
        let (references, mut numbers) = (self.target.state_count, vec![0.0; self.target.state_count + 1]);
        let expect = match call.rule().never.is_empty() {
            true => Expect::Good,
            false => Expect::Wrong,
        };
        self.call(call, expect, " of nothing".to_owned(), |c| unsafe {
            make_on(call, c, &mut numbers[..references])
        });
    }

    /// Makes any call on a pointer that is no instance: null, or a saved state.
    pub fn elsewhere(&mut self, call: Call, c: fmi3Instance) {
        let mut numbers = buffer(8);
        let text = " on a pointer that is no instance".to_owned();
        let answer = self
            .journal
            .call(crate::campaign::journal::Function::Of3(call), text, || {
                fmi2Status(unsafe { make_on(call, c, &mut numbers) }.0)
            });
        let is_void = matches!(call, Call::FreeInstance);
        assert!(
            is_void || answer == crate::campaign::ERROR,
            "{} on no instance",
            call.name()
        );
        assert!(numbers.iter().all(|x| x.to_bits() == SENTINEL));
    }

    /// Saves the state with valid arguments.
    pub fn save_plainly(&mut self) {
        super::trace::straight(|fuzz| self.save(None, fuzz));
    }

    /// Calls `fmi3GetFMUState` into a new saved state, or into the existing one with index `into`.
    pub fn save(&mut self, into: Option<usize>, fuzz: &mut Fuzz) -> fmi2Status {
        fuzz.wrong = false;
        let before = into.map_or(null_mut(), |i| self.saved[i].state);
        let mut places = [before];
        let place = fuzz.pointer(&mut places, 1);
        let expect = Expect::good_unless(fuzz.wrong);
        let status = self.call(Call::GetFMUState, expect, format!(" into {into:?}"), |c| unsafe {
            fmi3GetFMUState(c, place)
        });
        let [state] = places;
        if status != OK {
            assert_eq!(state, before, "a refused fmi3GetFMUState has changed its place");
            return status;
        }
        let (mode, t) = (self.mode, self.t);
        let saved = Saved { state, mode, t };
        match into {
            Some(i) => self.saved[i] = saved,
            None => self.saved.push(saved),
        }
        status
    }

    /// Calls `fmi3SetFMUState` with one of this instance's saved states, or with null.
    pub fn restore(&mut self, which: Option<usize>) -> fmi2Status {
        let state = which.map_or(null_mut(), |i| self.saved[i].state);
        let expect = Expect::good_unless(which.is_none());
        let status = self.call(Call::SetFMUState, expect, format!(" {which:?}"), |c| unsafe {
            fmi3SetFMUState(c, state)
        });
        if let (OK, Some(i)) = (status, which) {
            (self.mode, self.t) = (self.saved[i].mode, self.saved[i].t);
        }
        status
    }

    /// Passes a foreign object as a state: the state of another FMU, or an instance.
    pub fn mistake(&mut self, stranger: fmi3FMUState, is_state: bool) {
        let text = || " of a stranger".to_owned();
        self.call(Call::SetFMUState, Expect::Wrong, text(), |c| unsafe {
            fmi3SetFMUState(c, stranger)
        });
        if is_state {
            return;
        }
        let (mut size, mut place) = (0, stranger);
        self.call(Call::SerializedFMUStateSize, Expect::Wrong, text(), |c| unsafe {
            fmi3SerializedFMUStateSize(c, stranger, &mut size)
        });
        self.call(Call::GetFMUState, Expect::Wrong, text(), |c| unsafe {
            fmi3GetFMUState(c, &mut place)
        });
        self.call(Call::FreeFMUState, Expect::Wrong, text(), |c| unsafe {
            fmi3FreeFMUState(c, &mut place)
        });
        assert_eq!(place, stranger);
    }

    pub fn free_state(&mut self, which: Option<usize>) {
        let mut state = which.map_or(null_mut(), |i| self.saved.swap_remove(i).state);
        self.call(Call::FreeFMUState, Expect::Good, format!(" {which:?}"), |c| unsafe {
            fmi3FreeFMUState(c, &mut state)
        });
        assert!(state.is_null());
    }

    /// Serialises a saved state; returns the bytes if the call succeeded.
    pub fn serialize(&mut self, which: usize, fuzz: &mut Fuzz) -> Option<Vec<u8>> {
        fuzz.wrong = false;
        let (state, mut sizes) = (self.saved[which].state, [usize::MAX]);
        let place = fuzz.pointer(&mut sizes, 1);
        let expect = Expect::good_unless(fuzz.wrong);
        let status = self.call(Call::SerializedFMUStateSize, expect, format!(" {which}"), |c| unsafe {
            fmi3SerializedFMUStateSize(c, state, place)
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
            Call::SerializeFMUState,
            expect,
            format!(" {which}, {size}"),
            |c| unsafe { fmi3SerializeFMUState(c, state, pointer, size) },
        );
        assert_eq!(bytes.pop(), Some(0xa5), "fmi3SerializeFMUState wrote behind its bytes");
        (status == OK).then_some(bytes)
    }

    /// Deserialises a state that was saved in `mode` at `t`; some of the bytes may be cut, flipped, or
    /// of another layout.
    pub fn deserialize(&mut self, bytes: &[u8], (mode, t): (char, f64), fuzz: &mut Fuzz) -> fmi2Status {
        fuzz.wrong = false;
        let mut bytes = bytes.to_vec();
        let is_damaged = fuzz.chance(fuzz.level);
        if is_damaged {
            let at = fuzz.random.random_range(0..bytes.len());
            match fuzz.random.random_range(0..4) {
                0 => bytes.truncate(at),
                1 => bytes[at] ^= 1 << fuzz.random.random_range(0..8),
                // The layout of another version of this library.
                2 => bytes[8] = bytes[8].wrapping_add(1),
                _ => bytes.extend([0; 8]),
            }
        }
        let (n, mut places) = (bytes.len(), [null_mut()]);
        let (pointer, place) = (fuzz.pointer(&mut bytes, n), fuzz.pointer(&mut places, 1));
        let expect = Expect::good_unless(fuzz.wrong || is_damaged);
        let status = self.call(Call::DeserializeFMUState, expect, format!(" {n} bytes"), |c| unsafe {
            fmi3DeserializeFMUState(c, pointer, n, place)
        });
        let [state] = places;
        assert_eq!(state.is_null(), status != OK);
        if status == OK {
            self.saved.push(Saved { state, mode, t });
        }
        status
    }

    /// Calls `fmi3GetDirectionalDerivative` or `fmi3GetAdjointDerivative`, with one seed for each
    /// known or for each unknown.
    pub fn derivative(&mut self, call: Call, unknowns: &[u32], knowns: &[u32], seeds: &[f64], fuzz: &mut Fuzz) {
        fuzz.wrong = false;
        let (mut us, mut ks, mut dv) = (unknowns.to_vec(), knowns.to_vec(), seeds.to_vec());
        let (nu, nk) = (fuzz.count(unknowns.len()), fuzz.count(knowns.len()));
        let is_adjoint = call == Call::GetAdjointDerivative;
        let sizes = [self.size(unknowns, nu), self.size(knowns, nk)];
        let [seeded, computed] = if is_adjoint { sizes } else { [sizes[1], sizes[0]] };
        let (n_sensitivity, n_seed) = (Self::values_for(computed, fuzz), Self::values_for(seeded, fuzz));
        let mut values = buffer(self.target.size(if is_adjoint { knowns } else { unknowns }));
        let (u, k) = (fuzz.pointer(&mut us, nu), fuzz.pointer(&mut ks, nk));
        let (seed, value) = (fuzz.pointer(&mut dv, seeded), fuzz.pointer(&mut values, computed));
        let is_unknown = |vr: &u32| self.target.three.unknowns.binary_search(vr).is_ok();
        let wrong = fuzz.wrong || !unknowns.iter().all(is_unknown) || seeds.iter().any(|x| !x.is_finite());
        let text = format!(" {} by {} along {}", shown(unknowns), shown(knowns), shown(seeds));
        let function = if is_adjoint {
            fmi3GetAdjointDerivative
        } else {
            fmi3GetDirectionalDerivative
        };
        let status = self.call(call, Expect::unless(wrong), text, |c| unsafe {
            function(c, u, nu, k, nk, seed, n_seed, value, n_sensitivity)
        });
        written(call, status, &values);
    }

    /// Calls `fmi3UpdateDiscreteStates`; returns the flags and the bits of the next event's time.
    pub fn update_discrete_states(&mut self, fuzz: &mut Fuzz) -> Option<[u64; 3]> {
        fuzz.wrong = false;
        let (mut flags, mut times) = ([[77_u8]; 5], buffer(1));
        let places = flags.each_mut().map(|flag| fuzz.pointer(flag, 1));
        let time = fuzz.pointer(&mut times, 1);
        let [need, end, nominals, values, defined] = places;
        let expect = Expect::unless(fuzz.wrong);
        let status = self.call(Call::UpdateDiscreteStates, expect, String::new(), |c| unsafe {
            fmi3UpdateDiscreteStates(c, need, end, nominals, values, defined, time)
        });
        written(Call::UpdateDiscreteStates, status, &times);
        if status != OK {
            return None;
        }
        let [[need], [end], [nominals], [values], [defined]] = flags;
        assert!(
            need == 0 && end == 0 && nominals == 0 && values <= 1 && defined <= 1,
            "{flags:?}"
        );
        Some([u64::from(values), u64::from(defined), times[0].to_bits()])
    }

    pub fn completed_step(&mut self, fuzz: &mut Fuzz) -> fmi2Status {
        fuzz.wrong = false;
        let (mut enters, mut ends) = ([77], [77]);
        let (enter, end) = (fuzz.pointer(&mut enters, 1), fuzz.pointer(&mut ends, 1));
        let expect = Expect::unless(fuzz.wrong);
        let status = self.call(Call::CompletedIntegratorStep, expect, String::new(), |c| unsafe {
            fmi3CompletedIntegratorStep(c, 1, enter, end)
        });
        assert!(status != OK || [enters, ends].iter().all(|[flag]| *flag <= 1));
        status
    }

    pub fn set_time(&mut self, t: f64) -> fmi2Status {
        let expect = Expect::unless(!t.is_finite());
        let status = self.call(Call::SetTime, expect, format!(" {t:e}"), |c| unsafe {
            fmi3SetTime(c, t)
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
        let wrong = fuzz.wrong || x.len() != self.target.state_count || x.iter().any(|x| !x.is_finite());
        let (expect, text) = (Expect::unless(wrong), format!(" {}", shown(x)));
        self.call(Call::SetContinuousStates, expect, text, |c| unsafe {
            fmi3SetContinuousStates(c, pointer, count)
        })
    }

    /// Calls a getter of a vector with `n` elements; returns the status and the values.
    pub fn vector(&mut self, call: Call, n: usize, fuzz: &mut Fuzz) -> (fmi2Status, Vec<f64>) {
        fuzz.wrong = false;
        let right = match call {
            Call::GetEventIndicators => self.target.fmu.indicator_count(),
            _ => self.target.state_count,
        };
        let mut values = buffer(n);
        let count = fuzz.count(n);
        let pointer = fuzz.pointer(&mut values, count);
        let expect = Expect::unless(fuzz.wrong || n != right);
        let status = self.call(call, expect, format!(" of {n}"), |c| unsafe {
            match call {
                Call::GetEventIndicators => fmi3GetEventIndicators(c, pointer, count),
                Call::GetContinuousStates => fmi3GetContinuousStates(c, pointer, count),
                Call::GetContinuousStateDerivatives => fmi3GetContinuousStateDerivatives(c, pointer, count),
                _ => fmi3GetNominalsOfContinuousStates(c, pointer, count),
            }
        });
        written(call, status, &values);
        values.truncate(n);
        (status, values)
    }

    pub fn output_derivatives(&mut self, references: &[u32], fuzz: &mut Fuzz) {
        fuzz.wrong = false;
        let n = references.len();
        let (mut vr, mut values) = (references.to_vec(), buffer(self.target.size(references)));
        let mut orders: Vec<i32> = (0..n).map(|_| fuzz.integer(1..3)).collect();
        let text = format!(" {} order {}", shown(references), shown(&orders));
        let wrong = orders.iter().any(|order| *order < 1);
        let count = fuzz.count(n);
        let size = self.size(references, count);
        let n_values = Self::values_for(size, fuzz);
        let (vr, order) = (fuzz.pointer(&mut vr, count), fuzz.pointer(&mut orders, count));
        let value = fuzz.pointer(&mut values, size);
        let expect = Expect::unless(wrong || fuzz.wrong);
        let status = self.call(Call::GetOutputDerivatives, expect, text, |c| unsafe {
            fmi3GetOutputDerivatives(c, vr, count, order, value, n_values)
        });
        written(Call::GetOutputDerivatives, status, &values);
    }

    /// Calls `fmi3DoStep`; returns the status, and the result of a step that succeeded.
    pub fn do_step(&mut self, t: f64, h: f64) -> (fmi2Status, Option<StepEnd>) {
        let expect = Expect::unless(!(t.is_finite() && h.is_finite() && h >= 0.0));
        let (mut event, mut end, mut early, mut reached) = (77, 77, 77, f64::NAN);
        let status = self.call(Call::DoStep, expect, format!(" from {t:e} by {h:e}"), |c| unsafe {
            fmi3DoStep(c, t, h, 1, &mut event, &mut end, &mut early, &mut reached)
        });
        if status != OK {
            return (status, None);
        }
        assert!(event <= 1 && end == 0 && early <= 1 && reached.is_finite());
        let step = StepEnd {
            event: event == 1,
            early: early == 1,
            t: reached,
        };
        let round_off = 1e-9 * (t.abs() + h).max(1.0);
        let allowed = (!step.early || self.kind.early_return) && (!step.event || self.kind.has_events());
        let there = step.early || (reached - (t + h)).abs() <= round_off;
        let forwards = reached >= self.t - round_off;
        assert!(allowed && there && forwards, "{step:?} from {t} s by {h} s");
        self.t = reached;
        (status, Some(step))
    }
}
