//! Runs many mutated cases within common limits; each case is reproducible from its number.

use crate::memory;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::LazyLock;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// Limit of a single allocation of a case, bytes.
const LARGEST: usize = 64 << 20;
/// Limit of the memory of a case, bytes.
const MOST: usize = 512 << 20;
/// Limit of a case's processor time, unoptimised.
const LONGEST: Duration = Duration::from_secs(20);
/// Time after which a case, and the process with it, is aborted.
const HANGS: Duration = Duration::from_secs(300);
/// Number of failures after which a campaign ends.
const FAILURES: usize = 20;

/// Result of reading damaged data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Refused with a reason.
    Refused,
    /// The data are still valid.
    Works,
}

/// Runs cases of one kind. `GRAPPLE_MUTATIONS` sets their number (else `default`),
/// `GRAPPLE_MUTATIONS_FIRST` the number of the first. Each case has its own random generator and
/// writes its data to the buffer, which is saved if the case fails.
///
/// # Panics
/// If a case panics, exceeds a limit or returns an error; the message lists the numbers of the
/// cases.
pub fn run(kind: &str, default: u64, mut case: impl FnMut(&mut ChaCha8Rng, &mut Vec<u8>) -> Result<Outcome, String>) {
    let number = |name: &str, default| match std::env::var(name) {
        Ok(text) => text
            .parse()
            .unwrap_or_else(|_| panic!("{name} = {text:?} is not a number")),
        Err(_) => default,
    };
    let (first, cases) = (
        number("GRAPPLE_MUTATIONS_FIRST", 0),
        number("GRAPPLE_MUTATIONS", default),
    );
    let (begun, watched) = channel();
    let name = kind.to_owned();
    let watch = std::thread::spawn(move || {
        let mut current = first;
        loop {
            match watched.recv_timeout(HANGS) {
                Ok(next) => current = next,
                Err(RecvTimeoutError::Disconnected) => return,
                Err(RecvTimeoutError::Timeout) => {
                    eprintln!("{name}, case {current} hangs: more than {HANGS:?}");
                    std::process::abort();
                }
            }
        }
    });
    let (mut refused, mut works, mut failures) = (0_u64, 0_u64, Vec::new());
    let (mut slowest, mut largest, mut most) = ((Duration::ZERO, 0), (0, 0), (0, 0));
    for n in first..first + cases {
        begun.send(n).expect("the watch lives as long as this");
        let mut rng = ChaCha8Rng::seed_from_u64(n);
        let mut made = Vec::new();
        let clock = processor_time();
        memory::start();
        let outcome = catch_unwind(AssertUnwindSafe(|| case(&mut rng, &mut made)));
        let (taken, time) = (memory::taken(), processor_time() - clock);
        slowest = slowest.max((time, n));
        largest = largest.max((taken.largest, n));
        most = most.max((taken.peak, n));
        let wrong = match outcome {
            Err(_) => "it panics".to_owned(),
            Ok(Err(wrong)) => wrong,
            Ok(Ok(_)) if taken.largest > LARGEST => format!("it allocates {} bytes at once", taken.largest),
            Ok(Ok(_)) if taken.peak > MOST => format!("it uses {} bytes", taken.peak),
            Ok(Ok(_)) if time > LONGEST => format!("it takes {time:?}"),
            Ok(Ok(Outcome::Refused)) => {
                refused += 1;
                continue;
            }
            Ok(Ok(Outcome::Works)) => {
                works += 1;
                continue;
            }
        };
        let file = std::env::temp_dir().join(format!("grapple-{kind}-{n}"));
        let _ = std::fs::write(&file, &made);
        eprintln!("{kind}, case {n} ({}): {wrong}", file.display());
        failures.push(n);
        if failures.len() == FAILURES {
            break;
        }
    }
    drop(begun);
    watch.join().expect("the watch ends when no more cases come");
    println!(
        "{kind}: {refused} refused, {works} work; longest {:.3} s (case {}), largest piece {:.1} MB (case {}), most {:.1} MB (case {})",
        slowest.0.as_secs_f64(),
        slowest.1,
        largest.0 as f64 / 1e6,
        largest.1,
        most.0 as f64 / 1e6,
        most.1,
    );
    assert!(
        failures.is_empty(),
        "{kind}: cases {failures:?} fail; one alone: GRAPPLE_MUTATIONS_FIRST={} GRAPPLE_MUTATIONS=1",
        failures[0]
    );
    assert!(refused > 0 || cases < 100, "{kind}: nothing was refused");
}

/// Returns this thread's processor time, which does not depend on other programs; the elapsed time
/// where the system does not report it.
fn processor_time() -> Duration {
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanoseconds = text.and_then(|text| text.split_whitespace().next()?.parse().ok());
    nanoseconds.map_or_else(|| START.elapsed(), Duration::from_nanos)
}
