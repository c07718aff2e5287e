//! Inputs and outputs as text: bytes in hexadecimal digits.
//!
//! Bit `i` of an input is bit `i mod 8` of byte `i / 8`. The bits of an input are those given once,
//! then those of the first netlist cycle, then those of the second one, and so on. So a word of 32
//! bits is four bytes with the lowest first, and a key or block of AES is its bytes in order.

use crate::job::{Opened, Span};
use zeroize::Zeroizing;

/// The word of inputs whose sessions open the outputs of every netlist cycle.
const OPEN_EVERY: &str = "open-every";

/// A text that is no input.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InputError {
    /// A character is no hexadecimal digit. It is not shown, since inputs are secret.
    #[error("character {0} is no hexadecimal digit")]
    Digit(usize),
    /// There is half a byte.
    #[error("a byte is two hexadecimal digits, and there {} {}", if *.0 == 1 { "is" } else { "are" }, some(*.0 as u64, "digit"))]
    Half(usize),
    /// There are more or fewer bytes than the bits take.
    #[error(
        "an input of {} takes {}, and there {} {}",
        some(*bits, "bit"), some(*expected, "byte"), if *found == 1 { "is" } else { "are" }, some(*found, "byte")
    )]
    Length {
        /// Bits of the input.
        bits: u64,
        /// Bytes that they take.
        expected: u64,
        /// Bytes that there are.
        found: u64,
    },
    /// Bits behind the last one are not 0.
    #[error("an input of {} has bits behind its last one that are not 0", some(*.0, "bit"))]
    Rest(u64),
    /// The number of netlist cycles is none.
    #[error("`cycles` is followed by a number from 1 to 4294967295")]
    Cycles,
}

/// Formats a number of things.
fn some(number: u64, one: &str) -> String {
    match number {
        0 => format!("no {one}s"),
        1 => format!("1 {one}"),
        _ => format!("{number} {one}s"),
    }
}

/// The text of an input: its netlist cycles, and its bytes.
pub struct InputText {
    /// True if the text begins with the word `cycles`.
    pub states_cycles: bool,
    /// The number behind the word `cycles` at the beginning, which is 1 if it is missing, and
    /// whether the word `open-every` follows.
    pub span: Span,
    bytes: Zeroizing<Vec<u8>>,
}

impl InputText {
    /// Reads a text: perhaps the word `cycles` and a number, and perhaps the word `open-every`
    /// behind it; then hexadecimal digits, with white space anywhere between.
    ///
    /// # Errors
    /// [`InputError`], without what the text says.
    pub fn parse(text: &str) -> Result<InputText, InputError> {
        let start = text.trim_start();
        let stated = start.strip_prefix("cycles");
        let (cycles, digits) = match stated {
            None => (1, start),
            Some(rest) => {
                let rest = rest.trim_start();
                let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
                let cycles = rest[..end].parse().ok().filter(|cycles| *cycles > 0);
                (cycles.ok_or(InputError::Cycles)?, &rest[end..])
            }
        };
        let behind = digits.trim_start().strip_prefix(OPEN_EVERY);
        let behind = behind.filter(|rest| rest.chars().next().is_none_or(char::is_whitespace));
        let (opened, digits) = match behind {
            Some(rest) if stated.is_some() => (Opened::Every, rest),
            _ => (Opened::Last, digits),
        };
        let span = Span { cycles, opened };
        let first = text.len() - digits.len();
        // Memory is taken once, so that no copy is left behind.
        let mut bytes = Zeroizing::new(Vec::with_capacity(digits.len() / 2 + 1));
        let (mut half, mut count) = (None, 0);
        for (at, character) in digits.char_indices() {
            if character.is_whitespace() {
                continue;
            }
            let digit = character
                .to_digit(16)
                .ok_or(InputError::Digit(first + at + 1))? as u8;
            count += 1;
            half = match half {
                None => Some(digit),
                Some(high) => {
                    bytes.push(high << 4 | digit);
                    None
                }
            };
        }
        match half {
            None => Ok(InputText {
                states_cycles: stated.is_some(),
                span,
                bytes,
            }),
            Some(_) => Err(InputError::Half(count)),
        }
    }

    /// Returns the number of bytes.
    pub fn byte_count(&self) -> u64 {
        self.bytes.len() as u64
    }

    /// Returns the input of so many bits, a bit a byte.
    ///
    /// # Errors
    /// [`InputError::Length`], [`InputError::Rest`].
    pub fn bits(&self, bits: u64) -> Result<Zeroizing<Vec<u8>>, InputError> {
        let (expected, found) = (bits.div_ceil(8), self.bytes.len() as u64);
        if found != expected {
            return Err(InputError::Length {
                bits,
                expected,
                found,
            });
        }
        let all = self.bytes.iter();
        let all = all.flat_map(|byte| (0..8).map(move |bit| byte >> bit & 1));
        // Memory is taken once, here as well.
        let mut bits_of_all = Zeroizing::new(Vec::with_capacity(8 * self.bytes.len()));
        bits_of_all.extend(all);
        let mut all = bits_of_all;
        let rest = all[bits as usize..].iter().fold(0, |any, bit| any | bit);
        if rest != 0 {
            return Err(InputError::Rest(bits));
        }
        all.truncate(bits as usize);
        Ok(all)
    }
}

/// Packs bits, one a byte, eight into a byte.
pub(crate) fn pack(bits: &[u8]) -> Vec<u8> {
    let byte = |bits: &[u8]| {
        let placed = bits.iter().zip(0..);
        placed.fold(0, |byte, (bit, place)| byte | (bit & 1) << place)
    };
    bits.chunks(8).map(byte).collect()
}

/// Returns bits, one a byte, as hexadecimal digits, in the form of inputs.
pub fn hex(bits: &[u8]) -> String {
    hex::encode(pack(bits))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_bits() {
        let text = InputText::parse(" cycles 3\n a1 0\n2 ").unwrap();
        assert_eq!(text.span, Span::last(3));
        let bits = text.bits(10).unwrap();
        assert_eq!(*bits, [1, 0, 0, 0, 0, 1, 0, 1, 0, 1]);
        assert_eq!(hex(&bits), "a102");
        assert_eq!(text.bits(9), Err(InputError::Rest(9)));
        let length = InputError::Length {
            bits: 8,
            expected: 1,
            found: 2,
        };
        assert_eq!(text.bits(8), Err(length));
        assert_eq!(InputText::parse("").unwrap().span, Span::last(1));
        let every = InputText::parse("cycles 10 open-every\nff").unwrap();
        assert_eq!(every.span, Span::every(10));
        assert_eq!(every.bits(8).unwrap().len(), 8);
        let refused = |text| InputText::parse(text).map(|text| text.span);
        assert_eq!(refused("0g"), Err(InputError::Digit(2)));
        assert_eq!(refused("cycles 2 \u{e4}"), Err(InputError::Digit(10)));
        assert_eq!(refused("cycles 2 open-every0"), Err(InputError::Digit(10)));
        assert_eq!(refused("open-every 00"), Err(InputError::Digit(1)));
        assert_eq!(refused("123"), Err(InputError::Half(3)));
        for text in ["cycles", "cycles 0", "cycles -1", "cycles 4294967296 00"] {
            assert_eq!(refused(text), Err(InputError::Cycles), "{text}");
        }
    }
}
