//! The header of a sealed file, version 1: 92 bytes, little-endian.
//!
//! | at | bytes | what |
//! |---|---|---|
//! | 0 | 8 | `SLSEALED` |
//! | 8 | 1 | version: 1 |
//! | 9 | 1 | mode: 1 AES-128-GCM, 2 AES-128-OCB3 |
//! | 10 | 1 | lock: 1 key file, 2 passphrase |
//! | 11 | 1 | content: 1 file, 2 folder |
//! | 12 | 4 | bytes of a segment: a power of two of 4 KiB to 1 MiB |
//! | 16 | 12 | Argon2id: memory in KiB, passes, lanes; zeros with a key file |
//! | 28 | 32 | salt |
//! | 60 | 32 | commitment to key and header (`key`) |
//!
//! Everything is held to its bounds as it is read, before any memory is taken or time spent: whoever
//! sent the file chose these numbers. That they are the ones that were sealed is known only once the
//! commitment is right.

/// Bytes of a header.
pub const HEADER_BYTES: usize = 92;
/// Bytes of a header before the commitment: what keys are derived from.
pub const BOUND_BYTES: usize = 60;
/// What every sealed file begins with.
pub const MAGIC: &[u8; 8] = b"SLSEALED";
/// The version of the format.
pub const VERSION: u8 = 1;
/// Bytes of a segment in the files that we make.
pub const SEGMENT_BYTES: u32 = 64 << 10;

/// The mode of the cipher.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mode {
    /// AES-128-GCM (NIST SP 800-38D).
    Gcm,
    /// AES-128-OCB3 (RFC 7253), with 12 bytes of nonce and 16 of tag.
    Ocb3,
}

/// What opens a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Lock {
    /// A key file.
    KeyFile,
    /// A passphrase, made expensive to guess.
    Passphrase(Cost),
}

/// What a sealed file holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Content {
    /// The bytes of a file.
    File,
    /// A folder, as `archive` writes it.
    Folder,
}

/// The parameters of Argon2id (RFC 9106, section 3.1).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Cost {
    /// Memory in KiB.
    pub memory_kib: u32,
    /// Passes over it.
    pub passes: u32,
    /// Lanes.
    pub lanes: u32,
}

impl Cost {
    /// The second recommended option of RFC 9106, section 4: for where 2 GiB are too much to ask.
    pub const USUAL: Cost = Cost {
        memory_kib: 64 << 10,
        passes: 3,
        lanes: 4,
    };
    /// The most memory that a header can ask for: 1 GiB.
    const MOST_MEMORY_KIB: u32 = 1 << 20;
    /// The most work: memory times passes, as for 4 GiB once.
    const MOST_WORK_KIB: u32 = 4 << 20;
    /// The most lanes.
    const MOST_LANES: u32 = 16;

    /// Why a header with this cost is refused, if it is.
    fn unfit(self) -> Option<String> {
        let Cost {
            memory_kib,
            passes,
            lanes,
        } = self;
        let work = u64::from(memory_kib) * u64::from(passes);
        let fits = (1..=Cost::MOST_LANES).contains(&lanes)
            && (8 * lanes..=Cost::MOST_MEMORY_KIB).contains(&memory_kib)
            && passes >= 1
            && work <= u64::from(Cost::MOST_WORK_KIB);
        (!fits).then(|| {
            format!(
                "its header asks for Argon2id with {memory_kib} KiB, {passes} passes and {lanes} \
                 lanes; at most {} KiB, {} KiB times passes and {} lanes are accepted",
                Cost::MOST_MEMORY_KIB,
                Cost::MOST_WORK_KIB,
                Cost::MOST_LANES
            )
        })
    }
}

/// What stands in a header before the commitment.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Header {
    /// The mode of the cipher.
    pub mode: Mode,
    /// What opens the file.
    pub lock: Lock,
    /// What the file holds.
    pub content: Content,
    /// Bytes of every segment but the last.
    pub segment_bytes: u32,
    /// Random for every file.
    pub salt: [u8; 32],
}

/// Why bytes are no header that this version takes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum NoHeader {
    /// The file does not begin as a sealed one does.
    Other,
    /// The file ends within the header.
    CutOff,
    /// The file has another version of the format.
    Version(u8),
    /// A field has a value that it cannot have, or one that is out of bounds.
    Field(String),
}

impl Header {
    /// The bytes that keys are derived from.
    pub fn bound(&self) -> [u8; BOUND_BYTES] {
        let mode = match self.mode {
            Mode::Gcm => 1,
            Mode::Ocb3 => 2,
        };
        let (lock, cost) = match self.lock {
            Lock::KeyFile => (1, [0; 3]),
            Lock::Passphrase(cost) => (2, [cost.memory_kib, cost.passes, cost.lanes]),
        };
        let content = match self.content {
            Content::File => 1,
            Content::Folder => 2,
        };
        let mut bytes = [0; BOUND_BYTES];
        bytes[..8].copy_from_slice(MAGIC);
        bytes[8..12].copy_from_slice(&[VERSION, mode, lock, content]);
        bytes[12..16].copy_from_slice(&self.segment_bytes.to_le_bytes());
        for (field, number) in bytes[16..28].chunks_exact_mut(4).zip(cost) {
            field.copy_from_slice(&number.to_le_bytes());
        }
        bytes[28..].copy_from_slice(&self.salt);
        bytes
    }

    /// The header at the beginning of a file, and its commitment. `bytes` are the first
    /// [`HEADER_BYTES`] of the file, or all that it has.
    pub fn parse(bytes: &[u8]) -> Result<(Header, [u8; 32]), NoHeader> {
        let rest = bytes.strip_prefix(MAGIC).ok_or(NoHeader::Other)?;
        let version = *rest.first().ok_or(NoHeader::CutOff)?;
        if version != VERSION {
            return Err(NoHeader::Version(version));
        }
        let whole = bytes.first_chunk::<HEADER_BYTES>();
        let whole = whole.ok_or(NoHeader::CutOff)?;
        let unknown = |field: &str, value: u8| {
            NoHeader::Field(format!("its header has no {field} with the number {value}"))
        };
        let number = |at: usize| {
            let [a, b, c, d] = [whole[at], whole[at + 1], whole[at + 2], whole[at + 3]];
            u32::from_le_bytes([a, b, c, d])
        };
        let mode = match whole[9] {
            1 => Mode::Gcm,
            2 => Mode::Ocb3,
            other => return Err(unknown("mode", other)),
        };
        let cost = Cost {
            memory_kib: number(16),
            passes: number(20),
            lanes: number(24),
        };
        let lock = match whole[10] {
            1 if whole[16..28] != [0; 12] => {
                let what = "its header has Argon2id parameters beside a key file";
                return Err(NoHeader::Field(what.to_string()));
            }
            1 => Lock::KeyFile,
            2 => match cost.unfit() {
                Some(why) => return Err(NoHeader::Field(why)),
                None => Lock::Passphrase(cost),
            },
            other => return Err(unknown("lock", other)),
        };
        let content = match whole[11] {
            1 => Content::File,
            2 => Content::Folder,
            other => return Err(unknown("content", other)),
        };
        let segment_bytes = number(12);
        if !(segment_bytes.is_power_of_two() && (4 << 10..=1 << 20).contains(&segment_bytes)) {
            return Err(NoHeader::Field(format!(
                "its header has segments of {segment_bytes} bytes; powers of two from 4 KiB to 1 MiB \
                 are accepted"
            )));
        }
        let (mut salt, mut commitment) = ([0; 32], [0; 32]);
        salt.copy_from_slice(&whole[28..BOUND_BYTES]);
        commitment.copy_from_slice(&whole[BOUND_BYTES..]);
        let header = Header {
            mode,
            lock,
            content,
            segment_bytes,
            salt,
        };
        Ok((header, commitment))
    }
}
