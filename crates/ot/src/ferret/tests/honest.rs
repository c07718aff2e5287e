//! Parties that follow the protocol.

use std::collections::HashSet;

use sealane_block::{Block, Cpu};
use sealane_net::Mesh;

use super::support::*;
use crate::ferret::{FerretCost, Params, Set};
use crate::traits::{CotCost, CotReceiver, CotSender, choice};
use crate::{Flights, OtError, Security, ideal};

/// Outputs of the sender, of the receiver with its choices, and digests of their messages.
struct Outputs {
    q: Vec<Vec<Block>>,
    t: Vec<(Vec<Block>, Vec<Block>)>,
    digests: [[u8; 32]; 2],
}

fn run(cpu: Cpu, params: Params, counts: &[usize]) -> Outputs {
    let sender = |mut mesh: Mesh| {
        let mut cot = set_up_sender(cpu, &mut mesh, params)?;
        assert!(cot.delta().value() == DELTA.value());
        let mut all = Vec::new();
        for &count in counts {
            let mut q = vec![Block::ONES; count];
            cot.extend(&mut mesh, &mut q)?;
            mesh.flush()?;
            all.push(q);
        }
        Ok::<_, OtError>((all, mesh.digest_sent(RECEIVER)))
    };
    let receiver = |mut mesh: Mesh| {
        let mut cot = set_up_receiver(cpu, &mut mesh, params)?;
        let mut all = Vec::new();
        for &count in counts {
            let mut t = vec![Block::ONES; count];
            let mut choices = vec![Block::ONES; count.div_ceil(128)];
            cot.extend(&mut mesh, &mut choices, &mut t)?;
            mesh.flush()?;
            all.push((t, choices));
        }
        Ok::<_, OtError>((all, mesh.digest_sent(SENDER)))
    };
    let (sent, received) = both(in_memory(), sender, receiver);
    let ((q, first), (t, second)) = (sent.expect("memory"), received.expect("an honest sender"));
    let digests = [first, second];
    Outputs { q, t, digests }
}

#[test]
fn outputs_are_correlated_for_any_lengths_on_every_tier_and_all_tiers_agree() {
    for params in all_tiny() {
        let (given, rows) = (params.given(), params.main().rows());
        // Around the ends of iterations, whole ones in place, and several of them.
        let counts = [
            1,
            0,
            127,
            given - 128,
            1,
            3,
            rows,
            2 * rows + 77,
            given,
            rows - 1,
            129,
        ];
        let mut firsts: Option<Outputs> = None;
        for cpu in Cpu::available() {
            let outputs = run(cpu, params, &counts);
            let mut seen = HashSet::new();
            for (q, (t, choices)) in outputs.q.iter().zip(&outputs.t) {
                for (j, (q, t)) in q.iter().zip(t).enumerate() {
                    let expected = *q ^ DELTA.masked(choice(choices, j));
                    assert_eq!(t.value(), expected.value(), "{params:?} {}", cpu.tier());
                    seen.insert(q.value());
                }
                if let (Some(last), odd @ 1..) = (choices.last(), t.len() % 128) {
                    assert_eq!(last.value() >> odd, 0, "the rest of the last block");
                }
            }
            assert_eq!(seen.len(), counts.iter().sum::<usize>(), "no row twice");
            let first = firsts.get_or_insert(run(cpu, params, &counts));
            assert_eq!(first.digests, outputs.digests);
            for (a, b) in first.q.iter().zip(&outputs.q) {
                assert!(Block::as_bytes(a) == Block::as_bytes(b));
            }
            for ((a, x), (b, y)) in first.t.iter().zip(&outputs.t) {
                assert!(Block::as_bytes(a) == Block::as_bytes(b));
                assert!(Block::as_bytes(x) == Block::as_bytes(y));
            }
        }
    }
}

#[test]
fn calls_cut_the_same_rows_in_any_way() {
    let cpu = Cpu::best();
    for params in tiny(Security::SemiHonest) {
        let total = 2 * params.main().rows() + 300;
        let at_once = run(cpu, params, &[total]);
        let cuts = run(cpu, params, &[100, total - 2300, 1700, 500]);
        let values = |all: &[Vec<Block>]| -> Vec<u128> {
            all.iter().flatten().map(|block| block.value()).collect()
        };
        assert_eq!(values(&at_once.q), values(&cuts.q));
    }
}

#[test]
fn bytes_and_rounds_are_those_of_the_cost() {
    for params in all_tiny() {
        let source = ideal::Free;
        let cost = FerretCost { source, params };
        let counts = [5, params.given(), 3 * params.main().rows() + 1, 1];
        let traffic = |mesh: &Mesh, peer| [mesh.payload_sent(peer), mesh.payload_received(peer)];
        let sender = |mut mesh: Mesh| {
            let mut cot = set_up_sender(Cpu::best(), &mut mesh, params).expect("memory");
            mesh.flush().expect("memory");
            let mut bytes = vec![traffic(&mesh, RECEIVER)];
            let mut rounds = Vec::new();
            for count in counts {
                let before = mesh.rounds();
                cot.extend(&mut mesh, &mut vec![Block::ZERO; count])
                    .expect("an honest receiver");
                mesh.flush().expect("memory");
                bytes.push(traffic(&mesh, RECEIVER));
                rounds.push(mesh.rounds() - before);
            }
            (bytes, rounds)
        };
        let receiver = |mut mesh: Mesh| {
            let mut cot = set_up_receiver(Cpu::best(), &mut mesh, params).expect("memory");
            for count in counts {
                let mut choices = vec![Block::ZERO; count.div_ceil(128)];
                cot.extend(&mut mesh, &mut choices, &mut vec![Block::ZERO; count])
                    .expect("an honest sender");
                mesh.flush().expect("memory");
            }
        };
        let ((bytes, rounds), ()) = both(in_memory(), sender, receiver);
        let sums = |flights: &Flights| {
            let sent: u64 = flights.iter().map(|flight| flight.from_sender).sum();
            let received: u64 = flights.iter().map(|flight| flight.from_receiver).sum();
            [sent, received]
        };
        let mut expected = sums(&cost.set_up());
        assert_eq!(bytes[0], expected, "{params:?} set-up");
        let mut before = 0;
        for (i, count) in counts.iter().map(|&count| count as u64).enumerate() {
            let flights = cost.extend(before, count);
            let more = sums(&flights);
            expected = [expected[0] + more[0], expected[1] + more[1]];
            assert_eq!(bytes[i + 1], expected, "{params:?} call {i}");
            // What the sender wrote last before is in the same flight as its first message.
            let merged = flights.first().is_some_and(|first| first.from_sender > 0);
            let merged = usize::from(merged);
            let waited = flights.len() - merged;
            assert_eq!(rounds[i] as usize, waited, "{params:?} call {i}");
            before += count;
        }
    }
}

/// Chi-square of the bits at the 128 places of a block, with 128 degrees of freedom, whose quantile
/// at 1 - 10^-6 is 218.
fn chi_square(blocks: &[Block]) -> f64 {
    let half = blocks.len() as f64 / 2.0;
    let of_place = |bit: u32| {
        let ones = blocks.iter().filter(|block| block.value() >> bit & 1 == 1);
        (ones.count() as f64 - half).powi(2) / (half / 2.0)
    };
    (0..128).map(of_place).sum()
}

#[test]
fn every_bit_is_as_often_one_as_zero() {
    for params in tiny(Security::Malicious) {
        let outputs = run(Cpu::best(), params, &[40_000]);
        let (t, choices) = &outputs.t[0];
        let whole = &choices[..choices.len() - 1];
        for blocks in [&outputs.q[0][..], t, whole] {
            let chi = chi_square(blocks);
            assert!(chi < 218.0, "{chi}");
        }
        // The statistic can fail: one place that is 1 in an eighth more of the rows is noticed.
        let mut marked = outputs.q[0].clone();
        let fourths = marked.iter_mut().step_by(4);
        fourths.for_each(|q| *q = Block::new(q.value() | 1 << 70));
        let chi = chi_square(&marked);
        assert!(chi > 218.0, "{chi}");
    }
}

/// The parameters in use, which are slow in a test: one iteration of each.
#[test]
fn the_real_parameters_give_correct_rows() {
    for set in Set::ALL {
        let params = Params::of(set, Security::Malicious);
        let outputs = run(Cpu::best(), params, &[1000]);
        let (t, choices) = &outputs.t[0];
        for (j, (q, t)) in outputs.q[0].iter().zip(t).enumerate() {
            let expected = *q ^ DELTA.masked(choice(choices, j));
            assert_eq!(t.value(), expected.value(), "{set:?}");
        }
    }
}
