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
use crate::bits::{STEP, bit, word_at};
use sealane_block::hash::{HashLanes, Mi};
use sealane_block::{Block, Cpu, Kernel, LabelHash, Lanes, Tweak};
use std::hint::black_box;
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

/// Bytes of a row.
pub(crate) const ROW_BYTES: usize = 6;

/// A row as it is sent.
pub(crate) type Row = [u8; ROW_BYTES];

/// The bits of a window.
const WINDOW: u64 = (1 << (8 * ROW_BYTES)) - 1;

/// Items whose rows are made together: what they take fits the first cache.
const RUN: usize = 1 << 8;

/// Rows of which a digest takes the bytes at once.
const DIGESTED: usize = 1 << 13;

/// Blocks that a kernel hashes at once on any tier, at most.
const BATCH: usize = 32;

const _: () = assert!(RUN.is_multiple_of(BATCH));

/// The bits of a layer that an item takes, in the order in which they lie in a batch: all `x` of a
/// layer, then all `y`, then all `r`.
pub(crate) const BITS: usize = 3;

/// The lowest bits of a block.
fn window(block: Block) -> u64 {
    block.value() as u64 & WINDOW
}

/// A window where the lowest bit of `choice` is 1, and zero where it is 0, without a branch: see
/// [`Block::mask`].
fn masked(value: u64, choice: u64) -> u64 {
    value & black_box((choice & 1).wrapping_neg())
}

/// A window as a row.
fn row(window: u64) -> Row {
    let [a, b, c, d, e, f, ..] = window.to_le_bytes();
    [a, b, c, d, e, f]
}

/// A row as a window.
fn of_row([a, b, c, d, e, f]: Row) -> u64 {
    u64::from_le_bytes([a, b, c, d, e, f, 0, 0])
}

/// The bits of all layers at one party.
#[derive(Clone, Copy)]
pub(crate) struct Layers<'a> {
    /// Items of a layer.
    pub items: usize,
    /// MACs, and keys: `x`, `y`, `r` of each layer.
    pub mac: &'a [Block],
    pub key: &'a [Block],
    /// Bits 0 of the MACs, packed.
    pub shares: &'a [u8],
}

impl<'a> Layers<'a> {
    /// Where a kind of bits of a layer begins.
    pub fn at(self, layer: usize, of: usize) -> usize {
        (BITS * layer + of) * self.items
    }

    /// MACs and keys of a kind of bits of a layer.
    pub fn planes(self, layer: usize, of: usize) -> [&'a [Block]; 2] {
        [self.mac, self.key].map(|all| &all[self.at(layer, of)..][..self.items])
    }
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
#[derive(Default, Zeroize, ZeroizeOnDrop)]
pub(crate) struct Leaky {
    parts: Vec<u64>,
}

impl Leaky {
    #[cfg(test)]
    pub(super) fn memory(&self) -> u64 {
        (self.parts.capacity() * size_of::<u64>()) as u64
    }

    /// Room for so many parts, all of which are to be set.
    fn room(&mut self, count: usize) -> &mut [u64] {
        if self.parts.len() < count {
            self.parts.zeroize();
            self.parts = vec![0; count];
        }
        &mut self.parts[..count]
    }
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

    /// Makes this party's rows, and hands them out in order, some at a time.
    pub fn rows<E>(
        &self,
        bits: Layers<'_>,
        leaky: &mut Leaky,
        mut send: impl FnMut(&[Row]) -> Result<(), E>,
    ) -> Result<(), E> {
        let Shape { bucket, products } = self.shape;
        let parts = leaky.room(bucket * products);
        let mut rows = [[0; ROW_BYTES]; RUN];
        self.tweak(0, true, 0).check(products);
        for layer in 0..bucket {
            let planes = [0, 1, 2].map(|of| bits.planes(layer, of));
            let parts = &mut parts[layer * products..][..products];
            for first in (0..products).step_by(RUN) {
                let count = RUN.min(products - first);
                let whole = count / BATCH * BATCH;
                let (parts, rows) = (&mut parts[first..][..count], &mut rows[..count]);
                let (parts, last_parts) = parts.split_at_mut(whole);
                let (whole_rows, last_rows) = rows.split_at_mut(whole);
                let from = planes.map(|of| of.map(|plane| &plane[first..][..whole]));
                self.batches((layer, first), from, parts, whole_rows);
                if whole < count {
                    let from = planes.map(|of| of.map(|plane| &plane[first + whole..]));
                    self.last_batch((layer, first + whole), from, last_parts, last_rows);
                }
                send(rows)?;
            }
        }
        Ok(())
    }

    /// Rows and parts of whole batches of a layer, from an item on.
    fn batches(
        &self,
        (layer, first): (usize, usize),
        planes: [[&[Block]; 2]; 3],
        parts: &mut [u64],
        rows: &mut [Row],
    ) {
        let tweaks = [self.garbles, !self.garbles];
        let tweaks = tweaks.map(|of_garbler| self.tweak(layer, of_garbler, first));
        self.cpu.run(Rows {
            hash: self.hash,
            tweaks,
            offset: self.offset,
            planes,
            parts,
            rows,
        });
    }

    /// The same of fewer items than a batch has: with others, of zeros, behind them.
    fn last_batch(
        &self,
        place: (usize, usize),
        planes: [[&[Block]; 2]; 3],
        parts: &mut [u64],
        rows: &mut [Row],
    ) {
        let count = rows.len();
        let mut room = Zeroizing::new([[[Block::ZERO; BATCH]; 2]; 3]);
        let all = room.as_flattened_mut().iter_mut();
        for (room, plane) in all.zip(planes.as_flattened()) {
            room[..count].copy_from_slice(&plane[..count]);
        }
        let mut last = Zeroizing::new([0; BATCH]);
        let mut last_rows = [[0; ROW_BYTES]; BATCH];
        let planes = [0, 1, 2].map(|of| [0, 1].map(|side| &room[of][side][..]));
        self.batches(place, planes, &mut last[..], &mut last_rows);
        parts.copy_from_slice(&last[..count]);
        rows.copy_from_slice(&last_rows[..count]);
    }

    /// Takes the other party's rows, some at a time in order, of which the first is that of item
    /// `first` of all layers in a row.
    pub fn take_rows(&self, bits: Layers<'_>, leaky: &mut Leaky, first: usize, rows: &[Row]) {
        let products = self.shape.products;
        let mut done = 0;
        while done < rows.len() {
            let (layer, item) = ((first + done) / products, (first + done) % products);
            let now = STEP.min(products - item).min(rows.len() - done);
            let shares = word_at(bits.shares, bits.at(layer, 0) + item);
            let parts = leaky.parts[first + done..][..now].iter_mut();
            for (at, (part, row)) in parts.zip(&rows[done..]).enumerate() {
                *part ^= masked(of_row(*row), shares >> at);
            }
            done += now;
        }
    }

    /// The parts of the batch.
    fn parts<'a>(&self, leaky: &'a Leaky) -> &'a [u64] {
        &leaky.parts[..self.shape.items()]
    }

    /// This party's shares of all `d`, packed.
    pub fn opened(&self, leaky: &Leaky) -> Zeroizing<Vec<u8>> {
        let parts = self.parts(leaky);
        let mut packed = Zeroizing::new(vec![0; parts.len().div_ceil(8)]);
        for (bytes, parts) in packed.chunks_mut(8).zip(parts.chunks(64)) {
            let parts = parts.iter().enumerate();
            let word = parts.fold(0, |word, (at, part)| word | (part >> 1 & 1) << at);
            bytes.copy_from_slice(&word.to_le_bytes()[..bytes.len()]);
        }
        packed
    }

    /// A digest of all `L`, from both parties' shares of `d`.
    pub fn digest(&self, leaky: &Leaky, opened: &[u8]) -> Zeroizing<[u8; 32]> {
        let mut hasher = Zeroizing::new(blake3::Hasher::new_derive_key("sealane 1 auth products"));
        let offset = window(self.offset);
        let parts = self.parts(leaky);
        let mut rows = Zeroizing::new(vec![[0; ROW_BYTES]; DIGESTED.min(parts.len())]);
        for (run, parts) in parts.chunks(DIGESTED).enumerate() {
            let rows = &mut rows[..parts.len()];
            for (at, (equal, part)) in rows.iter_mut().zip(parts).enumerate() {
                let d = bit(opened, DIGESTED * run + at);
                *equal = row(part ^ masked(offset, d.into()));
            }
            hasher.update(rows.as_flattened());
        }
        Zeroizing::new(*hasher.finalize().as_bytes())
    }
}

/// Makes rows and parts of whole batches of items, but for the other party's rows.
struct Rows<'a> {
    hash: &'a Mi,
    /// Of this party's keys, and of the other's.
    tweaks: [Tweak; 2],
    offset: Block,
    /// MACs and keys of `x`, `y` and `r`.
    planes: [[&'a [Block]; 2]; 3],
    parts: &'a mut [u64],
    rows: &'a mut [Row],
}

impl Kernel for Rows<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, l: L) {
        let [[x_mac, x_key], y, r] = self.planes;
        let mut hash = self.hash.lanes(l);
        let offset = l.splat(self.offset);
        let batch = 2 * L::QUAD;
        let [mut rows, mut parts] = [[Block::ZERO; BATCH]; 2];
        for first in (0..x_mac.len()).step_by(batch) {
            let [own, other] = self.tweaks;
            let low = tweak(l, &hash, other, first);
            let high = tweak(l, &hash, other, first + L::QUAD);
            let of_macs = hash.hash_one(l, [low, high], l.load_pair(&x_mac[first..]));
            for quad in 0..2 {
                let begin = first + quad * L::QUAD;
                let tweak = tweak(l, &hash, own, begin);
                let keys = l.load_quad(&x_key[begin..]);
                let [zeros, sums] = hash.hash_and_sum(l, tweak, offset, keys);
                for m in 0..4 {
                    let at = begin + m * L::WIDTH;
                    let common = product_part(l, offset, y, at);
                    let share = l.permute_mask(l.load(&x_mac[at..]));
                    let hashes = l.xor(zeros[m], of_macs[quad][m]);
                    let rest = l.xor(l.and(common, share), product_part(l, offset, r, at));
                    l.store(&mut rows[at - first..], l.xor(sums[m], common));
                    l.store(&mut parts[at - first..], l.xor(hashes, rest));
                }
            }
            let made = rows[..batch].iter().zip(&parts[..batch]);
            let into = self.rows[first..].iter_mut().zip(&mut self.parts[first..]);
            for ((made_row, made_part), (to_row, part)) in made.zip(into) {
                *to_row = row(window(*made_row));
                *part = window(*made_part);
            }
        }
        parts.zeroize();
    }
}

/// The tweaks of a quad of items from one on, which is a multiple of a quad, and their part.
#[inline(always)]
fn tweak<L: Lanes, H: HashLanes<L>>(
    l: L,
    hash: &H,
    first: Tweak,
    at: usize,
) -> sealane_block::hash::Tweaked<L> {
    let row = first.row.wrapping_add(at as u32);
    (hash.row_tweaks(l, first.gate, first.call, row), first.part)
}

/// This party's part of bits, given as MACs and keys, times the sum of both offsets.
#[inline(always)]
fn product_part<L: Lanes>(l: L, offset: L::V, [mac, key]: [&[Block]; 2], at: usize) -> L::V {
    let (mac, key) = (l.load(&mac[at..]), l.load(&key[at..]));
    l.xor(l.and(offset, l.permute_mask(mac)), l.xor(mac, key))
}
