//! The AES S-box without a table: 64 bytes at a time, as a Boolean circuit on bit planes.
//!
//! The circuit is the one of Boyar and Peralta, "A small depth-16 circuit for the AES S-box"
//! (SEC 2012), in its 113-gate form: a linear layer into a tower field, inversion in GF(2^4), and
//! a linear layer back. The operations are the same for all bytes, so time and addresses do not
//! depend on them.

/// SubBytes on 64 bytes held as eight little-endian words.
#[inline(always)]
pub(super) fn substitute(words: &mut [u64; 8]) {
    transpose_bits(words);
    sbox_planes(words);
    transpose_bits(words);
}

/// InvSubBytes on 64 bytes held as eight little-endian words.
///
/// With the affine map `A`, inversion `inv` and `B = A^-1`, the S-box is `A inv`. Inversion is its
/// own inverse, so the inverse S-box is `inv B = B A inv B`: the same circuit between two `B`.
#[inline(always)]
pub(super) fn unsubstitute(words: &mut [u64; 8]) {
    transpose_bits(words);
    unaffine_planes(words);
    sbox_planes(words);
    unaffine_planes(words);
    transpose_bits(words);
}

/// The inverse of the affine map of the S-box, on bit planes: bit `i` is the sum of bits `i + 2`,
/// `i + 5` and `i + 7`, and then 0x05 is added.
#[inline(always)]
fn unaffine_planes(planes: &mut [u64; 8]) {
    let from = *planes;
    for i in 0..8 {
        planes[i] = from[(i + 2) % 8] ^ from[(i + 5) % 8] ^ from[(i + 7) % 8];
    }
    planes[0] = !planes[0];
    planes[2] = !planes[2];
}

/// For each byte position, the 8 x 8 bit matrix (word, bit) transposed: word `b` then holds bit
/// `b` of all 64 bytes. It is its own inverse.
#[inline(always)]
fn transpose_bits(words: &mut [u64; 8]) {
    for (distance, mask) in [
        (4, 0x0f0f_0f0f_0f0f_0f0f),
        (2, 0x3333_3333_3333_3333),
        (1, 0x5555_5555_5555_5555),
    ] {
        for low in (0..8).filter(|i| i & distance == 0) {
            let (x, y) = (words[low], words[low + distance]);
            let t = ((x >> distance) ^ y) & mask;
            words[low + distance] = y ^ t;
            words[low] = x ^ (t << distance);
        }
    }
}

/// The S-box on bit planes, plane 7 being the most significant bit.
#[inline(always)]
fn sbox_planes(planes: &mut [u64; 8]) {
    let [u7, u6, u5, u4, u3, u2, u1, u0] = *planes;

    // Into the tower field; the paper's top linear layer.
    let t1 = u0 ^ u3;
    let t2 = u0 ^ u5;
    let t3 = u0 ^ u6;
    let t4 = u3 ^ u5;
    let t5 = u4 ^ u6;
    let t6 = t1 ^ t5;
    let t7 = u1 ^ u2;
    let t8 = u7 ^ t6;
    let t9 = u7 ^ t7;
    let t10 = t6 ^ t7;
    let t11 = u1 ^ u5;
    let t12 = u2 ^ u5;
    let t13 = t3 ^ t4;
    let t14 = t6 ^ t11;
    let t15 = t5 ^ t11;
    let t16 = t5 ^ t12;
    let t17 = t9 ^ t16;
    let t18 = u3 ^ u7;
    let t19 = t7 ^ t18;
    let t20 = t1 ^ t19;
    let t21 = u6 ^ u7;
    let t22 = t7 ^ t21;
    let t23 = t2 ^ t22;
    let t24 = t2 ^ t10;
    let t25 = t20 ^ t17;
    let t26 = t3 ^ t16;
    let t27 = t1 ^ t12;

    // Inversion; the paper's non-linear middle layer.
    let m1 = t13 & t6;
    let m3 = t14 ^ m1;
    let m5 = (t19 & u7) ^ m1;
    let m6 = t3 & t16;
    let m8 = t26 ^ m6;
    let m10 = (t20 & t17) ^ m6;
    let m11 = t1 & t15;
    let m13 = (t4 & t27) ^ m11;
    let m15 = (t2 & t10) ^ m11;
    let m20 = m3 ^ (t23 & t8) ^ m13;
    let m21 = m5 ^ t24 ^ m15;
    let m22 = m8 ^ (t22 & t9) ^ m13;
    let m23 = m10 ^ m15 ^ t25;
    let m24 = m22 ^ m23;
    let m25 = m22 & m20;
    let m26 = m21 ^ m25;
    let m27 = m20 ^ m21;
    let m28 = m23 ^ m25;
    let m37 = m21 ^ (m28 & m27);
    let m38 = (m27 & (m20 & m23)) ^ m27 ^ m25;
    let m39 = m23 ^ (m26 & m24);
    let m40 = (m24 & (m21 & m22)) ^ m24 ^ m25;
    let m41 = m38 ^ m40;
    let m42 = m37 ^ m39;
    let m43 = m37 ^ m38;
    let m44 = m39 ^ m40;
    let m45 = m42 ^ m41;
    let m46 = m44 & t6;
    let m47 = m40 & t8;
    let m48 = m39 & u7;
    let m49 = m43 & t16;
    let m50 = m38 & t9;
    let m51 = m37 & t17;
    let m52 = m42 & t15;
    let m53 = m45 & t27;
    let m54 = m41 & t10;
    let m55 = m44 & t13;
    let m56 = m40 & t23;
    let m57 = m39 & t19;
    let m58 = m43 & t3;
    let m59 = m38 & t22;
    let m60 = m37 & t20;
    let m61 = m42 & t1;
    let m62 = m45 & t4;
    let m63 = m41 & t2;

    // Back, and the affine map; the paper's bottom linear layer.
    let l0 = m61 ^ m62;
    let l1 = m50 ^ m56;
    let l2 = m46 ^ m48;
    let l3 = m47 ^ m55;
    let l4 = m54 ^ m58;
    let l6 = m62 ^ m49 ^ m61;
    let l7 = m46 ^ l3;
    let l8 = m51 ^ m59;
    let l9 = m52 ^ m53;
    let l10 = m53 ^ l4;
    let l11 = m60 ^ l2;
    let l23 = m58 ^ l8 ^ l2;
    let l24 = m55 ^ l1 ^ l9;
    let l29 = l11 ^ m57 ^ l1;
    *planes = [
        !(l6 ^ l23),
        !(m50 ^ l0 ^ l8 ^ l10),
        l6 ^ l10 ^ l29,
        l0 ^ l1 ^ l3 ^ m48 ^ m51,
        l6 ^ l1 ^ l7,
        !(m63 ^ l4 ^ l11 ^ m52 ^ m61),
        !(m56 ^ l0 ^ l7 ^ l9),
        l6 ^ l24,
    ];
}

#[cfg(test)]
mod tests {
    use super::*;

    /// FIPS 197, section 5.1.1, from its definition: inversion in GF(2^8), then the affine map.
    fn sbox_by_definition(x: u8) -> u8 {
        fn mul(mut a: u8, mut b: u8) -> u8 {
            let mut product = 0;
            while b != 0 {
                product ^= if b & 1 == 1 { a } else { 0 };
                a = (a << 1) ^ if a & 0x80 != 0 { 0x1b } else { 0 };
                b >>= 1;
            }
            product
        }
        let inverse = (0..=255).find(|&y| mul(x, y) == 1).unwrap_or(0);
        (1..5).fold(inverse, |sum, turn| sum ^ inverse.rotate_left(turn)) ^ 0x63
    }

    /// A substitution against its table, each value in every byte position.
    fn assert_table(substitute: fn(&mut [u64; 8]), table: &[u8; 256]) {
        for shift in 0..64u8 {
            for start in (0..=255).step_by(64) {
                let bytes: [u8; 64] = std::array::from_fn(|i| start as u8 + (i as u8 + shift) % 64);
                let mut words = [0; 8];
                for (word, chunk) in words.iter_mut().zip(bytes.chunks_exact(8)) {
                    *word = u64::from_le_bytes(chunk.try_into().unwrap());
                }
                substitute(&mut words);
                for (i, byte) in bytes.into_iter().enumerate() {
                    let got = words[i / 8].to_le_bytes()[i % 8];
                    assert_eq!(got, table[byte as usize], "byte {byte:#x} at {i}");
                }
            }
        }
    }

    #[test]
    fn circuits_are_the_sbox_and_its_inverse_in_every_byte_position() {
        let table: [u8; 256] = std::array::from_fn(|x| sbox_by_definition(x as u8));
        assert_table(substitute, &table);
        let mut inverse = [0; 256];
        for x in 0..=255 {
            inverse[table[x as usize] as usize] = x;
        }
        assert_table(unsubstitute, &inverse);
    }
}
