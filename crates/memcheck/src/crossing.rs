//! Channels between the parties of a check, whose messages are public.

use crate::request::public;
use sealane_net::{Frame, Limits, LinkError, Mesh, Transport, memory_pair};
use sealane_parties::PartyId;

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
    fn inner(&self) -> Option<&dyn Transport> {
        Some(&self.0)
    }

    fn inner_mut(&mut self) -> Option<&mut dyn Transport> {
        Some(&mut self.0)
    }

    fn try_send(&mut self, frame: Frame) -> Result<Option<Frame>, LinkError> {
        public(&frame.payload);
        self.0.try_send(frame)
    }

    fn try_recv(&mut self) -> Result<Option<Frame>, LinkError> {
        self.0.try_recv()
    }
}
