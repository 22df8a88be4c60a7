use super::Spec;
use super::element::{FrameField, Report, Table};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Surface that is exposed to sunlight and to the atmosphere: a flat plate or a sphere. Surfaces
/// cast no shadow on each other; the central body does.
///
/// On a flexible body the force acts at the deflected frame and the plate has its bent attitude; a
/// large array is several plates on frames along it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExposedSurface {
    /// Frame or body at whose origin the forces act: the centre of the surface. Not on an ANCF beam.
    pub frame: String,
    /// Shape. Default `plate`.
    #[serde(default)]
    pub shape: SurfaceShape,
    /// Area, m², not negative: of one side of a plate, or of a sphere's cross-section.
    pub area: f64,
    /// Outward normal of a plate, frame axes. Any length but zero. Required for a plate, and only
    /// there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub normal: Option<[f64; 3]>,
    /// Both sides of a plate are exposed, with the same properties. Default: no.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub two_sided: bool,
    /// Radiation pressure of the Sun; needs `epoch` in `[environment.orbit]`. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub radiation: Option<Radiation>,
    /// Drag; needs `[environment.orbit.atmosphere]`. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drag: Option<SurfaceDrag>,
}

/// Shape of an exposed surface.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SurfaceShape {
    /// Flat plate.
    #[default]
    Plate,
    /// Sphere.
    Sphere,
}

/// Optical properties of an exposed surface. Light that is not reflected is absorbed.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Radiation {
    /// Fraction of the light that a plate reflects as a mirror, not negative. Default 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub specular: Option<f64>,
    /// Fraction of the light that a plate reflects diffusely (Lambert's law), not negative. Default
    /// 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub diffuse: Option<f64>,
    /// Radiation pressure coefficient of a sphere, from 0 to 2: 1 + 4/9 times the fraction that it
    /// reflects diffusely. Required for a sphere, and only there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub coefficient: Option<f64>,
}

/// Drag of an exposed surface.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SurfaceDrag {
    /// Drag coefficient, relative to the area that the flow sees, not negative. Default 2.2.
    #[serde(default = "SurfaceDrag::usual")]
    pub coefficient: f64,
}

impl SurfaceDrag {
    fn usual() -> f64 {
        2.2
    }
}

impl Table for ExposedSurface {
    fn frames(&self) -> Vec<FrameField<'_>> {
        vec![FrameField::new("frame", &self.frame).with_axes()]
    }

    fn check(&self, spec: &Spec, report: &mut Report) {
        let orbit = spec.environment.orbit.as_ref();
        if self.radiation.is_none() && self.drag.is_none() {
            report.add("", "no force acts on the surface: write `radiation` or `drag`");
        }
        if self.radiation.is_some() && orbit.is_none_or(|orbit| orbit.epoch.is_none()) {
            let what = "radiation pressure needs the Sun: write [environment.orbit] with `epoch`";
            report.add("radiation", what);
        }
        if self.drag.is_some() && orbit.is_none_or(|orbit| orbit.atmosphere.is_none()) {
            let what = "drag needs an orbit with an atmosphere: write [environment.orbit.atmosphere]";
            report.add("drag", what);
        }
        let radiation = self.radiation.as_ref();
        let of_plate = radiation.is_some_and(|of| of.specular.is_some() || of.diffuse.is_some());
        let of_sphere = radiation.is_some_and(|of| of.coefficient.is_some());
        match self.shape {
            SurfaceShape::Plate => {
                if self.normal.is_none() {
                    report.add("normal", "a plate needs its normal, frame axes");
                }
                if of_sphere {
                    let what =
                        "a plate has the fractions `specular` and `diffuse`; a coefficient is for shape = \"sphere\"";
                    report.add("radiation.coefficient", what);
                }
            }
            SurfaceShape::Sphere => {
                if self.normal.is_some() {
                    report.add("normal", "a sphere has no normal");
                }
                if self.two_sided {
                    report.add("two_sided", "a sphere has one side");
                }
                if of_plate {
                    report.add("radiation", "a sphere has a `coefficient`; fractions are for plates");
                } else if radiation.is_some() && !of_sphere {
                    report.add(
                        "radiation",
                        "a sphere needs the `coefficient` of its radiation pressure",
                    );
                }
            }
        }
    }
}
