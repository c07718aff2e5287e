//! SHA-1 (FIPS 180-4) as a circuit. It is here as a common benchmark circuit. SHA-1 is broken as a
//! hash; use [`crate::sha256`].
//!
//! Bytes and words are as in [`crate::sha256`], and so are additions: one column sum each. A choice
//! and a majority take an AND a bit, the parity of rounds 20 to 39 and 60 to 79 and the message
//! schedule take none, so that nearly nine tenths of the 10,582 ANDs of a block are additions.

use std::array::from_fn;
use std::collections::VecDeque;

use crate::builder::{Builder, Wire, Word};
use crate::circuit::Circuit;
use crate::sha256::{blocks, by_bits, sum, swap_bytes, words};

/// The five words of the chaining value.
pub type Sha1State = [Word; 5];

/// The initial chaining value (5.3.1).
const INITIAL: [u32; 5] = [0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0];

/// The constants of 20 rounds each (4.2.1).
const CONSTANTS: [u32; 4] = [0x5a82_7999, 0x6ed9_eba1, 0x8f1b_bcdc, 0xca62_c1d6];

/// The circuit that compresses one block, padding included by the caller, from the initial
/// chaining value: one input of 512 bits, one output of 160 bits, both strings of bytes.
pub fn circuit() -> Circuit {
    let mut b = Builder::new();
    let block = b.input(512);
    let state = initial_state(&b);
    let state = compress(&mut b, &state, words(&block));
    b.finish(vec![digest(&state)])
}

/// Hashes a message of fixed length, padding included, to 160 bits.
///
/// # Panics
/// If the message is not whole bytes.
pub fn hash(b: &mut Builder, message: &[Wire]) -> Word {
    let mut state = initial_state(b);
    for block in blocks(b, message) {
        state = compress(b, &state, block);
    }
    digest(&state)
}

/// The initial chaining value.
pub fn initial_state(b: &Builder) -> Sha1State {
    INITIAL.map(|word| b.constant(word.into(), 32))
}

/// The compression function (6.1.2): the chaining value after a block of 16 words of 32 bits.
///
/// # Panics
/// If there are not 16 words of 32 bits.
pub fn compress(b: &mut Builder, state: &Sha1State, block: Vec<Word>) -> Sha1State {
    let mut widths = block.iter().chain(state).map(Vec::len);
    let fits = block.len() == 16 && widths.all(|width| width == 32);
    assert!(fits, "16 words of 32 bits");
    let mut schedule = VecDeque::from(block);
    // The working variables a to e, newest first.
    let mut v = VecDeque::from(state.to_vec());
    for t in 0..80 {
        let word = next_word(b, &mut schedule);
        round(b, &mut v, t, &word);
    }
    from_fn(|i| sum(b, &[&state[i], &v[i]]))
}

fn round(b: &mut Builder, v: &mut VecDeque<Word>, t: usize, word: &[Wire]) {
    let constant = b.constant(CONSTANTS[t / 20].into(), 32);
    // The functions of 4.1.1.
    let mixed: Word = match t / 20 {
        0 => b.select_bits(&v[1], &v[2], &v[3]),
        2 => by_bits(|i| b.majority(v[1][i], v[2][i], v[3][i])),
        _ => by_bits(|i| b.parity(&[v[1][i], v[2][i], v[3][i]])),
    };
    let rotated = rotate(&v[0], 5);
    v[4] = sum(b, &[&v[4], &rotated, &mixed, &constant, word]);
    v[1] = rotate(&v[1], 30);
    v.rotate_right(1);
}

/// Takes the oldest word of the message schedule and appends the sixteenth after it.
fn next_word(b: &mut Builder, schedule: &mut VecDeque<Word>) -> Word {
    let next = by_bits(|i| b.parity(&[0, 2, 8, 13].map(|word: usize| schedule[word][i])));
    schedule.push_back(rotate(&next, 1));
    schedule.pop_front().unwrap_or_default()
}

/// The rotation to the left.
fn rotate(word: &[Wire], by: usize) -> Word {
    by_bits(|i| word[(i + 32 - by) % 32])
}

fn digest(state: &Sha1State) -> Word {
    state.iter().flat_map(|word| swap_bytes(word)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Machine, compile, eval_hex};

    /// A string of bytes in hex as the number that the circuit reads, or back.
    fn swapped(hex: &str) -> String {
        let digits: Vec<char> = hex.chars().collect();
        digits.chunks(2).rev().flatten().collect()
    }

    fn evaluate(circuit: &Circuit, hex: &str) -> String {
        let output = eval_hex(circuit, &[format!("0x0{}", swapped(hex))]).unwrap();
        swapped(&output[0][2..])
    }

    fn hashed(message: &[u8]) -> String {
        let mut b = Builder::new();
        let input = b.input(8 * message.len());
        let output = hash(&mut b, &input);
        evaluate(&b.finish(vec![output]), &hex::encode(message))
    }

    #[test]
    fn sha_1_gives_the_answers_of_nist() {
        assert_eq!(hashed(b"abc"), "a9993e364706816aba3e25717850c26c9cd0d89d");
        let long = hashed(b"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq");
        assert_eq!(long, "84983e441c3bd26ebaae4aa1f95129e5e54670f1");
        assert_eq!(hashed(b""), "da39a3ee5e6b4b0d3255bfef95601890afd80709");
    }

    #[test]
    fn one_block_is_the_compression_of_a_padded_message() {
        let block = format!("616263{}{:016x}", format_args!("80{}", "00".repeat(52)), 24);
        let digest = evaluate(&circuit(), &block);
        assert_eq!(digest, "a9993e364706816aba3e25717850c26c9cd0d89d");
    }

    #[test]
    fn the_compression_function_is_as_small_as_stated() {
        let circuit = circuit();
        assert_eq!(circuit.info().ands, 10_582);
        let tape = compile(&circuit, &Machine::CPU);
        tape.check().unwrap();
        assert!(tape.slots < 2000, "{} slots", tape.slots);
    }
}
