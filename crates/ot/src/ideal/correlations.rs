//! OLEs and triples; in a module below, wide triples and what converts and selects.

mod conversions;

use super::Dealer;
use crate::Result;
use crate::traits::{Correlation, CorrelationSource, clear_rest, packed_blocks};
use crate::triples::{ArithmeticTriples, BooleanTriples, MatrixShape, MatrixTriples, Ole, Ring};
use sealane_block::Block;
use sealane_net::Mesh;

/// One of two parties; see the [module](super).
pub struct Party {
    dealer: Dealer,
    /// Number of the party among the two, 0 or 1.
    number: usize,
}

/// Creates two parties who know each other's secrets: for tests alone.
pub fn danger_pair(seed: u64) -> [Party; 2] {
    let [one, other] = Dealer::pair(seed);
    [(one, 0), (other, 1)].map(|(dealer, number)| Party { dealer, number })
}

impl Party {
    fn elements(&mut self, ring: Ring, count: usize) -> Vec<u64> {
        let blocks = self.dealer.blocks(count);
        blocks
            .iter()
            .map(|block| ring.reduce(block.value() as u64))
            .collect()
    }

    /// Packed bits.
    fn bits(&mut self, count: usize) -> Vec<Block> {
        let mut bits = self.dealer.blocks(packed_blocks(count));
        clear_rest(&mut bits, count);
        bits
    }

    /// This party's share of values by addition.
    fn shared(&mut self, ring: Ring, values: impl ExactSizeIterator<Item = u64>) -> Vec<u64> {
        let random = self.elements(ring, values.len());
        let rest = values.zip(&random);
        let rest = rest.map(|(value, share)| ring.reduce(value.wrapping_sub(*share)));
        let rest = rest.collect();
        self.own([random, rest])
    }

    /// This party's of two factors, and its share of a product: the first party's is random.
    fn own<T>(&self, [one, other]: [T; 2]) -> T {
        match self.number {
            0 => one,
            _ => other,
        }
    }
}

impl CorrelationSource<BooleanTriples> for Party {
    fn make(&mut self, _: &mut Mesh, (): (), count: usize) -> Result<BooleanTriples> {
        let mut dealt = || self.bits(count);
        let [a, b] = [(); 2].map(|()| [dealt(), dealt()]);
        let random = dealt();
        let rest = (0..random.len())
            .map(|i| random[i] ^ ((a[0][i] ^ a[1][i]) & (b[0][i] ^ b[1][i])))
            .collect::<Vec<Block>>();
        let (a, b, c) = (self.own(a), self.own(b), self.own([random, rest]));
        Ok(BooleanTriples { count, a, b, c })
    }
}

impl CorrelationSource<Ole> for Party {
    fn make(&mut self, _: &mut Mesh, ring: Ring, count: usize) -> Result<Ole> {
        let factors = [(); 2].map(|()| self.elements(ring, count));
        let random = self.elements(ring, count);
        let rest = (0..count)
            .map(|i| {
                let product = factors[0][i].wrapping_mul(factors[1][i]);
                ring.reduce(product.wrapping_sub(random[i]))
            })
            .collect();
        let (factors, shares) = (self.own(factors), self.own([random, rest]));
        Ok(Ole { factors, shares })
    }
}

impl CorrelationSource<ArithmeticTriples> for Party {
    fn make(&mut self, mesh: &mut Mesh, ring: Ring, count: usize) -> Result<ArithmeticTriples> {
        let mut triples: MatrixTriples = self.make(mesh, single(ring), count)?;
        Ok(ArithmeticTriples {
            ring,
            a: std::mem::take(&mut triples.a),
            b: std::mem::take(&mut triples.b),
            c: std::mem::take(&mut triples.c),
        })
    }
}

impl CorrelationSource<MatrixTriples> for Party {
    fn make(&mut self, _: &mut Mesh, shape: MatrixShape, count: usize) -> Result<MatrixTriples> {
        let MatrixShape {
            ring,
            rows,
            inner,
            columns,
        } = shape;
        let a = [(); 2].map(|()| self.elements(ring, count * rows * inner));
        let b = [(); 2].map(|()| self.elements(ring, count * inner * columns));
        let random = self.elements(ring, count * rows * columns);
        let [sum_a, sum_b] = [&a, &b].map(|[one, other]| sums(ring, [one, other]));
        let rest = products(shape, &sum_a, &sum_b).zip(&random);
        let rest = rest.map(|(product, share)| ring.reduce(product.wrapping_sub(*share)));
        let rest = rest.collect();
        let (a, b, c) = (self.own(a), self.own(b), self.own([random, rest]));
        Ok(MatrixTriples { shape, a, b, c })
    }
}

/// The shape of arithmetic triples, which are those of matrices of one element.
fn single(ring: Ring) -> MatrixShape {
    MatrixShape {
        ring,
        rows: 1,
        inner: 1,
        columns: 1,
    }
}

/// The numbers of which two parties have shares.
fn sums(ring: Ring, [one, other]: [&[u64]; 2]) -> Vec<u64> {
    let sums = one.iter().zip(other).map(|(a, b)| a.wrapping_add(*b));
    sums.map(|sum| ring.reduce(sum)).collect()
}

/// The products of matrices `a` and `b`, which lie one after another.
fn products(shape: MatrixShape, a: &[u64], b: &[u64]) -> impl Iterator<Item = u64> {
    let MatrixShape {
        ring,
        rows,
        inner,
        columns,
    } = shape;
    let matrices = a.chunks(rows * inner).zip(b.chunks(inner * columns));
    matrices.flat_map(move |(a, b)| {
        a.chunks(inner).flat_map(move |row| {
            (0..columns).map(move |column| {
                let factors = row.iter().zip(b.iter().skip(column).step_by(columns));
                let products = factors.map(|(x, y)| x.wrapping_mul(*y));
                ring.reduce(products.fold(0, u64::wrapping_add))
            })
        })
    })
}

/// Correlations that can be held against their functionality, where both parties' are known.
pub trait Checked: Correlation {
    /// Returns what is wrong with so many correlations of two parties, if anything is.
    fn wrong(kind: Self::Parameters, count: usize, parties: [&Self; 2]) -> Option<String>;
}

/// Returns what both parties have instead of so many elements of the ring, if anything else.
fn wrong_elements(values: [&[u64]; 2], ring: Ring, count: usize) -> Option<String> {
    if values.iter().any(|values| values.len() != count) {
        return Some(format!("there are not {count} elements of each party"));
    }
    let mut all = values.into_iter().flatten();
    let outside = all.any(|value| ring.reduce(*value) != *value);
    outside.then(|| "a value is no element of the ring".to_string())
}

/// The first value that is not as expected.
fn first_wrong(shares: [&[u64]; 2], ring: Ring, expected: Vec<u64>) -> Option<String> {
    let wrong = wrong_elements(shares, ring, expected.len());
    if wrong.is_some() {
        return wrong;
    }
    let mut pairs = sums(ring, shares).into_iter().zip(expected);
    let place = pairs.position(|(found, expected)| found != expected)?;
    Some(format!("product {place} is wrong"))
}

impl Checked for BooleanTriples {
    fn wrong((): (), count: usize, [one, two]: [&Self; 2]) -> Option<String> {
        let parts = [&one.a, &one.b, &one.c, &two.a, &two.b, &two.c];
        if [one.count(), two.count()] != [count; 2] {
            return Some(format!("there are not {count} triples"));
        }
        wrong_bits(count, parts).or_else(|| wrong_bit_products(count, parts))
    }
}

/// Returns what is wrong with parts that should be so many packed bits.
fn wrong_bits<'a>(count: usize, parts: impl IntoIterator<Item = &'a Vec<Block>>) -> Option<String> {
    let blocks = packed_blocks(count);
    parts.into_iter().find_map(|part| {
        if part.len() != blocks {
            return Some(format!("there are not {count} bits of each kind"));
        }
        let rest = match count % 128 {
            0 => 0,
            last => part[blocks - 1].value() >> last,
        };
        (rest != 0).then(|| "bits behind the last one are not 0".to_string())
    })
}

/// Returns where the third parts are not shares of the products of the first and second, those of
/// one party before those of the other.
fn wrong_bit_products(count: usize, parts: [&Vec<Block>; 6]) -> Option<String> {
    let place = (0..packed_blocks(count)).find(|&i| {
        let [a, b, c] = [0, 1, 2].map(|part| parts[part][i] ^ parts[part + 3][i]);
        c.value() != (a & b).value()
    })?;
    Some(format!("block {place} of triples is wrong"))
}

impl Checked for Ole {
    fn wrong(ring: Ring, count: usize, [one, two]: [&Self; 2]) -> Option<String> {
        let pairs = one.factors.iter().zip(&two.factors);
        let expected = pairs.map(|(x, y)| ring.reduce(x.wrapping_mul(*y)));
        wrong_elements([&one.factors, &two.factors], ring, count)
            .or_else(|| first_wrong([&one.shares, &two.shares], ring, expected.collect()))
    }
}

impl Checked for ArithmeticTriples {
    fn wrong(ring: Ring, count: usize, [one, two]: [&Self; 2]) -> Option<String> {
        if [one.ring(), two.ring()] != [ring; 2] {
            return Some("they are of another ring".to_string());
        }
        let factors = [[&one.a, &two.a], [&one.b, &two.b]];
        wrong_products(single(ring), count, factors, [&one.c, &two.c])
    }
}

impl Checked for MatrixTriples {
    fn wrong(shape: MatrixShape, count: usize, [one, two]: [&Self; 2]) -> Option<String> {
        if [one.shape(), two.shape()] != [shape; 2] {
            return Some("they are of another shape".to_string());
        }
        let factors = [[&one.a, &two.a], [&one.b, &two.b]];
        wrong_products(shape, count, factors, [&one.c, &two.c])
    }
}

fn wrong_products(
    shape: MatrixShape,
    count: usize,
    factors: [[&Vec<u64>; 2]; 2],
    shares: [&Vec<u64>; 2],
) -> Option<String> {
    let [a, b] = factors.map(|both| both.map(|values| &values[..]));
    wrong_elements(a, shape.ring, count * shape.rows * shape.inner)
        .or_else(|| wrong_elements(b, shape.ring, count * shape.inner * shape.columns))
        .or_else(|| {
            let [a, b] = [a, b].map(|both| sums(shape.ring, both));
            let expected = products(shape, &a, &b).collect();
            first_wrong(shares.map(|shares| &shares[..]), shape.ring, expected)
        })
}
