//! Both methods from two CSV files to the texts in common. The tests compute the part of the
//! program in the clear, cell by cell.

use super::*;
use crate::args::{Cli, PsiArgs, Verb};
use clap::Parser;
use std::collections::BTreeSet;
use tempfile::TempDir;

/// A party with these items, in a folder of its own.
struct Party {
    folder: TempDir,
    args: PsiPrepareArgs,
}

impl Party {
    fn new(method: PsiMethod, side: PsiSide, items: &[String]) -> Party {
        let folder = TempDir::new().unwrap();
        let file = folder.path().join("people.csv");
        let lines: String = items.iter().map(|item| format!("1,\"{item}\"\n")).collect();
        fs::write(&file, format!("n, email \n{lines}")).unwrap();
        let args = PsiPrepareArgs {
            file,
            column: "email".to_string(),
            method,
            side,
            seed: "a seed".to_string(),
            size: 100,
            attempt: None,
            folder: folder.path().join("prepared"),
            json: false,
        };
        Party { folder, args }
    }

    fn prepare(&self) -> Result<(), Failure> {
        prepare(&self.args).map(|_| ())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.args.folder.join(name)
    }

    /// The cells of a table, without its header.
    fn cells(&self, name: &str) -> Vec<Vec<String>> {
        let text = fs::read_to_string(self.path(name)).unwrap();
        let line = |line: &str| line.split(',').map(str::to_string).collect();
        text.lines().skip(1).map(line).collect()
    }

    fn refused(&self) -> Failure {
        self.prepare().unwrap_err()
    }

    /// Text of a failure without the path of the folder.
    fn reported(&self, failure: &Failure) -> String {
        let folder = format!("{}/", self.folder.path().display());
        failure.to_string().replace(&folder, "")
    }

    fn common(&self) -> Result<Vec<String>, Failure> {
        found::common_texts(&self.path("found.csv"), &self.path(KEPT))
    }
}

fn people(numbers: impl Iterator<Item = usize>) -> Vec<String> {
    // A comma and quotes, doubled as CSV wants them in the file of a user.
    let person = |i| format!("\"\"Ann\"\" {i}, p{i}@example.org");
    numbers.map(person).collect()
}

/// A shelter with 0 to 59, some of them twice, and a kitchen with 40 to 99.
fn parties(method: PsiMethod) -> (Party, Party) {
    let first = people((0..60).chain(30..50));
    let receiver = Party::new(method, PsiSide::Receiver, &first);
    let sender = Party::new(method, PsiSide::Sender, &people(40..100));
    (receiver, sender)
}

fn wanted() -> Vec<String> {
    let common = people(40..60).into_iter();
    common.map(|text| text.replace("\"\"", "\"")).collect()
}

/// Result of the shuffled program.
fn shuffled_result(receiver: &Party, sender: &Party) {
    let (ours, theirs) = (receiver.cells("input.csv"), sender.cells("input.csv"));
    // The tag, 128 items, and 13 columns of 64 switches.
    assert_eq!((ours[0].len(), theirs[0].len()), (129, 129 + 13 * 64));
    let items: BTreeSet<&String> = theirs[0][1..129].iter().collect();
    let common = |item: &&String| items.contains(*item);
    let found = ours[0][1..].iter().map(|item| Some(item).filter(common));
    let found = found.map(|item| item.map_or("0", |item| item.as_str()));
    let names: Vec<String> = (0..128).map(|place| format!("common_{place}")).collect();
    let found: Vec<&str> = found.collect();
    let agreed = u8::from(ours[0][0] == theirs[0][0]);
    let result = format!("{},agreed\n{},{agreed}\n", names.join(","), found.join(","));
    fs::write(receiver.path("found.csv"), result).unwrap();
}

/// Result of the phased program.
fn phased_result(receiver: &Party, sender: &Party) {
    let (table, bins) = (receiver.cells("table.csv"), sender.cells("bins.csv"));
    assert_eq!((table.len(), bins.len()), (120, 120));
    let flags = table.iter().zip(&bins);
    let flags = flags.map(|(held, others)| u8::from(others.contains(&held[0])));
    let flags: String = flags.map(|flag| format!("{flag}\n")).collect();
    fs::write(receiver.path("found.csv"), format!("in_table\n{flags}")).unwrap();
    let (stash, items) = (receiver.cells("stash.csv"), sender.cells("items.csv"));
    let in_stash = u8::from(items[0][1..].contains(&stash[0][1]));
    let agreed = u8::from(items[0][0] == stash[0][0]);
    let single = format!("in_stash,agreed\n{in_stash},{agreed}\n");
    fs::write(receiver.path("found.single.csv"), single).unwrap();
}

type Learn = fn(&Party, &Party);

const METHODS: [(PsiMethod, Learn); 2] = [
    (PsiMethod::Shuffled, shuffled_result),
    (PsiMethod::Phased, phased_result),
];
#[test]
fn both_methods_find_what_both_have() {
    for (method, reveal) in METHODS {
        let (receiver, sender) = parties(method);
        receiver.prepare().unwrap();
        sender.prepare().unwrap();
        assert!(!sender.path(KEPT).exists());
        reveal(&receiver, &sender);
        assert_eq!(receiver.common().unwrap(), wanted());
    }
}

#[test]
fn parties_that_did_not_prepare_alike_are_reported() {
    for (method, reveal) in METHODS {
        let (receiver, mut sender) = parties(method);
        sender.args.seed = "a sead".to_string();
        receiver.prepare().unwrap();
        sender.prepare().unwrap();
        reveal(&receiver, &sender);
        let failure = receiver.common().unwrap_err();
        sealane_testkit::page::shows("psi-seed", &receiver.reported(&failure));
        assert_eq!(failure.status(), 4);
    }
}

#[test]
fn a_result_of_other_tables_is_refused() {
    let (mut receiver, sender) = parties(PsiMethod::Shuffled);
    receiver.prepare().unwrap();
    sender.prepare().unwrap();
    shuffled_result(&receiver, &sender);
    receiver.args.seed = "another".to_string();
    receiver.prepare().unwrap();
    let failure = receiver.reported(&receiver.common().unwrap_err());
    let reported = "error[psi-seed]: prepared/found.csv does not belong to prepared/kept.csv";
    assert!(failure.starts_with(reported), "{failure}");
}

#[test]
fn a_set_that_is_too_large_is_refused() {
    let (mut receiver, _) = parties(PsiMethod::Phased);
    receiver.args.size = 59;
    sealane_testkit::page::shows("psi-size", &receiver.reported(&receiver.refused()));
    assert!(!receiver.args.folder.exists());
}

#[test]
fn an_attempt_that_does_not_fit_is_refused_and_the_next_one_is_named() {
    let (mut receiver, _) = parties(PsiMethod::Phased);
    receiver.args.size = 60;
    // About one attempt in 300 leaves two items of sixty without a bin.
    let failure = (0..10_000).find_map(|attempt| {
        receiver.args.attempt = Some(attempt);
        receiver.prepare().err()
    });
    let failure = receiver.reported(&failure.expect("one does not fit"));
    sealane_testkit::page::shows("psi-attempt", &failure);
    let named = format!("`--attempt {}`", receiver.args.attempt.unwrap() + 1);
    assert!(failure.contains(&named), "{failure}");
}

#[test]
fn an_item_that_is_missing_is_refused_with_its_place() {
    let (receiver, _) = parties(PsiMethod::Phased);
    fs::write(&receiver.args.file, "n,email\n1,ann\n2, \n3,ben\n").unwrap();
    let failure = receiver.reported(&receiver.refused());
    let reported = "error[data-null]: a cell in column `email` is empty\n --> people.csv:3:3";
    assert!(failure.starts_with(reported), "{failure}");
    fs::write(&receiver.args.file, "n,Email\n1,ann\n").unwrap();
    let failure = receiver.refused().finding().code;
    assert_eq!(failure, "data-column-missing");
}

#[test]
fn the_table_of_the_user_is_not_written_over() {
    let (_, mut sender) = parties(PsiMethod::Phased);
    let file = sender.folder.path().join("items.csv");
    fs::rename(&sender.args.file, &file).unwrap();
    let before = fs::read(&file).unwrap();
    sender.args.file = sender.folder.path().join(".").join("items.csv");
    sender.args.folder = sender.folder.path().to_path_buf();
    let failure = sender.reported(&sender.refused());
    let first = failure.lines().next().unwrap();
    assert_eq!(first, "error[output]: cannot write items.csv");
    assert_eq!(fs::read(&file).unwrap(), before);
    assert!(!sender.path("bins.csv").exists());
}

#[test]
fn the_command_line_says_what_to_prepare() {
    let line = |size: &str| {
        let line = format!(
            "sealane psi prepare a.csv --column email --method phased --side sender --seed s \
             --size {size} --attempt 2"
        );
        let words: Vec<&str> = line.split(' ').collect();
        Cli::try_parse_from(words).ok()
    };
    let Some(Verb::Psi(PsiArgs {
        verb: PsiVerb::Prepare(args),
    })) = line("256").map(|cli| cli.verb)
    else {
        panic!("it is a command to prepare");
    };
    assert_eq!(args.method, PsiMethod::Phased);
    assert_eq!(args.side, PsiSide::Sender);
    assert_eq!((args.size, args.attempt), (256, Some(2)));
    assert!(line("4096").is_some());
    assert!(line("0").is_none() && line("4097").is_none());
}
