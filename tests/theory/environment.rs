//! The environment in orbit: Sun and Moon, shadow, radiation pressure, drag, zonal harmonics,
//! magnetic field, thermal bending.

mod gravity;
mod positions;
mod sky;
mod surfaces;

use crate::every_load::every_load_in_orbit;
use crate::numbers::Larger;
use crate::quaternion::{align, values_at_random};
use crate::run::Run;
use grapple::algebra::Vec3;
use grapple::plant::Plant;
use grapple::spec::Formulation;
use grapple::system::OrbitPoint;
use std::f64::consts::PI;
use std::path::Path;

const MU: f64 = 3.986_004_418e14;
const EARTH: f64 = 6_378_137.0;
const PROBE: &str = "name = \"probe\"\n[body.probe]\nmass = 4.0\ninertia = [1.0, 1.0, 1.0]\n";
const DOP853: &str = "[solver]\nmethod = \"dop853\"\n";
const DEGREE: f64 = PI / 180.0;
const LIT: &str = "[environment.orbit]\nsemi_major_axis = 7.4e6\ninclination_deg = 51.6\nascending_node_deg = 20.0\ntrue_anomaly_deg = 30.0\n\
                   epoch = \"2026-06-20T12:00:00\"\n";

fn point(plant: &Plant, t: f64) -> OrbitPoint {
    plant.derived().orbit.as_ref().expect("an orbit").at(t)
}

/// All formulations with flexible bodies agree with every load of the environment, at random states.
#[test]
fn formulations_agree_in_the_environment() {
    let text = every_load_in_orbit();
    let mut plants = [Formulation::Recursive, Formulation::Quaternion, Formulation::Natural]
        .map(|formulation| crate::plant_in(formulation, &text, Path::new(".")));
    let mut worst: f64 = 0.0;
    for seed in 0..8 {
        let [expected, mut others @ ..] = plants.each_mut().map(|plant| values_at_random(plant, seed));
        align(&mut others[1], &expected);
        for found in others {
            for (name, expected) in &expected {
                let Some(found) = found.get(name).filter(|_| !name.starts_with("system.")) else {
                    continue;
                };
                let off = (found - expected).abs() / expected.abs().max(1.0);
                assert!(off < 1e-9, "seed {seed}: {name} is {found}, not {expected}");
                worst = worst.larger(off);
            }
        }
    }
    println!("worst of all outputs: {worst:.1e} (1e-9)");
}

/// A beam with a prescribed curvature bends to it at rest: an undivided one by its clamped-free
/// modes (a series), one in segments, whose modes include the shape due to a moment, exactly to an
/// arc. A tapered beam has the same shape.
#[test]
fn beam_bends_to_its_thermal_curvature() {
    let beam = |section: &str, modes: &str| {
        format!(
            "name = \"boom\"\n[body.boom.beam]\n{section}\ndamping_ratio = 0.7\n{modes}\n\
             [joint.root]\ntype = \"fixed\"\nparent = \"world\"\nchild = \"boom\"\n[thermal_bending.sun]\nbody = \"boom\"\n\
             [input]\n\"sun.curvature[1]\" = 1e-3\n\"sun.curvature[2]\" = -2e-3\n[solver]\nmethod = \"radau5\"\n"
        )
    };
    let uniform = "length = 5.0\nmass_per_length = 0.5\nEI = 60.0\npolar_inertia_per_length = 0.1";
    let tapered = "sections = [{ x = 0.0, mass_per_length = 1.0, EI_y = 90.0, EI_z = 60.0 }, { x = 5.0, mass_per_length = 0.4, EI_y = 30.0, EI_z = 25.0 }]";
    for (section, modes, tolerance) in [
        (uniform, "bending = 3", 2e-2),
        (uniform, "bending = 10", 2e-3),
        (tapered, "bending = 10", 2e-3),
        (uniform, "bending = 2\nsegments = 5", 1e-5),
        (tapered, "bending = 2\nsegments = 20", 2e-3),
    ] {
        let mut run = Run::new(&beam(section, modes), 1e-10);
        run.go(400.0);
        let (tip, slope) = (run.vector("boom.tip_deflection"), run.vector("boom.tip_slope"));
        // An arc of the length 5 m, with the curvature in the plane of both.
        let curvature = 5e-6f64.sqrt();
        let depth = (1.0 - (5.0 * curvature).cos()) / curvature;
        let expected = Vec3::new(0.0, 1e-3, -2e-3) / curvature * depth;
        let turned = Vec3::new(0.0, 2e-3, 1e-3) * 5.0;
        let off = (Vec3::new(0.0, tip.y, tip.z) - expected).norm() / expected.norm();
        let off_slope = (slope - turned).norm() / turned.norm();
        println!("{modes:?}: deflection {off:.1e} ({tolerance:e}), slope {off_slope:.1e}");
        assert!(off < tolerance);
    }
}
