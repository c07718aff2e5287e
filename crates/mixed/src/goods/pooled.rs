//! OTs of a pool. They are random ones: most are hashed as they are, for correlations. Those of
//! labels become correlated ones under the garbler's offset, for a block each.

use super::Both;
use sealane_block::Block;
use sealane_net::Mesh;
use sealane_ot::source::ahead::{AheadReceiver, AheadSender};
use sealane_parties::PartyId;
use sealane_party::{Fault, Result, Stock, Stocks};
use zeroize::Zeroizing;

/// Random OTs that a pool has given to a run, and correlated ones that were made of them.
pub(super) struct Pooled {
    stocks: Stocks,
    pub(super) sender: AheadSender,
    pub(super) receiver: AheadReceiver,
}

/// Numbers of OTs of a direction in a refill.
#[derive(Clone, Copy)]
pub(super) struct Numbers {
    pub(super) labels: usize,
    pub(super) hashed: usize,
}

impl Pooled {
    /// OTs of stocks: those of labels under this offset, at the party that has one.
    pub(super) fn new(stocks: Stocks, offset: Option<Zeroizing<Block>>, peer: PartyId) -> Pooled {
        let none = || AheadSender::none(peer);
        Pooled {
            stocks,
            sender: offset.map_or_else(none, |offset| AheadSender::under(peer, offset)),
            receiver: AheadReceiver::none(peer),
        }
    }

    /// Draws the OTs of a refill: so many that this party sends, and that it receives. Of each
    /// direction those of labels come first.
    pub(super) fn draw(
        &mut self,
        ots: &mut Both,
        [sent, received]: [Numbers; 2],
        mesh: &mut Mesh,
    ) -> Result<()> {
        if sent.labels + sent.hashed > 0 {
            let stock = drawn(&mut self.stocks.sender)?;
            if sent.labels > 0 {
                let sender = &mut self.sender;
                sender.correlate(mesh, sent.labels, |pairs| stock.pairs(pairs))?;
                mesh.flush()?;
            }
            let mut pairs = Zeroizing::new(vec![[Block::ZERO; 2]; sent.hashed]);
            stock.pairs(&mut pairs)?;
            ots.sender().cot.give(pairs);
        }
        if received.labels + received.hashed > 0 {
            let stock = drawn(&mut self.stocks.receiver)?;
            if received.labels > 0 {
                let receiver = &mut self.receiver;
                receiver.correlate(mesh, received.labels, |choices, keys| {
                    stock.keys(choices, keys)
                })?;
            }
            let mut choices = Zeroizing::new(vec![0; received.hashed]);
            let mut keys = Zeroizing::new(vec![Block::ZERO; received.hashed]);
            stock.keys(&mut choices, &mut keys)?;
            ots.receiver().cot.give(choices, keys);
        }
        Ok(())
    }
}

fn drawn(stock: &mut Option<Box<dyn Stock>>) -> Result<&mut Box<dyn Stock>> {
    let none = || Fault::internal("no OTs of this direction from the pool");
    stock.as_mut().ok_or_else(none)
}
