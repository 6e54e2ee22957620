#[cfg(test)]
mod far {
    use super::*;

    /// Each kernel with streaming stores is chosen for the far calls of its shape, and not for others.
    #[test]
    fn kernels() {
        let streamed: Vec<usize> = (0..KERNELS.len()).filter(|&n| KERNELS[n].streaming).collect();
        assert_eq!(streamed.is_empty(), !cfg!(target_arch = "x86_64"));
        for &n in &streamed {
            let kernel = &KERNELS[n];
            let rows: Vec<Vec<u8>> = match usize::try_from(kernel.matrix) {
                Ok(matrix) => MATRICES[matrix].rows[kernel.first..].iter().map(|row| row.to_vec()).collect(),
                Err(_) => (0..kernel.outputs).map(|i| (0..kernel.inputs).map(|j| (i + j) as u8).collect()).collect(),
            };
            let rows: Vec<&[u8]> = rows.iter().map(Vec::as_slice).collect();
            let plain = known(kernel.set, &rows).or_else(|| general(kernel.set, kernel.inputs, rows.len())).unwrap();
            assert!(!KERNELS[plain].streaming);
            assert_eq!(streaming(plain), n);
        }
    }

    #[test]
    fn bytes_before_the_first_line() {
        let at = |n: usize| n as *mut u8;
        assert_eq!(to_line(&[at(64), at(128)]), 0);
        assert_eq!(to_line(&[at(4096 + 16), at(8192 + 16)]), 48);
        assert_eq!(to_line(&[at(80), at(81)]), 0);
    }
}
