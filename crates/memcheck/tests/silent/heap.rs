//! An allocator that looks for secrets in freed memory.
//!
//! There are two searches. While [`random_in`] runs, any random-looking block that the thread frees
//! counts as a secret: keys, labels, shares. While [`copies_in`] runs, copies of given secrets in
//! blocks freed by any thread count.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// The allocator of this program. A reallocation copies to a new block and frees the old one, which
/// is all that a program may rely on.
struct Searched;

#[global_allocator]
static HEAP: Searched = Searched;

thread_local! {
    /// Number of random-looking blocks that this thread has freed, while that is counted.
    static RANDOM: Cell<Option<usize>> = const { Cell::new(None) };
}

/// The secrets to search for, during a search: a list that lives as long as the program.
static WANTED: AtomicPtr<Vec<Vec<u8>>> = AtomicPtr::new(std::ptr::null_mut());
/// Number of copies found.
static FOUND: AtomicUsize = AtomicUsize::new(0);

/// Counts the random-looking blocks that this thread frees while `run` runs.
pub fn random_in(run: impl FnOnce()) -> usize {
    RANDOM.set(Some(0));
    run();
    RANDOM.replace(None).expect("it was counted")
}

/// Counts the blocks freed by all threads with a copy of one of `secrets` in them while `run` runs.
/// A copy begins at a multiple of 8 bytes, as an element, a plane of bits and a block do.
pub fn copies_in(secrets: Vec<Vec<u8>>, run: impl FnOnce()) -> usize {
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let _one = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    assert!(
        secrets
            .iter()
            .all(|secret| secret.len() >= WORD && secret[..WORD] != [0; WORD])
    );
    // Another thread may still look when this ends, so the list is never freed.
    WANTED.store(Box::leak(Box::new(secrets)), Ordering::SeqCst);
    let before = FOUND.load(Ordering::SeqCst);
    run();
    WANTED.store(std::ptr::null_mut(), Ordering::SeqCst);
    FOUND.load(Ordering::SeqCst) - before
}

/// Bytes of a word.
const WORD: usize = 8;
/// Bytes in which randomness shows.
const WINDOW: usize = 16;

// SAFETY: memory comes from the system's allocator and goes back to it, with the same layouts.
unsafe impl GlobalAlloc for Searched {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promise about the layout is the one that is wanted here.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: this much was allocated, and written when it was.
        let bytes = unsafe { std::slice::from_raw_parts(memory, layout.size()) };
        // A thread that ends has no cell any more.
        let _ = RANDOM.try_with(|count| {
            let more = |count| count + usize::from(looks_random(bytes));
            count.set(count.get().map(more));
        });
        // SAFETY: it is null, or a list that nobody changes and that is never freed.
        if let Some(wanted) = unsafe { WANTED.load(Ordering::SeqCst).as_ref() }
            && holds_one_of(bytes, wanted)
        {
            FOUND.fetch_add(1, Ordering::SeqCst);
        }
        // SAFETY: the caller promises that it comes from here, and so from the system.
        unsafe { System.dealloc(memory, layout) }
    }
}

/// Returns true if a window of these bytes looks random: hardly one is zero, and hardly two are
/// equal. Of random bytes, 1 in 10,000 windows does not look so; lengths and addresses have zeros
/// in front.
fn looks_random(bytes: &[u8]) -> bool {
    let mut windows = bytes.windows(WINDOW).step_by(WORD);
    windows.any(|window| {
        let zeros = window.iter().filter(|byte| **byte == 0).count();
        let mut seen = [false; 256];
        window
            .iter()
            .for_each(|byte| seen[usize::from(*byte)] = true);
        zeros <= 1 && seen.iter().filter(|seen| **seen).count() >= 12
    })
}

/// Returns true if one of the wanted secrets is in these bytes. Most words are zero, and no secret
/// begins so.
fn holds_one_of(bytes: &[u8], wanted: &[Vec<u8>]) -> bool {
    let words = bytes.chunks_exact(WORD).enumerate();
    let mut starts = words.filter(|(_, word)| **word != [0; WORD]);
    starts.any(|(index, _)| {
        let rest = &bytes[WORD * index..];
        wanted.iter().any(|secret| rest.starts_with(secret))
    })
}
