//! A scripted peer: a transport that delivers given frames and ignores what is sent.

use sealane_net::{
    Frame, FrameKind, Limits, LinkError, MemoryTransport, Mesh, Transport, memory_pair,
};
use sealane_parties::PartyId;
use sealane_testkit::side::on_threads;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

/// Delivers its frames one by one and then finishes; discards everything sent to it, without waits.
pub struct Script(VecDeque<Frame>);

impl Script {
    /// Makes a peer that sends these frames.
    pub fn of(frames: impl IntoIterator<Item = Frame>) -> Script {
        Script(frames.into_iter().collect())
    }

    /// Makes a peer that sends these bytes as payload.
    pub fn payload(bytes: &[u8]) -> Script {
        let frame = |piece: &[u8]| Frame {
            kind: FrameKind::Data { end: true },
            stamp: 1,
            payload: piece.to_vec().into(),
        };
        Script::of(bytes.chunks(PIECE_BYTES).map(frame))
    }
}

/// Bytes per frame of [`Script::payload`]; odd, so that frames end within blocks.
const PIECE_BYTES: usize = 4099;

impl Transport for Script {
    fn inner(&self) -> Option<&dyn Transport> {
        None
    }

    fn try_send(&mut self, _frame: Frame) -> Result<Option<Frame>, LinkError> {
        Ok(None)
    }

    fn try_recv(&mut self) -> Result<Option<Frame>, LinkError> {
        self.0.pop_front().map(Some).ok_or(LinkError::Finished)
    }

    fn end(&self) -> Option<LinkError> {
        self.0.is_empty().then_some(LinkError::Finished)
    }
}

/// Mesh of party `me` with these peers: one script for each other party, in order.
pub fn mesh(me: PartyId, peers: Vec<Script>) -> Mesh {
    let mut transports: Vec<Option<Box<dyn Transport>>> = Vec::new();
    transports.extend(peers.into_iter().map(|peer| Some(Box::new(peer) as _)));
    transports.insert(me.index(), None);
    Mesh::from_transports(me, transports, Limits::default()).expect("a link to each peer")
}

/// Frames received over one link of an honest run, in order. The record outlives the link.
#[derive(Clone, Default)]
pub struct Tap(Arc<Mutex<Vec<Frame>>>);

impl Tap {
    /// Makes a mesh in memory for each party, and for each its taps, one for each peer in order.
    pub fn full(parties: usize, limits: &Limits) -> (Vec<Mesh>, Vec<Vec<Tap>>) {
        let mut taps = vec![Vec::new(); parties];
        let meshes = Mesh::full(parties, *limits, |one, other| {
            let (a, b) = memory_pair(limits);
            [(one, a), (other, b)].map(|(me, inner)| -> Box<dyn Transport> {
                let tap = Tap::default();
                taps[me].push(tap.clone());
                Box::new(Tapped { inner, tap })
            })
        });
        (meshes, taps)
    }

    /// Runs an honest session of all parties; returns what each ends with, and its taps.
    pub fn honest<T: Send>(
        parties: usize,
        run: impl Fn(&mut Mesh) -> T + Sync,
    ) -> Vec<(T, Vec<Tap>)> {
        let (meshes, taps) = Tap::full(parties, &Limits::default());
        let ends = on_threads(meshes, |mut mesh| {
            let end = run(&mut mesh);
            mesh.finish().expect("an honest end");
            end
        });
        ends.into_iter().zip(taps).collect()
    }

    /// The frames so far.
    pub fn frames(&self) -> Vec<Frame> {
        self.0.lock().expect("no holder of the lock panics").clone()
    }

    /// The payload so far.
    pub fn payload(&self) -> Vec<u8> {
        let frames = self.frames().into_iter();
        let data = frames.filter(|frame| matches!(frame.kind, FrameKind::Data { .. }));
        data.flat_map(|frame| frame.payload.to_vec()).collect()
    }
}

struct Tapped {
    inner: MemoryTransport,
    tap: Tap,
}

impl Transport for Tapped {
    fn inner(&self) -> Option<&dyn Transport> {
        Some(&self.inner)
    }

    fn inner_mut(&mut self) -> Option<&mut dyn Transport> {
        Some(&mut self.inner)
    }

    fn try_send(&mut self, frame: Frame) -> Result<Option<Frame>, LinkError> {
        self.inner.try_send(frame)
    }

    fn try_recv(&mut self) -> Result<Option<Frame>, LinkError> {
        let frame = self.inner.try_recv()?;
        let mut seen = self.tap.0.lock().expect("no holder of the lock panics");
        seen.extend(frame.clone());
        Ok(frame)
    }
}
