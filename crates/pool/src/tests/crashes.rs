//! Parties that stop at any of their writes: in a fill, a run, between the files of two directions,
//! and while a pool is destroyed.

use super::Model;
use crate::{FillError, Role};
use sealane_diagnostic::Code;
use std::collections::HashSet;

/// One party stops at each of its writes in turn; then both go on as if nothing had been.
#[test]
fn a_crash_at_any_write_reuses_nothing_and_hides_no_loss() {
    for party in 0..2 {
        for at in 0.. {
            let mut model = Model::default();
            let mut made = 0;
            let filled = |ends: [Result<(), FillError>; 2]| ends.iter().all(Result::is_ok);
            made += 3 * u64::from(filled(model.fill([3, 0])));
            model.disks[party].crash_at(at);
            model.run(0, 1);
            made += 2 * u64::from(filled(model.fill([2, 0])));
            model.run(0, 1);
            let crashed = model.disks[party].crashed();
            model.restart();
            // Whatever happened, what is left is good, and the pool can be filled again.
            made += 2 * u64::from(filled(model.fill([2, 0])));
            while model.run(0, 1) {}
            let counts = model.counts(0);
            assert_no_ots(&model, at);
            for [left, used, unfinished, lost] in counts {
                assert_eq!(left, 0, "party {party}, write {at}: {counts:?}");
                // A fill that only one of the two finished is counted by that one.
                let all = used + unfinished + lost;
                let made = all == made || all == made + 2;
                assert!(made, "party {party}, write {at}: {counts:?}");
                let few = unfinished <= 2 && lost <= 3;
                assert!(few, "party {party}, write {at}: {counts:?}");
            }
            if !crashed {
                assert!(counts.iter().all(|count| *count == [0, made, 0, 0]));
                assert!(at > 10, "there are so many writes at least");
                break;
            }
        }
    }
}

/// Each of the two directions has a file of its own: a fill adds both or neither.
#[test]
fn a_crash_between_the_files_of_two_directions_adds_neither_or_both() {
    for party in 0..2 {
        let mut ends = HashSet::new();
        for at in 0.. {
            let mut model = Model::default();
            assert!(model.fill([2, 1]).iter().all(Result::is_ok));
            model.disks[party].crash_at(at);
            let filled = model.fill([1, 2]).iter().all(Result::is_ok);
            let crashed = model.disks[party].crashed();
            model.restart();
            let left = [0, 1].map(|receiver| model.counts(receiver)[party][0]);
            let both = left == [3, 3];
            let kept = both || left == [2, 1];
            assert!(kept, "party {party}, write {at}: {left:?}");
            assert!(both || !filled);
            ends.insert(both);
            // What only one of the two has added is forgotten, and counted there.
            assert!(model.fill([1, 1]).iter().all(Result::is_ok));
            for receiver in 0..2 {
                while model.run(receiver, 1) {}
                let made = [3, 2][receiver] + [1, 2][receiver] * u64::from(both);
                let [left, used, unfinished, lost] = model.counts(receiver)[party];
                assert_eq!([left, unfinished], [0, 0], "party {party}, write {at}");
                assert_eq!(used + lost, made, "party {party}, write {at}");
            }
            assert_no_ots(&model, at);
            if !crashed {
                assert_eq!(ends, HashSet::from([false, true]));
                break;
            }
        }
    }
}

/// A run of both directions takes of both or of neither, wherever it stops and whichever lacks.
#[test]
fn a_run_of_both_directions_takes_of_both_or_of_neither() {
    let take = |model: &Model, party: usize, crash: Option<usize>| {
        let pools = model.pools();
        let offers = pools.each_ref().map(|pool| pool.offer().unwrap());
        if let Some(at) = crash {
            model.disks[party].crash_at(at);
        }
        let wanted = [(Role::Sender, 1), (Role::Receiver, 1)];
        let taken = pools[party].take(&wanted, &offers[party], &offers[1 - party]);
        taken.map(|_| ()).map_err(|error| error.code)
    };
    let left =
        |model: &Model, party: usize| [0, 1].map(|receiver| model.counts(receiver)[party][0]);
    for party in 0..2 {
        for lacking in [[2, 0], [0, 2]] {
            let mut model = Model::default();
            assert!(model.fill(lacking).iter().all(Result::is_ok));
            assert_eq!(take(&model, party, None), Err(Code::PoolShort));
            assert_eq!(left(&model, party), lacking);
        }
        let mut ends = HashSet::new();
        for at in 0.. {
            let mut model = Model::default();
            assert!(model.fill([2, 3]).iter().all(Result::is_ok));
            let taken = take(&model, party, Some(at)).is_ok();
            let crashed = model.disks[party].crashed();
            model.restart();
            let left = left(&model, party);
            let both = left == [1, 2];
            assert!(both || (left == [2, 3] && !taken), "write {at}: {left:?}");
            ends.insert(both);
            if !crashed {
                assert_eq!(ends, HashSet::from([false, true]));
                break;
            }
        }
    }
}

/// A crash while a pool is destroyed leaves a pool as it was, or nothing that is of use; and once
/// its process has begun again, it can be destroyed and filled.
#[test]
fn a_crash_while_a_pool_is_destroyed_leaves_all_or_nothing() {
    for again in [false, true] {
        for at in 0.. {
            let mut model = Model::default();
            assert!(model.fill([2, 1]).iter().all(Result::is_ok));
            let state = model.disks[0].content("state");
            model.disks[0].crash_at(at);
            let destroyed = model.pools()[0].destroy();
            let crashed = model.disks[0].crashed();
            assert_eq!(destroyed.is_err(), crashed, "write {at}");
            model.restart();
            let is_there = model.disks[0].files().iter().any(|name| name == "state");
            // The key of all that is left is the first to go.
            assert_eq!(is_there, at == 0, "write {at}");
            assert!(is_there || model.disks[0].erased().contains(&state));
            let left = [0, 1].map(|receiver| model.counts(receiver)[0][0]);
            assert_eq!(left, if is_there { [2, 1] } else { [0, 0] });
            if again {
                model.pools()[0].destroy().unwrap();
                let files = model.disks[0].files();
                assert!(files.iter().all(|name| name.ends_with("lock")), "{files:?}");
            }
            assert!(model.fill([1, 1]).iter().all(Result::is_ok));
            for receiver in 0..2 {
                while model.run(receiver, 1) {}
            }
            assert_no_ots(&model, at);
            if !crashed {
                // The state and two files, with a crash before and after each.
                assert_eq!(at, 6);
                break;
            }
        }
    }
}

/// Asserts that files of OTs are gone with the OTs in them.
#[track_caller]
fn assert_no_ots(model: &Model, at: usize) {
    for disk in &model.disks {
        let files = disk.files();
        let of_use = |name: &String| name == "state" || name.ends_with("lock");
        assert!(files.iter().all(of_use), "write {at}: {files:?}");
    }
}
