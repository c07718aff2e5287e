//! COPA: Andreeva, Bogdanov, Luykx, Mennink, Tischhauser and Yasuda, "Parallelizable and
//! Authenticated Online Ciphers" (ASIACRYPT 2013), and versions 1 and 2 of its CAESAR submission.
//!
//! Every block goes through the cipher twice, and between the two calls is added to the sum of all
//! blocks before it. Only this sum is a chain. Block i has the masks 3 * 2^(i - 1) * L and 2^i * L.
//!
//! The versions treat the end differently. Version 2 pads a short last block and marks this in a
//! byte. Version 1 hides a short last block together with the tag by XLS (Ristenpart and Rogaway,
//! FSE 2007), which has been broken since, and cuts off what a text of less than a block does not
//! need.

use sealane_block::{Block, Cpu, Tier};

use super::shared::{hash_step, last_block, next_masks, same_masks, times3, times7, times9};
use super::xls::{Ends, join, split, xls};
use crate::lanes::head::{block_of, padded_block_of};
use crate::lanes::keys::aes;
use crate::lanes::mode::TextLayout;
use crate::lanes::{
    BACK, Data, FORWARD, Facts, Head, KeyMaterial, Keys, Mode, Of, OneState, Params, Shape, State,
    Tail, Token, Wave,
};

pub(crate) struct Copa;

/// L, the encryption of zero, in polynomial order.
const SUBKEY: usize = 0;

/// 2^(i - 1) * L, where i is the number of the next block from 1.
const MASK: usize = 0;
/// The sum of the blocks between the two layers. In the head: the hash.
const CHAIN: usize = 1;
/// The sum of the text. In the head: the mask of the next block, in polynomial order.
const SUM: usize = 2;

impl Mode for Copa {
    type Schedules = Of<2>;
    type Constants = Of<1>;
    type Words = Of<3>;
    const PARALLEL: bool = true;
    const WIDEST: Tier = Tier::Vaes256;

    fn derive(cpu: Cpu, key: &[u8], material: &mut KeyMaterial<Self>) {
        let mask = aes(cpu, key).encrypt(Block::ZERO);
        material.constants = [Block::new(mask.value().swap_bytes())];
    }

    /// The last block is special even if it is whole.
    fn rest(text: usize) -> usize {
        last_block(text)
    }
    fn tail_bytes(params: &Params, rest: usize) -> [usize; 4] {
        match params.version {
            1 => [16, rest, 0, 0],
            // The block, the tag, and the byte that tells if the block was padded.
            _ => [16, 16, 1, 0],
        }
    }
    fn shape(params: &Params, text: usize) -> TextLayout {
        let sealed = match params.version {
            1 => text + 16,
            _ => 16 * text.div_ceil(16).max(1) + 17,
        };
        TextLayout::in_front(text, sealed)
    }
    fn text_bytes(params: &Params, sealed: usize) -> Option<usize> {
        if params.version == 1 {
            return sealed.checked_sub(16);
        }
        let bytes = sealed.checked_sub(17)?;
        (bytes > 0 && bytes.is_multiple_of(16)).then_some(bytes)
    }

    /// The associated data and then the nonce, padded together.
    fn head_block(_params: &Params, message: &Facts<'_>, index: usize) -> Block {
        let whole = message.ad.len() / 16;
        let over = message.ad.len() % 16;
        if index < whole {
            return block_of(message.ad, index);
        }
        let nonce = block_of(message.nonce, 0).value();
        match over {
            0 => Block::new(nonce),
            _ if index == whole => block_of(message.ad, index) ^ Block::new(nonce << (8 * over)),
            _ => padded_block_of(&message.nonce[16 - over..], 0),
        }
    }

    #[inline(always)]
    fn absorb<K: Keys>(keys: &K, state: &mut State<Self, K::S>, head: &Head<'_, K::S>) {
        let [_, mut sum, mut mask] = *state;
        if head.index == 0 {
            mask = times3(times9(keys.constant(SUBKEY)));
        }
        let end = times3(mask);
        let end = times3(end).unless(head.whole, end).reversed();
        hash_step(keys, [&mut sum, &mut mask], head, end);
        *state = [mask, sum, mask];
    }

    #[inline(always)]
    fn begin<K: Keys>(keys: &K, state: &mut State<Self, K::S>, _head: &Head<'_, K::S>) {
        let mask = keys.constant(SUBKEY).reversed();
        *state = [mask, state[CHAIN] ^ mask, Wave::zero(keys.l())];
    }

    #[inline(always)]
    fn body<K: Keys, D: Data<K::S>>(keys: &K, state: &mut State<Self, K::S>, data: &mut D) {
        if let Some(lane) = same_masks::<K>(data) {
            state[MASK] = state[MASK].pick(lane).spread();
            units::<K, D, true>(keys, state, data);
        } else {
            units::<K, D, false>(keys, state, data);
        }
    }

    #[inline(always)]
    fn spread<K: Keys>(_keys: &K, state: &OneState<Self, K::S>, _at: u64) -> State<Self, K::S> {
        let mask = Wave::doubling(state[MASK].reversed());
        [mask, state[CHAIN].spread(), state[SUM].in_first()]
    }
    #[inline(always)]
    fn fold<K: Keys>(_keys: &K, state: &State<Self, K::S>, next: usize) -> OneState<Self, K::S> {
        let lanes = Wave::<K::S>::LANES;
        // The lane that came last has seen all blocks.
        let chain = state[CHAIN].pick((next + lanes - 1) % lanes);
        let mask = state[MASK].pick(next).reversed();
        [mask, chain, state[SUM].sum()]
    }

    #[inline(always)]
    fn tail<K: Keys>(keys: &K, state: &State<Self, K::S>, tail: &mut Tail<'_, K::S>) {
        let l = keys.l();
        let first = keys.params().version == 1;
        let ends = if first {
            Ends::new(l, tail)
        } else {
            Ends::none(l)
        };
        let [mask, mut chain, mut sum] = *state;
        let mut mask = mask.reversed();
        // A text of less than a block has the mask 3^6 * L instead of L.
        if ends.any_tiny {
            let one = keys.constant(SUBKEY);
            let six = times9(times9(times9(one)));
            mask = mask.unless(ends.tiny, six);
            chain ^= (one ^ six).reversed() & ends.tiny;
        }
        // With XLS, the following bytes belong to the block before the rest.
        if ends.any_xls {
            mask = mask.unless(ends.xls, mask.halved());
        }
        let step = ends.xls.inverted();
        let (mut up, down) = (times3(mask), mask.doubled());
        let mut padded = Wave::zero(l);
        if !first {
            padded = if K::OPEN {
                flags(l, tail)
            } else {
                tail.where_rest(l, |rest| rest < 16)
            };
            up = up.unless(padded, times7(up));
        }
        let [mut given, mut given_tag, ..] = *tail.given;
        let middle;
        if K::OPEN {
            let before = chain;
            middle = keys.decrypt(BACK, given ^ down.reversed());
            let text = keys.decrypt(BACK, middle ^ before) ^ up.reversed();
            if ends.any_xls {
                let opened = xls(keys, mask, &ends.rest, [given, given_tag]);
                let (rest, tag) = split(&ends.rest, opened);
                given = text.unless(ends.xls, rest);
                given_tag = given_tag.unless(ends.xls, tag);
            } else {
                given = text;
            }
            sum ^= given & step;
            tail.made[0] = given;
        } else {
            given ^= tail.end_bit(l, 0);
            middle = keys.encrypt(FORWARD, given ^ up.reversed()) ^ chain;
            tail.made[0] = keys.encrypt(FORWARD, middle) ^ down.reversed();
            sum ^= given & step;
        }
        chain = chain.unless(step, middle);
        let end = times7(if first { mask } else { down }).reversed();
        let tag = keys.encrypt(FORWARD, sum ^ times3(up).reversed());
        let tag = keys.encrypt(FORWARD, tag ^ chain) ^ end;
        if !K::OPEN {
            tail.made[1] = tag;
            tail.made[2] = padded & Wave::splat(l, Block::new(1));
            if ends.any_xls {
                let joined = join(&ends.rest, tail.given[0], tag);
                let [block, rest] = xls(keys, mask, &ends.rest, joined);
                tail.made[0] = tail.made[0].unless(ends.xls, block);
                tail.made[1] = tail.made[1].unless(ends.xls, rest);
            }
            return;
        }
        tail.wrong = tag ^ given_tag;
        if first {
            // A text of less than a block has so many bytes of tag; its padding is the rest of it.
            let held = tail.text_mask(l, 0);
            let tiny = (tail.wrong & held) ^ ((given ^ tail.end_bit(l, 0)) & held.inverted());
            tail.wrong = tail.wrong.unless(ends.tiny, tiny);
            tail.made[0] = given & held;
        } else {
            remove_padding(tail, given);
        }
    }
}

/// The body; `SAME` is set if all lanes have the same masks.
#[inline(always)]
fn units<K: Keys, D: Data<K::S>, const SAME: bool>(
    keys: &K,
    state: &mut State<Copa, K::S>,
    data: &mut D,
) {
    let l = keys.l();
    let [mut mask, mut chain, mut sum] = *state;
    let units = data.units();
    // The second layer of a block comes behind the first of the next: neither waits for the other.
    // With a key for each lane, registers do not suffice for that. The arrays hold the inputs of
    // the layer, and the values added to its outputs:
    let mut second = [Wave::zero(l); 2];
    let behind = usize::from(K::SAME);
    for unit in 0..units + behind {
        let before_this = second;
        if unit < units {
            let [once, down] = next_masks::<K::S, D, SAME>(&mut mask);
            let given = data.load(l, unit, 0);
            if K::OPEN {
                let middle = keys.decrypt(BACK, given ^ down);
                let before = if D::WIDE {
                    middle.previous(chain)
                } else {
                    chain
                };
                second = [middle ^ before, once ^ down];
                chain = middle;
            } else {
                sum ^= given;
                let given = given ^ (once ^ down);
                chain = if D::WIDE {
                    keys.encrypt(FORWARD, given).running_sum(chain)
                } else {
                    keys.encrypt_onto(FORWARD, given, chain)
                };
                second = [chain, down];
            }
        }
        if unit >= behind {
            let [takes, onto] = if K::SAME { before_this } else { second };
            let made = if !K::OPEN {
                keys.encrypt_onto(FORWARD, takes, onto)
            } else {
                keys.decrypt_onto(BACK, takes, onto)
            };
            if K::OPEN {
                sum ^= made;
            }
            data.store(unit - behind, 0, made);
        }
    }
    *state = [mask, chain, sum];
}

/// All ones where the byte of version 2 marks the last block as padded.
#[inline(always)]
fn flags<S: Shape>(l: Token<S>, tail: &Tail<'_, S>) -> Wave<S> {
    let mut flags = Wave::zero(l);
    let given = tail.given[2];
    for (flag, given) in flags.lanes_mut().iter_mut().zip(given.lanes()) {
        if given.value() == 1 {
            *flag = Block::ONES;
        }
    }
    flags
}

/// Finds the padding that a last block claims to have, without branches on it; a block with another
/// padding than sealing makes is not authentic.
#[inline(always)]
fn remove_padding<S: Shape>(tail: &mut Tail<'_, S>, last: Wave<S>) {
    let wrong = tail.wrong.lanes_mut();
    for lane in 0..wrong.len() {
        let Some(message) = tail.messages.get(lane) else {
            continue;
        };
        let value = last.lanes()[lane].value();
        match tail.given[2].lanes()[lane].value() {
            0 => {}
            1 => {
                let zeros = (value.leading_zeros() / 8).min(15);
                let end = value >> (8 * (15 - zeros)) ^ 0x80;
                // Only an empty text has a block of padding alone.
                let empty = u128::from(zeros / 15) & u128::from(message.text > 16);
                wrong[lane] = Block::new(wrong[lane].value() | end | empty);
                tail.padding[lane] = zeros as usize + 1;
            }
            _ => wrong[lane] = Block::ONES,
        }
    }
}
