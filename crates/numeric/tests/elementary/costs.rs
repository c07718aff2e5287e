//! ANDs and depths of all elementary functions, pinned; and the targets.

use crate::elementary::lanes::Runner;
use sealane_circuit::Goal;
use sealane_numeric::{Arithmetic, Format};

/// The most ANDs that a function with flushed subnormal numbers is meant to take.
const TARGETS: &[(&str, Format, usize)] = &[
    ("exp2", Format::F32, 1700),
    ("exp", Format::F32, 2200),
    ("log", Format::F32, 2500),
    ("pow", Format::F32, 6000),
    ("exp2", Format::F64, 15_000),
    ("exp", Format::F64, 15_000),
    ("log", Format::F64, 17_000),
];

/// A function of a format: its ANDs in the small form, and ANDs and depth in the flat one; with
/// subnormal numbers kept, and flushed.
type Cost = (&'static str, Format, [[usize; 3]; 2]);

const COSTS: &[Cost] = &[
    ("exp", Format::F32, [[1251, 1653, 65], [1104, 1433, 59]]),
    ("exp2", Format::F32, [[1007, 1278, 46], [857, 1062, 40]]),
    ("log", Format::F32, [[1744, 2168, 68], [1613, 1985, 54]]),
    ("log2", Format::F32, [[1636, 1960, 68], [1515, 1816, 54]]),
    ("log10", Format::F32, [[1637, 2010, 68], [1506, 1829, 54]]),
    ("expm1", Format::F32, [[2261, 2794, 84], [2291, 2823, 84]]),
    ("log1p", Format::F32, [[2040, 2537, 79], [2070, 2567, 79]]),
    ("pow", Format::F32, [[4274, 5083, 120], [3878, 4579, 102]]),
    ("sinh", Format::F32, [[2255, 2779, 87], [2285, 2808, 87]]),
    ("cosh", Format::F32, [[2023, 2532, 87], [2023, 2532, 87]]),
    ("tanh", Format::F32, [[1553, 1926, 71], [1583, 1956, 71]]),
    ("sigmoid", Format::F32, [[2508, 3030, 91], [2373, 2902, 88]]),
    ("asinh", Format::F32, [[1897, 2403, 81], [1927, 2433, 81]]),
    ("acosh", Format::F32, [[2479, 3131, 78], [2479, 3131, 78]]),
    ("atanh", Format::F32, [[2208, 2704, 90], [2238, 2734, 90]]),
    ("exp", Format::F64, [[5367, 6761, 100], [5014, 6225, 92]]),
    ("exp2", Format::F64, [[4726, 5748, 83], [4370, 5219, 75]]),
    ("log", Format::F64, [[7480, 8764, 100], [7144, 8509, 85]]),
    ("log2", Format::F64, [[7106, 8257, 100], [6797, 7888, 85]]),
    (
        "pow",
        Format::F64,
        [[18484, 21177, 212], [17512, 19914, 189]],
    ),
];

fn cost(name: &str, format: Format) -> [[usize; 3]; 2] {
    [Arithmetic::new(format), Arithmetic::new(format).flushed()].map(|arithmetic| {
        let small = Runner::new(name, arithmetic, Goal::Size);
        let flat = Runner::new(name, arithmetic, Goal::Depth);
        [small.ands, flat.ands, flat.depth()]
    })
}

#[test]
fn costs_are_as_stated_and_meet_the_targets() {
    let mut found = String::new();
    let mut same = true;
    for &(name, format, stated) in COSTS {
        let costs = cost(name, format);
        let constant = format.name().to_uppercase();
        found += &format!("    (\"{name}\", Format::{constant}, {costs:?}),\n");
        same &= costs == stated;
        for [small, flat, _] in costs {
            assert!(
                10 * flat <= 16 * small,
                "{name}: the flat form takes {flat} ANDs, not {small}"
            );
        }
        let target = TARGETS
            .iter()
            .find(|target| (target.0, target.1) == (name, format));
        let bound = target.map_or(usize::MAX, |target| target.2);
        assert!(
            costs.iter().all(|cost| cost[0] <= bound),
            "{name}: {costs:?}, not {bound}"
        );
    }
    assert!(same, "the costs are\n{found}");
}
