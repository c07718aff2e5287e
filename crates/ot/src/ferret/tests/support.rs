//! An ideal source of correlated OTs, two parties in memory, and a link that changes bytes.

use std::thread;
use std::time::Instant;

use sealane_block::{Block, Coins, Cpu, Prg};
use sealane_net::{
    Farewell, Frame, FrameKind, Limits, LinkError, MemoryTransport, Mesh, Traffic, Transport,
    Waker, memory_pair,
};
use sealane_parties::PartyId;

use crate::ferret::{FerretReceiver, FerretSender, Params};
use crate::traits::{CotCost, CotReceiver, CotSender};
use crate::{Flights, OtError};

pub const SENDER: PartyId = PartyId(0);
pub const RECEIVER: PartyId = PartyId(1);
pub const DELTA: Block = Block::new(0x8f0e_6a51_c3d2_7b94_00ff_1234_9abc_def1);

/// The functionality of correlated OT: both parties draw the same numbers, and take what they may
/// know of them.
pub struct Dealer {
    numbers: Prg,
}

impl Dealer {
    pub fn new(cpu: Cpu) -> Dealer {
        Dealer::with(cpu, 4711)
    }

    /// A source of other numbers.
    pub fn with(cpu: Cpu, number: u64) -> Dealer {
        Dealer {
            numbers: Prg::danger_fixed(cpu, number),
        }
    }
}

impl CotSender for Dealer {
    fn delta(&self) -> Block {
        DELTA
    }
    fn extend(&mut self, _: &mut Mesh, q: &mut [Block]) -> Result<(), OtError> {
        self.numbers.fill(q);
        self.numbers
            .fill(&mut vec![Block::ZERO; q.len().div_ceil(128)]);
        Ok(())
    }
}

impl CotReceiver for Dealer {
    fn extend(&mut self, _: &mut Mesh, x: &mut [Block], t: &mut [Block]) -> Result<(), OtError> {
        self.numbers.fill(t);
        self.numbers.fill(x);
        for (i, t) in t.iter_mut().enumerate() {
            *t ^= DELTA.masked((x[i / 128].value() >> (i % 128)) as u8);
        }
        Ok(())
    }
}

/// It needs no messages.
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
    FerretSender::set_up(
        cpu,
        mesh,
        RECEIVER,
        params,
        &mut Dealer::new(cpu),
        &mut coins,
    )
}

pub fn set_up_receiver(
    cpu: Cpu,
    mesh: &mut Mesh,
    params: Params,
) -> Result<FerretReceiver, OtError> {
    let mut coins = Coins::danger_fixed_seed(2);
    FerretReceiver::set_up(cpu, mesh, SENDER, params, &mut Dealer::new(cpu), &mut coins)
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
