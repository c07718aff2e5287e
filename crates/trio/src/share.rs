//! One party's part of a shared tensor.

use crate::packed::Packed;
use sealane_party::{Planes, Shares};
use sealane_protocol::View;

/// One party's part of a tensor: two of the three components, of bits packed 64 to a word or of
/// ring elements, each reduced modulo `2^k`.
///
/// A party without a role holds the shape alone, and all movements cost it nothing. At a party with
/// a role a shape alone stands for zero, of either algebra.
pub struct Share(pub(crate) Body);

/// The data of a share.
pub(crate) enum Body {
    /// Planes and elements.
    Shape(usize, usize),
    Bits(Pair<Packed>),
    Ring(Pair<Planes<u64>>),
}

/// Components `i` and `i + 1`, at the party of role `i`; they always move together.
pub(crate) struct Pair<T>(pub(crate) [T; 2]);

impl Share {
    /// Both components of the party of role `i`, `i` first, as words plane by plane: 64 lanes of
    /// bits, each plane from a word of its own, or one ring element a word. None of a shape without
    /// data.
    pub fn components(&self) -> Option<[&[u64]; 2]> {
        match &self.0 {
            Body::Shape(..) => None,
            Body::Bits(Pair([own, next])) => Some([own.data(), next.data()]),
            Body::Ring(Pair([own, next])) => Some([own.data(), next.data()]),
        }
    }
}

impl Shares for Share {
    fn elements(&self) -> usize {
        match &self.0 {
            Body::Shape(_, elements) => *elements,
            Body::Bits(pair) => pair.elements(),
            Body::Ring(pair) => pair.elements(),
        }
    }

    fn planes(&self) -> usize {
        match &self.0 {
            Body::Shape(planes, _) => *planes,
            Body::Bits(pair) => pair.planes(),
            Body::Ring(pair) => pair.planes(),
        }
    }

    fn zeros(planes: usize, elements: usize) -> Share {
        Share(Body::Shape(planes, elements))
    }

    fn gather(&self, lanes: &View, inner: &View) -> Share {
        Share(match &self.0 {
            Body::Shape(planes, _) => Body::Shape(planes * inner.count(), lanes.count()),
            Body::Bits(pair) => Body::Bits(pair.gather(lanes, inner)),
            Body::Ring(pair) => Body::Ring(pair.gather(lanes, inner)),
        })
    }

    fn spread(&self, inner: usize) -> Share {
        Share(match &self.0 {
            Body::Shape(planes, elements) => Body::Shape(planes / inner, elements * inner),
            Body::Bits(pair) => Body::Bits(pair.spread(inner)),
            Body::Ring(pair) => Body::Ring(pair.spread(inner)),
        })
    }

    fn concat(parts: &[&Share]) -> Share {
        all(parts, Pair::concat, Pair::concat).unwrap_or_else(|| {
            Share(Body::Shape(
                parts.first().map_or(0, |part| part.planes()),
                parts.iter().map(|part| part.elements()).sum(),
            ))
        })
    }

    fn concatenate(parts: &[&Share]) -> Share {
        all(parts, Pair::concatenate, Pair::concatenate).unwrap_or_else(|| {
            Share(Body::Shape(
                parts.iter().map(|part| part.planes()).sum(),
                parts.first().map_or(0, |part| part.elements()),
            ))
        })
    }

    fn put(&mut self, places: &View, from: &Share, first: usize) {
        // A shape alone stands for zero beside a share with data.
        let (planes, elements) = (self.planes(), self.elements());
        let zeros = |share: &Share| matches!(share.0, Body::Shape(..));
        match (&mut self.0, &from.0) {
            (Body::Bits(to), Body::Bits(from)) => to.put(places, from, first),
            (Body::Ring(to), Body::Ring(from)) => to.put(places, from, first),
            (Body::Bits(to), _) => to.put(places, &Pair::zeros(planes, places.count()), 0),
            (Body::Ring(to), _) => to.put(places, &Pair::zeros(planes, places.count()), 0),
            (Body::Shape(..), _) if zeros(from) => {}
            (to, Body::Bits(_)) => {
                *to = Body::Bits(Pair::zeros(planes, elements));
                self.put(places, from, first);
            }
            (to, _) => {
                *to = Body::Ring(Pair::zeros(planes, elements));
                self.put(places, from, first);
            }
        }
    }

    fn resize(&self, first: usize, count: usize, signed: bool) -> Share {
        Share(match &self.0 {
            Body::Shape(_, elements) => Body::Shape(count, *elements),
            Body::Bits(pair) => Body::Bits(pair.resize(first, count, signed)),
            Body::Ring(pair) => Body::Ring(pair.resize(first, count, signed)),
        })
    }
}

/// A way to join the components of several shares.
type Join<T> = fn(&[&Pair<T>]) -> Pair<T>;

/// All parts in one; none if they are shapes without data.
fn all(parts: &[&Share], bits: Join<Packed>, ring: Join<Planes<u64>>) -> Option<Share> {
    let held = parts.iter().find(|part| !matches!(part.0, Body::Shape(..)));
    Some(Share(match held.map(|part| &part.0)? {
        Body::Bits(_) => Body::Bits(joined(parts, bits, |body| match body {
            Body::Bits(pair) => Some(pair),
            _ => None,
        })),
        _ => Body::Ring(joined(parts, ring, |body| match body {
            Body::Ring(pair) => Some(pair),
            _ => None,
        })),
    }))
}

/// Joins all parts, where shapes without data are zeros.
fn joined<T: Shares>(
    parts: &[&Share],
    join: Join<T>,
    held: impl Fn(&Body) -> Option<&Pair<T>>,
) -> Pair<T> {
    let zeros = parts.iter().map(|part| match part.0 {
        Body::Shape(planes, elements) => Some(Pair::zeros(planes, elements)),
        _ => None,
    });
    let zeros = zeros.collect::<Vec<_>>();
    let pairs = parts.iter().zip(&zeros);
    let pairs = pairs.filter_map(|(part, zero)| held(&part.0).or(zero.as_ref()));
    let pairs = pairs.collect::<Vec<_>>();
    let same = pairs.len() == parts.len();
    assert!(same, "bits and ring elements do not join");
    join(&pairs)
}

impl<T: Shares> Shares for Pair<T> {
    fn elements(&self) -> usize {
        self.0[0].elements()
    }

    fn planes(&self) -> usize {
        self.0[0].planes()
    }

    fn zeros(planes: usize, elements: usize) -> Self {
        Pair([0, 1].map(|_| T::zeros(planes, elements)))
    }

    fn gather(&self, lanes: &View, inner: &View) -> Self {
        Pair([0, 1].map(|i: usize| self.0[i].gather(lanes, inner)))
    }

    fn spread(&self, inner: usize) -> Self {
        Pair([0, 1].map(|i: usize| self.0[i].spread(inner)))
    }

    fn concat(parts: &[&Self]) -> Self {
        let all = |i: usize| parts.iter().map(|part| &part.0[i]).collect::<Vec<_>>();
        Pair([0, 1].map(|i| T::concat(&all(i))))
    }

    fn put(&mut self, places: &View, from: &Self, first: usize) {
        let both = self.0.iter_mut().zip(&from.0);
        both.for_each(|(to, from)| to.put(places, from, first));
    }

    fn concatenate(parts: &[&Self]) -> Self {
        let all = |i: usize| parts.iter().map(|part| &part.0[i]).collect::<Vec<_>>();
        Pair([0, 1].map(|i| T::concatenate(&all(i))))
    }

    fn resize(&self, first: usize, count: usize, signed: bool) -> Self {
        Pair([0, 1].map(|i: usize| self.0[i].resize(first, count, signed)))
    }
}
