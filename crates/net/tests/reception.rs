//! A server that receives its clients over TLS on loopback.

use std::io::Read;
use std::net::TcpStream;
use std::sync::Mutex;
use std::thread;
use std::time::Duration;

use crate::common::{A, B, on_threads, short};
use sealane_identity::Identity;
use sealane_net::{
    Cancel, Endpoint, KeyFault, Limits, Mesh, MeshConfig, NetError, Reception, free_loopback_port,
};

fn endpoint(name: &str, identity: &Identity) -> Endpoint {
    let address = format!("127.0.0.1:{}", free_loopback_port().unwrap());
    let (name, key) = (name.into(), identity.public_key());
    Endpoint { name, address, key }
}

/// The configuration of a client of this server.
fn client_of(server: &Endpoint, client: Endpoint, identity: Identity) -> MeshConfig {
    MeshConfig {
        me: B,
        identity,
        parties: vec![server.clone(), client],
        listen: None,
        limits: short(),
        cancel: Cancel::default(),
    }
}

/// A server of `clients`, and the configuration of each.
fn place(clients: usize) -> (Reception, Vec<MeshConfig>, Cancel) {
    let identity = Identity::generate();
    let server = endpoint("server", &identity);
    let keys: Vec<Identity> = (0..clients).map(|_| Identity::generate()).collect();
    let all: Vec<_> = keys.iter().map(|key| endpoint("client", key)).collect();
    let cancel = Cancel::default();
    let (own, others) = (server.clone(), all.clone());
    let reception = Reception::open(own, identity, others, None, short(), &cancel);
    let configs = keys.into_iter().zip(all);
    let configs = configs.map(|(identity, client)| client_of(&server, client, identity));
    (reception.unwrap(), configs.collect(), cancel)
}

/// Each client is known by its key, and several are served at the same time; strangers, silent
/// callers and parties with a key that is not pinned delay nobody.
#[test]
fn clients_are_known_by_their_keys() {
    let (reception, configs, cancel) = place(3);
    let address = configs[0].parties[0].address.clone();
    let (met, reported) = (Mutex::new(Vec::new()), Mutex::new(Vec::new()));
    let key = Identity::generate();
    let shown = key.public_key();
    thread::scope(|threads| {
        threads.spawn(|| {
            let serve = |client, mut mesh: Mesh| {
                assert_eq!((mesh.me(), mesh.parties()), (A, 2));
                assert_eq!(mesh.pinned().len(), 2);
                let said: u32 = mesh.recv_control(B).unwrap();
                met.lock().unwrap().push((client, said));
                mesh.send_control(B, &(said + 1)).unwrap();
                mesh.finish().unwrap();
            };
            reception.receive_and_report(serve, |refused| reported.lock().unwrap().push(refused));
        });
        let silent = TcpStream::connect(&address).unwrap();
        let stranger = endpoint("stranger", &key);
        let refused = Mesh::connect(&client_of(&configs[0].parties[0], stranger, key));
        let unknown = NetError::wrong_key(A, KeyFault::Unknown { shown });
        assert_eq!(refused.err(), Some(unknown));
        // Two sessions of each client, all at the same time.
        let sessions = configs.iter().chain(&configs).zip(0u32..);
        on_threads(sessions.collect(), |(config, said)| {
            let mut mesh = Mesh::connect(config).unwrap();
            mesh.send_control(A, &said).unwrap();
            assert_eq!(mesh.recv_control::<u32>(A).unwrap(), said + 1);
            mesh.finish().unwrap();
        });
        drop(silent);
        cancel.cancel();
    });
    let mut met = met.into_inner().unwrap();
    met.sort_unstable();
    let expected = [(0, 0), (0, 3), (1, 1), (1, 4), (2, 2), (2, 5)];
    assert_eq!(met, expected);
    // The stranger; the caller that was silent until the end is none.
    let reported = reported.into_inner().unwrap();
    let keys: Vec<_> = reported.iter().map(|refused| refused.key).collect();
    assert_eq!(keys, [Some(shown)]);
    let fingerprint = shown.fingerprint().to_string();
    assert!(reported[0].reason.contains(&fingerprint), "{reported:?}");
    let address = reported[0].address;
    assert!(address.is_some_and(|address| address.ip().is_loopback()));
}

/// A request to end frees callers that are silent and sessions that wait.
#[test]
fn a_server_ends_when_it_is_asked_to() {
    let (reception, configs, cancel) = place(1);
    let address = configs[0].parties[0].address.clone();
    thread::scope(|threads| {
        let serving = threads.spawn(|| {
            reception.receive(|_, mut mesh| {
                let waited = mesh.recv_control::<u8>(B);
                assert!(matches!(waited, Err(NetError::Cancelled)), "{waited:?}");
            });
        });
        let mut silent = TcpStream::connect(&address).unwrap();
        let mut mesh = Mesh::connect(&configs[0]).unwrap();
        thread::sleep(Duration::from_millis(50));
        cancel.cancel();
        serving.join().unwrap();
        assert!(mesh.recv_control::<u8>(A).is_err());
        let long = Some(Duration::from_secs(20));
        silent.set_read_timeout(long).unwrap();
        assert!(!matches!(silent.read(&mut [0]), Ok(1..)));
    });
}

#[test]
fn a_server_needs_clients_with_keys_of_their_own() {
    let client = endpoint("one", &Identity::generate());
    let open = |clients| {
        let identity = Identity::generate();
        let (server, cancel) = (endpoint("one", &identity), Cancel::default());
        Reception::open(server, identity, clients, None, Limits::default(), &cancel).err()
    };
    assert_is!(open(vec![]), Some(NetError::Misuse { .. }));
    let twice = vec![client.clone(), client];
    assert_is!(open(twice), Some(NetError::Doubled { .. }));
}
