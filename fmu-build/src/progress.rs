use crate::text::number;
use indicatif::{ProgressBar, ProgressStyle};
use std::cell::OnceCell;
use std::time::{Duration, Instant};

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
            let style = ProgressStyle::with_template("{wide_bar} {percent:>3} %  {msg}, {eta} left");
            let bar = ProgressBar::new(1000).with_elapsed(self.begin.elapsed());
            bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
        });
        bar.set_position((1000.0 * t / self.stop) as u64);
        bar.set_message(format!("t = {} s", number(t, 4)));
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = self.bar.get() {
            bar.finish_and_clear();
        }
    }
}
