//! The search for the first line in which two programs differ.
//!
//! Two parties with different programs search for it in the text forms before they abort, by
//! comparing hashes of prefixes. No text crosses, but a peer that lacks a line can test guesses of
//! it offline, as often as it likes. So nothing secret belongs in a program.

use sealane_net::{Mesh, NetError};
use sealane_parties::PartyId;
use sealane_program::graph::Program;
use sealane_program::text::print;
use serde::{Deserialize, Serialize};

/// Hashes of prefixes of a program's text form, which two parties with different programs exchange.
#[derive(Serialize, Deserialize)]
pub(super) struct PrefixHashes {
    pub(super) hashes: Vec<[u8; PREFIX_HASH_BYTES]>,
}

/// Bytes of a hash of lines: enough that nobody finds two texts with one hash.
const PREFIX_HASH_BYTES: usize = 16;
/// Parts of an interval that one exchange tells apart.
const FAN: usize = 64;
/// Number of exchanges: together they locate a line among 2^24, more than any program has.
const EXCHANGES: u32 = 4;

/// Finds the number of the first line, from 1, in which the text form of this program differs from
/// the peer's. `None` if the peer does not answer: it may have found another difference first and
/// left.
///
/// # Errors
/// The run was cancelled.
pub(super) fn differing_line(
    program: &Program,
    peer: PartyId,
    mesh: &mut Mesh,
) -> Result<Option<usize>, NetError> {
    let text = print(program);
    let lines = text.lines().collect::<Vec<_>>();
    // The lines before `first` agree.
    let (mut first, mut width) = (0, FAN.pow(EXCHANGES));
    while width > 1 {
        width /= FAN;
        let ours = PrefixHashes::new(&lines, first, width);
        let said = mesh.send_control(peer, &ours);
        let theirs = said.and_then(|()| mesh.recv_control::<PrefixHashes>(peer));
        let theirs = match theirs {
            Err(NetError::Cancelled) => return Err(NetError::Cancelled),
            Ok(theirs) if theirs.hashes.len() == ours.hashes.len() => theirs,
            _ => return Ok(None),
        };
        let mut both = ours.hashes.iter().zip(&theirs.hashes);
        // The end of the last part is known to differ.
        let part = both
            .position(|(ours, theirs)| ours != theirs)
            .unwrap_or(FAN - 1);
        first += part * width;
    }
    // A party that leaves first may keep the other from reading its last message, so each confirms
    // it.
    let done = PrefixHashes { hashes: Vec::new() };
    let read = mesh.send_control(peer, &done);
    match read.and_then(|()| mesh.recv_control::<PrefixHashes>(peer)) {
        Err(NetError::Cancelled) => Err(NetError::Cancelled),
        _ => Ok(Some(first + 1)),
    }
}

impl PrefixHashes {
    /// Hashes the text up to the end of each part but the last, for parts of `width` lines from
    /// `first`. Parts behind the end of the text add nothing.
    pub(super) fn new(lines: &[&str], first: usize, width: usize) -> PrefixHashes {
        let mut hasher = blake3::Hasher::new_derive_key("sealane beginning of a program 1");
        let (mut hashed, mut hashes) = (0, Vec::with_capacity(FAN - 1));
        for part in 1..FAN {
            let end = (first + part * width).min(lines.len());
            for line in &lines[hashed..end] {
                hasher.update(line.as_bytes()).update(b"\n");
            }
            hashed = end;
            let mut hash = [0; PREFIX_HASH_BYTES];
            hasher.finalize_xof().fill(&mut hash);
            hashes.push(hash);
        }
        PrefixHashes { hashes }
    }
}
