//! Views: selections of elements of a tensor.

/// Selection of elements of a tensor, in order: a nest of (length, stride) pairs, outermost first,
/// from an offset; all counted in elements. Without pairs it is the one element at the offset.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct View {
    /// Index of the first element.
    pub offset: usize,
    /// Length and stride of each dimension, outermost first. Stride 0 repeats, a negative one goes
    /// backwards.
    pub dims: Vec<(usize, isize)>,
}

impl View {
    /// The elements from `offset` on in these dimensions.
    pub fn new(offset: usize, dims: Vec<(usize, isize)>) -> View {
        View { offset, dims }
    }
    /// The first `count` elements in order.
    pub fn whole(count: usize) -> View {
        View::new(0, vec![(count, 1)])
    }
    /// Number of elements in the view.
    pub fn count(&self) -> usize {
        self.dims.iter().map(|(len, _)| len).product()
    }
    /// Returns whether the view is all of `elements` elements in order.
    pub fn is_whole(&self, elements: usize) -> bool {
        let mut below = elements;
        let contiguous = self.dims.iter().all(|(len, stride)| {
            below /= (*len).max(1);
            *stride == below as isize || *len == 1
        });
        contiguous && self.offset == 0 && self.count() == elements
    }
    /// Indices of the view, in order.
    pub fn indices(&self) -> Vec<usize> {
        let mut indices = vec![self.offset];
        for (len, stride) in &self.dims {
            let step = |base: &usize| {
                let base = *base;
                (0..*len as isize).map(move |i| base.wrapping_add_signed(i * stride))
            };
            indices = indices.iter().flat_map(step).collect();
        }
        indices
    }
}

impl View {
    /// The lines of a matrix product whose lanes have these views: the first element of each row
    /// of the left operand and of each column of the right one, then the place of a row and of a
    /// column among the lanes, of which lane `r + c` has both. None if a dimension of the lanes
    /// moves in both operands or in neither, so that it is no matrix product.
    pub fn lines(left: &View, right: &View) -> Option<[View; 4]> {
        if left.dims.len() != right.dims.len() {
            return None;
        }
        let mut lines = [left.offset, right.offset, 0, 0].map(|offset| View::new(offset, vec![]));
        let mut apart = 1;
        for ((length, along), (same, across)) in left.dims.iter().zip(&right.dims).rev() {
            let moves = [*along != 0, *across != 0];
            let side = match moves {
                _ if length != same || *length == 0 => return None,
                _ if *length == 1 => continue,
                [true, false] => 0,
                [false, true] => 1,
                _ => return None,
            };
            lines[side]
                .dims
                .insert(0, (*length, [*along, *across][side]));
            lines[2 + side].dims.insert(0, (*length, apart));
            apart *= *length as isize;
        }
        Some(lines)
    }

    /// Number of different elements at `lanes[l] + inner[i]`, for all `l` and `i`: exact where the
    /// dimensions of both views do not overlap, as in a matrix product; otherwise the number of
    /// elements from the first to the last of them, if that is smaller than the number of pairs.
    /// Takes time in the number of dimensions alone.
    pub fn distinct(lanes: &View, inner: &View) -> u64 {
        let dims = lanes.dims.iter().chain(&inner.dims);
        if dims.clone().any(|(length, _)| *length == 0) {
            return 0;
        }
        let mut dims = dims
            .filter(|(length, stride)| *length != 1 && *stride != 0)
            .map(|(length, stride)| (stride.unsigned_abs() as u64, *length as u64))
            .collect::<Vec<_>>();
        dims.sort_unstable();
        // A dimension overlaps those within it if it steps less far than they reach.
        let (mut count, mut reach, mut overlap) = (1u64, 0u64, false);
        for (stride, length) in dims {
            overlap |= stride <= reach;
            count *= length;
            reach += stride * length.saturating_sub(1);
        }
        if overlap { count.min(reach + 1) } else { count }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    fn view(offset: usize, dims: &[(usize, isize)]) -> View {
        View::new(offset, dims.to_vec())
    }

    #[test]
    fn a_view_of_everything_is_recognised() {
        assert!(view(0, &[(3, 2), (2, 1)]).is_whole(6));
        assert!(view(0, &[(3, 2), (1, 7), (2, 1)]).is_whole(6));
        assert!(!view(0, &[(3, 2), (2, 1)]).is_whole(7));
        assert!(!view(0, &[(2, 1), (3, 2)]).is_whole(6));
        assert!(!view(0, &[(6, 0)]).is_whole(6));
        assert!(!view(1, &[(6, 1)]).is_whole(6));
        assert!(!view(5, &[(6, -1)]).is_whole(6));
    }

    /// Lanes of a matrix product are those of all rows by all columns.
    #[test]
    fn lines_of_a_matrix_product_meet_once() {
        let pairs = [
            (view(3, &[(3, 5), (4, 0)]), view(1, &[(3, 0), (4, 1)])),
            (
                view(0, &[(2, 0), (3, 5), (4, 0)]),
                view(0, &[(2, 7), (3, 0), (4, 1)]),
            ),
            (
                view(9, &[(3, -1), (1, 4), (1, 0)]),
                view(2, &[(3, 0), (1, 3), (1, 0)]),
            ),
            (view(5, &[]), view(6, &[])),
        ];
        for (left, right) in pairs {
            let [rows, columns, r, c] = View::lines(&left, &right).expect("a matrix product");
            let lanes = [left.indices(), right.indices()];
            let mut met = HashSet::new();
            for (row, r) in rows.indices().iter().zip(r.indices()) {
                for (column, c) in columns.indices().iter().zip(c.indices()) {
                    assert_eq!([lanes[0][r + c], lanes[1][r + c]], [*row, *column]);
                    met.insert(r + c);
                }
            }
            assert_eq!(met.len(), left.count());
        }
        for (left, right) in [
            (view(0, &[(3, 1)]), view(0, &[(3, 1)])),
            (view(0, &[(3, 0)]), view(0, &[(3, 0)])),
            (view(0, &[(3, 0), (2, 1)]), view(0, &[(6, 1)])),
            (view(0, &[(0, 1)]), view(0, &[(0, 0)])),
        ] {
            assert!(View::lines(&left, &right).is_none());
        }
    }

    #[test]
    fn a_negative_stride_goes_backwards() {
        let reversed = view(5, &[(2, -3), (3, -1)]);
        assert_eq!(reversed.indices(), [5, 4, 3, 2, 1, 0]);
        assert_eq!(view(2, &[(2, 3), (3, -1)]).indices(), [2, 1, 0, 5, 4, 3]);
    }

    /// A matrix product, a sum of columns, neighbouring windows, single elements, none at all.
    #[test]
    fn an_element_that_is_selected_twice_counts_once() {
        let pairs = [
            (view(0, &[(3, 5), (4, 0)]), view(0, &[(5, 1)]), 15),
            (view(0, &[(3, 0), (4, 1)]), view(0, &[(5, 4)]), 20),
            (view(7, &[(6, 1)]), view(0, &[(3, 6)]), 18),
            (view(0, &[(6, 1)]), view(0, &[(3, 1)]), 8),
            (view(0, &[(4, 3)]), view(0, &[(2, 3)]), 8),
            (view(2, &[]), view(0, &[]), 1),
            (view(2, &[(9, 0)]), view(0, &[]), 1),
            (view(5, &[(2, -3)]), view(0, &[(3, -1)]), 6),
            (view(2, &[(0, 1)]), view(0, &[(4, 1)]), 0),
            (view(2, &[(0, 0)]), view(0, &[]), 0),
        ];
        for (lanes, inner, wanted) in pairs {
            assert_eq!(
                View::distinct(&lanes, &inner),
                wanted,
                "{lanes:?} {inner:?}"
            );
            let all = lanes.indices().into_iter();
            let at = |lane: usize| {
                inner
                    .indices()
                    .into_iter()
                    .map(move |i| lane.wrapping_add(i))
            };
            let all = all.flat_map(at);
            assert!(all.collect::<HashSet<_>>().len() as u64 <= wanted);
        }
    }
}
