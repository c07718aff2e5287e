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
pub struct OutgoingTables<'a> {
    mesh: &'a mut Mesh,
    cpu: Cpu,
    to: PartyId,
}

impl<'a> OutgoingTables<'a> {
    /// Creates the sink of tables for `to`, which are digested on `cpu`.
    pub fn new(cpu: Cpu, mesh: &'a mut Mesh, to: PartyId) -> OutgoingTables<'a> {
        OutgoingTables { mesh, cpu, to }
    }
}

impl Tables for OutgoingTables<'_> {
    type Error = NetError;

    fn next(&mut self, bytes: usize) -> Result<&mut [u8], NetError> {
        self.mesh.send_buffer(self.to, bytes)
    }

    fn pass(&mut self, bytes: usize) -> Result<(), NetError> {
        self.mesh.mark_bulk_written(self.cpu, self.to, bytes)
    }
}

/// The evaluator's source: the tables that its garbler has sent.
pub struct IncomingTables<'a> {
    mesh: &'a mut Mesh,
    cpu: Cpu,
    from: PartyId,
}

impl<'a> IncomingTables<'a> {
    /// Creates the source of tables from `from`, which are digested on `cpu`.
    pub fn new(cpu: Cpu, mesh: &'a mut Mesh, from: PartyId) -> IncomingTables<'a> {
        IncomingTables { mesh, cpu, from }
    }
}

impl Tables for IncomingTables<'_> {
    type Error = NetError;

    fn next(&mut self, bytes: usize) -> Result<&mut [u8], NetError> {
        self.mesh.recv_buffer(self.from, bytes)
    }

    fn pass(&mut self, bytes: usize) -> Result<(), NetError> {
        self.mesh.consume_bulk(self.cpu, self.from, bytes)
    }
}
