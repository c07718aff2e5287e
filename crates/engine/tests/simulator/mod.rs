//! Whole sessions in a simulated network, one for each seed: programs and protocols, slow and
//! broken links, processes that stop or die at any message. No run hangs or gives a wrong result,
//! and every error names a cause that occurred.
//!
//! A failure prints its seed. `SEALANE_SIM_SEED=123 cargo test -p sealane-engine simulator::` runs
//! that seed alone and logs its events, message by message; `SEALANE_SIM_SEEDS=100000` runs so many
//! seeds from 0 on.

mod oracle;
mod scenario;

use std::collections::BTreeMap;
use std::env;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Instant;

use scenario::Scenario;

/// Seeds that run by default.
const SEEDS: u64 = 600;
/// Number of seeds after which a long run prints its progress.
const PROGRESS: u64 = 5000;
/// Number of failures after which no more seeds run.
const ENOUGH: usize = 5;

/// A number from the environment.
fn from_environment(name: &str) -> Option<u64> {
    let text = env::var(name).ok()?;
    Some(
        text.parse()
            .unwrap_or_else(|_| panic!("{name}={text} is no number")),
    )
}

/// Runs and judges a seed. Returns the name of the fault, the number of parties with results,
/// and the number of all parties; or a description of the failure.
fn run(seed: u64) -> Result<(&'static str, usize, usize), String> {
    let scenario = Scenario::new(seed);
    let simulated = scenario.simulation.run();
    let done = oracle::judge(&scenario, &simulated)?;
    Ok((scenario.fault.name(), done, simulated.endings.len()))
}

/// Describes the events of a seed.
fn report(seed: u64) -> String {
    let mut scenario = Scenario::new(seed);
    scenario.simulation.log = true;
    let job = &scenario.simulation.jobs[0];
    let mut text = format!(
        "seed {seed}: {} for {}; {:?}\n",
        job.protocol(),
        job.parties().join(", "),
        scenario.fault
    );
    let simulated = scenario.simulation.run();
    for line in &simulated.model.log {
        text += &format!("{line}\n");
    }
    let verdict = match oracle::judge(&scenario, &simulated) {
        Ok(done) => format!("as it should be; {done} parties have results"),
        Err(why) => why,
    };
    let model = &simulated.model;
    text + &format!(
        "{verdict}\nended after {:?}, {} steps, trace {}\n",
        model.after, model.steps, model.trace
    )
}

#[test]
fn no_seed_hangs_or_gives_a_wrong_result() {
    if let Some(seed) = from_environment("SEALANE_SIM_SEED") {
        print!("{}", report(seed));
        run(seed).unwrap_or_else(|why| panic!("seed {seed}: {why}"));
        return;
    }
    let seeds = from_environment("SEALANE_SIM_SEEDS").unwrap_or(SEEDS);
    let started = Instant::now();
    let next = AtomicU64::new(0);
    let failures = Mutex::new(BTreeMap::new());
    // By fault: number of runs, and of those in which all or none have results.
    let tally = Mutex::new(BTreeMap::<_, [u64; 3]>::new());
    let work = || {
        loop {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            let failed = failures.lock().expect("no holder panics").len();
            if seed >= seeds || failed >= ENOUGH {
                return;
            }
            match run(seed) {
                Ok((fault, done, parties)) => {
                    let mut tally = tally.lock().expect("no holder panics");
                    let [runs, all, none] = tally.entry(fault).or_default();
                    *runs += 1;
                    *all += u64::from(done == parties);
                    *none += u64::from(done == 0);
                }
                Err(why) => {
                    // Printed at once, since a long run may be ended before it prints all failures.
                    eprintln!("simulator: seed {seed}: {why}");
                    failures.lock().expect("no holder panics").insert(seed, why);
                }
            }
            if (seed + 1).is_multiple_of(PROGRESS) {
                let s = started.elapsed().as_secs();
                eprintln!("simulator: {} of {seeds} seeds after {s} s", seed + 1);
            }
        }
    };
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(work);
        }
    });
    let failures = failures.into_inner().expect("no holder panics");
    if let Some(first) = failures.keys().next() {
        let list = failures.iter();
        let list = list.map(|(seed, why)| format!("seed {seed}: {why}\n"));
        panic!(
            "{}\n{}to see the first of them again: SEALANE_SIM_SEED={first} cargo test -p \
             sealane-engine simulator::",
            report(*first),
            list.collect::<String>(),
        );
    }
    let tally = tally.into_inner().expect("no holder panics");
    println!("what broke: runs, all have results, none has: {tally:?}");
    assert_of_weight(seeds, &tally);
}

/// Asserts that the runs were significant: each fault ended some of them, and some succeeded.
fn assert_of_weight(seeds: u64, tally: &BTreeMap<&str, [u64; 3]>) {
    if seeds < SEEDS {
        return;
    }
    assert_eq!(tally.len(), 9, "{tally:?}");
    for (fault, [runs, all, none]) in tally {
        let ended = if *fault == "nothing" { all } else { none };
        let enough = *runs > seeds / 100 && 3 * ended > *runs;
        assert!(enough, "{fault}: {tally:?}");
    }
}

#[test]
fn a_seed_decides_all() {
    let trace = |seed| Scenario::new(seed).simulation.run().model.trace;
    let seeds = (0..12).map(|seed| (trace(seed), trace(seed)));
    let mut traces = seeds.map(|(first, again)| {
        assert_eq!(first, again);
        first
    });
    let mut all = traces.by_ref().collect::<Vec<_>>();
    all.sort();
    all.dedup();
    assert_eq!(all.len(), 12, "seeds that differ go other ways");
}
