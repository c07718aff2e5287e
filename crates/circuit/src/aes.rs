//! AES-128 (FIPS 197) from code: 200 S-boxes of 32 ANDs, 6400 in all.
//!
//! The S-box is the straight-line program of 113 gates of Boyar and Peralta ("A small depth-16
//! circuit for the AES S-box", SEC 2012, and the authors' later list of circuits): a linear layer,
//! inversion in GF(2^8) as a tower over GF(2^4), a linear layer.
//!
//! Byte strings are words in which bit i of byte j, of value 2^i, is wire 8 j + i; that is how a
//! computer with least significant byte first reads them into an integer.

use crate::builder::{Builder, Wire, Word};
use crate::circuit::Circuit;

/// The circuit of AES-128: inputs key and plaintext, output ciphertext.
pub fn circuit() -> Circuit {
    let mut b = Builder::new();
    let (key, block) = (b.input(128), b.input(128));
    let ciphertext = encrypt(&mut b, &key, &block);
    b.finish(vec![ciphertext])
}

/// Encrypts a block under a key of 16 bytes, key schedule included.
///
/// # Panics
/// If `key` or `block` do not have 128 bits.
pub fn encrypt(b: &mut Builder, key: &[Wire], block: &[Wire]) -> Word {
    assert_eq!(
        (key.len(), block.len()),
        (128, 128),
        "AES-128 takes 16 bytes of each"
    );
    let mut key = columns(key);
    let mut state = columns(block);
    for (column, key) in state.iter_mut().zip(&key) {
        add(b, column, key);
    }
    // Round constants are the powers of x; each round's key is made column by column beside the
    // column of the state that it meets, so that little of it waits.
    let mut constant = b.constant(1, 8);
    for round in 1..=10 {
        let mut next = Vec::with_capacity(4);
        for c in 0..4 {
            advance_key(b, &mut key, c, &constant);
            let mut column: Column = std::array::from_fn(|row| {
                // ShiftRows: row r comes from r columns to the right.
                sbox(b, &state[(c + row) % 4][row])
            });
            if round < 10 {
                column = mix(b, &column);
            }
            add(b, &mut column, &key[c]);
            next.push(column);
        }
        state = next;
        constant = double(b, &constant);
    }
    state.concat().concat()
}

/// A column of the state: four bytes.
type Column = [Word; 4];

fn columns(bits: &[Wire]) -> Vec<Column> {
    let byte = |column: &[Wire], i: usize| column[8 * i..8 * i + 8].to_vec();
    bits.chunks(32)
        .map(|column| std::array::from_fn(|i| byte(column, i)))
        .collect()
}

fn add(b: &mut Builder, column: &mut Column, other: &Column) {
    for (byte, other) in column.iter_mut().zip(other) {
        *byte = b.zip(byte, other, Builder::xor);
    }
}

/// Column `c` of the next round key, in place of that of the last.
fn advance_key(b: &mut Builder, key: &mut [Column], c: usize, constant: &[Wire]) {
    let mut before = key[(c + 3) % 4].clone();
    if c == 0 {
        before.rotate_left(1);
        before = before.map(|byte| sbox(b, &byte));
        before[0] = b.zip(&before[0], constant, Builder::xor);
    }
    add(b, &mut key[c], &before);
}

/// MixColumns: each byte is 2 a + 3 b + c + d of itself and the bytes below it, that is, itself
/// plus the sum of all plus 2 (a + b).
fn mix(b: &mut Builder, column: &Column) -> Column {
    let next = |row: usize| &column[(row + 1) % 4];
    let pairs: Column = std::array::from_fn(|row| b.zip(&column[row], next(row), Builder::xor));
    std::array::from_fn(|row| {
        let doubled = double(b, &pairs[row]);
        // b + c + d is b plus the pair (c, d).
        let rest = b.zip(next(row), &pairs[(row + 2) % 4], Builder::xor);
        b.zip(&doubled, &rest, Builder::xor)
    })
}

/// Times x modulo x^8 + x^4 + x^3 + x + 1.
fn double(b: &mut Builder, byte: &[Wire]) -> Word {
    let mut doubled: Word = byte.to_vec();
    doubled.rotate_right(1);
    for i in [1, 3, 4] {
        doubled[i] = b.xor(doubled[i], byte[7]);
    }
    doubled
}

/// Straight-line programs in the notation of their authors: + is XOR, x (here *) is AND, # is
/// XNOR.
macro_rules! straight_line {
    ($b:ident: $($out:ident = $x:ident $op:tt $y:ident;)*) => {
        $(let $out = straight_line!(@ $b $x $op $y);)*
    };
    (@ $b:ident $x:ident + $y:ident) => { $b.xor($x, $y) };
    (@ $b:ident $x:ident * $y:ident) => { $b.and($x, $y) };
    (@ $b:ident $x:ident # $y:ident) => { $b.xor($x, !$y) };
}

/// The AES S-box of a byte: 32 ANDs.
///
/// # Panics
/// If `byte` does not have 8 bits.
pub fn sbox(b: &mut Builder, byte: &[Wire]) -> Word {
    // The authors number bits from the most significant one.
    let &[x7, x6, x5, x4, x3, x2, x1, x0] = byte else {
        panic!("a byte has 8 bits")
    };
    straight_line! { b:
        // Linear, into the tower field.
        y14 = x3 + x5; y13 = x0 + x6; y9 = x0 + x3; y8 = x0 + x5; t0 = x1 + x2; y1 = t0 + x7;
        y4 = y1 + x3; y12 = y13 + y14; y2 = y1 + x0; y5 = y1 + x6; y3 = y5 + y8; t1 = x4 + y12;
        y15 = t1 + x5; y20 = t1 + x1; y6 = y15 + x7; y10 = y15 + t0; y11 = y20 + y9;
        y7 = x7 + y11; y17 = y10 + y11; y19 = y10 + y8; y16 = t0 + y11; y21 = y13 + y16;
        y18 = x0 + y16;
        // The inverse: products of the halves, inversion in GF(2^4), products with the halves.
        t2 = y12 * y15; t3 = y3 * y6; t4 = t3 + t2; t5 = y4 * x7; t6 = t5 + t2; t7 = y13 * y16;
        t8 = y5 * y1; t9 = t8 + t7; t10 = y2 * y7; t11 = t10 + t7; t12 = y9 * y11;
        t13 = y14 * y17; t14 = t13 + t12; t15 = y8 * y10; t16 = t15 + t12; t17 = t4 + y20;
        t18 = t6 + t16; t19 = t9 + t14; t20 = t11 + t16; t21 = t17 + t14; t22 = t18 + y19;
        t23 = t19 + y21; t24 = t20 + y18; t25 = t21 + t22; t26 = t21 * t23; t27 = t24 + t26;
        t28 = t25 * t27; t29 = t28 + t22; t30 = t23 + t24; t31 = t22 + t26; t32 = t31 * t30;
        t33 = t32 + t24; t34 = t23 + t33; t35 = t27 + t33; t36 = t24 * t35; t37 = t36 + t34;
        t38 = t27 + t36; t39 = t29 * t38; t40 = t25 + t39; t41 = t40 + t37; t42 = t29 + t33;
        t43 = t29 + t40; t44 = t33 + t37; t45 = t42 + t41;
        z0 = t44 * y15; z1 = t37 * y6; z2 = t33 * x7; z3 = t43 * y16; z4 = t40 * y1;
        z5 = t29 * y7; z6 = t42 * y11; z7 = t45 * y17; z8 = t41 * y10; z9 = t44 * y12;
        z10 = t37 * y3; z11 = t33 * y4; z12 = t43 * y13; z13 = t40 * y5; z14 = t29 * y2;
        z15 = t42 * y9; z16 = t45 * y14; z17 = t41 * y8;
        // Linear, back and through the affine map.
        tc1 = z15 + z16; tc2 = z10 + tc1; tc3 = z9 + tc2; tc4 = z0 + z2; tc5 = z1 + z0;
        tc6 = z3 + z4; tc7 = z12 + tc4; tc8 = z7 + tc6; tc9 = z8 + tc7; tc10 = tc8 + tc9;
        tc11 = tc6 + tc5; tc12 = z3 + z5; tc13 = z13 + tc1; tc14 = tc4 + tc12; s3 = tc3 + tc11;
        tc16 = z6 + tc8; tc17 = z14 + tc10; tc18 = tc13 + tc14; s7 = z12 # tc18;
        tc20 = z15 + tc16; tc21 = tc2 + z11; s6 = tc10 # tc18;
        s4 = tc14 + s3; s1 = s3 # tc16; tc26 = tc17 + tc20; s2 = tc26 # z17; s5 = tc21 + tc17;
        s0 = tc3 + tc16;
    }
    vec![s7, s6, s5, s4, s3, s2, s1, s0]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Machine, compile, eval_words};

    /// The S-box by its definition: the inverse in GF(2^8), then the affine map (FIPS 197, 5.1.1).
    fn sbox_by_definition(byte: u8) -> u8 {
        let times = |a: u8, b: u8| {
            (0..8).rev().fold(0u8, |sum, i| {
                let doubled = (sum << 1) ^ ((sum >> 7) * 0x1b);
                doubled ^ ((b >> i & 1) * a)
            })
        };
        let inverse = (0..=255)
            .find(|&inverse| times(byte, inverse) == 1)
            .unwrap_or(0);
        (0..5).fold(0x63, |sum, i| sum ^ inverse.rotate_left(i))
    }

    #[test]
    fn the_sbox_is_right_on_every_byte_with_32_ands() {
        let mut b = Builder::new();
        let byte = b.input(8);
        let output = sbox(&mut b, &byte);
        let circuit = b.finish(vec![output]);
        assert_eq!(circuit.info().ands, 32);
        for byte in 0..=255u8 {
            let expected = u128::from(sbox_by_definition(byte));
            assert_eq!(
                eval_words(&circuit, &[byte.into()]).unwrap(),
                [expected],
                "{byte:#x}"
            );
        }
    }

    #[test]
    fn aes_gives_the_answers_of_fips_197() {
        let circuit = circuit();
        let encrypt = |key: u128, plaintext: u128| {
            let output = eval_words(&circuit, &[key.swap_bytes(), plaintext.swap_bytes()]);
            output.unwrap()[0].swap_bytes()
        };
        // Appendix B.
        assert_eq!(
            encrypt(
                0x2b7e151628aed2a6abf7158809cf4f3c,
                0x3243f6a8885a308d313198a2e0370734
            ),
            0x3925841d02dc09fbdc118597196a0b32
        );
        // Appendix C.1.
        assert_eq!(
            encrypt(
                0x000102030405060708090a0b0c0d0e0f,
                0x00112233445566778899aabbccddeeff
            ),
            0x69c4e0d86a7b0430d8cdb78070b4c55a
        );
    }

    #[test]
    fn the_tape_is_small_and_its_batches_are_full() {
        let circuit = circuit();
        assert_eq!(circuit.info().ands, 6400);
        let tape = compile(&circuit, &Machine::CPU);
        tape.check().unwrap();
        assert_eq!((tape.ands.len(), tape.depth), (6400, 60));
        assert!(tape.slots <= 480, "{} slots", tape.slots);
        // A few batches next to the end and the start of the key schedule are not full.
        let batches = tape.batches.len();
        assert!(
            batches <= 410,
            "{batches} batches of {} ANDs at best",
            Machine::CPU.lanes
        );
    }
}
