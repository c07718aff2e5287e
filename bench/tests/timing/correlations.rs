//! More of oblivious transfers, timed at one party as in [`transfers`](crate::transfers): the party
//! with both keys in its set-up, one of many strings, products, an offset that comes later, and OTs
//! of a pool as a run takes them.

use std::hint::black_box;

use sealane_block::{Block, Coins, Cpu, Prg};
use sealane_net::Mesh;
use sealane_ot::forms::{self, HashedReceiver, HashedSender, OffsetRequest};
use sealane_ot::softspoken::one_of_n::{OneOfN, StringsReceiver, StringsSender};
use sealane_ot::softspoken::{Receiver, ReceiverSetup};
use sealane_ot::traits::{Correlation, CorrelationSource, CotCost, packed_blocks};
use sealane_ot::traits::{OneOfNKeys, OneOfNReceiver, OneOfNSender};
use sealane_ot::triples::{ArithmeticTriples, BooleanTriples, BothWays, Ole, Ring};
use sealane_ot::{OtError, Role, Security, SoftSpoken};
use sealane_party::Stock;
use sealane_pool::watched::{self, Watch};
use sealane_pool::{BATCH, DiskStock};
use zeroize::Zeroizing;

use crate::transfers::{Channel, ME, PEER, POINT, Source, bits, choose};
use sealane_testkit::timing::{ROWS, TimedWork};

/// OTs, or other correlations, of a batch.
const COUNT: usize = 2 * ROWS;

/// The receiver's set-up of an extension: it has both keys of each base OT. Its coins are secret,
/// and with them its scalar, all keys and all trees.
pub struct Scalar {
    cpu: Cpu,
    channel: Channel,
    coins: Coins,
    ready: Option<Receiver>,
}

impl Scalar {
    const PARAMETERS: SoftSpoken = SoftSpoken::new(4, Security::Malicious);
    const DIGEST_BYTES: usize = 32;

    pub fn new(cpu: Cpu) -> Scalar {
        Scalar {
            cpu,
            channel: Channel::new(),
            coins: Coins::danger_fixed_seed(0),
            ready: None,
        }
    }
}

impl TimedWork for Scalar {
    fn prepare(&mut self, inputs: &[Block]) {
        self.coins = Coins::danger_fixed_seed(bits(inputs).value() as u64);
        let points = Self::PARAMETERS.set_up()[0].from_sender as usize - Self::DIGEST_BYTES;
        self.channel.feed(&POINT.repeat(points / POINT.len()));
        self.channel.feed_digest();
    }

    fn run(&mut self) {
        let (mesh, coins) = (&mut self.channel.here, &mut self.coins);
        let setup = Receiver::set_up(Self::PARAMETERS, self.cpu, mesh, PEER, coins);
        let ready = setup.and_then(|setup: ReceiverSetup| setup.finish(mesh));
        self.ready = Some(ready.expect("points"));
    }

    fn settle(&mut self) {
        let sent = Self::PARAMETERS.set_up().into_iter();
        let sent = sent.map(|flight| flight.from_receiver);
        self.channel.drain(sent.sum());
        self.ready = None;
    }
}

/// The receiver of one of 256 strings, whose choices are secret.
pub struct Choosing {
    channel: Channel,
    receiver: StringsReceiver,
    choices: [u8; COUNT],
}

impl Choosing {
    const PARAMETERS: OneOfN = OneOfN::new(8, 6, Security::Malicious);

    pub fn new(cpu: Cpu) -> Choosing {
        let mut channel = Channel::new();
        let sender = |mesh: &mut Mesh| {
            let coins = &mut Coins::danger_fixed_seed(3);
            let setup = StringsSender::set_up(Self::PARAMETERS, cpu, mesh, ME, coins);
            mesh.flush()?;
            setup?.finish(mesh).map(drop)
        };
        let receiver = channel.meet(sender, |mesh| {
            let coins = &mut Coins::danger_fixed_seed(4);
            let setup = StringsReceiver::set_up(Self::PARAMETERS, cpu, mesh, PEER, coins);
            mesh.flush()?;
            setup?.finish(mesh)
        });
        Choosing {
            channel,
            receiver,
            choices: [0; COUNT],
        }
    }
}

impl TimedWork for Choosing {
    fn prepare(&mut self, inputs: &[Block]) {
        // All bits of a choice from one of a label.
        for (choice, input) in self.choices.iter_mut().zip(inputs) {
            *choice = 0u8.wrapping_sub(input.lsb());
        }
    }

    fn run(&mut self) {
        let mut keys = [Block::ZERO; COUNT];
        let mesh = &mut self.channel.here;
        let asked = self.receiver.receive_given(mesh, &self.choices, &mut keys);
        asked.expect("memory");
        black_box(keys);
    }

    fn settle(&mut self) {
        let flights = Self::PARAMETERS.flights(COUNT as u64).into_iter();
        let extended: u64 = flights.map(|flight| flight.from_receiver).sum();
        let given = Self::PARAMETERS.given_bytes(COUNT as u64);
        self.channel.drain(extended + given);
    }
}

/// The sender of one of four strings, whose offset is secret: its coins are. An extension, all keys
/// and strings, after a set-up that is not timed.
pub struct Keys {
    cpu: Cpu,
    channel: Channel,
    sender: Option<StringsSender>,
}

impl Keys {
    const PARAMETERS: OneOfN = OneOfN::new(2, 4, Security::SemiHonest);
    const DIGEST_BYTES: u64 = 32;

    pub fn new(cpu: Cpu) -> Keys {
        Keys {
            cpu,
            channel: Channel::new(),
            sender: None,
        }
    }

    fn run_checked(&mut self) -> Result<(), OtError> {
        let (strings, mesh) = (Self::PARAMETERS.strings(), &mut self.channel.here);
        let sender = self.sender.as_mut().expect("a set-up");
        let mut keys = [Block::ZERO; 4 * COUNT];
        sender.extend(mesh, COUNT)?.fill_all(&mut keys);
        sender.send_chosen(mesh, 1, &vec![Block::new(9); strings * COUNT])?;
        black_box(keys);
        Ok(())
    }
}

impl TimedWork for Keys {
    fn prepare(&mut self, inputs: &[Block]) {
        let set_up = Self::PARAMETERS.set_up_flights();
        let trees = set_up[1].from_receiver - Self::DIGEST_BYTES;
        self.channel.feed(&POINT);
        self.channel.feed(&vec![0x5a; trees as usize]);
        self.channel.feed_digest();
        let coins = &mut Coins::danger_fixed_seed(bits(inputs).value() as u64);
        let mesh = &mut self.channel.here;
        let setup = StringsSender::set_up(Self::PARAMETERS, self.cpu, mesh, PEER, coins);
        let ready = setup.and_then(|setup| setup.finish(mesh));
        self.sender = Some(ready.expect("trees that nobody checks"));
        self.channel.drain(set_up[0].from_sender);
        let flights = Self::PARAMETERS.flights(COUNT as u64).into_iter();
        let extended: u64 = flights.map(|flight| flight.from_receiver).sum();
        let given = Self::PARAMETERS.given_bytes(COUNT as u64);
        let answers = vec![0xa5; (2 * extended + given) as usize];
        self.channel.feed(&answers);
    }

    fn run(&mut self) {
        self.run_checked().expect("nothing is checked");
    }

    fn settle(&mut self) {
        let sent = Self::PARAMETERS.chosen_bytes(COUNT as u64, 1);
        self.channel.drain(sent);
        self.sender = None;
    }
}

/// Kinds of products.
#[derive(Clone, Copy, Debug)]
pub enum ProductKind {
    /// OLEs, as the sender of their OTs.
    OleSender,
    /// OLEs, as the receiver.
    OleReceiver,
    /// Boolean triples.
    Boolean,
    /// Arithmetic triples.
    Arithmetic,
}

/// Products, whose offset and choices are secret.
pub struct Products {
    cpu: Cpu,
    kind: ProductKind,
    channel: Channel,
    bits: Block,
}

impl Products {
    const RING: Ring = Ring::new(32);

    pub fn new(cpu: Cpu, kind: ProductKind) -> Products {
        Products {
            cpu,
            kind,
            channel: Channel::new(),
            bits: Block::ZERO,
        }
    }

    fn source(&self) -> Source {
        let mut source = Source::new(self.cpu);
        source.bits = self.bits;
        source
    }

    /// Bytes that this party sends, and those that it reads.
    fn bytes(&self) -> [u64; 2] {
        let count = COUNT as u64;
        let flights = Ole::flights(&sealane_ot::ideal::Free, 0, Self::RING, count);
        let bytes = flights.into_iter().map(|flight| flight.from_sender).sum();
        match self.kind {
            ProductKind::OleSender => [bytes, 0],
            ProductKind::OleReceiver => [0, bytes],
            ProductKind::Boolean => [0, 0],
            ProductKind::Arithmetic => [bytes, bytes],
        }
    }

    fn make(&mut self) -> Result<(), OtError> {
        let (source, other, cpu) = (self.source(), self.source(), self.cpu);
        let (mesh, label): (&mut Mesh, _) = (&mut self.channel.here, "timing");
        match self.kind {
            ProductKind::OleSender => {
                let mut party = HashedSender::new(cpu, mesh, source, label);
                black_box::<Ole>(party.make(mesh, Self::RING, COUNT)?);
            }
            ProductKind::OleReceiver => {
                let mut party = HashedReceiver::new(cpu, mesh, source, label);
                black_box::<Ole>(party.make(mesh, Self::RING, COUNT)?);
            }
            ProductKind::Boolean => {
                let mut both = BothWays::new(cpu, mesh, source, other, label);
                black_box::<BooleanTriples>(both.make(mesh, (), 64 * COUNT)?);
            }
            ProductKind::Arithmetic => {
                let mut both = BothWays::new(cpu, mesh, source, other, label);
                black_box::<ArithmeticTriples>(both.make(mesh, Self::RING, COUNT)?);
            }
        }
        Ok(())
    }
}

impl TimedWork for Products {
    fn prepare(&mut self, inputs: &[Block]) {
        self.bits = bits(inputs);
        let [_, read] = self.bytes();
        self.channel.feed(&vec![0x5a; read as usize]);
    }

    fn run(&mut self) {
        self.make().expect("nothing is checked");
    }

    fn settle(&mut self) {
        let [sent, _] = self.bytes();
        self.channel.drain(sent);
    }
}

/// A party of OTs whose offset comes later: at a sender it is secret, at a receiver the choices.
pub struct Later {
    sends: bool,
    channel: Channel,
    rows: Prg,
    delta: Block,
    choices: [u8; COUNT],
    keys: Zeroizing<Vec<Block>>,
}

impl Later {
    pub fn new(cpu: Cpu, sends: bool) -> Later {
        Later {
            sends,
            channel: Channel::new(),
            rows: Prg::danger_fixed(cpu, 7),
            delta: Block::ZERO,
            choices: [0; COUNT],
            keys: Zeroizing::default(),
        }
    }

    fn bytes(&self) -> [u64; 2] {
        let count = COUNT as u64;
        let (masked, answer) = (forms::given_bytes(count), forms::offset_bytes(count));
        if self.sends {
            [answer, masked]
        } else {
            [masked, answer]
        }
    }

    fn go(&mut self) -> Result<(), OtError> {
        let mesh = &mut self.channel.here;
        if self.sends {
            let mut q = [Block::ZERO; COUNT];
            let (pairs, _) = self.keys.as_chunks::<2>();
            forms::send_under(self.delta, pairs, mesh, PEER, &mut q)?;
            black_box(q);
        } else {
            let keys = std::mem::take(&mut self.keys);
            let random = [1; COUNT];
            let request = OffsetRequest::new(&self.choices, &random, keys, mesh, PEER)?;
            black_box(request.finish(mesh)?);
        }
        Ok(())
    }
}

impl TimedWork for Later {
    fn prepare(&mut self, inputs: &[Block]) {
        self.delta = bits(inputs);
        choose(&mut self.choices, inputs);
        let keys = if self.sends { 2 * COUNT } else { COUNT };
        self.keys = Zeroizing::new(vec![Block::ZERO; keys]);
        self.rows.fill(&mut self.keys);
        let [_, read] = self.bytes();
        self.channel.feed(&vec![0x5a; read as usize]);
    }

    fn run(&mut self) {
        self.go().expect("nothing is checked");
    }

    fn settle(&mut self) {
        let [sent, _] = self.bytes();
        self.channel.drain(sent);
    }
}

/// A batch of a pool, as the receiver of a run takes it: its choices are secret.
pub struct Taking {
    keys: Vec<Block>,
    stock: Option<DiskStock>,
}

impl Taking {
    pub fn new(cpu: Cpu) -> Taking {
        let mut keys = vec![Block::ZERO; BATCH + packed_blocks(BATCH)];
        Prg::danger_fixed(cpu, 7).fill(&mut keys);
        Taking { keys, stock: None }
    }
}

impl TimedWork for Taking {
    fn prepare(&mut self, inputs: &[Block]) {
        self.keys[BATCH..].fill(bits(inputs));
        let watch = Watch {
            secret: |_| (),
            public: |_| (),
        };
        // The first is passed over.
        let batches = [&self.keys[..]; 2];
        self.stock = Some(watched::batches(watch, Role::Receiver, &batches));
    }

    fn run(&mut self) {
        let (mut choices, mut keys) = ([0; BATCH], [Block::ZERO; BATCH]);
        let stock = self.stock.as_mut().expect("a batch");
        let taken = stock.keys(&mut choices, &mut keys);
        taken.expect("what was written");
        black_box((choices, keys));
    }

    fn settle(&mut self) {
        self.stock = None;
    }
}
