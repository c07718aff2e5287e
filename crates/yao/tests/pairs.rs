//! Elements that meet in place: the same messages and results as a tape on copies of them, over
//! more lanes than run at the same time.

use crate::common::{EVALUATOR, GARBLER, PARTIES, domain, open, setting, side};
use sealane_circuit::{Builder, Machine, Tape, compile};
use sealane_net::Mesh;
use sealane_parties::PartySet;
use sealane_party::{Outcome, Pairs, Shares, Step};
use sealane_protocol::View;

use sealane_testkit::side::{on_threads, transfers};
use sealane_yao::{Labels, MultiInstance};
use std::sync::Arc;

/// The last lane of a stage over all of them begins a vector of its own.
const ELEMENTS: usize = 305;

/// Pairs of places, and the sides that are written.
struct Stage {
    places: [Vec<usize>; 2],
    writes: [bool; 2],
}

/// Stages of the three kinds of networks: exchanges of runs, combinations into the second element,
/// and moves to the front, where the last second elements are missing.
fn stages() -> [Stage; 3] {
    let pairs = |firsts: Vec<usize>, distance: usize, writes| {
        let second = |first: &usize| match first + distance {
            second if second < ELEMENTS => second,
            _ => usize::MAX,
        };
        let seconds = firsts.iter().map(second).collect();
        let places = [firsts, seconds];
        Stage { places, writes }
    };
    let runs = (0..ELEMENTS - 25).filter(|i| i % 40 < 20).collect();
    [
        pairs(runs, 20, [true, true]),
        pairs((3..ELEMENTS - 4).step_by(8).collect(), 4, [false, true]),
        pairs((0..ELEMENTS).collect(), 7, [true, false]),
    ]
}

/// Exchanges two elements of three bits if the lowest bit of the second and the captured bit are 1.
fn tape(writes: [bool; 2]) -> Tape {
    let mut b = Builder::new();
    let (first, second, captured) = (b.input(3), b.input(3), b.input(1));
    let exchanged = b.and(second[0], captured[0]);
    let mut sides = [vec![], vec![]];
    for (x, y) in first.iter().zip(second.iter()) {
        let differ = b.xor(*x, *y);
        let turned = b.and(differ, exchanged);
        sides[0].push(b.xor(*x, turned));
        sides[1].push(b.xor(*y, turned));
    }
    let written = sides.into_iter().zip(writes);
    let written = written.filter_map(|(side, writes)| writes.then_some(side));
    compile(&b.finish(written.collect()), &Machine::CPU)
}

fn expected(stage: &Stage, elements: &[u64]) -> Vec<u64> {
    let mut after = elements.to_vec();
    for (first, second) in stage.places[0].iter().zip(&stage.places[1]) {
        let x = elements[*first];
        let y = elements.get(*second).copied().unwrap_or(0);
        let pair = if y & 1 == 1 { [y, x] } else { [x, y] };
        let places = [first, second].into_iter().zip(pair).zip(stage.writes);
        for ((place, new), _) in places.filter(|(_, writes)| *writes) {
            after[*place] = new;
        }
    }
    after
}

/// The elements that a party learns, and the digest of all that it sent.
type End = (Vec<u64>, [u8; 32]);

/// The columns of the elements: the two lower bits, of the garbler, and the highest one.
fn party(mesh: Mesh, stage: &Stage, elements: &[u64], in_place: bool) -> End {
    let peer = mesh.peers().next().unwrap();
    let mut side = side::<MultiInstance>(mesh, &setting(2), &transfers(ELEMENTS + 1)).unwrap();
    let (domain, tape) = (domain(), tape(stage.writes));
    let [low, high] = [(GARBLER, 2, 0), (EVALUATOR, 1, 2)].map(|(owner, bits, shift)| {
        let part = elements.iter().map(|x| x >> shift & ((1 << bits) - 1));
        let part = side.input(owner, domain, bits, &part.collect::<Vec<_>>());
        Arc::into_inner(part.unwrap()).unwrap()
    });
    let captured = side.input(EVALUATOR, domain, 1, &[1]).unwrap();
    let columns = if in_place {
        let pairs = Pairs {
            columns: vec![low, high],
            places: stage.places.clone(),
            writes: stage.writes,
            captured: vec![captured],
        };
        let step = Step::CompareExchange {
            tape: &tape,
            domain,
            pairs,
        };
        match side.run(step) {
            Ok(Outcome::Columns(columns, ())) => columns,
            _ => panic!("columns were due"),
        }
    } else {
        copies(stage, vec![low, high], &captured, |operands| {
            let operands = operands.iter().collect::<Vec<_>>();
            side.tape(&tape, domain, &operands).unwrap()
        })
    };
    let joined = Labels::concatenate(&columns.iter().collect::<Vec<_>>());
    let mut revealed = open(&mut side, [Arc::new(joined)], PartySet::of(PARTIES)).unwrap();
    side.mesh.finish().unwrap();
    let elements = revealed.remove(0).expect("both learn it");
    (elements, side.mesh.digest_sent(peer))
}

/// The stage by a tape on copies of the elements, which are put back.
fn copies(
    stage: &Stage,
    mut columns: Vec<Labels>,
    captured: &Labels,
    mut run: impl FnMut(Vec<Arc<Labels>>) -> Arc<Labels>,
) -> Vec<Labels> {
    let pairs = stage.places[0].len();
    let one = |offset| View::new(offset, vec![(1, 1)]);
    let element = |column: &Labels, place: usize| {
        if place < ELEMENTS {
            column.gather(&one(place), &View::whole(1))
        } else {
            Labels::zeros(column.planes(), 1)
        }
    };
    let mut operands = Vec::new();
    for side in &stage.places {
        for column in &columns {
            let parts: Vec<_> = side.iter().map(|place| element(column, *place)).collect();
            operands.push(Arc::new(Labels::concat(&parts.iter().collect::<Vec<_>>())));
        }
    }
    let repeated = View::new(0, vec![(pairs, 0)]);
    operands.push(Arc::new(captured.gather(&repeated, &View::whole(1))));
    let result = run(operands);
    let mut first = 0;
    for (side, _) in stage.places.iter().zip(stage.writes).filter(|(_, w)| *w) {
        for column in &mut columns {
            let after = result.resize(first, column.planes(), false);
            first += column.planes();
            for (at, place) in side.iter().enumerate() {
                column.put(&one(*place), &after, at);
            }
        }
    }
    columns
}

#[test]
fn elements_that_meet_in_place_are_those_that_meet_in_copies() {
    let elements: Vec<_> = (0..ELEMENTS as u64).map(|i| (i * i / 3 + i) % 8).collect();
    for stage in stages() {
        let ends = [true, false].map(|in_place| {
            on_threads(Mesh::in_memory(2), |mesh| {
                party(mesh, &stage, &elements, in_place)
            })
        });
        let wanted = expected(&stage, &elements);
        assert_ne!(wanted, elements);
        for (found, _) in ends.iter().flatten() {
            assert_eq!(*found, wanted);
        }
        assert!(ends[0] == ends[1], "messages differ");
    }
}
