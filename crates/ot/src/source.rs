//! Sources of correlated OTs, set up alike whichever extension makes them.
//!
//! A user says what it needs of a source, and takes it as a [`CotSender`] or [`CotReceiver`]. All
//! of them are secure against a corrupt party.

pub mod ahead;
pub(crate) mod stock;

use crate::ferret::{BothSetup, FerretCost, FerretReceiver, FerretSender, Params};
use crate::softspoken::{Receiver, ReceiverSetup, Sender, SenderSetup};
use crate::traits::{CotCost, CotReceiver, CotSender, CotTerms, choice};
use crate::{Flights, Result, Security, SoftSpoken};
use sealane_block::{Block, Coins, Cpu};
use sealane_net::Mesh;
use sealane_parties::{NetworkClass, PartyId};
use zeroize::ZeroizeOnDrop;

/// A sender of any source. It lies where its owner does, so that its owner erases it.
pub enum AnySender {
    /// Of an extension of base OTs.
    SoftSpoken(Sender),
    /// Of a silent extension.
    Silent(FerretSender),
}

/// A receiver of any source; see [`AnySender`].
pub enum AnyReceiver {
    /// Of an extension of base OTs.
    SoftSpoken(Receiver),
    /// Of a silent extension.
    Silent(FerretReceiver),
}

impl AnySender {
    fn any(&self) -> &dyn CotSender {
        match self {
            AnySender::SoftSpoken(sender) => sender,
            AnySender::Silent(sender) => sender,
        }
    }
}

impl CotSender for AnySender {
    fn terms(&self) -> CotTerms {
        self.any().terms()
    }

    fn delta(&self) -> Block {
        self.any().delta()
    }

    fn extend(&mut self, mesh: &mut Mesh, q: &mut [Block]) -> Result<()> {
        match self {
            AnySender::SoftSpoken(sender) => sender.extend(mesh, q),
            AnySender::Silent(sender) => sender.extend(mesh, q),
        }
    }
}

impl AnySender {
    /// As [`CotSender::extend`], but bit 0 of each row is 0. Bit 0 of the offset has to be 1: then
    /// bit 0 of the receiver's row would tell its choice, and [`AnyReceiver::extend_marked`] has
    /// that there.
    ///
    /// # Errors
    /// As [`CotSender::extend`].
    pub fn extend_even(&mut self, mesh: &mut Mesh, q: &mut [Block]) -> Result<()> {
        match self {
            AnySender::SoftSpoken(sender) => sender.extend_even(mesh, q)?,
            AnySender::Silent(sender) => {
                sender.extend(mesh, q)?;
                q.iter_mut().for_each(|q| *q = *q & EVEN);
            }
        }
        Ok(())
    }
}

/// All bits but bit 0.
const EVEN: Block = Block::new(!1);

/// Both kinds erase themselves.
impl ZeroizeOnDrop for AnySender {}

impl AnyReceiver {
    fn any(&self) -> &dyn CotReceiver {
        match self {
            AnyReceiver::SoftSpoken(receiver) => receiver,
            AnyReceiver::Silent(receiver) => receiver,
        }
    }
}

impl CotReceiver for AnyReceiver {
    fn terms(&self) -> CotTerms {
        self.any().terms()
    }

    fn extend(&mut self, mesh: &mut Mesh, choices: &mut [Block], t: &mut [Block]) -> Result<()> {
        match self {
            AnyReceiver::SoftSpoken(receiver) => receiver.extend(mesh, choices, t),
            AnyReceiver::Silent(receiver) => receiver.extend(mesh, choices, t),
        }
    }
}

impl AnyReceiver {
    /// As [`CotReceiver::extend`], but bit 0 of each row is its choice: see
    /// [`AnySender::extend_even`].
    ///
    /// # Errors
    /// As [`CotReceiver::extend`].
    pub fn extend_marked(
        &mut self,
        mesh: &mut Mesh,
        choices: &mut [Block],
        t: &mut [Block],
    ) -> Result<()> {
        match self {
            AnyReceiver::SoftSpoken(receiver) => receiver.extend_marked(mesh, choices, t)?,
            AnyReceiver::Silent(receiver) => {
                receiver.extend(mesh, choices, t)?;
                for (at, t) in t.iter_mut().enumerate() {
                    *t = *t & EVEN ^ Block::new(choice(choices, at).into());
                }
            }
        }
        Ok(())
    }
}

/// Both kinds erase themselves.
impl ZeroizeOnDrop for AnyReceiver {}

/// A way to make correlated OTs.
#[derive(Clone, Copy, Debug)]
pub enum Source {
    /// An extension of base OTs: few bytes at first, the same for every OT.
    SoftSpoken(SoftSpoken),
    /// A silent extension of that one: many bytes at first, hardly any for an OT.
    Silent(SoftSpoken, Params),
}

impl Source {
    /// The extension of base OTs for a network.
    pub fn plain(network: NetworkClass) -> Source {
        Source::SoftSpoken(SoftSpoken::on(network))
    }

    /// The silent extension for a network.
    pub fn silent(network: NetworkClass) -> Source {
        Source::Silent(SoftSpoken::on(network), Params::new(Security::Malicious))
    }

    /// The one of both that takes fewer bytes for `count` OTs, on a network where that matters.
    pub fn for_count(network: NetworkClass, count: u64) -> Source {
        let (plain, silent) = (Source::plain(network), Source::silent(network));
        let bytes = |source: Source| {
            let cost = source.cost();
            let flights = [cost.set_up(), cost.extend(0, count)].concat();
            let of_flight = |flight: &crate::Flight| flight.from_sender + flight.from_receiver;
            flights.iter().map(of_flight).sum::<u64>()
        };
        if network.spares_bytes() && bytes(silent) < bytes(plain) {
            silent
        } else {
            plain
        }
    }

    /// Messages of the source.
    pub fn cost(self) -> Box<dyn CotCost> {
        match self {
            Source::SoftSpoken(source) => Box::new(source),
            Source::Silent(source, params) => Box::new(FerretCost { source, params }),
        }
    }

    /// Messages of a set-up with the other direction ([`finish_both`]): of a silent source up to
    /// the end of the first refill.
    pub fn set_up_both(self) -> Flights {
        match self {
            Source::SoftSpoken(source) => source.set_up(),
            Source::Silent(source, params) => FerretCost { source, params }.set_up_in_step(),
        }
    }

    fn base(self) -> SoftSpoken {
        let (Source::SoftSpoken(base) | Source::Silent(base, _)) = self;
        base
    }

    /// Begins the set-up of a sender: writes one message, not flushed, and waits for nothing.
    ///
    /// # Errors
    /// The network failed.
    pub fn sender(
        self,
        cpu: Cpu,
        mesh: &mut Mesh,
        peer: PartyId,
        delta: Block,
        coins: &mut Coins,
    ) -> Result<SourceSetup<SenderSetup>> {
        let setup = Sender::set_up(self.base(), cpu, mesh, peer, delta, coins)?;
        Ok(self.begun(cpu, setup))
    }

    /// Begins the set-up of a receiver; see [`Source::sender`].
    ///
    /// # Errors
    /// The network failed.
    pub fn receiver(
        self,
        cpu: Cpu,
        mesh: &mut Mesh,
        peer: PartyId,
        coins: &mut Coins,
    ) -> Result<SourceSetup<ReceiverSetup>> {
        let setup = Receiver::set_up(self.base(), cpu, mesh, peer, coins)?;
        Ok(self.begun(cpu, setup))
    }

    fn begun<T>(self, cpu: Cpu, setup: T) -> SourceSetup<T> {
        let silent = match self {
            Source::SoftSpoken(_) => None,
            Source::Silent(_, params) => Some(params),
        };
        SourceSetup { cpu, silent, setup }
    }
}

/// A party of a source that has written the first message of its set-up, and has not flushed it.
pub struct SourceSetup<T> {
    cpu: Cpu,
    /// Parameters of the silent extension, if there is one.
    silent: Option<Params>,
    setup: T,
}

impl SourceSetup<SenderSetup> {
    /// Ends the set-up.
    ///
    /// # Errors
    /// The network failed, or the receiver deviated.
    ///
    /// # Panics
    /// If the source is silent and bit 0 of the offset is 0.
    pub fn finish(self, mesh: &mut Mesh, coins: &mut Coins) -> Result<AnySender> {
        let mut plain = self.setup.finish(mesh)?;
        Ok(match self.silent {
            None => AnySender::SoftSpoken(plain),
            Some(params) => {
                let (cpu, peer) = (self.cpu, plain.terms().peer);
                let silent = FerretSender::set_up(cpu, mesh, peer, params, &mut plain, coins)?;
                AnySender::Silent(silent)
            }
        })
    }
}

/// Ends the set-ups of both directions, whose messages cross. Of silent sources a refill of both
/// has to follow at once ([`ahead::refill_in_step`]).
///
/// # Errors
/// The network failed, or the other party deviated.
///
/// # Panics
/// If the sources are silent and bit 0 of the offset is 0, or errors are at any places.
pub fn finish_both(
    sender: SourceSetup<SenderSetup>,
    receiver: SourceSetup<ReceiverSetup>,
    mesh: &mut Mesh,
    coins: &mut Coins,
) -> Result<(AnySender, AnyReceiver)> {
    let mut receives = receiver.setup.finish(mesh)?;
    mesh.flush()?;
    let Some(params) = receiver.silent else {
        let sends = sender.setup.finish(mesh)?;
        let receives = AnyReceiver::SoftSpoken(receives);
        return Ok((AnySender::SoftSpoken(sends), receives));
    };
    let place = (receiver.cpu, params, receives.terms().peer);
    let begun = BothSetup::begin(place, &mut receives, mesh, coins)?;
    let mut sends = sender.setup.finish(mesh)?;
    let (sends, receives) = begun.finish(&mut sends, mesh, coins)?;
    Ok((AnySender::Silent(sends), AnyReceiver::Silent(receives)))
}

impl SourceSetup<ReceiverSetup> {
    /// Ends the set-up, and flushes.
    ///
    /// # Errors
    /// The network failed, or the sender deviated.
    pub fn finish(self, mesh: &mut Mesh, coins: &mut Coins) -> Result<AnyReceiver> {
        let mut plain = self.setup.finish(mesh)?;
        mesh.flush()?;
        Ok(match self.silent {
            None => AnyReceiver::SoftSpoken(plain),
            Some(params) => {
                let (cpu, peer) = (self.cpu, plain.terms().peer);
                let silent = FerretReceiver::set_up(cpu, mesh, peer, params, &mut plain, coins)?;
                AnyReceiver::Silent(silent)
            }
        })
    }
}
