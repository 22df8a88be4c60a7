//! The environment in orbit: date, atmosphere, exposed surfaces, dipoles, thermal bending.

use crate::{GOOD, messages, report};

/// Returns the places of all problems of a spec, without their lines.
fn places(text: &str) -> Vec<String> {
    let report = report(text).into_iter();
    report
        .map(|place| {
            place
                .split_once(": ")
                .map_or(place.clone(), |(_, path)| path.to_owned())
        })
        .collect()
}

/// The date is one of the years of the ephemerides, and the central body is the Earth. Third bodies
/// and the magnetic field need a date.
#[test]
fn invalid_dates_and_what_needs_them_are_reported() {
    let _section = messages::of_this_test();
    let orbit = |more: &str| places(&format!("{GOOD}[environment.orbit]\nsemi_major_axis = 7e6\n{more}\n"));
    let good = "epoch = \"2026-03-20T12:00:00\"\nthird_bodies = [\"sun\", \"moon\"]\nmagnetic_field = {}";
    assert_eq!(orbit(good), [""; 0]);
    for epoch in [
        "1850-01-01",
        "2026-02-30",
        "20.3.2026",
        "2026-03-20T24:30",
        "2100-01-01",
    ] {
        assert_eq!(orbit(&format!("epoch = \"{epoch}\"")), ["environment.orbit.epoch"]);
    }
    assert_eq!(
        orbit("third_bodies = [\"sun\"]\nmagnetic_field = {}"),
        ["environment.orbit.third_bodies", "environment.orbit.magnetic_field"]
    );
    let twice = orbit("epoch = \"2026-03-20\"\nthird_bodies = [\"sun\", \"sun\"]");
    assert_eq!(twice, ["environment.orbit.third_bodies"]);
    let fed = "third_bodies = [\"sun\", \"moon\"]\nsun = \"input\"\nmoon = \"input\"\n";
    assert_eq!(orbit(&format!("epoch = \"2026-03-20\"\n{fed}")), [""; 0]);
    assert_eq!(orbit(fed), ["environment.orbit.third_bodies", "environment.orbit.sun"]);
    let no_effect = orbit("epoch = \"2026-03-20\"\nmoon = \"input\"");
    assert_eq!(no_effect, ["environment.orbit.moon"]);
    let mars = orbit("epoch = \"2026-03-20\"\nmu = 4.28e13\nradius = 3.4e6");
    assert_eq!(mars, ["environment.orbit.epoch"]);
}

/// A table of the atmosphere has ascending altitudes about the perigee and positive densities.
#[test]
fn invalid_atmospheres_are_reported() {
    let _section = messages::of_this_test();
    let atmosphere = |more: &str| {
        let orbit = "[environment.orbit]\nsemi_major_axis = 6778137.0\n";
        places(&format!("{GOOD}{orbit}[environment.orbit.atmosphere]\n{more}\n"))
    };
    assert_eq!(atmosphere(""), [""; 0]);
    assert_eq!(atmosphere("altitude = [3e5, 5e5]\ndensity = [1e-11, 1e-12]"), [""; 0]);
    for (table, field) in [
        ("altitude = [3e5, 5e5]\ndensity = [1e-11]", "altitude"),
        ("altitude = [4e5]\ndensity = [1e-11]", "altitude"),
        ("altitude = [5e5, 3e5]\ndensity = [1e-12, 1e-11]", "altitude"),
        ("altitude = [300.0, 500.0]\ndensity = [1e-11, 1e-12]", "altitude"),
        ("altitude = [3e5, 5e5]\ndensity = [1e-11, 0.0]", "density"),
        ("factor = -1.0", "factor"),
        ("flattening = 298.257", "flattening"),
    ] {
        let found = atmosphere(table);
        assert!(
            found.contains(&format!("environment.orbit.atmosphere.{field}")),
            "{table}: {found:?}"
        );
    }
}

/// A surface has a shape, a force and what the force needs; its fractions are parts of the light.
#[test]
fn invalid_surfaces_and_dipoles_are_reported() {
    let _section = messages::of_this_test();
    const ORBIT: &str =
        "[environment.orbit]\nsemi_major_axis = 7e6\nepoch = \"2026-03-20\"\natmosphere = {}\nmagnetic_field = {}\n";
    let surface = |orbit: &str, fields: &str| places(&format!("{GOOD}{orbit}[exposed_surface.wing]\n{fields}\n"));
    let plate = "frame = \"base\"\narea = 2.0\nnormal = [0.0, 0.0, 1.0]\n";
    let ball = "frame = \"base\"\narea = 2.0\nshape = \"sphere\"\n";
    let both = "radiation = { specular = 0.5, diffuse = 0.5 }\ndrag = {}";
    assert_eq!(surface(ORBIT, &format!("{plate}{both}")), [""; 0]);
    assert_eq!(
        surface(ORBIT, &format!("{ball}radiation = {{ coefficient = 1.3 }}")),
        [""; 0]
    );
    let at = |fields: &[&str]| -> Vec<String> {
        fields
            .iter()
            .map(|field| format!("exposed_surface.wing{field}"))
            .collect()
    };
    for (orbit, fields, expected) in [
        (ORBIT, plate.to_owned(), at(&[""])),
        ("", format!("{plate}{both}"), at(&[".radiation", ".drag"])),
        (
            ORBIT,
            format!("{plate}radiation = {{ specular = 0.6, diffuse = 0.5 }}"),
            at(&[".radiation.specular"]),
        ),
        (
            ORBIT,
            format!("{plate}radiation = {{ specular = -0.1 }}"),
            at(&[".radiation.specular"]),
        ),
        (
            ORBIT,
            format!("{}drag = {{}}", plate.replace("2.0", "-2.0")),
            at(&[".area"]),
        ),
        (
            ORBIT,
            format!("{}drag = {{}}", plate.replace("1.0", "0.0")),
            at(&[".normal"]),
        ),
        (
            ORBIT,
            format!("{}drag = {{}}", plate.replace("\"base\"", "\"bse\"")),
            at(&[".frame"]),
        ),
        (
            ORBIT,
            format!("{plate}drag = {{ coefficient = -2.2 }}"),
            at(&[".drag.coefficient"]),
        ),
        (
            ORBIT,
            format!("{plate}radiation = {{ coefficient = 1.2 }}"),
            at(&[".radiation.coefficient"]),
        ),
        (
            ORBIT,
            "frame = \"base\"\narea = 2.0\ndrag = {}".to_owned(),
            at(&[".normal"]),
        ),
        (
            ORBIT,
            format!("{ball}normal = [0.0, 0.0, 1.0]\ntwo_sided = true\ndrag = {{}}"),
            at(&[".normal", ".two_sided"]),
        ),
        (ORBIT, format!("{ball}radiation = {{}}"), at(&[".radiation"])),
        (
            ORBIT,
            format!("{ball}radiation = {{ specular = 0.3 }}"),
            at(&[".radiation"]),
        ),
        (
            ORBIT,
            format!("{ball}radiation = {{ coefficient = 2.5 }}"),
            at(&[".radiation.coefficient"]),
        ),
    ] {
        let mut found = surface(orbit, &fields);
        found.sort();
        let mut expected = expected;
        expected.sort();
        assert_eq!(found, expected, "{fields}");
    }
    let dipole = |orbit: &str| places(&format!("{GOOD}{orbit}[magnetic_dipole.rod]\nframe = \"base\"\n"));
    assert_eq!(dipole(ORBIT), [""; 0]);
    assert_eq!(dipole(""), ["magnetic_dipole.rod"]);
}

/// Thermal bending acts on modal beams with bending modes.
#[test]
fn thermal_bending_needs_a_beam_with_bending_modes() {
    let _section = messages::of_this_test();
    let beam =
        "[body.boom.beam]\nlength = 2.0\nmass_per_length = 1.0\nEI = 10.0\nGJ = 5.0\npolar_inertia_per_length = 0.1\n";
    let heat = |modes: &str, body: &str| {
        places(&format!(
            "{GOOD}{beam}{modes}\n[thermal_bending.sun]\nbody = \"{body}\"\n"
        ))
    };
    assert_eq!(heat("bending = 2", "boom"), [""; 0]);
    assert_eq!(heat("torsion = 1", "boom"), ["thermal_bending.sun.body"]);
    assert_eq!(heat("bending = 2", "base"), ["thermal_bending.sun.body"]);
    assert_eq!(heat("bending = 2", "bom"), ["thermal_bending.sun.body"]);
}
