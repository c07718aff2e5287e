//! Correlation-robust hashes from AES, and what each assumes.
//!
//! With sigma(xL || xR) = (xL ^ xR) || xL, a linear orthomorphism, and pi a fixed-key AES:
//!
//! * [`FixedKeyHash::ccr`] is pi(sigma(x)) ^ sigma(x): circular correlation robust in the random
//!   permutation model (paper 1, section 7.3).
//! * [`FixedKeyHash::tccr`] is pi(pi(x) ^ i) ^ pi(x): tweakable circular correlation robust in the
//!   same model (paper 1, section 7.4).
//! * [`MiHash`] is AES_(S ^ i)(sigma(x)) ^ sigma(x): the same over many instances, in the ideal
//!   cipher model (paper 2).
//!
//! 1. Guo, Katz, Wang, Yu: "Efficient and Secure Multiparty Computation from Fixed-Key Block
//!    Ciphers", IEEE S&P 2020.
//! 2. Guo, Katz, Wang, Weng, Yu: "Better Concrete Security for Half-Gates Garbling (in the
//!    Multi-Instance Setting)", Crypto 2020.
//!
//! The advantage against the first two grows with work times the number of gates garbled under
//! one key, over all instances. MI gives every tweak a key of its own, and the public seed S moves
//! the keys of every instance to a fresh place, so the bound depends on how often *one* key is
//! used (twice here), not on the total. What it needs in return: within one seed no tweak is used
//! twice, and seeds are fresh random blocks.

use crate::aes::{self, Aes128, FreshKeys, SlicedKeys};
use crate::lanes::Quad;
use crate::{Block, Cpu, GROUP, Kernel, Lanes};
use zeroize::Zeroize;

/// Hashes under one fixed key, which may be public.
pub struct FixedKeyHash {
    aes: Aes128,
}

impl FixedKeyHash {
    /// Hashes under this key.
    pub fn new(cpu: Cpu, key: Block) -> FixedKeyHash {
        FixedKeyHash {
            aes: Aes128::new(cpu, key),
        }
    }

    /// Replaces each `x` by pi(sigma(x)) ^ sigma(x): one AES a block, circular correlation
    /// robust. Inputs that an adversary chooses, or tweaks, need [`FixedKeyHash::tccr`].
    pub fn ccr(&self, blocks: &mut [Block]) {
        let keys = self.aes.round_keys();
        self.aes.cpu().run(FixedKey::<false> {
            round_keys: keys,
            first_tweak: 0,
            blocks,
        });
    }

    /// Replaces block `i` by pi(pi(x) ^ t) ^ pi(x) where t = `first_tweak + i`: two AES a block.
    pub fn tccr(&self, first_tweak: u64, blocks: &mut [Block]) {
        let keys = self.aes.round_keys();
        self.aes.cpu().run(FixedKey::<true> {
            round_keys: keys,
            first_tweak,
            blocks,
        });
    }
}

/// The multi-instance hash: AES under the key S ^ tweak, where S is the instance's public seed.
///
/// Tweaks come in groups of sixteen: block `j` of group `g` has the tweak `(16 g + j, half)`, the
/// number in bits 0 to 63 and `half` in bits 64 to 95. Whoever holds the seed sees to it that no
/// `(group, half)` occurs twice.
#[derive(Clone, Copy, Zeroize)]
pub struct MiHash {
    seed: Block,
}

impl MiHash {
    /// The hash of the instance with this seed.
    pub fn new(seed: Block) -> MiHash {
        MiHash { seed }
    }

    /// The public seed.
    pub fn seed(self) -> Block {
        self.seed
    }

    /// Replaces each block by its hash. The blocks take the tweaks of `half` in
    /// `blocks.len().div_ceil(16)` groups from `first_group` on.
    pub fn hash(self, cpu: Cpu, first_group: u64, half: u32, blocks: &mut [Block]) {
        cpu.run(Mi {
            hash: self,
            first_group,
            half,
            blocks,
        });
    }

    /// The seed in the form that kernels use.
    #[inline(always)]
    pub fn lanes<L: Lanes>(self, l: L) -> MiLanes<L> {
        let [w0, w1, w2, w3] = self.seed.words();
        let words = [
            l.splat_word(w0),
            l.splat_word(w1),
            l.splat_word(w2),
            l.splat_word(w3),
        ];
        MiLanes { seed_words: words }
    }
}

/// [`MiHash`] inside a kernel.
#[derive(Clone, Copy)]
pub struct MiLanes<L: Lanes> {
    seed_words: Quad<L>,
}

impl<L: Lanes> MiLanes<L> {
    /// The keys S ^ tweak of two quads: each from the number of its first block, a multiple of
    /// [`Lanes::QUAD`], and its half. The keys are sliced as they are made, since the numbers in a
    /// quad differ in the low four bits of word 0 alone.
    #[inline(always)]
    pub fn expand(&self, l: L, tweaks: [(u64, u32); 2], keys: &mut FreshKeys<L>) {
        keys.expand(l, [self.sliced(l, tweaks[0]), self.sliced(l, tweaks[1])]);
    }

    #[inline(always)]
    fn sliced(&self, l: L, (first, half): (u64, u32)) -> SlicedKeys<L> {
        let [s0, s1, s2, s3] = self.seed_words;
        let number = l.xor(l.splat_word(first as u32), l.load(&L::SLICED_NUMBERS));
        SlicedKeys::from_words([
            l.xor(s0, number),
            l.xor(s1, l.splat_word((first >> 32) as u32)),
            l.xor(s2, l.splat_word(half)),
            s3,
        ])
    }
}

struct Mi<'a> {
    hash: MiHash,
    first_group: u64,
    half: u32,
    blocks: &'a mut [Block],
}

impl Kernel for Mi<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, l: L) {
        let mi = self.hash.lanes(l);
        let mut keys = FreshKeys::new(l);
        let mut first = self.first_group * GROUP as u64;
        let mut turns = self.blocks.chunks_exact_mut(2 * L::QUAD);
        for turn in &mut turns {
            mi_turn(l, &mi, &mut keys, first, self.half, turn);
            first += 2 * L::QUAD as u64;
        }
        let rest = turns.into_remainder();
        if !rest.is_empty() {
            let mut padded = [Block::ZERO; aes::MAX_TURN];
            padded[..rest.len()].copy_from_slice(rest);
            mi_turn(l, &mi, &mut keys, first, self.half, &mut padded);
            rest.copy_from_slice(&padded[..rest.len()]);
        }
    }
}

#[inline(always)]
fn mi_turn<L: Lanes>(
    l: L,
    mi: &MiLanes<L>,
    keys: &mut FreshKeys<L>,
    first: u64,
    half: u32,
    turn: &mut [Block],
) {
    mi.expand(l, [(first, half), (first + L::QUAD as u64, half)], keys);
    let mut sigma = [l.load_quad(turn), l.load_quad(&turn[L::QUAD..])];
    for quad in 0..2 {
        for m in 0..4 {
            sigma[quad][m] = l.sigma(sigma[quad][m]);
        }
    }
    let [low, high] = keys.encrypt(l, sigma);
    l.store_quad(turn, l.xor_quad(low, sigma[0]));
    l.store_quad(&mut turn[L::QUAD..], l.xor_quad(high, sigma[1]));
}

struct FixedKey<'a, const TWEAKED: bool> {
    round_keys: &'a [Block; 11],
    first_tweak: u64,
    blocks: &'a mut [Block],
}

impl<const TWEAKED: bool> Kernel for FixedKey<'_, TWEAKED> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, l: L) {
        let keys = aes::splat_keys(l, self.round_keys);
        let mut tweak = self.first_tweak;
        let mut turns = self.blocks.chunks_exact_mut(8 * L::WIDTH);
        for turn in &mut turns {
            fixed_turn::<L, TWEAKED>(l, &keys, tweak, turn);
            tweak += 8 * L::WIDTH as u64;
        }
        let rest = turns.into_remainder();
        if !rest.is_empty() {
            let mut padded = [Block::ZERO; aes::MAX_TURN];
            padded[..rest.len()].copy_from_slice(rest);
            fixed_turn::<L, TWEAKED>(l, &keys, tweak, &mut padded);
            rest.copy_from_slice(&padded[..rest.len()]);
        }
    }
}

#[inline(always)]
fn fixed_turn<L: Lanes, const TWEAKED: bool>(
    l: L,
    keys: &[L::V; 11],
    first_tweak: u64,
    turn: &mut [Block],
) {
    let turn = &mut turn[..8 * L::WIDTH];
    let mut once = [keys[0]; 8];
    for i in 0..8 {
        let x = l.load(&turn[i * L::WIDTH..]);
        once[i] = if TWEAKED { x } else { l.sigma(x) };
    }
    if TWEAKED {
        aes::encrypt_eight(l, keys, &mut once);
    }
    let mut tweaks = [Block::ZERO; aes::MAX_TURN];
    for (i, tweak) in tweaks.iter_mut().enumerate() {
        *tweak = Block::new(first_tweak.wrapping_add(i as u64) as u128);
    }
    let mut twice = once;
    for i in 0..8 {
        if TWEAKED {
            twice[i] = l.xor(twice[i], l.load(&tweaks[i * L::WIDTH..]));
        }
    }
    aes::encrypt_eight(l, keys, &mut twice);
    for i in 0..8 {
        l.store(&mut turn[i * L::WIDTH..], l.xor(twice[i], once[i]));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Prg;

    const LENGTHS: [usize; 13] = [0, 1, 3, 4, 7, 8, 9, 15, 16, 17, 33, 64, 100];

    fn sigma(x: Block) -> Block {
        let (low, high) = (x.value() as u64, (x.value() >> 64) as u64);
        Block::new(((high ^ low) as u128) << 64 | high as u128)
    }

    /// Runs `hash` and compares each block with its definition by single AES calls of the
    /// portable tier.
    fn compare(hash: impl Fn(Cpu, &mut [Block]), definition: impl Fn(usize, Block) -> Block) {
        for cpu in Cpu::available() {
            for len in LENGTHS {
                let mut blocks = vec![Block::ZERO; len];
                Prg::new(cpu, Block::new(len as u128)).fill(&mut blocks);
                let inputs = blocks.clone();
                hash(cpu, &mut blocks);
                for (i, (x, h)) in inputs.into_iter().zip(blocks).enumerate() {
                    assert_eq!(
                        h.value(),
                        definition(i, x).value(),
                        "{} {i}/{len}",
                        cpu.tier()
                    );
                }
            }
        }
    }

    #[test]
    fn fixed_key_hashes_match_their_definitions() {
        let key = Block::new(0x1234);
        let pi = Aes128::new(Cpu::available()[0], key);
        compare(
            |cpu, blocks| FixedKeyHash::new(cpu, key).ccr(blocks),
            |_, x| pi.encrypt(sigma(x)) ^ sigma(x),
        );
        let first = u32::MAX as u64 - 5;
        compare(
            |cpu, blocks| FixedKeyHash::new(cpu, key).tccr(first, blocks),
            |i, x| {
                pi.encrypt(pi.encrypt(x) ^ Block::new((first + i as u64) as u128)) ^ pi.encrypt(x)
            },
        );
    }

    #[test]
    fn mi_matches_its_definition_where_words_carry() {
        let seed = Block::new(0xfedc_ba98_7654_3210_0123_4567_89ab_cdef);
        for (first_group, half) in [(0, 0), (5, 1), ((1 << 28) - 1, 1), ((1 << 60) - 8, 0)] {
            compare(
                |cpu, blocks| MiHash::new(seed).hash(cpu, first_group, half, blocks),
                |i, x| {
                    let number = first_group as u128 * 16 + i as u128;
                    let key = seed ^ Block::new(number | (half as u128) << 64);
                    Aes128::new(Cpu::available()[0], key).encrypt(sigma(x)) ^ sigma(x)
                },
            );
        }
    }
}
