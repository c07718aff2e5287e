//! Authenticated garbling against the algebra of its page: masks and products from a dealer, both
//! parties in memory, all tiers and lane counts.

use std::convert::Infallible;

use proptest::prelude::*;
use sealane_block::{Block, Coins, Cpu, SecretStream};
use sealane_circuit::{Builder, Goal, Int, Machine, Tape, compile};
use sealane_garble::authenticated::{EvaluatorPlanes, GarblerPlanes, Run, Walks, table_bytes};
use sealane_garble::{CHUNK_BYTES, ChunkReader, ChunkWriter, Labels};

use sealane_testkit::side::two_ands;

use crate::support::{lane_counts, plain, tapes};

/// The parties: garbler and evaluator.
const A: usize = 0;
const B: usize = 1;

/// One party's part of authenticated bits, MACs and keys.
#[derive(Clone, Default)]
struct Part {
    mac: Vec<Block>,
    key: Vec<Block>,
}

/// Authenticated bits at both parties.
type Bits = [Part; 2];

/// A dealer whom both parties trust.
struct Dealer {
    random: SecretStream,
    offsets: [Block; 2],
}

impl Dealer {
    fn new(seed: u64) -> Dealer {
        let mut random = Coins::danger_fixed_seed(seed).secret("dealer");
        let offsets = [(); 2].map(|()| Block::new(random.block().value() | 1));
        Dealer { random, offsets }
    }

    fn blocks(&mut self, count: usize) -> Vec<Block> {
        let mut blocks = vec![Block::ZERO; count];
        self.random.fill(&mut blocks);
        blocks
    }

    /// Random bits, one a byte.
    fn bits(&mut self, count: usize) -> Vec<u8> {
        self.blocks(count).iter().map(|block| block.lsb()).collect()
    }

    /// Authenticates bits.
    fn deal(&mut self, bits: &[u8]) -> Bits {
        let own = self.bits(bits.len());
        let shares = [
            own.clone(),
            own.iter().zip(bits).map(|(a, b)| a ^ b).collect(),
        ];
        let keys = [(); 2].map(|()| {
            let keys = self.blocks(bits.len());
            keys.into_iter().map(even).collect::<Vec<_>>()
        });
        [A, B].map(|party| {
            let offset = self.offsets[1 - party];
            let macs = keys[1 - party].iter().zip(&shares[party]);
            let macs = macs.map(|(key, share)| *key ^ offset.masked(*share));
            Part {
                mac: macs.collect(),
                key: keys[party].clone(),
            }
        })
    }

    /// The bits, if every MAC belongs to its share and its key.
    fn opened(&self, of: &Bits) -> Vec<u8> {
        for party in [A, B] {
            let offset = self.offsets[1 - party];
            for (mac, key) in of[party].mac.iter().zip(&of[1 - party].key) {
                let belongs = same(&[*mac], &[*key ^ offset.masked(mac.lsb())]);
                assert!(belongs, "a MAC of {party}");
                assert_eq!(key.lsb(), 0);
            }
        }
        let shares = of[A].mac.iter().zip(&of[B].mac);
        shares.map(|(a, b)| (*a ^ *b).lsb()).collect()
    }
}

fn even(block: Block) -> Block {
    block & Block::new(!1)
}

fn same(a: &[Block], b: &[Block]) -> bool {
    Block::as_bytes(a) == Block::as_bytes(b)
}

fn xor(a: &[Block], b: &[Block]) -> Vec<Block> {
    a.iter().zip(b).map(|(a, b)| *a ^ *b).collect()
}

fn times(bits: &[u8], blocks: &[Block]) -> Vec<Block> {
    let pairs = bits.iter().zip(blocks);
    pairs.map(|(bit, block)| block.masked(*bit)).collect()
}

/// State of both parties at the end of all walks over a tape.
struct End {
    tables: Vec<u8>,
    /// Labels of outputs at both parties, and their masks.
    outputs: [Vec<Block>; 2],
    masks: Bits,
    /// Labels of ANDs at both parties.
    labels: [Vec<Block>; 2],
    /// MACs that the garbler shows, and those that the evaluator expects.
    shown: Vec<Block>,
    expected: Vec<Block>,
}

/// All walks over a tape on random masks, for the values of its inputs. `change` changes the
/// tables on their way.
fn walk(
    cpus: [Cpu; 2],
    (tape, lanes): (&Tape, usize),
    values: &[u8],
    seed: u64,
    change: impl Fn(&mut [u8]),
) -> End {
    let run = Run { tape, lanes };
    let (pairs, wires) = (run.pairs(), values.len());
    let mut dealer = Dealer::new(seed);
    let hash = dealer.random.block();
    let mut parties = cpus.map(|cpu| Walks::new(cpu, hash));
    let input_bits = dealer.bits(wires);
    let inputs = dealer.deal(&input_bits);
    let fresh_bits = dealer.bits(pairs);
    let fresh = dealer.deal(&fresh_bits);
    let factors = [(); 2].map(|()| dealer.bits(pairs));
    let product = factors[0].iter().zip(&factors[1]);
    let product = product.map(|(x, y)| x & y).collect::<Vec<_>>();
    let [x, y] = factors.map(|bits| dealer.deal(&bits));
    let z = dealer.deal(&product);

    // Offline: open both operands' masks, shifted by random factors.
    let mut opened: [Bits; 2] = [x.clone(), y.clone()];
    let mut masks = Bits::default();
    for party in [A, B] {
        let (of_x, of_y) = opened.split_at_mut(1);
        let (of_x, of_y) = (&mut of_x[0][party], &mut of_y[0][party]);
        let mut fresh = fresh[party].clone();
        let mut ports = Labels::new(tape, lanes, 2);
        ports.inputs = [&*inputs[party].mac, &inputs[party].key].concat().into();
        let planes: [&mut [Block]; 6] = [
            &mut fresh.mac,
            &mut fresh.key,
            &mut of_x.mac,
            &mut of_x.key,
            &mut of_y.mac,
            &mut of_y.key,
        ];
        parties[party].masks(run, &mut ports, planes);
        let (mac, key) = ports.outputs.split_at(ports.outputs.len() / 2);
        masks[party] = Part {
            mac: mac.to_vec(),
            key: key.to_vec(),
        };
    }
    let [e, f] = opened.map(|of| dealer.opened(&of));
    let both = e.iter().zip(&f).map(|(e, f)| e & f).collect::<Vec<_>>();
    let ones = vec![Block::new(1); pairs];
    let keyed = vec![dealer.offsets[B] ^ Block::new(1); pairs];
    // The product of the operands' masks, xor the mask of the output.
    let products = [A, B].map(|party| {
        let sum = |of: fn(&Part) -> &Vec<Block>| {
            let sum = xor(of(&z[party]), of(&fresh[party]));
            let sum = xor(&sum, &times(&e, of(&y[party])));
            xor(&sum, &times(&f, of(&x[party])))
        };
        let (mac, key) = (sum(|part| &part.mac), sum(|part| &part.key));
        match party {
            A => Part {
                mac: xor(&mac, &times(&both, &ones)),
                key,
            },
            _ => Part {
                mac,
                key: xor(&key, &times(&both, &keyed)),
            },
        }
    });

    // Online: labels of the masked values of inputs.
    let delta = dealer.offsets[A];
    let zeros: Vec<_> = dealer.blocks(wires).into_iter().map(even).collect();
    let masked = values.iter().zip(&input_bits).map(|(x, l)| x ^ l);
    let masked = masked.collect::<Vec<_>>();
    let active = xor(&zeros, &times(&masked, &vec![delta; wires]));
    let ports = |party: usize, labels: &[Block]| {
        let mut ports = Labels::new(tape, lanes, 3);
        let part = &inputs[party];
        ports.inputs = [labels, &part.mac, &part.key].concat().into();
        ports
    };
    let third = |outputs: &[Block]| outputs[..outputs.len() / 3].to_vec();

    let mut tables = Vec::new();
    let mut sink = ChunkWriter::new(|chunk: &[u8]| {
        assert!(chunk.len() <= CHUNK_BYTES);
        tables.extend_from_slice(chunk);
        Ok::<(), Infallible>(())
    });
    let mut garbler = fresh[A].clone();
    let shares = products[A].mac.iter().zip(&products[A].key);
    let shares = shares.map(|(mac, key)| *key ^ delta.masked(mac.lsb()));
    let mut labels = shares.collect::<Vec<_>>();
    let mut at_garbler = ports(A, &zeros);
    let planes = GarblerPlanes {
        mac: &mut garbler.mac,
        key: &mut garbler.key,
        share: &mut labels,
    };
    let call = parties[A].call();
    let Ok(()) = parties[A].garble((call, run), delta, &mut at_garbler, planes, &mut sink);
    let Ok(()) = sink.flush();
    drop(sink);
    assert_eq!(tables.len() as u64, table_bytes(pairs as u64));
    change(&mut tables);

    let mut unread = &tables[..];
    let mut source = ChunkReader::new(tables.len() as u64, |chunk: &mut [u8]| {
        let (now, later) = unread.split_at(chunk.len());
        chunk.copy_from_slice(now);
        unread = later;
        Ok::<(), Infallible>(())
    });
    let (mut evaluator, mut of_product) = (fresh[B].clone(), products[B].clone());
    let mut at_evaluator = ports(B, &active);
    let planes = EvaluatorPlanes {
        mac: &mut evaluator.mac,
        key: &mut evaluator.key,
        product_mac: &mut of_product.mac,
        product_key: &mut of_product.key,
    };
    let call = parties[B].call();
    let offset = dealer.offsets[B];
    let Ok(()) = parties[B].evaluate((call, run), offset, &mut at_evaluator, planes, &mut source);
    drop(source);
    assert!(unread.is_empty(), "the evaluator reads every byte");

    // Settlement: the garbler follows the masked values that the evaluator states.
    let bit = |label: &Block| *label & Block::new(1);
    let mut at_garbler_again = Labels::new(tape, lanes, 1);
    at_garbler_again.inputs = active.iter().map(bit).collect::<Vec<_>>().into();
    let mut stated = evaluator.mac.iter().map(bit).collect::<Vec<_>>();
    let mut product_mac = products[A].mac.clone();
    let planes: [&mut [Block]; 4] = [
        &mut garbler.mac,
        &mut garbler.key,
        &mut stated,
        &mut product_mac,
    ];
    parties[A].answer(run, &mut at_garbler_again, planes);
    let stated_outputs = at_evaluator.outputs[..masks[B].mac.len()].iter().map(bit);
    let stated_outputs = stated_outputs.collect::<Vec<_>>();
    assert!(same(&at_garbler_again.outputs, &stated_outputs));
    for (party, outputs) in [(A, &at_garbler.outputs), (B, &at_evaluator.outputs)] {
        let carried = [&*masks[party].mac, &masks[party].key].concat();
        assert!(
            same(&outputs[masks[party].mac.len()..], &carried),
            "one mask in both walks"
        );
    }
    End {
        tables,
        outputs: [third(&at_garbler.outputs), third(&at_evaluator.outputs)],
        masks,
        labels: [labels, evaluator.mac],
        shown: garbler.mac,
        expected: evaluator.key,
    }
}

/// True if each of the evaluator's labels is that of its masked value.
fn are_labels(delta: Block, [zeros, active]: &[Vec<Block>; 2]) -> bool {
    let mut wires = zeros.iter().zip(active);
    wires.all(|(zero, label)| {
        zero.lsb() == 0 && same(&[*label], &[*zero ^ delta.masked(label.lsb())])
    })
}

/// Walks over a tape on all tiers: all compute what the tape does in the clear, and alike.
fn assert_right(tape: &Tape, lanes: usize, seed: u64) {
    let dealer = Dealer::new(seed);
    let values = Dealer::new(seed + 1).bits(tape.inputs as usize * lanes);
    let tiers = Cpu::available();
    let mut tables = None;
    for (at, cpu) in tiers.iter().enumerate() {
        let cpus = [*cpu, tiers[(at + 1) % tiers.len()]];
        let end = walk(cpus, (tape, lanes), &values, seed, |_| {});
        let tier = cpu.tier();
        assert!(are_labels(dealer.offsets[A], &end.outputs), "{tier}");
        assert!(are_labels(dealer.offsets[A], &end.labels), "{tier}");
        assert!(same(&end.shown, &end.expected), "{tier}");
        let masks = dealer.opened(&end.masks);
        let results = end.outputs[B].iter().zip(masks);
        let results = results.map(|(label, mask)| label.lsb() ^ mask);
        let results = results.collect::<Vec<_>>();
        assert_eq!(results, plain(tape, lanes, &values), "{tier} x {lanes}");
        let first = tables.get_or_insert_with(|| end.tables.clone());
        assert_eq!(*first, end.tables, "{tier}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn any_tape_on_any_lanes_is_right_on_all_tiers(
        tape in tapes(),
        lanes in lane_counts(),
        seed in 0u64..1 << 32,
    ) {
        assert_right(&tape, lanes, seed);
    }
}

/// Tapes of several pieces and chunks of the message, in wide blocks and a narrow one.
#[test]
fn a_tape_of_many_chunks_is_right() {
    let mut b = Builder::for_goal(Goal::Size);
    let (x, y) = (b.input(32), b.input(32));
    let product = b.mul(Int::unsigned(&x), Int::unsigned(&y), 32);
    let tape = compile(&b.finish(vec![product]), &Machine::CPU);
    let pairs = |lanes| tape.ands.len() * lanes;
    assert!(pairs(1) > 512 && pairs(45) % 1024 != 0);
    for lanes in [1, 45] {
        assert_right(&tape, lanes, 7);
    }
}

/// A row that was changed stops the evaluator where a masked value takes it, which is in half of
/// all runs whatever the values are; a bit stops it always. What passes is right.
#[test]
fn a_changed_table_is_seen_or_does_nothing() {
    let (tape, runs) = (two_ands(), 200);
    let cpu = Cpu::detect().unwrap();
    // The bits of both ANDs, then first rows, then second ones.
    for (byte, stops_all) in [(0, true), (1, false), (16, false), (17, false), (64, false)] {
        for values in [[0, 0], [0, 1], [1, 0], [1, 1]] {
            let mut stops = 0;
            for seed in 0..runs {
                let changed = |tables: &mut [u8]| tables[byte] ^= 1;
                let end = walk([cpu; 2], (&tape, 1), &values, 1000 + seed, changed);
                let dealer = Dealer::new(1000 + seed);
                if are_labels(dealer.offsets[A], &end.labels) && same(&end.shown, &end.expected) {
                    let masks = dealer.opened(&end.masks);
                    let results = end.outputs[B].iter().zip(masks);
                    let results = results.map(|(label, mask)| label.lsb() ^ mask);
                    assert_eq!(results.collect::<Vec<_>>(), plain(&tape, 1, &values));
                } else {
                    stops += 1;
                }
            }
            // 200 tosses lie outside of this with a chance of 2^-18.
            let half = (65..=135).contains(&stops);
            let expected = if stops_all { stops == runs } else { half };
            assert!(expected, "byte {byte}, {values:?}: {stops} of {runs}");
        }
    }
}
