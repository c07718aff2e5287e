//! Pools: the chain of keys, states, and batches as a fill writes them and a run takes them. Keys
//! of the chain, the private key of the party and all transfers are secret; files are public.

use crate::Check;
use crate::kernels::secrets;
use crate::request::{is_secret, public, secret};
use crate::transfers::blocks;
use sealane_block::{Block, Cpu};
use sealane_ot::Role;
use sealane_ot::traits::packed_blocks;
use sealane_party::Stock;
use sealane_pool::BATCH;
use sealane_pool::watched::{self, Watch};
use std::hint::black_box;
use zeroize::Zeroizing;

/// The checks of this file. The ciphers take the tier of the machine, whatever the others are on.
pub const CHECKS: &[Check] = &[
    ("pool: state and chain of keys", |_| watched::state(WATCH)),
    ("pool: batches, sender", sender),
    ("pool: batches, receiver", receiver),
];

const WATCH: Watch = Watch { secret, public };
/// Batches that are written, of which a run takes all but one.
const BATCHES: usize = 3;

fn sender(_: Cpu) {
    let pairs = secrets(2 * BATCH);
    let mut stock = watched::batches(WATCH, Role::Sender, &[&pairs[..]; BATCHES]);
    let mut taken = Zeroizing::new(vec![[Block::ZERO; 2]; (BATCHES - 1) * BATCH]);
    stock.pairs(&mut taken).expect("what was written");
    assert!(is_secret(taken.as_flattened()));
}

fn receiver(_: Cpu) {
    let keys = secrets(BATCH + packed_blocks(BATCH));
    let mut stock = watched::batches(WATCH, Role::Receiver, &[&keys[..]; BATCHES]);
    let count = (BATCHES - 1) * BATCH;
    let (mut choices, mut keys) = (Zeroizing::new(vec![0; count]), blocks(count));
    stock
        .keys(&mut choices, &mut keys)
        .expect("what was written");
    assert!(is_secret(&keys));
    black_box(&choices);
}
