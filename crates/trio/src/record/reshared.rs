//! Statements of products of replicated factors: what each role reshares is proved by it.
//!
//! Strings have their operands and constants in the order of statements, since few lanes, which
//! such tapes may have, would take long to be put together again and again.

use super::functions::{Chunk, Factors, Proved, multiplied, sum, write};
use super::stream::Prover;
use super::{Counts, KINDS};
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
        for strings in &mut self.kinds {
            let lists = strings.operands.iter_mut().chain(&mut strings.constants);
            lists.flatten().for_each(BitString::shrink);
        }
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
