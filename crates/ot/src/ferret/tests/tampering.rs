//! Messages that are not those of an honest party.

use sealane_block::{Block, Cpu};
use sealane_net::Mesh;
use sealane_parties::PartyId;

use super::support::*;
use crate::OtError;
use crate::Security;
use crate::ferret::Params;
use crate::ferret::cost::FerretCost;
use crate::traits::{CotCost, CotReceiver, CotSender};

/// Bytes of the contributions to keys, which come first in both directions.
const KEYS: u64 = 32;

/// Runs both parties where byte `at` of those that `to` receives is changed, and returns the
/// receiver's result: rows that are wrong, of a whole iteration.
fn wrong_rows(security: Security, to: PartyId, at: u64) -> Result<usize, OtError> {
    let params = Params::danger_tiny(security);
    let count = params.given();
    let cpu = Cpu::best();
    let sender = |mut mesh: Mesh| {
        let mut q = vec![Block::ZERO; count];
        // It may find that the receiver has left.
        let _ = set_up_sender(cpu, &mut mesh, params).and_then(|mut cot| {
            cot.extend(&mut mesh, &mut q)?;
            Ok(mesh.flush()?)
        });
        q
    };
    let receiver = |mut mesh: Mesh| {
        let mut cot = set_up_receiver(cpu, &mut mesh, params)?;
        let (mut t, mut x) = (
            vec![Block::ZERO; count],
            vec![Block::ZERO; count.div_ceil(128)],
        );
        let result = cot.extend(&mut mesh, &mut x, &mut t);
        if result.is_err() {
            assert!(t.iter().chain(&x).all(|block| block.value() == 0));
            let again = cot.extend(&mut mesh, &mut x, &mut t);
            assert!(matches!(again, Err(OtError::Ended)));
        }
        result.map(|()| (t, x))
    };
    let (q, received) = both(tampered(to, at, 0x10), sender, receiver);
    let (t, x) = received?;
    let wrong = |j: &usize| {
        let choice = (x[j / 128].value() >> (j % 128)) as u8;
        t[*j].value() != (q[*j] ^ DELTA.masked(choice)).value()
    };
    Ok((0..count).filter(wrong).count())
}

/// Bytes that cross at set-up, from the sender and from the receiver.
fn set_up_bytes(security: Security) -> [u64; 2] {
    let params = Params::danger_tiny(security);
    let source = DealerCost;
    let flights = FerretCost { source, params }.set_up();
    let sent = flights.iter().map(|flight| flight.from_sender).sum();
    let received = flights.iter().map(|flight| flight.from_receiver).sum();
    [sent, received]
}

fn is_caught(result: &Result<usize, OtError>) -> bool {
    matches!(result, Err(OtError::CheckFailed(SENDER)))
}

#[test]
fn a_changed_message_of_a_tree_goes_unnoticed_without_the_check() {
    let [sent, _] = set_up_bytes(Security::SemiHonest);
    // Level 1 of a tree of the first iteration, and the last level of one of the second.
    for at in [KEYS, sent + 6 * 128 + 5] {
        let wrong = wrong_rows(Security::SemiHonest, RECEIVER, at);
        assert!(wrong.expect("no check") > 0, "byte {at}");
    }
}

#[test]
fn every_field_of_the_sender_is_checked() {
    let [sent, _] = set_up_bytes(Security::Malicious);
    let proof = sent - 32;
    // Keys; the first and the last level of a tree; the proof; the same in the second iteration.
    let set_up = [0, KEYS, proof - 1, proof, sent - 1];
    let later = [
        sent,
        sent + 6 * 128 + 5,
        sent + 2 * 7 * 128,
        sent + 2 * 7 * 128 + 31,
    ];
    for at in set_up.into_iter().chain(later) {
        let result = wrong_rows(Security::Malicious, RECEIVER, at);
        assert!(is_caught(&result), "byte {at}: {result:?}");
    }
}

#[test]
fn every_field_of_the_receiver_is_checked() {
    let [_, received] = set_up_bytes(Security::Malicious);
    // Keys; point and masked sum of the first iteration, and of the second.
    for at in [5, KEYS, KEYS + 15, KEYS + 16, received, received + 31] {
        let result = wrong_rows(Security::Malicious, SENDER, at);
        assert!(is_caught(&result), "byte {at}: {result:?}");
    }
}

#[test]
fn a_link_that_changes_nothing_gives_correct_rows() {
    for security in [Security::SemiHonest, Security::Malicious] {
        let wrong = wrong_rows(security, RECEIVER, u64::MAX);
        assert_eq!(wrong.expect("honest parties"), 0);
    }
}

#[test]
#[should_panic(expected = "bit 0 of the offset")]
fn an_offset_without_bit_0_is_refused() {
    struct Even;
    impl CotSender for Even {
        fn peer(&self) -> PartyId {
            RECEIVER
        }
        fn delta(&self) -> Block {
            Block::new(2)
        }
        fn extend(&mut self, _: &mut Mesh, _: &mut [Block]) -> Result<(), OtError> {
            unreachable!("the set-up refuses it before");
        }
    }
    let [mut mesh, _] = in_memory();
    let params = Params::danger_tiny(Security::SemiHonest);
    let mut coins = sealane_block::Coins::danger_fixed_seed(1);
    let cpu = Cpu::best();
    let _ = crate::ferret::FerretSender::set_up(
        cpu, &mut mesh, RECEIVER, params, &mut Even, &mut coins,
    );
}
