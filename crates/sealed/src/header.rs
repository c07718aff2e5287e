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
//! Every field is checked against its bounds as it is read, before memory is taken or time spent,
//! since the sender of the file chose these numbers. That they are the numbers that were sealed is
//! known only after the check of the commitment.

/// Bytes of a header.
pub const HEADER_BYTES: usize = 92;
/// Bytes of a header before the commitment: the input of key derivation.
pub const BOUND_BYTES: usize = 60;
/// First bytes of every sealed file.
pub const MAGIC: &[u8; 8] = b"SLSEALED";
/// Version of the format.
pub const VERSION: u8 = 1;
/// Bytes of a segment in files of this version.
pub const SEGMENT_BYTES: u32 = 64 << 10;

/// Mode of the cipher.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mode {
    /// AES-128-GCM (NIST SP 800-38D).
    Gcm = 1,
    /// AES-128-OCB3 (RFC 7253), with 12 bytes of nonce and 16 of tag.
    Ocb3 = 2,
}

/// Source of the key that opens a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum KeySource {
    /// A key file.
    KeyFile,
    /// A passphrase, stretched with Argon2id at this cost.
    Passphrase(Argon2Cost),
}

/// Content of a sealed file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Content {
    /// The bytes of a file.
    File = 1,
    /// A folder, as `archive` writes it.
    Folder = 2,
}

/// Parameters of Argon2id (RFC 9106, section 3.1).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Argon2Cost {
    /// Memory in KiB.
    pub memory_kib: u32,
    /// Passes over it.
    pub passes: u32,
    /// Lanes.
    pub lanes: u32,
}

impl Argon2Cost {
    /// The second recommended option of RFC 9106, section 4, for machines on which 2 GiB are too
    /// much.
    pub const USUAL: Argon2Cost = Argon2Cost {
        memory_kib: 64 << 10,
        passes: 3,
        lanes: 4,
    };
    /// Upper bound of the memory that a header can ask for: 1 GiB.
    const MOST_MEMORY_KIB: u32 = 1 << 20;
    /// Upper bound of the work, as memory times passes: 4 GiB once.
    const MOST_WORK_KIB: u32 = 4 << 20;
    /// Upper bound of the lanes.
    const MOST_LANES: u32 = 16;

    /// Returns the reason why a header with this cost is refused, if there is one.
    fn problem(self) -> Option<String> {
        let Argon2Cost {
            memory_kib,
            passes,
            lanes,
        } = self;
        let work = u64::from(memory_kib) * u64::from(passes);
        let fits = (1..=Argon2Cost::MOST_LANES).contains(&lanes)
            && (8 * lanes..=Argon2Cost::MOST_MEMORY_KIB).contains(&memory_kib)
            && passes >= 1
            && work <= u64::from(Argon2Cost::MOST_WORK_KIB);
        (!fits).then(|| {
            format!(
                "its header asks for Argon2id with {memory_kib} KiB, {passes} passes and {lanes} \
                 lanes; at most {} KiB, {} KiB times passes and {} lanes are accepted",
                Argon2Cost::MOST_MEMORY_KIB,
                Argon2Cost::MOST_WORK_KIB,
                Argon2Cost::MOST_LANES
            )
        })
    }
}

/// Fields of a header before the commitment.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Header {
    /// Mode of the cipher.
    pub mode: Mode,
    /// Source of the key.
    pub lock: KeySource,
    /// Content of the file.
    pub content: Content,
    /// Bytes of every segment but the last.
    pub segment_bytes: u32,
    /// Random salt, fresh for every file.
    pub salt: [u8; 32],
}

/// Reason why bytes are not a header that this version accepts.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum HeaderError {
    /// The file does not begin with the magic bytes.
    Other,
    /// The file ends within the header.
    CutOff,
    /// The file has an unknown version of the format.
    Version(u8),
    /// A field has an unknown value, or one that is out of bounds.
    Field(String),
}

impl Header {
    /// Encodes the fields that keys are derived from.
    pub fn bound(&self) -> [u8; BOUND_BYTES] {
        let (lock, cost) = match self.lock {
            KeySource::KeyFile => (1, [0; 3]),
            KeySource::Passphrase(cost) => (2, [cost.memory_kib, cost.passes, cost.lanes]),
        };
        let (mode, content) = (self.mode as u8, self.content as u8);
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

    /// Parses the header at the beginning of a file, and its commitment. `bytes` are the first
    /// [`HEADER_BYTES`] of the file, or the whole file if it is shorter.
    pub fn parse(bytes: &[u8]) -> Result<(Header, [u8; 32]), HeaderError> {
        let rest = bytes.strip_prefix(MAGIC).ok_or(HeaderError::Other)?;
        let version = *rest.first().ok_or(HeaderError::CutOff)?;
        if version != VERSION {
            return Err(HeaderError::Version(version));
        }
        let whole = bytes.first_chunk::<HEADER_BYTES>();
        let whole = whole.ok_or(HeaderError::CutOff)?;
        let unknown = |field: &str, value: u8| {
            HeaderError::Field(format!("its header has no {field} with the number {value}"))
        };
        let number = |at: usize| {
            let field = whole[at..].first_chunk();
            u32::from_le_bytes(*field.expect("a field of the header"))
        };
        let mode = match whole[9] {
            1 => Mode::Gcm,
            2 => Mode::Ocb3,
            other => return Err(unknown("mode", other)),
        };
        let cost = Argon2Cost {
            memory_kib: number(16),
            passes: number(20),
            lanes: number(24),
        };
        let lock = match whole[10] {
            1 if whole[16..28] != [0; 12] => {
                let what = "its header has Argon2id parameters beside a key file";
                return Err(HeaderError::Field(what.to_string()));
            }
            1 => KeySource::KeyFile,
            2 => match cost.problem() {
                Some(why) => return Err(HeaderError::Field(why)),
                None => KeySource::Passphrase(cost),
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
            return Err(HeaderError::Field(format!(
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
