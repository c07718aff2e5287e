//! ANDs and depths of all elementary functions, pinned; and the targets.

use crate::common::{GOALS, both, circuit};
use sealane_numeric::Format;

const F32: Format = Format::F32;
const F64: Format = Format::F64;

/// The most ANDs that a function with flushed subnormal numbers is meant to take.
const TARGETS: &[(&str, Format, u64)] = &[
    ("exp2", F32, 1700),
    ("exp", F32, 2200),
    ("log", F32, 2500),
    ("pow", F32, 6000),
    ("exp2", F64, 15_000),
    ("exp", F64, 15_000),
    ("log", F64, 17_000),
    ("sin", F32, 4000),
    ("cos", F32, 4000),
    ("atan2", F32, 3500),
    ("erf", F32, 3500),
    ("tgamma", F32, 7000),
    ("sin", F64, 20_000),
    ("cos", F64, 20_000),
];

/// A function of a format: its ANDs in the small form, and ANDs and depth in the flat one; with
/// subnormal numbers kept, and flushed.
type Cost = (&'static str, Format, [[u64; 3]; 2]);

const COSTS: &[Cost] = &[
    ("exp", F32, [[1251, 1653, 65], [1104, 1433, 59]]),
    ("exp2", F32, [[1007, 1278, 46], [857, 1062, 40]]),
    ("log", F32, [[1809, 2278, 68], [1681, 2056, 55]]),
    ("log2", F32, [[1643, 2008, 68], [1522, 1857, 55]]),
    ("log10", F32, [[1723, 2104, 68], [1595, 1942, 54]]),
    ("expm1", F32, [[2261, 2794, 84], [2291, 2823, 84]]),
    ("log1p", F32, [[2136, 2673, 86], [2166, 2703, 86]]),
    ("pow", F32, [[4274, 5083, 120], [3878, 4579, 102]]),
    ("sinh", F32, [[2255, 2779, 87], [2285, 2808, 87]]),
    ("cosh", F32, [[2023, 2532, 87], [2023, 2532, 87]]),
    ("tanh", F32, [[1553, 1926, 71], [1583, 1956, 71]]),
    ("sigmoid", F32, [[2508, 3030, 91], [2373, 2902, 88]]),
    ("asinh", F32, [[1897, 2403, 81], [1927, 2433, 81]]),
    ("acosh", F32, [[2479, 3131, 78], [2479, 3131, 78]]),
    ("atanh", F32, [[2208, 2704, 90], [2238, 2734, 90]]),
    ("exp", F64, [[5367, 6761, 100], [5014, 6225, 92]]),
    ("exp2", F64, [[4726, 5748, 83], [4370, 5219, 75]]),
    ("log", F64, [[7480, 8764, 100], [7144, 8509, 85]]),
    ("log2", F64, [[7106, 8257, 100], [6797, 7888, 85]]),
    ("pow", F64, [[18484, 21177, 212], [17512, 19914, 189]]),
    ("sin", F32, [[3012, 3512, 59], [3035, 3535, 59]]),
    ("cos", F32, [[2974, 3476, 58], [2974, 3476, 58]]),
    ("tan", F32, [[4201, 4970, 73], [4224, 4993, 73]]),
    ("cbrt", F32, [[988, 1282, 62], [873, 1145, 47]]),
    ("rsqrt", F32, [[991, 1273, 48], [877, 1138, 36]]),
    ("hypot", F32, [[2290, 3247, 157], [1935, 2825, 141]]),
    ("atan", F32, [[2579, 3879, 111], [2609, 3908, 111]]),
    ("atan2", F32, [[3042, 4450, 142], [2732, 4084, 125]]),
    ("asin", F32, [[2631, 3175, 75], [2666, 3209, 79]]),
    ("acos", F32, [[2567, 3136, 73], [2590, 3159, 77]]),
    ("erf", F32, [[2152, 2591, 98], [1897, 2301, 74]]),
    ("erfc", F32, [[3659, 4291, 107], [3519, 4143, 98]]),
    ("tgamma", F32, [[5650, 8321, 143], [5399, 8049, 134]]),
    ("lgamma", F32, [[17490, 21442, 236], [17233, 21157, 227]]),
    ("sin", F64, [[14355, 15772, 86], [14407, 15824, 86]]),
    ("cos", F64, [[14282, 15701, 85], [14282, 15701, 85]]),
    ("atan", F64, [[10733, 16411, 181], [10795, 16471, 181]]),
];

fn cost(name: &str, format: Format) -> [[u64; 3]; 2] {
    both(format).map(|arithmetic| {
        let [small, flat] = GOALS.map(|goal| circuit(name, arithmetic, goal).info());
        [small.ands, flat.ands, flat.depth]
    })
}

#[test]
fn costs_are_as_stated_and_meet_the_targets() {
    let mut found = String::new();
    let mut same = true;
    for &(name, format, stated) in COSTS {
        let costs = cost(name, format);
        let constant = format.name().to_uppercase();
        found += &format!("    (\"{name}\", {constant}, {costs:?}),\n");
        same &= costs == stated;
        let mut targets = TARGETS.iter();
        let target = targets.find(|target| (target.0, target.1) == (name, format));
        let bound = target.map_or(u64::MAX, |target| target.2);
        for [small, flat, _] in costs {
            let shallow = 10 * flat <= 16 * small;
            assert!(
                shallow,
                "{name}: the flat form takes {flat} ANDs, not {small}"
            );
            assert!(small <= bound, "{name}: {costs:?}, not {bound}");
        }
    }
    assert!(same, "the costs are\n{found}");
}
