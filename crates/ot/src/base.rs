//! Base oblivious transfer: 128 random OTs or more, secure against active attacks, one message
//! each way.
//!
//! Endemic OT of Masny and Rindal ("Endemic Oblivious Transfer", CCS 2019), batched as McQuoid,
//! Rosulek and Roy say ("Batching Base Oblivious Transfers", ASIACRYPT 2021, cited by its sections
//! below: Figure 3 with the function of Section 5.3, Figure 6). The group is ristretto255 (RFC
//! 9496), of prime order, with generator `G`. One secret `b` of the sender serves all OTs of a
//! run and no other run.
//!
//! ```text
//! sender                                     receiver, choices c_0, c_1, ...
//! b random, B = bG                           a_i random
//!                                            r_i^{1-c} a random point             (c is c_i here)
//!                                            r_i^c = a_i G - P(i, c, r_i^{1-c})
//!                           --- B --->
//!                  <-- r_i^0, r_i^1 --
//! refuses what is no point, or the identity  refuses B likewise
//! k_i^x = K(i, x, b (r_i^x + P(i, x, r_i^{1-x})))     k_i^c = K(i, c, a_i B)
//! ```
//!
//! Neither message depends on the other, so both may be on their way at once (Theorem 11). That of
//! the receiver leaves in pieces, and only `K` waits for all of them. `P` is
//! a hash to a point and `K` one to a key of 256 bits, the seed of a generator. Both are BLAKE3 in
//! its key derivation mode, over the session's identifier, both parties' indices, the index of the
//! OT and the number of the choice; `K` takes besides them every byte that was sent.
//!
//! # Security
//! **UC security against a corrupt sender or receiver**, static corruption, for these endemic OTs
//! (Theorems 9 and 14; the functionality is in Figure 2), with `P` and `K` random oracles that a
//! simulator may program.
//!
//! * *Receiver.* Both points of an OT are uniform and independent whatever the choice is, so a
//!   sender learns nothing about choices, without any assumption. A simulator that programs `P`
//!   knows the logarithms of both sums, and so both keys of a corrupt sender.
//! * *Sender.* Each of the queries `P(i, 0, r^1)` and `P(i, 1, r^0)` names one of the points, so
//!   both are fixed when the later one is made, and it returns a point that is independent of
//!   them. The number in the earlier query is the choice of a corrupt receiver. The other key
//!   takes `b` times a point out of its control.
//!
//! **Assumption**: tagged oracle Diffie-Hellman (Definition 21) in ristretto255. With `K` a
//! random oracle it follows from strong Diffie-Hellman (Abdalla, Bellare and Rogaway, "The Oracle
//! Diffie-Hellman Assumptions and an Analysis of DHIES", CT-RSA 2001): from `B = bG` and `C`,
//! computing `bC` is hard even with an oracle that tells whether `Z = bX` for any `X` and `Z`.
//! Plain computational Diffie-Hellman is enough where the receiver follows the protocol. A
//! corrupt one picks points of which no reduction knows the logarithm, and it takes the oracle to
//! recognise its queries to `K`.
//!
//! **The index.** A corrupt receiver may send the same points in two OTs, or points with a known
//! difference. If the hashes did not take the index, keys of the two would be equal, which the
//! functionality does not allow, and from which an attack on an OT extension follows (Section 3).
//! With index and choice in `K`, all keys are independent; with them in `P`, the order of queries
//! is defined for each OT by itself. Session and roles in both keep runs apart in the same way.
//!
//! **Endemic** means that keys of honest parties are random, but a corrupt party may choose its
//! own: a sender both keys of each OT, a receiver the one that it gets. The other key of a
//! corrupt receiver is uniform and unknown to it. OT extension needs no more (Section 2.1; Masny
//! and Rindal). There the roles are exchanged. The party with both seeds of a column may know and
//! choose them: the offset, all that is kept from it, is not in them. The party with one seed of
//! a column, chosen or not, lacks the other, which masks the choices of its peer. So outputs of
//! an extension are endemic, too, and a consistency check has to be sound for seeds that its
//! prover chose.
//!
//! # What it does not give
//! * Uniform keys: a corrupt party may try many secrets, or wait for the other message, to bias
//!   its own.
//! * A proof that the choices are those which the receiver uses elsewhere.
//! * Authentication: the channel does that. A changed message makes keys differ, all 256 of them,
//!   and nothing here notices.
//! * Security against adaptive corruption, or against a quantum computer.
//!
//! # Secrets in time and memory
//! Choices select by masks, not by branches. Scalars, shared points and keys are erased. Points
//! are encoded one by one for that reason: encoding their doubles in a batch takes an eighth of
//! the time, but the library leaves coordinates of all points of a batch in memory that it frees.

use crate::traits::choice as bit;
use curve25519_dalek::{
    constants::RISTRETTO_BASEPOINT_TABLE,
    ristretto::{CompressedRistretto, RistrettoBasepointTable, RistrettoPoint},
    scalar::Scalar,
    traits::IsIdentity,
};
use sealane_block::{Block, Coins, SecretStream, Seed};
use sealane_net::SessionId;
use sealane_parties::PartyId;
use subtle::{Choice, ConditionallySelectable};
use zeroize::{ZeroizeOnDrop, Zeroizing};

/// Bytes of the sender's message, which is one point.
pub(crate) const SENDER_BYTES: usize = POINT_BYTES;
/// Bytes of the receiver's message for a number of OTs: two points each.
pub(crate) const fn receiver_bytes(ots: usize) -> usize {
    ots * 2 * POINT_BYTES
}

/// OTs of a piece of the receiver's message. The sender works on a piece while the receiver makes
/// the next one.
const PIECE: usize = 16;
/// Bytes of such a piece.
pub(crate) const PIECE_BYTES: usize = receiver_bytes(PIECE);

/// Bytes of an encoded point.
const POINT_BYTES: usize = 32;
/// Labels of the coins' streams.
const SENDER: &str = "ot: scalar of the sender";
const RECEIVER: &str = "ot: scalars and points of the receiver";
/// Contexts of the three hashes.
const TO_POINT: &str = "sealane 6 ot base point";
const TRANSCRIPT: &str = "sealane 6 ot base transcript";
const TO_KEY: &str = "sealane 6 ot base key";

/// An encoded point, as it is sent.
pub(crate) type Encoded = [u8; POINT_BYTES];

/// Error: the bytes are no canonical encoding of a point, or they encode the identity.
#[derive(Debug)]
pub(crate) struct MalformedPoint;

/// The session and the parties of an OT. They go into every hash, so that keys of another session,
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

/// The sender, whose message is ready and who lacks that of the receiver.
pub(crate) struct BaseSender {
    roles: Roles,
    secret: Zeroizing<Scalar>,
    message: [u8; SENDER_BYTES],
    /// Points that the receiver has sent so far, and the shared points of these OTs.
    from_receiver: Vec<u8>,
    shared: Zeroizing<Vec<[Encoded; 2]>>,
    malformed: bool,
}

impl BaseSender {
    /// Picks the secret of this run.
    pub(crate) fn new(roles: Roles, ots: usize, coins: &mut Coins) -> BaseSender {
        let secret = random_scalar(&mut coins.secret(SENDER));
        let message = encode(&(RISTRETTO_BASEPOINT_TABLE * &*secret));
        BaseSender {
            roles,
            secret,
            message,
            from_receiver: Vec::with_capacity(receiver_bytes(ots)),
            // A vector that grew would leave a copy behind.
            shared: Zeroizing::new(Vec::with_capacity(ots)),
            malformed: false,
        }
    }

    /// Returns the message for the receiver.
    pub(crate) fn message(&self) -> &[u8; SENDER_BYTES] {
        &self.message
    }

    /// Takes the next piece of the receiver's message: the points of some OTs.
    pub(crate) fn take(&mut self, piece: &[u8]) {
        self.from_receiver.extend_from_slice(piece);
        for pair in pairs(piece) {
            // What follows a malformed point is of no use; the caller may still compare digests.
            let (false, Ok(points)) = (self.malformed, decode_pair(pair)) else {
                self.malformed = true;
                return;
            };
            let index = self.shared.len();
            // A receiver that makes a sum the identity has chosen 0 as its logarithm, no more.
            let shared = |choice: usize| {
                let other = &pair[1 - choice];
                let mask = self.roles.hash_to_point(index, choice as u8, other);
                encode(&Zeroizing::new(*self.secret * (points[choice] + *mask)))
            };
            let both = Zeroizing::new([shared(0), shared(1)]);
            self.shared.push(*both);
        }
    }

    /// Derives both keys of each OT of the message that was taken.
    pub(crate) fn keys(self) -> Result<Vec<[Seed; 2]>, MalformedPoint> {
        if self.malformed {
            return Err(MalformedPoint);
        }
        let derivation = KeyDerivation::new(self.roles, &self.message, &self.from_receiver);
        let keys = self.shared.iter().enumerate().map(|(index, shared)| {
            [0, 1].map(|choice| derivation.key(index, choice as u8, &shared[choice]))
        });
        Ok(keys.collect())
    }
}

/// The receiver, whose message is ready and who lacks that of the sender.
pub(crate) struct BaseReceiver {
    roles: Roles,
    choices: Zeroizing<Vec<Block>>,
    secrets: Zeroizing<Vec<Scalar>>,
    message: Zeroizing<Vec<u8>>,
}

impl BaseReceiver {
    /// Picks the points of a run of `ots` OTs, for the bits of `choices`, 128 a block, and gives
    /// them to `send` in pieces.
    ///
    /// # Errors
    /// Those of `send`.
    pub(crate) fn new<E>(
        roles: Roles,
        choices: &[Block],
        ots: usize,
        coins: &mut Coins,
        mut send: impl FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<BaseReceiver, E> {
        let mut message = Zeroizing::new(vec![0; receiver_bytes(ots)]);
        let mut secrets = Zeroizing::new(Vec::with_capacity(ots));
        let mut stream = coins.secret(RECEIVER);
        for index in 0..ots {
            let secret = random_scalar(&mut stream);
            let mut wide = Zeroizing::new([0; 64]);
            stream.fill_bytes(&mut wide[..]);
            let choice = bit(choices, index);
            // The point of the other choice, then that of this one.
            let mut other = encode(&RistrettoPoint::from_uniform_bytes(&wide));
            let mask = roles.hash_to_point(index, choice, &other);
            let own = Zeroizing::new(RISTRETTO_BASEPOINT_TABLE * &*secret - *mask);
            let mut own = encode(&own);
            for (own, other) in own.iter_mut().zip(&mut other) {
                u8::conditional_swap(own, other, Choice::from(choice));
            }
            pairs_mut(&mut message)[index] = [own, other];
            secrets.push(*secret);
            let made = index + 1;
            if made.is_multiple_of(PIECE) || made == ots {
                let first = index - index % PIECE;
                send(&message[receiver_bytes(first)..receiver_bytes(made)])?;
            }
        }
        Ok(BaseReceiver {
            roles,
            choices: Zeroizing::new(choices.to_vec()),
            secrets,
            message,
        })
    }

    /// Derives the key of OT `i` for bit `i` of the choices, from the sender's message.
    pub(crate) fn keys(
        self,
        from_sender: &[u8; SENDER_BYTES],
    ) -> Result<Vec<Seed>, MalformedPoint> {
        // A table of multiples of B pays off from a few products on.
        let multiples = RistrettoBasepointTable::create(&decode(from_sender)?);
        let derivation = KeyDerivation::new(self.roles, from_sender, &self.message);
        let keys = self.secrets.iter().enumerate().map(|(index, secret)| {
            let shared = Zeroizing::new(&multiples * secret);
            let shared = Zeroizing::new(encode(&shared));
            derivation.key(index, bit(&self.choices, index), &shared)
        });
        Ok(keys.collect())
    }
}

/// The secrets erase themselves.
impl ZeroizeOnDrop for BaseSender {}

/// The secrets erase themselves.
impl ZeroizeOnDrop for BaseReceiver {}

impl Roles {
    pub(crate) fn new(session: SessionId, sender: PartyId, receiver: PartyId) -> Roles {
        Roles {
            session,
            sender,
            receiver,
        }
    }

    /// Derives `P(index, choice, other)`: 64 bytes, and from them a point as in RFC 9496, section
    /// 4.3.4. `other` is the point of the other choice in the same OT. All fields are of fixed
    /// length, so the encoding is injective.
    pub(crate) fn hash_to_point(
        &self,
        index: usize,
        choice: u8,
        other: &Encoded,
    ) -> Zeroizing<RistrettoPoint> {
        let mut hasher = Zeroizing::new(blake3::Hasher::new_derive_key(TO_POINT));
        hasher
            .update(self.session.as_bytes())
            .update(&[self.sender.0, self.receiver.0])
            .update(&(index as u64).to_le_bytes())
            .update(&[choice])
            .update(other);
        let mut wide = Zeroizing::new([0; 64]);
        Zeroizing::new(hasher.finalize_xof()).fill(&mut wide[..]);
        Zeroizing::new(RistrettoPoint::from_uniform_bytes(&wide))
    }
}

/// The random oracle `K` of one run.
pub(crate) struct KeyDerivation {
    pub(crate) transcript: [u8; 32],
}

impl KeyDerivation {
    /// Binds session, roles and every byte that was sent. A message that differs between the two
    /// parties makes all their keys differ, not only the keys of one OT.
    pub(crate) fn new(
        roles: Roles,
        from_sender: &[u8; SENDER_BYTES],
        from_receiver: &[u8],
    ) -> KeyDerivation {
        let transcript = blake3::Hasher::new_derive_key(TRANSCRIPT)
            .update(roles.session.as_bytes())
            .update(&[roles.sender.0, roles.receiver.0])
            .update(from_sender)
            .update(from_receiver)
            .finalize();
        let transcript = *transcript.as_bytes();
        KeyDerivation { transcript }
    }

    /// Derives key number `choice` of OT `index`. All fields are of fixed length, so the encoding
    /// is injective.
    pub(crate) fn key(&self, index: usize, choice: u8, shared: &Encoded) -> Seed {
        let mut hasher = Zeroizing::new(blake3::Hasher::new_derive_key(TO_KEY));
        hasher
            .update(&self.transcript)
            .update(&(index as u64).to_le_bytes())
            .update(&[choice])
            .update(&shared[..]);
        let mut bytes = Zeroizing::new([0; Seed::BYTES]);
        Zeroizing::new(hasher.finalize_xof()).fill(&mut bytes[..]);
        Seed::from_bytes(&bytes)
    }
}

pub(crate) fn encode(point: &RistrettoPoint) -> Encoded {
    point.compress().to_bytes()
}

/// Decodes a point from 32 bytes of a peer. The identity is refused: with it as `B`, all keys
/// would be publicly known, and an honest party sends it with probability 2^-252.
pub(crate) fn decode(encoded: &Encoded) -> Result<RistrettoPoint, MalformedPoint> {
    match CompressedRistretto(*encoded).decompress() {
        Some(point) if !point.is_identity() => Ok(point),
        _ => Err(MalformedPoint),
    }
}

fn decode_pair([one, other]: &[Encoded; 2]) -> Result<[RistrettoPoint; 2], MalformedPoint> {
    Ok([decode(one)?, decode(other)?])
}

/// Returns the two points of each OT, in the order of choices.
fn pairs(message: &[u8]) -> &[[Encoded; 2]] {
    message.as_chunks::<POINT_BYTES>().0.as_chunks().0
}

fn pairs_mut(message: &mut [u8]) -> &mut [[Encoded; 2]] {
    message.as_chunks_mut::<POINT_BYTES>().0.as_chunks_mut().0
}

/// Draws a uniform scalar: 512 random bits reduced, so that the bias is below 2^-250.
fn random_scalar(stream: &mut SecretStream) -> Zeroizing<Scalar> {
    let mut wide = Zeroizing::new([0; 64]);
    stream.fill_bytes(&mut wide[..]);
    Zeroizing::new(Scalar::from_bytes_mod_order_wide(&wide))
}

#[cfg(test)]
mod tests;
