//! Multiplication in GF(2^128) modulo x^128 + x^7 + x^2 + x + 1, in the two bit orders in use.
//!
//! [`Order::Polynomial`] numbers coefficients as a block numbers bits: bit `i` is the coefficient
//! of x^i. Sharings, checks and OT extension use it. [`Order::Ghash`] is the order of NIST SP
//! 800-38D: the coefficient of x^0 is the most significant bit of byte 0. Reversing the bytes of
//! a GHASH block leaves its bits in exactly the opposite order, and the carry-less product of two
//! reversed polynomials is the reversed product, one place too low.
//!
//! Both share one 256-bit product of four 64-bit products; they differ in the reduction.
//!
//! Where one factor h is used in many products, [`prepare`] precomputes with it. With a = a0 + x^64
//! a1 (64 coefficients each), a h = a0 h + a1 (x^64 h), where x^64 h is reduced beforehand: the
//! product has 192 bits instead of 256, and is reduced with one more 64-bit product instead of two.
//! Products may be summed first with the same savings. In GHASH order h is also divided by x, which
//! compensates for the reversed product being one place too low. Both orders then share the product
//! as well, if the halves of the words are placed accordingly.

use crate::{Block, Cpu, Kernel, Lanes};

/// Assignment of the bits of a block to coefficients.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Bit `i` of the little-endian integer is the coefficient of x^i.
    Polynomial,
    /// Bit 7 of byte 0 is the coefficient of x^0, as in GHASH.
    Ghash,
}

/// x^128 modulo the modulus: x^7 + x^2 + x + 1.
const MODULUS: u64 = 0x87;

/// The terms of the modulus below x^128, but for 1, as the upper word of a byte-reversed block of
/// GHASH has them: x^63 + x^62 + x^57.
const REVERSED_MODULUS: u64 = 0xc200_0000_0000_0000;

/// The product of two elements. Many products in one [`mul_each`] cost far less each.
pub fn mul(cpu: Cpu, order: Order, a: Block, b: Block) -> Block {
    let mut product = [a];
    mul_each(cpu, order, &mut product, &[b]);
    product[0]
}

/// Multiplies `a[i]` by `b[i]` in place.
///
/// # Panics
/// If the lengths differ.
pub fn mul_each(cpu: Cpu, order: Order, a: &mut [Block], b: &[Block]) {
    assert_eq!(a.len(), b.len(), "one factor for each element");
    cpu.run(MulEach { order, a, b });
}

struct MulEach<'a> {
    order: Order,
    a: &'a mut [Block],
    b: &'a [Block],
}

impl Kernel for MulEach<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, l: L) {
        let mut a = self.a.chunks_exact_mut(L::WIDTH);
        let mut b = self.b.chunks_exact(L::WIDTH);
        for (a, b) in (&mut a).zip(&mut b) {
            let product = mul_lanes(l, self.order, l.load(a), l.load(b));
            l.store(a, product);
        }
        let (a, b) = (a.into_remainder(), b.remainder());
        if !a.is_empty() {
            let (mut padded_a, mut padded_b) = ([Block::ZERO; 4], [Block::ZERO; 4]);
            padded_a[..a.len()].copy_from_slice(a);
            padded_b[..b.len()].copy_from_slice(b);
            let product = mul_lanes(l, self.order, l.load(&padded_a), l.load(&padded_b));
            l.store(&mut padded_a, product);
            a.copy_from_slice(&padded_a[..a.len()]);
        }
    }
}

/// The product of two vectors, lane by lane, for kernels.
#[inline(always)]
pub fn mul_lanes<L: Lanes>(l: L, order: Order, a: L::V, b: L::V) -> L::V {
    match order {
        Order::Polynomial => {
            let (low, high) = carryless_product(l, a, b);
            reduce(l, low, high)
        }
        Order::Ghash => {
            let (low, high) = carryless_product(l, l.reverse_bytes(a), l.reverse_bytes(b));
            let (low, high) = double(l, low, high);
            l.reverse_bytes(reduce_reversed(l, low, high))
        }
    }
}

/// Prepares a factor for [`mul_prepared_lanes`]. Its words are as secret as `factor`; the time does
/// not depend on it. In GHASH order too, `factor` is a block of its order, not reversed.
pub const fn prepare(order: Order, factor: Block) -> [Block; 2] {
    match order {
        Order::Polynomial => {
            let h = factor.value();
            let high = h >> 64;
            let risen = h << 64 ^ high ^ high << 1 ^ high << 2 ^ high << 7;
            [Block::new(h), Block::new(risen)]
        }
        Order::Ghash => {
            let h = factor.value().swap_bytes();
            let h = h << 1 ^ (h >> 127).wrapping_neg() & (0xc2 << 120 | 1);
            let high = h << 64;
            let risen = h >> 64 ^ high ^ high >> 1 ^ high >> 2 ^ high >> 7;
            [
                Block::new(risen.rotate_left(64)),
                Block::new(h.rotate_left(64)),
            ]
        }
    }
}

/// Computes the product of vectors and factors prepared with the same `order`, lane by lane, for
/// kernels. In GHASH order `a` and the product are byte-reversed, so that callers that keep them so
/// reverse nothing. It has the shortest latency from `a` to the product.
#[inline(always)]
pub fn mul_prepared_lanes<L: Lanes>(l: L, order: Order, a: L::V, factor: [L::V; 2]) -> L::V {
    // The second product comes first, because its reduction waits for it.
    let middle = l.xor(l.clmul::<0x10>(a, factor[0]), l.clmul::<0x11>(a, factor[1]));
    let low = l.xor(l.clmul::<0x00>(a, factor[0]), l.clmul::<0x01>(a, factor[1]));
    match order {
        Order::Polynomial => {
            let shifted = l.zip_lo64(l.splat(Block::ZERO), middle);
            l.xor(l.xor(low, shifted), l.clmul_by::<0x01, MODULUS>(middle))
        }
        Order::Ghash => l.xor(low, fold_reversed(l, middle)),
    }
}

/// Prepares a factor for [`whole_product_lanes`]. Argument and secrecy are those of [`prepare`].
/// The result is the factor, and the sum of its halves in both halves.
pub const fn prepare_whole(order: Order, factor: Block) -> [Block; 2] {
    let h = match order {
        Order::Polynomial => factor.value(),
        Order::Ghash => prepare(order, factor)[1].value().rotate_left(64),
    };
    [Block::new(h), Block::new(h ^ h.rotate_left(64))]
}

/// Computes the unreduced product of vectors and factors of [`prepare_whole`], for
/// [`reduce_whole_lanes`]: the products of the lower halves, of the sums of halves, and of the
/// upper halves. XORs of such products are products too. Where many are summed before one
/// reduction, this is the faster way: it has three products of 64 bits (Karatsuba), and they
/// dominate the time.
#[inline(always)]
pub fn whole_product_lanes<L: Lanes>(l: L, a: L::V, factor: [L::V; 2]) -> [L::V; 3] {
    let [a, halves] = with_sums(l, a);
    [
        l.clmul::<0x00>(a, factor[0]),
        l.clmul::<0x00>(halves, factor[1]),
        l.clmul::<0x11>(a, factor[0]),
    ]
}

/// Adds such a product to a sum of products.
#[inline(always)]
pub fn add_product<L: Lanes>(l: L, sum: &mut [L::V; 3], a: L::V, factor: [L::V; 2]) {
    let product = whole_product_lanes(l, a, factor);
    for m in 0..3 {
        sum[m] = l.xor(sum[m], product[m]);
    }
}

/// A vector as a factor of [`whole_product_lanes`], as [`prepare_whole`] makes one of a block in
/// polynomial order.
#[inline(always)]
pub fn with_sums<L: Lanes>(l: L, factor: L::V) -> [L::V; 2] {
    let swapped = l.zip_lo64(l.zip_hi64(factor, factor), factor);
    [factor, l.xor(factor, swapped)]
}

/// Reduces a product of [`whole_product_lanes`] to its element.
#[inline(always)]
pub fn reduce_whole_lanes<L: Lanes>(l: L, order: Order, product: [L::V; 3]) -> L::V {
    let [low, sums, high] = product;
    let zero = l.splat(Block::ZERO);
    let middle = l.xor(l.xor(low, high), sums);
    let low = l.xor(low, l.zip_lo64(zero, middle));
    let high = l.xor(high, l.zip_hi64(middle, zero));
    match order {
        Order::Polynomial => reduce(l, low, high),
        Order::Ghash => reduce_reversed(l, low, high),
    }
}

/// The 255-bit product of two 128-bit polynomials.
#[inline(always)]
fn carryless_product<L: Lanes>(l: L, a: L::V, b: L::V) -> (L::V, L::V) {
    let zero = l.splat(Block::ZERO);
    let middle = l.xor(l.clmul::<0x01>(a, b), l.clmul::<0x10>(a, b));
    let low = l.xor(l.clmul::<0x00>(a, b), l.zip_lo64(zero, middle));
    let high = l.xor(l.clmul::<0x11>(a, b), l.zip_hi64(middle, zero));
    (low, high)
}

/// x^128 = x^7 + x^2 + x + 1: the upper quarter folds into the middle, then the next one down.
#[inline(always)]
fn reduce<L: Lanes>(l: L, low: L::V, high: L::V) -> L::V {
    let zero = l.splat(Block::ZERO);
    let fold = l.clmul_by::<0x01, MODULUS>(high);
    let low = l.xor(low, l.zip_lo64(zero, fold));
    let high = l.xor(high, l.zip_hi64(fold, zero));
    l.xor(low, l.clmul_by::<0x00, MODULUS>(high))
}

/// A 256-bit value shifted left by one.
#[inline(always)]
fn double<L: Lanes>(l: L, low: L::V, high: L::V) -> (L::V, L::V) {
    let zero = l.splat(Block::ZERO);
    let (low_carry, high_carry) = (l.shr64::<63>(low), l.shr64::<63>(high));
    let low_out = l.xor(l.shl64::<1>(low), l.zip_lo64(zero, low_carry));
    let carries = l.xor(l.zip_lo64(zero, high_carry), l.zip_hi64(low_carry, zero));
    (low_out, l.xor(l.shl64::<1>(high), carries))
}

/// The same reduction on reversed bits, where the *low* half holds x^128 and above: each step
/// folds its lowest 64 bits with the reversed modulus x^63 + x^62 + x^57 (Gueron and Kounavis,
/// "Intel Carry-Less Multiplication Instruction and its Usage for Computing the GCM Mode", 2010).
#[inline(always)]
fn reduce_reversed<L: Lanes>(l: L, low: L::V, high: L::V) -> L::V {
    let once = fold_reversed(l, low);
    l.xor(high, fold_reversed(l, once))
}

#[inline(always)]
fn fold_reversed<L: Lanes>(l: L, v: L::V) -> L::V {
    let swapped = l.zip_lo64(l.zip_hi64(v, v), v);
    l.xor(swapped, l.clmul_by::<0x00, REVERSED_MODULUS>(v))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{drawn, product, values};

    /// GHASH order by its definition: bytes in order, bits of each byte reversed.
    fn to_ghash(x: u128) -> Block {
        Block::from_bytes(x.to_le_bytes().map(u8::reverse_bits))
    }

    #[test]
    fn both_orders_match_the_definition_on_every_tier() {
        for cpu in Cpu::available() {
            for len in [1, 2, 3, 4, 5, 7, 8, 64, 65] {
                let (mut a, b) = (drawn(len, len as u64), drawn(len, 100));
                // Extremes are included: one, the top bit, and all ones.
                a[0] = [Block::ONES, Block::new(1), Block::new(1 << 127)][len % 3];
                let pairs = a.iter().zip(&b);
                let expected: Vec<u128> =
                    pairs.map(|(a, b)| product(a.value(), b.value())).collect();

                let mut products = a.clone();
                mul_each(cpu, Order::Polynomial, &mut products, &b);
                assert!(values(&products) == expected, "{}", cpu.tier());

                let ghash = |list: &[Block]| list.iter().map(|x| to_ghash(x.value())).collect();
                let (mut products, factors): (Vec<Block>, Vec<Block>) = (ghash(&a), ghash(&b));
                mul_each(cpu, Order::Ghash, &mut products, &factors);
                let expected = expected.into_iter().map(|x| to_ghash(x).value());
                assert!(values(&products).into_iter().eq(expected), "{}", cpu.tier());
            }
        }
    }

    /// Adds products of factors prepared in both ways, in every lane.
    struct Prepared<'a> {
        order: Order,
        a: &'a [Block],
        b: &'a [Block],
    }

    impl Kernel for Prepared<'_> {
        type Output = Block;

        #[inline(always)]
        fn run<L: Lanes>(self, l: L) -> Block {
            let turned = |v| match self.order {
                Order::Polynomial => v,
                Order::Ghash => l.reverse_bytes(v),
            };
            let zero = l.splat(Block::ZERO);
            let (mut sum, mut whole) = (zero, [zero; 3]);
            for i in 0..self.a.len() {
                let a = turned(l.splat(self.a[i]));
                let ready = prepare(self.order, self.b[i]).map(|word| l.splat(word));
                sum = l.xor(sum, mul_prepared_lanes(l, self.order, a, ready));
                let ready = prepare_whole(self.order, self.b[i]).map(|word| l.splat(word));
                add_product(l, &mut whole, a, ready);
            }
            let mut sums = [Block::ZERO; 8];
            l.store(&mut sums, turned(sum));
            let whole = turned(reduce_whole_lanes(l, self.order, whole));
            l.store(&mut sums[L::WIDTH..], whole);
            for lane in 1..2 * L::WIDTH {
                assert_eq!(sums[0].value(), sums[lane].value());
            }
            sums[0]
        }
    }

    #[test]
    fn sums_of_products_with_prepared_factors() {
        for cpu in Cpu::available() {
            for len in [1, 2, 9] {
                for round in 0..20 {
                    let [a, mut b] = [0, 100].map(|number| drawn(len, number + round as u64));
                    if let Some(one_bit) = [0, 63, 64, 127].get(round) {
                        b[0] = Block::new(1 << one_bit);
                    }
                    for order in [Order::Polynomial, Order::Ghash] {
                        let mut products = a.clone();
                        mul_each(cpu, order, &mut products, &b);
                        let expected = products.iter().fold(0, |sum, x| sum ^ x.value());
                        let (a, b) = (&a, &b);
                        let sum = cpu.run(Prepared { order, a, b });
                        assert_eq!(sum.value(), expected, "{order:?} on {}", cpu.tier());
                    }
                }
            }
        }
    }

    /// McGrew and Viega, "The Galois/Counter Mode of Operation", test case 2: the first step of
    /// GHASH, C * H, where the key is zero and H the encryption of zero.
    #[test]
    fn ghash_step_of_the_gcm_specification() {
        let block = |hex: u128| Block::from_bytes(hex.to_be_bytes());
        let h = block(0x66e94bd4ef8a2c3b884cfa59ca342b2e);
        let c = block(0x0388dace60b6a392f328c2b971b2fe78);
        for cpu in Cpu::available() {
            let product = mul(cpu, Order::Ghash, c, h);
            let expected = block(0x5e2ec746917062882c85b0685353deb7);
            assert_eq!(product.value(), expected.value());
        }
    }
}
