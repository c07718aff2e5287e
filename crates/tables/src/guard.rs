//! Protection against a library that panics on a damaged file: the panic becomes an error of the
//! file.
//!
//! The panic is caught where the library is called. Its message is not printed: it describes the
//! inside of the library, and would appear before the error for the user.

use std::cell::Cell;
use std::panic::{self, UnwindSafe};
use std::sync::Once;

thread_local! {
    /// True while this thread is in a call whose panics are caught.
    static GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// Calls `library`; returns none if it panics. Panics of other threads are printed as before.
pub(crate) fn run<T>(library: impl FnOnce() -> T + UnwindSafe) -> Option<T> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |panic| {
            if !GUARDED.get() {
                before(panic);
            }
        }));
    });
    let outer = GUARDED.replace(true);
    let result = panic::catch_unwind(library);
    GUARDED.set(outer);
    result.ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;
    use std::{env, thread};

    /// Environment variable that makes this binary, when started again, panic.
    const AGAIN: &str = "SEALANE_TEST_GUARD";

    #[test]
    fn a_caught_panic_is_not_printed_and_any_other_is() {
        if env::var_os(AGAIN).is_some() {
            let nested = || {
                assert_eq!(run(|| panic!("caught within")), None::<()>);
                panic!("caught outside")
            };
            assert_eq!(run(nested), None::<()>);
            let other = || thread::spawn(|| panic!("another thread")).join().is_err();
            assert_eq!(run(other), Some(true));
            assert!(panic::catch_unwind(|| panic!("behind it")).is_err());
            return;
        }
        let again = Command::new(env::current_exe().expect("this binary"))
            .args(["--exact", "--nocapture"])
            .arg("guard::tests::a_caught_panic_is_not_printed_and_any_other_is")
            .env(AGAIN, "1")
            .output()
            .expect("this binary once more");
        let printed = String::from_utf8_lossy(&again.stderr);
        assert!(again.status.success(), "{printed}");
        for (text, is_printed) in [
            ("another thread", true),
            ("behind it", true),
            ("caught within", false),
            ("caught outside", false),
        ] {
            assert_eq!(printed.contains(text), is_printed, "{printed}");
        }
    }
}
