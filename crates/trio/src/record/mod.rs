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
//! right one of those of the role before it. All that takes six bits of an AND, which `reshared`
//! keeps as strings; products in GF(4) and GF(16) have the same form. Of tapes under masks `rows`
//! keeps what kernels have at hand, and `gates` makes statements of it. `stream` hands both over to
//! a proof, group by group. Statements about integers modulo a prime are in `sums`.

mod functions;
mod gates;
mod reshared;
mod rows;
mod stream;
mod sums;

pub(crate) use functions::Proved;
#[cfg(test)]
pub(crate) use functions::errors_of_one_power;
pub(crate) use reshared::{Ands, Products, Reshared};
pub(crate) use rows::{Levels, Piece, Rows, Spare, Work};
pub(crate) use stream::{Prover, Stream};
pub(crate) use sums::{Cut, Group, SumCounts, Sums, Words};
pub(crate) use sums::{SEGMENT, pieces as sum_pieces, shape as sum_shape, total as sum_total};

use crate::masked::lanes_of;
use crate::tape::under_masks;
use functions::Factors;
use gates::units;
use sealane_circuit::Tape;
use sealane_party::{Fault, Result};
use sealane_proof::{Kind, Shape};

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
            Proved::Inverse => {
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

/// Bits of memory that the record of a tape under masks takes until it is settled, at the role with
/// the most. Others take six bits of an AND, and as many of a bit of other products.
pub(crate) fn kept_bits(tape: &Tape, lanes: usize) -> u64 {
    let proved = tape.functions.iter().map(Proved::of);
    let Some(proved) = proved
        .collect::<Option<Vec<_>>>()
        .filter(|_| under_masks(tape))
    else {
        return 0;
    };
    let ands = std::iter::repeat_n(Proved::Product(Factors::AND), tape.ands.len());
    let applied = tape.applied.iter().map(|of| proved[of.function as usize]);
    let parts = [0, 1, 2].map(|part| lanes_of(part, lanes));
    rows::kept_bits(ands.chain(applied), parts)
}

/// The products of one step, at a party with a role.
pub(crate) struct Record {
    body: Body,
    /// Statements of each kind: those of the role with the most, since others add zeros.
    counts: Counts,
}

enum Body {
    Products(Box<Products>),
    Rows(Rows),
}

impl Record {
    /// The record of a tape without masks that has ended at this role.
    pub(crate) fn of_products(products: Products) -> Record {
        Record {
            body: Body::Products(Box::new(products)),
            counts: Counts::default(),
        }
    }

    /// The record of statements that others than a tape have made and counted.
    pub(crate) fn of_counted(products: Products) -> Result<Record> {
        let counts = products.kinds.each_ref().map(|strings| strings.count());
        if counts.iter().any(Option::is_none) {
            return Err(Fault::internal("strings of one kind that differ in length"));
        }
        Ok(Record {
            body: Body::Products(Box::new(products)),
            counts: counts.map(|count| count.unwrap_or(0)),
        })
    }

    /// The strings of a record of a tape without masks.
    pub(crate) fn into_products(self) -> Option<Products> {
        match self.body {
            Body::Products(products) => Some(*products),
            Body::Rows(_) => None,
        }
    }

    /// The record of a tape under masks that has ended at this role.
    pub(crate) fn of_rows(mut rows: Rows, spare: &mut Spare) -> Record {
        rows.pack(spare);
        Record {
            body: Body::Rows(rows),
            counts: Counts::default(),
        }
    }

    /// Ends the record of a tape: checks that it has all statements, and counts zeros for this role
    /// up to the numbers of the role with the most.
    pub(crate) fn complete(&mut self, tape: &Tape, lanes: usize) -> Result<()> {
        self.counts = counts(tape, lanes);
        let whole = match &self.body {
            // All roles have as many.
            Body::Products(products) => {
                let of = products.kinds.each_ref().map(|strings| strings.count());
                of == self.counts.map(Some)
            }
            Body::Rows(rows) => {
                let provers = [Prover::Own, Prover::Other(1), Prover::Other(0)];
                let mut provers = provers.into_iter().enumerate();
                rows.is_whole()
                    && provers.all(|(ahead, prover)| {
                        let of = counts_of(tape, lanes, (rows.role() + ahead) % 3);
                        of == Some(statements(rows, prover))
                    })
            }
        };
        if whole {
            Ok(())
        } else {
            Err(Fault::internal("a product without a record"))
        }
    }

    /// Gives up memory behind the last statement of a tape without masks.
    pub(crate) fn shrink(&mut self) {
        if let Body::Products(products) = &mut self.body {
            products.shrink();
        }
    }

    /// Keeps the memory of a record that has been proved.
    pub(crate) fn reuse(self, spare: &mut Spare) {
        if let Body::Rows(rows) = self.body {
            spare.keep(rows.into_memory());
        }
    }
}

/// The statements of each kind that rows have of a prover.
fn statements(rows: &Rows, prover: Prover) -> Counts {
    std::array::from_fn(|kind| {
        let units = rows.all().flat_map(|(seen, gates)| {
            let gates = gates.iter();
            gates.flat_map(move |gate| units(seen, gate, kind, prover))
        });
        units.map(|unit| unit.count()).sum()
    })
}

/// The statements of each kind of records.
pub(crate) fn total(records: &[Record]) -> Counts {
    std::array::from_fn(|kind| records.iter().map(|record| record.counts[kind]).sum())
}

/// The shape of a segment with so many statements of each kind.
pub(crate) fn shape(counts: &Counts) -> Shape {
    let counts = KINDS.into_iter().zip(*counts);
    let counts = counts.filter(|(_, count)| *count > 0).collect::<Vec<_>>();
    Shape::new(&counts).expect("a segment is no larger than a proof can be")
}
