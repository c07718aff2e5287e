//! Crate `files`: files that appear under their names whole, or not at all; reads that are bounded.
//!
//! A [`NewFile`] is written beside its name, brought to the disk, and given the name at the very
//! end, in one step of the file system. A full disk, an error, a signal or a kill before that step
//! leaves the old file as it was. Until then the file has a name that begins with [`UNFINISHED`];
//! it is removed with the value, and by [`end_process`]. Only a process that is killed, or a
//! machine that stops, can leave it there.
//!
//! | file | what it does |
//! |---|---|
//! | `private_file` | files that hold secrets |
//! | `reading` | files that are read: of which kind, and how long |
//! | `new_file` | the file, its rights, and how it gets its name |
//! | `unfinished` | the list of files that have no name yet |
#![forbid(unsafe_code)]

mod new_file;
pub mod private_file;
mod reading;
mod unfinished;

pub use new_file::{NewFile, Rights, Taken, sync_folder};
pub use reading::{Accept, open, open_to_change, read, read_text};
pub use unfinished::{UNFINISHED, end_process};

use std::fs;
use std::io::{self, Write};
use std::path::Path;

/// Writes a file, in place of an existing one if there is one.
///
/// # Errors
/// The error of the operating system; the old file is then as it was.
pub fn replace(path: &Path, rights: Rights, content: &[u8]) -> io::Result<()> {
    whole(path, rights, Taken::Replace, content)
}

/// Writes a file whose name is not taken yet.
///
/// # Errors
/// The error of the operating system; `AlreadyExists` if the name is taken.
pub fn create(path: &Path, rights: Rights, content: &[u8]) -> io::Result<()> {
    whole(path, rights, Taken::Refuse, content)
}

fn whole(path: &Path, rights: Rights, taken: Taken, content: &[u8]) -> io::Result<()> {
    let mut file = NewFile::begin(path, rights, taken)?;
    file.write_all(content)?;
    file.keep()
}

/// Returns true if two paths lead to one file under any names: by links, by another way through the
/// folders, or by letter case where the file system ignores it.
pub fn same(one: &Path, other: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        let id = |path| fs::metadata(path).map(|about: fs::Metadata| (about.dev(), about.ino()));
        matches!((id(one), id(other)), (Ok(one), Ok(other)) if one == other)
    }
    #[cfg(not(unix))]
    {
        let place = |path| fs::canonicalize(path);
        matches!((place(one), place(other)), (Ok(one), Ok(other)) if one == other)
    }
}
