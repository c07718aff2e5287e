//! A disk in memory that fails from a given write on, as if the process had been killed there.

use crate::disk::{Disk, Lock, Unnamed};
use sealane_files::UNFINISHED;
use std::collections::BTreeMap;
use std::io::{self, Cursor, Read, Write};
use std::sync::{Arc, Mutex, MutexGuard};
use zeroize::Zeroizing;

/// Files by name, and the writes that are left before the crash.
#[derive(Clone, Default)]
struct Content {
    files: BTreeMap<String, Vec<u8>>,
    erased: Vec<Vec<u8>>,
    left: Option<usize>,
    crashed: bool,
}

/// See the [module](self).
#[derive(Default)]
pub struct MemoryDisk(Arc<Mutex<Content>>);

impl MemoryDisk {
    /// Lets the write after `at` others fail, and all that come after it. Every write is two: it
    /// may fail before or after its effect.
    pub fn crash_at(&self, at: usize) {
        self.lock().left = Some(at);
    }

    /// Returns true if it came to that.
    pub fn crashed(&self) -> bool {
        self.lock().crashed
    }

    /// The same files on a disk that works.
    pub fn after_restart(&self) -> MemoryDisk {
        let mut content = self.lock().clone();
        (content.left, content.crashed) = (None, false);
        MemoryDisk(Arc::new(Mutex::new(content)))
    }

    pub fn files(&self) -> Vec<String> {
        self.lock().files.keys().cloned().collect()
    }

    pub fn content(&self, name: &str) -> Vec<u8> {
        self.lock().files[name].clone()
    }

    /// Contents that were overwritten with zeros.
    pub fn erased(&self) -> Vec<Vec<u8>> {
        self.lock().erased.clone()
    }

    pub fn flip(&self, name: &str, at: usize) {
        self.lock().files.get_mut(name).expect("a file")[at] ^= 1;
    }

    fn lock(&self) -> MutexGuard<'_, Content> {
        self.0.lock().expect("no panic")
    }
}

impl Content {
    /// Fails if the crash has come.
    fn alive(&mut self) -> io::Result<()> {
        match &mut self.left {
            _ if self.crashed => Err(io::Error::other("crashed")),
            Some(0) => {
                self.crashed = true;
                Err(io::Error::other("crashed"))
            }
            Some(left) => {
                *left -= 1;
                Ok(())
            }
            None => Ok(()),
        }
    }

    /// Does `write` between two places where the crash may come.
    fn write(&mut self, write: impl FnOnce(&mut Content)) -> io::Result<()> {
        self.alive()?;
        write(self);
        self.alive()
    }
}

impl Disk for MemoryDisk {
    fn read(&self, name: &str, _: usize) -> io::Result<Option<Zeroizing<Vec<u8>>>> {
        if self.crashed() {
            Err(io::Error::other("crashed"))
        } else {
            Ok(self.lock().files.get(name).cloned().map(Zeroizing::new))
        }
    }

    fn open(&self, name: &str, at: u64) -> io::Result<Box<dyn Read + Send>> {
        let content = self.lock().files.get(name).cloned();
        let mut content = Cursor::new(content.ok_or(io::ErrorKind::NotFound)?);
        content.set_position(at);
        Ok(Box::new(content))
    }

    fn replace(&self, name: &str, new: &[u8]) -> io::Result<()> {
        let mut content = self.lock();
        let unnamed = format!("{UNFINISHED}{name}");
        content.write(|content| {
            content.files.insert(unnamed.clone(), new.to_vec());
        })?;
        content.write(|content| {
            content.files.remove(&unnamed);
            let old = content.files.insert(name.to_string(), new.to_vec());
            content.erased.extend(old);
        })
    }

    fn begin(&self, name: &str) -> io::Result<Box<dyn Unnamed>> {
        let unnamed = format!("{UNFINISHED}{name}");
        self.lock().write(|content| {
            content.files.insert(unnamed, Vec::new());
        })?;
        Ok(Box::new(NewMemoryFile {
            disk: Arc::clone(&self.0),
            name: name.to_string(),
            content: Vec::new(),
        }))
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        let mut content = self.lock();
        content.write(|content| {
            let old = content.files.remove(name);
            content.erased.extend(old);
        })
    }

    fn names(&self) -> io::Result<Vec<String>> {
        Ok(self.files())
    }

    fn try_lock(&self, _: &str) -> io::Result<Option<Lock>> {
        Ok(Some(Lock::held()))
    }

    fn try_share(&self, _: &str) -> io::Result<Option<Lock>> {
        Ok(Some(Lock::held()))
    }
}

struct NewMemoryFile {
    disk: Arc<Mutex<Content>>,
    name: String,
    content: Vec<u8>,
}

impl Write for NewMemoryFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.disk.lock().expect("no panic").alive()?;
        self.content.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Unnamed for NewMemoryFile {
    fn keep(self: Box<Self>) -> io::Result<()> {
        let mut content = self.disk.lock().expect("no panic");
        let (name, new) = (self.name.clone(), self.content.clone());
        content.write(|content| {
            content.files.remove(&format!("{UNFINISHED}{name}"));
            content.files.insert(name, new);
        })
    }
}
