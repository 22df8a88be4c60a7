//! Record of a campaign's calls: counts, the last calls of each thread for a failure's report, and
//! the time of the call in progress.

use crate::driver::{DISCARD, ERROR, OK};
use grapple::fmu::fmi2::fmi2Status;
use grapple::fmu::lifecycle::fmi3::Call as Call3;
use grapple::fmu::lifecycle::{Call, Standard};
use std::collections::VecDeque;
use std::fmt::Write;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

/// Number of calls reported after a failure.
const REPORTED: usize = 40;

/// One of the 44 functions of FMI 2.0 or the 75 of FMI 3.0: those that act on an instance, and those
/// that do not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Function {
    On(Call),
    Instantiate,
    GetVersion,
    GetTypesPlatform,
    Of3(Call3),
    InstantiateModelExchange,
    InstantiateCoSimulation,
    InstantiateScheduledExecution,
    GetVersion3,
}

/// Number of functions of FMI 2.0.
const OF_2: usize = Call::ALL.len() + 3;
pub const FUNCTIONS: usize = OF_2 + Call3::ALL.len() + 4;

impl Function {
    fn index(self) -> usize {
        match self {
            Self::On(call) => call as usize,
            Self::Instantiate => Call::ALL.len(),
            Self::GetVersion => Call::ALL.len() + 1,
            Self::GetTypesPlatform => Call::ALL.len() + 2,
            Self::Of3(call) => OF_2 + call as usize,
            Self::InstantiateModelExchange => OF_2 + Call3::ALL.len(),
            Self::InstantiateCoSimulation => OF_2 + Call3::ALL.len() + 1,
            Self::InstantiateScheduledExecution => OF_2 + Call3::ALL.len() + 2,
            Self::GetVersion3 => OF_2 + Call3::ALL.len() + 3,
        }
    }

    fn all() -> impl Iterator<Item = Self> {
        let on = Call::ALL.iter().map(|&call| Self::On(call));
        let of_2 = on.chain([Self::Instantiate, Self::GetVersion, Self::GetTypesPlatform]);
        let of_3 = Call3::ALL.iter().map(|&call| Self::Of3(call));
        of_2.chain(of_3).chain([
            Self::InstantiateModelExchange,
            Self::InstantiateCoSimulation,
            Self::InstantiateScheduledExecution,
            Self::GetVersion3,
        ])
    }

    fn standard(self) -> Standard {
        if self.index() < OF_2 {
            Standard::Fmi2
        } else {
            Standard::Fmi3
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::On(call) => call.name(),
            Self::Instantiate => "fmi2Instantiate",
            Self::GetVersion => "fmi2GetVersion",
            Self::GetTypesPlatform => "fmi2GetTypesPlatform",
            Self::Of3(call) => call.name(),
            Self::InstantiateModelExchange => "fmi3InstantiateModelExchange",
            Self::InstantiateCoSimulation => "fmi3InstantiateCoSimulation",
            Self::InstantiateScheduledExecution => "fmi3InstantiateScheduledExecution",
            Self::GetVersion3 => "fmi3GetVersion",
        }
    }
}

/// Counts of OK, discarded and error of each function.
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

    /// Returns how often a function returned `fmi2Error`.
    pub fn errors(&self, call: Call) -> u64 {
        self.counts(Function::On(call))[2]
    }

    pub fn calls(&self) -> u64 {
        Function::all()
            .map(|function| self.counts(function).iter().sum::<u64>())
            .sum()
    }

    /// Returns the counts of a standard's functions as lines of a table.
    pub fn table(&self, standard: Standard) -> String {
        let mut table = format!("{:34} {:>10} {:>10} {:>10}\n", "", "OK", "discarded", "error");
        for function in Function::all().filter(|function| function.standard() == standard) {
            let [ok, discard, error] = self.counts(function);
            let _ = writeln!(table, "{:34} {ok:>10} {discard:>10} {error:>10}", function.name());
        }
        table
    }

    /// Returns the functions of a standard that never succeeded, or never gave an error, although they
    /// can.
    pub fn missing(&self, standard: Standard) -> Vec<String> {
        let mut missing = Vec::new();
        for function in Function::all().filter(|function| function.standard() == standard) {
            let [ok, _, error] = self.counts(function);
            // No step can be cancelled, and no status is an integer or a string.
            let none = [Call::CancelStep, Call::GetIntegerStatus, Call::GetStringStatus].map(Function::On);
            let is_absent = match function {
                Function::Of3(call) => !call.rule().never.is_empty(),
                function => none.contains(&function) || function == Function::InstantiateScheduledExecution,
            };
            if ok == 0 && !is_absent {
                missing.push(format!("{} has never succeeded", function.name()));
            }
            // These functions return no status, or accept null.
            let has_error = !matches!(
                function,
                Function::GetVersion
                    | Function::GetTypesPlatform
                    | Function::GetVersion3
                    | Function::On(Call::FreeInstance)
                    | Function::Of3(Call3::FreeInstance)
            );
            if error == 0 && has_error {
                missing.push(format!("{} has never given an error", function.name()));
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
    /// Number of the sequence in progress.
    pub sequence: AtomicU64,
    /// Start of the call in progress, in ms since `start`, plus one; zero if there is none.
    began: AtomicU64,
}

impl<'a> Journal<'a> {
    pub fn new(tally: &'a Tally) -> Self {
        Self {
            tally,
            start: Instant::now(),
            last: Mutex::new(VecDeque::with_capacity(REPORTED)),
            sequence: AtomicU64::new(0),
            began: AtomicU64::new(0),
        }
    }

    /// Makes a call; `text` describes its arguments.
    pub fn call(&self, function: Function, text: String, call: impl FnOnce() -> fmi2Status) -> fmi2Status {
        {
            let mut last = self.last.lock().expect("no thread fails in here");
            if last.len() == REPORTED {
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

    /// Adds a line to the record of calls.
    pub fn note(&self, text: String) {
        let mut last = self.last.lock().expect("no thread fails in here");
        if last.len() == REPORTED {
            last.pop_front();
        }
        last.push_back(text);
    }

    /// Begins another sequence: clears the record.
    pub fn begin(&self, sequence: u64) {
        self.sequence.store(sequence, Ordering::Relaxed);
        self.last.lock().expect("no thread fails in here").clear();
    }

    /// Returns the last calls, one line each.
    pub fn last(&self) -> String {
        let last = self.last.lock().expect("no thread fails in here");
        last.iter().map(|line| format!("    {line}\n")).collect()
    }

    fn now(&self) -> u64 {
        self.start.elapsed().as_millis() as u64 + 1
    }

    /// Returns the duration of the call in progress, s; zero if there is none.
    pub fn waiting(&self) -> f64 {
        match self.began.load(Ordering::Relaxed) {
            0 => 0.0,
            began => self.now().saturating_sub(began) as f64 * 1e-3,
        }
    }
}
