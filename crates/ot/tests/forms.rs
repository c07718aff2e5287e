//! Forms of OT, over the ideal functionality and over an extension.

use crate::common::*;
use sealane_block::{Block, Coins, Cpu};
use sealane_net::Mesh;
use sealane_ot::forms::{self, Hasher, Request};
use sealane_ot::traits::{CotReceiver, CotSender, choice, packed_blocks};
use sealane_ot::{OtError, Security, SoftSpoken, ideal};
use std::collections::HashSet;

const COUNTS: [usize; 6] = [1, 127, 128, 129, 513, 2000];

fn hasher(mesh: &Mesh) -> Hasher {
    Hasher::new(Cpu::best(), mesh.session(), SENDER, RECEIVER, "test")
}

/// Runs a form over the ideal functionality, and over each kind of extension.
fn over_all<A: Send, B: Send>(
    sender: impl Fn(&mut dyn CotSender, &mut Mesh) -> Result<A, OtError> + Sync,
    receiver: impl Fn(&mut dyn CotReceiver, &mut Mesh) -> Result<B, OtError> + Sync,
    check: impl Fn(A, B),
) {
    let (mut ideal_sender, mut ideal_receiver) = ideal::danger_pair([SENDER, RECEIVER], DELTA, 9);
    let (a, b) = pair(
        |mut mesh| {
            let a = sender(&mut ideal_sender, &mut mesh)?;
            mesh.flush()?;
            Ok(a)
        },
        |mut mesh| {
            let b = receiver(&mut ideal_receiver, &mut mesh)?;
            mesh.flush()?;
            Ok(b)
        },
    );
    check(a, b);
    for security in [Security::SemiHonest, Security::Malicious] {
        let parameters = SoftSpoken::new(4, security);
        let (a, b) = pair(
            |mut mesh| {
                let cpu = Cpu::best();
                let mut cot = set_up_sender(parameters, cpu, &mut mesh, RECEIVER, 3, DELTA)?;
                let a = sender(&mut cot, &mut mesh)?;
                mesh.flush()?;
                Ok(a)
            },
            |mut mesh| {
                let mut cot = set_up_receiver(parameters, Cpu::best(), &mut mesh, SENDER, 4)?;
                let b = receiver(&mut cot, &mut mesh)?;
                mesh.flush()?;
                Ok(b)
            },
        );
        check(a, b);
    }
}

#[test]
fn given_choices_are_those_of_the_correlation() {
    for count in COUNTS {
        let choices = random_bits(count, 5);
        over_all(
            |cot, mesh| {
                let mut q = vec![Block::ZERO; count];
                forms::send_given(cot, mesh, &mut q)?;
                Ok(q)
            },
            |cot, mesh| {
                let mut t = vec![Block::ZERO; count];
                forms::receive_given(cot, mesh, &choices, &mut t)?;
                Ok(t)
            },
            |q, t| {
                for ((q, t), &choice) in q.iter().zip(&t).zip(&choices) {
                    assert_eq!(t.value(), (*q ^ DELTA.masked(choice)).value());
                }
            },
        );
    }
}

#[test]
fn random_ots_give_the_key_of_the_choice_and_keys_are_all_different() {
    for count in COUNTS {
        over_all(
            |cot, mesh| {
                let mut pairs = vec![[Block::ZERO; 2]; count];
                forms::send_random(cot, &mut hasher(mesh), mesh, &mut pairs)?;
                Ok(pairs)
            },
            |cot, mesh| {
                let mut choices = vec![Block::ZERO; packed_blocks(count)];
                let mut keys = vec![Block::ZERO; count];
                let hasher = &mut hasher(mesh);
                forms::receive_random(cot, hasher, mesh, &mut choices, &mut keys)?;
                Ok((choices, keys))
            },
            |pairs, (choices, keys)| {
                for (j, (pair, key)) in pairs.iter().zip(&keys).enumerate() {
                    let chosen = usize::from(choice(&choices, j));
                    assert_eq!(pair[chosen].value(), key.value());
                }
                let offsets: HashSet<_> = pairs
                    .iter()
                    .map(|[zero, one]| (*zero ^ *one).value())
                    .collect();
                assert_eq!(offsets.len(), count, "no correlation is left");
                let keys: HashSet<_> = pairs.as_flattened().iter().map(|k| k.value()).collect();
                assert_eq!(keys.len(), 2 * count, "no key comes twice");
            },
        );
    }
}

#[test]
fn chosen_strings_arrive() {
    // The last two lengths take several pieces of an answer.
    let lengths: [(usize, &[usize]); 5] = [
        (1, &COUNTS),
        (3, &COUNTS),
        (8, &COUNTS),
        (40, &[513]),
        (9000, &[1]),
    ];
    for (length, counts) in lengths {
        for &count in counts {
            let choices = random_bits(count, 6);
            let strings = [1, 2].map(|seed| {
                let mut blocks = vec![Block::ZERO; count * length];
                Coins::danger_fixed_seed(seed)
                    .secret("strings")
                    .fill(&mut blocks);
                blocks
            });
            over_all(
                |cot, mesh| {
                    let [zeros, ones] = &strings;
                    let hasher = &mut hasher(mesh);
                    let before = mesh.payload_sent(RECEIVER);
                    forms::send_chosen(cot, hasher, mesh, length, [zeros, ones])?;
                    let bytes = mesh.payload_sent(RECEIVER) - before;
                    assert_eq!(bytes, forms::chosen_bytes(count as u64, length as u64));
                    Ok(())
                },
                |cot, mesh| {
                    let request = Request::new(cot, mesh, &choices)?;
                    mesh.flush()?;
                    let mut got = vec![Block::ZERO; count * length];
                    request.finish(&mut hasher(mesh), mesh, length, &mut got)?;
                    Ok(got)
                },
                |(), got| {
                    for (j, string) in got.chunks(length).enumerate() {
                        let expected = &strings[usize::from(choices[j])][j * length..][..length];
                        assert_eq!(values(string), values(expected), "OT {j}");
                    }
                },
            );
        }
    }
}
