//! Channels between the parties of a check, whose messages are public.

use crate::request::public;
use sealane_net::{Frame, Limits, LinkError, Mesh, Transport, memory_pair};

/// Creates a full mesh in memory that declares its messages public.
pub fn meshes(parties: usize) -> Vec<Mesh> {
    let limits = Limits::default();
    Mesh::full(parties, limits, |_, _| {
        let (near, far) = memory_pair(&limits);
        [Box::new(Crossing(near)), Box::new(Crossing(far))]
    })
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
