//! The kind of a file and its length are known before anything waits or grows.

use sealane_files::{self as files, Accept, NewFile, Rights, Taken, private_file, read_text};
use std::fs;
use std::path::Path;

fn reported<T: std::fmt::Debug>(end: std::io::Result<T>) -> String {
    end.unwrap_err().to_string()
}

#[test]
fn a_read_ends_at_its_bound() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("text");
    fs::write(&path, "gr\u{fc}n").unwrap();
    let read = |most| read_text(&path, Accept::File, most);
    assert_eq!(read(5).unwrap(), "gr\u{fc}n");
    assert_eq!(reported(read(4)), "it has more than 4 bytes, the limit");
    fs::write(&path, [255]).unwrap();
    assert_eq!(reported(read(4)), "it is not text in UTF-8");
}

/// Each of these waited, or grew, where nobody looked.
#[cfg(unix)]
#[test]
fn nothing_waits_for_a_pipe_or_reads_a_device() {
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("pipe");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.unwrap().success());
    let others = [
        (&*pipe, "a pipe"),
        (Path::new("/dev/zero"), "a device or a socket"),
    ];
    for (path, kind) in others {
        let wanted = format!("it is {kind}, where a file is needed");
        assert_eq!(reported(files::read(path, Accept::File, 4)), wanted);
        assert_eq!(reported(private_file::load(path, Accept::File, 4)), wanted);
        assert_eq!(reported(files::open_to_change(path, true)), wanted);
    }
    assert!(files::open(Path::new("/dev/zero"), Accept::FileOrPipe).is_err());
    assert!(NewFile::begin(&pipe, Rights::AsBefore, Taken::Replace).is_err());
    // A pipe that is accepted is read as far as the bound.
    std::thread::scope(|threads| {
        threads.spawn(|| fs::write(&pipe, [7; 5]));
        let read = files::read(&pipe, Accept::FileOrPipe, 4);
        assert_eq!(reported(read), "it has more than 4 bytes, the limit");
    });
}
