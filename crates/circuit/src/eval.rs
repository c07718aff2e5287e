//! Evaluation in the clear: 512 lanes of a tape at a time, and words or hex for tools.

use crate::circuit::Circuit;
use crate::tape::{FIRST_INPUT, Gate, ONE, Tape};
use zeroize::Zeroizing;

/// One bit in each of 512 lanes: lane i is bit i % 64 of word i / 64.
pub type Lanes = [u64; 8];

impl Tape {
    /// Evaluates 512 instances at once: one [`Lanes`] for each input and output bit.
    ///
    /// # Panics
    /// If `inputs` has another length than [`Tape::inputs`], or if the tape breaks the rules that
    /// [`Tape::check`] checks.
    pub fn eval(&self, inputs: &[Lanes]) -> Vec<Lanes> {
        let count = self.inputs as usize;
        assert_eq!(inputs.len(), count, "one value for each input bit");
        // Values may belong to a party that computes alone, so none of them stays in memory.
        let mut slots = Zeroizing::new(vec![[0; 8]; self.slots as usize]);
        slots[ONE as usize] = [u64::MAX; 8];
        slots[FIRST_INPUT as usize..][..inputs.len()].copy_from_slice(inputs);
        for (number, batch) in self.batches.iter().enumerate() {
            for gate in self.xors_of(batch) {
                run(&mut slots, gate, |a, b| a ^ b);
            }
            for gate in self.ands_of(batch) {
                run(&mut slots, gate, |a, b| a & b);
            }
            for applied in self.applied_in(number) {
                let function = &self.functions[applied.function as usize];
                for word in 0..8 {
                    let operands = applied.operands.iter();
                    let inputs = operands.map(|slot| slots[*slot as usize][word]);
                    let found = function.eval(&inputs.collect::<Vec<_>>());
                    for (out, found) in applied.outs.iter().zip(found) {
                        slots[*out as usize][word] = found;
                    }
                }
            }
        }
        let outputs = self.outputs.iter();
        outputs.map(|&slot| slots[slot as usize]).collect()
    }
}

fn run(slots: &mut [Lanes], gate: &Gate, op: impl Fn(u64, u64) -> u64) {
    let (a, b) = (slots[gate.a as usize], slots[gate.b as usize]);
    slots[gate.out as usize] = std::array::from_fn(|i| op(a[i], b[i]));
}

/// Errors in the inputs of a circuit.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EvalError {
    /// Too few or too many values.
    #[error(
        "the circuit takes {expected} input value{}, not {found}",
        if *.expected == 1 { "" } else { "s" }
    )]
    Count {
        /// Number that the circuit takes.
        expected: usize,
        /// Number that was given.
        found: usize,
    },
    /// A value needs more bits than the circuit gives it.
    #[error("input value {index} does not fit {width} bit{}", if *.width == 1 { "" } else { "s" })]
    TooWide {
        /// Index of the value, from 0.
        index: usize,
        /// The width of that input.
        width: usize,
    },
    /// A value is not a hexadecimal number.
    #[error("input value {index} is not a hexadecimal number; expected digits such as 0x1f")]
    NotHex {
        /// Index of the value, from 0.
        index: usize,
    },
    /// An output does not fit the type of the result.
    #[error("output value {index} has {width} bits, more than 128; read it as hex")]
    WideOutput {
        /// Index of the value, from 0.
        index: usize,
        /// Its width.
        width: usize,
    },
}

/// Evaluates `circuit` on unsigned words, one for each input; outputs of up to 128 bits.
pub fn eval_words(circuit: &Circuit, inputs: &[u128]) -> Result<Vec<u128>, EvalError> {
    let widths = circuit.output_widths();
    if let Some((index, &width)) = widths.iter().enumerate().find(|&(_, &w)| w > 128) {
        return Err(EvalError::WideOutput { index, width });
    }
    let bits = |value: u128| (0..128).map(|i| value >> i & 1 == 1).collect();
    let outputs = eval_bits(circuit, inputs.iter().map(|&value| bits(value)).collect())?;
    let word = |bits: &Vec<bool>| {
        let bits = bits.iter().rev();
        bits.fold(0, |word, &bit| word << 1 | bit as u128)
    };
    Ok(outputs.iter().map(word).collect())
}

/// Evaluates `circuit` on hexadecimal numbers of any width, with or without `0x`; the first wire
/// of a value is its least significant bit. Outputs start with `0x` and show leading zeros.
pub fn eval_hex(circuit: &Circuit, inputs: &[impl AsRef<str>]) -> Result<Vec<String>, EvalError> {
    let parse = |(index, text): (usize, &_)| {
        parse_hex(AsRef::as_ref(text)).ok_or(EvalError::NotHex { index })
    };
    let inputs = inputs.iter().enumerate().map(parse);
    let outputs = eval_bits(circuit, inputs.collect::<Result<_, _>>()?)?;
    Ok(outputs.iter().map(|bits| print_hex(bits)).collect())
}

/// Evaluates on bits after fitting each value to the width of its input.
fn eval_bits(circuit: &Circuit, inputs: Vec<Vec<bool>>) -> Result<Vec<Vec<bool>>, EvalError> {
    let widths = circuit.input_widths();
    let (expected, found) = (widths.len(), inputs.len());
    if found != expected {
        return Err(EvalError::Count { expected, found });
    }
    let fit = |(index, (mut bits, &width)): (usize, (Vec<bool>, &usize))| {
        let fits = bits.iter().skip(width).all(|&bit| !bit);
        bits.resize(width, false);
        let too_wide = EvalError::TooWide { index, width };
        fits.then_some(bits).ok_or(too_wide)
    };
    let inputs = inputs.into_iter().zip(widths).enumerate().map(fit);
    Ok(circuit.eval(&inputs.collect::<Result<Vec<_>, _>>()?))
}

fn parse_hex(text: &str) -> Option<Vec<bool>> {
    let digits = text.strip_prefix("0x").or(text.strip_prefix("0X"));
    let digits = digits.unwrap_or(text);
    if digits.is_empty() {
        return None;
    }
    let mut bits = Vec::with_capacity(4 * digits.len());
    for digit in digits.chars().rev() {
        let digit = digit.to_digit(16)?;
        bits.extend((0..4).map(|i| digit >> i & 1 == 1));
    }
    Some(bits)
}

fn print_hex(bits: &[bool]) -> String {
    let value = |bits: &[bool]| bits.iter().rev().fold(0, |v, &bit| v << 1 | bit as u32);
    let digit = |bits: &[bool]| char::from_digit(value(bits), 16).unwrap_or('?');
    let digits = bits.chunks(4).rev().map(digit);
    "0x".chars().chain(digits).collect()
}
