//! Tests of the norm on whole arrays: reductions, shapes, bodies, functions, results and lookups.

use super::*;

#[test]
fn n26_sums_have_the_type_of_their_elements_or_dtype() {
    check("reduce sum u8(0..80)[80,80,80]: u8[240]");
    let b = all(u(8), &[255, 255, 255]);
    check(
        "reduce sum u8[255,255,255]: range-overflow
         reduce sum u8[255,255,255] u10: u10[765]
         reduce sum u8[255,255,255] i8: range-overflow
         reduce sum w8[255,2]: w8[1]",
    );
    let sum = |dtype| {
        run_shaped(true, &[b], |build, x| {
            build.reduce(Reduction::Sum, x[0], None, dtype, None)
        })
    };
    let error = sum(None).unwrap_err();
    let reason = "up to 1000 elements in 0..255 give 0..255000, and u8 holds 0..255";
    assert_eq!(error.reason, reason);
    assert_eq!(error.hint, "write `sl.sum(x0, dtype=sl.u18)`");
    assert_eq!(sum(Some(u(18))).unwrap(), (u(18), vec![765]));
    let running = |dtype| {
        run_shaped(true, &[b], |build, x| {
            build.accumulate(Reduction::Sum, x[0], 0, dtype, None)
        })
    };
    let error = running(None).unwrap_err();
    assert_eq!(error.hint, "write `sl.cumsum(x0, dtype=sl.u18)`");
    assert_eq!(running(Some(u(18))).unwrap(), (u(18), vec![255, 510, 765]));
    let wraps = run(&[all(w(8), &[255, 2, 9])], |build, x| {
        build.accumulate(Reduction::Sum, x[0], -1, None, None)
    });
    assert_eq!(wraps.unwrap(), (w(8), vec![255, 1, 10]));
    let most = run(&[all(i(8), &[-5, 3, -9, 4])], |build, x| {
        build.accumulate(Reduction::Max, x[0], 0, None, None)
    });
    assert_eq!(most.unwrap(), (i(8), vec![-5, 3, 3, 4]));
}

#[test]
fn n26_a_refused_sum_keeps_its_axis() {
    let hint = |axis| {
        let refused = run(&[all(u(8), &[1, 2])], |build, x| {
            let table = build.stack(&[x[0].into(), x[0].into()], 1, None)?;
            build.reduce(Reduction::Sum, table, axis, None, None)
        });
        refused.unwrap_err().hint
    };
    assert_eq!(hint(Some(-1)), "write `sl.sum(a, axis=1, dtype=sl.u9)`");
    assert_eq!(hint(None), "write `sl.sum(a, dtype=sl.u10)`");
}

#[test]
fn n27_a_sum_of_truths_counts() {
    let a = all(Type::Bool, &[1, 0, 1, 1]);
    check(
        "reduce sum bool[1,0,1,1]: u3[3]
         reduce sum bool[1,0,1,1] i32: i32[3]",
    );
    let rows = run_shaped(true, &[a], |b, x| {
        b.reduce(Reduction::Sum, x[0], Some(0), None, None)
    });
    assert_eq!(rows.unwrap(), (u(10), vec![3]));
}

#[test]
fn n28_extremes_and_truths() {
    check(
        "reduce min i8[3,-9,100]: i8[-9]
         reduce max i8[3,-9,100]: i8[100]
         reduce any bool[1,0]: bool[1]
         reduce all bool[1,0]: bool[0]
         reduce any i8[3,-9,100]: type-mismatch",
    );
}

#[test]
fn n29_products_sum_over_the_inner_axis() {
    let columns = [all(u(8), &[1, 2, 3]), all(i(8), &[-1, 5, 7])];
    let dot = |dtype| run(&columns, |b, x| b.dot(x[0], x[1], dtype, None));
    let error = dot(None).unwrap_err();
    assert_eq!(error.code, Code::RangeOverflow);
    // 3 * 255 * -128 is -97920, which takes 18 bits with its sign.
    assert_eq!(error.hint, "write `sl.dot(x0, x1, dtype=sl.i18)`");
    assert_eq!(dot(Some(i(18))).unwrap(), (i(18), vec![30]));
    let matrix = run(&[within(i(16), 0, 9, &[1, 2])], |b, x| {
        let m = Data::from_numbers(i(16), vec![2, 3], &[1, 2, 3, 4, 5, 6]).expect("six numbers");
        let m = b.constant(m, None)?;
        b.dot(x[0], m, None, None)
    });
    assert_eq!(matrix.unwrap(), (i(16), vec![9, 12, 15]));
}

#[test]
fn n30_shapes_broadcast() {
    let outer = run(
        &[within(u(8), 0, 9, &[1, 2]), within(u(8), 0, 9, &[3, 4, 5])],
        |b, x| {
            let column = b.index(x[0], &[Index::Ellipsis, Index::NewAxis], None)?;
            b.binary(Mul, column.into(), x[1].into(), None)
        },
    );
    assert_eq!(outer.unwrap(), (u(8), vec![3, 4, 5, 6, 8, 10]));
    check("eq u8[1,2] u8[1,2,3]: shape-mismatch");
    let mixed = run_shaped(true, &[all(u(8), &[1, 2])], |b, x| {
        let fixed = Data::from_numbers(u(8), vec![2], &[1, 2]).expect("two numbers");
        let fixed = b.constant(fixed, None)?;
        b.binary(Eq, x[0].into(), fixed.into(), None)
    });
    let error = mixed.unwrap_err();
    assert_eq!(error.message, "shapes [n] and [2] do not go together");
    let single = run_shaped(true, &[all(u(8), &[1, 2])], |b, x| {
        let fixed = Data::from_numbers(u(8), vec![1], &[2]).expect("a number");
        let fixed = b.constant(fixed, None)?;
        b.binary(Eq, fixed.into(), x[0].into(), None)
    });
    assert_eq!(single.unwrap(), (Type::Bool, vec![0, 1]));
    let behind = run_shaped(true, &[all(u(8), &[1, 2])], |b, x| {
        let fixed = Data::from_numbers(u(8), vec![2, 1], &[1, 2]).expect("two numbers");
        let fixed = b.constant(fixed, None)?;
        b.binary(Eq, fixed.into(), x[0].into(), None)
    });
    let error = behind.unwrap_err();
    assert_eq!(error.message, "shapes [2, 1] and [n] do not go together");
}

#[test]
fn n31_indices_are_those_of_numpy() {
    let a = all(u(8), &[10, 11, 12, 13]);
    let at =
        |index: Index| run(&[a], |b, x| b.index(x[0], &[index], None)).map(|(_, numbers)| numbers);
    let slice = |start, stop| Index::Slice { start, stop };
    assert_eq!(at(Index::At(-1)).unwrap(), [13]);
    assert_eq!(at(slice(Some(1), Some(-1))).unwrap(), [11, 12]);
    assert_eq!(at(slice(Some(-2), Some(99))).unwrap(), [12, 13]);
    let error = at(Index::At(4)).unwrap_err();
    assert_eq!(error.message, "index 4 is outside of axis 0 of shape [4]");
    assert_eq!(at(Index::At(-5)).unwrap_err().code, Code::IndexRange);
    let rows = run_shaped(true, &[a], |b, x| b.index(x[0], &[Index::At(0)], None));
    let message = "axis 0 of shape [n] is symbolic and takes no index but `:`";
    assert_eq!(rows.unwrap_err().message, message);
    let step = |start, stop, step| at(Index::Stepped { start, stop, step });
    assert_eq!(step(None, None, -1).unwrap(), [13, 12, 11, 10]);
    assert_eq!(step(Some(-1), Some(0), -2).unwrap(), [13, 11]);
    assert_eq!(step(Some(1), Some(99), 2).unwrap(), [11, 13]);
    assert_eq!(step(None, Some(2), -1).unwrap(), [13]);
    assert_eq!(step(None, None, 0).unwrap_err().code, Code::IndexRange);
    let arranged = run(&[a], |b, x| {
        let square = b.reshape(x[0], &[Length::Of(2), Length::Of(-1)], None)?;
        let turned = b.transpose(square, None, None)?;
        let wide = b.broadcast_to(square, &[2, 2, 2].map(Length::Of), None)?;
        let flat = b.reshape(wide, &[Length::Of(4), Length::Of(2)], None)?;
        b.concatenate(&[turned.into(), flat.into()], 0, None)
    });
    let wanted = [10, 12, 11, 13, 10, 11, 12, 13, 10, 11, 12, 13];
    assert_eq!(arranged.unwrap(), (u(8), wanted.to_vec()));
}

#[test]
fn n32_nothing_is_empty() {
    let (start, stop) = (Some(2), Some(2));
    let empty = Index::Slice { start, stop };
    let sliced = run(&[all(u(8), &[1, 2])], |b, x| b.index(x[0], &[empty], None));
    assert_eq!(sliced.unwrap_err().code, Code::IndexRange);
    let refused = run(&[all(u(8), &[])], |_, x| Ok(x[0])).unwrap_err().code;
    assert_eq!(refused, Code::Limit);
}

#[test]
fn n33_map_applies_the_body_to_each_element() {
    let mapped = run_shaped(true, &[within(u(8), 0, 9, &[1, 2, 3])], |b, x| {
        let total = b.reduce(Reduction::Sum, x[0], None, Some(u(16)), None)?;
        let element = b.begin_map(&[x[0]], None)?;
        let part = b.binary(Mul, element[0].into(), 10.into(), None)?;
        let larger = b.binary(Gt, part.into(), total.into(), None)?;
        Ok(b.end_map(&[larger.into()], None)?[0])
    });
    assert_eq!(mapped.unwrap(), (Type::Bool, vec![1, 1, 1]));
}

#[test]
fn n34_a_carry_keeps_its_type_for_any_number_of_turns() {
    // The largest prefix sum that saturates at 15, and the prefix sums.
    let saturating = |outputs: bool| {
        run_shaped(true, &[all(u(4), &[9, 5, 1, 7])], |b, x| {
            let start = b.scalar(u(4), 0, None)?;
            let (carry, element) = b.begin_scan(&[start.into()], &[x[0]], None)?;
            let wide = b.cast(carry[0], u(8), None)?;
            let sum = b.binary(Add, wide.into(), element[0].into(), None)?;
            let next = b.binary(Min, sum.into(), 15.into(), None)?;
            let (last, all) = b.end_scan(&[next.into()], &[next.into()], None)?;
            Ok(if outputs { all[0] } else { last[0] })
        })
    };
    assert_eq!(saturating(false).unwrap(), (u(4), vec![15]));
    assert_eq!(saturating(true).unwrap(), (u(8), vec![9, 14, 15, 15]));
    let refused = run_shaped(true, &[all(u(4), &[1])], |b, x| {
        let start = b.scalar(u(4), 0, None)?;
        let (carry, element) = b.begin_scan(&[start.into()], &[x[0]], None)?;
        let inside = b.binary(Add, carry[0].into(), element[0].into(), None);
        let inside = inside.unwrap_err();
        assert_eq!(inside.code, Code::RangeOverflow);
        let any = "in a scan, a carry can hold any value of its type";
        assert!(inside.reason.ends_with(any));
        assert!(inside.hint.contains("clamp the next one with `sl.clip`"));
        let wide = b.cast(carry[0], u(8), None)?;
        let sum = b.binary(Add, wide.into(), element[0].into(), None)?;
        Ok(b.end_scan(&[sum.into()], &[], None)?.0[0])
    });
    let error = refused.unwrap_err();
    let wanted = (Code::RangeOverflow, "carry 0 can leave u4");
    assert_eq!((error.code, &error.message[..]), wanted);
}

#[test]
fn n35_functions_are_their_standards() {
    // FIPS 197, appendix B.
    let [key, block, cipher] = [
        0x2b7e1516_28aed2a6_abf71588_09cf4f3c_u128,
        0x3243f6a8_885a308d_313198a2_e0370734,
        0x3925841d_02dc09fb_dc118597_196a0b32,
    ]
    .map(|bytes| bytes.to_be_bytes().map(i128::from));
    let encrypted = run(&[all(u(8), &key), all(u(8), &block)], |b, x| {
        b.call("aes128", &[x[0].into(), x[1].into()], None)
    });
    assert_eq!(encrypted.unwrap(), (u(8), cipher.to_vec()));
    // FIPS 180-4, the message "abc".
    let digest = run(&[all(i(9), &[97, 98, 99])], |b, x| {
        let bytes = b.binary(Max, x[0].into(), 0.into(), None)?;
        b.call("sha256", &[bytes.into()], None)
    });
    let (ty, digest) = digest.unwrap();
    assert_eq!((ty, digest.len()), (u(8), 32));
    assert_eq!(digest[..4], [0xba, 0x78, 0x16, 0xbf]);
    assert_eq!(digest[28..], [0xf2, 0x00, 0x15, 0xad]);
}

#[test]
fn n36_results_fit_their_declared_type() {
    let reveal = |ty: Type, range: Range| {
        let mut b = Builder::new("reveal")?;
        let owner = b.party("alice")?;
        let input = declared("x", owner, i(16), Shape::scalar(), range);
        let x = b.input(input)?;
        b.reveal("result", x.into(), &[owner], ty, None)?;
        b.finish().map(|(program, _)| program.results[0].ty)
    };
    assert_eq!(reveal(u(8), Range { lo: 0, hi: 255 }).unwrap(), u(8));
    for ty in [u(8), w(8)] {
        let error = reveal(ty, Range { lo: 0, hi: 256 }).unwrap_err();
        assert_eq!(error.code, Code::RangeOverflow);
        assert!(error.hint.contains("sl.u9"));
    }
}

#[test]
fn n37_a_lookup_is_an_index_of_numpy() {
    let data = |ty, shape: &[u64], numbers: &[i128]| {
        Data::from_numbers(ty, shape.to_vec(), numbers).expect("numbers of the type")
    };
    let index = within(u(8), 0, 3, &[3, 0, 0, 2]);
    let of = |table: Data| {
        let found = run(&[index], |b, x| {
            let table = b.constant(table, None)?;
            b.lookup(table, x[0], None)
        });
        found.unwrap()
    };
    let found = of(data(i(9), &[4], &[-200, 7, 11, 200]));
    assert_eq!(found, (i(9), vec![200, -200, -200, 11]));
    // Python: np.arange(8).reshape(4, 2)[[3, 0, 0, 2]].ravel()
    let found = of(data(u(3), &[4, 2], &[0, 1, 2, 3, 4, 5, 6, 7]));
    assert_eq!(found, (u(3), vec![6, 7, 0, 1, 0, 1, 4, 5]));
    let found = of(data(Type::Bool, &[5], &[1, 0, 0, 1, 0]));
    assert_eq!(found, (Type::Bool, vec![1, 1, 1, 0]));
    let rows = run_shaped(true, &[index], |b, x| {
        let table = b.constant(data(u(8), &[4], &[9, 8, 7, 6]), None)?;
        let found = b.lookup(table, x[0], None)?;
        let range = Some(Range { lo: 6, hi: 9 });
        assert_eq!(b.value(found).map(|v| v.range), range);
        Ok(found)
    });
    assert_eq!(rows.unwrap(), (u(8), vec![6, 9, 9, 7]));
    // A permutation composed with itself.
    let own = run(&[within(w(8), 0, 2, &[2, 0, 1])], |b, x| {
        b.lookup(x[0], x[0], None)
    });
    assert_eq!(own.unwrap(), (w(8), vec![1, 2, 0]));
}

#[test]
fn n38_an_index_that_can_leave_its_table_is_refused() {
    check(
        "lookup u8[5,6,7] i8(0..2)[1,0,2]: u8[6,5,7]
         lookup u8[5,6,7] i8(0..3)[3,3,3]: index-range
         lookup u8[5,6,7] i8(-1..2)[2,2,2]: index-range
         lookup u8[5,6,7] i8(3..3)[3,3,3]: index-range
         lookup u8[5,6,7] bool[1,0,1]: type-mismatch",
    );
    let columns = [all(u(8), &[5, 6, 7]), within(u(8), 0, 0, &[0, 0, 0])];
    let rows = run_shaped(true, &columns, |b, x| b.lookup(x[0], x[1], None));
    assert_eq!(rows.unwrap_err().code, Code::ShapeMismatch);
    let sized = |count: usize| {
        let numbers = vec![1; count];
        run(&[within(u(8), 0, 1, &[1])], |b, x| {
            let table = Data::from_numbers(u(1), vec![count as u64], &numbers);
            let table = b.constant(table.expect("ones"), None)?;
            b.lookup(table, x[0], None)
        })
        .map_err(|e| e.code)
    };
    assert_eq!(sized(1 << 16), Ok((u(1), vec![1])));
    assert_eq!(sized((1 << 16) + 1), Err(Code::Limit));
}

#[test]
fn n71_products_in_finite_fields() {
    let times = |polynomial, a: Column, b: Column| {
        run(&[a, b], |build, x| {
            build.field_product([x[0].into(), x[1].into()], polynomial, None)
        })
    };
    let (a, b) = (
        all(u(8), &[0x57, 0x57, 0, 0x53]),
        all(w(8), &[0x83, 0x13, 9, 0xca]),
    );
    // FIPS 197, section 4.2; the last are inverses of each other.
    assert_eq!(times(0x11b, a, b).unwrap(), (u(8), vec![0xc1, 0xfe, 0, 1]));
    // x (x + 1) = x^2 + x = 1 where x^2 + x + 1 = 0, in any type of integers.
    let (a, b) = (
        within(i(9), 0, 3, &[2, 3, 1]),
        within(u(64), 0, 3, &[3, 3, 2]),
    );
    assert_eq!(times(0x7, a, b).unwrap(), (u(2), vec![1, 2, 2]));
    let refused = |polynomial, a: Column| times(polynomial, a, a).map_err(|e| e.code);
    for outside in [
        within(u(8), 0, 4, &[1]),
        within(i(8), -1, 3, &[1]),
        all(Type::Bool, &[1]),
        all(Type::fixed(2, 2), &[1]),
    ] {
        assert_eq!(refused(0x7, outside), Err(Code::TypeMismatch));
    }
    let bit = within(u(1), 0, 1, &[1]);
    for polynomial in [0, 1, 5, 0x101, 0x211, 1 << 20, -7] {
        assert_eq!(refused(polynomial, bit), Err(Code::Operand));
    }
    assert_eq!(refused(0x2, bit), Ok((u(1), vec![1])));
}
