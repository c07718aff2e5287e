//! Correlated OTs.

use super::Dealer;
use crate::traits::{CotCost, CotReceiver, CotSender, CotTerms, PACKED};
use crate::{Flights, Result, Security};
use sealane_block::Block;
use sealane_net::Mesh;
use sealane_parties::PartyId;
use zeroize::Zeroizing;

/// Sender of correlated OTs; see the [module](super).
pub struct IdealCotSender(Dealt);

/// Receiver of correlated OTs; see the [module](super).
pub struct IdealCotReceiver(Dealt);

/// State of either of the two.
struct Dealt {
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

    fn one_way(&self) -> bool {
        true
    }
}

/// Creates the two of `parties`, a sender and a receiver, who know each other's secrets: for tests
/// alone.
pub fn danger_pair(
    parties: [PartyId; 2],
    delta: Block,
    seed: u64,
) -> (IdealCotSender, IdealCotReceiver) {
    let [one, other] = Dealer::pair(seed);
    let dealt = |peer, dealer| Dealt {
        peer,
        delta,
        dealer,
    };
    let sender = IdealCotSender(dealt(parties[1], one));
    (sender, IdealCotReceiver(dealt(parties[0], other)))
}

impl CotSender for IdealCotSender {
    fn terms(&self) -> CotTerms {
        CotTerms::new(self.0.peer, Security::Malicious).one_way()
    }

    fn delta(&self) -> Block {
        self.0.delta
    }

    fn extend(&mut self, _: &mut Mesh, q: &mut [Block]) -> Result<()> {
        let mut choices = Zeroizing::new(vec![Block::ZERO; q.len().div_ceil(PACKED)]);
        self.0.dealer.0.fill(&mut choices);
        self.0.dealer.0.fill(q);
        Ok(())
    }
}

impl CotReceiver for IdealCotReceiver {
    fn terms(&self) -> CotTerms {
        CotTerms::new(self.0.peer, Security::Malicious).one_way()
    }

    fn extend(&mut self, _: &mut Mesh, choices: &mut [Block], t: &mut [Block]) -> Result<()> {
        assert_eq!(choices.len(), t.len().div_ceil(PACKED), "128 in a block");
        self.0.dealer.0.fill(choices);
        self.0.dealer.0.fill(t);
        crate::traits::clear_rest(choices, t.len());
        for (j, t) in t.iter_mut().enumerate() {
            *t ^= self.0.delta.masked(crate::traits::choice(choices, j));
        }
        Ok(())
    }
}
