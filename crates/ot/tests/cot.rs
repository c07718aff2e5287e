//! Honest runs: outputs, bytes, rounds, hidden choices, and the same on every tier.

use crate::common::{
    DELTA, RECEIVER, SENDER, best_cpu, join, pair, set_up_receiver, set_up_sender,
};
use proptest::prelude::*;
use sealane_block::{Block, Coins, Cpu};
use sealane_net::Mesh;
use sealane_ot::{CotReceiver, OtError, SETUP_OPENING_BYTES, SETUP_REPLY_BYTES, extend_bytes};
use sealane_parties::PartyId;
use std::{collections::HashSet, thread};

/// Counts around every boundary of groups (128) and chunks (8192), and zero.
const COUNTS: [usize; 12] = [
    1, 127, 128, 129, 0, 1000, 8191, 8192, 8193, 16383, 16384, 20000,
];

#[test]
fn outputs_are_correlated_for_every_count_on_one_setup_and_every_tier() {
    for cpu in Cpu::available() {
        let choices = COUNTS.map(random_choices);
        let (zero_labels, labels) = extend_all(cpu, 1, DELTA, &choices);
        let mut seen = HashSet::new();
        for ((zero_labels, labels), choices) in zero_labels.iter().zip(&labels).zip(&choices) {
            assert_correlated(zero_labels, labels, choices, DELTA);
            seen.extend(zero_labels.iter().map(|label| label.value()));
        }
        // Generators never rewind: no label comes twice, neither in nor across extensions.
        assert_eq!(seen.len(), COUNTS.iter().sum::<usize>(), "{:?}", cpu.tier());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn outputs_are_correlated_for_any_offset_and_choices(
        seed: u64,
        delta: u128,
        choices in prop::collection::vec(prop::collection::vec(0u8..2, 0..400), 1..4),
    ) {
        let delta = Block::new(delta);
        let (zero_labels, labels) = extend_all(best_cpu(), seed, delta, &choices);
        for ((zero_labels, labels), choices) in zero_labels.iter().zip(&labels).zip(&choices) {
            assert_correlated(zero_labels, labels, choices, delta);
        }
    }
}

#[test]
fn parties_of_a_larger_mesh_run_it_with_any_index() {
    let cpu = best_cpu();
    let choices = random_choices(300);
    let mut meshes = Mesh::in_memory(3);
    let mut sender_mesh = meshes.pop().expect("party 2");
    let _bystander = meshes.pop().expect("party 1");
    let mut receiver_mesh = meshes.pop().expect("party 0");
    let (zero_labels, labels) = thread::scope(|scope| {
        let sender = scope.spawn(move || {
            let mut cot = set_up_sender(cpu, &mut sender_mesh, PartyId(0), 1, DELTA)?;
            let mut zero_labels = vec![Block::ZERO; 300];
            cot.extend(&mut sender_mesh, &mut zero_labels)?;
            Ok::<_, OtError>(zero_labels)
        });
        let mut coins = Coins::danger_fixed_seed(2);
        let mut cot = CotReceiver::setup(cpu, &mut receiver_mesh, PartyId(2), &mut coins)
            .expect("an honest sender");
        let mut labels = vec![Block::ZERO; 300];
        cot.extend(&mut receiver_mesh, &choices, &mut labels)
            .expect("memory");
        receiver_mesh.flush().expect("memory");
        (join(sender).expect("an honest receiver"), labels)
    });
    assert_correlated(&zero_labels, &labels, &choices, DELTA);
}

#[test]
fn bytes_are_those_of_the_contract_and_rounds_do_not_depend_on_counts() {
    for counts in [&[1][..], &COUNTS[..]] {
        let ((sent, received, sender_rounds), (receiver_sent, receiver_rounds)) = pair(
            |mut mesh| {
                let mut cot = set_up_sender(best_cpu(), &mut mesh, RECEIVER, 1, DELTA)?;
                for &count in counts {
                    let before = mesh.payload_received(RECEIVER);
                    cot.extend(&mut mesh, &mut vec![Block::ZERO; count])?;
                    let bytes = mesh.payload_received(RECEIVER) - before;
                    assert_eq!(bytes, extend_bytes(count as u64), "{count} OTs");
                }
                let (sent, received) =
                    (mesh.payload_sent(RECEIVER), mesh.payload_received(RECEIVER));
                Ok::<_, OtError>((sent, received, mesh.rounds()))
            },
            |mut mesh| {
                let mut cot = set_up_receiver(best_cpu(), &mut mesh, 2)?;
                for &count in counts {
                    cot.extend(&mut mesh, &vec![1; count], &mut vec![Block::ZERO; count])?;
                    mesh.flush()?;
                }
                Ok((mesh.payload_sent(SENDER), mesh.rounds()))
            },
        );
        let extended: u64 = counts.iter().map(|&count| extend_bytes(count as u64)).sum();
        assert_eq!(sent, SETUP_REPLY_BYTES);
        assert_eq!(received, SETUP_OPENING_BYTES + extended);
        assert_eq!(receiver_sent, received);
        // Opening, reply, extensions.
        assert_eq!((sender_rounds, receiver_rounds), (3, 3));
    }
    assert_eq!((SETUP_OPENING_BYTES, SETUP_REPLY_BYTES), (32, 4096));
    assert_eq!([0, 1, 128, 129].map(extend_bytes), [0, 2048, 2048, 4096]);
}

#[test]
fn for_fixed_coins_transcripts_and_labels_are_identical_on_every_tier() {
    let runs = Cpu::available().into_iter().map(|cpu| {
        let choices = random_choices(9000);
        let ((zero_labels, from_sender), (labels, from_receiver)) = pair(
            |mut mesh| {
                let mut cot = set_up_sender(cpu, &mut mesh, RECEIVER, 1, DELTA)?;
                let mut zero_labels = vec![Block::ZERO; choices.len()];
                cot.extend(&mut mesh, &mut zero_labels)?;
                Ok::<_, OtError>((values(&zero_labels), mesh.digest_sent(RECEIVER)))
            },
            |mut mesh| {
                let mut cot = set_up_receiver(cpu, &mut mesh, 2)?;
                let mut labels = vec![Block::ZERO; choices.len()];
                cot.extend(&mut mesh, &choices, &mut labels)?;
                mesh.flush()?;
                Ok((values(&labels), mesh.digest_sent(SENDER)))
            },
        );
        (cpu.tier(), from_sender, from_receiver, zero_labels, labels)
    });
    let runs: Vec<_> = runs.collect();
    let (_, from_sender, from_receiver, zero_labels, labels) = &runs[0];
    for run in &runs {
        assert_eq!(
            (&run.1, &run.2),
            (from_sender, from_receiver),
            "transcript, {:?}",
            run.0
        );
        assert!(
            (&run.3, &run.4) == (zero_labels, labels),
            "labels, {:?}",
            run.0
        );
    }
}

#[test]
fn the_extension_message_hides_the_choices() {
    // Message bytes for all choices 0 and all choices 1, from independent coins.
    let messages = [(10, 0), (20, 1)].map(|(seed, choice)| extension_message(seed, choice));
    let statistics = messages.each_ref().map(|message| chi_square(message));
    // 255 degrees of freedom: mean 255, deviation 22.6. Uniform bytes stay within five deviations
    // with probability above 1 - 10^-5, and the coins are fixed.
    let plausible = 142.0..368.0;
    assert!(
        statistics.iter().all(|value| plausible.contains(value)),
        "{statistics:?}"
    );
    // The two differ as two uniform strings do: so does their XOR.
    let xor: Vec<u8> = messages[0]
        .iter()
        .zip(&messages[1])
        .map(|(a, b)| a ^ b)
        .collect();
    assert!(
        plausible.contains(&chi_square(&xor)),
        "{}",
        chi_square(&xor)
    );
    // The sanity check can fail: equal coins leave only the choices in the XOR, and one byte in
    // fifty that is not random is noticed.
    let bare: Vec<u8> = messages[0]
        .iter()
        .zip(extension_message(10, 1))
        .map(|(a, b)| a ^ b)
        .collect();
    assert!(bare.iter().all(|&byte| byte == 0xff));
    let mut marked = messages[0].clone();
    marked.iter_mut().step_by(50).for_each(|byte| *byte = 0);
    assert!(!plausible.contains(&chi_square(&marked)));
}

/// The extension message of 8192 OTs, all with the same choice.
fn extension_message(seed: u64, choice: u8) -> Vec<u8> {
    let (message, ()) = pair(
        |mut mesh| {
            set_up_sender(best_cpu(), &mut mesh, RECEIVER, seed, DELTA)?;
            let mut message = vec![0; extend_bytes(8192) as usize];
            mesh.recv(RECEIVER, &mut message)?;
            Ok(message)
        },
        |mut mesh| {
            let mut cot = set_up_receiver(best_cpu(), &mut mesh, seed + 1)?;
            cot.extend(&mut mesh, &[choice; 8192], &mut [Block::ZERO; 8192])?;
            mesh.flush()?;
            Ok(())
        },
    );
    message
}

/// Pearson's statistic of the byte histogram against the uniform one.
fn chi_square(bytes: &[u8]) -> f64 {
    let mut histogram = [0.0; 256];
    bytes
        .iter()
        .for_each(|&byte| histogram[usize::from(byte)] += 1.0);
    let expected = bytes.len() as f64 / 256.0;
    histogram
        .iter()
        .map(|seen: &f64| (seen - expected).powi(2) / expected)
        .sum()
}

/// Each party's labels of all extensions, one for each list of choices.
fn extend_all(
    cpu: Cpu,
    seed: u64,
    delta: Block,
    choices: &[Vec<u8>],
) -> (Vec<Vec<Block>>, Vec<Vec<Block>>) {
    pair(
        |mut mesh| {
            let mut cot = set_up_sender(cpu, &mut mesh, RECEIVER, seed, delta)?;
            let extend = |choices: &Vec<u8>| {
                let mut zero_labels = vec![Block::ZERO; choices.len()];
                cot.extend(&mut mesh, &mut zero_labels)?;
                Ok(zero_labels)
            };
            choices.iter().map(extend).collect::<Result<_, OtError>>()
        },
        |mut mesh| {
            let mut cot = set_up_receiver(cpu, &mut mesh, seed.wrapping_add(1))?;
            let extend = |choices: &Vec<u8>| {
                let mut labels = vec![Block::ZERO; choices.len()];
                cot.extend(&mut mesh, choices, &mut labels)?;
                mesh.flush()?;
                Ok(labels)
            };
            choices.iter().map(extend).collect()
        },
    )
}

fn assert_correlated(zero_labels: &[Block], labels: &[Block], choices: &[u8], delta: Block) {
    assert_eq!(
        (zero_labels.len(), labels.len()),
        (choices.len(), choices.len())
    );
    for (j, ((q, t), &choice)) in zero_labels.iter().zip(labels).zip(choices).enumerate() {
        let expected = q.value() ^ if choice == 1 { delta.value() } else { 0 };
        assert!(t.value() == expected, "OT {j} of {}", choices.len());
    }
}

fn random_choices(count: usize) -> Vec<u8> {
    let mut choices = vec![0; count];
    let mut coins = Coins::danger_fixed_seed(3 + count as u64);
    coins.secret("choices").fill_bytes(&mut choices);
    choices.iter_mut().for_each(|choice| *choice &= 1);
    choices
}

fn values(blocks: &[Block]) -> Vec<u128> {
    blocks.iter().map(|block| block.value()).collect()
}
