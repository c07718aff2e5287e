//! Statements of products of replicated factors: what each role reshares is proved by it.
//!
//! Strings have their operands and constants in the order of statements, since few lanes, which
//! such tapes may have, would take long to be put together again and again.

use super::functions::{Chunk, Factors, Proved, multiplied, sum, write};
use super::stream::Prover;
use super::{Counts, KINDS};
use crate::keys::AT_ONCE;
use sealane_block::{Cpu, Kernel, Lanes, Tier};
use sealane_party::bits::words_for;
use sealane_party::wires::WIDE;
use sealane_proof::BitString;
use std::array;
use std::ops::Range;
use zeroize::Zeroizing;

/// The products of a batch at a role: rows of words, 64 lanes each.
#[derive(Clone, Copy)]
pub(crate) struct Reshared<'a> {
    pub(crate) lanes: usize,
    /// Both components of each operand: of ANDs, then of functions.
    pub(crate) operands: &'a [u64],
    /// Both parts of its share of zero.
    pub(crate) zeros: [&'a [u64]; 2],
}

/// ANDs in some words of their lanes: both components of both factors.
#[derive(Clone, Copy)]
pub(crate) struct Ands<'a> {
    pub(crate) x: [&'a [u64]; 2],
    /// A summand of the first factors beside `x`.
    pub(crate) more: Option<[&'a [u64]; 2]>,
    pub(crate) y: [&'a [u64]; 2],
}

/// The strings of one kind.
#[derive(Default)]
pub(super) struct Strings {
    /// Operands of this role's own statements: those that the role before has too, and those that
    /// the next one has. Both others have the same operands, with both factors exchanged.
    operands: [Vec<BitString>; 2],
    /// `c_R` of the role before, `c_L` of the next role.
    constants: [Vec<BitString>; 2],
}

impl Strings {
    fn with_capacity(kind: usize, count: usize) -> Strings {
        if count == 0 {
            return Strings::default();
        }
        let strings = |number: usize| {
            let empty = (0..number).map(|_| BitString::with_capacity(count));
            empty.collect::<Vec<_>>()
        };
        let kind = KINDS[kind];
        Strings {
            operands: [(); 2].map(|()| strings(kind.planes())),
            constants: [(); 2].map(|()| strings(kind.field.degree())),
        }
    }

    /// Statements; none if strings have different numbers of them.
    pub(super) fn count(&self) -> Option<usize> {
        let mut lengths = self.all().map(BitString::len);
        let first = lengths.next().unwrap_or(0);
        lengths.all(|length| length == first).then_some(first)
    }

    /// The strings of the statements of a prover.
    pub(super) fn of(&self, prover: Prover) -> Vec<&BitString> {
        match prover {
            Prover::Own => self.operands.iter().flatten().collect(),
            Prover::Other(side) => {
                let own = &self.operands[side];
                let (x, y) = own.split_at(own.len() / 2);
                y.iter().chain(x).chain(&self.constants[side]).collect()
            }
        }
    }

    fn all(&self) -> impl Iterator<Item = &BitString> {
        self.operands.iter().chain(&self.constants).flatten()
    }

    fn all_mut(&mut self) -> impl Iterator<Item = &mut BitString> {
        let lists = self.operands.iter_mut().chain(&mut self.constants);
        lists.flatten()
    }
}

/// The statements of a tape, by kind.
#[derive(Default)]
pub(crate) struct Products {
    pub(super) kinds: [Strings; KINDS.len()],
    /// Of products whose messages are in transit: `c_L` but for the message, row by row.
    awaited: Zeroizing<Vec<u64>>,
}

/// Appends a statement for each lane: rows, one to each string.
fn push(strings: &mut [BitString], rows: &[u64], range: Range<usize>, lanes: usize) {
    let words = words_for(lanes);
    let rows = rows[range.start * words..range.end * words].chunks_exact(words);
    for (string, row) in strings.iter_mut().zip(rows) {
        string.push(row, lanes);
    }
}

/// The factors of the products of a batch: of ANDs, then of functions.
fn factors<'p>(
    ands: usize,
    functions: impl Iterator<Item = &'p Proved>,
) -> impl Iterator<Item = Factors> {
    let factors = functions.map(|function| match function {
        Proved::Product(factors) => *factors,
        Proved::Inverse => unreachable!("it is not reshared"),
    });
    std::iter::repeat_n(Factors::AND, ands).chain(factors)
}

impl Products {
    /// No statements, with memory for so many.
    pub(crate) fn with_capacity(counts: &Counts) -> Products {
        Products {
            kinds: array::from_fn(|kind| Strings::with_capacity(kind, counts[kind])),
            awaited: Zeroizing::default(),
        }
    }

    /// Gives up memory that is not needed until a settlement.
    pub(super) fn shrink(&mut self) {
        let strings = self.kinds.iter_mut().flat_map(Strings::all_mut);
        strings.for_each(BitString::shrink);
    }

    /// Records a batch: its ANDs, then its functions in their order.
    pub(crate) fn sent<'p>(
        &mut self,
        cpu: Cpu,
        batch: Reshared<'_>,
        ands: usize,
        functions: impl Iterator<Item = &'p Proved> + Clone,
    ) {
        let words = words_for(batch.lanes);
        self.awaited = Zeroizing::new(Vec::with_capacity(batch.zeros[0].len()));
        // Of the largest product.
        let rows = &mut Zeroizing::new(vec![0; 6 * 4 * words])[..];
        let mut at = [0; 2];
        for factors in factors(ands, functions) {
            self.product(cpu, batch, at, factors, rows);
            at = [at[0] + 4 * factors.bits, at[1] + factors.bits];
        }
    }

    /// Records what the next role has sent for the batch that was recorded last.
    pub(crate) fn received<'p>(
        &mut self,
        lanes: usize,
        messages: &[u64],
        ands: usize,
        functions: impl Iterator<Item = &'p Proved>,
    ) {
        let words = words_for(lanes);
        let mut awaited = std::mem::take(&mut self.awaited);
        let mut done = 0;
        for factors in factors(ands, functions) {
            let of = done..done + factors.bits * words;
            done = of.end;
            let sums = &mut awaited[of.clone()];
            for (message, images) in messages[of].chunks_exact(words).zip(factors.images) {
                for (bit, sums) in sums.chunks_exact_mut(words).enumerate() {
                    if images >> bit & 1 == 1 {
                        let pairs = sums.iter_mut().zip(message);
                        pairs.for_each(|(sum, word)| *sum ^= word);
                    }
                }
            }
            let strings = &mut self.kinds[factors.kind()].constants[1];
            push(strings, sums, 0..factors.bits, lanes);
        }
    }

    /// Statements about ANDs so far.
    pub(crate) fn ands(&self) -> usize {
        self.kinds[0].count().unwrap_or(0)
    }

    /// Records ANDs in so many lanes, but for the message of the next role. Writes this role's own
    /// message, with words of no meaning behind the last lane.
    pub(crate) fn and(
        &mut self,
        cpu: Cpu,
        of: Ands<'_>,
        zeros: [&[u64]; 2],
        lanes: usize,
        message: &mut [u64],
    ) {
        let room = &mut *Zeroizing::new([[0; AT_ONCE]; 3]);
        let words = message.len();
        let [x0, x1, left] = room.each_mut().map(|row| &mut row[..words]);
        cpu.run(AndWords {
            of,
            zeros,
            x: [&mut *x0, &mut *x1],
            left: &mut *left,
            message,
        });
        let Strings {
            operands: [first, second],
            constants: [right, lefts],
        } = &mut self.kinds[0];
        let all = first.iter_mut().chain(second).chain(right).chain(lefts);
        let rows = [x0, of.y[0], of.y[1], x1, zeros[0], left];
        for (string, row) in all.zip(rows) {
            string.push(row, lanes);
        }
    }

    /// Adds the messages of the next role, a row for each AND, to statements from `first` on.
    pub(crate) fn and_received(&mut self, first: usize, messages: &[u64], lanes: usize) {
        let rows = messages.chunks_exact(words_for(lanes).max(1));
        let firsts = (first..).step_by(lanes.max(1));
        for string in &mut self.kinds[0].constants[1] {
            for (row, first) in rows.clone().zip(firsts.clone()) {
                string.add(first, row, lanes);
            }
        }
    }

    /// Appends other statements.
    pub(crate) fn append(&mut self, others: &Products) {
        for (strings, others) in self.kinds.iter_mut().zip(&others.kinds) {
            for (string, other) in strings.all_mut().zip(others.all()) {
                string.push(other.words(), other.len());
            }
        }
    }

    /// Makes it empty, and keeps the memory of all strings.
    pub(crate) fn clear(&mut self) {
        let strings = self.kinds.iter_mut().flat_map(Strings::all_mut);
        strings.for_each(BitString::clear);
    }

    fn product(
        &mut self,
        cpu: Cpu,
        batch: Reshared<'_>,
        at: [usize; 2],
        factors: Factors,
        rows: &mut [u64],
    ) {
        let (k, lanes) = (factors.bits, batch.lanes);
        let rows = &mut rows[..6 * k * words_for(lanes)];
        if k == 1 {
            cpu.run(Rows::<1>(batch, at, &factors, &mut *rows));
        } else {
            cpu.run(Rows::<4>(batch, at, &factors, &mut *rows));
        }
        let strings = &mut self.kinds[factors.kind()];
        push(&mut strings.operands[0], rows, 0..2 * k, lanes);
        push(&mut strings.operands[1], rows, 2 * k..4 * k, lanes);
        push(&mut strings.constants[0], rows, 4 * k..5 * k, lanes);
        let sums = &rows[5 * k * words_for(lanes)..];
        self.awaited.extend_from_slice(sums);
    }
}

/// [`Products::and`] but for its strings: the first factor, `c_L` of the next role but for its
/// message, and the message of this one.
struct AndWords<'a> {
    of: Ands<'a>,
    zeros: [&'a [u64]; 2],
    x: [&'a mut [u64]; 2],
    left: &'a mut [u64],
    message: &'a mut [u64],
}

impl Kernel for AndWords<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, _: L) {
        let words = self.message.len();
        let ([y0, y1], [f, g]) = (self.of.y, self.zeros);
        let ([y0, y1], [f, g]) = ([&y0[..words], &y1[..words]], [&f[..words], &g[..words]]);
        let [x0, x1] = self.x;
        x0.copy_from_slice(&self.of.x[0][..words]);
        x1.copy_from_slice(&self.of.x[1][..words]);
        if let Some([more0, more1]) = self.of.more {
            let (more0, more1) = (&more0[..words], &more1[..words]);
            for i in 0..words {
                x0[i] ^= more0[i];
                x1[i] ^= more1[i];
            }
        }
        for i in 0..words {
            self.message[i] = x0[i] & (y0[i] ^ y1[i]) ^ x1[i] & y0[i] ^ f[i] ^ g[i];
            self.left[i] = x1[i] & y1[i] ^ g[i];
        }
    }
}

/// Rows of a product, whose first rows of operands and of outputs are given: both factors, each
/// first the components that the role before has, then the constants of the role before and of the
/// next one, the latter but for its message.
struct Rows<'a, const K: usize>(Reshared<'a>, [usize; 2], &'a Factors, &'a mut [u64]);

impl<const K: usize> Kernel for Rows<'_, K> {
    type Output = ();
    // Memory is the limit, and the code of each tier is large.
    const WIDEST: Tier = Tier::Vaes256;

    #[inline(always)]
    fn run<L: Lanes>(self, _: L) {
        let Rows(batch, [at, out], factors, rows) = self;
        let (words, bits) = (words_for(batch.lanes), factors.bits);
        for first in (0..words).step_by(WIDE) {
            // No closure: a call that is not inlined would leave the tier.
            let place = [words, first];
            let (x, y) = (at, at + 2 * bits);
            let [x0, x1] = [
                factors.element::<K>(batch.operands, place, [x, 2]),
                factors.element::<K>(batch.operands, place, [x + 1, 2]),
            ];
            let [y0, y1] = [
                factors.element::<K>(batch.operands, place, [y, 2]),
                factors.element::<K>(batch.operands, place, [y + 1, 2]),
            ];
            let own_zero = factors.element::<K>(batch.zeros[0], place, [out, 1]);
            let next_zero = factors.element::<K>(batch.zeros[1], place, [out, 1]);
            let next = sum(multiplied(x1, y1), next_zero);
            let all: [[Chunk; K]; 6] = [x0, y0, y1, x1, own_zero, next];
            for (number, element) in all.into_iter().enumerate() {
                for (i, chunk) in element.into_iter().take(bits).enumerate() {
                    write(rows, [words, number * bits + i, first], chunk);
                }
            }
        }
    }
}
