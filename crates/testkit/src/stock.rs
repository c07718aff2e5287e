//! Random OTs of a pool, as a dealer whom both parties trust gives them: the ideal functionality of
//! a [`Stock`].

use sealane_block::{Block, Coins, SecretStream};
use sealane_parties::PartyId;
use sealane_party::{Result, Stock, Stocks};

/// Random OTs of one direction without end. Two that are made of the same coins deal alike: one for
/// the sender, one for the receiver.
pub struct Dealt(SecretStream);

impl Dealt {
    /// OTs from these coins for one of two parties, in both directions: the first party is the
    /// sender in one, the second in the other.
    pub fn both(me: PartyId, mut coins: Coins) -> Stocks {
        let mut one = |label| Some(Box::new(Dealt(coins.secret(label))) as Box<dyn Stock>);
        let (first, second) = (one("testkit: stock"), one("testkit: stock of the second"));
        let [sender, receiver] = match me.0 {
            0 => [first, second],
            _ => [second, first],
        };
        Stocks { sender, receiver }
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
