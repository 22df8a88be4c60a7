//! Right-hand sides of the ODE timed beside each other, in the same rounds.

use crate::craft::{Craft, STATES};
use std::time::Instant;

/// How long craft are measured together, s.
const SECONDS: f64 = 3.0;
/// µs per evaluation.
#[derive(Clone, Copy)]
pub struct Time {
    pub median: f64,
    pub minimum: f64,
}

/// Times craft in turn.
pub fn measure<const N: usize>(craft: &mut [Craft; N]) -> [Time; N] {
    let mut times = [const { Vec::new() }; N];
    let (start, mut seconds) = (Instant::now(), 0.0);
    for round in 0.. {
        for place in 0..N {
            let which = (place + round) % N;
            let time = batch(&mut craft[which]);
            // The first tenth warms up.
            if seconds > 0.1 * SECONDS {
                times[which].push(time);
            }
        }
        seconds = start.elapsed().as_secs_f64();
        if seconds > SECONDS && times[0].len() > 30 {
            break;
        }
    }
    times.map(|mut times| {
        times.sort_by(f64::total_cmp);
        Time {
            median: times[times.len() / 2],
            minimum: times[0],
        }
    })
}

/// µs per evaluation.
fn batch(craft: &mut Craft) -> f64 {
    const SWEEPS: usize = 20;
    let start = Instant::now();
    (0..SWEEPS).for_each(|_| craft.sweep());
    1e6 * start.elapsed().as_secs_f64() / (SWEEPS * STATES) as f64
}
