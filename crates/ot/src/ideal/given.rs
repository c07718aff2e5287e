//! Correlated OTs whose choices the receiver gives.

use super::Dealer;
use crate::Result;
use crate::traits::{GivenReceiver, GivenSender};
use sealane_block::Block;
use sealane_net::Mesh;

/// Sender of correlated OTs with given choices; see the [module](super).
pub struct IdealGivenSender(Dealer);

/// Receiver of correlated OTs with given choices; see the [module](super).
pub struct IdealGivenReceiver {
    delta: Block,
    dealer: Dealer,
}

/// Creates a sender with this offset and a receiver, who know each other's secrets but the choices:
/// for tests alone.
pub fn danger_pair(delta: Block, seed: u64) -> (IdealGivenSender, IdealGivenReceiver) {
    let [one, dealer] = Dealer::pair(seed);
    (IdealGivenSender(one), IdealGivenReceiver { delta, dealer })
}

impl GivenSender for IdealGivenSender {
    fn given(&mut self, _: &mut Mesh, q: &mut [Block]) -> Result<()> {
        self.0.0.fill(q);
        Ok(())
    }
}

impl GivenReceiver for IdealGivenReceiver {
    fn given(&mut self, _: &mut Mesh, choices: &[u8], t: &mut [Block]) -> Result<()> {
        assert_eq!(choices.len(), t.len(), "one label for each choice");
        self.dealer.0.fill(t);
        for (t, &choice) in t.iter_mut().zip(choices) {
            *t ^= self.delta.masked(choice);
        }
        Ok(())
    }
}
