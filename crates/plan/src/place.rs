//! Where the elements of a value lie in a stored tensor, or in a table of public numbers: slices,
//! broadcasts and reductions move strides, not data.

use crate::draft::{Read, TensorId};
use crate::steps::{Len, SymView};
use sealane_program::types::Shape;

/// The elements of a value: one (length, stride) pair for each dimension of the value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Placement<S = TensorId> {
    /// What they lie in.
    pub store: S,
    pub offset: u64,
    pub dims: Vec<(Len, u64)>,
}

/// The dimensions of a shape.
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
    /// Everything, as it is stored.
    pub fn whole(store: S, dims: &[Len]) -> Placement<S> {
        Placement {
            store,
            offset: 0,
            dims: row_major(dims),
        }
    }

    /// Whether the value is the stored tensor of `elements` elements a row, in its order.
    pub fn is_whole(&self, elements: u64) -> bool {
        let dims = self.dims.iter().map(|(len, _)| *len).collect::<Vec<_>>();
        let same = |((len, have), (_, want)): (&(Len, u64), &(Len, u64))| {
            *len == Len::Fixed(1) || have == want
        };
        let count = dims.iter().map(|len| len.at(1)).product::<u64>();
        self.offset == 0 && count == elements && self.dims.iter().zip(&row_major(&dims)).all(same)
    }

    /// Elements `start..start + len` of one dimension; with `squeeze` it disappears.
    pub fn slice(mut self, axis: usize, start: u64, len: u64, squeeze: bool) -> Placement<S> {
        self.offset += start * self.dims[axis].1;
        if squeeze {
            self.dims.remove(axis);
        } else {
            self.dims[axis].0 = Len::Fixed(len);
        }
        self
    }

    /// The innermost dimension becomes dimension `axis`.
    pub fn move_last_to(mut self, axis: usize) -> Placement<S> {
        if let Some(last) = self.dims.pop() {
            self.dims.insert(axis, last);
        }
        self
    }

    /// A new dimension of length 1 at `axis`.
    pub fn with_axis(mut self, axis: usize) -> Placement<S> {
        self.dims.insert(axis, (Len::Fixed(1), 0));
        self
    }

    /// The dimension `axis` becomes the outermost.
    pub fn move_to_first(mut self, axis: usize) -> Placement<S> {
        let first = self.dims.remove(axis);
        self.dims.insert(0, first);
        self
    }

    /// The dimension `axis` becomes the innermost.
    pub fn move_to_last(mut self, axis: usize) -> Placement<S> {
        let last = self.dims.remove(axis);
        self.dims.push(last);
        self
    }

    /// For each lane the innermost `inner` dimensions; the others are stretched to `lanes` by the
    /// rules of broadcasting: aligned at the end, absent or of length 1 where they repeat.
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
    /// What a unit over `lanes` reads of a tensor: the [`Placement::views`] of its value.
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
