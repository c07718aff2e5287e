//! A process that its signal handler ends leaves no unfinished file.

use sealane_files::{NewFile, Rights, Taken, end_process};
use std::io::Write;
use std::path::PathBuf;
use std::process::Command;
use std::{env, fs, thread};

/// Environment variable that starts this binary as the child, with the folder in which it begins
/// files and is ended.
const FOLDER: &str = "SEALANE_TEST_FOLDER";

#[test]
fn the_end_of_the_process_takes_unfinished_files_along() {
    if let Some(folder) = env::var_os(FOLDER) {
        let folder = PathBuf::from(folder);
        let begin =
            |name: &str| NewFile::begin(&folder.join(name), Rights::Owner, Taken::Replace).unwrap();
        let (mut half, kept) = (begin("old"), begin("kept"));
        half.write_all(b"half").unwrap();
        kept.keep().unwrap();
        thread::spawn(|| end_process(7)).join().unwrap();
    }
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("old"), "whole").unwrap();
    let this = "signals::the_end_of_the_process_takes_unfinished_files_along";
    let mut again = Command::new(env::current_exe().unwrap());
    let again = again.args(["--exact", this]).env(FOLDER, folder.path());
    let again = again.output().unwrap();
    assert_eq!(again.status.code(), Some(7), "{again:?}");
    assert_eq!(crate::whole::names(folder.path()), ["kept", "old"]);
    let old = fs::read_to_string(folder.path().join("old")).unwrap();
    assert_eq!(old, "whole");
}
