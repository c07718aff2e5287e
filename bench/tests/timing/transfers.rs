//! Oblivious transfers, timed at one party. The other one is a mesh that sends what it should, or
//! other bytes of that length: a party that finds nothing wrong with them, or nothing before its
//! last comparison, does the same work on them.

use std::hint::black_box;

use sealane_block::{Block, Coins, Cpu, Prg};
use sealane_net::Mesh;
use sealane_ot::ferret::{FerretCost, FerretReceiver, FerretSender, Params};
use sealane_ot::forms::{self, Hasher, Request};
use sealane_ot::softspoken::{Receiver, Sender};
use sealane_ot::traits::{CotCost, CotReceiver, CotSender, CotTerms};
use sealane_ot::{Flight, OtError, Security, SoftSpoken, ideal};
use sealane_testkit::timing::TimedWork;

use crate::channel::{COUNT, Channel, DIGEST_BYTES, Exchange, ME, PEER, POINT, bits, choices};
use crate::work::work;

/// The extension of `yao`.
const EXTENSION: SoftSpoken = SoftSpoken::new(4, Security::Malicious);

/// The receiver of oblivious transfers with given choices.
pub fn given_choices(cpu: Cpu) -> impl TimedWork {
    let mut channel = Channel::new();
    let sender = |mesh: &mut Mesh| {
        let (delta, coins) = (Block::new(0x5a5b), &mut Coins::danger_fixed_seed(3));
        let setup = Sender::set_up(EXTENSION, cpu, mesh, ME, delta, coins)?;
        mesh.flush()?;
        setup.finish(mesh).map(drop)
    };
    let mut cot = channel.meet(sender, |mesh| {
        let coins = &mut Coins::danger_fixed_seed(4);
        let setup = Receiver::set_up(EXTENSION, cpu, mesh, PEER, coins)?;
        mesh.flush()?;
        setup.finish(mesh)
    });
    let count = COUNT as u64;
    let sent = EXTENSION.extend(0, count)[0].from_receiver + forms::given_bytes(count);
    let prepare = |_: &mut Channel, inputs: &[Block]| choices(inputs);
    Exchange::new(channel, sent, prepare, move |mesh, choices| {
        let mut labels = [Block::ZERO; COUNT];
        forms::receive_given(&mut cot, mesh, choices, &mut labels)?;
        Ok(labels)
    })
}

/// The sender of an extension, whose offset is secret.
#[derive(Clone, Copy)]
pub struct Offset {
    pub cpu: Cpu,
    pub k: u8,
    /// With a check, which finds that no answer is right: that of an extension, or of trees.
    pub security: Security,
}

impl Offset {
    const ANSWER_BYTES: u64 = 48;

    fn parameters(self) -> SoftSpoken {
        SoftSpoken::new(self.k, self.security)
    }

    fn refuses(self) -> bool {
        self.security == Security::Malicious
    }

    /// Sends messages of a receiver, with a digest where one is due.
    fn feed(self, channel: &mut Channel) {
        let trees = self.parameters().set_up()[1].from_receiver - DIGEST_BYTES;
        channel.feed(&POINT);
        channel.feed(&vec![0x5a; trees as usize]);
        channel.feed_digest();
    }

    fn feed_extension(self, channel: &mut Channel) {
        let bytes = self.parameters().extend(0, COUNT as u64)[0].from_receiver;
        if !self.refuses() {
            return channel.feed(&vec![0xa5; bytes as usize]);
        }
        let corrections = bytes - DIGEST_BYTES - Self::ANSWER_BYTES;
        channel.feed(&vec![0xa5; corrections as usize]);
        channel.feed_digest();
        channel.feed(&[0xa5; Self::ANSWER_BYTES as usize]);
    }

    fn make(self, mesh: &mut Mesh, delta: Block, coins: &mut Coins) -> Result<Sender, OtError> {
        let setup = Sender::set_up(self.parameters(), self.cpu, mesh, PEER, delta, coins)?;
        setup.finish(mesh)
    }

    fn set_up_bytes(self) -> u64 {
        self.parameters().set_up()[0].from_sender
    }

    /// Its set-up.
    pub fn set_up(self) -> impl TimedWork {
        let mut coins = Coins::danger_fixed_seed(5);
        let prepare = move |channel: &mut Channel, inputs: &[Block]| {
            self.feed(channel);
            bits(inputs)
        };
        let run = move |mesh: &mut Mesh, delta: &mut Block| {
            let made = self.make(mesh, *delta, &mut coins);
            assert_eq!(made.is_err(), self.refuses(), "{:?}", made.err());
            Ok(made.ok())
        };
        Exchange::new(Channel::new(), self.set_up_bytes(), prepare, run)
    }

    /// An extension after it. With a check, `k` has to be 1: there the trees have nothing to check.
    pub fn extension(self) -> impl TimedWork {
        let mut coins = Coins::danger_fixed_seed(5);
        let prepare = move |channel: &mut Channel, inputs: &[Block]| {
            self.feed(channel);
            let made = self.make(&mut channel.here, bits(inputs), &mut coins);
            channel.drain(self.set_up_bytes());
            self.feed_extension(channel);
            made.expect("nothing to check")
        };
        let run = move |mesh: &mut Mesh, sender: &mut Sender| {
            let mut q = [Block::ZERO; COUNT];
            let extended = sender.extend(mesh, &mut q);
            assert_eq!(extended.is_err(), self.refuses(), "{:?}", extended.err());
            Ok(q)
        };
        Exchange::new(Channel::new(), 0, prepare, run)
    }
}

/// Correlations of one party, with these bits.
pub struct Source {
    bits: Block,
    rows: Prg,
}

impl Source {
    pub fn new(cpu: Cpu, bits: Block) -> Source {
        let rows = Prg::danger_fixed(cpu, 7);
        Source { bits, rows }
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

/// A party of silent extension: at a sender the offset is secret, at a receiver the choices of the
/// correlations that it begins with, and so the places of its errors.
pub fn silent(cpu: Cpu, params: Params, sends: bool) -> impl TimedWork {
    const COUNT: usize = 200;
    /// Messages of a check, of the receiver and of the sender, each of which ends in a digest.
    const CHECK_BYTES: u64 = 16 + 16 + DIGEST_BYTES;
    const PROOF_BYTES: u64 = 32 + DIGEST_BYTES;
    let checks = params.security() == Security::Malicious;
    // A receiver that checks refuses the first proof.
    let refuses = !sends && checks;
    let cost = FerretCost {
        source: ideal::Free,
        params,
    };
    let mut flights = cost.set_up();
    if !refuses {
        flights.extend(cost.extend(0, COUNT as u64));
    }
    let of_side = |sender: bool| {
        move |flight: &Flight| [flight.from_receiver, flight.from_sender][usize::from(sender)]
    };
    let sent = flights.iter().map(of_side(sends)).sum();
    let read: Vec<u64> = flights.iter().map(of_side(!sends)).collect();
    let prepare = move |channel: &mut Channel, inputs: &[Block]| {
        let check = if sends { CHECK_BYTES } else { PROOF_BYTES };
        for &bytes in &read {
            let digest = if checks && bytes == check {
                DIGEST_BYTES
            } else {
                0
            };
            channel.feed(&vec![0x5a; (bytes - digest) as usize]);
            if digest > 0 {
                channel.feed_digest();
            }
        }
        bits(inputs)
    };
    let (mut coins, mut source) = (Coins::danger_fixed_seed(6), Source::new(cpu, Block::ZERO));
    let mut make = move |mesh: &mut Mesh, bits: Block| {
        source.bits = bits;
        let (source, coins) = (&mut source, &mut coins);
        let (mut x, mut rows) = ([Block::ZERO; 2], [Block::ZERO; COUNT]);
        if sends {
            let mut cot = FerretSender::set_up(cpu, mesh, PEER, params, source, coins)?;
            cot.extend(mesh, &mut rows)?;
        } else {
            let mut cot = FerretReceiver::set_up(cpu, mesh, PEER, params, source, coins)?;
            cot.extend(mesh, &mut x, &mut rows)?;
        }
        Ok((x, rows))
    };
    Exchange::new(Channel::new(), sent, prepare, move |mesh, bits| {
        match make(mesh, *bits) {
            // The proof, and not a digest before it.
            Err(OtError::CheckFailed(_)) if refuses => Ok(None),
            made => {
                assert!(!refuses);
                made.map(Some)
            }
        }
    })
}

/// A party of OTs of strings: at a sender the offset is secret, at a receiver the choices.
pub fn strings(cpu: Cpu, sends: bool) -> impl TimedWork {
    const LENGTH: usize = 2;
    let channel = Channel::new();
    let mut hasher = Hasher::new(cpu, channel.here.session(), ME, PEER, "timing");
    let request = forms::given_bytes(COUNT as u64);
    let answer = forms::chosen_bytes(COUNT as u64, LENGTH as u64);
    let (sent, read) = if sends {
        (answer, request)
    } else {
        (request, answer)
    };
    let prepare = move |channel: &mut Channel, inputs: &[Block]| {
        channel.feed(&vec![0x5a; read as usize]);
        // Both are for the party that is timed, which is one of them.
        let dealt = ideal::danger_pair([PEER, PEER], bits(inputs), 8);
        (dealt, choices(inputs))
    };
    Exchange::new(channel, sent, prepare, move |mesh, given| {
        let ((sender, receiver), choices) = given;
        let mut strings = [Block::new(9); COUNT * LENGTH];
        if sends {
            let both = [&strings[..]; 2];
            forms::send_chosen(sender, &mut hasher, mesh, LENGTH, both)?;
        } else {
            let request = Request::new(receiver, mesh, choices)?;
            request.finish(&mut hasher, mesh, LENGTH, &mut strings)?;
        }
        Ok(strings)
    })
}

/// Columns that are corrected where a bit of the offset is 1, by a branch.
pub fn correcting() -> impl TimedWork {
    let mut column = [Block::ZERO; 16];
    let prepare = |delta: &mut u128, inputs: &[Block]| *delta = bits(inputs).value();
    work(0, prepare, move |delta| {
        for bit in 0..128 {
            if *delta >> bit & 1 == 1 {
                correct(&mut column);
            }
        }
    })
}

/// A call, which no compiler turns into masks.
#[inline(never)]
fn correct(column: &mut [Block; 16]) {
    for block in black_box(column) {
        *block ^= Block::new(0x5a5a);
    }
}
