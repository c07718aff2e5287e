//! Target of a verb: a file that crate `files` writes, or a folder that appears under its name when
//! it is complete.
//!
//! Until then the output lies under a name that begins with `.sealane-`, and any error removes it.
//! Only a process that is killed can leave it behind.

use crate::refusals;
use crate::refusals::Refusal;
use sealane_files::{NewFile, Rights, Taken, UNFINISHED, sync_folder};
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use tempfile::{Builder, TempDir};

/// Final name of an output.
pub struct Target {
    path: PathBuf,
    folder: PathBuf,
    force: bool,
}

impl Target {
    /// Checks a name for writing. An existing file is replaced only with `force`; a folder never
    /// is.
    pub fn new(path: &Path, force: bool) -> Result<Target, Refusal> {
        let folder = match path.parent() {
            Some(folder) if folder.as_os_str().is_empty() => Path::new("."),
            Some(folder) => folder,
            None => return Err(refusals::exists(path, true)),
        };
        let target = Target {
            path: path.to_path_buf(),
            folder: folder.to_path_buf(),
            force,
        };
        target.check_free(force)?;
        if folder.is_dir() {
            Ok(target)
        } else {
            let error = io::Error::new(io::ErrorKind::NotFound, "its folder does not exist");
            Err(refusals::unwritable(path, &error))
        }
    }

    /// Returns the final name.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the folder that contains the output.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Creates an unfinished file: readable by its owner alone if `private`, else with default
    /// rights.
    pub fn file(&self, private: bool) -> Result<NewFile, Refusal> {
        let rights = if private {
            Rights::Owner
        } else {
            Rights::Usual
        };
        let taken = if self.force {
            Taken::Replace
        } else {
            Taken::Refuse
        };
        NewFile::begin(&self.path, rights, taken).map_err(|error| self.failed(&error))
    }

    /// Creates an unfinished folder that nobody else can enter, and within it the folder that is to
    /// be kept.
    pub fn unfinished_folder(&self) -> Result<(TempDir, PathBuf), Refusal> {
        let mut builder = Builder::new();
        builder.prefix(UNFINISHED);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            builder.permissions(fs::Permissions::from_mode(0o700));
        }
        let outer = builder.tempdir_in(&self.folder);
        let outer = outer.map_err(|error| self.failed(&error))?;
        let inner = outer.path().join("content");
        private_folder(&inner).map_err(|error| self.failed(&error))?;
        Ok((outer, inner))
    }

    /// Renames a finished file to its final name.
    pub fn keep_file(&self, file: NewFile) -> Result<(), Refusal> {
        file.keep().map_err(|error| self.failed(&error))
    }

    /// Renames a finished folder to its final name.
    pub fn keep_folder(&self, outer: TempDir, inner: &Path) -> Result<(), Refusal> {
        // Renaming would replace an empty folder, but nothing else that appeared meanwhile.
        self.check_free(false)?;
        fs::rename(inner, &self.path).map_err(|error| self.failed(&error))?;
        drop(outer);
        sync_folder(&self.folder).map_err(|error| self.failed(&error))
    }

    /// Refuses a name that is taken. A device or a pipe is never written to: it would pass on
    /// content that later turns out to be cut off or altered.
    fn check_free(&self, force: bool) -> Result<(), Refusal> {
        match fs::symlink_metadata(&self.path) {
            Ok(there) if there.is_dir() => Err(refusals::exists(&self.path, true)),
            Ok(_) if !force => Err(refusals::exists(&self.path, false)),
            Ok(_) => match fs::metadata(&self.path) {
                Ok(there) if !there.is_file() => Err(refusals::no_file(&self.path)),
                _ => Ok(()),
            },
            Err(_) => Ok(()),
        }
    }

    fn failed(&self, error: &io::Error) -> Refusal {
        match error.kind() {
            io::ErrorKind::AlreadyExists => refusals::exists(&self.path, false),
            io::ErrorKind::IsADirectory => refusals::exists(&self.path, true),
            _ => refusals::unwritable(&self.path, error),
        }
    }
}

/// Creates a folder that only its owner can enter.
pub fn private_folder(path: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

/// Creates a file that only its owner can read, write and, if asked for, execute.
pub fn private_file(path: &Path, executable: bool) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, if executable { 0o700 } else { 0o600 });
    #[cfg(not(unix))]
    let _ = executable;
    options.open(path)
}
