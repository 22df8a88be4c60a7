use crate::text::warn;
use indicatif::{HumanDuration, ProgressBar, ProgressState, ProgressStyle};
use std::cell::{Cell, OnceCell};
use std::fmt::Write;
use std::io::IsTerminal;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Resolution of the progress bar.
const PARTS: u64 = 1_000_000;

/// Interval between progress lines if the output is not a terminal, e.g. a job's log.
const BETWEEN_LINES: Duration = Duration::from_secs(30);

/// A progress bar on the terminal, shown after one second of work; otherwise a line at intervals.
pub struct Progress {
    begin: Instant,
    stop: f64,
    text: Text,
    bar: OnceCell<ProgressBar>,
    lines: Cell<u32>,
}

/// Returns the progress as text.
type Text = Arc<dyn Fn(f64) -> String + Send + Sync>;

impl Progress {
    /// Begins work from zero to `stop`; `text` returns the progress as text.
    pub fn new(stop: f64, text: impl Fn(f64) -> String + Send + Sync + 'static) -> Self {
        Self {
            begin: Instant::now(),
            stop,
            text: Arc::new(text),
            bar: OnceCell::new(),
            lines: Cell::new(0),
        }
    }

    /// Reports the present position.
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
                warn(&format!("{percent:.0} %  {}", (self.text)(place)));
            }
            return;
        }
        let bar = self.bar.get_or_init(|| {
            let (stop, text) = (self.stop, Arc::clone(&self.text));
            let text = move |state: &ProgressState, out: &mut dyn Write| {
                let _ = write!(out, "{}", text(stop * f64::from(state.fraction())));
            };
            // The bar appears after one second, which its own estimate of the rate would not
            // include.
            let left = |state: &ProgressState, out: &mut dyn Write| {
                let done = state.fraction();
                if done > 0.0 {
                    let left = state.elapsed().mul_f32((1.0 - done) / done);
                    let _ = write!(out, "{} left", HumanDuration(left));
                }
            };
            let style = ProgressStyle::with_template("{wide_bar} {percent:>3} %  {text}, {left}")
                .unwrap_or_else(|_| ProgressStyle::default_bar());
            let bar = ProgressBar::new(PARTS).with_elapsed(self.begin.elapsed());
            bar.with_style(style.with_key("text", text).with_key("left", left))
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
