//! Files that hold secrets: readable by their owner alone, written atomically, never replaced.

use crate::{Accept, Rights};
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use zeroize::Zeroizing;

/// Stores a secret at `path`, readable by its owner alone. The file appears whole or not at all,
/// and an existing file is never replaced.
///
/// # Errors
/// The errors of the operating system; `AlreadyExists` if there is such a file.
pub fn save(path: &Path, secret: &[u8]) -> io::Result<()> {
    crate::create(path, Rights::Owner, secret)
}

/// Loads the first `most` bytes of the secret at `path`; all of it if it has no more.
///
/// # Errors
/// Those of [`open`](crate::open); `PermissionDenied` if users other than the owner may read the
/// file.
pub fn load(path: &Path, accept: Accept, most: usize) -> io::Result<Zeroizing<Vec<u8>>> {
    let file = crate::open(path, accept)?;
    refuse_if_shared(&file)?;
    // The buffer holds all from the start, since growing it would leave a copy behind.
    let mut secret = Zeroizing::new(Vec::with_capacity(most));
    file.take(most as u64).read_to_end(&mut secret)?;
    Ok(secret)
}

/// Refuses a secret that other users of the machine may read.
#[cfg(unix)]
fn refuse_if_shared(file: &File) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    let mode = file.metadata()?.permissions().mode();
    if mode & 0o077 != 0 {
        let mode = mode & 0o777;
        let what = format!("other users can read it (mode {mode:o}); use `chmod 600`");
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, what));
    }
    Ok(())
}

#[cfg(not(unix))]
fn refuse_if_shared(_file: &File) -> io::Result<()> {
    Ok(())
}
