//! Functions of tapes that have a proof, and arithmetic in their fields on words of many lanes.

use crate::masked::Words;
use sealane_circuit::function::quotient::Element;
use sealane_circuit::function::{Function, inverse16, product};
use sealane_party::wires::WIDE;
use std::array;

/// Statements of the deal of an inverse: of its powers 3, 5 and 7.
pub(super) const DEALS: usize = 3;

/// Bits that are dealt for an inverse.
pub(super) const DEALT: usize = 10;

/// Proof of a function of tapes.
#[derive(Clone, Copy)]
pub(crate) enum Proved {
    /// The product of two elements of a field that GF(16) contains.
    Product(Factors),
    /// The inverse in GF(16).
    Inverse,
}

impl Proved {
    /// The proof of a function, if there is one.
    pub(crate) fn of(function: &Function) -> Option<Proved> {
        match function {
            Function::Product => Some(Proved::Product(Factors::TOWER)),
            Function::Field(field) => {
                Factors::of(field.bits(), field.polynomial()).map(Proved::Product)
            }
            Function::Table(table) if **table == *inverse16() => Some(Proved::Inverse),
            Function::Table(_) | Function::Quotients => None,
        }
    }
}

/// The factors of a product.
#[derive(Clone, Copy)]
pub(crate) struct Factors {
    /// Bits of an element: 1, 2 or 4.
    pub(super) bits: usize,
    /// The image of each bit in the field of proofs.
    pub(super) images: [u8; 4],
}

impl Factors {
    /// Bits.
    pub(super) const AND: Factors = Factors {
        bits: 1,
        images: [1, 0, 0, 0],
    };
    /// Elements of the tower.
    const TOWER: Factors = Factors {
        bits: 4,
        images: [1, 2, 4, 8],
    };

    /// The field of a polynomial: powers of a root of it in the tower.
    fn of(bits: usize, polynomial: u16) -> Option<Factors> {
        if bits != 2 && bits != 4 {
            return None;
        }
        let powers = |root: u8| {
            let mut powers = [1; 5];
            for i in 1..5 {
                powers[i] = times(powers[i - 1], root);
            }
            powers
        };
        let value = |powers: &[u8; 5]| {
            let terms = (0..=bits).filter(|i| polynomial >> i & 1 == 1);
            terms.fold(0, |sum, i| sum ^ powers[i])
        };
        let mut roots = (2..16).map(powers);
        let [one, x, square, cube, _] = roots.find(|powers| value(powers) == 0)?;
        let images = match bits {
            2 => [one, x, 0, 0],
            _ => [one, x, square, cube],
        };
        Some(Factors { bits, images })
    }

    /// The place of its kind.
    pub(super) fn kind(self) -> usize {
        self.bits / 2
    }

    /// Returns whether elements are those of the field of proofs as they are.
    pub(super) fn is_plain(&self) -> bool {
        self.bits == 1 || self.images == Factors::TOWER.images
    }

    /// An element as one of the tower. Rows behind its bits may have any value.
    #[inline(always)]
    pub(super) fn image<const K: usize>(&self, element: [Chunk; K]) -> [Chunk; K] {
        if K == 1 || self.images == Factors::TOWER.images {
            return element;
        }
        let mut image = [ZERO; K];
        for (from, images) in element.into_iter().zip(self.images) {
            for (bit, image) in image.iter_mut().enumerate() {
                if images >> bit & 1 == 1 {
                    *image = *image ^ from;
                }
            }
        }
        image
    }
}

/// The product of two elements of GF(16), both public.
fn times(a: u8, b: u8) -> u8 {
    let bits = |x: u8| [0, 1, 2, 3].map(|bit| x >> bit & 1);
    let product = product(bits(a), bits(b));
    product.iter().rev().fold(0, |sum, bit| sum << 1 | bit)
}

/// Odd powers of an element of GF(16) as sums of its bits and of what is dealt of them: for each
/// bit of the powers 3, 5 and 7 a mask of its summands, the four bits first. A constant, so that
/// kernels have nothing but these sums.
const ODD_POWERS: [[u16; 4]; DEALS] = [
    [0x153, 0xa6c, 0x94c, 0x80c],
    [0x22b, 0x346, 0, 0],
    [0x22ad, 0x3466, 0x1048, 0x210c],
];

/// A share of power `3 + 2 POWER` from shares of the element and of what is dealt.
#[inline(always)]
pub(super) fn odd_power<const POWER: usize>(
    element: &Element<Chunk>,
    dealt: &[Chunk; DEALT],
) -> Element<Chunk> {
    let mut share = [ZERO; 4];
    for (share, mask) in share.iter_mut().zip(const { ODD_POWERS[POWER] }) {
        for (i, bit) in element.iter().enumerate() {
            if mask >> i & 1 == 1 {
                *share = *share ^ *bit;
            }
        }
        for (i, bit) in dealt.iter().enumerate() {
            if mask >> (4 + i) & 1 == 1 {
                *share = *share ^ *bit;
            }
        }
    }
    share
}

/// Errors of the dealt bits, bit `i` for the one that is dealt as number `i`, that make one of the
/// powers wrong and leave both others right.
#[cfg(test)]
pub(crate) fn errors_of_one_power(power: usize) -> Vec<usize> {
    let wrong = |of: usize, error: usize| {
        let mut masks = ODD_POWERS[of].iter();
        masks.any(|mask| (usize::from(*mask) >> 4 & error).count_ones() % 2 == 1)
    };
    let all = 1..1 << DEALT;
    // A deal that is wrong makes some power wrong.
    assert!(all.clone().all(|error| (0..3).any(|of| wrong(of, error))));
    all.filter(|error| (0..3).all(|of| wrong(of, *error) == (of == power)))
        .collect()
}

impl Factors {
    /// The image of an element in a chunk of lanes, with a row for each of its bits.
    #[inline(always)]
    pub(super) fn element<const K: usize>(
        &self,
        rows: &[u64],
        [words, first]: [usize; 2],
        [start, step]: [usize; 2],
    ) -> [Chunk; K] {
        let mut element = [ZERO; K];
        for (i, to) in element.iter_mut().take(self.bits).enumerate() {
            *to = read(rows, [words, start + step * i, first]);
        }
        self.image(element)
    }
}

/// The words of a chunk in a row, zero behind its end.
#[inline(always)]
pub(super) fn read(rows: &[u64], [words, row, first]: [usize; 3]) -> Chunk {
    let row = &rows[row * words..][first..words];
    match row.first_chunk() {
        Some(chunk) => Words(*chunk),
        None => {
            let mut chunk = [0; WIDE];
            chunk[..row.len()].copy_from_slice(row);
            Words(chunk)
        }
    }
}

#[inline(always)]
pub(super) fn write(rows: &mut [u64], [words, row, first]: [usize; 3], Words(chunk): Chunk) {
    let row = &mut rows[row * words..][first..words];
    match row.first_chunk_mut() {
        Some(to) => *to = chunk,
        None => row.copy_from_slice(&chunk[..row.len()]),
    }
}

/// The words that kernels take at a time.
pub(super) type Chunk = Words<WIDE>;

pub(super) const ZERO: Chunk = Words([0; WIDE]);

#[inline(always)]
pub(super) fn sum<const K: usize>(a: [Chunk; K], b: [Chunk; K]) -> [Chunk; K] {
    array::from_fn(|i| a[i] ^ b[i])
}

/// The product of two bits, or of two elements of GF(16).
#[inline(always)]
pub(super) fn multiplied<const K: usize>(a: [Chunk; K], b: [Chunk; K]) -> [Chunk; K] {
    if K == 1 {
        return array::from_fn(|i| a[i] & b[i]);
    }
    let whole = |x: [Chunk; K]| array::from_fn(|i| x[i % K]);
    let out = product(whole(a), whole(b));
    array::from_fn(|i| out[i])
}

#[cfg(test)]
mod tests {
    use super::*;
    use sealane_circuit::function::TruthTable;

    #[test]
    fn odd_powers_are_sums_of_what_is_dealt() {
        let dealt = inverse16();
        assert_eq!(dealt.products().len(), DEALT);
        let place = |set: usize| match set.count_ones() {
            1 => set.trailing_zeros() as usize,
            _ => {
                let mut sets = dealt.products().iter();
                4 + sets
                    .position(|of| usize::from(*of) == set)
                    .expect("it is dealt")
            }
        };
        let powers = [3, 5, 7].map(|exponent| {
            let power = |x: u8| (0..exponent).fold(1, |power, _| times(power, x));
            let entry = |x: u8| (0..4).map(|bit| power(x) >> bit & 1 == 1).collect();
            let table = TruthTable::new(4, 4, &(0..16).map(entry).collect::<Vec<_>>());
            array::from_fn(|bit| {
                let summands = table.summands(bit).map(place);
                summands.fold(0, |mask, place| mask | 1 << place)
            })
        });
        assert_eq!(ODD_POWERS, powers);
    }
}
