//! OTs of strings that the sender chooses. The dealer hands over what it was given, within a
//! process.

use crate::traits::{ChosenReceiver, ChosenSender};
use crate::{OtError, Result};
use sealane_block::Block;
use sealane_net::Mesh;
use std::sync::mpsc;

/// Both strings of each OT of a call, and their length.
type Strings = (usize, [Vec<Block>; 2]);

/// Sender of chosen strings; see the [module](super).
pub struct IdealChosenSender(mpsc::Sender<Strings>);

/// Receiver of chosen strings; see the [module](super).
pub struct IdealChosenReceiver(mpsc::Receiver<Strings>);

/// Creates a sender and a receiver, who gets all strings: for tests alone.
pub fn danger_pair() -> (IdealChosenSender, IdealChosenReceiver) {
    let (sender, receiver) = mpsc::channel();
    (IdealChosenSender(sender), IdealChosenReceiver(receiver))
}

impl ChosenSender for IdealChosenSender {
    fn chosen(&mut self, _: &mut Mesh, length: usize, strings: [&[Block]; 2]) -> Result<()> {
        let strings = strings.map(<[Block]>::to_vec);
        self.0.send((length, strings)).map_err(|_| OtError::Ended)
    }
}

impl ChosenReceiver for IdealChosenReceiver {
    fn chosen(
        &mut self,
        _: &mut Mesh,
        length: usize,
        choices: &[u8],
        strings: &mut [Block],
    ) -> Result<()> {
        let (sent, [zeros, ones]) = self.0.recv().map_err(|_| OtError::Ended)?;
        assert_eq!(sent, length, "both parties state the same length");
        let both = zeros.chunks(length).zip(ones.chunks(length));
        let chosen = strings.chunks_mut(length).zip(choices).zip(both);
        for ((string, &choice), (zero, one)) in chosen {
            for ((block, &zero), &one) in string.iter_mut().zip(zero).zip(one) {
                *block = zero ^ (zero ^ one).masked(choice);
            }
        }
        Ok(())
    }
}
