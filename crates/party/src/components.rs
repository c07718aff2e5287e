//! Shares of bits or of ring elements, as one word or several side by side, or as wire labels.

use crate::packed::Packed;
use crate::share::{Planes, Shares};
use sealane_block::Block;
use sealane_protocol::View;

/// One party's part of a tensor: so many components, of bits packed 64 to a word or of ring
/// elements, each reduced modulo `2^k`. Under a protocol that has wire labels too, a label is one
/// component.
///
/// A party without a role holds the shape alone, and all movements cost it nothing. At a party with
/// a role a shape alone stands for zero, of either algebra, and as a label.
pub struct Components<const P: usize>(pub Body<P>);

/// The data of a share.
pub enum Body<const P: usize> {
    /// Planes and elements.
    Shape(usize, usize),
    /// Bits.
    Bits(Parts<P, Packed>),
    /// Ring elements.
    Ring(Parts<P, Planes<u64>>),
    /// Wire labels.
    Labels(Parts<1, Planes<Block>>),
}

/// Components, which always move together.
pub struct Parts<const P: usize, T>(pub [T; P]);

impl<const P: usize> Components<P> {
    /// All components as words plane by plane: 64 lanes of bits, each plane from a word of its own,
    /// or one ring element a word. None of a shape without data, or of labels.
    pub fn components(&self) -> Option<[&[u64]; P]> {
        match &self.0 {
            Body::Shape(..) | Body::Labels(_) => None,
            Body::Bits(Parts(parts)) => Some(parts.each_ref().map(Packed::data)),
            Body::Ring(Parts(parts)) => Some(parts.each_ref().map(Planes::data)),
        }
    }
}

impl<const P: usize> Shares for Components<P> {
    fn elements(&self) -> usize {
        match &self.0 {
            Body::Shape(_, elements) => *elements,
            Body::Bits(pair) => pair.elements(),
            Body::Ring(pair) => pair.elements(),
            Body::Labels(labels) => labels.elements(),
        }
    }

    fn planes(&self) -> usize {
        match &self.0 {
            Body::Shape(planes, _) => *planes,
            Body::Bits(pair) => pair.planes(),
            Body::Ring(pair) => pair.planes(),
            Body::Labels(labels) => labels.planes(),
        }
    }

    fn zeros(planes: usize, elements: usize) -> Components<P> {
        Components(Body::Shape(planes, elements))
    }

    fn gather(&self, lanes: &View, inner: &View) -> Components<P> {
        Components(match &self.0 {
            Body::Shape(planes, _) => Body::Shape(planes * inner.count(), lanes.count()),
            Body::Bits(pair) => Body::Bits(pair.gather(lanes, inner)),
            Body::Ring(pair) => Body::Ring(pair.gather(lanes, inner)),
            Body::Labels(labels) => Body::Labels(labels.gather(lanes, inner)),
        })
    }

    fn spread(&self, inner: usize) -> Components<P> {
        Components(match &self.0 {
            Body::Shape(planes, elements) => Body::Shape(planes / inner, elements * inner),
            Body::Bits(pair) => Body::Bits(pair.spread(inner)),
            Body::Ring(pair) => Body::Ring(pair.spread(inner)),
            Body::Labels(labels) => Body::Labels(labels.spread(inner)),
        })
    }

    fn concat(parts: &[&Components<P>]) -> Components<P> {
        all(parts, Parts::concat, Parts::concat, Parts::concat).unwrap_or_else(|| {
            Components(Body::Shape(
                parts.first().map_or(0, |part| part.planes()),
                parts.iter().map(|part| part.elements()).sum(),
            ))
        })
    }

    fn concatenate(parts: &[&Components<P>]) -> Components<P> {
        let (bits, ring, labels) = (Parts::concatenate, Parts::concatenate, Parts::concatenate);
        all(parts, bits, ring, labels).unwrap_or_else(|| {
            Components(Body::Shape(
                parts.iter().map(|part| part.planes()).sum(),
                parts.first().map_or(0, |part| part.elements()),
            ))
        })
    }

    fn put(&mut self, places: &View, from: &Components<P>, first: usize) {
        // A shape alone stands for zero beside a share with data.
        let (planes, elements) = (self.planes(), self.elements());
        let zeros = |share: &Components<P>| matches!(share.0, Body::Shape(..));
        match (&mut self.0, &from.0) {
            (Body::Bits(to), Body::Bits(from)) => to.put(places, from, first),
            (Body::Ring(to), Body::Ring(from)) => to.put(places, from, first),
            (Body::Bits(to), _) => to.put(places, &Parts::zeros(planes, places.count()), 0),
            (Body::Ring(to), _) => to.put(places, &Parts::zeros(planes, places.count()), 0),
            (Body::Labels(to), Body::Labels(from)) => to.put(places, from, first),
            (Body::Labels(to), _) => to.put(places, &Parts::zeros(planes, places.count()), 0),
            (Body::Shape(..), _) if zeros(from) => {}
            (to, Body::Bits(_)) => {
                *to = Body::Bits(Parts::zeros(planes, elements));
                self.put(places, from, first);
            }
            (to, Body::Labels(_)) => {
                *to = Body::Labels(Parts::zeros(planes, elements));
                self.put(places, from, first);
            }
            (to, _) => {
                *to = Body::Ring(Parts::zeros(planes, elements));
                self.put(places, from, first);
            }
        }
    }

    fn resize(&self, first: usize, count: usize, signed: bool) -> Components<P> {
        Components(match &self.0 {
            Body::Shape(_, elements) => Body::Shape(count, *elements),
            Body::Bits(pair) => Body::Bits(pair.resize(first, count, signed)),
            Body::Ring(pair) => Body::Ring(pair.resize(first, count, signed)),
            Body::Labels(labels) => Body::Labels(labels.resize(first, count, signed)),
        })
    }
}

/// A way to join the components of several shares.
type Join<const P: usize, T> = fn(&[&Parts<P, T>]) -> Parts<P, T>;

/// All parts in one; none if they are shapes without data.
fn all<const P: usize>(
    parts: &[&Components<P>],
    bits: Join<P, Packed>,
    ring: Join<P, Planes<u64>>,
    labels: Join<1, Planes<Block>>,
) -> Option<Components<P>> {
    let held = parts.iter().find(|part| !matches!(part.0, Body::Shape(..)));
    Some(Components(match held.map(|part| &part.0)? {
        Body::Bits(_) => Body::Bits(joined(parts, bits, |body| match body {
            Body::Bits(pair) => Some(pair),
            _ => None,
        })),
        Body::Labels(_) => Body::Labels(joined(parts, labels, |body| match body {
            Body::Labels(labels) => Some(labels),
            _ => None,
        })),
        _ => Body::Ring(joined(parts, ring, |body| match body {
            Body::Ring(pair) => Some(pair),
            _ => None,
        })),
    }))
}

/// Joins all parts, where shapes without data are zeros.
fn joined<const P: usize, const N: usize, T: Shares>(
    parts: &[&Components<P>],
    join: Join<N, T>,
    held: impl Fn(&Body<P>) -> Option<&Parts<N, T>>,
) -> Parts<N, T> {
    let zeros = parts.iter().filter_map(|part| match part.0 {
        Body::Shape(planes, elements) => Some(Parts::zeros(planes, elements)),
        _ => None,
    });
    let zeros = zeros.collect::<Vec<_>>();
    let mut zeros = zeros.iter();
    let pairs = parts.iter().filter_map(|part| match &part.0 {
        Body::Shape(..) => zeros.next(),
        body => held(body),
    });
    let pairs = pairs.collect::<Vec<_>>();
    let same = pairs.len() == parts.len();
    assert!(same, "bits, ring elements and labels do not join");
    join(&pairs)
}

impl<const P: usize, T: Shares> Shares for Parts<P, T> {
    fn elements(&self) -> usize {
        self.0[0].elements()
    }

    fn planes(&self) -> usize {
        self.0[0].planes()
    }

    fn zeros(planes: usize, elements: usize) -> Self {
        Parts(std::array::from_fn(|_| T::zeros(planes, elements)))
    }

    fn gather(&self, lanes: &View, inner: &View) -> Self {
        Parts(std::array::from_fn(|i: usize| {
            self.0[i].gather(lanes, inner)
        }))
    }

    fn spread(&self, inner: usize) -> Self {
        Parts(std::array::from_fn(|i: usize| self.0[i].spread(inner)))
    }

    fn concat(parts: &[&Self]) -> Self {
        let all = |i: usize| parts.iter().map(|part| &part.0[i]).collect::<Vec<_>>();
        Parts(std::array::from_fn(|i| T::concat(&all(i))))
    }

    fn put(&mut self, places: &View, from: &Self, first: usize) {
        let both = self.0.iter_mut().zip(&from.0);
        both.for_each(|(to, from)| to.put(places, from, first));
    }

    fn concatenate(parts: &[&Self]) -> Self {
        let all = |i: usize| parts.iter().map(|part| &part.0[i]).collect::<Vec<_>>();
        Parts(std::array::from_fn(|i| T::concatenate(&all(i))))
    }

    fn resize(&self, first: usize, count: usize, signed: bool) -> Self {
        Parts(std::array::from_fn(|i: usize| {
            self.0[i].resize(first, count, signed)
        }))
    }
}
