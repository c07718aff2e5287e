//! Tests of the lines of the norm about order, groups and scans.

use super::{Column, all, i, run_shaped, u, w, within};
use sealane_diagnostic::{Code, Diagnostic};
use sealane_program::builder::{Builder, Handle};
use sealane_program::graph::{Binary::*, Reduction};
use sealane_program::types::{Range, Type};

/// Type and numbers of a result on columns of rows.
fn by_rows(
    columns: &[Column],
    build: impl FnOnce(&mut Builder, &[Handle]) -> Result<Handle, Diagnostic>,
) -> Result<(Type, Vec<i128>), Code> {
    run_shaped(true, columns, build).map_err(|error| error.code)
}

fn range(b: &Builder, handle: Handle) -> Option<Range> {
    b.value(handle).map(|value| value.range)
}

#[test]
fn n66_rows_stand_under_one_another_in_their_common_type() {
    let (a, c) = (within(u(8), 3, 9, &[3, 9]), within(i(4), -2, 5, &[-2, 5]));
    let joined = by_rows(&[a, c], |b, x| {
        let joined = b.concatenate(&[x[0].into(), x[1].into()], 0, None)?;
        assert_eq!(range(b, joined), Some(Range { lo: -2, hi: 9 }));
        Ok(joined)
    });
    assert_eq!(joined, Ok((i(9), vec![3, 9, -2, 5])));
    // Two tables of up to 1000 rows in 0..2 give up to 4000.
    let sum = |ty| {
        let columns = [within(u(11), 0, 2, &[2, 1]), within(u(11), 0, 2, &[2, 2])];
        by_rows(&columns, |b, x| {
            let joined = b.concatenate(&[x[0].into(), x[1].into()], 0, None)?;
            b.reduce(Reduction::Sum, joined, None, Some(ty), None)
        })
    };
    assert_eq!(sum(u(12)), Ok((u(12), vec![7])));
    assert_eq!(sum(u(11)), Err(Code::RangeOverflow));
}

#[test]
fn n67_a_sort_keeps_all_elements() {
    let sorted = by_rows(&[within(i(8), -7, 5, &[5, -7, 0, 5])], |b, x| {
        let (before, behind) = b.begin_sort(x, None)?;
        let exchange = b.binary(Lt, behind[0].into(), before[0].into(), None)?;
        let sorted = b.end_sort(exchange.into(), false, None)?;
        assert_eq!(range(b, sorted[0]), Some(Range { lo: -7, hi: 5 }));
        Ok(sorted[0])
    });
    assert_eq!(sorted, Ok((i(8), vec![-7, 0, 5, 5])));
}

#[test]
fn n68_running_reductions_begin_anew_and_kept_elements_move_to_the_front() {
    let columns = [
        within(u(12), 2, 4, &[2, 3, 4, 2]),
        all(Type::Bool, &[0, 0, 1, 0]),
    ];
    let anew = by_rows(&columns, |b, x| {
        b.running(Reduction::Sum, x[0], Some(x[1]), None, None)
    });
    assert_eq!(anew, Ok((u(12), vec![2, 5, 4, 6])));
    let narrow = [within(u(11), 2, 4, &[2]), all(Type::Bool, &[0])];
    let narrow = by_rows(&narrow, |b, x| {
        b.running(Reduction::Sum, x[0], Some(x[1]), None, None)
    });
    assert_eq!(narrow, Err(Code::RangeOverflow));
    let columns = [
        within(u(8), 2, 4, &[2, 3, 4, 2]),
        all(Type::Bool, &[0, 1, 0, 1]),
    ];
    let kept = by_rows(&columns, |b, x| {
        let kept = b.compact(x[1], &[x[0]], None)?;
        assert_eq!(range(b, kept[0]), Some(Range { lo: 0, hi: 4 }));
        Ok(kept[0])
    });
    assert_eq!(kept, Ok((u(8), vec![3, 2, 0, 0])));
}

#[test]
fn n69_an_associative_scan_may_combine_any_values_of_its_type() {
    let scan = |ty: Type| {
        by_rows(&[within(ty, 0, 9, &[1, 2, 3])], |b, x| {
            let (before, behind) = b.begin_prefix(x, None)?;
            let sum = b.binary(Add, before[0].into(), behind[0].into(), None)?;
            let sofar = b.end_prefix(&[sum.into()], None)?;
            assert_eq!(range(b, sofar[0]), Some(ty.range()));
            Ok(sofar[0])
        })
    };
    assert_eq!(scan(w(8)), Ok((w(8), vec![1, 3, 6])));
    assert_eq!(scan(u(8)), Err(Code::RangeOverflow));
    let another = by_rows(&[all(u(8), &[1, 2])], |b, x| {
        let (before, behind) = b.begin_prefix(x, None)?;
        let less = b.binary(Lt, before[0].into(), behind[0].into(), None)?;
        Ok(b.end_prefix(&[less.into()], None)?[0])
    });
    assert_eq!(another, Err(Code::Body));
}

#[test]
fn n70_a_body_reduces_all_rows_of_a_table() {
    let sums = |dtype| {
        let columns = [
            within(u(8), 0, 5, &[1, 0, 5]),
            within(u(8), 0, 7, &[7, 0, 2]),
        ];
        by_rows(&columns, |b, x| {
            let element = b.begin_map(&x[..1], None)?[0];
            let products = b.binary(Mul, x[1].into(), element.into(), None)?;
            let sum = b.reduce(Reduction::Sum, products, None, Some(dtype), None)?;
            Ok(b.end_map(&[sum.into()], None)?[0])
        })
    };
    // 1000 rows of at most 35.
    assert_eq!(sums(u(16)), Ok((u(16), vec![9, 0, 45])));
    assert_eq!(sums(u(15)), Err(Code::RangeOverflow));
}
