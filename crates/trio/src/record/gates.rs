//! Statements of the gates of a level, from what a role has of it: rows of words, 64 lanes each.
//!
//! With replicated factors, each role reshares its summand ([`Duty::Equal`]). Under masks
//! ([`crate::masked`]) the three messages of a gate are a deal and two openings, and each is a sum
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

use super::Record;
use super::functions::{Chunk, DEALS, DEALT, Factors, OddPowers, Proved, ZERO, multiplied, sum};
use crate::masked::Words;
use sealane_block::{Cpu, Kernel, Lanes};
use sealane_circuit::function::product;
use sealane_circuit::function::quotient::{Element, even_powers, odd_powers};
use sealane_party::bits::words_for;
use sealane_party::wires::WIDE;
use sealane_proof::BitString;
use std::array;
use std::ops::Range;
use zeroize::Zeroizing;

/// The duty of a role in the gates of a level, with the rows that it has: one for each bit that is
/// dealt, or for each bit of an output.
#[derive(Clone, Copy)]
pub(crate) enum Duty<'a> {
    /// Reshares its summand: both parts of its share of zero.
    Equal { zeros: [&'a [u64]; 2] },
    /// Deals: what it sends, and both masks of outputs.
    Helper {
        dealt: &'a [u64],
        masks: [&'a [u64]; 2],
    },
    /// Opens as the role before the helper: its shares of deals, and what the other one sends.
    Before {
        dealt: &'a [u64],
        received: &'a [u64],
    },
    /// Opens as the role after the helper, in the same way.
    After {
        dealt: &'a [u64],
        received: &'a [u64],
    },
}

/// The rows that a role has of a level.
#[derive(Clone, Copy)]
pub(crate) struct Seen<'a> {
    pub(crate) lanes: usize,
    /// Both components of each operand: of ANDs, then of functions.
    pub(crate) operands: &'a [u64],
    pub(crate) duty: Duty<'a>,
}

/// The first rows of a gate: of its operands, of what is dealt, and of its outputs.
#[derive(Clone, Copy, Default)]
struct Gate {
    operands: usize,
    dealt: usize,
    out: usize,
}

impl Gate {
    fn skip(&mut self, operands: usize, dealt: usize, out: usize) {
        self.operands += 2 * operands;
        self.dealt += dealt;
        self.out += out;
    }
}

/// Appends a statement for each lane: rows, one to each string.
fn push(strings: &mut [BitString], rows: &[u64], range: Range<usize>, lanes: usize) {
    let words = words_for(lanes);
    let rows = rows[range.start * words..range.end * words].chunks_exact(words);
    for (string, row) in strings.iter_mut().zip(rows) {
        string.push(row, lanes);
    }
}

impl Record {
    /// Records a level: its ANDs, then its functions in their order.
    pub(crate) fn level<'p>(
        &mut self,
        cpu: Cpu,
        seen: Seen<'_>,
        ands: usize,
        functions: impl Iterator<Item = &'p Proved> + Clone,
    ) {
        if let Duty::Equal { zeros } = seen.duty {
            self.awaited = Zeroizing::new(Vec::with_capacity(zeros[0].len()));
        }
        let mut at = Gate::default();
        // Of the largest gate.
        let rows = 4 * INVERSE * words_for(seen.lanes);
        let rows = &mut Zeroizing::new(vec![0; rows])[..];
        for _ in 0..ands {
            self.product(cpu, seen, at, Factors::AND, rows);
            at.skip(2, 1, 1);
        }
        for function in functions {
            match function {
                Proved::Product(factors) => {
                    self.product(cpu, seen, at, *factors, rows);
                    at.skip(2 * factors.bits, factors.bits, factors.bits);
                }
                Proved::Inverse(powers) => {
                    self.inverse(cpu, seen, at, powers, rows);
                    at.skip(4, DEALT, 4);
                }
            }
        }
    }

    /// Records what the next role has sent for the gates that were recorded as [`Duty::Equal`].
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
        let factors = functions.map(|function| match function {
            Proved::Product(factors) => *factors,
            Proved::Inverse(_) => unreachable!("it is not reshared"),
        });
        for factors in std::iter::repeat_n(Factors::AND, ands).chain(factors) {
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

    fn product(&mut self, cpu: Cpu, seen: Seen<'_>, at: Gate, factors: Factors, rows: &mut [u64]) {
        let k = factors.bits;
        let rows = &mut rows[..6 * k * words_for(seen.lanes)];
        let factors = &factors;
        if k == 1 {
            cpu.run(Products::<1>(seen, at, factors, &mut *rows));
        } else {
            cpu.run(Products::<4>(seen, at, factors, &mut *rows));
        }
        let (rows, lanes) = (&*rows, seen.lanes);
        let strings = &mut self.kinds[factors.kind()];
        push(&mut strings.proven[0], rows, 0..2 * k, lanes);
        push(&mut strings.proven[1], rows, 2 * k..4 * k, lanes);
        // With both factors exchanged, where these have strings of their own.
        for (side, list) in strings.verified.iter_mut().enumerate() {
            let half = list.len() / 2;
            let (x, y) = list.split_at_mut(half);
            push(x, rows, (2 * side + 1) * k..(2 * side + 2) * k, lanes);
            push(y, rows, 2 * side * k..(2 * side + 1) * k, lanes);
        }
        push(&mut strings.constants[0], rows, 4 * k..5 * k, lanes);
        match seen.duty {
            Duty::Equal { .. } => {
                let sums = &rows[5 * k * words_for(lanes)..];
                self.awaited.extend_from_slice(sums);
            }
            _ => push(&mut strings.constants[1], rows, 5 * k..6 * k, lanes),
        }
    }

    fn inverse(
        &mut self,
        cpu: Cpu,
        seen: Seen<'_>,
        at: Gate,
        powers: &OddPowers,
        rows: &mut [u64],
    ) {
        cpu.run(Inverse(seen, at, powers, &mut *rows));
        let (rows, lanes) = (&*rows, seen.lanes);
        let put = |strings: &mut [BitString], elements: Range<usize>| {
            push(strings, rows, 4 * elements.start..4 * elements.end, lanes);
        };
        let [.., deals, openings] = &mut self.kinds;
        // Pairs of elements, one for each statement of a deal.
        let pair = |first: usize, deal: usize| first + 2 * deal..first + 2 * deal + 2;
        match seen.duty {
            Duty::Equal { .. } => unreachable!("an inverse runs under masks"),
            Duty::Helper { .. } => {
                for deal in 0..DEALS {
                    put(&mut deals.proven[0], pair(0, deal));
                    put(&mut deals.proven[1], pair(6, deal));
                }
                put(&mut openings.verified[0], 12..18);
                put(&mut openings.constants[0], 18..19);
                put(&mut openings.verified[1], 19..25);
                put(&mut openings.constants[1], 25..26);
            }
            Duty::Before { .. } | Duty::After { .. } => {
                // The helper is the next role, and the other one that opens the role before; or the
                // other way round.
                let (helper, other) = match seen.duty {
                    Duty::Before { .. } => (1, 0),
                    _ => (0, 1),
                };
                for deal in 0..DEALS {
                    put(&mut deals.verified[helper], pair(0, deal));
                    put(&mut deals.constants[helper], 6 + deal..7 + deal);
                }
                put(&mut openings.proven[other], 9..15);
                put(&mut openings.proven[helper], 15..21);
                put(&mut openings.verified[other], 9..15);
                put(&mut openings.constants[other], 21..22);
            }
        }
    }
}

/// The words of a chunk in a row, zero behind its end.
#[inline(always)]
fn read(rows: &[u64], [words, row, first]: [usize; 3]) -> Chunk {
    let row = &rows[row * words..][first..words];
    match row.first_chunk() {
        Some(chunk) => Words(*chunk),
        None => {
            let mut chunk = [0; WIDE];
            chunk[..row.len()].copy_from_slice(row);
            Words(chunk)
        }
    }
}

#[inline(always)]
fn write(rows: &mut [u64], [words, row, first]: [usize; 3], Words(chunk): Chunk) {
    let row = &mut rows[row * words..][first..words];
    match row.first_chunk_mut() {
        Some(to) => *to = chunk,
        None => row.copy_from_slice(&chunk[..row.len()]),
    }
}

/// Statements of a product: rows of both factors as the prover has them, each first the components
/// that the role before has, and those of the constants of the role before and of the next one.
struct Products<'a, const K: usize>(Seen<'a>, Gate, &'a Factors, &'a mut [u64]);

impl<const K: usize> Kernel for Products<'_, K> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, _: L) {
        let Products(seen, at, factors, rows) = self;
        let (words, bits) = (words_for(seen.lanes), factors.bits);
        for first in (0..words).step_by(WIDE) {
            let element = |rows: &[u64], start: usize, step: usize| {
                let mut element = [ZERO; K];
                for (i, to) in element.iter_mut().take(bits).enumerate() {
                    *to = read(rows, [words, start + step * i, first]);
                }
                factors.image(element)
            };
            let operand = |start: usize| element(seen.operands, at.operands + start, 2);
            let [x, y] = [0, 2 * bits].map(|start| [operand(start), operand(start + 1)]);
            let own = |place: usize| multiplied(x[place], y[place]);
            let dealt = |rows| element(rows, at.dealt, 1);
            let out = |rows| element(rows, at.out, 1);
            let constants = match seen.duty {
                Duty::Equal {
                    zeros: [own_zero, next_zero],
                } => [out(own_zero), sum(own(1), out(next_zero))],
                Duty::Helper {
                    dealt: given,
                    masks,
                } => {
                    let both = multiplied(sum(x[0], x[1]), sum(y[0], y[1]));
                    let given = dealt(given);
                    let before = sum(sum(both, given), out(masks[0]));
                    [before, sum(given, out(masks[1]))]
                }
                Duty::Before {
                    dealt: given,
                    received,
                } => [out(received), sum(own(1), dealt(given))],
                Duty::After {
                    dealt: given,
                    received,
                } => [sum(own(0), dealt(given)), sum(own(1), out(received))],
            };
            let all = [x[0], y[0], y[1], x[1], constants[0], constants[1]];
            for (number, element) in all.into_iter().enumerate() {
                for (i, chunk) in element.into_iter().take(bits).enumerate() {
                    write(rows, [words, number * bits + i, first], chunk);
                }
            }
        }
    }
}

/// Most elements of the statements of an inverse.
const INVERSE: usize = 26;

/// Statements of an inverse, as [`Record::inverse`] takes them.
struct Inverse<'a>(Seen<'a>, Gate, &'a OddPowers, &'a mut [u64]);

/// Operands of a deal that one of both others has, from its mask and its share of the third power,
/// squared.
#[inline(always)]
fn deals(mask: Element<Chunk>, even: &[Element<Chunk>; 7], left: bool) -> [Element<Chunk>; 6] {
    let [second, fourth, sixth, ..] = *even;
    if left {
        [mask, second, mask, fourth, mask, sixth]
    } else {
        [second, mask, fourth, mask, sixth, mask]
    }
}

impl Kernel for Inverse<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, _: L) {
        let Inverse(seen, at, powers, rows) = self;
        let words = words_for(seen.lanes);
        for first in (0..words).step_by(WIDE) {
            let chunk = |rows: &[u64], row: usize| read(rows, [words, row, first]);
            let component = |place: usize| -> Element<Chunk> {
                array::from_fn(|i| chunk(seen.operands, at.operands + 2 * i + place))
            };
            let shares = |mask: Element<Chunk>, rows: &[u64]| {
                powers.of(mask, &array::from_fn(|i| chunk(rows, at.dealt + i)))
            };
            let out =
                |rows: &[u64]| -> Element<Chunk> { array::from_fn(|i| chunk(rows, at.out + i)) };
            let mut number = 0;
            let mut put = |elements: &[Element<Chunk>]| {
                for (i, word) in elements.iter().flatten().enumerate() {
                    write(rows, [words, 4 * number + i, first], *word);
                }
                number += elements.len();
            };
            match seen.duty {
                Duty::Equal { .. } => {}
                Duty::Helper { dealt, masks } => {
                    let (one, two) = (component(0), component(1));
                    let sent = shares(two, dealt);
                    let all = odd_powers(sum(one, two));
                    let kept = array::from_fn(|power| sum(all[power], sent[power]));
                    let (kept, sent) = (even_powers(one, kept), even_powers(two, sent));
                    put(&deals(one, &kept, true));
                    put(&deals(two, &sent, false));
                    put(&kept[..6]);
                    put(&[sum(kept[6], out(masks[0]))]);
                    put(&sent[..6]);
                    put(&[sum(sent[6], out(masks[1]))]);
                }
                Duty::Before { dealt, received } | Duty::After { dealt, received } => {
                    let before = matches!(seen.duty, Duty::Before { .. });
                    let (masked, mask) = if before {
                        (component(0), component(1))
                    } else {
                        (component(1), component(0))
                    };
                    let share = shares(mask, dealt);
                    let even = even_powers(mask, share);
                    put(&deals(mask, &even, before));
                    let [third, fifth, _] = odd_powers(mask);
                    let seventh = product(mask, even[2]);
                    put(&[
                        sum(third, share[0]),
                        sum(fifth, share[1]),
                        sum(seventh, share[2]),
                    ]);
                    let mut powers = even_powers(masked, odd_powers(masked));
                    powers[..6].reverse();
                    put(&powers[..6]);
                    put(&even[..6]);
                    let received = out(received);
                    put(&[if before {
                        received
                    } else {
                        sum(powers[6], received)
                    }]);
                }
            }
        }
    }
}
