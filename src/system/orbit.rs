//! The reference orbit of the world's origin, and gravity near it.

use super::atmosphere::{Atmosphere, AtmosphereConstants};
use super::sky::{Sky, SkyConstants, SkyTable};
use super::zonal::{self, ZonalCurvature};
use super::{Bound, Declarations, ParamId, Parameter, Quantity, System, Unit};
use crate::Problem;
use crate::algebra::{Dual, Mat3, Quaternion, Scalar, Vec3, integer_power, lift3, lift33};
use crate::spec::{self, Axes, Gravity, at};
use std::f64::consts::{PI, TAU};

/// Upper limit of the eccentricity: closer to one, Kepler's equation is ill-conditioned.
const MOST_ECCENTRIC: f64 = 0.999_999;

/// The reference orbit's parameters.
#[derive(Clone, Debug)]
pub struct Orbit {
    semi_major_axis: ParamId,
    eccentricity: ParamId,
    inclination: ParamId,
    ascending_node: ParamId,
    argument_of_perigee: ParamId,
    true_anomaly: ParamId,
    mu: ParamId,
    radius: ParamId,
    J2: Option<ParamId>,
    /// Zonal coefficients of degree 3 to 6.
    zonal: [Option<ParamId>; 4],
    gravity: Gravity,
    sky: Option<SkyTable>,
    atmosphere: Option<Atmosphere>,
}

/// Constants of the reference orbit, computed from the parameters.
#[derive(Clone, Debug)]
pub struct OrbitConstants {
    /// μ, m³/s².
    mu: f64,
    /// `−3/2 μ J₂ R_E²`, m⁵/s².
    oblateness: f64,
    /// `μ Jₙ R_Eⁿ` of degree 3 to 6; `None` without these.
    zonal: Option<[f64; 4]>,
    gravity: Gravity,
    /// Sun, Moon and magnetic field; `None` without an epoch.
    sky: Option<SkyConstants>,
    /// Atmosphere of the central body.
    pub atmosphere: Option<AtmosphereConstants>,
    /// Semi-latus rectum, m.
    p: f64,
    e: f64,
    /// Mean motion, rad/s.
    n: f64,
    /// Mean anomaly at the time 0, rad.
    M: f64,
    /// Attitude of the perifocal frame in the world: x towards the perigee, z along the orbit's
    /// angular momentum.
    q_WP: Quaternion<f64>,
}

/// The reference orbit at one instant.
#[derive(Clone, Debug)]
pub struct OrbitPoint<S: Scalar = f64> {
    /// From the central body's centre to the world's origin, m, world axes.
    pub R: Vec3<S>,
    /// The origin's velocity, m/s, world axes.
    pub V: Vec3<S>,
    /// Attitude of the LVLH frame in the world: x radial, away from the central body, y along
    /// track, z along the orbit's angular momentum.
    pub q_WO: Quaternion<S>,
    /// [`q_WO`](Self::q_WO) as a matrix.
    pub R_WO: Mat3<S>,
    /// Angular velocity of the LVLH frame, rad/s, world axes.
    pub w_WO: Vec3<S>,
    /// Sun and Moon; `None` without an epoch.
    pub sky: Option<Sky<S>>,
    mu: f64,
    oblateness: f64,
    zonal: Option<[f64; 4]>,
    gravity: Gravity,
}

/// Gravity relative to the free fall of the central body, at a point: acceleration, m/s², its
/// gradient, 1/s², and second derivatives.
pub(super) struct GravityField<S: Scalar> {
    pub g: Vec3<S>,
    pub G: Mat3<S>,
    curvature: Curvature<S>,
}

/// Gravity at a point, minus the acceleration of the world's origin on its Kepler orbit, and its
/// spatial derivatives; world axes.
#[derive(Clone, Copy, Debug)]
pub struct GravityAt<S: Scalar> {
    /// Acceleration of a free particle relative to the world's origin, m/s².
    pub g: Vec3<S>,
    /// The gradient `∂g/∂r`, symmetric, 1/s².
    pub G: Mat3<S>,
    /// `None` for linear gravity.
    curvature: Option<Curvature<S>>,
}

/// Second derivatives of gravity.
#[derive(Clone, Copy, Debug)]
struct Curvature<S: Scalar> {
    /// Unit vector `r̂` from the centre of the central body.
    u: Vec3<S>,
    /// `3 μ/(2 r⁴)`, 1/(m·s²).
    central: S,
    /// `−3 μ J₂ R_E²/(4 r⁶)`, 1/(m·s²); `None` without oblateness.
    oblate: Option<S>,
    /// Those of the zonal harmonics of degree 3 to 6; `None` without these.
    zonal: Option<ZonalCurvature<S>>,
}

/// Declares a parameter of the orbit. Its nominal value is 1 rad for an angle, otherwise its
/// magnitude, or 1e-3 if it is zero.
fn declare_number(quantity: Quantity, place: &str, value: f64, declare: &mut Declarations) -> ParamId {
    let nominal = match (quantity.unit, value) {
        (Unit::Radian, _) => 1.0,
        (_, 0.0) => 1e-3,
        _ => value.abs(),
    };
    let place = at("environment", "orbit", place);
    declare.parameter(Quantity { nominal, ..quantity }, value, false, &place)
}

impl Orbit {
    /// Returns true if the positions of the Sun and of the Moon are computed.
    pub(crate) fn has_sun_and_moon(&self) -> [bool; 2] {
        [self.sky.is_some(), self.sky.as_ref().is_some_and(SkyTable::has_moon)]
    }

    /// Returns true if gravity depends on inputs: the positions of third bodies.
    pub(crate) fn attracts_by_inputs(&self) -> bool {
        self.sky.as_ref().is_some_and(SkyTable::attracts_by_inputs)
    }

    /// Declares the parameters of the orbit.
    pub(super) fn declare(written: &spec::Orbit, declare: &mut Declarations) -> Self {
        let mut number = |field: &str, place: &str, value: f64, unit: Unit, bound: Bound, what: &str| {
            let quantity = Quantity::new(format!("orbit.{field}"), unit, what).bounded(bound);
            declare_number(quantity, place, value, declare)
        };
        let semi_major_axis = number(
            "semi_major_axis",
            "semi_major_axis",
            written.semi_major_axis,
            Unit::Metre,
            Bound::Positive,
            "semi-major axis of the reference orbit",
        );
        let eccentricity = number(
            "eccentricity",
            "eccentricity",
            written.eccentricity,
            Unit::One,
            Bound::NotNegative,
            "eccentricity of the reference orbit",
        );
        let mut angle = |field: &str, degrees: f64, what: &str| {
            number(
                field,
                &format!("{field}_deg"),
                degrees.to_radians(),
                Unit::Radian,
                Bound::None,
                what,
            )
        };
        Self {
            semi_major_axis,
            eccentricity,
            inclination: angle(
                "inclination",
                written.inclination_deg,
                "inclination of the reference orbit",
            ),
            ascending_node: angle(
                "ascending_node",
                written.ascending_node_deg,
                "right ascension of the reference orbit's ascending node",
            ),
            argument_of_perigee: angle(
                "argument_of_perigee",
                written.argument_of_perigee_deg,
                "argument of the reference orbit's perigee",
            ),
            true_anomaly: angle(
                "true_anomaly",
                written.true_anomaly_deg,
                "true anomaly on the reference orbit at the time 0",
            ),
            mu: number(
                "mu",
                "mu",
                written.mu,
                Unit::Metre3PerSecond2,
                Bound::Positive,
                "gravitational parameter of the central body",
            ),
            radius: number(
                "radius",
                "radius",
                written.radius,
                Unit::Metre,
                Bound::Positive,
                "equatorial radius of the central body",
            ),
            J2: written
                .J2
                .map(|J2| number("J2", "J2", J2, Unit::One, Bound::None, "oblateness of the central body")),
            zonal: [
                ("J3", written.J3),
                ("J4", written.J4),
                ("J5", written.J5),
                ("J6", written.J6),
            ]
            .map(|(name, J)| {
                let what = format!("zonal coefficient {name} of the central body");
                J.map(|J| number(name, name, J, Unit::One, Bound::None, &what))
            }),
            gravity: written.gravity,
            sky: SkyTable::declare(written, declare),
            atmosphere: written
                .atmosphere
                .as_ref()
                .map(|atmosphere| Atmosphere::declare(atmosphere, declare)),
        }
    }

    /// Computes the constants and validates the parameters.
    pub(super) fn derive(&self, declared: &[Parameter], values: &[f64], problems: &mut Vec<Problem>) -> OrbitConstants {
        let (a, e) = (self.semi_major_axis.of(values), self.eccentricity.of(values));
        let (mu, radius) = (self.mu.of(values), self.radius.of(values));
        let mut report = |id: ParamId, what: String| {
            problems.push(Problem {
                at: declared[id.0].at.clone(),
                what,
            });
        };
        if e >= 1.0 {
            report(
                self.eccentricity,
                format!("an eccentricity of {e} is not that of a closed orbit: it must be below 1"),
            );
        } else if e > MOST_ECCENTRIC {
            report(
                self.eccentricity,
                format!(
                    "an eccentricity of {e} exceeds the maximum of {MOST_ECCENTRIC}, up to which the position on the orbit \
                     is accurate"
                ),
            );
        } else if a > 0.0 && a * (1.0 - e) <= radius {
            let [km, body] = [a * (1.0 - e), radius].map(|length| length / 1000.0);
            let what = format!(
                "the orbit's perigee, {km} km from the centre, is inside the central body (radius {body} km): the semi-major \
                axis is measured from the centre, not from the ground"
            );
            report(self.semi_major_axis, what);
        }
        let atmosphere =
            (self.atmosphere.as_ref()).map(|of| of.derive(radius, a * (1.0 - e), declared, values, problems));
        let sky = self.sky.as_ref();
        let sky = sky.map(|sky| sky.derive([self.mu, self.radius], declared, values, problems));
        // A negative eccentricity is not an orbit, but the formulas remain valid there: finite
        // differences about zero evaluate them.
        let e = e.clamp(-MOST_ECCENTRIC, MOST_ECCENTRIC);
        let nu = self.true_anomaly.of(values);
        // tan E/2 = √((1 − e)/(1 + e)) tan ν/2, in the same turn.
        let (s, c) = Scalar::sin_cos(0.5 * nu);
        let E = 2.0 * Scalar::atan2((1.0 - e).sqrt() * s, (1.0 + e).sqrt() * c);
        let turn = |axis: Vec3<f64>, id: ParamId| Quaternion::from_axis_angle(axis, id.of(values));
        OrbitConstants {
            mu,
            oblateness: self.J2.map_or(0.0, |J2| -1.5 * mu * J2.of(values) * radius * radius),
            zonal: self.zonal.iter().any(Option::is_some).then(|| {
                let of =
                    |i: usize| self.zonal[i].map_or(0.0, |J| mu * J.of(values) * integer_power(radius, 3 + i as u32));
                [0, 1, 2, 3].map(of)
            }),
            gravity: self.gravity,
            sky,
            atmosphere,
            p: a * (1.0 - e * e),
            e,
            n: (mu / a).sqrt() / a,
            M: E - e * Scalar::sin_cos(E).0,
            q_WP: turn(Vec3::z(), self.ascending_node)
                * turn(Vec3::x(), self.inclination)
                * turn(Vec3::z(), self.argument_of_perigee),
        }
    }
}

/// Returns the eccentric anomaly (rad) of the mean anomaly `M` in −π … π: `E − e sin E = M`, by
/// Newton's method. From its starting value the iteration converges monotonically.
fn eccentric_anomaly(M: f64, e: f64) -> f64 {
    let mut E = if e > 0.8 {
        PI.copysign(M)
    } else {
        (M + e * M.signum()).clamp(-PI, PI)
    };
    for _ in 0..50 {
        let (s, c) = Scalar::sin_cos(E);
        let step = (E - e * s - M) / (1.0 - e * c);
        E -= step;
        if step.abs() <= 4.0 * f64::EPSILON {
            break;
        }
    }
    E
}

impl OrbitConstants {
    /// Returns the reference orbit at the time `t` (s): position and velocity of the world's
    /// origin, by Kepler's equation, and the LVLH frame.
    pub fn at(&self, t: f64) -> OrbitPoint {
        let M = self.M + self.n * t;
        let turns = (M / TAU).round();
        let E = eccentric_anomaly(M - TAU * turns, self.e);
        let e = self.e;
        // tan(ν − E)/2 = β sin E/(1 − β cos E): full turns are kept.
        let beta = e / (1.0 + (1.0 - e * e).sqrt());
        let (s, c) = Scalar::sin_cos(E);
        let nu = E + 2.0 * Scalar::atan2(beta * s, 1.0 - beta * c);
        let (s, c) = Scalar::sin_cos(nu);
        let per_r = (1.0 + e * c) / self.p;
        let (r, h) = (1.0 / per_r, (self.mu * self.p).sqrt());
        let half_turns = Quaternion::from_axis_angle(Vec3::z(), nu + TAU * (turns % 2.0));
        let q_WO = self.q_WP * half_turns;
        let R_WO = q_WO.rotation();
        OrbitPoint {
            R: R_WO.column(0) * r,
            V: R_WO * Vec3::new(self.mu / h * e * s, h * per_r, 0.0),
            q_WO,
            w_WO: R_WO.column(2) * (h * per_r * per_r),
            R_WO,
            sky: self.sky.map(|sky| sky.at(t)),
            mu: self.mu,
            oblateness: self.oblateness,
            zonal: self.zonal,
            gravity: self.gravity,
        }
    }
}

impl System {
    /// Transforms the starts of free bodies that are relative to the LVLH frame to world axes, in
    /// the coordinates `q` and the rates `qd` of all joints and modes.
    pub fn start_in_orbit<S: Scalar>(&self, orbit: &OrbitPoint, q: &mut [S], qd: &mut [S]) {
        let joints = self.bodies.iter().map(|body| &body.joint);
        for joint in joints.filter(|joint| joint.start_axes == Axes::Lvlh) {
            let (q, qd) = (&mut q[joint.q..joint.q + 7], &mut qd[joint.v..joint.v + 6]);
            let vector = |parts: &[S]| Vec3::from_column_slice(parts);
            let q_OB = Quaternion::from_slice(q);
            let (w, v) = orbit.seen_from_world((q_OB, vector(&q[4..])), (vector(&qd[..3]), vector(&qd[3..])));
            let q_WO = orbit.q_WO.lift::<S>();
            let r = q_WO.rotate(vector(&q[4..]));
            q[..4].copy_from_slice(&(q_WO * q_OB).to_array());
            q[4..].copy_from_slice(r.as_slice());
            qd[..3].copy_from_slice(w.as_slice());
            qd[3..].copy_from_slice(v.as_slice());
        }
        for beam in self.nodal.iter().filter(|beam| beam.start_axes == Axes::Lvlh) {
            beam.start_in_orbit(orbit, q, qd);
        }
    }
}

impl OrbitPoint {
    /// Returns the point as a constant with components of the scalar type `S`.
    pub fn lift<S: Scalar>(&self) -> OrbitPoint<S> {
        OrbitPoint {
            R: lift3(&self.R),
            V: lift3(&self.V),
            q_WO: self.q_WO.lift(),
            R_WO: lift33(&self.R_WO),
            w_WO: lift3(&self.w_WO),
            sky: self.sky.as_ref().map(Sky::lift),
            mu: self.mu,
            oblateness: self.oblateness,
            zonal: self.zonal,
            gravity: self.gravity,
        }
    }

    /// Returns the point with its time derivatives, as dual numbers: `Ṙ = V`, `V̇ = −μ R/R³`, and
    /// LVLH axes that rotate at `w_WO`.
    pub fn moving(&self) -> OrbitPoint<Dual<1>> {
        let number = |value: f64, rate: f64| Dual::new(value, [rate]);
        let vector = |value: &Vec3<f64>, rate: Vec3<f64>| value.zip_map(&rate, number);
        let (
            Self {
                R, V, q_WO, R_WO, w_WO, ..
            },
            R2,
        ) = (self, self.R.norm_squared());
        let q_rate = q_WO.rate(R_WO.tr_mul(w_WO));
        OrbitPoint {
            R: vector(R, *V),
            V: vector(V, R * (-self.mu / (R2 * R2.sqrt()))),
            q_WO: Quaternion::new(
                number(q_WO.w, q_rate.w),
                number(q_WO.x, q_rate.x),
                number(q_WO.y, q_rate.y),
                number(q_WO.z, q_rate.z),
            ),
            R_WO: R_WO.zip_map(&(w_WO.cross_matrix() * R_WO), number),
            w_WO: vector(w_WO, self.wd_WO()),
            sky: self.sky.as_ref().map(Sky::moving),
            ..self.lift()
        }
    }

    /// Returns a body's angular velocity (rad/s, body axes) and velocity (m/s, world axes) in the
    /// world, from attitude, position, angular velocity (body axes) and velocity relative to the
    /// rotating LVLH frame.
    fn seen_from_world<S: Scalar>(
        &self,
        (q_OB, r): (Quaternion<S>, Vec3<S>),
        (w, v): (Vec3<S>, Vec3<S>),
    ) -> (Vec3<S>, Vec3<S>) {
        let w_WO_O = lift3::<S>(&self.R_WO.tr_mul(&self.w_WO));
        let v_O = v + w_WO_O.cross(&r);
        (w + q_OB.conjugate().rotate(w_WO_O), lift33::<S>(&self.R_WO) * v_O)
    }
}

impl OrbitPoint {
    /// Passes to `add`, for each input that is a component of a third body's position, its index and
    /// the derivatives of [`gravity`](Self::gravity) and of its gradient at `rho`, 1/s² and 1/(m s²).
    pub fn gravity_along_inputs(&self, rho: &Vec3<f64>, mut add: impl FnMut(usize, Vec3<f64>, Mat3<f64>)) {
        let Some(sky) = &self.sky else { return };
        match self.gravity {
            Gravity::Exact => sky.along_inputs(&(self.R + rho), add),
            Gravity::SecondOrder => sky.along_inputs(&self.R, |input, g, G| add(input, g + G * rho, G)),
        }
    }
}

impl<S: Scalar> OrbitPoint<S> {
    /// Returns the derivative of the LVLH frame's angular velocity `w = h/R²`, rad/s², inertial axes:
    /// `ẇ = −2 (R·V/R²) w`.
    pub fn wd_WO(&self) -> Vec3<S> {
        self.w_WO * (self.R.dot(&self.V) * S::lift(-2.0) / self.R.dot(&self.R))
    }

    /// Returns gravity at the position `rho` from the world's origin, m, world axes.
    ///
    /// The difference of the central attraction from that at the origin is computed without
    /// cancellation (Encke's method in Battin's form): with `q = ρ·(2R + ρ)/R²` and
    /// `F = 1 − (1 + q)^(−3/2)`
    ///
    /// ```text
    ///     g(R + ρ) − g(R) = −μ/R³ (ρ (1 − F) − R F)
    /// ```
    pub fn gravity(&self, rho: &Vec3<S>) -> GravityAt<S> {
        match self.gravity {
            Gravity::Exact => {
                let (R, one) = (self.R, S::lift(1.0));
                let R2 = R.dot(&R);
                let q = rho.dot(&(R + R + rho)) * (one / R2);
                let p = (one + q) * (one + q).sqrt();
                let F = q * (S::lift(3.0) + q * (S::lift(3.0) + q)) / (p * (one + p));
                let mut g = (rho * (one - F) - R * F) * (S::lift(-self.mu) / (R2 * R2.sqrt()));
                let field = self.field(&(R + rho));
                g += field.g;
                GravityAt {
                    g,
                    G: field.G,
                    curvature: Some(field.curvature),
                }
            }
            Gravity::SecondOrder => {
                let GravityField { g: a, G, .. } = self.field(&self.R);
                GravityAt {
                    g: a + G * rho,
                    G,
                    curvature: None,
                }
            }
        }
    }

    /// Returns, at `r` (m) from the centre, the gravity due to the oblateness, the other harmonics
    /// and the third bodies, the total gradient, and the second derivatives. Those of third bodies,
    /// a part of 1e-16 of their attraction of a body of 4 m, are neglected.
    fn field(&self, r: &Vec3<S>) -> GravityField<S> {
        let number = |value: f64| S::lift(value);
        let r2 = r.dot(r);
        let per_r = number(1.0) / r2.sqrt();
        let per_r2 = per_r * per_r;
        let u = r * per_r;
        let k = number(self.mu) * per_r * per_r2;
        let mut G = u * u.transpose() * (number(3.0) * k);
        for i in 0..3 {
            G[(i, i)] -= k;
        }
        let curvature = Curvature {
            u,
            central: number(1.5) * k * per_r,
            oblate: None,
            zonal: None,
        };
        let g = Vec3::zeros();
        let mut field = GravityField { g, G, curvature };
        if self.oblateness != 0.0 {
            self.add_oblateness(&u, per_r, &mut field);
        }
        if let Some(zonal) = &self.zonal {
            field.curvature.zonal = Some(zonal::add(zonal, &u, per_r, &mut field));
        }
        if let Some(sky) = &self.sky {
            sky.add_third_bodies(r, &mut field);
        }
        field
    }

    /// Adds the gravity due to the oblateness, at the distance `1/per_r` along the unit vector `u`.
    fn add_oblateness(&self, u: &Vec3<S>, per_r: S, field: &mut GravityField<S>) {
        let number = |value: f64| S::lift(value);
        let per_r2 = per_r * per_r;
        // g = c/r⁴ ((1 − 5 s²) û + 2 s ẑ),  s = û·ẑ,  c = −3/2 μ J₂ R_E²
        let s = u.z;
        let c = number(self.oblateness) * per_r2 * per_r2;
        field.curvature.oblate = Some(number(0.5) * c * per_r2);
        let [one, five] = [1.0, 5.0].map(number);
        let along = one - five * s * s;
        let z = Vec3::new(number(0.0), number(0.0), one);
        field.g += (u * along + z * (s + s)) * c;
        let (c, G) = (c * per_r, &mut field.G);
        let uz = u * z.transpose();
        *G += (u * u.transpose() * (number(35.0) * s * s - five) - (uz + uz.transpose()) * (number(10.0) * s)) * c;
        for i in 0..3 {
            G[(i, i)] += along * c;
        }
        G[(2, 2)] += c + c;
    }
}

impl<S: Scalar> GravityAt<S> {
    /// Returns the force on a body (N) due to the second derivatives of gravity, `½ P:∇∇g`, with
    /// the second moment of mass `P = ∫ p pᵀ dm` (kg·m²) about the point.
    ///
    /// Together with the moment of the gradient it conserves a body's energy and its angular
    /// momentum about the centre. With `t = tr P`, `q = r̂·P r̂`, `s = r̂·ẑ`, `w = ẑ·P r̂` and
    /// `c = −3/2 μ J₂ R_E²`
    ///
    /// ```text
    ///     3μ/(2r⁴) ((t − 5q) r̂ + 2 P r̂)
    ///     + c/(2r⁶) ((35 (t s² + q + 4 s w) − 5 (t + 2 P_zz) − 315 s² q) r̂
    ///                + (70 s q − 10 t s − 20 w) ẑ + (70 s² − 10) P r̂ − 20 s P ẑ)
    /// ```
    pub fn beyond_gradient(&self, P: &Mat3<S>) -> Vec3<S> {
        let Some(Curvature {
            u,
            central,
            oblate,
            zonal,
        }) = self.curvature
        else {
            return Vec3::zeros();
        };
        let n = S::lift;
        let Pu = P * u;
        let (t, q) = (P.trace(), u.dot(&Pu));
        let mut force = (u * (t - q * n(5.0)) + Pu + Pu) * central;
        if let Some(zonal) = zonal {
            force += zonal.force(&u, P);
        }
        let Some(c) = oblate else { return force };
        let (s, w) = (u.z, Pu.z);
        let along =
            (t * s * s + q + s * w * n(4.0)) * n(35.0) - (t + P[(2, 2)] * n(2.0)) * n(5.0) - s * s * q * n(315.0);
        let mut of_oblateness = u * along + Pu * (s * s * n(70.0) - n(10.0)) - P.column(2) * (s * n(20.0));
        of_oblateness.z += s * q * n(70.0) - t * s * n(10.0) - w * n(20.0);
        force + of_oblateness * c
    }

    /// Returns the moment of the gradient about the point, `∫ p × G p dm`, N·m, with the second
    /// moment of mass `P` about the point, kg·m².
    pub fn moment(&self, P: &Mat3<S>) -> Vec3<S> {
        let PG = P * self.G;
        Vec3::new(
            PG[(1, 2)] - PG[(2, 1)],
            PG[(2, 0)] - PG[(0, 2)],
            PG[(0, 1)] - PG[(1, 0)],
        )
    }
}
