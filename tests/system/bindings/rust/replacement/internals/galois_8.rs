
// Names that the tests of the original use.
#[cfg(test)]
pub fn sub(a: u8, b: u8) -> u8 {
    add(a, b)
}

#[cfg(test)]
fn slice_xor(input: &[u8], out: &mut [u8]) {
    mul_slice_xor(1, input, out)
}
