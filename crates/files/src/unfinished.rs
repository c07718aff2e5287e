//! The list of files that have no name yet, so that the end of the process can remove them.

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

/// An entry of the list, for as long as it lives.
#[derive(Debug)]
pub(crate) struct Listed(PathBuf);

/// A file in a folder, and its entry of the list.
type Made = (NamedTempFile, Listed);

/// Makes a file in a folder and lists it. No signal is handled between the two.
pub(crate) fn make(builder: &Builder<'_, '_>, folder: &Path) -> io::Result<Made> {
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

/// Ends the process with this exit status and leaves no unfinished file; for signal handlers. Files
/// that other threads were about to finish are removed as well.
pub fn end_process(status: i32) -> ! {
    let all = all();
    for path in all.iter() {
        // A file that was renamed in this moment no longer exists under the old name.
        let _ = fs::remove_file(path);
    }
    // The lock is held to the end, so that no thread begins another file.
    mem::forget(all);
    process::exit(status)
}
