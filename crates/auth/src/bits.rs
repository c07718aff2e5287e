//! Authenticated bits as one party holds them towards another, and bits in messages.

use sealane_block::Block;
use sealane_parties::PartyId;
use sealane_party::{Fault, Result};
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

/// Authenticated bits at one party, towards one other. Bit 0 of a MAC is this party's share, the
/// same towards all others; bit 0 of a key is 0.
#[derive(Clone, Default, Zeroize, ZeroizeOnDrop)]
pub struct Bits {
    /// MACs of this party's shares, under the other's offset.
    pub mac: Vec<Block>,
    /// Keys of the MACs of the other's shares, under this party's offset.
    pub key: Vec<Block>,
}

/// Secret blocks of a known number, in memory that is taken once: a vector that grows leaves copies
/// behind.
///
/// # Panics
/// If there are not so many.
pub(crate) fn gathered(count: usize, blocks: impl Iterator<Item = Block>) -> Zeroizing<Vec<Block>> {
    let mut all = Zeroizing::new(Vec::with_capacity(count));
    blocks.for_each(|block| {
        assert!(all.len() < count, "secret blocks are counted");
        all.push(block);
    });
    assert_eq!(all.len(), count, "secret blocks are counted");
    all
}

/// Bytes of so many bits in a message.
pub(crate) const fn bytes_of(bits: u64) -> u64 {
    bits.div_ceil(8)
}

/// Packs the bits 0 of bytes, first bit lowest.
pub(crate) fn pack(bits: impl ExactSizeIterator<Item = u8>) -> Zeroizing<Vec<u8>> {
    let mut packed = Zeroizing::new(vec![0; bits.len().div_ceil(8)]);
    for (at, bit) in bits.enumerate() {
        packed[at / 8] |= (bit & 1) << (at % 8);
    }
    packed
}

/// Packed bits that one word takes wherever they begin within a byte, in whole bytes.
pub(crate) const STEP: usize = 56;

/// The packed bits from one on, [`STEP`] of them at least; those behind the end are 0.
pub(crate) fn word_at(packed: &[u8], at: usize) -> u64 {
    let rest = packed.get(at / 8..).unwrap_or_default();
    let mut word = [0; 8];
    match rest.first_chunk::<8>() {
        Some(whole) => word = *whole,
        None => word[..rest.len()].copy_from_slice(rest),
    }
    u64::from_le_bytes(word) >> (at % 8)
}

/// Adds `count` packed bits, from bit `of` on, to those from bit `at` on.
pub(crate) fn add_bits(to: &mut [u8], at: usize, bits: &[u8], of: usize, count: usize) {
    for done in (0..count).step_by(STEP) {
        let now = STEP.min(count - done);
        let word = word_at(bits, of + done) & ((1 << now) - 1);
        let first = at + done;
        let word = (word << (first % 8)).to_le_bytes();
        let to = to[first / 8..].iter_mut().zip(word);
        to.for_each(|(to, byte)| *to ^= byte);
    }
}

/// Adds bits 0 of blocks to packed bits, from bit `at` on.
pub(crate) fn add_lowest(to: &mut [u8], at: usize, blocks: &[Block]) {
    for (step, blocks) in blocks.chunks(STEP).enumerate() {
        let bits = blocks.iter().enumerate();
        let word = bits.fold(0, |word, (at, block)| word | u64::from(block.lsb()) << at);
        add_bits(to, at + step * STEP, &word.to_le_bytes(), 0, blocks.len());
    }
}

/// Packs bits 0 of blocks, list after list.
pub(crate) fn pack_lowest<'a>(
    lists: impl Iterator<Item = &'a [Block]> + Clone,
) -> Zeroizing<Vec<u8>> {
    let count = lists.clone().map(<[Block]>::len).sum::<usize>();
    let mut packed = Zeroizing::new(vec![0; count.div_ceil(8)]);
    let mut at = 0;
    for blocks in lists {
        add_lowest(&mut packed, at, blocks);
        at += blocks.len();
    }
    packed
}

/// Packed bits, from bit `at` on, as bits 0 of blocks whose other bits are 0.
pub(crate) fn spread(packed: &[u8], at: usize, to: &mut [Block]) {
    for (step, to) in to.chunks_mut(STEP).enumerate() {
        let word = word_at(packed, at + step * STEP);
        for (bit, to) in to.iter_mut().enumerate() {
            *to = Block::new((word >> bit & 1).into());
        }
    }
}

/// A packed bit.
pub(crate) fn bit(packed: &[u8], at: usize) -> u8 {
    packed[at / 8] >> (at % 8) & 1
}

/// Checks bits that a party has sent: those behind the last one are zero.
///
/// # Errors
/// [`Fault::Peer`] if they are not.
pub(crate) fn whole(packed: &[u8], count: usize, from: PartyId) -> Result<()> {
    let rest = packed.last().filter(|_| !count.is_multiple_of(8));
    match rest.map_or(0, |last| last >> (count % 8)) {
        0 => Ok(()),
        _ => Err(Fault::Peer {
            party: from,
            what: "bits behind the last one of a message are not zero".to_string(),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bit by bit, at all offsets within bytes, up to the ends of both.
    #[test]
    fn packed_bits_move_between_any_places() {
        let bits = (0..40u8)
            .map(|at| at.wrapping_mul(89) ^ 0x5c)
            .collect::<Vec<_>>();
        for (at, of, count) in [
            (0, 0, 320),
            (3, 0, 317),
            (0, 5, 315),
            (7, 1, 113),
            (9, 18, 56),
            (1, 319, 1),
            (5, 7, 0),
        ] {
            let mut to = vec![0xa5; 40];
            add_bits(&mut to, at, &bits, of, count);
            for place in 0..320 {
                let inside = (at..at + count).contains(&place);
                let added = inside && bit(&bits, of + place - at) == 1;
                let before = bit(&[0xa5; 40], place);
                assert_eq!(
                    bit(&to, place),
                    before ^ u8::from(added),
                    "{at} {of} {place}"
                );
            }
            let mut blocks = vec![Block::ONES; count];
            spread(&bits, of, &mut blocks);
            assert!(
                (0..count)
                    .all(|place| { blocks[place].value() == u128::from(bit(&bits, of + place)) })
            );
            let packed = pack_lowest([&blocks[..count / 3], &blocks[count / 3..]].into_iter());
            assert!((0..count).all(|place| bit(&packed, place) == bit(&bits, of + place)));
            assert_eq!(packed.len(), count.div_ceil(8));
        }
    }
}
