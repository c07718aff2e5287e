//! GCM: NIST SP 800-38D; McGrew and Viega, "The Galois/Counter Mode of Operation" (2004). CTR, and
//! GHASH over associated data, ciphertext and lengths.
//!
//! GHASH multiplies by H after each block. The value here is the one before that product (see
//! [`horner`]), which the tail computes.

use sealane_block::gf::Order;
use sealane_block::products::Products;
use sealane_block::{Block, Cpu};

use super::horner::{self, BlockSource};
use super::shared::lane_numbers;
use crate::lanes::head::block_of;
use crate::lanes::keys::{Sums, aes};
use crate::lanes::{
    Data, Facts, Head, KeyMaterial, Keys, Mode, Of, OneState, Params, Shape, State, Tail, Wave,
};

pub(crate) struct Gcm;

/// The counter block of the next block of text, byte-reversed.
const COUNTER: usize = 0;
/// The counter block of the tag, J_0.
const FIRST: usize = 1;
/// GHASH before its last product, byte-reversed.
const HASH: usize = 2;

/// The number of the head's block that holds J_0, if the nonce has twelve bytes.
const USUAL_NONCE: usize = 12;

impl Mode for Gcm {
    type Schedules = Of<1>;
    type Constants = Of<{ horner::CONSTANTS }>;
    type Words = Of<3>;
    const PARALLEL: bool = true;

    fn derive(cpu: Cpu, key: &[u8], material: &mut KeyMaterial<Self>) {
        let hash_key = aes(cpu, key).encrypt(Block::ZERO);
        (material.table, material.constants) = horner::expand(cpu, Order::Ghash, hash_key);
    }

    /// Returns the number of blocks that make J_0, then of the associated data.
    fn head_blocks(_params: &Params, message: &Facts<'_>) -> usize {
        nonce_blocks(message.nonce.len()) + message.ad.len().div_ceil(16)
    }
    fn head_block(_params: &Params, message: &Facts<'_>, index: usize) -> Block {
        let (nonce, count) = (message.nonce, nonce_blocks(message.nonce.len()));
        if index >= count {
            block_of(message.ad, index - count)
        } else if nonce.len() == USUAL_NONCE {
            Block::new(block_of(nonce, 0).value() | 1 << 120)
        } else if index + 1 == count {
            Block::from_bytes((8 * nonce.len() as u128).to_be_bytes())
        } else {
            block_of(nonce, index)
        }
    }

    /// Lanes may be in different parts of their heads, depending on the lengths of nonces.
    #[inline(always)]
    fn absorb<K: Keys>(keys: &K, state: &mut State<Self, K::S>, head: &Head<'_, K::S>) {
        let l = keys.l();
        let ending = |usual: bool| {
            head.messages.where_lengths(|message| {
                let bytes = message.nonce.len();
                nonce_blocks(bytes) == head.index + 1 && (bytes == USUAL_NONCE) == usual
            })
        };
        let (usual, ends) = (ending(true), ending(false));
        if usual == head.messages.set {
            state[FIRST] = head.block;
            return;
        }
        let hashed = horner::step(keys, Order::Ghash, state[HASH], head.block.reversed());
        state[HASH] = hashed;
        if usual | ends != 0 {
            let made = horner::product(Order::Ghash, hashed, horner::base(keys, 1)).reversed();
            let is_usual = Wave::where_set(l, usual);
            let done = Wave::where_set(l, usual | ends);
            let first = made.unless(is_usual, head.block);
            state[FIRST] = state[FIRST].unless(done, first);
            state[HASH] = hashed.unless(done, Wave::zero(l));
        }
    }

    #[inline(always)]
    fn begin<K: Keys>(keys: &K, state: &mut State<Self, K::S>, _head: &Head<'_, K::S>) {
        let one = Wave::splat(keys.l(), Block::new(1));
        // Without the barrier, the compiler builds it byte by byte where one message has all lanes.
        state[COUNTER] = state[FIRST].optimization_barrier().reversed().add32(one);
    }

    #[inline(always)]
    fn body<K: Keys, D: Data<K::S>>(keys: &K, state: &mut State<Self, K::S>, data: &mut D) {
        let step = Wave::splat(keys.l(), Block::new(D::STEP as u128));
        let mut counted = Counted {
            counter: state[COUNTER],
            step,
        };
        state[HASH] = horner::hash(keys, Order::Ghash, data, state[HASH], &mut counted);
        state[COUNTER] = counted.counter;
    }

    #[inline(always)]
    fn spread<K: Keys>(keys: &K, state: &OneState<Self, K::S>, _at: u64) -> State<Self, K::S> {
        [
            state[COUNTER].spread().add32(lane_numbers(keys.l())),
            state[FIRST].spread(),
            horner::spread(state[HASH]),
        ]
    }
    #[inline(always)]
    fn fold<K: Keys>(keys: &K, state: &State<Self, K::S>, next: usize) -> OneState<Self, K::S> {
        [
            state[COUNTER].pick(next),
            state[FIRST].pick(0),
            horner::fold(keys, Order::Ghash, state[HASH], next),
        ]
    }

    #[inline(always)]
    fn tail<K: Keys>(keys: &K, state: &State<Self, K::S>, tail: &mut Tail<'_, K::S>) {
        let l = keys.l();
        let mut hash = state[HASH];
        if tail.most > 0 {
            let pad = keys.encrypt(0, state[COUNTER].reversed());
            let [_, sealed] = tail.mask::<K>(pad);
            let more = horner::step(keys, Order::Ghash, hash, sealed.reversed());
            hash = hash.unless(tail.where_rest(l, |rest| rest > 0), more);
        }
        // Reversed, as the hash is: the length of associated data in the upper half.
        let lengths = tail.messages.by_lengths(l, |message| {
            let (ad, text) = (8 * message.ad.len() as u128, 8 * message.text as u128);
            Block::new(ad << 64 | text)
        });
        let hash = horner::last_two(keys, Order::Ghash, hash, lengths);
        tail.tag::<K>(hash.reversed() ^ keys.encrypt(0, state[FIRST]));
    }
}

/// Encrypts units with CTR, and passes on their ciphertext.
struct Counted<S: Shape> {
    counter: Wave<S>,
    step: Wave<S>,
}

impl<K: Keys> BlockSource<K> for Counted<K::S> {
    const ROUNDS_INTERLEAVED: bool = !K::OPEN;

    #[inline(always)]
    fn block(&mut self, keys: &K, data: &mut impl Data<K::S>, unit: usize) -> Wave<K::S> {
        let pad = keys.encrypt(0, self.counter.reversed());
        self.masked::<K>(data, unit, pad)
    }

    #[inline(always)]
    fn block_interleaved(
        &mut self,
        keys: &K,
        data: &mut impl Data<K::S>,
        unit: usize,
        products: &Products<'_>,
    ) -> (Wave<K::S>, Sums<K::S>) {
        let (pad, sums) = keys.encrypt_interleaved(0, self.counter.reversed(), products);
        (self.masked::<K>(data, unit, pad), sums)
    }
}

impl<S: Shape> Counted<S> {
    /// Masks a unit with its pad, and returns its ciphertext.
    #[inline(always)]
    fn masked<K: Keys<S = S>>(
        &mut self,
        data: &mut impl Data<S>,
        unit: usize,
        pad: Wave<S>,
    ) -> Wave<S> {
        self.counter = self.counter.add32(self.step);
        let [given, made] = data.add(unit, 0, pad);
        if K::OPEN { given } else { made }
    }
}

/// Returns the blocks of the head that make J_0: the nonce itself, or its GHASH.
fn nonce_blocks(bytes: usize) -> usize {
    match bytes {
        USUAL_NONCE => 1,
        _ => bytes.div_ceil(16) + 1,
    }
}
