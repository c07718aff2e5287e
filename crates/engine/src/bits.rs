//! Conversion between elements of 64 bits and bit planes with one bit a byte.

/// Splits elements into their lowest `planes` bits, plane by plane. Memory is allocated once, so
/// that no copy of an input is left behind by a buffer that grows.
pub(crate) fn to_planes(elements: &[u64], planes: usize) -> Vec<u8> {
    let mut bits = Vec::with_capacity(planes * elements.len());
    for plane in 0..planes {
        let bit = |element: &u64| (element >> plane & 1) as u8;
        bits.extend(elements.iter().map(bit));
    }
    bits
}

/// Joins bit planes into elements, zero- or sign-extended to 64 bits.
pub(crate) fn from_planes(bits: &[u8], planes: usize, signed: bool) -> Vec<u64> {
    let count = bits.len() / planes.max(1);
    let element = |i: usize| {
        let word = (0..planes).rev().fold(0u64, |word, plane| {
            word << 1 | u64::from(bits[plane * count + i])
        });
        let shift = 64 - planes as u32;
        if signed {
            ((word << shift) as i64 >> shift) as u64
        } else {
            word
        }
    };
    (0..count).map(element).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn planes_hold_elements() {
        let elements = [0, 1, 5, u64::MAX, (-3i64) as u64];
        assert_eq!(from_planes(&to_planes(&elements, 64), 64, false), elements);
        assert_eq!(
            from_planes(&to_planes(&elements[4..], 3), 3, true),
            &elements[4..]
        );
        assert_eq!(from_planes(&to_planes(&[5, 2], 3), 3, false), [5, 2]);
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
            let elements = from_planes(&bits, planes, false);
            assert_eq!(elements.capacity(), count);
        }
    }
}
