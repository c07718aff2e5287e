//! Pass `expand`: drops values that no result needs, and rewrites operations that later passes do
//! not support.
//!
//! * A value computed from constants alone becomes a constant.
//! * A dot product becomes products and a sum. A protocol with arithmetic computes it directly
//!   (pass `algebra`), unless it has a single term or a single bit.
//! * A reduction by gates gets an operand with the sign of the result, whose width can grow level
//!   by level. A reduction of a single element becomes that element.
//! * Elements that are kept become a network: the operand `keep` of [`Op::Compact`] becomes the
//!   number of places by which each element that is kept moves, and `keep` itself comes first of
//!   those that move. So its parts are one more, and each is put to zero where nothing is left.
//!   Where a program reads the first places alone, these are taken first.
//! * Rows under one another get the type and range of all of them.
//! * The operand of a running reduction gets the type and range of its result.
//! * Running sums and ends become a tree of operations along a fixed axis, and a scan of rows, or a
//!   network where depth counts.
//! * A map whose body reduces rows of a table is cut before and behind each reduction.
//! * Initial carries of a scan get the type and range of the carries.

mod accumulate;
mod cross;

pub(crate) use cross::{levels, reduces};

use crate::algebra::Arithmetic;
use crate::fuse::numbered;
use crate::lower::constant;
use crate::rewrite::readers;
use sealane_program::call::{AES128_KEYS, AES128_ROUNDS};
use sealane_program::graph::{
    Binary, Graph, Loop, Op, Program, Reduction, Slice, Unary, Value, ValueId, Visibility,
};
use sealane_program::types::{Data, Dim, Range, Shape, Type};
use sealane_protocol::Goal;
use std::collections::HashMap;

/// Bytes of the keys of all rounds.
const ROUND_KEY_BYTES: u64 = 176;

/// Returns the program with fewer kinds of operations in its main graph, for a protocol with or
/// without arithmetic, in which bodies have the goal; with `keys`, keys that blocks of AES have in
/// common are expanded once.
pub(crate) fn expand(program: &Program, arithmetic: Arithmetic, goal: Goal, keys: bool) -> Program {
    let mut expander = Expander {
        program,
        arithmetic,
        goal,
        keys,
        new: Graph::default(),
        renamed: Vec::with_capacity(program.main.values.len()),
        kept: HashMap::new(),
        readers: readers(program),
    };
    for value in &program.main.values {
        let id = expander.value(value);
        expander.renamed.push(id);
    }
    let mut results = program.results.clone();
    for result in &mut results {
        result.value = expander.renamed(result.value);
    }
    let main = expander.new;
    prune(Program {
        main,
        results,
        ..program.clone()
    })
}

/// Returns whether blocks of AES have a key in common.
pub(crate) fn has_common_keys(program: &Program) -> bool {
    let values = &program.main.values;
    let shape = |id: &ValueId| &program.main[*id].shape;
    values.iter().any(|value| match &value.op {
        Op::Call(name, operands) => name == "aes128" && *shape(&operands[0]) != value.shape,
        _ => false,
    })
}

/// Removes the values on which no result depends.
fn prune(mut program: Program) -> Program {
    let values = std::mem::take(&mut program.main.values);
    let mut live = vec![false; values.len()];
    let results = program.results.iter();
    results.for_each(|result| live[result.value.0 as usize] = true);
    for (index, value) in values.iter().enumerate().rev() {
        if live[index] {
            let operands = value.op.operands();
            operands.iter().for_each(|o| live[o.0 as usize] = true);
        }
    }
    let mut renamed = Vec::with_capacity(values.len());
    for (mut value, live) in values.into_iter().zip(live) {
        let mut id = ValueId(program.main.values.len() as u32);
        if live {
            value.op.renumber(|id| renamed[id.0 as usize]);
            id = program.main.push(value);
        }
        renamed.push(id);
    }
    for result in &mut program.results {
        result.value = renamed[result.value.0 as usize];
    }
    program
}

struct Expander<'a> {
    program: &'a Program,
    arithmetic: Arithmetic,
    /// Goal of the circuits of bodies.
    goal: Goal,
    /// Keys that blocks of AES have in common are expanded once.
    keys: bool,
    new: Graph,
    /// The new number of each value of the program.
    renamed: Vec<ValueId>,
    /// How often each value of the program is read.
    readers: Vec<usize>,
    /// Parts of what is kept, each by the value that has zeros where nothing is left.
    kept: HashMap<ValueId, ValueId>,
}

impl Expander<'_> {
    fn renamed(&self, id: ValueId) -> ValueId {
        self.renamed[id.0 as usize]
    }

    fn of(&self, id: ValueId) -> &Value {
        &self.new[id]
    }

    fn push(&mut self, value: Value) -> ValueId {
        self.new.push(value)
    }

    /// Adds a value of the same form that another operation makes.
    fn derived(&mut self, like: &Value, op: Op) -> ValueId {
        let like = like.clone();
        self.push(Value { op, ..like })
    }

    fn value(&mut self, value: &Value) -> ValueId {
        let alone = |of: &ValueId| self.readers[of.0 as usize] == 1;
        let alone = value.op.operands().iter().all(alone);
        let mut value = value.clone();
        value.op.renumber(|id| self.renamed(id));
        if let Some(constant) = self.constant(&value) {
            return self.push(constant);
        }
        if let Some(last) = self.cut(&value) {
            return last;
        }
        let firsts = match &value.op {
            Op::Head { of, .. } => self.kept.get(of),
            Op::Slice(slice) if slice.axis == 0 && !slice.squeeze => self.kept.get(&slice.of),
            _ => None,
        };
        if let Some(&moved) = firsts {
            let Op::Part(compact, _) = self.of(moved).op else {
                unreachable!("`moved` makes parts")
            };
            let flag = self.moved(compact, 0);
            let first = [flag, moved].map(|part| self.first_of(&value, part));
            return self.zeroed(&value, first[0], first[1]);
        }
        match &mut value.op {
            &mut Op::Dot(a, b) => self.dot(&value, a, b),
            &mut Op::Reduce(reduction, of, axis) => {
                let dot = alone.then(|| self.as_dot(&value, of)).flatten();
                dot.unwrap_or_else(|| self.reduce(&value, reduction, of, axis))
            }
            &mut Op::Accumulate(reduction, of, axis) => {
                self.accumulate(&value, (reduction, of, axis))
            }
            Op::Running(_, of, _) => {
                *of = self.cast(*of, value.ty, value.range);
                self.push(value)
            }
            Op::Compact { keep, over } => {
                let skipped = self.skipped(*keep);
                over.insert(0, *keep);
                *keep = skipped;
                self.push(value)
            }
            Op::Part(of, part) if matches!(self.of(*of).op, Op::Compact { .. }) => {
                let (of, part) = (*of, *part + 1);
                let [flag, moved] = [0, part].map(|part| self.moved(of, part));
                let kept = self.zeroed(&value, flag, moved);
                self.kept.insert(kept, moved);
                kept
            }
            Op::Append(parts) => {
                // Each part is stored in the form of the whole.
                for part in parts {
                    let own = self.of(*part).range;
                    let form = |range: Range| (range.bits(), range.signed());
                    if form(own) != form(value.range) {
                        *part = self.cast(*part, value.ty, value.range);
                    }
                }
                self.push(value)
            }
            Op::Concat(parts, _) if parts.len() == 1 => parts[0],
            Op::Call(name, operands) if self.keys && name == "aes128" => {
                let (key, block) = (operands[0], operands[1]);
                self.aes128(value, key, block)
            }
            Op::Prefix(Loop { over, body, .. }) => {
                // Combinations may be any values of the type.
                for (of, param) in over.iter_mut().zip(&body.values) {
                    *of = self.cast(*of, param.ty, param.range);
                }
                self.push(value)
            }
            Op::Scan(Loop { init, body, .. }) => {
                for (init, param) in init.iter_mut().zip(&body.values) {
                    *init = self.cast(*init, param.ty, param.range);
                }
                self.push(value)
            }
            _ => self.push(value),
        }
    }

    /// Returns the value as a constant, if it is computed from constants alone and is not one
    /// already. A map or scan is not folded itself; its parts are.
    fn constant(&self, value: &Value) -> Option<Value> {
        let whole = value.op.has_parts() || matches!(value.op, Op::Const(_) | Op::RowNumber(_));
        if value.visibility != Visibility::Public || whole {
            return None;
        }
        // An operand that was too large to fold leaves its users unchanged.
        let known = |id: &ValueId| {
            let op = &self.of(*id).op;
            // What is kept has another form here than in the program.
            let parts = op.has_parts() && !matches!(op, Op::Compact { .. });
            parts || matches!(op, Op::Const(_))
        };
        if !value.op.operands().iter().all(known) {
            return None;
        }
        let mut graph = Graph::default();
        let id = self.copy(value, &mut graph);
        graph.returns.push(id);
        if numbered(&graph).is_some() {
            return None;
        }
        let op = Op::Const(constant(&graph, value)?);
        let like = value.clone();
        Some(Value { op, ..like })
    }

    /// Copies a value and its bodies.
    fn copy(&self, value: &Value, into: &mut Graph) -> ValueId {
        let mut value = value.clone();
        let operands = value.op.operands();
        let copied = operands.iter().map(|id| self.copy(self.of(*id), into));
        let copied: Vec<_> = copied.collect();
        let at = |id: ValueId| operands.iter().position(|operand| *operand == id);
        value.op.renumber(|id| at(id).map_or(id, |at| copied[at]));
        into.push(value)
    }

    /// Counts the elements before each, and itself, that are not kept: the numbers of places by
    /// which those that are kept move.
    fn skipped(&mut self, keep: ValueId) -> ValueId {
        let keep_value = self.of(keep).clone();
        let most = match keep_value.shape.dim(0) {
            Some(Dim::Rows(rows)) => self.program.rows[usize::from(rows.0)].bound,
            Some(Dim::Fixed(length)) => length,
            None => unreachable!("check has seen an axis 0"),
        };
        let most = most.into();
        let counts = Range { lo: 0, hi: most };
        let flags = keep_value.with_range(Type::Bool.range());
        let left_out = self.derived(&flags, Op::Unary(Unary::Not, keep));
        let ty = Type::smallest(counts).unwrap_or(Type::I64);
        let counted = self.cast(left_out, ty, counts);
        let like = self.of(counted).clone();
        self.derived(&like, Op::Running(Reduction::Sum, counted, None))
    }

    /// A part of what is kept, with anything where nothing is left.
    fn moved(&mut self, of: ValueId, part: u32) -> ValueId {
        let Op::Compact { over, .. } = &self.of(of).op else {
            unreachable!("the caller has seen it")
        };
        let like = self.of(over[part as usize]).clone();
        self.derived(&like, Op::Part(of, part))
    }

    /// The same places of another value as `value` has of its operand.
    fn first_of(&mut self, value: &Value, other: ValueId) -> ValueId {
        let mut first = self.of(other).clone();
        first.op = value.op.clone();
        first.op.renumber(|_| other);
        // Zeros may stand for rows.
        first.range = first.range.hull(Range::of(0));
        let inner = usize::from(first.shape.rows.is_none());
        let inner = first.shape.fixed.split_off(inner);
        first.shape.rows = None;
        first.shape.fixed = [&value.shape.fixed[..1], &inner].concat();
        self.push(first)
    }

    /// A part of what is kept, with zeros where the flag says that nothing is left.
    fn zeroed(&mut self, value: &Value, flag: ValueId, moved: ValueId) -> ValueId {
        let Some(zero) = Data::from_numbers(value.ty, Vec::new(), &[0]) else {
            unreachable!("every type has a zero")
        };
        let zero = Value {
            op: Op::Const(zero),
            shape: Shape::scalar(),
            range: Range::of(0),
            visibility: Visibility::Public,
            ..value.clone()
        };
        let (mut there, zero) = (flag, self.push(zero));
        for axis in 1..value.shape.rank() as u32 {
            let mut wide = self.of(there).clone();
            wide.op = Op::Stack(vec![there], axis);
            wide.shape.fixed.push(1);
            there = self.push(wide);
        }
        self.derived(value, Op::Select(there, moved, zero))
    }

    /// Expands `a @ b`: `a` repeats along the columns of `b`, if it has any.
    fn dot(&mut self, value: &Value, a: ValueId, b: ValueId) -> ValueId {
        if self.is_dot(value, [a, b], self.of(b).shape.fixed[0]) {
            return self.derived(value, Op::Dot(a, b));
        }
        let columns = self.of(b).shape.fixed.get(1).copied();
        let mut wide = self.of(a).clone();
        let axis = wide.shape.rank() as u32 - 1;
        let mut a = a;
        if let Some(columns) = columns {
            wide.op = Op::Stack(vec![a], axis + 1);
            wide.shape.fixed.push(1);
            a = self.push(wide.clone());
            wide.shape.fixed.pop();
            wide.shape.fixed.push(columns);
        }
        let range = product_range(value.ty, self.of(a).range, self.of(b).range);
        let like = value.clone().with_shape(wide.shape).with_range(range);
        let products = self.derived(&like, Op::Binary(Binary::Mul, a, b));
        self.reduce(value, Reduction::Sum, products, axis)
    }

    /// AES-128 of blocks: keys of rounds are made once for all blocks that have a key in common.
    fn aes128(&mut self, value: Value, key: ValueId, block: ValueId) -> ValueId {
        let own = self.of(key).clone();
        if own.shape == value.shape {
            return self.push(value);
        }
        let mut shape = own.shape.clone();
        if let Some(bytes) = shape.fixed.last_mut() {
            *bytes = ROUND_KEY_BYTES;
        }
        let keys = own
            .with_shape(shape)
            .with_op(Op::Call(AES128_KEYS.into(), vec![key]));
        let keys = self.push(keys.with_range(Type::U8.range()));
        self.push(value.with_op(Op::Call(AES128_ROUNDS.into(), vec![keys, block])))
    }

    /// A sum of products along the last axis, of which one factor repeats along all others, as an
    /// inner product in a ring: that multiplies matrices, in which elements of the factor are met
    /// again.
    fn as_dot(&mut self, value: &Value, of: ValueId) -> Option<ValueId> {
        let (Op::Reduce(Reduction::Sum, _, axis), Op::Binary(Binary::Mul, a, b)) =
            (&value.op, &self.of(of).op)
        else {
            return None;
        };
        let shape = &self.of(of).shape;
        let length = *shape.fixed.last()?;
        let last = *axis as usize + 1 == shape.rank();
        let shape_of = |id: &ValueId| &self.of(*id).shape;
        let repeats = |id: &ValueId| {
            let own = shape_of(id);
            own.rows.is_none() && own.fixed.len() == 1 && own.fixed.last() == shape.fixed.last()
        };
        let dot = match (repeats(a), repeats(b)) {
            (_, true) if shape_of(a) == shape => Op::Dot(*a, *b),
            (true, _) if shape_of(b) == shape => Op::Dot(*b, *a),
            _ => return None,
        };
        let is_dot = last && self.is_dot(value, [*a, *b], length);
        is_dot.then(|| self.derived(value, dot))
    }

    fn reduce(&mut self, value: &Value, reduction: Reduction, of: ValueId, axis: u32) -> ValueId {
        let operand = self.of(of).clone();
        let single = match operand.shape.dim(axis as usize) {
            Some(Dim::Rows(rows)) => self.program.rows[usize::from(rows.0)].bound == 1,
            Some(Dim::Fixed(1)) => {
                let element = operand.with_shape(value.shape.clone());
                let element = self.derived(&element, Op::Slice(Slice::first(of, axis)));
                return self.cast(element, value.ty, value.range);
            }
            _ => false,
        };
        let by_gates = reduction != Reduction::Sum || !self.arithmetic.sums(value);
        let other_form = single || operand.range.signed() != value.range.signed();
        let of = if by_gates && other_form {
            self.cast(of, value.ty, value.range)
        } else {
            of
        };
        self.derived(value, Op::Reduce(reduction, of, axis))
    }

    /// Returns whether an inner product of so many terms is one in the ring.
    fn is_dot(&self, value: &Value, factors: [ValueId; 2], length: u64) -> bool {
        let factors = factors.map(|id| self.of(id));
        length > 1 && self.arithmetic.multiplies(value, factors, length)
    }

    /// Casts to the given type and range; the numbers stay the same.
    fn cast(&mut self, of: ValueId, ty: Type, range: Range) -> ValueId {
        let operand = self.of(of).clone();
        if (operand.ty, operand.range) == (ty, range) {
            return of;
        }
        self.push(operand.with_type(ty, range).with_op(Op::Cast(of)))
    }
}

/// Range of a product in type `ty`.
fn product_range(ty: Type, a: Range, b: Range) -> Range {
    let corners = [(a.lo, b.lo), (a.lo, b.hi), (a.hi, b.lo), (a.hi, b.hi)];
    let products = corners.iter().map(|(a, b)| a.checked_mul(*b));
    let products = products.collect::<Option<Vec<_>>>();
    // A type that wraps holds products modulo its width; an exact product may be wider than its
    // type.
    products
        .and_then(Range::of_all)
        .filter(|range| !ty.is_wrapping() || ty.holds(*range))
        .unwrap_or(ty.range())
}
