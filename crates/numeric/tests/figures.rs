//! ANDs and depths of exact functions, conversions and sums: as pinned, and within the targets.
//!
//! `SEALANE_BLESS=1` writes the table again; review the difference.

use crate::common::both;
use sealane_circuit::{Builder, Goal, Word};
use sealane_numeric::measure::Runner;
use sealane_numeric::{Accumulator, Arithmetic, Fixed, Format, Rounding, Subnormals, function};

const TABLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/figures.txt");

const NAMES: &str = "floor ceil trunc round roundeven modf eq lt le fmin fmax isnan isinf isfinite \
    isnormal frexp ldexp logb ilogb nextafter";

/// The ANDs for [`Goal::Size`] that were aimed at, where a target was set.
fn target(name: &str, format: Format) -> Option<u64> {
    let targets = [
        (["floor", "ceil"], 250, 600),
        (["to i64", "to u64"], 700, 700),
        (["of i64", "of u64"], 600, 600),
    ];
    let mut targets = targets.into_iter();
    let (_, single, double) = targets.find(|(names, ..)| names.contains(&name))?;
    match format {
        Format::F32 => Some(single),
        Format::F64 => Some(double),
        _ => None,
    }
}

type Build<'a> = &'a dyn Fn(&mut Builder, &[Word]) -> Vec<Word>;

/// A line of the table, after the check against the target.
fn line(name: &str, of: Arithmetic, inputs: &[usize], build: Build) -> String {
    let size = Runner::build(Goal::Size, inputs, build);
    let depth = Runner::build(Goal::Depth, inputs, build);
    let (ands, format) = (size.ands, of.format.name());
    let most = target(name, of.format).unwrap_or(u64::MAX);
    assert!(ands <= most, "{name} {format}: {ands} ANDs");
    let subnormals = match of.subnormals {
        Subnormals::Kept => "kept",
        Subnormals::Flushed => "flushed",
    };
    format!(
        "{name:<14} {format:<4} {subnormals:<7} {ands:>6} {:>5} {:>6} {:>5}\n",
        size.depth, depth.ands, depth.depth
    )
}

fn lines(of: Arithmetic) -> Vec<String> {
    let bits = of.format.bits();
    let mut lines = Vec::new();
    for name in NAMES.split(' ') {
        let function = function(name).expect("a function on the list");
        let kinds = function.operands.iter();
        let inputs: Vec<_> = kinds.map(|kind| kind.bits(of.format)).collect();
        lines.push(line(name, of, &inputs, &|b, x| (function.build)(of, b, x)));
    }
    let to_fixed = |verb: &str, name: &str, fixed: Fixed, rounding: Rounding| {
        line(&format!("{verb} {name}"), of, &[bits], &|b, x| {
            let converted = of.to_fixed(b, &x[0], fixed, rounding);
            vec![converted.value, vec![converted.refused]]
        })
    };
    let halves = Fixed::signed(64).with_fraction(32);
    for (name, fixed) in [
        ("i64", Fixed::signed(64)),
        ("u64", Fixed::unsigned(64)),
        ("i32", Fixed::signed(32)),
        ("i64/32", halves),
    ] {
        let of_name = format!("of {name}");
        lines.push(line(&of_name, of, &[fixed.bits], &|b, x| {
            vec![of.of_fixed(b, &x[0], fixed)]
        }));
        lines.push(to_fixed("to", name, fixed, Rounding::Zero));
    }
    lines.push(to_fixed("nearest", "i64/32", halves, Rounding::Nearest));
    for to in Format::ALL.into_iter().filter(|&to| to != of.format) {
        let name = format!("to {}", to.name());
        lines.push(line(&name, of, &[bits], &|b, x| {
            vec![of.convert(b, &x[0], to)]
        }));
    }
    lines.extend(sums(of));
    lines
}

/// Sums of a million addends.
fn sums(of: Arithmetic) -> Vec<String> {
    let (bits, count) = (of.format.bits(), 1 << 20);
    let sum = Accumulator::sum(of, count);
    let money = sum.within(-7.max(sum.lowest), 24.min(sum.highest));
    let dot = Accumulator::dot(of, count);
    let finish = |name: &str, sum: Accumulator| {
        let widths: Vec<usize> = sum.limbs().iter().map(|width| width + 20).collect();
        line(name, of, &widths, &|b, x| vec![sum.finish(b, x, of.format)])
    };
    let mut lines = vec![
        line("place", of, &[bits], &|b, x| sum.place(b, &x[0])),
        line("place cents", of, &[bits], &|b, x| money.place(b, &x[0])),
        line("place product", of, &[bits; 2], &|b, x| {
            dot.place_product(b, &x[0], &x[1])
        }),
        finish("sum", sum),
        finish("sum cents", money),
    ];
    if of.format.bits() <= 32 {
        lines.push(finish("dot product", dot));
    }
    lines
}

#[test]
fn figures_are_as_pinned() {
    let mut table = format!(
        "{:<14} {:<4} {:<7} {:>6} {:>5} {:>6} {:>5}\n",
        "function", "", "", "ANDs", "depth", "ANDs", "depth"
    );
    for format in Format::ALL {
        for of in both(format) {
            table.extend(lines(of));
        }
    }
    if std::env::var_os("SEALANE_BLESS").is_some() {
        std::fs::write(TABLE, &table).expect("a table that can be written");
    }
    let pinned = std::fs::read_to_string(TABLE).expect("the table of figures");
    let same = table == pinned;
    assert!(
        same,
        "figures changed; SEALANE_BLESS=1 writes {TABLE}:\n{table}"
    );
}
