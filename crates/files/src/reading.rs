//! Files that are read: the kind of file behind a path is known before it is opened, and no read is
//! longer than its caller says.

use std::fs::{self, File, FileType};
use std::io::{self, ErrorKind, Read};
use std::path::Path;

/// Kinds of files that a reader takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Accept {
    /// Regular files.
    File,
    /// Pipes as well, such as `<(...)` of a shell: opening one waits for a writer.
    FileOrPipe,
}

/// Opens a file to read it. Symbolic links are followed.
///
/// # Errors
/// The error of the operating system; `IsADirectory`; `InvalidInput` for a device, for a socket,
/// and for a pipe if none is accepted.
pub fn open(path: &Path, accept: Accept) -> io::Result<File> {
    let kind = fs::metadata(path)?.file_type();
    if kind.is_file() || accept == Accept::FileOrPipe && is_pipe(kind) {
        File::open(path)
    } else {
        Err(other_kind(kind))
    }
}

/// Opens a file to change it in place, and makes it first if there is none and `make` is set.
///
/// # Errors
/// As [`open`].
pub fn open_to_change(path: &Path, make: bool) -> io::Result<File> {
    match fs::metadata(path) {
        Ok(there) if !there.is_file() => Err(other_kind(there.file_type())),
        _ => {
            let mut options = File::options();
            options.write(true).create(make).truncate(false).open(path)
        }
    }
}

/// Reads a file of at most `most` bytes. The memory for a regular file is taken once.
///
/// # Errors
/// As [`open`]; `FileTooLarge` if there is more.
pub fn read(path: &Path, accept: Accept, most: u64) -> io::Result<Vec<u8>> {
    let file = open(path, accept)?;
    let length = file.metadata()?.len();
    let mut bytes = Vec::new();
    if length <= most {
        bytes.reserve_exact(length as usize + 1);
        file.take(most + 1).read_to_end(&mut bytes)?;
    }
    if length.max(bytes.len() as u64) > most {
        let what = format!("it has more than {most} bytes, the limit");
        return Err(io::Error::new(ErrorKind::FileTooLarge, what));
    }
    Ok(bytes)
}

/// Reads a text of at most `most` bytes.
///
/// # Errors
/// As [`read`]; `InvalidData` if it is no text.
pub fn read_text(path: &Path, accept: Accept, most: u64) -> io::Result<String> {
    let text = String::from_utf8(read(path, accept, most)?);
    text.map_err(|_| io::Error::new(ErrorKind::InvalidData, "it is not text in UTF-8"))
}

/// The error for a file that is none.
pub(crate) fn other_kind(kind: FileType) -> io::Error {
    let (error, name) = match kind {
        _ if kind.is_dir() => (ErrorKind::IsADirectory, "a folder"),
        _ if is_pipe(kind) => (ErrorKind::InvalidInput, "a pipe"),
        _ => (ErrorKind::InvalidInput, "a device or a socket"),
    };
    io::Error::new(error, format!("it is {name}, where a file is needed"))
}

fn is_pipe(kind: FileType) -> bool {
    #[cfg(unix)]
    return std::os::unix::fs::FileTypeExt::is_fifo(&kind);
    #[cfg(not(unix))]
    return false;
}
