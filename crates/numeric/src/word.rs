//! Functions on words that floating point needs and crate `circuit` lacks.

use sealane_circuit::{Builder, Goal, Int, Wire, Word};

/// A bit as the number 0 or 1.
pub(crate) fn bit(of: &Wire) -> Int<'_> {
    Int::unsigned(std::slice::from_ref(of))
}

/// -x - 1 for an unsigned x, as a signed word.
pub(crate) fn complement(x: &[Wire]) -> Word {
    x.iter().map(|&bit| !bit).chain([Wire::ONE]).collect()
}

/// `bits` where `keep` is 1, else zeros.
pub(crate) fn mask(b: &mut Builder, keep: Wire, bits: &[Wire]) -> Word {
    bits.iter().map(|&bit| b.and(bit, keep)).collect()
}

/// `bits` where `flip` is 0, else their complements: no AND.
pub(crate) fn flip_if(b: &mut Builder, flip: Wire, bits: &[Wire]) -> Word {
    bits.iter().map(|&bit| b.xor(bit, flip)).collect()
}

/// Two words, exchanged where `swap` is 1: an AND a bit.
pub(crate) fn swap_if(b: &mut Builder, swap: Wire, x: &[Wire], y: &[Wire]) -> (Word, Word) {
    let differ = b.zip(x, y, Builder::xor);
    let change = mask(b, swap, &differ);
    (
        b.zip(x, &change, Builder::xor),
        b.zip(y, &change, Builder::xor),
    )
}

/// The AND and the OR of all bits. The first gates serve both: for n bits 2 n - 2 - n/2 ANDs.
pub(crate) fn all_any(b: &mut Builder, bits: &[Wire]) -> (Wire, Wire) {
    match *bits {
        [] => (Wire::ONE, Wire::ZERO),
        [bit] => (bit, bit),
        [x, y] => {
            let both = b.and(x, y);
            let differ = b.xor(x, y);
            (both, b.xor(both, differ))
        }
        _ => {
            let at = (bits.len() / 2).next_multiple_of(2);
            let (low, high) = (all_any(b, &bits[..at]), all_any(b, &bits[at..]));
            (b.and(low.0, high.0), b.or(low.1, high.1))
        }
    }
}

/// x + carry and the carry out. For [`Goal::Depth`] the carry may come late: it is an AND from all
/// bits.
pub(crate) fn increment(b: &mut Builder, x: &[Wire], carry: Wire) -> (Word, Wire) {
    if b.goal() == Goal::Size {
        let mut sum = b.add(Int::unsigned(x), bit(&carry), x.len() + 1);
        let carry = sum.pop().expect("a carry");
        return (sum, carry);
    }
    let through = b.scan(x, Builder::and);
    let mut carries = mask(b, carry, &through);
    carries.insert(0, carry);
    let out = carries.pop().expect("a carry");
    (b.zip(x, &carries, Builder::xor), out)
}

/// The layers of a shift of so many bits: bit k of the amount, and more of them where the amount
/// has bits beyond, so that they move all bits out.
pub(crate) fn shift_layers(b: &mut Builder, amount: &[Wire], width: usize) -> Word {
    let count = (usize::BITS - width.leading_zeros()) as usize;
    let (layers, beyond) = amount.split_at(count.min(amount.len()));
    let mut layers = layers.to_vec();
    let beyond = b.any(beyond);
    let mut reach = 0;
    for (k, layer) in layers.iter_mut().enumerate().rev() {
        if reach < width {
            *layer = b.or(*layer, beyond);
            reach += 1 << k;
        }
    }
    layers
}

/// x / 2^amount rounded down, in the bits of x, and 1 if that loses a bit that is 1. The amount is
/// given by the layers of the shift; see [`shift_layers`].
pub(crate) fn shift_right_sticky(b: &mut Builder, x: &[Wire], layers: &[Wire]) -> (Word, Wire) {
    let mut order: Vec<usize> = (0..layers.len()).collect();
    if b.goal() == Goal::Depth {
        // Many bits are ORed while further layers move the others.
        order.reverse();
    }
    let mut word = x.to_vec();
    let mut lost = vec![];
    for k in order {
        let out = b.any(&word[..(1 << k).min(x.len())]);
        lost.push(b.and(layers[k], out));
        let moved = Int::unsigned(&word).shr(1 << k, x.len());
        word = b.select(layers[k], &moved, &word);
    }
    (word, b.any(&lost))
}

/// The word shifted left until its highest bit is 1, and by how much. Zero stays zero.
pub(crate) fn normalise(b: &mut Builder, x: &[Wire]) -> (Word, Word) {
    normalise_sum(b, x, 0)
}

/// [`normalise`], where the `still` lowest bits are 0 wherever the word moves by four or more.
pub(crate) fn normalise_sum(b: &mut Builder, x: &[Wire], still: usize) -> (Word, Word) {
    let mut probes = Probes::new(b, x);
    normalise_by(b, x, (layers(x.len()), still), &mut probes)
}

/// The same for a word that has fewer than `2^layers` zeros above its highest 1.
pub(crate) fn normalise_near(b: &mut Builder, x: &[Wire], layers: usize) -> (Word, Word) {
    let mut probes = Probes::new(b, x);
    probes.blocks.truncate(layers);
    normalise_by(b, x, (layers, 0), &mut probes)
}

/// A word that has moved left, but no further than a limit.
pub(crate) struct Advanced {
    /// The word: zero, or with the highest bit 1, or moved by the whole limit.
    pub word: Word,
    /// The rest of the limit.
    pub left: Word,
    /// One more than that.
    pub next: Word,
}

/// The word shifted left until its highest bit is 1, but by at most `limit`. The `still` lowest
/// bits are 0 wherever it moves by four or more.
pub(crate) fn normalise_within(
    b: &mut Builder,
    x: &[Wire],
    still: usize,
    limit: &[Wire],
) -> Advanced {
    match b.goal() {
        Goal::Size => normalise_counting_down(b, x, still, limit),
        Goal::Depth => normalise_to_mark(b, x, still, limit),
    }
}

/// Each layer takes its shift from the limit: the borrow out of that says that the limit is too
/// small for the shift, and then takes the subtraction back without another AND.
fn normalise_counting_down(b: &mut Builder, x: &[Wire], still: usize, limit: &[Wire]) -> Advanced {
    let mut word = x.to_vec();
    let mut left = limit.to_vec();
    for k in (0..layers(x.len())).rev() {
        let clear = !top_block(b, &word, k);
        let mut borrow = clear;
        let mut borrows = Word::new();
        for &bit in left.get(k..).unwrap_or(&[]) {
            borrows.push(borrow);
            borrow = b.and(borrow, !bit);
        }
        for (bit, taken) in left.iter_mut().skip(k).zip(borrows) {
            // All bits are 0 and all borrows 1 if there is a borrow out.
            let taken = b.xor(taken, borrow);
            *bit = b.xor(*bit, taken);
        }
        let shift = b.xor(clear, borrow);
        word = shift_into_zeros(b, &word, k, shift, still);
    }
    let (next, _) = increment(b, &left, Wire::ONE);
    Advanced { word, left, next }
}

/// A mark at the bit that the limit allows to move to the top ends the search for a 1.
fn normalise_to_mark(b: &mut Builder, x: &[Wire], still: usize, limit: &[Wire]) -> Advanced {
    let (low, high) = limit.split_at(layers(x.len()).min(limit.len()));
    let beyond = b.any(high);
    let index: Word = low.iter().map(|&bit| b.or(bit, beyond)).collect();
    let marks = b.demux(&index);
    let mut marked = x.to_vec();
    for (bit, &mark) in marked.iter_mut().rev().zip(&marks) {
        *bit = b.or(*bit, mark);
    }
    // Nothing moves further than the lowest bit, not even a zero.
    marked[0] = Wire::ONE;
    let mut probes = Probes::marked(b, &marked);
    let (word, amount) = normalise_by(b, x, (layers(x.len()), still), &mut probes);
    let (one_more, _) = increment(b, limit, Wire::ONE);
    let [left, next] = [limit, &one_more]
        .map(|from| b.sub(Int::unsigned(from), Int::unsigned(&amount), from.len()));
    Advanced { word, left, next }
}

/// Moves a word by the given number of layers; of its lowest bits, some are still.
fn normalise_by(
    b: &mut Builder,
    x: &[Wire],
    (layers, still): (usize, usize),
    probes: &mut Probes,
) -> (Word, Word) {
    let mut word = x.to_vec();
    let mut amount = Word::new();
    for k in (0..layers).rev() {
        let shift = !probes.top(b, &word, k);
        word = shift_into_zeros(b, &word, k, shift, still);
        probes.shift(b, shift);
        amount.insert(0, shift);
    }
    (word, amount)
}

/// The layers that a shift of `width` bits by less than that has.
pub(crate) fn layers(width: usize) -> usize {
    width.next_power_of_two().trailing_zeros() as usize
}

/// The OR of the 2^k highest bits.
fn top_block(b: &mut Builder, word: &[Wire], k: usize) -> Wire {
    let (&last, rest) = word.split_last().expect("a word");
    let rest = b.any(&rest[word.len() - (1 << k)..]);
    b.or(rest, last)
}

/// The OR of all bits of a fraction, most of it as the first layer of [`normalise`] looks for a 1
/// in a significand with this fraction.
pub(crate) fn any_of_fraction(b: &mut Builder, fraction: &[Wire]) -> Wire {
    let width = fraction.len() + 1;
    let room = width - (1 << (layers(width) - 1));
    let (low, high) = fraction.split_at(room);
    let (low, high) = (b.any(low), b.any(high));
    b.or(low, high)
}

/// The word shifted left by 2^k where `shift` is 1, in which case its 2^k highest bits are zeros:
/// an AND for each of the others, but for the `still` lowest ones if k is at least 2.
fn shift_into_zeros(b: &mut Builder, x: &[Wire], k: usize, shift: Wire, still: usize) -> Word {
    let by = 1 << k;
    let mut moving = mask(b, shift, &x[..x.len() - by]);
    if k >= 2 {
        let still = still.min(moving.len());
        moving[..still].fill(Wire::ZERO);
    }
    (0..x.len())
        .map(|i| {
            let stay = match moving.get(i) {
                Some(&gone) => b.xor(x[i], gone),
                None => x[i],
            };
            match i.checked_sub(by) {
                Some(from) => b.xor(stay, moving[from]),
                None => stay,
            }
        })
        .collect()
}

/// The search for the highest 1 of a word. For [`Goal::Size`] each layer looks at the word as
/// shifted so far. For [`Goal::Depth`] the ORs of all blocks that might get to the top exist from
/// the start, and each layer selects between them.
struct Probes {
    /// For each size of blocks, from single bits, those that might be asked for, the highest first.
    blocks: Vec<Word>,
    /// True if single bits are asked for, and not read from the word.
    marked: bool,
}

impl Probes {
    fn new(b: &mut Builder, x: &[Wire]) -> Probes {
        match b.goal() {
            Goal::Size => Probes {
                blocks: Vec::new(),
                marked: false,
            },
            Goal::Depth => Probes {
                marked: false,
                ..Probes::marked(b, x)
            },
        }
    }

    fn marked(b: &mut Builder, x: &[Wire]) -> Probes {
        let mut block: Word = x.iter().rev().copied().collect();
        let mut blocks = vec![];
        for _ in 0..layers(x.len()) {
            let next = block.chunks(2).map(|pair| b.any(pair)).collect();
            blocks.push(std::mem::replace(&mut block, next));
        }
        let halves = blocks.into_iter();
        let halves = halves.map(|block| block.into_iter().step_by(2).collect());
        let (blocks, marked) = (halves.collect(), true);
        Probes { blocks, marked }
    }

    /// The OR of the 2^k highest bits, where all larger blocks have been asked for.
    fn top(&mut self, b: &mut Builder, word: &[Wire], k: usize) -> Wire {
        match self.blocks.pop() {
            Some(block) if k > 0 || self.marked => block[0],
            _ => top_block(b, word, k),
        }
    }

    /// Follows a shift by the block that was asked for last.
    fn shift(&mut self, b: &mut Builder, shift: Wire) {
        let first = usize::from(!self.marked);
        let count = self.blocks.len();
        for (k, block) in self.blocks.iter_mut().enumerate().skip(first) {
            // Half of the candidates begin with the block that is shifted out.
            let half = 1 << (count - 1 - k);
            let (upper, lower) = block.split_at(half.min(block.len()));
            let mut selected = upper.to_vec();
            for (i, bit) in selected.iter_mut().enumerate() {
                let below = lower.get(i).copied().unwrap_or(Wire::ZERO);
                *bit = b.mux(shift, below, *bit);
            }
            *block = selected;
        }
    }
}
