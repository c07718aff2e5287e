//! Every step of every share type against plain values, between parties in any order, with owners
//! and receivers that compute or do not; and traffic against costs (`common` does both).

use crate::common::{
    Held, Side, domain, honest, integers_of, low, parties, planes_of, setting, tape, value,
};
use proptest::prelude::*;
use sealane_circuit::{Builder, Machine, Tape, Wire, compile};
use sealane_parties::{PartyId, PartySet};
use sealane_party::{Factor, Fault, Opened, Selected, Shares, Step, Steps, Term, run_alone};
use sealane_protocol::{Numbers, Setting, View};
use sealane_trio::Share;
use std::sync::Arc;

/// Around the ends of words, and of chunks of 512.
const LANES: [usize; 8] = [1, 5, 63, 64, 65, 200, 512, 600];

/// Three computing parties of three to five, and an owner for each of two inputs.
fn scene() -> impl Strategy<Value = (Setting, [PartyId; 2])> {
    (3..=5usize).prop_flat_map(|parties| {
        let order = Just((0..parties as u8).collect::<Vec<_>>()).prop_shuffle();
        let owners = prop::array::uniform2((0..parties as u8).prop_map(PartyId));
        (order, owners).prop_map(move |(order, owners)| {
            (setting(parties, [order[0], order[1], order[2]]), owners)
        })
    })
}

fn guests(setting: &Setting, owners: &[PartyId]) -> Vec<PartyId> {
    let outside = |owner: &PartyId| setting.role_of(*owner).is_none();
    owners.iter().copied().filter(outside).collect()
}

/// All parties' parts of the n-th tensor of each.
fn nth(all: &[Vec<Held>], n: usize) -> Vec<Held> {
    all.iter().map(|held| held[n].clone()).collect()
}

/// Integers of `k` bits without a pattern.
fn arbitrary(seed: u64, count: usize, k: u8) -> Vec<u64> {
    let value = |i: u64| {
        let mixed = seed.wrapping_add(i).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        low(mixed.rotate_left(29).wrapping_mul(0xbf58_476d_1ce4_e5b9), k)
    };
    (0..count as u64).map(value).collect()
}

/// A circuit from choices: gates over earlier wires, the last few are outputs.
fn circuit(inputs: usize, gates: &[(u8, u16, u16)], machine: &Machine) -> Tape {
    let mut b = Builder::new();
    let mut wires = b.input(inputs);
    wires.push(Wire::ONE);
    for (kind, x, y) in gates {
        let [x, y] = [x, y].map(|i| wires[usize::from(*i) % wires.len()]);
        wires.push(match kind % 3 {
            0 => b.and(x, y),
            1 => b.and(!x, y),
            _ => b.xor(x, y),
        });
    }
    let outputs = wires[wires.len().saturating_sub(8)..].to_vec();
    compile(&b.finish(vec![outputs]), machine)
}

/// Evaluates a tape on bits, plane by plane.
fn plain(tape: &Tape, bits: &[u8], lanes: usize) -> Vec<u8> {
    let mut out = vec![0; tape.outputs.len() * lanes];
    for lane in 0..lanes {
        let input = |plane: usize| [u64::from(bits[plane * lanes + lane]); 8];
        let inputs = (0..tape.inputs as usize).map(input).collect::<Vec<_>>();
        for (plane, word) in tape.eval(&inputs).iter().enumerate() {
            out[plane * lanes + lane] = (word[0] & 1) as u8;
        }
    }
    out
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn tapes_compute_on_inputs_of_anybody(
        (setting, owners) in scene(),
        lanes in prop::sample::select(LANES.to_vec()),
        bits in prop::collection::vec(0..2u8, 5 * 600),
        gates in prop::collection::vec(any::<(u8, u16, u16)>(), 0..60),
        by_levels in any::<bool>(),
        to in any::<u8>(),
    ) {
        let machine = if by_levels { Machine::ROUNDS } else { Machine::CPU };
        let tape = circuit(5, &gates, &machine);
        let bits = &bits[..5 * lanes];
        let (x, rest) = bits.split_at(2 * lanes);
        let (y, public) = rest.split_at(2 * lanes);
        let to = parties(to & ((1 << setting.parties) - 1));
        let ends = honest(&setting, &guests(&setting, &owners), |side| {
            let x = side.input(owners[0], None, 2, &integers_of(x, lanes));
            let y = side.input(owners[1], None, 2, &integers_of(y, lanes));
            let public = side.trio.constant(domain(None), 1, &integers_of(public, lanes));
            let public = Arc::new(public);
            let z = side.tape(&tape, &[&x, &y, &public]);
            let held = [&x, &y, &public, &z].map(|share| side.held(share)).to_vec();
            (held, side.reveal(&[(&z, None, to), (&x, None, PartySet::default())]))
        });
        let (held, learnt): (Vec<_>, Vec<_>) = ends.into_iter().unzip();
        let want = plain(&tape, bits, lanes);
        let words = |bits: &[u8]| bits.iter().map(|bit| u64::from(*bit)).collect::<Vec<_>>();
        for (n, want) in [x, y, public, &want].into_iter().enumerate() {
            prop_assert_eq!(value(&setting, &nth(&held, n), None), words(want));
        }
        for (party, learnt) in learnt.into_iter().enumerate() {
            let learns = to.contains(PartyId::from_index(party));
            prop_assert_eq!(learnt, [learns.then(|| integers_of(&want, lanes)), None]);
        }
    }

    #[test]
    fn sums_and_products_modulo_a_power_of_two(
        (setting, owners) in scene(),
        k in 1..=64u8,
        lanes in prop::sample::select(LANES.to_vec()),
        terms in 1..=20usize,
        seed in any::<u64>(),
        to in any::<u8>(),
    ) {
        let [x, y, table] = [1, 2, 3].map(|salt| arbitrary(seed ^ salt << 32, terms * lanes, k));
        let to = parties(to & ((1 << setting.parties) - 1));
        let ends = honest(&setting, &guests(&setting, &owners), |side| {
            // Each term becomes a plane of its own.
            let lanes_view = View::whole(lanes);
            let inner = View { offset: 0, dims: vec![(terms, lanes as isize)] };
            let [x, y] = [(owners[0], &x), (owners[1], &y)].map(|(owner, values)| {
                side.integers(owner, k, values)
            });
            let x = Arc::new(x.gather(&lanes_view, &inner));
            // The product itself gathers the other operand.
            let numbers = Numbers::ANY;
            let y = Selected { share: y, lanes: lanes_view, inner, numbers };
            let product = side.product_of(k, [Selected::whole(x.clone()), y]);
            let one = side.trio.constant(domain(Some(k)), k.into(), &vec![1; lanes]);
            let sum = side.trio.linear(domain(Some(k)), lanes, &[
                Term { share: &x, factor: Factor::Table(table.clone()) },
                Term { share: &product, factor: Factor::Number(seed) },
                Term { share: &one, factor: Factor::Number(7) },
                Term { share: &Share::zeros(3, lanes), factor: Factor::Number(5) },
            ]);
            let sum = Arc::new(sum.unwrap());
            let held = [&x, &product, &sum].map(|share| side.held(share)).to_vec();
            (held, side.reveal(&[(&product, Some(k), to), (&sum, Some(k), to)]))
        });
        let (held, learnt): (Vec<_>, Vec<_>) = ends.into_iter().unzip();
        let inner = |y: &[u64], lane: usize| {
            let products = (0..terms).map(|t| x[t * lanes + lane].wrapping_mul(y[t * lanes + lane]));
            products.fold(0, u64::wrapping_add)
        };
        let product = (0..lanes).map(|lane| low(inner(&y, lane), k)).collect::<Vec<_>>();
        let sum: Vec<_> = (0..lanes).map(|lane| {
            let multiple = product[lane].wrapping_mul(seed);
            low(inner(&table, lane).wrapping_add(multiple).wrapping_add(7), k)
        }).collect();
        prop_assert_eq!(&value(&setting, &nth(&held, 0), Some(k)), &x);
        prop_assert_eq!(&value(&setting, &nth(&held, 1), Some(k)), &product);
        prop_assert_eq!(&value(&setting, &nth(&held, 2), Some(k)), &sum);
        for (party, learnt) in learnt.into_iter().enumerate() {
            let learns = to.contains(PartyId::from_index(party));
            let want = [&product, &sum].map(|values| learns.then(|| values.clone()));
            prop_assert_eq!(learnt, want);
        }
    }

    #[test]
    fn conversions_keep_values(
        (setting, owners) in scene(),
        k in 1..=64u8,
        bits in 1..=64usize,
        signed in any::<bool>(),
        lanes in prop::sample::select(LANES.to_vec()),
        seed in any::<u64>(),
        smaller in 1..=64u8,
    ) {
        let values: Vec<_> = (0..lanes as u64).map(|i| seed.wrapping_mul(2 * i + 1).rotate_left(i as u32)).collect();
        // From integers only bits that they have.
        let back = bits.min(k.into());
        let smaller = smaller.min(k);
        let ends = honest(&setting, &guests(&setting, &owners), |side| {
            let lowest = values.iter().map(|value| low(*value, bits as u8));
            let shared = side.input(owners[0], None, bits, &lowest.collect::<Vec<_>>());
            let ring = side.convert([None, Some(k)], (bits, signed), &shared);
            let reduced = side.convert([Some(k), Some(smaller)], (bits, signed), &ring);
            let integers = side.integers(owners[1], k, &values);
            let decomposed = side.convert([Some(k), None], (back, signed), &integers);
            [&ring, &reduced, &decomposed].map(|share| side.held(share)).to_vec()
        });
        let integer = |value: &u64| if signed { (value << (64 - bits)) as i64 >> (64 - bits) } else { (value << (64 - bits) >> (64 - bits)) as i64 };
        let want = |k| values.iter().map(|value| low(integer(value) as u64, k)).collect::<Vec<_>>();
        prop_assert_eq!(value(&setting, &nth(&ends, 0), Some(k)), want(k));
        prop_assert_eq!(value(&setting, &nth(&ends, 1), Some(smaller)), want(smaller));
        let planes = planes_of(&values, back).iter().map(|bit| u64::from(*bit)).collect::<Vec<_>>();
        prop_assert_eq!(value(&setting, &nth(&ends, 2), None), planes);
    }
}

#[test]
fn an_element_of_several_planes_is_input_and_revealed() {
    let setting = setting(3, [0, 1, 2]);
    let values = [5, 6, 7, 8, 9, 10, u64::MAX - 4, 1 << 63];
    for end in honest(&setting, &[], |side: &mut Side| {
        let share = side.input(PartyId(1), None, 64, &values);
        assert_eq!((share.planes(), share.elements()), (64, 8));
        let bytes = Arc::new(share.resize(0, 8, false));
        let to = parties(7);
        side.reveal(&[(&share, None, to), (&bytes, None, to)])
    }) {
        let bytes = values.map(|value| low(value, 8)).to_vec();
        assert_eq!(end, [Some(values.to_vec()), Some(bytes)]);
    }
}

/// An element that is opened is one word: a ring element, or at most 64 bits.
#[test]
fn an_element_of_several_words_is_not_opened() {
    let setting = setting(3, [0, 1, 2]);
    let values = [5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 0];
    for end in honest(&setting, &[], |side: &mut Side| {
        let ring = side.integers(PartyId(1), 4, &values);
        let half = View::new(0, vec![(6, 1)]);
        let two = View::new(0, vec![(2, 6)]);
        let pairs = Arc::new(ring.gather(&half, &two));
        assert_eq!((pairs.planes(), pairs.elements()), (2, 6));
        let spread = Arc::new(pairs.spread(2));
        let learnt = side.reveal(&[(&spread, Some(4), parties(7))]);
        let wide = Arc::new(Share::zeros(65, 1));
        for (share, k) in [(pairs, Some(4)), (wide, None)] {
            let (domain, to) = (domain(k), parties(7));
            let result = Opened { share, domain, to };
            let results = vec![result];
            let end = run_alone(&mut side.trio, &mut side.mesh, Step::Open { results }, None);
            assert!(matches!(end, Err(Fault::Internal(_))));
        }
        learnt
    }) {
        let spread = [5, 11, 6, 12, 7, 13, 8, 14, 9, 15, 10, 0];
        assert_eq!(end, [Some(spread.to_vec())]);
    }
}

#[test]
fn zeros_of_no_algebra_are_zeros_of_either() {
    let setting = setting(4, [2, 0, 3]);
    let tape = tape([1, 1], |b, [x, y]| vec![b.and(x[0], !y[0]), y[0]]);
    for end in honest(&setting, &[], |side: &mut Side| {
        let ones = side.input(PartyId(0), None, 1, &[1, 1, 1]);
        let none = Arc::new(Share::zeros(1, 3));
        let joined = Arc::new(Share::concat(&[&none, &ones, &none]));
        let bits = side.tape(&tape, &[&joined, &Arc::new(Share::zeros(1, 9))]);
        let ring = side.integers(PartyId(2), 9, &[3, 4, 500]);
        let product = side.product(9, &ring, &none);
        let converted = side.convert([None, Some(9)], (1, false), &none);
        let decomposed = side.convert([Some(9), None], (9, false), &none);
        let to = parties(15);
        let learnt = side.reveal(&[
            (&bits, None, to),
            (&product, Some(9), to),
            (&converted, Some(9), to),
            (&decomposed, None, to),
            (&none, None, to),
        ]);
        learnt.into_iter().map(Option::unwrap).collect::<Vec<_>>()
    }) {
        assert_eq!(end[0], [0, 0, 0, 1, 1, 1, 0, 0, 0]);
        let rest = &end[1..];
        assert!(rest.iter().all(|values| values == &[0; 3]));
    }
}
