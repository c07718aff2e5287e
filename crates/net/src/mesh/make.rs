//! Ways to make a mesh: over given transports, over TCP, in memory, over simulated networks.

use super::Mesh;
use crate::Transport;
use crate::connect::{MeshConfig, connect_all};
use crate::counters::{Ledger, Traffic};
use crate::error::{NetError, Result};
use crate::limits::Limits;
use crate::links::Links;
use crate::machine::{Runtime, ThisMachine};
use crate::memory::{LinkSpeed, MemoryTransport, memory_pair, simulated_pair};
use crate::session::SessionId;
use sealane_parties::{NetworkClass, PartyId};
use std::time::Duration;

/// Time after which a receive within one process is taken for a deadlock.
const IN_MEMORY_PATIENCE: Duration = Duration::from_secs(300);

impl Mesh {
    /// Makes a mesh over existing transports: `transports` has one element per party, none at `me`
    /// and one everywhere else.
    ///
    /// # Errors
    /// [`NetError::Misuse`] if the transports do not have that shape.
    pub fn from_transports(
        me: PartyId,
        transports: Vec<Option<Box<dyn Transport>>>,
        limits: Limits,
    ) -> Result<Mesh> {
        Mesh::on_machine(&ThisMachine, me, transports, limits)
    }

    /// Makes a mesh as [`Mesh::from_transports`] does, for a party that runs on another machine
    /// than this one, with transports of that machine.
    ///
    /// # Errors
    /// The errors of [`Mesh::from_transports`].
    pub fn on_machine(
        machine: &dyn Runtime,
        me: PartyId,
        transports: Vec<Option<Box<dyn Transport>>>,
        limits: Limits,
    ) -> Result<Mesh> {
        let parties = transports.len();
        let is_right =
            |(party, transport): (usize, &Option<_>)| (party == me.index()) == transport.is_none();
        if me.index() >= parties || !transports.iter().enumerate().all(is_right) {
            let reason = "a mesh needs one transport to each other party";
            return Err(NetError::misuse(reason));
        }
        let mut mesh = Mesh {
            me,
            session: SessionId::default(),
            pinned: Vec::new(),
            links: Links::new(transports, &limits, machine.waker()),
            ledger: Ledger::new(parties),
            payload: vec![Traffic::default(); parties],
            received_stamp: 0,
            held_stamp: None,
            rounds: 0,
            turned_away: 0,
        };
        mesh.set_bulk_keys();
        Ok(mesh)
    }

    /// Connects to all other parties over TCP with mutual TLS; see [`crate::connect_transports`].
    pub fn connect(config: &MeshConfig) -> Result<Mesh> {
        Mesh::over(config, true)
    }

    /// Connects to all other parties over bare TCP: **no key is checked, and anybody on the path
    /// can read and change every byte**. For measuring the cost of encryption, never for data.
    pub fn danger_plaintext(config: &MeshConfig) -> Result<Mesh> {
        Mesh::over(config, false)
    }

    /// Makes a full mesh of `parties` in memory, one element per party, for simulation and tests. A
    /// receive that takes five minutes is taken for a deadlock; see [`Mesh::in_memory_with`].
    pub fn in_memory(parties: usize) -> Vec<Mesh> {
        let limits = Limits {
            patience: IN_MEMORY_PATIENCE,
            ..Limits::default()
        };
        Mesh::in_memory_with(parties, limits)
    }

    /// Makes a full mesh of `parties` in memory with other limits than the default ones.
    pub fn in_memory_with(parties: usize, limits: Limits) -> Vec<Mesh> {
        Mesh::full(parties, limits, |_, _| boxed(memory_pair(&limits)))
    }

    /// Makes a full mesh of `parties` with a simulated network of class `class` between every two.
    pub fn simulated(parties: usize, class: NetworkClass) -> Vec<Mesh> {
        Mesh::simulated_with(parties, class, Limits::default())
    }

    /// Makes a full mesh of `parties` over a simulated network, of a class or of links of any
    /// speed, with other limits than the default ones.
    pub fn simulated_with(
        parties: usize,
        speed: impl Into<LinkSpeed>,
        limits: Limits,
    ) -> Vec<Mesh> {
        let speed = speed.into();
        Mesh::full(parties, limits, |_, _| {
            boxed(simulated_pair(&limits, speed))
        })
    }

    /// Makes a full mesh of `parties` over links that `link` makes, as [`full_links`] says.
    pub fn full(
        parties: usize,
        limits: Limits,
        link: impl FnMut(usize, usize) -> [Box<dyn Transport>; 2],
    ) -> Vec<Mesh> {
        let mesh = |(me, transports)| {
            Mesh::from_transports(PartyId::from_index(me), transports, limits)
                .expect("every pair of parties has been connected")
        };
        let rows = full_links(parties, link).into_iter();
        rows.enumerate().map(mesh).collect()
    }

    /// Connects to all other parties.
    fn over(config: &MeshConfig, encrypted: bool) -> Result<Mesh> {
        let gathered = connect_all(config, encrypted)?;
        let mut mesh = Mesh::from_transports(config.me, gathered.transports, config.limits)?;
        mesh.turned_away = gathered.turned_away;
        mesh.cancelled_by(&config.cancel);
        if encrypted {
            mesh.pin(config.parties.iter().map(|party| party.key).collect());
        }
        Ok(mesh)
    }
}

/// Connects every two of `parties`: `link` makes both ends between two of them, that of the party
/// with the lower index first. Returns for each party its ends by peer, none at its own index.
pub fn full_links(
    parties: usize,
    mut link: impl FnMut(usize, usize) -> [Box<dyn Transport>; 2],
) -> Vec<Vec<Option<Box<dyn Transport>>>> {
    let mut rows: Vec<Vec<Option<Box<dyn Transport>>>> = Vec::new();
    rows.resize_with(parties, Vec::new);
    for me in 0..parties {
        // The parties with lower indices have filled this row up to its diagonal.
        let (upper, lower) = rows.split_at_mut(me + 1);
        upper[me].push(None);
        for (peer, row) in (me + 1..).zip(lower) {
            let [one, other] = link(me, peer);
            upper[me].push(Some(one));
            row.push(Some(other));
        }
    }
    rows
}

fn boxed((one, other): (MemoryTransport, MemoryTransport)) -> [Box<dyn Transport>; 2] {
    [Box::new(one), Box::new(other)]
}
