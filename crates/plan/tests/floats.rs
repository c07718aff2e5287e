//! Equality of plans and programs of floating point, in one tile and in tiles of two rows, for a
//! protocol of bits alone and for one with arithmetic; and the cost of operations without a gate.

use crate::lowering::agrees;
use sealane_plan::{NetworkClass, cost, plan};
use sealane_program::builder::{Builder, Handle, Operand};
use sealane_program::float::{self, Format};
use sealane_program::graph::{Binary, Program, Reduction, Unary};
use sealane_program::literal::{Literal, Number};
use sealane_program::types::{Data, RowId, Shape, Type};
use sealane_testkit::fake::Honest;
use sealane_testkit::random::Random;
use sealane_testkit::random_program::{Case, declared};
use std::collections::BTreeMap;

const ROWS: u64 = 5;

/// Numbers at which circuits go wrong, and any bits.
fn numbers(format: Format, random: &mut Random) -> Vec<i128> {
    let special = [
        0.0,
        -0.0,
        f64::INFINITY,
        f64::NAN,
        1.5,
        -65504.0,
        6e-8,
        1e-40,
        3.0,
    ];
    let of = |number| float::from_f64(number, format).stored;
    let number = |_| match random.number() % 3 {
        0 => of(special[random.number() as usize % special.len()]),
        1 => of(f64::from(random.number() as i32 >> 16) / 256.0),
        _ => {
            let any = i128::from(random.number()) << 32 | i128::from(random.number());
            let bits = any & ((1 << format.bits()) - 1);
            of(float::to_f64(bits, format))
        }
    };
    (0..ROWS).map(number).collect()
}

/// Two columns of a type, of two parties, with results of all operations.
fn program(format: Format, flushed: bool) -> Program {
    let ty = Type::Float(format);
    let mut b = Builder::new("f").unwrap();
    if flushed {
        b.flush_subnormals();
    }
    let owners = ["alice", "bob"].map(|name| b.party(name).unwrap());
    b.rows("n", ROWS).unwrap();
    let rows = || Shape::with_rows(RowId(0), []);
    let [x, y] = owners.map(|owner| {
        let input = declared(&format!("x{owner}"), owner, ty, rows(), ty.range());
        b.input(input).unwrap()
    });
    let mut results: Vec<Handle> = Vec::new();
    use Binary::{Add, Div, Eq, Ge, Lt, Max, Min, Mul, Ne, Sub};
    for op in [Add, Sub, Mul, Div, Min, Max, Eq, Ne, Lt, Ge] {
        results.push(b.binary(op, x.into(), y.into(), None).unwrap());
    }
    for op in [Unary::Neg, Unary::Abs] {
        results.push(b.unary(op, x.into(), None).unwrap());
    }
    let tenth = b.literal(Literal::of(Number::Float(0.1)), None).unwrap();
    results.push(b.binary(Mul, x.into(), tenth, None).unwrap());
    let less = b.binary(Lt, x.into(), Operand::Int(2), None).unwrap();
    results.push(b.select(less.into(), y.into(), x.into(), None).unwrap());
    for op in [Reduction::Sum, Reduction::Min, Reduction::Max] {
        results.push(b.reduce(op, x, None, None, None).unwrap());
    }
    results.push(b.dot(x, y, None, None).unwrap());
    for to in Format::ALL {
        results.push(b.cast(x, Type::Float(to), None).unwrap());
    }
    for to in [Type::signed(9), Type::unsigned(64), Type::fixed(6, 5)] {
        let whole = b.saturate(y, to, None).unwrap();
        results.push(whole);
        results.push(b.cast(whole, ty, None).unwrap());
    }
    for (index, result) in results.into_iter().enumerate() {
        let ty = b.value(result).unwrap().ty;
        let name = format!("r{index}");
        b.reveal(&name, result.into(), &owners, ty, None).unwrap();
    }
    b.finish().unwrap().0
}

#[test]
fn plans_of_floats_agree_with_the_reference() {
    let mut random = Random::new(7);
    for (format, flushed) in [
        (Format::F16, false),
        (Format::BF16, false),
        (Format::F16, true),
        (Format::F32, false),
    ] {
        let program = program(format, flushed);
        for most_rows in [u64::MAX, 2] {
            let data = |numbers: Vec<i128>| {
                Data::from_numbers(Type::Float(format), vec![ROWS], &numbers).unwrap()
            };
            let inputs = BTreeMap::from([
                ("x0".to_string(), data(numbers(format, &mut random))),
                ("x1".to_string(), data(numbers(format, &mut random))),
            ]);
            let program = program.clone();
            let case = Case { program, inputs };
            match agrees(&case, most_rows) {
                Ok(planned) => assert!(planned),
                Err(error) => panic!("{}, {flushed}: {error}", format.name()),
            }
        }
    }
}

#[test]
fn signs_and_moves_take_no_gate() {
    let ty = Type::F64;
    let mut b = Builder::new("f").unwrap();
    let owners = ["alice", "bob"].map(|name| b.party(name).unwrap());
    let [x, y] = owners.map(|owner| {
        let (name, shape) = (format!("x{owner}"), Shape::fixed([4]));
        let input = declared(&name, owner, ty, shape, ty.range());
        b.input(input).unwrap()
    });
    let x = b.unary(Unary::Neg, x.into(), None).unwrap();
    let y = b.unary(Unary::Abs, y.into(), None).unwrap();
    let both = b.stack(&[x.into(), y.into()], 0, None).unwrap();
    b.reveal("both", both.into(), &owners, ty, None).unwrap();
    let program = b.finish().unwrap().0;
    let plan = plan::<Honest>(&program, 0, NetworkClass::LAN).unwrap();
    assert_eq!(cost::<Honest>(&plan, &[]).promise.ands, 0);
}
