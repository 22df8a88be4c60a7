//! The shared library embedded in the program.

use crate::desk::Desk;
use object::{Object, ObjectSymbol, SymbolKind};

/// Path of the embedded library in the FMU.
pub const OWN: &str = "binaries/linux64/two_link.so";

/// Creates a folder with the two-link spacecraft, and with the library of its FMU as `own.so`.
pub fn built() -> Desk {
    let desk = Desk::with_example("two_link");
    desk.succeed(&["build", "two_link.toml"]);
    desk.write_bytes("own.so", &desk.contents("two_link.fmu")[OWN]);
    desk
}

/// Returns the names that a library exports.
pub fn exports(library: &[u8]) -> Vec<String> {
    let file = object::File::parse(library).expect("a library");
    let symbols = file.dynamic_symbols().filter(|symbol| symbol.is_definition());
    symbols.map(|s| s.name().expect("UTF-8").to_owned()).collect()
}

#[test]
fn library_exports_only_fmi_functions() {
    let mut exported = exports(&built().bytes("own.so"));
    // The library of tests also has the functions of the package grapple-lanes.
    let all = exported.len();
    exported.retain(|name| !name.starts_with("grapple_"));
    assert!([0, 4].contains(&(all - exported.len())), "{exported:?}");
    let is_of_fmi = |name: &String| name.starts_with("fmi2") || name.starts_with("fmi3");
    assert!(exported.iter().all(is_of_fmi), "{exported:?}");
    assert_eq!(exported.len(), 119);
}

/// Elementary functions of the C library have other last bits on each platform.
#[test]
fn the_library_imports_no_elementary_function() {
    const ELEMENTARY: [&str; 24] = [
        "acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "cbrt", "cos", "cosh", "exp", "exp2", "expm1",
        "fma", "hypot", "log", "log10", "log1p", "log2", "pow", "sin", "sincos", "sinh", "tanh",
    ];
    let library = built().bytes("own.so");
    let file = object::File::parse(library.as_slice()).expect("a library");
    let names: Vec<String> = file
        .imports()
        .expect("a list of imports")
        .filter_map(|import| {
            import
                .expect("an import")
                .name()
                .name()
                .map(|name| String::from_utf8_lossy(name).into_owned())
        })
        .collect();
    assert!(names.iter().any(|name| name == "memcpy"), "{names:?}");
    assert!(
        !names.iter().any(|name| ELEMENTARY.contains(&name.as_str())),
        "{names:?}"
    );
}

#[test]
#[ignore = "scripts/long runs it with the shipped library: other tests embed one that is not optimised so"]
fn the_library_is_optimised_as_a_whole() {
    let library = built().bytes("own.so");
    let elf = object::File::parse(library.as_slice()).expect("an ELF file");
    // Every separately compiled crate leaves a file symbol "<crate>.<hash>-cgu.<n>"; with link-time
    // optimisation all are one unit, except compiler_builtins, which is always separate.
    let units: Vec<&str> = elf
        .symbols()
        .filter(|symbol| symbol.kind() == SymbolKind::File)
        .map(|symbol| symbol.name().expect("UTF-8"))
        .filter(|name| name.contains("-cgu.") && !name.starts_with("compiler_builtins."))
        .collect();
    assert!(
        matches!(units.as_slice(), [one] if one.starts_with("grapple.")),
        "{units:?}"
    );
}
