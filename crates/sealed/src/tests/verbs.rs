//! What the verbs do with files, names and keys.

use super::*;

#[test]
fn files_come_back_by_both_modes_and_both_kinds_of_key() {
    for mode in ["gcm", "ocb3"] {
        for length in [0, 1, (64 << 10) - 1, 64 << 10, (64 << 10) + 1, 300_000] {
            let desk = Desk::new();
            desk.put("data", content(length));
            let done = desk.does(&format!("seal @data --key-file @k --mode {mode}"));
            assert_eq!(done.segments, length.div_ceil(64 << 10).max(1) as u64);
            let named = if mode == "gcm" { Mode::Gcm } else { Mode::Ocb3 };
            assert_eq!((done.amount.bytes, done.mode), (length as u64, named));
            let done = desk.does("open @data.sealed --key-file @k -o @again");
            assert_eq!(
                (done.amount.bytes, done.by_passphrase),
                (length as u64, false)
            );
            assert_eq!(desk.get("again"), content(length));
            let typed = |command: &str, text| desk.run(command, text, NEVER);
            let command = format!("seal @data -o @typed --mode {mode}");
            typed(&command, "correct horse").unwrap();
            let wrong = typed("open @typed -o @wrong", "correct hors").unwrap_err();
            assert_eq!(wrong.code, "sealed-wrong-key");
            let done = typed("open @typed -o @known", "correct horse").unwrap();
            assert!(done.by_passphrase);
            assert_eq!(desk.get("known"), content(length));
            assert_eq!(
                desk.names(),
                ["again", "data", "data.sealed", "k", "known", "typed"]
            );
        }
    }
}

#[test]
fn no_two_files_are_alike() {
    let desk = Desk::new();
    desk.put("data", content(100));
    desk.does("seal @data --key-file @k -o @one");
    desk.does("seal @data --key-file @k -o @two");
    let (one, two) = (desk.get("one"), desk.get("two"));
    assert_eq!(one.len(), two.len());
    assert_eq!(one[..28], two[..28]);
    let same = one[28..].iter().zip(&two[28..]).filter(|(a, b)| a == b);
    assert!(same.count() < 10);
}

#[test]
fn a_file_that_is_there_is_replaced_only_if_that_is_asked_for() {
    let desk = Desk::new();
    desk.put("data", "new");
    desk.put("data.sealed", "old");
    fs::create_dir(desk.path("folder")).unwrap();
    assert_eq!(desk.refuses("seal @data --key-file @k"), "output-exists");
    assert_eq!(desk.get("data.sealed"), b"old");
    desk.does("seal @data --key-file @k --force");
    assert_eq!(
        desk.refuses("open @data.sealed --key-file @k"),
        "output-exists"
    );
    desk.put("data", "older");
    desk.does("open @data.sealed --key-file @k --force");
    assert_eq!(desk.get("data"), b"new");
    for command in [
        "seal @data --key-file @k --force -o @folder",
        "open @data.sealed --key-file @k --force -o @folder",
    ] {
        assert_eq!(desk.refuses(command), "output-exists");
    }
}

#[test]
fn input_and_key_are_never_replaced() {
    let desk = Desk::new();
    desk.put("data", "text");
    desk.does("seal @data --key-file @k");
    let (key, sealed) = (desk.get("k"), desk.get("data.sealed"));
    for command in [
        "seal @data --key-file @k --force -o @k",
        "seal @data --key-file @k --force -o @data",
        "open @data.sealed --key-file @k --force -o @k",
        "open @data.sealed --key-file @k --force -o @data.sealed",
    ] {
        assert_eq!(desk.refuses(command), "command-line", "{command}");
    }
    assert_eq!((desk.get("k"), desk.get("data.sealed")), (key, sealed));
    assert_eq!(desk.get("data"), b"text");
}

#[test]
fn nothing_but_a_file_is_an_output() {
    let desk = Desk::new();
    desk.put("data", "text");
    desk.does("seal @data --key-file @k");
    let outputs = [
        "-",
        #[cfg(unix)]
        "/dev/null --force",
        #[cfg(unix)]
        "@link --force",
    ];
    #[cfg(unix)]
    std::os::unix::fs::symlink("/dev/null", desk.path("link")).unwrap();
    for output in outputs {
        for verb in ["seal @data", "open @data.sealed"] {
            let command = format!("{verb} --key-file @k -o {output}");
            assert_eq!(desk.refuses(&command), "command-line", "{command}");
        }
    }
}

#[test]
fn a_file_that_comes_in_between_is_not_replaced() {
    let desk = Desk::new();
    desk.put("data", content(10));
    fs::create_dir(desk.path("things")).unwrap();
    desk.does("seal @data --key-file @k");
    desk.does("seal @things --key-file @k");
    for command in [
        "seal @data --key-file @k -o @out",
        "open @data.sealed --key-file @k -o @out",
        "open @things.sealed --key-file @k -o @out",
    ] {
        let written = || fs::write(desk.path("out"), "theirs").unwrap();
        let failure = desk.run_as(command, "", NEVER, &written).unwrap_err();
        assert_eq!(failure.code, "output-exists", "{command}");
        assert_eq!(desk.get("out"), b"theirs");
        fs::remove_file(desk.path("out")).unwrap();
        assert_eq!(
            desk.names(),
            ["data", "data.sealed", "k", "things", "things.sealed"]
        );
    }
}

#[test]
fn outputs_need_a_name_in_a_folder_that_exists() {
    let desk = Desk::new();
    desk.put("data", "x");
    let sealed = desk.does("seal @data --key-file @k -o @other");
    assert_eq!(sealed.output, desk.path("other"));
    assert_eq!(desk.refuses("open @other --key-file @k"), "command-line");
    assert_eq!(desk.refuses("seal / --key-file @k"), "command-line");
    let missing = "seal @data --key-file @k -o @no/folder";
    assert_eq!(desk.refuses(missing), "output");
    assert_eq!(desk.refuses("seal @nothing --key-file @k"), "seal-input");
    assert_eq!(
        desk.refuses("open @nothing --key-file @k -o @x"),
        "seal-input"
    );
}

#[test]
fn keys_that_are_none_are_refused() {
    let desk = Desk::new();
    desk.put("data", "x");
    desk.does("seal @data --key-file @k");
    desk.run("seal @data -o @typed", "words", NEVER).unwrap();
    Master::generate().unwrap().save(&desk.path("k2")).unwrap();
    private_key(&desk.path("no-key"), "sealane-key-1:00\n");
    let with = |key: &str| desk.refuses(&format!("open @data.sealed -o @out --key-file @{key}"));
    assert_eq!(with("k2"), "sealed-wrong-key");
    assert_eq!(with("no-key"), "seal-key-file");
    assert_eq!(with("nothing"), "seal-key-file");
    assert_eq!(
        desk.refuses("open @typed -o @out --key-file @k"),
        "sealed-wrong-key"
    );
    assert_eq!(
        desk.refuses("open @data.sealed -o @out"),
        "sealed-wrong-key"
    );
    assert_eq!(desk.refuses("seal @data -o @out"), "passphrase");
    // A key is never replaced.
    let before = desk.get("k");
    let again = Master::generate().unwrap().save(&desk.path("k"));
    assert_eq!(again.unwrap_err().code, "seal-key-file");
    assert_eq!(desk.get("k"), before);
}

#[cfg(unix)]
#[test]
fn keys_and_what_was_opened_are_their_owners_alone() {
    use std::os::unix::fs::PermissionsExt;
    let desk = Desk::new();
    let mode = |name: &str| fs::metadata(desk.path(name)).unwrap().permissions().mode() & 0o777;
    desk.put("data", "x");
    desk.does("seal @data --key-file @k");
    desk.does("open @data.sealed --key-file @k -o @again");
    assert_eq!((mode("k"), mode("again")), (0o600, 0o600));
    assert_eq!(mode("data.sealed"), mode("data"));
    fs::set_permissions(desk.path("k"), fs::Permissions::from_mode(0o640)).unwrap();
    assert_eq!(
        desk.refuses("seal @data --key-file @k -o @out"),
        "seal-key-file"
    );
}

#[test]
fn whoever_asks_to_stop_finds_nothing_left() {
    let desk = Desk::new();
    desk.put("data", content(200_000));
    desk.does("seal @data --key-file @k");
    let before = desk.names();
    for command in [
        "seal @data --key-file @k -o @out",
        "open @data.sealed --key-file @k -o @out",
    ] {
        let stopped = desk.run(command, "", AT_ONCE).unwrap_err();
        assert_eq!(stopped.code, "interrupted");
        assert_eq!(desk.names(), before);
        sealane_testkit::page::shows("interrupted", &desk.told(&stopped));
    }
}

#[test]
fn memory_that_nobody_has_is_an_error() {
    let failure = faults::no_memory(1 << 20, &"memory allocation failed");
    sealane_testkit::page::shows("passphrase-memory", &failure.to_string());
}
