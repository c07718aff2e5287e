//! OLEs and triples.

use super::Dealer;
use crate::Result;
use crate::traits::{CorrelationSource, clear_rest, packed_blocks};
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
        let mut dealt = || {
            let mut bits = self.dealer.blocks(packed_blocks(count));
            clear_rest(&mut bits, count);
            bits
        };
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
        // A triple is one of matrices of one element.
        let shape = MatrixShape {
            ring,
            rows: 1,
            inner: 1,
            columns: 1,
        };
        let mut triples: MatrixTriples = self.make(mesh, shape, count)?;
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
        let sum = |[one, other]: &[Vec<u64>; 2], at: usize| one[at].wrapping_add(other[at]);
        let rest = random.iter().enumerate().map(|(at, &share)| {
            let (row, column) = (at / columns, at % columns);
            let matrix = row / rows;
            let product = (0..inner).fold(0u64, |product, i| {
                let factor = sum(&b, (matrix * inner + i) * columns + column);
                product.wrapping_add(sum(&a, row * inner + i).wrapping_mul(factor))
            });
            ring.reduce(product.wrapping_sub(share))
        });
        let rest = rest.collect();
        let (a, b, c) = (self.own(a), self.own(b), self.own([random, rest]));
        Ok(MatrixTriples { shape, a, b, c })
    }
}
