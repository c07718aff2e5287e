//! Exhaustive check of three-halves: correct, private, and never without a pad. A test in
//! `schemes.rs` shows that the kernels compute this scheme.

use sealane_block::Block;

use crate::slow::sigma;
use crate::slow::three_halves::{
    self, Gate, Label, Pad, Slow, add, choice, r_times, scale, slice, times, unslice,
};

/// The evaluator, from its labels, pads and rows alone.
fn evaluate(i: bool, j: bool, a: Label, b: Label, pads: [Pad; 3], rows: Slow) -> Label {
    let r = choice(i, j, pads, rows.z);
    let both = pads[2].0 ^ times(i ^ j, rows.g[2]);
    let left = pads[0].0 ^ both ^ times(i, rows.g[0]);
    let right = pads[1].0 ^ both ^ times(j, rows.g[1]);
    add([left, right], r_times(r, i, j, a, b))
}

/// Every assignment of `n` bits.
fn all_bits<const N: usize>() -> impl Iterator<Item = [bool; N]> {
    (0..1 << N).map(|x: u32| std::array::from_fn(|k| x >> k & 1 == 1))
}

/// A gate whose slices and pads are formal variables, one bit each; so that what holds for it
/// holds for all labels and all hashes.
fn formal(alpha: bool, beta: bool, bits: [bool; 6]) -> Gate {
    let pad = |part: usize, colour: usize| (1 << (6 + 2 * part + colour), bits[2 * part + colour]);
    Gate {
        a: [1, 2],
        b: [4, 8],
        delta: [16, 32],
        alpha,
        beta,
        pads: std::array::from_fn(|part| [pad(part, 0), pad(part, 1)]),
    }
}

/// Correctness for all permute bits, all control bits of hashes (hence all dice) and all inputs, as
/// an identity in labels, offset and hashes.
#[test]
fn every_row_evaluates_to_its_label() {
    for [alpha, beta] in all_bits() {
        for bits in all_bits() {
            let gate = formal(alpha, beta, bits);
            let (c, rows) = gate.garble();
            for [i, j] in all_bits() {
                let (a, b) = gate.active(i, j);
                let got = evaluate(i, j, a, b, gate.known(i, j), rows);
                let expected = add(c, scale(i == alpha && j == beta, gate.delta));
                assert_eq!(got, expected, "{alpha} {beta} {i} {j}");
            }
        }
    }
}

/// The same from blocks: halves, pads and control bits are where the page says.
#[test]
fn a_gate_of_blocks_evaluates_too() {
    let block =
        |i: u128| Block::new((2 * i + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced));
    let delta = block(1 << 70);
    for colours in 0..4 {
        let labels = |i: u128, colour: u128| {
            let zero = Block::new(block(i).value() & !1 | colour & 1);
            [zero, zero ^ delta]
        };
        let (a, b) = (labels(1, colours), labels(2, colours >> 1));
        let hashes = [3, 5, 7].map(|i| [block(i), block(i + 1)]);
        let gate = three_halves::gate(a, b, hashes);
        let (c, rows) = gate.garble();
        let planes = three_halves::planes(&rows);
        assert_eq!(planes.map(|plane| plane.len()), [16, 8, 1]);
        for [x, y] in all_bits() {
            let (a, b) = (a[usize::from(x)], b[usize::from(y)]);
            let (i, j) = (a.lsb() == 1, b.lsb() == 1);
            let got = evaluate(i, j, slice(a), slice(b), gate.known(i, j), rows);
            let expected = unslice(c) ^ delta.masked(u8::from(x & y));
            assert_eq!(unslice(got).value(), expected.value());
        }
    }
}

/// For every position and every value of the control bits that the evaluator can compute, the
/// control bits and dice that it sees have one distribution, whatever the permute bits are.
#[test]
fn control_bits_and_dice_do_not_depend_on_permute_bits() {
    for [i, j] in all_bits() {
        for known in all_bits::<3>() {
            let distribution = |alpha: bool, beta: bool| {
                let mut seen = std::collections::BTreeMap::new();
                for hidden in all_bits::<3>() {
                    let mut bits = [false; 6];
                    for (part, colour) in [i, j, i ^ j].into_iter().enumerate() {
                        bits[2 * part + colour as usize] = known[part];
                        bits[2 * part + !colour as usize] = hidden[part];
                    }
                    let gate = formal(alpha, beta, bits);
                    let z = gate.controls();
                    let r = choice(i, j, gate.known(i, j), z);
                    *seen.entry((z, r)).or_insert(0) += 1;
                }
                seen
            };
            let first = distribution(false, false);
            // Eight views, each once: the three bits are uniform.
            assert_eq!(first.len(), 8);
            for [alpha, beta] in all_bits() {
                assert_eq!(distribution(alpha, beta), first);
            }
        }
    }
    // And over all that the evaluator knows, each of the four choices is as likely as the others.
    for [i, j, alpha, beta] in all_bits() {
        let mut count = [[0; 2]; 2];
        for bits in all_bits::<6>() {
            let gate = formal(alpha, beta, bits);
            let [r0, r1] = choice(i, j, gate.known(i, j), gate.controls());
            count[r0 as usize][r1 as usize] += 1;
        }
        assert_eq!(count, [[16; 2]; 2]);
    }
}

/// The change of r with the position, for alpha and for beta: the matrices that the paper calls
/// R-bar, as other implementations print them. Rows are the positions 00, 01, 10 and 11.
#[test]
fn dice_move_as_in_the_paper() {
    let (of_alpha, of_beta) = (
        [[0, 0], [1, 1], [0, 1], [1, 0]],
        [[0, 0], [1, 0], [1, 1], [0, 1]],
    );
    for [alpha, beta] in all_bits() {
        let gate = formal(alpha, beta, [false; 6]);
        for (row, [j, i]) in all_bits().enumerate() {
            let r = choice(i, j, gate.known(i, j), gate.controls());
            for k in 0..2 {
                let expected = (alpha as u8 & of_alpha[row][k]) ^ (beta as u8 & of_beta[row][k]);
                assert_eq!(r[k] as u8, expected, "{alpha} {beta} {i} {j}");
            }
        }
    }
}

fn rank(mut rows: Vec<u128>) -> usize {
    let mut rank = 0;
    while let Some(row) = rows.pop() {
        if row != 0 {
            rank += 1;
            let lowest = row & row.wrapping_neg();
            for other in &mut rows {
                if *other & lowest != 0 {
                    *other ^= row;
                }
            }
        }
    }
    rank
}

/// An evaluator that holds one label of each input, their three pads and the rows knows no linear
/// function of delta other than zero.
#[test]
fn rows_tell_nothing_linear_about_delta() {
    for [alpha, beta] in all_bits() {
        for bits in all_bits() {
            let gate = formal(alpha, beta, bits);
            let (_, rows) = gate.garble();
            for [i, j] in all_bits() {
                let (a, b) = gate.active(i, j);
                let mut held: Vec<u128> = [a, b].concat().iter().map(|x| *x as u128).collect();
                held.extend(gate.known(i, j).map(|pad| pad.0 as u128));
                assert_eq!(rank(held.clone()), 7);
                held.extend(rows.g.map(|g| g as u128));
                assert_eq!(rank(held.clone()), 10);
                held.extend(gate.delta.map(|half| half as u128));
                assert_eq!(rank(held), 12);
            }
        }
    }
}

/// The reason why slices are words and not halves of a block. A pad is 64 bits of AES(sigma x) ^
/// sigma x, and rows add a sum of the slices of delta to it. An attacker that finds 64 bits of the
/// output of AES without knowing delta searches the other 64 and decrypts; so no sum may cancel
/// sigma(delta) in the bits of a pad, nor leave a part of it. With the control bit beside them,
/// they have rank 64 at least in the 127 bits of delta that are not known: bit 0 is 1.
#[test]
fn pads_and_sums_of_slices_never_cancel() {
    // Coordinates of a linear function of delta: bit k stands for bit k of delta.
    let identity: [u128; 128] = std::array::from_fn(|k| 1 << k);
    let turned: [u128; 128] = std::array::from_fn(|k| match k {
        0..64 => 1 << (k + 64),
        _ => 1 << k | 1 << (k - 64),
    });
    let probe = Block::new(0x0123_4567_89ab_cdef_1111_2222_3333_4444);
    for (k, row) in turned.iter().enumerate() {
        let bit = u128::from((probe.value() & row).count_ones() % 2);
        assert_eq!(sigma(probe).value() >> k & 1, bit, "sigma is as block says");
    }
    let words = |first: usize| {
        [first, first + 2]
            .into_iter()
            .flat_map(|w| 32 * w..32 * (w + 1))
    };
    let (left, right): (Vec<_>, Vec<_>) = (words(0).collect(), words(1).collect());
    let ranks = |slices: [&[usize]; 2], pad: &[usize], control: Option<usize>| -> Vec<usize> {
        let sum = |with: [bool; 2]| {
            let mut rows: Vec<u128> = control.map(|bit| turned[bit]).into_iter().collect();
            for (k, bit) in pad.iter().enumerate() {
                let chosen = (0..2).filter(|half| with[*half]);
                rows.push(chosen.fold(turned[*bit], |row, half| row ^ identity[slices[half][k]]));
            }
            rank(rows.into_iter().map(|row| row & !1).collect())
        };
        all_bits().map(sum).collect()
    };
    assert_eq!(ranks([&left, &right], &left, Some(32)), [64, 64, 65, 64]);
    assert_eq!(ranks([&left, &right], &right, Some(0)), [65; 4]);
    // With the halves of a block as slices, one sum cancels all of it.
    let (low, high): (Vec<_>, Vec<_>) = ((0..64).collect(), (64..128).collect());
    assert_eq!(ranks([&low, &high], &low, None), [64, 64, 0, 63]);
}
