//! Values that both parties expand from one public nonce of the garbler.

use crate::unpermuted;
use sealane_block::{Block, Cpu, Nonce, Prg};
use sealane_net::SessionId;
use zeroize::Zeroize;

/// The CPU tier, the public seed of the hash, and active labels of the inputs of the garbler. Both
/// values belong to this session, whose identifier has contributions of both parties, and neither
/// depends on a secret.
pub(crate) struct Common {
    pub(crate) cpu: Cpu,
    pub(crate) hash: Block,
    labels: Prg,
}

impl Common {
    /// Expands the values from the nonce that the garbler sends.
    pub(crate) fn new(cpu: Cpu, nonce: Nonce, session: SessionId) -> Common {
        let session = session.as_bytes();
        Common {
            cpu,
            hash: nonce.stream("yao: hash", session).block(),
            labels: nonce.stream("yao: inputs of the garbler", session).prg(cpu),
        }
    }

    /// Draws active labels of the garbler's next inputs, with permute bit 0.
    pub(crate) fn input_labels(&mut self, count: usize) -> Vec<Block> {
        let mut active = vec![Block::ZERO; count];
        self.labels.fill(&mut active);
        let all = active.iter_mut();
        all.for_each(|label| *label = unpermuted(*label));
        active
    }
}

impl Drop for Common {
    /// The seed is public. It is erased as well, so that nothing of a party is left in memory; the
    /// generator erases itself.
    fn drop(&mut self) {
        self.hash.zeroize();
    }
}
