//! Numbers as integers of a fixed place value: between a significand with an exponent and a word
//! whose bits have public weights.

use crate::format::{Arithmetic, Subnormals};
use crate::word::{bit, layers, mask};
use sealane_circuit::{Builder, Goal, Int, Wire, Word};

/// One layer of a shift to the left: the word times 2^`by` where `bit` is 1, cut to `width`. The
/// word grows, so an AND for each bit that it has is all that this takes.
pub(crate) fn grow(b: &mut Builder, word: &[Wire], bit: Wire, by: usize, width: usize) -> Word {
    let moved = mask(b, bit, word);
    let at = |word: &[Wire], i: Option<usize>| {
        let bit = i.and_then(|i| word.get(i));
        bit.copied().unwrap_or(Wire::ZERO)
    };
    (0..width.min(word.len() + by))
        .map(|i| {
            let change = b.xor(at(&moved, Some(i)), at(&moved, i.checked_sub(by)));
            b.xor(at(word, Some(i)), change)
        })
        .collect()
}

/// The leading bits of a magnitude.
struct Leading {
    /// A significand with its highest bit 1, if the limit allowed, and a bit behind it.
    bits: Word,
    /// Places by which it was shifted.
    places: Word,
    /// Some bit behind those is 1.
    sticky: Wire,
}

impl Arithmetic {
    /// The number nearest to `magnitude * 2^unit`, without its sign bit: infinity if it is beyond
    /// the largest. It is rounded once, ties to even, to the precision that its size has.
    pub(crate) fn round_integer(self, b: &mut Builder, magnitude: &[Wire], unit: i32) -> Word {
        let format = self.format;
        // How far the highest bit may move until it stands for the smallest normal number.
        let lowest = 1 - format.bias();
        let mut magnitude = magnitude.to_vec();
        let missing = lowest - unit + 1 - magnitude.len() as i32;
        let width = magnitude.len() + missing.max(0) as usize;
        magnitude.resize(width.max(2), Wire::ZERO);
        let limit = (magnitude.len() as i32 - 1 + unit - lowest) as usize;
        let farthest = (1 << layers(magnitude.len())) - 1;
        let subnormal = limit < magnitude.len();
        // With zeros shifted to the limit, too, a number without its highest bit has field 0.
        let kept = self.subnormals == Subnormals::Kept && subnormal;
        let found = leading(b, &magnitude, format.fraction + 2, kept.then_some(limit));

        let (guard, significand) = found.bits.split_first().expect("a bit behind");
        let inexact = b.or(found.sticky, significand[0]);
        let up = b.and(*guard, inexact);
        let width = layers(limit.max(farthest) + 3) + 1;
        let limit_word = b.constant(limit as i128, width);
        let (word, places) = (Int::unsigned(&limit_word), Int::unsigned(&found.places));
        let left = b.sub(word, places, width);
        let left = Int::signed(&left).shl(format.fraction, format.fraction + width);
        // The highest bit of the significand makes the field 1 more; the rounding carry runs on.
        let terms = [Int::signed(&left), Int::unsigned(significand), bit(&up)];
        let sum = b.sum(&terms, format.fraction + width);
        let (fraction, field) = sum.split_at(format.fraction);
        let (mut fraction, mut field) = (fraction.to_vec(), field.to_vec());
        // Only zero lacks the highest bit; what is below the normal numbers becomes zero.
        let mut keep = significand[format.fraction];
        if !kept && subnormal {
            let some = b.any(&field[..width - 1]);
            let normal = b.and(some, !field[width - 1]);
            keep = b.and(keep, normal);
        }
        if limit + 2 >= (1 << format.exponent) - 1 {
            let beyond = b.any(&field[format.exponent..width - 1]);
            let ones = b.all(&field[..format.exponent]);
            let over = b.or(beyond, ones);
            let over = b.and(over, !field[width - 1]);
            fraction = mask(b, !over, &fraction);
            field.iter_mut().for_each(|bit| *bit = b.or(*bit, over));
        }
        let result = [fraction, field[..format.exponent].to_vec()].concat();
        if kept { result } else { mask(b, keep, &result) }
    }
}

/// The `count` leading bits of a word, shifted by at most `limit` places.
fn leading(b: &mut Builder, word: &[Wire], count: usize, limit: Option<usize>) -> Leading {
    let width = word.len();
    let layers = layers(width);
    let mut places = match b.goal() {
        Goal::Size => vec![Wire::ZERO; layers],
        Goal::Depth => {
            // A mark at the limit ends the search.
            let mut marked = word.to_vec();
            if let Some(mark) = limit.and_then(|limit| (width - 1).checked_sub(limit)) {
                marked[mark] = Wire::ONE;
            }
            zeros(b, &marked, layers).1
        }
    };
    let (mut word, mut lost) = (word.to_vec(), Word::new());
    for k in (0..layers).rev() {
        let by = 1 << k;
        if b.goal() == Goal::Size {
            let top = b.any(&word[word.len().saturating_sub(by)..]);
            let room = within(b, &places[k + 1..], k, limit);
            places[k] = b.and(!top, room);
        }
        // The bits that are shifted out are zeros, so the upper ones take no multiplexer.
        let moved = mask(b, places[k], &word[..word.len().saturating_sub(by)]);
        word = (0..word.len())
            .map(|i| {
                let gone = moved.get(i).copied().unwrap_or(Wire::ZERO);
                let came = i.checked_sub(by).and_then(|from| moved.get(from));
                let change = b.xor(gone, came.copied().unwrap_or(Wire::ZERO));
                b.xor(word[i], change)
            })
            .collect();
        // Later layers move the word by less than this one: lower bits never get to the top.
        let end = word.len().saturating_sub(count + by - 1);
        lost.extend(word.drain(..end));
    }
    let mut bits = vec![Wire::ZERO; count.saturating_sub(word.len())];
    bits.extend(word);
    Leading {
        bits,
        places,
        sticky: b.any(&lost),
    }
}

/// True if 2^k more places are within the limit, after places that are multiples of 2^(k + 1).
fn within(b: &mut Builder, places: &[Wire], k: usize, limit: Option<usize>) -> Wire {
    let Some(limit) = limit else {
        return Wire::ONE;
    };
    let Some(rest) = limit.checked_sub(1 << k) else {
        return Wire::ZERO;
    };
    let most = b.constant((rest >> (k + 1)) as i128, usize::BITS as usize);
    if rest >> (k + 1) >= (1 << places.len()) - 1 {
        Wire::ONE
    } else {
        b.le(Int::unsigned(places), Int::unsigned(&most))
    }
}

/// True if all bits are zeros, and the number of zeros above the highest 1 in `layers` bits; for
/// zero any number that is not less than the width.
fn zeros(b: &mut Builder, word: &[Wire], layers: usize) -> (Wire, Word) {
    if word.is_empty() {
        return (Wire::ONE, vec![Wire::ONE; layers]);
    }
    let Some(below) = layers.checked_sub(1) else {
        return (!word[0], Word::new());
    };
    let (low, high) = word.split_at(word.len().saturating_sub(1 << below));
    let ((low_zero, low), (high_zero, high)) = (zeros(b, low, below), zeros(b, high, below));
    let mut count = b.select(high_zero, &low, &high);
    count.push(high_zero);
    (b.and(low_zero, high_zero), count)
}
