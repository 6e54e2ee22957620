//! The finite fields of codes.

use crate::map::Map;

/// A finite field of characteristic 2.
pub trait Field: Sized {
    /// The number of elements, the greatest number of shards.
    const ORDER: usize;

    /// The type of an element.
    type Elem: Default + Clone + Copy + PartialEq + ::core::fmt::Debug;

    /// Returns a + b.
    fn add(a: Self::Elem, b: Self::Elem) -> Self::Elem;

    /// Returns a b.
    fn mul(a: Self::Elem, b: Self::Elem) -> Self::Elem;

    /// Returns a / b. Panics if b is zero.
    fn div(a: Self::Elem, b: Self::Elem) -> Self::Elem;

    /// Returns the n-th power of a.
    fn exp(a: Self::Elem, n: usize) -> Self::Elem;

    /// Returns the neutral element of addition.
    fn zero() -> Self::Elem;

    /// Returns the neutral element of multiplication.
    fn one() -> Self::Elem;

    /// Returns the element with number n, which is less than `ORDER`.
    fn nth_internal(n: usize) -> Self::Elem;

    /// Returns the element with number n. Different numbers name different elements. Panics if there is none.
    fn nth(n: usize) -> Self::Elem {
        if n >= Self::ORDER {
            let power = usize::BITS - 1 - Self::ORDER.leading_zeros();
            panic!("{} out of bounds for GF(2^{}) member", n, power)
        }
        Self::nth_internal(n)
    }

    /// Writes the product of `elem` and each element of `input` to `out`. Panics if the lengths differ.
    fn mul_slice(elem: Self::Elem, input: &[Self::Elem], out: &mut [Self::Elem]) {
        assert_eq!(input.len(), out.len());
        for (i, o) in input.iter().zip(out) {
            *o = Self::mul(elem, *i);
        }
    }

    /// Adds the product of `elem` and each element of `input` to `out`. Panics if the lengths differ.
    fn mul_slice_add(elem: Self::Elem, input: &[Self::Elem], out: &mut [Self::Elem]) {
        assert_eq!(input.len(), out.len());
        for (i, o) in input.iter().zip(out) {
            *o = Self::add(*o, Self::mul(elem, *i));
        }
    }

    /// Returns the rows as a map for kernels, if the field has kernels. Not part of the original's interface.
    ///
    /// # Safety
    /// Kernels read and write the elements of shards as bytes, so elements must be bytes if there is a map.
    ///
    /// ```compile_fail
    /// use reed_solomon_erasure::{galois_8, Field};
    ///
    /// let map = galois_8::Field::map(&[&[1]]); // a map for another field needs `unsafe`
    /// ```
    #[doc(hidden)]
    unsafe fn map(_rows: &[&[Self::Elem]]) -> Option<Map> {
        None
    }
}
