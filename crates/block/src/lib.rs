//! Crate `block`: 128-bit blocks and the operations on many of them at once.
//!
//! The main idea: **an algorithm is written once, over the operations of [`Lanes`], and a CPU tier
//! supplies these operations and nothing else.** A [`Cpu`] is proof that this machine can run a
//! tier; [`Cpu::run`] takes a [`Kernel`] and runs it on that tier. Other crates write kernels of
//! their own (garbling does) without any `unsafe`.
//!
//! | module | content |
//! |---|---|
//! | [`cpu`] | tiers, their detection, and the one dispatch |
//! | [`lanes`] | the operations of kernels, and their four tiers |
//! | [`aes`] | AES-128: one key in both directions, many keys, a fresh key for every block |
//! | [`coins`] | [`Coins`], the one source of randomness of protocols, and its labelled streams |
//! | [`prg`] | the CTR generator for bulk, and the rule for every generator |
//! | `erased` | [`Erased`], a box all of whose memory is erased |
//! | [`hash`] | hashes of labels: PRP, TCCR, CIRC and MI |
//! | [`gf`] | GF(2^128) in the two bit orders in use |
//! | [`mersenne`] | integers modulo a Mersenne prime, one in a word |
//! | [`poly_hash`] | a polynomial hash over that field: a digest against accidents |
//! | [`silent`] | trees, a sparse matrix and sums, for silent oblivious transfer |
//! | [`terms`] | sums of many blocks, some of whose terms bits choose |
//! | [`mod@transpose`] | 128 rows of bits into blocks |
//! | [`leaves`] | streams of the leaves of trees, summed by the bits of their numbers |
//! | [`column_hash`] | linear hashes of the columns of a bit matrix |
//! | [`heap`] | an allocator that says why the process ends when there is no more memory |
//! | [`clock`] | the counters that benchmarks read |
//!
//! **Side channels.** No branch and no address depends on the value of a block on any tier. The
//! portable tier computes the S-box as a Boolean circuit; it assumes that integer
//! multiplication takes the same time for all operands, which holds on the 64-bit processors in
//! use. Nothing is promised against power analysis or faults. Copies that the compiler leaves in
//! registers or on the stack are not cleared.
//!
//! **Unsafe code** is confined to this crate, and in it to the files under `lanes/` (intrinsics,
//! loads, stores and the assembly of AES rounds), the dispatch in `cpu`, `clock`, `erased`, `heap`.

// Kernels index several small arrays in step; a constant range says so, and it unrolls.
#![allow(clippy::needless_range_loop)]

#[cfg(target_endian = "big")]
compile_error!("blocks are viewed as little-endian bytes; big-endian machines are not supported");

pub mod aes;
mod block;
pub mod clock;
pub mod coins;
pub mod column_hash;
pub mod cpu;
mod erased;
pub mod fresh;
pub mod gf;
pub mod hash;
pub mod heap;
pub mod lanes;
pub mod leaves;
pub mod mersenne;
pub mod poly_hash;
pub mod prg;
pub mod products;
pub mod silent;
pub mod terms;
#[cfg(test)]
mod testing;
pub mod transpose;

pub use aes::{Aes128, Aes128Dec, Aes128Many};
pub use block::{Block, GROUP, Group};
pub use coins::{Coins, CoinsError, Nonce, PublicStream, SecretStream, Seed};
pub use column_hash::ColumnHash;
pub use cpu::{Cpu, Kernel, Tier, TierError};
pub use erased::Erased;
pub use hash::{Calls, LabelHash, Tweak};
pub use lanes::Lanes;
pub use leaves::Leaves;
pub use mersenne::Prime;
pub use poly_hash::PolyHash;
pub use prg::Prg;
pub use transpose::transpose;
