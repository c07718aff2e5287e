//! The kind of a file and its length are known before anything waits or grows.

use sealane_files::{
    Accept, NewFile, Rights, Taken, open_to_change, private_file, read, read_text,
};
use std::fs;
use std::io::ErrorKind::{self, FileTooLarge, InvalidData, InvalidInput, IsADirectory};
use std::path::Path;

#[test]
fn a_read_ends_at_its_bound() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("text");
    fs::write(&path, "gr\u{fc}n").unwrap();
    assert_eq!(read_text(&path, Accept::File, 5).unwrap(), "gr\u{fc}n");
    let long = read(&path, Accept::File, 4).unwrap_err();
    assert_eq!(long.kind(), FileTooLarge);
    assert_eq!(long.to_string(), "it has more than 4 bytes, the limit");
    fs::write(&path, [255]).unwrap();
    assert_eq!(kind(read_text(&path, Accept::File, 4)), InvalidData);
    assert_eq!(
        kind(read(folder.path(), Accept::FileOrPipe, 4)),
        IsADirectory
    );
}

fn kind<T: std::fmt::Debug>(end: std::io::Result<T>) -> ErrorKind {
    end.unwrap_err().kind()
}

/// Every one of these waited, or grew, where nobody looked.
#[cfg(unix)]
#[test]
fn nothing_waits_for_a_pipe_or_reads_a_device() {
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("pipe");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.unwrap().success());
    for path in [&*pipe, Path::new("/dev/zero")] {
        assert_eq!(kind(read(path, Accept::File, 4)), InvalidInput);
        assert_eq!(
            kind(private_file::load(path, Accept::File, 4)),
            InvalidInput
        );
        assert_eq!(kind(open_to_change(path, true)), InvalidInput);
    }
    assert_eq!(
        kind(read(Path::new("/dev/zero"), Accept::FileOrPipe, 4)),
        InvalidInput
    );
    let begun = NewFile::begin(&pipe, Rights::AsBefore, Taken::Replace);
    assert_eq!(
        begun.unwrap_err().to_string(),
        "it is a pipe, where a file is needed"
    );
    // A pipe that is accepted is read as far as the bound.
    let writer = std::thread::spawn({
        let pipe = pipe.clone();
        move || fs::write(pipe, [7; 5])
    });
    assert_eq!(kind(read(&pipe, Accept::FileOrPipe, 4)), FileTooLarge);
    writer.join().unwrap().unwrap();
}
