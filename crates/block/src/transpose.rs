//! 128 rows of bits into blocks: the step of oblivious-transfer extension that turns columns of
//! the IKNP matrix into one block for each transfer.
//!
//! Three stages of bit swaps across eight registers transpose every 8 x 8 square of bits; then a
//! network of byte interleavings transposes 16 x 16 bytes within each 128-bit lane. Lanes hold
//! different columns and are independent:
//!
//! ```text
//! row 8g+b, byte k   --swap bits-->   plane b, byte k of row group g   --interleave bytes-->
//! column 8k+b, byte g
//! ```

use crate::{Block, Cpu, Kernel, Lanes};

/// Rows of the matrix.
const ROWS: usize = 128;

/// Transposes a 128 x `n` bit matrix, where `n = out.len()` is a multiple of 128. Row `i` lies in
/// `rows[i * n / 128..(i + 1) * n / 128]`, bit `j` of a row in bit `j % 128` of its block
/// `j / 128`; bit `i` of `out[j]` becomes bit `j` of row `i`.
///
/// # Panics
/// If `out.len()` is no multiple of 128, or `rows.len()` differs from it.
pub fn transpose(cpu: Cpu, rows: &[Block], out: &mut [Block]) {
    assert_eq!(out.len() % ROWS, 0, "columns come in blocks of 128");
    let blocks = "128 rows of out.len() bits are out.len() blocks";
    assert_eq!(rows.len(), out.len(), "{blocks}");
    cpu.run(Transpose { rows, out });
}

struct Transpose<'a> {
    rows: &'a [Block],
    out: &'a mut [Block],
}

impl Kernel for Transpose<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, l: L) {
        let stride = self.out.len() / ROWS;
        let whole = stride - stride % L::WIDTH;
        // Of all steps, since it takes as long to fill them with zeros as to fill them.
        let mut planes = [[l.splat(Block::ZERO); 16]; 8];
        for first in (0..whole).step_by(L::WIDTH) {
            let out = &mut self.out[first * ROWS..(first + L::WIDTH) * ROWS];
            transpose_step(l, &mut planes, &self.rows[first..], stride, out);
        }
        // Columns that do not fill a vector are copied together, padded, and cut again.
        let rest = stride - whole;
        if rest > 0 {
            let mut rows = [Block::ZERO; 4 * ROWS];
            let mut out = [Block::ZERO; 4 * ROWS];
            for row in 0..ROWS {
                let from = &self.rows[row * stride + whole..][..rest];
                rows[row * L::WIDTH..][..rest].copy_from_slice(from);
            }
            transpose_step(l, &mut planes, &rows, L::WIDTH, &mut out);
            self.out[whole * ROWS..].copy_from_slice(&out[..rest * ROWS]);
        }
    }
}

/// `planes[b][g]`: bit `b` of every byte of the eight rows of group `g`, one byte a column byte.
type Planes<L> = [[<L as Lanes>::V; 16]; 8];

/// `128 * WIDTH` columns: the first `WIDTH` blocks of each row, `stride` blocks apart.
#[inline(always)]
fn transpose_step<L: Lanes>(
    l: L,
    planes: &mut Planes<L>,
    rows: &[Block],
    stride: usize,
    out: &mut [Block],
) {
    for g in 0..16 {
        let mut eight = [l.splat(Block::ZERO); 8];
        for b in 0..8 {
            eight[b] = l.load(&rows[(8 * g + b) * stride..]);
        }
        swap_bits(l, &mut eight);
        for b in 0..8 {
            planes[b][g] = eight[b];
        }
    }
    for b in 0..8 {
        transpose_bytes(l, &planes[b], &mut out[b..]);
    }
}

/// Transposes the 8 x 8 bit matrix (row, bit) of every byte position.
#[inline(always)]
fn swap_bits<L: Lanes>(l: L, rows: &mut [L::V; 8]) {
    let masks = [0x0f, 0x33, 0x55].map(|byte: u32| Block::from_word(byte * 0x0101_0101));
    let (fours, twos, ones) = (l.splat(masks[0]), l.splat(masks[1]), l.splat(masks[2]));
    for i in 0..4 {
        swap_pair::<L, 4>(l, rows, i, i + 4, fours);
    }
    for i in [0, 1, 4, 5] {
        swap_pair::<L, 2>(l, rows, i, i + 2, twos);
    }
    for i in [0, 2, 4, 6] {
        swap_pair::<L, 1>(l, rows, i, i + 1, ones);
    }
}

/// Swaps the upper bits of each `2N` in row `low` with the lower bits in row `high`.
#[inline(always)]
fn swap_pair<L: Lanes, const N: u32>(
    l: L,
    rows: &mut [L::V; 8],
    low: usize,
    high: usize,
    mask: L::V,
) {
    let t = l.and(l.xor(l.shr64::<N>(rows[low]), rows[high]), mask);
    rows[high] = l.xor(rows[high], t);
    rows[low] = l.xor(rows[low], l.shl64::<N>(t));
}

/// Writes a statement for each number, which it names: with vectors of 512 bits the compiler keeps
/// a loop as it is, and in memory what the loop reads.
macro_rules! unrolled {
    ($i:ident in $($n:literal)* => $statement:expr) => {
        $({
            const $i: usize = $n;
            $statement;
        })*
    };
}

/// Transposes 16 x 16 bytes in every lane: four perfect shuffles of registers and bytes. Column `k`
/// goes to block `8 k` of `out`, lanes of a vector 128 blocks apart.
#[inline(always)]
fn transpose_bytes<L: Lanes>(l: L, rows: &[L::V; 16], out: &mut [Block]) {
    let columns = shuffled(l, shuffled(l, shuffled(l, shuffled(l, *rows))));
    unrolled!(K in 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 => {
        l.store_strided(&mut out[8 * K..], ROWS, columns[K])
    });
}

/// Registers and bytes of the two halves in turn.
#[inline(always)]
fn shuffled<L: Lanes>(l: L, rows: [L::V; 16]) -> [L::V; 16] {
    let mut next = rows;
    unrolled!(I in 0 1 2 3 4 5 6 7 => {
        next[2 * I] = l.zip_lo8(rows[I], rows[I + 8]);
        next[2 * I + 1] = l.zip_hi8(rows[I], rows[I + 8]);
    });
    next
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::drawn;

    #[test]
    fn every_bit_moves_to_its_place_on_every_tier() {
        for columns in [128, 256, 384, 512, 640, 1024, 1152] {
            let rows = drawn(columns, columns as u64);
            for cpu in Cpu::available() {
                let mut out = vec![Block::ZERO; columns];
                transpose(cpu, &rows, &mut out);
                for (j, block) in out.iter().enumerate() {
                    for i in 0..128 {
                        let row_block = rows[i * columns / 128 + j / 128].value();
                        let expected = row_block >> (j % 128) & 1;
                        assert_eq!(block.value() >> i & 1, expected, "{} {i} {j}", cpu.tier());
                    }
                }
            }
        }
    }

    #[test]
    #[should_panic(expected = "blocks of 128")]
    fn odd_widths_are_refused() {
        let rows = [Block::ZERO; 100];
        transpose(Cpu::detect().unwrap(), &rows, &mut rows.clone());
    }
}
