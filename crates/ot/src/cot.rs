//! Correlated OT with one fixed offset, extended from 128 base OTs.
//!
//! Ishai, Kilian, Nissim and Petrank, "Extending Oblivious Transfers Efficiently" (CRYPTO 2003,
//! Section 3), with pseudorandom columns and in the correlated form of Asharov, Lindell, Schneider
//! and Zohner, "More Efficient Oblivious Transfer and Extensions for Faster Secure Computation"
//! (CCS 2013, Section 5). The roles of the base OTs are exchanged: the sender of correlated OTs is
//! their receiver, with the bits of the offset `delta` as choices.
//!
//! ```text
//! receiver: seeds k_i^0 and k_i^1, choices x      sender: seeds k_i^{delta_i}   (i = 0 .. 127)
//! t_i = G(k_i^0)
//! u_i = t_i ^ G(k_i^1) ^ x        --- u_i -->     q_i = G(k_i^{delta_i}) ^ delta_i * u_i
//!                                                     = t_i ^ delta_i * x
//! ```
//!
//! These are columns with one bit for each OT. Read by rows, the sender holds `q_j` and the
//! receiver `t_j = q_j ^ x_j * delta`, which are the outputs.
//!
//! # Layout and memory
//! An extension runs in chunks of [`CHUNK_OTS`] OTs, of which the last may be shorter; it is padded
//! with choices 0 to a multiple of [`GROUP`]. A chunk is 128 column pieces after one another, each
//! of one block (128 OTs) or more. Both sides finish a chunk before they touch the next, so memory
//! stays at two or three chunks however many OTs are asked for.
//!
//! ```text
//! |<------------- chunk 0 ------------->|<- chunk 1 -> ...
//! | u_0: 64 blocks | u_1 | ... | u_127 | u_0 | u_1 | ...
//! ```
//!
//! The generators `G` are never rewound, so any number of extensions follow one set-up. `G(k)` is
//! AES-128 in counter mode under a key and at a start that BLAKE3 derives from the 256 bits of `k`,
//! the session's identifier and a label: see [`sealane_block::prg`].
//!
//! # Security
//! Semi-honest, if `G` is a pseudorandom generator: the sender knows one seed of each pair, so each
//! `u_i` is masked by the other seed's stream and hides `x`; the receiver gets no message at all.
//! Choices of the padding are known, so the sender knows some blocks of the stream under the seed
//! that it lacks. Each column begins at a random place of its own, so that a search for keys tests
//! one column of one run at a time, and not all columns of all runs.
//!
//! There is **no hash** at the end, unlike in OTs of chosen or random strings, where rows must be
//! made independent of each other and of `delta`. Here the correlation is the point: the garbler
//! takes `q_j` as the zero label of an input wire, and `q_j`, `q_j ^ delta` have the distribution
//! that free XOR gives any other wire: `q_j` is pseudorandom to a party that does not know `delta`,
//! and `delta` is the offset that it already uses. Both labels go nowhere but into the garbling
//! hash, which has to be circular correlation robust for that offset anyway (Choi, Katz, Kumaresan
//! and Zhou, TCC 2012), so these OTs add no assumption. **The outputs must not be used as one-time
//! pads or keys in any other way**: all pairs differ by the same `delta`, so a party that learns
//! both blocks of one OT knows both blocks of all. Bit 0 of the garbler's `delta` is 1, so 127 of
//! its bits are secret; nothing here relies on it.
//!
//! # What it does not withstand
//! * A corrupt receiver may use another `x` in column `i` than in the rest, say different in row
//!   `j`. Row `j` is then a valid label only if `delta_i` is 0 (or 1, as it likes), and whether the
//!   run goes on to a correct result tells it that bit. One such row for each bit yields `delta`,
//!   and with it every input of the garbler. Consistency checks stop this (Keller, Orsini and
//!   Scholl, CRYPTO 2015; Roy, CRYPTO 2022); they are not here yet.
//! * A corrupt receiver may try many secrets of the base OTs and keep the one whose outputs `t_j`
//!   it likes best, so its labels are not exactly uniform.
//! * A corrupt sender can only choose a `delta` other than the one it garbles with, which fails for
//!   choices 1 and so makes a run's success depend on inputs: this is the selective-failure attack,
//!   which every semi-honest garbling protocol leaves open.

use crate::{
    OtError,
    base::{self, OTS, Roles},
};
use sealane_block::{Block, Coins, Cpu, Prg, Seed, transpose};
use sealane_net::{Mesh, SessionId};
use sealane_parties::PartyId;
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

/// Number of OTs in a full chunk: 128 KiB on the wire, and columns of 1 KiB, long enough to keep
/// the lanes of the generators full.
const CHUNK_OTS: usize = 8192;
/// Number of OTs in one block of a column, and the number of columns.
const GROUP: usize = 128;

/// Sender of correlated OTs with one fixed offset `delta`: it gets `q_j`, the receiver gets `q_j ^
/// choice_j * delta`. With `delta` the garbler's free-XOR offset, `q_j` is a zero label.
pub struct CotSender {
    cpu: Cpu,
    peer: PartyId,
    delta: Block,
    /// Generator of column `i`, seeded with the key that bit `i` of `delta` chose.
    columns: Vec<Prg>,
}

impl CotSender {
    /// Runs the base OTs, as their receiver with the bits of `delta` as choices. Blocking: one
    /// message in (32 bytes), one message out ([`SETUP_REPLY_BYTES`](crate::SETUP_REPLY_BYTES)),
    /// which the caller flushes.
    ///
    /// Errors: [`OtError::BadPoint`] if the opening is no point, [`OtError::Net`] if it does not
    /// come.
    pub fn setup(
        cpu: Cpu,
        mesh: &mut Mesh,
        peer: PartyId,
        delta: Block,
        coins: &mut Coins,
    ) -> Result<CotSender, OtError> {
        let roles = Roles {
            session: mesh.session(),
            sender: peer,
            receiver: mesh.me(),
        };
        let mut opening = [0; base::POINT_BYTES];
        mesh.recv(peer, &mut opening)?;
        let received = base::receive(roles, &opening, delta, coins)
            .map_err(|base::MalformedPoint| OtError::BadPoint(peer))?;
        mesh.send(peer, &received.reply)?;
        let columns = received
            .keys
            .iter()
            .map(|seed| column(cpu, seed, roles.session))
            .collect();
        Ok(CotSender {
            cpu,
            peer,
            delta,
            columns,
        })
    }

    /// Reads one extension message ([`extend_bytes`](crate::extend_bytes) of `zero_labels.len()`)
    /// and fills the labels. The receiver must have asked for as many.
    pub fn extend(&mut self, mesh: &mut Mesh, zero_labels: &mut [Block]) -> Result<(), OtError> {
        let mut columns = chunk_buffer(zero_labels.len());
        let mut streams = chunk_buffer(zero_labels.len());
        for labels in zero_labels.chunks_mut(CHUNK_OTS) {
            let width = labels.len().div_ceil(GROUP);
            let columns = &mut columns[..width * GROUP];
            let streams = &mut streams[..width * GROUP];
            mesh.recv(self.peer, Block::as_bytes_mut(columns))?;
            let pieces = columns
                .chunks_exact_mut(width)
                .zip(streams.chunks_exact_mut(width));
            for (i, ((column, stream), generator)) in pieces.zip(&mut self.columns).enumerate() {
                // q_i = G(k_i^{delta_i}) ^ delta_i * u_i, with the bit spread to a mask.
                let mask = Block::mask((self.delta.value() >> i) as u8);
                generator.fill(stream);
                for (block, &random) in column.iter_mut().zip(&*stream) {
                    *block = (*block & mask) ^ random;
                }
            }
            to_rows(self.cpu, columns, streams, labels);
        }
        Ok(())
    }
}

/// The generators erase themselves.
impl Drop for CotSender {
    fn drop(&mut self) {
        self.delta.zeroize();
    }
}

impl ZeroizeOnDrop for CotSender {}

/// Receiver of correlated OTs.
pub struct CotReceiver {
    cpu: Cpu,
    peer: PartyId,
    /// Generators of column `i` from both its seeds. They erase themselves.
    columns: Vec<[Prg; 2]>,
}

impl CotReceiver {
    /// Runs the base OTs, as their sender: writes the opening (32 bytes), flushes, reads the reply.
    ///
    /// Errors: [`OtError::BadPoint`] if a point of the reply is none, [`OtError::Net`] if the reply
    /// does not come.
    pub fn setup(
        cpu: Cpu,
        mesh: &mut Mesh,
        peer: PartyId,
        coins: &mut Coins,
    ) -> Result<CotReceiver, OtError> {
        let roles = Roles {
            session: mesh.session(),
            sender: mesh.me(),
            receiver: peer,
        };
        let base = base::Sender::new(roles, coins);
        mesh.send(peer, base.opening())?;
        mesh.flush()?;
        let mut reply = [0; base::REPLY_BYTES];
        mesh.recv(peer, &mut reply)?;
        let seeds = base
            .keys(&reply)
            .map_err(|base::MalformedPoint| OtError::BadPoint(peer))?;
        let columns = seeds
            .iter()
            .map(|pair| pair.each_ref().map(|seed| column(cpu, seed, roles.session)))
            .collect();
        Ok(CotReceiver { cpu, peer, columns })
    }

    /// Writes one extension message for `choices` (one byte each, 0 or 1; not flushed) and fills
    /// the labels. Nothing is read: an extension is one message.
    ///
    /// # Panics
    /// If `choices` and `labels` differ in length. Of each choice only bit 0 counts.
    pub fn extend(
        &mut self,
        mesh: &mut Mesh,
        choices: &[u8],
        labels: &mut [Block],
    ) -> Result<(), OtError> {
        assert_eq!(choices.len(), labels.len(), "one label for each choice");
        let mut columns = chunk_buffer(labels.len());
        let mut masked = chunk_buffer(labels.len());
        let mut packed = Zeroizing::new([Block::ZERO; CHUNK_OTS / GROUP]);
        for (choices, labels) in choices.chunks(CHUNK_OTS).zip(labels.chunks_mut(CHUNK_OTS)) {
            let width = labels.len().div_ceil(GROUP);
            let packed = &mut packed[..width];
            let columns = &mut columns[..width * GROUP];
            let masked = &mut masked[..width * GROUP];
            pack(choices, packed);
            let pieces = columns
                .chunks_exact_mut(width)
                .zip(masked.chunks_exact_mut(width));
            for ((column, masked), [zero, one]) in pieces.zip(&mut self.columns) {
                // t_i = G(k_i^0), u_i = t_i ^ G(k_i^1) ^ x.
                zero.fill(column);
                one.fill(masked);
                for ((u, &t), &x) in masked.iter_mut().zip(&*column).zip(&*packed) {
                    *u = *u ^ t ^ x;
                }
            }
            mesh.send(self.peer, Block::as_bytes(masked))?;
            to_rows(self.cpu, columns, masked, labels);
        }
        Ok(())
    }
}

impl ZeroizeOnDrop for CotReceiver {}

/// Creates the generator of a column.
fn column(cpu: Cpu, seed: &Seed, session: SessionId) -> Prg {
    seed.stream("ot: column", session.as_bytes()).prg(cpu)
}

/// Allocates the columns of one chunk of an extension of `count` OTs; erased when dropped.
fn chunk_buffer(count: usize) -> Zeroizing<Vec<Block>> {
    Zeroizing::new(vec![
        Block::ZERO;
        count.min(CHUNK_OTS).next_multiple_of(GROUP)
    ])
}

/// Turns the columns of a chunk into rows and drops the rows of the padding. `rows` is room of the
/// same size as `columns`.
fn to_rows(cpu: Cpu, columns: &[Block], rows: &mut [Block], labels: &mut [Block]) {
    transpose(cpu, columns, rows);
    labels.copy_from_slice(&rows[..labels.len()]);
}

/// Packs choices, 128 a block, the first into bit 0. The rest of the last block is 0.
fn pack(choices: &[u8], packed: &mut [Block]) {
    for (block, choices) in packed.iter_mut().zip(choices.chunks(GROUP)) {
        let mut bytes = Zeroizing::new([0; 16]);
        for (byte, choices) in bytes.iter_mut().zip(choices.chunks(8)) {
            let mut eight = Zeroizing::new([0; 8]);
            eight[..choices.len()].copy_from_slice(choices);
            // Bit 8a, choice a, is moved by 56 - 7a to bit 56 + a by one of the factor's bits; the
            // other products stay below bit 56, each at a place of its own, or leave at the top.
            let spread = u64::from_le_bytes(*eight) & 0x0101_0101_0101_0101;
            *byte = (spread.wrapping_mul(0x0102_0408_1020_4080) >> 56) as u8;
        }
        *block = Block::from_bytes(*bytes);
    }
}

const _: () = assert!(OTS == GROUP && CHUNK_OTS.is_multiple_of(GROUP));
