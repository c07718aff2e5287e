//! Room `net`: channels, sessions, counters, recorder.
//!
//! CONTRACT SKELETON: signatures that other rooms rely on; the room's owner replaces the bodies
//! and may add, not rename.

/// One party of a run: its index in the order in which the program names the parties.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize,
)]
pub struct PartyId(pub u8);

/// What one party sees of a run: one channel to each other party, one clock of rounds over all of
/// them, and counters by step.
pub struct Mesh(());

impl Mesh {
    /// Who this party is.
    pub fn me(&self) -> PartyId {
        todo!()
    }
    /// Number of parties, this one included.
    pub fn parties(&self) -> usize {
        todo!()
    }
    /// Appends payload bytes to the message that is being written to `to`. Long messages leave in
    /// frames as they grow (streaming); the message ends at [`Mesh::flush`].
    pub fn send(&mut self, _to: PartyId, _bytes: &[u8]) -> Result<(), NetError> {
        todo!()
    }
    /// Ends and sends all messages being written, stamped 1 + the largest stamp received so far.
    pub fn flush(&mut self) -> Result<(), NetError> {
        todo!()
    }
    /// Fills `into` with the next payload bytes from `from`, or says why not within the time-out.
    pub fn recv(&mut self, _from: PartyId, _into: &mut [u8]) -> Result<(), NetError> {
        todo!()
    }
    /// Names the step to which the next bytes are booked.
    pub fn at_step(&mut self, _step: u32) {
        todo!()
    }
    /// Largest stamp sent or received so far: the rounds of the run up to here.
    pub fn rounds(&self) -> u32 {
        todo!()
    }
    /// Payload bytes sent to `to` so far.
    pub fn payload_sent(&self, _to: PartyId) -> u64 {
        todo!()
    }
    /// Payload bytes received from `from` so far.
    pub fn payload_received(&self, _from: PartyId) -> u64 {
        todo!()
    }
    /// BLAKE3 of all payload bytes sent to `to` so far.
    pub fn digest_sent(&self, _to: PartyId) -> [u8; 32] {
        todo!()
    }
    /// BLAKE3 of all payload bytes received from `from` so far.
    pub fn digest_received(&self, _from: PartyId) -> [u8; 32] {
        todo!()
    }
    /// Sends one control message (handshake, goodbye): not payload, no stamp, at most 64 KiB.
    pub fn send_control<T: serde::Serialize>(
        &mut self,
        _to: PartyId,
        _message: &T,
    ) -> Result<(), NetError> {
        todo!()
    }
    /// Receives one control message.
    pub fn recv_control<T: serde::de::DeserializeOwned>(
        &mut self,
        _from: PartyId,
    ) -> Result<T, NetError> {
        todo!()
    }
    /// Tells every peer, as well as possible and without waiting, that this party gives up and why
    /// (`reason` holds no secret; at most 1 KiB). Peers see [`NetError::Aborted`].
    pub fn abort(&mut self, _reason: &str) {
        todo!()
    }
    /// A full mesh of `parties` in memory, one element a party, for simulation and tests.
    pub fn in_memory(_parties: usize) -> Vec<Mesh> {
        todo!()
    }
}

/// What can go wrong between two parties. Each variant names the peer by index.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NetError {
    /// Nothing came for longer than the time-out.
    #[error("party {0:?} sent nothing for {1} s")]
    Stalled(PartyId, u64),
    /// The connection ended in the middle of a run.
    #[error("party {0:?} is gone")]
    Vanished(PartyId),
    /// Bytes that are no message of this protocol.
    #[error("party {0:?} sent a malformed message: {1}")]
    Malformed(PartyId, String),
    /// The peer gave up and said why.
    #[error("party {0:?} gave up: {1}")]
    Aborted(PartyId, String),
}
