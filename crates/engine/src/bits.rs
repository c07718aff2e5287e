//! Between elements of 64 bits and bit planes, one bit a byte.

/// The lowest `planes` bits of each element, plane by plane.
pub(crate) fn to_planes(elements: &[u64], planes: usize) -> Vec<u8> {
    let plane = |bit: usize| {
        elements
            .iter()
            .map(move |element| (element >> bit & 1) as u8)
    };
    (0..planes).flat_map(plane).collect()
}

/// The elements behind bit planes, zero- or sign-extended to 64 bits.
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
}
