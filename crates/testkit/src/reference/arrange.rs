//! Elements in another arrangement, joined, and accumulated, one by one.

use super::{Tensor, each, pick};

/// The elements that a view names: in each row, if there are rows, or of all.
pub(super) fn view(a: &Tensor, by_rows: bool, start: u64, dims: &[(u64, i64)]) -> Tensor {
    let rows = if by_rows { a.shape[0] } else { 1 };
    let each = a.numbers.len() as u64 / rows;
    let mut numbers = Vec::new();
    for row in 0..rows {
        let mut places = vec![(row * each + start) as i64];
        for (length, step) in dims {
            let steps = |place: &i64| {
                let steps = (0..*length as i64).map(|i| place + i * step);
                steps.collect::<Vec<_>>()
            };
            places = places.iter().flat_map(steps).collect();
        }
        numbers.extend(places.iter().map(|place| a.numbers[*place as usize]));
    }
    let lengths = dims.iter().map(|(length, _)| *length);
    let shape = by_rows.then_some(rows).into_iter().chain(lengths);
    let (ty, shape) = (a.ty, shape.collect());
    Tensor { ty, shape, numbers }
}

/// Tensors one behind the other along an axis.
pub(super) fn concat(parts: &[&Tensor], axis: usize) -> Tensor {
    let mut shape = parts[0].shape.clone();
    shape[axis] = parts.iter().map(|part| part.shape[axis]).sum();
    let blocks = shape[..axis].iter().product::<u64>();
    let mut numbers = Vec::new();
    for block in 0..blocks as usize {
        for part in parts {
            let run = part.shape[axis..].iter().product::<u64>() as usize;
            numbers.extend(&part.numbers[block * run..][..run]);
        }
    }
    let ty = parts[0].ty;
    Tensor { ty, shape, numbers }
}

/// Joins the elements up to each one along an axis.
pub(super) fn accumulate(a: &Tensor, axis: u32, join: impl Fn(i128, i128) -> i128) -> Tensor {
    let axis = axis as usize;
    let mut done: Vec<Tensor> = Vec::new();
    for index in 0..a.shape[axis] {
        let next = pick(a, axis, index, 1, false);
        done.push(match done.last() {
            Some(last) => each(&[last, &next], |pair| join(pair[0], pair[1])),
            None => next,
        });
    }
    concat(&done.iter().collect::<Vec<_>>(), axis)
}
