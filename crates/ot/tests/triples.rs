//! OLEs and triples over the ideal functionality and over real extensions: products, bytes, the
//! same on every tier, factors that look random.

use crate::common::*;
use sealane_block::{Block, Cpu};
use sealane_net::Mesh;
use sealane_ot::ferret::{FerretCost, FerretReceiver, FerretSender, Params};
use sealane_ot::forms::Hasher;
use sealane_ot::traits::{CotCost, CotReceiver, CotSender};
use sealane_ot::triples::{self, ArithmeticTriples, BooleanTriples, BothWays, MatrixShape};
use sealane_ot::triples::{MatrixTriples, Ole, Ring};
use sealane_ot::{Flights, OtError, Security, SoftSpoken, ideal};
use sealane_parties::PartyId;

type AnySender = Box<dyn CotSender + Send>;
type AnyReceiver = Box<dyn CotReceiver + Send>;
type Both = BothWays<AnySender, AnyReceiver>;

/// A source of correlated OTs.
#[derive(Clone, Copy, Debug)]
enum Source {
    Ideal,
    Extension(SoftSpoken),
    Silent(Params),
}

const EXTENSION: SoftSpoken = SoftSpoken::new(4, Security::SemiHonest);

/// The extension beneath silent OTs, which withstands what they withstand.
fn under(params: Params) -> SoftSpoken {
    SoftSpoken::new(4, params.security())
}

fn sources() -> Vec<Source> {
    let both = [Security::SemiHonest, Security::Malicious];
    let extensions = both.map(|security| Source::Extension(SoftSpoken::new(4, security)));
    let silent = both.map(|security| Source::Silent(Params::danger_tiny(security)));
    [&[Source::Ideal][..], &extensions, &silent].concat()
}

impl Source {
    fn offset(me: PartyId) -> Block {
        DELTA ^ Block::new(u128::from(me.0) << 77)
    }

    fn sender(self, cpu: Cpu, mesh: &mut Mesh) -> Result<AnySender, OtError> {
        let (me, peer) = (mesh.me(), PartyId(1 - mesh.me().0));
        let delta = Source::offset(me);
        let seed = 10 + u64::from(me.0);
        let extension =
            |mesh: &mut Mesh, parameters| set_up_sender(parameters, cpu, mesh, peer, seed, delta);
        Ok(match self {
            Source::Ideal => Box::new(ideal::danger_pair([me, peer], delta, seed).0),
            Source::Extension(parameters) => Box::new(extension(mesh, parameters)?),
            Source::Silent(params) => {
                let mut source = extension(mesh, under(params))?;
                let coins = &mut sealane_block::Coins::danger_fixed_seed(seed);
                let sender = FerretSender::set_up(cpu, mesh, peer, params, &mut source, coins)?;
                Box::new(sender)
            }
        })
    }

    fn receiver(self, cpu: Cpu, mesh: &mut Mesh) -> Result<AnyReceiver, OtError> {
        let (me, peer) = (mesh.me(), PartyId(1 - mesh.me().0));
        let delta = Source::offset(peer);
        let extension =
            |mesh: &mut Mesh, parameters| set_up_receiver(parameters, cpu, mesh, peer, 7);
        Ok(match self {
            Source::Ideal => {
                let seed = 10 + u64::from(peer.0);
                Box::new(ideal::danger_pair([peer, me], delta, seed).1)
            }
            Source::Extension(parameters) => Box::new(extension(mesh, parameters)?),
            Source::Silent(params) => {
                let mut source = extension(mesh, under(params))?;
                let coins = &mut sealane_block::Coins::danger_fixed_seed(8);
                let receiver = FerretReceiver::set_up(cpu, mesh, peer, params, &mut source, coins)?;
                Box::new(receiver)
            }
        })
    }

    fn both(self, cpu: Cpu, mesh: &mut Mesh) -> Result<Both, OtError> {
        let (sender, receiver) = if mesh.me() == SENDER {
            let sender = self.sender(cpu, mesh)?;
            mesh.flush()?;
            (sender, self.receiver(cpu, mesh)?)
        } else {
            let receiver = self.receiver(cpu, mesh)?;
            mesh.flush()?;
            (self.sender(cpu, mesh)?, receiver)
        };
        mesh.flush()?;
        Ok(BothWays::new(cpu, mesh, sender, receiver, "test"))
    }

    /// Runs `body` at both parties; returns what each got, with the bytes that went from party 0
    /// and from party 1, and a digest of these.
    fn run<T: Send>(
        self,
        cpu: Cpu,
        body: impl Fn(&mut Both, &mut Mesh) -> Result<T, OtError> + Sync,
    ) -> ([T; 2], [u64; 2], [[u8; 32]; 2]) {
        let party = |mut mesh: Mesh| {
            let mesh = &mut mesh;
            let mut both = self.both(cpu, mesh)?;
            let peer = both.peer();
            let before = mesh.payload_sent(peer);
            let got = body(&mut both, mesh)?;
            mesh.flush()?;
            Ok((
                got,
                mesh.payload_sent(peer) - before,
                mesh.digest_sent(peer),
            ))
        };
        let ((a, from_a, sent_a), (b, from_b, sent_b)) = pair(party, party);
        ([a, b], [from_a, from_b], [sent_a, sent_b])
    }

    /// Planned bytes from party 0 and from party 1.
    fn planned(self, flights: impl Fn(&dyn CotCost) -> Flights) -> [u64; 2] {
        let flights = match self {
            Source::Ideal => flights(&Free),
            Source::Extension(parameters) => flights(&parameters),
            Source::Silent(params) => flights(&FerretCost {
                source: under(params),
                params,
            }),
        };
        flights.iter().fold([0; 2], |[sender, receiver], flight| {
            [sender + flight.from_sender, receiver + flight.from_receiver]
        })
    }
}

/// The cost of the ideal functionality.
struct Free;

impl CotCost for Free {
    fn set_up(&self) -> Flights {
        Flights::new()
    }

    fn extend(&self, _: u64, _: u64) -> Flights {
        Flights::new()
    }
}

fn sums(ring: Ring, [a, b]: [&[u64]; 2]) -> Vec<u64> {
    assert_eq!(a.len(), b.len());
    let reduced = |value: &u64| ring.reduce(*value) == *value;
    assert!(a.iter().chain(b).all(reduced), "elements of the ring");
    a.iter()
        .zip(b)
        .map(|(a, b)| ring.reduce(a.wrapping_add(*b)))
        .collect()
}

fn assert_boolean(triples: &[BooleanTriples; 2], count: usize) {
    let [one, two] = triples;
    let open = |a: &[Block], b: &[Block]| -> Vec<u128> {
        assert_eq!([a.len(), b.len()], [count.div_ceil(128); 2]);
        a.iter().zip(b).map(|(a, b)| (*a ^ *b).value()).collect()
    };
    let (a, b, c) = (
        open(&one.a, &two.a),
        open(&one.b, &two.b),
        open(&one.c, &two.c),
    );
    for i in 0..c.len() {
        assert_eq!(c[i], a[i] & b[i], "block {i} of {count} triples");
    }
    if !count.is_multiple_of(128) {
        for share in [&one.a, &one.b, &one.c, &two.a, &two.b, &two.c] {
            assert_eq!(share[count / 128].value() >> (count % 128), 0, "the rest");
        }
    }
}

#[test]
fn boolean_triples_multiply_and_take_the_planned_bytes() {
    for source in sources() {
        for count in [0, 1, 127, 128, 300, 16384, 16385, 40000] {
            let make = |both: &mut Both, mesh: &mut Mesh| BooleanTriples::make(both, mesh, count);
            let (triples, bytes, _) = source.run(Cpu::best(), make);
            assert_boolean(&triples, count);
            let planned = source.planned(|cot| BooleanTriples::flights(cot, 0, count as u64));
            assert_eq!(bytes, planned, "{count} triples, {source:?}");
        }
    }
}

#[test]
fn boolean_triples_take_62_bits_and_silent_ones_below_one() {
    let count = 1 << 24;
    let bits = |flights: Flights| {
        let bytes = |flight: &sealane_ot::Flight| flight.from_sender + flight.from_receiver;
        flights.iter().map(bytes).sum::<u64>() as f64 * 8.0 / count as f64
    };
    assert_eq!(bits(BooleanTriples::flights(&EXTENSION, 0, count)), 62.0);
    let silent = FerretCost {
        source: EXTENSION,
        params: Params::new(Security::SemiHonest),
    };
    assert!(bits(BooleanTriples::flights(&silent, 0, count)) < 1.0);
}

#[test]
fn oles_multiply_modulo_a_power_of_two_and_take_the_planned_bytes() {
    for source in sources() {
        for (bits, count) in [
            (1, 200),
            (8, 77),
            (13, 50),
            (32, 40),
            (33, 17),
            (64, 20),
            (64, 0),
        ] {
            let ring = Ring::new(bits);
            let hasher = |mesh: &Mesh| {
                Hasher::new(Cpu::best(), mesh.session(), SENDER, RECEIVER, "test ole")
            };
            let ((sent, bytes_sent), (received, bytes_received)): ((Ole, u64), (Ole, u64)) = pair(
                |mut mesh| {
                    let mesh = &mut mesh;
                    let mut cot = source.sender(Cpu::best(), mesh)?;
                    let before = mesh.payload_sent(RECEIVER);
                    let ole = triples::send_ole(&mut cot, &mut hasher(mesh), mesh, ring, count)?;
                    mesh.flush()?;
                    Ok((ole, mesh.payload_sent(RECEIVER) - before))
                },
                |mut mesh| {
                    let mesh = &mut mesh;
                    let mut cot = source.receiver(Cpu::best(), mesh)?;
                    let before = mesh.payload_sent(SENDER);
                    let hasher = &mut hasher(mesh);
                    let ole = triples::receive_ole(&mut cot, hasher, mesh, ring, count)?;
                    mesh.flush()?;
                    Ok((ole, mesh.payload_sent(SENDER) - before))
                },
            );
            let products = sums(ring, [&sent.shares, &received.shares]);
            assert_eq!(products.len(), count);
            for (i, product) in products.iter().enumerate() {
                let expected = sent.factors[i].wrapping_mul(received.factors[i]);
                assert_eq!(*product, ring.reduce(expected), "{i}, {ring:?}, {source:?}");
            }
            let planned = source.planned(|cot| triples::ole_flights(cot, 0, ring, count as u64));
            assert_eq!(
                [bytes_sent, bytes_received],
                planned,
                "{ring:?}, {source:?}"
            );
        }
    }
}

#[test]
fn arithmetic_triples_multiply_and_take_the_planned_bytes() {
    for source in sources() {
        for (bits, count) in [(8, 3), (32, 100), (64, 65)] {
            let ring = Ring::new(bits);
            let (triples, bytes, _) = source.run(Cpu::best(), |both, mesh| {
                ArithmeticTriples::make(both, mesh, ring, count)
            });
            let [one, two] = &triples;
            let (a, b) = (sums(ring, [&one.a, &two.a]), sums(ring, [&one.b, &two.b]));
            let c = sums(ring, [&one.c, &two.c]);
            assert_eq!(c.len(), count);
            for i in 0..count {
                assert_eq!(
                    c[i],
                    ring.reduce(a[i].wrapping_mul(b[i])),
                    "{i}, {source:?}"
                );
            }
            let planned =
                source.planned(|cot| ArithmeticTriples::flights(cot, 0, ring, count as u64));
            assert_eq!(bytes, planned, "{ring:?}, {source:?}");
        }
    }
}

#[test]
fn matrix_triples_multiply_and_take_the_planned_bytes() {
    let shapes = [
        (1, 1, 1),
        (3, 2, 5),
        (5, 2, 3),
        (4, 7, 1),
        (1, 3, 9),
        (8, 8, 8),
    ];
    for source in sources() {
        for (rows, inner, columns) in shapes {
            for (bits, count) in [(64, 1), (32, 3), (20, 2)] {
                let ring = Ring::new(bits);
                let shape = MatrixShape {
                    ring,
                    rows,
                    inner,
                    columns,
                };
                let (triples, bytes, _) = source.run(Cpu::best(), |both, mesh| {
                    MatrixTriples::make(both, mesh, shape, count)
                });
                let [one, two] = &triples;
                assert_eq!(one.shape(), shape);
                let (a, b) = (sums(ring, [&one.a, &two.a]), sums(ring, [&one.b, &two.b]));
                let c = sums(ring, [&one.c, &two.c]);
                assert_eq!(c.len(), count * rows * columns);
                for (i, c) in c.iter().enumerate() {
                    let matrix = i / (rows * columns);
                    let (row, column) = (i / columns % rows, i % columns);
                    let product = (0..inner).fold(0u64, |sum, j| {
                        let a = a[(matrix * rows + row) * inner + j];
                        let b = b[(matrix * inner + j) * columns + column];
                        sum.wrapping_add(a.wrapping_mul(b))
                    });
                    assert_eq!(*c, ring.reduce(product), "{i}, {shape:?}, {source:?}");
                }
                let planned =
                    source.planned(|cot| MatrixTriples::flights(cot, 0, shape, count as u64));
                assert_eq!(bytes, planned, "{shape:?}, {source:?}");
            }
        }
    }
}

#[test]
fn a_matrix_takes_the_ots_of_its_shorter_side() {
    let ots = |rows, columns| {
        let shape = MatrixShape {
            ring: Ring::new(32),
            rows,
            inner: 16,
            columns,
        };
        let flights = MatrixTriples::flights(&EXTENSION, 0, shape, 1);
        // Corrections of 31 bits an OT.
        flights[0].from_receiver * 8 / 31
    };
    assert_eq!(ots(128, 4), 16 * 4 * 32);
    assert_eq!(ots(4, 128), 16 * 4 * 32);
}

#[test]
fn transcripts_and_goods_are_identical_on_every_tier_and_calls_go_on() {
    let source = Source::Extension(EXTENSION);
    let make = |both: &mut Both, mesh: &mut Mesh| {
        let first = BooleanTriples::make(both, mesh, 1000)?;
        let second = ArithmeticTriples::make(both, mesh, Ring::new(64), 30)?;
        let third = BooleanTriples::make(both, mesh, 1000)?;
        let bits = |triples: &BooleanTriples| [values(&triples.a), values(&triples.c)].concat();
        Ok((bits(&first), second.c.clone(), bits(&third)))
    };
    let first = source.run(Cpu::best(), make);
    let (a, _, c) = &first.0[0];
    assert_ne!(a, c, "no triple comes twice");
    for cpu in Cpu::available() {
        let this = source.run(cpu, make);
        assert_eq!(this.2, first.2, "transcripts, {}", cpu.tier());
        assert!(this.0 == first.0, "goods, {}", cpu.tier());
    }
}

#[test]
fn shares_and_messages_look_uniform() {
    let source = Source::Extension(EXTENSION);
    let ([one, _], ..) = source.run(Cpu::best(), |both, mesh| {
        let bits = BooleanTriples::make(both, mesh, 1 << 19)?;
        let numbers = ArithmeticTriples::make(both, mesh, Ring::new(64), 4096)?;
        let of_bits = [&bits.a, &bits.b, &bits.c].map(|blocks| Block::as_bytes(blocks).to_vec());
        let of_numbers = [&numbers.a, &numbers.b, &numbers.c]
            .map(|numbers| numbers.iter().flat_map(|x| x.to_le_bytes()).collect());
        Ok([of_bits, of_numbers].concat())
    });
    for (i, bytes) in one.iter().enumerate() {
        assert_uniform(&i.to_string(), bytes);
    }
    // The sender's message of an OLE.
    let ring = Ring::new(64);
    let hasher = |mesh: &Mesh| Hasher::new(Cpu::best(), mesh.session(), SENDER, RECEIVER, "test");
    let count = 1000;
    let ((), message) = pair(
        |mut mesh| {
            let mut cot = source.sender(Cpu::best(), &mut mesh)?;
            let hasher = &mut hasher(&mesh);
            triples::send_ole(&mut cot, hasher, &mut mesh, ring, count)?;
            mesh.flush()?;
            Ok(())
        },
        |mut mesh| {
            let mut cot = source.receiver(Cpu::best(), &mut mesh)?;
            let mut choices = vec![Block::ZERO; count * 64 / 128];
            cot.extend(&mut mesh, &mut choices, &mut vec![Block::ZERO; count * 64])?;
            mesh.flush()?;
            let mut message = vec![0; count * 64 * 63 / 16];
            mesh.recv(SENDER, &mut message)?;
            Ok(message)
        },
    );
    assert_uniform("message", &message);
}
