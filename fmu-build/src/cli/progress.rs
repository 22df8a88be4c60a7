use super::output::warn;
use indicatif::{HumanDuration, ProgressBar, ProgressState, ProgressStyle};
use std::fmt::Write;
use std::io::IsTerminal;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Number of parts into which the progress bar divides the work.
const PARTS: u64 = 1_000_000;

/// Interval between progress lines if the output is not a terminal, e.g. a job's log.
const BETWEEN_LINES: Duration = Duration::from_secs(30);

/// A progress bar on the terminal, shown after one second of work; otherwise a line at intervals.
pub struct Progress {
    begin: Instant,
    text: Text,
    bar: Option<ProgressBar>,
    lines: u32,
}

/// Function that formats the part of the work that is done.
type Text = Arc<dyn Fn(f64) -> String + Send + Sync>;

impl Progress {
    /// Creates the progress of work that begins now; `text` formats the part that is done.
    pub fn new(text: impl Fn(f64) -> String + Send + Sync + 'static) -> Self {
        Self {
            begin: Instant::now(),
            text: Arc::new(text),
            bar: None,
            lines: 0,
        }
    }

    /// Reports the part of the `whole` that is done.
    pub fn at(&mut self, done: f64, whole: f64) {
        let elapsed = self.begin.elapsed();
        if elapsed < Duration::from_secs(1) {
            return;
        }
        if !std::io::stderr().is_terminal() {
            if elapsed >= BETWEEN_LINES * (self.lines + 1) {
                self.lines += 1;
                let percent = 100.0 * done / whole;
                warn(&format!("{percent:.0} %  {}", (self.text)(done)));
            }
            return;
        }
        let bar = self.bar.get_or_insert_with(|| {
            let text = Arc::clone(&self.text);
            let text = move |state: &ProgressState, out: &mut dyn Write| {
                let _ = write!(out, "{}", text(whole * f64::from(state.fraction())));
            };
            // The bar is created after one second of work. Its own estimate of the time left would
            // not include this second.
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
        bar.set_position((PARTS as f64 * done / whole) as u64);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
