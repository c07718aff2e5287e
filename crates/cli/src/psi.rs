//! Private set intersection: `psi prepare` makes the inputs of a program from a column of texts,
//! and `psi match` (in `found`) lists the texts that the program has found.
//!
//! Inputs are ordinary CSV tables. The mapping from items or bins back to texts, which the receiver
//! needs to read the result, stays in `kept.csv`.

mod found;
#[cfg(test)]
mod tests;

use crate::args::{PsiMethod, PsiPrepareArgs, PsiSide, PsiVerb};
use sealane_block::Coins;
use sealane_diagnostic::Code;
use sealane_files::{NewFile, Rights, Taken};
use sealane_host::Failure;
use sealane_page::{Card, View};
use sealane_psi::{Agreement, Items, TRIES, Unfit, phased, shuffled};
use sealane_tables::{Texts, decomposed_note};
use sealane_terminal::print_view;
use serde::Serialize;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use zeroize::Zeroizing;

/// Name of the file that stays at the receiver.
const KEPT: &str = "kept.csv";

/// Name of a stash entry in that file.
const STASH: &str = "stash";

/// Runs `psi prepare` or `psi match`.
pub fn psi(verb: &PsiVerb) -> Result<(), Failure> {
    match verb {
        PsiVerb::Prepare(args) => print_view(args.json, &prepare(args)?),
        PsiVerb::Match { result, kept, json } => found::print_matches(result, kept, *json),
    }
}

/// Tables in memory, by the name of their file.
type Tables = Vec<(&'static str, Zeroizing<String>)>;

/// Writes the tables, and describes them.
fn prepare(args: &PsiPrepareArgs) -> Result<Prepared, Failure> {
    let read = Texts::read(&args.file, &[&args.column])?;
    let texts = read.column(&args.column).unwrap_or_default();
    let mut coins = coins()?;
    let mut made = |agreement: &Agreement| {
        let items = Items::new(agreement, texts.iter().map(|text| text.as_str()))?;
        let tables = match (args.method, args.side) {
            (PsiMethod::Shuffled, PsiSide::Receiver) => shuffled_receiver(&items)?,
            (PsiMethod::Shuffled, PsiSide::Sender) => shuffled_sender(&items, &mut coins)?,
            (PsiMethod::Phased, PsiSide::Receiver) => phased_receiver(&items)?,
            (PsiMethod::Phased, PsiSide::Sender) => phased_sender(&items)?,
        };
        Ok((tables, items.count(), items.repeated()))
    };
    // A tensor is halved repeatedly, so its length has to be a power of two.
    let size = match args.method {
        PsiMethod::Shuffled => (args.size as usize).next_power_of_two(),
        PsiMethod::Phased => args.size as usize,
    };
    let agreement = Agreement::new(&args.seed, size, args.attempt.unwrap_or(0));
    let prepared = agreement.and_then(|agreement| match args.attempt {
        Some(_) => Ok((agreement.clone(), made(&agreement)?)),
        None => sealane_psi::fit(&agreement, made),
    });
    let (agreement, (tables, items, repeated)) = prepared.map_err(|unfit| refused(unfit, args))?;
    let files = write(args, &tables)?;
    let note = read.decomposed;
    let note = note.map(|row| decomposed_note(&args.column, row));
    let bins = (args.method == PsiMethod::Phased).then(|| {
        let sizes = phased::sizes(&agreement);
        let (stored, bins, load) = (sizes.stored, sizes.bins, sizes.load);
        Bins { stored, bins, load }
    });
    let kept = (args.side == PsiSide::Receiver).then(|| args.folder.join(KEPT));
    Ok(Prepared {
        items,
        repeated,
        size: agreement.size(),
        width: agreement.width(),
        attempt: agreement.attempt(),
        tag: agreement.tag(),
        files,
        bins,
        notes: note.into_iter().collect(),
        source: args.file.clone(),
        kept,
    })
}

/// Tables of the receiver for `shuffled`: a single row with the tag and the list.
fn shuffled_receiver(items: &Items<'_>) -> Result<Tables, Unfit> {
    let list = shuffled::receiver(items)?;
    let input = row(items, &[("item", &list)]);
    let kept = items.iter().map(|(item, text)| (item.to_string(), text));
    Ok(vec![("input.csv", input), (KEPT, kept_table("item", kept))])
}

/// Tables of the sender for `shuffled`: a single row with the tag, the list, and the switches
/// column by column.
fn shuffled_sender(items: &Items<'_>, coins: &mut Coins) -> Result<Tables, Unfit> {
    let sender = shuffled::sender(items, coins)?;
    let columns = shuffled::columns(items.agreement().size(), &sender.switches);
    let switches = columns.iter().flat_map(|column| column.iter());
    let switches = switches.map(|&switch| u64::from(switch));
    let switches = Zeroizing::new(switches.collect::<Vec<_>>());
    let input = row(items, &[("item", &sender.list), ("switch", &switches)]);
    Ok(vec![("input.csv", input)])
}

/// Tables of the receiver for `phased`: the hash table with a line for each bin, and a single row
/// with the tag and the stash.
fn phased_receiver(items: &Items<'_>) -> Result<Tables, Unfit> {
    let receiver = phased::receiver(items)?;
    let table = table("held", receiver.table.iter().map(u64::to_string));
    let stash = row(items, &[("stash", &receiver.stash)]);
    let bins = receiver.texts.iter().enumerate();
    let bins = bins.filter_map(|(bin, text)| Some((bin.to_string(), (*text)?)));
    let left = receiver.stash_texts.iter().flatten();
    let left = left.map(|&text| (STASH.to_string(), text));
    let kept = (KEPT, kept_table("bin", bins.chain(left)));
    Ok(vec![("table.csv", table), ("stash.csv", stash), kept])
}

/// Tables of the sender for `phased`: the bins with a line for each, and a single row with the tag
/// and all items.
fn phased_sender(items: &Items<'_>) -> Result<Tables, Unfit> {
    let sender = phased::sender(items)?;
    let load = phased::sizes(items.agreement()).load;
    let names = (0..load).map(|place| format!("candidate_{place}"));
    let names: Vec<String> = names.collect();
    let bins = table(&names.join(","), sender.bins.iter().map(|bin| cells(bin)));
    let all = row(items, &[("item", &sender.items)]);
    Ok(vec![("bins.csv", bins), ("items.csv", all)])
}

/// Formats a table of a single row: the tag of the agreement, then lists, a column for each number.
fn row(items: &Items<'_>, lists: &[(&str, &[u64])]) -> Zeroizing<String> {
    let mut names = vec!["tag".to_string()];
    let mut numbers = Zeroizing::new(vec![items.agreement().tag()]);
    for (name, list) in lists {
        names.extend((0..list.len()).map(|place| format!("{name}_{place}")));
        numbers.extend_from_slice(list);
    }
    table(&names.join(","), [cells(&numbers)])
}

fn cells(numbers: &[u64]) -> String {
    let cells: Vec<String> = numbers.iter().map(u64::to_string).collect();
    cells.join(",")
}

/// Formats a table with this header and these lines.
fn table(header: &str, lines: impl IntoIterator<Item = String>) -> Zeroizing<String> {
    let mut table = Zeroizing::new(format!("{header}\n"));
    for line in lines {
        table.push_str(&line);
        table.push('\n');
    }
    table
}

/// Formats the table from items or bins to texts, each text in quotes.
fn kept_table<'a>(name: &str, kept: impl Iterator<Item = (String, &'a str)>) -> Zeroizing<String> {
    let line = |(key, text): (String, &str)| format!("{key},\"{}\"", text.replace('"', "\"\""));
    table(&format!("{name},text"), kept.map(line))
}

/// Writes tables that only their owner can read.
fn write(args: &PsiPrepareArgs, tables: &Tables) -> Result<Vec<PathBuf>, Failure> {
    let hint = "name a folder that can be written to, `--folder FOLDER`";
    let cannot = |path: &Path, reason: String| {
        let what = format!("cannot write {}", path.display());
        Failure::new(Code::Output, what, hint).because(reason)
    };
    let failed = |path: &Path, error: io::Error| cannot(path, error.to_string());
    fs::create_dir_all(&args.folder).map_err(|error| failed(&args.folder, error))?;
    let paths = tables.iter().map(|(name, _)| args.folder.join(name));
    let paths: Vec<PathBuf> = paths.collect();
    let mut sources = paths.iter();
    if let Some(path) = sources.find(|path| sealane_files::same(path, &args.file)) {
        let reason = "it is the file that the items come from";
        return Err(cannot(path, reason.to_string()));
    }
    // All files are written before any is renamed, since tables of two attempts do not belong
    // together.
    let written = paths.iter().zip(tables).map(|(path, (_, text))| {
        let file = NewFile::begin(path, Rights::AsBefore, Taken::Replace);
        let file = file.and_then(|mut file| file.write_all(text.as_bytes()).map(|()| file));
        file.map_err(|error| failed(path, error))
    });
    for (path, file) in paths.iter().zip(written.collect::<Result<Vec<_>, _>>()?) {
        file.keep().map_err(|error| failed(path, error))?;
    }
    Ok(paths)
}

/// Prepared tables, and the values that the other party and the program have to share.
#[derive(Serialize)]
struct Prepared {
    items: usize,
    /// Cells that repeat an item.
    repeated: usize,
    size: usize,
    width: usize,
    attempt: u32,
    tag: u64,
    files: Vec<PathBuf>,
    #[serde(flatten)]
    bins: Option<Bins>,
    notes: Vec<String>,
    /// The file of the items, and the one that stays at the receiver; the card alone shows them.
    #[serde(skip)]
    source: PathBuf,
    #[serde(skip)]
    kept: Option<PathBuf>,
}

/// Constants of the method `phased`.
#[derive(Serialize)]
struct Bins {
    stored: usize,
    bins: usize,
    load: usize,
}

impl View for Prepared {
    fn card(&self) -> Card {
        let (items, file) = (self.items, self.source.display());
        let mut card = Card::new(format!("{items} items of {file}, prepared"));
        let repeated = (self.repeated > 0).then_some(self.repeated);
        let repeated = repeated.map(|cells| format!("{cells} cells, which count once"));
        card.lines("repeated", repeated);
        let (size, width, attempt) = (self.size, self.width, self.attempt);
        let mut constants = format!("SIZE = {size}, WIDTH = {width}");
        if let Some(Bins { stored, bins, load }) = &self.bins {
            constants += &format!(", STORED = {stored}, BINS = {bins}, LOAD = {load}");
        }
        card.line("the program", constants);
        let agreed = format!("--size {size} --attempt {attempt}, and the same seed");
        card.line("both parties", agreed);
        let chance = "2^-40 at most, for any two items of the two sets";
        card.line("false match", chance);
        let files = self.files.iter();
        card.lines("files", files.map(|path| path.display().to_string()));
        let kept = self.kept.iter().map(|path| path.display().to_string());
        card.lines("stays here", kept);
        card.lines("note", self.notes.iter().cloned());
        card
    }
}

/// Converts the refusal of a set into a diagnostic with a hint.
fn refused(unfit: Unfit, args: &PsiPrepareArgs) -> Failure {
    let file = args.file.display();
    let what = format!("{file}: {unfit}");
    if !unfit.is_of_the_attempt() {
        let reason = "the other party has prepared for sets of this size, and no item is dropped";
        let hint = "agree on a larger `--size`, and prepare at both";
        return Failure::new(Code::PsiSize, what, hint).because(reason);
    }
    let (tried, hint) = match args
        .attempt
        .map(|attempt| (attempt, attempt.saturating_add(1)))
    {
        Some((attempt, next)) => {
            let hint = format!("prepare at both with `--attempt {next}`");
            (format!("attempt {attempt}"), hint)
        }
        None => {
            let hint = "agree on another `--seed` or a larger `--size`, and prepare at both";
            (format!("each of {TRIES} attempts"), hint.to_string())
        }
    };
    let reason = format!("it was so with {tried}, and no item is dropped");
    Failure::new(Code::PsiAttempt, what, hint).because(reason)
}

fn coins() -> Result<Coins, Failure> {
    Coins::from_os().map_err(|error| {
        let hint = "see that the operating system gives random numbers";
        Failure::new(Code::NoRandomness, error.to_string(), hint)
    })
}
