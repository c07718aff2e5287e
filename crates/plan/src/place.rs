//! Placement of a value's elements in a stored tensor, or in a table of public numbers: slices,
//! views, broadcasts and reductions change strides, not data.

use crate::steps::{Len, Operand, PlanValue, SymView};
use sealane_program::graph::Slice;
use sealane_program::types::Shape;

/// Placement of a value: one (length, stride) pair for each of its dimensions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Placement<S = PlanValue> {
    /// Tensor or table that holds the elements.
    pub store: S,
    pub offset: u64,
    pub dims: Vec<(Len, i64)>,
}

/// Dimensions of a shape.
pub(crate) fn lens(shape: &Shape) -> Vec<Len> {
    let rows = shape.rows.map(|_| Len::Rows);
    rows.into_iter()
        .chain(shape.fixed.iter().map(|&n| Len::Fixed(n)))
        .collect()
}

/// Row-major strides.
fn row_major(dims: &[Len]) -> Vec<(Len, i64)> {
    let mut stride: i64 = 1;
    let pair = |&dim: &Len| {
        let pair = (dim, stride);
        // The rows are outermost: nothing multiplies their number.
        stride *= match dim {
            Len::Fixed(length) => length as i64,
            Len::Rows => 1,
        };
        pair
    };
    let mut pairs = dims.iter().rev().map(pair).collect::<Vec<_>>();
    pairs.reverse();
    pairs
}

/// An index in a tensor that holds it.
fn moved(offset: u64, by: i64) -> u64 {
    offset.wrapping_add_signed(by)
}

/// Neighbouring dimensions that one stride walks through.
struct StridedRun {
    length: i64,
    stride: i64,
    /// Elements of the value from one place of the run to the next.
    apart: i64,
}

/// The fewest runs that walk through dimensions in row-major order.
fn runs(dims: &[(Len, i64)]) -> Vec<StridedRun> {
    let mut runs: Vec<StridedRun> = Vec::new();
    let mut apart = 1;
    for (len, stride) in dims.iter().rev() {
        let length = len.at(1) as i64;
        match runs.last_mut() {
            _ if length == 1 => {}
            Some(inner) if *stride == inner.length * inner.stride => inner.length *= length,
            _ => runs.push(StridedRun {
                length,
                stride: *stride,
                apart,
            }),
        }
        apart *= length;
    }
    runs.reverse();
    runs
}

/// Steps along each run that together make `step` elements of the value.
fn digits(mut step: i64, runs: &[StridedRun]) -> impl Iterator<Item = i64> {
    runs.iter().map(move |run| {
        let digit = step / run.apart;
        step -= digit * run.apart;
        digit
    })
}

/// Distance in the tensor.
fn along(steps: &[i64], runs: &[StridedRun]) -> i64 {
    steps
        .iter()
        .zip(runs)
        .map(|(step, run)| step * run.stride)
        .sum()
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
        let same = |((len, have), (_, want)): (&(Len, i64), &(Len, i64))| {
            *len == Len::Fixed(1) || have == want
        };
        let count = dims.iter().map(|len| len.at(1)).product::<u64>();
        self.offset == 0 && count == elements && self.dims.iter().zip(&row_major(&dims)).all(same)
    }

    /// Takes the elements of a slice; with `squeeze` the dimension disappears.
    pub fn slice(mut self, slice: &Slice) -> Placement<S> {
        let axis = slice.axis as usize;
        self.offset = moved(self.offset, slice.start as i64 * self.dims[axis].1);
        if slice.squeeze {
            self.dims.remove(axis);
        } else {
            self.dims[axis].0 = Len::Fixed(slice.len);
        }
        self
    }

    /// Takes elements `start + sum of i * step`, counted through the fixed dimensions in row-major
    /// order. None if no strides of the tensor reach them, as after a reshape of a transpose.
    pub fn view(mut self, start: u64, dims: &[(u64, i64)]) -> Option<Placement<S>> {
        let rows = self.dims.iter().take_while(|(len, _)| *len == Len::Rows);
        let fixed = self.dims.split_off(rows.count());
        let runs = runs(&fixed);
        // Index along each run of the first element, and the least and most of it.
        let ends = digits(start as i64, &runs).map(|first| (first, first));
        let mut ends = ends.collect::<Vec<_>>();
        let first = ends.iter().map(|(first, _)| *first).collect::<Vec<_>>();
        for &(length, step) in dims {
            let steps = digits(step, &runs).collect::<Vec<_>>();
            for ((least, most), step) in ends.iter_mut().zip(&steps) {
                let reach = step * (length as i64 - 1);
                (*least, *most) = (*least + reach.min(0), *most + reach.max(0));
            }
            self.dims.push((Len::Fixed(length), along(&steps, &runs)));
        }
        let mut within = ends.iter().zip(&runs);
        let within = within.all(|((least, most), run)| *least >= 0 && *most < run.length);
        self.offset = moved(self.offset, along(&first, &runs));
        within.then_some(self)
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
        // Relative to the first element in memory, so that no index is below 0.
        let behind = |(len, stride): &(Len, i64)| match len {
            Len::Fixed(length) => -stride.min(&0) * (*length as i64 - 1),
            Len::Rows => 0,
        };
        let behind = inner.iter().map(behind).sum::<i64>();
        let lanes = SymView {
            offset: moved(self.offset, -behind),
            dims: lanes.iter().enumerate().map(stretch).collect(),
        };
        let (offset, dims) = (behind as u64, inner.to_vec());
        let inner = SymView { offset, dims };
        [lanes, inner]
    }
}

impl Placement {
    /// Returns the operand of a unit over `lanes`: the [`Placement::views`] of its value.
    pub fn read(&self, lanes: &[Len], inner: usize) -> Operand {
        let [lanes, inner] = self.views(lanes, inner);
        Operand {
            value: self.store,
            lanes,
            inner,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sealane_program::graph::ValueId;

    fn indices(placed: &Placement) -> Vec<usize> {
        let [lanes, inner] = placed.views(&[], placed.dims.len());
        let (base, inner) = (lanes.at(1).indices()[0], inner.at(1).indices());
        inner.iter().map(|index| base + index).collect()
    }

    fn whole(dims: &[u64]) -> Placement {
        let dims = dims.iter().map(|&n| Len::Fixed(n)).collect::<Vec<_>>();
        Placement::whole(PlanValue(0), &dims)
    }

    /// Every view of a placement that strides reach has the elements that it names.
    #[test]
    fn views_of_views_name_the_same_elements() {
        let transposed = whole(&[3, 4]).view(0, &[(4, 1), (3, 4)]).expect("strides");
        let sliced = whole(&[3, 4]).slice(&Slice::new(ValueId(0), 1, 1, 2));
        let reversed = whole(&[12]).view(11, &[(3, -4), (4, -1)]).expect("strides");
        let repeated = whole(&[3, 1]).view(0, &[(3, 1), (2, 0)]).expect("strides");
        let views: [(u64, &[(u64, i64)]); 6] = [
            (0, &[(2, 3), (3, 1)]),
            (5, &[(3, -1)]),
            (0, &[(2, 1), (3, 2)]),
            (1, &[(2, 2), (2, 0)]),
            (4, &[]),
            (0, &[(6, 1)]),
        ];
        let mut reached = 0;
        for placed in [transposed, sliced, reversed, repeated] {
            let before = indices(&placed);
            for (start, dims) in views {
                let Some(view) = placed.clone().view(start, dims) else {
                    continue;
                };
                reached += 1;
                let mut wanted = vec![start as i64];
                for (length, step) in dims {
                    let steps = |base: &i64| (0..*length as i64).map(|i| base + i * step).collect();
                    let steps: Vec<Vec<i64>> = wanted.iter().map(steps).collect();
                    wanted = steps.concat();
                }
                let wanted = wanted.iter().map(|at| before[*at as usize]);
                let wanted: Vec<_> = wanted.collect();
                assert_eq!(indices(&view), wanted, "{placed:?} {dims:?}");
            }
        }
        assert!(reached >= 12, "only {reached} views have strides");
    }

    #[test]
    fn a_reshape_of_a_transpose_has_no_strides() {
        let transposed = whole(&[3, 4]).view(0, &[(4, 1), (3, 4)]).expect("strides");
        assert!(transposed.clone().view(0, &[(12, 1)]).is_none());
        // Its axes can be split, and swapped back.
        let view = transposed.clone().view(0, &[(2, 6), (2, 3), (3, 1)]);
        assert!(view.is_some());
        let back = transposed.view(0, &[(3, 1), (4, 3)]).expect("strides");
        assert!(back.is_whole(12));
    }
}
