//! Boolean and wide triples: products of bits, of which both directions add to the same shares.
//!
//! Rows of OTs are hashed as they come, so that they need not be kept.

use super::chunks::{CHUNK, chunks};
use super::{BegunIntegers, BooleanTriples, BothWays, WideTriples};
use crate::Result;
use crate::forms::{HashedReceiver, HashedSender, Hasher};
use crate::source::ahead::{AheadReceiver, AheadSender};
use crate::traits::{CotReceiver, CotSender, PACKED, SecondKeys, copy_bits, packed_blocks};
use sealane_block::Block;
use sealane_net::Mesh;
use std::cell::RefCell;
use std::ops::Range;
use zeroize::Zeroizing;

/// Kind of correlations of bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BitKind {
    /// [`BooleanTriples`].
    Boolean,
    /// [`WideTriples`] of so many products.
    Wide(usize),
}

/// Correlations of bits, which may be on their way.
pub enum BitTriples {
    /// Boolean triples.
    Boolean(BooleanTriples),
    /// Wide triples.
    Wide(WideTriples),
}

impl BitTriples {
    /// Shares of zeros and ones, as none of both directions has added to them.
    pub(super) fn empty(kind: BitKind, count: usize) -> BitTriples {
        let empty = || vec![Block::ZERO; packed_blocks(count)];
        match kind {
            BitKind::Boolean => BitTriples::Boolean(BooleanTriples {
                count,
                a: empty(),
                b: empty(),
                c: empty(),
            }),
            BitKind::Wide(width) => BitTriples::Wide(WideTriples {
                count,
                a: empty(),
                b: (0..width).map(|_| empty()).collect(),
                c: (0..width).map(|_| empty()).collect(),
            }),
        }
    }

    fn count(&self) -> usize {
        match self {
            BitTriples::Boolean(triples) => triples.count,
            BitTriples::Wide(triples) => triples.count,
        }
    }

    /// Where the choices of the receiver's direction go.
    fn choices(&mut self) -> &mut [Block] {
        match self {
            BitTriples::Boolean(triples) => &mut triples.b,
            BitTriples::Wide(triples) => &mut triples.a,
        }
    }

    /// Adds what rows of the receiver are hashed to.
    fn add_received(&mut self, hasher: &Hasher, place: Place, t: &[Block]) {
        let Place { call, blocks } = place;
        match self {
            BitTriples::Boolean(BooleanTriples { c, .. }) => {
                let mut keys = Zeroizing::new([Block::ZERO; CHUNK / PACKED]);
                let keys = &mut keys[..blocks.len()];
                hasher.bits(call, t, keys);
                add(&mut c[blocks], keys);
            }
            BitTriples::Wide(WideTriples { c, .. }) => {
                hasher.planes(call, t, &mut parts(c, blocks))
            }
        }
    }

    /// Adds what rows of the sender are hashed to, of both keys.
    fn add_sent(&mut self, hasher: &Hasher, place: Place, seconds: &SecondKeys, q: &[Block]) {
        let Place { call, blocks } = place;
        match self {
            BitTriples::Boolean(BooleanTriples { a, c, .. }) => {
                let mut zeros = Zeroizing::new([Block::ZERO; CHUNK / PACKED]);
                let zeros = &mut zeros[..blocks.len()];
                hasher.pair_bits(call, seconds, q, [zeros, &mut a[blocks.clone()]]);
                add(&mut c[blocks], zeros);
            }
            BitTriples::Wide(WideTriples { b, c, .. }) => {
                let (mut zeros, mut sums) = (parts(c, blocks.clone()), parts(b, blocks));
                hasher.pair_planes(call, seconds, q, [&mut zeros, &mut sums]);
            }
        }
    }

    /// Adds the products of the own factors, once both directions are there.
    fn finish(&mut self) {
        let multiply = |c: &mut [Block], a: &[Block], b: &[Block]| {
            for ((c, &a), &b) in c.iter_mut().zip(a).zip(b) {
                *c ^= a & b;
            }
        };
        match self {
            BitTriples::Boolean(BooleanTriples { a, b, c, .. }) => multiply(c, a, b),
            BitTriples::Wide(WideTriples { a, b, c, .. }) => {
                c.iter_mut().zip(b).for_each(|(c, b)| multiply(c, a, b));
            }
        }
    }
}

fn add(to: &mut [Block], of: &[Block]) {
    to.iter_mut().zip(of).for_each(|(to, of)| *to ^= *of);
}

/// These blocks of all planes.
fn parts(planes: &mut [Vec<Block>], blocks: Range<usize>) -> Vec<&mut [Block]> {
    let planes = planes.iter_mut();
    planes.map(|plane| &mut plane[blocks.clone()]).collect()
}

/// Where rows are hashed to: the call of a hash and the first key in it, and blocks of bits.
struct Place {
    call: (u64, u32),
    blocks: Range<usize>,
}

/// Rows of OTs on their way to a hash, which takes 128 with a key, and [`CHUNK`] in a call.
struct Feed {
    count: usize,
    /// Rows that are hashed.
    hashed: usize,
    call: u64,
    /// Rows that wait for others of their key.
    held: Zeroizing<Vec<Block>>,
}

impl Feed {
    fn new(count: usize) -> Feed {
        Feed {
            count,
            hashed: 0,
            call: 0,
            held: Zeroizing::new(Vec::with_capacity(PACKED)),
        }
    }

    /// Number of rows that have come.
    fn come(&self) -> usize {
        self.hashed + self.held.len()
    }

    /// Takes the next rows, no more than are missing. Calls `hash` with all that can be hashed.
    fn push(
        &mut self,
        hasher: &mut Hasher,
        mut rows: &[Block],
        mut hash: impl FnMut(&Hasher, Place, &[Block]),
    ) {
        while !rows.is_empty() {
            let missing = self.count - self.hashed;
            let key = missing.min(PACKED);
            let wait = !self.held.is_empty() || rows.len() < key;
            let some = if wait {
                rows.len().min(key - self.held.len())
            } else {
                // Whole keys, or all that are missing.
                let whole = match rows.len() {
                    all if all == missing => all,
                    all => all / PACKED * PACKED,
                };
                whole.min(CHUNK - self.hashed % CHUNK)
            };
            let (now, later) = rows.split_at(some);
            rows = later;
            if wait {
                self.held.extend_from_slice(now);
                if self.held.len() < key {
                    continue;
                }
            }
            let now = if wait { &self.held[..] } else { now };
            if self.hashed.is_multiple_of(CHUNK) {
                self.call = hasher.take_call();
            }
            let (first, group) = (self.hashed / PACKED, self.hashed % CHUNK / PACKED);
            let place = Place {
                call: (self.call, group as u32),
                blocks: first..first + packed_blocks(now.len()),
            };
            hash(hasher, place, now);
            self.hashed += now.len();
            self.held.clear();
        }
    }
}

/// Makes correlations of bits from any source.
pub(super) fn make<S: CotSender, R: CotReceiver>(
    both: &mut BothWays<S, R>,
    mesh: &mut Mesh,
    kind: BitKind,
    count: usize,
) -> Result<BitTriples> {
    // Both directions add to the same shares.
    let triples = RefCell::new(BitTriples::empty(kind, count));
    both.each_way(
        mesh,
        |sender, mesh| send(sender, mesh, &mut triples.borrow_mut()),
        |receiver, mesh| receive(receiver, mesh, &mut triples.borrow_mut()),
    )?;
    let mut triples = triples.into_inner();
    triples.finish();
    Ok(triples)
}

fn send<S: CotSender>(
    HashedSender { cot, hasher }: &mut HashedSender<S>,
    mesh: &mut Mesh,
    triples: &mut BitTriples,
) -> Result<()> {
    let count = triples.count();
    let (mut feed, mut scratch) = (Feed::new(count), Zeroizing::default());
    for (now, _) in chunks(0..count) {
        let (q, seconds) = cot.next_keys(mesh, now, &mut scratch)?;
        mesh.flush()?;
        feed.push(hasher, q, |hasher, place, q| {
            triples.add_sent(hasher, place, &seconds, q);
        });
    }
    Ok(())
}

fn receive<R: CotReceiver>(
    HashedReceiver { cot, hasher }: &mut HashedReceiver<R>,
    mesh: &mut Mesh,
    triples: &mut BitTriples,
) -> Result<()> {
    let count = triples.count();
    let (mut feed, mut scratch) = (Feed::new(count), Zeroizing::default());
    for (now, blocks) in chunks(0..count) {
        let t = cot.next_rows(mesh, now, &mut triples.choices()[blocks], &mut scratch)?;
        // The peer works on this chunk while this party is at the next one.
        mesh.flush()?;
        feed.push(hasher, t, |hasher, place, t| {
            triples.add_received(hasher, place, t);
        });
    }
    Ok(())
}

impl BothWays<AheadSender, AheadReceiver> {
    /// Makes `made` OTs as their receiver, and begins correlations of bits of the next ones, by
    /// kind and number, which so need no memory. [`send_bits`](BothWays::send_bits) ends them.
    /// Products that have begun take the OTs behind those.
    ///
    /// # Errors
    /// As [`CotReceiver::extend`].
    pub fn receive_bits(
        &mut self,
        mesh: &mut Mesh,
        made: usize,
        kinds: impl IntoIterator<Item = (BitKind, usize)>,
        begun: &mut BegunIntegers,
    ) -> Result<Vec<BitTriples>> {
        let HashedReceiver { cot, hasher } = &mut self.receiver;
        let kinds = kinds.into_iter();
        let mut all: Vec<_> = kinds
            .map(|(kind, count)| BitTriples::empty(kind, count))
            .collect();
        let mut feeds = Feeds::new(&all);
        let mut products: Vec<_> = begun.products().collect();
        let taken = feeds.taken + products.iter().map(|of| of.ots()).sum::<usize>();
        let mut fed = Ok(());
        cot.refill_through(mesh, made, taken, |choices, t| {
            let mut done = feeds.push(t, |feed, at, first, t| {
                let triples = &mut all[at];
                copy_bits(triples.choices(), feed.come(), choices, first, t.len());
                feed.push(hasher, t, |hasher, place, t| {
                    triples.add_received(hasher, place, t);
                });
            });
            for of in &mut products {
                let some = of.missing(1).min(t.len() - done);
                if fed.is_ok() {
                    fed = of.receive_rows(hasher, (choices, done), &t[done..][..some]);
                }
                done += some;
            }
        })?;
        fed.map(|()| all)
    }

    /// Makes `made` OTs as their sender, and ends correlations of bits that this party has begun,
    /// of the next ones. Products that have begun take the OTs behind those.
    ///
    /// # Errors
    /// As [`CotSender::extend`].
    pub fn send_bits(
        &mut self,
        mesh: &mut Mesh,
        made: usize,
        bits: &mut [BitTriples],
        begun: &mut BegunIntegers,
    ) -> Result<()> {
        let HashedSender { cot, hasher } = &mut self.sender;
        let mut feeds = Feeds::new(bits);
        let mut products: Vec<_> = begun.products().collect();
        let taken = feeds.taken + products.iter().map(|of| of.ots()).sum::<usize>();
        let mut fed = Ok(());
        cot.refill_through(mesh, made, taken, |seconds, q| {
            let mut done = feeds.push(q, |feed, at, _, q| {
                feed.push(hasher, q, |hasher, place, q| {
                    bits[at].add_sent(hasher, place, seconds, q);
                });
            });
            for of in &mut products {
                let some = of.missing(0).min(q.len() - done);
                if fed.is_ok() {
                    fed = of.send_rows(hasher, seconds, &q[done..][..some]);
                }
                done += some;
            }
        })?;
        bits.iter_mut().for_each(BitTriples::finish);
        fed
    }
}

/// Rows on their way to the hashes of several correlations, one after the other.
struct Feeds {
    all: Vec<Feed>,
    at: usize,
    /// Number of rows that all take.
    taken: usize,
}

impl Feeds {
    fn new(all: &[BitTriples]) -> Feeds {
        Feeds {
            all: all
                .iter()
                .map(|triples| Feed::new(triples.count()))
                .collect(),
            at: 0,
            taken: all.iter().map(BitTriples::count).sum(),
        }
    }

    /// Calls `each` with the next rows of each that takes some: it, its number, and the number of
    /// the first row among these. Returns the number of rows that are taken.
    fn push(
        &mut self,
        rows: &[Block],
        mut each: impl FnMut(&mut Feed, usize, usize, &[Block]),
    ) -> usize {
        let mut done = 0;
        while done < rows.len()
            && let Some(feed) = self.all.get_mut(self.at)
        {
            let some = (feed.count - feed.come()).min(rows.len() - done);
            if some == 0 {
                self.at += 1;
                continue;
            }
            each(feed, self.at, done, &rows[done..][..some]);
            done += some;
        }
        done
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sealane_block::{Coins, Cpu};
    use sealane_net::SessionId;
    use sealane_parties::PartyId;

    fn values(blocks: &[Block]) -> Vec<u128> {
        blocks.iter().map(|block| block.value()).collect()
    }

    #[test]
    fn rows_are_hashed_alike_in_whichever_parts_they_come() {
        let mut rows = vec![Block::ZERO; 2 * CHUNK + 300];
        Coins::danger_fixed_seed(1).secret("rows").fill(&mut rows);
        let (session, parties) = (SessionId::new(&[1; 32], &[]), [0, 1].map(PartyId));
        let hashed = |kind: BitKind, part: usize| {
            let mut hasher = Hasher::new(Cpu::best(), session, parties[0], parties[1], "parts");
            let mut triples = BitTriples::empty(kind, rows.len());
            let mut feed = Feed::new(rows.len());
            for rows in rows.chunks(part) {
                feed.push(&mut hasher, rows, |hasher, place, t| {
                    triples.add_received(hasher, place, t);
                });
            }
            assert_eq!((feed.come(), feed.hashed), (rows.len(), rows.len()));
            // Another call takes another number.
            let next = hasher.take_call();
            let c = match &triples {
                BitTriples::Boolean(triples) => triples.c.clone(),
                BitTriples::Wide(triples) => triples.c.concat(),
            };
            (values(&c), next)
        };
        for kind in [BitKind::Boolean, BitKind::Wide(2)] {
            let whole = hashed(kind, CHUNK);
            for part in [1, 127, 128, 3968, 5000, rows.len()] {
                let parts = hashed(kind, part);
                assert!(parts == whole, "{kind:?} in parts of {part}");
            }
        }
    }
}
