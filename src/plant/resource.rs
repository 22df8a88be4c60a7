use super::Model;
use crate::Error;
use crate::spec::{self, Node, Spec};
use serde::{Deserialize, Serialize};

/// Contents of `model.json` in an FMU's `resources/`: the spec, with all tables included.
#[derive(Serialize, Deserialize)]
struct Compiled {
    format: u32,
    /// On the heap: importers call from threads with small stacks.
    spec: Box<Spec>,
}

/// Version of the file's format, raised whenever the meaning of its contents changes.
const FORMAT: u32 = 1;

impl Model {
    /// Returns the bytes of `model.json` for an FMU's `resources/`: the spec, with all tables
    /// included, without shapes.
    ///
    /// # Errors
    /// [`Error::Format`] if the serialisation fails.
    pub fn to_bytes(&self) -> Result<Vec<u8>, Error> {
        let mut compiled = Compiled {
            format: FORMAT,
            spec: self.spec.clone(),
        };
        compiled.spec.remove_shapes();
        let fault = |what: String| Error::Format(format!("the model cannot be written: {what}"));
        let table = toml::Table::try_from(&compiled).map_err(|e| fault(e.to_string()))?;
        serde_json::to_vec_pretty(&table).map_err(|e| fault(e.to_string()))
    }

    /// Reads the spec from the bytes of an FMU's `model.json`, and compiles it.
    ///
    /// # Errors
    /// [`Error::Format`] if the bytes are no such file, or one of another format version;
    /// [`Error::Spec`] if its spec is invalid.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        let spec = Self::spec_from_bytes(bytes)?;
        Self::compile(&spec)
    }

    /// Reads the spec from the bytes of an FMU's `model.json`, for [`compile`](Self::compile).
    ///
    /// # Errors
    /// As [`from_bytes`](Self::from_bytes), without the validation of values.
    pub fn spec_from_bytes(bytes: &[u8]) -> Result<Box<Spec>, Error> {
        let fault = |what: String| Error::Format(format!("the compiled model cannot be read: {what}"));
        let values: Node = serde_json::from_slice(bytes).map_err(|e| fault(e.to_string()))?;
        let compiled: Compiled = values.read().map_err(|e| fault(e.to_string()))?;
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
