//! Approval: a job runs only if its owner has approved its hash.

use crate::Failure;
use crate::view;
use sealane_diagnostic::Code;
use sealane_engine::Job;
use std::io::{IsTerminal, Write, stderr, stdin};

/// Checks if `yes` approves this job: it has to be the whole hash, in hex. A prefix is not enough,
/// even if it is hard to hit by chance: the author of a program can make a harmless and a harmful
/// one whose hashes share a prefix, which for 12 digits takes a minute.
///
/// # Errors
/// `yes` is not a hash, or the hash of another job.
pub fn approved(job: &Job, yes: &str) -> Result<(), Failure> {
    let (hash, given) = (job.hash(), yes.trim().to_ascii_lowercase());
    let is_hash = given.len() == hash.len() && given.bytes().all(|c| c.is_ascii_hexdigit());
    if !is_hash {
        let what = format!("`{yes}` does not approve a job");
        let hint = format!(
            "give the whole hash, {} digits: first digits can be forged",
            hash.len()
        );
        return Err(Failure::new(Code::Approval, what, hint));
    }
    if hash != given {
        let what = format!("this is not the approved job: its hash is {hash}, not {given}");
        let hint = "program, protocol, helpers, network class and `--pool` make the hash; compare \
                    `sealane plan` with what was approved";
        return Err(Failure::new(Code::Approval, what, hint));
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
        let hint = format!("read its plan, then add `--yes {hash}`");
        return Err(Failure::new(Code::Approval, what, hint));
    }
    let cost = job.cost(&job.bounds())?;
    let ask = "\n\nRun this job? Type yes to approve it: ";
    let shown = write!(stderr(), "{}{ask}", view::plan_card(job, &cost));
    let mut answer = String::new();
    let read = shown.and_then(|()| stdin().read_line(&mut answer));
    read.map_err(|error| cannot_ask(&hash, &error))?;
    if !["yes", "y"].contains(&answer.trim().to_ascii_lowercase().as_str()) {
        let hint = "nothing was sent; run again to approve it";
        return Err(Failure::new(
            Code::Approval,
            "the job was not approved",
            hint,
        ));
    }
    Ok(())
}

fn cannot_ask(hash: &str, error: &std::io::Error) -> Failure {
    let hint = format!("read the plan, then add `--yes {hash}`");
    Failure::new(Code::Terminal, "the terminal cannot be read", hint).because(error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use sealane_engine::{NetworkClass, ProtocolName};

    const PROGRAM: &str = "sealane program 1\nname p\nparty a\nparty b\ninput x : a u8 in 0..255\n\
        main {\n  %0 = param 0 : u8 in 0..255 known a\n}\nreveal r = %0 : u8 to b\n";

    #[test]
    fn nobody_can_approve_at_a_terminal_that_is_gone() {
        let gone = std::io::Error::from(std::io::ErrorKind::UnexpectedEof);
        let failure = cannot_ask(&"0123456789abcdef".repeat(4), &gone);
        sealane_testkit::page::shows("terminal", &failure.to_string());
    }

    #[test]
    fn the_whole_hash_approves_and_nothing_less() {
        let program = sealane_program::text::parse(PROGRAM, "p").unwrap();
        let job = Job::new(program, ProtocolName::Yao, NetworkClass::Lan, vec![]).unwrap();
        let hash = job.hash();
        assert!(approved(&job, &hash).is_ok());
        assert!(approved(&job, &format!(" {}\n", hash.to_uppercase())).is_ok());
        let other = if hash.ends_with('0') { "1" } else { "0" };
        let almost = format!("{}{other}", &hash[..63]);
        for no in [
            "",
            "yes",
            &hash[..12],
            &hash[..63],
            &format!("{hash}0"),
            &almost,
        ] {
            assert!(approved(&job, no).is_err(), "{no}");
        }
    }
}
