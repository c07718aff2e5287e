//! Records of ANDs: all that a role has to prove and to verify, as bits in the order of all roles.
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
//! right one of those of the role before it. All that takes six bits of an AND.

use crate::tape::Wires;
use sealane_circuit::tape::Gate;
use sealane_party::Planes;
use sealane_party::bits::words_for;
use sealane_proof::{BitString, Proven, Verified};
use std::ops::Range;
use zeroize::Zeroizing;

/// The ANDs of one step or of several, at a party with a role.
#[derive(Default)]
pub(crate) struct Record {
    /// The components of both operands that the role before has too: `x_i`, `y_i`.
    own: [BitString; 2],
    /// Those that the next role has too: `x_(i+1)`, `y_(i+1)`.
    next: [BitString; 2],
    /// `c_R` of the role before.
    right: BitString,
    /// `c_L` of the next role.
    left: BitString,
    /// Of ANDs whose messages are in transit: `c_L` but for the message, plane by plane.
    awaited: Zeroizing<Vec<u64>>,
    lanes: usize,
}

impl Record {
    /// An empty record with memory for so many ANDs.
    pub(crate) fn with_capacity(ands: usize) -> Record {
        let string = || BitString::with_capacity(ands);
        Record {
            own: [string(), string()],
            next: [string(), string()],
            right: string(),
            left: string(),
            ..Record::default()
        }
    }

    /// The ANDs of several records, which have so many together. Each is erased once it is copied.
    pub(crate) fn joined(mut records: impl Iterator<Item = Box<Record>>, ands: usize) -> Record {
        let (first, second) = (records.next(), records.next());
        let mut joined = match (first, second) {
            (Some(first), None) => *first,
            (first, second) => {
                let mut joined = Record::with_capacity(ands);
                for record in first.into_iter().chain(second).chain(records) {
                    joined.append(&record, &(0..record.ands()));
                }
                joined
            }
        };
        joined.make_whole();
        joined
    }

    /// Gives up memory that is not needed until a settlement.
    pub(crate) fn shrink(&mut self) {
        self.strings_mut().into_iter().for_each(BitString::shrink);
    }

    /// Makes the strings as a proof reads them.
    pub(crate) fn make_whole(&mut self) {
        let strings = self.strings_mut().into_iter();
        strings.for_each(BitString::make_whole);
    }

    /// Records the ANDs of a batch that have been computed: their operands are on the wires.
    /// `zeros` are the parts of the shares of zero, a plane for each.
    pub(crate) fn sent(
        &mut self,
        wires: &Wires,
        gates: &[Gate],
        zeros: [&Planes<u64>; 2],
        lanes: usize,
    ) {
        let words = words_for(lanes);
        let mut values = [(); 4].map(|()| Zeroizing::new(vec![0; words]));
        self.lanes = lanes;
        self.awaited = Zeroizing::new(Vec::with_capacity(words * gates.len()));
        for (i, gate) in gates.iter().enumerate() {
            let [x_own, x_next, y_own, y_next] = &mut values;
            wires.store(gate.a as usize, [x_own, x_next]);
            wires.store(gate.b as usize, [y_own, y_next]);
            let [[own_x, own_y], [next_x, next_y]] = [&mut self.own, &mut self.next];
            own_x.push(x_own, lanes);
            own_y.push(y_own, lanes);
            next_x.push(x_next, lanes);
            next_y.push(y_next, lanes);
            self.right.push(zeros[0].plane(i), lanes);
            let operands = x_next.iter().zip(y_next.iter()).zip(zeros[1].plane(i));
            let awaited = operands.map(|((x, y), zero)| x & y ^ zero);
            self.awaited.extend(awaited);
        }
    }

    /// Records the messages of the next role for these ANDs.
    pub(crate) fn received(&mut self, messages: &Planes<u64>) {
        let words = words_for(self.lanes);
        for (i, planes) in self.awaited.chunks_exact_mut(words).enumerate() {
            let pairs = planes.iter_mut().zip(messages.plane(i));
            pairs.for_each(|(sum, message)| *sum ^= message);
            self.left.push(planes, self.lanes);
        }
        self.awaited = Zeroizing::default();
    }

    /// ANDs of all lanes.
    pub(crate) fn ands(&self) -> usize {
        self.left.len()
    }

    /// Appends the ANDs `range` of another record, from a multiple of 64 on.
    pub(crate) fn append(&mut self, other: &Record, range: &Range<usize>) {
        for (all, more) in self.strings_mut().into_iter().zip(other.strings()) {
            all.append(more, range.clone());
        }
    }

    fn strings(&self) -> [&BitString; 6] {
        let ([x, y], [next_x, next_y]) = (&self.own, &self.next);
        [x, y, next_x, next_y, &self.right, &self.left]
    }

    fn strings_mut(&mut self) -> [&mut BitString; 6] {
        let ([x, y], [next_x, next_y]) = (&mut self.own, &mut self.next);
        [x, y, next_x, next_y, &mut self.right, &mut self.left]
    }

    /// As the prover of this role's messages.
    pub(crate) fn proven(&self) -> Proven<'_> {
        let ([x, y], [next_x, next_y]) = (&self.own, &self.next);
        Proven {
            left: vec![x, y],
            right: vec![next_y, next_x],
        }
    }

    /// As the left verifier of the next role's messages.
    pub(crate) fn of_next(&self) -> Verified<'_> {
        let [x, y] = &self.next;
        Verified {
            operands: vec![x, y],
            constant: vec![&self.left],
        }
    }

    /// As the right verifier of the messages of the role before.
    pub(crate) fn of_previous(&self) -> Verified<'_> {
        let [x, y] = &self.own;
        Verified {
            operands: vec![y, x],
            constant: vec![&self.right],
        }
    }
}
