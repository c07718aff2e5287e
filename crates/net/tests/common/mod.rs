//! Helpers shared by the tests of this crate.

use std::net::TcpStream;
use std::thread;
use std::time::Duration;

use sealane_net::{Limits, Mesh, MeshConfig, Result, SessionId};
use sealane_parties::PartyId;

pub const A: PartyId = PartyId(0);
pub const B: PartyId = PartyId(1);
pub const C: PartyId = PartyId(2);
pub const D: PartyId = PartyId(3);
pub const E: PartyId = PartyId(4);

/// Asserts that a value is of a pattern, and shows it if not.
macro_rules! assert_is {
    ($value:expr, $pattern:pat) => {{
        let value = $value;
        assert!(matches!(&value, $pattern), "{value:?}");
    }};
}

/// Asserts that `text` has each of these parts.
#[track_caller]
pub fn assert_has<const N: usize>(text: &str, parts: [&str; N]) {
    assert!(parts.iter().all(|part| text.contains(part)), "{text}");
}

/// Two meshes in one process.
pub fn in_memory(limits: Limits) -> [Mesh; 2] {
    Mesh::in_memory_with(2, limits).try_into().ok().unwrap()
}

/// Limits other than the default ones in what `change` sets.
pub fn limits(change: impl FnOnce(&mut Limits)) -> Limits {
    let mut limits = Limits::default();
    change(&mut limits);
    limits
}

/// Limits that let tests of failures end soon.
pub fn short() -> Limits {
    short_but(|_| ())
}

/// Short limits other in what `change` sets.
pub fn short_but(change: impl FnOnce(&mut Limits)) -> Limits {
    let mut limits = Limits {
        connect: Duration::from_millis(1500),
        silence: Duration::from_secs(1),
        linger: Duration::from_secs(2),
        patience: Duration::from_secs(60),
        ..Limits::default()
    };
    change(&mut limits);
    limits
}

/// Bytes whose pattern has a prime period, so that a shifted copy never matches.
pub fn pattern(length: usize) -> Vec<u8> {
    (0..251).cycle().take(length).collect()
}

/// The configurations of `parties` parties on free ports of this machine.
pub fn configs(parties: usize, limits: Limits) -> Vec<MeshConfig> {
    let names = ["ada", "bob", "cyd", "dan", "eve"];
    MeshConfig::on_loopback(&names[..parties], limits).unwrap()
}

/// The same, as so many as are taken apart.
pub fn configured<const N: usize>(limits: Limits) -> [MeshConfig; N] {
    configs(N, limits).try_into().ok().unwrap()
}

/// Lets all parties meet, each in a thread of its own.
pub fn connect_all(configs: Vec<MeshConfig>) -> Vec<Result<Mesh>> {
    on_threads(configs, |config| Mesh::connect(&config))
}

/// Runs each on a thread of its own. Returns their results in order.
pub fn on_threads<T: Send, R: Send>(each: Vec<T>, run: impl Fn(T) -> R + Sync) -> Vec<R> {
    let run = &run;
    thread::scope(|threads| {
        let begun = each.into_iter();
        let begun: Vec<_> = begun.map(|one| threads.spawn(move || run(one))).collect();
        begun.into_iter().map(|run| run.join().unwrap()).collect()
    })
}

/// Two parties that have met over TLS.
pub fn pair(limits: Limits) -> (Mesh, Mesh) {
    connected(configs(2, limits)).into()
}

/// The meshes of parties that all meet.
pub fn connected<const N: usize>(configs: Vec<MeshConfig>) -> [Mesh; N] {
    let meshes = connect_all(configs).into_iter().map(Result::unwrap);
    meshes.collect::<Vec<_>>().try_into().ok().unwrap()
}

/// Two parties that have met over TCP without encryption.
pub fn plain(limits: Limits) -> (Mesh, Mesh) {
    let [one, other] = configured(limits);
    let other = thread::spawn(move || Mesh::danger_plaintext(&other).unwrap());
    (Mesh::danger_plaintext(&one).unwrap(), other.join().unwrap())
}

/// Digest of the sent payload, where the parties have entered no session.
pub fn digest(from: PartyId, to: PartyId, sent: &[u8]) -> [u8; 32] {
    let payload = blake3::hash(sent);
    SessionId::default().transcript(from, to, payload.as_bytes(), None)
}

pub fn say(from: &mut Mesh, to: PartyId, bytes: &[u8]) {
    from.send(to, bytes).unwrap();
    from.flush().unwrap();
}

pub fn hear(at: &mut Mesh, from: PartyId, length: usize) -> Vec<u8> {
    let mut bytes = vec![0; length];
    at.recv(from, &mut bytes).unwrap();
    bytes
}

/// Dials until the listener is there.
pub fn dial(address: &str) -> TcpStream {
    loop {
        match TcpStream::connect(address) {
            Ok(socket) => return socket,
            Err(_) => thread::sleep(Duration::from_millis(10)),
        }
    }
}

/// Sentence and advice of a diagnostic in one line.
pub fn line(finding: &sealane_diagnostic::Diagnostic) -> String {
    format!("{}; {}", finding.message, finding.hint)
}
