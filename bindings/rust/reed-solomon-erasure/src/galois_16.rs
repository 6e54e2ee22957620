//! GF(2^16) as an extension of GF(2^8) by a root of X^2 + 2 X + 128. An element [a, b] is a X + b. It has no kernels.

use core::ops::{Add, Div, Mul, Sub};

use crate::galois_8;

/// The field GF(2^16).
#[derive(Debug, Default, Copy, Clone, PartialEq, Eq)]
pub struct Field;

/// A code over GF(2^16).
pub type ReedSolomon = crate::ReedSolomon<Field>;

/// Encoding of one shard after another over GF(2^16).
pub type ShardByShard<'a> = crate::ShardByShard<'a, Field>;

/// The sum and the product of the roots of the polynomial.
const SUM: u8 = 2;
const PRODUCT: u8 = 128;

impl crate::Field for Field {
    const ORDER: usize = 65536;
    type Elem = [u8; 2];

    fn add(a: [u8; 2], b: [u8; 2]) -> [u8; 2] {
        (Element(a) + Element(b)).0
    }

    fn mul(a: [u8; 2], b: [u8; 2]) -> [u8; 2] {
        (Element(a) * Element(b)).0
    }

    fn div(a: [u8; 2], b: [u8; 2]) -> [u8; 2] {
        (Element(a) / Element(b)).0
    }

    fn exp(elem: [u8; 2], n: usize) -> [u8; 2] {
        Element(elem).exp(n).0
    }

    fn zero() -> [u8; 2] {
        [0; 2]
    }

    fn one() -> [u8; 2] {
        [0, 1]
    }

    fn nth_internal(n: usize) -> [u8; 2] {
        (n as u16).to_be_bytes()
    }
}

/// An element of GF(2^16).
#[derive(Debug, Default, Copy, Clone, PartialEq, Eq)]
struct Element([u8; 2]);

impl Element {
    fn constant(n: u8) -> Element {
        Element([0, n])
    }

    fn exp(self, n: usize) -> Element {
        let (mut power, mut square, mut left) = (Element::constant(1), self, n);
        while left > 0 {
            if left & 1 != 0 {
                power = power * square;
            }
            square = square * square;
            left >>= 1;
        }
        power
    }

    /// Returns the inverse: the conjugate, whose X is the other root, over the norm, which is in GF(2^8).
    fn inverse(self) -> Element {
        let [a, b] = self.0;
        let conjugate = Element([a, b ^ galois_8::mul(a, SUM)]);
        let [_, norm] = (self * conjugate).0;
        if norm == 0 {
            panic!("Cannot invert 0");
        }
        conjugate * Element::constant(galois_8::div(1, norm))
    }
}

impl Add for Element {
    type Output = Element;

    fn add(self, other: Element) -> Element {
        Element([self.0[0] ^ other.0[0], self.0[1] ^ other.0[1]])
    }
}

impl Sub for Element {
    type Output = Element;

    #[allow(clippy::suspicious_arithmetic_impl)] // characteristic 2
    fn sub(self, other: Element) -> Element {
        self + other
    }
}

impl Mul for Element {
    type Output = Element;

    /// X^2 is SUM X + PRODUCT.
    fn mul(self, other: Element) -> Element {
        let ([a, b], [c, d]) = (self.0, other.0);
        let square = galois_8::mul(a, c);
        let linear = galois_8::mul(a, d) ^ galois_8::mul(b, c);
        let constant = galois_8::mul(b, d);
        Element([linear ^ galois_8::mul(square, SUM), constant ^ galois_8::mul(square, PRODUCT)])
    }
}

impl Div for Element {
    type Output = Element;

    #[allow(clippy::suspicious_arithmetic_impl)]
    fn div(self, other: Element) -> Element {
        self * other.inverse()
    }
}
