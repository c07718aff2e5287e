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
    ("div", Format::F32, [(1265, 695), (2671, 159), (809, 647), (2079, 133)]),
    ("div", Format::F64, [(4391, 3027), (12611, 364), (3269, 2967), (11117, 333)]),
    ("sqrt", Format::F32, [(523, 309), (998, 112), (410, 291), (865, 100)]),
    ("sqrt", Format::F64, [(1951, 1432), (4998, 284), (1653, 1407), (4644, 269)]),
    ("fma", Format::F32, [(2285, 300), (2936, 76), (2063, 236), (2589, 68)]),
    ("fma", Format::F64, [(6865, 550), (9767, 87), (6356, 453), (8987, 78)]),
    ("fmod", Format::F32, [(5944, 3184), (12610, 733), (5330, 2976), (11609, 677)]),
    ("fmod", Format::F64, [(33669, 19248), (90183, 2296), (32325, 18931), (88034, 2241)]),
    ("remainder", Format::F32, [(6163, 3263), (12997, 762), (5550, 3056), (11997, 707)]),
    ("remainder", Format::F64, [(34126, 19414), (91101, 2330), (32783, 19098), (88953, 2276)]),
];

/// The most ANDs of small forms: of f32 with subnormal numbers kept and flushed, and of f64.
const MOST: &[(&str, [u64; 4])] = &[
    ("add", [709, 650, 1515, 1400]),
    ("sub", [709, 650, 1515, 1400]),
    ("mul", [1600, 1212, 5300, 4460]),
    ("div", [1330, 925, 4400, 3481]),
    ("sqrt", [800, 579, 2500, 1992]),
];

/// The functions whose shallow forms take at most 1.6 times the ANDs of the small ones. Those of
/// digits that follow each other cannot: each step needs the sign of the one before, and an adder
/// of logarithmic depth takes nearly three times the ANDs of a rippling one.
const CHEAPLY_SHALLOW: &[&str] = &["add", "sub", "mul", "fma"];

fn costs(name: &str, format: Format) -> [Cost; 4] {
    let mut costs = [(0, 0); 4];
    let forms = both(format)
        .into_iter()
        .flat_map(|of| GOALS.map(|goal| (of, goal)));
    for (cost, (of, goal)) in costs.iter_mut().zip(forms) {
        let info = circuit(name, of, goal).info();
        *cost = (info.ands, info.depth);
    }
    costs
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
    assert!(
        different.is_empty(),
        "these costs have changed:\n{different}"
    );
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
                let sum = ["add", "sub"].contains(name);
                assert!(
                    !sum || shallow.depth <= deepest,
                    "{name} in {of:?}: depth {}",
                    shallow.depth
                );
            }
        }
    }
}
