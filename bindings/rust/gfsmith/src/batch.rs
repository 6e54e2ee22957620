//! Batch calls: one operation on many stripes.

use alloc::vec;
use alloc::vec::Vec;
use core::ffi::c_uint;

use crate::codec::Codec;
use crate::error::{count, count_all, result, Result};
use crate::repair::pointer;
use crate::shards::{Shards, Stripes};
use crate::sys;

/// Calls on any number of stripes. They compute the same as one call for each stripe, in the calling thread,
/// and are faster for short shards, because stripes in memory are prefetched (docs/batches.md).
///
/// Lists of shards hold those of the first stripe, then those of the next one, and so on, all of one length;
/// [`chunks_exact_mut`](slice::chunks_exact_mut) cuts a buffer. In errors, shards are counted through the
/// stripes. These calls allocate a list of pointers.
///
/// ```
/// use gfsmith::{Code, Codec};
///
/// let codec = Codec::new(Code::Cauchy, 4, 2)?;
/// let (data, mut parity) = ([7; 100 * 4 * 512], [0; 100 * 2 * 512]);
/// let from: Vec<&[u8]> = data.chunks_exact(512).collect();
/// let mut to: Vec<&mut [u8]> = parity.chunks_exact_mut(512).collect();
/// codec.encode_stripes(&from, &mut to)?;
/// # assert_eq!(to[199][511], to[1][0]);
/// # Ok::<(), gfsmith::Error>(())
/// ```
impl Codec {
    /// As [`encode`](Codec::encode): k data shards and m parity shards for each stripe.
    pub fn encode_stripes(&self, data: &[impl AsRef<[u8]>], parity: &mut [impl AsMut<[u8]>]) -> Result<()> {
        let stripes = stripes(data.len(), self.data_shard_count())?;
        count_all("shards", stripes, self.parity_shard_count(), parity.len())?;
        let sources = Stripes::reading(data.iter().map(AsRef::as_ref))?;
        let targets = Stripes::writing(parity, data.len(), sources.known_length(), |_| true)?;
        let (length, from, to) = (sources.length(), sources.constant(), targets.mutable());
        // SAFETY: k pointers to read and m to write for each stripe, `length` bytes each; see Shards for why
        // nothing overlaps.
        result(unsafe { sys::encode_stripes(self.codec(), length, stripes, from, to) })
    }

    /// As [`update`](Codec::update): for each stripe the index of the changed data shard and old XOR new
    /// data, and m parity shards.
    pub fn update_stripes(
        &self,
        changes: &[(usize, impl AsRef<[u8]>)],
        parity: &mut [impl AsMut<[u8]>],
    ) -> Result<()> {
        count_all("shards", changes.len(), self.parity_shard_count(), parity.len())?;
        let indices: Result<Vec<c_uint>> = changes.iter().map(|(index, _)| self.index(*index)).collect();
        let indices = indices?;
        let deltas = Stripes::reading(changes.iter().map(|(_, delta)| delta.as_ref()))?;
        let targets = Stripes::writing(parity, changes.len(), deltas.known_length(), |_| true)?;
        let (length, from, to) = (deltas.length(), deltas.constant(), targets.mutable());
        // SAFETY: as encode_stripes, with an index and a pointer to read for each stripe.
        result(unsafe {
            sys::update_stripes(self.codec(), length, indices.len(), indices.as_ptr(), from, to)
        })
    }

    /// As [`reconstruct_in_place`](Codec::reconstruct_in_place): all k + m shards of each stripe, of which
    /// the same are present.
    pub fn reconstruct_stripes(
        &self,
        shards: &mut [impl AsMut<[u8]>],
        present: &[bool],
        wanted: Option<&[bool]>,
    ) -> Result<()> {
        self.flags(present, wanted)?;
        self.few_missing(present)?;
        let total = self.total_shard_count();
        let stripes = stripes(shards.len(), total)?;
        let touched = |n: usize| present[n % total] || wanted.map_or(true, |wanted| wanted[n % total]);
        let all = Stripes::writing(shards, 0, None, touched)?;
        // SAFETY: k + m pointers for each stripe, and as many flags; shards that C reads or writes by these
        // flags are not NULL and have the same length.
        result(unsafe {
            let (length, shards, wanted) = (all.length(), all.mutable(), pointer(wanted));
            sys::reconstruct_stripes(self.codec(), length, stripes, shards, present.as_ptr(), wanted)
        })
    }

    /// As [`check`](Codec::check): for each stripe, whether the parities match the data.
    pub fn check_stripes(&self, shards: &[impl AsRef<[u8]>]) -> Result<Vec<bool>> {
        let mut ok = vec![false; stripes(shards.len(), self.total_shard_count())?];
        let all = Stripes::reading(shards.iter().map(AsRef::as_ref))?;
        // SAFETY: k + m pointers to read and one result to write for each stripe.
        result(unsafe {
            sys::check_stripes(self.codec(), all.length(), ok.len(), all.constant(), ok.as_mut_ptr())
        })?;
        Ok(ok)
    }

    /// Prefetch k data shards that a later call encodes, before the call on the present stripe, if a batch
    /// call is not possible. It changes no result.
    pub fn prefetch(&self, data: &[impl AsRef<[u8]>]) -> Result<()> {
        let next = Shards::reading(data, self.data_shard_count())?;
        // SAFETY: k pointers.
        result(unsafe { sys::prefetch(self.codec(), next.length(), next.constant()) })
    }
}

/// The number of stripes of `each` shards.
pub(crate) fn stripes(shards: usize, each: usize) -> Result<usize> {
    let number = shards.div_ceil(each);
    count("shards", number * each, shards)?;
    Ok(number)
}
