use super::{BeamError, Kind};

/// How a beam is held while its modes are found.
///
/// The modes are shapes to describe a deflection with; what the beam really carries is the dynamics' business. Shapes
/// that know the load (*loaded-interface modes*) describe it with fewer of them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Boundary {
    /// Root held, tip free.
    ClampedFree,
    /// Root held, a rigid load at the tip.
    ClampedLoaded {
        /// Mass of the load, kg; its mass centre is the tip.
        mass: f64,
        /// Inertias of the load about the tip and the beam's x, y and z axes, kg·m².
        inertia: [f64; 3],
    },
    /// Both ends held.
    ClampedClamped,
    /// Root held but for rotations about y and z, tip free. Bending swings the whole beam too: that rigid mode is left
    /// out.
    PinnedFree,
    /// Nothing held. Rigid modes are left out.
    FreeFree,
}

impl Boundary {
    /// How many unknowns of a node are zero at the root and at the tip: value first, then slope.
    pub(super) fn held(&self, kind: Kind) -> [usize; 2] {
        let all = kind.field().order();
        match self {
            Self::ClampedFree | Self::ClampedLoaded { .. } => [all, 0],
            Self::ClampedClamped => [all, all],
            Self::PinnedFree => [1, 0],
            Self::FreeFree => [0, 0],
        }
    }

    /// How many rigid motions that leaves: a straight motion has as many coefficients as a node has unknowns.
    pub(super) fn rigid_modes(&self, kind: Kind) -> usize {
        let [root, tip] = self.held(kind);
        kind.field().order().saturating_sub(root + tip)
    }

    /// The load's inertia against the tip's value and slope.
    pub(super) fn tip_inertia(&self, kind: Kind) -> [f64; 2] {
        match (self, kind) {
            (Self::ClampedLoaded { mass, inertia }, Kind::BendingY) => [*mass, inertia[2]],
            (Self::ClampedLoaded { mass, inertia }, Kind::BendingZ) => [*mass, inertia[1]],
            (Self::ClampedLoaded { inertia, .. }, Kind::Torsion) => [inertia[0], 0.0],
            (Self::ClampedLoaded { mass, .. }, Kind::Axial) => [*mass, 0.0],
            _ => [0.0, 0.0],
        }
    }

    /// Whether the root and the tip feel neither support nor load.
    pub(super) fn free_ends(&self, kind: Kind) -> [bool; 2] {
        let [root, tip] = self.held(kind);
        [root == 0, tip == 0 && self.tip_inertia(kind) == [0.0, 0.0]]
    }

    pub(super) fn judge(&self, length: f64) -> Result<(), BeamError> {
        let Self::ClampedLoaded { mass, inertia } = *self else {
            return Ok(());
        };
        let names = [
            "mass of the load",
            "Jxx of the load",
            "Jyy of the load",
            "Jzz of the load",
        ];
        for (name, value) in names.into_iter().zip([mass, inertia[0], inertia[1], inertia[2]]) {
            if !(value.is_finite() && value >= 0.0) {
                return Err(BeamError::Value { name, x: length, value });
            }
        }
        Ok(())
    }
}
