//! Meshes in memory, between which one byte is changed on its way.

use sealane_net::{
    Frame, FrameKind, Limits, LinkError, MemoryTransport, Mesh, Transport, memory_pair,
};
use sealane_parties::PartyId;

/// Makes the meshes of parties 0 and 1, where bits `flips` of byte `at` of the payload that `to`
/// receives are changed; none if there is no such byte.
pub fn tampered(to: PartyId, at: u64, flips: u8) -> [Mesh; 2] {
    let meshes = tampered_among(2, [PartyId(1 - to.0), to], at, flips);
    meshes.try_into().ok().expect("two parties")
}

/// Makes the meshes of so many parties, where bits `flips` of byte `at` of the payload that the
/// second party receives from the first are changed.
pub fn tampered_among(parties: usize, [from, to]: [PartyId; 2], at: u64, flips: u8) -> Vec<Mesh> {
    let limits = Limits::default();
    Mesh::full(parties, limits, |one, other| {
        let (first, second) = memory_pair(&limits);
        let [one, other] = [one, other].map(PartyId::from_index);
        let ends = [([one, other], first), ([other, one], second)];
        ends.map(|(me_peer, link)| -> Box<dyn Transport> {
            let flips = if me_peer == [to, from] { flips } else { 0 };
            Box::new(Tampered { link, at, flips })
        })
    })
}

/// The end of a link that changes what it receives.
struct Tampered {
    link: MemoryTransport,
    /// Bytes before the changed one.
    at: u64,
    flips: u8,
}

impl Transport for Tampered {
    fn inner(&self) -> Option<&dyn Transport> {
        Some(&self.link)
    }

    fn inner_mut(&mut self) -> Option<&mut dyn Transport> {
        Some(&mut self.link)
    }

    fn try_recv(&mut self) -> Result<Option<Frame>, LinkError> {
        let mut frame = self.link.try_recv()?;
        if let Some(Frame {
            kind: FrameKind::Data { .. },
            payload,
            ..
        }) = &mut frame
        {
            if let Some(byte) = payload.get_mut(self.at as usize) {
                *byte ^= std::mem::take(&mut self.flips);
            }
            self.at = self.at.saturating_sub(payload.len() as u64);
        }
        Ok(frame)
    }

    fn try_send(&mut self, frame: Frame) -> Result<Option<Frame>, LinkError> {
        self.link.try_send(frame)
    }
}
