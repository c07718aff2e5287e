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

impl Flight {
    /// A flight of so many bytes in each direction.
    pub const fn new(from_sender: u64, from_receiver: u64) -> Flight {
        Flight {
            from_sender,
            from_receiver,
        }
    }
}

/// Flights in order. Each but the first answers the one before.
pub type Flights = Vec<Flight>;

/// Returns flights and those that come after them. Where the last one and the next go in the same
/// direction alone, they are one: their party does not wait between them.
pub fn then(mut flights: Flights, next: Flights) -> Flights {
    for flight in next {
        let alone = |flight: &Flight| (flight.from_sender > 0, flight.from_receiver > 0);
        match flights.last_mut() {
            Some(last) if alone(last) == alone(&flight) && alone(last).0 != alone(last).1 => {
                last.from_sender += flight.from_sender;
                last.from_receiver += flight.from_receiver;
            }
            _ => flights.push(flight),
        }
    }
    flights
}

/// Returns the same flights with the roles exchanged.
pub(crate) fn exchanged(flights: Flights) -> Flights {
    let exchange = |flight: Flight| Flight::new(flight.from_receiver, flight.from_sender);
    flights.into_iter().map(exchange).collect()
}
