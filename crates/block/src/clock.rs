//! Counters for benchmarks of kernels: time-stamp ticks, a chain of additions that takes a known
//! number of core cycles, and independent chains that need the whole core.
//!
//! The time-stamp counter runs at a fixed rate while the core clock floats. A chain of dependent
//! additions takes one core cycle each, whatever the clock; timed in ticks next to a measurement,
//! it gives the number of cycles in a tick. On other architectures than x86-64 ticks are
//! nanoseconds.
//!
//! A dependent chain leaves most of a core idle, so it takes as long beside a neighbour on the
//! core's other hardware thread as alone. Six independent chains do not: they fill the integer
//! units of the cores at hand, and take longer as soon as a neighbour uses one.
//!
//! The addend lies in a register: additions of small constants are done while instructions are
//! renamed on cores since Golden Cove (Alder Lake, Sapphire Rapids), several dependent ones a
//! cycle.

#[cfg(target_arch = "x86_64")]
use std::arch::{asm, x86_64};

/// Additions in one batch of [`dependent_additions`].
const BATCH: u64 = 16;

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
    let batches = count.div_ceil(BATCH).max(1);
    #[cfg(target_arch = "x86_64")]
    // SAFETY: the loop changes two registers and the flags, and reads a third.
    unsafe {
        asm!(
            "2:",
            ".rept 16",
            "add {sum}, {one}",
            ".endr",
            "sub {batches}, 1",
            "jnz 2b",
            sum = inout(reg) 0u64 => _,
            batches = inout(reg) batches => _,
            one = in(reg) 1u64,
            options(nomem, nostack)
        );
    }
    #[cfg(not(target_arch = "x86_64"))]
    for i in 0..batches * BATCH {
        std::hint::black_box(i);
    }
    batches * BATCH
}

/// Runs six independent chains of `count` additions in all, rounded up to a multiple of 96; returns
/// how many ran. On a core of its own a thread does as many in a cycle as the core has integer
/// units (four on Zen 3: 0.26 cycles each with the loop around them); beside a neighbour, fewer.
pub fn parallel_additions(count: u64) -> u64 {
    const CHAINS: u64 = 6;
    let batches = count.div_ceil(CHAINS * BATCH).max(1);
    #[cfg(target_arch = "x86_64")]
    // SAFETY: the loop changes seven registers and the flags, and reads an eighth.
    unsafe {
        asm!(
            "2:",
            ".rept 16",
            "add {a}, {one}",
            "add {b}, {one}",
            "add {c}, {one}",
            "add {d}, {one}",
            "add {e}, {one}",
            "add {f}, {one}",
            ".endr",
            "sub {batches}, 1",
            "jnz 2b",
            a = inout(reg) 0u64 => _,
            b = inout(reg) 0u64 => _,
            c = inout(reg) 0u64 => _,
            d = inout(reg) 0u64 => _,
            e = inout(reg) 0u64 => _,
            f = inout(reg) 0u64 => _,
            batches = inout(reg) batches => _,
            one = in(reg) 1u64,
            options(nomem, nostack)
        );
    }
    #[cfg(not(target_arch = "x86_64"))]
    for i in 0..CHAINS * batches * BATCH {
        std::hint::black_box(i);
    }
    CHAINS * batches * BATCH
}
