//! The kernels on every tier, and the bytes of groups, against single gates.

use sealane_block::{Aes128, Block, Coins, Cpu, GROUP, Group, Kernel, Lanes, MiHash};

use super::super::hash::{GateHash, MiGates, MiOneKey, Quads};
use super::super::rows::{GROUP_BYTES, GroupRows, bytes};
use super::super::{EvaluateLanes, GarbleLanes, Rows};
use super::{Gate, Label, Pad, Slow, evaluate, sigma};

/// Left half: words 0 and 2 of a block; right half: words 1 and 3.
fn slice(block: Block) -> Label {
    let w = block.words().map(u64::from);
    [w[0] | w[2] << 32, w[1] | w[3] << 32]
}

fn unslice([left, right]: Label) -> Block {
    let word = |half: u64, k: u32| (half >> (32 * k) & 0xffff_ffff) as u128;
    let words = [word(left, 0), word(right, 0), word(left, 1), word(right, 1)];
    Block::new((0..4).map(|k| words[k] << (32 * k)).sum())
}

/// Where MI puts the part of a gate: into the key, or into the block.
#[derive(Clone, Copy)]
enum Place {
    Key,
    Block,
}

/// Pad and control bit of H(x) in a part of a gate, from one AES call.
fn pad(place: Place, seed: Block, number: u64, part: u32, x: Block) -> Pad {
    let (in_key, in_block) = match place {
        Place::Key => (part, 0),
        Place::Block => (0, part),
    };
    let key = seed ^ Block::new(number as u128 | (in_key as u128) << 64);
    let point = sigma(x) ^ Block::new(in_block as u128);
    let hash = Aes128::new(Cpu::available()[0], key).encrypt(point) ^ point;
    let [left, right] = slice(hash);
    // The control bit is the lowest bit of the half that is not the pad.
    match part {
        1 => (right, left & 1 == 1),
        _ => (left, right & 1 == 1),
    }
}

/// The gate with these zero labels, which stand at the colours of their lowest bits.
fn gate(place: Place, seed: Block, delta: Block, number: u64, a: Block, b: Block) -> Gate {
    let (pa, pb) = (a.lsb(), b.lsb());
    let (a, b) = (a ^ delta.masked(pa), b ^ delta.masked(pb));
    let both = |part, x: Block| [x, x ^ delta].map(|x| pad(place, seed, number, part, x));
    Gate {
        a: slice(a),
        b: slice(b),
        delta: slice(delta),
        alpha: pa == 0,
        beta: pb == 0,
        pads: [both(0, a), both(1, b), both(2, a ^ b)],
    }
}

/// Two groups: the least that is whole turns on every tier.
const PAIRS: usize = 2 * GROUP;

#[derive(Clone, Copy)]
struct Garble<'a> {
    place: Place,
    mi: MiHash,
    delta: Block,
    first: u64,
    a: &'a [Block],
    b: &'a [Block],
}

/// Two quads from `at` on, and the numbers of their first blocks.
#[inline(always)]
fn load<L: Lanes>(l: L, from: &[Block], at: usize) -> Quads<L> {
    [l.load_quad(&from[at..]), l.load_quad(&from[at + L::QUAD..])]
}

#[inline(always)]
fn store<L: Lanes>(l: L, to: &mut [Block], at: usize, quads: Quads<L>) {
    l.store_quad(&mut to[at..], quads[0]);
    l.store_quad(&mut to[at + L::QUAD..], quads[1]);
}

impl Kernel for Garble<'_> {
    type Output = (Vec<Block>, [GroupRows; 2]);

    #[inline(always)]
    fn run<L: Lanes>(self, l: L) -> Self::Output {
        match self.place {
            Place::Key => self.with(l, MiGates::new(l, self.mi, self.delta)),
            Place::Block => self.with(l, MiOneKey::new(l, self.mi, self.delta)),
        }
    }
}

impl Garble<'_> {
    #[inline(always)]
    fn with<L: Lanes>(self, l: L, hash: impl GateHash<L>) -> (Vec<Block>, [GroupRows; 2]) {
        let mut lanes = GarbleLanes::new(l, hash, self.delta);
        let mut c = vec![Block::ZERO; PAIRS];
        let (mut halves, mut thirds) = ([Group::ZERO; 2], [Group::ZERO; 2]);
        for at in (0..PAIRS).step_by(2 * L::QUAD) {
            let first = self.first + at as u64;
            let (a, b) = (load(l, self.a, at), load(l, self.b, at));
            let (out, rows) = lanes.and(l, [first, first + L::QUAD as u64], a, b);
            store(l, &mut c, at, out);
            store(l, Group::as_blocks_mut(&mut halves), at, rows.halves);
            store(l, Group::as_blocks_mut(&mut thirds), at, rows.thirds);
        }
        let rows = |k: usize| GroupRows {
            halves: halves[k],
            thirds: thirds[k],
        };
        (c, [rows(0), rows(1)])
    }
}

#[derive(Clone, Copy)]
struct Evaluate<'a> {
    place: Place,
    mi: MiHash,
    first: u64,
    a: &'a [Block],
    b: &'a [Block],
    rows: [GroupRows; 2],
}

impl Kernel for Evaluate<'_> {
    type Output = Vec<Block>;

    #[inline(always)]
    fn run<L: Lanes>(self, l: L) -> Vec<Block> {
        match self.place {
            Place::Key => self.with(l, MiGates::new(l, self.mi, Block::ZERO)),
            Place::Block => self.with(l, MiOneKey::new(l, self.mi, Block::ZERO)),
        }
    }
}

impl Evaluate<'_> {
    #[inline(always)]
    fn with<L: Lanes>(self, l: L, hash: impl GateHash<L>) -> Vec<Block> {
        let mut lanes = EvaluateLanes::new(hash);
        let mut c = vec![Block::ZERO; PAIRS];
        let (halves, thirds) = (self.rows.map(|r| r.halves), self.rows.map(|r| r.thirds));
        for at in (0..PAIRS).step_by(2 * L::QUAD) {
            let first = self.first + at as u64;
            let (a, b) = (load(l, self.a, at), load(l, self.b, at));
            let rows = Rows {
                halves: load(l, Group::as_blocks(&halves), at),
                thirds: load(l, Group::as_blocks(&thirds), at),
            };
            let out = lanes.and(l, [first, first + L::QUAD as u64], a, b, rows);
            store(l, &mut c, at, out);
        }
        c
    }
}

/// The kernel on every tier, against single gates: labels of 0, bytes of the rows, and every
/// input; also where inputs repeat or are constants, and where numbers carry.
#[test]
fn kernels_are_the_equations_on_every_tier() {
    let mut coins = Coins::danger_fixed_seed(Cpu::available()[0], 3);
    for first in [0, 1 << 36, u32::MAX as u64 + 1 - GROUP as u64] {
        for place in [Place::Key, Place::Block] {
            let mi = MiHash::new(coins.block());
            let delta = Block::new(coins.block().value() | 1);
            let (mut a, mut b) = (vec![Block::ZERO; PAIRS], vec![Block::ZERO; PAIRS]);
            coins.fill(&mut a);
            coins.fill(&mut b);
            (b[1], b[2], b[3]) = (a[1], a[2] ^ delta, Block::ZERO);
            (a[4], b[5], a[6], b[6]) = (delta, delta, Block::ZERO, delta);
            let (a, b) = (&a[..], &b[..]);
            compare(Garble {
                place,
                mi,
                delta,
                first,
                a,
                b,
            });
        }
    }
}

/// Garbles on every tier and evaluates on every other, against the slow version.
fn compare(garble: Garble<'_>) {
    let Garble {
        place,
        mi,
        delta,
        first,
        a,
        b,
    } = garble;
    let gates: Vec<_> = (0..PAIRS)
        .map(|k| gate(place, mi.seed(), delta, first + k as u64, a[k], b[k]))
        .collect();
    let garbled: Vec<_> = gates.iter().map(Gate::garble).collect();
    let expected: Vec<u8> = garbled.chunks(GROUP).flat_map(slow_bytes).collect();
    assert_eq!(expected.len(), 2 * GROUP_BYTES);
    let mut received = [GroupRows::default(); 2];
    for (rows, from) in received.iter_mut().zip(expected.chunks_exact(GROUP_BYTES)) {
        rows.read(GROUP, from);
    }
    for cpu in Cpu::available() {
        let (c, rows) = cpu.run(garble);
        let mut tables = vec![0; 2 * GROUP_BYTES];
        for (rows, out) in rows.iter().zip(tables.chunks_exact_mut(GROUP_BYTES)) {
            rows.write(GROUP, out);
        }
        assert!(tables == expected, "{}", cpu.tier());
        for x in 0..4 {
            let bits = |k: usize| ((x + k) as u8 & 1, (x / 2 + k / 2) as u8 & 1);
            let active_a: Vec<_> = (0..PAIRS).map(|k| a[k] ^ delta.masked(bits(k).0)).collect();
            let active_b: Vec<_> = (0..PAIRS).map(|k| b[k] ^ delta.masked(bits(k).1)).collect();
            let (a, b) = (&active_a[..], &active_b[..]);
            let got = cpu.run(Evaluate {
                place,
                mi,
                first,
                a,
                b,
                rows: received,
            });
            for k in 0..PAIRS {
                assert_eq!(slice(c[k]), garbled[k].0, "{} {k}", cpu.tier());
                let label = c[k] ^ delta.masked(bits(k).0 & bits(k).1);
                assert_eq!(got[k].value(), label.value(), "{} {k}", cpu.tier());
                let (i, j) = (a[k].lsb() == 1, b[k].lsb() == 1);
                let known = gates[k].known(i, j);
                let plain = evaluate(i, j, slice(a[k]), slice(b[k]), known, garbled[k].1);
                assert_eq!(unslice(plain).value(), label.value(), "{k}");
            }
        }
    }
}

/// The bytes of a group, as the page of `rows` says.
fn slow_bytes(group: &[(Label, Slow)]) -> Vec<u8> {
    let mut out = Vec::new();
    for (_, rows) in group {
        out.extend(unslice([rows.g[0], rows.g[1]]).to_bytes());
    }
    for (_, rows) in group {
        out.extend(rows.g[2].to_le_bytes());
    }
    let bits: Vec<bool> = group
        .iter()
        .flat_map(|(_, Slow { z, .. })| [z[2], z[0], z[1]])
        .collect();
    for byte in bits.chunks(8) {
        out.push((0..byte.len()).map(|k| (byte[k] as u8) << k).sum());
    }
    out
}

#[test]
fn groups_of_every_size_keep_their_rows() {
    let mut coins = Coins::danger_fixed_seed(Cpu::available()[0], 5);
    let mut rows = GroupRows::default();
    coins.fill(&mut *rows.halves);
    coins.fill(&mut *rows.thirds);
    let single: Vec<_> = (0..GROUP)
        .map(|k| {
            let ([g0, g1], [g2, beside]) = (slice(rows.halves[k]), slice(rows.thirds[k]));
            let z = [1, 2, 0].map(|bit| beside >> bit & 1 == 1);
            ([0, 0], Slow { g: [g0, g1, g2], z })
        })
        .collect();
    for pairs in 0..=GROUP {
        let len = bytes(pairs as u64) as usize;
        let mut out = vec![0xaa; len + 3];
        rows.write(pairs, &mut out);
        assert_eq!(out[..len], slow_bytes(&single[..pairs]));
        assert_eq!(out[len..], [0xaa; 3]);

        let mut read = rows;
        read.read(pairs, &out);
        for k in 0..GROUP {
            let kept = k < pairs;
            let halves = if kept { rows.halves[k].value() } else { 0 };
            assert_eq!(read.halves[k].value(), halves);
            let ([third, beside], [was, bits]) = (slice(read.thirds[k]), slice(rows.thirds[k]));
            assert_eq!(third, if kept { was } else { 0 });
            assert_eq!(beside & 7, if kept { bits & 7 } else { 0 });
        }
    }
    assert_eq!(bytes(16), 390);
    assert_eq!(bytes(1_000_003), 24_000_072 + 375_002);
}
