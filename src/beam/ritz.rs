//! Eigenproblem of one type of motion, discretised by finite elements of equal degree.

use crate::algebra::integer_power;
use std::f64::consts::PI;
use std::sync::Arc;

use nalgebra::{DMatrix, DVector};

use super::basis::{Basis, Field, Gauss};
use super::eigen::{self, Pair};
use super::mesh::Element;
use super::mode::Shape;
use super::{BeamError, Boundary, Kind};

/// Units in which length, inertia and stiffness of the beam are about one, so that the conditioning
/// does not depend on their magnitude.
struct Scale {
    length: f64,
    stiffness: f64,
    /// Inertia of the beam and its load, for this type of motion.
    inertia: f64,
    /// Unit of a dimensionless eigenvalue, 1/s².
    omega_squared: f64,
}

/// The discrete Rayleigh–Ritz problem, dimensionless.
///
/// Among the shapes of the finite element space, a mode makes `vᵀKv / vᵀMv` stationary:
///
/// ```text
///     K = ∫ k φ⁽ᵈ⁾ φ⁽ᵈ⁾ dx,   M = ∫ μ φ φ dx + load at the tip,   K v = ω² M v
/// ```
///
/// with the stiffness `k` and the inertia per length `μ` of the type of motion, and the order `d`
/// of the derivative in its strain energy.
pub(super) struct Ritz {
    elements: Arc<[Element]>,
    basis: Basis,
    /// Index of the unknown of each function of each element; `None` if it is fixed.
    unknowns: Vec<Vec<Option<usize>>>,
    scale: Scale,
    kind: Kind,
    rigid_modes: usize,
    K: DMatrix<f64>,
    M: DMatrix<f64>,
}

impl Ritz {
    pub fn new(elements: &Arc<[Element]>, kind: Kind, boundary: &Boundary, degree: usize) -> Self {
        let basis = Basis {
            field: kind.field(),
            degree,
        };
        let (unknowns, size) = number(elements.len(), basis, boundary.held(kind));
        let tip = boundary.tip_inertia(kind);
        let mut ritz = Self {
            elements: elements.clone(),
            basis,
            unknowns,
            scale: Scale::new(elements, kind, tip),
            kind,
            rigid_modes: boundary.rigid_modes(kind),
            K: DMatrix::zeros(size, size),
            M: DMatrix::zeros(size, size),
        };
        let gauss = Gauss::of(degree);
        for e in 0..elements.len() {
            ritz.assemble(e, &gauss);
        }
        let order = basis.field.order();
        let lever = [1.0, ritz.scale.length * ritz.scale.length];
        for (j, inertia) in tip.into_iter().enumerate().take(order) {
            if let Some(i) = ritz.unknowns[elements.len() - 1][order + j] {
                ritz.M[(i, i)] += inertia / (ritz.scale.inertia * lever[j]);
            }
        }
        ritz
    }

    /// Adds stiffness and inertia of element `e` to `K` and `M`.
    fn assemble(&mut self, e: usize, gauss: &Gauss) {
        let element = &self.elements[e];
        let Scale {
            length,
            stiffness,
            inertia,
            ..
        } = self.scale;
        let h = element.length() / length;
        let order = self.basis.field.order();
        for &(s, ds) in &gauss.points {
            let N = self.basis.at(s, h);
            let dx = 0.5 * h * ds;
            let section = element.section(0.5 * ((1.0 - s) * element.a.x + (1.0 + s) * element.b.x));
            let k = self.kind.stiffness(&section) / stiffness * dx;
            let mu = self.kind.inertia(&section) * length / inertia * dx;
            for i in 0..self.basis.len() {
                let Some(row) = self.unknowns[e][i] else { continue };
                for j in 0..self.basis.len() {
                    let Some(column) = self.unknowns[e][j] else { continue };
                    self.K[(row, column)] += k * N[i][order] * N[j][order];
                    self.M[(row, column)] += mu * N[i][0] * N[j][0];
                }
            }
        }
    }

    /// Returns true if beam or load have inertia for this type of motion.
    pub fn has_inertia(&self) -> bool {
        self.scale.inertia > 0.0
    }

    /// Returns the natural frequency of an eigenpair, rad/s.
    pub fn omega(&self, pair: &Pair) -> f64 {
        (pair.lambda * self.scale.omega_squared).sqrt()
    }

    /// Returns the `count` lowest elastic modes, or all if there are fewer.
    pub fn pairs(&self, count: usize) -> Result<Vec<Pair>, BeamError> {
        // The shift σ is about the first elastic eigenvalue: large enough to make K + σ M definite,
        // and not larger than the results.
        let sigma = match self.rigid_modes {
            0 => 0.0,
            _ => integer_power(PI, 2 * self.basis.field.order() as u32),
        };
        let pairs = eigen::lowest(&self.K, &self.M, sigma, self.rigid_modes + count);
        // A positive stiffness may still be too small compared with that of neighbouring sections.
        let mut pairs = pairs.ok_or_else(|| BeamError::NoStiffness {
            kind: self.kind,
            x: self.softest(),
        })?;
        pairs.drain(..self.rigid_modes.min(pairs.len()));
        Ok(pairs)
    }

    /// Returns the position of the section with the least stiffness, m.
    fn softest(&self) -> f64 {
        let stiffness = |e: &&Element| self.kind.stiffness(&e.a);
        let softest = self
            .elements
            .iter()
            .min_by(|e, f| stiffness(e).total_cmp(&stiffness(f)));
        softest.map_or(0.0, |e| e.a.x)
    }

    /// Returns the fraction of a mode's strain energy that the last two bubbles of an element
    /// contain, the largest of all elements: a measure of convergence.
    pub fn tail(&self, v: &DVector<f64>) -> f64 {
        let energy = v.dot(&(&self.K * v));
        let held_by = |unknowns: &Vec<Option<usize>>| -> f64 {
            let last = unknowns.iter().rev().take(2).flatten();
            last.map(|&i| self.K[(i, i)] * v[i] * v[i]).sum::<f64>() / energy
        };
        self.unknowns.iter().map(held_by).fold(0.0, f64::max)
    }

    /// Returns the shape of an eigenvector, mass-normalised in SI units, with the sign that
    /// [`Mode`](super::Mode) defines.
    pub fn shape(&self, v: &DVector<f64>) -> Shape {
        let amplitude = 1.0 / self.scale.inertia.sqrt();
        let order = self.basis.field.order();
        let mut coefficients = Vec::with_capacity(self.elements.len() * self.basis.len());
        for unknowns in &self.unknowns {
            for (i, unknown) in unknowns.iter().enumerate() {
                // A node's second unknown is a slope, per m in the shape and per beam length in v.
                let per_length = i < 2 * order && i % order == 1;
                let unit = if per_length { self.scale.length } else { 1.0 };
                coefficients.push(unknown.map_or(0.0, |i| v[i] * amplitude / unit));
            }
        }
        let mut shape = Shape {
            field: self.basis.field,
            degree: self.basis.degree,
            elements: self.elements.clone(),
            coefficients,
        };
        if shape.points_down() {
            shape.coefficients.iter_mut().for_each(|c| *c = -*c);
        }
        shape
    }
}

impl Shape {
    /// Returns true if the value at the tip is negative or, if that is zero, the first extremum
    /// from the root.
    fn points_down(&self) -> bool {
        let last = self.elements.len() - 1;
        let tip = self.on(last, 1.0).value;
        // No function is larger than one, or for a slope at a node than the element's length.
        let functions = self.basis().len();
        let sum = |c: &[f64]| c.iter().map(|c| c.abs()).sum::<f64>();
        let sums = self.coefficients.chunks(functions).zip(self.elements.iter());
        let bound = sums.map(|(c, element)| sum(c) * element.length().max(1.0));
        if tip.abs() > 1e-9 * bound.fold(0.0, f64::max) {
            return tip < 0.0;
        }
        let samples = (0..=last).flat_map(|e| (0..2 * self.degree).map(move |i| (e, i)));
        let place = |i: usize| i as f64 / self.degree as f64 - 1.0;
        let largest = samples
            .map(|(e, i)| self.on(e, place(i)).value.abs())
            .fold(0.0, f64::max);
        if tip.abs() > 1e-9 * largest {
            return tip < 0.0;
        }
        // The tip is fixed, and then the root is clamped too: near the root the lowest nonzero
        // derivative determines the sign.
        let root = self.on(0, -1.0);
        match self.field {
            Field::Rod => root.slope < 0.0,
            Field::Bending => root.curvature < 0.0,
        }
    }
}

impl Scale {
    fn new(elements: &[Element], kind: Kind, tip: [f64; 2]) -> Self {
        let length = elements[elements.len() - 1].b.x;
        let ends = || elements.iter().flat_map(|e| [&e.a, &e.b]);
        let stiffness = ends().map(|s| kind.stiffness(s)).fold(0.0, f64::max);
        let mean = |e: &Element| 0.5 * e.length() * (kind.inertia(&e.a) + kind.inertia(&e.b));
        let inertia = elements.iter().map(mean).sum::<f64>() + tip[0] + tip[1] / (length * length);
        let order = kind.field().order() as u32;
        Self {
            length,
            stiffness,
            inertia,
            omega_squared: stiffness / (inertia * integer_power(length, 2 * order - 1)),
        }
    }
}

/// Numbers the free unknowns, nodes first, then bubbles. Returns for each element the numbers of
/// its functions, `None` if fixed, and the total number.
fn number(elements: usize, basis: Basis, held: [usize; 2]) -> (Vec<Vec<Option<usize>>>, usize) {
    let order = basis.field.order();
    let mut size = 0;
    let mut next = |free: bool| {
        size += free as usize;
        free.then(|| size - 1)
    };
    let node = |i: usize, next: &mut dyn FnMut(bool) -> Option<usize>| -> Vec<Option<usize>> {
        let held = if i == 0 {
            held[0]
        } else if i == elements {
            held[1]
        } else {
            0
        };
        (0..order).map(|j| next(j >= held)).collect()
    };
    let nodes: Vec<_> = (0..=elements).map(|i| node(i, &mut next)).collect();
    let bubbles = basis.len() - 2 * order;
    let element = |e: usize| {
        let bubbles: Vec<_> = (0..bubbles).map(|_| next(true)).collect();
        [&nodes[e][..], &nodes[e + 1][..], &bubbles[..]].concat()
    };
    let unknowns = (0..elements).map(element).collect();
    (unknowns, size)
}
