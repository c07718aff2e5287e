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
    let again = Command::new(env::current_exe().unwrap())
        .args([
            "--exact",
            "signals::the_end_of_the_process_takes_unfinished_files_along",
        ])
        .env(FOLDER, folder.path())
        .output()
        .unwrap();
    assert_eq!(again.status.code(), Some(7), "{again:?}");
    let names = fs::read_dir(folder.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name());
    let mut names = names.collect::<Vec<_>>();
    names.sort();
    assert_eq!(names, ["kept", "old"]);
    assert_eq!(
        fs::read_to_string(folder.path().join("old")).unwrap(),
        "whole"
    );
}
