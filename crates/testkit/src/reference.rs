//! Reference interpreter of programs, slow and simple: one number at a time, in `i128`.
//!
//! It is the oracle of lowering and of every protocol, so it shares no code with them, nor with
//! inference. Of element-wise operations it takes the meaning in the clear, which stands beside
//! range and circuit in the table of operations and is used by tests alone. Every number it
//! computes is compared with the range that inference gives it, and a number outside is a panic.
//! Fixed-point values are stored numbers, and operations on them follow
//! from their number of fraction bits; floating point is Rust's own (`floats`). Functions of fixed
//! point alone are circuits, compared with values of `f64` (`fixed`). It follows `NUMERICS.md` line
//! by line. AES and SHA-256 are those of the RustCrypto crates.

mod arrange;
mod body;
mod fixed;
mod floats;
mod tensor;

use aes::cipher::{BlockCipherEncrypt, KeyInit};
use body::Body;
use floats::Floats;
use sealane_program::graph::{
    Binary, Graph, Input, Op, Program, Reduction, RowCounts, Value, ValueId, row_count, summed_rows,
};
use sealane_program::types::{Data, Dim, Shape, Type};
use sha2::Digest;
use std::collections::BTreeMap;
use tensor::{
    Tensor, each, each_of, joint_shape, lanes, lookup, pick, places, position, products, reduce,
    spread, stack, stacked,
};

/// Error for inputs that do not match the program.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("input `{name}` {fault}")]
pub struct BadInput {
    /// Name of the input.
    pub name: String,
    /// Description of the fault.
    pub fault: &'static str,
}

impl BadInput {
    fn new(input: &Input, fault: &'static str) -> BadInput {
        let name = input.name.clone();
        BadInput { name, fault }
    }
}

/// Runs a checked program on inputs by name and returns its results by name.
///
/// # Errors
/// An input is missing or does not match the signature.
///
/// # Panics
/// A number is outside the range that inference gives it: a bug of inference or of this
/// interpreter.
pub fn evaluate(
    program: &Program,
    inputs: &BTreeMap<String, Data>,
) -> Result<BTreeMap<String, Data>, BadInput> {
    let rows = rows(program, inputs)?;
    let mut params = Vec::new();
    for input in &program.inputs {
        let bad = |fault| BadInput::new(input, fault);
        let data = inputs.get(&input.name).ok_or_else(|| bad("is missing"))?;
        let tensor = Tensor::of(data);
        if data.ty != input.ty || tensor.shape != concrete(&input.shape, &rows) {
            return Err(bad("has another type or shape than the signature says"));
        }
        if tensor.numbers.len() as u64 != tensor.shape.iter().product::<u64>() {
            return Err(bad("has not as many elements as its shape"));
        }
        let admitted = |number: &i128| input.ty.admits(input.range, *number);
        if !tensor.numbers.iter().all(admitted) {
            let outside = "has an element outside of the range that the signature says";
            return Err(bad(outside));
        }
        params.push(tensor);
    }
    let (rows, flushed) = (&rows, program.flush_subnormals);
    let context = Context { rows, flushed };
    let values = run(&program.main, params, context);
    let results = program.results.iter().map(|reveal| {
        let Tensor { ty, shape, numbers } = values[reveal.value.0 as usize][0].clone();
        let data = Data::from_numbers(ty, shape, &numbers);
        (reveal.name.clone(), data.expect("a result is in its type"))
    });
    Ok(results.collect())
}

/// Row counts of the inputs and their sums, by `RowId`; 1 if no input determines it.
pub fn rows(program: &Program, inputs: &BTreeMap<String, Data>) -> Result<RowCounts, BadInput> {
    let mut counts = vec![None; program.rows.len()];
    for input in &program.inputs {
        let bad = |fault| BadInput::new(input, fault);
        let Some(rows) = input.shape.rows else {
            continue;
        };
        let data = inputs.get(&input.name).ok_or_else(|| bad("is missing"))?;
        let count = *data.shape.first().ok_or_else(|| bad("has no rows"))?;
        if count == 0 || count > program.rows[usize::from(rows.0)].bound {
            return Err(bad("has too many rows or none"));
        }
        let before = counts[usize::from(rows.0)].replace(count);
        if before.is_some_and(|other| other != count) {
            return Err(bad("has another number of rows than an input before it"));
        }
    }
    for (index, symbol) in program.rows.iter().enumerate() {
        counts[index] = counts[index].or(summed_rows(symbol, &counts)).or(Some(1));
    }
    Ok(counts.into_iter().flatten().collect())
}

/// Properties of a run that all of its graphs share.
#[derive(Clone, Copy)]
struct Context<'a> {
    rows: &'a RowCounts,
    /// True if floating point below the normal numbers is zero.
    flushed: bool,
}

/// The values of a graph; a map or scan has one tensor for each part, every other value one.
fn run(graph: &Graph, params: Vec<Tensor>, context: Context) -> Vec<Vec<Tensor>> {
    let mut done: Vec<Vec<Tensor>> = Vec::new();
    for value in &graph.values {
        let tensors = match &value.op {
            Op::Param(index) => vec![params[*index as usize].clone()],
            Op::Part(of, index) => vec![done[of.0 as usize][*index as usize].clone()],
            Op::Map(of) | Op::Scan(of) => Body::new(&done, of, context).walk(&of.init),
            Op::Sort(of, _) => Body::new(&done, of, context).sort(),
            Op::Prefix(of) => Body::new(&done, of, context).prefix(),
            Op::Compact { keep, over } => compact(&done, *keep, over),
            Op::View { of, start, dims } => {
                let by_rows = value.shape.rows.is_some();
                let of = &done[of.0 as usize][0];
                vec![arrange::view(of, by_rows, *start, dims)]
            }
            Op::Call(name, ids) if fixed::is_call(name, &values(graph, ids)) => {
                let numbers: Vec<_> = ids.iter().map(|id| &done[id.0 as usize][0]).collect();
                let operands = values(graph, ids);
                vec![fixed::call(name, &operands, value.ty, &numbers)]
            }
            op => vec![compute(op, value.ty, &done, context)],
        };
        if !value.op.has_parts() {
            promised(value, &tensors[0], context.rows);
        }
        done.push(tensors);
    }
    done
}

fn values<'a>(graph: &'a Graph, ids: &[ValueId]) -> Vec<&'a Value> {
    ids.iter().map(|id| &graph[id]).collect()
}

/// Compares a tensor with its inferred properties.
fn promised(value: &Value, tensor: &Tensor, rows: &RowCounts) {
    assert_eq!(tensor.ty, value.ty, "a type is not as inferred");
    let shape = concrete(&value.shape, rows);
    assert_eq!(tensor.shape, shape, "a shape is not as inferred");
    let elements = tensor.shape.iter().product::<u64>();
    assert_eq!(tensor.numbers.len() as u64, elements);
    for &number in &tensor.numbers {
        let inside = value.ty.admits(value.range, number);
        let range = value.range;
        assert!(inside, "{number} is outside of the inferred range {range}");
    }
}

/// Moves the elements that are kept to the front; zeros fill the rest.
fn compact(done: &[Vec<Tensor>], keep: ValueId, over: &[ValueId]) -> Vec<Tensor> {
    let keep = &done[keep.0 as usize][0].numbers;
    let kept: Vec<_> = (0..keep.len()).filter(|at| keep[*at] != 0).collect();
    let moved = |id: &ValueId| {
        let of = &done[id.0 as usize][0];
        let size = of.numbers.len() / keep.len();
        let parts = kept.iter().map(|at| &of.numbers[at * size..][..size]);
        let mut numbers = parts.flatten().copied().collect::<Vec<_>>();
        numbers.resize(of.numbers.len(), 0);
        of.with(numbers)
    };
    over.iter().map(moved).collect()
}

/// Computes every operation except parameters and bodies; `ty` is the type of the result.
fn compute(op: &Op, ty: Type, done: &[Vec<Tensor>], context: Context) -> Tensor {
    let of = |id: &ValueId| &done[id.0 as usize][0];
    let wrap = |number| {
        if ty.is_wrapping() {
            ty.wrap(number)
        } else {
            number
        }
    };
    let floats = |ty: Type| {
        let flushed = context.flushed;
        ty.format().map(|format| Floats { format, flushed })
    };
    let first = op.operands().first().and_then(|a| floats(of(a).ty));
    let join = |op: Reduction| {
        move |x, y| match (first, op) {
            (Some(floats), Reduction::Min | Reduction::Max) => {
                floats.end(op == Reduction::Min, x, y)
            }
            _ => wrap(joined(op, x, y)),
        }
    };
    let tensor = match op {
        Op::Const(data) => Tensor::of(data),
        Op::Unary(op, a) => each(&[of(a)], |x| match first {
            Some(floats) => floats.unary(*op, x[0]),
            None => wrap((op.row().clear)(of(a).ty, x[0])),
        }),
        Op::Binary(op, a, b) if [of(a).ty, of(b).ty, ty].iter().any(|ty| ty.is_fixed()) => {
            let fractions = [of(a).ty, of(b).ty, ty].map(fraction);
            each(&[of(a), of(b)], |x| fixed(*op, fractions, x[0], x[1]))
        }
        Op::Binary(op, a, b) => each(&[of(a), of(b)], |x| match first {
            Some(floats) => floats.binary(*op, x[0], x[1]),
            None => wrap((op.row().clear)(x[0], x[1])),
        }),
        Op::Select(c, yes, no) => each(&[of(c), of(yes), of(no)], |x| {
            if x[0] != 0 { x[1] } else { x[2] }
        }),
        Op::Share { of: a, .. } => of(a).clone(),
        Op::Cast(a) => {
            let by = fraction(ty) - fraction(of(a).ty);
            each(&[of(a)], |x| match (first, floats(ty)) {
                (Some(from), _) => from.cast(x[0], ty),
                (None, Some(to)) => to.of(x[0], of(a).ty.fraction()),
                (None, None) => wrap(scaled(x[0], by)),
            })
        }
        Op::Reduce(Reduction::Sum, a, axis) if first.is_some() => {
            let (floats, lanes) = (first.expect("a format"), lanes(of(a), &[*axis]));
            each_of(&lanes, |x| floats.sum(x.iter().map(|x| floats.value(*x))))
        }
        Op::Dot(a, b) if first.is_some() => {
            let (floats, to) = (first.expect("a format"), floats(ty).expect("a format"));
            products(of(a), of(b), |x, y| to.sum(exact(floats, x, y)))
        }
        Op::SumProduct { a, b, axes } if first.is_some() => {
            let (floats, to) = (first.expect("a format"), floats(ty).expect("a format"));
            let [x, y] = [a, b].map(|id| spread(of(id), [of(a), of(b)]));
            let (x, y) = (lanes(&x, axes), lanes(&y, axes));
            let both = x.iter().chain(&y).cloned().collect::<Vec<_>>();
            each_of(&both, |both| {
                let (x, y) = both.split_at(both.len() / 2);
                to.sum(exact(floats, x, y))
            })
        }
        Op::Call(name, operands) if first.is_some() => {
            let floats = first.expect("a format");
            let operands = operands.iter().map(of).collect::<Vec<_>>();
            each(&operands, |x| floats.call(name, x))
        }
        Op::Reduce(op, a, axis) => reduce(of(a), *axis, join(*op)),
        Op::Dot(a, b) => {
            let by = fraction(ty) - fraction(of(a).ty) - fraction(of(b).ty);
            each(&[&dot(of(a), of(b), wrap)], |x| scaled(x[0], by))
        }
        Op::SumProduct { a, b, axes } => {
            let by = fraction(ty) - fraction(of(a).ty) - fraction(of(b).ty);
            let products = each(&[of(a), of(b)], |x| x[0] * x[1]);
            let sum = |sum: Tensor, axis: &u32| reduce(&sum, *axis, |x, y| x + y);
            let sum = axes.iter().rev().fold(products, sum);
            each(&[&sum], |x| scaled(x[0], by))
        }
        Op::Slice(s) => pick(of(&s.of), s.axis as usize, s.start, s.len, s.squeeze),
        Op::Concat(values, axis) => {
            arrange::concat(&values.iter().map(of).collect::<Vec<_>>(), *axis as usize)
        }
        Op::Append(values) => arrange::concat(&values.iter().map(of).collect::<Vec<_>>(), 0),
        Op::Accumulate(op, a, axis) => arrange::accumulate(of(a), *axis, join(*op)),
        Op::Lookup { table, index } => lookup(of(table), of(index)),
        Op::Stack(values, axis) => stack(&values.iter().map(of).collect::<Vec<_>>(), *axis),
        Op::Call(name, operands) if name.starts_with(FIELD) => {
            let polynomial = i128::from_str_radix(&name[FIELD.len()..], 16).expect("a polynomial");
            let operands = operands.iter().map(of).collect::<Vec<_>>();
            each(&operands, |x| field_product(polynomial, x[0], x[1]))
        }
        Op::Call(name, operands) => call(name, &operands.iter().map(of).collect::<Vec<_>>()),
        Op::Mean { .. } => panic!("means are tested against fractions of Python"),
        Op::Random { .. } => panic!("a reference knows no random numbers"),
        Op::RowNumber(rows) => {
            let count = row_count(context.rows, *rows);
            Tensor::new(ty, vec![count], (0..i128::from(count)).collect())
        }
        Op::Roll { of: a, by } => {
            let (a, count) = (of(a), of(a).shape[0] as i64);
            let turns = (0..count).map(|at| (at - by).rem_euclid(count) as u64);
            let rows: Vec<_> = turns.map(|turn| pick(a, 0, turn, 1, true)).collect();
            stacked(&rows)
        }
        Op::Head { of: a, len } => {
            let a = of(a);
            let size = a.numbers.len() / a.shape[0] as usize;
            let mut numbers = a.numbers.clone();
            numbers.resize(*len as usize * size, 0);
            let shape = [&[*len], &a.shape[1..]].concat();
            Tensor { ty, shape, numbers }
        }
        Op::Running(reduction, a, starts) => {
            let a = of(a);
            let size = a.numbers.len() / a.shape[0] as usize;
            let mut numbers = a.numbers.clone();
            for at in size..numbers.len() {
                let anew = starts.is_some_and(|starts| of(&starts).numbers[at / size] != 0);
                if !anew {
                    numbers[at] = wrap(joined(*reduction, numbers[at - size], numbers[at]));
                }
            }
            a.with(numbers)
        }
        Op::Param(_)
        | Op::Part(..)
        | Op::Map(_)
        | Op::Scan(_)
        | Op::Sort(..)
        | Op::Prefix(_)
        | Op::View { .. }
        | Op::Compact { .. } => unreachable!("in `run`"),
    };
    Tensor { ty, ..tensor }
}

/// Computes an operation on stored numbers with the given numbers of fraction bits: of `x`, of `y`
/// and of the result. The result is that of the operation on the represented numbers, rounded down.
fn fixed(op: Binary, [f, g, h]: [i32; 3], x: i128, y: i128) -> i128 {
    let finest = f.max(g);
    let (along, beside) = (|| scaled(x, finest - f), || scaled(y, finest - g));
    match op {
        Binary::Mul => scaled(x * y, h - f - g),
        // x / 2^f over y / 2^g, in units of 2^-h.
        Binary::Div => quotient(scaled(x, (h - f + g).max(0)), scaled(y, (f - g - h).max(0))),
        Binary::FloorDiv => scaled(quotient(along(), beside()), h),
        op if op.is_comparison() => (op.row().clear)(along(), beside()),
        op => (op.row().clear)(x, y),
    }
}

fn fraction(ty: Type) -> i32 {
    ty.fraction().into()
}

/// The number times `2^by`, rounded towards minus infinity.
fn scaled(x: i128, by: i32) -> i128 {
    match by {
        0.. => x * 2i128.pow(by as u32),
        -126..0 => quotient(x, 2i128.pow(by.unsigned_abs())),
        // Divided by more than its magnitude.
        _ => -i128::from(x < 0),
    }
}

/// Quotient rounded towards minus infinity: Euclid's, less one where that rounds up.
fn quotient(x: i128, y: i128) -> i128 {
    let up = y < 0 && x.rem_euclid(y) != 0;
    x.div_euclid(y) - i128::from(up)
}

/// Numbers whose sum is that of the exact products.
fn exact(floats: Floats, x: &[i128], y: &[i128]) -> Vec<f64> {
    let pairs = x.iter().zip(y);
    pairs.flat_map(|(x, y)| floats.product(*x, *y)).collect()
}

fn joined(op: Reduction, x: i128, y: i128) -> i128 {
    (op.row().joins.row().clear)(x, y)
}

/// The last axis of `a` with the first of `b`, which has one or two.
fn dot(a: &Tensor, b: &Tensor, wrap: impl Fn(i128) -> i128) -> Tensor {
    products(a, b, |x, y| {
        let terms = x.iter().zip(y).map(|(x, y)| x.wrapping_mul(*y));
        terms.fold(0, |sum, term| wrap(sum + wrap(term)))
    })
}

/// Beginning of the names of products in fields, before the digits of their polynomials.
const FIELD: &str = "gf_mul_0x";

/// The product of two polynomials over GF(2), divided with remainder by a third one.
fn field_product(polynomial: i128, x: i128, y: i128) -> i128 {
    let shifted = (0..64).filter(|bit| y >> bit & 1 == 1).map(|bit| x << bit);
    let mut rest = shifted.fold(0, |sum, power| sum ^ power);
    let degree = polynomial.ilog2();
    while rest >> degree > 0 {
        rest ^= polynomial << (rest.ilog2() - degree);
    }
    rest
}

/// Applies a function to the bytes along the last axes; the axes before them broadcast.
fn call(name: &str, operands: &[&Tensor]) -> Tensor {
    let leading = |a: &Tensor| a.shape[..a.shape.len() - 1].to_vec();
    let leadings: Vec<Vec<u64>> = operands.iter().map(|a| leading(a)).collect();
    let mut shape = joint_shape(leadings.iter().map(Vec::as_slice));
    let mut numbers = Vec::new();
    for place in places(&shape) {
        let bytes = operands.iter().zip(&leadings).map(|(a, leading)| {
            let length = a.shape[leading.len()] as usize;
            let lane = &a.numbers[position(leading, &place) * length..][..length];
            lane.iter().map(|&number| number as u8).collect::<Vec<u8>>()
        });
        let made = function(name, &bytes.collect::<Vec<_>>()).into_iter();
        numbers.extend(made.map(i128::from));
    }
    shape.push((numbers.len() as u64) / shape.iter().product::<u64>());
    Tensor::new(Type::U8, shape, numbers)
}

fn function(name: &str, operands: &[Vec<u8>]) -> Vec<u8> {
    match name {
        "aes128" => {
            let cipher = aes::Aes128::new_from_slice(&operands[0]).expect("a key has 16 bytes");
            let mut block = aes::Block::try_from(&operands[1][..]).expect("a block has 16 bytes");
            cipher.encrypt_block(&mut block);
            block.to_vec()
        }
        "sha256" => sha2::Sha256::digest(&operands[0]).to_vec(),
        _ => panic!("the reference does not know `{name}`"),
    }
}

fn concrete(shape: &Shape, rows: &RowCounts) -> Vec<u64> {
    let dims = (0..shape.rank()).filter_map(|axis| shape.dim(axis));
    dims.map(|dim| match dim {
        Dim::Rows(id) => row_count(rows, id),
        Dim::Fixed(n) => n,
    })
    .collect()
}
