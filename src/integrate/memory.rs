//! What an integrator must remember from step to step.

use std::error::Error;
use std::fmt;

use super::Settings;
use super::auto::PATIENCE;
use super::method::Method;

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

/// What the choice of steps remembers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Pace {
    /// The step to try next if no limit were in the way; zero: not chosen yet.
    pub h_next: f64,
    /// The last accepted step that no limit had shortened; zero: none yet.
    pub last_step: f64,
    /// Error norm of that step, at least [`Control::min_error`](super::control::Control::min_error).
    pub last_error: f64,
    /// Whether the attempt before this one was rejected: then the step does not grow.
    pub rejected: bool,
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

/// What [`Method::Auto`] remembers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Watch {
    /// The implicit method is at work.
    pub stiff: bool,
    /// Steps that have spoken for a change of the method.
    pub signs: u8,
    /// Steps in a row, the last one included, that have not.
    pub lulls: u8,
    /// Steps that a fast vibration may have limited.
    pub near: u16,
    /// How many of them are waited for before the implicit method is tried.
    pub patience: u16,
    /// Spectral radius of the Jacobian, 1/s; zero: not computed yet.
    pub radius: f64,
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
}

impl Watch {
    /// A run starts explicit.
    pub const START: Watch = Watch {
        stiff: false,
        signs: 0,
        lulls: 0,
        near: 0,
        patience: PATIENCE,
        radius: 0.0,
    };
}

/// How many numbers a memory has besides its vectors.
const NUMBERS: usize = 16;

impl Memory {
    /// The memory of a run with these settings that has not started.
    pub fn new(settings: &Settings) -> Memory {
        let [jacobian, rows] = vectors(settings);
        Memory {
            pace: Pace {
                h_next: 0.0,
                last_step: 0.0,
                last_error: 1e-4,
                rejected: false,
            },
            newton: Newton::UNKNOWN,
            watch: Watch::START,
            jacobian: vec![0.0; jacobian],
            rows: vec![0.0; rows],
        }
    }

    /// The step that would be tried next if no limit were in the way, or `None` before the first.
    pub fn next_step(&self) -> Option<f64> {
        (self.pace.h_next > 0.0).then_some(self.pace.h_next)
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
        let Memory {
            pace,
            newton,
            watch,
            jacobian,
            rows,
        } = self;
        let scalars: [f64; NUMBERS] = [
            pace.h_next,
            pace.last_step,
            pace.last_error,
            f64::from(u8::from(pace.rejected)),
            f64::from(newton.jacobian as u8),
            newton.matrix_step,
            newton.eta,
            newton.t0,
            newton.h,
            newton.floor,
            f64::from(u8::from(watch.stiff)),
            f64::from(watch.signs),
            f64::from(watch.lulls),
            watch.radius,
            f64::from(watch.near),
            f64::from(watch.patience),
        ];
        scalars.into_iter().chain(jacobian.iter().chain(rows).copied())
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
        if let Some(index) = (0..numbers.len()).find(|&index| !possible(index, numbers[index])) {
            let value = numbers[index];
            return Err(InvalidMemory::Value { index, value });
        }
        let (scalars, vectors) = numbers.split_at(NUMBERS);
        let (jacobian, rows) = vectors.split_at(self.jacobian.len());
        self.pace = Pace {
            h_next: scalars[0],
            last_step: scalars[1],
            last_error: scalars[2],
            rejected: scalars[3] == 1.0,
        };
        self.newton = Newton {
            jacobian: Age::ALL[scalars[4] as usize],
            matrix_step: scalars[5],
            eta: scalars[6],
            t0: scalars[7],
            h: scalars[8],
            floor: scalars[9],
        };
        self.watch = Watch {
            stiff: scalars[10] == 1.0,
            signs: scalars[11] as u8,
            lulls: scalars[12] as u8,
            radius: scalars[13],
            near: scalars[14] as u16,
            patience: scalars[15] as u16,
        };
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

/// Whether a run can have this number in its memory.
fn possible(index: usize, value: f64) -> bool {
    let count = |largest: f64| value.fract() == 0.0 && (0.0..=largest).contains(&value);
    match index {
        // Steps, eta, the floor and the spectral radius.
        0 | 1 | 5 | 6 | 8 | 9 | 13 => value >= 0.0 && value.is_finite(),
        2 => value > 0.0 && value <= 1.0,
        3 | 10 => count(1.0),
        4 => count(2.0),
        11 | 12 => count(f64::from(u8::MAX)),
        14 | 15 => count(f64::from(u16::MAX)),
        _ => value.is_finite(),
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

/// Why numbers are not a memory.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum InvalidMemory {
    /// There are more or fewer numbers than the settings ask for.
    Length {
        /// As many as the settings ask for.
        expected: usize,
        /// As many as were given.
        found: usize,
    },
    /// One number is impossible.
    Value {
        /// Its index.
        index: usize,
        /// Its value.
        value: f64,
    },
}

impl fmt::Display for InvalidMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            InvalidMemory::Length { expected, found } => {
                write!(f, "integrator memory has {found} values instead of {expected}")
            }
            InvalidMemory::Value { index, value } => {
                write!(f, "integrator memory: value {index} cannot be {value:e}")
            }
        }
    }
}

impl Error for InvalidMemory {}
