//! The head of messages: nonce and associated data, a block at a time in all lanes.

use sealane_block::lanes::MAX_LANES;
use sealane_block::{Block, Lanes};

use super::{Count, Facts, Keys, Mode, State, Wave};

/// Where a step of the head stands.
pub(crate) struct Head<'h, L: Lanes, const N: usize> {
    /// Which block of the head this is: the same in all lanes.
    pub(crate) index: usize,
    /// All ones where it is the last of its head.
    pub(crate) last: Wave<L, N>,
    /// All ones where the associated data are whole blocks, or none.
    pub(crate) whole: Wave<L, N>,
    /// The messages; none where a lane has no part in this.
    pub(crate) messages: &'h [Option<Facts<'h>>; MAX_LANES],
}

/// Runs the head of all messages that are given. Lanes without one have a state without meaning.
#[inline(always)]
pub(crate) fn run<L: Lanes, M: Mode, const N: usize>(
    keys: &impl Keys<L, N>,
    messages: &[Option<Facts<'_>>; MAX_LANES],
) -> State<M, L, N> {
    let (l, params) = (keys.l(), keys.params());
    let zero = Wave::zero(l);
    let mut state = M::Words::filled(zero);
    let mut counts = [0; MAX_LANES];
    let mut head = Head {
        index: 0,
        last: zero,
        whole: zero,
        messages,
    };
    let mut most = 0;
    for lane in 0..Wave::<L, N>::LANES {
        if let Some(message) = &messages[lane] {
            counts[lane] = M::head_blocks(&params, message);
            most = most.max(counts[lane]);
            if message.ad.len().is_multiple_of(16) {
                head.whole.lanes_mut()[lane] = Block::ONES;
            }
        }
    }
    while head.index < most {
        let (mut block, mut active) = (zero, zero);
        let mut all = true;
        head.last = zero;
        for lane in 0..Wave::<L, N>::LANES {
            let Some(message) = &messages[lane] else {
                continue;
            };
            if head.index < counts[lane] {
                block.lanes_mut()[lane] = M::head_block(&params, message, head.index);
                active.lanes_mut()[lane] = Block::ONES;
                if head.index + 1 == counts[lane] {
                    head.last.lanes_mut()[lane] = Block::ONES;
                }
            } else {
                all = false;
            }
        }
        let before = state;
        M::absorb(keys, &mut state, block, &head);
        if !all {
            for (after, before) in state.as_mut().iter_mut().zip(before.as_ref()) {
                *after = before.or(active, *after);
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
    match from.first_chunk() {
        Some(whole) => Block::from_bytes(*whole),
        None => super::tail::load_short(from),
    }
}

/// As [`block_of`], with a bit behind the end if it lies in this block: `ozp` of the specifications.
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

/// Block `index` of a few bytes with others behind them, zeros behind their end.
#[inline(always)]
pub(crate) fn padded_with(first: &[u8], then: &[u8], index: usize) -> Block {
    if index > 0 {
        return block_of(&then[16 - first.len()..], index - 1);
    }
    let behind = block_of(then, 0).value() << (8 * first.len());
    block_of(first, 0) ^ Block::new(behind)
}
