//! The model inside the library for WebAssembly, which sees no file of its FMU.
//!
//! The library is a component: a file of sections, one of which is the module with its code and data
//! (WebAssembly Core Specification 2.0, §5.5; Component Model, `Binary.md`). The model becomes one more
//! segment of the module's data, behind the memory that the linker has laid out, and its address and
//! length are written behind the mark in `wasm/src/model.rs`.

use crate::archive::Content;
use crate::build::BuildOptions;
use crate::error::{Result, invalid};
use crate::library::Library;
use crate::system_structure::xml;
use grapple::fmu::lifecycle::Standard;
use serde::Serialize;

/// Name of the layered standard, and of its folder in `extra/`.
const STANDARD: &str = "org.modelica.fmi-ls-wasm";
/// First bytes of a component.
const COMPONENT: &[u8] = b"\0asm\x0d\0\x01\0";
/// First bytes of a module.
const MODULE: &[u8] = b"\0asm\x01\0\0\0";
/// Number of a component's section that contains a module.
const CORE_MODULE: u8 = 1;
/// Numbers of a module's sections.
const MEMORY: u8 = 5;
const DATA: u8 = 11;
const DATA_COUNT: u8 = 12;
/// Size of a page of memory, bytes.
const PAGE: usize = 1 << 16;
/// Mark before the address and the length of the model (`wasm/src/model.rs`).
const MARK: &[u8] = b"grapple: model of an FMU";

/// A section of a component or module: its number and contents.
type Section<'a> = (u8, &'a [u8]);

/// The layered standard's manifest.
#[derive(Serialize)]
#[serde(rename = "fmiLayeredStandardManifest")]
struct Manifest {
    #[serde(rename = "@xmlns:fmi-ls")]
    namespace: &'static str,
    #[serde(rename = "@fmi-ls:fmi-ls-name")]
    name: &'static str,
    #[serde(rename = "@fmi-ls:fmi-ls-version")]
    version: &'static str,
    #[serde(rename = "@fmi-ls:fmi-ls-description")]
    description: &'static str,
}

/// Returns the files of an FMU for WebAssembly: the component with the model (bytes of `model.json`),
/// and the layered standard's manifest.
///
/// # Errors
/// Options that WebAssembly does not have: FMI 2.0, arrays.
pub fn files(
    library: &Library,
    model: &[u8],
    identifier: &str,
    options: &BuildOptions,
) -> Result<Vec<Content<'static>>> {
    if options.standard == Standard::Fmi2 {
        return Err(invalid!(
            "WebAssembly needs FMI 3.0: add --fmi 3, or leave out the platform wasm"
        ));
    }
    if options.arrays {
        return Err(invalid!(
            "the library for WebAssembly has no arrays: leave out either --arrays or the platform wasm"
        ));
    }
    let manifest = Manifest {
        namespace: "http://fmi-standard.org/fmi-ls-manifest",
        name: STANDARD,
        version: "0.1.0",
        description: "FMI Layered Standard for WebAssembly",
    };
    let bytes = with_model(&library.bytes.plain()?, model)?;
    let mut files: Vec<_> = library
        .paths(options.standard, identifier)
        .map(|path| Content::new(path, bytes.clone()))
        .collect();
    files.push(Content::new(
        format!("extra/{STANDARD}/manifest.xml"),
        xml(&manifest)?.into_bytes(),
    ));
    Ok(files)
}

/// Checks that a file is this library for WebAssembly.
///
/// # Errors
/// Another file, or a broken one.
pub fn check(bytes: &[u8]) -> Result<()> {
    with_model(bytes, b"{}").map(|_| ())
}

/// Returns the component with a model.
///
/// # Errors
/// A file that is not this library for WebAssembly, or is broken.
pub fn with_model(component: &[u8], model: &[u8]) -> Result<Vec<u8>> {
    let Some(rest) = component.strip_prefix(COMPONENT) else {
        return Err(invalid!("it is not a WebAssembly component"));
    };
    let mut found = false;
    let mut out = COMPONENT.to_vec();
    for (number, contents) in sections(rest)? {
        let marks = contents.windows(MARK.len()).filter(|bytes| *bytes == MARK).count();
        if number == CORE_MODULE && marks == 1 && !found {
            found = true;
            section(&mut out, number, &module_with_model(contents, model)?);
        } else {
            section(&mut out, number, contents);
        }
    }
    match found {
        true => Ok(out),
        false => Err(invalid!(
            "it has no place for a model: it is not the component that scripts/libraries wasm builds"
        )),
    }
}

/// Returns the module with a model as one more segment of its data.
fn module_with_model(module: &[u8], model: &[u8]) -> Result<Vec<u8>> {
    let Some(rest) = module.strip_prefix(MODULE) else {
        return Err(broken());
    };
    let mut address = None;
    let mut out = MODULE.to_vec();
    for (number, contents) in sections(rest)? {
        match number {
            MEMORY => {
                let (end, grown) = grown_memory(contents, model.len())?;
                address = Some(end);
                section(&mut out, number, &grown);
            }
            DATA_COUNT => {
                let mut position = 0;
                section(&mut out, number, &unsigned(read(contents, &mut position)? + 1));
            }
            DATA => {
                let address = address.ok_or_else(broken)?;
                section(&mut out, number, &data_with_model(contents, model, address)?);
            }
            _ => section(&mut out, number, contents),
        }
    }
    Ok(out)
}

/// Returns the end of a module's memory, bytes, and the section of that memory with room for `length`
/// bytes more.
fn grown_memory(contents: &[u8], length: usize) -> Result<(u32, Vec<u8>)> {
    let mut position = 0;
    let count = read(contents, &mut position)?;
    let flags = *contents.get(position).ok_or_else(broken)?;
    position += 1;
    let pages = read(contents, &mut position)?;
    // One memory without an upper limit, which the linker makes.
    if (count, flags) != (1, 0) || position != contents.len() {
        return Err(broken());
    }
    let more = u32::try_from(length.div_ceil(PAGE)).map_err(|_| too_large())?;
    let end = (pages as usize * PAGE).try_into().map_err(|_| too_large())?;
    let pages = pages
        .checked_add(more)
        .filter(|&pages| pages < 1 << 16)
        .ok_or_else(too_large)?;
    Ok((end, [unsigned(1), vec![flags], unsigned(pages)].concat()))
}

/// Returns the section of data with the model as one more segment, at an address that the mark gives.
fn data_with_model(contents: &[u8], model: &[u8], address: u32) -> Result<Vec<u8>> {
    let mut position = 0;
    let count = read(contents, &mut position)?;
    let length = u32::try_from(model.len()).map_err(|_| too_large())?;
    let mut out = unsigned(count + 1);
    let start = out.len();
    out.extend_from_slice(&contents[position..]);
    let mark = out[start..].windows(MARK.len()).position(|bytes| bytes == MARK);
    let place = start + mark.ok_or_else(broken)? + MARK.len();
    let written = out.get_mut(place..place + 8).ok_or_else(broken)?;
    written[..4].copy_from_slice(&address.to_le_bytes());
    written[4..].copy_from_slice(&length.to_le_bytes());
    // An active segment of memory 0: the constant address, the end of the expression, the bytes.
    out.extend([0, 0x41]);
    let (bytes, size) = leb128fmt::encode_s32(address.cast_signed()).expect("every i32 has a form");
    out.extend(&bytes[..size]);
    out.push(0x0b);
    out.extend(unsigned(length));
    out.extend(model);
    Ok(out)
}

/// Returns the sections of a component or module, without its first bytes.
fn sections(bytes: &[u8]) -> Result<Vec<Section<'_>>> {
    let mut sections = Vec::new();
    let mut position = 0;
    while let Some(&number) = bytes.get(position) {
        position += 1;
        let end = position_after(read(bytes, &mut position)?, position)?;
        sections.push((number, bytes.get(position..end).ok_or_else(broken)?));
        position = end;
    }
    Ok(sections)
}

fn position_after(length: u32, position: usize) -> Result<usize> {
    position.checked_add(length as usize).ok_or_else(broken)
}

/// Appends a section.
fn section(out: &mut Vec<u8>, number: u8, contents: &[u8]) {
    out.push(number);
    out.extend(unsigned(u32::try_from(contents.len()).unwrap_or(u32::MAX)));
    out.extend(contents);
}

fn unsigned(value: u32) -> Vec<u8> {
    let (bytes, size) = leb128fmt::encode_u32(value).expect("every u32 has a form");
    bytes[..size].to_vec()
}

/// Reads an unsigned number at `position`, which is then behind it.
fn read(bytes: &[u8], position: &mut usize) -> Result<u32> {
    leb128fmt::decode_uint_slice::<u32, 32>(bytes, position).map_err(|_| broken())
}

fn broken() -> crate::Error {
    invalid!("the WebAssembly component is broken")
}

fn too_large() -> crate::Error {
    invalid!("the model is too large for the memory of WebAssembly")
}
