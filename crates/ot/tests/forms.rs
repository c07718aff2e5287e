//! Forms of OT: the ideal functionality of random OTs, and each form over ideal correlated OTs,
//! over extensions and over silent ones.

use crate::common::*;
use sealane_block::{Block, Cpu};
use sealane_net::Mesh;
use sealane_ot::forms::{self, HashedReceiver, HashedSender, OffsetRequest, Request};
use sealane_ot::forms::{chosen_bytes, given_bytes, offset_bytes};
use sealane_ot::traits::{ChosenReceiver, ChosenSender, GivenReceiver, GivenSender};
use sealane_ot::traits::{RandomReceiver, RandomSender, choice, packed_blocks};
use sealane_ot::{Result, Security, SoftSpoken, ideal};
use sealane_parties::PartyId;
use sealane_party::{Fault, check_digests, send_digests};
use sealane_testkit::tamper::tampered;
use std::collections::HashSet;

pub const COUNTS: [usize; 6] = [1, 127, 128, 129, 513, 2000];
/// The offset that replaces the one of the correlated OTs.
const OTHER: Block = Block::new(0x0123_4567_89ab_cdef_f00d_5eed_cafe_0b0b);

pub type HashedSenderOfAny = HashedSender<AnySender>;
pub type HashedReceiverOfAny = HashedReceiver<AnyReceiver>;

/// Runs a form over a source.
pub fn run<A: Send, B: Send>(
    cots: Cots,
    cpu: Cpu,
    sender: impl FnOnce(&mut HashedSenderOfAny, &mut Mesh) -> Result<A> + Send,
    receiver: impl FnOnce(&mut HashedReceiverOfAny, &mut Mesh) -> Result<B> + Send,
) -> (A, B) {
    pair(
        |mesh| sender(&mut cots.hashed_sender(cpu, mesh)?, mesh),
        |mesh| receiver(&mut cots.hashed_receiver(cpu, mesh)?, mesh),
    )
}

fn send_given(sender: &mut HashedSenderOfAny, mesh: &mut Mesh, count: usize) -> Result<Vec<Block>> {
    let mut q = vec![Block::ZERO; count];
    sender.cot.given(mesh, &mut q)?;
    Ok(q)
}

fn receive_given(
    receiver: &mut HashedReceiverOfAny,
    mesh: &mut Mesh,
    choices: &[u8],
) -> Result<Vec<Block>> {
    let mut t = vec![Block::ZERO; choices.len()];
    receiver.cot.given(mesh, choices, &mut t)?;
    Ok(t)
}

fn send_random<S: RandomSender + ?Sized>(
    sender: &mut S,
    mesh: &mut Mesh,
    count: usize,
) -> Result<Vec<[Block; 2]>> {
    let mut pairs = vec![[Block::ZERO; 2]; count];
    sender.random(mesh, &mut pairs)?;
    Ok(pairs)
}

/// Choices, packed, and keys.
fn receive_random<R: RandomReceiver + ?Sized>(
    receiver: &mut R,
    mesh: &mut Mesh,
    count: usize,
) -> Result<(Vec<Block>, Vec<Block>)> {
    let mut choices = vec![Block::ZERO; packed_blocks(count)];
    let mut keys = vec![Block::ZERO; count];
    receiver.random(mesh, &mut choices, &mut keys)?;
    Ok((choices, keys))
}

/// Sends strings of `length` blocks.
pub fn send_chosen(
    sender: &mut HashedSenderOfAny,
    mesh: &mut Mesh,
    length: usize,
    [zeros, ones]: [&[Block]; 2],
) -> Result<()> {
    sender.chosen(mesh, length, [zeros, ones])
}

pub fn receive_chosen(
    receiver: &mut HashedReceiverOfAny,
    mesh: &mut Mesh,
    length: usize,
    choices: &[u8],
) -> Result<Vec<Block>> {
    let mut got = vec![Block::ZERO; choices.len() * length];
    receiver.chosen(mesh, length, choices, &mut got)?;
    Ok(got)
}

/// Sends under the other offset, of random OTs.
fn send_under<S: RandomSender + ?Sized>(
    sender: &mut S,
    mesh: &mut Mesh,
    count: usize,
) -> Result<Vec<Block>> {
    let pairs = send_random(sender, mesh, count)?;
    mesh.flush()?;
    let mut q = vec![Block::ZERO; count];
    forms::send_under(OTHER, &pairs, mesh, RECEIVER, &mut q)?;
    Ok(q)
}

fn receive_under<R: RandomReceiver + ?Sized>(
    receiver: &mut R,
    mesh: &mut Mesh,
    choices: &[u8],
) -> Result<Vec<Block>> {
    let (random, keys) = receive_random(receiver, mesh, choices.len())?;
    let random: Vec<u8> = (0..keys.len()).map(|j| choice(&random, j)).collect();
    let request = OffsetRequest::new(choices, &random, keys.into(), mesh, SENDER)?;
    mesh.flush()?;
    let (kept, t) = request.finish(mesh)?;
    assert_eq!(&kept[..], choices);
    Ok(t.to_vec())
}

pub fn assert_given(q: &[Block], t: &[Block], choices: &[u8], delta: Block) {
    assert_eq!([q.len(), t.len()], [choices.len(); 2]);
    for (j, ((q, t), &choice)) in q.iter().zip(t).zip(choices).enumerate() {
        let expected = *q ^ delta.masked(choice);
        assert_eq!(t.value(), expected.value(), "OT {j} of {}", q.value());
    }
}

/// Runs a form of random OTs over their ideal functionality and over every source.
fn over_random<A: Send, B: Send>(
    sender: impl Fn(&mut dyn RandomSender, &mut Mesh) -> Result<A> + Sync,
    receiver: impl Fn(&mut dyn RandomReceiver, &mut Mesh) -> Result<B> + Sync,
    check: impl Fn(A, B),
) {
    let (mut dealt, mut other) = ideal::random::danger_pair(5);
    let (a, b) = pair(
        |mesh| sender(&mut dealt, mesh),
        |mesh| receiver(&mut other, mesh),
    );
    check(a, b);
    for cots in Cots::all() {
        let (a, b) = run(
            cots,
            Cpu::best(),
            |hashed, mesh| sender(hashed, mesh),
            |hashed, mesh| receiver(hashed, mesh),
        );
        check(a, b);
    }
}

#[test]
fn given_choices_are_those_of_the_correlation() {
    for count in COUNTS {
        let choices = random_bits(count, 5);
        for cots in Cots::all() {
            let (q, t) = run(
                cots,
                Cpu::best(),
                |sender, mesh| send_given(sender, mesh, count),
                |receiver, mesh| receive_given(receiver, mesh, &choices),
            );
            assert_given(&q, &t, &choices, Cots::offset(SENDER));
        }
    }
}

#[test]
fn random_ots_give_the_key_of_the_choice_and_keys_are_all_different() {
    for count in COUNTS {
        over_random(
            |sender, mesh| send_random(sender, mesh, count),
            |receiver, mesh| receive_random(receiver, mesh, count),
            |pairs, (choices, keys)| {
                for (j, (pair, key)) in pairs.iter().zip(&keys).enumerate() {
                    let chosen = usize::from(choice(&choices, j));
                    assert_eq!(pair[chosen].value(), key.value());
                }
                if let (Some(last), rest @ 1..) = (choices.last(), count % 128) {
                    assert_eq!(last.value() >> rest, 0, "the rest of the last block");
                }
                let offsets = pairs.iter().map(|[zero, one]| (*zero ^ *one).value());
                let offsets: HashSet<_> = offsets.collect();
                assert_eq!(offsets.len(), count, "no correlation is left");
                let keys: HashSet<_> = pairs.as_flattened().iter().map(|k| k.value()).collect();
                assert_eq!(keys.len(), 2 * count, "no key comes twice");
            },
        );
    }
}

#[test]
fn a_new_offset_is_that_of_the_correlation_and_takes_the_stated_bytes() {
    // Around the boundaries of packed choices and of batches.
    for count in [0, 1, 127, 128, 129, 1023, 1024, 1025, 2048, 2049] {
        let choices = random_bits(count, 7);
        over_random(
            |sender, mesh| {
                let pairs = send_random(sender, mesh, count)?;
                mesh.flush()?;
                let mut q = vec![Block::ZERO; count];
                let ((), crossed) = counted(mesh, |mesh| {
                    forms::send_under(OTHER, &pairs, mesh, RECEIVER, &mut q)
                })?;
                let count = count as u64;
                assert_eq!(crossed, [offset_bytes(count), given_bytes(count)]);
                Ok(q)
            },
            |receiver, mesh| receive_under(receiver, mesh, &choices),
            |q, t| assert_given(&q, &t, &choices, OTHER),
        );
    }
}

#[test]
fn for_fixed_coins_transcripts_and_outputs_are_identical_on_every_tier() {
    const COUNT: usize = 1100;
    let choices = random_bits(COUNT, 8);
    let strings = [3, 4].map(|seed| random_blocks(2 * COUNT, seed));
    let [zeros, ones] = &strings;
    for security in [Security::SemiHonest, Security::Malicious] {
        let all = |cpu| {
            run(
                Cots::Extension(SoftSpoken::new(4, security)),
                cpu,
                |sender, mesh| {
                    let q = send_given(sender, mesh, COUNT)?;
                    let pairs = send_random(sender, mesh, COUNT)?;
                    send_chosen(sender, mesh, 2, [zeros, ones])?;
                    mesh.flush()?;
                    let under = send_under(sender, mesh, COUNT)?;
                    let all = [&q[..], pairs.as_flattened(), &under];
                    Ok((values(&all.concat()), mesh.digest_sent(RECEIVER)))
                },
                |receiver, mesh| {
                    let t = receive_given(receiver, mesh, &choices)?;
                    let (random, keys) = receive_random(receiver, mesh, COUNT)?;
                    let got = receive_chosen(receiver, mesh, 2, &choices)?;
                    let under = receive_under(receiver, mesh, &choices)?;
                    let all = [t, random, keys, got, under];
                    Ok((values(&all.concat()), mesh.digest_sent(SENDER)))
                },
            )
        };
        assert_same_on_every_tier(all);
    }
}

/// Changes bytes of the messages of a form over ideal OTs, one in a run. Either is some honest
/// party's message, so the form goes on with it, and the digests of the run say whose it was.
fn assert_reported_by_digests<A: Send, B: Send>(
    bytes: [u64; 2],
    sender: impl Fn(&mut HashedSenderOfAny, &mut Mesh) -> Result<A> + Sync,
    receiver: impl Fn(&mut HashedReceiverOfAny, &mut Mesh) -> Result<B> + Sync,
) {
    let settle = |mesh: &mut Mesh, peer: PartyId| {
        send_digests(mesh, [peer])?;
        mesh.flush()?;
        check_digests(mesh, [peer])
    };
    for (to, bytes) in [(RECEIVER, bytes[0]), (SENDER, bytes[1])] {
        for at in 0..bytes {
            let (sent, received) = over(
                tampered(to, at, 1 << (at % 8)),
                |mesh| {
                    sender(&mut Cots::Ideal.hashed_sender(Cpu::best(), mesh)?, mesh)?;
                    settle(mesh, RECEIVER)
                },
                |mesh| {
                    receiver(&mut Cots::Ideal.hashed_receiver(Cpu::best(), mesh)?, mesh)?;
                    settle(mesh, SENDER)
                },
            );
            let (altered, other) = match to {
                SENDER => (sent, received),
                _ => (received, sent),
            };
            let from = PartyId(1 - to.0);
            let reported = matches!(altered, Err(Fault::Altered(party)) if party == from);
            assert!(reported, "byte {at} to {to}: {altered:?}");
            assert!(other.is_ok(), "byte {at} to {to}: {other:?}");
        }
    }
}

#[test]
fn changed_bytes_of_forms_are_reported_by_the_digests_of_the_run() {
    const COUNT: usize = 9;
    let choices = random_bits(COUNT, 9);
    let strings = [5, 6].map(|seed| random_blocks(2 * COUNT, seed));
    let [zeros, ones] = &strings;
    let given = given_bytes(COUNT as u64);
    assert_reported_by_digests(
        [0, given],
        |sender, mesh| send_given(sender, mesh, COUNT),
        |receiver, mesh| receive_given(receiver, mesh, &choices),
    );
    assert_reported_by_digests(
        [chosen_bytes(COUNT as u64, 2), given],
        |sender, mesh| send_chosen(sender, mesh, 2, [zeros, ones]),
        |receiver, mesh| receive_chosen(receiver, mesh, 2, &choices),
    );
    assert_reported_by_digests(
        [offset_bytes(COUNT as u64), given],
        |sender, mesh| send_under(sender, mesh, COUNT),
        |receiver, mesh| receive_under(receiver, mesh, &choices),
    );
}

#[test]
fn keys_choices_and_masked_messages_look_uniform() {
    const COUNT: usize = 1 << 15;
    let none = vec![Block::ZERO; COUNT];
    let choices = vec![0; COUNT];
    let bytes = |blocks: &[Block]| Block::as_bytes(blocks).to_vec();
    let (of_sender, of_receiver) = run(
        Cots::Extension(SoftSpoken::new(4, Security::Malicious)),
        Cpu::best(),
        |sender, mesh| {
            let pairs = send_random(sender, mesh, COUNT)?;
            let [zeros, ones] = [0, 1].map(|i| pairs.iter().map(|p| p[i]).collect::<Vec<_>>());
            // Strings of zeros: the answer is their keys.
            send_chosen(sender, mesh, 1, [&none, &none])?;
            mesh.flush()?;
            let pairs = send_random(sender, mesh, COUNT)?;
            let mut masked = vec![0; COUNT / 8];
            mesh.recv(RECEIVER, &mut masked)?;
            let answer: Vec<Block> = pairs.iter().map(|[a, b]| *a ^ *b ^ OTHER).collect();
            Ok([
                ("keys of 0", bytes(&zeros)),
                ("keys of 1", bytes(&ones)),
                ("masked choices", masked),
                ("answer under a new offset", bytes(&answer)),
            ])
        },
        |receiver, mesh| {
            let (random, keys) = receive_random(receiver, mesh, COUNT)?;
            Request::new(&mut receiver.cot, mesh, &choices)?;
            mesh.flush()?;
            let mut answer = vec![0; chosen_bytes(COUNT as u64, 1) as usize];
            mesh.recv(SENDER, &mut answer)?;
            let (mask, of_mask) = receive_random(receiver, mesh, COUNT)?;
            let mask: Vec<u8> = (0..COUNT).map(|j| choice(&mask, j)).collect();
            OffsetRequest::new(&choices, &mask, of_mask.into(), mesh, SENDER)?;
            Ok([
                ("random choices", bytes(&random)),
                ("keys of choices", bytes(&keys)),
                ("answer of masked strings", answer),
            ])
        },
    );
    for (name, bytes) in of_sender.iter().chain(&of_receiver) {
        assert_uniform(name, bytes);
        // The statistic can fail: one byte in twenty that is not random is noticed.
        let mut marked = bytes.clone();
        marked.iter_mut().step_by(20).for_each(|byte| *byte = 0);
        assert!(!PLAUSIBLE.contains(&chi_square(&marked)), "{name}");
    }
}
