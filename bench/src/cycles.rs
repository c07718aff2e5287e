//! Core cycles of a piece of work, on a machine whose clock floats.
//!
//! Time-stamp ticks run at a fixed rate; the number of core cycles in a tick is found by timing a
//! chain of dependent additions, one cycle each, before and after every window. A window counts
//! only if the whole core was free: the two chains agree, the thread was not switched out, and
//! independent chains at both ends run as fast as on a free core ([`clock::parallel_additions`]),
//! which they do not beside a neighbour on the core's other hardware thread. Of the windows that
//! count, the minimum is the speed of the code and the median its usual speed; the share of windows
//! that count and the median of all are reported as well, so that a busy machine is visible.

use std::sync::Mutex;
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
/// Largest slow-down, against the fastest probes, of a probe on a free core.
const FREE: f64 = 1.04;
/// Largest change of the clock during a measurement.
const STEADY: f64 = 0.03;
/// Number of probes of a new process, so that it has seen a free core: about 50 milliseconds.
const FIRST_PROBES: usize = 2000;

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
    // A machine so busy that no window was quiet still gets a figure, from the noisy windows.
    let costs = if kept.is_empty() {
        all.clone()
    } else {
        sorted(kept)
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
    let free_before = core_is_free();
    let before = cycles_per_tick();
    let (instant, ticks) = (Instant::now(), clock::ticks());
    work();
    let (ticks, elapsed) = (clock::ticks() - ticks, instant.elapsed());
    let after = cycles_per_tick();
    let undisturbed = free_before && steady(before, after) && core_is_free();
    Window {
        cost: Cost {
            cycles: ticks as f64 * before.max(after) / operations as f64,
            ns: elapsed.as_nanos() as f64 / operations as f64,
        },
        undisturbed: undisturbed && context_switches() == switches,
    }
}

/// Returns true if two values of [`cycles_per_tick`] show the same clock.
fn steady(before: f64, after: f64) -> bool {
    (before / after - 1.0).abs() < STEADY
}

/// Takes the best of three chains, since an interruption only makes a chain longer.
fn cycles_per_tick() -> f64 {
    let mut best = 0f64;
    for _ in 0..3 {
        let ticks = clock::ticks();
        let cycles = clock::dependent_additions(CHAIN);
        best = best.max(cycles as f64 / (clock::ticks() - ticks) as f64);
    }
    best
}

/// Returns true if independent additions run about as fast as they do on a free core.
fn core_is_free() -> bool {
    static SEEN: Mutex<Probes> = Mutex::new(Probes::NONE);
    let mut seen = SEEN.lock().expect("nothing panics with the lock held");
    if seen.number == 0 {
        for _ in 0..FIRST_PROBES {
            seen.add(probe());
        }
    }
    let cost = probe().min(probe());
    seen.add(cost);
    cost < FREE * seen.free()
}

/// Histogram of probes by the time of an addition, in steps of a thousandth of a cycle.
struct Probes {
    counts: [u32; 1000],
    number: u32,
}

impl Probes {
    const NONE: Probes = Probes {
        counts: [0; 1000],
        number: 0,
    };

    fn add(&mut self, cost: f64) {
        self.counts[((cost * 1e3) as usize).min(999)] += 1;
        self.number += 1;
    }

    /// Returns the cycles of an addition on a free core: one probe in a thousand was faster. The
    /// minimum is not used: after a single misjudged clock, no later window would count as
    /// undisturbed.
    fn free(&self) -> f64 {
        let mut faster = 0;
        let step = self.counts.iter().position(|&count| {
            faster += count;
            faster > self.number / 1000
        });
        step.map_or(1.0, |step| (step + 1) as f64 / 1e3)
    }
}

/// Core cycles of one of many independent additions; infinite if the clock moved meanwhile.
fn probe() -> f64 {
    let before = cycles_per_tick();
    let ticks = clock::ticks();
    let additions = clock::parallel_additions(PROBE);
    let ticks = clock::ticks() - ticks;
    let after = cycles_per_tick();
    if steady(before, after) {
        ticks as f64 * before.max(after) / additions as f64
    } else {
        f64::INFINITY
    }
}

/// Returns the number of context switches of this thread, where the system reports it.
fn context_switches() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/thread-self/status").ok()?;
    let counts = status.lines().filter(|line| line.contains("ctxt_switches"));
    let count = |line: &str| line.split_whitespace().last()?.parse::<u64>().ok();
    counts.map(count).sum()
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
    fn a_clock_misjudged_once_does_not_change_the_cost_on_a_free_core() {
        let mut seen = Probes::NONE;
        for i in 0..FIRST_PROBES {
            seen.add(if i % 100 == 0 { 0.25 } else { 0.33 });
        }
        assert!((0.25..0.252).contains(&seen.free()), "{}", seen.free());
        seen.add(0.2);
        seen.add(f64::INFINITY);
        assert!((0.25..0.252).contains(&seen.free()), "{}", seen.free());
    }

    #[test]
    fn independent_additions_take_less_than_a_cycle_each() {
        let best = (0..1000).map(|_| probe()).fold(1.0, f64::min);
        assert!((0.05..0.8).contains(&best), "{best}");
    }
}
