//! Oblivious transfers, timed at one party. The other one is a mesh that sends what it should, or
//! other bytes of that length: a party that finds nothing wrong with them, or nothing before its
//! last comparison, does the same work on them.

use std::hint::black_box;
use std::thread;

use sealane_block::{Block, Coins, Cpu, Prg};
use sealane_net::Mesh;
use sealane_ot::ferret::{FerretCost, FerretReceiver, FerretSender, Params};
use sealane_ot::forms::{self, Hasher, Request};
use sealane_ot::softspoken::{Receiver, Sender, SenderSetup};
use sealane_ot::traits::{CotCost, CotReceiver, CotSender, CotTerms};
use sealane_ot::{Flight, Flights, OtError, Security, SoftSpoken, ideal};
use sealane_parties::PartyId;

use sealane_testkit::timing::{ROWS, TimedWork};

/// The party that is timed, and its peer.
pub const ME: PartyId = PartyId(0);
pub const PEER: PartyId = PartyId(1);

/// Bytes of a digest of all that a party has sent.
const DIGEST_BYTES: u64 = 32;

/// The extension of `yao`.
const EXTENSION: SoftSpoken = SoftSpoken::new(4, Security::Malicious);

/// Bytes of the receiver's message for so many choices.
fn message_bytes(count: u64) -> u64 {
    EXTENSION.extend(0, count)[0].from_receiver + forms::given_bytes(count)
}

/// The receiver of oblivious transfers with given choices.
pub struct Transfer {
    channel: Channel,
    cot: Receiver,
    choices: Vec<u8>,
    labels: Vec<Block>,
}

impl Transfer {
    pub fn new(cpu: Cpu) -> Transfer {
        let mut channel = Channel::new();
        let sender = |mesh: &mut Mesh| {
            let (delta, coins) = (Block::new(0x5a5b), &mut Coins::danger_fixed_seed(3));
            let setup = Sender::set_up(EXTENSION, cpu, mesh, ME, delta, coins)?;
            mesh.flush()?;
            setup.finish(mesh).map(drop)
        };
        let cot = channel.meet(sender, |mesh| {
            let coins = &mut Coins::danger_fixed_seed(4);
            let setup = Receiver::set_up(EXTENSION, cpu, mesh, PEER, coins)?;
            mesh.flush()?;
            setup.finish(mesh)
        });
        Transfer {
            channel,
            cot,
            choices: vec![0; 2 * ROWS],
            labels: vec![Block::ZERO; 2 * ROWS],
        }
    }
}

impl TimedWork for Transfer {
    fn prepare(&mut self, inputs: &[Block]) {
        choose(&mut self.choices, inputs);
    }

    fn run(&mut self) {
        let (mesh, labels) = (&mut self.channel.here, &mut self.labels);
        let extended = forms::receive_given(&mut self.cot, mesh, &self.choices, labels);
        extended.expect("memory");
    }

    fn settle(&mut self) {
        self.channel.drain(message_bytes(2 * ROWS as u64));
    }
}

/// Makes the lowest bits of inputs choices.
pub fn choose(choices: &mut [u8], inputs: &[Block]) {
    for (choice, input) in choices.iter_mut().zip(inputs) {
        *choice = input.lsb();
    }
}

/// The lowest bits of the inputs, four times over: a secret of 128 bits.
pub fn bits(inputs: &[Block]) -> Block {
    let bits = inputs.iter().rev();
    let bits = bits.fold(0u32, |bits, input| bits << 1 | u32::from(input.lsb()));
    Block::new(u128::from(bits) * 0x0000_0001_0000_0001_0000_0001_0000_0001)
}

/// The timed party's mesh, and that of its peer.
pub struct Channel {
    pub here: Mesh,
    pub there: Mesh,
}

impl Channel {
    pub fn new() -> Channel {
        let mut meshes = Mesh::in_memory(2);
        let [there, here] = [0, 1].map(|_| meshes.pop().expect("two parties"));
        Channel { here, there }
    }

    /// Runs the timed party beside an honest peer; returns what it makes.
    pub fn meet<T>(
        &mut self,
        peer: impl FnOnce(&mut Mesh) -> Result<(), OtError> + Send,
        me: impl FnOnce(&mut Mesh) -> Result<T, OtError>,
    ) -> T {
        let Channel { here, there } = self;
        thread::scope(|threads| {
            threads.spawn(|| peer(there).expect("an honest party"));
            let made = me(here).expect("an honest peer");
            here.flush().expect("memory");
            made
        })
    }

    /// Sends a digest of all that was sent to the timed party.
    pub fn feed_digest(&mut self) {
        let digest = self.there.digest_sent(ME);
        self.feed(&digest);
    }

    /// Sends bytes to the timed party.
    pub fn feed(&mut self, bytes: &[u8]) {
        self.there.send(ME, bytes).expect("memory");
        self.there.flush().expect("memory");
    }

    /// Reads what the timed party has sent.
    pub fn drain(&mut self, bytes: u64) {
        self.here.flush().expect("memory");
        let mut sent = vec![0; bytes as usize];
        self.there.recv(ME, &mut sent).expect("memory");
    }
}

/// The generator of ristretto255 (RFC 9496, appendix A.1).
pub const POINT: [u8; 32] = [
    0xe2, 0xf2, 0xae, 0x0a, 0x6a, 0xbc, 0x4e, 0x71, 0xa8, 0x84, 0xa9, 0x61, 0xc5, 0x00, 0x51, 0x5f,
    0x58, 0xe3, 0x0b, 0x6a, 0xa5, 0x82, 0xdd, 0x8d, 0xb6, 0xa6, 0x59, 0x45, 0xe0, 0x8d, 0x2d, 0x76,
];

/// The sender of an extension, whose offset is secret: its set-up, or an extension after it.
pub struct Offset {
    cpu: Cpu,
    parameters: SoftSpoken,
    extends: bool,
    /// True with a check, which finds that no answer is right: that of an extension, or of trees.
    refuses: bool,
    channel: Channel,
    coins: Coins,
    delta: Block,
    ready: Option<Sender>,
}

impl Offset {
    /// OTs of an extension.
    const COUNT: usize = 2 * ROWS;
    const ANSWER_BYTES: u64 = 48;

    /// To time an extension with a check, `k` has to be 1: there the trees have nothing to check.
    pub fn new(cpu: Cpu, (k, security): (u8, Security), extends: bool) -> Offset {
        Offset {
            cpu,
            parameters: SoftSpoken::new(k, security),
            extends,
            refuses: security == Security::Malicious,
            channel: Channel::new(),
            coins: Coins::danger_fixed_seed(5),
            delta: Block::ZERO,
            ready: None,
        }
    }

    /// Sends messages of a receiver, with a digest where one is due.
    fn feed(&mut self) {
        let trees = self.parameters.set_up()[1].from_receiver - DIGEST_BYTES;
        self.channel.feed(&POINT);
        self.channel.feed(&vec![0x5a; trees as usize]);
        self.channel.feed_digest();
    }

    fn feed_extension(&mut self) {
        let bytes = self.parameters.extend(0, Self::COUNT as u64)[0].from_receiver;
        if !self.refuses {
            return self.channel.feed(&vec![0xa5; bytes as usize]);
        }
        let corrections = bytes - DIGEST_BYTES - Self::ANSWER_BYTES;
        self.channel.feed(&vec![0xa5; corrections as usize]);
        self.channel.feed_digest();
        self.channel.feed(&[0xa5; Self::ANSWER_BYTES as usize]);
    }

    fn set_up(&mut self) {
        let (mesh, delta) = (&mut self.channel.here, self.delta);
        let coins = &mut self.coins;
        let setup = Sender::set_up(self.parameters, self.cpu, mesh, PEER, delta, coins);
        let ready = setup.and_then(|setup: SenderSetup| setup.finish(mesh));
        let refuses = self.refuses && !self.extends;
        assert_eq!(ready.is_err(), refuses, "{:?}", ready.err());
        self.ready = ready.ok();
    }

    fn drain(&mut self) {
        self.channel.drain(self.parameters.set_up()[0].from_sender);
    }
}

impl TimedWork for Offset {
    fn prepare(&mut self, inputs: &[Block]) {
        self.delta = bits(inputs);
        self.feed();
        if self.extends {
            self.set_up();
            self.drain();
            self.feed_extension();
        }
    }

    fn run(&mut self) {
        let Some(sender) = self.ready.as_mut() else {
            return self.set_up();
        };
        let mut q = [Block::ZERO; Self::COUNT];
        let extended = sender.extend(&mut self.channel.here, &mut q);
        assert_eq!(extended.is_err(), self.refuses, "{:?}", extended.err());
        black_box(q);
    }

    fn settle(&mut self) {
        if !self.extends {
            self.drain();
        }
        self.ready = None;
    }
}

/// A party of silent extension: at a sender the offset is secret, at a receiver the choices of the
/// correlations that it begins with, and so the places of its errors.
pub struct Silent {
    cpu: Cpu,
    params: Params,
    sends: bool,
    channel: Channel,
    coins: Coins,
    source: Source,
}

/// Correlations of one party, with these bits.
pub struct Source {
    pub bits: Block,
    rows: Prg,
}

impl Source {
    pub fn new(cpu: Cpu) -> Source {
        Source {
            bits: Block::ZERO,
            rows: Prg::danger_fixed(cpu, 7),
        }
    }
}

impl CotSender for Source {
    fn terms(&self) -> CotTerms {
        CotTerms::new(PEER, Security::Malicious)
    }

    fn delta(&self) -> Block {
        Block::new(self.bits.value() | 1)
    }

    fn extend(&mut self, _: &mut Mesh, q: &mut [Block]) -> Result<(), OtError> {
        self.rows.fill(q);
        Ok(())
    }
}

impl CotReceiver for Source {
    fn terms(&self) -> CotTerms {
        CotTerms::new(PEER, Security::Malicious)
    }

    fn extend(&mut self, _: &mut Mesh, x: &mut [Block], t: &mut [Block]) -> Result<(), OtError> {
        self.rows.fill(t);
        x.fill(self.bits);
        Ok(())
    }
}

impl Silent {
    const COUNT: usize = 200;
    /// Messages of a check, of the receiver and of the sender, each of which ends in a digest.
    const CHECK_BYTES: u64 = 16 + 16 + DIGEST_BYTES;
    const PROOF_BYTES: u64 = 32 + DIGEST_BYTES;

    pub fn new(cpu: Cpu, params: Params, sends: bool) -> Silent {
        Silent {
            cpu,
            params,
            sends,
            channel: Channel::new(),
            coins: Coins::danger_fixed_seed(6),
            source: Source::new(cpu),
        }
    }

    /// True for a receiver that checks: it refuses the first proof.
    fn refuses(&self) -> bool {
        !self.sends && self.params.security() == Security::Malicious
    }

    /// Bytes that a side sends in a flight.
    fn bytes(&self, flight: &Flight, sender: bool) -> u64 {
        [flight.from_receiver, flight.from_sender][usize::from(sender)]
    }

    fn flights(&self) -> Flights {
        let cost = FerretCost {
            source: ideal::Free,
            params: self.params,
        };
        let mut flights = cost.set_up();
        if !self.refuses() {
            flights.extend(cost.extend(0, Self::COUNT as u64));
        }
        flights
    }

    fn send(&mut self) -> Result<(), OtError> {
        let (mesh, source) = (&mut self.channel.here, &mut self.source);
        let (params, coins) = (self.params, &mut self.coins);
        let mut cot = FerretSender::set_up(self.cpu, mesh, PEER, params, source, coins)?;
        let mut q = [Block::ZERO; Self::COUNT];
        cot.extend(mesh, &mut q)?;
        black_box(q);
        Ok(())
    }

    fn receive(&mut self) -> Result<(), OtError> {
        let (mesh, source) = (&mut self.channel.here, &mut self.source);
        let (params, coins) = (self.params, &mut self.coins);
        let mut cot = FerretReceiver::set_up(self.cpu, mesh, PEER, params, source, coins)?;
        let (mut x, mut t) = ([Block::ZERO; 2], [Block::ZERO; Self::COUNT]);
        cot.extend(mesh, &mut x, &mut t)?;
        black_box((x, t));
        Ok(())
    }
}

impl TimedWork for Silent {
    fn prepare(&mut self, inputs: &[Block]) {
        self.source.bits = bits(inputs);
        for flight in self.flights() {
            let bytes = self.bytes(&flight, !self.sends);
            let check = if self.sends {
                Self::CHECK_BYTES
            } else {
                Self::PROOF_BYTES
            };
            let checks = self.params.security() == Security::Malicious && bytes == check;
            let digest = if checks { DIGEST_BYTES } else { 0 };
            self.channel.feed(&vec![0x5a; (bytes - digest) as usize]);
            if checks {
                self.channel.feed_digest();
            }
        }
    }

    fn run(&mut self) {
        match if self.sends {
            self.send()
        } else {
            self.receive()
        } {
            Ok(()) => assert!(!self.refuses()),
            // The proof, and not a digest before it.
            Err(OtError::CheckFailed(_)) => assert!(self.refuses()),
            Err(other) => panic!("{other}"),
        }
    }

    fn settle(&mut self) {
        let flights = self.flights().into_iter();
        let sent = flights.map(|flight| self.bytes(&flight, self.sends));
        self.channel.drain(sent.sum());
    }
}

/// A party of OTs of strings: at a sender the offset is secret, at a receiver the choices.
pub struct Chosen {
    sends: bool,
    channel: Channel,
    hasher: Hasher,
    sender: ideal::IdealCotSender,
    receiver: ideal::IdealCotReceiver,
    choices: Vec<u8>,
}

impl Chosen {
    const COUNT: usize = 2 * ROWS;
    const LENGTH: usize = 2;

    pub fn new(cpu: Cpu, sends: bool) -> Chosen {
        let channel = Channel::new();
        let (sender, receiver) = Self::dealt(Block::ZERO);
        Chosen {
            sends,
            hasher: Hasher::new(cpu, channel.here.session(), ME, PEER, "timing"),
            channel,
            sender,
            receiver,
            choices: vec![0; Self::COUNT],
        }
    }

    /// Both are for the party that is timed, which is one of them.
    fn dealt(delta: Block) -> (ideal::IdealCotSender, ideal::IdealCotReceiver) {
        ideal::danger_pair([PEER, PEER], delta, 8)
    }

    fn bytes(&self) -> [u64; 2] {
        let (count, length) = (Self::COUNT as u64, Self::LENGTH as u64);
        [
            forms::given_bytes(count),
            forms::chosen_bytes(count, length),
        ]
    }

    fn receive(&mut self) -> Result<(), OtError> {
        let mesh = &mut self.channel.here;
        let mut strings = [Block::ZERO; Self::COUNT * Self::LENGTH];
        let request = Request::new(&mut self.receiver, mesh, &self.choices)?;
        request.finish(&mut self.hasher, mesh, Self::LENGTH, &mut strings)?;
        black_box(strings);
        Ok(())
    }
}

impl TimedWork for Chosen {
    fn prepare(&mut self, inputs: &[Block]) {
        choose(&mut self.choices, inputs);
        (self.sender, self.receiver) = Self::dealt(bits(inputs));
        let [request, answer] = self.bytes();
        let bytes = if self.sends { request } else { answer };
        self.channel.feed(&vec![0x5a; bytes as usize]);
    }

    fn run(&mut self) {
        let result = if self.sends {
            let (cot, mesh) = (&mut self.sender, &mut self.channel.here);
            let strings = &[Block::new(9); Self::COUNT * Self::LENGTH][..];
            let strings = [strings, strings];
            forms::send_chosen(cot, &mut self.hasher, mesh, Self::LENGTH, strings)
        } else {
            self.receive()
        };
        result.expect("nothing is checked");
    }

    fn settle(&mut self) {
        let [request, answer] = self.bytes();
        let bytes = if self.sends { answer } else { request };
        self.channel.drain(bytes);
    }
}

/// Columns that are corrected where a bit of the offset is 1, by a branch.
#[derive(Default)]
pub struct Correcting {
    delta: u128,
    column: [Block; 16],
}

impl TimedWork for Correcting {
    fn prepare(&mut self, inputs: &[Block]) {
        self.delta = bits(inputs).value();
    }

    fn run(&mut self) {
        for bit in 0..128 {
            if self.delta >> bit & 1 == 1 {
                correct(&mut self.column);
            }
        }
    }
}

/// A call, which no compiler turns into masks.
#[inline(never)]
fn correct(column: &mut [Block; 16]) {
    for block in black_box(column) {
        *block ^= Block::new(0x5a5a);
    }
}
