//! Silent OT on recorded links: what crosses in the open is new in each iteration.

use crate::common::*;
use sealane_block::{Block, Coins, Cpu};
use sealane_ot::Security;
use sealane_ot::ferret::{FerretReceiver, FerretSender, Params};
use sealane_ot::ideal;
use sealane_ot::traits::{CotReceiver, CotSender, packed_blocks};
use std::collections::HashSet;

const ITERATIONS: usize = 6;

#[test]
fn points_and_masked_sums_of_checks_never_repeat() {
    let params = Params::danger_tiny(Security::Malicious);
    let count = ITERATIONS * params.given();
    let (mut source, mut other) = ideal::danger_pair([SENDER, RECEIVER], DELTA, 5);
    let cpu = Cpu::best();
    let [heard, _] = heard(
        |mesh| {
            let coins = &mut Coins::danger_fixed_seed(1);
            let mut cot = FerretSender::set_up(cpu, mesh, RECEIVER, params, &mut source, coins)?;
            cot.extend(mesh, &mut vec![Block::ZERO; count])
        },
        |mesh| {
            let coins = &mut Coins::danger_fixed_seed(2);
            let mut cot = FerretReceiver::set_up(cpu, mesh, SENDER, params, &mut other, coins)?;
            let mut choices = vec![Block::ZERO; packed_blocks(count)];
            cot.extend(mesh, &mut choices, &mut vec![Block::ZERO; count])
        },
    );
    // A contribution to keys; then a point, a masked sum and a digest in each iteration.
    let checks = heard[32..].chunks(64);
    assert_eq!(checks.len(), ITERATIONS + 1);
    let values: HashSet<&[u8]> = checks.flat_map(|check| check.chunks(16)).collect();
    assert_eq!(values.len(), 4 * (ITERATIONS + 1));
}
