//! Alternatives timed in the same rounds, so that other load affects all of them.

#![allow(dead_code)] // Not every benchmark uses all functions.

use std::time::Instant;

/// Total measuring time, s.
const SECONDS: f64 = 3.0;

/// Median and minimum, µs.
#[derive(Clone, Copy)]
pub struct Time {
    pub median: f64,
    pub minimum: f64,
}

impl Time {
    pub fn of(mut times: Vec<f64>) -> Self {
        times.sort_by(f64::total_cmp);
        Self {
            median: times[times.len() / 2],
            minimum: times[0],
        }
    }
}

/// Returns the batch times of several alternatives, measured in the same rounds; the first
/// alternative of a round changes cyclically.
pub fn rounds<const N: usize>(mut alternatives: [impl FnMut() -> f64; N]) -> [Vec<f64>; N] {
    let mut times = [const { Vec::new() }; N];
    let (start, mut seconds) = (Instant::now(), 0.0);
    for round in 0.. {
        for place in 0..N {
            let alternative = (place + round) % N;
            let time = alternatives[alternative]();
            // The first tenth is a warm-up.
            if seconds > 0.1 * SECONDS {
                times[alternative].push(time);
            }
        }
        seconds = start.elapsed().as_secs_f64();
        if seconds > SECONDS && times[0].len() > 30 {
            break;
        }
    }
    times
}

/// Returns the time of a batch of calls, µs per call.
pub fn batch(calls: u32, mut call: impl FnMut(u32)) -> f64 {
    let start = Instant::now();
    (0..calls).for_each(&mut call);
    1e6 * start.elapsed().as_secs_f64() / f64::from(calls)
}

/// Times several objects, each by sweeps of `evaluations` evaluations: µs per evaluation.
pub fn measure<T, const N: usize>(all: &mut [T; N], sweep: impl Fn(&mut T) + Copy, evaluations: usize) -> [Time; N] {
    let alternatives = all
        .each_mut()
        .map(|one| move || batch(20, |_| sweep(one)) / evaluations as f64);
    rounds(alternatives).map(Time::of)
}
