//! The equations of three-halves, for any hash, on the quads of a group.
//!
//! Rosulek and Roy: "Three Halves Make a Whole? Beating the Half-Gates Lower Bound for Garbled
//! Circuits" (Crypto 2021, eprint 2021/749). XOR is free; an AND takes three slices of 64 bits and
//! three control bits (the paper sends five, see below), six hashes of the garbler and three of
//! the evaluator. Half-gates take four slices and four and two hashes.
//!
//! | an AND | half-gates | three-halves |
//! |---|---|---|
//! | table | 32 bytes | 25 bytes: 24 and a byte with three control bits |
//! | garbler, AES blocks | 4 | 6 |
//! | evaluator, AES blocks | 2 | 3 |
//! | key schedules with MI | 2 | 3 |
//!
//! # Slicing
//!
//! A label has a left half, its words 0 and 2, and a right half, its words 1 and 3. Pairs of
//! halves are vectors over GF(4) = {0, 1, w, w^2}, where `w (l, r) = (r, l + r)`. The evaluator
//! holds labels A and B of colours (lowest bits) i and j, and computes
//!
//! ```text
//! X   = w^2 A + B
//! C_L = H(A) + H(A + B) + i G0 + (i + j) G2 + (1 - i) B_L + (r X)_L
//! C_R = H(B) + H(A + B) + j G1 + (i + j) G2 + (1 - j) A_R + (r X)_R        r = r0 + r1 w
//! ```
//!
//! with 64 bits of every hash, tweaked by gate, lane and part: 0 for A, 1 for B, 2 for A + B. In
//! the paper's words, each of the four positions (i, j) gives two rows of
//!
//! ```text
//! V [C_L C_R G0 G1 G2] = M H + (R + [0 | t]) [A_L A_R B_L B_R delta_L delta_R]
//! ```
//!
//! where A and B have colour 0, R holds `r0 S1 + r1 S2 + P` and i and j times its columns, S1 is
//! `[w^2 | 1]`, S2 is w S1, and P takes (1 - i) B_L and (1 - j) A_R. Those are eight equations for
//! five unknowns. Three sums of them have no unknown: all four left rows, all four right rows, and
//! G2 from either side. They hold for every label when r moves with the position as follows, alpha
//! and beta being the colours at which the inputs are 1:
//!
//! ```text
//! r0(i, j) = r0(0, 0) + i alpha + (i + j) (alpha + beta)
//! r1(i, j) = r1(0, 0) + j beta  + (i + j) (alpha + beta)
//! ```
//!
//! The garbler solves them from zero labels a and b of colours p and q. S is the sum of the two
//! hashes of a part, Y is X of the labels with colour 0, e = (1 - p) + (1 - q) w, r that of
//! position (p, q), and `delta'` is `(delta_R, delta_L)`:
//!
//! ```text
//! (G0, G1) = (S_A, S_B) + (b_L, a_R) + e Y + (p + q) delta' + r w delta
//! G2       = S_AB + (w X + p w^2 Y + q Y + w^2 delta + r delta)_L
//! C        = (H(a) + p S_A, H(b) + q S_B) + (D, D) + (b_L, a_R) + r Y + (p + q) (w^2 X + delta')
//!            where D = H(a + b) + (p + q) S_AB
//! ```
//!
//! # Dicing
//!
//! R selects the halves of its labels that the evaluator adds. It depends on alpha and beta, so a
//! party may see no more of it than the one position that is opened, and r0(0, 0), r1(0, 0), the
//! *dice*, are random. r is a solution of the same system V, one bit wide: hashes give a 65th bit,
//! rows have a control bit beside their slice, and the evaluator finds r by the same sums as C, bit
//! for bit:
//!
//! ```text
//! r0 = h(A) + h(A + B) + i z_A + (i + j) z_AB        z_A  = alpha + both bits h of A
//! r1 = h(B) + h(A + B) + j z_B + (i + j) z_AB        z_B  = beta  + both bits h of B
//!                                                    z_AB = alpha + beta + both bits h of A + B
//! ```
//!
//! The paper lets the garbler draw the dice and sends the two bits as well that stand to r as C_L
//! and C_R stand to the label. Here those two are zero, as C itself is never sent: the dice are
//! `h(A) + h(A + B)` and `h(B) + h(A + B)` of the labels with colour 0. That saves two bits and a
//! generator, and rows are a function of seed and labels, the same on every tier.
//!
//! *Hiding.* The evaluator lacks one hash of each part. Its control bit hides z of that part, its
//! pad hides the row, and both are used nowhere else. So z_A, z_B and z_AB are three uniform bits,
//! whatever alpha and beta are, and r is a function of them and of hashes that the evaluator has.
//! `tests/three_halves.rs` counts this out for every position, every permute bit and every control
//! bit, shows each row right as an identity in labels, offset and pads, and that the rows span no
//! function of delta over what the evaluator holds.
//!
//! # Assumption
//!
//! AES as an ideal cipher (as a random permutation, with a fixed key), semi-honest parties. A
//! sketch of the proof: fix all that an evaluator sees and all its AES calls. Given delta, this
//! determines 65 output bits of each of the three hashes that it lacks; r is fixed by what is seen,
//! so it makes no difference that the multiple of delta in a row depends on a control bit of the
//! same hash. With dice that are drawn first it would not, and a definition of circular correlation
//! robustness would do in which multiples are chosen before hashes; here the ideal model is needed.
//! Those bits are as likely as uniform ones unless an AES call met a hidden one, by input or by
//! output.
//!
//! *By output*: this case constrains the slices. With PRP and MI a hash is `AES(s) + s` with s a
//! linear function of the label, and a row adds a sum of the halves of delta. If that sum cancelled
//! s, 64 bits of the AES output would be known, and 2^64 decryptions would find delta. They cannot:
//! with sigma as in [`sealane_block::hash`], *words* as slices, and pads from words 0 and 2 (A and
//! A + B) or 1 and 3 (B), every sum leaves the pad and its control bit a rank of 64 or 65 in the
//! 127 bits of delta that are not known. With the two 64-bit halves of a block as slices, sigma
//! would cancel against delta_R altogether. TCCR adds what AES has been over already, and CIRC adds
//! nothing, so any slices do.
//!
//! # Tables
//!
//! A group has sixteen blocks with G0 in words 0 and 2 and G1 in words 1 and 3, then sixteen
//! slices G2, then sixteen bytes: z_AB in bit 0, z_A in bit 1, z_B in bit 2. The evaluator looks
//! at no other bit. The third hash goes with that of other gates, except on tiers where a group is
//! one quad: there the evaluator computes it twice.

use sealane_block::hash::HashLanes;
use sealane_block::lanes::Quad;
use sealane_block::{Block, GROUP, Group, LabelHash, Lanes};

use crate::kernels::{GateKernel, GateLanes, GateSlots, Tweaks};

mod equations;

use equations::{Offset, Parts, open};

/// Tweak parts of the three hashes of an AND.
const A: u32 = 0;
const B: u32 = 1;
const AB: u32 = 2;

/// Bytes of `(G0, G1)`, of G2 and of control bits of a pair.
const PLANES: &[usize] = &[16, 8, 1];
/// Offset of the slices G2 of a group, and of its control bits.
const THIRDS: usize = 16 * GROUP;
const CONTROLS: usize = 24 * GROUP;
/// Bytes of table of a group.
const TABLE: usize = 25 * GROUP;

/// The garbler's side of an AND.
pub(crate) struct GarbleAnd<'a, H> {
    pub hash: &'a H,
    pub delta: Block,
}

/// The evaluator's side of an AND.
pub(crate) struct EvaluateAnd<'a, H> {
    pub hash: &'a H,
}

/// Two quads of gates, by vector: as many as fill the AES units with one part.
type HashBatch<L> = [Parts<L>; 8];

/// Number of quads of a batch. Where a group is one quad, a batch is one quad as well.
const fn batch_quads<L: Lanes>() -> usize {
    if L::QUADS == 1 { 1 } else { 2 }
}

/// The form of [`GarbleAnd`] inside a kernel.
pub(crate) struct GarbleLanes<L: Lanes, H> {
    hash: H,
    offset: Offset<L>,
    /// The hashes of the zero labels, and their sums with the hashes of the other labels. They are
    /// kept here because sixteen registers do not hold them.
    zero: HashBatch<L>,
    sums: HashBatch<L>,
    /// G2 of a group in words 0 and 2; z_AB, z_A and z_B in bits 32, 33 and 34.
    thirds: Group,
}

/// The form of [`EvaluateAnd`] inside a kernel.
pub(crate) struct EvaluateLanes<L: Lanes, H> {
    hash: H,
    hashes: HashBatch<L>,
    /// As the garbler's; the rest of words 1 and 3 is ignored.
    thirds: Group,
}

impl<H: LabelHash> GateKernel for GarbleAnd<'_, H> {
    const PLANES: &'static [usize] = PLANES;
    const LABELS: usize = 1;
    type Lanes<L: Lanes> = GarbleLanes<L, H::Lanes<L>>;

    #[inline(always)]
    fn lanes<L: Lanes>(&self, l: L) -> Self::Lanes<L> {
        let empty = [[l.splat(Block::ZERO); 3]; 8];
        GarbleLanes {
            hash: self.hash.lanes(l),
            offset: Offset::new(l, self.delta),
            zero: empty,
            sums: empty,
            thirds: Group::ZERO,
        }
    }
}

impl<L: Lanes, H: HashLanes<L>> GateLanes<L> for GarbleLanes<L, H> {
    #[inline(always)]
    fn group(&mut self, l: L, tweaks: &impl Tweaks, place: GateSlots<'_>, table: &mut [u8]) {
        let table = &mut table[..TABLE];
        for q in (0..place.quads).step_by(2) {
            hash_batch(l, self, tweaks, &place, q);
            for k in 0..4 * batch_quads::<L>() {
                let at = q * L::QUAD + k * L::WIDTH;
                let a = l.load(&place.slots[place.a + at..]);
                let b = l.load(&place.slots[place.b + at..]);
                let [c, halves, third] = self.offset.solve(l, a, b, self.zero[k], self.sums[k]);
                l.store(&mut place.slots[place.out + at..], c);
                l.store_bytes(&mut table[16 * at..], halves);
                l.store(&mut self.thirds[at..], third);
            }
        }
        for i in 0..GROUP {
            let [w0, w1, w2, _] = self.thirds[i].words();
            let third = u64::from(w0) | u64::from(w2) << 32;
            table[THIRDS + 8 * i..][..8].copy_from_slice(&third.to_le_bytes());
            table[CONTROLS + i] = w1 as u8;
        }
    }
}

impl<H: LabelHash> GateKernel for EvaluateAnd<'_, H> {
    const PLANES: &'static [usize] = PLANES;
    const LABELS: usize = 1;
    type Lanes<L: Lanes> = EvaluateLanes<L, H::Lanes<L>>;

    #[inline(always)]
    fn lanes<L: Lanes>(&self, l: L) -> Self::Lanes<L> {
        EvaluateLanes {
            hash: self.hash.lanes(l),
            hashes: [[l.splat(Block::ZERO); 3]; 8],
            thirds: Group::ZERO,
        }
    }
}

impl<L: Lanes, H: HashLanes<L>> GateLanes<L> for EvaluateLanes<L, H> {
    #[inline(always)]
    fn group(&mut self, l: L, tweaks: &impl Tweaks, place: GateSlots<'_>, table: &mut [u8]) {
        let table = &table[..TABLE];
        let (thirds, _) = table[THIRDS..CONTROLS].as_chunks();
        for i in 0..GROUP {
            let third = u64::from_le_bytes(thirds[i]);
            let low = third & 0xffff_ffff | (table[CONTROLS + i] as u64) << 32;
            self.thirds[i] = Block::new(low as u128 | (third as u128 >> 32) << 64);
        }
        for q in (0..place.quads).step_by(2) {
            hash_batch(l, self, tweaks, &place, q);
            for k in 0..4 * batch_quads::<L>() {
                let at = q * L::QUAD + k * L::WIDTH;
                let a = l.load(&place.slots[place.a + at..]);
                let b = l.load(&place.slots[place.b + at..]);
                let (halves, third) = (l.load_bytes(&table[16 * at..]), l.load(&self.thirds[at..]));
                let c = open(l, a, b, self.hashes[k], halves, third);
                l.store(&mut place.slots[place.out + at..], c);
            }
        }
    }
}

/// Positions of the hashes of a pair of quads: part, and quad of the batch.
type Belongs = [(usize, usize); 2];

/// The use that a side makes of the hashes of two quads of labels.
trait HashPair<L: Lanes> {
    type Hash: HashLanes<L>;
    fn hash(&self) -> &Self::Hash;
    fn keep(&mut self, l: L, to: Belongs, tweaks: [(Quad<L>, u32); 2], labels: [Quad<L>; 2]);
}

impl<L: Lanes, H: HashLanes<L>> HashPair<L> for GarbleLanes<L, H> {
    type Hash = H;

    #[inline(always)]
    fn hash(&self) -> &H {
        &self.hash
    }

    #[inline(always)]
    fn keep(&mut self, l: L, to: Belongs, tweaks: [(Quad<L>, u32); 2], labels: [Quad<L>; 2]) {
        let delta = self.offset.delta();
        // Where a batch is one quad, the second is the first again.
        let count = if to[0] == to[1] { 1 } else { 2 };
        for i in 0..count {
            let [zero, sum] = self.hash.hash_and_sum(l, tweaks[i], delta, labels[i]);
            let (part, quad) = to[i];
            for m in 0..4 {
                self.zero[4 * quad + m][part] = zero[m];
                self.sums[4 * quad + m][part] = sum[m];
            }
        }
    }
}

impl<L: Lanes, H: HashLanes<L>> HashPair<L> for EvaluateLanes<L, H> {
    type Hash = H;

    #[inline(always)]
    fn hash(&self) -> &H {
        &self.hash
    }

    #[inline(always)]
    fn keep(&mut self, l: L, to: Belongs, tweaks: [(Quad<L>, u32); 2], labels: [Quad<L>; 2]) {
        let hashes = self.hash.hash_one(l, tweaks, labels);
        for i in 0..2 {
            let (part, quad) = to[i];
            for m in 0..4 {
                self.hashes[4 * quad + m][part] = hashes[i][m];
            }
        }
    }
}

/// Hashes the labels of a batch, from quad `q` of a group on, two quads at a time: part by part
/// where there are two quads of gates, else A with B, and A + B twice.
#[inline(always)]
fn hash_batch<L: Lanes, S: HashPair<L>>(
    l: L,
    side: &mut S,
    tweaks: &impl Tweaks,
    place: &GateSlots<'_>,
    q: usize,
) {
    let at = q * L::QUAD;
    let a = l.load_quad(&place.slots[place.a + at..]);
    let b = l.load_quad(&place.slots[place.b + at..]);
    let (ab, t) = (l.xor_quad(a, b), tweaks.of_quad(l, side.hash(), q));
    if batch_quads::<L>() == 1 {
        side.keep(l, [(0, 0), (1, 0)], [(t, A), (t, B)], [a, b]);
        side.keep(l, [(2, 0), (2, 0)], [(t, AB), (t, AB)], [ab, ab]);
    } else {
        let at = at + L::QUAD;
        let a1 = l.load_quad(&place.slots[place.a + at..]);
        let b1 = l.load_quad(&place.slots[place.b + at..]);
        let (ab1, t1) = (l.xor_quad(a1, b1), tweaks.of_quad(l, side.hash(), q + 1));
        side.keep(l, [(0, 0), (0, 1)], [(t, A), (t1, A)], [a, a1]);
        side.keep(l, [(1, 0), (1, 1)], [(t, B), (t1, B)], [b, b1]);
        side.keep(l, [(2, 0), (2, 1)], [(t, AB), (t1, AB)], [ab, ab1]);
    }
}
