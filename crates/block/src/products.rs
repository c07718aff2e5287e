//! Sums of carry-less products beside AES: see [`encrypt_interleaved`].

use crate::aes::{Forward, last_splat};
use crate::gf::add_product;
use crate::{Block, Lanes};

/// Blocks times factors of [`prepare_whole`](crate::gf::prepare_whole), to be summed in two halves:
/// four vectors of each kind in each half.
pub struct Products<'p> {
    /// The blocks.
    pub blocks: [&'p [Block]; 2],
    /// The factors.
    pub words: [&'p [Block]; 2],
    /// The sums of their halves.
    pub more: [&'p [Block]; 2],
}

/// Vectors in half of [`Products`].
const HALF: usize = 4;

impl Products<'_> {
    /// Checks that there are as many vectors of `width` blocks as there should be.
    ///
    /// # Panics
    /// If there are fewer.
    #[inline(always)]
    pub(crate) fn check(&self, width: usize) {
        for half in 0..2 {
            let [blocks, words, more] = [self.blocks[half], self.words[half], self.more[half]];
            let least = blocks.len().min(words.len()).min(more.len());
            assert!(least >= HALF * width, "four vectors of each kind");
        }
    }

    /// Computes the sums of products of both halves, which are not reduced: see
    /// [`whole_product_lanes`](crate::gf::whole_product_lanes).
    #[inline(always)]
    pub fn sums<L: Lanes>(&self, l: L) -> [[L::V; 3]; 2] {
        let mut sums = [[l.splat(Block::ZERO); 3]; 2];
        for half in 0..2 {
            for i in 0..HALF {
                let at = i * L::WIDTH;
                let factor = [
                    l.load(&self.words[half][at..]),
                    l.load(&self.more[half][at..]),
                ];
                add_product(l, &mut sums[half], l.load(&self.blocks[half][at..]), factor);
            }
        }
        sums
    }
}

/// Encrypts eight vectors under one key, and computes the sums of products of both halves beside
/// it. AES and products use different execution units, which a processor does not fill by itself.
#[inline(always)]
pub fn encrypt_interleaved<L: Lanes>(
    l: L,
    keys: &[Block; 11],
    states: &mut [L::V; 8],
    products: &Products<'_>,
) -> [[L::V; 3]; 2] {
    let first = l.splat(keys[0]);
    for i in 0..8 {
        states[i] = l.xor(states[i], first);
    }
    let sums = l.nine_rounds_interleaved(states, keys, products);
    last_splat::<L, Forward, 8>(l, keys, states, None);
    sums
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::drawn;
    use crate::{Aes128, Cpu, Kernel};

    const MOST: usize = 32;

    /// Blocks to be encrypted, then those of products, with their factors.
    struct Interleaved<'a> {
        keys: &'a [Block; 11],
        lists: &'a [[Block; MOST]; 4],
    }

    impl Kernel for Interleaved<'_> {
        type Output = (usize, Vec<Block>, Vec<Block>);

        #[inline(always)]
        fn run<L: Lanes>(self, l: L) -> Self::Output {
            let [states, blocks, words, more] = self.lists;
            let half = 4 * L::WIDTH;
            let halves = |list: &[Block; MOST]| -> [Vec<Block>; 2] {
                [list[..half].to_vec(), list[half..2 * half].to_vec()]
            };
            let (blocks, words, more) = (halves(blocks), halves(words), halves(more));
            let products = Products {
                blocks: [&blocks[0], &blocks[1]],
                words: [&words[0], &words[1]],
                more: [&more[0], &more[1]],
            };
            let mut vectors = l.load_vectors(states);
            let sums = encrypt_interleaved(l, self.keys, &mut vectors, &products);
            let plain = products.sums(l);
            let mut made = vec![Block::ZERO; 8 * L::WIDTH];
            l.store_vectors(&mut made, &vectors);
            let mut differences = vec![Block::ZERO; 6 * L::WIDTH];
            for i in 0..6 {
                let difference = l.xor(sums[i / 3][i % 3], plain[i / 3][i % 3]);
                l.store(&mut differences[i * L::WIDTH..], difference);
            }
            (8 * L::WIDTH, made, differences)
        }
    }

    #[test]
    fn it_encrypts_and_sums_as_apart_on_every_tier() {
        for cpu in Cpu::available() {
            let mut lists = [[Block::ZERO; MOST]; 4];
            lists
                .as_flattened_mut()
                .copy_from_slice(&drawn(4 * MOST, 5));
            let aes = Aes128::new(cpu, lists[0][0]);
            let (keys, lists) = (aes.round_keys(), &lists);
            let (count, made, differences) = cpu.run(Interleaved { keys, lists });
            for (given, made) in lists[0][..count].iter().zip(made) {
                let expected = aes.encrypt(*given);
                assert_eq!(made.value(), expected.value(), "{}", cpu.tier());
            }
            assert!(differences.iter().all(|block| block.value() == 0));
        }
    }
}
