//! Garblers written from the documentation, one gate and lane at a time with single AES calls, and
//! the attack on hashes without sigma.

pub mod three_halves;

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use sealane_block::{Block, Tweak};
use sealane_circuit::Tape;
use sealane_circuit::tape::{Gate, ONE, ZERO};
use sealane_garble::Scheme;

use crate::support::{Pairs, ROLES};

/// AES by another implementation.
fn aes(key: Block, x: Block) -> Block {
    use aes::cipher::{BlockCipherEncrypt, KeyInit};
    let mut block = x.to_bytes().into();
    aes::Aes128::new(&key.to_bytes().into()).encrypt_block(&mut block);
    Block::from_bytes(block.into())
}

/// The tweak of a part of a gate on a lane.
pub fn tweak(gate: u32, call: u64, lane: usize, part: u32) -> Block {
    let row = lane as u32;
    Tweak {
        gate,
        call,
        row,
        part,
    }
    .block()
}

pub fn sigma(x: Block) -> Block {
    let (low, high) = (x.value() as u64, (x.value() >> 64) as u64);
    Block::new(((high ^ low) as u128) << 64 | high as u128)
}

/// The groups of pairs that have a table, in the order of the stream, with whether they are ANDs
/// and how many bytes the pieces of a pair have, plane by plane. An XOR has one plane, so its
/// groups may as well be single pairs.
pub fn each_group(
    scheme: Scheme,
    tape: &Tape,
    lanes: usize,
    mut group: impl FnMut(bool, &[usize], &[(Gate, usize)]),
) {
    each_batch(tape, lanes, |xors, _, ands, first, width| {
        let constant = |slot: &u32| [ZERO, ONE].contains(slot);
        let with_table =
            |gate: &&Gate| scheme == Scheme::Prf && ![gate.a, gate.b].iter().any(constant);
        for gate in xors.iter().filter(with_table) {
            for lane in first..first + width {
                group(false, &[16], &[(*gate, lane)]);
            }
        }
        for (known_to, pairs) in groups(scheme, ands, first, width) {
            let planes: &[usize] = match (known_to, scheme) {
                (0, Scheme::ThreeHalves) => &[16, 8, 1],
                (0, _) => &[16, 16],
                _ => &[16],
            };
            group(true, planes, &pairs);
        }
    });
}

/// The ANDs of a batch in groups of up to sixteen pairs, each with the party that knows an operand.
fn groups(
    scheme: Scheme,
    ands: &[(Gate, u8)],
    first: usize,
    width: usize,
) -> Vec<(u8, Vec<(Gate, usize)>)> {
    let known_to = |and: &(Gate, u8)| match and.1 {
        known_to if scheme == Scheme::Prf || ![1, 2].contains(&known_to) => 0,
        known_to => known_to,
    };
    let mut groups = Vec::new();
    for run in ands.chunk_by(|one, next| known_to(one) == known_to(next)) {
        let lanes = first..first + width;
        let gates = run.iter().map(|(gate, _)| *gate);
        let pairs = gates.flat_map(|gate| lanes.clone().map(move |lane| (gate, lane)));
        let pairs = pairs.collect::<Vec<_>>();
        let group = |group: &[_]| (known_to(&run[0]), group.to_vec());
        groups.extend(pairs.chunks(16).map(group));
    }
    groups
}

/// The gates of each batch that belong to a piece, for every block of lanes of a span: XORs and
/// their marks, ANDs and theirs, first lane and width.
fn each_batch(
    tape: &Tape,
    lanes: usize,
    mut batch: impl FnMut(&[Gate], &[bool], &[(Gate, u8)], usize, usize),
) {
    let full = match tape.slots {
        0..=512 => 32,
        _ => 16,
    };
    let mut blocks = Vec::new();
    let mut first = 0;
    while first < lanes {
        let width = match lanes - first {
            left if left >= full => full,
            left @ 16.. => left / 16 * 16,
            left => left,
        };
        blocks.push((first, width));
        first += width;
    }
    for span in blocks.chunks(4) {
        for piece in pieces(tape) {
            for (first, width) in span {
                for (xors, ands) in &piece {
                    let known = tape.known_to[ands.clone()].iter().copied();
                    let ands = tape.ands[ands.clone()].iter().copied().zip(known);
                    let ands = ands.collect::<Vec<_>>();
                    let (xors, lone) = (&tape.xors[xors.clone()], &tape.lone[xors.clone()]);
                    batch(xors, lone, &ands, *first, *width);
                }
            }
        }
    }
}

/// XORs and ANDs of a batch that belong to a piece.
type GateRanges = (Range<usize>, Range<usize>);

/// The pieces of a tape: batches are added one by one, and those that are too large are cut.
fn pieces(tape: &Tape) -> Vec<Vec<GateRanges>> {
    let mut pieces = vec![vec![]];
    let (mut xors_left, mut ands_left) = (2048, 512);
    for batch in &tape.batches {
        let mut xors = batch.xors.start as usize..batch.xors.end as usize;
        let mut ands = batch.ands.start as usize..batch.ands.end as usize;
        while xors.len() > xors_left || ands.len() > ands_left {
            if (xors_left, ands_left) == (2048, 512) {
                let some_xors = xors.start..xors.end.min(xors.start + 2048);
                let some_ands = if some_xors.len() == xors.len() {
                    ands.start..ands.start + 512
                } else {
                    ands.start..ands.start
                };
                (xors.start, ands.start) = (some_xors.end, some_ands.end);
                pieces.last_mut().unwrap().push((some_xors, some_ands));
            }
            pieces.push(vec![]);
            (xors_left, ands_left) = (2048, 512);
        }
        (xors_left, ands_left) = (xors_left - xors.len(), ands_left - ands.len());
        pieces.last_mut().unwrap().push((xors, ands));
    }
    pieces
}

/// A gate on a lane, with both labels of each operand.
#[derive(Clone, Copy)]
struct Pair {
    gate: Gate,
    lane: usize,
    a: [Block; 2],
    b: [Block; 2],
}

impl Pair {
    fn new(gate: Gate, lane: usize, slots: &[Vec<[Block; 2]>]) -> Pair {
        let [a, b] = [gate.a, gate.b].map(|slot| slots[slot as usize][lane]);
        Pair { gate, lane, a, b }
    }
}

/// A garbler that records every tweak.
pub struct Slow {
    scheme: Scheme,
    seed: Block,
    delta: Block,
    call: u64,
    used: HashSet<u128>,
    /// A hash that is left out, so that it masks nothing. For tests that must notice.
    pub forgets: Option<Forgotten>,
}

/// One hash of a garbler.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Forgotten {
    /// For ANDs: the party that knows an operand, 0 if none does. `None` stands for XORs.
    pub known_to: Option<u8>,
    /// Its number among the hashes of the gate.
    pub hash: usize,
}

impl Slow {
    pub fn new(scheme: Scheme, seed: Block, delta: Block) -> Slow {
        Slow {
            scheme,
            seed,
            delta,
            call: 0,
            used: HashSet::new(),
            forgets: None,
        }
    }

    fn tweak(&mut self, gate: u32, lane: usize, part: u32) -> Block {
        let block = tweak(gate, self.call, lane, part);
        assert!(self.used.insert(block.value()), "a tweak serves twice");
        block
    }

    pub fn hash(&self, x: Block, t: Block) -> Block {
        match self.scheme {
            Scheme::Prp => aes(self.seed, sigma(x) ^ t) ^ sigma(x),
            Scheme::Tccr => aes(self.seed, aes(self.seed, x) ^ t) ^ aes(self.seed, x),
            Scheme::Mi | Scheme::ThreeHalves => aes(self.seed ^ t, sigma(x)) ^ sigma(x),
            Scheme::Circ | Scheme::Prf => aes(x, self.seed ^ t),
        }
    }

    /// Computes hash `hash` of a gate, unless it is left out.
    fn hash_of(&self, known_to: Option<u8>, hash: usize, x: Block, t: Block) -> Block {
        if self.forgets == Some(Forgotten { known_to, hash }) {
            Block::ZERO
        } else {
            self.hash(x, t)
        }
    }

    /// Computes the pieces of the table, plane by plane, and both output labels of an AND.
    fn and_planes(&mut self, Pair { gate, lane, a, b }: Pair) -> (Vec<Vec<u8>>, [Block; 2]) {
        if self.scheme != Scheme::ThreeHalves {
            let (rows, c) = self.and(Pair { gate, lane, a, b });
            return (rows.map(|row| row.to_bytes().to_vec()).to_vec(), c);
        }
        let ab = [a[0] ^ b[0], a[0] ^ b[1]];
        let tweaks = [0, 1, 2].map(|part| self.tweak(gate.number, lane, part));
        let hash = |part: usize, labels: [Block; 2]| {
            let of = |v: usize| self.hash_of(Some(0), 2 * part + v, labels[v], tweaks[part]);
            [of(0), of(1)]
        };
        let slow = three_halves::gate(a, b, [hash(0, a), hash(1, b), hash(2, ab)]);
        let (c, rows) = slow.garble();
        let c = three_halves::unslice(c);
        (three_halves::planes(&rows).to_vec(), [c, c ^ self.delta])
    }

    /// Computes the rows and both output labels of an AND.
    fn and(&mut self, Pair { gate, lane, a, b }: Pair) -> ([Block; 2], [Block; 2]) {
        if self.scheme == Scheme::Prf {
            return self.prf_and(Pair { gate, lane, a, b });
        }
        let [ta, tb] = [0, 1].map(|part| self.tweak(gate.number, lane, part));
        let hash = |number, x, t| self.hash_of(Some(0), number, x, t);
        let [a0, a1] = [hash(0, a[0], ta), hash(1, a[1], ta)];
        let [b0, b1] = [hash(2, b[0], tb), hash(3, b[1], tb)];
        let rows = [a0 ^ a1 ^ self.delta.masked(b[0].lsb()), b0 ^ b1 ^ a[0]];
        let garbler_wire = a0 ^ rows[0].masked(a[0].lsb());
        let evaluator_wire = b0 ^ (rows[1] ^ a[0]).masked(b[0].lsb());
        let c = garbler_wire ^ evaluator_wire;
        (rows, [c, c ^ self.delta])
    }

    /// Computes the remaining half of an AND with a known operand: its row, and the labels.
    fn half(&mut self, Pair { gate, lane, a, b }: Pair, known_to: u8) -> (Block, [Block; 2]) {
        let (row, c) = if known_to == ROLES.evaluator {
            assert_eq!(b[0].lsb(), 0, "the evaluator's bit is its label's");
            let t = self.tweak(gate.number, lane, 1);
            let [b0, b1] = [0, 1].map(|v| self.hash_of(Some(known_to), v, b[v], t));
            (b0 ^ b1 ^ a[0], b0)
        } else {
            let t = self.tweak(gate.number, lane, 0);
            let [a0, a1] = [0, 1].map(|v| self.hash_of(Some(known_to), v, a[v], t));
            let row = a0 ^ a1 ^ self.delta.masked(b[0].lsb());
            (row, a0 ^ row.masked(a[0].lsb()))
        };
        (row, [c, c ^ self.delta])
    }

    /// The table of the paper: the row of each pair of signals, looked up by trial.
    fn prf_and(&mut self, Pair { gate, lane, a, b }: Pair) -> ([Block; 2], [Block; 2]) {
        let mut k = [[Block::ZERO; 2]; 2];
        let mut value = [[0; 2]; 2];
        for (va, vb) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
            let (x, y) = (a[va].lsb() as usize, b[vb].lsb() as usize);
            let row = 2 * x as u32 + y as u32;
            let of_a = self.tweak(gate.number, lane, 4 + row);
            let of_b = self.tweak(gate.number, lane, 8 + row);
            let first = 2 * row as usize;
            k[x][y] = self.hash_of(Some(0), first, a[va], of_a)
                ^ self.hash_of(Some(0), first + 1, b[vb], of_b);
            value[x][y] = va & vb;
        }
        let random = |block: Block| block.value() & !3;
        let bit = |block: Block| block.value() & 1;
        let k00 = random(k[0][0]);
        // The labels of both values, from the one row that differs.
        let rows = k.as_flattened().iter();
        let sum = rows.fold(0, |sum, block| sum ^ random(*block));
        let mut c = [0; 2];
        c[value[0][0]] = k00;
        c[1 - value[0][0]] = k00 ^ sum;
        let target = |x: usize, y: usize| c[value[x][y]];
        let mut rows = [
            target(0, 1) ^ random(k[0][1]),
            target(1, 0) ^ random(k[1][0]),
        ];
        assert_eq!(random(k[1][1]) ^ rows[0] ^ rows[1], target(1, 1));
        // Signals: the signal of row 00, and the masked bits of the others.
        let mut signal = [0; 2];
        signal[value[0][0]] = bit(k[0][0]);
        signal[1 - value[0][0]] = 1 ^ bit(k[0][0]);
        let masked = |x: usize, y: usize| bit(k[x][y]) ^ signal[value[x][y]];
        rows[0] |= masked(0, 1) | (masked(0, 1) ^ masked(1, 0) ^ masked(1, 1)) << 1;
        rows[1] |= masked(1, 0);
        let labels = [c[0] | signal[0], c[1] | signal[1]];
        (rows.map(Block::new), labels.map(Block::new))
    }

    /// Row, if it has one, and both output labels of an XOR.
    fn xor(&mut self, Pair { gate, lane, a, b }: Pair, lone: bool) -> (Option<Block>, [Block; 2]) {
        if self.scheme != Scheme::Prf {
            return (None, [a[0] ^ b[0], a[0] ^ b[1]]);
        }
        let exchanged = |[zero, one]: [Block; 2], constant| match constant {
            ONE => [one, zero],
            _ => [zero, one],
        };
        if [ZERO, ONE].contains(&gate.a) {
            return (None, exchanged(b, gate.a));
        }
        if [ZERO, ONE].contains(&gate.b) {
            return (None, exchanged(a, gate.b));
        }
        let [ta, tb] = [12, 13].map(|part| self.tweak(gate.number, lane, part));
        let by_signal = |labels: [Block; 2], signal| labels[usize::from(labels[1].lsb() == signal)];
        let hash = |number, x, t| self.hash_of(None, number, x, t);
        let x = [0, 1].map(|signal| hash(usize::from(signal), by_signal(a, signal), ta));
        let (j0, j1) = (by_signal(b, 0), by_signal(b, 1));
        let y0 = if lone { j0 } else { hash(2, j0, tb) };
        let y = [y0, y0 ^ x[0] ^ x[1]];
        let random = |block: Block| Block::new(block.value() & !3);
        let row = random(hash(3, j1, tb) ^ y[1]);
        let output = |va: usize, vb: usize| {
            let (sa, sb) = (a[va].lsb(), b[vb].lsb());
            random(x[usize::from(sa)] ^ y[usize::from(sb)]) ^ Block::new((sa ^ sb) as u128)
        };
        assert_eq!(output(0, 0).value(), output(1, 1).value());
        assert_eq!(output(0, 1).value(), output(1, 0).value());
        (Some(row), [output(0, 0), output(0, 1)])
    }

    /// Table bytes and labels of outputs, as `[value][output][lane]`.
    pub fn garble(&mut self, tape: &Tape, lanes: usize, inputs: &Pairs) -> (Vec<u8>, Pairs) {
        // Both labels of each slot and lane.
        let other = match self.scheme {
            Scheme::Prf => Block::new(self.delta.value() & !3 | 1),
            _ => self.delta,
        };
        let mut slots = vec![vec![[Block::ZERO; 2]; lanes]; tape.slots as usize];
        slots[0].fill([Block::ZERO, other]);
        slots[1].fill([other, Block::ZERO]);
        for input in 0..tape.inputs as usize {
            for (lane, labels) in slots[2 + input].iter_mut().enumerate() {
                let at = input * lanes + lane;
                *labels = [inputs[0][at], inputs[1][at]];
            }
        }
        let mut tables = Vec::new();
        let mut outputs = [0, 1].map(|_| vec![Block::ZERO; tape.outputs.len() * lanes]);
        each_batch(tape, lanes, |xors, lone, ands, first, width| {
            for (gate, lone) in xors.iter().zip(lone) {
                for lane in first..first + width {
                    let (row, c) = self.xor(Pair::new(*gate, lane, &slots), *lone);
                    tables.extend_from_slice(Block::as_bytes(row.as_slice()));
                    slots[gate.out as usize][lane] = c;
                }
            }
            for (known_to, pairs) in groups(self.scheme, ands, first, width) {
                let mut planes = vec![Vec::new(); 3];
                for (gate, lane) in pairs {
                    let pair = Pair::new(gate, lane, &slots);
                    let (pieces, c) = match known_to {
                        0 => self.and_planes(pair),
                        _ => {
                            let (row, c) = self.half(pair, known_to);
                            (vec![row.to_bytes().to_vec()], c)
                        }
                    };
                    for (plane, piece) in planes.iter_mut().zip(pieces) {
                        plane.extend(piece);
                    }
                    slots[gate.out as usize][lane] = c;
                }
                tables.extend(planes.concat());
            }
        });
        for (output, slot) in tape.outputs.iter().enumerate() {
            for lane in 0..lanes {
                for (value, outputs) in outputs.iter_mut().enumerate() {
                    outputs[output * lanes + lane] = slots[*slot as usize][lane][value];
                }
            }
        }
        self.call += u64::from(!tables.is_empty());
        (tables, outputs)
    }

    pub fn decode_table(&mut self, outputs: &Pairs) -> Vec<[Block; 2]> {
        let pairs = outputs[0].iter().zip(&outputs[1]).enumerate();
        let table = pairs.map(|(i, (zero, one))| {
            let t = self.tweak(0, i, 15);
            [self.hash(*zero, t), self.hash(*one, t)]
        });
        let table = table.collect();
        self.call += 1;
        table
    }
}

/// AES-128 backwards, from its definition (FIPS 197, section 5.3).
fn aes_inverse(key: Block, y: Block) -> Block {
    use aes::cipher::{BlockCipherDecrypt, KeyInit};
    let mut block = y.to_bytes().into();
    aes::Aes128::new(&key.to_bytes().into()).decrypt_block(&mut block);
    Block::from_bytes(block.into())
}

/// Candidates for delta in the attack: for each row T_G of a gate with active labels a (of input 0)
/// and b (of input 1), T_G ^ H(a), with or without delta's guess, is AES of something with a ^
/// delta in it.
pub fn attack(
    seed: Block,
    rows: &HashMap<(bool, u32, usize), Vec<u8>>,
    held: &[Block],
    lanes: usize,
) -> Vec<Block> {
    let mut found = Vec::new();
    for ((_, gate, lane), row) in rows {
        let labels = [held[*lane], held[lanes + lane]];
        for (part, active) in labels.into_iter().enumerate() {
            let t = tweak(*gate, 0, *lane, part as u32);
            let row = Block::from_bytes(row[16 * part..][..16].try_into().unwrap());
            // The hash of the label held, as any of the definitions would have it.
            for x in [active, sigma(active)] {
                for hash in [
                    aes(seed, x ^ t) ^ x ^ t,
                    aes(seed, x ^ t) ^ x,
                    aes(seed ^ t, x) ^ x,
                    aes(x, t),
                ] {
                    // The remainder is AES(x' ^ t) ^ x' ^ t ^ p delta, x' = x ^ delta. With p = 1
                    // and without sigma the last terms are known: x ^ t.
                    for key in [seed, seed ^ t] {
                        for known in [x ^ t, x, Block::ZERO] {
                            let inverse = aes_inverse(key, row ^ hash ^ known);
                            found.extend([inverse ^ x, inverse ^ x ^ t]);
                        }
                    }
                }
            }
        }
    }
    found
}

/// Counts how often the attack finds delta in half-gates under H(x, t) = AES(x ^ t) ^ x ^ t.
pub fn attack_on_a_weak_hash() -> usize {
    let seed = Block::new(7);
    let delta = Block::new(0x1357_9bdf_2468_ace1_0f1e_2d3c_4b5a_6979);
    let hash = |x: Block, t: Block| aes(seed, x ^ t) ^ x ^ t;
    let mut rows = HashMap::new();
    let mut held = vec![Block::ZERO; 32];
    for (i, label) in held.iter_mut().enumerate() {
        *label = aes(Block::new(99), Block::new(i as u128));
    }
    for gate in 0..16 {
        for lane in 0..16 {
            let t = tweak(gate, 0, lane, 0);
            let (a, b) = (held[lane], held[16 + lane]);
            // The permute bit of b's zero label is secret: taken from the gate here.
            let row = hash(a, t) ^ hash(a ^ delta, t) ^ delta.masked(b.lsb() ^ gate as u8);
            let bytes = [row.to_bytes(), row.to_bytes()].concat();
            rows.insert((true, gate, lane), bytes);
        }
    }
    let found = attack(seed, &rows, &held, 16).into_iter();
    found.filter(|guess| guess.value() == delta.value()).count()
}
