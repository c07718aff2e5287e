//! Shapes: an optional symbolic first dimension, then fixed ones.

use serde::Serialize;

/// A first dimension whose length is known only at run time: the number of rows of a table.
/// An index into [`crate::graph::Program::rows`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct RowId(pub u16);

/// The shape of a value: an optional symbolic first dimension, then fixed ones. A scalar has none.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
pub struct Shape {
    /// The symbolic first dimension, if there is one.
    pub rows: Option<RowId>,
    /// The fixed dimensions that follow, outermost first.
    pub fixed: Vec<u64>,
}

impl Shape {
    /// The shape of one element.
    pub fn scalar() -> Shape {
        Shape::default()
    }

    /// A shape without a symbolic dimension.
    pub fn fixed(fixed: impl Into<Vec<u64>>) -> Shape {
        Shape {
            rows: None,
            fixed: fixed.into(),
        }
    }

    /// A shape whose first dimension is symbolic.
    pub fn with_rows(rows: RowId, fixed: impl Into<Vec<u64>>) -> Shape {
        Shape {
            rows: Some(rows),
            fixed: fixed.into(),
        }
    }

    /// Number of dimensions, the symbolic one included.
    pub fn rank(&self) -> usize {
        usize::from(self.rows.is_some()) + self.fixed.len()
    }

    /// Elements in one row: the product of the fixed dimensions; `None` above `u64`.
    pub fn row_elements(&self) -> Option<u64> {
        self.fixed
            .iter()
            .try_fold(1u64, |product, &n| product.checked_mul(n))
    }

    /// The dimension `axis`, counted with the symbolic one.
    pub fn dim(&self, axis: usize) -> Option<Dim> {
        match (self.rows, axis) {
            (Some(rows), 0) => Some(Dim::Rows(rows)),
            (Some(_), _) => self.fixed.get(axis - 1).copied().map(Dim::Fixed),
            (None, _) => self.fixed.get(axis).copied().map(Dim::Fixed),
        }
    }

    /// The shape without dimension `axis`, counted with the symbolic one. `axis` is below the rank.
    pub fn without(&self, axis: usize) -> Shape {
        let mut shape = self.clone();
        match (self.rows, axis) {
            (Some(_), 0) => shape.rows = None,
            (Some(_), _) => drop(shape.fixed.remove(axis - 1)),
            (None, _) => drop(shape.fixed.remove(axis)),
        }
        shape
    }
}

/// One dimension of a [`Shape`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dim {
    /// The symbolic first one.
    Rows(RowId),
    /// One of known length.
    Fixed(u64),
}
