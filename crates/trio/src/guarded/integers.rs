//! Integers modulo `p = 2^61 - 1`: inner products, and conversions from bits and to bits.
//!
//! Values whose range fits 60 bits may live there (crate `plan`): sums are local, and a product is
//! one resharing, which is proved as any message is. Inputs are bits, so that no owner can choose a
//! number outside of its range.
//!
//! *Bits to integers*, as in `convert`: a bit is `b_0 ^ b_1 ^ b_2`. Role 0 inputs the integer
//! `c = b_0 ^ b_1` as `x_0 + x_1`, where role 1 draws `x_1`; roles 1 and 2 know `d = b_2`; and
//! `b = c + d - 2 c d`. Of an integer whose bits weigh `w_j`, messages and their statements are
//!
//! | message | prover | products | `c_L` | `c_R` |
//! |---|---|---|---|---|
//! | `x_0` of each bit | 0 | `2 b_0 b_1` | `x_0 - b_0` | `x_1 - b_1` |
//! | `z_0` | 0 | none | `F(k_0) - z_0` | `-F(k_1)` |
//! | `z_1` | 1 | `(-2 w_j x_1) d` of each bit | `F(k_1) - z_1` | `-F(k_2)` |
//! | `z_2` | 2 | `d (-2 w_j x_0)` of each bit | `F(k_2) - z_2` | `-F(k_0)` |
//!
//! so all three roles have as many products as there are bits.
//!
//! *Integers to bits*: the bits of each component are shared bits, and a tape adds them
//! ([`adder`]). Signed numbers add `2^60` first, of which the bits of a result have none.

use super::adder::{BITS, MOST_BITS, adder};
use crate::Share;
use crate::arrive::Arriving;
use crate::convert::expand;
use crate::record::{Group, Sums, Words};
use crate::roles::Computing;
use crate::tape::TapeProgress;
use sealane_block::Prime;
use sealane_net::Mesh;
use sealane_party::{Fault, Form, Planes, Result, Selected, Shares};
use sealane_protocol::View;
use std::sync::Arc;
use zeroize::Zeroizing;

/// The weight of each bit of a value.
fn weights(bits: usize, signed: bool) -> Vec<u64> {
    let weight = |bit: usize| {
        if signed && bit + 1 == bits {
            Prime::neg(1 << bit)
        } else {
            1 << bit
        }
    };
    (0..bits).map(weight).collect()
}

fn words(words: Vec<u64>) -> Words {
    Arc::new(Zeroizing::new(words))
}

/// A step on integers at a party with a role.
pub(super) enum Running {
    Product(Box<Multiplying>),
    Input(Box<Injecting>),
    Weigh(Box<Weighing>),
}

/// Its progress: the share and the statements of a step that has ended.
pub(super) enum Ran {
    More(Running),
    Done(Share, Box<Sums>),
}

/// An inner product while its message is in transit.
pub(super) struct Multiplying {
    arriving: Arriving,
    zeros: [Planes<u64>; 2],
    factors: Factors,
}

/// Both components of both factors.
struct Factors {
    x: [Words; 2],
    y: [Words; 2],
    terms: usize,
    /// Rows and columns of a matrix product, each with their places among the lanes.
    lines: Option<[Vec<usize>; 2]>,
}

impl Factors {
    fn of(left: &Selected<Share>, right: &Selected<Share>) -> Result<Factors> {
        let lines = View::lines(&left.lanes, &right.lanes);
        let gathered = match &lines {
            Some([rows, columns, ..]) => [(left, rows), (right, columns)]
                .map(|(of, lanes)| Arc::new(of.share.gather(lanes, &of.inner))),
            None => [left.gathered(), right.gathered()],
        };
        let terms = gathered[0].planes();
        if gathered[1].planes() != terms {
            return Err(Fault::internal("factors of different lengths"));
        }
        let parts = |share: &Arc<Share>| {
            let form = Form::prime(share.planes(), share.elements());
            Ok::<_, Fault>(match form.parts(share)? {
                Some(parts) => parts.map(|part| words(part.to_vec())),
                // A shape alone is zero.
                None => [(); 2].map(|()| words(vec![0; form.words()])),
            })
        };
        Ok(Factors {
            x: parts(&gathered[0])?,
            y: parts(&gathered[1])?,
            terms,
            lines: lines.map(|[.., rows, columns]| [rows.indices(), columns.indices()]),
        })
    }

    /// This party's summand of each inner product, in the order of lanes:
    /// `x_i y_i + x_i y_(i+1) + x_(i+1) y_i`.
    fn cross(&self, lanes: usize) -> Planes<u64> {
        let ([x_own, x_next], [y_own, y_next]) = (&self.x, &self.y);
        let both = y_own.iter().zip(y_next.iter());
        let both = Zeroizing::new(both.map(|(a, b)| Prime::add(*a, *b)).collect::<Vec<_>>());
        let mut out = Form::prime(1, lanes).zeros();
        match &self.lines {
            Some(lines) => {
                let factors = [&x_own[..], &x_next[..], &both[..], &y_own[..]];
                self.cross_lines(lines, factors, &mut out);
            }
            None => {
                let mut sums = Zeroizing::new(vec![0u128; lanes]);
                for first in (0..self.terms).map(|term| term * lanes) {
                    let pairs = [[&x_own[..], &both[..]], [&x_next[..], &y_own[..]]];
                    for [x, y] in pairs.map(|pair| pair.map(|words| &words[first..][..lanes])) {
                        for (sum, (x, y)) in sums.iter_mut().zip(x.iter().zip(y)) {
                            *sum = Prime::fold(*sum + product(*x, *y));
                        }
                    }
                }
                let out = out.data_mut().iter_mut().zip(&sums[..]);
                out.for_each(|(out, sum)| *out = Prime::wide(*sum));
            }
        }
        out
    }

    /// The same of a matrix product: `a_0 b_0 + a_1 b_1`, with the words of both `a` before those
    /// of both `b`, in that order.
    fn cross_lines(
        &self,
        [rows, columns]: &[Vec<usize>; 2],
        [a0, a1, b0, b1]: [&[u64]; 4],
        out: &mut Planes<u64>,
    ) {
        // Each row and each column in one piece.
        let lines = |of: &[u64], count: usize| {
            let line = |line: usize| of[line..].iter().step_by(count).copied();
            Zeroizing::new(counted(of.len(), (0..count).flat_map(line)))
        };
        let [a0, a1] = [a0, a1].map(|a| lines(a, rows.len()));
        let [b0, b1] = [b0, b1].map(|b| lines(b, columns.len()));
        let terms = self.terms;
        for (r, row) in rows.iter().enumerate() {
            let a = [&a0, &a1].map(|a| &a[r * terms..][..terms]);
            for (c, column) in columns.iter().enumerate() {
                let b = [&b0, &b1].map(|b| &b[c * terms..][..terms]);
                let pairs = a[0].iter().zip(b[0]).zip(a[1].iter().zip(b[1]));
                let sum = pairs.fold(0, |sum, ((a, b), (c, d))| {
                    Prime::fold(sum + product(*a, *b) + product(*c, *d))
                });
                out.data_mut()[row + column] = Prime::wide(sum);
            }
        }
    }

    /// The statements, from the parts of a share of zero and the messages of the next role.
    fn statements(self, zeros: &[Planes<u64>; 2], received: &Planes<u64>) -> Sums {
        let lanes = received.data().len();
        let mut of_next = less(zeros[1].data(), received.data());
        let mut of_previous = less(&vec![0; lanes], zeros[0].data());
        let Factors { x, y, terms, lines } = self;
        if let Some([rows, columns]) = &lines {
            for words in [&mut of_next, &mut of_previous] {
                let lane = |row: &usize| columns.iter().map(|column| row + column).collect();
                let places = rows.iter().flat_map(|row| -> Vec<usize> { lane(row) });
                let placed = places.map(|lane| words[lane]);
                *words = Zeroizing::new(counted(rows.len() * columns.len(), placed));
            }
        } else {
            for term in 0..terms {
                let of = term * lanes..(term + 1) * lanes;
                let factors = x[1][of.clone()].iter().zip(&y[1][of]);
                for (sum, (x, y)) in of_next.iter_mut().zip(factors) {
                    *sum = Prime::add(*sum, Prime::mul(*x, *y));
                }
            }
        }
        let matrix = lines.as_ref().map(|lines| lines.each_ref().map(Vec::len));
        let group = |sides: Vec<Vec<&Words>>, constants, inner| Group {
            each: 1,
            matrix,
            sides: sides
                .into_iter()
                .map(|side| side.into_iter().map(Arc::clone).collect())
                .collect(),
            constants: Arc::new(constants),
            inner,
        };
        let ([x_own, x_next], [y_own, y_next]) = (&x, &y);
        let own = vec![vec![x_own, y_own], vec![y_next, x_next]];
        Sums {
            unit: 2 * terms,
            count: if matrix.is_some() { 1 } else { lanes },
            groups: [
                vec![group(own, Zeroizing::default(), false)],
                vec![group(vec![vec![y_own, x_own]], of_previous, false)],
                vec![group(vec![vec![x_next, y_next]], of_next, matrix.is_some())],
            ],
        }
    }
}

#[inline(always)]
fn product(a: u64, b: u64) -> u128 {
    u128::from(a) * u128::from(b)
}

/// Words less others.
fn less(words: &[u64], others: &[u64]) -> Zeroizing<Vec<u64>> {
    let pairs = words.iter().zip(others);
    Zeroizing::new(pairs.map(|(a, b)| Prime::sub(*a, *b)).collect())
}

/// So many words, without a vector that grows and leaves copies of shares behind.
fn counted(count: usize, of: impl Iterator<Item = u64>) -> Vec<u64> {
    let mut words = Vec::with_capacity(count);
    words.extend(of);
    words
}

/// Bits that become integers, while `x_0` is in transit.
pub(super) struct Injecting {
    /// `c` of each bit.
    c: Arriving,
    /// Both components of each bit, as integers.
    bits: [Words; 2],
    weights: Vec<u64>,
}

/// The same, while the message of the product is.
pub(super) struct Weighing {
    arriving: Arriving,
    zeros: [Planes<u64>; 2],
    bits: [Words; 2],
    /// Both components of `c`, and of `-2 w c`.
    c: [Words; 2],
    scaled: [Words; 2],
    weights: Vec<u64>,
}

impl Computing {
    /// Begins an inner product.
    pub(super) fn multiply(
        &mut self,
        (left, right): (&Selected<Share>, &Selected<Share>),
        mesh: &mut Mesh,
    ) -> Result<Running> {
        let form = Form::prime(1, left.lanes());
        let factors = Factors::of(left, right)?;
        let (arriving, zeros) = self.send_sum(form, factors.cross(form.elements()), mesh)?;
        Ok(Running::Product(Box::new(Multiplying {
            arriving,
            zeros,
            factors,
        })))
    }

    /// Sends a summand with its share of zero, whose parts it returns.
    fn send_sum(
        &mut self,
        form: Form,
        mut summand: Planes<u64>,
        mesh: &mut Mesh,
    ) -> Result<(Arriving, [Planes<u64>; 2])> {
        #[cfg(test)]
        super::tests::integers::harm(&mut summand);
        let zeros = self.keys.zeros(form);
        form.group.add(summand.data_mut(), zeros[0].data());
        form.group.subtract(summand.data_mut(), zeros[1].data());
        Ok((self.hand_over(form, summand, mesh)?, zeros))
    }

    /// Begins the conversion of bits to integers: role 0 inputs `c`.
    pub(super) fn begin_integers(
        &mut self,
        (bits, signed): (usize, bool),
        share: &Share,
        mesh: &mut Mesh,
    ) -> Result<Running> {
        if bits > MOST_BITS || share.planes() != bits {
            return Err(Fault::internal("bits of no integer below 2^60"));
        }
        let elements = share.elements();
        let form = Form::prime(bits, elements);
        let parts = Form::bits(bits, elements).parts(share)?;
        let part = |place: usize| match parts {
            Some(parts) => expand(form, |at| parts[place][at]),
            None => form.zeros(),
        };
        let both = [0, 1].map(|place| words(part(place).data().to_vec()));
        let values = (self.role_index.role == 0).then(|| {
            let mut values = part(0);
            let pairs = values.data_mut().iter_mut().zip(both[1].iter());
            pairs.for_each(|(value, other)| *value ^= other);
            #[cfg(test)]
            super::tests::integers::harm(&mut values);
            values
        });
        let c = self.input_of_role(0, Some(self.cpu), form, values, mesh)?;
        Ok(Running::Input(Box::new(Injecting {
            c,
            bits: both,
            weights: weights(bits, signed),
        })))
    }

    /// Continues it, after `c` has arrived.
    fn weigh_integers(&mut self, injecting: Injecting, mesh: &mut Mesh) -> Result<Running> {
        let Injecting { c, bits, weights } = injecting;
        let form = Form::prime(1, c.form.elements());
        let c = c.finish(mesh)?.map(|part| words(part.data().to_vec()));
        let scaled = c.each_ref().map(|c| {
            let planes = c.chunks_exact(form.elements().max(1)).zip(&weights);
            let words = planes.flat_map(|(plane, weight)| {
                let factor = Prime::neg(Prime::add(*weight, *weight));
                plane.iter().map(move |word| Prime::mul(*word, factor))
            });
            self::words(counted(c.len(), words))
        });
        // c has no component 2, and d no other.
        let summand = match self.role_index.role {
            1 => dot(form, &scaled[0], &bits[1]),
            2 => dot(form, &scaled[1], &bits[0]),
            _ => form.zeros(),
        };
        let (arriving, zeros) = self.send_sum(form, summand, mesh)?;
        Ok(Running::Weigh(Box::new(Weighing {
            arriving,
            zeros,
            bits,
            c,
            scaled,
            weights,
        })))
    }

    /// Reads a flight and writes the next one.
    pub(super) fn advance_integers(&mut self, running: Running, mesh: &mut Mesh) -> Result<Ran> {
        match running {
            Running::Product(of) => {
                let Multiplying {
                    arriving,
                    zeros,
                    factors,
                } = *of;
                let form = arriving.form;
                let parts = arriving.finish(mesh)?;
                let statements = factors.statements(&zeros, &parts[1]);
                Ok(Ran::Done(form.share(parts), Box::new(statements)))
            }
            Running::Input(of) => Ok(Ran::More(self.weigh_integers(*of, mesh)?)),
            Running::Weigh(of) => of.finish(self.role_index.role, mesh),
        }
    }

    /// Begins the conversion of integers to bits: the tape that adds the three components.
    pub(super) fn begin_bits<'a>(
        &mut self,
        (bits, signed): (usize, bool),
        share: &Share,
        mesh: &mut Mesh,
    ) -> Result<TapeProgress<'a>> {
        if bits > MOST_BITS {
            return Err(Fault::internal(
                "more bits than an integer modulo 2^61 - 1 has",
            ));
        }
        let elements = share.elements();
        let parts = Form::prime(1, elements).parts(share)?;
        let form = Form::bits(BITS, elements);
        let operands = [0, 1, 2].map(|component| {
            let place = self.role_index.place_of(component);
            // Of the first component, as if zero were a share with data.
            let more = if signed && component == 0 {
                1 << MOST_BITS
            } else {
                0
            };
            let word = place.map(|place| {
                let word = |at: usize| parts.map_or(0, |parts| parts[place][at]);
                let words = (0..elements).map(|at| Prime::add(word(at), more));
                (place, Zeroizing::new(words.collect::<Vec<_>>()))
            });
            let word = word.as_ref().map(|(place, word)| (*place, &word[..]));
            self.bits_of_component(form, word)
        });
        self.begin_tape(adder(bits), elements, &operands, true, mesh)
    }
}

/// The sum over all planes of the products of two operands.
fn dot(form: Form, a: &[u64], b: &[u64]) -> Planes<u64> {
    let mut out = form.zeros();
    let lanes = form.elements().max(1);
    for (a, b) in a.chunks_exact(lanes).zip(b.chunks_exact(lanes)) {
        for (sum, (a, b)) in out.data_mut().iter_mut().zip(a.iter().zip(b)) {
            *sum = Prime::add(*sum, Prime::mul(*a, *b));
        }
    }
    out
}

impl Weighing {
    /// The integers, and what all roles prove.
    fn finish(self, role: usize, mesh: &mut Mesh) -> Result<Ran> {
        let form = self.arriving.form;
        let mut parts = self.arriving.finish(mesh)?;
        let (bits, c, scaled) = (&self.bits, &self.c, &self.scaled);
        let lanes = form.elements();
        let unit = self.weights.len();
        // Shares of zero: of the role before, and of the next one with its message.
        let of_previous = Arc::new(less(&vec![0; lanes], self.zeros[0].data()));
        let of_next = Arc::new(less(self.zeros[1].data(), parts[1].data()));
        let group = |each: usize, sides: Vec<Vec<Words>>, constants: Words| Group {
            each,
            matrix: None,
            sides,
            constants,
            inner: false,
        };
        let none = || words(vec![]);
        // Statements of role 0: about its input, on one side, and about its share of zero.
        let input = |bit: &Words, twice: bool, c: &Words, zero: Words| {
            let operand = if twice { doubled(bit) } else { Arc::clone(bit) };
            vec![
                group(unit, vec![vec![operand]], Arc::new(less(c, bit))),
                group(1, vec![vec![]], zero),
            ]
        };
        let weighed = |operand: &Words, constants: Words| {
            vec![group(1, vec![vec![Arc::clone(operand)]], constants)]
        };
        let own = |left: &Words, right: &Words| {
            let sides = [left, right].map(|side| vec![Arc::clone(side)]);
            vec![group(1, sides.into(), none())]
        };
        let groups = match role {
            0 => {
                let sides = vec![vec![doubled(&bits[0])], vec![Arc::clone(&bits[1])]];
                let zeros = group(1, vec![vec![], vec![]], none());
                let own = vec![group(unit, sides, none()), zeros];
                [
                    own,
                    weighed(&scaled[0], of_previous),
                    weighed(&scaled[1], of_next),
                ]
            }
            1 => [
                own(&scaled[0], &bits[1]),
                input(&bits[0], false, &c[0], of_previous),
                weighed(&bits[1], of_next),
            ],
            _ => [
                own(&bits[0], &scaled[1]),
                weighed(&bits[0], of_previous),
                input(&bits[1], true, &c[1], of_next),
            ],
        };
        // The sum of w (c + d), whose components are where these are.
        let d = match role {
            0 => [false, false],
            1 => [false, true],
            _ => [true, false],
        };
        for (place, part) in parts.iter_mut().enumerate() {
            let of = if d[place] { &bits[place] } else { &c[place] };
            let planes = of.chunks_exact(lanes.max(1)).zip(&self.weights);
            for (plane, weight) in planes {
                for (sum, word) in part.data_mut().iter_mut().zip(plane) {
                    *sum = Prime::add(*sum, Prime::mul(*word, *weight));
                }
            }
        }
        let statements = Sums {
            unit,
            count: lanes,
            groups,
        };
        Ok(Ran::Done(form.share(parts), Box::new(statements)))
    }
}

/// Twice each word, which is a bit.
fn doubled(bits: &Words) -> Words {
    words(bits.iter().map(|bit| 2 * bit).collect())
}
