//! The source of authenticated bits and of products of them: what garbling takes from below.
//!
//! All parties ask for the same things in the same order, so a source needs no numbers.
//!
//! | module | content |
//! |---|---|
//! | `transfers` | correlated OTs both ways, of which all is made: set-up, pools, refills |
//! | `cost` | what these send, and sizes of batches |
//! | `parts` | the parts of what these send, for plans |
//! | `batch` | the products of a batch: flights, equality, combination of buckets |
//! | `leaky` | products of which a party may have learnt a factor: rows and parts |
//! | `dealer` | the ideal functionality, for tests |

pub(crate) mod batch;
mod cost;
mod dealer;
pub(crate) mod leaky;
mod parts;
mod transfers;

pub use batch::Shape;
pub(crate) use cost::{PRODUCT, bits_of};
pub use dealer::DangerDealer;
pub use transfers::{Part, Transfers, Watch};

use crate::bits::Bits;
use crate::roles::Roles;
use crate::sums::Challenges;
use sealane_block::{Block, Coins, Cpu, Nonce};
use sealane_net::{Mesh, SessionId};
use sealane_parties::PartyId;
use sealane_party::{Fault, Result};
use sealane_protocol::{Correlation, Cost, Demand, Paper, Parts, Role, Setting};
use zeroize::Zeroizing;

/// Beginning of a source, at any party.
pub struct Begun<'a> {
    /// Tier of the CPU.
    pub cpu: Cpu,
    /// The session.
    pub session: SessionId,
    /// Public randomness of this session, to which all parties have contributed.
    pub nonce: Nonce,
    /// This party.
    pub me: PartyId,
    /// All parties.
    pub roles: Roles,
    /// Roles and network.
    pub setting: &'a Setting,
    /// Randomness of this party.
    pub coins: Coins,
    pub(crate) challenges: Challenges,
}

/// Source of authenticated bits and products. A party holds its part towards each other one, in the
/// order of [`Roles`]: garblers in theirs, and at a garbler the evaluator before them.
pub trait Products: Sized + Send + 'static {
    /// Those among whom it makes them: one or more that garble, and one that evaluates.
    const ROLES: &'static [Role];
    /// The assumption under which what it hands out is secure, as a part of a sentence.
    const ASSUMPTION: &'static str;
    /// Its building blocks.
    const REFERENCES: &'static [Paper];
    /// Bits of statistical security; 0 for none.
    const STATISTICAL: u32;

    /// Sets up the source at one party for a run with this demand, and draws its offset: secret but
    /// for bits 0 and 1, of which the former is 1 at all and the latter at the evaluator alone.
    ///
    /// # Errors
    /// The network fails, or the other party breaks the protocol.
    fn set_up(begun: Begun<'_>, demand: &Demand, mesh: &mut Mesh) -> Result<Self>;

    /// Adds bits and products to pools; see [`Party::refill`](sealane_party::Party::refill).
    ///
    /// # Errors
    /// As [`Products::set_up`].
    fn refill(&mut self, demand: &Demand, mesh: &mut Mesh) -> Result<()> {
        let _ = (demand, mesh);
        Err(Fault::internal("a refill of a source without pools"))
    }

    /// This party's offset.
    fn offset(&self) -> Block;

    /// Random authenticated bits.
    ///
    /// # Errors
    /// There are no more.
    fn bits(&mut self, count: usize) -> Result<Vec<Bits>>;

    /// Random authenticated bits that one party knows: the shares of all others are 0, as are their
    /// MACs, and all keys for them.
    ///
    /// # Errors
    /// As [`Products::bits`].
    fn bits_of(&mut self, owner: PartyId, count: usize) -> Result<Vec<Bits>>;

    /// Random authenticated bits `x` and `y`, and their products.
    ///
    /// # Errors
    /// As [`Products::bits`].
    fn products(&mut self, count: usize) -> Result<Vec<[Bits; 3]>>;

    /// A copy of secret blocks, in memory that has been [given back](Products::give_back) where
    /// there is some.
    fn copy_of(&mut self, blocks: &[Block]) -> Vec<Block> {
        blocks.to_vec()
    }

    /// Takes memory of secret blocks that are needed no more.
    fn give_back(&mut self, blocks: Vec<Block>) {
        drop(Zeroizing::new(blocks));
    }

    /// Exact cost of the set-up for a run with this demand.
    fn set_up_cost(_: &Setting, _: &Demand) -> Cost {
        Cost::default()
    }

    /// Counts what the set-up for a run with this demand adds to pools.
    fn set_up_counts(_: &Setting, _: &Demand) -> Demand {
        Demand::default()
    }

    /// Bits of memory of one correlation in a pool, 0 where there is none.
    fn pool_bits(_: Correlation) -> u64 {
        0
    }

    /// Bits of memory beside pools that adding this demand to them takes.
    fn making_bits(_: &Demand) -> u64 {
        0
    }

    /// Counts what a refill makes where so much is lacking.
    fn refill_counts(_: &Setting, lacking: &Demand) -> Demand {
        lacking.clone()
    }

    /// Exact cost of a refill.
    fn refill_cost(_: &Setting, _: &Demand) -> Cost {
        Cost::default()
    }

    /// Parts of a refill, as plans state them.
    fn refill_parts(_: &Setting, _: &Demand) -> Parts {
        Parts::default()
    }
}
