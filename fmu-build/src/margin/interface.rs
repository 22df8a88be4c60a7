//! Stability of the mechanical coupling of two FMUs by an elastic interface.
//!
//! The carrier (1) takes a wrench `u₁`, constant over a communication step `H`, and gives the pose
//! and velocities `y₁ = C₁ x₁` of a frame. The carried part (2) extrapolates this frame's pose
//! linearly, `u₂(t) = (1 + (t − t_k) G) y₁(t_k)`, where `G` takes the velocities to the rates of
//! the pose, and gives the wrench `y₂ = C₂ x₂ + D₂ u₂`. Linearised,
//!
//! ```text
//!     x₁⁺ = Φ₁ x₁ + Γ₁ u₁
//!     x₂⁺ = Φ₂ x₂ + (Γ₂ + Γ₂ʳ G) C₁ x₁
//!     y₂⁺ = C₂ x₂⁺ + D₂ (1 + H G) C₁ x₁
//!     Φ = e^{A H},  Γ = ∫₀ᴴ e^{A s} ds B,  Γʳ = ∫₀ᴴ e^{A (H−s)} s ds B
//! ```
//!
//! with `u₁ = y₂` of the step before in the Jacobi algorithm, and `u₁ = y₂⁺` in the Gauss–Seidel
//! algorithm that steps the carried part first.

use super::loops::{Longest, RIGID, Transitions, eigenvalues, longest_stable};
use crate::compiled_spec::CompiledSpec;
use crate::coupled_run::Algorithm;
use crate::error::{Result, invalid};
use crate::linearize::{LinearizeOptions, choose};
use crate::point::Point;
use crate::split::{EffectiveMass, effective_masses};
use crate::text::{aligned, number};
use faer::c64;
use nalgebra::DMatrix;
use std::f64::consts::TAU;
use std::fmt;

/// Number of the variables of a carrier's motion: position, attitude, velocity, angular velocity.
const MOTION: usize = 13;

/// Number of the components of a wrench.
const WRENCH: usize = 6;

/// Excess of `|z|` over the unit circle in one step above which a mode grows. Slower growth is not
/// reported.
const GROWTH: f64 = 1e-6;

/// Distance of `z` from 1 below which a mode belongs to the common motion of both parts, a double
/// eigenvalue that round-off divides.
const COMMON: f64 = 100.0 * RIGID;

/// Number of communication steps that are examined from one to its double.
const GRID: u32 = 14;

/// Two parts of a spacecraft, linearised about their starts and coupled by one interface.
pub struct Coupling {
    /// Name of the interface.
    pub interface: String,
    /// Effective masses of the carrier and of the carried part at the interface.
    pub masses: [EffectiveMass; 2],
    parts: [Part; 2],
    /// Derivative of the carrier's motion by itself.
    G: DMatrix<f64>,
}

/// A linearised part.
struct Part {
    A: DMatrix<f64>,
    B: DMatrix<f64>,
    C: DMatrix<f64>,
    D: DMatrix<f64>,
    /// For `Φ`, `Γ` and `Γʳ`, in the first rows of the exponential of `[A B 0; 0 0 1; 0 0 0] h`.
    transitions: Transitions,
}

/// Longest stable communication steps.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Name of the interface.
    pub interface: String,
    /// Effective masses of the carrier and of the carried part at the interface.
    pub masses: [EffectiveMass; 2],
    /// Largest growth rate of the continuous system, 1/s; zero if it is stable.
    pub continuous: f64,
    /// Fastest mode of the continuous system: frequency, Hz, and damping ratio.
    pub fastest: (f64, f64),
    /// Longest stable communication steps, s.
    pub longest: Vec<(Algorithm, Longest)>,
}

impl Coupling {
    /// Returns the coupling of two specs, one of them with an interface and the other with a port
    /// and a frame of the same name; `None` if there is no such interface.
    ///
    /// # Errors
    /// Several interfaces; a port in other axes; a carrier whose motion depends on the wrench without
    /// delay; those of the linearisation.
    pub fn of(specs: [&CompiledSpec; 2]) -> Result<Option<Self>> {
        let mut found = Vec::new();
        for [carrier, carried] in [[0, 1], [1, 0]].map(|order| order.map(|i| specs[i])) {
            let (to, of) = (&carrier.model.spec, &carried.model.spec);
            let names = of.interface.keys().filter(|name| to.port.contains_key(*name));
            found.extend(names.map(|name| (name.clone(), [carrier, carried])));
        }
        let (name, [carrier, carried]) = match found.len() {
            0 => return Ok(None),
            1 => found.swap_remove(0),
            _ => {
                return Err(invalid!(
                    "the two are coupled by several interfaces: examine them one by one"
                ));
            }
        };
        let port = &carrier.model.spec.port[&name];
        if port.axes != grapple::spec::PortAxes::Frame {
            return Err(invalid!(
                "{}: the wrench of an interface is in axes of its frame: write `axes = \"frame\"` in [port.{name}]",
                carrier.file
            ));
        }
        let named = |fields: &[&str]| fields.iter().map(|field| format!("{name}.{field}")).collect();
        let (motion, wrench): (Vec<String>, Vec<String>) = (named(&["r", "q", "v", "w"]), named(&["f", "t"]));
        let first = Part::of(carrier, &wrench, &motion)?;
        let second = Part::of(carried, &motion, &wrench)?;
        if first.D.iter().any(|&d| d != 0.0) {
            return Err(invalid!(
                "the motion of frame \"{name}\" depends on the wrench without delay"
            ));
        }
        let motion = values(carrier, &motion)?;
        let (carrier, carried) = (&carrier.model.spec, &carried.model.spec);
        Ok(Some(Self {
            masses: effective_masses(carrier, carried, &name, &carried.interface[&name].frame)?,
            interface: name,
            parts: [first, second],
            G: moves_on(&motion),
        }))
    }

    /// Returns the longest stable communication steps around `step` (s), from a hundredth to a hundred
    /// times as long.
    ///
    /// # Errors
    /// The eigenvalues do not converge.
    pub fn limits(&self, step: f64) -> Result<Limits> {
        let values = eigenvalues(&self.continuous())?;
        let speed = |value: &c64| value.norm();
        let fastest = values.iter().map(speed).fold(0.0, f64::max);
        let growth = values.iter().fold(0.0, |most: f64, value| most.max(value.re));
        // A double zero of the common motion is known up to the root of the round-off.
        let continuous = if growth > RIGID * fastest { growth } else { 0.0 };
        let mode = values.iter().max_by(|a, b| speed(a).total_cmp(&speed(b)));
        let mode = mode.map_or((0.0, 0.0), |value| (value.norm() / TAU, -value.re / value.norm()));
        let mut longest = Vec::new();
        for algorithm in [Algorithm::Jacobi, Algorithm::GaussSeidel] {
            let is_unstable = |h: f64| self.is_unstable(h, algorithm, continuous);
            longest.push((
                algorithm,
                longest_stable([step / 100.0, step * 100.0], GRID, is_unstable)?,
            ));
        }
        Ok(Limits {
            interface: self.interface.clone(),
            masses: self.masses,
            continuous,
            fastest: mode,
            longest,
        })
    }

    /// Returns true if a mode grows over steps of `h` s.
    fn is_unstable(&self, h: f64, algorithm: Algorithm, continuous: f64) -> Result<bool> {
        let permitted = (continuous * h).exp() * (1.0 + GROWTH);
        let values = eigenvalues(&self.map(h, algorithm))?;
        Ok(values.iter().any(|z| z.norm() > permitted && (z - 1.0).norm() > COMMON))
    }

    /// Returns the state matrix of the continuous system.
    fn continuous(&self) -> DMatrix<f64> {
        let [first, second] = &self.parts;
        let (n, m) = (first.A.nrows(), second.A.nrows());
        let mut whole = DMatrix::zeros(n + m, n + m);
        let back = &first.B * &second.D * &first.C;
        whole.view_mut((0, 0), (n, n)).copy_from(&(&first.A + back));
        whole.view_mut((0, n), (n, m)).copy_from(&(&first.B * &second.C));
        whole.view_mut((n, 0), (m, n)).copy_from(&(&second.B * &first.C));
        whole.view_mut((n, n), (m, m)).copy_from(&second.A);
        whole
    }

    /// Returns the map of `(x₁, x₂)`, in the Jacobi algorithm `(x₁, x₂, y₂)`, over a step of `h` s.
    fn map(&self, h: f64, algorithm: Algorithm) -> DMatrix<f64> {
        let [first, second] = &self.parts;
        let [free_1, held_1, _] = first.transition(h);
        let [free_2, held_2, ramp_2] = second.transition(h);
        let (n, m) = (first.A.nrows(), second.A.nrows());
        let moved = (held_2 + ramp_2 * &self.G) * &first.C;
        let end = (DMatrix::identity(MOTION, MOTION) + &self.G * h) * &first.C;
        // Wrench at the end of the step as a function of x₁ and x₂ at its start.
        let by_first = &second.C * &moved + &second.D * end;
        let by_second = &second.C * &free_2;
        let size = n + m + if algorithm == Algorithm::Jacobi { WRENCH } else { 0 };
        let mut map = DMatrix::zeros(size, size);
        map.view_mut((n, 0), (m, n)).copy_from(&moved);
        map.view_mut((n, n), (m, m)).copy_from(&free_2);
        match algorithm {
            Algorithm::Jacobi => {
                map.view_mut((0, 0), (n, n)).copy_from(&free_1);
                map.view_mut((0, n + m), (n, WRENCH)).copy_from(&held_1);
                map.view_mut((n + m, 0), (WRENCH, n)).copy_from(&by_first);
                map.view_mut((n + m, n), (WRENCH, m)).copy_from(&by_second);
            }
            Algorithm::GaussSeidel => {
                map.view_mut((0, 0), (n, n)).copy_from(&(free_1 + &held_1 * by_first));
                map.view_mut((0, n), (n, m)).copy_from(&(held_1 * by_second));
            }
        }
        map
    }
}

impl Part {
    /// Linearises a spec about its start, from inputs to outputs.
    fn of(spec: &CompiledSpec, inputs: &[String], outputs: &[String]) -> Result<Self> {
        let model = &spec.model;
        let mut linear = Point::start(model)?.linearised()?;
        let u = vec![0.0; linear.inputs.len()];
        let options = LinearizeOptions {
            at: 0.0,
            inputs: inputs.to_vec(),
            outputs: outputs.to_vec(),
        };
        choose(&mut linear, model, &options, &u)?;
        let (n, m) = linear.B.shape();
        let mut whole = DMatrix::zeros(n + 2 * m, n + 2 * m);
        whole.view_mut((0, 0), (n, n)).copy_from(&linear.A);
        whole.view_mut((0, n), (n, m)).copy_from(&linear.B);
        whole.view_mut((n, n + m), (m, m)).fill_diagonal(1.0);
        Ok(Self {
            A: linear.A,
            B: linear.B,
            C: linear.C,
            D: linear.D,
            transitions: Transitions::new(whole),
        })
    }

    /// Returns `Φ`, `Γ` and `Γʳ` over `h` s.
    fn transition(&self, h: f64) -> [DMatrix<f64>; 3] {
        let (n, m) = self.B.shape();
        let whole = self.transitions.over(h);
        [(0, n), (n, m), (n + m, m)].map(|(at, width)| whole.view((0, at), (n, width)).into_owned())
    }
}

/// Returns the components of vectors at the start.
fn values(spec: &CompiledSpec, names: &[String]) -> Result<Vec<f64>> {
    let all = Point::start(&spec.model)?.values()?;
    let is = |of: &str, name: &str| of.split_once('[').is_some_and(|(vector, _)| vector == name);
    let of = |name: &String| {
        all.iter()
            .filter(|(of, _)| is(of, name))
            .map(|(_, value)| *value)
            .collect::<Vec<_>>()
    };
    Ok(names.iter().flat_map(of).collect())
}

/// Returns the derivative of position and attitude by the motion `(r, q, v, w)`: `ṙ = v`,
/// `q̇ = ½ q ⊗ (0, w)`.
fn moves_on(motion: &[f64]) -> DMatrix<f64> {
    let mut G = DMatrix::zeros(MOTION, MOTION);
    G.view_mut((0, 7), (3, 3)).fill_diagonal(1.0);
    let [w, x, y, z] = [3, 4, 5, 6].map(|i| motion[i]);
    let by_spin = [[-x, -y, -z], [w, -z, y], [z, w, -x], [-y, x, w]];
    let [p, q, r] = [10, 11, 12].map(|i| motion[i]);
    let by_attitude = [[0.0, -p, -q, -r], [p, 0.0, r, -q], [q, -r, 0.0, p], [r, q, -p, 0.0]];
    for row in 0..4 {
        for column in 0..3 {
            G[(3 + row, 10 + column)] = 0.5 * by_spin[row][column];
        }
        for column in 0..4 {
            G[(3 + row, 3 + column)] = 0.5 * by_attitude[row][column];
        }
    }
    G
}

impl Limits {
    /// Returns a step for accurate results, s: a fifth of the shortest stable step and at most the time
    /// constant of the fastest mode.
    pub fn accurate(&self) -> f64 {
        let limit = |(_, longest): &(Algorithm, Longest)| match *longest {
            Longest::Below(limit) | Longest::At(limit) | Longest::Above(limit) => limit / 5.0,
        };
        self.longest
            .iter()
            .map(limit)
            .fold(1.0 / (TAU * self.fastest.0), f64::min)
    }

    /// Returns the longest stable step with an algorithm, s; `None` if no examined step is stable.
    pub fn stable(&self, algorithm: Algorithm) -> Option<f64> {
        let (_, longest) = self.longest.iter().find(|(of, _)| *of == algorithm)?;
        match *longest {
            Longest::Below(_) => None,
            Longest::At(limit) | Longest::Above(limit) => Some(limit),
        }
    }
}

/// Returns the name of an algorithm, with the order of the two parts.
pub fn described(algorithm: Algorithm) -> &'static str {
    match algorithm {
        Algorithm::Jacobi => "Jacobi algorithm (both parts at once)",
        Algorithm::GaussSeidel => "Gauss-Seidel algorithm (the part with the interface first)",
    }
}

/// Prints the effective masses, the fastest mode, and a line for each algorithm.
impl fmt::Display for Limits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [carrier, carried] = &self.masses;
        let head = ["axis", "carrier, kg", "carried, kg", "carrier, kg.m2", "carried, kg.m2"].map(str::to_owned);
        let row = |i: usize| {
            let of = [carrier.mass[i], carried.mass[i], carrier.inertia[i], carried.inertia[i]];
            let [a, b, c, d] = of.map(|value| number(value, 4));
            [["x", "y", "z"][i].to_owned(), a, b, c, d]
        };
        f.write_str(&aligned(&[head, row(0), row(1), row(2)]))?;
        let (frequency, damping) = self.fastest;
        writeln!(
            f,
            "fastest mode: {} Hz, damping ratio {}",
            number(frequency, 4),
            number(damping, 3)
        )?;
        if self.continuous > 0.0 {
            writeln!(
                f,
                "a mode grows at {} 1/s in the continuous system already; only faster growth counts below",
                number(self.continuous, 3)
            )?;
        }
        for (algorithm, longest) in &self.longest {
            writeln!(f, "{}: stable {longest}", described(*algorithm))?;
        }
        Ok(())
    }
}
