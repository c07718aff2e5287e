//! Leaky products: authenticated bits `x`, `y`, `r`, and a part of `x y ^ r` at each party, of
//! which a party that deviates may have learnt `x`.
//!
//! Katz, Ranellucci, Rosulek, Wang ("Optimizing Authenticated Garbling", Crypto 2018, section 5).
//! With `Q_P(x) = x_P D_P ^ K_P[x] ^ M_P[x]`, party P's part of `x (D_A ^ D_B)`, each sends a row
//! and computes a part, where `O` is the other party:
//!
//! ```text
//! C_P = Q_P(y)      G_P = H(K_P[x]) ^ H(K_P[x] ^ D_P) ^ C_P
//! S_P = H(K_P[x]) ^ H(M_P[x]) ^ x_P (G_O ^ C_P) ^ Q_P(r)      S_A ^ S_B = (x y ^ r) (D_A ^ D_B)
//! ```
//!
//! `M_P[x] = K_O[x] ^ x_P D_O`, so `H(M_P[x]) ^ x_P G_O = H(K_O[x]) ^ x_P C_O`. Bit 1 of
//! `D_A ^ D_B` is 1, so bits 1 of both parts open `d = x y ^ r`, and `L_P = S_P ^ d D_P` are equal.
//!
//! **Window.** All of this is on the lowest 48 bits alone, of which 46 are secret of each offset.
//! A party that opens a false `d` needs the other's offset there for its `L`, one guess in `2^46`.
//!
//! **What leaks.** A row with an error changes the other party's part by `x_P` times this error. So
//! `L` are equal with the chance of a guess of `x_P`, 1/2, and then the guess is right. Nothing
//! else depends on a row, so nothing leaks but `x_P` of rows with errors, each at 1/2.
//!
//! The hash has a key for each batch, layer, direction and item. It meets two inputs under each.

use super::batch::Shape;
use crate::bits::{Bits, bit, pack};
use sealane_block::hash::Mi;
use sealane_block::{Block, Cpu, LabelHash, Tweak};
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

/// Bytes of a row.
pub(crate) const ROW_BYTES: usize = 6;

/// The bits of a window.
const WINDOW: u64 = (1 << (8 * ROW_BYTES)) - 1;

/// Items whose hashes are made together.
const RUN: usize = 1 << 10;

/// The bits of a layer that an item takes, in the order in which they lie in a batch: all `x` of a
/// layer, then all `y`, then all `r`.
pub(crate) const BITS: usize = 3;

/// The lowest bits of a block.
fn window(block: Block) -> u64 {
    block.value() as u64 & WINDOW
}

/// A window where the lowest bit of `choice` is 1, and zero where it is 0, without a branch.
fn masked(value: u64, choice: u8) -> u64 {
    value & Block::mask(choice).value() as u64
}

/// One party of a batch.
#[derive(Clone, Copy)]
pub(crate) struct Place<'a> {
    pub cpu: Cpu,
    pub hash: &'a Mi,
    /// Number of the batch.
    pub number: u64,
    pub garbles: bool,
    pub offset: Block,
    pub shape: Shape,
}

/// Parts of the leaky products of a batch at one party, layer by layer.
#[derive(Zeroize, ZeroizeOnDrop)]
pub(crate) struct Leaky {
    parts: Vec<u64>,
}

impl Place<'_> {
    /// Tweaks of the hashes of keys of the garbler or of the evaluator.
    pub(crate) fn tweak(&self, layer: usize, of_garbler: bool, first: usize) -> Tweak {
        Tweak {
            gate: layer as u32,
            call: self.number,
            row: first as u32,
            part: u32::from(!of_garbler),
        }
    }

    /// This party's part of a bit times the sum of both offsets.
    fn product_part(&self, mac: Block, key: Block) -> Block {
        self.offset.masked(mac.lsb()) ^ key ^ mac
    }

    /// Makes this party's rows, and hands them out in order, a whole number of rows at a time.
    pub fn rows<E>(
        &self,
        bits: &Bits,
        mut send: impl FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<Leaky, E> {
        let Shape { bucket, products } = self.shape;
        let mut parts = Vec::with_capacity(bucket * products);
        let mut pairs = Zeroizing::new(vec![[Block::ZERO; 2]; RUN]);
        let mut hashes = Zeroizing::new(vec![Block::ZERO; RUN]);
        let mut rows = Vec::with_capacity(RUN * ROW_BYTES);
        for layer in 0..bucket {
            let [x, y, r] = [0, 1, 2].map(|of| (BITS * layer + of) * products);
            for first in (0..products).step_by(RUN) {
                let count = RUN.min(products - first);
                let (pairs, hashes) = (&mut pairs[..count], &mut hashes[..count]);
                let tweak = self.tweak(layer, self.garbles, first);
                let keys = &bits.key[x + first..][..count];
                (self.hash).hash_pairs(self.cpu, tweak, self.offset, keys, pairs);
                hashes.copy_from_slice(&bits.mac[x + first..][..count]);
                let tweak = self.tweak(layer, !self.garbles, first);
                self.hash.hash(self.cpu, tweak, hashes);
                rows.clear();
                for at in 0..count {
                    let item = first + at;
                    let of =
                        |of: usize| self.product_part(bits.mac[of + item], bits.key[of + item]);
                    let ([zero, one], common) = (pairs[at], of(y));
                    let row = window(zero ^ one ^ common);
                    rows.extend_from_slice(&row.to_le_bytes()[..ROW_BYTES]);
                    let share = bits.mac[x + item].lsb();
                    let part = zero ^ hashes[at] ^ common.masked(share) ^ of(r);
                    parts.push(window(part));
                }
                send(&rows)?;
            }
        }
        Ok(Leaky { parts })
    }

    /// Takes the other party's rows, some at a time in order, of which the first is that of item
    /// `first` of all layers in a row.
    pub fn take_rows(&self, bits: &Bits, leaky: &mut Leaky, first: usize, rows: &[u8]) {
        let products = self.shape.products;
        for (at, row) in rows.as_chunks::<ROW_BYTES>().0.iter().enumerate() {
            let (layer, item) = ((first + at) / products, (first + at) % products);
            let share = bits.mac[BITS * layer * products + item].lsb();
            let mut word = [0; 8];
            word[..ROW_BYTES].copy_from_slice(row);
            leaky.parts[first + at] ^= masked(u64::from_le_bytes(word), share);
        }
    }

    /// This party's shares of all `d`, packed.
    pub fn opened(&self, leaky: &Leaky) -> Zeroizing<Vec<u8>> {
        pack(leaky.parts.iter().map(|part| (part >> 1) as u8))
    }

    /// A digest of all `L`, from both parties' shares of `d`.
    pub fn digest(&self, leaky: &Leaky, opened: &[u8]) -> Zeroizing<[u8; 32]> {
        let mut hasher = Zeroizing::new(blake3::Hasher::new_derive_key("sealane 1 auth products"));
        let offset = window(self.offset);
        let mut bytes = Zeroizing::new(Vec::with_capacity(RUN * ROW_BYTES));
        for (run, parts) in leaky.parts.chunks(RUN).enumerate() {
            bytes.clear();
            for (at, part) in parts.iter().enumerate() {
                let equal = part ^ masked(offset, bit(opened, RUN * run + at));
                bytes.extend_from_slice(&equal.to_le_bytes()[..ROW_BYTES]);
            }
            hasher.update(&bytes);
        }
        Zeroizing::new(*hasher.finalize().as_bytes())
    }
}
