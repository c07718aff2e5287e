//! Wide triples, bits in two sharings, selects and known products.

use super::{Checked, Party, sums, wrong_bit_products, wrong_bits, wrong_elements};
use crate::Result;
use crate::traits::{CorrelationSource, choice, packed_blocks};
use crate::triples::{DaBits, KnownProducts, KnownShape, Ring, Selects, WideTriples};
use sealane_block::Block;
use sealane_net::Mesh;

impl CorrelationSource<WideTriples> for Party {
    fn make(&mut self, _: &mut Mesh, width: usize, count: usize) -> Result<WideTriples> {
        let a = [self.bits(count), self.bits(count)];
        let (mut own_b, mut own_c) = (Vec::new(), Vec::new());
        for _ in 0..width {
            let b = [self.bits(count), self.bits(count)];
            let random = self.bits(count);
            let product = |i: usize| (a[0][i] ^ a[1][i]) & (b[0][i] ^ b[1][i]);
            let rest = (0..packed_blocks(count)).map(|i| random[i] ^ product(i));
            let rest = rest.collect();
            own_b.push(self.own(b));
            own_c.push(self.own([random, rest]));
        }
        let (a, b, c) = (self.own(a), own_b, own_c);
        Ok(WideTriples { count, a, b, c })
    }
}

/// The bits that two parties share, as numbers.
fn numbers(bits: [&[Block]; 2], count: usize) -> impl ExactSizeIterator<Item = u64> {
    let [one, other] = bits;
    (0..count).map(|j| u64::from(choice(one, j) ^ choice(other, j)))
}

impl CorrelationSource<DaBits> for Party {
    fn make(&mut self, _: &mut Mesh, ring: Ring, count: usize) -> Result<DaBits> {
        let bits = [self.bits(count), self.bits(count)];
        let elements = self.shared(ring, numbers([&bits[0], &bits[1]], count));
        let bits = self.own(bits);
        Ok(DaBits {
            ring,
            bits,
            elements,
        })
    }
}

impl CorrelationSource<Selects> for Party {
    fn make(&mut self, _: &mut Mesh, ring: Ring, count: usize) -> Result<Selects> {
        let bits = [self.bits(count), self.bits(count)];
        let factors = [(); 2].map(|()| self.elements(ring, count));
        let shared = || numbers([&bits[0], &bits[1]], count);
        let elements = self.shared(ring, shared());
        let sums = sums(ring, [&factors[0], &factors[1]]);
        let products = shared().zip(&sums).map(|(bit, factor)| bit * factor);
        let products = self.shared(ring, products);
        let (bits, factors) = (self.own(bits), self.own(factors));
        Ok(Selects {
            ring,
            bits,
            elements,
            factors,
            products,
        })
    }
}

/// The products of known numbers, each with the ring modulo which it is shared.
fn known_products(
    shape: KnownShape,
    numbers: &[u64],
    elements: &[u64],
) -> impl Iterator<Item = (Ring, u64)> {
    let elements = elements.chunks(shape.partners);
    numbers.iter().zip(elements).flat_map(move |(x, elements)| {
        (0..shape.choice_bits).flat_map(move |i| {
            let ring = Ring::new(shape.ring.bits() - i);
            let product = move |y: &u64| (ring, ring.reduce((x >> i & 1) * y));
            elements.iter().map(product)
        })
    })
}

/// The second party is the holder of the numbers, as the receiver of OTs.
impl CorrelationSource<KnownProducts> for Party {
    fn make(&mut self, _: &mut Mesh, shape: KnownShape, count: usize) -> Result<KnownProducts> {
        let numbers = self.elements(Ring::new(shape.choice_bits), count);
        let elements = self.elements(shape.ring, count * shape.partners);
        let mut shares = Vec::new();
        for (ring, product) in known_products(shape, &numbers, &elements) {
            shares.extend(self.shared(ring, [product].into_iter()));
        }
        let factors = self.own([elements, numbers]);
        Ok(KnownProducts {
            shape,
            factors,
            shares,
        })
    }
}

impl Checked for WideTriples {
    fn wrong(width: usize, count: usize, [one, two]: [&Self; 2]) -> Option<String> {
        let widths = [&one.b, &one.c, &two.b, &two.c].map(|planes| planes.len());
        if [one.count(), two.count()] != [count; 2] || widths != [width; 4] {
            return Some(format!("there are not {count} triples of width {width}"));
        }
        (0..width).find_map(|j| {
            let [one, two] = [one, two].map(|party| [&party.a, &party.b[j], &party.c[j]]);
            let parts = [one[0], one[1], one[2], two[0], two[1], two[2]];
            wrong_bits(count, parts).or_else(|| wrong_bit_products(count, parts))
        })
    }
}

/// Returns what is wrong with bits in two sharings.
fn wrong_bits_and_elements(
    ring: Ring,
    count: usize,
    bits: [&Vec<Block>; 2],
    elements: [&[u64]; 2],
) -> Option<String> {
    wrong_bits(count, bits).or_else(|| {
        let expected = numbers([bits[0], bits[1]], count).collect();
        super::first_wrong(elements, ring, expected)
    })
}

impl Checked for DaBits {
    fn wrong(ring: Ring, count: usize, [one, two]: [&Self; 2]) -> Option<String> {
        if [one.ring(), two.ring()] != [ring; 2] {
            return Some("they are of another ring".to_string());
        }
        let elements = [&one.elements[..], &two.elements];
        wrong_bits_and_elements(ring, count, [&one.bits, &two.bits], elements)
    }
}

impl Checked for Selects {
    fn wrong(ring: Ring, count: usize, [one, two]: [&Self; 2]) -> Option<String> {
        if [one.ring(), two.ring()] != [ring; 2] {
            return Some("they are of another ring".to_string());
        }
        let (bits, elements) = ([&one.bits, &two.bits], [&one.elements[..], &two.elements]);
        let factors = [&one.factors[..], &two.factors];
        wrong_bits_and_elements(ring, count, bits, elements)
            .or_else(|| wrong_elements(factors, ring, count))
            .or_else(|| {
                let bits = numbers([bits[0], bits[1]], count);
                let factors = sums(ring, factors);
                let expected = bits.zip(factors).map(|(bit, factor)| bit * factor);
                super::first_wrong([&one.products, &two.products], ring, expected.collect())
            })
    }
}

impl Checked for KnownProducts {
    fn wrong(shape: KnownShape, count: usize, [one, two]: [&Self; 2]) -> Option<String> {
        if [one.shape(), two.shape()] != [shape; 2] {
            return Some("they are of another shape".to_string());
        }
        let lengths = [one.shares.len(), two.shares.len()];
        if lengths != [count * shape.choice_bits as usize * shape.partners; 2] {
            return Some(format!("there are not the products of {count} numbers"));
        }
        let numbers = [&two.factors[..]; 2];
        let elements = [&one.factors[..]; 2];
        wrong_elements(numbers, Ring::new(shape.choice_bits), count)
            .or_else(|| wrong_elements(elements, shape.ring, count * shape.partners))
            .or_else(|| {
                let expected = known_products(shape, &two.factors, &one.factors);
                let mut shares = one.shares.iter().zip(&two.shares).zip(expected);
                let place = shares.position(|((x, y), (ring, product))| {
                    let reduced = [*x, *y].map(|share| ring.reduce(share)) == [*x, *y];
                    !reduced || ring.reduce(x.wrapping_add(*y)) != product
                })?;
                Some(format!("product {place} is wrong"))
            })
    }
}
