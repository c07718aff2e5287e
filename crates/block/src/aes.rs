//! AES-128 (FIPS 197) in three shapes: one key for many blocks, many expanded keys, and a fresh
//! key for every block. One key also decrypts.
//!
//! Keys that serve one block or two are scheduled in the form of [`crate::fresh`].
//!
//! **Directions.** Decryption is the *equivalent inverse cipher* of FIPS 197, section 5.3.5: its
//! rounds have the shape of those of encryption, and its round keys are stored in the order of
//! their use. The bodies here are therefore written once, over a [`Direction`]; the kernels of
//! other crates reach them through [`cipher_splat`] and [`cipher_each`], and their parts.
//!
//! Assumption: none. AES as a pseudorandom permutation or ideal cipher is assumed by the hashes of
//! [`crate::hash`].

use std::marker::PhantomData;

use zeroize::{Zeroize, ZeroizeOnDrop};

use crate::fresh::{FreshCipher, SlicedKeys};
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
    #[inline]
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

    /// Encrypts every block in place (ECB: the caller is responsible for the mode).
    #[inline]
    pub fn encrypt_blocks(&self, blocks: &mut [Block]) {
        self.cpu.run(CipherBlocks {
            direction: PhantomData::<Forward>,
            round_keys: &self.round_keys,
            blocks,
        });
    }

    /// Encrypts one block. Many blocks in one call cost far less each.
    #[inline]
    pub fn encrypt(&self, block: Block) -> Block {
        let mut blocks = [block];
        self.encrypt_blocks(&mut blocks);
        blocks[0]
    }

    #[inline]
    pub(crate) fn cpu(&self) -> Cpu {
        self.cpu
    }

    /// The round keys of [`Forward`], as secret as the key itself.
    #[inline]
    pub fn round_keys(&self) -> &[Block; 11] {
        &self.round_keys
    }
}

/// One expanded AES-128 key, for decryption.
#[derive(Clone, Zeroize, ZeroizeOnDrop)]
pub struct Aes128Dec {
    #[zeroize(skip)]
    cpu: Cpu,
    round_keys: [Block; 11],
}

impl Aes128Dec {
    /// Turns the round keys of encryption into those of decryption.
    #[inline]
    pub fn new(aes: &Aes128) -> Aes128Dec {
        let mut round_keys = aes.round_keys;
        round_keys.reverse();
        let mut inner = Group::ZERO;
        inner[..9].copy_from_slice(&round_keys[1..10]);
        aes.cpu.run(UnmixColumns { blocks: &mut inner });
        round_keys[1..10].copy_from_slice(&inner[..9]);
        inner.zeroize();
        let dec = Aes128Dec {
            cpu: aes.cpu,
            round_keys,
        };
        round_keys.zeroize();
        dec
    }

    /// Decrypts every block in place (ECB: the caller is responsible for the mode).
    #[inline]
    pub fn decrypt_blocks(&self, blocks: &mut [Block]) {
        self.cpu.run(CipherBlocks {
            direction: PhantomData::<Back>,
            round_keys: &self.round_keys,
            blocks,
        });
    }

    /// Decrypts one block. Many blocks in one call cost far less each.
    #[inline]
    pub fn decrypt(&self, block: Block) -> Block {
        let mut blocks = [block];
        self.decrypt_blocks(&mut blocks);
        blocks[0]
    }

    /// The round keys of [`Back`], as secret as the key itself: key 0, which is used first, is key
    /// 10 of encryption; keys 1 to 9 are InvMixColumns of keys 9 to 1; key 10 is key 0.
    #[inline]
    pub fn round_keys(&self) -> &[Block; 11] {
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
    #[inline]
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

    /// The round keys of key `i`.
    pub(crate) fn round_keys(&self, i: usize) -> [Block; 11] {
        let mut keys = [Block::ZERO; 11];
        for (key, groups) in keys.iter_mut().zip(&self.round_keys[i / GROUP]) {
            *key = groups[i % GROUP];
        }
        keys
    }

    /// Encrypts block `i` in place under key `i`.
    ///
    /// # Panics
    /// If there is not one block for each key.
    #[inline]
    pub fn encrypt_each(&self, blocks: &mut [Block]) {
        assert_eq!(blocks.len(), self.len, "one block for each key");
        self.cpu.run(EncryptMany {
            round_keys: &self.round_keys,
            blocks,
        });
    }
}

/// Encrypts block `i` in place under the fresh key `keys[i]`, whose schedule is computed on the fly
/// and not kept.
///
/// # Panics
/// If there is not one block for each key.
#[inline]
pub fn encrypt_fresh(cpu: Cpu, keys: &[Block], blocks: &mut [Block]) {
    assert_eq!(keys.len(), blocks.len(), "one block for each key");
    cpu.run(EncryptFresh { keys, blocks });
}

/// Blocks of a batch of the fixed-key loop: eight vectors of at most four lanes.
pub(crate) const MAX_BATCH: usize = 32;

mod sealed {
    pub trait Sealed {}
}

/// Direction of a cipher: [`Forward`] encrypts, [`Back`] decrypts. It is a type and never a value,
/// so that a kernel is compiled for each direction on its own.
///
/// Both take round keys in the order of their use: the keys of [`Aes128::round_keys`] and of
/// [`Aes128Dec::round_keys`].
pub trait Direction: sealed::Sealed {
    /// One inner round.
    fn round<L: Lanes>(l: L, v: L::V, key: L::V) -> L::V;
    /// The last round.
    fn last<L: Lanes>(l: L, v: L::V, key: L::V) -> L::V;
    /// Rounds 1 to 9 on eight vectors under one key.
    fn nine<L: Lanes>(l: L, states: &mut [L::V; 8], keys: &[Block; 11]);
    /// Rounds 1 to 9 on eight vectors, each under keys of its own.
    fn nine_each<L: Lanes>(l: L, states: &mut [L::V; 8], keys: &[[L::V; 8]; 11]);
}

/// Encryption.
pub enum Forward {}

/// Decryption.
pub enum Back {}

/// A direction and its four operations.
macro_rules! direction {
    ($name:ident: $round:ident $last:ident $nine:ident $nine_each:ident) => {
        impl sealed::Sealed for $name {}

        impl Direction for $name {
            #[inline(always)]
            fn round<L: Lanes>(l: L, v: L::V, key: L::V) -> L::V {
                l.$round(v, key)
            }
            #[inline(always)]
            fn last<L: Lanes>(l: L, v: L::V, key: L::V) -> L::V {
                l.$last(v, key)
            }
            #[inline(always)]
            fn nine<L: Lanes>(l: L, states: &mut [L::V; 8], keys: &[Block; 11]) {
                l.$nine(states, keys);
            }
            #[inline(always)]
            fn nine_each<L: Lanes>(l: L, states: &mut [L::V; 8], keys: &[[L::V; 8]; 11]) {
                l.$nine_each(states, keys);
            }
        }
    };
}

direction!(Forward: aes_round aes_last nine_rounds nine_rounds_each);
direction!(Back: aes_unround aes_unlast nine_unrounds nine_unrounds_each);

/// Runs `N` vectors through the cipher under one key. Eight vectors reach full speed; fewer are for
/// chains of calls, each of which waits for the one before.
#[inline(always)]
pub fn cipher_splat<L: Lanes, D: Direction, const N: usize>(
    l: L,
    keys: &[Block; 11],
    states: &mut [L::V; N],
) {
    rounds_splat::<L, D, N>(l, keys, states, None);
    last_splat::<L, D, N>(l, keys, states, None);
}

/// Runs all rounds under one key but the last. To the input are added values that are computed
/// `late`, as in a chain, where that costs less than before the call: the sum of block and first
/// round key does not depend on them and is ready.
#[inline(always)]
pub fn rounds_splat<L: Lanes, D: Direction, const N: usize>(
    l: L,
    keys: &[Block; 11],
    states: &mut [L::V; N],
    late: Option<&[L::V; N]>,
) {
    first_each(l, states, &[l.splat(keys[0]); N], late);
    nine_splat::<L, D, N>(l, keys, states);
}

/// Rounds 1 to 9 under one key.
#[inline(always)]
fn nine_splat<L: Lanes, D: Direction, const N: usize>(
    l: L,
    keys: &[Block; 11],
    states: &mut [L::V; N],
) {
    // Known when the body is compiled: the branch not taken generates no code.
    if let Ok(eight) = states.as_mut_slice().try_into() {
        D::nine(l, eight, keys);
    } else {
        for key in &keys[1..10] {
            round_each::<L, D, N>(l, states, &[l.splat(*key); N]);
        }
    }
}

/// Runs the last round under one key, and adds `onto` to the output, where that costs less than
/// behind the call: it is added to the last round key, off the chain.
#[inline(always)]
pub fn last_splat<L: Lanes, D: Direction, const N: usize>(
    l: L,
    keys: &[Block; 11],
    states: &mut [L::V; N],
    onto: Option<&[L::V; N]>,
) {
    last_each::<L, D, N>(l, states, &[l.splat(keys[10]); N], onto);
}

/// Runs `N` vectors through the cipher, each block under keys of its own: key `r` of vector `i` is
/// `keys[r][i]`. Eight vectors reach full speed.
#[inline(always)]
pub fn cipher_each<L: Lanes, D: Direction, const N: usize>(
    l: L,
    keys: &[[L::V; N]; 11],
    states: &mut [L::V; N],
) {
    rounds_each::<L, D, N>(l, keys, states, None);
    last_each::<L, D, N>(l, states, &keys[10], None);
}

/// As [`rounds_splat`], each block under keys of its own.
#[inline(always)]
pub fn rounds_each<L: Lanes, D: Direction, const N: usize>(
    l: L,
    keys: &[[L::V; N]; 11],
    states: &mut [L::V; N],
    late: Option<&[L::V; N]>,
) {
    first_each(l, states, &keys[0], late);
    let (rows, _) = keys.as_flattened().as_chunks::<8>();
    // Both conditions hold or neither does: `N` is 8 or it is not.
    if let (Ok(eight), Ok(keys)) = (states.as_mut_slice().try_into(), rows.try_into()) {
        D::nine_each(l, eight, keys);
    } else {
        for keys in &keys[1..10] {
            round_each::<L, D, N>(l, states, keys);
        }
    }
}

/// Runs the cipher under one key with an offset that is added to the input and the output
/// (XEX: Rogaway, "Efficient Instantiations of Tweakable Blockciphers", ASIACRYPT 2004): one offset
/// for each vector, plus a common one.
#[inline(always)]
pub fn xex_splat<L: Lanes, D: Direction, const N: usize>(
    l: L,
    keys: &[Block; 11],
    states: &mut [L::V; N],
    offsets: &[L::V; N],
    shared: L::V,
) {
    let first = l.optimization_barrier(l.xor(l.splat(keys[0]), shared));
    let last = l.optimization_barrier(l.xor(l.splat(keys[10]), shared));
    for i in 0..N {
        states[i] = l.xor(l.xor(states[i], first), offsets[i]);
    }
    nine_splat::<L, D, N>(l, keys, states);
    last_each::<L, D, N>(l, states, &[last; N], Some(offsets));
}

/// Encrypts eight vectors under one key.
#[inline(always)]
pub fn encrypt_eight<L: Lanes>(l: L, keys: &[Block; 11], states: &mut [L::V; 8]) {
    cipher_splat::<L, Forward, 8>(l, keys, states);
}

/// Encrypts a few vectors under one key.
#[inline(always)]
pub fn encrypt_some<L: Lanes, const N: usize>(
    l: L,
    keys: &[Block; 11],
    blocks: [L::V; N],
) -> [L::V; N] {
    let mut states = blocks;
    cipher_splat::<L, Forward, N>(l, keys, &mut states);
    states
}

#[inline(always)]
pub(crate) fn first_each<L: Lanes, const N: usize>(
    l: L,
    states: &mut [L::V; N],
    keys: &[L::V; N],
    late: Option<&[L::V; N]>,
) {
    for i in 0..N {
        states[i] = l.xor(states[i], keys[i]);
        if let Some(late) = late {
            states[i] = l.xor(l.optimization_barrier(states[i]), late[i]);
        }
    }
}

#[inline(always)]
pub(crate) fn round_each<L: Lanes, D: Direction, const N: usize>(
    l: L,
    states: &mut [L::V; N],
    keys: &[L::V; N],
) {
    for i in 0..N {
        states[i] = D::round(l, states[i], keys[i]);
    }
}

/// As [`last_splat`], each block under a key of its own.
#[inline(always)]
pub fn last_each<L: Lanes, D: Direction, const N: usize>(
    l: L,
    states: &mut [L::V; N],
    keys: &[L::V; N],
    onto: Option<&[L::V; N]>,
) {
    for i in 0..N {
        let key = match onto {
            Some(onto) => l.optimization_barrier(l.xor(keys[i], onto[i])),
            None => keys[i],
        };
        states[i] = D::last(l, states[i], key);
    }
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
                l.store_quad(&mut self.expanded[round][at..], sliced.keys(l, round));
            }
        }
    }
}

/// InvMixColumns on every block.
struct UnmixColumns<'a> {
    blocks: &'a mut Group,
}

impl Kernel for UnmixColumns<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, l: L) {
        let zero = l.splat(Block::ZERO);
        for at in (0..GROUP).step_by(L::WIDTH) {
            // The last round of encryption is ShiftRows and SubBytes, which the inverse round
            // undoes.
            let substituted = l.aes_last(l.load(&self.blocks[at..]), zero);
            l.store(&mut self.blocks[at..], l.aes_unround(substituted, zero));
        }
    }
}

struct CipherBlocks<'a, D> {
    direction: PhantomData<D>,
    round_keys: &'a [Block; 11],
    blocks: &'a mut [Block],
}

impl<D: Direction> Kernel for CipherBlocks<'_, D> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, l: L) {
        let mut batches = self.blocks.chunks_exact_mut(8 * L::WIDTH);
        for batch in &mut batches {
            cipher_batch::<L, D>(l, self.round_keys, batch);
        }
        let rest = batches.into_remainder();
        if !rest.is_empty() {
            let mut padded = [Block::ZERO; MAX_BATCH];
            padded[..rest.len()].copy_from_slice(rest);
            cipher_batch::<L, D>(l, self.round_keys, &mut padded);
            rest.copy_from_slice(&padded[..rest.len()]);
            padded[..rest.len()].iter_mut().zeroize();
        }
    }
}

#[inline(always)]
fn cipher_batch<L: Lanes, D: Direction>(l: L, keys: &[Block; 11], batch: &mut [Block]) {
    let mut states = l.load_vectors(batch);
    cipher_splat::<L, D, 8>(l, keys, &mut states);
    l.store_vectors(batch, &states);
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
            round_each::<L, Forward, 4>(l, &mut states, &l.load_quad(&keys[round][at..]));
        }
        last_each::<L, Forward, 4>(l, &mut states, &l.load_quad(&keys[10][at..]), None);
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
        let mut fresh = FreshCipher::new(l);
        let mut key_batches = self.keys.chunks_exact(2 * L::QUAD);
        let mut batches = self.blocks.chunks_exact_mut(2 * L::QUAD);
        for (keys, batch) in (&mut key_batches).zip(&mut batches) {
            encrypt_batch_fresh(l, &mut fresh, keys, batch);
        }
        let (last_keys, rest) = (key_batches.remainder(), batches.into_remainder());
        if !rest.is_empty() {
            let (mut keys, mut batch) = ([Block::ZERO; MAX_BATCH], [Block::ZERO; MAX_BATCH]);
            keys[..rest.len()].copy_from_slice(last_keys);
            batch[..rest.len()].copy_from_slice(rest);
            encrypt_batch_fresh(l, &mut fresh, &keys, &mut batch);
            rest.copy_from_slice(&batch[..rest.len()]);
            keys.zeroize();
        }
    }
}

#[inline(always)]
fn encrypt_batch_fresh<L: Lanes>(
    l: L,
    fresh: &mut FreshCipher<L>,
    keys: &[Block],
    batch: &mut [Block],
) {
    let low = SlicedKeys::from_keys(l, l.load_quad(keys));
    let high = SlicedKeys::from_keys(l, l.load_quad(&keys[L::QUAD..]));
    let made = fresh.encrypt_each(l, [low, high], l.load_pair(batch));
    l.store_pair(batch, made);
}
