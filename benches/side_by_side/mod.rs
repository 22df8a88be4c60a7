//! Ways of doing something timed beside each other, in the same rounds: whatever else the machine does meets all of them.

#![allow(dead_code)] // Not every benchmark has all of them.

use std::time::Instant;

/// How long ways are measured together, s.
const SECONDS: f64 = 3.0;

/// µs.
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

/// What batches of several ways take in the same rounds, each first in its turn.
pub fn rounds<const N: usize>(mut ways: [impl FnMut() -> f64; N]) -> [Vec<f64>; N] {
    let mut times = [const { Vec::new() }; N];
    let (start, mut seconds) = (Instant::now(), 0.0);
    for round in 0.. {
        for place in 0..N {
            let way = (place + round) % N;
            let time = ways[way]();
            // The first tenth warms up.
            if seconds > 0.1 * SECONDS {
                times[way].push(time);
            }
        }
        seconds = start.elapsed().as_secs_f64();
        if seconds > SECONDS && times[0].len() > 30 {
            break;
        }
    }
    times
}

/// µs per call.
pub fn batch(calls: u32, mut call: impl FnMut(u32)) -> f64 {
    let start = Instant::now();
    (0..calls).for_each(&mut call);
    1e6 * start.elapsed().as_secs_f64() / f64::from(calls)
}

/// Times things of a kind, each of whose sweeps is so many evaluations: µs per evaluation.
pub fn measure<T, const N: usize>(all: &mut [T; N], sweep: impl Fn(&mut T) + Copy, evaluations: usize) -> [Time; N] {
    let ways = all
        .each_mut()
        .map(|one| move || batch(20, |_| sweep(one)) / evaluations as f64);
    rounds(ways).map(Time::of)
}
