//! Files that have no name yet, so that whoever ends the process can take them away.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::{mem, process};
use tempfile::{Builder, NamedTempFile};

/// The beginning of the names of unfinished files.
pub const UNFINISHED: &str = ".sealane-";

static ALL: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

fn all() -> MutexGuard<'static, BTreeSet<PathBuf>> {
    ALL.lock().unwrap_or_else(PoisonError::into_inner)
}

/// An entry of the list, as long as it lives.
#[derive(Debug)]
pub(crate) struct Listed(PathBuf);

/// Makes a file in a folder, and lists it. No signal comes between the two.
pub(crate) fn make(
    builder: &Builder<'_, '_>,
    folder: &Path,
) -> io::Result<(NamedTempFile, Listed)> {
    let mut all = all();
    let file = builder.tempfile_in(folder)?;
    // The working directory may change before the file is removed.
    let path = std::path::absolute(file.path()).unwrap_or_else(|_| file.path().to_path_buf());
    all.insert(path.clone());
    Ok((file, Listed(path)))
}

impl Drop for Listed {
    fn drop(&mut self) {
        all().remove(&self.0);
    }
}

/// Ends the process with this exit status and leaves no unfinished file: for handlers of signals.
/// Files that other threads were about to finish are removed with the rest.
pub fn end_process(status: i32) -> ! {
    let all = all();
    for path in all.iter() {
        // One that got its name in this moment is no longer there under the other.
        let _ = fs::remove_file(path);
    }
    // Held to the end, so that no thread begins another file.
    mem::forget(all);
    process::exit(status)
}
