//! Channels between the parties of a check, whose messages are public.

use crate::request::public;
use sealane_net::{
    Farewell, Frame, Limits, LinkError, Mesh, Traffic, Transport, Waker, memory_pair,
};
use sealane_parties::PartyId;
use std::time::Instant;

/// Creates a full mesh in memory that declares its messages public.
pub fn meshes(parties: usize) -> Vec<Mesh> {
    let limits = Limits::default();
    let mut links = (0..parties)
        .map(|_| {
            (0..parties)
                .map(|_| None)
                .collect::<Vec<Option<Box<dyn Transport>>>>()
        })
        .collect::<Vec<_>>();
    let pairs = (0..parties).flat_map(|one| (0..one).map(move |other| (one, other)));
    for (one, other) in pairs {
        let (near, far) = memory_pair(&limits);
        links[one][other] = Some(Box::new(Crossing(near)));
        links[other][one] = Some(Box::new(Crossing(far)));
    }
    let mesh = |(me, links)| Mesh::from_transports(PartyId::from_index(me), links, limits);
    let meshes = links.into_iter().enumerate().map(mesh);
    meshes
        .collect::<Result<_, _>>()
        .expect("a link to each other party")
}

/// A transport that declares sent bytes public: the peer may see them.
struct Crossing<T>(T);

impl<T: Transport> Transport for Crossing<T> {
    fn try_send(&mut self, frame: Frame) -> Result<Option<Frame>, LinkError> {
        public(&frame.payload);
        self.0.try_send(frame)
    }

    fn try_recv(&mut self) -> Result<Option<Frame>, LinkError> {
        self.0.try_recv()
    }

    fn push_out(&mut self) {
        self.0.push_out();
    }

    fn due(&self) -> Option<Instant> {
        self.0.due()
    }

    fn take_in(&mut self, at_most: usize) -> usize {
        self.0.take_in(at_most)
    }

    fn backlog_bytes(&self) -> usize {
        self.0.backlog_bytes()
    }

    fn end(&self) -> Option<LinkError> {
        self.0.end()
    }

    fn set_waker(&mut self, waker: &Waker) {
        self.0.set_waker(waker);
    }

    fn shutdown(&mut self, farewell: Farewell<'_>) {
        self.0.shutdown(farewell);
    }

    fn wire(&self) -> Traffic {
        self.0.wire()
    }
}
