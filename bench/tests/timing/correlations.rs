//! More of oblivious transfers, timed at one party as in [`transfers`](crate::transfers): the party
//! with both keys in its set-up, one of many strings, products, an offset that comes later, and OTs
//! of a pool as a run takes them.

use std::hint::black_box;

use sealane_block::{Block, Coins, Cpu, Prg};
use sealane_net::Mesh;
use sealane_ot::forms::{self, HashedReceiver, HashedSender, OffsetRequest};
use sealane_ot::softspoken::Receiver;
use sealane_ot::softspoken::one_of_n::{OneOfN, StringsReceiver, StringsSender};
use sealane_ot::traits::{Correlation, CorrelationSource, CotCost, packed_blocks};
use sealane_ot::traits::{OneOfNKeys, OneOfNReceiver, OneOfNSender};
use sealane_ot::triples::{ArithmeticTriples, BooleanTriples, BothWays, Ole, Ring};
use sealane_ot::{Role, Security, SoftSpoken};
use sealane_party::Stock;
use sealane_pool::watched::{self, Watch};
use sealane_pool::{BATCH, DiskStock};
use sealane_testkit::timing::TimedWork;
use zeroize::Zeroizing;

use crate::channel::{COUNT, Channel, DIGEST_BYTES, Exchange, ME, PEER, POINT, bits, choices};
use crate::transfers::Source;

/// The receiver's set-up of an extension: it has both keys of each base OT. Its coins are secret,
/// and with them its scalar, all keys and all trees.
pub fn receiver_set_up(cpu: Cpu) -> impl TimedWork {
    const PARAMETERS: SoftSpoken = SoftSpoken::new(4, Security::Malicious);
    let flights = PARAMETERS.set_up();
    let points = (flights[0].from_sender - DIGEST_BYTES) as usize;
    let sent = flights.into_iter().map(|flight| flight.from_receiver).sum();
    let prepare = move |channel: &mut Channel, inputs: &[Block]| {
        channel.feed(&POINT.repeat(points / POINT.len()));
        channel.feed_digest();
        Coins::danger_fixed_seed(bits(inputs).value() as u64)
    };
    Exchange::new(Channel::new(), sent, prepare, move |mesh, coins| {
        Receiver::set_up(PARAMETERS, cpu, mesh, PEER, coins)?.finish(mesh)
    })
}

/// Bytes of the receiver's messages in an extension of OTs of one of many strings, and of its given
/// choices.
fn asked(parameters: OneOfN) -> [u64; 2] {
    let flights = parameters.flights(COUNT as u64).into_iter();
    let extended = flights.map(|flight| flight.from_receiver).sum();
    [extended, parameters.given_bytes(COUNT as u64)]
}

/// The receiver of one of 256 strings, whose choices are secret.
pub fn one_of_256(cpu: Cpu) -> impl TimedWork {
    const PARAMETERS: OneOfN = OneOfN::new(8, 6, Security::Malicious);
    let mut channel = Channel::new();
    let sender = |mesh: &mut Mesh| {
        let coins = &mut Coins::danger_fixed_seed(3);
        let setup = StringsSender::set_up(PARAMETERS, cpu, mesh, ME, coins);
        mesh.flush()?;
        setup?.finish(mesh).map(drop)
    };
    let mut receiver = channel.meet(sender, |mesh| {
        let coins = &mut Coins::danger_fixed_seed(4);
        let setup = StringsReceiver::set_up(PARAMETERS, cpu, mesh, PEER, coins);
        mesh.flush()?;
        setup?.finish(mesh)
    });
    // All bits of a choice from one of a label.
    let prepare =
        |_: &mut Channel, inputs: &[Block]| choices(inputs).map(|bit| 0u8.wrapping_sub(bit));
    let sent = asked(PARAMETERS).iter().sum();
    Exchange::new(channel, sent, prepare, move |mesh, choices| {
        let mut keys = [Block::ZERO; COUNT];
        receiver.receive_given(mesh, choices, &mut keys)?;
        Ok(keys)
    })
}

/// The sender of one of four strings, whose offset is secret: its coins are. An extension, all keys
/// and strings, after a set-up that is not timed.
pub fn one_of_4(cpu: Cpu) -> impl TimedWork {
    const PARAMETERS: OneOfN = OneOfN::new(2, 4, Security::SemiHonest);
    let prepare = move |channel: &mut Channel, inputs: &[Block]| {
        let set_up = PARAMETERS.set_up_flights();
        let trees = set_up[1].from_receiver - DIGEST_BYTES;
        channel.feed(&POINT);
        channel.feed(&vec![0x5a; trees as usize]);
        channel.feed_digest();
        let coins = &mut Coins::danger_fixed_seed(bits(inputs).value() as u64);
        let mesh = &mut channel.here;
        let setup = StringsSender::set_up(PARAMETERS, cpu, mesh, PEER, coins);
        let ready = setup.and_then(|setup| setup.finish(mesh));
        channel.drain(set_up[0].from_sender);
        let [extended, given] = asked(PARAMETERS);
        channel.feed(&vec![0xa5; (2 * extended + given) as usize]);
        ready.expect("trees that nobody checks")
    };
    let sent = PARAMETERS.chosen_bytes(COUNT as u64, 1);
    let run = |mesh: &mut Mesh, sender: &mut StringsSender| {
        let mut keys = [Block::ZERO; 4 * COUNT];
        sender.extend(mesh, COUNT)?.fill_all(&mut keys);
        sender.send_chosen(mesh, 1, &[Block::new(9); 4 * COUNT])?;
        Ok(keys)
    };
    Exchange::new(Channel::new(), sent, prepare, run)
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
pub fn products(cpu: Cpu, kind: ProductKind) -> impl TimedWork {
    const RING: Ring = Ring::new(32);
    let flights = Ole::flights(&sealane_ot::ideal::Free, 0, RING, COUNT as u64);
    let bytes = flights.into_iter().map(|flight| flight.from_sender).sum();
    let (sent, read) = match kind {
        ProductKind::OleSender => (bytes, 0),
        ProductKind::OleReceiver => (0, bytes),
        ProductKind::Boolean => (0, 0),
        ProductKind::Arithmetic => (bytes, bytes),
    };
    let prepare = move |channel: &mut Channel, inputs: &[Block]| {
        channel.feed(&vec![0x5a; read as usize]);
        bits(inputs)
    };
    Exchange::new(Channel::new(), sent, prepare, move |mesh, bits| {
        let (source, label) = (|| Source::new(cpu, *bits), "timing");
        let both = || BothWays::new(cpu, mesh, source(), source(), label);
        match kind {
            ProductKind::OleSender => {
                let mut party = HashedSender::new(cpu, mesh, source(), label);
                black_box::<Ole>(party.make(mesh, RING, COUNT)?);
            }
            ProductKind::OleReceiver => {
                let mut party = HashedReceiver::new(cpu, mesh, source(), label);
                black_box::<Ole>(party.make(mesh, RING, COUNT)?);
            }
            ProductKind::Boolean => {
                black_box::<BooleanTriples>(both().make(mesh, (), 64 * COUNT)?);
            }
            ProductKind::Arithmetic => {
                black_box::<ArithmeticTriples>(both().make(mesh, RING, COUNT)?);
            }
        }
        Ok(())
    })
}

/// A party of OTs whose offset comes later: at a sender it is secret, at a receiver the choices.
pub fn later(cpu: Cpu, sends: bool) -> impl TimedWork {
    let count = COUNT as u64;
    let (masked, answer) = (forms::given_bytes(count), forms::offset_bytes(count));
    let (sent, read) = if sends {
        (answer, masked)
    } else {
        (masked, answer)
    };
    let mut rows = Prg::danger_fixed(cpu, 7);
    let prepare = move |channel: &mut Channel, inputs: &[Block]| {
        let mut keys = Zeroizing::new(vec![Block::ZERO; if sends { 2 * COUNT } else { COUNT }]);
        rows.fill(&mut keys);
        channel.feed(&vec![0x5a; read as usize]);
        (bits(inputs), choices(inputs), keys)
    };
    Exchange::new(Channel::new(), sent, prepare, move |mesh, given| {
        let (delta, choices, keys) = given;
        if sends {
            let mut q = [Block::ZERO; COUNT];
            let (pairs, _) = keys.as_chunks::<2>();
            forms::send_under(*delta, pairs, mesh, PEER, &mut q)?;
            black_box(q);
        } else {
            let keys = std::mem::take(keys);
            let request = OffsetRequest::new(choices, &[1; COUNT], keys, mesh, PEER)?;
            black_box(request.finish(mesh)?);
        }
        Ok(())
    })
}

/// A batch of a pool, as the receiver of a run takes it: its choices are secret.
pub fn taking(cpu: Cpu) -> impl TimedWork {
    let mut keys = vec![Block::ZERO; BATCH + packed_blocks(BATCH)];
    Prg::danger_fixed(cpu, 7).fill(&mut keys);
    let prepare = move |_: &mut Channel, inputs: &[Block]| {
        keys[BATCH..].fill(bits(inputs));
        let watch = Watch {
            secret: |_| (),
            public: |_| (),
        };
        // The first is passed over.
        watched::batches(watch, Role::Receiver, &[&keys[..]; 2])
    };
    let run = |_: &mut Mesh, stock: &mut DiskStock| {
        let (mut choices, mut keys) = ([0; BATCH], [Block::ZERO; BATCH]);
        stock
            .keys(&mut choices, &mut keys)
            .expect("what was written");
        Ok((choices, keys))
    };
    Exchange::new(Channel::new(), 0, prepare, run)
}
