//! Sun, Moon and rotation of the Earth, from the epoch of the orbit.

use super::ephemeris::{self, ASTRONOMICAL_UNIT};
use super::orbit::{GravityField, OrbitPoint};
use super::shadow::sunlight;
use super::{Bound, Declarations, InputKind, ParamId, Parameter, Quantity, Unit};
use crate::algebra::{Dual, Mat3, Scalar, Vec3, lift3, norm};
use crate::spec::{self, EARTH_MU, Ephemeris, Epoch, ThirdBody, at};
use crate::{Error, Problem};
use std::f64::consts::TAU;

/// Gravitational parameter of the Sun, m³/s² (IAU 2015, resolution B3, nominal).
const MU_SUN: f64 = 1.327_124_4e20;

/// Gravitational parameter of the Moon, m³/s² (JPL, DE430).
const MU_MOON: f64 = 4.902_800_066e12;

/// Mean distance of the Moon, m.
const MOON_DISTANCE: f64 = 3.844e8;

/// Speed of light, m/s.
const LIGHT: f64 = 299_792_458.0;

/// Reference radius of the IGRF, m.
const IGRF_RADIUS: f64 = 6_371_200.0;

/// Seconds in a day and days in a Julian century.
const DAY: f64 = 86_400.0;
const CENTURY: f64 = 36_525.0;

/// Largest relative difference from the Earth's gravitational parameter of a body whose Sun and
/// Moon are those of the Earth.
const SAME_BODY: f64 = 0.01;

/// Parameters of Sun, Moon and magnetic field.
#[derive(Clone, Debug)]
pub(super) struct SkyTable {
    epoch: ParamId,
    third_bodies: Vec<ThirdBody>,
    irradiance: ParamId,
    /// Index of the first of the three Gauss coefficients `g₁¹`, `h₁¹`, `g₁⁰`, T.
    dipole: Option<ParamId>,
    inputs: [Option<usize>; 2],
}

/// Constants of Sun, Moon and magnetic field, computed from the parameters.
#[derive(Clone, Copy, Debug)]
pub struct SkyConstants {
    /// Time of the epoch after J2000, Julian centuries of TT.
    centuries: f64,
    /// Time of the epoch after J2000, days of UT1 (as UTC).
    days: f64,
    /// Radius of the central body, m.
    radius: f64,
    /// Gravitational parameters of the Sun and the Moon as third bodies; zero for those that are
    /// not.
    mu: [f64; 2],
    /// Radiation pressure at one astronomical unit times its square, N.
    pressure: f64,
    /// Dipole in Earth-fixed axes, T.
    dipole: Option<Vec3<f64>>,
    /// Indices of the first of three inputs with the position of the Sun and of the Moon, m; `None`
    /// for those that are computed by formulas.
    inputs: [Option<usize>; 2],
}

/// Names of the inputs with the positions of the Sun and the Moon.
const INPUTS: [&str; 2] = ["orbit.r_sun", "orbit.r_moon"];

/// Sun, Moon and rotation of the Earth at one instant; world axes.
#[derive(Clone, Debug)]
pub struct Sky<S: Scalar = f64> {
    constants: SkyConstants,
    /// Time since the epoch, s.
    t: f64,
    /// Sun's position from the central body's centre, m; zero before
    /// [`read_positions`](OrbitPoint::read_positions) if it is an input.
    pub sun: Vec3<S>,
    /// Moon's position from the central body's centre, m; zero unless it is a third body, and as
    /// `sun`.
    pub moon: Vec3<S>,
    /// Sine and cosine of the Greenwich mean sidereal time.
    sidereal: [S; 2],
}

impl SkyTable {
    /// Declares the parameters; returns `None` without an epoch.
    pub fn declare(written: &spec::Orbit, declare: &mut Declarations) -> Option<Self> {
        let Epoch(start) = written.epoch()?;
        let place = |field: &str| at("environment", "orbit", field);
        let what = "epoch of the time 0, modified Julian date in terrestrial time (TT)";
        let quantity = Quantity {
            nominal: 1e4,
            ..Quantity::new("orbit.epoch", Unit::Day, what)
        };
        let epoch = declare.parameter(quantity, start, false, &place("epoch"));
        let what = "power of sunlight per area at one astronomical unit";
        let quantity = Quantity {
            nominal: 1e3,
            ..Quantity::new("orbit.irradiance", Unit::WattPerMetre2, what).bounded(Bound::NotNegative)
        };
        let irradiance = declare.parameter(quantity, written.irradiance, false, &place("irradiance"));
        let dipole = written.magnetic_field.map(|field| {
            let coefficients = [("g11", field.g11), ("h11", field.h11), ("g10", field.g10)];
            let ids = coefficients.map(|(name, nT)| {
                let what = format!("Gauss coefficient {name} of the magnetic field");
                let quantity = Quantity {
                    nominal: 1e-5,
                    ..Quantity::new(format!("orbit.{name}"), Unit::Tesla, what)
                };
                declare.parameter(quantity, 1e-9 * nT, false, &place(&format!("magnetic_field.{name}")))
            });
            ids[0]
        });
        Some(Self {
            epoch,
            third_bodies: written.third_bodies.clone(),
            irradiance,
            dipole,
            inputs: declare_positions(written, start, declare),
        })
    }

    /// Returns true if the attraction of a third body depends on inputs.
    pub fn attracts_by_inputs(&self) -> bool {
        let is_input = |body: &ThirdBody| match body {
            ThirdBody::Sun => self.inputs[0].is_some(),
            ThirdBody::Moon => self.inputs[1].is_some(),
        };
        self.third_bodies.iter().any(is_input)
    }

    /// Returns true if the Moon's position is computed.
    pub fn has_moon(&self) -> bool {
        self.third_bodies.contains(&ThirdBody::Moon)
    }

    /// Computes the constants and validates the parameters.
    pub fn derive(
        &self,
        [mu, radius]: [ParamId; 2],
        declared: &[Parameter],
        values: &[f64],
        problems: &mut Vec<Problem>,
    ) -> SkyConstants {
        let mut report = |id: ParamId, what: String| {
            problems.push(Problem {
                at: declared[id.0].at.clone(),
                what,
            });
        };
        let epoch = self.epoch.of(values);
        if let Some(what) = Epoch(epoch).out_of_range() {
            report(self.epoch, what);
        }
        if (mu.of(values) / EARTH_MU - 1.0).abs() > SAME_BODY {
            let what = "Sun and Moon are computed for the Earth, but `mu` is that of another central body: leave \
                        `epoch` out"
                .to_owned();
            report(self.epoch, what);
        }
        let acts = |body: ThirdBody, mu: f64| if self.third_bodies.contains(&body) { mu } else { 0.0 };
        SkyConstants {
            centuries: (epoch - Epoch::J2000) / CENTURY,
            days: epoch - Epoch(epoch).ahead_of_utc() / DAY - Epoch::J2000,
            radius: radius.of(values),
            mu: [acts(ThirdBody::Sun, MU_SUN), acts(ThirdBody::Moon, MU_MOON)],
            pressure: self.irradiance.of(values) / LIGHT * ASTRONOMICAL_UNIT * ASTRONOMICAL_UNIT,
            dipole: self.dipole.map(|dipole| dipole.vector(values)),
            inputs: self.inputs,
        }
    }
}

/// Declares the positions of the Sun and the Moon that are inputs; returns the index of the first
/// component of each. They start where the formulas have them at the epoch `start` (modified Julian
/// date in TT).
fn declare_positions(written: &spec::Orbit, start: f64, declare: &mut Declarations) -> [Option<usize>; 2] {
    let T = (start - Epoch::J2000) / CENTURY;
    let of = [
        (written.sun, ephemeris::sun(T), "Sun", ASTRONOMICAL_UNIT),
        (written.moon, ephemeris::moon(T), "Moon", MOON_DISTANCE),
    ];
    [0, 1].map(|k| {
        let (source, position, body, nominal) = of[k];
        (source == Ephemeris::Input).then(|| {
            let first = declare.inputs.len();
            let what = format!("position of the {body} from the central body's centre, inertial axes");
            let quantities = Quantity::vector(INPUTS[k], Unit::Metre, &what);
            for (quantity, &start) in quantities.into_iter().zip(position.iter()) {
                declare.input(Quantity { nominal, ..quantity }, start, InputKind::Continuous);
            }
            first
        })
    })
}

impl SkyConstants {
    /// Returns the sky at the time `t` (s) after the epoch.
    pub fn at<S: Scalar>(self, t: S) -> Sky<S> {
        let T = S::lift(self.centuries) + t * S::lift(1.0 / (DAY * CENTURY));
        // Greenwich mean sidereal time (Meeus, Eq. 12.4), without the terms of T² and T³, 0.1″.
        let turns = S::lift(280.460_618_37 / 360.0 + (360.985_647_366_29 / 360.0 * self.days).fract())
            + t * S::lift(360.985_647_366_29 / (360.0 * DAY));
        let (s, c) = (turns * S::lift(TAU)).sin_cos();
        let [has_sun, has_moon] = self.inputs.map(|input| input.is_none());
        let computed = |is: bool, at: fn(S) -> Vec3<S>| if is { at(T) } else { Vec3::zeros() };
        Sky {
            constants: self,
            t: t.value(),
            sun: computed(has_sun, ephemeris::sun),
            moon: computed(has_moon && self.mu[1] != 0.0, ephemeris::moon),
            sidereal: [s, c],
        }
    }
}

impl Sky {
    /// Returns the sky as constants of the scalar type `S`.
    pub fn lift<S: Scalar>(&self) -> Sky<S> {
        Sky {
            constants: self.constants,
            t: self.t,
            sun: lift3(&self.sun),
            moon: lift3(&self.moon),
            sidereal: self.sidereal.map(S::lift),
        }
    }

    /// Returns the sky with its time derivatives.
    pub fn moving(&self) -> Sky<Dual<1>> {
        self.constants.at(Dual::new(self.t, [1.0]))
    }
}

impl<S: Scalar> OrbitPoint<S> {
    /// Sets the positions of Sun and Moon that are among the `inputs` of the loads.
    pub fn read_positions(point: Option<&mut Self>, inputs: &[S]) {
        let Some(sky) = point.and_then(|point| point.sky.as_mut()) else {
            return;
        };
        for (first, to) in sky.constants.inputs.into_iter().zip([&mut sky.sun, &mut sky.moon]) {
            if let Some(first) = first {
                *to = Vec3::new(inputs[first], inputs[first + 1], inputs[first + 2]);
            }
        }
    }

    /// Validates the positions of Sun and Moon that are inputs.
    ///
    /// # Errors
    /// [`Error::Spec`] with the name of the first one that is not outside the central body, as one
    /// that is zero, or in kilometres.
    pub fn check_positions(point: Option<&Self>) -> Result<(), Error> {
        let Some(sky) = point.and_then(|point| point.sky.as_ref()) else {
            return Ok(());
        };
        let radius = sky.constants.radius;
        for (k, position) in [&sky.sun, &sky.moon].into_iter().enumerate() {
            let distance = norm(position).value();
            let is_outside = distance > radius;
            if sky.constants.inputs[k].is_some() && !is_outside {
                let what = format!(
                    "{}: {distance} m from the centre is inside the central body, whose radius is {radius} m: set the \
                     position in m",
                    INPUTS[k]
                );
                return Err(Error::Spec(vec![Problem { at: Vec::new(), what }]));
            }
        }
        Ok(())
    }
}

impl<S: Scalar> Sky<S> {
    /// Returns the visible fraction of the Sun's disc at `r` (m) from the centre.
    pub fn sunlight(&self, r: &Vec3<S>) -> S {
        sunlight(r, &self.sun, self.constants.radius)
    }

    /// Returns the direction to the Sun (unit vector) and the radiation pressure in full sunlight
    /// (Pa) at `r` (m) from the centre.
    pub fn radiation(&self, r: &Vec3<S>) -> (Vec3<S>, S) {
        let d = self.sun - r;
        let d2 = d.dot(&d);
        (d * (S::lift(1.0) / d2.sqrt()), S::lift(self.constants.pressure) / d2)
    }

    /// Returns the magnetic flux density of the tilted dipole at `r` (m) from the centre, T:
    /// `B = (a/r)³ (3 (d·r̂) r̂ − d)`, with the Gauss coefficients `d = (g₁¹, h₁¹, g₁⁰)` along
    /// Earth-fixed axes.
    pub fn magnetic_field(&self, r: &Vec3<S>) -> Vec3<S> {
        let Some(dipole) = &self.constants.dipole else {
            return Vec3::zeros();
        };
        let ([s, c], d) = (self.sidereal, lift3::<S>(dipole));
        let d = Vec3::new(c * d.x - s * d.y, s * d.x + c * d.y, d.z);
        let per_r = S::lift(1.0) / r.dot(r).sqrt();
        let (u, ratio) = (r * per_r, per_r * S::lift(IGRF_RADIUS));
        (u * (d.dot(&u) * S::lift(3.0)) - d) * (ratio * ratio * ratio)
    }

    /// Adds the attraction of the third bodies at `r` (m) from the centre, relative to that of the
    /// centre itself, and its gradient.
    pub(super) fn add_third_bodies(&self, r: &Vec3<S>, field: &mut GravityField<S>) {
        for (mu, s) in self.constants.mu.into_iter().zip([&self.sun, &self.moon]) {
            if mu != 0.0 {
                let (opposed, G) = third_body(mu, s, r);
                field.g -= opposed;
                field.G += G;
            }
        }
    }
}

impl Sky {
    /// Passes to `add`, for each component of the third bodies' positions that are inputs, the index
    /// of the input, and the derivatives of gravity and of its gradient at `r` (m) from the centre.
    pub(super) fn along_inputs(&self, r: &Vec3<f64>, mut add: impl FnMut(usize, Vec3<f64>, Mat3<f64>)) {
        let constants = &self.constants;
        for (k, s) in [self.sun, self.moon].into_iter().enumerate() {
            let Some(first) = constants.inputs[k].filter(|_| constants.mu[k] != 0.0) else {
                continue;
            };
            for axis in 0..3 {
                let mut along = lift3::<Dual<1>>(&s);
                along[axis].eps[0] = 1.0;
                let (opposed, G) = third_body(constants.mu[k], &along, &lift3(r));
                add(first + axis, opposed.map(|x| -x.eps[0]), G.map(|x| x.eps[0]));
            }
        }
    }
}

/// Returns `−g` and `G` of the attraction of a body at `s` with the gravitational parameter `mu`,
/// without cancellation: with `d = s − r`, `q = r·(r − 2s)/s²` and `F = (1 + q)^(3/2) − 1`
///
/// ```text
///     g = −μ/d³ (r + F s),      G = μ/d³ (3 d̂d̂ᵀ − 1)
/// ```
///
/// Source: Battin, 1999, §8.4, Eqs. 8.60–8.62.
fn third_body<S: Scalar>(mu: f64, s: &Vec3<S>, r: &Vec3<S>) -> (Vec3<S>, Mat3<S>) {
    let (d, one) = (s - r, S::lift(1.0));
    let per_d2 = one / d.dot(&d);
    let k = S::lift(mu) * per_d2 * per_d2.sqrt();
    let q = r.dot(&(r - s - s)) / s.dot(s);
    let p = (one + q) * (one + q).sqrt();
    let F = q * (S::lift(3.0) + q * (S::lift(3.0) + q)) / (one + p);
    let G = d * d.transpose() * (k * per_d2 * S::lift(3.0)) - Mat3::identity() * k;
    ((r + s * F) * k, G)
}
