//! Matrix triples.

use super::crossed::BothDirections;
use super::outer::OuterShape;
use super::{BothWays, Ring, in_parts};
use crate::Result;
use crate::flights::Flights;
use crate::traits::{Correlation, CorrelationSource, CotCost, CotReceiver, CotSender};
use sealane_net::Mesh;
use zeroize::{Zeroize, ZeroizeOnDrop};

/// Sides of the matrices of a triple: `A` is `rows` by `inner`, `B` `inner` by `columns`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MatrixShape {
    /// The ring of the elements.
    pub ring: Ring,
    /// Rows of the product.
    pub rows: usize,
    /// The side that is summed over.
    pub inner: usize,
    /// Columns of the product.
    pub columns: usize,
}

impl MatrixShape {
    /// Returns true if the product is made transposed, so that the shorter of `rows` and `columns`
    /// is the one of which every bit takes an OT.
    fn transposed(self) -> bool {
        self.rows < self.columns
    }

    pub(super) fn one_way(self) -> OuterShape {
        OuterShape {
            ring: self.ring,
            choice_bits: self.ring.bits(),
            each_bit: false,
            left: self.rows.max(self.columns),
            inner: self.inner,
            right: self.rows.min(self.columns),
        }
    }

    pub(super) fn checked(self) -> MatrixShape {
        let sides = [self.rows, self.inner, self.columns];
        assert!(sides.iter().all(|&side| side > 0), "no side is 0");
        self
    }
}

/// One party's shares of matrix triples of one shape: random matrices `A` and `B`, and `C`, the
/// product of the sums of both parties' `A` and `B`, shared alike. All wraps around modulo `2^k`.
/// Matrices lie by rows, one after another.
///
/// **Semi-honest**: a party that deviates makes products wrong, and nothing notices.
///
/// In each direction a triple of `m` by `n` and `n` by `p` takes `n min(m, p) k` correlated OTs and
/// `n max(m, p) (min(m, p) k (k + 1) / 2 - k)` bits. While it is made, 16 bytes of memory are in
/// use for each OT.
#[derive(Zeroize, ZeroizeOnDrop)]
pub struct MatrixTriples {
    #[zeroize(skip)]
    pub(crate) shape: MatrixShape,
    /// Shares of the first factors, `rows` by `inner`.
    pub a: Vec<u64>,
    /// Shares of the second factors, `inner` by `columns`.
    pub b: Vec<u64>,
    /// Shares of the products, `rows` by `columns`.
    pub c: Vec<u64>,
}

impl MatrixTriples {
    /// The shape of all triples.
    pub fn shape(&self) -> MatrixShape {
        self.shape
    }

    /// The triples whose products were made.
    pub(super) fn of(shape: MatrixShape, made: BothDirections) -> MatrixTriples {
        let [mut sent, mut received] = made.finish();
        let OuterShape {
            ring,
            left,
            inner,
            right,
            ..
        } = shape.one_way();
        for (c, &other) in sent.shares.iter_mut().zip(&received.shares) {
            *c = c.wrapping_add(other);
        }
        // The own columns by the own rows.
        let columns = sent.own.chunks(left * inner);
        let rows = received.own.chunks(inner * right);
        let products = sent.shares.chunks_mut(left * right);
        for ((columns, rows), product) in columns.zip(rows).zip(products) {
            for (column, row) in columns.chunks(left).zip(rows.chunks(right)) {
                for (&x, product) in column.iter().zip(product.chunks_mut(right)) {
                    for (c, &y) in product.iter_mut().zip(row) {
                        *c = c.wrapping_add(x.wrapping_mul(y));
                    }
                }
            }
        }
        let [columns, rows, product] = [&mut sent.own, &mut received.own, &mut sent.shares];
        product.iter_mut().for_each(|c| *c = ring.reduce(*c));
        let take = std::mem::take::<Vec<u64>>;
        // Columns are the rows of a transposed matrix.
        if !shape.transposed() {
            transpose(columns, inner, left);
            let (a, b, c) = (take(columns), take(rows), take(product));
            MatrixTriples { shape, a, b, c }
        } else {
            transpose(rows, inner, right);
            transpose(product, left, right);
            let (a, b, c) = (take(rows), take(columns), take(product));
            MatrixTriples { shape, a, b, c }
        }
    }
}

impl Correlation for MatrixTriples {
    type Parameters = MatrixShape;

    fn flights<C: CotCost + ?Sized>(
        cot: &C,
        before: u64,
        shape: MatrixShape,
        count: u64,
    ) -> Flights {
        BothDirections::flights(cot, before, shape.checked().one_way(), count as usize)
    }
}

impl<S: CotSender, R: CotReceiver> CorrelationSource<MatrixTriples> for BothWays<S, R> {
    /// # Panics
    /// If a side is 0.
    fn make(&mut self, mesh: &mut Mesh, shape: MatrixShape, count: usize) -> Result<MatrixTriples> {
        let mut made = BothDirections::new(self, shape.checked().one_way(), count);
        in_parts::make(self, mesh, &mut [&mut made])?;
        Ok(MatrixTriples::of(shape, made))
    }
}

/// Transposes matrices of `rows` by `columns` that lie one after another.
fn transpose(matrices: &mut [u64], rows: usize, columns: usize) {
    let mut before = zeroize::Zeroizing::new(vec![0; rows * columns]);
    for matrix in matrices.chunks_mut(rows * columns) {
        before.copy_from_slice(matrix);
        for (i, value) in before.iter().enumerate() {
            matrix[i % columns * rows + i / columns] = *value;
        }
    }
}
