//! Products of numbers that a party knows, operations on ring elements, and conversions, in the
//! online walk.

use super::pools::{held, layout};
use super::products::lines;
use super::{
    Common, Material, Sums, Words, bytes_of, decode, encode, is_masked, mask, minus, planes_of,
    plus,
};
use sealane_net::Mesh;
use sealane_parties::PartyId;
use sealane_party::{Fault, Planes, Result, Selected, Shares};
use sealane_protocol::{Algebra, Correlation, Domain, Numbers, RingOp, Sharing};

/// Pairs of elements that a product multiplies, of numbers that a party knows and of others.
pub struct Pairs {
    /// The numbers; in a matrix product each once, elsewhere once for each pair.
    pub chosen: Vec<u64>,
    /// The elements that each of them meets, all as many.
    pub others: Vec<u64>,
    /// The pairs of each lane, by places in `others`.
    lanes: Vec<Vec<usize>>,
}

impl Pairs {
    /// The pairs of a product, the operand that a party knows first.
    pub fn of(known: &Selected<Words>, other: &Selected<Words>) -> Pairs {
        let [(mut rows, row_of), (columns, column_of)] = [known, other].map(lines);
        let (lanes, terms) = (known.lanes(), known.planes());
        let counts = [known, other].map(|operand| operand.lines() as usize);
        let whole = counts[0] * counts[1] == lanes;
        let zeros = vec![0; terms];
        if whole {
            // Where views overlap there may be fewer than the plan counts.
            rows.resize(counts[0], zeros.clone());
        } else {
            rows = row_of.iter().map(|row| rows[*row].clone()).collect();
        }
        let partners = if whole { counts[1] } else { 1 };
        let place = |lane: usize, term: usize| {
            if whole {
                (row_of[lane] * terms + term) * partners + column_of[lane]
            } else {
                lane * terms + term
            }
        };
        let mut others = Vec::new();
        let met = |row: usize, term: usize, at: usize| {
            let column = if whole { at } else { column_of[row] };
            columns.get(column).unwrap_or(&zeros)[term]
        };
        for row in 0..rows.len() {
            for term in 0..terms {
                others.extend((0..partners).map(|at| met(row, term, at)));
            }
        }
        let pairs = |lane| (0..terms).map(|term| place(lane, term)).collect();
        Pairs {
            chosen: rows.concat(),
            others,
            lanes: (0..lanes).map(pairs).collect(),
        }
    }
}

/// The party that knows the bits of a correlation.
fn known_to(kind: Correlation) -> Option<PartyId> {
    held(kind).0
}

/// Number of those bits, and of all words of the correlation.
fn sizes(kind: Correlation) -> (usize, usize) {
    (held(kind).1, layout(kind).len())
}

/// The random elements of such correlations.
pub fn random_elements(kind: Correlation, words: &[u64]) -> Vec<u64> {
    let (bits, size) = sizes(kind);
    let elements = |words: &[u64]| {
        let elements = words[bits..].chunks(1 + bits);
        elements.map(|of| of[0]).collect::<Vec<_>>()
    };
    words.chunks(size).flat_map(elements).collect()
}

/// A product of numbers that a party knows.
pub struct KnownProduct {
    domain: Domain,
    kind: Correlation,
    numbers: Numbers,
    pairs: Pairs,
    material: [Vec<u64>; 4],
    /// The numbers, at the party that knows them, and their bits xor the random ones.
    own: Option<[Vec<u64>; 2]>,
}

impl KnownProduct {
    /// Begins a product: the owner tells all others the bits of its numbers, each xor a random one
    /// that it alone knows.
    pub fn begin(
        common: &Common,
        (domain, kind): (Domain, Correlation),
        factors: [Selected<Words>; 2],
        material: Material,
        mesh: &mut Mesh,
    ) -> Result<KnownProduct> {
        let material = <[Vec<u64>; 4]>::try_from(material.0);
        let material = material.map_err(|_| Fault::internal("other masks were prepared"))?;
        let (numbers, algebra) = (factors[0].numbers, domain.algebra);
        let pairs = Pairs::of(&factors[0], &factors[1]);
        let (bits, size) = sizes(kind);
        let own = (known_to(kind) == Some(common.me)).then(|| {
            let masked = pairs.chosen.iter().zip(&material[0]);
            let plain = masked.map(|(m, l)| minus(algebra, *m, *l));
            let plain = plain.collect::<Vec<_>>();
            let random = material[1].chunks(size).map(|words| {
                let bits = words[..bits].iter().rev();
                bits.fold(0, |word, bit| word << 1 | bit)
            });
            let told = plain.iter().zip(random).map(|(x, r)| x ^ r);
            [plain.clone(), told.collect()]
        });
        if let Some([_, told]) = &own {
            let bytes = told.iter().flat_map(|word| {
                let bytes = word.to_le_bytes().into_iter();
                bytes.take(bytes_of(numbers))
            });
            let bytes = bytes.collect::<Vec<_>>();
            for to in common.others() {
                mesh.send(to, &bytes)?;
            }
        }
        Ok(KnownProduct {
            domain,
            kind,
            numbers,
            pairs,
            material,
            own,
        })
    }

    /// This party's words of the products, once it has heard the numbers.
    pub fn words(&self, mesh: &mut Mesh) -> Result<Vec<u64>> {
        let told = match (&self.own, known_to(self.kind)) {
            (Some([_, told]), _) => told.clone(),
            (None, Some(owner)) => {
                let size = bytes_of(self.numbers);
                let mut told = vec![0; size * self.pairs.chosen.len()];
                mesh.recv(owner, &mut told)?;
                let word = |bytes: &[u8]| {
                    let mut word = [0; 8];
                    word[..size].copy_from_slice(bytes);
                    u64::from_le_bytes(word)
                };
                told.chunks(size).map(word).collect()
            }
            (None, None) => return Err(Fault::internal("nobody knows these numbers")),
        };
        let (bits, size) = sizes(self.kind);
        let [_, words, opened, out] = &self.material;
        let partners = (size - bits) / (1 + bits);
        // The number times the other element less its mask is its owner's, the rest is shared.
        let part = |at: usize| {
            let (number, partner) = (at / partners, at % partners);
            let taken = &words[number * size + bits + partner * (1 + bits)..][..1 + bits];
            let less = (0..bits).fold(0u64, |sum, bit| {
                let part = if told[number] >> bit & 1 == 0 {
                    taken[1 + bit]
                } else {
                    taken[0].wrapping_sub(taken[1 + bit])
                };
                let part = part << bit;
                if self.numbers.signed && bit + 1 == bits {
                    sum.wrapping_sub(part)
                } else {
                    sum.wrapping_add(part)
                }
            });
            let own = self.own.as_ref().map_or(0, |[numbers, _]| {
                let other = self.pairs.others[at].wrapping_sub(opened[at]);
                numbers[number].wrapping_mul(other)
            });
            own.wrapping_sub(less)
        };
        let lane = |(pairs, out): (&Vec<usize>, &u64)| {
            let sum = |sum: u64, at: &usize| sum.wrapping_add(part(*at));
            pairs.iter().fold(*out, sum) & mask(self.domain.algebra)
        };
        Ok(self.pairs.lanes.iter().zip(out).map(lane).collect())
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

/// Algebra of the result of an operation on elements of an algebra, and its words for each.
pub fn result_of(op: RingOp, algebra: Algebra) -> (Algebra, usize) {
    match op {
        RingOp::Extract { count, .. } => (Algebra::Z2, count.into()),
        RingOp::Select | RingOp::Floor { .. } => (algebra, 1),
    }
}

/// This party's words of ring elements times masked bits: of the products of what is left when
/// masks are taken off both.
pub(super) fn chosen(
    common: &Common,
    algebra: Algebra,
    [bits, elements]: [&Words; 2],
    material: &Material,
) -> Result<Vec<u64>> {
    let [bit_masks, masks, products, out] = &material.0[..] else {
        return Err(Fault::internal("other masks were prepared"));
    };
    let word = |i: usize| {
        let (bit, element) = (bits.data()[i], elements.data()[i]);
        let factor = common.xored(algebra, bit, bit_masks[i]);
        let less = if bit == 0 {
            products[i]
        } else {
            minus(algebra, masks[i], products[i])
        };
        let product = minus(algebra, factor.wrapping_mul(element), less);
        plus(algebra, product, out[i])
    };
    Ok((0..out.len()).map(word).collect())
}

/// Masked results of an operation on ring elements, from the sums of the masks of the elements and
/// of the results, which all parties open.
pub(super) fn ring_step(
    op: RingOp,
    domain: Domain,
    (bits, signed): (usize, bool),
    share: &Words,
    sums: &Sums,
) -> Words {
    let (algebra, elements) = (domain.algebra, share.elements());
    let of = share.data().iter().zip(&sums.add);
    let numbers = of.map(|(m, l)| {
        let word = minus(algebra, *m, *l & mask(algebra));
        extended(word, bits as u64, signed)
    });
    let floor = |number: u64, by: u32| {
        if signed {
            (number as i64 >> by) as u64
        } else {
            number >> by
        }
    };
    let results = match op {
        // It has a correlation of its own.
        RingOp::Select => vec![],
        RingOp::Extract { first, .. } => {
            numbers.map(|number| floor(number, first.into())).collect()
        }
        RingOp::Floor { by } => {
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
    let (to, planes) = result_of(op, algebra);
    let domain = Domain {
        algebra: to,
        ..domain
    };
    let words = encode(domain, planes, &results);
    let masks = match to {
        Algebra::Z2 => &sums.xor[elements..],
        _ => &sums.add[elements..],
    };
    let words = words.iter().zip(masks);
    let words = words.map(|(x, l)| plus(to, *x, *l & mask(to)));
    Planes::new(planes, elements, words.collect())
}

/// Masked values of the target domain of a conversion, from the sums of what all parties broadcast:
/// the masks before and after, or XOR shares plus new masks.
pub(super) fn convert(
    [from, to]: [Domain; 2],
    (bits, signed): (usize, bool),
    share: &Words,
    sums: &Sums,
) -> Words {
    let elements = share.elements();
    let planes = planes_of(to, bits);
    if !is_masked(from) && to.algebra == Algebra::Z2 {
        return Planes::new(planes, elements, sums.xor.clone());
    }
    let before = share.data().len();
    let sum = |algebra, range: std::ops::Range<usize>| match algebra {
        Algebra::Z2 => sums.xor[range].to_vec(),
        ring => sums.add[range].iter().map(|sum| sum & mask(ring)).collect(),
    };
    let old = sum(from.algebra, 0..before);
    let new = sum(to.algebra, before..sums.xor.len());
    let pairs = share.data().iter().zip(&old);
    let masked = |(m, l): (&u64, &u64)| minus(from.algebra, *m, *l);
    let plain = match from.sharing {
        Sharing::Masked => pairs.map(masked).collect(),
        _ => old.clone(),
    };
    let values = decode(from, share.planes(), &plain).into_iter();
    let values = values.map(|value| match from.algebra {
        Algebra::Z2 if signed && bits > 0 => {
            let shift = 64 - bits as u32;
            ((value << shift) as i64 >> shift) as u64
        }
        _ => value,
    });
    let words = encode(to, bits, &values.collect::<Vec<_>>());
    let words = words.iter().zip(&new);
    let words = words.map(|(x, l)| plus(to.algebra, *x, *l));
    Planes::new(planes, elements, words.collect())
}
