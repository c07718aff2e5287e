//! OTs of one of many strings, and their ideal functionality: keys, bytes, messages that are
//! altered, the same on every tier.

use crate::common::*;
use sealane_block::{Block, Coins, Cpu};
use sealane_net::Mesh;
use sealane_ot::softspoken::one_of_n::large::{self, LargeKeys};
use sealane_ot::softspoken::one_of_n::{OneOfN, Request, StringsReceiver, StringsSender};
use sealane_ot::traits::{OneOfNKeys, OneOfNReceiver, OneOfNSender};
use sealane_ot::{OtError, Result, Security, ideal};
use sealane_parties::PartyId;
use sealane_testkit::golden;
use std::collections::HashSet;
use std::fmt::Debug;

/// Counts around every boundary of blocks and pieces, and zero.
const COUNTS: [usize; 7] = [1, 128, 129, 0, 600, 3969, 4096];

fn all() -> impl Iterator<Item = OneOfN> {
    [2, 4, 8].into_iter().flat_map(|bits| {
        [4, 6, 8].into_iter().flat_map(move |k| {
            [Security::SemiHonest, Security::Malicious]
                .map(|security| OneOfN::new(bits, k, security))
        })
    })
}

fn sender(parameters: OneOfN, cpu: Cpu, mesh: &mut Mesh) -> Result<StringsSender> {
    let coins = &mut Coins::danger_fixed_seed(1);
    let setup = StringsSender::set_up(parameters, cpu, mesh, RECEIVER, coins)?;
    mesh.flush()?;
    setup.finish(mesh)
}

fn receiver(parameters: OneOfN, cpu: Cpu, mesh: &mut Mesh) -> Result<StringsReceiver> {
    let coins = &mut Coins::danger_fixed_seed(2);
    let setup = StringsReceiver::set_up(parameters, cpu, mesh, SENDER, coins)?;
    mesh.flush()?;
    let receiver = setup.finish(mesh)?;
    mesh.flush()?;
    Ok(receiver)
}

/// Runs both parties after their set-up.
fn run<A: Send, B: Send>(
    parameters: OneOfN,
    cpu: Cpu,
    send: impl FnOnce(&mut StringsSender, &mut Mesh) -> Result<A> + Send,
    receive: impl FnOnce(&mut StringsReceiver, &mut Mesh) -> Result<B> + Send,
) -> (A, B) {
    pair(
        |mesh| send(&mut sender(parameters, cpu, mesh)?, mesh),
        |mesh| receive(&mut receiver(parameters, cpu, mesh)?, mesh),
    )
}

fn random_choices(parameters: OneOfN, count: usize) -> Vec<u8> {
    let mut choices = vec![0; count];
    Coins::danger_fixed_seed(count as u64)
        .secret("choices")
        .fill_bytes(&mut choices);
    let mask = (parameters.strings() - 1) as u8;
    choices.iter_mut().for_each(|choice| *choice &= mask);
    choices
}

/// All keys of a call, and the bytes from sender and from receiver.
type Sent = (Vec<Block>, [u64; 2]);
/// Choices of a call, and their keys.
type Received = (Vec<u8>, Vec<Block>);

/// Runs the sender's calls of so many OTs.
fn send_all(
    sender: &mut impl OneOfNSender,
    mesh: &mut Mesh,
    counts: &[usize],
) -> Result<Vec<Sent>> {
    let n = sender.strings();
    let mut all = Vec::new();
    for &count in counts {
        let (made, crossed) = counted(mesh, |mesh| sender.extend(mesh, count))?;
        assert_eq!(made.count(), count);
        let mut keys = vec![Block::ZERO; n * count];
        made.fill_all(&mut keys);
        // Those that are asked for alone are the same.
        let places: Vec<_> = (0..count).map(|j| (j, (7 * j % n) as u8)).collect();
        let mut some = vec![Block::ZERO; count];
        made.fill(&places, &mut some);
        for (&(j, c), key) in places.iter().zip(&some) {
            assert_eq!(key.value(), keys[j * n + usize::from(c)].value());
        }
        all.push((keys, crossed));
    }
    Ok(all)
}

/// Runs the receiver's.
fn receive_all<R: OneOfNReceiver>(
    receiver: &mut R,
    mesh: &mut Mesh,
    counts: &[usize],
) -> Result<Vec<Received>> {
    let mut all = Vec::new();
    for &count in counts {
        let (mut choices, mut keys) = (vec![9; count], vec![Block::ONES; count]);
        receiver.extend(mesh, &mut choices, &mut keys)?;
        mesh.flush()?;
        all.push((choices, keys));
    }
    Ok(all)
}

/// Checks keys and choices of all calls; the last has enough OTs to tell that choices are random.
fn assert_one_of(n: usize, all: &[Sent], received: &[Received]) {
    for ((keys, _), (choices, chosen)) in all.iter().zip(received) {
        for (j, (choice, key)) in choices.iter().zip(chosen).enumerate() {
            let expected = keys[j * n + usize::from(*choice)];
            assert_eq!(key.value(), expected.value(), "OT {j} of one of {n}");
        }
    }
    let keys = all.iter().flat_map(|(keys, _)| values(keys));
    let count: usize = all.iter().map(|(keys, _)| keys.len()).sum();
    let distinct: HashSet<_> = keys.collect();
    assert_eq!(distinct.len(), count, "no key comes twice");
    let (choices, _) = received.last().expect("runs");
    let seen: HashSet<_> = choices.iter().collect();
    assert!(seen.len() > n / 3, "{} of {n} choices", seen.len());
}

#[test]
fn random_ots_give_the_key_of_the_choice_and_take_the_planned_bytes() {
    // All keys of large runs would take a while.
    let counts = |n| {
        if n == 256 {
            &[1, 129, 0, 200][..]
        } else {
            &COUNTS[..]
        }
    };
    for n in [4, 16, 256] {
        let (mut sender, mut receiver) = ideal::one_of_n::danger_pair(n, 4);
        let (all, received) = pair(
            |mesh| send_all(&mut sender, mesh, counts(n)),
            |mesh| receive_all(&mut receiver, mesh, counts(n)),
        );
        assert_one_of(n, &all, &received);
    }
    for parameters in all() {
        let n = parameters.strings();
        let (all, received) = run(
            parameters,
            Cpu::best(),
            |sender, mesh| send_all(sender, mesh, counts(n)),
            |receiver, mesh| receive_all(receiver, mesh, counts(n)),
        );
        assert_one_of(n, &all, &received);
        for ((_, crossed), &count) in all.iter().zip(counts(n)) {
            let planned = bytes_of(&parameters.flights(count as u64));
            assert_eq!(*crossed, planned, "{count} OTs, {parameters:?}");
        }
    }
}

#[test]
fn given_choices_have_their_keys() {
    fn assert_given(keys: &impl OneOfNKeys, choices: &[u8], received: &[Block]) {
        let places: Vec<_> = choices.iter().copied().enumerate().collect();
        let mut expected = vec![Block::ZERO; choices.len()];
        keys.fill(&places, &mut expected);
        assert_eq!(values(received), values(&expected));
    }
    const COUNT: usize = 333;
    for bits in [2, 4, 8] {
        let parameters = OneOfN::new(bits, 6, Security::Malicious);
        let choices = random_choices(parameters, COUNT);
        let (mut sender, mut receiver) = ideal::one_of_n::danger_pair(parameters.strings(), 5);
        let mut received = vec![Block::ZERO; COUNT];
        let (keys, ()) = pair(
            |mesh| sender.extend_given(mesh, COUNT),
            |mesh| receiver.receive_given(mesh, &choices, &mut received),
        );
        assert_given(&keys, &choices, &received);
        let (keys, ()) = run(
            parameters,
            Cpu::best(),
            |sender, mesh| sender.extend_given(mesh, COUNT),
            |receiver, mesh| receiver.receive_given(mesh, &choices, &mut received),
        );
        assert_given(&keys, &choices, &received);
    }
}

#[test]
fn chosen_strings_arrive_and_take_the_planned_bytes() {
    for parameters in all() {
        let n = parameters.strings();
        for (count, length) in [(1, 1), (129, 1), (70, 3)] {
            let choices = random_choices(parameters, count);
            let mut strings = vec![Block::ZERO; count * n * length];
            Coins::danger_fixed_seed(3)
                .secret("strings")
                .fill(&mut strings);
            let ((), got) = run(
                parameters,
                Cpu::best(),
                |sender, mesh| {
                    let send = |mesh: &mut Mesh| sender.send_chosen(mesh, length, &strings);
                    let ((), crossed) = counted(mesh, send)?;
                    let ots = count as u64;
                    let [_, from_receiver] = bytes_of(&parameters.flights(ots));
                    let answer = parameters.chosen_bytes(ots, length as u64);
                    let request = from_receiver + parameters.given_bytes(ots);
                    assert_eq!(crossed, [answer, request]);
                    Ok(())
                },
                |receiver, mesh| {
                    let request = Request::new(receiver, mesh, &choices)?;
                    mesh.flush()?;
                    let mut got = vec![Block::ZERO; count * length];
                    request.finish(mesh, length, &mut got)?;
                    Ok(got)
                },
            );
            for (j, got) in got.chunks(length).enumerate() {
                let at = (j * n + usize::from(choices[j])) * length;
                let wanted = values(&strings[at..at + length]);
                assert_eq!(values(got), wanted, "{parameters:?}");
            }
        }
    }
}

/// Indices of so many bytes.
fn indices(bytes: usize) -> Vec<u64> {
    let low = u64::MAX >> (64 - 8 * bytes);
    (0..40).map(|j| (0x0123_4567_89ab_cdef * j) & low).collect()
}

fn assert_large(keys: &LargeKeys<impl OneOfNKeys>, bytes: usize, indices: &[u64], found: &[Block]) {
    assert_eq!(keys.count(), indices.len());
    let mut seen = HashSet::new();
    for (j, (&index, key)) in indices.iter().zip(found).enumerate() {
        assert_eq!(keys.key(j, index).value(), key.value(), "OT {j}");
        for other in [index, index ^ 1, index ^ 1 << (8 * bytes - 1)] {
            assert!(seen.insert(keys.key(j, other).value()), "a key of its own");
        }
    }
}

#[test]
fn large_indices_have_keys_of_their_own() {
    for bytes in [1, 3, 8] {
        let indices = indices(bytes);
        let mut received = vec![Block::ZERO; indices.len()];
        // Over the ideal functionality of one of 256.
        let (mut sender, mut receiver) = ideal::one_of_n::danger_pair(256, 6);
        let (keys, ()) = pair(
            |mesh| LargeKeys::send(&mut sender, mesh, bytes, indices.len()),
            |mesh| large::receive(&mut receiver, mesh, bytes, &indices, &mut received),
        );
        assert_large(&keys, bytes, &indices, &received);
        let parameters = OneOfN::new(8, 6, Security::Malicious);
        let planned = bytes_of(&large::flights(parameters, bytes, indices.len() as u64));
        let (keys, ()) = run(
            parameters,
            Cpu::best(),
            |sender, mesh| {
                let send = |mesh: &mut Mesh| LargeKeys::send(sender, mesh, bytes, indices.len());
                let (keys, crossed) = counted(mesh, send)?;
                assert_eq!(crossed, planned);
                Ok(keys)
            },
            |receiver, mesh| large::receive(receiver, mesh, bytes, &indices, &mut received),
        );
        assert_large(&keys, bytes, &indices, &received);
    }
}

#[test]
fn sizes_are_those_of_the_codes_and_below_those_of_one_long_code() {
    let count = 1 << 20;
    let bits = |parameters: OneOfN| bytes_of(&parameters.flights(count))[1] * 8 / count;
    for (n, k, expected) in [(2, 6, 34), (4, 6, 41), (8, 4, 73), (8, 6, 43), (8, 8, 36)] {
        assert_eq!(bits(OneOfN::new(n, k, Security::SemiHonest)), expected);
    }
    // 64 bytes an OT of up to 76 bits with the code of Orru, Orsini and Scholl.
    let large = large::flights(OneOfN::new(8, 6, Security::Malicious), 8, count);
    assert_eq!(bytes_of(&large)[1] / count, 51);
}

/// Keys of one extension, and strings of another one.
fn transcript(parameters: OneOfN, cpu: Cpu) -> impl PartialEq + Debug {
    let n = parameters.strings();
    let strings = random_blocks(40 * n * 3, 3);
    let choices: Vec<u8> = (0..40).map(|j| (j % n) as u8).collect();
    run(
        parameters,
        cpu,
        |sender, mesh| {
            let keys = sender.extend(mesh, 300)?;
            let mut all = vec![Block::ZERO; 300 * n];
            keys.fill_all(&mut all);
            sender.send_chosen(mesh, 3, &strings)?;
            Ok((values(&all), mesh.digest_sent(RECEIVER)))
        },
        |receiver, mesh| {
            let (mut random, mut keys) = (vec![0; 300], vec![Block::ZERO; 300]);
            receiver.extend(mesh, &mut random, &mut keys)?;
            let request = Request::new(receiver, mesh, &choices)?;
            mesh.flush()?;
            let mut got = vec![Block::ZERO; 40 * 3];
            request.finish(mesh, 3, &mut got)?;
            Ok((
                random,
                values(&[keys, got].concat()),
                mesh.digest_sent(SENDER),
            ))
        },
    )
}

/// Keys of indices of eight bytes.
fn large_transcript(cpu: Cpu) -> impl PartialEq + Debug {
    let indices = indices(8);
    run(
        OneOfN::new(8, 6, Security::Malicious),
        cpu,
        |sender, mesh| {
            let keys = LargeKeys::send(sender, mesh, 8, indices.len())?;
            let of_all =
                |j: usize| [indices[j], !indices[j]].map(|index| keys.key(j, index).value());
            let all: Vec<_> = (0..indices.len()).flat_map(of_all).collect();
            Ok((all, mesh.digest_sent(RECEIVER)))
        },
        |receiver, mesh| {
            let mut keys = vec![Block::ZERO; indices.len()];
            large::receive(receiver, mesh, 8, &indices, &mut keys)?;
            Ok((values(&keys), mesh.digest_sent(SENDER)))
        },
    )
}

#[test]
fn transcripts_and_keys_are_those_of_this_wire_version_on_every_tier() {
    let mut lines = golden_line("one of 2^64", large_transcript);
    for parameters in [
        OneOfN::new(2, 4, Security::Malicious),
        OneOfN::new(4, 8, Security::SemiHonest),
        OneOfN::new(8, 6, Security::Malicious),
    ] {
        let name = format!("one of {}", parameters.strings());
        lines += &golden_line(&name, |cpu| transcript(parameters, cpu));
    }
    golden::is("crates/ot/tests/golden/one_of_n.txt", &lines);
}

#[test]
fn keys_choices_and_corrections_look_uniform() {
    let parameters = OneOfN::new(8, 6, Security::SemiHonest);
    let count = 1 << 14;
    let (message, [choices, keys]) = run(
        parameters,
        Cpu::best(),
        |_, mesh| {
            let mut message = vec![0; bytes_of(&parameters.flights(count))[1] as usize];
            mesh.recv(RECEIVER, &mut message)?;
            Ok(message)
        },
        |receiver, mesh| {
            let mut choices = vec![0; count as usize];
            let mut keys = vec![Block::ZERO; count as usize];
            receiver.extend(mesh, &mut choices, &mut keys)?;
            Ok([choices, Block::as_bytes(&keys).to_vec()])
        },
    );
    for (name, bytes) in [
        ("message", &message),
        ("choices", &choices),
        ("keys", &keys),
    ] {
        assert_uniform(name, bytes);
    }
}

#[test]
fn a_changed_byte_is_reported_apart_from_a_failed_check() {
    let parameters = OneOfN::new(8, 6, Security::Malicious);
    let send = |mesh: &mut Mesh| {
        let mut sender = sender(parameters, Cpu::best(), mesh)?;
        let made = sender.extend(mesh, 300).map(|keys| keys.count());
        if made.is_err() {
            let again = sender.extend(mesh, 300).map(drop);
            assert!(matches!(again, Err(OtError::Ended)));
        }
        made
    };
    let [heard, _] = heard(send, |mesh| {
        let mut receiver = receiver(parameters, Cpu::best(), mesh)?;
        receiver.extend(mesh, &mut [0; 300], &mut [Block::ZERO; 300])
    });
    // Eight hashes of the choices' columns, and that of all others.
    let answer = heard.len() - 8 * 16 - 32;
    let answers = (answer..heard.len()).step_by(5);
    for at in (0..answer)
        .step_by(997)
        .chain([answer - 33, answer - 1])
        .chain(answers)
    {
        let mut bytes = heard.clone();
        bytes[at] ^= 2;
        let mut meshes = Mesh::in_memory(2);
        let mut mine = meshes.remove(0);
        let mut peers = meshes.remove(0);
        peers.send(PartyId(0), &bytes).expect("memory");
        peers.flush().expect("memory");
        let error = send(&mut mine).expect_err("the peer is not honest");
        let reported = match error {
            OtError::Altered(RECEIVER) => at < answer,
            OtError::BadPoint(RECEIVER) => at < 32,
            OtError::CheckFailed(RECEIVER) => at >= answer,
            _ => false,
        };
        assert!(reported, "byte {at}: {error}");
    }
}

#[test]
#[should_panic(expected = "a choice is a number of a string")]
fn a_choice_beyond_the_strings_is_our_own_mistake() {
    let parameters = OneOfN::new(2, 6, Security::SemiHonest);
    run(
        parameters,
        Cpu::best(),
        |_, _| Ok(()),
        |receiver, mesh| receiver.receive_given(mesh, &[4], &mut [Block::ZERO]),
    );
}
