//! Sorts that need no network, against those of other protocols.

use crate::common::{helpers_of_two, in_tiles, named};
use sealane_engine::{Job, NetworkClass, ProtocolName, simulate};
use sealane_program::builder::{Builder, Handle};
use sealane_program::graph::{Binary, Input, Program, Reduction};
use sealane_program::types::{Data, Shape, Type};

const ROWS: usize = 150;

struct Sketch(Builder);

impl Sketch {
    fn binary(&mut self, op: Binary, a: Handle, b: Handle) -> Handle {
        self.0.binary(op, a.into(), b.into(), None).unwrap()
    }

    /// Sorts by the first values, of which each is ascending or descending.
    fn sort(&mut self, over: &[Handle], descending: &[bool], any_order: bool) -> Vec<Handle> {
        let (before, behind) = self.0.begin_sort(over, None).unwrap();
        let mut exchange = None;
        for (at, descending) in descending.iter().enumerate().rev() {
            let (x, y) = (before[at], behind[at]);
            let less = if *descending {
                self.binary(Binary::Lt, x, y)
            } else {
                self.binary(Binary::Lt, y, x)
            };
            exchange = Some(match exchange {
                None => less,
                Some(rest) => {
                    let same = self.binary(Binary::Eq, x, y);
                    let rest = self.binary(Binary::And, same, rest);
                    self.binary(Binary::Or, less, rest)
                }
            });
        }
        let exchange = exchange.expect("a key");
        self.0.end_sort(exchange.into(), any_order, None).unwrap()
    }
}

/// Party one has signed keys, wide values and pairs, party two a bound of the keys.
fn program(bound: u64) -> Program {
    let mut sketch = Sketch(Builder::new("sorts").unwrap());
    for name in ["one", "two"] {
        sketch.0.party(name).unwrap();
    }
    let rows = sketch.0.rows("n", bound).unwrap();
    let mut input = |name: &str, owner: u8, ty: Type, shape: Shape| {
        sketch.0.input(Input::new(name, owner, ty, shape)).unwrap()
    };
    let key = input("key", 0, Type::signed(8), Shape::with_rows(rows, []));
    let wide = input("wide", 0, Type::unsigned(64), Shape::with_rows(rows, []));
    let pair = input("pair", 0, Type::U8, Shape::with_rows(rows, [2]));
    let least = input("least", 1, Type::signed(8), Shape::scalar());
    let key = sketch.binary(Binary::Max, key, least);
    let place = sketch.0.row_number(key, None).unwrap();
    let by_key = sketch.sort(&[key, place, wide, pair], &[true, false], false);
    let alone = sketch.sort(&[key], &[false], false);
    let two = sketch.sort(&[wide, key], &[false, false], false);
    let free = sketch.sort(&[key, wide], &[false], true);
    let largest = sketch
        .0
        .running(Reduction::Max, free[1], None, None, None)
        .unwrap();
    let largest = sketch.0.roll(largest, 1, None).unwrap();
    let largest = sketch.0.head(largest, 1, None).unwrap();
    let results = [
        ("order", by_key[1], Type::I64),
        ("wide", by_key[2], Type::unsigned(64)),
        ("pair", by_key[3], Type::U8),
        ("alone", alone[0], Type::signed(8)),
        ("two", two[1], Type::signed(8)),
        ("free", free[0], Type::signed(8)),
        ("largest", largest, Type::unsigned(64)),
    ];
    for (name, value, ty) in results {
        let value = match name {
            "order" => sketch.0.cast(value, ty, None).unwrap(),
            _ => value,
        };
        sketch.0.reveal(name, value.into(), &[1], ty, None).unwrap();
    }
    sketch.0.finish().unwrap().0
}

fn inputs() -> Vec<Data> {
    let number = |at: usize, salt: u64| {
        (at as u64 + salt)
            .wrapping_mul(0x9e37_79b9_7f4a_7c15)
            .rotate_left(31)
    };
    let data =
        |ty, shape: Vec<u64>, numbers: Vec<i128>| Data::from_numbers(ty, shape, &numbers).unwrap();
    let rows = ROWS as u64;
    // Many keys are equal, and every word of the wide values counts.
    let key = (0..ROWS).map(|at| i128::from(number(at, 1) % 7) - 3);
    let wide = (0..ROWS).map(|at| i128::from(number(at, 2)));
    let pair = (0..2 * ROWS).map(|at| i128::from(number(at, 3) % 256));
    vec![
        data(Type::signed(8), vec![rows], key.collect()),
        data(Type::unsigned(64), vec![rows], wide.collect()),
        data(Type::U8, vec![rows, 2], pair.collect()),
        data(Type::signed(8), vec![], vec![-2]),
    ]
}

/// In one tile and in several, with the planned bytes and rounds.
#[test]
fn a_sort_without_a_network_gives_what_networks_give() {
    let program = program(1000);
    let run = |protocol, tile: u64| {
        let job = in_tiles(program.clone(), protocol, helpers_of_two(protocol), tile);
        let sorts = job.plan().text().matches("{\"sort\":{").count();
        let wanted = match protocol {
            ProtocolName::Trio | ProtocolName::TrioMalicious => 4,
            _ => 0,
        };
        assert_eq!(sorts, wanted, "{protocol}");
        let report = simulate(&job, inputs()).unwrap_or_else(|error| panic!("{error}"));
        assert!(report.as_planned(), "{protocol}");
        let results = report.results.iter();
        let elements = results.map(|result| result.data.as_ref().unwrap().elements.clone());
        elements.collect::<Vec<_>>()
    };
    let wanted = run(ProtocolName::Clear, 64);
    assert_eq!(run(ProtocolName::Yao, 64), wanted);
    for tile in [64, 1 << 20] {
        assert_eq!(run(ProtocolName::Trio, tile), wanted);
        assert_eq!(run(ProtocolName::TrioMalicious, tile), wanted);
    }
}

/// A sort of one column along which another one moves, in some order of equal keys.
fn moved(bound: u64) -> Program {
    let mut sketch = Sketch(Builder::new("moved").unwrap());
    sketch.0.party("one").unwrap();
    sketch.0.party("two").unwrap();
    let rows = sketch.0.rows("n", bound).unwrap();
    let shape = || Shape::with_rows(rows, []);
    let mut input = |name: &str| {
        let input = Input::new(name, 0, Type::unsigned(16), shape());
        sketch.0.input(input).unwrap()
    };
    let (key, with) = (input("key"), input("with"));
    let sorted = sketch.sort(&[key, with], &[false], false);
    let first = sketch.0.head(sorted[1], 1, None).unwrap();
    let ty = Type::unsigned(16);
    sketch
        .0
        .reveal("first", first.into(), &[1], ty, None)
        .unwrap();
    sketch.0.finish().unwrap().0
}

/// A sort keeps what one of its passes proves, and gives it up.
#[test]
fn the_memory_of_a_sort_has_the_proofs_of_a_pass() {
    let of = |protocol, rows: u64| {
        let job = in_tiles(program(100_000), protocol, helpers_of_two(protocol), 64);
        let cost = job.cost(&[rows]).expect("a cost");
        (cost.memory[0].work, cost.promise.proofs)
    };
    let more = |protocol| of(protocol, 32_000).0 - of(protocol, 16_000).0;
    let [proved, usual] = [ProtocolName::TrioMalicious, ProtocolName::Trio].map(more);
    // Of each row of four sorts side by side the strings of some 250 ANDs, vectors, and rows of all
    // turns.
    let row = (proved - usual) as f64 / 4.0 / 16_000.0;
    assert!((400.0..1000.0).contains(&row), "{row} bytes a row");
    // Settlements of passes are counted among the others.
    let proofs = of(ProtocolName::TrioMalicious, 16_000).1;
    assert!(proofs.settlements > 30, "{proofs:?}");
    assert!(proofs.products > 16_000 * 2_000, "{proofs:?}");
}

/// Networks keep strings of all their ANDs until these are proved, and work over tiles does not.
#[test]
fn the_memory_of_a_plan_has_what_is_not_proved_yet() {
    let of = |rows: u64| {
        let (proved, trio) = (ProtocolName::TrioMalicious, ProtocolName::Trio);
        let [proved, usual] = [proved, trio].map(|protocol| {
            let job = in_tiles(moved(100_000), protocol, helpers_of_two(protocol), 64);
            job.cost(&[rows]).expect("a cost")
        });
        let work = [&proved, &usual].map(|cost| cost.memory[0].work);
        (work, proved.promise.proofs.products)
    };
    let (few, some) = (of(1000), of(8000));
    for ([proved, usual], products) in [few, some] {
        // Six bits, and their copies as they are settled.
        let strings = products * 12 / 8;
        assert!(strings > 1 << 20, "{products} products");
        assert!(proved > usual + strings / 2, "{proved} of {usual}");
        assert!(proved < 2 * usual + 2 * strings + (64 << 20), "{proved}");
    }
    assert!(some.0[0] > few.0[0] + (some.1 - few.1));
}

/// Of few rows, a network takes fewer rounds.
#[test]
fn few_rows_are_sorted_by_a_network() {
    let job = |bound| {
        let (trio, wan) = (ProtocolName::Trio, NetworkClass::WAN);
        let job = Job::new(program(bound), trio, wan, named(helpers_of_two(trio)));
        job.unwrap_or_else(|error| panic!("{error}")).plan().text()
    };
    let few = job(2);
    assert!(
        few.contains("{\"compare-exchange\":{\"network\":\"sort\""),
        "{few}"
    );
    assert!(!few.contains("{\"sort\":{"), "{few}");
}
