//! Codecs.

use alloc::vec;
use alloc::vec::Vec;
use core::ffi::c_uint;
use core::fmt;
use core::ptr::{null_mut, NonNull};

use crate::code::{Code, Hint};
use crate::error::{count, done, invalid, result, Error, Result};
use crate::shards::Shards;
use crate::sys;

/// No executor: every call runs in the calling thread.
pub(crate) const ALONE: sys::Executor =
    sys::Executor { run: None, context: null_mut(), workers: 1, least: 0 };

/// One code and shape: `k` data shards and `m` parity shards.
///
/// A shard is any number of bytes, all of one length, at any address. In indices data shards come first:
/// parity `i` is shard `k + i`. Every call checks counts and lengths, and an error means that nothing was
/// written. No call but [`reconstruct`](Codec::reconstruct), [`plan`](Codec::plan), calls on many stripes, and
/// their like allocates.
///
/// ```
/// use gfsmith::{Code, Codec};
///
/// let codec = Codec::new(Code::Cauchy, 4, 2)?;
/// let data = [b"Rust", b"from", b"ten ", b"past"];
/// let mut parity = [[0; 4]; 2];
/// codec.encode(&data, &mut parity)?;
///
/// let all = data.into_iter().chain(&parity);
/// let mut shards: Vec<Option<Vec<u8>>> = all.map(|shard| Some(shard.to_vec())).collect();
/// shards[0] = None;
/// shards[3] = None;
/// codec.reconstruct(&mut shards)?;
/// assert_eq!(shards[0].as_deref(), Some(&b"Rust"[..]));
/// # Ok::<(), gfsmith::Error>(())
/// ```
pub struct Codec {
    raw: NonNull<sys::Codec>,
    data: usize,
    parity: usize,
    /// Lengths of shards are multiples of it: 1, or 8 packets.
    unit: usize,
    executor: sys::Executor,
}

// SAFETY: gfsmith.h promises that any number of threads may use a codec at once, each on its own shards,
// and that any thread may destroy it. After its creation a codec changes in two ways only: its cache of
// repairs, which the library publishes atomically, and hint and packet layout, which are set through `&mut
// self` and so before the codec is shared. The library has no state per thread.
unsafe impl Send for Codec {}
// SAFETY: as above.
unsafe impl Sync for Codec {}

impl Codec {
    /// A code known by name.
    ///
    /// # Errors
    /// [`Error::Shape`] for a shape that the code does not have, [`Error::NotMds`] for one at which it
    /// cannot repair every loss, [`Error::Unsupported`] if the build has no kernels for it on this CPU.
    pub fn new(code: Code, data: usize, parity: usize) -> Result<Codec> {
        let name = code.c_name().as_ptr();
        let shape = Error::Shape { code, data, parity };
        let [k, m] = numbers([data, parity], shape)?;
        // SAFETY: the name is a C string, and `out` is valid.
        Codec::create(data, parity, shape, |out| unsafe { sys::codec_create(out, name, k, m) })
    }

    /// Any parity matrix: `parity` rows of `data` elements, row by row, MDS or not. The polynomial has its
    /// x^8 term (0x11d) and must be irreducible.
    ///
    /// # Errors
    /// [`Error::MatrixShape`], [`Error::Count`] if the matrix is not of the shape, [`Error::Polynomial`],
    /// [`Error::Unsupported`].
    pub fn with_matrix(polynomial: u32, data: usize, parity: usize, matrix: &[u8]) -> Result<Codec> {
        let [k, m] = numbers([data, parity], Error::MatrixShape { data, parity })?;
        count("elements of the matrix", data * parity, matrix.len())?;
        // SAFETY: the matrix has k * m elements, which are copied, and `out` is valid.
        Codec::create(data, parity, Error::Polynomial(polynomial), |out| unsafe {
            sys::codec_create_matrix(out, polynomial, k, m, matrix.as_ptr())
        })
    }

    /// A local reconstruction code like Azure's: `groups` local parities, one for each group of data
    /// shards, then `global` ones over all data. A single loss in a group reads only the rest of the group.
    ///
    /// # Errors
    /// [`Error::LocalShape`] unless `1 <= groups <= data`, `1 <= global` and there are at most 255 shards.
    pub fn local(data: usize, groups: usize, global: usize) -> Result<Codec> {
        let shape = Error::LocalShape { data, groups, global };
        let [k, l, r] = numbers([data, groups, global], shape)?;
        // SAFETY: `out` is valid.
        Codec::create(data, groups + global, shape, |out| unsafe { sys::codec_create_lrc(out, k, l, r) })
    }

    /// Set the location of the shards of this codec's calls.
    pub fn set_hint(&mut self, hint: Hint) -> Result<()> {
        // SAFETY: the codec is valid, and `&mut self` excludes other users during the call.
        result(unsafe { sys::codec_hint(self.raw.as_ptr(), hint.number()) })
    }

    /// Choose the layout of Jerasure's bit matrices with packets of `packet` bytes, 0 for the ordinary
    /// layout. Lengths must then be multiples of `8 * packet`, or calls return [`Error::Packets`].
    pub fn set_packets(&mut self, packet: usize) -> Result<()> {
        // SAFETY: as set_hint.
        result(unsafe { sys::codec_packets(self.raw.as_ptr(), packet) })?;
        self.unit = if packet == 0 { 1 } else { 8 * packet };
        Ok(())
    }

    /// Let the threads of [rayon] share calls on 4 MiB or more (all shards together): the pool that is
    /// current in the calling thread, with as many threads as the current pool has now. Shorter calls run
    /// in the calling thread.
    ///
    /// [rayon]: https://docs.rs/rayon
    #[cfg(feature = "rayon")]
    pub fn set_rayon(&mut self, on: bool) {
        self.executor = if on { crate::parallel::executor() } else { ALONE };
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
    pub fn encode(&self, data: &[impl AsRef<[u8]>], parity: &mut [impl AsMut<[u8]>]) -> Result<()> {
        let sources = Shards::reading(data, self.data)?;
        let length = sources.length();
        let targets = self.parities(parity, length)?;
        // SAFETY: k pointers to read and m to write, `length` bytes each; see Shards for why nothing overlaps.
        done(length, self.unit, unsafe {
            sys::encode_parallel(self.codec(), self.executor(), length, sources.constant(), targets.mutable())
        })
    }

    /// Encode data shards that arrive one at a time, in any order: after all k, each once, the parities are
    /// those of [`encode`](Codec::encode). With `first`, the previous contents of the parities are ignored.
    pub fn append(
        &self,
        index: usize,
        data: &[u8],
        parity: &mut [impl AsMut<[u8]>],
        first: bool,
    ) -> Result<()> {
        let index = self.index(index)?;
        let targets = self.parities(parity, data.len())?;
        // SAFETY: as encode, with one slice to read.
        done(data.len(), self.unit, unsafe {
            let (from, to) = (data.as_ptr(), targets.mutable());
            sys::append_parallel(self.codec(), self.executor(), data.len(), index, from, to, first)
        })
    }

    /// Update the parities after data shard `index` changed; `delta` is old XOR new data.
    pub fn update(&self, index: usize, delta: &[u8], parity: &mut [impl AsMut<[u8]>]) -> Result<()> {
        let index = self.index(index)?;
        let targets = self.parities(parity, delta.len())?;
        // SAFETY: as append.
        done(delta.len(), self.unit, unsafe {
            sys::update_parallel(
                self.codec(),
                self.executor(),
                delta.len(),
                index,
                delta.as_ptr(),
                targets.mutable(),
            )
        })
    }

    /// Update the parities after several data shards changed, faster than one by one: (index, delta) for at
    /// most k of them.
    pub fn update_many(
        &self,
        changes: &[(usize, impl AsRef<[u8]>)],
        parity: &mut [impl AsMut<[u8]>],
    ) -> Result<()> {
        if changes.len() > self.data {
            return Err(Error::Count { what: "changes", expected: self.data, found: changes.len() });
        }
        let mut indices: [c_uint; sys::MAX_SHARDS] = [0; sys::MAX_SHARDS];
        let mut deltas = Shards::new(None);
        for (slot, (index, delta)) in indices.iter_mut().zip(changes) {
            *slot = self.index(*index)?;
            deltas.read(*index, delta.as_ref())?;
        }
        let targets = Shards::writing(parity, self.parity, self.data, deltas.known_length())?;
        let (length, number) = (deltas.length(), changes.len() as c_uint);
        // SAFETY: as encode, with as many indices and slices to read as there are changes.
        done(length, self.unit, unsafe {
            let (from, to) = (deltas.constant(), targets.mutable());
            sys::update_many_parallel(
                self.codec(),
                self.executor(),
                length,
                number,
                indices.as_ptr(),
                from,
                to,
            )
        })
    }

    /// Do the parities match the data? All k + m shards, data first.
    pub fn check(&self, shards: &[impl AsRef<[u8]>]) -> Result<bool> {
        let all = Shards::reading(shards, self.total_shard_count())?;
        let mut ok = false;
        // SAFETY: k + m pointers to read, and a valid pointer for the result.
        done(all.length(), self.unit, unsafe {
            sys::check_parallel(self.codec(), self.executor(), all.length(), all.constant(), &mut ok)
        })?;
        Ok(ok)
    }

    /// Find the shard that is silently wrong, position by position: see [`Located`].
    ///
    /// # Errors
    /// [`Error::Unsupported`] if the code cannot tell shards apart, for example because it has one parity.
    pub fn locate(&self, shards: &[impl AsRef<[u8]>]) -> Result<Located> {
        let total = self.total_shard_count();
        let all = Shards::reading(shards, total)?;
        let mut counts = vec![0; total + 2];
        // SAFETY: k + m pointers to read, k + m + 2 numbers to write, and NULL for the positions.
        done(all.length(), self.unit, unsafe {
            sys::locate(self.codec(), all.length(), all.constant(), counts.as_mut_ptr(), null_mut())
        })?;
        Ok(Located::new(counts))
    }

    fn create(
        data: usize,
        parity: usize,
        reason: Error,
        make: impl FnOnce(*mut *mut sys::Codec) -> sys::Status,
    ) -> Result<Codec> {
        let mut raw = null_mut();
        invalid(make(&mut raw), reason)?;
        let raw = NonNull::new(raw).ok_or(Error::OutOfMemory)?;
        Ok(Codec { raw, data, parity, unit: 1, executor: ALONE })
    }

    pub(crate) fn codec(&self) -> *const sys::Codec {
        self.raw.as_ptr()
    }

    /// The threads that share long calls; valid as long as `self`.
    pub(crate) fn executor(&self) -> *const sys::Executor {
        &self.executor
    }

    /// Bytes of which the lengths of shards are multiples.
    pub(crate) fn unit(&self) -> usize {
        self.unit
    }

    pub(crate) fn parities<'a>(
        &self,
        parity: &'a mut [impl AsMut<[u8]>],
        length: usize,
    ) -> Result<Shards<'a>> {
        Shards::writing(parity, self.parity, self.data, Some(length))
    }

    pub(crate) fn index(&self, index: usize) -> Result<c_uint> {
        if index < self.data {
            Ok(index as c_uint)
        } else {
            Err(Error::Index { index, count: self.data })
        }
    }
}

impl Drop for Codec {
    fn drop(&mut self) {
        // SAFETY: the pointer came from codec_create and is not used afterwards.
        unsafe { sys::codec_destroy(self.raw.as_ptr()) }
    }
}

impl fmt::Debug for Codec {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Codec")
            .field("data", &self.data)
            .field("parity", &self.parity)
            .finish_non_exhaustive()
    }
}

/// The result of [`Codec::locate`] and [`Codec::correct`]: numbers of byte positions.
///
/// `locate` names the wrong shard of a position if exactly one is wrong; `correct` also several, whose positions
/// count once for each. If more are wrong, the position is unexplained, unless they look like fewer wrong
/// shards.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Located {
    /// For each of the k + m shards, the number of positions at which it is wrong, or was corrected.
    pub wrong: Vec<usize>,
    /// Number of positions at which the parities match the data.
    pub intact: usize,
    /// Number of positions that cannot be explained, or corrected.
    pub unexplained: usize,
}

impl Located {
    /// From the numbers of C: those of the shards, then of intact and of unexplained positions.
    pub(crate) fn new(mut counts: Vec<usize>) -> Self {
        let shards = counts.len() - 2;
        let (intact, unexplained) = (counts[shards], counts[shards + 1]);
        counts.truncate(shards);
        Located { wrong: counts, intact, unexplained }
    }
}

/// Convert numbers of shards for C; zeros, and sums above the limit of all codes, are refused here.
fn numbers<const N: usize>(shards: [usize; N], reason: Error) -> Result<[c_uint; N]> {
    let total = shards.iter().fold(0, |sum: usize, &n| sum.saturating_add(n));
    if shards.contains(&0) || total > sys::MAX_SHARDS {
        return Err(reason);
    }
    Ok(shards.map(|n| n as c_uint))
}
