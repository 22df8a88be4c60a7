//! Many cases, each known by its number alone, and what all of them have to keep to.

use crate::memory;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::LazyLock;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// The largest single piece of memory that a case may ask for, bytes.
const LARGEST: usize = 64 << 20;
/// The most that a case may hold, bytes.
const MOST: usize = 512 << 20;
/// How much of a processor's time a case may take, unoptimised.
const LONGEST: Duration = Duration::from_secs(20);
/// After so long a case is given up, and the process with it.
const HANGS: Duration = Duration::from_secs(300);
/// After so many failures a campaign ends.
const FAILURES: usize = 20;

/// What becomes of bad data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It is refused, and the reason is told.
    Refused,
    /// It still says something that works.
    Works,
}

/// Runs cases of one kind. `GRAPPLE_MUTATIONS` says how many (`default` if it does not), `GRAPPLE_MUTATIONS_FIRST` the number
/// of the first. A case has a random generator of its own, and gives what it has made of it, to be shown if it fails.
///
/// # Panics
/// If a case panics, takes more memory or time than it may, or finds something wrong; with the numbers of the cases.
pub fn run(kind: &str, default: u64, mut case: impl FnMut(&mut ChaCha8Rng, &mut Vec<u8>) -> Result<Outcome, String>) {
    let number = |name: &str, default| match std::env::var(name) {
        Ok(text) => text
            .parse()
            .unwrap_or_else(|_| panic!("{name} = {text:?} is no number")),
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
            Ok(Ok(_)) if taken.largest > LARGEST => format!("it asks for {} bytes at once", taken.largest),
            Ok(Ok(_)) if taken.peak > MOST => format!("it holds {} bytes", taken.peak),
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

/// What this thread has had of a processor, since the machine may have others to serve; where that is not told, the time that has passed.
fn processor_time() -> Duration {
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanoseconds = told.and_then(|text| text.split_whitespace().next()?.parse().ok());
    nanoseconds.map_or_else(|| START.elapsed(), Duration::from_nanos)
}
