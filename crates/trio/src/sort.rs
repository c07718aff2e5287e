//! Stable sort of rows by a key of bits, from the lowest bits to the highest: radix sort.
//!
//! A pass takes two bits of the key, or one. Rows move to the places that these give them, and
//! those of equal bits stay in order (Chida, Hamada, Ikarashi, Kikuchi, Kiribuchi, Pinkas, "An
//! Efficient Secure Three-Party Sorting Protocol with an Honest Majority", ePrint 2019/695;
//! Asharov, Hamada, Ikarashi, Kikuchi, Nof, Pinkas, Takahashi, Tomida, "Efficient Secure
//! Three-Party Sorting with Applications to Data Analysis and Heavy Hitters", CCS 2022):
//!
//! | flights | |
//! |---|---|
//! | 2 | the bits become integers modulo `2^k`, which has a number for each row |
//! | 1 | two bits: their product; the four cases of a row follow by sums |
//! | 1 | the place of a row: the inner product of its cases and places for each, which are sums |
//! | 3 | rows and places are shuffled, and the places opened: then all parties move the rows |
//!
//! The rows themselves move in each pass, all columns together. Opened places are a permutation
//! after a random order that no party knows, so they are a random permutation whatever the rows
//! are.

use crate::Share;
use crate::arrive::{Arriving, recv, send};
use crate::convert::{Inject, Weighed};
use crate::order::{MOST_ROWS, Order, Rows, planes_of_rows, rows_of_planes};
use crate::product::cross;
use crate::roles::Computing;
use crate::shuffle::{ShuffleProgress, Shuffling};
use sealane_net::Mesh;
use sealane_party::bits::{Writer, words_for};
use sealane_party::{Body, Fault, Form, KeyBit, Parts, Planes, Result, Shares};

/// Bits of the key that a pass takes at most.
pub(crate) const BITS_A_PASS: usize = 2;

/// Bits of the numbers of so many rows, at least one.
pub(crate) fn place_bits(rows: u64) -> u32 {
    u64::BITS - rows.saturating_sub(1).max(1).leading_zeros()
}

/// A sort between two flights.
pub(crate) struct Sorting {
    count: usize,
    bits: usize,
    /// Both components of all rows, row by row.
    rows: [Planes<u64>; 2],
    /// The bits of the key that are left, the next one last.
    key: Vec<KeyBit>,
    stage: Stage,
}

/// Messages in transit.
enum Stage {
    /// Nothing: a pass begins.
    Idle,
    Inject(Inject),
    Weighed(Weighed),
    /// Two bits, and their product.
    Both([Planes<u64>; 2], Arriving),
    /// This party's part of the places: those of roles 0 and 1 make their sum.
    Place(Planes<u64>),
    Shuffle(Shuffling),
}

/// Progress of a sort.
pub(crate) enum SortProgress {
    More(Box<Sorting>),
    Done(Share),
}

#[cfg(test)]
impl Sorting {
    /// This party's part of the places of a pass, if they are in transit.
    pub(crate) fn places(self: Box<Self>) -> Result<Planes<u64>, Box<Sorting>> {
        match self.stage {
            Stage::Place(part) => Ok(part),
            _ => Err(self),
        }
    }
}

/// Both parts of the rows of a share, at `most` so many, which a sort takes with this key.
pub(crate) fn rows_of(share: &Share, key: &[KeyBit], most: u64) -> Result<[Planes<u64>; 2]> {
    let (count, bits) = (share.elements(), share.planes());
    if count as u64 > most || key.iter().any(|bit| bit.plane >= bits) {
        return Err(Fault::internal("a key or rows that no sort takes"));
    }
    let parts = Form::bits(bits, count).parts(share)?;
    Ok(match parts {
        Some(parts) => parts.map(|planes| rows_of_planes(count, bits, planes)),
        // At a party with a role, a shape alone is zero.
        None => [(); 2].map(|()| Rows::bits(count, bits).form.zeros()),
    })
}

impl Computing {
    /// Begins a sort.
    pub(crate) fn sort(
        &mut self,
        share: &Share,
        key: &[KeyBit],
        mesh: &mut Mesh,
    ) -> Result<SortProgress> {
        let (count, bits) = (share.elements(), share.planes());
        let rows = rows_of(share, key, MOST_ROWS)?;
        let sorting = Sorting {
            count,
            bits,
            rows,
            key: key.iter().rev().copied().collect(),
            stage: Stage::Idle,
        };
        self.pass(Box::new(sorting), mesh)
    }

    /// Reads the flight that is due and writes the next one.
    pub(crate) fn advance_sort(
        &mut self,
        mut sorting: Box<Sorting>,
        mesh: &mut Mesh,
    ) -> Result<SortProgress> {
        let (k, count) = (place_bits(sorting.count as u64) as usize, sorting.count);
        sorting.stage = match std::mem::replace(&mut sorting.stage, Stage::Idle) {
            Stage::Idle => return Err(Fault::internal("a sort that did not begin")),
            Stage::Inject(inject) => Stage::Weighed(self.weigh(inject, mesh)?),
            Stage::Weighed(weighed) => {
                let bits = components(weighed.finish(mesh)?)?;
                if bits[0].data().len() == count {
                    self.places(count, k, &bits, None, mesh)?
                } else {
                    let form = Form::ring(k, 1, count);
                    let low = bits.each_ref().map(|bits| &bits.data()[..count]);
                    let high = bits.each_ref().map(|bits| &bits.data()[count..]);
                    let product = self.reshare(form, cross(form, low, high), mesh)?;
                    Stage::Both(bits, product)
                }
            }
            Stage::Both(bits, product) => {
                let both = product.finish(mesh)?;
                self.places(count, k, &bits, Some(&both), mesh)?
            }
            Stage::Place(part) => {
                let form = Form::ring(k, 1, count);
                let part = self.end_places(form, part, mesh)?;
                let form = Rows::bits(count, sorting.bits);
                // Nothing reads them again.
                let nothing = [(); 2].map(|()| Form::bits(0, 0).zeros());
                let rows = std::mem::replace(&mut sorting.rows, nothing);
                let hidden = (form, rows.each_ref().map(Planes::data));
                let places = (Rows::ring(k, 1, count), part.data());
                Stage::Shuffle(self.shuffle(count, &[hidden], Some(places), mesh)?)
            }
            Stage::Shuffle(shuffling) => match self.advance_shuffle(shuffling, mesh)? {
                ShuffleProgress::More(shuffling) => Stage::Shuffle(shuffling),
                ShuffleProgress::Done(hidden, places) => {
                    let places = places.ok_or_else(lost)?;
                    let order = Order::to_places(places.data())?;
                    let shuffled = hidden.into_iter().next().ok_or_else(lost)?;
                    let rows = Rows::bits(count, sorting.bits);
                    sorting.rows = shuffled.map(|part| order.of_rows(rows, part.data()));
                    return self.pass(sorting, mesh);
                }
            },
        };
        Ok(SortProgress::More(sorting))
    }

    /// Begins the next pass, or ends the sort.
    fn pass(&mut self, mut sorting: Box<Sorting>, mesh: &mut Mesh) -> Result<SortProgress> {
        let (count, bits) = (sorting.count, sorting.bits);
        let left = sorting.key.len();
        if count < 2 || left == 0 {
            let form = Form::bits(bits, count);
            let planes = sorting.rows.each_ref();
            let planes = planes.map(|rows| planes_of_rows(count, bits, rows.data()));
            return Ok(SortProgress::Done(form.share(planes)));
        }
        let mut taken = sorting.key.split_off(left - left.min(BITS_A_PASS));
        taken.reverse();
        let form = Form::bits(1, taken.len() * count);
        let columns = [0, 1].map(|place| {
            // Component 0 holds what is public: the ones of bits that are inverted.
            let public = self.role_index.place_of(0) == Some(place);
            let rows = sorting.rows[place].data();
            Planes::new(1, form.words(), column(count, bits, rows, &taken, public))
        });
        let k = place_bits(count as u64) as usize;
        let inject = self.inject(k, 1, false, &form.share(columns), mesh)?;
        sorting.stage = Stage::Inject(inject);
        Ok(SortProgress::More(sorting))
    }

    /// Begins the inner product that gives each row its place. `bits` are one or two integers a
    /// row, the lower bit first; `both` is the product of two.
    ///
    /// The three summands of these products need not become components again: the one of role 2
    /// goes to role 1, with a mask that roles 2 and 0 know and role 0 adds.
    fn places(
        &mut self,
        count: usize,
        k: usize,
        bits: &[Planes<u64>; 2],
        both: Option<&[Planes<u64>; 2]>,
        mesh: &mut Mesh,
    ) -> Result<Stage> {
        let (role_index, form) = (self.role_index, Form::ring(k, 1, count));
        let cases = [0, 1].map(|place| Cases {
            low: &bits[place].data()[..count],
            high: both.map(|both| (&bits[place].data()[count..], both[place].data())),
            one: u64::from(role_index.place_of(0) == Some(place)),
        });
        // Role 0 has components 0 and 1 of what is no product, role 1 has component 2.
        let [with_own, with_next] = [[1, 1], [0, 1], [0, 0]][role_index.role];
        let mut before = cases.each_ref().map(Cases::starts);
        let mut part = form.zeros();
        for (row, part) in part.data_mut().iter_mut().enumerate() {
            let case = cases.each_ref().map(|cases| cases.of(row));
            let mut sum = before[1][0].wrapping_mul(with_next);
            sum = sum.wrapping_add(before[0][0].wrapping_mul(with_own));
            for at in 1..CASES {
                // This party's summand of the case times the difference of places.
                let [x, y] = [0, 1].map(|i: usize| case[i][at]);
                let [u, v] = [0, 1].map(|i: usize| before[i][at].wrapping_sub(before[i][0]));
                sum = sum.wrapping_add(x.wrapping_mul(u.wrapping_add(v)));
                sum = sum.wrapping_add(y.wrapping_mul(u));
            }
            *part = sum;
            for (before, case) in before.iter_mut().zip(&case) {
                let cases = before.iter_mut().zip(case);
                cases.for_each(|(before, case)| *before = before.wrapping_add(*case));
            }
        }
        match role_index.role {
            0 => self.keys.own.add_mask(form, part.data_mut()),
            1 => form.trim(part.data_mut()),
            _ => self.keys.next.subtract_mask(form, part.data_mut()),
        }
        if role_index.role == 2 {
            send(Some(self.cpu), form, part.data(), role_index.previous, mesh)?;
        }
        Ok(Stage::Place(part))
    }

    /// This party's part of the places: role 1 adds what role 2 has sent.
    pub(crate) fn end_places(
        &mut self,
        form: Form,
        mut part: Planes<u64>,
        mesh: &mut Mesh,
    ) -> Result<Planes<u64>> {
        if self.role_index.role == 1 {
            let rest = recv(Some(self.cpu), form, self.role_index.next, mesh)?;
            form.group.add(part.data_mut(), rest.data());
            form.trim(part.data_mut());
        }
        Ok(part)
    }
}

/// Cases of two bits.
const CASES: usize = 1 << BITS_A_PASS;

/// One component of the bits of a pass.
struct Cases<'a> {
    low: &'a [u64],
    /// The higher bits, if a pass has two, and the products of both.
    high: Option<(&'a [u64], &'a [u64])>,
    /// The component of the public number 1.
    one: u64,
}

impl Cases<'_> {
    /// The component of each case of a row: of the four exactly one is 1.
    fn of(&self, row: usize) -> [u64; CASES] {
        let low = self.low[row];
        let (high, both) = self
            .high
            .map_or((0, 0), |(high, both)| (high[row], both[row]));
        let (low, high) = (low.wrapping_sub(both), high.wrapping_sub(both));
        let none = self
            .one
            .wrapping_sub(low)
            .wrapping_sub(high)
            .wrapping_sub(both);
        [none, low, high, both]
    }

    /// The component of the place of the first row of each case.
    fn starts(&self) -> [u64; CASES] {
        let mut counts = [0u64; CASES];
        for row in 0..self.low.len() {
            let cases = counts.iter_mut().zip(self.of(row));
            cases.for_each(|(count, case)| *count = count.wrapping_add(case));
        }
        let mut start = 0u64;
        counts.map(|count| {
            let this = start;
            start = start.wrapping_add(count);
            this
        })
    }
}

/// The bits of a key in all rows, one bit of the key after the other, as the lanes of one plane.
pub(crate) fn column(
    count: usize,
    bits: usize,
    rows: &[u64],
    key: &[KeyBit],
    public: bool,
) -> Vec<u64> {
    let width = Rows::bits(count, bits).width();
    let mut lanes = Writer::new(words_for(key.len() * count));
    for KeyBit { plane, inverted } in key {
        let (word, shift) = (plane / 64, plane % 64);
        let one = u64::from(public && *inverted);
        for rows in rows.chunks(64 * width.max(1)) {
            let bits = rows.iter().skip(word).step_by(width.max(1));
            let bit = |lanes, (at, row): (usize, &u64)| lanes | ((row >> shift & 1) ^ one) << at;
            let some = rows.len() / width.max(1);
            lanes.push(bits.enumerate().fold(0, bit), some);
        }
    }
    lanes.finish()
}

/// Both components of ring elements.
fn components(share: Share) -> Result<[Planes<u64>; 2]> {
    match share.0 {
        Body::Ring(Parts(parts)) => Ok(parts),
        _ => Err(lost()),
    }
}

fn lost() -> Fault {
    Fault::internal("a sort has lost its rows")
}
