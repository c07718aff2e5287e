//! Ideal correlations and streams: every possible value in turn.

use crate::cost::bits_of;
use crate::goods::Taken;
use sealane_parties::PartyId;
use sealane_party::bits::low_mask;
use sealane_party::{Form, Planes};
use sealane_protocol::{Algebra, Correlation, Setting};
use sealane_testkit::exact::{Choices, locked};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use zeroize::Zeroizing;

/// Where random values come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Source {
    /// The stream of both parties with a role.
    Common,
    /// The stream of an owner without a role and the first party.
    Guest(usize),
    /// Correlations of a kind.
    Made(Correlation),
}

/// A deliberate mistake.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum InjectedFault {
    /// All values are zero: a mask is missing.
    Zero(Source),
    /// Each value or correlation is the one before: a mask is used again.
    Again(Source),
    /// The messages of a link, from the first party to the second, go to the third one too.
    Misrouted([usize; 3]),
    /// Both forms of a bit in two sharings differ.
    Differ,
}

/// Shares of one correlation at a party: bits, and columns of elements.
#[derive(Clone, Default)]
struct Part {
    bits: Vec<u64>,
    elements: Vec<Vec<u64>>,
}

/// The state of an enumeration.
#[derive(Default)]
pub(crate) struct Drawn {
    pub(crate) choices: Choices,
    pub(crate) fault: Option<InjectedFault>,
    /// How many values or correlations of each source were drawn in this run.
    pub(crate) counts: BTreeMap<Source, usize>,
    /// Values of streams, and by party how many it has taken.
    streams: BTreeMap<Source, (Vec<u64>, Vec<usize>)>,
    made: BTreeMap<Correlation, [Part; 2]>,
}

impl Drawn {
    /// Begins the next choice of all; false after the last one.
    pub(crate) fn step(&mut self) -> bool {
        self.counts.clear();
        self.streams.clear();
        self.made.clear();
        self.choices.step()
    }

    /// The next value of a stream for one of its holders.
    fn take(&mut self, (source, holders): (Source, [usize; 2]), party: usize, below: u64) -> u64 {
        let (values, taken) = self.streams.entry(source).or_default();
        taken.resize(taken.len().max(party + 1), 0);
        let at = taken[party];
        taken[party] += 1;
        if at == values.len() {
            *self.counts.entry(source).or_default() += 1;
            let before = values.last().copied();
            let value = match (self.fault, before) {
                (Some(InjectedFault::Zero(zero)), _) if zero == source => 0,
                (Some(InjectedFault::Again(again)), Some(before)) if again == source => before,
                _ => self.choices.choose(below, &holders),
            };
            values.push(value);
        }
        values[at]
    }

    /// So many correlations for both parties.
    pub(crate) fn deal(
        &mut self,
        setting: &Setting,
        kind: Correlation,
        count: usize,
    ) -> [Taken; 2] {
        let source = Source::Made(kind);
        *self.counts.entry(source).or_default() += count;
        let mut taken: [Taken; 2] = Default::default();
        for at in 0..count {
            let parts = match self.made.get(&kind) {
                Some(before) if self.fault == Some(InjectedFault::Again(source)) => before.clone(),
                _ => self.one(setting, kind),
            };
            for (taken, part) in taken.iter_mut().zip(&parts) {
                let row = || Zeroizing::new(vec![0; count.div_ceil(64)]);
                taken.bits.resize_with(part.bits.len(), row);
                taken
                    .elements
                    .resize_with(part.elements.len(), Default::default);
                let rows = taken.bits.iter_mut().zip(&part.bits);
                rows.for_each(|(row, bit)| row[at / 64] |= bit << (at % 64));
                let columns = taken.elements.iter_mut().zip(&part.elements);
                columns.for_each(|(column, elements)| column.extend(elements));
            }
            self.made.insert(kind, parts);
        }
        taken
    }

    /// One correlation. All that the corrupted party has is random, and of the other one's part
    /// what does not follow from that.
    fn one(&mut self, setting: &Setting, kind: Correlation) -> [Part; 2] {
        let zero = self.fault == Some(InjectedFault::Zero(Source::Made(kind)));
        let differ = u64::from(self.fault == Some(InjectedFault::Differ));
        let given = self
            .choices
            .given
            .map(|(party, _)| PartyId::from_index(party));
        let corrupted = given.and_then(|party| setting.role_of(party)).unwrap_or(0);
        let (p, q) = (corrupted, 1 - corrupted);
        let of_role = [0, 1].map(|role| setting.player(role).index());
        let mut words = |role: usize, bits: u64, count: usize| -> Vec<u64> {
            let below = if zero { 1 } else { 1 << bits };
            let mut one = || self.choices.choose(below, &[of_role[role]]);
            (0..count).map(|_| one()).collect()
        };
        let mut parts: [Part; 2] = Default::default();
        match kind {
            Correlation::Triple {
                algebra: Algebra::Z2,
            }
            | Correlation::Wide { .. } => {
                let width = match kind {
                    Correlation::Wide { bits } => bits.into(),
                    _ => 1,
                };
                parts[p].bits = words(p, 1, 1 + 2 * width);
                parts[q].bits = words(q, 1, 1 + width);
                for at in 1..=width {
                    let [a, b] = [0, at].map(|at| parts[0].bits[at] ^ parts[1].bits[at]);
                    let c = a & b ^ parts[p].bits[width + at];
                    parts[q].bits.push(c);
                }
            }
            Correlation::DaBit { algebra } => {
                let k = bits_of(algebra);
                (parts[p].bits, parts[q].bits) = (words(p, 1, 1), words(q, 1, 1));
                let element = words(p, k, 1);
                let bit = parts[p].bits[0] ^ parts[q].bits[0] ^ differ;
                parts[q].elements = vec![vec![less(bit, element[0], k)]];
                parts[p].elements = vec![element];
            }
            Correlation::Select { algebra } => {
                let k = bits_of(algebra);
                (parts[p].bits, parts[q].bits) = (words(p, 1, 1), words(q, 1, 1));
                let bit = parts[p].bits[0] ^ parts[q].bits[0];
                let [own, product, ring_bit] = [(); 3].map(|()| words(p, k, 1)[0]);
                let other = words(q, k, 1)[0];
                let whole = bit * own.wrapping_add(other);
                parts[p].elements = [own, product, ring_bit].map(|word| vec![word]).into();
                let rest = [other, less(whole, product, k), less(bit, ring_bit, k)];
                parts[q].elements = rest.map(|word| vec![word]).into();
            }
            Correlation::Triple { algebra } => {
                let k = bits_of(algebra);
                let own = [(); 3].map(|()| words(p, k, 1));
                let [a, b] = [(); 2].map(|()| words(q, k, 1));
                let whole = own[0][0]
                    .wrapping_add(a[0])
                    .wrapping_mul(own[1][0].wrapping_add(b[0]));
                parts[q].elements = vec![a, b, vec![less(whole, own[2][0], k)]];
                parts[p].elements = own.into();
            }
            Correlation::Matrix {
                algebra,
                rows,
                inner,
                columns,
            } => {
                let k = bits_of(algebra);
                let [rows, inner, columns] = [rows, inner, columns].map(|side| side as usize);
                let own = [rows * inner, inner * columns, rows * columns].map(|n| words(p, k, n));
                let other = [rows * inner, inner * columns].map(|n| words(q, k, n));
                let sum = |of: usize, at: usize| own[of][at].wrapping_add(other[of][at]);
                let product = (0..rows * columns).map(|at| {
                    let (row, column) = (at / columns, at % columns);
                    let terms = (0..inner).map(|i| {
                        sum(0, row * inner + i).wrapping_mul(sum(1, i * columns + column))
                    });
                    less(terms.fold(0, u64::wrapping_add), own[2][at], k)
                });
                parts[q].elements = vec![other[0].clone(), other[1].clone(), product.collect()];
                parts[p].elements = own.into();
            }
            Correlation::Known {
                holder,
                algebra,
                choice_bits,
                partners,
            } => {
                let (k, b, m) = (bits_of(algebra), u64::from(choice_bits), partners as usize);
                let h = setting.role_of(holder).expect("a party with a role");
                let mut factors = [words(h, b, 1), words(1 - h, k, m)];
                factors.rotate_left(h);
                let shares = (0..b)
                    .map(|bit| words(p, k - bit, m))
                    .collect::<Vec<_>>()
                    .concat();
                // Shares of bit i count modulo 2^(k - i).
                let rest = shares.iter().enumerate().map(|(at, share)| {
                    let bit = (at / m) as u64;
                    let product = (factors[h][0] >> bit & 1) * factors[1 - h][at % m];
                    less(product, *share, k - bit)
                });
                let rest = rest.collect();
                let [first, second] = factors;
                let of = |role: usize| if role == p { &shares } else { &rest };
                parts[0].elements = vec![first, of(0).clone()];
                parts[1].elements = vec![second, of(1).clone()];
            }
            Correlation::Cot { .. } | Correlation::Seed { .. } => unreachable!("not dealt"),
        }
        parts
    }
}

/// The share that another one lacks modulo `2^k`.
fn less(whole: u64, share: u64, k: u64) -> u64 {
    whole.wrapping_sub(share) & low_mask(k as usize)
}

/// A stream at one of its holders.
pub(crate) struct Ideal {
    pub(super) drawn: Arc<Mutex<Drawn>>,
    pub(super) source: (Source, [usize; 2]),
    pub(super) party: usize,
}

impl Ideal {
    pub(crate) fn draw(&mut self, form: Form) -> Planes<u64> {
        assert!(form.row_bits() <= 8, "a form for an enumeration");
        let mut words = form.zeros();
        for word in words.data_mut() {
            *word = locked(&self.drawn).take(self.source, self.party, 1 << form.row_bits());
        }
        words
    }
}
