//! Tables as they cross: garbled into the frames that leave, evaluated in those that came.

use sealane_garble::{CHUNK_BYTES, Tables};
use sealane_net::{MAX_ROOM_BYTES, Mesh, NetError, PartyId};

// Whatever a machine asks for is to be had in one place.
const _: () = assert!(CHUNK_BYTES <= MAX_ROOM_BYTES);

/// Where a garbler writes: the message to its evaluator.
pub struct OutgoingTables<'a> {
    mesh: &'a mut Mesh,
    to: PartyId,
}

impl<'a> OutgoingTables<'a> {
    /// Tables for `to`.
    pub fn new(mesh: &'a mut Mesh, to: PartyId) -> OutgoingTables<'a> {
        OutgoingTables { mesh, to }
    }
}

impl Tables for OutgoingTables<'_> {
    type Error = NetError;

    fn next(&mut self, bytes: usize) -> Result<&mut [u8], NetError> {
        self.mesh.room(self.to, bytes)
    }

    fn pass(&mut self, bytes: usize) -> Result<(), NetError> {
        self.mesh.wrote(self.to, bytes)
    }
}

/// Where an evaluator reads: what its garbler has sent.
pub struct IncomingTables<'a> {
    mesh: &'a mut Mesh,
    from: PartyId,
}

impl<'a> IncomingTables<'a> {
    /// Tables of `from`.
    pub fn new(mesh: &'a mut Mesh, from: PartyId) -> IncomingTables<'a> {
        IncomingTables { mesh, from }
    }
}

impl Tables for IncomingTables<'_> {
    type Error = NetError;

    fn next(&mut self, bytes: usize) -> Result<&mut [u8], NetError> {
        self.mesh.ready(self.from, bytes)
    }

    fn pass(&mut self, bytes: usize) -> Result<(), NetError> {
        self.mesh.used(self.from, bytes)
    }
}
