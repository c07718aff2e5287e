//! Conversions between bits and integers modulo `2^k`.
//!
//! *Integers to bits* (bit decomposition in Mohassel and Rindal, "ABY3", CCS 2018). The bits of
//! each component `x_j` are shared bits already: component `j` of the sharing is the word itself,
//! which its two holders know, and the other components are zero. A tape adds the three words. The
//! only messages are the resharings of the tape, so its security is that of tapes.
//!
//! *Bits to integers* (bit injection there; here two of the three summands join locally). A bit `b`
//! is `b_0 ^ b_1 ^ b_2`. Role 0 knows `c = b_0 ^ b_1` and inputs it as a ring element. Roles 1 and
//! 2 know `d = b_2`: it is component 2 of a sharing whose others are zero. Now `b` is
//! `c + d - 2 c d`, and a value whose bits have weights `w_j` is
//!
//! ```text
//! sum of w_j (c_j + d_j)  -  2 * (inner product of all c_j and w_j d_j)
//! ```
//!
//! which is one input and one resharing of one element: two flights. An input and a product are the
//! only messages, and each is secure by itself: role 2 sees `c` less `F(k_1)`, and does not know
//! `k_1`.

use crate::Share;
use crate::arrive::Arriving;
use crate::roles::Computing;
use crate::tape::TapeProgress;
use sealane_circuit::{Builder, Int, Machine, Tape, compile};
use sealane_net::Mesh;
use sealane_party::add_terms;
use sealane_party::bits::{planes_from_elements, words_for};
use sealane_party::{Fault, Form, Planes, Result, Shares};
use sealane_protocol::Goal;
use std::sync::{Arc, OnceLock};

/// Adds three words of so many bits, at most 64, modulo the power of two.
pub(crate) fn adder(bits: usize) -> &'static Tape {
    static TAPES: [OnceLock<Tape>; 65] = [const { OnceLock::new() }; 65];
    TAPES[bits].get_or_init(|| {
        let mut b = Builder::for_goal(Goal::Depth);
        let words = [(); 3].map(|()| b.input(bits));
        let sum = b.sum(&words.each_ref().map(|word| Int::unsigned(word)), bits);
        compile(&b.finish(vec![sum]), &Machine::ROUNDS)
    })
}

/// State of a conversion of bits to ring elements, during the input.
pub(crate) struct Inject {
    /// c, a plane for each bit.
    c: Arriving,
    /// d, at roles 1 and 2; all of its components but this one are zero.
    d: Option<Planes<u64>>,
    weights: Vec<u64>,
    k: usize,
}

/// State of the same conversion, during the inner product.
pub(crate) struct Weighed {
    product: Arriving,
    /// The sum of w (c + d).
    linear: [Planes<u64>; 2],
}

impl Computing {
    /// Begins the conversion of integers to bits: the tape that adds the three components.
    pub(crate) fn decompose<'a>(
        &mut self,
        k: usize,
        bits: usize,
        share: &Share,
        mesh: &mut Mesh,
    ) -> Result<TapeProgress<'a>> {
        if bits > k {
            let what = format!("no {bits} bits of an integer modulo 2^{k}");
            return Err(Fault::Internal(what));
        }
        let elements = share.elements();
        let parts = Form::ring(k, 1, elements).parts(share)?;
        let words = [0, 1, 2].map(|component| {
            let place = self.role_index.place_of(component);
            let word = place.and_then(|place| Some((place, parts?[place])));
            self.bits_of_component(Form::bits(bits, elements), word)
        });
        self.begin_tape(adder(bits), elements, &words, false, mesh)
    }

    /// The bits of a component, as a sharing in which it is itself the only one that is not zero:
    /// at its holders with its place among their two.
    pub(crate) fn bits_of_component(
        &self,
        form: Form,
        word: Option<(usize, &[u64])>,
    ) -> Arc<Share> {
        let mut shared = [form.zeros(), form.zeros()];
        if let Some((place, word)) = word {
            planes_from_elements(word, shared[place].data_mut());
        }
        Arc::new(form.share(shared))
    }

    /// Begins the conversion of bits to integers: role 0 inputs c.
    pub(crate) fn inject(
        &mut self,
        k: usize,
        bits: usize,
        signed: bool,
        share: &Share,
        mesh: &mut Mesh,
    ) -> Result<Inject> {
        let elements = share.elements();
        let parts = Form::bits(bits, elements).parts(share)?;
        let weights = weights(bits, signed, k);
        let form = Form::ring(k, weights.len(), elements);
        let values = match (parts, self.role_index.role) {
            (Some([own, next]), 0) => Some(expand(form, |at| own[at] ^ next[at])),
            (None, 0) => Some(form.zeros()),
            _ => None,
        };
        let d = self.role_index.place_of(2).map(|place| match parts {
            Some(parts) => expand(form, |at| parts[place][at]),
            None => form.zeros(),
        });
        let c = self.input_of_role(0, Some(self.cpu), form, values, mesh)?;
        Ok(Inject { c, d, weights, k })
    }

    /// Continues the conversion of bits to integers, after c has arrived.
    pub(crate) fn weigh(&mut self, inject: Inject, mesh: &mut Mesh) -> Result<Weighed> {
        let Inject { c, d, weights, k } = inject;
        let form = Form::ring(k, 1, c.form.elements());
        let [own, next] = c.finish(mesh)?;
        // c has no component 2, and d no other: role 0 has no summand, and roles 1 and 2 have the
        // product of d and the other component of c that they hold.
        let (summand, linear) = match (self.role_index.role, d) {
            (1, Some(d)) => (product(form, &own, &d, &weights), [own, d]),
            (_, Some(d)) => (product(form, &next, &d, &weights), [d, next]),
            (_, None) => (form.zeros(), [own, next]),
        };
        let linear = linear.map(|planes| weighted_sum(form, planes, &weights));
        let product = self.reshare(form, summand, mesh)?;
        Ok(Weighed { product, linear })
    }
}

/// The sum of all `-2 w c d`, not reduced.
fn product(form: Form, c: &Planes<u64>, d: &Planes<u64>, weights: &[u64]) -> Planes<u64> {
    let mut sum = form.zeros();
    for (plane, weight) in weights.iter().enumerate() {
        let factor = weight.wrapping_mul(2u64.wrapping_neg());
        let pairs = c.plane(plane).iter().zip(d.plane(plane));
        let terms = pairs.map(|(c, d)| c.wrapping_mul(*d).wrapping_mul(factor));
        add_terms(sum.data_mut(), terms, plane == 0);
    }
    sum
}

/// The sum of the planes, each times its weight, not reduced.
fn weighted_sum(form: Form, planes: Planes<u64>, weights: &[u64]) -> Planes<u64> {
    if weights == [1] {
        return planes;
    }
    let mut sum = form.zeros();
    for (plane, weight) in weights.iter().enumerate() {
        let terms = planes.plane(plane).iter();
        let terms = terms.map(|word| word.wrapping_mul(*weight));
        add_terms(sum.data_mut(), terms, plane == 0);
    }
    sum
}

impl Weighed {
    /// Returns the integers.
    pub(crate) fn finish(self, mesh: &mut Mesh) -> Result<Share> {
        let form = self.product.form;
        let mut parts = self.product.finish(mesh)?;
        for (part, linear) in parts.iter_mut().zip(&self.linear) {
            form.group.add(part.data_mut(), linear.data());
            form.trim(part.data_mut());
        }
        Ok(form.share(parts))
    }
}

/// Reduces integers modulo a smaller power of two, locally.
pub(crate) fn reduce(k: usize, smaller: usize, share: &Share) -> Result<Share> {
    let (planes, elements) = (share.planes(), share.elements());
    let form = Form::ring(smaller, planes, elements);
    let Some(parts) = Form::ring(k, planes, elements).parts(share)? else {
        return Ok(form.shape());
    };
    Ok(form.share(parts.map(|part| {
        let mut reduced = form.zeros();
        reduced.data_mut().copy_from_slice(part);
        form.trim(reduced.data_mut());
        reduced
    })))
}

/// The weight of each bit of a value. Bits above `k` weigh a multiple of `2^k` and are left out.
fn weights(bits: usize, signed: bool, k: usize) -> Vec<u64> {
    let weight = |bit: usize| {
        if signed && bit + 1 == bits {
            (1u64 << bit).wrapping_neg()
        } else {
            1 << bit
        }
    };
    (0..bits.min(k)).map(weight).collect()
}

/// The lowest planes of packed bits, each bit a word of its own. `word` is the word at a place of
/// the planes.
pub(crate) fn expand(form: Form, word: impl Fn(usize) -> u64) -> Planes<u64> {
    let mut words = form.zeros();
    let elements = form.elements();
    let stride = words_for(elements).max(1);
    let planes = words.data_mut().chunks_mut(elements.max(1));
    for (plane, words) in planes.enumerate() {
        for (at, words) in words.chunks_mut(64).enumerate() {
            let bits = word(plane * stride + at);
            let words = words.iter_mut().enumerate();
            words.for_each(|(bit, word)| *word = bits >> bit & 1);
        }
    }
    words
}
