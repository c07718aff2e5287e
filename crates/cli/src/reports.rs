//! `sealane report`: the page of a run, and the list of runs.

use crate::args;
use sealane_diagnostic::{Code, one_line};
use sealane_host::Failure;
use sealane_host::record::{self, PAGE};
use sealane_page::Card;
use sealane_page::card::Column;
use sealane_page::run::{RunRecord, RunState, Summary};
use sealane_page::units::{date, seconds};
use sealane_terminal::{print_card, print_line};
use serde_json::json;
use std::io::{IsTerminal, Write, stderr, stdout};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Opens the page of a run, prints its path, or lists runs.
pub fn report(args: &args::ReportArgs) -> Result<(), Failure> {
    if args.list {
        return list(&args.runs, args.json);
    }
    let (folder, run) = match &args.run {
        Some(run) => {
            let folder = find(run, &args.runs)?;
            let run = record::read(&folder).map_err(unreadable(&folder))?;
            (folder, run)
        }
        None => latest(&args.runs)?,
    };
    let page = folder.join(PAGE);
    // The page in the folder is never opened as it is: its process may have been killed before it
    // wrote one, and a page from elsewhere can hold anything.
    record::rewrite_page(&folder, &run).map_err(unreadable(&folder))?;
    let page = page.canonicalize().unwrap_or(page);
    if args.json {
        let summary = run.summary();
        return print_line(json!({ "page": page, "folder": folder, "run": summary }));
    }
    if !args.print && stdout().is_terminal() && open(&page) {
        return print_line(format!("opened {}", page.display()));
    }
    print_line(page.display())
}

/// Lists the runs of a folder, the oldest first, with name and path of each.
fn runs(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten();
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    let runs = paths.filter(|path| record::is_run(path));
    let mut runs = runs.collect::<Vec<_>>();
    runs.sort();
    runs
}

/// Returns the latest run that can be read: a damaged one does not hide those before it.
fn latest(folder: &Path) -> Result<(PathBuf, RunRecord), Failure> {
    let found = runs(folder).into_iter().rev().find_map(readable);
    found.ok_or_else(|| {
        let what = format!("there is no run in {}", folder.display());
        let hint = "name a run, or with `--runs` the folder of runs; `sealane run` leaves one";
        Failure::new(Code::NoRun, what, hint)
    })
}

/// Finds the named run: a folder, or the beginning of a name in the folder of runs.
fn find(name: &str, folder: &Path) -> Result<PathBuf, Failure> {
    let path = Path::new(name);
    if record::is_run(path) {
        return Ok(path.to_path_buf());
    }
    let begins = |run: &PathBuf| {
        let of_run = run.file_name();
        of_run.is_some_and(|file| file.to_string_lossy().starts_with(name))
    };
    let mut found = runs(folder).into_iter().filter(begins).collect::<Vec<_>>();
    let (what, hint) = match (found.len(), found.pop()) {
        (1, Some(run)) => return Ok(run),
        (0, _) => {
            let what = format!("there is no run `{name}` in {}", folder.display());
            (what, "`sealane report --list` lists them")
        }
        (count, _) => {
            let what = format!("`{name}` is the beginning of {count} runs");
            (what, "write more of its name")
        }
    };
    Err(Failure::new(Code::NoRun, what, hint))
}

/// Reads the folder of a run; prints a note and returns `None` if it cannot be read.
fn readable(folder: PathBuf) -> Option<(PathBuf, RunRecord)> {
    match record::read(&folder) {
        Ok(run) => Some((folder, run)),
        Err(error) => {
            let left_out = format!("note: {} is left out: {error}", folder.display());
            let _ = writeln!(stderr(), "{}", one_line(&left_out));
            None
        }
    }
}

fn list(folder: &Path, json: bool) -> Result<(), Failure> {
    let read = |path: PathBuf| {
        let (path, run) = readable(path)?;
        let name = path.file_name()?.to_string_lossy().into_owned();
        Some((name, run.summary()))
    };
    let all = runs(folder).into_iter().filter_map(read);
    let all = all.collect::<Vec<_>>();
    let mut card = Card::new(format!("runs in {}", folder.display()));
    let names = [
        "run", "date", "program", "protocol", "parties", "state", "time",
    ];
    let row = |(name, run): &(String, Summary)| {
        let state = match run.state {
            RunState::Done if run.as_planned => "done",
            RunState::Done => "done, not as planned",
            RunState::Failed => "failed",
            RunState::Unfinished => "no end",
        };
        let cells = [
            name.clone(),
            run.started_unix_us.map_or(String::new(), date),
            run.program.clone(),
            run.protocol.clone(),
            run.parties.join(", "),
            state.to_string(),
            run.seconds.map_or(String::new(), seconds),
        ];
        cells.map(|cell| cell + " ").to_vec()
    };
    card.table(None, names.map(Column::text), all.iter().map(row));
    if all.is_empty() {
        card.lines("", ["none".to_string()]);
    }
    let value = |(name, run): &(String, Summary)| json!({ "name": name, "run": run });
    print_card(json, &card, &all.iter().map(value).collect())
}

/// Opens a page in the browser of this machine; returns whether that succeeded.
fn open(page: &Path) -> bool {
    let opener = match std::env::consts::OS {
        "macos" => "open",
        "windows" => "explorer",
        _ => "xdg-open",
    };
    // Without a display, `xdg-open` may start a browser in this terminal.
    let shown = |name: &str| std::env::var_os(name).is_some();
    if cfg!(target_os = "linux") && !shown("DISPLAY") && !shown("WAYLAND_DISPLAY") {
        return false;
    }
    let mut opener = Command::new(opener);
    opener.arg(page).stdin(Stdio::null());
    let opened = opener.stdout(Stdio::null()).stderr(Stdio::null()).status();
    opened.is_ok_and(|status| status.success())
}

fn unreadable(folder: &Path) -> impl FnOnce(std::io::Error) -> Failure {
    let what = format!("{} cannot be read as the folder of a run", folder.display());
    let hint = "name another run; `sealane report --list` lists them";
    move |error| Failure::new(Code::RunUnreadable, what, hint).because(error.to_string())
}
