//! Operations on single elements, each in the width of its result.

use super::numeric::{self, Placed};
use crate::fixed_functions::{PointsCall, PowersCall};
use crate::floats::Call;
use sealane_circuit::{Builder, Int, Wire, Word};
use sealane_program::call::of_field;
use sealane_program::graph::{Op, Reduction};
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
        (Op::Unary(unary, _), [(x, _)]) => (unary.row().lower)(b, *x, ty, width),
        (Op::Binary(binary, ..), [x, y]) => {
            let row = binary.row();
            let result = || (row.range)(x.1, y.1);
            let decided = binary.is_comparison().then(result);
            match decided.filter(|result| result.lo == result.hi) {
                Some(result) => vec![Wire::constant(result.lo == 1)],
                None => (row.lower)(b, x.0, y.0, width),
            }
        }
        (Op::Select(..), [(condition, _), (yes, _), (no, _)]) => {
            b.select(condition.bit(0), &yes.resize(width), &no.resize(width))
        }
        (Op::Cast(_) | Op::Share { .. }, [(x, _)]) => x.resize(width),
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
                    [x, y] => combine(b, reduction, [x, y], signed, widest),
                    rest => rest.concat(),
                };
                level = level.chunks(2).map(&mut pair).collect();
            }
            Int::new(&level.remove(0), signed).resize(width)
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
    (reduction.row().joins.row().lower)(b, int(x), int(y), width)
}
