//! Placement of a value's elements in a stored tensor, or in a table of public numbers: slices,
//! broadcasts and reductions change strides, not data.

use crate::draft::{Read, TensorId};
use crate::steps::{Len, SymView};
use sealane_program::types::Shape;

/// Placement of a value: one (length, stride) pair for each of its dimensions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Placement<S = TensorId> {
    /// Tensor or table that holds the elements.
    pub store: S,
    pub offset: u64,
    pub dims: Vec<(Len, u64)>,
}

/// Dimensions of a shape.
pub(crate) fn lens(shape: &Shape) -> Vec<Len> {
    let rows = shape.rows.map(|_| Len::Rows);
    rows.into_iter()
        .chain(shape.fixed.iter().map(|&n| Len::Fixed(n)))
        .collect()
}

/// Row-major strides.
fn row_major(dims: &[Len]) -> Vec<(Len, u64)> {
    let mut stride = 1;
    let pair = |&dim: &Len| {
        let pair = (dim, stride);
        // The rows are outermost: nothing multiplies their number.
        stride *= match dim {
            Len::Fixed(length) => length,
            Len::Rows => 1,
        };
        pair
    };
    let mut pairs = dims.iter().rev().map(pair).collect::<Vec<_>>();
    pairs.reverse();
    pairs
}

impl<S> Placement<S> {
    /// Places a value over the whole tensor in its stored order.
    pub fn whole(store: S, dims: &[Len]) -> Placement<S> {
        Placement {
            store,
            offset: 0,
            dims: row_major(dims),
        }
    }

    /// Returns whether the value is the stored tensor of `elements` elements per row, in its order.
    pub fn is_whole(&self, elements: u64) -> bool {
        let dims = self.dims.iter().map(|(len, _)| *len).collect::<Vec<_>>();
        let same = |((len, have), (_, want)): (&(Len, u64), &(Len, u64))| {
            *len == Len::Fixed(1) || have == want
        };
        let count = dims.iter().map(|len| len.at(1)).product::<u64>();
        self.offset == 0 && count == elements && self.dims.iter().zip(&row_major(&dims)).all(same)
    }

    /// Takes elements `start..start + len` of one dimension; with `squeeze` the dimension
    /// disappears.
    pub fn slice(mut self, axis: usize, start: u64, len: u64, squeeze: bool) -> Placement<S> {
        self.offset += start * self.dims[axis].1;
        if squeeze {
            self.dims.remove(axis);
        } else {
            self.dims[axis].0 = Len::Fixed(len);
        }
        self
    }

    /// Moves the innermost dimension to `axis`.
    pub fn move_last_to(mut self, axis: usize) -> Placement<S> {
        if let Some(last) = self.dims.pop() {
            self.dims.insert(axis, last);
        }
        self
    }

    /// Adds a dimension of length 1 at `axis`.
    pub fn with_axis(mut self, axis: usize) -> Placement<S> {
        self.dims.insert(axis, (Len::Fixed(1), 0));
        self
    }

    /// Makes `axis` the outermost dimension.
    pub fn move_to_first(mut self, axis: usize) -> Placement<S> {
        let first = self.dims.remove(axis);
        self.dims.insert(0, first);
        self
    }

    /// Makes `axis` the innermost dimension.
    pub fn move_to_last(mut self, axis: usize) -> Placement<S> {
        let last = self.dims.remove(axis);
        self.dims.push(last);
        self
    }

    /// Returns for each lane the innermost `inner` dimensions; the others are broadcast to `lanes`:
    /// aligned at the end, repeated where they are absent or of length 1.
    pub fn views(&self, lanes: &[Len], inner: usize) -> [SymView; 2] {
        let (outer, inner) = self.dims.split_at(self.dims.len() - inner);
        let missing = lanes.len() - outer.len();
        let stretch = |(at, &lane): (usize, &Len)| match at.checked_sub(missing) {
            Some(at) if outer[at].0 == lane => (lane, outer[at].1),
            _ => (lane, 0),
        };
        let lanes = SymView {
            offset: self.offset,
            dims: lanes.iter().enumerate().map(stretch).collect(),
        };
        let inner = SymView {
            offset: 0,
            dims: inner.to_vec(),
        };
        [lanes, inner]
    }
}

impl Placement {
    /// Returns the operand of a unit over `lanes`: the [`Placement::views`] of its value.
    pub fn read(&self, lanes: &[Len], inner: usize) -> Read {
        let tensor = self.store;
        let [lanes, inner] = self.views(lanes, inner);
        Read {
            tensor,
            lanes,
            inner,
        }
    }
}
