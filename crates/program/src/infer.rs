//! Inference: what an operation gives, or why it is refused.
//!
//! One set of rules for the tracer's [`Builder`](crate::builder::Builder) and for
//! [`check`](fn@crate::check::check), so a program read from a file is held to what a traced one
//! is. The norm in words, with a test for each line, is `NUMERICS.md`.

mod body;
pub(crate) mod range;
pub(crate) mod shape;

use crate::call;
use crate::diagnostic::{Diagnostic, code};
use crate::graph::{Binary, Input, Op, Reduction, Rows, Unary, Value, ValueId, Visibility};
use crate::types::{Data, Dim, Range, Shape, Type};

pub(crate) use body::{graph, params};

/// What is known of a value before it is computed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Meta {
    /// Element type.
    pub ty: Type,
    /// Shape.
    pub shape: Shape,
    /// Range of each element.
    pub range: Range,
    /// Who can know it without computing on secrets.
    pub visibility: Visibility,
}

impl Value {
    /// What is known of it.
    pub fn meta(&self) -> Meta {
        let Value {
            ty,
            shape,
            range,
            visibility,
            ..
        } = self;
        Meta {
            ty: *ty,
            shape: shape.clone(),
            range: *range,
            visibility: *visibility,
        }
    }
}

/// Where an operation stands: the program's header and the values before it in its graph.
#[derive(Clone, Copy)]
pub struct Scope<'a> {
    /// The program's symbolic row counts.
    pub rows: &'a [Rows],
    /// The program's inputs in the main graph, nothing in a body; they lend errors their names.
    pub inputs: &'a [Input],
    /// The values so far.
    pub values: &'a [Value],
}

/// What `op` gives. `declared` is the target of a `Cast`; other operations do not look at it.
/// A parameter has no rule of its own: whoever owns the graph says what it is.
pub fn infer(scope: &Scope, op: &Op, declared: Type) -> Result<Meta, Diagnostic> {
    let meta = match op {
        Op::Param(_) => Err(invalid("a parameter stands among the operations")),
        Op::Const(data) => constant(data),
        Op::Unary(op, a) => unary(scope, *op, *a),
        Op::Binary(op, a, b) => binary(scope, *op, *a, *b),
        Op::Select(condition, yes, no) => select(scope, *condition, *yes, *no),
        Op::Cast(a) => cast(scope, *a, declared),
        Op::Reduce(op, a, axis) => reduce(scope, *op, *a, *axis),
        Op::Dot(a, b) => dot(scope, *a, *b),
        Op::Slice {
            of,
            axis,
            start,
            len,
            squeeze,
        } => {
            let of = scope.value(*of)?;
            let shape = shape::slice(scope, &of.shape, *axis, (*start, *len, *squeeze))?;
            Ok(Meta { shape, ..of.meta() })
        }
        Op::Stack(values, axis) => stack(scope, values, *axis),
        Op::Map { .. } | Op::Scan { .. } => body::whole(scope, op),
        Op::Part(of, index) => body::part(scope, *of, *index),
        Op::Call(name, operands) => call::infer(scope, name, operands),
    }?;
    shape::bounded(scope, &meta.shape)?;
    Ok(meta)
}

impl<'a> Scope<'a> {
    /// The operand `id`, which precedes the operation and is not a whole `map` or `scan`.
    pub fn value(&self, id: ValueId) -> Result<&'a Value, Diagnostic> {
        match self.values.get(id.0 as usize) {
            Some(value) if value.op.body().is_none() => Ok(value),
            Some(_) => Err(invalid("a map or scan is used without naming the part")),
            None => Err(invalid(
                "an operation refers to a value that does not precede it",
            )),
        }
    }

    /// The shape as the text form writes it, `[]` for a scalar.
    pub fn shape(&self, shape: &Shape) -> String {
        let rows = shape.rows.map(|id| match self.rows.get(usize::from(id.0)) {
            Some(rows) => rows.name.clone(),
            None => "?".into(),
        });
        let dims: Vec<String> = rows
            .into_iter()
            .chain(shape.fixed.iter().map(u64::to_string))
            .collect();
        format!("[{}]", dims.join(", "))
    }

    /// What to call the value in a message: the input or number behind it, or else `fallback`.
    pub fn name(&self, id: ValueId, fallback: &str) -> String {
        match self.uncast(id).map(|value| (&value.op, value)) {
            Some((Op::Param(index), _)) if (*index as usize) < self.inputs.len() => {
                self.inputs[*index as usize].name.clone()
            }
            Some((Op::Const(_), value)) if value.shape.rank() == 0 => value.range.lo.to_string(),
            _ => fallback.into(),
        }
    }

    /// The value before the casts that led to `id`.
    fn uncast(&self, mut id: ValueId) -> Option<&'a Value> {
        loop {
            let value = self.values.get(id.0 as usize)?;
            match value.op {
                // An operand that does not precede its operation would never end this.
                Op::Cast(of) if of < id => id = of,
                _ => return Some(value),
            }
        }
    }

    /// Fewest and most elements along a dimension.
    pub(crate) fn length(&self, dim: Dim) -> (u64, u64) {
        match dim {
            Dim::Fixed(n) => (n, n),
            Dim::Rows(rows) => (1, self.rows.get(usize::from(rows.0)).map_or(1, |r| r.bound)),
        }
    }

    fn is_constant(&self, id: ValueId) -> bool {
        self.uncast(id)
            .is_some_and(|value| matches!(value.op, Op::Const(_)))
    }
}

fn constant(data: &Data) -> Result<Meta, Diagnostic> {
    let shape = Shape::fixed(data.shape.clone());
    let (true, Some(range)) = (data.ty.is_valid(), Range::of_all(data.numbers())) else {
        return Err(invalid("a constant has no elements, or an unknown type"));
    };
    if shape.row_elements() != Some(data.elements.len() as u64) || !data.ty.holds(range) {
        return Err(invalid(
            "a constant's elements do not fit its shape or type",
        ));
    }
    Ok(Meta {
        ty: data.ty,
        shape,
        range,
        visibility: Visibility::Public,
    })
}

fn unary(scope: &Scope, op: Unary, a: ValueId) -> Result<Meta, Diagnostic> {
    let value = scope.value(a)?;
    let exact = range::unary(op, value.ty, value.range);
    let bits = i128::from(value.ty.bits());
    let ty = match (op, value.ty) {
        (Unary::Neg | Unary::Abs, Type::Bool) => return Err(no_such_type(op.name(), value.ty)),
        (Unary::Popcount, _) => Type::smallest(Range::of(bits)).unwrap_or(Type::U8),
        (_, ty) => ty,
    };
    let range = settle(ty, exact, || {
        let name = scope.name(a, "a");
        let hint = wider(exact.hull(value.range), |wide| {
            op.python(&format!("{name}.astype({wide})"))
        });
        let given = format!("{name} in {} gives {exact}", value.range);
        overflow(&op.python(&name), ty, given, hint)
    })?;
    Ok(Meta {
        ty,
        range,
        ..value.meta()
    })
}

fn binary(scope: &Scope, op: Binary, a: ValueId, b: ValueId) -> Result<Meta, Diagnostic> {
    let (left, right) = (scope.value(a)?, scope.value(b)?);
    let shape = shape::broadcast(scope, &left.shape, &right.shape)?;
    let visibility = left.visibility.join(right.visibility);
    let arithmetic = !matches!(
        op,
        Binary::And | Binary::Or | Binary::Xor | Binary::Min | Binary::Max
    );
    let shift = matches!(op, Binary::Shl | Binary::Shr);
    if !op.is_comparison() {
        if !shift && left.ty != right.ty {
            return Err(no_common_type(op.symbol(), left.ty, right.ty));
        }
        if arithmetic && left.ty == Type::Bool {
            return Err(no_such_type(op.name(), left.ty));
        }
    }
    match op {
        Binary::FloorDiv | Binary::Mod => divisible(scope, op, a, b)?,
        Binary::Shl | Binary::Shr => shiftable(scope, op, a, b)?,
        _ => {}
    }
    let exact = range::binary(op, left.range, right.range);
    let ty = if op.is_comparison() {
        Type::Bool
    } else {
        left.ty
    };
    let range = settle(ty, exact, || {
        let (x, y) = (scope.name(a, "a"), scope.name(b, "b"));
        let given = format!(
            "{x} in {} and {y} in {} give {exact}",
            left.range, right.range
        );
        // The cast goes to the operand that is not a number of the source.
        let second = scope.is_constant(a) && !shift;
        let cast = if second { right } else { left };
        let hint = wider(exact.hull(cast.range), |wide| match second {
            true => op.python(&x, &format!("{y}.astype({wide})")),
            false => op.python(&format!("{x}.astype({wide})"), &y),
        });
        overflow(&op.python(&x, &y), ty, given, hint)
    })?;
    Ok(Meta {
        ty,
        shape,
        range,
        visibility,
    })
}

/// Refuses a divisor that can be zero, and division modulo `2^bits`, which has no one meaning.
fn divisible(scope: &Scope, op: Binary, a: ValueId, b: ValueId) -> Result<(), Diagnostic> {
    let (left, right) = (scope.value(a)?, scope.value(b)?);
    let (x, y) = (scope.name(a, "a"), scope.name(b, "b"));
    let whole = op.python(&x, &y);
    if left.ty.is_wrapping() {
        let strict = left.ty.strict();
        return Err(Diagnostic::new(
            code::WRAPPING_DIVISION,
            format!("`{whole}` divides in {}", left.ty),
        )
        .because("modulo a power of two, quotients depend on which representative is meant")
        .hint(format!(
            "say it: `{}`",
            op.python(
                &format!("{x}.astype(sl.{strict})"),
                &format!("{y}.astype(sl.{strict})")
            )
        )));
    }
    if right.range.contains(Range::of(0)) {
        let hint = match (right.range.lo, right.range.hi) {
            (0, _) => format!("write `{}`", op.python(&x, &format!("sl.maximum({y}, 1)"))),
            (_, 0) => format!("write `{}`", op.python(&x, &format!("sl.minimum({y}, -1)"))),
            _ => format!(
                "make the sign certain: divide by `sl.maximum(sl.abs({y}), 1)` and restore the \
                 sign with `sl.where({y} < 0, …, …)`"
            ),
        };
        return Err(Diagnostic::new(
            code::DIVISION_BY_ZERO,
            format!("`{whole}` can divide by zero"),
        )
        .because(format!("{y} is in {}", right.range))
        .hint(hint));
    }
    Ok(())
}

/// Refuses an amount outside of the width.
fn shiftable(scope: &Scope, op: Binary, a: ValueId, b: ValueId) -> Result<(), Diagnostic> {
    let (left, right) = (scope.value(a)?, scope.value(b)?);
    let top = i128::from(left.ty.bits()) - 1;
    if (Range { lo: 0, hi: top }).contains(right.range) {
        return Ok(());
    }
    let (x, y) = (scope.name(a, "a"), scope.name(b, "b"));
    let whole = op.python(&x, &y);
    Err(Diagnostic::new(
        code::SHIFT_RANGE,
        format!("`{whole}` can shift by too much or backwards"),
    )
    .because(format!(
        "{y} is in {}, and {} takes shifts by 0..{top}",
        right.range, left.ty
    ))
    .hint(format!(
        "limit the amount: `sl.minimum(sl.maximum({y}, 0), {top})`"
    )))
}

fn select(
    scope: &Scope,
    condition: ValueId,
    yes: ValueId,
    no: ValueId,
) -> Result<Meta, Diagnostic> {
    let (condition, yes, no) = (scope.value(condition)?, scope.value(yes)?, scope.value(no)?);
    if condition.ty != Type::Bool {
        return Err(no_such_type("where", condition.ty)
            .because("its first operand is a condition")
            .hint("write a comparison, such as `c != 0`"));
    }
    if yes.ty != no.ty {
        return Err(no_common_type("where", yes.ty, no.ty));
    }
    let branches = shape::broadcast(scope, &yes.shape, &no.shape)?;
    Ok(Meta {
        ty: yes.ty,
        shape: shape::broadcast(scope, &condition.shape, &branches)?,
        range: yes.range.hull(no.range),
        visibility: condition
            .visibility
            .join(yes.visibility)
            .join(no.visibility),
    })
}

fn cast(scope: &Scope, a: ValueId, ty: Type) -> Result<Meta, Diagnostic> {
    let value = scope.value(a)?;
    if !ty.is_valid() {
        return Err(invalid("a cast to a type of no possible width"));
    }
    let range = settle(ty, value.range, || {
        let name = scope.name(a, "a");
        let hint = match (ty, Type::smallest(value.range)) {
            (Type::Bool, _) => format!("write `{name} != 0`"),
            (_, Some(fits)) => format!(
                "use `sl.{fits}`, or make it fit with `sl.minimum` and `sl.maximum`; \
                 `sl.{}` keeps the low bits",
                ty.wrapping()
            ),
            (_, None) => String::new(),
        };
        Diagnostic::new(code::RANGE_OVERFLOW, format!("`{name}` may not fit {ty}"))
            .because(format!(
                "{name} is in {}, and {ty} holds {}",
                value.range,
                ty.range()
            ))
            .hint(hint)
    })?;
    Ok(Meta {
        ty,
        range,
        ..value.meta()
    })
}

fn reduce(scope: &Scope, op: Reduction, a: ValueId, axis: u32) -> Result<Meta, Diagnostic> {
    let value = scope.value(a)?;
    let Some(dim) = value.shape.dim(axis as usize) else {
        let shape = scope.shape(&value.shape);
        return Err(Diagnostic::new(
            code::SHAPE_MISMATCH,
            format!("there is no axis {axis} of shape {shape}"),
        )
        .because(format!("`{}` removes one axis", op.name())));
    };
    let range = match (op, value.ty) {
        (Reduction::Sum, Type::Bool) => return Err(no_such_type("sum", value.ty)),
        (Reduction::Sum, ty) => sum(ty, value.range, scope.length(dim), &scope.name(a, "a"))?,
        (Reduction::Any | Reduction::All, Type::Int { .. }) => {
            let name = scope.name(a, "a");
            return Err(no_such_type(op.name(), value.ty)
                .hint(format!("write `sl.{}({name} != 0)`", op.name())));
        }
        _ => value.range,
    };
    Ok(Meta {
        shape: value.shape.without(axis as usize),
        range,
        ..value.meta()
    })
}

/// The range of the sum of `count` (fewest and most) elements of a range.
pub(crate) fn sum(
    ty: Type,
    each: Range,
    count: (u64, u64),
    name: &str,
) -> Result<Range, Diagnostic> {
    let exact = range::sum(each, count.0, count.1);
    settle(ty, exact, || {
        let hint = wider(exact.hull(each), |wide| {
            format!("sl.sum({name}, dtype={wide})")
        });
        let many = if count.0 == count.1 { "" } else { "up to " };
        let given = format!("{many}{} elements in {each} give {exact}", count.1);
        overflow(&format!("sl.sum({name})"), ty, given, hint)
    })
}

fn dot(scope: &Scope, a: ValueId, b: ValueId) -> Result<Meta, Diagnostic> {
    let (left, right) = (scope.value(a)?, scope.value(b)?);
    if left.ty != right.ty {
        return Err(no_common_type("@", left.ty, right.ty));
    }
    if left.ty == Type::Bool {
        return Err(no_such_type("@", left.ty));
    }
    let (shape, length) = shape::dot(scope, &left.shape, &right.shape)?;
    let products = range::binary(Binary::Mul, left.range, right.range);
    let exact = range::sum(products, length, length);
    let range = settle(left.ty, exact, || {
        let (x, y) = (scope.name(a, "a"), scope.name(b, "b"));
        let all = exact.hull(left.range).hull(right.range);
        let hint = wider(all, |wide| format!("sl.dot({x}, {y}, dtype={wide})"));
        let given = format!("{length} products in {products} give {exact}");
        overflow(&format!("{x} @ {y}"), left.ty, given, hint)
    })?;
    Ok(Meta {
        ty: left.ty,
        shape,
        range,
        visibility: left.visibility.join(right.visibility),
    })
}

fn stack(scope: &Scope, values: &[ValueId], axis: u32) -> Result<Meta, Diagnostic> {
    let [first, rest @ ..] = values else {
        return Err(invalid("a stack of nothing"));
    };
    let mut meta = scope.value(*first)?.meta();
    for id in rest {
        let next = scope.value(*id)?;
        if next.ty != meta.ty {
            return Err(no_common_type("stack", meta.ty, next.ty));
        }
        if next.shape != meta.shape {
            let (one, other) = (scope.shape(&meta.shape), scope.shape(&next.shape));
            return Err(Diagnostic::new(
                code::SHAPE_MISMATCH,
                format!("a stack of {one} and {other}"),
            )
            .because("values are stacked along a new axis, so all have the same shape"));
        }
        meta.range = meta.range.hull(next.range);
        meta.visibility = meta.visibility.join(next.visibility);
    }
    meta.shape = shape::stack(scope, &meta.shape, values.len() as u64, axis)?;
    Ok(meta)
}

/// The range that a result has in its type: the exact one where it fits, the whole type where the
/// type wraps, and otherwise a refusal.
fn settle(
    ty: Type,
    exact: Range,
    refusal: impl FnOnce() -> Diagnostic,
) -> Result<Range, Diagnostic> {
    match ty {
        _ if ty.holds(exact) => Ok(exact),
        _ if ty.is_wrapping() => Ok(ty.range()),
        _ => Err(refusal()),
    }
}

fn overflow(expression: &str, ty: Type, given: String, hint: String) -> Diagnostic {
    Diagnostic::new(
        code::RANGE_OVERFLOW,
        format!("`{expression}` can leave {ty}"),
    )
    .because(format!("{given}, and {ty} holds {}", ty.range()))
    .hint(hint)
}

/// A hint that names the smallest type with all of `range`.
fn wider(range: Range, write: impl FnOnce(&str) -> String) -> String {
    match Type::smallest(range) {
        Some(ty) => format!("write `{}`", write(&format!("sl.{ty}"))),
        None => "no type holds it: declare narrower ranges of the inputs, clamp with \
                 `sl.minimum` and `sl.maximum`, or use a `.wrapping` type"
            .into(),
    }
}

pub(crate) fn invalid(what: &str) -> Diagnostic {
    Diagnostic::new(code::INVALID, what)
        .hint("trace the program anew; its text was not made by Sealane")
}

pub(crate) fn no_common_type(operation: &str, a: Type, b: Type) -> Diagnostic {
    let refused = Diagnostic::new(
        code::TYPE_MISMATCH,
        format!("`{operation}` finds no common type of {a} and {b}"),
    );
    if a.is_wrapping() == b.is_wrapping() {
        return refused
            .because("no integer type of at most 64 bits holds both")
            .hint("convert one of them with `.astype`");
    }
    let strict = if a.is_wrapping() { b } else { a };
    refused
        .because("one wraps and the other refuses to overflow")
        .hint(format!(
            "say which is meant: `.astype(sl.{})` or `.astype(sl.{})`",
            wrapping_form(strict),
            a.strict()
        ))
}

/// The wrapping type with the values of `ty`; for `bool` that of one bit.
fn wrapping_form(ty: Type) -> Type {
    if ty == Type::Bool {
        Type::unsigned(1).wrapping()
    } else {
        ty.wrapping()
    }
}

fn no_such_type(operation: &str, ty: Type) -> Diagnostic {
    Diagnostic::new(
        code::TYPE_MISMATCH,
        format!("`{operation}` does not take {ty}"),
    )
}
