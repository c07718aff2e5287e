//! Correlations in parts, so that their messages cross and take no memory with their number.

use super::BothWays;
use crate::Result;
use crate::traits::{CotReceiver, CotSender};
use sealane_net::Mesh;
use std::collections::VecDeque;

/// Bytes that a party sends before it reads those of the peer: more than are on their way on a fast
/// and distant link (1 Gbit/s and 10 ms), so that neither waits for the other.
const AHEAD: u64 = 2 << 20;

/// Correlations of one kind in the making at one of two parties. A part is written before it is
/// read, and nothing that is written depends on what is read.
pub(super) trait InParts<S, R> {
    /// Number of parts.
    fn parts(&self) -> usize;

    /// Takes the OTs of the next part, and writes this party's message of it, flushed behind the
    /// last one at the latest.
    fn write(&mut self, both: &mut BothWays<S, R>, mesh: &mut Mesh, part: usize) -> Result<()>;

    /// Reads the peer's message of the next part.
    fn read(&mut self, mesh: &mut Mesh, part: usize) -> Result<()>;
}

/// Makes all parts of all kinds, one after another. A party reads a part when it has written so
/// many bytes behind it that all of it is on its way, though its end may share a frame with the
/// next. So of two parties that both read, one can go on: the one that is not ahead of the other.
pub(super) fn make<S: CotSender, R: CotReceiver>(
    both: &mut BothWays<S, R>,
    mesh: &mut Mesh,
    kinds: &mut [&mut dyn InParts<S, R>],
) -> Result<()> {
    let peer = both.peer();
    let (mut written, mut ahead) = (VecDeque::new(), 0);
    for at in 0..kinds.len() {
        for part in 0..kinds[at].parts() {
            let before = mesh.payload_sent(peer);
            kinds[at].write(both, mesh, part)?;
            let bytes = mesh.payload_sent(peer) - before;
            written.push_back((at, part, bytes));
            ahead += bytes;
            while let Some(&(at, part, bytes)) = written.front()
                && ahead - bytes > AHEAD
            {
                written.pop_front();
                ahead -= bytes;
                kinds[at].read(mesh, part)?;
            }
        }
    }
    let mut written = written.into_iter();
    written.try_for_each(|(at, part, _)| kinds[at].read(mesh, part))
}
