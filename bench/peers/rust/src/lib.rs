//! Crates as peers: a C shared library with the functions of bench/driver/peer.h. The loops over stripes are in
//! Rust.

#[cfg(feature = "checksums")]
mod checksums;
mod erasure;
mod job;
#[cfg(feature = "wide")]
mod leopard;
#[cfg(feature = "wide")]
mod novelpoly;
mod simd;

use std::ffi::{c_char, c_void, CStr};
use std::ptr::null;
use std::slice::from_raw_parts;

use job::{Job, Spec};

/// A code of a crate. A crate that keeps results in its own memory writes them to the job's shards only if
/// `copied`, so the time to copy them does not count.
trait Peer {
    fn encode(&mut self, job: &Job, copied: bool);

    /// Rebuilds the data shards of stripe 0 that are not present, `job.count` times.
    fn repair(&mut self, _job: &Job, _present: &[u8], _copied: bool) {
        unimplemented!("repairs are not measured")
    }
}

fn open(spec: &Spec) -> Result<Box<dyn Peer>, &'static CStr> {
    match unsafe { CStr::from_ptr(spec.variant) }.to_bytes() {
        b"erasure" => erasure::open(spec),
        b"simd" => simd::open(spec),
        #[cfg(feature = "wide")]
        b"leopard-codec" => leopard::open(spec),
        #[cfg(feature = "wide")]
        b"novelpoly" => novelpoly::open(spec),
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
    (*peer.cast::<Box<dyn Peer>>()).encode(&*job, false);
}

/// # Safety
/// As peer_run; `present` has k + m flags.
#[no_mangle]
pub unsafe extern "C" fn peer_repair(peer: *mut c_void, job: *const Job, present: *const u8) {
    let present = from_raw_parts(present, ((*job).k + (*job).m) as usize);
    (*peer.cast::<Box<dyn Peer>>()).repair(&*job, present, false);
}

/// # Safety
/// As peer_repair; `present` is null to encode.
#[no_mangle]
pub unsafe extern "C" fn peer_results(peer: *mut c_void, job: *const Job, present: *const u8) {
    let peer = &mut *peer.cast::<Box<dyn Peer>>();
    if present.is_null() {
        peer.encode(&*job, true);
    } else {
        let present = from_raw_parts(present, ((*job).k + (*job).m) as usize);
        peer.repair(&*job, present, true);
    }
}

/// # Safety
/// `peer` is from peer_open and not used afterwards.
#[no_mangle]
pub unsafe extern "C" fn peer_close(peer: *mut c_void) {
    drop(Box::from_raw(peer.cast::<Box<dyn Peer>>()));
}
