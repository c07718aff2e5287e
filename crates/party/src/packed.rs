//! Tensors of bits, 64 lanes to a word, and their movements.
//!
//! Plane-major: each plane starts a word, lane `l` of a plane is bit `l % 64` of its word `l / 64`,
//! and bits past the last lane are zero. A view of lanes decomposes into runs: contiguous lanes
//! move by words, repeated lanes are filled, columns of rows are split and joined by words
//! ([`ColumnSplit`]), and only other strided lanes move bit by bit.

use crate::bits::{self, Writer, low_mask, words_for};
use crate::column_split::ColumnSplit;
use crate::share::{Planes, Shares};
use sealane_protocol::View;
use std::sync::OnceLock;

/// One component of shared bits.
pub struct Packed {
    elements: usize,
    /// A word for each plane whose bits are those of all elements, if these are the same.
    same: Option<Planes<u64>>,
    /// An element of this is a word of 64 lanes. Made when it is asked for, where all elements are
    /// the same.
    words: OnceLock<Planes<u64>>,
}

impl Packed {
    /// Wraps planes of words that hold so many lanes.
    pub fn of(elements: usize, words: Planes<u64>) -> Packed {
        Packed {
            elements,
            same: None,
            words: words.into(),
        }
    }

    /// So many elements that are the same, of planes whose bits are a word each.
    fn repeating(elements: usize, same: Planes<u64>) -> Packed {
        Packed {
            elements,
            same: Some(same),
            words: OnceLock::new(),
        }
    }

    /// All words.
    fn words(&self) -> &Planes<u64> {
        self.words.get_or_init(|| {
            let row = words_for(self.elements);
            let last = low_mask((self.elements + 63) % 64 + 1);
            let mut words = Planes::zeros(self.planes(), row);
            for (plane, same) in self.same.iter().flat_map(|same| same.data()).enumerate() {
                let plane = words.plane_mut(plane);
                plane.fill(*same);
                plane
                    .iter_mut()
                    .last()
                    .into_iter()
                    .for_each(|word| *word &= last);
            }
            words
        })
    }

    /// All words, to be changed.
    fn words_mut(&mut self) -> &mut Planes<u64> {
        self.words();
        self.same = None;
        self.words.get_mut().expect("words that have been made")
    }

    /// The word of a plane whose lanes are all the same, which repeats; none of others.
    pub fn repeated(&self, plane: usize) -> Option<&u64> {
        self.same.as_ref()?.plane(plane).first()
    }

    fn new(planes: usize, elements: usize, words: Vec<u64>) -> Packed {
        Packed::of(elements, Planes::new(planes, words_for(elements), words))
    }

    /// The lanes of one plane.
    pub fn plane(&self, plane: usize) -> &[u64] {
        self.words().plane(plane)
    }

    /// Gathers lanes in steps of a few, from different lanes on: columns of rows. None if the steps
    /// are no power of two, do not begin at a word, or leave most lanes out.
    fn strands(&self, base: usize, dims: &[(usize, isize)], offsets: &[usize]) -> Option<Packed> {
        let &[(count, stride)] = dims else {
            return None;
        };
        let stride = usize::try_from(stride).ok()?;
        let column_split = ColumnSplit::of(stride)?;
        let least = base + offsets.iter().min()?;
        let first = least - least % stride;
        let strand = |offset: &usize| base + offset - first;
        let near = offsets.iter().all(|offset| strand(offset) < stride);
        if !near || !first.is_multiple_of(64) || 8 * offsets.len() < stride {
            return None;
        }
        let words = words_for(count);
        let mut gathered = Packed::zeros(offsets.len() * self.planes(), count);
        let mut strands = Planes::<u64>::zeros(stride, words);
        for plane in 0..self.planes() {
            let lanes = &self.plane(plane)[first / 64..];
            column_split.split(lanes, words, strands.data_mut());
            for (i, offset) in offsets.iter().enumerate() {
                let to = gathered.words_mut().plane_mut(i * self.planes() + plane);
                to.copy_from_slice(strands.plane(strand(offset)));
                if let Some(last) = to.last_mut() {
                    *last &= low_mask((count + 63) % 64 + 1);
                }
            }
        }
        Some(gathered)
    }

    /// Returns all words, plane by plane.
    pub fn data(&self) -> &[u64] {
        self.words().data()
    }
}

impl Shares for Packed {
    fn elements(&self) -> usize {
        self.elements
    }

    fn planes(&self) -> usize {
        let words = || self.words.get().map_or(0, Planes::planes);
        self.same.as_ref().map_or_else(words, Planes::planes)
    }

    fn zeros(planes: usize, elements: usize) -> Packed {
        Packed::of(elements, Planes::zeros(planes, words_for(elements)))
    }

    fn gather(&self, lanes: &View, inner: &View) -> Packed {
        let count = lanes.count();
        let (dims, offsets) = (merged(&lanes.dims), inner.indices());
        if let [(2.., 0)] = dims[..] {
            let bit = |plane: usize, at: usize| self.plane(plane)[at / 64] >> (at % 64) & 1;
            let planes = offsets.len() * self.planes();
            let mut same = Vec::with_capacity(planes);
            for offset in &offsets {
                let bits = (0..self.planes()).map(|plane| bit(plane, lanes.offset + offset));
                same.extend(bits.map(|bit| 0u64.wrapping_sub(bit)));
            }
            return Packed::repeating(count, Planes::new(planes, 1, same));
        }
        if let Some(strands) = self.strands(lanes.offset, &dims, &offsets) {
            return strands;
        }
        let planes = offsets.len() * self.planes();
        let mut writer = Writer::new(planes * words_for(count));
        for offset in &offsets {
            for plane in 0..self.planes() {
                if count > 0 {
                    gather_bits(self.plane(plane), lanes.offset + offset, &dims, &mut writer);
                }
                writer.align();
            }
        }
        Packed::new(planes, count, writer.finish())
    }

    fn spread(&self, inner: usize) -> Packed {
        let planes = self.planes() / inner;
        let elements = self.elements * inner;
        if let Some(column_split) = ColumnSplit::of(inner) {
            let mut joined = Packed::zeros(planes, elements);
            for plane in 0..planes {
                let strands: Vec<_> = (0..inner).map(|i| self.plane(i * planes + plane)).collect();
                column_split.join(&strands, joined.words_mut().plane_mut(plane));
            }
            return joined;
        }
        let mut writer = Writer::new(planes * words_for(elements));
        for plane in 0..planes {
            let sources: Vec<_> = (0..inner).map(|i| self.plane(i * planes + plane)).collect();
            for element in 0..self.elements {
                let (word, shift) = (element / 64, element % 64);
                for source in &sources {
                    writer.push(source[word] >> shift & 1, 1);
                }
            }
            writer.align();
        }
        Packed::new(planes, elements, writer.finish())
    }

    fn concat(parts: &[&Packed]) -> Packed {
        let planes = parts.first().map_or(0, |part| part.planes());
        let elements = parts.iter().map(|part| part.elements).sum();
        let mut writer = Writer::new(planes * words_for(elements));
        for plane in 0..planes {
            for part in parts {
                writer.copy(part.plane(plane), 0, part.elements);
            }
            writer.align();
        }
        Packed::new(planes, elements, writer.finish())
    }

    fn put(&mut self, places: &View, from: &Packed, first: usize) {
        let dims = merged(&places.dims);
        for plane in 0..self.planes() {
            let mut next = first;
            let to = self.words_mut().plane_mut(plane);
            put_bits(to, places.offset, &dims, from.plane(plane), &mut next);
        }
    }

    fn concatenate(parts: &[&Packed]) -> Packed {
        let words = parts.iter().map(|part| part.words()).collect::<Vec<_>>();
        let elements = parts.first().map_or(0, |part| part.elements);
        Packed::of(elements, Planes::concatenate(&words))
    }

    fn resize(&self, first: usize, count: usize, signed: bool) -> Packed {
        Packed::of(self.elements, self.words().resize(first, count, signed))
    }
}

/// Reduces a nest of dimensions to as few as possible: dimensions of length 1 are dropped, and
/// contiguous neighbours are merged.
fn merged(dims: &[(usize, isize)]) -> Vec<(usize, isize)> {
    let mut merged: Vec<(usize, isize)> = Vec::new();
    for &(len, stride) in dims.iter().filter(|(len, _)| *len != 1) {
        match merged.last_mut() {
            Some(outer) if outer.1 == len as isize * stride => *outer = (outer.0 * len, stride),
            _ => merged.push((len, stride)),
        }
    }
    merged
}

/// Replaces the bits that a nest of dimensions names, from bit `base` on, by those of `from` from
/// number `next` on.
fn put_bits(plane: &mut [u64], at: usize, dims: &[(usize, isize)], from: &[u64], next: &mut usize) {
    match *dims {
        [] => put_bits(plane, at, &[(1, 1)], from, next),
        [(len, 1)] => {
            bits::overwrite(plane, at, from, *next, len);
            *next += len;
        }
        [(len, stride), ref inner @ ..] => {
            for i in 0..len {
                let at = at.wrapping_add_signed(i as isize * stride);
                put_bits(plane, at, inner, from, next);
            }
        }
    }
}

/// Appends the bits that a nest of dimensions names, from bit `base` on.
fn gather_bits(plane: &[u64], base: usize, dims: &[(usize, isize)], writer: &mut Writer) {
    let bit = |at: usize| plane[at / 64] >> (at % 64) & 1;
    let at = |i: usize, stride: isize| base.wrapping_add_signed(i as isize * stride);
    match *dims {
        [] => writer.push(bit(base), 1),
        [(len, 1)] => writer.copy(plane, base, len),
        [(len, 0)] => writer.repeat(bit(base), len),
        [(len, stride)] => {
            for first in (0..len).step_by(64) {
                let some = (len - first).min(64);
                let one = |word, i| word | bit(at(first + i, stride)) << i;
                writer.push((0..some).fold(0, one), some);
            }
        }
        [(len, stride), ref inner @ ..] => {
            for i in 0..len {
                gather_bits(plane, at(i, stride), inner, writer);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashSet;

    /// Planes, elements, and bits plane by plane.
    fn tensor() -> impl Strategy<Value = (usize, usize, Vec<u8>)> {
        let elements = prop::sample::select(vec![1, 2, 63, 64, 65, 130, 200]);
        (0..5usize, elements).prop_flat_map(|(planes, elements)| {
            let bits = prop::collection::vec(0..2u8, planes * elements);
            bits.prop_map(move |bits| (planes, elements, bits))
        })
    }

    fn pack(planes: usize, elements: usize, bits: &[u8]) -> Packed {
        let mut packed = Packed::zeros(planes, elements);
        for plane in 0..planes {
            let from = &bits[plane * elements..][..elements];
            let words = packed.words_mut().plane_mut(plane);
            for (i, bit) in from.iter().enumerate() {
                words[i / 64] |= u64::from(*bit) << (i % 64);
            }
        }
        packed
    }

    /// Compares packed bits with bytes, including the zeros past the end.
    fn assert_same(packed: &Packed, bytes: &Planes<u8>) {
        let size = (bytes.planes(), bytes.elements());
        assert_eq!((packed.planes(), packed.elements()), size);
        for plane in 0..bytes.planes() {
            let words = packed.plane(plane).iter();
            let bits = words.flat_map(|word| (0..64).map(move |i| (word >> i & 1) as u8));
            let bits = bits.collect::<Vec<_>>();
            let (lanes, past) = bits.split_at(bytes.elements());
            assert_eq!(lanes, bytes.plane(plane));
            assert!(past.iter().all(|bit| *bit == 0));
        }
    }

    fn copy<S: Shares>(share: &S) -> S {
        share.gather(&View::whole(share.elements()), &View::whole(1))
    }

    /// A view that stays within `elements`, and how far its largest index lies beyond its smallest,
    /// which is 0.
    fn view(elements: usize, dims: Vec<(usize, isize)>) -> (View, usize) {
        let (mut offset, mut span) = (0, 0);
        let mut kept = vec![];
        for (len, stride) in dims {
            let reach = len.saturating_sub(1) * stride.unsigned_abs();
            if span + reach < elements {
                span += reach;
                offset += if stride < 0 { reach } else { 0 };
                kept.push((len, stride));
            }
        }
        (View { offset, dims: kept }, span)
    }

    proptest! {
        #[test]
        fn movements_are_those_of_bytes(
            (planes, elements, bits) in tensor(),
            lanes in prop::collection::vec((0..70usize, -66..66isize), 0..4),
            inner in prop::collection::vec((0..4usize, -8..8isize), 0..2),
            (first, count, signed) in (0..5usize, 0..6usize, any::<bool>()),
        ) {
            let packed = pack(planes, elements, &bits);
            let bytes = Planes::new(planes, elements, bits);
            let (mut lanes, span) = view(bytes.elements(), lanes);
            let (inner, inner_span) = view(bytes.elements() - span, inner);
            lanes.offset += bytes.elements() - 1 - span - inner_span;
            assert_same(&packed.gather(&lanes, &inner), &bytes.gather(&lanes, &inner));
            let resized = (packed.resize(first, count, signed), bytes.resize(first, count, signed));
            assert_same(&resized.0, &resized.1);
            assert_same(
                &Packed::concat(&[&packed, &packed, &packed]),
                &Planes::concat(&[&bytes, &bytes, &bytes]),
            );
            // A view that repeats names no places.
            if lanes.dims.iter().all(|(_, stride)| *stride > 0) {
                let distinct = lanes.indices().into_iter().collect::<HashSet<_>>();
                let count = lanes.count();
                if distinct.len() == count && count <= bytes.elements() {
                    let (mut packed, mut bytes) = (copy(&packed), copy(&bytes));
                    let (from, wide) = (copy(&packed), copy(&bytes));
                    let first = (bytes.elements() - count) / 2;
                    packed.put(&lanes, &from, first);
                    bytes.put(&lanes, &wide, first);
                    assert_same(&packed, &bytes);
                }
            }
            assert_same(&Packed::concatenate(&[&packed, &resized.0]), &Planes::concatenate(&[&bytes, &resized.1]));
            for inner in (1..=bytes.planes()).filter(|inner| bytes.planes() % inner == 0) {
                assert_same(&packed.spread(inner), &bytes.spread(inner));
            }
        }
    }

    #[test]
    fn columns_and_repeated_elements_are_gathered_and_spread() {
        for stride in [2, 3, 4, 8, 16, 64] {
            for rows in [2, 63, 64, 70, 600] {
                let elements = 64 + rows * stride;
                let bit = |i: usize| (((i * i * 2_654_435_761) >> 7) & 1) as u8;
                let bits = (0..2 * elements).map(bit).collect::<Vec<_>>();
                let (packed, bytes) = (pack(2, elements, &bits), Planes::new(2, elements, bits));
                for (first, columns) in [(0, stride), (1, stride - 1)] {
                    let lanes = View::new(64, vec![(rows, stride as isize)]);
                    let inner = View::new(first, vec![(columns, 1)]);
                    let gathered = (packed.gather(&lanes, &inner), bytes.gather(&lanes, &inner));
                    assert_same(&gathered.0, &gathered.1);
                    assert_same(&gathered.0.spread(columns), &gathered.1.spread(columns));
                }
                let same = View::new(3, vec![(rows, 0)]);
                let inner = View::whole(5);
                let (mut packed, mut bytes) =
                    (packed.gather(&same, &inner), bytes.gather(&same, &inner));
                assert!(packed.repeated(9).is_some());
                assert_same(&packed.resize(3, 4, false), &bytes.resize(3, 4, false));
                let (from, wide) = (Packed::zeros(10, 1), Planes::zeros(10, 1));
                packed.put(&View::whole(1), &from, 0);
                bytes.put(&View::whole(1), &wide, 0);
                assert_same(&packed, &bytes);
                assert!(packed.repeated(9).is_none());
            }
        }
    }

    #[test]
    fn nests_merge_where_they_walk_on() {
        assert_eq!(merged(&[(3, 8), (1, 5), (2, 4), (4, 1)]), [(24, 1)]);
        assert_eq!(merged(&[(3, 0), (2, 4), (4, 1)]), [(3, 0), (8, 1)]);
        assert_eq!(merged(&[(3, 0), (2, 0)]), [(6, 0)]);
    }
}
