//! Repair plans, computed before any shard is accessed.

use core::ffi::c_uint;
use core::fmt;
use core::ptr::NonNull;
use core::slice;

use crate::codec::Codec;
use crate::error::{done, Error, Result};
use crate::shards::Shards;
use crate::sys;

/// A repair plan, which expresses lost shards by present ones, byte by byte:
/// `target[t] = sum over n of matrix[t][n] * read[n]`. It reads as few shards as possible. Created by
/// [`Codec::plan`](crate::Codec::plan), and independent of its codec.
pub struct Plan {
    raw: NonNull<sys::Plan>,
    total: usize,
    unit: usize,
}

// SAFETY: gfsmith_plan.h promises that a plan is immutable, that any number of threads may run it, each on
// its own shards, and that it is independent of its codec.
unsafe impl Send for Plan {}
// SAFETY: as above.
unsafe impl Sync for Plan {}

impl Plan {
    /// `raw`: from plan_create for this codec.
    pub(crate) fn new(raw: *mut sys::Plan, codec: &Codec) -> Result<Plan> {
        let raw = NonNull::new(raw).ok_or(Error::OutOfMemory)?;
        Ok(Plan { raw, total: codec.total_shard_count(), unit: codec.unit() })
    }

    /// Indices of the shards that are read, ascending.
    pub fn reads(&self) -> &[u8] {
        self.indices(sys::plan_reads)
    }

    /// Indices of the shards that are rebuilt, ascending.
    pub fn targets(&self) -> &[u8] {
        self.indices(sys::plan_targets)
    }

    /// The coefficients: a row for each target, with an element for each read shard.
    pub fn matrix(&self) -> &[u8] {
        // SAFETY: the array has this number of elements and is valid as long as the plan.
        unsafe { bytes(sys::plan_matrix(self.plan()), self.targets().len() * self.reads().len()) }
    }

    /// Is it proved that every repair of these targets reads at least as many shards?
    pub fn is_least(&self) -> bool {
        // SAFETY: the plan is valid.
        unsafe { sys::plan_is_least(self.plan()) }
    }

    /// Rebuild the targets in place. Shards that are neither read nor rebuilt are ignored and may have any
    /// length. Allocates nothing.
    pub fn run(&self, shards: &mut [impl AsMut<[u8]>]) -> Result<()> {
        let mut touched = [false; sys::MAX_SHARDS];
        for &n in self.reads().iter().chain(self.targets()) {
            touched[usize::from(n)] = true;
        }
        let all = Shards::some(shards, self.total, |n| touched[n])?;
        // SAFETY: k + m pointers; those that the plan accesses are not NULL and have the same length.
        let length = all.length();
        done(length, self.unit, unsafe { sys::plan_run(self.plan(), length, all.mutable()) })
    }

    fn plan(&self) -> *const sys::Plan {
        self.raw.as_ptr()
    }

    fn indices(&self, ask: unsafe extern "C" fn(*const sys::Plan, *mut c_uint) -> *const u8) -> &[u8] {
        let mut count = 0;
        // SAFETY: the plan is valid; the array has `count` indices and is valid as long as the plan.
        unsafe {
            let first = ask(self.plan(), &mut count);
            bytes(first, count as usize)
        }
    }
}

/// # Safety
/// `first` points to `count` bytes that are valid and unchanged for `'a`, or `count` is 0.
unsafe fn bytes<'a>(first: *const u8, count: usize) -> &'a [u8] {
    if count == 0 {
        return &[];
    }
    slice::from_raw_parts(first, count)
}

impl Drop for Plan {
    fn drop(&mut self) {
        // SAFETY: the pointer came from plan_create and is not used afterwards.
        unsafe { sys::plan_destroy(self.raw.as_ptr()) }
    }
}

impl fmt::Debug for Plan {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Plan")
            .field("reads", &self.reads())
            .field("targets", &self.targets())
            .finish_non_exhaustive()
    }
}
