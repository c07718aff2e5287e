//! The ideal functionalities of OTs and products, for tests: a dealer whom both parties trust gives
//! each its part, and nothing is sent.
//!
//! They stand behind the same [traits](crate::traits) as the protocols. So a test of what is built
//! on one of these runs without the protocols beneath, and the test of a protocol runs over its
//! ideal functionality too. The parties of such a pair know each other's secrets.

pub mod chosen;
mod correlated;
pub mod correlations;
pub mod given;
pub mod one_of_n;
pub mod random;

pub use correlated::{Free, IdealCotReceiver, IdealCotSender, danger_pair};

use sealane_block::{Block, Coins, SecretStream};

/// The dealer, whose two copies deal alike.
struct Dealer(SecretStream);

impl Dealer {
    fn pair(seed: u64) -> [Dealer; 2] {
        [(); 2].map(|()| Dealer(Coins::danger_fixed_seed(seed).secret("ot: ideal")))
    }

    fn blocks(&mut self, count: usize) -> Vec<Block> {
        let mut blocks = vec![Block::ZERO; count];
        self.0.fill(&mut blocks);
        blocks
    }
}
