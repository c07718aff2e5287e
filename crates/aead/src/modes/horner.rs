//! Polynomial hashes in GF(2^128) by Horner's rule, over lanes: `value * base + block` a block.
//!
//! In lanes with a message each, the base is that of the lane's key, and a few blocks share a
//! reduction. Lanes that share one message hold a *round* of its blocks, each waiting to be
//! multiplied by a power of its own: those of a round follow one another in the table, so that they
//! are read as vectors, and the whole round has one reduction. The value before a round is added to
//! its first block. All values are byte-reversed.

mod groups;

use sealane_block::gf::{Order, mul_each, prepare_whole, reduce_whole_lanes, whole_product_lanes};
use sealane_block::lanes::MAX_LANES;
use sealane_block::products::Products;
use sealane_block::{Block, Cpu, Lanes};
use zeroize::Zeroize;

use crate::lanes::keys::Sums;
use crate::lanes::{AlignedBlocks, Data, Keys, One, Shape, Vector, Wave};

/// Blocks that are hashed with one reduction.
pub(crate) const GROUP: usize = 4;

/// Constants of a key: powers 1 to `GROUP` of its base, prepared. They have to be its first.
pub(crate) const CONSTANTS: usize = 2 * GROUP;

/// A factor, prepared.
pub(super) type Factor<S> = [Wave<S>; 2];

/// Entries of the table: powers `MAX_LANES` down to 0, and zeros, for lanes behind the last block
/// of a round that is not whole. First words come first, then second words.
pub(super) const ENTRIES: usize = 2 * MAX_LANES;

/// The table of a key, and its constants. `base` is a block, not reversed, in the order of GHASH.
pub(crate) fn expand(cpu: Cpu, order: Order, base: Block) -> (AlignedBlocks, [Block; CONSTANTS]) {
    let mut powers = powers(cpu, order, base);
    let mut table = vec![Block::ZERO; 2 * ENTRIES];
    for (power, factor) in powers.iter().enumerate() {
        let [first, second] = prepare_whole(order, *factor);
        (table[place(power)], table[ENTRIES + place(power)]) = (first, second);
    }
    powers.zeroize();
    let mut constants = [Block::ZERO; CONSTANTS];
    for (pair, power) in constants.chunks_exact_mut(2).zip(1..) {
        pair.copy_from_slice(&[table[place(power)], table[ENTRIES + place(power)]]);
    }
    (AlignedBlocks::new(table), constants)
}

/// Returns the index of a power in the table.
pub(super) const fn place(power: usize) -> usize {
    MAX_LANES - power
}

/// Hashes one block in every lane with the base of its key.
#[inline(always)]
pub(crate) fn step<K: Keys>(
    keys: &K,
    order: Order,
    value: Wave<K::S>,
    block: Wave<K::S>,
) -> Wave<K::S> {
    product(order, value, base(keys, 1)) ^ block
}

/// Source of the blocks to be hashed: the work of a mode on a unit, with its result.
pub(crate) trait BlockSource<K: Keys> {
    /// True if rounds of a message that has all lanes are hashed by
    /// [`block_interleaved`](BlockSource::block_interleaved). Where blocks are known before the
    /// cipher runs, as when GCM opens, the processor overlaps the two better by itself.
    const ROUNDS_INTERLEAVED: bool = false;

    /// Returns the block of a unit, not reversed. Each unit comes once, in order.
    fn block(&mut self, keys: &K, data: &mut impl Data<K::S>, unit: usize) -> Wave<K::S>;

    /// As [`block`](BlockSource::block), and computes sums of products beside it, if it can.
    #[inline(always)]
    fn block_interleaved(
        &mut self,
        keys: &K,
        data: &mut impl Data<K::S>,
        unit: usize,
        products: &Products<'_>,
    ) -> (Wave<K::S>, Sums<K::S>) {
        (self.block(keys, data, unit), products.sums(keys.l()))
    }
}

/// Number of vectors of which the products of a unit are computed beside its cipher.
const BESIDE: usize = 2 * GROUP;

/// Hashes all units of `data`, a block each.
#[inline(always)]
pub(crate) fn hash<K: Keys, D: Data<K::S>, B: BlockSource<K>>(
    keys: &K,
    order: Order,
    data: &mut D,
    mut value: Wave<K::S>,
    source: &mut B,
) -> Wave<K::S> {
    let (l, units) = (keys.l(), data.units());
    if D::WIDE {
        return if const { Wave::<K::S>::VECTORS == BESIDE && K::SAME && B::ROUNDS_INTERLEAVED } {
            groups::rounds_interleaved(keys, order, data, value, source)
        } else {
            for unit in 0..units {
                let before = round(keys, order, &value, Wave::<K::S>::LANES);
                value = source.block(keys, data, unit).reversed();
                value.v[0] = with_last(l, value.v[0], before);
            }
            value
        };
    }
    let groups = units / GROUP;
    value = if const { Wave::<K::S>::VECTORS == BESIDE && K::SAME } {
        groups::interleave(keys, order, data, value, source, groups)
    } else {
        groups::apart(keys, order, data, value, source, groups)
    };
    for unit in groups * GROUP..units {
        let block = source.block(keys, data, unit).reversed();
        value = step(keys, order, value, block);
    }
    value
}

/// Computes the sum of the blocks of a round, the first of them times power `first` of the base,
/// and each times one power less than the one before it. The result is in the last lane.
#[inline(always)]
fn round<K: Keys>(keys: &K, order: Order, blocks: &Wave<K::S>, first: usize) -> Vector<K::S> {
    let l = keys.l();
    let at = place(first)..place(first) + Wave::<K::S>::LANES;
    let (words, more) = keys.table(0).split_at(ENTRIES);
    let (words, more) = (&words[at.clone()], &more[at]);
    let zero = l.splat(Block::ZERO);
    let mut sum = [zero; 3];
    // The first vector comes last, since the addend of its first block comes late.
    for i in (0..Wave::<K::S>::VECTORS).rev() {
        let powers = [
            l.load(&words[i * Wave::<K::S>::WIDTH..]),
            l.load(&more[i * Wave::<K::S>::WIDTH..]),
        ];
        sum = added(l, sum, whole_product_lanes(l, blocks.v[i], powers));
    }
    total(l, order, sum)
}

/// Reduces the sums of a round's products, and adds up their lanes. The result is in the last lane.
#[inline(always)]
fn total<L: Lanes>(l: L, order: Order, sum: [L::V; 3]) -> L::V {
    let zero = l.splat(Block::ZERO);
    let mut sum = reduce_whole_lanes(l, order, sum);
    if L::WIDTH > 1 {
        sum = l.xor(sum, l.previous(zero, sum));
    }
    if L::WIDTH > 2 {
        sum = l.xor(sum, l.previous(zero, l.previous(zero, sum)));
    }
    sum
}

/// Adds the last lane of the round before to the first lane of a vector.
#[inline(always)]
fn with_last<L: Lanes>(l: L, vector: L::V, before: L::V) -> L::V {
    l.xor(vector, l.previous(before, l.splat(Block::ZERO)))
}

/// Spreads the value of one message to lanes that share it: it counts as the last block of a round
/// before the first.
#[inline(always)]
pub(crate) fn spread<S: Shape>(value: Wave<One<S>>) -> Wave<S> {
    let l = value.l;
    let mut wide: Wave<S> = Wave::zero(l);
    let mut last = value.v[0];
    for _ in 1..Wave::<S>::WIDTH {
        last = l.previous(wide.v[0], last);
    }
    wide.v[Wave::<S>::VECTORS - 1] = last;
    wide
}

/// Inverts [`spread`]: the lane before the next one has the last block, and power 0.
#[inline(always)]
pub(crate) fn fold<K: Keys>(
    keys: &K,
    order: Order,
    value: Wave<K::S>,
    next: usize,
) -> Wave<One<K::S>> {
    let l = keys.l();
    let blocks = match next {
        0 => Wave::<K::S>::LANES,
        some => some,
    };
    let v = [l.last(round(keys, order, &value, blocks - 1))];
    Wave { l, v }
}

/// Vector `i` of a power of the lanes' bases, prepared.
#[inline(always)]
fn factor<K: Keys>(keys: &K, power: usize, i: usize) -> [Vector<K::S>; 2] {
    [
        keys.constant_vector(2 * power - 2, i),
        keys.constant_vector(2 * power - 1, i),
    ]
}

/// The sum of two products that are not reduced.
#[inline(always)]
fn added<L: Lanes>(l: L, a: [L::V; 3], b: [L::V; 3]) -> [L::V; 3] {
    [l.xor(a[0], b[0]), l.xor(a[1], b[1]), l.xor(a[2], b[2])]
}

/// A power of the lane's base, prepared.
#[inline(always)]
pub(crate) fn base<K: Keys>(keys: &K, power: usize) -> Factor<K::S> {
    [keys.constant(2 * power - 2), keys.constant(2 * power - 1)]
}

/// Elements times factors, such as those of [`base`].
#[inline(always)]
pub(crate) fn product<S: Shape>(order: Order, mut a: Wave<S>, factor: Factor<S>) -> Wave<S> {
    for i in 0..Wave::<S>::VECTORS {
        let whole = whole_product_lanes(a.l, a.v[i], [factor[0].v[i], factor[1].v[i]]);
        a.v[i] = reduce_whole_lanes(a.l, order, whole);
    }
    a
}

/// `a` times power 2 of the lanes' bases, and `b` times power 1, with one reduction.
#[inline(always)]
pub(crate) fn last_two<K: Keys>(
    keys: &K,
    order: Order,
    mut a: Wave<K::S>,
    b: Wave<K::S>,
) -> Wave<K::S> {
    let l = keys.l();
    for i in 0..Wave::<K::S>::VECTORS {
        let first = whole_product_lanes(l, a.v[i], factor(keys, 2, i));
        let second = whole_product_lanes(l, b.v[i], factor(keys, 1, i));
        a.v[i] = reduce_whole_lanes(l, order, added(l, first, second));
    }
    a
}

/// Powers 0 to `MAX_LANES` of the base, as blocks of the order.
fn powers(cpu: Cpu, order: Order, base: Block) -> Vec<Block> {
    let one = match order {
        Order::Polynomial => Block::new(1),
        Order::Ghash => Block::new(0x80),
    };
    let mut powers = Vec::with_capacity(MAX_LANES + 1);
    powers.extend([one, base]);
    while powers.len() <= MAX_LANES {
        let count = powers.len() - 1;
        let mut factors = vec![powers[count]; count];
        powers.extend_from_within(1..);
        mul_each(cpu, order, &mut powers[count + 1..], &factors);
        factors.zeroize();
    }
    powers
}
