//! OTs that are made ahead: right across refills, with the stated messages.

use crate::common::*;
use sealane_block::{Block, Coins, Cpu};
use sealane_net::Mesh;
use sealane_ot::ferret::Params;
use sealane_ot::ideal::correlations::Checked;
use sealane_ot::source::ahead::{AheadReceiver, AheadSender, Directions, refill, refill_in_step};
use sealane_ot::source::{Source, finish_both};
use sealane_ot::traits::{CotReceiver, CotSender, SecondKeys, packed_blocks};
use sealane_ot::triples::{
    BegunIntegers, BitKind, BitTriples, BothWays, IntegerKind, Integers, KnownShape, MatrixShape,
    Ring,
};
use sealane_ot::{Flight, OtError, Result, Security, SoftSpoken, forms};
use sealane_testkit::side::on_threads;
use sealane_testkit::tamper::tampered;

const BASE: SoftSpoken = SoftSpoken::new(4, Security::Malicious);
const PARAMS: Params = Params::danger_tiny(Security::Malicious);

/// Numbers of OTs that are made, and then taken, in turn: some are left over for after the next
/// refill, and a refill takes one iteration or several.
fn turns() -> [(usize, Vec<usize>); 4] {
    let given = PARAMS.given();
    [
        (given, vec![128, 1]),
        (0, vec![171]),
        (2 * given, vec![given - 299, given]),
        (given, vec![298, 2 * given - 299]),
    ]
}

fn source() -> Source {
    Source::Silent(BASE, PARAMS)
}

fn sender(mesh: &mut Mesh) -> Result<AheadSender> {
    let coins = &mut Coins::danger_fixed_seed(1);
    let setup = source().sender(Cpu::best(), mesh, RECEIVER, DELTA, coins)?;
    mesh.flush()?;
    Ok(AheadSender::new(setup.finish(mesh, coins)?, PARAMS.given()))
}

fn receiver(mesh: &mut Mesh) -> Result<AheadReceiver> {
    let coins = &mut Coins::danger_fixed_seed(2);
    let setup = source().receiver(Cpu::best(), mesh, SENDER, coins)?;
    mesh.flush()?;
    Ok(AheadReceiver::new(
        setup.finish(mesh, coins)?,
        PARAMS.given(),
    ))
}

#[test]
fn they_are_right_and_take_messages_for_refills_alone() {
    let sent = |mesh: &Mesh, peer| mesh.payload_sent(peer);
    let (theirs, ours) = pair(
        |mesh| {
            let mut ahead = sender(mesh)?;
            let (mut all, mut bytes) = (vec![], vec![]);
            for (made, taken) in turns() {
                let before = sent(mesh, RECEIVER);
                if made > 0 {
                    ahead.refill(mesh, made)?;
                }
                bytes.push(sent(mesh, RECEIVER) - before);
                for count in taken {
                    let mut q = vec![Block::ZERO; count];
                    ahead.extend(mesh, &mut q)?;
                    all.push(q);
                }
                assert_eq!(sent(mesh, RECEIVER) - before, bytes[bytes.len() - 1]);
            }
            assert!(matches!(
                ahead.extend(mesh, &mut [Block::ZERO]),
                Err(OtError::Ended)
            ));
            Ok((all, bytes))
        },
        |mesh| {
            let mut ahead = receiver(mesh)?;
            let (mut all, mut bytes) = (vec![], vec![]);
            for (made, taken) in turns() {
                let before = sent(mesh, SENDER);
                if made > 0 {
                    ahead.refill(mesh, made)?;
                }
                bytes.push(sent(mesh, SENDER) - before);
                for count in taken {
                    let mut t = vec![Block::ZERO; count];
                    let mut choices = vec![Block::ZERO; packed_blocks(count)];
                    ahead.extend(mesh, &mut choices, &mut t)?;
                    all.push((choices, t));
                }
            }
            Ok((all, bytes))
        },
    );
    for (q, (choices, t)) in theirs.0.iter().zip(&ours.0) {
        assert_correlated(q, t, choices, DELTA);
    }
    let rows = theirs.0.concat();
    let distinct: std::collections::HashSet<u128> = values(&rows).into_iter().collect();
    assert_eq!(distinct.len(), rows.len(), "no OT is given twice");
    for (at, (made, _)) in turns().into_iter().enumerate() {
        let stated = match made {
            0 => vec![],
            made => refill(PARAMS, BASE, made as u64),
        };
        let bytes = |of: fn(&Flight) -> u64| stated.iter().map(of).sum::<u64>();
        assert_eq!(theirs.1[at], bytes(|flight| flight.from_sender));
        assert_eq!(ours.1[at], bytes(|flight| flight.from_receiver));
    }
}

/// Keys of random OTs, and choices, as a dealer gives them.
fn dealt(count: usize) -> (Vec<[Block; 2]>, Vec<u8>) {
    let mut drawn = vec![Block::ZERO; 3 * count];
    let mut coins = Coins::danger_fixed_seed(7);
    coins.secret("random OTs").fill(&mut drawn);
    let drawn = drawn.as_chunks::<3>().0;
    let pairs = drawn.iter().map(|[zero, one, _]| [*zero, *one]).collect();
    (pairs, drawn.iter().map(|[.., drawn]| drawn.lsb()).collect())
}

/// The keys of these choices.
fn chosen(pairs: &[[Block; 2]], choices: &[u8]) -> Vec<Block> {
    let both = pairs.iter().zip(choices);
    both.map(|(pair, choice)| pair[usize::from(*choice)])
        .collect()
}

#[test]
fn random_ots_become_correlated_ones_for_a_block_each() {
    let counts = [1, 1024, 2500];
    let ((q, sent), (choices, t)) = pair(
        |mesh| {
            let mut ahead = AheadSender::under(RECEIVER, zeroize::Zeroizing::new(DELTA));
            let mut all = vec![];
            for count in counts {
                let (pairs, _) = dealt(count);
                let mut given = pairs.iter();
                ahead.correlate(mesh, count, |pairs| {
                    pairs.fill_with(|| *given.next().expect("as many as asked for"));
                    Ok::<_, OtError>(())
                })?;
                mesh.flush()?;
                let mut q = vec![Block::ZERO; count];
                ahead.extend(mesh, &mut q)?;
                all.extend(q);
            }
            Ok((all, mesh.payload_sent(RECEIVER)))
        },
        |mesh| {
            let mut ahead = AheadReceiver::none(SENDER);
            let (mut bits, mut all) = (vec![], vec![]);
            for count in counts {
                let (pairs, choices) = dealt(count);
                ahead.correlate(mesh, count, |given, keys| {
                    given.copy_from_slice(&choices);
                    keys.copy_from_slice(&chosen(&pairs, &choices));
                    Ok::<_, OtError>(())
                })?;
                let mut t = vec![Block::ZERO; count];
                let mut packed = vec![Block::ZERO; packed_blocks(count)];
                ahead.extend(mesh, &mut packed, &mut t)?;
                let bit = |j: usize| (packed[j / 128].value() >> (j % 128)) as u8 & 1;
                bits.extend((0..count).map(bit));
                all.extend(t);
            }
            Ok((bits, all))
        },
    );
    assert_eq!(
        sent,
        counts
            .map(|count| forms::offset_bytes(count as u64))
            .iter()
            .sum::<u64>()
    );
    for ((q, t), choice) in q.iter().zip(&t).zip(&choices) {
        assert_eq!(t.value(), (*q ^ DELTA.masked(*choice)).value());
    }
    assert!(choices.contains(&0) && choices.contains(&1));
}

#[test]
fn random_ots_are_handed_out_as_they_are_and_each_once() {
    let (pairs, choices) = dealt(300);
    let (mut sender, mut receiver) = (AheadSender::none(RECEIVER), AheadReceiver::none(SENDER));
    sender.give(pairs.clone().into());
    receiver.give(choices.clone().into(), chosen(&pairs, &choices).into());
    let mut mesh = Mesh::in_memory(1).remove(0);
    let mut first = 0;
    for count in [1, 172, 127] {
        let mut q = vec![Block::ZERO; count];
        let SecondKeys::Each(others) = sender.extend_keys(&mut mesh, &mut q).unwrap() else {
            panic!("they have no offset");
        };
        let (mut t, mut packed) = (
            vec![Block::ZERO; count],
            vec![Block::ZERO; packed_blocks(count)],
        );
        receiver.extend(&mut mesh, &mut packed, &mut t).unwrap();
        for (j, (t, pair)) in t.iter().zip(&pairs[first..]).enumerate() {
            let bit = (packed[j / 128].value() >> (j % 128)) as usize & 1;
            let got = [q[j], others[j], *t].map(|key| key.value());
            assert_eq!(got, [pair[0], pair[1], pair[bit]].map(|key| key.value()));
        }
        first += count;
    }
    let ended = |end| matches!(end, Err(OtError::Ended));
    assert!(ended(
        sender.extend_keys(&mut mesh, &mut [Block::ZERO]).map(drop)
    ));
    assert!(ended(receiver.extend(
        &mut mesh,
        &mut [Block::ZERO],
        &mut [Block::ZERO]
    )));
}

/// Iterations of a refill in which party 0 sends, and in which party 1 does: the first so many.
const IN_STEP: [usize; 2] = [3, 2];

/// Offsets of both parties.
const DELTAS: [Block; 2] = [DELTA, Block::new(0x1357_9bdf_0246_8ace_fedc_ba98_7654_3211)];

type Both = (AheadSender, AheadReceiver);

/// Sets up both directions of a party, with an iteration of each.
fn set_up_both(mesh: &mut Mesh) -> Result<Both> {
    let me = usize::from(mesh.me().0);
    let (peer, cpu) = ([RECEIVER, SENDER][me], Cpu::best());
    let coins = &mut Coins::danger_fixed_seed(me as u64);
    let sender = source().sender(cpu, mesh, peer, DELTAS[me], coins)?;
    let receiver = source().receiver(cpu, mesh, peer, coins)?;
    mesh.flush()?;
    let (sender, receiver) = finish_both(sender, receiver, mesh, coins)?;
    let given = PARAMS.given();
    let mut both = (
        AheadSender::new(sender, given),
        AheadReceiver::new(receiver, given),
    );
    step(&mut both, mesh, [1, 1], 0)?;
    Ok(both)
}

/// Runs step number `at` of a refill with so many iterations in which this party sends, and in
/// which it receives.
fn step(both: &mut Both, mesh: &mut Mesh, counts: [usize; 2], at: usize) -> Result<()> {
    let (sender, receiver) = both;
    let run = Directions {
        sends: at < counts[0],
        more: at + 1 < counts[0],
        receives: at < counts[1],
    };
    refill_in_step(sender, receiver, run, mesh)
}

/// All OTs of a party: those that it sends, and choices and blocks of those that it receives.
type All = (Vec<Block>, (Vec<Block>, Vec<Block>));

/// Runs a party; returns its OTs, and bytes sent and rounds after the set-up and in the end.
fn in_step(mesh: &mut Mesh) -> Result<(All, [(u64, u64); 2])> {
    let me = usize::from(mesh.me().0);
    let peer = [RECEIVER, SENDER][me];
    let seen = |mesh: &Mesh| (mesh.payload_sent(peer), u64::from(mesh.rounds()));
    let mut both = set_up_both(mesh)?;
    let before = seen(mesh);
    let counts = [IN_STEP[me], IN_STEP[1 - me]];
    let mut all = All::default();
    for at in 0..=3 {
        // Some are left over for after the next step, of which those of the last stay.
        let take = |made: usize| (PARAMS.given() - 128).min(made);
        let mut q = vec![Block::ZERO; take(both.0.ready())];
        both.0.extend(mesh, &mut q)?;
        all.0.extend(q);
        let mut t = vec![Block::ZERO; take(both.1.ready()) / 128 * 128];
        let mut choices = vec![Block::ZERO; t.len() / 128];
        both.1.extend(mesh, &mut choices, &mut t)?;
        all.1.0.extend(choices);
        all.1.1.extend(t);
        if at < 3 {
            step(&mut both, mesh, counts, at)?;
        }
    }
    Ok((all, [before, seen(mesh)]))
}

#[test]
fn both_directions_in_step_are_right_and_share_flights() {
    let (one, other) = pair(in_step, in_step);
    for (at, (q, (choices, t))) in [(&one.0.0, &other.0.1), (&other.0.0, &one.0.1)]
        .into_iter()
        .enumerate()
    {
        let count = q.len().min(t.len()) / 128 * 128;
        assert!(count > IN_STEP[at] * (PARAMS.given() - 256));
        let choices = &choices[..count / 128];
        assert_correlated(&q[..count], &t[..count], choices, DELTAS[at]);
        let seen = values(q)
            .into_iter()
            .collect::<std::collections::HashSet<_>>();
        assert_eq!(seen.len(), q.len(), "no OT is given twice");
    }
    let set_up = source().set_up_both();
    let sum = |flights: &[Flight], of: fn(&Flight) -> u64| flights.iter().map(of).sum::<u64>();
    let [sent, received]: [fn(&Flight) -> u64; 2] =
        [|flight| flight.from_sender, |flight| flight.from_receiver];
    let both = sum(&set_up, sent) + sum(&set_up, received);
    let made = IN_STEP.map(|count| refill(PARAMS, BASE, (count * PARAMS.given()) as u64));
    for (me, (_, [before, after])) in [&one, &other].into_iter().enumerate() {
        assert_eq!(before.0, both);
        let refilled = sum(&made[me], sent) + sum(&made[1 - me], received);
        assert_eq!(after.0, both + refilled);
    }
    // Base OTs, trees with an extension, and then each iteration two more than the first message.
    let rounds = |at: usize| one.1[at].1.max(other.1[at].1);
    assert_eq!((set_up.len(), made.each_ref().map(Vec::len)), (7, [7, 5]));
    assert_eq!([rounds(0), rounds(1)], [7, 14]);
}

#[test]
fn a_changed_byte_of_either_direction_ends_both() {
    let (one, other) = pair(in_step, in_step);
    for (to, total) in [(SENDER, other.1[1].0), (RECEIVER, one.1[1].0)] {
        for at in (0..total)
            .step_by(4001)
            .chain((total - 200..total).step_by(31))
        {
            let ended = on_threads(tampered(to, at, 4), |mut mesh| {
                let (me, mesh) = (usize::from(mesh.me().0), &mut mesh);
                let mut both = set_up_both(mesh)?;
                let counts = [IN_STEP[me], IN_STEP[1 - me]];
                for at in 0..3 {
                    let made = step(&mut both, mesh, counts, at);
                    if made.is_err() {
                        let left = [both.0.ready(), both.1.ready()];
                        // Also of a direction that did not run.
                        assert_eq!(left, [0, 0]);
                        for counts in [[1, 0], [0, 1]] {
                            let again = step(&mut both, mesh, counts, 0);
                            assert!(matches!(again, Err(OtError::Ended)));
                        }
                    }
                    made?;
                }
                Ok::<_, OtError>(())
            });
            let found = &ended[usize::from(to.0)];
            let named = matches!(found, Err(OtError::Altered(_) | OtError::Net(_)));
            assert!(named, "byte {at} to {to}: {found:?}");
        }
    }
}

/// Correlations of bits that a refill makes while it makes their OTs: their kinds and numbers. Some
/// OTs are left before, and some behind.
const KINDS: [(BitKind, usize); 5] = [
    (BitKind::Boolean, 100),
    (BitKind::Wide(3), 18_000),
    (BitKind::Boolean, 0),
    (BitKind::Boolean, 1),
    (BitKind::Wide(9), 300),
];
const LEFT: [usize; 2] = [200, 98];
const MADE: usize = 18_401 - LEFT[0] + LEFT[1];

/// Sets up both directions of a party, over an extension of base OTs.
fn extended(mesh: &mut Mesh) -> Result<BothWays<AheadSender, AheadReceiver>> {
    let me = usize::from(mesh.me().0);
    let (peer, cpu) = ([RECEIVER, SENDER][me], Cpu::best());
    let (coins, source) = (
        &mut Coins::danger_fixed_seed(me as u64),
        Source::SoftSpoken(BASE),
    );
    let sender = source.sender(cpu, mesh, peer, DELTAS[me], coins)?;
    let receiver = source.receiver(cpu, mesh, peer, coins)?;
    mesh.flush()?;
    let (sender, receiver) = finish_both(sender, receiver, mesh, coins)?;
    let sender = AheadSender::new(sender, 1);
    let receiver = AheadReceiver::new(receiver, 1);
    Ok(BothWays::new(cpu, mesh, sender, receiver, "through"))
}

/// Runs a party: makes all of them, and takes what is left.
fn through(mesh: &mut Mesh) -> Result<(Vec<BitTriples>, All)> {
    let (mut both, mut none) = (extended(mesh)?, BegunIntegers::default());
    // Those of labels, say, which nobody has taken.
    both.receive_bits(mesh, LEFT[0], [], &mut none)?;
    both.send_bits(mesh, LEFT[0], &mut [], &mut none)?;
    let mut made = both.receive_bits(mesh, MADE, KINDS, &mut none)?;
    both.send_bits(mesh, MADE, &mut made, &mut none)?;
    let (sender, receiver) = both.both();
    assert_eq!([sender.cot.ready(), receiver.cot.ready()], [LEFT[1]; 2]);
    let mut all = All::default();
    all.0 = vec![Block::ZERO; LEFT[1]];
    sender.cot.extend(mesh, &mut all.0)?;
    let (choices, t) = &mut all.1;
    (*choices, *t) = (vec![Block::ZERO; 1], vec![Block::ZERO; LEFT[1]]);
    receiver.cot.extend(mesh, choices, t)?;
    let ended = |end| matches!(end, Err(OtError::Ended));
    let one = [(BitKind::Boolean, 1)];
    assert!(ended(both.receive_bits(mesh, 0, one, &mut none).map(drop)));
    assert!(ended(both.send_bits(mesh, 0, &mut made, &mut none)));
    Ok((made, all))
}

#[test]
fn bits_are_made_of_the_next_ots_while_these_are() {
    let ((one, sent), (other, received)) = pair(through, through);
    assert_eq!([one.len(), other.len()], [KINDS.len(); 2]);
    for ((one, other), (kind, count)) in one.iter().zip(&other).zip(KINDS) {
        let planes = |of: &BitTriples| match of {
            BitTriples::Boolean(of) => (of.a.clone(), of.b.clone(), of.c.clone()),
            BitTriples::Wide(of) => (of.a.repeat(of.width()), of.b.concat(), of.c.concat()),
        };
        let ((a, b, c), (d, e, f)) = (planes(one), planes(other));
        let of = |blocks: Vec<Block>, others: Vec<Block>| {
            let sums = blocks.iter().zip(&others).map(|(one, other)| *one ^ *other);
            sums.map(|sum| sum.value()).collect::<Vec<_>>()
        };
        let (a, b, c) = (of(a, d), of(b, e), of(c, f));
        let products = a.iter().zip(&b).map(|(a, b)| a & b).collect::<Vec<_>>();
        assert!(c == products, "{kind:?} {count}");
        let ones = c
            .iter()
            .map(|bits| bits.count_ones() as usize)
            .sum::<usize>();
        assert!(count < 100 || ones > count / 8, "{kind:?} {count}: {ones}");
    }
    for (at, (q, (choices, t))) in [(sent.0, received.1), (received.0, sent.1)]
        .into_iter()
        .enumerate()
    {
        assert_correlated(&q, &t, &choices, DELTAS[at]);
    }
}

/// Kinds of integers, and their numbers: of the first, more bytes than a party sends before it
/// reads. The first party is the holder.
fn integers(holds: bool) -> [(IntegerKind, usize); 5] {
    let (wide, narrow) = (Ring::new(64), Ring::new(13));
    let [rows, inner, columns] = [2, 3, 5];
    let matrices = MatrixShape {
        ring: wide,
        rows,
        inner,
        columns,
    };
    let known = KnownShape {
        ring: narrow,
        choice_bits: 5,
        partners: 3,
    };
    [
        (IntegerKind::Triples(wide), 10_000),
        (IntegerKind::Matrices(matrices), 3),
        (IntegerKind::DaBits(narrow), 20_000),
        (IntegerKind::Selects(wide), 17_000),
        (IntegerKind::Known(known, holds), 4_000),
    ]
}

/// Runs a party: makes all of them, and returns the rounds that this takes once OTs are there.
/// Products take their OTs when these are there, or as they are made, behind those of bits.
fn together(mesh: &mut Mesh, through: bool) -> Result<(Vec<Integers>, u64)> {
    let (holds, mut both) = (mesh.me() == SENDER, extended(mesh)?);
    // As many for both directions as the one that takes more needs.
    let ots = 700_000 + 3 * 2 * 3 * 64;
    let bits = [(BitKind::Boolean, 1_000), (BitKind::Wide(3), 777)];
    let ots = ots + bits.iter().map(|(_, count)| count).sum::<usize>();
    let (mut begun, mut none) = (both.begin(integers(holds)), BegunIntegers::default());
    let first = if through { &mut begun } else { &mut none };
    let mut made = both.receive_bits(mesh, ots, bits, first)?;
    both.send_bits(mesh, ots, &mut made, first)?;
    let before = mesh.rounds();
    let made = both.make_together(mesh, begun)?;
    Ok((made, u64::from(mesh.rounds() - before)))
}

#[test]
fn messages_of_all_kinds_of_integers_cross_in_one_flight() {
    for through in [false, true] {
        let run = |mesh: &mut Mesh| together(mesh, through);
        let ((one, rounds), (other, others)) = pair(run, run);
        assert_eq!([rounds, others], [1; 2]);
        check(&one, &other);
    }
}

/// Compares products with plain arithmetic.
fn check(one: &[Integers], other: &[Integers]) {
    for ((one, other), (kind, count)) in one.iter().zip(other).zip(integers(true)) {
        let wrong = match (one, other, kind) {
            (Integers::Triples(a), Integers::Triples(b), IntegerKind::Triples(ring)) => {
                Checked::wrong(ring, count, [a, b])
            }
            (Integers::Matrices(a), Integers::Matrices(b), IntegerKind::Matrices(shape)) => {
                Checked::wrong(shape, count, [a, b])
            }
            (Integers::DaBits(a), Integers::DaBits(b), IntegerKind::DaBits(ring)) => {
                Checked::wrong(ring, count, [a, b])
            }
            (Integers::Selects(a), Integers::Selects(b), IntegerKind::Selects(ring)) => {
                Checked::wrong(ring, count, [a, b])
            }
            (Integers::Known(a), Integers::Known(b), IntegerKind::Known(shape, _)) => {
                // The other party comes first.
                Checked::wrong(shape, count, [b, a])
            }
            _ => panic!("{kind:?} is of another kind"),
        };
        assert_eq!(wrong, None, "{kind:?}");
    }
}
