//! Groups of blocks that share a reduction, beside a cipher: in lanes with a message each, and in
//! lanes that share one.

use sealane_block::gf::{Order, reduce_whole_lanes, whole_product_lanes};
use sealane_block::products::Products;
use sealane_block::{Block, Lanes};

use super::{BlockSource, ENTRIES, GROUP, added, factor, place, total, with_last};
use crate::lanes::{Count, Data, Keys, Shape, Vector, Wave};

/// Hashes groups of blocks of lanes that have a message each, all under one key. A group is hashed
/// beside the cipher of the next one: with each of its units, two vectors.
#[inline(always)]
pub(super) fn interleave<K: Keys>(
    keys: &K,
    order: Order,
    data: &mut impl Data<K::S>,
    mut value: Wave<K::S>,
    source: &mut impl BlockSource<K>,
    groups: usize,
) -> Wave<K::S> {
    let l = keys.l();
    let zero = l.splat(Block::ZERO);
    let (mut words, mut more) = ([zero; GROUP], [zero; GROUP]);
    for ahead in 0..GROUP {
        [words[ahead], more[ahead]] = factor(keys, GROUP - ahead, 0);
    }
    // For each vector, the value before a group, and the group's blocks but the last.
    let mut held = [<K::S as Shape>::N::filled([zero; GROUP]); 2];
    let mut last = [<K::S as Shape>::N::filled(zero); 2];
    for group in 0..groups {
        let (now, before) = (group % 2, (group + 1) % 2);
        for ahead in 0..GROUP {
            let unit = group * GROUP + ahead;
            let block = if group > 0 {
                let vectors = [ahead, ahead + GROUP];
                let products = Products {
                    blocks: vectors.map(|i| bytemuck::must_cast_slice(&held[before][i])),
                    words: [bytemuck::must_cast_slice(&words); 2],
                    more: [bytemuck::must_cast_slice(&more); 2],
                };
                let (block, sums) = source.block_interleaved(keys, data, unit, &products);
                for half in 0..2 {
                    let sum = reduce_whole_lanes(l, order, sums[half]);
                    value.v[vectors[half]] = l.xor(sum, last[before][vectors[half]]);
                }
                block
            } else {
                source.block(keys, data, unit)
            };
            let block = block.reversed();
            for i in 0..Wave::<K::S>::VECTORS {
                match held[now][i].get_mut(ahead + 1) {
                    Some(place) => *place = block.v[i],
                    None => last[now][i] = block.v[i],
                }
            }
        }
        for i in 0..Wave::<K::S>::VECTORS {
            held[now][i][0] = value.v[i];
        }
    }
    if groups > 0 {
        let before = (groups + 1) % 2;
        for i in 0..Wave::<K::S>::VECTORS {
            let [first, b0, b1, b2] = held[before][i];
            value.v[i] = hashed(keys, order, first, [b0, b1, b2, last[before][i]], i);
        }
        // Some modes hash secret data.
        for (blocks, last) in held.iter_mut().zip(&mut last) {
            l.wipe(blocks.as_mut().as_flattened_mut());
            l.wipe(last.as_mut());
        }
        l.wipe(&mut words);
        l.wipe(&mut more);
    }
    value
}

/// Both halves of a round of blocks. The first one comes last, since the addend of its first block
/// comes late.
#[inline(always)]
fn swapped(blocks: &[Block]) -> [&[Block]; 2] {
    let (first, second) = blocks.split_at(blocks.len() / 2);
    [second, first]
}

/// Hashes rounds of blocks of a message that has all lanes, each beside the cipher of the next one.
#[inline(always)]
pub(super) fn rounds_interleaved<K: Keys>(
    keys: &K,
    order: Order,
    data: &mut impl Data<K::S>,
    mut value: Wave<K::S>,
    source: &mut impl BlockSource<K>,
) -> Wave<K::S> {
    let l = keys.l();
    let lanes = Wave::<K::S>::LANES;
    let (words, more) = keys.table(0).split_at(ENTRIES);
    let powers = place(lanes)..place(lanes) + lanes;
    for unit in 0..data.units() {
        let mut held = value.v;
        let products = Products {
            blocks: swapped(bytemuck::must_cast_slice(held.as_ref())),
            words: swapped(&words[powers.clone()]),
            more: swapped(&more[powers.clone()]),
        };
        let (block, sums) = source.block_interleaved(keys, data, unit, &products);
        let before = total(l, order, added(l, sums[0], sums[1]));
        value = block.reversed();
        value.v[0] = with_last(l, value.v[0], before);
        if unit + 1 == data.units() {
            // Some modes hash secret data.
            l.wipe(held.as_mut());
        }
    }
    value
}

/// Hashes groups of blocks of lanes that have a message and a key each.
#[inline(always)]
pub(super) fn apart<K: Keys>(
    keys: &K,
    order: Order,
    data: &mut impl Data<K::S>,
    mut value: Wave<K::S>,
    source: &mut impl BlockSource<K>,
    groups: usize,
) -> Wave<K::S> {
    let l = keys.l();
    let mut blocks: [[Wave<K::S>; GROUP]; 2] = [[Wave::zero(l); GROUP]; 2];
    for group in 0..groups {
        for ahead in 0..GROUP {
            // A group is hashed while the next one is enciphered, a few vectors of it beside each
            // unit: the two use different execution units.
            if group > 0 {
                for i in (ahead..Wave::<K::S>::VECTORS).step_by(GROUP) {
                    let [b0, b1, b2, b3] = &blocks[(group - 1) % 2];
                    let before = [b0.v[i], b1.v[i], b2.v[i], b3.v[i]];
                    value.v[i] = hashed(keys, order, value.v[i], before, i);
                }
            }
            let unit = group * GROUP + ahead;
            blocks[group % 2][ahead] = source.block(keys, data, unit).reversed();
        }
    }
    if groups > 0 {
        for i in 0..Wave::<K::S>::VECTORS {
            let [b0, b1, b2, b3] = &blocks[(groups - 1) % 2];
            let last = [b0.v[i], b1.v[i], b2.v[i], b3.v[i]];
            value.v[i] = hashed(keys, order, value.v[i], last, i);
        }
        // Some modes hash secret data.
        for block in blocks.as_flattened_mut() {
            l.wipe(block.v.as_mut());
        }
    }
    value
}

/// Hashes a group of blocks in vector `i`, whose sum then stays in registers.
#[inline(always)]
fn hashed<K: Keys>(
    keys: &K,
    order: Order,
    value: Vector<K::S>,
    blocks: [Vector<K::S>; GROUP],
    i: usize,
) -> Vector<K::S> {
    let l = keys.l();
    let mut sum = whole_product_lanes(l, value, factor(keys, GROUP, i));
    for ahead in 0..GROUP - 1 {
        let power = factor(keys, GROUP - 1 - ahead, i);
        sum = added(l, sum, whole_product_lanes(l, blocks[ahead], power));
    }
    l.xor(reduce_whole_lanes(l, order, sum), blocks[GROUP - 1])
}
