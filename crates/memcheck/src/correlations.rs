//! Oblivious transfers of one of many strings, and products: OLEs, triples of all kinds, bits in
//! two sharings, selects and known products. As in [`transfers`](crate::transfers), coins, offsets,
//! given choices and strings are secret, and so are numbers of strings whose keys a sender asks
//! for.

use crate::Check;
use crate::kernels::{secret_coins, secrets};
use crate::request::{is_secret, secret, secret_words};
use crate::transfers::{RECEIVER, SENDER, blocks, both, run};
use sealane_block::{Block, Cpu};
use sealane_net::Mesh;
use sealane_ot::forms::{HashedReceiver, HashedSender};
use sealane_ot::softspoken::one_of_n::large::{self, LargeKeys};
use sealane_ot::softspoken::one_of_n::{OneOfN, Request, StringsReceiver, StringsSender};
use sealane_ot::traits::{Correlation, CorrelationSource};
use sealane_ot::traits::{OneOfNKeys, OneOfNReceiver, OneOfNSender};
use sealane_ot::triples::{
    ArithmeticTriples, BooleanTriples, BothWays, DaBits, KnownProducts, KnownShape, MatrixShape,
    MatrixTriples, Ole, Ring, Selects, WideTriples,
};
use sealane_ot::{OtError, Security, SoftSpoken, softspoken};
use sealane_parties::PartyId;
use std::hint::black_box;
use zeroize::Zeroizing;

/// The checks of this file.
pub const CHECKS: &[Check] = &[
    ("ot: one of 4, malicious", |cpu| {
        one_of_many(cpu, OneOfN::new(2, 4, Security::Malicious));
    }),
    ("ot: one of 16, semi-honest", |cpu| {
        one_of_many(cpu, OneOfN::new(4, 6, Security::SemiHonest));
    }),
    ("ot: one of 256 and of 2^24, malicious", |cpu| {
        one_of_many(cpu, OneOfN::new(8, 4, Security::Malicious));
    }),
    ("ot: OLEs", ole),
    ("ot: Boolean triples", |cpu| {
        both_ways::<BooleanTriples>(cpu, (), 200, |triples| {
            let parts = [&triples.a, &triples.b, &triples.c];
            assert!(parts.iter().all(|part| is_secret(part)));
        });
    }),
    ("ot: arithmetic triples", |cpu| {
        both_ways::<ArithmeticTriples>(cpu, RING, FEW, |triples| {
            assert_secret([&triples.a, &triples.b, &triples.c]);
        });
    }),
    ("ot: matrix triples", |cpu| {
        both_ways::<MatrixTriples>(cpu, SHAPE, 2, |triples| {
            assert_secret([&triples.a, &triples.b, &triples.c]);
        });
    }),
    ("ot: wide triples", |cpu| {
        both_ways::<WideTriples>(cpu, 3, 200, |triples| {
            let planes = triples.b.iter().chain(&triples.c);
            assert!(planes.chain([&triples.a]).all(|part| is_secret(part)));
        });
    }),
    ("ot: bits in two sharings", |cpu| {
        both_ways::<DaBits>(cpu, RING, 200, |made| {
            assert!(is_secret(&made.bits));
            assert_secret([&made.elements]);
        });
    }),
    ("ot: selects", |cpu| {
        both_ways::<Selects>(cpu, RING, 200, |made| {
            assert!(is_secret(&made.bits));
            assert_secret([&made.elements, &made.factors, &made.products]);
        });
    }),
    ("ot: known products", |cpu| {
        both(
            cpu,
            EXTENSION,
            |cot, mesh| {
                let mut source = HashedSender::new(cpu, mesh, cot, "memcheck");
                let made: KnownProducts = source.make(mesh, KNOWN, FEW)?;
                assert_secret([&made.factors, &made.shares]);
                Ok(mesh.flush()?)
            },
            |cot, mesh| {
                let mut source = HashedReceiver::new(cpu, mesh, cot, "memcheck");
                let made: KnownProducts = source.make(mesh, KNOWN, FEW)?;
                assert_secret([&made.factors, &made.shares]);
                Ok(())
            },
        );
    }),
];

/// OTs of each kind, blocks of a string, and bytes of a large number.
const FEW: usize = 5;
const LENGTH: usize = 2;
const BYTES: usize = 3;
/// A ring whose elements do not end with bytes, and matrices that are made transposed.
const RING: Ring = Ring::new(37);
const SHAPE: MatrixShape = MatrixShape {
    ring: Ring::new(20),
    rows: 2,
    inner: 2,
    columns: 3,
};
const KNOWN: KnownShape = KnownShape {
    ring: RING,
    choice_bits: 5,
    partners: 3,
};
const EXTENSION: SoftSpoken = SoftSpoken::new(4, Security::SemiHonest);

/// Keys of random and of given choices, chosen strings, and, of 256, keys of large numbers.
fn one_of_many(cpu: Cpu, parameters: OneOfN) {
    let strings = parameters.strings();
    run(
        |mesh| {
            let setup =
                StringsSender::set_up(parameters, cpu, mesh, RECEIVER, &mut secret_coins())?;
            mesh.flush()?;
            let sender = &mut setup.finish(mesh)?;
            let mut all = blocks(FEW * strings);
            sender.extend(mesh, FEW)?.fill_all(&mut all);
            assert!(is_secret(&all));
            // A sender may look up the keys of its own secrets.
            let mut places = Zeroizing::new([(0, 0); FEW]);
            for (j, place) in places.iter_mut().enumerate() {
                *place = (j, secret_choices(parameters)[j]);
            }
            let mut some = blocks(FEW);
            sender.extend_given(mesh, FEW)?.fill(&places[..], &mut some);
            assert!(is_secret(&some));
            sender.send_chosen(mesh, LENGTH, &secrets(FEW * strings * LENGTH))?;
            mesh.flush()?;
            if strings == 256 {
                let keys = LargeKeys::send(sender, mesh, BYTES, FEW)?;
                for (j, index) in secret_numbers().iter().enumerate() {
                    assert!(is_secret(&[*keys.key(j, *index)]));
                }
            }
            Ok(())
        },
        |mesh| {
            let setup =
                StringsReceiver::set_up(parameters, cpu, mesh, SENDER, &mut secret_coins())?;
            mesh.flush()?;
            let receiver = &mut setup.finish(mesh)?;
            mesh.flush()?;
            let (mut choices, mut keys) = (Zeroizing::new([0; FEW]), blocks(FEW));
            receiver.extend(mesh, &mut choices[..], &mut keys)?;
            let given = secret_choices(parameters);
            receiver.receive_given(mesh, &given[..], &mut keys)?;
            let request = Request::new(receiver, mesh, &given[..])?;
            mesh.flush()?;
            let mut chosen = blocks(FEW * LENGTH);
            request.finish(mesh, LENGTH, &mut chosen)?;
            assert!(is_secret(&keys) && is_secret(&chosen));
            if strings == 256 {
                large::receive(receiver, mesh, BYTES, &secret_numbers()[..], &mut keys)?;
                mesh.flush()?;
                assert!(is_secret(&keys));
            }
            black_box(&choices);
            Ok(())
        },
    );
}

/// Secret numbers of strings.
fn secret_choices(parameters: OneOfN) -> Zeroizing<[u8; FEW]> {
    let mask = (parameters.strings() - 1) as u8;
    let mut choices = Zeroizing::new([0x9c, 0x00, 0xff, 0x31, 0x02]);
    secret(&mut choices[..]);
    choices.iter_mut().for_each(|choice| *choice &= mask);
    choices
}

/// Secret numbers of three bytes.
fn secret_numbers() -> Zeroizing<[u64; FEW]> {
    let mut numbers = Zeroizing::new([0, 1, 0x12_3456, 0xff_ffff, 0x80_0000]);
    secret_words(&mut numbers[..]);
    numbers.iter_mut().for_each(|number| *number &= 0xff_ffff);
    numbers
}

/// OLEs in one direction, over a source that is secure against corrupt parties.
fn ole(cpu: Cpu) {
    both(
        cpu,
        SoftSpoken::new(4, Security::Malicious),
        |cot, mesh| {
            let ole: Ole = HashedSender::new(cpu, mesh, cot, "memcheck").make(mesh, RING, FEW)?;
            assert_secret([&ole.factors, &ole.shares]);
            Ok(mesh.flush()?)
        },
        |cot, mesh| {
            let ole: Ole = HashedReceiver::new(cpu, mesh, cot, "memcheck").make(mesh, RING, FEW)?;
            assert_secret([&ole.factors, &ole.shares]);
            Ok(())
        },
    );
}

type Both = BothWays<softspoken::Sender, softspoken::Receiver>;

/// Makes correlations at two parties with an extension in each direction.
fn both_ways<G: Correlation>(cpu: Cpu, kind: G::Parameters, count: usize, check: fn(&G))
where
    Both: CorrelationSource<G>,
    G::Parameters: Send + Sync,
{
    let party = |mesh: &mut Mesh| -> Result<(), OtError> {
        let peer = PartyId(1 - mesh.me().0);
        let (delta, coins) = (secrets(1), &mut secret_coins());
        let sender = softspoken::Sender::set_up(EXTENSION, cpu, mesh, peer, delta[0], coins)?;
        let receiver = softspoken::Receiver::set_up(EXTENSION, cpu, mesh, peer, coins)?;
        mesh.flush()?;
        let receiver = receiver.finish(mesh)?;
        mesh.flush()?;
        let sender = sender.finish(mesh)?;
        let mut both = BothWays::new(cpu, mesh, sender, receiver, "memcheck");
        check(&both.make(mesh, kind, count)?);
        Ok(mesh.flush()?)
    };
    run(party, party);
}

/// Asserts that numbers are secret, though maybe not each of their bits.
fn assert_secret<const N: usize>(parts: [&Vec<u64>; N]) {
    for words in parts {
        let blocks = words.iter().map(|word| Block::new(u128::from(*word)));
        let blocks = Zeroizing::new(blocks.collect::<Vec<_>>());
        assert!(is_secret(&blocks));
    }
}
