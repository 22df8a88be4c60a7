//! FMUs that are truncated, damaged, foreign or hostile are refused with a reason, or read. Nothing
//! is written outside the folder into which they are unpacked.

use crate::campaign::{Outcome, run};
use crate::messages;
use crate::mutate;
use fmu_build::Error;
use fmu_build::archive::{self, Content};
use grapple::fmu::description::{Interfaces, describe};
use grapple::fmu::registry::Naming;
use grapple::plant::Model;
use rand::{Rng, RngExt};
use std::path::Path;
use std::sync::Arc;
use tempfile::TempDir;

/// The text files of an FMU: `modelDescription.xml` and `model.json`.
struct Fmu {
    xml: String,
    model: String,
}

/// Returns the FMUs of some small examples; reading an archive does not depend on the spacecraft.
fn fmus() -> Vec<Fmu> {
    let directory = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../examples"));
    let names = ["two_link", "servoed_arm", "arm_controller", "klak_2020", "docking"];
    let read = |name: &str| {
        let text = std::fs::read_to_string(directory.join(format!("{name}.toml"))).expect("an example");
        let model = Arc::new(Model::read(&text, directory).expect("the examples are right"));
        let xml = describe(&model, Naming::Structured, Interfaces::Both).expect("it is described");
        let bytes = model.to_bytes().expect("a model is written");
        Fmu {
            xml: xml.to_xml().expect("a description is written"),
            model: String::from_utf8(bytes).expect("JSON is UTF-8"),
        }
    };
    names.map(read).into()
}

/// Unusual paths of files in an archive; some lie outside the folder into which it is unpacked.
const PATHS: [&str; 14] = [
    "../../escaped",
    "../escaped",
    "/tmp/grapple-escaped",
    "a/../../escaped",
    "..\\escaped",
    "C:\\escaped",
    "resources",
    "resources/model.json/x",
    "binaries/linux64/two_link.so",
    "binaries/",
    "",
    ".",
    "a/./b//c",
    "documentation/\u{1F980}.html",
];

/// Returns a zip file with the files of an FMU, and with one or two of [`PATHS`] if `hostile`;
/// `None` if the writer refuses them.
fn packed(rng: &mut impl Rng, fmu: &Fmu, hostile: bool) -> Option<Vec<u8>> {
    let mut contents = vec![
        Content::new("modelDescription.xml", fmu.xml.as_bytes()),
        Content::new(archive::MODEL, fmu.model.as_bytes()),
    ];
    if hostile {
        for _ in 0..rng.random_range(1..3) {
            let path = PATHS[rng.random_range(0..PATHS.len())];
            let at = rng.random_range(0..=contents.len());
            contents.insert(at, Content::new(path, b"content".as_slice()));
        }
    }
    archive::zip(&contents).ok()
}

#[test]
fn damaged_archive_is_refused_or_read() {
    let fmus = fmus();
    let mut rng: rand_chacha::ChaCha8Rng = rand::SeedableRng::seed_from_u64(0);
    let good: Vec<Vec<u8>> = fmus.iter().filter_map(|fmu| packed(&mut rng, fmu, false)).collect();
    assert_eq!(good.len(), fmus.len());
    let desk = TempDir::new().expect("a folder");
    let file = desk.path().join("bad.fmu");
    run("archives", 1500, |rng, made| {
        let (one, other) = (rng.random_range(0..fmus.len()), rng.random_range(0..fmus.len()));
        let bytes = match rng.random_range(0..4) {
            0 | 1 => {
                let mut bytes = good[one].clone();
                mutate::bytes(rng, &mut bytes, &good[other]);
                bytes
            }
            2 => packed(rng, &fmus[one], true).unwrap_or_default(),
            _ => {
                let (mut xml, mut model) = (fmus[one].xml.clone(), fmus[other].model.clone());
                mutate::text(rng, &mut xml, &fmus[other].xml);
                mutate::text(rng, &mut model, &fmus[one].model);
                packed(rng, &Fmu { xml, model }, false).unwrap_or_default()
            }
        };
        made.extend(&bytes);
        std::fs::write(&file, &bytes).map_err(|e| e.to_string())?;
        let read = [
            succeeds(archive::description(&file).map(drop))?,
            succeeds(archive::model(&file).map(drop))?,
            succeeds(archive::platforms(&file).map(drop))?,
            unpacks(desk.path(), &file)?,
        ];
        Ok(if read.contains(&false) {
            Outcome::Refused
        } else {
            Outcome::Works
        })
    });
}

/// Unpacks an archive; returns true on success, and an error if a file was written outside the
/// folder.
fn unpacks(desk: &Path, file: &Path) -> Result<bool, String> {
    let outer = desk.join("outer");
    let folder = outer.join("middle").join("folder");
    std::fs::create_dir_all(&folder).map_err(|e| e.to_string())?;
    let unpacked = succeeds(archive::unpack(file, &folder, archive::ALL_LIMIT))?;
    for (folder, only) in [(&outer, "middle"), (&outer.join("middle"), "folder")] {
        for entry in std::fs::read_dir(folder).map_err(|e| e.to_string())? {
            let name = entry.map_err(|e| e.to_string())?.file_name();
            if name != only {
                return Err(format!("{} is written beside the folder", name.display()));
            }
        }
    }
    if Path::new("/tmp/grapple-escaped").exists() {
        return Err("an absolute path is written".to_owned());
    }
    std::fs::remove_dir_all(&outer).map_err(|e| e.to_string())?;
    Ok(unpacked)
}

/// Returns true on success, false for a refusal with a reason, and an error for one without.
fn succeeds(outcome: Result<(), Error>) -> Result<bool, String> {
    match outcome {
        Ok(()) => Ok(true),
        Err(error) if error.chain().all(|cause| cause.to_string().trim().is_empty()) => {
            Err("it is refused without a reason".to_owned())
        }
        Err(_) => Ok(false),
    }
}

#[test]
fn archive_above_the_size_limit_is_refused() {
    let _section = messages::of_this_test();
    let desk = TempDir::new().expect("a folder");
    let bomb = desk.path().join("bomb.fmu");
    let zeros = vec![b' '; (256 << 20) + 1];
    let contents = ["modelDescription.xml", archive::MODEL].map(|path| Content::new(path, zeros.as_slice()));
    std::fs::write(&bomb, archive::zip(&contents).expect("it is packed")).expect("it is written");
    drop(zeros);
    let size = std::fs::metadata(&bomb).expect("it is there").len();
    assert!(size < 4 << 20, "{size} bytes");
    for refused in [archive::description(&bomb).map(drop), archive::model(&bomb).map(drop)] {
        let refused = refused.expect_err("it is too large");
        let chain: Vec<String> = refused.chain().map(ToString::to_string).collect();
        let last = chain.last().expect("a reason");
        assert!(last.contains("268435456"), "{chain:?}");
        messages::record(last);
    }
    // The two files have 512 MiB and two bytes; files are written up to the limit, not beyond.
    let folder = desk.path().join("folder");
    let refused = archive::unpack(&bomb, &folder, 300 << 20).expect_err("it holds too much");
    let chain: Vec<String> = refused.chain().map(ToString::to_string).collect();
    let last = chain.last().expect("a reason");
    assert!(last.contains("314572800"), "{chain:?}");
    messages::record(last);
    let entry = |path: &str| std::fs::metadata(folder.join(path)).map_or(0, |file| file.len());
    let written = entry("modelDescription.xml") + entry(archive::MODEL);
    assert!(written <= (300 << 20) + 1, "{written} bytes");
    std::fs::remove_dir_all(&folder).expect("it is there");
    archive::unpack(&bomb, &folder, (512 << 20) + 2).expect("so much is allowed");
}

/// The library's file, and the FMU in an SSP file, are named after the model identifier.
#[test]
fn an_identifier_that_is_a_path_is_refused() {
    let _section = messages::of_this_test();
    let Fmu { xml, .. } = fmus().swap_remove(0);
    for name in [
        "../../../../tmp/evil",
        "/tmp/evil",
        "a/b",
        "a\\b",
        "C:evil",
        "..",
        "",
        "1a",
        "a.b",
        "\u{1F980}",
    ] {
        let xml = xml.replace("modelIdentifier=\"two_link\"", &format!("modelIdentifier=\"{name}\""));
        let description = model_description::ModelDescription::from_xml(&xml);
        // The reader may already refuse the description.
        let Ok(description) = description else { continue };
        let refused = archive::identifier(&description).map(str::to_owned).expect_err(name);
        assert!(refused.to_string().contains(&format!("{name:?}")), "{refused}");
        messages::record(&refused);
    }
    let description = model_description::ModelDescription::from_xml(&xml).expect("it is legal");
    assert_eq!(archive::identifier(&description).ok(), Some("two_link"));
}

#[test]
fn file_outside_the_folder_is_refused_by_name() {
    let _section = messages::of_this_test();
    let desk = TempDir::new().expect("a folder");
    let file = desk.path().join("bad.fmu");
    for path in ["../../escaped", "../escaped", "a/../../escaped"] {
        let content = Content::new(path, b"x".as_slice());
        std::fs::write(&file, archive::zip([&content]).expect("it is packed")).expect("it is written");
        let folder = desk.path().join("folder");
        let refused = archive::unpack(&file, &folder, archive::ALL_LIMIT).expect_err("it stands outside");
        let chain: Vec<String> = refused.chain().map(ToString::to_string).collect();
        let last = chain.last().expect("a reason");
        assert!(last.contains(&format!("{path:?}")), "{chain:?}");
        messages::record(last);
        assert!(!desk.path().join("escaped").exists());
    }
}
