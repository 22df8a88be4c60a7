//! An instance under test: every call on it is checked against the state machine, the log and the
//! written results.

use crate::campaign::fuzzing::SENTINEL;
use crate::campaign::journal::{Function, Journal};
use crate::campaign::machine::{Mode, after, allows};
use crate::campaign::target::Target;
use crate::driver::{DISCARD, ERROR, Log, OK, instantiate};
use grapple::fmu::c_abi::*;
use grapple::fmu::fmi2::*;
use grapple::fmu::lifecycle::Call;
use std::ptr::null_mut;

/// Expected result of a call that is allowed in the current mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expect {
    /// `fmi2OK`.
    Good,
    /// Any status: it depends on the values.
    Open,
    /// Not `fmi2OK`.
    Wrong,
}

impl Expect {
    /// Returns `Wrong` for invalid arguments, else `Open`.
    pub fn unless(wrong: bool) -> Self {
        if wrong { Self::Wrong } else { Self::Open }
    }

    /// Returns `Wrong` for invalid arguments, else `Good`.
    pub fn good_unless(wrong: bool) -> Self {
        if wrong { Self::Wrong } else { Self::Good }
    }
}

/// A saved state with its mode and time.
pub struct Saved {
    pub state: fmi2FMUstate,
    pub mode: Mode,
    pub t: f64,
}

/// One in this many doubtful calls (those not expected to succeed) is checked for changes of the
/// state if it is refused: the check is slow.
const LOOKED_AT: u32 = 5;

/// An instance under test.
pub struct Subject<'a> {
    pub target: &'a Target,
    pub kind: fmi2Type,
    pub c: fmi2Component,
    pub mode: Mode,
    /// Time of the simulation in the importer, s.
    pub t: f64,
    pub saved: Vec<Saved>,
    /// Set if refusals are logged: `logStatusError`, `logStatusDiscard`.
    pub logs_failures: [bool; 2],
    log: Box<Log>,
    /// Number of calls that were not expected to succeed.
    doubtful: u32,
    pub journal: &'a Journal<'a>,
}

impl Drop for Subject<'_> {
    fn drop(&mut self) {
        for mut saved in self.saved.drain(..) {
            // SAFETY: a state of this FMU that has not been freed, and a live handle.
            unsafe { fmi2FreeFMUstate(self.c, &mut saved.state) };
        }
        let free = || {
            // SAFETY: a live handle, not used again.
            unsafe { fmi2FreeInstance(self.c) };
            OK
        };
        self.journal.call(Function::On(Call::FreeInstance), String::new(), free);
    }
}

impl<'a> Subject<'a> {
    pub fn new(target: &'a Target, kind: fmi2Type, journal: &'a Journal<'a>) -> Self {
        let log = Box::new(Log::new());
        let mut c = null_mut();
        let call = || {
            let callbacks = log.callbacks();
            let uri = target.fmu.uri();
            c = instantiate(
                Some(&target.fmu.guid),
                Some(&uri),
                kind,
                Some(&callbacks),
                fmi2False,
                fmi2True,
            );
            if c.is_null() { ERROR } else { OK }
        };
        let status = journal.call(Function::Instantiate, format!(" {} as {}", target.name, kind.0), call);
        assert_eq!(status, OK, "{:?}", log.take());
        Self {
            target,
            kind,
            c,
            mode: Mode::Instantiated,
            t: 0.0,
            saved: Vec::new(),
            logs_failures: [true; 2],
            log,
            doubtful: 0,
            journal,
        }
    }

    /// Makes a call, and checks its status and log against the mode and the validity of the
    /// arguments.
    pub fn call(
        &mut self,
        call: Call,
        expect: Expect,
        text: String,
        function: impl FnOnce(fmi2Component) -> fmi2Status,
    ) -> fmi2Status {
        let c = self.c;
        let allowed = allows(call, self.kind, self.mode);
        let expect = if allowed { expect } else { Expect::Wrong };
        let doubtful = expect != Expect::Good;
        self.doubtful += u32::from(doubtful);
        let before = (doubtful && self.doubtful.is_multiple_of(LOOKED_AT)).then(|| self.bytes_up_to_date());
        let status = self.journal.call(Function::On(call), text, || function(c));
        let logged = self.log.take();
        assert!(
            [OK, DISCARD, ERROR].contains(&status),
            "{} in {:?}: {status:?} {logged:?}",
            call.name(),
            self.mode
        );
        let fits = match expect {
            Expect::Good => status == OK,
            Expect::Open => true,
            Expect::Wrong => status != OK,
        };
        assert!(
            fits && (allowed || status == ERROR),
            "{} in {:?}, allowed: {allowed}, {expect:?}: {status:?} {logged:?}",
            call.name(),
            self.mode
        );
        let refusals = logged.iter().filter(|said| said.status != OK).count();
        let is_logged = status != OK && self.logs_failures[usize::from(status == DISCARD)];
        let right = logged.iter().all(|said| said.status == OK || said.status == status);
        assert!(
            right && refusals == usize::from(is_logged) && logged.iter().all(|said| !said.message.is_empty()),
            "{} returned {status:?} and logged {logged:?}",
            call.name()
        );
        if let (true, Some(said)) = (is_logged, logged.last()) {
            self.journal.note(format!("      \"{}\"", said.message));
        }
        let kept = status == ERROR || (status == DISCARD && call != Call::DoStep);
        if let Some(before) = before.filter(|_| kept) {
            assert!(
                before == self.bytes_up_to_date(),
                "a refused {} has changed the instance",
                call.name()
            );
        }
        if allowed {
            self.mode = after(call, self.kind, self.mode, status);
        }
        status
    }

    /// Checks the values of a getter in a [`buffer`](super::fuzzing::buffer): after `fmi2OK` all
    /// are written and finite; the element after them is never written.
    pub fn written(&self, call: Call, status: fmi2Status, values: &[f64]) {
        let Some((behind, values)) = values.split_last() else {
            return;
        };
        assert_eq!(behind.to_bits(), SENTINEL, "{} wrote behind its values", call.name());
        if status == OK
            && let Some(i) = values.iter().position(|value| !value.is_finite())
        {
            let value = values[i];
            let what = if value.to_bits() == SENTINEL {
                "never written"
            } else {
                "not finite"
            };
            panic!("{} gave fmi2OK and value {i} = {value} is {what}", call.name());
        }
    }

    /// Returns the state as bytes; the read before applies parameters that were set and are
    /// buffered. Not in the journal.
    fn bytes_up_to_date(&self) -> Vec<u8> {
        let (states, reals) = (&self.target.states, &self.target.reals);
        let (reference, mut value) = (states.first().or(reals.last()).expect("something to read"), 0.0);
        // SAFETY: a live handle, one number each. The value itself is not used.
        unsafe { fmi2GetReal(self.c, reference, 1, &mut value) };
        self.log.take();
        self.bytes()
    }

    /// Returns the continuous states, if they can be read in this mode. Not in the journal.
    pub fn states(&self) -> Option<Vec<f64>> {
        let mut x = vec![0.0; self.target.states.len()];
        // SAFETY: a live handle, as many numbers as there are states.
        let status = unsafe { fmi2GetContinuousStates(self.c, x.as_mut_ptr(), x.len()) };
        self.log.take();
        (status == OK).then_some(x)
    }

    /// Returns the state as bytes. Not in the journal.
    pub fn bytes(&self) -> Vec<u8> {
        let (mut state, mut size) = (null_mut(), 0);
        // SAFETY: a live handle, a state of its own, and as many bytes as its size.
        unsafe {
            assert_eq!(fmi2GetFMUstate(self.c, &mut state), OK);
            assert_eq!(fmi2SerializedFMUstateSize(self.c, state, &mut size), OK);
            let mut bytes = vec![0_u8; size];
            assert_eq!(
                fmi2SerializeFMUstate(self.c, state, bytes.as_mut_ptr().cast(), size),
                OK
            );
            assert_eq!(fmi2FreeFMUstate(self.c, &mut state), OK);
            bytes
        }
    }
}
