//! Operations on single elements, each in the width of its result.

use super::numeric::{self, Placed};
use crate::floats::Call;
use crate::points::{PointsCall, PowersCall};
use sealane_circuit::{Builder, Int, Wire, Word};
use sealane_program::call::of_field;
use sealane_program::graph::{Binary, Op, Reduction, Unary};
use sealane_program::types::{Range, Type};

/// Lowers one element of an element-wise operation. `ty` is the type of the first operand: some
/// operations depend on all of its bits.
pub(super) fn scalar(
    b: &mut Builder,
    placed: &mut Placed,
    op: &Op,
    operands: &[(Int<'_>, Range)],
    ty: Type,
    range: Range,
) -> Word {
    let width = usize::from(range.bits());
    match (op, operands) {
        (Op::Unary(unary, _), [(x, _)]) => self::unary(b, *unary, *x, ty, width),
        (Op::Binary(binary, ..), [x, y]) => match decided(*binary, x.1, y.1) {
            Some(bit) => vec![Wire::constant(bit)],
            None => self::binary(b, *binary, x.0, y.0, width),
        },
        (Op::Select(..), [(condition, _), (yes, _), (no, _)]) => {
            b.select(condition.bit(0), &yes.resize(width), &no.resize(width))
        }
        (Op::Cast(_), [(x, _)]) => x.resize(width),
        (Op::Call(name, _), operands) => {
            if let (Some(call), [(x, _)]) = (PointsCall::named(name), operands) {
                return call.lower(b, *x, range);
            }
            if let (Some(call), [(x, _), (y, _)]) = (PowersCall::named(name), operands) {
                return call.lower(b, [*x, *y], range);
            }
            if let (Some(field), [(x, _), (y, _)]) = (of_field(name), operands) {
                let bits = field.bits();
                return b.field_product(&field, &x.resize(bits), &y.resize(bits));
            }
            let Some(call) = Call::named(name) else {
                unreachable!("only functions of numbers are element-wise")
            };
            let operands = operands.iter().map(|(x, _)| *x).collect::<Vec<_>>();
            numeric::lower(b, placed, &call, &operands, range)
        }
        _ => unreachable!("an element-wise operation with its operands"),
    }
}

/// Combines all terms at once.
pub(super) fn reduce(
    b: &mut Builder,
    reduction: Reduction,
    terms: &[Int<'_>],
    range: Range,
) -> Word {
    let width = usize::from(range.bits());
    let bits = || terms.iter().map(|term| term.bit(0)).collect::<Word>();
    match reduction {
        Reduction::Sum => b.sum(terms, width),
        Reduction::Any => vec![b.any(&bits())],
        Reduction::All => vec![b.all(&bits())],
        Reduction::Min | Reduction::Max => {
            let signed = terms.first().is_some_and(|term| term.signed);
            let widest = terms.iter().map(|term| term.bits.len()).max().unwrap_or(1);
            let mut level = terms
                .iter()
                .map(|term| term.resize(widest))
                .collect::<Vec<_>>();
            while level.len() > 1 {
                let mut pair = |pair: &[Word]| match pair {
                    [x, y] => pick(b, reduction, [x, y], signed, widest),
                    rest => rest.concat(),
                };
                level = level.chunks(2).map(&mut pair).collect();
            }
            Int {
                bits: &level.remove(0),
                signed,
            }
            .resize(width)
        }
    }
}

/// Combines two partial results of a reduction.
pub(super) fn combine(
    b: &mut Builder,
    reduction: Reduction,
    [x, y]: [&Word; 2],
    signed: bool,
    width: usize,
) -> Word {
    let int = |bits| Int { bits, signed };
    match reduction {
        Reduction::Sum => b.add(int(x), int(y), width),
        Reduction::Any => vec![b.or(x[0], y[0])],
        Reduction::All => vec![b.and(x[0], y[0])],
        Reduction::Min | Reduction::Max => pick(b, reduction, [x, y], signed, width),
    }
}

fn pick(b: &mut Builder, which: Reduction, [x, y]: [&Word; 2], signed: bool, width: usize) -> Word {
    let (x, y) = (Int { bits: x, signed }, Int { bits: y, signed });
    match which {
        Reduction::Min => b.min(x, y, width),
        _ => b.max(x, y, width),
    }
}

fn unary(b: &mut Builder, unary: Unary, x: Int<'_>, ty: Type, width: usize) -> Word {
    match unary {
        Unary::Neg => b.neg(x, width),
        Unary::Not => x.resize(width).into_iter().map(|bit| !bit).collect(),
        Unary::Abs => b.abs(x, width),
        Unary::Popcount => b.popcount(&x.resize(usize::from(ty.bits())), width),
    }
}

fn binary(b: &mut Builder, binary: Binary, x: Int<'_>, y: Int<'_>, width: usize) -> Word {
    let bitwise = |b: &mut Builder, gate: fn(&mut Builder, Wire, Wire) -> Wire| {
        b.zip(&x.resize(width), &y.resize(width), gate)
    };
    match binary {
        Binary::Add => b.add(x, y, width),
        Binary::Sub => b.sub(x, y, width),
        Binary::Mul => b.mul(x, y, width),
        Binary::FloorDiv => b.div(x, y, width),
        Binary::Div => unreachable!("behind the pass `scale`, nothing has a fraction"),
        Binary::Mod => b.rem(x, y, width),
        Binary::And => bitwise(b, Builder::and),
        Binary::Or => bitwise(b, Builder::or),
        Binary::Xor => bitwise(b, Builder::xor),
        Binary::Shl => b.shl(x, y.bits, width),
        Binary::Shr => b.shr(x, y.bits, width),
        Binary::Eq => vec![b.eq(x, y)],
        Binary::Ne => vec![!b.eq(x, y)],
        Binary::Lt => vec![b.lt(x, y)],
        Binary::Le => vec![b.le(x, y)],
        Binary::Gt => vec![b.lt(y, x)],
        Binary::Ge => vec![b.le(y, x)],
        Binary::Min => b.min(x, y, width),
        Binary::Max => b.max(x, y, width),
    }
}

/// Returns the result of a comparison that the ranges determine.
fn decided(binary: Binary, x: Range, y: Range) -> Option<bool> {
    let (below, above) = (x.hi < y.lo, x.lo > y.hi);
    let (not_above, not_below) = (x.hi <= y.lo, x.lo >= y.hi);
    let known = |yes: bool, no: bool| (yes || no).then_some(yes);
    match binary {
        Binary::Eq => known(false, below || above),
        Binary::Ne => known(below || above, false),
        Binary::Lt => known(below, not_below),
        Binary::Le => known(not_above, above),
        Binary::Gt => known(above, not_above),
        Binary::Ge => known(not_below, below),
        _ => None,
    }
}
