//! AES-128 encryption (FIPS 197) in three shapes: one key for many blocks, many expanded keys,
//! and a fresh key for every block.
//!
//! **Column slicing.** The key schedule is a chain through one word: only word 3 of a round key
//! passes through the S-box. Four keys are therefore scheduled together: vector `i` of a quad
//! holds word `i` of four keys in each lane. One byte shuffle and one *last* AES round with the
//! round constant as its key give SubWord(RotWord(w3)) ^ rcon of all four, four exclusive ors
//! finish the step, and eight interleavings turn the words back into round keys:
//!
//! ```text
//!            key 0            words 0 of keys 0 to 3
//! keys  [a0 a1 a2 a3]        [a0 b0 c0 d0]
//!       [b0 b1 b2 b3]  <-->  [a1 b1 c1 d1]   one lane; the others hold keys of their own
//!       [c0 c1 c2 c3]        [a2 b2 c2 d2]
//!       [d0 d1 d2 d3]        [a3 b3 c3 d3]
//! ```
//!
//! Assumption: none is made here; AES as a pseudorandom permutation or ideal cipher enters with
//! the hashes of [`crate::hash`]. Decryption is absent because no room needs it.

use zeroize::{Zeroize, ZeroizeOnDrop};

use crate::lanes::Quad;
use crate::{Block, Cpu, GROUP, Group, Kernel, Lanes};

/// One expanded AES-128 key.
#[derive(Clone, Zeroize, ZeroizeOnDrop)]
pub struct Aes128 {
    #[zeroize(skip)]
    cpu: Cpu,
    round_keys: [Block; 11],
}

impl Aes128 {
    /// Expands a key.
    pub fn new(cpu: Cpu, key: Block) -> Aes128 {
        let mut keys = Group::ZERO;
        keys[0] = key;
        let mut expanded = [Group::ZERO; 11];
        cpu.run(Expand {
            keys: &keys,
            expanded: &mut expanded,
        });
        let mut round_keys = [Block::ZERO; 11];
        for (round_key, group) in round_keys.iter_mut().zip(&expanded) {
            *round_key = group[0];
        }
        keys.zeroize();
        expanded.zeroize();
        Aes128 { cpu, round_keys }
    }

    /// Encrypts every block in place (ECB: the caller sees to the mode).
    pub fn encrypt_blocks(&self, blocks: &mut [Block]) {
        self.cpu.run(EncryptBlocks {
            round_keys: &self.round_keys,
            blocks,
        });
    }

    /// Encrypts one block. Many blocks in one call cost far less each.
    pub fn encrypt(&self, block: Block) -> Block {
        let mut blocks = [block];
        self.encrypt_blocks(&mut blocks);
        blocks[0]
    }

    pub(crate) fn cpu(&self) -> Cpu {
        self.cpu
    }

    pub(crate) fn round_keys(&self) -> &[Block; 11] {
        &self.round_keys
    }
}

/// Many expanded AES-128 keys, each for one block of a call.
#[derive(Zeroize, ZeroizeOnDrop)]
pub struct Aes128Many {
    #[zeroize(skip)]
    cpu: Cpu,
    len: usize,
    /// For each group of sixteen keys, round key `r` of all sixteen.
    round_keys: Vec<[Group; 11]>,
}

impl Aes128Many {
    /// Expands all keys.
    pub fn new(cpu: Cpu, keys: &[Block]) -> Aes128Many {
        let mut round_keys = vec![[Group::ZERO; 11]; keys.len().div_ceil(GROUP)];
        for (keys, expanded) in keys.chunks(GROUP).zip(&mut round_keys) {
            let mut padded = Group::ZERO;
            padded[..keys.len()].copy_from_slice(keys);
            cpu.run(Expand {
                keys: &padded,
                expanded,
            });
            padded.zeroize();
        }
        Aes128Many {
            cpu,
            len: keys.len(),
            round_keys,
        }
    }

    /// Encrypts block `i` in place under key `i`.
    ///
    /// # Panics
    /// If there is not one block for each key.
    pub fn encrypt_each(&self, blocks: &mut [Block]) {
        assert_eq!(blocks.len(), self.len, "one block for each key");
        self.cpu.run(EncryptMany {
            round_keys: &self.round_keys,
            blocks,
        });
    }
}

/// Encrypts block `i` in place under the fresh key `keys[i]`, whose schedule is computed on the
/// way and forgotten.
///
/// # Panics
/// If there is not one block for each key.
pub fn encrypt_fresh(cpu: Cpu, keys: &[Block], blocks: &mut [Block]) {
    assert_eq!(keys.len(), blocks.len(), "one block for each key");
    cpu.run(EncryptFresh { keys, blocks });
}

/// Round keys of four keys a lane in sliced form; see the module's drawing.
#[derive(Clone, Copy)]
pub struct SlicedKeys<L: Lanes> {
    words: Quad<L>,
}

impl<L: Lanes> SlicedKeys<L> {
    /// Slices a quad of keys.
    #[inline(always)]
    pub fn from_keys(l: L, keys: Quad<L>) -> SlicedKeys<L> {
        SlicedKeys {
            words: l.transpose_words(keys),
        }
    }

    /// Takes keys whose words the caller has sliced already.
    #[inline(always)]
    pub fn from_words(words: Quad<L>) -> SlicedKeys<L> {
        SlicedKeys { words }
    }

    /// From the keys of round `round - 1` to those of `round`, 1 to 10.
    #[inline(always)]
    pub fn advance(&mut self, l: L, round: usize) {
        let [w0, w1, w2, w3] = self.words;
        let constant = l.splat(ROUND_CONSTANTS[round]);
        let turned = l.aes_last(l.rotate_words(w3), constant);
        // Prefix sums first: the chain from round to round is then one exclusive or long.
        let (w01, w23) = (l.xor(w0, w1), l.xor(w2, w3));
        let w012 = l.xor(w01, w2);
        let w0123 = l.xor(w01, w23);
        self.words = [
            l.xor(w0, turned),
            l.xor(w01, turned),
            l.xor(w012, turned),
            l.xor(w0123, turned),
        ];
    }

    /// The round keys as a quad of blocks.
    #[inline(always)]
    pub fn keys(&self, l: L) -> Quad<L> {
        l.transpose_words(self.words)
    }
}

/// The round keys of two quads of keys: eight vectors, as many as keep the AES units busy.
///
/// The schedule is a chain of its own, nine cycles a round. It is therefore finished, for two
/// quads side by side, before the rounds begin, and its keys wait in the nearest cache (up to 5.5
/// KiB): woven into the rounds, the chain would hold them up, and sixteen registers would not do.
pub struct FreshKeys<L: Lanes> {
    round_keys: [[L::V; 8]; 11],
}

impl<L: Lanes> FreshKeys<L> {
    /// A place for round keys; a kernel makes one and expands keys into it again and again.
    #[inline(always)]
    pub fn new(l: L) -> FreshKeys<L> {
        FreshKeys {
            round_keys: [[l.splat(Block::ZERO); 8]; 11],
        }
    }

    /// Expands two quads of sliced keys.
    #[inline(always)]
    pub fn expand(&mut self, l: L, sliced: [SlicedKeys<L>; 2]) {
        self.put(0, sliced[0].keys(l), sliced[1].keys(l));
        self.advance(l, sliced);
    }

    /// Expands two quads of keys.
    #[inline(always)]
    pub fn expand_keys(&mut self, l: L, keys: [Quad<L>; 2]) {
        let [low, high] = keys;
        self.put(0, low, high);
        self.advance(
            l,
            [
                SlicedKeys::from_keys(l, low),
                SlicedKeys::from_keys(l, high),
            ],
        );
    }

    #[inline(always)]
    fn advance(&mut self, l: L, sliced: [SlicedKeys<L>; 2]) {
        let [mut low, mut high] = sliced;
        for round in 1..=10 {
            low.advance(l, round);
            high.advance(l, round);
            self.put(round, low.keys(l), high.keys(l));
        }
    }

    #[inline(always)]
    fn put(&mut self, round: usize, low: Quad<L>, high: Quad<L>) {
        let [k0, k1, k2, k3] = low;
        let [k4, k5, k6, k7] = high;
        self.round_keys[round] = [k0, k1, k2, k3, k4, k5, k6, k7];
    }

    /// Encrypts two quads, block by block under these keys.
    #[inline(always)]
    pub fn encrypt(&self, l: L, blocks: [Quad<L>; 2]) -> [Quad<L>; 2] {
        let keys = &self.round_keys;
        let mut states = keys[0];
        for i in 0..8 {
            states[i] = l.xor(states[i], blocks[i / 4][i % 4]);
        }
        l.nine_rounds_each(&mut states, keys);
        let mut out = blocks;
        for i in 0..8 {
            out[i / 4][i % 4] = l.aes_last(states[i], keys[10][i]);
        }
        out
    }

    /// Encrypts single vectors, each under the keys at its column: vector `m` of the first quad
    /// has column `m`, of the second `4 + m`. For chains of calls, which wait for each call's end.
    #[inline(always)]
    pub fn encrypt_some<const N: usize>(
        &self,
        l: L,
        columns: [usize; N],
        blocks: [L::V; N],
    ) -> [L::V; N] {
        let keys = &self.round_keys;
        let mut states = blocks;
        for i in 0..N {
            states[i] = l.xor(states[i], keys[0][columns[i]]);
        }
        for round in 1..10 {
            for i in 0..N {
                states[i] = l.aes_round(states[i], keys[round][columns[i]]);
            }
        }
        for i in 0..N {
            states[i] = l.aes_last(states[i], keys[10][columns[i]]);
        }
        states
    }
}

/// FIPS 197, section 5.2: the round constants, in every word; entry 0 is unused.
const ROUND_CONSTANTS: [Block; 11] = {
    let mut constants = [Block::ZERO; 11];
    let mut value: u32 = 1;
    let mut round = 1;
    while round <= 10 {
        constants[round] = Block::from_word(value);
        value = (value << 1) ^ if value & 0x80 != 0 { 0x11b } else { 0 };
        round += 1;
    }
    constants
};

/// Eight vectors of at most four lanes: what the fixed-key loop takes in one turn.
pub(crate) const MAX_TURN: usize = 32;

/// A key's eleven round keys in every lane.
#[inline(always)]
pub(crate) fn splat_keys<L: Lanes>(l: L, round_keys: &[Block; 11]) -> [L::V; 11] {
    let mut keys = [l.splat(round_keys[0]); 11];
    for round in 1..11 {
        keys[round] = l.splat(round_keys[round]);
    }
    keys
}

/// Encrypts eight vectors under one key.
#[inline(always)]
pub(crate) fn encrypt_eight<L: Lanes>(l: L, keys: &[L::V; 11], states: &mut [L::V; 8]) {
    for i in 0..8 {
        states[i] = l.xor(states[i], keys[0]);
    }
    l.nine_rounds(states, keys);
    for i in 0..8 {
        states[i] = l.aes_last(states[i], keys[10]);
    }
}

/// Encrypts a few vectors under one key.
#[inline(always)]
pub(crate) fn encrypt_some<L: Lanes, const N: usize>(
    l: L,
    keys: &[L::V; 11],
    blocks: [L::V; N],
) -> [L::V; N] {
    let mut states = blocks.map(|block| l.xor(block, keys[0]));
    for key in &keys[1..10] {
        for state in &mut states {
            *state = l.aes_round(*state, *key);
        }
    }
    states.map(|state| l.aes_last(state, keys[10]))
}

struct Expand<'a> {
    keys: &'a Group,
    expanded: &'a mut [Group; 11],
}

impl Kernel for Expand<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, l: L) {
        for q in 0..L::QUADS {
            let at = q * L::QUAD;
            let keys = l.load_quad(&self.keys[at..]);
            l.store_quad(&mut self.expanded[0][at..], keys);
            let mut sliced = SlicedKeys::from_keys(l, keys);
            for round in 1..=10 {
                sliced.advance(l, round);
                l.store_quad(&mut self.expanded[round][at..], sliced.keys(l));
            }
        }
    }
}

struct EncryptBlocks<'a> {
    round_keys: &'a [Block; 11],
    blocks: &'a mut [Block],
}

impl Kernel for EncryptBlocks<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, l: L) {
        let keys = splat_keys(l, self.round_keys);
        let mut turns = self.blocks.chunks_exact_mut(8 * L::WIDTH);
        for turn in &mut turns {
            encrypt_turn(l, &keys, turn);
        }
        let rest = turns.into_remainder();
        if !rest.is_empty() {
            let mut padded = [Block::ZERO; MAX_TURN];
            padded[..rest.len()].copy_from_slice(rest);
            encrypt_turn(l, &keys, &mut padded);
            rest.copy_from_slice(&padded[..rest.len()]);
        }
    }
}

#[inline(always)]
fn encrypt_turn<L: Lanes>(l: L, keys: &[L::V; 11], turn: &mut [Block]) {
    let turn = &mut turn[..8 * L::WIDTH];
    let mut states = [keys[0]; 8];
    for i in 0..8 {
        states[i] = l.load(&turn[i * L::WIDTH..]);
    }
    encrypt_eight(l, keys, &mut states);
    for i in 0..8 {
        l.store(&mut turn[i * L::WIDTH..], states[i]);
    }
}

struct EncryptMany<'a> {
    round_keys: &'a [[Group; 11]],
    blocks: &'a mut [Block],
}

impl Kernel for EncryptMany<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, l: L) {
        let (groups, rest) = self.blocks.as_chunks_mut::<GROUP>();
        for (group, keys) in groups.iter_mut().zip(self.round_keys) {
            encrypt_group(l, keys, group);
        }
        if let (false, Some(keys)) = (rest.is_empty(), self.round_keys.last()) {
            let mut padded = [Block::ZERO; GROUP];
            padded[..rest.len()].copy_from_slice(rest);
            encrypt_group(l, keys, &mut padded);
            rest.copy_from_slice(&padded[..rest.len()]);
        }
    }
}

#[inline(always)]
fn encrypt_group<L: Lanes>(l: L, keys: &[Group; 11], group: &mut [Block; GROUP]) {
    for q in 0..L::QUADS {
        let at = q * L::QUAD;
        let mut states = l.xor_quad(l.load_quad(&group[at..]), l.load_quad(&keys[0][at..]));
        for round in 1..10 {
            let keys = l.load_quad(&keys[round][at..]);
            for m in 0..4 {
                states[m] = l.aes_round(states[m], keys[m]);
            }
        }
        let keys = l.load_quad(&keys[10][at..]);
        for m in 0..4 {
            states[m] = l.aes_last(states[m], keys[m]);
        }
        l.store_quad(&mut group[at..], states);
    }
}

struct EncryptFresh<'a> {
    keys: &'a [Block],
    blocks: &'a mut [Block],
}

impl Kernel for EncryptFresh<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, l: L) {
        let mut fresh = FreshKeys::new(l);
        let mut key_turns = self.keys.chunks_exact(2 * L::QUAD);
        let mut turns = self.blocks.chunks_exact_mut(2 * L::QUAD);
        for (keys, turn) in (&mut key_turns).zip(&mut turns) {
            encrypt_turn_fresh(l, &mut fresh, keys, turn);
        }
        let (last_keys, rest) = (key_turns.remainder(), turns.into_remainder());
        if !rest.is_empty() {
            let (mut keys, mut turn) = ([Block::ZERO; MAX_TURN], [Block::ZERO; MAX_TURN]);
            keys[..rest.len()].copy_from_slice(last_keys);
            turn[..rest.len()].copy_from_slice(rest);
            encrypt_turn_fresh(l, &mut fresh, &keys, &mut turn);
            rest.copy_from_slice(&turn[..rest.len()]);
            keys.zeroize();
        }
    }
}

#[inline(always)]
fn encrypt_turn_fresh<L: Lanes>(
    l: L,
    fresh: &mut FreshKeys<L>,
    keys: &[Block],
    turn: &mut [Block],
) {
    let low = SlicedKeys::from_keys(l, l.load_quad(keys));
    let high = SlicedKeys::from_keys(l, l.load_quad(&keys[L::QUAD..]));
    let blocks = [l.load_quad(turn), l.load_quad(&turn[L::QUAD..])];
    fresh.expand(l, [low, high]);
    let [low, high] = fresh.encrypt(l, blocks);
    l.store_quad(turn, low);
    l.store_quad(&mut turn[L::QUAD..], high);
}
