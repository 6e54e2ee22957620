//! Shards as the pointers that C takes: how many, how long, and alive for as long as the pointers.

use core::marker::PhantomData;
use core::mem::MaybeUninit;

use crate::error::{count, Error, Result};
use crate::sys;

/// Pointers to shards of one length, on the stack.
///
/// Each shard's slice is taken once, so that an `AsMut` that answers differently from call to call does no
/// harm, and is borrowed for `'a`. Slices to write are `&'a mut`, so while `'a` lasts safe code has no
/// second way to them: they overlap neither each other nor a slice to read.
pub(crate) struct Shards<'a> {
    pointers: [MaybeUninit<*mut u8>; sys::MAX_SHARDS],
    count: usize,
    length: Option<usize>,
    borrowed: PhantomData<&'a mut [u8]>,
}

impl<'a> Shards<'a> {
    /// None yet; all that are pushed must be `length` long, if that is known.
    pub(crate) fn new(length: Option<usize>) -> Self {
        Shards {
            pointers: [const { MaybeUninit::uninit() }; sys::MAX_SHARDS],
            count: 0,
            length,
            borrowed: PhantomData,
        }
    }

    /// All of `shards`, of which there must be `expected`, to be read.
    pub(crate) fn reading<S: AsRef<[u8]>>(shards: &'a [S], expected: usize) -> Result<Self> {
        count(expected, shards.len())?;
        let mut taken = Shards::new(None);
        for (n, shard) in shards.iter().enumerate() {
            taken.read(n, shard.as_ref())?;
        }
        Ok(taken)
    }

    /// All of `shards`, of which there must be `expected`, to be written. Errors call the first one `first`.
    pub(crate) fn writing<S: AsMut<[u8]>>(
        shards: &'a mut [S],
        expected: usize,
        first: usize,
        length: Option<usize>,
    ) -> Result<Self> {
        count(expected, shards.len())?;
        let mut taken = Shards::new(length);
        for (n, shard) in shards.iter_mut().enumerate() {
            taken.write(first + n, shard.as_mut())?;
        }
        Ok(taken)
    }

    /// Those of `shards` for which `touched` says so, NULL in place of the others.
    pub(crate) fn some<S: AsMut<[u8]>>(
        shards: &'a mut [S],
        expected: usize,
        touched: impl Fn(usize) -> bool,
    ) -> Result<Self> {
        count(expected, shards.len())?;
        let mut taken = Shards::new(None);
        for (n, shard) in shards.iter_mut().enumerate() {
            if touched(n) {
                taken.write(n, shard.as_mut())?;
            } else {
                taken.push(core::ptr::null_mut());
            }
        }
        Ok(taken)
    }

    /// Those that are there, to be read, NULL in place of the others.
    pub(crate) fn optional<S: AsRef<[u8]>>(shards: &'a [Option<S>]) -> Result<Self> {
        let mut taken = Shards::new(None);
        for (n, shard) in shards.iter().enumerate() {
            match shard {
                Some(shard) => taken.read(n, shard.as_ref())?,
                None => taken.push(core::ptr::null_mut()),
            }
        }
        Ok(taken)
    }

    /// A slice that C writes, in place of the n-th pointer. It has the others' length.
    pub(crate) fn place(&mut self, n: usize, slice: &'a mut [u8]) {
        self.pointers[n].write(slice.as_mut_ptr());
    }

    /// A slice that C reads.
    pub(crate) fn read(&mut self, name: usize, slice: &'a [u8]) -> Result<()> {
        self.measure(name, slice.len())?;
        self.push(slice.as_ptr().cast_mut());
        Ok(())
    }

    /// A slice that C writes.
    pub(crate) fn write(&mut self, name: usize, slice: &'a mut [u8]) -> Result<()> {
        self.measure(name, slice.len())?;
        self.push(slice.as_mut_ptr());
        Ok(())
    }

    /// Bytes of each, if there is any.
    pub(crate) fn known_length(&self) -> Option<usize> {
        self.length
    }

    /// Bytes of each; 0 if there is none.
    pub(crate) fn length(&self) -> usize {
        self.length.unwrap_or(0)
    }

    pub(crate) fn constant(&self) -> *const *const u8 {
        self.pointers.as_ptr().cast()
    }

    pub(crate) fn mutable(&self) -> *const *mut u8 {
        self.pointers.as_ptr().cast()
    }

    fn measure(&mut self, shard: usize, found: usize) -> Result<()> {
        let expected = *self.length.get_or_insert(found);
        if expected == found {
            Ok(())
        } else {
            Err(Error::Length { shard, expected, found })
        }
    }

    /// A codec has `sys::MAX_SHARDS` at most, and callers have counted.
    fn push(&mut self, pointer: *mut u8) {
        self.pointers[self.count].write(pointer);
        self.count += 1;
    }
}
