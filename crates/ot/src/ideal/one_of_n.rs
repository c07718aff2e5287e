//! OTs of one of many strings.

use super::Dealer;
use crate::Result;
use crate::traits::{OneOfNKeys, OneOfNReceiver, OneOfNSender};
use sealane_block::Block;
use sealane_net::Mesh;

/// The dealer of both parties' parts.
struct StringDealer {
    dealer: Dealer,
    strings: usize,
}

/// Sender of OTs of one of `N` strings; see the [module](super).
pub struct IdealStringsSender(StringDealer);

/// Receiver of OTs of one of `N` strings; see the [module](super).
pub struct IdealStringsReceiver(StringDealer);

/// All keys of a call, those of the strings of the first OT, and so on.
pub struct Keys {
    strings: usize,
    keys: Vec<Block>,
}

/// Creates a sender and a receiver who know each other's secrets: for tests alone.
///
/// # Panics
/// If `strings` is no power of two up to 256.
pub fn danger_pair(strings: usize, seed: u64) -> (IdealStringsSender, IdealStringsReceiver) {
    let fits = strings.is_power_of_two() && strings <= 256;
    assert!(fits, "a choice is a byte");
    let [one, other] = Dealer::pair(seed).map(|dealer| StringDealer { dealer, strings });
    (IdealStringsSender(one), IdealStringsReceiver(other))
}

impl StringDealer {
    /// Random choices and all keys of the next OTs.
    fn deal(&mut self, count: usize) -> (Vec<u8>, Vec<Block>) {
        let mut choices = vec![0; count];
        self.dealer.0.fill_bytes(&mut choices);
        let mask = (self.strings - 1) as u8;
        choices.iter_mut().for_each(|choice| *choice &= mask);
        (choices, self.dealer.blocks(self.strings * count))
    }
}

impl OneOfNSender for IdealStringsSender {
    type Keys = Keys;

    fn strings(&self) -> usize {
        self.0.strings
    }

    fn extend(&mut self, _: &mut Mesh, count: usize) -> Result<Keys> {
        let (_, keys) = self.0.deal(count);
        let strings = self.0.strings;
        Ok(Keys { strings, keys })
    }

    fn extend_given(&mut self, mesh: &mut Mesh, count: usize) -> Result<Keys> {
        self.extend(mesh, count)
    }
}

impl OneOfNKeys for Keys {
    fn count(&self) -> usize {
        self.keys.len() / self.strings
    }

    fn fill(&self, places: &[(usize, u8)], keys: &mut [Block]) {
        assert_eq!(places.len(), keys.len(), "a key for each place");
        for (&(j, string), key) in places.iter().zip(keys) {
            *key = self.keys[j * self.strings..][..self.strings][usize::from(string)];
        }
    }

    fn fill_all(&self, keys: &mut [Block]) {
        keys.copy_from_slice(&self.keys);
    }
}

impl OneOfNReceiver for IdealStringsReceiver {
    fn strings(&self) -> usize {
        self.0.strings
    }

    fn extend(&mut self, _: &mut Mesh, choices: &mut [u8], keys: &mut [Block]) -> Result<()> {
        let (random, all) = self.0.deal(keys.len());
        choices.copy_from_slice(&random);
        take(&all, self.0.strings, choices, keys);
        Ok(())
    }

    fn receive_given(&mut self, _: &mut Mesh, choices: &[u8], keys: &mut [Block]) -> Result<()> {
        let (_, all) = self.0.deal(keys.len());
        take(&all, self.0.strings, choices, keys);
        Ok(())
    }
}

/// Fills `keys` with those of the choices.
fn take(all: &[Block], strings: usize, choices: &[u8], keys: &mut [Block]) {
    assert_eq!(choices.len(), keys.len(), "a key for each choice");
    for ((key, all), &choice) in keys.iter_mut().zip(all.chunks(strings)).zip(choices) {
        *key = all[usize::from(choice)];
    }
}
