//! The offline walk: values are shared masks.

use super::description::PRODUCT;
use super::{
    Check, Common, DEALER, Echo, Material, Words, choices, count, is_masked, linear, minus,
    planes_of, plus, recv, settling, to_bytes,
};
use sealane_circuit::Tape;
use sealane_circuit::tape::{FIRST_INPUT, Gate};
use sealane_net::Mesh;
use sealane_parties::PartyId;
use sealane_party::{
    Fault, Outcome, Planes, Progress, Result, Selected, Shares, Step, Steps, Term,
};
use sealane_protocol::{Algebra, Checks, Domain};
use std::collections::BTreeMap;

/// The offline walk of a party.
pub struct Offline(pub(super) Common);

/// A step between two flights.
pub enum OfflinePending {
    /// Factors of all ANDs of a tape less those of triples: this party's words.
    Tape {
        out: Words,
        /// Masks of both operands and of the result of each AND.
        ands: Vec<[u64; 3]>,
        triples: Vec<[u64; 3]>,
        own: Vec<u64>,
    },
    /// Digests of broadcasts, and checks.
    Settle(Echo, Vec<u8>),
    /// Masks of the operands of products, on their way to the dealer; the words behind them are
    /// this party's own.
    Masks(Box<Masks>),
    /// Parts of the products of masks, on their way from the dealer; the dealer's own.
    Parts(Box<Masks>, Option<Vec<u64>>),
}

/// Masks of both operands of a product.
pub struct Masks {
    algebra: Algebra,
    factors: [Selected<Words>; 2],
}

impl Steps for Offline {
    type Share = Words;
    type Pending<'a> = OfflinePending;
    type Material = ();
    type Output = Material;
    type Check = Check;

    fn count(checks: &[Check]) -> Checks {
        count(checks)
    }

    /// A public value has the mask zero.
    fn constant(&mut self, domain: Domain, bits: usize, values: &[u64]) -> Words {
        Planes::zeros(planes_of(domain, bits), values.len())
    }

    fn linear(&mut self, domain: Domain, lanes: usize, terms: &[Term<'_, Words>]) -> Result<Words> {
        Ok(linear(domain, lanes, terms))
    }

    fn begin<'a>(
        &mut self,
        step: Step<'a, Self>,
        _: Option<()>,
        mesh: &mut Mesh,
    ) -> Result<Progress<'a, Self>>
    where
        Self: 'a,
    {
        Ok(match step {
            Step::Input {
                owner,
                domain,
                elements,
                bits,
                ..
            } => {
                let planes = planes_of(domain, bits);
                let (own, all) = self.input_mask(owner, domain, planes * elements)?;
                made(Planes::new(planes, elements, own), vec![all])
            }
            Step::Tape {
                tape,
                domain,
                lanes,
                ..
            } if !is_masked(domain) => made(Planes::zeros(tape.outputs.len(), lanes), vec![]),
            Step::Tape {
                tape,
                lanes,
                operands,
                ..
            } => {
                let operands = operands.iter().map(AsRef::as_ref).collect::<Vec<_>>();
                let (out, ands) = self.tape_masks(tape, lanes, &operands);
                if ands.is_empty() {
                    return Ok(made(out, vec![vec![]]));
                }
                let factors = ands.iter().map(|[x, y, _]| [*x, *y]).collect::<Vec<_>>();
                let (triples, own) = self.0.beaver(&factors)?;
                self.0.send(&own, mesh)?;
                Progress::More(OfflinePending::Tape {
                    out,
                    ands,
                    triples,
                    own,
                })
            }
            Step::Product {
                domain,
                left,
                right,
            } => {
                let factors = [left, right];
                let dealer = self.0.setting.player(DEALER);
                if self.0.me != dealer {
                    let words = factors.each_ref().map(distinct).concat();
                    mesh.send(dealer, &to_bytes(&words))?;
                }
                Progress::More(OfflinePending::Masks(Box::new(Masks {
                    algebra: domain.algebra,
                    factors,
                })))
            }
            Step::Convert {
                from,
                to,
                bits,
                share,
                ..
            } => {
                let (planes, elements) = (planes_of(to, bits), share.elements());
                let new = if is_masked(to) {
                    self.0.random(to.algebra, planes * elements)
                } else {
                    vec![0; planes * elements]
                };
                let old = if is_masked(from) {
                    share.data().to_vec()
                } else {
                    vec![]
                };
                made(Planes::new(planes, elements, new.clone()), vec![old, new])
            }
            Step::Shuffle { .. } | Step::Sort { .. } | Step::CompareExchange { .. } => {
                return Err(Fault::internal(
                    "this protocol sorts by networks, in copies",
                ));
            }
            Step::Settle { checks } => {
                let checks = settling(&checks);
                let echo = self.0.send_checks(&checks, mesh)?;
                Progress::More(OfflinePending::Settle(echo, checks))
            }
            Step::Open { results } => {
                let masks = results.iter().map(|result| result.share.data().to_vec());
                let material = Material(masks.collect());
                Progress::Done(Outcome::Opened(vec![], material))
            }
        })
    }

    fn advance<'a>(
        &mut self,
        pending: OfflinePending,
        mesh: &mut Mesh,
    ) -> Result<Progress<'a, Self>>
    where
        Self: 'a,
    {
        match pending {
            OfflinePending::Tape {
                out,
                ands,
                triples,
                own,
            } => {
                let sums = self.0.sums(&own, mesh)?;
                let products = self.0.products(&triples, &sums);
                // The product of the masks, less the mask of the result.
                let words = ands.iter().zip(products);
                let words = words.flat_map(|([x, y, z], product)| [*x, *y, product ^ z]);
                let material = Material(vec![words.collect()]);
                let checks = vec![(PRODUCT, ands.len() as u64)];
                Ok(Progress::Done(Outcome::Share(out, checks, material)))
            }
            OfflinePending::Settle(echo, checks) => {
                self.0.settle(&echo, checks, mesh)?;
                Ok(Progress::Done(Outcome::Settled(Material::default())))
            }
            OfflinePending::Masks(masks) => {
                let parts = if self.0.is_first() {
                    Some(self.deal_products(&masks, mesh)?)
                } else {
                    None
                };
                Ok(Progress::More(OfflinePending::Parts(masks, parts)))
            }
            OfflinePending::Parts(masks, parts) => {
                let lanes = masks.factors[0].lanes();
                let parts = match parts {
                    Some(parts) => parts,
                    None => recv(self.0.setting.player(DEALER), lanes, mesh)?,
                };
                let algebra = masks.algebra;
                let out = self.0.random(algebra, lanes);
                let sums = parts.iter().zip(&out).map(|(p, z)| plus(algebra, *p, *z));
                let [left, right] = masks.factors.map(|of| of.gathered().data().to_vec());
                let material = vec![left, right, sums.collect()];
                Ok(made(Planes::new(1, lanes, out), material))
            }
        }
    }
}

impl Offline {
    /// This party's part of the mask of an input, and at the owner all of it.
    fn input_mask(
        &mut self,
        owner: PartyId,
        domain: Domain,
        count: usize,
    ) -> Result<(Vec<u64>, Vec<u64>)> {
        let (me, algebra) = (self.0.me, domain.algebra);
        if me != owner {
            let words = self.0.take(choices(me, owner), count)?.into_iter();
            let words = words.map(|[word, ..]| plus(algebra, word, 0));
            return Ok((words.collect(), vec![]));
        }
        let own = self.0.random(algebra, count);
        let mut all = own.clone();
        for sender in self.0.others() {
            let words = self.0.take(choices(sender, me), count)?;
            for (sum, [word, ..]) in all.iter_mut().zip(words) {
                *sum = plus(algebra, *sum, word);
            }
        }
        Ok((own, all))
    }

    /// Masks of the outputs of a tape, and for each AND, lane by lane, those of its operands and of
    /// its result, which is fresh.
    fn tape_masks(
        &mut self,
        tape: &Tape,
        lanes: usize,
        operands: &[&Words],
    ) -> (Words, Vec<[u64; 3]>) {
        let mut slots = vec![0; tape.slots as usize * lanes];
        let inputs = operands.iter().flat_map(|share| share.data());
        let first = FIRST_INPUT as usize * lanes;
        for (slot, word) in slots[first..].iter_mut().zip(inputs) {
            *slot = *word;
        }
        let mut ands = Vec::new();
        let at = |slot: u32, lane: usize| slot as usize * lanes + lane;
        for batch in &tape.batches {
            for Gate { a, b, out, .. } in &tape.xors[range(&batch.xors)] {
                for lane in 0..lanes {
                    slots[at(*out, lane)] = slots[at(*a, lane)] ^ slots[at(*b, lane)];
                }
            }
            for Gate { a, b, out, .. } in &tape.ands[range(&batch.ands)] {
                let fresh = self.0.random(Algebra::Z2, lanes);
                for (lane, z) in fresh.into_iter().enumerate() {
                    ands.push([slots[at(*a, lane)], slots[at(*b, lane)], z]);
                    slots[at(*out, lane)] = z;
                }
            }
        }
        let outputs = tape.outputs.iter();
        let outputs = outputs.flat_map(|slot| slots[at(*slot, 0)..][..lanes].to_vec());
        let out = Planes::new(tape.outputs.len(), lanes, outputs.collect());
        (out, ands)
    }

    /// At the dealer: reads the masks of all others, multiplies, and sends each its part of the
    /// products. Returns the dealer's own parts.
    fn deal_products(&mut self, masks: &Masks, mesh: &mut Mesh) -> Result<Vec<u64>> {
        let algebra = masks.algebra;
        let mut sums = masks.factors.each_ref().map(distinct);
        for from in self.0.others() {
            for sum in &mut sums {
                let words = recv(from, sum.len(), mesh)?;
                for (sum, word) in sum.iter_mut().zip(words) {
                    *sum = plus(algebra, *sum, word);
                }
            }
        }
        let [left, right] = [0, 1].map(|i: usize| spread(&masks.factors[i], &sums[i]));
        let lanes = masks.factors[0].lanes();
        let mut products = vec![0u64; lanes];
        for (i, (x, y)) in left.iter().zip(&right).enumerate() {
            let sum = &mut products[i % lanes];
            *sum = plus(algebra, *sum, x.wrapping_mul(*y));
        }
        for to in self.0.others() {
            let part = self.0.random(algebra, lanes);
            mesh.send(to, &to_bytes(&part))?;
            for (sum, part) in products.iter_mut().zip(part) {
                *sum = minus(algebra, *sum, part);
            }
        }
        Ok(products)
    }
}

/// Indices of the elements that a product reads, each once.
fn indices(selected: &Selected<Words>) -> BTreeMap<usize, usize> {
    let inner = selected.inner.indices();
    let lanes = selected.lanes.indices().into_iter();
    let all = lanes.flat_map(|lane| inner.iter().map(move |i| lane + i));
    let mut all = all.collect::<Vec<_>>();
    all.sort_unstable();
    all.dedup();
    all.into_iter().enumerate().map(|(at, i)| (i, at)).collect()
}

/// Words of the elements that a product reads, each once; zeros up to the number that the plan
/// counts.
fn distinct(selected: &Selected<Words>) -> Vec<u64> {
    let data = selected.share.data();
    let words = indices(selected).into_keys().map(|index| data[index]);
    let mut words = words.collect::<Vec<_>>();
    words.resize(selected.distinct() as usize, 0);
    words
}

/// Words of all elements that a product reads, in its order, from those of [`distinct`].
fn spread(selected: &Selected<Words>, words: &[u64]) -> Vec<u64> {
    let places = indices(selected);
    let lanes = selected.lanes.indices();
    let inner = selected.inner.indices().into_iter();
    let all = inner.flat_map(|i| lanes.iter().map(move |lane| lane + i));
    all.map(|index| words[places[&index]]).collect()
}

pub(super) fn range(range: &std::ops::Range<u32>) -> std::ops::Range<usize> {
    range.start as usize..range.end as usize
}

fn made<'a>(share: Words, material: Vec<Vec<u64>>) -> Progress<'a, Offline> {
    Progress::Done(Outcome::Share(share, vec![], Material(material)))
}
