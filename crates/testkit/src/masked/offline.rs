//! The offline walk: values are shared masks.

use super::description::{PRODUCT, da_bits, known_numbers, matrix};
use super::pools::{Ands, Matrices, choices, groups};
use super::products::{Masks, distinct};
use super::ring::{Pairs, random_elements, result_of};
use super::{
    Check, Common, DEALER, Echo, Material, Words, count, is_masked, known, linear, mask, minus,
    planes_of, plus, recv, settling, to_bytes,
};
use sealane_circuit::Tape;
use sealane_circuit::tape::{FIRST_INPUT, Gate};
use sealane_net::Mesh;
use sealane_parties::PartyId;
use sealane_party::{Fault, Outcome, Planes, Progress, Result, Shares, Step, Steps, Term};
use sealane_protocol::{Algebra, Checks, Domain};
use std::sync::Arc;

/// The offline walk of a party.
pub struct Offline(pub(super) Common);

/// A step between two flights.
pub enum OfflinePending {
    /// Choices of an owner, by the keys of OTs of a pool.
    Input {
        owner: PartyId,
        domain: Domain,
        planes: usize,
        elements: usize,
        keys: Vec<[u64; 2]>,
    },
    /// Factors of all ANDs of a tape less those of wide triples: this party's words.
    Tape {
        out: Words,
        /// Masks of both operands and of the result of each AND.
        masks: Vec<[u64; 3]>,
        ands: Ands,
        own: Vec<u64>,
    },
    /// Masks of bits less random bits, which are given as ring elements: this party's words.
    Bits {
        to: Domain,
        elements: usize,
        random: Vec<u64>,
        own: Vec<u64>,
    },
    /// Masks of bits and of elements that they choose, less random ones: this party's words.
    Choices {
        algebra: Algebra,
        masks: Arc<Words>,
        words: Vec<u64>,
        own: Vec<u64>,
    },
    /// Masks of elements that are multiplied by numbers that a party knows, less random ones: this
    /// party's words.
    Known {
        algebra: Algebra,
        lanes: usize,
        /// Masks of the numbers.
        chosen: Vec<u64>,
        words: Vec<u64>,
        own: Vec<u64>,
    },
    /// Masks of matrices less random ones: this party's words.
    Matrices {
        masks: Box<Masks>,
        shape: Matrices,
        /// Row and column of each lane.
        places: [Vec<usize>; 2],
        words: Vec<u64>,
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
    ) -> Result<Progress<'a, Self>> {
        let shape = step.shape();
        let (kind, bits_kind) = (matrix(&shape), da_bits(&shape));
        let numbers_kind = known_numbers(&shape);
        Ok(match step {
            Step::Input {
                owner,
                domain,
                elements,
                bits,
                ..
            } => {
                let planes = planes_of(domain, bits);
                if self.0.setting.pooled && domain.algebra == Algebra::Z2 {
                    let keys = self.0.draw(owner, planes * elements, mesh)?;
                    return Ok(Progress::More(OfflinePending::Input {
                        owner,
                        domain,
                        planes,
                        elements,
                        keys,
                    }));
                }
                self.input_mask(owner, domain, [planes, elements])?
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
                let (out, masks) = self.tape_masks(tape, lanes, &operands);
                if masks.is_empty() {
                    return Ok(made(out, vec![vec![]]));
                }
                let factors = masks.iter().map(|[x, y, _]| [*x, *y]);
                let groups = tape.batches.iter().flat_map(|batch| groups(tape, batch));
                let factors = factors.collect::<Vec<_>>();
                let (ands, own) = self.0.open_ands(groups.collect(), lanes, &factors)?;
                self.0.send(&own, mesh)?;
                Progress::More(OfflinePending::Tape {
                    out,
                    masks,
                    ands,
                    own,
                })
            }
            Step::Product {
                domain,
                left,
                right,
            } => {
                let factors = [left, right];
                if let Some((at, _)) = known(factors.each_ref().map(|of| of.numbers)) {
                    let (kind, count) =
                        numbers_kind.ok_or_else(|| Fault::internal("no numbers"))?;
                    let words = self.0.take(kind, count as usize)?;
                    let pairs = Pairs::of(&factors[at], &factors[1 - at]);
                    let masks = pairs.others.iter().zip(random_elements(kind, &words));
                    let masks = masks.map(|(l, a)| minus(domain.algebra, *l, a));
                    let own = masks.collect::<Vec<_>>();
                    self.0.send(&own, mesh)?;
                    return Ok(Progress::More(OfflinePending::Known {
                        algebra: domain.algebra,
                        lanes: factors[0].lanes(),
                        chosen: pairs.chosen,
                        words,
                        own,
                    }));
                }
                if let Some(kind) = kind {
                    return self.begin_matrices(kind, domain.algebra, factors, mesh);
                }
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
                if let Some((kind, count)) = bits_kind {
                    let words = self.0.take(kind, count as usize)?;
                    let words = words.as_chunks::<2>().0;
                    let masked = share.data().iter().zip(words);
                    let own = masked.map(|(l, [bit, _])| l ^ bit).collect::<Vec<_>>();
                    self.0.send(&own, mesh)?;
                    return Ok(Progress::More(OfflinePending::Bits {
                        to,
                        elements,
                        random: words.iter().map(|[_, of]| *of).collect(),
                        own,
                    }));
                }
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
            Step::Ring {
                domain,
                bit: Some(bit),
                share,
                ..
            } => {
                let algebra = domain.algebra;
                let (words, own) = self.0.open_choices(algebra, bit.data(), share.data())?;
                self.0.send(&own, mesh)?;
                Progress::More(OfflinePending::Choices {
                    algebra,
                    masks: share,
                    words,
                    own,
                })
            }
            Step::Ring {
                op, domain, share, ..
            } => {
                let (algebra, planes) = result_of(op, domain.algebra);
                let new = self.0.random(algebra, planes * share.elements());
                let material = vec![share.data().to_vec(), new.clone()];
                made(Planes::new(planes, share.elements(), new), material)
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
    ) -> Result<Progress<'a, Self>> {
        match pending {
            OfflinePending::Input {
                owner,
                domain,
                planes,
                elements,
                keys,
            } => {
                self.0.choose(owner, &keys, mesh)?;
                self.input_mask(owner, domain, [planes, elements])
            }
            OfflinePending::Bits {
                to,
                elements,
                random,
                own,
            } => {
                let (algebra, opened) = (to.algebra, self.0.sums(&own, mesh)?.xor);
                let bits = opened.iter().zip(&random);
                let bits = bits.map(|(opened, part)| self.0.xored(algebra, *opened, *part));
                let bits = bits.collect();
                let new = self.0.random(algebra, elements);
                Ok(made(Planes::new(1, elements, new.clone()), vec![bits, new]))
            }
            OfflinePending::Choices {
                algebra,
                masks,
                words,
                own,
            } => {
                let sums = self.0.sums(&own, mesh)?;
                let [bits, chosen] = self.0.chosen(algebra, &words, &sums);
                let new = self.0.random(algebra, bits.len());
                let out = Planes::new(1, new.len(), new.clone());
                Ok(made(out, vec![bits, masks.data().to_vec(), chosen, new]))
            }
            OfflinePending::Known {
                algebra,
                lanes,
                chosen,
                words,
                own,
            } => {
                let opened = self.0.sums(&own, mesh)?.add;
                let out = self.0.random(algebra, lanes);
                let material = vec![chosen, words, opened, out.clone()];
                Ok(made(Planes::new(1, lanes, out), material))
            }
            OfflinePending::Matrices {
                masks,
                shape,
                places: [rows, columns],
                words,
                own,
            } => {
                let opened = self.0.sums(&own, mesh)?.add.into_iter();
                let opened = opened.map(|sum| sum & mask(masks.algebra));
                let product = self.0.product(shape, &words, &opened.collect::<Vec<_>>());
                let places = rows.iter().zip(&columns);
                let parts = places.map(|(row, column)| product[shape.place(*row, *column)]);
                let parts = parts.collect();
                Ok(self.prepared(*masks, parts))
            }
            OfflinePending::Tape {
                out,
                masks,
                ands,
                own,
            } => {
                let sums = self.0.sums(&own, mesh)?;
                let products = self.0.products(&ands, &sums);
                // The product of the masks, less the mask of the result.
                let words = masks.iter().zip(products);
                let words = words.flat_map(|([x, y, z], product)| [*x, *y, product ^ z]);
                let material = Material(vec![words.collect()]);
                let checks = vec![(PRODUCT, masks.len() as u64)];
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
                Ok(self.prepared(*masks, parts))
            }
        }
    }
}

impl Offline {
    /// This party's part of the mask of an input, and at the owner all of it: the owner alone masks
    /// ring elements.
    fn input_mask<'a>(
        &mut self,
        owner: PartyId,
        domain: Domain,
        [planes, elements]: [usize; 2],
    ) -> Result<Progress<'a, Self>> {
        let (me, algebra, count) = (self.0.me, domain.algebra, planes * elements);
        let part = |words| Planes::new(planes, elements, words);
        if algebra != Algebra::Z2 {
            let own = if me == owner {
                self.0.random(algebra, count)
            } else {
                vec![0; count]
            };
            return Ok(made(part(own.clone()), vec![own]));
        }
        if me != owner {
            let words = self.0.take(choices(me, owner), count)?.into_iter();
            let words = words.map(|word| plus(algebra, word, 0));
            return Ok(made(part(words.collect()), vec![vec![]]));
        }
        let own = self.0.random(algebra, count);
        let mut all = own.clone();
        for sender in self.0.others() {
            let words = self.0.take(choices(sender, me), count)?;
            for (sum, word) in all.iter_mut().zip(words) {
                *sum = plus(algebra, *sum, word);
            }
        }
        Ok(made(part(own), vec![all]))
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
}

pub(super) fn range(range: &std::ops::Range<u32>) -> std::ops::Range<usize> {
    range.start as usize..range.end as usize
}

pub(super) fn made<'a>(share: Words, material: Vec<Vec<u64>>) -> Progress<'a, Offline> {
    Progress::Done(Outcome::Share(share, vec![], Material(material)))
}
