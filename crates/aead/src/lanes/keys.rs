//! Expanded keys, and the view of them that lanes have.

use sealane_block::aes::{
    Around, Back, Direction, Forward, cipher_each, cipher_splat, last_each, last_splat,
    rounds_each, rounds_splat, xex_splat,
};
use sealane_block::products::{Products, encrypt_interleaved};
use sealane_block::{Block, Lanes};

use zeroize::Zeroize;

use super::{AlignedBlocks, Count, Mode, Params, Wave};

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
    /// A key of these schedules, with constants of zero and an empty table.
    pub(crate) fn new(params: Params, schedules: Schedules<M>) -> KeyMaterial<M> {
        KeyMaterial {
            params,
            schedules,
            constants: M::Constants::filled(Block::ZERO),
            table: AlignedBlocks::default(),
        }
    }
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

/// The keys of the lanes of a wave.
pub(crate) trait Keys<L: Lanes, const N: usize> {
    /// True if all lanes have the same key.
    const SAME: bool;
    /// The token of the tier.
    fn l(&self) -> L;
    /// Returns the parameters that all keys share.
    fn params(&self) -> Params;
    /// Runs the cipher in every lane under its schedule of that number, with the additions of
    /// `around`.
    fn cipher<D: Direction>(
        &self,
        schedule: usize,
        x: Wave<L, N>,
        around: Around<'_, L::V, N>,
    ) -> Wave<L, N>;
    /// Runs encryption without its last round, which is [`last_onto`](Keys::last_onto): values that
    /// are loaded between the two take no register during the rounds.
    #[allow(
        dead_code,
        reason = "only JAMBU uses it, in a build with the feature `research`"
    )]
    fn rounds(&self, schedule: usize, x: Wave<L, N>) -> Wave<L, N>;
    /// Runs the last round of encryption and an addition.
    #[allow(
        dead_code,
        reason = "only JAMBU uses it, in a build with the feature `research`"
    )]
    fn last_onto(&self, schedule: usize, x: Wave<L, N>, onto: Wave<L, N>) -> Wave<L, N>;
    /// Runs the cipher between two additions of an offset: `offset` plus one that all lanes share.
    fn xex<D: Direction>(
        &self,
        schedule: usize,
        x: Wave<L, N>,
        offset: Wave<L, N>,
        shared: L::V,
    ) -> Wave<L, N>;
    /// Encrypts every lane, and computes sums of products, beside it where that is faster.
    #[inline(always)]
    fn encrypt_interleaved(
        &self,
        schedule: usize,
        x: Wave<L, N>,
        products: &Products<'_>,
    ) -> (Wave<L, N>, [[L::V; 3]; 2]) {
        (self.encrypt(schedule, x), products.sums(self.l()))
    }
    /// The constant of that number.
    fn constant(&self, which: usize) -> Wave<L, N>;
    /// Vector `i` of the constant of that number.
    fn constant_vector(&self, which: usize, i: usize) -> L::V;
    /// The table of a lane's key.
    fn table(&self, lane: usize) -> &[Block];

    /// Encrypts every lane under its schedule of that number.
    #[inline(always)]
    fn encrypt(&self, schedule: usize, x: Wave<L, N>) -> Wave<L, N> {
        self.cipher::<Forward>(schedule, x, Around::NOTHING)
    }
    /// Decrypts every lane under its schedule of that number, which is one of decryption.
    #[inline(always)]
    fn decrypt(&self, schedule: usize, x: Wave<L, N>) -> Wave<L, N> {
        self.cipher::<Back>(schedule, x, Around::NOTHING)
    }
    /// Encrypts `x ^ late`, where `late` comes last: for chains.
    #[inline(always)]
    fn encrypt_late(&self, schedule: usize, x: Wave<L, N>, late: Wave<L, N>) -> Wave<L, N> {
        let around = Around {
            late: Some(&late.v),
            onto: None,
        };
        self.cipher::<Forward>(schedule, x, around)
    }
    /// Encrypts `x`, and adds `onto`.
    #[inline(always)]
    fn encrypt_onto(&self, schedule: usize, x: Wave<L, N>, onto: Wave<L, N>) -> Wave<L, N> {
        let around = Around {
            late: None,
            onto: Some(&onto.v),
        };
        self.cipher::<Forward>(schedule, x, around)
    }
    /// Decrypts `x`, and adds `onto`.
    #[inline(always)]
    fn decrypt_onto(&self, schedule: usize, x: Wave<L, N>, onto: Wave<L, N>) -> Wave<L, N> {
        let around = Around {
            late: None,
            onto: Some(&onto.v),
        };
        self.cipher::<Back>(schedule, x, around)
    }
}

/// Keys of lanes that process one message after the other.
pub(crate) trait LaneKeys<'k, L: Lanes, M: Mode, const N: usize>: Keys<L, N> {
    /// Gives a lane the key of its next message.
    fn set(&mut self, lane: usize, material: &'k KeyMaterial<M>);
    /// Erases all copies of keys here.
    fn wipe(&mut self);
}

/// One key for all lanes, used in place.
pub(crate) struct Same<'k, L: Lanes, M: Mode> {
    pub(crate) l: L,
    pub(crate) material: &'k KeyMaterial<M>,
}

impl<'k, L: Lanes, M: Mode, const N: usize> LaneKeys<'k, L, M, N> for Same<'k, L, M> {
    #[inline(always)]
    fn set(&mut self, _lane: usize, _material: &'k KeyMaterial<M>) {}
    #[inline(always)]
    fn wipe(&mut self) {}
}

impl<L: Lanes, M: Mode, const N: usize> Keys<L, N> for Same<'_, L, M> {
    const SAME: bool = true;
    #[inline(always)]
    fn encrypt_interleaved(
        &self,
        schedule: usize,
        mut x: Wave<L, N>,
        products: &Products<'_>,
    ) -> (Wave<L, N>, [[L::V; 3]; 2]) {
        let schedule = &self.material.schedules[schedule];
        // Known when the body is compiled.
        let sums = match x.v.as_mut_slice().try_into() {
            Ok(eight) => encrypt_interleaved(self.l, schedule, eight, products),
            Err(_) => {
                cipher_splat::<L, Forward, N>(self.l, schedule, &mut x.v, Around::NOTHING);
                products.sums(self.l)
            }
        };
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
    fn cipher<D: Direction>(
        &self,
        schedule: usize,
        mut x: Wave<L, N>,
        around: Around<'_, L::V, N>,
    ) -> Wave<L, N> {
        cipher_splat::<L, D, N>(self.l, &self.material.schedules[schedule], &mut x.v, around);
        x
    }
    #[inline(always)]
    fn rounds(&self, schedule: usize, mut x: Wave<L, N>) -> Wave<L, N> {
        let keys = &self.material.schedules[schedule];
        rounds_splat::<L, Forward, N>(self.l, keys, &mut x.v, None);
        x
    }
    #[inline(always)]
    fn last_onto(&self, schedule: usize, mut x: Wave<L, N>, onto: Wave<L, N>) -> Wave<L, N> {
        let keys = &self.material.schedules[schedule];
        last_splat::<L, Forward, N>(self.l, keys, &mut x.v, Some(&onto.v));
        x
    }
    #[inline(always)]
    fn xex<D: Direction>(
        &self,
        schedule: usize,
        mut x: Wave<L, N>,
        offset: Wave<L, N>,
        shared: L::V,
    ) -> Wave<L, N> {
        let keys = &self.material.schedules[schedule];
        xex_splat::<L, D, N>(self.l, keys, &mut x.v, &offset.v, shared);
        x
    }
    #[inline(always)]
    fn constant(&self, which: usize) -> Wave<L, N> {
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
pub(crate) struct Each<'k, L: Lanes, M: Mode, const N: usize> {
    l: L,
    params: Params,
    schedules: <M::Schedules as Count>::Array<[[L::V; N]; 11]>,
    constants: <M::Constants as Count>::Array<Wave<L, N>>,
    materials: [Option<&'k KeyMaterial<M>>; sealane_block::lanes::MAX_LANES],
}

impl<'k, L: Lanes, M: Mode, const N: usize> Each<'k, L, M, N> {
    #[inline(always)]
    pub(crate) fn new(l: L, params: Params) -> Each<'k, L, M, N> {
        Each {
            l,
            params,
            schedules: M::Schedules::filled([[l.splat(Block::ZERO); N]; 11]),
            constants: M::Constants::filled(Wave::zero(l)),
            materials: [None; sealane_block::lanes::MAX_LANES],
        }
    }
}

impl<'k, L: Lanes, M: Mode, const N: usize> LaneKeys<'k, L, M, N> for Each<'k, L, M, N> {
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

impl<L: Lanes, M: Mode, const N: usize> Keys<L, N> for Each<'_, L, M, N> {
    const SAME: bool = false;
    #[inline(always)]
    fn l(&self) -> L {
        self.l
    }
    #[inline(always)]
    fn params(&self) -> Params {
        self.params
    }
    #[inline(always)]
    fn cipher<D: Direction>(
        &self,
        schedule: usize,
        mut x: Wave<L, N>,
        around: Around<'_, L::V, N>,
    ) -> Wave<L, N> {
        cipher_each::<L, D, N>(self.l, &self.schedules[schedule], &mut x.v, around);
        x
    }
    #[inline(always)]
    fn rounds(&self, schedule: usize, mut x: Wave<L, N>) -> Wave<L, N> {
        rounds_each::<L, Forward, N>(self.l, &self.schedules[schedule], &mut x.v, None);
        x
    }
    #[inline(always)]
    fn last_onto(&self, schedule: usize, mut x: Wave<L, N>, onto: Wave<L, N>) -> Wave<L, N> {
        let keys = &self.schedules[schedule][10];
        last_each::<L, Forward, N>(self.l, &mut x.v, keys, Some(&onto.v));
        x
    }
    #[inline(always)]
    fn xex<D: Direction>(
        &self,
        schedule: usize,
        x: Wave<L, N>,
        offset: Wave<L, N>,
        shared: L::V,
    ) -> Wave<L, N> {
        let offset = offset ^ Wave::filled(self.l, shared);
        let around = Around {
            late: None,
            onto: Some(&offset.v),
        };
        self.cipher::<D>(schedule, x ^ offset, around)
    }
    #[inline(always)]
    fn constant(&self, which: usize) -> Wave<L, N> {
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
