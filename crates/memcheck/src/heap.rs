//! An allocator that checks freed memory for secrets.
//!
//! Fresh memory is declared public, so the memory that Memcheck treats as undefined is exactly the
//! secret memory; a block that is freed undefined was not erased.

use crate::request::{errors, public, report, undefined_units};
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Bytes of a block.
const BLOCK: usize = 16;

/// The allocator of this program. A reallocation copies to a new block and frees the old one, which
/// is all that a program may rely on.
pub struct Watched;

static LEFT: AtomicUsize = AtomicUsize::new(0);

/// Returns the number of blocks that were freed with a secret in them.
pub fn left() -> usize {
    LEFT.load(Ordering::SeqCst)
}

// SAFETY: memory comes from the system's allocator and goes back to it, with the same layouts.
unsafe impl GlobalAlloc for Watched {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promise about the layout is the one that is wanted here.
        let memory = unsafe { System.alloc_zeroed(layout) };
        if !memory.is_null() {
            // SAFETY: this many bytes have just been allocated, and written by the allocator.
            public(unsafe { std::slice::from_raw_parts(memory, layout.size()) });
        }
        memory
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        if holds_a_secret(memory, layout) {
            let before = errors();
            report(memory, layout.size());
            // Blocks that the suppressions name are not counted.
            LEFT.fetch_add(errors() - before, Ordering::SeqCst);
        }
        // SAFETY: the caller promises that it comes from here, and so from the system.
        unsafe { System.dealloc(memory, layout) }
    }
}

/// Returns true if a freed block holds a secret. Bytes have no padding, so any undefined byte is a
/// secret. A block of larger alignment may hold structures, whose padding never fills an aligned
/// block. Words may be structures too, with variants that were never written, of any length (the
/// places of a list that are `None`): there, memory is secret if it begins undefined, as a vector
/// does however full it is, or is undefined for the most part.
fn holds_a_secret(memory: *const u8, layout: Layout) -> bool {
    let bytes = layout.size();
    match layout.align() {
        1 => undefined_units(memory, bytes, 1) > 0,
        16.. => undefined_units(memory, bytes, BLOCK) > 0,
        _ => {
            let begins = bytes >= BLOCK && undefined_units(memory, BLOCK, BLOCK) > 0;
            begins || undefined_units(memory, bytes, 1) > bytes / 4 * 3
        }
    }
}
