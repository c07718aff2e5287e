//! ANDs with a known operand: one half of a half-gates AND, where a party knows the other operand
//! in the clear.
//!
//! Zahur, Rosulek, Evans (section 3.1 of the paper in [`half_gates`](crate::half_gates)) build an
//! AND of two halves, each of one row. With suitable permute bits of an input, one half is always
//! zero, and its row and hashes are left out:
//!
//! * The evaluator knows b. The zero labels of its inputs have permute bit 0, so the permute bit of
//!   an active label is the value, and sums of such labels preserve this: p_b = 0, s_b = b.
//!
//!   ```text
//!   garbler  T = H(b) ^ H(b ^ delta) ^ a   c = H(b)         evaluator  c = H(b) ^ s_b (T ^ a)
//!   ```
//! * The garbler knows b. The active labels of its inputs have permute bit 0, so the permute bit of
//!   a zero label is the value: s_b = 0, p_b = b.
//!
//!   ```text
//!   garbler  T = H(a) ^ H(a ^ delta) ^ p_b delta
//!            c = H(a) ^ p_a T                               evaluator  c = H(a) ^ s_a T
//!   ```
//!
//! Neither party learns anything: a party knows the bits of its own inputs anyway, and of the
//! other's it sees a constant. Tape and compiler ensure that b is such a sum and not inverted
//! ([`known_to`](sealane_circuit::Tape::known_to)). The caller chooses labels of inputs whose
//! permute bits follow these rules. An AND has one block of table; the assumption is that of
//! half-gates.

use sealane_block::hash::HashLanes;
use sealane_block::lanes::Quad;
use sealane_block::{Block, GROUP, LabelHash, Lanes};

use crate::Roles;
use crate::half_gates::{A, B};
use crate::kernels::{GateKernel, GateLanes, GateSlots, Tweaks};
use crate::machine::FreeXor;

/// The garbler's side of an AND whose operand b is known to the evaluator (`EVALUATOR`) or to the
/// garbler.
pub(crate) struct Garble<'a, H, const EVALUATOR: bool> {
    pub hash: &'a H,
    pub delta: Block,
}

/// The evaluator's side of an AND with a known operand.
pub(crate) struct Evaluate<'a, H, const EVALUATOR: bool> {
    pub hash: &'a H,
}

/// The form of [`Garble`] inside a kernel.
pub(crate) struct GarbleLanes<L: Lanes, H, const EVALUATOR: bool> {
    hash: H,
    delta: L::V,
}

/// The form of [`Evaluate`] inside a kernel.
pub(crate) struct EvaluateLanes<H, const EVALUATOR: bool> {
    hash: H,
}

/// The garbler's side of a scheme with free XOR, given its full ANDs.
pub(crate) fn garbling<K, H>(
    and: K,
    hash: &H,
    delta: Block,
    roles: Roles,
) -> FreeXor<K, Garble<'_, H, false>, Garble<'_, H, true>> {
    let (garbler_knows, evaluator_knows) = (Garble { hash, delta }, Garble { hash, delta });
    FreeXor {
        and,
        garbler_knows,
        evaluator_knows,
        roles,
        one: delta,
        garbles: true,
    }
}

/// The evaluator's side of a scheme with free XOR, given its full ANDs.
pub(crate) fn evaluating<K, H>(
    and: K,
    hash: &H,
    roles: Roles,
) -> FreeXor<K, Evaluate<'_, H, false>, Evaluate<'_, H, true>> {
    let (garbler_knows, evaluator_knows) = (Evaluate { hash }, Evaluate { hash });
    FreeXor {
        and,
        garbler_knows,
        evaluator_knows,
        roles,
        one: Block::ZERO,
        garbles: false,
    }
}

/// Returns the operand that is hashed, and its part of the tweak.
const fn hashed(evaluator: bool, place: &GateSlots<'_>) -> (usize, u32) {
    if evaluator {
        (place.b, B)
    } else {
        (place.a, A)
    }
}

/// Returns the quads of a group two by two, or the only quad twice.
const fn pairs<L: Lanes>(q: usize) -> [usize; 2] {
    [q, (q + 1) % L::QUADS]
}

impl<H: LabelHash, const EVALUATOR: bool> GateKernel for Garble<'_, H, EVALUATOR> {
    const PLANES: &'static [usize] = &[16];
    const LABELS: usize = 1;
    type Lanes<L: Lanes> = GarbleLanes<L, H::Lanes<L>, EVALUATOR>;

    #[inline(always)]
    fn lanes<L: Lanes>(&self, l: L) -> Self::Lanes<L> {
        GarbleLanes {
            hash: self.hash.lanes(l),
            delta: l.splat(self.delta),
        }
    }
}

impl<L: Lanes, H: HashLanes<L>, const EVALUATOR: bool> GateLanes<L>
    for GarbleLanes<L, H, EVALUATOR>
{
    #[inline(always)]
    fn group(&mut self, l: L, tweaks: &impl Tweaks, place: GateSlots<'_>, table: &mut [u8]) {
        let table = &mut table[..16 * GROUP];
        let (from, part) = hashed(EVALUATOR, &place);
        for q in 0..place.quads {
            let at = q * L::QUAD;
            let tweak = (tweaks.of_quad(l, &self.hash, q), part);
            let labels = l.load_quad(&place.slots[from + at..]);
            let [mut c, mut row] = self.hash.hash_and_sum(l, tweak, self.delta, labels);
            let a = l.load_quad(&place.slots[place.a + at..]);
            let b = l.load_quad(&place.slots[place.b + at..]);
            for m in 0..4 {
                if EVALUATOR {
                    row[m] = l.xor(row[m], a[m]);
                } else {
                    row[m] = l.xor(row[m], l.and(l.permute_mask(b[m]), self.delta));
                    c[m] = l.xor(c[m], l.and(l.permute_mask(a[m]), row[m]));
                }
            }
            l.store_quad(&mut place.slots[place.out + at..], c);
            l.store_quad_bytes(&mut table[16 * at..], row);
        }
    }
}

impl<H: LabelHash, const EVALUATOR: bool> GateKernel for Evaluate<'_, H, EVALUATOR> {
    const PLANES: &'static [usize] = &[16];
    const LABELS: usize = 1;
    type Lanes<L: Lanes> = EvaluateLanes<H::Lanes<L>, EVALUATOR>;

    #[inline(always)]
    fn lanes<L: Lanes>(&self, l: L) -> Self::Lanes<L> {
        EvaluateLanes {
            hash: self.hash.lanes(l),
        }
    }
}

impl<L: Lanes, H: HashLanes<L>, const EVALUATOR: bool> GateLanes<L>
    for EvaluateLanes<H, EVALUATOR>
{
    #[inline(always)]
    fn group(&mut self, l: L, tweaks: &impl Tweaks, place: GateSlots<'_>, table: &mut [u8]) {
        let table = &table[..16 * GROUP];
        let (from, part) = hashed(EVALUATOR, &place);
        for q in (0..place.quads).step_by(2) {
            let quads = pairs::<L>(q);
            let [at, next] = quads.map(|q| q * L::QUAD);
            let labels = [
                l.load_quad(&place.slots[from + at..]),
                l.load_quad(&place.slots[from + next..]),
            ];
            let tweaks = [
                (tweaks.of_quad(l, &self.hash, quads[0]), part),
                (tweaks.of_quad(l, &self.hash, quads[1]), part),
            ];
            let mut results = self.hash.hash_one(l, tweaks, labels);
            for (i, at) in [at, next].into_iter().enumerate() {
                let mut row: Quad<L> = l.load_quad_bytes(&table[16 * at..]);
                if EVALUATOR {
                    row = l.xor_quad(row, l.load_quad(&place.slots[place.a + at..]));
                }
                for m in 0..4 {
                    let row = l.and(l.permute_mask(labels[i][m]), row[m]);
                    results[i][m] = l.xor(results[i][m], row);
                }
            }
            for (c, at) in results.into_iter().zip([at, next]) {
                l.store_quad(&mut place.slots[place.out + at..], c);
            }
        }
    }
}
