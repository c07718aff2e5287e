//! The folder of a pool, behind a trait, so that tests can end it at every write.

use crate::state::MOST_BYTES;
use sealane_files::{Accept, NewFile, Rights, Taken, open_to_change, private_file, sync_folder};
use std::fs::{self, DirBuilder, File, TryLockError};
use std::io::{self, ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use zeroize::Zeroizing;

/// The errors for what is no file.
const NO_FILE: [ErrorKind; 2] = [ErrorKind::IsADirectory, ErrorKind::InvalidInput];

/// Operations on the files of one folder. Each has reached the disk when it returns.
pub trait Disk: Send + Sync {
    /// Reads a file that holds secrets, whole; nothing if there is no such file. Refuses one of
    /// more than `most` bytes.
    fn read(&self, name: &str, most: usize) -> io::Result<Option<Zeroizing<Vec<u8>>>>;
    /// Opens a file to read it from byte `at` on, even if it is removed meanwhile.
    fn open(&self, name: &str, at: u64) -> io::Result<Box<dyn Read + Send>>;
    /// Writes a file, in place of an existing one, which is overwritten with zeros.
    fn replace(&self, name: &str, content: &[u8]) -> io::Result<()>;
    /// Begins a file that does not exist; it has its name once it is kept.
    fn begin(&self, name: &str) -> io::Result<Box<dyn Unnamed>>;
    /// Removes a file, if there is one, and overwrites it with zeros if it is short enough to be a
    /// state. It is removed even if it cannot be overwritten, which is an error.
    fn remove(&self, name: &str) -> io::Result<()>;
    /// Lists the files.
    fn names(&self) -> io::Result<Vec<String>>;
    /// Takes the lock of this name, if nobody has it; it ends with the value and with the process.
    fn try_lock(&self, name: &str) -> io::Result<Option<Lock>>;
    /// Keeps others from taking the lock of this name, if nobody has it. Nothing is written.
    fn try_share(&self, name: &str) -> io::Result<Option<Lock>>;
}

/// A file that has no name yet.
pub trait Unnamed: Write {
    /// Brings the file to the disk and gives it its name.
    fn keep(self: Box<Self>) -> io::Result<()>;
}

/// A lock that is held.
pub struct Lock(#[expect(dead_code, reason = "the lock ends with the file")] Option<File>);

impl Lock {
    /// A lock that only its holder knows, for tests in one thread.
    #[cfg(test)]
    pub fn held() -> Lock {
        Lock(None)
    }
}

/// A folder of this machine, which only its owner may read.
pub struct Folder(PathBuf);

impl Folder {
    /// The folder at `path`; it is made with its first file.
    pub fn new(path: &Path) -> Folder {
        Folder(path.to_path_buf())
    }

    fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// Makes the folder, and the one that it is in, unless there is one.
    fn make(&self) -> io::Result<()> {
        let above = self.0.parent().filter(|above| *above != Path::new(""));
        for folder in above.into_iter().chain([&*self.0]) {
            let mut builder = DirBuilder::new();
            #[cfg(unix)]
            std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
            match builder.create(folder) {
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                made => {
                    made?;
                    let within = folder.parent().filter(|within| *within != Path::new(""));
                    sync_folder(within.unwrap_or(Path::new(".")))?;
                }
            }
        }
        Ok(())
    }
}

impl Disk for Folder {
    fn read(&self, name: &str, most: usize) -> io::Result<Option<Zeroizing<Vec<u8>>>> {
        match private_file::load(&self.file(name), Accept::File, most + 1) {
            Ok(content) if content.len() > most => {
                Err(io::Error::new(ErrorKind::InvalidData, "it is too long"))
            }
            Ok(content) => Ok(Some(content)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn open(&self, name: &str, at: u64) -> io::Result<Box<dyn Read + Send>> {
        let mut file = sealane_files::open(&self.file(name), Accept::File)?;
        file.seek(SeekFrom::Start(at))?;
        Ok(Box::new(file))
    }

    fn replace(&self, name: &str, content: &[u8]) -> io::Result<()> {
        self.make()?;
        let path = self.file(name);
        // Opened before it loses its name.
        let old = if_any(open_to_change(&path, false))?;
        sealane_files::replace(&path, Rights::Owner, content)?;
        old.map_or(Ok(()), erase)
    }

    fn begin(&self, name: &str) -> io::Result<Box<dyn Unnamed>> {
        self.make()?;
        let file = NewFile::begin(&self.file(name), Rights::Owner, Taken::Refuse)?;
        Ok(Box::new(file))
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        let path = self.file(name);
        // Opened before it loses its name, so that nobody reads zeros under it.
        let opened = open_to_change(&path, false);
        let removed = if path.is_dir() {
            fs::remove_dir(&path)
        } else {
            fs::remove_file(&path)
        };
        if if_any(removed)?.is_none() {
            return Ok(());
        }
        sync_folder(&self.0)?;
        match opened {
            // It was no file of a pool.
            Err(error) if NO_FILE.contains(&error.kind()) => Ok(()),
            opened => erase(opened?),
        }
    }

    fn names(&self) -> io::Result<Vec<String>> {
        let Some(entries) = if_any(fs::read_dir(&self.0))? else {
            return Ok(Vec::new());
        };
        let name = |entry: io::Result<fs::DirEntry>| Ok(entry?.file_name().into_string().ok());
        let names = entries.filter_map(|entry| name(entry).transpose());
        names.collect()
    }

    fn try_lock(&self, name: &str) -> io::Result<Option<Lock>> {
        self.make()?;
        let file = open_to_change(&self.file(name), true)?;
        held(file.try_lock(), Some(file))
    }

    fn try_share(&self, name: &str) -> io::Result<Option<Lock>> {
        let file = if_any(sealane_files::open(&self.file(name), Accept::File))?;
        // Without the file, nobody has ever had the lock.
        held(file.as_ref().map_or(Ok(()), File::try_lock_shared), file)
    }
}

impl Unnamed for NewFile {
    fn keep(self: Box<Self>) -> io::Result<()> {
        NewFile::keep(*self)
    }
}

/// The lock of a file, if it could be taken.
fn held(locked: Result<(), TryLockError>, file: Option<File>) -> io::Result<Option<Lock>> {
    match locked {
        Ok(()) => Ok(Some(Lock(file))),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

/// Turns the error that there is no such file into nothing.
fn if_any<T>(found: io::Result<T>) -> io::Result<Option<T>> {
    match found {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        found => found.map(Some),
    }
}

/// Overwrites a file with zeros, as well as a file system lets a program do that, if it is short
/// enough to be a state. Files of OTs are of no use without their keys.
fn erase(mut file: File) -> io::Result<()> {
    let length = file.metadata()?.len() as usize;
    if length > MOST_BYTES {
        return Ok(());
    }
    file.seek(SeekFrom::Start(0))?;
    file.write_all(&vec![0; length])?;
    file.sync_all()
}
