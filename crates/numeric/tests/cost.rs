//! The cost of functions: pinned, and held to the bounds that were set for them.

use crate::common::{GOALS, both, circuit};
use sealane_circuit::Goal;
use sealane_numeric::Format;

/// ANDs and depth of a form.
type Cost = (u64, u64);

/// For a function of a format: small and shallow with subnormal numbers kept, small and shallow
/// with them flushed. A failed test prints the rows as they should be.
#[rustfmt::skip]
const PINNED: &[(&str, Format, [Cost; 4])] = &[
    ("add", Format::F32, [(539, 169), (843, 39), (529, 141), (845, 40)]),
    ("add", Format::F64, [(1194, 296), (1844, 47), (1168, 246), (1846, 48)]),
    ("sub", Format::F32, [(539, 169), (843, 39), (529, 141), (845, 40)]),
    ("sub", Format::F64, [(1194, 296), (1844, 47), (1168, 246), (1846, 48)]),
    ("mul", Format::F32, [(1504, 133), (1800, 47), (1172, 92), (1456, 29)]),
    ("mul", Format::F64, [(5095, 236), (7149, 54), (4294, 182), (6317, 32)]),
    ("div", Format::F32, [(1265, 695), (2790, 91), (809, 647), (2180, 71)]),
    ("div", Format::F64, [(4391, 3027), (9700, 132), (3269, 2967), (8171, 109)]),
    ("sqrt", Format::F32, [(523, 309), (998, 112), (410, 291), (865, 100)]),
    ("sqrt", Format::F64, [(1951, 1432), (5620, 119), (1653, 1407), (5266, 104)]),
    ("fma", Format::F32, [(2285, 300), (2936, 76), (2063, 236), (2589, 68)]),
    ("fma", Format::F64, [(6865, 550), (9767, 87), (6356, 453), (8987, 78)]),
    ("fmod", Format::F32, [(5944, 3184), (9909, 261), (5330, 2976), (9205, 237)]),
    ("fmod", Format::F64, [(33669, 19248), (52916, 435), (32325, 18931), (51438, 406)]),
    ("remainder", Format::F32, [(6163, 3263), (10296, 290), (5550, 3056), (9593, 267)]),
    ("remainder", Format::F64, [(34126, 19414), (53834, 469), (32783, 19098), (52357, 441)]),
];

/// The most ANDs of small forms: of f32 with subnormal numbers kept and flushed, and of f64.
const MOST: &[(&str, [u64; 4])] = &[
    ("add", [709, 650, 1515, 1400]),
    ("sub", [709, 650, 1515, 1400]),
    ("mul", [1600, 1212, 5300, 4460]),
    ("div", [1330, 925, 4400, 3481]),
    ("sqrt", [800, 579, 2500, 1992]),
];

/// The functions whose shallow forms take at most 1.6 times the ANDs of the small ones.
const CHEAPLY_SHALLOW: &[&str] = &["add", "sub", "mul", "fma"];

/// The others, with the most times that their shallow forms take the ANDs of the small ones, and
/// their greatest depth in f32 and f64. Small forms take an AND for each bit of each digit, which
/// is less than half of the table and the products from which shallow ones come. Carry-save
/// remainders with digits 1, 0 and -1 would take two, and five levels a digit.
const SHALLOW: &[(&str, f64, [u64; 2])] = &[
    ("div", 2.7, [95, 135]),
    ("sqrt", 3.2, [115, 120]),
    ("fmod", 1.75, [265, 440]),
    ("remainder", 1.75, [295, 470]),
];

fn costs(name: &str, format: Format) -> [Cost; 4] {
    let [kept, flushed] = both(format);
    let (forms, [small, flat]) = ([kept, kept, flushed, flushed], GOALS);
    let goals = [small, flat, small, flat];
    std::array::from_fn(|i| {
        let info = circuit(name, forms[i], goals[i]).info();
        (info.ands, info.depth)
    })
}

#[test]
fn costs_are_as_pinned() {
    let mut different = String::new();
    for &(name, format, pinned) in PINNED {
        let found = costs(name, format);
        if found != pinned {
            let format = format.name().to_uppercase();
            different += &format!("    ({name:?}, Format::{format}, {found:?}),\n");
        }
    }
    let same = different.is_empty();
    assert!(same, "these costs have changed:\n{different}");
}

#[test]
fn small_forms_keep_to_their_bounds() {
    for &(name, most) in MOST {
        for (format, most) in [Format::F32, Format::F64].into_iter().zip(most.chunks(2)) {
            for (of, &most) in both(format).into_iter().zip(most) {
                let ands = circuit(name, of, Goal::Size).info().ands;
                assert!(ands <= most, "{name} in {of:?}: {ands} ANDs");
            }
        }
    }
}

#[test]
fn shallow_forms_keep_to_their_bounds() {
    for (format, deepest) in [(Format::F32, 40), (Format::F64, 50)] {
        for of in both(format) {
            for name in CHEAPLY_SHALLOW {
                let [small, shallow] = GOALS.map(|goal| circuit(name, of, goal).info());
                let ratio = shallow.ands as f64 / small.ands as f64;
                assert!(ratio <= 1.6, "{name} in {of:?}: {ratio} times the ANDs");
                let (sum, depth) = (["add", "sub"].contains(name), shallow.depth);
                assert!(!sum || depth <= deepest, "{name} in {of:?}: depth {depth}");
            }
        }
    }
}

#[test]
fn shallow_quotients_and_roots_keep_to_their_bounds() {
    for &(name, most, deepest) in SHALLOW {
        for (format, deepest) in [Format::F32, Format::F64].into_iter().zip(deepest) {
            for of in both(format) {
                let [small, shallow] = GOALS.map(|goal| circuit(name, of, goal).info());
                let ratio = shallow.ands as f64 / small.ands as f64;
                assert!(ratio <= most, "{name} in {of:?}: {ratio} times the ANDs");
                let depth = shallow.depth;
                assert!(depth <= deepest, "{name} in {of:?}: depth {depth}");
            }
        }
    }
}
