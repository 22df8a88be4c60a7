//! Inspection of a shared library's headers: its machine, its exports and the C library version it
//! needs.

use crate::component;
use crate::error::{Context, Result, invalid};
use crate::platform::Platform;
use object::read::elf::{ElfFile, FileHeader};
use object::read::macho::{FatArch, MachOFatFile32, MachOFatFile64};
use object::{Architecture, BinaryFormat, FileKind, Object, ObjectKind, ObjectSegment};
use std::fmt;

/// Result of the inspection of a library that an FMU can use.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Findings {
    /// Machines it runs on, as text; several in a universal library of macOS.
    pub machines: Vec<String>,
    /// Oldest version of the GNU C library with which the library loads: the highest version that
    /// its symbols need. None for other platforms.
    pub glibc: Option<Glibc>,
    /// Exported symbols that are not FMI functions; they could collide with those of other
    /// libraries.
    pub others: Vec<String>,
}

/// All functions of FMI 2.0.4 (§2.1.1) and FMI 3.0.2 (§2.2.1), which the library of an FMU must export
/// regardless of its interfaces. One library serves both versions.
const FUNCTIONS: [&str; 119] = [
    "fmi2CancelStep",
    "fmi2CompletedIntegratorStep",
    "fmi2DeSerializeFMUstate",
    "fmi2DoStep",
    "fmi2EnterContinuousTimeMode",
    "fmi2EnterEventMode",
    "fmi2EnterInitializationMode",
    "fmi2ExitInitializationMode",
    "fmi2FreeFMUstate",
    "fmi2FreeInstance",
    "fmi2GetBoolean",
    "fmi2GetBooleanStatus",
    "fmi2GetContinuousStates",
    "fmi2GetDerivatives",
    "fmi2GetDirectionalDerivative",
    "fmi2GetEventIndicators",
    "fmi2GetFMUstate",
    "fmi2GetInteger",
    "fmi2GetIntegerStatus",
    "fmi2GetNominalsOfContinuousStates",
    "fmi2GetReal",
    "fmi2GetRealOutputDerivatives",
    "fmi2GetRealStatus",
    "fmi2GetStatus",
    "fmi2GetString",
    "fmi2GetStringStatus",
    "fmi2GetTypesPlatform",
    "fmi2GetVersion",
    "fmi2Instantiate",
    "fmi2NewDiscreteStates",
    "fmi2Reset",
    "fmi2SerializeFMUstate",
    "fmi2SerializedFMUstateSize",
    "fmi2SetBoolean",
    "fmi2SetContinuousStates",
    "fmi2SetDebugLogging",
    "fmi2SetFMUstate",
    "fmi2SetInteger",
    "fmi2SetReal",
    "fmi2SetRealInputDerivatives",
    "fmi2SetString",
    "fmi2SetTime",
    "fmi2SetupExperiment",
    "fmi2Terminate",
    "fmi3ActivateModelPartition",
    "fmi3CompletedIntegratorStep",
    "fmi3DeserializeFMUState",
    "fmi3DoStep",
    "fmi3EnterConfigurationMode",
    "fmi3EnterContinuousTimeMode",
    "fmi3EnterEventMode",
    "fmi3EnterInitializationMode",
    "fmi3EnterStepMode",
    "fmi3EvaluateDiscreteStates",
    "fmi3ExitConfigurationMode",
    "fmi3ExitInitializationMode",
    "fmi3FreeFMUState",
    "fmi3FreeInstance",
    "fmi3GetAdjointDerivative",
    "fmi3GetBinary",
    "fmi3GetBoolean",
    "fmi3GetClock",
    "fmi3GetContinuousStateDerivatives",
    "fmi3GetContinuousStates",
    "fmi3GetDirectionalDerivative",
    "fmi3GetEventIndicators",
    "fmi3GetFMUState",
    "fmi3GetFloat32",
    "fmi3GetFloat64",
    "fmi3GetInt16",
    "fmi3GetInt32",
    "fmi3GetInt64",
    "fmi3GetInt8",
    "fmi3GetIntervalDecimal",
    "fmi3GetIntervalFraction",
    "fmi3GetNominalsOfContinuousStates",
    "fmi3GetNumberOfContinuousStates",
    "fmi3GetNumberOfEventIndicators",
    "fmi3GetNumberOfVariableDependencies",
    "fmi3GetOutputDerivatives",
    "fmi3GetShiftDecimal",
    "fmi3GetShiftFraction",
    "fmi3GetString",
    "fmi3GetUInt16",
    "fmi3GetUInt32",
    "fmi3GetUInt64",
    "fmi3GetUInt8",
    "fmi3GetVariableDependencies",
    "fmi3GetVersion",
    "fmi3InstantiateCoSimulation",
    "fmi3InstantiateModelExchange",
    "fmi3InstantiateScheduledExecution",
    "fmi3Reset",
    "fmi3SerializeFMUState",
    "fmi3SerializedFMUStateSize",
    "fmi3SetBinary",
    "fmi3SetBoolean",
    "fmi3SetClock",
    "fmi3SetContinuousStates",
    "fmi3SetDebugLogging",
    "fmi3SetFMUState",
    "fmi3SetFloat32",
    "fmi3SetFloat64",
    "fmi3SetInt16",
    "fmi3SetInt32",
    "fmi3SetInt64",
    "fmi3SetInt8",
    "fmi3SetIntervalDecimal",
    "fmi3SetIntervalFraction",
    "fmi3SetShiftDecimal",
    "fmi3SetShiftFraction",
    "fmi3SetString",
    "fmi3SetTime",
    "fmi3SetUInt16",
    "fmi3SetUInt32",
    "fmi3SetUInt64",
    "fmi3SetUInt8",
    "fmi3Terminate",
    "fmi3UpdateDiscreteStates",
];

/// Functions of the package `grapple-lanes`, by which instances advance together.
const TOGETHER: [&str; 4] = [
    "grapple_free_group",
    "grapple_group",
    "grapple_lanes",
    "grapple_step_group",
];

/// Inspects a library intended for a platform.
///
/// # Errors
/// Those of [`check_loadable`]; a library that lacks functions, with their names.
pub fn inspect(bytes: &[u8], platform: Platform) -> Result<Findings> {
    let mut findings = Findings::default();
    if platform == Platform::Wasm {
        component::check(bytes)?;
        return Ok(findings);
    }
    for file in loadable(bytes, platform)? {
        findings.machines.push(machine(file.architecture()));
        findings.others.extend(foreign_exports(&file)?);
        findings.glibc = match &file {
            object::File::Elf32(elf) => glibc(elf),
            object::File::Elf64(elf) => glibc(elf),
            _ => Ok(None),
        }
        .other()?;
    }
    findings.others.sort();
    findings.others.dedup();
    Ok(findings)
}

/// Checks that a file is a complete shared library for a platform. The system's loader may end the
/// process if it is not.
///
/// # Errors
/// A file that is not a shared library of that platform's format, architecture and word length, or
/// is incomplete.
pub fn check_loadable(bytes: &[u8], platform: Platform) -> Result<()> {
    loadable(bytes, platform).map(|_| ())
}

/// Returns the library, or the libraries in a universal library of macOS, with the errors of
/// [`check_loadable`].
fn loadable(bytes: &[u8], platform: Platform) -> Result<Vec<object::File<'_>>> {
    let images = images(bytes)?;
    if images.is_empty() {
        return Err(invalid!("it is an empty universal library of macOS"));
    }
    let load = |image| {
        let file = object::File::parse(image).other()?;
        suits(&file, platform)?;
        for segment in file.segments() {
            segment.data().context(|| "it is incomplete")?;
        }
        Ok(file)
    };
    images.into_iter().map(load).collect()
}

/// Returns the file itself, or the libraries in a universal library of macOS.
fn images(bytes: &[u8]) -> Result<Vec<&[u8]>> {
    fn slices<'a>(arches: &[impl FatArch], bytes: &'a [u8]) -> object::Result<Vec<&'a [u8]>> {
        arches.iter().map(|arch| arch.data(bytes)).collect()
    }
    let Ok(kind) = FileKind::parse(bytes) else {
        return Err(invalid!("it is not a library of any platform"));
    };
    match kind {
        FileKind::MachOFat32 => MachOFatFile32::parse(bytes).and_then(|fat| slices(fat.arches(), bytes)),
        FileKind::MachOFat64 => MachOFatFile64::parse(bytes).and_then(|fat| slices(fat.arches(), bytes)),
        FileKind::Elf32 | FileKind::Elf64 | FileKind::Pe32 | FileKind::Pe64 | FileKind::MachO32 | FileKind::MachO64 => {
            Ok(vec![bytes])
        }
        other => return Err(invalid!("it is not a shared library, but of kind {other:?}")),
    }
    .other()
}

/// Checks that a file is a shared library for the platform.
fn suits(file: &object::File, platform: Platform) -> Result<()> {
    let (format, is_64, architectures): (_, _, &[Architecture]) = match platform {
        Platform::Darwin64 => (
            BinaryFormat::MachO,
            true,
            &[Architecture::X86_64, Architecture::Aarch64],
        ),
        Platform::Aarch64Linux => (BinaryFormat::Elf, true, &[Architecture::Aarch64]),
        Platform::Linux32 => (BinaryFormat::Elf, false, &[Architecture::I386]),
        Platform::Linux64 => (BinaryFormat::Elf, true, &[Architecture::X86_64]),
        Platform::Wasm => (BinaryFormat::Wasm, false, &[Architecture::Wasm32]),
        Platform::Win32 => (BinaryFormat::Pe, false, &[Architecture::I386]),
        Platform::Win64 => (BinaryFormat::Pe, true, &[Architecture::X86_64]),
    };
    let architecture = file.architecture();
    if !architectures.contains(&architecture) || file.format() != format || file.is_64() != is_64 {
        return Err(invalid!(
            "it is {}, and {platform} needs {}",
            kind_of(file.format(), file.is_64(), architecture),
            kind_of(format, is_64, architectures[0])
        ));
    }
    if file.kind() != ObjectKind::Dynamic {
        return Err(invalid!("it is a program or an object file, not a shared library"));
    }
    Ok(())
}

/// Returns a description like "64-bit ELF (Linux) for x86-64".
fn kind_of(format: BinaryFormat, is_64: bool, architecture: Architecture) -> String {
    let format = match format {
        BinaryFormat::Elf => "ELF (Linux)".to_owned(),
        BinaryFormat::Pe => "PE (Windows)".to_owned(),
        BinaryFormat::MachO => "Mach-O (macOS)".to_owned(),
        other => format!("{other:?}"),
    };
    let bits = if is_64 { 64 } else { 32 };
    format!("{bits}-bit {format} for {}", machine(architecture))
}

fn machine(architecture: Architecture) -> String {
    match architecture {
        Architecture::X86_64 => "x86-64".to_owned(),
        Architecture::I386 => "x86".to_owned(),
        Architecture::Aarch64 => "arm64".to_owned(),
        other => format!("{other:?}"),
    }
}

/// Returns the exported symbols that are not FMI functions.
///
/// # Errors
/// Missing FMI functions, by name.
fn foreign_exports(file: &object::File) -> Result<Vec<String>> {
    let underscored = file.format() == BinaryFormat::MachO;
    let mut exports = Vec::new();
    for export in file.exports().other()? {
        if let object::read::NameOrOrdinal::Name(name) = export.other()?.name() {
            let name = String::from_utf8_lossy(name);
            let plain = if underscored { name.strip_prefix('_') } else { None };
            exports.push(plain.unwrap_or(&name).to_owned());
        }
    }
    let missing: Vec<&str> = FUNCTIONS
        .into_iter()
        .filter(|function| !exports.iter().any(|name| name == function))
        .collect();
    if missing.len() == FUNCTIONS.len() {
        return Err(invalid!("it exports none of FMI's {} functions", FUNCTIONS.len()));
    }
    if !missing.is_empty() {
        return Err(invalid!("it lacks {}", missing.join(", ")));
    }
    exports.retain(|name| !FUNCTIONS.contains(&name.as_str()) && !TOGETHER.contains(&name.as_str()));
    Ok(exports)
}

/// Returns the highest GLIBC version that a library needs, if it needs any.
fn glibc<'a, Elf: FileHeader<Endian = object::Endianness>>(
    file: &ElfFile<'a, Elf, &'a [u8]>,
) -> object::Result<Option<Glibc>> {
    let (endian, data, sections) = (file.endian(), file.data(), file.elf_section_table());
    let Some((mut libraries, link)) = sections.gnu_verneed(endian, data)? else {
        return Ok(None);
    };
    let names = sections.strings(endian, data, link)?;
    let mut highest = None;
    while let Some((_, mut versions)) = libraries.next()? {
        while let Some(version) = versions.next()? {
            highest = highest.max(Glibc::parse(version.name(endian, names)?));
        }
    }
    Ok(highest)
}

/// Version of the GNU C library.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Glibc(pub u32, pub u32);

impl Glibc {
    /// Parses `GLIBC_2.34`, `GLIBC_2.2.5`; none for other libraries' versions and names like
    /// `GLIBC_PRIVATE`.
    fn parse(name: &[u8]) -> Option<Self> {
        let numbers = std::str::from_utf8(name).ok()?.strip_prefix("GLIBC_")?;
        let mut numbers = numbers.split('.').map(str::parse);
        Some(Self(numbers.next()?.ok()?, numbers.next()?.ok()?))
    }
}

impl fmt::Display for Glibc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.0, self.1)
    }
}

#[cfg(feature = "inside")]
pub(super) mod tests {
    use super::*;
    use crate::library::Library;

    unit_tests![
        versions_are_compared_as_numbers,
        library_exports_each_function_of_the_standard_once,
    ];

    fn versions_are_compared_as_numbers() {
        assert!(Glibc::parse(b"GLIBC_2.34") > Glibc::parse(b"GLIBC_2.4"));
        assert_eq!(Glibc::parse(b"GLIBC_2.2.5"), Some(Glibc(2, 2)));
        assert_eq!(Glibc::parse(b"GLIBC_PRIVATE"), None);
        assert_eq!(Glibc::parse(b"GCC_3.0"), None);
    }

    fn library_exports_each_function_of_the_standard_once() {
        assert!(FUNCTIONS.is_sorted());
        assert!(FUNCTIONS.windows(2).all(|pair| pair[0] != pair[1]));
        // The library of this program exports exactly these functions.
        let findings = Library::embedded(Platform::here()).expect("it exports them").findings;
        assert!(findings.others.is_empty() || !cfg!(target_os = "linux"), "{findings:?}");
    }
}
