//! The table of operations: for each its word in the text form, what an element of its result
//! depends on, and its parts in the order of the text.
//!
//! A row is walked in two ways: [`Op::look`] shows the parts of an operation (to the printer, or to
//! whoever asks for operands), and [`Op::change`] lets them be written (by the parser, into a blank
//! operation, or by whoever renumbers operands). So an operation has one text form, and no list of
//! operands beside it. Rows of element-wise operations are in [`crate::elementwise`].

use crate::call;
use crate::elementwise::{Binary, Reduction, Unary};
use crate::graph::{Graph, Loop, Op, Slice, ValueId};
use crate::types::{Data, RowId};
use std::convert::Infallible;

/// Dependence of an element of the result on elements of operands, along axis 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reach {
    /// No operand.
    Nothing,
    /// The elements at its place, with broadcasting.
    Element,
    /// The row at its place; a reduction has no row, and depends on all.
    Row,
    /// The rows up to its place, or in order.
    Before,
    /// All rows: they are needed at once.
    Table,
}

/// Methods for attributes, which whoever is interested in operands alone leaves as they are.
macro_rules! attributes {
    ($($name:ident: $ty:ty,)+) => {
        $(fn $name(&mut self, _: $ty) -> Result<(), Self::Error> {
            Ok(())
        })+
    };
}

/// Reader of the parts of an operation. A word before a part is `","`, or empty if there is none.
pub(crate) trait Look {
    type Error;

    fn values(&mut self, word: &str, ids: &[ValueId]) -> Result<(), Self::Error>;

    fn value(&mut self, word: &str, id: &ValueId) -> Result<(), Self::Error> {
        self.values(word, std::slice::from_ref(id))
    }

    /// Values that may be none, with the word before them.
    fn some(&mut self, word: &str, ids: &[ValueId]) -> Result<(), Self::Error> {
        if ids.is_empty() {
            return Ok(());
        }
        self.values(word, ids)
    }

    fn option(&mut self, word: &str, id: &Option<ValueId>) -> Result<(), Self::Error> {
        self.some(word, id.as_slice())
    }

    /// A number that `_what` describes to people.
    fn number<N: Copy + Into<i128>>(
        &mut self,
        _word: &str,
        _number: &N,
        _what: &str,
    ) -> Result<(), Self::Error> {
        Ok(())
    }

    fn flag(&mut self, _word: &str, _set: &bool) -> Result<(), Self::Error> {
        Ok(())
    }

    attributes! {
        axes: &[u32], steps: &[(u64, i64)], reduction: &Reduction, rows: &RowId, name: &str,
        data: &Data,
    }
}

/// Writer of the parts of an operation, as [`Look`] reads them.
pub(crate) trait Change {
    type Error;

    fn value(&mut self, word: &str, id: &mut ValueId) -> Result<(), Self::Error>;

    fn values(&mut self, word: &str, ids: &mut Vec<ValueId>) -> Result<(), Self::Error> {
        ids.iter_mut().try_for_each(|id| self.value(word, id))
    }

    fn some(&mut self, word: &str, ids: &mut Vec<ValueId>) -> Result<(), Self::Error> {
        self.values(word, ids)
    }

    fn option(&mut self, word: &str, id: &mut Option<ValueId>) -> Result<(), Self::Error> {
        id.iter_mut().try_for_each(|id| self.value(word, id))
    }

    fn number<N: TryFrom<i128>>(
        &mut self,
        _word: &str,
        _number: &mut N,
        _what: &str,
    ) -> Result<(), Self::Error> {
        Ok(())
    }

    fn flag(&mut self, _word: &str, _set: &mut bool) -> Result<(), Self::Error> {
        Ok(())
    }

    attributes! {
        axes: &mut Vec<u32>, steps: &mut Vec<(u64, i64)>, reduction: &mut Reduction,
        rows: &mut RowId, name: &mut String, data: &mut Data,
    }
}

/// Makes the functions of [`Op`] that follow from its rows: word, reach, `variant fields`, and the
/// parts in the order of the text. Bodies are no parts: they stand on lines of their own.
macro_rules! operations {
    ($($word:literal $reach:ident $variant:ident $fields:tt =>
        $($part:ident($($argument:expr),*)),*;)+) => {
        impl Op {
            fn row(&self) -> (&'static str, Reach) {
                match self {
                    $(Op::$variant { .. } => ($word, Reach::$reach),)+
                }
            }

            /// The operation of this word, whose parts are still to be written.
            pub(crate) fn blank(word: &str) -> Option<Op> {
                if let Some(op) = Unary::named(word) {
                    return Some(Op::Unary(op, ValueId::default()));
                }
                if let Some(op) = Binary::named(word) {
                    return Some(Op::Binary(op, ValueId::default(), ValueId::default()));
                }
                Some(match word {
                    $($word => blank!($variant $fields),)+
                    _ => return None,
                })
            }

            /// Shows each part.
            #[allow(unused_variables, reason = "bodies, and what the word says, are no parts")]
            pub(crate) fn look<L: Look>(&self, to: &mut L) -> Result<(), L::Error> {
                match self {
                    $(variant!($variant $fields) => { $(to.$part($($argument),*)?;)* })+
                }
                Ok(())
            }

            /// Lets each part be written.
            #[allow(unused_variables, reason = "bodies, and what the word says, are no parts")]
            pub(crate) fn change<C: Change>(&mut self, by: &mut C) -> Result<(), C::Error> {
                match self {
                    $(variant!($variant $fields) => { $(by.$part($($argument),*)?;)* })+
                }
                Ok(())
            }
        }
    };
}

/// The pattern of a variant.
macro_rules! variant {
    ($name:ident ($($field:ident)*)) => { Op::$name($($field),*) };
    ($name:ident {$($field:ident)*}) => { Op::$name { $($field),* } };
    ($name:ident [$of:ident $($field:ident)* $(; $more:ident)?]) => {
        Op::$name($of { $($field,)* .. } $(, $more)?)
    };
}

/// The variant with nothing in its fields.
macro_rules! blank {
    ($name:ident ($($field:ident)*)) => { Op::$name($(nothing!($field)),*) };
    ($name:ident {$($field:ident)*}) => { Op::$name { $($field: Default::default()),* } };
    ($name:ident [$of:ident $($field:ident)* $(; $more:ident)?]) => {
        Op::$name($of::default() $(, nothing!($more))?)
    };
}

macro_rules! nothing {
    ($field:ident) => {
        Default::default()
    };
}

operations! {
    "param" Nothing Param(index) => number("", index, "the number of a parameter");
    "const" Nothing Const(data) => data(data);
    "a unary operation" Element Unary(op a) => value("", a);
    "a binary operation" Element Binary(op a b) => value("", a), value(",", b);
    "select" Element Select(c yes no) => value("", c), value(",", yes), value(",", no);
    "cast" Element Cast(a) => value("", a);
    "share" Element Share { of sharing } => name(sharing), value("", of);
    "reduce" Row Reduce(op a axis) =>
        reduction(op), value("", a), number("axis", axis, "an axis");
    "dot" Row Dot(a b) => value("", a), value(",", b);
    "sumproduct" Row SumProduct { a b axes } => value("", a), value(",", b), axes(axes);
    "mean" Row Mean { of axes } => value("", of), axes(axes);
    "slice" Row Slice [Slice of axis start len squeeze] =>
        value("", of), number("axis", axis, "an axis"),
        number("from", start, "the first element"), number("take", len, "a number of elements"),
        flag("squeeze", squeeze);
    "view" Row View { of start dims } =>
        value("", of), number("from", start, "the first element"), steps(dims);
    "concat" Row Concat(parts axis) => values("", parts), number("axis", axis, "an axis");
    "accumulate" Before Accumulate(op a axis) =>
        reduction(op), value("", a), number("axis", axis, "an axis");
    "lookup" Row Lookup { table index } => value("", table), value(",", index);
    "append" Table Append(parts) => values("", parts);
    "stack" Row Stack(parts axis) => values("", parts), number("axis", axis, "an axis");
    "map" Row Map [Loop over captured] => some("over", over), some("capture", captured);
    "scan" Before Scan [Loop init over captured] =>
        some("from", init), some("over", over), some("capture", captured);
    "rownumber" Nothing RowNumber(rows) => rows(rows);
    "random" Nothing Random { bits count } =>
        number("", bits, "a number of bits"), number("take", count, "how many numbers");
    "roll" Table Roll { of by } => value("", of), number("by", by, "a number of places");
    "head" Table Head { of len } => value("", of), number("take", len, "a number of rows");
    "sort" Table Sort [Loop over captured; free] =>
        flag("free", free), some("over", over), some("capture", captured);
    "running" Table Running(reduction of starts) =>
        reduction(reduction), value("", of), option("from", starts);
    "prefix" Table Prefix [Loop over captured] => some("over", over), some("capture", captured);
    "compact" Table Compact { keep over } => value("", keep), some("over", over);
    "part" Row Part(of index) => value("", of), number(",", index, "the number of a part");
    "call" Row Call(name operands) => name(name), values("", operands);
}

impl Op {
    /// Word in the text form.
    pub fn word(&self) -> &'static str {
        match self {
            Op::Unary(op, _) => op.name(),
            Op::Binary(op, ..) => op.name(),
            _ => self.row().0,
        }
    }

    /// Returns on what an element of the result depends.
    pub fn reach(&self) -> Reach {
        match self {
            Op::Call(name, _) if !call::of_bytes(name) => Reach::Element,
            // Along another axis than that of rows, none stands before another.
            Op::Accumulate(_, _, 1..) => Reach::Row,
            _ => self.row().1,
        }
    }

    /// Returns whether each element is made of the elements at its place alone.
    pub fn is_element_wise(&self) -> bool {
        self.reach() == Reach::Element
    }

    /// Returns whether it needs all rows of a table at once, if axis 0 is symbolic.
    pub fn needs_all_rows(&self) -> bool {
        self.reach() == Reach::Table
    }

    /// Operands in the order of the text form, without those of a body.
    pub fn operands(&self) -> Vec<ValueId> {
        struct Operands(Vec<ValueId>);
        impl Look for Operands {
            type Error = Infallible;
            fn values(&mut self, _: &str, ids: &[ValueId]) -> Result<(), Infallible> {
                self.0.extend(ids);
                Ok(())
            }
        }
        let mut operands = Operands(Vec::new());
        let Ok(()) = self.look(&mut operands);
        operands.0
    }

    /// Replaces each operand.
    pub fn renumber(&mut self, new: impl Fn(ValueId) -> ValueId) {
        struct Renumber<F>(F);
        impl<F: Fn(ValueId) -> ValueId> Change for Renumber<F> {
            type Error = Infallible;
            fn value(&mut self, _: &str, id: &mut ValueId) -> Result<(), Infallible> {
                *id = self.0(*id);
                Ok(())
            }
        }
        let Ok(()) = self.change(&mut Renumber(new));
    }

    /// The body of a `map`, `scan`, `sort` or `prefix`, and what it runs on.
    pub fn looped(&self) -> Option<&Loop> {
        match self {
            Op::Map(of) | Op::Scan(of) | Op::Sort(of, _) | Op::Prefix(of) => Some(of),
            _ => None,
        }
    }

    /// The same, to be changed.
    pub fn looped_mut(&mut self) -> Option<&mut Loop> {
        match self {
            Op::Map(of) | Op::Scan(of) | Op::Sort(of, _) | Op::Prefix(of) => Some(of),
            _ => None,
        }
    }

    /// The body of a `map`, `scan`, `sort` or `prefix`.
    pub fn body(&self) -> Option<&Graph> {
        self.looped().map(|of| &*of.body)
    }

    /// The body of a `map`, `scan`, `sort` or `prefix`, to be changed.
    pub fn body_mut(&mut self) -> Option<&mut Graph> {
        self.looped_mut().map(|of| &mut *of.body)
    }

    /// Returns whether it has several results, each of which is an [`Op::Part`].
    pub fn has_parts(&self) -> bool {
        self.body().is_some() || matches!(self, Op::Compact { .. })
    }
}
