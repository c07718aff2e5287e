//! Refusals and warnings of the builder, as users read them.

use crate::common::{at, input, signature};
use sealane_diagnostic::{Code, Diagnostic, Result};
use sealane_program::builder::{Builder, Handle, Index, Operand};
use sealane_program::graph::{Binary, Loop, Op, Reduction, Visibility};
use sealane_program::types::{Data, Shape, Type};
use sealane_program::warnings::UNROLLED;

const U16: Type = Type::unsigned(16);

#[test]
fn an_overflow_is_reported_with_its_line() {
    let (mut b, x, _) = signature().expect("a signature");
    let span = at(12, 9, 14);
    let squared = b.binary(Binary::Mul, x.into(), x.into(), span.as_ref());
    let text = squared.unwrap_err().render(Some("    y = x * x"));
    assert_eq!(
        text,
        "error[range-overflow]: `x * x` can leave u16\n  --> risk.py:12:9\n   |\n\
         12 |     y = x * x\n   |         ^^^^^\n\
         reason: x in 0..5000 and x in 0..5000 give 0..25000000, and u16 holds 0..65535\n\
         hint: write `x.astype(sl.u25) * x`"
    );
}

#[test]
fn a_carry_that_grows_is_reported_as_such() -> Result<()> {
    let (mut b, x, _) = signature()?;
    let column = b.index(x, &[Index::Ellipsis, Index::At(0)], None)?;
    let start = b.scalar(U16, 0, None)?;
    let (carry, element) = b.begin_scan(&[start.into()], &[column], None)?;
    let span = at(7, 12, 19);
    let sum = b.binary(
        Binary::Add,
        carry[0].into(),
        element[0].into(),
        span.as_ref(),
    );
    assert_eq!(
        sum.unwrap_err().render(Some("    return c + e, None")),
        "error[range-overflow]: `a + b` can leave u16\n --> risk.py:7:12\n  |\n\
         7 |     return c + e, None\n  |            ^^^^^^^\n\
         reason: a in 0..65535 and b in 0..5000 give 0..70535, and u16 holds 0..65535; in a scan, \
         a carry can hold any value of its type\n\
         hint: write `a.astype(sl.u17) + b`; a carry keeps its type, so clamp the next one with \
         `sl.clip`, or start the scan in a type that wraps, such as `sl.u32.wrapping(0)`"
    );
    Ok(())
}

#[test]
fn a_value_does_not_leave_its_body() -> Result<()> {
    let (mut b, x, _) = signature()?;
    let row = b.begin_map(&[x], None)?;
    let inner = b.binary(Binary::Eq, row[0].into(), 3.into(), None)?;
    b.end_map(&[inner.into()], None)?;
    let leaked = b
        .binary(Binary::Eq, inner.into(), 3.into(), at(9, 1, 2).as_ref())
        .unwrap_err();
    assert_eq!((leaked.code, leaked.span), (Code::Body, at(9, 1, 2)));
    assert!(b.value(inner).is_none());
    Ok(())
}

#[test]
fn bodies_capture_what_they_use_once_and_through_every_level() -> Result<()> {
    let (mut b, x, w) = signature()?;
    let row = b.begin_map(&[x], None)?;
    let element = b.begin_map(&[row[0]], None)?;
    let first = b.index(w, &[Index::At(0)], None)?;
    let second = b.index(w, &[Index::At(1)], None)?;
    let high = b.binary(Binary::Gt, element[0].into(), first.into(), None)?;
    let low = b.binary(Binary::Lt, element[0].into(), second.into(), None)?;
    let inner = b.end_map(&[high.into(), low.into()], None)?;
    let outer = b.end_map(&[inner[0].into(), inner[1].into()], None)?;
    b.reveal("result", outer[1].into(), &[0], Type::Bool, None)?;
    let (program, _) = b.finish()?;
    let Op::Map(Loop { captured, body, .. }) = &program.main.values[2].op else {
        panic!("the third value is the map")
    };
    assert_eq!((captured.len(), body.params), (1, 2));
    let inner = body.values.iter().find_map(|value| match &value.op {
        Op::Map(Loop { captured, body, .. }) => Some((captured.len(), body.params)),
        _ => None,
    });
    assert_eq!(inner, Some((1, 2)));
    Ok(())
}

#[test]
fn a_carry_is_as_visible_as_all_that_the_body_sees() -> Result<()> {
    let (mut b, x, w) = signature()?;
    let column = b.index(x, &[Index::Ellipsis, Index::At(0)], None)?;
    let start = b.scalar(Type::I64, 0, None)?;
    let (carry, element) = b.begin_scan(&[start.into()], &[column], None)?;
    assert_eq!(
        b.value(carry[0]).map(|v| v.visibility),
        Some(Visibility::Known(0))
    );
    let lower = b.binary(Binary::Min, carry[0].into(), element[0].into(), None)?;
    // The lab's weight is added after the carry was used.
    let weight = b.index(w, &[Index::At(0)], None)?;
    let next = b.binary(Binary::Min, lower.into(), weight.into(), None)?;
    let (last, _) = b.end_scan(&[next.into()], &[], None)?;
    b.reveal("result", last[0].into(), &[0], Type::I64, None)?;
    let (program, _) = b.finish()?;
    let body = program
        .main
        .values
        .iter()
        .find_map(|value| value.op.body())
        .expect("a body");
    assert_eq!(body.values[0].visibility, Visibility::Secret);
    Ok(())
}

#[test]
fn shapes_and_arguments_are_refused_by_name() {
    let (mut b, x, w) = signature().expect("a signature");
    let reports = |result: Result<_, Diagnostic>, code, message: &str| {
        let error = result
            .map(|_: sealane_program::builder::Handle| ())
            .unwrap_err();
        assert_eq!((error.code, &error.message[..]), (code, message));
    };
    let part = [Index::At(0)];
    let message = "axis 0 of shape [patients, 2] is symbolic and takes no index but `:`";
    reports(b.index(x, &part, None), Code::IndexRange, message);
    reports(
        b.index(w, &[Index::At(2)], None),
        Code::IndexRange,
        "index 2 is outside of axis 0 of shape [2]",
    );
    reports(
        b.index(w, &[Index::At(0); 2], None),
        Code::IndexRange,
        "2 indices into a value of shape [2]",
    );
    reports(
        b.dot(w, x, None, None),
        Code::ShapeMismatch,
        "`@` does not take [2] and [patients, 2]",
    );
    reports(
        b.call("md5", &[w.into()], None),
        Code::Name,
        "there is no function `md5`",
    );
    reports(
        b.call("aes128", &[w.into()], None),
        Code::TypeMismatch,
        "`aes128` takes 2 operands, not 1",
    );
    let message = "an operand of `sha256` may not fit u8";
    reports(
        b.call("sha256", &[w.into()], None),
        Code::RangeOverflow,
        message,
    );
    reports(
        b.stack(&[x.into()], 0, None),
        Code::ShapeMismatch,
        "no new axis 0 fits into shape [patients, 2]",
    );
    reports(
        b.stack(&[x.into(), w.into()], 1, None),
        Code::ShapeMismatch,
        "a stack of [patients, 2] and [2]",
    );
}

#[test]
fn products_in_fields_are_refused_with_what_makes_elements() -> Result<()> {
    let mut b = Builder::new("fields").expect("a name");
    let owner = b.party("a")?;
    let mut of = |name: &str, ty, lo, hi| {
        let declared = b.input(input(name, owner, ty, Shape::scalar(), lo, hi));
        declared.expect("an input")
    };
    let (byte, nibble) = (of("byte", Type::U8, 0, 255), of("nibble", Type::U8, 0, 15));
    let (signed, truth) = (
        of("signed", Type::signed(8), -5, 100),
        of("truth", Type::Bool, 0, 1),
    );
    let fixed = of("fixed", Type::fixed(8, 8), -100, 100);
    let span = at(4, 12, 37);
    let both = |a: Handle, b: Handle| [a.into(), b.into()];
    let refused = b.field_product(both(nibble, byte), 0x13, span.as_ref());
    assert_eq!(
        refused
            .unwrap_err()
            .render(Some("    return sl.gf_mul(nibble, byte, 0x13)")),
        "error[type-mismatch]: `byte` may be no element of GF(2^4)\n \
         --> risk.py:4:12\n  |\n4 |     return sl.gf_mul(nibble, byte, 0x13)\n  \
         |            ^^^^^^^^^^^^^^^^^^^^^^^^^\n\
         reason: it is in 0..255, and an element of GF(2^4) is an integer from 0 to 15\n\
         hint: declare `sl.between(0, 15)` for `byte`, or take the low bits: `byte & 15`"
    );
    let sum = b.binary(Binary::Max, byte.into(), signed.into(), None);
    let constant = b.scalar(Type::U8, 16, None)?;
    for (operand, hint) in [
        (
            signed,
            "declare `sl.between(0, 15)` for `signed`, or take the low bits: `signed & 15`",
        ),
        (sum.expect("a number"), "take the low bits: `b & 15`"),
        (
            constant,
            "give elements of the field, or the polynomial of a larger one",
        ),
        (
            truth,
            "write `truth.astype(sl.u1)` for the elements 0 and 1",
        ),
        (
            fixed,
            "convert it: `sl.saturate(fixed, sl.i64) & 15`, for example",
        ),
    ] {
        let refused = b
            .field_product(both(nibble, operand), 0x13, None)
            .unwrap_err();
        assert_eq!(refused.hint, hint);
        assert_eq!(refused.code, Code::TypeMismatch);
    }
    for (polynomial, message, reason) in [
        (
            0x11a,
            "`polynomial=0x11a` defines no field of at most 2^8 elements",
            "0x2 divides it as a polynomial, and a field needs an irreducible one",
        ),
        (
            0x211,
            "`polynomial=0x211` defines no field of at most 2^8 elements",
            "bit i stands for x^i, so its degree is 9; it can be 1 to 8",
        ),
        (
            1,
            "`polynomial=0x1` defines no field of at most 2^8 elements",
            "bit i stands for x^i, so its degree is 0; it can be 1 to 8",
        ),
        (
            -3,
            "`polynomial=-3` defines no field of at most 2^8 elements",
            "bit i stands for x^i, and the degree can be 1 to 8",
        ),
        (
            1 << 40,
            "`polynomial=1099511627776` defines no field of at most 2^8 elements",
            "bit i stands for x^i, and the degree can be 1 to 8",
        ),
    ] {
        let refused = b
            .field_product(both(nibble, byte), polynomial, None)
            .unwrap_err();
        assert_eq!(
            (refused.message.as_str(), refused.reason.as_str()),
            (message, reason)
        );
        assert_eq!(refused.code, Code::Operand);
    }
    // Numbers of the source take the smallest type, and the result that of the field.
    for (operands, polynomial, ty) in [
        (both(byte, nibble), 0x11b, Type::U8),
        ([byte.into(), Operand::Int(255)], 0x11b, Type::U8),
        (both(nibble, nibble), 0x13, Type::unsigned(4)),
    ] {
        let product = b.field_product(operands, polynomial, None)?;
        let value = b.value(product).expect("a value");
        assert_eq!((value.ty, value.range), (ty, ty.range()));
    }
    Ok(())
}

#[test]
fn a_lookup_is_refused_with_what_brings_the_index_inside() -> Result<()> {
    let mut b = Builder::new("tables").expect("a name");
    let (owner, n) = (b.party("a")?, b.rows("n", 9)?);
    let mut of = |name: &str, ty, shape, lo, hi| {
        let declared = b.input(input(name, owner, ty, shape, lo, hi));
        declared.expect("an input")
    };
    let (vector, scalar) = (Shape::fixed([200]), Shape::scalar);
    let boxes = of("boxes", U16, vector, 0, 9);
    let nibbles = of("nibbles", U16, Shape::fixed([16]), 0, 9);
    let (byte, wide) = (
        of("byte", Type::U8, scalar(), 0, 255),
        of("wide", Type::I64, scalar(), -5, 1 << 40),
    );
    let below = of("below", Type::signed(4), scalar(), -1, 7);
    let word = of("word", U16.wrapping(), scalar(), 0, 65535);
    let rows = of("rows", U16, Shape::with_rows(n, []), 0, 9);
    let truth = of("truth", Type::Bool, scalar(), 0, 1);
    let span = at(4, 12, 34);
    let refused = b.lookup(boxes, byte, span.as_ref()).unwrap_err();
    assert_eq!(
        refused.render(Some("    return sl.lookup(boxes, byte)")),
        "error[index-range]: `sl.lookup(boxes, byte)` can look outside of the table\n \
         --> risk.py:4:12\n  |\n4 |     return sl.lookup(boxes, byte)\n  \
         |            ^^^^^^^^^^^^^^^^^^^^^^\n\
         reason: byte is in 0..255, and the table has entries 0..199\n\
         hint: declare `sl.between(0, 199)` for `byte`, or bring it inside: `byte % 200` starts \
         again after the last entry"
    );
    let minus = b.scalar(Type::signed(2), -1, None)?;
    let single = b.index(boxes, &[Index::At(3)], None)?;
    let mut computed = |op, left: Handle, right: i128| {
        let value = b.binary(op, left.into(), right.into(), None);
        value.expect("a number")
    };
    let sum = computed(Binary::Max, byte, 1);
    let difference = computed(Binary::Min, wide, 1000);
    let fewer = computed(Binary::Min, wide, 100);
    for (table, index, hint) in [
        (
            nibbles,
            byte,
            "declare `sl.between(0, 15)` for `byte`, or bring it inside: `byte & 15` keeps the \
             low bits",
        ),
        (
            boxes,
            wide,
            "declare `sl.between(0, 199)` for `wide`, or bring it inside: \
             `sl.minimum(sl.maximum(wide, 0), 199)`",
        ),
        (
            boxes,
            below,
            "declare `sl.between(0, 199)` for `below`, or bring it inside: \
             `sl.minimum(sl.maximum(below, 0), 199)`",
        ),
        (
            boxes,
            word,
            "declare `sl.between(0, 199)` for `word`, or bring it inside: `sl.minimum(word, 199)` \
             stops at the last entry",
        ),
        // No range can be declared for a computed index.
        (
            boxes,
            sum,
            "give the table 256 entries, or bring the index inside: `i % 200` starts again after \
             the last entry",
        ),
        (
            boxes,
            difference,
            "bring the index inside: `sl.minimum(sl.maximum(i, 0), 199)`, or `i % 200` starts \
             again after the last entry",
        ),
        (boxes, fewer, "bring the index inside: `sl.maximum(i, 0)`"),
        (boxes, minus, "a public index needs no lookup: `boxes[0]`"),
        (
            boxes,
            truth,
            "write `sl.where(truth, yes, no)`, or `truth.astype(sl.u1)` for an index of 0 and 1",
        ),
        (
            rows,
            truth,
            "declare a table of a fixed length, or compare a key in every row and add: \
             `sl.where(key == i, x, 0).sum()`",
        ),
        (
            single,
            byte,
            "name the table first: `sl.lookup(table, index)`",
        ),
    ] {
        assert_eq!(b.lookup(table, index, None).unwrap_err().hint, hint);
    }
    // The suggestions of the hints are accepted.
    for (index, op, number) in [
        (byte, Binary::Mod, 200),
        (wide, Binary::Mod, 200),
        (below, Binary::Max, 0),
        (word, Binary::Min, 199),
        (wide, Binary::And, 15),
    ] {
        let inside = b.binary(op, index.into(), number.into(), None);
        b.lookup(boxes, inside.expect("a number"), None)?;
    }
    Ok(())
}

#[test]
fn an_equal_table_is_written_once_in_each_graph() {
    let (mut b, x, _) = signature().expect("a signature");
    let table = || Data::from_numbers(U16, vec![4], &[3, 1, 4, 1]).expect("a table");
    let outside = b.constant(table(), None).expect("a table");
    assert_eq!(b.constant(table(), None).expect("a table"), outside);
    let other = Data::from_numbers(U16, vec![2, 2], &[3, 1, 4, 1]).expect("a table");
    assert_ne!(b.constant(other, None).expect("a table"), outside);
    let wider = Data::from_numbers(Type::U8, vec![4], &[3, 1, 4, 1]).expect("a table");
    assert_ne!(b.constant(wider, None).expect("a table"), outside);
    let row = b.begin_map(&[x], None).expect("a map");
    let inside = [table(), table()].map(|table| b.constant(table, None).expect("a table"));
    assert_eq!(inside[0], inside[1]);
    let low = b.binary(Binary::And, row[0].into(), 3.into(), None);
    let low = low.expect("an index");
    let found = [inside[0], outside].map(|table| b.lookup(table, low, None).expect("entries"));
    let same = b.binary(Binary::Eq, found[0].into(), found[1].into(), None);
    let parts = b.end_map(&[same.expect("a truth").into()], None);
    let parts = parts.expect("a body");
    b.reveal("result", parts[0].into(), &[0], Type::Bool, None)
        .expect("a result");
    let (program, _) = b.finish().expect("a sound program");
    let body = program.main.values.iter().find_map(|v| v.op.body());
    let captured = body.expect("a body").params;
    assert_eq!(captured, 1, "constants move into a body by value");
}

#[test]
fn signatures_are_refused_by_name() -> Result<()> {
    let mut b = Builder::new("p").expect("a name");
    assert_eq!(b.party("a b").unwrap_err().code, Code::Name);
    b.party("a")?;
    assert_eq!(b.party("a").unwrap_err().code, Code::Name);
    let scalar = Shape::scalar;
    assert_eq!(
        b.input(input("x", 3, U16, scalar(), 0, 1))
            .unwrap_err()
            .code,
        Code::Name
    );
    let wide = b.input(input("x", 0, U16, scalar(), 0, 65536)).unwrap_err();
    assert_eq!((wide.code, wide.span), (Code::ConstantRange, at(3, 1, 9)));
    let mut table = input("x", 0, U16, Shape::fixed([3, 2]), 0, 1);
    table.columns = vec!["one".into()];
    assert_eq!(b.input(table).unwrap_err().code, Code::ShapeMismatch);
    let x = b.input(input("x", 0, U16, scalar(), 0, 1))?;
    b.binary(Binary::Add, x.into(), x.into(), None)?;
    assert_eq!(
        b.input(input("y", 0, U16, scalar(), 0, 1))
            .unwrap_err()
            .code,
        Code::InvalidProgram
    );
    assert_eq!(
        b.finish().expect_err("a refusal").message,
        "the program reveals nothing"
    );
    Ok(())
}

#[test]
fn what_is_probably_not_meant_is_warned_of() -> Result<()> {
    let (mut b, x, _) = signature()?;
    let mut sum = b.index(x, &[Index::Ellipsis, Index::At(0)], None)?;
    for _ in 0..=UNROLLED {
        sum = b.binary(Binary::Xor, sum.into(), 1.into(), at(8, 5, 9).as_ref())?;
    }
    b.reveal("result_0", sum.into(), &[0], U16, None)?;
    b.reveal("result_1", x.into(), &[0, 1], Type::unsigned(20), None)?;
    b.reveal("result_2", x.into(), &[0], U16, None)?;
    let (_, warnings) = b.finish()?;
    let reported: Vec<_> = warnings
        .iter()
        .map(|w| (w.code, w.message.as_str()))
        .collect();
    assert_eq!(
        reported,
        [
            (Code::UnrolledLoop, "this line became 1002 operations"),
            (Code::UnusedInput, "no result depends on input `w`"),
            (
                Code::RevealsInput,
                "`result_1` shows lab the whole input `x`"
            ),
        ]
    );
    assert!(
        warnings
            .iter()
            .all(|warning| warning.render_with_source().starts_with("warning["))
    );
    Ok(())
}

#[test]
fn bodies_nest_only_so_deep() -> Result<()> {
    let mut b = Builder::new("deep").expect("a name");
    b.party("a")?;
    let mut x = b.input(input("x", 0, U16, Shape::fixed([1; 8]), 0, 1))?;
    let mut depth = 0;
    while let Ok(element) = b.begin_map(&[x], None) {
        x = element[0];
        depth += 1;
    }
    assert_eq!(depth, 8);
    let scalar = b.begin_map(&[x], None).unwrap_err();
    assert_eq!(scalar.message, "a scalar has no elements to walk over");
    for _ in 0..depth {
        let parts = b.end_map(&[Operand::Value(x)], None)?;
        x = parts[0];
    }
    b.reveal("result", x.into(), &[0], U16, None)?;
    b.finish()?;
    Ok(())
}

#[test]
fn exact_products_of_integers_are_not_told_to_be_rounded() {
    let (mut b, x, w) = signature().expect("a signature");
    let wide = Type::signed(64);
    let [x, w] = [x, w].map(|value| b.cast(value, wide, None).expect("a wider type"));
    let products = b.dot(x, w, None, None).expect("products");
    let total = b.reduce(Reduction::Sum, products, None, None, None);
    let total = total.expect("a sum of rows").into();
    b.reveal("total", total, &[1], wide, None)
        .expect("a result");
    let (_, warnings) = b.finish().expect("a program");
    assert!(warnings.is_empty(), "{warnings:?}");
}

#[test]
fn what_is_written_twice_is_computed_once() {
    let (mut b, x, _) = signature().expect("a signature");
    let mut sorted = |line| {
        let of = b.index(x, &[Index::Ellipsis, Index::At(0)], None)?;
        let (before, behind) = b.begin_sort(&[of], None)?;
        let (before, behind) = (before[0].into(), behind[0].into());
        let less = b.binary(Binary::Lt, behind, before, at(line, 5, 9).as_ref())?;
        Ok::<_, Diagnostic>((of, b.end_sort(less.into(), false, None)?[0]))
    };
    let (of, first) = sorted(1).expect("a sort");
    assert_eq!((of, first), sorted(2).expect("a sort"), "of another line");
    let mut made = |op, x: Handle, y: Handle| b.binary(op, x.into(), y.into(), None);
    let [ne, lt] = [Binary::Ne, Binary::Lt].map(|op| made(op, of, first) == made(op, first, of));
    assert!(
        ne && !lt,
        "operands change places where that changes nothing"
    );
    let mut random = || b.random(8, 3, None).expect("random numbers");
    assert_ne!(random(), random(), "each is drawn for itself");
}
