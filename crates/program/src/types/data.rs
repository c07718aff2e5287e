//! Elements: constants of programs, inputs and results.

use super::{Range, Type};
use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};
use zeroize::Zeroize;

/// Concrete elements, row-major. Elements of signed types are sign-extended to 64 bits, of unsigned
/// ones zero-extended; those of `bool` are 0 or 1. Holds users' data: no `Debug`, zeroed on drop.
/// It can be compared, because constants of programs are data too.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Data {
    /// Element type.
    pub ty: Type,
    /// All dimensions, the number of rows filled in.
    pub shape: Vec<u64>,
    /// The elements; as many as the product of the shape. Of fixed point, the stored numbers.
    pub elements: Vec<u64>,
}

impl Drop for Data {
    fn drop(&mut self) {
        self.elements.zeroize();
    }
}

impl Data {
    /// Elements of type `ty` from (stored) numbers; `None` if a number is not a value of the type
    /// or there are not as many as the shape says.
    pub fn from_numbers(ty: Type, shape: Vec<u64>, numbers: &[i128]) -> Option<Data> {
        let count = shape
            .iter()
            .try_fold(1u64, |product, &n| product.checked_mul(n))?;
        let fits = numbers.iter().all(|&number| ty.holds(Range::of(number)));
        let elements = || numbers.iter().map(|&number| number as u64).collect();
        (fits && count == numbers.len() as u64).then(|| Data {
            ty,
            shape,
            elements: elements(),
        })
    }

    /// The elements as (stored) numbers, row-major.
    pub fn numbers(&self) -> impl Iterator<Item = i128> + '_ {
        let signed = self.ty.is_signed();
        let number = move |&e: &u64| {
            if signed {
                i128::from(e as i64)
            } else {
                i128::from(e)
            }
        };
        self.elements.iter().map(number)
    }
}

/// Constants of a program, for the text of its plan; the data of owners are never serialised.
impl Serialize for Data {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_struct("Data", 3)?;
        fields.serialize_field("type", &self.ty)?;
        fields.serialize_field("shape", &self.shape)?;
        fields.serialize_field("numbers", &self.numbers().collect::<Vec<_>>())?;
        fields.end()
    }
}

/// Makes room for more elements of users' data. A vector that grew by itself would leave a copy of
/// them behind; this function erases the old buffer.
pub fn make_room<T: Copy + Zeroize>(data: &mut Vec<T>, more: usize) {
    let needed = data.len().saturating_add(more);
    if needed > data.capacity() {
        let mut larger = Vec::with_capacity(needed.max(data.capacity().saturating_mul(2)));
        larger.extend_from_slice(data);
        data.zeroize();
        *data = larger;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_grows_keeps_its_elements_and_moves_seldom() {
        let (mut data, mut moved) = (Vec::new(), 0);
        for number in 0..1000u64 {
            let before = data.capacity();
            make_room(&mut data, 1);
            moved += u32::from(data.capacity() != before);
            assert!(data.capacity() > data.len());
            data.push(number);
        }
        assert_eq!(data, (0..1000).collect::<Vec<_>>());
        assert_eq!(moved, 11);
        make_room(&mut data, 5000);
        assert!((6000..6100).contains(&data.capacity()));
    }
}
