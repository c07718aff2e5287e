//! Text columns: the cells that are read, and the refusals with their positions.

use crate::common::{file, told};
use sealane_tables::Texts;

/// Returns the cells of the columns, or the error without the folder of the file.
fn read(content: &str, wanted: &[&str], columns: &[&str]) -> Result<Vec<Vec<String>>, String> {
    let (_folder, path) = file("people.csv", content.as_bytes());
    let texts = Texts::read(&path, wanted).map_err(|error| told(&error, &path))?;
    let cells = |name: &&str| {
        let column = texts.column(name).unwrap();
        column.iter().map(|cell| cell.to_string()).collect()
    };
    Ok(columns.iter().map(cells).collect())
}

#[test]
fn cells_are_texts_without_white_space_around_them() {
    let table = "\u{feff}n, mail \r\n1, a@b \r\n\r\n2,\"c, \"\"d\"\"\"\r\n";
    let mails = vec!["a@b".to_string(), "c, \"d\"".to_string()];
    assert_eq!(read(table, &["mail"], &["mail"]), Ok(vec![mails.clone()]));
    let numbers = vec!["1".to_string(), "2".to_string()];
    assert_eq!(read(table, &[], &["mail", "n"]), Ok(vec![mails, numbers]));
    assert_eq!(read("mail\n", &["mail"], &["mail"]), Ok(vec![vec![]]));
}

#[test]
fn columns_that_nobody_asked_for_are_left_alone() {
    let (_folder, path) = file("people.csv", "n,mail\ne\u{301},a\n,e\u{301}\n".as_bytes());
    let texts = Texts::read(&path, &["mail"]).unwrap();
    assert!(texts.column("n").is_none());
    assert_eq!(texts.column("mail").map(<[_]>::len), Some(2));
    assert_eq!(texts.decomposed, Some(2));
}

#[test]
fn what_is_missing_is_refused_with_its_place() {
    let refused = |content: &str| read(content, &["mail"], &[]).unwrap_err();
    let starts = |content: &str, text: &str| {
        let found = refused(content);
        assert!(found.starts_with(text), "{found}");
    };
    let empty = "error[data-null]: a cell in column `mail` is empty\n --> people.csv:3:3";
    starts("n,mail\n1,a\n2,  \n", empty);
    let twice = "error[data-column-twice]: people.csv has two columns `mail`";
    starts("n,mail,mail\n", twice);
    let malformed = |content: &str, what: &str| {
        starts(
            content,
            &format!("error[data-malformed]: people.csv {what}"),
        );
    };
    malformed("mail\na\n\nb\n", "has a blank line");
    malformed("n,mail\n1\n", "");
    // Otherwise the items that follow would be left out.
    let open = "has a quote that is never closed\n --> people.csv:2:3";
    malformed("n,mail\n1,\"a\n2,b\n", open);
    let behind = "has text behind a cell in quotes\n --> people.csv:2:6";
    malformed("n,mail\n1,\"a\"b\n", behind);
    let near = refused("n,Mail\n");
    assert!(near.contains("is it `Mail`?"), "{near}");
    starts("", "error[data-column-missing]");
}
