//! The online walk: values are public masked values, or XOR shares.

use super::description::{PRODUCT, converted, da_bits, known_numbers};
use super::offline::{Offline, range};
use super::pools::{Ands, groups};
use super::ring::{KnownProduct, chosen, convert, result_of, ring_step};
use super::{
    Check, Common, Material, Rest, Walk, Words, count, decode, encode, is_masked, known, linear,
    mask, minus, no_sorts, planes_of, plus, recv, then, to_bytes,
};
use sealane_circuit::Tape;
use sealane_circuit::tape::{FIRST_INPUT, Gate, ONE};
use sealane_net::Mesh;
use sealane_party::{
    Fault, Opened, Outcome, Party, Planes, Progress, Result, Shares, Start, Step, Steps, Term,
};
use sealane_protocol::{Algebra, Checks, Demand, Domain};

/// One party of the protocol. Party `LIAR` tells one party something else in its first broadcast.
pub struct MaskedParty<const LIAR: u8 = 255> {
    offline: Offline,
}

/// A tape between two layers.
struct RunningTape<'a> {
    tape: &'a Tape,
    masked: bool,
    lanes: usize,
    slots: Vec<u64>,
    batch: usize,
    /// For each AND, lane by lane: masks of both operands, and the prepared part of the product.
    ands: Vec<u64>,
    /// Products of XOR shares under way.
    products: Option<Ands>,
}

impl<const LIAR: u8> Party for MaskedParty<LIAR> {
    type Protocol = super::Masked;
    type Offline = Offline;

    fn set_up(start: Start<'_>, _: &Demand, _: &mut Mesh) -> Result<Self> {
        let lies = start.me.0 == LIAR;
        Ok(MaskedParty {
            offline: Offline(Common::new(start, lies)),
        })
    }

    fn refill(&mut self, demand: &Demand, mesh: &mut Mesh) -> Result<()> {
        self.common().refill(demand, mesh)
    }

    fn offline(&mut self) -> Option<&mut Offline> {
        Some(&mut self.offline)
    }
}

impl<const LIAR: u8> Walk for MaskedParty<LIAR> {
    fn common(&mut self) -> &mut Common {
        &mut self.offline.0
    }
}

impl<const LIAR: u8> Steps for MaskedParty<LIAR> {
    type Share = Words;
    type Pending<'a> = Rest<'a, Self>;
    type Material = Material;
    type Output = ();
    type Check = Check;

    fn count(checks: &[Check]) -> Checks {
        count(checks)
    }

    fn constant(&mut self, domain: Domain, bits: usize, values: &[u64]) -> Words {
        let words = encode(domain, bits, values);
        let words = if is_masked(domain) || self.common().is_first() {
            words
        } else {
            vec![0; words.len()]
        };
        Planes::new(planes_of(domain, bits), values.len(), words)
    }

    fn linear(&mut self, domain: Domain, lanes: usize, terms: &[Term<'_, Words>]) -> Result<Words> {
        Ok(linear(domain, lanes, terms))
    }

    fn begin<'a>(
        &mut self,
        step: Step<'a, Self>,
        material: Option<Material>,
        mesh: &mut Mesh,
    ) -> Result<Progress<'a, Self>> {
        let material = material.ok_or_else(unprepared)?;
        let shape = step.shape();
        match step {
            Step::Input {
                owner,
                domain,
                elements,
                bits,
                values,
            } => {
                let own = values.map(|values| {
                    let words = encode(domain, bits, &values);
                    let masked = words.iter().zip(&material.0[0]);
                    let masked = masked.map(|(x, l)| plus(domain.algebra, *x, *l));
                    masked.collect::<Vec<_>>()
                });
                if let Some(own) = &own {
                    self.common().send(own, mesh)?;
                }
                let planes = planes_of(domain, bits);
                Ok(then(move |party: &mut Self, mesh| {
                    let words = match own {
                        Some(own) => {
                            party.common().heard(&own, mesh)?;
                            own
                        }
                        None => party.common().recv(owner, planes * elements, mesh)?,
                    };
                    Ok(Progress::share(Planes::new(planes, elements, words)))
                }))
            }
            Step::Tape {
                tape,
                domain,
                lanes,
                operands,
            } => {
                let masked = is_masked(domain);
                let mut slots = vec![0; tape.slots as usize * lanes];
                let one = u64::from(masked || self.common().is_first());
                slots[ONE as usize * lanes..][..lanes].fill(one);
                let inputs = operands.iter().flat_map(|share| share.data());
                let first = FIRST_INPUT as usize * lanes;
                for (slot, word) in slots[first..].iter_mut().zip(inputs) {
                    *slot = *word;
                }
                let run = RunningTape {
                    tape,
                    masked,
                    lanes,
                    slots,
                    batch: 0,
                    ands: material.0.into_iter().next().unwrap_or_default(),
                    products: None,
                };
                self.next_layer(run, mesh)
            }
            Step::Product {
                domain,
                left,
                right,
            } => {
                let numbers = [left.numbers, right.numbers];
                if let (Some((at, _)), Some((kind, _))) = (known(numbers), known_numbers(&shape)) {
                    let factors = match at {
                        0 => [left, right],
                        _ => [right, left],
                    };
                    let (common, known) = (self.common(), (domain, kind));
                    let product = KnownProduct::begin(common, known, factors, material, mesh)?;
                    return Ok(then(move |party: &mut Self, mesh| {
                        let own = product.words(mesh)?;
                        party.open_masked(domain.algebra, own, mesh)
                    }));
                }
                let [x, y] = [&left, &right].map(|factor| factor.gathered());
                let [x, y] = [x.data(), y.data()];
                let [lx, ly, prepared] = &material.0[..] else {
                    return Err(unprepared());
                };
                let mut own = prepared.clone();
                let lanes = own.len();
                let first = self.common().is_first();
                for i in 0..x.len() {
                    let both = if first { x[i].wrapping_mul(y[i]) } else { 0 };
                    let masks = x[i]
                        .wrapping_mul(ly[i])
                        .wrapping_add(y[i].wrapping_mul(lx[i]));
                    let sum = &mut own[i % lanes];
                    *sum = minus(domain.algebra, sum.wrapping_add(both), masks);
                }
                self.open_masked(domain.algebra, own, mesh)
            }
            Step::Convert {
                from,
                to,
                bits,
                signed,
                share,
            } => {
                if is_masked(from) && !is_masked(to) {
                    let own = u64::from(self.common().is_first());
                    let words = share.data().iter().zip(&material.0[0]);
                    let words = words.map(|(m, l)| own & m ^ l).collect();
                    let share = Planes::new(share.planes(), share.elements(), words);
                    return Ok(Progress::share(share));
                }
                if da_bits(&shape).is_some() {
                    let own = self.elements_of_bits(to.algebra, signed, &share, &material)?;
                    return self.open_masked(to.algebra, own, mesh);
                }
                let new = &material.0[1];
                let own = if is_masked(from) {
                    material.0.concat()
                } else if to.algebra == Algebra::Z2 {
                    share.data().iter().zip(new).map(|(x, l)| x ^ l).collect()
                } else {
                    [share.data(), new].concat()
                };
                self.sum(own, mesh, move |_, sums, _| {
                    let share = convert([from, to], (bits, signed), &share, &sums);
                    Ok(checked(share, to.algebra))
                })
            }
            Step::Ring {
                domain,
                bit: Some(bit),
                share,
                ..
            } => {
                let own = chosen(self.common(), domain.algebra, [&bit, &share], &material)?;
                self.open_masked(domain.algebra, own, mesh)
            }
            Step::Ring {
                op,
                domain,
                bits,
                signed,
                share,
                ..
            } => self.sum(material.0.concat(), mesh, move |_, sums, _| {
                let share = ring_step(op, domain, (bits, signed), &share, &sums);
                Ok(checked(share, result_of(op, domain.algebra).0))
            }),
            Step::Shuffle { .. } | Step::Sort { .. } | Step::CompareExchange { .. } => {
                Err(no_sorts())
            }
            Step::Settle { checks } => self.settle(&checks, mesh),
            Step::Open { results } => {
                let me = self.common().me;
                for (result, masks) in results.iter().zip(&material.0) {
                    let words = if is_masked(result.domain) {
                        masks
                    } else {
                        result.share.data()
                    };
                    for to in result.to.iter().filter(|to| *to != me) {
                        mesh.send(to, &to_bytes(words))?;
                    }
                }
                Ok(then(move |party: &mut Self, mesh| {
                    let results = results.iter().zip(&material.0);
                    let values = results.map(|(result, masks)| party.learn(result, masks, mesh));
                    let values = values.collect::<Result<_>>()?;
                    Ok(Progress::Done(Outcome::Opened(values, ())))
                }))
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

fn unprepared() -> Fault {
    Fault::internal("a step without its offline part")
}

/// A finished step that leaves a check for each element of an algebra.
fn checked<'a, const LIAR: u8>(share: Words, algebra: Algebra) -> Progress<'a, MaskedParty<LIAR>> {
    let checks = vec![(converted(algebra), share.elements() as u64)];
    Progress::Done(Outcome::Share(share, checks, ()))
}

impl<const LIAR: u8> MaskedParty<LIAR> {
    /// Broadcasts this party's words of masked results, which are the sums of those of all.
    fn open_masked<'a>(
        &mut self,
        algebra: Algebra,
        own: Vec<u64>,
        mesh: &mut Mesh,
    ) -> Result<Progress<'a, Self>> {
        self.sum(own, mesh, move |_, sums, _| {
            let words = sums.add.iter().map(|sum| sum & mask(algebra));
            let words = words.collect::<Vec<_>>();
            Ok(Progress::share(Planes::new(1, words.len(), words)))
        })
    }

    /// This party's words of masked bits as ring elements.
    fn elements_of_bits(
        &mut self,
        algebra: Algebra,
        signed: bool,
        share: &Words,
        material: &Material,
    ) -> Result<Vec<u64>> {
        let [masks, new] = &material.0[..] else {
            return Err(unprepared());
        };
        let mut own = new.clone();
        for plane in 0..share.planes() {
            let negative = signed && plane + 1 == share.planes();
            let bits = share.plane(plane).iter().zip(&masks[plane * own.len()..]);
            for (sum, (m, l)) in own.iter_mut().zip(bits) {
                let bit = self.common().xored(algebra, *m, *l) << plane;
                let add = if negative { minus } else { plus };
                *sum = add(algebra, *sum, bit);
            }
        }
        Ok(own)
    }

    /// Reads the parts of a result, if this party learns it: masked values less all masks, or the
    /// sum of all shares.
    fn learn(
        &mut self,
        result: &Opened<Words>,
        masks: &[u64],
        mesh: &mut Mesh,
    ) -> Result<Option<sealane_party::Words>> {
        if !result.to.contains(self.common().me) {
            return Ok(None);
        }
        let (share, algebra) = (&result.share, result.domain.algebra);
        let mut words = share.data().to_vec();
        let less = |words: &mut [u64], part: &[u64]| {
            for (word, part) in words.iter_mut().zip(part) {
                *word = minus(algebra, *word, *part);
            }
        };
        if is_masked(result.domain) {
            less(&mut words, masks);
        }
        for from in self.common().others() {
            let part = recv(from, words.len(), mesh)?;
            less(&mut words, &part);
        }
        Ok(Some(decode(result.domain, share.planes(), &words).into()))
    }

    /// Runs XORs up to the next batch with ANDs and broadcasts this party's words for them.
    fn next_layer<'a>(
        &mut self,
        mut run: RunningTape<'a>,
        mesh: &mut Mesh,
    ) -> Result<Progress<'a, Self>> {
        let (tape, lanes) = (run.tape, run.lanes);
        while let Some(batch) = tape.batches.get(run.batch) {
            for Gate { a, b, out, .. } in &tape.xors[range(&batch.xors)] {
                for lane in 0..lanes {
                    let at = |slot: u32| slot as usize * lanes + lane;
                    run.slots[at(*out)] = run.slots[at(*a)] ^ run.slots[at(*b)];
                }
            }
            if !batch.ands.is_empty() {
                let factors = run.factors();
                let own = if run.masked {
                    let first = self.common().is_first();
                    let prepared = run.ands.drain(..3 * factors.len()).collect::<Vec<_>>();
                    let words = factors.iter().zip(prepared.chunks(3));
                    let word = |([x, y], of): (&[u64; 2], &[u64])| {
                        let both = if first { x & y } else { 0 };
                        both ^ x & of[1] ^ y & of[0] ^ of[2]
                    };
                    words.map(word).collect()
                } else {
                    let groups = groups(tape, batch);
                    let (ands, own) = self.common().open_ands(groups, lanes, &factors)?;
                    run.products = Some(ands);
                    own
                };
                return self.sum(own, mesh, move |party, sums, mesh| {
                    let products = match &run.products {
                        None => sums.xor,
                        Some(ands) => party.common().products(ands, &sums),
                    };
                    run.take_products(&products);
                    party.next_layer(run, mesh)
                });
            }
            run.batch += 1;
        }
        let outputs = tape.outputs.iter();
        let outputs =
            outputs.flat_map(|slot| run.slots[*slot as usize * lanes..][..lanes].to_vec());
        let share = Planes::new(tape.outputs.len(), lanes, outputs.collect());
        // Tapes on XOR shares leave checks, also those that combine tiles.
        let ands = if run.masked {
            0
        } else {
            tape.ands.len() * lanes
        };
        let checks = vec![(PRODUCT, ands as u64)];
        Ok(Progress::Done(Outcome::Share(share, checks, ())))
    }
}

impl RunningTape<'_> {
    fn ands(&self) -> &[Gate] {
        &self.tape.ands[range(&self.tape.batches[self.batch].ands)]
    }

    /// Both factors of every AND of the current batch, lane by lane.
    fn factors(&self) -> Vec<[u64; 2]> {
        let lanes = self.lanes;
        let slot = |slot: u32| &self.slots[slot as usize * lanes..][..lanes];
        let pairs = self
            .ands()
            .iter()
            .flat_map(|gate| slot(gate.a).iter().zip(slot(gate.b)));
        pairs.map(|(x, y)| [*x, *y]).collect()
    }

    /// Sets the results of the current batch.
    fn take_products(&mut self, products: &[u64]) {
        let lanes = self.lanes;
        let outs = self.ands().iter().map(|gate| gate.out as usize);
        let outs = outs.collect::<Vec<_>>();
        for (out, words) in outs.into_iter().zip(products.chunks(lanes)) {
            self.slots[out * lanes..][..lanes].copy_from_slice(words);
        }
        self.batch += 1;
    }
}
