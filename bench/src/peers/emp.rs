//! EMP's semi-honest garbled circuits (`emp-sh2pc`), in a program that the user has built.
//!
//! The environment variable [`VARIABLE`] names the program: `test_circuit_file` of the release
//! 0.3.0, which runs AES-128 of a file of gates 10,000 times over. Its two parties are started as
//!
//! ```text
//! PROGRAM 1 PORT      garbles; listens on PORT
//! PROGRAM 2 PORT      evaluates; connects to 127.0.0.1:PORT
//! ```
//!
//! Each prints `connected`, then a line of microseconds, the number of its party, and the 128 bits
//! of the result. The time begins after the base OTs and ends when the last gate is done. That of
//! party 2 is taken, as in the suite `stream`. Both hash with a key for each gate and send 32 bytes
//! an AND.
//!
//! It is a program of others, so nothing that it says is believed without need: the bits have to be
//! the ciphertext, and the time has to fit the time between its start and its end. A program that
//! does not end is killed.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read, Seek};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use sealane_block::{Aes128, Block, Cpu};
use sealane_net::free_loopback_port;

use super::{TIMES, median};
use crate::stream::{self, WIDE_ROWS, wide};
use crate::{Figures, Options, SuiteError};

/// The part of the suite.
pub const PART: &str = "emp";

/// Environment variable that names the program.
pub const VARIABLE: &str = "SEALANE_EMP";

/// The way to get the program.
pub(super) const REMEDY: &str = "build `test_circuit_file` of emp-sh2pc 0.3.0, and \
    name it in the environment variable SEALANE_EMP";

/// Blocks that the program encrypts.
const BLOCKS: u64 = 10_000;

/// ANDs of one block: the file `AES-non-expanded.txt`, which has more than our circuit.
const ANDS: u64 = 6800;

/// Turns of EMP and ours.
const TURNS: usize = 5;

/// Rows of ours in a run that only shows that all works.
const FEW: usize = 20;

/// The longest run: 68 million ANDs at less than 600,000 a second are no figure.
const PATIENCE: Duration = Duration::from_secs(120);

/// Bytes that a party may print.
const PRINTED: u64 = 1 << 16;

/// The interval at which both parties are looked at.
const LOOK: Duration = Duration::from_millis(5);

/// The part of its time that the program measures, at least: it connects and has base OTs before. A
/// time in another unit is a thousandth, or a millionth.
const MEASURED: f64 = 0.01;

/// The program that the environment variable names.
pub fn named() -> Option<OsString> {
    std::env::var_os(VARIABLE).filter(|program| !program.is_empty())
}

/// The program, and its limits.
pub struct Emp {
    /// The command line, which party and port follow.
    command: Vec<OsString>,
    patience: Duration,
}

impl Emp {
    /// A program with its leading arguments.
    pub fn new(command: impl IntoIterator<Item = OsString>) -> Emp {
        Emp {
            command: command.into_iter().collect(),
            patience: PATIENCE,
        }
    }

    /// Runs both parties once; returns the million ANDs a second that the evaluator found.
    ///
    /// # Errors
    /// A message for the user: the program cannot be started, fails, does not end, or prints
    /// something else than it should.
    pub fn run(&self) -> Result<f64, String> {
        let wrong = |what: String| format!("EMP ({}) {what}", self.command[0].display());
        let port = free_loopback_port().map_err(|error| error.to_string())?;
        let started = Instant::now();
        let start = |party: u8| Party::start(&self.command, party, port).map_err(&wrong);
        let mut parties = [start(1)?, start(2)?];
        loop {
            let mut ended = 0;
            for party in &mut parties {
                // The other party would wait for ever: `Party` ends it when it is dropped.
                ended += usize::from(party.has_ended().map_err(&wrong)?);
            }
            if ended == parties.len() {
                break;
            }
            if started.elapsed() > self.patience {
                let limit = self.patience.as_secs_f64();
                return Err(wrong(format!("did not end within {limit} s")));
            }
            thread::sleep(LOOK);
        }
        let took = started.elapsed().as_secs_f64();
        let [_, mut evaluator] = parties;
        let said = evaluator.printed();
        let (microseconds, bits) = result(&said).ok_or_else(|| {
            let said = quoted(&said);
            wrong(format!(
                "printed no line of a time, party 2 and 128 bits: {said}"
            ))
        })?;
        if bits != ciphertext() {
            return Err(wrong(format!("has another ciphertext: {bits}")));
        }
        let seconds = microseconds / 1e6;
        if !(MEASURED * took..=took).contains(&seconds) {
            let what = format!("printed a time of {seconds} s, where {took:.3} s had passed");
            return Err(wrong(what));
        }
        Ok((BLOCKS * ANDS) as f64 / seconds / 1e6)
    }
}

/// Runs EMP and ours in turn, over TCP and over TLS.
///
/// # Errors
/// EMP's program does not do what it should, or a run of ours failed.
pub fn compare(
    emp: &Emp,
    cpu: Cpu,
    options: &Options,
    figures: &mut Figures<'_>,
) -> Result<(), SuiteError> {
    if options.again.is_empty() {
        return Err("the suite peers needs to start parties of its own".into());
    }
    let quick = options.quick();
    let turns = if quick { 1 } else { TURNS };
    let (rows, ands) = if quick {
        (FEW, 1)
    } else {
        (WIDE_ROWS, BLOCKS * ANDS)
    };
    let case = wide(rows, ands);
    let (mut theirs, mut ours) = (Vec::new(), [Vec::new(), Vec::new()]);
    for _ in 0..turns {
        theirs.push(emp.run().map_err(SuiteError::Peer)?);
        for (rates, tls) in ours.iter_mut().zip([false, true]) {
            let [_, evaluator] = stream::run_once(&options.again, cpu, &case, tls)?;
            rates.push(evaluator.million_ands_per_s());
        }
    }
    let best = |rates: &[f64]| rates.iter().copied().fold(0.0, f64::max);
    let of = |rates: &[f64]| [median(rates.iter().copied()), best(rates)];
    let theirs = of(&theirs);
    let mut add = |case: &str, tier, metrics: [&str; 2], values: [f64; 2], unit| {
        let case = format!("aes128/{case}");
        let both = [0, 1].map(|i| (metrics[i], values[i], unit));
        figures.of_tier(tier).add(&case, &both);
    };
    let rates = ["million_ands_per_s", "million_ands_per_s_best"];
    add("emp/tcp", "any", rates, theirs, "million/s");
    for (link, ours) in ["tcp", "tls"].into_iter().zip(&ours) {
        let (case, tier, ours) = (format!("sealane/{link}"), cpu.tier().name(), of(ours));
        add(&case, tier, rates, ours, "million/s");
        let times = [0, 1].map(|i| ours[i] / theirs[i]);
        add(&format!("{case}/over/emp/tcp"), tier, TIMES, times, "times");
    }
    Ok(())
}

/// A party of the program, which is killed if it is dropped before it has ended.
struct Party {
    number: u8,
    child: Child,
    output: File,
    errors: File,
}

impl Party {
    fn start(command: &[OsString], number: u8, port: u16) -> Result<Party, String> {
        // Files and not pipes: a pipe that nobody reads would hold the party up.
        let file = || -> io::Result<(File, File)> {
            let file = tempfile::tempfile()?;
            Ok((file.try_clone()?, file))
        };
        let start = || -> io::Result<Party> {
            let ((output, its_output), (errors, its_errors)) = (file()?, file()?);
            let child = Command::new(&command[0])
                .args(&command[1..])
                .args([number.to_string(), port.to_string()])
                .stdin(Stdio::null())
                .stdout(its_output)
                .stderr(its_errors)
                .spawn()?;
            Ok(Party {
                number,
                child,
                output,
                errors,
            })
        };
        start().map_err(|error| format!("cannot be started: {error}"))
    }

    /// Returns true if the party has ended as it should.
    fn has_ended(&mut self) -> Result<bool, String> {
        let number = self.number;
        for file in [&self.output, &self.errors] {
            if file.metadata().is_ok_and(|file| file.len() > PRINTED) {
                return Err(format!("prints too much as party {number}"));
            }
        }
        match self.child.try_wait() {
            Ok(None) => Ok(false),
            Ok(Some(status)) if status.success() => Ok(true),
            Ok(Some(status)) => Err(self.failure(status)),
            Err(error) => Err(format!("cannot be waited for: {error}")),
        }
    }

    fn failure(&mut self, status: ExitStatus) -> String {
        let said = quoted(&text(&mut self.errors));
        format!("ended with {status} as party {}: {said}", self.number)
    }

    fn printed(&mut self) -> String {
        text(&mut self.output)
    }
}

impl Drop for Party {
    fn drop(&mut self) {
        // Of a party that has ended, there is nothing to kill.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The text of a file, as far as it may be long.
fn text(file: &mut File) -> String {
    let mut bytes = Vec::new();
    // A file that cannot be read is as good as one with nothing in it.
    let _ = file.rewind();
    let _ = file.take(PRINTED).read_to_end(&mut bytes);
    String::from_utf8_lossy(&bytes).into_owned()
}

/// A text of others as a part of a message: in one line, and not long.
fn quoted(said: &str) -> String {
    said.trim_end().escape_debug().take(300).collect()
}

/// The microseconds and the bits that party 2 has printed.
fn result(said: &str) -> Option<(f64, &str)> {
    said.lines().find_map(|line| {
        let mut words = line.split_whitespace();
        let time = words.next()?.parse::<f64>().ok()?;
        let (party, bits) = (words.next()?, words.next()?);
        let binary = bits.len() == 128 && bits.bytes().all(|b| b == b'0' || b == b'1');
        let sound = time.is_finite() && time > 0.0 && party == "2" && binary;
        (sound && words.next().is_none()).then_some((time, bits))
    })
}

/// The bits that the program prints: AES-128 of its inputs 2 and 3, block and key, whose bits stand
/// in the order of the file of gates, which is that of FIPS 197 turned around.
fn ciphertext() -> String {
    let turned = |value: u128| Block::from_bytes(value.reverse_bits().to_be_bytes());
    let portable = Cpu::with_tier(sealane_block::Tier::Portable).expect("a tier of every machine");
    let mut block = [turned(2)];
    Aes128::new(portable, turned(3)).encrypt_blocks(&mut block);
    let bytes = Block::as_bytes(&block).iter();
    bytes.map(|byte| format!("{byte:08b}")).collect()
}

#[cfg(test)]
mod tests;
