//! Tapes with products in GF(4) and GF(16), and with lookups as towers: deals and openings.

use super::*;
use crate::masked::lanes_of;
use sealane_circuit::function::{Field, Function, inverse16};
use sealane_circuit::{Wire, Word};

/// The S-box of AES at a byte (FIPS 197, section 5.1.1).
fn substituted(byte: u8) -> u8 {
    let field = Function::Field(Field::of(0x11b).expect("a field"));
    let times = |x: u8, y: u8| {
        let bits = |x: u8| (0..8).map(move |bit| u64::from(x >> bit & 1));
        let product = field.eval(&bits(x).chain(bits(y)).collect::<Vec<_>>());
        product
            .iter()
            .rev()
            .fold(0, |sum, bit| sum << 1 | (bit & 1) as u8)
    };
    let inverse = (0..254).fold(1, |power, _| times(power, byte));
    (1..5).fold(inverse ^ 0x63, |sum, turn| sum ^ inverse.rotate_left(turn))
}

/// Looks a byte up there.
pub(crate) fn sbox(b: &mut Builder, byte: &[Wire]) -> Word {
    let entries = (0..=255).map(|x| b.constant(substituted(x).into(), 8));
    let entries = entries.collect::<Vec<_>>();
    b.lookup(byte, &entries)
}

fn built(build: impl Fn(&mut Builder, [Wire; 3]) -> Word) -> Tape {
    let b = Builder::new().with_lookups(Lookups::Tower);
    let mut b = b.with_products(Guarded::products());
    let wires = b.input(3);
    let out = build(&mut b, [wires[0], wires[1], wires[2]]);
    compile(&b.finish(vec![out]), &Machine::ROUNDS)
}

/// Products in GF(4) and in GF(16) in each form, and an AND of their bits: two levels.
fn products() -> Tape {
    let tape = built(|b, [x, y, z]| {
        let sum = b.xor(x, y);
        let field = |polynomial| Field::of(polynomial).expect("a field");
        let mut out = b.field_product(&field(0x7), &[x, y], &[z, !x]);
        for polynomial in [0x13, 0x19, 0x1f] {
            let factors = [[x, y, z, sum], [z, x, !y, y]];
            out.extend(b.field_product(&field(polynomial), &factors[0], &factors[1]));
        }
        out.push(b.and(out[0], out[5]));
        out
    });
    assert_eq!((tape.applied.len(), tape.ands.len(), tape.depth), (4, 1, 2));
    tape
}

/// A lookup as a tower, beside an AND and products in GF(4) and GF(16); then an AND: four levels.
fn tower() -> Tape {
    let tape = built(|b, [x, y, z]| {
        let sums = [b.xor(x, y), b.xor(y, z), b.xor(x, z)];
        let mut out = sbox(b, &[x, y, z, sums[0], !sums[1], sums[2], !x, z]);
        out.push(b.and(x, z));
        let field = |polynomial| Field::of(polynomial).expect("a field");
        out.extend(b.field_product(&field(0x7), &[x, y], &[z, x]));
        out.extend(b.field_product(&field(0x19), &[x, y, z, sums[0]], &[z, y, !x, x]));
        out.push(b.and(out[0], !out[9]));
        out
    });
    let inverses = tape.functions.iter();
    let inverses = inverses.filter(|function| matches!(function, Function::Table(_)));
    assert_eq!((inverses.count(), tape.ands.len(), tape.depth), (1, 2, 4));
    tape
}

/// The result of a tape on inputs.
fn computed(tape: &Tape, inputs: [&[u64]; 3]) -> Vec<u64> {
    let lane = |lane: usize| {
        let out = tape.eval(&inputs.map(|of| [of[lane]; 8]));
        let bits = out.iter().enumerate();
        bits.fold(0, |sum, (at, words)| sum | (words[0] & 1) << at)
    };
    (0..inputs[0].len()).map(lane).collect()
}

/// Runs a check with each role as the helper of few lanes in turn.
fn with_each_helper(check: impl Fn()) {
    for turned in 0..3 {
        TURNED.set(turned);
        check();
    }
    TURNED.set(0);
}

#[test]
fn honest_parties_learn_the_result_of_functions_at_the_stated_cost() {
    for tape in [products(), tower()] {
        // A few, lifted; in several parts; in several segments, some on the grid.
        for (parties, owner, lanes) in
            [(3, 2, 1), (4, 3, 8), (3, 2, 65), (4, 3, 1000), (3, 2, 9000)]
        {
            let inputs = inputs(lanes);
            let inputs = inputs.each_ref().map(Vec::as_slice);
            let to = PartySet::of((0..parties as u8).map(PartyId));
            with_each_helper(|| {
                for end in run_tape(&tape, to, parties, owner, inputs, None) {
                    assert_eq!(end.learnt.unwrap(), [Some(computed(&tape, inputs))]);
                    assert!(end.settled);
                }
            });
        }
    }
}

/// Three runs of a tape, of which two settle together and the third takes memory of theirs: results
/// are right, and a bit of any message is found, or has no effect.
#[test]
fn records_settle_together_and_their_memory_serves_again() {
    RUNS.set(3);
    let (tape, to) = (tower(), PartySet::of([PartyId(0), PartyId(1), PartyId(2)]));
    // What a message changes does not depend on the tier: lesser ones have some of the long runs.
    let best = Cpu::available().last() == Some(&Cpu::detect().unwrap());
    let some = if best { 1 } else { 8 };
    // Packed; and in several pieces of a part, of which the last is no whole word.
    for (lanes, least) in [(5, 0), (13_001, 500)] {
        let inputs = inputs(lanes);
        let inputs = inputs.each_ref().map(Vec::as_slice);
        let want = [Some(computed(&tape, inputs))];
        let honest = run_tape(&tape, to, 3, 2, inputs, None);
        for (party, end) in honest.into_iter().enumerate() {
            assert_eq!(end.learnt.unwrap(), want);
            let sent = end.sent.iter().enumerate();
            let changed = sent.filter(|(_, message)| message.len() > least);
            let changed = changed.skip(if least > 0 { 3 } else { 0 });
            for (message, bytes) in changed.step_by(if least > 0 { some } else { 1 }) {
                let harm = Some((party, message, 4 * bytes.len()));
                let ends = run_tape(&tape, to, 3, 2, inputs, harm);
                let others = ends.iter().enumerate().filter(|(other, _)| *other != party);
                for (_, end) in others {
                    let learnt = end.learnt.as_ref();
                    let right = learnt.map_or(true, |learnt| *learnt == want);
                    assert!(right, "message {message} of {party}");
                }
            }
        }
    }
    RUNS.set(1);
}

/// One bit of any product, deal or opening: nobody settles, and a pair is named.
#[test]
fn any_bit_of_a_product_a_deal_or_an_opening_is_found() {
    let inputs = inputs(8);
    let inputs = inputs.each_ref().map(Vec::as_slice);
    let (products, tower) = (products(), tower());
    let want = computed(&products, inputs);
    any_bit_is_found_or_has_no_effect((&products, 2), &want, &[(3, 2)]);
    let want = computed(&tower, inputs);
    with_each_helper(|| any_bit_is_found_or_has_no_effect((&tower, 4), &want, &[(3, 2)]));
}

/// Errors of a deal that leave two of the three powers right: each power has its own statement.
///
/// A wrong third power breaks the statement of the seventh as well, unless the mask is zero, so
/// runs such as these cannot tell that the third one's own statement is there.
#[test]
fn a_deal_with_one_wrong_power_is_found() {
    let (tape, inputs) = (tower(), inputs(1));
    let inputs = inputs.each_ref().map(Vec::as_slice);
    let to = PartySet::of([PartyId(0)]);
    let errors = (0..3).flat_map(crate::record::errors_of_one_power);
    let errors = errors.collect::<Vec<_>>();
    assert_eq!(errors.len(), 15 + 3 + 15);
    with_each_helper(|| {
        let honest = run_tape(&tape, to, 3, 2, inputs, None);
        for (helper, end) in honest.iter().enumerate() {
            let first = if helper == 0 { 3 } else { 2 };
            for message in first..first + 4 {
                // The ten bits are at some place of some message.
                for bit in 0..(8 * end.sent[message].len()).saturating_sub(9) {
                    for &error in &errors {
                        PATTERN.set(error);
                        let ends = run_tape(&tape, to, 3, 2, inputs, Some((helper, message, bit)));
                        let mut settled = ends.iter().enumerate().filter(|(_, end)| end.settled);
                        let place = format!("{error:b} at {bit} of {message} of {helper}");
                        assert!(settled.all(|(party, _)| party == helper), "{place}");
                    }
                    PATTERN.set(1);
                }
            }
        }
    });
}

/// If a bit of a product, a deal or an opening is changed, somebody finds it for all inputs: a
/// check of values would find a wrong third power for some, and tell the helper which.
#[test]
fn whether_a_run_with_functions_stops_does_not_depend_on_inputs() {
    let (all, to) = (inputs(8), PartySet::of([PartyId(0)]));
    for (tape, flights) in [(products(), 2), (tower(), 4)] {
        with_each_helper(|| {
            let one = |lane: usize| all.each_ref().map(|values| &values[lane..=lane]);
            let honest = run_tape(&tape, to, 3, 2, one(0), None);
            for (cheat, end) in honest.iter().enumerate() {
                // Behind its keys and the rest of its input.
                let first = if cheat == 0 { 3 } else { 2 };
                for message in first..first + flights {
                    let bits = 8 * end.sent[message].len();
                    for bit in (0..bits).filter(|bit| bit % 3 == message % 3) {
                        let ends = |lane| {
                            run_tape(&tape, to, 3, 2, one(lane), Some((cheat, message, bit)))
                        };
                        for lane in 0..8 {
                            let ends = ends(lane);
                            // Who hears of it from others depends on who is first, and one whose
                            // own view is another than what it sent may be.
                            let found =
                                |end: &End| !matches!(end.learnt, Ok(_) | Err(Fault::Net(_)));
                            let place = format!("{cheat} {message} {bit} for {lane}");
                            assert!(ends.iter().any(found), "{place}");
                            let others = ends.iter().enumerate();
                            let mut others = others.filter(|(party, _)| *party != cheat);
                            assert!(others.all(|(_, end)| !end.settled), "{place}");
                        }
                    }
                }
            }
        });
    }
}

/// An element of GF(16) and its inverse: one level of deals and openings.
fn inverse() -> Tape {
    built(|b, [x, y, z]| {
        let element = [x, y, z, b.xor(x, y)];
        let inverse = b.apply(&Function::Table(inverse16()), &element);
        [&element[..], &inverse].concat()
    })
}

/// An element and what its inverse would be, for parties that settle nothing, of whom one may have
/// changed a message.
fn unproved(inputs: [&[u64]; 3], harm: Option<(usize, usize, usize)>) -> [u64; 2] {
    let setting = &Setting::in_order(&Guarded::profile(), 3);
    let (domain, tape) = (Guarded::domain(Algebra::Z2), &inverse());
    let (turned, pattern) = (TURNED.get(), PATTERN.get());
    let parts = on_threads(Mesh::in_memory(3), |mesh| {
        let me = mesh.me();
        TURNED.set(turned);
        PATTERN.set(pattern);
        let harm = harm.filter(|(party, ..)| *party == me.index());
        HARM.set(harm.map(|(_, message, bit)| (message, bit)));
        SENT.take();
        let given = Given::seeded(Cpu::detect().unwrap(), 1 + u64::from(me.0));
        let side = Side::<GuardedParty>::set_up(mesh, setting, &Demand::default(), given);
        let side = &mut side.unwrap();
        let shares = [0, 1, 2].map(|owner| {
            let owner_of = PartyId::from_index(owner);
            side.input(owner_of, domain, 1, inputs[owner]).unwrap()
        });
        let share = side.tape(tape, domain, &shares.each_ref()).unwrap();
        side.mesh.finish().unwrap();
        let parts = share.components().expect("a role has components");
        parts.map(|part| part.iter().map(|word| word & 1).collect::<Vec<_>>())
    });
    let bit = |plane: usize| parts[0][0][plane] ^ parts[0][1][plane] ^ parts[1][1][plane];
    let number = |first: usize| (0..4).map(|at| bit(first + at) << at).sum();
    [number(0), number(4)]
}

/// A planted flaw: a check that a value times its inverse is one, in place of proofs of deals. A
/// helper whose third power is wrong learns from its end which values the others have.
#[test]
fn a_check_of_values_would_depend_on_inputs() {
    let all = inputs(8);
    let one = |lane: usize| all.each_ref().map(|values| &values[lane..=lane]);
    let inverse = Function::Table(inverse16());
    let right = |[v, found]: [u64; 2]| {
        let bits = inverse.eval(&[0, 1, 2, 3].map(|at| v >> at & 1));
        let bits = bits.iter().rev();
        found == bits.fold(0, |sum, bit| sum << 1 | (bit & 1))
    };
    TURNED.set(0);
    assert!((0..8).all(|lane| right(unproved(one(lane), None))));
    let mut tells = 0;
    let helper = (0..3).find(|role| lanes_of(*role, 1) == 1);
    let helper = helper.expect("one role deals for the lane");
    // Behind its keys and the rest of its input.
    let message = if helper == 0 { 3 } else { 2 };
    for error in crate::record::errors_of_one_power(0) {
        PATTERN.set(error);
        let fails = (0..8).map(|lane| !right(unproved(one(lane), Some((helper, message, 0)))));
        let fails = fails.filter(|fails| *fails).count();
        tells += usize::from((1..8).contains(&fails));
    }
    PATTERN.set(1);
    assert!(tells > 0);
}
