//! An instance's state, as a copy and as bytes (§2.1.8).
//!
//! Bytes, all numbers little-endian:
//!
//! | content | bytes |
//! |---|---|
//! | `"GRAPPLE\0"`, layout version | 8 + 4 |
//! | interface, mode, started, parameters pending, events (1: restarted, 2: one is pending, 4: handled) | 5 × 1 |
//! | GUID | 16 |
//! | number of all bytes | 8 |
//! | counts of states, inputs, input derivative orders, numbers of the discrete state, numbers of the integrator's memory (none in Model Exchange), parameters | 6 × 4 |
//! | start, stop (NaN: none), tolerance (NaN: none), time | 4 × 8 |
//! | numbers that the run's monitoring keeps | 4 × 8 |
//! | states, inputs, input derivatives order by order, discrete state, integrator's memory, parameters | 8 each |
//! | first 128 bits of SHA-256 over all preceding bytes | 16 |

use super::guid::Guid;
use super::lifecycle::{Interface, Mode};
use crate::plant::Model;
use crate::simulation::{DueEvent, State};
use sha2::{Digest, Sha256};

const MAGIC: [u8; 8] = *b"GRAPPLE\0";
/// Incremented whenever the layout above changes.
const LAYOUT: u32 = 6;
const HEADER: usize = 8 + 4 + 5 + 16 + 8 + 6 * 4 + 4 * 8 + 4 * 8;
const CHECKSUM: usize = 16;

/// Arguments of `fmi2SetupExperiment` (§2.1.6).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Experiment {
    /// Start time, s.
    pub start: f64,
    /// Stop time, s, if defined.
    pub stop: Option<f64>,
    /// Relative tolerance, if defined.
    pub tolerance: Option<f64>,
}

impl Experiment {
    /// Validates the arguments.
    ///
    /// # Errors
    /// A message for a start time that is not finite, a tolerance that is not positive and finite,
    /// or a stop time that is NaN or before the start.
    pub fn validate(&self) -> Result<(), String> {
        let Self { start, stop, tolerance } = *self;
        if !start.is_finite() {
            return Err(format!("the start time {start} is not finite"));
        }
        if let Some(tolerance) = tolerance.filter(|t| !(t.is_finite() && *t > 0.0)) {
            return Err(format!("the tolerance {tolerance} is not positive"));
        }
        match stop.filter(|stop| stop.is_nan() || *stop < start) {
            Some(stop) => Err(format!("the stop time {stop} s is before the start time {start} s")),
            None => Ok(()),
        }
    }
}

/// Index of the integrator's memory in the counts of the header.
const MEMORY: usize = 4;

/// The complete state of an instance: another instance of the same FMU continues from it with
/// identical bits.
#[derive(Clone, Debug, PartialEq)]
pub struct SavedState {
    pub(super) guid: Guid,
    pub(super) interface: Interface,
    pub(super) mode: Mode,
    pub(super) started: bool,
    pub(super) parameters_pending: bool,
    pub(super) restarted: bool,
    pub(super) experiment: Experiment,
    pub(super) parameters: Vec<f64>,
    pub(super) state: State,
}

impl SavedState {
    /// Returns the state of the run without parameters.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// Returns the number of bytes of the serialised state.
    pub fn serialized_size(&self) -> usize {
        size(self.counts())
    }

    fn counts(&self) -> [usize; 6] {
        let state = &self.state;
        [
            state.x.len(),
            state.u.len(),
            state.u_derivatives.len(),
            state.discrete.size(),
            match self.interface {
                // The importer integrates.
                Interface::ModelExchange => 0,
                Interface::CoSimulation => state.memory.size(),
            },
            self.parameters.len(),
        ]
    }

    /// Returns the state as bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let counts = self.counts();
        let total = size(counts);
        let mut bytes = Vec::with_capacity(total);
        bytes.extend(MAGIC);
        bytes.extend(LAYOUT.to_le_bytes());
        bytes.extend([
            self.interface as u8,
            self.mode as u8,
            u8::from(self.started),
            u8::from(self.parameters_pending),
            u8::from(self.restarted) | (self.state.due as u8) << 1,
        ]);
        bytes.extend(self.guid.0);
        bytes.extend((total as u64).to_le_bytes());
        for count in counts {
            bytes.extend((count as u32).to_le_bytes());
        }
        let Experiment { start, stop, tolerance } = self.experiment;
        let state = &self.state;
        let scalars = [start, stop.unwrap_or(f64::NAN), tolerance.unwrap_or(f64::NAN), state.t];
        let inputs = std::iter::once(&state.u).chain(&state.u_derivatives);
        let monitored = state.monitored.numbers();
        let numbers = scalars.iter().chain(&monitored).chain(&state.x).chain(inputs.flatten());
        numbers.for_each(|number| bytes.extend(number.to_le_bytes()));
        state.discrete.write(&mut |number| bytes.extend(number.to_le_bytes()));
        let memory = state.memory.numbers().take(counts[MEMORY]);
        for number in memory.chain(self.parameters.iter().copied()) {
            bytes.extend(number.to_le_bytes());
        }
        let checksum = checksum(&bytes);
        bytes.extend(checksum);
        bytes
    }

    /// Returns the GUID and the interface of the FMU of which these bytes are a state, by
    /// their first part only; `None` if they are no saved state.
    pub fn owner(bytes: &[u8]) -> Option<(Guid, Interface)> {
        let mut reader = Reader(bytes);
        reader.take::<8>().filter(|magic| *magic == MAGIC)?;
        reader.u32()?;
        let [interface, ..] = reader.take::<5>()?;
        let mut interfaces = [Interface::ModelExchange, Interface::CoSimulation].into_iter();
        let interface = interfaces.find(|own| *own as u8 == interface)?;
        Some((Guid(reader.take()?), interface))
    }

    /// Reads the bytes of a saved state into `own`, the present state of the instance that reads
    /// them. The expected lengths are those of `own`, so that no length in the bytes determines an
    /// allocation.
    ///
    /// # Errors
    /// The reason why the bytes are not a state of this FMU and interface.
    pub fn from_bytes(bytes: &[u8], mut own: Self, model: &Model) -> Result<Self, String> {
        let expected = own.serialized_size();
        let mut reader = Reader(bytes);
        if reader.take::<8>() != Some(MAGIC) {
            return Err("these bytes are not a saved state: the signature is missing".to_owned());
        }
        let cut = || format!("the saved state is cut short: {} bytes", bytes.len());
        let damaged = || "the saved state is damaged".to_owned();
        let layout = reader.u32().ok_or_else(cut)?;
        if layout != LAYOUT {
            return Err(format!(
                "the saved state has layout {layout}; this library reads layout {LAYOUT}"
            ));
        }
        let [interface, mode, started, parameters_pending, events] = reader.take::<5>().ok_or_else(cut)?;
        let guid = Guid(reader.take().ok_or_else(cut)?);
        let mut interfaces = [Interface::ModelExchange, Interface::CoSimulation].into_iter();
        let interface = interfaces.find(|own| *own as u8 == interface).ok_or_else(damaged)?;
        fits((guid, interface), (own.guid, own.interface))?;
        let total = reader.take().map(u64::from_le_bytes).ok_or_else(cut)?;
        if bytes.len() != expected || total != expected as u64 {
            return Err(format!(
                "the saved state has {} bytes and declares {total}; a state of this FMU has {expected}",
                bytes.len()
            ));
        }
        let (content, sum) = bytes.split_at(expected - CHECKSUM);
        if checksum(content) != sum {
            return Err(damaged() + ": its checksum does not match");
        }
        for count in own.counts() {
            if reader.u32().ok_or_else(cut)? as usize != count {
                return Err("the saved state has other numbers of states, inputs or parameters".to_owned());
            }
        }
        let mut modes = Mode::ALL.into_iter().filter(|mode| mode.belongs_to(interface));
        own.mode = modes.find(|own| *own as u8 == mode).ok_or_else(damaged)?;
        own.started = started != 0;
        own.parameters_pending = parameters_pending != 0;
        own.restarted = events & 1 != 0;
        let dues = [DueEvent::Unknown, DueEvent::Pending, DueEvent::Handled];
        own.state.due = *dues.get(usize::from(events >> 1)).ok_or_else(damaged)?;
        let invalid_state = |what: String| format!("the saved state is invalid: {what}");
        let (memory, is_possible) = own.read_numbers(&mut reader, model).ok_or_else(cut)?;
        if !memory.is_empty() {
            let restored = own.state.memory.restore(&memory);
            restored.map_err(|invalid| invalid_state(invalid.to_string()))?;
        }
        own.validate().map_err(invalid_state)?;
        if !is_possible {
            return Err(invalid_state("no run of this model has its discrete state".to_owned()));
        }
        Ok(own)
    }

    /// Reads all numbers after the counts into `self`, except those of the integrator's memory,
    /// which it returns. The second result is true if a run of the model can have the discrete
    /// state. Returns `None` if the bytes end too early.
    fn read_numbers(&mut self, reader: &mut Reader, model: &Model) -> Option<(Vec<f64>, bool)> {
        let defined = |x: f64| Some(x).filter(|x| !x.is_nan());
        self.experiment = Experiment {
            start: reader.f64()?,
            stop: defined(reader.f64()?),
            tolerance: defined(reader.f64()?),
        };
        let mut memory = vec![0.0; self.counts()[MEMORY]];
        let state = &mut self.state;
        state.t = reader.f64()?;
        for number in state.monitored.numbers_mut() {
            *number = reader.f64()?;
        }
        let inputs = std::iter::once(&mut state.u).chain(&mut state.u_derivatives);
        for number in state.x.iter_mut().chain(inputs.flatten()) {
            *number = reader.f64()?;
        }
        let mut numbers = Vec::with_capacity(state.discrete.size());
        for _ in 0..state.discrete.size() {
            numbers.push(reader.f64()?);
        }
        let mut numbers = numbers.into_iter();
        let is_possible = state
            .discrete
            .read(&model.elements, &mut || numbers.next().unwrap_or(f64::NAN));
        for number in memory.iter_mut().chain(&mut self.parameters) {
            *number = reader.f64()?;
        }
        Some((memory, is_possible.is_some()))
    }

    /// Checks the experiment, and that all numbers outside the integrator's memory and the discrete
    /// state are finite.
    fn validate(&self) -> Result<(), String> {
        self.experiment.validate()?;
        let State { t, x, u, monitored, .. } = &self.state;
        let inputs = std::iter::once(u).chain(&self.state.u_derivatives);
        let monitored = monitored.numbers();
        let mut numbers = std::iter::once(t).chain(&monitored).chain(x).chain(inputs.flatten());
        if numbers.all(|x| x.is_finite()) && self.parameters.iter().all(|x| x.is_finite()) {
            Ok(())
        } else {
            Err("it is not finite".to_owned())
        }
    }
}

/// Checks that a state's FMU and interface match those of an instance, `own`.
///
/// # Errors
/// The mismatch, as a message.
pub(super) fn fits((guid, interface): (Guid, Interface), own: (Guid, Interface)) -> Result<(), String> {
    if guid != own.0 {
        return Err(format!(
            "the saved state belongs to another FMU, {guid}; this one is {}",
            own.0
        ));
    }
    if interface != own.1 {
        return Err(
            "a state of one interface cannot be restored in the other (Model Exchange, Co-Simulation)".to_owned(),
        );
    }
    Ok(())
}

fn size([nx, nu, orders, discrete, memory, parameters]: [usize; 6]) -> usize {
    HEADER + 8 * (nx + nu * (1 + orders) + discrete + memory + parameters) + CHECKSUM
}

fn checksum(bytes: &[u8]) -> [u8; CHECKSUM] {
    let mut sum = [0; CHECKSUM];
    for (to, from) in sum.iter_mut().zip(Sha256::digest(bytes)) {
        *to = from;
    }
    sum
}

/// Takes bytes from the front, never past the end.
struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (head, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*head)
    }

    fn u32(&mut self) -> Option<u32> {
        self.take().map(u32::from_le_bytes)
    }

    fn f64(&mut self) -> Option<f64> {
        self.take().map(f64::from_le_bytes)
    }
}
