//! A party that many others reach at one address, each for a mesh of two: a server and its clients.
//!
//! In the mesh with a client the server is party 0 and the client party 1, so a client needs to
//! know the server alone. Its key says its name: the handshake accepts any of the keys that the
//! server has pinned for its clients. Every connection has a thread of its own from its first byte
//! on, and as little time for its handshake as while parties gather (`connections.rs`), so that a
//! silent caller delays nobody. A party that probes is answered.

use std::collections::BTreeMap;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use crate::cancel::Cancel;
use crate::connect::{Endpoint, MeshConfig};
use crate::connections::{Connections, HANDSHAKE_TIMEOUT, await_words, listen, next_incoming};
use crate::error::{KeyFault, NetError, Result};
use crate::hello::Purpose;
use crate::limits::Limits;
use crate::meeting::{Failure, Host};
use crate::mesh::Mesh;
use crate::{Farewell, Transport, error::Cause};
use sealane_identity::{Identity, PublicKey};
use sealane_parties::PartyId;

/// A caller that a server has refused.
#[derive(Clone, Debug)]
pub struct Refused {
    /// Its address, if the operating system still knows it.
    pub address: Option<SocketAddr>,
    /// The key that it showed, if that is the fault.
    pub key: Option<PublicKey>,
    /// The event, in words, without a secret.
    pub reason: String,
}

/// Pause between two looks at the listener.
const LOOK_PAUSE: Duration = Duration::from_millis(5);

/// A server that listens for its clients.
pub struct Reception {
    config: MeshConfig,
    listener: TcpListener,
    connections: Connections,
    /// The tokens of all sessions, by number of the connection. Each session has one of its own,
    /// so that nothing of it is left at the server's token when it is over.
    sessions: Mutex<BTreeMap<usize, Cancel>>,
}

impl Reception {
    /// Listens at the address of `server`, or at `listen` if that is another, for the `clients`,
    /// whose addresses are not used.
    ///
    /// # Errors
    /// The address cannot be listened at; two clients have one key, or the identity is not the
    /// server's.
    pub fn open(
        server: Endpoint,
        identity: Identity,
        clients: Vec<Endpoint>,
        listen_at: Option<String>,
        limits: Limits,
        cancel: &Cancel,
    ) -> Result<Reception> {
        if clients.is_empty() {
            return Err(NetError::misuse("a server without clients"));
        }
        let config = MeshConfig {
            me: PartyId(0),
            identity,
            parties: [vec![server], clients].concat(),
            listen: listen_at,
            limits,
            cancel: cancel.clone(),
        };
        let keys = config.parties.iter().map(|party| party.key);
        for (number, key) in keys.enumerate() {
            let mut before = config.parties[..number].iter();
            if let Some(Endpoint { name, .. }) = before.find(|first| first.key == key) {
                let reason = format!("its key is also that of {name} in this configuration");
                let party = PartyId(u8::try_from(number).unwrap_or(u8::MAX));
                return Err(NetError::Doubled { party, reason });
            }
        }
        let listener = listen(&config)?;
        Ok(Reception {
            config,
            listener,
            connections: Connections::default(),
            sessions: Mutex::default(),
        })
    }

    /// Receives clients until the cancellation token is set, and calls `serve` with the number of
    /// each client and a mesh with it, in a thread of its own. Returns once all calls have. A
    /// connection that fails before it has shown the key of a client is closed and forgotten.
    pub fn receive(&self, serve: impl Fn(usize, Mesh) + Sync) {
        self.receive_and_report(serve, |_| ());
    }

    /// Does the same, and tells `refused` of each caller that is refused, from its thread. A caller
    /// that ends the connection itself before it has shown a key is none.
    pub fn receive_and_report(
        &self,
        serve: impl Fn(usize, Mesh) + Sync,
        refused: impl Fn(Refused) + Sync,
    ) {
        let (serve, refused) = (&serve, &refused);
        thread::scope(|threads| {
            while !self.config.cancel.is_cancelled() {
                match next_incoming(&self.connections, &self.listener) {
                    Some(caller) => {
                        threads.spawn(move || {
                            let cancel = Cancel::default();
                            let address = caller.socket.peer_addr().ok();
                            let met = self.greet(caller.number, caller.socket, &cancel);
                            self.connections.remove_incoming(caller.number);
                            if let Err(Some(error)) = &met {
                                refused(self.refusal(address, error));
                            }
                            if let Ok((client, mesh)) = met {
                                self.sessions().insert(caller.number, cancel.clone());
                                // Set before: the sessions that are there have been told.
                                if self.config.cancel.is_cancelled() {
                                    cancel.cancel();
                                }
                                serve(client, mesh);
                                self.sessions().remove(&caller.number);
                            }
                        });
                    }
                    None => thread::sleep(LOOK_PAUSE),
                }
            }
            // Ends handshakes, and calls of `serve`.
            self.connections.close_all();
            self.sessions().values().for_each(Cancel::cancel);
        });
    }

    /// Handshakes with a caller. Returns the number of the client and the mesh with it, or why the
    /// caller is refused, if it is.
    fn greet(
        &self,
        number: usize,
        socket: TcpStream,
        cancel: &Cancel,
    ) -> Result<(usize, Mesh), Option<NetError>> {
        let since = Instant::now();
        let deadline = since + HANDSHAKE_TIMEOUT;
        if await_words(&socket, deadline) {
            self.connections.has_spoken(number);
        }
        let config = &self.config;
        let mut host = Host::new(config, true);
        host.purpose = Purpose::Serve;
        let received = host.receive(socket, since, deadline);
        let (key, met) = received.map_err(|failure| match failure {
            Failure::Gone(_) => None,
            Failure::Unproven(error) | Failure::Final(error) => Some(error),
        })?;
        let mut clients = config.parties[1..].iter();
        let client = clients.position(|party| party.key == key).ok_or(None)?;
        let mut transport = met.start_under(config.limits, cancel).map_err(|_| None)?;
        if config.cancel.is_cancelled() {
            let (cause, reason) = (Cause::Cancelled, "the server ends");
            transport.shutdown(Farewell::Abort { cause, reason });
            return Err(None);
        }
        let transports: Vec<Option<Box<dyn Transport>>> = vec![None, Some(Box::new(transport))];
        let mesh = Mesh::from_transports(config.me, transports, config.limits);
        let mut mesh = mesh.map_err(|_| None)?;
        mesh.cancelled_by(cancel);
        mesh.pin(vec![config.parties[0].key, key]);
        Ok((client, mesh))
    }

    /// The refusal of a caller. It may be anybody, so no client is named.
    fn refusal(&self, address: Option<SocketAddr>, error: &NetError) -> Refused {
        let (key, reason) = match error {
            NetError::WrongKey {
                fault: KeyFault::Theirs { seen, .. },
                ..
            } => {
                let print = seen.fingerprint();
                let reason = format!("its key has the fingerprint {print}, and is no client's");
                (Some(*seen), reason)
            }
            NetError::Stalled { silent_s, .. } => (None, format!("silent for {silent_s} s")),
            NetError::Malformed { reason, .. } | NetError::WrongParty { reason, .. } => {
                (None, reason.clone())
            }
            error => (None, error.with_names::<&str>(&[]).message),
        };
        Refused {
            address,
            key,
            reason,
        }
    }

    /// The tokens. No code panics while it holds the lock.
    fn sessions(&self) -> MutexGuard<'_, BTreeMap<usize, Cancel>> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
