//! Tables with secret indices: correct at every index, in as many rounds as the index's length has
//! binary digits; and AES-128 in as many rounds as its circuit is deep.

use crate::common::{domain, honest, integers_of, parties, planes_of, setting};
use sealane_circuit::function::Function;
use sealane_circuit::{Builder, Goal, Lookups, Machine, Tape, aes, compile};
use sealane_parties::PartyId;
use sealane_party::Shares;
use sealane_protocol::{Cost, Protocol, Setting, StepShape};
use sealane_trio::Trio;
use std::sync::Arc;

/// A tape that looks an index of so many bits up in a table.
fn lookup(index_bits: usize, entry_bits: usize, table: &[u64]) -> Tape {
    lookup_as(Lookups::Gates, index_bits, entry_bits, table)
}

/// As [`lookup`], in a form.
fn lookup_as(form: Lookups, index_bits: usize, entry_bits: usize, table: &[u64]) -> Tape {
    let mut b = Builder::for_goal(Goal::Depth).with_lookups(form);
    let index = b.input(index_bits);
    let entries = table.iter();
    let entries = entries.map(|entry| b.constant(i128::from(*entry), entry_bits));
    let entries = entries.collect::<Vec<_>>();
    let entry = b.lookup(&index, &entries);
    compile(&b.finish(vec![entry]), &Machine::ROUNDS)
}

fn cost_of(setting: &Setting, tape: &Tape, lanes: u64) -> Cost {
    Trio::cost(setting, &StepShape::tape(tape, domain(None), lanes))
}

/// Runs a tape on the lanes of inputs of one party, given plane by plane; every party learns the
/// output. At most 64 planes at a time are input and revealed. Returns the output plane by plane,
/// and the number of flights of the tape.
pub(crate) fn run(tape: &Tape, bits: &[u8], lanes: usize) -> (Vec<u8>, usize) {
    let setting = setting(3, [1, 2, 0]);
    let cost = cost_of(&setting, tape, lanes as u64);
    assert_eq!(bits.len(), tape.inputs as usize * lanes);
    let ends = honest(&setting, &[], |side| {
        let inputs = bits.chunks(64 * lanes).map(|bits| {
            let values = integers_of(bits, lanes);
            side.input(PartyId(0), None, bits.len() / lanes, &values)
        });
        let inputs = inputs.collect::<Vec<_>>();
        let output = side.tape(tape, &inputs.iter().collect::<Vec<_>>());
        let planes = output.planes();
        let parts = (0..planes).step_by(64).map(|first| {
            let count = (planes - first).min(64);
            Arc::new(output.resize(first, count, false))
        });
        let parts = parts.collect::<Vec<_>>();
        let results = parts.iter().map(|part| (part, None, parties(7)));
        let learnt = side.reveal(&results.collect::<Vec<_>>());
        // The inputs, the tape, digests and the opening, one after the other.
        let rounds = 1 + 1 + cost.flights.len() + 2;
        // A helper that does not wait for the input deals beside it.
        let beside = rounds - side.mesh.rounds() as usize;
        let helper = |function: &Function| !matches!(function, Function::Field(_));
        let dealt = tape.functions.iter().any(helper);
        assert!(beside <= usize::from(dealt), "{beside}");
        let planes = parts.iter().zip(learnt).map(|(part, values)| {
            // Also that the bits above those of the part are zero.
            let values = values.unwrap();
            let bits = planes_of(&values, part.planes());
            assert_eq!(integers_of(&bits, lanes), values);
            bits
        });
        planes.collect::<Vec<_>>().concat()
    });
    assert!(ends.iter().all(|end| *end == ends[0]));
    (ends[0].clone(), cost.flights.len())
}

/// FIPS 197, section 5.1.1: the inverse in GF(2^8), then an affine map.
fn sbox(byte: u8) -> u8 {
    let double = |x: u8| (x << 1) ^ (0x1b * (x >> 7));
    let times = |x: u8, y: u8| {
        let bits = (0..8).rev();
        bits.fold(0, |sum, bit| double(sum) ^ (x * (y >> bit & 1)))
    };
    let inverse = (0..=255).find(|other| times(byte, *other) == 1);
    let inverse = inverse.unwrap_or(0);
    (1..5).fold(inverse ^ 0x63, |sum, turn| sum ^ inverse.rotate_left(turn))
}

#[test]
fn the_sbox_at_every_index_in_three_rounds() {
    let table: Vec<_> = (0..=255).map(|byte| u64::from(sbox(byte))).collect();
    // FIPS 197, figure 7.
    assert_eq!((table[0x53], table[0]), (0xed, 0x63));
    let tape = lookup(8, 8, &table);
    let every = (0..256).collect::<Vec<u64>>();
    let (learnt, flights) = run(&tape, &planes_of(&every, 8), 256);
    assert_eq!(integers_of(&learnt, 256), table);
    assert_eq!((flights, tape.depth), (3, 3));
}

/// Bits that all parties send for each lane of a tape.
pub(crate) fn bits_by_lane(tape: &Tape) -> f64 {
    let lanes = 64 * 3000;
    let cost = cost_of(&setting(3, [0, 1, 2]), tape, lanes);
    let bytes = cost.flights.iter().flatten().map(|message| message.bytes);
    8.0 * bytes.sum::<u64>() as f64 / lanes as f64
}

/// Numbers of lanes around those at which parts get their first and their next words.
pub(crate) const LANES: [usize; 8] = [1, 63, 64, 65, 130, 192, 1000, 1600];

#[test]
fn the_sbox_under_masks_takes_54_bits() {
    sbox_under_masks(Lookups::Tower, 54.0, 3);
}

#[test]
fn the_sbox_in_two_levels_takes_94_bits() {
    sbox_under_masks(Lookups::ShortTower, 94.0, 2);
}

fn sbox_under_masks(lookups: Lookups, bits: f64, levels: u32) {
    let table: Vec<_> = (0..=255).map(|byte| u64::from(sbox(byte))).collect();
    let tape = lookup_as(lookups, 8, 8, &table);
    assert_eq!(bits_by_lane(&tape), bits);
    let every = (0..256).collect::<Vec<u64>>();
    let (learnt, flights) = run(&tape, &planes_of(&every, 8), 256);
    assert_eq!(integers_of(&learnt, 256), table);
    assert_eq!((flights as u32, tape.depth), (levels + 1, levels));
    for lanes in LANES {
        let values = (0..lanes as u64).map(|i| i * 101 % 256).collect::<Vec<_>>();
        let (learnt, _) = run(&tape, &planes_of(&values, 8), lanes);
        let wanted = values.iter().map(|value| table[*value as usize]);
        let wanted: Vec<_> = wanted.collect();
        assert_eq!(integers_of(&learnt, lanes), wanted, "{lanes}");
    }
}

/// Of an S-box all products of masks but the one of all eight are dealt, and those of other tables
/// of eight bits.
#[test]
fn tables_in_one_level() {
    let entry = |i: u64| (i + 3).wrapping_mul(0x9e37_79b9) & 0x1fff;
    for (bits, entries, dealt) in [(2, 3, 1), (5, 21, 26), (8, 256, 247), (10, 1000, 1013)] {
        let table = (0..entries as u64).map(entry).collect::<Vec<_>>();
        let tape = lookup_as(Lookups::Tables, bits, 13, &table);
        let every = (0..entries as u64).collect::<Vec<_>>();
        let (learnt, flights) = run(&tape, &planes_of(&every, bits), entries);
        assert_eq!(integers_of(&learnt, entries), table);
        assert_eq!((flights, tape.depth), (2, 1));
        let bits = f64::from(dealt + 2 * 13);
        assert_eq!(bits_by_lane(&tape), bits, "{entries} entries");
    }
    let table = (0..=255).map(|byte| u64::from(sbox(byte)));
    let tape = lookup_as(Lookups::Tables, 8, 8, &table.collect::<Vec<_>>());
    assert_eq!(bits_by_lane(&tape), f64::from(246 + 2 * 8));
}

#[test]
fn tables_of_any_length_in_logarithmic_rounds() {
    for (bits, entries, rounds) in [(1, 2, 0), (2, 3, 1), (5, 21, 3), (7, 100, 3), (9, 300, 4)] {
        let table = (0..entries as u64).map(|i| (i + 3).wrapping_mul(0x9e37_79b9) & 0x1fff);
        let table = table.collect::<Vec<_>>();
        let tape = lookup(bits, 13, &table);
        let every = (0..entries as u64).collect::<Vec<_>>();
        let (learnt, flights) = run(&tape, &planes_of(&every, bits), entries);
        assert_eq!(integers_of(&learnt, entries), table);
        let found = (flights, tape.depth as usize);
        assert_eq!(found, (rounds, rounds), "{entries} entries");
    }
}

#[test]
fn aes_takes_as_many_rounds_as_it_is_deep() {
    let mut b = Builder::for_goal(Goal::Depth);
    let (key, block) = (b.input(128), b.input(128));
    let cipher = aes::encrypt(&mut b, &key, &block);
    let tape = compile(&b.finish(vec![cipher]), &Machine::ROUNDS);
    // FIPS 197, appendix C.1, on each of 65 lanes; byte 0 holds the lowest bits.
    let bits = |value: u128| {
        let value = value.swap_bytes();
        let lanes = (0..128).flat_map(move |bit| [(value >> bit & 1) as u8; 65]);
        lanes.collect::<Vec<_>>()
    };
    let key = bits(0x000102030405060708090a0b0c0d0e0f);
    let text = bits(0x00112233445566778899aabbccddeeff);
    let (learnt, flights) = run(&tape, &[key, text].concat(), 65);
    assert_eq!(learnt, bits(0x69c4e0d86a7b0430d8cdb78070b4c55a));
    assert_eq!(flights, tape.depth as usize);
}
