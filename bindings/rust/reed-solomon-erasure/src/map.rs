//! Matrices over GF(2^8), applied to shards by kernels.

use alloc::vec::Vec;

use crate::isa::{self, PORTABLE};
use crate::kernels::{Kernel, Operation, Tables, KERNELS, MATRICES};
use crate::{portable, tables};

/// The sources of one step stay in the second-level cache for all passes; a single pass reads them once.
const STEP_BYTES: usize = 256 << 10;
const LEAST_STEP: usize = 4 << 10;

/// Bytes of all sources and targets of a call from which streaming stores pay: they are probably in memory, or in a cache
/// that cores share.
const FAR_BYTES: usize = 8 << 20;
const LINE: usize = 64;

/// A matrix as a list of passes over the sources, each of which computes some rows with one kernel.
#[derive(Debug)]
pub struct Map {
    inputs: usize,
    /// Bytes of each source that all passes process before the next ones.
    step: usize,
    passes: Vec<Pass>,
}

/// Computes rows first, first + 1, ... with a kernel, an index of `KERNELS`, or one row in Rust. streaming: the kernel for
/// far calls.
#[derive(Debug)]
struct Pass {
    kernel: Option<usize>,
    streaming: Option<usize>,
    first: usize,
    table: Vec<u8>,
}

impl Map {
    /// Returns the map of a matrix with rows of equal length, which is not 0, for the active set.
    pub(crate) fn new(rows: &[&[u8]]) -> Map {
        let set = isa::active();
        let inputs = rows.first().map_or(1, |row| row.len());
        let mut passes = Vec::new();
        let mut first = 0;
        while first < rows.len() {
            let kernel = known(set, &rows[first..]).or_else(|| general(set, inputs, rows.len() - first));
            let outputs = kernel.map_or(1, |n| KERNELS[n].outputs);
            let chosen = &rows[first..first + outputs];
            let table =
                kernel.map_or_else(|| chosen[0].to_vec(), |n| tables::table(KERNELS[n].tables, chosen));
            let streaming = kernel.map(streaming);
            passes.push(Pass { kernel, streaming, first, table });
            first += outputs;
        }
        let step = if passes.len() > 1 { STEP_BYTES / inputs / LEAST_STEP * LEAST_STEP } else { usize::MAX };
        Map { inputs, step: step.max(LEAST_STEP), passes }
    }

    /// Returns whether the map is that of a matrix with this number of rows and columns.
    pub(crate) fn fits(&self, rows: usize, columns: usize) -> bool {
        let outputs = self.passes.last().map_or(0, |pass| pass.first + pass.outputs());
        (outputs, self.inputs) == (rows, columns)
    }

    /// Writes the products of the matrix and `len` bytes at each source to the targets. Changes the pointers.
    ///
    /// # Safety
    /// There must be a source for each column and a target for each row. Sources must be readable, targets writable,
    /// and a target must overlap nothing else.
    pub(crate) unsafe fn run(&self, len: usize, sources: &mut [*const u8], targets: &mut [*mut u8]) {
        debug_assert_eq!(sources.len(), self.inputs);
        let far = len >= FAR_BYTES / (sources.len() + targets.len());
        let mut left = len;
        if far {
            let lead = to_line(targets);
            self.step(false, lead, sources, targets);
            left -= lead;
        }
        while left > 0 {
            let now = left.min(self.step);
            self.step(far, now, sources, targets);
            left -= now;
        }
    }

    /// Runs all passes on the next `len` bytes, and moves the pointers.
    ///
    /// # Safety
    /// As for `run`.
    unsafe fn step(&self, far: bool, len: usize, sources: &mut [*const u8], targets: &mut [*mut u8]) {
        self.passes.iter().for_each(|pass| pass.run(far, len, sources, targets));
        sources.iter_mut().for_each(|source| *source = source.add(len));
        targets.iter_mut().for_each(|target| *target = target.add(len));
    }
}

impl Pass {
    fn outputs(&self) -> usize {
        self.kernel.map_or(1, |n| KERNELS[n].outputs)
    }

    /// # Safety
    /// As for `Map::run`.
    unsafe fn run(&self, far: bool, len: usize, sources: &[*const u8], targets: &[*mut u8]) {
        let targets = &targets[self.first..];
        match if far { self.streaming } else { self.kernel } {
            Some(n) => {
                let table = self.table.as_ptr();
                (KERNELS[n].code)(len, sources.len(), table, sources.as_ptr(), targets.as_ptr())
            }
            None => {
                for (j, (&source, &c)) in sources.iter().zip(&self.table).enumerate() {
                    portable::product(j > 0, &tables::PLANES[c as usize], len, source, targets[0]);
                }
            }
        }
    }
}

/// Returns the bytes before the first whole cache line of the targets, 0 if they differ: streaming stores need whole lines
/// of all targets. The allocator places large vectors 16 bytes behind the beginning of a page.
fn to_line(targets: &[*mut u8]) -> usize {
    let lead = |target: *mut u8| (target as usize).wrapping_neg() % LINE;
    let first = targets.first().map_or(0, |&target| lead(target));
    if targets.iter().all(|&target| lead(target) == first) {
        first
    } else {
        0
    }
}

/// Finds the kernel for a known matrix of most of the first rows.
fn known(set: usize, rows: &[&[u8]]) -> Option<usize> {
    (0..KERNELS.len())
        .filter(|&n| KERNELS[n].set == set && !KERNELS[n].streaming && has(&KERNELS[n], rows))
        .max_by_key(|&n| KERNELS[n].outputs)
}

/// Returns whether a kernel has the matrix of these rows.
fn has(kernel: &Kernel, rows: &[&[u8]]) -> bool {
    if kernel.matrix < 0 || kernel.outputs > rows.len() || kernel.inputs != rows[0].len() {
        return false;
    }
    let matrix = &MATRICES[kernel.matrix as usize].rows[kernel.first..];
    rows.iter().zip(matrix).take(kernel.outputs).all(|(row, known)| row == known)
}

/// Finds a kernel with a table, for as many rows as balance the passes, preferably one for exactly these sources.
fn general(set: usize, inputs: usize, rows: usize) -> Option<usize> {
    let fits = |n: &usize| {
        let kernel = &KERNELS[*n];
        let plain = kernel.operation == Operation::Dot && kernel.matrix < 0 && !kernel.streaming;
        kernel.set == set && plain && (kernel.inputs == 0 || kernel.inputs == inputs)
    };
    let largest = (0..KERNELS.len()).filter(fits).map(|n| KERNELS[n].outputs).max()?;
    let passes = (rows + largest - 1) / largest;
    let even = (rows + passes - 1) / passes;
    let small = (0..KERNELS.len()).filter(fits).filter(|&n| KERNELS[n].outputs <= even);
    small.max_by_key(|&n| (KERNELS[n].outputs, KERNELS[n].inputs))
}

/// Finds the kernel that computes the same as another one from the same table with streaming stores; the other one if there
/// is none.
fn streaming(kernel: usize) -> usize {
    let same = |n: &usize| {
        let (a, b) = (&KERNELS[kernel], &KERNELS[*n]);
        let shape = |k: &Kernel| (k.set, k.operation, k.inputs, k.outputs, k.tables, k.matrix, k.first);
        b.streaming && shape(a) == shape(b)
    };
    (0..KERNELS.len()).find(same).unwrap_or(kernel)
}

/// Writes (`add` false) or adds the product of c and `input` to `out`. Panics if the lengths differ.
pub(crate) fn multiply(add: bool, c: u8, input: &[u8], out: &mut [u8]) {
    assert_eq!(input.len(), out.len());
    let (len, source, target) = (input.len(), input.as_ptr(), out.as_mut_ptr());
    let set = isa::active();
    // SAFETY: the pointers are those of slices of this length, which do not overlap.
    unsafe {
        if set == PORTABLE {
            return portable::product(add, &tables::PLANES[c as usize], len, source, target);
        }
        let kernel = &KERNELS[SINGLES[set][add as usize]];
        let table = tables::entry(kernel.tables, c).as_ptr();
        (kernel.code)(len, 1, table, &source, &target)
    }
}

/// For each set, the kernels of one target and one source or any number, to write and to add.
const SINGLES: [[usize; 2]; PORTABLE] = singles();

const fn singles() -> [[usize; 2]; PORTABLE] {
    let mut made = [[usize::MAX; 2]; PORTABLE];
    let mut n = 0;
    while n < KERNELS.len() {
        let kernel = &KERNELS[n];
        if kernel.matrix < 0
            && !kernel.streaming
            && kernel.outputs == 1
            && kernel.inputs <= 1
            && !matches!(kernel.tables, Tables::None)
        {
            made[kernel.set][matches!(kernel.operation, Operation::Mad) as usize] = n;
        }
        n += 1;
    }
    made
}
