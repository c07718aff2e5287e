//! Pass `bounded`: the whole program as joint work, with inputs that no party can give otherwise.
//!
//! A party that deviates shares whatever bits it likes. So against such parties nothing is computed
//! by one party alone ([`localise`](fn@crate::localise)): it could give a result that belongs to no
//! input, or to another one than it gives as well. And each input is any number of its bits, from
//! which the joint program takes the nearest of its declared range: that costs a comparison for
//! each end of a range that is not that of its bits. Of a text it takes what is before the first
//! byte 0, since an operation may tell an end from a letter: that costs nine ANDs a byte. All else
//! is in range then, as inferred.

use crate::localise::Localised;
use sealane_diagnostic::{Code, Diagnostic};
use sealane_program::elementwise::Reduction;
use sealane_program::graph::{Binary, Input, Op, Program, Value, ValueId, Visibility};
use sealane_program::infer::Meta;
use sealane_program::kind::Form;
use sealane_program::types::{Data, Range, Shape, Type};

/// The division of a program without work of single parties. Random numbers are inputs first
/// ([`drawn`](fn@crate::drawn)).
///
/// # Errors
/// The errors of [`sealane_program::check`](fn@sealane_program::check); an input of floating point
/// has declared magnitudes, to which no operation holds it.
pub fn bounded(program: &Program) -> Result<Localised, Diagnostic> {
    sealane_program::check(program)?;
    let mut inputs = program.inputs.iter();
    if let Some(input) = inputs.find(|input| input.ty.magnitudes(input.range).is_some()) {
        return Err(magnitudes(input));
    }
    let params = program.main.params as usize;
    let (given, rest) = program.main.values.split_at(params);
    let mut joint = program.clone();
    let mut values = given.to_vec();
    let mut renamed = (0..params as u32).map(ValueId).collect::<Vec<_>>();
    for (at, param) in given.iter().enumerate() {
        let all = of_bits(param.ty, param.range);
        let Op::Param(input) = param.op else { continue };
        values[at].range = all;
        let joined = &mut joint.inputs[input as usize];
        joined.range = all;
        if all != param.range {
            // Numbers that are no dates or categories are held to these below.
            joined.kind.form = Form::Number;
        }
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
        if let Form::Text(_) = program.inputs[input as usize].kind.form {
            renamed[at] = ended(&mut values, param, renamed[at]);
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

fn magnitudes(input: &Input) -> Diagnostic {
    let name = &input.name;
    let what = format!("nothing holds `{name}` to its magnitudes where its owner may deviate");
    Diagnostic::new(Code::Signature, what)
        .at(input.span.as_ref())
        .because(
            "Sums of such numbers rest on their magnitudes, and no step of a protocol against \
             malicious parties checks them.",
        )
        .hint("leave `sl.magnitude` out, or run among parties that follow the protocol")
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
    let constant = constant(values, param, number);
    let mut bounded = param.clone().with_op(Op::Binary(op, of, constant));
    bounded.range = within;
    push(values, bounded)
}

/// Adds the texts, along the last axis, with 0 for all bytes behind the first that is 0.
fn ended(values: &mut Vec<Value>, param: &Value, of: ValueId) -> ValueId {
    let zero = constant(values, param, 0);
    let mut letters = param.clone().with_op(Op::Binary(Binary::Ne, of, zero));
    (letters.ty, letters.range) = (Type::Bool, Range::new(0, 1));
    let last = param.shape.rank() as u32 - 1;
    let is_letter = push(values, letters.clone());
    let before = Op::Accumulate(Reduction::All, is_letter, last);
    let before = push(values, letters.with_op(before));
    push(values, param.clone().with_op(Op::Select(before, of, zero)))
}

fn push(values: &mut Vec<Value>, value: Value) -> ValueId {
    values.push(value);
    ValueId(values.len() as u32 - 1)
}

/// Adds a number of the type of an input.
fn constant(values: &mut Vec<Value>, param: &Value, number: i128) -> ValueId {
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
    push(
        values,
        Value::new(Op::Const(data), meta, param.span.clone()),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use sealane_program::text::{parse, print};

    #[test]
    fn an_input_of_declared_magnitudes_is_refused_by_its_name() {
        let program = |magnitudes: &str| {
            let text = format!(
                "sealane program 1\nname p\nparty a\nparty b\ninput x : a f32{magnitudes}\n\
                 main {{\n  %0 = param 0 : f32{magnitudes} known a\n}}\nreveal r = %0 : f32 to b\n"
            );
            parse(&text, "p").unwrap_or_else(|error| panic!("{error}"))
        };
        assert!(bounded(&program("")).is_ok());
        let refusal = bounded(&program(" in magnitudes 0.25..100.0")).err();
        let refusal = refusal.expect("nothing holds it to them");
        assert_eq!(refusal.code, Code::Signature);
        assert!(refusal.message.contains("`x`"), "{refusal}");
        assert!(refusal.hint.contains("sl.magnitude"), "{refusal}");
    }

    #[test]
    fn inputs_are_of_their_bits_and_values_of_their_ranges() {
        let text = r#"sealane program 1
name p
party a
party b
rows people <= 9
input x : a u16[people] in 3..100
input y : b i8 in -100..127
input z : b bool in 0..0
input w : b i8 in -128..127
input day : b i23 in -719162..2932896 as date
input town : b u2 in 0..2 as category "here", "near", "far"
input name : a u8[people, 3] in 0..127 as text ascii
main {
  %0 = param 0 : u16[people] in 3..100 known a
  %1 = param 1 : i8 in -100..127 known b
  %2 = param 2 : bool in 0..0 known b
  %3 = param 3 : i8 in -128..127 known b
  %4 = param 4 : i23 in -719162..2932896 known b
  %5 = param 5 : u2 in 0..2 known b
  %6 = param 6 : u8[people,3] in 0..127 known a
  %7 = mul %0, %0 : u16[people] in 9..10000 known a
  %8 = gt %1, %3 : bool in 0..1 known b
  %9 = and %8, %2 : bool in 0..0 known b
}
reveal r = %7 : u16 to b
reveal s = %9 : bool to a
reveal on = %4 : i23 to a as date
reveal at = %5 : u2 to a as category "here", "near", "far"
"#;
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
            "input day : b i23 in -4194304..4194303\n",
            "input town : b u2 in 0..3\n",
            "%8 = max %0, %7 : u16[people] in 3..127 known a",
            "%10 = min %8, %9 : u16[people] in 3..100 known a",
            "%12 = max %1, %11 : i8 in -100..127 known b",
            "%14 = and %2, %13 : bool in 0..0 known b",
            "%16 = max %4, %15 : i23 in -719162..4194303 known b",
            "%18 = min %16, %17 : i23 in -719162..2932896 known b",
            "%20 = min %5, %19 : u2 in 0..2 known b",
            "%21 = const [0] : u8",
            "%22 = ne %6, %21 : bool[people, 3] in 0..1 known a",
            "%23 = accumulate all %22 axis 1 : bool[people, 3] in 0..1 known a",
            "%24 = select %23, %6, %21 : u8[people, 3] in 0..127 known a",
            "%25 = mul %10, %10 :",
            "%26 = gt %12, %3 :",
            "%27 = and %26, %14 :",
            "reveal on = %18 : i23 to a as date\n",
            "reveal at = %20 : u2 to a as category",
        ] {
            assert!(text.contains(line), "{line}\n{text}");
        }
    }
}
