//! The trait of a mode, and its parameters.

use std::ops::IndexMut;

use sealane_block::lanes::MAX_LANES;
use sealane_block::{Block, Cpu, Lanes, Tier};

use super::{Data, Head, KeyMaterial, Keys, Tail, Wave};

/// A number known to the compiler, with arrays of that length.
pub(crate) trait Count: 'static {
    /// An array of that length.
    type Array<T: Copy>: Copy + IndexMut<usize, Output = T> + AsRef<[T]> + AsMut<[T]>;
    /// Creates an array of equal items.
    fn filled<T: Copy>(item: T) -> Self::Array<T>;
}

/// The number `S`.
pub(crate) struct Of<const S: usize>;

impl<const S: usize> Count for Of<S> {
    type Array<T: Copy> = [T; S];
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
pub(crate) type State<M, L, const N: usize> = <<M as Mode>::Words as Count>::Array<Wave<L, N>>;

/// An authenticated encryption mode, for any lanes. `OPEN` selects the direction.
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
    /// Number of passes of the body over the text.
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

    /// Expands a key, whose length has been checked.
    fn expand(cpu: Cpu, key: &[u8], params: Params) -> KeyMaterial<Self>;

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

    /// Returns the number of blocks of the head.
    fn head_blocks(params: &Params, message: &Facts<'_>) -> usize;

    /// Returns block `index` of the head.
    fn head_block(params: &Params, message: &Facts<'_>, index: usize) -> Block;

    /// Absorbs a block of the head. The state is all zero before the first.
    fn absorb<L: Lanes, const N: usize>(
        keys: &impl Keys<L, N>,
        state: &mut State<Self, L, N>,
        block: Wave<L, N>,
        head: &Head<'_, L, N>,
    );

    /// Finishes the head and prepares the body.
    #[inline(always)]
    fn begin<L: Lanes, const N: usize>(
        keys: &impl Keys<L, N>,
        state: &mut State<Self, L, N>,
        head: &Head<'_, L, N>,
    ) {
        let _ = (keys, state, head);
    }

    /// Works on units of text, in place.
    fn body<L: Lanes, const N: usize, const OPEN: bool>(
        keys: &impl Keys<L, N>,
        state: &mut State<Self, L, N>,
        data: &mut impl Data<L, N>,
        pass: usize,
    );

    /// Changes the state between two passes.
    #[inline(always)]
    fn turn<L: Lanes, const N: usize>(keys: &impl Keys<L, N>, state: &mut State<Self, L, N>) {
        let _ = (keys, state);
    }

    /// Spreads the state of one message (in lane 0) to lanes that take its units in turn: lane `l`
    /// begins with unit `position + l` and goes on in steps of [`Wave::LANES`]. The position is a
    /// multiple of these.
    #[inline(always)]
    fn spread<L: Lanes, const N: usize>(
        keys: &impl Keys<L, N>,
        state: &State<Self, L, 1>,
        position: u64,
    ) -> State<Self, L, N> {
        let _ = (state, position, keys);
        unreachable!("a mode without units side by side")
    }

    /// The inverse of [`spread`](Mode::spread). `next` is the lane that would take the next unit:
    /// it and the lanes behind it have done one unit less than those before it.
    #[inline(always)]
    fn fold<L: Lanes, const N: usize>(
        keys: &impl Keys<L, N>,
        state: &State<Self, L, N>,
        next: usize,
    ) -> State<Self, L, 1> {
        let _ = (keys, state, next);
        unreachable!("a mode without units side by side")
    }

    /// Processes the rest of the text, and the tag.
    fn tail<L: Lanes, const N: usize, const OPEN: bool>(
        keys: &impl Keys<L, N>,
        state: &State<Self, L, N>,
        tail: &mut Tail<'_, L, N>,
    );
}
