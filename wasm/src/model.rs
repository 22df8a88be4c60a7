//! The model in this component. The tool (`fmu-build/src/component.rs`) adds the bytes of `model.json`
//! as a segment of data behind the memory that the linker has laid out, finds [`PLACE`] by its mark
//! and writes the segment's address and length into it.

use grapple::fmu::resource;

/// Address and length of the model, after a mark.
#[repr(C)]
struct Place {
    mark: [u8; 24],
    address: u32,
    length: u32,
}

/// Written into the file, never at run time.
static PLACE: Place = Place {
    mark: *b"grapple: model of an FMU",
    address: 0,
    length: 0,
};

/// Lets instances have the model of this component, in place of one in a file.
pub fn provide() {
    // SAFETY: a read of a valid place, as it is in the file: not a constant.
    let place = unsafe { std::ptr::read_volatile(&raw const PLACE) };
    if place.length != 0 {
        let start = std::ptr::with_exposed_provenance(place.address as usize);
        // SAFETY: the tool has placed this segment behind all other memory, where nobody writes.
        let bytes = unsafe { std::slice::from_raw_parts(start, place.length as usize) };
        resource::provide(bytes);
    }
}
