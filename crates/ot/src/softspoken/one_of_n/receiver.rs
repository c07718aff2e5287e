//! The receiver, which has the key of one string.

use super::{Call, Hash, OneOfN, Scratch, fold};
use crate::Result;
use crate::softspoken::receiver::{VoleReceiver, VoleSetup};
use crate::traits::OneOfNReceiver;
use sealane_block::{Block, Coins, Cpu};
use sealane_net::Mesh;
use sealane_parties::PartyId;
use subtle::ConstantTimeEq;
use zeroize::{ZeroizeOnDrop, Zeroizing};

/// Keys that are hashed together.
const BATCH: usize = 128;

/// A receiver that has written its message of the base OTs.
pub struct ReceiverSetup(OneOfN, VoleSetup);

/// Receiver of OTs of one of `N` strings; see the [module](super).
pub struct StringsReceiver {
    parameters: OneOfN,
    vole: VoleReceiver,
    hash: Hash,
}

impl StringsReceiver {
    /// Begins the set-up: writes one message, not flushed, and waits for nothing.
    ///
    /// # Errors
    /// The network failed.
    pub fn set_up(
        parameters: OneOfN,
        cpu: Cpu,
        mesh: &mut Mesh,
        peer: PartyId,
        coins: &mut Coins,
    ) -> Result<ReceiverSetup> {
        let vole = VoleReceiver::set_up(parameters.subspace(), cpu, mesh, peer, coins)?;
        Ok(ReceiverSetup(parameters, vole))
    }
}

impl ReceiverSetup {
    /// Ends the set-up: reads the message of the sender and writes that of the trees, not flushed.
    ///
    /// # Errors
    /// As [`softspoken::ReceiverSetup::finish`](crate::softspoken::ReceiverSetup::finish).
    pub fn finish(self, mesh: &mut Mesh) -> Result<StringsReceiver> {
        let ReceiverSetup(parameters, vole) = self;
        let vole = vole.finish(mesh)?;
        Ok(StringsReceiver::of(parameters, vole, mesh))
    }
}

impl StringsReceiver {
    /// A receiver with trees.
    pub(in crate::softspoken) fn of(parameters: OneOfN, vole: VoleReceiver, mesh: &Mesh) -> Self {
        let hash = Hash::new(parameters, vole.cpu, mesh.session(), [vole.peer, mesh.me()]);
        StringsReceiver {
            parameters,
            vole,
            hash,
        }
    }

    /// The sender.
    pub fn peer(&self) -> PartyId {
        self.vole.peer
    }

    /// The parameters.
    pub fn parameters(&self) -> OneOfN {
        self.parameters
    }

    /// Makes rows, and fills the random choices.
    fn rows(&mut self, mesh: &mut Mesh, choices: &mut [u8], rows: &mut [Block]) -> Result<Call> {
        assert_eq!(choices.len(), rows.len(), "a key for each choice");
        choices.fill(0);
        let cpu = self.hash.cpu;
        let mut scratch = Scratch::new();
        self.vole.extend(mesh, rows.len(), |piece, columns, x| {
            let range = piece.first..piece.first + piece.count;
            fold(cpu, piece, columns, &mut scratch, &mut rows[range.clone()]);
            let choices = &mut choices[range];
            for (bit, column) in x.chunks_exact(piece.width).enumerate() {
                let blocks = choices.chunks_mut(128).zip(&column[piece.hidden..]);
                for (choices, block) in blocks {
                    for (j, choice) in choices.iter_mut().enumerate() {
                        *choice |= ((block.value() >> j) as u8 & 1) << bit;
                    }
                }
            }
        })?;
        Ok(self.hash.next())
    }

    /// Writes how `choices` differ from the random ones.
    fn ask(&self, mesh: &mut Mesh, choices: &[u8], random: &[u8]) -> Result<()> {
        let bits = usize::from(self.parameters.bits);
        let none = choices.iter().fold(0, |all, choice| all | choice) >> (bits - 1) >> 1;
        assert_numbers(none);
        let bytes = self.parameters.given_bytes(choices.len() as u64) as usize;
        let mut packed = Zeroizing::new(vec![0; bytes]);
        for (j, (choice, random)) in choices.iter().zip(random).enumerate() {
            packed[j * bits / 8] |= (choice ^ random) << (j * bits % 8);
        }
        Ok(mesh.send(self.vole.peer, &packed)?)
    }
}

impl OneOfNReceiver for StringsReceiver {
    fn strings(&self) -> usize {
        self.parameters.strings()
    }

    /// Writes one message, not flushed, and reads none.
    fn extend(&mut self, mesh: &mut Mesh, choices: &mut [u8], keys: &mut [Block]) -> Result<()> {
        let call = self.rows(mesh, choices, keys)?;
        for (i, (keys, choices)) in keys
            .chunks_mut(BATCH)
            .zip(choices.chunks(BATCH))
            .enumerate()
        {
            hash(&call, 0, i * BATCH, choices, keys);
        }
        Ok(())
    }

    /// Writes two messages, not flushed, and reads none.
    fn receive_given(&mut self, mesh: &mut Mesh, choices: &[u8], keys: &mut [Block]) -> Result<()> {
        let mut random = Zeroizing::new(vec![0; choices.len()]);
        self.extend(mesh, &mut random, keys)?;
        self.ask(mesh, choices, &random)
    }
}

impl ZeroizeOnDrop for StringsReceiver {}

/// Refuses bits of choices above those of a number of a string. It is a mistake of the caller, and
/// nothing is learnt where there is none.
// A function of its own, so that `memcheck` can allow this branch by its name and no other.
#[inline(never)]
fn assert_numbers(above: u8) {
    assert!(above == 0, "a choice is a number of a string");
}

/// Replaces up to [`BATCH`] rows by block `number` of their keys.
fn hash(call: &Call, number: usize, first: usize, choices: &[u8], rows: &mut [Block]) {
    let mut tweaks = Zeroizing::new([Block::ZERO; BATCH]);
    let tweaks = &mut tweaks[..rows.len()];
    for (i, (tweak, &choice)) in tweaks.iter_mut().zip(choices).enumerate() {
        *tweak = call.tweak(number, first + i, choice);
    }
    call.hash.hash_each(call.cpu, tweaks, rows);
}

/// A receiver that has asked for one string of each OT.
pub struct Request {
    parameters: OneOfN,
    sender: PartyId,
    call: Call,
    choices: Zeroizing<Vec<u8>>,
    random: Zeroizing<Vec<u8>>,
    rows: Zeroizing<Vec<Block>>,
}

impl Request {
    /// Asks for the strings of `choices`, which are below `N`. Messages that it writes last are not
    /// flushed.
    ///
    /// # Errors
    /// As [`OneOfNReceiver::extend`].
    ///
    /// # Panics
    /// If a choice is no number of a string.
    pub fn new(receiver: &mut StringsReceiver, mesh: &mut Mesh, choices: &[u8]) -> Result<Request> {
        let mut random = Zeroizing::new(vec![0; choices.len()]);
        let mut rows = Zeroizing::new(vec![Block::ZERO; choices.len()]);
        let call = receiver.rows(mesh, &mut random, &mut rows)?;
        receiver.ask(mesh, choices, &random)?;
        Ok(Request {
            parameters: receiver.parameters,
            sender: receiver.peer(),
            call,
            choices: Zeroizing::new(choices.to_vec()),
            random,
            rows,
        })
    }

    /// Reads the sender's answer and fills `strings` with strings of `length` blocks.
    ///
    /// # Errors
    /// The network failed.
    ///
    /// # Panics
    /// If there is not a string for each choice.
    pub fn finish(self, mesh: &mut Mesh, length: usize, strings: &mut [Block]) -> Result<()> {
        let n = self.parameters.strings();
        assert_eq!(strings.len(), self.rows.len() * length, "a string a choice");
        let mut masked = vec![Block::ZERO; n * length];
        let mut key = Zeroizing::new([Block::ZERO]);
        for (j, string) in strings.chunks_mut(length).enumerate() {
            mesh.recv(self.sender, Block::as_bytes_mut(&mut masked))?;
            string.fill(Block::ZERO);
            // All are read, and masks select.
            for (c, masked) in masked.chunks(length).enumerate() {
                let mask = (c as u8).ct_eq(&self.choices[j]).unwrap_u8();
                for (string, &masked) in string.iter_mut().zip(masked) {
                    *string ^= masked.masked(mask);
                }
            }
            for (number, string) in string.iter_mut().enumerate() {
                key[0] = self.rows[j];
                hash(&self.call, number, j, &self.random[j..=j], &mut key[..]);
                *string ^= key[0];
            }
        }
        Ok(())
    }
}
