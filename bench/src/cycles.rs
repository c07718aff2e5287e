//! Core cycles of a piece of work, on a machine whose clock floats.
//!
//! Time-stamp ticks run at a fixed rate; how many core cycles a tick is worth is found by timing
//! a chain of dependent additions, one cycle each, before and after every window. Windows in which
//! the thread was switched out, or the two chains disagree, are dropped. What is left is reported
//! as minimum and median: the first is what the code can do, the second what it does here.

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
}

/// Windows that a measurement aims for.
const WINDOWS: usize = 41;
/// The shortest window: long against the cost of reading the counters, short against a time slice.
const WINDOW: Duration = Duration::from_micros(200);
/// Additions of a calibration chain: about 4 microseconds.
const CHAIN: u64 = 9600;

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
    // A machine so busy that no window was quiet still gets a figure, from the noisy ones.
    let mut costs = if kept.is_empty() { any } else { kept };
    costs.sort_by(|a, b| a.cycles.total_cmp(&b.cycles));
    let (best, median) = (costs[0], costs[costs.len() / 2]);
    Measured {
        min_cycles: best.cycles,
        median_cycles: median.cycles,
        median_ns: median.ns,
    }
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
    let (instant, ticks) = (Instant::now(), clock::ticks());
    work();
    let (ticks, elapsed) = (clock::ticks() - ticks, instant.elapsed());
    let after = cycles_per_tick();
    let cycles = ticks as f64 * before.max(after) / operations as f64;
    let steady = (before / after - 1.0).abs() < 0.03;
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
    }
}
