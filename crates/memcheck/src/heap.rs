//! An allocator that asks, whenever memory is given back, whether a secret is still in it.
//!
//! Fresh memory is declared public, so that what Memcheck takes for undefined is secret and nothing
//! else; what is given back undefined was not erased.

use crate::request::{errors, public, report, undefined_units};
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Bytes of a block.
const BLOCK: usize = 16;

/// The allocator of this program. Memory that grows is copied to a new place, and the old one given
/// back, as far as any program may rely on.
pub struct Watched;

static LEFT: AtomicUsize = AtomicUsize::new(0);

/// How often memory has been given back with a secret in it.
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
            // What the suppressions name is not counted.
            LEFT.fetch_add(errors() - before, Ordering::SeqCst);
        }
        // SAFETY: the caller promises that it comes from here, and so from the system.
        unsafe { System.dealloc(memory, layout) }
    }
}

/// Returns true if memory that is given back holds a secret. Bytes have no padding, so any
/// undefined one is a secret. What is aligned to blocks may hold structures, whose padding never
/// fills a block. Words may be those of structures too, with variants that were never written, of
/// any length (the places of a list that are `None`): there, a secret is what begins undefined, as
/// a vector does however full it is, or is undefined for the most part.
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
