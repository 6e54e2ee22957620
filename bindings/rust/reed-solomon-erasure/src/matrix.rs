//! Matrices over a field.

use alloc::vec;
use alloc::vec::Vec;

use crate::field::Field;

/// A square matrix without an inverse.
#[derive(Debug)]
pub struct Singular;

/// A matrix, row by row.
#[derive(PartialEq, Debug, Clone)]
pub struct Matrix<F: Field> {
    rows: usize,
    columns: usize,
    data: Vec<F::Elem>,
}

impl<F: Field> Matrix<F> {
    /// Returns a matrix of zeros.
    pub fn new(rows: usize, columns: usize) -> Matrix<F> {
        Matrix { rows, columns, data: vec![F::zero(); rows * columns] }
    }

    pub fn identity(size: usize) -> Matrix<F> {
        let mut made = Self::new(size, size);
        for i in 0..size {
            made.data[i * size + i] = F::one();
        }
        made
    }

    /// Returns the matrix whose row r has the powers of element r.
    pub fn vandermonde(rows: usize, columns: usize) -> Matrix<F> {
        let mut made = Self::new(rows, columns);
        for r in 0..rows {
            let element = F::nth(r);
            for (c, value) in made.row_mut(r).iter_mut().enumerate() {
                *value = F::exp(element, c);
            }
        }
        made
    }

    pub fn row(&self, r: usize) -> &[F::Elem] {
        &self.data[r * self.columns..][..self.columns]
    }

    pub fn all_rows(&self) -> Vec<&[F::Elem]> {
        (0..self.rows).map(|r| self.row(r)).collect()
    }

    pub fn row_mut(&mut self, r: usize) -> &mut [F::Elem] {
        &mut self.data[r * self.columns..][..self.columns]
    }

    /// Returns the matrix of the rows with these numbers.
    pub fn of_rows(&self, numbers: impl IntoIterator<Item = usize>) -> Matrix<F> {
        let mut made = Matrix { rows: 0, columns: self.columns, data: Vec::new() };
        for r in numbers {
            made.data.extend_from_slice(self.row(r));
            made.rows += 1;
        }
        made
    }

    /// Returns the product of a row vector and the matrix.
    pub fn product_of_row(&self, row: &[F::Elem]) -> Vec<F::Elem> {
        assert_eq!(row.len(), self.rows, "the row and the columns of the matrix have different lengths");
        let mut made = vec![F::zero(); self.columns];
        for (r, &factor) in row.iter().enumerate() {
            F::mul_slice_add(factor, self.row(r), &mut made);
        }
        made
    }

    pub fn multiply(&self, right: &Matrix<F>) -> Matrix<F> {
        let mut made = Matrix { rows: self.rows, columns: right.columns, data: Vec::new() };
        for r in 0..self.rows {
            made.data.extend(right.product_of_row(self.row(r)));
        }
        made
    }

    /// Returns the matrix with the columns of another one beside its own.
    pub fn augment(&self, right: &Matrix<F>) -> Matrix<F> {
        assert_eq!(self.rows, right.rows, "the matrices have different numbers of rows");
        let mut made = Matrix { rows: self.rows, columns: self.columns + right.columns, data: Vec::new() };
        for r in 0..self.rows {
            made.data.extend_from_slice(self.row(r));
            made.data.extend_from_slice(right.row(r));
        }
        made
    }

    /// Returns the inverse, by Gauss and Jordan: the operations on rows that make the matrix the identity make the
    /// identity the inverse.
    pub fn invert(&self) -> Result<Matrix<F>, Singular> {
        assert_eq!(self.rows, self.columns, "the matrix is not square");
        let size = self.rows;
        let mut work = self.augment(&Self::identity(size));
        for c in 0..size {
            let pivot = (c..size).find(|&r| work.row(r)[c] != F::zero()).ok_or(Singular)?;
            work.swap_rows(c, pivot);
            let scale = F::div(F::one(), work.row(c)[c]);
            work.row_mut(c).iter_mut().for_each(|value| *value = F::mul(*value, scale));
            let chosen = work.row(c).to_vec();
            for r in (0..size).filter(|&r| r != c) {
                let factor = work.row(r)[c];
                if factor != F::zero() {
                    F::mul_slice_add(factor, &chosen, work.row_mut(r));
                }
            }
        }
        let mut made = Matrix { rows: size, columns: size, data: Vec::new() };
        for r in 0..size {
            made.data.extend_from_slice(&work.row(r)[size..]);
        }
        Ok(made)
    }

    pub fn swap_rows(&mut self, a: usize, b: usize) {
        if a != b {
            for c in 0..self.columns {
                self.data.swap(a * self.columns + c, b * self.columns + c);
            }
        }
    }
}
