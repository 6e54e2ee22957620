//! Products in Rust, for processors without machine code. Neither branches nor addresses depend on data.

/// Bytes that one round of the loop processes, some vectors on every processor.
const BLOCK: usize = 64;

/// Writes (`add` false) or adds the product of c and the bytes at `source` to those at `target`. planes: c 2^b for each
/// bit b.
///
/// # Safety
/// `len` bytes must be readable at `source`, and writable at `target`, which must not overlap.
pub unsafe fn product(add: bool, planes: &[u8; 8], len: usize, source: *const u8, target: *mut u8) {
    let source = core::slice::from_raw_parts(source, len);
    let target = core::slice::from_raw_parts_mut(target, len);
    let mut from = source.chunks_exact(BLOCK);
    let mut to = target.chunks_exact_mut(BLOCK);
    for (from, to) in (&mut from).zip(&mut to) {
        block(add, planes, from, to);
    }
    block(add, planes, from.remainder(), to.into_remainder());
}

#[inline(always)]
fn block(add: bool, planes: &[u8; 8], from: &[u8], to: &mut [u8]) {
    for (&x, y) in from.iter().zip(to) {
        let mut sum = if add { *y } else { 0 };
        for (b, plane) in planes.iter().enumerate() {
            sum ^= plane & 0u8.wrapping_sub(x >> b & 1);
        }
        *y = sum;
    }
}
