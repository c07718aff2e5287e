//! AES-128 (FIPS 197) as a circuit: 200 S-boxes of 32 ANDs, 6400 in all.
//!
//! The S-box is the straight-line program of 113 gates of Boyar and Peralta ("A small depth-16
//! circuit for the AES S-box", SEC 2012, and the authors' later list of circuits): a linear layer,
//! inversion in GF(2^8) as a tower over GF(2^4), a linear layer. Its AND depth is 6.
//!
//! For [`Goal::Depth`] the inversion is made in another order. With n = x^17, the norm, which lies
//! in GF(2^4), the program takes 1/n and then x^16 (1/n), where x^16 swaps the halves of x. As 1/n
//! is n^14, this is also (x^16 n^8) n^6, with n^8 linear in n: n takes one level of ANDs, x^16 n^8
//! and n^6 the next, their product the third. No S-box takes fewer, since its bits are polynomials
//! of degree 7. There are 9 + 18 + 5 + 18 = 50 ANDs, where a lookup in the table of the S-box takes
//! 142 at that depth. (With the inverse in GF(2^4) made in two levels, depth 4 takes 33 ANDs: ten
//! rounds more a block, and a third less to send.)
//!
//! With [`Lookups::Wide`] a product in GF(2^4) is made of all sixteen products of bits, in place of
//! nine by Karatsuba's rule: each bit of a factor meets four, or the eight of both products by 1/n.
//! On XOR shares ANDs with a common operand take as many correlations as one, so an S-box takes
//! 4 + 5 + 4 = 13, in 6 levels.
//!
//! Byte strings are words in which bit i of byte j, of value 2^i, is wire 8 j + i; a little-endian
//! computer reads them into an integer in this way.

use crate::builder::{Builder, Goal, Lookups, Wire, Word};
use crate::circuit::Circuit;

/// Builds the circuit of AES-128: inputs key and plaintext, output ciphertext.
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
    let widths = (key.len(), block.len());
    assert_eq!(widths, (128, 128), "AES-128 takes 16 bytes of each");
    let mut key = columns(key);
    let first = key.clone();
    // Each column of a round's key is made next to the column of the state that it is added to, so
    // that few values wait.
    let mut constant = b.constant(1, 8);
    rounds(b, &first, block, |b, _, c| {
        advance_key(b, &mut key, c, &constant);
        if c == 3 {
            constant = double(b, &constant);
        }
        key[c].clone()
    })
}

/// The keys of all rounds of a key of 16 bytes, 176 bytes: those of blocks that have it in common.
///
/// # Panics
/// If `key` does not have 128 bits.
pub fn round_keys(b: &mut Builder, key: &[Wire]) -> Word {
    assert_eq!(key.len(), 128, "a key of AES-128 has 16 bytes");
    let mut key = columns(key);
    let mut all = key.concat();
    let mut constant = b.constant(1, 8);
    for _ in 1..=10 {
        (0..4).for_each(|c| advance_key(b, &mut key, c, &constant));
        all.extend(key.concat());
        constant = double(b, &constant);
    }
    all.concat()
}

/// Encrypts a block under the keys of all rounds ([`round_keys`]).
///
/// # Panics
/// If `keys` do not have 1408 bits, or `block` 128.
pub fn encrypt_under(b: &mut Builder, keys: &[Wire], block: &[Wire]) -> Word {
    let widths = (keys.len(), block.len());
    assert_eq!(widths, (1408, 128), "AES-128 takes 11 keys and a block");
    let keys = columns(keys);
    rounds(b, &keys[..4], block, |_, round, c| {
        keys[4 * round + c].clone()
    })
}

/// All rounds, of which `key` gives a column of the key of each.
fn rounds(
    b: &mut Builder,
    first: &[Column],
    block: &[Wire],
    mut key: impl FnMut(&mut Builder, usize, usize) -> Column,
) -> Word {
    let mut state = columns(block);
    for (column, key) in state.iter_mut().zip(first) {
        add(b, column, key);
    }
    for round in 1..=10 {
        let mut next = Vec::with_capacity(4);
        for c in 0..4 {
            let key = key(b, round, c);
            let mut column = substituted(b, &state, c);
            if round < 10 {
                column = mix(b, &column);
            }
            add(b, &mut column, &key);
            next.push(column);
        }
        state = next;
    }
    state.concat().concat()
}

/// A round, with what leaves it before MixColumns, and what MixColumns adds.
pub struct Round {
    /// The state after SubBytes and ShiftRows.
    pub substituted: Word,
    /// The part that MixColumns adds to this: the state after MixColumns is the sum of both.
    pub rest: Word,
    /// The key of the next round.
    pub key: Word,
    /// The constant of the next round.
    pub constant: Word,
}

/// Computes a round on a state to which its key has been added: 20 S-boxes. `constant` is that of
/// the key schedule, 1 in the first round.
///
/// # Panics
/// If `key` or `state` do not have 128 bits, or `constant` 8.
pub fn round(b: &mut Builder, key: &[Wire], state: &[Wire], constant: &[Wire]) -> Round {
    let widths = (key.len(), state.len(), constant.len());
    assert_eq!(widths, (128, 128, 8), "key, state and constant of AES-128");
    let (mut key, state) = (columns(key), columns(state));
    let (mut before, mut after) = (Vec::new(), Vec::new());
    for c in 0..4 {
        advance_key(b, &mut key, c, constant);
        let column = substituted(b, &state, c);
        after.push(mix_rest(b, &column));
        before.push(column);
    }
    Round {
        substituted: before.concat().concat(),
        rest: after.concat().concat(),
        key: key.concat().concat(),
        constant: double(b, constant),
    }
}

/// Column `c` of the state after SubBytes and ShiftRows.
fn substituted(b: &mut Builder, state: &[Column], c: usize) -> Column {
    // ShiftRows: row r comes from r columns to the right.
    std::array::from_fn(|row| sbox(b, &state[(c + row) % 4][row]))
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

/// Computes column `c` of the next round key, in place of the same column of the last.
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

/// MixColumns without its argument, in 73 XORs: each byte is the sum of all plus twice the sum of
/// itself and the byte below. The sums of bytes 0 and 1 and of bytes 2 and 3 differ by the sum of
/// all, and so do those of 1 and 2 and of 3 and 0.
fn mix_rest(b: &mut Builder, column: &Column) -> Column {
    let [first, second] = [0, 1].map(|row| b.zip(&column[row], &column[row + 1], Builder::xor));
    let last = b.zip(&column[2], &column[3], Builder::xor);
    let all = b.zip(&first, &last, Builder::xor);
    let [first, second, twice] = [&first, &second, &all].map(|byte| double(b, byte));
    let [top, middle] = [first, second].map(|byte| b.zip(&byte, &all, Builder::xor));
    let [bottom, end] = [&top, &middle].map(|byte| b.zip(byte, &twice, Builder::xor));
    [top, middle, bottom, end]
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

/// The AES S-box of a byte: 32 ANDs, of depth 6; for [`Goal::Depth`] 50, of depth 3, or with
/// [`Lookups::Wide`] 53 with 13 common operands, of depth 6.
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
    }
    // The two halves of x^16.
    let halves: [Factor; 2] = [
        [y15, y6, x7, y16, y1, y7, y11, y17, y10],
        [y12, y3, y4, y13, y5, y2, y9, y14, y8],
    ];
    let [t2, t3, t5, t7, t8, t10, t12, t13, t15] = times(b, &halves[1], &halves[0]);
    straight_line! { b:
        // The norm: a product of the halves, and a linear part.
        t4 = t3 + t2; t6 = t5 + t2; t9 = t8 + t7; t11 = t10 + t7; t14 = t13 + t12;
        t16 = t15 + t12; t17 = t4 + y20; t18 = t6 + t16; t19 = t9 + t14; t20 = t11 + t16;
        t21 = t17 + t14; t22 = t18 + y19; t23 = t19 + y21; t24 = t20 + y18;
    }
    let norm = [t21, t22, t23, t24];
    let (inverse, [low, high]) = match b.goal() {
        Goal::Depth if b.lookups() == Lookups::Wide => (inverse(b, norm), halves),
        Goal::Size => (inverse(b, norm), halves),
        Goal::Depth => {
            let eighth = eighth_power(b, norm);
            let scaled = halves.map(|half| {
                let products = times(b, &eighth, &half);
                let product = recombine(b, products);
                factor(b, product)
            });
            (sixth_power(b, norm), scaled)
        }
    };
    let [z0, z1, z2, z3, z4, z5, z6, z7, z8] = times(b, &inverse, &low);
    let [z9, z10, z11, z12, z13, z14, z15, z16, z17] = times(b, &inverse, &high);
    straight_line! { b:
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

/// An element of GF(2^4), in normal bases over GF(2^2) and over GF(2): p Y^4 + q Y with p and q of
/// the form u W + v W^2.
type Element = [Wire; 4];

/// The nine sums of bits of an element that a product by Karatsuba's rule, twice, takes.
type Factor = [Wire; 9];

/// Computes the factor of an element (p, q) with p = (u, v), in the order of the program: the sums
/// of q, p and p + q.
fn factor(b: &mut Builder, [pu, pv, qu, qv]: Element) -> Factor {
    straight_line! { b:
        v = pv + qv; u = pu + qu; p = pu + pv; q = qu + qv; sum = u + v;
    }
    [q, qv, qu, p, pv, pu, u, sum, v]
}

/// The sums of a factor, each by the numbers of the summands among its (pu, pv, qu, qv), and among
/// its (pu, p, q, qv): in the norm these come after all bits of the other factor. Of two operands
/// that meet equally many, the earlier one is the common operand of ANDs.
const SUMS: [[&[usize]; 2]; 9] = [
    [&[2, 3], &[2]],
    [&[3], &[3]],
    [&[2], &[2, 3]],
    [&[0, 1], &[1]],
    [&[1], &[0, 1]],
    [&[0], &[0]],
    [&[0, 2], &[0, 2, 3]],
    [&[0, 1, 2, 3], &[1, 2]],
    [&[1, 3], &[0, 1, 3]],
];

/// The nine products of a product.
fn times(b: &mut Builder, x: &Factor, y: &Factor) -> Factor {
    if b.goal() == Goal::Size || b.lookups() != Lookups::Wide {
        return std::array::from_fn(|i| b.and(x[i], y[i]));
    }
    let (x, y) = ([x[5], x[4], x[2], x[1]], [y[5], y[3], y[0], y[1]]);
    let products = x.map(|x| y.map(|y| b.and(x, y)));
    SUMS.map(|[rows, columns]| {
        let pairs = rows
            .iter()
            .flat_map(|i| columns.iter().map(|j| products[*i][*j]));
        pairs.fold(Wire::ZERO, |sum, product| b.xor(sum, product))
    })
}

/// The product that nine products make.
fn recombine(b: &mut Builder, [q, qv, qu, p, pv, pu, u, sum, v]: Factor) -> Element {
    straight_line! { b:
        // The product of the sums, times Y^5.
        both = u + v; cross = u + sum;
        p0 = pu + p; p1 = pv + p; q0 = qu + q; q1 = qv + q;
        r0 = p0 + both; r1 = p1 + cross; r2 = q0 + both; r3 = q1 + cross;
    }
    [r0, r1, r2, r3]
}

/// 1/n, of depth 4. The norm comes as the program has it: its last bit is the first of the element.
fn inverse(b: &mut Builder, [t21, t22, t23, t24]: Element) -> Factor {
    straight_line! { b:
        t25 = t21 + t22; t26 = t21 * t23; t27 = t24 + t26;
        t28 = t25 * t27; t29 = t28 + t22; t30 = t23 + t24; t31 = t22 + t26; t32 = t31 * t30;
        t33 = t32 + t24; t34 = t23 + t33; t35 = t27 + t33; t36 = t24 * t35; t37 = t36 + t34;
        t38 = t27 + t36; t39 = t29 * t38; t40 = t25 + t39;
    }
    factor(b, [t29, t40, t33, t37])
}

/// n^8, which is linear.
fn eighth_power(b: &mut Builder, [t21, t22, t23, t24]: Element) -> Factor {
    straight_line! { b:
        low = t21 + t22; high = t23 + t24;
        e0 = high + t22; e1 = low + t23; e2 = low + t24; e3 = high + t21;
    }
    factor(b, [e0, e1, e2, e3])
}

/// n^6, of degree 2: products of two bits each, three of which make a product in GF(2^2).
fn sixth_power(b: &mut Builder, [t21, t22, t23, t24]: Element) -> Factor {
    straight_line! { b:
        low = t21 + t22; high = t23 + t24;
        outer = t21 * t24; inner = t22 * t23; all = low * high;
        e0 = outer + all; e2 = inner + all;
    }
    let (e1, e3) = (b.or(t23, t24), b.or(t21, t22));
    factor(b, [e0, e1, e2, e3])
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
        let inverse = (0..=255).find(|&inverse| times(byte, inverse) == 1);
        let inverse = inverse.unwrap_or(0);
        (0..5).fold(0x63, |sum, i| sum ^ inverse.rotate_left(i))
    }

    /// Checks an S-box on every byte, and returns its ANDs, their depth, and their common operands.
    fn check_sbox(mut b: Builder, sbox: impl Fn(&mut Builder, &[Wire]) -> Word) -> (u64, u64, u64) {
        let byte = b.input(8);
        let output = sbox(&mut b, &byte);
        let circuit = b.finish(vec![output]);
        for byte in 0..=255u8 {
            let expected = u128::from(sbox_by_definition(byte));
            let found = eval_words(&circuit, &[byte.into()]);
            assert_eq!(found.unwrap(), [expected], "{byte:#x}");
        }
        let tape = compile(&circuit, &Machine::ROUNDS);
        let groups = tape.shared_operands().groups.values().sum();
        (circuit.info().ands, circuit.info().depth, groups)
    }

    #[test]
    fn the_sbox_is_right_on_every_byte() {
        let [size, depth] = [Goal::Size, Goal::Depth].map(Builder::for_goal);
        assert_eq!(check_sbox(size, sbox).0, 32);
        let (ands, levels, _) = check_sbox(depth.clone(), sbox);
        assert_eq!((ands, levels), (50, 3));
        let wide = depth.with_lookups(Lookups::Wide);
        assert_eq!(check_sbox(wide, sbox), (53, 6, 13));
    }

    #[test]
    fn the_sbox_is_a_table_of_depth_3() {
        let table = |b: &mut Builder, byte: &[Wire]| {
            let entries = (0..=255u8).map(|i| b.constant(sbox_by_definition(i).into(), 8));
            let entries: Vec<Word> = entries.collect();
            b.lookup(byte, &entries)
        };
        let (ands, levels, _) = check_sbox(Builder::for_goal(Goal::Depth), table);
        assert_eq!((ands, levels), (142, 3));
        let (ands, ..) = check_sbox(Builder::for_goal(Goal::Size), table);
        assert!(ands <= 142, "{ands}");
    }

    /// The circuit for depth, by way of the keys of all rounds.
    fn by_round_keys(lookups: Lookups) -> Circuit {
        let mut b = Builder::for_goal(Goal::Depth).with_lookups(lookups);
        let (key, block) = (b.input(128), b.input(128));
        let keys = round_keys(&mut b, &key);
        let ciphertext = encrypt_under(&mut b, &keys, &block);
        b.finish(vec![ciphertext])
    }

    #[test]
    fn aes_gives_the_answers_of_fips_197() {
        let [gates, wide] = [Lookups::Gates, Lookups::Wide].map(by_round_keys);
        for circuit in [circuit(), gates, wide] {
            check_fips_197(&circuit);
        }
    }

    fn check_fips_197(circuit: &Circuit) {
        let encrypt = |key: u128, plaintext: u128| {
            let output = eval_words(circuit, &[key.swap_bytes(), plaintext.swap_bytes()]);
            output.unwrap()[0].swap_bytes()
        };
        // Appendix B.
        let key = 0x2b7e151628aed2a6abf7158809cf4f3c;
        let ciphertext = encrypt(key, 0x3243f6a8885a308d313198a2e0370734);
        assert_eq!(ciphertext, 0x3925841d02dc09fbdc118597196a0b32);
        // Appendix C.1.
        let key = 0x000102030405060708090a0b0c0d0e0f;
        let ciphertext = encrypt(key, 0x00112233445566778899aabbccddeeff);
        assert_eq!(ciphertext, 0x69c4e0d86a7b0430d8cdb78070b4c55a);
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
        let (batches, lanes) = (tape.batches.len(), Machine::CPU.lanes);
        assert!(batches <= 410, "{batches} batches of {lanes} ANDs at best");
    }

    #[test]
    fn rounds_of_a_protocol_are_three_a_round_of_aes() {
        let mut b = Builder::for_goal(Goal::Depth);
        let (key, block) = (b.input(128), b.input(128));
        let ciphertext = encrypt(&mut b, &key, &block);
        let tape = compile(&b.finish(vec![ciphertext]), &Machine::ROUNDS);
        tape.check().unwrap();
        let sizes = (tape.ands.len(), tape.depth, tape.batches.len());
        assert_eq!(sizes, (10_000, 30, 31));
        // By levels the key schedule runs ahead of the rounds; the live set stays small even so.
        assert!(tape.slots <= 1400, "{} slots", tape.slots);
    }
}
