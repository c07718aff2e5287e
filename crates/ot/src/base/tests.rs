//! Tests of the base OTs against their definition, written a second time, and against peers that
//! send other points than they should.

use super::*;
use std::convert::Infallible;

/// Byte strings that RFC 9496, appendix A.2, lists as no encoding of a point, some of each kind.
const BAD_ENCODINGS: [&str; 8] = [
    // Field elements that are not reduced.
    "00ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
    "f3ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    // Negative field elements.
    "0100000000000000000000000000000000000000000000000000000000000000",
    "ed57ffd8c914fb201471d1c3d245ce3c746fcbe63a3679d51b6a516ebebe0e20",
    // x^2 is no square.
    "26948d35ca62e643e26a83177332e6b6afeb9d08e4268b650f1f5bbd8d81d371",
    // x * y is negative.
    "3eb858e78f5a7254d8c9731174a94f76755fd3941c0ac93735c07ba14579630e",
    // s = -1, which makes y zero.
    "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
];

const CHOICES: Block = Block::new(0xfedc_ba98_7654_3210_0f1e_2d3c_4b5a_6978);
const ONES: Block = Block::new(u128::MAX);

fn ours() -> Roles {
    let session = SessionId::new(&[9; 32], &[[8; 32], [7; 32]]);
    Roles::new(session, PartyId(4), PartyId(1))
}

fn exchanged() -> Roles {
    Roles::new(ours().session, ours().receiver, ours().sender)
}

fn elsewhere() -> Roles {
    Roles {
        session: SessionId::new(&[1; 32], &[[2; 32]]),
        ..ours()
    }
}

/// OTs of a run.
const OTS: usize = 128;

fn coins(seed: u64) -> Coins {
    Coins::danger_fixed_seed(seed)
}

fn sender(roles: Roles) -> BaseSender {
    BaseSender::new(roles, OTS, &mut coins(1))
}

fn receiver(roles: Roles, choices: Block) -> BaseReceiver {
    let mut pieces = Vec::new();
    let receiver = BaseReceiver::new(roles, &[choices], OTS, &mut coins(2), |piece| {
        pieces.push(piece.to_vec());
        Ok::<(), Infallible>(())
    });
    let Ok(receiver) = receiver;
    assert!(pieces.iter().all(|piece| piece.len() == PIECE_BYTES));
    assert_eq!(pieces.concat(), *receiver.message);
    receiver
}

impl BaseReceiver {
    fn message(&self) -> &[u8] {
        &self.message
    }
}

/// The keys of a sender that takes the message in two pieces.
fn keys_of(mut sender: BaseSender, message: &[u8]) -> Result<Vec<[Seed; 2]>, MalformedPoint> {
    let (first, rest) = message.split_at(receiver_bytes(5));
    sender.take(first);
    sender.take(rest);
    sender.keys()
}

fn sender_keys(roles: Roles, message: &[u8]) -> Vec<[[u8; 32]; 2]> {
    let keys = keys_of(sender(roles), message).expect("points");
    keys.iter()
        .map(|pair| pair.each_ref().map(|key| *key.as_bytes()))
        .collect()
}

fn receiver_keys(receiver: BaseReceiver, message: &Encoded) -> Vec<[u8; 32]> {
    let keys = receiver.keys(message).expect("a point");
    keys.iter().map(|key| *key.as_bytes()).collect()
}

/// The fields of the session and the roles, as all hashes begin.
fn reference_roles(roles: Roles) -> Vec<u8> {
    [
        &roles.session.as_bytes()[..],
        &[roles.sender.0, roles.receiver.0],
    ]
    .concat()
}

/// The sum in the key numbered `choice` of `pair`, by its definition, with `index` for the index.
fn reference_sum(roles: Roles, index: u64, choice: usize, pair: &[Encoded; 2]) -> RistrettoPoint {
    let fields = [
        &reference_roles(roles)[..],
        &index.to_le_bytes(),
        &[choice as u8],
        &pair[1 - choice],
    ];
    let mut wide = [0; 64];
    blake3::Hasher::new_derive_key("sealane 6 ot base point")
        .update(&fields.concat())
        .finalize_xof()
        .fill(&mut wide);
    let point = CompressedRistretto(pair[choice]).decompress();
    point.expect("a point") + RistrettoPoint::from_uniform_bytes(&wide)
}

/// The key numbered `choice` with `index` for the index, by its definition.
fn reference_key(
    roles: Roles,
    messages: [&[u8]; 2],
    index: u64,
    choice: usize,
    shared: RistrettoPoint,
) -> [u8; 32] {
    let sent = [reference_roles(roles), messages.concat()].concat();
    let fields = [
        &blake3::derive_key("sealane 6 ot base transcript", &sent)[..],
        &index.to_le_bytes(),
        &[choice as u8],
        &shared.compress().to_bytes(),
    ];
    blake3::derive_key("sealane 6 ot base key", &fields.concat())
}

#[test]
fn the_receiver_gets_the_key_of_its_choice_alone_whatever_its_choices() {
    let mut random = coins(3).secret("choices");
    let patterns = [Block::ZERO, ONES, CHOICES, Block::new(1), random.block()];
    for choices in patterns {
        let receiver = receiver(ours(), choices);
        let pairs = sender_keys(ours(), receiver.message());
        let keys = receiver_keys(receiver, sender(ours()).message());
        assert_eq!((pairs.len(), keys.len()), (OTS, OTS));
        for (index, (pair, key)) in pairs.iter().zip(&keys).enumerate() {
            let choice = (choices.value() >> index & 1) as usize;
            assert!(pair[choice] == *key, "key of OT {index}");
            assert!(pair[1 - choice] != *key, "other key of OT {index}");
        }
        let mut all: Vec<_> = pairs.concat();
        all.sort();
        all.dedup();
        assert_eq!(all.len(), 2 * OTS, "all keys are different");
    }
}

#[test]
fn messages_and_keys_are_those_of_the_definition() {
    let (sender, receiver) = (sender(ours()), receiver(ours(), CHOICES));
    let (from_sender, from_receiver) = (*sender.message(), receiver.message().to_vec());
    let secret = *sender.secret;
    assert_eq!(RistrettoPoint::mul_base(&secret).compress().0, from_sender);
    let secrets = receiver.secrets.clone();
    for (index, keys) in sender_keys(ours(), &from_receiver).iter().enumerate() {
        let pair = pairs(&from_receiver)[index];
        let choice = (CHOICES.value() >> index & 1) as usize;
        for (number, key) in keys.iter().enumerate() {
            let sum = reference_sum(ours(), index as u64, number, &pair);
            // The receiver knows the logarithm of the sum of its choice.
            let known = sum == RistrettoPoint::mul_base(&secrets[index]);
            assert_eq!(known, number == choice, "sum {number} of OT {index}");
            let messages = [&from_sender[..], &from_receiver];
            let expected = reference_key(ours(), messages, index as u64, number, secret * sum);
            assert!(*key == expected, "key {number} of OT {index}");
        }
    }
}

#[test]
fn one_changed_byte_of_session_roles_or_messages_changes_every_key() {
    let honest_message = receiver(ours(), CHOICES).message().to_vec();
    let honest = sender_keys(ours(), &honest_message);
    assert_eq!(honest, sender_keys(ours(), &honest_message));
    // Another valid point in the place of the last one.
    let mut changed = honest_message.clone();
    changed.copy_within(0..POINT_BYTES, receiver_bytes(OTS) - POINT_BYTES);
    let others = [
        sender_keys(exchanged(), &honest_message),
        sender_keys(elsewhere(), &honest_message),
        sender_keys(ours(), &changed),
    ];
    for other in others {
        let (honest, other) = (honest.concat(), other.concat());
        assert!(honest.iter().zip(&other).all(|(a, b)| a != b));
    }

    let own = |roles, from_sender: &Encoded| {
        let made = receiver(ours(), CHOICES);
        // Its message stays, so that nothing but the key derivation changes.
        let other = BaseReceiver {
            roles,
            choices: made.choices,
            secrets: made.secrets.clone(),
            message: made.message,
        };
        receiver_keys(other, from_sender)
    };
    let point = *sender(ours()).message();
    let other_point = *BaseSender::new(ours(), OTS, &mut coins(5)).message();
    let honest = own(ours(), &point);
    let others = [
        own(exchanged(), &point),
        own(elsewhere(), &point),
        own(ours(), &other_point),
    ];
    for other in others {
        assert!(honest.iter().zip(&other).all(|(a, b)| a != b));
    }
    // A session or roles that differ change the points that a receiver sends, too.
    for roles in [exchanged(), elsewhere()] {
        let other = receiver(roles, CHOICES);
        for (index, (ours, theirs)) in pairs(&honest_message)
            .iter()
            .zip(pairs(other.message()))
            .enumerate()
        {
            let choice = bit(&[CHOICES], index) as usize;
            assert!(ours[choice] != theirs[choice]);
        }
    }
}

#[test]
fn both_points_look_alike_for_both_choices() {
    let [zeros, ones] =
        [Block::ZERO, ONES].map(|choices| receiver(ours(), choices).message().to_vec());
    for (zero, one) in pairs(&zeros).iter().zip(pairs(&ones)) {
        for (number, point) in zero.iter().enumerate() {
            assert!(decode(point).is_ok() && decode(&one[number]).is_ok());
            assert!(*point != one[number], "the same coins, another choice");
        }
    }
    // Of the 256 bits of an encoding, the first and the last are always 0. The others of 128 points
    // are 16256 expected ones with a standard deviation of 90; five of these are allowed.
    for message in [zeros, ones] {
        for number in 0..2 {
            let points = pairs(&message).iter().map(|pair| pair[number]);
            let count: u32 = points.flatten().map(|byte| byte.count_ones()).sum();
            assert!(count.abs_diff(16256) < 450, "{count} ones");
        }
    }
}

/// A receiver that sends the points of one OT again in another, or those of two OTs exchanged.
#[test]
fn without_the_index_equal_points_would_give_equal_keys() {
    let honest = receiver(ours(), CHOICES).message().to_vec();
    let (first, second) = (5, 99);
    let mut repeated = honest.clone();
    pairs_mut(&mut repeated)[second] = pairs(&honest)[first];
    let mut swapped = honest.clone();
    pairs_mut(&mut swapped).swap(first, second);

    // The definition with the same number for every index, and keys from the shared point alone.
    let secret = *sender(ours()).secret;
    let naive = |message: &[u8], index: usize| {
        [0, 1].map(|choice| {
            let sum = reference_sum(ours(), 0, choice, &pairs(message)[index]);
            blake3::derive_key("naive", &(secret * sum).compress().0)
        })
    };
    assert!(naive(&repeated, first) == naive(&repeated, second));
    assert!(naive(&swapped, first) == naive(&honest, second));

    let [honest, repeated, swapped] =
        [honest, repeated, swapped].map(|message| sender_keys(ours(), &message));
    for choice in 0..2 {
        assert!(repeated[first][choice] != repeated[second][choice]);
        assert!(swapped[first][choice] != honest[second][choice]);
        assert!(swapped[second][choice] != honest[first][choice]);
    }
    // Nor is a sum of one OT the same in another, where the points are.
    let pair = [
        *sender(ours()).message(),
        encode(&RistrettoPoint::mul_base(&secret.invert())),
    ];
    for choice in 0..2 {
        let sums = [first, second].map(|i| reference_sum(ours(), i as u64, choice, &pair));
        assert!(sums[0] != sums[1]);
    }
}

#[test]
fn encodings_that_rfc_9496_rejects_and_the_identity_are_refused() {
    let good = receiver(ours(), CHOICES).message().to_vec();
    let bad = BAD_ENCODINGS.map(|hex| {
        let mut bytes = Encoded::default();
        hex::decode_to_slice(hex, &mut bytes).expect("hex digits");
        bytes
    });
    let identity = [0; POINT_BYTES];
    for bad in bad.into_iter().chain([identity]) {
        let refused = receiver(ours(), CHOICES).keys(&bad).is_err();
        assert!(refused, "to the receiver: {bad:?}");
        for field in [0, 1, 155, 2 * OTS - 1] {
            let mut message = good.clone();
            message[POINT_BYTES * field..][..POINT_BYTES].copy_from_slice(&bad);
            let refused = keys_of(sender(ours()), &message).is_err();
            assert!(refused, "to the sender: {bad:?} at {field}");
        }
    }
    // Every field is decoded.
    for field in 0..2 * OTS {
        let mut message = good.clone();
        message[POINT_BYTES * field..][..POINT_BYTES].fill(0);
        assert!(keys_of(sender(ours()), &message).is_err(), "field {field}");
    }
}
