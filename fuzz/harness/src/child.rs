//! One target in a process of its own: its corpus, then mutations of it, with bounds on time and
//! memory.
//!
//! A panic is caught here and its input minimised. An input that ends the process (a stack
//! overflow, memory that the system refuses) is found by the parent in the file that is written
//! before each input.

use crate::chance::Chance;
use crate::corpus::{self, minimise};
use crate::mutate::{inflate, mutate};
use crate::{Target, Verdict};
use std::any::Any;
use std::fs;
use std::panic::{self, AssertUnwindSafe, catch_unwind};
use std::path::Path;

/// Most memory that a target may take beyond what it had before its first input.
const MOST_BYTES: u64 = 512 << 20;
/// Most processor time for one input: reading in linear time takes a hundredth of it even in a
/// build for tests.
const MOST_NS: u64 = 20_000_000_000;
/// Length and number of the inputs of [`inflate`].
const INFLATED: (usize, u32) = (1 << 20, 12);
/// Most calls while a finding is minimised.
const TRIES: usize = 2000;

/// Statistics of a run of a target.
#[derive(Default)]
pub struct Tally {
    /// Inputs in all, and those of them that were accepted.
    pub inputs: u64,
    /// Inputs that were accepted.
    pub accepted: u64,
    /// Longest processor time of one input, in nanoseconds.
    pub slowest_ns: u64,
    /// Peak memory.
    pub peak_bytes: u64,
}

/// A finding: an input that fails.
pub struct Finding {
    /// The minimised input.
    pub input: Vec<u8>,
    /// Description of the failure.
    pub what: String,
    /// Origin of the input: a file of the corpus, or the number of a mutation.
    pub origin: String,
}

impl Finding {
    /// Makes the finding of a minimised input.
    pub fn new(input: Vec<u8>, what: String, origin: String) -> Finding {
        Finding {
            input,
            what,
            origin,
        }
    }
}

/// Runs the corpus of a target and then `mutations` of it. `in_hand` is where each input is written
/// before it is run.
///
/// # Errors
/// The first finding.
pub fn run(
    target: &Target,
    corpus: &Path,
    seed: u64,
    mutations: u32,
    in_hand: &Path,
) -> Result<Tally, Finding> {
    let load = corpus::load(corpus);
    let files = load.unwrap_or_else(|error| panic!("corpus of {}: {error}", target.name));
    let others: Vec<Vec<u8>> = files.iter().map(|(_, bytes)| bytes.clone()).collect();
    // Reported once, when the input has been minimised.
    panic::set_hook(Box::new(|_| ()));
    let mut run = TargetRun::new(target, in_hand);
    for (name, bytes) in &files {
        run.one(bytes, || format!("file {name}"))?;
    }
    let mut chance = Chance::new(seed);
    for number in 0..INFLATED.1 {
        let input = inflate(chance.pick::<Vec<u8>>(&others), INFLATED.0, &mut chance);
        run.one(&input, || format!("seed {seed}, long input {number}"))?;
    }
    for number in 0..mutations {
        let input = chance.pick(&others);
        let input = mutate(input, target.words, &others, &mut chance);
        run.one(&input, || format!("seed {seed}, mutation {number}"))?;
    }
    Ok(run.tally)
}

/// Runs a target on an input; catches its panic.
///
/// # Errors
/// The message of the panic.
pub fn verdict(target: &Target, input: &[u8]) -> Result<Verdict, String> {
    let run = AssertUnwindSafe(|| (target.run)(input));
    catch_unwind(run).map_err(|panic| words(&*panic))
}

struct TargetRun<'a> {
    target: &'a Target,
    in_hand: &'a Path,
    before_bytes: u64,
    tally: Tally,
}

impl TargetRun<'_> {
    fn new<'a>(target: &'a Target, in_hand: &'a Path) -> TargetRun<'a> {
        TargetRun {
            target,
            in_hand,
            before_bytes: peak_bytes(),
            tally: Tally::default(),
        }
    }

    fn one(&mut self, input: &[u8], origin: impl Fn() -> String) -> Result<(), Finding> {
        fs::write(self.in_hand, input).expect("the input in hand is written down");
        let began = processor_ns();
        let verdict = verdict(self.target, input).map_err(|what| {
            let fails = |input: &[u8]| verdict(self.target, input).is_err();
            Finding::new(minimise(input, TRIES, fails), what, origin())
        })?;
        let took_ns = processor_ns().saturating_sub(began);
        let tally = &mut self.tally;
        tally.inputs += 1;
        tally.accepted += u64::from(verdict.is_some());
        tally.slowest_ns = tally.slowest_ns.max(took_ns);
        tally.peak_bytes = peak_bytes().saturating_sub(self.before_bytes);
        let what = match () {
            () if took_ns > MOST_NS => format!("takes {} ms", took_ns / 1_000_000),
            () if tally.peak_bytes > MOST_BYTES => format!("takes {} bytes", tally.peak_bytes),
            () => return Ok(()),
        };
        Err(Finding::new(input.to_vec(), what, origin()))
    }
}

fn words(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or(panic.downcast_ref::<&str>().copied());
    text.unwrap_or("a panic without words").to_string()
}

/// Processor time of this thread, where the system reports it: it grows no faster on a busy
/// machine.
fn processor_ns() -> u64 {
    let text = fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let first = text.split_whitespace().next();
    first.and_then(|number| number.parse().ok()).unwrap_or(0)
}

/// Peak memory of this process, where the system reports it.
fn peak_bytes() -> u64 {
    let text = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = line.and_then(|line| line.trim().strip_suffix("kB"));
    let kilobytes = kilobytes.and_then(|number| number.trim().parse::<u64>().ok());
    kilobytes.unwrap_or(0) << 10
}
