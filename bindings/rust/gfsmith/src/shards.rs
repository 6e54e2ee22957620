//! Shards as pointers for C, with their number, length and lifetime.

use alloc::vec::Vec;
use core::marker::PhantomData;
use core::mem::MaybeUninit;

use crate::error::{count, Error, Result};
use crate::sys;

/// Pointers to shards of one length, on the stack.
///
/// Each shard's slice is taken once, so that an `AsMut` with different results from call to call is
/// harmless, and is borrowed for `'a`. Slices to write are `&'a mut`, so during `'a` safe code has no other
/// access to them: they overlap neither each other nor a slice to read.
pub(crate) struct Shards<'a> {
    pointers: [MaybeUninit<*mut u8>; sys::MAX_SHARDS],
    count: usize,
    length: Option<usize>,
    borrowed: PhantomData<&'a mut [u8]>,
}

impl<'a> Shards<'a> {
    /// An empty set; all shards must be `length` long, if that is given.
    pub(crate) fn new(length: Option<usize>) -> Self {
        Shards {
            pointers: [const { MaybeUninit::uninit() }; sys::MAX_SHARDS],
            count: 0,
            length,
            borrowed: PhantomData,
        }
    }

    /// All of `shards` for reading; their number must be `expected`.
    pub(crate) fn reading<S: AsRef<[u8]>>(shards: &'a [S], expected: usize) -> Result<Self> {
        count("shards", expected, shards.len())?;
        let mut taken = Shards::new(None);
        for (n, shard) in shards.iter().enumerate() {
            taken.read(n, shard.as_ref())?;
        }
        Ok(taken)
    }

    /// All of `shards` for writing; their number must be `expected`. Errors call the first one `first`.
    pub(crate) fn writing<S: AsMut<[u8]>>(
        shards: &'a mut [S],
        expected: usize,
        first: usize,
        length: Option<usize>,
    ) -> Result<Self> {
        count("shards", expected, shards.len())?;
        let mut taken = Shards::new(length);
        for (n, shard) in shards.iter_mut().enumerate() {
            taken.write(first + n, shard.as_mut())?;
        }
        Ok(taken)
    }

    /// The shards selected by `touched`, NULL for the others.
    pub(crate) fn some<S: AsMut<[u8]>>(
        shards: &'a mut [S],
        expected: usize,
        touched: impl Fn(usize) -> bool,
    ) -> Result<Self> {
        count("shards", expected, shards.len())?;
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

    /// Add a slice for reading.
    pub(crate) fn read(&mut self, name: usize, slice: &'a [u8]) -> Result<()> {
        self.measure(name, slice.len())?;
        self.push(slice.as_ptr().cast_mut());
        Ok(())
    }

    /// Add a slice for writing.
    pub(crate) fn write(&mut self, name: usize, slice: &'a mut [u8]) -> Result<()> {
        self.measure(name, slice.len())?;
        self.push(slice.as_mut_ptr());
        Ok(())
    }

    /// The common length, if there is any shard.
    pub(crate) fn known_length(&self) -> Option<usize> {
        self.length
    }

    /// The common length; 0 if there is no shard.
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
        measure(&mut self.length, shard, found)
    }

    /// A codec has at most `sys::MAX_SHARDS` shards, and callers have checked the number.
    fn push(&mut self, pointer: *mut u8) {
        self.pointers[self.count].write(pointer);
        self.count += 1;
    }
}

/// Pointers to any number of shards, all of one length, on the heap: those of many stripes, for example. See
/// [`Shards`] for why slices to write overlap nothing.
pub(crate) struct Stripes<'a> {
    pointers: Vec<*mut u8>,
    length: Option<usize>,
    borrowed: PhantomData<&'a mut [u8]>,
}

impl<'a> Stripes<'a> {
    fn new(room: usize, length: Option<usize>) -> Self {
        Stripes { pointers: Vec::with_capacity(room), length, borrowed: PhantomData }
    }

    /// Slices for reading, stripe after stripe. Errors count them from 0.
    pub(crate) fn reading(shards: impl ExactSizeIterator<Item = &'a [u8]>) -> Result<Self> {
        let mut taken = Stripes::new(shards.len(), None);
        for (n, shard) in shards.enumerate() {
            measure(&mut taken.length, n, shard.len())?;
            taken.pointers.push(shard.as_ptr().cast_mut());
        }
        Ok(taken)
    }

    /// The present shards for reading, NULL for the others.
    pub(crate) fn optional<S: AsRef<[u8]>>(shards: &'a [Option<S>]) -> Result<Self> {
        let mut taken = Stripes::new(shards.len(), None);
        for (n, shard) in shards.iter().enumerate() {
            let slice = shard.as_ref().map(AsRef::as_ref);
            if let Some(slice) = slice {
                measure(&mut taken.length, n, slice.len())?;
            }
            taken.pointers.push(slice.map_or(core::ptr::null_mut(), |slice| slice.as_ptr().cast_mut()));
        }
        Ok(taken)
    }

    /// Replace the n-th pointer by a slice for writing, which has the common length.
    pub(crate) fn place(&mut self, n: usize, slice: &'a mut [u8]) {
        self.pointers[n] = slice.as_mut_ptr();
    }

    /// The slices selected by `touched` for writing, NULL for the others. Errors call the first one `first`.
    pub(crate) fn writing<S: AsMut<[u8]>>(
        shards: &'a mut [S],
        first: usize,
        length: Option<usize>,
        touched: impl Fn(usize) -> bool,
    ) -> Result<Self> {
        let mut taken = Stripes::new(shards.len(), length);
        for (n, shard) in shards.iter_mut().enumerate() {
            if touched(n) {
                let slice = shard.as_mut();
                measure(&mut taken.length, first + n, slice.len())?;
                taken.pointers.push(slice.as_mut_ptr());
            } else {
                taken.pointers.push(core::ptr::null_mut());
            }
        }
        Ok(taken)
    }

    /// The common length, if there is any shard.
    pub(crate) fn known_length(&self) -> Option<usize> {
        self.length
    }

    /// The common length; 0 if there is no shard.
    pub(crate) fn length(&self) -> usize {
        self.length.unwrap_or(0)
    }

    pub(crate) fn constant(&self) -> *const *const u8 {
        self.pointers.as_ptr().cast()
    }

    pub(crate) fn mutable(&self) -> *const *mut u8 {
        self.pointers.as_ptr()
    }
}

/// Compare the length of a shard with the common one, which the first shard determines.
fn measure(length: &mut Option<usize>, shard: usize, found: usize) -> Result<()> {
    let expected = *length.get_or_insert(found);
    if expected == found {
        Ok(())
    } else {
        Err(Error::Length { shard, expected, found })
    }
}
