//! Costs of the standard functions: ANDs for [`Goal::Size`], levels and ANDs for [`Goal::Depth`].

use crate::CircuitInfo;
use crate::builder::{Builder, Goal, Wire, Word};
use crate::word::Int;

/// The sizes of `build` on two operands of `width` bits.
fn info(
    goal: Goal,
    width: usize,
    signed: bool,
    build: impl Fn(&mut Builder, Int, Int) -> Word,
) -> CircuitInfo {
    let mut b = Builder::for_goal(goal);
    let (x, y) = (b.input(width), b.input(width));
    let word = build(&mut b, Int { bits: &x, signed }, Int { bits: &y, signed });
    b.finish(vec![word]).info()
}

/// The AND depth of `build` for [`Goal::Depth`] on two operands of `width` bits.
fn depth(width: usize, signed: bool, build: impl Fn(&mut Builder, Int, Int) -> Word) -> u64 {
    info(Goal::Depth, width, signed, build).depth
}

/// The ANDs of `build` for [`Goal::Size`] on two operands of `width` bits.
fn ands(width: usize, signed: bool, build: impl Fn(&mut Builder, Int, Int) -> Word) -> u64 {
    info(Goal::Size, width, signed, build).ands
}

#[test]
fn adders_and_comparators_take_an_and_a_bit() {
    for signed in [false, true] {
        for n in [1, 2, 8, 33, 64] {
            let w = n as u64;
            let take = |expected, what: &str, build: fn(&mut Builder, Int, Int, usize) -> Word| {
                let found = ands(n, signed, |b, x, y| build(b, x, y, n));
                assert_eq!(found, expected, "{what} of {n} bits");
            };
            take(w - 1, "sum modulo 2^n", |b, x, y, n| b.add(x, y, n));
            take(w, "sum", |b, x, y, n| b.add(x, y, n + 1));
            let longer = "sum, whose extension is free,";
            take(w, longer, |b, x, y, n| b.add(x, y, n + 9));
            take(w, "difference", |b, x, y, n| b.sub(x, y, n + 1));
            take(w, "less than", |b, x, y, _| vec![b.lt(x, y)]);
            take(w, "at most", |b, x, y, _| vec![b.le(x, y)]);
            take(w - 1, "equal", |b, x, y, _| vec![b.eq(x, y)]);
            take(2 * w, "maximum", |b, x, y, n| b.max(x, y, n));
        }
    }
}

#[test]
fn popcount_takes_the_known_minimum() {
    for n in 1..=64usize {
        let minimum = n as u64 - u64::from(n.count_ones());
        for goal in [Goal::Size, Goal::Depth] {
            let info = info(goal, n, false, |b, x, _| b.popcount(x.bits, 7));
            assert_eq!(info.ands, minimum, "{n} bits, {goal:?}");
            let (depth, most) = (info.depth, log2(n as u64) + 1);
            assert!(goal == Goal::Size || depth <= most, "{n}: {depth}");
        }
    }
}

#[test]
fn products_take_no_more_than_the_school_book() {
    // The Bristol Fashion circuit for 64 x 64 -> 64 bits takes 4033.
    let low = ands(64, false, |b, x, y| b.mul(x, y, 64));
    assert!(low < 4033, "{low}");
    let full = ands(64, false, |b, x, y| b.mul(x, y, 128));
    assert!(full < 2 * 64 * 64 - 64, "{full}");
    let square = ands(64, false, |b, x, _| b.mul(x, x, 128));
    assert!(square < full * 6 / 10, "{square}");
    // 10 = 8 + 2: one addition, of which the lowest bits are free.
    let ten = constant(10);
    assert!(ands(64, true, |b, x, _| b.mul(x, Int::signed(&ten), 64)) < 64);
    let of_eight = |signed| ands(8, signed, |b, x, y| b.mul(x, y, 16));
    assert_eq!(of_eight(true), of_eight(false));
}

#[test]
fn division_takes_three_quarters_of_a_square() {
    let q = ands(64, false, |b, x, y| b.div(x, y, 64));
    assert!(q < 64 * 64 * 8 / 10, "{q}");
    let eight = constant(8);
    let shift = ands(64, true, |b, x, _| b.div(x, Int::signed(&eight), 64));
    assert_eq!(shift, 0);
}

fn constant(value: i128) -> Word {
    Builder::new().constant(value, 64)
}

/// The levels of a tree over `n` leaves.
fn log2(n: u64) -> u64 {
    n.next_power_of_two().ilog2().into()
}

#[test]
fn carries_are_as_deep_as_their_degree() {
    for n in 1..=70 {
        // The last carry of n bits is a polynomial of degree n + 1.
        let (w, least) = (n as u64, log2(n as u64 + 1));
        for signed in [false, true] {
            let sum = |width| depth(n, signed, |b, x, y| b.add(x, y, width));
            assert_eq!(sum(n), log2(w), "sum modulo 2^{n}");
            assert_eq!([sum(n + 1), sum(n + 9)], [least; 2], "sum of {n} bits");
            let difference = |width| depth(n, signed, |b, x, y| b.sub(x, y, width));
            assert_eq!(difference(n), log2(w), "difference modulo 2^{n}");
            let differences = [difference(n + 1), difference(n + 9)];
            assert_eq!(differences, [least; 2], "difference");
            let absolute = depth(n, signed, |b, x, _| b.abs(x, n));
            assert!(absolute <= least, "absolute value");
            let maximum = depth(n, signed, |b, x, y| b.max(x, y, n));
            assert_eq!(maximum, least + 1, "maximum");
            let equal = depth(n, signed, |b, x, y| vec![b.eq(x, y)]);
            assert_eq!(equal, log2(w), "equal");
            let less = info(Goal::Depth, n, signed, |b, x, y| vec![b.lt(x, y)]);
            assert_eq!((less.ands, less.depth), (2 * w - least, least), "less than");
            let sum = info(Goal::Depth, n, signed, |b, x, y| b.add(x, y, n + 1));
            assert!(sum.ands < 5 * w, "{n}: {}", sum.ands);
        }
    }
}

#[test]
fn sums_of_many_terms_take_a_level_for_each_doubling() {
    for terms in 3..=33 {
        for n in [1, 5, 16] {
            let mut b = Builder::for_goal(Goal::Depth);
            let words: Vec<Word> = (0..terms).map(|_| b.input(n)).collect();
            let words: Vec<Int> = words.iter().map(|word| Int::unsigned(word)).collect();
            let width = n + log2(terms as u64) as usize;
            let sum = b.sum(&words, width);
            let info = b.finish(vec![sum]).info();
            let bound = log2(terms as u64 - 1) + log2(width as u64 + 1);
            let (depth, ands) = (info.depth, info.ands);
            assert!(depth <= bound, "{terms} of {n} bits: {depth} > {bound}");
            let most = (terms * n + 4 * width) as u64;
            assert!(ands <= most, "{terms} of {n}: {ands}");
        }
    }
}

#[test]
fn products_are_carry_save_trees() {
    for n in 2..=64 {
        for signed in [false, true] {
            // Products of bits, a tree over them, and the last adder.
            let bound = 2 + 2 * log2(n as u64);
            let product = info(Goal::Depth, n, signed, |b, x, y| b.mul(x, y, 2 * n));
            assert!(product.depth <= bound, "{n}: {}", product.depth);
            let school = 2 * (n * n - n) as u64;
            let (ands, most) = (product.ands, school + 10 * n as u64);
            assert!(ands <= most, "{n}: {ands}");
            let low = depth(n, signed, |b, x, y| b.mul(x, y, n));
            assert!(low < bound, "{n}: {low}");
            let square = depth(n, signed, |b, x, _| b.mul(x, x, 2 * n));
            assert!(square < bound, "{n}: {square}");
        }
    }
}

#[test]
fn loops_and_layers_have_steps_of_logarithmic_depth() {
    for n in [8, 16, 32, 64] {
        let (w, least) = (n as u64, log2(n as u64));
        let quotient = depth(n, false, |b, x, y| b.div(x, y, n));
        assert!(quotient <= w * (least + 1), "{n}: {quotient}");
        let shifted = depth(n, false, |b, x, y| b.shl(x, y.bits, n));
        assert!(shifted <= least + 1, "{n}: {shifted}");
    }
}

/// A late term delays nothing: it joins the others in the last levels.
#[test]
fn late_terms_join_late() {
    let mut b = Builder::for_goal(Goal::Depth);
    let words: Vec<Word> = (0..9).map(|_| b.input(16)).collect();
    let mut late = |bit: &Wire| b.all(&[&words[1][..], &[*bit]].concat());
    let late: Word = words[0].iter().map(&mut late).collect();
    let terms = words[1..].iter().chain([&late]);
    let terms: Vec<Int> = terms.map(|word| Int::unsigned(word)).collect();
    let sum = b.sum(&terms, 16);
    // The late word has depth 5; a level joins it to the two words that the others have become.
    assert_eq!(b.finish(vec![sum]).info().depth, 5 + 1 + 4);
}

#[test]
fn one_hot_forms_take_the_last_row_and_column_from_the_factors() {
    for k in 0..=10usize {
        let mut b = Builder::new();
        let index = b.input(k);
        let bits = b.demux(&index);
        assert_eq!(bits.len(), 1 << k);
        let info = b.finish(vec![bits]).info();
        assert_eq!(info.ands, (1 << k) - k as u64 - 1);
        assert_eq!(info.depth, log2(k as u64));
    }
}

/// Entries without a pattern: multiples of an odd constant, middle bits.
fn entry(i: usize, width: usize) -> Word {
    let mixed = (i as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20;
    Builder::new().constant(mixed.into(), width)
}

#[test]
fn tables_of_any_length_are_read_in_the_rounds_of_the_demux() {
    for k in 1..=10usize {
        let all = 1usize << k;
        for len in [1, all / 2, all / 2 + 1, all * 3 / 4, all - 1, all] {
            for (goal, width) in [(Goal::Size, 3), (Goal::Depth, 3), (Goal::Depth, 33)] {
                check_table(k, len.max(1), width, goal);
            }
        }
    }
}

fn check_table(k: usize, len: usize, width: usize, goal: Goal) {
    let table: Vec<Word> = (0..len).map(|i| entry(i, width)).collect();
    let mut b = Builder::for_goal(goal);
    let index = b.input(k);
    let found = b.lookup(&index, &table);
    let circuit = b.finish(vec![found]);
    let info = circuit.info();
    let rounds = log2(k as u64);
    let (ands, depth) = (info.ands, info.depth);
    let shallow = goal == Goal::Size || depth <= rounds;
    assert!(shallow, "{k} bits, {len} entries: {depth}");
    assert!(ands < 1 << k, "{k} bits, {len} entries: {ands}");
    for i in 0..1usize << k {
        let bits: Vec<bool> = (0..k).map(|bit| i >> bit & 1 == 1).collect();
        let expected = table.get(i).map_or(vec![false; width], |word| {
            word.iter().map(|&bit| bit == Wire::ONE).collect()
        });
        let found = circuit.eval(&[bits]);
        assert_eq!(found, [expected], "entry {i} of {len}, {goal:?}");
    }
}

#[test]
fn lookups_take_the_smaller_form() {
    let lookup = |goal, k: usize, width: usize, len: usize| {
        let mut b = Builder::for_goal(goal);
        let index = b.input(k);
        let table: Vec<Word> = (0..len).map(|i| entry(i, width)).collect();
        let found = b.lookup(&index, &table);
        b.finish(vec![found]).info()
    };
    // Wide entries: the paper's form, an AND for each entry but a few, and free sums.
    let wide = lookup(Goal::Depth, 8, 32, 256);
    assert_eq!((wide.ands, wide.depth), (247, 3));
    assert!(wide.xors < 32 * 256 * 6 / 10, "{}", wide.xors);
    // An index that is longer than its table needs pays for its range, not for entries.
    assert!(lookup(Goal::Depth, 20, 8, 10).ands < 60);
    // Few bits: the multiplexers of a small table of bits.
    let small = lookup(Goal::Size, 3, 1, 8);
    assert!(small.ands <= 3, "{}", small.ands);
    assert!(lookup(Goal::Size, 8, 32, 256).ands <= 247);
}

#[test]
fn secret_tables_take_an_and_for_each_entry_and_bit() {
    for (goal, ands, depth) in [(Goal::Size, 7 * 4, 3), (Goal::Depth, 4 + 7 * 4, 3)] {
        let mut b = Builder::for_goal(goal);
        let index = b.input(3);
        let table: Vec<Word> = (0..8).map(|_| b.input(4)).collect();
        let found = b.lookup(&index, &table);
        let info = b.finish(vec![found]).info();
        assert_eq!((info.ands, info.depth), (ands, depth), "{goal:?}");
    }
}
