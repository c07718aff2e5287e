//! Effects of the verbs on files, names and keys.

use super::*;

#[test]
fn files_come_back_by_both_modes_and_both_kinds_of_key() {
    for mode in ["gcm", "ocb3"] {
        for length in [0, 1, (64 << 10) - 1, 64 << 10, (64 << 10) + 1, 300_000] {
            let folder = TestFolder::new();
            folder.put("data", content(length));
            let done = folder.does(&format!("seal @data --key-file @k --mode {mode}"));
            assert_eq!(done.segments, length.div_ceil(64 << 10).max(1) as u64);
            let named = if mode == "gcm" { Mode::Gcm } else { Mode::Ocb3 };
            assert_eq!((done.amount.bytes, done.mode), (length as u64, named));
            let done = folder.does("open @data.sealed --key-file @k -o @again");
            assert_eq!(done.amount.bytes, length as u64);
            assert!(!done.by_passphrase);
            assert_eq!(folder.get("again"), content(length));
            let typed = |command: &str, text| folder.run(command, text, NEVER);
            let command = format!("seal @data -o @typed --mode {mode}");
            typed(&command, "correct horse").unwrap();
            let wrong = typed("open @typed -o @wrong", "correct hors").unwrap_err();
            assert_eq!(wrong.code, "sealed-wrong-key");
            let done = typed("open @typed -o @known", "correct horse").unwrap();
            assert!(done.by_passphrase);
            assert_eq!(folder.get("known"), content(length));
            let names = ["again", "data", "data.sealed", "k", "known", "typed"];
            assert_eq!(folder.names(), names);
        }
    }
}

#[test]
fn no_two_files_are_alike() {
    let folder = TestFolder::new();
    folder.put("data", content(100));
    folder.does("seal @data --key-file @k -o @one");
    folder.does("seal @data --key-file @k -o @two");
    let (one, two) = (folder.get("one"), folder.get("two"));
    assert_eq!(one.len(), two.len());
    assert_eq!(one[..28], two[..28]);
    let same = one[28..].iter().zip(&two[28..]).filter(|(a, b)| a == b);
    assert!(same.count() < 10);
}

#[test]
fn a_file_that_is_there_is_replaced_only_if_that_is_asked_for() {
    let folder = TestFolder::new();
    folder.put("data", "new");
    folder.put("data.sealed", "old");
    fs::create_dir(folder.path("folder")).unwrap();
    assert_eq!(folder.refuses("seal @data --key-file @k"), "output-exists");
    assert_eq!(folder.get("data.sealed"), b"old");
    folder.does("seal @data --key-file @k --force");
    folder.refuses_all([("open @data.sealed --key-file @k", "output-exists")]);
    folder.put("data", "older");
    folder.does("open @data.sealed --key-file @k --force");
    assert_eq!(folder.get("data"), b"new");
    folder.refuses_all([
        (
            "seal @data --key-file @k --force -o @folder",
            "output-exists",
        ),
        (
            "open @data.sealed --key-file @k --force -o @folder",
            "output-exists",
        ),
    ]);
}

#[test]
fn input_and_key_are_never_replaced() {
    let folder = TestFolder::new();
    folder.put("data", "text");
    folder.does("seal @data --key-file @k");
    let (key, sealed) = (folder.get("k"), folder.get("data.sealed"));
    for command in [
        "seal @data --key-file @k --force -o @k",
        "seal @data --key-file @k --force -o @data",
        "open @data.sealed --key-file @k --force -o @k",
        "open @data.sealed --key-file @k --force -o @data.sealed",
    ] {
        assert_eq!(folder.refuses(command), "command-line", "{command}");
    }
    assert_eq!((folder.get("k"), folder.get("data.sealed")), (key, sealed));
    assert_eq!(folder.get("data"), b"text");
}

#[test]
fn nothing_but_a_file_is_an_output() {
    let folder = TestFolder::new();
    folder.put("data", "text");
    folder.does("seal @data --key-file @k");
    let outputs = [
        "-",
        #[cfg(unix)]
        "/dev/null --force",
        #[cfg(unix)]
        "@link --force",
    ];
    #[cfg(unix)]
    std::os::unix::fs::symlink("/dev/null", folder.path("link")).unwrap();
    for output in outputs {
        for verb in ["seal @data", "open @data.sealed"] {
            let command = format!("{verb} --key-file @k -o {output}");
            assert_eq!(folder.refuses(&command), "command-line", "{command}");
        }
    }
}

#[test]
fn a_file_that_comes_in_between_is_not_replaced() {
    let folder = TestFolder::new();
    folder.put("data", content(10));
    fs::create_dir(folder.path("things")).unwrap();
    folder.does("seal @data --key-file @k");
    folder.does("seal @things --key-file @k");
    for command in [
        "seal @data --key-file @k -o @out",
        "open @data.sealed --key-file @k -o @out",
        "open @things.sealed --key-file @k -o @out",
    ] {
        let written = || fs::write(folder.path("out"), "theirs").unwrap();
        let failure = folder.run_as(command, "", NEVER, &written).unwrap_err();
        assert_eq!(failure.code, "output-exists", "{command}");
        assert_eq!(folder.get("out"), b"theirs");
        fs::remove_file(folder.path("out")).unwrap();
        let names = ["data", "data.sealed", "k", "things", "things.sealed"];
        assert_eq!(folder.names(), names);
    }
}

#[test]
fn outputs_need_a_name_in_a_folder_that_exists() {
    let folder = TestFolder::new();
    folder.put("data", "x");
    let sealed = folder.does("seal @data --key-file @k -o @other");
    assert_eq!(sealed.output, folder.path("other"));
    folder.refuses_all([
        ("open @other --key-file @k", "command-line"),
        ("seal / --key-file @k", "command-line"),
        ("seal @data --key-file @k -o @no/folder", "output"),
        ("seal @nothing --key-file @k", "seal-input"),
        ("open @nothing --key-file @k -o @x", "seal-input"),
    ]);
}

#[test]
fn keys_that_are_none_are_refused() {
    let folder = TestFolder::new();
    folder.put("data", "x");
    folder.does("seal @data --key-file @k");
    folder.run("seal @data -o @typed", "words", NEVER).unwrap();
    folder.save_key("k2").unwrap();
    private_key(&folder.path("no-key"), "sealane-key-1:00\n");
    folder.refuses_all([
        (
            "open @data.sealed -o @out --key-file @k2",
            "sealed-wrong-key",
        ),
        (
            "open @data.sealed -o @out --key-file @no-key",
            "seal-key-file",
        ),
        (
            "open @data.sealed -o @out --key-file @nothing",
            "seal-key-file",
        ),
        ("open @typed -o @out --key-file @k", "sealed-wrong-key"),
        ("open @data.sealed -o @out", "sealed-wrong-key"),
        ("seal @data -o @out", "passphrase"),
    ]);
    // A key is never replaced.
    let before = folder.get("k");
    let again = folder.save_key("k");
    assert_eq!(again.unwrap_err().code, "seal-key-file");
    assert_eq!(folder.get("k"), before);
}

#[cfg(unix)]
#[test]
fn keys_and_what_was_opened_are_their_owners_alone() {
    use std::os::unix::fs::PermissionsExt;
    let folder = TestFolder::new();
    let mode = |name: &str| {
        let metadata = fs::metadata(folder.path(name)).unwrap();
        metadata.permissions().mode() & 0o777
    };
    folder.put("data", "x");
    folder.does("seal @data --key-file @k");
    folder.does("open @data.sealed --key-file @k -o @again");
    assert_eq!((mode("k"), mode("again")), (0o600, 0o600));
    assert_eq!(mode("data.sealed"), mode("data"));
    fs::set_permissions(folder.path("k"), fs::Permissions::from_mode(0o640)).unwrap();
    folder.refuses_all([("seal @data --key-file @k -o @out", "seal-key-file")]);
}

#[test]
fn whoever_asks_to_stop_finds_nothing_left() {
    let folder = TestFolder::new();
    folder.put("data", content(200_000));
    folder.does("seal @data --key-file @k");
    let before = folder.names();
    for command in [
        "seal @data --key-file @k -o @out",
        "open @data.sealed --key-file @k -o @out",
    ] {
        let stopped = folder.run(command, "", AT_ONCE).unwrap_err();
        assert_eq!(stopped.code, "interrupted");
        assert_eq!(folder.names(), before);
        sealane_testkit::page::shows("interrupted", &folder.reported(&stopped));
    }
}

#[test]
fn memory_that_nobody_has_is_an_error() {
    let failure = refusals::no_memory(1 << 20, &"memory allocation failed");
    sealane_testkit::page::shows("passphrase-memory", &failure.to_string());
}
