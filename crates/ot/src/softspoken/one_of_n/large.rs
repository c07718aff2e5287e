//! Random OTs of one of up to `2^64` strings, from those of one of 256.
//!
//! Naor and Pinkas ("Oblivious Transfer and Polynomial Evaluation", STOC 1999, section 2): an index
//! of `d` bytes takes `d` OTs of one of 256 strings, one for each of its bytes. The key of an index
//! is a hash of the keys of all its bytes and of the index,
//!
//! ```text
//! key(I) = BLAKE3(j, I, K_0[byte 0 of I], .., K_{d-1}[byte d - 1 of I])
//! ```
//!
//! The sender computes the key of any index without the others. The receiver knows, by the choices
//! of the OTs, the keys of one index; every other differs in a byte, whose key it lacks.
//!
//! # Security
//! That of the OTs beneath: **with them secure against corrupt parties, so is this**. A corrupt
//! receiver's `d` choices are an index, whatever they are, so a simulator reads that off the OTs
//! and asks for its string; the key of any other index is the image, under a random oracle, of a
//! string with an unknown random block. A corrupt sender has keys of its own in each OT, which give
//! it a key for every index; it never learns a choice, and there is no message in which it could
//! deviate. Several receivers' queries need no fresh keys here, since every transfer has OTs of its
//! own.
//!
//! # In place of one long code
//! Orru, Orsini and Scholl ("Actively Secure 1-out-of-N OT Extension with Application to Private
//! Set Intersection", CT-RSA 2017) take one OT with a binary code of dimension `log N` and distance
//! 128 or more: `[511, 76, 171]` for any index of up to 76 bits, 64 bytes an OT and 511 base OTs,
//! or a code for each size. A byte of the index takes 5.4 bytes here, or 4.5 with `k = 8`, and one
//! more if the receiver gives it: 8 bytes take 51 or 44 bytes, 4 bytes half of that, and all sizes
//! have one set-up.

use crate::traits::{OneOfNKeys, OneOfNReceiver, OneOfNSender};
use crate::{Flights, Result};
use sealane_block::Block;
use sealane_net::Mesh;
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

use super::OneOfN;
use crate::Flight;
use crate::flights::then;

/// The most bytes of an index.
pub const MAX_BYTES: usize = 8;

/// Messages of `count` OTs of indices of `bytes` bytes.
///
/// # Panics
/// If `parameters` are not for 256 strings.
pub fn flights(parameters: OneOfN, bytes: usize, count: u64) -> Flights {
    assert_eq!(parameters.strings(), 256, "a string for each byte");
    let ots = bytes as u64 * count;
    let given = match parameters.given_bytes(ots) {
        0 => Flights::new(),
        bytes => vec![Flight::new(0, bytes)],
    };
    then(parameters.flights(ots), given)
}

/// The sender's keys: of any index of any OT.
pub struct LargeKeys<K> {
    keys: K,
    bytes: usize,
}

impl<K: OneOfNKeys> LargeKeys<K> {
    /// Makes `count` OTs of indices of `bytes` bytes.
    ///
    /// # Errors
    /// As [`OneOfNSender::extend`].
    ///
    /// # Panics
    /// If `sender` is not one of 256 strings, or `bytes` is 0 or over [`MAX_BYTES`].
    pub fn send<S: OneOfNSender<Keys = K>>(
        sender: &mut S,
        mesh: &mut Mesh,
        bytes: usize,
        count: usize,
    ) -> Result<LargeKeys<K>> {
        check(sender.strings(), bytes);
        let keys = sender.extend_given(mesh, bytes * count)?;
        Ok(LargeKeys { keys, bytes })
    }

    /// Number of OTs.
    pub fn count(&self) -> usize {
        self.keys.count() / self.bytes
    }

    /// Returns the key of a string of OT `j`.
    ///
    /// # Panics
    /// If there is no such OT, or the index has more bytes than the OTs.
    pub fn key(&self, j: usize, index: u64) -> Zeroizing<Block> {
        let digits = index.to_le_bytes();
        let fits = digits[self.bytes..].iter().all(|&digit| digit == 0);
        assert!(fits, "an index of the OTs");
        let mut places = [(0, 0); MAX_BYTES];
        for (d, place) in places.iter_mut().enumerate() {
            *place = (j * self.bytes + d, digits[d]);
        }
        let mut keys = Zeroizing::new([Block::ZERO; MAX_BYTES]);
        let keys = &mut keys[..self.bytes];
        self.keys.fill(&places[..self.bytes], keys);
        combine(j, index, keys)
    }
}

/// Receives the keys of the strings with these numbers, as the receiver. Writes one message, not
/// flushed, and reads none.
///
/// # Errors
/// As [`OneOfNReceiver::extend`].
///
/// # Panics
/// If `receiver` is not one of 256 strings, `bytes` is 0 or over [`MAX_BYTES`], or there is not a
/// key for each index. An index of more bytes counts without the upper ones.
pub fn receive<R: OneOfNReceiver>(
    receiver: &mut R,
    mesh: &mut Mesh,
    bytes: usize,
    indices: &[u64],
    keys: &mut [Block],
) -> Result<()> {
    check(receiver.strings(), bytes);
    assert_eq!(indices.len(), keys.len(), "a key for each index");
    let mut digits = Zeroizing::new(Vec::with_capacity(bytes * indices.len()));
    for index in indices {
        digits.extend_from_slice(&index.to_le_bytes()[..bytes]);
    }
    let mut of_digits = Zeroizing::new(vec![Block::ZERO; digits.len()]);
    receiver.receive_given(mesh, &digits, &mut of_digits)?;
    let low = u64::MAX >> (64 - 8 * bytes);
    let all = of_digits.chunks(bytes).zip(indices).zip(keys);
    for (j, ((of_digits, index), key)) in all.enumerate() {
        *key = *combine(j, index & low, of_digits);
    }
    Ok(())
}

fn check(strings: usize, bytes: usize) {
    assert_eq!(strings, 256, "a string for each byte");
    let fits = (1..=MAX_BYTES).contains(&bytes);
    assert!(fits, "an index has 1 to 8 bytes");
}

/// The key of an index, from the keys of its bytes. These differ between all OTs.
pub(super) fn combine(j: usize, index: u64, keys: &[Block]) -> Zeroizing<Block> {
    let mut hasher = Zeroizing::new(blake3::Hasher::new_derive_key("sealane 7 ot large"));
    hasher
        .update(&(j as u64).to_le_bytes())
        .update(&index.to_le_bytes())
        .update(Block::as_bytes(keys));
    let mut bytes = [0; 16];
    Zeroizing::new(hasher.finalize_xof()).fill(&mut bytes);
    let key = Zeroizing::new(Block::from_bytes(bytes));
    bytes.zeroize();
    key
}

impl<K: ZeroizeOnDrop> ZeroizeOnDrop for LargeKeys<K> {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_of_indices_and_transfers_differ_with_the_same_keys_of_bytes() {
        let of = |place: usize| combine(place >> 1, place as u64 & 1, &[Block::ONES; 3]).value();
        let all = [0, 1, 2, 3].map(of);
        assert!((1..4).all(|i| !all[..i].contains(&all[i])));
    }
}
