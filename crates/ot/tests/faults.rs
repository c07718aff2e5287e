//! Messages that are altered, cut short or never come: each ends in the error that says which it
//! was. The messages are those of an honest run with the same coins, of which one byte differs.

use crate::common::*;
use sealane_block::{Block, Cpu};
use sealane_net::Mesh;
use sealane_ot::traits::{CotReceiver, CotSender, packed_blocks};
use sealane_ot::{OtError, Result, Security, SoftSpoken};
use sealane_parties::PartyId;

const COUNT: usize = 300;
const PARAMETERS: SoftSpoken = SoftSpoken::new(4, Security::Malicious);

fn send(mesh: &mut Mesh) -> Result<Vec<Block>> {
    let mut cot = set_up_sender(PARAMETERS, Cpu::best(), mesh, RECEIVER, 1, DELTA)?;
    let mut q = vec![Block::ONES; COUNT];
    match cot.extend(mesh, &mut q) {
        Ok(()) => Ok(q),
        Err(error) => {
            // Nothing is left of what the offset is in.
            assert!(q.iter().all(|q| q.value() == 0));
            let offset = std::panic::AssertUnwindSafe(|| cot.delta());
            assert!(std::panic::catch_unwind(offset).is_err());
            let again = cot.extend(mesh, &mut q);
            assert!(matches!(again, Err(OtError::Ended)));
            Err(error)
        }
    }
}

fn receive(mesh: &mut Mesh) -> Result<Vec<Block>> {
    let mut cot = set_up_receiver(PARAMETERS, Cpu::best(), mesh, SENDER, 2)?;
    let mut choices = vec![Block::ZERO; packed_blocks(COUNT)];
    let mut t = vec![Block::ZERO; COUNT];
    cot.extend(mesh, &mut choices, &mut t)?;
    mesh.flush()?;
    Ok(t)
}

/// The places where fields of what a party hears begin, of these lengths, and the end of the last.
fn fields(lengths: &[usize]) -> Vec<usize> {
    let mut at = 0;
    let begins = lengths.iter().map(|length| {
        at += length;
        at - length
    });
    let mut fields: Vec<usize> = begins.collect();
    fields.push(at);
    fields
}

/// Fields that the sender hears: a point; of each of 32 trees three pairs of sums and the two parts
/// of its check; a digest; the corrections of 31 trees, each three blocks and the hidden one; a
/// digest; the answer, `R(x)` and a hash.
fn fields_of_receiver() -> Vec<usize> {
    let tree = [32; 2 * 3 + 2];
    let corrections = [16 * (COUNT.div_ceil(128) + 1); 31];
    let lengths = [
        &[32][..],
        &tree.repeat(32),
        &[32],
        &corrections,
        &[32],
        &[16, 32],
    ];
    fields(&lengths.concat())
}

/// Fields that the receiver hears: two points of each of 128 base OTs, and a digest.
fn fields_of_sender() -> Vec<usize> {
    fields(&[32; 2 * 128 + 1])
}

/// A byte of each field, at another place of each.
fn samples(fields: &[usize]) -> impl Iterator<Item = usize> {
    let of_field = |(number, field): (usize, &[usize])| {
        let [begin, end] = [field[0], field[1]];
        begin + 5 * number % (end - begin)
    };
    fields.windows(2).enumerate().map(of_field)
}

/// Runs one party against a peer that says these bytes, and leaves if they are too few.
fn against(
    party: impl FnOnce(&mut Mesh) -> Result<Vec<Block>>,
    me: PartyId,
    bytes: &[u8],
    leaves: bool,
) -> OtError {
    let mut meshes = Mesh::in_memory(2);
    let mut mine = meshes.remove(me.index());
    let mut peers = meshes.remove(0);
    peers.send(me, bytes).expect("memory");
    peers.flush().expect("memory");
    let stays = (!leaves).then_some(peers);
    let error = party(&mut mine).err().expect("the peer is not honest");
    drop(stays);
    error
}

#[test]
fn a_changed_byte_is_reported_apart_from_a_failed_check() {
    let [heard_by_sender, heard_by_receiver] = heard(send, receive);
    let answer = heard_by_sender.len() - 48;
    let fields = fields_of_receiver();
    assert_eq!(fields.last(), Some(&heard_by_sender.len()));
    for at in samples(&fields) {
        let mut bytes = heard_by_sender.clone();
        bytes[at] ^= 2;
        let error = against(send, SENDER, &bytes, false);
        let reported = match error {
            OtError::Altered(RECEIVER) => at < answer,
            // Most changes of a point give no point, which is noticed first.
            OtError::BadPoint(RECEIVER) => at < 32,
            OtError::CheckFailed(RECEIVER) => at >= answer,
            _ => false,
        };
        assert!(reported, "byte {at}: {error}");
    }
    for at in answer..heard_by_sender.len() {
        let mut bytes = heard_by_sender.clone();
        bytes[at] ^= 0x80;
        let error = against(send, SENDER, &bytes, false);
        assert!(matches!(error, OtError::CheckFailed(RECEIVER)), "{error}");
    }
    let fields = fields_of_sender();
    assert_eq!(fields.last(), Some(&heard_by_receiver.len()));
    for at in samples(&fields) {
        let mut bytes = heard_by_receiver.clone();
        bytes[at] ^= 2;
        let error = against(receive, RECEIVER, &bytes, false);
        let noticed = matches!(error, OtError::Altered(SENDER));
        assert!(noticed, "byte {at}: {error}");
    }
}

#[test]
fn what_is_no_point_is_the_peers_fault() {
    let [heard_by_sender, _] = heard(send, receive);
    // 2^255 - 1, which is not reduced; the identity; a negative field element.
    let mut not_reduced = [0xff; 32];
    not_reduced[31] = 0x7f;
    for point in [not_reduced, [0; 32], [1; 32]] {
        let bytes = [&point, &heard_by_sender[32..]].concat();
        let error = against(send, SENDER, &bytes, false);
        assert!(matches!(error, OtError::BadPoint(RECEIVER)), "{error}");
        assert_eq!(
            error.to_string(),
            "party 1 sent a malformed curve point in the set-up of oblivious transfers; see that \
             both parties run the same version, and that nothing alters what passes between them"
        );
    }
}

#[test]
fn a_message_cut_short_or_a_peer_that_left_is_a_network_error() {
    let [heard_by_sender, heard_by_receiver] = heard(send, receive);
    let cut = |heard: &[u8]| [0, 31, 32, 4000, heard.len() - 1];
    for bytes in cut(&heard_by_sender) {
        let error = against(send, SENDER, &heard_by_sender[..bytes], true);
        assert!(matches!(error, OtError::Net(_)), "{bytes}: {error}");
    }
    for bytes in cut(&heard_by_receiver) {
        let error = against(receive, RECEIVER, &heard_by_receiver[..bytes], true);
        assert!(matches!(error, OtError::Net(_)), "{bytes}: {error}");
    }
}

#[test]
#[should_panic(expected = "a block of choices for 128 OTs")]
fn choices_and_labels_of_different_lengths_are_our_own_mistake() {
    pair(
        |mesh| set_up_sender(PARAMETERS, Cpu::best(), mesh, RECEIVER, 1, DELTA).map(drop),
        |mesh| {
            let mut cot = set_up_receiver(PARAMETERS, Cpu::best(), mesh, SENDER, 2)?;
            cot.extend(mesh, &mut [Block::ZERO], &mut [Block::ZERO; 129])
        },
    );
}
