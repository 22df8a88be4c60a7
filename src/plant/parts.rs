use super::Model;
use crate::system::MaximalState;

/// States, or one value for each, in parts.
pub(super) struct Parts<T> {
    /// Positions of joints and modes, or of bodies and modes.
    pub positions: T,
    /// Rates of the positions.
    pub rates: T,
    /// Currents of motors with inductance.
    pub currents: T,
    /// Unwound lengths of tethers.
    pub unwound: T,
    /// Masses of the propellants that thrusters draw.
    pub masses: T,
    /// Unwrapped-angle states.
    pub unwrapped: T,
    /// Work, if there are diagnostics.
    pub work: T,
}

impl<T> Parts<T> {
    /// Returns the states in maximal coordinates.
    pub fn maximal(self) -> MaximalState<T> {
        MaximalState {
            positions: self.positions,
            rates: self.rates,
            unwrapped: self.unwrapped,
        }
    }
}

impl Model {
    /// Returns the parts of the states.
    pub(super) fn split<'a, S>(&self, x: &'a [S]) -> Parts<&'a [S]> {
        let (positions, rest) = x.split_at(self.coordinates.positions(&self.system));
        let (rates, rest) = rest.split_at(self.coordinates.rates(&self.system));
        let (currents, rest) = rest.split_at(self.currents.len());
        let (unwound, rest) = rest.split_at(self.unwound.len());
        let (masses, rest) = rest.split_at(self.system.propellant.len());
        let (unwrapped, work) = rest.split_at(self.coordinates.unwrapped());
        Parts {
            positions,
            rates,
            currents,
            unwound,
            masses,
            unwrapped,
            work,
        }
    }

    /// Returns the parts of the states as [`split`](Self::split), mutable.
    pub(super) fn split_mut<'a, S>(&self, x: &'a mut [S]) -> Parts<&'a mut [S]> {
        let (positions, rest) = x.split_at_mut(self.coordinates.positions(&self.system));
        let (rates, rest) = rest.split_at_mut(self.coordinates.rates(&self.system));
        let (currents, rest) = rest.split_at_mut(self.currents.len());
        let (unwound, rest) = rest.split_at_mut(self.unwound.len());
        let (masses, rest) = rest.split_at_mut(self.system.propellant.len());
        let (unwrapped, work) = rest.split_at_mut(self.coordinates.unwrapped());
        Parts {
            positions,
            rates,
            currents,
            unwound,
            masses,
            unwrapped,
            work,
        }
    }
}
