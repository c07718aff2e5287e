//! Statements of gates under masks, from what a role has of their level: rows of words, 64 lanes
//! each.
//!
//! The three messages of a gate are a deal and two openings, and each is a sum
//! of products of what both others have as well: with `l = l_1 + l_2` and `v = m + l`
//!
//! ```text
//! message       prover  products                             c_L            c_R
//! D of l_a l_b  helper  l1_a l2_b, l1_b l2_a                 l1_a l1_b + g  l2_a l2_b + D
//! u of a b      before  m_a l1_b, m_b l1_a                   m_a m_b + u    g + z_1
//! u of a b      after   l2_a m_b, l2_b m_a                   D + z_2        u
//! D of l^3      helper  l1 l2^2, l1^2 l2                     l1^3 + g       l2^3 + D
//! D of l^5      helper  l1 l2^4, l1^4 l2                     l1^5 + g       l2^5 + D
//! D of l^7      helper  l1 D3^2, g3^2 l2                     l1 g3^2 + g    l2 D3^2 + D
//! u of v^14     before  m^12 l1^2, m^10 l1^4, m^8 g3^2,      m^14 + u       g7^2 + z_1
//!                       m^6 l1^8, m^4 g5^2, m^2 g3^4
//! u of v^14     after   the same with l2 and D on the left   D7^2 + z_2     u
//! ```
//!
//! where `g` is the share of a deal at the role before, `D` that at the role after, `z_1` and `z_2`
//! masks of the output. Products have one form under all duties: components `i` and `i + 1` of both
//! factors. A helper deals products of the bits of `l`, from which its odd powers follow by linear
//! maps that can be inverted: who proves these has proved those.

use super::functions::{Chunk, DEALS, DEALT, Factors, Proved, ZERO, multiplied, odd_power, sum};
use super::rows::Work;
use super::stream::{Prover, UNIT};
use super::{OPENING16, PRODUCT16};
use crate::masked::Words;
use sealane_block::{Cpu, Kernel, Lanes, Tier};
use sealane_circuit::function::product;
use sealane_circuit::function::quotient::{Element, even_powers, odd_powers};
use sealane_party::bits::words_for;
use sealane_party::wires::WIDE;

/// The rows that a role has of a level. In front of each row and behind it there are more words.
#[derive(Clone, Copy)]
pub(super) struct Seen<'a> {
    pub(super) work: Work,
    pub(super) lanes: usize,
    pub(super) memory: &'a [u64],
    /// The first word of both components of operands: of ANDs, then of functions.
    pub(super) operands: usize,
    /// Of a row for each bit that is dealt: what a helper sends, or this role's share.
    pub(super) dealt: usize,
    /// Of a row for each bit of an output: both masks at the helper; at the others what the other
    /// one of them sends.
    pub(super) outs: [usize; 2],
}

/// The first rows of a gate: of its operands, of what is dealt, and of its outputs.
#[derive(Clone, Copy, Default)]
pub(super) struct Gate {
    pub(super) operands: usize,
    pub(super) dealt: usize,
    pub(super) out: usize,
}

impl Gate {
    /// Goes behind a gate.
    pub(super) fn skip(&mut self, gate: &Proved) {
        let [operands, dealt, out] = match gate {
            Proved::Product(Factors { bits, .. }) => [2 * bits, *bits, *bits],
            Proved::Inverse => [4, DEALT, 4],
        };
        self.operands += 2 * operands;
        self.dealt += dealt;
        self.out += out;
    }
}

/// Statements of a gate in some of its lanes.
#[derive(Clone, Copy)]
pub(super) struct Unit<'a> {
    seen: Seen<'a>,
    at: Gate,
    of: Of<'a>,
    prover: Prover,
    /// The first of its lanes, which begins a word.
    start: usize,
}

/// A statement of a gate.
#[derive(Clone, Copy)]
enum Of<'a> {
    Product(&'a Factors),
    /// That a power of a mask was dealt, of those with a statement.
    Deal(usize),
    /// That an inverse was opened.
    Opening,
}

/// The statements of a gate of this kind and prover, in order.
pub(super) fn units<'a>(
    seen: Seen<'a>,
    (gate, at): &'a (Proved, Gate),
    kind: usize,
    prover: Prover,
) -> impl Iterator<Item = Unit<'a>> {
    let helper = match seen.work {
        Work::Helper => Prover::Own,
        Work::Before => Prover::Other(1),
        Work::After => Prover::Other(0),
    };
    let one = |of| [Some(of), None, None];
    let of: [_; DEALS] = match gate {
        Proved::Product(factors) if factors.kind() == kind => one(Of::Product(factors)),
        Proved::Inverse if kind == PRODUCT16 && prover == helper => {
            [0, 1, 2].map(|deal| Some(Of::Deal(deal)))
        }
        Proved::Inverse if kind == OPENING16 && prover != helper => one(Of::Opening),
        _ => [None; DEALS],
    };
    of.into_iter().flatten().flat_map(move |of| {
        let starts = (0..seen.lanes).step_by(UNIT);
        starts.map(move |start| Unit {
            seen,
            at: *at,
            of,
            prover,
            start,
        })
    })
}

/// Rows that are made of statements, with more words in front of each and behind it.
pub(super) struct Made<'a>(pub(super) &'a mut [u64]);

impl Made<'_> {
    /// Words from one row to the next.
    pub(super) const STRIDE: usize = UNIT / 64 + 2 * WIDE;
    /// Words of a row with the one in front of it and those behind it that are read.
    pub(super) const ROW: usize = Made::STRIDE - WIDE + 1;

    /// Writes the first bits of an element, each to a row, in a chunk that begins at a word.
    #[inline(always)]
    fn put<const K: usize>(&mut self, first: usize, word: usize, bits: usize, element: [Chunk; K]) {
        for (bit, Words(chunk)) in element.iter().take(bits).enumerate() {
            let to = (first + bit) * Made::STRIDE + WIDE + word;
            self.0[to..][..WIDE].copy_from_slice(chunk);
        }
    }
}

impl<'a> Unit<'a> {
    /// Statements.
    pub(super) fn count(&self) -> usize {
        UNIT.min(self.seen.lanes - self.start)
    }

    /// A row for each string, from a word in front of it on. Those that this role does not have as
    /// they are go to `made`.
    pub(super) fn rows(self, cpu: Cpu, made: &'a mut [u64], rows: &mut Vec<&'a [u64]>) {
        if let Of::Product(factors) = self.of
            && factors.is_plain()
        {
            let (x, y) = (self.at.operands, self.at.operands + 2 * factors.bits);
            let firsts: &[usize] = match self.prover {
                Prover::Own => &[x, y, y + 1, x + 1],
                Prover::Other(0) => &[y, x],
                Prover::Other(_) => &[x + 1, y + 1],
            };
            for first in firsts {
                let each = (0..factors.bits).map(|bit| first + 2 * bit);
                rows.extend(each.map(|row| self.row(row)));
            }
            if self.prover == Prover::Own {
                return;
            }
        }
        let to = Made(&mut *made);
        match self.of {
            Of::Product(factors) if !factors.is_plain() => {
                cpu.run(Products::<4>(self, factors, to));
            }
            Of::Product(factors) if factors.bits == 1 => cpu.run(Constant::<1>(self, to)),
            Of::Product(_) => cpu.run(Constant::<4>(self, to)),
            Of::Deal(0) => cpu.run(Deal::<0>(self, to)),
            Of::Deal(1) => cpu.run(Deal::<1>(self, to)),
            Of::Deal(_) => cpu.run(Deal::<2>(self, to)),
            Of::Opening => cpu.run(Opening(self, to)),
        }
        let made = made.chunks_exact(Made::STRIDE);
        rows.extend(made.map(|row| &row[WIDE - 1..]));
    }

    /// A row of operands, from a word in front of it on.
    fn row(&self, row: usize) -> &'a [u64] {
        let first = self.seen.operands + row * words_for(self.seen.lanes);
        &self.seen.memory[first + self.start / 64 - 1..]
    }

    /// Each chunk of its lanes, and the word that it begins in rows of statements.
    #[inline(always)]
    fn chunks(self) -> impl Iterator<Item = (Rows<'a>, usize)> {
        let words = (0..words_for(self.count())).step_by(WIDE);
        words.map(move |word| {
            let rows = Rows {
                seen: self.seen,
                at: self.at,
                words: words_for(self.seen.lanes),
                first: self.start / 64 + word,
            };
            (rows, word)
        })
    }
}

/// The rows of a gate in a chunk of lanes.
#[derive(Clone, Copy)]
struct Rows<'a> {
    seen: Seen<'a>,
    at: Gate,
    /// Words of a row, and the first one of the chunk.
    words: usize,
    first: usize,
}

impl Rows<'_> {
    /// An element of so many bits, with words of no meaning behind the last lane.
    #[inline(always)]
    fn element<const K: usize>(&self, bits: usize, [start, row, step]: [usize; 3]) -> [Chunk; K] {
        let mut element = [ZERO; K];
        for (i, Words(to)) in element.iter_mut().take(bits).enumerate() {
            let at = start + (row + step * i) * self.words + self.first;
            to.copy_from_slice(&self.seen.memory[at..][..WIDE]);
        }
        element
    }

    /// A component of the operand that begins at a row of those of the gate.
    #[inline(always)]
    fn operand<const K: usize>(&self, bits: usize, row: usize, component: usize) -> [Chunk; K] {
        let row = self.at.operands + row + component;
        self.element(bits, [self.seen.operands, row, 2])
    }

    #[inline(always)]
    fn dealt<const K: usize>(&self, bits: usize) -> [Chunk; K] {
        self.element(bits, [self.seen.dealt, self.at.dealt, 1])
    }

    /// A mask of the output, or what the other one that opens has sent.
    #[inline(always)]
    fn out<const K: usize>(&self, bits: usize, which: usize) -> [Chunk; K] {
        self.element(bits, [self.seen.outs[which], self.at.out, 1])
    }

    /// Shares of the powers 3, 5 and 7 of one of the masks.
    #[inline(always)]
    fn shares(&self, mask: &Element<Chunk>) -> [Element<Chunk>; DEALS] {
        let dealt = &self.dealt(DEALT);
        [
            odd_power::<0>(mask, dealt),
            odd_power::<1>(mask, dealt),
            odd_power::<2>(mask, dealt),
        ]
    }

    /// The helper's own shares of the powers of the whole mask, of which it has sent others.
    #[inline(always)]
    fn kept(&self, sent: [Element<Chunk>; DEALS]) -> [Element<Chunk>; DEALS] {
        let all = odd_powers(sum(self.operand(4, 0, 0), self.operand(4, 0, 1)));
        [
            sum(all[0], sent[0]),
            sum(all[1], sent[1]),
            sum(all[2], sent[2]),
        ]
    }
}

/// Summands of a role's constant of a product.
#[derive(Clone, Copy)]
enum Constants {
    /// The product of the masks, what was dealt of it, and the mask of the role before.
    Dealt,
    /// The deal, and the mask of the role after.
    Given,
    /// The message of the other one that opens.
    Received,
    /// The product of its components, and what was dealt.
    Shared,
    /// The product of its components, and what the other one that opens has sent.
    Opened,
}

impl Constants {
    fn of(work: Work, side: usize) -> Constants {
        match (work, side) {
            (Work::Helper, 0) => Constants::Dealt,
            (Work::Helper, _) => Constants::Given,
            (Work::Before, 0) => Constants::Received,
            (Work::After, 0) | (Work::Before, _) => Constants::Shared,
            (Work::After, _) => Constants::Opened,
        }
    }
}

/// Constants of a product of bits, or of elements of the tower, of which operands are rows as they
/// are.
struct Constant<'a, const K: usize>(Unit<'a>, Made<'a>);

impl<const K: usize> Kernel for Constant<'_, K> {
    type Output = ();
    // Memory is the limit, and the code of each tier is large.
    const WIDEST: Tier = Tier::Vaes256;

    #[inline(always)]
    fn run<L: Lanes>(self, _: L) {
        let Constant(unit, mut made) = self;
        let side = unit.prover.side();
        let constants = Constants::of(unit.seen.work, side);
        for (rows, word) in unit.chunks() {
            let constant = match constants {
                Constants::Dealt => {
                    let x = sum(rows.operand::<K>(K, 0, 0), rows.operand(K, 0, 1));
                    let y = sum(rows.operand(K, 2 * K, 0), rows.operand(K, 2 * K, 1));
                    sum(multiplied(x, y), sum(rows.dealt(K), rows.out(K, 0)))
                }
                Constants::Given => sum(rows.dealt::<K>(K), rows.out(K, 1)),
                Constants::Received => rows.out(K, 0),
                Constants::Shared => {
                    let own = multiplied(rows.operand(K, 0, side), rows.operand(K, 2 * K, side));
                    sum(own, rows.dealt::<K>(K))
                }
                Constants::Opened => {
                    let own = multiplied(rows.operand(K, 0, side), rows.operand(K, 2 * K, side));
                    sum(own, rows.out::<K>(K, 0))
                }
            };
            made.put(0, word, K, constant);
        }
    }
}

/// Statements of a product in another representation: at the prover both factors, each first the
/// components that the role before has. At a verifier the same factors are exchanged.
struct Products<'a, const K: usize>(Unit<'a>, &'a Factors, Made<'a>);

impl<const K: usize> Kernel for Products<'_, K> {
    type Output = ();
    // Few tapes have such factors, and the code of each tier is large.
    const WIDEST: Tier = Tier::AesNi;

    #[inline(always)]
    fn run<L: Lanes>(self, _: L) {
        let Products(unit, factors, mut made) = self;
        let (bits, side) = (factors.bits, unit.prover.side());
        let constants = Constants::of(unit.seen.work, side);
        for (rows, word) in unit.chunks() {
            let [x0, x1] = [
                factors.image::<K>(rows.operand(bits, 0, 0)),
                factors.image::<K>(rows.operand(bits, 0, 1)),
            ];
            let [y0, y1] = [
                factors.image(rows.operand(bits, 2 * bits, 0)),
                factors.image(rows.operand(bits, 2 * bits, 1)),
            ];
            if unit.prover == Prover::Own {
                made.put(0, word, bits, x0);
                made.put(bits, word, bits, y0);
                made.put(2 * bits, word, bits, y1);
                made.put(3 * bits, word, bits, x1);
                continue;
            }
            let [first, second] = if side == 0 { [y0, x0] } else { [x1, y1] };
            let own = multiplied(first, second);
            let dealt = factors.image(rows.dealt(bits));
            let out = factors.image(rows.out(
                bits,
                match constants {
                    Constants::Given => 1,
                    _ => 0,
                },
            ));
            let constant = match constants {
                Constants::Dealt => sum(multiplied(sum(x0, x1), sum(y0, y1)), sum(dealt, out)),
                Constants::Given => sum(dealt, out),
                Constants::Received => out,
                Constants::Shared => sum(own, dealt),
                Constants::Opened => sum(own, out),
            };
            made.put(0, word, bits, first);
            made.put(bits, word, bits, second);
            made.put(2 * bits, word, bits, constant);
        }
    }
}

/// Statements that power `3 + 2 POWER` of a mask was dealt.
struct Deal<'a, const POWER: usize>(Unit<'a>, Made<'a>);

impl<const POWER: usize> Kernel for Deal<'_, POWER> {
    type Output = ();
    // As of constants.
    const WIDEST: Tier = Tier::Vaes256;

    #[inline(always)]
    fn run<L: Lanes>(self, _: L) {
        let Deal(unit, mut made) = self;
        for (rows, word) in unit.chunks() {
            // Operands of one side: the mask, and the even power of it or of its share that the
            // deal is about; on the right the other way round.
            if unit.seen.work == Work::Helper {
                let (one, two) = (rows.operand(4, 0, 0), rows.operand(4, 0, 1));
                let sent = rows.shares(&two);
                let kept = even_powers(one, rows.kept(sent));
                made.put(0, word, 4, one);
                made.put(4, word, 4, kept[POWER]);
                made.put(8, word, 4, even_powers(two, sent)[POWER]);
                made.put(12, word, 4, two);
            } else {
                let before = unit.seen.work == Work::Before;
                let mask = rows.operand(4, 0, usize::from(before));
                let share = rows.shares(&mask);
                let even = even_powers(mask, share)[POWER];
                made.put(if before { 0 } else { 4 }, word, 4, mask);
                made.put(if before { 4 } else { 0 }, word, 4, even);
                // The powers 3, 5 and 7, the last one with the share of the third.
                made.put(8, word, 4, sum(product(mask, even), share[POWER]));
            }
        }
    }
}

/// Statements that an inverse was opened.
struct Opening<'a>(Unit<'a>, Made<'a>);

impl Kernel for Opening<'_> {
    type Output = ();
    // As of constants.
    const WIDEST: Tier = Tier::Vaes256;

    #[inline(always)]
    fn run<L: Lanes>(self, _: L) {
        let Opening(unit, mut made) = self;
        let own = unit.prover == Prover::Own;
        for (rows, word) in unit.chunks() {
            if unit.seen.work == Work::Helper {
                let (one, two) = (rows.operand(4, 0, 0), rows.operand(4, 0, 1));
                let (side, sent) = (unit.prover.side(), rows.shares(&two));
                let even = if side == 0 {
                    even_powers(one, rows.kept(sent))
                } else {
                    even_powers(two, sent)
                };
                for (number, element) in even.into_iter().take(6).enumerate() {
                    made.put(4 * number, word, 4, element);
                }
                made.put(4 * 6, word, 4, sum(even[6], rows.out(4, side)));
                continue;
            }
            // What is masked lies on the left at the role before, with the highest power first.
            let before = unit.seen.work == Work::Before;
            let masked = rows.operand(4, 0, usize::from(!before));
            let masked = even_powers(masked, odd_powers(masked));
            let (left, right) = if own { (0, 4 * 6) } else { (0, 0) };
            let (first, second) = if before { (left, right) } else { (right, left) };
            for number in 0..6 {
                made.put(first + 4 * number, word, 4, masked[5 - number]);
            }
            if own {
                let mask = rows.operand(4, 0, usize::from(before));
                let shares = even_powers(mask, rows.shares(&mask));
                for (number, share) in shares.into_iter().take(6).enumerate() {
                    made.put(second + 4 * number, word, 4, share);
                }
            } else if before {
                made.put(4 * 6, word, 4, rows.out::<4>(4, 0));
            } else {
                made.put(4 * 6, word, 4, sum(masked[6], rows.out(4, 0)));
            }
        }
    }
}
