//! Messages that are not those of an honest party.

use sealane_block::silent::trees::TREES;
use sealane_block::{Block, Cpu};
use sealane_net::Mesh;
use sealane_parties::PartyId;
use sealane_testkit::tamper::tampered;

use super::support::*;
use crate::ferret::cost::{FerretCost, path_bytes};
use crate::ferret::{Noise, Params};
use crate::traits::{CotCost, CotReceiver, CotSender, CotTerms, choice};
use crate::{OtError, Result, Security, ideal};

/// Bytes of the contributions to keys, which come first in both directions.
const KEYS: u64 = 32;

/// Results of both parties: rows that are wrong, of a whole iteration.
type Results = (Result<()>, Result<usize>);

/// Runs both parties where byte `at` of those that `to` receives is changed.
fn run(params: Params, to: PartyId, at: u64) -> Results {
    let count = params.given();
    let cpu = Cpu::best();
    let sender = |mut mesh: Mesh| {
        let mut q = vec![Block::ONES; count];
        let result = set_up_sender(cpu, &mut mesh, params).and_then(|mut cot| {
            let result = cot.extend(&mut mesh, &mut q);
            if result.is_err() {
                assert!(q.iter().all(|block| block.value() == 0));
                let offset = std::panic::AssertUnwindSafe(|| cot.delta());
                assert!(std::panic::catch_unwind(offset).is_err());
                let again = cot.extend(&mut mesh, &mut q);
                assert!(matches!(again, Err(OtError::Ended)));
            }
            result?;
            Ok(mesh.flush()?)
        });
        (q, result)
    };
    let receiver = |mut mesh: Mesh| {
        let mut cot = set_up_receiver(cpu, &mut mesh, params)?;
        let (mut t, mut x) = (
            vec![Block::ONES; count],
            vec![Block::ONES; count.div_ceil(128)],
        );
        let result = cot.extend(&mut mesh, &mut x, &mut t);
        if result.is_err() {
            assert!(t.iter().chain(&x).all(|block| block.value() == 0));
            let again = cot.extend(&mut mesh, &mut x, &mut t);
            assert!(matches!(again, Err(OtError::Ended)));
        }
        result.map(|()| (t, x))
    };
    let ((q, sent), received) = both(tampered(to, at, 0x10), sender, receiver);
    let wrong = received.map(|(t, x)| {
        let is_wrong = |j: &usize| {
            let expected = q[*j] ^ DELTA.masked(choice(&x, *j));
            t[*j].value() != expected.value()
        };
        (0..count).filter(is_wrong).count()
    });
    (sent, wrong)
}

/// Bytes that cross at set-up and in the iteration behind it, from the sender and from the
/// receiver.
fn bytes(params: Params) -> [[u64; 2]; 2] {
    let source = ideal::Free;
    let cost = FerretCost { source, params };
    [cost.set_up(), cost.extend(0, 1)].map(|flights| {
        let sent = flights.iter().map(|flight| flight.from_sender).sum();
        let received = flights.iter().map(|flight| flight.from_receiver).sum();
        [sent, received]
    })
}

#[test]
fn a_changed_message_goes_unnoticed_without_the_check() {
    for params in tiny(Security::SemiHonest) {
        let [[sent, received], _] = bytes(params);
        // Level 1 of trees of the first iteration, and the last level of those of the second. Not
        // all rows are for use.
        for (begin, lpn, level) in [(KEYS, params.first(), 0), (sent, params.main(), 6)] {
            let of_batch = 16 * lpn.batch_levels();
            let mut fields = (0..lpn.batches() * TREES).map(|tree| {
                let (batch, tree) = (tree / TREES, tree % TREES);
                begin + (batch * of_batch + 128 * level + 16 * tree + 5) as u64
            });
            let is_wrong = |at| run(params, RECEIVER, at).1.expect("no check") > 0;
            assert!(fields.any(is_wrong));
        }
        if params.main().noise() == Noise::Uniform {
            let is_wrong = |at| run(params, SENDER, at).1.expect("no check") > 0;
            assert!((received..received + 40).any(is_wrong));
        }
    }
}

/// Every field, at its first and its last byte, and others on the way.
#[test]
fn a_changed_byte_is_reported_apart_from_a_party_that_deviates() {
    for params in tiny(Security::Malicious) {
        let [[sent, received], [more_sent, more_received]] = bytes(params);
        // Keys; trees; proof; digest. The same without keys in the second iteration.
        let fields = [0, KEYS, sent - 64, sent - 32, sent].into_iter().chain([
            sent + more_sent - 64,
            sent + more_sent - 32,
            sent + more_sent,
        ]);
        let ends = fields.flat_map(|at| [at, at.saturating_sub(1)]);
        let others = (0..sent + more_sent).step_by(999);
        for at in ends.chain(others).filter(|at| *at < sent + more_sent) {
            let (_, received) = run(params, RECEIVER, at);
            let noticed = matches!(received, Err(OtError::Altered(SENDER)));
            assert!(noticed, "byte {at}: {received:?}");
        }
        // Keys; paths; point, masked sum, digest.
        let of_paths = path_bytes(&params.first());
        assert_eq!(received, KEYS + of_paths + 64);
        let fields = [0, KEYS, KEYS + of_paths, received - 64, received - 48]
            .into_iter()
            .chain([received - 32, received, received + more_received - 64])
            .chain([received + more_received - 32, received + more_received]);
        for at in fields.flat_map(|at| [at, at.saturating_sub(1)]) {
            if at >= received + more_received {
                continue;
            }
            let (sent, received) = run(params, SENDER, at);
            let noticed = matches!(sent, Err(OtError::Altered(RECEIVER)));
            assert!(noticed, "byte {at}: {sent:?}");
            // It is told nothing but that the sender has left.
            let noticed = matches!(received, Err(OtError::Net(_)));
            assert!(noticed, "byte {at}: {received:?}");
        }
    }
}

#[test]
fn a_link_that_changes_nothing_gives_correct_rows() {
    for params in all_tiny() {
        let (sent, wrong) = run(params, RECEIVER, u64::MAX);
        sent.expect("honest parties");
        assert_eq!(wrong.expect("honest parties"), 0);
    }
}

#[test]
#[should_panic(expected = "bit 0 of the offset")]
fn an_offset_without_bit_0_is_refused() {
    struct Even;
    impl CotSender for Even {
        fn terms(&self) -> CotTerms {
            CotTerms::new(RECEIVER, Security::SemiHonest)
        }

        fn delta(&self) -> Block {
            Block::new(2)
        }
        fn extend(&mut self, _: &mut Mesh, _: &mut [Block]) -> Result<()> {
            unreachable!("the set-up refuses it before");
        }
    }
    let [mut mesh, _] = in_memory();
    let params = Params::danger_tiny(Security::SemiHonest);
    let mut coins = sealane_block::Coins::danger_fixed_seed(1);
    let cpu = Cpu::best();
    let _ = crate::ferret::FerretSender::set_up(
        cpu, &mut mesh, RECEIVER, params, &mut Even, &mut coins,
    );
}
