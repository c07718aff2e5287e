//! A box whose whole memory is erased before it is freed.
//!
//! A structure that erases itself when dropped erases its fields only. The padding bytes between
//! and behind the fields are copied with it wherever it moves, so a box receives the previous
//! content of the stack there, which may include pieces of keys, and nothing erases it.

use std::mem::{ManuallyDrop, MaybeUninit};
use std::ops::{Deref, DerefMut};

use zeroize::Zeroize;

/// A boxed value, all of whose memory is erased when the value is dropped.
pub struct Erased<T>(ManuallyDrop<Box<T>>);

impl<T> Erased<T> {
    /// Moves a value into a box of its own.
    pub fn new(value: T) -> Erased<T> {
        Erased(ManuallyDrop::new(Box::new(value)))
    }
}

impl<T> Deref for Erased<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T> DerefMut for Erased<T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.0
    }
}

impl<T> Drop for Erased<T> {
    fn drop(&mut self) {
        // SAFETY: this is the only place that takes the box, and nobody uses `self` after it.
        let value = Box::into_raw(unsafe { ManuallyDrop::take(&mut self.0) });
        // SAFETY: the value came out of a box, which has given it up, and is dropped once. If that
        // panics, its memory is lost and nothing else.
        unsafe { value.drop_in_place() };
        // SAFETY: there is no value any more, only its memory, which nothing else owns; bytes that
        // need not be initialised can be anything, padding included.
        let bytes = unsafe {
            std::slice::from_raw_parts_mut(value.cast::<MaybeUninit<u8>>(), size_of::<T>())
        };
        bytes.zeroize();
        // SAFETY: it came out of a box of a type with the same layout, and `MaybeUninit` lets it
        // hold nothing, so that nothing is dropped again.
        drop(unsafe { Box::from_raw(value.cast::<MaybeUninit<T>>()) });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    /// Counts how often it is dropped.
    struct Counts<'a>(&'a Cell<usize>, u8, u128);

    impl Drop for Counts<'_> {
        fn drop(&mut self) {
            self.0.set(self.0.get() + usize::from(self.1));
        }
    }

    #[test]
    fn a_value_is_there_until_it_is_dropped_once() {
        let drops = Cell::new(0);
        let mut value = Erased::new(Counts(&drops, 1, 5));
        value.2 += 1;
        value.1 += 1;
        assert_eq!((value.1, value.2, drops.get()), (2, 6, 0));
        drop(value);
        assert_eq!(drops.get(), 2);
        drop(Erased::new(()));
    }
}
