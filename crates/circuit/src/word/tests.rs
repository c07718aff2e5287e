//! Every function against plain integer arithmetic: any widths and signs, 512 pairs of operands a
//! case, through circuit, tape and evaluation.

use proptest::prelude::*;

use crate::builder::{Builder, Goal, Wire, Word};
use crate::compile::compile;
use crate::eval::Lanes;
use crate::word::Int;
use crate::{Machine, Order};

/// Number of operand pairs that are evaluated at once.
const LANES: usize = 512;

/// The widths and signs of two operands, the width of the result, and where values come from.
#[derive(Clone, Copy, Debug)]
struct Case {
    x: (usize, bool),
    y: (usize, bool),
    width: usize,
    seed: u64,
}

fn cases(max_width: usize) -> impl Strategy<Value = Case> {
    let operand = || (1..=max_width, any::<bool>());
    (operand(), operand(), 1..=2 * max_width, any::<u64>()).prop_map(|(x, y, width, seed)| Case {
        x,
        y,
        width,
        seed,
    })
}

/// A value of the given width and sign: often a corner, where carries and signs go wrong.
fn value(random: &mut u64, (width, signed): (usize, bool)) -> i128 {
    // SplitMix64.
    let mut next = || {
        *random = random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (*random ^ (*random >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    };
    let bits = match next() % 8 {
        0 => 0,
        1 => u64::MAX,
        2 => 1 << (width - 1),
        3 => (1 << (width - 1)) - 1,
        4 => next() % 4,
        5 => (next() % 4).wrapping_neg(),
        _ => next(),
    };
    wrap(i128::from(bits), width, signed)
}

/// `value` modulo 2^width, read as unsigned or signed.
fn wrap(value: i128, width: usize, signed: bool) -> i128 {
    let unused = 128 - width as u32;
    if signed {
        value << unused >> unused
    } else {
        ((value << unused) as u128 >> unused) as i128
    }
}

/// Puts bit i of lane l where tapes want it.
fn pack(values: &[i128], width: usize) -> Vec<Lanes> {
    let mut lanes = vec![[0; 8]; width];
    for (lane, value) in values.iter().enumerate() {
        for (i, bits) in lanes.iter_mut().enumerate() {
            bits[lane / 64] |= ((value >> i & 1) as u64) << (lane % 64);
        }
    }
    lanes
}

fn unpack(lanes: &[Lanes], lane: usize) -> i128 {
    let bit = |bits: &Lanes| i128::from(bits[lane / 64] >> (lane % 64) & 1);
    let lanes = lanes.iter().enumerate();
    lanes.map(|(i, bits)| bit(bits) << i).sum()
}

fn machine(seed: u64) -> Machine {
    let queue = Order::Queue { over_free: false };
    let (lanes, order) = match seed % 4 {
        0 => return Machine::CPU,
        1 => return Machine::ROWS,
        2 => (7, queue),
        _ => (5, Order::Levels),
    };
    Machine { lanes, order }
}

const GOALS: [Goal; 2] = [Goal::Size, Goal::Depth];

/// Compares `build` with `reference`, under both goals, on 512 pairs for which the reference has
/// an answer.
fn check(
    case: Case,
    build: impl Fn(&mut Builder, Int, Int) -> Word,
    reference: impl Fn(i128, i128) -> Option<i128>,
) {
    for goal in GOALS {
        check_goal(case, goal, &build, &reference);
    }
}

type Build<'a> = &'a dyn Fn(&mut Builder, Int, Int) -> Word;
type Expected<'a> = &'a dyn Fn(i128, i128) -> Option<i128>;

fn check_goal(case: Case, goal: Goal, build: Build, reference: Expected) {
    let mut b = Builder::for_goal(goal);
    let (x, y) = (b.input(case.x.0), b.input(case.y.0));
    let [x, y] = [(&x, case.x.1), (&y, case.y.1)].map(|(bits, signed)| Int { bits, signed });
    let output = build(&mut b, x, y);
    let width = output.len();
    let circuit = b.finish(vec![output]);
    let tape = compile(&circuit, &machine(case.seed));
    tape.check().unwrap();
    let rounds = compile(&circuit, &Machine::ROUNDS);
    let batches = rounds.batches.iter();
    let with_ands = batches.filter(|batch| !batch.ands.is_empty()).count();
    assert_eq!(with_ands as u32, tape.depth);

    let mut random = case.seed;
    let pairs: Vec<(i128, i128)> = (0..512)
        .map(|_| (value(&mut random, case.x), value(&mut random, case.y)))
        .collect();
    let (xs, ys): (Vec<_>, Vec<_>) = pairs.iter().copied().unzip();
    let outputs = tape.eval(&[pack(&xs, case.x.0), pack(&ys, case.y.0)].concat());
    for (lane, &(x, y)) in pairs.iter().enumerate() {
        if let Some(expected) = reference(x, y) {
            let expected = wrap(expected, width, true);
            let found = wrap(unpack(&outputs, lane), width, true);
            assert_eq!(found, expected, "x = {x}, y = {y}, {goal:?}, {case:?}");
        }
    }
}

/// As [`check`], for functions whose reference always has an answer.
fn check_all(
    case: Case,
    build: impl Fn(&mut Builder, Int, Int) -> Word,
    reference: impl Fn(i128, i128) -> i128,
) {
    check(case, build, |x, y| Some(reference(x, y)));
}

fn floor_div(x: i128, y: i128) -> i128 {
    x.div_euclid(y) - i128::from(y < 0 && x.rem_euclid(y) != 0)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn sums(case in cases(64)) {
        let w = case.width;
        check_all(case, |b, x, y| b.add(x, y, w), |x, y| x + y);
        check_all(case, |b, x, y| b.sub(x, y, w), |x, y| x - y);
        check_all(case, |b, x, _| b.neg(x, w), |x, _| -x);
        check_all(case, |b, x, _| b.abs(x, w), |x, _| x.abs());
        let negated = |x: i128, y: i128| if y & 1 == 1 { -x } else { x };
        check_all(case, |b, x, y| b.neg_if(y.bits[0], x, w), negated);
        check_all(case, |b, x, y| b.sum(&[x, y, x, y, y], w), |x, y| 2 * x + 3 * y);
    }

    #[test]
    fn products(case in cases(64)) {
        let w = case.width;
        check_all(case, |b, x, y| b.mul(x, y, w), |x, y| x.wrapping_mul(y));
        check_all(case, |b, x, _| b.mul(x, x, w), |x, _| x.wrapping_mul(x));
    }

    #[test]
    fn products_with_constants(case in cases(64), constant in any::<i64>(), bits in 1..=64u32) {
        let constant = i128::from(constant >> (64 - bits));
        let build = |b: &mut Builder, x: Int| {
            let constant = b.constant(constant, 65);
            let left = b.mul(Int::signed(&constant), x, case.width);
            let right = b.mul(x, Int::signed(&constant), case.width);
            assert_eq!(left, right);
            left
        };
        check_all(case, |b, x, _| build(b, x), |x, _| x.wrapping_mul(constant));
    }

    #[test]
    fn comparisons(case in cases(64)) {
        check_all(case, |b, x, y| vec![b.lt(x, y)], |x, y| i128::from(x < y));
        check_all(case, |b, x, y| vec![b.le(x, y)], |x, y| i128::from(x <= y));
        check_all(case, |b, x, y| vec![b.eq(x, y)], |x, y| i128::from(x == y));
        check_all(case, |b, x, y| b.min(x, y, case.width), |x, y| x.min(y));
        check_all(case, |b, x, y| b.max(x, y, case.width), |x, y| x.max(y));
    }

    #[test]
    fn quotients(case in cases(64)) {
        let w = case.width;
        let divisible = |y: i128| y != 0;
        check(case, |b, x, y| b.div(x, y, w), |x, y| divisible(y).then(|| floor_div(x, y)));
        check(case, |b, x, y| b.rem(x, y, w), |x, y| {
            divisible(y).then(|| x - y * floor_div(x, y))
        });
    }

    #[test]
    fn quotients_by_constants(case in cases(64), constant in any::<i64>(), bits in 1..=64u32) {
        let constant = i128::from(constant >> (64 - bits));
        prop_assume!(constant != 0);
        let divide = |b: &mut Builder, x: Int| {
            let constant = b.constant(constant, 65);
            let (mut q, r) = b.div_rem(x, Int::signed(&constant), case.width.min(62), 65);
            q.extend(r);
            q
        };
        check_all(case, |b, x, _| divide(b, x), |x, _| {
            let q = floor_div(x, constant);
            let width = case.width.min(62);
            wrap(q, width, false) | (x - q * constant) << width
        });
    }

    #[test]
    fn shifts(case in cases(64), amount_width in 1..8usize, by in 0..70usize) {
        let w = case.width;
        let case = Case { y: (amount_width, false), ..case };
        let left = |x: i128, by: usize| if by > 127 { 0 } else { x << by };
        check_all(case, |b, x, y| b.shl(x, y.bits, w), |x, y| left(x, y as usize));
        check_all(case, |b, x, y| b.shr(x, y.bits, w), |x, y| x >> y.min(127));
        check_all(case, |_, x, _| x.shl(by, w), |x, _| left(x, by));
        check_all(case, |_, x, _| x.shr(by, w), |x, _| x >> by);
        check_all(case, |_, x, _| x.resize(w), |x, _| x);
    }

    #[test]
    fn bit_functions(case in cases(64)) {
        let case = Case { y: case.x, ..case };
        let (w, ones) = (case.x.0, |x: i128| wrap(x, case.x.0, false).count_ones());
        check_all(case, |b, x, _| b.popcount(x.bits, case.width), |x, _| ones(x).into());
        check_all(case, |b, x, _| vec![b.parity(x.bits)], |x, _| (ones(x) % 2).into());
        check_all(case, |b, x, _| vec![b.any(x.bits)], |x, _| (ones(x) > 0).into());
        check_all(case, |b, x, _| vec![b.all(x.bits)], |x, _| (ones(x) == w as u32).into());
        check_all(case, |b, x, y| b.zip(x.bits, y.bits, Builder::or), |x, y| x | y);
        check_all(case, |b, x, y| b.select(x.bits[0], x.bits, y.bits), |x, y| {
            if x & 1 == 1 { x } else { y }
        });
    }

    #[test]
    fn lookups(case in cases(64), len in 1..20usize, constants in any::<bool>()) {
        let entry = |x: i128, i: usize| if constants { 37 * i as i128 } else { x + i as i128 };
        let build = |b: &mut Builder, x: Int, y: Int| {
            let table: Vec<Word> = (0..len)
                .map(|i| if constants { b.constant(entry(0, i), case.width) } else {
                    let i = b.constant(i as i128, 6);
                    b.add(x, Int::unsigned(&i), case.width)
                })
                .collect();
            b.lookup(y.bits, &table)
        };
        let case = Case { y: (5, false), ..case };
        let reference = |x: i128, y: i128| match y as usize {
            i if i < len => entry(x, i),
            _ => 0,
        };
        check_all(case, build, reference);
    }

    #[test]
    fn sorting(n in 0..12usize, width in 1..9usize, signed: bool, seed: u64, deep: bool) {
        // Rows are a key and the row's number: any permutation of the input that is in order and
        // that keeps rows whole is right.
        let mut b = Builder::for_goal(GOALS[usize::from(deep)]);
        let mut rows: Vec<Word> = (0..n).map(|_| b.input(width)).collect();
        for (i, row) in rows.iter_mut().enumerate() {
            row.extend(b.constant(i as i128, 8));
        }
        b.sort(&mut rows, width, signed);
        let tape = compile(&b.finish(rows), &machine(seed));
        tape.check().unwrap();
        let mut random = seed;
        let mut keys = || (0..n).map(|_| value(&mut random, (width, signed))).collect();
        let lanes: Vec<Vec<i128>> = (0..LANES).map(|_| keys()).collect();
        let column = |i: usize| lanes.iter().map(|keys| keys[i]).collect::<Vec<_>>();
        let inputs: Vec<Lanes> = (0..n).flat_map(|i| pack(&column(i), width)).collect();
        let outputs = tape.eval(&inputs);
        for (lane, keys) in lanes.iter().enumerate() {
            let rows = outputs.chunks(width + 8).map(|row| unpack(row, lane));
            let rows: Vec<(i128, usize)> =
                rows.map(|r| (wrap(r, width, signed), (r >> width) as usize)).collect();
            prop_assert!(rows.is_sorted_by_key(|&(key, _)| key));
            prop_assert!(rows.iter().all(|&(key, i)| key == keys[i]));
            let mut seen: Vec<usize> = rows.iter().map(|&(_, i)| i).collect();
            seen.sort();
            prop_assert_eq!(seen, (0..n).collect::<Vec<_>>());
        }
    }
}

#[test]
fn trimming_keeps_the_value() {
    let zero = [Wire::ZERO; 3];
    assert_eq!(Int::signed(&zero).trim().bits, []);
    assert_eq!(Int::signed(&[Wire::ONE; 3]).trim().bits, [Wire::ONE]);
    assert_eq!(Int::signed(&[Wire::ONE; 3]).as_constant(), Some(-1));
    assert_eq!(Int::unsigned(&[Wire::ONE; 3]).as_constant(), Some(7));
}
