//! CCM: NIST SP 800-38C and RFC 3610. CBC-MAC over lengths, associated data and text, and CTR.
//!
//! The MAC is a chain, which the blocks of CTR accompany: one message takes as long as the chain,
//! and many messages fill the lanes.

use sealane_block::Block;

use crate::lanes::head::{block_of, padded_with};
use crate::lanes::{Data, Facts, Head, Keys, Mode, Of, Params, State, Tail, Wave};

pub(crate) struct Ccm;

/// CBC-MAC of the blocks so far.
const MAC: usize = 0;
/// The counter block of the next block of text, as an integer.
const COUNTER: usize = 1;
/// The counter block of the tag.
const FIRST: usize = 2;

impl Mode for Ccm {
    type Schedules = Of<1>;
    type Constants = Of<0>;
    type Words = Of<3>;
    const PARALLEL: bool = false;

    /// B_0, then the length of the associated data and these themselves.
    fn head_blocks(_params: &Params, message: &Facts<'_>) -> usize {
        match message.ad.len() {
            0 => 1,
            len => 1 + (length(len).1 + len).div_ceil(16),
        }
    }
    #[inline(always)]
    fn head_block(params: &Params, message: &Facts<'_>, index: usize) -> Block {
        if index > 0 {
            let (length, count) = length(message.ad.len());
            return padded_with(&length[..count], message.ad, index - 1);
        }
        let has_ad = u128::from(!message.ad.is_empty());
        let flags = has_ad << 6 | ((params.tag_len as u128 - 2) / 2) << 3;
        // The length, most significant byte first, ends behind the nonce.
        first_counter(message.nonce) ^ Block::new(flags | (message.text as u128).swap_bytes())
    }

    #[inline(always)]
    fn absorb<K: Keys>(keys: &K, state: &mut State<Self, K::S>, head: &Head<'_, K::S>) {
        if head.index == 0 {
            let l = keys.l();
            let messages = head.messages;
            let first = messages.by_message(l, |message| first_counter(message.nonce));
            state[FIRST] = first;
            state[COUNTER] = first.reversed().add64(Wave::splat(l, Block::new(1)));
        }
        state[MAC] = keys.encrypt_late(0, head.block, state[MAC]);
    }

    #[inline(always)]
    fn body<K: Keys, D: Data<K::S>>(keys: &K, state: &mut State<Self, K::S>, data: &mut D) {
        let l = keys.l();
        let step = Wave::splat(l, Block::new(D::STEP as u128));
        let (mut mac, mut counter) = (state[MAC], state[COUNTER]);
        for unit in 0..data.units() {
            let pad = keys.encrypt(0, counter.reversed());
            let given = data.mask(unit, 0, pad);
            let text = if K::OPEN { given ^ pad } else { given };
            // The value that comes last: in many lanes that open, the pad.
            mac = if K::OPEN && Wave::<K::S>::VECTORS > 1 {
                keys.encrypt_late(0, mac ^ given, pad)
            } else {
                keys.encrypt_late(0, text, mac)
            };
            counter = counter.add64(step);
        }
        (state[MAC], state[COUNTER]) = (mac, counter);
    }

    #[inline(always)]
    fn tail<K: Keys>(keys: &K, state: &State<Self, K::S>, tail: &mut Tail<'_, K::S>) {
        let l = keys.l();
        let mut mac = state[MAC];
        if tail.most > 0 {
            let [text, _] = tail.mask::<K>(keys.encrypt(0, state[COUNTER].reversed()));
            let more = keys.encrypt_late(0, text, mac);
            mac = mac.unless(tail.where_rest(l, |rest| rest > 0), more);
        }
        tail.tag::<K>(keys.encrypt_onto(0, state[FIRST], mac));
    }
}

/// Builds counter block number 0: the length of the number in bytes, less one, then the nonce.
#[inline(always)]
fn first_counter(nonce: &[u8]) -> Block {
    Block::new(block_of(nonce, 0).value() << 8 | (14 - nonce.len() as u128))
}

/// Encodes the length of associated data as in SP 800-38C, section A.2.2, and returns its number of
/// bytes.
fn length(len: usize) -> ([u8; 10], usize) {
    let mut bytes = [0; 10];
    let count = if len < 0xff00 {
        bytes[..2].copy_from_slice(&(len as u16).to_be_bytes());
        2
    } else if let Ok(len) = u32::try_from(len) {
        bytes[..2].copy_from_slice(&[0xff, 0xfe]);
        bytes[2..6].copy_from_slice(&len.to_be_bytes());
        6
    } else {
        bytes[..2].copy_from_slice(&[0xff, 0xff]);
        bytes[2..].copy_from_slice(&(len as u64).to_be_bytes());
        10
    };
    (bytes, count)
}
