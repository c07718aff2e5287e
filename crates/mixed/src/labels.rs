//! Circuits on labels of crate `yao`, and conversions to them and from them. The party of role 0
//! garbles.
//!
//! *Shares to labels.* Each party's share becomes labels: the garbler's own as an input, the
//! evaluator's by correlated OTs that were made ahead. Their XOR labels the bit; in a ring, a
//! garbled adder takes both.
//!
//! *Labels to XOR shares* need no message: the permute bit of the zero label is one share, the
//! colour of the active label the other.
//!
//! *Labels to ring elements* take a projection of each bit. Let `h_c` be the hash of the label of
//! colour `c`, and `p` the permute bit. The garbler sends `d = h_0 + 1 - 2 p - h_1` and keeps
//! `p - h_0`; the evaluator takes `h_0`, or `h_1 + d`, by its colour. The hash of the label that it
//! lacks hides `p` in `d`. A bit of weight `2^i` is needed modulo `2^(k-i)` alone.

use crate::carries::Sum;
use crate::role::{Computing, recv, send};
use crate::tape::TapeOf;
use crate::{MixedParty, Share, then};
use sealane_block::{Block, Erased};
use sealane_circuit::Goal;
use sealane_net::Mesh;
use sealane_party::bits::words_for;
use sealane_party::{
    Body, Components, Fault, Form, Parts, Planes, Progress, Result, Shares, ring, to_planes,
};
use sealane_protocol::Domain;
use sealane_yao::Labels;
use sealane_yao::sides::{EvaluatorLabels, GarblerLabels};
use std::hint::black_box;
use std::ops::Deref;
use std::sync::Arc;
use zeroize::Zeroizing;

/// The labels of a party with a role.
pub(crate) enum Side {
    Garbler(Erased<GarblerLabels>),
    Evaluator(Erased<EvaluatorLabels>),
}

/// Labels whose hashes are held at once.
const CHUNK: usize = 4096;

impl<const L: bool> Computing<L> {
    /// Labels of public bits: as in tapes, the active label is zero for both values.
    pub(crate) fn constant_labels(&self, bits: usize, values: &[u64]) -> Share {
        let delta = match &self.side {
            Some(Side::Garbler(side)) => side.delta(),
            _ => Block::ZERO,
        };
        let planes = to_planes(values, bits);
        let labels = planes.iter().map(|bit| delta.masked(*bit));
        share(Planes::new(bits, values.len(), labels.collect()))
    }

    /// Runs a tape.
    pub(crate) fn label_tape<'a>(
        &mut self,
        tape: TapeOf<'a>,
        lanes: usize,
        operands: Vec<Arc<Share>>,
        mesh: &mut Mesh,
    ) -> Result<Progress<'a, MixedParty<L>>> {
        let quiet = tape.ands.is_empty();
        if operands.iter().map(|share| share.planes()).sum::<usize>() != tape.inputs as usize {
            return Err(Fault::internal("operands are not the inputs of the tape"));
        }
        let call = match self.side()? {
            Side::Garbler(side) => {
                let operands = held(&operands)?;
                let made = side.garble(&tape, lanes, &borrowed(&operands), mesh)?;
                return Ok(if quiet {
                    Progress::share(share(made))
                } else {
                    then(|_, _| Ok(Progress::share(share(made))))
                });
            }
            Side::Evaluator(side) => side.call_of(&tape),
        };
        let evaluate = move |party: &mut Computing<L>, mesh: &mut Mesh| {
            let Side::Evaluator(side) = party.side()? else {
                return Err(no_labels());
            };
            let operands = held(&operands)?;
            let made = side.evaluate(call, (&tape, lanes), &borrowed(&operands), mesh)?;
            Ok(Progress::share(share(made)))
        };
        if quiet {
            evaluate(self, mesh)
        } else {
            Ok(then(evaluate))
        }
    }

    /// Labels of an input of the party of a role, whose bits that party has.
    pub(crate) fn labels_of_input<'a>(
        &mut self,
        (planes, elements): (usize, usize),
        owner: usize,
        own: Option<Zeroizing<Vec<u8>>>,
        mesh: &mut Mesh,
    ) -> Result<Progress<'a, MixedParty<L>>> {
        let count = planes * elements;
        let of = move |labels| Progress::share(share(Planes::new(planes, elements, labels)));
        let Computing { side, goods, .. } = self;
        let side = side.as_mut().ok_or_else(no_labels)?;
        match (side, owner, own) {
            (Side::Garbler(side), 0, Some(own)) => Ok(of(side.own_input(&own))),
            (Side::Evaluator(side), 0, _) => Ok(of(side.garblers_input(count))),
            (Side::Evaluator(side), _, Some(own)) => {
                let labels = of(side.own_input(&own, goods.receiver()?, mesh)?);
                Ok(then(move |_, _| Ok(labels)))
            }
            (Side::Garbler(_), _, _) => Ok(then(move |party, mesh| {
                Ok(of(party.evaluators_labels(count, mesh)?))
            })),
            _ => Err(Fault::internal("an input without values at its owner")),
        }
    }

    /// Zero labels of bits that the evaluator chooses.
    fn evaluators_labels(&mut self, count: usize, mesh: &mut Mesh) -> Result<Vec<Block>> {
        let Computing { side, goods, .. } = self;
        let Some(Side::Garbler(side)) = side else {
            return Err(no_labels());
        };
        side.evaluators_input(count, goods.sender()?, mesh)
    }

    /// XOR shares of bits as labels.
    pub(crate) fn labels_of_bits<'a>(
        &mut self,
        of: &Share,
        mesh: &mut Mesh,
    ) -> Result<Progress<'a, MixedParty<L>>> {
        let (planes, elements) = (of.planes(), of.elements());
        let words = self.words(Form::bits(planes, elements), of)?;
        let bits = unpacked(&words, planes, elements);
        self.labels_of_both(
            (planes, elements),
            &bits,
            mesh,
            |_, [garblers, evaluators], _| {
                let mut sum = garblers;
                let pairs = sum.data_mut().iter_mut().zip(evaluators.data());
                pairs.for_each(|(label, other)| *label ^= *other);
                Ok(Progress::share(share(sum)))
            },
        )
    }

    /// The low bits of ring elements as labels.
    pub(crate) fn labels_of_ring<'a>(
        &mut self,
        from: Domain,
        bits: usize,
        of: &Share,
        mesh: &mut Mesh,
    ) -> Result<Progress<'a, MixedParty<L>>> {
        let (k, elements) = (ring(from)?, of.elements());
        if bits > k {
            return Err(Fault::internal("bits that elements do not have"));
        }
        let words = self.words(Form::ring(k, 1, elements), of)?;
        let own = Zeroizing::new(to_planes(&words, bits));
        let sum = Sum::Bits {
            first: 0,
            count: bits as u8,
        };
        self.labels_of_both((bits, elements), &own, mesh, move |party, both, mesh| {
            let operands = both.map(|labels| Arc::new(share(labels)));
            let tape = TapeOf::Step(sum.tape(Goal::Size));
            party.label_tape(tape, elements, operands.into(), mesh)
        })
    }

    /// Labels of the garbler's bits and of the evaluator's, one a byte and as many, of which this
    /// party has one. `rest` takes both when the evaluator has chosen.
    fn labels_of_both<'a>(
        &mut self,
        (planes, elements): (usize, usize),
        own: &[u8],
        mesh: &mut Mesh,
        rest: impl FnOnce(
            &mut Computing<L>,
            [Labels; 2],
            &mut Mesh,
        ) -> Result<Progress<'a, MixedParty<L>>>
        + Send
        + 'a,
    ) -> Result<Progress<'a, MixedParty<L>>> {
        let count = planes * elements;
        let of = move |labels| Planes::new(planes, elements, labels);
        let Computing { side, goods, .. } = self;
        let side = side.as_mut().ok_or_else(no_labels)?;
        match side {
            Side::Garbler(side) => {
                let garblers = of(side.own_input(own));
                Ok(then(move |party, mesh| {
                    let evaluators = of(party.evaluators_labels(count, mesh)?);
                    rest(party, [garblers, evaluators], mesh)
                }))
            }
            Side::Evaluator(side) => {
                let garblers = of(side.garblers_input(count));
                let evaluators = of(side.own_input(own, goods.receiver()?, mesh)?);
                Ok(then(move |party, mesh| {
                    rest(party, [garblers, evaluators], mesh)
                }))
            }
        }
    }

    /// Bits of labels as XOR shares.
    pub(crate) fn bits_of_labels<'a>(&self, of: &Share) -> Result<Progress<'a, MixedParty<L>>> {
        let labels = Held::of(of)?;
        let form = Form::bits(labels.planes(), labels.elements());
        let mut words = form.zeros();
        for plane in 0..labels.planes() {
            colours(labels.plane(plane), words.plane_mut(plane));
        }
        Ok(Progress::share(form.share([words])))
    }

    /// Bits of labels as elements of a ring.
    pub(crate) fn ring_of_labels<'a>(
        &mut self,
        to: Domain,
        (bits, signed): (usize, bool),
        of: &Share,
        mesh: &mut Mesh,
    ) -> Result<Progress<'a, MixedParty<L>>> {
        let (k, peer) = (ring(to)?, self.peer);
        let held = Held::of(of)?;
        let (planes, elements) = (bits.min(k).min(held.planes()), held.elements());
        let form = Form::ring(k, 1, elements);
        let mut sum = form.zeros();
        let weight = move |plane: usize| {
            let negative = signed && plane + 1 == bits;
            (1u64 << plane).wrapping_mul(if negative { u64::MAX } else { 1 })
        };
        let told = move |plane: usize| Form::ring(k - plane, 1, elements);
        match self.side()? {
            Side::Garbler(side) => {
                let call = side.hashing();
                for plane in 0..planes {
                    let [own, mut sent] =
                        projected(side, (call, plane * elements), held.plane(plane));
                    add_multiples(sum.data_mut(), &own, weight(plane));
                    let form = told(plane);
                    form.trim(&mut sent);
                    send(form, &form.sum([&sent[..]]), peer, mesh)?;
                }
                form.trim(sum.data_mut());
                let made = form.share([sum]);
                Ok(then(|_, _| Ok(Progress::share(made))))
            }
            Side::Evaluator(side) => {
                let call = side.hashing();
                let active = &held.data()[..planes * elements];
                let mut hashes = Zeroizing::new(vec![Block::ZERO; active.len()]);
                side.hashes((call, 0), active, &mut hashes);
                let colour = |label: &Block| 0u64.wrapping_sub(u64::from(label.lsb()));
                let masks = Zeroizing::new(active.iter().map(colour).collect::<Vec<_>>());
                Ok(then(move |_, mesh| {
                    for plane in 0..planes {
                        let mut own = recv(told(plane), peer, mesh)?;
                        let at = plane * elements..(plane + 1) * elements;
                        let known = hashes[at.clone()].iter().zip(&masks[at]);
                        for (own, (hash, mask)) in own.data_mut().iter_mut().zip(known) {
                            *own = projected_to(*mask, hash.value() as u64, *own);
                        }
                        add_multiples(sum.data_mut(), own.data(), weight(plane));
                    }
                    form.trim(sum.data_mut());
                    Ok(Progress::share(form.share([sum])))
                }))
            }
        }
    }

    fn side(&mut self) -> Result<&mut Side> {
        self.side.as_mut().ok_or_else(no_labels)
    }
}

/// The garbler's part of projections of bits with these zero labels, which are hashed from a number
/// on: its shares, and what it sends.
fn projected(
    side: &GarblerLabels,
    (call, first): (u64, usize),
    zeros: &[Block],
) -> [Zeroizing<Vec<u64>>; 2] {
    let mut made = [(); 2].map(|()| Zeroizing::new(Vec::with_capacity(zeros.len())));
    let mut hashes = Zeroizing::new(vec![[Block::ZERO; 2]; zeros.len().min(CHUNK)]);
    for (chunk, zeros) in zeros.chunks(CHUNK).enumerate() {
        let hashes = &mut hashes[..zeros.len()];
        side.hashes((call, first + chunk * CHUNK), zeros, hashes);
        for (zero, both) in zeros.iter().zip(&*hashes) {
            let permute = u64::from(zero.lsb());
            let part = projection(permute, both.map(|hash| hash.value() as u64));
            made.iter_mut()
                .zip(part)
                .for_each(|(made, part)| made.push(part));
        }
    }
    made
}

/// The garbler's share of a bit with this permute bit, and what it sends, from the hashes of the
/// labels of zero and one.
fn projection(permute: u64, [of_zero, of_one]: [u64; 2]) -> [u64; 2] {
    // By colour; a mask, not a branch, since the permute bit is secret.
    let swap = (of_zero ^ of_one) & black_box(0u64.wrapping_sub(permute));
    let (h_0, h_1) = (of_zero ^ swap, of_one ^ swap);
    let step = 1u64.wrapping_sub(permute << 1);
    [
        permute.wrapping_sub(h_0),
        h_0.wrapping_add(step).wrapping_sub(h_1),
    ]
}

/// The evaluator's share, with a mask of ones where the colour is one.
fn projected_to(colour: u64, hash: u64, told: u64) -> u64 {
    hash.wrapping_add(told & black_box(colour))
}

fn add_multiples(sum: &mut [u64], of: &[u64], weight: u64) {
    let pairs = sum.iter_mut().zip(of);
    pairs.for_each(|(sum, of)| *sum = sum.wrapping_add(of.wrapping_mul(weight)));
}

fn no_labels() -> Fault {
    Fault::internal("labels in a protocol that has none")
}

fn share(labels: Labels) -> Share {
    Components(Body::Labels(Parts([labels])))
}

/// The labels of a share, of which a shape without data stands for zero.
enum Held<'a> {
    Share(&'a Labels),
    Zeros(Labels),
}

impl Held<'_> {
    fn of(share: &Share) -> Result<Held<'_>> {
        match &share.0 {
            Body::Labels(Parts([labels])) => Ok(Held::Share(labels)),
            Body::Shape(planes, elements) => Ok(Held::Zeros(Planes::zeros(*planes, *elements))),
            _ => Err(Fault::internal("a share does not live where its step says")),
        }
    }
}

impl Deref for Held<'_> {
    type Target = Labels;

    fn deref(&self) -> &Labels {
        match self {
            Held::Share(labels) => labels,
            Held::Zeros(labels) => labels,
        }
    }
}

fn held(shares: &[Arc<Share>]) -> Result<Vec<Held<'_>>> {
    shares.iter().map(|share| Held::of(share)).collect()
}

fn borrowed<'a>(held: &'a [Held<'_>]) -> Vec<&'a Labels> {
    held.iter().map(|held| &**held).collect()
}

/// Bits of packed rows, plane by plane, one a byte.
fn unpacked(words: &[u64], planes: usize, elements: usize) -> Zeroizing<Vec<u8>> {
    let rows = words.chunks(words_for(elements).max(1)).take(planes);
    // A vector that grew by itself would leave copies behind.
    let mut bits = Zeroizing::new(Vec::with_capacity(planes * elements));
    for row in rows {
        bits.extend((0..elements).map(|at| (row[at / 64] >> (at % 64) & 1) as u8));
    }
    bits
}

/// Packs bit 0 of each label.
fn colours(labels: &[Block], words: &mut [u64]) {
    for (labels, word) in labels.chunks(64).zip(words) {
        for (at, label) in labels.iter().enumerate() {
            *word |= u64::from(label.lsb()) << at;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    /// How often the evaluator sees what, beside its label: the hash of the label and what the
    /// garbler sends, in a ring of `bits` bits. By its colour and the bit, over these hashes.
    fn views(bits: u8, hashes: &[[u64; 2]]) -> BTreeMap<(u64, u64), BTreeMap<[u64; 2], u64>> {
        let (modulus, mut views) = (1u64 << bits, BTreeMap::new());
        for (permute, bit) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
            for hashes in hashes {
                let (colour, active) = (permute ^ bit, hashes[bit as usize]);
                let [own, told] = projection(permute, *hashes);
                let told = told % modulus;
                let other = projected_to(0u64.wrapping_sub(colour), active, told);
                assert_eq!(own.wrapping_add(other) % modulus, bit, "a result is wrong");
                let seen: &mut BTreeMap<_, _> = views.entry((colour, bit)).or_default();
                *seen.entry([active, told]).or_insert(0) += 1;
            }
        }
        views
    }

    /// Returns whether what the evaluator sees depends on the bit.
    fn tells(bits: u8, hashes: &[[u64; 2]]) -> bool {
        let views = views(bits, hashes);
        [0, 1]
            .iter()
            .any(|colour| views[&(*colour, 0)] != views[&(*colour, 1)])
    }

    #[test]
    fn projections_show_the_evaluator_nothing() {
        for bits in 1..=4 {
            let all = (0..1 << (2 * bits)).map(|pair| [pair >> bits, pair & ((1 << bits) - 1)]);
            let all = all.collect::<Vec<[u64; 2]>>();
            assert!(!tells(bits, &all));
            // A hash that is the same for both labels: results are right, and nothing is hidden.
            let same = all.into_iter().filter(|[one, other]| one == other);
            assert!(bits == 1 || tells(bits, &same.collect::<Vec<_>>()));
        }
    }
}
