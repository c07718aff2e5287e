//! The graph: values in single-assignment order, each with its operation.
//!
//! A [`Program`] may come from anywhere; [`crate::check`](fn@crate::check) verifies the invariants
//! of a sound one, on which every later room may rely:
//! * an operation refers to earlier values of its own graph only;
//! * type, shape, range and visibility of a value are those that [`crate::infer`] computes;
//! * operands of arithmetic have one type, with a `Cast` before each that had another, except for
//!   products and quotients of fixed point;
//! * every dimension is at least 1, so no reduction is empty.

pub use crate::elementwise::{Binary, Reduction, Unary};
use crate::kind::Kind;
use crate::types::{Data, Range, RowId, Shape, Type};
use sealane_diagnostic::Span;
use std::borrow::Borrow;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::Index;

/// A whole program.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Program {
    /// Name of the function.
    pub name: String,
    /// Names of the parties in the order in which the signature names them.
    pub parties: Vec<String>,
    /// The symbolic row counts.
    pub rows: Vec<RowSymbol>,
    /// True if floating point below the normal numbers is read and written as zeros.
    pub flush_subnormals: bool,
    /// Inputs in the order of the signature.
    pub inputs: Vec<Input>,
    /// The main graph. Its parameters are the inputs, in order.
    pub main: Graph,
    /// Results, with their receivers.
    pub results: Vec<Reveal>,
}

/// A symbolic number of rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowSymbol {
    /// Its name in the signature.
    pub name: String,
    /// Its upper bound; the number of rows is 0 to `bound`. Operations are inferred and planned for
    /// 1 at least: a run with none runs the [rest](crate::without_empty) of the program.
    pub bound: u64,
    /// The row counts that it adds up, none of which is a sum itself; empty if it is that of a
    /// table.
    pub sum: Vec<RowId>,
}

impl RowSymbol {
    /// Returns whether there may be so many rows.
    pub fn allows(&self, count: u64) -> bool {
        count <= self.bound
    }
}

/// One input: a parameter of the function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Input {
    /// Name of the parameter.
    pub name: String,
    /// Index of the owner in [`Program::parties`].
    pub owner: u8,
    /// Element type.
    pub ty: Type,
    /// Shape.
    pub shape: Shape,
    /// Declared range of each element.
    pub range: Range,
    /// Columns of a table that fill the last dimension (or the one column of a 1-D or 0-D input);
    /// empty if the signature names none.
    pub columns: Vec<String>,
    /// Meaning of its elements in tables.
    pub kind: Kind,
    /// Place of its declaration.
    pub span: Option<Span>,
}

impl Input {
    /// An input of any number of its type, without names of columns or a place in a source.
    pub fn new(name: impl Into<String>, owner: u8, ty: Type, shape: Shape) -> Input {
        Input {
            name: name.into(),
            owner,
            ty,
            shape,
            range: ty.range(),
            columns: Vec::new(),
            kind: Kind::default(),
            span: None,
        }
    }
}

/// One result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reveal {
    /// Name of the result (`result`, or `result_0`, … where there are several).
    pub name: String,
    /// The value.
    pub value: ValueId,
    /// Receivers: indices into [`Program::parties`], ascending.
    pub to: Vec<u8>,
    /// Declared type, which the value's type equals.
    pub ty: Type,
    /// Meaning of its elements in tables.
    pub kind: Kind,
    /// The protection of single people that its author declares, for those who approve the program:
    /// one line, empty if there is none. The graph does what it says; see
    /// `python/sealane/_protect.py`.
    pub note: String,
}

/// A value of one graph: an index into [`Graph::values`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ValueId(pub u32);

/// A graph: the main one, or the body of a `map`, `scan`, `sort` or `prefix`, traced once.
#[derive(Clone, Default, PartialEq, Eq, Hash)]
pub struct Graph {
    /// Number of leading values that are parameters.
    pub params: u32,
    /// The values; an operation refers to earlier ones only.
    pub values: Vec<Value>,
    /// For bodies: the returned values. Empty for the main graph.
    pub returns: Vec<ValueId>,
}

/// One value.
#[derive(Clone, PartialEq, Eq)]
pub struct Value {
    /// Operation that computes it.
    pub op: Op,
    /// Element type.
    pub ty: Type,
    /// Shape.
    pub shape: Shape,
    /// Range of each element.
    pub range: Range,
    /// Parties that can know it without computing on secrets.
    pub visibility: Visibility,
    /// Place in the source; not part of the hashed text.
    pub span: Option<Span>,
}

/// Set of parties that can know a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Visibility {
    /// All parties: a constant of the program.
    Public,
    /// One party: computed from its inputs and constants alone.
    Known(u8),
    /// No party.
    Secret,
}

/// An operation. Operands of element-wise operations broadcast as in NumPy (a symbolic first
/// dimension aligns with the same one, with one of length 1, or with none).
#[derive(Clone, PartialEq, Eq, Hash)]
pub enum Op {
    /// Parameter of the graph, by index.
    Param(u32),
    /// A public constant.
    Const(Data),
    /// Element-wise, one operand.
    Unary(Unary, ValueId),
    /// Element-wise, two operands.
    Binary(Binary, ValueId, ValueId),
    /// Element-wise: `where(condition, yes, no)`.
    Select(ValueId, ValueId, ValueId),
    /// The same number in the type of this value, rounded towards minus infinity if that has fewer
    /// fraction bits; ranges ensure that it fits, or (wrapping target) it is reduced modulo
    /// `2^bits`.
    Cast(ValueId),
    /// The same number, whose operation is computed on shares of this kind: one of
    /// [`SHARINGS`](crate::infer::SHARINGS). In the main graph alone.
    Share {
        /// The number.
        of: ValueId,
        /// Name of the sharing.
        sharing: String,
    },
    /// Reduction of one axis, which disappears. Axis 0 may be the symbolic one.
    Reduce(Reduction, ValueId, u32),
    /// `a @ b`: the last axis of `a` with the first of `b` (`b` has one or two fixed dimensions
    /// and no symbolic one). Of fixed point, the exact sum is rounded down once, to the type that
    /// the value declares.
    Dot(ValueId, ValueId),
    /// The sum of `a * b`, which broadcast, along `axes`, which are removed; axis 0 may be the
    /// symbolic one. The exact sum is rounded down once, to the type that the value declares; of
    /// floating point to the nearest number, as all sums of it.
    SumProduct {
        /// One factor.
        a: ValueId,
        /// The other.
        b: ValueId,
        /// The axes of the product that are summed over: at least one, ascending.
        axes: Vec<u32>,
    },
    /// The mean along axes, which are removed; axis 0 may be the symbolic one. The exact mean of
    /// numbers of any type is rounded once, to the nearest number of the floating-point type that
    /// the value declares: their own type, or one of integers and fixed point.
    Mean {
        /// The numbers.
        of: ValueId,
        /// The axes: at least one, ascending.
        axes: Vec<u32>,
    },
    /// Elements `start..start + len` of one fixed axis; `squeeze` (then `len` is 1) removes it.
    Slice(Slice),
    /// The elements of each row, or of all, in another arrangement: a reshape, a transpose, a slice
    /// with a step, a broadcast. The symbolic axis stays; the fixed axes are replaced by `dims`.
    View {
        /// The tensor, its fixed axes counted through in row-major order.
        of: ValueId,
        /// First element.
        start: u64,
        /// Length and step of each new fixed axis; a step is 0 where the length is 1.
        dims: Vec<(u64, i64)>,
    },
    /// Tensors one behind the other along a fixed axis; all other axes are equal.
    Concat(Vec<ValueId>, u32),
    /// `Reduce` of the elements up to each one, along an axis, which stays. Axis 0 may be the
    /// symbolic one. Sums are of integers and fixed point.
    Accumulate(Reduction, ValueId, u32),
    /// `table[index]`: for each element of `index` the entry of `table` at that index of axis 0.
    /// The table has no symbolic dimension; the result has the shape of `index`, then the axes of
    /// `table` after its first. The range of `index` lies within the table.
    Lookup {
        /// The entries, along axis 0.
        table: ValueId,
        /// Indices of entries: integers from 0.
        index: ValueId,
    },
    /// The rows of tables one under the other, in this order. Their number is the row count that
    /// adds up those of the tables; all other axes are equal.
    Append(Vec<ValueId>),
    /// Equal shapes joined along a new fixed axis.
    Stack(Vec<ValueId>, u32),
    /// The body applied to each element of axis 0 of every `over` (equal first dimensions);
    /// `captured` values are the same for each. Body parameters: slices of `over`, then `captured`.
    /// Results gain the axis 0. A map with several results has one [`Op::Part`] for each.
    Map(Loop),
    /// `carry = body(carry, element, captured)` along axis 0 of `over`, in order. Body parameters:
    /// carries, slices, captured. Body returns: the next carries, then per-element outputs. Parts:
    /// last carries, then stacked outputs. A carry has the type and shape of its `init`; the
    /// parameter and the part have the whole range of that type, while `init` and the next carry
    /// may have a narrower one and are extended to it.
    Scan(Loop),
    /// The numbers of the rows of a table, from 0: one for each row, public.
    RowNumber(RowId),
    /// Uniform numbers that nobody knows: the exclusive or of numbers that all parties draw. Each
    /// such value is drawn for itself. In the main graph alone, of a program of several parties.
    Random {
        /// Bits of each number, 1 to 64.
        bits: u8,
        /// How many numbers.
        count: u64,
    },
    /// The rows in a circle, `by` places further down, as NumPy's `roll`: row `i` of the result is
    /// row `i - by` modulo the number of rows. Axis 0 is symbolic.
    Roll {
        /// The rows.
        of: ValueId,
        /// Places, from -2^31 to 2^31.
        by: i64,
    },
    /// The first `len` rows, along a fixed axis 0; zeros stand for rows that are not there. Axis 0
    /// of `of` is symbolic.
    Head {
        /// The rows.
        of: ValueId,
        /// Number of rows of the result.
        len: u64,
    },
    /// The elements of axis 0 of every `over` (equal first dimensions), exchanged along a sorting
    /// network: wherever two elements meet, they change places if the body returns true. Body
    /// parameters: slices of `over` at the place before, slices at the place behind, then
    /// `captured`; it returns one `bool`. If the body says that the one behind belongs before the
    /// other, in a strict weak order, the result is sorted. The order of elements of which neither
    /// belongs before the other is the same in every run, but not that of the input. One
    /// [`Op::Part`] for each `over`. `.1` is true if no result of the program depends on the order
    /// of elements of which neither belongs before the other; it may then be another in every
    /// protocol.
    Sort(Loop, bool),
    /// The reductions of the elements so far along axis 0, the element itself among them. Where
    /// `.2`, a `bool` for each element, is true, a reduction begins anew. Not of floating point,
    /// whose sums would depend on the order.
    Running(Reduction, ValueId, Option<ValueId>),
    /// The elements so far along axis 0 of every `over` (equal first dimensions), combined by the
    /// body, which is an associative operation: in the order of the network by Brent and Kung,
    /// whatever it is. Body parameters: what slices of `over` up to a place make, what those behind
    /// it make, then `captured`; it returns a value for each `over`, of the same type and shape,
    /// and takes any value of the type. One [`Op::Part`] for each `over`.
    Prefix(Loop),
    /// The elements along axis 0 of every `over` (equal first dimensions) for which `keep`, a
    /// `bool` for each, is true: in their order, one after the other from the first place on.
    /// Zeros fill the other places. One [`Op::Part`] for each `over`.
    Compact {
        /// The elements that stay.
        keep: ValueId,
        /// Tensors that are moved together.
        over: Vec<ValueId>,
    },
    /// Result number `.1` of an operation with parts ([`Op::has_parts`]). Such an operation carries
    /// the type of its part 0 itself but is referred to through `Part` only.
    Part(ValueId, u32),
    /// A function by name (`aes128`: key `u8[16]`, block `u8[..., 16]` to `u8[..., 16]`), applied
    /// along the last axis; leading dimensions broadcast. Signatures are in [`crate::call`].
    Call(String, Vec<ValueId>),
}

/// Elements of an axis: see [`Op::Slice`].
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Slice {
    /// The tensor.
    pub of: ValueId,
    /// The axis, counted with the symbolic one.
    pub axis: u32,
    /// First element.
    pub start: u64,
    /// Number of elements.
    pub len: u64,
    /// True if the axis is removed.
    pub squeeze: bool,
}

impl Slice {
    /// `len` elements of an axis from `start` on; the axis stays.
    pub fn new(of: ValueId, axis: u32, start: u64, len: u64) -> Slice {
        Slice {
            of,
            axis,
            start,
            len,
            squeeze: false,
        }
    }

    /// The first element of an axis, which is removed.
    pub fn first(of: ValueId, axis: u32) -> Slice {
        Slice {
            squeeze: true,
            ..Slice::new(of, axis, 0, 1)
        }
    }
}

/// A body and the values that it runs on: see [`Op::Map`], [`Op::Scan`], [`Op::Sort`] and
/// [`Op::Prefix`].
#[derive(Clone, Default, PartialEq, Eq, Hash)]
pub struct Loop {
    /// Initial carries of a scan; empty elsewhere.
    pub init: Vec<ValueId>,
    /// Tensors walked along axis 0.
    pub over: Vec<ValueId>,
    /// Values that every call sees whole.
    pub captured: Vec<ValueId>,
    /// The body.
    pub body: Box<Graph>,
}

impl Loop {
    /// A loop with an empty body.
    pub fn over(over: Vec<ValueId>) -> Loop {
        Loop {
            over,
            ..Loop::default()
        }
    }
}

impl Graph {
    /// Appends a value.
    pub fn push(&mut self, value: Value) -> ValueId {
        self.values.push(value);
        ValueId(self.values.len() as u32 - 1)
    }
}

/// The value of an identifier, or of a reference to one.
impl<I: Borrow<ValueId>> Index<I> for Graph {
    type Output = Value;
    fn index(&self, id: I) -> &Value {
        &self.values[id.borrow().0 as usize]
    }
}

/// Leaves out the place in the source, as the hashed text does.
impl Hash for Value {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let form = (self.ty, &self.shape, self.range, self.visibility);
        (&self.op, form).hash(state);
    }
}

/// Digest of all that an item hashes, by which equal ones are found: computed once, made once. Of
/// this process alone, as `Hash` is.
pub fn digest(of: &impl Hash) -> blake3::Hash {
    struct Digest(blake3::Hasher);
    impl Hasher for Digest {
        fn write(&mut self, bytes: &[u8]) {
            self.0.update(bytes);
        }
        fn finish(&self) -> u64 {
            unreachable!("the digest is longer")
        }
    }
    let mut digest = Digest(blake3::Hasher::new());
    of.hash(&mut digest);
    digest.0.finalize()
}

impl Program {
    /// BLAKE3 of the canonical text, which parties approve and compare.
    pub fn hash(&self) -> [u8; 32] {
        *blake3::hash(crate::text::print(self).as_bytes()).as_bytes()
    }
}

/// Prints the canonical text.
impl fmt::Debug for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&crate::text::print(self))
    }
}

impl Visibility {
    /// Visibility of a value that is computed from both.
    pub fn join(self, other: Visibility) -> Visibility {
        match (self, other) {
            (Visibility::Public, any) | (any, Visibility::Public) => any,
            (Visibility::Known(a), Visibility::Known(b)) if a == b => self,
            _ => Visibility::Secret,
        }
    }
}

/// The rows of a concrete run, by [`RowId`].
pub type RowCounts = Vec<u64>;

/// The row count that `symbol` adds up, if it is a sum of counts that are all known.
pub fn summed_rows(symbol: &RowSymbol, counts: &[Option<u64>]) -> Option<u64> {
    let mut parts = symbol.sum.iter().map(|rows| counts[usize::from(rows.0)]);
    if symbol.sum.is_empty() {
        None
    } else {
        parts.try_fold(0u64, |sum, part| Some(sum.saturating_add(part?)))
    }
}

/// Number of rows that a concrete run has for `rows`, which is one of its program.
pub fn row_count(counts: &RowCounts, rows: RowId) -> u64 {
    counts[usize::from(rows.0)]
}
