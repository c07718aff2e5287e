//! Tensors of numbers, and what moves and combines their elements.

use sealane_program::types::{Data, Type};

/// Numbers in row-major order.
#[derive(Clone)]
pub struct Tensor {
    pub ty: Type,
    pub shape: Vec<u64>,
    pub numbers: Vec<i128>,
}

impl Tensor {
    pub fn of(data: &Data) -> Tensor {
        let (ty, shape, numbers) = (data.ty, data.shape.clone(), data.numbers().collect());
        Tensor { ty, shape, numbers }
    }

    pub fn new(ty: Type, shape: Vec<u64>, numbers: Vec<i128>) -> Tensor {
        Tensor { ty, shape, numbers }
    }

    /// Other numbers in the same shape.
    pub fn with(&self, numbers: Vec<i128>) -> Tensor {
        Tensor::new(self.ty, self.shape.clone(), numbers)
    }
}

/// The parts of a tensor at each place along axes, which are ascending.
pub fn lanes(a: &Tensor, axes: &[u32]) -> Vec<Tensor> {
    let Some((axis, rest)) = axes.split_last() else {
        return vec![a.clone()];
    };
    let axis = *axis as usize;
    let parts = (0..a.shape[axis]).map(|index| pick(a, axis, index, 1, true));
    parts.flat_map(|part| lanes(&part, rest)).collect()
}

/// Applies a function to the elements at the same place of equal shapes.
pub fn each_of(lanes: &[Tensor], f: impl Fn(&[i128]) -> i128) -> Tensor {
    each(&lanes.iter().collect::<Vec<_>>(), f)
}

/// A tensor with the shape to which two broadcast.
pub fn spread(a: &Tensor, both: [&Tensor; 2]) -> Tensor {
    let shape = joint_shape(both.iter().map(|of| &of.shape[..]));
    let places = places(&shape);
    let numbers = places.iter();
    let numbers = numbers.map(|place| a.numbers[position(&a.shape, place)]);
    let numbers = numbers.collect();
    Tensor::new(a.ty, shape, numbers)
}

/// Joins the elements along an axis, in order.
pub fn reduce(a: &Tensor, axis: u32, join: impl Fn(i128, i128) -> i128) -> Tensor {
    let axis = axis as usize;
    let lanes = (0..a.shape[axis]).map(|index| pick(a, axis, index, 1, true));
    let joint = lanes.reduce(|x, y| each(&[&x, &y], |pair| join(pair[0], pair[1])));
    joint.expect("no axis is empty")
}

/// Applies a function to each row of `a` and column of `b`.
pub fn products(a: &Tensor, b: &Tensor, f: impl Fn(&[i128], &[i128]) -> i128) -> Tensor {
    let length = b.shape[0] as usize;
    let columns = b.shape.get(1).copied().unwrap_or(1) as usize;
    let mut numbers = Vec::new();
    for row in a.numbers.chunks(length) {
        for column in 0..columns {
            let other = (0..length).map(|k| b.numbers[k * columns + column]);
            numbers.push(f(row, &other.collect::<Vec<_>>()));
        }
    }
    let mut shape = a.shape[..a.shape.len() - 1].to_vec();
    shape.extend(&b.shape[1..]);
    Tensor::new(a.ty, shape, numbers)
}

/// Takes elements `start..start + len` of an axis, which is removed if `squeeze` is set.
pub fn pick(a: &Tensor, axis: usize, start: u64, len: u64, squeeze: bool) -> Tensor {
    let inner: u64 = a.shape[axis + 1..].iter().product();
    let in_slice =
        |position: &u64| (start..start + len).contains(&(position / inner % a.shape[axis]));
    let positions = (0..a.numbers.len() as u64).filter(in_slice);
    let numbers = positions.map(|position| a.numbers[position as usize]);
    let numbers = numbers.collect();
    let mut shape = a.shape.clone();
    shape[axis] = len;
    if squeeze {
        shape.remove(axis);
    }
    Tensor::new(a.ty, shape, numbers)
}

/// The entry of `table` along axis 0 for each number of `index`.
pub fn lookup(table: &Tensor, index: &Tensor) -> Tensor {
    let entry = |number: &i128| pick(table, 0, *number as u64, 1, true).numbers;
    Tensor {
        ty: table.ty,
        shape: [&index.shape[..], &table.shape[1..]].concat(),
        numbers: index.numbers.iter().flat_map(entry).collect(),
    }
}

/// Equal shapes along a new axis.
pub fn stack(values: &[&Tensor], axis: u32) -> Tensor {
    let each = &values[0].shape;
    let inner: u64 = each[axis as usize..].iter().product();
    let mut numbers = Vec::new();
    for block in 0..values[0].numbers.len() / inner as usize {
        for value in values {
            numbers.extend(&value.numbers[block * inner as usize..][..inner as usize]);
        }
    }
    let mut shape = each.clone();
    shape.insert(axis as usize, values.len() as u64);
    Tensor::new(values[0].ty, shape, numbers)
}

/// Applies a function to the elements at the same place of tensors that broadcast.
pub fn each(operands: &[&Tensor], f: impl Fn(&[i128]) -> i128) -> Tensor {
    let shape = joint_shape(operands.iter().map(|operand| &operand.shape[..]));
    let places = places(&shape);
    let numbers = places.iter().map(|place| {
        let numbers = operands.iter();
        let numbers = numbers.map(|a| a.numbers[position(&a.shape, place)]);
        f(&numbers.collect::<Vec<_>>())
    });
    let (ty, numbers) = (operands[0].ty, numbers.collect());
    Tensor { ty, numbers, shape }
}

/// The shape to which all broadcast.
pub fn joint_shape<'a>(shapes: impl Iterator<Item = &'a [u64]>) -> Vec<u64> {
    shapes.fold(Vec::new(), |joint, shape| {
        let rank = joint.len().max(shape.len());
        let padded = |shape: &[u64]| [&vec![1; rank - shape.len()][..], shape].concat();
        let both = padded(&joint).into_iter().zip(padded(shape));
        both.map(|(x, y)| x.max(y)).collect()
    })
}

/// All indices into a shape, in row-major order.
pub fn places(shape: &[u64]) -> Vec<Vec<u64>> {
    shape.iter().fold(vec![Vec::new()], |places, &n| {
        let longer = places.iter();
        let longer = longer.flat_map(|place| (0..n).map(|i| [&place[..], &[i]].concat()));
        longer.collect()
    })
}

/// Row-major index in `shape` of a place in a shape to which it broadcasts.
pub fn position(shape: &[u64], place: &[u64]) -> usize {
    let own = &place[place.len() - shape.len()..];
    let steps = shape.iter().zip(own);
    steps.fold(0, |at, (&n, &i)| at * n + if n == 1 { 0 } else { i }) as usize
}

/// Equal shapes along a new axis 0.
pub fn stacked(parts: &[Tensor]) -> Tensor {
    stack(&parts.iter().collect::<Vec<_>>(), 0)
}
