//! The files that this program writes: each is there as a whole or not at all, and none in the place of one that is read.

use miette::{IntoDiagnostic, Result, WrapErr, bail};
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// A file that is to be written.
pub struct Target {
    path: PathBuf,
}

impl Target {
    /// A file that may be there already, but is none of those that the command reads.
    ///
    /// # Errors
    /// It is one of them.
    pub fn new(path: impl Into<PathBuf>, reads: &[PathBuf]) -> Result<Self> {
        let path = path.into();
        let own = place(&path);
        if reads.iter().any(|read| place(read) == own) {
            bail!(
                "{} is what this command reads, or writes besides; another name for the output keeps it",
                path.display()
            );
        }
        Ok(Self { path })
    }

    /// The same, if nothing is there or it may be replaced.
    ///
    /// # Errors
    /// Something is there.
    pub fn unless_there(self, force: bool) -> Result<Self> {
        if self.path.exists() && !force {
            bail!("{} exists; --force replaces it", self.path.display());
        }
        Ok(self)
    }

    /// Its path, as it was given.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes these bytes.
    ///
    /// # Errors
    /// It cannot be written; it is then as it was before.
    pub fn write(&self, bytes: impl AsRef<[u8]>) -> Result<()> {
        self.save(|file| file.write_all(bytes.as_ref()).into_diagnostic())
    }

    /// Writes what `fill` puts into it.
    ///
    /// # Errors
    /// It cannot be written, or `fill` fails; it is then as it was before.
    pub fn save(&self, fill: impl FnOnce(&mut File) -> Result<()>) -> Result<()> {
        let save = || -> Result<()> {
            // Behind a link, the file itself is replaced.
            let path = std::fs::canonicalize(&self.path).unwrap_or_else(|_| self.path.clone());
            let before = std::fs::metadata(&path).ok();
            if before.is_some() {
                // Who may not write it may not replace it; what is no file (/dev/stdout, a pipe) is not replaced at all.
                let mut there = File::options().write(true).open(&path).into_diagnostic()?;
                if before.as_ref().is_some_and(|before| !before.is_file()) {
                    return fill(&mut there);
                }
            }
            let mut file = beside(&path)?;
            fill(file.as_file_mut())?;
            if let Some(before) = before {
                std::fs::set_permissions(file.path(), before.permissions()).into_diagnostic()?;
            }
            file.persist(&path).into_diagnostic()?;
            Ok(())
        };
        save().wrap_err_with(|| format!("cannot write {}", self.path.display()))
    }

    /// Writes these bytes, unless someone else has been faster.
    ///
    /// # Errors
    /// It cannot be written, and is not there.
    pub fn create(&self, bytes: &[u8]) -> Result<()> {
        let create = || -> Result<()> {
            let mut file = beside(&self.path)?;
            file.write_all(bytes).into_diagnostic()?;
            file.persist_noclobber(&self.path).into_diagnostic()?;
            Ok(())
        };
        match create() {
            Err(error) if !self.path.exists() => Err(error.wrap_err(format!("cannot write {}", self.path.display()))),
            _ => Ok(()),
        }
    }
}

/// A file in the same folder, which is gone if nothing becomes of it.
fn beside(path: &Path) -> Result<NamedTempFile<File>> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    tempfile::Builder::new()
        .prefix(".grapple-")
        // With the permissions that any new file has.
        .make_in(folder.unwrap_or(Path::new(".")), |path| File::create_new(path))
        .into_diagnostic()
}

/// Makes a folder, with those that it stands in.
///
/// # Errors
/// It cannot be made.
pub fn folder(path: &Path) -> Result<()> {
    std::fs::create_dir_all(path)
        .into_diagnostic()
        .wrap_err_with(|| format!("cannot make the folder {}", path.display()))
}

/// Where a file is, or would be, whatever way leads there.
pub fn place(path: &Path) -> PathBuf {
    let in_folder = || {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let folder = std::fs::canonicalize(folder.unwrap_or(Path::new("."))).ok()?;
        Some(folder.join(path.file_name()?))
    };
    let there = std::fs::canonicalize(path).ok();
    there.or_else(in_folder).unwrap_or_else(|| path.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use tempfile::TempDir;

    #[test]
    fn what_cannot_be_finished_leaves_what_was_there_and_nothing_else() {
        let folder = TempDir::new().expect("a folder");
        let path = folder.path().join("table.csv");
        std::fs::write(&path, "before").expect("a file");
        let target = Target::new(&path, &[]).expect("nothing is read");
        let failed = target.save(|file| {
            file.write_all(b"half").into_diagnostic()?;
            bail!("no more")
        });
        let told = failed.expect_err("it fails");
        assert_eq!(told.to_string(), format!("cannot write {}", path.display()));
        assert_eq!(std::fs::read_to_string(&path).expect("it is there"), "before");
        target.write("after").expect("it is written");
        assert_eq!(std::fs::read_to_string(&path).expect("it is there"), "after");
        assert_eq!(std::fs::read_dir(&folder).expect("a folder").count(), 1);
    }

    #[cfg(unix)]
    #[test]
    fn links_devices_and_permissions_stay() {
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
            .expect("nothing is read")
            .write("after")
            .expect("it is written");
        assert!(link.is_symlink());
        assert_eq!(std::fs::read_to_string(&file).expect("it is there"), "after");
        let mode = std::fs::metadata(&file).expect("it is there").permissions().mode();
        assert_eq!(mode & 0o777, 0o640);
        Target::new("/dev/null", &[])
            .expect("nothing is read")
            .write("nothing")
            .expect("it takes all");
        assert!(!std::fs::metadata("/dev/null").expect("it is there").is_file());
    }

    #[test]
    fn a_file_that_is_not_there_yet_is_known_by_its_place() {
        let folder = TempDir::new().expect("a folder");
        let [here, around] = ["a.csv", "./../x/a.csv"].map(|name| folder.path().join(name));
        assert!(Target::new(&here, std::slice::from_ref(&here)).is_err());
        assert!(Target::new(around, &[here]).is_ok(), "another folder");
    }
}
