//! Stable sort of rows by a key of bits, from the lowest bits to the highest, with proofs.
//!
//! A pass takes up to three bits of the key:
//!
//! | flights | |
//! |---|---|
//! | 0 to 2 | flags of the cases of the bits: ANDs |
//! | a bit of the number of rows each | the place of each row (`places`): ANDs |
//! | 3 | rows and places are shuffled together (`turns`) |
//! | 3 | proof of all messages of the pass, as in any settlement, among the roles |
//! | 1 | the places are opened to all roles, who move the rows |
//!
//! *The proof comes first.* After a shuffle that is proved, opened places are a random permutation
//! whatever the rows are. A place that is wrong by a chosen number would show where its row is
//! among all. Checks of earlier steps may stay pending: whatever bits the rows are, their places
//! are a permutation. A role that learns places gets its component from one holder and a digest of
//! it from the other one, as of a result: rows that honest roles moved in two orders would make
//! proofs fail by what they are.

use super::cost;
use super::crossed::{Among, check_same, disputed};
use super::places::{self, BITS_A_PASS, Counter};
use super::settle::{Settled, Settling, Work};
use super::turns::{TurnProgress, Turned, Turning};
use super::{Due, Guard};
use crate::Share;
use crate::arrive::{Arriving, recv, send, write};
use crate::order::{Order, Rows, planes_of_rows, rows_of_planes};
use crate::record::{Counts, Products, Record, total};
use crate::role_index::RoleIndex;
use crate::roles::Computing;
use crate::sort::{column, place_bits, rows_of};
use crate::tape::{RunningTape, TapeProgress};
use blake3::Hasher;
use sealane_net::Mesh;
use sealane_parties::PartyId;
use sealane_party::bits::read;
use sealane_party::{Fault, Form, KeyBit, Planes, Result, Shares};
use sealane_proof::Memory;
use std::sync::Arc;
use zeroize::Zeroizing;

/// Most rows of a sort: both statements of a turn then fit one proof beside those of ANDs.
pub(super) const MOST_ROWS: u64 = 1 << 22;

/// Rows of a sort above which the memory of its proofs is given up at its end. Below, it is no more
/// than what a party keeps.
const LARGE: usize = 1 << 16;

/// A party with a role, with what it has to prove.
pub(super) struct At<'a> {
    pub(super) party: &'a mut Computing,
    pub(super) guard: &'a mut Guard,
    pub(super) me: PartyId,
}

/// A sort between two flights.
pub(super) struct Sorting {
    count: usize,
    bits: usize,
    /// Both components of all rows, row by row.
    rows: [Planes<u64>; 2],
    /// The bits of the key that are left, the next one last.
    key: Vec<KeyBit>,
    /// Bits of the key that the pass takes.
    taken: usize,
    /// The statements of the pass so far. Each pass takes the memory of the one before.
    products: Products,
    stage: Stage,
}

/// Messages in transit.
enum Stage {
    /// Nothing: a pass begins.
    Idle,
    Flags(Box<RunningTape<'static>>),
    Level(Box<Level>),
    Turn(Box<Turning>),
    Settle(Box<Settling>, Hidden),
    Open(Hidden, u64),
}

/// The ANDs of a level of a counter, of which the first one is this statement.
struct Level {
    counter: Counter,
    arriving: Arriving,
    first: usize,
}

/// Shuffled rows with their places, which are opened with a settlement alone.
struct Hidden([Arc<Planes<u64>>; 2]);

/// Progress of a sort.
pub(super) enum SortProgress {
    More(Box<Sorting>),
    Done(Share),
}

/// Bits of the key that each pass of a sort takes.
pub(super) fn passes(rows: u64, key_bits: u64) -> impl Iterator<Item = usize> {
    let mut left = if rows < 2 { 0 } else { key_bits };
    std::iter::from_fn(move || {
        let bits = left.min(BITS_A_PASS as u64);
        left -= bits;
        (bits > 0).then_some(bits as usize)
    })
}

/// ANDs of a row in a pass of so many bits.
pub(super) fn ands(rows: u64, bits: usize) -> usize {
    let levels = place_bits(rows) as usize;
    let cases = places::cases(bits);
    let counted = (0..levels).map(|level| places::ands(cases, level, levels));
    places::flags(bits).ands.len() + counted.sum::<usize>()
}

/// The statements about ANDs of a pass of so many bits.
fn counts(rows: usize, bits: usize) -> Counts {
    let mut counts = Counts::default();
    if bits > 0 {
        counts[0] = ands(rows as u64, bits) * rows;
    }
    counts
}

impl Sorting {
    /// Begins a sort.
    pub(super) fn begin(
        at: At<'_>,
        share: &Share,
        key: &[KeyBit],
        mesh: &mut Mesh,
    ) -> Result<SortProgress> {
        let (count, bits) = (share.elements(), share.planes());
        let rows = rows_of(share, key, MOST_ROWS)?;
        // The first pass has the most.
        let pass = passes(count as u64, key.len() as u64).next();
        let sorting = Sorting {
            count,
            bits,
            rows,
            key: key.iter().rev().copied().collect(),
            taken: 0,
            products: Products::with_capacity(&counts(count, pass.unwrap_or(0))),
            stage: Stage::Idle,
        };
        Box::new(sorting).pass(at, mesh)
    }

    /// Reads the flight that is due and writes the next one.
    pub(super) fn advance(
        mut self: Box<Self>,
        mut at: At<'_>,
        mesh: &mut Mesh,
    ) -> Result<SortProgress> {
        self.stage = match std::mem::replace(&mut self.stage, Stage::Idle) {
            Stage::Idle => return Err(Fault::internal("a sort that did not begin")),
            Stage::Flags(run) => {
                let ran = at.party.advance_tape(run, mesh)?;
                self.flagged(&mut at, ran, mesh)?
            }
            Stage::Level(level) => self.counted(&mut at, *level, mesh)?,
            Stage::Turn(turning) => match turning.advance(at.party, mesh)? {
                TurnProgress::More(turning) => Stage::Turn(turning),
                TurnProgress::Done(rows, turned) => {
                    let settling = self.prove(&mut at, turned, mesh)?;
                    Stage::Settle(settling, Hidden(rows))
                }
            },
            Stage::Settle(mut settling, hidden) => {
                let keys = at.party.keys.guard.as_ref().ok_or_else(no_keys)?;
                match settling.advance(keys, &mut at.guard.memory, mesh)? {
                    None => Stage::Settle(settling, hidden),
                    Some(settled) => {
                        let records = settling.into_records().into_iter();
                        if let Some(mut products) = records.filter_map(Record::into_products).next()
                        {
                            products.clear();
                            self.products = products;
                        }
                        let number = at.guard.sorted;
                        at.guard.sorted += 1;
                        self.open(&at, &settled, (&hidden, number), mesh)?;
                        Stage::Open(hidden, number)
                    }
                }
            }
            Stage::Open(hidden, number) => {
                let places = self.learn(&at, (&hidden, number), mesh)?;
                let order = proved_order(&places, at.party.role_index)?;
                let (count, bits) = (self.count, self.bits);
                let [from, rows] =
                    [bits + self.place_bits(), bits].map(|bits| Rows::bits(count, bits));
                self.rows = hidden.0.map(|part| {
                    let moved = order.of_rows(from, part.data());
                    let mut cut = if rows.width() == from.width() {
                        moved
                    } else {
                        let mut cut = rows.form.zeros();
                        let both = cut.data_mut().chunks_exact_mut(rows.width());
                        let both = both.zip(moved.data().chunks_exact(from.width()));
                        both.for_each(|(cut, row)| cut.copy_from_slice(&row[..cut.len()]));
                        cut
                    };
                    rows.form.trim(cut.data_mut());
                    cut
                });
                return self.pass(at, mesh);
            }
        };
        Ok(SortProgress::More(self))
    }

    /// Bits of a place.
    fn place_bits(&self) -> usize {
        place_bits(self.count as u64) as usize
    }

    /// Begins the next pass, or ends the sort.
    fn pass(mut self: Box<Self>, mut at: At<'_>, mesh: &mut Mesh) -> Result<SortProgress> {
        let (count, bits) = (self.count, self.bits);
        let left = self.key.len();
        if count < 2 || left == 0 {
            if count > LARGE {
                at.guard.memory = Memory::default();
            }
            let planes = self.rows.each_ref();
            let planes = planes.map(|rows| planes_of_rows(count, bits, rows.data()));
            return Ok(SortProgress::Done(Form::bits(bits, count).share(planes)));
        }
        let taken = self.key.split_off(left - left.min(BITS_A_PASS));
        let form = Form::bits(taken.len(), count);
        let columns = [0, 1].map(|place| {
            // Component 0 holds what is public: the ones of bits that are inverted.
            let public = at.party.role_index.place_of(0) == Some(place);
            let rows = self.rows[place].data();
            let mut planes = form.zeros();
            for (plane, bit) in taken.iter().rev().enumerate() {
                let column = Zeroizing::new(column(count, bits, rows, &[*bit], public));
                planes.plane_mut(plane).copy_from_slice(&column);
            }
            planes
        });
        self.taken = taken.len();
        let (tape, share) = (places::flags(taken.len()), Arc::new(form.share(columns)));
        let ran = at.party.begin_tape(tape, count, &[share], true, mesh)?;
        self.stage = self.flagged(&mut at, ran, mesh)?;
        Ok(SortProgress::More(self))
    }

    /// Goes on with the flags, once they are there.
    fn flagged(
        &mut self,
        at: &mut At<'_>,
        ran: TapeProgress<'static>,
        mesh: &mut Mesh,
    ) -> Result<Stage> {
        match ran {
            TapeProgress::More(run) => Ok(Stage::Flags(run)),
            TapeProgress::Done(flags, record) => {
                let record = record.and_then(|record| record.into_products());
                let record = record.ok_or_else(|| Fault::internal("a product without a record"))?;
                self.products.append(&record);
                let counter = Counter::new(self.place_bits(), &flags)?;
                self.count(at, counter, mesh)
            }
            TapeProgress::Masked(_) => Err(masked()),
        }
    }

    /// Writes the messages of a level of the counter. Its ANDs are those of a tape of one batch,
    /// made, recorded and masked some words at a time: they are most of what a sort computes.
    fn count(&mut self, at: &mut At<'_>, counter: Counter, mesh: &mut Mesh) -> Result<Stage> {
        let (cpu, form) = (at.party.cpu, Form::bits(counter.ands(), self.count));
        let (mut messages, first) = (form.zeros(), self.products.ands());
        let (all, products) = (messages.data_mut(), &mut self.products);
        at.party.keys.each_zeros(form, |start, zeros| {
            let mut at = 0;
            while at < zeros[0].len() {
                let left = zeros[0].len() - at;
                let (factors, lanes) = counter.factors(start + at, left);
                let words = at..at + factors.x[0].len();
                let zeros = zeros.map(|zeros| &zeros[words.clone()]);
                at = words.end;
                let message = &mut all[start + words.start..start + words.end];
                products.and(cpu, factors, zeros, lanes, message);
            }
        });
        form.trim(messages.data_mut());
        Ok(Stage::Level(Box::new(Level {
            counter,
            arriving: at.party.hand_over(form, messages, mesh)?,
            first,
        })))
    }

    /// Goes on with the counter, once the messages of a level are there.
    fn counted(&mut self, at: &mut At<'_>, level: Level, mesh: &mut Mesh) -> Result<Stage> {
        let Level {
            mut counter,
            arriving,
            first,
        } = level;
        let products = arriving.finish(mesh)?;
        let messages = products[1].data();
        self.products.and_received(first, messages, self.count);
        if counter.take(products) {
            return self.count(at, counter, mesh);
        }
        let parts = self.with_places(&counter.places());
        let shape = (self.count, self.bits + self.place_bits());
        let turning = Turning::begin(at.party, shape, parts, mesh)?;
        Ok(Stage::Turn(turning))
    }

    /// The rows, each with its place behind its bits.
    fn with_places(&mut self, places: &[Planes<u64>; 2]) -> [Planes<u64>; 2] {
        let (count, bits, k) = (self.count, self.bits, self.place_bits());
        // Nothing reads them again.
        let nothing = [(); 2].map(|()| Form::bits(0, 0).zeros());
        let rows = std::mem::replace(&mut self.rows, nothing);
        let width = Rows::bits(count, bits).width();
        let wide = Rows::bits(count, bits + k);
        let both = rows.iter().zip(places).map(|(rows, places)| {
            let places = rows_of_planes(count, k, places.data());
            let mut all = if width == wide.width() {
                wide.form.sum([rows.data()])
            } else {
                let mut all = wide.form.zeros();
                let each = all.data_mut().chunks_exact_mut(wide.width());
                let each = each.zip(rows.data().chunks_exact(width));
                each.for_each(|(all, row)| all[..width].copy_from_slice(row));
                all
            };
            // Behind its bits a row is zero.
            let (word, shift) = (bits / 64, bits % 64);
            let each = all.data_mut().chunks_exact_mut(wide.width());
            for (row, place) in each.zip(places.data()) {
                row[word] |= place << shift;
                if shift + k > 64 {
                    row[word + 1] |= place >> (64 - shift);
                }
            }
            all
        });
        let mut both = both;
        [(); 2].map(|()| both.next().expect("two components"))
    }

    /// Begins the proof of all messages of the pass.
    fn prove(
        &mut self,
        at: &mut At<'_>,
        turned: Box<Turned>,
        mesh: &mut Mesh,
    ) -> Result<Box<Settling>> {
        #[cfg(test)]
        let turned = super::tests::sort::harmed_turn(turned);
        let counts = counts(self.count, self.taken);
        let records = vec![Record::of_counted(std::mem::take(&mut self.products))?];
        if total(&records) != counts {
            return Err(Fault::internal("a product without a record"));
        }
        let work = Work {
            records,
            sums: vec![],
            due: &Due::of_bits(counts),
            turned: Some(turned),
            among: Among::Roles,
        };
        let party = &*at.party;
        let keys = party.keys.guard.as_ref().ok_or_else(no_keys)?;
        let settling = Settling::begin(
            (&party.setting, at.me),
            (party.cpu, party.role_index),
            keys,
            at.guard,
            work,
            mesh,
        )?;
        Ok(Box::new(settling))
    }

    /// The places among shuffled rows, of one component.
    fn places_of(&self, part: &Planes<u64>) -> Planes<u64> {
        let k = self.place_bits();
        let width = Rows::bits(self.count, self.bits + k).width();
        let mut places = Rows::bits(self.count, k).form.zeros();
        let rows = part.data().chunks_exact(width);
        let both = places.data_mut().iter_mut().zip(rows);
        both.for_each(|(place, row)| *place = read(row, self.bits, k));
        places
    }

    /// Gives each other role what it needs to learn the places: to the next one the component that
    /// it lacks, to the role before a digest of the one that it lacks.
    fn open(
        &self,
        at: &At<'_>,
        _: &Settled,
        (hidden, number): (&Hidden, u64),
        mesh: &mut Mesh,
    ) -> Result<()> {
        let (party, form) = (&*at.party, Rows::bits(self.count, self.place_bits()).form);
        let both = hidden.0.each_ref().map(|part| self.places_of(part));
        #[cfg(test)]
        let both = super::tests::sort::harmed_places(both);
        let [own, next] = both;
        let role_index = party.role_index;
        send(Some(party.cpu), form, own.data(), role_index.next, mesh)?;
        let digest = digest(form, &next, number, mesh);
        write(None, &digest, role_index.previous, mesh)?;
        Ok(())
    }

    /// Reads the places, if both holders of the component that this role lacks say the same.
    fn learn(
        &self,
        at: &At<'_>,
        (hidden, number): (&Hidden, u64),
        mesh: &mut Mesh,
    ) -> Result<Planes<u64>> {
        let (party, form) = (&*at.party, Rows::bits(self.count, self.place_bits()).form);
        let role_index = party.role_index;
        let given = recv(Some(party.cpu), form, role_index.previous, mesh)?;
        let mut theirs = [0; cost::DIGEST];
        mesh.recv(role_index.next, &mut theirs)?;
        let ours = digest(form, &given, number, mesh);
        let holders = [role_index.previous, role_index.next];
        check_same(&ours, &theirs, holders, "the confirmation of places")?;
        let [own, next] = hidden.0.each_ref().map(|part| self.places_of(part));
        Ok(form.sum([own.data(), next.data(), given.data()]))
    }
}

/// The order of places that are proved, and confirmed by both holders of what this role lacked.
///
/// # Errors
/// [`Fault::Disputed`] if they are no permutation: then a false proof of one of both others was
/// accepted, which has the chance that all proofs leave.
fn proved_order(places: &Planes<u64>, of: RoleIndex) -> Result<Order> {
    let otherwise = |_| disputed([of.previous, of.next], "the check of proved places");
    Order::to_places(places.data()).map_err(otherwise)
}

/// The digest of a component of the places of this number.
fn digest(form: Form, part: &Planes<u64>, number: u64, mesh: &Mesh) -> [u8; cost::DIGEST] {
    let mut hasher = Zeroizing::new(Hasher::new_derive_key("sealane 1 trio places"));
    hasher.update(mesh.session().as_bytes());
    hasher.update(&number.to_le_bytes());
    form.pack(part.data(), |bytes| {
        hasher.update(bytes);
    });
    *hasher.finalize().as_bytes()
}

fn masked() -> Fault {
    Fault::internal("gates of a sort under masks")
}

fn no_keys() -> Fault {
    Fault::internal("no keys of proofs")
}
