//! `grapple build`: accepted and refused libraries, and the documentation inside the FMU.

use crate::desk::{Desk, assert_self_contained, example};
use crate::library::{OWN, built, exports};
use crate::messages;
use crate::pe;
use crate::table::{last, table};
use std::collections::BTreeSet;

/// Asserts that `build` refuses these options without writing a file, and returns its message.
fn refusal(desk: &Desk, options: &[&str]) -> String {
    let outcome = desk.run(&[&["build", "two_link.toml", "-o", "refused.fmu"], options].concat());
    assert_eq!(outcome.code, Some(1), "{options:?}: {}{}", outcome.out, outcome.errors);
    assert!(
        !desk.path("refused.fmu").exists(),
        "{options:?}: nothing is left behind"
    );
    outcome.errors
}

/// Returns the names of the variables in a model description.
fn variables(xml: &str) -> impl Iterator<Item = &str> {
    let elements = xml.split("<ScalarVariable name=\"").skip(1);
    elements.map(|rest| rest.split_once('"').expect("the end of the name").0)
}

#[test]
fn library_of_another_format_is_refused_with_its_format() {
    let _section = messages::of_this_test();
    let desk = built();
    desk.write_bytes("own.dll", &pe::dll(&exports(&desk.bytes("own.so"))));
    desk.write("notes.txt", "no library");
    // A universal library of macOS begins with a magic number and the number of its libraries:
    // zero.
    let mut hollow = vec![0xca, 0xfe, 0xba, 0xbe];
    hollow.extend([0; 20]);
    desk.write_bytes("hollow.dylib", &hollow);
    for option in [
        "win64=own.so",
        "win32=own.dll",
        "linux32=own.so",
        "darwin64=own.so",
        "linux64=own.dll",
        "linux64=notes.txt",
        "linux64=hollow.dylib",
        "darwin64=hollow.dylib",
        "win64=none.dll",
    ] {
        let errors = refusal(&desk, &["--binary", option]);
        let (platform, file) = option.split_once('=').expect("PLATFORM=FILE");
        assert!(errors.contains(file), "{option}: {errors}");
        // The operating system's reason for a file that is not there differs.
        if file != "none.dll" {
            assert!(errors.contains(platform), "{option}: {errors}");
            messages::record(&errors);
        }
    }
    // A program is not a shared library, though its format and machine match.
    let program = env!("CARGO_BIN_EXE_grapple");
    let errors = refusal(&desk, &["--library", program]);
    assert!(errors.contains("119"), "{errors}");
}

#[test]
fn library_without_a_function_is_refused_with_its_name() {
    let _section = messages::of_this_test();
    let desk = built();
    let mut library = desk.bytes("own.so");
    let name = b"\0fmi2DoStep\0";
    let mut found = 0;
    for i in 0..library.len() - name.len() {
        if library[i..].starts_with(name) {
            library[i + 5..i + 11].copy_from_slice(b"NoStep");
            found += 1;
        }
    }
    assert!(found > 0, "the library names its functions");
    desk.write_bytes("other.so", &library);
    let errors = refusal(&desk, &["--library", "other.so"]);
    assert!(errors.contains("fmi2DoStep"), "{errors}");
    messages::record(&errors);

    let mut most = exports(&desk.bytes("own.so"));
    most.retain(|name| !name.ends_with("FMUstate"));
    desk.write_bytes("most.dll", &pe::dll(&most));
    let errors = refusal(&desk, &["--binary", "win64=most.dll"]);
    let lacking = "fmi2DeSerializeFMUstate, fmi2FreeFMUstate, fmi2GetFMUstate, fmi2SerializeFMUstate, \
                   fmi2SetFMUstate";
    assert!(errors.contains(lacking), "{errors}");
    messages::record(&errors);
    desk.write_bytes("none.dll", &pe::dll(&["DllMain"]));
    let errors = refusal(&desk, &["--binary", "win64=none.dll"]);
    messages::record(&errors);
}

#[test]
fn fmu_lists_the_platforms_of_its_libraries() {
    let desk = built();
    let mut names = exports(&desk.bytes("own.so"));
    names.push("stray".to_owned());
    desk.write_bytes("grapple.dll", &pe::dll(&names));
    let out = desk.succeed(&["build", "two_link.toml", "--binary", "win64=grapple.dll"]);
    let mut lines = out.lines();
    assert!(
        lines.next().is_some_and(|line| line.starts_with("two_link.fmu: ")),
        "{out}"
    );
    assert!(
        lines
            .next()
            .is_some_and(|line| line.starts_with("  runs on linux64: the library inside this program, needs GLIBC 2.")),
        "{out}"
    );
    assert_eq!(
        lines.next(),
        Some("  runs on win64: grapple.dll; exports symbols that are not FMI's: stray")
    );
    let contents = desk.contents("two_link.fmu");
    assert!(contents["binaries/win64/two_link.dll"] == desk.bytes("grapple.dll"));
    assert!(contents[OWN] == desk.bytes("own.so"));
    assert!(desk.succeed(&["describe", "two_link.fmu"]).contains("linux64, win64"));
    assert!(
        desk.content("two_link.fmu", "documentation/index.html")
            .contains("linux64, win64")
    );
}

#[test]
fn library_option_replaces_the_embedded_library() {
    let _section = messages::of_this_test();
    let desk = built();
    let mut other = desk.bytes("own.so");
    other.extend(b"made elsewhere");
    desk.write_bytes("other.so", &other);
    for option in [["--library", "other.so"], ["--binary", "linux64=other.so"]] {
        let out = desk.succeed(&[&["build", "two_link.toml"], option.as_slice()].concat());
        assert!(out.contains("runs on linux64: other.so, needs GLIBC 2."), "{out}");
        assert!(desk.contents("two_link.fmu")[OWN] == other);
        desk.succeed(&["simulate", "two_link.fmu", "--stop-time", "0.1"]);
    }
    let errors = refusal(&desk, &["--library", "other.so", "--binary", "linux64=own.so"]);
    for name in ["linux64", "other.so", "own.so"] {
        assert!(errors.contains(name), "{name}: {errors}");
    }
    messages::record(&errors);
    for nonsense in ["linux=own.so", "linux64", "linux64="] {
        let outcome = desk.run(&["build", "two_link.toml", "--binary", nonsense]);
        assert_eq!(outcome.code, Some(2), "{nonsense}");
    }
}

#[test]
fn without_diagnostics_the_motion_is_unchanged() {
    let desk = built();
    let names = |fmu: &str| -> BTreeSet<String> {
        let xml = desk.content(fmu, "modelDescription.xml");
        variables(&xml).map(str::to_owned).collect()
    };
    desk.succeed(&["build", "two_link.toml", "--without-diagnostics", "-o", "bare.fmu"]);
    let (all, bare) = (names("two_link.fmu"), names("bare.fmu"));
    let expected: BTreeSet<String> = all
        .iter()
        .filter(|name| !name.contains("system.") && *name != "monitor.energy_balance")
        .cloned()
        .collect();
    assert!(all.len() > expected.len(), "there are diagnostics to leave out");
    assert_eq!(bare, expected);
    assert!(!desk.content("bare.fmu", "documentation/index.html").contains("system."));

    desk.succeed(&["simulate", "bare.fmu", "-o", "bare.csv", "--page", "bare.html"]);
    desk.succeed(&["simulate", "two_link.fmu", "-o", "all.csv", "--page", "all.html"]);
    let tip = |csv: &str| last(&table(&desk.text(csv)), "tip.r[1] [m]");
    // The work is a state in the error estimate of one run only, so the last digits differ.
    assert!((tip("bare.csv") - tip("all.csv")).abs() < 1e-8);
}

#[test]
fn the_same_spec_options_and_libraries_give_the_same_bytes() {
    let desk = built();
    desk.write_bytes("grapple.dll", &pe::dll(&exports(&desk.bytes("own.so"))));
    let build = |fmu: &str, binaries: [&str; 2]| {
        let options = [
            "--names",
            "flat",
            "--fmi-type",
            "cs",
            "--without-diagnostics",
            "-o",
            fmu,
        ];
        let binaries = ["--binary", binaries[0], "--binary", binaries[1]];
        desk.succeed(&[&["build", "two_link.toml"], options.as_slice(), &binaries].concat());
        desk.bytes(fmu)
    };
    let first = build("a.fmu", ["win64=grapple.dll", "linux64=own.so"]);
    assert!(first == build("b.fmu", ["win64=grapple.dll", "linux64=own.so"]));
    assert!(
        first == build("c.fmu", ["linux64=own.so", "win64=grapple.dll"]),
        "order does not matter"
    );
}

/// A model with everything that is drawn and documented: sliding and spherical joints, ranges,
/// gravity, two spacecraft.
const ZOO: &str = r#"
name = "zoo"
description = "Joints of all kinds, <drawn> & described"
[environment]
gravity = [0.0, 0.0, -1.62]
[body.base]
mass = 40.0
inertia = [4.0, 6.0, 8.0, 0.5, 0.0, 0.0]
start = { position = [7.0e6, 0.0, 0.0], rpy_deg = [0.0, 0.0, 20.0] }
[body.carriage]
mass = 3.0
mass_centre = [0.1, 0.0, 0.1]
inertia = [0.1, 0.1, 0.1]
[body.boom]
mass = 5.0
mass_centre = [0.0, 0.0, 1.0]
inertia = [1.7, 1.7, 0.01]
[body.plate]
mass = 2.0
inertia = [0.2, 0.2, 0.39]
[body.bolt]
mass = 0.5
inertia = [0.01, 0.01, 0.01]
[body.target]
mass = 20.0
inertia = [2.0, 2.0, 1.0]
start = { position = [7.000003e6, 1.0, 1.0] }
[joint.rail]
type = "prismatic"
parent = "base"
child = "carriage"
origin = [0.0, 0.6, 0.3]
axis = [0.0, 1.0, 0.0]
start = { position = 0.8 }
[joint.ball]
type = "spherical"
parent = "carriage"
child = "boom"
origin = [0.2, 0.0, 0.2]
[joint.hub]
type = "universal"
parent = "boom"
child = "plate"
origin = [0.0, 0.0, 2.0]
axis = [1.0, 0.0, 0.0]
[joint.weld]
type = "fixed"
parent = "plate"
child = "bolt"
origin = [0.3, 0.3, 0.0]
[frame.grip]
body = "bolt"
origin = [0.0, 0.2, 0.0]
"#;

#[test]
fn fmu_contains_a_page_of_documentation() {
    let desk = Desk::new();
    desk.write("zoo.toml", ZOO);
    desk.write("ssrms_type.toml", &example("ssrms_type"));
    desk.write("two_link.toml", &example("two_link"));
    for spec in ["zoo", "ssrms_type", "two_link"] {
        desk.succeed(&["build", &format!("{spec}.toml")]);
        let fmu = format!("{spec}.fmu");
        let page = desk.content(&fmu, "documentation/index.html");
        // Every variable of the XML is in one of the page's tables.
        let xml = desk.content(&fmu, "modelDescription.xml");
        let mut count = 0;
        for name in variables(&xml) {
            assert!(
                page.contains(&format!("<tr><td><code>{name}</code><td>")),
                "{spec}: {name}"
            );
            count += 1;
        }
        assert!(count > 40, "{spec}");
        assert_eq!(page.matches("<tr><td>").count(), count, "{spec}: each once");
        for text in [
            "Frames and conventions",
            "scalar first",
            "Dormand–Prince 5(4)",
            "linux64",
            "GUID {",
        ] {
            assert!(page.contains(text), "{spec}: {text}");
        }
        assert_self_contained(&page);
        assert!(!page.contains("<script"), "{spec}");
    }
    let page = desk.content("zoo.fmu", "documentation/index.html");
    assert!(page.contains("Joints of all kinds, &lt;drawn&gt; &amp; described"));
    assert!(page.contains("(0, 0, -1.62) m/s²"));
    for name in [
        "base", "carriage", "boom", "plate", "bolt", "target", "rail", "ball", "hub", "weld", "grip",
    ] {
        assert!(
            page.contains(&format!(">{name}</text>")),
            "{name} is written in the picture"
        );
    }
    assert!(page.contains(" m</text>"), "the picture has a scale");
}

#[test]
fn icon_shows_the_spacecraft() {
    let desk = Desk::new();
    desk.write("zoo.toml", ZOO);
    desk.write("two_link.toml", &example("two_link"));
    for spec in ["zoo", "two_link"] {
        desk.succeed(&["build", &format!("{spec}.toml")]);
        let icon = &desk.contents(&format!("{spec}.fmu"))["model.png"];
        let image = tiny_skia::Pixmap::decode_png(icon).expect("a PNG file");
        let white = image
            .pixels()
            .iter()
            .filter(|p| (p.red(), p.green(), p.blue()) == (255, 255, 255));
        let drawn = 1.0 - white.count() as f64 / image.pixels().len() as f64;
        assert!((0.02..0.8).contains(&drawn), "{spec}: {drawn}");
        assert_eq!(image.width(), 640);
        assert!(icon.len() < 100_000, "{spec}: {} bytes", icon.len());
    }
}

#[test]
fn the_licences_are_in_the_archive() {
    let desk = built();
    let text = |name: &str| desk.content("two_link.fmu", &format!("documentation/licenses/{name}"));
    assert!(text("license.txt").contains("MIT OR Apache-2.0"));
    assert!(text("LICENSE-MIT").contains("Permission is hereby granted"));
    assert!(text("LICENSE-APACHE").contains("Version 2.0, January 2004"));
    assert!(text("THIRD-PARTY-LICENSES").contains("\n    nalgebra "));
}
