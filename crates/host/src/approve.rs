//! Approval: a job runs only if its owner has approved its hash.

use crate::Failure;
use crate::view;
use sealane_diagnostic::Code;
use sealane_engine::Job;
use sealane_page::View as _;
use std::io::{BufRead, IsTerminal, Write, stderr, stdin};

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
        let (what, digits) = (format!("`{yes}` does not approve a job"), hash.len());
        let hint = format!("give the whole hash, {digits} digits: first digits can be forged");
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
    ask(job, &mut stdin().lock(), &mut stderr())
}

/// Shows the plan and takes the answer.
fn ask(job: &Job, input: &mut impl BufRead, output: &mut impl Write) -> Result<(), Failure> {
    let cost = job.cost(&job.bounds())?;
    let card = view::plan(job, &cost, &[]).card();
    let question = "\n\nRun this job? Type yes to approve it: ";
    let shown = write!(output, "{card}{question}");
    let mut answer = String::new();
    let read = shown.and_then(|()| input.read_line(&mut answer));
    read.map_err(|error| {
        let hint = format!("read the plan, then add `--yes {}`", job.hash());
        let failure = Failure::new(Code::Terminal, "the terminal cannot be read", hint);
        failure.because(error.to_string())
    })?;
    if !["yes", "y"].contains(&answer.trim().to_ascii_lowercase().as_str()) {
        let what = "the job was not approved";
        let hint = "nothing was sent; run again to approve it";
        return Err(Failure::new(Code::Approval, what, hint));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use sealane_engine::{NetworkClass, ProtocolName};

    const PROGRAM: &str = "sealane program 1\nname p\nparty a\nparty b\ninput x : a u8 in 0..255\n\
        main {\n  %0 = param 0 : u8 in 0..255 known a\n}\nreveal r = %0 : u8 to b\n";

    fn job() -> Job {
        let program = sealane_program::text::parse(PROGRAM, "p").unwrap();
        Job::new(program, ProtocolName::Yao, NetworkClass::LAN, vec![]).unwrap()
    }

    #[test]
    fn a_plan_is_approved_by_yes_at_the_terminal() {
        let job = job();
        let mut shown = Vec::new();
        let mut asked = |mut answer: &[u8]| ask(&job, &mut answer, &mut shown);
        assert!(asked(b"yes\n").is_ok() && asked(b" Y \n").is_ok());
        for no in ["", "\n", "no\n", "yes, but\n"] {
            let code = asked(no.as_bytes()).unwrap_err().finding().code;
            assert_eq!(code, Code::Approval, "{no:?}");
        }
        let shown = String::from_utf8(shown).unwrap();
        assert!(shown.starts_with("plan of p · yao · lan\n") && shown.contains(&job.hash()));
    }

    /// A terminal that is gone: reading ends with an error.
    #[test]
    fn nobody_can_approve_at_a_terminal_that_is_gone() {
        struct Gone;
        impl std::io::Read for Gone {
            fn read(&mut self, _: &mut [u8]) -> std::io::Result<usize> {
                Err(std::io::ErrorKind::UnexpectedEof.into())
            }
        }
        let job = job();
        let mut gone = std::io::BufReader::new(Gone);
        let failure = ask(&job, &mut gone, &mut std::io::sink()).unwrap_err();
        let hash = "0123456789abcdef".repeat(4);
        let text = failure.to_string().replace(&job.hash(), &hash);
        sealane_testkit::page::shows("terminal", &text);
    }

    #[test]
    fn the_whole_hash_approves_and_nothing_less() {
        let job = job();
        let hash = job.hash();
        assert!(approved(&job, &hash).is_ok());
        assert!(approved(&job, &format!(" {}\n", hash.to_uppercase())).is_ok());
        let other = if hash.ends_with('0') { "1" } else { "0" };
        let almost = format!("{}{other}", &hash[..63]);
        let longer = format!("{hash}0");
        for no in ["", "yes", &hash[..12], &hash[..63], &longer, &almost] {
            assert!(approved(&job, no).is_err(), "{no}");
        }
    }
}
