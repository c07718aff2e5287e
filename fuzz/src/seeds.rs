//! Seeds that the code itself makes, for forms that nobody writes by hand.

use crate::chance::Chance;
use crate::corpus;
use sealane_program::text::{print, print_with_spans};
use sealane_testkit::random_program::random_program;

/// Writes all of them into the corpora.
///
/// # Panics
/// If a file cannot be written.
pub fn write() {
    for (target, name, bytes) in all() {
        let path = corpus::root().join(target).join(name);
        std::fs::write(&path, bytes).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    }
}

/// Target, name of the file, content.
type Seed = (&'static str, String, Vec<u8>);

fn all() -> Vec<Seed> {
    let mut seeds = Vec::new();
    for seed in 0..6 {
        let program = random_program(seed).program;
        let full = print_with_spans(&program).into_bytes();
        seeds.push(("program", format!("random-{seed}"), full));
        seeds.push((
            "plan",
            format!("random-{seed}"),
            print(&program).into_bytes(),
        ));
        let mut chance = Chance::new(seed);
        let tape = (0..1 + 4 * 60).map(|_| chance.number() as u8).collect();
        seeds.push(("grow", format!("random-{seed}"), tape));
    }
    seeds
}
