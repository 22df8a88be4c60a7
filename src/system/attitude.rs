use super::joint::{Motion, part, with_joint};
use super::{Body, Carrier, Derived, System};
use crate::algebra::{Quaternion, Scalar};

impl System {
    /// Computes the bodies' attitudes `q_WB` as quaternions that are continuous in the coordinates
    /// `q` of joints and modes.
    pub fn attitudes<S: Scalar>(&self, derived: &Derived<S::Constant>, q: &[S], q_WB: &mut [Quaternion<S>]) {
        for (i, (body, constants)) in self.bodies.iter().zip(&derived.bodies).enumerate() {
            let q_FB = with_joint!(&constants.joint, joint => joint.attitude(part(q, body.joint.q)));
            q_WB[i] = (self.carrier_attitude(derived, body, q, q_WB) * q_FB).normalised();
        }
    }

    /// Returns the attitude of a body's carrier in the world; reads the attitudes `q_WB` of the
    /// preceding bodies.
    pub(super) fn carrier_attitude<S: Scalar>(
        &self,
        derived: &Derived<S::Constant>,
        body: &Body,
        q: &[S],
        q_WB: &[Quaternion<S>],
    ) -> Quaternion<S> {
        match body.carrier() {
            Carrier::World | Carrier::Point(_) => Quaternion::identity(),
            Carrier::Body(parent) => q_WB[parent],
            Carrier::Station(station) => q_WB[self.stations[station].body] * self.bent(derived, station, q),
        }
    }

    /// Returns the attitude of a station relative to its body, for the amplitudes in `q`.
    pub fn bent<S: Scalar>(&self, derived: &Derived<S::Constant>, station: usize, q: &[S]) -> Quaternion<S> {
        let modes = self.bodies[self.stations[station].body].modes.as_ref();
        let eta = modes.map(|modes| &q[modes.coordinates()]);
        derived.stations[station].attitude(eta.unwrap_or_default())
    }
}
