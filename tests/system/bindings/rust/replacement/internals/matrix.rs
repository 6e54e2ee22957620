
// Names that the tests of the original use.
#[cfg(test)]
impl<F: Field> Matrix<F> {
    fn new_with_data(rows: Vec<Vec<F::Elem>>) -> Matrix<F> {
        let columns = rows[0].len();
        assert!(rows.iter().all(|row| row.len() == columns));
        Matrix { rows: rows.len(), columns, data: rows.concat() }
    }

    fn row_count(&self) -> usize {
        self.rows
    }

    fn col_count(&self) -> usize {
        self.columns
    }
}
