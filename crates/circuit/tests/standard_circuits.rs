//! The standard circuits of the two Bristol formats give the answers of the standards.

use sealane_circuit::bristol::{CircuitFile, Format, read, write};
use sealane_circuit::{Machine, compile, eval_hex, eval_words};
use sealane_testkit::testdata;

/// Reads a circuit and checks it against the other ways to hold it: its tape, and both formats.
fn load(text: &str) -> CircuitFile {
    let mut file = read(text).unwrap();
    for machine in [Machine::CPU, Machine::ROWS, Machine::ROUNDS] {
        let tape = compile(&file.circuit, &machine);
        tape.check().unwrap();
        assert!(tape.ands.len() as u64 <= file.info.ands);
    }
    let again = read(&write(&file.circuit, Format::BristolFashion).unwrap()).unwrap();
    assert_eq!(again.circuit.input_widths(), file.circuit.input_widths());
    file.circuit = again.circuit;
    file
}

/// A circuit of Bristol fashion that lies in the repository.
fn packed(name: &str) -> CircuitFile {
    load(&testdata::text(&format!("circuits/{name}.txt")))
}

/// A circuit that lies beside some checkouts: one of the old format, whose files have another
/// licence.
fn beside(name: &str) -> Option<CircuitFile> {
    let text = testdata::shared(&format!("circuits/{name}.txt"))?;
    Some(load(&text))
}

/// Wires, gates, ANDs, XORs and depth.
fn sizes(file: &CircuitFile) -> [u64; 5] {
    let info = file.info;
    [info.wires, info.gates, info.ands, info.xors, info.depth]
}

const TOP_BIT: u64 = 1 << 63;

/// Values with long carries and plain ones.
const WORDS: [u64; 7] = [
    0,
    1,
    2,
    TOP_BIT - 1,
    TOP_BIT,
    u64::MAX,
    0x0123_4567_89ab_cdef,
];

/// Checks a circuit of two words against `expected` on all pairs.
fn check_words(name: &str, expected: impl Fn(u64, u64) -> u128) {
    let file = packed(name);
    assert_eq!(file.format, Format::BristolFashion);
    for x in WORDS {
        for y in WORDS {
            let found = match file.circuit.input_widths().len() {
                1 => eval_words(&file.circuit, &[x.into()]),
                _ => eval_words(&file.circuit, &[x.into(), y.into()]),
            };
            let expected = expected(x, y);
            assert_eq!(found.unwrap(), [expected], "{name} of {x:#x} and {y:#x}");
        }
    }
}

#[test]
fn arithmetic_of_bristol_fashion() {
    check_words("adder64", |x, y| x.wrapping_add(y).into());
    check_words("sub64", |x, y| x.wrapping_sub(y).into());
    check_words("mult64", |x, y| x.wrapping_mul(y).into());
    check_words("neg64", |x, _| x.wrapping_neg().into());
    check_words("zero_equal", |x, _| (x == 0).into());
}

/// The old format has the same gates behind another header: the widths of two inputs and of the
/// output are three numbers on one line.
#[test]
fn the_same_gates_behind_the_header_of_the_old_format() {
    for (name, expected) in [
        ("adder64", u64::wrapping_add as fn(u64, u64) -> u64),
        ("sub64", u64::wrapping_sub),
        ("mult64", u64::wrapping_mul),
    ] {
        let text = testdata::text(&format!("circuits/{name}.txt"));
        let (counts, rest) = text.split_once('\n').unwrap();
        let (_, gates) = rest.split_once("\n\n").unwrap();
        let file = load(&format!("{counts}\n64 64   64\n\n{gates}"));
        let same = (Format::Bristol, packed(name).info);
        assert_eq!((file.format, file.info), same);
        for x in WORDS {
            for y in WORDS {
                let found = eval_words(&file.circuit, &[x.into(), y.into()]).unwrap();
                let expected = expected(x, y).into();
                assert_eq!(found, [expected], "{name} of {x:#x} and {y:#x}");
            }
        }
    }
}

#[test]
fn adder_of_the_old_format() {
    let Some(file) = beside("bristol_old/adder_32bit") else {
        return;
    };
    assert_eq!(file.format, Format::Bristol);
    assert_eq!(sizes(&file), [439, 375, 127, 61, 63]);
    for (x, y) in [(0u32, 0u32), (1, u32::MAX), (0x89ab_cdef, 0xfedc_ba98)] {
        let sum = u128::from(x) + u128::from(y);
        let found = eval_words(&file.circuit, &[x.into(), y.into()]);
        assert_eq!(found.unwrap(), [sum]);
    }
}

/// FIPS 197, appendix C.1.
const KEY: u128 = 0x000102030405060708090a0b0c0d0e0f;
const PLAINTEXT: u128 = 0x00112233445566778899aabbccddeeff;
const CIPHERTEXT: u128 = 0x69c4e0d86a7b0430d8cdb78070b4c55a;

#[test]
fn aes_of_bristol_fashion() {
    let file = packed("aes_128");
    assert_eq!(sizes(&file), [36919, 36663, 6400, 28176, 60]);
    let found = eval_words(&file.circuit, &[KEY, PLAINTEXT]);
    assert_eq!(found.unwrap(), [CIPHERTEXT]);
}

#[test]
fn aes_of_the_old_format() {
    let Some(file) = beside("bristol_old/AES-non-expanded") else {
        return;
    };
    assert_eq!(sizes(&file), [33872, 33616, 6800, 25124, 40]);
    // The first wire is the most significant bit of the first byte; the plaintext comes first.
    let inputs = [PLAINTEXT.reverse_bits(), KEY.reverse_bits()];
    let output = eval_words(&file.circuit, &inputs).unwrap();
    assert_eq!(output[0].reverse_bits(), CIPHERTEXT);
}

#[test]
fn sha_256_of_bristol_fashion() {
    let file = packed("sha256");
    assert_eq!(sizes(&file), [135841, 135073, 22573, 110644, 1607]);
    // "abc" with its padding, and the initial value of FIPS 180-4, 5.3.3.
    let block = format!("0x61626380{:0120x}", 24);
    let state = "0x6a09e667bb67ae853c6ef372a54ff53a510e527f9b05688c1f83d9ab5be0cd19";
    let digest = "0xba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    assert_eq!(eval_hex(&file.circuit, &[&block, state]).unwrap(), [digest]);
}
