//! Vectors of words, and indices of one tensor's elements in another.

use sealane_circuit::{Int, Word};
use sealane_program::types::Range;
use std::rc::Rc;

/// Elements of a value: words of `range.bits()` wires.
pub(super) struct Words {
    pub range: Range,
    pub words: Vec<Word>,
}

impl Words {
    /// Elements of a range.
    pub fn new(range: Range, words: impl IntoIterator<Item = Word>) -> Words {
        let words = words.into_iter().collect();
        Words { range, words }
    }

    /// One element as an operand of arithmetic.
    pub fn int(&self, index: usize) -> Int<'_> {
        Int::new(&self.words[index], self.range.signed())
    }
}

/// Stacked results of a body's calls.
pub(super) struct Stacks(Vec<Option<Words>>);

impl Stacks {
    pub fn new(parts: usize) -> Stacks {
        Stacks((0..parts).map(|_| None).collect())
    }

    pub fn push(&mut self, results: &[Rc<Words>]) {
        for (stack, result) in self.0.iter_mut().zip(results) {
            let stack = stack.get_or_insert_with(|| Words::new(result.range, []));
            stack.words.extend(result.words.iter().cloned());
        }
    }

    pub fn finish(self) -> Vec<Rc<Words>> {
        self.0.into_iter().flatten().map(Rc::new).collect()
    }
}

/// Converts elements to the form of another range that holds them.
pub(super) fn widen(words: &Rc<Words>, range: Range) -> Rc<Words> {
    if words.range == range {
        return Rc::clone(words);
    }
    let width = usize::from(range.bits());
    let resized = (0..words.words.len()).map(|index| words.int(index).resize(width));
    Rc::new(Words::new(range, resized))
}

pub(super) fn count(dims: &[u64]) -> usize {
    dims.iter().product::<u64>() as usize
}

/// Splits off the last dimension (1 for a scalar).
pub(super) fn last(dims: &[u64]) -> (usize, &[u64]) {
    dims.split_last()
        .map_or((1, dims), |(last, rest)| (*last as usize, rest))
}

/// Numbers of elements before, along and after an axis.
pub(super) fn around(dims: &[u64], axis: usize) -> (usize, usize, usize) {
    (
        count(&dims[..axis]),
        dims[axis] as usize,
        count(&dims[axis + 1..]),
    )
}

/// Row-major strides of a tensor of `dims` broadcast to `to`; 0 where it repeats.
pub(super) fn broadcast(dims: &[u64], to: &[u64]) -> Vec<usize> {
    let missing = to.len() - dims.len();
    let stride = |axis: usize| match axis.checked_sub(missing) {
        Some(at) if dims[at] == to[axis] => count(&dims[at + 1..]),
        _ => 0,
    };
    (0..to.len()).map(stride).collect()
}

/// Index of element `index` of a tensor of `dims` under other strides.
pub(super) fn locate(mut index: usize, dims: &[u64], strides: &[usize]) -> usize {
    let mut place = 0;
    for (dim, stride) in dims.iter().zip(strides).rev() {
        place += index % *dim as usize * stride;
        index /= *dim as usize;
    }
    place
}
