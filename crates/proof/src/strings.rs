//! Flat strings of bits, which parties record and proofs read.

use sealane_block::Block;
use zeroize::Zeroizing;

use crate::kind::GROUP;
use crate::turns::Turns;

/// Blocks of a group of bits.
pub(crate) const GROUP_BLOCKS: usize = GROUP / 128;

/// Blocks of so many bits, in whole groups.
fn whole_groups(bits: usize) -> usize {
    bits.div_ceil(GROUP) * GROUP_BLOCKS
}

/// A string of secret bits, which grows at its end and is erased. Behind its end it is zero up to a
/// whole group, unless it was shrunk.
#[derive(Default)]
pub struct BitString {
    blocks: Zeroizing<Vec<Block>>,
    bits: usize,
}

impl BitString {
    /// An empty string with memory for so many bits.
    pub fn with_capacity(bits: usize) -> BitString {
        let blocks = Vec::with_capacity(whole_groups(bits));
        BitString {
            blocks: Zeroizing::new(blocks),
            bits: 0,
        }
    }

    /// Makes it empty and keeps its memory, which may hold older bits behind the end until others
    /// take their place or it is dropped.
    pub fn clear(&mut self) {
        self.blocks.clear();
        self.bits = 0;
    }

    /// Bits so far.
    pub fn len(&self) -> usize {
        self.bits
    }

    /// True if there is no bit yet.
    pub fn is_empty(&self) -> bool {
        self.bits == 0
    }

    /// Appends the first `bits` bits of `words`, from bit 0 of word 0 on. Bits behind them in the
    /// words may have any value.
    ///
    /// # Panics
    /// If the words hold fewer bits.
    pub fn push(&mut self, words: &[u64], bits: usize) {
        assert!(
            bits <= 64 * words.len(),
            "{bits} bits of {} words",
            words.len()
        );
        self.reserve(bits);
        let (first, shift) = (self.bits / 64, self.bits % 64);
        let all: &mut [u64] = bytemuck::must_cast_slice_mut(&mut self.blocks);
        let (words, last) = words.split_at(bits / 64);
        let all = &mut all[first..];
        if shift == 0 {
            all[..words.len()].copy_from_slice(words);
        } else if let ([first, ..], [.., end]) = (words, words) {
            // What is behind the end is zero. No word is read again that has just been written.
            all[0] |= first << shift;
            for (to, pair) in all[1..].iter_mut().zip(words.windows(2)) {
                *to = pair[0] >> (64 - shift) | pair[1] << shift;
            }
            all[words.len()] = end >> (64 - shift);
        }
        let rest = bits % 64;
        if rest > 0 {
            let word = last[0] & ((1 << rest) - 1);
            all[words.len()] |= word << shift;
            if shift > 0 && rest > 64 - shift {
                all[words.len() + 1] |= word >> (64 - shift);
            }
        }
        self.bits += bits;
    }

    /// Adds the first `bits` bits of `words` to those from bit `first` on.
    ///
    /// # Panics
    /// If the words hold fewer bits, or the string ends before them.
    pub fn add(&mut self, first: usize, words: &[u64], bits: usize) {
        assert!(
            bits <= 64 * words.len() && first + bits <= self.bits,
            "{bits} bits of {} words from bit {first} on",
            words.len()
        );
        let shift = first % 64;
        let all: &mut [u64] = bytemuck::must_cast_slice_mut(&mut self.blocks);
        let all = &mut all[first / 64..];
        let (words, last) = words.split_at(bits / 64);
        if shift == 0 {
            let pairs = all.iter_mut().zip(words);
            pairs.for_each(|(to, word)| *to ^= word);
        } else if let ([first, ..], [.., end]) = (words, words) {
            all[0] ^= first << shift;
            for (to, pair) in all[1..].iter_mut().zip(words.windows(2)) {
                *to ^= pair[0] >> (64 - shift) | pair[1] << shift;
            }
            all[words.len()] ^= end >> (64 - shift);
        }
        let rest = bits % 64;
        if rest > 0 {
            let word = last[0] & ((1 << rest) - 1);
            all[words.len()] ^= word << shift;
            if shift > 0 && rest > 64 - shift {
                all[words.len() + 1] ^= word >> (64 - shift);
            }
        }
    }

    /// Gives up memory behind the last bit. A proof cannot read the string as it is afterwards.
    pub fn shrink(&mut self) {
        let needed = self.bits.div_ceil(128);
        let mut blocks = Zeroizing::new(Vec::with_capacity(needed));
        blocks.extend_from_slice(&self.blocks[..needed]);
        self.blocks = blocks;
    }

    /// The bits, 64 to a word. Behind the last one a word is zero.
    pub fn words(&self) -> &[u64] {
        bytemuck::must_cast_slice(&self.blocks)
    }

    /// The bits, padded with zeros to whole groups.
    pub(crate) fn blocks(&self) -> &[Block] {
        &self.blocks
    }

    /// Bit `i`, for tests.
    #[cfg(test)]
    pub(crate) fn bit(&self, i: usize) -> u8 {
        (self.blocks[i / 128].value() >> (i % 128)) as u8 & 1
    }

    /// Inverts bit `i`, for tests.
    #[cfg(test)]
    pub(crate) fn flip(&mut self, i: usize) {
        assert!(i < self.bits, "there is such a bit");
        self.blocks[i / 128] ^= Block::new(1 << (i % 128));
    }

    /// Makes whole groups for `more` bits. Memory that is given up is erased, which a vector that
    /// grows by itself does not do.
    fn reserve(&mut self, more: usize) {
        let needed = whole_groups(self.bits + more);
        if needed > self.blocks.capacity() {
            let larger = needed.max(2 * self.blocks.capacity());
            let mut blocks = Zeroizing::new(Vec::with_capacity(larger));
            blocks.extend_from_slice(&self.blocks);
            self.blocks = blocks;
        }
        if needed > self.blocks.len() {
            self.blocks.resize(needed, Block::ZERO);
        }
    }
}

/// The strings of a segment at one party, which a proof reads group by group.
///
/// A source that makes its strings when they are asked for needs no memory for all of them: a proof
/// goes through each kind from its first group on, in order, and does so once as a verifier and
/// twice as the prover. `&[Proven]` and `&[Verified]` are whole strings in memory.
pub trait Statements {
    /// Statements of each kind, in the order of the shape.
    fn counts(&self) -> Vec<usize>;

    /// Group `number` of the strings of kind `kind`: the prover's left operands, then its right
    /// ones; or a verifier's operands, then its constant. A kind has [`Shape::group_blocks`] blocks
    /// of each string, which are zero behind the last statement.
    ///
    /// [`Shape::group_blocks`]: crate::Shape::group_blocks
    fn group(&mut self, kind: usize, number: usize) -> Vec<&[Block]>;

    /// Statements about rows that change their order, as many as the shape has: without any for a
    /// source of strings alone.
    fn turns(&self) -> Turns<'_> {
        Turns::default()
    }
}

/// Statements of strings, and statements about rows behind them.
pub struct WithTurns<'a, S>(pub S, pub Turns<'a>);

impl<S: Statements> Statements for WithTurns<'_, S> {
    fn counts(&self) -> Vec<usize> {
        self.0.counts()
    }

    fn group(&mut self, kind: usize, number: usize) -> Vec<&[Block]> {
        self.0.group(kind, number)
    }

    fn turns(&self) -> Turns<'_> {
        self.1.clone()
    }
}

/// Group `number` of whole strings.
fn groups<'a>(strings: [&[&'a BitString]; 2], number: usize) -> Vec<&'a [Block]> {
    let cut = number * GROUP_BLOCKS;
    let strings = strings.into_iter().flatten();
    let group = strings
        .map(|string| &string.blocks()[cut..][..GROUP_BLOCKS.min(string.blocks().len() - cut)]);
    group.collect()
}

/// Statements of strings that all have as many bits.
///
/// # Panics
/// If they have not: the caller has recorded something else than it counted.
fn count(strings: [&[&BitString]; 2]) -> usize {
    let mut lengths = strings.into_iter().flatten().map(|string| string.len());
    let first = lengths.next().unwrap_or(0);
    assert!(
        lengths.all(|length| length == first),
        "statements of all strings"
    );
    first
}

impl Statements for &[Proven<'_>] {
    fn counts(&self) -> Vec<usize> {
        self.iter().map(|of| count([&of.left, &of.right])).collect()
    }

    fn group(&mut self, kind: usize, number: usize) -> Vec<&[Block]> {
        groups([&self[kind].left, &self[kind].right], number)
    }
}

impl Statements for &[Verified<'_>] {
    fn counts(&self) -> Vec<usize> {
        self.iter()
            .map(|of| count([&of.operands, &of.constant]))
            .collect()
    }

    fn group(&mut self, kind: usize, number: usize) -> Vec<&[Block]> {
        groups([&self[kind].operands, &self[kind].constant], number)
    }
}

/// The strings of one kind that the prover has: operands alone, since it knows that its statements
/// hold.
#[derive(Clone)]
pub struct Proven<'a> {
    /// Left operands, shared with the left verifier: for each product the bits of its operand,
    /// lowest first.
    pub left: Vec<&'a BitString>,
    /// Right operands, in the same order.
    pub right: Vec<&'a BitString>,
}

/// The strings of one kind that a verifier has.
#[derive(Clone)]
pub struct Verified<'a> {
    /// The operands of its side, as in [`Proven`].
    pub operands: Vec<&'a BitString>,
    /// The bits of the constant of its side.
    pub constant: Vec<&'a BitString>,
}
