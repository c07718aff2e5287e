//! Texts that a program has found, for the party that learns them.

use super::STASH;
use sealane_diagnostic::Code;
use sealane_host::Failure;
use sealane_host::results::{SINGLE, marked};
use sealane_tables::Texts;
use sealane_terminal::print_line;
use serde_json::json;
use std::collections::BTreeMap;
use std::path::Path;
use zeroize::Zeroizing;

/// Prints the texts that the program has found, one a line.
///
/// # Errors
/// The result or the kept table cannot be read, or the two tables, or those of the two parties, do
/// not belong together.
pub fn print_matches(result: &Path, kept: &Path, json: bool) -> Result<(), Failure> {
    let common = common_texts(result, kept)?;
    if json {
        return print_line(json!({ "common": common }));
    }
    common.iter().try_for_each(print_line)
}

/// Returns the texts that the program has found, sorted. The kept table shows the method: it maps
/// items or bins to texts.
pub(super) fn common_texts(result: &Path, kept: &Path) -> Result<Vec<String>, Failure> {
    let keys = Texts::read(kept, &[])?;
    let texts = column(&keys, kept, "text")?;
    let found = Texts::read(result, &[])?;
    let common = match keys.column("item") {
        Some(items) => {
            check_agreement(&found, result)?;
            from_items(items, texts, &found)
        }
        None => {
            // Results without rows are in a file of their own.
            let single = marked(result, SINGLE);
            let rest = Texts::read(&single, &[])?;
            check_agreement(&rest, &single)?;
            let in_table = column(&found, result, "in_table")?.iter().enumerate();
            let in_table = in_table.map(|(bin, flag)| (bin.to_string(), flag.as_str()));
            let in_stash = column(&rest, &single, "in_stash")?.iter();
            let in_stash = in_stash.map(|flag| (STASH.to_string(), flag.as_str()));
            let bins = column(&keys, kept, "bin")?;
            from_bins(bins, texts, &in_table.chain(in_stash).collect())
        }
    };
    let common = common.ok_or_else(|| {
        let what = format!("{} does not belong to {}", result.display(), kept.display());
        let hint = "name what was kept when the tables of this run were prepared";
        let reason = "it names what was not prepared with it";
        Failure::new(Code::PsiSeed, what, hint).because(reason)
    })?;
    let mut common: Vec<String> = common.into_iter().map(str::to_string).collect();
    common.sort_unstable();
    Ok(common)
}

/// Returns the texts of the items that a result names, where 0 names none; `None` if one is
/// unknown.
fn from_items<'a>(
    items: &[Zeroizing<String>],
    texts: &'a [Zeroizing<String>],
    found: &Texts,
) -> Option<Vec<&'a str>> {
    let known = items.iter().map(|item| item.as_str()).zip(texts);
    let known: BTreeMap<&str, &Zeroizing<String>> = known.collect();
    let columns = (0..).map_while(|place| found.column(&format!("common_{place}")));
    let cells = columns.filter_map(|column| Some(column.first()?.as_str()));
    let named = cells.filter(|cell| *cell != "0");
    named.map(|item| Some(known.get(item)?.as_str())).collect()
}

/// Returns the texts of the bins and stash entries that a result flags; `None` if one is missing.
fn from_bins<'a>(
    bins: &[Zeroizing<String>],
    texts: &'a [Zeroizing<String>],
    flags: &BTreeMap<String, &str>,
) -> Option<Vec<&'a str>> {
    let mut common = Vec::new();
    for (bin, text) in bins.iter().zip(texts) {
        if *flags.get(bin.as_str())? == "1" {
            common.push(text.as_str());
        }
    }
    Some(common)
}

fn column<'a>(
    texts: &'a Texts,
    path: &Path,
    name: &str,
) -> Result<&'a [Zeroizing<String>], Failure> {
    texts.column(name).ok_or_else(|| {
        let what = format!("{} has no column `{name}`", path.display());
        let hint =
            "name what `--output` has written and, with `--kept`, what `psi prepare` has kept";
        Failure::new(Code::DataColumnMissing, what, hint)
    })
}

/// Refuses a result of parties that prepared under different agreements.
fn check_agreement(result: &Texts, path: &Path) -> Result<(), Failure> {
    let agreed = column(result, path, "agreed")?;
    if agreed.iter().all(|flag| flag.as_str() == "1") {
        return Ok(());
    }
    let what = "the two parties have prepared by different agreements";
    let hint = "prepare at both with the same `--seed`, `--size` and `--attempt`";
    let reason = "their items are hashed in different ways, so that no two of them are equal";
    Err(Failure::new(Code::PsiSeed, what, hint).because(reason))
}
