//! AES-128 as scalar code, one byte and one table lookup after another: the program of
//! `examples/aes_scalar`, for three parties who compute themselves. Sections are those of FIPS 197.

use sealane_diagnostic::Diagnostic;
use sealane_program::builder::{Builder, Handle, Index};
use sealane_program::graph::{Binary, Input, Program};
use sealane_program::types::{Data, Shape, Type};

const BYTES: u64 = 16;
const ROUNDS: usize = 10;

/// Key, text and ciphertext of appendix C.1.
const KEY: u128 = 0x0001_0203_0405_0607_0809_0a0b_0c0d_0e0f;
const TEXT: u128 = 0x0011_2233_4455_6677_8899_aabb_ccdd_eeff;
const CIPHERTEXT: u128 = 0x69c4_e0d8_6a7b_0430_d8cd_b780_70b4_c55a;

/// The inputs of a run of so many blocks, all the same: the key, and the text.
pub(super) fn inputs(blocks: u64) -> Result<[Data; 2], String> {
    Ok([
        bytes(vec![BYTES], KEY, 1)?,
        bytes(vec![blocks, BYTES], TEXT, blocks)?,
    ])
}

/// Checks the ciphertext of every block.
pub(super) fn is_right(data: &Data, blocks: u64) -> bool {
    bytes(vec![blocks, BYTES], CIPHERTEXT, blocks).is_ok_and(|right| *data == right)
}

fn bytes(shape: Vec<u64>, value: u128, times: u64) -> Result<Data, String> {
    let value = value.to_be_bytes().map(i128::from);
    let numbers = value.repeat(times as usize);
    Data::from_numbers(Type::U8, shape, &numbers).ok_or_else(|| "bytes of a shape".to_string())
}

/// The program for so many blocks at most. One party has the text, another the key, and a third
/// receives the ciphertext (figure 7 of the paper).
pub(super) fn program(blocks: u64) -> Result<Program, Diagnostic> {
    let mut builder = Builder::new("aes")?;
    for name in ["text", "key", "receiver"] {
        builder.party(name)?;
    }
    let rows = builder.rows("blocks", blocks)?;
    let mut input = |name: &str, owner: u8, shape: Shape| {
        builder.input(Input::new(name, owner, Type::U8, shape))
    };
    let key = input("key", 1, Shape::fixed([BYTES]))?;
    let text = input("text", 0, Shape::with_rows(rows, [BYTES]))?;
    let numbers = (0..=255).map(|byte| i128::from(substitute(byte)));
    let sbox = Data::from_numbers(Type::U8, vec![256], &numbers.collect::<Vec<_>>());
    let sbox = sbox.expect("numbers of a byte");
    let sbox = builder.constant(sbox, None)?;
    let mut aes = Aes { builder, sbox };
    let keys = aes.round_keys(key)?;
    let block = aes.builder.begin_map(&[text], None)?[0];
    let block = aes.bytes(block)?;
    let ciphertext = aes.encrypt(&keys, &block)?;
    let mut builder = aes.builder;
    let parts = ciphertext.into_iter().map(Into::into).collect::<Vec<_>>();
    let stacked = builder.stack(&parts, 0, None)?;
    let result = builder.end_map(&[stacked.into()], None)?[0];
    builder.reveal("ciphertext", result.into(), &[2], Type::U8, None)?;
    Ok(builder.finish()?.0)
}

struct Aes {
    builder: Builder,
    sbox: Handle,
}

type Bytes = Vec<Handle>;

impl Aes {
    /// Section 5.1. Byte `r + 4c` of a state is row `r`, column `c`.
    fn encrypt(&mut self, keys: &[Bytes], block: &[Handle]) -> Result<Bytes, Diagnostic> {
        let mut state = self.add(block, &keys[0])?;
        for (number, key) in keys.iter().enumerate().skip(1) {
            let sub = self.substitute(&state)?;
            state = (0..16).map(|at| sub[(at + 4 * (at % 4)) % 16]).collect();
            if number < ROUNDS {
                let columns = state.chunks(4).map(|column| self.mix(column));
                state = columns.collect::<Result<Vec<_>, _>>()?.concat();
            }
            state = self.add(&state, key)?;
        }
        Ok(state)
    }

    /// Section 5.2. The owner of the key does this alone.
    fn round_keys(&mut self, key: Handle) -> Result<Vec<Bytes>, Diagnostic> {
        let mut words: Vec<Bytes> = self.bytes(key)?.chunks(4).map(<[Handle]>::to_vec).collect();
        let mut constant = 1;
        for index in 4..4 * (ROUNDS + 1) {
            let mut word = words[index - 1].clone();
            if index % 4 == 0 {
                word.rotate_left(1);
                word = self.substitute(&word)?;
                let (first, b) = (i128::from(constant), &mut self.builder);
                word[0] = b.binary(Binary::Xor, word[0].into(), first.into(), None)?;
                constant = double(constant);
            }
            let before = words[index - 4].clone();
            words.push(self.add(&before, &word)?);
        }
        Ok(words.chunks(4).map(<[Bytes]>::concat).collect())
    }

    /// Section 5.1.3: 2a + 3b + c + d is a + (a + b + c + d) + 2(a + b).
    fn mix(&mut self, column: &[Handle]) -> Result<Bytes, Diagnostic> {
        let first = self.xor(column[0], column[1])?;
        let second = self.xor(column[2], column[3])?;
        let whole = self.xor(first, second)?;
        let byte = |at: usize, aes: &mut Aes| {
            let sum = aes.xor(column[at], column[(at + 1) % 4])?;
            let double = aes.double(sum)?;
            let rest = aes.xor(column[at], whole)?;
            aes.xor(rest, double)
        };
        (0..4).map(|at| byte(at, self)).collect()
    }

    /// Twice a byte in GF(2^8): shifted, and reduced where a bit went over the top.
    fn double(&mut self, byte: Handle) -> Result<Handle, Diagnostic> {
        let b = &mut self.builder;
        let over = b.binary(Binary::Shr, byte.into(), 7.into(), None)?;
        let low = b.binary(Binary::And, byte.into(), 0x7f.into(), None)?;
        let shifted = b.binary(Binary::Shl, low.into(), 1.into(), None)?;
        let reduction = b.binary(Binary::Mul, over.into(), 0x1b.into(), None)?;
        b.binary(Binary::Xor, shifted.into(), reduction.into(), None)
    }

    fn substitute(&mut self, bytes: &[Handle]) -> Result<Bytes, Diagnostic> {
        let b = &mut self.builder;
        bytes
            .iter()
            .map(|byte| b.lookup(self.sbox, *byte, None))
            .collect()
    }

    fn xor(&mut self, a: Handle, b: Handle) -> Result<Handle, Diagnostic> {
        self.builder.binary(Binary::Xor, a.into(), b.into(), None)
    }

    fn add(&mut self, a: &[Handle], b: &[Handle]) -> Result<Bytes, Diagnostic> {
        a.iter().zip(b).map(|(a, b)| self.xor(*a, *b)).collect()
    }

    fn bytes(&mut self, of: Handle) -> Result<Bytes, Diagnostic> {
        let byte = |at| self.builder.index(of, &[Index::At(at)], None);
        (0..BYTES as i64).map(byte).collect()
    }
}

/// Multiplication by x in GF(2^8).
fn double(byte: u8) -> u8 {
    (byte << 1) ^ (0x1b * (byte >> 7))
}

/// The S-box (section 5.1.1): the inverse, which is the power 254, then an affine map.
fn substitute(byte: u8) -> u8 {
    let times = |a: u8, b: u8| {
        let bits = (0..8).rev();
        bits.fold(0, |sum, bit| double(sum) ^ (a * (b >> bit & 1)))
    };
    let inverse = (0..254).fold(1, |power, _| times(power, byte));
    let turns = (1..5).map(|turn| inverse.rotate_left(turn));
    turns.fold(inverse, |sum, turned| sum ^ turned) ^ 0x63
}
