//! Products of secrets: OLEs over ideal correlated OTs, triples over both directions of these, and
//! Boolean triples, which send nothing of their own, over both directions of an extension.

use super::{Case, Changed, DELTA, Honest, Outputs, RECEIVER, SENDER, coins, cpu, same};
use sealane_block::Block;
use sealane_net::Mesh;
use sealane_ot::forms::{HashedReceiver, HashedSender};
use sealane_ot::softspoken::{Receiver, Sender};
use sealane_ot::traits::{Correlation, CorrelationSource, CotCost};
use sealane_ot::triples::{
    ArithmeticTriples, BooleanTriples, BothWays, MatrixShape, MatrixTriples, Ole, Ring,
};
use sealane_ot::{Flight, Flights, OtError, Security, SoftSpoken, ideal};
use sealane_parties::PartyId;

/// Products of one kind.
enum Products {
    Ole,
    Arithmetic,
    Matrix,
    Boolean,
}

/// All kinds.
pub const CASES: [&dyn Case; 4] = [
    &Products::Ole,
    &Products::Arithmetic,
    &Products::Matrix,
    &Products::Boolean,
];

/// A ring whose elements do not end with bytes, and the number of correlations of each kind.
const RING: Ring = Ring::new(13);
const COUNT: usize = 7;
const BITS: usize = 200;
const SHAPE: MatrixShape = MatrixShape {
    ring: RING,
    rows: 2,
    inner: 3,
    columns: 3,
};
/// The extension beneath Boolean triples.
const EXTENSION: SoftSpoken = SoftSpoken::new(4, Security::SemiHonest);

fn blocks(words: &[u64]) -> Vec<Block> {
    words.iter().map(|&word| Block::new(word.into())).collect()
}

/// Ideal correlated OTs of this party, one direction each way.
fn both_ways(mesh: &Mesh) -> BothWays<ideal::IdealCotSender, ideal::IdealCotReceiver> {
    let (there, back) = ([SENDER, RECEIVER], [RECEIVER, SENDER]);
    let (sends, receives) = ideal::danger_pair(there, DELTA, 5);
    let (sends_back, receives_back) = ideal::danger_pair(back, DELTA, 6);
    let (sender, receiver) = match mesh.me() {
        SENDER => (sends, receives_back),
        _ => (sends_back, receives),
    };
    BothWays::new(cpu(), mesh, sender, receiver, "fuzz")
}

/// OLEs in one direction.
fn ole(mesh: &mut Mesh) -> Result<Outputs, OtError> {
    let (sender, receiver) = ideal::danger_pair([SENDER, RECEIVER], DELTA, 4);
    let ole: Ole = match mesh.me() {
        SENDER => HashedSender::new(cpu(), mesh, sender, "fuzz").make(mesh, RING, COUNT)?,
        _ => HashedReceiver::new(cpu(), mesh, receiver, "fuzz").make(mesh, RING, COUNT)?,
    };
    Ok(vec![blocks(&ole.factors), blocks(&ole.shares)])
}

/// Boolean triples with their extensions, both directions in the order of `docs/protocols/ot.md`.
fn boolean(mesh: &mut Mesh) -> Result<Outputs, OtError> {
    let peer = PartyId(1 - mesh.me().0);
    let coins = &mut coins(mesh);
    let sender = Sender::set_up(EXTENSION, cpu(), mesh, peer, DELTA, coins)?;
    let receiver = Receiver::set_up(EXTENSION, cpu(), mesh, peer, coins)?;
    mesh.flush()?;
    let receiver = receiver.finish(mesh)?;
    mesh.flush()?;
    let sender = sender.finish(mesh)?;
    let both = &mut BothWays::new(cpu(), mesh, sender, receiver, "fuzz");
    let mut triples: BooleanTriples = both.make(mesh, (), BITS)?;
    let parts = [&mut triples.b, &mut triples.a, &mut triples.c];
    Ok(parts.map(std::mem::take).to_vec())
}

/// Shares of products of `factors` where the sender's message is another one: `honest` shares, plus
/// the differences of what each bit of a factor takes from it.
fn shifted(factors: &[Block], honest: &[Block], messages: [&[u8]; 2]) -> Vec<Block> {
    let number = |message: &[u8], at: usize, bits: u32| {
        let bit = |i: usize| u64::from(message[(at + i) / 8] >> ((at + i) % 8) & 1) << i;
        (0..bits as usize).map(bit).sum::<u64>()
    };
    let mut at = 0;
    let share = |(factor, share): (&Block, &Block)| {
        let mut sum = share.value() as u64;
        for i in 1..RING.bits() {
            let bits = RING.bits() - i;
            let [old, new] = messages.map(|message| number(message, at, bits));
            at += bits as usize;
            if factor.value() >> i & 1 == 1 {
                sum = sum.wrapping_add(new.wrapping_sub(old) << i);
            }
        }
        Block::new(RING.reduce(sum).into())
    };
    factors.iter().zip(honest).map(share).collect()
}

impl Case for Products {
    fn run(&self, mesh: &mut Mesh) -> Result<Outputs, OtError> {
        let outputs = match self {
            Products::Ole => ole(mesh)?,
            Products::Arithmetic => {
                let made: ArithmeticTriples = both_ways(mesh).make(mesh, RING, COUNT)?;
                [&made.b, &made.c, &made.a]
                    .map(|part| blocks(part))
                    .to_vec()
            }
            Products::Matrix => {
                let made: MatrixTriples = both_ways(mesh).make(mesh, SHAPE, 2)?;
                [&made.b, &made.c, &made.a]
                    .map(|part| blocks(part))
                    .to_vec()
            }
            Products::Boolean => boolean(mesh)?,
        };
        mesh.flush()?;
        Ok(outputs)
    }

    fn flights(&self) -> Flights {
        let count = COUNT as u64;
        match self {
            Products::Ole => Ole::flights(&ideal::Free, 0, RING, count),
            Products::Arithmetic => ArithmeticTriples::flights(&ideal::Free, 0, RING, count),
            Products::Matrix => MatrixTriples::flights(&ideal::Free, 0, SHAPE, 2),
            Products::Boolean => {
                // Both parties write all messages of both roles.
                let set_up = EXTENSION.set_up();
                let (first, second) = (set_up[0], set_up[1]);
                let bytes = [first.from_sender, first.from_receiver, second.from_receiver];
                let each = |bytes| Flight {
                    from_sender: bytes,
                    from_receiver: bytes,
                };
                let mut flights = bytes.map(each).to_vec();
                flights.extend(BooleanTriples::flights(&EXTENSION, 0, (), BITS as u64));
                flights
            }
        }
    }

    fn points(&self) -> usize {
        if matches!(self, Products::Boolean) {
            2
        } else {
            0
        }
    }

    fn check(&self, party: &Honest, changed: &Changed, outputs: &Outputs) {
        let reduced = |word: &Block| word.value() == RING.reduce(word.value() as u64).into();
        match self {
            Products::Ole | Products::Arithmetic => {
                assert!(same(&outputs[0], &party.outputs[0]), "own factors");
                let place = party.messages[0].clone();
                let messages = [&party.stream[..], changed.stream];
                let messages = messages.map(|stream| &stream[place.clone()]);
                let expected = shifted(&outputs[0], &party.outputs[1], messages);
                assert!(same(&outputs[1], &expected), "shares of products");
            }
            Products::Matrix => {
                assert!(same(&outputs[0], &party.outputs[0]), "own factors");
                assert!(same(&outputs[2], &party.outputs[2]), "own factors");
                assert!(outputs[1].iter().all(reduced));
            }
            Products::Boolean => {
                // The own choices hang on nothing but the base OTs.
                if party.has(changed, 0) {
                    assert!(same(&outputs[0], &party.outputs[0]));
                }
                for part in outputs {
                    let rest = part[BITS / 128].value() >> (BITS % 128);
                    assert_eq!(rest, 0, "nothing but bits");
                }
            }
        }
    }
}
