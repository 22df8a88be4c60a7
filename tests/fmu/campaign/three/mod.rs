//! Random calls over the functions of FMI 3.0, in Model Exchange and in Co-Simulation with all
//! combinations of Event Mode, early return and intermediate updates. The assertions are those of the
//! [campaign](super) of FMI 2.0; the modes of calls are those that `tests/fmu/fmi3/modes.rs`
//! transcribes. In addition a step returns early, or reports an event, only if the importer allows
//! it, a discarded step leaves the instance as it was, and states are passed on to FMI 2.0.

mod calls;
mod life;
mod subject;
mod trace;

use super::journal::{Function, Journal};
use super::target::Target;
use super::trace::same;
use super::{Campaign, ERROR};
use crate::fmi3::modes::Of;
use grapple::fmu::c_abi::{fmi3GetVersion, fmi3InstantiateScheduledExecution};
use grapple::fmu::lifecycle::fmi3::Call;
use life::Life;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::ffi::CStr;
use std::ptr::{null, null_mut};
use subject::{Kind, Subject};
use trace::standard;

impl Campaign {
    /// Runs one sequence of FMI 3.0.
    pub(super) fn live_three<'a>(&'a self, sequence: u64, journal: &'a Journal<'a>) {
        let mut random = ChaCha8Rng::seed_from_u64(self.seed ^ 3);
        random.set_stream(sequence);
        let target = &self.targets[random.random_range(0..self.targets.len())];
        let kind = Kind::ALL[random.random_range(0..Kind::ALL.len())];
        let level = [0.0, 0.02, 0.1, 0.3][random.random_range(0..4)];
        inquire(target, journal);
        if random.random_bool(0.2) {
            misinstantiate(target, kind, &mut random, journal);
        }
        let mut subject = Subject::new(target, kind, journal);
        let twin = random.random_bool(0.2).then(|| Subject::new(target, kind, journal));
        let stranger = random.random_bool(0.2).then(|| {
            let other = &self.targets[random.random_range(0..self.targets.len())];
            let is_same = other.fmu.guid == target.fmu.guid;
            let is_me = is_same != (kind.of == Of::ModelExchange);
            let kind = if is_me { Kind::ALL[0] } else { Kind::ALL[1] };
            let mut stranger = Subject::new(other, kind, journal);
            stranger.save_plainly();
            stranger
        });
        let length = random.random_range(50..600);
        let mut life = Life::new(&mut subject, [twin, stranger], random, level);
        for _ in 0..length {
            life.act();
        }
        drop(life);
        subject.plain(Call::Reset);
        same(
            "a reset instance",
            target.standard_three(kind.index(), || standard(&mut Subject::new(target, kind, journal))),
            &standard(&mut subject),
        );
    }
}

/// Calls the functions that need no instance.
fn inquire(target: &Target, journal: &Journal) {
    journal.call(Function::GetVersion3, String::new(), || {
        // SAFETY: a string that lives as long as the library.
        assert_eq!(unsafe { CStr::from_ptr(fmi3GetVersion()) }, c"3.0");
        super::OK
    });
    journal.call(Function::InstantiateScheduledExecution, String::new(), || {
        // SAFETY: strings that end with a zero, or null.
        let c = unsafe {
            let token = target.token.as_ptr();
            fmi3InstantiateScheduledExecution(c"x".as_ptr(), token, null(), 0, 1, null_mut(), None, None, None, None)
        };
        assert!(c.is_null());
        ERROR
    });
}

/// Calls a function that instantiates with arguments that must be refused.
fn misinstantiate(target: &Target, kind: Kind, random: &mut ChaCha8Rng, journal: &Journal) {
    let good = std::ffi::CString::new(target.fmu.uri()).expect("no zero inside");
    let good = good.as_c_str();
    let guid = target.token.as_c_str();
    let (what, token, location, required): (_, Option<&CStr>, Option<&CStr>, &[u32]) = match random.random_range(0..6) {
        0 => ("no token", None, Some(good), &[]),
        1 => (
            "another token",
            Some(c"{8c4e810f-3df3-4a00-8276-176fa3c9f9e0}"),
            Some(good),
            &[],
        ),
        2 => ("a token that is not UTF-8", Some(c"\xff\xfe"), Some(good), &[]),
        3 => ("no location", Some(guid), None, &[]),
        4 => (
            "a wrong location",
            Some(guid),
            Some(c"http://host/%zz%00/resources"),
            &[],
        ),
        _ if kind.of == Of::ModelExchange => ("an empty location", Some(guid), Some(c""), &[]),
        _ => ("an unknown variable", Some(guid), Some(good), &[u32::MAX]),
    };
    let function = subject::instantiating(kind);
    journal.call(function, format!(" with {what}"), || {
        let c = subject::instantiate(kind, [token, location], required, null_mut(), false);
        assert!(c.is_null(), "instantiated with {what}");
        ERROR
    });
}
