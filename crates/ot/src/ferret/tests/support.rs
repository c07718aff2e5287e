//! An ideal source of correlated OTs, two parties in memory, and a link that changes bytes.

use std::thread;
use std::time::Instant;

use sealane_block::{Block, Coins, Cpu};
use sealane_net::{
    Farewell, Frame, FrameKind, Limits, LinkError, MemoryTransport, Mesh, Traffic, Transport,
    Waker, memory_pair,
};
use sealane_parties::PartyId;

use crate::ferret::{FerretReceiver, FerretSender, Params};
use crate::traits::CotCost;
use crate::{Flights, OtError, ideal};

pub const SENDER: PartyId = PartyId(0);
pub const RECEIVER: PartyId = PartyId(1);
pub const DELTA: Block = Block::new(0x8f0e_6a51_c3d2_7b94_00ff_1234_9abc_def1);

/// An ideal source of correlated OTs.
pub fn dealer(seed: u64) -> (ideal::Sender, ideal::Receiver) {
    ideal::danger_pair([SENDER, RECEIVER], DELTA, seed)
}

/// The cost of an ideal source, which needs no messages.
#[derive(Clone, Copy)]
pub struct DealerCost;

impl CotCost for DealerCost {
    fn set_up(&self) -> Flights {
        Flights::new()
    }
    fn extend(&self, _: u64, _: u64) -> Flights {
        Flights::new()
    }
}

pub fn set_up_sender(cpu: Cpu, mesh: &mut Mesh, params: Params) -> Result<FerretSender, OtError> {
    let mut coins = Coins::danger_fixed_seed(1);
    FerretSender::set_up(cpu, mesh, RECEIVER, params, &mut dealer(4711).0, &mut coins)
}

pub fn set_up_receiver(
    cpu: Cpu,
    mesh: &mut Mesh,
    params: Params,
) -> Result<FerretReceiver, OtError> {
    let mut coins = Coins::danger_fixed_seed(2);
    FerretReceiver::set_up(cpu, mesh, SENDER, params, &mut dealer(4711).1, &mut coins)
}

/// Runs both parties over these meshes, each on a thread of its own.
pub fn both<A: Send, B: Send>(
    meshes: [Mesh; 2],
    sender: impl FnOnce(Mesh) -> A + Send,
    receiver: impl FnOnce(Mesh) -> B + Send,
) -> (A, B) {
    let [mesh, other] = meshes;
    thread::scope(|scope| {
        let sender = scope.spawn(move || sender(mesh));
        let result = receiver(other);
        (sender.join().expect("the sender's thread"), result)
    })
}

pub fn in_memory() -> [Mesh; 2] {
    let mut meshes = Mesh::in_memory(2).into_iter();
    let mut next = || meshes.next().expect("two parties");
    [next(), next()]
}

/// Two meshes where byte `at` of those that `to` receives is changed by `flips`.
pub fn tampered(to: PartyId, at: u64, flips: u8) -> [Mesh; 2] {
    let limits = Limits::default();
    let (one, other) = memory_pair(&limits);
    let flips = |party| if party == to { flips } else { 0 };
    let link = |link, party| -> Box<dyn Transport> {
        Box::new(Tampered {
            link,
            at,
            flips: flips(party),
        })
    };
    let of_sender = vec![None, Some(link(one, SENDER))];
    let of_receiver = vec![Some(link(other, RECEIVER)), None];
    [(SENDER, of_sender), (RECEIVER, of_receiver)]
        .map(|(me, links)| Mesh::from_transports(me, links, limits).expect("a link to the peer"))
}

struct Tampered {
    link: MemoryTransport,
    /// Bytes before the changed one.
    at: u64,
    flips: u8,
}

impl Transport for Tampered {
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
    fn push_out(&mut self) {
        self.link.push_out();
    }
    fn due(&self) -> Option<Instant> {
        self.link.due()
    }
    fn take_in(&mut self, at_most: usize) -> usize {
        self.link.take_in(at_most)
    }
    fn backlog_bytes(&self) -> usize {
        self.link.backlog_bytes()
    }
    fn end(&self) -> Option<LinkError> {
        self.link.end()
    }
    fn set_waker(&mut self, waker: &Waker) {
        self.link.set_waker(waker);
    }
    fn shutdown(&mut self, farewell: Farewell<'_>) {
        self.link.shutdown(farewell);
    }
    fn wire(&self) -> Traffic {
        self.link.wire()
    }
}
