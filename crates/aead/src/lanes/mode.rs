//! The trait of a mode, and its parameters.

use std::ops::IndexMut;

use sealane_block::lanes::MAX_LANES;
use sealane_block::{Block, Cpu, Tier};

use super::head::{block_of, padded_block_of};

use super::{Data, Head, KeyMaterial, Keys, One, Shape, Tail, Token, Wave};

/// A number known to the compiler, with arrays of that length.
pub(crate) trait Count: 'static {
    /// An array of that length.
    type Array<T: Copy>: Copy + IndexMut<usize, Output = T> + AsRef<[T]> + AsMut<[T]>;
    /// The number.
    const COUNT: usize;
    /// Creates an array of equal items.
    fn filled<T: Copy>(item: T) -> Self::Array<T>;
}

/// The number `S`.
pub(crate) struct Of<const S: usize>;

impl<const S: usize> Count for Of<S> {
    type Array<T: Copy> = [T; S];
    const COUNT: usize = S;
    #[inline(always)]
    fn filled<T: Copy>(item: T) -> [T; S] {
        [item; S]
    }
}

/// Parameters that all messages of a call share beside their mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Params {
    /// Bytes of the tag.
    pub(crate) tag_len: usize,
    /// The version of the mode, where it has several.
    pub(crate) version: u8,
}

/// The public part of a message.
#[derive(Clone, Copy, Default)]
pub(crate) struct Facts<'a> {
    pub(crate) nonce: &'a [u8],
    pub(crate) ad: &'a [u8],
    /// Bytes of the text.
    pub(crate) text: usize,
}

/// Messages of some lanes.
#[derive(Clone, Copy)]
pub(crate) struct Group<'a> {
    /// The public parts of all lanes, or of the first few.
    pub(crate) facts: &'a [Facts<'a>],
    /// A bit for each lane that takes part.
    pub(crate) set: u32,
    /// True if all lanes of the wave take part, with messages of equal lengths: what depends on
    /// lengths alone is then computed once. So it is for one message alone, whose lane is the only
    /// one that counts.
    pub(crate) is_even: bool,
}

impl<'a> Group<'a> {
    /// One message, in the first lane.
    #[inline(always)]
    pub(crate) fn of_one(facts: &'a Facts<'a>) -> Group<'a> {
        Group {
            facts: std::slice::from_ref(facts),
            set: 1,
            is_even: true,
        }
    }

    /// Returns the message of a lane, if it takes part.
    #[inline(always)]
    pub(crate) fn get(&self, lane: usize) -> Option<&'a Facts<'a>> {
        (self.set >> lane & 1 == 1).then(|| &self.facts[lane])
    }

    /// Returns the lanes that take part and whose messages have lengths that `is` accepts.
    #[inline(always)]
    pub(crate) fn where_lengths(&self, is: impl Fn(&Facts<'_>) -> bool) -> u32 {
        if self.is_even {
            return if is(&self.facts[0]) { self.set } else { 0 };
        }
        let lanes = self.iter();
        lanes.fold(0, |set, (lane, message)| {
            set | u32::from(is(message)) << lane
        })
    }

    /// All ones in the lanes of a set; in the lanes that do not take part, anything.
    #[inline(always)]
    pub(crate) fn mask<S: Shape>(&self, l: Token<S>, set: u32) -> Wave<S> {
        match set {
            0 => Wave::zero(l),
            _ if set == self.set => Wave::splat(l, Block::ONES),
            _ => Wave::where_set(l, set),
        }
    }

    /// Returns a block for each lane, by its message; zero where there is none.
    #[inline(always)]
    pub(crate) fn by_message<S: Shape>(
        &self,
        l: Token<S>,
        block: impl Fn(&Facts<'_>) -> Block,
    ) -> Wave<S> {
        Wave::of_lanes(l, |lane| self.get(lane).map_or(Block::ZERO, &block))
    }

    /// Returns a block for each lane, by the lengths of its message, which are public; where there
    /// is no message, any block.
    #[inline(always)]
    pub(crate) fn by_lengths<S: Shape>(
        &self,
        l: Token<S>,
        block: impl Fn(&Facts<'_>) -> Block,
    ) -> Wave<S> {
        if self.is_even {
            return Wave::splat(l, block(&self.facts[0]));
        }
        self.by_message(l, block)
    }

    /// Returns the lanes that take part, with their messages.
    #[inline(always)]
    pub(crate) fn iter(self) -> impl Iterator<Item = (usize, &'a Facts<'a>)> {
        lanes_of(self.set).map(move |lane| (lane, &self.facts[lane]))
    }
}

/// The numbers of the bits of a set, from the lowest on.
#[inline(always)]
pub(crate) fn lanes_of(mut set: u32) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let lane = set.trailing_zeros() as usize;
        set &= set.wrapping_sub(1);
        (lane < MAX_LANES).then_some(lane)
    })
}

/// The places of a text and of its sealed message in a buffer.
#[derive(Clone, Copy, Default)]
pub(crate) struct TextLayout {
    /// Bytes before the text.
    pub(crate) front: usize,
    /// Bytes that body and tail change in place; the tag follows.
    pub(crate) held: usize,
    /// Bytes of the sealed message.
    pub(crate) sealed: usize,
}

impl TextLayout {
    /// A text in front of its buffer, of which all is held.
    pub(crate) fn in_front(text: usize, sealed: usize) -> TextLayout {
        let (front, held) = (0, text);
        TextLayout {
            front,
            held,
            sealed,
        }
    }

    /// Moves a text from the front of its buffer to its place, with zeros before it.
    pub(crate) fn make_room(&self, buffer: &mut [u8], text: usize) {
        buffer.copy_within(..text, self.front);
        buffer[..self.front].fill(0);
    }
}

/// The words that a lane of mode `M` carries from block to block.
pub(crate) type State<M, S> = <<M as Mode>::Words as Count>::Array<Wave<S>>;

/// The state of one message, in the first lane.
pub(crate) type OneState<M, S> = State<M, One<S>>;

/// An authenticated encryption mode, for any lanes and both directions.
///
/// Methods that take lanes are `#[inline(always)]`, with loops over constant arrays and no
/// closures around operations: see [`sealane_block::Kernel`].
pub(crate) trait Mode: Sized + 'static {
    /// Schedules of AES keys, of encryption or decryption.
    type Schedules: Count;
    /// Blocks that depend on the key alone, and lie beside the schedules in every lane.
    type Constants: Count;
    /// Words of [`State`].
    type Words: Count;
    /// Blocks of a unit, the step of the body.
    const UNIT: usize = 1;
    /// Length of text from which a message of a batch is faster alone in the lanes than beside
    /// others, if its units can run side by side and fill all lanes.
    const ALONE_BYTES: usize = 8192;
    /// Number of passes over the text: the body, and where there are two [`Mode::first_pass`].
    const PASSES: usize = 1;
    /// The widest tier that has code of the mode. Modes of the study, which serve for comparison
    /// only, have none for VAES-512.
    const WIDEST: Tier = Tier::Vaes512;
    /// True if messages of a batch, and units of a message, share lanes in the portable tier too.
    /// Those of modes of the study do not: its code is the largest of all tiers, and nobody
    /// compares speed on it.
    const PORTABLE_LANES: bool = matches!(Self::WIDEST, Tier::Vaes512);
    /// True if units of one message can run side by side, so that one message fills all lanes.
    const PARALLEL: bool;

    /// Computes what depends on the key alone beside its first two schedules.
    fn derive(cpu: Cpu, key: &[u8], material: &mut KeyMaterial<Self>) {
        let _ = (cpu, key, material);
    }

    /// Returns the bytes, of a text of `text` bytes, that remain for the tail: at most 16 * `UNIT`;
    /// the others form whole units.
    fn rest(text: usize) -> usize {
        text % (16 * Self::UNIT)
    }

    /// Bytes of each block of the sealed tail, in order, for `rest` bytes of text; the last is the
    /// tag.
    fn tail_bytes(params: &Params, rest: usize) -> [usize; 4] {
        [rest.min(16), rest.saturating_sub(16), 0, params.tag_len]
    }

    /// Returns the places of a text of `text` bytes and of its sealed message.
    fn shape(params: &Params, text: usize) -> TextLayout {
        TextLayout::in_front(text, text + params.tag_len)
    }

    /// Returns the length of the text in a sealed message of `sealed` bytes, or an upper bound
    /// where padding determines it; none where there is no such text, or its length is not known.
    fn text_bytes(params: &Params, sealed: usize) -> Option<usize> {
        sealed.checked_sub(params.tag_len)
    }

    /// Returns the number of blocks of the head: the nonce and the associated data, unless a mode
    /// has another one.
    fn head_blocks(params: &Params, message: &Facts<'_>) -> usize {
        let _ = params;
        1 + message.ad.len().div_ceil(16)
    }

    /// Returns block `index` of the head.
    #[inline(always)]
    fn head_block(params: &Params, message: &Facts<'_>, index: usize) -> Block {
        match index {
            0 => Self::nonce_block(params, message.nonce),
            _ => padded_block_of(message.ad, index - 1),
        }
    }

    /// Returns the block of the nonce in the head.
    #[inline(always)]
    fn nonce_block(params: &Params, nonce: &[u8]) -> Block {
        let _ = params;
        block_of(nonce, 0)
    }

    /// Absorbs a block of the head. The state is all zero before the first.
    fn absorb<K: Keys>(keys: &K, state: &mut State<Self, K::S>, head: &Head<'_, K::S>);

    /// Finishes the head and prepares the body.
    #[inline(always)]
    fn begin<K: Keys>(keys: &K, state: &mut State<Self, K::S>, head: &Head<'_, K::S>) {
        let _ = (keys, state, head);
    }

    /// The first of two passes over the text.
    #[inline(always)]
    fn first_pass<K: Keys, D: Data<K::S>>(keys: &K, state: &mut State<Self, K::S>, data: &mut D) {
        let _ = (keys, state, data);
        unreachable!("a mode of one pass")
    }

    /// Changes the state between two passes.
    #[inline(always)]
    fn turn<K: Keys>(keys: &K, state: &mut State<Self, K::S>) {
        let _ = (keys, state);
    }

    /// Works on units of text, in place.
    fn body<K: Keys, D: Data<K::S>>(keys: &K, state: &mut State<Self, K::S>, data: &mut D);

    /// Spreads the state of one message to lanes that take its units in turn: lane `l` begins with
    /// unit `at + l` and goes on in steps of [`Wave::LANES`]. `at` is a multiple of these.
    #[inline(always)]
    fn spread<K: Keys>(keys: &K, state: &OneState<Self, K::S>, at: u64) -> State<Self, K::S> {
        let _ = (keys, state, at);
        unreachable!("a mode without units side by side")
    }

    /// The inverse of [`spread`](Mode::spread). `next` is the lane that would take the next unit:
    /// it and the lanes behind it have done one unit less than those before it.
    #[inline(always)]
    fn fold<K: Keys>(keys: &K, state: &State<Self, K::S>, next: usize) -> OneState<Self, K::S> {
        let _ = (keys, state, next);
        unreachable!("a mode without units side by side")
    }

    /// Processes the rest of the text, and the tag.
    #[inline(always)]
    fn tail<K: Keys>(keys: &K, state: &State<Self, K::S>, tail: &mut Tail<'_, K::S>) {
        let _ = (keys, state, tail);
    }
}

/// Works on units of text in one of the passes of a mode.
#[inline(always)]
pub(crate) fn pass_over<M: Mode, K: Keys>(
    keys: &K,
    state: &mut State<M, K::S>,
    data: &mut impl Data<K::S>,
    pass: usize,
) {
    if const { M::PASSES > 1 } && pass == 0 {
        M::first_pass(keys, state, data);
    } else {
        M::body(keys, state, data);
    }
}
