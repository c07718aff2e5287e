//! The allocator of a process that says why it ends when there is no more memory.
//!
//! Rust's own ends the process by SIGABRT. Here the process tells the reason, with memory that it
//! has already, and exits at once with a status; nothing else of it runs.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

/// The system's allocator, with an end.
pub struct Heap {
    /// Tells how many bytes were refused, without taking memory; returns the exit status.
    report: fn(usize) -> i32,
}

thread_local! {
    /// Set while this thread handles refusals itself.
    static HANDLED: Cell<bool> = const { Cell::new(false) };
}

unsafe extern "C" {
    /// Ends the process without running anything, unlike `exit`: part of C and of every system.
    safe fn _exit(status: i32) -> !;
}

impl Heap {
    /// An allocator that tells its end so.
    pub const fn new(report: fn(usize) -> i32) -> Heap {
        Heap { report }
    }

    fn checked(&self, memory: *mut u8, bytes: usize) -> *mut u8 {
        if memory.is_null() && !HANDLED.get() {
            HANDLED.set(true);
            _exit((self.report)(bytes));
        }
        memory
    }
}

/// Runs `body`, which handles refusals of memory itself, as with `try_reserve`.
pub fn handles_refusals<R>(body: impl FnOnce() -> R) -> R {
    /// Sets back what was, also where `body` panics.
    struct Back(bool);
    impl Drop for Back {
        fn drop(&mut self) {
            HANDLED.set(self.0);
        }
    }
    let _back = Back(HANDLED.replace(true));
    body()
}

// SAFETY: memory comes from the system's allocator and goes back to it, with the same layouts.
unsafe impl GlobalAlloc for Heap {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promise about the layout is the one that is wanted here.
        self.checked(unsafe { System.alloc(layout) }, layout.size())
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as above.
        self.checked(unsafe { System.alloc_zeroed(layout) }, layout.size())
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, bytes: usize) -> *mut u8 {
        // SAFETY: the caller's promises about memory, layout and size are those wanted here.
        self.checked(unsafe { System.realloc(memory, layout, bytes) }, bytes)
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise about memory and layout is the one that is wanted here.
        unsafe { System.dealloc(memory, layout) }
    }
}
