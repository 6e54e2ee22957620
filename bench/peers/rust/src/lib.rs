//! The crates reed-solomon-erasure and reed-solomon-simd as peers: a C shared library with peer_open,
//! peer_run and peer_close of bench/driver/peer.h. The loop over stripes is in Rust.

use std::ffi::{c_char, c_void, CStr};
use std::ptr::null;
use std::slice::{from_raw_parts, from_raw_parts_mut};

#[repr(C)]
pub struct Spec {
    variant: *const c_char,
    code: *const c_char,
    matrix: *const u8,
    k: u32,
    m: u32,
    len: usize,
}

#[repr(C)]
pub struct Job {
    base: *mut u8,
    order: *const u32,
    count: usize,
    len: usize,
    pitch: usize,
    k: u32,
    m: u32,
}

impl Job {
    fn stripe(&self, n: usize) -> usize {
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

    fn data(&self, stripe: usize) -> impl Iterator<Item = &[u8]> {
        (0..self.k as usize).map(move |i| unsafe { from_raw_parts(self.at(stripe, i), self.len) })
    }

    fn parity(&self, stripe: usize) -> impl Iterator<Item = &mut [u8]> {
        let first = self.k as usize;
        (first..first + self.m as usize)
            .map(move |i| unsafe { from_raw_parts_mut(self.at(stripe, i), self.len) })
    }
}

enum Peer {
    Erasure(reed_solomon_erasure::galois_8::ReedSolomon),
    Simd(reed_solomon_simd::ReedSolomonEncoder),
}

fn encode_erasure(codec: &reed_solomon_erasure::galois_8::ReedSolomon, job: &Job) {
    let mut data: Vec<&[u8]> = job.data(0).collect();
    let mut parity: Vec<&mut [u8]> = job.parity(0).collect();
    for n in 0..job.count {
        if !job.order.is_null() {
            let stripe = job.stripe(n);
            data.clear();
            data.extend(job.data(stripe));
            parity.clear();
            parity.extend(job.parity(stripe));
        }
        codec.encode_sep(&data, &mut parity).expect("encode");
    }
}

/// Leaves the parities in the encoder's own memory: the time to copy them does not count.
fn encode_simd(encoder: &mut reed_solomon_simd::ReedSolomonEncoder, job: &Job) {
    for n in 0..job.count {
        for shard in job.data(job.stripe(n)) {
            encoder.add_original_shard(shard).expect("shard");
        }
        drop(encoder.encode().expect("encode"));
    }
}

fn open(spec: &Spec) -> Result<Peer, &'static CStr> {
    let (k, m) = (spec.k as usize, spec.m as usize);
    match unsafe { CStr::from_ptr(spec.variant) }.to_bytes() {
        b"erasure" => reed_solomon_erasure::galois_8::ReedSolomon::new(k, m)
            .map(Peer::Erasure)
            .map_err(|_| c"the shape is not supported"),
        b"simd" if spec.len % 2 != 0 => Err(c"lengths are multiples of 2 bytes"),
        b"simd" => reed_solomon_simd::ReedSolomonEncoder::new(k, m, spec.len)
            .map(Peer::Simd)
            .map_err(|_| c"the shape is not supported"),
        _ => Err(c"no such variant"),
    }
}

/// # Safety
/// See peer.h: `spec` is valid, and so are its pointers.
#[no_mangle]
pub unsafe extern "C" fn peer_open(out: *mut *mut c_void, spec: *const Spec) -> *const c_char {
    match open(&*spec) {
        Ok(peer) => {
            *out = Box::into_raw(Box::new(peer)).cast();
            null()
        }
        Err(why) => why.as_ptr(),
    }
}

/// # Safety
/// `peer` is from peer_open, and the job's stripes are valid and not used elsewhere.
#[no_mangle]
pub unsafe extern "C" fn peer_run(peer: *mut c_void, job: *const Job) {
    match &mut *peer.cast::<Peer>() {
        Peer::Erasure(codec) => encode_erasure(codec, &*job),
        Peer::Simd(encoder) => encode_simd(encoder, &*job),
    }
}

/// # Safety
/// `peer` is from peer_open and not used afterwards.
#[no_mangle]
pub unsafe extern "C" fn peer_close(peer: *mut c_void) {
    drop(Box::from_raw(peer.cast::<Peer>()));
}
