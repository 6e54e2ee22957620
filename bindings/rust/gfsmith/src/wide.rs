//! Codes with more than 255 shards.

use alloc::vec::Vec;
use core::ffi::{c_uint, CStr};
use core::fmt;
use core::ptr::{null_mut, NonNull};

use crate::batch::stripes;
use crate::codec::ALONE;
use crate::error::{count, count_all, invalid, result, Error, Result};
use crate::repair::{few_missing, flags, pointer, rebuild};
use crate::shards::Stripes;
use crate::sys;

/// A family of codes, with the bytes of another library.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum WideCode {
    /// GF(2^8) modulo 0x11d: klauspost/reedsolomon, `WithLeopardGF(true)` with at most 256 shards.
    Leopard8,
    /// GF(2^16) modulo 0x1002d: klauspost/reedsolomon, `WithLeopardGF16(true)`.
    Leopard16,
    /// GF(2^16) modulo 0x1002d: the crate reed-solomon-simd 3.
    ReedSolomonSimd,
    /// The same for little-endian words one after the other, as in JAM.
    Lch16,
}

impl WideCode {
    /// All codes.
    pub const ALL: &'static [WideCode] =
        &[WideCode::Leopard8, WideCode::Leopard16, WideCode::ReedSolomonSimd, WideCode::Lch16];

    /// The shapes that exist, k and m being the numbers of data and parity shards.
    pub fn shapes(self) -> &'static str {
        // SAFETY: the argument is a C string; for a known name the result is a C string in static memory.
        let text = unsafe { CStr::from_ptr(sys::wide_shapes(self.c_name().as_ptr())) };
        text.to_str().unwrap_or_default()
    }

    /// Does the code have a shape with these numbers of shards?
    pub fn has_shape(self, data: usize, parity: usize) -> bool {
        let [Ok(k), Ok(m)] = [data, parity].map(c_uint::try_from) else { return false };
        // SAFETY: the first argument is a C string.
        unsafe { sys::wide_has_shape(self.c_name().as_ptr(), k, m) }
    }

    /// The length of every shard is a multiple of so many bytes.
    pub fn granule(self) -> usize {
        // SAFETY: the argument is a C string.
        unsafe { sys::wide_granule(self.c_name().as_ptr()) }
    }

    fn c_name(self) -> &'static CStr {
        match self {
            WideCode::Leopard8 => c"leopard8",
            WideCode::Leopard16 => c"leopard16",
            WideCode::ReedSolomonSimd => c"reed_solomon_simd",
            WideCode::Lch16 => c"lch16",
        }
    }
}

/// The name in gfsmith_wide.h: "leopard16".
impl fmt::Display for WideCode {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(self.c_name().to_str().unwrap_or_default())
    }
}

/// A code with up to 65,535 shards, `k` for data and `m` for parity.
///
/// Let w(0), w(1), ... be the elements of the field, numbered by their coordinates in Cantor's basis, and n the
/// least power of two that is not less than m. Data shard j has the point w(n + j). Each block of n points
/// determines a polynomial of degree below n, with the value 0 at points behind the data, and parity i is the sum
/// of their values at w(i). In `ReedSolomonSimd` and `Lch16`, if the least power of two that is not less than k is
/// less than n, it takes the place of n: data shard j has the point w(j), and parity i is the value of their
/// polynomial at w(n + i). Any k of the k + m shards determine the others.
///
/// Shards are those of [`Codec`](crate::Codec), but their length is a multiple of [`WideCode::granule`]. An error means that
/// nothing was written. Calls allocate lists of pointers and memory for their work, which does not grow with the
/// length of the shards: for up to 8,192 shards less than 10 MiB, for 65,535 less than 32 MiB. docs/wide.md
///
/// ```
/// use gfsmith::{Wide, WideCode};
///
/// let wide = Wide::new(WideCode::Leopard16, 342, 681)?;
/// let data: Vec<_> = (0..342).map(|j| [j as u8; 64]).collect();
/// let mut parity = vec![[0; 64]; 681];
/// wide.encode(&data, &mut parity)?;
///
/// let mut shards: Vec<Option<Vec<u8>>> = vec![None; 342];
/// shards.extend(parity.iter().map(|shard| Some(shard.to_vec())));
/// shards[1000] = None;
/// wide.reconstruct(&mut shards)?;
/// assert_eq!(shards[7].as_deref(), Some(&[7; 64][..]));
/// # Ok::<(), gfsmith::Error>(())
/// ```
pub struct Wide {
    raw: NonNull<sys::Wide>,
    code: WideCode,
    data: usize,
    parity: usize,
    executor: sys::Executor,
}

// SAFETY: gfsmith_wide.h promises that an object is immutable, and that threads may share it. The executor changes
// through `&mut self` only, and its function may run in any thread.
unsafe impl Send for Wide {}
// SAFETY: as above.
unsafe impl Sync for Wide {}

impl Wide {
    /// A code at a shape, `data` and `parity` shards; [`WideCode::shapes`] states which exist.
    ///
    /// # Errors
    /// [`Error::WideShape`], [`Error::OutOfMemory`], [`Error::Unsupported`] if the build lacks the kernels.
    pub fn new(code: WideCode, data: usize, parity: usize) -> Result<Wide> {
        if !code.has_shape(data, parity) {
            return Err(Error::WideShape { code, data, parity });
        }
        let (name, mut raw) = (code.c_name().as_ptr(), null_mut());
        // SAFETY: the name is a C string, and a valid place for the result.
        let status = unsafe { sys::wide_create(&mut raw, name, data as c_uint, parity as c_uint) };
        result(status)?;
        Ok(Wide { raw: NonNull::new(raw).ok_or(Error::OutOfMemory)?, code, data, parity, executor: ALONE })
    }

    /// As [`Codec::set_rayon`](crate::Codec::set_rayon). Each thread needs memory for its work.
    #[cfg(feature = "rayon")]
    pub fn set_rayon(&mut self, on: bool) {
        self.executor = if on { crate::parallel::executor() } else { ALONE };
    }

    /// The family of the code.
    pub fn code(&self) -> WideCode {
        self.code
    }

    /// k
    pub fn data_shard_count(&self) -> usize {
        self.data
    }

    /// m
    pub fn parity_shard_count(&self) -> usize {
        self.parity
    }

    /// k + m
    pub fn total_shard_count(&self) -> usize {
        self.data + self.parity
    }

    /// Compute all parities from all data. The previous contents of the parities are ignored.
    ///
    /// # Errors
    /// [`Error::Count`], [`Error::Length`], [`Error::Granule`], [`Error::OutOfMemory`].
    pub fn encode(&self, data: &[impl AsRef<[u8]>], parity: &mut [impl AsMut<[u8]>]) -> Result<()> {
        count("shards", self.data, data.len())?;
        count("shards", self.parity, parity.len())?;
        let sources = Stripes::reading(data.iter().map(AsRef::as_ref))?;
        let targets = Stripes::writing(parity, self.data, sources.known_length(), |_| true)?;
        let length = sources.length();
        // SAFETY: k pointers to read and m to write, `length` bytes each; see Shards for why nothing overlaps.
        self.done(length, unsafe {
            let (raw, data) = (self.raw.as_ptr(), sources.constant());
            sys::wide_encode_parallel(raw, &self.executor, length, data, targets.mutable())
        })
    }

    /// As [`encode`](Wide::encode) for many stripes, in the calling thread: k data shards and m parity shards
    /// of each, stripe after stripe. Stripes of short shards share the work.
    pub fn encode_stripes(&self, data: &[impl AsRef<[u8]>], parity: &mut [impl AsMut<[u8]>]) -> Result<()> {
        let stripes = stripes(data.len(), self.data)?;
        count_all("shards", stripes, self.parity, parity.len())?;
        let sources = Stripes::reading(data.iter().map(AsRef::as_ref))?;
        let targets = Stripes::writing(parity, data.len(), sources.known_length(), |_| true)?;
        let (length, from, to) = (sources.length(), sources.constant(), targets.mutable());
        // SAFETY: k pointers to read and m to write for each stripe, `length` bytes each; see Shards for why
        // nothing overlaps.
        self.done(length, unsafe { sys::wide_encode_stripes(self.raw.as_ptr(), length, stripes, from, to) })
    }

    /// Rebuild every shard that is `None`.
    ///
    /// # Errors
    /// As [`encode`](Wide::encode), and [`Error::TooManyMissing`]. Missing shards then remain `None`.
    pub fn reconstruct<S: AsRef<[u8]> + From<Vec<u8>>>(&self, shards: &mut [Option<S>]) -> Result<()> {
        self.rebuild(shards, self.total_shard_count())
    }

    /// As [`reconstruct`](Wide::reconstruct), but only data; missing parities remain `None`.
    pub fn reconstruct_data<S: AsRef<[u8]> + From<Vec<u8>>>(&self, shards: &mut [Option<S>]) -> Result<()> {
        self.rebuild(shards, self.data)
    }

    /// Rebuild shards in place: the wanted ones, by default all that are not present. A shard that is
    /// neither present nor wanted is ignored and may have any length.
    ///
    /// # Errors
    /// As [`reconstruct`](Wide::reconstruct).
    pub fn reconstruct_in_place(
        &self,
        shards: &mut [impl AsMut<[u8]>],
        present: &[bool],
        wanted: Option<&[bool]>,
    ) -> Result<()> {
        count("shards", self.total_shard_count(), shards.len())?;
        flags(self.total_shard_count(), present, wanted)?;
        few_missing(self.parity, present)?;
        let touched = |n: usize| present[n] || wanted.map_or(true, |wanted| wanted[n]);
        let all = Stripes::writing(shards, 0, None, touched)?;
        // SAFETY: k + m pointers and flags; shards that C reads or writes by these flags are not NULL and
        // have the same length.
        unsafe { self.repair(all.length(), all.mutable(), present.as_ptr(), pointer(wanted)) }
    }

    /// As [`reconstruct_in_place`](Wide::reconstruct_in_place) for many stripes, in the calling thread: all
    /// k + m shards of each, of which the same are present.
    pub fn reconstruct_stripes(
        &self,
        shards: &mut [impl AsMut<[u8]>],
        present: &[bool],
        wanted: Option<&[bool]>,
    ) -> Result<()> {
        let total = self.total_shard_count();
        flags(total, present, wanted)?;
        few_missing(self.parity, present)?;
        let stripes = stripes(shards.len(), total)?;
        let touched = |n: usize| present[n % total] || wanted.map_or(true, |wanted| wanted[n % total]);
        let all = Stripes::writing(shards, 0, None, touched)?;
        let (length, shards) = (all.length(), all.mutable());
        // SAFETY: k + m pointers for each stripe, and as many flags; shards that C reads or writes by these
        // flags are not NULL and have the same length.
        self.done(length, unsafe {
            let (raw, wanted) = (self.raw.as_ptr(), pointer(wanted));
            sys::wide_reconstruct_stripes(raw, length, stripes, shards, present.as_ptr(), wanted)
        })
    }

    fn rebuild<S: AsRef<[u8]> + From<Vec<u8>>>(&self, shards: &mut [Option<S>], limit: usize) -> Result<()> {
        // SAFETY: `rebuild` gives k + m pointers and flags.
        rebuild(shards, (self.data, self.parity), limit, |length, all, present, wanted| unsafe {
            self.repair(length, all, present, wanted)
        })
    }

    /// Call C with k + m pointers and flags; `wanted` may be NULL.
    unsafe fn repair(
        &self,
        length: usize,
        shards: *const *mut u8,
        present: *const bool,
        wanted: *const bool,
    ) -> Result<()> {
        let (raw, executor) = (self.raw.as_ptr(), &self.executor);
        let status = sys::wide_reconstruct_parallel(raw, executor, length, shards, present, wanted);
        self.done(length, status)
    }

    /// Convert the status of a call on shards of `length` bytes to a result.
    fn done(&self, length: usize, status: sys::Status) -> Result<()> {
        let granule = self.code.granule();
        let fits = length % granule == 0;
        invalid(status, if fits { Error::Invalid } else { Error::Granule { length, granule } })
    }
}

impl Drop for Wide {
    fn drop(&mut self) {
        // SAFETY: the pointer came from wide_create and is not used afterwards.
        unsafe { sys::wide_destroy(self.raw.as_ptr()) }
    }
}

impl fmt::Debug for Wide {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Wide")
            .field("code", &self.code)
            .field("data", &self.data)
            .field("parity", &self.parity)
            .finish_non_exhaustive()
    }
}
