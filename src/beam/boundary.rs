use super::{BeamError, Kind};

/// Boundary conditions of the modal analysis.
///
/// The modes are shape functions for the deflection: the bodies that the beam carries act in the
/// dynamics, and the load of [`ClampedLoaded`](Self::ClampedLoaded) affects the modes only. Shapes
/// computed with the load (*loaded-interface modes*) represent the deflection with fewer modes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Boundary {
    /// Root clamped, tip free.
    ClampedFree,
    /// Root clamped, a rigid load at the tip.
    ClampedLoaded {
        /// Mass of the load, kg; its mass centre is the tip.
        mass: f64,
        /// Moments of inertia of the load about the beam's x, y and z axes at the tip, kg·m².
        inertia: [f64; 3],
    },
    /// Both ends clamped.
    ClampedClamped,
    /// Root clamped except for rotations about y and z, tip free. The rigid rotation of the whole
    /// beam is omitted.
    PinnedFree,
    /// Both ends free; rigid-body modes are omitted.
    FreeFree,
}

impl Boundary {
    /// Returns the number of fixed unknowns at the root and at the tip: one fixes the value, two
    /// fix value and slope.
    pub(super) fn held(&self, kind: Kind) -> [usize; 2] {
        let all = kind.field().order();
        match self {
            Self::ClampedFree | Self::ClampedLoaded { .. } => [all, 0],
            Self::ClampedClamped => [all, all],
            Self::PinnedFree => [1, 0],
            Self::FreeFree => [0, 0],
        }
    }

    /// Returns the number of rigid-body modes: the unknowns of a node, which determine a rigid
    /// motion, less the fixed unknowns.
    pub(super) fn rigid_modes(&self, kind: Kind) -> usize {
        let [root, tip] = self.held(kind);
        kind.field().order().saturating_sub(root + tip)
    }

    /// Returns the load's inertia for the value and for the slope at the tip.
    pub(super) fn tip_inertia(&self, kind: Kind) -> [f64; 2] {
        match (self, kind) {
            (Self::ClampedLoaded { mass, inertia }, Kind::BendingY) => [*mass, inertia[2]],
            (Self::ClampedLoaded { mass, inertia }, Kind::BendingZ) => [*mass, inertia[1]],
            (Self::ClampedLoaded { inertia, .. }, Kind::Torsion) => [inertia[0], 0.0],
            (Self::ClampedLoaded { mass, .. }, Kind::Axial) => [*mass, 0.0],
            _ => [0.0, 0.0],
        }
    }

    /// Returns, for root and tip, true if the end has neither support nor load.
    pub(super) fn free_ends(&self, kind: Kind) -> [bool; 2] {
        let [root, tip] = self.held(kind);
        [root == 0, tip == 0 && self.tip_inertia(kind) == [0.0, 0.0]]
    }

    pub(super) fn validate(&self, length: f64) -> Result<(), BeamError> {
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
