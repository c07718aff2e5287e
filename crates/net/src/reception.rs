//! A party that many others reach at one address, each for a mesh of two: a server and its clients.
//!
//! In the mesh with a client the server is party 0 and the client party 1, so a client needs to
//! know the server alone. Its key says its name: the handshake accepts any of the keys that the
//! server has pinned for its clients. Every connection has a thread of its own from its first byte
//! on, and as little time for its handshake as while parties gather (`connections.rs`), so that a
//! silent caller delays nobody. A party that probes is answered.

use std::collections::BTreeMap;
use std::net::{TcpListener, TcpStream};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use crate::cancel::Cancel;
use crate::connect::{Endpoint, MeshConfig};
use crate::connections::{Connections, HANDSHAKE_TIMEOUT, await_words, listen, next_incoming};
use crate::error::NetError;
use crate::limits::Limits;
use crate::meeting::Host;
use crate::mesh::Mesh;
use crate::{Farewell, Transport, error::Cause};
use sealane_identity::Identity;
use sealane_parties::PartyId;

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
    ) -> Result<Reception, NetError> {
        if clients.is_empty() {
            let reason = "a server without clients".to_string();
            return Err(NetError::Misuse { reason });
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
            if let Some(first) = before.find(|first| first.key == key) {
                let reason = format!(
                    "its key is also that of {} in this configuration",
                    first.name
                );
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
        let serve = &serve;
        thread::scope(|threads| {
            while !self.config.cancel.is_cancelled() {
                match next_incoming(&self.connections, &self.listener) {
                    Some(caller) => {
                        threads.spawn(move || {
                            let cancel = Cancel::default();
                            let met = self.greet(caller.number, caller.socket, &cancel);
                            self.connections.remove_incoming(caller.number);
                            if let Some((client, mesh)) = met {
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

    /// Handshakes with a caller. Returns the number of the client, and the mesh with it.
    fn greet(&self, number: usize, socket: TcpStream, cancel: &Cancel) -> Option<(usize, Mesh)> {
        let since = Instant::now();
        let deadline = since + HANDSHAKE_TIMEOUT;
        if await_words(&socket, deadline) {
            self.connections.has_spoken(number);
        }
        let config = &self.config;
        let host = Host::new(config, true);
        let (key, met) = host.receive(socket, since, deadline).ok()?;
        let client = config.parties[1..]
            .iter()
            .position(|party| party.key == key)?;
        let mut transport = met.start_under(config.limits, cancel).ok()?;
        if config.cancel.is_cancelled() {
            let (cause, reason) = (Cause::Cancelled, "the server ends");
            transport.shutdown(Farewell::Abort { cause, reason });
            return None;
        }
        let transports: Vec<Option<Box<dyn Transport>>> = vec![None, Some(Box::new(transport))];
        let mut mesh = Mesh::from_transports(config.me, transports, config.limits).ok()?;
        mesh.cancelled_by(cancel);
        mesh.pin(vec![config.parties[0].key, key]);
        Some((client, mesh))
    }

    /// The tokens. No code panics while it holds the lock.
    fn sessions(&self) -> MutexGuard<'_, BTreeMap<usize, Cancel>> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
