//! Random OTs of one of `N` strings, `N = 2^b` for `b` of 2, 4 and 8, and from these of one of up
//! to `2^64` strings ([`large`]).
//!
//! # The protocol
//! The extension of the [module above](super), with words of a binary code `C` for choices in place
//! of one bit that all trees repeat (Roy, "SoftSpokenOT", CRYPTO 2022, one of many OT from subspace
//! VOLE; first Kolesnikov and Kumaresan, CRYPTO 2013, and Orru, Orsini and Scholl, CT-RSA 2017,
//! both with trees of two leaves). With `n` trees of `2^k` leaves and `x_j` the choice of OT `j`,
//! in `b` bits, the receiver ends with rows `t_j = q_j ^ C(x_j) * delta`: symbol `i` of the word by
//! the `k` bits of `delta` that belong to tree `i`. The sender knows the row of any choice `c`,
//!
//! ```text
//! q_j ^ C(c) * delta = t_j ^ C(x_j ^ c) * delta
//! ```
//!
//! and this differs from the receiver's by at least `d k` bits of `delta`, where `d` is the least
//! weight of a word.
//!
//! | `b` | `k` | `n` | `d` | bits an OT, `n - b` | AES blocks an OT, each side |
//! |---|---|---|---|---|---|
//! | 2 | 4 | 54 | 36 | 52 | 7 |
//! | 2 | 6 | 36 | 24 | 34 | 18 |
//! | 2 | 8 | 27 | 18 | 25 | 54 |
//! | 4 | 4 | 70 | 36 | 66 | 9 |
//! | 4 | 6 | 45 | 24 | 41 | 23 |
//! | 4 | 8 | 37 | 18 | 33 | 74 |
//! | 8 | 4 | 81 | 36 | 73 | 10 |
//! | 8 | 6 | 51 | 24 | 43 | 26 |
//! | 8 | 8 | 44 | 18 | 36 | 88 |
//!
//! Words are sequences of a linear recurrence over one bit, so a word takes some sums of columns.
//! For `b = 8` and `k = 6` it is the cyclic code `[51, 8, 24]`. The other way to `N` strings is a
//! VOLE over GF(N) with a repetition code of `128 / b` symbols. It takes `128 - b` bits, 120
//! instead of 43 for 256 strings, and 256 AES blocks instead of 26, since every leaf has to give
//! `b` bits an OT.
//!
//! # Rows of one block
//! A row has `n k` bits, up to 352. Both parties cut it into blocks `r_0, r_1, r_2` of 128 bits and
//! take `L(r) = r_0 + a r_1 + a^2 r_2` in GF(2^128), with `a` a constant. `L` is linear, so
//! `L(t_j) = L(q_j) + L(C(x_j) * delta)`, and for no word but zero it loses anything that matters:
//! the bits of `delta` that a word selects, 144 or more, have images of rank 128 (a test computes
//! all ranks), so `L(C(c) * delta)` is uniform for uniform `delta`. Where a corrupt receiver has
//! guessed the bits of `g` trees, `k g` of them, the rank is at least `128 - k g`.
//!
//! The key of string `c` is the hash MI of `L(q_j ^ C(c) * delta)`, with number of the OT and `c`
//! in the tweak: every key of AES serves one block.
//!
//! # Security
//! As the module above, with the same check for the malicious form and its argument in
//! [`subspace`](super): semi-honest, or malicious with selective leakage of `delta`, of which any
//! `c` bits cost the receiver probability `1 - 2^-c` to be caught. The hash makes keys of it that
//! are independent, with AES an ideal cipher. Keys are **endemic**: a corrupt party may have an
//! influence on its own.

pub mod large;
mod receiver;
mod sender;

pub use receiver::{ReceiverSetup, Request, StringsReceiver};
pub use sender::{Keys, SenderSetup, StringsSender};

use super::subspace::{Code, PIECE, Piece, ROWS, Subspace};
use crate::{Flights, Security};
use sealane_block::gf::{self, Order};
use sealane_block::hash::Mi;
use sealane_block::{Block, Cpu, LabelHash, Tweak, transpose};
use sealane_net::SessionId;
use sealane_parties::PartyId;
use zeroize::Zeroizing;

/// The most blocks of a row.
const GROUPS: usize = 3;

/// The constant of `L`: the first 128 bits of the golden ratio's fraction.
const FOLD: Block = Block::new(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c834);

/// Parameters: how many strings, and the trees. Both parties use the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct OneOfN {
    bits: u8,
    k: u8,
    security: Security,
}

impl OneOfN {
    /// One of `2^bits` strings, from trees of `2^k` leaves.
    ///
    /// # Panics
    /// If `bits` is none of 2, 4 and 8, or `k` none of 4, 6 and 8.
    pub const fn new(bits: u8, k: u8, security: Security) -> OneOfN {
        let parameters = OneOfN { bits, k, security };
        // Refuses others.
        parameters.code();
        parameters
    }

    /// Length and taps of the code. Its least weight, times `k`, is 144.
    const fn code(self) -> (usize, u8) {
        match (self.bits, self.k) {
            (2, 4) => (54, 0x03),
            (2, 6) => (36, 0x03),
            (2, 8) => (27, 0x03),
            (4, 4) => (70, 0x09),
            (4, 6) => (45, 0x09),
            (4, 8) => (37, 0x09),
            (8, 4) => (81, 0xf9),
            (8, 6) => (51, 0xf3),
            (8, 8) => (44, 0xf3),
            _ => panic!("strings are 2^2, 2^4 or 2^8, leaves 2^4, 2^6 or 2^8"),
        }
    }

    pub(super) const fn subspace(self) -> Subspace {
        let (length, taps) = self.code();
        Subspace {
            k: self.k as usize,
            columns: length * self.k as usize,
            code: Code {
                bits: self.bits as usize,
                taps,
            },
            security: self.security,
        }
    }

    /// Bits of a choice.
    pub const fn bits(self) -> u32 {
        self.bits as u32
    }

    /// Number of strings, `N`.
    pub const fn strings(self) -> usize {
        1 << self.bits
    }

    /// Messages of the set-up.
    pub fn set_up_flights(self) -> Flights {
        self.subspace().set_up_flights()
    }

    /// Messages of one extension of `count` OTs with random choices.
    pub fn flights(self, count: u64) -> Flights {
        self.subspace().extend_flights(count)
    }

    /// Bytes by which the receiver tells how `count` choices differ from the random ones.
    pub const fn given_bytes(self, count: u64) -> u64 {
        (count * self.bits as u64).div_ceil(8)
    }

    /// Bytes of the sender's answer for `count` OTs of strings of `length` blocks.
    pub const fn chosen_bytes(self, count: u64, length: u64) -> u64 {
        (count * length * 16) << self.bits
    }
}

/// Memory of [`fold`].
struct Scratch {
    padded: Zeroizing<Vec<Block>>,
    rows: Zeroizing<Vec<Block>>,
    factors: Vec<Block>,
}

impl Scratch {
    fn new() -> Scratch {
        let piece = || Zeroizing::new(vec![Block::ZERO; ROWS * PIECE]);
        Scratch {
            padded: piece(),
            rows: piece(),
            factors: vec![FOLD; ROWS * PIECE],
        }
    }
}

/// Fills `out` with `L` of the rows of a piece.
fn fold(cpu: Cpu, piece: &Piece, columns: &[Block], scratch: &mut Scratch, out: &mut [Block]) {
    let blocks = ROWS * piece.width;
    let rows = &mut scratch.rows[..blocks];
    out.fill(Block::ZERO);
    // Horner's rule, from the last block of the rows.
    for (i, columns) in columns.chunks(blocks).rev().enumerate() {
        let padded = &mut scratch.padded[..blocks];
        let columns = if columns.len() == blocks {
            columns
        } else {
            padded.fill(Block::ZERO);
            padded[..columns.len()].copy_from_slice(columns);
            padded
        };
        transpose(cpu, columns, rows);
        if i > 0 {
            gf::mul_each(cpu, Order::Polynomial, out, &scratch.factors[..out.len()]);
        }
        let rows = &rows[piece.hidden * ROWS..][..piece.count];
        out.iter_mut().zip(rows).for_each(|(out, &row)| *out ^= row);
    }
}

/// Returns `L` of one row.
fn fold_row(cpu: Cpu, row: &[Block; GROUPS]) -> Block {
    let step = |sum, &block: &Block| gf::mul(cpu, Order::Polynomial, sum, FOLD) ^ block;
    row.iter().rev().fold(Block::ZERO, step)
}

/// `C(choice) * delta`: the bits of `delta` in the trees where the word of a choice is 1.
fn selected(parameters: Subspace, delta: &[Block], choice: u8) -> Zeroizing<[Block; GROUPS]> {
    let word = parameters.code.word(choice, parameters.trees());
    let mut selected = Zeroizing::new([Block::ZERO; GROUPS]);
    for (i, columns) in parameters.columns().enumerate() {
        for column in columns.filter(|_| word >> i & 1 == 1) {
            let bit = delta[column / 128].value() & 1 << (column % 128);
            selected[column / 128] ^= Block::new(bit);
        }
    }
    selected
}

/// The hash of one extension after another, which both parties number alike.
struct Hash {
    cpu: Cpu,
    hash: Mi,
    calls: u64,
}

impl Hash {
    /// The hash of the OTs between a sender and a receiver.
    fn new(parameters: OneOfN, cpu: Cpu, session: SessionId, parties: [PartyId; 2]) -> Hash {
        let mut seed = [0; 16];
        blake3::Hasher::new_derive_key("sealane 7 ot one of many")
            .update(session.as_bytes())
            .update(&parties.map(|party| party.0))
            .update(&[parameters.bits, parameters.k])
            .finalize_xof()
            .fill(&mut seed);
        let (hash, calls) = (Mi::new(cpu, Block::from_bytes(seed)), 0);
        Hash { cpu, hash, calls }
    }

    fn next(&mut self) -> Call {
        self.calls += 1;
        let (cpu, hash, call) = (self.cpu, self.hash.clone(), self.calls - 1);
        Call { cpu, hash, call }
    }
}

/// The hash of one extension.
struct Call {
    cpu: Cpu,
    hash: Mi,
    call: u64,
}

impl Call {
    /// The tweak of block `number` of the key of OT `j` and the string that the random choice
    /// `choice` stands for.
    fn tweak(&self, number: usize, j: usize, choice: u8) -> Block {
        let tweak = Tweak {
            gate: u32::try_from(number).expect("a string has 2^32 blocks at most"),
            call: self.call,
            row: u32::try_from(j).expect("an extension has 2^32 OTs at most"),
            part: u32::from(choice),
        };
        tweak.check(1);
        tweak.block()
    }
}

#[cfg(test)]
mod tests;
#[cfg(test)]
pub(super) mod vectors;
