//! The result of an encoder.

use core::slice::ChunksExact;

use crate::rate::EncoderWork;

/// The recovery shards. When it is dropped, the encoder has no shards and is ready for the next round.
pub struct EncoderResult<'a> {
    work: &'a mut EncoderWork,
}

impl<'a> EncoderResult<'a> {
    pub(crate) fn new(work: &'a mut EncoderWork) -> Self {
        Self { work }
    }

    /// Recovery shard `index`, `None` if there is no such shard.
    pub fn recovery(&self, index: usize) -> Option<&[u8]> {
        self.work.recovery_iter().nth(index)
    }

    /// All recovery shards in the order of their indices.
    pub fn recovery_iter(&self) -> Recovery<'_> {
        Recovery(self.work.recovery_iter())
    }
}

impl Drop for EncoderResult<'_> {
    fn drop(&mut self) {
        self.work.forget_shards();
    }
}

/// The iterator of [`EncoderResult::recovery_iter`].
pub struct Recovery<'a>(ChunksExact<'a, u8>);

impl<'a> Iterator for Recovery<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        self.0.next()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.0.size_hint()
    }
}

impl ExactSizeIterator for Recovery<'_> {}
