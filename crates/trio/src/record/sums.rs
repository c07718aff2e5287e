//! Statements about integers modulo `2^61 - 1`: of products, and of bits that become integers.
//!
//! A statement of an inner product of `t` terms has `2 t` products, as in the table of `record`:
//! `x_i y_(i+1)` of each term, then `y_i x_(i+1)`. The messages of a conversion of bits are below
//! (`guarded::integers`). Statements come in *units* of a number of products that are proved
//! together: an inner product, all bits of an integer, or a whole matrix product, of which a proof
//! has as many products as the inner dimension twice. Of each step all roles have the same units.

use super::stream::Prover;
use sealane_proof::{Batch, BatchForm, Operand, Shape};
use sealane_protocol::{Algebra, CheckKind, Checks};
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;
use zeroize::Zeroizing;

/// Secret words, which statements of several provers share.
pub(crate) type Words = Arc<Zeroizing<Vec<u64>>>;

/// Products of a segment, of 16 MiB in each vector of a proof. Tests have several segments.
pub(crate) const SEGMENT: usize = if cfg!(test) { 1 << 9 } else { 1 << 20 };

/// Numbers of units by their products.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct SumCounts(BTreeMap<usize, usize>);

/// Units of so many products, by their numbers among those.
pub(crate) type Units = (usize, Range<usize>);

/// The units of a segment.
pub(crate) type Cut = Vec<Units>;

impl SumCounts {
    /// So many units of so many products.
    pub(crate) fn of(unit: usize, count: usize) -> SumCounts {
        SumCounts(BTreeMap::from_iter((count > 0).then_some((unit, count))))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn add(&mut self, more: &SumCounts) {
        for (unit, count) in &more.0 {
            *self.0.entry(*unit).or_insert(0) += count;
        }
    }

    pub(crate) fn subtract(&mut self, less: &SumCounts) {
        for (unit, count) in &less.0 {
            if let Some(left) = self.0.get_mut(unit) {
                *left -= count;
            }
        }
        self.0.retain(|_, count| *count > 0);
    }

    /// Products of all units.
    pub(crate) fn products(&self) -> usize {
        self.0.iter().map(|(unit, count)| unit * count).sum()
    }

    /// All units.
    pub(crate) fn units(&self) -> usize {
        self.0.values().sum()
    }

    /// The same as checks.
    pub(crate) fn checks(&self) -> Checks {
        let kind = |unit: usize| CheckKind {
            field: Algebra::Fp,
            terms: u32::try_from(unit).expect("a unit of a proof"),
        };
        let checks = self.0.iter();
        Checks(
            checks
                .map(|(unit, count)| (kind(*unit), *count as u64))
                .collect(),
        )
    }

    /// Those among checks.
    pub(crate) fn among(all: &Checks) -> SumCounts {
        let checks = all.0.iter().filter(|(kind, _)| kind.field == Algebra::Fp);
        SumCounts(
            checks
                .map(|(kind, count)| (kind.terms as usize, *count as usize))
                .collect(),
        )
    }

    /// Segments: units in the order of their sizes, as many in each as fit, and at least one.
    pub(crate) fn segments(&self) -> Vec<Cut> {
        let (mut all, mut cut, mut products) = (Vec::new(), Cut::new(), 0);
        for (unit, count) in &self.0 {
            let mut first = 0;
            while first < *count {
                let fit = SEGMENT.saturating_sub(products) / (*unit).max(1);
                let fit = fit.max(usize::from(cut.is_empty())).min(count - first);
                if fit == 0 {
                    all.push(std::mem::take(&mut cut));
                    products = 0;
                    continue;
                }
                cut.push((*unit, first..first + fit));
                first += fit;
                products += fit * unit;
            }
        }
        all.extend((!cut.is_empty()).then_some(cut));
        all
    }
}

/// The shape of the proof of a segment.
pub(crate) fn shape(cut: &[Units]) -> Shape {
    let products = cut.iter().map(|(unit, units)| unit * units.len()).sum();
    Shape::of_sums(products).expect("a segment is no larger than a proof can be")
}

/// Statements that a prover makes for each unit.
pub(crate) struct Group {
    /// Statements of a unit. A matrix is a single unit.
    pub(crate) each: usize,
    /// Rows and columns of a matrix.
    pub(crate) matrix: Option<[usize; 2]>,
    /// At the prover operands of both sides, at a verifier those of its own. Operands of a matrix
    /// alternate between rows and columns, and the second side begins with columns.
    pub(crate) sides: Vec<Vec<Words>>,
    /// At a verifier, statement by statement of a unit, all units side by side; or row by row.
    pub(crate) constants: Words,
    /// As of a [`Batch`].
    pub(crate) inner: bool,
}

/// The statements of one step at a role.
pub(crate) struct Sums {
    /// Products of a unit.
    pub(crate) unit: usize,
    /// Units.
    pub(crate) count: usize,
    /// Its own, those of the role before, and those of the next one.
    pub(crate) groups: [Vec<Group>; 3],
}

/// Statements of a batch, which a proof reads.
pub(crate) struct Piece {
    form: BatchForm,
    sides: Vec<Vec<(Along, Words)>>,
    constants: Words,
    inner: bool,
}

#[derive(Clone, Copy)]
enum Along {
    Lanes,
    Rows,
    Columns,
}

impl Piece {
    /// The batch that it is.
    pub(crate) fn batch(&self) -> Batch<'_> {
        fn operand((along, words): &(Along, Words)) -> Operand<'_> {
            match along {
                Along::Lanes => Operand::Lanes(words),
                Along::Rows => Operand::Rows(words),
                Along::Columns => Operand::Columns(words),
            }
        }
        let sides = self.sides.iter();
        Batch {
            form: self.form,
            sides: sides
                .map(|side| side.iter().map(operand).collect())
                .collect(),
            constants: &self.constants,
            inner: self.inner,
        }
    }
}

/// The words of these units, of rows of all units.
fn cut(words: &Words, count: usize, units: &Range<usize>) -> Words {
    if units.len() == count {
        return Arc::clone(words);
    }
    let rows = words.chunks_exact(count);
    let mut some = Zeroizing::new(Vec::with_capacity(rows.len() * units.len()));
    rows.for_each(|row| some.extend_from_slice(&row[units.clone()]));
    Arc::new(some)
}

impl Sums {
    /// Its units.
    pub(crate) fn counts(&self) -> SumCounts {
        SumCounts::of(self.unit, self.count)
    }

    /// The statements that a prover makes for these units.
    fn pieces(&self, prover: Prover, units: Range<usize>) -> impl Iterator<Item = Piece> {
        let number = match prover {
            Prover::Own => 0,
            Prover::Other(side) => 1 + side,
        };
        let count = self.count;
        self.groups[number].iter().map(move |group| {
            let operands = |(second, side): (usize, &Vec<Words>)| {
                // The right side of a matrix begins with columns, as that of the role before.
                let second = second == 1 || prover == Prover::Other(0);
                let words = side.iter().enumerate().map(|(number, words)| {
                    let along = match group.matrix {
                        None => Along::Lanes,
                        Some(_) if (number % 2 == 0) != second => Along::Rows,
                        Some(_) => Along::Columns,
                    };
                    match along {
                        Along::Lanes => (along, cut(words, count, &units)),
                        _ => (along, Arc::clone(words)),
                    }
                });
                words.collect::<Vec<_>>()
            };
            let (form, constants) = match group.matrix {
                Some([rows, columns]) => {
                    let constants = Arc::clone(&group.constants);
                    (BatchForm::Matrix { rows, columns }, constants)
                }
                None => {
                    let constants = cut(&group.constants, count, &units);
                    (BatchForm::Lanes(group.each * units.len()), constants)
                }
            };
            Piece {
                form,
                sides: group.sides.iter().enumerate().map(operands).collect(),
                constants,
                inner: group.inner,
            }
        })
    }
}

/// The statements of a prover in a segment.
pub(crate) fn pieces(records: &[Sums], cut: &[Units], prover: Prover) -> Vec<Piece> {
    let mut pieces = Vec::new();
    for (unit, units) in cut {
        let mut first = 0;
        for record in records.iter().filter(|record| record.unit == *unit) {
            let start = units.start.max(first);
            let end = units.end.min(first + record.count);
            if start < end {
                pieces.extend(record.pieces(prover, start - first..end - first));
            }
            first += record.count;
        }
    }
    pieces
}

/// The units of records.
pub(crate) fn total(records: &[Sums]) -> SumCounts {
    let mut sum = SumCounts::default();
    records.iter().for_each(|record| sum.add(&record.counts()));
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segments_have_every_unit_once_and_no_more_than_they_can() {
        let mut counts = SumCounts::default();
        for (unit, count) in [(2, 300), (7, 80), (600, 3), (256, 2)] {
            counts.add(&SumCounts::of(unit, count));
        }
        let segments = counts.segments();
        let mut seen = SumCounts::default();
        for cut in &segments {
            let products = cut
                .iter()
                .map(|(unit, units)| unit * units.len())
                .sum::<usize>();
            assert!(products <= SEGMENT || cut.len() == 1 && cut[0].1.len() == 1);
            for (unit, units) in cut {
                let before = seen.0.get(unit).copied().unwrap_or(0);
                assert_eq!(units.start, before);
                seen.add(&SumCounts::of(*unit, units.len()));
            }
        }
        assert_eq!(seen, counts);
        assert_eq!(SumCounts::among(&counts.checks()), counts);
        assert!(segments.len() >= 6);
        assert!(SumCounts::default().segments().is_empty());
    }
}
