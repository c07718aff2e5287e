//! Shares as tensors of bit planes, and the moves of elements that need no message.

use sealane_protocol::View;
use zeroize::Zeroize;

/// Shares of many elements that move without any message. Implemented by [`Planes`]; a protocol
/// with another layout implements it for its own type.
pub trait Shares: Sized + Send {
    /// Number of elements (lanes).
    fn elements(&self) -> usize;
    /// Planes of each element: bits over `Z2`, whole ring elements over `Z_2^k`.
    fn planes(&self) -> usize;
    /// Shares of the constant zero.
    fn zeros(planes: usize, elements: usize) -> Self;
    /// Returns for each lane `l` and each inner index `i` the element at `lanes[l] + inner[i]`: the
    /// result has `lanes.count()` elements of `inner.count() * planes` planes, inner index
    /// outermost.
    fn gather(&self, lanes: &View, inner: &View) -> Self;
    /// Reverses an inner gather: each element of `inner * p` planes becomes `inner` neighbouring
    /// elements of `p` planes.
    fn spread(&self, inner: usize) -> Self;
    /// Concatenates all elements of the parts. All have the same number of planes.
    fn concat(parts: &[&Self]) -> Self;
    /// Replaces the elements that a view names, in its order, by as many elements of `from` from
    /// number `first` on. Both have the same number of planes.
    fn put(&mut self, places: &View, from: &Self, first: usize);
    /// Puts the planes of the parts one behind the other in each element. All have the same number
    /// of elements.
    fn concatenate(parts: &[&Self]) -> Self;
    /// Takes planes `first..first + count`; planes past the last are zero, or (`signed`) repeat the
    /// last.
    fn resize(&self, first: usize, count: usize, signed: bool) -> Self;
}

/// Shares in plane-major storage: `data[plane * elements + element]`, so that the lanes of one bit
/// are adjacent and kernels read them without gathering. `E::default()` is a share of zero. Zeroed
/// on drop.
///
/// A party without a role holds the shape alone ([`Planes::shape`]), which takes no memory. A
/// shape makes shapes.
pub struct Planes<E: Zeroize + Copy> {
    planes: usize,
    elements: usize,
    data: Vec<E>,
}

impl<E: Zeroize + Copy> Planes<E> {
    /// Wraps data that is laid out plane by plane.
    ///
    /// # Panics
    /// If the length is not `planes * elements`.
    pub fn new(planes: usize, elements: usize, data: Vec<E>) -> Planes<E> {
        assert_eq!(
            data.len(),
            planes * elements,
            "planes and elements do not match the data"
        );
        Planes {
            planes,
            elements,
            data,
        }
    }
    /// The shape of so many planes and elements, without any data.
    pub fn shape(planes: usize, elements: usize) -> Planes<E> {
        Planes {
            planes,
            elements,
            data: Vec::new(),
        }
    }
    /// Returns whether data is missing.
    fn is_shape(&self) -> bool {
        self.data.len() != self.planes * self.elements
    }
    /// All elements of one plane.
    pub fn plane(&self, plane: usize) -> &[E] {
        &self.data[plane * self.elements..][..self.elements]
    }
    /// All elements of one plane, mutable.
    pub fn plane_mut(&mut self, plane: usize) -> &mut [E] {
        &mut self.data[plane * self.elements..][..self.elements]
    }
    /// All elements, plane by plane.
    pub fn data(&self) -> &[E] {
        &self.data
    }
    /// All elements, plane by plane, mutable.
    pub fn data_mut(&mut self) -> &mut [E] {
        &mut self.data
    }
}

impl<E: Zeroize + Copy> Drop for Planes<E> {
    fn drop(&mut self) {
        self.data.zeroize();
    }
}

impl<E: Zeroize + Copy + Default + Send> Shares for Planes<E> {
    fn elements(&self) -> usize {
        self.elements
    }

    fn planes(&self) -> usize {
        self.planes
    }

    fn zeros(planes: usize, elements: usize) -> Self {
        Planes::new(planes, elements, vec![E::default(); planes * elements])
    }

    fn gather(&self, lanes: &View, inner: &View) -> Self {
        if self.is_shape() {
            return Planes::shape(self.planes * inner.count(), lanes.count());
        }
        let (lanes, inner) = (lanes.indices(), inner.indices());
        let mut data = Vec::with_capacity(self.planes * lanes.len() * inner.len());
        for offset in &inner {
            for plane in 0..self.planes {
                let plane = self.plane(plane);
                data.extend(lanes.iter().map(|lane| plane[lane + offset]));
            }
        }
        Planes::new(self.planes * inner.len(), lanes.len(), data)
    }

    fn spread(&self, inner: usize) -> Self {
        let planes = self.planes / inner;
        if self.is_shape() {
            return Planes::shape(planes, self.elements * inner);
        }
        let mut data = Vec::with_capacity(self.data.len());
        for plane in 0..planes {
            for element in 0..self.elements {
                data.extend((0..inner).map(|i| self.plane(i * planes + plane)[element]));
            }
        }
        Planes::new(planes, self.elements * inner, data)
    }

    fn concat(parts: &[&Self]) -> Self {
        let planes = parts.first().map_or(0, |part| part.planes);
        let elements = parts.iter().map(|part| part.elements).sum();
        if parts.iter().any(|part| part.is_shape()) {
            return Planes::shape(planes, elements);
        }
        let mut data = Vec::with_capacity(planes * elements);
        for plane in 0..planes {
            parts
                .iter()
                .for_each(|part| data.extend_from_slice(part.plane(plane)));
        }
        Planes::new(planes, elements, data)
    }

    fn put(&mut self, places: &View, from: &Self, first: usize) {
        if self.is_shape() || from.is_shape() {
            *self = Planes::shape(self.planes, self.elements);
            return;
        }
        let places = places.indices();
        for plane in 0..self.planes {
            let from = &from.plane(plane)[first..][..places.len()];
            let to = self.plane_mut(plane);
            for (place, element) in places.iter().zip(from) {
                to[*place] = *element;
            }
        }
    }

    fn concatenate(parts: &[&Self]) -> Self {
        let planes = parts.iter().map(|part| part.planes).sum();
        let elements = parts.first().map_or(0, |part| part.elements);
        if parts.iter().any(|part| part.is_shape()) {
            return Planes::shape(planes, elements);
        }
        let mut data = Vec::with_capacity(planes * elements);
        parts
            .iter()
            .for_each(|part| data.extend_from_slice(&part.data));
        Planes::new(planes, elements, data)
    }

    fn resize(&self, first: usize, count: usize, signed: bool) -> Self {
        if self.is_shape() {
            return Planes::shape(count, self.elements);
        }
        let mut data = Vec::with_capacity(count * self.elements);
        for plane in first..first + count {
            if plane < self.planes {
                data.extend_from_slice(self.plane(plane));
            } else if signed && self.planes > 0 {
                data.extend_from_slice(self.plane(self.planes - 1));
            } else {
                data.resize(data.len() + self.elements, E::default());
            }
        }
        Planes::new(count, self.elements, data)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Shares of which element `e` has plane `p` equal to `10 * e + p`.
    fn sample(planes: usize, elements: usize) -> Planes<u64> {
        let cell = |i: usize| (10 * (i % elements) + i / elements) as u64;
        Planes::new(planes, elements, (0..planes * elements).map(cell).collect())
    }

    #[test]
    fn a_gather_broadcasts_and_groups() {
        let tensor = sample(2, 6);
        let lanes = View::new(1, vec![(2, 3), (2, 0)]);
        let inner = View::new(0, vec![(2, 1)]);
        let got = tensor.gather(&lanes, &inner);
        assert_eq!((got.planes(), got.elements()), (4, 4));
        let want = [
            10, 10, 40, 40, 11, 11, 41, 41, 20, 20, 50, 50, 21, 21, 51, 51,
        ];
        assert_eq!(got.data(), want);
    }

    #[test]
    fn spread_undoes_an_inner_gather() {
        let tensor = sample(3, 8);
        let lanes = View::new(0, vec![(4, 2)]);
        let grouped = tensor.gather(&lanes, &View::whole(2));
        assert_eq!(grouped.spread(2).data(), tensor.data());
    }

    #[test]
    fn elements_are_put_where_a_view_says() {
        let (mut tensor, from) = (sample(2, 6), sample(2, 4));
        let places = View::new(1, vec![(2, 3)]);
        tensor.put(&places, &from, 2);
        let want = [0, 20, 20, 30, 30, 50, 1, 21, 21, 31, 31, 51];
        assert_eq!(tensor.data(), want);
    }

    /// Shapes move as the shares whose shapes they are.
    #[test]
    fn a_shape_stays_a_shape_of_the_right_size() {
        let (lanes, inner) = (View::whole(3), View::whole(2));
        type Move = fn(&Planes<u64>, &View, &View) -> Planes<u64>;
        let moves: [Move; 7] = [
            |share, lanes, inner| share.gather(lanes, inner),
            |share, _, inner| share.spread(inner.count()),
            |share, _, _| Planes::concat(&[share, &sample(4, 2)]),
            |share, _, _| Planes::concatenate(&[&sample(3, 6), share]),
            |share, _, _| share.resize(1, 9, true),
            |share, lanes, _| {
                let mut zeros = Planes::zeros(4, 7);
                zeros.put(lanes, share, 2);
                zeros
            },
            |share, lanes, _| {
                let mut into = share.resize(0, 4, false);
                into.put(lanes, &sample(4, 3), 0);
                into
            },
        ];
        for made in moves {
            let of = |share| {
                let made = made(&share, &lanes, &inner);
                (made.planes(), made.elements(), made.is_shape())
            };
            let (planes, elements, is_shape) = of(sample(4, 6));
            assert!(!is_shape && planes * elements > 0);
            assert_eq!(of(Planes::shape(4, 6)), (planes, elements, true));
        }
    }

    #[test]
    fn concat_and_resize_keep_planes_together() {
        let (a, b) = (sample(2, 2), sample(2, 1));
        assert_eq!(Planes::concat(&[&a, &b]).data(), [0, 10, 0, 1, 11, 1]);
        assert_eq!(
            Planes::concatenate(&[&a, &a]).data(),
            [0, 10, 1, 11, 0, 10, 1, 11]
        );
        assert_eq!(a.resize(1, 2, true).data(), [1, 11, 1, 11]);
        assert_eq!(a.resize(1, 2, false).data(), [1, 11, 0, 0]);
    }
}
