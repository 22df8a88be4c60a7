use std::sync::Arc;

use super::basis::{Field, Gauss};
use super::mesh::{self, Element};
use super::mode::Values;
use super::{Beam, BeamError, Boundary, Kind, Mode, solve};

/// Number of modes of each type.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Bending along y.
    pub bending_y: usize,
    /// Bending along z.
    pub bending_z: usize,
    /// Torsion.
    pub torsion: usize,
    /// Stretch.
    pub axial: usize,
}

impl Counts {
    /// Returns the number of modes of the type `kind`.
    pub fn of(&self, kind: Kind) -> usize {
        match kind {
            Kind::BendingY => self.bending_y,
            Kind::BendingZ => self.bending_z,
            Kind::Torsion => self.torsion,
            Kind::Axial => self.axial,
        }
    }
}

/// The lowest natural modes of a beam: bending along y, bending along z, torsion, stretch, each
/// ascending.
#[derive(Clone, Debug, PartialEq)]
pub struct Modes {
    list: Vec<Mode>,
    omitted: [Option<f64>; 4],
    pub(super) elements: Arc<[Element]>,
    /// Quadrature rule that is exact for products of two shapes and a linear section property.
    pub(super) gauss: Gauss,
}

impl Beam {
    /// Computes the lowest modes, converged to round-off if the sections vary moderately.
    ///
    /// Two stations with a small distance `h` reduce the accuracy of bending: its relative error is
    /// about `ε (L/h)³` with the beam's length `L`, or 3e-9 for 4 mm on one metre.
    ///
    /// # Errors
    ///
    /// If the boundary's load is negative or not finite, the stiffness of a requested motion is
    /// zero (it may vanish at a free end, as for a pointed beam), or the beam has fewer modes with
    /// inertia than requested.
    pub fn modes(&self, boundary: &Boundary, counts: Counts) -> Result<Modes, BeamError> {
        boundary.validate(self.length())?;
        let most = Kind::ALL.map(|kind| counts.of(kind)).into_iter().fold(0, usize::max);
        let elements: Arc<[Element]> = mesh::elements(self, most + 1).into();
        let mut modes = Modes {
            list: Vec::new(),
            omitted: [None; 4],
            elements,
            gauss: Gauss::of(1),
        };
        for kind in Kind::ALL {
            let count = counts.of(kind);
            if kind == Kind::BendingZ && counts.bending_y == count && self.has_equal_bending_planes(boundary) {
                modes.copy_to_the_other_plane();
                continue;
            }
            match self
                .validate(kind, boundary)
                .and_then(|()| solve::modes(&modes.elements, kind, boundary, count))
            {
                Ok((list, next)) => {
                    modes.list.extend(list);
                    modes.omitted[kind as usize] = next;
                }
                Err(error) if count > 0 => return Err(error),
                Err(_) => {} // no modes requested
            }
        }
        let degrees = modes.list.iter().map(|mode| mode.shape.degree);
        modes.gauss = Gauss::of(degrees.fold(1, usize::max));
        Ok(modes)
    }

    /// Returns true if the bending modes along z equal those along y.
    fn has_equal_bending_planes(&self, boundary: &Boundary) -> bool {
        let load = |kind| boundary.tip_inertia(kind);
        load(Kind::BendingY) == load(Kind::BendingZ) && self.stations().iter().all(|s| s.EI_y == s.EI_z)
    }

    /// Checks that every section has stiffness for motions of the type `kind`; it may vanish at a
    /// free end without load.
    fn validate(&self, kind: Kind, boundary: &Boundary) -> Result<(), BeamError> {
        let free = boundary.free_ends(kind);
        let last = self.stations().len() - 1;
        let resists = |i: usize| {
            let may_vanish = i == 0 && free[0] || i == last && free[1];
            may_vanish || kind.stiffness(&self.stations()[i]) > 0.0
        };
        match (0..=last).find(|&i| !resists(i)) {
            Some(i) => Err(BeamError::NoStiffness {
                kind,
                x: self.stations()[i].x,
            }),
            None => Ok(()),
        }
    }
}

impl Modes {
    /// Returns the force on a mode per curvature prescribed along the whole beam, `∫EI φ″ dx`,
    /// N·m²/(m·√kg), for curvature along y and along z.
    pub fn forces_of_curvature(&self, mode: &Mode) -> [f64; 2] {
        let elements = self.elements.iter().enumerate();
        let sum = elements.flat_map(|(e, element)| {
            let points = self.gauss.on(element.a.x, element.b.x);
            points.map(move |(x, dx)| {
                mode.kind.stiffness(&element.section(x)) * mode.shape.on(e, element.local(x)).curvature * dx
            })
        });
        match mode.kind {
            Kind::BendingY => [sum.sum(), 0.0],
            Kind::BendingZ => [0.0, sum.sum()],
            Kind::Torsion | Kind::Axial => [0.0; 2],
        }
    }

    fn copy_to_the_other_plane(&mut self) {
        let turned = |mode: &Mode| Mode {
            kind: Kind::BendingZ,
            ..mode.clone()
        };
        let copies: Vec<Mode> = self.list.iter().map(turned).collect();
        self.list.extend(copies);
        self.omitted[Kind::BendingZ as usize] = self.omitted[Kind::BendingY as usize];
    }

    /// Returns the beam's length, m.
    pub fn length(&self) -> f64 {
        self.elements[self.elements.len() - 1].b.x
    }

    /// Returns the modes, in the order of [`Kind::ALL`], each type ascending.
    pub fn list(&self) -> &[Mode] {
        &self.list
    }

    /// Returns the shapes of all modes on an element at the local coordinate `s ∈ [−1, 1]`.
    pub(super) fn on(&self, element: usize, s: f64) -> Vec<Values> {
        self.shapes(&self.list, element, s)
    }

    /// Returns the shapes of the bending modes, which are the first of the list.
    pub(super) fn bending_on(&self, element: usize, s: f64) -> Vec<Values> {
        let count = self.list.partition_point(|mode| mode.kind.field() == Field::Bending);
        self.shapes(&self.list[..count], element, s)
    }

    fn shapes(&self, modes: &[Mode], element: usize, s: f64) -> Vec<Values> {
        let h = self.elements[element].length();
        let mut shapes = Vec::with_capacity(modes.len());
        // Modes of one type follow each other and have the same functions.
        for modes in modes.chunk_by(|a, b| a.shape.basis() == b.shape.basis()) {
            let N = modes[0].shape.basis().at(s, h);
            shapes.extend(modes.iter().map(|mode| mode.shape.combine(element, &N)));
        }
        shapes
    }

    /// Returns the natural frequency (rad/s) of the first omitted mode of a type; `None` if there
    /// is no further mode.
    pub fn omitted(&self, kind: Kind) -> Option<f64> {
        self.omitted[kind as usize]
    }
}
