//! Units of a ring: sums of multiples, and inner products.
//!
//! Every operation that the pass `algebra` puts into a ring has the same form: lanes, and perhaps
//! one dimension along which each lane adds up. Its operands are permuted until that dimension is
//! the innermost and the others match the lanes; broadcast dimensions have stride 0.

use super::site::{At, Fuser};
use crate::place::{Placement, lens};
use crate::steps::{
    Len, Linear, LinearFactor, LinearTerm, Operand, PlanValue, Product, Ring, StepOp,
};
use sealane_program::graph::{Binary, Op, Value, ValueId};
use sealane_program::types::{Data, Type};
use sealane_protocol::{Algebra, RingOp};

/// Permutation of an operand's dimensions.
#[derive(Clone, Copy)]
enum AxisChange {
    /// None; each lane takes one element.
    Not,
    /// Each lane takes all of this dimension.
    Along(usize),
    /// Each lane takes all of the last dimension, and a new one before it repeats.
    AlongLast,
    /// A new dimension repeats.
    NewAxis(usize),
}

impl AxisChange {
    /// Applies the permutation.
    fn of<S>(self, placed: Placement<S>) -> Placement<S> {
        match self {
            AxisChange::Not => placed,
            AxisChange::Along(axis) => placed.move_to_last(axis),
            AxisChange::AlongLast => {
                let last = placed.dims.len() - 1;
                placed.with_axis(last)
            }
            AxisChange::NewAxis(axis) => placed.with_axis(axis),
        }
    }

    /// Number of dimensions that each lane takes whole.
    fn inner(self) -> usize {
        match self {
            AxisChange::Not | AxisChange::NewAxis(_) => 0,
            AxisChange::Along(_) | AxisChange::AlongLast => 1,
        }
    }
}

/// An operand and its permutation.
type Factor = (ValueId, AxisChange);

impl Fuser<'_> {
    /// Computes a value in a ring; returns its placement.
    pub(super) fn in_ring(&mut self, at: At<'_>, k: Algebra) -> Placement {
        let value = at.value;
        match &value.op {
            Op::Slice(slice) => self.placed_in_ring(slice.of).slice(slice),
            Op::View { of, start, dims } => {
                let placed = self.placed_in_ring(*of);
                self.view(*of, placed, (*start, dims), k)
            }
            Op::Concat(parts, axis) => {
                let parts = parts.iter().map(|part| self.placed_in_ring(*part));
                let parts = parts.collect::<Vec<_>>();
                self.concat(at, &parts, *axis as usize, k)
            }
            Op::Append(parts) => {
                let placed = |part: &ValueId| (*part, self.placed_in_ring(*part));
                let parts = parts.iter().map(placed).collect::<Vec<_>>();
                self.append(at, &parts, k)
            }
            Op::Cast(of) | Op::Share { of, .. } => self.placed_in_ring(*of),
            Op::Stack(parts, axis) if parts.len() == 1 => {
                self.placed_in_ring(parts[0]).with_axis(*axis as usize)
            }
            Op::Stack(parts, axis) => {
                let terms = self.stacked(value, parts, *axis as usize);
                self.linear(at, k, terms)
            }
            Op::Unary(_, a) => {
                let terms = vec![self.multiple(value, *a, -1)];
                self.linear(at, k, terms)
            }
            Op::Binary(op @ (Binary::Add | Binary::Sub), a, b) => {
                let sign = if *op == Binary::Add { 1 } else { -1 };
                let terms = vec![self.multiple(value, *a, 1), self.multiple(value, *b, sign)];
                self.linear(at, k, terms)
            }
            Op::Reduce(_, of, axis) => {
                let lanes = lens(&value.shape);
                let operand = self.read(&lanes, (*of, AxisChange::Along(*axis as usize)));
                let factor = LinearFactor::Number(1);
                self.linear(at, k, vec![LinearTerm { operand, factor }])
            }
            Op::Binary(Binary::Shr, a, by) => self.floor(at, k, (*a, *by)),
            // A choice between a value and zero is a product by a bit.
            Op::Binary(_, a, b) | Op::Select(a, b, _) => {
                self.product(at, k, [*a, *b].map(|id| (id, AxisChange::Not)))
            }
            Op::Dot(a, b) => {
                let left = match self.main(*b).shape.fixed.len() {
                    1 => AxisChange::Along(self.main(*a).shape.rank() - 1),
                    _ => AxisChange::AlongLast,
                };
                self.product(at, k, [(*a, left), (*b, AxisChange::Along(0))])
            }
            _ => unreachable!("the pass `algebra` leaves everything else to gates"),
        }
    }

    /// Placement of a value for users in a ring: available there, or to be converted.
    pub(super) fn placed_in_ring(&mut self, id: ValueId) -> Placement {
        let placed = self.rings[id.0 as usize].clone();
        placed.unwrap_or_else(|| self.stored(id))
    }

    fn read(&mut self, lanes: &[Len], (id, change): Factor) -> Operand {
        let placed = change.of(self.placed_in_ring(id));
        placed.read(lanes, change.inner())
    }

    /// Adds an element-wise operand times a number.
    fn multiple(&mut self, value: &Value, id: ValueId, number: i64) -> LinearTerm {
        let operand = self.read(&lens(&value.shape), (id, AxisChange::Not));
        let factor = LinearFactor::Number(number as u64);
        LinearTerm { operand, factor }
    }

    /// Adds a stack as a sum: of each part, broadcast along the new dimension, times one at the
    /// part's own index and zero at all others.
    fn stacked(&mut self, value: &Value, parts: &[ValueId], axis: usize) -> Vec<LinearTerm> {
        let lanes = lens(&value.shape);
        let mut term = |(at, id): (usize, &ValueId)| {
            let mut elements = vec![0; parts.len()];
            elements[at] = 1;
            let data = Data {
                ty: Type::unsigned(1),
                shape: vec![parts.len() as u64],
                elements,
            };
            let mut dims = vec![Len::Fixed(1); lanes.len()];
            dims[axis] = lanes[axis];
            LinearTerm {
                operand: self.read(&lanes, (*id, AxisChange::NewAxis(axis))),
                factor: table(Placement::whole(data, &dims), &lanes, 0),
            }
        };
        parts.iter().enumerate().map(&mut term).collect()
    }

    /// Adds an (inner) product: a sum of multiples, if one operand is constant.
    fn product(&mut self, at: At<'_>, k: Algebra, [left, right]: [Factor; 2]) -> Placement {
        let value = at.value;
        let lanes = lens(&value.shape);
        for (of, by) in [(left, right), (right, left)] {
            if let Op::Const(data) = &self.main(by.0).op {
                let operand = self.read(&lanes, of);
                let factor = self.factor(data, by, &lanes);
                return self.linear(at, k, vec![LinearTerm { operand, factor }]);
            }
        }
        let (left, right) = (self.read(&lanes, left), self.read(&lanes, right));
        let out = self.ring_tensor(value, k);
        let work = StepOp::Product(Product {
            left,
            right,
            lanes: lanes.clone(),
            known_to: [None; 2],
            out,
        });
        self.add(at, work);
        Placement::whole(out, &lanes)
    }

    /// Adds a floor by a power of two, which all elements of a constant state.
    fn floor(&mut self, at: At<'_>, k: Algebra, (a, by): (ValueId, ValueId)) -> Placement {
        let Op::Const(data) = &self.main(by).op else {
            unreachable!("the pass `algebra` leaves secret amounts to gates")
        };
        let by = data.elements.first().map_or(0, |by| (*by).min(127) as u8);
        let lanes = lens(&at.value.shape);
        let of = self.read(&lanes, (a, AxisChange::Not));
        let out = self.ring_tensor(at.value, k);
        let work = StepOp::Ring(Ring {
            op: RingOp::Floor { by },
            bit: None,
            of,
            lanes: lanes.clone(),
            out,
        });
        self.add(at, work);
        Placement::whole(out, &lanes)
    }

    /// Returns a public factor: one number, if all are the same.
    fn factor(&self, data: &Data, (id, change): Factor, lanes: &[Len]) -> LinearFactor {
        let first = data.elements.first().copied().unwrap_or(0);
        if data.elements.iter().all(|element| *element == first) {
            return LinearFactor::Number(first);
        }
        let placed = Placement::whole(data.clone(), &lens(&self.main(id).shape));
        table(change.of(placed), lanes, change.inner())
    }

    /// Adds a sum; over rows, it is carried from tile to tile.
    fn linear(&mut self, at: At<'_>, k: Algebra, terms: Vec<LinearTerm>) -> Placement {
        let by_rows = |term: &LinearTerm| {
            let mut dims = term.operand.inner.dims.iter();
            dims.any(|(len, _)| *len == Len::Rows)
        };
        let carried = terms.iter().any(by_rows);
        let lanes = lens(&at.value.shape);
        let out = self.ring_tensor(at.value, k);
        let work = StepOp::Linear(Linear {
            terms,
            lanes: lanes.clone(),
            carried,
            out,
        });
        self.add(at, work);
        Placement::whole(out, &lanes)
    }

    /// Makes the tensor of a value that the next unit computes.
    fn ring_tensor(&mut self, value: &Value, k: Algebra) -> PlanValue {
        let (rows, fixed) = (value.shape.rows, &value.shape.fixed);
        self.tensor_in(k, rows, fixed, value.range)
    }
}

/// Returns a factor for each element that a term reads.
fn table(placed: Placement<Data>, lanes: &[Len], inner: usize) -> LinearFactor {
    let [lanes, inner] = placed.views(lanes, inner);
    let data = placed.store;
    LinearFactor::Table { data, lanes, inner }
}
