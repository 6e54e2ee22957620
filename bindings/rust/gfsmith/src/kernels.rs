//! The check of the kernels in the program.

use core::ffi::CStr;
use core::ptr::NonNull;

use crate::sys;

/// Numbers of kernels in this program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kernels {
    /// Kernels in machine code, all of them equal to the proved code.
    pub compared: u32,
    /// Kernels that a compiler translated from C, which have no digest.
    pub compiled: u32,
}

/// Compare the kernels in this program with the digests (SHA-256) of the proved machine code.
///
/// # Errors
/// The name of the first kernel that differs.
pub fn check_kernels() -> core::result::Result<Kernels, &'static str> {
    let (mut compared, mut compiled) = (0, 0);
    // SAFETY: both pointers are valid until the call returns.
    let different = unsafe { sys::check_kernels(&mut compared, &mut compiled) };
    match NonNull::new(different.cast_mut()) {
        None => Ok(Kernels { compared, compiled }),
        // SAFETY: the library returns a static string.
        Some(name) => Err(unsafe { CStr::from_ptr(name.as_ptr()) }.to_str().unwrap_or("")),
    }
}
