//! Atmosphere of the central body.

use super::{Bound, Declarations, ParamId, Parameter, Quantity, Unit};
use crate::Problem;
use crate::algebra::{Scalar, Vec3};
use crate::spec::{self, at};
use std::sync::Arc;

/// Altitude, km, and density, kg/m³, of the exponential atmosphere: D. A. Vallado, *Fundamentals of
/// Astrodynamics and Applications*, 4th ed. 2013, table 8-4 (after Wertz, 1978). Its scale heights
/// are those of the interpolation between its densities; the last one continues it.
const EXPONENTIAL: [(f64, f64); 29] = [
    (0.0, 1.225),
    (25.0, 3.899e-2),
    (30.0, 1.774e-2),
    (40.0, 3.972e-3),
    (50.0, 1.057e-3),
    (60.0, 3.206e-4),
    (70.0, 8.770e-5),
    (80.0, 1.905e-5),
    (90.0, 3.396e-6),
    (100.0, 5.297e-7),
    (110.0, 9.661e-8),
    (120.0, 2.438e-8),
    (130.0, 8.484e-9),
    (140.0, 3.845e-9),
    (150.0, 2.070e-9),
    (180.0, 5.464e-10),
    (200.0, 2.789e-10),
    (250.0, 7.248e-11),
    (300.0, 2.418e-11),
    (350.0, 9.518e-12),
    (400.0, 3.725e-12),
    (450.0, 1.585e-12),
    (500.0, 6.967e-13),
    (600.0, 1.454e-13),
    (700.0, 3.614e-14),
    (800.0, 1.170e-14),
    (900.0, 5.245e-15),
    (1000.0, 3.019e-15),
    // 3.019e-15 exp(−268/268): the scale height above 1000 km is 268 km.
    (1268.0, 1.110_628e-15),
];

/// Parameters of the atmosphere, and its table.
#[derive(Clone, Debug)]
pub(super) struct Atmosphere {
    factor: ParamId,
    rotation_rate: ParamId,
    flattening: ParamId,
    /// True if the table is that of the spec.
    is_written: bool,
    nodes: Arc<[Node]>,
}

/// Entry of the table.
#[derive(Clone, Copy, Debug)]
struct Node {
    /// Altitude, m.
    altitude: f64,
    /// Logarithm of the density in kg/m³.
    log: f64,
    /// Its derivative from here to the next entry, 1/m.
    slope: f64,
}

/// Constants of the atmosphere, computed from the parameters.
#[derive(Clone, Debug)]
pub struct AtmosphereConstants {
    factor: ParamId,
    rotation_rate: f64,
    radius: f64,
    flattening: f64,
    nodes: Arc<[Node]>,
}

impl Atmosphere {
    /// Declares the parameters.
    pub fn declare(written: &spec::Atmosphere, declare: &mut Declarations) -> Self {
        let mut number = |field: &str, value: f64, unit: Unit, bound: Bound, tunable: bool, what: &str| {
            let quantity = Quantity::new(format!("orbit.{field}"), unit, what).bounded(bound);
            let nominal = if value == 0.0 { 1e-3 } else { value.abs() };
            let field = field.trim_start_matches("density_");
            let place = at("environment", "orbit", &format!("atmosphere.{field}"));
            declare.parameter(Quantity { nominal, ..quantity }, value, tunable, &place)
        };
        let what = "factor on the density of the atmosphere";
        let factor = number(
            "density_factor",
            written.factor,
            Unit::One,
            Bound::NotNegative,
            true,
            what,
        );
        let what = "angular velocity of the atmosphere about the polar axis";
        let rotation_rate = number(
            "rotation_rate",
            written.rotation_rate,
            Unit::RadianPerSecond,
            Bound::None,
            false,
            what,
        );
        let what = "flattening of the spheroid above which altitudes are measured";
        let flattening = number(
            "flattening",
            written.flattening,
            Unit::One,
            Bound::NotNegative,
            false,
            what,
        );
        let is_written = !written.altitude.is_empty();
        let nodes: Vec<(f64, f64)> = match is_written {
            true => written
                .altitude
                .iter()
                .copied()
                .zip(written.density.iter().copied())
                .collect(),
            false => EXPONENTIAL.iter().map(|&(km, density)| (1e3 * km, density)).collect(),
        };
        let log = |i: usize| libm::log(nodes[i].1);
        let slope = |i: usize| (log(i + 1) - log(i)) / (nodes[i + 1].0 - nodes[i].0);
        let last = nodes.len().saturating_sub(2);
        let of = |i: usize| Node {
            altitude: nodes[i].0,
            log: log(i),
            slope: if nodes.len() > 1 { slope(i.min(last)) } else { 0.0 },
        };
        Self {
            factor,
            rotation_rate,
            flattening,
            is_written,
            nodes: (0..nodes.len()).map(of).collect(),
        }
    }

    /// Computes the constants for an orbit with the distance `perigee` (m) of its perigee from the
    /// centre of a body of this `radius` (m), and validates the parameters.
    pub fn derive(
        &self,
        radius: f64,
        perigee: f64,
        declared: &[Parameter],
        values: &[f64],
        problems: &mut Vec<Problem>,
    ) -> AtmosphereConstants {
        let flattening = self.flattening.of(values);
        if flattening >= 1.0 {
            problems.push(Problem {
                at: declared[self.flattening.0].at.clone(),
                what: format!("a flattening of {flattening} is not below 1: it is 1/298.257 for the Earth"),
            });
        }
        let ends = self.nodes.first().zip(self.nodes.last());
        if let Some((first, last)) = ends.filter(|_| self.is_written) {
            let height = perigee - radius;
            if !(first.altitude..=last.altitude).contains(&height) {
                let [height, low, high] =
                    [height, first.altitude, last.altitude].map(|m| crate::error::rounded(m / 1e3, 7));
                problems.push(Problem {
                    at: at("environment", "orbit", "atmosphere.altitude"),
                    what: format!(
                        "the table goes from {low} to {high} km, but the perigee of the reference orbit has an altitude \
                         of {height} km: altitudes are in m"
                    ),
                });
            }
        }
        AtmosphereConstants {
            factor: self.factor,
            rotation_rate: self.rotation_rate.of(values),
            radius,
            flattening,
            nodes: Arc::clone(&self.nodes),
        }
    }
}

impl AtmosphereConstants {
    /// Returns the density at `r` (m) from the centre, world axes, kg/m³.
    ///
    /// The altitude is measured above a spheroid of radius `R_E (1 − f sin²φ)` at the geocentric
    /// latitude φ, to first order in its flattening `f`.
    pub fn density<S: Scalar>(&self, r: &Vec3<S>, parameters: &[f64]) -> S {
        let n = S::lift;
        let r2 = r.dot(r);
        let flat = r.z * r.z * n(self.radius * self.flattening) / r2;
        let altitude = r2.sqrt() - n(self.radius) + flat;
        let known = self.nodes.partition_point(|node| node.altitude <= altitude.value());
        let node = &self.nodes[known.saturating_sub(1)];
        let slope = if known == 0 { 0.0 } else { node.slope };
        ((altitude - n(node.altitude)) * n(slope) + n(node.log)).exp() * n(self.factor.of(parameters))
    }

    /// Returns the velocity of the atmosphere at `r` (m) from the centre, m/s, world axes: it
    /// rotates with the central body.
    pub fn wind<S: Scalar>(&self, r: &Vec3<S>) -> Vec3<S> {
        let rate = S::lift(self.rotation_rate);
        Vec3::new(-r.y * rate, r.x * rate, S::zero())
    }
}
