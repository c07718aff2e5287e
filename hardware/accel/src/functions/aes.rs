//! AES-128 (FIPS 197), a round in each cycle.
//!
//! Cycle `r` adds the key to the state, which makes the last round like all others but for
//! MixColumns: so the output is taken before MixColumns, and no multiplexer is needed. MixColumns
//! is its argument plus a rest. The next round adds that rest to the key, and their sum to the
//! output: so one sum serves both, and "the key" that is added is a register of its own, beside
//! that of the key schedule. The round constants are powers of x, which a shift register makes.

use super::{Cycle, Function, zeros};
use crate::netlist::Inputs;
use sealane_circuit::{Builder, Initial, aes};

/// Encrypts a block of the evaluator under a key of the garbler, both given once: the output of the
/// tenth cycle. Bit i of byte j is bit `8 j + i` of a word.
pub(super) fn by_rounds() -> Function {
    let kinds = Inputs {
        garbler_initial: 128,
        evaluator_initial: 128,
        ..Inputs::default()
    };
    // Round constant, key, the two parts of the state.
    let mut cycle = Cycle::new(kinds, 8 + 3 * 128);
    let (constant, rest) = cycle.state.split_at(8);
    let (key, parts) = rest.split_at(128);
    let (added, mixed) = parts.split_at(128);
    let b = &mut cycle.b;
    let state = b.zip(mixed, added, Builder::xor);
    let round = aes::round(b, key, &state, constant);
    let output = b.zip(&round.substituted, &round.key, Builder::xor);
    let next = [round.constant, round.key, output.clone(), round.rest].concat();
    let mut initial = vec![Initial::Constant(true)];
    initial.extend(zeros(7));
    initial.extend((0..128).map(Initial::Held));
    initial.extend((0..256).map(Initial::Held));
    cycle.finish("AES_128_11", 10, (next, initial), output)
}
