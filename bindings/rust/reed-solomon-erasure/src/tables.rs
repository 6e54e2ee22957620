//! Tables of kernels: the entry of every coefficient in each format (docs/contract.md of gfsmith).

use alloc::vec::Vec;

use crate::galois_8::multiply;
use crate::kernels::Tables;

/// c n, then c (n << 4), for n = 0..15.
pub static NIBBLES: [[u8; 32]; 256] = nibbles();
/// Row i of the matrix of x -> c x over GF(2) in byte 7 - i.
pub static AFFINE: [[u8; 8]; 256] = affine();
/// c 2^b for b = 0..7: the format of the code in Rust.
pub static PLANES: [[u8; 8]; 256] = planes();

const fn nibbles() -> [[u8; 32]; 256] {
    let mut made = [[0; 32]; 256];
    let mut c = 0;
    while c < 256 {
        let mut n = 0;
        while n < 16 {
            made[c][n] = multiply(c as u8, n as u8);
            made[c][16 + n] = multiply(c as u8, (n as u8) << 4);
            n += 1;
        }
        c += 1;
    }
    made
}

const fn planes() -> [[u8; 8]; 256] {
    let mut made = [[0; 8]; 256];
    let mut c = 0;
    while c < 256 {
        let mut b = 0;
        while b < 8 {
            made[c][b] = multiply(c as u8, 1 << b);
            b += 1;
        }
        c += 1;
    }
    made
}

/// Bit b of row i is bit i of c 2^b.
const fn affine() -> [[u8; 8]; 256] {
    let columns = planes();
    let mut made = [[0; 8]; 256];
    let mut c = 0;
    while c < 256 {
        let mut at = 0;
        while at < 64 {
            let (i, b) = (at / 8, at % 8);
            made[c][7 - i] |= (columns[c][b] >> i & 1) << b;
            at += 1;
        }
        c += 1;
    }
    made
}

/// Returns the entry of one coefficient in the format.
pub fn entry(format: Tables, c: u8) -> &'static [u8] {
    match format {
        Tables::None => &[],
        Tables::Nibble => &NIBBLES[c as usize],
        Tables::Affine => &AFFINE[c as usize],
    }
}

/// Returns the table of a kernel for these rows: an entry for every coefficient, source by source.
pub fn table(format: Tables, rows: &[&[u8]]) -> Vec<u8> {
    let mut made = Vec::new();
    for j in 0..rows[0].len() {
        for row in rows {
            made.extend_from_slice(entry(format, row[j]));
        }
    }
    made
}
