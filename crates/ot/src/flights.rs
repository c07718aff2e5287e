//! Bytes and order of the messages of a protocol of two parties.

/// One of the two parties of an oblivious transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// The party with both messages, or the offset.
    Sender,
    /// The party with choices.
    Receiver,
}

/// Payload of one flight: messages that depend on none of each other, so that they are on their way
/// at the same time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flight {
    /// Bytes from sender to receiver.
    pub from_sender: u64,
    /// Bytes from receiver to sender.
    pub from_receiver: u64,
}

/// Flights in order. Each but the first answers the one before.
pub type Flights = Vec<Flight>;
