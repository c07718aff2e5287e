//! Approval: nobody runs a job whose hash its owner has not seen.

use crate::failure::Failure;
use crate::view;
use sealane_engine::Job;
use std::io::{IsTerminal, Write, stderr, stdin};

/// Fewest digits of a hash that approve it: 48 bits, too many to hit by chance.
const FEWEST_DIGITS: usize = 12;

/// Whether `yes` approves this job: its hash, or enough of its first digits.
///
/// # Errors
/// The digits are too few or no hash, or they are those of another job.
pub fn approved(job: &Job, yes: &str) -> Result<(), Failure> {
    let (hash, given) = (job.hash(), yes.trim().to_ascii_lowercase());
    let is_hash = given.len() <= hash.len() && given.bytes().all(|c| c.is_ascii_hexdigit());
    if !is_hash || given.len() < FEWEST_DIGITS {
        let what = format!("`{yes}` does not approve a job");
        let hint = format!("give its hash, or at least the first {FEWEST_DIGITS} digits of it");
        return Err(Failure::usage(what, hint));
    }
    if !hash.starts_with(&given) {
        let what = format!("this is not the approved job: its hash is {hash}, not {given}");
        let hint = "program, protocol and network class make the hash; compare `sealane plan` \
                    with what was approved";
        return Err(Failure::usage(what, hint));
    }
    Ok(())
}

/// Takes `--yes`, or asks at a terminal.
pub fn approve(job: &Job, yes: Option<&str>) -> Result<(), Failure> {
    if let Some(yes) = yes {
        return approved(job, yes);
    }
    let hash = job.hash();
    if !(stdin().is_terminal() && stderr().is_terminal()) {
        let what = format!("nobody has approved this job, whose hash is {hash}");
        return Err(Failure::usage(
            what,
            format!("read its plan, then add `--yes {hash}`"),
        ));
    }
    let cost = job.cost(&job.bounds())?;
    let ask = "\n\nRun this job? Type yes to approve it: ";
    let shown = write!(stderr(), "{}{ask}", view::plan_card(job, &cost));
    let mut answer = String::new();
    let read = shown.and_then(|()| stdin().read_line(&mut answer));
    read.map_err(|error| Failure::Io(format!("the terminal cannot be read: {error}")))?;
    if !["yes", "y"].contains(&answer.trim().to_ascii_lowercase().as_str()) {
        return Err(Failure::usage(
            "the job was not approved",
            "nothing was sent",
        ));
    }
    Ok(())
}
