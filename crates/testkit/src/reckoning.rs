//! Bytes and rounds that a party should have counted, from stated costs alone.

use sealane_net::Mesh;
use sealane_protocol::Cost;

/// Expected traffic so far.
pub struct Reckoning {
    /// Largest stamp received, by party.
    received: Vec<u32>,
    /// Largest stamp sent or received, by party.
    rounds: Vec<u32>,
    /// Bytes, by sender and receiver.
    bytes: Vec<Vec<u64>>,
}

impl Reckoning {
    /// No traffic yet between so many parties.
    pub fn new(parties: usize) -> Reckoning {
        Reckoning {
            received: vec![0; parties],
            rounds: vec![0; parties],
            bytes: vec![vec![0; parties]; parties],
        }
    }

    /// Adds a cost, and compares all that is expected with what this party has counted.
    ///
    /// # Panics
    /// If they differ.
    pub fn add(&mut self, cost: &Cost, mesh: &Mesh) {
        for flight in &cost.flights {
            let before = self.received.clone();
            for message in flight.iter().filter(|message| message.bytes > 0) {
                let (from, to) = (message.from.index(), message.to.index());
                let stamp = before[from] + 1;
                self.bytes[from][to] += message.bytes;
                self.received[to] = self.received[to].max(stamp);
                self.rounds[to] = self.rounds[to].max(stamp);
                self.rounds[from] = self.rounds[from].max(stamp);
            }
        }
        let me = mesh.me().index();
        for peer in mesh.peers() {
            let other = peer.index();
            assert_eq!(mesh.payload_sent(peer), self.bytes[me][other]);
            assert_eq!(mesh.payload_received(peer), self.bytes[other][me]);
        }
        assert_eq!(mesh.rounds(), self.rounds[me]);
    }
}
