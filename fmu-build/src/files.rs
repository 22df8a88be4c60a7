//! Output files: each is written completely or not at all, and never replaces an input file of the
//! same command.

use crate::archive;
use crate::error::{Context, Result, invalid};
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// A file to be written.
pub struct Target {
    path: PathBuf,
}

impl Target {
    /// Returns a target that is not one of the files in `reads`, which the command reads. The
    /// target's file may exist.
    ///
    /// # Errors
    /// The path is that of a file in `reads`.
    pub fn new(path: impl Into<PathBuf>, reads: &[PathBuf]) -> Result<Self> {
        let path = path.into();
        let own = place(&path);
        if reads.iter().any(|read| place(read) == own) {
            return Err(invalid!(
                "{} is an input or another output of this command; choose another name for the output",
                path.display()
            ));
        }
        Ok(Self { path })
    }

    /// Returns the target if its file does not exist, or `force` is set.
    ///
    /// # Errors
    /// The file exists and `force` is not set.
    pub fn unless_there(self, force: bool) -> Result<Self> {
        if self.path.exists() && !force {
            return Err(invalid!("{} exists; --force replaces it", self.path.display()));
        }
        Ok(self)
    }

    /// Returns the target unless its file is the FMU of another model than `name`. Rebuilding a model
    /// replaces its FMU; with `force` any FMU is replaced.
    ///
    /// # Errors
    /// The file is the FMU of another model, or of another tool.
    pub fn unless_other_model(self, name: &str, force: bool) -> Result<Self> {
        let (path, other) = (self.path.display(), archive::description(&self.path).ok());
        match other.map(|description| description.model_name) {
            Some(other) if !force && other != name => Err(invalid!(
                "{path} is the FMU of another model, {other:?}; --force replaces it, -o writes {name:?} to another file"
            )),
            Some(_) if !force && !archive::is_own(&self.path).unwrap_or(false) => Err(invalid!(
                "{path} is an FMU that grapple did not build; --force replaces it, -o writes {name:?} to another file"
            )),
            _ => Ok(self),
        }
    }

    /// Returns the path as given.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes bytes.
    ///
    /// # Errors
    /// The file cannot be written; an existing file is then unchanged.
    pub fn write(&self, bytes: impl AsRef<[u8]>) -> Result<()> {
        self.save(|file| file.write_all(bytes.as_ref()).other())
    }

    /// Writes the output of `fill`.
    ///
    /// # Errors
    /// The file cannot be written, or `fill` fails; an existing file is then unchanged.
    pub fn save(&self, fill: impl FnOnce(&mut File) -> Result<()>) -> Result<()> {
        let save = || -> Result<()> {
            // If the path is a link, the file behind it is replaced, not the link.
            let path = std::fs::canonicalize(&self.path).unwrap_or_else(|_| self.path.clone());
            let before = std::fs::metadata(&path).ok();
            if before.is_some() {
                // A file without write permission is not replaced; a target that is not a file
                // (/dev/stdout, a pipe) is written in place.
                let mut there = File::options().write(true).open(&path).other()?;
                if before.as_ref().is_some_and(|before| !before.is_file()) {
                    return fill(&mut there);
                }
            }
            let mut file = beside(&path)?;
            fill(file.as_file_mut())?;
            if let Some(before) = before {
                std::fs::set_permissions(file.path(), before.permissions()).other()?;
            }
            file.persist(&path).other()?;
            Ok(())
        };
        save().context(|| format!("cannot write {}", self.path.display()))
    }

    /// Writes bytes to a new file. If the file exists, e.g. because another process has created it
    /// meanwhile, it is kept.
    ///
    /// # Errors
    /// The file does not exist and cannot be written.
    pub fn create(&self, bytes: &[u8]) -> Result<()> {
        let create = || -> Result<()> {
            let mut file = beside(&self.path)?;
            file.write_all(bytes).other()?;
            file.persist_noclobber(&self.path).other()?;
            Ok(())
        };
        match create() {
            Err(error) if !self.path.exists() => Err(error).context(|| format!("cannot write {}", self.path.display())),
            _ => Ok(()),
        }
    }
}

/// Creates a temporary file in the folder of `path`; it is deleted unless it is renamed.
fn beside(path: &Path) -> Result<NamedTempFile<File>> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    tempfile::Builder::new()
        .prefix(".grapple-")
        // The file has the permissions of any new file, not those of a private temporary file.
        .make_in(folder.unwrap_or(Path::new(".")), |path| File::create_new(path))
        .other()
}

/// Creates a folder and its parents.
///
/// # Errors
/// The folder cannot be created.
pub fn folder(path: &Path) -> Result<()> {
    std::fs::create_dir_all(path).context(|| format!("cannot make the folder {}", path.display()))
}

/// Returns the canonical path of a file, whether it exists or not.
pub fn place(path: &Path) -> PathBuf {
    let in_folder = || {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let folder = std::fs::canonicalize(folder.unwrap_or(Path::new("."))).ok()?;
        Some(folder.join(path.file_name()?))
    };
    let there = std::fs::canonicalize(path).ok();
    there.or_else(in_folder).unwrap_or_else(|| path.to_owned())
}

#[cfg(feature = "inside")]
pub(super) mod tests {
    use super::*;
    use tempfile::TempDir;

    unit_tests![
        failed_write_leaves_the_old_file_and_no_temporary_one,
        links_devices_and_permissions_are_kept,
        missing_file_has_a_canonical_path,
    ];

    fn failed_write_leaves_the_old_file_and_no_temporary_one() {
        let folder = TempDir::new().expect("a folder");
        let path = folder.path().join("table.csv");
        std::fs::write(&path, "before").expect("a file");
        let target = Target::new(&path, &[]).expect("no input file");
        let failed = target.save(|file| {
            file.write_all(b"half").other()?;
            Err(invalid!("no more"))
        });
        let error = failed.expect_err("an error");
        assert_eq!(error.to_string(), format!("cannot write {}", path.display()));
        assert_eq!(std::fs::read_to_string(&path).expect("it is there"), "before");
        target.write("after").expect("it is written");
        assert_eq!(std::fs::read_to_string(&path).expect("it is there"), "after");
        assert_eq!(std::fs::read_dir(&folder).expect("a folder").count(), 1);
    }

    #[cfg(unix)]
    fn links_devices_and_permissions_are_kept() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let folder = TempDir::new().expect("a folder");
        let [file, link] = ["file", "link"].map(|name| folder.path().join(name));
        std::fs::write(&file, "before").expect("a file");
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o640)).expect("its owner may");
        symlink(&file, &link).expect("a link");
        assert!(
            Target::new(&link, std::slice::from_ref(&file)).is_err(),
            "it is the file"
        );
        Target::new(&link, &[])
            .expect("no input file")
            .write("after")
            .expect("it is written");
        assert!(link.is_symlink());
        assert_eq!(std::fs::read_to_string(&file).expect("it is there"), "after");
        let mode = std::fs::metadata(&file).expect("it is there").permissions().mode();
        assert_eq!(mode & 0o777, 0o640);
        Target::new("/dev/null", &[])
            .expect("no input file")
            .write("nothing")
            .expect("it takes all");
        assert!(!std::fs::metadata("/dev/null").expect("it is there").is_file());
    }

    fn missing_file_has_a_canonical_path() {
        let folder = TempDir::new().expect("a folder");
        let [here, around] = ["a.csv", "./../x/a.csv"].map(|name| folder.path().join(name));
        assert!(Target::new(&here, std::slice::from_ref(&here)).is_err());
        assert!(Target::new(around, &[here]).is_ok(), "a file of another folder");
    }
}
