//! Folders on disk: what is in one, and one made of a sealed one.
//!
//! Only files and folders are sealed. A symbolic link could lead anywhere, a device or a pipe has no
//! content that ends: both are refused by name, never followed and never left out silently.

use crate::archive::{
    Entries, Entry, Kind, MOST_DEPTH, MOST_ENTRIES, MOST_PATH_BYTES, cut_off, unfit,
};
use crate::faults;
use crate::faults::Refusal;
use crate::output::{private_file, private_folder};
use crate::stream::{Opener, Sealer, Trouble};
use crate::watch::{Watch, passed};
use std::fs::{self, File, Metadata};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

/// What is sealed or opened, in numbers.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Amount {
    /// Files.
    pub files: u64,
    /// Folders within the folder.
    pub folders: u64,
    /// Bytes of all files.
    pub bytes: u64,
}

impl Amount {
    fn add(&mut self, entry: &Entry) {
        match entry.kind {
            Kind::Folder => self.folders += 1,
            Kind::File { bytes, .. } => {
                self.files += 1;
                self.bytes = self.bytes.saturating_add(bytes);
            }
        }
    }
}

/// What is in a folder. It also finds whatever cannot be sealed, before anything is.
pub fn measure(folder: &Path) -> Result<Amount, Trouble> {
    let mut amount = Amount::default();
    walk(folder, &mut |entry, _| {
        amount.add(entry);
        Ok(())
    })?;
    Ok(amount)
}

/// Seals all that is in a folder.
pub fn seal<W: Write>(
    folder: &Path,
    to: &mut Sealer<W>,
    watch: &mut dyn Watch,
) -> Result<Amount, Trouble> {
    let mut amount = Amount::default();
    walk(folder, &mut |entry, path| {
        amount.add(entry);
        passed(watch, 0)?;
        to.write(&entry.head())?;
        if let Kind::File { bytes, .. } = entry.kind {
            let (mut file, size) = open_regular(path)?;
            let copied = match size == bytes {
                true => to.copy(&mut file, bytes, watch),
                false => Err(Trouble::Resized),
            };
            // Which of the files it was is known only here.
            copied.map_err(|trouble| match trouble {
                Trouble::Read(error) => faults::unreadable(path, &error).into(),
                Trouble::Resized => faults::resized(path).into(),
                other => other,
            })?;
        }
        Ok(())
    })?;
    Ok(amount)
}

/// Makes all that is in a sealed folder, in an empty one that nobody else can enter.
pub fn open<R: Read>(
    from: &mut Opener<R>,
    folder: &Path,
    watch: &mut dyn Watch,
) -> Result<Amount, Trouble> {
    let (mut amount, mut entries) = (Amount::default(), Entries::default());
    while let Some(entry) = entries.next(&mut |bytes| from.fill(bytes))? {
        amount.add(&entry);
        passed(watch, 0)?;
        let path = folder.join(&entry.path);
        match entry.kind {
            Kind::Folder => private_folder(&path).map_err(Trouble::Write)?,
            Kind::File { bytes, executable } => {
                let mut file = private_file(&path, executable).map_err(Trouble::Write)?;
                copy(from, &mut file, bytes, watch)?;
                file.sync_all().map_err(Trouble::Write)?;
            }
        }
    }
    sync_folders(folder).map_err(Trouble::Write)?;
    Ok(amount)
}

/// Has the names in a folder on the disk, as its files are.
#[cfg(unix)]
fn sync_folders(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            sync_folders(&entry.path())?;
        }
    }
    File::open(folder)?.sync_all()
}

/// Other systems have no such call for folders.
#[cfg(not(unix))]
fn sync_folders(_folder: &Path) -> io::Result<()> {
    Ok(())
}

/// The next `bytes` of content, into a file.
fn copy<R: Read>(
    from: &mut Opener<R>,
    file: &mut File,
    bytes: u64,
    watch: &mut dyn Watch,
) -> Result<(), Trouble> {
    let mut left = bytes;
    while left > 0 {
        let some = from.some(usize::try_from(left).unwrap_or(usize::MAX))?;
        if some.is_empty() {
            return Err(cut_off());
        }
        file.write_all(some).map_err(Trouble::Write)?;
        left -= some.len() as u64;
        passed(watch, some.len() as u64)?;
    }
    Ok(())
}

/// A file that is one, and its size. The path was looked at before: what is opened is what was seen.
pub fn open_regular(path: &Path) -> Result<(File, u64), Refusal> {
    let unreadable = |error| faults::unreadable(path, &error);
    let seen = fs::symlink_metadata(path).map_err(unreadable)?;
    regular(path, &seen)?;
    let file = File::open(path).map_err(unreadable)?;
    let opened = file.metadata().map_err(unreadable)?;
    match same(&seen, &opened) {
        true => Ok((file, opened.len())),
        false => Err(faults::resized(path)),
    }
}

fn regular(path: &Path, metadata: &Metadata) -> Result<(), Refusal> {
    let kind = metadata.file_type();
    match (kind.is_file(), kind.is_symlink()) {
        (true, _) => Ok(()),
        (_, true) => Err(faults::unsealable(
            path,
            "it is a symbolic link, and what it leads to is not meant for certain",
            "name what it leads to, or put the file itself there",
        )),
        _ => Err(faults::unsealable(
            path,
            "it is neither a file nor a folder",
            "take it out of what is sealed",
        )),
    }
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

/// What is done with an entry and the path where it lies.
type Visit<'a> = &'a mut dyn FnMut(&Entry, &Path) -> Result<(), Trouble>;

/// Visits all that is in a folder, in the order of the format.
fn walk(folder: &Path, visit: Visit<'_>) -> Result<(), Trouble> {
    below(folder, "", 1, &mut 0, visit)
}

fn below(
    folder: &Path,
    prefix: &str,
    depth: usize,
    count: &mut u64,
    visit: Visit<'_>,
) -> Result<(), Trouble> {
    for (name, path) in names(folder, count)? {
        let metadata = fs::symlink_metadata(&path);
        let metadata = metadata.map_err(|error| faults::unreadable(&path, &error))?;
        let kind = match metadata.is_dir() {
            true => Kind::Folder,
            false => {
                regular(&path, &metadata)?;
                Kind::File {
                    bytes: metadata.len(),
                    executable: executable(&metadata),
                }
            }
        };
        let entry = Entry {
            path: format!("{prefix}{name}"),
            kind,
        };
        if depth > MOST_DEPTH || entry.path.len() > MOST_PATH_BYTES {
            let why = format!(
                "its path is too long: {MOST_DEPTH} folders within each other and {MOST_PATH_BYTES} \
                 bytes are the most"
            );
            return Err(faults::unsealable(&path, why, "seal a folder further down").into());
        }
        visit(&entry, &path)?;
        if kind == Kind::Folder {
            let prefix = format!("{}/", entry.path);
            below(&path, &prefix, depth + 1, count, visit)?;
        }
    }
    Ok(())
}

/// What is in a folder, by name. All that were found so far are counted, so that no folder takes
/// more memory than the most entries do.
fn names(folder: &Path, count: &mut u64) -> Result<Vec<(String, PathBuf)>, Refusal> {
    let unreadable = |error| faults::unreadable(folder, &error);
    let mut names = Vec::new();
    for entry in fs::read_dir(folder).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        *count += 1;
        if *count > MOST_ENTRIES {
            let why = format!("it holds more than {MOST_ENTRIES} files and folders");
            return Err(faults::unsealable(
                folder,
                why,
                "seal its folders one by one",
            ));
        }
        let name = path.file_name().and_then(|name| name.to_str());
        let name = name.map(str::to_string).ok_or_else(|| {
            let why = "its name is not UTF-8, and other machines would read another one";
            faults::unsealable(&path, why, "rename it")
        })?;
        if let Some(why) = unfit(&name, false) {
            return Err(faults::unsealable(
                &path,
                format!("it has a path {why}"),
                "rename it",
            ));
        }
        names.push((name, path));
    }
    names.sort_unstable();
    Ok(names)
}
