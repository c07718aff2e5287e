//! Hashes of the columns of a bit matrix that is made piece by piece: the check of OT extension.
//!
//! A column is cut into pieces of at most [`PIECE`] blocks, elements of GF(2^128). The hash of a
//! column with pieces `p`, of blocks `b[p][0]`, `b[p][1]` and so on, under the keys `K[p]`, is
//!
//! ```text
//! sum over p, i of  b[p][i] * K[p]^(i + 1),   but b[0][0] * 1 for the first block of all
//! ```
//!
//! It is linear over GF(2), so the hash of a sum of columns is the sum of their hashes, and a
//! column that is a multiple of another by a bit has that multiple of its hash.
//!
//! **Bound.** Fix a column that is zero nowhere but in some blocks, of which one is not the first
//! of all, and choose each `K[p]` at random *after* piece `p` is fixed. Let `p` be the last piece
//! with such a block. Whatever the pieces before contribute is fixed before `K[p]` is drawn, and
//! piece `p` adds a polynomial in `K[p]` without constant term that is not zero, so the hash has a
//! given value with probability at most `PIECE / 2^128`. A column that is zero but in its first
//! block has that block as hash. Hence the hash of a column that is not zero is zero with that
//! probability; and since the first block counts once and with factor 1, a uniform first block
//! makes the hash uniform, so it hides the rest. These are the properties that Roy's check needs
//! ("SoftSpokenOT", CRYPTO 2022, linear universal hashes that hide).

use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

use crate::gf::{self, Order};
use crate::{Block, Cpu, Kernel, Lanes};

/// The most blocks of a piece.
pub const PIECE: usize = 32;

/// Hashes of columns under way.
#[derive(ZeroizeOnDrop)]
pub struct ColumnHash {
    #[zeroize(skip)]
    cpu: Cpu,
    sums: Vec<Block>,
    #[zeroize(skip)]
    begun: bool,
}

impl ColumnHash {
    /// Begins the hashes of `columns` columns.
    pub fn new(cpu: Cpu, columns: usize) -> ColumnHash {
        ColumnHash {
            cpu,
            sums: vec![Block::ZERO; columns],
            begun: false,
        }
    }

    /// Adds the next piece of every column, under `key`. The pieces lie after one another, all of
    /// one length.
    ///
    /// # Panics
    /// If they do not divide among the columns, or have over [`PIECE`] blocks.
    pub fn update(&mut self, key: Block, pieces: &[Block]) {
        let width = pieces.len() / self.sums.len();
        assert_eq!(width * self.sums.len(), pieces.len(), "one length for all");
        assert!(width <= PIECE, "a piece has up to 32 blocks");
        let mut powers = Zeroizing::new([Block::ZERO; PIECE]);
        let mut power = key;
        for slot in &mut powers[..width] {
            *slot = power;
            power = gf::mul(self.cpu, Order::Polynomial, power, key);
        }
        if !self.begun && width > 0 {
            powers[0] = Block::new(1);
            self.begun = true;
        }
        self.cpu.run(Update {
            sums: &mut self.sums,
            powers: &powers,
            pieces,
            width,
        });
    }

    /// The hash of each column.
    pub fn values(&self) -> &[Block] {
        &self.sums
    }
}

struct Update<'a> {
    sums: &'a mut [Block],
    powers: &'a [Block; PIECE],
    pieces: &'a [Block],
    width: usize,
}

impl Kernel for Update<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, l: L) {
        let zero = l.splat(Block::ZERO);
        // Powers past the width are 0, so whole vectors of the last blocks may hold anything: they
        // are padded with zeros nevertheless, since a column ends where the next one begins.
        let whole = self.width - self.width % L::WIDTH;
        let mut factors = [[zero; 2]; PIECE];
        for (factor, powers) in factors.iter_mut().zip(self.powers.chunks_exact(L::WIDTH)) {
            *factor = gf::with_sums(l, l.load(powers));
        }
        let mut lanes = [Block::ZERO; 4];
        let columns = self.pieces.chunks_exact(self.width.max(1));
        for (sum, column) in self.sums.iter_mut().zip(columns) {
            let mut product = [zero; 3];
            for (v, blocks) in column.chunks_exact(L::WIDTH).enumerate() {
                gf::add_product(l, &mut product, l.load(blocks), factors[v]);
            }
            if whole < self.width {
                lanes = [Block::ZERO; 4];
                lanes[..self.width - whole].copy_from_slice(&column[whole..]);
                gf::add_product(l, &mut product, l.load(&lanes), factors[whole / L::WIDTH]);
            }
            let product = gf::reduce_whole_lanes(l, Order::Polynomial, product);
            l.store(&mut lanes, product);
            for lane in 0..L::WIDTH {
                *sum ^= lanes[lane];
            }
        }
        lanes.zeroize();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{drawn, product, values};

    #[test]
    fn hashes_are_those_of_the_definition_on_every_tier() {
        const COLUMNS: usize = 5;
        let widths = [1, 32, 7, 2, 3, 4, 31];
        let keys: Vec<_> = (0..7)
            .map(|i| Block::new(0x1234_5678 << (13 * i) | 99))
            .collect();
        let pieces: Vec<_> = (0..)
            .zip(widths)
            .map(|(p, width)| drawn(width * COLUMNS, p))
            .collect();
        let mut expected = [0; COLUMNS];
        for (column, sum) in expected.iter_mut().enumerate() {
            for (p, (key, piece)) in keys.iter().zip(&pieces).enumerate() {
                let mut power = key.value();
                for i in 0..widths[p] {
                    let factor = if (p, i) == (0, 0) { 1 } else { power };
                    *sum ^= product(piece[column * widths[p] + i].value(), factor);
                    power = product(power, key.value());
                }
            }
        }
        for cpu in Cpu::available() {
            let mut hash = ColumnHash::new(cpu, COLUMNS);
            for (key, piece) in keys.iter().zip(&pieces) {
                hash.update(*key, piece);
            }
            assert!(values(hash.values()) == expected, "{}", cpu.tier());
        }
    }
}
