//! Crate `memcheck`: checks under Valgrind that no branch and no address depends on a secret.
//!
//! ```text
//! make nightly            runs it with all other long checks
//! sh tools/secrets.sh     this one alone; followed by words, checks whose names hold one
//! ```
//!
//! Kernels, modes of authenticated encryption, oblivious transfers, steps of protocols and whole
//! sessions through the engine have checks. Each declares its secrets undefined ([`request`]), runs
//! production code on them, on one tier, and asks Memcheck whether it has seen a jump or an address
//! that depends on them. Controls have to be reported, or no other check counts: a branch on a
//! secret, a table that is read at a secret place, sessions whose messages nothing declares
//! public; two more leave a secret in memory that they free (`heap`), which no check may do. Values
//! that are computed from secrets and still public, such as the authenticity of a message, are
//! listed in `public.supp` with the reason.
//!
//! The result holds for this binary, on the paths that ran. It does not cover instructions whose
//! time depends on their operands, nor tiers that Valgrind does not support: it runs `portable` and
//! `aesni`; the wider tiers run the same bodies.

mod authenticated;
mod correlations;
pub mod crossing;
mod heap;
mod kernels;
mod pools;
mod proofs;
mod protocols;
pub mod request;
mod rows;
mod sealing;
mod sessions;
mod silent;
mod transfers;

use sealane_block::Cpu;
use std::hint::black_box;
use std::process::ExitCode;

pub use kernels::secret_coins;

#[global_allocator]
static HEAP: heap::Watched = heap::Watched;

/// A named check, run under Memcheck.
pub type Check = (&'static str, fn(Cpu));

/// All checks of this crate.
pub const CHECKS: &[&[Check]] = &[
    kernels::CHECKS,
    sealing::CHECKS,
    protocols::CHECKS,
    authenticated::CHECKS,
    rows::CHECKS,
    transfers::CHECKS,
    correlations::CHECKS,
    pools::CHECKS,
    proofs::CHECKS,
    silent::CHECKS,
    sessions::CHECKS,
];

/// Runs those of `checks` that the command line asks for, and the controls; prints their verdicts.
pub fn main(checks: &[&[Check]]) -> ExitCode {
    if !request::is_watched() {
        eprintln!("this runs under Valgrind alone: sh tools/secrets.sh");
        return ExitCode::FAILURE;
    }
    let wanted = std::env::args().skip(1).collect::<Vec<_>>();
    let is_wanted = |name: &str| wanted.is_empty() || wanted.iter().any(|word| name.contains(word));
    let mut failed = 0;
    let all = || checks.iter().copied().flatten();
    for cpu in Cpu::available() {
        for (name, check) in all().filter(|(name, _)| is_wanted(name)) {
            let left = heap::left();
            let seen = errors_of(|| check(cpu));
            let left = heap::left() - left;
            let verdict = match (seen, seen - left) {
                (0, _) => "ok",
                (_, 0) => "LEAVES A SECRET IN MEMORY",
                _ => "DEPENDS ON A SECRET",
            };
            println!("{:<10} {name:<44} {verdict}", cpu.tier().name());
            failed += usize::from(seen > 0);
        }
    }
    // Last: they are reported often, and after a hundred reports Valgrind takes two for one if
    // their two innermost frames agree, so one that is listed as public would cover others. Those
    // of sessions take as long as these do.
    let has_sessions = sessions::CHECKS
        .iter()
        .any(|(session, _)| is_wanted(session) && all().any(|(name, _)| name == session));
    let sessions = sessions::CONTROLS.into_iter().filter(|_| has_sessions);
    for (name, leak) in CONTROLS.into_iter().chain(sessions) {
        let seen = errors_of(|| leak(black_box(201)));
        println!("{name:<44} {seen:>3} reported, as it has to be");
        if seen == 0 {
            println!("  a leak went unseen: nothing above counts");
            failed += 1;
        }
    }
    match failed {
        0 => ExitCode::SUCCESS,
        _ => ExitCode::FAILURE,
    }
}

/// Counts the errors reported while `run` runs.
fn errors_of(run: impl FnOnce()) -> usize {
    let before = request::errors();
    run();
    request::errors() - before
}

/// A named control: code that leaks its operand, or secrets of its own.
type Control = (&'static str, fn(u8));

const CONTROLS: [Control; 4] = [
    ("control: a branch on a secret", |mut secret| {
        request::secret(std::slice::from_mut(&mut secret));
        if black_box(secret) > 100 {
            black_box(());
        }
    }),
    ("control: a table read at a secret place", |mut secret| {
        request::secret(std::slice::from_mut(&mut secret));
        black_box(black_box([7u8; 256])[usize::from(black_box(secret))]);
    }),
    ("control: a secret left in memory", |secret| {
        let mut left = vec![secret; 100];
        request::secret(black_box(&mut left));
    }),
    ("control: secret words in a vector half full", |secret| {
        let mut left = Vec::with_capacity(100);
        left.resize(50, u64::from(secret));
        request::secret(bytemuck::cast_slice_mut(black_box(&mut left)));
    }),
];
