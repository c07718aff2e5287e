//! Chosen strings over every source, in parts, and the ideal functionality of these and of given
//! choices.

use crate::common::*;
use crate::forms::{COUNTS, HashedSenderOfAny};
use crate::forms::{assert_given, receive_chosen, run, send_chosen};
use sealane_block::{Block, Cpu};
use sealane_net::Mesh;
use sealane_ot::forms::{Request, chosen_flights};
use sealane_ot::traits::{ChosenReceiver, ChosenSender, GivenReceiver, GivenSender};
use sealane_ot::{Security, SoftSpoken, ideal};

/// The functionality behind the same traits as the protocols.
#[test]
fn ideal_given_choices_and_chosen_strings_are_those_of_the_traits() {
    let (mut one, mut other) = ideal::given::danger_pair(DELTA, 5);
    let (mut sender, mut receiver) = ideal::chosen::danger_pair();
    for (count, length) in [(1, 1), (129, 3)] {
        let choices = random_bits(count, 5);
        let strings = [1, 2].map(|seed| random_blocks(count * length, seed));
        let (q, (t, got)) = pair(
            |mesh| {
                let mut q = vec![Block::ZERO; count];
                one.given(mesh, &mut q)?;
                sender.chosen(mesh, length, [&strings[0], &strings[1]])?;
                Ok(q)
            },
            |mesh| {
                let mut t = vec![Block::ZERO; count];
                other.given(mesh, &choices, &mut t)?;
                let mut got = vec![Block::ZERO; count * length];
                receiver.chosen(mesh, length, &choices, &mut got)?;
                Ok((t, got))
            },
        );
        assert_given(&q, &t, &choices, DELTA);
        assert_chosen(&strings, &choices, length, &got);
    }
}

fn assert_chosen(strings: &[Vec<Block>; 2], choices: &[u8], length: usize, got: &[Block]) {
    for (j, string) in got.chunks(length).enumerate() {
        let expected = &strings[usize::from(choices[j])][j * length..][..length];
        assert_eq!(values(string), values(expected), "OT {j}");
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
    for (length, numbers) in lengths {
        for &count in numbers {
            let choices = random_bits(count, 6);
            let strings = [1, 2].map(|seed| random_blocks(count * length, seed));
            for cots in Cots::all() {
                let ((), got) = run(
                    cots,
                    Cpu::best(),
                    |sender, mesh| {
                        let [zeros, ones] = &strings;
                        let ((), bytes) = counted(mesh, |mesh| {
                            send_chosen(sender, mesh, length, [zeros, ones])
                        })?;
                        let (count, length) = (count as u64, length as u64);
                        let flights = cots.planned(|cot| chosen_flights(cot, 0, count, length));
                        assert_eq!(bytes, bytes_of(&flights), "{cots:?}");
                        Ok(())
                    },
                    |receiver, mesh| receive_chosen(receiver, mesh, length, &choices),
                );
                assert_chosen(&strings, &choices, length, &got);
            }
        }
    }
}

/// Many parts, so that the receiver reads answers between its requests. A receiver that asks for
/// all before it reads has the same transcript, and fewer rounds.
#[test]
fn parts_of_chosen_strings_arrive_in_the_stated_flights() {
    // Nine parts of 63 batches, of which the last is short: one more than are asked for ahead.
    const COUNT: usize = 8 * 63 * 512 + 1000;
    let choices = random_bits(COUNT, 16);
    let strings = [11, 12].map(|seed| random_blocks(COUNT, seed));
    let cots = [
        Cots::Ideal,
        Cots::Extension(SoftSpoken::new(2, Security::Malicious)),
    ];
    for cots in cots {
        let flights = cots.planned(|cot| chosen_flights(cot, 0, COUNT as u64, 1));
        let send = |sender: &mut HashedSenderOfAny, mesh: &mut Mesh| {
            let ((), bytes) = counted(mesh, |mesh| {
                send_chosen(sender, mesh, 1, [&strings[0], &strings[1]])?;
                Ok(mesh.flush()?)
            })?;
            Ok((bytes, mesh.rounds(), mesh.digest_sent(RECEIVER)))
        };
        let (streamed, got) = run(cots, Cpu::best(), send, |receiver, mesh| {
            receive_chosen(receiver, mesh, 1, &choices)
        });
        let (at_once, again) = run(cots, Cpu::best(), send, |receiver, mesh| {
            let request = Request::new(&mut receiver.cot, mesh, &choices)?;
            mesh.flush()?;
            let mut got = vec![Block::ZERO; COUNT];
            request.finish(&mut receiver.hasher, mesh, 1, &mut got)?;
            Ok(got)
        });
        for (j, (got, again)) in got.iter().zip(&again).enumerate() {
            let expected = strings[usize::from(choices[j])][j].value();
            assert_eq!([got.value(), again.value()], [expected; 2], "OT {j}");
        }
        assert_eq!(streamed.0, bytes_of(&flights));
        assert_eq!((at_once.0, at_once.2), (streamed.0, streamed.2));
        // The receiver's last message of the set-up and its first request are one.
        let before = cots.planned(|cot| cot.set_up()).len().saturating_sub(1);
        let rounds = [streamed.1, at_once.1].map(|rounds| rounds as usize - before);
        assert_eq!(rounds, [flights.len(), 2]);
        assert_eq!(flights.len(), 4);
    }
}
