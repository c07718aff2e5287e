//! Polynomial hashes in GF(2^128) by Horner's rule, over lanes: `value * base + block` a block.
//!
//! Four blocks share a reduction. In lanes with a message each, the base is that of the lane's key; in
//! lanes that share one message it is the key's base to the number of lanes, and `fold` puts the
//! lanes' values together. All values are byte-reversed.

use sealane_block::gf::{
    Order, mul, mul_each, mul_prepared_lanes, prepare, prepare_lanes, product_lanes, reduce_lanes,
};
use sealane_block::{Block, Cpu, Lanes};
use zeroize::Zeroize;

use crate::lanes::{Data, Keys, Wave};

/// Blocks that are hashed with one reduction.
pub(crate) const GROUP: usize = 4;

/// Constants of a key: powers 1 to `GROUP` of its base, prepared. They have to be its first.
pub(crate) const CONSTANTS: usize = 2 * GROUP;

/// A product that is not reduced.
type Product<L, const N: usize> = [Wave<L, N>; 2];

/// The table of a key, and its constants. `base` is a block, not reversed, in the order of GHASH.
pub(crate) fn expand(cpu: Cpu, order: Order, base: Block) -> (Vec<Block>, [Block; CONSTANTS]) {
    let table = powers(cpu, order, base);
    let mut constants = [Block::ZERO; CONSTANTS];
    for (pair, power) in constants.chunks_exact_mut(2).zip(&table[1..]) {
        let power = match order {
            Order::Ghash => Block::new(power.value().swap_bytes()),
            Order::Polynomial => *power,
        };
        pair.copy_from_slice(&prepare(order, power));
    }
    (table, constants)
}

/// Hashes one block in every lane with the base of its key.
#[inline(always)]
pub(crate) fn step<L: Lanes, const N: usize>(
    keys: &impl Keys<L, N>,
    order: Order,
    value: Wave<L, N>,
    block: Wave<L, N>,
) -> Wave<L, N> {
    times(order, value, base(keys, 1)) ^ block
}

/// Where the blocks come from that are hashed: what a mode does to a unit on the way.
pub(crate) trait Source<L: Lanes, const N: usize> {
    /// The block of a unit, not reversed. Each unit comes once, in order.
    fn block(
        &mut self,
        keys: &impl Keys<L, N>,
        data: &mut impl Data<L, N>,
        unit: usize,
    ) -> Wave<L, N>;
}

/// Powers 1 to `GROUP` of what a lane's value is multiplied with from block to block, prepared. Lanes
/// that share a message share these; else they are with the lanes' keys.
pub(crate) struct Powers<L: Lanes> {
    order: Order,
    wide: [[L::V; 2]; GROUP],
}

impl<L: Lanes> Powers<L> {
    #[inline(always)]
    pub(crate) fn new<D: Data<L, N>, const N: usize>(
        keys: &impl Keys<L, N>,
        order: Order,
        data: &D,
    ) -> Self {
        let l = keys.l();
        let mut wide = [[l.splat(Block::ZERO); 2]; GROUP];
        if D::WIDE {
            // Short messages need the first alone.
            let most = if data.units() < GROUP { 1 } else { GROUP };
            for power in 1..=most {
                let block = keys.table(0)[place(power * Wave::<L, N>::LANES)];
                wide[power - 1] = prepare_lanes(l, order, l.splat(block));
            }
        }
        Powers { order, wide }
    }

    #[inline(always)]
    pub(crate) fn get<D: Data<L, N>, const N: usize>(
        &self,
        keys: &impl Keys<L, N>,
        _data: &D,
        power: usize,
    ) -> Product<L, N> {
        let l = keys.l();
        match D::WIDE {
            true => self.wide[power - 1].map(|v| Wave { l, v: [v; N] }),
            false => base(keys, power),
        }
    }

    /// Erases powers that are held here, and not with the keys.
    #[inline(always)]
    pub(crate) fn wipe(mut self, l: L) {
        l.wipe(self.wide.as_flattened_mut());
    }

    /// Hashes all units of `data`, a block each.
    #[inline(always)]
    pub(crate) fn hash<D: Data<L, N>, const N: usize>(
        &self,
        keys: &impl Keys<L, N>,
        data: &mut D,
        mut value: Wave<L, N>,
        source: &mut impl Source<L, N>,
    ) -> Wave<L, N> {
        let units = data.units();
        let mut unit = 0;
        while unit + GROUP <= units {
            let mut sum = products(value, self.get(keys, data, GROUP));
            for behind in (1..GROUP).rev() {
                let given = source
                    .block(keys, data, unit + GROUP - 1 - behind)
                    .reversed();
                let [low, middle] = products(given, self.get(keys, data, behind));
                sum = [sum[0] ^ low, sum[1] ^ middle];
            }
            let last = source.block(keys, data, unit + GROUP - 1).reversed();
            value = reduced(self.order, sum) ^ last;
            unit += GROUP;
        }
        while unit < units {
            let given = source.block(keys, data, unit).reversed();
            value = times(self.order, value, self.get(keys, data, 1)) ^ given;
            unit += 1;
        }
        value
    }
}

/// From the value of one message to those of lanes that share it: what has been hashed counts as the
/// block before the first, which the last lane has.
#[inline(always)]
pub(crate) fn spread<L: Lanes, const N: usize>(value: Wave<L, 1>) -> Wave<L, N> {
    let mut wide: Wave<L, N> = value.spread();
    wide.lanes_mut()[..Wave::<L, N>::LANES - 1].fill(Block::ZERO);
    wide
}

/// The inverse: the lane before the next one has the last block, and power 0.
#[inline(always)]
pub(crate) fn fold<L: Lanes, const N: usize>(
    keys: &impl Keys<L, N>,
    order: Order,
    value: Wave<L, N>,
    next: usize,
) -> Wave<L, 1> {
    let lanes = Wave::<L, N>::LANES;
    let mut ahead = Wave::zero(keys.l());
    for (lane, power) in ahead.lanes_mut().iter_mut().enumerate() {
        *power = keys.table(0)[(lanes + next - 1 - lane) % lanes];
    }
    let sum = times(order, value, prepared(order, ahead)).sum();
    keys.l().wipe(&mut ahead.v);
    sum
}

/// A power of the lane's base, prepared.
#[inline(always)]
pub(crate) fn base<L: Lanes, const N: usize>(
    keys: &impl Keys<L, N>,
    power: usize,
) -> Product<L, N> {
    [keys.constant(2 * power - 2), keys.constant(2 * power - 1)]
}

/// Elements of GF(2^128) times factors made ready: see
/// [`sealane_block::gf::mul_prepared_lanes`].
#[inline(always)]
pub(crate) fn times<L: Lanes, const N: usize>(
    order: Order,
    mut a: Wave<L, N>,
    factor: Product<L, N>,
) -> Wave<L, N> {
    for i in 0..N {
        a.v[i] = mul_prepared_lanes(a.l, order, a.v[i], [factor[0].v[i], factor[1].v[i]]);
    }
    a
}

/// The products that [`times`] reduces: XORs of them can be [`reduced`] at once.
#[inline(always)]
fn products<L: Lanes, const N: usize>(a: Wave<L, N>, factor: Product<L, N>) -> Product<L, N> {
    let mut products = [a; 2];
    for i in 0..N {
        let [low, middle] = product_lanes(a.l, a.v[i], [factor[0].v[i], factor[1].v[i]]);
        (products[0].v[i], products[1].v[i]) = (low, middle);
    }
    products
}

/// The elements that products stand for.
#[inline(always)]
fn reduced<L: Lanes, const N: usize>(order: Order, products: Product<L, N>) -> Wave<L, N> {
    let [mut low, middle] = products;
    for i in 0..N {
        low.v[i] = reduce_lanes(low.l, order, [low.v[i], middle.v[i]]);
    }
    low
}

/// Factors of their own in all lanes, prepared.
#[inline(always)]
pub(crate) fn prepared<L: Lanes, const N: usize>(
    order: Order,
    factor: Wave<L, N>,
) -> Product<L, N> {
    let mut words = [factor; 2];
    for i in 0..N {
        let [first, second] = prepare_lanes(factor.l, order, factor.v[i]);
        (words[0].v[i], words[1].v[i]) = (first, second);
    }
    words
}

/// Powers 0 to 32 of the base, then those up to 128 in steps of 16: see [`place`]. Byte-reversed in
/// the order of GHASH.
fn powers(cpu: Cpu, order: Order, base: Block) -> Vec<Block> {
    let one = match order {
        Order::Polynomial => Block::new(1),
        Order::Ghash => Block::new(0x80),
    };
    let mut powers = Vec::with_capacity(39);
    powers.extend([one, base]);
    while powers.len() < 33 {
        let count = powers.len() - 1;
        let mut factors = vec![powers[count]; count];
        powers.extend_from_within(1..);
        mul_each(cpu, order, &mut powers[count + 1..], &factors);
        factors.zeroize();
    }
    for _ in 0..6 {
        let last = powers[powers.len() - 1];
        powers.push(mul(cpu, order, last, powers[16]));
    }
    if order == Order::Ghash {
        for power in &mut powers {
            *power = Block::new(power.value().swap_bytes());
        }
    }
    powers
}

/// Where a power of the base lies.
fn place(power: usize) -> usize {
    match power {
        0..=32 => power,
        _ => 30 + power / 16,
    }
}
