//! Random OTs.

use super::Dealer;
use crate::Result;
use crate::traits::{RandomReceiver, RandomSender, choice, clear_rest, packed_blocks};
use sealane_block::Block;
use sealane_net::Mesh;

/// Sender of random OTs; see the [module](super).
pub struct IdealRandomSender(Dealer);

/// Receiver of random OTs; see the [module](super).
pub struct IdealRandomReceiver(Dealer);

/// Creates a sender and a receiver who know each other's secrets: for tests alone.
pub fn danger_pair(seed: u64) -> (IdealRandomSender, IdealRandomReceiver) {
    let [one, other] = Dealer::pair(seed);
    (IdealRandomSender(one), IdealRandomReceiver(other))
}

/// Choices and both keys of the next OTs.
fn deal(dealer: &mut Dealer, count: usize) -> (Vec<Block>, Vec<[Block; 2]>) {
    let mut choices = dealer.blocks(packed_blocks(count));
    clear_rest(&mut choices, count);
    let pairs = dealer.blocks(2 * count);
    (choices, pairs.as_chunks().0.to_vec())
}

impl RandomSender for IdealRandomSender {
    fn random(&mut self, _: &mut Mesh, pairs: &mut [[Block; 2]]) -> Result<()> {
        pairs.copy_from_slice(&deal(&mut self.0, pairs.len()).1);
        Ok(())
    }
}

impl RandomReceiver for IdealRandomReceiver {
    fn random(&mut self, _: &mut Mesh, choices: &mut [Block], keys: &mut [Block]) -> Result<()> {
        let (dealt, pairs) = deal(&mut self.0, keys.len());
        choices.copy_from_slice(&dealt);
        for (j, (key, [zero, one])) in keys.iter_mut().zip(pairs).enumerate() {
            *key = zero ^ (zero ^ one).masked(choice(choices, j));
        }
        Ok(())
    }
}
