//! The sender, which may have the key of every string.

use super::{Call, Hash, OneOfN, Scratch, fold, fold_row, selected};
use crate::Result;
use crate::softspoken::sender::{VoleSender, VoleSetup};
use crate::traits::{OneOfNKeys, OneOfNSender};
use sealane_block::{Block, Coins, Cpu};
use sealane_net::Mesh;
use sealane_parties::PartyId;
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

/// Keys that are hashed together.
const BATCH: usize = 128;

/// A sender that has written its message of the base OTs.
pub struct SenderSetup(OneOfN, VoleSetup);

/// Sender of OTs of one of `N` strings; see the [module](super).
pub struct StringsSender {
    parameters: OneOfN,
    vole: VoleSender,
    /// `L(C(c) * delta)` for every choice.
    offsets: Zeroizing<Vec<Block>>,
    hash: Hash,
}

impl StringsSender {
    /// Begins the set-up: writes one message, not flushed, and waits for nothing. The offset is
    /// drawn.
    ///
    /// # Errors
    /// The network failed.
    pub fn set_up(
        parameters: OneOfN,
        cpu: Cpu,
        mesh: &mut Mesh,
        peer: PartyId,
        coins: &mut Coins,
    ) -> Result<SenderSetup> {
        let subspace = parameters.subspace();
        let mut delta = Zeroizing::new(vec![Block::ZERO; subspace.columns.div_ceil(128)]);
        coins.secret("ot: offset of one of many").fill(&mut delta);
        let vole = VoleSender::set_up(subspace, cpu, mesh, peer, delta, coins)?;
        Ok(SenderSetup(parameters, vole))
    }
}

impl SenderSetup {
    /// Ends the set-up: reads the two messages of the receiver.
    ///
    /// # Errors
    /// As [`softspoken::SenderSetup::finish`](crate::softspoken::SenderSetup::finish).
    pub fn finish(self, mesh: &mut Mesh) -> Result<StringsSender> {
        let SenderSetup(parameters, vole) = self;
        let vole = vole.finish(mesh)?;
        Ok(StringsSender::of(parameters, vole, mesh))
    }
}

impl StringsSender {
    /// A sender with trees and an offset.
    pub(in crate::softspoken) fn of(parameters: OneOfN, vole: VoleSender, mesh: &Mesh) -> Self {
        let cpu = vole.cpu;
        let subspace = parameters.subspace();
        // The offset of a choice is a sum of those of its bits.
        let bits = parameters.strings().trailing_zeros();
        let mut offsets = Zeroizing::new(Vec::with_capacity(bits as usize));
        for bit in 0..bits {
            let selected = selected(subspace, vole.delta(), 1 << bit);
            offsets.push(fold_row(cpu, &selected));
        }
        let hash = Hash::new(parameters, cpu, mesh.session(), [mesh.me(), vole.peer]);
        StringsSender {
            parameters,
            vole,
            offsets,
            hash,
        }
    }

    /// The receiver.
    pub fn peer(&self) -> PartyId {
        self.vole.peer
    }

    /// The parameters.
    pub fn parameters(&self) -> OneOfN {
        self.parameters
    }

    /// Sends `strings` to a receiver that asks for one of each OT ([`Request`](super::Request)):
    /// for each OT all `N` strings of `length` blocks after one another. Writes one message, not
    /// flushed.
    ///
    /// # Errors
    /// As [`extend`](OneOfNSender::extend).
    ///
    /// # Panics
    /// If they are not whole OTs.
    pub fn send_chosen(&mut self, mesh: &mut Mesh, length: usize, strings: &[Block]) -> Result<()> {
        let n = self.parameters.strings();
        let whole = length > 0 && strings.len().is_multiple_of(length * n);
        assert!(whole, "N strings of one length for each OT");
        let keys = self.extend_given(mesh, strings.len() / (length * n))?;
        let mut masked = Zeroizing::new(vec![Block::ZERO; BATCH]);
        for (batch, strings) in strings.chunks(BATCH).enumerate() {
            let masked = &mut masked[..strings.len()];
            let place = |i: usize| {
                let at = batch * BATCH + i;
                let (j, c) = (at / length / n, at / length % n);
                (at % length, j, c as u8)
            };
            keys.hash(place, masked);
            masked.iter_mut().zip(strings).for_each(|(m, &s)| *m ^= s);
            mesh.send(self.vole.peer, Block::as_bytes(masked))?;
        }
        Ok(())
    }
}

impl OneOfNSender for StringsSender {
    type Keys = Keys;

    fn strings(&self) -> usize {
        self.parameters.strings()
    }

    /// Reads one message and writes none.
    fn extend(&mut self, mesh: &mut Mesh, count: usize) -> Result<Keys> {
        let cpu = self.hash.cpu;
        let mut rows = Zeroizing::new(vec![Block::ZERO; count]);
        let mut scratch = Scratch::new();
        let result = self.vole.extend(mesh, count, |piece, columns| {
            let rows = &mut rows[piece.first..][..piece.count];
            fold(cpu, piece, columns, &mut scratch, rows);
        });
        if result.is_err() {
            self.offsets.iter_mut().zeroize();
        }
        result?;
        Ok(Keys {
            rows,
            offsets: self.offsets.clone(),
            call: self.hash.next(),
            shifts: vec![0; count],
        })
    }

    /// Reads two messages and writes none.
    fn extend_given(&mut self, mesh: &mut Mesh, count: usize) -> Result<Keys> {
        let mut keys = self.extend(mesh, count)?;
        let mut packed = vec![0; self.parameters.given_bytes(count as u64) as usize];
        mesh.recv(self.vole.peer, &mut packed)?;
        let bits = usize::from(self.parameters.bits);
        for (j, shift) in keys.shifts.iter_mut().enumerate() {
            let at = j * bits;
            *shift = packed[at / 8] >> (at % 8) & (u8::MAX >> (8 - bits));
        }
        Ok(keys)
    }
}

impl ZeroizeOnDrop for StringsSender {}

/// The sender's keys of one extension. It computes those that it is asked for. They hold what came
/// from the offset: drop them if a later extension fails a check.
pub struct Keys {
    rows: Zeroizing<Vec<Block>>,
    offsets: Zeroizing<Vec<Block>>,
    call: Call,
    /// Numbers to add to that of a string for the choice that it stands for.
    shifts: Vec<u8>,
}

impl OneOfNKeys for Keys {
    fn count(&self) -> usize {
        self.rows.len()
    }

    fn fill(&self, places: &[(usize, u8)], keys: &mut [Block]) {
        assert_eq!(places.len(), keys.len(), "a key for each place");
        for (places, keys) in places.chunks(BATCH).zip(keys.chunks_mut(BATCH)) {
            self.hash(|i| (0, places[i].0, places[i].1), keys);
        }
    }

    fn fill_all(&self, keys: &mut [Block]) {
        let n = 1 << self.offsets.len();
        assert_eq!(keys.len(), n * self.count(), "N keys for each OT");
        for (batch, keys) in keys.chunks_mut(BATCH).enumerate() {
            self.hash(
                |i| {
                    let at = batch * BATCH + i;
                    (0, at / n, (at % n) as u8)
                },
                keys,
            );
        }
    }
}

impl Keys {
    /// Fills up to [`BATCH`] blocks with those of keys: number of the block, OT and string.
    fn hash(&self, place: impl Fn(usize) -> (usize, usize, u8), out: &mut [Block]) {
        let mut tweaks = [Block::ZERO; BATCH];
        let tweaks = &mut tweaks[..out.len()];
        for (i, (tweak, out)) in tweaks.iter_mut().zip(&mut *out).enumerate() {
            let (number, j, string) = place(i);
            let choice = string ^ self.shifts[j];
            *tweak = self.call.tweak(number, j, choice);
            // No string is an address: its number may be a secret of the sender.
            let offsets = self.offsets.iter().enumerate();
            *out = offsets.fold(self.rows[j], |sum, (bit, offset)| {
                sum ^ offset.masked(choice >> bit)
            });
        }
        self.call.hash.hash_each(self.call.cpu, tweaks, out);
    }
}

impl ZeroizeOnDrop for Keys {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Security;

    #[test]
    fn nothing_is_left_of_an_offset_after_a_failure() {
        let (parameters, cpu) = (OneOfN::new(2, 4, Security::Malicious), Cpu::best());
        let mut mesh = Mesh::in_memory(2).remove(0);
        let [peer, me] = [PartyId(1), mesh.me()];
        let ones = || Zeroizing::new(vec![Block::ONES; 2]);
        let vole = VoleSender {
            parameters: parameters.subspace(),
            cpu,
            peer,
            delta: ones(),
            trees: Vec::new(),
        };
        let mut sender = StringsSender {
            parameters,
            vole,
            offsets: ones(),
            hash: Hash::new(parameters, cpu, mesh.session(), [me, peer]),
        };
        assert!(sender.extend(&mut mesh, 1).is_err(), "there are no trees");
        // Neither list is shortened, so this is the memory that held them.
        let left = [&sender.offsets, &sender.vole.delta].map(|blocks| {
            let values = blocks.iter().map(|block| block.value());
            values.collect::<Vec<_>>()
        });
        assert_eq!(left, [[0; 2], [0; 2]]);
    }
}
