//! Random OTs.

use super::{receive_chosen, send_chosen};
use crate::traits::{ChosenReceiver, ChosenSender};
use crate::traits::{CotReceiver, CotSender, RandomReceiver, RandomSender, SecondKeys};
use crate::transcript::Digested;
use crate::{Result, Security};
use sealane_block::hash::{BitHash, LabelHash, Mi};
use sealane_block::{Block, Calls, Cpu, Tweak};
use sealane_net::{Mesh, SessionId};
use sealane_parties::PartyId;
use zeroize::Zeroizing;

/// Blocks that are hashed together: they stay in the nearest cache.
pub(crate) const BATCH: usize = 512;

/// The hash that makes correlated rows independent keys, and the numbers that it has used. Both
/// parties keep one for each source of correlated OTs, and hash the same OTs in the same order.
pub struct Hasher {
    cpu: Cpu,
    hash: Mi,
    bits: BitHash,
    calls: Calls,
}

impl Hasher {
    /// The hash of the OTs from `sender` to `receiver` in this session. A pair of parties in these
    /// roles makes one for each source of OTs, with a `label` of its own: two with one label would
    /// use the same keys for different OTs.
    pub fn new(
        cpu: Cpu,
        session: SessionId,
        sender: PartyId,
        receiver: PartyId,
        label: &'static str,
    ) -> Hasher {
        let mut seed = [0; 16];
        blake3::Hasher::new_derive_key("sealane 6 ot hash")
            .update(session.as_bytes())
            .update(&[sender.0, receiver.0])
            .update(label.as_bytes())
            .finalize_xof()
            .fill(&mut seed);
        Hasher {
            cpu,
            hash: Mi::new(cpu, Block::from_bytes(seed)),
            bits: BitHash::new(Block::from_bytes(seed)),
            calls: Calls::default(),
        }
    }

    /// The digest of strings under the keys of OTs of this security.
    pub(crate) fn digested(&self, security: Security) -> Digested {
        let cpu = self.cpu;
        Digested { cpu, security }
    }

    /// Takes the number of the next batch.
    pub(crate) fn take_call(&mut self) -> u64 {
        self.calls.take()
    }

    /// Hashes up to [`BATCH`] rows of the sender and their partners: block `number` of both keys.
    pub(crate) fn pairs(
        &self,
        call: u64,
        number: usize,
        delta: Block,
        q: &[Block],
        pairs: &mut [[Block; 2]],
    ) {
        let tweak = tweak(call, number);
        self.hash.hash_pairs(self.cpu, tweak, delta, q, pairs);
    }

    /// As [`pairs`](Hasher::pairs), of the rows from number `first` on among those of `seconds`.
    pub(crate) fn both_keys(
        &self,
        (call, number): (u64, usize),
        (seconds, first): (&SecondKeys, usize),
        q: &[Block],
        pairs: &mut [[Block; 2]],
    ) {
        let others = match seconds {
            SecondKeys::Offset(delta) => return self.pairs(call, number, **delta, q, pairs),
            SecondKeys::Each(others) => &others[first..][..q.len()],
        };
        let mut rows = Zeroizing::new([Block::ZERO; BATCH]);
        let rows = &mut rows[..q.len()];
        for (at, keys) in [q, others].into_iter().enumerate() {
            rows.copy_from_slice(keys);
            self.keys(call, number, rows);
            let hashed = pairs.iter_mut().zip(&*rows);
            hashed.for_each(|(pair, key)| pair[at] = *key);
        }
    }

    /// Replaces up to [`BATCH`] rows by block `number` of their keys.
    pub(crate) fn keys(&self, call: u64, number: usize, rows: &mut [Block]) {
        self.hash.hash(self.cpu, tweak(call, number), rows);
    }

    /// Hashes rows of the sender to bits, 128 a block: one bit of the key of choice 0, and its sum
    /// with that of choice 1. The rows of a call may come in parts, each with the number of its
    /// first key.
    pub(crate) fn pair_bits(
        &self,
        call: (u64, u32),
        seconds: &SecondKeys,
        q: &[Block],
        bits: [&mut [Block]; 2],
    ) {
        let cpu = self.cpu;
        let others = match seconds {
            SecondKeys::Offset(delta) => return self.bits.hash_pairs(cpu, call, **delta, q, bits),
            SecondKeys::Each(others) => others,
        };
        let [zeros, sums] = bits;
        self.bits.hash(cpu, call, q, zeros);
        self.bits.hash(cpu, call, others, sums);
        add(sums, zeros);
    }

    /// Hashes rows of the receiver to the same bits.
    pub(crate) fn bits(&self, call: (u64, u32), t: &[Block], bits: &mut [Block]) {
        self.bits.hash(self.cpu, call, t, bits);
    }

    /// Hashes rows of the sender to up to 128 bits, which it adds to planes: those of the key of
    /// choice 0, and their sums with those of choice 1.
    pub(crate) fn pair_planes(
        &self,
        call: (u64, u32),
        seconds: &SecondKeys,
        q: &[Block],
        planes: [&mut [&mut [Block]]; 2],
    ) {
        let cpu = self.cpu;
        let [zeros, sums] = planes;
        let others = match seconds {
            SecondKeys::Offset(delta) => {
                let planes = [zeros, sums];
                return self.bits.hash_pair_planes(cpu, call, **delta, q, planes);
            }
            SecondKeys::Each(others) => others,
        };
        // What the first keys change the zeros by is a part of the sums.
        let add_all = |sums: &mut [&mut [Block]], zeros: &[&mut [Block]]| {
            sums.iter_mut()
                .zip(zeros)
                .for_each(|(sum, zero)| add(sum, zero));
        };
        add_all(sums, zeros);
        self.bits.hash_planes(cpu, call, q, zeros);
        add_all(sums, zeros);
        self.bits.hash_planes(cpu, call, others, sums);
    }

    /// Hashes rows of the receiver to the same bits, and adds them to planes.
    pub(crate) fn planes(&self, call: (u64, u32), t: &[Block], planes: &mut [&mut [Block]]) {
        self.bits.hash_planes(self.cpu, call, t, planes);
    }
}

fn add(to: &mut [Block], of: &[Block]) {
    to.iter_mut().zip(of).for_each(|(to, of)| *to ^= *of);
}

/// The tweak of block `number` of the keys of a batch.
fn tweak(call: u64, number: usize) -> Tweak {
    Tweak {
        call,
        gate: u32::try_from(number).expect("a string has 2^32 blocks at most"),
        ..Tweak::default()
    }
}

/// A sender of correlated OTs with the hash of its rows: a sender of random OTs.
pub struct HashedSender<S> {
    /// The correlated OTs.
    pub cot: S,
    /// The hash, which no other source of OTs shares.
    pub hasher: Hasher,
}

/// A receiver of correlated OTs with the hash of its rows: a receiver of random OTs.
pub struct HashedReceiver<R> {
    /// The correlated OTs.
    pub cot: R,
    /// The hash, which no other source of OTs shares.
    pub hasher: Hasher,
}

impl<S: CotSender> HashedSender<S> {
    /// Joins correlated OTs of this party with their hash; `label` as in [`Hasher::new`].
    pub fn new(cpu: Cpu, mesh: &Mesh, cot: S, label: &'static str) -> HashedSender<S> {
        let hasher = Hasher::new(cpu, mesh.session(), mesh.me(), cot.terms().peer, label);
        HashedSender { cot, hasher }
    }
}

impl<R: CotReceiver> HashedReceiver<R> {
    /// Joins correlated OTs of this party with their hash; `label` as in [`Hasher::new`].
    pub fn new(cpu: Cpu, mesh: &Mesh, cot: R, label: &'static str) -> HashedReceiver<R> {
        let hasher = Hasher::new(cpu, mesh.session(), cot.terms().peer, mesh.me(), label);
        HashedReceiver { cot, hasher }
    }
}

impl<S: CotSender> RandomSender for HashedSender<S> {
    fn random(&mut self, mesh: &mut Mesh, pairs: &mut [[Block; 2]]) -> Result<()> {
        let HashedSender { cot, hasher } = self;
        let count = pairs.len();
        // The rows come to the second half of `pairs`, which needs no memory of its own: writing
        // the pairs of a batch reaches no row that comes after it.
        cot.extend(mesh, &mut pairs.as_flattened_mut()[count..])?;
        let delta = Zeroizing::new(cot.delta());
        let mut q = Zeroizing::new([Block::ZERO; BATCH]);
        for first in (0..count).step_by(BATCH) {
            let q = &mut q[..BATCH.min(count - first)];
            q.copy_from_slice(&pairs.as_flattened()[count + first..][..q.len()]);
            let call = hasher.take_call();
            hasher.pairs(call, 0, *delta, q, &mut pairs[first..][..q.len()]);
        }
        Ok(())
    }
}

impl<R: CotReceiver> RandomReceiver for HashedReceiver<R> {
    fn random(&mut self, mesh: &mut Mesh, choices: &mut [Block], keys: &mut [Block]) -> Result<()> {
        let HashedReceiver { cot, hasher } = self;
        cot.extend(mesh, choices, keys)?;
        for keys in keys.chunks_mut(BATCH) {
            let call = hasher.take_call();
            hasher.keys(call, 0, keys);
        }
        Ok(())
    }
}

impl<S: CotSender> ChosenSender for HashedSender<S> {
    fn chosen(&mut self, mesh: &mut Mesh, length: usize, strings: [&[Block]; 2]) -> Result<()> {
        send_chosen(&mut self.cot, &mut self.hasher, mesh, length, strings)
    }
}

impl<R: CotReceiver> ChosenReceiver for HashedReceiver<R> {
    fn chosen(
        &mut self,
        mesh: &mut Mesh,
        length: usize,
        choices: &[u8],
        strings: &mut [Block],
    ) -> Result<()> {
        let HashedReceiver { cot, hasher } = self;
        receive_chosen(cot, hasher, mesh, length, choices, strings)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sealane_block::Coins;
    use std::collections::HashSet;

    /// The same rows in several sessions, roles, sources, calls and blocks of strings.
    #[test]
    fn no_two_hashes_of_one_row_are_the_same() {
        let (cpu, mut rows) = (Cpu::best(), [Block::ZERO; 128]);
        Coins::danger_fixed_seed(1).secret("rows").fill(&mut rows);
        let mut hashes = HashSet::new();
        for number in 0..8 {
            let [session, sender, label] = [0, 1, 2].map(|bit| number >> bit & 1);
            let session = SessionId::new(&[session; 32], &[]);
            let (sender, receiver) = (PartyId(sender), PartyId(1 - sender));
            let label = ["one", "other"][usize::from(label)];
            let mut hasher = Hasher::new(cpu, session, sender, receiver, label);
            for call in [hasher.take_call(), hasher.take_call()] {
                let mut keys = [rows; 2];
                (0..2).for_each(|number| hasher.keys(call, number, &mut keys[number]));
                let mut bits = [[Block::ZERO]; 6];
                let [of_receiver, zeros, sums, plane, zero_plane, sum_plane] = &mut bits;
                // The keys of one call.
                let call = hasher.take_call();
                hasher.bits((call, 0), &rows, of_receiver);
                let seconds = SecondKeys::Offset(Zeroizing::new(Block::ONES));
                hasher.pair_bits((call, 1), &seconds, &rows, [zeros, sums]);
                hasher.planes((call, 2), &rows, &mut [plane]);
                let planes: [&mut [&mut [Block]]; 2] = [&mut [zero_plane], &mut [sum_plane]];
                hasher.pair_planes((call, 3), &seconds, &rows, planes);
                let hashed = [keys.as_flattened(), bits.as_flattened()].concat();
                hashes.extend(hashed.into_iter().map(Block::value));
            }
        }
        assert_eq!(hashes.len(), 8 * 2 * (2 * rows.len() + 6));
    }
}
