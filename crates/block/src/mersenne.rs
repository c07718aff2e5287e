//! Integers modulo a Mersenne prime `2^B - 1`, one in a word, in constant time.
//!
//! A multiple of `2^B` is the same number of ones, so a reduction adds the upper bits of a word to
//! the lower ones. Sharing and its proofs use `B = 61`, the largest such prime below `2^64`; tests
//! of proofs use smaller ones, all of which are 3 modulo 4.

/// Bits of the prime of which elements are shared.
pub const PRIME_BITS: u32 = 61;

/// The integers modulo `2^61 - 1`.
pub type Prime = Mersenne<PRIME_BITS>;

/// The integers modulo `2^B - 1`, for a prime of 2 to 61 bits. An element is a word below it.
pub struct Mersenne<const B: u32>;

impl<const B: u32> Mersenne<B> {
    /// The prime.
    pub const P: u64 = (1 << B) - 1;

    /// An element, from a word of at most twice the prime.
    #[inline(always)]
    const fn once(x: u64) -> u64 {
        let less = x.wrapping_sub(Self::P);
        // The sign of the difference.
        let add = Self::P & (less >> 63).wrapping_neg();
        less.wrapping_add(add)
    }

    /// The sum of two elements.
    #[inline(always)]
    pub const fn add(a: u64, b: u64) -> u64 {
        Self::once(a + b)
    }

    /// The difference of two elements.
    #[inline(always)]
    pub const fn sub(a: u64, b: u64) -> u64 {
        Self::once(a + Self::P - b)
    }

    /// The element that is zero less another one.
    #[inline(always)]
    pub const fn neg(a: u64) -> u64 {
        Self::once(Self::P - a)
    }

    /// The product of two elements.
    #[inline(always)]
    pub const fn mul(a: u64, b: u64) -> u64 {
        Self::wide(a as u128 * b as u128)
    }

    /// The element that any word is.
    #[inline(always)]
    pub const fn reduce(mut x: u64) -> u64 {
        let mut folds = 0;
        while folds <= 64 / B {
            x = (x & Self::P) + (x >> B);
            folds += 1;
        }
        Self::once(x)
    }

    /// A number below `2^(B + 3)` that is `x` modulo the prime, for `x` below `2^(2 B + 2)`.
    #[inline(always)]
    pub const fn fold(x: u128) -> u128 {
        (x & Self::P as u128) + (x >> B)
    }

    /// The element that a sum of up to four products of elements is.
    #[inline(always)]
    pub const fn wide(x: u128) -> u64 {
        let mut x = Self::fold(x) as u64;
        if B < 3 {
            x = (x & Self::P) + (x >> B);
        }
        Self::once((x & Self::P) + (x >> B))
    }

    /// The element that a number of 64 bits in two's complement is.
    #[inline(always)]
    pub const fn from_signed(x: u64) -> u64 {
        // A negative one is the word less 2^64.
        let whole = Self::reduce(x);
        let excess = Self::reduce(1 << (63 % B)) as u128 * 2;
        let excess = Self::wide(excess) & (x >> 63).wrapping_neg();
        Self::sub(whole, excess)
    }

    /// The number of least size that an element is, in two's complement.
    #[inline(always)]
    pub const fn to_signed(x: u64) -> u64 {
        let upper = (x >> (B - 1)).wrapping_neg();
        x.wrapping_sub(Self::P & upper)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all_of<const B: u32>(numbers: &[u64]) {
        let p = u128::from(Mersenne::<B>::P);
        for &a in numbers {
            let x = Mersenne::<B>::reduce(a);
            assert_eq!(u128::from(x), u128::from(a) % p, "{a}");
            let signed = i128::from(a as i64).rem_euclid(p as i128) as u64;
            assert_eq!(Mersenne::<B>::from_signed(a), signed, "{a}");
            let number = Mersenne::<B>::to_signed(x) as i64;
            assert_eq!(i128::from(number).rem_euclid(p as i128) as u64, x);
            assert!(i128::from(number).abs() <= p as i128 / 2, "{a}");
            for &b in numbers {
                let y = Mersenne::<B>::reduce(b);
                let [a, b] = [x, y].map(u128::from);
                assert_eq!(u128::from(Mersenne::<B>::add(x, y)), (a + b) % p);
                assert_eq!(u128::from(Mersenne::<B>::sub(x, y)), (a + p - b) % p);
                assert_eq!(u128::from(Mersenne::<B>::mul(x, y)), a * b % p);
                let four = 4 * a * b;
                assert_eq!(u128::from(Mersenne::<B>::wide(four)), four % p);
            }
            assert_eq!(u128::from(Mersenne::<B>::neg(x)), (p - u128::from(x)) % p);
        }
    }

    #[test]
    fn elements_are_numbers_modulo_the_prime() {
        let p = Prime::P;
        let mut numbers = vec![
            0,
            1,
            2,
            p - 2,
            p - 1,
            p,
            p + 1,
            2 * p,
            u64::MAX - 1,
            u64::MAX,
        ];
        numbers.extend([1 << 60, (1 << 60) - 1, 1 << 63, (1 << 63) - 1, 4 * p + 3]);
        let mixed = |i: u64| i.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(23);
        numbers.extend((1..30).map(mixed));
        all_of::<61>(&numbers);
        all_of::<31>(&numbers);
        all_of::<5>(&numbers);
        all_of::<3>(&(0..100).chain(numbers.clone()).collect::<Vec<_>>());
        all_of::<2>(&(0..100).chain(numbers).collect::<Vec<_>>());
    }
}
