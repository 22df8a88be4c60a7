use super::Model;
use crate::Error;
use crate::spec::{self, Spec};
use serde::{Deserialize, Serialize};

/// Compiled model as stored in an FMU's `resources/`.
#[derive(Serialize, Deserialize)]
struct Compiled {
    format: u32,
    spec: Spec,
}

/// Version of the format, raised whenever the meaning of a compiled model changes.
const FORMAT: u32 = 1;

impl Model {
    /// Returns the bytes for an FMU's `resources/`: the spec as JSON, tables included.
    ///
    /// # Errors
    /// [`Error::Format`] if the serialisation fails.
    pub fn to_bytes(&self) -> Result<Vec<u8>, Error> {
        let compiled = Compiled {
            format: FORMAT,
            spec: self.spec.clone(),
        };
        serde_json::to_vec_pretty(&compiled).map_err(|e| Error::Format(format!("the model cannot be written: {e}")))
    }

    /// Reads a compiled model.
    ///
    /// # Errors
    /// [`Error::Format`] if the bytes are no compiled model; [`Error::Spec`] if its spec is
    /// invalid.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        Self::compile(&Self::spec_from_bytes(bytes)?)
    }

    /// Reads the spec in a compiled model, for [`compile`](Self::compile).
    ///
    /// # Errors
    /// As [`from_bytes`](Self::from_bytes), without the validation of values.
    pub fn spec_from_bytes(bytes: &[u8]) -> Result<Spec, Error> {
        let compiled: Compiled = serde_json::from_slice(bytes)
            .map_err(|e| Error::Format(format!("the compiled model cannot be read: {e}")))?;
        if compiled.format != FORMAT {
            return Err(Error::Format(format!(
                "the compiled model has format {}, this library reads format {FORMAT}",
                compiled.format
            )));
        }
        if let Some((input, _)) = compiled.spec.signal.iter().find(|(_, signal)| signal.file.is_some()) {
            return Err(Error::Format(format!(
                "signal \"{input}\": a compiled model includes its tables, but this signal names a file"
            )));
        }
        spec::check(&compiled.spec)?;
        Ok(compiled.spec)
    }
}
