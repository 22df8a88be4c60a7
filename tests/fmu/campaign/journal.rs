//! What a campaign has called: counts, the last calls of each thread for a failure's report, and who has waited too long.

use crate::driver::{DISCARD, ERROR, OK};
use grapple::fmu::fmi2::fmi2Status;
use grapple::fmu::lifecycle::{Call, RULES};
use std::collections::VecDeque;
use std::fmt::Write;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

/// So many calls are told after a failure.
const TOLD: usize = 40;

/// One of the 44 functions: those that act on an instance, and the three that do not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Function {
    On(Call),
    Instantiate,
    GetVersion,
    GetTypesPlatform,
}

pub const FUNCTIONS: usize = RULES.len() + 3;

impl Function {
    fn index(self) -> usize {
        match self {
            Self::On(call) => call as usize,
            Self::Instantiate => RULES.len(),
            Self::GetVersion => RULES.len() + 1,
            Self::GetTypesPlatform => RULES.len() + 2,
        }
    }

    fn all() -> impl Iterator<Item = Self> {
        let on = RULES.iter().map(|rule| Self::On(rule.call));
        on.chain([Self::Instantiate, Self::GetVersion, Self::GetTypesPlatform])
    }

    fn name(self) -> &'static str {
        match self {
            Self::On(call) => call.name(),
            Self::Instantiate => "fmi2Instantiate",
            Self::GetVersion => "fmi2GetVersion",
            Self::GetTypesPlatform => "fmi2GetTypesPlatform",
        }
    }
}

/// How often each function gave `fmi2OK`, `fmi2Discard`, `fmi2Error`.
pub struct Tally([[AtomicU64; 3]; FUNCTIONS]);

impl Tally {
    pub fn new() -> Self {
        Self([const { [const { AtomicU64::new(0) }; 3] }; FUNCTIONS])
    }

    fn add(&self, function: Function, status: fmi2Status) {
        let column = [OK, DISCARD, ERROR].iter().position(|s| *s == status);
        if let Some(column) = column {
            self.0[function.index()][column].fetch_add(1, Ordering::Relaxed);
        }
    }

    fn counts(&self, function: Function) -> [u64; 3] {
        self.0[function.index()].each_ref().map(|n| n.load(Ordering::Relaxed))
    }

    /// How often a function gave `fmi2Error`.
    pub fn errors(&self, call: Call) -> u64 {
        self.counts(Function::On(call))[2]
    }

    pub fn calls(&self) -> u64 {
        Function::all()
            .map(|function| self.counts(function).iter().sum::<u64>())
            .sum()
    }

    /// As lines of a table.
    pub fn table(&self) -> String {
        let mut table = format!("{:34} {:>10} {:>10} {:>10}\n", "", "fmi2OK", "fmi2Discard", "fmi2Error");
        for function in Function::all() {
            let [ok, discard, error] = self.counts(function);
            let _ = writeln!(table, "{:34} {ok:>10} {discard:>10} {error:>10}", function.name());
        }
        table
    }

    /// The functions that have never gone well, or never been refused, and can.
    pub fn missing(&self) -> Vec<String> {
        let mut missing = Vec::new();
        for function in Function::all() {
            let [ok, _, error] = self.counts(function);
            // There is no step to be cancelled, and no status that is an integer or a text.
            let none = [Call::CancelStep, Call::GetIntegerStatus, Call::GetStringStatus].map(Function::On);
            if ok == 0 && !none.contains(&function) {
                missing.push(format!("{} has never given fmi2OK", function.name()));
            }
            // Inquiries have no status; what is freed is gone, or was null and is ignored.
            let has_error = !matches!(
                function,
                Function::GetVersion | Function::GetTypesPlatform | Function::On(Call::FreeInstance)
            );
            if error == 0 && has_error {
                missing.push(format!("{} has never given fmi2Error", function.name()));
            }
        }
        missing
    }
}

/// The calls of one thread.
pub struct Journal<'a> {
    pub tally: &'a Tally,
    start: Instant,
    last: Mutex<VecDeque<String>>,
    /// The sequence at work.
    pub sequence: AtomicU64,
    /// When the call at work began, in ms since `start`, plus one; zero: none is.
    began: AtomicU64,
}

impl<'a> Journal<'a> {
    pub fn new(tally: &'a Tally) -> Self {
        Self {
            tally,
            start: Instant::now(),
            last: Mutex::new(VecDeque::with_capacity(TOLD)),
            sequence: AtomicU64::new(0),
            began: AtomicU64::new(0),
        }
    }

    /// Makes a call. `text` says what is asked.
    pub fn call(&self, function: Function, text: String, call: impl FnOnce() -> fmi2Status) -> fmi2Status {
        {
            let mut last = self.last.lock().expect("no thread fails in here");
            if last.len() == TOLD {
                last.pop_front();
            }
            last.push_back(format!("{}{text}", function.name()));
        }
        self.began.store(self.now(), Ordering::Relaxed);
        let status = call();
        self.began.store(0, Ordering::Relaxed);
        self.tally.add(function, status);
        if let Some(last) = self.last.lock().expect("no thread fails in here").back_mut() {
            let _ = write!(last, " -> {}", status.0);
        }
        status
    }

    /// A remark between the calls.
    pub fn note(&self, text: String) {
        let mut last = self.last.lock().expect("no thread fails in here");
        if last.len() == TOLD {
            last.pop_front();
        }
        last.push_back(text);
    }

    /// Another sequence begins.
    pub fn begin(&self, sequence: u64) {
        self.sequence.store(sequence, Ordering::Relaxed);
        self.last.lock().expect("no thread fails in here").clear();
    }

    /// The last calls, a line each.
    pub fn last(&self) -> String {
        let last = self.last.lock().expect("no thread fails in here");
        last.iter().map(|line| format!("    {line}\n")).collect()
    }

    fn now(&self) -> u64 {
        self.start.elapsed().as_millis() as u64 + 1
    }

    /// For how long the call at work has been, s.
    pub fn waiting(&self) -> f64 {
        match self.began.load(Ordering::Relaxed) {
            0 => 0.0,
            began => self.now().saturating_sub(began) as f64 * 1e-3,
        }
    }
}
