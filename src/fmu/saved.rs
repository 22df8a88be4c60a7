//! An instance's state, as a copy and as bytes (§2.1.8).
//!
//! Bytes, all numbers little-endian:
//!
//! | what | bytes |
//! |---|---|
//! | `"GRAPPLE\0"`, layout version | 8 + 4 |
//! | interface, mode, started, parameters pending, restarted | 5 × 1 |
//! | GUID | 16 |
//! | length of the whole | 8 |
//! | numbers of states, inputs, input derivative orders, modes, discrete numbers, integrator memory (none in Model Exchange), parameters | 7 × 4 |
//! | start, stop (NaN: none), tolerance (NaN: none), time | 4 × 8 |
//! | what the run is monitored against | 4 × 8 |
//! | states, inputs, input derivatives order by order, discrete numbers, integrator memory, parameters | 8 each |
//! | modes | 4 each |
//! | first 128 bits of SHA-256 over all that | 16 |

use super::guid::Guid;
use super::lifecycle::{Interface, Mode};
use crate::plant::Model;
use crate::simulation::State;
use sha2::{Digest, Sha256};

const MAGIC: [u8; 8] = *b"GRAPPLE\0";
/// Raised whenever the layout above changes.
const LAYOUT: u32 = 5;
const HEADER: usize = 8 + 4 + 5 + 16 + 8 + 7 * 4 + 4 * 8 + 4 * 8;
const CHECKSUM: usize = 16;

/// What `fmi2SetupExperiment` has said (§2.1.6).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Experiment {
    /// Where the run starts, s.
    pub start: f64,
    /// Where it ends, s, if the host has said.
    pub stop: Option<f64>,
    /// Relative tolerance, if the host has said.
    pub tolerance: Option<f64>,
}

impl Experiment {
    /// Judges it.
    ///
    /// # Errors
    /// For what is not a number, a tolerance that is not positive, or a stop before the start.
    pub fn judge(&self) -> Result<(), String> {
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

/// Which of the counts is that of the integrator's memory.
const MEMORY: usize = 5;

/// All that makes an instance's answers: with it another instance of the same FMU goes on with the same bits.
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
    /// How many bytes it makes.
    pub fn serialized_size(&self) -> usize {
        size(self.counts())
    }

    fn counts(&self) -> [usize; 7] {
        let state = &self.state;
        [
            state.x.len(),
            state.u.len(),
            state.u_derivatives.len(),
            state.discrete.modes.len(),
            state.discrete.numbers.len(),
            match self.interface {
                // The host integrates.
                Interface::ModelExchange => 0,
                Interface::CoSimulation => state.memory.size(),
            },
            self.parameters.len(),
        ]
    }

    /// The state as bytes.
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
            u8::from(self.restarted),
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
        let numbers = scalars
            .iter()
            .chain(&monitored)
            .chain(&state.x)
            .chain(inputs.flatten())
            .chain(&state.discrete.numbers)
            .copied()
            .chain(state.memory.numbers().take(counts[MEMORY]))
            .chain(self.parameters.iter().copied());
        for number in numbers {
            bytes.extend(number.to_le_bytes());
        }
        for mode in &state.discrete.modes {
            bytes.extend(mode.to_le_bytes());
        }
        let checksum = checksum(&bytes);
        bytes.extend(checksum);
        bytes
    }

    /// Reads the bytes of a state over `own`, a state of the same instance: the lengths expected are its own, so nothing is allocated on a stranger's word.
    ///
    /// # Errors
    /// Why the bytes are no such state.
    pub fn from_bytes(bytes: &[u8], mut own: Self, model: &Model) -> Result<Self, String> {
        let expected = own.serialized_size();
        let mut reader = Reader(bytes);
        if reader.take::<8>() != Some(MAGIC) {
            return Err("these bytes are no saved state: they do not begin as one".to_owned());
        }
        let cut = || format!("the saved state is cut short: {} bytes", bytes.len());
        let damaged = || "the saved state is damaged".to_owned();
        let layout = reader.u32().ok_or_else(cut)?;
        if layout != LAYOUT {
            return Err(format!(
                "the saved state has layout {layout}; this library reads layout {LAYOUT}"
            ));
        }
        let [interface, mode, started, parameters_pending, restarted] = reader.take::<5>().ok_or_else(cut)?;
        let guid = Guid(reader.take().ok_or_else(cut)?);
        let mut interfaces = [Interface::ModelExchange, Interface::CoSimulation].into_iter();
        let interface = interfaces.find(|own| *own as u8 == interface).ok_or_else(damaged)?;
        fits((guid, interface), (own.guid, own.interface))?;
        let total = reader.take().map(u64::from_le_bytes).ok_or_else(cut)?;
        if bytes.len() != expected || total != expected as u64 {
            return Err(format!(
                "the saved state has {} bytes and says {total}; a state of this FMU has {expected}",
                bytes.len()
            ));
        }
        let (content, sum) = bytes.split_at(expected - CHECKSUM);
        if checksum(content) != sum {
            return Err(damaged() + ": its checksum does not fit");
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
        own.restarted = restarted != 0;
        let memory = own.read_numbers(&mut reader).ok_or_else(cut)?;
        let senseless = |what: String| format!("the saved state makes no sense: {what}");
        if !memory.is_empty() {
            let restored = own.state.memory.restore(&memory);
            restored.map_err(|invalid| senseless(invalid.to_string()))?;
        }
        own.judge(model).map_err(senseless)?;
        Ok(own)
    }

    /// Takes all numbers over but those of the integrator's memory, which it gives.
    fn read_numbers(&mut self, reader: &mut Reader) -> Option<Vec<f64>> {
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
        let numbers = state
            .x
            .iter_mut()
            .chain(inputs.flatten())
            .chain(&mut state.discrete.numbers)
            .chain(&mut memory)
            .chain(&mut self.parameters);
        for number in numbers {
            *number = reader.f64()?;
        }
        for mode in &mut state.discrete.modes {
            *mode = i32::from_le_bytes(reader.take()?);
        }
        Some(memory)
    }

    /// Judges what was read.
    fn judge(&self, model: &Model) -> Result<(), String> {
        self.experiment.judge()?;
        let State { t, x, u, monitored, .. } = &self.state;
        let inputs = std::iter::once(u).chain(&self.state.u_derivatives);
        let monitored = monitored.numbers();
        let numbers = std::iter::once(t).chain(&monitored).chain(x).chain(inputs.flatten());
        let discrete = &self.state.discrete;
        if !numbers
            .chain(&discrete.numbers)
            .chain(&self.parameters)
            .all(|x| x.is_finite())
        {
            return Err("it is not finite".to_owned());
        }
        if discrete.is_possible(model) {
            Ok(())
        } else {
            Err("it has a mode that no run can have".to_owned())
        }
    }
}

/// Whether a state of an FMU and interface can be one of an instance's `own`.
///
/// # Errors
/// Why it cannot.
pub(super) fn fits((guid, interface): (Guid, Interface), own: (Guid, Interface)) -> Result<(), String> {
    if guid != own.0 {
        return Err(format!(
            "the saved state belongs to another FMU, {guid}; this one is {}",
            own.0
        ));
    }
    if interface != own.1 {
        return Err("a state of Model Exchange does not fit Co-Simulation, nor the other way round".to_owned());
    }
    Ok(())
}

fn size([nx, nu, orders, modes, numbers, memory, parameters]: [usize; 7]) -> usize {
    HEADER + 8 * (nx + nu * (1 + orders) + numbers + memory + parameters) + 4 * modes + CHECKSUM
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
