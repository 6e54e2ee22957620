//! Rayon's threads as an executor of the library.

use core::ffi::{c_uint, c_void};
use core::ptr::null_mut;

use rayon::iter::{IndexedParallelIterator, IntoParallelIterator, ParallelIterator};

use crate::sys;

/// A function of the library with its argument.
struct Job {
    task: unsafe extern "C" fn(*mut c_void, c_uint),
    argument: *mut c_void,
}

// SAFETY: gfsmith_parallel.h allows an executor to call the function in any threads at the same time.
unsafe impl Sync for Job {}

impl Job {
    fn perform(&self, index: c_uint) {
        // SAFETY: the library passed both to `run`, which calls this once for every index.
        unsafe { (self.task)(self.argument, index) }
    }
}

/// Perform all tasks; rayon returns when all have returned.
unsafe extern "C" fn run(_: *mut c_void, tasks: c_uint, task: sys::Task, argument: *mut c_void) {
    if let Some(task) = task {
        let job = Job { task, argument };
        (0..tasks).into_par_iter().with_max_len(1).for_each(|index| job.perform(index));
    }
}

pub(crate) fn executor() -> sys::Executor {
    let workers = c_uint::try_from(rayon::current_num_threads()).unwrap_or(c_uint::MAX);
    sys::Executor { run: Some(run), context: null_mut(), workers, least: 0 }
}
