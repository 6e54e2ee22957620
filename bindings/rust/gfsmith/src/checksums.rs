//! Checksums of the shards of a codec, in the pass that computes or compares the shards.

use alloc::vec;
use alloc::vec::Vec;
use core::ptr::null;

use crate::batch::stripes;
use crate::checksum::Checksum;
use crate::codec::Codec;
use crate::error::{count_all, done, Result};
use crate::repair::pointer;
use crate::shards::{Shards, Stripes};
use crate::sys;

/// Calls with checksums of shards, in the calling thread.
impl Codec {
    /// [`encode`](Codec::encode), and the checksums of all k + m shards, in one pass over memory.
    ///
    /// `states` has one number for each shard, data first: 0, or the checksum of the shard's bytes before. The call
    /// replaces it by the checksum of all of the shard's bytes.
    ///
    /// # Errors
    /// Those of `encode`, [`Error::ChecksumBits`](crate::Error::ChecksumBits), [`Error::Sectors`](crate::Error::Sectors).
    pub fn encode_checksums(
        &self,
        kind: Checksum,
        data: &[impl AsRef<[u8]>],
        parity: &mut [impl AsMut<[u8]>],
        states: &mut [u64],
    ) -> Result<()> {
        let sources = Shards::reading(data, self.data_shard_count())?;
        let length = sources.length();
        let targets = self.parities(parity, length)?;
        self.states(kind, length, 1, states)?;
        // SAFETY: as encode, and k + m numbers to read and write.
        done(length, self.unit(), unsafe {
            let (from, to) = (sources.constant(), targets.mutable());
            sys::encode_checksums(self.codec(), kind.number(), length, from, to, states.as_mut_ptr())
        })
    }

    /// [`encode_stripes`](Codec::encode_stripes), and the checksums of all shards, in one pass over memory.
    /// `states` has k + m numbers for each stripe, stripe after stripe; they and the errors are those of
    /// [`encode_checksums`](Codec::encode_checksums).
    pub fn encode_stripes_checksums(
        &self,
        kind: Checksum,
        data: &[impl AsRef<[u8]>],
        parity: &mut [impl AsMut<[u8]>],
        states: &mut [u64],
    ) -> Result<()> {
        let stripes = stripes(data.len(), self.data_shard_count())?;
        count_all("shards", stripes, self.parity_shard_count(), parity.len())?;
        let sources = Stripes::reading(data.iter().map(AsRef::as_ref))?;
        let targets = Stripes::writing(parity, data.len(), sources.known_length(), |_| true)?;
        let length = sources.length();
        self.states(kind, length, stripes, states)?;
        // SAFETY: as encode_stripes, and k + m numbers to read and write for each stripe.
        done(length, self.unit(), unsafe {
            let (number, from, to) = (kind.number(), sources.constant(), targets.mutable());
            let states = states.as_mut_ptr();
            sys::encode_stripes_checksums(self.codec(), number, length, stripes, from, to, states)
        })
    }

    /// [`reconstruct_in_place`](Codec::reconstruct_in_place), and the checksums of the shards that the repair reads
    /// and writes, in one pass over memory.
    ///
    /// `states` is as in [`encode_checksums`](Codec::encode_checksums); those of other shards do not change.
    /// `expected` has the checksums that shards must have after the call, if the repair reads them; `None` compares
    /// nothing. The result has a flag for each of the k + m shards: the repair read it, and its checksum is not the
    /// expected one. If one is set, all rebuilt shards are wrong. Then repeat the call without that shard, and with
    /// the states of before.
    ///
    /// # Errors
    /// Those of `reconstruct_in_place`, [`Error::ChecksumBits`](crate::Error::ChecksumBits), [`Error::Sectors`](crate::Error::Sectors).
    pub fn reconstruct_checksums(
        &self,
        kind: Checksum,
        shards: &mut [impl AsMut<[u8]>],
        present: &[bool],
        wanted: Option<&[bool]>,
        states: &mut [u64],
        expected: Option<&[u64]>,
    ) -> Result<Vec<bool>> {
        let all = self.touched(shards, present, wanted)?;
        let length = all.length();
        self.states(kind, length, 1, states)?;
        expected.map_or(Ok(()), |expected| self.states(kind, length, 1, expected))?;
        let mut wrong = vec![false; self.total_shard_count()];
        // SAFETY: as reconstruct_in_place, and k + m numbers and flags each.
        done(length, self.unit(), unsafe {
            sys::reconstruct_checksums(
                self.codec(),
                kind.number(),
                length,
                all.mutable(),
                present.as_ptr(),
                pointer(wanted),
                states.as_mut_ptr(),
                expected.map_or(null(), <[u64]>::as_ptr),
                wrong.as_mut_ptr(),
            )
        })?;
        Ok(wrong)
    }

    /// [`check`](Codec::check), and the checksums of all k + m shards: a scrub that reads every byte once.
    /// `states` and errors are as in [`encode_checksums`](Codec::encode_checksums).
    pub fn check_checksums(
        &self,
        kind: Checksum,
        shards: &[impl AsRef<[u8]>],
        states: &mut [u64],
    ) -> Result<bool> {
        let all = Shards::reading(shards, self.total_shard_count())?;
        self.states(kind, all.length(), 1, states)?;
        let mut ok = true;
        // SAFETY: k + m pointers to read, k + m numbers to read and write, and a valid pointer for the result.
        done(all.length(), self.unit(), unsafe {
            let (from, to) = (all.constant(), states.as_mut_ptr());
            sys::check_checksums(self.codec(), kind.number(), all.length(), from, to, &mut ok)
        })?;
        Ok(ok)
    }

    /// Check the number and the bits of the checksums of the shards of stripes, and the shards' length.
    fn states(&self, kind: Checksum, length: usize, stripes: usize, states: &[u64]) -> Result<()> {
        count_all("checksums", stripes, self.total_shard_count(), states.len())?;
        kind.allow(states)?;
        kind.allow_length(length)
    }
}
