//! The tail of messages: the rest of the text, and the tag.

use sealane_block::Block;
use sealane_block::lanes::MAX_LANES;
use subtle::ConstantTimeEq;

use super::head::block_of;
use super::{Group, Keys, Mode, Shape, Token, Wave};

/// The slot of the tag in modes whose tag is a block of its own.
pub(crate) const TAG: usize = 3;

/// Input and output of tails. A slot holds up to 16 bytes of each lane, zeros behind them.
pub(crate) struct Slots<S: Shape> {
    given: [Wave<S>; 4],
    made: [Wave<S>; 4],
}

impl<S: Shape> Slots<S> {
    #[inline(always)]
    pub(crate) fn new(l: Token<S>) -> Slots<S> {
        Slots {
            given: [Wave::zero(l); 4],
            made: [Wave::zero(l); 4],
        }
    }
}

/// The tails of the lanes of a wave.
pub(crate) struct Tail<'t, S: Shape> {
    /// The text in slots 0 and 1; when opening, slots by the mode's
    /// [`tail_bytes`](Mode::tail_bytes). Lanes without a tail have zeros, but for [`TAG`].
    pub(crate) given: &'t mut [Wave<S>; 4],
    /// The output of the mode, in the opposite layout. Slots that the mode does not write are
    /// unspecified.
    pub(crate) made: &'t mut [Wave<S>; 4],
    /// Differences found when opening: zero in every lane whose message is authentic.
    pub(crate) wrong: Wave<S>,
    /// When opening: bytes of padding at the end of the text.
    pub(crate) padding: [usize; MAX_LANES],
    /// Bytes of text in each lane's tail.
    pub(crate) rest: [usize; MAX_LANES],
    /// The largest of these, and the least.
    pub(crate) most: usize,
    least: usize,
    /// The messages.
    pub(crate) messages: Group<'t>,
    tag_mask: Wave<S>,
    /// True if the slots for text are zero in all lanes.
    is_blank: bool,
}

/// The bytes of one tail.
pub(crate) type Bytes = [u8; 64];

impl<'t, S: Shape> Tail<'t, S> {
    #[inline(always)]
    pub(crate) fn new<K: Keys<S = S>>(
        keys: &K,
        messages: Group<'t>,
        slots: &'t mut Slots<S>,
    ) -> Tail<'t, S> {
        let l = keys.l();
        Tail {
            given: &mut slots.given,
            made: &mut slots.made,
            wrong: Wave::zero(l),
            padding: [0; MAX_LANES],
            rest: [0; MAX_LANES],
            most: 0,
            least: usize::MAX,
            messages,
            tag_mask: Wave::splat(l, first_bytes(keys.params().tag_len.min(16))),
            is_blank: true,
        }
    }

    /// Loads the end of a lane's text; when opening, also the bytes behind it.
    #[inline(always)]
    pub(crate) fn take<M: Mode, K: Keys>(
        &mut self,
        keys: &K,
        lane: usize,
        text: &[u8],
        tag: &[u8],
    ) {
        let rest = text.len();
        self.rest[lane] = rest;
        (self.most, self.least) = (self.most.max(rest), self.least.min(rest));
        if K::OPEN {
            let counts = M::tail_bytes(&keys.params(), rest);
            let tag_alone = counts[TAG] == tag.len();
            if rest > 0 || !tag_alone {
                self.is_blank = false;
                let mut bytes: Bytes = [0; 64];
                bytes[..rest].copy_from_slice(text);
                bytes[rest..rest + tag.len()].copy_from_slice(tag);
                let mut at = 0;
                for (slot, count) in counts.into_iter().enumerate() {
                    let given = load_block(&bytes, at) & first_bytes(count);
                    self.given[slot].lanes_mut()[lane] = given;
                    at += count;
                }
            } else if !tag.is_empty() {
                self.given[TAG].lanes_mut()[lane] = block_of(tag, 0);
            }
        } else if rest > 0 {
            self.is_blank = false;
            self.given[0].lanes_mut()[lane] = block_of(text, 0);
            if rest > 16 {
                self.given[1].lanes_mut()[lane] = block_of(text, 1);
            }
        }
    }

    /// Writes the output back, and returns the outcome of the message.
    #[inline(always)]
    pub(crate) fn give<M: Mode, K: Keys>(
        &self,
        keys: &K,
        lane: usize,
        text: &mut [u8],
        tag: &mut [u8],
    ) -> bool {
        let rest = text.len();
        let made = |slot: usize| self.made[slot].lanes()[lane].to_bytes();
        let counts = M::tail_bytes(&keys.params(), rest);
        if !K::OPEN && counts[TAG] == tag.len() && rest == 0 {
            put_short(tag, made(TAG));
            return true;
        }
        let mut bytes: Bytes = [0; 64];
        if K::OPEN {
            bytes[..16].copy_from_slice(&made(0));
            bytes[16..32].copy_from_slice(&made(1));
            text.copy_from_slice(&bytes[..rest]);
            return self.wrong.lanes()[lane].ct_eq(&Block::ZERO).into();
        }
        let mut at = 0;
        for (slot, count) in counts.into_iter().enumerate() {
            bytes[at..at + 16].copy_from_slice(&made(slot));
            at += count;
        }
        text.copy_from_slice(&bytes[..rest]);
        tag.copy_from_slice(&bytes[rest..rest + tag.len()]);
        true
    }

    /// Restores the slots for text to zeros.
    #[inline(always)]
    pub(crate) fn clear(self, l: Token<S>) {
        if !self.is_blank {
            self.given[..TAG].fill(Wave::zero(l));
        }
    }

    /// All ones in the bytes that text has in slot `slot`.
    #[inline(always)]
    pub(crate) fn text_mask(&self, l: Token<S>, slot: usize) -> Wave<S> {
        self.by_rest(l, |rest| {
            first_bytes(rest.saturating_sub(16 * slot).min(16))
        })
    }

    /// Returns the bit behind the text of slot `slot`, where there is room: text ^ bit is
    /// `ozp(text)`.
    #[inline(always)]
    pub(crate) fn end_bit(&self, l: Token<S>, slot: usize) -> Wave<S> {
        self.by_rest(l, |rest| match rest.checked_sub(16 * slot) {
            Some(count) if count < 16 => Block::new(0x80 << (8 * count)),
            _ => Block::ZERO,
        })
    }

    /// Returns all ones in lanes whose rest has a length that `is` accepts.
    #[inline(always)]
    pub(crate) fn where_rest(&self, l: Token<S>, is: impl Fn(usize) -> bool) -> Wave<S> {
        self.by_rest(l, |rest| if is(rest) { Block::ONES } else { Block::ZERO })
    }

    /// Returns the length of the rest that all messages have, if it is the same.
    #[inline(always)]
    pub(crate) fn same_rest(&self) -> Option<usize> {
        (self.least >= self.most).then_some(self.most)
    }

    /// Returns a block for each lane, by the length of its rest, which is public; where there is no
    /// message, any block.
    #[inline(always)]
    pub(crate) fn by_rest(&self, l: Token<S>, block: impl Fn(usize) -> Block) -> Wave<S> {
        match self.same_rest() {
            Some(rest) => Wave::splat(l, block(rest)),
            None => Wave::of_lanes(l, |lane| block(self.rest[lane])),
        }
    }

    /// Adds a pad to a rest of one block at most: makes the output, and returns the text and its
    /// ciphertext.
    #[inline(always)]
    pub(crate) fn mask<K: Keys>(&mut self, pad: Wave<S>) -> [Wave<S>; 2] {
        let given = self.given[0];
        let made = (given ^ pad) & self.text_mask(pad.l, 0);
        self.made[0] = made;
        if K::OPEN {
            [made, given]
        } else {
            [given, made]
        }
    }

    /// Processes the tag, with the length that the parameters give: sets it, or compares it with
    /// the received one.
    #[inline(always)]
    pub(crate) fn tag<K: Keys>(&mut self, tag: Wave<S>) {
        if K::OPEN {
            self.wrong = (tag ^ self.given[TAG]) & self.tag_mask;
        } else {
            self.made[TAG] = tag;
        }
    }
}

/// Writes the first bytes of 16, in one copy.
#[inline(always)]
fn put_short(to: &mut [u8], from: [u8; 16]) {
    if to.is_empty() {
        return;
    }
    match to.first_chunk_mut() {
        Some(whole) => *whole = from,
        None => to.copy_from_slice(&from[..to.len()]),
    }
}

/// All ones in the first `count` bytes of 16.
#[inline(always)]
pub(crate) fn first_bytes(count: usize) -> Block {
    const ONES_THEN_ZEROS: [u8; 32] = {
        let mut bytes = [0; 32];
        let mut i = 0;
        while i < 16 {
            bytes[i] = 0xff;
            i += 1;
        }
        bytes
    };
    load_block(&ONES_THEN_ZEROS, 16 - count)
}

/// Loads the 16 bytes at an offset.
#[inline(always)]
pub(crate) fn load_block(bytes: &[u8], at: usize) -> Block {
    let mut block = [0; 16];
    block.copy_from_slice(&bytes[at..at + 16]);
    Block::from_bytes(block)
}

/// Loads fewer than 16 bytes, with zeros behind them.
#[inline(always)]
pub(crate) fn load_short(from: &[u8]) -> Block {
    let len = from.len();
    let part = |at: usize, count: usize| &from[at..at + count];
    // Two overlapping reads are faster than a copy of variable length.
    let (low, high, at) = if len >= 8 {
        (part(0, 8), part(len - 8, 8), len - 8)
    } else if len >= 4 {
        (part(0, 4), part(len - 4, 4), len - 4)
    } else if len >= 2 {
        (part(0, 2), part(len - 2, 2), len - 2)
    } else {
        (from, from, 0)
    };
    Block::new(integer(low) | integer(high) << (8 * at))
}

#[inline(always)]
fn integer(bytes: &[u8]) -> u128 {
    match bytes.len() {
        8 => u64::from_le_bytes(bytes.try_into().unwrap_or_default()).into(),
        4 => u32::from_le_bytes(bytes.try_into().unwrap_or_default()).into(),
        2 => u16::from_le_bytes(bytes.try_into().unwrap_or_default()).into(),
        1 => bytes[0].into(),
        _ => 0,
    }
}
