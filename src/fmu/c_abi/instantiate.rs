//! Instantiation, common to the versions of the standard.

use super::handle::Handle;
use super::intermediate::{Intermediate, Updates};
use super::logger::{Importer, Logger, failure};
use super::pointers::text;
use super::{floating_point, panics};
use crate::fmu::component::{Component, Refusal};
use crate::fmu::lifecycle::{Interface, Standard};
use crate::fmu::memory;
use std::ffi::{CStr, CString, c_char, c_void};

/// Arguments of a function that instantiates.
pub(super) struct Request {
    pub standard: Standard,
    /// Name of the function.
    pub function: &'static str,
    /// Message for the case that there is not enough memory.
    pub out_of_memory: &'static CStr,
    /// The logger.
    pub importer: Importer,
    /// Name of the instance.
    pub name: *const c_char,
    /// Fingerprint of the XML.
    pub token: *const c_char,
    /// Location of `resources/`.
    pub location: *const c_char,
    pub logging_on: bool,
}

/// Creates an instance; `interface` is called first and may refuse, `finish` is called with the
/// instance, may refuse as well, and returns the importer's callback for intermediate updates. Returns
/// null on failure and logs the reason.
///
/// # Safety
/// The strings of the request are null or end with a zero, and its callback has the standard's type.
pub(super) unsafe fn instantiate(
    request: &Request,
    interface: impl FnOnce() -> Result<Interface, String>,
    finish: impl FnOnce(&mut Component) -> Result<Option<Updates>, String>,
) -> *mut c_void {
    let Request {
        standard,
        importer,
        name,
        ..
    } = *request;
    let refuse = || {
        // SAFETY: the name comes from the importer: null or a string that ends with a zero.
        unsafe { importer.out_of_memory(name, request.out_of_memory) };
        std::ptr::null_mut()
    };
    // Tests the memory for the strings of this call. `refuse` logs its message without them.
    if memory::test(memory::BASE).is_err() {
        return refuse();
    }
    let instantiate = || {
        // SAFETY: guaranteed by the caller: null or a string that ends with a zero.
        let [name, token, location] = unsafe { [text(name), text(request.token), text(request.location)] };
        let name = CString::new(name.unwrap_or_default().as_bytes()).unwrap_or_default();
        let logger = Logger::new(importer, name);
        let made = panics::catch(|| {
            let interface = interface()?;
            let token = token.ok_or_else(|| format!("the {} is null", standard.token()))?;
            let location = location.ok_or_else(|| {
                "the resource location is null; this FMU reads its model from the directory resources, so the \
                 importer must pass the location of the unpacked directory"
                    .to_owned()
            })?;
            let of = (standard, interface);
            let mut component =
                floating_point::in_default(|| Component::instantiate(of, &token, &location, request.logging_on))?;
            let updates = finish(&mut component)?;
            let intermediate = updates
                .map(|updates| Intermediate::new(updates, &component))
                .transpose()?;
            Ok((component, intermediate))
        });
        match made.map_err(Refusal::Reason).and_then(|made| made) {
            Ok((component, intermediate)) => Handle::into_raw(component, logger, intermediate),
            Err(Refusal::OutOfMemory) => refuse(),
            Err(Refusal::Reason(what)) => {
                logger.send(&failure(request.function, &what));
                std::ptr::null_mut()
            }
        }
    };
    panics::catch(instantiate).unwrap_or(std::ptr::null_mut())
}
