//! Opening of results: each party that learns some gets all others' shares of their masks, with
//! MACs.
//!
//! The evaluator knows the masked values. It tells them to garblers too, where those learn results,
//! and their labels take part in the sum of MACs, so that each party verifies its results by
//! itself. All tapes have been settled before.

use crate::bits::{bit, bytes_of, gathered, pack_lowest, whole};
use crate::common::{self, Common, Place};
use crate::products::Products;
use crate::sums::SUM_BYTES;
use crate::wires::Wires;
use sealane_block::Block;
use sealane_net::Mesh;
use sealane_parties::PartyId;
use sealane_party::{Fault, Opened, Result, Shares, Words, from_planes};
use zeroize::Zeroizing;

/// Bytes by which a garbler (`true`) or the evaluator opens so many bits to another party.
pub(crate) const fn opened_bytes(garbler: bool, bits: u64) -> u64 {
    match (bits, garbler) {
        (0, _) => 0,
        (_, true) => bytes_of(bits) + SUM_BYTES,
        (_, false) => bytes_of(2 * bits) + SUM_BYTES,
    }
}

/// Results whose shares have been sent.
pub struct Opening {
    results: Vec<Opened<Wires>>,
    /// Of what parties tell others: of garblers, then of the evaluator.
    openings: [common::Opening; 2],
}

/// A part of the wires of results that a party learns.
fn learnt(results: &[Opened<Wires>], to: PartyId, part: usize) -> impl Iterator<Item = Block> {
    let learnt = results.iter().filter(move |result| result.to.contains(to));
    learnt.flat_map(move |result| result.share.part(part).iter().copied())
}

impl Opening {
    /// Sends this party's shares of what others learn.
    pub(crate) fn begin<P: Products>(
        common: &mut Common<P>,
        mut results: Vec<Opened<Wires>>,
        mesh: &mut Mesh,
    ) -> Result<Opening> {
        if results.iter().any(|result| result.share.planes() > 64) {
            let what = "an element that is opened does not fit a word";
            return Err(Fault::internal(what));
        }
        for result in &mut results {
            result.share = result.share.whole(common.wire_parts());
        }
        let openings = [(); 2].map(|()| common.opening(Place::Results));
        let held = common.held_labels();
        for (at, peer) in common.peers.iter().enumerate() {
            // The evaluator has a label for each garbler, in their order.
            let labels = learnt(&results, *peer, at % held).filter(|_| !common.garbles);
            let macs = || learnt(&results, *peer, held + 2 * at);
            let each = if common.garbles { 1 } else { 2 };
            let told = gathered(each * macs().count(), labels.chain(macs()));
            if told.is_empty() {
                continue;
            }
            let bits = pack_lowest([&told[..]].into_iter());
            let sum = common.sum(openings[usize::from(!common.garbles)], common.me, &bits);
            let sum = sum.and_all([&told[..]]).value();
            mesh.send(*peer, &bits)?;
            mesh.send(*peer, &sum.to_bytes())?;
        }
        Ok(Opening { results, openings })
    }

    /// Reads the other parties' shares of what this one learns.
    pub(crate) fn finish<P: Products>(
        self,
        common: &Common<P>,
        mesh: &mut Mesh,
    ) -> Result<Vec<Option<Words>>> {
        let count = learnt(&self.results, common.me, 0).count();
        let mut told = Vec::new();
        for peer in common.peers.iter().filter(|_| count > 0) {
            // What the evaluator tells begins with masked values.
            let values = if *peer == common.roles.evaluator() {
                count
            } else {
                0
            };
            let bytes = bytes_of((values + count) as u64) as usize;
            let mut bits = Zeroizing::new(vec![0; bytes]);
            let mut sum = [0; SUM_BYTES as usize];
            mesh.recv(*peer, &mut bits)?;
            mesh.recv(*peer, &mut sum)?;
            told.push((*peer, values, bits, Block::from_bytes(sum)));
        }
        for (at, (peer, values, bits, sum)) in told.iter().enumerate() {
            whole(bits, values + count, *peer)?;
            let labels = learnt(&self.results, common.me, 0).take(*values);
            let key = common.held_labels() + 2 * at + 1;
            let keys = labels.chain(learnt(&self.results, common.me, key));
            let keys = gathered(values + count, keys);
            let offset = common.products.offset();
            let of = self.openings[usize::from(*values > 0)];
            let expected = common.sum(of, *peer, bits);
            let expected = expected.and_all_keys([&keys[..]], offset, bits);
            common.compare(Place::Results, *peer, *sum, expected.value())?;
        }
        let mut at = 0;
        let revealed = self.results.iter().map(|Opened { share, to, .. }| {
            if !to.contains(common.me) {
                return None;
            }
            let macs = share.part(common.held_labels());
            let plain = share.part(0).iter().zip(macs).map(|(label, mac)| {
                // A garbler's labels are those of the masked value 0.
                let mut plain = label.lsb() ^ mac.lsb();
                for (_, values, bits, _) in &told {
                    plain ^= bit(bits, values + at);
                    if *values > 0 {
                        plain ^= bit(bits, at);
                    }
                }
                at += 1;
                plain
            });
            let plain = Zeroizing::new(plain.collect::<Vec<_>>());
            // Without planes an element is zero.
            Some(match share.planes() {
                0 => Zeroizing::new(vec![0; share.elements()]),
                planes => from_planes(&plain, planes),
            })
        });
        Ok(revealed.collect())
    }
}
