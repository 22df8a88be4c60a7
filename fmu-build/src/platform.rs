//! The platforms whose libraries an FMU may contain (FMI 2.0.4, §2.3), by their names in FMI 2.0;
//! WebAssembly, which FMI 2.0 has not, by its own.

use std::fmt;
use std::str::FromStr;

/// A platform, in the order in which archives list them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Platform {
    /// Linux on arm64.
    Aarch64Linux,
    /// macOS on x86-64 and arm64.
    Darwin64,
    /// Linux on 32-bit x86.
    Linux32,
    /// Linux on x86-64.
    Linux64,
    /// WebAssembly components, in FMI 3.0 (draft of the layered standard FMI-LS-WASM).
    Wasm,
    /// Windows on 32-bit x86.
    Win32,
    /// Windows on x86-64.
    Win64,
}

impl Platform {
    /// All platforms.
    pub const ALL: [Self; 7] = [
        Self::Aarch64Linux,
        Self::Darwin64,
        Self::Linux32,
        Self::Linux64,
        Self::Wasm,
        Self::Win32,
        Self::Win64,
    ];

    /// Returns true if an FMU has this platform's library without being asked for it. Few importers
    /// run WebAssembly.
    pub fn is_default(self) -> bool {
        self != Self::Wasm
    }

    /// Returns the platform of this program.
    pub fn here() -> Self {
        env!("GRAPPLE_PLATFORM")
            .parse()
            .expect("build.rs names platforms as FMI does")
    }

    /// Returns FMI's name of the platform, that of its folder in `binaries/`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Aarch64Linux => "aarch64-linux",
            Self::Darwin64 => "darwin64",
            Self::Linux32 => "linux32",
            Self::Linux64 => "linux64",
            Self::Wasm => "wasm",
            Self::Win32 => "win32",
            Self::Win64 => "win64",
        }
    }

    /// Returns the folders of FMI 3.0 in `binaries/` for a library that runs on the given machines (FMI
    /// 3.0, §2.5.1.5): architecture and system.
    pub fn folders_of_fmi3(self, machines: &[String]) -> Vec<String> {
        let one = match self {
            Self::Aarch64Linux => "aarch64-linux",
            Self::Linux32 => "x86-linux",
            Self::Linux64 => "x86_64-linux",
            Self::Wasm => "wasm32-wasip2",
            Self::Win32 => "x86-windows",
            Self::Win64 => "x86_64-windows",
            Self::Darwin64 => {
                let folder = |machine: &String| match machine.as_str() {
                    "arm64" => "aarch64-darwin".to_owned(),
                    _ => "x86_64-darwin".to_owned(),
                };
                return machines.iter().map(folder).collect();
            }
        };
        vec![one.to_owned()]
    }

    /// Returns the file extension of its shared libraries.
    pub fn suffix(self) -> &'static str {
        match self {
            Self::Darwin64 => ".dylib",
            Self::Aarch64Linux | Self::Linux32 | Self::Linux64 => ".so",
            Self::Wasm => ".wasm",
            Self::Win32 | Self::Win64 => ".dll",
        }
    }
}

impl fmt::Display for Platform {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Platform {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|platform| platform.name() == name);
        found.ok_or_else(|| {
            let names = Self::ALL.map(Self::name).join(", ");
            format!("there is no platform {name:?}; the platforms are {names}")
        })
    }
}

#[cfg(feature = "inside")]
pub(super) mod tests {
    use super::*;

    unit_tests![
        a_name_is_read_back_as_its_platform,
        folders_of_fmi_3_name_architecture_and_system,
    ];

    fn a_name_is_read_back_as_its_platform() {
        for platform in Platform::ALL {
            assert_eq!(platform.to_string().parse(), Ok(platform));
        }
        assert!(Platform::from_str("linux").is_err_and(|e| e.contains("linux64")));
    }

    fn folders_of_fmi_3_name_architecture_and_system() {
        let folders = |platform: Platform, machines: &[&str]| {
            let machines: Vec<String> = machines.iter().map(|&machine| machine.to_owned()).collect();
            platform.folders_of_fmi3(&machines).join(" ")
        };
        assert_eq!(folders(Platform::Linux64, &["x86-64"]), "x86_64-linux");
        assert_eq!(folders(Platform::Aarch64Linux, &["arm64"]), "aarch64-linux");
        assert_eq!(folders(Platform::Win64, &["x86-64"]), "x86_64-windows");
        let universal = folders(Platform::Darwin64, &["x86-64", "arm64"]);
        assert_eq!(universal, "x86_64-darwin aarch64-darwin");
    }
}
