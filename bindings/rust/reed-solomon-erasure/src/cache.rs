//! Results of reconstructions, kept by the lost shards.

use alloc::sync::Arc;
use alloc::vec::Vec;
use core::cell::UnsafeCell;
use core::fmt::{self, Debug, Formatter};
use core::sync::atomic::{AtomicBool, Ordering};

use smallvec::SmallVec;

/// The lost shards as bits.
pub type Key = SmallVec<[u64; 5]>;

const SLOTS: usize = 256;

/// A value in the slot of its key, which it shares with others. While another thread uses the cache it finds and keeps
/// nothing, so no call waits and `no_std` programs need no lock.
pub struct Cache<T> {
    busy: AtomicBool,
    slots: UnsafeCell<Vec<Slot<T>>>,
}

type Slot<T> = Option<(Key, Arc<T>)>;

// SAFETY: only the thread that set `busy` uses the slots.
unsafe impl<T: Send + Sync> Send for Cache<T> {}
unsafe impl<T: Send + Sync> Sync for Cache<T> {}

impl<T> Cache<T> {
    pub fn new() -> Cache<T> {
        Cache { busy: AtomicBool::new(false), slots: UnsafeCell::new(Vec::new()) }
    }

    pub fn get(&self, key: &Key) -> Option<Arc<T>> {
        self.with(|slots| match slots.get(place(key)) {
            Some(Some((there, value))) if there == key => Some(value.clone()),
            _ => None,
        })?
    }

    pub fn put(&self, key: Key, value: Arc<T>) {
        let replaced = self.with(|slots| {
            if slots.is_empty() {
                slots.resize_with(SLOTS, || None);
            }
            slots[place(&key)].replace((key, value))
        });
        drop(replaced); // not while the cache is in use
    }

    /// Returns the result of a function on the slots, or `None` while another thread uses them.
    fn with<R>(&self, function: impl FnOnce(&mut Vec<Slot<T>>) -> R) -> Option<R> {
        if self.busy.swap(true, Ordering::Acquire) {
            return None;
        }
        // SAFETY: no other thread can be here until `busy` is false.
        let result = function(unsafe { &mut *self.slots.get() });
        self.busy.store(false, Ordering::Release);
        Some(result)
    }
}

/// Returns the slot of a key: the sum of its words times odd numbers (Knuth, TAOCP volume 3, 6.4), upper bits.
fn place(key: &Key) -> usize {
    let sum =
        key.iter().fold(0u64, |sum, &word| (sum.rotate_left(23) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    (sum >> 56) as usize
}

impl<T> Debug for Cache<T> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("Cache")
    }
}
