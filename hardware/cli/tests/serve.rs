//! `sealane-hw serve` and `sealane-hw netlist run` as processes of their own, over TLS.
//!
//! The hardware serves in the test that `make test-rtl` asks for.

use sealane_hw_testkit::bench;
use sealane_identity::Identity;
use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let named = |name: &str| arguments.iter().any(|argument| argument == name);
    if named("--list") {
        return ExitCode::SUCCESS;
    }
    // As with the usual harness: those that need hardware run with `--ignored` alone.
    if !named("--ignored") {
        served_by(&["--device", "cpu"], "mi");
        served_by(&["--device", "model"], "prp");
        let two = ["--machine", "1a3x", "--engines", "2"];
        served_by(&[&["--device", "model"][..], &two].concat(), "mi");
        machines_are_those_that_there_are();
        what_differs_is_reported();
        nothing_outlives_a_server_that_is_killed();
        sessions_are_bounded();
        one_is_singular();
    } else {
        let better = ["--machine", "1a3x"];
        let two = ["--machine", "1a3x", "--engines", "2"];
        for (scheme, folder, machine) in [
            ("prp", "fase", &[][..]),
            ("prp", "banked", &better),
            ("prp", "two", &two),
            ("mi", "mi", &[]),
            ("mi", "banked_mi", &better),
            ("mi", "two_mi", &two),
        ] {
            if scheme == "mi" && named("small") {
                continue;
            }
            let bench = bench(folder).display().to_string();
            let rtl = ["--device", "rtl", "--bench", &bench];
            served_by(&[&rtl[..], machine].concat(), scheme);
        }
        another_bench_is_refused();
    }
    println!("netlists are served between processes");
    ExitCode::SUCCESS
}

/// A command in a folder.
fn sealane(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sealane-hw"));
    command.current_dir(folder).args(arguments);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Runs a command that ends with this status and prints each of these texts; returns all it prints.
fn says(folder: &Path, arguments: &[&str], status: i32, texts: &[&str]) -> String {
    let output = sealane(folder, arguments).output().expect("a process");
    let text = [output.stdout, output.stderr].concat();
    let text = String::from_utf8(text).expect("text");
    let all = texts.iter().all(|it| text.contains(it));
    assert!(
        output.status.code() == Some(status) && all,
        "{arguments:?}: {text}"
    );
    text
}

/// The netlist of the millionaires' problem.
const MILL: &str = "../netlists/Mill_8_8.scd";

/// Arguments that run a netlist with the server.
fn run_of<'a>(netlist: &'a str, input: &'a str, options: &[&'a str]) -> Vec<&'a str> {
    let usual = [
        "netlist", "run", netlist, "--with", "server", "--input", input,
    ];
    [&usual, options].concat()
}

/// Folders of a server and two clients that know each other, and of netlists.
struct ServedFolders {
    folder: tempfile::TempDir,
}

/// Functions, the inputs of server and client, and the last output.
const CASES: [(&str, &str, &str, &str); 4] = [
    ("Mill_8_8", "cycles 8 a1", "cycles 8 24", "01"),
    // A bit of the sum in each cycle.
    ("Add_8_8", ADDED[0], ADDED[1], "01"),
    ("AES_128_11", KEY, BLOCK, "69c4e0d86a7b0430d8cdb78070b4c55a"),
    ("MAC_32_1", "00000040", "00000040", "00000008"),
];

const ADDED: [&str; 2] = ["cycles 8 open-every a1", "cycles 8 open-every 24"];
const KEY: &str = "cycles 10 000102030405060708090a0b0c0d0e0f";
const BLOCK: &str = "cycles 10 00112233445566778899aabbccddeeff";

impl ServedFolders {
    fn new() -> ServedFolders {
        let folder = tempfile::tempdir().expect("a folder");
        let place = ServedFolders { folder };
        let server = place.join("server", None);
        for client in ["ann", "bob"] {
            let own = place.join(client, Some(&server));
            place.pin("server", &own);
        }
        let netlists = place.of("netlists");
        std::fs::create_dir(&netlists).expect("a folder");
        for (name, own, theirs, _) in CASES {
            let file = format!("{name}.scd");
            let source = ["netlist", "source", name, "--output", &file];
            says(&netlists, &source, 0, &[]);
            std::fs::write(netlists.join(format!("{name}.input")), own).expect("a file");
            std::fs::write(place.of("ann").join(name), theirs).expect("a file");
            std::fs::write(place.of("bob").join(name), theirs).expect("a file");
        }
        place
    }

    /// Sets up a party that knows another one, as `sealane init` and `sealane peer add` do. Returns
    /// its entry for the configuration of others.
    fn join(&self, name: &str, other: Option<&str>) -> String {
        let folder = self.of(name);
        std::fs::create_dir(&folder).expect("a folder");
        let identity = Identity::generate();
        let key_file = format!("{name}.key");
        identity.save(&folder.join(&key_file)).expect("a file");
        let port = sealane_net::free_loopback_port().expect("a port");
        let key = identity.public_key();
        let own = format!("[parties.{name}]\naddress = \"127.0.0.1:{port}\"\nkey = \"{key}\"\n");
        let config = format!("me = \"{name}\"\nidentity = \"{key_file}\"\n{own}");
        std::fs::write(folder.join("sealane.toml"), config).expect("a file");
        other.iter().for_each(|other| self.pin(name, other));
        own
    }

    /// Adds the entry of another party to a configuration.
    fn pin(&self, name: &str, other: &str) {
        let path = self.of(name).join("sealane.toml");
        let config = std::fs::read_to_string(&path).expect("a file");
        std::fs::write(path, config + other).expect("a file");
    }

    fn of(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }
}

/// A server, until it has had its sessions.
struct Server {
    child: Child,
    lines: std::io::Lines<BufReader<std::process::ChildStdout>>,
    first: Value,
}

impl Server {
    fn start(place: &ServedFolders, scheme: &str, options: &[&str]) -> Server {
        let usual = ["serve", "../netlists", "--json", "--scheme", scheme];
        let mut command = sealane(&place.of("server"), &[&usual, options].concat());
        let mut child = command.stderr(Stdio::inherit()).spawn().expect("a process");
        let stdout = child.stdout.take().expect("a pipe");
        let mut lines = BufReader::new(stdout).lines();
        let first = lines.next().expect("a line").expect("text");
        Server {
            child,
            lines,
            first: serde_json::from_str(&first).expect("JSON"),
        }
    }

    /// The lines of its sessions. Waits for its end.
    fn sessions(mut self) -> Vec<Value> {
        let lines = self.lines.map(|line| line.expect("text"));
        let lines = lines.map(|line| serde_json::from_str(&line).expect("JSON"));
        let lines = lines.collect();
        assert!(self.child.wait().expect("its end").success());
        lines
    }
}

/// Two clients at the same time run three netlists each.
fn served_by(options: &[&str], scheme: &str) {
    let place = ServedFolders::new();
    let server = Server::start(&place, scheme, &[options, &["--sessions", "8"]].concat());
    assert_eq!(server.first["serves"].as_array().map(Vec::len), Some(4));
    let clients = |case| ["ann", "bob"].map(|client| (client, case));
    let runs = CASES.into_iter().flat_map(clients).map(|(client, case)| {
        let (name, _, _, last) = case;
        let netlist = format!("../netlists/{name}.scd");
        let arguments = run_of(&netlist, name, &["--json", "--scheme", scheme]);
        let child = sealane(&place.of(client), &arguments).spawn();
        let outputs = if name == "Add_8_8" { 8 } else { 1 };
        (last, outputs, child.expect("a process"))
    });
    for (last, count, child) in runs.collect::<Vec<_>>() {
        let output = child.wait_with_output().expect("its end");
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{errors}");
        let value: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        let outputs = value["outputs"].as_array().expect("outputs");
        assert_eq!(outputs.last().and_then(Value::as_str), Some(last));
        assert_eq!(outputs.len(), count);
        assert_eq!(value["planned"], value["measured"]);
    }
    let sessions = server.sessions();
    assert_eq!(sessions.len(), 8);
    for session in sessions {
        assert_eq!(session["planned"], session["measured"], "{session}");
        assert_eq!(session["device"], options[1], "{session}");
        let counts = session["clock_cycles"].is_u64();
        assert_eq!(counts, options[1] != "cpu", "{session}");
        let machine = match (options[1], options.last()) {
            ("cpu", _) => None,
            (_, Some(&"1a3x")) => Some("1a3x"),
            (_, Some(&"2")) => Some("2 engines 1a3x"),
            _ => Some("fase"),
        };
        assert_eq!(session["machine"].as_str(), machine, "{session}");
    }
}

/// Machines are those of `rtl/`, and this CPU is none.
fn machines_are_those_that_there_are() {
    let place = ServedFolders::new();
    let refused = |options: &[&str], texts: &[&str]| {
        let arguments = [&["serve", "../netlists"], options].concat();
        says(&place.of("server"), &arguments, 2, texts);
    };
    for options in [&["--machine", "1a3x"][..], &["--engines", "1"]] {
        refused(options, &["the device is this CPU", "`--device model`"]);
    }
    let two = ["--device", "model", "--engines", "2"];
    refused(&two, &["hint: name the better engine"]);
    let three = ["--device", "model", "--machine", "1a3x", "--engines", "3"];
    refused(&three, &["3 is not from 1 to 2"]);
}

/// A bench of another machine is named, and the build that is asked for.
fn another_bench_is_refused() {
    let place = ServedFolders::new();
    let bench = bench("fase").display().to_string();
    let rtl = ["serve", "../netlists", "--device", "rtl", "--bench", &bench];
    let better = ("1 engine 1a3x for mi", "banked_mi");
    let fase = ("FASE's machine for mi", "mi");
    let cases = [(&["--machine", "1a3x"][..], better), (&[], fase)];
    for (options, (asked, folder)) in cases {
        let what = format!("the bench is FASE's machine for prp, and {asked} is asked for");
        let target = format!("`make -C hardware/rtl {folder}`");
        let texts = ["error[device]", &what, &target];
        says(
            &place.of("server"),
            &[&rtl[..], options].concat(),
            2,
            &texts,
        );
    }
}

/// A client has as many sessions as it is given, and others have theirs. No netlist is served
/// twice.
fn sessions_are_bounded() {
    let place = ServedFolders::new();
    let server = Server::start(&place, "mi", &["--sessions", "2", "--sessions-each", "1"]);
    let run = |client: &str, status, texts: &[&str]| {
        let arguments = run_of(MILL, "Mill_8_8", &[]);
        says(&place.of(client), &arguments, status, texts)
    };
    // The output of the last netlist cycle, and of no other.
    assert!(!run("ann", 0, &["output"]).contains("of each"));
    run("ann", 5, &["[other-job]", "with this client"]);
    run("bob", 0, &[]);
    assert_eq!(server.sessions().len(), 3);
    let netlists = place.of("netlists");
    for kind in ["scd", "input"] {
        let [from, to] = ["Mill_8_8", "copy"].map(|name| netlists.join(format!("{name}.{kind}")));
        std::fs::copy(from, to).expect("a copy");
    }
    let texts = ["[netlist-file]", "the same netlist as"];
    says(&place.of("server"), &["serve", "../netlists"], 2, &texts);
}

/// Of one thing there are no plurals.
fn one_is_singular() {
    let place = ServedFolders::new();
    let mut command = sealane(&place.of("server"), &["serve", MILL, "--sessions", "1"]);
    let mut child = command.spawn().expect("a process");
    let lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
    let mut text = String::new();
    for line in lines {
        text += &line.expect("text");
        if text.contains("Ctrl-C") {
            break;
        }
    }
    child.kill().expect("it runs");
    child.wait().expect("its end");
    assert!(text.contains("8 netlist cycles, 1 AND each"), "{text}");
    assert!(text.contains("after 1 session, or"), "{text}");
    let sources = ["netlist", "source"];
    let text = says(
        &place.of("ann"),
        &sources,
        0,
        &["MAC_32_1, 1 netlist cycle"],
    );
    assert!(!text.contains(" 1 netlist cycles"), "{text}");
}

/// A party that the server does not know hears so.
fn stranger_is_reported_and_logged(place: &ServedFolders) {
    let config = std::fs::read_to_string(place.of("server").join("sealane.toml"));
    let config = config.expect("a file");
    let server = config
        .split("[parties.")
        .find(|entry| entry.starts_with("server]"));
    let server = format!("[parties.{}", server.expect("the server itself"));
    place.join("eve", Some(&server));
    let texts = [
        "has no party with this one's key",
        "`sealane peer add CARD` there",
    ];
    let arguments = run_of(MILL, "../ann/Mill_8_8", &[]);
    says(&place.of("eve"), &arguments, 5, &texts);
}

/// A bench that says nothing, and a process of its own, end with a server that is killed.
fn nothing_outlives_a_server_that_is_killed() {
    use std::io::Read;
    use std::os::unix::fs::PermissionsExt;
    let place = ServedFolders::new();
    let (bench, alive) = (place.of("bench"), place.of("alive"));
    // All that lives of the bench holds the pipe.
    let pipe = alive.display();
    let text = format!("#!/bin/sh\nexec 3>{pipe}\necho up >&3\nsleep 100\n");
    std::fs::write(&bench, text).expect("a file");
    std::fs::set_permissions(&bench, PermissionsExt::from_mode(0o700)).expect("rights");
    let made = Command::new("mkfifo").arg(&alive).status();
    assert!(made.expect("a process").success());
    let bench = bench.display().to_string();
    let rtl = ["serve", "../netlists", "--device", "rtl", "--bench", &bench];
    let server = sealane(&place.of("server"), &rtl).spawn();
    let mut server = server.expect("a process");
    let mut held = std::fs::File::open(&alive).expect("the bench");
    let mut up = [0; 3];
    held.read_exact(&mut up).expect("a line");
    let killed = std::time::Instant::now();
    server.kill().expect("a process");
    server.wait().expect("its end");
    held.read_to_end(&mut Vec::new()).expect("the end of all");
    assert!(killed.elapsed() < std::time::Duration::from_secs(50));
}

/// A client with another job is told so, and the server goes on.
fn what_differs_is_reported() {
    let place = ServedFolders::new();
    let server = Server::start(&place, "mi", &["--sessions", "1"]);
    let run = |input: &str, scheme: &str, status, texts: &[&str]| {
        let arguments = run_of(MILL, input, &["--scheme", scheme]);
        says(&place.of("ann"), &arguments, status, texts);
    };
    // The last one has no line `cycles`.
    for (name, text) in [
        ("nine", "cycles 9 2400"),
        ("long", "cycles 8 2400"),
        ("every", "cycles 8 open-every 24"),
        ("bare", "24"),
    ] {
        std::fs::write(place.of("ann").join(name), text).expect("a file");
    }
    let nine = [
        "[other-job]",
        "for 8 netlist cycles",
        "with the line `cycles 8`",
    ];
    run("nine", "mi", 5, &nine);
    let every = ["[other-job]", "the last netlist cycle alone"];
    run("every", "mi", 5, &every);
    run("Mill_8_8", "prp", 5, &["scheme `mi`", "`--scheme mi`"]);
    run("long", "mi", 2, &["[circuit-value]"]);
    let bare = ["bare: an input of 1 bit", "the line `cycles 8`"];
    run("bare", "mi", 2, &bare);
    let netlist = "../netlists/AES_128_11.scd";
    let arguments = ["netlist", "run", netlist, "--with", "server"];
    says(
        &place.of("ann"),
        &arguments,
        2,
        &[netlist, "`--input FILE`"],
    );
    stranger_is_reported_and_logged(&place);
    run("Mill_8_8", "mi", 0, &["as planned"]);
    let lines = server.sessions();
    let of_ann = lines.iter().filter(|line| line["client"] == "ann");
    let reported = of_ann.filter_map(|line| line["error"]["message"].as_str());
    let expected = [
        "another number of netlist cycles",
        "the outputs of other netlist cycles",
        "another scheme",
    ];
    let expected = expected.map(|asked| format!("ann gets no session: it asks for {asked}"));
    assert_eq!(reported.collect::<Vec<_>>(), expected);
    let refused = lines.iter().filter(|line| line["refused"].is_string());
    let refused: Vec<&Value> = refused.collect();
    assert_eq!(refused.len(), 1, "{lines:?}");
    assert_eq!(refused[0]["fingerprint"].as_str().map(str::len), Some(35));
    assert_eq!(lines.len(), 5, "{lines:?}");
    // A device that is not there.
    let arguments = ["serve", MILL, "--device", "rtl", "--bench", "no-such-bench"];
    let text = says(&place.of("server"), &arguments, 2, &[]);
    let (waits, text) = text.split_once('\n').expect("two lines");
    assert_eq!(
        waits,
        "waits for no-such-bench to take a netlist, 120 s at most"
    );
    sealane_testkit::page::shows("device", text.trim());
}
