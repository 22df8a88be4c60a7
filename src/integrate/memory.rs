//! Integrator state carried from step to step.

use super::Settings;
use super::control::StepHistory;
use super::method::Method;
use super::method_selection::MethodSelection;
use super::numbers::{InvalidMemory, Numbers};

/// Integrator state carried from step to step: together with `t` and `x` it determines every bit of
/// the subsequent run.
///
/// Explicit methods and the Rosenbrock-W method store a few numbers. Implicit methods also store
/// their Jacobian and the last step's polynomial, `n² + 3n` numbers for `n` states
/// ([`Method::ImplicitMidpoint`]: `n² + n`; [`Method::LinearlyImplicit`]: `n`, the last midpoint
/// derivative; [`Method::Conserving`]: `m² + m` for `m` midpoint rates): these are reused over many
/// steps, and their evaluation after a restore would not be bit-identical. The factors of the
/// Newton matrices follow from the Jacobian and the step size and are not stored. [`Method::Auto`]
/// stores what its methods do.
#[derive(Debug, PartialEq)]
pub struct Memory {
    pub(super) step_history: StepHistory,
    pub(super) newton: Newton,
    pub(super) method_selection: MethodSelection,
    /// `∂f/∂x`, column-major; empty for methods without Newton's iteration.
    pub(super) jacobian: Vec<f64>,
    /// Rows of the last step's polynomial, or its midpoint rates or derivative: the source of the
    /// next step's starting values; empty for methods without them.
    pub(super) rows: Vec<f64>,
}

/// State of Newton's iteration.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Newton {
    /// Validity of the Jacobian.
    pub jacobian: Age,
    /// Step size in the Newton matrices; zero if there are no matrices.
    pub matrix_step: f64,
    /// `Θ/(1 − Θ)` with the contraction rate `Θ` of the last iteration: the remaining error
    /// relative to the last correction.
    pub eta: f64,
    /// Start time of the last accepted step.
    pub t0: f64,
    /// Length of the last accepted step; zero if there is none, and then no data in `rows`.
    pub h: f64,
    /// Norm of the last correction that was round-off, with this Jacobian; zero if there was none.
    /// Used by [`Method::Conserving`] only.
    pub floor: f64,
}

/// Validity of a Jacobian.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Age {
    /// Invalid: the next attempt evaluates a new one.
    None,
    /// Evaluated in an earlier step.
    Old,
    /// Evaluated in the current step.
    Fresh,
}

impl Age {
    const ALL: [Age; 3] = [Age::None, Age::Old, Age::Fresh];
}

impl Newton {
    /// The state without stored data.
    pub const UNKNOWN: Newton = Newton {
        jacobian: Age::None,
        matrix_step: 0.0,
        eta: 1.0,
        t0: 0.0,
        h: 0.0,
        floor: 0.0,
    };

    /// Largest admissible [`floor`](Self::floor).
    pub const HIGHEST_FLOOR: f64 = 1e6 * f64::EPSILON;

    /// Number of stored values.
    const COUNT: usize = 6;

    fn numbers(&self) -> [f64; Self::COUNT] {
        [
            f64::from(self.jacobian as u8),
            self.matrix_step,
            self.eta,
            self.t0,
            self.h,
            self.floor,
        ]
    }

    /// Reads the values of [`numbers`](Self::numbers).
    fn read(numbers: &mut Numbers) -> Result<Newton, InvalidMemory> {
        Ok(Newton {
            jacobian: Age::ALL[numbers.count(0..=2)? as usize],
            matrix_step: numbers.not_negative()?,
            // A contraction rate below 0.99 gives an `eta` below 99.
            eta: numbers.within(0.0..=100.0)?,
            t0: numbers.within(f64::MIN..=f64::MAX)?,
            h: numbers.not_negative()?,
            floor: numbers.within(0.0..=Self::HIGHEST_FLOOR)?,
        })
    }
}

/// Number of stored values without the vectors `jacobian` and `rows`.
const NUMBERS: usize = StepHistory::COUNT + Newton::COUNT + MethodSelection::COUNT;

impl Memory {
    /// Creates the memory of a run that has not started.
    pub fn new(settings: &Settings) -> Memory {
        let [jacobian, rows] = vectors(settings);
        Memory {
            step_history: StepHistory::START,
            newton: Newton::UNKNOWN,
            method_selection: match settings.method {
                Method::Auto(alternatives) => MethodSelection::start(alternatives),
                _ => MethodSelection::START,
            },
            jacobian: vec![0.0; jacobian],
            rows: vec![0.0; rows],
        }
    }

    /// Returns the number of stored values, which depends on the settings only.
    pub fn size(&self) -> usize {
        NUMBERS + self.jacobian.len() + self.rows.len()
    }

    /// Returns the number of stored values for these settings.
    pub(super) fn size_for(settings: &Settings) -> usize {
        NUMBERS + vectors(settings).iter().sum::<usize>()
    }

    /// Returns the data by which another run can take the next step: all but Newton's starting
    /// values and an invalid Jacobian.
    pub fn before_step(&self) -> Memory {
        let is_valid = self.newton.jacobian != Age::None;
        Memory {
            jacobian: if is_valid { self.jacobian.clone() } else { Vec::new() },
            rows: Vec::new(),
            ..*self
        }
    }

    /// Prepares a step of the length `h`, whose [natural](super::Step::natural) length is given, by the
    /// memory of another run [before](Self::before_step) that step. Newton's starting values stay.
    pub fn follow(&mut self, other: &Memory, h: f64, natural: f64) {
        self.step_history = StepHistory {
            h_next: h,
            followed: natural,
            rejected: false,
            ..other.step_history
        };
        self.newton = other.newton;
        self.method_selection = other.method_selection;
        if !other.jacobian.is_empty() {
            self.jacobian.copy_from_slice(&other.jacobian);
        }
    }

    /// Makes the next step one of DOPRI5, if this method is in use: no pair of lower order replaces
    /// it.
    pub fn end_short_steps(&mut self) {
        self.method_selection.short = 0.0;
    }

    /// Makes the next step evaluate a new Jacobian, after a sudden change of the equations. An old
    /// one that is stiffer than the equations would suppress the error estimate.
    pub fn invalidate_jacobian(&mut self) {
        self.newton.jacobian = Age::None;
    }

    /// Returns the memory as plain numbers, for a saved state.
    pub fn numbers(&self) -> impl Iterator<Item = f64> {
        let (step_history, newton, method_selection) = (
            self.step_history.numbers(),
            self.newton.numbers(),
            self.method_selection.numbers(),
        );
        let vectors = self.jacobian.iter().chain(&self.rows).copied();
        step_history
            .into_iter()
            .chain(newton)
            .chain(method_selection)
            .chain(vectors)
    }

    /// Restores, bit-identically, the values of [`numbers`](Memory::numbers) of a memory with the
    /// same settings.
    ///
    /// # Errors
    ///
    /// If the number of values differs or a value is invalid. The memory is then unchanged.
    pub fn restore(&mut self, numbers: &[f64]) -> Result<(), InvalidMemory> {
        if numbers.len() != self.size() {
            return Err(InvalidMemory::Length {
                expected: self.size(),
                found: numbers.len(),
            });
        }
        let mut numbers = Numbers::new(numbers);
        let step_history = StepHistory::read(&mut numbers)?;
        let newton = Newton::read(&mut numbers)?;
        let method_selection = MethodSelection::read(&mut numbers)?;
        let (jacobian, rows) = numbers.rest()?.split_at(self.jacobian.len());
        (self.step_history, self.newton, self.method_selection) = (step_history, newton, method_selection);
        self.jacobian.copy_from_slice(jacobian);
        self.rows.copy_from_slice(rows);
        Ok(())
    }
}

/// Returns the lengths of the vectors `jacobian` and `rows`.
fn vectors(settings: &Settings) -> [usize; 2] {
    let n = settings.n_states();
    match settings.method() {
        Method::Dopri5 | Method::BogackiShampine | Method::Dop853 | Method::Rk4 { .. } | Method::Rosenbrock => [0, 0],
        Method::ImplicitMidpoint { .. } => [n * n, n],
        Method::LinearlyImplicit { .. } => [0, n],
        Method::Conserving { rates, .. } => [rates * rates, rates],
        Method::Auto(with) if !with.radau5 => [0, 0],
        Method::Radau5 | Method::Auto(_) => [n * n, 3 * n],
    }
}

impl Clone for Memory {
    fn clone(&self) -> Memory {
        Memory {
            jacobian: self.jacobian.clone(),
            rows: self.rows.clone(),
            ..*self
        }
    }

    /// Copies between memories of the same settings without allocation.
    fn clone_from(&mut self, source: &Memory) {
        (self.step_history, self.newton, self.method_selection) =
            (source.step_history, source.newton, source.method_selection);
        self.jacobian.clone_from(&source.jacobian);
        self.rows.clone_from(&source.rows);
    }
}
