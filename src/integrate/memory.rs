//! What an integrator must remember from step to step.

use super::Settings;
use super::control::Pace;
use super::method::Method;
use super::numbers::{InvalidMemory, Numbers};
use super::watch::Watch;

/// What an integrator must remember from step to step: with `t` and `x` it determines every bit
/// of the run that follows.
///
/// The explicit methods remember a few numbers. The implicit ones remember their Jacobian and the last step's
/// polynomial as well, `n² + 3n` numbers for `n` states (with [`Method::ImplicitMidpoint`] `n² + n`; with [`Method::LinearlyImplicit`] `n`, the last middle's derivative; [`Method::Conserving`] `m² + m` for `m` mean rates): they are used
/// over many steps, and a run that had to make them anew after each restoring would not have the same bits.
/// The factors of the Newton matrices follow from the Jacobian and a step's length, and are not remembered.
#[derive(Debug, PartialEq)]
pub struct Memory {
    pub(super) pace: Pace,
    pub(super) newton: Newton,
    pub(super) watch: Watch,
    /// `∂f/∂x` column by column; empty for explicit methods.
    pub(super) jacobian: Vec<f64>,
    /// The rows of the last step's polynomial, or its mean rates or derivatives, from which the next step's starting values are extrapolated; empty
    /// for explicit methods.
    pub(super) rows: Vec<f64>,
}

/// What Newton's iteration remembers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Newton {
    /// What the Jacobian is good for.
    pub jacobian: Age,
    /// The step for which the Newton matrices are made; zero: none.
    pub matrix_step: f64,
    /// `Θ/(1 − Θ)` with the last rate of convergence `Θ`: how much of a correction is still to come.
    pub eta: f64,
    /// Where the last step began.
    pub t0: f64,
    /// How long it was; zero: no polynomial.
    pub h: f64,
    /// Corrections by these matrices that were round-off; zero: none was yet.
    pub floor: f64,
}

/// What a Jacobian is good for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Age {
    /// Nothing: the next attempt takes a new one.
    None,
    /// It is that of an earlier step.
    Old,
    /// It is that of the point from which the step is tried.
    Fresh,
}

impl Age {
    const ALL: [Age; 3] = [Age::None, Age::Old, Age::Fresh];
}

impl Newton {
    /// Nothing is remembered.
    pub const UNKNOWN: Newton = Newton {
        jacobian: Age::None,
        matrix_step: 0.0,
        eta: 1.0,
        t0: 0.0,
        h: 0.0,
        floor: 0.0,
    };

    /// The largest [`floor`](Self::floor).
    pub const HIGHEST_FLOOR: f64 = 1e6 * f64::EPSILON;

    /// How many numbers it has.
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

    /// Reads what [`numbers`](Self::numbers) gives.
    fn read(numbers: &mut Numbers) -> Result<Newton, InvalidMemory> {
        Ok(Newton {
            jacobian: Age::ALL[usize::from(numbers.count(0..=2)?)],
            matrix_step: numbers.not_negative()?,
            // Of a rate below 0.99.
            eta: numbers.within(0.0..=100.0)?,
            t0: numbers.within(f64::MIN..=f64::MAX)?,
            h: numbers.not_negative()?,
            floor: numbers.within(0.0..=Self::HIGHEST_FLOOR)?,
        })
    }
}

/// How many numbers a memory has besides its vectors.
const NUMBERS: usize = Pace::COUNT + Newton::COUNT + Watch::COUNT;

impl Memory {
    /// The memory of a run with these settings that has not started.
    pub fn new(settings: &Settings) -> Memory {
        let [jacobian, rows] = vectors(settings);
        Memory {
            pace: Pace::START,
            newton: Newton::UNKNOWN,
            watch: Watch::START,
            jacobian: vec![0.0; jacobian],
            rows: vec![0.0; rows],
        }
    }

    /// How many numbers hold this memory: the same for all memories of the same settings.
    pub fn size(&self) -> usize {
        NUMBERS + self.jacobian.len() + self.rows.len()
    }

    /// How many numbers hold a memory of these settings.
    pub(super) fn size_for(settings: &Settings) -> usize {
        NUMBERS + vectors(settings).iter().sum::<usize>()
    }

    /// The memory as plain numbers, for a saved state.
    pub fn numbers(&self) -> impl Iterator<Item = f64> {
        let (pace, newton, watch) = (self.pace.numbers(), self.newton.numbers(), self.watch.numbers());
        let vectors = self.jacobian.iter().chain(&self.rows).copied();
        pace.into_iter().chain(newton).chain(watch).chain(vectors)
    }

    /// Becomes the memory of the same settings that [`numbers`](Memory::numbers) gave, with identical bits.
    ///
    /// # Errors
    ///
    /// When there are more or fewer numbers, or one that no run can have. The memory is then unchanged.
    pub fn restore(&mut self, numbers: &[f64]) -> Result<(), InvalidMemory> {
        if numbers.len() != self.size() {
            return Err(InvalidMemory::Length {
                expected: self.size(),
                found: numbers.len(),
            });
        }
        let mut numbers = Numbers::new(numbers);
        let pace = Pace::read(&mut numbers)?;
        let newton = Newton::read(&mut numbers)?;
        let watch = Watch::read(&mut numbers)?;
        let (jacobian, rows) = numbers.rest()?.split_at(self.jacobian.len());
        (self.pace, self.newton, self.watch) = (pace, newton, watch);
        self.jacobian.copy_from_slice(jacobian);
        self.rows.copy_from_slice(rows);
        Ok(())
    }
}

/// Lengths of the Jacobian and of the rows.
fn vectors(settings: &Settings) -> [usize; 2] {
    let n = settings.n_states();
    match settings.method() {
        Method::Dopri5 | Method::Dop853 | Method::Rk4 { .. } => [0, 0],
        Method::ImplicitMidpoint { .. } => [n * n, n],
        Method::LinearlyImplicit { .. } => [0, n],
        Method::Conserving { rates, .. } => [rates * rates, rates],
        Method::Radau5 | Method::Auto => [n * n, 3 * n],
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

    /// Copies without taking room, between memories of the same settings.
    fn clone_from(&mut self, source: &Memory) {
        (self.pace, self.newton, self.watch) = (source.pace, source.newton, source.watch);
        self.jacobian.clone_from(&source.jacobian);
        self.rows.clone_from(&source.rows);
    }
}
