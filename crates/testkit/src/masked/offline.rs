//! The offline walk: values are shared masks.

use super::description::{PRODUCT, da_bits, known_numbers, matrix};
use super::pools::{choices, groups};
use super::products::distinct;
use super::ring::{Pairs, random_elements, result_of};
use super::{
    Check, Common, DEALER, Material, Rest, Walk, Words, count, is_masked, known, linear, minus,
    no_sorts, planes_of, plus, recv, then, to_bytes,
};
use sealane_circuit::Tape;
use sealane_circuit::tape::{FIRST_INPUT, Gate};
use sealane_net::Mesh;
use sealane_parties::PartyId;
use sealane_party::{
    Fault, Outcome, Planes, Progress, Result, Selected, Shares, Step, Steps, Term,
};
use sealane_protocol::{Algebra, Checks, Domain, StepShape};

/// The offline walk of a party.
pub struct Offline(pub(super) Common);

impl Walk for Offline {
    fn common(&mut self) -> &mut Common {
        &mut self.0
    }
}

impl Steps for Offline {
    type Share = Words;
    type Pending<'a> = Rest<'a, Self>;
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
        match step {
            Step::Input {
                owner,
                domain,
                elements,
                bits,
                ..
            } => {
                let size = [planes_of(domain, bits), elements];
                if !self.0.setting.pooled || domain.algebra != Algebra::Z2 {
                    return self.input_mask(owner, domain, size);
                }
                let keys = self.0.draw(owner, size[0] * elements, mesh)?;
                Ok(then(move |walk: &mut Self, mesh| {
                    walk.0.choose(owner, &keys, mesh)?;
                    walk.input_mask(owner, domain, size)
                }))
            }
            Step::Tape {
                tape,
                domain,
                lanes,
                ..
            } if !is_masked(domain) => Ok(made(Planes::zeros(tape.outputs.len(), lanes), vec![])),
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
                self.sum(own, mesh, move |walk, sums, _| {
                    let products = walk.0.products(&ands, &sums);
                    // The product of the masks, less the mask of the result.
                    let words = masks.iter().zip(products);
                    let words = words.flat_map(|([x, y, z], product)| [*x, *y, product ^ z]);
                    let material = Material(vec![words.collect()]);
                    let checks = vec![(PRODUCT, masks.len() as u64)];
                    Ok(Progress::Done(Outcome::Share(out, checks, material)))
                })
            }
            Step::Product { left, right, .. } => self.product(&shape, [left, right], mesh),
            Step::Convert {
                from,
                to,
                bits,
                share,
                ..
            } => {
                let (planes, elements) = (planes_of(to, bits), share.elements());
                if let Some((kind, count)) = da_bits(&shape) {
                    let random = self.0.take(kind, count as usize)?;
                    return self.bits_to_elements(to.algebra, random, &share, mesh);
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
                Ok(made(
                    Planes::new(planes, elements, new.clone()),
                    vec![old, new],
                ))
            }
            Step::Ring {
                domain,
                bit: Some(bit),
                share,
                ..
            } => {
                let algebra = domain.algebra;
                let (words, own) = self.0.open_choices(algebra, bit.data(), share.data())?;
                self.sum(own, mesh, move |walk, sums, _| {
                    let [bits, chosen] = walk.0.chosen(algebra, &words, &sums);
                    let new = walk.0.random(algebra, bits.len());
                    let out = Planes::new(1, new.len(), new.clone());
                    Ok(made(out, vec![bits, share.data().to_vec(), chosen, new]))
                })
            }
            Step::Ring {
                op, domain, share, ..
            } => {
                let (algebra, planes) = result_of(op, domain.algebra);
                let new = self.0.random(algebra, planes * share.elements());
                let material = vec![share.data().to_vec(), new.clone()];
                Ok(made(Planes::new(planes, share.elements(), new), material))
            }
            Step::Shuffle { .. } | Step::Sort { .. } | Step::CompareExchange { .. } => {
                Err(no_sorts())
            }
            Step::Settle { checks } => self.settle(&checks, mesh),
            Step::Open { results } => {
                let masks = results.iter().map(|result| result.share.data().to_vec());
                let material = Material(masks.collect());
                Ok(Progress::Done(Outcome::Opened(vec![], material)))
            }
        }
    }

    fn advance<'a>(
        &mut self,
        rest: Self::Pending<'a>,
        mesh: &mut Mesh,
    ) -> Result<Progress<'a, Self>> {
        rest(self, mesh)
    }
}

impl Offline {
    /// Begins a product: opens masks less random ones, or sends them to the dealer.
    fn product<'a>(
        &mut self,
        shape: &StepShape<'_>,
        factors: [Selected<Words>; 2],
        mesh: &mut Mesh,
    ) -> Result<Progress<'a, Self>> {
        let StepShape::Product(product) = shape else {
            return Err(Fault::internal("no product"));
        };
        let algebra = product.domain.algebra;
        let numbers = factors.each_ref().map(|of| of.numbers);
        if let (Some((at, _)), Some((kind, count))) = (known(numbers), known_numbers(shape)) {
            let words = self.0.take(kind, count as usize)?;
            let pairs = Pairs::of(&factors[at], &factors[1 - at]);
            let masks = pairs.others.iter().zip(random_elements(kind, &words));
            let own = masks.map(|(l, a)| minus(algebra, *l, a)).collect();
            let lanes = factors[0].lanes();
            return self.sum(own, mesh, move |walk, sums, _| {
                let out = walk.0.random(algebra, lanes);
                let material = vec![pairs.chosen, words, sums.add, out.clone()];
                Ok(made(Planes::new(1, lanes, out), material))
            });
        }
        if let Some(kind) = matrix(shape) {
            return self.matrices(kind, algebra, factors, mesh);
        }
        let dealer = self.0.setting.player(DEALER);
        if self.0.me != dealer {
            let words = factors.each_ref().map(distinct).concat();
            mesh.send(dealer, &to_bytes(&words))?;
        }
        Ok(then(move |walk: &mut Self, mesh| {
            let deals = walk.0.is_first();
            let dealt = deals.then(|| walk.deal_products(algebra, &factors, mesh));
            let dealt = dealt.transpose()?;
            Ok(then(move |walk: &mut Self, mesh| {
                let parts = match dealt {
                    Some(parts) => parts,
                    None => recv(dealer, factors[0].lanes(), mesh)?,
                };
                Ok(walk.prepared(algebra, factors, parts))
            }))
        }))
    }

    /// Begins a conversion of masks of bits, which are opened less the random bits that are given
    /// as ring elements, too.
    fn bits_to_elements<'a>(
        &mut self,
        algebra: Algebra,
        random: Vec<u64>,
        share: &Words,
        mesh: &mut Mesh,
    ) -> Result<Progress<'a, Self>> {
        let masked = share.data().iter().zip(random.as_chunks::<2>().0);
        let own = masked.map(|(l, [bit, _])| l ^ bit).collect();
        let elements = share.elements();
        self.sum(own, mesh, move |walk, sums, _| {
            let bits = sums.xor.iter().zip(random.as_chunks::<2>().0);
            let bits = bits.map(|(opened, [_, part])| walk.0.xored(algebra, *opened, *part));
            let bits = bits.collect();
            let new = walk.0.random(algebra, elements);
            Ok(made(Planes::new(1, elements, new.clone()), vec![bits, new]))
        })
    }

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
