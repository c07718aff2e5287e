//! Products of a batch: leaky products in layers, checked together, and combined in buckets under
//! cyclic shifts that nobody knew before.
//!
//! Wang, Ranellucci, Katz ("Authenticated Garbling and Efficient Maliciously Secure Two-Party
//! Computation", CCS 2017, section 4), with the leaky products of `leaky` and shifts as their
//! permutations. A batch of `n` products in buckets of `B` has `B` layers of `n` items:
//!
//! | flight | both ways at once | bytes, each way |
//! |---|---|---|
//! | 1 | correlated OTs, and their check; commitment to a coin | 32 for the latter |
//! | 2 | rows of all layers | `6 B n` |
//! | 3 | shares of `d = x y ^ r` | `ceil(B n / 8)` |
//! | 4 | digest of all that was sent; commitment to the digest of all `L` | 32, 32 |
//! | 5 | openings of that digest, and of the coin | 64, 64 |
//! | 6 | shares of `e = y_1[g] ^ y_k[g + s_k]`, with MACs | `ceil((B - 1) n / 8) + 16` |
//!
//! The coin gives shifts `s_2 .. s_B` (`s_1` is 0). Bucket `g` has item `g + s_k` of each layer
//! `k`, modulo `n`, and with `[z] = [r] ^ d` it becomes
//!
//! ```text
//! [X] = sum of [x_k]    [Y] = [y_1]    [Z] = sum of [z_k] ^ e_k [x_k]
//! ```
//!
//! Both have read all rows and committed to their digests before either opens its coin, so which
//! rows have errors, and what has been guessed, is fixed before anybody knows a shift.
//!
//! **Security.** One party that deviates learns `x_k` of an item at most where its row has an
//! error, and passes with 1/2 for each of these rows. `X` of a bucket stays unknown unless all `B`
//! of its items leaked. With `m_k` errors in layer `k` this happens in some bucket with at most
//! `m_1 .. m_B n^-(B - 1) 2^-(m_1 + .. + m_B)`, which is largest for `m_k` of 1: `2^-B n^-(B - 1)`.
//! [`Shape`] has it below `2^-41`. Each batch that is attacked without success passes with 1/8 at
//! most, so all batches of a run are below `2^-40`. A false `d` passes with `2^-46`, and a false
//! `e` with that of a sum of MACs; without these, a false `e` would make wrong products unnoticed.

use super::leaky::{BITS, Layers, Leaky, Place, ROW_BYTES};
use crate::bits::{add_bits, bytes_of, spread, whole};
use crate::common::{self, compare};
use crate::sums::{Challenges, SUM_BYTES};
use sealane_block::{Block, Coins, Nonce, terms};
use sealane_net::{Mesh, SessionId};
use sealane_parties::PartyId;
use sealane_party::{Committed, Equality, Purpose, Result, Toss, check_digests, send_digests};
use zeroize::Zeroizing;

/// Buckets of a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Leaky products of which one is made, two at least.
    pub bucket: usize,
    /// Products that are made, fewer than `2^32`.
    pub products: usize,
}

impl Shape {
    /// Authenticated bits that a batch takes.
    pub const fn bits(self) -> usize {
        BITS * self.items()
    }

    /// Leaky products of a batch.
    pub(crate) const fn items(self) -> usize {
        self.bucket * self.products
    }

    /// Bytes of its messages each way, flight by flight, but for those of OTs.
    pub(crate) const fn flights(self) -> [u64; 6] {
        let (items, opened) = (self.items() as u64, self.items() - self.products);
        [
            sealane_party::COMMITMENT_BYTES,
            ROW_BYTES as u64 * items,
            bytes_of(items),
            sealane_party::DIGEST_BYTES + sealane_party::COMMITMENT_BYTES,
            2 * sealane_party::OPENING_BYTES,
            bytes_of(opened as u64) + SUM_BYTES,
        ]
    }
}

/// The purpose of the coin, or of the equality, of a batch.
fn purpose(name: &'static str, number: u64) -> Purpose {
    Purpose {
        name,
        number,
        check: common::Place::Products.check(),
    }
}

/// Begins the coin of a batch: a commitment, which crosses with its OTs.
pub(crate) fn toss(
    number: u64,
    peer: PartyId,
    coins: &mut Coins,
    mesh: &mut Mesh,
) -> Result<Toss<Committed>> {
    Toss::commit(purpose("auth: shifts", number), &[peer], coins, mesh)
}

/// One party of a batch, whose OTs have been made and checked.
pub(crate) struct Making<'a> {
    pub place: Place<'a>,
    pub challenges: &'a Challenges,
    pub session: SessionId,
    pub peer: PartyId,
    pub bits: Layers<'a>,
    /// Rows to which a test adds an error, by layer and item.
    #[cfg(test)]
    pub errors: &'a [(usize, usize)],
}

/// MACs and keys of `X`, `Y` and `Z`.
pub(crate) type Made<'a> = [[&'a mut [Block]; 2]; 3];

/// Products of which terms are added together: what they take fits the first cache.
const RUN: usize = 1 << 8;

impl Making<'_> {
    /// Makes leaky products and checks them, with `leaky` as room for their parts: returns `d` of
    /// each, and the shifts of the layers.
    ///
    /// # Errors
    /// The network fails, or the other party deviates: then everything that comes from either
    /// offset has to be destroyed.
    pub(crate) fn checked(
        &self,
        toss: Toss<Committed>,
        leaky: &mut Leaky,
        coins: &mut Coins,
        mesh: &mut Mesh,
    ) -> Result<(Zeroizing<Vec<u8>>, Vec<usize>)> {
        let (peer, number) = (self.peer, self.place.number);
        let toss = toss.hear(mesh)?;
        self.send_rows(leaky, mesh)?;
        mesh.flush()?;
        self.take_rows(leaky, mesh)?;
        let own = self.place.opened(leaky);
        mesh.send(peer, &own)?;
        mesh.flush()?;
        let mut opened = Zeroizing::new(vec![0; own.len()]);
        mesh.recv(peer, &mut opened)?;
        whole(&opened, self.place.shape.items(), peer)?;
        add(&mut opened, &own);
        let digest = self.place.digest(leaky, &opened);
        send_digests(mesh, [peer])?;
        let equality = purpose("auth: products", number);
        let equality = Equality::commit(equality, &digest, peer, coins, mesh)?;
        mesh.flush()?;
        check_digests(mesh, [peer])?;
        let equality = equality.hear(mesh)?.open(mesh)?;
        let toss = toss.open(mesh)?;
        mesh.flush()?;
        // All of a flight is read before the verdict.
        let (equal, coin) = (equality.finish(mesh), toss.finish(mesh));
        equal?;
        Ok((opened, self.shifts(coin?)))
    }

    #[cfg(not(test))]
    fn send_rows(&self, leaky: &mut Leaky, mesh: &mut Mesh) -> Result<()> {
        let send = |rows: &[_]| mesh.send(self.peer, rows.as_flattened());
        Ok(self.place.rows(self.bits, leaky, send)?)
    }

    /// The same, with errors.
    #[cfg(test)]
    fn send_rows(&self, leaky: &mut Leaky, mesh: &mut Mesh) -> Result<()> {
        let mut all = Vec::new();
        self.place.rows(self.bits, leaky, |rows| {
            all.extend_from_slice(rows);
            Ok::<(), sealane_party::Fault>(())
        })?;
        for (layer, item) in self.errors {
            all[layer * self.place.shape.products + item][0] ^= 4;
        }
        Ok(mesh.send(self.peer, all.as_flattened())?)
    }

    fn take_rows(&self, leaky: &mut Leaky, mesh: &mut Mesh) -> Result<()> {
        let items = self.place.shape.items();
        let mut rows = vec![[0; ROW_BYTES]; items.min(1 << 11)];
        for first in (0..items).step_by(rows.len().max(1)) {
            let count = rows.len().min(items - first);
            let rows = &mut rows[..count];
            mesh.recv(self.peer, rows.as_flattened_mut())?;
            self.place.take_rows(self.bits, leaky, first, rows);
        }
        Ok(())
    }

    /// The shift of each layer: the first is 0, all others are uniform.
    pub(crate) fn shifts(&self, coin: Nonce) -> Vec<usize> {
        let Shape { bucket, products } = self.place.shape;
        let mut random = coin.stream("auth: shifts", self.session.as_bytes());
        let below = (products as u64).next_power_of_two() - 1;
        let shift = |layer: usize| {
            if layer == 0 {
                return 0;
            }
            loop {
                let drawn = (random.block().value() as u64 & below) as usize;
                if drawn < products {
                    return drawn;
                }
            }
        };
        (0..bucket).map(shift).collect()
    }

    /// Opens all `e`, those of the second layer first, with MACs.
    pub(crate) fn differences(
        &self,
        shifts: &[usize],
        mesh: &mut Mesh,
    ) -> Result<Zeroizing<Vec<u8>>> {
        let Shape { bucket, products } = self.place.shape;
        let count = (bucket - 1) * products;
        let mut own = Zeroizing::new(vec![0; count.div_ceil(8)]);
        for (layer, shift) in shifts.iter().enumerate().skip(1) {
            let at = (layer - 1) * products;
            for (layer, shift) in [(0, 0), (layer, *shift)] {
                let from = self.bits.at(layer, 1);
                self.add_turned_bits(&mut own, at, self.bits.shares, (from, shift));
            }
        }
        let sum = |garbler: bool, bits: &[u8]| {
            let place = common::Place::Products as u8;
            (self.challenges).sum(place, self.place.number, usize::from(!garbler), bits)
        };
        let mut proof = sum(self.place.garbles, &own);
        self.each_difference(0, shifts, |macs, _| proof.add(macs));
        mesh.send(self.peer, &own)?;
        mesh.send(self.peer, &proof.value().to_bytes())?;
        mesh.flush()?;
        let mut theirs = vec![0; own.len()];
        let mut proof = [0; SUM_BYTES as usize];
        mesh.recv(self.peer, &mut theirs)?;
        mesh.recv(self.peer, &mut proof)?;
        whole(&theirs, count, self.peer)?;
        let mut expected = sum(!self.place.garbles, &theirs);
        self.each_difference(1, shifts, |keys, at| {
            expected.add_keys(keys, self.place.offset, &theirs, at);
        });
        let place = common::Place::Products;
        compare(Block::from_bytes(proof), expected.value(), self.peer, place)?;
        add(&mut own, &theirs);
        Ok(own)
    }

    /// Calls `each` with the MACs (`side` is 0) or keys (1) of all differences of factors in order,
    /// some at a time, and with the number of the first of them.
    fn each_difference(
        &self,
        side: usize,
        shifts: &[usize],
        mut each: impl FnMut(&[Block], usize),
    ) {
        let products = self.place.shape.products;
        let mut sums = Zeroizing::new([Block::ZERO; RUN]);
        let factors = |layer| self.bits.planes(layer, 1)[side];
        for (layer, shift) in shifts.iter().enumerate().skip(1) {
            for first in (0..products).step_by(RUN) {
                let count = RUN.min(products - first);
                let sums = &mut sums[..count];
                turned(factors(layer), first + shift, sums);
                terms::add(self.place.cpu, sums, &factors(0)[first..][..count]);
                each(sums, (layer - 1) * products + first);
            }
        }
    }

    /// The products of all buckets.
    pub(crate) fn combine(
        &self,
        shifts: &[usize],
        opened: &[u8],
        differences: &[u8],
        to: &mut Made<'_>,
    ) {
        let products = self.place.shape.products;
        // A public bit is added to the garbler's share, and the evaluator's key follows.
        let one = if self.place.garbles {
            [Block::new(1), Block::ZERO]
        } else {
            [Block::ZERO, self.place.offset ^ Block::new(1)]
        };
        // All `d` of a bucket take the same place in `Z`.
        let mut public = Zeroizing::new(vec![0; products.div_ceil(8)]);
        for (layer, shift) in shifts.iter().enumerate() {
            self.add_turned_bits(&mut public, 0, opened, (layer * products, *shift));
        }
        let cpu = self.place.cpu;
        let [mut choices, mut term] = [(); 2].map(|()| Zeroizing::new([Block::ZERO; RUN]));
        for first in (0..products).step_by(RUN) {
            let count = RUN.min(products - first);
            let (choices, term) = (&mut choices[..count], &mut term[..count]);
            for (layer, shift) in shifts.iter().enumerate() {
                match layer.checked_sub(1) {
                    None => spread(&public, first, choices),
                    Some(after) => spread(differences, after * products + first, choices),
                }
                for side in 0..2 {
                    let [x, y, z] = &mut *to;
                    let [x, y, z] = [x, y, z].map(|of| &mut of[side][first..][..count]);
                    let plane = |of| self.bits.planes(layer, of)[side];
                    if layer == 0 {
                        x.copy_from_slice(&plane(0)[first..][..count]);
                        y.copy_from_slice(&plane(1)[first..][..count]);
                        z.copy_from_slice(&plane(2)[first..][..count]);
                        terms::add_one_where(cpu, z, one[side], choices);
                        continue;
                    }
                    turned(plane(0), first + shift, term);
                    terms::add(cpu, x, term);
                    terms::add_where(cpu, z, term, choices);
                    turned(plane(2), first + shift, term);
                    terms::add(cpu, z, term);
                }
            }
        }
    }

    /// Adds a layer's packed bits, which begin at `from`, turned by its shift, to those from bit
    /// `at` on.
    fn add_turned_bits(
        &self,
        to: &mut [u8],
        at: usize,
        bits: &[u8],
        (from, shift): (usize, usize),
    ) {
        let later = self.place.shape.products - shift;
        add_bits(to, at, bits, from + shift, later);
        add_bits(to, at + later, bits, from, shift);
    }
}

/// Copies the blocks of a layer from one on, and from the first one behind its end.
fn turned(plane: &[Block], from: usize, to: &mut [Block]) {
    // Place and shift are smaller than the layer is long.
    let from = from - if from >= plane.len() { plane.len() } else { 0 };
    let (before, behind) = to.split_at_mut(to.len().min(plane.len() - from));
    before.copy_from_slice(&plane[from..][..before.len()]);
    behind.copy_from_slice(&plane[..behind.len()]);
}

/// Adds packed bits to others.
fn add(to: &mut [u8], bits: &[u8]) {
    to.iter_mut().zip(bits).for_each(|(to, bits)| *to ^= bits);
}
