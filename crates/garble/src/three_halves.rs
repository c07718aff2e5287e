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
//! R says which halves of its labels the evaluator adds. It depends on alpha and beta, so nobody
//! may see more of it than the one position that is opened, and r0(0, 0), r1(0, 0), the *dice*,
//! are random. r is a solution of the same system V, one bit wide: hashes give a 65th bit, rows
//! have a control bit beside their slice, and the evaluator finds r by the same sums as C, bit for
//! bit:
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
//! *What is hidden, and why.* Of each part the evaluator lacks one hash. Its control bit hides z
//! of that part, its pad hides the row, and both are used nowhere else. So z_A, z_B and z_AB are
//! three uniform bits, whatever alpha and beta are, and r is a function of them and of hashes that
//! the evaluator has. `tests/three_halves.rs` counts this out for every position, every permute bit and every
//! control bit, shows each row right as an identity in labels, offset and pads, and that the rows
//! span no function of delta over what the evaluator holds.
//!
//! # Assumption
//!
//! AES as an ideal cipher (as a random permutation, with a fixed key), semi-honest parties. The
//! sketch: fix all that an evaluator sees and all its AES calls. Given delta, this determines 65
//! output bits of each of the three hashes that it lacks; r is fixed by what is seen, so it makes
//! no difference that the multiple of delta in a row depends on a control bit of the same hash,
//! which the paper's definition, where the multiple is chosen before the hash, does not have.
//! Those bits are as likely as uniform ones unless an AES call met a hidden one, by input or by
//! output.
//!
//! *By output* is where slices need care. A hash is `AES(s) + s` with s a linear function of the
//! label, and a row adds a sum of the halves of delta. If that sum cancelled s, 64 bits of the AES
//! output would be known, and 2^64 decryptions would find delta. They cannot: with sigma as in
//! [`sealane_block::hash`], *words* as slices, and pads from words 0 and 2 (A and A + B) or 1 and
//! 3 (B), every sum leaves the pad and its control bit full rank in delta, 65. With the two 64-bit
//! halves of a block as slices, sigma cancels against delta_R altogether. That holds
//! for PRP and MI. TCCR keeps it for any slices, because AES has been over what it adds, and CIRC adds
//! nothing.
//!
//! # Tables
//!
//! A group has sixteen blocks with G0 in words 0 and 2 and G1 in words 1 and 3, then sixteen slices
//! G2, then sixteen bytes: z_AB in bit 0, z_A in bit 1, z_B in bit 2. The evaluator looks at no other
//! bit. The third hash goes with that of other gates, except on tiers where a group is one quad: there
//! it is computed twice.

use sealane_block::hash::HashLanes;
use sealane_block::lanes::Quad;
use sealane_block::{Block, GROUP, Group, LabelHash, Lanes};

use crate::kernels::{GateKernel, GateLanes, Place, Tweaks};

/// Tags of the three hashes of an AND.
const A: u32 = 0;
const B: u32 = 1;
const AB: u32 = 2;

/// Bytes of `(G0, G1)`, of G2 and of control bits of a pair.
const PLANES: &[usize] = &[16, 8, 1];
/// Where the slices G2 of a group begin, and where its control bits do.
const THIRDS: usize = 16 * GROUP;
const CONTROLS: usize = 24 * GROUP;
/// Bytes of a group.
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

/// One vector of each of three things: of A, of B, of A + B.
type Parts<L> = [<L as Lanes>::V; 3];

/// Two quads of gates, by vector: as many as fill the AES units with one part.
type Turn<L> = [Parts<L>; 8];

/// Quads of a turn. Where a group is one quad, a turn is no more.
const fn turn_quads<L: Lanes>() -> usize {
    if L::QUADS == 1 { 1 } else { 2 }
}

/// [`GarbleAnd`] inside a kernel.
pub(crate) struct GarbleLanes<L: Lanes, H> {
    hash: H,
    /// delta, w delta and w^2 delta.
    delta: [L::V; 3],
    swapped_delta: L::V,
    control_bit: L::V,
    /// The ones in z_A and z_B: alpha is the complement of a permute bit.
    complements: L::V,
    /// The hashes of the zero labels, and their sums with those of the others. They wait here
    /// because sixteen registers do not hold them.
    zero: Turn<L>,
    sums: Turn<L>,
    /// G2 of a group in words 0 and 2; z_AB, z_A and z_B in bits 32, 33 and 34.
    thirds: Group,
}

/// [`EvaluateAnd`] inside a kernel.
pub(crate) struct EvaluateLanes<L: Lanes, H> {
    hash: H,
    hashes: Turn<L>,
    /// As the garbler's; what else there is in words 1 and 3 does not count.
    thirds: Group,
}

impl<H: LabelHash> GateKernel for GarbleAnd<'_, H> {
    const PLANES: &'static [usize] = PLANES;
    const LABELS: usize = 1;
    type Lanes<L: Lanes> = GarbleLanes<L, H::Lanes<L>>;

    #[inline(always)]
    fn lanes<L: Lanes>(&self, l: L) -> Self::Lanes<L> {
        let delta = l.splat(self.delta);
        let turned = omega(l, delta);
        GarbleLanes {
            hash: self.hash.lanes(l),
            delta: [delta, turned, l.xor(delta, turned)],
            swapped_delta: l.swap_words(delta),
            control_bit: l.splat(Block::new(1 << 32)),
            complements: l.splat(Block::new(6 << 32)),
            zero: [[delta; 3]; 8],
            sums: [[delta; 3]; 8],
            thirds: Group::ZERO,
        }
    }
}

impl<L: Lanes, H: HashLanes<L>> GateLanes<L> for GarbleLanes<L, H> {
    #[inline(always)]
    fn group(
        &mut self,
        l: L,
        tweaks: &impl Tweaks,
        slots: &mut [Block],
        place: Place,
        table: &mut [u8],
    ) {
        let table = &mut table[..TABLE];
        for q in (0..L::QUADS).step_by(2) {
            hash_turn(l, self, tweaks, slots, place, q);
            for k in 0..4 * turn_quads::<L>() {
                let at = q * L::QUAD + k * L::WIDTH;
                let (a, b) = (
                    l.load(&slots[place.a + at..]),
                    l.load(&slots[place.b + at..]),
                );
                let [c, halves, third] = self.solve(l, a, b, self.zero[k], self.sums[k]);
                l.store(&mut slots[place.out + at..], c);
                l.store_bytes(&mut table[16 * at..], halves);
                l.store(&mut self.thirds[at..], third);
            }
        }
        for i in 0..GROUP {
            let (low, high) = halves(self.thirds[i]);
            let third = low & 0xffff_ffff | high << 32;
            table[THIRDS + 8 * i..][..8].copy_from_slice(&third.to_le_bytes());
            table[CONTROLS + i] = (low >> 32) as u8;
        }
    }
}

impl<L: Lanes, H> GarbleLanes<L, H> {
    /// C, (G0, G1), and G2 with control bits, of one vector of gates.
    #[inline(always)]
    fn solve(&self, l: L, a: L::V, b: L::V, zero: Parts<L>, sums: Parts<L>) -> Parts<L> {
        let [delta, delta1, delta2] = self.delta;
        let (p, q) = (l.permute_mask(a), l.permute_mask(b));
        let pq = l.xor(p, q);
        // x, x1, x2 are X, w X, w^2 X; and so for Y.
        let [x, x1] = product(l, a, b);
        let x2 = l.xor(x, x1);
        let y = sum(l, [x, l.and(p, delta2), l.and(q, delta)]);
        let y1 = sum(l, [x1, l.and(p, delta), l.and(q, delta1)]);
        let y2 = l.xor(y, y1);

        // Pads and control bits together. The sums lack the constants of z: p z_A has none, since
        // p alpha is 0, but (p + q) z_AB has p + q.
        let both = l.xor(zero[2], l.and(pq, sums[2]));
        let left = sum(l, [zero[0], both, l.and(p, sums[0])]);
        let right = sum(l, [zero[1], l.swap_words(both), l.and(q, sums[1])]);
        let [r0, r1] = control_masks(l, l.xor(l.blend_words(right, left), pq));

        let cross = l.blend_words(b, a);
        let chosen = l.xor(l.and(r0, y), l.and(r1, y1));
        let mixed = l.and(pq, l.xor(x2, self.swapped_delta));
        let c = sum(l, [l.blend_words(left, right), cross, chosen, mixed]);

        let e_y = sum(l, [y2, l.and(p, y), l.and(q, y1)]);
        let r_delta1 = l.xor(l.and(r0, delta1), l.and(r1, delta2));
        let mixed = l.and(pq, self.swapped_delta);
        let pads = l.blend_words(sums[0], sums[1]);
        let halves = sum(l, [pads, cross, e_y, mixed, r_delta1]);

        let r_delta = l.xor(l.and(r0, delta), l.and(r1, delta1));
        let third = sum(l, [sums[2], x1, l.and(p, y2), l.and(q, y), delta2]);
        let third = l.xor(third, r_delta);

        let z = l.xor(l.blend_words(sums[1], sums[0]), l.blend_words(q, p));
        let z_ab = l.and(l.xor(sums[2], pq), self.control_bit);
        let z_a = l.shl64::<1>(l.and(z, self.control_bit));
        let z_b = l.shl64::<2>(l.and(l.swap_words(z), self.control_bit));
        let controls = sum(l, [z_ab, z_a, z_b, self.complements]);
        [c, halves, l.blend_words(third, controls)]
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
    fn group(
        &mut self,
        l: L,
        tweaks: &impl Tweaks,
        slots: &mut [Block],
        place: Place,
        table: &mut [u8],
    ) {
        let table = &table[..TABLE];
        let (thirds, _) = table[THIRDS..CONTROLS].as_chunks();
        for i in 0..GROUP {
            let third = u64::from_le_bytes(thirds[i]);
            let low = third & 0xffff_ffff | (table[CONTROLS + i] as u64) << 32;
            self.thirds[i] = Block::new(low as u128 | (third as u128 >> 32) << 64);
        }
        for q in (0..L::QUADS).step_by(2) {
            hash_turn(l, self, tweaks, slots, place, q);
            for k in 0..4 * turn_quads::<L>() {
                let at = q * L::QUAD + k * L::WIDTH;
                let (a, b) = (
                    l.load(&slots[place.a + at..]),
                    l.load(&slots[place.b + at..]),
                );
                let (halves, third) = (l.load_bytes(&table[16 * at..]), l.load(&self.thirds[at..]));
                let c = open(l, a, b, self.hashes[k], halves, third);
                l.store(&mut slots[place.out + at..], c);
            }
        }
    }
}

/// Where the hashes of a pair of quads belong: part, and quad of the turn.
type Belongs = [(usize, usize); 2];

/// What a side does with the hashes of two quads of labels.
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
        let [zero, one] = self.hash.both(l, tweaks, self.delta[0], labels);
        for i in 0..2 {
            let (part, quad) = to[i];
            for m in 0..4 {
                self.zero[4 * quad + m][part] = zero[i][m];
                self.sums[4 * quad + m][part] = l.xor(zero[i][m], one[i][m]);
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
        let hashes = self.hash.one(l, tweaks, labels);
        for i in 0..2 {
            let (part, quad) = to[i];
            for m in 0..4 {
                self.hashes[4 * quad + m][part] = hashes[i][m];
            }
        }
    }
}

/// Hashes the labels of a turn from quad `q` of a group on, two quads at a time: part by part where
/// there are two quads of gates, else A with B, and A + B twice.
#[inline(always)]
fn hash_turn<L: Lanes, S: HashPair<L>>(
    l: L,
    side: &mut S,
    tweaks: &impl Tweaks,
    slots: &[Block],
    place: Place,
    q: usize,
) {
    let at = q * L::QUAD;
    let (a, b) = (
        l.load_quad(&slots[place.a + at..]),
        l.load_quad(&slots[place.b + at..]),
    );
    let (ab, t) = (l.xor_quad(a, b), tweaks.of_quad(l, side.hash(), q));
    if turn_quads::<L>() == 1 {
        side.keep(l, [(0, 0), (1, 0)], [(t, A), (t, B)], [a, b]);
        side.keep(l, [(2, 0), (2, 0)], [(t, AB), (t, AB)], [ab, ab]);
    } else {
        let at = at + L::QUAD;
        let (a1, b1) = (
            l.load_quad(&slots[place.a + at..]),
            l.load_quad(&slots[place.b + at..]),
        );
        let (ab1, t1) = (l.xor_quad(a1, b1), tweaks.of_quad(l, side.hash(), q + 1));
        side.keep(l, [(0, 0), (0, 1)], [(t, A), (t1, A)], [a, a1]);
        side.keep(l, [(1, 0), (1, 1)], [(t, B), (t1, B)], [b, b1]);
        side.keep(l, [(2, 0), (2, 1)], [(t, AB), (t1, AB)], [ab, ab1]);
    }
}

/// The active label of one vector of gates.
#[inline(always)]
fn open<L: Lanes>(l: L, a: L::V, b: L::V, hashes: Parts<L>, halves: L::V, third: L::V) -> L::V {
    let (i, j) = (l.permute_mask(a), l.permute_mask(b));
    // Every slice with its control bit where the hash has it: lowest in the word beside.
    let row_a = l.blend_words(halves, l.shr64::<1>(third));
    let row_b = l.blend_words(l.shr64::<2>(l.swap_words(third)), halves);
    let both = l.xor(hashes[2], l.and(l.xor(i, j), third));
    let left = sum(l, [hashes[0], both, l.and(i, row_a)]);
    let right = sum(l, [hashes[1], l.swap_words(both), l.and(j, row_b)]);
    let [r0, r1] = control_masks(l, l.blend_words(right, left));

    let [x, x1] = product(l, a, b);
    let chosen = l.xor(l.and(r0, x), l.and(r1, x1));
    let cross = l.blend_words(b, a);
    let absent = l.and(l.blend_words(i, j), cross);
    sum(l, [l.blend_words(left, right), cross, absent, chosen])
}

/// r0 and r1 as masks: the lowest bits of words 1 and 0.
#[inline(always)]
fn control_masks<L: Lanes>(l: L, v: L::V) -> [L::V; 2] {
    [l.permute_mask(l.swap_words(v)), l.permute_mask(v)]
}

/// X = w^2 a + b, and w X = a + w b.
#[inline(always)]
fn product<L: Lanes>(l: L, a: L::V, b: L::V) -> [L::V; 2] {
    [sum(l, [a, omega(l, a), b]), l.xor(a, omega(l, b))]
}

/// w (l, r) = (r, l + r).
#[inline(always)]
fn omega<L: Lanes>(l: L, v: L::V) -> L::V {
    let right = l.blend_words(l.splat(Block::ZERO), v);
    l.xor(l.swap_words(v), right)
}

#[inline(always)]
fn sum<L: Lanes, const N: usize>(l: L, terms: [L::V; N]) -> L::V {
    let mut out = terms[0];
    for term in &terms[1..] {
        out = l.xor(out, *term);
    }
    out
}

#[inline(always)]
fn halves(block: Block) -> (u64, u64) {
    (block.value() as u64, (block.value() >> 64) as u64)
}
