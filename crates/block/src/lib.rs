//! Room `block`: 128-bit blocks and everything that is done to many of them at once.
//!
//! CONTRACT SKELETON: signatures that other rooms rely on; the room's owner replaces the bodies
//! and may add, not rename.

use zeroize::Zeroize;

/// A 128-bit string, little-endian: byte 0 holds bits 0 to 7, bit 0 is the permute bit of a label.
/// It has neither `Debug` nor `PartialEq`: most blocks are secret.
#[derive(Clone, Copy, Default, bytemuck::Pod, bytemuck::Zeroable, Zeroize)]
#[repr(transparent)]
pub struct Block(u128);

impl Block {
    /// The all-zero block.
    pub const ZERO: Block = Block(0);
    /// A block from its value as a little-endian integer.
    pub const fn new(value: u128) -> Block {
        Block(value)
    }
    /// The little-endian integer.
    pub const fn value(self) -> u128 {
        self.0
    }
    /// A block from its 16 bytes.
    pub const fn from_bytes(bytes: [u8; 16]) -> Block {
        Block(u128::from_le_bytes(bytes))
    }
    /// The 16 bytes.
    pub const fn to_bytes(self) -> [u8; 16] {
        self.0.to_le_bytes()
    }
}

impl std::ops::BitXor for Block {
    type Output = Block;
    fn bitxor(self, other: Block) -> Block {
        Block(self.0 ^ other.0)
    }
}

/// A CPU tier: which instructions the lane operations use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Tier {
    /// Constant-time integer code, which also emulates the wide lanes.
    Portable,
    /// AES-NI on 128-bit registers.
    AesNi,
    /// VAES on 256-bit registers.
    Vaes256,
    /// VAES on 512-bit registers.
    Vaes512,
}

/// Proof that this machine can run a tier. Cheap to copy; made once and passed on.
#[derive(Clone, Copy, Debug)]
pub struct Cpu {
    tier: Tier,
}

impl Cpu {
    /// The best tier of this machine, or the one that `SEALANE_TIER` forces.
    pub fn detect() -> Result<Cpu, TierError> {
        todo!()
    }
    /// A given tier, if this machine can run it.
    pub fn with_tier(_tier: Tier) -> Result<Cpu, TierError> {
        todo!()
    }
    /// All tiers that this machine can run, slowest first.
    pub fn available() -> Vec<Cpu> {
        todo!()
    }
    /// The tier of this token.
    pub fn tier(self) -> Tier {
        self.tier
    }
}

/// A tier that was asked for and is not to be had.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct TierError(pub String);

/// The one source of randomness of protocols: seeded by the operating system, or, in tests only,
/// by a fixed seed.
pub struct Coins(());

impl Coins {
    /// Coins seeded by the operating system.
    pub fn from_os(_cpu: Cpu) -> Result<Coins, CoinsError> {
        todo!()
    }
    /// Coins that repeat: for `testkit` alone.
    pub fn danger_fixed_seed(_cpu: Cpu, _seed: u64) -> Coins {
        todo!()
    }
    /// Fresh random blocks.
    pub fn fill(&mut self, _out: &mut [Block]) {
        todo!()
    }
    /// Fresh random bytes.
    pub fn fill_bytes(&mut self, _out: &mut [u8]) {
        todo!()
    }
    /// Coins independent of these, for another thread or role.
    pub fn fork(&mut self) -> Coins {
        todo!()
    }
}

/// The operating system gave no randomness.
#[derive(Debug, thiserror::Error)]
#[error("the operating system gave no randomness: {0}")]
pub struct CoinsError(pub String);
