//! Up to 128 bits of each hash, as planes: plane `j` has bit `j` of every row, 128 rows a block. A
//! few come from masks as in `bits`, others from whole hashes, which are transposed.

use super::bits::{BITS, BitHash, HashBits, Keys, MASKED};
use super::rows::batch_tweaks;
use super::{HashLanes, LabelHash, Prp, Tweak};
use crate::{Block, Cpu, Kernel, Lanes, aes, transpose};
use zeroize::{Zeroize, Zeroizing};

/// The part of the tweaks that make keys, which differs from that of [`BitHash::hash`].
const PART: u32 = 2;
/// Keys whose rows are transposed together: enough that a write to a plane is some cache lines.
const TOGETHER: usize = 16;

/// Hashes whose rows are transposed together, row `i` of key `g` at `TOGETHER * i + g`.
type Spread = [Block; TOGETHER * BITS];

/// The same hash to as many bits a row as there are planes. A distinguisher of `p` evaluations of
/// AES, each under one key, compares each with 128 inputs and 128 outputs that it does not know. So
/// its advantage is at most some `256 p / 2^128`, which leaves `2^120` evaluations; a table of the
/// outputs of a key that it comes to know finds an offset after `2^121`. Besides, hashes under one
/// key are those of a permutation: of `n` rows that tells something with probability `n / 2^120`.
impl BitHash {
    /// Adds to `planes` as many bits of the hash of each row. Bits behind the last row stay as they
    /// are. A call may come in parts, as in [`hash`](BitHash::hash); none of its keys comes twice,
    /// here or in another method.
    ///
    /// # Panics
    /// If there are more than 128 planes, or one has not a block for 128 rows, or rows or the
    /// numbers are too large for a [`Tweak`].
    pub fn hash_planes(
        &self,
        cpu: Cpu,
        call: (u64, u32),
        rows: &[Block],
        planes: &mut [&mut [Block]],
    ) {
        self.add_planes::<false>(cpu, call, Block::ZERO, rows, [planes, &mut []]);
    }

    /// As [`hash_planes`](BitHash::hash_planes), and adds to `sums` those bits plus the same of the
    /// row with `delta` added.
    ///
    /// # Panics
    /// As [`hash_planes`](BitHash::hash_planes), or if there are not as many planes of both kinds.
    pub fn hash_pair_planes(
        &self,
        cpu: Cpu,
        call: (u64, u32),
        delta: Block,
        rows: &[Block],
        [zeros, sums]: [&mut [&mut [Block]]; 2],
    ) {
        assert_eq!(zeros.len(), sums.len(), "planes of both kinds");
        self.add_planes::<true>(cpu, call, delta, rows, [zeros, sums]);
    }

    fn add_planes<const PAIRS: bool>(
        &self,
        cpu: Cpu,
        call: (u64, u32),
        delta: Block,
        rows: &[Block],
        planes: [&mut [&mut [Block]]; 2],
    ) {
        let blocks = rows.len().div_ceil(BITS);
        let mut all = planes.iter().flat_map(|planes| planes.iter());
        let filled = all.all(|plane| plane.len() == blocks) && planes[0].len() <= BITS;
        assert!(filled, "up to 128 planes of a block for 128 rows");
        let mut keys = self.keys(cpu, (call, PART), rows);
        match planes[0].len() {
            ..=2 => masked::<PAIRS, 2>(cpu, &mut keys, delta, rows, planes),
            3..=4 => masked::<PAIRS, 4>(cpu, &mut keys, delta, rows, planes),
            5..=MASKED => masked::<PAIRS, MASKED>(cpu, &mut keys, delta, rows, planes),
            _ => transposed::<PAIRS>(cpu, &mut keys, delta, rows, planes),
        }
    }
}

/// Adds planes from masks, up to so many.
fn masked<const PAIRS: bool, const PLANES: usize>(
    cpu: Cpu,
    keys: &mut Keys,
    delta: Block,
    rows: &[Block],
    mut planes: [&mut [&mut [Block]]; 2],
) {
    for (number, rows) in rows.chunks(BITS).enumerate() {
        let hash = &keys.next();
        let bits = cpu.run(HashBits::<PAIRS, PLANES> { hash, delta, rows });
        for (bits, planes) in bits.iter().zip(&mut planes) {
            for (bits, plane) in bits.iter().zip(planes.iter_mut()) {
                plane[number] ^= *bits;
            }
        }
    }
}

/// Adds planes from whole hashes.
fn transposed<const PAIRS: bool>(
    cpu: Cpu,
    keys: &mut Keys,
    delta: Block,
    rows: &[Block],
    mut planes: [&mut [&mut [Block]]; 2],
) {
    let mut hashes = Zeroizing::new([[Block::ZERO; TOGETHER * BITS]; 2]);
    let mut columns = Zeroizing::new([Block::ZERO; TOGETHER * BITS]);
    for (number, rows) in rows.chunks(TOGETHER * BITS).enumerate() {
        for (key, rows) in rows.chunks(BITS).enumerate() {
            let hash = &keys.next();
            let [zeros, sums] = &mut *hashes;
            let out = [zeros, sums];
            cpu.run(HashSpread::<PAIRS> {
                hash,
                delta,
                rows,
                key,
                out,
            });
        }
        for (hashes, planes) in hashes.iter().zip(&mut planes) {
            if planes.is_empty() {
                continue;
            }
            transpose(cpu, hashes, &mut *columns);
            for (j, plane) in planes.iter_mut().enumerate() {
                let rest = (0..rows.len()).step_by(BITS);
                for (block, first) in plane[number * TOGETHER..].iter_mut().zip(rest) {
                    // Rows that pad a batch have hashes, too.
                    let kept = u128::MAX >> (BITS - BITS.min(rows.len() - first));
                    *block ^= columns[first + j] & Block::new(kept);
                }
            }
        }
    }
}

/// Hashes up to 128 rows to [`Spread`] hashes of key number `key`; with `PAIRS`, the sums with the
/// hashes of partners, too.
struct HashSpread<'a, const PAIRS: bool> {
    hash: &'a Prp,
    delta: Block,
    rows: &'a [Block],
    key: usize,
    out: [&'a mut Spread; 2],
}

impl<const PAIRS: bool> Kernel for HashSpread<'_, PAIRS> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, l: L) {
        let mut hash = self.hash.lanes(l);
        let mut tweak = Tweak::default();
        let delta = l.splat(self.delta);
        let batch = 2 * L::QUAD;
        let mut padded = [Block::ZERO; aes::MAX_BATCH];
        let [zeros, sums] = self.out;
        for (i, rows) in self.rows.chunks(batch).enumerate() {
            let tweaks = batch_tweaks(l, &hash, &mut tweak);
            let rows = if rows.len() == batch {
                rows
            } else {
                padded[..rows.len()].copy_from_slice(rows);
                &padded[..batch]
            };
            let mut labels = l.load_pair(rows);
            if !PAIRS {
                labels = hash.hash_one(l, tweaks, labels);
            }
            for quad in 0..2 {
                let mut both = [labels[quad]; 2];
                if PAIRS {
                    both = hash.hash_and_sum(l, tweaks[quad], delta, labels[quad]);
                }
                for m in 0..4 {
                    let row = i * batch + quad * L::QUAD + m * L::WIDTH;
                    let at = row * TOGETHER + self.key;
                    l.store_strided(&mut zeros[at..], TOGETHER, both[0][m]);
                    if PAIRS {
                        l.store_strided(&mut sums[at..], TOGETHER, both[1][m]);
                    }
                }
            }
        }
        padded.zeroize();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{drawn, values};

    #[test]
    fn planes_are_those_of_the_hashes_on_every_tier() {
        let delta = Block::new(0x1234_5678_9abc_def0_0fed_cba9_8765_4321);
        let (seed, call) = (Block::new(99), 7 << 33);
        let hash = BitHash::new(seed);
        let few = [(0, 2), (1, 1), (127, 8), (130, 3), (512, 2), (640, 7)];
        let many = [(129, 128), (2100, 9), (5000, 64)];
        for (count, width) in few.into_iter().chain(many) {
            let rows = drawn(count, 5);
            let blocks = count.div_ceil(BITS);
            let mut expected = [vec![vec![0; blocks]; width], vec![vec![0; blocks]; width]];
            for (i, row) in rows.iter().enumerate() {
                // By its definition: the hash of a row under the key of its 128.
                let (group, gate) = ((i / BITS) as u32, 0);
                let key = Tweak {
                    call,
                    row: group,
                    part: 2,
                    gate,
                };
                let prp = Prp::new(Cpu::best(), seed ^ key.block());
                let (row_number, none) = ((i % BITS) as u32, Tweak::default());
                let tweak = Tweak {
                    row: row_number,
                    ..none
                };
                let [zero, one] = [*row, *row ^ delta].map(|row| {
                    let mut hashed = [row];
                    prp.hash(Cpu::best(), tweak, &mut hashed);
                    hashed[0].value()
                });
                for j in 0..width {
                    // Of few planes each has another diagonal.
                    let at = if width > 8 { j } else { (i + 16 * j) % BITS };
                    let bit = |value: u128| (value >> at & 1) << (i % BITS);
                    expected[0][j][i / BITS] |= bit(zero);
                    expected[1][j][i / BITS] |= bit(zero ^ one);
                }
            }
            for cpu in Cpu::available() {
                let fresh = || vec![vec![Block::ONES; blocks]; width];
                let mut all = [fresh(), fresh(), fresh()];
                let [mut alone, mut zeros, mut sums] = all.each_mut().map(|planes| {
                    let slices = planes.iter_mut().map(|plane| &mut plane[..]);
                    slices.collect::<Vec<_>>()
                });
                hash.hash_planes(cpu, (call, 0), &rows, &mut alone);
                hash.hash_pair_planes(cpu, (call, 0), delta, &rows, [&mut zeros, &mut sums]);
                let found = all.map(|planes| {
                    // They are added to what was there.
                    let added =
                        |plane: Vec<Block>| values(&plane).iter().map(|bits| !bits).collect();
                    planes.into_iter().map(added).collect::<Vec<Vec<u128>>>()
                });
                let name = format!("{count} rows, {width} planes, {}", cpu.tier());
                assert!(found[0] == expected[0] && found[1] == expected[0], "{name}");
                assert!(found[2] == expected[1], "{name}");
            }
        }
    }
}
