//! Sums for [`Goal::Depth`](crate::Goal::Depth): carry-save levels, then one parallel-prefix adder.
//!
//! In AND depth the sum of a full adder costs nothing, only its carry does. So a level adds up
//! *all* bits of a column but one or two, and about half as many carries come out: heights go from
//! 2^k + 1 to 2^(k-1) + 1, where Wallace and Dadda, who count gate delays, get a third off. Half
//! adders are used where a column would otherwise not fit the height that is next (Dadda, "Some
//! schemes for parallel multipliers", Alta Frequenza 34, 1965), and at the low end, where columns
//! are finished while the higher ones still wait. A bit that is computed late is added once it is
//! available.
//!
//! The last two bits of each column meet in a carry-select adder over a prefix network. A run of
//! columns is a [`Span`]: a bit that tells if a carry goes through, and the carry out *if not*,
//! which may be anything where it does. That spares the generate signals: a span of one column is
//! free, and joining two takes two ANDs, one where the lower begins with the carry in. The sum of
//! two words of n bits has AND depth ceil(log2(n + 1)), which is the least possible, since its last
//! carry is a polynomial of degree n + 1. An order x < y is the last of those carries; unneeded
//! gates are dropped when the circuit is finished.

use crate::builder::{Builder, Wire, Word};
use crate::word::columns::Columns;

impl Columns {
    /// Computes the sum, with few ANDs on a chain.
    pub(crate) fn sum_by_levels(mut self, b: &mut Builder) -> Word {
        let columns = 0..self.len();
        let columns = columns.map(|column| self.take(b, column, Word::new()));
        let mut columns: Vec<Word> = columns.collect();
        reduce(b, &mut columns);
        propagate(b, &columns)
    }
}

/// Compresses columns until they hold two bits each, the lowest with more than one perhaps three:
/// one of them is the carry in. The last column may hold any number, as it makes no carries.
fn reduce(b: &mut Builder, columns: &mut [Word]) {
    let Some(counted) = columns.len().checked_sub(1) else {
        return;
    };
    let mut time = 0;
    loop {
        let counted = &columns[..counted];
        let Some(lowest) = counted.iter().position(|bits| bits.len() > 1) else {
            return;
        };
        let (first, above) = counted[lowest..].split_first().expect("a lowest column");
        if first.len() <= 3 && above.iter().all(|bits| bits.len() <= 2) {
            return;
        }
        let ready = |bits: &Word| bits.iter().filter(|&&bit| b.depth(bit) <= time).count();
        let height = above.iter().map(ready).max().unwrap_or(0);
        if height.max(ready(first)) > 2 {
            level(b, columns, time, height_after(height));
            time += 1;
        } else {
            // Some column holds three bits, so one of them is late.
            let depths = counted.iter().flatten().map(|&bit| b.depth(bit));
            let late = depths.filter(|&depth| depth > time);
            time = late.min().expect("a late bit");
        }
    }
}

/// The height that one level makes of `height`: the next of 2, 3, 5, 9, 17, ... below it.
fn height_after(height: usize) -> usize {
    (1 << height.saturating_sub(2).max(1).ilog2()) + 1
}

/// Adds up the bits available at `time` in each column, so that no column is higher than `target`
/// after it.
fn level(b: &mut Builder, columns: &mut [Word], time: u32, target: usize) {
    let (last, columns) = columns.split_last_mut().expect("a column that is added up");
    let mut incoming = Word::new();
    // True while each column so far is down to one bit, with no carry to come.
    let mut settled = true;
    for column in columns {
        let bits = std::mem::take(column);
        let (ready, late): (Word, Word) = bits.into_iter().partition(|&bit| b.depth(bit) <= time);
        let finish = settled && incoming.is_empty() && late.is_empty();
        // The lowest column that is left may keep a bit more, for the carry in of the last adder.
        let room = target + usize::from(target == 2 && settled);
        let mut carries = Word::new();
        let half = finish || 2 + incoming.len() > room;
        *column = b.compress(ready, half, &mut carries);
        column.extend(late);
        column.append(&mut incoming);
        incoming = carries;
        settled = finish;
    }
    last.append(&mut incoming);
}

/// A run of columns with two bits each, as a carry sees it.
#[derive(Clone, Copy)]
struct Span {
    /// The carry out is the carry in.
    through: Wire,
    /// The carry out where it is not the carry in; where it is, any value.
    otherwise: Wire,
}

impl Span {
    /// An empty span with a given carry.
    fn carry(otherwise: Wire) -> Span {
        let through = Wire::ZERO;
        Span { through, otherwise }
    }

    /// The first two bits of a column.
    fn column(b: &mut Builder, bits: &[Wire]) -> Span {
        match *bits {
            [] => Span::carry(Wire::ZERO),
            [bit] => Span {
                through: bit,
                otherwise: Wire::ZERO,
            },
            [x, y, ..] => Span {
                through: b.xor(x, y),
                otherwise: x,
            },
        }
    }

    fn join(b: &mut Builder, low: Span, high: Span) -> Span {
        Span {
            through: b.and(low.through, high.through),
            otherwise: b.mux(high.through, low.otherwise, high.otherwise),
        }
    }
}

/// Adds the columns that [`reduce`] leaves.
fn propagate(b: &mut Builder, columns: &[Word]) -> Word {
    // A chain begins with the carry into a column and ends where no carry goes through. Columns
    // that hand every carry on, as those of a sign extension do, are not in it.
    let mut chains = vec![vec![Span::carry(Wire::ZERO)]];
    // The sum of each column but for the carry, and where in which chain that carry is.
    let mut sums = Vec::with_capacity(columns.len());
    for (i, column) in columns.iter().enumerate() {
        let mut bits = column.clone();
        if bits.len() == 3 && i + 1 < columns.len() {
            // The latest bit is the carry in: it has the shortest way to go.
            bits.sort_by_key(|&bit| b.depth(bit));
            chains.extend(bits.pop().map(|carry| vec![Span::carry(carry)]));
        }
        let index = chains.len() - 1;
        let chain = &mut chains[index];
        sums.push((b.parity(&bits), index, chain.len() - 1));
        let span = Span::column(b, &bits);
        let nothing_yet = matches!(
            chain[..],
            [Span {
                otherwise: Wire::ZERO,
                ..
            }]
        );
        match span.through {
            Wire::ONE => {}
            _ if nothing_yet && span.otherwise == Wire::ZERO => {}
            // The carry out of the last column is not wanted.
            _ if i + 1 == columns.len() => {}
            Wire::ZERO => chains.push(vec![span]),
            _ => chain.push(span),
        }
    }
    let carries: Vec<Vec<Span>> = chains
        .iter()
        .map(|chain| b.scan(chain, Span::join))
        .collect();
    sums.into_iter()
        .map(|(sum, chain, place)| b.xor(sum, carries[chain][place].otherwise))
        .collect()
}
