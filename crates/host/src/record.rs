//! Record of a run: a folder with its plan, events and report.
//!
//! ```text
//! runs/20260314-153012-347-k3x9Qa/       one run; names sort by time
//!     plan.json                          what `plan --json` says, with the rows of the run
//!     events.jsonl                       what happened, as it happens
//!     report.json                        what it came to
//!     report.html                        one page, which needs nothing else
//!     hospital/ lab/                     where all parties ran here: each one's own four files
//! ```
//!
//! A run begins when its job is approved and its inputs are read; a failure before that leaves no
//! record. No value of anybody's data is in these files, results included: results go where
//! `--output` says. Folder and files can be read only by their owner. A folder that cannot be
//! written causes a warning and never costs a result.

use crate::view;
use sealane_diagnostic::Diagnostic;
use sealane_engine::events::{Event, Record};
use sealane_engine::{Job, Observer};
use sealane_files::{Accept, Rights, read_text};
use sealane_page::plan::PlanRecord;
use sealane_page::{RunRecord, View as _};
use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Write, stderr};
use std::path::{Component, Path, PathBuf};
use std::time::SystemTime;

/// Longest file of a record that is read.
const MOST_BYTES: u64 = 1 << 28;

/// Default folder of the records of runs.
pub const RUNS: &str = "runs";

const PLAN: &str = "plan.json";
const EVENTS: &str = "events.jsonl";
const REPORT: &str = "report.json";

/// Name of the page of a run.
pub const PAGE: &str = "report.html";

/// Record of a run in progress.
pub struct Recording {
    folder: PathBuf,
    /// Notes about the numbers of the program.
    notes: Vec<String>,
}

impl Recording {
    /// Creates a new folder in `runs` for a run of `job`, about whose numbers there are `notes`.
    /// `None`, after a warning, if that fails.
    pub fn begin(runs: &Path, job: &Job, notes: &[String]) -> Option<Recording> {
        let folder = make_folder(runs).and_then(|()| {
            let name = format!("{}-", stamp());
            let mut builder = tempfile::Builder::new();
            builder.prefix(&name).rand_bytes(6);
            #[cfg(unix)]
            builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700));
            let folder = builder.tempdir_in(runs)?;
            Ok(folder.keep())
        });
        Recording::of(folder, runs, job, notes)
    }

    /// Uses an existing folder without a record, of a run or of one party of it.
    pub fn in_folder(folder: &Path, job: &Job, notes: &[String]) -> Option<Recording> {
        let made = make_folder(folder).map(|()| folder.to_path_buf());
        Recording::of(made, folder, job, notes)
    }

    /// Creates the folder of one of the parties that all run here.
    pub fn party(&self, name: &str, job: &Job) -> Option<Recording> {
        Recording::in_folder(&self.party_folder(name), job, &self.notes)
    }

    /// Returns the path of the folder of a party.
    pub fn party_folder(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// Returns the path of the folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Opens the file of events.
    pub fn events(&self) -> Option<Events> {
        let path = self.folder.join(EVENTS);
        let file = growing(&path).inspect_err(|error| warn(&path, error));
        let (file, error) = (Some(file.ok()?), None);
        Some(Events { path, file, error })
    }

    /// Writes the report and the page at the end of a run.
    pub fn end(&self, job: &Job) {
        let written = read_sides(&self.folder, job.parties()).and_then(|sides| {
            let mut records = sides.iter().flatten();
            let agreed = records.find_map(|record| match &record.event {
                Event::Agreed { rows, .. } => Some(rows.iter().map(|(_, count)| *count)),
                _ => None,
            });
            let rows = agreed.map_or_else(|| job.bounds(), Iterator::collect);
            let plan = self.write_plan(job, &rows)?;
            write_page(&self.folder, &RunRecord::new(plan, sides))
        });
        if let Err(error) = written {
            warn(&self.folder, &error);
        }
    }

    /// Creates the record with the plan in it, at the bounds of the row counts until they are
    /// known.
    fn of(
        folder: io::Result<PathBuf>,
        asked: &Path,
        job: &Job,
        notes: &[String],
    ) -> Option<Recording> {
        let begun = folder.and_then(|folder| {
            let notes = notes.to_vec();
            let recording = Recording { folder, notes };
            recording.write_plan(job, &job.bounds())?;
            Ok(recording)
        });
        begun.inspect_err(|error| warn(asked, error)).ok()
    }

    /// Writes the plan at these row counts, as `sealane plan` states it.
    fn write_plan(&self, job: &Job, rows: &[u64]) -> io::Result<PlanRecord> {
        let cost = job.cost(rows).map_err(io::Error::other)?;
        let effort = sealane_engine::warnings(job, &cost);
        let effort = effort.iter().map(Diagnostic::line);
        let notes = self.notes.iter().cloned().chain(effort);
        let plan = view::plan(job, &cost, &notes.collect::<Vec<_>>());
        write(&self.folder.join(PLAN), &format!("{:#}\n", plan.json()))?;
        Ok(plan)
    }
}

/// Observer that appends events to a file, a line each, so that a crash leaves the events before
/// it.
pub struct Events {
    path: PathBuf,
    /// File of events; `None` after it could not be written.
    file: Option<File>,
    /// First error of writing: printed when the run is over, since the computation does not wait
    /// for a terminal.
    error: Option<io::Error>,
}

impl Drop for Events {
    fn drop(&mut self) {
        if let Some(error) = &self.error {
            warn(&self.path, error);
        }
    }
}

impl Observer for Events {
    fn event(&mut self, record: &Record) {
        let Some(file) = &mut self.file else { return };
        let line = serde_json::to_string(record).map_err(io::Error::other);
        let written = line.and_then(|line| file.write_all(format!("{line}\n").as_bytes()));
        if let Err(error) = written {
            (self.file, self.error) = (None, Some(error));
        }
    }
}

/// Tells if a folder is the record of a run.
pub fn is_run(folder: &Path) -> bool {
    folder.join(PLAN).is_file()
}

/// Reads the folder of a run.
///
/// # Errors
/// It is not the folder of a run, or cannot be read.
pub fn read(folder: &Path) -> io::Result<RunRecord> {
    let text = read_text(&folder.join(PLAN), Accept::File, MOST_BYTES)?;
    let plan: PlanRecord = serde_json::from_str(&text)?;
    let sides = read_sides(folder, plan.parties())?;
    Ok(RunRecord::new(plan, sides))
}

/// Writes the page of a run into its folder again.
///
/// # Errors
/// It cannot be written.
pub fn rewrite_page(folder: &Path, run: &RunRecord) -> io::Result<()> {
    write(&folder.join(PAGE), &run.page())
}

fn write_page(folder: &Path, run: &RunRecord) -> io::Result<()> {
    let summary = serde_json::to_value(run.summary())?;
    write(&folder.join(REPORT), &format!("{summary:#}\n"))?;
    write(&folder.join(PAGE), &run.page())
}

/// Reads the events of each party: those of the folder, or of the folders of parties in it.
fn read_sides(folder: &Path, parties: &[String]) -> io::Result<Vec<Vec<Record>>> {
    let own = folder.join(EVENTS);
    if own.is_file() {
        return Ok(vec![events(&own)?]);
    }
    // A plan from elsewhere may name paths.
    let is_plain = |name: &&String| {
        let mut parts = Path::new(name).components();
        matches!(parts.next(), Some(Component::Normal(_))) && parts.next().is_none()
    };
    let files = parties.iter().filter(is_plain);
    let files = files.map(|name| folder.join(name).join(EVENTS));
    let files = files.filter(|file| file.is_file());
    files.map(|file| events(&file)).collect()
}

/// Reads the events of a file, without an unfinished last line.
fn events(path: &Path) -> io::Result<Vec<Record>> {
    let text = read_text(path, Accept::File, MOST_BYTES)?;
    let whole = text.rfind('\n').map_or("", |end| &text[..end]);
    let lines = whole.lines().map(serde_json::from_str);
    Ok(lines.collect::<Result<_, _>>()?)
}

/// Returns the current time in microseconds since 1970.
pub fn unix_us() -> u64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    since.map_or(0, |since| since.as_micros() as u64)
}

/// Current time in UTC, as the names of folders contain it: `20260314-153012-347`.
fn stamp() -> String {
    let unix_us = unix_us();
    let date = sealane_page::units::date(unix_us);
    let digits: String = date.chars().filter(char::is_ascii_digit).collect();
    let (day, time) = digits.split_at(8);
    format!("{day}-{time}-{:03}", unix_us / 1000 % 1000)
}

/// Creates a folder for its owner alone, with its parents.
fn make_folder(path: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

/// Creates a file for its owner alone that is read while it grows, so it has its final name at
/// once.
fn growing(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

fn write(path: &Path, text: &str) -> io::Result<()> {
    sealane_files::replace(path, Rights::AsBefore, text.as_bytes())
}

fn warn(path: &Path, error: &io::Error) {
    let path = path.display();
    let _ = writeln!(
        stderr(),
        "warning: this run is not recorded: {path}: {error}\n\
         hint: `--runs FOLDER` records it elsewhere, `--no-record` nowhere"
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use sealane_engine::{Journal, NetworkClass, ProtocolName, simulate_with};
    use sealane_net::Cancel;
    use sealane_page::run::RunState;
    use sealane_parties::PartyId;
    use sealane_program::text;
    use sealane_program::types::{Data, Type};
    use std::collections::BTreeSet;

    const PROGRAM: &str = "sealane program 1\nname p\nparty a\nparty b\n\
        input x : a u64 in 0..18446744073709551615\n\
        input y : b u64 in 0..18446744073709551615\n\
        main {\n  %0 = param 0 : u64 in 0..18446744073709551615 known a\n  \
        %1 = param 1 : u64 in 0..18446744073709551615 known b\n  \
        %2 = xor %0, %1 : u64 in 0..18446744073709551615 secret\n}\n\
        reveal mixed = %2 : u64 to b\n";
    const NOTE: &str = "a number of the source was rounded";
    const X: u64 = 0x5ec2_e7a1_1ce0_f00d;
    const Y: u64 = 0xb0b5_0a5e_c2e7_c0de;

    fn job() -> Job {
        let program = text::parse(PROGRAM, "p").unwrap();
        Job::new(program, ProtocolName::Yao, NetworkClass::LAN, vec![]).unwrap()
    }

    /// Simulates with recognisable inputs, and leaves the record.
    fn recorded(runs: &Path) -> Recording {
        let job = job();
        let notes = [NOTE.to_string()];
        let all = Recording::begin(runs, &job, &notes).unwrap();
        let sides = job.parties().iter();
        let sides: Vec<_> = sides.map(|name| all.party(name, &job).unwrap()).collect();
        let journals = sides.iter().zip(0..).map(|(side, party)| {
            let events = side.events();
            Journal::new(&job, PartyId(party), events)
        });
        let inputs = [X, Y].map(|value| Data {
            ty: Type::unsigned(64),
            shape: vec![],
            elements: vec![value],
        });
        simulate_with(
            &job,
            inputs.to_vec(),
            journals.collect(),
            &Cancel::default(),
        )
        .unwrap();
        sides.iter().chain([&all]).for_each(|side| side.end(&job));
        all
    }

    /// Every file below a folder.
    fn files(folder: &Path) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(folder).unwrap();
        let paths = entries.map(|entry| entry.unwrap().path());
        let below = |path: PathBuf| {
            if path.is_dir() {
                files(&path)
            } else {
                vec![path]
            }
        };
        paths.flat_map(below).collect()
    }

    #[test]
    fn no_file_of_a_run_holds_a_value() {
        let runs = tempfile::tempdir().unwrap();
        let all = recorded(runs.path());
        let files = files(all.folder());
        // Plan, report and page of the run; these and the events for each of two parties.
        assert_eq!(files.len(), 3 + 2 * 4, "{files:?}");
        for file in files {
            let bytes = std::fs::read(&file).unwrap();
            let text = String::from_utf8(bytes.clone()).unwrap().to_lowercase();
            for value in [X, Y, X ^ Y] {
                let hex = [value, value.swap_bytes()].map(|value| format!("{value:x}"));
                let decimal = [value.to_string(), (value as i64).to_string()];
                for form in hex.iter().chain(&decimal) {
                    assert!(!text.contains(form), "{form} in {}", file.display());
                }
                for raw in [value.to_le_bytes(), value.to_be_bytes()] {
                    let found = bytes.windows(8).any(|window| window == raw);
                    assert!(!found, "{value} in {}", file.display());
                }
            }
        }
    }

    #[test]
    fn a_run_can_be_read_again_and_a_killed_one_has_no_end() {
        let runs = tempfile::tempdir().unwrap();
        let all = recorded(runs.path());
        let run = read(all.folder()).unwrap();
        assert_eq!(run.state(), RunState::Done);
        assert_eq!(run.told_by(), ["a", "b"]);
        assert!(run.summary().as_planned);
        let page = std::fs::read_to_string(all.folder().join("a").join(PAGE)).unwrap();
        assert!(page.contains(NOTE) && page.contains("of memory"), "{page}");
        let own = all.folder().join("b");
        assert_eq!(read(&own).unwrap().told_by(), ["b"]);
        // Killed while it wrote a line.
        let events = own.join(EVENTS);
        let text = std::fs::read_to_string(&events).unwrap();
        std::fs::write(&events, &text[..text.len() * 2 / 3]).unwrap();
        std::fs::remove_file(own.join(PAGE)).unwrap();
        assert_eq!(read(&own).unwrap().state(), RunState::Unfinished);
        rewrite_page(&own, &read(&own).unwrap()).unwrap();
        let page = std::fs::read_to_string(own.join(PAGE)).unwrap();
        assert!(page.contains("has not told its end"));
    }

    #[test]
    fn a_plan_from_elsewhere_leads_to_no_other_folder() {
        let runs = tempfile::tempdir().unwrap();
        let all = recorded(runs.path());
        let beside = runs.path().join("elsewhere");
        std::fs::create_dir(&beside).unwrap();
        std::fs::copy(all.folder().join("b").join(EVENTS), beside.join(EVENTS)).unwrap();
        let read = |names: [&str; 2]| read_sides(all.folder(), &names.map(String::from));
        assert_eq!(read(["a", "b"]).unwrap().len(), 2);
        let absolute = beside.to_str().unwrap();
        assert_eq!(read(["../elsewhere", absolute]).unwrap().len(), 0);
    }

    #[test]
    fn names_sort_by_time_and_are_unique() {
        let (runs, job) = (tempfile::tempdir().unwrap(), job());
        let name = || {
            let recording = Recording::begin(runs.path(), &job, &[]).unwrap();
            recording.folder().file_name().unwrap().to_owned()
        };
        let names: BTreeSet<_> = (0..20).map(|_| name()).collect();
        assert_eq!(names.len(), 20);
        let first = name();
        std::thread::sleep(std::time::Duration::from_millis(2));
        assert!(first < name());
    }

    #[cfg(unix)]
    #[test]
    fn only_its_owner_can_read_a_run() {
        use std::os::unix::fs::PermissionsExt;
        let runs = tempfile::tempdir().unwrap();
        let all = recorded(&runs.path().join("deep").join("runs"));
        let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&runs.path().join("deep")), 0o700);
        assert_eq!(mode(all.folder()), 0o700);
        for file in files(all.folder()) {
            assert_eq!(mode(&file), 0o600, "{}", file.display());
        }
    }

    #[test]
    fn a_folder_that_cannot_be_made_is_no_failure() {
        let runs = tempfile::tempdir().unwrap();
        let file = runs.path().join("file");
        std::fs::write(&file, "").unwrap();
        assert!(Recording::begin(&file, &job(), &[]).is_none());
    }
}
