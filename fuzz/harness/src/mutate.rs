//! Mutations of an input: bytes, runs of bytes, numbers in text and in binary, words of the
//! target's language, and parts of other inputs.
//!
//! Blind mutation finds faults a few steps from an example; libFuzzer, which measures coverage,
//! goes further from the same corpus. See `README.md`.

use crate::chance::Chance;

/// Longest input that a mutation makes, but for [`inflate`].
pub const MAX_BYTES: usize = 32 << 10;

/// Numbers near which code often fails.
const EDGES: [i128; 23] = [
    0,
    1,
    -1,
    2,
    7,
    8,
    63,
    64,
    65,
    127,
    128,
    255,
    256,
    65_535,
    65_536,
    1 << 31,
    -(1 << 31),
    (1 << 32) - 1,
    i64::MAX as i128,
    i64::MIN as i128,
    u64::MAX as i128,
    i128::MAX,
    i128::MIN,
];

/// Applies one to four mutations to `input`. `words` are those of the target's language, `others`
/// the rest of its corpus.
pub fn mutate(input: &[u8], words: &[&str], others: &[Vec<u8>], chance: &mut Chance) -> Vec<u8> {
    let mut bytes = input.to_vec();
    for _ in 0..=chance.below(4) {
        step(&mut bytes, words, others, chance);
        bytes.truncate(MAX_BYTES);
    }
    bytes
}

/// Repeats a part of `input` until it has about `bytes` bytes: finds superlinear use of time or
/// memory.
pub fn inflate(input: &[u8], bytes: usize, chance: &mut Chance) -> Vec<u8> {
    let (from, to) = span(input, 64, chance);
    let part = match &input[from..to] {
        [] => &b"["[..],
        part => part,
    };
    let times = bytes / part.len();
    [&input[..to], &part.repeat(times), &input[to..]].concat()
}

fn step(bytes: &mut Vec<u8>, words: &[&str], others: &[Vec<u8>], chance: &mut Chance) {
    match chance.below(14) {
        0 | 1 => flip(bytes, chance),
        2 => {
            let at = chance.below(bytes.len());
            if let Some(byte) = bytes.get_mut(at) {
                *byte = *chance.pick(&[0, 1, 0x7f, 0x80, 0xff, b'\n', b' ', b'"', b'-', b'0']);
            }
        }
        3 => {
            let (from, to) = span(bytes, 32, chance);
            bytes.drain(from..to);
        }
        4 => {
            let (from, to) = span(bytes, 64, chance);
            let part = bytes[from..to].to_vec();
            insert(bytes, &part, chance);
        }
        5 => {
            let count = 1 + chance.below(8);
            let noise: Vec<u8> = (0..count).map(|_| chance.number() as u8).collect();
            insert(bytes, &noise, chance);
        }
        6 => bytes.truncate(chance.below(bytes.len() + 1)),
        7 => splice(bytes, others, chance),
        8 | 9 => decimal(bytes, chance),
        10 => binary(bytes, chance),
        11 => line(bytes, chance),
        _ if words.is_empty() => flip(bytes, chance),
        _ => {
            let word = chance.pick(words).as_bytes();
            insert(bytes, word, chance);
        }
    }
}

fn flip(bytes: &mut [u8], chance: &mut Chance) {
    let at = chance.below(bytes.len());
    if let Some(byte) = bytes.get_mut(at) {
        *byte ^= 1 << chance.below(8);
    }
}

/// A range of at most `most` bytes.
fn span(bytes: &[u8], most: usize, chance: &mut Chance) -> (usize, usize) {
    let from = chance.below(bytes.len() + 1);
    let len = chance.below(most + 1).min(bytes.len() - from);
    (from, from + len)
}

fn insert(bytes: &mut Vec<u8>, part: &[u8], chance: &mut Chance) {
    let at = chance.below(bytes.len() + 1);
    bytes.splice(at..at, part.iter().copied());
}

/// The beginning of this input and the end of another.
fn splice(bytes: &mut Vec<u8>, others: &[Vec<u8>], chance: &mut Chance) {
    let Some(other) = others.get(chance.below(others.len())) else {
        return flip(bytes, chance);
    };
    bytes.truncate(chance.below(bytes.len() + 1));
    bytes.extend_from_slice(&other[chance.below(other.len() + 1)..]);
}

/// Replaces a decimal number by another one.
fn decimal(bytes: &mut Vec<u8>, chance: &mut Chance) {
    let is_digit = |i: usize| bytes[i].is_ascii_digit();
    let starts = (0..bytes.len()).filter(|&i| is_digit(i) && (i == 0 || !is_digit(i - 1)));
    let starts: Vec<usize> = starts.collect();
    let Some(&from) = starts.get(chance.below(starts.len())) else {
        return flip(bytes, chance);
    };
    let digits = bytes[from..].iter().take_while(|c| c.is_ascii_digit());
    let to = from + digits.count();
    let written = String::from_utf8_lossy(&bytes[from..to]).parse::<i128>();
    let number = match (chance.below(3), written) {
        (0, Ok(number)) => number.saturating_add(1),
        (1, Ok(number)) => number.saturating_sub(1),
        _ => *chance.pick(&EDGES),
    };
    bytes.splice(from..to, number.to_string().into_bytes());
}

/// Replaces the number in 1, 2, 4 or 8 bytes.
fn binary(bytes: &mut [u8], chance: &mut Chance) {
    let width = 1 << chance.below(4);
    if bytes.len() < width {
        return flip(bytes, chance);
    }
    let at = chance.below(bytes.len() - width + 1);
    let edge = chance.pick(&EDGES).to_le_bytes();
    bytes[at..at + width].copy_from_slice(&edge[..width]);
    if chance.below(4) == 0 {
        bytes[at..at + width].reverse();
    }
}

/// Deletes, duplicates or moves a line.
fn line(bytes: &mut Vec<u8>, chance: &mut Chance) {
    let lines = bytes.split_inclusive(|byte| *byte == b'\n');
    let mut lines: Vec<Vec<u8>> = lines.map(<[u8]>::to_vec).collect();
    if lines.is_empty() {
        return;
    }
    let (one, other) = (chance.below(lines.len()), chance.below(lines.len()));
    match chance.below(3) {
        0 => drop(lines.remove(one)),
        1 => lines.insert(other, lines[one].clone()),
        _ => lines.swap(one, other),
    }
    *bytes = lines.concat();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_gives_the_same_mutations_every_time_and_another_seed_others() {
        let all = |seed| {
            let mut chance = Chance::new(seed);
            let one = || mutate(b"rows 12 <= 34\nx\n", &["in"], &[vec![1, 2]], &mut chance);
            std::iter::repeat_with(one).take(64).collect::<Vec<_>>()
        };
        assert_eq!(all(7), all(7));
        assert_ne!(all(7), all(8));
    }

    #[test]
    fn every_length_is_mutated_within_bounds() {
        let mut chance = Chance::new(1);
        for len in [0, 1, 2, 9, MAX_BYTES] {
            for _ in 0..200 {
                let input = vec![b'7'; len];
                assert!(mutate(&input, &[], &[], &mut chance).len() <= MAX_BYTES);
            }
        }
        assert!(inflate(b"", 1000, &mut chance).len() >= 1000);
        assert!(inflate(b"a,b\n1,2\n", 1000, &mut chance).len() >= 900);
    }
}
