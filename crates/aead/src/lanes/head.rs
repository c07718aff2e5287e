//! The head of messages: nonce and associated data, a block at a time in all lanes.

use sealane_block::Block;

use super::{Count, Group, Keys, Mode, Shape, State, Wave};

/// The state of a step of the head.
pub(crate) struct Head<'h, S: Shape> {
    /// The block to be absorbed.
    pub(crate) block: Wave<S>,
    /// The index of the block in the head: the same in all lanes.
    pub(crate) index: usize,
    /// All ones where it is the last of its head.
    pub(crate) last: Wave<S>,
    /// All ones where the associated data are whole blocks, or none.
    pub(crate) whole: Wave<S>,
    /// The messages.
    pub(crate) messages: Group<'h>,
}

/// Runs the head of all messages of a group. The state of lanes without one is unspecified.
#[inline(always)]
pub(crate) fn run<M: Mode, K: Keys>(keys: &K, messages: Group<'_>) -> State<M, K::S> {
    let (l, params) = (keys.l(), keys.params());
    let (zero, ones) = (Wave::zero(l), Wave::splat(l, Block::ONES));
    let mut state = M::Words::filled(zero);
    let (mut least, mut most) = (usize::MAX, 0);
    for (_, message) in messages.iter() {
        let count = M::head_blocks(&params, message);
        (least, most) = (least.min(count), most.max(count));
        if messages.is_even {
            break;
        }
    }
    let whole = messages.where_lengths(|message| message.ad.len().is_multiple_of(16));
    let mut head = Head {
        block: zero,
        index: 0,
        last: zero,
        whole: messages.mask(l, whole),
        messages,
    };
    while head.index < most {
        let mut active = messages.set;
        head.block = if messages.is_even {
            // In each lane that has a message: one alone has the first lane.
            head.last = if head.index + 1 == most { ones } else { zero };
            Wave::of_lanes(l, |lane| match messages.facts.get(lane) {
                Some(message) => M::head_block(&params, message, head.index),
                None => Block::ZERO,
            })
        } else {
            let mut last = 0u32;
            active = 0;
            let block = Wave::of_lanes(l, |lane| {
                let Some(message) = messages.get(lane) else {
                    return Block::ZERO;
                };
                let count = if least == most {
                    most
                } else {
                    M::head_blocks(&params, message)
                };
                if head.index >= count {
                    return Block::ZERO;
                }
                active |= 1 << lane;
                last |= u32::from(head.index + 1 == count) << lane;
                M::head_block(&params, message, head.index)
            });
            head.last = messages.mask(l, last);
            block
        };
        let mut before = None;
        if active != messages.set {
            before = Some(state);
        }
        M::absorb(keys, &mut state, &head);
        if let Some(before) = before {
            let active = Wave::where_set(l, active);
            for (after, before) in state.as_mut().iter_mut().zip(before.as_ref()) {
                *after = before.unless(active, *after);
            }
        }
        head.index += 1;
    }
    M::begin(keys, &mut state, &head);
    state
}

/// Block `index` of a string of bytes, zeros behind its end.
#[inline(always)]
pub(crate) fn block_of(bytes: &[u8], index: usize) -> Block {
    let from = &bytes[bytes.len().min(16 * index)..];
    if from.len() >= 16 {
        super::tail::load_block(from, 0)
    } else {
        super::tail::load_short(from)
    }
}

/// As [`block_of`], with a bit behind the end if it lies in this block: `ozp` of the
/// specifications.
#[inline(always)]
pub(crate) fn padded_block_of(bytes: &[u8], index: usize) -> Block {
    let left = bytes.len().saturating_sub(16 * index);
    let block = block_of(bytes, index);
    if left < 16 {
        block ^ Block::new(0x80 << (8 * left))
    } else {
        block
    }
}

/// Block `index` of a few bytes followed by others, zeros behind their end.
#[inline(always)]
pub(crate) fn padded_with(first: &[u8], then: &[u8], index: usize) -> Block {
    if index > 0 {
        return block_of(&then[16 - first.len()..], index - 1);
    }
    let behind = block_of(then, 0).value() << (8 * first.len());
    block_of(first, 0) ^ Block::new(behind)
}
