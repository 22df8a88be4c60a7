use fmu_build::library::{Library, libraries, put_arm64_in_linux64};
use fmu_build::platform::Platform;
use miette::Result;
use std::path::{Path, PathBuf};

/// Options that select the libraries of an FMU.
#[derive(clap::Args)]
pub struct Libraries {
    /// Platforms of the FMU, separated by commas; by default all for which there is a library, but
    /// wasm (WebAssembly, FMI 3.0)
    #[arg(long, value_name = "PLATFORMS", value_delimiter = ',')]
    platform: Option<Vec<Platform>>,
    /// Use this shared library for the platform of this program, instead of the embedded one
    #[arg(long, value_name = "FILE")]
    library: Option<PathBuf>,
    /// Pack this shared library for a platform (aarch64-linux, darwin64, linux32, linux64, wasm, win32,
    /// win64); may be repeated
    #[arg(long, value_name = "PLATFORM=FILE", value_parser = platform_and_file)]
    binary: Vec<(Platform, PathBuf)>,
    /// Put the library for Linux on arm64 in the folder linux64, where FMPy and OpenModelica look for
    /// it; such an FMU does not run on Linux on x86-64
    #[arg(long)]
    arm64_in_linux64: bool,
}

fn platform_and_file(text: &str) -> Result<(Platform, PathBuf), String> {
    let (platform, file) = text
        .split_once('=')
        .filter(|(_, file)| !file.is_empty())
        .ok_or("it must be PLATFORM=FILE, as in win64=grapple.dll")?;
    Ok((platform.parse()?, file.into()))
}

impl Libraries {
    /// Returns true if the library for Linux on arm64 goes into the folder linux64.
    pub fn is_arm64_in_linux64(&self) -> bool {
        self.arm64_in_linux64
    }

    /// Returns each library's platform and file.
    fn each(&self) -> impl Iterator<Item = (Platform, &PathBuf)> {
        let own = self.library.iter().map(|file| (Platform::here(), file));
        own.chain(self.binary.iter().map(|(platform, file)| (*platform, file)))
    }

    /// Returns the files of all libraries.
    pub fn files(&self) -> impl Iterator<Item = &PathBuf> {
        self.each().map(|(_, file)| file)
    }

    /// Reads the libraries in the order of their platforms.
    ///
    /// # Errors
    /// Those of [`libraries`] and [`put_arm64_in_linux64`].
    pub fn read(&self) -> Result<Vec<Library>> {
        let files = self.each().map(|(platform, file)| (platform, Path::new(file)));
        let mut libraries = libraries(files, self.platform.as_deref())?;
        if self.arm64_in_linux64 {
            put_arm64_in_linux64(&mut libraries)?;
        }
        Ok(libraries)
    }
}
