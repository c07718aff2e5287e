//! Products of numbers that a party knows, and operations on ring elements, in the online walk.

use super::offline::{distinct, spread};
use super::{Common, Material, Sums, Words, bytes_of, encode, mask, minus, plus};
use sealane_net::Mesh;
use sealane_parties::PartyId;
use sealane_party::{Fault, Planes, Result, Selected, Shares};
use sealane_protocol::{Algebra, Domain, RingOp};
use std::sync::Arc;

/// A product of numbers that a party knows.
pub struct KnownProduct {
    pub domain: Domain,
    owner: PartyId,
    /// The operand that it knows, and the other one.
    factors: [Selected<Words>; 2],
    /// Masks of the other one, and of the results.
    masks: [Vec<u64>; 2],
    /// The numbers, each once, at the party that knows them.
    own: Option<Vec<u64>>,
}

impl KnownProduct {
    /// Begins a product: the owner tells all others its numbers.
    pub fn begin(
        common: &Common,
        (domain, owner): (Domain, PartyId),
        factors: [Selected<Words>; 2],
        material: Material,
        mesh: &mut Mesh,
    ) -> Result<KnownProduct> {
        let masks = <[Vec<u64>; 3]>::try_from(material.0);
        let [of, by, out] = masks.map_err(|_| Fault::internal("other masks were prepared"))?;
        let own = (owner == common.me).then(|| {
            let masked = distinct(&factors[0]);
            let numbers = masked.iter().zip(&of);
            let numbers = numbers.map(|(m, l)| minus(domain.algebra, *m, *l));
            numbers.collect::<Vec<_>>()
        });
        if let Some(own) = &own {
            let bytes = bytes_of(factors[0].numbers);
            let told = own
                .iter()
                .flat_map(|word| word.to_le_bytes().into_iter().take(bytes));
            let told = told.collect::<Vec<_>>();
            for to in common.others() {
                mesh.send(to, &told)?;
            }
        }
        Ok(KnownProduct {
            domain,
            owner,
            factors,
            masks: [by, out],
            own,
        })
    }

    /// This party's words of the products, once it has heard the numbers.
    pub fn words(&self, common: &Common, mesh: &mut Mesh) -> Result<Vec<u64>> {
        let [of, by] = &self.factors;
        let numbers = match &self.own {
            Some(own) => own.clone(),
            None => {
                let size = bytes_of(of.numbers);
                let mut told = vec![0; size * of.distinct() as usize];
                mesh.recv(self.owner, &mut told)?;
                let number = |bytes: &[u8]| {
                    let mut word = [0; 8];
                    word[..size].copy_from_slice(bytes);
                    extended(u64::from_le_bytes(word), of.numbers.bits, of.numbers.signed)
                };
                told.chunks(size).map(number).collect()
            }
        };
        let numbers = spread(of, &numbers);
        let other = by.gathered();
        let [masks, out] = &self.masks;
        let mut own = out.clone();
        let lanes = own.len();
        for (i, x) in numbers.into_iter().enumerate() {
            let masked = if common.is_first() {
                other.data()[i]
            } else {
                0
            };
            let part = x.wrapping_mul(masked.wrapping_sub(masks[i]));
            let sum = &mut own[i % lanes];
            *sum = plus(self.domain.algebra, *sum, part);
        }
        Ok(own)
    }
}

/// A number from its bits.
fn extended(word: u64, bits: u64, signed: bool) -> u64 {
    let shift = 64 - bits.max(1) as u32;
    if signed {
        ((word << shift) as i64 >> shift) as u64
    } else {
        word << shift >> shift
    }
}

/// An operation on ring elements, of which all parties open their masks.
pub struct RingStep {
    pub op: RingOp,
    pub domain: Domain,
    pub bits: usize,
    pub signed: bool,
    pub bit: Option<Arc<Words>>,
    pub share: Arc<Words>,
}

/// Algebra of the result of an operation on elements of an algebra, and its words for each.
pub fn result_of(op: RingOp, algebra: Algebra) -> (Algebra, usize) {
    match op {
        RingOp::Extract { count, .. } => (Algebra::Z2, count.into()),
        RingOp::Select | RingOp::Floor { .. } => (algebra, 1),
    }
}

impl RingStep {
    /// Masked results, from the sums of the masks of the bits, of the elements and of the results.
    pub(super) fn masked(&self, sums: &Sums) -> Words {
        let (algebra, elements) = (self.domain.algebra, self.share.elements());
        let bits = self.bit.as_ref().map_or(0, |bit| bit.elements());
        let of = self.share.data().iter().zip(&sums.add[bits..]);
        let numbers = of.map(|(m, l)| {
            let word = minus(algebra, *m, *l & mask(algebra));
            extended(word, self.bits as u64, self.signed)
        });
        let floor = |number: u64, by: u32| {
            if self.signed {
                (number as i64 >> by) as u64
            } else {
                number >> by
            }
        };
        let results = match (self.op, &self.bit) {
            (RingOp::Select, bit) => {
                let bit = bit.iter().flat_map(|bit| bit.data()).zip(&sums.xor);
                let chosen = bit.map(|(m, l)| m ^ l).zip(numbers);
                chosen.map(|(bit, number)| bit * number).collect()
            }
            (RingOp::Extract { first, .. }, _) => {
                numbers.map(|number| floor(number, first.into())).collect()
            }
            (RingOp::Floor { by }, _) => {
                let by = u32::from(by);
                let last = |number| {
                    if by > 63 {
                        floor(floor(number, 63), 1)
                    } else {
                        floor(number, by)
                    }
                };
                numbers.map(last).collect::<Vec<_>>()
            }
        };
        let (to, planes) = result_of(self.op, algebra);
        let domain = Domain {
            algebra: to,
            ..self.domain
        };
        let words = encode(domain, planes, &results);
        let masks = match to {
            Algebra::Z2 => &sums.xor[bits + elements..],
            _ => &sums.add[bits + elements..],
        };
        let words = words.iter().zip(masks);
        let words = words.map(|(x, l)| plus(to, *x, *l & mask(to)));
        Planes::new(planes, elements, words.collect())
    }
}
