//! A folder as a stream of bytes: what stands in the segments of a sealed folder.
//!
//! Entry by entry: kind (1 byte: 1 folder, 2 file, 3 file that can be executed), length of the path
//! (2 bytes, little-endian), the path in UTF-8 with `/` between names, and for a file its size (8
//! bytes, little-endian) and its bytes. The end of the content is the end of the folder. Entries come
//! in the order of their paths, name by name and byte by byte, so that every folder stands before what
//! is in it and equal folders give equal streams. The folder itself has no entry.
//!
//! Nothing else can be said in it: no link, no owner, no date, no path out of the folder. It is not
//! `tar`, because most of what a reader of `tar` does would have to be refused, and headers of any
//! length come with it.

use crate::stream::Trouble;

/// The longest path in bytes.
pub const MOST_PATH_BYTES: usize = 4096;
/// The longest name of a file or folder in bytes.
pub const MOST_NAME_BYTES: usize = 255;
/// The most folders within each other.
pub const MOST_DEPTH: usize = 128;
/// The most files and folders.
pub const MOST_ENTRIES: u64 = 1 << 20;

/// What an entry is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// A folder.
    Folder,
    /// A file of so many bytes, and whether it can be executed.
    File {
        /// Its size in bytes.
        bytes: u64,
        /// Whether its owner can execute it.
        executable: bool,
    },
}

/// A file or a folder in a folder.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Entry {
    /// Its names from the folder on, with `/` between them.
    pub path: String,
    /// What it is.
    pub kind: Kind,
}

impl Entry {
    /// All of it but the bytes of a file.
    ///
    /// # Panics
    /// If the path has more than [`MOST_PATH_BYTES`].
    pub fn head(&self) -> Vec<u8> {
        let (kind, bytes) = match self.kind {
            Kind::Folder => (1, None),
            Kind::File { bytes, executable } => (2 + u8::from(executable), Some(bytes)),
        };
        let length = u16::try_from(self.path.len()).expect("a path within its bound");
        let mut head = vec![kind];
        head.extend(length.to_le_bytes());
        head.extend(self.path.as_bytes());
        head.extend(bytes.into_iter().flat_map(u64::to_le_bytes));
        head
    }
}

/// Fills bytes with the content that follows, as far as there is any; says how far.
pub type Fill<'a> = &'a mut dyn FnMut(&mut [u8]) -> Result<usize, Trouble>;

/// Reads entries, and holds each to the rules.
#[derive(Default)]
pub struct Entries {
    /// The path before.
    before: Option<String>,
    /// How many names of that path are folders.
    depth: usize,
    count: u64,
}

impl Entries {
    /// The next entry; none at the end. The bytes of a file follow it.
    pub fn next(&mut self, fill: Fill<'_>) -> Result<Option<Entry>, Trouble> {
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
            1 => Kind::Folder,
            2 | 3 => {
                let mut bytes = [0; 8];
                whole(fill, &mut bytes)?;
                Kind::File {
                    bytes: u64::from_le_bytes(bytes),
                    executable: kind == 3,
                }
            }
            other => return Err(form(format!("an entry of kind {other}"))),
        };
        self.admit(&path, kind)?;
        Ok(Some(Entry { path, kind }))
    }

    /// Holds an entry to the rules: a path that stays in the folder, behind the one before, in a
    /// folder that had an entry.
    fn admit(&mut self, path: &str, kind: Kind) -> Result<(), Trouble> {
        let refuse = |why: &str| Err(form(format!("the path {path:?}, {why}")));
        self.count += 1;
        if self.count > MOST_ENTRIES {
            return Err(form(format!("more than {MOST_ENTRIES} entries")));
        }
        let mut depth = 0;
        for name in path.split('/') {
            depth += 1;
            if let Some(why) = unfit(name, cfg!(windows)) {
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
        // In this order, the folder of an entry is a beginning of the path before.
        let parents = path.split('/').take(depth - 1);
        if depth - 1 > self.depth || !before.split('/').take(depth - 1).eq(parents) {
            return refuse("whose folder has no entry");
        }
        self.depth = depth - usize::from(kind != Kind::Folder);
        self.before = Some(path.to_string());
        Ok(())
    }
}

/// Why a file or folder cannot have this name, if it cannot; stricter on Windows, where more
/// characters mean something.
pub fn unfit(name: &str, windows: bool) -> Option<&'static str> {
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

/// Whether Windows takes a name for a device, as it does with any ending.
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

fn whole(fill: Fill<'_>, bytes: &mut [u8]) -> Result<(), Trouble> {
    match fill(bytes)? == bytes.len() {
        true => Ok(()),
        false => Err(cut_off()),
    }
}

/// The content ends within an entry.
pub fn cut_off() -> Trouble {
    form("an entry that is cut off")
}

fn form(what: impl Into<String>) -> Trouble {
    Trouble::Form(what.into())
}
