//! Counts by which [`Method::Auto`](super::Method::Auto) selects its method.

use super::method::Alternatives;
use super::numbers::{InvalidMemory, Numbers};

/// A method among which the selection is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Candidate {
    Dopri5,
    Rosenbrock,
    Radau5,
}

/// Number of steps at the beginning of a trial that are not measured: the step size adapts.
const SETTLING_STEPS: u32 = 3;

/// Number of steps at the end of a trial that are measured.
const MEASURED_STEPS: u32 = 8;

/// A method replaces another if its cost is below this fraction of the other's. The same fraction
/// gives hysteresis, and preference to the higher order.
const ADVANTAGE: f64 = 0.7;

/// Cost of a step in addition to its evaluations (outputs, event indicators, monitoring).
const COST_OF_STEP: f64 = 2.0;

/// Number of steps after which the influence of earlier steps on the cost of the method in use is
/// halved.
const REMEMBERED_STEPS: u32 = 10;

/// Number of unsuccessful trials after which the interval to the next one no longer increases.
const MAX_FAILURES: u8 = 6;

/// A trial ends after a step whose cost per time exceeds this multiple of that of the method before.
const FAR: f64 = 4.0;

/// Decrease, in each step, of the longest step that the limits have allowed.
const FORGET: f64 = 0.9;

/// Cost in evaluations, and the time integrated at this cost.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Cost {
    evaluations: f64,
    time: f64,
}

impl Cost {
    const ZERO: Cost = Cost {
        evaluations: 0.0,
        time: 0.0,
    };

    /// Returns the cost per time; infinite before the first step.
    fn rate(self) -> f64 {
        if self.time > 0.0 {
            self.evaluations / self.time
        } else {
            f64::INFINITY
        }
    }
}

/// State of the selection.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct MethodSelection {
    /// Method in use.
    pub method: Candidate,
    /// If the method in use is on trial: the method before.
    pub before: Option<Candidate>,
    /// Length of the next step of the method before.
    pub h_before: f64,
    /// Steps of the trial; otherwise the number of steps in `cost`.
    steps: u32,
    /// Cost of all steps of the trial.
    spent: f64,
    /// Cost of the method in use.
    cost: Cost,
    /// Cost of the method before.
    cost_before: Cost,
    /// For each method: cost since its last trial, of steps for which another method may be better.
    waited: [f64; 3],
    /// For each method: consecutive unsuccessful trials.
    failures: [u8; 3],
    /// For each method: cost per time at its last use, infinite after a trial that was cut short;
    /// zero before the first use.
    measured: [f64; 3],
    /// Longest step that the limits have allowed recently.
    longest: f64,
    /// Longest step that may be taken with the pair of order 3(2) in place of DOPRI5.
    pub short: f64,
}

impl Candidate {
    const ALL: [Candidate; 3] = [Candidate::Dopri5, Candidate::Rosenbrock, Candidate::Radau5];

    /// Returns the cost of one evaluation with `n` states, including the solution of linear systems
    /// (as measured by `cargo bench --bench defaults`, 22 to 156 states).
    fn weight(self, n: usize) -> f64 {
        match self {
            Candidate::Dopri5 | Candidate::Rosenbrock => 1.0,
            Candidate::Radau5 => 1.0 + n as f64 / 250.0,
        }
    }

    /// Returns the usual cost of a step without rejections and with one iteration: RADAU5 evaluates
    /// three stages and the derivatives at both ends.
    fn least_cost(self, n: usize) -> f64 {
        let evaluations = match self {
            Candidate::Dopri5 => 6.0,
            Candidate::Rosenbrock => 4.0,
            Candidate::Radau5 => 5.0,
        };
        evaluations * self.weight(n) + COST_OF_STEP
    }

    /// Returns the expected cost of a trial.
    fn cost_of_trial(self, n: usize) -> f64 {
        let jacobian = match self {
            Candidate::Dopri5 | Candidate::Rosenbrock => 0.0,
            Candidate::Radau5 => n as f64 * self.weight(n),
        };
        jacobian + f64::from(SETTLING_STEPS + MEASURED_STEPS) * self.least_cost(n)
    }
}

impl Alternatives {
    /// Returns true if `candidate` may be selected.
    fn contain(self, candidate: Candidate) -> bool {
        match candidate {
            Candidate::Dopri5 => true,
            Candidate::Rosenbrock => self.rosenbrock,
            Candidate::Radau5 => self.radau5,
        }
    }
}

impl MethodSelection {
    /// Initial state: DOPRI5.
    pub const START: MethodSelection = MethodSelection {
        method: Candidate::Dopri5,
        before: None,
        h_before: 0.0,
        steps: 0,
        spent: 0.0,
        cost: Cost::ZERO,
        cost_before: Cost::ZERO,
        waited: [0.0; 3],
        failures: [0; 3],
        measured: [0.0; 3],
        longest: 0.0,
        short: 0.0,
    };

    /// Returns the initial state with these alternatives.
    pub fn start(alternatives: Alternatives) -> MethodSelection {
        MethodSelection {
            method: match alternatives.rosenbrock && alternatives.vibrates {
                true => Candidate::Rosenbrock,
                false => Candidate::Dopri5,
            },
            ..MethodSelection::START
        }
    }

    /// Number of stored values.
    pub const COUNT: usize = 20;

    pub fn numbers(&self) -> [f64; Self::COUNT] {
        let [waited_0, waited_1, waited_2] = self.waited;
        let [measured_0, measured_1, measured_2] = self.measured;
        let [failures_0, failures_1, failures_2] = self.failures.map(f64::from);
        [
            f64::from(self.method as u8),
            self.before.map_or(0.0, |method| f64::from(method as u8 + 1)),
            self.h_before,
            f64::from(self.steps),
            self.spent,
            self.cost.evaluations,
            self.cost.time,
            self.cost_before.evaluations,
            self.cost_before.time,
            waited_0,
            waited_1,
            waited_2,
            failures_0,
            failures_1,
            failures_2,
            measured_0,
            measured_1,
            measured_2,
            self.longest,
            self.short,
        ]
    }

    /// Reads the values of [`numbers`](Self::numbers).
    pub fn read(numbers: &mut Numbers) -> Result<MethodSelection, InvalidMemory> {
        let cost = |numbers: &mut Numbers| {
            Ok(Cost {
                evaluations: numbers.not_negative()?,
                time: numbers.not_negative()?,
            })
        };
        Ok(MethodSelection {
            method: Candidate::ALL[numbers.count(0..=2)? as usize],
            before: match numbers.count(0..=3)? {
                0 => None,
                i => Some(Candidate::ALL[i as usize - 1]),
            },
            h_before: numbers.not_negative()?,
            steps: numbers.count(0..=SETTLING_STEPS + MEASURED_STEPS)?,
            spent: numbers.not_negative()?,
            cost: cost(numbers)?,
            cost_before: cost(numbers)?,
            waited: [
                numbers.not_negative()?,
                numbers.not_negative()?,
                numbers.not_negative()?,
            ],
            failures: {
                let mut next = || Ok(numbers.count(0..=u32::from(MAX_FAILURES))? as u8);
                [next()?, next()?, next()?]
            },
            measured: [
                numbers.not_negative()?,
                numbers.not_negative()?,
                numbers.not_negative()?,
            ],
            longest: numbers.not_negative()?,
            short: numbers.not_negative()?,
        })
    }

    /// Returns true if the methods in use are among these.
    pub fn is_among(&self, alternatives: Alternatives) -> bool {
        alternatives.contain(self.method) && self.before.is_none_or(|method| alternatives.contain(method))
    }

    /// Records the longest step that the limits allow at the current time.
    pub fn allow(&mut self, longest: f64) {
        self.longest = longest.min(f64::MAX).max(self.longest);
    }

    /// Returns the method whose trial is scheduled, with `n` states.
    pub fn scheduled(&self, alternatives: Alternatives, n: usize) -> Option<Candidate> {
        if self.before.is_some() {
            return None;
        }
        Candidate::ALL.into_iter().find(|&candidate| {
            let least = candidate.least_cost(n) / self.longest;
            let failures = self.failures[candidate as usize];
            let is_promising = self.measured[candidate as usize] < ADVANTAGE * self.cost.rate();
            let interval = match failures {
                _ if is_promising => 1.0,
                0 => 1.0,
                _ => 4.0 * f64::from(1_u32 << failures),
            };
            candidate != self.method
                && alternatives.contain(candidate)
                && least < ADVANTAGE * self.cost.rate()
                && self.waited[candidate as usize] >= interval * candidate.cost_of_trial(n)
        })
    }

    /// Begins a trial of `method`; `h` is the length of the next step of the method in use.
    pub fn begin_trial(&mut self, method: Candidate, h: f64) {
        self.before = Some(self.method);
        self.method = method;
        self.h_before = h;
        self.cost_before = self.cost;
        (self.steps, self.spent, self.cost) = (0, 0.0, Cost::ZERO);
        self.waited[method as usize] = 0.0;
    }

    /// Counts an accepted step of length `h` with its `evaluations`. `may_gain` is true if another
    /// method is likely to be better, in steps of a method that is not on trial. Returns the result
    /// of a trial that ends with this step.
    pub fn count(&mut self, h: f64, evaluations: f64, may_gain: bool, n: usize) -> Option<bool> {
        let cost = evaluations * self.method.weight(n) + COST_OF_STEP;
        self.cost.evaluations += cost;
        // Finite, so that it can be read from a saved state.
        self.cost.time = (self.cost.time + h).min(f64::MAX);
        self.steps = self.steps.saturating_add(1);
        self.longest *= FORGET;
        if self.before.is_none() {
            if self.steps >= REMEMBERED_STEPS {
                self.cost.evaluations *= 0.5;
                self.cost.time *= 0.5;
                self.steps /= 2;
            }
            if may_gain {
                self.waited.iter_mut().for_each(|waited| *waited += cost);
            }
            return None;
        }
        self.spent += cost;
        if self.steps == SETTLING_STEPS {
            self.cost = Cost::ZERO;
        }
        if self.steps >= SETTLING_STEPS + MEASURED_STEPS {
            return Some(self.cost.rate() < ADVANTAGE * self.cost_before.rate());
        }
        // The steps of RADAU5 grow in a trial, those of the others are shortened at once.
        let is_far = self.method.least_cost(n) / h > FAR * self.cost_before.rate();
        let spends = self.spent > 3.0 * self.method.cost_of_trial(n);
        ((is_far && self.method != Candidate::Radau5) || spends).then_some(false)
    }

    /// Ends a trial: the method remains in use after `success`, otherwise the method before it
    /// returns.
    pub fn end_trial(&mut self, success: bool) {
        let Some(before) = self.before.take() else {
            return;
        };
        self.measured[before as usize] = self.cost_before.rate().min(f64::MAX);
        let is_complete = self.steps >= SETTLING_STEPS + MEASURED_STEPS;
        let measured = if is_complete { self.cost.rate() } else { f64::INFINITY };
        self.measured[self.method as usize] = measured.min(f64::MAX);
        let unused = if success { before } else { self.method };
        let failures = &mut self.failures[unused as usize];
        *failures = (*failures + 1).min(MAX_FAILURES);
        self.waited[unused as usize] = 0.0;
        if success {
            self.failures[self.method as usize] = 0;
        } else {
            (self.method, self.cost) = (before, self.cost_before);
        }
        (self.steps, self.spent) = (0, 0.0);
    }
}
