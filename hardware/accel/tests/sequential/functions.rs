//! The functions of Table II: the authors' netlists and our own sources, in the clear and garbled,
//! against plain arithmetic and FIPS 197.

use crate::support::{
    Given, bits, garbled, minus, number, product, random_bits, released, signed, word,
};
use sealane_accel::formats::{Format, read, write};
use sealane_accel::paper::BENCHMARKS;
use sealane_circuit::Sequential;
use sealane_hw_testkit::ours;

/// The author of a netlist.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Whose {
    Authors,
    Ours,
}

/// Calls a check with our source of a function, and with the authors' netlist where it is there.
fn each(name: &str, check: impl Fn(&Sequential, Whose)) {
    // Through its netlist, so that the netlist is checked too.
    let netlist = ours(name);
    check(&netlist.sequential().unwrap(), Whose::Ours);
    if let Some(netlist) = released(name) {
        check(&netlist.sequential().unwrap(), Whose::Authors);
    }
}

/// Runs a circuit on bits of both parties, and returns the outputs of each cycle. They are the same
/// in the clear and garbled.
fn run(circuit: &Sequential, given: &Given) -> Vec<Vec<bool>> {
    let clear = given.clear(circuit);
    assert_eq!(garbled(circuit, given), clear, "garbled and in the clear");
    clear
}

/// Bit `cycle` of each number, in each cycle.
fn serial(x: &[bool], y: &[bool]) -> Given {
    Given::fresh(x.iter().zip(y).map(|(&x, &y)| [vec![x], vec![y]]))
}

/// All words in one cycle.
fn at_once(x: Vec<bool>, y: Vec<bool>) -> Given {
    Given::fresh([[x, y]])
}

#[test]
fn the_richer_one_is_found() {
    each("Mill_8_8", |circuit, _| {
        for (x, y) in [(0, 0), (161, 36), (36, 161), (255, 255), (127, 128), (1, 0)] {
            let out = run(circuit, &serial(&bits(x, 8), &bits(y, 8)));
            assert_eq!(out[7], [x >= y], "{x} and {y}");
        }
    });
}

#[test]
fn sums_are_those_of_bytes() {
    for (x, y) in [(0, 0), (255, 1), (200, 100), (85, 170), (15, 241)] {
        let sum = (x + y) % 256;
        each("Add_8_1", |circuit, _| {
            let out = run(circuit, &at_once(bits(x, 8), bits(y, 8)));
            assert_eq!(number(&out[0]), sum);
        });
        each("Add_8_8", |circuit, _| {
            let out = run(circuit, &serial(&bits(x, 8), &bits(y, 8)));
            assert_eq!(number(&out.concat()), sum);
        });
    }
}

#[test]
fn distances_are_counts_of_bits() {
    for seed in 0..4 {
        for (name, n) in [("Hamm_32_1", 32), ("Hamm_32_32", 32), ("Hamm_512_512", 512)] {
            let x = random_bits(2 * seed, n);
            // The last pair differs everywhere, so that the counter is full.
            let y: Vec<bool> = match seed {
                3 => x.iter().map(|bit| !bit).collect(),
                _ => random_bits(2 * seed + 1, n),
            };
            let distance = x.iter().zip(&y).filter(|(x, y)| x != y).count();
            each(name, |circuit, _| {
                let given = match name {
                    "Hamm_32_1" => at_once(x.clone(), y.clone()),
                    _ => serial(&x, &y),
                };
                let out = run(circuit, &given);
                assert_eq!(number(&out[out.len() - 1]), distance as u128, "{name}");
            });
        }
    }
}

/// The authors' circuit gives the bits of a product a cycle late, so the last one is missing. That
/// of 256 bits, as released, loses a carry: where bits 0 and 1 of the evaluator's factor and two
/// neighbouring bits of the other are 1, four times the lower of these is missing.
#[test]
fn products_are_those_of_integers() {
    for (name, n) in [("Mult_256_512", 256), ("Mult_1024_2048", 1024)] {
        let (a, mut b) = (random_bits(7, n), random_bits(8, n));
        for low in [false, true] {
            (b[0], b[1]) = (true, low);
            each(name, |circuit, whose| {
                let padded: Vec<bool> = (0..2 * n + 1).map(|i| i < n && a[i]).collect();
                let given = match whose {
                    Whose::Ours => Given {
                        held: [vec![], b.clone()],
                        ..Given::fresh(padded.iter().map(|&bit| [vec![bit], vec![]]))
                    },
                    Whose::Authors => {
                        Given::fresh(padded.iter().map(|&bit| [vec![bit], b.clone()]))
                    }
                };
                let product = product(&a, &b);
                let lost = |i| low && (2..=n).contains(&i) && a[i - 2] && a[i - 1];
                let lost: Vec<bool> = (0..2 * n).map(lost).collect();
                let expected = match (whose, n) {
                    (Whose::Authors, 256) => minus(&product, &lost),
                    _ => product,
                };
                let out = run(circuit, &given).concat();
                assert!(!out[0] && out[1..] == expected, "{name}, {whose:?}");
            });
        }
    }
}

/// The mean of the total so far and of the upper half of a product. The authors' multiplier leaves
/// parts of partial products away: it is off by some units.
#[test]
fn products_accumulate() {
    for (name, w) in [("MAC_8_1", 8), ("MAC_16_1", 16), ("MAC_32_1", 32)] {
        let least = || bits(1 << (w - 1), w);
        let random = (0..12).map(|i| [2 * i, 2 * i + 1].map(|seed| random_bits(seed, w)));
        let ends = [
            [least(), least()],
            [bits(0, w), least()],
            [least(), bits(1, w)],
        ];
        let pairs: Vec<[Vec<bool>; 2]> = random.chain(ends).collect();
        each(name, |circuit, whose| {
            let out = run(circuit, &Given::fresh(pairs.clone()));
            let mut total = 0;
            for ([a, b], out) in pairs.iter().zip(out) {
                let sum = (total << w) + signed(a) * signed(b);
                total = signed(&out);
                let off = total - ((sum + (1 << w) - 1) >> (w + 1));
                let most = if whose == Whose::Ours { 0 } else { 3 };
                assert!(off.abs() <= most, "{name}, {whose:?}: off by {off}");
            }
        });
    }
}

/// One step of a rotation by the angle z, with the shift of a machine.
fn step(
    [x, y, z]: [i128; 3],
    angle: i128,
    shift: impl Fn(i128) -> i128,
    clockwise: bool,
) -> [i128; 3] {
    let back = if z < 0 { -1 } else { 1 };
    let turn = if clockwise { -back } else { back };
    let cut = |value: i128| signed(&bits(value as u128, 32));
    [x - turn * shift(y), y + turn * shift(x), z - back * angle].map(cut)
}

#[test]
fn vectors_turn() {
    let one = f64::from(1 << 30);
    for (seed, angle) in [(0, 0.5), (2, -1.2), (4, 1.57), (6, -0.001)] {
        let coordinate = |seed| signed(&random_bits(seed, 29));
        let (x, y) = (coordinate(seed), coordinate(seed + 1));
        let z = (angle * one) as i128;
        each("CORDIC_32_31", |circuit, whose| {
            let pad = circuit.held_widths()[2];
            let held = [word(x, 32), word(y, 32)].concat();
            let given = Given {
                held: [held, word(z, pad)],
                ..Given::fresh(vec![[vec![], vec![]]; 31])
            };
            let last = run(circuit, &given).pop().unwrap();
            let out = [0, 1, 2].map(|i| signed(&last[32 * i..][..32]));
            let exact = |i: i32| f64::from(2f32.powi(-i)).atan() * one;
            let steps = match whose {
                Whose::Ours => (0..31).fold([x, y, z], |vector, i| {
                    step(vector, exact(i).round() as i128, |v| v >> i, false)
                }),
                Whose::Authors => (0..30).fold([x, y, z], |vector, i| {
                    let unsigned = |v: i128| (v & 0xffff_ffff) >> i;
                    step(vector, exact(i).floor() as i128, unsigned, true)
                }),
            };
            assert_eq!(out, steps, "{whose:?}");
            if whose == Whose::Ours {
                let gain: f64 = (0..31).map(|i| (1.0 + 0.25f64.powi(i)).sqrt()).product();
                let (x, y, (sin, cos)) = (x as f64, y as f64, f64::sin_cos(angle));
                let turned = [x * cos - y * sin, x * sin + y * cos];
                for (out, turned) in out.into_iter().zip(turned) {
                    assert!((out as f64 - gain * turned).abs() < 64.0, "{out} {turned}");
                }
            }
        });
    }
}

/// FIPS 197, appendices B and C.1.
#[test]
fn blocks_are_encrypted() {
    let vectors = [
        (
            0x2b7e151628aed2a6abf7158809cf4f3c,
            0x3243f6a8885a308d313198a2e0370734,
            0x3925841d02dc09fbdc118597196a0b32,
        ),
        (
            0x000102030405060708090a0b0c0d0e0f,
            0x00112233445566778899aabbccddeeff,
            0x69c4e0d86a7b0430d8cdb78070b4c55a,
        ),
    ];
    let bytes = |value: u128| bits(value.swap_bytes(), 128);
    for (key, block, expected) in vectors {
        each("AES_128_11", |circuit, whose| {
            let cycles = if whose == Whose::Ours { 10 } else { 11 };
            let given = Given {
                held: [bytes(key), bytes(block)],
                ..Given::fresh(vec![[vec![], vec![]]; cycles])
            };
            let out = run(circuit, &given).pop().unwrap();
            assert_eq!(number(&out).swap_bytes(), expected, "{whose:?}");
        });
    }
}

/// The functions of Table V that Table II does not have.
#[test]
fn functions_of_table_5_are_plain_arithmetic() {
    let run = |name: &str, given: &Given| {
        let netlist = ours(name);
        run(&netlist.sequential().unwrap(), given).concat()
    };
    for seed in 0..4 {
        let (x, y) = (random_bits(2 * seed, 64), random_bits(2 * seed + 1, 64));
        let words = |w: usize| [x[..w].to_vec(), y[..w].to_vec()];
        let at_once = |w: usize| Given::fresh([words(w)]);
        let sum = (number(&x[..6]) + number(&y[..6])) % 64;
        assert_eq!(number(&run("Addition (6)", &at_once(6))), sum);
        for w in [10, 30, 50] {
            let distance = (0..w).filter(|&i| x[i] != y[i]).count();
            let out = run(&format!("Hamming ({w})"), &at_once(w));
            assert_eq!(number(&out), distance as u128);
        }
        for w in [8, 32, 64] {
            let [a, b] = words(w);
            let out = run(&format!("A * B ({w})"), &at_once(w));
            assert_eq!(out, word(signed(&a) * signed(&b), 2 * w), "{w}");
        }
    }
    let least = bits(1 << 7, 8);
    let square = run("A * B (8)", &Given::fresh([[least.clone(), least]]));
    assert_eq!(number(&square), 1 << 14);
}

#[test]
fn ours_have_at_most_the_gates_and_the_ands_of_the_paper() {
    // Where no fewer ANDs are possible for one function of its bits, or we know of none.
    let equal = "Mill_8_8 Add_8_1 Hamm_32_1 Hamm_32_32 Hamm_512_512";
    for benchmark in BENCHMARKS {
        let name = benchmark.name;
        let netlist = ours(name);
        let gates = netlist.gates().len() as u64;
        let ands = gates - netlist.xors() as u64;
        let [most_gates, xors] = benchmark.gates;
        let most_ands = most_gates - xors;
        println!("{name}: {gates} gates, {ands} ANDs");
        assert!(gates <= most_gates, "{name}: {gates} gates of {most_gates}");
        if equal.split(' ').any(|it| it == name) {
            assert_eq!(ands, most_ands, "{name}")
        } else {
            assert!(ands < most_ands, "{name}: {ands} ANDs of {most_ands}")
        }
    }
    let aes = ours("AES_128_11");
    assert_eq!(aes.ands(), 640);
}

/// The order of ports is carried in the file.
#[test]
fn ports_come_back() {
    for benchmark in BENCHMARKS {
        let Some(netlist) = released(benchmark.name) else {
            continue;
        };
        let text = write(&netlist, Format::Fase, &[]).unwrap();
        assert_eq!(read(&text).unwrap().netlist, netlist);
    }
}
