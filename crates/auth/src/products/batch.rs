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

use super::leaky::{BITS, Leaky, Place, ROW_BYTES};
use crate::bits::{Bits, bit, bytes_of, pack, whole};
use crate::common::{self, compare};
use crate::sums::{Challenges, SUM_BYTES};
use sealane_block::{Block, Coins, Nonce};
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
    Toss::commit(purpose("auth: shifts", number), peer, coins, mesh)
}

/// One party of a batch, whose OTs have been made and checked.
pub(crate) struct Making<'a> {
    pub place: Place<'a>,
    pub challenges: &'a Challenges,
    pub session: SessionId,
    pub peer: PartyId,
    /// The bits of all layers first: `x`, `y`, `r` of each.
    pub bits: &'a Bits,
    /// Rows to which a test adds an error, by layer and item.
    #[cfg(test)]
    pub errors: &'a [(usize, usize)],
}

impl Making<'_> {
    /// Makes the products.
    ///
    /// # Errors
    /// The network fails, or the other party deviates: then everything that comes from either
    /// offset has to be destroyed.
    pub fn run(
        &self,
        toss: Toss<Committed>,
        coins: &mut Coins,
        mesh: &mut Mesh,
    ) -> Result<[Bits; 3]> {
        let (opened, shifts) = self.checked(toss, coins, mesh)?;
        let differences = self.differences(&shifts, mesh)?;
        Ok(self.combine(&shifts, &opened, &differences))
    }

    /// Makes leaky products and checks them: returns `d` of each, and the shifts of the layers.
    pub(crate) fn checked(
        &self,
        toss: Toss<Committed>,
        coins: &mut Coins,
        mesh: &mut Mesh,
    ) -> Result<(Zeroizing<Vec<u8>>, Vec<usize>)> {
        let (peer, number) = (self.peer, self.place.number);
        let toss = toss.hear(mesh)?;
        let mut leaky = self.send_rows(mesh)?;
        mesh.flush()?;
        self.take_rows(&mut leaky, mesh)?;
        let own = self.place.opened(&leaky);
        mesh.send(peer, &own)?;
        mesh.flush()?;
        let mut opened = Zeroizing::new(vec![0; own.len()]);
        mesh.recv(peer, &mut opened)?;
        whole(&opened, self.place.shape.items(), peer)?;
        add(&mut opened, &own);
        let digest = self.place.digest(&leaky, &opened);
        drop(leaky);
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
    fn send_rows(&self, mesh: &mut Mesh) -> Result<Leaky> {
        Ok((self.place).rows(self.bits, |rows| mesh.send(self.peer, rows))?)
    }

    /// The same, with errors.
    #[cfg(test)]
    fn send_rows(&self, mesh: &mut Mesh) -> Result<Leaky> {
        let mut all = Vec::new();
        let leaky = self.place.rows(self.bits, |rows| {
            all.extend_from_slice(rows);
            Ok::<(), sealane_party::Fault>(())
        })?;
        for (layer, item) in self.errors {
            all[ROW_BYTES * (layer * self.place.shape.products + item)] ^= 4;
        }
        mesh.send(self.peer, &all)?;
        Ok(leaky)
    }

    fn take_rows(&self, leaky: &mut Leaky, mesh: &mut Mesh) -> Result<()> {
        let items = self.place.shape.items();
        let mut rows = vec![0; ROW_BYTES << 12];
        let mut first = 0;
        while first < items {
            let count = (rows.len() / ROW_BYTES).min(items - first);
            let rows = &mut rows[..count * ROW_BYTES];
            mesh.recv(self.peer, rows)?;
            self.place.take_rows(self.bits, leaky, first, rows);
            first += count;
        }
        Ok(())
    }

    /// The shift of each layer: the first is 0, all others are uniform.
    fn shifts(&self, coin: Nonce) -> Vec<usize> {
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

    /// Where bit `of` of item `at` of a layer lies.
    fn at(&self, layer: usize, of: usize, at: usize) -> usize {
        (BITS * layer + of) * self.place.shape.products + at
    }

    /// The place of the item of each layer in a bucket, among those of its layer.
    fn item(&self, shifts: &[usize], layer: usize, bucket: usize) -> usize {
        // Both are smaller than the number of products.
        let at = bucket + shifts[layer];
        at - if at >= self.place.shape.products {
            self.place.shape.products
        } else {
            0
        }
    }

    /// Opens all `e`, those of the second layer first, with MACs.
    pub(crate) fn differences(
        &self,
        shifts: &[usize],
        mesh: &mut Mesh,
    ) -> Result<Zeroizing<Vec<u8>>> {
        let Shape { bucket, products } = self.place.shape;
        let pairs = || {
            let layers = (1..bucket).flat_map(|layer| (0..products).map(move |g| (layer, g)));
            layers.map(|(layer, g)| {
                [
                    self.at(0, 1, g),
                    self.at(layer, 1, self.item(shifts, layer, g)),
                ]
            })
        };
        let count = (bucket - 1) * products;
        let sum = |garbler, bits: &[u8]| {
            let place = common::Place::Products as u8;
            (self.challenges).sum(place, self.place.number, garbler, bits)
        };
        let macs = || pairs().map(|[one, other]| self.bits.mac[one] ^ self.bits.mac[other]);
        let shares = Zeroizing::new(macs().map(|mac| mac.lsb()).collect::<Vec<_>>());
        let mut own = pack(shares.iter().copied());
        let proof = sum(self.place.garbles, &own).add_all(macs()).value();
        mesh.send(self.peer, &own)?;
        mesh.send(self.peer, &proof.to_bytes())?;
        mesh.flush()?;
        let mut theirs = vec![0; own.len()];
        let mut proof = [0; SUM_BYTES as usize];
        mesh.recv(self.peer, &mut theirs)?;
        mesh.recv(self.peer, &mut proof)?;
        whole(&theirs, count, self.peer)?;
        let keys = pairs().enumerate().map(|(at, [one, other])| {
            let key = self.bits.key[one] ^ self.bits.key[other];
            key ^ self.place.offset.masked(bit(&theirs, at))
        });
        let expected = sum(!self.place.garbles, &theirs).add_all(keys).value();
        let place = common::Place::Products;
        compare(Block::from_bytes(proof), expected, self.peer, place)?;
        add(&mut own, &theirs);
        Ok(own)
    }

    /// The products of all buckets.
    pub(crate) fn combine(&self, shifts: &[usize], opened: &[u8], differences: &[u8]) -> [Bits; 3] {
        let Shape { bucket, products } = self.place.shape;
        // A public bit is added to the garbler's share, and the evaluator's key follows.
        let one = if self.place.garbles {
            [Block::new(1), Block::ZERO]
        } else {
            [Block::ZERO, self.place.offset ^ Block::new(1)]
        };
        let sums = |of: fn(&Bits) -> &Vec<Block>, one: Block| {
            let all = of(self.bits);
            let mut made = [(); 3].map(|()| Vec::with_capacity(products));
            for g in 0..products {
                let (mut x, mut z) = (Block::ZERO, Block::ZERO);
                for layer in 0..bucket {
                    let item = self.item(shifts, layer, g);
                    let factor = all[self.at(layer, 0, item)];
                    x ^= factor;
                    z ^= all[self.at(layer, 2, item)];
                    z ^= one.masked(bit(opened, layer * products + item));
                    if let Some(after) = layer.checked_sub(1) {
                        z ^= factor.masked(bit(differences, after * products + g));
                    }
                }
                let all = [x, all[self.at(0, 1, g)], z];
                made.iter_mut()
                    .zip(all)
                    .for_each(|(of, block)| of.push(block));
            }
            made
        };
        let [macs, keys] = [
            sums(|bits| &bits.mac, one[0]),
            sums(|bits| &bits.key, one[1]),
        ];
        let mut both = macs.into_iter().zip(keys);
        [(); 3].map(|()| {
            let (mac, key) = both.next().expect("three of both");
            Bits { mac, key }
        })
    }
}

/// Adds packed bits to others.
fn add(to: &mut [u8], bits: &[u8]) {
    to.iter_mut().zip(bits).for_each(|(to, bits)| *to ^= bits);
}
