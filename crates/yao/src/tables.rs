//! Garbled tables in messages: garbled into outgoing frames, evaluated in incoming ones.

use sealane_garble::{CHUNK_BYTES, Tables};
use sealane_net::{MAX_CONTIGUOUS_BYTES, Mesh, NetError};
use sealane_parties::PartyId;

// Every request of a machine fits in one buffer.
const _: () = assert!(CHUNK_BYTES <= MAX_CONTIGUOUS_BYTES);

/// The garbler's sink: the message to its evaluator.
pub struct OutgoingTables<'a> {
    mesh: &'a mut Mesh,
    to: PartyId,
}

impl<'a> OutgoingTables<'a> {
    /// Creates the sink of tables for `to`.
    pub fn new(mesh: &'a mut Mesh, to: PartyId) -> OutgoingTables<'a> {
        OutgoingTables { mesh, to }
    }
}

impl Tables for OutgoingTables<'_> {
    type Error = NetError;

    fn next(&mut self, bytes: usize) -> Result<&mut [u8], NetError> {
        self.mesh.send_buffer(self.to, bytes)
    }

    fn pass(&mut self, bytes: usize) -> Result<(), NetError> {
        self.mesh.mark_written(self.to, bytes)
    }
}

/// The evaluator's source: the tables that its garbler has sent.
pub struct IncomingTables<'a> {
    mesh: &'a mut Mesh,
    from: PartyId,
}

impl<'a> IncomingTables<'a> {
    /// Creates the source of tables from `from`.
    pub fn new(mesh: &'a mut Mesh, from: PartyId) -> IncomingTables<'a> {
        IncomingTables { mesh, from }
    }
}

impl Tables for IncomingTables<'_> {
    type Error = NetError;

    fn next(&mut self, bytes: usize) -> Result<&mut [u8], NetError> {
        self.mesh.recv_buffer(self.from, bytes)
    }

    fn pass(&mut self, bytes: usize) -> Result<(), NetError> {
        self.mesh.consume(self.from, bytes)
    }
}
