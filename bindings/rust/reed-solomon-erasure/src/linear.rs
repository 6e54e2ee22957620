//! Matrices over any field, applied to shards.

use core::slice;

use crate::field::Field;
use crate::map::Map;
use crate::matrix::Matrix;

/// A matrix, by kernels if the field has them.
#[derive(Debug)]
pub struct Linear<F: Field> {
    matrix: Matrix<F>,
    map: Option<Map>,
}

impl<F: Field> Linear<F> {
    pub fn new(matrix: Matrix<F>) -> Linear<F> {
        let rows = matrix.all_rows();
        // SAFETY: only GF(2^8) has a map, and its elements are bytes; other crates need `unsafe` to get one.
        let map = unsafe { F::map(&rows) }.filter(|map| map.fits(rows.len(), rows[0].len()));
        Linear { matrix, map }
    }

    pub fn matrix(&self) -> &Matrix<F> {
        &self.matrix
    }

    /// Writes the products of the matrix and `len` elements at each source to the targets. Changes the pointers.
    ///
    /// # Safety
    /// There must be a source for each column and a target for each row. Sources must be readable, targets writable,
    /// and a target must overlap nothing else.
    pub unsafe fn run(&self, len: usize, sources: &mut [*const F::Elem], targets: &mut [*mut F::Elem]) {
        if let Some(map) = &self.map {
            return map.run(len, cast(sources), cast_mut(targets));
        }
        for (j, &source) in sources.iter().enumerate() {
            let source = slice::from_raw_parts(source, len);
            for (i, &target) in targets.iter().enumerate() {
                let target = slice::from_raw_parts_mut(target, len);
                if j == 0 {
                    F::mul_slice(self.matrix.row(i)[j], source, target);
                } else {
                    F::mul_slice_add(self.matrix.row(i)[j], source, target);
                }
            }
        }
    }
}

/// Pointers to elements as pointers to bytes; a field with kernels has bytes as elements.
fn cast<E>(pointers: &mut [*const E]) -> &mut [*const u8] {
    // SAFETY: pointers to all types have the same layout.
    unsafe { slice::from_raw_parts_mut(pointers.as_mut_ptr().cast(), pointers.len()) }
}

fn cast_mut<E>(pointers: &mut [*mut E]) -> &mut [*mut u8] {
    // SAFETY: pointers to all types have the same layout.
    unsafe { slice::from_raw_parts_mut(pointers.as_mut_ptr().cast(), pointers.len()) }
}
