//! The end of a process that has no more memory.

use sealane_block::heap::{Heap, handles_refusals};
use std::process::Command;

#[global_allocator]
static HEAP: Heap = Heap::new(|bytes| {
    eprint!("{bytes} bytes refused");
    2
});

/// More than any system gives.
const TOO_MUCH: usize = isize::MAX as usize - 4096;
const CHILD: &str = "SEALANE_TEST_TAKES_TOO_MUCH";

#[test]
fn a_refusal_ends_the_process_with_words_and_a_status() {
    if std::env::var_os(CHILD).is_some() {
        assert!(handles_refusals(|| Vec::<u8>::new().try_reserve_exact(TOO_MUCH)).is_err());
        drop(Vec::<u8>::with_capacity(TOO_MUCH));
    }
    let mut child = Command::new(std::env::current_exe().unwrap());
    let ended = child.env(CHILD, "").arg("--nocapture").output().unwrap();
    let reported = String::from_utf8_lossy(&ended.stderr);
    assert!(
        reported.ends_with(&format!("{TOO_MUCH} bytes refused")),
        "{reported}"
    );
    assert_eq!(ended.status.code(), Some(2));
}
