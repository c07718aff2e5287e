//! Shifts that cost only the bits that can be set.

use sealane_circuit::{Builder, Goal, Wire, Word};

/// The word shifted left until its last bit is set, and the number of places; a word of zeros stays
/// zero, by any number of places. For [`Goal::Size`] about n ANDs for each bit of the number; for
/// [`Goal::Depth`] in about 2 log n levels.
pub(crate) fn normalise(b: &mut Builder, word: &[Wire]) -> (Word, Word) {
    let width = word.len();
    let layers = width.next_power_of_two().trailing_zeros() as usize;
    let counted = match b.goal() {
        Goal::Size => None,
        Goal::Depth => {
            let mut padded = vec![Wire::ONE; (1 << layers) - width];
            padded.extend(word);
            Some(leading_zeros(b, &padded).1)
        }
    };
    let mut word = word.to_vec();
    let mut places = vec![Wire::ZERO; layers];
    for k in (0..layers).rev() {
        let by = 1 << k;
        places[k] = match &counted {
            Some(places) => places[k],
            None => !b.any(&word[width - by..]),
        };
        // The bits that are shifted out are zeros, so the upper ones take no multiplexer.
        let moved: Word = word[..width - by]
            .iter()
            .map(|&bit| b.and(bit, places[k]))
            .collect();
        word = (0..width)
            .map(|i| {
                let left = moved.get(i).copied().unwrap_or(Wire::ZERO);
                let came = i.checked_sub(by).map_or(Wire::ZERO, |from| moved[from]);
                let change = b.xor(left, came);
                b.xor(word[i], change)
            })
            .collect();
    }
    (word, places)
}

/// True if all bits of a word of 2^k bits are zeros, and else the number of zeros above the highest
/// one in k bits.
fn leading_zeros(b: &mut Builder, word: &[Wire]) -> (Wire, Word) {
    if let [bit] = word {
        return (!*bit, Word::new());
    }
    let (low, high) = word.split_at(word.len() / 2);
    let ((low_zero, low), (high_zero, high)) = (leading_zeros(b, low), leading_zeros(b, high));
    let mut count = b.select(high_zero, &low, &high);
    count.push(high_zero);
    (b.and(low_zero, high_zero), count)
}
