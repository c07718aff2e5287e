//! Operations on all elements of axis 0 at once: numbers of rows, rows that move, running
//! reductions, elements that stay; and random numbers. Sorts are in `bodies`.

use super::reductions::reduced_type;
use super::{Builder, Handle};
use crate::graph::{Op, Reduction};
use crate::types::{Data, Dim, Range, Type};
use sealane_diagnostic::{At, Code, Diagnostic, Result};

impl Builder {
    /// Adds the numbers of the places along axis 0, from 0: of the rows, or a constant.
    pub fn row_number(&mut self, of: Handle, span: At<'_>) -> Result<Handle> {
        let id = self.found(of, span)?;
        let shape = &self.top().values[id.0 as usize].shape;
        match shape.dim(0) {
            Some(Dim::Rows(rows)) => self.operate(Op::RowNumber(rows), span),
            Some(Dim::Fixed(length)) => {
                let last = Range::of(i128::from(length) - 1).hull(Range::of(0));
                let ty = Type::smallest(last).unwrap_or(Type::I64);
                let numbers = (0..i128::from(length)).collect::<Vec<_>>();
                let data = Data::from_numbers(ty, vec![length], &numbers);
                let data = data.ok_or_else(|| no_axis("row_number").at(span))?;
                self.constant(data, span)
            }
            None => Err(no_axis("row_number").at(span)),
        }
    }

    /// Adds `count` random numbers of `bits` bits that no party knows.
    pub fn random(&mut self, bits: u8, count: u64, span: At<'_>) -> Result<Handle> {
        self.operate(Op::Random { bits, count }, span)
    }

    /// Adds the rows in a circle, `by` places further down.
    pub fn roll(&mut self, of: Handle, by: i64, span: At<'_>) -> Result<Handle> {
        let of = self.found(of, span)?;
        self.operate(Op::Roll { of, by }, span)
    }

    /// Adds the first `len` rows, with zeros for rows that are not there.
    pub fn head(&mut self, of: Handle, len: u64, span: At<'_>) -> Result<Handle> {
        let of = self.found(of, span)?;
        self.operate(Op::Head { of, len }, span)
    }

    /// Adds the reductions of the elements so far along axis 0, which begin anew where `starts` is
    /// true. A sum is in `dtype`; without it in the type of the elements, and of `bool` in the
    /// smallest type that holds the count.
    pub fn running(
        &mut self,
        reduction: Reduction,
        of: Handle,
        starts: Option<Handle>,
        dtype: Option<Type>,
        span: At<'_>,
    ) -> Result<Handle> {
        let mut id = self.found(of, span)?;
        let value = &self.top().values[id.0 as usize];
        let Some(dim) = value.shape.dim(0) else {
            return Err(no_axis("running").at(span));
        };
        let ty = reduced_type(reduction, value.ty, dtype, self.scope().length(dim).1);
        id = self.cast_to(id, ty, span)?;
        let starts = match starts {
            Some(starts) => Some(self.found(starts, span)?),
            None => None,
        };
        let op = Op::Running {
            reduction,
            of: id,
            starts,
        };
        self.operate(op, span)
    }

    /// Adds what stays of elements along axis 0, one after the other from the first place on.
    pub fn compact(&mut self, keep: Handle, over: &[Handle], span: At<'_>) -> Result<Vec<Handle>> {
        let (keep, over) = (self.found(keep, span)?, self.all_found(over, span)?);
        let parts = over.len();
        self.parts_of(Op::Compact { keep, over }, parts, span)
    }
}

fn no_axis(what: &str) -> Diagnostic {
    Diagnostic::new(
        Code::ShapeMismatch,
        format!("`{what}` needs an axis 0, and a single number has none"),
    )
    .hint("give it a tensor")
}
