//! SHA-256 (FIPS 180-4) as a circuit.
//!
//! An addition modulo 2^32 of several words is one column sum, in which round constants cost less
//! than unknown words would. Byte strings are words in which bit i of byte j, of value 2^i, is
//! wire 8 j + i, as in [`crate::aes`]; the words of the hash itself are big-endian.

use std::array::from_fn;
use std::collections::VecDeque;

use crate::builder::{Builder, Wire, Word};
use crate::circuit::Circuit;
use crate::word::Int;

/// The eight words of the chaining value.
pub type Sha256State = [Word; 8];

/// The circuit that hashes a message of `bytes` bytes: one input, one output of 256 bits.
pub fn circuit(bytes: usize) -> Circuit {
    let mut b = Builder::new();
    let message = b.input(8 * bytes);
    let digest = hash(&mut b, &message);
    b.finish(vec![digest])
}

/// Hashes a message of fixed length, padding included.
///
/// # Panics
/// If the message is not whole bytes.
pub fn hash(b: &mut Builder, message: &[Wire]) -> Word {
    let mut state = initial_state(b);
    for block in blocks(b, message) {
        state = compress(b, &state, block);
    }
    state.iter().flat_map(|word| swap_bytes(word)).collect()
}

/// The initial chaining value (5.3.3): the first bits behind the point of the square roots of
/// primes.
pub fn initial_state(b: &Builder) -> Sha256State {
    let mut primes = primes();
    from_fn(|_| {
        let root = (primes.next().unwrap_or(0) << 64).isqrt();
        b.constant((root as u32).into(), 32)
    })
}

/// The compression function (6.2.2): the chaining value after a block of 16 words of 32 bits.
///
/// # Panics
/// If there are not 16 words of 32 bits.
pub fn compress(b: &mut Builder, state: &Sha256State, block: Vec<Word>) -> Sha256State {
    let mut widths = block.iter().chain(state).map(Vec::len);
    let fits = block.len() == 16 && widths.all(|width| width == 32);
    assert!(fits, "16 words of 32 bits");
    let mut schedule = VecDeque::from(block);
    // The working variables a to h, newest first.
    let mut v = VecDeque::from(state.to_vec());
    for constant in round_constants() {
        let word = next_word(b, &mut schedule);
        round(b, &mut v, constant, &word);
    }
    from_fn(|i| sum(b, &[&state[i], &v[i]]))
}

/// The blocks of a message with its padding (5.1.1 and 5.2.1, which SHA-1 shares): each 16 words.
pub(crate) fn blocks(b: &Builder, message: &[Wire]) -> Vec<Vec<Word>> {
    assert!(message.len().is_multiple_of(8), "a message of whole bytes");
    // A one, zeros, and the length in 64 bits, up to a multiple of 512 bits. The one comes first in
    // its byte, where it counts 128.
    let mut padded = message.to_vec();
    padded.extend(b.constant(0x80, 8));
    padded.resize((padded.len() + 64).next_multiple_of(512) - 64, Wire::ZERO);
    let length = (message.len() as u64).swap_bytes();
    padded.extend(b.constant(length.into(), 64));
    padded.chunks(512).map(words).collect()
}

/// The words of a block of bytes.
pub(crate) fn words(block: &[Wire]) -> Vec<Word> {
    block.chunks(32).map(swap_bytes).collect()
}

fn round(b: &mut Builder, v: &mut VecDeque<Word>, constant: u32, word: &[Wire]) {
    let constant = b.constant(constant.into(), 32);
    let choice = b.select_bits(&v[4], &v[5], &v[6]);
    let rotated = sigma(b, &v[4], [6, 11, 25], 32);
    let t1 = sum(b, &[&v[7], &rotated, &choice, &constant, word]);
    let majority = by_bits(|i| b.majority(v[0][i], v[1][i], v[2][i]));
    let rotated = sigma(b, &v[0], [2, 13, 22], 32);
    v[3] = sum(b, &[&v[3], &t1]);
    v[7] = sum(b, &[&t1, &rotated, &majority]);
    v.rotate_right(1);
}

/// Takes the oldest word of the message schedule and appends the sixteenth after it.
fn next_word(b: &mut Builder, schedule: &mut VecDeque<Word>) -> Word {
    let s0 = sigma(b, &schedule[1], [7, 18, 3], 29);
    let s1 = sigma(b, &schedule[14], [17, 19, 10], 22);
    let next = sum(b, &[&schedule[0], &s0, &schedule[9], &s1]);
    schedule.push_back(next);
    schedule.pop_front().unwrap_or_default()
}

/// The XOR of three rotations to the right, of which the last keeps only its `kept` lowest bits:
/// all 32 for a rotation, fewer for a shift.
fn sigma(b: &mut Builder, word: &[Wire], by: [usize; 3], kept: usize) -> Word {
    let rotate = |i: usize, by: usize| word[(i + by) % 32];
    by_bits(|i| {
        let last = if i < kept {
            rotate(i, by[2])
        } else {
            Wire::ZERO
        };
        b.parity(&[rotate(i, by[0]), rotate(i, by[1]), last])
    })
}

/// A word of 32 bits, by the number of each.
pub(crate) fn by_bits(bit: impl FnMut(usize) -> Wire) -> Word {
    (0..32).map(bit).collect()
}

/// The sum of words modulo 2^32.
pub(crate) fn sum(b: &mut Builder, terms: &[&[Wire]]) -> Word {
    let terms: Vec<Int> = terms.iter().map(|&term| Int::unsigned(term)).collect();
    b.sum(&terms, 32)
}

/// Reverses the bytes of a word: from a byte string to big-endian, and back.
pub(crate) fn swap_bytes(word: &[Wire]) -> Word {
    word.chunks(8).rev().flatten().copied().collect()
}

fn primes() -> impl Iterator<Item = u128> {
    (2..).filter(|n| (2..*n).all(|d| n % d != 0))
}

/// The first 32 bits behind the point of the cube roots of primes (4.2.2).
fn round_constants() -> impl Iterator<Item = u32> {
    primes().take(64).map(|prime| {
        // The largest root with root^3 <= prime 2^96, bit by bit.
        let bits = (0..36).rev().map(|i| 1 << i);
        let root = bits.fold(0u128, |root, bit| {
            let fits = (root | bit).pow(3) <= prime << 96;
            if fits { root | bit } else { root }
        });
        root as u32
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Machine, compile, eval_hex};

    /// The digest that the circuit gives, in the order of bytes in which digests are written.
    fn digest(message: &[u8]) -> String {
        let number = hex::encode(message.iter().rev().copied().collect::<Vec<_>>());
        let output = eval_hex(&circuit(message.len()), &[format!("0x0{number}")]).unwrap();
        let digits: Vec<char> = output[0][2..].chars().collect();
        digits.chunks(2).rev().flatten().collect()
    }

    #[test]
    fn sha_256_gives_the_answers_of_fips_180() {
        let long = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
        for (message, expected) in [
            (
                "abc",
                "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
            ),
            (
                long,
                "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1",
            ),
            (
                "",
                "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
            ),
        ] {
            assert_eq!(digest(message.as_bytes()), expected, "{message}");
        }
    }

    #[test]
    fn the_compression_function_takes_fewer_ands_than_the_bristol_one() {
        let mut b = Builder::new();
        let block = (0..16).map(|_| b.input(32)).collect();
        let state = from_fn(|_| b.input(32));
        let output = compress(&mut b, &state, block);
        let circuit = b.finish(output.to_vec());
        let ands = circuit.info().ands;
        eprintln!("{ands}");
        assert!(ands < 22_573, "{ands}");
        let tape = compile(&circuit, &Machine::CPU);
        tape.check().unwrap();
        eprintln!("{} {} {}", tape.slots, tape.batches.len(), tape.depth);
        assert!(tape.slots < 2000, "{} slots", tape.slots);
    }
}
