//! Files of pools: what stands in their place, who holds them, and what is in them.

use super::*;
use crate::MOST_FILLS;
use crate::disk::Folder;
use sealane_diagnostic::Code;

#[test]
fn damaged_files_are_refused() {
    let mut model = Model::default();
    assert!(model.fill([2, 0]).iter().all(Result::is_ok));
    let disk = &model.disks[1];
    let names = disk.files();
    let ots = names.iter().find(|name| name.ends_with(".ots")).unwrap();
    disk.flip(ots, 40);
    let [_, share] = take(&model.pools(), 0, 1);
    let mut pairs = vec![[Block::ZERO; 2]; 1];
    let fault = share.unwrap().0.pairs(&mut pairs).err().unwrap();
    let noticed = fault.to_string().contains("not as it was written");
    assert!(noticed, "{fault}");
    assert_eq!(pairs[0].map(Block::value), [0; 2]);
    disk.flip("state", 60);
    let error = pool_on(1, disk).offer().err().unwrap();
    assert_eq!(error.code, "pool-unusable");
    page::shows("pool-unusable", &error.to_string());
}

#[test]
fn a_pool_on_a_real_disk_is_private_and_locked() {
    let folder = tempfile::tempdir().unwrap();
    let on_disk = |party: usize| {
        let path = folder.path().join(format!("{party}"));
        let (disk, name) = (Arc::new(Folder::new(&path)), path.display().to_string());
        Pool::on(disk, wrap(party), name)
    };
    let pools = [0, 1].map(on_disk);
    assert!(fill(&pools, [2, 1], 1).iter().all(Result::is_ok));
    let lock = pools[0].lock_fill().unwrap();
    let busy = on_disk(0).lock_fill().err().unwrap();
    assert_eq!(busy.code, Code::PoolBusy);
    drop(lock);
    let shown = |error: &Diagnostic| {
        let path = folder.path().to_string_lossy();
        error.to_string().replace(&*path, "pools")
    };
    page::shows("pool-busy", &shown(&busy));
    #[cfg(unix)]
    for path in std::fs::read_dir(folder.path().join("0")).unwrap() {
        use std::os::unix::fs::PermissionsExt;
        let path = path.unwrap().path();
        let mode = std::fs::metadata(&path).unwrap().permissions().mode() & 0o777;
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        assert!(mode == 0o600 || name.ends_with("lock"), "{name}: {mode:o}");
    }
    let stocks = take(&pools, 0, 2).map(Result::unwrap);
    let mut taken = Vec::new();
    for (party, (mut stock, share)) in stocks.into_iter().enumerate() {
        taken.push(read(&mut stock, role(party, 0), 2 * BATCH));
        pools[party].finish(&share).unwrap();
    }
    assert_pairs_match([&taken[0], &taken[1]]);
    // Of the fill that is used up nothing is left, and the other half still is.
    let files = std::fs::read_dir(folder.path().join("0")).unwrap().count();
    assert_eq!(files, 4);
    let all = (2..).take(MOST_FILLS + 1);
    let mut refused = all.map(|seed| fill(&pools, [1, 0], seed));
    let refused = refused.find_map(|[end, _]| end.err());
    let Some(FillError::Pool(full)) = refused else {
        panic!("it holds so many fills at most")
    };
    page::shows("pool-full", &shown(&full));
    pools[0].destroy().unwrap();
    let names = std::fs::read_dir(folder.path().join("0")).unwrap();
    let names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    assert!(names.into_iter().all(|name| name.ends_with("lock")));
}

#[cfg(unix)]
#[test]
fn what_stands_in_the_place_of_a_file_is_reported_and_dropped() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join("0").join(name);
    let pools = [0, 1].map(|party| {
        let path = folder.path().join(party.to_string());
        Pool::on(Arc::new(Folder::new(&path)), wrap(party), "pools".into())
    });
    assert!(fill(&pools, [1, 1], 1).iter().all(Result::is_ok));
    // A look writes nothing.
    std::fs::remove_file(path("lock")).unwrap();
    assert_eq!(pools[0].count(Role::Sender).unwrap().left, 1);
    assert!(!path("lock").exists());
    std::fs::remove_file(path("state")).unwrap();
    for (make, reason) in [("mkdir", "a folder"), ("mkfifo", "a pipe")] {
        let made = std::process::Command::new(make).arg(path("state")).status();
        assert!(made.unwrap().success());
        let reported = pools[0].offer().err().unwrap().message;
        let wanted = format!("the pool at pools/state: it is {reason}, where a file is needed");
        assert_eq!(reported, wanted);
        pools[0].remove().unwrap();
        assert!(!path("state").exists());
    }
}

#[test]
fn a_run_removes_what_a_killed_fill_has_left() {
    let mut model = Model::default();
    assert!(model.fill([2, 0]).iter().all(Result::is_ok));
    for name in ["sender-00.ots", ".sealane-left"] {
        model.disks[0].replace(name, b"left").unwrap();
    }
    assert!(model.run(0, 1));
    let files = model.disks[0].files();
    let plain = |name: &String| !name.contains("00") && !name.contains("left");
    assert!(files.iter().all(plain), "{files:?}");
}

#[test]
fn a_process_that_was_outrun_takes_nothing() {
    let mut model = Model::default();
    assert!(model.fill([3, 0]).iter().all(Result::is_ok));
    let pools = model.pools();
    let offers = pools.each_ref().map(|pool| pool.offer().unwrap());
    assert!(model.run(0, 1));
    let late = pools[0].take(&[(Role::Receiver, 1)], &offers[0], &offers[1]);
    assert_eq!(late.err().unwrap().code, Code::PoolBusy);
    assert_eq!(model.counts(0)[0], [2, 1, 0, 0]);
}
