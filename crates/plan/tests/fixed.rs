//! Cost of fixed point: a product is an integer product, and rounding it is free.

use sealane_diagnostic::Diagnostic;
use sealane_plan::{NetworkClass, cost, plan};
use sealane_program::builder::{Builder, Handle};
use sealane_program::graph::{Binary, Program};
use sealane_program::types::{Range, Shape, Type};
use sealane_protocol::Protocol;
use sealane_testkit::fake::Honest;
use sealane_testkit::random_program::declared;
use sealane_trio::Trio;

const FIXED: Type = Type::fixed(16, 16);
/// Both factors are below 128, so that the product fits: 24 bits each.
const RANGE: Range = Range {
    lo: -(128 << 16),
    hi: (128 << 16) - 1,
};

/// A program of two inputs of a type in [`RANGE`], with a result of its own type.
fn program(
    ty: Type,
    build: impl FnOnce(&mut Builder, [Handle; 2]) -> Result<Handle, Diagnostic>,
) -> Program {
    let mut b = Builder::new("f").unwrap();
    let owners = ["alice", "bob"].map(|name| b.party(name).unwrap());
    let [x, y] = owners.map(|owner| {
        let input = declared(&format!("x{owner}"), owner, ty, Shape::fixed([8]), RANGE);
        b.input(input).unwrap()
    });
    let result = build(&mut b, [x, y]).unwrap();
    let ty = b.value(result).unwrap().ty;
    let revealed = b.reveal("result", result.into(), &owners, ty, None);
    revealed.unwrap();
    b.finish().unwrap().0
}

fn product(ty: Type) -> Program {
    program(ty, |b, [x, y]| {
        b.binary(Binary::Mul, x.into(), y.into(), None)
    })
}

fn ands<P: Protocol>(program: &Program, helpers: usize) -> u64 {
    let plan = plan::<P>(program, helpers, NetworkClass::LAN).unwrap();
    cost::<P>(&plan, &[]).promise.ands
}

#[test]
fn a_product_costs_what_that_of_stored_numbers_costs() {
    let integers = ands::<Honest>(&product(Type::signed(48)), 0);
    let fixed = ands::<Honest>(&product(FIXED), 0);
    // 24 by 24 bits in each of eight lanes. Bits that are rounded away cost only their carries.
    assert_eq!((fixed, integers), (8 * 1043, 8 * 1043));
}

#[test]
fn conversions_that_lose_or_gain_bits_take_no_gate() {
    for ty in [Type::fixed(16, 3), Type::signed(16), Type::fixed(20, 40)] {
        let converted = program(FIXED, |b, [x, _]| b.cast(x, ty, None));
        assert_eq!(ands::<Honest>(&converted, 0), 0, "{ty}");
    }
}

#[test]
fn a_whole_factor_is_not_widened() {
    let tripled = |ty| {
        program(ty, |b, [x, _]| {
            b.binary(Binary::Mul, x.into(), 3.into(), None)
        })
    };
    let fixed = ands::<Honest>(&tripled(FIXED), 0);
    assert_eq!(fixed, ands::<Honest>(&tripled(Type::signed(32)), 0));
}

/// In a ring the sum of products is one inner product; only its conversion to bits takes gates.
#[test]
fn an_inner_product_is_made_in_a_ring_and_rounded_once() {
    let dot = program(FIXED, |b, [x, y]| {
        b.dot(x, y, Some(Type::fixed(20, 16)), None)
    });
    let text = plan::<Trio>(&dot, 1, NetworkClass::LAN).unwrap().text();
    assert_eq!(text.matches("{\"product\":").count(), 1, "{text}");
    assert_eq!(text.matches("{\"convert\":").count(), 1, "{text}");
}

/// A product of more bits than a ring has is one of gates.
#[test]
fn a_wide_product_stays_with_gates() {
    let wide = Type::fixed(20, 40);
    let product = program(FIXED, |b, [x, y]| {
        let (x, y) = (b.cast(x, wide, None)?, b.cast(y, wide, None)?);
        b.dot(x, y, Some(wide), None)
    });
    let text = plan::<Trio>(&product, 1, NetworkClass::LAN).unwrap().text();
    assert_eq!(text.matches("{\"product\":").count(), 0, "{text}");
}
