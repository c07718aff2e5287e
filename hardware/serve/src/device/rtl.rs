//! The hardware of `rtl/` as a device: its Verilated bench as a child process, which reads the
//! secrets of a session from its standard input and writes records to its standard output.
//!
//! The machine has one session at a time, so each client has a process of its own, and clients
//! interleave as processes do. Pipes give back-pressure: a session whose records nobody reads
//! stops, and delays no other. They end with this process, also where it is killed.
//!
//! Better engines get the netlist as bundles ([`sealane_accel::bundle`]), in their own order. Their
//! tables carry the numbers of the ANDs in the netlist as it was given, and their masks are put in
//! its order here. So records differ from those of FASE's machine in nothing but when they come.

use super::{
    Build, Client, Device, DeviceError, DeviceNetlist, Ended, Extent, Keys, RECORD_BYTES, Record,
    RtlMachine, Sessions, Tag,
};
use sealane_accel::formats::{Format, Width, write};
use sealane_block::Block;
use sealane_garble::Scheme;
use serde::Deserialize;
use std::io::{ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::{Duration, Instant, SystemTime};
use zeroize::{Zeroize, Zeroizing};

/// Records that cross from the reading thread to the host at once.
const CHUNK_RECORDS: usize = 256;
/// Chunks that wait for the host in each session.
const WAITING: usize = 8;
/// Longest time for which one call waits for a record: sessions of others wait as long.
const LOOK: Duration = Duration::from_millis(2);
/// Longest time that a child takes to end once it has written everything.
const ENDING: Duration = Duration::from_secs(10);
/// Most bytes of the account of a session.
const MOST_REPORT: u64 = 1 << 16;

/// How hardware is run.
#[derive(Clone, Debug)]
pub struct RtlOptions {
    /// The bench, as `make -C hardware/rtl` builds it.
    pub bench: PathBuf,
    /// The scheme of that build: `prp`, or `mi` with `HASH=1`.
    pub scheme: Scheme,
    /// The machine of that build.
    pub machine: RtlMachine,
    /// Longest time without a record, after which the device is given up.
    pub patience: Duration,
}

/// The Verilated hardware.
pub struct Rtl {
    options: RtlOptions,
    loaded: Option<Loaded>,
    sessions: Sessions<Session>,
    group: Group,
}

/// A netlist as the machine takes it.
struct Loaded {
    file: tempfile::NamedTempFile,
    /// For each mask of the machine, its place among the outputs; none if they are in order.
    outputs: Option<Arc<[u32]>>,
    /// The bench that said which machine it is.
    bench: Option<Stamp>,
}

/// Length and time of a file, by which another one in its place is known.
type Stamp = (u64, SystemTime);

fn stamp(path: &Path) -> Option<Stamp> {
    let metadata = path.metadata().ok()?;
    Some((metadata.len(), metadata.modified().ok()?))
}

impl Rtl {
    /// Creates the device. Nothing is started yet.
    pub fn new(options: RtlOptions) -> Rtl {
        Rtl {
            options,
            loaded: None,
            sessions: Sessions::default(),
            group: Group { leader: None },
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

    fn machine(&self) -> Option<RtlMachine> {
        Some(self.options.machine)
    }

    /// Takes a netlist, and has the machine look at it: one session of no netlist cycle, which the
    /// machine refuses for that reason if the netlist fits. Its account says which machine it is.
    fn load(&mut self, netlist: &DeviceNetlist) -> Result<(), DeviceError> {
        if !self.sessions.is_empty() {
            return Err(DeviceError::NotNow);
        }
        let refused = |error: String| DeviceError::Netlist(error);
        let (text, outputs) = match self.options.machine {
            RtlMachine::Fase => {
                let netlist = netlist.netlist();
                let narrow = write(netlist, Format::Hscd(Width::Narrow), &[]);
                let text = narrow.or_else(|_| write(netlist, Format::Hscd(Width::Wide), &[]));
                (text.map_err(|error| refused(error.to_string()))?, None)
            }
            RtlMachine::Better(better) => {
                let made = better.bundles(netlist)?;
                (made.text.into_bytes(), Some(made.outputs.into()))
            }
        };
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
        let extent = Extent::default();
        let bench = stamp(&self.options.bench);
        self.group = Group::start();
        let mut trial = Session::start(&self.options, &self.group, file.path(), &keys, extent)?;
        let report = loop {
            match trial.next(self.options.patience)? {
                Next::Nothing => {}
                Next::Chunk(_) => {
                    return Err(DeviceError::broken("records of a session without cycles"));
                }
                Next::End(report) => break report,
            }
        };
        let expected = Build::of(self.options.machine, self.options.scheme);
        if report.machine != Some(expected) {
            return Err(DeviceError::OtherBuild {
                expected,
                found: report.machine,
            });
        }
        if report.fault != fault::NO_CYCLES {
            return Err(refused("the machine has no room for it".into()));
        }
        self.loaded = Some(Loaded {
            file,
            outputs,
            bench,
        });
        Ok(())
    }

    fn start(&mut self, client: Client, keys: Keys, extent: Extent) -> Result<(), DeviceError> {
        let loaded = self.loaded.as_ref().ok_or(DeviceError::NotNow)?;
        let Loaded { file, outputs, .. } = loaded;
        let (options, group) = (&self.options, &self.group);
        // Another build would get the secrets of a session before it says which it is.
        if stamp(&options.bench) != loaded.bench {
            let what = "its bench is not the file that it was at the start";
            return Err(DeviceError::broken(what));
        }
        self.sessions.start(client, keys, extent, |keys, extent| {
            let mut session = Session::start(options, group, file.path(), &keys, extent)?;
            session.outputs = outputs.clone();
            Ok(session)
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
    pub const NO_CYCLES: u32 = 2;
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
    #[serde(default)]
    machine: Option<Build>,
}

/// A group of processes that no end of this one outlives. Its first process, a shell, waits for the
/// end of a pipe that this process alone holds, and then kills the group, itself included.
struct Group {
    leader: Option<Child>,
}

impl Group {
    /// Makes a group, where the system has groups and a shell.
    fn start() -> Group {
        let mut leader = Command::new("/bin/sh");
        leader.args(["-c", "read _; kill -9 0"]);
        leader.stdin(Stdio::piped()).stdout(Stdio::null());
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut leader, 0);
        let leader = leader.stderr(Stdio::null()).spawn();
        Group {
            leader: leader.ok(),
        }
    }

    /// Lets a process begin in the group.
    fn admit(&self, command: &mut Command) {
        #[cfg(unix)]
        if let Some(leader) = &self.leader {
            std::os::unix::process::CommandExt::process_group(command, leader.id() as i32);
        }
        let _ = command;
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        if let Some(mut leader) = self.leader.take() {
            drop(leader.stdin.take());
            let _ = leader.wait();
        }
    }
}

/// Whole records, one behind the other. They hold labels, so their memory is erased.
type Chunk = Zeroizing<Vec<u8>>;

/// A session: a child, and the threads that read its records and its account.
struct Session {
    child: Child,
    chunks: Receiver<Result<Chunk, String>>,
    account: Receiver<Result<String, String>>,
    /// When the last record came, or all had come.
    heard: Instant,
    /// Set once there are no more records.
    silent: bool,
    /// Set once the account has come, and all was well.
    ended: Ended,
    over: bool,
    /// As [`Loaded::outputs`].
    outputs: Option<Arc<[u32]>>,
}

/// The answer to a look at a session.
enum Next {
    /// Nothing has come yet.
    Nothing,
    /// Records.
    Chunk(Chunk),
    /// All records have come before; the child has ended.
    End(Report),
}

impl Session {
    fn start(
        options: &RtlOptions,
        group: &Group,
        netlist: &Path,
        keys: &Keys,
        extent: Extent,
    ) -> Result<Session, DeviceError> {
        let mut command = Command::new(&options.bench);
        command.arg(netlist).args(["--stream", "-"]);
        command.args(["--cycles", &extent.cycles.to_string()]);
        command.args(["--limit", &extent.most_ands.to_string()]);
        // Arguments of a process are no secret.
        command.args(["--seeds", "-"]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        command.stderr(Stdio::piped());
        group.admit(&mut command);
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
        let (to, chunks) = sync_channel(WAITING);
        if let Some(output) = child.stdout.take() {
            thread::spawn(move || forward(output, &to));
        }
        let (to, account) = sync_channel(1);
        if let Some(errors) = child.stderr.take() {
            thread::spawn(move || {
                let mut text = String::new();
                let read = errors.take(MOST_REPORT).read_to_string(&mut text);
                // Nobody waits for it where the session has ended.
                let _ = to.send(read.map(|_| text).map_err(|error| error.to_string()));
            });
        }
        let session = Session {
            child,
            chunks,
            account,
            heard: Instant::now(),
            silent: false,
            ended: Ended::default(),
            over: false,
            outputs: None,
        };
        // A child that ended already says why when it is read.
        match written {
            Some(Err(error)) if error.kind() != ErrorKind::BrokenPipe => Err(failed(error)),
            _ => Ok(session),
        }
    }

    /// Adds the records of a chunk, if one has come.
    fn take(
        &mut self,
        client: Client,
        patience: Duration,
        records: &mut Vec<Record>,
    ) -> Result<bool, DeviceError> {
        if self.over {
            return Ok(false);
        }
        match self.next(patience)? {
            Next::Nothing => {}
            Next::Chunk(chunk) => {
                let (chunk, _) = chunk.as_chunks::<RECORD_BYTES>();
                records.reserve(chunk.len());
                for bytes in chunk {
                    records.push(Record::parse(client, bytes)?);
                    if let (Some(outputs), Some(record)) = (&self.outputs, records.last_mut()) {
                        in_order(outputs, record)?;
                    }
                }
            }
            Next::End(report) => {
                self.ended = report.ended()?;
                self.over = true;
            }
        }
        Ok(!self.over)
    }

    /// Looks at the session, and waits a moment if nothing has come.
    fn next(&mut self, patience: Duration) -> Result<Next, DeviceError> {
        if !self.silent {
            match self.chunks.recv_timeout(LOOK) {
                Ok(chunk) => {
                    self.heard = Instant::now();
                    return chunk.map(Next::Chunk).map_err(DeviceError::Broken);
                }
                Err(RecvTimeoutError::Timeout) => return self.within(patience),
                Err(RecvTimeoutError::Disconnected) => {
                    (self.silent, self.heard) = (true, Instant::now());
                }
            }
        }
        // Another process may hold the pipes of a child that has ended.
        let ending = ENDING.min(patience);
        let ended = self.child.try_wait();
        let Some(status) = ended.map_err(|error| DeviceError::broken(error.to_string()))? else {
            thread::sleep(LOOK);
            return self.within(ending);
        };
        match self.account.recv_timeout(LOOK) {
            Ok(text) => report(status, &text.map_err(DeviceError::Broken)?).map(Next::End),
            Err(RecvTimeoutError::Timeout) => self.within(ending),
            Err(RecvTimeoutError::Disconnected) => Err(DeviceError::broken("it has no account")),
        }
    }

    /// Nothing yet, unless it has been so for too long.
    fn within(&self, limit: Duration) -> Result<Next, DeviceError> {
        if self.heard.elapsed() < limit {
            Ok(Next::Nothing)
        } else {
            Err(DeviceError::Silent(limit.as_secs()))
        }
    }
}

/// Reads the account of a child that has ended.
fn report(status: ExitStatus, text: &str) -> Result<Report, DeviceError> {
    if !status.success() {
        let said: String = text.chars().take(200).collect();
        return Err(DeviceError::broken(format!("{status}: {}", said.trim())));
    }
    serde_json::from_str(text.trim())
        .map_err(|error| DeviceError::broken(format!("its account: {error}")))
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

/// Puts masks in the order of the outputs: bit `i` goes to place `outputs[i]`. Machines with an
/// order of their own have at most one record of masks in a netlist cycle.
///
/// # Errors
/// [`DeviceError::Broken`] if there is a mask of no output.
fn in_order(outputs: &[u32], record: &mut Record) -> Result<(), DeviceError> {
    if record.tag != Tag::Masks {
        return Ok(());
    }
    let bits = Zeroizing::new(record.data);
    let mut beyond = outputs.len()..8 * bits.len();
    if beyond.any(|at| bits[at / 8] >> (at % 8) & 1 == 1) {
        return Err(DeviceError::broken("a mask of no output"));
    }
    record.data.zeroize();
    for (from, &to) in outputs.iter().enumerate().take(8 * bits.len()) {
        let bit = bits[from / 8] >> (from % 8) & 1;
        if let Some(byte) = record.data.get_mut(to as usize / 8) {
            *byte |= bit << (to % 8);
        }
    }
    Ok(())
}

/// The hexadecimal digit of a secret below 16, without a table or a branch.
fn digit(nibble: u8) -> char {
    // Bit 7 is set from 10 on.
    let letter = 9u8.wrapping_sub(nibble) >> 7;
    char::from(b'0' + nibble + letter * (b'a' - b'0' - 10))
}

/// Hands whole records on until the stream or the session ends.
fn forward(mut output: impl Read, to: &SyncSender<Result<Chunk, String>>) {
    let mut rest = Zeroizing::new([0; RECORD_BYTES]);
    let mut kept = 0;
    loop {
        let mut chunk = Zeroizing::new(vec![0; CHUNK_RECORDS * RECORD_BYTES]);
        chunk[..kept].copy_from_slice(&rest[..kept]);
        let mut filled = kept;
        let end = loop {
            match output.read(&mut chunk[filled..]) {
                Ok(0) => break Some(None),
                Ok(count) => filled += count,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => break Some(Some(error.to_string())),
            }
            if filled >= RECORD_BYTES {
                break None;
            }
        };
        kept = filled % RECORD_BYTES;
        rest[..kept].copy_from_slice(&chunk[filled - kept..filled]);
        chunk.truncate(filled - kept);
        if !chunk.is_empty() && to.send(Ok(chunk)).is_err() {
            return;
        }
        let error = match end {
            None => continue,
            Some(None) if kept > 0 => format!("a record of {kept} bytes"),
            Some(None) => return,
            Some(Some(error)) => error,
        };
        // Nobody waits for it where the session has ended.
        let _ = to.send(Err(error));
        return;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_hexadecimal() {
        let digits: String = (0..16).map(digit).collect();
        assert_eq!(digits, "0123456789abcdef");
    }
    #[test]
    fn masks_get_the_order_of_outputs_and_others_are_refused() {
        let record = |byte: u8| Record {
            client: Client(0),
            tag: Tag::Masks,
            cycle: 0,
            index: 0,
            data: std::array::from_fn(|at| if at == 0 { byte } else { 0 }),
        };
        let mut good = record(0b001);
        in_order(&[2, 0, 1], &mut good).expect("masks of outputs");
        assert_eq!(good.data[0], 0b100);
        assert!(in_order(&[2, 0, 1], &mut record(0b1000)).is_err());
    }
}
