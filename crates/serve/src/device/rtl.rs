//! The hardware of `rtl/` as a device: its Verilated bench as a child process, which reads the
//! secrets of a session from its standard input and writes records to its standard output.
//!
//! The machine has one session at a time, so each client has a process of its own, and clients
//! interleave as processes do. Pipes give back-pressure: a session whose records nobody reads
//! stops, and delays no other.

use super::{
    Client, Device, DeviceError, DeviceNetlist, Ended, Extent, Keys, RECORD_BYTES, Record, Sessions,
};
use sealane_accel::formats::{Format, Width, write};
use sealane_block::Block;
use sealane_garble::Scheme;
use serde::Deserialize;
use std::io::{BufReader, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::{Duration, Instant};
use zeroize::{Zeroize, Zeroizing};

/// Records that wait for the host in each session.
const WAITING: usize = 1024;
/// Longest time that a child takes to end once it has written everything.
const ENDING: Duration = Duration::from_secs(10);
/// Pause between two looks at a child that ends.
const LOOK_PAUSE: Duration = Duration::from_millis(2);
/// Most bytes of the account of a session.
const MOST_REPORT: u64 = 1 << 16;

/// How hardware is run.
#[derive(Clone, Debug)]
pub struct RtlOptions {
    /// The bench, as `make -C rtl` builds it.
    pub bench: PathBuf,
    /// The scheme of that build: `prp`, or `mi` with `HASH=1`.
    pub scheme: Scheme,
    /// Longest time without a record, after which the device is given up.
    pub patience: Duration,
}

/// The Verilated hardware.
pub struct Rtl {
    options: RtlOptions,
    loaded: Option<tempfile::NamedTempFile>,
    sessions: Sessions<Session>,
}

impl Rtl {
    /// Creates the device. Nothing is started yet.
    pub fn new(options: RtlOptions) -> Rtl {
        Rtl {
            options,
            loaded: None,
            sessions: Sessions::default(),
        }
    }
}

impl Device for Rtl {
    fn name(&self) -> &'static str {
        "rtl"
    }

    fn scheme(&self) -> Scheme {
        self.options.scheme
    }

    /// Takes a netlist, and has the machine look at it: one session of no netlist cycle, which the
    /// machine refuses for that reason if the netlist fits.
    fn load(&mut self, netlist: &DeviceNetlist) -> Result<(), DeviceError> {
        if !self.sessions.is_empty() {
            return Err(DeviceError::NotNow);
        }
        let refused = |error: String| DeviceError::Netlist(error);
        let netlist = netlist.netlist();
        let narrow = write(netlist, Format::Hscd(Width::Narrow), &[]);
        let text = narrow.or_else(|_| write(netlist, Format::Hscd(Width::Wide), &[]));
        let text = text.map_err(|error| refused(error.to_string()))?;
        let file = tempfile::NamedTempFile::new().and_then(|mut file| {
            file.write_all(&text)?;
            file.flush()?;
            Ok(file)
        });
        let file = file.map_err(|error| DeviceError::broken(format!("no file for it: {error}")))?;
        let keys = Keys {
            hash: Block::ONES,
            offset: Block::ONES,
            label_key: Block::ONES,
            label_start: Block::ONES,
        };
        let extent = Extent {
            cycles: 0,
            most_ands: 0,
        };
        let mut trial = Session::start(&self.options, file.path(), &keys, extent)?;
        match trial.read(Client(0), self.options.patience)? {
            Some(_) => return Err(DeviceError::broken("records of a session without cycles")),
            None => match trial.report(self.options.patience)?.fault {
                fault::NO_TURNS => {}
                _ => return Err(refused("the machine has no room for it".into())),
            },
        }
        self.loaded = Some(file);
        Ok(())
    }

    fn start(&mut self, client: Client, keys: Keys, extent: Extent) -> Result<(), DeviceError> {
        let file = self.loaded.as_ref().ok_or(DeviceError::NotNow)?;
        let options = &self.options;
        self.sessions.start(client, keys, extent, |keys, extent| {
            Session::start(options, file.path(), &keys, extent)
        })
    }

    fn read(&mut self, client: Client, records: &mut Vec<Record>) -> Result<bool, DeviceError> {
        let patience = self.options.patience;
        let session = self.sessions.get(client)?;
        let outcome = session.take(client, patience, records);
        if outcome.is_err() {
            self.sessions.remove(client)?;
        }
        outcome
    }

    fn end(&mut self, client: Client) -> Result<Ended, DeviceError> {
        let session = self.sessions.remove(client)?;
        Ok(session.ended)
    }
}

/// How the machine says that a session ended.
mod fault {
    pub const NONE: u32 = 0;
    pub const NO_TURNS: u32 = 2;
    pub const OLD_KEY: u32 = 3;
    pub const LIMIT: u32 = 4;
}

/// The account that the bench gives of a session.
#[derive(Deserialize)]
struct Report {
    fault: u32,
    total_cycles: u64,
    held_cycles: u64,
    secret_words_left: u64,
}

/// A session: a child, and the thread that reads its records.
struct Session {
    child: Child,
    records: Receiver<Result<[u8; RECORD_BYTES], String>>,
    /// Set once the account has come, and all was well.
    ended: Ended,
    over: bool,
}

impl Session {
    fn start(
        options: &RtlOptions,
        netlist: &Path,
        keys: &Keys,
        extent: Extent,
    ) -> Result<Session, DeviceError> {
        let mut command = Command::new(&options.bench);
        command.arg(netlist).args(["--stream", "-"]);
        command.args(["--turns", &extent.cycles.to_string()]);
        command.args(["--limit", &extent.most_ands.to_string()]);
        // Arguments of a process are no secret.
        command.args(["--seeds", "-"]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        command.stderr(Stdio::piped());
        let failed = |error: std::io::Error| DeviceError::Start {
            program: options.bench.display().to_string(),
            reason: error.to_string(),
        };
        let mut child = command.spawn().map_err(failed)?;
        let all = [keys.hash, keys.offset, keys.label_key, keys.label_start];
        let mut line = Zeroizing::new(String::with_capacity(4 * 33));
        for block in all {
            for nibble in (0..32).rev() {
                line.push(digit((block.value() >> (4 * nibble)) as u8 & 15));
            }
            line.push(',');
        }
        line.pop();
        line.push('\n');
        let mut input = child.stdin.take();
        let written = input.as_mut().map(|input| input.write_all(line.as_bytes()));
        drop(input);
        let (to, records) = sync_channel(WAITING);
        if let Some(output) = child.stdout.take() {
            thread::spawn(move || forward(output, &to));
        }
        let session = Session {
            child,
            records,
            ended: Ended::default(),
            over: false,
        };
        // A child that ended already says why when it is read.
        match written {
            Some(Err(error)) if error.kind() != ErrorKind::BrokenPipe => Err(failed(error)),
            _ => Ok(session),
        }
    }

    /// Adds the records that are there, waiting for the first one.
    fn take(
        &mut self,
        client: Client,
        patience: Duration,
        records: &mut Vec<Record>,
    ) -> Result<bool, DeviceError> {
        if self.over {
            return Ok(false);
        }
        let Some(first) = self.read(client, patience)? else {
            let report = self.report(patience)?;
            self.ended = report.ended()?;
            self.over = true;
            return Ok(false);
        };
        records.push(first);
        while let Ok(bytes) = self.records.try_recv() {
            records.push(parsed(client, bytes)?);
        }
        Ok(true)
    }

    /// Waits for the next record; none at the end of the stream.
    fn read(&mut self, client: Client, patience: Duration) -> Result<Option<Record>, DeviceError> {
        match self.records.recv_timeout(patience) {
            Ok(bytes) => parsed(client, bytes).map(Some),
            Err(RecvTimeoutError::Timeout) => Err(DeviceError::Silent(patience.as_secs())),
            Err(RecvTimeoutError::Disconnected) => Ok(None),
        }
    }

    /// Waits for the end of the child, behind all records, and reads its account.
    fn report(&mut self, patience: Duration) -> Result<Report, DeviceError> {
        let deadline = Instant::now() + ENDING.min(patience);
        let status = loop {
            let ended = self.child.try_wait();
            match ended.map_err(|error| DeviceError::broken(error.to_string()))? {
                Some(status) => break status,
                None if Instant::now() >= deadline => {
                    return Err(DeviceError::Silent(patience.as_secs()));
                }
                None => thread::sleep(LOOK_PAUSE),
            }
        };
        let mut text = String::new();
        if let Some(errors) = self.child.stderr.take() {
            let read = errors.take(MOST_REPORT).read_to_string(&mut text);
            read.map_err(|error| DeviceError::broken(error.to_string()))?;
        }
        if !status.success() {
            let said: String = text.chars().take(200).collect();
            return Err(DeviceError::broken(format!("{status}: {}", said.trim())));
        }
        serde_json::from_str(text.trim())
            .map_err(|error| DeviceError::broken(format!("its account: {error}")))
    }
}

impl Report {
    /// Judges the account of a session that ran.
    fn ended(&self) -> Result<Ended, DeviceError> {
        if self.secret_words_left > 0 {
            return Err(DeviceError::broken("it has not erased its labels"));
        }
        match self.fault {
            fault::NONE => Ok(Ended {
                clock_cycles: Some(self.total_cycles + self.held_cycles),
            }),
            fault::OLD_KEY => Err(DeviceError::OldKey),
            fault::LIMIT => Err(DeviceError::Limit),
            other => Err(DeviceError::broken(format!("fault {other}"))),
        }
    }
}

impl Drop for Session {
    /// Ends the child. Its memory goes with it.
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn parsed(
    client: Client,
    bytes: Result<[u8; RECORD_BYTES], String>,
) -> Result<Record, DeviceError> {
    let mut bytes = bytes.map_err(DeviceError::Broken)?;
    let record = Record::parse(client, &bytes);
    bytes.zeroize();
    record
}

/// The hexadecimal digit of a secret below 16, without a table or a branch.
fn digit(nibble: u8) -> char {
    // Bit 7 is set from 10 on.
    let letter = 9u8.wrapping_sub(nibble) >> 7;
    char::from(b'0' + nibble + letter * (b'a' - b'0' - 10))
}

/// Hands records on until the stream or the session ends.
fn forward(output: ChildStdout, to: &SyncSender<Result<[u8; RECORD_BYTES], String>>) {
    let mut output = BufReader::with_capacity(1 << 16, output);
    loop {
        let mut bytes = [0; RECORD_BYTES];
        let next = match fill(&mut output, &mut bytes) {
            Ok(0) => return,
            Ok(RECORD_BYTES) => Ok(bytes),
            Ok(some) => Err(format!("a record of {some} bytes")),
            Err(error) => Err(error.to_string()),
        };
        let last = next.is_err();
        if to.send(next).is_err() || last {
            return;
        }
    }
}

/// Reads until `bytes` is full or the stream ends, and returns how many came.
fn fill(from: &mut impl Read, bytes: &mut [u8]) -> std::io::Result<usize> {
    let mut filled = 0;
    while filled < bytes.len() {
        match from.read(&mut bytes[filled..]) {
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_hexadecimal() {
        let digits: String = (0..16).map(digit).collect();
        assert_eq!(digits, "0123456789abcdef");
    }
}
