//! OTs that are made ahead: right across refills, with the stated messages.

use crate::common::*;
use sealane_block::{Block, Coins, Cpu};
use sealane_net::Mesh;
use sealane_ot::ferret::Params;
use sealane_ot::source::Source;
use sealane_ot::source::ahead::{AheadReceiver, AheadSender, refill};
use sealane_ot::traits::{CotReceiver, CotSender, packed_blocks};
use sealane_ot::{Flight, OtError, Result, Security, SoftSpoken};

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
