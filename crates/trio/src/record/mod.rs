//! Records of products: all that a role has to prove and to verify, as bits in the order of all
//! roles.
//!
//! For an AND, role `i` sends `z_i = x_i y_i + x_i y_(i+1) + x_(i+1) y_i + F(k_i) - F(k_(i+1))` to
//! role `i - 1`, which knows `x_i`, `y_i` and `F(k_i)` too; role `i + 1` knows the rest. As a
//! statement of crate `proof`:
//!
//! ```text
//! x_i y_(i+1) + y_i x_(i+1) + c_L + c_R = 0
//! c_L = x_i y_i + F(k_i) - z_i   at role i - 1        c_R = -F(k_(i+1))   at role i + 1
//! ```
//!
//! A role is the prover of its own messages, the left verifier of those of the next role and the
//! right one of those of the role before it. All that takes six bits of an AND. `gates` makes
//! statements of a level of any tape; those of products in GF(4) and GF(16) have the same form, and
//! under masks as well.

mod functions;
mod gates;

pub(crate) use functions::Proved;
#[cfg(test)]
pub(crate) use functions::errors_of_one_power;
pub(crate) use gates::{Duty, Seen};

use crate::masked::lanes_of;
use sealane_circuit::Tape;
use sealane_party::{Fault, Result};
use sealane_proof::{BitString, Kind, Proven, Shape, Verified};
use std::ops::Range;
use zeroize::Zeroizing;

/// Kinds of statements, in the order of all shapes.
pub(crate) const KINDS: [Kind; 4] = [Kind::AND, Kind::PRODUCT4, Kind::PRODUCT16, Kind::OPENING16];

/// Places among [`KINDS`].
const PRODUCT16: usize = 2;
const OPENING16: usize = 3;

/// Numbers of statements of each kind.
pub(crate) type Counts = [usize; KINDS.len()];

/// The statements that role `prover` makes of a tape; none if a function of it has no proof.
pub(crate) fn counts_of(tape: &Tape, lanes: usize, prover: usize) -> Option<Counts> {
    let dealt = lanes_of(prover, lanes);
    let mut counts = [0; KINDS.len()];
    counts[0] = tape.ands.len() * lanes;
    let proved = tape.functions.iter().map(Proved::of);
    let proved = proved.collect::<Option<Vec<_>>>()?;
    for applied in &tape.applied {
        match &proved[applied.function as usize] {
            Proved::Product(factors) => counts[factors.kind()] += lanes,
            Proved::Inverse(_) => {
                counts[PRODUCT16] += functions::DEALS * dealt;
                counts[OPENING16] += lanes - dealt;
            }
        }
    }
    Some(counts)
}

/// The statements of each kind that a tape leaves at the role with the most; others add zeros. A
/// tape with a function that has no proof is refused before it begins, so it counts as nothing.
pub(crate) fn counts(tape: &Tape, lanes: usize) -> Counts {
    let each = [0, 1, 2].map(|prover| counts_of(tape, lanes, prover).unwrap_or_default());
    std::array::from_fn(|kind| each.iter().map(|of| of[kind]).max().unwrap_or(0))
}

/// The strings of one kind.
#[derive(Default)]
struct Strings {
    /// Operands of this role's own statements: those that the role before has too, and those that
    /// the next one has.
    proven: [Vec<BitString>; 2],
    /// Operands of the role before and of the next one; none where these are the ones above, with
    /// both factors exchanged.
    verified: [Vec<BitString>; 2],
    /// `c_R` of the role before, `c_L` of the next role.
    constants: [Vec<BitString>; 2],
}

/// Returns whether operands as a verifier are those as the prover. In GF(16) a helper deals what
/// both others have nothing like, so that proofs have other statements at one place.
fn shared(kind: usize) -> bool {
    kind < PRODUCT16
}

impl Strings {
    fn with_capacity(kind: usize, count: usize) -> Strings {
        if count == 0 {
            return Strings::default();
        }
        let strings = |number: usize| {
            let empty = (0..number).map(|_| BitString::with_capacity(count));
            empty.collect::<Vec<_>>()
        };
        let planes = KINDS[kind].planes();
        let own = if shared(kind) { 0 } else { planes };
        Strings {
            proven: [strings(planes), strings(planes)],
            verified: [strings(own), strings(own)],
            constants: [(); 2].map(|()| strings(KINDS[kind].field.degree())),
        }
    }

    fn lists(&self) -> impl Iterator<Item = &Vec<BitString>> {
        let lists = self.proven.iter().chain(&self.verified);
        lists.chain(&self.constants)
    }

    fn all(&self) -> impl Iterator<Item = &BitString> {
        self.lists().flatten()
    }

    fn all_mut(&mut self) -> impl Iterator<Item = &mut BitString> {
        let lists = self.proven.iter_mut().chain(&mut self.verified);
        lists.chain(&mut self.constants).flatten()
    }

    /// Statements of this role, of the role before and of the next one.
    fn lengths(&self) -> [usize; 3] {
        let length = |list: &Vec<BitString>| list.first().map_or(0, BitString::len);
        let [previous, next] = self.constants.each_ref().map(length);
        [length(&self.proven[0]), previous, next]
    }

    /// The operands of the role before, or of the next one.
    fn verified(&self, side: usize) -> Vec<&BitString> {
        if self.verified[side].is_empty() {
            let own = &self.proven[side];
            let (x, y) = own.split_at(own.len() / 2);
            return y.iter().chain(x).collect();
        }
        self.verified[side].iter().collect()
    }
}

/// The products of one step or of several, at a party with a role.
#[derive(Default)]
pub(crate) struct Record {
    kinds: [Strings; KINDS.len()],
    /// Of products whose messages are in transit: `c_L` but for the message, row by row.
    awaited: Zeroizing<Vec<u64>>,
}

impl Record {
    /// An empty record with memory for so many statements.
    pub(crate) fn with_capacity(counts: &Counts) -> Record {
        Record {
            kinds: std::array::from_fn(|kind| Strings::with_capacity(kind, counts[kind])),
            awaited: Zeroizing::default(),
        }
    }

    /// The statements of several records, which have so many together. Each is erased once it is
    /// copied.
    pub(crate) fn joined(
        mut records: impl Iterator<Item = Box<Record>>,
        counts: &Counts,
    ) -> Record {
        let (first, second) = (records.next(), records.next());
        let mut joined = match (first, second) {
            (Some(first), None) => *first,
            (first, second) => {
                let mut joined = Record::with_capacity(counts);
                for record in first.into_iter().chain(second).chain(records) {
                    joined.append(&record, &record.counts().map(|count| 0..count));
                }
                joined
            }
        };
        joined.all_mut().for_each(BitString::make_whole);
        joined
    }

    /// Ends the record of a tape at this role: checks that it has the statements of all roles, and
    /// adds zeros up to the numbers of the role with the most.
    pub(crate) fn complete(&mut self, tape: &Tape, lanes: usize, role: usize) -> Result<()> {
        let wanted = [0, 2, 1].map(|ahead| counts_of(tape, lanes, (role + ahead) % 3));
        let most = counts(tape, lanes);
        for (kind, strings) in self.kinds.iter_mut().enumerate() {
            let wanted = wanted.map(|counts| counts.map(|counts| counts[kind]));
            if strings.lengths().map(Some) != wanted {
                return Err(Fault::internal("a product without a record"));
            }
            strings.all_mut().for_each(|string| string.pad(most[kind]));
        }
        Ok(())
    }

    /// Gives up memory that is not needed until a settlement.
    pub(crate) fn shrink(&mut self) {
        self.all_mut().for_each(BitString::shrink);
    }

    /// Statements of each kind.
    pub(crate) fn counts(&self) -> Counts {
        self.kinds.each_ref().map(|strings| strings.lengths()[0])
    }

    /// Appends the statements `ranges` of another record, each from a multiple of 64 on.
    pub(crate) fn append(&mut self, other: &Record, ranges: &[Range<usize>; KINDS.len()]) {
        for (kind, range) in ranges.iter().enumerate() {
            let (strings, more) = (&mut self.kinds[kind], &other.kinds[kind]);
            if strings.proven[0].is_empty() {
                *strings = Strings::with_capacity(kind, range.len());
            }
            for (string, more) in strings.all_mut().zip(more.all()) {
                string.append(more, range.clone());
            }
        }
    }

    fn all_mut(&mut self) -> impl Iterator<Item = &mut BitString> {
        self.kinds.iter_mut().flat_map(Strings::all_mut)
    }

    /// The strings of each kind that there is.
    fn present(&self) -> impl Iterator<Item = &Strings> {
        self.kinds.iter().filter(|of| of.lengths()[0] > 0)
    }

    /// As the prover of this role's messages.
    pub(crate) fn proven(&self) -> Vec<Proven<'_>> {
        let proven = self.present().map(|strings| {
            let [left, right] = strings.proven.each_ref().map(|list| list.iter().collect());
            Proven { left, right }
        });
        proven.collect()
    }

    /// As the left verifier of the next role's messages.
    pub(crate) fn of_next(&self) -> Vec<Verified<'_>> {
        self.of(1)
    }

    /// As the right verifier of the messages of the role before.
    pub(crate) fn of_previous(&self) -> Vec<Verified<'_>> {
        self.of(0)
    }

    fn of(&self, side: usize) -> Vec<Verified<'_>> {
        let verified = self.present().map(|strings| Verified {
            operands: strings.verified(side),
            constant: strings.constants[side].iter().collect(),
        });
        verified.collect()
    }
}

/// The shape of a segment with so many statements of each kind.
pub(crate) fn shape(counts: &Counts) -> Shape {
    let counts = KINDS.into_iter().zip(*counts);
    let counts = counts.filter(|(_, count)| *count > 0).collect::<Vec<_>>();
    Shape::new(&counts).expect("a segment is no larger than a proof can be")
}
