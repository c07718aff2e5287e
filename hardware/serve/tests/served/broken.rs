//! Hardware that is slow, silent or broken: programs in its place that behave so. Every wait ends,
//! and no session delays another one.

use crate::sessions::{meshes, run};
use crate::support::{Which, extent, keys, ours};
use sealane_garble::Scheme;
use sealane_hw_testkit::for_devices as random;
use sealane_parties::NetworkClass;
use sealane_serve::device::{
    Build, Client, Device, DeviceError, DeviceNetlist, Ended, Extent, Keys, Record, Rtl,
    RtlMachine, RtlOptions,
};
use sealane_serve::input::InputText;
use sealane_serve::server::Served;
use sealane_serve::{Job, Span};
use std::os::unix::fs::PermissionsExt;
use std::thread;
use std::time::{Duration, Instant};

/// The account of a session without a fault.
const WELL: &str =
    r#"echo '{"fault": 0, "total_cycles": 1, "held_cycles": 0, "secret_words_left": 0}' >&2"#;
/// How a bench of FASE's machine for `mi` says what it is.
const MACHINE: &str = r#"{"hash": 1, "queue": 1, "xor_units": 0, "engines": 1}"#;

/// A bench that accepts every netlist, and runs the lines of a shell script in each session.
fn bench(lines: &str, patience: Duration) -> (Rtl, tempfile::TempDir) {
    let (mut rtl, folder) = bench_of(&format!(", \"machine\": {MACHINE}"), lines, patience);
    let netlist = DeviceNetlist::new(&random(1)).unwrap();
    rtl.load(&netlist).expect("any netlist");
    (rtl, folder)
}

/// A bench that says this of its machine.
fn bench_of(machine: &str, lines: &str, patience: Duration) -> (Rtl, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let bench = folder.path().join("bench");
    let text = format!(
        "#!/bin/sh\ncat > /dev/null\nif [ \"$5\" = 0 ]; then\n    \
         echo '{{\"fault\": 2, \"total_cycles\": 0, \"held_cycles\": 0, \"secret_words_left\": 0{machine}}}' >&2\n    \
         exit 0\nfi\n{lines}\n"
    );
    std::fs::write(&bench, text).unwrap();
    let rights = std::fs::Permissions::from_mode(0o700);
    std::fs::set_permissions(&bench, rights).unwrap();
    let scheme = Scheme::Mi;
    let rtl = Rtl::new(RtlOptions {
        bench,
        scheme,
        machine: RtlMachine::Fase,
        patience,
    });
    (rtl, folder)
}

/// Reads a session until it ends, and returns its records and its end.
fn read(rtl: &mut Rtl, most: Duration) -> (usize, Result<(), DeviceError>) {
    let started = rtl.start(Client(0), keys(1), extent(2));
    started.expect("a session");
    let (begun, mut count) = (Instant::now(), 0);
    loop {
        let mut records = Vec::new();
        let more = rtl.read(Client(0), &mut records);
        assert!(records.len() <= 1 << 12, "memory is bounded");
        count += records.len();
        match more {
            Ok(true) if begun.elapsed() > most => panic!("no end after {:?}", begun.elapsed()),
            Ok(true) => {}
            Ok(false) => return (count, rtl.end(Client(0)).map(|_| ())),
            Err(error) => return (count, Err(error)),
        }
    }
}

#[test]
fn a_session_that_ends_well_is_read_to_its_end() {
    let zeros = "head -c 48000 /dev/zero";
    let (mut rtl, _folder) = bench(&format!("{zeros}\n{WELL}"), Duration::from_secs(20));
    assert_eq!(read(&mut rtl, Duration::from_secs(20)), (1000, Ok(())));
}

#[test]
fn a_session_that_is_silent_ends() {
    let (mut rtl, _folder) = bench("sleep 60", Duration::from_secs(1));
    let (count, end) = read(&mut rtl, Duration::from_secs(10));
    assert_eq!((count, end), (0, Err(DeviceError::Silent(1))));
}

/// Another process holds the pipes of a device that has ended.
#[test]
fn a_process_that_a_device_leaves_behind_delays_nobody_for_long() {
    for holds in ["sleep 20 &", "sleep 20 >&- &"] {
        let (mut rtl, _folder) = bench(&format!("{WELL}\n{holds}"), Duration::from_secs(1));
        let (count, end) = read(&mut rtl, Duration::from_secs(10));
        assert_eq!((count, end), (0, Err(DeviceError::Silent(1))), "{holds}");
    }
}

#[test]
fn what_is_no_record_or_no_account_is_refused() {
    let broken = |lines: &str| {
        let (mut rtl, _folder) = bench(lines, Duration::from_secs(20));
        match read(&mut rtl, Duration::from_secs(20)) {
            (_, Err(DeviceError::Broken(text))) => text,
            other => panic!("{other:?}"),
        }
    };
    let part = broken(&format!("head -c 100 /dev/zero\n{WELL}"));
    assert!(part.contains("4 bytes"), "{part}");
    let account = broken("echo no account >&2");
    assert!(account.contains("account"), "{account}");
    let status = broken("echo no memory >&2\nexit 3");
    assert!(status.contains("no memory"), "{status}");
    let left = broken(&WELL.replace("\"secret_words_left\": 0", "\"secret_words_left\": 1"));
    assert!(left.contains("erased"), "{left}");
}

/// A bench says which machine it is; one that says another, or nothing, is refused.
#[test]
fn a_bench_of_another_machine_is_refused() {
    let netlist = DeviceNetlist::new(&random(1)).unwrap();
    let expected = Build::of(RtlMachine::Fase, Scheme::Mi);
    let refused = |machine: &str| {
        let (mut rtl, _folder) = bench_of(machine, WELL, Duration::from_secs(20));
        let error = rtl.load(&netlist).unwrap_err();
        match &error {
            DeviceError::OtherBuild {
                expected: asked, ..
            } if *asked == expected => {}
            other => panic!("{other}"),
        }
        assert!(rtl.start(Client(0), keys(1), extent(1)).is_err());
        error.to_string()
    };
    let same = format!(", \"machine\": {MACHINE}");
    let texts = [
        refused(""),
        refused(&same.replace("\"hash\": 1", "\"hash\": 0")),
        refused(&same.replace("\"hash\": 1", "\"hash\": 2")),
        refused(&same.replace("\"queue\": 1", "\"queue\": 0")),
        refused(&same.replace("\"xor_units\": 0", "\"xor_units\": 3")),
    ];
    let asked = ", and FASE's machine for mi is asked for";
    let found = [
        "of an older version",
        "FASE's machine for prp",
        "FASE's machine with the broken hash of the released hardware",
        "FASE's machine without the optimisation of its memory for mi",
        "1 engine 1a3x for mi",
    ];
    let expected = found.map(|found| format!("the bench is {found}{asked}"));
    assert_eq!(texts, expected);
}

/// Records without an end come in pieces.
#[test]
fn an_endless_stream_is_read_in_pieces() {
    let (mut rtl, _folder) = bench("cat /dev/zero", Duration::from_secs(20));
    let started = rtl.start(Client(0), keys(1), extent(2));
    started.expect("a session");
    for _ in 0..200 {
        let mut records = Vec::new();
        assert_eq!(rtl.read(Client(0), &mut records), Ok(true));
        assert!(records.len() <= 1 << 12, "memory is bounded");
    }
    rtl.end(Client(0)).expect("an end at any time");
}

/// Hardware that gives nothing in its first session, and is the CPU in all others.
struct Stuck {
    cpu: Box<dyn Device>,
    silent: Rtl,
    stuck: Option<Client>,
    _folder: tempfile::TempDir,
}

impl Device for Stuck {
    fn name(&self) -> &'static str {
        "stuck"
    }

    fn scheme(&self) -> Scheme {
        Scheme::Mi
    }

    fn load(&mut self, netlist: &DeviceNetlist) -> Result<(), DeviceError> {
        self.cpu.load(netlist)
    }

    fn start(&mut self, client: Client, keys: Keys, extent: Extent) -> Result<(), DeviceError> {
        self.stuck.get_or_insert(client);
        self.of(client).start(client, keys, extent)
    }

    fn read(&mut self, client: Client, records: &mut Vec<Record>) -> Result<bool, DeviceError> {
        self.of(client).read(client, records)
    }

    fn end(&mut self, client: Client) -> Result<Ended, DeviceError> {
        self.of(client).end(client)
    }
}

impl Stuck {
    fn of(&mut self, client: Client) -> &mut dyn Device {
        if self.stuck == Some(client) {
            &mut self.silent
        } else {
            &mut *self.cpu
        }
    }
}

/// A session at which the hardware is silent delays no session of another client.
#[test]
fn a_session_that_is_stuck_delays_no_other() {
    const PATIENCE: Duration = Duration::from_secs(8);
    let (silent, folder) = bench("sleep 60", PATIENCE);
    let device = Box::new(Stuck {
        cpu: Which::Cpu(Scheme::Mi).device(),
        silent,
        stuck: None,
        _folder: folder,
    });
    let mill = ours("Mill_8_8");
    let job = Job::new(&mill, Span::last(8), Scheme::Mi, NetworkClass::LAN).unwrap();
    let input = InputText::parse("a1").unwrap().bits(8).unwrap();
    let served = [Served::new(job.clone(), input, device, 4, u64::MAX).unwrap()];
    let bits = InputText::parse("24").unwrap().bits(8).unwrap();
    let session = |number: u64| {
        let ends = run(meshes(), (&served, &job), &bits, number, || Ok(()));
        ends.client.is_ok()
    };
    thread::scope(|threads| {
        let stuck = threads.spawn(|| session(0));
        thread::sleep(Duration::from_millis(500));
        let begun = Instant::now();
        assert!((1..4).all(session));
        assert!(begun.elapsed() < PATIENCE / 2, "{:?}", begun.elapsed());
        assert!(!stuck.join().unwrap(), "a device that gives nothing");
    });
}
