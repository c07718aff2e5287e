//! The equations of an AND in each walk, on the quads of a group: see [`authenticated`](super).
//!
//! Masked values and shares become masks of their lanes and are never branched on.

use sealane_block::hash::HashLanes;
use sealane_block::lanes::Quad;
use sealane_block::{Block, GROUP, LabelHash, Lanes};

use super::MOST_GARBLERS;
use crate::half_gates::{A, B};
use crate::kernels::{GateKernel, GateLanes, GateSlots, MAX_LABELS, Tweaks};

/// Bit 0 of a block.
pub(super) const ONE_BIT: Block = Block::new(1);

/// An AND of masks: MACs and keys.
pub(super) struct MaskAnd;

/// Number of garblers: a constant where there is one, so that the code of two parties has no loops.
pub(super) trait Garblers: Copy {
    fn count(self) -> usize;
}

/// The garbler of two parties.
#[derive(Clone, Copy)]
pub(super) struct One;

/// So many garblers.
#[derive(Clone, Copy)]
pub(super) struct Many(pub(super) usize);

impl Garblers for One {
    #[inline(always)]
    fn count(self) -> usize {
        1
    }
}

impl Garblers for Many {
    #[inline(always)]
    fn count(self) -> usize {
        self.0
    }
}

/// The tweak part of the hash of an operand, of a label of garbler `of`, in what leads to labels of
/// garbler `to`.
#[inline(always)]
fn part(of: usize, to: usize, operand: u32) -> u32 {
    2 * (MOST_GARBLERS * of + to) as u32 + operand
}

const _: () = assert!(A == 0 && B == 1 && 2 * MOST_GARBLERS * MOST_GARBLERS < 4096);

/// The garbler's side of an AND.
pub(super) struct GarbleAnd<'a, H, G> {
    pub(super) hash: &'a H,
    pub(super) delta: Block,
    pub(super) garblers: G,
    /// Number of this garbler among them.
    pub(super) number: usize,
}

/// The evaluator's side of an AND.
pub(super) struct EvaluateAnd<'a, H, G> {
    pub(super) hash: &'a H,
    pub(super) delta: Block,
    pub(super) garblers: G,
}

/// An AND of masked values.
pub(super) struct AnswerAnd;

/// The form of a side inside a kernel.
pub(super) struct Keyed<L: Lanes, H, G, const GARBLES: bool> {
    hash: H,
    delta: L::V,
    garblers: G,
    number: usize,
}

/// Bytes of a plane of a group.
const PLANE: usize = 16 * GROUP;

/// The planes of a pair, as many as there may be: blocks.
const PLANES: &[usize] = &[16; evaluator_planes(MOST_GARBLERS)];

/// Planes of a garbler: its rows and their bit; before its own side, MACs and keys of the mask of
/// the output, the share of the label, and MACs for rows towards other garblers.
const fn garbler_planes(garblers: usize) -> usize {
    6 * garblers
}

/// Planes of the evaluator: rows and bits of all garblers; MACs and keys of the mask of the output,
/// MACs of the product, and its key.
const fn evaluator_planes(garblers: usize) -> usize {
    garblers * (3 * garblers) + 3 * garblers + 1
}

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

impl<H: LabelHash, G: Garblers> GateKernel for GarbleAnd<'_, H, G> {
    const PLANES: &'static [usize] = PLANES;
    const LABELS: usize = MAX_LABELS;
    type Lanes<L: Lanes> = Keyed<L, H::Lanes<L>, G, true>;

    #[inline(always)]
    fn planes(&self) -> &'static [usize] {
        &PLANES[..garbler_planes(self.garblers.count())]
    }

    #[inline(always)]
    fn pair(&self) -> usize {
        16 * garbler_planes(self.garblers.count())
    }

    #[inline(always)]
    fn labels(&self) -> usize {
        1 + 2 * self.garblers.count()
    }

    #[inline(always)]
    fn lanes<L: Lanes>(&self, l: L) -> Self::Lanes<L> {
        Keyed {
            hash: self.hash.lanes(l),
            delta: l.splat(self.delta),
            garblers: self.garblers,
            number: self.number,
        }
    }
}

/// Adds a quad to another.
#[inline(always)]
fn add<L: Lanes>(l: L, to: &mut Quad<L>, quad: Quad<L>) {
    *to = l.xor_quad(*to, quad);
}

impl<L: Lanes, H: HashLanes<L>, G: Garblers> Keyed<L, H, G, true> {
    /// The operand's MAC under the evaluator's offset, and this garbler's part of the product of
    /// its mask and the offset: its share of the mask, and the keys of the shares of all others.
    #[inline(always)]
    fn own(&self, l: L, place: &GateSlots<'_>, wire: usize, at: usize) -> [Quad<L>; 2] {
        let mac = load(l, place, wire, 1, at);
        let mut part = load(l, place, wire, 2, at);
        for peer in 1..self.garblers.count() {
            add(l, &mut part, load(l, place, wire, 2 + 2 * peer, at));
        }
        for m in 0..4 {
            part[m] = l.xor(part[m], l.and(l.permute_mask(mac[m]), self.delta));
        }
        [mac, part]
    }

    /// Rows for the labels of another garbler: this garbler's MACs of the masks, under that one's
    /// offset.
    #[inline(always)]
    fn rows_of_other(
        &mut self,
        l: L,
        (place, tweak): (&GateSlots<'_>, Quad<L>),
        other: usize,
        at: usize,
        table: &mut [u8],
    ) {
        let garblers = self.garblers.count();
        let to = other + usize::from(other >= self.number);
        let label = 1 + 2 * (other + 1);
        let [a, b] = [place.a, place.b].map(|wire| load(l, place, wire, 0, at));
        let [mac_a, mac_b] = [place.a, place.b].map(|wire| load(l, place, wire, label, at));
        let [part_a, part_b] = [A, B].map(|operand| part(self.number, to, operand));
        let [of_a, first] = self.hash.hash_and_sum(l, (tweak, part_a), self.delta, a);
        let [of_b, second] = self.hash.hash_and_sum(l, (tweak, part_b), self.delta, b);
        let mut third = plane(l, table, 5 * garblers + 1 + other, at);
        add(l, &mut third, l.xor_quad(of_a, of_b));
        let rows = [l.xor_quad(first, mac_b), l.xor_quad(second, mac_a), third];
        for (row, quad) in rows.into_iter().enumerate() {
            set_plane(l, table, 3 + 3 * other + row, at, quad);
        }
    }
}

impl<L: Lanes, H: HashLanes<L>, G: Garblers> GateLanes<L> for Keyed<L, H, G, true> {
    #[inline(always)]
    fn group(&mut self, l: L, tweaks: &impl Tweaks, mut place: GateSlots<'_>, table: &mut [u8]) {
        let garblers = self.garblers.count();
        let table = &mut table[..garbler_planes(garblers) * PLANE];
        let bit = l.splat(ONE_BIT);
        // Of its own side: masks of the output towards all others, then its share of the label.
        let (masks, share) = (3 * garblers, 5 * garblers);
        for q in 0..place.quads {
            let at = q * L::QUAD;
            let [a, b] = [place.a, place.b].map(|wire| load(l, &place, wire, 0, at));
            let [mac_a, own_a] = self.own(l, &place, place.a, at);
            let [mac_b, own_b] = self.own(l, &place, place.b, at);
            let tweak = tweaks.of_quad(l, &self.hash, q);
            for other in 0..garblers - 1 {
                self.rows_of_other(l, (&place, tweak), other, at, table);
            }
            let [part_a, part_b] = [A, B].map(|operand| part(self.number, self.number, operand));
            let [of_a, mut first] = self.hash.hash_and_sum(l, (tweak, part_a), self.delta, a);
            let [of_b, mut second] = self.hash.hash_and_sum(l, (tweak, part_b), self.delta, b);
            let mut c = plane(l, table, share, at);
            let mut lowest = c;
            for m in 0..4 {
                first[m] = l.xor(first[m], own_b[m]);
                second[m] = l.xor(second[m], l.xor(a[m], own_a[m]));
                c[m] = l.xor(c[m], l.xor(of_a[m], of_b[m]));
                lowest[m] = l.and(c[m], bit);
                c[m] = l.xor(c[m], lowest[m]);
            }
            store(l, &mut place, 0, at, c);
            for block in 0..2 * garblers {
                let quad = plane(l, table, masks + block, at);
                store(l, &mut place, 1 + block, at, quad);
            }
            for (number, quad) in [first, second, lowest].into_iter().enumerate() {
                set_plane(l, table, number, at, quad);
            }
            for (number, quad) in [(masks, mac_a), (masks + 1, mac_b), (share, c)] {
                set_plane(l, table, number, at, quad);
            }
        }
    }
}

impl<H: LabelHash, G: Garblers> GateKernel for EvaluateAnd<'_, H, G> {
    const PLANES: &'static [usize] = PLANES;
    const LABELS: usize = MAX_LABELS;
    type Lanes<L: Lanes> = Keyed<L, H::Lanes<L>, G, false>;

    #[inline(always)]
    fn planes(&self) -> &'static [usize] {
        &PLANES[..evaluator_planes(self.garblers.count())]
    }

    #[inline(always)]
    fn pair(&self) -> usize {
        16 * evaluator_planes(self.garblers.count())
    }

    #[inline(always)]
    fn labels(&self) -> usize {
        3 * self.garblers.count()
    }

    #[inline(always)]
    fn lanes<L: Lanes>(&self, l: L) -> Self::Lanes<L> {
        Keyed {
            hash: self.hash.lanes(l),
            delta: l.splat(self.delta),
            garblers: self.garblers,
            number: 0,
        }
    }
}

impl<L: Lanes, H: HashLanes<L>, G: Garblers> Keyed<L, H, G, false> {
    /// The label of garbler `to`, by the masked values of the operands, as masks of lanes.
    #[inline(always)]
    fn label_of(
        &mut self,
        l: L,
        (place, tweak): (&GateSlots<'_>, Quad<L>),
        (to, at): (usize, usize),
        [m_a, m_b]: [Quad<L>; 2],
        table: &[u8],
    ) -> Quad<L> {
        let garblers = self.garblers.count();
        let own = 3 * garblers * garblers;
        let mac = garblers + 2 * to;
        // What a masked value of 1 takes, and the rest.
        let mut with_a = load(l, place, place.b, mac, at);
        let mut with_b = load(l, place, place.a, mac, at);
        let mut rest = plane(l, table, own + 2 * garblers + to, at);
        for of in 0..garblers {
            let rows = 3 * garblers * of;
            let [a, b] = [place.a, place.b].map(|wire| load(l, place, wire, of, at));
            let [part_a, part_b] = [A, B].map(|operand| part(of, to, operand));
            let tweaks = [(tweak, part_a), (tweak, part_b)];
            let [of_a, of_b] = self.hash.hash_one(l, tweaks, [a, b]);
            add(l, &mut rest, l.xor_quad(of_a, of_b));
            let [first, second, third] = if of == to {
                add(l, &mut with_b, a);
                [0, 1, 2]
            } else {
                let other = to - usize::from(to > of);
                [0, 1, 2].map(|row| 3 + 3 * other + row)
            };
            add(l, &mut with_a, plane(l, table, rows + first, at));
            add(l, &mut with_b, plane(l, table, rows + second, at));
            add(l, &mut rest, plane(l, table, rows + third, at));
        }
        for m in 0..4 {
            let taken = l.xor(l.and(m_a[m], with_a[m]), l.and(m_b[m], with_b[m]));
            rest[m] = l.xor(rest[m], taken);
        }
        rest
    }

    /// The sum of the MACs that garblers are to show of the masked value of `c`.
    #[inline(always)]
    fn expected(
        &self,
        l: L,
        (place, at): (&GateSlots<'_>, usize),
        [m_a, m_b]: [Quad<L>; 2],
        c: Quad<L>,
        table: &[u8],
    ) -> Quad<L> {
        let garblers = self.garblers.count();
        let own = 3 * garblers * garblers;
        let [mac_a, mac_b] = [place.a, place.b].map(|wire| load(l, place, wire, garblers, at));
        let product_mac = plane(l, table, own + 2 * garblers, at);
        let mut expected = plane(l, table, own + 3 * garblers, at);
        let keys = |wire| {
            let mut keys = load(l, place, wire, garblers + 1, at);
            for of in 1..garblers {
                add(
                    l,
                    &mut keys,
                    load(l, place, wire, garblers + 1 + 2 * of, at),
                );
            }
            keys
        };
        let [key_a, key_b] = [place.a, place.b].map(keys);
        for m in 0..4 {
            // A term that a masked value takes, of an operand's mask.
            let sum = |of_b, of_a| l.xor(l.and(m_a[m], of_b), l.and(m_b[m], of_a));
            // This party's share of what the MACs are of, and the sum of those of all others.
            let share = l.xor(sum(mac_b[m], mac_a[m]), product_mac[m]);
            let signs = l.xor(l.permute_mask(share), l.permute_mask(c[m]));
            let theirs = l.xor(l.and(m_a[m], m_b[m]), signs);
            let keys = l.xor(sum(key_b[m], key_a[m]), expected[m]);
            expected[m] = l.xor(keys, l.and(theirs, self.delta));
        }
        expected
    }
}

impl<L: Lanes, H: HashLanes<L>, G: Garblers> GateLanes<L> for Keyed<L, H, G, false> {
    #[inline(always)]
    fn group(&mut self, l: L, tweaks: &impl Tweaks, mut place: GateSlots<'_>, table: &mut [u8]) {
        let garblers = self.garblers.count();
        let table = &mut table[..evaluator_planes(garblers) * PLANE];
        let own = 3 * garblers * garblers;
        for q in 0..place.quads {
            let at = q * L::QUAD;
            let tweak = tweaks.of_quad(l, &self.hash, q);
            // The first garbler's labels say what all others' have to be labels of.
            let masked = [place.a, place.b].map(|wire| {
                let mut label = load(l, &place, wire, 0, at);
                label
                    .iter_mut()
                    .for_each(|label| *label = l.permute_mask(*label));
                label
            });
            let c = self.label_of(l, (&place, tweak), (0, at), masked, table);
            for to in 1..garblers {
                let label = self.label_of(l, (&place, tweak), (to, at), masked, table);
                // Its own bit is read, and the label takes its place until operands are, too.
                set_plane(l, table, 3 * garblers * to + 2, at, label);
            }
            let expected = self.expected(l, (&place, at), masked, c, table);
            for block in 0..2 * garblers {
                let quad = plane(l, table, own + block, at);
                store(l, &mut place, garblers + block, at, quad);
            }
            for to in 0..garblers {
                let label = match to {
                    0 => c,
                    _ => plane(l, table, 3 * garblers * to + 2, at),
                };
                store(l, &mut place, to, at, label);
                set_plane(l, table, own + 2 * to, at, label);
            }
            set_plane(l, table, own + 1, at, expected);
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
