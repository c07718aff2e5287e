//! Operations on all elements of axis 0 at once: numbers of rows, rows that move, running
//! reductions, elements that stay; and random numbers. Sorts are in `bodies`.

use super::reductions::reduced_type;
use super::{Builder, Handle, Made};
use crate::graph::{Op, Reduction};
use crate::types::{Data, Dim, Range, Type};
use sealane_diagnostic::{At, Code, Diagnostic, Result};

impl Builder {
    /// Adds the numbers of the places along axis 0, from 0: of the rows, or a constant.
    pub fn row_number(&mut self, of: Handle, at: At<'_>) -> Made {
        let id = self.found(of, at)?;
        let shape = &self.of(id).shape;
        match shape.dim(0) {
            Some(Dim::Rows(rows)) => self.operate(Op::RowNumber(rows), at),
            Some(Dim::Fixed(length)) => {
                let last = Range::of(i128::from(length) - 1).hull(Range::of(0));
                let ty = Type::smallest(last).unwrap_or(Type::I64);
                let numbers = (0..i128::from(length)).collect::<Vec<_>>();
                let data = Data::from_numbers(ty, vec![length], &numbers);
                let data = data.ok_or_else(|| no_axis("row_number").at(at))?;
                self.constant(data, at)
            }
            None => Err(no_axis("row_number").at(at)),
        }
    }

    /// Adds `count` random numbers of `bits` bits that no party knows.
    pub fn random(&mut self, bits: u8, count: u64, at: At<'_>) -> Made {
        self.operate(Op::Random { bits, count }, at)
    }

    /// Adds the rows in a circle, `by` places further down.
    pub fn roll(&mut self, of: Handle, by: i64, at: At<'_>) -> Made {
        let of = self.found(of, at)?;
        self.operate(Op::Roll { of, by }, at)
    }

    /// Adds the first `len` rows, with zeros for rows that are not there.
    pub fn head(&mut self, of: Handle, len: u64, at: At<'_>) -> Made {
        let of = self.found(of, at)?;
        self.operate(Op::Head { of, len }, at)
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
        at: At<'_>,
    ) -> Made {
        let mut id = self.found(of, at)?;
        let value = self.of(id);
        let Some(dim) = value.shape.dim(0) else {
            return Err(no_axis("running").at(at));
        };
        let ty = reduced_type(reduction, value.ty, dtype, self.scope().length(dim).1);
        id = self.cast_to(id, ty, at)?;
        let starts = starts.map(|starts| self.found(starts, at)).transpose()?;
        self.operate(Op::Running(reduction, id, starts), at)
    }

    /// Adds what stays of elements along axis 0, one after the other from the first place on.
    pub fn compact(&mut self, keep: Handle, over: &[Handle], at: At<'_>) -> Result<Vec<Handle>> {
        let (keep, over) = (self.found(keep, at)?, self.all_found(over, at)?);
        let parts = over.len();
        self.parts_of(Op::Compact { keep, over }, parts, at)
    }
}

fn no_axis(what: &str) -> Diagnostic {
    let message = format!("`{what}` needs an axis 0, and a single number has none");
    Diagnostic::new(Code::ShapeMismatch, message).hint("give it a tensor")
}
