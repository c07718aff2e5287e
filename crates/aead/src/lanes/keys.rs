//! Expanded keys, and the view of them that lanes have.

use sealane_block::aes::{
    Aes128Dec, Back, Direction, Forward, last_each, last_splat, rounds_each, rounds_splat,
    xex_splat,
};
use sealane_block::products::{Products, encrypt_interleaved};
use sealane_block::{Aes128, Block, Cpu, Lanes};

use zeroize::Zeroize;

use super::head::block_of;
use super::{AlignedBlocks, Count, Mode, Params, Shape, Token, Vector, Vectors, Wave};

/// The schedule of encryption under the first 16 bytes of a key.
pub(crate) const FORWARD: usize = 0;
/// The schedule of decryption, in modes that have it.
pub(crate) const BACK: usize = 1;

/// Expanded key of a mode.
pub(crate) struct KeyMaterial<M: Mode> {
    pub(crate) params: Params,
    pub(crate) schedules: Schedules<M>,
    pub(crate) constants: <M::Constants as Count>::Array<Block>,
    /// Further blocks that depend on the key alone, looked up lane by lane at public places.
    pub(crate) table: AlignedBlocks,
}

/// The schedules of a mode.
type Schedules<M> = <<M as Mode>::Schedules as Count>::Array<[Block; 11]>;

impl<M: Mode> KeyMaterial<M> {
    /// Expands a key, whose length has been checked: the schedules [`FORWARD`] and [`BACK`] of its
    /// first 16 bytes, and what the mode derives beside them.
    pub(crate) fn expand(cpu: Cpu, key: &[u8], params: Params) -> KeyMaterial<M> {
        let aes = aes(cpu, key);
        let mut schedules = M::Schedules::filled(*aes.round_keys());
        if let Some(back) = schedules.as_mut().get_mut(BACK) {
            *back = *Aes128Dec::new(&aes).round_keys();
        }
        let mut material = KeyMaterial {
            params,
            schedules,
            constants: M::Constants::filled(Block::ZERO),
            table: AlignedBlocks::default(),
        };
        M::derive(cpu, key, &mut material);
        material
    }
}

/// AES under the first 16 bytes of a key.
pub(crate) fn aes(cpu: Cpu, key: &[u8]) -> Aes128 {
    Aes128::new(cpu, block_of(key, 0))
}

impl<M: Mode> Drop for KeyMaterial<M> {
    fn drop(&mut self) {
        // Sixteen bytes at a time, which is quicker than byte by byte.
        for schedule in self.schedules.as_mut() {
            bytemuck::must_cast_mut::<_, [u128; 11]>(schedule).zeroize();
        }
        bytemuck::must_cast_slice_mut::<_, u128>(self.constants.as_mut()).zeroize();
    }
}

/// The keys of the lanes of a wave, for one direction.
pub(crate) trait Keys {
    /// The shape of the wave.
    type S: Shape;
    /// True if all lanes have the same key.
    const SAME: bool;
    /// True if messages are opened, and not sealed.
    const OPEN: bool;
    /// The token of the tier.
    fn l(&self) -> Token<Self::S>;
    /// Returns the parameters that all keys share.
    fn params(&self) -> Params;
    /// The constant of that number.
    fn constant(&self, which: usize) -> WaveOf<Self>;
    /// Vector `i` of the constant of that number.
    fn constant_vector(&self, which: usize, i: usize) -> Vector<Self::S>;
    /// The table of a lane's key.
    fn table(&self, lane: usize) -> &[Block];

    /// Runs all rounds of the cipher but the last in every lane, under its schedule of that number,
    /// on `x` plus values that are computed [late](rounds_splat). What is loaded
    /// between this and [`last`](Keys::last) takes no register during the rounds.
    fn rounds<D: Direction>(
        &self,
        schedule: usize,
        x: WaveOf<Self>,
        late: Added<Self>,
    ) -> WaveOf<Self>;
    /// Runs the last round, and adds `onto`.
    fn last<D: Direction>(
        &self,
        schedule: usize,
        x: WaveOf<Self>,
        onto: Added<Self>,
    ) -> WaveOf<Self>;
    /// Runs the cipher between two additions of an offset: `offset` plus one that all lanes share.
    #[inline(always)]
    fn xex<D: Direction>(
        &self,
        schedule: usize,
        x: WaveOf<Self>,
        offset: WaveOf<Self>,
        shared: Vector<Self::S>,
    ) -> WaveOf<Self> {
        let offset = offset ^ Wave::filled(self.l(), shared);
        let x = self.rounds::<D>(schedule, x ^ offset, None);
        self.last::<D>(schedule, x, Some(&offset))
    }
    /// Encrypts every lane, and computes sums of products, beside it where that is faster.
    #[inline(always)]
    fn encrypt_interleaved(
        &self,
        schedule: usize,
        x: WaveOf<Self>,
        products: &Products<'_>,
    ) -> (WaveOf<Self>, Sums<Self::S>) {
        (self.encrypt(schedule, x), products.sums(self.l()))
    }

    /// Encrypts every lane under its schedule of that number.
    #[inline(always)]
    fn encrypt(&self, schedule: usize, x: WaveOf<Self>) -> WaveOf<Self> {
        self.last::<Forward>(schedule, self.rounds::<Forward>(schedule, x, None), None)
    }
    /// Decrypts every lane under its schedule of that number, which is one of decryption.
    #[inline(always)]
    fn decrypt(&self, schedule: usize, x: WaveOf<Self>) -> WaveOf<Self> {
        self.last::<Back>(schedule, self.rounds::<Back>(schedule, x, None), None)
    }
    /// Encrypts `x ^ late`, where `late` comes last: for chains.
    #[inline(always)]
    fn encrypt_late(&self, schedule: usize, x: WaveOf<Self>, late: WaveOf<Self>) -> WaveOf<Self> {
        let x = self.rounds::<Forward>(schedule, x, Some(&late));
        self.last::<Forward>(schedule, x, None)
    }
    /// Encrypts `x`, and adds `onto`.
    #[inline(always)]
    fn encrypt_onto(&self, schedule: usize, x: WaveOf<Self>, onto: WaveOf<Self>) -> WaveOf<Self> {
        let x = self.rounds::<Forward>(schedule, x, None);
        self.last::<Forward>(schedule, x, Some(&onto))
    }
    /// Decrypts `x`, and adds `onto`.
    #[inline(always)]
    fn decrypt_onto(&self, schedule: usize, x: WaveOf<Self>, onto: WaveOf<Self>) -> WaveOf<Self> {
        let x = self.rounds::<Back>(schedule, x, None);
        self.last::<Back>(schedule, x, Some(&onto))
    }
    /// Encrypts `x` to seal, and decrypts it to open.
    #[inline(always)]
    fn cipher(&self, x: WaveOf<Self>) -> WaveOf<Self> {
        if Self::OPEN {
            self.decrypt(BACK, x)
        } else {
            self.encrypt(FORWARD, x)
        }
    }
}

/// The wave of some keys.
pub(crate) type WaveOf<K> = Wave<<K as Keys>::S>;

/// The sums of both halves of [`Products`], which are not reduced.
pub(crate) type Sums<S> = [[Vector<S>; 3]; 2];

/// Values that are added to a wave, if there are any.
pub(crate) type Added<'a, K> = Option<&'a WaveOf<K>>;

/// Keys of lanes that process one message after the other.
pub(crate) trait LaneKeys<'k, M: Mode>: Keys {
    /// Gives a lane the key of its next message.
    fn set(&mut self, lane: usize, material: &'k KeyMaterial<M>);
    /// Erases all copies of keys here.
    fn wipe(&mut self);
}

/// One key for all lanes, used in place.
pub(crate) struct Same<'k, L: Lanes, M: Mode, const N: usize, const OPEN: bool> {
    pub(crate) l: L,
    pub(crate) material: &'k KeyMaterial<M>,
}

impl<'k, L: Lanes, M: Mode, const N: usize, const OPEN: bool> LaneKeys<'k, M>
    for Same<'k, L, M, N, OPEN>
{
    #[inline(always)]
    fn set(&mut self, _lane: usize, _material: &'k KeyMaterial<M>) {}
    #[inline(always)]
    fn wipe(&mut self) {}
}

impl<L: Lanes, M: Mode, const N: usize, const OPEN: bool> Keys for Same<'_, L, M, N, OPEN> {
    type S = Vectors<L, N>;
    const SAME: bool = true;
    const OPEN: bool = OPEN;
    #[inline(always)]
    fn encrypt_interleaved(
        &self,
        schedule: usize,
        mut x: WaveOf<Self>,
        products: &Products<'_>,
    ) -> (WaveOf<Self>, Sums<Self::S>) {
        // Known when the body is compiled.
        let Ok(eight) = x.v.as_mut_slice().try_into() else {
            return (self.encrypt(schedule, x), products.sums(self.l));
        };
        let keys = &self.material.schedules[schedule];
        let sums = encrypt_interleaved(self.l, keys, eight, products);
        (x, sums)
    }
    #[inline(always)]
    fn l(&self) -> L {
        self.l
    }
    #[inline(always)]
    fn params(&self) -> Params {
        self.material.params
    }
    #[inline(always)]
    fn rounds<D: Direction>(
        &self,
        schedule: usize,
        mut x: WaveOf<Self>,
        late: Added<'_, Self>,
    ) -> WaveOf<Self> {
        let (keys, late) = (&self.material.schedules[schedule], late.map(|wave| &wave.v));
        rounds_splat::<L, D, N>(self.l, keys, &mut x.v, late);
        x
    }
    #[inline(always)]
    fn last<D: Direction>(
        &self,
        schedule: usize,
        mut x: WaveOf<Self>,
        onto: Added<'_, Self>,
    ) -> WaveOf<Self> {
        let (keys, onto) = (&self.material.schedules[schedule], onto.map(|wave| &wave.v));
        last_splat::<L, D, N>(self.l, keys, &mut x.v, onto);
        x
    }
    #[inline(always)]
    fn xex<D: Direction>(
        &self,
        schedule: usize,
        mut x: WaveOf<Self>,
        offset: WaveOf<Self>,
        shared: L::V,
    ) -> WaveOf<Self> {
        let keys = &self.material.schedules[schedule];
        xex_splat::<L, D, N>(self.l, keys, &mut x.v, &offset.v, shared);
        x
    }
    #[inline(always)]
    fn constant(&self, which: usize) -> WaveOf<Self> {
        Wave::splat(self.l, self.material.constants[which])
    }
    #[inline(always)]
    fn constant_vector(&self, which: usize, _i: usize) -> L::V {
        self.l.splat(self.material.constants[which])
    }
    #[inline(always)]
    fn table(&self, _lane: usize) -> &[Block] {
        &self.material.table
    }
}

/// A key for each lane: eleven round keys of eight vectors lie side by side, as
/// [`Lanes::nine_rounds_each`] takes them, and a lane's key is changed by writing its blocks.
pub(crate) struct Each<'k, L: Lanes, M: Mode, const N: usize, const OPEN: bool> {
    l: L,
    params: Params,
    schedules: <M::Schedules as Count>::Array<[[L::V; N]; 11]>,
    constants: <M::Constants as Count>::Array<Wave<Vectors<L, N>>>,
    materials: [Option<&'k KeyMaterial<M>>; sealane_block::lanes::MAX_LANES],
}

impl<L: Lanes, M: Mode, const N: usize, const OPEN: bool> Each<'_, L, M, N, OPEN> {
    #[inline(always)]
    pub(crate) fn new(l: L, params: Params) -> Self {
        Each {
            l,
            params,
            schedules: M::Schedules::filled([[l.splat(Block::ZERO); N]; 11]),
            constants: M::Constants::filled(Wave::zero(l)),
            materials: [None; sealane_block::lanes::MAX_LANES],
        }
    }
}

impl<'k, L: Lanes, M: Mode, const N: usize, const OPEN: bool> LaneKeys<'k, M>
    for Each<'k, L, M, N, OPEN>
{
    #[inline(always)]
    fn set(&mut self, lane: usize, material: &'k KeyMaterial<M>) {
        // A lane that keeps its key needs no change.
        if self.materials[lane].is_some_and(|had| std::ptr::eq(had, material)) {
            return;
        }
        self.materials[lane] = Some(material);
        let schedules = self.schedules.as_mut().iter_mut();
        for (to, from) in schedules.zip(material.schedules.as_ref()) {
            for round in 0..11 {
                let blocks: &mut [Block] = bytemuck::must_cast_slice_mut(&mut to[round]);
                blocks[lane] = from[round];
            }
        }
        let constants = self.constants.as_mut().iter_mut();
        for (to, from) in constants.zip(material.constants.as_ref()) {
            to.lanes_mut()[lane] = *from;
        }
    }

    #[inline(always)]
    fn wipe(&mut self) {
        for schedule in self.schedules.as_mut() {
            for round in schedule {
                self.l.wipe(round);
            }
        }
        for constant in self.constants.as_mut() {
            self.l.wipe(&mut constant.v);
        }
    }
}

impl<L: Lanes, M: Mode, const N: usize, const OPEN: bool> Keys for Each<'_, L, M, N, OPEN> {
    type S = Vectors<L, N>;
    const SAME: bool = false;
    const OPEN: bool = OPEN;
    #[inline(always)]
    fn l(&self) -> L {
        self.l
    }
    #[inline(always)]
    fn params(&self) -> Params {
        self.params
    }
    #[inline(always)]
    fn rounds<D: Direction>(
        &self,
        schedule: usize,
        mut x: WaveOf<Self>,
        late: Added<'_, Self>,
    ) -> WaveOf<Self> {
        let (keys, late) = (&self.schedules[schedule], late.map(|wave| &wave.v));
        rounds_each::<L, D, N>(self.l, keys, &mut x.v, late);
        x
    }
    #[inline(always)]
    fn last<D: Direction>(
        &self,
        schedule: usize,
        mut x: WaveOf<Self>,
        onto: Added<'_, Self>,
    ) -> WaveOf<Self> {
        let (keys, onto) = (&self.schedules[schedule][10], onto.map(|wave| &wave.v));
        last_each::<L, D, N>(self.l, &mut x.v, keys, onto);
        x
    }
    #[inline(always)]
    fn constant(&self, which: usize) -> WaveOf<Self> {
        self.constants[which]
    }
    #[inline(always)]
    fn constant_vector(&self, which: usize, i: usize) -> L::V {
        self.constants[which].v[i]
    }
    #[inline(always)]
    fn table(&self, lane: usize) -> &[Block] {
        self.materials[lane].map_or(&[], |material| &material.table)
    }
}
