use crate::text::number;
use indicatif::{HumanDuration, ProgressBar, ProgressState, ProgressStyle};
use std::cell::OnceCell;
use std::fmt::Write;
use std::time::{Duration, Instant};

/// How finely the bar tells one time from the next.
const PARTS: u64 = 1_000_000;

/// A bar on the terminal, once a run has taken a second.
pub struct Progress {
    begin: Instant,
    stop: f64,
    bar: OnceCell<ProgressBar>,
}

impl Progress {
    /// A run from zero to `stop` (s) begins.
    pub fn new(stop: f64) -> Self {
        Self {
            begin: Instant::now(),
            stop,
            bar: OnceCell::new(),
        }
    }

    /// It has come to the time `t` (s).
    pub fn at(&self, t: f64) {
        if self.begin.elapsed() < Duration::from_secs(1) {
            return;
        }
        let bar = self.bar.get_or_init(|| {
            let stop = self.stop;
            let time = move |state: &ProgressState, out: &mut dyn Write| {
                let _ = write!(out, "{} s", number(stop * f64::from(state.fraction()), 4));
            };
            // The bar's own estimate takes the first second, in which it was not there, for no time at all.
            let left = |state: &ProgressState, out: &mut dyn Write| {
                let done = state.fraction();
                if done > 0.0 {
                    let left = state.elapsed().mul_f32((1.0 - done) / done);
                    let _ = write!(out, "{} left", HumanDuration(left));
                }
            };
            let style = ProgressStyle::with_template("{wide_bar} {percent:>3} %  t = {t}, {left}")
                .unwrap_or_else(|_| ProgressStyle::default_bar());
            let bar = ProgressBar::new(PARTS).with_elapsed(self.begin.elapsed());
            bar.with_style(style.with_key("t", time).with_key("left", left))
        });
        bar.set_position((PARTS as f64 * t / self.stop) as u64);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = self.bar.get() {
            bar.finish_and_clear();
        }
    }
}
