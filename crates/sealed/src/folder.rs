//! Folders on disk: reads one to seal it, and makes one from a sealed file.
//!
//! Only files and folders are sealed. A symbolic link could lead anywhere, and a device or a pipe
//! has no content that ends. Both are refused by name; they are never followed or left out
//! silently.

use crate::archive::{
    Entries, Entry, EntryKind, MOST_DEPTH, MOST_ENTRIES, MOST_PATH_BYTES, cut_off, name_problem,
};
use crate::output::{private_file, private_folder};
use crate::refusals;
use crate::refusals::Refusal;
use crate::stream::{Opener, Sealer, StreamError};
use crate::watch::{TransferWatch, passed};
use sealane_files::Accept;
use std::fs::{self, File, Metadata};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

/// Number of files, folders and bytes of content.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct ContentSize {
    /// Files.
    pub files: u64,
    /// Folders within the folder.
    pub folders: u64,
    /// Bytes of all files.
    pub bytes: u64,
}

impl ContentSize {
    /// The size of one file.
    pub(crate) fn of_file(bytes: u64) -> ContentSize {
        let (files, folders) = (1, 0);
        ContentSize {
            files,
            folders,
            bytes,
        }
    }

    fn add(&mut self, entry: &Entry) {
        match entry.kind {
            EntryKind::Folder => self.folders += 1,
            EntryKind::File { bytes, .. } => {
                self.files += 1;
                self.bytes = self.bytes.saturating_add(bytes);
            }
        }
    }
}

/// Counts the content of a folder. It also finds entries that cannot be sealed, before any is
/// sealed.
pub fn measure(folder: &Path) -> Result<ContentSize, StreamError> {
    let mut amount = ContentSize::default();
    walk(folder, &mut |entry, _| {
        amount.add(entry);
        Ok(())
    })?;
    Ok(amount)
}

/// Seals the content of a folder.
pub fn seal<W: Write>(
    folder: &Path,
    to: &mut Sealer<W>,
    watch: &mut dyn TransferWatch,
) -> Result<ContentSize, StreamError> {
    let mut amount = ContentSize::default();
    walk(folder, &mut |entry, path| {
        amount.add(entry);
        passed(watch, 0)?;
        to.write(&entry.head())?;
        if let EntryKind::File { bytes, .. } = entry.kind {
            let (mut file, size) = open_regular(path)?;
            let copied = if size == bytes {
                to.copy(&mut file, bytes, watch)
            } else {
                Err(StreamError::Resized)
            };
            // Only this function knows which file failed.
            copied.map_err(|error| match error {
                StreamError::Read(error) => refusals::unreadable(path, &error).into(),
                StreamError::Resized => refusals::resized(path).into(),
                other => other,
            })?;
        }
        Ok(())
    })?;
    Ok(amount)
}

/// Writes the content of a sealed folder into an empty folder that nobody else can enter.
pub fn open<R: Read>(
    from: &mut Opener<R>,
    folder: &Path,
    watch: &mut dyn TransferWatch,
) -> Result<ContentSize, StreamError> {
    let (mut amount, mut entries) = (ContentSize::default(), Entries::default());
    while let Some(entry) = entries.next(&mut |bytes| from.fill(bytes))? {
        amount.add(&entry);
        passed(watch, 0)?;
        let path = folder.join(&entry.path);
        match entry.kind {
            EntryKind::Folder => private_folder(&path).map_err(StreamError::Write)?,
            EntryKind::File { bytes, executable } => {
                let mut file = private_file(&path, executable).map_err(StreamError::Write)?;
                copy(from, &mut file, bytes, watch)?;
                file.sync_all().map_err(StreamError::Write)?;
            }
        }
    }
    sync_folders(folder).map_err(StreamError::Write)?;
    Ok(amount)
}

/// Syncs the names in all folders to disk, as the files are synced.
#[cfg(unix)]
fn sync_folders(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            sync_folders(&entry.path())?;
        }
    }
    sealane_files::sync_folder(folder)
}

/// Does nothing: other systems have no such call for folders.
#[cfg(not(unix))]
fn sync_folders(_folder: &Path) -> io::Result<()> {
    Ok(())
}

/// Copies the next `bytes` of content into a file.
fn copy<R: Read>(
    from: &mut Opener<R>,
    file: &mut File,
    bytes: u64,
    watch: &mut dyn TransferWatch,
) -> Result<(), StreamError> {
    let mut left = bytes;
    while left > 0 {
        let some = from.some(usize::try_from(left).unwrap_or(usize::MAX))?;
        if some.is_empty() {
            return Err(cut_off());
        }
        file.write_all(some).map_err(StreamError::Write)?;
        left -= some.len() as u64;
        passed(watch, some.len() as u64)?;
    }
    Ok(())
}

/// Opens a regular file and returns its size. The path was checked before; the opened file is
/// compared with what was checked.
pub fn open_regular(path: &Path) -> Result<(File, u64), Refusal> {
    let unreadable = |error| refusals::unreadable(path, &error);
    let seen = fs::symlink_metadata(path).map_err(unreadable)?;
    regular(path, &seen)?;
    let file = sealane_files::open(path, Accept::File).map_err(unreadable)?;
    let opened = file.metadata().map_err(unreadable)?;
    if same(&seen, &opened) {
        Ok((file, opened.len()))
    } else {
        Err(refusals::resized(path))
    }
}

fn regular(path: &Path, metadata: &Metadata) -> Result<(), Refusal> {
    let kind = metadata.file_type();
    let (why, hint) = match (kind.is_file(), kind.is_symlink()) {
        (true, _) => return Ok(()),
        (_, true) => (
            "it is a symbolic link, and what it leads to is not meant for certain",
            "name what it leads to, or put the file itself there",
        ),
        _ => (
            "it is neither a file nor a folder",
            "take it out of what is sealed",
        ),
    };
    Err(refusals::unsealable(path, why, hint))
}

#[cfg(unix)]
fn same(seen: &Metadata, opened: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    (seen.dev(), seen.ino()) == (opened.dev(), opened.ino())
}

#[cfg(not(unix))]
fn same(_seen: &Metadata, opened: &Metadata) -> bool {
    opened.is_file()
}

#[cfg(unix)]
fn executable(metadata: &Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt;
    metadata.permissions().mode() & 0o100 != 0
}

#[cfg(not(unix))]
fn executable(_metadata: &Metadata) -> bool {
    false
}

/// Function that is called for an entry, with the path on disk.
type Visit<'a> = &'a mut dyn FnMut(&Entry, &Path) -> Result<(), StreamError>;

/// Calls `visit` for each entry of a folder, in the order of the format.
fn walk(folder: &Path, visit: Visit<'_>) -> Result<(), StreamError> {
    below(folder, "", 1, &mut 0, visit)
}

fn below(
    folder: &Path,
    prefix: &str,
    depth: usize,
    count: &mut u64,
    visit: Visit<'_>,
) -> Result<(), StreamError> {
    for (name, path) in names(folder, count)? {
        let metadata = fs::symlink_metadata(&path);
        let metadata = metadata.map_err(|error| refusals::unreadable(&path, &error))?;
        let kind = if metadata.is_dir() {
            EntryKind::Folder
        } else {
            regular(&path, &metadata)?;
            let (bytes, executable) = (metadata.len(), executable(&metadata));
            EntryKind::File { bytes, executable }
        };
        let inner = format!("{prefix}{name}");
        let entry = Entry { path: inner, kind };
        if depth > MOST_DEPTH || entry.path.len() > MOST_PATH_BYTES {
            let why = format!(
                "its path is too long: {MOST_DEPTH} folders within each other and {MOST_PATH_BYTES} \
                 bytes are the most"
            );
            return Err(refusals::unsealable(&path, why, "seal a folder further down").into());
        }
        visit(&entry, &path)?;
        if kind == EntryKind::Folder {
            let prefix = format!("{}/", entry.path);
            below(&path, &prefix, depth + 1, count, visit)?;
        }
    }
    Ok(())
}

/// Lists a folder by name. `count` counts all names found so far, so that memory stays within the
/// limit on entries.
fn names(folder: &Path, count: &mut u64) -> Result<Vec<(String, PathBuf)>, Refusal> {
    let unreadable = |error| refusals::unreadable(folder, &error);
    let mut names = Vec::new();
    for entry in fs::read_dir(folder).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        *count += 1;
        if *count > MOST_ENTRIES {
            let why = format!("it holds more than {MOST_ENTRIES} files and folders");
            return Err(refusals::unsealable(
                folder,
                why,
                "seal its folders one by one",
            ));
        }
        let name = path.file_name().and_then(|name| name.to_str());
        let name = name.map(str::to_string).ok_or_else(|| {
            let why = "its name is not UTF-8, and other machines would read another one";
            refusals::unsealable(&path, why, "rename it")
        })?;
        if let Some(why) = name_problem(&name, false) {
            let why = format!("it has a path {why}");
            return Err(refusals::unsealable(&path, why, "rename it"));
        }
        names.push((name, path));
    }
    names.sort_unstable();
    Ok(names)
}
