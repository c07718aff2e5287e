//! Authenticated garbling against the algebra of its page: masks and products from a dealer, all
//! parties in memory, all tiers and lane counts, and one to fifteen garblers.

use std::convert::Infallible;

use proptest::prelude::*;
use sealane_block::{Block, Coins, Cpu, SecretStream};
use sealane_circuit::{Builder, Goal, Int, Machine, Tape, compile};
use sealane_garble::authenticated::{
    EvaluatorPlanes, GarblerPlanes, MaskPlanes, Run, Seat, Walks, table_bytes,
};
use sealane_garble::{CHUNK_BYTES, ChunkReader, ChunkWriter, Labels};

use sealane_testkit::side::two_ands;

use crate::support::{lane_counts, plain, tapes};

/// One party's part of authenticated bits towards another party, MACs and keys.
#[derive(Clone, Default)]
struct Part {
    mac: Vec<Block>,
    key: Vec<Block>,
}

/// Authenticated bits: of each party, its part towards each other one, in the order of [`peers`].
type Bits = Vec<Vec<Part>>;

/// The other parties of one, in the order in which it has planes for them. Garblers come first in
/// the order of parties, and the evaluator last; a garbler has it before all others.
fn peers(me: usize, parties: usize) -> Vec<usize> {
    let evaluator = parties - 1;
    let all = std::iter::once(evaluator).chain(0..evaluator);
    all.filter(|party| *party != me).collect()
}

/// A dealer whom all parties trust.
struct Dealer {
    random: SecretStream,
    offsets: Vec<Block>,
}

impl Dealer {
    fn new(parties: usize, seed: u64) -> Dealer {
        let mut random = Coins::danger_fixed_seed(seed).secret("dealer");
        let offsets = (0..parties).map(|_| Block::new(random.block().value() | 1));
        Dealer {
            offsets: offsets.collect(),
            random,
        }
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
        let parties = self.offsets.len();
        let mut shares = (1..parties)
            .map(|_| self.bits(bits.len()))
            .collect::<Vec<_>>();
        let mut last = bits.to_vec();
        for share in &shares {
            last.iter_mut()
                .zip(share)
                .for_each(|(last, bit)| *last ^= bit);
        }
        shares.push(last);
        let keys = (0..parties * parties).map(|_| {
            let keys = self.blocks(bits.len());
            keys.into_iter().map(even).collect::<Vec<_>>()
        });
        // Of the holder, for the share of the other.
        let keys = keys.collect::<Vec<_>>();
        let of = |holder: usize, other: usize| &keys[holder * parties + other];
        let part = |me: usize, peer: usize| {
            let macs = of(peer, me).iter().zip(&shares[me]);
            let macs = macs.map(|(key, share)| *key ^ self.offsets[peer].masked(*share));
            Part {
                mac: macs.collect(),
                key: of(me, peer).clone(),
            }
        };
        let all = (0..parties).map(|me| {
            let peers = peers(me, parties).into_iter();
            peers.map(|peer| part(me, peer)).collect()
        });
        all.collect()
    }

    /// The bits, if every MAC belongs to its share and its key.
    fn opened(&self, of: &Bits) -> Vec<u8> {
        let parties = of.len();
        let mut bits = vec![0; of[0][0].mac.len()];
        for me in 0..parties {
            for (peer, part) in peers(me, parties).into_iter().zip(&of[me]) {
                let back = peers(peer, parties).iter().position(|party| *party == me);
                let keys = &of[peer][back.expect("a peer")].key;
                for (mac, key) in part.mac.iter().zip(keys) {
                    let expected = *key ^ self.offsets[peer].masked(mac.lsb());
                    assert!(same(&[*mac], &[expected]), "a MAC of {me} for {peer}");
                    assert_eq!(key.lsb(), 0);
                }
                let shares = part.mac.iter().zip(&of[me][0].mac);
                assert!({ shares }.all(|(mac, first)| mac.lsb() == first.lsb()));
            }
            let shares = bits.iter_mut().zip(&of[me][0].mac);
            shares.for_each(|(bit, mac)| *bit ^= mac.lsb());
        }
        bits
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

/// State of all parties at the end of all walks over a tape.
struct End {
    /// Of each garbler.
    tables: Vec<Vec<u8>>,
    /// For each garbler its labels of outputs, and the evaluator's; and masks of all.
    outputs: Vec<[Vec<Block>; 2]>,
    masks: Bits,
    /// The same of ANDs.
    labels: Vec<[Vec<Block>; 2]>,
    /// MACs that garblers show, summed, and those that the evaluator expects.
    shown: Vec<Block>,
    expected: Vec<Block>,
}

/// A tape with the values of its inputs, at parties on these tiers; the last evaluates.
struct Case<'a> {
    cpus: &'a [Cpu],
    run: Run<'a>,
    values: &'a [u8],
    seed: u64,
}

/// Masks and products that walks take.
struct Material {
    inputs: Bits,
    input_bits: Vec<u8>,
    fresh: Bits,
    factors: [Bits; 2],
    product: Bits,
}

impl Material {
    fn deal(dealer: &mut Dealer, wires: usize, pairs: usize) -> Material {
        let input_bits = dealer.bits(wires);
        let inputs = dealer.deal(&input_bits);
        let fresh_bits = dealer.bits(pairs);
        let fresh = dealer.deal(&fresh_bits);
        let factors = [(); 2].map(|()| dealer.bits(pairs));
        let product = factors[0].iter().zip(&factors[1]);
        let product = product.map(|(x, y)| x & y).collect::<Vec<_>>();
        Material {
            inputs,
            input_bits,
            fresh,
            factors: factors.map(|bits| dealer.deal(&bits)),
            product: dealer.deal(&product),
        }
    }
}

/// Walks over masks; returns those of outputs and all products of operands' masks, xor those of
/// ANDs' outputs.
fn offline(case: &Case<'_>, dealer: &Dealer, of: &Material, walks: &mut [Walks]) -> [Bits; 2] {
    let (run, parties) = (case.run, case.cpus.len());
    let mut opened = of.factors.clone();
    let mut masks = vec![Vec::new(); parties];
    for me in 0..parties {
        for peer in 0..parties - 1 {
            let [x, y] = opened.each_mut().map(|of| &mut of[me][peer]);
            let mut fresh = of.fresh[me][peer].clone();
            let mut ports = Labels::new(run.tape, run.lanes, 2);
            let inputs = &of.inputs[me][peer];
            ports.inputs = [&*inputs.mac, &inputs.key].concat().into();
            let planes: [&mut [Block]; 6] = [
                &mut fresh.mac,
                &mut fresh.key,
                &mut x.mac,
                &mut x.key,
                &mut y.mac,
                &mut y.key,
            ];
            walks[me].masks(run, &mut ports, planes);
            let (mac, key) = ports.outputs.split_at(ports.outputs.len() / 2);
            masks[me].push(Part {
                mac: mac.to_vec(),
                key: key.to_vec(),
            });
        }
    }
    let [e, f] = opened.map(|of| dealer.opened(&of));
    let both = e.iter().zip(&f).map(|(e, f)| e & f).collect::<Vec<_>>();
    let mut products = of.product.clone();
    for (me, product) in products.iter_mut().enumerate() {
        for ((at, peer), product) in peers(me, parties).into_iter().enumerate().zip(product) {
            let part = |of: &Bits| of[me][at].clone();
            let [fresh, x, y] = [&of.fresh, &of.factors[0], &of.factors[1]].map(part);
            let sum = |z: &[Block], fresh: &[Block], x: &[Block], y: &[Block]| {
                xor(&xor(z, fresh), &xor(&times(&e, y), &times(&f, x)))
            };
            product.mac = sum(&product.mac, &fresh.mac, &x.mac, &y.mac);
            product.key = sum(&product.key, &fresh.key, &x.key, &y.key);
            // The public term is added to the first garbler's share.
            let one = |one: Block| times(&both, &vec![one; both.len()]);
            if me == 0 {
                product.mac = xor(&product.mac, &one(Block::new(1)));
            } else if peer == 0 {
                let one = one(dealer.offsets[me] ^ Block::new(1));
                product.key = xor(&product.key, &one);
            }
        }
    }
    [masks, products]
}

fn planes(parts: &mut [Part]) -> Vec<MaskPlanes<'_>> {
    let parts = parts.iter_mut();
    parts
        .map(|part| [&mut part.mac[..], &mut part.key])
        .collect()
}

/// Sums of lists of blocks.
fn sum_of<'a>(lists: impl IntoIterator<Item = &'a Vec<Block>>) -> Vec<Block> {
    let sum = lists.into_iter().cloned();
    sum.reduce(|sum, list| xor(&sum, &list))
        .expect("some lists")
}

/// Ports with labels and masks of a party.
fn ports(run: Run<'_>, labels: &[Vec<Block>], masks: &[Part]) -> Labels {
    let mut ports = Labels::new(run.tape, run.lanes, labels.len() + 2 * masks.len());
    let masks = masks.iter().flat_map(|part| [&part.mac, &part.key]);
    let all = labels.iter().chain(masks);
    ports.inputs = all.flatten().copied().collect::<Vec<_>>().into();
    ports
}

/// All walks over a tape on random masks, for the values of its inputs. `change` changes the
/// table of the first garbler on its way.
fn walk(case: &Case<'_>, change: impl Fn(&mut [u8])) -> End {
    let Case {
        run, values, seed, ..
    } = *case;
    let parties = case.cpus.len();
    let (garblers, evaluator) = (parties - 1, parties - 1);
    let mut dealer = Dealer::new(parties, seed);
    let hash = dealer.random.block();
    let mut walks = case.cpus.iter().map(|cpu| Walks::new(*cpu, hash));
    let mut walks = walks.by_ref().collect::<Vec<_>>();
    let of = Material::deal(&mut dealer, values.len(), run.pairs());
    let [masks, mut products] = offline(case, &dealer, &of, &mut walks);
    let mut fresh = of.fresh.clone();

    // Online: labels of the masked values of inputs.
    let masked = values.iter().zip(&of.input_bits).map(|(x, l)| x ^ l);
    let masked = masked.collect::<Vec<_>>();
    let (mut zeros, mut active) = (Vec::new(), Vec::new());
    for delta in &dealer.offsets.clone()[..garblers] {
        let labels = dealer.blocks(values.len()).into_iter().map(even);
        zeros.push(labels.collect::<Vec<_>>());
        let ones = times(&masked, &vec![*delta; values.len()]);
        active.push(xor(zeros.last().expect("labels"), &ones));
    }
    let (mut tables, mut labels, mut outputs) = (Vec::new(), Vec::new(), Vec::new());
    for me in 0..garblers {
        let delta = dealer.offsets[me];
        let mut table = Vec::new();
        let mut sink = ChunkWriter::new(|chunk: &[u8]| {
            assert!(chunk.len() <= CHUNK_BYTES);
            table.extend_from_slice(chunk);
            Ok::<(), Infallible>(())
        });
        let keys = sum_of(products[me].iter().map(|part| &part.key));
        let shares = products[me][0].mac.iter().zip(keys);
        let shares = shares.map(|(mac, key)| key ^ delta.masked(mac.lsb()));
        let mut share = shares.collect::<Vec<_>>();
        let mut at_garbler = ports(run, &zeros[me..=me], &of.inputs[me]);
        let others = products[me][1..].iter_mut();
        let planes = GarblerPlanes {
            masks: planes(&mut fresh[me]),
            share: &mut share,
            others: others.map(|part| &mut part.mac[..]).collect(),
        };
        let seat = Seat {
            number: me,
            garblers,
        };
        let call = walks[me].call();
        let Ok(()) = walks[me].garble(
            (call, run),
            (delta, seat),
            &mut at_garbler,
            planes,
            &mut sink,
        );
        let Ok(()) = sink.flush();
        drop(sink);
        assert_eq!(
            table.len() as u64,
            table_bytes(run.pairs() as u64, garblers)
        );
        tables.push(table);
        labels.push(share);
        outputs.push(at_garbler.outputs);
    }
    change(&mut tables[0]);

    let mut sources = tables.iter().map(|table| {
        let mut unread = &table[..];
        ChunkReader::new(table.len() as u64, move |chunk: &mut [u8]| {
            let (now, later) = unread.split_at(chunk.len());
            chunk.copy_from_slice(now);
            unread = later;
            Ok::<(), Infallible>(())
        })
    });
    let mut sources = sources.by_ref().collect::<Vec<_>>();
    let mut product_key = sum_of(products[evaluator].iter().map(|part| &part.key));
    let product_macs = products[evaluator].iter_mut();
    let mut at_evaluator = ports(run, &active, &of.inputs[evaluator]);
    let planes = EvaluatorPlanes {
        masks: planes(&mut fresh[evaluator]),
        product_macs: product_macs.map(|part| &mut part.mac[..]).collect(),
        product_key: &mut product_key,
    };
    let (call, offset) = (walks[evaluator].call(), dealer.offsets[evaluator]);
    let walks_of = &mut walks[evaluator];
    let Ok(()) = walks_of.evaluate((call, run), offset, &mut at_evaluator, planes, &mut sources);
    drop(sources);

    // Settlement: garblers follow the masked values that the evaluator states.
    let bit = |label: &Block| *label & Block::new(1);
    let wires = run.tape.outputs.len() * run.lanes;
    let stated_outputs = at_evaluator.outputs[..wires].iter().map(bit);
    let stated_outputs = stated_outputs.collect::<Vec<_>>();
    for me in 0..garblers {
        let mut again = Labels::new(run.tape, run.lanes, 1);
        again.inputs = active[0].iter().map(bit).collect::<Vec<_>>().into();
        let mut stated = fresh[evaluator][0].mac.iter().map(bit).collect::<Vec<_>>();
        let Part { mac, key } = &mut fresh[me][0];
        let planes: [&mut [Block]; 4] = [mac, key, &mut stated, &mut products[me][0].mac];
        walks[me].answer(run, &mut again, planes);
        assert!(same(&again.outputs, &stated_outputs));
    }
    outputs.push(at_evaluator.outputs);
    for (me, outputs) in outputs.iter().enumerate() {
        let held = if me == evaluator { garblers } else { 1 };
        let masks = masks[me].iter().flat_map(|part| [&part.mac, &part.key]);
        let carried = masks.flatten().copied().collect::<Vec<_>>();
        assert!(
            same(&outputs[held * wires..], &carried),
            "one mask in both walks"
        );
    }
    let both = (0..garblers).map(|me| {
        let evaluated = outputs[evaluator][me * wires..][..wires].to_vec();
        [outputs[me][..wires].to_vec(), evaluated]
    });
    let of_ands = labels.into_iter().zip(&fresh[evaluator]);
    End {
        tables,
        outputs: both.collect(),
        masks,
        labels: of_ands
            .map(|(zeros, part)| [zeros, part.mac.clone()])
            .collect(),
        shown: sum_of(fresh[..garblers].iter().map(|parts| &parts[0].mac)),
        expected: fresh[evaluator][0].key.clone(),
    }
}

/// True if each of the evaluator's labels is that of its masked value, of each garbler.
fn are_labels(offsets: &[Block], labels: &[[Vec<Block>; 2]]) -> bool {
    let first = &labels[0][1];
    offsets.iter().zip(labels).all(|(delta, [zeros, active])| {
        let mut wires = zeros.iter().zip(active).zip(first);
        wires.all(|((zero, label), first)| {
            let expected = *zero ^ delta.masked(first.lsb());
            zero.lsb() == 0 && same(&[*label], &[expected])
        })
    })
}

/// The values of outputs.
fn results(dealer: &Dealer, end: &End) -> Vec<u8> {
    let masks = dealer.opened(&end.masks);
    let results = end.outputs[0][1].iter().zip(masks);
    results.map(|(label, mask)| label.lsb() ^ mask).collect()
}

/// Walks over a tape on all tiers: all compute what the tape does in the clear, and alike.
fn assert_right((tape, lanes): (&Tape, usize), parties: usize, seed: u64) {
    let dealer = Dealer::new(parties, seed);
    let values = Dealer::new(parties, seed + 1).bits(tape.inputs as usize * lanes);
    let tiers = Cpu::available();
    let mut tables = None;
    for (at, cpu) in tiers.iter().enumerate() {
        let cpus = (0..parties).map(|party| tiers[(at + party) % tiers.len()]);
        let case = Case {
            cpus: &cpus.collect::<Vec<_>>(),
            run: Run { tape, lanes },
            values: &values,
            seed,
        };
        let end = walk(&case, |_| {});
        let tier = cpu.tier();
        assert!(are_labels(&dealer.offsets, &end.outputs), "{tier}");
        assert!(are_labels(&dealer.offsets, &end.labels), "{tier}");
        assert!(same(&end.shown, &end.expected), "{tier}");
        assert_eq!(
            results(&dealer, &end),
            plain(tape, lanes, &values),
            "{tier} x {lanes}"
        );
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
        parties in 2usize..6,
        seed in 0u64..1 << 32,
    ) {
        assert_right((&tape, lanes), 2, seed);
        assert_right((&tape, lanes), parties, seed);
    }
}

#[test]
fn sixteen_parties_are_right() {
    for lanes in [1, 17] {
        assert_right((&two_ands(), lanes), 16, 3);
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
    for (lanes, parties) in [(1, 2), (45, 2), (45, 3), (45, 5)] {
        assert_right((&tape, lanes), parties, 7);
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
                let case = Case {
                    cpus: &[cpu; 2],
                    run: Run {
                        tape: &tape,
                        lanes: 1,
                    },
                    values: &values,
                    seed: 1000 + seed,
                };
                let end = walk(&case, changed);
                let dealer = Dealer::new(2, 1000 + seed);
                if are_labels(&dealer.offsets, &end.labels) && same(&end.shown, &end.expected) {
                    assert_eq!(results(&dealer, &end), plain(&tape, 1, &values));
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
