//! The structs of bench/driver/peer.h.

use std::ffi::c_char;
use std::slice::{from_raw_parts, from_raw_parts_mut};

#[repr(C)]
pub struct Spec {
    pub variant: *const c_char,
    code: *const c_char,
    matrix: *const u8,
    pub k: u32,
    pub m: u32,
    pub len: usize,
}

#[repr(C)]
pub struct Job {
    base: *mut u8,
    pub order: *const u32,
    pub count: usize,
    pub len: usize,
    pitch: usize,
    pub k: u32,
    pub m: u32,
}

impl Job {
    pub fn stripe(&self, n: usize) -> usize {
        if self.order.is_null() {
            0
        } else {
            unsafe { *self.order.add(n) as usize }
        }
    }

    /// The first byte of shard `i` of stripe `stripe`.
    fn at(&self, stripe: usize, i: usize) -> *mut u8 {
        let total = (self.k + self.m) as usize;
        unsafe { self.base.add((stripe * total + i) * self.pitch) }
    }

    pub fn shard(&self, stripe: usize, i: usize) -> &[u8] {
        unsafe { from_raw_parts(self.at(stripe, i), self.len) }
    }

    /// The caller must not hold the same shard twice.
    #[allow(clippy::mut_from_ref)]
    pub fn shard_mut(&self, stripe: usize, i: usize) -> &mut [u8] {
        unsafe { from_raw_parts_mut(self.at(stripe, i), self.len) }
    }

    pub fn data(&self, stripe: usize) -> impl Iterator<Item = &[u8]> {
        (0..self.k as usize).map(move |i| self.shard(stripe, i))
    }

    pub fn parity(&self, stripe: usize) -> impl Iterator<Item = &mut [u8]> {
        let first = self.k as usize;
        (first..first + self.m as usize).map(move |i| self.shard_mut(stripe, i))
    }
}
