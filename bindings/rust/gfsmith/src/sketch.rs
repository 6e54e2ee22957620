//! Checksums that are linear over GF(2^8).

use core::ffi::c_uint;
use core::fmt;
use core::ptr::{null_mut, NonNull};

use crate::error::{invalid, result, Error, Result};
use crate::sys;

/// The tables of sketches: checksums of 8 bytes from which a codec computes those of parities.
///
/// The sketches of a stripe's shards are a stripe of the same code. So every shard is read once, where it is
/// stored, and [`Codec::check`](crate::Codec::check) compares the sketches. The codec has the same polynomial
/// and the ordinary layout. docs/checksums.md tells which errors a sketch finds.
///
/// ```
/// use gfsmith::{Code, Codec, Sketch};
///
/// let codec = Codec::new(Code::Cauchy, 2, 1)?;
/// let mut stripe = [*b"disk one", *b"disk two", [0; 8]];
/// let (disks, parity) = stripe.split_at_mut(2);
/// codec.encode(disks, parity)?;
/// let tables = Sketch::new(Sketch::POLYNOMIAL)?;
/// let mut sketches = [[0; Sketch::BYTES]; 3];
/// for (sum, shard) in sketches.iter_mut().zip(&stripe) {
///     tables.add(sum, 0, shard)?;
/// }
/// assert!(codec.check(&sketches)?);
/// # Ok::<(), gfsmith::Error>(())
/// ```
pub struct Sketch {
    raw: NonNull<sys::Sketch>,
}

// SAFETY: gfsmith_checksum.h promises that the tables are immutable.
unsafe impl Send for Sketch {}
// SAFETY: as above.
unsafe impl Sync for Sketch {}

impl Sketch {
    /// Bytes of a sketch.
    pub const BYTES: usize = 8;

    /// The polynomial of all named codes.
    pub const POLYNOMIAL: u32 = 0x11d;

    /// Tables for the codecs with this polynomial, which has its x^8 term.
    ///
    /// # Errors
    /// [`Error::Polynomial`], [`Error::OutOfMemory`], [`Error::Unsupported`].
    pub fn new(polynomial: u32) -> Result<Sketch> {
        let mut raw = null_mut();
        // SAFETY: a valid place for the result.
        let status = unsafe { sys::sketch_create(&mut raw, polynomial as c_uint) };
        invalid(status, Error::Polynomial(polynomial))?;
        Ok(Sketch { raw: NonNull::new(raw).ok_or(Error::OutOfMemory)? })
    }

    /// Add the sketch of a piece of a shard. `sum` is zeros, or the sum of the pieces before, in any order;
    /// `offset` is the place of the first byte in the shard.
    ///
    /// # Errors
    /// [`Error::Invalid`] if the piece does not end below 2^64.
    pub fn add(&self, sum: &mut [u8; Sketch::BYTES], offset: u64, bytes: &[u8]) -> Result<()> {
        // SAFETY: valid tables, 8 bytes to read and write, and `bytes.len()` bytes to read.
        result(unsafe {
            sys::sketch_add(self.raw.as_ptr(), sum.as_mut_ptr(), offset, bytes.len(), bytes.as_ptr())
        })
    }
}

impl Drop for Sketch {
    fn drop(&mut self) {
        // SAFETY: the tables are valid and not used afterwards.
        unsafe { sys::sketch_destroy(self.raw.as_ptr()) }
    }
}

impl fmt::Debug for Sketch {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Sketch").finish_non_exhaustive()
    }
}
