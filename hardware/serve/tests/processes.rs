//! A server and its clients as processes of their own, over TLS with pinned keys: netlists of our
//! own sources, garbled by each device.
//!
//! This program is server and client as well: its first argument says which. The hardware serves
//! with `--ignored` alone, as in tests of the usual harness.

use sealane_block::{Coins, Cpu};
use sealane_garble::Scheme;
use sealane_hw_testkit::ours;
use sealane_identity::Identity;
use sealane_net::{Cancel, Endpoint, Limits, Mesh, MeshConfig, Reception, free_loopback_port};
use sealane_parties::{NetworkClass, PartyId};
use sealane_serve::device::{
    BetterEngines, Build, CpuDevice, Device, ModelDevice, Rtl, RtlMachine, RtlOptions,
};
use sealane_serve::input::{InputText, hex};
use sealane_serve::server::{Served, serve};
use sealane_serve::{Job, Span, client};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// Functions, netlist cycles, inputs of server and client, and the last output.
const CASES: [(&str, u32, &str, &str, &str); 3] = [
    ("Mill_8_8", 8, "a1", "24", "01"),
    (
        "AES_128_11",
        10,
        "000102030405060708090a0b0c0d0e0f",
        "00112233445566778899aabbccddeeff",
        "69c4e0d86a7b0430d8cdb78070b4c55a",
    ),
    ("MAC_32_1", 1, "00000040", "00000040", "00000008"),
];
const CLIENTS: [&str; 2] = ["ann", "bob"];

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words[..] {
        ["as-server", folder, port, device, scheme] => {
            server(Path::new(folder), port, device, scheme.parse().unwrap());
        }
        ["as-client", folder, port, name, case, scheme] => {
            let case = case.parse().unwrap();
            evaluator(Path::new(folder), port, name, case, scheme.parse().unwrap());
        }
        _ if words.contains(&"--list") => {}
        _ if words.contains(&"--ignored") => {
            for device in ["rtl", "rtl-1", "rtl-2"] {
                session(device, Scheme::Prp);
                if !words.contains(&"small") {
                    session(device, Scheme::Mi);
                }
            }
        }
        _ => {
            session("cpu", Scheme::Mi);
            session("model", Scheme::Prp);
            session("model-2", Scheme::Mi);
        }
    }
}

fn job(case: usize, scheme: Scheme) -> Job {
    let (name, cycles, ..) = CASES[case];
    Job::new(&ours(name), Span::last(cycles), scheme, NetworkClass::LAN).expect("a job")
}

fn device(name: &str, scheme: Scheme) -> Box<dyn Device> {
    let cpu = Cpu::detect().unwrap();
    // Behind the name, how many better engines.
    let machine = match name.split_once('-') {
        None => RtlMachine::Fase,
        Some((_, engines)) => RtlMachine::Better(BetterEngines {
            engines: engines.parse().unwrap(),
            tries: Some(3),
        }),
    };
    let build = Build::of(machine, scheme).target();
    match name.split('-').next() {
        Some("cpu") => Box::new(CpuDevice::new(cpu, scheme).unwrap()),
        Some("model") => Box::new(ModelDevice::new(cpu, scheme, machine).unwrap()),
        _ => Box::new(Rtl::new(RtlOptions {
            bench: sealane_hw_testkit::bench(build),
            scheme,
            machine,
            patience: Duration::from_secs(120),
        })),
    }
}

fn endpoint(folder: &Path, name: &str, port: &str) -> Endpoint {
    let key = std::fs::read_to_string(folder.join(format!("{name}.public"))).unwrap();
    Endpoint {
        name: name.to_string(),
        address: format!("127.0.0.1:{port}"),
        key: key.parse().unwrap(),
    }
}

fn identity(folder: &Path, name: &str) -> Identity {
    Identity::load(&folder.join(format!("{name}.key"))).unwrap()
}

/// Serves all cases to all clients, each once, and ends.
fn server(folder: &Path, port: &str, name: &str, scheme: Scheme) {
    let cpu = Cpu::detect().unwrap();
    let served = (0..CASES.len()).map(|case| {
        let job = job(case, scheme);
        let text = InputText::parse(CASES[case].2).unwrap();
        let input = text.bits(job.input_bits()[0]).unwrap();
        Served::new(job, input, device(name, scheme), 8, u64::MAX).unwrap()
    });
    let served: Vec<Served> = served.collect();
    let cancel = Cancel::default();
    let clients = CLIENTS.map(|client| endpoint(folder, client, "1")).to_vec();
    let own = endpoint(folder, "server", port);
    let key = identity(folder, "server");
    let limits = Limits::default();
    let reception = Reception::open(own, key, clients, None, limits, &cancel).unwrap();
    println!("ready");
    let done = AtomicUsize::new(0);
    reception.receive(|client, mut mesh| {
        let coins = Coins::from_os().unwrap();
        let outcome = serve(&served, || Ok(()), cpu, coins, &mut mesh);
        drop(mesh);
        let (case, account) = outcome.unwrap();
        assert_eq!(account.planned, account.measured);
        let clock = account.clock_cycles;
        assert_eq!(clock.is_some(), name != "cpu");
        println!("{} {} {:?}", CLIENTS[client], CASES[case].0, clock);
        if done.fetch_add(1, Ordering::SeqCst) + 1 == CLIENTS.len() * CASES.len() {
            cancel.cancel();
        }
    });
}

/// Evaluates one case, and prints the last output.
fn evaluator(folder: &Path, port: &str, name: &str, case: usize, scheme: Scheme) {
    let job = job(case, scheme);
    let text = InputText::parse(CASES[case].3).unwrap();
    let input = text.bits(job.input_bits()[1]).unwrap();
    let config = MeshConfig {
        me: PartyId(1),
        identity: identity(folder, name),
        parties: vec![
            endpoint(folder, "server", port),
            endpoint(folder, name, "1"),
        ],
        listen: None,
        limits: Limits::default(),
        cancel: Cancel::default(),
    };
    let mut mesh = Mesh::connect(&config).unwrap();
    let coins = Coins::from_os().unwrap();
    let cpu = Cpu::detect().unwrap();
    let (outputs, account) = client::run(&job, &input, cpu, coins, &mut mesh).unwrap();
    assert_eq!(account.planned, account.measured);
    println!("{}", hex(outputs.cycles().next_back().unwrap()));
}

fn spawn(arguments: &[&str]) -> Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(arguments).stdout(Stdio::piped());
    command.spawn().unwrap()
}

/// A server, and two clients that run all cases at the same time.
fn session(device: &str, scheme: Scheme) {
    let folder = tempfile::tempdir().unwrap();
    for name in ["server", "ann", "bob"] {
        let identity = Identity::generate();
        let file: PathBuf = folder.path().join(name);
        identity.save(&file.with_extension("key")).unwrap();
        let public = identity.public_key().to_string();
        std::fs::write(file.with_extension("public"), public).unwrap();
    }
    let at = folder.path().display().to_string();
    let port = free_loopback_port().unwrap().to_string();
    let mut serving = spawn(&["as-server", &at, &port, device, scheme.name()]);
    let mut lines = BufReader::new(serving.stdout.take().unwrap()).lines();
    assert_eq!(lines.next().unwrap().unwrap(), "ready");
    let mut running = Vec::new();
    for case in 0..CASES.len() {
        for client in CLIENTS {
            let number = case.to_string();
            let arguments = ["as-client", &at, &port, client, &number, scheme.name()];
            running.push((case, spawn(&arguments)));
        }
    }
    for (case, child) in running {
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", CASES[case].0);
        let text = String::from_utf8(output.stdout).unwrap();
        assert_eq!(text.trim(), CASES[case].4, "{}", CASES[case].0);
    }
    let mut sessions: Vec<String> = lines.map(Result::unwrap).collect();
    assert!(serving.wait().unwrap().success());
    sessions.sort();
    assert_eq!(sessions.len(), CLIENTS.len() * CASES.len());
    println!("{device} under {scheme}: {}", sessions.join(", "));
}
