//! Conversions of bits to ring elements, and operations on ring elements that open few bits.
//!
//! *Bits to ring elements* take a random bit `r` that is shared in both ways for each (`B2A` of
//! CrypTFlow2; Rathee et al., CCS 2020): `d = x ^ r` is opened, and `x` is
//! `r + d - 2 d r`.
//!
//! *Bits of a ring element* are bits of the sum of its shares, of which each party knows one: a
//! carry network on two known words.
//!
//! *A choice* `x y` of an element by a bit opens `d = x ^ r` and `e = y - m` for random `r` and `m`
//! whose product is shared, so that `x y = x e + x m`, and `x m` is `r m` or `m - r m`.
//!
//! *A floor* by `2^s`: of `y_0 + y_1 = y + w 2^k` the low `s` bits carry `c`, and `floor(y / 2^s)`
//! is `(y_0 >> s) + (y_1 >> s) + c - w 2^(k-s)`. It is exact for all shares.

use crate::carries::Sum;
use crate::role::Computing;
use crate::tape::{Finish, Input, RunningTape, TapeOf};
use crate::{MixedParty, Share};
use sealane_circuit::Goal;
use sealane_net::Mesh;
use sealane_party::bits::{low_mask, planes_from_elements, words_for};
use sealane_party::{Fault, Form, Planes, Progress, Result, Shares, ring};
use sealane_protocol::{Correlation, Domain};
use zeroize::Zeroizing;

/// Offset that makes elements of so many bits numbers from zero on, and what tells the carries of
/// their shares, for a floor by `2^by` in a ring of `k` bits.
pub(crate) fn floor_of(k: usize, (bits, signed): (usize, bool), by: u8) -> (u64, Sum) {
    let at = usize::from(by);
    let short = if signed {
        bits < k && at + 2 <= k
    } else {
        bits < k
    };
    let offset = match (signed, short) {
        (false, _) => 0,
        (true, true) => 1 << (k - 2),
        (true, false) => 1 << (k - 1),
    };
    let width = k as u8;
    let sum = if short {
        Sum::Short { at: by }
    } else {
        Sum::Carries { at: by, width }
    };
    (offset, sum)
}

impl<const L: bool> Computing<L> {
    /// Elements of a ring modulo a smaller power of two.
    pub(crate) fn reduced<'a>(
        &self,
        from: Domain,
        to: Domain,
        share: &Share,
    ) -> Result<Progress<'a, MixedParty<L>>> {
        let (planes, elements) = (share.planes(), share.elements());
        if ring(to)? > ring(from)? {
            return Err(Fault::internal("a conversion to a larger ring"));
        }
        let words = self.words(Form::ring(ring(from)?, planes, elements), share)?;
        let form = Form::ring(ring(to)?, planes, elements);
        Ok(Progress::share(form.share([form.sum([&words[..]])])))
    }

    /// Bits of numbers as elements of a ring.
    pub(crate) fn ring_of_bits<'a>(
        &mut self,
        to: Domain,
        (bits, signed): (usize, bool),
        share: &Share,
        mesh: &mut Mesh,
    ) -> Result<Progress<'a, MixedParty<L>>> {
        let (k, elements) = (ring(to)?, share.elements());
        let words = self.words(Form::bits(bits, elements), share)?;
        let form = Form::bits(bits.min(k), elements);
        let rows = form.sum([&words[..form.words()]]);
        self.ring_bits(to, form, rows, mesh, move |_, parts, _| {
            let form = Form::ring(k, 1, elements);
            let mut sum = form.zeros();
            for (plane, part) in parts.iter().enumerate() {
                let negative = signed && plane + 1 == bits;
                let weight = (1u64 << plane).wrapping_mul(if negative { u64::MAX } else { 1 });
                let pairs = sum.data_mut().iter_mut().zip(&**part);
                pairs.for_each(|(sum, bit)| *sum = sum.wrapping_add(bit.wrapping_mul(weight)));
            }
            form.trim(sum.data_mut());
            Ok(Progress::share(form.share([sum])))
        })
    }

    /// Shares of bits as elements of a ring, row by row, which `rest` reduces.
    fn ring_bits<'a>(
        &mut self,
        to: Domain,
        form: Form,
        mut rows: Planes<u64>,
        mesh: &mut Mesh,
        rest: impl FnOnce(
            &mut Computing<L>,
            Vec<Zeroizing<Vec<u64>>>,
            &mut Mesh,
        ) -> Result<Progress<'a, MixedParty<L>>>
        + Send
        + 'a,
    ) -> Result<Progress<'a, MixedParty<L>>> {
        let algebra = to.algebra;
        let mut parts = Vec::with_capacity(form.planes());
        for plane in 0..form.planes() {
            let mut random = self
                .goods
                .take(Correlation::DaBit { algebra }, form.elements())?;
            form.group.add(rows.plane_mut(plane), &random.bits[0]);
            parts.push(random.elements.swap_remove(0));
        }
        let first = self.first();
        self.open_masked([(form, rows)], mesh, move |party, [opened], mesh| {
            for (plane, part) in parts.iter_mut().enumerate() {
                for (at, part) in part.iter_mut().enumerate() {
                    *part = xored(first, bit(opened.plane(plane), at), *part);
                }
            }
            rest(party, parts, mesh)
        })
    }

    /// Bits of ring elements.
    pub(crate) fn extract<'a>(
        &mut self,
        domain: Domain,
        (first, count): (u8, u8),
        share: &Share,
        mesh: &mut Mesh,
    ) -> Result<Progress<'a, MixedParty<L>>> {
        let (k, lanes) = (ring(domain)?, share.elements());
        if usize::from(first) + usize::from(count) > k {
            return Err(Fault::internal("bits that elements do not have"));
        }
        let own = self.words(Form::ring(k, 1, lanes), share)?;
        let sum = Sum::Bits { first, count };
        let finish: Finish<'a, L> = Box::new(move |_, planes, _| {
            let form = Form::bits(count.into(), lanes);
            Ok(Progress::share(form.share([planes])))
        });
        self.run_sum(sum, &own, finish, mesh)
    }

    /// Runs a circuit on the shares of ring elements.
    fn run_sum<'a>(
        &mut self,
        sum: Sum,
        own: &[u64],
        finish: Finish<'a, L>,
        mesh: &mut Mesh,
    ) -> Result<Progress<'a, MixedParty<L>>> {
        let mut planes = Zeroizing::new(vec![0; sum.inputs() * words_for(own.len())]);
        planes_from_elements(own, &mut planes);
        let input = Input {
            first: if self.first() { 0 } else { sum.inputs() },
            words: &planes,
        };
        let tape = TapeOf::Step(sum.tape(Goal::Depth));
        let run = RunningTape::new(tape, own.len(), &[input], self.first());
        self.run_tape(run, finish, mesh)
    }

    /// Elements where a bit is one, zero elsewhere.
    pub(crate) fn select<'a>(
        &mut self,
        domain: Domain,
        choice: &Share,
        share: &Share,
        mesh: &mut Mesh,
    ) -> Result<Progress<'a, MixedParty<L>>> {
        let (k, lanes) = (ring(domain)?, share.elements());
        let (bits, elements) = (Form::bits(1, lanes), Form::ring(k, 1, lanes));
        let algebra = domain.algebra;
        let random = self.goods.take(Correlation::Select { algebra }, lanes)?;
        let mut d = bits.sum([&self.words(bits, choice)?[..]]);
        bits.group.add(d.data_mut(), &random.bits[0]);
        let mut e = elements.sum([&self.words(elements, share)?[..]]);
        elements.group.subtract(e.data_mut(), &random.elements[0]);
        elements.trim(e.data_mut());
        let first = self.first();
        let own = [(bits, d), (elements, e)];
        self.open_masked(own, mesh, move |_, [d, e], _| {
            let [element, product, ring_bit] = &random.elements[..] else {
                return Err(Fault::internal("other correlations of choices"));
            };
            let mut chosen = elements.zeros();
            for (at, chosen) in chosen.data_mut().iter_mut().enumerate() {
                let opened = bit(d.plane(0), at);
                let whole = xored(first, opened, ring_bit[at]);
                let rest = turned(opened, element[at], product[at]);
                *chosen = whole.wrapping_mul(e.data()[at]).wrapping_add(rest);
            }
            elements.trim(chosen.data_mut());
            Ok(Progress::share(elements.share([chosen])))
        })
    }

    /// Elements divided by a power of two, rounded down.
    pub(crate) fn floor<'a>(
        &mut self,
        domain: Domain,
        numbers: (usize, bool),
        by: u8,
        share: &Share,
        mesh: &mut Mesh,
    ) -> Result<Progress<'a, MixedParty<L>>> {
        let (k, lanes, s) = (ring(domain)?, share.elements(), usize::from(by));
        if s >= k {
            return Err(Fault::internal("a floor of all bits of a ring"));
        }
        let form = Form::ring(k, 1, lanes);
        let mut own = self.words(form, share)?;
        let (offset, sum) = floor_of(k, numbers, by);
        let first = self.first();
        if first {
            own.iter_mut()
                .for_each(|word| *word = word.wrapping_add(offset));
            form.trim(&mut own);
        }
        let read = |word: &u64| match sum {
            Sum::Short { .. } => word & low_mask(s) | (word >> (k - 1)) << s,
            _ => *word,
        };
        let inputs = Zeroizing::new(own.iter().map(read).collect::<Vec<_>>());
        let finish: Finish<'a, L> = Box::new(move |party, carries, mesh| {
            let bits = Form::bits(2, lanes);
            party.ring_bits(domain, bits, carries, mesh, move |_, parts, _| {
                let mut floor = form.zeros();
                let moved = if first { offset >> s } else { 0 };
                for (at, floor) in floor.data_mut().iter_mut().enumerate() {
                    // In two steps, since by one of all bits nothing is left.
                    let wrapped = parts[1][at] << 1 << (k - s - 1);
                    let sum = (own[at] >> s).wrapping_add(parts[0][at]);
                    *floor = sum.wrapping_sub(wrapped).wrapping_sub(moved);
                }
                form.trim(floor.data_mut());
                Ok(Progress::share(form.share([floor])))
            })
        });
        self.run_sum(sum, &inputs, finish, mesh)
    }
}

/// A public bit.
fn bit(row: &[u64], at: usize) -> u64 {
    row[at / 64] >> (at % 64) & 1
}

/// A party's share of a bit as a ring element: of a public bit xor a shared one.
fn xored(first: bool, public: u64, share: u64) -> u64 {
    turned(public, u64::from(first), share)
}

/// A share, or the whole less it where a public bit is one. There is no branch, which such a random
/// bit would mislead.
pub(crate) fn turned(public: u64, whole: u64, share: u64) -> u64 {
    let mask = 0u64.wrapping_sub(public);
    (share ^ mask).wrapping_add(mask & whole.wrapping_add(1))
}
