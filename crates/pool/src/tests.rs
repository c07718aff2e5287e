//! Two pools over a mesh in memory, on disks that end at any write.

mod crashes;
mod disk;
mod files;
mod golden;
mod vectors;

use crate::disk::Disk;
use crate::keys::WrapKey;
use crate::state::{Fill, PoolState, batch_bytes};
use crate::{BATCH, DiskStock, FillError, Filling, Order, Pool, Taken};
use disk::MemoryDisk;
use sealane_block::{Block, Coins, Cpu};
use sealane_diagnostic::Diagnostic;
use sealane_net::{Limits, Mesh};
use sealane_ot::Role;
use sealane_parties::{NetworkClass, PartyId};
use sealane_party::{Fault, Stock};
use sealane_testkit::page;
use sealane_testkit::side::on_threads;
use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

const SECRETS: [&[u8]; 2] = [b"private key of party 0", b"private key of party 1"];

fn wrap(party: usize) -> WrapKey {
    WrapKey::new(SECRETS[party], &[1 - party as u8; 32])
}

fn pool_on(party: usize, disk: &Arc<MemoryDisk>) -> Pool {
    let name = format!("pools/{party}");
    Pool::on(Arc::clone(disk) as Arc<_>, wrap(party), name)
}

fn role(party: usize, receiver: usize) -> Role {
    if party == receiver {
        Role::Receiver
    } else {
        Role::Sender
    }
}

/// Fills both pools; a party whose disk fails leaves.
fn fill(pools: &[Pool; 2], batches: [u64; 2], seed: u64) -> [Result<(), FillError>; 2] {
    let network = NetworkClass::LAN;
    fill_as(pools, Order { batches, network }, seed)
}

/// As [`fill`], by an order.
fn fill_as(pools: &[Pool; 2], order: Order, seed: u64) -> [Result<(), FillError>; 2] {
    let ends = fill_to(pools, order, [None; 2], seed);
    ends.map(|end| {
        end.map(|(made, sent, _)| {
            assert_eq!(made, order.batches.iter().sum::<u64>());
            assert_eq!(sent, (order.payload_bytes(), order.rounds()));
        })
    })
}

/// Batches that a fill made, its payload bytes and its rounds, and a digest of what a party sent.
type Made = (u64, (u64, u32), [u8; 32]);

/// As [`fill_as`], where the parties keep so many batches.
fn fill_to(
    pools: &[Pool; 2],
    order: Order,
    least: [Option<u64>; 2],
    seed: u64,
) -> [Result<Made, FillError>; 2] {
    let limits = Limits {
        silence: Duration::from_secs(20),
        ..Limits::default()
    };
    let ends = on_threads(Mesh::in_memory_with(2, limits), |mut mesh| {
        let party = mesh.me().index();
        let filling = Filling {
            pool: &pools[party],
            cpu: Cpu::best(),
            progress: &mut |_| (),
            least: least[party],
        };
        let coins = Coins::danger_fixed_seed(2 * seed + party as u64);
        let end = filling.run(order, coins, &mut mesh);
        let peer = PartyId(1 - party as u8);
        let both = mesh.payload_sent(peer) + mesh.payload_received(peer);
        end.map(|made| (made, (both, mesh.rounds()), mesh.digest_sent(peer)))
    });
    ends.try_into().ok().expect("two parties")
}

/// All OTs of a stock.
enum Transfers {
    Pairs(Vec<[Block; 2]>),
    Keys(Vec<u8>, Vec<Block>),
}

fn read(stock: &mut DiskStock, role: Role, count: usize) -> Transfers {
    // Two reads that end within a batch.
    let cut = count / 3;
    match role {
        Role::Sender => {
            let mut pairs = vec![[Block::ZERO; 2]; count];
            stock.pairs(&mut pairs[..cut]).unwrap();
            stock.pairs(&mut pairs[cut..]).unwrap();
            Transfers::Pairs(pairs)
        }
        Role::Receiver => {
            let (mut choices, mut keys) = (vec![7; count], vec![Block::ZERO; count]);
            stock.keys(&mut choices[..cut], &mut keys[..cut]).unwrap();
            stock.keys(&mut choices[cut..], &mut keys[cut..]).unwrap();
            Transfers::Keys(choices, keys)
        }
    }
}

/// Transfers of a run at one party.
type Share = (DiskStock, Taken);

/// Offers cross, and both parties take; each may fail by itself.
fn take(pools: &[Pool; 2], receiver: usize, batches: u64) -> [Result<Share, Diagnostic>; 2] {
    let offers = pools.each_ref().map(Pool::offer);
    let [Ok(one), Ok(other)] = &offers else {
        // The run of the other party ends before it takes anything.
        return offers.map(|offer| match offer {
            Ok(_) => Err(crate::error::busy("")),
            Err(error) => Err(error),
        });
    };
    let offers = [[one, other], [other, one]];
    [0, 1].map(|party| {
        let [mine, theirs] = offers[party];
        let wanted = [(role(party, receiver), batches)];
        let taken = pools[party].take(&wanted, mine, theirs);
        taken.map(|(mut stocks, taken)| (stocks.remove(0), taken))
    })
}

fn assert_pairs_match(taken: [&Transfers; 2]) {
    let ([Transfers::Pairs(pairs), Transfers::Keys(choices, keys)]
    | [Transfers::Keys(choices, keys), Transfers::Pairs(pairs)]) = taken
    else {
        panic!("one sender, one receiver")
    };
    assert_eq!(pairs.len(), keys.len());
    for ((pair, choice), key) in pairs.iter().zip(choices).zip(keys) {
        assert_eq!(pair[usize::from(*choice)].value(), key.value());
        assert_ne!(pair[0].value(), pair[1].value());
    }
    let ones = choices.iter().map(|choice| usize::from(*choice));
    let ones = ones.sum::<usize>();
    let even = ones.abs_diff(choices.len() / 2) < choices.len() / 8;
    assert!(even, "{ones}");
}

/// A key of every batch that a party ever read, by which a batch that is used twice shows.
#[derive(Default)]
struct Seen(HashSet<u128>);

impl Seen {
    fn add(&mut self, taken: &Transfers) {
        let firsts: Vec<Block> = match taken {
            Transfers::Pairs(pairs) => pairs.iter().map(|pair| pair[0]).collect(),
            Transfers::Keys(_, keys) => keys.clone(),
        };
        for first in firsts.iter().step_by(BATCH) {
            assert!(self.0.insert(first.value()), "a batch was read twice");
        }
    }
}

/// Fills, takes, and counts what two parties do in their lives.
#[derive(Default)]
struct Model {
    disks: [Arc<MemoryDisk>; 2],
    seen: [Seen; 2],
    seed: u64,
}

impl Model {
    fn pools(&self) -> [Pool; 2] {
        [0, 1].map(|party| pool_on(party, &self.disks[party]))
    }

    fn fill(&mut self, batches: [u64; 2]) -> [Result<(), FillError>; 2] {
        self.seed += 1;
        fill(&self.pools(), batches, self.seed)
    }

    /// A run, which both parties end well if both could take.
    fn run(&mut self, receiver: usize, batches: u64) -> bool {
        let pools = self.pools();
        let mut taken = Vec::new();
        for (party, stock) in take(&pools, receiver, batches).into_iter().enumerate() {
            let Ok((mut stock, share)) = stock else {
                continue;
            };
            let count = batches as usize * BATCH;
            let all = read(&mut stock, role(party, receiver), count);
            self.seen[party].add(&all);
            taken.push((all, share));
        }
        let [(one, _), (other, _)] = &taken[..] else {
            return false;
        };
        assert_pairs_match([one, other]);
        for (pool, (_, share)) in pools.iter().zip(&taken) {
            // A crash may come here too.
            let _ = pool.finish(share);
        }
        true
    }

    fn restart(&mut self) {
        for disk in &mut self.disks {
            *disk = Arc::new(disk.after_restart());
        }
    }

    /// Batches of each party in the direction of a receiver: left, used, unfinished, lost.
    fn counts(&self, receiver: usize) -> [[u64; 4]; 2] {
        let pools = self.pools();
        [0, 1].map(|party| {
            let count = pools[party].count(role(party, receiver)).unwrap();
            [count.left, count.used, count.unfinished, count.lost]
        })
    }
}

#[test]
fn what_is_filled_is_taken_in_order_and_counted() {
    let mut model = Model::default();
    assert!(model.fill([3, 2]).iter().all(Result::is_ok));
    assert!(model.run(0, 2));
    assert!(model.fill([1, 0]).iter().all(Result::is_ok));
    // The last batch of the first fill and the first of the second.
    assert!(model.run(0, 2));
    assert!(model.run(1, 1));
    assert_eq!(model.counts(0), [[0, 4, 0, 0]; 2]);
    assert_eq!(model.counts(1), [[1, 1, 0, 0]; 2]);
    let short = take(&model.pools(), 0, 1).map(|stock| stock.err().unwrap());
    assert!(short.iter().all(|error| error.code == "pool-short"));
    page::shows("pool-short", &short[0].to_string());
    // Only the half that is not used up has a file.
    let ots = |disk: &Arc<MemoryDisk>| {
        let names = disk.files();
        names.iter().filter(|name| name.ends_with(".ots")).count()
    };
    assert_eq!(model.disks.each_ref().map(ots), [1, 1]);
}

#[test]
fn a_large_fill_on_a_wan_is_silent() {
    let order = |batches, network| Order {
        batches: [0, batches],
        network,
    };
    let bytes = |batches, network| order(batches, network).payload_bytes();
    let (lan, wan) = (NetworkClass::LAN, NetworkClass::WAN);
    // Half of SoftSpoken's bytes for few, a part of them for many.
    assert!(bytes(64, wan) * 3 > bytes(64, lan) && bytes(64, wan) < bytes(64, lan));
    assert!(bytes(2048, wan) * 4 < bytes(2048, lan));
    let mut model = Model::default();
    let ends = fill_as(&model.pools(), order(2048, wan), 1);
    assert!(ends.iter().all(Result::is_ok));
    assert!(model.run(1, 2048));
}

#[test]
fn one_restored_backup_is_harmless() {
    for party in 0..2 {
        let mut model = Model::default();
        assert!(model.fill([4, 0]).iter().all(Result::is_ok));
        let backup = model.disks[party].after_restart();
        assert!(model.run(0, 2));
        model.disks[party] = Arc::new(backup);
        // `Seen` finds a batch that is read again.
        assert!(model.run(0, 1));
        assert!(model.fill([1, 0]).iter().all(Result::is_ok));
        assert!(model.run(0, 2));
        assert!(!model.run(0, 1));
        // The party that was set back learns what it has lost.
        assert_eq!(model.counts(0)[party], [0, 3, 0, 2]);
    }
}

#[test]
fn a_backup_from_before_a_fill_forgets_that_fill() {
    let mut model = Model::default();
    assert!(model.fill([2, 0]).iter().all(Result::is_ok));
    let backup = model.disks[0].after_restart();
    assert!(model.fill([2, 0]).iter().all(Result::is_ok));
    model.disks[0] = Arc::new(backup);
    assert!(model.fill([1, 0]).iter().all(Result::is_ok));
    assert!(model.run(0, 3));
    assert_eq!(model.counts(0), [[0, 3, 0, 0], [0, 3, 0, 2]]);
}

#[test]
fn two_restored_backups_use_batches_twice_as_the_documentation_says() {
    let mut model = Model::default();
    assert!(model.fill([4, 0]).iter().all(Result::is_ok));
    let backup = |disk: &Arc<MemoryDisk>| Arc::new(disk.after_restart());
    let first = backup(&model.disks[0]);
    assert!(model.run(0, 1));
    let other = backup(&model.disks[1]);
    assert!(model.run(0, 1));
    // They are of different moments; what was used after both of them is used again.
    model.disks = [first, other];
    let seen = std::mem::take(&mut model.seen);
    assert!(model.run(0, 1));
    for (before, after) in seen.iter().zip(&model.seen) {
        assert!(after.0.is_subset(&before.0));
    }
}

#[test]
fn a_batch_that_was_taken_cannot_be_read_later() {
    let mut model = Model::default();
    assert!(model.fill([3, 0]).iter().all(Result::is_ok));
    let disk = &model.disks[0];
    let read = |name: &str| disk.content(name);
    let state = |file: &[u8]| PoolState::open(&wrap(0), file).unwrap();
    let before = state(&read("state"));
    let names = disk.files();
    let ots = names.iter().find(|name| name.ends_with(".ots")).unwrap();
    let [one, other] = [read(ots), read("state")];
    assert!(take(&model.pools(), 0, 1).iter().all(Result::is_ok));
    let after = state(&model.disks[0].content("state"));
    let role = Role::Receiver;
    let fill = &before.half(role).fills[0];
    let opens = |state: &PoolState, steps: u64, number: u64| {
        let length = batch_bytes(role);
        let mut text = one[number as usize * length..][..length].to_vec();
        let mut key = state.half(role).key.clone();
        key.advance(steps);
        fill.cipher(role, number, &key).open(&mut text)
    };
    assert!(opens(&before, 0, 0) && opens(&before, 1, 1));
    assert!((0..100).all(|steps| !opens(&after, steps, 0)));
    assert!(opens(&after, 0, 1) && opens(&after, 1, 2));
    // The old state is gone from where it was.
    assert!(disk.erased().contains(&other));
    assert!(PoolState::open(&wrap(1), &other).is_none());
}

#[test]
fn a_failed_check_destroys_the_pool_before_anybody_is_reported() {
    let mut model = Model::default();
    assert!(model.fill([2, 0]).iter().all(Result::is_ok));
    let pools = model.pools();
    let [Ok((_, share)), _] = take(&pools, 0, 1) else {
        panic!("there are two")
    };
    let altered = Fault::Altered(PartyId(1));
    pools[0].heed(&altered).unwrap();
    assert_eq!(model.counts(0)[0], [1, 0, 1, 0]);
    let deviated = Fault::Deviated {
        party: PartyId(1),
        check: "a check",
    };
    pools[0].heed(&deviated).unwrap();
    let left = model.disks[0].files();
    assert!(left.iter().all(|name| name.ends_with("lock")), "{left:?}");
    // The end of a run of the time before is not counted.
    pools[0].finish(&share).unwrap();
    // The other party forgets its part at the next fill.
    assert!(model.fill([1, 0]).iter().all(Result::is_ok));
    assert_eq!(model.counts(0), [[1, 0, 0, 0], [1, 0, 1, 1]]);
    assert!(model.run(0, 1));
}

/// Both decide by the same numbers, so that a party that dropped its pool is filled too.
#[test]
fn a_kept_pool_is_filled_where_both_hold_too_little() {
    let model = Model::default();
    let pools = model.pools();
    let (batches, network) = ([2, 1], NetworkClass::LAN);
    let order = Order { batches, network };
    let keep = |least: u64, seed| {
        let ends = fill_to(&pools, order, [Some(least); 2], seed);
        let made = ends.map(|end| end.map(|(made, ..)| made).ok().expect("a fill"));
        assert_eq!(made[0], made[1]);
        let left = |party: usize, role| pools[party].count(role).unwrap().left;
        assert_eq!(left(0, Role::Receiver), left(1, Role::Sender));
        assert_eq!(left(0, Role::Sender), left(1, Role::Receiver));
        (made[0], [left(0, Role::Receiver), left(1, Role::Receiver)])
    };
    assert_eq!(keep(2, 0), (3, [2, 1]));
    assert_eq!(keep(2, 1), (1, [2, 2]));
    assert_eq!(keep(2, 2), (0, [2, 2]));
    pools[1].remove().unwrap();
    assert_eq!(keep(1, 3), (3, [2, 1]));
    let ends = fill_to(&pools, order, [Some(1), Some(2)], 4);
    for (end, theirs) in ends.into_iter().zip([2, 1]) {
        assert!(matches!(end, Err(FillError::KeepsOther(least)) if least == theirs));
    }
}

#[test]
fn an_order_that_differs_makes_nothing() {
    let model = Model::default();
    let pools = model.pools();
    let ends = on_threads(Mesh::in_memory(2), |mut mesh| {
        let party = mesh.me().index();
        let (batches, network) = ([1 + party as u64, 0], NetworkClass::LAN);
        let order = Order { batches, network };
        let filling = Filling {
            pool: &pools[party],
            cpu: Cpu::best(),
            progress: &mut |_| (),
            least: None,
        };
        filling.run(order, Coins::danger_fixed_seed(party as u64), &mut mesh)
    });
    for (party, end) in ends.into_iter().enumerate() {
        let Err(FillError::Differs(order)) = end else {
            panic!("the orders differ")
        };
        assert_eq!(order.batches, [2 - party as u64, 0]);
    }
}

/// A party that says it holds nothing, or has passed everything, and does no more.
#[test]
fn nothing_is_dropped_on_the_word_of_the_other_party() {
    let mut model = Model::default();
    assert!(model.fill([3, 2]).iter().all(Result::is_ok));
    let mine = model.pools()[0].offer().unwrap();
    model.disks[1] = Arc::default();
    model.disks[1].crash_at(0);
    assert!(model.fill([1, 1]).iter().all(Result::is_err));
    let counts = [0, 1].map(|receiver| model.counts(receiver)[0]);
    assert_eq!(counts, [[3, 0, 0, 0], [2, 0, 0, 0]]);
    let offer = |next, fills: &[Fill]| {
        let mut state = PoolState::empty().unwrap();
        let half = state.half_mut(Role::Sender);
        (half.next, half.fills) = (next, fills.to_vec());
        state.offer()
    };
    assert!(offer(1 << 20, &[]).is_valid_beside(&mine));
    assert!(!offer(1 << 48, &[]).is_valid_beside(&mine));
    let (id, first, batches) = ([1; 16], 0, 3);
    let passed = [Fill { id, first, batches }];
    assert!(offer(2, &passed).is_valid_beside(&mine));
    assert!(!offer(3, &passed).is_valid_beside(&mine));
}
