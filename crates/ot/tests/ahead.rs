//! OTs that are made ahead: right across refills, with the stated messages.

use crate::common::*;
use sealane_block::{Block, Coins, Cpu};
use sealane_net::Mesh;
use sealane_ot::ferret::Params;
use sealane_ot::source::Source;
use sealane_ot::source::ahead::{AheadReceiver, AheadSender, refill};
use sealane_ot::traits::{CotReceiver, CotSender, SecondKeys, packed_blocks};
use sealane_ot::{Flight, OtError, Result, Security, SoftSpoken, forms};

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
