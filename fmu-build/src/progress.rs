use crate::text::warn;
use indicatif::{HumanDuration, ProgressBar, ProgressState, ProgressStyle};
use std::cell::{Cell, OnceCell};
use std::fmt::Write;
use std::io::IsTerminal;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How finely the bar tells one place from the next.
const PARTS: u64 = 1_000_000;

/// Where nobody looks at a terminal, such as in the log of a job, so often a line is written.
const BETWEEN_LINES: Duration = Duration::from_secs(30);

/// A bar on the terminal, once the work has taken a second; elsewhere a line now and then.
pub struct Progress {
    begin: Instant,
    stop: f64,
    told: Told,
    bar: OnceCell<ProgressBar>,
    lines: Cell<u32>,
}

/// How far it has come, in words.
type Told = Arc<dyn Fn(f64) -> String + Send + Sync>;

impl Progress {
    /// Work from zero to `stop` begins; `told` is how far it has come, in words.
    pub fn new(stop: f64, told: impl Fn(f64) -> String + Send + Sync + 'static) -> Self {
        Self {
            begin: Instant::now(),
            stop,
            told: Arc::new(told),
            bar: OnceCell::new(),
            lines: Cell::new(0),
        }
    }

    /// It has come this far.
    pub fn at(&self, place: f64) {
        let elapsed = self.begin.elapsed();
        if elapsed < Duration::from_secs(1) {
            return;
        }
        if !std::io::stderr().is_terminal() {
            let lines = self.lines.get() + 1;
            if elapsed >= BETWEEN_LINES * lines {
                self.lines.set(lines);
                let percent = 100.0 * place / self.stop;
                warn(&format!("{percent:.0} %  {}", (self.told)(place)));
            }
            return;
        }
        let bar = self.bar.get_or_init(|| {
            let (stop, told) = (self.stop, Arc::clone(&self.told));
            let told = move |state: &ProgressState, out: &mut dyn Write| {
                let _ = write!(out, "{}", told(stop * f64::from(state.fraction())));
            };
            // The bar's own estimate takes the first second, in which it was not there, for no time at all.
            let left = |state: &ProgressState, out: &mut dyn Write| {
                let done = state.fraction();
                if done > 0.0 {
                    let left = state.elapsed().mul_f32((1.0 - done) / done);
                    let _ = write!(out, "{} left", HumanDuration(left));
                }
            };
            let style = ProgressStyle::with_template("{wide_bar} {percent:>3} %  {told}, {left}")
                .unwrap_or_else(|_| ProgressStyle::default_bar());
            let bar = ProgressBar::new(PARTS).with_elapsed(self.begin.elapsed());
            bar.with_style(style.with_key("told", told).with_key("left", left))
        });
        bar.set_position((PARTS as f64 * place / self.stop) as u64);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = self.bar.get() {
            bar.finish_and_clear();
        }
    }
}
