//! The GUID that matches an FMU's XML with its model and with this library.

use super::description::Interfaces;
use super::registry::{Naming, REGISTRY_VERSION};
use sha2::{Digest, Sha256};
use std::fmt;

/// Identifies the model in `resources/` together with this library's list of variables (§2.2.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Guid(pub [u8; 16]);

impl Guid {
    /// Returns the first 128 bits of SHA-256 over the naming, the interface if the XML offers only
    /// one, [`REGISTRY_VERSION`] and the bytes of `resources/model.json`.
    ///
    /// No computed number is included, since its last bit may differ between platforms.
    pub fn new(model: &[u8], naming: Naming, interfaces: Interfaces) -> Self {
        let flavour: &[u8] = match naming {
            Naming::Structured => b"structured",
            Naming::Flat => b"flat",
        };
        let offered: &[u8] = match interfaces {
            Interfaces::Both => b"",
            Interfaces::ModelExchange => b", Model Exchange",
            Interfaces::CoSimulation => b", Co-Simulation",
        };
        let mut hash = Sha256::new();
        hash.update(flavour);
        hash.update(offered);
        hash.update(REGISTRY_VERSION.to_le_bytes());
        hash.update(model);
        let mut guid = [0; 16];
        for (to, from) in guid.iter_mut().zip(hash.finalize()) {
            *to = from;
        }
        Self(guid)
    }
}

impl fmt::Display for Guid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("{")?;
        for (i, byte) in self.0.iter().enumerate() {
            let dash = if matches!(i, 4 | 6 | 8 | 10) { "-" } else { "" };
            write!(f, "{dash}{byte:02x}")?;
        }
        f.write_str("}")
    }
}

#[cfg(feature = "inside")]
pub(super) mod tests {
    use super::*;

    unit_tests![guid_depends_on_model_naming_and_interfaces];

    fn guid_depends_on_model_naming_and_interfaces() {
        let guid = Guid::new(b"model", Naming::Structured, Interfaces::Both);
        assert_eq!(guid, Guid::new(b"model", Naming::Structured, Interfaces::Both));
        assert_ne!(guid, Guid::new(b"model", Naming::Flat, Interfaces::Both));
        assert_ne!(guid, Guid::new(b"Model", Naming::Structured, Interfaces::Both));
        let [one, other] = [Interfaces::ModelExchange, Interfaces::CoSimulation]
            .map(|interfaces| Guid::new(b"model", Naming::Structured, interfaces));
        assert!(one != guid && other != guid && one != other);
        let text = guid.to_string();
        let groups: Vec<usize> = text.trim_matches(['{', '}']).split('-').map(str::len).collect();
        assert_eq!((groups.as_slice(), text.len()), ([8, 4, 4, 4, 12].as_slice(), 38));
    }
}
