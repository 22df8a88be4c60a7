//! Random calls over the whole C ABI, on every example and on spacecraft with all features.
//!
//! A sequence is the life of one instance: valid calls that lead through all modes, with invalid
//! calls and arguments in between, at a rate set by the sequence's level. Assertions:
//!
//! * no call panics, crashes or lasts longer than [`LONGEST`];
//! * the status agrees with an independent state machine ([`machine`]), and each refusal logs one
//!   message;
//! * after `fmi2OK` every result is written and finite, and the element after the buffer is not
//!   written;
//! * a refused call leaves the state unchanged; a discarded step keeps the part that succeeded;
//! * an event that changes states reports so, and changes only states that are declared to jump;
//! * a restored state gives the same bits of all values and of the next step, and so do its bytes
//!   in another instance;
//! * a reset instance behaves like a new one, bit by bit.
//!
//! Each sequence depends on the seed and its number only. Environment variables:
//! `GRAPPLE_CAMPAIGN_SEED`, `GRAPPLE_CAMPAIGN_FIRST` (number of the first sequence),
//! `GRAPPLE_CAMPAIGN_CALLS` (minimum number of calls), `GRAPPLE_CAMPAIGN_THREADS`,
//! `GRAPPLE_CAMPAIGN_SECONDS` (limit of a call's duration). `GRAPPLE_CAMPAIGN_FIRST=n
//! GRAPPLE_CAMPAIGN_CALLS=1` runs sequence n alone.

mod calls;
mod fuzzing;
mod journal;
mod life;
mod machine;
mod subject;
mod target;
mod three;
mod trace;

use crate::alone::alone;
use crate::driver::process::in_use;
use crate::driver::{CS, DISCARD, ERROR, ME, OK, instantiate};
use fuzzing::Fuzz;
use grapple::fmu::c_abi::*;
use grapple::fmu::fmi2::*;
use grapple::fmu::lifecycle::{Call, Standard};
use journal::{Function, Journal, Tally};
use life::Life;
use machine::{Mode, allows};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::ffi::CStr;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use subject::{Expect, Subject};
use target::Target;
use trace::{lead, make, same, standard};

/// Limit of a call's duration, s: a hundred times that of a step with the full work limit.
const LONGEST: u64 = 20;
/// Number of instances created one after the other, of each example in each interface.
const LIVES: usize = 10;
/// Number of failures after which the campaign ends.
const ENOUGH: usize = 12;

fn number(name: &str, usual: u64) -> u64 {
    match std::env::var(name) {
        Ok(text) => text
            .parse()
            .unwrap_or_else(|_| panic!("{name} = {text:?} is not a number")),
        Err(_) => usual,
    }
}

/// Instances of all examples run in parallel, one thread for each example, and are created and
/// freed repeatedly: every run gives identical bits, and no file stays open. (Memory is measured in
/// `ten_thousand_instances_leak_no_memory_and_no_file_handle`, where the allocator has no arenas of
/// other threads.)
#[test]
fn all_examples_run_repeatedly_in_parallel() {
    const TEST: &str = "campaign::all_examples_run_repeatedly_in_parallel";
    alone(TEST, || {
        let (targets, tally) = (target::examples(), Tally::new());
        let round = |lives: usize| {
            std::thread::scope(|scope| {
                for target in &targets {
                    let tally = &tally;
                    scope.spawn(move || {
                        let journal = Journal::new(tally);
                        for kind in [ME, CS].into_iter().cycle().take(2 * lives) {
                            let mut subject = Subject::new(target, kind, &journal);
                            let trace = standard(&mut subject);
                            same(&target.name, target.standard(kind, &journal), &trace);
                        }
                    });
                }
            });
        };
        round(2);
        let (_, files) = in_use();
        round(LIVES);
        assert_eq!(in_use().1, files);
    });
}

#[test]
fn status_of_every_call_in_every_mode_agrees_with_the_standard() {
    let targets = target::examples();
    let target = targets
        .iter()
        .find(|target| target.name == "servoed_arm")
        .expect("an example");
    for kind in [ME, CS] {
        for mode in Mode::ALL.into_iter().filter(|mode| mode.belongs_to(kind)) {
            for &call in Call::ALL.iter().filter(|&&call| call != Call::FreeInstance) {
                let tally = Tally::new();
                let journal = Journal::new(&tally);
                let mut subject = Subject::new(target, kind, &journal);
                lead(&mut subject, mode);
                assert_eq!(subject.mode, mode);
                let before = tally.errors(call);
                make(&mut subject, call);
                let refused = tally.errors(call) > before;
                assert_eq!(refused, !allows(call, kind, mode), "{} in {mode:?}", call.name());
            }
        }
    }
}

struct Campaign {
    standard: Standard,
    targets: Vec<Target>,
    seed: u64,
    first: u64,
    calls: u64,
    next: AtomicU64,
    failures: Mutex<Vec<String>>,
}

#[test]
fn random_calls_never_crash_or_hang() {
    run(Standard::Fmi2);
}

#[test]
fn random_calls_of_fmi_3_never_crash_or_hang() {
    run(Standard::Fmi3);
}

fn run(standard: Standard) {
    let threads = number("GRAPPLE_CAMPAIGN_THREADS", 2) as usize;
    let longest = number("GRAPPLE_CAMPAIGN_SECONDS", LONGEST) as f64;
    let first = number("GRAPPLE_CAMPAIGN_FIRST", 0);
    let campaign = Campaign {
        standard,
        targets: match standard {
            Standard::Fmi2 => target::all(),
            Standard::Fmi3 => target::all_three(),
        },
        seed: number("GRAPPLE_CAMPAIGN_SEED", 2026),
        first,
        calls: number("GRAPPLE_CAMPAIGN_CALLS", 100_000),
        next: AtomicU64::new(first),
        failures: Mutex::default(),
    };
    let (start, tally) = (Instant::now(), Tally::new());
    let journals: Vec<Journal> = (0..threads).map(|_| Journal::new(&tally)).collect();
    let at_work = AtomicUsize::new(threads);
    std::thread::scope(|scope| {
        for journal in &journals {
            let (campaign, at_work) = (&campaign, &at_work);
            scope.spawn(move || {
                campaign.work(journal);
                at_work.fetch_sub(1, Ordering::Relaxed);
            });
        }
        while at_work.load(Ordering::Relaxed) > 0 {
            std::thread::sleep(Duration::from_millis(20));
            if let Some(hanging) = journals.iter().find(|journal| journal.waiting() > longest) {
                // A thread that hangs cannot be ended, so the process exits.
                eprintln!("a call lasts longer than {longest} s in {}", campaign.report(hanging));
                std::process::exit(1);
            }
        }
    });
    let (calls, seconds) = (tally.calls(), start.elapsed().as_secs_f64());
    let sequences = campaign.next.load(Ordering::Relaxed) - first;
    println!(
        "{}: {calls} calls in {sequences} sequences of {} FMUs, {threads} threads, seed {}, {seconds:.1} s\n{}",
        standard.name(),
        campaign.targets.len(),
        campaign.seed,
        tally.table(standard)
    );
    let failures = campaign.failures.into_inner().expect("no thread uses it");
    assert!(
        failures.is_empty(),
        "{} failures\n{}",
        failures.len(),
        failures.join("\n")
    );
    println!("nothing found");
    // A shorter campaign may not reach all functions.
    if calls >= 100_000 {
        assert_eq!(tally.missing(standard), Vec::<String>::new());
    }
}

impl Campaign {
    /// Runs sequences until the number of calls is reached.
    fn work<'a>(&'a self, journal: &'a Journal<'a>) {
        while journal.tally.calls() < self.calls || self.next.load(Ordering::Relaxed) == self.first {
            let sequence = self.next.fetch_add(1, Ordering::Relaxed);
            journal.begin(sequence);
            let outcome = catch_unwind(AssertUnwindSafe(|| match self.standard {
                Standard::Fmi2 => self.live(sequence, journal),
                Standard::Fmi3 => self.live_three(sequence, journal),
            }));
            if let Err(panic) = outcome {
                let text = panic.downcast_ref::<String>().map(String::as_str);
                let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("");
                let mut failures = self.failures.lock().expect("no thread panics with the lock");
                failures.push(format!("{text}\n  in {}", self.report(journal)));
                if failures.len() >= ENOUGH {
                    return;
                }
            }
        }
    }

    fn report(&self, journal: &Journal) -> String {
        let sequence = journal.sequence.load(Ordering::Relaxed);
        format!(
            "sequence {sequence} (GRAPPLE_CAMPAIGN_SEED={} GRAPPLE_CAMPAIGN_FIRST={sequence} GRAPPLE_CAMPAIGN_CALLS=1), the last \
             calls:\n{}",
            self.seed,
            journal.last()
        )
    }

    /// Runs one sequence.
    fn live<'a>(&'a self, sequence: u64, journal: &'a Journal<'a>) {
        let mut random = ChaCha8Rng::seed_from_u64(self.seed);
        random.set_stream(sequence);
        let target = &self.targets[random.random_range(0..self.targets.len())];
        let kind = if random.random_bool(0.5) { ME } else { CS };
        let level = [0.0, 0.02, 0.1, 0.3][random.random_range(0..4)];
        inquire(journal);
        if random.random_bool(0.2) {
            misinstantiate(target, kind, &mut random, journal);
        }
        let mut subject = Subject::new(target, kind, journal);
        let twin = random.random_bool(0.2).then(|| Subject::new(target, kind, journal));
        let stranger = random
            .random_bool(0.2)
            .then(|| self.stranger(target, kind, &mut random, journal));
        let length = random.random_range(50..600);
        let mut life = Life::new(&mut subject, [twin, stranger], random, level);
        for _ in 0..length {
            life.act();
        }
        drop(life);
        subject.plain(Call::Reset, Expect::Good);
        same(
            "a reset instance",
            target.standard(kind, journal),
            &standard(&mut subject),
        );
    }
}

impl Campaign {
    /// Creates an instance of another target or of the other interface, with a saved state: this
    /// target's instances must refuse that state.
    fn stranger<'a>(
        &'a self,
        target: &Target,
        kind: fmi2Type,
        random: &mut ChaCha8Rng,
        journal: &'a Journal<'a>,
    ) -> Subject<'a> {
        let other = &self.targets[random.random_range(0..self.targets.len())];
        let same = other.fmu.guid == target.fmu.guid;
        let kind = if same == (kind == ME) { CS } else { ME };
        let mut stranger = Subject::new(other, kind, journal);
        stranger.save(None, &mut Fuzz::new(random, 0.0));
        stranger
    }
}

/// Calls the functions that need no instance and checks their results.
fn inquire(journal: &Journal) {
    for (function, expected) in [(Function::GetVersion, c"2.0"), (Function::GetTypesPlatform, c"default")] {
        let mut answer = c"";
        journal.call(function, String::new(), || {
            // SAFETY: a string that lives as long as the library.
            answer = unsafe {
                CStr::from_ptr(match function {
                    Function::GetVersion => fmi2GetVersion(),
                    _ => fmi2GetTypesPlatform(),
                })
            };
            OK
        });
        assert_eq!(answer, expected);
    }
}

/// Calls `fmi2Instantiate` with arguments that must be refused.
fn misinstantiate(target: &Target, kind: fmi2Type, random: &mut ChaCha8Rng, journal: &Journal) {
    let good = target.fmu.uri();
    let wrong: &CStr = c"\xff\xfe{not UTF-8}";
    let (what, kind, guid, location) = match random.random_range(0..8) {
        0 => ("no GUID", kind, None, Some(good.as_str())),
        1 => ("an empty GUID", kind, Some(c""), Some(good.as_str())),
        2 => (
            "another GUID",
            kind,
            Some(c"{8c4e810f-3df3-4a00-8276-176fa3c9f9e0}"),
            Some(good.as_str()),
        ),
        3 => ("a GUID that is not UTF-8", kind, Some(wrong), Some(good.as_str())),
        4 => ("no location", kind, Some(target.fmu.guid.as_c_str()), None),
        5 => ("an empty location", kind, Some(target.fmu.guid.as_c_str()), Some("")),
        6 => (
            "a wrong location",
            kind,
            Some(target.fmu.guid.as_c_str()),
            Some("http://host/%zz%00/resources"),
        ),
        _ => (
            "a wrong type",
            fmi2Type(random.random_range(2..99)),
            Some(target.fmu.guid.as_c_str()),
            Some(good.as_str()),
        ),
    };
    journal.call(Function::Instantiate, format!(" with {what}"), || {
        let c = instantiate(guid, location, kind, None, fmi2True, fmi2True);
        assert!(c.is_null(), "fmi2Instantiate accepted {what}");
        ERROR
    });
}
