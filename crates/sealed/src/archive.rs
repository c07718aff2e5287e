//! A folder as a stream of bytes: the content of the segments of a sealed folder.
//!
//! Entry by entry: kind (1 byte: 1 folder, 2 file, 3 file that can be executed), length of the path
//! (2 bytes, little-endian), the path in UTF-8 with `/` between names, and for a file its size (8
//! bytes, little-endian) and its bytes. The end of the content is the end of the folder. Entries
//! come in the order of their paths, name by name and byte by byte, so that every folder stands
//! before what is in it and equal folders give equal streams. The folder itself has no entry.
//!
//! The form has no links, owners, dates, or paths that lead out of the folder. It is not `tar`: a
//! reader would have to refuse most of `tar`, and headers of `tar` have any length.

use crate::stream::StreamError;

/// The longest path in bytes.
pub const MOST_PATH_BYTES: usize = 4096;
/// The longest name of a file or folder in bytes.
pub const MOST_NAME_BYTES: usize = 255;
/// The most folders within each other.
pub const MOST_DEPTH: usize = 128;
/// The most files and folders.
pub const MOST_ENTRIES: u64 = 1 << 20;

/// EntryKind of an entry, with what is stored about it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EntryKind {
    /// A folder.
    Folder,
    /// A file with its size and its executable bit.
    File {
        /// Its size in bytes.
        bytes: u64,
        /// Set if its owner can execute it.
        executable: bool,
    },
}

/// A file or a folder in a folder.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Entry {
    /// Path of names from the sealed folder on, with `/` between them.
    pub path: String,
    /// EntryKind of the entry.
    pub kind: EntryKind,
}

impl Entry {
    /// Encodes the entry without the bytes of a file.
    ///
    /// # Panics
    /// If the path has more than [`MOST_PATH_BYTES`].
    pub fn head(&self) -> Vec<u8> {
        let (kind, bytes) = match self.kind {
            EntryKind::Folder => (1, None),
            EntryKind::File { bytes, executable } => (2 + u8::from(executable), Some(bytes)),
        };
        let length = u16::try_from(self.path.len()).expect("a path within its bound");
        let mut head = vec![kind];
        head.extend(length.to_le_bytes());
        head.extend(self.path.as_bytes());
        head.extend(bytes.into_iter().flat_map(u64::to_le_bytes));
        head
    }
}

/// Function that fills a buffer with the content that follows, as far as there is any, and returns
/// the number of bytes.
pub type ReadContent<'a> = &'a mut dyn FnMut(&mut [u8]) -> Result<usize, StreamError>;

/// Parser of the entries of a folder, which checks each against the rules of the format.
#[derive(Default)]
pub struct Entries {
    /// Path of the entry before.
    before: Option<String>,
    /// Number of leading names of that path that are folders.
    depth: usize,
    count: u64,
}

impl Entries {
    /// Reads the next entry; `None` at the end. The bytes of a file follow its entry.
    pub fn next(&mut self, fill: ReadContent<'_>) -> Result<Option<Entry>, StreamError> {
        let mut head = [0; 3];
        match fill(&mut head)? {
            0 => return Ok(None),
            3 => {}
            _ => return Err(cut_off()),
        }
        let [kind, low, high] = head;
        let length = usize::from(u16::from_le_bytes([low, high]));
        if length > MOST_PATH_BYTES {
            return Err(form(format!("a path of {length} bytes")));
        }
        let mut path = vec![0; length];
        whole(fill, &mut path)?;
        let path = String::from_utf8(path).map_err(|_| form("a path that is not UTF-8"))?;
        let kind = match kind {
            1 => EntryKind::Folder,
            2 | 3 => {
                let mut bytes = [0; 8];
                whole(fill, &mut bytes)?;
                let (bytes, executable) = (u64::from_le_bytes(bytes), kind == 3);
                EntryKind::File { bytes, executable }
            }
            other => return Err(form(format!("an entry of kind {other}"))),
        };
        self.admit(&path, kind)?;
        Ok(Some(Entry { path, kind }))
    }

    /// Checks an entry against the rules: its path stays in the folder, sorts behind the one
    /// before, and lies in a folder that had an entry.
    fn admit(&mut self, path: &str, kind: EntryKind) -> Result<(), StreamError> {
        let refuse = |why: &str| Err(form(format!("the path {path:?}, {why}")));
        self.count += 1;
        if self.count > MOST_ENTRIES {
            return Err(form(format!("more than {MOST_ENTRIES} entries")));
        }
        let mut depth = 0;
        for name in path.split('/') {
            depth += 1;
            if let Some(why) = name_problem(name, cfg!(windows)) {
                return refuse(why);
            }
        }
        if depth > MOST_DEPTH {
            return refuse("too many folders within each other");
        }
        let before = self.before.as_deref().unwrap_or_default();
        if self.before.is_some() && !before.split('/').lt(path.split('/')) {
            return refuse("which comes twice or out of order");
        }
        // Because of this order, the folder of an entry is a prefix of the path before.
        let parents = path.split('/').take(depth - 1);
        if depth - 1 > self.depth || !before.split('/').take(depth - 1).eq(parents) {
            return refuse("whose folder has no entry");
        }
        self.depth = depth - usize::from(kind != EntryKind::Folder);
        self.before = Some(path.to_string());
        Ok(())
    }
}

/// Returns the reason why a file or folder cannot have this name, if there is one. The rules are
/// stricter on Windows, where more characters have a meaning.
pub fn name_problem(name: &str, windows: bool) -> Option<&'static str> {
    let bad = |c: char| c.is_control() || "<>:\"|?*".contains(c);
    match name {
        "" => Some("with an empty name"),
        "." | ".." => Some("with a name that leads elsewhere"),
        _ if name.len() > MOST_NAME_BYTES => Some("with a name that is too long"),
        _ if name.contains('\0') => Some("with a zero byte"),
        _ if name.contains('/') => Some("with a slash in a name"),
        _ if name.contains('\\') => Some("with a backslash, which Windows takes for a folder"),
        _ if windows && name.contains(bad) => {
            Some("with a character that Windows takes for another")
        }
        _ if windows && name.ends_with(['.', ' ']) => Some("with an end that Windows leaves out"),
        _ if windows && is_device(name) => Some("which is a device on Windows"),
        _ => None,
    }
}

/// Tells if Windows takes a name for a device, which it does with any extension.
fn is_device(name: &str) -> bool {
    let stem = name.split('.').next().unwrap_or_default();
    let stem = stem.trim_end().to_ascii_uppercase();
    let numbered = |of: &str| {
        let number = stem.strip_prefix(of).unwrap_or_default();
        ["1", "2", "3", "4", "5", "6", "7", "8", "9", "¹", "²", "³"].contains(&number)
    };
    let known = ["CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$"];
    known.contains(&stem.as_str()) || numbered("COM") || numbered("LPT")
}

fn whole(fill: ReadContent<'_>, bytes: &mut [u8]) -> Result<(), StreamError> {
    let filled = fill(bytes)? == bytes.len();
    filled.then_some(()).ok_or_else(cut_off)
}

/// Error for content that ends within an entry.
pub fn cut_off() -> StreamError {
    form("an entry that is cut off")
}

fn form(what: impl Into<String>) -> StreamError {
    StreamError::Malformed(what.into())
}
