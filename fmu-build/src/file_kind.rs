//! Kinds of files, for errors about a file of another kind than a verb expects.

use std::path::Path;

/// Kind of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    Spec,
    Fmu,
    System,
    Spreadsheet,
    Archive,
    Csv,
    Parquet,
    Hdf5,
    Matlab,
    Page,
    Mesh,
    Sdf,
    Xml,
    /// Bytes that are no text.
    Binary,
}

impl FileKind {
    /// Returns the kind of a file by its first bytes, or by the extension of its name; none for text
    /// that may be anything.
    pub fn of(path: &Path, begin: &[u8]) -> Option<Self> {
        let extension = path.extension().unwrap_or_default().to_string_lossy().to_lowercase();
        let by_name = match extension.as_str() {
            "toml" => Some(Self::Spec),
            "fmu" => Some(Self::Fmu),
            "ssp" => Some(Self::System),
            "xlsx" | "ods" => Some(Self::Spreadsheet),
            "csv" => Some(Self::Csv),
            "mat" => Some(Self::Matlab),
            "html" | "htm" => Some(Self::Page),
            "stl" | "obj" | "dae" | "glb" | "gltf" => Some(Self::Mesh),
            "sdf" => Some(Self::Sdf),
            _ => None,
        };
        let text = begin.strip_prefix(b"\xef\xbb\xbf").unwrap_or(begin).trim_ascii_start();
        match (begin, by_name) {
            ([b'P', b'A', b'R', b'1', ..], _) => Some(Self::Parquet),
            ([0x89, b'H', b'D', b'F', ..], _) => Some(Self::Hdf5),
            ([b'P', b'K', 3, 4, ..], None | Some(Self::Spec | Self::Csv)) => Some(Self::Archive),
            (_, None | Some(Self::Spec)) if text.starts_with(b"<") => Some(Self::Xml),
            (_, None | Some(Self::Spec | Self::Csv)) if begin.contains(&0) => Some(Self::Binary),
            (_, by_name) => by_name,
        }
    }

    /// Returns the description, with what reads such a file: "an FMU (`grapple describe` …)".
    pub fn description(self) -> &'static str {
        match self {
            Self::Spec => "a spec (`grapple check` reads it)",
            Self::Fmu => "an FMU (`grapple describe` and `grapple simulate` read it)",
            Self::System => "a system of FMUs (`grapple simulate` runs it)",
            Self::Spreadsheet => "a spreadsheet (save it as CSV)",
            Self::Archive => "a ZIP archive",
            Self::Csv | Self::Parquet => "a table of numbers",
            Self::Hdf5 => "HDF5 (with Python: pandas.read_hdf(…).to_csv(…))",
            Self::Matlab => "MATLAB's format (with Python: FMPy or DyMat reads it, and writes CSV)",
            Self::Page => "a page (give the table from which it was made)",
            Self::Mesh => "a mesh",
            Self::Sdf => "Gazebo's SDF, which grapple does not read",
            Self::Xml => "XML (`grapple import` reads URDF)",
            Self::Binary => "not text",
        }
    }
}
