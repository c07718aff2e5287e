//! The two counters that benchmarks of kernels read: time-stamp ticks, and a chain of additions
//! that takes a known number of core cycles.
//!
//! The time-stamp counter runs at a fixed rate while the core clock floats. A chain of dependent
//! additions takes one core cycle each, whatever the clock; timed in ticks next to a measurement,
//! it tells how many cycles a tick was worth. On other architectures than x86-64 ticks are
//! nanoseconds.

#[cfg(target_arch = "x86_64")]
use std::arch::{asm, x86_64};

/// Additions in one turn of [`dependent_additions`].
const TURN: u64 = 16;

/// The time-stamp counter, read when all earlier instructions have finished.
#[cfg(target_arch = "x86_64")]
#[inline]
pub fn ticks() -> u64 {
    // SAFETY: `lfence` belongs to SSE2 and `rdtsc` to every x86-64; neither touches memory.
    unsafe {
        x86_64::_mm_lfence();
        let ticks = x86_64::_rdtsc();
        x86_64::_mm_lfence();
        ticks
    }
}

/// Nanoseconds since the first call.
#[cfg(not(target_arch = "x86_64"))]
pub fn ticks() -> u64 {
    static START: std::sync::OnceLock<std::time::Instant> = std::sync::OnceLock::new();
    START
        .get_or_init(std::time::Instant::now)
        .elapsed()
        .as_nanos() as u64
}

/// Runs `count` additions, rounded up to a multiple of 16, each of which waits for the one
/// before; returns how many ran. Their time in core cycles is their number.
pub fn dependent_additions(count: u64) -> u64 {
    let turns = count.div_ceil(TURN).max(1);
    #[cfg(target_arch = "x86_64")]
    // SAFETY: the loop changes nothing but its two registers and the flags.
    unsafe {
        asm!(
            "2:",
            ".rept 16",
            "add {sum}, 1",
            ".endr",
            "sub {turns}, 1",
            "jnz 2b",
            sum = inout(reg) 0u64 => _,
            turns = inout(reg) turns => _,
            options(nomem, nostack)
        );
    }
    #[cfg(not(target_arch = "x86_64"))]
    for i in 0..turns * TURN {
        std::hint::black_box(i);
    }
    turns * TURN
}
