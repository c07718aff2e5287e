//! Random OTs of a pool, as a dealer whom both parties trust gives them: the ideal functionality of
//! a [`Stock`].

use sealane_block::{Block, Coins, SecretStream};
use sealane_party::{Result, Stock};

/// Random OTs without end. Two that are made of the same coins deal alike: one for the sender, one
/// for the receiver.
pub struct Dealt(SecretStream);

impl Dealt {
    /// OTs from these coins.
    pub fn new(mut coins: Coins) -> Dealt {
        Dealt(coins.secret("testkit: stock"))
    }

    /// Both keys of the next OT, and its choice in bit 0 of the third block.
    fn next(&mut self) -> [Block; 3] {
        let mut drawn = [Block::ZERO; 3];
        self.0.fill(&mut drawn);
        drawn
    }
}

impl Stock for Dealt {
    fn pairs(&mut self, pairs: &mut [[Block; 2]]) -> Result<()> {
        for pair in pairs {
            let [zero, one, _] = self.next();
            *pair = [zero, one];
        }
        Ok(())
    }

    fn keys(&mut self, choices: &mut [u8], keys: &mut [Block]) -> Result<()> {
        for (choice, key) in choices.iter_mut().zip(keys) {
            let [zero, one, drawn] = self.next();
            *choice = drawn.lsb();
            *key = zero ^ (zero ^ one).masked(*choice);
        }
        Ok(())
    }
}
