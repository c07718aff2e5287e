//! Running sums and ends inside of one circuit.

use super::{Lowering, Scope, TooLarge};
use crate::lower::ops;
use crate::lower::words::around;
use sealane_circuit::{Goal, Word};
use sealane_program::graph::{Reduction, ValueId};
use sealane_program::types::Range;

impl Lowering {
    /// Lowers the reductions of the elements up to each one: a chain, which takes the fewest
    /// operations, or the tree of the pass `expand` for a circuit that is to be shallow.
    pub(super) fn accumulate(
        &mut self,
        reduction: Reduction,
        range: Range,
        scope: &Scope,
        of: ValueId,
        axis: usize,
    ) -> Result<Vec<Word>, TooLarge> {
        let (outer, length, inner) = around(scope.fixed(of), axis);
        let (words, width) = (scope.words(of), usize::from(range.bits()));
        let mut lanes = Vec::with_capacity(outer * inner);
        for lane in 0..outer * inner {
            let first = lane / inner * length * inner + lane % inner;
            let own = (0..length).map(|along| words.int(first + along * inner).resize(width));
            let mut combine = Combine {
                reduction,
                range,
                lowering: self,
            };
            lanes.push(match combine.lowering.goal {
                Goal::Size => combine.chain(own.collect()),
                Goal::Depth => combine.tree(own.collect()),
            });
            self.words += length;
            if self.builder.gates().max(self.words) > super::MAX_GATES {
                return Err(TooLarge);
            }
        }
        let place = |index: usize| {
            let (block, along) = (index / (length * inner), index / inner % length);
            lanes[block * inner + index % inner][along].clone()
        };
        Ok((0..outer * length * inner).map(place).collect())
    }
}

/// An operation that joins neighbours.
struct Combine<'a> {
    reduction: Reduction,
    range: Range,
    lowering: &'a mut Lowering,
}

impl Combine<'_> {
    fn two(&mut self, a: &Word, b: &Word) -> Word {
        let (signed, width) = (self.range.signed(), usize::from(self.range.bits()));
        let builder = &mut self.lowering.builder;
        ops::combine(builder, self.reduction, [a, b], signed, width)
    }

    fn chain(&mut self, words: Vec<Word>) -> Vec<Word> {
        let mut done: Vec<Word> = Vec::with_capacity(words.len());
        for word in words {
            done.push(match done.last() {
                Some(last) => self.two(last, &word),
                None => word,
            });
        }
        done
    }

    fn tree(&mut self, words: Vec<Word>) -> Vec<Word> {
        if words.len() < 2 {
            return words;
        }
        let pairs = words.chunks_exact(2);
        let pairs = pairs.map(|pair| self.two(&pair[0], &pair[1])).collect();
        let odd = self.tree(pairs);
        let mut done = Vec::with_capacity(words.len());
        for (index, word) in words.iter().enumerate() {
            done.push(match index {
                0 => word.clone(),
                odd_one if odd_one % 2 == 1 => odd[odd_one / 2].clone(),
                even => self.two(&odd[even / 2 - 1], word),
            });
        }
        done
    }
}
