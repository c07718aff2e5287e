//! Sources of correlated OTs: the ideal functionality, extensions, silent extensions.

use super::{DELTA, set_up_receiver, set_up_sender};
use sealane_block::{Block, Coins, Cpu};
use sealane_net::Mesh;
use sealane_ot::ferret::{FerretCost, FerretReceiver, FerretSender, Params};
use sealane_ot::forms::{HashedReceiver, HashedSender};
use sealane_ot::traits::{CotCost, CotReceiver, CotSender};
use sealane_ot::triples::BothWays;
use sealane_ot::{Flights, Result, Security, SoftSpoken, ideal};
use sealane_parties::PartyId;

pub type AnySender = Box<dyn CotSender + Send>;
pub type AnyReceiver = Box<dyn CotReceiver + Send>;

/// A source of correlated OTs.
#[derive(Clone, Copy, Debug)]
pub enum Cots {
    Ideal,
    Extension(SoftSpoken),
    Silent(Params),
}

/// The extension beneath silent OTs, which withstands what they withstand.
fn under(params: Params) -> SoftSpoken {
    SoftSpoken::new(4, params.security())
}

impl Cots {
    pub fn all() -> Vec<Cots> {
        let both = [Security::SemiHonest, Security::Malicious];
        let extensions = both.map(|security| Cots::Extension(SoftSpoken::new(4, security)));
        let silent = both.map(|security| Cots::Silent(Params::danger_tiny(security)));
        [&[Cots::Ideal][..], &extensions, &silent].concat()
    }

    /// The offset of a sender.
    pub fn offset(me: PartyId) -> Block {
        DELTA ^ Block::new(u128::from(me.0) << 77)
    }

    /// Sets up the sender of the other party. Messages that it writes last are not flushed.
    pub fn sender(self, cpu: Cpu, mesh: &mut Mesh) -> Result<AnySender> {
        let (me, peer) = (mesh.me(), PartyId(1 - mesh.me().0));
        let delta = Cots::offset(me);
        let seed = 10 + u64::from(me.0);
        let extension =
            |mesh: &mut Mesh, parameters| set_up_sender(parameters, cpu, mesh, peer, seed, delta);
        Ok(match self {
            Cots::Ideal => Box::new(ideal::danger_pair([me, peer], delta, seed).0),
            Cots::Extension(parameters) => Box::new(extension(mesh, parameters)?),
            Cots::Silent(params) => {
                let mut source = extension(mesh, under(params))?;
                let coins = &mut Coins::danger_fixed_seed(seed);
                let sender = FerretSender::set_up(cpu, mesh, peer, params, &mut source, coins)?;
                Box::new(sender)
            }
        })
    }

    /// Sets up the receiver of the other party. Messages that it writes last are not flushed.
    pub fn receiver(self, cpu: Cpu, mesh: &mut Mesh) -> Result<AnyReceiver> {
        let (me, peer) = (mesh.me(), PartyId(1 - mesh.me().0));
        let delta = Cots::offset(peer);
        let extension =
            |mesh: &mut Mesh, parameters| set_up_receiver(parameters, cpu, mesh, peer, 7);
        Ok(match self {
            Cots::Ideal => {
                let seed = 10 + u64::from(peer.0);
                Box::new(ideal::danger_pair([peer, me], delta, seed).1)
            }
            Cots::Extension(parameters) => Box::new(extension(mesh, parameters)?),
            Cots::Silent(params) => {
                let mut source = extension(mesh, under(params))?;
                let coins = &mut Coins::danger_fixed_seed(8);
                let receiver = FerretReceiver::set_up(cpu, mesh, peer, params, &mut source, coins)?;
                Box::new(receiver)
            }
        })
    }

    /// Sets up a sender with its hash.
    pub fn hashed_sender(self, cpu: Cpu, mesh: &mut Mesh) -> Result<HashedSender<AnySender>> {
        let cot = self.sender(cpu, mesh)?;
        Ok(HashedSender::new(cpu, mesh, cot, "test"))
    }

    /// Sets up a receiver with its hash.
    pub fn hashed_receiver(self, cpu: Cpu, mesh: &mut Mesh) -> Result<HashedReceiver<AnyReceiver>> {
        let cot = self.receiver(cpu, mesh)?;
        Ok(HashedReceiver::new(cpu, mesh, cot, "test"))
    }

    /// Sets up both directions.
    pub fn both(self, cpu: Cpu, mesh: &mut Mesh) -> Result<BothWays<AnySender, AnyReceiver>> {
        let (sender, receiver) = if mesh.me() == PartyId(0) {
            let sender = self.sender(cpu, mesh)?;
            mesh.flush()?;
            (sender, self.receiver(cpu, mesh)?)
        } else {
            let receiver = self.receiver(cpu, mesh)?;
            mesh.flush()?;
            (self.sender(cpu, mesh)?, receiver)
        };
        mesh.flush()?;
        Ok(BothWays::new(cpu, mesh, sender, receiver, "test"))
    }

    /// The flights that a cost counts for this source.
    pub fn planned(self, flights: impl Fn(&dyn CotCost) -> Flights) -> Flights {
        match self {
            Cots::Ideal => flights(&ideal::Free),
            Cots::Extension(parameters) => flights(&parameters),
            Cots::Silent(params) => flights(&FerretCost {
                source: under(params),
                params,
            }),
        }
    }
}
