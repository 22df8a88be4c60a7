//! The spacecraft at its start, and the shapes of its bodies.

use crate::results::Results;
use grapple::Error;
use grapple::algebra::{Mat3, Vec3};
use grapple::plant::{Model, Plant};
use grapple::spec::{Beam, GeometricallyExactBeam};
use grapple::system::{BodyConstants, Derived, Kinematics, System};
use std::sync::Arc;

/// Returns a plant with the parameter values of a run.
///
/// # Errors
/// The parameters are invalid.
pub fn prepared(model: &Arc<Model>, results: &Results) -> Result<Plant, Error> {
    let mut plant = Plant::new(Arc::clone(model))?;
    let set = model.parameters.iter().zip(plant.parameters());
    let values: Vec<f64> = set
        .map(|(parameter, value)| results.parameter(&parameter.quantity.name).unwrap_or(*value))
        .collect();
    plant.set_parameters(&values)?;
    Ok(plant)
}

/// A spacecraft at its start.
pub struct Start<'a> {
    /// Bodies, joints and frames.
    pub system: &'a System,
    /// Constants derived from the parameters.
    pub derived: &'a Derived,
    /// Positions and orientations at the start, world axes.
    pub kinematics: Kinematics<f64>,
}

impl<'a> Start<'a> {
    /// Computes the start with the plant's parameters, as written; loops may be open.
    pub fn of(model: &'a Model, plant: &'a Plant) -> Self {
        Self::at(model, plant, &model.start_at(plant.derived(), 0.0, plant.parameters()))
    }

    /// Computes the start of a run.
    ///
    /// # Errors
    /// No start closes the loops, or there is no equilibrium.
    pub fn solved(model: &'a Model, plant: &'a Plant) -> Result<Self, Error> {
        let start = model.solved_start(plant.derived(), 0.0, plant.parameters())?;
        Ok(Self::at(model, plant, &start))
    }

    /// Computes the poses at coordinates and rates.
    fn at(model: &'a Model, plant: &'a Plant, (q, qd): &(Vec<f64>, Vec<f64>)) -> Self {
        let (system, derived) = (model.system(), plant.derived());
        let mut kinematics = Kinematics::new(system);
        kinematics.update(system, derived, q, qd);
        Self {
            system,
            derived,
            kinematics,
        }
    }

    /// Returns the solid with the mass and inertia of a body: a cylinder for a wheel's rotor.
    pub fn solid(&self, body: usize, is_rotor: bool) -> Solid {
        Solid::of(&self.derived.bodies[body], is_rotor)
    }
}

/// A box or a cylinder of uniform density.
pub struct Solid {
    /// Centre, m, body axes.
    pub centre: Vec3<f64>,
    /// Its axes in body axes, a rotation; a cylinder's axis is the third.
    pub axes: Mat3<f64>,
    /// Lengths along its axes, m; for a cylinder diameter, diameter and length.
    pub size: [f64; 3],
    /// Set for a cylinder.
    pub is_round: bool,
}

/// Largest thickness of a plate or rod that is increased to be visible, as a part of its length.
const THINNEST: f64 = 0.03;

/// Relative difference of two moments of inertia that count as equal.
const EQUAL: f64 = 1e-6;

impl Solid {
    /// Returns the box with a body's mass and inertia, whose sides are `s²ᵢ = (12/m)(½ tr I − Iᵢ)`
    /// on the principal axes. A slender body with two equal moments, and a rotor, is a cylinder,
    /// whose diameter is `d² = (8/m) I` with the moment about its axis. Sides thinner than 3 % of
    /// the longest are increased.
    fn of(body: &BodyConstants, is_rotor: bool) -> Self {
        let I = body.I_Bcm.full();
        let principal = I.symmetric_eigen();
        let mut axes = principal.eigenvectors;
        let mut moments: [f64; 3] = principal.eigenvalues.into();
        // The axis that differs from the two others, if there is one, becomes the third.
        let equal = |a: f64, b: f64| (a - b).abs() <= EQUAL * a.abs().max(b.abs());
        let odd = (0..3)
            .find(|&i| equal(moments[(i + 1) % 3], moments[(i + 2) % 3]) && !equal(moments[i], moments[(i + 1) % 3]));
        let is_round = odd.is_some_and(|i| is_rotor || moments[i] < moments[(i + 1) % 3] / 3.0);
        if let Some(i) = odd.filter(|_| is_round) {
            axes.swap_columns(i, 2);
            moments.swap(i, 2);
        }
        if axes.determinant() < 0.0 {
            let x = -axes.column(0);
            axes.set_column(0, &x);
        }
        let half = 0.5 * moments.iter().sum::<f64>();
        let mut size = moments.map(|moment| (12.0 / body.m * (half - moment)).max(0.0).sqrt());
        if is_round {
            size[..2].fill((8.0 / body.m * moments[2]).sqrt());
        }
        let least = (THINNEST * size.iter().copied().fold(0.0, f64::max)).max(1e-9);
        Self {
            centre: body.p_BoBcm,
            axes,
            size: size.map(|side| side.max(least)),
            is_round,
        }
    }
}

/// Cross-section of a beam.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Section {
    /// Rectangle: sides along y and z, m.
    Bar([f64; 2]),
    /// Thin-walled tube: radius, m.
    Tube(f64),
}

impl Section {
    /// Returns the section of one material with the radii of gyration squared along y and z
    /// (`∫y² dA/A`, `∫z² dA/A`, m²): a rectangle, or a tube if they are equal.
    fn of(along_y: f64, along_z: f64) -> Option<Self> {
        if !(along_y > 0.0 && along_z > 0.0) {
            return None;
        }
        Some(match (along_y - along_z).abs() <= EQUAL * along_y {
            true => Self::Tube((2.0 * along_y).sqrt()),
            false => Self::Bar([along_y, along_z].map(|square| (12.0 * square).sqrt())),
        })
    }

    /// Divides the polar radius of gyration squared, `polar`, in proportion to the stiffnesses.
    fn divided(polar: f64, EI_y: f64, EI_z: f64) -> Option<Self> {
        // `EI_y` resists deflection along z.
        Self::of(polar * EI_z / (EI_y + EI_z), polar * EI_y / (EI_y + EI_z))
    }

    /// Returns the section of a modal beam; `None` if the spec does not define it.
    pub fn of_beam(beam: &Beam) -> Option<Self> {
        if let (Some(area), Some(I_y), Some(I_z)) = (beam.area, beam.I_y, beam.I_z) {
            return Self::of(I_z / area, I_y / area);
        }
        let root = beam.sections.first();
        let polar = match root {
            Some(root) => root.polar_inertia_per_length / root.mass_per_length,
            None => beam.polar_inertia_per_length? / beam.mass_per_length?,
        };
        let stiffness = root.map(|root| (root.EI_y, root.EI_z)).or(beam.EI_y.zip(beam.EI_z));
        let (EI_y, EI_z) = stiffness.unwrap_or((1.0, 1.0));
        Self::divided(polar, EI_y, EI_z)
    }

    /// Returns the section of a geometrically exact beam.
    pub fn of_exact_beam(beam: &GeometricallyExactBeam) -> Option<Self> {
        let m = beam.mass_per_length;
        if let (Some(about_y), Some(about_z)) = (beam.inertia_y_per_length, beam.inertia_z_per_length) {
            return Self::of(about_z / m, about_y / m);
        }
        let (EI_y, EI_z) = beam.EI_y.zip(beam.EI_z).unwrap_or((1.0, 1.0));
        Self::divided(beam.polar_inertia_per_length? / m, EI_y, EI_z)
    }
}

#[cfg(feature = "inside")]
pub(super) mod tests {
    use super::*;
    use grapple::spec::{Spec, read};
    use std::path::Path;

    unit_tests![
        solid_has_the_inertia_of_its_body,
        rod_keeps_its_length_and_becomes_visibly_thick,
        section_of_a_beam_has_its_radii_of_gyration,
    ];

    fn model(text: &str) -> Arc<Model> {
        let spec: Spec = read(text, Path::new("")).expect("a spec");
        Arc::new(Model::compile(&spec).expect("a model"))
    }

    /// Returns the inertia of a solid of uniform density about its centre, body axes.
    fn inertia(solid: &Solid, m: f64) -> Mat3<f64> {
        let [x, y, z] = solid.size;
        let moments = match solid.is_round {
            true => [x, y, 0.0].map(|d| {
                if d > 0.0 {
                    (3.0 * d * d / 4.0 + z * z) / 12.0
                } else {
                    x * x / 8.0
                }
            }),
            false => [y * y + z * z, z * z + x * x, x * x + y * y].map(|sum| sum / 12.0),
        };
        solid.axes * Mat3::from_diagonal(&Vec3::from(moments)) * solid.axes.transpose() * m
    }

    fn solid_has_the_inertia_of_its_body() {
        for (numbers, is_rotor, is_round) in [
            ("[500.0, 450.0, 400.0]", false, false),
            ("[80.0, 90.0, 100.0, 6.0, -4.0, 3.0]", false, false),
            ("[200.0, 200.0, 200.0]", false, false),
            ("[80.0, 80.0, 100.0]", false, false),
            ("[0.9, 9.0, 9.0]", false, true),
            ("[9.0, 0.9, 9.0]", false, true),
            ("[5.0, 5.0, 9.9]", true, true),
        ] {
            let model = model(&format!(
                "name = \"m\"\n[body.b]\nmass = 7.0\nmass_centre = [0.1, 0.2, -0.3]\ninertia = {numbers}\n"
            ));
            let plant = Plant::new(Arc::clone(&model)).expect("a plant");
            let solid = Start::of(&model, &plant).solid(0, is_rotor);
            assert_eq!(solid.is_round, is_round, "{numbers}");
            assert!((solid.axes.determinant() - 1.0).abs() < 1e-14, "{numbers}");
            assert_eq!(solid.centre, Vec3::new(0.1, 0.2, -0.3));
            let body = plant.derived().bodies[0].I_Bcm.full();
            let off = (inertia(&solid, 7.0) - body).norm() / body.norm();
            assert!(off < 1e-14, "{numbers}: {off:e}");
        }
    }

    fn rod_keeps_its_length_and_becomes_visibly_thick() {
        let model = model("name = \"m\"\n[body.b]\nmass = 3.0\ninertia = [1e-9, 1.0, 1.0]\n");
        let plant = Plant::new(Arc::clone(&model)).expect("a plant");
        let solid = Start::of(&model, &plant).solid(0, false);
        assert!((solid.size[2] - 2.0).abs() < 1e-8 && (solid.size[0] - 0.06).abs() < 1e-9);
    }

    fn section_of_a_beam_has_its_radii_of_gyration() {
        // A bar of 2 × 0.5 m², by its second moments of area and by its rotary inertia.
        let close = |section: Option<Section>| match section {
            Some(Section::Bar([y, z])) => (y - 2.0).abs() < 1e-12 && (z - 0.5).abs() < 1e-12,
            _ => false,
        };
        assert!(close(Section::of(4.0 / 12.0, 0.25 / 12.0)));
        assert!(close(Section::divided(4.25 / 12.0, 0.25, 4.0)));
        // A thin tube of radius 0.1 m.
        assert_eq!(Section::divided(0.01, 3.0, 3.0), Some(Section::Tube(0.1)));
        assert_eq!(Section::of(0.0, 0.0), None);
    }
}
