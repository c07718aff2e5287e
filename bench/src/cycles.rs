//! Core cycles of a piece of work, on a machine whose clock floats.
//!
//! Time-stamp ticks run at a fixed rate; how many core cycles a tick is worth is found by timing
//! a chain of dependent additions, one cycle each, before and after every window. A window counts
//! only if the whole core was free: the two chains agree, the thread was not switched out, and
//! independent chains at both ends run as fast as ever ([`clock::parallel_additions`]), which they
//! do not beside a neighbour on the core's other hardware thread. Of the windows that count, the
//! minimum is the speed of the code and the median its usual speed; the share of windows that
//! count and the median of all are given beside them, so that a busy machine shows.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use sealane_block::clock;

/// Cycles and time of one operation.
#[derive(Clone, Copy, Debug)]
pub struct Measured {
    /// Core cycles an operation in the best window.
    pub min_cycles: f64,
    /// Core cycles an operation in the median window.
    pub median_cycles: f64,
    /// Nanoseconds an operation in the median window, at the clock that the machine had.
    pub median_ns: f64,
    /// Core cycles an operation in the median of all windows, those beside a neighbour included.
    pub all_median_cycles: f64,
    /// The share of windows in which the whole core was free, 0 to 1. If 0, the other figures are
    /// those of all windows.
    pub kept: f64,
}

/// Windows that a measurement aims for.
const WINDOWS: usize = 41;
/// The shortest window: long against the cost of reading the counters, short against a time slice.
const WINDOW: Duration = Duration::from_micros(200);
/// Additions of a calibration chain: about 4 microseconds.
const CHAIN: u64 = 9600;
/// Additions of a probe for a free core: about 2 microseconds.
const PROBE: u64 = 24_000;
/// How much slower than ever before a probe may be on a free core.
const FREE: f64 = 1.04;
/// How often a new process probes, so that it has seen a free core once: about 40 milliseconds.
const FIRST_PROBES: usize = 20_000;

/// Measures `work`, which performs `operations` operations a call, for about `budget`.
pub fn measure(operations: u64, budget: Duration, mut work: impl FnMut()) -> Measured {
    let start = Instant::now();
    work();
    let once = start.elapsed().max(Duration::from_nanos(1));
    let calls = (WINDOW.as_nanos() / once.as_nanos()).max(1) as u64;

    let (mut kept, mut any) = (Vec::new(), Vec::new());
    while any.is_empty() || (kept.len() < WINDOWS && start.elapsed() < budget) {
        let window = window(operations * calls, || (0..calls).for_each(|_| work()));
        any.push(window.cost);
        if window.undisturbed {
            kept.push(window.cost);
        }
    }
    let share = kept.len() as f64 / any.len() as f64;
    let all = sorted(any);
    // A machine so busy that no window was quiet still gets a figure, from the noisy ones.
    let costs = match kept.is_empty() {
        true => all.clone(),
        false => sorted(kept),
    };
    let median = costs[costs.len() / 2];
    Measured {
        min_cycles: costs[0].cycles,
        median_cycles: median.cycles,
        median_ns: median.ns,
        all_median_cycles: all[all.len() / 2].cycles,
        kept: share,
    }
}

fn sorted(mut costs: Vec<Cost>) -> Vec<Cost> {
    costs.sort_by(|a, b| a.cycles.total_cmp(&b.cycles));
    costs
}

#[derive(Clone, Copy)]
struct Cost {
    cycles: f64,
    ns: f64,
}

struct Window {
    cost: Cost,
    undisturbed: bool,
}

fn window(operations: u64, work: impl FnOnce()) -> Window {
    let switches = context_switches();
    let before = cycles_per_tick();
    let free = core_is_free(before);
    let (instant, ticks) = (Instant::now(), clock::ticks());
    work();
    let (ticks, elapsed) = (clock::ticks() - ticks, instant.elapsed());
    let after = cycles_per_tick();
    let cycles = ticks as f64 * before.max(after) / operations as f64;
    let steady = (before / after - 1.0).abs() < 0.03 && free && core_is_free(after);
    Window {
        cost: Cost {
            cycles,
            ns: elapsed.as_nanos() as f64 / operations as f64,
        },
        undisturbed: steady && context_switches() == switches,
    }
}

/// The best of three chains, since an interruption only makes a chain longer.
fn cycles_per_tick() -> f64 {
    let mut best = 0f64;
    for _ in 0..3 {
        let ticks = clock::ticks();
        let cycles = clock::dependent_additions(CHAIN);
        best = best.max(cycles as f64 / (clock::ticks() - ticks) as f64);
    }
    best
}

/// Whether independent additions run about as fast as they ever did in this process.
fn core_is_free(cycles_per_tick: f64) -> bool {
    /// Cycles an addition on a free core, as bits of a float: positive ones are ordered as those.
    static BEST: AtomicU64 = AtomicU64::new(u64::MAX);
    if BEST.load(Ordering::Relaxed) == u64::MAX {
        for _ in 0..FIRST_PROBES {
            BEST.fetch_min(probe(cycles_per_tick).to_bits(), Ordering::Relaxed);
        }
    }
    let cost = probe(cycles_per_tick).min(probe(cycles_per_tick));
    let best = f64::from_bits(BEST.fetch_min(cost.to_bits(), Ordering::Relaxed));
    cost < FREE * best
}

/// Core cycles of one of many independent additions.
fn probe(cycles_per_tick: f64) -> f64 {
    let ticks = clock::ticks();
    let additions = clock::parallel_additions(PROBE);
    (clock::ticks() - ticks) as f64 * cycles_per_tick / additions as f64
}

/// How often this thread was switched out, where the system tells.
fn context_switches() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/thread-self/status").ok()?;
    let counts = status.lines().filter(|line| line.contains("ctxt_switches"));
    counts
        .map(|line| line.split_whitespace().last()?.parse::<u64>().ok())
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chain_of_additions_takes_its_number_of_cycles() {
        let measured = measure(CHAIN, Duration::from_millis(200), || {
            clock::dependent_additions(CHAIN);
        });
        // Wide enough for a busy machine, narrow enough to catch a wrong scale.
        assert!((0.8..2.0).contains(&measured.min_cycles), "{measured:?}");
        assert!(measured.median_cycles >= measured.min_cycles);
        assert!((0.0..=1.0).contains(&measured.kept), "{measured:?}");
    }

    #[test]
    fn independent_additions_take_less_than_a_cycle_each() {
        let cycles_per_tick = cycles_per_tick();
        let best = (0..1000)
            .map(|_| probe(cycles_per_tick))
            .fold(1.0, f64::min);
        assert!((0.05..0.8).contains(&best), "{best}");
    }
}
