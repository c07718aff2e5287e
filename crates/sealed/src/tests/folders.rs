//! Folders, and malicious entries in sealed folders.

use super::*;
use crate::archive::{EntryKind, name_problem};

/// Creates a folder with every kind of content that one may have.
fn fill(folder: &Path) {
    fs::create_dir_all(folder.join("a/deep/er")).unwrap();
    fs::create_dir(folder.join("a.b")).unwrap();
    for (name, bytes) in [
        ("a/x", content(70_000)),
        ("a/deep/y", content(0)),
        ("é", content(65_536)),
        ("a-", content(1)),
        ("run", b"#!/bin/sh\n".to_vec()),
    ] {
        fs::write(folder.join(name), bytes).unwrap();
    }
    set_executable(&folder.join("run"));
}

#[cfg(unix)]
fn set_executable(path: &Path) {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

#[cfg(not(unix))]
fn set_executable(_path: &Path) {}

/// Lists every path below a folder, with content and rights.
fn listing(folder: &Path) -> Vec<(PathBuf, Option<Vec<u8>>, u32)> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(at) = folders.pop() {
        for entry in fs::read_dir(at).unwrap() {
            let path = entry.unwrap().path();
            let content = (!path.is_dir()).then(|| fs::read(&path).unwrap());
            if path.is_dir() {
                folders.push(path.clone());
            }
            let name = path.strip_prefix(folder).unwrap().to_path_buf();
            found.push((name, content, rights(&path)));
        }
    }
    found.sort();
    found
}

#[cfg(unix)]
fn rights(path: &Path) -> u32 {
    use std::os::unix::fs::PermissionsExt;
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[cfg(not(unix))]
fn rights(_path: &Path) -> u32 {
    0
}

#[test]
fn a_folder_comes_back_with_all_that_is_in_it() {
    for mode in ["gcm", "ocb3"] {
        let folder = TestFolder::new();
        fill(&folder.path("things"));
        let done = folder.does(&format!("seal @things --key-file @k --mode {mode}"));
        assert_eq!((done.amount.files, done.amount.folders), (5, 4));
        let done = folder.does("open @things.sealed --key-file @k -o @again");
        assert_eq!((done.amount.files, done.amount.folders), (5, 4));
        let [before, after] = ["things", "again"].map(|name| listing(&folder.path(name)));
        assert_eq!(before.len(), 9);
        for ((name, content, _), (name_after, content_after, rights)) in before.iter().zip(&after) {
            assert_eq!((name, content), (name_after, content_after));
            let opens = content.is_none() || name == Path::new("run");
            let private = if opens { 0o700 } else { 0o600 };
            assert!(cfg!(not(unix)) || *rights == private, "{name:?} {rights:o}");
        }
        assert_eq!(folder.names(), ["again", "k", "things", "things.sealed"]);
    }
}

#[test]
fn an_empty_folder_comes_back() {
    let folder = TestFolder::new();
    fs::create_dir(folder.path("nothing")).unwrap();
    folder.does("seal @nothing --key-file @k -o @x.sealed");
    folder.does("open @x.sealed --key-file @k");
    assert!(listing(&folder.path("x")).is_empty() && folder.path("x").is_dir());
}

#[test]
fn the_stream_of_a_folder_is_that_of_another_implementation() {
    let folder = TestFolder::new();
    let (key, folder) = (counting_master(&folder), folder.path("f"));
    fs::create_dir_all(folder.join("a")).unwrap();
    fs::create_dir(folder.join("a.b")).unwrap();
    for (name, bytes) in [("a/x", "one"), ("run", "#!"), ("é", "")] {
        fs::write(folder.join(name), bytes).unwrap();
    }
    set_executable(&folder.join("run"));
    let mut header = header(Mode::Gcm, Content::Folder);
    header.segment_bytes = SEGMENT_BYTES;
    let mut sealer = sealer(crypto(&header, &key));
    let mut watch = NEVER;
    assert!(folder::seal(&folder, &mut sealer, &mut watch).is_ok());
    let Ok((bytes, 1)) = sealer.finish() else {
        panic!()
    };
    let digest = "5ae3a772d1c589bc9d293d990a0233a14cef92f456baabbbf99c62fb363629c4";
    if cfg!(unix) {
        assert_eq!(blake3::hash(&bytes).to_hex().as_str(), digest);
    }
}

#[cfg(unix)]
#[test]
fn what_is_neither_file_nor_folder_is_refused_by_name() {
    use std::os::unix::fs::symlink;
    let folder = TestFolder::new();
    let reported = |command: &str| {
        assert_eq!(folder.refuses(command), "seal-input");
        folder.reported(&folder.run(command, "", NEVER).unwrap_err())
    };
    folder.put("file", "x");
    symlink("file", folder.path("link")).unwrap();
    assert!(reported("seal @link --key-file @k").contains("link cannot be sealed"));
    fill(&folder.path("things"));
    symlink("../file", folder.path("things/a/link")).unwrap();
    let text = reported("seal @things --key-file @k");
    assert!(text.contains("things/a/link cannot be sealed"), "{text}");
    fs::remove_file(folder.path("things/a/link")).unwrap();
    symlink("..", folder.path("things/up")).unwrap();
    assert!(reported("seal @things --key-file @k").contains("things/up cannot be sealed"));
    fs::remove_file(folder.path("things/up")).unwrap();
    let socket = std::os::unix::net::UnixListener::bind(folder.path("things/socket")).unwrap();
    assert!(reported("seal @things --key-file @k").contains("neither a file nor a folder"));
    drop(socket);
    fs::remove_file(folder.path("things/socket")).unwrap();
    folder.put("things/back\\slash", "");
    assert!(reported("seal @things --key-file @k").contains("backslash"));
    fs::remove_file(folder.path("things/back\\slash")).unwrap();
    assert!(reported("seal @things --key-file @k -o @things/a/out").contains("hold itself"));
    folder.does("seal @things --key-file @k");
}

#[test]
fn folders_are_as_deep_as_they_open_again() {
    let folder = TestFolder::new();
    let deep = |names: usize| vec!["d"; names].join("/");
    fs::create_dir_all(folder.path("things").join(deep(128))).unwrap();
    folder.does("seal @things --key-file @k");
    folder.does("open @things.sealed --key-file @k -o @again");
    assert!(folder.path("again").join(deep(128)).is_dir());
    fs::create_dir(folder.path("things").join(deep(129))).unwrap();
    folder.refuses_all([("seal @things --key-file @k -o @out", "seal-input")]);
}

#[test]
fn a_folder_is_never_replaced_and_nothing_is_left_when_stopped() {
    let folder = TestFolder::new();
    fill(&folder.path("things"));
    folder.does("seal @things --key-file @k");
    let before = listing(&folder.path("things"));
    folder.refuses_all([
        ("open @things.sealed --key-file @k", "output-exists"),
        ("open @things.sealed --key-file @k --force", "output-exists"),
    ]);
    assert_eq!(listing(&folder.path("things")), before);
    let names = folder.names();
    for command in [
        "seal @things --key-file @k -o @out",
        "open @things.sealed --key-file @k -o @out",
    ] {
        let stopped = folder.run(command, "", AT_ONCE).unwrap_err();
        assert_eq!(stopped.code, "interrupted");
        assert_eq!(folder.names(), names);
    }
}

/// Encodes an entry in the format, valid or not.
fn entry(kind: u8, path: &[u8], content: &[u8]) -> Vec<u8> {
    let mut bytes = vec![kind];
    bytes.extend((path.len() as u16).to_le_bytes());
    bytes.extend(path);
    if kind != 1 {
        bytes.extend((content.len() as u64).to_le_bytes());
        bytes.extend(content);
    }
    bytes
}

#[test]
fn entries_that_lead_elsewhere_or_contradict_are_refused() {
    let folder = TestFolder::new();
    let master = counting_master(&folder);
    let header = header(Mode::Ocb3, Content::Folder);
    let open = |archive: &[u8]| {
        folder.put("x.sealed", sealed_bytes(&header, &master, archive));
        "open @x.sealed --key-file @counting"
    };
    let good = [
        entry(1, b"a", b""),
        entry(2, b"a/b", b"x"),
        entry(3, b"c", b""),
    ]
    .concat();
    folder.does(open(&good));
    fs::remove_dir_all(folder.path("x")).unwrap();
    let file = |path: &[u8]| entry(2, path, b"x");
    let (long, deep) = ("n".repeat(256), vec!["d"; 129].join("/"));
    let names = [
        "",
        "/etc/passwd",
        "/",
        "..",
        "../../leak",
        "a/../../../leak",
        ".",
        "./a",
    ];
    let others = ["a//b", "a/", "a/b", "a\0b", "a\\b", "..\\x", &long, &deep];
    let names = names
        .iter()
        .chain(&others)
        .map(|name| file(name.as_bytes()));
    let [a, b] = [b"a", b"b"].map(|name| entry(1, name, b""));
    let archives = [
        file(b"\xff"),
        entry(0, b"a", b""),
        entry(4, b"a", b""),
        [file(b"a"), file(b"a")].concat(),
        [file(b"b"), file(b"a")].concat(),
        [file(b"a"), file(b"a/b")].concat(),
        [a.clone(), file(b"b"), file(b"a/c")].concat(),
        [a, b, file(b"b/c"), file(b"c/d")].concat(),
        // The size is that of many disks, and no byte of it follows.
        [&[2, 1, 0, b'a'][..], &u64::MAX.to_le_bytes()].concat(),
        vec![2, 255, 255],
    ];
    for archive in names.chain(archives) {
        assert_eq!(folder.refuses(open(&archive)), "sealed-file", "{archive:?}");
    }
    // A cut between entries would end the content of another folder.
    for cut in (1..good.len()).filter(|cut| ![4, 19].contains(cut)) {
        assert_eq!(folder.refuses(open(&good[..cut])), "sealed-file", "{cut}");
    }
}

#[test]
fn names_that_windows_reads_otherwise_are_refused_there() {
    for name in [
        "C:", "a:b", "NUL", "nul.txt", "COM1", "lpt9.a.b", "com¹", "CON ", "a.", "a ", "a?",
        "\u{1}", "CONIN$",
    ] {
        assert!(name_problem(name, true).is_some(), "{name:?}");
        assert!(name_problem(name, false).is_none(), "{name:?}");
    }
    for name in ["a", ".a", "COM", "COM10", "nulls", "a.b", "é", " a", "..."] {
        assert!(name_problem(name, false).is_none(), "{name:?}");
        let refused = name_problem(name, true).is_some();
        assert_eq!(refused, name == "...", "{name:?}");
    }
    let (bytes, executable) = (0, false);
    assert_ne!(EntryKind::Folder, EntryKind::File { bytes, executable });
}
