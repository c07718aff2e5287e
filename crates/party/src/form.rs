//! Layout of a component: words in rows, the same for all algebras.
//!
//! Bits: a row is a plane, its bits are the lanes, and words add by XOR. Ring elements: a row is
//! one element of `k` bits in one word, and words add modulo `2^64`; [`Form::trim`] reduces them
//! modulo `2^k`. Integers modulo a prime are the same with words below it. So inputs, resharings
//! and reveals are written once, over rows. In a message rows follow each other without gaps.

use crate::bits::{Writer, elements_from_planes, low_mask, planes_from_elements, read, words_for};
use crate::components::{Body, Components, Parts};
use crate::fault::{Fault, Result};
use crate::packed::Packed;
use crate::share::{Planes, Shares};
use crate::words::Words;
use sealane_block::Prime;
use sealane_block::mersenne::PRIME_BITS;
use sealane_protocol::{Algebra, Domain};
use std::mem;
use zeroize::Zeroizing;

/// The addition of words.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Group {
    /// Lane by lane, by XOR.
    Xor,
    /// As integers modulo a power of two.
    Sum,
    /// As integers modulo the prime `2^61 - 1`, below which all words are.
    Prime,
}

impl Group {
    /// Adds words to words.
    pub fn add(self, sum: &mut [u64], words: &[u64]) {
        let pairs = sum.iter_mut().zip(words);
        match self {
            Group::Xor => pairs.for_each(|(sum, word)| *sum ^= word),
            Group::Sum => pairs.for_each(|(sum, word)| *sum = sum.wrapping_add(*word)),
            Group::Prime => pairs.for_each(|(sum, word)| *sum = Prime::add(*sum, *word)),
        }
    }

    /// Subtracts words from words.
    pub fn subtract(self, rest: &mut [u64], words: &[u64]) {
        let pairs = rest.iter_mut().zip(words);
        match self {
            Group::Xor => pairs.for_each(|(rest, word)| *rest ^= word),
            Group::Sum => pairs.for_each(|(rest, word)| *rest = rest.wrapping_sub(*word)),
            Group::Prime => pairs.for_each(|(rest, word)| *rest = Prime::sub(*rest, *word)),
        }
    }
}

/// The layout of one component of a tensor.
#[derive(Clone, Copy)]
pub struct Form {
    /// Addition of words.
    pub group: Group,
    planes: usize,
    elements: usize,
    /// Bits of a row.
    row_bits: usize,
}

impl Form {
    /// The layout of bits.
    pub fn bits(planes: usize, elements: usize) -> Form {
        Form {
            group: Group::Xor,
            planes,
            elements,
            row_bits: elements,
        }
    }

    /// The layout of elements of `Z_2^k`.
    pub fn ring(k: usize, planes: usize, elements: usize) -> Form {
        Form {
            group: Group::Sum,
            planes,
            elements,
            row_bits: k,
        }
    }

    /// The layout of integers modulo `2^61 - 1`.
    pub fn prime(planes: usize, elements: usize) -> Form {
        Form {
            group: Group::Prime,
            planes,
            elements,
            row_bits: PRIME_BITS as usize,
        }
    }

    /// A tensor of a domain.
    pub fn of(domain: Domain, planes: usize, elements: usize) -> Result<Form> {
        if is_prime(domain) {
            return Ok(Form::prime(planes, elements));
        }
        Ok(match width(domain)? {
            None => Form::bits(planes, elements),
            Some(k) => Form::ring(k, planes, elements),
        })
    }

    /// A tensor of a domain whose values are given as words of `bits` bits.
    pub fn of_words(domain: Domain, bits: usize, elements: usize) -> Result<Form> {
        if is_prime(domain) {
            return Ok(Form::prime(1, elements));
        }
        match width(domain)? {
            None => Ok(Form::bits(bits, elements)),
            Some(k) if k == bits => Ok(Form::ring(k, 1, elements)),
            Some(k) => {
                let what = format!("values of {bits} bits are no elements of {k} bits");
                Err(Fault::Internal(what))
            }
        }
    }

    /// The tensor without data.
    pub fn shape<const P: usize>(self) -> Components<P> {
        Components::zeros(self.planes, self.elements)
    }

    /// Elements of a plane.
    pub fn elements(self) -> usize {
        self.elements
    }

    /// Planes of the tensor.
    pub fn planes(self) -> usize {
        self.planes
    }

    /// Bits of a row.
    pub fn row_bits(self) -> usize {
        self.row_bits
    }

    /// Bits of a ring element; none of bits.
    pub fn ring_bits(self) -> Option<usize> {
        match self.group {
            Group::Xor => None,
            Group::Sum | Group::Prime => Some(self.row_bits),
        }
    }

    fn rows(self) -> usize {
        match self.group {
            Group::Xor => self.planes,
            Group::Sum | Group::Prime => self.planes * self.elements,
        }
    }

    fn row_words(self) -> usize {
        words_for(self.row_bits)
    }

    /// Words of the component.
    pub fn words(self) -> usize {
        self.rows() * self.row_words()
    }

    /// Bytes of the component in a message.
    pub fn bytes(self) -> usize {
        (self.rows() * self.row_bits).div_ceil(8)
    }

    /// A component of zeros.
    pub fn zeros(self) -> Planes<u64> {
        self.planes_of(vec![0; self.words()])
    }

    /// The sum of components.
    pub fn sum<'a>(self, components: impl IntoIterator<Item = &'a [u64]>) -> Planes<u64> {
        let mut components = components.into_iter();
        let mut sum = match components.next() {
            Some(first) => self.planes_of(first.to_vec()),
            None => self.zeros(),
        };
        for component in components {
            self.group.add(sum.data_mut(), component);
        }
        self.trim(sum.data_mut());
        sum
    }

    fn planes_of(self, words: Vec<u64>) -> Planes<u64> {
        let row = match self.group {
            Group::Xor => self.row_words(),
            Group::Sum | Group::Prime => self.elements,
        };
        Planes::new(self.planes, row, words)
    }

    /// Clears the bits that are not part of a row: bits past the last lane, multiples of `2^k`.
    /// Integers modulo a prime have none.
    pub fn trim(self, words: &mut [u64]) {
        if self.row_bits.is_multiple_of(64) || self.group == Group::Prime {
            return;
        }
        let mask = low_mask(self.row_bits % 64);
        let lasts = words.chunks_exact_mut(self.row_words().max(1));
        lasts.for_each(|row| row[row.len() - 1] &= mask);
    }

    /// Hands to `take` the message that holds a component: its rows without gaps, first bit lowest.
    pub fn pack<R>(self, words: &[u64], take: impl FnOnce(&[u8]) -> R) -> R {
        if self.row_bits.is_multiple_of(64) {
            return take(bytemuck::must_cast_slice(words));
        }
        let mut dense = Writer::new(words_for(self.rows() * self.row_bits));
        match self.row_words() {
            1 => words.iter().for_each(|row| dense.push(*row, self.row_bits)),
            words_a_row => {
                let rows = words.chunks_exact(words_a_row);
                rows.for_each(|row| dense.copy(row, 0, self.row_bits));
            }
        }
        let dense = Zeroizing::new(dense.finish());
        let bytes: &[u8] = bytemuck::must_cast_slice(&dense);
        take(&bytes[..self.bytes()])
    }

    /// The component that a message holds, which `fill` writes into [`Form::bytes`] bytes. None if
    /// the bits after the last row are not zero, or an integer is not below its prime.
    pub fn unpack<E>(
        self,
        fill: impl FnOnce(&mut [u8]) -> Result<(), E>,
    ) -> Result<Option<Planes<u64>>, E> {
        let row_bits = self.row_bits;
        let mut dense = Zeroizing::new(vec![0u64; words_for(self.rows() * row_bits)]);
        let bytes = bytemuck::must_cast_slice_mut::<u64, u8>(&mut dense);
        fill(&mut bytes[..self.bytes()])?;
        if row_bits.is_multiple_of(64) {
            return Ok(Some(self.planes_of(mem::take(&mut *dense))));
        }
        let used = (self.rows() * row_bits) % 64;
        if used > 0 && dense.last().is_some_and(|last| last >> used != 0) {
            return Ok(None);
        }
        if self.row_words() == 1 {
            let mut component = self.zeros();
            for (row, word) in component.data_mut().iter_mut().enumerate() {
                *word = read(&dense, row * row_bits, row_bits);
            }
            let below = |words: &[u64]| words.iter().fold(true, |all, of| all & (*of < Prime::P));
            let fits = self.group != Group::Prime || below(component.data());
            return Ok(fits.then_some(component));
        }
        let mut rows = Writer::new(self.words());
        for row in 0..self.rows() {
            rows.copy(&dense, row * row_bits, row_bits);
            rows.align();
        }
        Ok(Some(self.planes_of(rows.finish())))
    }

    /// As [`Form::unpack`], into the words of a component. False if there is none.
    pub fn unpack_to<E>(
        self,
        into: &mut [u64],
        fill: impl FnOnce(&mut [u8]) -> Result<(), E>,
    ) -> Result<bool, E> {
        if self.row_bits.is_multiple_of(64) {
            fill(bytemuck::must_cast_slice_mut(into))?;
            return Ok(true);
        }
        let component = self.unpack(fill)?;
        let fits = component.map(|component| into.copy_from_slice(component.data()));
        Ok(fits.is_some())
    }

    /// A component from values, one word an element, of which the lowest bits count; modulo a prime
    /// all of them, in two's complement.
    pub fn encode(self, values: &[u64]) -> Planes<u64> {
        let mut component = self.zeros();
        match self.group {
            Group::Xor => planes_from_elements(values, component.data_mut()),
            Group::Sum => {
                component.data_mut().copy_from_slice(values);
                self.trim(component.data_mut());
            }
            Group::Prime => {
                let words = component.data_mut().iter_mut().zip(values);
                words.for_each(|(word, value)| *word = Prime::from_signed(*value));
            }
        }
        component
    }

    /// The values of a component, one word an element; modulo a prime those of least size, in two's
    /// complement.
    ///
    /// # Errors
    /// [`Fault::Internal`] if an element does not fit a word.
    pub fn decode(self, component: &[u64]) -> Result<Words> {
        let fits = match self.group {
            Group::Xor => self.planes <= 64,
            Group::Sum | Group::Prime => self.planes == 1,
        };
        if !fits {
            let what = "an element that is opened does not fit a word";
            return Err(Fault::Internal(what.to_string()));
        }
        let mut values = Zeroizing::new(vec![0; self.elements]);
        match self.group {
            Group::Xor => elements_from_planes(component, &mut values),
            Group::Sum => values.copy_from_slice(component),
            Group::Prime => {
                let values = values.iter_mut().zip(component);
                values.for_each(|(value, word)| *value = Prime::to_signed(*word));
            }
        }
        Ok(values)
    }

    /// Returns the components of a share that should have this form; none if it is a shape without
    /// data.
    ///
    /// # Errors
    /// [`Fault::Internal`] if it has another form.
    pub fn parts<const P: usize>(self, share: &Components<P>) -> Result<Option<[&[u64]; P]>> {
        let fits = match &share.0 {
            Body::Shape(..) => true,
            Body::Bits(_) => self.group == Group::Xor,
            Body::Ring(_) => self.group != Group::Xor,
            Body::Labels(_) => false,
        };
        if !fits || (self.planes, self.elements) != (share.planes(), share.elements()) {
            let what = "a share does not live where its step says";
            return Err(Fault::Internal(what.to_string()));
        }
        Ok(share.components())
    }

    /// A share of these components.
    pub fn share<const P: usize>(self, parts: [Planes<u64>; P]) -> Components<P> {
        Components(match self.group {
            Group::Xor => Body::Bits(Parts(parts.map(|part| Packed::of(self.elements, part)))),
            Group::Sum | Group::Prime => Body::Ring(Parts(parts)),
        })
    }
}

/// Returns whether the elements of a domain are integers modulo `2^61 - 1`.
pub fn is_prime(domain: Domain) -> bool {
    domain.algebra == Algebra::Fp && !domain.authenticated
}

/// Bits of an element if the domain is a ring of `2^k` elements, none if it is bits.
///
/// # Errors
/// [`Fault::Internal`] if it has other elements, or is authenticated.
pub fn width(domain: Domain) -> Result<Option<usize>> {
    match domain.algebra {
        _ if domain.authenticated => {}
        Algebra::Z2 => return Ok(None),
        Algebra::Z2k(k @ 1..=64) => return Ok(Some(usize::from(k))),
        _ => {}
    }
    Err(Fault::Internal(format!("no words for {domain:?}")))
}
