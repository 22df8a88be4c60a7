//! The library by which the runs of a campaign advance together, with evaluations in the lanes of
//! vectors.
//!
//! It has the FMU's own code, compiled for a processor with wide vectors, and the same bits. It is used
//! in place of the FMU's library if that is the one inside this program.

use crate::error::{Error, Result};
use crate::fmu::Fmu;
use crate::library::{self, Library};
use crate::platform::Platform;
use crate::slave::FmuLibrary;

/// Library for runs that advance together, or the reason why each run is made alone.
pub enum Lanes {
    /// The library inside the FMU itself.
    Own,
    /// Another library.
    Other(Box<FmuLibrary>),
    /// The reason.
    Alone(String),
}

impl Lanes {
    /// Returns the library for the runs of an FMU, loaded.
    pub fn of(fmu: &Fmu) -> Self {
        if let Err(reason) = fmu.model.runs_in_lanes() {
            return Self::Alone(reason.to_string());
        }
        if fmu.library.most_together() > 1 {
            return Self::Own;
        }
        match load(fmu) {
            Ok(library) => Self::Other(Box::new(library)),
            Err(error) => Self::Alone(error.to_string()),
        }
    }

    /// Returns the library by which the runs of an FMU are made.
    pub fn library<'a>(&'a self, fmu: &'a Fmu) -> &'a FmuLibrary {
        match self {
            Self::Other(library) => library,
            Self::Own | Self::Alone(_) => &fmu.library,
        }
    }
}

fn load(fmu: &Fmu) -> Result<FmuLibrary> {
    let own = Library::embedded(Platform::here())?;
    if *own.bytes.plain()? != *fmu.library_bytes()? {
        return Err(Error::Invalid(
            "the FMU's library is not the one inside this program".to_owned(),
        ));
    }
    let bytes = library::for_lanes()?;
    fmu.load(&bytes)
}
