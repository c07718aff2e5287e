//! The modes by name, with their valid lengths and limits.

use std::fmt;

use crate::Error;
use crate::lanes::Params;
use crate::registry::ModeId;

/// A mode with its version and length of tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Suite {
    pub(crate) kind: ModeId,
    pub(crate) params: Params,
}

/// Valid lengths and limits of a mode.
pub(crate) struct Limits {
    pub(crate) name: &'static str,
    pub(crate) key_bytes: usize,
    /// The least and the most bytes of a nonce.
    pub(crate) nonce_bytes: [usize; 2],
    /// Lengths of tags, the usual one first; zero where there is no separate tag.
    pub(crate) tags: &'static [usize],
    /// Versions, the usual one first; empty where there is one.
    pub(crate) versions: &'static [&'static str],
    /// The most bytes of a text.
    pub(crate) text: u64,
    /// The most bytes of associated data; none for building blocks.
    pub(crate) ad: Option<u64>,
    /// The most messages under a key.
    pub(crate) messages: u64,
    /// The most blocks of text and associated data under a key.
    pub(crate) blocks: u64,
    /// True if only whole blocks of text are taken.
    pub(crate) whole_blocks: bool,
    /// True if a sealed message does not say how long its text is.
    pub(crate) text_unknown: bool,
}

/// Limit of a key without a limit of its own: 2^48 blocks, so that two inputs of the cipher have
/// been equal with a probability below 2^-32 (RFC 7253, section 5).
const BIRTHDAY: u64 = 1 << 48;

/// The probability, as a power of one half, with which some guess at a tag may have succeeded
/// before a key opens nothing any more. NIST SP 800-38C, appendix B.2: tags of `t` bits allow at
/// most `Risk * 2^t` failed openings.
const FORGERY_RISK: u32 = 20;

/// The most failed openings under any key, as for packets in RFC 9001, section 6.6, for the mode
/// whose limit is that of its tag: 2^36 texts of 64 KiB are the 2^48 blocks of [`BIRTHDAY`].
const MOST_FAILURES: u64 = 1 << 36;

/// The usual limits, from which modes override fields.
pub(crate) const USUAL: Limits = Limits {
    name: "",
    key_bytes: 16,
    nonce_bytes: [16, 16],
    tags: &[16],
    versions: &[],
    text: 1 << 40,
    ad: Some(1 << 40),
    messages: BIRTHDAY, // no limit of its own
    blocks: BIRTHDAY,
    whole_blocks: false,
    text_unknown: false,
};

impl Suite {
    /// Finds a mode by its name in lower case, such as `gcm`, with its version (`v1`) if it has
    /// several, and the length of its tag in bytes if that can be chosen.
    ///
    /// # Errors
    /// There is no such mode in this build, or it has no such version or tag.
    pub fn named(
        name: &str,
        version: Option<&str>,
        tag_len: Option<usize>,
    ) -> Result<Suite, Error> {
        let kind = ModeId::ALL.iter().find(|kind| kind.limits().name == name);
        let kind = *kind.ok_or_else(|| Error::UnknownMode {
            name: name.to_owned(),
            known: Suite::names().collect::<Vec<_>>().join(", "),
        })?;
        let limits = kind.limits();
        let index = match version {
            None => 0,
            Some(version) => {
                let index = limits.versions.iter().position(|known| *known == version);
                index.ok_or_else(|| Error::UnknownVersion {
                    mode: kind.display_name(),
                    version: version.to_owned(),
                    known: match limits.versions {
                        [] => "one version, without a name".to_owned(),
                        versions => versions.join(", "),
                    },
                })?
            }
        };
        let tag_len = tag_len.unwrap_or(limits.tags[0]);
        if !limits.tags.contains(&tag_len) {
            return Err(Error::TagLength {
                mode: kind.display_name(),
                bytes: tag_len,
                known: list(limits.tags),
            });
        }
        let version = limits.versions.get(index);
        let version = version.map_or(0, |name| name.as_bytes()[1] - b'0');
        let params = Params { tag_len, version };
        Ok(Suite { kind, params })
    }

    /// Returns the names of all modes of this build.
    pub fn names() -> impl Iterator<Item = &'static str> {
        ModeId::ALL.iter().map(|kind| kind.limits().name)
    }

    /// Returns the name that [`named`](Suite::named) takes.
    pub fn name(&self) -> &'static str {
        self.kind.limits().name
    }

    /// Bytes of a key.
    pub fn key_bytes(&self) -> usize {
        self.kind.limits().key_bytes
    }

    /// Bytes of the tag; none for building blocks.
    pub fn tag_bytes(&self) -> usize {
        self.params.tag_len
    }

    /// Returns true if the mode is for everyday use. The others are for study: they authenticate
    /// nothing, or are for research alone, and their pages state what is broken.
    pub fn is_everyday(&self) -> bool {
        matches!(self.kind, ModeId::Gcm | ModeId::Ccm | ModeId::Ocb3)
    }

    /// The most messages that a key may fail to open, before it opens none any more: `2^(t - 20)`
    /// for tags of `t` bits, and at most 2^36.
    pub fn most_failures(&self) -> u64 {
        match (8 * self.params.tag_len as u32).checked_sub(FORGERY_RISK) {
            Some(bits @ 0..36) => 1 << bits,
            // Where the tag is not separate, the text has as much redundancy.
            _ => MOST_FAILURES,
        }
    }

    /// The most blocks that are sealed under a key.
    pub fn most_blocks(&self) -> u64 {
        self.limits().blocks
    }

    /// Bytes of the usual nonce: 12 where the mode takes them, else the nearest valid length.
    pub fn nonce_bytes(&self) -> usize {
        let [least, most] = self.limits().nonce_bytes;
        12.clamp(least, most)
    }

    /// Bytes of the longest text with a nonce of this length.
    pub(crate) fn longest_text(&self, nonce: usize) -> u64 {
        let most = self.limits().text;
        match self.kind {
            // Its length has to fit what the nonce leaves of a block.
            ModeId::Ccm if nonce > 9 => most.min((1 << (8 * (15 - nonce))) - 1),
            _ => most,
        }
    }

    pub(crate) fn limits(&self) -> &'static Limits {
        self.kind.limits()
    }
}

impl fmt::Display for Suite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.kind.display_name())
    }
}

fn list(lengths: &[usize]) -> String {
    let mut sorted = lengths.to_vec();
    sorted.sort_unstable();
    let names: Vec<String> = sorted.iter().map(usize::to_string).collect();
    names.join(", ")
}
