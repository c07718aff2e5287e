//! Honest runs: outputs, bytes, rounds, hidden choices, and the same on every tier.

use crate::common::*;
use proptest::prelude::*;
use sealane_block::{Block, Coins, Cpu};
use sealane_net::Mesh;
use sealane_ot::softspoken::{Receiver, Sender};
use sealane_ot::traits::{CotCost, CotReceiver, CotSender, packed_blocks};
use sealane_ot::{Result, Security, SoftSpoken};
use sealane_parties::PartyId;
use std::collections::HashSet;

/// Counts around every boundary of blocks (128) and pieces (4096, less one block with the check),
/// and zero.
const COUNTS: [usize; 13] = [
    1, 127, 128, 129, 0, 1000, 3967, 3968, 3969, 4095, 4096, 8193, 20000,
];

/// OTs of several extensions on one set-up.
struct Extended {
    q: Vec<Vec<Block>>,
    t: Vec<Vec<Block>>,
    choices: Vec<Vec<Block>>,
    /// Digests of all that each party sent.
    sent: [[u8; 32]; 2],
}

fn run(parameters: SoftSpoken, cpu: Cpu, seed: u64, delta: Block, counts: &[usize]) -> Extended {
    let ((q, from_sender), (outputs, from_receiver)) = pair(
        |mesh| {
            let mut cot = set_up_sender(parameters, cpu, mesh, RECEIVER, seed, delta)?;
            let extend = |&count: &usize| {
                let mut q = vec![Block::ONES; count];
                cot.extend(mesh, &mut q)?;
                Ok(q)
            };
            let q = counts.iter().map(extend).collect::<Result<_>>()?;
            Ok((q, mesh.digest_sent(RECEIVER)))
        },
        |mesh| {
            let mut cot = set_up_receiver(parameters, cpu, mesh, SENDER, !seed)?;
            let extend = |&count: &usize| {
                let mut t = vec![Block::ONES; count];
                let mut choices = vec![Block::ONES; packed_blocks(count)];
                cot.extend(mesh, &mut choices, &mut t)?;
                mesh.flush()?;
                Ok((choices, t))
            };
            let outputs: Vec<_> = counts.iter().map(extend).collect::<Result<_>>()?;
            Ok((outputs, mesh.digest_sent(SENDER)))
        },
    );
    let (choices, t) = outputs.into_iter().unzip();
    Extended {
        q,
        t,
        choices,
        sent: [from_sender, from_receiver],
    }
}

fn assert_all_correlated(run: &Extended, delta: Block) {
    for ((q, t), choices) in run.q.iter().zip(&run.t).zip(&run.choices) {
        assert_correlated(q, t, choices, delta);
    }
}

#[test]
fn outputs_are_correlated_for_every_count_on_one_set_up() {
    for parameters in all_parameters() {
        let run = run(parameters, Cpu::best(), 1, DELTA, &COUNTS);
        assert_all_correlated(&run, DELTA);
        // Generators never rewind: no block comes twice, neither in nor across extensions.
        let seen: HashSet<_> = run.q.iter().flat_map(|q| values(q)).collect();
        assert_eq!(seen.len(), COUNTS.iter().sum::<usize>(), "{parameters:?}");
        let choices: HashSet<_> = run.choices.iter().flat_map(|x| values(x)).collect();
        let whole: usize = COUNTS.iter().map(|count| count / 128).sum();
        assert!(choices.len() >= whole, "{parameters:?}");
    }
}

#[test]
fn for_fixed_coins_transcripts_and_outputs_are_identical_on_every_tier() {
    let counts = [1, 4096, 9000];
    for k in [1, 3, 4, 8] {
        for security in [Security::SemiHonest, Security::Malicious] {
            let parameters = SoftSpoken::new(k, security);
            let first = run(parameters, Cpu::best(), 5, DELTA, &counts);
            for cpu in Cpu::available() {
                let this = run(parameters, cpu, 5, DELTA, &counts);
                let tier = cpu.tier();
                assert_eq!(this.sent, first.sent, "transcript, {parameters:?}, {tier}");
                let same = |a: &[Vec<Block>], b: &[Vec<Block>]| {
                    a.iter().zip(b).all(|(a, b)| values(a) == values(b))
                };
                assert!(same(&this.q, &first.q) && same(&this.t, &first.t), "{tier}");
                assert!(same(&this.choices, &first.choices), "{tier}");
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]
    #[test]
    fn outputs_are_correlated_for_any_parameters_offset_and_counts(
        seed: u64,
        k in 1u8..=8,
        malicious: bool,
        delta: u128,
        counts in prop::collection::vec(0usize..700, 1..4),
    ) {
        let security = if malicious { Security::Malicious } else { Security::SemiHonest };
        let delta = Block::new(delta);
        let run = run(SoftSpoken::new(k, security), Cpu::best(), seed, delta, &counts);
        assert_all_correlated(&run, delta);
    }
}

#[test]
fn parties_of_a_larger_mesh_run_it_with_any_index() {
    let parameters = SoftSpoken::new(4, Security::Malicious);
    let mut meshes = Mesh::in_memory(3);
    let _bystander = meshes.remove(1);
    let (sender, receiver) = (PartyId(2), PartyId(0));
    meshes.reverse();
    let (q, (choices, t)) = honest(
        meshes,
        |mesh| {
            let mut cot = set_up_sender(parameters, Cpu::best(), mesh, receiver, 1, DELTA)?;
            let mut q = vec![Block::ZERO; 300];
            cot.extend(mesh, &mut q)?;
            Ok(q)
        },
        |mesh| {
            let mut cot = set_up_receiver(parameters, Cpu::best(), mesh, sender, 2)?;
            let (mut choices, mut t) = (vec![Block::ZERO; 3], vec![Block::ZERO; 300]);
            cot.extend(mesh, &mut choices, &mut t)?;
            Ok((choices, t))
        },
    );
    assert_correlated(&q, &t, &choices, DELTA);
}

/// The order of calls that the page on oblivious transfer states, at both parties.
#[test]
fn two_parties_set_up_both_directions_at_once_and_extend_them_in_turns() {
    const COUNT: usize = 300;
    let parameters = SoftSpoken::new(4, Security::Malicious);
    let deltas = [DELTA, Block::new(DELTA.value().rotate_left(9))];
    let both = |mesh: &mut Mesh| {
        let (cpu, peer) = (Cpu::best(), PartyId(1 - mesh.me().0));
        let delta = deltas[mesh.me().index()];
        let mut coins = Coins::danger_fixed_seed(7 + u64::from(mesh.me().0));
        let sender = Sender::set_up(parameters, cpu, mesh, peer, delta, &mut coins)?;
        let receiver = Receiver::set_up(parameters, cpu, mesh, peer, &mut coins)?;
        mesh.flush()?;
        let mut receiver = receiver.finish(mesh)?;
        mesh.flush()?;
        let mut sender = sender.finish(mesh)?;
        let mut t = vec![Block::ZERO; COUNT];
        let mut choices = vec![Block::ZERO; packed_blocks(COUNT)];
        receiver.extend(mesh, &mut choices, &mut t)?;
        mesh.flush()?;
        let mut q = vec![Block::ZERO; COUNT];
        sender.extend(mesh, &mut q)?;
        Ok((q, choices, t))
    };
    let ((q, choices, t), (their_q, their_choices, their_t)) = pair(both, both);
    assert_correlated(&q, &their_t, &their_choices, deltas[0]);
    assert_correlated(&their_q, &t, &choices, deltas[1]);
}

#[test]
fn bytes_are_those_of_the_cost_and_rounds_do_not_depend_on_counts() {
    for parameters in all_parameters() {
        let (sender, rounds) = pair(
            |mesh| {
                let (mut cot, crossed) = counted(mesh, |mesh| {
                    set_up_sender(parameters, Cpu::best(), mesh, RECEIVER, 1, DELTA)
                })?;
                assert_eq!(crossed, bytes_of(&parameters.set_up()), "{parameters:?}");
                for count in COUNTS {
                    let extend = |mesh: &mut Mesh| cot.extend(mesh, &mut vec![Block::ZERO; count]);
                    let ((), crossed) = counted(mesh, extend)?;
                    let planned = bytes_of(&parameters.extend(0, count as u64));
                    assert_eq!(crossed, planned, "{count} OTs, {parameters:?}");
                }
                Ok(mesh.rounds())
            },
            |mesh| {
                let mut cot = set_up_receiver(parameters, Cpu::best(), mesh, SENDER, 2)?;
                for count in COUNTS {
                    let mut choices = vec![Block::ZERO; packed_blocks(count)];
                    cot.extend(mesh, &mut choices, &mut vec![Block::ZERO; count])?;
                    mesh.flush()?;
                }
                Ok(mesh.rounds())
            },
        );
        // The base messages cross; trees and extensions follow.
        assert_eq!((sender, rounds), (2, 2), "{parameters:?}");
    }
}

#[test]
fn published_sizes_hold() {
    let bytes = |k, security, count| {
        let [_, from_receiver] = bytes_of(&SoftSpoken::new(k, security).extend(0, count));
        from_receiver
    };
    let count = 1 << 20;
    // (128 / k - 1) bits an OT, since choices are random (Roy, CRYPTO 2022).
    for (k, bits) in [(1, 127), (2, 63), (3, 42), (4, 31), (8, 15)] {
        assert_eq!(bytes(k, Security::SemiHonest, count), count * bits / 8);
        let more = bytes(k, Security::Malicious, count) - count * bits / 8;
        let hidden = 128 * bits / 8 + 80;
        assert_eq!(more, hidden, "one hidden block, digest and answer");
    }
    assert_eq!(bytes(4, Security::Malicious, 0), 0);
}

#[test]
fn the_extension_message_looks_uniform_and_so_do_choices() {
    let parameters = SoftSpoken::new(4, Security::SemiHonest);
    let count = 1 << 15;
    let (message, choices) = pair(
        |mesh| {
            set_up_sender(parameters, Cpu::best(), mesh, RECEIVER, 10, DELTA)?;
            let mut message = vec![0; parameters.extend(0, count)[0].from_receiver as usize];
            mesh.recv(RECEIVER, &mut message)?;
            Ok(message)
        },
        |mesh| {
            let mut cot = set_up_receiver(parameters, Cpu::best(), mesh, SENDER, 11)?;
            let mut choices = vec![Block::ZERO; packed_blocks(count as usize)];
            let mut t = vec![Block::ZERO; count as usize];
            cot.extend(mesh, &mut choices, &mut t)?;
            Ok([
                Block::as_bytes(&choices).to_vec(),
                Block::as_bytes(&t).to_vec(),
            ])
        },
    );
    let [choices, t] = choices;
    for (name, bytes) in [("message", &message), ("choices", &choices), ("rows", &t)] {
        assert_uniform(name, bytes);
    }
    // The sanity check can fail: one byte in fifty that is not random is noticed.
    let mut marked = message;
    marked.iter_mut().step_by(50).for_each(|byte| *byte = 0);
    assert!(!PLAUSIBLE.contains(&chi_square(&marked)));
}
