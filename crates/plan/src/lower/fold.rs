//! Trees of reductions: the width of each level, and the circuit that combines two neighbours.

use super::ops;
use sealane_circuit::{Builder, Circuit, Goal};
use sealane_program::graph::Reduction;
use sealane_program::types::Range;

/// Widths of a tree.
pub(super) struct Tree {
    /// Planes before each level, and after the last one.
    pub bits: Vec<u8>,
    /// True if elements are two's complement.
    pub signed: bool,
}

impl Tree {
    /// Makes the tree over up to `longest` elements of range `from`, whose result has range `to`.
    ///
    /// A partial sum of `2^i` elements needs no more bits than `2^i` times their range, and no more
    /// than the result: higher bits are cut off in the end anyway.
    pub fn new(reduction: Reduction, from: Range, to: Range, longest: u64) -> Tree {
        // At least one level, even if none runs, so that the final width has an entry.
        let levels = longest.max(2).next_power_of_two().trailing_zeros();
        let at = |level: u32| {
            let scaled = match reduction {
                // Levels up to here cannot overflow, even for sums of long words.
                Reduction::Sum if level < 62 => Range {
                    lo: from.lo.saturating_mul(1 << level),
                    hi: from.hi.saturating_mul(1 << level),
                },
                Reduction::Sum => to,
                _ => from,
            };
            scaled.bits().min(to.bits())
        };
        let mut bits = (0..=levels).map(at).collect::<Vec<_>>();
        bits[0] = from.bits();
        if let Some(last) = bits.last_mut() {
            *last = to.bits();
        }
        Tree {
            bits,
            signed: from.signed(),
        }
    }

    /// The final width.
    pub fn last(&self) -> usize {
        self.bits.last().map_or(0, |bits| usize::from(*bits))
    }

    /// Widths of both operands and of the result, for each level.
    pub fn levels(&self) -> impl Iterator<Item = [usize; 3]> + '_ {
        let width = |bits: u8| usize::from(bits);
        self.bits
            .windows(2)
            .map(move |w| [width(w[0]), width(w[0]), width(w[1])])
    }
}

/// Makes the circuit that combines two elements of the given widths.
pub(super) fn combine(
    reduction: Reduction,
    signed: bool,
    [a, b, out]: [usize; 3],
    goal: Goal,
) -> Circuit {
    let mut builder = Builder::for_goal(goal);
    let (x, y) = (builder.input(a), builder.input(b));
    let word = ops::combine(&mut builder, reduction, [&x, &y], signed, out);
    builder.finish(vec![word])
}
