//! gfsmith's code, with its tables.

use alloc::sync::Arc;

use gfsmith::{Wide, WideCode};

use crate::Error;

pub(crate) const CODE: WideCode = WideCode::ReedSolomonSimd;

/// Checks that the code has a shape.
pub(crate) fn supported(original_count: usize, recovery_count: usize) -> Result<(), Error> {
    if CODE.has_shape(original_count, recovery_count) {
        Ok(())
    } else {
        Err(Error::UnsupportedShardCount { original_count, recovery_count })
    }
}

/// The result of a call whose arguments have been checked.
///
/// # Panics
/// Out of memory, or this build lacks the kernels.
pub(crate) fn checked<T>(result: gfsmith::Result<T>) -> T {
    result.unwrap_or_else(|error| panic!("gfsmith: {error}"))
}

fn create(original_count: usize, recovery_count: usize) -> Arc<Wide> {
    Arc::new(checked(Wide::new(CODE, original_count, recovery_count)))
}

/// The code at a shape that it has, one of the recent ones or a new one.
#[cfg(feature = "std")]
pub(crate) fn of(original_count: usize, recovery_count: usize) -> Arc<Wide> {
    use std::sync::{Mutex, PoisonError};

    /// The tables of one code have up to 7 MiB.
    const KEPT: usize = 4;
    /// The last one used is at the end.
    static RECENT: Mutex<alloc::vec::Vec<Arc<Wide>>> = Mutex::new(alloc::vec::Vec::new());

    let mut recent = RECENT.lock().unwrap_or_else(PoisonError::into_inner);
    let shape = (original_count, recovery_count);
    let known = recent.iter().position(|code| (code.data_shard_count(), code.parity_shard_count()) == shape);
    let code = match known {
        Some(at) => recent.remove(at),
        None => create(original_count, recovery_count),
    };
    if recent.len() == KEPT {
        recent.remove(0);
    }
    recent.push(Arc::clone(&code));
    code
}

/// A new code at a shape that it has.
#[cfg(not(feature = "std"))]
pub(crate) fn of(original_count: usize, recovery_count: usize) -> Arc<Wide> {
    create(original_count, recovery_count)
}
