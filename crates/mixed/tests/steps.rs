//! Every step but products, against plain values; and traffic against costs (`common` does both).

use crate::common::{Side, arbitrary, domain, low, number, session, setting, settings};
use sealane_circuit::{Builder, Machine, Tape, Wire, compile};
use sealane_mixed::{Gmw, Share};
use sealane_parties::{PartyId, PartySet};
use sealane_party::{Factor, Outcome, Shares, Step, Steps, Term};
use sealane_protocol::{ConvertShape, Protocol, RingOp, Setting, StepShape};
use std::sync::Arc;

/// Around the ends of words, and of chunks of 512.
const LANES: [usize; 8] = [1, 5, 63, 64, 65, 200, 512, 600];

#[test]
fn inputs_of_anybody_are_shared() {
    for setting in settings() {
        session::<false>(&setting, |side| {
            for (n, owner) in setting.everyone().enumerate() {
                let (lanes, seed) = (LANES[n], n as u64);
                for (k, bits) in [
                    (None, 1),
                    (None, 7),
                    (None, 64),
                    (Some(1), 1),
                    (Some(33), 33),
                ] {
                    let values = arbitrary(seed, lanes, bits as u8);
                    let share = side.input(owner, k, bits, &values);
                    let name = format!("{bits} bits of {owner:?} in {k:?}");
                    // A party with a role keeps its input, and the other one has nothing.
                    if setting.role_of(owner).is_some() {
                        assert_eq!(share.components().is_some(), owner == side.me);
                    }
                    match k {
                        None => side.expect_bits(name, bits, &share, values),
                        Some(k) => side.expect_ring(name, k, &share, values),
                    }
                }
            }
        });
    }
}

/// A circuit of gates over earlier wires, the last few are outputs.
fn circuit(inputs: usize, gates: &[u64], machine: &Machine) -> Tape {
    let mut b = Builder::new();
    let mut wires = b.input(inputs);
    wires.push(Wire::ONE);
    for gate in gates {
        let [x, y] = [8, 32].map(|at| wires[(gate >> at & 0xffff) as usize % wires.len()]);
        wires.push(match gate % 3 {
            0 => b.and(x, y),
            1 => b.and(!x, y),
            _ => b.xor(x, y),
        });
    }
    let outputs = wires[wires.len().saturating_sub(8)..].to_vec();
    compile(&b.finish(vec![outputs]), machine)
}

/// Evaluates a tape on elements of its input bits: elements of its outputs.
fn plain(tape: &Tape, inputs: &[u64]) -> Vec<u64> {
    let lane = |element: &u64| {
        let bits = (0..tape.inputs as usize).map(|bit| [element >> bit & 1; 8]);
        let outputs = tape.eval(&bits.collect::<Vec<_>>()).into_iter().rev();
        outputs.fold(0, |sum, word| 2 * sum + (word[0] & 1))
    };
    inputs.iter().map(lane).collect()
}

#[test]
fn tapes_compute_on_inputs_of_anybody() {
    for setting in settings() {
        session::<false>(&setting, |side| {
            let owners = setting.everyone().collect::<Vec<_>>();
            for (n, lanes) in LANES.into_iter().enumerate() {
                let seed = n as u64;
                let gates = arbitrary(seed << 8, 10 * n, 64);
                let machine = if n % 2 == 0 {
                    Machine::ROUNDS
                } else {
                    Machine::CPU
                };
                let tape = circuit(7, &gates, &machine);
                let values = arbitrary(seed << 16, lanes, 7);
                let part = |at: u64, bits: u8| {
                    let values = values.iter().map(|value| low(value >> at, bits));
                    values.collect::<Vec<_>>()
                };
                let x = side.input(owners[n % owners.len()], None, 2, &part(0, 2));
                let y = side.input(owners[(n + 1) % owners.len()], None, 2, &part(2, 2));
                let z = side.bits(2, &part(4, 2));
                let public = Arc::new(side.party.constant(domain(None), 1, &part(6, 1)));
                let out = side.tape(&tape, &[&x, &y, &z, &public]);
                side.expect_bits(
                    format!("tape {n}"),
                    tape.outputs.len(),
                    &out,
                    plain(&tape, &values),
                );
            }
        });
    }
}

/// ANDs with a common operand, more than one group takes, and two operands of which nobody has
/// data.
#[test]
fn many_ands_of_one_operand_are_groups() {
    let mut b = Builder::new();
    let (choice, others) = (b.input(1)[0], b.input(150));
    let ands = others
        .iter()
        .map(|other| b.and(choice, *other))
        .collect::<Vec<_>>();
    let parity = ands.into_iter().reduce(|x, y| b.xor(x, y)).unwrap();
    let tape = compile(&b.finish(vec![vec![parity]]), &Machine::ROUNDS);
    let sent = |tape: &Tape| {
        let work = StepShape::tape(tape, domain(None), 8);
        let cost = Gmw::cost(&setting(2, [0, 1]), &work);
        cost.flights[0][0].bytes
    };
    // Two groups: 128 and 22 of them.
    assert_eq!(sent(&tape), 152);
    for setting in settings() {
        session::<false>(&setting, |side| {
            let choice = side.bits(1, &arbitrary(1, 70, 1));
            let low_half = side.bits(64, &arbitrary(2, 70, 64));
            let high_half = side.bits(64, &arbitrary(3, 70, 64));
            let none = Arc::new(Share::zeros(22, 70));
            let out = side.tape(&tape, &[&choice, &low_half, &high_half, &none]);
            let want = (0..70).map(|lane| {
                let word = arbitrary(2, 70, 64)[lane] ^ arbitrary(3, 70, 64)[lane];
                u64::from(word.count_ones()) & arbitrary(1, 70, 1)[lane]
            });
            side.expect_bits("parity".into(), 1, &out, want.collect());
        });
    }
}

/// A step takes what several refills have made, and leaves the rest to the next one.
#[test]
fn steps_take_across_refills() {
    let mut b = Builder::new();
    let (x, y) = (b.input(1)[0], b.input(1)[0]);
    let and = b.and(x, y);
    let tape = compile(&b.finish(vec![vec![and]]), &Machine::ROUNDS);
    session::<false>(&setting(3, [2, 0]), |side| {
        let work = |lanes| StepShape::tape(&tape, domain(None), lanes);
        for lanes in [70, 50, 3, 77] {
            let demand = Gmw::demand(&side.setting, &work(lanes));
            side.refill(&demand);
        }
        for lanes in [100, 21, 79] {
            let [x, y] = [1, 2].map(|salt| arbitrary(salt * lanes as u64, lanes, 1));
            let shares = [&x, &y].map(|bits| side.bits(1, bits));
            let step = Step::Tape {
                tape: &tape,
                domain: domain(None),
                lanes,
                operands: shares.to_vec(),
            };
            let Outcome::Share(out, ..) = side.bare_step(step) else {
                panic!("a share was due");
            };
            let want = x.iter().zip(&y).map(|(x, y)| x & y).collect();
            side.expect_bits(format!("{lanes} lanes"), 1, &out, want);
        }
    });
}

/// A refill of more bits than a portion has makes several, with one kind of correlation behind
/// another, and integers after them: what it sends is as planned, and takes one round as before.
#[test]
fn refills_make_bits_in_portions() {
    let mut b = Builder::new();
    let [x, y, z] = [0; 3].map(|_| b.input(1)[0]);
    let [single, one, other] = [b.and(y, z), b.and(x, y), b.and(x, z)];
    let tape = compile(
        &b.finish(vec![vec![single], vec![one, other]]),
        &Machine::ROUNDS,
    );
    let lanes = 300_000_usize;
    let alone = |pooled, roles| Setting {
        pooled,
        ..setting(2, roles)
    };
    for setting in [
        alone(false, [0, 1]),
        alone(true, [1, 0]),
        setting(3, [2, 0]),
    ] {
        session::<false>(&setting, |side| {
            let work = StepShape::tape(&tape, domain(None), lanes as u64);
            let integers = StepShape::Convert(ConvertShape {
                from: domain(Some(8)),
                to: domain(None),
                elements: 10,
                bits: 8,
                signed: false,
            });
            let mut demand = Gmw::demand(&side.setting, &work);
            demand.merge(&Gmw::demand(&side.setting, &integers), 1);
            side.refill(&demand);
            let [x, y, z] = [1, 2, 3].map(|salt| arbitrary(salt, lanes, 1));
            let shares = [&x, &y, &z].map(|bits| side.bits(1, bits));
            let step = Step::Tape {
                tape: &tape,
                domain: domain(None),
                lanes,
                operands: shares.to_vec(),
            };
            let Outcome::Share(out, ..) = side.bare_step(step) else {
                panic!("a share was due");
            };
            let want = (0..lanes).map(|i| (y[i] & z[i]) | (x[i] & y[i]) << 1 | (x[i] & z[i]) << 2);
            side.expect_bits("products".into(), 3, &out, want.collect());
        });
    }
}

#[test]
fn sums_of_multiples_are_local() {
    for setting in settings() {
        session::<false>(&setting, |side| {
            for k in [1, 8, 31, 64] {
                let [x, table] = [1, 2].map(|salt| arbitrary(salt << 32, 65, k));
                let shared = side.ring(k, &x);
                let one = side.party.constant(domain(Some(k)), k.into(), &[1; 65]);
                let sum = side.party.linear(
                    domain(Some(k)),
                    65,
                    &[
                        Term {
                            share: &shared,
                            factor: Factor::Table(table.clone()),
                        },
                        Term {
                            share: &one,
                            factor: Factor::Number(7),
                        },
                        Term {
                            share: &Share::zeros(3, 65),
                            factor: Factor::Number(5),
                        },
                    ],
                );
                let want = x.iter().zip(&table);
                let want = want.map(|(x, y)| low(x.wrapping_mul(*y).wrapping_add(7), k));
                side.expect_ring(format!("sum {k}"), k, &sum.unwrap(), want.collect());
            }
        });
    }
}

#[test]
fn choices_keep_or_drop_elements() {
    for setting in settings() {
        session::<false>(&setting, |side| {
            for k in 1..=64 {
                let lanes = LANES[usize::from(k) % LANES.len()];
                let (bits, values) = (arbitrary(1, lanes, 1), arbitrary(2, lanes, k));
                let want = bits.iter().zip(&values).map(|(bit, value)| bit * value);
                let bits = side.bits(1, &bits);
                let values = side.ring(k, &values);
                let out = side.op(RingOp::Select, k, (k.into(), false), &values, Some(&bits));
                side.expect_ring(format!("choice {k}"), k, &out, want.collect());
            }
        });
    }
}

/// Values with the smallest and the largest number of so many bits.
fn with_edges((bits, signed): (usize, bool), k: u8, lanes: usize, seed: u64) -> Vec<u64> {
    let top = low(u64::MAX, bits as u8);
    let edges = if signed {
        [top / 2 + 1, top / 2, top, 0, 1]
    } else {
        [top, top - 1, 0, 1, top / 2]
    };
    let others = arbitrary(seed, lanes, bits as u8);
    let held = edges.into_iter().chain(others);
    held.map(|value| low(number(low(value, bits as u8), (bits, signed)) as u64, k))
        .collect()
}

fn extracted(side: &mut Side, k: u8, first: u8, count: u8) {
    let values = with_edges((k.into(), true), k, 8, u64::from(first) << 8);
    let share = side.ring(k, &values);
    let out = side.op(
        RingOp::Extract { first, count },
        k,
        (k.into(), true),
        &share,
        None,
    );
    let want = values
        .iter()
        .map(|value| low(value >> first, count))
        .collect();
    side.expect_bits(
        format!("bits {first} and {count} of {k}"),
        count.into(),
        &out,
        want,
    );
}

#[test]
fn any_bits_of_elements_are_extracted() {
    for (n, setting) in settings().into_iter().enumerate() {
        session::<false>(&setting, |side| {
            for k in 1..=9 {
                for first in 0..k {
                    (1..=k - first).for_each(|count| extracted(side, k, first, count));
                }
            }
            for k in (10 + n as u8..=64).step_by(6).chain([64]) {
                for (first, count) in [(0, k), (k - 1, 1), (k / 2, k / 2), (k / 3, 2), (k / 2, 1)] {
                    extracted(side, k, first, count);
                }
            }
        });
    }
}

fn floored(side: &mut Side, k: u8, held: (usize, bool), by: u8) {
    let values = with_edges(held, k, 5, u64::from(by) << 16 | u64::from(k));
    let share = side.ring(k, &values);
    let out = side.op(RingOp::Floor { by }, k, held, &share, None);
    let floor = |value: &u64| low((number(*value, held) >> by) as u64, k);
    let want = values.iter().map(floor).collect();
    side.expect_ring(format!("floor by {by} of {held:?} in {k}"), k, &out, want);
}

#[test]
fn floors_of_all_widths_are_exact() {
    for (n, setting) in settings().into_iter().enumerate() {
        session::<false>(&setting, |side| {
            for k in 2..=64u8 {
                let all = usize::from(k);
                for signed in [false, true] {
                    // Numbers that fill the ring, that leave a bit free, and shorter ones.
                    for bits in [all, all - 1, (all / 2).max(1)] {
                        if k <= 5 {
                            (0..k).for_each(|by| floored(side, k, (bits, signed), by));
                        } else if usize::from(k) % 4 == n {
                            for by in [0, 1, k / 2, k - 2, k - 1] {
                                floored(side, k, (bits, signed), by);
                            }
                        }
                    }
                }
            }
        });
    }
}

/// Into rings smaller and larger than the numbers, back to bits, and to smaller rings.
#[test]
fn conversions_keep_values() {
    for setting in settings() {
        session::<false>(&setting, |side| {
            for n in 0..60u16 {
                let [k, bits, smaller] = [11, 29, 37].map(|by| (n * by % 64) as u8 + 1);
                let (held, lanes) = ((usize::from(bits), n % 2 == 1), LANES[usize::from(n) % 6]);
                let values = arbitrary(n.into(), lanes, bits);
                let name = format!("{held:?} in {k}");
                let shared = side.bits(bits.into(), &values);
                let ring = side.convert([None, Some(k)], held, &shared);
                let numbers = values.iter().map(|value| number(*value, held) as u64);
                let want = numbers.map(|number| low(number, k)).collect::<Vec<_>>();
                side.expect_ring(format!("bits of {name}"), k, &ring, want.clone());

                let smaller = smaller.min(k);
                let reduced = side.convert([Some(k), Some(smaller)], held, &ring);
                let lowest = want.iter().map(|value| low(*value, smaller)).collect();
                side.expect_ring(format!("{smaller} of {name}"), smaller, &reduced, lowest);

                let back = bits.min(k);
                let fresh = side.ring(k, &want);
                let bits = side.convert([Some(k), None], (back.into(), held.1), &fresh);
                let lowest = want.iter().map(|value| low(*value, back)).collect();
                side.expect_bits(format!("{name} as bits"), back.into(), &bits, lowest);
            }
        });
    }
}

#[test]
fn results_go_to_their_receivers_alone() {
    for setting in settings() {
        session::<false>(&setting, |side| {
            let (bits, ring) = (arbitrary(3, 65, 7), arbitrary(4, 65, 33));
            let shares = [side.bits(7, &bits), side.ring(33, &ring)];
            // Shares of an input are its value and zero.
            let own = side.input(PartyId(1), Some(33), 33, &ring);
            for to in 0..1u8 << setting.parties {
                let to = PartySet::of(setting.everyone().filter(|of| to >> of.0 & 1 == 1));
                let none = PartySet::default();
                let results = [
                    (&shares[0], None, to),
                    (&shares[1], Some(33), to),
                    (&own, Some(33), to),
                    (&own, Some(33), none),
                ];
                let learnt = side.reveal(&results);
                let learns = |values: &Vec<u64>| to.contains(side.me).then(|| values.clone());
                assert_eq!(learnt, [learns(&bits), learns(&ring), learns(&ring), None]);
            }
        });
    }
}

/// Zeros of no algebra are zeros of either.
#[test]
fn operands_without_data_are_zero() {
    for setting in settings() {
        session::<false>(&setting, |side| {
            let none = Arc::new(Share::zeros(1, 9));
            let ring = side.ring(9, &arbitrary(5, 9, 9));
            let bits = side.bits(1, &arbitrary(6, 9, 1));
            let zeros = [
                side.op(RingOp::Select, 9, (9, false), &none, Some(&bits)),
                side.op(RingOp::Select, 9, (9, false), &ring, Some(&none)),
                side.op(RingOp::Floor { by: 3 }, 9, (9, true), &none, None),
                side.convert([None, Some(9)], (1, false), &none),
                side.product(
                    9,
                    [&ring, &none].map(|of| sealane_party::Selected::whole(of.clone())),
                ),
            ];
            for zero in zeros {
                side.expect_ring("zero".into(), 9, &zero, vec![0; 9]);
            }
            let zero = side.op(
                RingOp::Extract { first: 3, count: 2 },
                9,
                (9, false),
                &none,
                None,
            );
            side.expect_bits("zero".into(), 2, &zero, vec![0; 9]);
        });
    }
}
