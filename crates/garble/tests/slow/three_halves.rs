//! Three-halves as its paper writes it, one gate at a time, every matrix written out.

use sealane_block::Block;

/// Left and right half of a label.
pub type Label = [u64; 2];

/// Half-label pad and control bit of one hash.
pub type Pad = (u64, bool);

/// One gate: labels with colour 0, offset, position of the row with output 1, and pads by colour.
#[derive(Clone, Copy)]
pub struct Gate {
    pub a: Label,
    pub b: Label,
    pub delta: Label,
    pub alpha: bool,
    pub beta: bool,
    pub pads: [[Pad; 2]; 3],
}

/// The table of a gate.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Slow {
    pub g: [u64; 3],
    pub z: [bool; 3],
}

pub fn times(bit: bool, x: u64) -> u64 {
    if bit { x } else { 0 }
}

pub fn add(x: Label, y: Label) -> Label {
    [x[0] ^ y[0], x[1] ^ y[1]]
}

pub fn scale(bit: bool, x: Label) -> Label {
    [times(bit, x[0]), times(bit, x[1])]
}

/// Computes R [A_L A_R B_L B_R] with R = r0 S1 + r1 S2 + P, every matrix written out.
pub fn r_times(r: [bool; 2], i: bool, j: bool, a: Label, b: Label) -> Label {
    const S1: [[u8; 4]; 2] = [[1, 1, 1, 0], [1, 0, 0, 1]];
    const S2: [[u8; 4]; 2] = [[1, 0, 0, 1], [0, 1, 1, 1]];
    let p = [[0, 0, !i as u8, 0], [0, !j as u8, 0, 0]];
    let slices = [a[0], a[1], b[0], b[1]];
    let mut out = [0; 2];
    for row in 0..2 {
        for (column, slice) in slices.into_iter().enumerate() {
            let dice = (r[0] as u8 & S1[row][column]) ^ (r[1] as u8 & S2[row][column]);
            let entry = dice ^ p[row][column];
            out[row] ^= times(entry == 1, slice);
        }
    }
    out
}

impl Gate {
    /// The labels held by an evaluator that sees the colours `i` and `j`.
    pub fn active(&self, i: bool, j: bool) -> (Label, Label) {
        let of = |label, colour| add(label, scale(colour, self.delta));
        (of(self.a, i), of(self.b, j))
    }

    /// The pads that this evaluator can compute.
    pub fn known(&self, i: bool, j: bool) -> [Pad; 3] {
        let colours = [i, j, i ^ j].map(usize::from);
        std::array::from_fn(|part| self.pads[part][colours[part]])
    }

    pub fn controls(&self) -> [bool; 3] {
        let positions = [self.alpha, self.beta, self.alpha ^ self.beta];
        std::array::from_fn(|part| {
            let [zero, one] = self.pads[part];
            positions[part] ^ zero.1 ^ one.1
        })
    }

    /// The eight equations, right-hand sides: hashes, labels, and delta where the output is 1.
    fn right_side(&self, i: bool, j: bool) -> Label {
        let (a, b) = self.active(i, j);
        let pads = self.known(i, j);
        let r = choice(i, j, pads, self.controls());
        let hashes = [pads[0].0 ^ pads[2].0, pads[1].0 ^ pads[2].0];
        let one = i == self.alpha && j == self.beta;
        add(add(hashes, r_times(r, i, j, a, b)), scale(one, self.delta))
    }

    /// The label of 0 and the rows: five equations determine them, and the other three have to
    /// agree.
    pub fn garble(&self) -> (Label, Slow) {
        let at = |i, j| self.right_side(i, j);
        let c = at(false, false);
        let [g2, right01] = add(at(false, true), c);
        let [left10, right10] = add(at(true, false), c);
        let [g0, g1] = add(at(true, true), c);
        assert_eq!(right01, g1 ^ g2);
        assert_eq!(left10, g0 ^ g2);
        assert_eq!(right10, g2);
        let (g, z) = ([g0, g1, g2], self.controls());
        (c, Slow { g, z })
    }
}

/// r0 and r1 as the evaluator finds them.
pub fn choice(i: bool, j: bool, pads: [Pad; 3], z: [bool; 3]) -> [bool; 2] {
    let both = pads[2].1 ^ ((i ^ j) & z[2]);
    [pads[0].1 ^ both ^ (i & z[0]), pads[1].1 ^ both ^ (j & z[1])]
}

/// Left half: words 0 and 2 of a block; right half: words 1 and 3.
pub fn slice(block: Block) -> Label {
    let w = block.words().map(u64::from);
    [w[0] | w[2] << 32, w[1] | w[3] << 32]
}

pub fn unslice([left, right]: Label) -> Block {
    let word = |half: u64, k: u32| (half >> (32 * k) & 0xffff_ffff) as u128;
    let words = [word(left, 0), word(right, 0), word(left, 1), word(right, 1)];
    Block::new((0..4).map(|k| words[k] << (32 * k)).sum())
}

/// The gate with these labels, by value, and the hashes of A, B and A + B, by value of their label.
pub fn gate(a: [Block; 2], b: [Block; 2], hashes: [[Block; 2]; 3]) -> Gate {
    let colours = [a, b].map(|labels| usize::from(labels[0].lsb() == 1));
    let [pa, pb] = colours;
    let delta = slice(a[0] ^ a[1]);
    let pads = |part: usize, colour: usize| {
        let [zero, one] = hashes[part].map(|hash| {
            let [left, right] = slice(hash);
            // The control bit is the lowest bit of the half that is not the pad.
            match part {
                1 => (right, left & 1 == 1),
                _ => (left, right & 1 == 1),
            }
        });
        if colour == 0 {
            [zero, one]
        } else {
            [one, zero]
        }
    };
    Gate {
        a: slice(a[pa]),
        b: slice(b[pb]),
        delta,
        alpha: pa == 0,
        beta: pb == 0,
        pads: [pads(0, pa), pads(1, pb), pads(2, pa ^ pb)],
    }
}

/// The planes of a gate's table.
pub fn planes(rows: &Slow) -> [Vec<u8>; 3] {
    let [z_a, z_b, z_ab] = rows.z.map(u8::from);
    [
        unslice([rows.g[0], rows.g[1]]).to_bytes().to_vec(),
        rows.g[2].to_le_bytes().to_vec(),
        vec![z_ab | z_a << 1 | z_b << 2],
    ]
}
