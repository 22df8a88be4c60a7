//! Modes of a liquid in an upright circular cylinder, by linear potential theory.

use super::super::Report;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::f64::consts::PI;

/// First zeros of the derivative of the Bessel function J₁.
const ROOTS: [f64; 5] = [
    1.841183781340659,
    5.331442773525033,
    8.536316366346286,
    11.706004902592063,
    14.863588633909034,
];

/// Largest number of modes.
pub(super) const MODES: usize = ROOTS.len();

/// Number of terms of the series of the inertia, whose terms decrease with the fifth power.
const TERMS: usize = 40;

/// Upright circular cylinder with a flat bottom, partly filled with liquid. Its axis is the tank's
/// `axis`, the centre of its bottom the tank's `position`.
///
/// Masses, frequencies and heights of the lateral modes are those of linear potential theory. The
/// modes are called `mode1`, `mode2`, ….
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Cylinder {
    /// Inner radius, m, positive.
    pub radius: f64,
    /// Inner height, m, positive.
    pub height: f64,
    /// Depth of the liquid over `height`: above 0, below 1.
    pub fill: f64,
    /// Mass of the liquid, kg, positive.
    pub mass: f64,
    /// Number of modes, 1 to 5. Default 1: the higher ones have less than 4 % of the liquid's mass.
    #[serde(default = "one")]
    pub modes: usize,
    /// Damping ratio of every mode, not negative, below 1. Default 0.
    #[serde(default)]
    pub damping_ratio: f64,
}

fn one() -> usize {
    1
}

/// Lateral mode of a liquid.
pub(super) struct Lateral {
    /// Mass, kg.
    pub mass: f64,
    /// Height of the mass above the bottom, m.
    pub height: f64,
    /// Length of the pendulum, m: the acceleration over the square of the angular frequency.
    pub length: f64,
}

/// Part of a liquid that moves with its tank.
pub(super) struct Rest {
    /// Mass, kg.
    pub mass: f64,
    /// Height of its mass centre above the bottom, m.
    pub height: f64,
    /// Inertia about its mass centre across the tank's axis, kg·m².
    pub across: f64,
}

impl Cylinder {
    /// Returns the depth of the liquid, m.
    pub fn depth(&self) -> f64 {
        self.fill * self.height
    }

    /// Returns the density of the liquid, kg/m³.
    pub fn density(&self) -> f64 {
        self.mass / (PI * self.radius * self.radius * self.depth())
    }

    /// Returns the modes, by the [equations](../../../docs/theory/slosh.md) (4) to (6).
    pub(super) fn lateral(&self) -> Vec<Lateral> {
        let (r, h) = (self.radius, self.depth());
        let mode = |n: usize| {
            let root = root(n);
            let k = root / r;
            let deep = libm::tanh(k * h);
            Lateral {
                mass: self.mass * 2.0 * deep / (k * h * (root * root - 1.0)),
                height: h - 2.0 / k * libm::tanh(0.5 * k * h),
                length: 1.0 / (k * deep),
            }
        };
        (1..=self.modes).map(mode).collect()
    }

    /// Returns the rest of the liquid: mass, mass centre and inertia are those of the liquid under a
    /// lid less those of the modes at rest.
    pub(super) fn rest(&self) -> Rest {
        let (modes, middle) = (self.lateral(), 0.5 * self.depth());
        let mass = self.mass - modes.iter().map(|mode| mode.mass).sum::<f64>();
        let moment = self.mass * middle - modes.iter().map(|mode| mode.mass * mode.height).sum::<f64>();
        let height = moment / mass;
        let square = |height: f64| (height - middle) * (height - middle);
        let of_modes: f64 = modes.iter().map(|mode| mode.mass * square(mode.height)).sum();
        Rest {
            mass,
            height,
            across: self.under_lid() - of_modes - mass * square(height),
        }
    }

    /// Returns the inertia of the liquid under a lid across the axis, about its mass centre, kg·m²:
    /// equation (7). The liquid does not turn as a rigid body.
    fn under_lid(&self) -> f64 {
        let (r, h) = (self.radius, self.depth());
        let term = |n: usize| {
            let root = root(n);
            libm::tanh(0.5 * root * h / r) / (root * root * root * (root * root - 1.0))
        };
        let series: f64 = (1..=TERMS).map(term).sum();
        self.mass * (h * h / 12.0 - 0.75 * r * r + 16.0 * r * r * r / h * series)
    }

    /// Reports values outside their ranges.
    pub(super) fn check(&self, report: &mut Report) {
        for (field, value) in [
            ("cylinder.radius", self.radius),
            ("cylinder.height", self.height),
            ("cylinder.mass", self.mass),
        ] {
            if value <= 0.0 {
                report.add(field, format!("{value} is not positive"));
            }
        }
        let fill = self.fill;
        if fill <= 0.0 || fill >= 1.0 {
            let hint = match fill {
                1.0 => "a full tank has no free surface: include the liquid in the body".to_owned(),
                fill if fill > 1.0 && fill < 100.0 => format!("it is a fraction, {fill} % is {}", fill / 100.0),
                _ => "it is the depth of the liquid over the height of the tank".to_owned(),
            };
            report.add("cylinder.fill", format!("{fill} is not between 0 and 1: {hint}"));
        }
        if !(1..=MODES).contains(&self.modes) {
            let what = format!("{} is not between 1 and {MODES}", self.modes);
            report.add("cylinder.modes", what);
        }
        super::damping(self.damping_ratio, "cylinder.damping_ratio", report);
    }
}

/// Returns the zero `n` (from 1) of the derivative of J₁, beyond the table by McMahon's expansion,
/// which is off by less than 2e-6 there.
fn root(n: usize) -> f64 {
    ROOTS.get(n - 1).copied().unwrap_or_else(|| {
        let b = (n as f64 - 0.25) * PI;
        b - 7.0 / (8.0 * b) - 1724.0 / (1536.0 * b * b * b)
    })
}
