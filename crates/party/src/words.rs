//! Plain values on their way into shares and out of them: one word an element.

use zeroize::Zeroizing;

/// Values of a tensor, one word an element, of which the lowest bits count; the bits above them are
/// zero. Zeroed on drop.
pub type Words = Zeroizing<Vec<u64>>;

/// Splits elements into their lowest `planes` bits, plane by plane, a bit a byte. Memory is
/// allocated once, so that no copy of an input is left behind by a buffer that grows.
///
/// # Panics
/// If `planes` is above 64: an element is one word.
pub fn to_planes(elements: &[u64], planes: usize) -> Zeroizing<Vec<u8>> {
    assert!(planes <= 64, "an element has at most 64 bits");
    let mut bits = Zeroizing::new(Vec::with_capacity(planes * elements.len()));
    for plane in 0..planes {
        let bit = |element: &u64| (element >> plane & 1) as u8;
        bits.extend(elements.iter().map(bit));
    }
    bits
}

/// Joins bit planes, a bit a byte, into elements.
///
/// # Panics
/// If `planes` is above 64: an element is one word.
pub fn from_planes(bits: &[u8], planes: usize) -> Words {
    assert!(planes <= 64, "an element has at most 64 bits");
    let count = bits.len() / planes.max(1);
    let mut elements = Zeroizing::new(vec![0; count]);
    for (plane, bits) in bits.chunks_exact(count.max(1)).enumerate() {
        for (element, bit) in elements.iter_mut().zip(bits) {
            *element |= u64::from(*bit) << plane;
        }
    }
    elements
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn planes_hold_elements() {
        let elements = [0, 1, 5, u64::MAX, (-3i64) as u64];
        assert_eq!(*from_planes(&to_planes(&elements, 64), 64), elements);
        assert_eq!(*from_planes(&to_planes(&[5, 2], 3), 3), [5, 2]);
        assert_eq!(*from_planes(&to_planes(&[5, 10], 3), 3), [5, 2]);
    }

    /// A buffer that had grown would have spare capacity, and would have left copies behind.
    #[test]
    fn memory_is_taken_once() {
        for (count, planes) in [(5, 64), (1000, 33), (7, 1), (0, 64)] {
            let elements = vec![u64::MAX; count];
            let bits = to_planes(&elements, planes);
            assert_eq!(
                (bits.len(), bits.capacity()),
                (count * planes, count * planes)
            );
            let elements = from_planes(&bits, planes);
            assert_eq!(elements.capacity(), count);
        }
    }
}
