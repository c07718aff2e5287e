//! Base oblivious transfer: 128 random OTs from one Diffie-Hellman exchange each.
//!
//! The protocol is from Chou and Orlandi, "The Simplest Protocol for Oblivious Transfer"
//! (LATINCRYPT 2015, Figure 1; its steps setup, choose and key derivation are numbered below), in
//! the prime-order group ristretto255 (RFC 9496), where no cofactor is left to clear. One secret
//! `a` of the sender serves all 128 OTs of a run and no other run.
//!
//! ```text
//! sender                                      receiver, choices c_0 .. c_127
//! a random, A = aG         --- A --->         refuses an A that is no point, or the identity
//!                          <-- B_i --         b_i random, B_i = b_i G + c_i A
//! k_i^0 = H(i, a B_i)                         k_i = H(i, b_i A), which is k_i^{c_i}
//! k_i^1 = H(i, a B_i - a A)
//! ```
//!
//! `H` is BLAKE3 in its key derivation mode, over a hash of the session's identifier, both parties'
//! indices and the whole transcript, the index, both points and the shared point. A key has 256
//! bits: it is the seed of a generator.
//!
//! **Security.** Semi-honest, under the computational Diffie-Hellman assumption, with `H` a random
//! oracle. `B_i` is uniform whatever `c_i` is, so the choices are hidden without any assumption.
//!
//! **Active attacks.** The protocol is not UC secure against active corruption, although its paper
//! first claimed it: a corrupt receiver may put off its queries to `H`, so its choices cannot be
//! extracted when it sends `B_i` (Genç, Iovino and Rial, ePrint 2017/370), and keys are not forced
//! to be uniform: the party that picks its points last can bias its own (Masny and Rindal, "Endemic
//! Oblivious Transfer", CCS 2019). There is no proof that the receiver used the choices it should
//! have. No party is authenticated here; the channel does that.

use curve25519_dalek::{
    constants::RISTRETTO_BASEPOINT_TABLE,
    ristretto::{CompressedRistretto, RistrettoBasepointTable, RistrettoPoint},
    scalar::Scalar,
    traits::{Identity, IsIdentity},
};
use sealane_block::{Block, Coins, SecretStream, Seed};
use sealane_net::SessionId;
use sealane_parties::PartyId;
use subtle::{Choice, ConditionallySelectable};
use zeroize::Zeroizing;

/// Number of OTs in a run: one for each bit of the receiver's block of choices.
pub(crate) const OTS: usize = 128;
/// Bytes of an encoded point.
pub(crate) const POINT_BYTES: usize = 32;
/// Bytes of the receiver's one message.
pub(crate) const REPLY_BYTES: usize = OTS * POINT_BYTES;

/// Labels of the coins' streams.
const SENDER: &str = "ot: scalar of the sender";
const RECEIVER: &str = "ot: scalars of the receiver";

/// Error: the bytes are no canonical encoding of a point, or they encode the identity.
#[derive(Debug)]
pub(crate) struct MalformedPoint;

/// The session and the parties of an OT. They go into every key, so that keys of another session,
/// of another pair, or of this pair with its roles exchanged, are unrelated.
#[derive(Clone, Copy)]
pub(crate) struct Roles {
    /// The session, to which both have contributed.
    pub(crate) session: SessionId,
    /// The party that ends with both keys of each OT.
    pub(crate) sender: PartyId,
    /// The party that ends with the key of its choice.
    pub(crate) receiver: PartyId,
}

/// The sender between its opening message and the reply.
pub(crate) struct Sender {
    roles: Roles,
    secret: Zeroizing<Scalar>,
    opening: Encoded,
}

impl Sender {
    /// Runs step 1, setup: picks the secret of this run. The message to send is
    /// [`Sender::opening`].
    pub(crate) fn new(roles: Roles, coins: &mut Coins) -> Sender {
        let secret = random_scalar(&mut coins.secret(SENDER));
        let opening = encode(&(RISTRETTO_BASEPOINT_TABLE * &*secret));
        Sender {
            roles,
            secret,
            opening,
        }
    }

    /// Returns the opening message.
    pub(crate) fn opening(&self) -> &Encoded {
        &self.opening
    }

    /// Runs step 3, key derivation: both keys of each OT, from the receiver's reply.
    pub(crate) fn keys(self, reply: &[u8; REPLY_BYTES]) -> Result<Vec<[Seed; 2]>, MalformedPoint> {
        let derivation = KeyDerivation::new(self.roles, &self.opening, reply);
        // a A: the difference of the points behind the two keys of an OT.
        let between = Zeroizing::new(*self.secret * (RISTRETTO_BASEPOINT_TABLE * &*self.secret));
        let mut keys = Vec::with_capacity(OTS);
        for (index, encoded) in points(reply).enumerate() {
            let first = Zeroizing::new(*self.secret * decode(encoded)?);
            let second = Zeroizing::new(*first - *between);
            keys.push([
                derivation.key(index, encoded, &first),
                derivation.key(index, encoded, &second),
            ]);
        }
        Ok(keys)
    }
}

/// The receiver's output.
pub(crate) struct Received {
    /// The message for the sender.
    pub(crate) reply: [u8; REPLY_BYTES],
    /// Key of OT `i` for bit `i` of the choices.
    pub(crate) keys: Vec<Seed>,
}

/// Runs the receiver's whole part: steps 2 and 3 of the paper, for the bits of `choices`.
pub(crate) fn receive(
    roles: Roles,
    opening: &Encoded,
    choices: Block,
    coins: &mut Coins,
) -> Result<Received, MalformedPoint> {
    let opening_point = decode(opening)?;
    let mut reply = [0; REPLY_BYTES];
    let mut secrets = Zeroizing::new(Vec::with_capacity(OTS));
    let mut stream = coins.secret(RECEIVER);
    // Step 2, choose. Both addends are computed for either choice.
    for (index, encoded) in points_mut(&mut reply).enumerate() {
        let secret = random_scalar(&mut stream);
        let choice = Choice::from((choices.value() >> index) as u8 & 1);
        let shift = Zeroizing::new(RistrettoPoint::conditional_select(
            &RistrettoPoint::identity(),
            &opening_point,
            choice,
        ));
        *encoded = encode(&(RISTRETTO_BASEPOINT_TABLE * &*secret + *shift));
        secrets.push(*secret);
    }
    // Step 3, key derivation. A table of multiples of A pays off from a few products on.
    let derivation = KeyDerivation::new(roles, opening, &reply);
    let multiples = RistrettoBasepointTable::create(&opening_point);
    let mut keys = Vec::with_capacity(OTS);
    for ((index, encoded), secret) in points(&reply).enumerate().zip(secrets.iter()) {
        let shared = Zeroizing::new(&multiples * secret);
        keys.push(derivation.key(index, encoded, &shared));
    }
    Ok(Received { reply, keys })
}

/// An encoded point, as it is sent.
pub(crate) type Encoded = [u8; POINT_BYTES];

fn encode(point: &RistrettoPoint) -> Encoded {
    point.compress().to_bytes()
}

/// Decodes a point from 32 bytes of a peer. The identity is refused: with it as opening, both keys
/// of every OT would be publicly known, and an honest party sends it with probability 2^-252.
fn decode(encoded: &Encoded) -> Result<RistrettoPoint, MalformedPoint> {
    match CompressedRistretto(*encoded).decompress() {
        Some(point) if !point.is_identity() => Ok(point),
        _ => Err(MalformedPoint),
    }
}

fn points(reply: &[u8; REPLY_BYTES]) -> impl Iterator<Item = &Encoded> {
    reply.as_chunks().0.iter()
}

fn points_mut(reply: &mut [u8; REPLY_BYTES]) -> impl Iterator<Item = &mut Encoded> {
    reply.as_chunks_mut().0.iter_mut()
}

/// Draws a uniform scalar: 512 random bits reduced, so that the bias is below 2^-250.
fn random_scalar(stream: &mut SecretStream) -> Zeroizing<Scalar> {
    let mut wide = Zeroizing::new([0; 64]);
    stream.fill_bytes(&mut wide[..]);
    Zeroizing::new(Scalar::from_bytes_mod_order_wide(&wide))
}

/// The random oracle `H` of one run.
struct KeyDerivation {
    opening: Encoded,
    transcript: [u8; 32],
}

impl KeyDerivation {
    /// Binds session, roles and every byte that was sent. A message that differs between the two
    /// parties makes all their keys differ, not only the keys of one OT.
    fn new(roles: Roles, opening: &Encoded, reply: &[u8; REPLY_BYTES]) -> KeyDerivation {
        let transcript = blake3::Hasher::new_derive_key("sealane 3 ot base transcript")
            .update(roles.session.as_bytes())
            .update(&[roles.sender.0, roles.receiver.0])
            .update(opening)
            .update(reply)
            .finalize();
        KeyDerivation {
            opening: *opening,
            transcript: *transcript.as_bytes(),
        }
    }

    /// Derives the key of OT `index`. All fields are of fixed length, so the encoding is injective.
    fn key(&self, index: usize, reply: &Encoded, shared: &RistrettoPoint) -> Seed {
        let shared = Zeroizing::new(encode(shared));
        let mut hasher = Zeroizing::new(blake3::Hasher::new_derive_key("sealane 3 ot base key"));
        hasher
            .update(&self.transcript)
            .update(&(index as u64).to_le_bytes())
            .update(&self.opening)
            .update(reply)
            .update(&shared[..]);
        let mut bytes = Zeroizing::new([0; Seed::BYTES]);
        Zeroizing::new(hasher.finalize_xof()).fill(&mut bytes[..]);
        Seed::from_bytes(&bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ours() -> Roles {
        Roles {
            session: SessionId::new(&[9; 32], &[[8; 32], [7; 32]]),
            sender: PartyId(4),
            receiver: PartyId(1),
        }
    }

    const CHOICES: Block = Block::new(0xfedc_ba98_7654_3210_0f1e_2d3c_4b5a_6978);

    /// Byte strings that RFC 9496, appendix A.2, lists as no encoding of a point, some of each
    /// kind.
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

    fn coins(seed: u64) -> Coins {
        Coins::danger_fixed_seed(seed)
    }

    fn bytes_of(hex: &str) -> Encoded {
        let mut bytes = Encoded::default();
        hex::decode_to_slice(hex, &mut bytes).expect("hex digits");
        bytes
    }

    /// `H`, written as one call over joined bytes.
    fn reference_key(
        opening: &Encoded,
        reply: &[u8],
        index: usize,
        shared: RistrettoPoint,
    ) -> [u8; 32] {
        let session = ours().session;
        let whole = [&session.as_bytes()[..], &[4, 1], opening, reply].concat();
        let transcript = blake3::derive_key("sealane 3 ot base transcript", &whole);
        let this_reply = &reply[32 * index..][..32];
        let index = (index as u64).to_le_bytes();
        let shared = shared.compress().to_bytes();
        let material = [&transcript[..], &index, opening, this_reply, &shared].concat();
        blake3::derive_key("sealane 3 ot base key", &material)
    }

    #[test]
    fn the_receiver_gets_the_key_of_its_choice_and_the_definition_agrees() {
        let sender = Sender::new(ours(), &mut coins(1));
        let opening = *sender.opening();
        let secret = *random_scalar(&mut coins(1).secret(SENDER));
        let received = receive(ours(), &opening, CHOICES, &mut coins(2)).expect("a valid opening");
        let pairs = sender.keys(&received.reply).expect("a valid reply");
        assert_eq!((pairs.len(), received.keys.len()), (OTS, OTS));
        for (index, (pair, key)) in pairs.iter().zip(received.keys.iter()).enumerate() {
            let choice = (CHOICES.value() >> index & 1) as usize;
            assert!(
                pair[choice].as_bytes() == key.as_bytes(),
                "key of OT {index}"
            );
            assert!(
                pair[1 - choice].as_bytes() != key.as_bytes(),
                "other key of OT {index}"
            );

            let encoded: Encoded = received.reply[32 * index..][..32]
                .try_into()
                .expect("32 bytes");
            let point = decode(&encoded).expect("a point");
            let shared = [
                secret * point,
                secret * (point - decode(&opening).expect("a point")),
            ];
            for (key, shared) in pair.iter().zip(shared) {
                let expected = reference_key(&opening, &received.reply, index, shared);
                assert!(
                    *key.as_bytes() == expected,
                    "keys of OT {index} by their definition"
                );
            }
        }
    }

    #[test]
    fn one_changed_byte_of_session_roles_or_reply_changes_every_key() {
        let keys = |roles, flip: bool| {
            let sender = Sender::new(ours(), &mut coins(1));
            let mut reply = *receive(ours(), sender.opening(), CHOICES, &mut coins(2))
                .map(|received| Box::new(received.reply))
                .expect("a valid opening");
            if flip {
                // Another valid point in the place of the last one.
                reply.copy_within(0..32, REPLY_BYTES - 32);
            }
            let keys = Sender { roles, ..sender }
                .keys(&reply)
                .expect("a valid reply");
            keys.iter()
                .flatten()
                .map(|key| *key.as_bytes())
                .collect::<Vec<_>>()
        };
        let exchanged = Roles {
            sender: ours().receiver,
            receiver: ours().sender,
            ..ours()
        };
        let honest = keys(ours(), false);
        assert_eq!(honest, keys(ours(), false));
        let session = SessionId::new(&[1; 32], &[[2; 32]]);
        let elsewhere = Roles { session, ..ours() };
        let others = [
            keys(exchanged, false),
            keys(elsewhere, false),
            keys(ours(), true),
        ];
        for other in others {
            assert!(honest.iter().zip(&other).all(|(a, b)| a != b));
        }
    }

    #[test]
    fn encodings_that_rfc_9496_rejects_and_the_identity_are_refused() {
        let sender = || Sender::new(ours(), &mut coins(1));
        let good = receive(ours(), sender().opening(), CHOICES, &mut coins(2))
            .expect("valid")
            .reply;
        let identity = [0; 32];
        for bad in BAD_ENCODINGS.map(bytes_of).into_iter().chain([identity]) {
            assert!(
                receive(ours(), &bad, CHOICES, &mut coins(2)).is_err(),
                "opening {bad:?}"
            );
            for index in [0, 77, OTS - 1] {
                let mut reply = good;
                reply[32 * index..][..32].copy_from_slice(&bad);
                assert!(sender().keys(&reply).is_err(), "reply {bad:?} at {index}");
            }
        }
    }
}
