use super::Model;
use crate::Error;
use crate::spec::{self, Spec};
use serde::{Deserialize, Serialize};

/// The file in `resources/`.
#[derive(Serialize, Deserialize)]
struct Compiled {
    format: u32,
    spec: Spec,
}

/// Raised whenever the meaning of a compiled model changes.
const FORMAT: u32 = 1;

impl Model {
    /// The bytes that go into an FMU's `resources/`: the spec as JSON, tables included.
    ///
    /// # Errors
    /// [`Error::Format`] if it cannot be written.
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
    /// [`Error::Format`] if the bytes are none; [`Error::Spec`] if what they say makes no model.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        Self::compile(&Self::spec_from_bytes(bytes)?)
    }

    /// Reads the spec in a compiled model, which [`compile`](Self::compile) makes the model of.
    ///
    /// # Errors
    /// As [`from_bytes`](Self::from_bytes), but for what is wrong with numbers.
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
                "signal \"{input}\": a compiled model has its tables in itself, and this one names a file"
            )));
        }
        spec::check(&compiled.spec)?;
        Ok(compiled.spec)
    }
}
