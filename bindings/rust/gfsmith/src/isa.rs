//! The current instruction set.

use alloc::ffi::CString;
use core::ffi::CStr;

use crate::error::{invalid, Error, Result};
use crate::sys;

/// The instruction set of codecs created from now on: by default the best one that this CPU supports, or
/// the one that the environment variable PREFIX_ISA names, with the prefix in capitals.
pub fn isa() -> &'static str {
    // SAFETY: the library returns a static string, never NULL.
    let name = unsafe { CStr::from_ptr(sys::isa()) };
    name.to_str().unwrap_or("none") // names are ASCII
}

/// Choose the instruction set of codecs created from now on, by the names of [`isa`].
///
/// # Errors
/// [`Error::UnknownIsa`] for a name that this build does not know, [`Error::Unsupported`] for a set that this
/// CPU lacks.
pub fn set_isa(name: &str) -> Result<()> {
    let name = CString::new(name).map_err(|_| Error::UnknownIsa)?;
    // SAFETY: a C string that lives until the call returns.
    invalid(unsafe { sys::set_isa(name.as_ptr()) }, Error::UnknownIsa)
}
