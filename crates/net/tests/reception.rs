//! A server that receives its clients over TLS on loopback.

use std::io::Read;
use std::net::TcpStream;
use std::sync::Mutex;
use std::thread;
use std::time::Duration;

use crate::common::{A, B, short};
use sealane_identity::Identity;
use sealane_net::{
    Cancel, Endpoint, KeyFault, Limits, Mesh, MeshConfig, NetError, Reception, free_loopback_port,
};

/// A server of `clients`, and the configuration of each.
fn place(clients: usize) -> (Reception, Vec<MeshConfig>, Cancel) {
    let endpoint = |name: String, port: u16, identity: &Identity| Endpoint {
        name,
        address: format!("127.0.0.1:{port}"),
        key: identity.public_key(),
    };
    let identity = Identity::generate();
    let server = endpoint("server".into(), free_loopback_port().unwrap(), &identity);
    let keys: Vec<Identity> = (0..clients).map(|_| Identity::generate()).collect();
    let all = keys.iter().enumerate();
    let all: Vec<Endpoint> = all
        .map(|(i, key)| endpoint(format!("c{i}"), 1, key))
        .collect();
    let cancel = Cancel::default();
    let reception = Reception::open(
        server.clone(),
        identity,
        all.clone(),
        None,
        short(),
        &cancel,
    );
    let configs = keys
        .into_iter()
        .zip(all)
        .map(|(identity, client)| MeshConfig {
            me: B,
            identity,
            parties: vec![server.clone(), client],
            listen: None,
            limits: short(),
            cancel: Cancel::default(),
        });
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
        let stranger = MeshConfig {
            identity: key,
            me: B,
            parties: configs[0].parties.clone(),
            listen: None,
            limits: short(),
            cancel: Cancel::default(),
        };
        let mut parties = stranger.parties.clone();
        parties[1].key = stranger.identity.public_key();
        let refused = Mesh::connect(&MeshConfig {
            parties,
            ..stranger
        });
        let fault = match refused.err() {
            Some(NetError::WrongKey { fault, .. }) => fault,
            other => panic!("{other:?}"),
        };
        assert!(matches!(fault, KeyFault::Unknown { .. }));
        // Two sessions of each client, all at the same time.
        let sessions = configs
            .iter()
            .chain(&configs)
            .enumerate()
            .map(|(number, config)| {
                threads.spawn(move || {
                    let mut mesh = Mesh::connect(config).unwrap();
                    let said = number as u32;
                    mesh.send_control(A, &said).unwrap();
                    assert_eq!(mesh.recv_control::<u32>(A).unwrap(), said + 1);
                    mesh.finish().unwrap();
                })
            });
        let sessions: Vec<_> = sessions.collect();
        sessions
            .into_iter()
            .for_each(|session| session.join().unwrap());
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
    assert!(
        reported[0]
            .address
            .is_some_and(|address| address.ip().is_loopback())
    );
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
        silent
            .set_read_timeout(Some(Duration::from_secs(20)))
            .unwrap();
        assert!(!matches!(silent.read(&mut [0]), Ok(1..)));
    });
}

#[test]
fn a_server_needs_clients_with_keys_of_their_own() {
    let identity = Identity::generate();
    let endpoint = |identity: &Identity| Endpoint {
        name: "one".into(),
        address: format!("127.0.0.1:{}", free_loopback_port().unwrap()),
        key: identity.public_key(),
    };
    let own = endpoint(&identity);
    let open = |clients| {
        let copy = Identity::generate();
        let server = Endpoint {
            key: copy.public_key(),
            ..own.clone()
        };
        let cancel = Cancel::default();
        Reception::open(server, copy, clients, None, Limits::default(), &cancel).err()
    };
    assert!(matches!(open(vec![]), Some(NetError::Misuse { .. })));
    let twice = vec![own.clone(), own.clone()];
    assert!(matches!(open(twice), Some(NetError::Doubled { .. })));
}
