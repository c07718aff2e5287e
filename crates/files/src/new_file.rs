//! One file that is being written, and how it gets its name.

use crate::reading::other_kind;
use crate::unfinished::{Listed, UNFINISHED, make};
use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use tempfile::{Builder, NamedTempFile};

/// Access rights of a new file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rights {
    /// The owner alone, from the first moment on.
    Owner,
    /// The users that may use the new files of this process.
    Usual,
    /// The users that may use the file that it replaces, or the owner alone if there is none.
    AsBefore,
}

/// Treatment of an existing file that has the name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Taken {
    /// The existing file stays, and the new one gets no name.
    Refuse,
    /// The new file takes its place.
    Replace,
}

/// A file that has no name until it is [kept](NewFile::keep), and is removed if it is not.
#[derive(Debug)]
pub struct NewFile(Destination);

#[derive(Debug)]
enum Destination {
    /// A file beside its name.
    Beside {
        file: NamedTempFile,
        target: PathBuf,
        taken: Taken,
        before: Option<Box<Metadata>>,
        _listed: Listed,
    },
    /// A device that takes one byte after the other, such as a terminal.
    Stream(File),
}

impl NewFile {
    /// Begins a file with this name. A symbolic link stays one: the file that it leads to is the
    /// one that is written.
    ///
    /// # Errors
    /// The error of the operating system: the folder does not exist or cannot be written to; the
    /// name is that of a folder, of a pipe, which nobody may read from, of a disk, of a file that
    /// must not be written to, or taken and must not be replaced.
    pub fn begin(path: &Path, rights: Rights, taken: Taken) -> io::Result<NewFile> {
        let (target, there) = match taken {
            Taken::Replace => (behind_links(path), fs::metadata(path)),
            Taken::Refuse => (path.to_path_buf(), fs::symlink_metadata(path)),
        };
        let there = match there {
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            there => Some(there?),
        };
        match &there {
            Some(there) if taken == Taken::Refuse && !there.is_dir() => {
                return Err(ErrorKind::AlreadyExists.into());
            }
            Some(there) if !is_written_to(there) => {
                return Err(other_kind(there.file_type()));
            }
            Some(there) => {
                // A file that must not be written to must not be replaced either.
                let opened = OpenOptions::new().write(true).open(&target)?;
                if !there.is_file() {
                    return Ok(NewFile(Destination::Stream(opened)));
                }
            }
            None => {}
        }
        let mut builder = Builder::new();
        builder.prefix(UNFINISHED);
        #[cfg(unix)]
        if rights == Rights::Usual {
            use std::os::unix::fs::PermissionsExt;
            // The process's mask is applied to these bits; without this, no other user could read
            // the file.
            builder.permissions(fs::Permissions::from_mode(0o666));
        }
        let (file, listed) = make(&builder, folder_of(&target))?;
        Ok(NewFile(Destination::Beside {
            file,
            target,
            taken,
            before: there.filter(|_| rights == Rights::AsBefore).map(Box::new),
            _listed: listed,
        }))
    }

    /// Brings the file to the disk and gives it its name.
    ///
    /// # Errors
    /// The error of the operating system; `AlreadyExists` if the name was taken in the meantime and
    /// must not be replaced. The new file is then removed, and the old one is as it was.
    pub fn keep(self) -> io::Result<()> {
        let (file, target, taken, before) = match self.0 {
            Destination::Stream(mut stream) => return stream.flush(),
            Destination::Beside {
                file,
                target,
                taken,
                before,
                _listed,
            } => (Unnamed { file, _listed }, target, taken, before),
        };
        if let Some(before) = &before {
            take_rights(file.file.as_file(), before)?;
        }
        file.file.as_file().sync_all()?;
        let kept = match taken {
            Taken::Replace => file.file.persist(&target),
            Taken::Refuse => file.file.persist_noclobber(&target),
        };
        kept.map_err(|error| error.error)?;
        sync_folder(folder_of(&target))
    }
}

/// A file that has no name yet, with its entry in the list of such files.
struct Unnamed {
    file: NamedTempFile,
    _listed: Listed,
}

impl Write for NewFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.0 {
            Destination::Beside { file, .. } => file.as_file_mut().write(bytes),
            Destination::Stream(stream) => stream.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.0 {
            Destination::Beside { file, .. } => file.as_file_mut().flush(),
            Destination::Stream(stream) => stream.flush(),
        }
    }
}

/// Returns true for files, and for devices that take one byte after the other.
fn is_written_to(there: &Metadata) -> bool {
    #[cfg(unix)]
    if std::os::unix::fs::FileTypeExt::is_char_device(&there.file_type()) {
        return true;
    }
    there.is_file()
}

/// Number of links that are followed one after the other, the same as in Linux.
const MOST_LINKS: usize = 40;

/// Returns the path behind symbolic links; its end need not exist.
fn behind_links(path: &Path) -> PathBuf {
    let mut path = path.to_path_buf();
    for _ in 0..MOST_LINKS {
        match fs::read_link(&path) {
            Ok(next) => path = folder_of(&path).join(next),
            Err(_) => break,
        }
    }
    path
}

/// Returns the folder that a path is in.
fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// Gives a file the owner, the group and the permissions of another. The permissions of the group
/// are left out where the group cannot be set.
#[cfg(unix)]
fn take_rights(file: &File, before: &Metadata) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};
    let mut mode = before.mode() & 0o777;
    let now = file.metadata()?;
    if now.uid() != before.uid() {
        // Only the administrator may; for other users the file stays their own.
        let _ = fchown(file, Some(before.uid()), None);
    }
    if now.gid() != before.gid() && fchown(file, None, Some(before.gid())).is_err() {
        mode &= !0o070;
    }
    file.set_permissions(fs::Permissions::from_mode(mode))
}

#[cfg(not(unix))]
fn take_rights(file: &File, before: &Metadata) -> io::Result<()> {
    file.set_permissions(before.permissions())
}

/// Flushes the names in a folder to the disk, on systems that support it.
///
/// # Errors
/// The disk refuses it.
pub fn sync_folder(folder: &Path) -> io::Result<()> {
    if !cfg!(unix) {
        return Ok(());
    }
    use ErrorKind::{InvalidInput, PermissionDenied, Unsupported};
    let synced = File::open(folder).and_then(|folder| folder.sync_all());
    synced.or_else(|error| match error.kind() {
        // A folder may be written to and not read, and some file systems have nothing to bring.
        PermissionDenied | InvalidInput | Unsupported => Ok(()),
        _ => Err(error),
    })
}
