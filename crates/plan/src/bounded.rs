//! Pass `bounded`: the whole program as joint work, with inputs that no party can give otherwise.
//!
//! A party that deviates shares whatever bits it likes. So against such parties nothing is computed
//! by one party alone ([`localise`](fn@crate::localise)): it could give a result that belongs to no
//! input, or to another one than it gives as well. And each input is any number of its bits, from
//! which the joint program takes the nearest of its declared range: that costs a comparison for
//! each end of a range that is not that of its bits. All else is in range then, as inferred.

use crate::localise::Localised;
use sealane_diagnostic::Diagnostic;
use sealane_program::graph::{Binary, Op, Program, Value, ValueId, Visibility};
use sealane_program::infer::Meta;
use sealane_program::types::{Data, Range, Shape, Type};

/// The division of a program without work of single parties. Random numbers are inputs first
/// ([`drawn`](fn@crate::drawn)).
///
/// # Errors
/// The errors of [`sealane_program::check`](fn@sealane_program::check).
pub fn bounded(program: &Program) -> Result<Localised, Diagnostic> {
    sealane_program::check(program)?;
    let params = program.main.params as usize;
    let (given, rest) = program.main.values.split_at(params);
    let mut joint = program.clone();
    let mut values = given.to_vec();
    let mut renamed = (0..params as u32).map(ValueId).collect::<Vec<_>>();
    for (at, param) in given.iter().enumerate() {
        let all = of_bits(param.ty, param.range);
        let Op::Param(input) = param.op else { continue };
        values[at].range = all;
        joint.inputs[input as usize].range = all;
        let [least, most] = match param.ty {
            Type::Bool => [Binary::Or, Binary::And],
            _ => [Binary::Max, Binary::Min],
        };
        let (range, mut within) = (param.range, all);
        if all.lo < range.lo {
            within.lo = range.lo;
            renamed[at] = end(&mut values, param, (least, range.lo), renamed[at], within);
        }
        if all.hi > range.hi {
            within.hi = range.hi;
            renamed[at] = end(&mut values, param, (most, range.hi), renamed[at], within);
        }
    }
    for value in rest {
        let mut value = value.clone();
        value.op.renumber(|id| renamed[id.0 as usize]);
        renamed.push(ValueId(values.len() as u32));
        values.push(value);
    }
    for result in &mut joint.results {
        result.value = renamed[result.value.0 as usize];
    }
    joint.main.values = values;
    Ok(Localised {
        joint,
        locals: Vec::new(),
    })
}

/// All numbers of the bits in which values of a range are stored.
fn of_bits(ty: Type, range: Range) -> Range {
    let bits = u32::from(range.bits());
    // A bit that holds 0 alone may be the sign of a type of one bit.
    let signed = range.signed() || !ty.holds(Range::new(0, (1i128 << bits) - 1));
    if signed {
        let end = 1i128 << (bits - 1);
        Range::new(-end, end - 1)
    } else {
        Range::new(0, (1i128 << bits) - 1)
    }
}

/// Adds the least or the greatest number of a value's range as a constant, and the value that is no
/// less or no greater.
fn end(
    values: &mut Vec<Value>,
    param: &Value,
    (op, number): (Binary, i128),
    of: ValueId,
    within: Range,
) -> ValueId {
    let mut push = |value| {
        values.push(value);
        ValueId(values.len() as u32 - 1)
    };
    let data = Data {
        ty: param.ty,
        shape: Vec::new(),
        elements: vec![number as u64],
    };
    let meta = Meta::new(
        param.ty,
        Shape::scalar(),
        Range::of(number),
        Visibility::Public,
    );
    let constant = push(Value::new(Op::Const(data), meta, param.span.clone()));
    let mut bounded = param.clone().with_op(Op::Binary(op, of, constant));
    bounded.range = within;
    push(bounded)
}

#[cfg(test)]
mod tests {
    use super::*;
    use sealane_program::text::{parse, print};

    #[test]
    fn inputs_are_of_their_bits_and_values_of_their_ranges() {
        let text = "sealane program 1
name p
party a
party b
rows people <= 9
input x : a u16[people] in 3..100
input y : b i8 in -100..127
input z : b bool in 0..0
input w : b i8 in -128..127
main {
  %0 = param 0 : u16[people] in 3..100 known a
  %1 = param 1 : i8 in -100..127 known b
  %2 = param 2 : bool in 0..0 known b
  %3 = param 3 : i8 in -128..127 known b
  %4 = mul %0, %0 : u16[people] in 9..10000 known a
  %5 = gt %1, %3 : bool in 0..1 known b
  %6 = and %5, %2 : bool in 0..0 known b
}
reveal r = %4 : u16 to b
reveal s = %6 : bool to a
";
        let program = parse(text, "p").unwrap_or_else(|error| panic!("{error}"));
        let bounded = bounded(&program).unwrap();
        assert!(bounded.locals.is_empty());
        sealane_program::check(&bounded.joint).unwrap_or_else(|error| panic!("{error}"));
        let text = print(&bounded.joint);
        for line in [
            "input x : a u16[people] in 0..127\n",
            "input y : b i8 in -128..127\n",
            "input z : b bool in 0..1\n",
            "input w : b i8 in -128..127\n",
            "%5 = max %0, %4 : u16[people] in 3..127 known a",
            "%7 = min %5, %6 : u16[people] in 3..100 known a",
            "%9 = max %1, %8 : i8 in -100..127 known b",
            "%11 = and %2, %10 : bool in 0..0 known b",
            "%12 = mul %7, %7 :",
            "%13 = gt %9, %3 :",
            "%14 = and %13, %11 :",
        ] {
            assert!(text.contains(line), "{line}\n{text}");
        }
    }
}
