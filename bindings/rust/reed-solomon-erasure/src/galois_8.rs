//! GF(2^8): bytes as polynomials over GF(2) modulo x^8 + x^4 + x^3 + x^2 + 1. Bit b of a byte is the coefficient of x^b.

use crate::map::{self, Map};

/// The field GF(2^8).
#[derive(Debug, Default, Copy, Clone, PartialEq, Eq)]
pub struct Field;

/// A code over GF(2^8).
pub type ReedSolomon = crate::ReedSolomon<Field>;

/// Encoding of one shard after another over GF(2^8).
pub type ShardByShard<'a> = crate::ShardByShard<'a, Field>;

/// The polynomial without x^8.
const POLYNOMIAL: u8 = 0x1d;

/// `EXP_TABLE[n]` is x^n, for two periods.
pub static EXP_TABLE: [u8; 510] = EXP;

/// `LOG_TABLE[a]` is the n below 255 with x^n = a; that of 0 has no meaning.
pub static LOG_TABLE: [u8; 256] = LOG;

/// `MUL_TABLE[a][b]` is a b.
pub static MUL_TABLE: [[u8; 256]; 256] = products();

const EXP: [u8; 510] = powers();
const LOG: [u8; 256] = logarithms();

const fn powers() -> [u8; 510] {
    let mut made = [0; 510];
    let (mut n, mut power) = (0, 1u8);
    while n < 510 {
        made[n] = power;
        power = (power << 1) ^ ((power >> 7) * POLYNOMIAL);
        n += 1;
    }
    made
}

const fn logarithms() -> [u8; 256] {
    let mut made = [0; 256];
    let mut n = 0;
    while n < 255 {
        made[EXP[n] as usize] = n as u8;
        n += 1;
    }
    made
}

const fn products() -> [[u8; 256]; 256] {
    let mut made = [[0; 256]; 256];
    let mut at = 0;
    while at < 256 * 256 {
        made[at / 256][at % 256] = multiply((at / 256) as u8, (at % 256) as u8);
        at += 1;
    }
    made
}

/// Returns a b, before `MUL_TABLE` exists.
pub(crate) const fn multiply(a: u8, b: u8) -> u8 {
    if a == 0 || b == 0 {
        0
    } else {
        EXP[LOG[a as usize] as usize + LOG[b as usize] as usize]
    }
}

impl crate::Field for Field {
    const ORDER: usize = 256;
    type Elem = u8;

    fn add(a: u8, b: u8) -> u8 {
        add(a, b)
    }

    fn mul(a: u8, b: u8) -> u8 {
        mul(a, b)
    }

    fn div(a: u8, b: u8) -> u8 {
        div(a, b)
    }

    fn exp(elem: u8, n: usize) -> u8 {
        exp(elem, n)
    }

    fn zero() -> u8 {
        0
    }

    fn one() -> u8 {
        1
    }

    fn nth_internal(n: usize) -> u8 {
        n as u8
    }

    fn mul_slice(c: u8, input: &[u8], out: &mut [u8]) {
        mul_slice(c, input, out)
    }

    fn mul_slice_add(c: u8, input: &[u8], out: &mut [u8]) {
        mul_slice_xor(c, input, out)
    }

    unsafe fn map(rows: &[&[u8]]) -> Option<Map> {
        Some(Map::new(rows))
    }
}

/// Returns a + b.
pub fn add(a: u8, b: u8) -> u8 {
    a ^ b
}

/// Returns a b.
pub fn mul(a: u8, b: u8) -> u8 {
    MUL_TABLE[a as usize][b as usize]
}

/// Returns a / b. Panics if b is 0, except for a = 0.
pub fn div(a: u8, b: u8) -> u8 {
    if a == 0 {
        return 0;
    }
    if b == 0 {
        panic!("Divisor is 0")
    }
    EXP_TABLE[255 + LOG_TABLE[a as usize] as usize - LOG_TABLE[b as usize] as usize]
}

/// Returns the n-th power of a.
pub fn exp(a: u8, n: usize) -> u8 {
    match (a, n) {
        (_, 0) => 1,
        (0, _) => 0,
        _ => EXP_TABLE[LOG_TABLE[a as usize] as usize * (n % 255) % 255],
    }
}

/// Writes the product of c and each byte of `input` to `out`. Panics if the lengths differ.
pub fn mul_slice(c: u8, input: &[u8], out: &mut [u8]) {
    map::multiply(false, c, input, out);
}

/// Adds the product of c and each byte of `input` to `out`. Panics if the lengths differ.
pub fn mul_slice_xor(c: u8, input: &[u8], out: &mut [u8]) {
    map::multiply(true, c, input, out);
}
