//! Opening of results: each party that learns some gets the other's shares of their masks, with
//! MACs.
//!
//! The evaluator knows the masked values. It tells them to the garbler too, where that learns
//! results, and their labels take part in the sum of MACs, so that each party verifies its results
//! by itself. All tapes have been settled before.

use crate::bits::{Wires, bit, bytes_of, gathered, pack_lowest, whole};
use crate::common::{self, Common, Place};
use crate::products::Products;
use crate::sums::SUM_BYTES;
use sealane_block::Block;
use sealane_net::Mesh;
use sealane_parties::PartyId;
use sealane_party::{Fault, Opened, Result, Shares, Words, from_planes};
use zeroize::Zeroizing;

/// Bytes by which the garbler (`true`) or the evaluator opens so many bits to the other party.
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
    /// Of what each party tells the other: of the garbler, then of the evaluator.
    openings: [common::Opening; 2],
}

/// The wires of results that a party learns.
fn learnt(results: &[Opened<Wires>], to: PartyId) -> impl Iterator<Item = &crate::bits::Wire> {
    let learnt = results.iter().filter(move |result| result.to.contains(to));
    learnt.flat_map(|result| result.share.data())
}

impl Opening {
    /// Sends this party's shares of what the other one learns.
    pub(crate) fn begin<P: Products>(
        common: &mut Common<P>,
        results: Vec<Opened<Wires>>,
        mesh: &mut Mesh,
    ) -> Result<Opening> {
        if results.iter().any(|result| result.share.planes() > 64) {
            let what = "an element that is opened does not fit a word";
            return Err(Fault::internal(what));
        }
        let openings = [(); 2].map(|()| common.opening(Place::Results));
        let wires = || learnt(&results, common.peer);
        let labels = wires().filter(|_| !common.garbles).map(|wire| wire.label);
        let told = labels.chain(wires().map(|wire| wire.mask.mac));
        let each = if common.garbles { 1 } else { 2 };
        let told = gathered(each * wires().count(), told);
        if !told.is_empty() {
            let bits = pack_lowest([&told[..]].into_iter());
            let sum = common.sum(openings[usize::from(!common.garbles)], common.me, &bits);
            let sum = sum.and_all([&told[..]]).value();
            mesh.send(common.peer, &bits)?;
            mesh.send(common.peer, &sum.to_bytes())?;
        }
        Ok(Opening { results, openings })
    }

    /// Reads the other party's shares of what this one learns.
    pub(crate) fn finish<P: Products>(
        self,
        common: &Common<P>,
        mesh: &mut Mesh,
    ) -> Result<Vec<Option<Words>>> {
        let wires = || learnt(&self.results, common.me);
        let count = wires().count();
        // What the evaluator tells begins with masked values.
        let values = if common.garbles { count } else { 0 };
        let mut bits = Zeroizing::new(vec![0; bytes_of((values + count) as u64) as usize]);
        if count > 0 {
            let mut sum = [0; SUM_BYTES as usize];
            mesh.recv(common.peer, &mut bits)?;
            mesh.recv(common.peer, &mut sum)?;
            whole(&bits, values + count, common.peer)?;
            let labels = wires().take(values).map(|wire| wire.label);
            let keys = labels.chain(wires().map(|wire| wire.mask.key));
            let keys = gathered(values + count, keys);
            let offset = common.products.offset();
            let of = self.openings[usize::from(common.garbles)];
            let expected = common.sum(of, common.peer, &bits);
            let expected = expected.and_all_keys([&keys[..]], offset, &bits);
            common.compare(Place::Results, Block::from_bytes(sum), expected.value())?;
        }
        let mut at = 0;
        let revealed = self.results.iter().map(|Opened { share, to, .. }| {
            if !to.contains(common.me) {
                return None;
            }
            let plain = share.data().iter().map(|wire| {
                let masked = if common.garbles {
                    bit(&bits, at)
                } else {
                    wire.label.lsb()
                };
                let plain = masked ^ wire.mask.mac.lsb() ^ bit(&bits, values + at);
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
