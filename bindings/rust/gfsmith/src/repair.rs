//! Repair of missing shards: rebuilding, planning, and which shards are determined.

use alloc::vec;
use alloc::vec::Vec;
use core::ptr::{null, null_mut};

use crate::codec::{Codec, Located};
use crate::error::{count, done, result, Error, Result};
use crate::plan::Plan;
use crate::shards::{Shards, Stripes};
use crate::sys;

impl Codec {
    /// Rebuild every shard that is `None`. The codec computes the plan of a loss once and caches it.
    ///
    /// # Errors
    /// [`Error::TooManyMissing`]; [`Error::Singular`] if the matrix is not MDS. Missing shards then remain
    /// `None`.
    pub fn reconstruct<S: AsRef<[u8]> + From<Vec<u8>>>(&self, shards: &mut [Option<S>]) -> Result<()> {
        self.rebuild(shards, self.total_shard_count())
    }

    /// As [`reconstruct`](Codec::reconstruct), but only data; missing parities remain `None`.
    pub fn reconstruct_data<S: AsRef<[u8]> + From<Vec<u8>>>(&self, shards: &mut [Option<S>]) -> Result<()> {
        self.rebuild(shards, self.data_shard_count())
    }

    /// Rebuild shards in place: the wanted ones, by default all that are not present. A shard that is
    /// neither present nor wanted is ignored and may have any length.
    pub fn reconstruct_in_place(
        &self,
        shards: &mut [impl AsMut<[u8]>],
        present: &[bool],
        wanted: Option<&[bool]>,
    ) -> Result<()> {
        let all = self.touched(shards, present, wanted)?;
        // SAFETY: k + m pointers and flags; shards that C reads or writes by these flags are not NULL and
        // have the same length.
        done(all.length(), self.unit(), unsafe {
            let (shards, wanted) = (all.mutable(), pointer(wanted));
            sys::reconstruct_parallel(
                self.codec(),
                self.executor(),
                all.length(),
                shards,
                present.as_ptr(),
                wanted,
            )
        })
    }

    /// Find and correct wrong symbols in place, position by position: the wrong shards may differ from position
    /// to position. Missing shards are ignored and may have any length.
    ///
    /// With r spare shards (m less the missing ones), up to r / 2 wrong symbols of a position are corrected if
    /// the code is a generalised Reed-Solomon code, as all of [`Code`](crate::Code) but a few are, otherwise
    /// one. The C header lists the codes, and the results at positions with more wrong symbols.
    ///
    /// # Errors
    /// [`Error::Unsupported`] as for [`locate`](Codec::locate), [`Error::TooManyMissing`] if r is less than 2.
    pub fn correct(&self, shards: &mut [impl AsMut<[u8]>], present: &[bool]) -> Result<Located> {
        self.flags(present, None)?;
        let total = self.total_shard_count();
        let all = Shards::some(shards, total, |n| present[n])?;
        let mut counts = vec![0; total + 2];
        // SAFETY: k + m pointers and flags; present shards are not NULL and have the same length; k + m + 2
        // numbers to write, and NULL for the positions.
        done(all.length(), self.unit(), unsafe {
            let (shards, flags) = (all.mutable(), present.as_ptr());
            sys::correct(self.codec(), all.length(), shards, flags, counts.as_mut_ptr(), null_mut())
        })?;
        Ok(Located::new(counts))
    }

    /// The plan of a repair, computed once, to be run any number of times.
    ///
    /// # Errors
    /// As [`reconstruct`](Codec::reconstruct).
    pub fn plan(&self, present: &[bool], wanted: Option<&[bool]>) -> Result<Plan> {
        self.flags(present, wanted)?;
        let mut raw = null_mut();
        // SAFETY: k + m flags each, and a valid pointer for the plan.
        let status = unsafe { sys::plan_create(&mut raw, self.codec(), present.as_ptr(), pointer(wanted)) };
        result(status)?;
        Plan::new(raw, self)
    }

    /// Which shards do the present ones determine? A loss can be repaired if and only if all are
    /// determined.
    pub fn determined(&self, present: &[bool]) -> Result<Vec<bool>> {
        self.flags(present, None)?;
        let mut answer = vec![false; self.total_shard_count()];
        // SAFETY: k + m flags to read and to write.
        result(unsafe { sys::determined(self.codec(), present.as_ptr(), answer.as_mut_ptr()) })?;
        Ok(answer)
    }

    /// The shards that a repair in place may read or write, NULL for the others.
    pub(crate) fn touched<'a>(
        &self,
        shards: &'a mut [impl AsMut<[u8]>],
        present: &[bool],
        wanted: Option<&[bool]>,
    ) -> Result<Shards<'a>> {
        self.flags(present, wanted)?;
        self.few_missing(present)?;
        let touched = |n: usize| present[n] || wanted.map_or(true, |wanted| wanted[n]);
        Shards::some(shards, self.total_shard_count(), touched)
    }

    pub(crate) fn flags(&self, present: &[bool], wanted: Option<&[bool]>) -> Result<()> {
        flags(self.total_shard_count(), present, wanted)
    }

    pub(crate) fn few_missing(&self, present: &[bool]) -> Result<()> {
        few_missing(self.parity_shard_count(), present)
    }

    /// Rebuild missing shards below `limit`.
    fn rebuild<S: AsRef<[u8]> + From<Vec<u8>>>(&self, shards: &mut [Option<S>], limit: usize) -> Result<()> {
        let shape = (self.data_shard_count(), self.parity_shard_count());
        // SAFETY: `rebuild` gives k + m pointers and flags.
        rebuild(shards, shape, limit, |length, all, present, wanted| {
            done(length, self.unit(), unsafe {
                sys::reconstruct_parallel(self.codec(), self.executor(), length, all, present, wanted)
            })
        })
    }
}

/// Rebuild missing shards below `limit` in new buffers, which are stored in `shards` after success.
///
/// `run` gets the length of the shards, k + m pointers, and k + m flags of the present and of the wanted shards.
/// Present shards and new buffers have that length, and present shards are only to be read. The pointer of a
/// shard that is neither present nor wanted is NULL.
pub(crate) fn rebuild<S: AsRef<[u8]> + From<Vec<u8>>>(
    shards: &mut [Option<S>],
    (data, parity): (usize, usize),
    limit: usize,
    run: impl FnOnce(usize, *const *mut u8, *const bool, *const bool) -> Result<()>,
) -> Result<()> {
    let total = data + parity;
    count("shards", total, shards.len())?;
    let present: Vec<bool> = shards.iter().map(Option::is_some).collect();
    let wanted: Vec<bool> = (0..total).map(|n| n < limit).collect();
    few_missing(parity, &present)?;
    let mut all = Stripes::optional(shards)?;
    let length = all.length();
    let lost = (0..limit).filter(|&n| !present[n]);
    let mut rebuilt: Vec<(usize, Vec<u8>)> = lost.map(|n| (n, vec![0; length])).collect();
    for (n, buffer) in &mut rebuilt {
        all.place(*n, buffer);
    }
    run(length, all.mutable(), present.as_ptr(), wanted.as_ptr())?;
    for (n, buffer) in rebuilt {
        shards[n] = Some(S::from(buffer));
    }
    Ok(())
}

/// Check the numbers of flags.
pub(crate) fn flags(total: usize, present: &[bool], wanted: Option<&[bool]>) -> Result<()> {
    count("flags", total, present.len())?;
    wanted.map_or(Ok(()), |wanted| count("flags", total, wanted.len()))
}

/// The library checks this too, but not for empty shards.
pub(crate) fn few_missing(parity: usize, present: &[bool]) -> Result<()> {
    if present.iter().filter(|&&there| !there).count() > parity {
        return Err(Error::TooManyMissing);
    }
    Ok(())
}

pub(crate) fn pointer(flags: Option<&[bool]>) -> *const bool {
    flags.map_or(null(), <[bool]>::as_ptr)
}
