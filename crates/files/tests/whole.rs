//! A name has the old content or the new one, never a part; and nothing else is left in the folder.

use sealane_files::{NewFile, Rights, Taken, UNFINISHED, create, replace, same};
use std::fs;
use std::io::{ErrorKind, Write};
use std::path::Path;

pub fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names = names.collect::<Vec<_>>();
    names.sort();
    names
}

#[test]
fn the_name_is_given_at_the_end() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out");
    fs::write(&path, "old").unwrap();
    let mut file = NewFile::begin(&path, Rights::AsBefore, Taken::Replace).unwrap();
    file.write_all(b"new").unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"old");
    let others = names(folder.path());
    assert!(others[0].starts_with(UNFINISHED), "{others:?}");
    assert_eq!(others.len(), 2);
    file.keep().unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"new");
    assert_eq!(names(folder.path()), ["out"]);
}

#[test]
fn what_is_not_kept_goes_away() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out");
    for content in [None, Some("old")] {
        if let Some(content) = content {
            fs::write(&path, content).unwrap();
        }
        let mut file = NewFile::begin(&path, Rights::Usual, Taken::Replace).unwrap();
        file.write_all(b"half").unwrap();
        drop(file);
        assert_eq!(fs::read_to_string(&path).ok().as_deref(), content);
        assert_eq!(names(folder.path()).len(), usize::from(content.is_some()));
    }
}

#[test]
fn a_name_that_is_taken_stays_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out");
    // Taken from the beginning, and taken in between.
    create(&path, Rights::Owner, b"first").unwrap();
    let refused = create(&path, Rights::Owner, b"second").unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::AlreadyExists);
    let other = folder.path().join("other");
    let late = NewFile::begin(&other, Rights::Owner, Taken::Refuse).unwrap();
    fs::write(&other, "in between").unwrap();
    assert_eq!(late.keep().unwrap_err().kind(), ErrorKind::AlreadyExists);
    assert_eq!(fs::read(&path).unwrap(), b"first");
    assert_eq!(fs::read(&other).unwrap(), b"in between");
    assert_eq!(names(folder.path()), ["other", "out"]);
}

#[test]
fn folders_are_never_replaced_and_missing_ones_not_made() {
    let folder = tempfile::tempdir().unwrap();
    let kind = |path: &Path| replace(path, Rights::Usual, b"").unwrap_err().kind();
    assert_eq!(kind(folder.path()), ErrorKind::IsADirectory);
    assert_eq!(kind(&folder.path().join("none/out")), ErrorKind::NotFound);
}

#[cfg(unix)]
mod unix {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, symlink};

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn rights_are_what_was_asked_for() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        replace(&path("owner"), Rights::Owner, b"").unwrap();
        replace(&path("before"), Rights::AsBefore, b"").unwrap();
        replace(&path("usual"), Rights::Usual, b"").unwrap();
        fs::write(path("any"), "").unwrap();
        assert_eq!(
            ["owner", "before"].map(|name| mode(&path(name))),
            [0o600; 2]
        );
        assert_eq!(mode(&path("usual")), mode(&path("any")));
        fs::set_permissions(path("any"), fs::Permissions::from_mode(0o664)).unwrap();
        replace(&path("any"), Rights::AsBefore, b"").unwrap();
        assert_eq!(mode(&path("any")), 0o664);
        replace(&path("any"), Rights::Owner, b"").unwrap();
        assert_eq!(mode(&path("any")), 0o600);
    }

    /// The administrator may write to any file, and all others only to those that let them.
    #[test]
    fn a_file_that_must_not_be_written_to_is_not_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out");
        fs::write(&path, "old").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o400)).unwrap();
        let may = fs::OpenOptions::new().write(true).open(&path).is_ok();
        assert_eq!(replace(&path, Rights::AsBefore, b"new").is_ok(), may);
        let content: &[u8] = if may { b"new" } else { b"old" };
        assert_eq!(fs::read(&path).unwrap(), content);
        assert_eq!(mode(&path), 0o400);
    }

    #[test]
    fn a_link_stays_one_and_leads_to_the_new_content() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::create_dir(path("inner")).unwrap();
        symlink("inner/file", path("link")).unwrap();
        symlink("link", path("second")).unwrap();
        for content in ["new where nothing was", "new where something was"] {
            replace(&path("second"), Rights::AsBefore, content.as_bytes()).unwrap();
            assert_eq!(fs::read_to_string(path("inner/file")).unwrap(), content);
        }
        assert!(fs::symlink_metadata(path("link")).unwrap().is_symlink());
        assert!(same(&path("second"), &path("inner/file")));
        assert!(!same(&path("second"), &path("inner")) && !same(&path("none"), &path("none")));
        // Where nothing is to be replaced, a link counts as an existing file.
        assert!(create(&path("link"), Rights::Owner, b"").is_err());
        symlink("round", path("round")).unwrap();
        assert!(replace(&path("round"), Rights::Owner, b"").is_err());
    }

    #[test]
    fn a_device_is_written_to_and_stays() {
        use std::os::unix::fs::FileTypeExt;
        replace(Path::new("/dev/null"), Rights::AsBefore, b"gone").unwrap();
        let there = fs::symlink_metadata("/dev/null").unwrap();
        assert!(there.file_type().is_char_device());
    }

    /// A disk on which everything is full: writing fails, and nothing was there before.
    #[cfg(target_os = "linux")]
    #[test]
    fn a_full_disk_is_reported() {
        let error = replace(Path::new("/dev/full"), Rights::AsBefore, b"x").unwrap_err();
        assert_eq!(error.kind(), ErrorKind::StorageFull);
    }
}
