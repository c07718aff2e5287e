//! Garbled tables in messages: garbled into outgoing frames, evaluated in incoming ones.
//!
//! Garbling here is semi-honest, so its tables are digested by the hash against accidents.
//! `tools/house.py` lists the files that declare messages to be such tables.

use sealane_block::Cpu;
use sealane_garble::{CHUNK_BYTES, Tables};
use sealane_net::{MAX_CONTIGUOUS_BYTES, Mesh, NetError};
use sealane_parties::PartyId;

// Every request of a machine fits in one buffer.
const _: () = assert!(CHUNK_BYTES <= MAX_CONTIGUOUS_BYTES);

/// The garbler's sink: the message to its evaluator.
pub type OutgoingTables<'a> = MeshTables<'a, true>;

/// The evaluator's source: the tables that its garbler has sent.
pub type IncomingTables<'a> = MeshTables<'a, false>;

/// Tables to a peer or from it.
pub struct MeshTables<'a, const OUT: bool> {
    mesh: &'a mut Mesh,
    cpu: Cpu,
    peer: PartyId,
}

impl<'a, const OUT: bool> MeshTables<'a, OUT> {
    /// Tables between this party and `peer`, which are digested on `cpu`.
    pub fn new(cpu: Cpu, mesh: &'a mut Mesh, peer: PartyId) -> Self {
        MeshTables { mesh, cpu, peer }
    }
}

impl<const OUT: bool> Tables for MeshTables<'_, OUT> {
    type Error = NetError;

    fn next(&mut self, bytes: usize) -> Result<&mut [u8], NetError> {
        if OUT {
            self.mesh.send_buffer(self.peer, bytes)
        } else {
            self.mesh.recv_buffer(self.peer, bytes)
        }
    }

    fn pass(&mut self, bytes: usize) -> Result<(), NetError> {
        if OUT {
            self.mesh.mark_bulk_written(self.cpu, self.peer, bytes)
        } else {
            self.mesh.consume_bulk(self.cpu, self.peer, bytes)
        }
    }
}
