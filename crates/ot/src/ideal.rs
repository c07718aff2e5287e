//! The ideal functionality of correlated OTs, for tests of what is built on them: a dealer whom
//! both parties trust gives each its part, and nothing is sent.

use crate::traits::{CotCost, CotReceiver, CotSender, PACKED};
use crate::{Flights, OtError, Security};
use sealane_block::{Block, Coins, SecretStream};
use sealane_net::Mesh;
use sealane_parties::PartyId;
use zeroize::Zeroizing;

/// The dealer, whose two copies deal alike.
struct Dealer(SecretStream);

/// Sender; see the [module](self).
pub struct Sender {
    peer: PartyId,
    delta: Block,
    dealer: Dealer,
}

/// Receiver; see the [module](self).
pub struct Receiver {
    peer: PartyId,
    delta: Block,
    dealer: Dealer,
}

/// Cost of what the dealer gives: nothing crosses.
#[derive(Clone, Copy, Debug)]
pub struct Free;

impl CotCost for Free {
    fn set_up(&self) -> Flights {
        Flights::new()
    }

    fn extend(&self, _: u64, _: u64) -> Flights {
        Flights::new()
    }
}

/// Creates the two of `parties`, a sender and a receiver, who know each other's secrets: for tests
/// alone.
pub fn danger_pair(parties: [PartyId; 2], delta: Block, seed: u64) -> (Sender, Receiver) {
    let dealer = || Dealer(Coins::danger_fixed_seed(seed).secret("ot: ideal"));
    let sender = Sender {
        peer: parties[1],
        delta,
        dealer: dealer(),
    };
    let receiver = Receiver {
        peer: parties[0],
        delta,
        dealer: dealer(),
    };
    (sender, receiver)
}

impl CotSender for Sender {
    fn peer(&self) -> PartyId {
        self.peer
    }

    fn security(&self) -> Security {
        Security::Malicious
    }

    fn delta(&self) -> Block {
        self.delta
    }

    fn extend(&mut self, _: &mut Mesh, q: &mut [Block]) -> Result<(), OtError> {
        let mut choices = Zeroizing::new(vec![Block::ZERO; q.len().div_ceil(PACKED)]);
        self.dealer.0.fill(&mut choices);
        self.dealer.0.fill(q);
        Ok(())
    }
}

impl CotReceiver for Receiver {
    fn peer(&self) -> PartyId {
        self.peer
    }

    fn security(&self) -> Security {
        Security::Malicious
    }

    fn extend(
        &mut self,
        _: &mut Mesh,
        choices: &mut [Block],
        t: &mut [Block],
    ) -> Result<(), OtError> {
        assert_eq!(choices.len(), t.len().div_ceil(PACKED), "128 in a block");
        self.dealer.0.fill(choices);
        self.dealer.0.fill(t);
        crate::traits::clear_rest(choices, t.len());
        for (j, t) in t.iter_mut().enumerate() {
            *t ^= self.delta.masked(crate::traits::choice(choices, j));
        }
        Ok(())
    }
}
