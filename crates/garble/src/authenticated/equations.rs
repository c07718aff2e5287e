//! The equations of an AND in each walk, on the quads of a group: see [`authenticated`](super).
//!
//! Masked values and shares become masks of their lanes and are never branched on.

use sealane_block::hash::HashLanes;
use sealane_block::lanes::Quad;
use sealane_block::{Block, GROUP, LabelHash, Lanes};

use crate::half_gates::{A, B};
use crate::kernels::{GateKernel, GateLanes, GateSlots, Tweaks};

/// Bit 0 of a block.
pub(super) const ONE_BIT: Block = Block::new(1);

/// An AND of masks: MACs and keys.
pub(super) struct MaskAnd;

/// The garbler's side of an AND.
pub(super) struct GarbleAnd<'a, H> {
    pub(super) hash: &'a H,
    pub(super) delta: Block,
}

/// The evaluator's side of an AND.
pub(super) struct EvaluateAnd<'a, H> {
    pub(super) hash: &'a H,
    pub(super) delta: Block,
}

/// An AND of masked values.
pub(super) struct AnswerAnd;

/// The form of a side inside a kernel.
pub(super) struct Keyed<L: Lanes, H, const GARBLES: bool> {
    hash: H,
    delta: L::V,
}

/// Bytes of a plane of a group.
const PLANE: usize = 16 * GROUP;

/// Loads a quad of a plane of a group.
#[inline(always)]
fn plane<L: Lanes>(l: L, table: &[u8], plane: usize, at: usize) -> Quad<L> {
    l.load_quad_bytes(&table[plane * PLANE + 16 * at..])
}

/// Stores a quad of a plane of a group.
#[inline(always)]
fn set_plane<L: Lanes>(l: L, table: &mut [u8], plane: usize, at: usize, quad: Quad<L>) {
    l.store_quad_bytes(&mut table[plane * PLANE + 16 * at..], quad);
}

/// Loads a label of a quad of wires, whose first one of the first wire is at `wire`.
#[inline(always)]
fn load<L: Lanes>(l: L, place: &GateSlots<'_>, wire: usize, label: usize, at: usize) -> Quad<L> {
    l.load_quad(&place.slots[wire + label * place.second + at..])
}

/// Stores a label of a quad of outputs.
#[inline(always)]
fn store<L: Lanes>(l: L, place: &mut GateSlots<'_>, label: usize, at: usize, quad: Quad<L>) {
    let to = place.out + label * place.second + at;
    l.store_quad(&mut place.slots[to..], quad);
}

impl GateKernel for MaskAnd {
    const PLANES: &'static [usize] = &[16; 6];
    const LABELS: usize = 2;
    type Lanes<L: Lanes> = MaskAnd;

    #[inline(always)]
    fn lanes<L: Lanes>(&self, _: L) -> MaskAnd {
        MaskAnd
    }
}

impl<L: Lanes> GateLanes<L> for MaskAnd {
    #[inline(always)]
    fn group(&mut self, l: L, _: &impl Tweaks, mut place: GateSlots<'_>, table: &mut [u8]) {
        let table = &mut table[..6 * PLANE];
        for q in 0..place.quads {
            let at = q * L::QUAD;
            for part in 0..2 {
                let a = load(l, &place, place.a, part, at);
                let b = load(l, &place, place.b, part, at);
                let (x, y) = (plane(l, table, 2 + part, at), plane(l, table, 4 + part, at));
                set_plane(l, table, 2 + part, at, l.xor_quad(a, x));
                set_plane(l, table, 4 + part, at, l.xor_quad(b, y));
                store(l, &mut place, part, at, plane(l, table, part, at));
            }
        }
    }
}

impl<H: LabelHash> GateKernel for GarbleAnd<'_, H> {
    const PLANES: &'static [usize] = &[16; 6];
    const LABELS: usize = 3;
    type Lanes<L: Lanes> = Keyed<L, H::Lanes<L>, true>;

    #[inline(always)]
    fn lanes<L: Lanes>(&self, l: L) -> Self::Lanes<L> {
        Keyed {
            hash: self.hash.lanes(l),
            delta: l.splat(self.delta),
        }
    }
}

impl<L: Lanes, H: HashLanes<L>> GateLanes<L> for Keyed<L, H, true> {
    #[inline(always)]
    fn group(&mut self, l: L, tweaks: &impl Tweaks, mut place: GateSlots<'_>, table: &mut [u8]) {
        let table = &mut table[..6 * PLANE];
        let bit = l.splat(ONE_BIT);
        for q in 0..place.quads {
            let at = q * L::QUAD;
            let [a, mac_a, key_a] = [0, 1, 2].map(|label| load(l, &place, place.a, label, at));
            let [b, mac_b, key_b] = [0, 1, 2].map(|label| load(l, &place, place.b, label, at));
            // W_A of a mask.
            let share = |mac, key| l.xor(key, l.and(l.permute_mask(mac), self.delta));
            let [w_a, w_b] = [0, 1].map(|of| {
                let (mac, mut key) = if of == 0 {
                    (mac_a, key_a)
                } else {
                    (mac_b, key_b)
                };
                for m in 0..4 {
                    key[m] = share(mac[m], key[m]);
                }
                key
            });
            let tweak = tweaks.of_quad(l, &self.hash, q);
            let [of_a, mut first] = self.hash.hash_and_sum(l, (tweak, A), self.delta, a);
            let [of_b, mut second] = self.hash.hash_and_sum(l, (tweak, B), self.delta, b);
            let (mac, key) = (plane(l, table, 3, at), plane(l, table, 4, at));
            let mut c = plane(l, table, 5, at);
            let mut lowest = c;
            for m in 0..4 {
                first[m] = l.xor(first[m], w_b[m]);
                second[m] = l.xor(second[m], l.xor(a[m], w_a[m]));
                c[m] = l.xor(c[m], l.xor(of_a[m], of_b[m]));
                lowest[m] = l.and(c[m], bit);
                c[m] = l.xor(c[m], lowest[m]);
            }
            for (label, quad) in [c, mac, key].into_iter().enumerate() {
                store(l, &mut place, label, at, quad);
            }
            let planes = [first, second, lowest, mac_a, mac_b, c];
            for (number, quad) in planes.into_iter().enumerate() {
                set_plane(l, table, number, at, quad);
            }
        }
    }
}

impl<H: LabelHash> GateKernel for EvaluateAnd<'_, H> {
    const PLANES: &'static [usize] = &[16; 7];
    const LABELS: usize = 3;
    type Lanes<L: Lanes> = Keyed<L, H::Lanes<L>, false>;

    #[inline(always)]
    fn lanes<L: Lanes>(&self, l: L) -> Self::Lanes<L> {
        Keyed {
            hash: self.hash.lanes(l),
            delta: l.splat(self.delta),
        }
    }
}

impl<L: Lanes, H: HashLanes<L>> GateLanes<L> for Keyed<L, H, false> {
    #[inline(always)]
    fn group(&mut self, l: L, tweaks: &impl Tweaks, mut place: GateSlots<'_>, table: &mut [u8]) {
        let table = &mut table[..7 * PLANE];
        for q in 0..place.quads {
            let at = q * L::QUAD;
            let [a, mac_a, key_a] = [0, 1, 2].map(|label| load(l, &place, place.a, label, at));
            let [b, mac_b, key_b] = [0, 1, 2].map(|label| load(l, &place, place.b, label, at));
            let tweak = tweaks.of_quad(l, &self.hash, q);
            let [of_a, of_b] = self.hash.hash_one(l, [(tweak, A), (tweak, B)], [a, b]);
            let [first, second, lowest, mac, key, product_mac, product_key] =
                [0, 1, 2, 3, 4, 5, 6].map(|number| plane(l, table, number, at));
            let (mut c, mut expected) = (of_a, product_key);
            for m in 0..4 {
                let (m_a, m_b) = (l.permute_mask(a[m]), l.permute_mask(b[m]));
                // A term that a masked value takes, of an operand's mask.
                let sum = |of_b, of_a| l.xor(l.and(m_a, of_b), l.and(m_b, of_a));
                let rows = sum(
                    l.xor(first[m], mac_b[m]),
                    l.xor(l.xor(second[m], a[m]), mac_a[m]),
                );
                let hashes = l.xor(of_a[m], of_b[m]);
                let rest = l.xor(product_mac[m], lowest[m]);
                c[m] = l.xor(l.xor(hashes, rows), rest);
                // This party's share of what the MAC is of, and the value of the other's.
                let own = l.xor(sum(mac_b[m], mac_a[m]), product_mac[m]);
                let signs = l.xor(l.permute_mask(own), l.permute_mask(c[m]));
                let theirs = l.xor(l.and(m_a, m_b), signs);
                let keys = l.xor(sum(key_b[m], key_a[m]), product_key[m]);
                expected[m] = l.xor(keys, l.and(theirs, self.delta));
            }
            for (label, quad) in [c, mac, key].into_iter().enumerate() {
                store(l, &mut place, label, at, quad);
            }
            set_plane(l, table, 3, at, c);
            set_plane(l, table, 4, at, expected);
        }
    }
}

impl GateKernel for AnswerAnd {
    const PLANES: &'static [usize] = &[16; 4];
    const LABELS: usize = 1;
    type Lanes<L: Lanes> = AnswerAnd;

    #[inline(always)]
    fn lanes<L: Lanes>(&self, _: L) -> AnswerAnd {
        AnswerAnd
    }
}

impl<L: Lanes> GateLanes<L> for AnswerAnd {
    #[inline(always)]
    fn group(&mut self, l: L, _: &impl Tweaks, mut place: GateSlots<'_>, table: &mut [u8]) {
        let table = &mut table[..4 * PLANE];
        for q in 0..place.quads {
            let at = q * L::QUAD;
            let (a, b) = (
                load(l, &place, place.a, 0, at),
                load(l, &place, place.b, 0, at),
            );
            let [mut mac_a, mac_b, c, product] =
                [0, 1, 2, 3].map(|number| plane(l, table, number, at));
            for m in 0..4 {
                let of_b = l.and(l.permute_mask(a[m]), mac_b[m]);
                let of_a = l.and(l.permute_mask(b[m]), mac_a[m]);
                mac_a[m] = l.xor(l.xor(of_a, of_b), product[m]);
            }
            store(l, &mut place, 0, at, c);
            set_plane(l, table, 0, at, mac_a);
        }
    }
}
