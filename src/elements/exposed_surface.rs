use super::{Compiler, Cursor, Element, Instant, Outputs, Reads, Values, View, report};
use crate::Problem;
use crate::algebra::fused::{dot, rotated};
use crate::algebra::{Scalar, Vec3, Wrench, lift3, norm};
use crate::dynamics::Applied;
use crate::spec::{self, Spec, SurfaceShape, at};
use crate::system::{Bound, FrameRef, ParamId, Quantity, System, Unit};

/// Plate or sphere under the radiation pressure of the Sun and under drag.
#[derive(Clone, Debug)]
pub(crate) struct ExposedSurface {
    name: String,
    at: FrameRef,
    shape: Shape,
    area: ParamId,
    radiation: Option<Radiation>,
    /// Drag coefficient.
    drag: Option<ParamId>,
}

/// Shape of the surface.
#[derive(Clone, Copy, Debug)]
enum Shape {
    Plate { normal: ParamId, two_sided: bool },
    Sphere,
}

/// Parameters of the radiation pressure.
#[derive(Clone, Copy, Debug)]
enum Radiation {
    /// Index of the first of the fractions: specular, diffuse.
    Plate(ParamId),
    /// Coefficient.
    Sphere(ParamId),
}

/// A surface at one instant, world axes.
struct Place<S: Scalar> {
    /// Position from the central body's centre, m.
    r: Vec3<S>,
    /// Velocity relative to the central body, m/s.
    v: Vec3<S>,
    /// Unit normal; zero for a sphere.
    normal: Vec3<S>,
    /// From the origin of the frame's carrier, m.
    arm: Vec3<S>,
}

impl Element for ExposedSurface {
    fn compile(from: &mut Compiler) -> Vec<Self> {
        let mut surfaces = Vec::new();
        for (name, written) in &from.spec.exposed_surface {
            let Some(frame) = from.frame(["exposed_surface", name, "frame"], &written.frame) else {
                continue;
            };
            let mut declare = |field: &str, place: &str, value: f64, unit: Unit, what: &str| {
                let quantity = Quantity::new(format!("{name}.{field}"), unit, format!("{what} of surface {name}"));
                let at = at("exposed_surface", name, place);
                from.declare
                    .parameter(quantity.bounded(Bound::NotNegative), value, true, &at)
            };
            let area = declare("area", "area", written.area, Unit::Metre2, "area");
            let drag = written.drag.map(|drag| {
                let what = "drag coefficient";
                declare(
                    "drag_coefficient",
                    "drag.coefficient",
                    drag.coefficient,
                    Unit::One,
                    what,
                )
            });
            let is_sphere = written.shape == SurfaceShape::Sphere;
            let radiation = written
                .radiation
                .map(|of| declare_radiation(is_sphere, &of, &mut declare));
            let shape = match written.normal {
                Some(normal) if !is_sphere => {
                    let what = format!("outward normal of surface {name}, axes of {}", written.frame);
                    let quantities = Quantity::vector(&format!("{name}.normal"), Unit::One, &what);
                    let at = at("exposed_surface", name, "normal");
                    Shape::Plate {
                        normal: from.declare.parameters(quantities, &normal, false, &at),
                        two_sided: written.two_sided,
                    }
                }
                _ => Shape::Sphere,
            };
            surfaces.push(Self {
                name: name.clone(),
                at: frame,
                shape,
                area,
                radiation,
                drag,
            });
        }
        surfaces
    }

    /// Reports a normal without direction, and fractions of the light that exceed it.
    fn validate(&self, of: Values, problems: &mut Vec<Problem>) {
        if let Shape::Plate { normal, .. } = self.shape
            && normal.direction(of.values).is_none()
        {
            report(of.declared, normal, problems, "the normal has zero length".to_owned());
        }
        match self.radiation {
            Some(Radiation::Plate(specular)) => {
                let [s, d] = [specular, specular.nth(1)].map(|fraction| fraction.of(of.values));
                if s + d > 1.0 {
                    let what = format!(
                        "the fractions specular = {s} and diffuse = {d} exceed 1 together: the rest is absorbed"
                    );
                    report(of.declared, specular, problems, what);
                }
            }
            Some(Radiation::Sphere(coefficient)) if coefficient.of(of.values) > 2.0 => {
                let what = format!("a coefficient of {} exceeds 2", coefficient.of(of.values));
                report(of.declared, coefficient, problems, what);
            }
            _ => {}
        }
    }

    fn outputs(&self, _: &Spec, _: &System, to: &mut Outputs) {
        let name = &self.name;
        let mut number = |field: &str, unit, nominal: f64, what: &str| {
            let quantity = Quantity::new(format!("{name}.{field}"), unit, format!("{what} {name}"));
            to.continuous([Quantity { nominal, ..quantity }]);
        };
        if self.radiation.is_some() {
            number(
                "sunlight",
                Unit::One,
                1.0,
                "visible fraction of the Sun's disc at surface",
            );
        }
        if self.drag.is_some() {
            number(
                "density",
                Unit::KilogramPerMetre3,
                1e-12,
                "density of the atmosphere at surface",
            );
        }
        let mut force = |field: &str, what: &str| {
            let what = format!("force of {what} on surface {name}, inertial axes");
            let quantities = Quantity::vector(&format!("{name}.{field}"), Unit::Newton, &what);
            to.continuous(quantities.map(|quantity| Quantity {
                nominal: 1e-4,
                ..quantity
            }));
        };
        if self.radiation.is_some() {
            force("radiation_force", "radiation pressure");
        }
        if self.drag.is_some() {
            force("drag_force", "drag");
        }
    }

    fn observe<S: Scalar>(&self, view: &View<S>, y: &mut Cursor<S>) {
        let now = &view.now;
        let place = self.place(now);
        let (sunlight, pressed) = self.radiation(now, &place);
        let (density, dragged) = self.drag(now, &place);
        if self.radiation.is_some() {
            y.number(sunlight);
        }
        if self.drag.is_some() {
            y.number(density);
        }
        if self.radiation.is_some() {
            y.vector(&pressed);
        }
        if self.drag.is_some() {
            y.vector(&dragged);
        }
    }

    fn reads(&self) -> Reads {
        Reads::MOTION
    }

    fn works_on_bodies(&self) -> bool {
        true
    }

    fn add_active<S: Scalar>(&self, now: &Instant<S>, applied: &mut Applied<S>) {
        let place = self.place(now);
        let force = self.radiation(now, &place).1 + self.drag(now, &place).1;
        let F = Wrench::new(Vec3::zeros(), force).shift(&place.arm);
        applied.push(now.system, now.kinematics, now.system.carrier(self.at), F);
    }
}

/// Declares the parameters of the radiation pressure by `declare`.
fn declare_radiation(
    is_sphere: bool,
    written: &spec::Radiation,
    declare: &mut impl FnMut(&str, &str, f64, Unit, &str) -> ParamId,
) -> Radiation {
    if is_sphere {
        let what = "radiation pressure coefficient";
        let value = written.coefficient.unwrap_or(1.0);
        let place = "radiation.coefficient";
        return Radiation::Sphere(declare("radiation_coefficient", place, value, Unit::One, what));
    }
    let mut fraction = |field: &str, value: Option<f64>, what: &str| {
        declare(
            field,
            &format!("radiation.{field}"),
            value.unwrap_or(0.0),
            Unit::One,
            what,
        )
    };
    let specular = fraction("specular", written.specular, "specularly reflected fraction");
    fraction("diffuse", written.diffuse, "diffusely reflected fraction");
    Radiation::Plate(specular)
}

impl ExposedSurface {
    /// Returns position, velocity and normal of the surface.
    fn place<S: Scalar>(&self, now: &Instant<S>) -> Place<S> {
        let (system, kinematics) = (now.system, now.kinematics);
        let X_WF = kinematics.arm(system, now.derived, self.at);
        let carrier = kinematics.carrier(system.carrier(self.at));
        let (R, V) = match now.orbit {
            Some(orbit) => (orbit.R, orbit.V),
            None => (Vec3::zeros(), Vec3::zeros()),
        };
        let normal = match self.shape {
            Shape::Plate { normal, .. } => normal.direction(now.parameters).unwrap_or_else(Vec3::zeros),
            Shape::Sphere => Vec3::zeros(),
        };
        Place {
            r: R + (carrier.p_WB + X_WF.p),
            v: V + carrier.V_WB.shift(&X_WF.p).v,
            normal: rotated(&X_WF.R, &lift3::<S>(&normal)),
            arm: X_WF.p,
        }
    }

    /// Returns the visible fraction of the Sun's disc, and the force of radiation pressure, N, world
    /// axes: with the direction `ŝ` to the Sun, `cos θ = n̂·ŝ` and the fractions `ρ` (specular) and
    /// `δ` (diffuse)
    ///
    /// ```text
    ///     F = −P A cos θ ((1 − ρ) ŝ + 2 (ρ cos θ + δ/3) n̂)      plate
    ///     F = −P A C_R ŝ                                        sphere
    /// ```
    ///
    /// Source: Montenbruck and Gill, *Satellite Orbits*, 2000, §3.4.1.
    fn radiation<S: Scalar>(&self, now: &Instant<S>, place: &Place<S>) -> (S, Vec3<S>) {
        let sky = now.orbit.and_then(|orbit| orbit.sky.as_ref());
        let (Some(radiation), Some(sky)) = (self.radiation, sky) else {
            return (S::zero(), Vec3::zeros());
        };
        let n = |id: ParamId| S::lift(id.of(now.parameters));
        let ((sun, pressure), sunlight) = (sky.radiation(&place.r), sky.sunlight(&place.r));
        let scale = pressure * sunlight * n(self.area);
        let force = match radiation {
            Radiation::Sphere(coefficient) => sun * n(coefficient),
            Radiation::Plate(specular) => {
                let cos = dot(&place.normal, &sun);
                let lit = self.facing(cos);
                let (rho, delta) = (n(specular), n(specular.nth(1)));
                let along_sun = lit * (S::lift(1.0) - rho);
                // The diffuse part is along the side that is lit.
                let along_normal = cos * lit * rho + self.facing_sign(cos) * lit * delta * S::lift(1.0 / 3.0);
                sun * along_sun + place.normal * (along_normal + along_normal)
            }
        };
        (sunlight, -force * scale)
    }

    /// Returns the density, kg/m³, and the drag, N, world axes: with the velocity `v` relative to the
    /// atmosphere
    ///
    /// ```text
    ///     F = −½ ρ C_D A (n̂·v) v      plate,       F = −½ ρ C_D A |v| v      sphere
    /// ```
    fn drag<S: Scalar>(&self, now: &Instant<S>, place: &Place<S>) -> (S, Vec3<S>) {
        let atmosphere = now.derived.orbit.as_ref().and_then(|orbit| orbit.atmosphere.as_ref());
        let (Some(coefficient), Some(atmosphere)) = (self.drag, atmosphere) else {
            return (S::zero(), Vec3::zeros());
        };
        let density = atmosphere.density(&place.r, S::numbers(now.parameters));
        let v = place.v - atmosphere.wind(&place.r);
        let speed = match self.shape {
            Shape::Plate { .. } => self.facing(dot(&place.normal, &v)),
            Shape::Sphere => norm(&v),
        };
        let factor = S::lift(coefficient.of(now.parameters) * -0.5 * self.area.of(now.parameters));
        (density, v * (density * speed * factor))
    }

    /// Returns the component `x` along the normal as the exposed side sees it: zero from behind, or
    /// its magnitude if both sides are exposed.
    fn facing<S: Scalar>(&self, x: S) -> S {
        x * self.facing_sign(x)
    }

    /// Returns 1 on the side of the normal, and on the other side 0, or −1 if both are exposed.
    fn facing_sign<S: Scalar>(&self, x: S) -> S {
        let behind = match self.shape {
            Shape::Plate { two_sided: true, .. } => -1.0,
            _ => 0.0,
        };
        S::select(x.exceeds(0.0), S::lift(1.0), S::lift(behind))
    }
}
