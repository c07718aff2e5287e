//! A peer that sends garbage, half a message or nothing, and our own misuse: each ends in the
//! error that says which it was.

use crate::common::{DELTA, RECEIVER, SENDER, best_cpu, pair, set_up_receiver, set_up_sender};
use sealane_block::Block;
use sealane_net::{Mesh, NetError};
use sealane_ot::{OtError, SETUP_REPLY_BYTES, extend_bytes};
use sealane_parties::PartyId;

#[test]
fn an_opening_that_is_no_point_is_the_receivers_fault() {
    // 2^255 - 1, which is not reduced; the identity; a negative field element.
    let mut not_reduced = [0xff; 32];
    not_reduced[31] = 0x7f;
    for opening in [not_reduced, [0; 32], [1; 32]] {
        let result = against_receiver(|mesh| {
            mesh.send(SENDER, &opening)?;
            mesh.flush()
        });
        assert!(
            matches!(result, Err(OtError::BadPoint(RECEIVER))),
            "{}",
            text(&result)
        );
        assert_eq!(
            text(&result),
            "party 1 sent a malformed curve point in the set-up of oblivious transfers; see that both \
             parties run the same version, and that nothing alters what passes between them"
        );
    }
}

#[test]
fn one_reply_in_128_that_is_no_point_is_the_senders_fault() {
    for index in [0, 64, 127] {
        let result = against_sender(|mesh| {
            // An honest reply to this opening with one point overwritten.
            let mut opening = [0; 32];
            mesh.recv(RECEIVER, &mut opening)?;
            let mut reply = honest_reply(&opening);
            reply[32 * index..][..32].fill(0);
            mesh.send(RECEIVER, &reply)?;
            mesh.flush()
        });
        assert!(
            matches!(result, Err(OtError::BadPoint(SENDER))),
            "{}",
            text(&result)
        );
    }
}

/// The reply of an honest sender to `opening`.
fn honest_reply(opening: &[u8; 32]) -> Vec<u8> {
    let (_, reply) = pair(
        |mut mesh| {
            set_up_sender(best_cpu(), &mut mesh, RECEIVER, 1, DELTA)?;
            Ok(())
        },
        |mut mesh| {
            mesh.send(SENDER, opening)?;
            mesh.flush()?;
            let mut reply = vec![0; SETUP_REPLY_BYTES as usize];
            mesh.recv(SENDER, &mut reply)?;
            Ok(reply)
        },
    );
    reply
}

#[test]
fn a_message_cut_short_or_a_peer_that_left_is_a_network_error_that_names_it() {
    // The receiver leaves before the opening, in the middle of it, before an extension, and in the
    // middle of one.
    for bytes in [0, 31] {
        let result = against_receiver(|mesh| {
            mesh.send(SENDER, &vec![7; bytes])?;
            mesh.flush()
        });
        assert_gone(result, RECEIVER);
    }
    for bytes in [0, extend_bytes(1000) as usize - 1] {
        let result = against_receiver(|mesh| {
            set_up_receiver(best_cpu(), mesh, 2).map_err(net_fault)?;
            mesh.send(SENDER, &vec![7; bytes])?;
            mesh.flush()
        });
        assert_gone(result, RECEIVER);
    }
    // The sender leaves before its reply, and in the middle of it.
    for bytes in [0, SETUP_REPLY_BYTES as usize - 1] {
        let result = against_sender(|mesh| {
            mesh.recv(RECEIVER, &mut [0; 32])?;
            mesh.send(RECEIVER, &vec![7; bytes])?;
            mesh.flush()
        });
        assert_gone(result, SENDER);
    }
}

#[test]
#[should_panic(expected = "one label for each choice")]
fn choices_and_labels_of_different_lengths_are_our_own_mistake() {
    pair(
        |mut mesh| set_up_sender(best_cpu(), &mut mesh, RECEIVER, 1, DELTA).map(drop),
        |mut mesh| {
            let mut cot = set_up_receiver(best_cpu(), &mut mesh, 2)?;
            cot.extend(&mut mesh, &[0, 1], &mut [Block::ZERO])
        },
    );
}

/// Runs an honest sender, set-up and 1000 OTs, against a receiver that does `attack` and leaves.
fn against_receiver(
    attack: impl FnOnce(&mut Mesh) -> Result<(), NetError> + Send,
) -> Result<(), OtError> {
    let (result, ()) = pair(
        |mut mesh| {
            let extended = set_up_sender(best_cpu(), &mut mesh, RECEIVER, 1, DELTA)
                .and_then(|mut cot| cot.extend(&mut mesh, &mut [Block::ZERO; 1000]));
            Ok(extended)
        },
        |mut mesh| Ok(attack(&mut mesh)?),
    );
    result
}

/// Runs the set-up of an honest receiver against a sender that does `attack` and leaves.
fn against_sender(
    attack: impl FnOnce(&mut Mesh) -> Result<(), NetError> + Send,
) -> Result<(), OtError> {
    let ((), result) = pair(
        |mut mesh| Ok(attack(&mut mesh)?),
        |mut mesh| Ok(set_up_receiver(best_cpu(), &mut mesh, 2).map(drop)),
    );
    result
}

fn assert_gone(result: Result<(), OtError>, peer: PartyId) {
    match result {
        Err(OtError::Net(NetError::Vanished { party })) => assert_eq!(party, peer),
        other => panic!("expected that {peer:?} is gone, got {}", text(&other)),
    }
}

fn net_fault(error: OtError) -> NetError {
    match error {
        OtError::Net(error) => error,
        other => panic!("{other}"),
    }
}

fn text(result: &Result<(), OtError>) -> String {
    result
        .as_ref()
        .err()
        .map_or("no error".into(), ToString::to_string)
}
