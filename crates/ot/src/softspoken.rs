//! SoftSpoken OT: correlated OTs from 128 base OTs, with symmetric cryptography alone.
//!
//! Roy, "SoftSpokenOT: Quieter OT Extension from Small-Field Silent VOLE in the Minicrypt Model"
//! (CRYPTO 2022). With `k = 1` and without checks it is the protocol of Ishai, Kilian, Nissim and
//! Petrank (CRYPTO 2003) in the form of Asharov, Lindell, Schneider and Zohner (CCS 2013), "IKNP".
//!
//! Base OTs, whose receiver is the sender of correlated OTs with the bits of its offset `delta` as
//! choices, and one message make `128 / k` trees of `2^k` leaves (module `tree`). The receiver
//! knows every leaf `r_y`; the sender all but the one whose number is its piece `delta_i` of `k`
//! bits. For `k` that does not divide 128 the last tree is smaller.
//!
//! ```text
//! receiver, for tree i                        sender
//! u_i = sum_y r_y                             w_i = sum_y (y ^ delta_i) r_y
//! v_i = sum_y y r_y                               = v_i ^ delta_i u_i
//! x = u_0, random choices
//! d_i = u_i ^ x for i > 0     --- d_i -->     q_i = w_i ^ delta_i d_i = v_i ^ delta_i x
//! ```
//!
//! Sums and products are those of GF(2^k), bit by bit for each OT; a product with a constant choice
//! bit `x` needs no field at all. Read by rows, the sender holds `q_j` and the receiver `t_j = v_j
//! = q_j ^ x_j delta`.
//!
//! A larger `k` sends fewer bits (`128 / k - 1` an OT) and takes more AES (`2^k / k` blocks an OT,
//! on both sides).
//!
//! # The check
//! A corrupt receiver may send a `d_i` of another `x` than the rest. Then `q_j` depends on bits of
//! `delta`, and any use of it that can fail tells the receiver some of them. With
//! [`Security::Malicious`] (Roy's check of subspace VOLE), both parties hash their 128 columns by a
//! random linear function `R` ([`column_hash`](sealane_block::column_hash)), the receiver sends
//! `R(x)` and a hash of all `R(v_b)`, and the sender compares with `R(q_b) ^ delta_b R(x)`. A
//! receiver that deviates passes only if it guesses the bits of `delta` that its deviation touches:
//! it learns `c` bits and is caught with probability `1 - 2^-c`. One block of 128 OTs a call hides
//! `R(x)` and is dropped.
//!
//! `R` is made of one key for each piece of 4096 OTs, derived from everything that the receiver has
//! sent in this session up to and including the corrections of this piece (Fiat and Shamir). So the
//! extension stays one message. A receiver that tries `T` variants of its messages in a session
//! finds one that passes without a guess with probability at most `32 T / 2^128`, and one that
//! saves it a part of a guess, since two of `n` trees collide, with `n^2 / 2` times that.
//!
//! # Layout and memory
//! An extension runs in pieces of 4096 OTs, of which the last may be shorter; it is padded to a
//! multiple of 128. Each is 128 columns of up to 32 blocks, 64 KiB, which stay in the cache until
//! rows are made of them, so memory does not grow with the number of OTs.
//!
//! # Security
//! Assumes what the base OTs assume, and that BLAKE3 is a random oracle; streams of leaves are
//! AES-128 in counter mode under keys and at starts of their own ([`sealane_block::prg`]).
//! Security is semi-honest, or malicious with selective leakage of `delta` as above, which is the
//! functionality of the paper. **After a failed check the sender is of no use: its `delta` and
//! what came from it must be destroyed**, or the leaks of several attempts would add up.
//!
//! There is **no hash** at the end. All pairs differ by the same `delta`, so outputs are for uses
//! that are correlation robust: garbling labels with that offset, and the hashes of
//! [`forms`](crate::forms). They must not be used as pads or keys themselves.

#[cfg(test)]
mod attacks;
pub mod one_of_n;
mod receiver;
mod sender;
mod subspace;
mod tree;
#[cfg(test)]
mod vectors;

pub use receiver::{Receiver, ReceiverSetup};
pub use sender::{Sender, SenderSetup};

use crate::traits::CotCost;
use crate::{Flights, Security};
use sealane_block::{Block, Cpu, transpose};
use sealane_parties::NetworkClass;
use subspace::{Code, Piece, Subspace};

/// Bits of the offset, and so the number of columns.
const COLUMNS: usize = 128;

/// Parameters of an extension. Both parties use the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SoftSpoken {
    k: u8,
    security: Security,
}

impl SoftSpoken {
    /// IKNP in the form of Asharov and others: semi-honest, 127 bits an OT.
    pub const IKNP: SoftSpoken = SoftSpoken {
        k: 1,
        security: Security::SemiHonest,
    };

    /// Trees of `2^k` leaves.
    ///
    /// # Panics
    /// If `k` is 0 or over 8.
    pub const fn new(k: u8, security: Security) -> SoftSpoken {
        assert!(1 <= k && k <= 8, "k is 1 to 8");
        SoftSpoken { k, security }
    }

    /// The malicious form that suits a network: where bytes cost more than AES, the one with half
    /// of them.
    pub const fn on(network: NetworkClass) -> SoftSpoken {
        let k = if network.spares_bytes() { 8 } else { 4 };
        SoftSpoken::new(k, Security::Malicious)
    }

    /// Bits of security that are proved. With the check, against a receiver that deviates: after
    /// `T` challenges, a variant of a message that saves a part of a guess exists with probability
    /// at most `32 T n^2 / 2^129`, for `n` trees (above). Without, the key of the generator.
    pub const fn proved_bits(self) -> u32 {
        match self.security {
            Security::SemiHonest => 128,
            Security::Malicious => {
                let trees = COLUMNS.div_ceil(self.k as usize);
                129 - 5 - (trees * trees).next_power_of_two().trailing_zeros()
            }
        }
    }

    /// The extension beneath: `128 / k` trees, rounded up, and one choice for all.
    const fn subspace(self) -> Subspace {
        Subspace {
            k: self.k as usize,
            columns: COLUMNS,
            code: Code::REPETITION,
            security: self.security,
        }
    }
}

impl CotCost for SoftSpoken {
    fn set_up(&self) -> Flights {
        self.subspace().set_up_flights()
    }

    fn extend(&self, _: u64, count: u64) -> Flights {
        self.subspace().extend_flights(count)
    }

    fn one_way(&self) -> bool {
        true
    }
}

/// Turns 128 columns of a piece into its rows. `rows` is scratch.
fn rows_of(cpu: Cpu, piece: &Piece, columns: &[Block], rows: &mut [Block], out: &mut [Block]) {
    if piece.hidden == 0 && piece.count == columns.len() {
        transpose(cpu, columns, out);
        return;
    }
    let rows = &mut rows[..columns.len()];
    transpose(cpu, columns, rows);
    out.copy_from_slice(&rows[piece.hidden * COLUMNS..][..piece.count]);
}
