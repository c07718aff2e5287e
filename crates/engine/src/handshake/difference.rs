//! The search for the first line in which two programs differ.
//!
//! Two parties with different programs look for it in their text forms before they part, by hashes
//! of beginnings: no text crosses, but a peer that lacks a line can try guesses at it, by itself and
//! as often as it likes. So nothing secret belongs in a program.

use sealane_net::{Mesh, NetError, PartyId};
use sealane_program::graph::Program;
use sealane_program::text::print;
use serde::{Deserialize, Serialize};

/// Hashes of beginnings of a program's text form, where programs differ.
#[derive(Serialize, Deserialize)]
pub(super) struct Beginnings {
    hashes: Vec<[u8; BEGINNING_BYTES]>,
}

/// Of a hash of lines: so many that nobody finds two texts alike by chance.
const BEGINNING_BYTES: usize = 16;
/// Each exchange says in which of so many parts the first line lies that differs, ...
const FAN: usize = 64;
/// ... so that after so many it is known among 2^24 lines, more than any program has.
const EXCHANGES: u32 = 4;

/// The number of the first line, from 1, in which the text form of this program differs from the
/// peer's. None if the peer does not say: it may have found another difference first and left.
///
/// # Errors
/// Somebody asks for the end.
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
        let ours = Beginnings::new(&lines, first, width);
        let said = mesh.send_control(peer, &ours);
        let theirs = said.and_then(|()| mesh.recv_control::<Beginnings>(peer));
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
    // Whoever leaves first keeps the other from reading what came last: each says that it has it.
    let done = Beginnings { hashes: Vec::new() };
    let read = mesh.send_control(peer, &done);
    match read.and_then(|()| mesh.recv_control::<Beginnings>(peer)) {
        Err(NetError::Cancelled) => Err(NetError::Cancelled),
        _ => Ok(Some(first + 1)),
    }
}

impl Beginnings {
    /// The hashes up to the end of each part but the last, for parts of `width` lines from `first`.
    /// Behind the end of a text there is nothing more to hash.
    fn new(lines: &[&str], first: usize, width: usize) -> Beginnings {
        let mut hasher = blake3::Hasher::new_derive_key("sealane beginning of a program 1");
        let (mut hashed, mut hashes) = (0, Vec::with_capacity(FAN - 1));
        for part in 1..FAN {
            let end = (first + part * width).min(lines.len());
            for line in &lines[hashed..end] {
                hasher.update(line.as_bytes()).update(b"\n");
            }
            hashed = end;
            let mut hash = [0; BEGINNING_BYTES];
            hasher.finalize_xof().fill(&mut hash);
            hashes.push(hash);
        }
        Beginnings { hashes }
    }
}
